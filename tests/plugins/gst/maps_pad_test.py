"""Frames and their class maps come to `contorno` on two pads, and are put together by their times."""
import subprocess
import threading

import numpy as np
import pytest
from tests.conftest import blobs, read_lines
from tests.plugins.gst.element_test import stats_of, text_of, without_name
from tests.plugins.gst.pipelines import ENVIRONMENT, Gst, buffer_of, caps_of, launch, wait_for_end

CLASSES = 3
GRAPH = """
classes: [{name: one}, {name: two}, {name: three}]
stages:
  - type: marching_squares
  - type: contour_assembly
"""
TYPES = {"float32": np.float32, "float16": np.float16, "uint8": np.uint8}


def stored(maps, kind):
    return np.rint(maps * 255).astype(np.uint8) if kind == "uint8" else maps.astype(TYPES[kind])


def caps_and_bytes(form, kind, maps):
    """H x W x C maps of one kind of caps."""
    height, width, classes = maps.shape
    numbers = stored(maps, kind)
    planar = np.ascontiguousarray(numbers.transpose(2, 0, 1)).tobytes()
    if form == "tensors":
        return (f"other/tensors,format=static,num_tensors=1,dimensions=(string){width}:{height}:{classes}:1,types=(string){kind},"
                "framerate=25/1"), planar
    caps = f"application/x-contorno-maps,width={width},height={height},classes={classes},type={kind},layout={form},framerate=25/1"
    return caps, planar if form == "chw" else numbers.tobytes()


def run_with_maps(frames, maps, maps_caps, properties="maps-timeout=60000000000"):
    """Pushes (index, bytes) of both; returns the lines of contours and the statistics."""
    return run_pads({"maps": (maps_caps, [buffer_of(one, index) for index, one in maps]),
                     "frames": (caps_of("RGB", 80, 50), [buffer_of(one, index) for index, one in frames])}, properties)


def run_pads(inputs, properties):
    """Pushes buffers with their caps to the pads `frames` and, if they have any, `maps`; returns the same."""
    pipeline = Gst.parse_launch(f"appsrc name=frames format=time ! contorno name=contorno overlay=false {properties} ! "
                                "contornometa2json ! appsink name=text sync=false "
                                + ("appsrc name=maps format=time ! contorno.maps" if "maps" in inputs else ""))
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    lines, sink = [], pipeline.get_by_name("text")
    sink.set_property("emit-signals", True)
    sink.connect("new-sample", lambda sink: lines.append(text_of(sink.emit("pull-sample"))) or Gst.FlowReturn.OK)
    for name, (caps, _) in inputs.items():
        pipeline.get_by_name(name).set_property("caps", Gst.Caps.from_string(caps))
    pipeline.set_state(Gst.State.PLAYING)
    for name, (_, buffers) in inputs.items():
        source = pipeline.get_by_name(name)
        for buffer in buffers:
            source.emit("push-buffer", buffer)
        source.emit("end-of-stream")
    wait_for_end(pipeline)
    stats = stats_of(element) | {name: element.get_property("stats").get_value(name) for name in ("maps-missing", "maps-unused")}
    pipeline.set_state(Gst.State.NULL)
    return lines, stats


FRAME = bytes(80 * 50 * 3)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["hwc", "chw", "tensors"])
def test_contours_are_those_of_a_run_on_the_same_maps(contorno, tmp_path, form, kind):
    (tmp_path / "maps").mkdir()
    pushed, caps = [], None
    for index in range(3):
        maps = blobs(25, 40, CLASSES, index)
        np.save(tmp_path / "maps" / f"{index}.npy", stored(maps, kind))
        caps, data = caps_and_bytes(form, kind, maps)
        pushed.append((index, data))
    (tmp_path / "graph.yaml").write_text(GRAPH + "source: {type: dataset, location: maps, layout: hwc}\n"
                                         "sinks: [{type: jsonl, path: contours.jsonl}]\n")
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "out", "--quiet", cwd=tmp_path)
    expected = read_lines(tmp_path / "out" / "contours.jsonl")
    lines, stats = run_with_maps([(index, FRAME) for index in range(3)], pushed, caps)
    assert stats["out"] == 3 and stats["maps-missing"] == stats["maps-unused"] == 0
    for line, other in zip(lines, expected, strict=True):
        assert (line["width"], line["height"], line["frame"]) == (80, 50, without_name(other)["frame"])
        found = [contour["points"] for one in line["classes"] for contour in one["contours"]]
        given = [contour["points"] for one in other["classes"] for contour in one["contours"]]
        assert len(found) == len(given) > 0
        for points, on_map in zip(found, given):  # the frame is twice as large as the maps
            np.testing.assert_allclose(points, (np.array(on_map) + 0.5) * 2 - 0.5, rtol=0, atol=1e-5)


