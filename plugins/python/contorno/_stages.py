"""The image stages as functions on arrays: what they share, any stage by name, and mipmaps. What they say of their options
comes from the catalogue."""
import functools
import inspect
import textwrap

from . import _core
from ._arrays import stream_handle
from ._options import called, suggesting

_LAYOUTS = {"HWC": False, "CHW": True}
_PLACE = """backend : {'auto', 'cpu', 'cuda'}
    'auto': where the image lies. 'cuda' uploads an image on the host, 'cpu' downloads one on the GPU. The bits are the same.
threads : int, optional
    Of the CPU backend. Default: by the size of the image. Results do not depend on it.
output : {'host', 'device'}
    'device': results are `DeviceArray`, which stay on the GPU; with an image on the GPU nothing is copied.
stream : optional
    CUDA stream for the work: a PyTorch or CuPy stream, or a handle. Default: the current stream of the image's package.
    The result is complete when the call returns."""
_WHERE = """layout : {'HWC', 'CHW'}
    Where a third axis is: colours of a picture behind, planes (class maps) in front.
""" + _PLACE


@functools.lru_cache(None)
def _catalogue():
    return _core.stages()


class _Stage(dict):
    """What the catalogue says of a stage: a dict that is short to look at."""

    def __repr__(self):
        ports = " -> ".join(", ".join(name for name, *_ in self[side]) or "nothing" for side in ("inputs", "outputs"))
        return f"<stage {self['name']}: {ports}; {', '.join(one['name'] for one in self['params']) or 'no parameters'}>"


class _Stages(dict):
    def __repr__(self):
        return "\n".join(f"{name}: {stage['summary']}" for name, stage in self.items())


def stages():
    """The catalogue: ``{name: {'name', 'summary', 'inputs', 'outputs', 'params', 'example', 'cuda'}}``; shown as a line a stage."""
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
        lines = [_described(param, signature) for param in (_catalogue()[stage]["params"] if stage else ()) if param["name"] in params]
        whole = text
        for name, block in (("{params}", "\n".join(lines)), ("{where}", _WHERE), ("{place}", _PLACE)):
            whole = whole.replace(name, block)
        function.__doc__ = whole.strip() + "\n"
        return function

    return decorate


def _planar(layout):
    try:
        return _LAYOUTS[layout]
    except (KeyError, TypeError):
        raise ValueError(f"layout is {layout!r}, allowed 'HWC' or 'CHW'") from None


def _decide(backend, output, stream, *images):
    """'cpu' or 'cuda': where the images lie, unless the caller says otherwise."""
    if backend not in ("auto", "cpu", "cuda"):
        raise ValueError(f"backend is {backend!r}, allowed 'auto', 'cpu' or 'cuda'")
    if output not in ("host", "device"):
        raise ValueError(f"output is {output!r}, allowed 'host' or 'device'")
    if output == "device" and backend == "cpu":
        raise ValueError("output='device' needs the backend 'cuda' or 'auto'")
    if stream is not None:
        stream_handle(stream)
    if backend != "auto":
        return backend
    return "cuda" if output == "device" or any(map(_core.is_on_device, images)) else "cpu"


@_documented(None, (), """
Apply any stage of the catalogue (see `stages`) to arrays; parameters as in YAML.

Parameters
----------
stage : str
    Name of the stage.
*images : (H, W), (H, W, C) or (C, H, W) arrays
    As many as the stage has inputs.
{where}
**params
    Of the stage. One that has the name of an option above takes an underscore: ``output_="float32"``.

Returns
-------
array, or tuple of arrays when the stage has several outputs; of mipmap chains a list of levels

Examples
--------
>>> small = contorno.apply("preprocess", picture, size=[640, 0])
""")
def apply(stage, *images, layout="HWC", backend="auto", threads=None, output="host", stream=None, **params):
    params = {name[:-1] if name.endswith("_") else name: value for name, value in params.items()}
    outputs = called(_core.apply, stage, list(images), params, _planar(layout), _decide(backend, output, stream, *images), threads,
                     output == "device", stream)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@suggesting
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
    The first is the image itself, or its copy where results are wanted elsewhere. Rows may have gaps between them; levels share
    their memory.
""")
def mipmaps(image, *, filter="box", width=2, stop=32, sizes="floor", edge="clamp", linear_light=False, premultiplied=False,
            high_precision=False, layout="HWC", backend="auto", threads=None, output="host", stream=None):
    options = {"filter": filter, "width": width, "stop": stop, "sizes": sizes, "edge": edge, "linear_light": bool(linear_light),
               "premultiplied": bool(premultiplied), "high_precision": bool(high_precision)}
    return called(_core.mipmaps, image, options, _planar(layout), _decide(backend, output, stream, image), threads,
                  output == "device", stream)
