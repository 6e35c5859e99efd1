"""Contours as arguments and results of stages: lists of arrays, or ContourArrays, as the flat tables that the compiled part takes
frame by frame."""
import numpy as np

from . import _core
from ._arrays import to_numpy
from ._batch import ContourArrays

_MOST_CLASSES, _MOST_POINTS = 65536, 2**31 - 1


def arrays_with_points(contours):
    """All arrays that have points; where they lie is where the work is done."""
    if isinstance(contours, ContourArrays):
        return [contours.points]
    if isinstance(contours, (list, tuple)):
        return [array for one in contours for array in arrays_with_points(one)]
    return [contours]


def run(stage, params, contours, maps, size, place, threads, stay, stream, sequence=None):
    """What a stage that takes and makes contours makes of them, in the form that they have; `maps` of one that takes them as well.
    `sequence`: of a Tracker; without it the frames are a sequence of their own."""
    given = _Flat.of_arrays(contours, stream) if isinstance(contours, ContourArrays) else _Flat.of_lists(contours, stream)
    if place == "cpu":
        given.points = _core.to_host(given.points, "contours.points", stream)
    if maps is not None:
        maps = _Maps(maps, given, place, stream)
        size = maps.size
    made = _Made(given, stage, params, maps, _size(size), place, threads, stream, sequence or Sequence())
    if given.leaves is not None and not stay and not made.attributes:
        return made.lists()
    return made.arrays(stay)


def pen_up_length(contours):
    """How far a pen that draws contours in their order goes between those of a frame, class and level: see `order_nearest`.

    Parameters
    ----------
    contours : list of (n, 2) arrays, or ContourArrays
        Contours of (row, column) in px, as `order_nearest` takes and gives them; points are rounded to float32.

    Returns
    -------
    float
        The sum of the distances from the last point of each contour to the first one of the next, in px, each rounded to a
        multiple of 2**-20. Ways from or to a point that is infinite or NaN do not count.
    """
    given = _Flat.of_arrays(contours, None) if isinstance(contours, ContourArrays) else _Flat.of_lists(contours, None)
    with np.errstate(all="ignore"):
        points = np.require(_core.to_host(given.points, "contours.points", None), np.float32, "CA")
    differs = (np.diff(given.ids, axis=1) != 0).any(axis=0)
    begins = np.concatenate([[0], np.flatnonzero(differs) + 1, [len(given.closed)]])
    return _core.pen_up_length(points, given.offsets, begins)


class Sequence:
    """Frames one after the other, of one call or of several. `next`: the number of the first frame of the next call; None: frames
    are numbered as their ids say."""

    def __init__(self, next=None):
        self.core, self.next = _core.StageSequence(), next

    def numbers(self, ids):
        """Of the frames with these ids, which ascend."""
        if self.next is None:
            return ids
        numbers = [self.next + one - ids[0] for one in ids]
        self.next = numbers[-1] + 1
        return numbers


