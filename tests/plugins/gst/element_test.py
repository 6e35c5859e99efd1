"""The element `contorno` gives the pixels and contours of `contorno run`, whatever the format, and behaves as others do."""
import json
import re
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest
from tests.conftest import ROOT, read_lines
from tests.plugins.gst.pipelines import (ENVIRONMENT, FORMATS, GRAPH, MORE_FORMATS, Failed, Gst, GstVideo, bytes_of, caps_of, converted,
                                         frames, launch, layout, packed, reference, run_pipeline, unpacked, wait_for_end)
from tests.plugins.gst.videos import CHAINS, record

TWO_BRANCHES = ("appsrc name=in ! contorno name=contorno ! tee name=t ! queue ! appsink name=video "
                "t. ! queue ! contornometa2json ! appsink name=text")
PLAIN = "appsrc name=in ! contorno name=contorno ! appsink name=video"


def without_name(line):
    """A line of the contour file without what only files have, and times that pictures do not have."""
    return {key: value for key, value in line.items() if key not in ("name", "pts_ns")}


def text_of(sample):
    return json.loads(bytes_of(sample.get_buffer()))


def samples_of(data, info, plane):
    """A plane's bytes, a row a row, without what lies behind them."""
    stride, offset = info.stride[plane], info.offset[plane]
    end = info.offset[plane + 1] if plane + 1 < info.finfo.n_planes else info.size
    return np.frombuffer(data, np.uint8)[offset:end].reshape(-1, stride)


def expected_frame(pixel_format, before, drawn, changed, width, height):
    """`before` with the samples of `drawn` where a pixel of theirs has changed, plane by plane."""
    info = layout(pixel_format, width, height)
    result = []
    for plane in range(info.finfo.n_planes):
        old, new = samples_of(before, info, plane), samples_of(drawn, info, plane)
        if pixel_format in ("NV12", "I420") and plane > 0:
            high, wide = (height + 1) // 2, (width + 1) // 2
            block = np.zeros((2 * high, 2 * wide), bool)
            block[:height, :width] = changed
            mask = block.reshape(high, 2, wide, 2).any(axis=(1, 3)).repeat(2 if pixel_format == "NV12" else 1, axis=1)
        else:
            mask = changed.repeat({"NV12": 1, "I420": 1, "GRAY8": 1, "GRAY16_LE": 2, "RGB": 3, "BGR": 3}.get(pixel_format, 4),
                                  axis=1)
        rows = np.where(mask, new[:mask.shape[0], :mask.shape[1]], old[:mask.shape[0], :mask.shape[1]])
        result.append(rows)
    return result


@pytest.mark.parametrize("size", [(64, 48), (33, 21), (1, 1)])
@pytest.mark.parametrize("pixel_format", FORMATS)
def test_pixels_and_contours_are_those_of_a_run(contorno, tmp_path, pixel_format, size):
    width, height = size
    given = converted([packed(frame, "RGB") for frame in frames(2, width, height)], "RGB", pixel_format, width, height)
    seen = [unpacked(data, "RGBA", width, height, 4) for data in converted(given, pixel_format, "RGBA", width, height)]
    drawn, lines = reference(contorno, tmp_path, [frame[..., :3] for frame in seen])
    found = run_pipeline(TWO_BRANCHES, given, caps_of(pixel_format, width, height), outputs=("video", "text"))
    assert [without_name(text_of(sample)) for sample in found["text"]] == [without_name(line) for line in lines]
    assert len(found["video"]) == 2
    info = layout(pixel_format, width, height)
    for index, sample in enumerate(found["video"]):
        whole = np.dstack([drawn[index], seen[index][..., 3]])
        changed = (whole != seen[index]).any(axis=2)
        assert changed.any() or size == (1, 1) or pixel_format.startswith("GRAY")
        in_format = converted([packed(whole, "RGBA")], "RGBA", pixel_format, width, height)[0]
        result = bytes_of(sample.get_buffer())
        for plane, rows in enumerate(expected_frame(pixel_format, given[index], in_format, changed, width, height)):
            np.testing.assert_array_equal(samples_of(result, info, plane)[:rows.shape[0], :rows.shape[1]], rows)


