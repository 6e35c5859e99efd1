"""Stages of the Python package beside their definitions, written once more in few lines of NumPy, and OpenCV."""
import colorsys

import numpy as np
import pytest

from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


# Mean shift ------------------------------------------------------------------------------------------------------
def climb(points, sigma, cut, eps, weights):
    """Where each point comes to rest; weights(squared distance in sigmas)."""
    at, moving = points.copy(), np.ones(len(points), bool)
    while moving.any():
        squared = ((at[moving, None] - points) ** 2).sum(-1) / sigma**2
        weight = weights(squared) * (squared < cut**2)
        step = weight @ points / weight.sum(1, keepdims=True) - at[moving]
        at[moving] += step
        moving[moving] = np.linalg.norm(step, axis=1) >= eps * sigma
    return at


@pytest.mark.parametrize("kernel,weights,cut", [
    ("gaussian", lambda squared: np.exp(-squared / 2), 3), ("epanechnikov", lambda squared: np.maximum(1 - squared, 0), 1)])
@pytest.mark.parametrize("dims", [1, 2, 5])
def test_points_come_to_rest_where_the_definition_says(kernel, weights, cut, dims):
    points = np.random.default_rng(dims).normal(0, 1, (150, dims)) + np.arange(150)[:, None] % 3 * 7
    sigma = 0.6 + 0.3 * dims
    found = contorno.mean_shift(points, sigma, kernel=kernel, precision="float64", eps=1e-6)
    wanted = climb(points, sigma, cut, 1e-6, weights)
    assert np.abs(found.points - wanted).max() < 1e-4 * sigma
    near = ((wanted[:, None] - wanted) ** 2).sum(-1) < (0.5 * sigma) ** 2
    for _ in range(8):  # through others as well
        near = near @ near
    assert np.array_equal(near, found.labels[:, None] == found.labels)
    for label, (mode, count) in enumerate(zip(found.modes, found.counts)):
        assert count == (found.labels == label).sum() and np.allclose(mode, found.points[found.labels == label].mean(0))


@pytest.mark.parametrize("spatial,colour", [(1, 5), (4, 16), (9, 40)])
def test_filtered_images_are_those_of_opencv(spatial, colour):
    cv2 = pytest.importorskip("cv2")
    random = np.random.default_rng(spatial)
    for shape in ((1, 9), (7, 50), (45, 61)):
        image = np.stack([255 * smooth(random, shape, 2.0) for _ in range(3)], -1).astype(np.uint8)
        wanted = cv2.pyrMeanShiftFiltering(image, spatial, colour, maxLevel=0)
        assert np.array_equal(contorno.mean_shift_filter(image, spatial, float(colour)), wanted)


# Diamond-Square --------------------------------------------------------------------------------------------------
def philox(counter, key):
    """The first word of Philox4x32-10."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ k[0], second & 0xFFFFFFFF, first >> 32 ^ c[3] ^ k[1], first & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def serial_field(n, seed, channel):
    """The paper's algorithm with the random numbers of docs/reference/diamond-square.md."""
    last = 2**n
    field = np.zeros((last + 1, last + 1), int)

    def word(row, col, level):
        return philox((row, col, level, channel), (seed & 0xFFFFFFFF, seed >> 32))

    for row, col in ((0, 0), (0, last), (last, 0), (last, last)):
        field[row, col] = word(row, col, 0) >> 24
    for level in range(1, n + 1):
        step, spread = 2 ** (n - level + 1), 256 >> level
        half, low, span = step // 2, -spread or -1, 2 * spread or 2

        def put(row, col, offsets):
            around = [field[row + r * half, col + c * half] for r, c in offsets
                      if 0 <= row + r * half <= last and 0 <= col + c * half <= last]
            total = sum(around) + low + (word(row, col, level) * span >> 32)
            field[row, col] = min(max(total, 0) // len(around), 255)

        for row in range(half, last, step):
            for col in range(half, last, step):
                put(row, col, ((-1, -1), (-1, 1), (1, -1), (1, 1)))
        for row in range(0, last + 1, half):
            for col in range(0 if row % step else half, last + 1, step):
                put(row, col, ((-1, 0), (1, 0), (0, -1), (0, 1)))
    return field


@pytest.mark.parametrize("n,seed", [(1, 0), (3, 7), (5, 2**40 + 3), (6, 11)])
def test_fields_are_those_of_the_serial_algorithm(n, seed):
    fields = contorno.diamond_square(n, seed, channels=2)
    for channel in range(2):
        assert np.array_equal(fields[channel], serial_field(n, seed, channel))


# Colours ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", ["hsv", "hsl"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_hue_and_saturation_are_those_of_colorsys(model, dtype):
    full = 255 if dtype == np.uint8 else 1
    random = np.random.default_rng(8)
    colours = np.concatenate([random.integers(0, 256, (300, 3)), random.integers(0, 3, (100, 3)) * 127,
                              np.repeat(np.arange(0, 256, 15)[:, None], 3, 1), [[255, 0, 255], [255, 255, 255]]])
    image = (colours[None] / 255 * full).astype(dtype)
    made = contorno.apply("preprocess", image, colour=model, output_="float32", scale=1 / full)
    assert made.shape == (3, 1, image.shape[1]) and made.dtype == np.float32
    for pixel, got in zip(image[0] / full, made[:, 0].T):
        if model == "hsv":
            wanted = colorsys.rgb_to_hsv(*map(float, pixel))
        else:
            hue, lightness, saturation = colorsys.rgb_to_hls(*map(float, pixel))
            wanted = hue, saturation, lightness
        turn = abs(got[0] - wanted[0])
        assert min(turn, 1 - turn) < 1e-5 and np.abs(got[1:] - wanted[1:]).max() < 1e-5, (pixel, got, wanted)
