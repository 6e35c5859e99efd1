"""fourier, fourier_points, smooth and fourier_descriptors beside NumPy's FFT."""
import time

import numpy as np
import pytest

from tests.plugins.python.package import contorno


def points(count, seed=0):
    return np.random.default_rng(seed + count).random((count, 2)) * [300, 500]


def numbers(rows):
    """z = column + i row."""
    rows = np.asarray(rows, np.float64)
    return rows[:, 1] + 1j * rows[:, 0]


def rows(numbers):
    return np.stack([numbers.imag, numbers.real], axis=1)


def order(count):
    """Indices of frequencies 0, -1, 1, -2, 2, ..."""
    return sorted(range(count), key=lambda k: (min(k, count - k), 2 * k < count))


def with_terms(z, terms, top=False):
    """The points of a closed curve of which only some terms are kept."""
    c = np.fft.fft(z)
    ranked = order(len(z))
    if top:
        ranked.sort(key=lambda k: -round(abs(c[k]) / len(z) * 1e9))
    c[ranked[terms:]] = 0
    return np.fft.ifft(c)


@pytest.mark.parametrize("count", [*range(1, 40), 97, 128, 1009, 4096, 10007, 83608, 83609])
def test_coefficients_are_those_of_numpy(count):
    given = points(count)
    got = contorno.fourier(given)
    assert got.dtype == np.complex128 and got.shape == (count,)
    assert np.abs(got - np.fft.fft(numbers(given)) / count).max() < 1e-11


def test_lists_and_other_types_are_taken():
    given = np.random.default_rng(1).integers(0, 50, (20, 2))
    wanted = contorno.fourier(given.astype(np.float64))
    for one in (given, given.tolist(), [tuple(row) for row in given], given.astype(np.float32), given.astype(np.uint8), np.asfortranarray(given)):
        assert np.array_equal(contorno.fourier(one), wanted)
    c = [3, 1 + 2j, 0]
    assert np.array_equal(contorno.fourier_points(c, [0, 0.5]), contorno.fourier_points(np.array(c), np.array([0, 0.5])))
    assert contorno.fourier_points([2.0], []).shape == (0, 2)


def test_a_closed_contour_has_its_first_point_once():
    given = points(30)
    assert np.array_equal(contorno.fourier(np.concatenate([given, given[:1]])), contorno.fourier(given))


def test_points_that_are_all_equal_have_a_centre_alone():
    got = contorno.fourier(np.tile([7.0, 9.0], (100, 1)))
    assert abs(got[0] - (9 + 7j)) < 1e-13 and np.abs(got[1:]).max() < 1e-13


@pytest.mark.parametrize("count", [1, 2, 3, 40, 101, 4096])
def test_the_curve_goes_through_the_points(count):
    given = points(count)
    t = np.arange(count) / count
    for options in ({}, {"low": count}, {"top": count}, {"low": 10**9}):
        assert np.abs(contorno.fourier_points(contorno.fourier(given), t, **options) - given).max() < 1e-9


@pytest.mark.parametrize("count", [8, 41, 200])
@pytest.mark.parametrize("terms", [1, 2, 3, 7])
def test_terms_that_are_kept_are_those_of_the_order(count, terms):
    given = points(count)
    c, t = contorno.fourier(given), np.random.default_rng(3).random(50)
    k = np.fft.fftfreq(count, 1 / count)
    for name, ranked in (("low", order(count)), ("top", sorted(order(count), key=lambda k: -round(abs(c[k]) * 1e9)))):
        wanted = sum(c[i] * np.exp(2j * np.pi * k[i] * t) for i in ranked[:terms])
        assert np.abs(contorno.fourier_points(c, t, **{name: terms}) - rows(wanted)).max() < 1e-10


def test_ties_are_told_by_frequency():
    c = np.array([1, 2, 2 + 1e-11, 0.5, 2j, -2])  # frequencies 0, 1, 2, -3, -2, -1
    for terms, kept in ((1, [5]), (2, [5, 1]), (3, [5, 1, 4]), (4, [5, 1, 4, 2]), (5, [5, 1, 4, 2, 0])):
        some = np.zeros(6, complex)
        some[kept] = c[kept]
        t = np.linspace(0, 1, 17)
        assert np.allclose(contorno.fourier_points(c, t, top=terms), contorno.fourier_points(some, t), atol=1e-12)


