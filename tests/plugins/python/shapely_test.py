"""Contours as geometries of Shapely."""
import numpy as np
import pytest
from shapely.geometry import Point
from shapely.ops import unary_union
from shapely.prepared import prep

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


def square(middle, half, step=1):
    row, col = middle
    points = np.array([(-half, -half), (-half, half), (half, half), (half, -half), (-half, -half)], float)
    return (points + (row, col))[::step]


def test_closed_contours_are_polygons_and_others_lines_and_points():
    closed, line, point = square((5, 9), 2), np.array([(0, 0), (3.5, 4)]), np.array([(7, 8.0)])
    made = contorno.to_shapely([closed, line, point, np.zeros((0, 2))])
    assert [one.geom_type for one in made[:3]] == ["Polygon", "LineString", "Point"]
    assert made[0].area == 16 and made[0].bounds == (7, 3, 11, 7)  # x is the column
    assert list(made[1].coords) == [(0, 0), (4, 3.5)] and (made[2].x, made[2].y) == (8, 7) and made[3].is_empty
    assert [one.geom_type for one in contorno.to_shapely([[[closed], []], [[], [point]]])] == ["Polygon", "Point"]


def test_contours_in_others_are_their_holes():
    rings = [square((20, 20), half, -1 if half % 2 else 1) for half in (1, 4, 3, 2)]
    line = np.array([(19.0, 19), (20, 20), (21, 19)])
    made = contorno.to_shapely([*rings, line], holes=True)
    assert [one.geom_type for one in made] == ["Polygon", "Polygon", "LineString"]
    assert [one.area for one in made[:2]] == [64 - 36, 16 - 4] and all(one.is_valid for one in made)


def test_frames_and_classes_have_nothing_to_do_with_each_other():
    inner, outer = [square((20, 20), 1)], [square((20, 20), 4)]
    apart = contorno.to_shapely([[inner, outer], [outer, inner]], holes=True)
    assert [one.area for one in apart] == [4, 64, 64, 4]
    joined = contorno.to_shapely([[[*outer], []], [[*outer, *inner], []], [[], [*inner, *outer]]], holes=True)
    assert [one.area for one in joined] == [64, 60, 60]


@pytest.mark.parametrize("level", [0.4, 0.5])
def test_polygons_of_a_map_have_the_area_that_is_measured(level):
    field = smooth(np.random.default_rng(9), (100, 130), sigma=2.0)
    field[[0, -1]] = field[:, [0, -1]] = 0
    found = contorno.find_contours_batch(field, level, flat=True)
    polygons = contorno.to_shapely(found, holes=True)
    assert unary_union(polygons).area == pytest.approx(contorno.measure(found).attributes["area"].sum(), rel=1e-5)


def test_brush_points_may_be_arrays_of_rows_and_columns():
    given = [np.array([(1.0, 2), (5, 6), (7, 8)])]
    for points in ([6, 5], [[5, 6]], np.array([[5, 6]]), [(5, 6)]):
        assert np.array_equal(contorno.exclude(given, points)[0], [(1, 2), (7, 8)])
    assert len(contorno.exclude(given, strokes=[[(0, 1), (9, 10)]], radius=0.01)) == 0
    with pytest.raises((TypeError, ValueError), match="points"):
        contorno.exclude(given, np.zeros((2, 3)))


def steps_with_samples_at_the_level(seed):
    """Hills in steps of 1/8, so that many samples equal 0.5, and two rings that a sample at the level closes."""
    y, x = np.mgrid[0:60, 0:80]
    hills = 0.5 + 0.5 * np.sin(x / 6) * np.cos(y / 5)
    field = np.clip(np.round(8 * hills + np.random.default_rng(seed).integers(-1, 2, (60, 80))) / 8, 0, 1)
    field[2:13, 2:13], field[5:10, 5:10], field[7, 10:13] = 1, 0, (0, 0.5, 0)
    field[[0, -1]] = field[:, [0, -1]] = 0
    return field


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("holes", [False, True])
def test_polygons_are_valid_where_contours_touch_themselves(seed, holes):
    field = steps_with_samples_at_the_level(seed)
    contours = contorno.find_contours(field, 0.5)
    made = contorno.to_shapely(contours, holes=holes)
    assert any(one.geom_type == "MultiPolygon" for one in made) and all(one.is_valid for one in made)
    if holes:
        region = prep(unary_union(made))
        assert all(region.contains(Point(col, row)) == (field[row, col] > 0.5) for row, col in np.argwhere(field != 0.5))
        assert sum(one.area for one in made) == pytest.approx(contorno.measure(contours).attributes["area"].sum(), rel=1e-4)


@pytest.mark.filterwarnings("error")
def test_rings_that_cross_themselves_or_have_no_area_are_valid_too():
    eight = np.array([(0, 0), (2, 2), (0, 2), (2, 0), (0, 0)], float)
    flat = np.array([(0, 0), (1, 1), (3, 3), (0, 0)], float)
    twice = np.array([(0, 0), (0, 4), (4, 4), (0, 0), (0, 4), (4, 4), (0, 0)], float)
    made = contorno.to_shapely([eight, flat, twice])
    assert [one.is_valid for one in made] == [True] * 3
    assert made[0].geom_type == "MultiPolygon" and made[0].area == 2 and made[1].area == 0
