"""What the package repeats of the stages' declarations is made from them, and every stage reads arrays where they lie."""
import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.plugins.python.package import PACKAGE, contorno

# Functions, the stages whose options they have, and options that have another name there.
OF_STAGES = {"mipmaps": "mipmap", "hit_or_miss": "hit_or_miss", "reconstruct": "reconstruction", "mean_shift_filter": "mean_shift_filter",
             "mean_shift_segment": "mean_shift_segment", "diamond_square": "diamond_square",
             **dict.fromkeys(("erode", "dilate", "open", "close", "tophat", "blackhat", "open_by_reconstruction",
                              "close_by_reconstruction"), "morphology"), **{name: name for name in contorno._ON_CONTOURS}}
RENAMED = {"channels": "fields"}
OTHERWISE = {("diamond_square", "size"), ("diamond_square", "corners"), ("diamond_square", "origin")}  # None, and tuples for lists


def test_the_committed_stubs_are_those_that_are_made():
    folder = ROOT / "plugins" / "python"
    made = subprocess.run([sys.executable, folder / "make_stubs"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert made.returncode == 0, made.stderr
    assert made.stdout == (folder / "contorno" / "__init__.pyi").read_text()


@pytest.mark.parametrize("name", OF_STAGES)
def test_options_have_the_defaults_that_the_stage_declares(name):
    declared = {param["name"]: param["default"] for param in contorno.stages()[OF_STAGES[name]]["params"] if not param["required"]}
    compared = 0
    for option, parameter in inspect.signature(getattr(contorno, name)).parameters.items():
        word = declared.get(RENAMED.get(option, option))
        if word is None or parameter.default is parameter.empty or parameter.default is None or (name, option) in OTHERWISE:
            continue
        default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        assert word == (str(default).lower() if isinstance(default, bool) else f"{default:g}" if isinstance(default, float) else str(default))
        compared += 1
    assert compared > 0 or not declared or name == "mean_shift_filter"


def strided(image):
    """The samples of `image` in arrays of other strides."""
    yield image[::-1].copy()[::-1]
    yield np.repeat(image, 2, axis=0)[::2]
    yield np.pad(image, ((1, 2), (3, 1)) + ((0, 0),) * (image.ndim - 2))[1:-2, 3:-1]
    yield np.asfortranarray(image)


@pytest.mark.parametrize("stage, params", [
    ("preprocess", {"size": [31, 0]}), ("preprocess", {"crop": [3, 2, 40, 30], "colour": "grey"}), ("preprocess", {"output_": "float32"}),
    ("morphology", {"operation": "opening", "element": "ellipse", "size": [7, 5]}), ("hit_or_miss", {}), ("mipmap", {"stop": 4}),
    ("mipmap", {"level": 2, "stop": 4, "filter": "lanczos3"}), ("mean_shift_filter", {"spatial": 3, "colour": 20}),
    ("mean_shift_segment", {"spatial": 3, "colour": 20}), ("reconstruction", {})])
@pytest.mark.parametrize("shape", [(47, 61), (47, 61, 3), (47, 61, 4)])
def test_stages_read_arrays_of_any_strides_in_place(stage, params, shape):
    image = np.random.default_rng(6).integers(0, 256, shape, np.uint8)
    inputs = len(contorno.stages()[stage]["inputs"])

    def call(array):
        before = array.copy()
        results = contorno.apply(stage, *[array] * inputs, **params)
        assert np.array_equal(array, before) and not any(np.shares_memory(array, one) for one in listed(results))
        return listed(results)

    wanted = call(image)
    for view in strided(image):
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(call(view), wanted, strict=True))
    # A second call of the same shape takes the stage that the first has left, and makes new arrays.
    assert all(np.array_equal(a, b) and not np.shares_memory(a, b) for a, b in zip(call(image), wanted, strict=True))


def listed(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def test_elements_of_any_size_have_heights():
    """More than a list of a graph would hold."""
    image = np.random.default_rng(7).integers(0, 256, (40, 50), np.uint8).astype(np.float32)
    heights = np.full((301, 301), -2.5e7)
    assert np.array_equal(contorno.dilate(image, np.ones((301, 301)), heights=heights), np.full(image.shape, image.max() - np.float32(2.5e7)))
