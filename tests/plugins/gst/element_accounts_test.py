"""What the element `contorno` says of its frames: statistics, their interval, messages with times, names of classes, regions."""
import json
import re

import pytest
from tests.plugins.gst.pipelines import GRAPH, Gst, GstVideo, bytes_of, caps_of, frames, packed, run_pipeline, wait_for_end

CAPS = caps_of("RGB", 64, 48)
TEXT = "appsrc name=in ! contorno name=contorno {} ! contornometa2json ! appsink name=text"
STATISTICS = ("in", "out", "failed", "dropped", "late", "regrown", "contours", "maps-missing", "maps-unused", "interlaced",
              "latency-p50", "latency-p99", "latency-max")


def discs(count):
    return [packed(frame, "RGB") for frame in frames(count, 64, 48)]


def played(properties, count=5, config=GRAPH):
    """The statistics and the messages, as (name of the structure, its values), of so many frames of a ball."""
    messages = []
    pipeline = Gst.parse_launch(f"videotestsrc pattern=ball num-buffers={count} ! {CAPS} ! contorno name=contorno {properties} ! fakesink")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", config)

    def note(_, message):
        if message.type == Gst.MessageType.ELEMENT:
            said = message.get_structure()
            messages.append((said.get_name(), {said.nth_field_name(i): said.get_value(said.nth_field_name(i))
                                               for i in range(said.n_fields())}))
        return Gst.BusSyncReply.PASS

    pipeline.get_bus().set_sync_handler(note)
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    stats = {name: element.get_property("stats").get_value(name) for name in STATISTICS}
    pipeline.set_state(Gst.State.NULL)
    return stats, messages


def test_times_of_late_frames_are_those_of_the_statistics_in_their_units():
    """The messages say milliseconds, the statistics nanoseconds, of the same moments."""
    stats, messages = played("deadline=2500", count=9)
    took = []
    for name, said in messages:
        assert (name, said["what"], said["frame"]) == ("contorno-frame", "late", len(took))
        assert said["pts"] == len(took) * Gst.SECOND // 25
        reason = re.fullmatch(r"took (\d+\.\d{3}) ms, the deadline is 0\.003 ms", said["reason"])
        assert reason, said["reason"]
        took.append(float(reason[1]))
    assert stats["late"] == len(took) == 9
    assert stats["latency-max"] / 1e6 == pytest.approx(max(took), abs=0.0011)
    assert min(took) * 0.99 <= stats["latency-p50"] / 1e6 <= stats["latency-p99"] / 1e6 <= max(took) + 0.0011
    middle = sorted(took)[4]
    assert stats["latency-p50"] / 1e6 == pytest.approx(middle, rel=0.05)


@pytest.mark.parametrize("config, properties, late", [
    ("pipeline: {deadline: 0.002}\n", "", "0.002"), ("pipeline: {deadline: 0.002}\n", "deadline=4000", "0.004"),
    ("pipeline: {deadline: 100000}\n", "", None), ("pipeline: {deadline: 0.002}\n", "deadline=100000000000", None), ("", "", None)],
    ids=["graph", "property first", "long", "long property", "none"])
def test_the_deadline_is_that_of_the_property_else_that_of_the_graph(config, properties, late):
    stats, messages = played(properties, config=config + GRAPH)
    said = [message["reason"].rsplit(" is ", 1)[1] for _, message in messages]
    assert (said, stats["late"]) == (([f"{late} ms"] * 5, 5) if late else ([], 0))
    assert stats["in"] == stats["out"] == 5


@pytest.mark.parametrize("interval, least, most", [(0, 0, 0), (1, 5, 5), (Gst.SECOND * 3600, 0, 0)])
def test_statistics_are_posted_no_more_often_than_the_interval(interval, least, most):
    _, messages = played(f"stats-interval={interval}")
    posted = [said for name, said in messages if name == "contorno-stats"]
    assert least <= len(posted) <= most
    assert [said["out"] for said in posted] == list(range(1, len(posted) + 1)) and all(set(said) == set(STATISTICS) for said in posted)


