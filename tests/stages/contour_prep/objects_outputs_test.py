"""Records of objects in every output beside JSON lines: COCO, GeoJSON, Python; and what reads these files again."""
import json

import numpy as np
import pytest

from tests.conftest import run_contorno
from tests.plugins.python.package import contorno
from tests.stages.contour_prep.objects_oracle_test import FRUIT, run

SINKS = """  - {type: coco, path: c.json, coordinates: map}
  - {type: geojson, path: c.geojson, coordinates: map}
  - {type: geojson, path: "{frame}.geojson"}
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of a run with all sinks, and the lines of its JSON lines."""
    folder = tmp_path_factory.mktemp("objects")
    lines, _, _ = run(folder, 2, FRUIT, frames=50)
    text = (folder / "graph.yaml").read_text().splitlines()
    text[-1] = "sinks:\n  - {type: jsonl, path: c.jsonl, coordinates: map}\n" + SINKS
    (folder / "all.yaml").write_text("\n".join(text))
    run_contorno("run", "all.yaml", "--output", "out", "--frames", 50, "--quiet", cwd=folder)
    return folder, lines


def records_of(lines):
    records = [line for line in lines if "kind" in line]
    assert len(records) >= 3
    return records


def test_coco_has_a_list_of_records_and_the_object_of_each_annotation(outputs):
    folder, lines = outputs
    coco = json.loads((folder / "out" / "c.json").read_text())
    assert coco["objects"] == records_of(lines)
    ids = {one["id"] for one in coco["objects"]}
    assert {one["attributes"]["object"] for one in coco["annotations"]} - {None} == ids


def test_geojson_has_a_feature_without_place_for_each_record(outputs):
    folder, lines = outputs
    features = json.loads((folder / "out" / "c.geojson").read_text())["features"]
    records = [one for one in features if one["geometry"] is None]
    assert [one["properties"] for one in records] == records_of(lines)
    assert all(one["type"] == "Feature" for one in records)
    # They stand before the features of the frame by which the object had left.
    for record in records:
        if record["properties"]["left"]:
            following = next(one for one in features[features.index(record):] if one["geometry"] is not None)
            assert following["properties"]["frame"] - record["properties"]["last"]["frame"] > 2
    single = [json.loads(path.read_text())["features"] for path in (folder / "out").glob("[0-9]*.geojson")]
    assert len(single) == 50 and all(one["geometry"] is not None for features in single for one in features)


@pytest.mark.parametrize("name", ["c.json", "c.geojson", "c.jsonl"])
def test_files_with_records_are_read_again(outputs, tmp_path, name):
    folder, lines = outputs
    run_contorno("clean", folder / "out" / name, "again.jsonl", "--step", "drop_small min_points=0", cwd=tmp_path)
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    frames = [line for line in lines if "kind" not in line]
    assert [line["frame"] for line in again] == [line["frame"] for line in frames]


def test_python_gives_the_records_as_they_are_made(outputs, tmp_path):
    folder, lines = outputs
    pipeline = contorno.Pipeline(folder / "graph.yaml", output=tmp_path, frames=50, images=False, progress=False)
    given = []
    for result in pipeline:
        given += [(result.number, one) for one in pipeline.objects()]
    rest = pipeline.objects()
    assert [one for _, one in given] + rest == records_of(lines)
    # A result is taken while later frames are at work, so that records may come early, but not late.
    assert all(one["left"] for _, one in given if one["last"]["frame"] < 40) and pipeline.objects() == []
    for at, line in enumerate(lines):
        if "kind" in line and line["left"]:
            following = next(other["frame"] for other in lines[at:] if "kind" not in other)
            assert next((number for number, one in given if one == line), 50) <= following
    totals, = pipeline.report["objects"]
    assert (totals["object"], totals["objects"]) == ("fruit", len(records_of(lines)))


def test_python_keeps_records_of_a_run_that_was_stopped(outputs, tmp_path):
    folder, _ = outputs
    pipeline = contorno.Pipeline(folder / "graph.yaml", output=tmp_path, images=False, progress=False)
    for result in pipeline:
        if result.number == 30:
            break
    pipeline.close()
    assert len(pipeline.objects()) >= 2 and pipeline.objects() == []


def test_a_function_gives_the_attributes(outputs):
    ring = [[(10, 10), (10, 30), (30, 30), (30, 10), (10, 10)]]
    spot = [[(20, 20), (20, 22), (22, 22), (22, 20), (20, 20)]]
    contours = [[np.array(one, np.float32) for one in ring], [np.array(one, np.float32) for one in spot]]
    first = contorno.measure(contours[0]).attributes["area"][0]
    made = contorno.objects(contours if first > 0 else [[one[::-1] for one in of] for of in contours], of="0")
    assert made.attributes["object"].tolist() == [1, 1]
    assert made.attributes["share"].tolist() == [1, 4 / 400]
    with pytest.raises(ValueError, match="numbers from 0 to 1"):
        contorno.objects(contours, of="skin")
