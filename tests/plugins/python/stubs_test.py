"""The type stubs of the Python package say what the package has: every name, every parameter with its default."""
import ast
import inspect
import os
import re
import subprocess
import sys

import pytest

from tests.plugins.python.package import PACKAGE, contorno

STUBS = ast.parse((PACKAGE / "contorno" / "__init__.pyi").read_text())
FUNCTIONS = {}  # the definitions of each, several where the result's type depends on the arguments
for node in STUBS.body:
    if isinstance(node, ast.FunctionDef):
        FUNCTIONS.setdefault(node.name, []).append(node)
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
# Protocols are for type checkers alone.
MADE = sorted(name for name, node in CLASSES.items() if "Protocol" not in map(ast.unparse, node.bases))


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
    types = {one.arg: one.annotation for one in (*stub.args.args, *stub.args.kwonlyargs)}
    open_ended = any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())
    assert list(real) == [name for name in listed if name in real], stub.name
    assert open_ended or set(listed) == set(real), stub.name
    for name, one in real.items():
        if one.default is one.empty or ast.unparse(types[name]).startswith("Literal[") and listed[name] is None:
            assert listed[name] is None, f"{stub.name}: {name}"
        elif listed[name] != "...":
            assert ast.literal_eval(listed[name]) == one.default, f"{stub.name}: {name}"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_have_the_parameters_of_their_stubs(name):
    for stub in FUNCTIONS[name]:
        compare(stub, getattr(contorno, name))


@pytest.mark.parametrize("name", MADE)
def test_classes_have_the_methods_and_fields_of_their_stubs(name):
    if name in ("Class", "FrameError", "Pipeline", "Result") and not list((PACKAGE / "contorno").glob("_pipeline.*.so")):
        pytest.skip("needs contorno._pipeline: a build where GStreamer and yaml-cpp are installed")
    real = getattr(contorno, name)
    if real is None:
        pytest.skip("needs a build with CUDA (nvcc)")
    fields = [node.target.id for node in CLASSES[name].body if isinstance(node, ast.AnnAssign)]
    if "NamedTuple" in map(ast.unparse, CLASSES[name].bases):
        assert list(real._fields) == fields
    for node in CLASSES[name].body:
        if isinstance(node, ast.FunctionDef):
            method = inspect.getattr_static(real, node.name)
            if inspect.isfunction(method) and node.name not in ("__getitem__", "__exit__"):
                compare(node, method)


def test_the_stub_of_the_drop_in_has_its_functions():
    import contorno.skimage as drop_in
    stub = ast.parse((PACKAGE / "contorno" / "skimage.pyi").read_text())
    functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert set(functions) == {name for name, one in vars(drop_in).items()
                              if inspect.isfunction(one) and one.__module__ == "contorno.skimage" and not name.startswith("_")}
    for name, node in functions.items():
        compare(node, getattr(drop_in, name))


TYPED = """
import numpy as np
import contorno
maps = np.zeros((3, 20, 30), np.float32)
flat = contorno.find_contours_batch(maps, 0.5, flat=True)
reveal_type(flat)
reveal_type(contorno.find_contours_batch(maps, 0.5))
contours = contorno.find_contours(maps[0], 0.5)
reveal_type(contorno.measure(contours))
reveal_type(contorno.measure_map(contours, maps[0]))
reveal_type(contorno.simplify(contours, tolerance=0.5))
reveal_type(contorno.simplify(flat))
reveal_type(contorno.close_at_border([contours], size=(30, 20)))
reveal_type(contorno.contour_prep(flat, ["drop_small"]))
reveal_type(contorno.contour_prep(contours, ["drop_small", "measure"]))
"""


def test_a_type_checker_sees_the_types_that_come(tmp_path):
    script = tmp_path / "typed.py"
    script.write_text(TYPED)
    checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", script], capture_output=True,
                             text=True, env={**os.environ, "MYPYPATH": str(PACKAGE)}, timeout=300)
    seen = re.findall(r'Revealed type is "(.*)"', checked.stdout)
    assert len(seen) == TYPED.count("reveal_type") and "error:" not in checked.stdout, checked.stdout + checked.stderr
    exec(TYPED.replace("reveal_type(", "made.append("), space := {"made": []})
    for type_, value in zip(seen, space["made"], strict=True):
        assert not re.fullmatch(r"(typing\.)?Any", type_)
        allowed = set(re.findall(r"ContourArrays|builtins\.list", type_.replace("list[numpy", "list")))
        assert {contorno.ContourArrays: "ContourArrays", list: "builtins.list"}[type(value)] in allowed, (type_, value)
    assert len([one for one in seen if one == "contorno.ContourArrays"]) == 5
