"""resample beside NumPy's interpolation over the running length, and Shapely's points along a line."""
import numpy as np
import pytest
from shapely.geometry import LineString

from tests.plugins.python.package import contorno


def contours(closed):
    random = np.random.default_rng(6)
    for points in (*range(3, 30), 400):
        one = np.cumsum(random.normal(0, 1.5, (points, 2)), axis=0)
        yield (np.vstack((one, one[:1])) if closed else one).astype(np.float32)


def interpolated(contour, steps):
    points = contour.astype(np.float64)
    length = np.concatenate(([0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))))
    at = np.linspace(0, length[-1], steps + 1)
    return np.stack([np.interp(at, length, points[:, axis]) for axis in (0, 1)], axis=1)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("options", [{"points": 5}, {"points": 64}, {"spacing": 0.4}, {"spacing": 2.5}])
def test_points_are_those_of_numpy_and_shapely(closed, options):
    given = list(contours(closed))
    for contour, got in zip(given, contorno.resample(given, **options), strict=True):
        line = LineString(contour.astype(np.float64))
        if "points" in options:
            assert len(got) == options["points"] + closed
        else:
            assert len(got) - 1 == max(3 if closed else 1, round(line.length / options["spacing"]))
        assert np.array_equal(got[0], contour[0]) and np.array_equal(got[-1], contour[-1])
        assert np.allclose(got, interpolated(contour, len(got) - 1), atol=2e-5)
        along = [line.interpolate(k / (len(got) - 1), normalized=True).coords[0] for k in range(len(got))]
        assert np.allclose(got, along, atol=2e-5)
