"""`contorno run --log`: what a run with several cameras says in each form, and under the journal of systemd."""
import json
import os
import re
import subprocess

import pytest
from tests.conftest import PROGRAM

GRAPH = """
sources:
  - {name: good, type: synthetic, maps_size: [64, 48], classes: 3, frames: 5}
  - {name: bad, type: dataset, location: maps, layout: hwc}
  - {name: gone, type: video, location: "nowhere-tellnobody/video.mp4"}
classes: [{name: background}, {name: skin}, {name: rot}]
stages: [contours]
sinks:
  - {type: jsonl, path: "{camera}.jsonl"}
"""


def said(folder, *words, env=None, stderr=subprocess.PIPE):
    maps = folder / "maps"
    maps.mkdir(exist_ok=True)
    for frame in range(8):
        (maps / f"{frame}.npy").write_bytes(b"no array" if frame else good_array())
    (folder / "graph.yaml").write_text(GRAPH)
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--output", "out", *words], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=120, env={**os.environ, **(env or {})})
    assert done.returncode != 0
    return (done.stderr or "").splitlines()


def good_array():
    import io

    import numpy as np
    file = io.BytesIO()
    np.save(file, np.zeros((48, 64, 3), np.float32))
    return file.getvalue()


def test_text_is_sentences(tmp_path):
    lines = said(tmp_path)
    assert "contorno: good: ended" in lines
    assert all(line.startswith("contorno: ") for line in lines), lines
    assert any(line.startswith("contorno: bad: frame 1 failed: ") for line in lines)


def test_events_are_words(tmp_path):
    lines = said(tmp_path, "--log", "events")
    events = [line for line in lines if not line.startswith("contorno: ")]
    assert all(re.fullmatch(r'(good|bad|gone|-) [a-z_]+( [a-z_]+=([\w.:/+-]+|"([^"\\]|\\.)*"))*', line) for line in events), events
    assert "good state state=ended" in events
    frames = [line for line in events if line.startswith("bad frame frame=")]
    assert [line.split()[2] for line in frames] == [f"frame={n}" for n in range(1, 6)]  # the first five of seven
    assert any(re.match(r"gone failed reason=.* code=66", line) for line in events), events


def test_json_is_an_object_a_line(tmp_path):
    objects = [json.loads(line) for line in said(tmp_path, "--log", "json")]
    for one in objects:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["time"])
        assert one["severity"] in ("error", "warning", "notice", "info") and one["message"]
    states = [(one["camera"], one["state"]) for one in objects if one["event"] == "state"]
    assert ("good", "ended") in states and ("gone", "failed") in states
    failed = [one for one in objects if one["event"] == "failed"]
    assert [(one["camera"], one["severity"], one["code"]) for one in failed] == [("gone", "error", "66")]
    assert sum(one["event"] == "frame" for one in objects) == 5


def warnings_of(folder, *words):
    """The lines on standard error for a graph of two cameras that is odd in three ways."""
    (folder / "graph.yaml").write_text("""
sources:
  - {name: left, type: synthetic, maps_size: [64, 48], classes: 2, frames: 2}
  - {name: right, type: synthetic, maps_size: [64, 48], classes: 2, frames: 2}
classes: [{name: skin}, {name: rot, level: 1.5}]
stages: [contours]
""")
    done = subprocess.run([PROGRAM, *words, "graph.yaml"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


WARNINGS = ["node 'contours': nobody reads its output 'contours'",
            "class 'rot': level 1.5 lies outside 0..1, where probability maps have no contour",
            "the graph has no sink: results are only counted"]


@pytest.mark.parametrize("words", [(), ("--log", "events"), ("--quiet",)])
def test_a_run_says_once_what_is_odd_about_its_graph_as_check_does_and_before_the_first_frame(tmp_path, words):
    wanted = [f"contorno: warning: {warning}" for warning in WARNINGS]
    assert [line for line in warnings_of(tmp_path, "check") if "warning" in line] == wanted
    said_by_run = warnings_of(tmp_path, "run", *words)
    assert said_by_run[:3] == wanted
    assert ("--quiet" in words) == (len(said_by_run) == 3), said_by_run


def test_what_is_odd_about_a_graph_is_an_object_too(tmp_path):
    objects = [json.loads(line) for line in warnings_of(tmp_path, "run", "--log", "json")]
    assert [(one["severity"], one["event"], one["message"]) for one in objects[:3]] == [
        ("warning", "message", f"warning: {warning}") for warning in WARNINGS]


def test_a_mistake_in_the_graph_is_an_object_too(tmp_path):
    (tmp_path / "graph.yaml").write_text("sources: [{name: a}]\nstages: [nonsense]\n")
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--log", "json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 78
    assert [json.loads(line)["severity"] for line in done.stderr.splitlines()] == ["error"]


@pytest.mark.parametrize("words, first", [((), r"(good|bad|gone|-) \w+( |$)|contorno: "), (("--log", "json"), "{"), (("--log", "text"), "contorno: ")])
def test_lines_for_the_journal_have_their_priority(tmp_path, words, first):
    read, write = os.pipe()
    status = os.fstat(write)
    with open(read) as lines:
        said(tmp_path, *words, env={"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}, stderr=write)
        os.close(write)
        lines = lines.read().splitlines()
    assert lines and all(re.match(rf"<[3-6]>({first})", line) for line in lines), lines
    priorities = {line[1] for line in lines if "frame" in line and "bad" in line}
    assert priorities == {"4"}


def test_another_stream_is_not_the_journal(tmp_path):
    assert all(line.startswith("contorno: ") for line in said(tmp_path, env={"JOURNAL_STREAM": "8:1"}))


def test_a_form_that_is_none_is_refused(tmp_path):
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--log", "xml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "--log" in done.stderr
