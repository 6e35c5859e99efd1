"""The element `contorno` works on several frames at once; what comes out is what one after the other would give, and no frame is
lost without being counted."""
import time

import pytest
from tests.plugins.gst.element_test import TWO_BRANCHES, stats_of, text_of, without_name
from tests.plugins.gst.pipelines import (GRAPH, Failed, Gst, buffer_of, bytes_of, caps_of, frames, packed, reference,
                                         run_pipeline, unpacked, wait_for_end)

SIZE = (64, 48)
CAPS = caps_of("RGB", *SIZE)
# What stages know of the frames before goes from slot to slot.
TRACKED = GRAPH.replace("{type: measure}", "{type: measure}, {type: track, max_distance: 30}")


def moving(count):
    return [packed(frame, "RGB") for frame in frames(count, *SIZE)]


def with_slots(slots, words=""):
    return TWO_BRANCHES.replace("contorno name", f"contorno slots={slots} {words} name")


def playing(description, config=GRAPH, state=Gst.State.PLAYING):
    """A pipeline in this state, and its element `contorno`."""
    pipeline = Gst.parse_launch(description)
    element = pipeline.get_by_name("contorno")
    element.set_property("config", config)
    pipeline.set_state(state)
    return pipeline, element


def wait_until(happened, seconds=120):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def assert_accounted(stats):
    assert stats["in"] == stats["out"] + stats["failed"] + stats["dropped"], stats


