"""find_contours and find_segments, one image at a time."""
from . import _core
from ._options import suggesting

_find = _core.find_contours
_segments = _core.find_segments


@suggesting
def find_contours(image, level=None, fully_connected="low", positive_orientation="low", *, mask=None, backend="auto",
                  threads=None):
    """Find the contours of a 2D array at a level, as `skimage.measure.find_contours` does, bit for bit.

    Marching squares with linear interpolation: the same points, in the same order, in the same contours, from the same
    starting points. One documented exception: the default level of integer images does not wrap around.

    Parameters
    ----------
    image : (H, W) array of bool, integers or floats
        Samples; H and W from 2 to 65536. Anything with the buffer protocol, ``__array_interface__`` or DLPack, and
        ``__cuda_array_interface__`` for arrays on the GPU. float16, float32, float64, uint8, uint16 and bool are read
        in place, other types are converted to float64. NaN samples are left out, with the cells around them.
    level : float, optional
        Value of the contours, in the image's units. Default: half-way between the smallest and the largest sample.
    fully_connected : {'low', 'high'}
        Which samples are joined over a corner where two high and two low ones meet crosswise.
    positive_orientation : {'low', 'high'}
        Which side contours turn around counter-clockwise: 'low' has low samples on the left.
    mask : (H, W) array of bool, optional
        False: the sample is not used, nor are the cells around it.
    backend : {'auto', 'cpu', 'cuda'}
        'auto': where the image lies. 'cuda' uploads an image on the host, 'cpu' downloads one on the GPU.
    threads : int, optional
        Of the CPU backend. Default: by the size of the image. Results do not depend on it.

    Returns
    -------
    list of (n, 2) float64 arrays
        Contours of (row, column) in px, sample centres at integers. A closed contour repeats its first point as the
        last.

    Raises
    ------
    ValueError
        Wrong shape or option.
    TypeError
        Not an array of numbers; a mask that is not boolean.
    RuntimeError
        A backend that cannot run here, or a process that was forked from one that used it.

    Notes
    -----
    The GIL is released; any number of threads may call at the same time. Ctrl-C ends a long call.

    Examples
    --------
    >>> import numpy as np, contorno
    >>> image = np.zeros((3, 3)); image[0, 0] = 1
    >>> contorno.find_contours(image, 0.5)
    [array([[0. , 0.5],
           [0.5, 0. ]])]
    """
    return _find(image, level, fully_connected, positive_orientation, mask, backend, threads)


@suggesting
def find_segments(image, level=None, fully_connected="low", positive_orientation="low", *, mask=None, threads=None):
    """Find the segments of a 2D array at a level: marching squares, before contours are assembled of them.

    What `find_contours` takes, and the same bits: its contours are these segments, joined where they end at one point. The
    work is done on the CPU; an image on the GPU is downloaded.

    Parameters
    ----------
    image : (H, W) array of bool, integers or floats
        As that of `find_contours`.
    level : float, optional
        Value of the contours, in the image's units. Default: half-way between the smallest and the largest sample.
    fully_connected : {'low', 'high'}
        Which samples are joined over a corner where two high and two low ones meet crosswise.
    positive_orientation : {'low', 'high'}
        On which side of a segment the high samples are: with 'low' on its right, seen from its first point.
    mask : (H, W) array of bool, optional
        False: the sample is not used, nor are the cells around it.
    threads : int, optional
        Default: by the size of the image. Results do not depend on it.

    Returns
    -------
    segments : (n, 2, 2) array of float64
        Segments from point to point, each (row, column) in px, sample centres at integers; of the cells in raster order.
    cells : (n, 2) array of int32
        Row and column of each segment's cell, which are those of its upper left sample. A cell has up to two segments.

    Raises
    ------
    ValueError
        Wrong shape or option.
    TypeError
        Not an array of numbers; a mask that is not boolean.

    Examples
    --------
    >>> import numpy as np, contorno
    >>> image = np.zeros((3, 3)); image[0, 0] = 1
    >>> segments, cells = contorno.find_segments(image, 0.5)
    >>> segments
    array([[[0. , 0.5],
            [0.5, 0. ]]])
    >>> cells
    array([[0, 0]], dtype=int32)
    """
    return _segments(image, level, fully_connected, positive_orientation, mask, threads)
