"""Morphology on arrays, with elements that are arrays as well."""
import inspect

import numpy as np

from . import _core
from ._arrays import to_numpy
from ._options import called, refuse_unknown, suggesting
from ._stages import _decide, _documented, _planar


def _as_bytes(image, name, stream):
    """Booleans as bytes of 0 and 255, and whether they were; other images as they are."""
    if _core.is_on_device(image):
        # The word costs less than an exchange of the tensor; what has no dtype is asked through its interface.
        if not str(getattr(image, "dtype", "bool")).endswith("bool"):
            return image, False
        array = _core.booleans_as_bytes(image, stream)
        return (image, False) if array is None else (array, True)
    array = image if type(image) is np.ndarray else to_numpy(image, name)
    return (array.astype(np.uint8) * np.uint8(255), True) if array.dtype == bool else (image, False)


def _as_booleans(result):
    return result != 0 if isinstance(result, np.ndarray) else result._cast("bool")


@suggesting
def element(shape, size=None, *, diameter=None, radius=None, angle=0.0):
    """A structuring element.

    Parameters
    ----------
    shape : {'rectangle', 'cross', 'ellipse', 'disk', 'diamond', 'octagon', 'line'}
    size : int or (int, int), default 3
        Px: both sides, or (width, height). So of a disk it is the diameter, of a line its length.
    diameter : int, optional
        The same as an int for `size`: ``element("disk", diameter=7)``.
    radius : int, optional
        In place of them: the sides are 2 * radius + 1, as of scikit-image's ``disk(radius)``.
    angle : float
        Of a line, in degrees from the x axis, counter-clockwise.

    Returns
    -------
    (height, width) array of bool
        Any other array can be an element too: what is not 0 belongs to it.
    """
    given = [name for name, value in (("size", size), ("diameter", diameter), ("radius", radius)) if value is not None]
    if len(given) > 1:
        raise TypeError(f"element() takes one of size, diameter and radius; {' and '.join(given)} were given")
    if radius is not None:
        if isinstance(radius, bool) or not isinstance(radius, (int, np.integer)) or radius < 0:
            raise ValueError(f"radius is {radius!r}, allowed 0, 1, 2, ...")
        size = 2 * int(radius) + 1
    elif diameter is not None:
        size = diameter
    return _core.element(shape, [float(side) for side in np.atleast_1d(3 if size is None else size)], float(angle))


def _is_size(given):
    """A whole number, or a pair of them."""
    sides = given if isinstance(given, (tuple, list)) and len(given) == 2 else (given,)
    return all(isinstance(side, (int, np.integer)) and not isinstance(side, (bool, np.bool_)) for side in sides)


def _element(given, name):
    if _is_size(given):
        return element("rectangle", given)
    mask = np.asarray(given)
    if mask.dtype.kind not in "biuf" or mask.ndim == 0:
        raise TypeError(f"{name} is a {type(given).__name__}, wanted an array, the side of a square or (width, height) of a "
                        "rectangle; element('disk', diameter=7) makes an array")
    if mask.ndim != 2:
        raise ValueError(f"{name} has {mask.ndim} dimensions, wanted 2")
    return mask


def _anchor(given):
    """The options of a stage's anchor."""
    return {} if given is None else {"anchor": list(given)}


def _morphology(operation, image, shape, heights, anchor, options, layout, backend, threads, output, stream):
    place, planar = _decide(backend, output, stream, image), _planar(layout)
    options, mask = {"operation": operation, **options}, _element(shape, "element")
    image, boolean = _as_bytes(image, "image", stream)
    if place == "cuda":
        options.update(_anchor(anchor), element="file", file=mask != 0)
        if heights is not None:
            options["heights"] = _element(heights, "heights").astype(float).ravel().tolist()
        result = called(_core.apply, "morphology", [image], options, planar, place, threads, output == "device", stream)[0]
    else:
        result = called(_core.morphology, image, mask, heights, anchor, options, planar, threads, stream)
    return _as_booleans(result) if boolean else result


_MORPHOLOGY = """image : (H, W), (H, W, C) or (C, H, W) array of uint8, uint16, float32 or bool
    Every channel is worked on by itself.
element : (h, w) array, int or (int, int)
    What is not 0 belongs to the structuring element; see `element`. A number: a square of that side; two: a rectangle,
    (width, height).
heights : (h, w) array of float, optional
    Of a non-flat element, in the image's levels.
anchor : (int, int), optional
    Pixel (x, y) of the element that lies on the result's. Default: the middle."""
_EDGES = ("border", "border_value", "alpha")


_DEFAULTS = {"connectivity": 8, "paper_compat": False, "opencv_compat": False}


def _operation(name, operation, summary, extra=()):
    def function(image, element, *, heights=None, anchor=None, border="identity", border_value=0.0, alpha="keep",
                 layout="HWC", backend="auto", threads=None, output="host", stream=None, **others):
        options = {"border": border, "border_value": border_value, "alpha": alpha}
        if not known.issuperset(others):
            refuse_unknown(name, others, {*signature.parameters, *extra} - {"others"})
        for key, value in others.items():
            options[key] = str(value) if key == "connectivity" else value
        return _morphology(operation, image, element, heights, anchor, options, layout, backend, threads, output, stream)

    function.__name__ = function.__qualname__ = name
    known = frozenset(extra)
    signature = inspect.signature(function)
    named = list(signature.parameters.values())[:-1]
    named += [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[key]) for key in extra]
    function.__signature__ = signature.replace(parameters=named)
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

    Parameters
    ----------
    image, element
        As of `erode`.
    kind : {'beucher', 'internal', 'external'}
    **options
        As of `erode`: heights, anchor, border, border_value, alpha, layout, backend, threads, output, stream.

    Returns
    -------
    array of the image's shape and dtype
    """
    try:
        operation = _gradients[kind]
    except (KeyError, TypeError):
        raise ValueError(f"kind is {kind!r}, allowed 'beucher', 'internal' or 'external'") from None
    return operation(image, element, **options)


@suggesting
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
                backend="auto", threads=None, output="host", stream=None):
    place, planar = _decide(backend, output, stream, image), _planar(layout)
    options = {"border": border, "border_value": border_value, "alpha": alpha}
    hit, miss = _element(hit, "hit"), _element(miss, "miss")
    image, boolean = _as_bytes(image, "image", stream)
    if place == "cuda":
        options.update(_anchor(anchor), hit_file=hit != 0, miss_file=miss != 0)
        result = called(_core.apply, "hit_or_miss", [image], options, planar, place, threads, output == "device", stream)[0]
    else:
        result = called(_core.hit_or_miss, image, hit, miss, anchor, options, planar, threads, stream)
    return _as_booleans(result) if boolean else result


@suggesting
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
def reconstruct(marker, mask, *, method="dilation", connectivity=8, alpha="keep", layout="HWC", backend="auto", threads=None,
                output="host", stream=None):
    place, planar = _decide(backend, output, stream, marker, mask), _planar(layout)
    (marker, boolean), (mask, also) = _as_bytes(marker, "marker", stream), _as_bytes(mask, "mask", stream)
    if boolean != also:
        raise ValueError("marker and mask must have the same dtype; one is bool")
    options = {"method": method, "connectivity": str(connectivity), "alpha": alpha}
    if place == "cuda":
        result = called(_core.apply, "reconstruction", [marker, mask], options, planar, place, threads, output == "device", stream)[0]
    else:
        result = called(_core.reconstruct, marker, mask, options, planar, threads, stream)
    return _as_booleans(result) if boolean else result
