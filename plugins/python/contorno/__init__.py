"""contorno: exact sub-pixel contours and image stages, for NumPy arrays and for arrays on the GPU."""
from ._core import __version__
from ._backends import backends
from ._find_contours import find_contours

__all__ = ["backends", "find_contours"]
