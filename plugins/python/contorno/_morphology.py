"""Morphology on arrays, with elements that are arrays as well."""
import numpy as np

from . import _core
from ._arrays import to_numpy
from ._options import suggesting
from ._stages import _of_stage, _run


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


def _mask(given, name):
    """An array of two dimensions."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise TypeError(f"{name} is a {type(given).__name__}, wanted an array, the side of a square or (width, height) of a "
                        "rectangle; element('disk', diameter=7) makes an array")
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, wanted 2")
    if 0 in array.shape or max(array.shape) > 4096:
        raise ValueError(f"{name} has {array.shape[0]} rows and {array.shape[1]} columns, allowed 1 to 4096 each")
    return array


def _element(given, name):
    """Where the members are."""
    mask = element("rectangle", given) if _is_size(given) else _mask(given, name)
    return mask if mask.dtype == bool else mask != 0


def _heights(given, members):
    """Heights as the stage takes them; those beside the members do not matter."""
    heights = np.asarray(given, np.float64)
    if heights.ndim != 2:
        raise ValueError(f"heights has {heights.ndim} dimensions, wanted 2")
    if heights.shape != members.shape:
        raise ValueError("heights must have the shape of the element")
    for y, x in np.argwhere(members & ~np.isfinite(heights))[:1]:
        raise ValueError(f"structuring element: the height {heights[y, x]} at [{x}, {y}] is not a finite number")
    return np.where(members, heights, 0.0).ravel().tolist()


def _applied(stage, images, params, where, anchor=None):
    """The stage's one output; of sets, a set. `images` are by their names."""
    pairs = [_as_bytes(image, name, where["stream"]) for name, image in images.items()]
    if len({boolean for _, boolean in pairs}) > 1:
        raise ValueError(f"{' and '.join(images)} must have the same dtype; one is bool")
    if anchor is not None:
        params["anchor"] = list(anchor)
    result, = _run(stage, [image for image, _ in pairs], params, **where)
    return _as_booleans(result) if pairs[0][1] else result


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


def _operation(name, operation, summary, late=()):
    def function(image, element, *, heights=None, anchor=None, params, where):
        params["operation"] = operation
        if heights is None and _is_size(element):
            params["size"] = [element] if isinstance(element, (int, np.integer)) else element
        else:
            members = _element(element, "element")
            params.update(element="file", file=members)
            if heights is not None:
                params["heights"] = _heights(heights, members)
        return _applied("morphology", {"image": image}, params, where, anchor)

    function.__name__ = function.__qualname__ = name
    text = "\n".join([summary, "", "Parameters", "----------", _MORPHOLOGY, "{params}", "{where}", "", "Returns", "-------",
                      "array of the image's shape and dtype"])
    return _of_stage("morphology", _EDGES, text, late)(function)


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


@_of_stage("hit_or_miss", _EDGES, """
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
def hit_or_miss(image, hit, miss, *, anchor=None, params, where):
    params.update(hit_file=_element(hit, "hit"), miss_file=_element(miss, "miss"))
    return _applied("hit_or_miss", {"image": image}, params, where, anchor)


@_of_stage("reconstruction", ("method", "connectivity", "alpha"), """
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
def reconstruct(marker, mask, *, params, where):
    return _applied("reconstruction", {"marker": marker, "mask": mask}, params, where)
