"""Class maps on the frames' own buffers: tensors as elements of GStreamer 1.26 and newer hand them on."""
import subprocess

import numpy as np
import pytest
from tests.conftest import blobs
from tests.plugins.gst.maps_pad_test import CLASSES, FRAME, GRAPH, TYPES, caps_and_bytes, run_pads, run_with_maps, stored
from tests.plugins.gst.pipelines import ENVIRONMENT, Gst, buffer_of, caps_of, gi, launch

try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GLib, GstAnalytics
    HAS_TENSORS = hasattr(GstAnalytics, "TensorMeta")
except (ValueError, ImportError):
    HAS_TENSORS = False
needs_tensors = pytest.mark.skipif(not HAS_TENSORS, reason="needs GStreamer's analytics library with its typelib (GStreamer 1.26)")

# How a network may lay out H x W x C maps: the axes in their order in memory, and the sides that the tensor says.
FORMS = {"chw": ((2, 0, 1), lambda sides: sides, "ROW_MAJOR"),
         "hwc": ((0, 1, 2), lambda sides: sides, "ROW_MAJOR"),
         "a batch of one": ((2, 0, 1), lambda sides: (1, *sides), "ROW_MAJOR"),
         "the first side first in memory": ((2, 0, 1), lambda sides: (*reversed(sides), 1), "COL_MAJOR")}


def tensor_of(name, numbers, sides, order="ROW_MAJOR"):
    kind = getattr(GstAnalytics.TensorDataType, str(numbers.dtype).upper())
    return GstAnalytics.Tensor.new_simple(GLib.quark_from_string(name), kind, Gst.Buffer.new_wrapped(numbers.tobytes()),
                                          getattr(GstAnalytics.TensorDimOrder, order), list(sides))


def frame_with(index, *metas):
    """A frame whose buffer has a meta for each list of tensors."""
    buffer = buffer_of(FRAME, index)
    for tensors in metas:
        GstAnalytics.buffer_add_tensor_meta(buffer).set(tensors)
    return buffer


def run_with_tensors(buffers, properties=""):
    """Those of frames 1 and so on. Of the first frame the source makes a copy, in which GStreamer 1.26 leaves tensors out."""
    return run_pads({"frames": (caps_of("RGB", 80, 50), [buffer_of(FRAME, 0), *buffers])}, "maps-tensor=maps " + properties)


@needs_tensors
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_contours_of_tensors_are_those_of_the_same_maps_on_the_pad(form, kind):
    axes, say, order = FORMS[form]
    buffers, pushed, caps = [], [], None
    for index in range(1, 4):
        maps = blobs(25, 40, CLASSES, index)
        numbers = np.ascontiguousarray(stored(maps, kind).transpose(axes))
        # Among others, in the second of two metas.
        buffers.append(frame_with(index, [tensor_of("boxes", np.zeros(8, np.float32), [2, 4])],
                                  [tensor_of("scores", np.zeros(2, np.float32), [2]),
                                   tensor_of("maps", numbers, say(numbers.shape), order)]))
        caps, data = caps_and_bytes("chw", kind, maps)
        pushed.append((index, data))
    expected, _ = run_with_maps([(index, FRAME) for index in range(4)], pushed, caps)
    lines, stats = run_with_tensors(buffers)
    assert lines == expected and len(lines) == 3 and all(any(one["contours"] for one in line["classes"]) for line in lines)
    assert (stats["out"], stats["maps-missing"], stats["maps-unused"]) == (3, 1, 0)


@needs_tensors
@pytest.mark.parametrize("policy", ["pass", "drop"])
def test_frames_without_the_tensor_are_counted_and_the_policy_decides(policy):
    maps = tensor_of("maps", stored(blobs(25, 40, CLASSES, 0), "float32"), [25, 40, CLASSES])
    other = tensor_of("scores", np.zeros(2, np.float32), [2])
    lines, stats = run_with_tensors([frame_with(1, [other]), frame_with(2, [maps]), frame_with(3)], f"maps-missing={policy}")
    assert [line["frame"] for line in lines] == [2]
    assert (stats["in"], stats["out"], stats["maps-missing"]) == (4, 1, 3)
    assert (stats["failed"], stats["dropped"]) == ((3, 0) if policy == "pass" else (0, 3))


