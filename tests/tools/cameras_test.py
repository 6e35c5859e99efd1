"""`contorno run` with several cameras: absent ones, garbage, stops, and what each leaves."""
import json
import signal
import subprocess
import time

import numpy as np
import pytest
from tests.conftest import PROGRAM, read_lines
from tests.waiting import wait_for

REST = """
classes: [{name: background}, {name: skin}, {name: rot}]
stages: [contours]
sinks:
  - {type: jsonl, path: "{camera}.jsonl"}
"""
MAPS = "type: synthetic, maps_size: [64, 48], classes: 3"


def write_graph(folder, sources, rest=REST):
    path = folder / "graph.yaml"
    path.write_text("sources:\n" + "".join(f"  - {{{source}}}\n" for source in sources) + rest)
    return path


def run(*arguments):
    return subprocess.run([PROGRAM, "run", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def start(*arguments):
    return subprocess.Popen([PROGRAM, "run", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_accounts(report):
    def adds_up(frames):
        assert frames["in"] == frames["out"] + frames["failed"] + frames["dropped"]["total"]
    adds_up(report["frames"])
    for camera in report["cameras"].values():
        adds_up(camera["frames"])
    for key in ("in", "out", "failed", "late", "regrown"):
        assert report["frames"][key] == sum(camera["frames"][key] for camera in report["cameras"].values())
    dropped = [camera["frames"]["dropped"]["total"] for camera in report["cameras"].values()]
    assert report["frames"]["dropped"]["total"] == sum(dropped)


def test_cameras_run_at_once_and_give_what_each_gives_alone(tmp_path):
    sources = [f"{MAPS}, seed: {seed}, frames: {20 + seed}" for seed in range(4)]
    graph = write_graph(tmp_path, [f"name: cam{i}, {source}" for i, source in enumerate(sources)])
    done = run(graph, "--output", tmp_path / "all", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "all" / "report.json").read_text())
    check_accounts(report)
    assert list(report["cameras"]) == [f"cam{i}" for i in range(4)]
    for i, source in enumerate(sources):
        alone = tmp_path / f"alone{i}.yaml"
        alone.write_text(f"source: {{{source}}}\n" + REST.replace("{camera}", f"cam{i}"))
        assert run(alone, "--output", tmp_path / "alone").returncode == 0
        lines = (tmp_path / "all" / f"cam{i}.jsonl").read_text().splitlines()
        expected = (tmp_path / "alone" / f"cam{i}.jsonl").read_text().splitlines()
        assert [line.replace(f'"camera":"cam{i}",', "", 1) for line in lines] == expected
        assert all(json.loads(line)["camera"] == f"cam{i}" for line in lines)
        assert report["cameras"][f"cam{i}"]["state"] == "ended"
        assert report["cameras"][f"cam{i}"]["frames"]["out"] == 20 + i
    assert "cameras   4: 86 in, 86 out, 0 failed, 0 dropped" in done.stdout


def test_what_set_changes_is_changed_for_one_camera(tmp_path):
    source = f"{MAPS}, frames: 3"
    graph = write_graph(tmp_path, [f"name: a, {source}", f"name: b, {source}, set: {{classes.rot.level: 0.9}}"])
    assert run(graph, "--output", tmp_path).returncode == 0
    levels = {name: [one["level"] for one in read_lines(tmp_path / f"{name}.jsonl")[0]["classes"]] for name in "ab"}
    assert levels == {"a": [0.5, 0.5, 0.5], "b": [0.5, 0.5, 0.9]}


def test_a_file_that_is_not_there_fails_alone(tmp_path):
    graph = write_graph(tmp_path, [f"name: here, {MAPS}, frames: 30", "name: gone, type: dataset, location: nowhere"])
    done = run(graph, "--output", tmp_path, "--report", "report.json", "--quiet")
    assert done.returncode == 66
    assert "contorno: gone: there is no dataset at" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    assert report["cameras"]["gone"]["state"] == "failed" and "no dataset" in report["cameras"]["gone"]["failure"]
    assert report["cameras"]["here"]["frames"]["out"] == 30
    assert len(read_lines(tmp_path / "here.jsonl")) == 30
    assert not (tmp_path / "gone.jsonl").exists()


def test_garbage_fails_frame_by_frame_and_the_others_do_not_notice(tmp_path):
    maps = tmp_path / "maps"
    maps.mkdir()
    for i in range(5):
        np.save(maps / f"{i}.npy", np.full((48, 64, 3), i / 5, np.float32))
    (maps / "2.npy").write_bytes(b"garbage")
    graph = write_graph(tmp_path, [f"name: good, {MAPS}, frames: 40", "name: bad, type: dataset, location: maps, layout: hwc"])
    done = run(graph, "--output", tmp_path, "--report", "report.json")
    assert done.returncode == 3
    assert "contorno: bad: frame 2 failed: " in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    assert report["cameras"]["bad"]["frames"]["failed"] == 1 and report["cameras"]["bad"]["frames"]["out"] == 4
    assert report["cameras"]["good"]["frames"]["out"] == 40 and report["cameras"]["good"]["frames"]["failed"] == 0


def camera_without_device(name, more=""):
    return f"name: {name}, type: camera, device: /dev/video_that_is_not_there{more}"


@pytest.mark.parametrize("required", [False, True])
def test_an_absent_camera_connects_until_the_run_is_stopped(tmp_path, required):
    more = ", required: true" if required else ""
    graph = write_graph(tmp_path, [f"name: here, {MAPS}, frames: 30", camera_without_device("gone", more)])
    process = start(graph, "--output", tmp_path, "--report", "report.json")
    out = tmp_path / "here.jsonl"
    if required:
        line = process.stderr.readline()
    else:
        wait_for(lambda: out.exists() and len(out.read_text().splitlines()) == 30)
        line = process.stderr.readline()
    assert "gone: not there yet" in line or "here: " in line
    time.sleep(0.3)
    assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=120)[1]
    assert time.monotonic() - began < 60
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    assert report["cameras"]["gone"]["state"] == "connecting"
    if required:
        assert process.returncode == 66
        assert "gone: it is required, and never came" in errors
        assert report["frames"]["in"] == 0
    else:
        assert process.returncode == 143
        assert report["cameras"]["here"]["frames"]["out"] == 30


def test_frames_are_of_each_camera_and_traces_too(tmp_path):
    graph = write_graph(tmp_path, [f"name: {name}, {MAPS}" for name in ("a", "b")])
    done = run(graph, "--output", tmp_path, "--frames", "7", "--trace", "{camera}-trace.json")
    assert done.returncode == 0, done.stderr
    for name in ("a", "b"):
        assert len(read_lines(tmp_path / f"{name}.jsonl")) == 7
        events = json.loads((tmp_path / f"{name}-trace.json").read_text())["traceEvents"]
        assert {event["args"]["frame"] for event in events if event["ph"] == "X"} == set(range(7))
    refused = run(graph, "--output", tmp_path, "--trace", "trace.json")
    assert refused.returncode == 64 and "{camera}" in refused.stderr
    refused = run(graph, "--output", tmp_path, "--preview")
    assert refused.returncode == 78 and "--preview" in refused.stderr


def test_every_mistake_is_told_with_line_and_column(tmp_path):
    graph = tmp_path / "graph.yaml"
    graph.write_text("""source: synthetic
sources:
  - {name: North, type: synthetic, set: {pipeline.deadlin: 500, rot: 1, classes.rott.level: 2}}
  - {name: a, type: synthetic, wieght: 2}
  - {name: a, type: syntetic, weight: 0}
  - {type: video, location: x.mp4, reconnect_attempts: 4, set: 4}
classes: [{name: a}]
stages: [contours]
sinks:
  - {type: jsonl, path: contours.jsonl}
  - {type: geojson, path: "-"}
""")
    done = run(graph, "--output", tmp_path)
    assert done.returncode == 78
    places = [line.split(": error:")[0].split("graph.yaml:")[-1] for line in done.stderr.splitlines() if ": error:" in line]
    lines = graph.read_text().splitlines()
    wrong = [(1, "source"), (3, "North"), (3, "pipeline.deadlin"), (3, "rot:"), (3, "classes.rott"), (4, "wieght"), (5, "a,"),
             (5, "syntetic"), (5, "0}"), (6, "{type"), (6, "reconnect_attempts"), (6, "4}"), (10, "contours.jsonl"), (11, '"-"')]
    begins = [f"{line}:{lines[line - 1].index(text) + 1}" for line, text in wrong]
    assert places == begins
    assert not list(tmp_path.glob("*.jsonl"))


def test_memory_that_is_not_there_is_refused_with_the_sum_before_a_frame(tmp_path):
    source = "type: synthetic, maps_size: [1024, 1024], classes: 8, frames: 5"
    graph = write_graph(tmp_path, [f"name: cam{i}, {source}" for i in range(4)], REST.replace(
        "classes: [{name: background}, {name: skin}, {name: rot}]", "classes: auto"))
    limit = ["sh", "-c", "ulimit -v 1500000 && exec \"$@\"", "sh"]
    done = subprocess.run([*limit, PROGRAM, "run", str(graph), "--output", str(tmp_path), "--set", "pipeline.slots=16"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 71, done.stderr
    assert "cameras take" in done.stderr and "MiB of the host" in done.stderr
    assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize("command", [
    ["gst", "{graph}"], ["replay", "{graph}", "--record", "{folder}"], ["record", "{graph}", "{folder}"]])
def test_commands_for_one_source_say_what_they_cannot_do(tmp_path, command):
    graph = write_graph(tmp_path, [f"name: a, {MAPS}"])
    done = subprocess.run([PROGRAM, *(part.format(graph=graph, folder=tmp_path / "out") for part in command)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 78
    assert "the graph has 'sources', and one source is needed here" in done.stderr
