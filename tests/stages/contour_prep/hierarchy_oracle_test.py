"""hierarchy of the contours of maps against Shapely, and the polygons with holes that it makes."""
import numpy as np
import pytest
from shapely import geometry

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


def maps(seed):
    """A smooth map with closed contours alone, in each other."""
    field = smooth(np.random.default_rng(seed), (120, 160), sigma=2.0)
    field[[0, -1]] = field[:, [0, -1]] = 0
    return field


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("level", [0.35, 0.5, 0.62])
def test_parents_are_the_smallest_polygons_around(seed, level):
    found = contorno.find_contours(maps(seed), level)
    made = contorno.hierarchy(found).attributes
    polygons = [geometry.Polygon(one) for one in found]
    assert len(found) > 20 and (level > 0.4 or max(made["depth"]) > 0)
    for i, one in enumerate(found):
        middle = geometry.Point((one[0] + one[1]) / 2)
        around = [k for k, other in enumerate(polygons) if other.area > polygons[i].area and other.contains(middle)]
        wanted = min(around, key=lambda k: polygons[k].area, default=-1)
        assert (made["number"][i], made["depth"][i], made["parent"][i]) == (i, len(around), wanted)


def test_outer_contours_with_their_holes_are_valid_and_have_the_area_of_all_contours():
    made = contorno.measure(contorno.hierarchy(contorno.find_contours_batch(maps(4), 0.35, flat=True)))
    depth, parent = made.attributes["depth"].astype(int), made.attributes["parent"].astype(int)
    regions = [geometry.Polygon(made[i], [made[k] for k in np.flatnonzero(parent == i)]) for i in np.flatnonzero(depth % 2 == 0)]
    assert any(region.interiors for region in regions)
#Contours that touch at a sample make a ring that does; all others are valid.
    assert sum(not region.is_valid for region in regions) <= len(regions) // 20
    assert sum(region.area for region in regions) == pytest.approx(made.attributes["area"].sum(), rel=1e-7)


def test_numbers_stay_with_contours_in_another_order():
    made = contorno.hierarchy(contorno.find_contours(maps(5), 0.5))
    sorted_by_size = contorno.largest_first(made, limit=10)
    for i, number in enumerate(sorted_by_size.attributes["number"].astype(int)):
        assert np.array_equal(sorted_by_size[i], made[number])
