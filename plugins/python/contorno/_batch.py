"""find_contours_batch, and its flat result."""
import numpy as np

from . import _core
from ._options import decide, is_planar, suggesting

_DTYPES = {np.dtype(np.float64): False, np.dtype(np.float32): True}


class ContourArrays:
    """Contours of many planes in flat arrays; contour i has points ``points[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    points : (n, 2) array of float64 or float32
        (row, column) in px of all contours one after the other; sample centres at integers.
    offsets : (m + 1,) array of int64
        Where each contour begins.
    closed : (m,) array of bool
        A closed contour repeats its first point as the last.
    class_ids, frame_ids, level_ids : (m,) arrays of int32
        Plane, frame and level (its place in the list) of each contour; contours are in the order of frames, then planes,
        then levels, then scikit-image's.
    attributes : dict of (m,) arrays of float64
        What else is known of each contour, by name, such as its area: see `measure`. Empty at first.
    """

    __slots__ = ("points", "offsets", "closed", "class_ids", "frame_ids", "level_ids", "attributes")

    def __init__(self, points, offsets, closed, class_ids, frame_ids, level_ids, attributes=None):
        self.points, self.offsets, self.closed = points, offsets, closed
        self.class_ids, self.frame_ids, self.level_ids = class_ids, frame_ids, level_ids
        self.attributes = attributes or {}

    @property
    def on_device(self):
        """Whether the arrays are `DeviceArray`, in the memory of a GPU."""
        return not isinstance(self.points, np.ndarray)

    def get(self):
        """The same on the host."""
        if not self.on_device:
            return self
        points, offsets, *others = (getattr(self, name).get() for name in self.__slots__[:-1])
        return ContourArrays(points, offsets.astype(np.int64), *others, {name: array.get() for name, array in self.attributes.items()})

    def table(self):
        """A dict of columns, an entry a contour: frame, class, level, closed, points, and the attributes. `pandas.DataFrame` and
        others take it as it is."""
        one = self.get()
        return {"frame": one.frame_ids, "class": one.class_ids, "level": one.level_ids, "closed": one.closed,
                "points": np.diff(one.offsets), **one.attributes}

    def __len__(self):
        return len(self.closed)

    def __getitem__(self, index):
        """The points of contour `index`, a view. On the host only."""
        if self.on_device:
            raise TypeError("contours on the device cannot be indexed; use get(), or the arrays")
        index = range(len(self))[index]
        if isinstance(index, range):
            return [self[i] for i in index]
        return self.points[self.offsets[index]:self.offsets[index + 1]]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<ContourArrays: {len(self)} contours, {len(self.points)} points ({self.points.dtype})" \
               f"{', on the device' if self.on_device else ''}>"


@suggesting
def find_contours_batch(maps, levels, *, layout="CHW", dtype=np.float64, flat=False, fully_connected="low",
                        positive_orientation="low", mask=None, divisor=1.0, min_points=0, backend="auto", threads=None,
                        output="host", stream=None):
    """Find the contours of many planes, levels and frames in one call; each equal to `find_contours` of its plane.

    Parameters
    ----------
    maps : array of bool, integers or floats
        (H, W) one plane; (C, H, W) or (H, W, C) planes, such as the class maps of a network; (N, C, H, W) or (N, H, W, C)
        frames of planes. Read in place as in `find_contours`.
    levels : float, sequence of float, or (C, L) or (1, L) array of float
        In units of samples / divisor. One level; of (H, W) maps a sequence of any length, in any order (the CPU reads the
        map once for all of them); of C planes a sequence of one level for each, or L levels for each.
    layout : {'CHW', 'HWC'}
        Where the axis of planes is.
    dtype : float64 or float32
        Of the points; computed in float64, rounded once.
    flat : bool
        False: lists of contours, in a list for each leading axis of `maps`, and in one more where a plane has a sequence of
        levels: ``result[frame][plane][level][contour]``, of an (H, W) map ``result[level][contour]``. True: `ContourArrays`, all contours in flat arrays, without a copy.
    fully_connected, positive_orientation, backend, threads
        As in `find_contours`.
    mask : (H, W) array of bool, optional
        For all planes.
    divisor : float
        What uint8 and uint16 samples are divided by: 255 for probabilities stored in uint8. 1 for other types.
    min_points : int
        Contours with fewer points are left out.
    output : {'host', 'device'}
        'device': `ContourArrays` of `DeviceArray`, which stay on the GPU; offsets and ids are int32 there. CuPy and PyTorch
        read them without a copy (``torch.from_dlpack``, ``cupy.from_dlpack``, ``cupy.asarray``).
    stream : optional
        CUDA stream for the work: a PyTorch or CuPy stream, or a handle. Default: the current stream of the array's
        package, else the one in its ``__cuda_array_interface__``. The result is complete when the call returns.

    Returns
    -------
    list, or ContourArrays with `flat` or output='device'

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As in `find_contours`.
    """
    planar, place = is_planar(layout), decide(backend, output, stream, maps)
    try:
        float32 = _DTYPES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"dtype is {dtype!r}, allowed float64 or float32") from None
    if levels is None:
        raise TypeError("levels is None, wanted a number or a list of numbers")
    if not divisor > 0 or divisor == float("inf"):
        raise ValueError(f"divisor is {divisor}, allowed are finite numbers above 0")
    if not 0 <= min_points < 2**32:
        raise ValueError(f"min_points is {min_points}, allowed 0 and more")
    result = _core.find_contours_batch(maps, np.asarray(levels, np.float64), planar, float32, bool(flat), fully_connected,
                                       positive_orientation, mask, divisor, min_points, place, threads,
                                       output == "device", stream)
    return ContourArrays(*result) if flat or output == "device" else result
