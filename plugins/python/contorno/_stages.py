"""The image stages as functions on arrays. What they say of their options comes from the catalogue."""
import collections
import functools

import numpy as np

from . import _core

_LAYOUTS = {"HWC": False, "CHW": True}
_WHERE = """layout : {'HWC', 'CHW'}
    Where a third axis is: colours of a picture behind, planes (class maps) in front.
backend : {'auto', 'cpu', 'cuda'}
    'auto' is the CPU. Arrays on a GPU are read, and results are NumPy arrays.
threads : int, optional
    Of the CPU backend. Default: by the size of the image. Results do not depend on it."""


@functools.lru_cache(None)
def _catalogue():
    return _core.stages()


def stages():
    """The catalogue: ``{name: {'summary', 'inputs', 'outputs', 'params', 'example', 'cuda'}}``."""
    return {name: dict(stage) for name, stage in _catalogue().items()}


def _documented(stage, params, text):
    """Puts what the catalogue says of `params` in place of {params}, and the common options in place of {where}."""
    def decorate(function):
        lines = []
        for param in _catalogue()[stage]["params"]:
            if param["name"] in params:
                lines.append(f"{param['name']} : {param['kind']}, default {param['default'] or 'empty'}\n"
                             f"    {param['sentence']} Allowed: {param['allowed']}.")
        blocks = {"{params}": "\n".join(lines), "{where}": _WHERE}
        for name, block in blocks.items():
            text_lines = text_of[0].split("\n")
            for number, line in enumerate(text_lines):
                if line.strip() == name:
                    indent = line[:len(line) - len(line.lstrip())]
                    text_lines[number] = "\n".join(indent + one if one else one for one in block.split("\n"))
            text_of[0] = "\n".join(text_lines)
        function.__doc__ = text_of[0].strip() + "\n"
        return function

    text_of = [text]
    return decorate


def _planar(layout):
    try:
        return _LAYOUTS[layout]
    except (KeyError, TypeError):
        raise ValueError(f"layout is {layout!r}, allowed 'HWC' or 'CHW'") from None


def _as_bytes(image):
    """Booleans as bytes of 0 and 255, and whether they were."""
    if isinstance(image, np.ndarray) and image.dtype == bool and not isinstance(image, np.ma.MaskedArray):
        return image.astype(np.uint8) * np.uint8(255), True
    return image, False


def apply(stage, *images, layout="HWC", backend="auto", threads=None, **params):
    """Apply any stage of the catalogue (see `stages`) to arrays; parameters as in YAML.

    Returns one array, or a tuple when the stage has several outputs; of mipmap chains a list of levels.

    >>> small = contorno.apply("preprocess", picture, size=[640, 0])
    """
    outputs = _core.apply(stage, list(images), params, _planar(layout), backend, threads)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


# Morphology --------------------------------------------------------------------------------------------------------
def element(shape, size=3, *, angle=0.0):
    """A structuring element.

    Parameters
    ----------
    shape : {'rectangle', 'cross', 'ellipse', 'disk', 'diamond', 'octagon', 'line'}
    size : int or (int, int)
        Px: both sides, or (width, height). Of a line its length.
    angle : float
        Of a line, in degrees from the x axis, counter-clockwise.

    Returns
    -------
    (height, width) array of bool
        Any other array can be an element too: what is not 0 belongs to it.
    """
    return _core.element(shape, [float(side) for side in np.atleast_1d(size)], float(angle))


def _encoded(values):
    rows, columns = values.shape
    return f"{columns} {rows} " + " ".join(map(repr, values.ravel().tolist()))


def _morphology(operation, image, shape, heights, anchor, options, layout, backend, threads):
    image, boolean = _as_bytes(image)
    options = {"operation": operation, **options}
    mask = np.asarray(shape)
    if mask.dtype.kind not in "biuf":
        raise TypeError(f"element is a {type(shape).__name__}, wanted an array; element('disk', 7) makes one")
    if backend == "cuda":
        if heights is not None:
            options["heights"] = np.asarray(heights, float).ravel().tolist()
        if anchor is not None:
            options["anchor"] = list(anchor)
        if mask.ndim != 2:
            raise ValueError(f"element has {mask.ndim} dimensions, wanted 2")
        options.update(element="file", file=_encoded((mask != 0).astype(float)))
        result = _core.apply("morphology", [image], options, _planar(layout), backend, threads)[0]
    else:
        result = _core.morphology(image, mask, heights, anchor, options, _planar(layout), _cpu(backend, threads))
    return result != 0 if boolean else result


