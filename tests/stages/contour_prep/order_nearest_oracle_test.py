"""order_nearest beside NumPy: by the matrix of distances, as a pen draws by all starts, and how long its ways are."""
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


def distances(given):
    """The matrix of the squared distances of the nearest points, in float64."""
    matrix = np.full((len(given), len(given)), np.inf)
    for a, one in enumerate(given):
        for b, other in enumerate(given[:a]):
            gaps = one[:, None].astype(float) - other[None].astype(float)
            matrix[a, b] = matrix[b, a] = (gaps[..., 0] * gaps[..., 0] + gaps[..., 1] * gaps[..., 1]).min()
    return matrix


@pytest.mark.parametrize("given", [
    pytest.param(found(3), id="of a map"),
    pytest.param([np.float32(one[None]) for one in np.random.default_rng(4).integers(0, 12, (300, 2))], id="with ties"),
    pytest.param([np.float32([[1, 1], [2, 2]])] * 40, id="all in one place"),
    pytest.param([np.float32([[1, 1]])], id="one"),
    pytest.param([np.float32([[1, 1]]), np.float32([[9, 1], [9, 2]])], id="two"),
    pytest.param([np.float32(one + 300 * (i % 3))
                  for i, one in enumerate(np.random.default_rng(5).normal(0, 3, (150, 4, 2)))], id="clusters")])
def test_greedy_is_the_row_by_row_minimum_of_the_matrix_of_distances(given):
    matrix, order = distances(given), [0]
    left = np.ones(len(given), bool)
    left[0] = False
    while left.any():
        order.append(int(np.where(left, matrix[order[-1]], np.inf).argmin()))
        left[order[-1]] = False
    path = contorno.order_nearest(given)
    assert all(np.array_equal(one, given[i]) for one, i in zip(path, order, strict=True))


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
