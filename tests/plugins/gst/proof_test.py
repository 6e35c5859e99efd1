"""The element in pipelines as people have them: real videos, tees, faults on the way, and times that are wrong."""

import cv2
import numpy as np
import pytest
import yaml
from tests.conftest import DATA, read_lines
from tests.plugins.gst.element_test import stats_of, text_of, without_name
from tests.plugins.gst.pipelines import (GRAPH, Gst, GstVideo, buffer_of, bytes_of, caps_of, frames, launch, packed, run_pipeline,
                                         wait_for_end)
from tests.plugins.gst.videos import CHAINS, record

FRAMES = 12
COLOURS = """
classes:
  - {name: dark, references: ["#302820"], colour: "#00ff00", fill: 0.4}
  - {name: light, references: ["#e0e0e0", "#808080"], colour: "#ff00ff"}
stages: [classify, marching_squares, contour_assembly, overlay]
"""
VIDEOS = ["thrown-ball.mp4", "vtest.avi", "made.mkv", "made.mp4", "made.ogv"]


@pytest.fixture(params=VIDEOS)
def video(request, tmp_path):
    """Recorded videos where they are; those that GStreamer's encoders make anywhere."""
    if not request.param.startswith("made"):
        if not (DATA / "video" / request.param).exists():
            pytest.skip("needs recorded videos, which are not in the repository (CONTORNO_DATA names their folder)")
        return DATA / "video" / request.param
    record(tmp_path / request.param, CHAINS[request.param.split(".")[1]], FRAMES)
    return tmp_path / request.param


def test_a_video_behind_decodebin_has_the_pixels_and_contours_of_a_run(contorno, tmp_path, video):
    (tmp_path / "graph.yaml").write_text(COLOURS)
    (tmp_path / "run.yaml").write_text(f"source: {{type: video, location: '{video}', limit: {FRAMES}}}\n{COLOURS}"
                                       "sinks: [{type: jsonl, path: contours.jsonl}, {type: images, path: '{frame}.png'}]\n")
    contorno("run", tmp_path / "run.yaml", "--output", tmp_path / "out", "--quiet", cwd=tmp_path)
    done = launch("filesrc", f"location={video}", "!", "decodebin", "force-sw-decoders=true", "!", "identity",
                  f"eos-after={FRAMES + 1}", "!", "videoconvert", "dither=none", "!", "video/x-raw,format=RGBA", "!", "contorno",
                  f"config={tmp_path}/graph.yaml", "!", "tee", "name=t", "!", "queue", "!", "contornometa2json", "!", "filesink",
                  f"location={tmp_path}/lines", "t.", "!", "queue", "!", "filesink", f"location={tmp_path}/pixels")
    assert done.returncode == 0, done.stderr
    # `identity` ends the stream where its queue upstream has room: there may be a few more.
    lines, expected = read_lines(tmp_path / "lines")[:FRAMES], read_lines(tmp_path / "out" / "contours.jsonl")
    assert len(lines) == len(expected) == FRAMES
    assert [without_name(line) for line in lines] == [without_name(line) for line in expected]
    # Buffers have the times of the container, which may begin later than the stream.
    assert len({line["pts_ns"] - other["pts_ns"] for line, other in zip(lines, expected)}) == 1
    assert any(one["contours"] for one in lines[0]["classes"])
    pixels = np.fromfile(tmp_path / "pixels", np.uint8).reshape(-1, lines[0]["height"], lines[0]["width"], 4)[:FRAMES]
    for index, one in enumerate(pixels):
        picture = cv2.imread(str(tmp_path / "out" / f"{index}.png"))[..., ::-1]
        np.testing.assert_array_equal(one[..., :3], picture)


def test_two_elements_behind_a_tee_do_not_write_into_each_others_frames():
    """All branches get the same buffers."""
    data, caps = [packed(frame, "RGBA") for frame in map(with_alpha, frames(4, 64, 48))], caps_of("RGBA", 64, 48)
    both = run_pipeline("appsrc name=in ! tee name=t ! queue ! contorno name=contorno ! appsink name=drawn "
                        f"t. ! queue ! contorno name=other config=\"{GRAPH_LINE}\" ! appsink name=thick t. ! queue ! appsink name=plain",
                        data, caps, outputs=("drawn", "thick", "plain"))
    alone = run_pipeline("appsrc name=in ! contorno name=contorno ! appsink name=video", data, caps)["video"]
    thick = run_pipeline("appsrc name=in ! contorno name=contorno ! appsink name=video", data, caps,
                         config=GRAPH.replace("line_width: 2", "line_width: 5"))["video"]
    given = {name: [bytes_of(sample.get_buffer()) for sample in samples] for name, samples in both.items()}
    assert given["plain"] == data
    assert given["drawn"] == [bytes_of(sample.get_buffer()) for sample in alone] != data
    assert given["thick"] == [bytes_of(sample.get_buffer()) for sample in thick] != given["drawn"]


