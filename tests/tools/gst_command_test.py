"""`contorno gst` prints a launch line that gives what `contorno run` gives."""
import json
import os
import subprocess

import pytest
from tests.conftest import LIBRARY, read_lines, run_contorno
from tests.plugins.gst.videos import CHAINS, record

ENVIRONMENT = {**os.environ, "GST_PLUGIN_PATH": str(LIBRARY.parent / "gstreamer-1.0")}
STAGES = """
classes:
  - {name: red, references: ["#ff0000"], colour: "#00ff00"}
  - {name: rest, references: ["#808080"], hidden: true}
stages: [classify, marching_squares, contour_assembly, overlay]
"""


def line_of(folder, graph, *arguments):
    (folder / "graph.yaml").write_text(graph)
    done = run_contorno("gst", folder / "graph.yaml", *arguments)
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("gst-launch-1.0 ")
    return done.stdout.strip(), done.stderr


def run_line(line, folder):
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120, cwd=folder, env=ENVIRONMENT, check=False)
    assert done.returncode == 0 and "ERROR" not in done.stderr, line + "\n" + done.stderr


def contours_of(folder):
    lines = read_lines(folder / "contours.jsonl")
    for line in lines:
        line.pop("name", None)
    return lines


def test_the_line_of_a_video_gives_the_contours_and_times_of_a_run_and_its_film(tmp_path):
    video = tmp_path / "it's a \"line\".mkv"
    record(tmp_path / "plain.mkv", CHAINS["mkv"], 8)
    (tmp_path / "plain.mkv").rename(video)
    graph = (f"source: {{type: video, location: {json.dumps(str(video))}}}\n{STAGES}"
             "sinks: [{type: jsonl, path: contours.jsonl}, {type: video, path: shown.mkv}, {type: coco, path: coco.json}]\n")
    for name in ("line", "run"):
        (tmp_path / name).mkdir()
    line, said = line_of(tmp_path, graph, "--output", tmp_path / "line")
    assert "the sink 'coco' has no element" in said and said.count("\n") == 1
    run_line(line, tmp_path)
    run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "run", "--quiet")
    found, expected = contours_of(tmp_path / "line"), contours_of(tmp_path / "run")
    assert found == expected and len(found) == 8
    assert (tmp_path / "line" / "shown.mkv").stat().st_size > 1000


def test_the_line_of_the_sorting_line_brings_its_maps_along(tmp_path):
    graph = ("source: {type: synthetic, seed: 3, classes: 2, maps_size: [128, 24], frames: 4}\n"
             "classes: [{name: a}, {name: b}]\nstages: [marching_squares, contour_assembly]\n"
             "sinks: [{type: jsonl, path: contours.jsonl}]\n")
    for name in ("line", "run"):
        (tmp_path / name).mkdir()
    line, said = line_of(tmp_path, graph, "--output", tmp_path / "line")
    assert said == "" and "contorno.maps" in line
    run_line(line, tmp_path)
    run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "run", "--quiet")
    assert contours_of(tmp_path / "line") == contours_of(tmp_path / "run")


@pytest.mark.parametrize(("source", "expected"), [
    ("{type: camera, device: /dev/video7, width: 640}", "v4l2src device=/dev/video7 ! video/x-raw,width=640 ! videoconvert ! "),
    ("{type: video, location: 'rtsp://camera/stream'}", "uridecodebin uri=rtsp://camera/stream ! queue ! contorno "),
    ("{type: test, pattern: ball, frames: 3}", "videotestsrc pattern=ball num-buffers=3 ! video/x-raw,width=320,height=240 ! contorno "),
])
def test_sources_have_their_elements(tmp_path, source, expected):
    line, _ = line_of(tmp_path, f"source: {source}\n{STAGES}sinks: [{{type: preview}}]\n")
    assert line.startswith("gst-launch-1.0 " + expected) and line.endswith("! videoconvert ! autovideosink")


def test_a_source_without_an_element_and_a_graph_on_standard_input_are_refused(tmp_path):
    (tmp_path / "graph.yaml").write_text(f"source: {{type: images, location: frames}}\n{STAGES}")
    done = run_contorno("gst", tmp_path / "graph.yaml", check=False)
    assert done.returncode == 64 and "the source 'images' has no element of GStreamer" in done.stderr
    assert run_contorno("gst", "-", check=False).returncode == 2