def _cpu(backend, threads):
    if backend not in ("auto", "cpu"):
        raise ValueError(f"backend is {backend!r}, allowed 'auto', 'cpu' or 'cuda'")
    return threads


_MORPHOLOGY = """image : (H, W), (H, W, C) or (C, H, W) array of uint8, uint16, float32 or bool
    Every channel is worked on by itself.
element : (h, w) array
    What is not 0 belongs to the structuring element; see `element`.
heights : (h, w) array of float, optional
    Of a non-flat element, in the image's levels.
anchor : (int, int), optional
    Pixel (x, y) of the element that lies on the result's. Default: the middle."""
_EDGES = ("border", "border_value", "alpha")


def _operation(name, operation, summary, extra=()):
    def function(image, element, *, heights=None, anchor=None, border="identity", border_value=0.0, alpha="keep",
                 layout="HWC", backend="auto", threads=None, **others):
        options = {"border": border, "border_value": border_value, "alpha": alpha}
        for key, value in others.items():
            if key not in extra:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            options[key] = str(value) if key == "connectivity" else value
        return _morphology(operation, image, element, heights, anchor, options, layout, backend, threads)

    function.__name__ = function.__qualname__ = name
    text = "\n".join([summary, "", "Parameters", "----------", _MORPHOLOGY, "{params}", "{where}", "", "Returns", "-------",
                      "array of the image's shape and dtype"])
    return _documented("morphology", _EDGES + tuple(extra), text)(function)


erode = _operation("erode", "erosion", "Erosion: the smallest sample under the element (minus heights).", ["paper_compat"])
dilate = _operation("dilate", "dilation", "Dilation: the largest sample under the turned element (plus heights).",
                    ["opencv_compat"])
_open = _operation("open", "opening", "Opening: erosion, then dilation. Takes away what is bright and too small for the element.",
                   ["opencv_compat", "paper_compat"])
_close = _operation("close", "closing", "Closing: dilation, then erosion. Fills what is dark and too small for the element.",
                    ["opencv_compat", "paper_compat"])
tophat = _operation("tophat", "top_hat", "Top-hat: image - opening.", ["opencv_compat", "paper_compat"])
blackhat = _operation("blackhat", "black_hat", "Black-hat: closing - image.", ["opencv_compat", "paper_compat"])
open_by_reconstruction = _operation(
    "open_by_reconstruction", "opening_by_reconstruction",
    "Opening by reconstruction: erosion, then reconstruction under the image; shapes that stay keep their outlines.",
    ["connectivity", "paper_compat"])
close_by_reconstruction = _operation(
    "close_by_reconstruction", "closing_by_reconstruction",
    "Closing by reconstruction: dilation, then reconstruction above the image.", ["connectivity", "opencv_compat"])
_gradients = {kind: _operation("gradient", operation, "") for kind, operation in
              (("beucher", "gradient"), ("internal", "internal_gradient"), ("external", "external_gradient"))}


def gradient(image, element, *, kind="beucher", **options):
    """Gradient: dilation - erosion ('beucher'), image - erosion ('internal') or dilation - image ('external').

    Options as of `erode`.
    """
    try:
        operation = _gradients[kind]
    except (KeyError, TypeError):
        raise ValueError(f"kind is {kind!r}, allowed 'beucher', 'internal' or 'external'") from None
    return operation(image, element, **options)


@_documented("hit_or_miss", _EDGES, """
Hit-or-miss: where `hit` fits the image and `miss` fits its complement.

Parameters
----------
image : (H, W), (H, W, C) or (C, H, W) array of uint8, uint16, float32 or bool
    On bool, or 0 and the type's largest value, the transform of sets.
hit, miss : (h, w) arrays
    What is not 0 must be foreground, or background; they share no pixel.
anchor : (int, int), optional
    Pixel (x, y) of both that lies on the result's. Default: the middle.
{params}
{where}

Returns
-------
array of the image's shape and dtype
""")
def hit_or_miss(image, hit, miss, *, anchor=None, border="identity", border_value=0.0, alpha="keep", layout="HWC",
                backend="auto", threads=None):
    image, boolean = _as_bytes(image)
    options = {"border": border, "border_value": border_value, "alpha": alpha}
    hit, miss = np.asarray(hit), np.asarray(miss)
    if backend == "cuda":
        if anchor is not None:
            options["anchor"] = list(anchor)
        options.update(hit_file=_encoded((hit != 0).astype(float)), miss_file=_encoded((miss != 0).astype(float)))
        result = _core.apply("hit_or_miss", [image], options, _planar(layout), backend, threads)[0]
    else:
        result = _core.hit_or_miss(image, hit, miss, anchor, options, _planar(layout), _cpu(backend, threads))
    return result != 0 if boolean else result


