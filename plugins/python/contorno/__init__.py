"""contorno: exact sub-pixel contours and image stages, for NumPy arrays and for arrays on the GPU."""
import ctypes as _ctypes
import os as _os

# GStreamer for Python brings libunwind, whose functions would take the place of those by which C++ unwinds exceptions, so that an
# error would end the process. Those that are made visible first win.
_ctypes.CDLL("libgcc_s.so.1", mode=_ctypes.RTLD_GLOBAL)

# OpenMP's threads spin for a while behind every loop unless told otherwise, and on a busy machine take the processors from
# whoever needs them. OpenMP reads its setting once, when it is loaded; a user's own setting is left alone.
_passive = "OMP_WAIT_POLICY" not in _os.environ and "GOMP_SPINCOUNT" not in _os.environ
if _passive:
    _os.environ["OMP_WAIT_POLICY"] = "passive"
try:
    from ._core import __version__
except ModuleNotFoundError as _error:
    if _error.name != f"{__name__}._core":
        raise
    raise ImportError(f"the compiled part of contorno is not beside {__file__}, or is of another Python than this one; it is built by "
                      "`cmake --build --preset release` in contorno's folder (with pybind11-dev and python3-dev)") from None
finally:
    if _passive:
        del _os.environ["OMP_WAIT_POLICY"]

from ._backends import backends
from ._batch import ContourArrays, find_contours_batch
from ._contours import pen_up_length
from ._find_contours import find_contours, find_segments
from ._fourier import fourier, fourier_points
from ._diamond_square import diamond_square
from ._mean_shift import MeanShift, estimate_bandwidth, mean_shift, mean_shift_filter, mean_shift_segment
from ._morphology import (blackhat, close_by_reconstruction, dilate, element, erode, gradient, hit_or_miss, open_by_reconstruction,
                          reconstruct, tophat)
from ._morphology import _close as close, _open as open  # noqa: A004
from ._stages import ON_CONTOURS as _ON_CONTOURS, Tracker, apply, load, mipmaps, stages
from ._shapely import to_shapely

globals().update(_ON_CONTOURS)

try:
    from ._core import DeviceArray
except ImportError:  # a build without CUDA
    DeviceArray = None


_OF_GRAPHS = ("Class", "FrameError", "Pipeline", "Result")


def _missing(name, error):
    """A class in the place of one of graphs where these cannot be loaded: making one says what is needed. So `help(contorno)`,
    `hasattr` and `from contorno import *` work everywhere."""
    needs = f"contorno.{name} needs contorno._pipeline, which cannot be loaded here: {error}"

    def __init__(self, *_, **__):
        raise ImportError(needs)

    return type(name, (RuntimeError if name == "FrameError" else object,),
                {"__init__": __init__, "__doc__": needs, "__module__": "contorno"})


def __getattr__(name):
    # Their module is loaded when the first is made.
    if name in _OF_GRAPHS:
        try:
            from . import _pipeline_api
        except ImportError as error:
            return _missing(name, error)
        return getattr(_pipeline_api, name)
    if name in _ON_CONTOURS:  # of a library that was loaded
        return _ON_CONTOURS[name]
    from ._options import did_you_mean
    near = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module 'contorno' has no attribute '{name}'{near}")


def __dir__():
    return sorted({*globals(), *_ON_CONTOURS, *_OF_GRAPHS})


# `open` is left out: a star import would hide Python's own.
__all__ = ["Class", "ContourArrays", "DeviceArray", "FrameError", "MeanShift", "Pipeline", "Result", "Tracker", "apply", "backends", "blackhat",
           "close", "close_by_reconstruction", "diamond_square", "dilate", "element", "erode", "estimate_bandwidth", "find_contours",
           "find_contours_batch", "find_segments", "fourier", "fourier_points", "gradient", "hit_or_miss", "load", "mean_shift", "mean_shift_filter",
           "mean_shift_segment", "mipmaps", "open_by_reconstruction", "pen_up_length", "reconstruct", "stages", "to_shapely", "tophat",
           *_ON_CONTOURS]
