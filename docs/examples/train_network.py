"""Trains a small U-Net on the synthetic sorting line and exports it for the stage `network` (docs/guide/network-inside.md).

    python3 train_network.py FOLDER [--steps 300] [--threads 1]

Needs PyTorch (Debian's python3-torch), NumPy and Pillow, and `contorno` in the PATH. FOLDER gets line.onnx with its check, a
dataset `seen` that it was trained on, a dataset `new` of another line with its truth, and two graphs for that: network.yaml,
and classify.yaml, which knows the classes by colours of the same frames.
"""
import argparse
import json
import pathlib
import subprocess
import time

import numpy as np
import torch
from PIL import Image
from torch import nn

CLASSES = ["background", "skin", "stem", "bruise", "rot"]
WIDTH, HEIGHT = 512, 96
LINE = ("source: {type: synthetic, frame_size: [512, 96], maps_size: [512, 96], classes: 5, defects: 0.9, noise: 0, softness: 0.5, "
        "rate: 7, frames: %d, seed: %d}\nclasses: auto\nstages: [marching_squares, contour_assembly]\nsinks: [{type: jsonl, path: c.jsonl}]\n")


def record(folder, name, seed, frames):
    """A dataset of the line with this seed; returns frames (N x H x W x 3) and the number of the true class (N x H x W)."""
    graph = folder / f"{name}.yaml"
    graph.write_text(LINE % (frames, seed))
    subprocess.run(["contorno", "record", graph, folder / name, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    entries = [json.loads(line) for line in (folder / name / "manifest.jsonl").read_text().splitlines()]
    pictures = np.stack([np.asarray(Image.open(folder / name / entry["frame"]).convert("RGB")) for entry in entries])
    truth = np.stack([np.load(folder / name / entry["maps"]).argmax(axis=0) for entry in entries]).astype(np.uint8)
    return pictures, truth


class Block(nn.Sequential):
    def __init__(self, given, made):
        super().__init__(nn.Conv2d(given, made, 3, padding=1, bias=False), nn.BatchNorm2d(made), nn.ReLU(),
                         nn.Conv2d(made, made, 3, padding=1, bias=False), nn.BatchNorm2d(made), nn.ReLU())


class UNet(nn.Module):
    """Ronneberger et al. 2015, with three levels and few channels. Of operators that every engine computes right: transposed
    convolutions in the place of Resize, and Softmax over the channels in opset 13."""

    def __init__(self, classes, channels=12):
        super().__init__()
        one, two, four = channels, 2 * channels, 4 * channels
        self.down = nn.ModuleList([Block(3, one), Block(one, two), Block(two, four)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(four, two, 2, stride=2), nn.ConvTranspose2d(two, one, 2, stride=2)])
        self.joined = nn.ModuleList([Block(four, two), Block(two, one)])
        self.last = nn.Conv2d(one, classes, 1)

    def forward(self, x):
        kept = []
        for level, block in enumerate(self.down):
            x = block(nn.functional.max_pool2d(x, 2) if level else x)
            kept.append(x)
        for up, joined, beside in zip(self.up, self.joined, kept[-2::-1]):
            x = joined(torch.cat([beside, up(x)], dim=1))
        return self.last(x)


def train(net, pictures, truth, steps):
    """Crops of 96 x 128 from frames, mirrored at random; rare classes count more."""
    random = np.random.default_rng(0)
    share = np.bincount(truth.ravel(), minlength=len(CLASSES)) / truth.size
    weights = torch.tensor(1 / np.sqrt(share + 1e-4), dtype=torch.float32)
    optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
    began = time.process_time()
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 4e-3 * (1 - step / steps)
        x, y = [], []
        for _ in range(6):
            which, left = random.integers(len(pictures)), random.integers(WIDTH - 127)
            turn = 1 if random.random() < 0.5 else -1
            x.append(pictures[which, ::turn, left:left + 128])
            y.append(truth[which, ::turn, left:left + 128])
        loss = nn.functional.cross_entropy(net(prepared(np.stack(x))), torch.from_numpy(np.stack(y).astype(np.int64)), weights / weights.mean())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{sum(p.numel() for p in net.parameters())} parameters, {steps} steps, loss {loss.item():.3f}, "
          f"{time.process_time() - began:.0f} s of the processor")


def prepared(frames):
    """What the stage makes of frames by its defaults: N x 3 x H x W, 0 to 1."""
    return torch.from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2), dtype=np.float32) / 255)


def export(net, path, picture):
    """The net with a softmax behind it, and an input with the output that PyTorch gives for it."""
    whole = nn.Sequential(net, nn.Softmax(dim=1)).eval()
    x = prepared(picture[None])
    torch.onnx.export(whole, x, path, opset_version=13, input_names=["image"], output_names=["maps"])
    with torch.no_grad():
        np.savez(path.with_suffix(".check.npz"), input=x.numpy(), output=whole(x).numpy(), tolerance=np.float32([1e-4]))


def colours(pictures, truth, label, count=6):
    """Colours of a class: means of its pixels from the darkest to the brightest."""
    pixels = pictures[truth == label]
    groups = np.array_split(pixels[np.argsort(pixels.sum(axis=1), kind="stable")], count)
    return ["#" + bytes(int(round(value)) for value in group.mean(axis=0)).hex() for group in groups if len(group)]


def write_graphs(folder, references):
    for name, stage in (("network", "{type: network, model: line.onnx}"), ("classify", "classify")):
        classes = "".join(f"  - {{name: {one}{', references: ' + json.dumps(found) if name == 'classify' else ''}}}\n"
                          for one, found in zip(CLASSES, references))
        (folder / f"{name}.yaml").write_text(f"source: {{type: dataset, location: new/scored.jsonl, layout: chw}}\nclasses:\n{classes}"
                                             f"stages: [{stage}, marching_squares, contour_assembly]\n"
                                             f"sinks: [{{type: jsonl, path: {name}.jsonl}}]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=300, help="of training, with 6 crops each")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    given.folder.mkdir(parents=True, exist_ok=True)
    pictures, truth = record(given.folder, "seen", 1, 60)
    _, new_truth = record(given.folder, "new", 2, 12)
    lines = (given.folder / "new" / "manifest.jsonl").read_text().splitlines()
    with open(given.folder / "new" / "scored.jsonl", "w", encoding="utf-8") as scored:
        for number, (line, labels) in enumerate(zip(lines, new_truth)):
            np.save(given.folder / "new" / f"truth{number:03}.npy", labels + 1)  # 1 is the first class
            entry = json.loads(line)
            scored.write(json.dumps({"frame": entry["frame"], "truth": f"truth{number:03}.npy"}) + "\n")
    net = UNet(len(CLASSES))
    train(net, pictures, truth, given.steps)
    export(net, given.folder / "line.onnx", pictures[0])
    write_graphs(given.folder, [colours(pictures, truth, label) for label in range(len(CLASSES))])


if __name__ == "__main__":
    main()
