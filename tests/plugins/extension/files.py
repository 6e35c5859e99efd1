"""The extensions of the build that is tested, and graphs that need them."""
import pathlib
import subprocess

import pytest
from tests.conftest import LIBRARY, run_contorno

BUILD = LIBRARY.parent.parent
OWN_STAGE = BUILD / "lib" / "examples" / "own_stage.so"  # docs/examples/own_stage.cpp: the stage steepen
LINKED = BUILD / "bin" / "example_own_stage"  # a program that has the same stage linked in
SAMPLES = BUILD / "tests" / "plugins" / "extension"
PARTS, FAULTY = SAMPLES / "parts.so", SAMPLES / "faulty.so"
if not (OWN_STAGE.exists() and LINKED.exists() and PARTS.exists()):
    pytest.skip("needs a build with the examples and the extensions for tests", allow_module_level=True)

STEEPENED = """
source: {type: synthetic, classes: 3, frames: 3, maps_size: [200, 90]}
classes: auto
stages:
  - {type: steepen, gain: 4}
  - marching_squares
  - contour_assembly
sinks: [{type: jsonl, path: contours.jsonl}]
"""
RAMP = """
source: {type: ramp, frames: 3, width: 9}
classes: auto
stages: [marching_squares, contour_assembly, {type: keep_long, least: 2}]
sinks: [tally, {type: jsonl, path: contours.jsonl}]
"""


def load(file, *arguments, **kwargs):
    return run_contorno("--load", file, *arguments, **kwargs)


def graph_in(folder, text, name="graph.yaml"):
    path = pathlib.Path(folder) / name
    path.write_text("pipeline: {backend: cpu, threads: 2}\n" + text)
    return path


def linked_lines(folder):
    """The JSON lines of STEEPENED of a program that has the stage linked in."""
    graph, out = graph_in(folder, STEEPENED, "linked.yaml"), pathlib.Path(folder) / "linked"
    out.mkdir()
    subprocess.run([LINKED, graph, out], check=True, timeout=120)
    lines = (out / "contours.jsonl").read_bytes()
    assert lines.count(b"\n") == 3 and lines.count(b'"points"') > 10
    return lines