def with_alpha(frame):
    return np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)])


# In the quotes of a launch line.
GRAPH_LINE = GRAPH.replace("line_width: 2", "line_width: 5").replace('"', '\\"')


def test_frames_that_are_dropped_on_the_way_change_no_contour_of_the_others():
    data, caps = [packed(frame, "RGB") for frame in frames(20, 64, 48)], caps_of("RGB", 64, 48)
    end = "contorno name=contorno ! contornometa2json ! appsink name=text"
    whole = {line["pts_ns"]: line["classes"] for line in map(text_of, run_pipeline(f"appsrc name=in ! {end}", data, caps,
                                                                                  outputs=("text",))["text"])}
    left = run_pipeline(f"appsrc name=in ! identity drop-probability=0.4 ! {end}", data, caps, outputs=("text",))["text"]
    lines = [text_of(sample) for sample in left]
    assert len(whole) == 20 and 0 < len(lines) < 20
    assert [line["frame"] for line in lines] == list(range(len(lines)))
    assert all(line["classes"] == whole[line["pts_ns"]] for line in lines)


WRONG_TIMES = {"none": [Gst.CLOCK_TIME_NONE] * 6, "all the same": [Gst.SECOND] * 6, "backwards": [index * Gst.SECOND for index in range(5, -1, -1)],
               "huge": [0, 1, 2**62, 2**63, 3, 4]}


@pytest.mark.parametrize("name", WRONG_TIMES)
def test_times_that_are_wrong_lose_no_frame_and_change_no_contour(name):
    data, caps = [packed(frame, "RGB") for frame in frames(6, 64, 48)], caps_of("RGB", 64, 48)
    stamped = [buffer_of(one, 0) for one in data]
    for buffer, pts in zip(stamped, WRONG_TIMES[name]):
        buffer.pts = pts
        buffer.duration = Gst.CLOCK_TIME_NONE
    branches = "appsrc name=in ! contorno name=contorno ! tee name=t ! queue ! appsink name=video t. ! queue ! contornometa2json ! appsink name=text"
    found = run_pipeline(branches, stamped, caps, outputs=("video", "text"))
    right = run_pipeline(branches, data, caps, outputs=("video", "text"))
    assert [sample.get_buffer().pts for sample in found["video"]] == WRONG_TIMES[name]
    assert [without_name(text_of(one))["classes"] for one in found["text"]] == [without_name(text_of(one))["classes"] for one in right["text"]]
    assert [bytes_of(one.get_buffer()) for one in found["video"]] == [bytes_of(one.get_buffer()) for one in right["video"]]


def test_an_error_downstream_ends_the_pipeline_and_every_frame_is_in_one_count():
    pipeline = Gst.parse_launch("videotestsrc ! video/x-raw,width=64,height=48 ! contorno name=contorno ! identity error-after=4 ! fakesink")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    pipeline.set_state(Gst.State.PLAYING)
    with pytest.raises(Exception, match="identity"):
        wait_for_end(pipeline)
    pipeline.set_state(Gst.State.NULL)  # what is in work is counted then
    stats = stats_of(element)
    assert stats["in"] == stats["out"] + stats["failed"] + stats["dropped"] and stats["in"] >= 3, stats


def test_the_confidence_of_a_region_is_the_mean_of_the_map_where_it_was_measured():
    graph = GRAPH.replace("  - type: overlay", "  - type: measure_map\n    from: {contours: contour_prep.contours, maps: classify.maps}\n"
                          "  - type: overlay")
    ring = next(frames(1, 64, 48)).copy()
    cv2.circle(ring, (32, 24), 20, (224, 32, 32), -1, cv2.LINE_AA)
    cv2.circle(ring, (32, 24), 10, (48, 80, 48), -1, cv2.LINE_AA)
    found = run_pipeline("appsrc name=in ! contorno name=contorno ! tee name=t ! queue ! appsink name=video t. ! queue ! "
                         "contornometa2json ! appsink name=text", [packed(ring, "RGB")], caps_of("RGB", 64, 48), config=graph,
                         outputs=("video", "text"))
    buffer, line = found["video"][0].get_buffer(), text_of(found["text"][0])
    means = holes = 0
    hidden = {one["name"] for one in yaml.safe_load(graph)["classes"] if one.get("hidden")}
    contours = ((one["name"], contour) for one in line["classes"] for contour in one["contours"])
    for number, (name, contour) in enumerate(contours):
        region = GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number)
        assert (region is None) == (name in hidden)
        if region is None:
            continue
        said = region.get_param("contorno")
        mean = contour["attributes"]["mean"]
        if contour["area"] > 0 and mean is not None:
            assert said.get_value("confidence") == pytest.approx(mean, abs=1e-9) and mean > 0.5
            means += 1
        else:
            assert said.get_value("confidence") == 0.5  # the level
            holes += 1
    assert means and holes
