"""shapely and scikit-image as references for the contour files: measures, nesting of holes, filled polygons."""

import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import numpy as np
import pytest
import scipy.ndimage
import skimage.draw
import skimage.measure
from shapely.geometry import Polygon


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
