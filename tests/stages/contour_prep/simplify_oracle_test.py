"""simplify beside Shapely (GEOS) and scikit-image, whose Douglas-Peucker measures the distance to the segment as well."""
import numpy as np
import pytest
from shapely.geometry import LineString
from skimage.measure import approximate_polygon

from tests.plugins.python.package import contorno


def random_walk(random, points, closed):
    steps = np.cumsum(random.normal(0, 1, (points, 2)), axis=0)
    if closed:
        angle = np.linspace(0, 2 * np.pi, points, endpoint=False)[:, None]
        steps = (20 + random.normal(0, 1, (points, 1))) * np.hstack((np.cos(angle), np.sin(angle)))
        steps = np.vstack((steps, steps[:1]))
    return steps.astype(np.float32)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("tolerance", [0.1, 0.75, 3.0])
def test_douglas_peucker_keeps_the_points_of_shapely_and_scikit_image(closed, tolerance):
    random = np.random.default_rng(4)
    given = [random_walk(random, points, closed) for points in (*range(4, 40), 300, 2000)]
    compared = 0
    for contour, got in zip(given, contorno.simplify(given, tolerance=tolerance), strict=True):
        wanted = np.array(LineString(contour.astype(np.float64)).simplify(tolerance, preserve_topology=False).coords)
        if closed and len(wanted) < 4:  # collapses there; here it stays a ring
            assert len(got) >= 4 and np.array_equal(got[0], got[-1])
            continue
        assert np.array_equal(got, wanted)
        assert np.array_equal(got, approximate_polygon(contour.astype(np.float64), tolerance))
        compared += 1
    assert compared > 30


def test_no_point_is_farther_than_the_tolerance_by_the_distances_of_shapely():
    random = np.random.default_rng(5)
    given = [random_walk(random, points, points % 2 == 0) for points in range(5, 200, 7)]
    for tolerance in (0.5, 2.0):
        for contour, got in zip(given, contorno.simplify(given, tolerance=tolerance), strict=True):
            far = LineString(got).hausdorff_distance(LineString(contour))
            assert far <= tolerance + 1e-6