def components(data, info):
    """The samples of each component, and how many pixels one of them stands for across and down."""
    form = info.finfo
    for index in range(form.n_components):
        plane, size = form.plane[index], (form.depth[index] + 7) // 8
        across, down = 1 << form.w_sub[index], 1 << form.h_sub[index]
        rows, columns = -(-info.height // down), -(-info.width // across)
        within = form.poffset[index] * (2 if size == 2 and form.poffset[index] % 2 else 1)  # P010: counted in samples
        step, start = form.pixel_stride[index], info.offset[plane] + within
        samples = np.array([[int.from_bytes(data[at:at + size], "little") for x in range(columns)
                             for at in [start + y * info.stride[plane] + x * step]] for y in range(rows)], np.int64)
        yield samples >> form.shift[index], across, down, form.depth[index]


@pytest.mark.parametrize("pixel_format", MORE_FORMATS)
def test_formats_that_decoders_give_are_taken_and_keep_the_samples_that_nothing_is_drawn_on(pixel_format):
    width, height = 45, 33
    given = converted([packed(frame, "RGB") for frame in frames(1, width, height)], "RGB", pixel_format, width, height)
    (seen,) = (unpacked(data, "RGBA", width, height, 4) for data in converted(given, pixel_format, "RGBA", width, height))
    found = run_pipeline(TWO_BRANCHES, given, caps_of(pixel_format, width, height), outputs=("video", "text"))
    assert text_of(found["text"][0])["classes"][0]["contours"]
    result = bytes_of(found["video"][0].get_buffer())
    (shown,) = (unpacked(data, "RGBA", width, height, 4) for data in converted([result], pixel_format, "RGBA", width, height))
    green = (shown[..., 1].astype(int) - np.maximum(shown[..., 0], shown[..., 2])) > 100
    assert green.sum() > 40 and not ((seen[..., 1].astype(int) - np.maximum(seen[..., 0], seen[..., 2])) > 100).any()
    info, kept = layout(pixel_format, width, height), 0
    for (before, across, down, depth), (after, *_) in zip(components(given[0], info), components(result, info)):
        changed = np.zeros((before.shape[0] * down, before.shape[1] * across), bool)
        # What is drawn, and what the converter's 8 bits cannot tell from it, lies around the contours.
        changed[:height, :width] = cv2.dilate((np.abs(shown.astype(int) - seen).max(axis=2) > 6).astype(np.uint8),
                                              np.ones((9, 9), np.uint8))
        far = ~changed.reshape(before.shape[0], down, before.shape[1], across).any(axis=(1, 3))
        np.testing.assert_array_equal(before[far], after[far])
        kept += far.sum()
        assert depth >= 8
    assert kept > 200


@pytest.mark.parametrize("name, options", [
    ("ten.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv420p10le"]), ("full.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv444p"]),
    ("half.mp4", ["-c:v", "libx264", "-pix_fmt", "yuv422p10le"]), ("prores.mov", ["-c:v", "prores_ks"]),
    ("prores4444.mov", ["-c:v", "prores_ks", "-pix_fmt", "yuva444p10le"]), ("lossless.mkv", ["-c:v", "ffv1", "-pix_fmt", "bgra"]),
    ("dv.mov", ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"]), ("rgb.mkv", ["-c:v", "libx264rgb"])])
def test_the_first_line_of_the_guide_runs_with_what_decoders_give(tmp_path, name, options):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=192x108:rate=10:duration=0.5", *options,
                    name], cwd=tmp_path, check=True)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("-q", "filesrc", "location=" + name, "!", "decodebin", "!", "contorno", "config=graph.yaml", "!", "contornometa2json",
                  "!", "filesink", "location=contours.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(read_lines(tmp_path / "contours.jsonl")) == 5


def test_without_overlay_the_pixels_pass_untouched_and_contours_are_attached():
    given = [packed(frame, "RGB") for frame in frames(3, 61, 40)]
    found = run_pipeline(TWO_BRANCHES.replace("contorno name", "contorno overlay=false name"), given, caps_of("RGB", 61, 40),
                         outputs=("video", "text"))
    assert [bytes_of(sample.get_buffer()) for sample in found["video"]] == given
    assert all(text_of(sample)["classes"][0]["contours"] for sample in found["text"])


@pytest.mark.parametrize("pixel_format", ["NV12", "RGB", "RGBA", "GRAY8"])
def test_strides_of_a_cropped_frame_make_no_difference(pixel_format):
    """videocrop hands on a part of the frame with the strides of the whole."""
    data = converted([packed(frame, "RGB") for frame in frames(2, 70, 50)], "RGB", pixel_format, 70, 50)
    crop = "appsrc name=in ! videocrop left=8 right=3 top=6 bottom=5 ! "
    end = "contorno name=contorno ! tee name=t ! queue ! appsink name=video t. ! queue ! contornometa2json ! appsink name=text"
    straight = run_pipeline(crop + end, data, caps_of(pixel_format, 70, 50), outputs=("video", "text"))
    copied = run_pipeline(crop + "identity drop-allocation=true ! videoconvert ! video/x-raw,format=ARGB ! videoconvert ! "
                          f"video/x-raw,format={pixel_format} ! " + end, data, caps_of(pixel_format, 70, 50),
                          outputs=("video", "text"))
    assert len(straight["text"]) == 2
    if pixel_format in ("RGB", "RGBA"):  # which ARGB keeps
        assert [text_of(one) for one in straight["text"]] == [text_of(one) for one in copied["text"]]
    for sample in straight["text"]:
        assert (text_of(sample)["width"], text_of(sample)["height"]) == (59, 39)


def test_every_contour_is_a_region_of_interest_with_its_class_area_and_confidence():
    found = run_pipeline(TWO_BRANCHES, [packed(next(frames(1, 64, 48)), "RGB")], caps_of("RGB", 64, 48),
                         outputs=("video", "text"))
    buffer, line = found["video"][0].get_buffer(), text_of(found["text"][0])
    contours = [(one["name"], contour) for one in line["classes"] for contour in one["contours"] if one["name"] == "red"]
    assert contours
    for number, (name, contour) in enumerate(contours):
        region = GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number)
        x, y, width, height = contour["bbox"]
        assert region.x <= x + 0.5 and region.x + region.w >= x + width and region.w <= width + 2
        assert region.y <= y + 0.5 and region.y + region.h >= y + height and region.h <= height + 2
        said = region.get_param("contorno")
        assert (said.get_value("class"), said.get_value("area"), said.get_value("confidence")) == (name, contour["area"], 0.5)
    assert GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, len(contours)) is None


