"""Cameras for machines without one: a folder in the place of /dev, and GStreamer's v4l2src that reads it (camera/stand_in.cpp)."""
import pathlib
import re

import cv2
import numpy as np
import pytest
from tests.conftest import LIBRARY

STAND_INS = LIBRARY.parent.parent / "tests" / "camera"
WIDTH, HEIGHT, PICTURES = 64, 48, 5
GROUND, THING = (48, 96, 48), (216, 40, 40)
SIDE = 16

GRAPH = """
pipeline: {on_full: wait}
classes:
  - {name: red, references: ["#d82828"]}
  - {name: rest, references: ["#306030"], hidden: true}
stages: [classify, marching_squares, contour_assembly]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


def place(number):
    """The left and the upper side of the red square in a picture; even, so that no sample of chroma lies on both colours."""
    return 8 + 8 * (number % PICTURES), 16


def picture(number, width=WIDTH, height=HEIGHT):
    """RGB, with one red square, in proportion to the width."""
    scale = width // WIDTH
    left, top, side = (scale * value for value in (*place(number), SIDE))
    array = np.full((height, width, 3), GROUND, np.uint8)
    array[top:top + side, left:left + side] = THING
    return array


def samples(array):
    """Y, U and V of each pixel by BT.601 with 16 to 235 (the definition, ITU-R BT.601, 2.5)."""
    red, green, blue = (array[..., channel] / 255 for channel in range(3))
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    parts = 16 + 219 * luma, 128 + 224 * (blue - luma) / 1.772, 128 + 224 * (red - luma) / 1.402
    return [np.uint8(np.rint(part)) for part in parts]


def interleaved(array, order):
    """4:2:2 in one plane: two pixels are four bytes, in `order` of Y, U and V."""
    luma, u, v = samples(array)
    pairs = np.empty((array.shape[0], array.shape[1] // 2, 4), np.uint8)
    at = [place for place, letter in enumerate(order) if letter == "Y"]
    pairs[..., at[0]], pairs[..., at[1]] = luma[:, ::2], luma[:, 1::2]
    pairs[..., order.index("U")], pairs[..., order.index("V")] = u[:, ::2], v[:, ::2]
    return pairs.tobytes()


def planar(array, order):
    luma, u, v = samples(array)
    u, v = u[::2, ::2], v[::2, ::2]
    return luma.tobytes() + (u.tobytes() + v.tobytes() if order == "I420" else np.stack([u, v], axis=-1).tobytes())


def grey(array):
    return cv2.cvtColor(array, cv2.COLOR_RGB2GRAY)


# By the names of GStreamer; JPEG stands for Motion JPEG.
BYTES = {
    "YUY2": lambda array: interleaved(array, "YUYV"),
    "UYVY": lambda array: interleaved(array, "UYVY"),
    "NV12": lambda array: planar(array, "NV12"),
    "I420": lambda array: planar(array, "I420"),
    "GRAY8": lambda array: grey(array).tobytes(),
    "GRAY16_LE": lambda array: (grey(array).astype("<u2") * 257).tobytes(),
    "RGB": lambda array: array.tobytes(),
    "BGR": lambda array: array[..., ::-1].tobytes(),
    "JPEG": lambda array: cv2.imencode(".jpg", array[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes(),
}


def caps(kind, width=WIDTH, height=HEIGHT, rates="30/1"):
    media = "image/jpeg" if kind == "JPEG" else f"video/x-raw,format={kind}"
    return f"{media},width={width},height={height},framerate={rates}"


# Raw pictures are small or slow, as on a cable that cannot carry more.
WEBCAM = ";".join([caps("YUY2", rates="{30/1,15/1}"), caps("YUY2", 1280, 720, "10/1"), caps("JPEG", 1280, 720, "{30/1,15/1}"),
                   caps("GRAY8", rates="[1/1,60/1]")])


class Cameras:
    def __init__(self, folder):
        if not (STAND_INS / "plugin" / "libgstvideo4linux2.so").exists():
            pytest.skip("needs a build of the tests with GStreamer's development files (libgstreamer-plugins-base1.0-dev)")
        self.folder = pathlib.Path(folder)
        self.pictures = self.folder / "pictures"
        self.pictures.mkdir(parents=True)
        self.set_controls = self.folder / "controls"
        self.env = {"CONTORNO_DEV": str(self.folder), "GST_PLUGIN_PATH": f"{STAND_INS / 'plugin'}:{LIBRARY.parent / 'gstreamer-1.0'}",
                    "GST_REGISTRY": str(STAND_INS / "registry.bin")}
        self.controls_env = {"LD_PRELOAD": str(STAND_INS / "controls.so"), "STAND_IN_CONTROLS": str(self.set_controls),
                             # With it the program does not start itself a second time.
                             "OMP_WAIT_POLICY": "passive"}

    def plug(self, node="video0", offers=WEBCAM, name="Line camera", openings=None, **always):
        """A camera at /dev/`node`; `openings` has what happens when it is opened for the n-th time, `always` what happens each time.
        Its path comes back."""
        groups = {"camera": {"name": name, "offers": offers, "pictures": self.pictures, **always}}
        groups |= {f"opening {number}": keys for number, keys in (openings or {}).items()}
        text = "".join(f"[{group}]\n" + "".join(f"{key}={value}\n" for key, value in keys.items()) for group, keys in groups.items())
        (self.folder / node).write_text(text)
        for offered in offers.split(";"):
            self.draw(offered)
        return self.folder / node

    def draw(self, offered):
        found = re.match(r"(?:image/jpeg|video/x-raw,format=(\w+)),width=(\d+),height=(\d+),", offered)
        if found is None:  # nothing that anybody asks pictures of
            return
        kind, width, height = found[1] or "JPEG", found[2], found[3]
        for number in range(PICTURES):
            path = self.pictures / f"{kind}-{width}x{height}-{number}"
            if not path.exists():
                path.write_bytes(BYTES[kind](picture(number, int(width), int(height))))

    def link(self, kind, name, node):
        """What udev makes: a name in v4l/by-id or v4l/by-path, in the place of one that is there."""
        folder = self.folder / "v4l" / kind
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f".{name}"
        new.symlink_to(f"../../{node}")
        new.rename(folder / name)

    def controls(self):
        return self.set_controls.read_text().split("\n")[:-1] if self.set_controls.exists() else []


@pytest.fixture
def cameras(tmp_path, monkeypatch):
    """The cameras of this test, for each process that it starts."""
    made = Cameras(tmp_path / "dev")
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    return made


def write_graph(folder, source, rest=GRAPH):
    path = pathlib.Path(folder) / "graph.yaml"
    path.write_text(f"source: {{type: camera, {source}}}\n{rest}")
    return path
