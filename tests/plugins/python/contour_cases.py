"""Random contours with exact sizes, in every form that stages take, and largest_first by NumPy's own arithmetic."""
import numpy as np

from tests.plugins.python.package import contorno

ARRAYS = contorno.ContourArrays.__slots__[:-1]  # all but the attributes

NEEDED = {"contour_prep": {"steps": ["drop_small"]}, "close_at_border": {"size": (64, 64)}}
"""The options, by stage, that have no default; the size of a map is no option of the stage."""


def contours(seed, count):
    """Contours along the axes, on quarters of px: lengths and areas are exact in float32, and many are equal. Some are closed, one
    has a single point, one has none."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(count):
        steps = random.integers(-6, 7, (0 if i == 4 else random.integers(1, 20), 2)) / 4
        steps[np.arange(len(steps)), random.integers(0, 2, len(steps))] = 0
        points = np.concatenate([random.integers(0, 200, (1, 2)) / 4, steps]).cumsum(axis=0)
        if i % 3 and len(points) > 3:
            points = np.concatenate([points, [[points[-1, 0], points[0, 1]], points[0]]])
        made.append(points[:0] if i == 7 else points)
    return made


def is_closed(points):
    return len(points) > 1 and bool((points[0] == points[-1]).all())


def size_of(points, by):
    if by == "points":
        return len(points)
    if by == "length":
        return np.hypot(*np.diff(points.astype(float), axis=0).T).sum()
    # By a sum of trapezoids under the contour, in place of a cross product.
    row, col = points.astype(float).T
    return abs((np.diff(col) * (row[1:] + row[:-1])).sum()) / 2 if is_closed(points) else 0


def largest(points, by="area", limit=0):
    """The numbers of the contours that largest_first keeps."""
    order = sorted(range(len(points)), key=lambda i: -size_of(points[i], by))
    return order[:limit or None]


def flat(frames, dtype=np.float64, convert=lambda array: array):
    """ContourArrays of ``frames[frame][class][level]``, lists of contours; `convert` makes the arrays."""
    parts = [(frame, k, level, one) for frame, classes in enumerate(frames) for k, levels in enumerate(classes)
             for level, contours in enumerate(levels) for one in contours]
    ids = np.array([part[:3] for part in parts], np.int32).reshape(-1, 3)
    lengths = [len(part[3]) for part in parts]
    points = np.concatenate([np.zeros((0, 2)), *(part[3] for part in parts)]).astype(dtype)
    arrays = (points, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), np.array([is_closed(part[3]) for part in parts], bool),
              ids[:, 1].copy(), ids[:, 0].copy(), ids[:, 2].copy())
    return contorno.ContourArrays(*map(convert, arrays))


def same_arrays(got, wanted):
    for name in ARRAYS:
        a, b = getattr(got, name), getattr(wanted, name)
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True), name
    assert got.attributes.keys() == wanted.attributes.keys()
    for name, column in got.attributes.items():
        assert column.dtype == np.float64 and np.array_equal(column, wanted.attributes[name], equal_nan=True), name
