"""What `contorno run` says at the end, and the flags that set its source."""
import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest
from tests.conftest import PROGRAM, classes_yaml, read_lines, run_contorno

PATTERN = """
source: {type: test, pattern: ball, width: 160, height: 120, rate: 50, frames: 20}
classes: [{name: ball, references: ["#ffffff"]}, {name: none, references: ["#00ff00"]}]
stages: [{type: classify}, {type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


def run_pattern(tmp_path, *arguments, check=True):
    graph = tmp_path / "graph.yaml"
    graph.write_text(PATTERN)
    report = tmp_path / "report.json"
    done = run_contorno("run", graph, "--output", tmp_path, "--report", report, *arguments, check=check)
    return done, json.loads(report.read_text()) if report.exists() else None


def rate_of_reads(trace, frames):
    """Frames a second, by when each had been read."""
    events = json.loads(trace.read_text())["traceEvents"]
    came_us = sorted(event["ts"] + event["dur"] for event in events if event["name"] == "read")
    assert len(came_us) == frames
    return (frames - 1) * 1e6 / (came_us[-1] - came_us[0])


def test_a_live_run_says_whether_it_held_the_rate(tmp_path):
    done, report = run_pattern(tmp_path, "--live", "--trace", tmp_path / "trace.json")
    assert report["live"] and report["source_frames_per_second"] == 50
    # The rate is that of the frames that came, from the first to the last, however late a busy machine had them come.
    assert report["input_frames_per_second"] == pytest.approx(rate_of_reads(tmp_path / "trace.json", 20), rel=1e-3)
    held = report["held"]
    assert held == (report["frames"]["dropped"]["ring_full"] + report["frames"]["late"] == 0)
    assert f"budget    50 frames/s held: {'yes' if held else 'no'}" in done.stdout
    assert "frames/s came in" in done.stdout


def histograms_in(report, name=""):
    """Every distribution of times in a report, by its place."""
    if isinstance(report, dict):
        if {"mean", "p50"} <= set(report):
            yield name, report
        for key, value in report.items():
            yield from histograms_in(value, f"{name}.{key}")


def test_the_figures_of_a_distribution_of_times_are_in_order(tmp_path):
    _, report = run_pattern(tmp_path)
    found = dict(histograms_in(report))
    assert {".latency_us.end_to_end", ".latency_us.sinks.jsonl.writing"} <= set(found)
    for name, one in found.items():
        # A percentile is the upper end of its bucket, 0.8 % wide.
        known = [one["min"], *(one[key] for key in ("p50", "p90", "p99", "p99.9") if one[key] is not None)]
        assert known == sorted(known) and known[-1] <= one["max"] * 1.01 + 1e-3, (name, one)
        assert one["min"] - 1e-9 <= one["mean"] <= one["max"] + 1e-9, (name, one)


def test_a_file_that_is_read_as_fast_as_it_goes_has_no_budget(tmp_path):
    done, report = run_pattern(tmp_path)
    assert not report["live"] and report["deadline_ms"] is None and "budget" not in done.stdout
    assert "came in" not in done.stdout
    assert "dropped" not in done.stdout and "failed" not in done.stdout and "n/a" not in done.stdout
    # Too few frames for percentiles beyond the median: no columns for them.
    assert "p50" in done.stdout and "p90" not in done.stdout and "p99" not in done.stdout


def test_each_sink_has_its_frames_its_latency_and_a_track_of_the_trace(tmp_path):
    done, report = run_pattern(tmp_path, "--trace", tmp_path / "trace.json", "--set", "jsonl.on_full=drop")
    (sink,) = report["sinks"]
    assert sum(sink["frames"].values()) == report["frames"]["out"] == 20
    written = len((tmp_path / "contours.jsonl").read_text().splitlines())
    assert sink["frames"] == {"written": written, "dropped": 20 - written, "missed": 0}
    assert ("sink      jsonl" in done.stdout) == (written < 20)
    times = report["latency_us"]["sinks"]["jsonl"]
    assert {part["count"] for part in times.values()} == {written}
    assert times["end_to_end"]["min"] >= times["writing"]["min"] + report["latency_us"]["end_to_end"]["min"]
    assert "arrival to jsonl" in done.stdout and "jsonl" not in report["latency_us"]["parts"]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (track,) = {event["tid"] for event in events if event["ph"] == "M" and event["args"]["name"] == "jsonl"}
    assert sorted(event["name"] for event in events if event["ph"] == "X" and event["tid"] == track) == ["jsonl"] * written


def test_a_deadline_is_a_budget_for_files_too(tmp_path):
    done, report = run_pattern(tmp_path, "--set", "pipeline.deadline=60000")
    assert report["deadline_ms"] == 60000 and report["held"]
    assert "budget    60000 ms a frame held: yes, worst" in done.stdout


def test_classes_are_counted_per_frame(tmp_path):
    folder = tmp_path / "maps"
    folder.mkdir()
    flat = np.zeros((40, 60, 2), np.float32)
    spot = flat.copy()
    spot[10:14, 20:24, 1] = 1
    for number, maps in enumerate([flat, spot, flat, spot]):
        np.save(folder / f"{number}.npy", maps)
    graph = tmp_path / "graph.yaml"
    graph.write_text("source: {type: dataset, location: maps, layout: hwc}\nclasses:\n" + classes_yaml(2) +
                     "\nstages: [{type: marching_squares}, {type: contour_assembly}]\n"
                     "sinks: [{type: jsonl, path: c.jsonl}]\n")
    done = run_contorno("run", graph, "--input", folder, "--output", tmp_path, "--report", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["classes"] == [
        {"name": "class0", "points": 0, "contours": 0, "frames": 0, "greatest_value": 0.0, "points_per_frame": 0.0,
         "contours_per_frame": 0.0},
        {"name": "class1", "points": 34, "contours": 2, "frames": 2, "greatest_value": None, "points_per_frame": 8.5,
         "contours_per_frame": 0.5}]
    assert "class     class1                 in 2 of 4 frames; 0.5 contours, 8 points a frame\n" in done.stdout
    assert "class     class0                 no contour in 4 frames; its level is 0.5, the greatest value in the frames looked at 0\n" in done.stdout


def test_a_flag_for_the_source_needs_a_source_that_has_it(tmp_path):
    for flag in ("every", "start"):
        done, _ = run_pattern(tmp_path, f"--{flag}", "3", check=False)
        assert done.returncode == 64
        assert f"--{flag}: the source 'test' has no parameter '{flag}'" in done.stderr
    done, _ = run_pattern(tmp_path, "--every", "0", check=False)
    assert done.returncode == 2


def test_a_terminal_sees_percent_and_time_left(tmp_path):
    (tmp_path / "graph.yaml").write_text(PATTERN)
    ours, theirs = pty.openpty()
    run = subprocess.Popen([PROGRAM, "run", tmp_path / "graph.yaml", "--output", tmp_path, "--live"], stderr=theirs,
                           stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    assert run.wait() == 0
    os.close(ours)
    lines = [line.strip() for line in shown.decode().split("\r") if " of 20 frames" in line]
    assert len(lines) >= 3
    for line in lines:
        done, percent = map(int, re.match(r"(\d+) of 20 frames \((\d+) %\), ", line).groups())
        assert percent == done * 5
    assert any(re.search(r", \d+ s left, \d+\.\d/s", line) for line in lines)
    # Nothing of the line stays.
    assert shown.decode().split("\r")[-1] == ""


def test_a_recording_is_thinned_and_paced_by_flags(tmp_path):
    graph = tmp_path / "make.yaml"
    graph.write_text("source: {type: test, pattern: ball, width: 160, height: 120, rate: 20, frames: 24}\n"
                     "sinks: [{type: video, path: made.webm, from: source.frame}]\n")
    run_contorno("run", graph, "--output", tmp_path)
    graph.write_text(PATTERN.replace(PATTERN.splitlines()[1], "source: {type: video, location: made.webm}"))
    arguments = ["run", graph, "--input", tmp_path / "made.webm", "--output", tmp_path, "--report",
                 tmp_path / "report.json"]
    run_contorno(*arguments, "--start", "4", "--every", "5")
    times = [line["pts_ns"] for line in read_lines(tmp_path / "contours.jsonl")]
    assert [round(time / 50e6) for time in times] == [4, 9, 14, 19]
    assert json.loads((tmp_path / "report.json").read_text())["source_frames_per_second"] == 4
    done = run_contorno(*arguments, "--live", "--trace", tmp_path / "trace.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["live"] and report["on_full"] == "drop_oldest" and report["frames"]["in"] == 24
    assert report["input_frames_per_second"] == pytest.approx(rate_of_reads(tmp_path / "trace.json", 24), rel=1e-3)
    assert re.search(r"^budget    20 frames/s held: ", done.stdout, re.M)


MAPS = """
source: {type: dataset, location: maps}
classes: [{name: mask}]
stages: [marching_squares, contour_assembly]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


