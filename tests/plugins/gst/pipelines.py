"""GStreamer pipelines in the process of the test, with the plugin of the build folder."""
import os
import pathlib

import subprocess

import cv2
import numpy as np
import pytest
from tests.conftest import LIBRARY, read_lines

gi = pytest.importorskip("gi", reason="needs Debian's packages python3-gi and gir1.2-gst-plugins-base-1.0")
gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PLUGINS = LIBRARY.parent / "gstreamer-1.0"
PLAY_LINE = pathlib.Path(__file__).with_name("play_line.py")
Gst.init(None)
Gst.Registry.get().scan_path(str(PLUGINS))
FORMATS = ["GRAY8", "GRAY16_LE", "RGB", "BGR", "RGBA", "BGRA", "RGBx", "BGRx", "NV12", "I420"]
MORE_FORMATS = ["ARGB", "ABGR", "xRGB", "xBGR", "GBR", "GBR_10LE", "GBR_12LE", "ARGB64_LE", "RGBA64_LE", "NV21", "YV12", "Y42B",
                "Y444", "Y41B", "YUY2", "UYVY", "YVYU", "NV16", "A420", "AYUV", "AYUV64", "I420_10LE", "I420_12LE", "I422_10LE",
                "I422_12LE", "Y444_10LE", "Y444_12LE", "Y444_16LE", "A420_10LE", "A422_10LE", "A444_10LE", "P010_10LE",
                "P012_LE", "P016_LE"]
ENVIRONMENT = {**os.environ, "GST_PLUGIN_PATH": str(PLUGINS)}

GRAPH = """
classes:
  - {name: red, references: ["#e02020"], colour: "#00ff00", fill: 0.3}
  - {name: rest, references: ["#305030", "#a0a0a0", "#101010"], hidden: true}
stages:
  - type: classify
  - type: marching_squares
  - type: contour_assembly
  - type: contour_prep
    steps: [{type: measure}]
  - type: overlay
    line_width: 2
"""
SOURCE_AND_SINKS = """
source: {type: images, location: frames}
sinks:
  - {type: images, path: "{name}.png"}
  - {type: jsonl, path: contours.jsonl}
"""


def frames(count, width, height):
    """Moving red discs on a rough ground, RGB."""
    ground = np.random.default_rng(3).integers(40, 90, (height, width, 3), np.uint8)
    for index in range(count):
        frame = ground.copy()
        for disc in range(3):
            centre = (int(width * (0.2 + 0.3 * disc)) + 2 * index, int(height * (0.3 + 0.2 * disc)))
            cv2.circle(frame, centre, max(1, height // 6), (224, 32, 32), -1, cv2.LINE_AA)
        yield frame


def caps_of(pixel_format, width, height, rate=25):
    return f"video/x-raw,format={pixel_format},width={width},height={height},framerate={rate}/1"


def buffer_of(data, index, rate=25):
    buffer = Gst.Buffer.new_wrapped(bytes(data))
    buffer.pts = index * Gst.SECOND // rate
    buffer.duration = Gst.SECOND // rate
    return buffer


def bytes_of(buffer):
    return buffer.extract_dup(0, buffer.get_size())


def launch(*words, seconds=300, env=None, **kwargs):
    """Plays a line of gst-launch-1.0 in a process; returns the completed process. Errors of the element are tested so: in this
    process NumPy has brought a C++ library that unwinds exceptions in another way than GStreamer's libunwind."""
    return subprocess.run(["/usr/bin/python3", PLAY_LINE, *map(str, words)], capture_output=True, text=True, timeout=seconds, check=False,
                          env=ENVIRONMENT | (env or {}), **kwargs)


class Failed(Exception):
    """The first error on the bus, with the name of the element that posted it."""


def wait_for_end(pipeline, seconds=300):
    message = pipeline.get_bus().timed_pop_filtered(seconds * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message is not None, "the pipeline neither ended nor failed"
    if message.type == Gst.MessageType.ERROR:
        raise Failed(message.src.get_name(), message.parse_error()[0].message)


def run_pipeline(description, data=(), caps=None, config=GRAPH, outputs=("video",), between=None):
    """Pushes the bytes of frames through a pipeline with `appsrc name=in`; the buffers of each appsink come back. Calls
    `between(pipeline, index)` before each frame."""
    pipeline = Gst.parse_launch(description)
    element = pipeline.get_by_name("contorno")
    try:
        if element is not None:
            element.set_property("config", config)
        results = {}
        for name in outputs:
            results[name] = []
            sink = pipeline.get_by_name(name)
            sink.set_property("sync", False)
            sink.set_property("emit-signals", True)
            sink.connect("new-sample", lambda sink, found: found.append(sink.emit("pull-sample")) or Gst.FlowReturn.OK,
                         results[name])
        source = pipeline.get_by_name("in")
        if source is not None:
            source.set_property("caps", Gst.Caps.from_string(caps))
            source.set_property("format", Gst.Format.TIME)
            source.set_property("block", True)
        if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            wait_for_end(pipeline)
        for index, one in enumerate(data):
            if between is not None:
                between(pipeline, index)
            source.emit("push-buffer", one if isinstance(one, Gst.Buffer) else buffer_of(one, index))
        if source is not None:
            source.emit("end-of-stream")
        wait_for_end(pipeline)
        return results
    finally:
        pipeline.set_state(Gst.State.NULL)


def layout(pixel_format, width, height):
    info = GstVideo.VideoInfo.new()
    info.set_format(GstVideo.VideoFormat.from_string(pixel_format), width, height)
    return info


def converted(data, before, after, width, height):
    """Frames in another format, by GStreamer's own converter."""
    found = run_pipeline(f"appsrc name=in ! videoconvert ! {caps_of(after, width, height)} ! appsink name=video", data,
                         caps_of(before, width, height))
    return [bytes_of(sample.get_buffer()) for sample in found["video"]]


def packed(array, pixel_format):
    """The bytes of an H x W x C picture with GStreamer's stride."""
    height, width = array.shape[:2]
    stride = layout(pixel_format, width, height).stride[0]
    rows = np.zeros((height, stride), np.uint8)
    rows[:, :width * array.shape[2]] = array.reshape(height, -1)
    return rows.tobytes()


def unpacked(data, pixel_format, width, height, channels):
    stride = layout(pixel_format, width, height).stride[0]
    return np.frombuffer(data, np.uint8).reshape(height, stride)[:, :width * channels].reshape(height, width, channels)


def reference(contorno, folder, pictures, graph=GRAPH):
    """What `contorno run` makes of RGB pictures: those drawn on, and the objects of the contour file."""
    folder = pathlib.Path(folder)
    (folder / "frames").mkdir(parents=True)
    for index, picture in enumerate(pictures):
        assert cv2.imwrite(str(folder / "frames" / f"{index:03}.png"), np.ascontiguousarray(picture[..., ::-1]))
    (folder / "graph.yaml").write_text(graph + SOURCE_AND_SINKS)
    contorno("run", folder / "graph.yaml", "--output", folder / "out", "--quiet", cwd=folder)
    drawn = [cv2.imread(str(path))[..., ::-1] for path in sorted((folder / "out").glob("*.png"))]
    return drawn, read_lines(folder / "out" / "contours.jsonl")
