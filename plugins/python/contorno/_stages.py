"""The stages as functions on arrays and contours: any stage by name, and what makes named functions of them. Their options,
defaults and what they say of them come from the catalogue."""
import functools
import inspect
import os
import textwrap

import numpy as np

from . import _contours, _core
from ._options import called, decide, is_planar, refuse_unknown

_PLACE = """backend : {'auto', 'cpu', 'cuda'}
    'auto': where the input lies. 'cuda' uploads what is on the host, 'cpu' downloads what is on the GPU. The bits are the same.
threads : int, optional
    Of the CPU backend. Default: by the size of the input. Results do not depend on it.
output : {'host', 'device'}
    'device': results are `DeviceArray`, which stay on the GPU; with an image on the GPU nothing is copied.
stream : optional
    CUDA stream for the work: a PyTorch or CuPy stream, or a handle. Default: the current stream of the input's package.
    The result is complete when the call returns."""
_WHERE = """layout : {'HWC', 'CHW'}
    Where a third axis is: colours of a picture behind, planes (class maps) in front.
""" + _PLACE
_PLACE_DEFAULTS = {"backend": "auto", "threads": None, "output": "host", "stream": None}
_WHERE_DEFAULTS = {"layout": "HWC", **_PLACE_DEFAULTS}
_OF_CONTOURS = """size : (int, int), optional
    (width, height) of the map that the contours are of, in px. Default: the smallest square with a power of two on each side
    that has all points.
"""


@functools.lru_cache(None)
def _catalogue():
    return _core.stages()


@functools.lru_cache(None)
def _declared(stage):
    """The parameters of a stage by their names."""
    return {param["name"]: param for param in _catalogue()[stage]["params"]}


def _default(stage, name):
    """The default of a parameter as a value of Python; words that are numbers, as those of connectivity, are numbers."""
    if _declared(stage)[name]["required"]:
        return inspect.Parameter.empty
    text, kind = _declared(stage)[name]["default"], _declared(stage)[name]["kind"]
    if kind == "list of numbers":
        return tuple(float(number) for number in text.strip("[]").split(",") if number)
    if kind == "mask":
        return text or None
    if kind == "flag":
        return text == "true"
    return float(text) if kind == "number" else int(text) if text.isdigit() else text


_AS_DECLARED = {"choice": str, "flag": lambda value: bool(value) if value in (True, False) else value}  # by kind


class _Stage(dict):
    """What the catalogue says of a stage: a dict that is short to look at."""

    def __repr__(self):
        ports = " -> ".join(", ".join(name for name, *_ in self[side]) or "nothing" for side in ("inputs", "outputs"))
        return f"<stage {self['name']}: {ports}; {', '.join(one['name'] for one in self['params']) or 'no parameters'}>"


class _Stages(dict):
    def __repr__(self):
        return "\n".join(f"{name}: {stage['summary']}" for name, stage in self.items())


def stages():
    """The catalogue: ``{name: {'name', 'summary', 'inputs', 'outputs', 'params', 'parts', 'example', 'cuda'}}``; a line a stage."""
    return _Stages((name, _Stage(stage)) for name, stage in _catalogue().items())


_KINDS = {"flag": "bool", "integer": "int", "number": "float"}


def _described(param, signature):
    """What the catalogue says of a parameter, in the words of a docstring."""
    kind, sentence, own = _KINDS.get(param["kind"], param["kind"]), param["sentence"], signature.parameters.get(param["name"])
    if param["kind"] == "choice":
        words = param["allowed"].removeprefix("one of ").split(", ")
        kind = "{" + ", ".join(word if word.isdigit() else repr(word) for word in words) + "}"
    elif kind != "bool":
        sentence += f" Allowed: {param['allowed']}."
    default = param["default"] if own is None else "" if own.default is own.empty else repr(own.default)
    head = f"{param['name']} : {kind}" + (f", default {default}" if default else "")
    return head + "\n" + textwrap.fill(sentence, 120, initial_indent="    ", subsequent_indent="    ")