@_documented("reconstruction", ("method", "connectivity", "alpha"), """
Reconstruction: the marker grows under the mask until nothing changes (or shrinks above it).

Parameters
----------
marker, mask : (H, W), (H, W, C) or (C, H, W) arrays of uint8, uint16, float32 or bool
    Of the same shape and dtype.
{params}
{where}

Returns
-------
array of their shape and dtype

References
----------
L. Vincent, IEEE Trans. Image Processing 2(2), 1993.
""")
def reconstruct(marker, mask, *, method="dilation", connectivity=8, alpha="keep", layout="HWC", backend="auto", threads=None):
    (marker, boolean), (mask, _) = _as_bytes(marker), _as_bytes(mask)
    options = {"method": method, "connectivity": str(connectivity), "alpha": alpha}
    if backend == "cuda":
        result = _core.apply("reconstruction", [marker, mask], options, _planar(layout), backend, threads)[0]
    else:
        result = _core.reconstruct(marker, mask, options, _planar(layout), _cpu(backend, threads))
    return result != 0 if boolean else result


# Mipmaps -----------------------------------------------------------------------------------------------------------
@_documented("mipmap", ("filter", "width", "stop", "sizes", "edge", "linear_light", "premultiplied", "high_precision"), """
An image and ever smaller copies of it, each made from the one before.

Parameters
----------
image : (H, W), (H, W, C) or (C, H, W) array of uint8, uint16 or float32
{params}
{where}

Returns
-------
list of arrays
    The first is the image itself.
""")
def mipmaps(image, *, filter="box", width=2, stop=32, sizes="floor", edge="clamp", linear_light=False, premultiplied=False,
            high_precision=False, layout="HWC", backend="auto", threads=None):
    options = {"filter": filter, "width": width, "stop": stop, "sizes": sizes, "edge": edge, "linear_light": bool(linear_light),
               "premultiplied": bool(premultiplied), "high_precision": bool(high_precision)}
    if backend == "cuda":
        levels = _core.apply("mipmap", [image], {**options, "level": -1}, _planar(layout), backend, threads)[0]
        return [image, *levels[1:]] if isinstance(levels, list) else [image]
    return _core.mipmaps(image, options, _planar(layout), _cpu(backend, threads))


# Mean shift --------------------------------------------------------------------------------------------------------
class MeanShift(collections.namedtuple("MeanShift", "points labels modes counts iterations converged backend")):
    """What mean shift found.

    points : (N, d) where each point came to rest; labels : (N,) its cluster, -1: none; modes : (K, d) where the clusters are;
    counts : (K,) how many points they have; iterations : most steps of a point; converged : False when max_iter ended it.
    """

    __slots__ = ()


def _points(points):
    array = np.require(points, np.float64, "C")
    if isinstance(points, np.ma.MaskedArray) or array.ndim != 2:
        raise ValueError(f"points has {array.ndim} dimensions, wanted 2: (N, d)")
    return array


def mean_shift(points, sigma, *, cut=3.0, kernel="gaussian", eps=1e-3, max_iter=300, merge=0.5, min_size=1, stop="point",
               precision="auto", backend="auto", threads=None):
    """Mean shift: every point climbs the density of all points; points that meet are a cluster.

    Parameters
    ----------
    points : (N, d) array of float
        d from 1 to 512; finite values.
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
    backend : {'auto', 'cpu', 'cuda'}
    threads : int, optional

    Returns
    -------
    MeanShift
    """
    return MeanShift(*_core.mean_shift(_points(points), sigma, cut, kernel, eps, max_iter, merge, min_size, stop, precision,
                                       backend, threads))


def estimate_bandwidth(points, *, rule="mean_neighbour", quantile=0.3, most_samples=5000, threads=None):
    """A sigma for `mean_shift`: 'mean_neighbour' (scikit-learn's rule), 'median_neighbour' or 'silverman'."""
    return _core.estimate_bandwidth(_points(points), rule, quantile, most_samples, threads)


_WINDOW = ("spatial", "colour", "space", "max_iterations", "eps")