@pytest.mark.parametrize("policy", ["pass", "drop"])
def test_partners_that_are_missing_are_counted_and_the_policy_decides(policy):
    maps = [(index, caps_and_bytes("chw", "float32", blobs(25, 40, CLASSES, index))[1]) for index in (0, 2, 3, 5)]
    caps = caps_and_bytes("chw", "float32", blobs(25, 40, CLASSES, 0))[0]
    lines, stats = run_with_maps([(index, FRAME) for index in (0, 1, 2, 4, 5, 6)], maps, caps, f"maps-missing={policy}")
    assert [line["frame"] for line in lines] == [0, 2, 4]
    assert (stats["in"], stats["out"], stats["maps-missing"], stats["maps-unused"]) == (6, 3, 3, 1)
    assert (stats["failed"], stats["dropped"]) == ((3, 0) if policy == "pass" else (0, 3))


def test_maps_that_do_not_come_in_time_are_not_waited_for_for_ever(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("videotestsrc", "num-buffers=3", "!", "video/x-raw,width=80,height=50", "!", "contorno", "name=c",
                  f"config={tmp_path}/graph.yaml", "maps-timeout=50000000", "maps-missing=error", "!", "fakesink",
                  "appsrc", "!", "c.maps")
    assert "frame 0: no maps with its time came" in done.stderr and done.stderr.count("/Contorno:c: frame") == 1, done.stderr


def test_a_buffer_of_maps_that_is_too_small_makes_its_frame_fail(tmp_path):
    script = SHORT.replace("GRAPH", repr(GRAPH))
    done = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True, timeout=60, env=ENVIRONMENT,
                          check=False)
    assert done.stdout == "in 1 out 0 failed 1\n", done.stdout + done.stderr


SHORT = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc num-buffers=1 ! video/x-raw,width=80,height=50 ! contorno name=c ! fakesink "
                            "appsrc name=maps format=time ! c.maps")
element, maps = pipeline.get_by_name("c"), pipeline.get_by_name("maps")
element.set_property("config", GRAPH)
maps.set_property("caps", Gst.Caps.from_string(
    "application/x-contorno-maps,width=40,height=25,classes=3,type=uint8,layout=chw,framerate=25/1"))