class _Flat:
    """Contours in order; contour i has points [offsets[i], offsets[i + 1]), and is of frame, class and level ids[:, i].

    `shape`: how many classes and levels there are. Of lists, `arrays` has each contour, and `leaves` the place of each list of
    contours, as ids, with its depth."""

    def __init__(self, points, offsets, closed, ids, shape=None, arrays=None, leaves=None, attributes=None):
        self.points, self.offsets, self.closed, self.ids = points, offsets, closed, ids
        self.attributes = attributes or {}
        self.shape = shape or tuple(int(one.max(initial=0)) + 1 for one in ids[1:])
        self.arrays, self.leaves = arrays, leaves
        classes, levels = self.shape
        if classes * levels > _MOST_CLASSES:
            raise ValueError(f"contours have {classes} classes and {levels} levels, allowed {_MOST_CLASSES} of both together")
        if offsets[-1] > _MOST_POINTS:
            raise ValueError(f"contours have {offsets[-1]} points, allowed {_MOST_POINTS}; use several calls")

    @classmethod
    def of_lists(cls, contours, stream):
        leaves, arrays, counts = [], [], []
        for path, leaf in _leaves(contours, ()):
            name = "contours" + "".join(f"[{place}]" for place in path)
            arrays += [_contour(one, f"{name}[{place}]", stream) for place, one in enumerate(leaf)]
            leaves.append(path)
            counts.append(len(leaf))
        if len(set(map(len, leaves))) > 1:
            raise ValueError("contours has lists of contours beside lists of such lists, wanted one or the other")
        ids = np.array([_ids(path) for path in leaves], np.int64).reshape(-1, 3)
        shape = tuple(int(one) + 1 for one in ids[:, 1:].max(axis=0, initial=0))
        lengths = np.array([len(one) for one in arrays], np.int64)
        points = np.concatenate(arrays) if arrays else np.zeros((0, 2))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        closed = np.zeros(len(arrays), bool)
        long = np.flatnonzero(lengths > 1)
        closed[long] = (points[offsets[long]] == points[offsets[long + 1] - 1]).all(axis=1)
        return cls(points, offsets, closed, np.repeat(ids, counts, axis=0).T, shape, arrays, leaves)

    @classmethod
    def of_arrays(cls, contours, stream):
        def table(name, kinds, count, of=None):
            array = getattr(contours, name) if of is None else of
            array = to_numpy(_core.to_host(array, f"contours.{name}", stream), f"contours.{name}")
            if array.dtype.kind not in kinds:
                raise TypeError(f"contours.{name} has dtype {array.dtype}, allowed are {'bool and ' * ('b' in kinds)}integers")
            if array.ndim != 1 or (count is not None and len(array) != count):
                raise ValueError(f"contours.{name} has shape {array.shape}, wanted ({'n' if count is None else count},)")
            return array

        closed = table("closed", "biu", None) != 0
        offsets = table("offsets", "iu", len(closed) + 1).astype(np.int64)
        ids = np.array([table(name, "iu", len(closed)) for name in ("frame_ids", "class_ids", "level_ids")], np.int64)
        points = contours.points
        if _core.is_on_device(points):
            count = _core.points_on_device(points, stream)
        else:
            points = _checked(to_numpy(points, "contours.points"), "contours.points")
            count = len(points)
        if count != offsets[-1]:
            raise ValueError(f"contours.points has {count} points, and contours.offsets ends at {offsets[-1]}")
        if offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError("contours.offsets does not ascend from 0")
        if ids.min(initial=0) < 0:
            raise ValueError(f"contours have ids of {ids.min()}, allowed 0 and more")
        if (np.lexsort(ids[::-1]) != np.arange(len(closed))).any():
            raise ValueError("contours are not in the order of frames, then classes, then levels")
        if isinstance(points, np.ndarray):  # of points on a device nothing is known here
            ends = np.flatnonzero(closed & (np.diff(offsets) > 0))
            first, last = points[offsets[ends]], points[offsets[ends + 1] - 1]
            wrong = ends[~((first == last) | (first != first) & (last != last)).all(axis=1)]
            if len(wrong):
                raise ValueError(f"contour {wrong[0]} is closed, but its last point is not its first")
        attributes = {name: table(f"attributes[{name!r}]", "biuf", len(closed), of=array)
                      for name, array in contours.attributes.items()}
        return cls(points, offsets, closed, ids, attributes=attributes)


class _Maps:
    """The maps of contours, frame by frame: a plane for each class and level."""

    def __init__(self, maps, given, place, stream):
        self.array = _core.to_host(maps, "maps", stream) if place == "cpu" else maps
        shape = tuple(self.array.shape)
        frames, classes = int(given.ids[0].max(initial=0)) + 1, given.shape[0]
        self.of_frames = len(shape) == 4
        if len(shape) not in (2, 3, 4) or self.of_frames and shape[0] < frames or frames > 1 and not self.of_frames:
            raise ValueError(f"maps has shape {shape}, wanted (H, W), (C, H, W) or, of {frames} frames, ({frames}, C, H, W)")
        planes = 1 if len(shape) == 2 else shape[-3]
        if planes < classes:
            raise ValueError(f"maps has shape {shape} with {planes} classes, and contours have {classes}")
        self.planes, self.levels, self.size = planes, given.shape[1], (int(shape[-1]), int(shape[-2]))
        given.shape = (planes, self.levels)  # the last classes may have no contours

    def of(self, frame):
        maps = self.array[frame] if self.of_frames else self.array
        if self.levels == 1 or len(maps.shape) == 2 and self.planes * self.levels == 1:
            return maps
        maps = to_numpy(_core.to_host(maps, "maps", None), "maps")
        return np.repeat(maps.reshape(self.planes, *maps.shape[-2:]), self.levels, axis=0)