UNFIT = [([3, 5, 4], "FLOAT64", "its type is none of float32, float16, uint8, uint16"),
         ([2, 3, 5, 4], "FLOAT32", "it has more than three sides"),
         ([4, 5, 2], "FLOAT32", "neither its first nor its last side is the graph's number of classes, 3")]
SCRIPT = """
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstAnalytics", "1.0")
from gi.repository import GLib, Gst, GstAnalytics
Gst.init(None)
pipeline = Gst.parse_launch("appsrc name=source format=time caps=video/x-raw,format=RGB,width=80,height=50,framerate=25/1 ! "
                            "contorno name=c maps-tensor=maps ! fakesink")
pipeline.get_by_name("c").set_property("config", GRAPH)
pipeline.set_state(Gst.State.PLAYING)
source = pipeline.get_by_name("source")
source.emit("push-buffer", Gst.Buffer.new_wrapped(bytes(12000)))
frame = Gst.Buffer.new_wrapped(bytes(12000))
tensor = GstAnalytics.Tensor.new_simple(GLib.quark_from_string("maps"), GstAnalytics.TensorDataType.KIND,
                                        Gst.Buffer.new_wrapped(bytes(SIZE)), GstAnalytics.TensorDimOrder.ROW_MAJOR, SIDES)
GstAnalytics.buffer_add_tensor_meta(frame).set([tensor])
source.emit("push-buffer", frame)
source.emit("end-of-stream")
bus = pipeline.get_bus()
while (message := bus.timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.ANY)).type != Gst.MessageType.EOS:
    if message.type == Gst.MessageType.ERROR:
        print("error:", message.parse_error()[0].message)
        break
    if message.type == Gst.MessageType.ELEMENT and message.get_structure().get_name() == "contorno-frame":
        print(message.get_structure().get_value("what"), message.get_structure().get_value("reason"))
stats = pipeline.get_by_name("c").get_property("stats")
print(*(f"{name} {stats.get_value(name)}" for name in ("in", "out", "failed", "maps-missing")))
pipeline.set_state(Gst.State.NULL)
"""


@needs_tensors
@pytest.mark.parametrize("sides, kind, why", UNFIT, ids=[why for *_, why in UNFIT])
def test_a_tensor_that_holds_no_maps_of_the_classes_makes_its_frame_fail_with_the_reason(sides, kind, why):
    script = SCRIPT.replace("GRAPH", repr(GRAPH)).replace("SIDES", repr(sides)).replace("KIND", kind)
    script = script.replace("SIZE", str(int(np.prod(sides)) * np.dtype(kind.lower()).itemsize))
    done = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True, timeout=60, env=ENVIRONMENT,
                          check=False)
    told = done.stdout.splitlines()
    assert told[:1] == ["failed its buffer has no tensor 'maps'"] and len(told) == 3, done.stdout + done.stderr
    assert told[1].startswith("failed ") and why in told[1], done.stdout + done.stderr
    assert told[2] == "in 2 out 0 failed 2 maps-missing 1"


def test_the_name_of_a_tensor_without_one_on_the_buffers_is_an_error_that_says_why(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("videotestsrc", "num-buffers=3", "!", "contorno", f"config={tmp_path}/graph.yaml", "maps-tensor=maps",
                  "maps-missing=error", "!", "fakesink")
    why = "frame 0: its buffer has no tensor 'maps'" if HAS_TENSORS else "buffers have tensors from 1.26 on"
    assert done.returncode != 0 and why in done.stderr, done.stderr
