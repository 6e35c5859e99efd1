"""contorno: exact sub-pixel contours and image stages, for NumPy arrays and for arrays on the GPU."""
from ._core import __version__
from ._backends import backends
from ._batch import ContourArrays, find_contours_batch
from ._find_contours import find_contours

__all__ = ["ContourArrays", "backends", "find_contours", "find_contours_batch"]
