"""Small videos of every container, and a graph that plays one."""
import subprocess

import cv2
import numpy as np
import pytest

FRAMES = 51
GRAPH = """
source: {type: video, location: clip.mp4}
classes:
  - {name: red, references: ["#ff0000"], colour: "#00ff00"}
stages:
  - type: classify
  - type: marching_squares
  - type: contour_assembly
sinks:
  - {type: jsonl, path: contours.jsonl}
"""
H264 = "openh264enc gop-size=10 ! h264parse"
VP8 = "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=10"
CHAINS = {
    "mp4": f"{H264} ! mp4mux faststart=true",
    "ts": f"{H264} ! mpegtsmux",
    "mkv": f"{VP8} ! matroskamux",
    "webm": f"{VP8} ! webmmux",
    "avi": "jpegenc ! avimux",
    "ogv": "theoraenc keyframe-force=8 ! oggmux",
}


def pictures(count):
    texture = cv2.GaussianBlur(np.random.default_rng(1).integers(0, 255, (120, 160, 3), np.uint8), (0, 0), 3)
    for index in range(count):
        picture = np.roll(texture, 3 * index, axis=1).copy()
        cv2.circle(picture, (20 + 2 * index % 120, 60), 18, (0, 0, 255), -1)
        yield picture


def record(path, chain, count=FRAMES):
    writer = cv2.VideoWriter(f"appsrc ! videoconvert ! {chain} ! filesink location={path}", cv2.CAP_GSTREAMER, 0, 25.0,
                             (160, 120))
    assert writer.isOpened()
    for picture in pictures(count):
        writer.write(picture)
    writer.release()


def overwritten(path, at, size, target):
    data = bytearray(path.read_bytes())
    data[at:at + size] = bytes(byte ^ 0xFF for byte in data[at:at + size])
    target.write_bytes(data)
    return target


def with_concealed_pictures(whole, target):
    if subprocess.run(["gst-inspect-1.0", "avdec_h264"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("needs the decoder avdec_h264 of Debian's package gstreamer1.0-libav")
    data = whole.read_bytes()
    key = next(at for at in range(data.index(b"mdat") + 4, len(data) - 4) if data[at + 4] & 0x9F == 5
               and 100 < int.from_bytes(data[at:at + 4], "big") < 20000)
    return overwritten(whole, key + int.from_bytes(data[key:key + 4], "big") // 2, 20, target)
