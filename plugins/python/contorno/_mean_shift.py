"""Mean shift of points and of images."""
import collections

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._options import decide, suggesting
from ._stages import _catalogue, _default, _documented, _run


class MeanShift(collections.namedtuple("MeanShift", "points labels modes counts iterations converged backend")):
    """What mean shift found.

    points : (N, d) where each point came to rest; labels : (N,) its cluster, -1: none; modes : (K, d) where the clusters are;
    counts : (K,) how many points they have; iterations : most steps of a point; converged : False when max_iter ended it.
    """

    __slots__ = ()

    def __repr__(self):
        return f"<MeanShift: {len(self.modes)} clusters of {len(self.points)} points, {self.iterations} iterations" \
               f"{'' if self.converged else ', not converged'}, {self.backend}>"


def _points(points):
    points = _core.to_host(points, "points", None)
    if not isinstance(points, (list, tuple)):
        points = to_numpy(points, "points")
    array = np.require(points, np.float64, "C")
    if array.ndim != 2:
        raise ValueError(f"points has {array.ndim} dimensions, wanted 2: (N, d)")
    return array


@suggesting
@_documented(None, (), """
Mean shift: every point climbs the density of all points; points that meet are a cluster.

Parameters
----------
points : (N, d) array of float
    d from 1 to 512; finite values. The climb runs where `backend` says, but the host sorts the points into a tree before
    it and joins what met after it. So points on a GPU come to the host (N d values as they are), the tree goes to the GPU
    (about 1.07 N d values and N int32) and the ends come back (N d values); a value of tree and ends has 4 bytes, or 8
    where `precision` is float64. With output='device' labels, modes and counts go up as well, points do not.
sigma : float
    Standard deviation of the Gaussian, or radius of the other kernels, in the points' units.
cut : float
    Points at cut * sigma or farther have no weight in the Gaussian.
kernel : {'gaussian', 'flat', 'epanechnikov'}
eps : float
    A point rests when its step is shorter than eps * sigma; with stop='frobenius' all do, when the root of the sum of
    the squared steps is below eps.
max_iter : int
    Steps at most.
merge : float
    Ends closer than merge * sigma belong together.
min_size : int
    Smaller clusters are dissolved: label -1.
stop : {'point', 'frobenius'}
precision : {'auto', 'float32', 'float64'}
    Of the climb; 'auto': float32 where it resolves 1e-4 sigma.
{place}

Returns
-------
MeanShift
    With output='device', points, labels, modes and counts are `DeviceArray`.

References
----------
D. Comaniciu, P. Meer, IEEE Trans. Pattern Analysis and Machine Intelligence 24(5), 2002.
""")
def mean_shift(points, sigma, *, cut=3.0, kernel="gaussian", eps=1e-3, max_iter=300, merge=0.5, min_size=1, stop="point",
               precision="auto", backend="auto", threads=None, output="host", stream=None):
    place = decide(backend, output, stream, points)
    if not _core.is_on_device(points):
        points = _points(points)
    return MeanShift(*_core.mean_shift(points, sigma, cut, kernel, eps, max_iter, merge, min_size, stop, precision, place,
                                       threads, output == "device", stream))


@suggesting
def estimate_bandwidth(points, *, rule="mean_neighbour", quantile=0.3, most_samples=5000, threads=None):
    """A sigma for `mean_shift`.

    Parameters
    ----------
    points : (N, d) array of float
    rule : {'mean_neighbour', 'median_neighbour', 'silverman'}
        Mean distance to the (quantile * N)-th neighbour (scikit-learn's rule), its median, or by the standard deviation.
    quantile : float
        From 0 to 1.
    most_samples : int
        Of more points, distances are measured from that many.
    threads : int, optional

    Returns
    -------
    float
        In the points' units.
    """
    return _core.estimate_bandwidth(_points(points), rule, quantile, most_samples, threads)


_WINDOW = ("spatial", "colour", "space", "max_iterations", "eps")


@_documented("mean_shift_filter", _WINDOW, """
Mean shift filter: every pixel takes the colour to which it climbs. Flat inside of regions, sharp along edges.

Parameters
----------
image : (H, W) or (H, W, C) array of uint8
    Grey, RGB or RGBA.
{params}
{place}

Returns
-------
array of the image's shape
""")
def mean_shift_filter(image, spatial, colour, *, backend="auto", threads=None, output="host", stream=None, **options):
    return _run("mean_shift_filter", [image], {"spatial": spatial, "colour": float(colour), **options}, backend=backend,
                threads=threads, output=output, stream=stream)[0]


@_documented("mean_shift_segment", (*_WINDOW, "min_region"), """
Mean shift segmentation: regions of like colour.

Parameters
----------
image : (H, W) or (H, W, C) array of uint8
    Grey, RGB or RGBA; at most 2^24 pixels.
{params}
return_image : bool
    Also the image with every region in its mean colour.
{place}

Returns
-------
labels : (H, W) array of int32
    Number of each pixel's region, by first appearance.
image : array of the image's shape
    With `return_image`.
""")
def mean_shift_segment(image, spatial, colour, min_region=_default("mean_shift_segment", "min_region"), *, return_image=False, backend="auto", threads=None,
                       output="host", stream=None, **options):
    params = {"spatial": spatial, "colour": float(colour), "min_region": min_region, **options}
    outputs = _run("mean_shift_segment", [image], params, backend=backend, threads=threads, output=output, stream=stream)
    named = dict(zip((name for name, *_ in _catalogue()["mean_shift_segment"]["outputs"]), outputs))
    labels, painted = named["labels"], named["image"]
    sides = labels.shape[-2:]
    labels = labels.reshape(sides).astype(np.int32) if isinstance(labels, np.ndarray) else labels._cast("int32", sides)
    return (labels, painted) if return_image else labels