def test_whole_turns_change_nothing():
    c = contorno.fourier(points(83608))
    t = np.array([0.25, 0.625])
    assert np.array_equal(contorno.fourier_points(c, t + 3), contorno.fourier_points(c, t))
    assert np.array_equal(contorno.fourier_points(c, t - 2), contorno.fourier_points(c, t, threads=2))


@pytest.mark.parametrize("call, error, sentence", [
    (lambda: contorno.fourier([]), ValueError, "shape"),
    (lambda: contorno.fourier(np.zeros((0, 2))), ValueError, "no points"),
    (lambda: contorno.fourier([[1, 2, 3]]), ValueError, r"shape \(1, 3\), wanted \(n, 2\)"),
    (lambda: contorno.fourier([[1, 2], [3]]), ValueError, "contour has lists of different lengths"),
    (lambda: contorno.fourier([[1, np.nan]]), ValueError, "not finite"),
    (lambda: contorno.fourier([["a", "b"]]), TypeError, "dtype"),
    (lambda: contorno.fourier(np.array([[1j, 2]])), TypeError, "complex128"),
    (lambda: contorno.fourier(7), TypeError, "not an array"),
    (lambda: contorno.fourier_points([], [0]), ValueError, "coefficients is empty"),
    (lambda: contorno.fourier_points([1, np.inf], [0]), ValueError, "not finite"),
    (lambda: contorno.fourier_points([1], [[0]]), ValueError, "t has 2 dimensions"),
    (lambda: contorno.fourier_points([1], [np.nan]), ValueError, "t has values that are not finite"),
    (lambda: contorno.fourier_points([1], [0], low=0), ValueError, "low is 0, allowed 1"),
    (lambda: contorno.fourier_points([1], [0], top=2.5), ValueError, "top is 2.5"),
    (lambda: contorno.fourier_points([1], [0], low=1, top=1), TypeError, "one of low and top"),
    (lambda: contorno.fourier_points([1], [0], lower=1), TypeError, "did you mean 'low'"),
])
def test_wrong_arguments_are_refused(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


@pytest.mark.parametrize("keep", ["low", "top"])
@pytest.mark.parametrize("terms", [1, 3, 20, 63])
def test_smooth_is_numpys_inverse_of_what_is_kept(keep, terms):
    given = [np.float32(points(count)) for count in (3, 16, 50, 127, 128, 1001)]
    closed = [np.concatenate([one, one[:1]]) for one in given]
    for one, got in zip(given, contorno.smooth(closed, terms=terms, keep=keep), strict=True):
        wanted = rows(with_terms(numbers(one), terms, keep == "top")) if terms < len(one) else one
        assert len(got) == len(one) + 1 and np.array_equal(got[0], got[-1])
        assert np.abs(got[:-1] - wanted).max() < 4e-5


def test_smooth_gives_what_the_series_gives():
    one = np.float32(points(90))
    smooth = contorno.smooth([np.concatenate([one, one[:1]])], 15)[0]
    assert np.abs(smooth[:-1] - contorno.fourier_points(contorno.fourier(one), np.arange(90) / 90, low=15)).max() < 4e-5


def test_descriptors_are_those_of_numpy():
    given = [np.float32(points(count)) for count in (9, 10, 64, 333)]
    table = contorno.fourier_descriptors([np.concatenate([one, one[:1]]) for one in given]).attributes
    for i, one in enumerate(given):
        c = np.abs(np.fft.fft(numbers(one)))
        if c[-1] > c[1]:
            c = np.roll(c[::-1], 1)
        for name, k in [("fourier_minus_1", -1), ("fourier_2", 2), ("fourier_minus_2", -2), ("fourier_3", 3), ("fourier_minus_3", -3),
                        ("fourier_4", 4), ("fourier_minus_4", -4)]:
            assert table[name][i] == pytest.approx(c[k] / c[1], rel=1e-9)


def test_time_grows_by_little_more_than_the_number_of_points():
    def seconds(count):
        """Of the processor: who else computes does not count."""
        given = points(count)
        taken = []
        for _ in range(3):
            begin = time.process_time()
            contorno.fourier(given)
            taken.append(time.process_time() - begin)
        return min(taken)

    # The square of it would be 1,000 times as much.
    assert seconds(32 * 2053) < 200 * max(seconds(2053), 1e-4)
