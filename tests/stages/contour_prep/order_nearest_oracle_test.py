"""order_nearest as a pen draws, beside NumPy's nearest of all starts, and how long its ways are."""
import numpy as np
import pytest

from tests.plugins.python.contour_cases import contours, flat, is_closed
from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


def found(seed):
    return [np.float32(one) for one in contorno.find_contours(smooth(np.random.default_rng(seed), (90, 120), 1.5), 0.5)]


def ways_of(contour):
    if is_closed(contour):
        own = contour[:-1]
        return [np.concatenate([own[i:], own[:i], own[i:i + 1]]) for i in range(len(own))]
    return [contour, contour[::-1]]


def drawn(left):
    path, left = [left[0]], left[1:]
    while left:
#The place of the first of the nearest starts.
        _, i, k = min((((path[-1][-1].astype(float) - way[0]) ** 2).sum(), i, k) for i, one in enumerate(left) for k, way in enumerate(ways_of(one)))
        path.append(ways_of(left.pop(i))[k])
    return path


def length(path):
    return sum(np.hypot(*(b[0].astype(float) - a[-1])) for a, b in zip(path, path[1:]))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_pen_goes_to_the_nearest_start_and_2opt_shortens_its_ways(seed):
    given = found(seed)
    path = contorno.order_nearest(given, "endpoint")
    assert all(np.array_equal(one, other) for one, other in zip(path, drawn(given), strict=True))
    ways = [contorno.pen_up_length(one) for one in (given, contorno.order_nearest(given), path, contorno.order_nearest(given, "2opt", passes=1),
                                                    contorno.order_nearest(given, "2opt"))]
    assert ways == sorted(ways, reverse=True) and ways[-1] < ways[1]
    assert ways[2] == pytest.approx(length(path), abs=1e-4)
    measured = [np.sort(contorno.measure(one).attributes["area"]) for one in (given, path, contorno.order_nearest(given, "2opt"))]
    assert np.allclose(measured[0], measured[1], atol=1e-3) and np.allclose(measured[0], measured[2], atol=1e-3)


def test_ways_between_frames_classes_and_levels_do_not_count():
    given = [one for one in contours(3, 40) if len(one)]
    alone = [contorno.pen_up_length(given[i:i + 10]) for i in (0, 10, 20, 30)]
    assert min(alone) > 0 and alone[0] == pytest.approx(length(given[:10]), abs=1e-4)
    frames = [[[given[:10], []], [given[10:20], given[20:30]]], [[[], []], [given[30:], []]]]
    assert contorno.pen_up_length(frames) == contorno.pen_up_length(flat(frames)) == pytest.approx(sum(alone), abs=1e-9)
    assert contorno.pen_up_length([]) == contorno.pen_up_length([[], []]) == contorno.pen_up_length(given[:1]) == 0
    nan = np.array([[np.nan, 1.0], [2, 2]])
    assert contorno.pen_up_length([given[0], nan, nan[1:] + [3, 4]]) == 5
    with pytest.raises(TypeError, match="wanted a list"):
        contorno.pen_up_length(3)
