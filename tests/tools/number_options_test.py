"""Every option of every command that takes a number, at both ends of what it may be and beyond: the command ends by itself, with
what was asked for or with a sentence that names the option, what was given and what is allowed."""
import difflib
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import pytest
from tests.conftest import PROGRAM, ROOT, blobs, run_contorno

GRAPH = """source: {type: dataset, location: maps, layout: hwc}
stages: [marching_squares, contour_assembly]
classes: auto
sinks: [{type: jsonl, path: out.jsonl}]
"""
# What each command needs besides, so that it has next to nothing to do.
NEEDED = {
    "apply": ["preprocess", "in.png", "out.png"],
    "bench": ["contours"],
    "clean": ["in.jsonl", "out.jsonl", "--step", "drop_small"],
    "draw": ["in.png", "out.svg", "--fps", "10", "--frames", "2", "--size", "64"],
    "explain": ["map.npy", "--at", "3,3"],
    "find-contours": ["map.npy"],
    "latency": ["graph.yaml", "--quiet", "--duration", "100ms", "--warmup", "0s", "--fps", "100", "--no-probe-cost", "--deadline", "10s"],
    "learn": ["in.png", "-o", "out.yaml", "--pick", "a=1,1,9,9"],
    "mean-shift": ["points.npy", "labels.npy"],
    "record": ["graph.yaml", "recorded", "--frames", "2", "--append"],
    "replay": ["graph.yaml", "--expect", "golden", "--quiet"],
    "run": ["graph.yaml", "--quiet"],
}
COMMANDS = re.findall(r"^  ([a-z-]+) {2,}", run_contorno("--help").stdout.split("Subcommands:")[1], re.M)
# What an option needs besides.
WITH = {("mean-shift", "--quantile"): ["--sigma", "auto"], ("replay", "--worst"): ["--html", "page.html"], ("replay", "--stop"): ["--start", "0"],
        ("replay", "--first-label"): [], ("draw", "--low"): ["--edges", "canny"], ("draw", "--high"): ["--edges", "canny"],
        ("draw", "--sigma"): ["--edges", "canny"], ("latency", "--most-cameras"): ["--mode", "cameras"]}
NUMBERS = ["0", "-1", "1", "2147483647", "2147483648", "9223372036854775807", "9e18", "9223372036854775808", "1e400", "nan", "inf",
           "1e-400", "0x10", "1,5", ""]
TIMES = [number + unit for number in ("0", "-1", "9223372036854775807", "9e18", "1e400", "nan") for unit in ("ns", "s", "h", "")]
# Commands that do what is asked for this long are ended: these ask for hours, or for all that the machine has.
LONG = {("latency", "--duration"), ("latency", "--warmup"), ("latency", "--repeat"), ("replay", "--loop"), ("draw", "--frames"), ("latency", "--preload"),
        ("latency", "--cameras"), ("latency", "--most-cameras"), ("draw", "--size")}


def options():
    """Triples of command, option and the values to try."""
    for command in COMMANDS:
        for line in run_contorno(command, "--help").stdout.splitlines():
            if found := re.match(r" +(?:-\w,)?(--[a-z-]+) (INT|UINT|NUMBER|FLOAT|TIME)\b", line):
                yield command, found[1], TIMES if found[2] == "TIME" else NUMBERS
    yield "record", "--duration", TIMES


def test_there_are_options_of_many_commands():
    found = list(options())
    assert len(found) > 50 and len({command for command, *_ in found}) >= 10, found
    assert {command for command, *_ in found} <= NEEDED.keys()


@functools.cache
def made(folder):
    (folder / "maps").mkdir()
    for frame in range(3):
        np.save(folder / "maps" / f"{frame}.npy", blobs(24, 40, 2, frame))
    np.save(folder / "map.npy", blobs(24, 40, 2, 1)[..., 0])
    np.save(folder / "points.npy", np.random.default_rng(1).normal(size=(20, 2)))
    cv2.imwrite(str(folder / "in.png"), np.uint8(blobs(64, 64, 2, 1)[..., 0] * 255))
    (folder / "graph.yaml").write_text(GRAPH)
    run_contorno("run", "graph.yaml", cwd=folder)
    (folder / "out.jsonl").rename(folder / "in.jsonl")
    run_contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("numbers"))


def run_or_end(arguments, folder, seconds):
    try:
        return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


@pytest.mark.parametrize("command, option, values", options(), ids=lambda one: one if isinstance(one, str) else "")
def test_a_number_at_an_end_of_its_range_is_taken_or_refused_with_a_sentence(folder, command, option, values):
    for value in values:
        given = [*NEEDED[command], *WITH.get((command, option), [])]
        while option in given:
            at = given.index(option)
            del given[at:at + 2]
        long = (command, option) in LONG
        done = run_or_end([command, *given, f"{option}={value}"], folder, 3 if long else 120)
        if done is None:  # what asks for hours does not end, and is no mistake
            assert long, (command, option, value)
            continue
        assert 0 <= done.returncode <= 5 or 64 <= done.returncode < 79, (value, done.returncode, done.stderr)
        if done.returncode in (0, 1, 3, 4, 5):  # documented: what was asked for does not hold
            continue
        assert done.stderr.count("\n") <= 6 and "terminate" not in done.stderr, (value, done.stderr)
        if done.returncode == 2:
            assert option in done.stderr, (value, done.stderr)
            if re.search("missing;|goes with", done.stderr):
                continue
            assert re.match(r"-?[^a-z]*", value)[0] in done.stderr and re.search("allowed|wanted", done.stderr), (value, done.stderr)


RANGES = ROOT / "tests" / "data" / "tools" / "number_options.txt"


def ranges(folder):
    """What each option says of numbers that are too large and too small: a line each."""
    lines = []
    for command, option, values in options():
        for value in ("1e400", "-1e300") if values is NUMBERS else ("1e400s", "-1s"):
            given = [*NEEDED[command], *WITH.get((command, option), [])]
            while option in given:
                at = given.index(option)
                del given[at:at + 2]
            done = run_or_end([command, *given, f"{option}={value}"], folder, 120)
            said = done.stderr.splitlines()[0] if done is not None and done.stderr else ""
            lines.append(f"{command} {option}={value}: {done and done.returncode}: {said}")
    return lines


def test_the_ranges_of_all_numbers_are_those_that_were_written_down(folder):
    """`/usr/bin/python3 tests/tools/number_options_test.py --write` writes them."""
    differing = [line for line in difflib.unified_diff(RANGES.read_text().splitlines(), ranges(folder), lineterm="", n=0)
                 if not line.startswith(("---", "+++", "@@"))]
    assert differing == []


if __name__ == "__main__" and "--write" in sys.argv:
    with tempfile.TemporaryDirectory() as made_in:
        RANGES.parent.mkdir(exist_ok=True)
        RANGES.write_text("\n".join(ranges(made(pathlib.Path(made_in)))) + "\n")
