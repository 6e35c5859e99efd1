"""Network cameras: an RTSP server that dies and comes back, and the launch lines of the pages at a server."""
import json
import subprocess

import pytest
from tests.conftest import PROGRAM, read_lines
from tests.plugins.gst.element_test import launch_lines
from tests.plugins.gst.pipelines import launch
from tests.plugins.gst.rtsp import RtspServer, wait_until

GRAPH = """
classes:
  - {name: red, references: ["#e02020"], colour: "#00ff00"}
  - {name: rest, references: ["#305030"], hidden: true}
stages: [classify, marching_squares, contour_assembly]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


def start_run(folder, address, attempts, frames):
    (folder / "graph.yaml").write_text(
        f"source: {{type: video, location: '{address}', timeout: 1500, reconnect_attempts: {attempts}}}\n{GRAPH}")
    return subprocess.Popen([PROGRAM, "run", folder / "graph.yaml", "--output", folder / "out", "--frames", str(frames), "--report",
                             "report.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)


def line_count(folder):
    lines = folder / "out" / "contours.jsonl"
    return lines.read_text().count("\n") if lines.exists() else 0


def test_a_server_that_dies_and_comes_back_is_read_on_and_the_reconnection_counted(tmp_path):
    with RtspServer() as server:
        run = start_run(tmp_path, server.address, attempts=20, frames=60)
        wait_until(lambda: line_count(tmp_path) >= 10)
        server.kill()
        stopped = line_count(tmp_path)
        server.start()
        out, said = run.communicate(timeout=120)
    assert run.returncode == 0, said + out
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert stopped < len(lines) and report["frames"]["in"] == 60
    assert report["source"].endswith(", 64x48, 25 frames/s, live, reconnected 1 time"), report["source"]
    assert report["source_reconnections"] == 1
    assert said.count("there again at attempt") == 1 and f"used with a warning: {server.address}: " in said, said
    assert [line["frame"] for line in lines] == sorted({line["frame"] for line in lines}) and lines[-1]["frame"] == 59
    times = [line["pts_ns"] for line in lines]
    assert all(one < other for one, other in zip(times, times[1:]))
    assert all(line["classes"][0]["contours"] for line in lines)


def test_a_server_that_stays_away_ends_the_run_as_not_whole(tmp_path):
    with RtspServer() as server:
        run = start_run(tmp_path, server.address, attempts=1, frames=1000)
        wait_until(lambda: line_count(tmp_path) >= 10)
        server.kill()
        out, said = run.communicate(timeout=120)
    assert run.returncode == 3, said + out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert server.address in report["source_faults"][0]["reason"] and report["source_faults"][0]["missing"] is None
    assert "reconnected" not in report["source"] and report["source_reconnections"] == 0
    assert report["frames"]["in"] >= 10


@pytest.mark.parametrize("line", [line for line in launch_lines() if "rtspsrc" in line])
def test_the_lines_of_the_pages_for_a_network_camera_run_at_a_server(tmp_path, line):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    with RtspServer(frames=25) as server:
        line = line.replace("rtsp://CAMERA/stream", server.address)
        done = launch(*line.split()[1:], cwd=tmp_path)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr
    if "contornometa2json" in line:
        lines = read_lines(tmp_path / "contours.jsonl")
        assert len(lines) > 15 and all(one["classes"][0]["contours"] for one in lines)