pipeline.set_state(Gst.State.PLAYING)
buffer = Gst.Buffer.new_wrapped(bytes(7))
buffer.pts = 0
maps.emit("push-buffer", buffer)
pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
stats = element.get_property("stats")
print(*(f"{name} {stats.get_value(name)}" for name in ("in", "out", "failed")))
pipeline.set_state(Gst.State.NULL)
"""


def test_the_sorting_line_with_its_own_maps_needs_no_network(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("contornosrc", "name=line", "classes=3", "maps-size=[128,24]", "frame-size=[256,48]", "num-buffers=6", "rate=60",
                  "line.src", "!", "queue", "!", "contorno", "name=c", f"config={tmp_path}/graph.yaml", "!", "contornometa2json",
                  "!", "filesink", f"location={tmp_path}/lines", "line.maps", "!", "queue", "!", "c.maps", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = read_lines(tmp_path / "lines")
    assert [line["frame"] for line in lines] == list(range(6)) and all(line["classes"][1]["contours"] for line in lines)


def test_stopping_while_a_frame_waits_for_its_maps_takes_no_time():
    pipeline = Gst.parse_launch("videotestsrc ! contorno name=c maps-timeout=60000000000 ! fakesink appsrc ! c.maps")
    pipeline.get_by_name("c").set_property("config", GRAPH)
    pipeline.set_state(Gst.State.PLAYING)
    assert pipeline.get_state(Gst.SECOND // 2)[0] == Gst.StateChangeReturn.ASYNC
    assert pipeline.set_state(Gst.State.NULL) == Gst.StateChangeReturn.SUCCESS


class Fed:
    """An element whose two inputs the test pushes into itself, so that their order is certain."""
    CAPS = {"sink": caps_of("RGB", 80, 50),
            "maps": "application/x-contorno-maps,width=40,height=25,classes=3,type=float32,layout=chw,framerate=25/1"}

    def __init__(self, properties="maps-timeout=200000000"):
        self.pipeline = Gst.parse_launch(f"contorno name=c overlay=false {properties} ! fakesink async=false sync=false")
        self.element = self.pipeline.get_by_name("c")
        self.element.set_property("config", GRAPH)
        self.failed, self.pads = [], {}
        for name in ("sink", "maps"):
            self.pads[name] = Gst.Pad.new(name, Gst.PadDirection.SRC)
            there = self.element.get_static_pad(name) or self.element.request_pad_simple(name)
            assert self.pads[name].link(there) == Gst.PadLinkReturn.OK
        self.play()

    def play(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        for name, pad in self.pads.items():
            pad.set_active(True)
            self.begin(name)

    def begin(self, name):
        for event in (Gst.Event.new_stream_start(name), Gst.Event.new_caps(Gst.Caps.from_string(self.CAPS[name])), self.segment()):
            assert self.pads[name].push_event(event)

    @staticmethod
    def segment():
        segment = Gst.Segment.new()
        segment.init(Gst.Format.TIME)
        return Gst.Event.new_segment(segment)

    def push(self, name, *times):
        """Buffers at these times in ms; None: without a time."""
        for time in times:
            buffer = Gst.Buffer.new_wrapped(FRAME if name == "sink" else bytes(40 * 25 * 3 * 4))
            if time is not None:
                buffer.pts = int(time * Gst.MSECOND)
            assert self.pads[name].push(buffer) == Gst.FlowReturn.OK

    def flush(self, name):
        """As a seek does it: the stream is the same and does not begin anew."""
        for event in (Gst.Event.new_flush_start(), Gst.Event.new_flush_stop(True), self.segment()):
            assert self.pads[name].push_event(event)

    def end(self, name):
        assert self.pads[name].push_event(Gst.Event.new_eos())

    def stats(self):
        """Once every frame has gone on."""
        self.end("sink")
        return self.counts()

    def counts(self):
        stats = self.element.get_property("stats")
        return {name: stats.get_value(name) for name in ("in", "out", "failed", "dropped", "maps-missing", "maps-unused")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pipeline.set_state(Gst.State.NULL)


def counted(**counts):
    return {"in": 0, "out": 0, "failed": 0, "dropped": 0, "maps-missing": 0, "maps-unused": 0} | {
        name.replace("_", "-").strip("-"): number for name, number in counts.items()}


def test_a_frame_without_a_time_fails_alone_and_leaves_the_maps_of_others_where_they_are():
    with Fed() as fed:
        fed.push("maps", *range(0, 400, 40))
        fed.push("sink", 0, 40, 80, None, 160, 200, 240, 280, 320, 360)
        assert fed.stats() == counted(in_=10, out=9, failed=1, maps_missing=1, maps_unused=1)
        messages = [fed.pipeline.get_bus().pop_filtered(Gst.MessageType.ELEMENT) for _ in range(2)]
        assert [one and one.get_structure().get_value("reason") for one in messages] == ["it has no time, by which maps are known", None]


def test_maps_without_a_time_are_unused_and_frames_go_on():
    with Fed() as fed:
        fed.push("maps", 0, None, 40)
        fed.push("sink", 0, 40)
        assert fed.stats() == counted(in_=2, out=2, maps_unused=1)


def test_maps_that_are_left_at_the_end_or_come_after_it_are_unused():
    with Fed() as fed:
        fed.push("maps", 0, 40, 80)
        fed.push("sink", 0)
        assert fed.stats() == counted(in_=1, out=1, maps_unused=2)
        fed.push("maps", 120)
        assert fed.counts()["maps-unused"] == 3


@pytest.mark.parametrize("after", ["flush", "READY", "release"])
def test_maps_that_are_thrown_away_are_unused(after):
    with Fed() as fed:
        fed.push("maps", 0, 40)
        if after == "flush":
            fed.flush("maps")
        elif after == "READY":
            fed.pipeline.set_state(Gst.State.READY)
        else:
            fed.element.release_request_pad(fed.element.get_static_pad("maps"))
        assert fed.counts()["maps-unused"] == 2


@pytest.mark.parametrize("shift, belongs", [(-0.9, True), (0.9, True), (0, True), (-1, False), (1, False)])
def test_maps_belong_to_a_frame_that_is_less_than_a_millisecond_away_on_either_side(shift, belongs):
    with Fed() as fed:
        fed.push("maps", 40 + shift, 80 + shift)
        fed.push("sink", 40, 80)
        stats = fed.stats()
        assert (stats["out"], stats["failed"], stats["maps-unused"]) == ((2, 0, 0) if belongs else (0, 2, 2))


@pytest.mark.parametrize("again", ["flush", "restart", "stream"])
def test_maps_come_again_after_their_end_when_their_stream_begins_anew(again):
    """What has ended stays so only until a flush, a restart or a new stream: frames wait for maps that come later."""
    with Fed("maps-timeout=20000000000") as fed:
        fed.push("maps", 0)
        fed.push("sink", 0)
        fed.end("maps")
        fed.push("sink", 40)  # does not wait for the twenty seconds
        if again == "flush":
            fed.flush("maps")
        elif again == "stream":
            fed.begin("maps")
        else:
            fed.pipeline.set_state(Gst.State.READY)
            fed.play()
        before = fed.counts()
        waiting = threading.Thread(target=fed.push, args=("sink", 80))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive(), "the frame does not wait for its maps"
        fed.push("maps", 80)
        waiting.join(30)
        assert not waiting.is_alive()
        after = fed.stats()
        assert after["maps-missing"] == before["maps-missing"] and after["out"] == (1 if again == "restart" else 2), (before, after)


@pytest.mark.parametrize("again", ["stream", "flush"])
def test_maps_are_kept_again_when_the_stream_of_frames_begins_anew_after_its_end(again):
    with Fed("maps-timeout=20000000000") as fed:
        fed.push("maps", 0)
        fed.push("sink", 0)
        fed.end("sink")
        if again == "stream":
            fed.begin("sink")
        else:
            fed.flush("sink")
        fed.push("maps", 40, 80)
        assert fed.counts()["maps-unused"] == 0
        if again == "flush":  # fakesink takes nothing behind an end that was not flushed
            fed.push("sink", 40, 80)
            assert fed.stats() == counted(in_=3, out=3)


def test_the_latency_is_the_longer_way_and_the_longest_one_allowed_the_shorter_limit():
    """Of frames and maps; both are live."""
    limits = {"sink": (20, 300), "maps": (50, 200)}

    def answer(pad, parent, query):
        if query.type != Gst.QueryType.LATENCY:
            return pad.query_default(parent, query)
        query.set_latency(True, *(one * Gst.MSECOND for one in limits[pad.get_name()]))
        return True

    for longer in limits:
        limits["maps"], limits["sink"] = ((50, 200), (20, 300)) if longer == "maps" else ((10, 400), (20, 300))
        with Fed("slots=1") as fed:
            for pad in fed.pads.values():
                pad.set_query_function_full(answer)
            query = Gst.Query.new_latency()
            assert fed.element.get_static_pad("src").query(query)
            live, least, most = query.parse_latency()
            assert live
            assert least // Gst.MSECOND == max(limits["sink"][0], limits["maps"][0])
            assert most // Gst.MSECOND == min(limits["sink"][1], limits["maps"][1])
