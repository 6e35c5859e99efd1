"""Every number of a graph at both ends of its range: the run ends by itself, with what was asked for or with a sentence, and times
never go round. Sizes have tests of their own (tests/pipeline/sides_test.py)."""
import json

import numpy as np
import pytest
from tests.conftest import blobs, read_lines, run_contorno

SOURCES = {"dataset": {"location": "maps", "layout": "hwc"}, "synthetic": {"maps_size": [48, 32], "classes": 2, "frames": 3},
           "test": {"width": 48, "height": 32, "frames": 3}}
SINKS = {"jsonl": {"path": "out.jsonl"}, "svg": {"path": "{frame}.svg"}, "coco": {"path": "out.json"}}
STEPS = {"exclude": {"side": 3}, "track": {}}
# Sizes in px, whose greatest need much memory, and what runs until it is told to stop.
LEFT_OUT = {"width", "height", "maps_size", "frame_size", "size"}
SCHEMA = json.loads(run_contorno("schema").stdout)


def numbers_of(definition):
    for name, one in definition["properties"].items():
        if one.get("type") in ("integer", "number") and name not in LEFT_OUT:
            yield from ((name, one[end]) for end in ("minimum", "maximum") if end in one)


def cases():
    yield from (("pipeline", "pipeline", *number) for number in numbers_of(SCHEMA["properties"]["pipeline"]))
    for key, definition in SCHEMA["definitions"].items():
        kind, name = key.split("_", 1)
        if kind == "step" or key == "stage_contour_assembly" or name in {"source": SOURCES, "sink": SINKS}.get(kind, ()):
            yield from ((kind, name, *number) for number in numbers_of(definition))


def test_there_are_numbers_of_every_kind_of_part():
    assert {kind for kind, *_ in cases()} == {"pipeline", "source", "sink", "step", "stage"} and len(list(cases())) > 50


@pytest.mark.parametrize("kind, part, name, value", cases())
def test_a_number_at_an_end_of_its_range_runs_or_is_refused(tmp_path, kind, part, name, value):
    (tmp_path / "maps").mkdir()
    for frame in range(3):
        np.save(tmp_path / "maps" / f"{frame}.npy", blobs(24, 40, 2, frame))
    own = {name: value}
    source = {"type": part, **SOURCES[part], **own} if kind == "source" else {"type": "dataset", **SOURCES["dataset"]}
    stages = ["marching_squares", {"type": "contour_assembly", **(own if kind == "stage" else {})}]
    if kind == "step":
        stages.append({"type": "contour_prep", "steps": [{"type": part, **STEPS.get(part, {}), **own}]})
    graph = {"source": source, "stages": stages, "pipeline": own if kind == "pipeline" else {},
             "classes": "auto" if name == "classes" else [{"name": "a", "references": ["#ffffff"]}, {"name": "b", "references": ["#000000"]}],
             "sinks": [{"type": part, **SINKS[part], **own} if kind == "sink" else {"type": "jsonl", "path": "out.jsonl"}]}
    if part == "test":
        stages.insert(0, "classify")
    (tmp_path / "graph.yaml").write_text(json.dumps(graph))
    done = run_contorno("run", "graph.yaml", "--frames", 4, "--quiet", cwd=tmp_path, check=False)
    assert done.returncode in (0, 3) or 64 <= done.returncode < 79, (done.returncode, done.stderr)
    assert done.returncode == 0 or done.stderr
    if done.returncode == 0 and (tmp_path / "out.jsonl").exists():
        times = [line["pts_ns"] for line in read_lines(tmp_path / "out.jsonl")]
        assert times == sorted(times) and all(0 <= time <= 9 * 10**18 for time in times), times