def test_contours_are_counted_and_a_frame_with_more_than_fits_is_counted_as_run_again():
    data = discs(3)
    found = run_pipeline(TEXT.format(""), data, CAPS, outputs=("text",))
    lines = [json.loads(bytes_of(sample.get_buffer())) for sample in found["text"]]
    contours = sum(len(one["contours"]) for line in lines for one in line["classes"])
    pipeline = Gst.parse_launch("appsrc name=in format=time ! contorno name=contorno ! fakesink")
    element, source = pipeline.get_by_name("contorno"), pipeline.get_by_name("in")
    element.set_property("config", GRAPH)
    source.set_property("caps", Gst.Caps.from_string(CAPS))
    for turn in (1, 2):  # the second time all begins anew
        pipeline.set_state(Gst.State.PLAYING)
        for index, one in enumerate(data):
            buffer = Gst.Buffer.new_wrapped(bytes(one))
            buffer.pts = index * Gst.SECOND // 25
            source.emit("push-buffer", buffer)
        source.emit("end-of-stream")
        wait_for_end(pipeline)
        stats = {name: element.get_property("stats").get_value(name) for name in STATISTICS}
        assert (stats["in"], stats["out"], stats["contours"], stats["regrown"]) == (3, 3, contours, 0), turn
        pipeline.set_state(Gst.State.NULL)
        assert element.get_property("stats").get_value("in") == 3  # until the next start


@pytest.mark.parametrize("classes, attached", [
    ("", ["red", "rest"]), (" rest , red ", ["red", "rest"]), ("rest,", ["rest"]), (",red", ["red"]), ("\tred", ["red"]),
    ("rest, ,", ["rest"])])
def test_blanks_and_empty_places_between_names_of_classes_mean_nothing(classes, attached):
    found = run_pipeline(TEXT.format(f'classes="{classes}"'), discs(1), CAPS, outputs=("text",))
    line = json.loads(bytes_of(found["text"][0].get_buffer()))
    assert [one["name"] for one in line["classes"]] == attached


def test_regions_are_attached_unless_they_are_switched_off():
    for regions in ("true", "false"):
        found = run_pipeline(f"appsrc name=in ! contorno name=contorno regions={regions} ! tee name=t ! queue ! appsink name=video "
                             "t. ! queue ! contornometa2json ! appsink name=text", discs(2), CAPS, outputs=("video", "text"))
        for sample, text in zip(found["video"], found["text"], strict=True):
            region = GstVideo.buffer_get_video_region_of_interest_meta_id(sample.get_buffer(), 0)
            assert (region is not None) == (regions == "true")
            assert any(one["contours"] for one in json.loads(bytes_of(text.get_buffer()))["classes"])


@pytest.mark.parametrize("mode, flagged, counted", [
    ("progressive", False, 0), ("interleaved", True, 4), ("interleaved", False, 4), ("mixed", True, 4), ("mixed", False, 0)])
def test_interlaced_frames_are_counted_and_said_once_a_stream(mode, flagged, counted):
    pipeline = Gst.parse_launch("appsrc name=in format=time ! contorno name=contorno ! fakesink")
    element, source = pipeline.get_by_name("contorno"), pipeline.get_by_name("in")
    element.set_property("config", GRAPH)
    source.set_property("caps", Gst.Caps.from_string(f"{CAPS},interlace-mode={mode}"))
    said = []

    def note(_, message):
        structure = message.get_structure()
        if message.type == Gst.MessageType.ELEMENT and structure.get_name() == "contorno-frame":
            said.append((structure.get_value("what"), structure.get_value("frame"), structure.get_value("reason")))
        return Gst.BusSyncReply.PASS

    pipeline.get_bus().set_sync_handler(note)
    for turn in (1, 2):  # the second time all begins anew
        pipeline.set_state(Gst.State.PLAYING)
        for index, one in enumerate(discs(4)):
            buffer = Gst.Buffer.new_wrapped(bytes(one))
            buffer.pts = index * Gst.SECOND // 25
            if flagged:
                buffer.set_flags(Gst.BufferFlags(int(GstVideo.VideoBufferFlags.INTERLACED)))
            source.emit("push-buffer", buffer)
        source.emit("end-of-stream")
        wait_for_end(pipeline)
        stats = {name: element.get_property("stats").get_value(name) for name in STATISTICS}
        assert (stats["in"], stats["out"], stats["interlaced"]) == (4, 4, counted)
        assert [(what, frame) for what, frame, _ in said] == [("interlaced", 0)] * (turn if counted else 0)
        assert all("put 'deinterlace' before the element" in reason for _, _, reason in said)
        pipeline.set_state(Gst.State.NULL)