def _documented(stage, params, text):
    """Puts what the catalogue says of `params` in place of {params}, and the common options in place of {where} or {place}."""
    def decorate(function):
        signature = inspect.signature(function)
        lines = [_described(param, signature) for name, param in (_declared(stage) if stage else {}).items() if name in params]
        whole = text
        for name, block in (("{params}", "\n".join(lines)), ("{where}", _WHERE), ("{place}", _PLACE)):
            whole = whole.replace(name, block)
        function.__doc__ = whole.strip() + "\n"
        return function

    return decorate


def _of_stage(stage, options, text, late=(), where_defaults=_WHERE_DEFAULTS, positional=False):
    """Makes ``function(..., params, where)`` a function that has, as keywords after its own, the `options` of the stage, where it
    runs (`where_defaults`), and the `late` options; it gets what of them was given, and all of where it runs, as dicts. `text` is
    what _documented takes. `positional`: the options may be given without their names."""
    def decorate(function):
        own = [one for one in inspect.signature(function).parameters.values() if one.name not in ("params", "where")]
        defaults = {name: _default(stage, name) for name in (*options, *late)}
        keywords = {**{name: defaults[name] for name in options}, **where_defaults, **{name: defaults[name] for name in late}}
        kinds = dict.fromkeys(options, inspect.Parameter.POSITIONAL_OR_KEYWORD) if positional else {}
        signature = inspect.Signature(own + [inspect.Parameter(name, kinds.get(name, inspect.Parameter.KEYWORD_ONLY), default=default)
                                             for name, default in keywords.items()])
        known = frozenset(signature.parameters)
        needed = [name for name, default in defaults.items() if default is inspect.Parameter.empty]
        taken_as = {name: _AS_DECLARED.get(_declared(stage)[name]["kind"], lambda value: value) for name in defaults}

        @functools.wraps(function)
        def with_options(*args, **given):
            if not known.issuperset(given):
                refuse_unknown(function.__name__, given, known)
            if positional and len(args) > len(own):
                given = signature.bind(*args, **given).arguments
                args = [given.pop(one.name) for one in own]
            if missing := [name for name in needed if name not in given]:
                raise TypeError(f"{function.__name__}() needs {missing[0]}=: {_declared(stage)[missing[0]]['allowed']}")
            params, where, others = {}, where_defaults.copy(), {}
            for name, value in given.items():
                if name in taken_as:
                    params[name] = taken_as[name](value)
                else:
                    (where if name in where else others)[name] = value
            return function(*args, params=params, where=where, **others)

        with_options.__signature__ = signature
        return _documented(stage, tuple(defaults), text)(with_options)

    return decorate


def _where(images, layout, backend, threads, output, stream):
    """The last arguments of the compiled functions on images."""
    return is_planar(layout), decide(backend, output, stream, *images), threads, output == "device", stream


def _run(stage, images, params, layout="HWC", **where):
    """The outputs of a stage, wherever its images lie and its results are wanted."""
    return called(_core.apply, stage, list(images), params, *_where(images, layout, **where))


def _refuse_unknown_border(stage, params):
    """Points do not say where the border of their map is: without its size nothing would be closed, in silence."""
    steps = params.get("steps", ())
    names = [step.get("type") if isinstance(step, dict) else step for step in steps if isinstance(steps, (list, tuple))]
    if "close_at_border" in (stage, *names):
        raise TypeError("close_at_border needs size=: (width, height) of the map that the contours are of")


def _run_on_contours(stage, contours, params, maps=None, size=None, backend="auto", threads=None, output="host", stream=None,
                     sequence=None):
    if size is None and maps is None:
        _refuse_unknown_border(stage, params)
    place = decide(backend, output, stream, *_contours.arrays_with_points(contours), *([] if maps is None else [maps]))
    if (backend, place) == ("auto", "cuda") and not called(_core.runs_on_cuda, stage, params):
        place = "cpu"  # as in a graph, whose stages run where all of them can
    return called(_contours.run, stage, params, contours, maps, size, place, threads, output == "device", stream, sequence)