def test_hidden_classes_make_no_regions_of_interest():
    """Their contours are in the ContornoMeta like all others."""
    data = [packed(next(frames(1, 64, 48)), "RGB")]
    found = run_pipeline(TWO_BRANCHES, data, caps_of("RGB", 64, 48), outputs=("video", "text"))
    buffer, line = found["video"][0].get_buffer(), text_of(found["text"][0])
    count = {one["name"]: len(one["contours"]) for one in line["classes"]}
    assert count["red"] and count["rest"]
    regions = [GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number) for number in range(sum(count.values()))]
    assert [region and region.get_param("contorno").get_value("class") for region in regions] == (
        ["red"] * count["red"] + [None] * count["rest"])


def test_a_program_in_python_reads_the_contours(tmp_path):
    """By contorno.gst, in a probe behind the element."""
    script = PYTHON_USER.replace("GRAPH", repr(GRAPH))
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "lines")], capture_output=True, text=True, timeout=60,
                          env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    line, seen = json.loads((tmp_path / "lines").read_text()), json.loads(done.stdout)
    contours = [(one["name"], contour) for one in line["classes"] for contour in one["contours"]]
    assert contours and (seen["frame"], seen["width"], seen["height"]) == (0, 160, 120)
    assert [(name, contour["closed"]) for name, contour in contours] == [(one["class"], one["closed"]) for one in seen["contours"]]
    for (_, contour), one in zip(contours, seen["contours"], strict=True):
        np.testing.assert_allclose(np.array(one["points"])[:, ::-1], contour["points"], atol=1e-4)
        assert one["area"] == pytest.approx(contour["area"])
    assert seen["red"] == sum(name == "red" for name, _ in contours) > 0
    assert seen["without"] is None and "wanted Gst.Buffer" in seen["refused"]


PYTHON_USER = """
import json, sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
import contorno.gst
Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc num-buffers=1 pattern=ball foreground-color=0xffe02020 background-color=0xff305030 ! "
                            "video/x-raw,format=RGB,width=160,height=120 ! contorno name=c ! contornometa2json ! "
                            "filesink location=" + sys.argv[1])
element = pipeline.get_by_name("c")
element.set_property("config", GRAPH)
seen = {"without": contorno.gst.contours(Gst.Buffer.new_wrapped(b"abc"))}
try:
    contorno.gst.contours("a buffer")
except TypeError as error:
    seen["refused"] = str(error)

def look(pad, info):
    found = contorno.gst.contours(info.get_buffer())
    seen.update(frame=found.frame, width=found.width, height=found.height, red=len(found.of("red")))
    seen["contours"] = [{"class": found.class_names[found.classes[i]], "closed": bool(found.closed[i]), "points": points.tolist(),
                         "area": found.attributes["area"][i]} for i, points in enumerate(found)]
    return Gst.PadProbeReturn.OK

element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, look)
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
assert message.type == Gst.MessageType.EOS, message.parse_error()
pipeline.set_state(Gst.State.NULL)
print(json.dumps(seen))
"""


