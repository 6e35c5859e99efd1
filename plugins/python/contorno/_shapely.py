"""Contours as geometries of Shapely."""
import numpy as np

from ._batch import ContourArrays
from ._stages import ON_CONTOURS


def to_shapely(contours, holes=False):
    """Contours as geometries of Shapely, with x = column to the right and y = row downwards, in px.

    Parameters
    ----------
    contours : list of (n, 2) arrays, or ContourArrays
        Contours of (row, column), as `find_contours` and `find_contours_batch` give them; lists of lists, of several classes and
        frames, are flattened in their order.
    holes : bool
        False: a geometry for each contour. True: closed contours that lie in others of their frame, class and level become holes
        (see `hierarchy`), a polygon for each outer one; what lies in a hole is a polygon of its own.

    Returns
    -------
    list of shapely.geometry
        Polygons of closed contours with at least three own points; lines of others, points of those with a single one, and empty
        points of those without. Polygons are valid, as Shapely defines it: where a ring touches or crosses itself or another one
        of its polygon, as contours do at samples that equal the level, `shapely.validation.make_valid` mends it: into a
        MultiPolygon of the same region, and a ring without area into lines. Polygons with a NaN stay as they are.

    Raises
    ------
    ImportError
        When Shapely is not installed.
    """
    from shapely import geometry, validation

    def shape(points, interiors=()):
        xy = [np.asarray(ring, np.float64)[:, ::-1] for ring in (points, *interiors)]
        if _is_ring(points):
            polygon = geometry.Polygon(xy[0], xy[1:])
            return polygon if polygon.is_valid or not np.isfinite(xy[0]).all() else validation.make_valid(polygon)
        if len(points) > 1:
            return geometry.LineString(xy[0])
        return geometry.Point(xy[0][0]) if len(points) else geometry.Point()

    if not holes:
        return [shape(one) for one in (contours.get() if isinstance(contours, ContourArrays) else _leaves(contours))]
    nested = ON_CONTOURS["hierarchy"](contours).get()
    depth, parent = (nested.attributes[name].astype(int) for name in ("depth", "parent"))
    # Numbers begin at 0 in every frame.
    parent += np.searchsorted(nested.frame_ids, nested.frame_ids)
    is_ring = np.array([_is_ring(one) for one in nested], bool)
    inside = [[] for _ in range(len(nested))]
    for i in np.flatnonzero((depth % 2 != 0) & is_ring):
        inside[parent[i]].append(nested[i])
    return [shape(nested[i], inside[i]) for i in range(len(nested)) if depth[i] % 2 == 0 or not is_ring[i]]


def _is_ring(points):
    return len(points) > 3 and bool((points[0] == points[-1]).all())


def _leaves(contours):
    for one in contours:
        if isinstance(one, (list, tuple)):
            yield from _leaves(one)
        else:
            yield np.asarray(one)