@_documented(None, (), """
Apply any stage of the catalogue (see `stages`) to images, or to contours; parameters as in YAML.

Parameters
----------
stage : str
    Name of the stage.
*inputs : (H, W), (H, W, C) or (C, H, W) arrays
    As many as the stage has inputs; of a stage on contours, what `largest_first` takes.
{where}
**params
    Of the stage. One that has the name of an option above takes an underscore: ``output_="float32"``.

Returns
-------
array, or tuple of arrays when the stage has several outputs; of mipmap chains a list of levels; contours as they were given

Examples
--------
>>> small = contorno.apply("preprocess", picture, size=[640, 0])
""")
def apply(stage, *inputs, layout="HWC", backend="auto", threads=None, output="host", stream=None, **params):
    params = {name[:-1] if name.endswith("_") else name: value for name, value in params.items()}
    where = {"backend": backend, "threads": threads, "output": output, "stream": stream}
    if stage in ON_CONTOURS and len(inputs) == len(_catalogue()[stage]["inputs"]):
        return ON_CONTOURS[stage](*inputs, **where, **params)
    outputs = _run(stage, inputs, params, layout=layout, **where)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@_of_stage("mipmap", ("filter", "width", "stop", "sizes", "edge", "linear_light", "premultiplied", "high_precision"), """
An image and ever smaller copies of it, each made from the one before.

Parameters
----------
image : (H, W), (H, W, C) or (C, H, W) array of uint8, uint16 or float32
{params}
{where}

Returns
-------
list of arrays
    The first is the image itself, or its copy where results are wanted elsewhere. Rows may have gaps between them; levels share
    their memory.
""")
def mipmaps(image, *, params, where):
    return called(_core.mipmaps, image, params, *_where([image], **where))


def _flat(points):
    """x, y of each point, of points as (row, column) in an array; other lists as they are."""
    try:
        array = np.asarray(points, np.float64)
    except (TypeError, ValueError):  # said elsewhere, with what is allowed
        return points
    return array[..., ::-1].ravel().tolist() if array.ndim > 1 and array.shape[-1] == 2 else points


def _on_contours(stage):
    """The function of a stage that takes contours, and perhaps the maps that they are of, and makes contours."""
    takes_maps = len(_catalogue()[stage]["inputs"]) > 1
    of_points = [name for name, param in _declared(stage).items() if param["kind"] == "list of numbers"]

    def function(contours, *, params, where):
        params.update({name: _flat(params[name]) for name in of_points if name in params})
        return _run_on_contours(stage, contours, params, **where)

    def with_maps(contours, maps, *, params, where):
        return _run_on_contours(stage, contours, params, maps=maps, **where)

    if takes_maps:
        function = with_maps
    function.__name__ = function.__qualname__ = stage
    text = "\n".join([_catalogue()[stage]["summary"], "", "Parameters", "----------", _CONTOURS, *([_MAPS] if takes_maps else []), "{params}",
                      ("" if takes_maps else _OF_CONTOURS) + "{place}", "",
                      *(_OF_POINTS if of_points else ()),
                      "Returns", "-------", _CONTOURS_MADE])
    return _of_stage(stage, tuple(_declared(stage)), text, where_defaults=_PLACE_DEFAULTS if takes_maps else {"size": None, **_PLACE_DEFAULTS},
                     positional=True)(function)


_CONTOURS = """contours : list of (n, 2) arrays, or ContourArrays
    Contours of (row, column) in px, of integers or floats, as `find_contours` gives them: one is closed where its last point is
    its first. ``contours[class][contour]``, ``contours[frame][class][contour]`` and ``contours[frame][class][level][contour]``
    are lists of the contours of several classes, frames and levels, which `find_contours_batch` gives; a level of a class is a
    class of its own. Stages compute with points in float32, to which others are rounded."""
_MAPS = """maps : (H, W), (C, H, W) or (F, C, H, W) array
    The maps that the contours were found in, of one class, of several, or of several frames; those of a class serve all its levels."""