def test_the_elements_log_in_a_category_of_their_own(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    line = (*source(count=2), "contorno", "name=finder", f"config={tmp_path}/graph.yaml", "!", "contornometa2json", "!", "fakesink")

    def logged(level):
        done = launch(*line, env={"GST_DEBUG": f"contorno:{level}", "GST_DEBUG_NO_COLOR": "1"})
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if re.search(r" contorno .*<(finder|contornometa2json0)>", line)]

    frames_logged = logged(6)
    for words in ("loaded a graph of 4 stages and 2 classes", "planned for 64x48 RGB on cpu, with 4 slots", "frame 0 came",
                  "frame 1 goes on", "becomes a line"):
        assert any(words in line for line in frames_logged), (words, frames_logged)
    assert any("planned" in line for line in logged(4)) and not any("frame 1" in line for line in logged(4))
    assert logged(2) == []


def test_scaling_a_frame_scales_its_contours():
    data = [packed(next(frames(1, 64, 48)), "RGB")]
    scaled = run_pipeline("appsrc name=in ! contorno name=contorno ! videoscale ! video/x-raw,width=128,height=24 ! "
                          "contornometa2json ! appsink name=text", data, caps_of("RGB", 64, 48), outputs=("text",))
    plain = run_pipeline(TWO_BRANCHES, data, caps_of("RGB", 64, 48), outputs=("video", "text"))
    big, small = text_of(scaled["text"][0]), text_of(plain["text"][0])
    assert (big["width"], big["height"]) == (128, 24)
    for one, other in zip(big["classes"], small["classes"]):
        for contour, before in zip(one["contours"], other["contours"], strict=True):
            points, expected = np.array(contour["points"]), (np.array(before["points"]) + 0.5) * [2, 0.5] - 0.5
            np.testing.assert_allclose(points, expected, atol=1e-5)


def test_only_the_classes_asked_for_are_attached_and_drawn():
    data, caps = [packed(next(frames(1, 64, 48)), "RGB")], caps_of("RGB", 64, 48)
    found = run_pipeline(TWO_BRANCHES.replace("contorno name", "contorno classes=rest name"), data, caps, outputs=("video", "text"))
    assert [one["name"] for one in text_of(found["text"][0])["classes"]] == ["rest"]
    assert bytes_of(found["video"][0].get_buffer()) == data[0]  # it is hidden


def source(width=64, height=48, count=3):
    return ("videotestsrc", f"num-buffers={count}", "!", f"video/x-raw,format=RGB,width={width},height={height}", "!")


@pytest.mark.parametrize(("config", "words"), [
    (GRAPH.replace("line_width", "line_widht"), "graph.yaml:12:5: error: node 'overlay': unknown key 'line_widht'"),
    (GRAPH.replace("marching_squares", "marching_circles"), "graph.yaml:7:11: error"),
    ("classes: [{name: a}]\nstages: [{type: preprocess, size: [8, 8]}]\n", "makes no contours"),
    ("classes: [a", "graph.yaml:1:"),
    (GRAPH.replace("  - type: classify\n", ""), "graph.yaml:3:17: error: a class has references, but no stage looks at colours: "
                                                "classify is missing"),
])
def test_a_wrong_configuration_is_one_error_that_says_where(tmp_path, config, words):
    (tmp_path / "graph.yaml").write_text(config)
    done = launch(*source(), "contorno", f"config={tmp_path}/graph.yaml", "!", "fakesink")
    assert done.returncode != 0 and words in done.stderr, done.stderr
    assert done.stderr.count("ERROR: from element") == done.stderr.count("/Contorno:contorno0: ") == 1


def test_a_configuration_that_is_missing_is_an_error():
    assert "the property 'config' is empty" in launch(*source(), "contorno", "!", "fakesink").stderr
    assert "'/no/such.yaml' does not exist" in launch(*source(), "contorno", "config=/no/such.yaml", "!", "fakesink").stderr


