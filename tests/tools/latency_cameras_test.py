"""`contorno latency` on a graph with `sources:`: each camera at its own rate, against its own deadline."""
import csv
import json
import os
import pathlib
import subprocess

import pytest
from tests.conftest import PROGRAM

FAULTS = pathlib.Path(PROGRAM).parent / "latency_faults"
SOURCE = "type: synthetic, frame_size: [64, 32], classes: 2, frames: 4"
REST = """
classes: [{name: a}, {name: b}]
stages: [{type: delay}, contours]
sinks: [{type: jsonl, path: "{camera}.jsonl"}]
"""


def latency(folder, sources, *options, code=0):
    (folder / "graph.yaml").write_text("sources:\n" + "".join(f"  - {{{source}}}\n" for source in sources) + REST)
    done = subprocess.run([FAULTS, "latency", "graph.yaml", "--warmup", "0s", "--no-probe-cost", *options], cwd=folder, capture_output=True,
                          text=True, timeout=300, check=False, env={**os.environ, "CONTORNO_BACKEND": "cpu"})
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_each_camera_is_measured_at_its_own_rate_against_its_own_deadline(tmp_path):
    """The second takes 30 ms a frame and may take 20: no load of the machine lets it hold that, nor the first miss 100 s."""
    sources = [f"name: north, {SOURCE}, rate: 25, set: {{pipeline.deadline: 100000}}",
               f"name: south, {SOURCE}, seed: 2, rate: 10, set: {{delay.constant: 30, pipeline.deadline: 20}}"]
    done = latency(tmp_path, sources, "--duration", "2s", "--report", "report.json", "--csv", "frames.csv", "--output", "out", code=4)
    report = json.loads((tmp_path / "report.json").read_text())
    north, south = report["cameras"]
    assert (north["name"], north["frames_per_second"], north["deadline_ms"]) == ("north", 25, 100000)
    assert (south["name"], south["frames_per_second"], south["deadline_ms"]) == ("south", 10, 20)
    assert north["frames"]["offered"] == 50 and south["frames"]["offered"] == 20
    assert north["frames"]["misses"] == 0 and south["frames"]["misses"] == 20
    assert report["settings"]["deadline_ms"] == 20 and report["settings"]["frames_per_second"] == 17.5
    assert report["verdict"]["result"] == "FAIL"
    assert report["verdict"]["sentence"].startswith("1 of 2 cameras did not hold their deadlines; south: 20 ms not held at 10 frames/s")
    assert "RESULT    FAIL  1 of 2 cameras" in done.stdout and "running" not in done.stderr
    # Both are measured in the same time: the warm-up ends once the slower camera has had its 30 frames.
    with (tmp_path / "frames.csv").open() as file:
        counted = [row for row in csv.DictReader(file) if row["warm_up"] == "0"]
    due = {camera: [int(row["due"]) / 1e9 for row in counted if row["camera"] == camera] for camera in "12"}
    assert due["1"][0] == due["2"][0] == 3 and due["1"][-1] == pytest.approx(4.96) and due["2"][-1] == pytest.approx(4.9)
    lines = [json.loads(line) for line in (tmp_path / "out" / "north.jsonl").read_text().splitlines()]
    assert len(lines) == 125 and {line["camera"] for line in lines} == {"north"}


def test_all_hold_and_the_report_is_shown_and_put_together_again(tmp_path):
    sources = [f"name: {name}, {SOURCE}, seed: {seed}, rate: 100" for seed, name in enumerate(("a", "b", "c"))]
    run = ("--fps", "50", "--deadline", "100s", "--duration", "1s", "--html", "page.html", "--report")
    done = latency(tmp_path, sources, *run, "one.json", "--assert", "camera b.p50<100s")
    assert "each of 3 cameras held its deadline" in done.stdout and "held: camera b.p50<100s" in done.stdout
    latency(tmp_path, sources, *run, "two.json")
    page = (tmp_path / "page.html").read_text()
    assert all(f"camera {name}" in page for name in "abc")
    both = subprocess.run([FAULTS, "latency", "--from", "one.json", "--from", "two.json", "--report", "both.json"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert both.returncode == 0, both.stderr
    cameras = json.loads((tmp_path / "both.json").read_text())["cameras"]
    assert [(one["name"], one["frames_per_second"], one["frames"]["offered"]) for one in cameras] == [(name, 50, 100) for name in "abc"]
    latency(tmp_path, sources[:2], *run, "fewer.json")
    fewer = subprocess.run([FAULTS, "latency", "--from", "one.json", "--from", "fewer.json"], cwd=tmp_path, capture_output=True, text=True,
                           check=False)
    assert fewer.returncode != 0 and "cameras: 3 and 2" in fewer.stderr, fewer.stderr


@pytest.mark.parametrize("source, options, code, sentence", [
    ("", ("--cameras", "2"), 2, "--cameras is given, and the graph names its cameras in 'sources'"),
    ("", ("--mode", "saturate"), 2, "--mode saturate searches, and the graph names its cameras in 'sources'"),
    ("", ("--preload", "0"), 2, "several cameras, or a search, need frames that are held in memory"),
    ("", ("--assert", "camera z.p50<1s"), 2, "there is no part 'camera z'"),
    ("type: dataset, location: nowhere", (), 66, "b: there is no dataset at"),
])
def test_what_is_refused(tmp_path, source, options, code, sentence):
    done = latency(tmp_path, [f"name: a, {SOURCE}", f"name: b, {source or SOURCE}"], *options, code=code)
    assert sentence in done.stderr and done.stderr.count("\n") == 1