_OF_POINTS = ["Lists of x, y may also be arrays of (row, column): (n, 2) of points, (n, 2, 2) of strokes.", ""]
_CONTOURS_MADE = """list, or ContourArrays if they were given or with output='device'
    In the form that was given; ContourArrays where contours have attributes, which lists cannot have. Contours that a stage only
    selects keep their type: a list has the arrays that were given. Points that it computes are float32."""
ON_CONTOURS = {}


def _add_on_contours():
    """Makes the functions of stages on contours that have none yet."""
    for name, stage in _catalogue().items():
        if name not in ON_CONTOURS and [kind for _, kind, _ in stage["outputs"]] == ["contours"] \
                and [kind for _, kind, _ in stage["inputs"]] in (["contours"], ["contours", "image"]):
            ON_CONTOURS[name] = _on_contours(name)


_add_on_contours()
_loaded = []


def loaded_files():
    """The files that were loaded, in their order."""
    return list(_loaded)


def load(path):
    """
    Load a library with stages, sources and sinks of others, which `Pipeline`, `apply` and `stages` then know.

    A stage on contours is a function of the package too: ``contorno.NAME``. The guide "Writing a stage" says how such a library
    is made. It stays loaded: to load it again changes nothing, also when the file has changed. It is code, which can do all
    that this process can.

    Parameters
    ----------
    path : str or path-like
        Of the library, absolute.

    Raises
    ------
    ValueError
        The path is not absolute.
    RuntimeError
        The file is absent, is no extension of contorno, is of another version or compiler, throws, or has a stage, source or
        sink of a name that exists already; nothing of it is known then.

    Examples
    --------
    >>> contorno.load("/opt/ours/own_stage.so")
    >>> steep = contorno.apply("steepen", maps, gain=4, layout="CHW")
    """
    path = os.fspath(path)
    _core.load(path)
    if path not in _loaded:
        _loaded.append(path)
    _catalogue.cache_clear()
    _declared.cache_clear()
    _add_on_contours()


class Tracker:
    """Follows objects through the frames of a sequence, which come one after the other: the same object keeps its id.

    Parameters
    ----------
    **options
        Of `track`: its parameters, and where it runs.

    Examples
    --------
    >>> tracker = contorno.Tracker(max_missed=3)
    >>> for picture in pictures:
    ...     seen = tracker.update(contorno.find_contours(picture, 0.5))
    ...     ids = seen.attributes["id"]
    """

    def __init__(self, **options):
        bound = inspect.signature(ON_CONTOURS["track"]).bind(None, **options).arguments
        bound.pop("contours")
        self._options = bound
        self._sequence = _contours.Sequence(0)

    def update(self, contours, frame=None):
        """The contours of the next frame, with `id` and `age` among their attributes.

        Parameters
        ----------
        contours : list of (n, 2) arrays, or ContourArrays
            What `track` takes. Of several frames the ids say how far they are apart.
        frame : int
            The number of the frame: more than 1 after the one before where frames are missing, which count for `max_missed`. A
            number that is not greater than the last one begins anew, and ids go on. Without it frames are counted from 0.

        Returns
        -------
        ContourArrays
        """
        if frame is not None:
            if not isinstance(frame, (int, np.integer)) or not 0 <= frame < 2**53:
                raise ValueError(f"frame is {frame!r}, allowed integers from 0 to {2**53 - 1}")
            self._sequence.next = int(frame)
        params = {name: value for name, value in self._options.items() if name in _declared("track")}
        where = {name: value for name, value in self._options.items() if name not in params}
        return _run_on_contours("track", contours, params, sequence=self._sequence, **where)

    @property
    def counts(self):
        """How many objects have come and gone: a dict of lists with a number for each class."""
        columns = zip(*self._sequence.core.track_counts())
        return dict(zip(("births", "deaths", "forgotten"), map(list, columns))) or {"births": [], "deaths": [], "forgotten": []}