def run_maps(tmp_path, frames, graph=MAPS, arguments=()):
    (tmp_path / "maps").mkdir(exist_ok=True)
    for index, frame in enumerate(frames):
        np.save(tmp_path / "maps" / f"{index:02}.npy", frame)
    (tmp_path / "graph.yaml").write_text(graph)
    done = run_contorno("run", "graph.yaml", "--report", "report.json", *arguments, cwd=tmp_path)
    rows = [line for line in done.stdout.splitlines() if line.startswith("class ")]
    return rows, json.loads((tmp_path / "report.json").read_text())["classes"]


def disc(kind=np.float32, value=1):
    rows, cols = np.mgrid[0:40, 0:50]
    return ((np.hypot(rows - 20, cols - 25) < 12) * value).astype(kind)


@pytest.mark.parametrize("frame, said", [
    (disc(np.uint8), "its level is 0.5 (127.5 of 255), the greatest value in the frames looked at 0.00392 (1 of 255)"),
    (disc(np.uint16, 4095), "its level is 0.5 (32767.5 of 65535), the greatest value in the frames looked at 0.0625 (4095 of 65535)"),
    (disc(np.float32, 0.25), "its level is 0.5, the greatest value in the frames looked at 0.25"),
    (disc(np.float16, 0.25), "its level is 0.5, the greatest value in the frames looked at 0.25"),
    (np.where(disc() > 0, np.nan, 0.125).astype(np.float32), "its level is 0.5, the greatest value in the frames looked at 0.125")], ids=str)
