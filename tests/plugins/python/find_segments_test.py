"""contorno.find_segments against the segments that scikit-image makes before it assembles them."""
import numpy as np
import pytest

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import KINDS, same_bits, with_holes

cython = pytest.importorskip("skimage.measure._find_contours_cy")


def expected(image, level, mask, connect_high):
    """(n, 2, 2), without those that scikit-image passes over when it assembles them: their points are equal."""
    values = image.astype(np.float64)
    if level is None:
        own = image if image.dtype.kind == "f" else values
        level = (np.nanmin(own) + np.nanmax(own)) / 2
    segments = np.array(cython._get_contour_segments(values, float(level), connect_high, mask), np.float64).reshape(-1, 2, 2)
    return segments[~np.all(segments[:, 0] == segments[:, 1], axis=1)]


@pytest.mark.parametrize("kind", KINDS)
def test_segments_are_those_of_scikit_image(kind):
    count, (least, most), make, level_of = KINDS[kind]
    random = np.random.default_rng(5)
    found = 0
    for number in range(max(count // 20, 5)):
        image, mask = with_holes(random, make(random, tuple(random.integers(least, most, 2, endpoint=True))))
        level, connect_high = level_of(random, image), bool(number % 2)
        with np.errstate(all="ignore"):
            wanted = expected(image, level, None if mask is None else mask.astype(np.uint8), connect_high)
        segments, cells = contorno.find_segments(image, level, "high" if connect_high else "low", mask=mask,
                                                 threads=1 + number % 3)
        assert segments.dtype == np.float64 and cells.dtype == np.int32 and cells.shape == (len(segments), 2)
        assert same_bits(segments, wanted), (kind, number)
        found += len(segments)
        turned, again = contorno.find_segments(image, level, "high" if connect_high else "low", "high", mask=mask)
        assert same_bits(turned, segments[:, ::-1]) and np.array_equal(cells, again)
    assert found > 0


def test_a_cell_is_the_one_whose_samples_make_the_segment():
    random = np.random.default_rng(6)
    image = random.integers(0, 5, (30, 140)).astype(np.float32)
    segments, cells = contorno.find_segments(image, 2)
    at = 0
    for row in range(image.shape[0] - 1):
        for col in range(image.shape[1] - 1):
            alone = expected(image[row:row + 2, col:col + 2], 2, None, False) + (row, col)
            mine = slice(at, at + len(alone))
            assert np.all(cells[mine] == (row, col)) and np.allclose(segments[mine], alone, rtol=0, atol=1e-12)
            at += len(alone)
    assert at == len(segments) > 1000


def test_contours_are_made_of_these_segments():
    random = np.random.default_rng(7)
    image = random.random((60, 70))
    segments, _ = contorno.find_segments(image, 0.5)
    of_contours = [pair for contour in contorno.find_contours(image, 0.5) for pair in zip(contour[:-1], contour[1:])]
    assert sorted(map(np.ndarray.tolist, segments)) == sorted([a.tolist(), b.tolist()] for a, b in of_contours)


def test_what_is_wrong_is_said_as_by_find_contours():
    with pytest.raises(ValueError, match="at least 2x2"):
        contorno.find_segments(np.zeros((1, 5)))
    with pytest.raises(ValueError, match="same shape"):
        contorno.find_segments(np.zeros((3, 5)), 0.5, mask=np.ones((3, 4), bool))
    with pytest.raises(TypeError, match="leve"):
        contorno.find_segments(np.zeros((3, 5)), leve=0.5)
    segments, cells = contorno.find_segments(np.zeros((3, 5)), 0.5)
    assert segments.shape == (0, 2, 2) and cells.shape == (0, 2)
    assert np.array_equal(contorno.find_segments(np.eye(3))[0], contorno.find_segments(np.eye(3), 0.5)[0])
