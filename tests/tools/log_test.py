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
