"""Options that many functions have, and what the functions say of arguments that they do not take."""
import difflib
import functools
import inspect

from . import _core
from ._arrays import stream_handle

_LAYOUTS = {"CHW": True, "HWC": False}


def did_you_mean(word, known):
    """" (did you mean 'near'?)", or nothing where no name of `known` is near."""
    word, known = str(word), sorted(known)
    near = difflib.get_close_matches(word, known, 1) or [name for name in known if name.startswith(word)]
    return f" (did you mean '{near[0]}'?)" if near else ""


def with_fix(error, arguments):
    """A ValueError that names the way out, where a type of samples was refused."""
    sentence = str(error)
    refused, _, allowed = sentence.partition(", allowed ")
    for array in (one for argument in arguments for one in (argument if isinstance(argument, list) else [argument])):
        name = str(getattr(array, "dtype", "")).rpartition(".")[2]  # PyTorch says torch.float64
        if name and name in refused:
            if "float32" in allowed:
                return ValueError(f"{sentence}; convert it: image.astype('float32')")
            if name.startswith(("float", "bfloat")) and "uint8" in allowed:
                return ValueError(f"{sentence}; samples from 0 to 1 are converted by (image * 255).round().astype('uint8')")
    return error


def called(function, *arguments):
    """What `function` of the compiled part returns."""
    try:
        return function(*arguments)
    except ValueError as error:
        raise with_fix(error, arguments) from None


def is_planar(layout):
    try:
        return _LAYOUTS[layout]
    except (KeyError, TypeError):
        raise ValueError(f"layout is {layout!r}, allowed 'CHW' or 'HWC'") from None


def decide(backend, output, stream, *arrays):
    """'cpu' or 'cuda': where the arrays lie, unless the caller says otherwise."""
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
    return "cuda" if output == "device" or any(map(_core.is_on_device, arrays)) else "cpu"


def refuse_unknown(function, given, known):
    """Throws TypeError, as Python does, for the first of `given` that is not among `known`."""
    for name in given:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{did_you_mean(name, known)}")


def suggesting(function):
    """`function`, which says what was probably meant when it is called with an option that it does not have."""
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return function  # it looks at its options itself
    known = frozenset(one.name for one in parameters)

    @functools.wraps(function)
    def checked(*args, **options):
        if not known.issuperset(options):
            refuse_unknown(function.__name__, options, known)
        return function(*args, **options)

    return checked
