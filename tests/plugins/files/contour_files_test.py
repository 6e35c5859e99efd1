"""shapely and scikit-image as references for the contour files: measures, nesting of holes, filled polygons."""

import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import cv2
import numpy as np
import pytest
import scipy.ndimage
import skimage.draw
import skimage.measure
from shapely.geometry import Polygon

from tests.conftest import run_contorno


def write(folder, field, level):
    contours = [c.astype(np.float32) for c in skimage.measure.find_contours(field, level)]
    given = {"width": field.shape[1], "height": field.shape[0], "contours": [c.tolist() for c in contours]}
    (folder / "given.json").write_text(json.dumps(given))
    program = pathlib.Path(os.environ["CONTORNO_BIN"]).with_name("contorno_tests")
    result = subprocess.run([program, "--test-case=contours given by a file*"],
                            env={**os.environ, "CONTORNO_WRITER_CASE": str(folder)}, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    return contours


def smooth_field(seed, border):
    field = scipy.ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(150, 190)), 3)
    if border:
        field[[0, -1], :] = field[:, [0, -1]] = -1  # every region is closed
        field[60:80, 60:80] = 1
        field[66:74, 66:74] = -1  # and one has a hole for certain
    return field


@pytest.mark.parametrize("seed", range(4))
def test_measures_agree_with_shapely(tmp_path, seed):
    contours = write(tmp_path, smooth_field(seed, False), 0.02)
    line = json.loads((tmp_path / "a.jsonl").read_text())
    written = line["classes"][0]["contours"]
    assert len(written) == len(contours)
    for mine, reference in zip(written, contours):
        xy = reference[:, ::-1].astype(float)
        assert np.array_equal(np.asarray(mine["points"], np.float32), xy.astype(np.float32))
        assert mine["length"] == pytest.approx(np.hypot(*np.diff(xy, axis=0).T).sum(), rel=1e-12)
        assert np.allclose(mine["bbox"], [*xy.min(0), *np.ptp(xy, axis=0)], rtol=0, atol=0)
        if mine["closed"]:
            polygon = Polygon(xy)
            assert abs(mine["area"]) == pytest.approx(polygon.area, rel=1e-9)
            assert np.allclose(mine["centroid"], [polygon.centroid.x, polygon.centroid.y], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_sign_of_the_area_tells_high_regions_from_holes(tmp_path, seed):
    field = smooth_field(seed, True)
    write(tmp_path, field, 0.02)
    for contour in json.loads((tmp_path / "a.jsonl").read_text())["classes"][0]["contours"]:
        x, y = np.asarray(contour["points"]).T
        inside = skimage.draw.polygon2mask(field.shape, np.stack([y, x], 1))
        edge = inside & ~scipy.ndimage.binary_erosion(inside)  # samples just inside of the contour
        assert np.all((field[edge] > 0.02) == (contour["area"] > 0))


@pytest.mark.parametrize("seed", range(4))
def test_geojson_polygons_are_valid_and_contain_exactly_the_high_samples(tmp_path, seed):
    field = smooth_field(seed, True)
    write(tmp_path, field, 0.02)
    high = np.zeros(field.shape, int)
    features = json.loads((tmp_path / "a.geojson").read_text())["features"]
    assert any(len(f["geometry"]["coordinates"]) > 1 for f in features)
    for feature in features:
        # Coordinates are float32, written as short as float32 allows.
        rings = [np.asarray(ring, np.float32).astype(float) for ring in feature["geometry"]["coordinates"]]
        polygon = Polygon(rings[0], rings[1:])
        assert polygon.is_valid and polygon.exterior.is_ccw
        assert feature["properties"]["area"] == pytest.approx(polygon.area, rel=1e-9)
        for sign, ring in zip([1] + [-1] * len(rings), rings):
            high += sign * skimage.draw.polygon2mask(field.shape, ring[:, ::-1])
    assert np.array_equal(high, field > 0.02)


@pytest.mark.parametrize("seed", range(4))
def test_coco_polygons_cover_exactly_the_high_pixels(tmp_path, seed):
    field = smooth_field(seed, True)
    write(tmp_path, field, 0.02)
    coco = json.loads((tmp_path / "coco.json").read_text())
    image = coco["images"][0]
    high = np.zeros((image["height"], image["width"]), int)
    for annotation in coco["annotations"]:
        (polygon,) = annotation["segmentation"]
        xy = np.asarray(polygon).reshape(-1, 2) - 0.5
        high += skimage.draw.polygon2mask(high.shape, xy[:, ::-1])
        assert annotation["area"] > 0
    assert np.array_equal(high, field > 0.02)


def test_svg_is_well_formed_and_has_every_contour(tmp_path):
    contours = write(tmp_path, smooth_field(1, False), 0.02)
    root = xml.etree.ElementTree.parse(tmp_path / "0.svg").getroot()
    paths = [e.attrib["d"] for e in root if e.tag.endswith("path")]
    assert sum(d.count("M") for d in paths) == len(contours)


@pytest.mark.parametrize("wide, tall", [(2, 2), (3, 2), (1, 1)])
def test_attributes_are_in_the_coordinates_of_the_points(tmp_path, wide, tall):
    for folder in ("maps", "frames"):
        (tmp_path / folder).mkdir()
    field = smooth_field(5, False).astype(np.float32)
    np.save(tmp_path / "maps" / "0.npy", field)
    cv2.imwrite(str(tmp_path / "frames" / "0.png"), np.zeros((field.shape[0] * tall, field.shape[1] * wide), np.uint8))
    sinks = "".join(f"  - {{type: {kind}, path: {name}}}\n" for kind, name in
                    (("jsonl", "a.jsonl"), ("geojson", "a.geojson"), ("coco", "a.json"), ("jsonl, coordinates: map", "map.jsonl")))
    (tmp_path / "graph.yaml").write_text(
        "source: {type: dataset, location: .}\nclasses: [{name: one, level: 0.02}]\n"
        f"stages: [marching_squares, contour_assembly, measure]\nsinks:\n{sinks}")
    run_contorno("run", "graph.yaml", "--output", ".", "--quiet", cwd=tmp_path)
    lines = [json.loads((tmp_path / name).read_text()) for name in ("a.jsonl", "map.jsonl")]
    contours, on_map = (line["classes"][0]["contours"] for line in lines)
    assert len(contours) == len(on_map) > 20
    for one, other in zip(contours, on_map):
        known = one["attributes"]
        xy = np.asarray(one["points"], np.float32).astype(float)
        assert known["area"] == pytest.approx(one["area"], rel=1e-4, abs=1e-4)
        assert known["perimeter"] == pytest.approx(one["length"], rel=1e-5)
        assert np.allclose([known[name] for name in ("min_col", "min_row", "max_col", "max_row")], [*xy.min(0), *xy.max(0)], atol=1e-4)
        assert np.allclose([known["centroid_col"], known["centroid_row"]], one["centroid"], atol=1e-3)
        assert known["convexity"] == other["attributes"]["convexity"]
        if one["closed"]:
            assert known["circularity"] == pytest.approx(4 * np.pi * abs(one["area"]) / one["length"] ** 2, rel=1e-4)
            major, minor, angle = moments_of(xy)
            assert [known["major_axis"], known["minor_axis"]] == pytest.approx([major, minor], rel=1e-3, abs=1e-3)
            if major > 1.05 * minor:
                assert abs(np.sin(known["orientation"] - angle)) < 1e-2
    for name in ("a.geojson", "a.json"):
        regions = json.loads((tmp_path / name).read_text())
        written = [one["properties"]["attributes"] if name == "a.geojson" else one["attributes"]
                   for one in regions.get("features", regions.get("annotations"))]
        assert written and all(one in [contour["attributes"] for contour in contours] for one in written)


def moments_of(xy):
    """Axes of the ellipse with the second moments of a polygon, and the angle of the major one from the rows' axis, by a sum over
    the triangles with its centroid."""
    ring = xy - [Polygon(xy).centroid.x, Polygon(xy).centroid.y]
    a, b = ring[:-1], ring[1:]
    weights = (a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]) / 24
    sums = np.einsum("i,ij,ik->jk", weights, a, a) + np.einsum("i,ij,ik->jk", weights, b, b)
    sums += np.einsum("i,ij,ik->jk", weights, a + b, a + b)
    values, vectors = np.linalg.eigh(sums / (weights.sum() * 12))
    return 4 * np.sqrt(values[1]), 4 * np.sqrt(max(values[0], 0)), np.arctan2(vectors[0, 1], vectors[1, 1])


def test_a_line_says_of_a_contour_the_very_numbers_that_measure_gave_it(contorno, tmp_path):
    """Length and perimeter, area, centroid: one rule each, bit for bit."""
    (tmp_path / "graph.yaml").write_text(
        "source: {type: synthetic, frames: 8}\nclasses: auto\nstages: [marching_squares, contour_assembly, measure]\n"
        "sinks: [{type: jsonl, path: out.jsonl}]\n")
    contorno("run", "graph.yaml", cwd=tmp_path)
    contours = [one for line in (tmp_path / "out.jsonl").read_text().splitlines() for group in json.loads(line)["classes"]
                for one in group["contours"]]
    assert len(contours) > 100
    for one in contours:
        assert one["length"] == one["attributes"]["perimeter"]
        assert one["area"] == one["attributes"]["area"]
        assert one["centroid"] == [one["attributes"]["centroid_col"], one["attributes"]["centroid_row"]]
