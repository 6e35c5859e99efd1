"""`live: {degrade: ..., fallback: ...}` with the program: what a run that does with less says of it, and one without its device."""
import json
import os
import re

from tests.campaign.judge import accounted, decoded, kept
from tests.conftest import run_contorno
from tests.modules import needs_modules

SOURCE = "source: {type: synthetic, maps_size: [64, 48], classes: 2, rate: 100, live: true, frames: 60}\n"
REST = """
classes: [{name: background}, {name: rot}]
stages: [{type: contours}, {type: contour_prep, steps: [measure]}, {type: overlay}]
"""
LINES = "sinks: [{type: jsonl, path: lines.jsonl}]\n"
NO_DEVICE = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


def run(folder, graph, *arguments, command="run", env=None, check=True):
    (folder / "graph.yaml").write_text(graph)
    where = ["--output", "out"] if command == "run" else []
    return run_contorno(command, "graph.yaml", *where, *arguments, cwd=folder, env=env, check=check)


def test_a_step_that_the_graph_has_no_stage_for_is_refused(tmp_path):
    for step, stages, missing in (("overlay", "[contours]", "no stage of the graph draws on its frame (overlay)"),
                                  ("mip", "[{type: preprocess}]", "no stage of the graph finds contours in maps (contours)")):
        sinks = "sinks: [{type: images, path: 'a.png', from: source.frame}]\n"
        graph = SOURCE + "classes: [{name: background}, {name: rot}]\n" + f"stages: {stages}\n{sinks}live: {{degrade: [{step}]}}\n"
        for command in ("run", "check"):
            done = run(tmp_path, graph, command=command, check=False)
            assert done.returncode == 78 and f"degrade has '{step}', but {missing}" in done.stderr, done.stderr


def test_a_wrong_step_is_shown_where_it_stands(tmp_path):
    done = run(tmp_path, SOURCE + REST + LINES + "live: {degrade: [mip, thinn]}\n", check=False)
    assert done.returncode == 78 and re.search(r"graph\.yaml:\d+:17: error: degrade has 'thinn', allowed", done.stderr), done.stderr
    done = run(tmp_path, SOURCE + REST + LINES + "live: {stall: 3}\n", check=False)
    assert done.returncode == 78 and "'live.stall' is for a graph with 'sources'" in done.stderr


def test_check_counts_the_memory_of_all_levels(tmp_path):
    def slot(more):
        text = run(tmp_path, SOURCE.replace("[64, 48]", "[640, 480]") + REST + LINES + more, command="check").stdout
        return float(re.search(r"a slot takes ([0-9.]+) MiB", text)[1])
    plain = slot("")
    assert slot("live: {degrade: [thin]}\n") == plain
    assert plain < slot("live: {degrade: [overlay]}\n") < slot("live: {degrade: [overlay, mip]}\n")


@needs_modules("publish")
def test_a_change_is_a_message_a_line_of_the_log_and_a_row_of_the_report(tmp_path):
    # No frame is within this deadline, so each is dropped: the first takes the level, and the next one may come after 2 s.
    sinks = "sinks: [{type: publish, outbox: out.db, format: json, camera: north, drain: 0}]\n"
    graph = "pipeline: {deadline: 0.0001}\n" + SOURCE + REST + sinks + "live: {degrade: [overlay, mip]}\n"
    done = run(tmp_path, graph, "--report", "report.json", "--log", "json", check=False)
    assert done.returncode == 0, done.stderr
    messages = [decoded(body) for *_, body in kept(tmp_path / "out" / "out.db")]
    cameras = [message for message in messages if message["kind"] == "camera"]
    # On a busy machine the camera may also be stalled for a while, which is a message too.
    assert next(message["quality"]["level"] for message in cameras if message["quality"]["level"] > 0) == 1
    assert {message["state"] for message in cameras} <= {"running", "stalled", "blocked"}
    assert [message["n"] for message in messages] == list(range(1, len(messages) + 1))
    spans = [span for span in map(accounted, messages) if span]
    assert spans[0][0] == 0 and spans[-1][1] == 60 and all(a[1] == b[0] for a, b in zip(spans, spans[1:], strict=False))
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [(level["level"], level["step"]) for level in report["levels"]] == [(0, "full"), (1, "overlay"), (2, "mip")]
    assert sum(level["frames"] for level in report["levels"]) == report["frames"]["out"]
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert next(event["level"] for event in events if event["event"] == "level") in ("1", "2"), done.stderr


def test_a_recording_runs_at_full_quality_with_the_bits_of_a_run_without_degrade(tmp_path):
    source = SOURCE.replace("live: true", "live: false")
    lines = []
    for live in ("", "live: {degrade: [overlay, mip, thin]}\n"):
        run(tmp_path, "pipeline: {slots: 3}\n" + source + REST + LINES + live, "--report", "report.json", "--quiet")
        lines.append((tmp_path / "out" / "lines.jsonl").read_bytes())
    assert lines[0] == lines[1] and lines[0].count(b"\n") == 60
    levels = json.loads((tmp_path / "out" / "report.json").read_text())["levels"]
    assert [level["frames"] for level in levels] == [60, 0, 0, 0]


def test_without_the_device_a_run_ends_unless_it_may_fall_back(tmp_path):
    graph = "pipeline: {backend: cuda}\n" + SOURCE + REST + LINES
    done = run(tmp_path, graph, env=NO_DEVICE, check=False)
    assert done.returncode == 69, done.stderr
    reason = done.stderr.strip().splitlines()[-1]
    done = run(tmp_path, graph + "live: {fallback: none}\n", env=NO_DEVICE, check=False)
    assert done.returncode == 69
    done = run(tmp_path, graph + "live: {fallback: cpu}\n", "--report", "report.json", env=NO_DEVICE)
    assert "on the CPU, as 'fallback' says: " in done.stderr and reason
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["fallback"] is True and report["backend"] == "cpu" and report["backend_reason"]
    # It is no way around a graph that is wrong, and says nothing where no device is asked for.
    done = run(tmp_path, graph.replace("backend: cuda", "backend: cpu") + "live: {fallback: cpu}\n", "--report", "report.json")
    assert json.loads((tmp_path / "out" / "report.json").read_text())["fallback"] is False and "fallback" not in done.stderr


@needs_modules("publish")
def test_messages_of_a_run_say_that_it_fell_back(tmp_path):
    graph = "pipeline: {backend: cuda}\n" + SOURCE + REST + "live: {fallback: cpu}\n"
    graph += "sinks: [{type: publish, outbox: out.db, camera: north, drain: 0}]\n"
    run(tmp_path, graph, "--quiet", env=NO_DEVICE)
    first = decoded(kept(tmp_path / "out" / "out.db")[0][-1])
    assert first["kind"] == "run_start" and first["fallback"]
    run(tmp_path, graph.replace("backend: cuda", "backend: cpu"), "--quiet", env=NO_DEVICE)
    starts = [decoded(body) for *_, body in kept(tmp_path / "out" / "out.db")]
    assert "fallback" not in [message for message in starts if message["kind"] == "run_start"][-1]
