"""The lines of the pages that have a camera in them, and the example graph of one, run at a stand-in for v4l2src."""
import json
import re
import shlex

import pytest
from tests.conftest import ROOT, read_lines
from tests.plugins.gst.cameras import GRAPH, caps
from tests.plugins.gst.cameras import cameras  # noqa: F401, a fixture
from tests.plugins.gst.element_test import launch_lines
from tests.plugins.gst.pipelines import launch

LINES = [line for line in launch_lines() if "v4l2src" in line]


def plain_lines(page):
    """Lines of a page, continued ones as one."""
    return [line.strip() for line in (ROOT / page).read_text().replace("\\\n", " ").splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_the_lines_of_the_pages_for_a_camera_run_at_one(cameras, tmp_path, line):
    """What they show would need a screen; what they find is written instead, by the elements of the next line."""
    assert line.endswith(" ! videoconvert ! autovideosink")
    cameras.plug(ends_after=5)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    # Which frames a queue lets go by depends on who computes beside it.
    line = line.replace("leaky=downstream ", "").replace("videoconvert ! autovideosink", "contornometa2json ! filesink location=found.jsonl")
    done = launch(*line.split()[1:], cwd=tmp_path, env=cameras.env)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    found = read_lines(tmp_path / "found.jsonl")
    assert len(found) == 5 and all(len(one["classes"][0]["contours"]) == 1 for one in found)


def test_there_are_lines_for_a_camera_on_both_pages():
    assert len(LINES) == 2


def test_the_launch_line_of_the_guide_for_a_camera_runs_in_a_graph(cameras, contorno, tmp_path):
    cameras.plug("video2", caps("YUY2"), ends_after=30)
    [launch_of_page] = re.findall(r"^  launch: (v4l2src .*)$", (ROOT / "docs/guide/gstreamer.md").read_text(), re.M)
    (tmp_path / "graph.yaml").write_text(f"source:\n  type: gst\n  launch: {launch_of_page}\n{GRAPH}")
    contorno("run", "graph.yaml", "--allow-launch", cwd=tmp_path)
    lines = read_lines(tmp_path / "contours.jsonl")
    assert 9 <= len(lines) <= 11, "30 frames of a thirtieth of a second are ten of a tenth"
    assert all(len(line["classes"][0]["contours"]) == 1 for line in lines)


def test_the_latency_of_a_camera_is_measured_as_the_guide_says(cameras, contorno, tmp_path):
    cameras.plug()
    (tmp_path / "graph.yaml").write_text(GRAPH)
    [line] = [line for line in plain_lines("docs/guide/latency.md") if "v4l2src" in line]
    words = [word.replace("autovideosink", "fakesink") for word in shlex.split(line)]
    done = contorno(*words[1:], "--duration", "1s", "--warmup", "100ms", "--report", "report.json", cwd=tmp_path, check=False)
    # Whether 100 ms are held, and by enough frames, depends on the machine.
    assert done.returncode in (0, 4, 5), done.stderr
    assert "v4l2src" in done.stdout and json.loads((tmp_path / "report.json").read_text())["frames"]["offered"] > 0


def test_the_camera_of_the_readme_runs_on_after_it_was_unplugged(cameras, contorno, tmp_path):
    cameras.plug(openings={1: {"unplugged_after": 7}})
    [line] = [line for line in plain_lines("README.md") if "config/examples/camera.yaml" in line]
    words = [str(ROOT / word) if word.startswith("config/") else word for word in line.split()]
    contorno(*words[1:], "--frames", "10", "--report", "report.json", cwd=tmp_path)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    frames = report["frames"]
    assert frames["in"] == 10 == frames["out"] + frames["failed"] + frames["dropped"]["total"] and frames["failed"] == 0
    assert report["source_reconnections"] == 1 and report["source"].startswith("camera /dev/video0, 1280x720, 30 frames/s, live")


def test_the_example_for_a_camera_finds_what_is_red(cameras, contorno, tmp_path):
    cameras.plug()
    contorno("run", ROOT / "config" / "examples" / "camera.yaml", "--output", "out", "--frames", 6, "--set", "pipeline.on_full=wait",
             "--set", "pipeline.deadline=0", cwd=tmp_path)
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    assert len(lines) == 6 and (tmp_path / "out" / "overlay.mkv").stat().st_size > 1000
    for line in lines:
        [contour] = line["classes"][0]["contours"]
        assert contour["closed"] and contour["area"] > 0
