#!/usr/bin/env python3
"""Contours of class maps that a PyTorch network has just made: on a GPU, where it leaves them, else on the CPU.

  PYTHONPATH=build/release/python docs/examples/maps_on_device.py [--frames N] [--trace]

--trace prints what was copied between host and GPU a frame, as CUDA's profiler saw it: the picture up, points down, and no maps
(nothing without a GPU).
"""
import argparse
import contextlib
import json
import pathlib
import tempfile

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

import contorno

HEIGHT, WIDTH = 240, 400
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def camera(number):
    """A red ball that rolls to the right, and a green one that lies there."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    frame = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    frame[np.hypot(rows - 120, columns - 60 - 10 * (number % 20)) < 50] = 200, 40, 40
    frame[np.hypot(rows - 100, columns - 330) < 40] = 40, 180, 60
    return frame


def make_network():
    """Logits of background, red and green from a pixel's colour; a network of yours has more layers."""
    layer = torch.nn.Conv2d(3, 3, 1)
    with torch.no_grad():
        layer.weight[:, :, 0, 0] = 16 * torch.tensor([[0.0, 0, 0], [1, -1, 0], [-1, 1, 0]])
        layer.bias[:] = torch.tensor([4.0, 0, 0])
    return torch.nn.Sequential(layer, torch.nn.Softmax(dim=1)).to(DEVICE)


def maps_of(network, frame):
    """Maps C x H x W, where the network computes."""
    image = torch.from_numpy(frame).to(DEVICE).permute(2, 0, 1)[None].float() / 255
    with torch.inference_mode():
        return network(image)[0]


def push_and_pop(pipeline, network, numbers):
    for number in numbers:
        pipeline.push(maps=maps_of(network, camera(number)))
        result = pipeline.pop()
    return {name: len(contours) for name, contours in result.by_class().items()}


def copied(events):
    """Bytes by direction."""
    sums = {"HtoD": 0, "DtoH": 0, "DtoD": 0}
    for event in events:
        if event.get("cat") == "gpu_memcpy":
            sums[next(way for way in sums if way in event["name"])] += event["args"]["bytes"]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    graph = {"classes": [{"name": "background", "hidden": True}, {"name": "red"}, {"name": "green"}], "stages": ["contours"]}
    network = make_network()
    with contorno.Pipeline(graph) as pipeline:
        push_and_pop(pipeline, network, range(3))
        traced = options.trace and DEVICE == "cuda"
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) if traced else contextlib.nullcontext() as trace:
            found = push_and_pop(pipeline, network, range(options.frames))
    print(f"{options.frames} frames on {DEVICE}: {found}")
    if traced:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            trace.export_chrome_trace(str(path))
            sums = copied(json.loads(path.read_text())["traceEvents"])
        print(f"maps: {3 * HEIGHT * WIDTH * 4} bytes a frame; copied a frame: "
              + ", ".join(f"{way} {total // options.frames}" for way, total in sums.items()))


if __name__ == "__main__":
    main()