@_documented("mean_shift_filter", _WINDOW, """
Mean shift filter: every pixel takes the colour to which it climbs. Flat inside of regions, sharp along edges.

Parameters
----------
image : (H, W) or (H, W, C) array of uint8
    Grey, RGB or RGBA.
{params}
backend, threads
    As of `mean_shift`.

Returns
-------
array of the image's shape
""")
def mean_shift_filter(image, spatial, colour, *, backend="auto", threads=None, **options):
    return _core.apply("mean_shift_filter", [image], {"spatial": spatial, "colour": float(colour), **options}, False, backend,
                       threads)[0]


@_documented("mean_shift_segment", (*_WINDOW, "min_region"), """
Mean shift segmentation: regions of like colour.

Parameters
----------
image : (H, W) or (H, W, C) array of uint8
    Grey, RGB or RGBA; at most 2^24 pixels.
{params}
return_image : bool
    Also the image with every region in its mean colour.
backend, threads
    As of `mean_shift`.

Returns
-------
labels : (H, W) array of int32
    Number of each pixel's region, by first appearance.
image : array of the image's shape
    With `return_image`.
""")
def mean_shift_segment(image, spatial, colour, min_region=20, *, return_image=False, backend="auto", threads=None, **options):
    params = {"spatial": spatial, "colour": float(colour), "min_region": min_region, **options}
    outputs = _core.apply("mean_shift_segment", [image], params, False, backend, threads)
    named = dict(zip((name for name, *_ in _catalogue()["mean_shift_segment"]["outputs"]), outputs))
    labels, painted = named["labels"].reshape(tuple(image.shape[:2])).astype(np.int32), named["image"]
    return (labels, painted) if return_image else labels


# Diamond-Square ----------------------------------------------------------------------------------------------------
def diamond_square(n, seed=0, *, size=None, channels=1, dtype=np.uint8, domain="finite", range="paper", roughness=1.0,
                   amplitude=1.0, corners=(), origin=(0, 0), backend="auto", threads=None):
    """A random field of heights that is rough at every scale (Diamond-Square).

    Parameters
    ----------
    n : int
        Corners are 2^n px apart; 1 to 16.
    seed : int
        Which field it is: a cell is a function of seed, row, column and level alone.
    size : (int, int), optional
        Of the array, (width, height). Default: the whole field, 2^n + 1 px a side ('cyclic': 2^n).
    channels : int
        That many independent fields, 1 to 16, in the first axis.
    dtype : uint8, uint16 or float32
        Heights from 0 to the type's largest value, or from 0 to 1.
    domain : {'finite', 'cyclic', 'endless'}
        What lies outside: nothing, the same field again (a texture that tiles), or more of it.
    range : {'paper', 'unbiased'}
        Random numbers and rounding of integer heights; the paper's let them drift downwards.
    roughness : float
        Random numbers shrink by 2^-roughness a level; less is rougher.
    amplitude : float
        Factor of the random numbers.
    corners : sequence of float
        Heights of the corners from 0 to 1: top left, top right, bottom left, bottom right; one if cyclic. Default: random.
    origin : (int, int)
        Cell (x, y) of the field at the array's first sample.
    backend : {'auto', 'cpu', 'cuda'}
    threads : int, optional

    Returns
    -------
    (height, width) or (channels, height, width) array

    References
    ----------
    Fournier, Fussell, Carpenter, Communications of the ACM 25(6), 1982.
    """
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= 16:
        raise ValueError(f"n is {n!r}, allowed 1 to 16")
    for name, value, most in (("roughness", roughness, 3), ("amplitude", amplitude, 8)):
        if not 0 <= value <= most:
            raise ValueError(f"{name} is {value}, allowed 0 to {most}")
    if size is None:
        size = (2**n + (domain != "cyclic"),) * 2
    type_ = np.dtype(dtype)
    if backend == "cuda":
        params = {"size": list(size), "type": type_.name, "fields": channels, "seed": int(seed), "exponent": int(n), "domain": domain,
                  "range": range, "roughness": float(roughness), "amplitude": float(amplitude), "corners": list(corners),
                  "origin": list(origin)}
        field = _core.apply("diamond_square", [], params, False, backend, threads)[0]
        return np.moveaxis(field, -1, 0) if channels > 1 and type_ == np.uint8 else field
    _cpu(backend, threads)
    return _core.diamond_square(int(n), int(seed), tuple(size), channels, type_.kind, type_.itemsize, domain, range, roughness,
                                amplitude, list(corners), tuple(origin), threads)
