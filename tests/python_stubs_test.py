"""The type stubs of the Python package say what the package has: every name, every parameter with its default."""
import ast
import inspect

import pytest

from python_package import PACKAGE, contorno

STUBS = ast.parse((PACKAGE / "contorno" / "__init__.pyi").read_text())
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}


def test_every_public_name_has_a_stub():
    for name in (*contorno.__all__, "open"):
        assert name in FUNCTIONS or name in CLASSES, name
    assert all(hasattr(contorno, name) for name in FUNCTIONS)


def parameters(arguments):
    """(name, default as text or None) of a stub's parameters."""
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    pairs = list(zip(plain, defaults)) + list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    return [(one.arg, None if default is None else ast.unparse(default)) for one, default in pairs]


def compare(stub, function):
    real = {name: one for name, one in inspect.signature(function).parameters.items()
            if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}
    listed = dict(parameters(stub.args))
    open_ended = any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
    assert list(real) == [name for name in listed if name in real], stub.name
    assert open_ended or set(listed) == set(real), stub.name
    for name, one in real.items():
        if one.default is one.empty:
            assert listed[name] is None, f"{stub.name}: {name}"
        elif listed[name] != "...":
            assert ast.literal_eval(listed[name]) == one.default, f"{stub.name}: {name}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_have_the_parameters_of_their_stubs(name):
    compare(FUNCTIONS[name], getattr(contorno, name))


@pytest.mark.parametrize("name", ["ContourArrays", "Pipeline", "Result", "FrameError"])
def test_classes_have_the_methods_of_their_stubs(name):
    if name != "ContourArrays" and not list((PACKAGE / "contorno").glob("_pipeline.*.so")):
        pytest.skip("needs contorno._pipeline")
    for node in CLASSES[name].body:
        if isinstance(node, ast.FunctionDef):
            real = inspect.getattr_static(getattr(contorno, name), node.name)
            if not isinstance(real, property) and node.name not in ("__getitem__", "__exit__"):
                compare(node, real)