class _Made:
    """What a stage made of contours, frame after frame: as _Flat has them, and as numbers of those that were given where the stage
    selected them, else as points of float32."""

    def __init__(self, given, stage, params, maps, size, place, threads, stream, sequence):
        self.given, self.stream = given, stream
        classes, levels = given.shape
        keys, offsets = given.ids[1] * levels + given.ids[2], given.offsets
        points = given.points
        if not _core.is_on_device(points):
            with np.errstate(all="ignore"):
                points = np.require(points, np.float32, "CA")
        borders = np.flatnonzero(np.diff(given.ids[0], prepend=-1)).tolist() or [0]
        runs, parts, sources, columns = [], [], [], []
        numbers = sequence.numbers([int(given.ids[0][first]) if first < len(keys) else 0 for first in borders])
        for number, first, last in zip(numbers, borders, [*borders[1:], len(keys)]):
            begin = np.searchsorted(keys[first:last], np.arange(classes * levels + 1))
            known = {name: array[first:last] for name, array in given.attributes.items()}
            made, *tables, source, attributes = _core.apply_to_contours(
                stage, params, points, offsets[first], offsets[first:last + 1] - offsets[first], given.closed[first:last], begin, known,
                None if maps is None else maps.of(int(given.ids[0][first]) if last > first else 0), size, place, threads, stream,
                sequence.core, number)
            columns.append(attributes)
            runs.append((int(given.ids[0][first]) if last > first else 0, *tables))
            parts.append(made)
            sources.append(source if source is None else source.astype(np.int64) + first)
        counts = [len(closed) for _, _, closed, _ in runs]
        key = np.concatenate([np.repeat(np.arange(classes * levels), np.diff(begin.astype(np.int64))) for *_, begin in runs])
        self.ids = np.array([np.repeat([frame for frame, *_ in runs], counts), *np.divmod(key, levels)])
        self.closed = np.concatenate([closed for _, _, closed, _ in runs]) != 0
        self.offsets = np.cumsum(np.concatenate([[0], *(np.diff(offsets.astype(np.int64)) for _, offsets, *_ in runs)]))
        self.sources = None if sources[0] is None else np.concatenate(sources)
        self.attributes = {name: np.concatenate([one[name] for one in columns]) for name in columns[0]}
        self.parts = parts

    def points(self):
        """All of them; those that were selected as they were given."""
        given = self.given
        if self.sources is None:
            return np.concatenate([one if isinstance(one, np.ndarray) else one.get() for one in self.parts]) \
                if len(self.parts) > 1 else self.parts[0]
        begin = given.offsets[self.sources]
        if _core.is_on_device(given.points):
            return _core.gather_on_device(given.points, begin, self.offsets, self.stream)
        shift = np.repeat(begin - self.offsets[:-1], np.diff(self.offsets))
        return given.points[shift + np.arange(self.offsets[-1])]

    def lists(self):
        """Lists of contours, nested as they were given; contours that were selected are the given arrays themselves."""
        given = self.given
        if self.sources is None:
            points = self.points()
            contours = _core.contour_list(points if isinstance(points, np.ndarray) else points.get(), self.offsets)
        else:
            contours = [given.arrays[source] for source in self.sources.tolist()]
        if given.leaves == [()]:
            return contours
        by_place = {_ids(path): [] for path in given.leaves}
        for place, contour in zip(zip(*self.ids.tolist()), contours):
            by_place[place].append(contour)
        return _nested(given.leaves, by_place)

    def arrays(self, stay):
        points = self.points()
        frames, classes, levels = self.ids.astype(np.int32)
        if not stay:
            return ContourArrays(points if isinstance(points, np.ndarray) else points.get(), self.offsets, self.closed, classes, frames,
                                 levels, self.attributes)
        like = self.given.points if _core.is_on_device(self.given.points) else None
        arrays = (points, self.offsets.astype(np.int32), self.closed, classes, frames, levels, *self.attributes.values())
        arrays = [_core.to_device(one, like, self.stream) if isinstance(one, np.ndarray) else one for one in arrays]
        return ContourArrays(*arrays[:6], dict(zip(self.attributes, arrays[6:])))


def _leaves(contours, path):
    """The lists of contours in lists, each with its place."""
    if not isinstance(contours, (list, tuple)):
        name = "contours" + "".join(f"[{place}]" for place in path)
        raise TypeError(f"{name} is a {type(contours).__name__}, wanted a list of (n, 2) arrays, or ContourArrays")
    if not any(isinstance(one, (list, tuple)) for one in contours):
        yield path, contours
        return
    if len(path) == 3:
        raise ValueError("contours has more than four levels of lists, allowed contours[frame][class][level][contour]")
    for place, one in enumerate(contours):
        yield from _leaves(one, (*path, place))


def _ids(path):
    """Frame, class and level of a list of contours."""
    return {0: (0, 0, 0), 1: (0, *path, 0), 2: (*path, 0), 3: path}[len(path)]


def _nested(paths, by_place):
    nested = []
    for path in paths:
        inner = nested
        for place in path[:-1]:
            if place == len(inner):
                inner.append([])
            inner = inner[place]
        inner.append(by_place[_ids(path)])
    return nested


def _contour(object, name, stream):
    if type(object) is not np.ndarray:
        object = to_numpy(_core.to_host(object, name, stream), name)
    return _checked(object, name)


def _checked(array, name):
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} has dtype {array.dtype}, allowed are integers and floats")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} has shape {array.shape}, wanted (n, 2): row and column of each point")
    return array


def _size(size):
    if size is None:
        return None
    sides = tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(sides) != 2 or not all(isinstance(one, (int, np.integer)) and 1 <= one <= 65536 for one in sides):
        raise ValueError(f"size is {size!r}, allowed (width, height) from 1 to 65536 px")
    return tuple(map(int, sides))
