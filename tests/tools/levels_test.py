"""Classes with several levels, end to end: in a graph, in what it writes, in `contorno check`, and in Python."""
import json

import cv2
import numpy as np
import pytest
from skimage import measure

from tests.conftest import ROOT, read_lines
from tests.plugins.python.package import contorno as package

EXAMPLE = ROOT / "config" / "examples" / "heights.yaml"
LEVELS = [[0.25, 0.5, 0.75], [0.5], [0.1, 0.3, 0.35, 0.9]]
GRAPH = """
source: {{type: dataset, location: {maps}, layout: chw}}
classes:
  - {{name: a, levels: [0.25, 0.5, 0.75]}}
  - {{name: b}}
  - {{name: c, levels: [0.1, 0.3, 0.35, 0.9]}}
stages: [marching_squares, contour_assembly]
sinks:
  - {{type: jsonl, path: contours.jsonl}}
  - {{type: geojson, path: contours.geojson}}
  - {{type: coco, path: coco.json}}
"""


@pytest.fixture
def maps(tmp_path):
    random = np.random.default_rng(4)
    planes = np.stack([cv2.GaussianBlur(random.random((70, 110)), (0, 0), 3) for _ in range(3)])
    planes = (planes - planes.min()) / (planes.max() - planes.min())
    np.save(tmp_path / "maps.npy", planes[None].astype(np.float32))
    (tmp_path / "graph.yaml").write_text(GRAPH.format(maps=tmp_path / "maps.npy"))
    return planes.astype(np.float32)


def points_of(contour):
    return np.array(contour["points"], np.float32)[:, ::-1]


def test_each_contour_says_its_level_in_json_lines_and_in_python(contorno, maps, tmp_path):
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path)
    line, = read_lines(tmp_path / "contours.jsonl")
    assert [one.get("levels", [one.get("level")]) for one in line["classes"]] == LEVELS
    result = next(iter(package.Pipeline(tmp_path / "graph.yaml", output=tmp_path)))
    at = 0
    for plane, levels, one in zip(maps, LEVELS, line["classes"]):
        wanted = [(level, contour) for level in levels for contour in measure.find_contours(plane.astype(float), level)]
        assert len(one["contours"]) == len(wanted) > 0
        for contour, (level, points) in zip(one["contours"], wanted):
            assert contour["attributes"]["level"] == level == result.contours.attributes["level"][at]
            np.testing.assert_array_equal(points_of(contour), points.astype(np.float32))
            np.testing.assert_array_equal(result.contours[at], points.astype(np.float32))
            at += 1
    assert at == len(result.contours)


def test_regions_of_a_level_have_holes_of_that_level(contorno, maps, tmp_path):
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path)
    features = json.loads((tmp_path / "contours.geojson").read_text())["features"]
    line, = read_lines(tmp_path / "contours.jsonl")
    of_level = {}
    for one in line["classes"]:
        for contour in one["contours"]:
            for x, y in contour["points"]:
                of_level.setdefault((one["name"], x, y), set()).add(contour["attributes"]["level"])
    assert features
    for feature in features:
        properties, geometry = feature["properties"], feature["geometry"]
        assert properties["level"] == properties["attributes"]["level"]
        rings = geometry["coordinates"] if geometry["type"] == "Polygon" else [geometry["coordinates"]]
        for ring in rings:
            for x, y in ring:
                assert properties["level"] in of_level[properties["class"], x, y]
    coco = json.loads((tmp_path / "coco.json").read_text())
    assert [one.get("levels", [one.get("level")]) for one in coco["categories"]] == LEVELS
    assert {one["attributes"]["level"] for one in coco["annotations"]} <= {level for levels in LEVELS for level in levels}


def test_what_was_written_is_read_again_with_its_levels(contorno, maps, tmp_path):
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path)
    contorno("clean", tmp_path / "contours.jsonl", tmp_path / "again.jsonl", "--step", "drop_small min_points=1")
    before, after = (read_lines(tmp_path / name)[0]["classes"] for name in ("contours.jsonl", "again.jsonl"))
    assert [one.get("levels") for one in after] == [one.get("levels") for one in before]
    assert [[contour["attributes"] for contour in one["contours"]] for one in after] == \
        [[contour["attributes"] for contour in one["contours"]] for one in before]


def test_check_shows_the_levels(contorno, maps, tmp_path):
    done = contorno("check", tmp_path / "graph.yaml", "--output", tmp_path)
    assert "levels: [0.1, 0.3, 0.35, 0.9]" in done.stdout


def test_the_example_draws_contour_lines_with_their_levels(contorno, tmp_path):
    contorno("run", EXAMPLE, "--output", tmp_path)
    picture = cv2.imread(str(tmp_path / "heights.png"))
    assert picture.shape == (600, 960, 3)
    features = json.loads((tmp_path / "heights.geojson").read_text())["features"]
    levels = {round(feature["properties"]["level"], 9) for feature in features}
    assert len(levels) >= 8 and levels <= {round(0.15 + 0.05 * i, 9) for i in range(15)}
