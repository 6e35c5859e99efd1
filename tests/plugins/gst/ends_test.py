"""Numbers and sizes at the ends of their ranges: frames of the greatest side and beyond it, and the longest times."""
import time

import pytest
from tests.conftest import blobs
from tests.plugins.gst.maps_pad_test import GRAPH as MAPS_GRAPH
from tests.plugins.gst.maps_pad_test import caps_and_bytes, run_pads
from tests.plugins.gst.pipelines import GRAPH, Gst, buffer_of, caps_of, launch, wait_for_end

MOST = 65536
LONGEST = 2**63 - 1


@pytest.mark.parametrize("width, height", [(MOST, 2), (2, MOST), (MOST + 1, 2), (2, MOST + 1), (70_000, 2), (200_000, 2)])
def test_the_greatest_side_is_taken_and_a_greater_one_ends_the_stream_with_a_sentence(tmp_path, width, height):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("-q", "videotestsrc", "num-buffers=2", "!", caps_of("RGB", width, height), "!", "contorno", "backend=cpu",
                  f"config={tmp_path / 'graph.yaml'}", "!", "fakesink")
    if max(width, height) > MOST:
        assert done.returncode == 1 and f"allowed are sides of 1 to {MOST} px" in done.stderr, done.stderr
    else:
        assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr


@pytest.mark.parametrize("sides", [(0, 30, 3), (40, -1, 3), (40, 30, 0), (MOST + 1, 2, 3), (2, MOST + 1, 3)])
def test_maps_of_sizes_that_no_map_has_are_refused(tmp_path, sides):
    (tmp_path / "graph.yaml").write_text(MAPS_GRAPH)
    caps = "application/x-contorno-maps,width=(int){},height=(int){},classes=(int){},type=uint8,layout=chw,framerate=25/1".format(*sides)
    done = launch("-q", "videotestsrc", "num-buffers=2", "!", caps_of("RGB", 80, 50), "!", "contorno", "name=c", "backend=cpu",
                  f"config={tmp_path / 'graph.yaml'}", "!", "fakesink", "fakesrc", "num-buffers=2", "sizetype=fixed",
                  "sizemax=3600", "!", caps, "!", "c.maps")
    assert done.returncode == 1 and "c can't handle caps application/x-contorno-maps" in done.stderr, done.stderr


def test_a_frame_waits_for_its_maps_for_the_longest_time_there_is():
    pipeline = Gst.parse_launch(f"appsrc name=frames format=time ! contorno name=contorno overlay=false maps-timeout={LONGEST} "
                                f"deadline={LONGEST} stats-interval={LONGEST} ! fakesink "
                                "appsrc name=maps format=time ! contorno.maps")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", MAPS_GRAPH)
    caps, maps = caps_and_bytes("chw", "uint8", blobs(25, 40, 3, 0))
    data = {"frames": (caps_of("RGB", 80, 50), bytes(80 * 50 * 3)), "maps": (caps, maps)}
    for name, (one, _) in data.items():
        pipeline.get_by_name(name).set_property("caps", Gst.Caps.from_string(one))
    pipeline.set_state(Gst.State.PLAYING)
    for name in ("frames", "maps"):
        for index in range(3):
            pipeline.get_by_name(name).emit("push-buffer", buffer_of(data[name][1], index))
        pipeline.get_by_name(name).emit("end-of-stream")
        time.sleep(0.3)  # frames are there and wait
    wait_for_end(pipeline)
    stats = element.get_property("stats")
    pipeline.set_state(Gst.State.NULL)
    assert [stats.get_uint64(name)[1] for name in ("in", "out", "failed", "maps-missing")] == [3, 3, 0, 0]


def test_frames_do_not_wait_for_maps_that_have_ended():
    """However long they may wait: the pad of the maps says that nothing comes any more."""
    caps, maps = caps_and_bytes("chw", "uint8", blobs(25, 40, 3, 0))
    frames = [buffer_of(bytes(80 * 50 * 3), index) for index in range(4)]
    _, stats = run_pads({"maps": (caps, [buffer_of(maps, 0)]), "frames": (caps_of("RGB", 80, 50), frames)}, f"maps-timeout={LONGEST}")
    assert (stats["maps-missing"], stats["maps-unused"]) == (3, 0)


def test_frames_that_take_centuries_do_not_make_the_latency_go_round(tmp_path):
    """The latency of 64 slots at a frame in 68 years is longer than times can say."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("-q", "videotestsrc", "num-buffers=1", "!", "video/x-raw,format=RGB,width=32,height=24,framerate=1/2147483647", "!",
                  "contorno", "backend=cpu", "slots=64", f"config={tmp_path / 'graph.yaml'}", "!", "fakesink")
    assert done.returncode == 0, done.stderr
