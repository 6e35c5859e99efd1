"""Fourier series of contours."""
import numpy as np

from . import _core
from ._arrays import to_numpy
from ._options import suggesting


def _array(given, name, dtype, kinds, allowed):
    """`given`, an array or lists of finite numbers, as an array of `dtype`."""
    given = _core.to_host(given, name, None)
    if isinstance(given, (list, tuple)):
        try:
            given = np.asarray(given)
        except ValueError:  # lists of different lengths
            raise ValueError(f"{name} has lists of different lengths") from None
        if given.size == 0:
            given = given.astype(dtype)
    elif not (isinstance(given, np.ndarray) and given.dtype.kind == "c"):
        given = to_numpy(given, name)
    if given.dtype.kind not in kinds:
        raise TypeError(f"{name} has dtype {given.dtype}, allowed are {allowed}")
    array = np.require(given, dtype, "C")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite")
    return array


@suggesting
def fourier(contour):
    """The Fourier coefficients of a contour.

    With z = column + i row of each of its N points, ``c_k = (1 / N) sum_n z_n exp(-2 pi i k n / N)``: that is
    ``numpy.fft.fft(z) / N``, in time N log N for any N.

    Parameters
    ----------
    contour : (n, 2) array
        Rows and columns, of integers or floats, also as lists. A closed contour, whose last point is its first, has that point
        once: N = n - 1.

    Returns
    -------
    (N,) array of complex128
        c_k for k = 0, 1, 2, ..., -2, -1, the order of ``numpy.fft.fftfreq(N, 1 / N)``; the middle one of even N counts as -N / 2.

    Examples
    --------
    >>> c = contorno.fourier(contour)
    >>> smooth = contorno.fourier_points(c, numpy.linspace(0, 1, 200, endpoint=False), low=21)
    """
    points = _array(contour, "contour", np.float64, "iuf", "integers and floats")
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"contour has shape {points.shape}, wanted (n, 2): row and column of each point")
    if len(points) == 0:
        raise ValueError("contour has no points, wanted at least one")
    closed = len(points) > 1 and (points[0] == points[-1]).all()
    return _core.fourier_coefficients(points[:-1] if closed else points)


@suggesting
def fourier_points(coefficients, t, *, low=None, top=None, threads=None):
    """Points of the curve that Fourier coefficients make, ``z(t) = sum_k c_k exp(2 pi i k t)``.

    Takes time in proportion to the number of points times that of the coefficients that are kept.

    Parameters
    ----------
    coefficients : (N,) array
        Complex, in the order of `fourier`.
    t : (m,) array of float
        Where along the curve, in turns: from 0 to 1, and the same again beyond. n / N is where point n of the contour was.
    low : int, optional
        Only that many coefficients of the lowest frequencies, which are 0, -1, 1, -2, 2, ...
    top : int, optional
        Only that many of the largest magnitudes. Those that are equal, rounded to 1e-9, are taken in the order of `low`.
    threads : int, optional
        Default: by the amount of work. Results do not depend on it.

    Returns
    -------
    (m, 2) array of float64
        Rows and columns.
    """
    if low is not None and top is not None:
        raise TypeError("fourier_points() takes one of low and top; both were given")
    coefficients = _array(coefficients, "coefficients", np.complex128, "iufc", "integers, floats and complex numbers")
    t = _array(t, "t", np.float64, "iuf", "integers and floats")
    for name, array in (("coefficients", coefficients), ("t", t)):
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} dimensions, wanted 1")
    if len(coefficients) == 0:
        raise ValueError("coefficients is empty, wanted at least one")
    terms = len(coefficients)
    for name, given in (("low", low), ("top", top)):
        if given is not None:
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 1:
                raise ValueError(f"{name} is {given!r}, allowed 1, 2, 3, ...")
            terms = min(int(given), terms)
    return _core.fourier_curve(coefficients, t, terms, top is not None, threads)
