"""measure of random polygons and of contours of a map, against OpenCV, and against scikit-image's measures of pixels."""
import cv2
import numpy as np
import pytest
from skimage.measure import regionprops

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


def stars(seed, count):
    """Closed contours around a centre, at random distances from it, either way round."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        angles = np.sort(random.random(random.integers(3, 200))) * 2 * np.pi
        radii = 4 + 40 * random.random(len(angles))
        points = np.stack([60 + radii * np.sin(angles), 80 + radii * np.cos(angles)], axis=1).astype(np.float32)
        made.append(np.concatenate([points, points[:1]])[::1 if i % 2 else -1])
    return made


@pytest.mark.parametrize("given", [stars(3, 200), contorno.find_contours(smooth(np.random.default_rng(1), (90, 120)), 0.5)], ids=["stars", "map"])
def test_measures_are_those_of_opencv(given):
    measured = contorno.measure([np.float32(one) for one in given]).attributes
    for i, points in enumerate(given):
        of = {name: column[i] for name, column in measured.items()}
        line = np.float32(points)[:, None, ::-1]
        assert of["perimeter"] == pytest.approx(cv2.arcLength(line, False), rel=1e-5)
        assert [of["min_row"], of["min_col"], of["max_row"], of["max_col"]] == [
            *np.float32(points).min(axis=0), *np.float32(points).max(axis=0)]
        if (points[0] != points[-1]).any():
            assert of["area"] == of["circularity"] == 0
            continue
        moments = cv2.moments(line[:-1])
        assert abs(of["area"]) == pytest.approx(moments["m00"], rel=1e-5, abs=1e-4)
        if moments["m00"] < 1:
            continue
        x, y = moments["m10"] / moments["m00"], moments["m01"] / moments["m00"]
        assert (of["centroid_col"], of["centroid_row"]) == pytest.approx((x, y), abs=1e-3)
        spread = np.array([[moments["mu02"], moments["mu11"]], [moments["mu11"], moments["mu20"]]]) / moments["m00"]
        values, vectors = np.linalg.eigh(spread)
        assert (of["minor_axis"], of["major_axis"]) == pytest.approx(4 * np.sqrt(values), rel=1e-3)
        along = np.array([np.cos(of["orientation"]), np.sin(of["orientation"])])
        assert values[1] - values[0] < 1e-2 * values[1] or abs(along @ vectors[:, 1]) > 1 - 1e-4
        hull = cv2.contourArea(cv2.convexHull(line))
        assert of["convexity"] == pytest.approx(moments["m00"] / hull, rel=1e-4)
        assert of["circularity"] == pytest.approx(4 * np.pi * moments["m00"] / cv2.arcLength(line, False) ** 2, rel=1e-4)


def test_measures_of_a_region_are_about_those_of_its_pixels():
    rows, cols = np.mgrid[0:160, 0:200].astype(float)
    turned = 0.7
    along, across = ((rows - 80) * np.cos(turned) + (cols - 90) * np.sin(turned),
                     (cols - 90) * np.cos(turned) - (rows - 80) * np.sin(turned))
    inside = np.hypot(along / 50, across / 20)
    region = regionprops((inside < 1).astype(int))[0]
    measured = contorno.measure(contorno.find_contours(-inside, -1.0)).table()
    assert len(measured["area"]) == 1 and measured["closed"].tolist() == [True] and measured["frame"].tolist() == [0]
    for name, wanted in [("area", region.area), ("major_axis", region.major_axis_length), ("minor_axis", region.minor_axis_length),
                         ("centroid_row", region.centroid[0]), ("centroid_col", region.centroid[1]), ("convexity", region.solidity)]:
        assert abs(measured[name][0]) == pytest.approx(wanted, rel=0.02), name
    assert measured["orientation"][0] == pytest.approx(region.orientation, abs=0.01)


def test_contours_that_are_measured_are_as_they_were_given():
    given = contorno.find_contours(smooth(np.random.default_rng(5), (40, 50)), 0.5)
    for function in (contorno.measure, contorno.hierarchy):
        made = function(given)
        assert made.points.dtype == np.float64 and np.array_equal(made.points, np.concatenate(given))


def test_attributes_stay_with_contours_of_every_frame():
    given = contorno.find_contours_batch(np.stack([smooth(np.random.default_rng(seed), (40, 50)) for seed in (1, 2, 3)])[:, None], [0.5], flat=True)
    measured = contorno.measure(given)
    largest = contorno.largest_first(measured, limit=2)
    assert set(measured.attributes) == set(largest.attributes) and largest.frame_ids.tolist() == [0, 0, 1, 1, 2, 2]
    again = contorno.measure(largest)
    for name, column in largest.attributes.items():
        assert np.array_equal(column, again.attributes[name], equal_nan=True), name


@pytest.mark.parametrize("attributes, error", [
    ({"weight": np.zeros(1)}, "the attribute 'weight' of contours is not known; known are number, parent"), ({"area": np.zeros(2)}, "shape"),
    ({"area": np.array(["x"])}, "dtype")])
def test_wrong_attributes_are_refused(attributes, error):
    given = contorno.ContourArrays(np.zeros((2, 2)), np.array([0, 2]), np.array([True]), *(np.zeros(1, np.int32),) * 3, attributes)
    with pytest.raises((ValueError, TypeError), match=error):
        contorno.measure(given)