def test_a_class_without_a_contour_is_said_with_the_greatest_value_beside_its_level(tmp_path, frame, said):
    rows, classes = run_maps(tmp_path, [np.zeros_like(frame), frame, np.zeros_like(frame)])
    assert len(rows) == 1 and rows[0].split("; ", 1) == ["class     mask                   no contour in 3 frames", said]
    assert classes[0]["contours"] == 0 and classes[0]["greatest_value"] == pytest.approx(float(re.search(r"looked at ([0-9.]+)", said)[1]), rel=2e-3)


def test_classes_with_contours_and_hidden_ones_have_no_such_row(tmp_path):
    frames = [np.stack([disc(), 0 * disc(), disc()], -1), np.stack([0 * disc()] * 3, -1)]
    graph = MAPS.replace("location: maps", "location: maps, layout: hwc").replace(
        "[{name: mask}]", "[{name: disc}, {name: background, hidden: true}, {name: other}]")
    rows, classes = run_maps(tmp_path, frames, graph)
    assert len(rows) == 2 and all("in 1 of 2 frames" in row for row in rows)
    assert [one["greatest_value"] for one in classes] == [None] * 3


def test_a_class_whose_contours_were_all_left_out_is_said(tmp_path):
    graph = MAPS.replace("stages: [marching_squares, contour_assembly]",
                         "stages: [marching_squares, {type: contour_assembly, min_points: 10000}]")
    rows, _ = run_maps(tmp_path, [disc()], graph)
    assert rows[0].endswith("no contour in 1 frames; its level is 0.5, the greatest value in the frames looked at 1")


def test_a_class_that_a_stage_makes_is_said_too(tmp_path):
    done, _ = run_pattern(tmp_path)
    assert re.search(r"^class     none .* no contour in 20 frames; its level is 0.5, the greatest value in the frames looked at 0", done.stdout, re.M)


def test_a_graph_that_is_made_for_a_mask_takes_a_level_between_its_values(tmp_path):
    for kind, value in ((np.uint8, 1), (np.uint8, 255), (np.uint16, 1), (bool, 1), (np.float32, 1), (np.float32, 200)):
        np.save(tmp_path / "mask.npy", disc(kind, value))
        done = run_contorno("run", "mask.npy", "--output", f"{np.dtype(kind)}{value}", cwd=tmp_path)
        frames = read_lines(tmp_path / f"{np.dtype(kind)}{value}" / "contours.jsonl")
        assert [len(one["contours"]) for one in frames[0]["classes"]] == [1], done.stderr
        text = (tmp_path / f"{np.dtype(kind)}{value}" / "mask.yaml").read_text()
        assert ("level: 0.5}" in text) == (value != 1 or kind in (bool, np.float32))
    assert "count as values from 0 (0) to 1 (255)" in (tmp_path / "uint81" / "mask.yaml").read_text()