def test_an_unknown_class_and_a_graph_that_does_not_fit_the_frames_are_errors(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch(*source(), "contorno", f"config={tmp_path}/graph.yaml", "classes=blue", "!", "fakesink")
    assert "the property 'classes' has 'blue', allowed are red, rest" in done.stderr
    (tmp_path / "graph.yaml").write_text(re.sub("references: [^]]*], ", "", GRAPH.replace("  - type: classify\n", "")))
    done = launch(*source(), "contorno", f"config={tmp_path}/graph.yaml", "!", "fakesink")
    assert "graph.yaml:6:11: node 'marching_squares': the maps have 4 channels" in done.stderr
    assert done.stderr.count("ERROR: from element /GstPipeline:pipeline0/Contorno:") == 1


@pytest.mark.parametrize("kind, size", [("RGB", 100), ("RGB", 64 * 48 * 3 - 1), ("I420", 64 * 48), ("I420", 64 * 48 * 3 // 2 - 1)])
def test_a_buffer_that_is_smaller_than_its_caps_say_is_a_failed_frame_and_reported(tmp_path, kind, size):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = launch("-m", "fakesrc", "num-buffers=2", "sizetype=fixed", f"sizemax={size}", "!",
                  f"video/x-raw,format={kind},width=64,height=48,framerate=25/1", "!", "contorno", f"config={tmp_path}/graph.yaml", "!",
                  "fakesink")
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "contorno-frame" in line]
    assert len(said) == 2 and "what=(string)failed" in said[0] and "frame=(guint64)1" in said[1]
    assert f"a buffer has {size} bytes, but a frame" in said[0].replace("\\", "")


@pytest.mark.parametrize("change", ["size: [32, 0]", "size: [32, 48]", "size: [64, 24]", "colour: rgb"])
def test_a_graph_that_draws_on_another_picture_than_the_frame_is_an_error(tmp_path, change):
    graph = GRAPH.replace("  - type: classify\n", f"  - {{name: other, type: preprocess, from: source.frame, {change}}}\n"
                                                  "  - {type: classify, from: source.frame}\n")
    (tmp_path / "graph.yaml").write_text(graph.replace("line_width: 2", "line_width: 2\n    from: {frame: other.image}"))
    done = launch(*source(), "contorno", f"config={tmp_path}/graph.yaml", "!", "fakesink")
    assert done.returncode == 1 and "node 'overlay' draws on " in done.stderr, done.stderr
    assert "but the frames are 64x48" in done.stderr and "let it take source.frame" in done.stderr
    (tmp_path / "graph.yaml").write_text(graph.replace("line_width: 2", "line_width: 2\n    from: {frame: source.frame}"))
    assert launch(*source(), "contorno", f"config={tmp_path}/graph.yaml", "!", "fakesink").returncode == 0


def stats_of(element):
    stats = element.get_property("stats")
    return {name: stats.get_value(name) for name in ("in", "out", "failed", "dropped", "late")}


def test_every_frame_is_in_one_count_and_late_ones_are_reported():
    pipeline = Gst.parse_launch("videotestsrc num-buffers=20 ! video/x-raw,width=64,height=48 ! "
                                "identity drop-probability=0.3 ! contorno name=contorno deadline=1 stats-interval=1 ! fakesink")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    names = []
    pipeline.get_bus().set_sync_handler(
        lambda _, message: message.type == Gst.MessageType.ELEMENT and names.append(message.get_structure().get_name())
        or Gst.BusSyncReply.PASS)
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    stats = stats_of(element)
    assert 0 < stats["in"] <= 20 and stats["in"] == stats["out"] == stats["late"], stats
    assert names.count("contorno-frame") == names.count("contorno-stats") == stats["in"]
    pipeline.set_state(Gst.State.NULL)


def test_a_live_source_with_a_slow_sink_drops_late_frames_and_counts_them():
    pipeline = Gst.parse_launch(
        "videotestsrc is-live=true num-buffers=40 ! video/x-raw,width=64,height=48,framerate=100/1 ! contorno name=contorno ! "
        "identity sleep-time=40000 ! fakesink sync=true qos=true")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    stats = stats_of(element)
    pipeline.set_state(Gst.State.NULL)
    assert stats["dropped"] > 0 and stats["in"] == stats["out"] + stats["failed"] + stats["dropped"], stats


def test_an_error_upstream_ends_the_pipeline_and_frames_before_it_come_out():
    """The error does not wait for them. Behind any thread of its own, a sink that still prerolls then would never play."""
    pipeline = Gst.parse_launch("videotestsrc ! video/x-raw,width=64,height=48 ! identity error-after=5 ! "
                                "contorno name=contorno ! fakesink async=false")
    element = pipeline.get_by_name("contorno")
    element.set_property("config", GRAPH)
    pipeline.set_state(Gst.State.PLAYING)
    with pytest.raises(Failed, match="identity"):
        wait_for_end(pipeline)
    end = time.monotonic() + 120
    while stats_of(element)["out"] < 5 - 1 and time.monotonic() < end:
        time.sleep(0.005)
    assert stats_of(element)["out"] == 5 - 1
    pipeline.set_state(Gst.State.NULL)


def test_the_format_may_change_in_the_middle_of_a_stream():
    def change(pipeline, index):
        if index == 1:
            pipeline.get_by_name("in").set_property("caps", Gst.Caps.from_string(caps_of("BGRx", 40, 30)))

    first, second = packed(next(frames(1, 64, 48)), "RGB"), packed(np.zeros((30, 40, 4), np.uint8), "BGRx")
    found = run_pipeline(TWO_BRANCHES, [first, second], caps_of("RGB", 64, 48), outputs=("video", "text"), between=change)
    assert [(line["frame"], line["width"], line["height"]) for line in map(text_of, found["text"])] == [(0, 64, 48), (1, 40, 30)]


def test_parameters_of_the_nodes_are_properties_that_the_next_frame_is_worked_on_with():
    data = packed(next(frames(1, 64, 48)), "RGB")

    def change(pipeline, index):
        element = pipeline.get_by_name("contorno")
        if index == 0:
            node = element.get_child_by_name("overlay")
            spec = node.find_property("line-width")
            assert (spec.minimum, spec.maximum) == (0, 64) and "Width of the lines" in spec.blurb
            assert spec.flags & Gst.PARAM_CONTROLLABLE
            assert node.get_property("line-width") == 2
        else:
            while stats_of(element)["out"] < index:
                pass
            element.get_child_by_name("overlay").set_property("line-width", 6.0)

    found = run_pipeline(PLAIN, [data, data], caps_of("RGB", 64, 48), between=change)
    thick = run_pipeline(PLAIN, [data], caps_of("RGB", 64, 48), config=GRAPH.replace("line_width: 2", "line_width: 6"))
    assert bytes_of(found["video"][1].get_buffer()) == bytes_of(thick["video"][0].get_buffer())
    assert bytes_of(found["video"][0].get_buffer()) != bytes_of(thick["video"][0].get_buffer())


def test_a_launch_line_sets_parameters_in_either_order(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    for words in (f"config={tmp_path}/graph.yaml overlay::line-width=5", f"overlay::line-width=5 config={tmp_path}/graph.yaml"):
        pipeline = Gst.parse_launch(f"videotestsrc ! contorno name=contorno {words} ! fakesink")
        element = pipeline.get_by_name("contorno")
        assert element.get_child_by_name("overlay").get_property("line-width") == 5


def test_seeking_flushes_and_the_stream_goes_on():
    pipeline = Gst.parse_launch("videotestsrc num-buffers=200 ! video/x-raw,width=64,height=48 ! contorno name=contorno ! fakesink")
    pipeline.get_by_name("contorno").set_property("config", GRAPH)
    pipeline.set_state(Gst.State.PAUSED)
    assert pipeline.get_state(10 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    for second in (3, 1, 2):
        assert pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, second * Gst.SECOND)
        assert pipeline.get_state(10 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    pipeline.set_state(Gst.State.NULL)


STATES = """
import sys, gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc ! video/x-raw,width=32,height=24 ! tee name=t ! queue ! contorno name=a ! fakesink "
                            "t. ! queue ! contorno name=b overlay=false ! contornometa2json ! fakesink")
for name in "ab":
    pipeline.get_by_name(name).set_property("config", sys.argv[1])
for turn in range(int(sys.argv[2])):
    for state in (Gst.State.PLAYING, Gst.State.NULL):
        pipeline.set_state(state)
        if turn % 10 == 0:
            assert pipeline.get_state(20 * Gst.SECOND)[0] != Gst.StateChangeReturn.FAILURE
pipeline.set_state(Gst.State.NULL)
del pipeline
Gst.deinit()
"""


def test_a_thousand_changes_of_state_of_two_elements_leave_nothing_behind():
    done = subprocess.run(["/usr/bin/python3", "-c", STATES, GRAPH, "500"], capture_output=True, text=True, timeout=300,
                          env={**ENVIRONMENT, "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7,2", "GST_DEBUG_NO_COLOR": "1",
                               "G_DEBUG": "fatal-criticals"}, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    leaked = [line for line in done.stderr.splitlines() if "object-alive, type-name=(string)Gst" in line or "=(string)Contorno" in line]
    assert leaked == []


def test_the_leaks_tracer_sees_an_object_that_is_left():
    """So that the test above can fail."""
    done = subprocess.run(["/usr/bin/python3", "-c", STATES.replace("del pipeline", "pass"), GRAPH, "1"],
                          capture_output=True, text=True, timeout=60, check=False,
                          env={**ENVIRONMENT, "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1"})
    assert "object-alive, type-name=(string)GstPipeline" in done.stderr


def test_a_muxed_video_read_back_shows_the_contours(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    shown = tmp_path / "overlay.mkv"
    done = launch("videotestsrc", "num-buffers=10", "pattern=ball", "foreground-color=0xffe02020", "background-color=0xff305030", "!",
                  "video/x-raw,format=I420,width=160,height=120", "!", "vp8enc", "deadline=1", "!", "matroskamux", "!", "filesink",
                  f"location={tmp_path}/clip.mkv")
    assert done.returncode == 0, done.stderr
    done = launch("filesrc", f"location={tmp_path}/clip.mkv", "!", "decodebin", "!", "contorno", f"config={tmp_path}/graph.yaml", "!",
                  "videoconvert", "!", "vp8enc", "deadline=1", "!", "matroskamux", "!", "filesink", f"location={shown}")
    assert done.returncode == 0, done.stderr
    reader = cv2.VideoCapture(str(shown), cv2.CAP_FFMPEG)
    greens = []
    while (read := reader.read())[0]:
        blue, green, red = np.moveaxis(read[1].astype(int), 2, 0)
        greens.append(((green > 150) & (red < 120) & (blue < 120)).sum())
    assert len(greens) == 10 and min(greens) > 40, greens


HEADER_USER = r"""
#include <contorno/gst/contornometa.h>
static GstPadProbeReturn show (GstPad *pad, GstPadProbeInfo *info, gpointer data) {
  ContornoMeta *meta = contorno_buffer_get_meta (GST_PAD_PROBE_INFO_BUFFER (info));
  for (guint i = 0; meta != NULL && i < meta->n_contours; i++) {
    guint n_points;
    const ContornoPoint *points = contorno_meta_get_points (meta, i, &n_points);
    g_print ("%s %u %d %g\n", meta->class_names[contorno_meta_get_class (meta, i)], n_points, meta->closed[i], points[0].col);
  }
  return GST_PAD_PROBE_OK;
}
int main (int argc, char **argv) {
  gst_init (&argc, &argv);
  GstElement *pipeline = gst_parse_launch (argv[1], NULL), *sink = gst_bin_get_by_name (GST_BIN (pipeline), "end");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, show, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus (pipeline);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return 0;
}
"""


def test_a_program_in_c_reads_the_contours_by_the_header_alone(tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    (tmp_path / "show.c").write_text(HEADER_USER)
    (tmp_path / "contorno").mkdir()
    (tmp_path / "contorno" / "gst").symlink_to(ROOT / "plugins" / "gst" / "element")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gstreamer-1.0"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", f"-I{tmp_path}", tmp_path / "show.c", "-o", tmp_path / "show",
                    *flags.split()], check=True)
    ball = ("videotestsrc num-buffers=1 pattern=ball foreground-color=0xffe02020 background-color=0xff305030 ! "
            f"video/x-raw,format=RGB,width=160,height=120 ! contorno config={tmp_path}/graph.yaml ! ")
    shown = subprocess.run([tmp_path / "show", ball + "fakesink name=end"], capture_output=True, text=True, check=True, timeout=60,
                           env=ENVIRONMENT).stdout.splitlines()
    done = launch(*(ball + f"contornometa2json ! filesink location={tmp_path}/lines").split())
    assert done.returncode == 0, done.stderr
    line = json.loads((tmp_path / "lines").read_text())
    expected = [f"{one['name']} {len(contour['points'])} {int(contour['closed'])} {contour['points'][0][0]:g}"
                for one in line["classes"] for contour in one["contours"]]
    assert expected and shown == expected


def test_the_sorting_line_gives_its_frames_and_true_maps(contorno, tmp_path):
    """The same bits as the source `synthetic`."""
    found = run_pipeline("contornosrc name=line is-live=false num-buffers=3 seed=7 classes=3 number-type=float32 layout=hwc "
                         "maps-size=[80,50] frame-size=[160,100] "
                         "line.src ! queue ! appsink name=video line.maps ! queue ! appsink name=maps", outputs=("video", "maps"))
    caps = found["maps"][0].get_caps().get_structure(0)
    assert caps.get_name() == "application/x-contorno-maps"
    assert [caps.get_value(name) for name in ("width", "height", "classes", "type", "layout")] == [80, 50, 3, "float32", "hwc"]
    found_by = ("classes: [{name: one}, {name: two}, {name: three}]\nstages: [marching_squares, contour_assembly]\n"
                "sinks: [{type: jsonl, path: contours.jsonl, coordinates: map}")
    (tmp_path / "line.yaml").write_text(
        "source: {type: synthetic, seed: 7, classes: 3, maps_size: [80, 50], frame_size: [160, 100], frames: 3}\n"
        + found_by + ", {type: images, from: source.frame, path: '{frame}.png'}]\n")
    (tmp_path / "maps.yaml").write_text("source: {type: dataset, location: maps, layout: hwc}\n" + found_by + "]\n")
    (tmp_path / "maps").mkdir()
    for index in range(3):
        maps = found["maps"][index].get_buffer()
        np.save(tmp_path / "maps" / f"{index}.npy", np.frombuffer(bytes_of(maps), np.float32).reshape(50, 80, 3))
    for name in ("line", "maps"):
        contorno("run", tmp_path / f"{name}.yaml", "--output", tmp_path / name / "out", "--quiet", cwd=tmp_path)
    line, maps = (read_lines(tmp_path / name / "out" / "contours.jsonl") for name in ("line", "maps"))
    assert [one["classes"] for one in line] == [one["classes"] for one in maps] and line[0]["classes"][1]["contours"]
    for index in range(3):
        frame = found["video"][index].get_buffer()
        assert (frame.pts, frame.offset) == (found["maps"][index].get_buffer().pts, index)
        picture = cv2.imread(str(tmp_path / "line" / "out" / f"{index}.png"))[..., ::-1]
        np.testing.assert_array_equal(unpacked(bytes_of(frame), "RGBA", 160, 100, 4)[..., :3], picture)


def test_the_sorting_line_comes_at_its_rate_when_it_is_live():
    pipeline = Gst.parse_launch("contornosrc num-buffers=11 rate=20 maps-size=[32,24] ! fakesink sync=false")
    start = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    wait_for_end(pipeline)
    assert time.monotonic() - start >= 0.45
    pipeline.set_state(Gst.State.NULL)


def test_a_flush_of_the_frames_of_contornosrc_flushes_its_maps():
    pipeline = Gst.parse_launch("contornosrc name=line is-live=false maps-size=[32,24] line.src ! fakesink async=false "
                                "line.maps ! fakesink name=maps async=false")
    seen = []
    kinds = Gst.PadProbeType.EVENT_DOWNSTREAM | Gst.PadProbeType.EVENT_FLUSH
    pipeline.get_by_name("maps").get_static_pad("sink").add_probe(kinds, lambda _, info: seen.append(info.get_event().type)
                                                                  or Gst.PadProbeReturn.OK)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        pad = pipeline.get_by_name("line").get_static_pad("src").get_target()
        assert pad.push_event(Gst.Event.new_flush_start()) and pad.push_event(Gst.Event.new_flush_stop(True))
    finally:
        pipeline.set_state(Gst.State.NULL)
    assert [one for one in seen if one in (Gst.EventType.FLUSH_START, Gst.EventType.FLUSH_STOP)] == [
        Gst.EventType.FLUSH_START, Gst.EventType.FLUSH_STOP]


@pytest.mark.parametrize("element", ["contorno", "contornometa2json", "contornosrc"])
def test_gst_inspect_describes_every_property(element):
    done = subprocess.run(["gst-inspect-1.0", element], capture_output=True, text=True, check=True, env=ENVIRONMENT, timeout=60)
    assert "License                  MIT/X11" in done.stdout and "Long-name" in done.stdout
    described = Gst.ElementFactory.make(element)
    for spec in described.list_properties():
        assert spec.blurb and spec.blurb[0].isupper(), spec.name
    if element == "contornosrc":
        assert {spec.name for spec in described.list_properties()} >= {"seed", "maps-size", "is-live"}


def launch_lines():
    for page in ("README.md", "docs/guide/gstreamer.md"):
        text = (ROOT / page).read_text().replace("\\\n", " ")
        yield from (" ".join(line.split()) for line in text.splitlines() if line.strip().startswith("gst-launch-1.0"))


STAND_INS = {"rtspsrc location=rtsp://CAMERA/stream ! decodebin": "videotestsrc num-buffers=5", "autovideosink": "fakesink",
             "filesrc location=line.mp4 ! qtdemux ! h264parse ! nvh264dec": "videotestsrc num-buffers=5", "backend=cuda": "backend=auto",
             "nvh264enc ! h264parse": "videoconvert ! vp8enc deadline=1",
             "v4l2src": "videotestsrc num-buffers=5", "contornosrc": "contornosrc num-buffers=5 maps-size=[128,24]",
             "videotestsrc !": "videotestsrc num-buffers=5 !"}


@pytest.mark.parametrize("line", launch_lines())
def test_the_lines_of_the_pages_run(tmp_path, line):
    """With stand-ins for cameras, screens and GPUs, which machines that test may not have."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    (tmp_path / "maps.yaml").write_text("classes: [{name: a}, {name: b}, {name: c}]\nstages: [marching_squares, contour_assembly]\n")
    record(tmp_path / "line.mp4", CHAINS["mp4"], 5)
    for there, here in STAND_INS.items():
        line = line.replace(there, here)
    done = launch(*line.split()[1:], cwd=tmp_path)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    if "contornometa2json" in line:
        assert len(read_lines(tmp_path / "contours.jsonl")) == 5


def test_there_are_lines_for_a_file_a_camera_and_a_network_camera():
    lines = list(launch_lines())
    assert all(any(word in line for line in lines) for word in ("filesrc", "v4l2src", "rtspsrc")) and len(lines) >= 6
