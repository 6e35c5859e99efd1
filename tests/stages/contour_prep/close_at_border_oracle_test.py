"""close_at_border of maps beside scikit-image's contours of the map with a rim that is far below the level: these are closed along
the border as well, but for the width of a hair; and beside Shapely's polygons of them."""
import json

import numpy as np
import pytest
from shapely.geometry import Polygon
from shapely.ops import unary_union
from skimage import measure

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth

FAR = -1e12  # the value of the rim


def signed_area(points):
    row, col = np.asarray(points, np.float64).T
    return (row[1:] * col[:-1] - row[:-1] * col[1:]).sum() / 2


def fields():
    for seed in range(12):
        random = np.random.default_rng(seed)
        height, width = random.integers(2, 60, 2)
        yield random.random((height, width)), 0.5
        yield smooth(random, (height + 20, width + 20), 1 + seed / 2), random.uniform(0.3, 0.7)


def opened(field, level, **options):
    return contorno.find_contours(field, level, **options)


def size(field):
    return field.shape[::-1]


@pytest.mark.parametrize("options", [{}, {"fully_connected": "high"}, {"positive_orientation": "high"}])
def test_rings_have_the_areas_of_the_map_with_a_rim(options):
    orientation = {key: value for key, value in options.items() if key == "positive_orientation"}
    compared = 0
    for field, level in fields():
        wanted = sorted(signed_area(one) for one in measure.find_contours(np.pad(field, 1, constant_values=FAR), level, **options))
        closed = contorno.close_at_border(opened(field, level, **options), size=size(field), **orientation)
        if all(contour[0].tolist() == contour[-1].tolist() for contour in opened(field, level)) and field[0, 0] > level:
            continue  # high all round: no contour says so
        compared += 1
        assert all((one[0] == one[-1]).all() for one in closed)
        measured = contorno.measure(closed).attributes["area"]
        assert sorted(measured) == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert compared > 15


def test_regions_are_those_of_the_map_with_a_rim():
    for field, level in fields():
        closed = contorno.close_at_border(opened(field, level), size=size(field))
        wanted = measure.find_contours(np.pad(field, 1, constant_values=FAR), level)
        if len(closed) != len(wanted) or len(wanted) == 0:
            continue
        regions = unary_union([Polygon(one).buffer(0) for one in wanted if signed_area(one) > 0])
        holes = unary_union([Polygon(one).buffer(0) for one in wanted if signed_area(one) < 0])
        mine = unary_union([Polygon(one + 1.0).buffer(0) for one in closed if signed_area(one) > 0])
        my_holes = unary_union([Polygon(one + 1.0).buffer(0) for one in closed if signed_area(one) < 0])
        assert mine.symmetric_difference(regions).area < 1e-3 and my_holes.symmetric_difference(holes).area < 1e-3


def test_contours_that_do_not_reach_the_border_are_those_that_were_found():
    for field, level in fields():
        found = [np.float32(one) for one in opened(field, level)]
        whole = {one.tobytes() for one in found if (one[0] == one[-1]).all()}
        assert whole <= {one.tobytes() for one in contorno.close_at_border(found, size=size(field))}


def test_samples_that_are_nan_leave_contours_open_and_the_rest_closed():
    field = np.zeros((30, 40))
    field[5:12, 30:] = field[20:26, :8] = 1
    field[20:26, 4:7] = np.nan  # beside it the contour ends
    closed = contorno.close_at_border(opened(field, 0.5), size=size(field))
    is_closed = [bool((one[0] == one[-1]).all()) for one in closed]
    assert sorted(is_closed) == sorted([True] + [False] * (len(closed) - 1)) and len(closed) > 1
    assert contorno.measure(closed).attributes["area"].max() == pytest.approx(signed_area(closed[is_closed.index(True)]), abs=1e-4)


def test_frames_and_classes_of_a_file_are_closed_at_the_border_of_their_map(tmp_path):
    from tests.conftest import run_contorno
    line = {"frame": 0, "width": 9, "height": 6, "classes": [{"name": name, "level": 0.5, "contours": [
        {"closed": False, "points": [[3, 0], [3, 5]]}]} for name in ("one", "two")]}
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n")
    run_contorno("clean", "in.jsonl", "out.jsonl", "--step", "close_at_border", "--step", "measure", cwd=tmp_path)
    made = [one["contours"][0] for one in json.loads((tmp_path / "out.jsonl").read_text())["classes"]]
    assert [one["points"] for one in made] == [[[3, 0], [3, 5], [0, 5], [0, 0], [3, 0]]] * 2
    assert [one["attributes"]["area"] for one in made] == [15, 15]