@pytest.mark.parametrize("slots", [1, 2, 4, 9])
def test_pixels_and_contours_of_frames_that_overlap_are_those_of_a_run(contorno, tmp_path, slots):
    given = moving(25)
    pictures = [unpacked(data, "RGB", *SIZE, 3) for data in given]
    drawn, lines = reference(contorno, tmp_path, pictures, TRACKED)
    found = run_pipeline(with_slots(slots), given, CAPS, config=TRACKED, outputs=("video", "text"))
    assert [without_name(text_of(sample)) for sample in found["text"]] == [without_name(line) for line in lines]
    assert [sample.get_buffer().pts for sample in found["video"]] == [index * Gst.SECOND // 25 for index in range(25)]
    for sample, expected in zip(found["video"], drawn, strict=True):
        assert (unpacked(bytes_of(sample.get_buffer()), "RGB", *SIZE, 3) == expected).all()


@pytest.mark.parametrize("slots", [1, 3])
def test_the_streaming_thread_waits_when_all_slots_are_taken_and_not_before(slots):
    """The sink keeps the first frame while it is paused."""
    pipeline, element = playing(f"videotestsrc ! {CAPS} ! contorno slots={slots} name=contorno ! fakesink", state=Gst.State.PAUSED)
    assert pipeline.get_state(120 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    wait_until(lambda: stats_of(element)["in"] == slots + 1)
    time.sleep(0.1)
    assert (stats_of(element)["in"], stats_of(element)["out"]) == (slots + 1, 1)
    pipeline.set_state(Gst.State.NULL)
    assert_accounted(stats_of(element))


@pytest.mark.parametrize(("slots", "frames_of_latency"), [(1, 0), (4, 3), (0, 3)])
def test_a_latency_query_is_answered_with_the_time_that_frames_may_be_in_the_slots(slots, frames_of_latency):
    pipeline, element = playing(f"videotestsrc is-live=true ! {caps_of('RGB', 64, 48, 50)} ! contorno slots={slots} "
                                "name=contorno ! fakesink")

    def asked(pad):
        query = Gst.Query.new_latency()
        return query.parse_latency() if pad.query(query) else None

    def is_added():
        before, after = asked(element.get_static_pad("sink").get_peer()), asked(element.get_static_pad("src"))
        own = 20 * frames_of_latency * Gst.MSECOND
        return before and before[0] and after == (True, before[1] + own, before[2] if before[2] == Gst.CLOCK_TIME_NONE
                                                  else before[2] + own)

    wait_until(is_added)
    pipeline.set_state(Gst.State.NULL)


def test_a_change_of_slots_posts_that_the_latency_has_changed():
    pipeline, element = playing(f"videotestsrc is-live=true ! {CAPS} ! contorno slots=1 name=contorno ! fakesink")
    wait_until(lambda: stats_of(element)["out"] > 0)
    said = []
    pipeline.get_bus().set_sync_handler(
        lambda _, message: said.append(message.src) or Gst.BusSyncReply.PASS if message.type == Gst.MessageType.LATENCY
        else Gst.BusSyncReply.PASS)
    element.set_property("slots", 3)
    wait_until(lambda: element in said)
    pipeline.set_state(Gst.State.NULL)


@pytest.mark.parametrize("policy", ["pass", "drop"])
def test_frames_that_have_waited_too_long_are_dropped_if_the_policy_says_so(policy):
    found, dropped = [], []
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers=8 ! {CAPS} ! contorno deadline=1 late-frames={policy} name=contorno ! "
                                "fakesink signal-handoffs=true name=end")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    pipeline.get_by_name("end").connect("handoff", lambda _, buffer, __: found.append(buffer.pts))
    pipeline.get_bus().set_sync_handler(
        lambda _, message: dropped.append(message.get_structure().get_value("what"))
        or Gst.BusSyncReply.PASS if message.type == Gst.MessageType.ELEMENT else Gst.BusSyncReply.PASS)
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    stats = stats_of(element)
    pipeline.set_state(Gst.State.NULL)
    assert_accounted(stats)
    if policy == "drop":
        assert found == [] and stats["dropped"] == 8 and dropped == ["dropped"] * 8
    else:
        assert len(found) == stats["late"] == 8 and dropped == ["late"] * 8


def test_a_frame_behind_one_that_was_dropped_says_so():
    """No maps come for the third frame. The first one begins the stream."""
    pipeline = Gst.parse_launch("appsrc name=in format=time ! contorno name=contorno maps-missing=drop overlay=false ! "
                                "appsink name=video sync=false appsrc name=maps format=time ! contorno.maps")
    pipeline.get_by_name("contorno").set_property(
        "config", "classes: [{name: a}]\nstages: [marching_squares, contour_assembly]\n")
    frame_source, maps = pipeline.get_by_name("in"), pipeline.get_by_name("maps")
    frame_source.set_property("caps", Gst.Caps.from_string(CAPS))
    maps.set_property("caps", Gst.Caps.from_string(
        "application/x-contorno-maps,width=8,height=6,classes=1,type=uint8,layout=chw,framerate=25/1"))
    pipeline.set_state(Gst.State.PLAYING)
    for source, data, indices in ((maps, bytes(48), (0, 1, 3)), (frame_source, bytes(64 * 48 * 3), (0, 1, 2, 3))):
        for index in indices:
            source.emit("push-buffer", buffer_of(data, index))
        source.emit("end-of-stream")
    sink = pipeline.get_by_name("video")
    flags = [sink.emit("pull-sample").get_buffer().has_flags(Gst.BufferFlags.DISCONT) for _ in range(3)]
    pipeline.set_state(Gst.State.NULL)
    assert flags[1:] == [False, True]


def test_the_end_of_the_stream_comes_behind_all_frames():
    found = run_pipeline(with_slots(16), moving(40), CAPS, outputs=("video", "text"))
    assert len(found["video"]) == len(found["text"]) == 40


def test_a_flush_throws_away_what_is_inside_and_counts_it():
    pipeline, element = playing(f"videotestsrc ! {CAPS} ! contorno slots=6 name=contorno ! fakesink name=end signal-handoffs=true",
                                state=Gst.State.PAUSED)
    assert pipeline.get_state(10 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    wait_until(lambda: stats_of(element)["in"] == 7)
    times = []
    pipeline.get_by_name("end").connect("preroll-handoff", lambda _, buffer, __: times.append(buffer.pts))
    pipeline.get_by_name("end").connect("handoff", lambda _, buffer, __: times.append(buffer.pts))
    assert pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 10 * Gst.SECOND)
    assert pipeline.get_state(10 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    pipeline.set_state(Gst.State.PLAYING)
    wait_until(lambda: len(times) > 5)
    pipeline.set_state(Gst.State.NULL)
    assert min(times) == 10 * Gst.SECOND and times[1:] == sorted(times[1:])
    stats = stats_of(element)
    assert stats["dropped"] >= 6
    assert_accounted(stats)


def test_other_branches_of_a_tee_see_the_frames_as_they_came():
    given = moving(12)
    found = run_pipeline("appsrc name=in ! tee name=t ! queue ! contorno slots=4 name=contorno ! appsink name=video "
                         "t. ! queue ! appsink name=plain", given, CAPS, outputs=("video", "plain"))
    assert [bytes_of(sample.get_buffer()) for sample in found["plain"]] == given
    assert all(bytes_of(sample.get_buffer()) != one for sample, one in zip(found["video"], given, strict=True))


@pytest.mark.parametrize("slots", [1, 5])
def test_an_error_behind_the_element_ends_the_stream_and_every_frame_is_counted(slots):
    pipeline, element = playing(f"videotestsrc ! {CAPS} ! contorno slots={slots} name=contorno ! identity error-after=5 ! fakesink")
    with pytest.raises(Failed, match="identity"):
        wait_for_end(pipeline)
    pipeline.set_state(Gst.State.NULL)
    stats = stats_of(element)
    assert stats["out"] == 5
    assert_accounted(stats)


@pytest.mark.parametrize("slots", [1, 5])
def test_the_end_that_comes_from_behind_goes_upstream(slots):
    pipeline, element = playing(f"videotestsrc ! {CAPS} ! contorno slots={slots} name=contorno ! identity eos-after=5 ! fakesink")
    wait_for_end(pipeline)
    pipeline.set_state(Gst.State.NULL)
    assert_accounted(stats_of(element))


def test_stopping_while_the_sink_takes_nothing_takes_no_time():
    """As when a muxer waits for another branch."""
    pipeline, element = playing(f"videotestsrc ! {CAPS} ! contorno slots=3 name=contorno ! appsink max-buffers=1 sync=false")
    wait_until(lambda: stats_of(element)["in"] >= 4)
    start = time.monotonic()
    assert pipeline.set_state(Gst.State.NULL) == Gst.StateChangeReturn.SUCCESS
    assert time.monotonic() - start < 60
    assert_accounted(stats_of(element))


def test_slots_and_backend_change_between_two_frames_of_a_playing_stream():
    def change(pipeline, index):
        element = pipeline.get_by_name("contorno")
        element.set_property("slots", 1 + index % 7)
        element.set_property("backend", ("cpu", "auto")[index % 2])

    given = moving(30)
    changed = run_pipeline(with_slots(2), given, CAPS, outputs=("video", "text"), between=change)
    plain = run_pipeline(with_slots(1), given, CAPS, outputs=("video", "text"))
    assert [text_of(one) for one in changed["text"]] == [text_of(one) for one in plain["text"]]
    assert [bytes_of(one.get_buffer()) for one in changed["video"]] == [bytes_of(one.get_buffer()) for one in plain["video"]]
