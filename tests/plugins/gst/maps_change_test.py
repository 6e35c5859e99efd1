"""The pad of the maps comes, goes and changes its caps while frames pass."""
import numpy as np
import pytest
from tests.conftest import blobs
from tests.plugins.gst.maps_pad_test import Fed
from tests.plugins.gst.pipelines import Gst

# The four channels of a frame are maps, too, as long as nothing else gives some.
GRAPH = "classes: [{name: r}, {name: g}, {name: b}, {name: a, hidden: true}]\nstages: [marching_squares, contour_assembly]\n"


def maps_caps(width, height, classes=4, kind="uint8", layout="chw"):
    return f"application/x-contorno-maps,width={width},height={height},classes={classes},type={kind},layout={layout},framerate=25/1"


class Changing(Fed):
    """Begins with frames alone."""

    def __init__(self):
        self.pipeline = Gst.parse_launch("contorno name=c overlay=false maps-timeout=20000000000 ! fakesink async=false sync=false")
        self.element = self.pipeline.get_by_name("c")
        self.element.set_property("config", GRAPH)
        self.CAPS = dict(Fed.CAPS)
        self.pads = {}
        self.add("sink")
        self.pipeline.set_state(Gst.State.PLAYING)
        self.start("sink")

    def add(self, name):
        self.pads[name] = Gst.Pad.new(name, Gst.PadDirection.SRC)
        there = self.element.get_static_pad(name) or self.element.request_pad_simple(name)
        assert self.pads[name].link(there) == Gst.PadLinkReturn.OK

    def start(self, name, caps=None):
        self.CAPS[name] = caps or self.CAPS[name]
        self.pads[name].set_active(True)
        self.begin(name)

    def remove_maps(self):
        there = self.element.get_static_pad("maps")
        self.pads.pop("maps").unlink(there)
        self.element.release_request_pad(there)

    def give(self, time, maps):
        buffer = Gst.Buffer.new_wrapped(maps.tobytes())
        buffer.pts = time * Gst.MSECOND
        assert self.pads["maps"].push(buffer) == Gst.FlowReturn.OK
        self.push("sink", time)


def planes(height, width):
    maps = np.zeros((4, height, width), np.uint8)
    maps[:3] = np.rint(blobs(height, width, 3, 1) * 255).astype(np.uint8).transpose(2, 0, 1)
    return maps


def contours(changing):
    return changing.element.get_property("stats").get_value("contours")


def settled(changing):
    """The contours so far, once all frames have gone on: a gap goes on behind them."""
    assert changing.pads["sink"].push_event(Gst.Event.new_gap(0, 0))
    return contours(changing)


def test_maps_that_are_added_while_the_element_runs_are_those_of_the_next_frame():
    with Changing() as changing:
        changing.push("sink", 0, 40)
        black = settled(changing)
        changing.add("maps")
        changing.start("maps", maps_caps(40, 25))
        changing.give(80, planes(25, 40))
        found = settled(changing) - black
        assert found > 0
        changing.give(120, planes(25, 40))
        assert settled(changing) - black == 2 * found
        changing.remove_maps()
        changing.push("sink", 160)
        assert settled(changing) - black == 2 * found + black // 2
        assert (changing.stats()["out"], changing.counts()["failed"], changing.counts()["maps-missing"]) == (5, 0, 0)


@pytest.mark.parametrize("layout", ["chw", "hwc"])
def test_maps_of_another_size_or_layout_are_taken_from_their_first_buffer_on(layout):
    with Changing() as changing:
        changing.add("maps")
        changing.start("maps", maps_caps(40, 25))
        changing.give(0, planes(25, 40))
        first = settled(changing)
        assert changing.pads["maps"].push_event(Gst.Event.new_caps(Gst.Caps.from_string(maps_caps(80, 50, layout=layout))))
        larger = planes(50, 80)
        changing.give(40, larger if layout == "chw" else np.ascontiguousarray(larger.transpose(1, 2, 0)))
        second = settled(changing) - first
        assert first > 0 and second > 0
        assert changing.stats()["failed"] == 0
    with Changing() as alone:  # what they are without the change
        alone.add("maps")
        alone.start("maps", maps_caps(80, 50))
        alone.give(0, larger)
        assert settled(alone) == second

