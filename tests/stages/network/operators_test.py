"""Operators in all their forms and opsets: what the list of the engine calls right is compared with ONNX Runtime, and what it
calls wrong is refused before a frame, with the node and the remedy."""
import pathlib
import re
import sys

import numpy as np
import pytest
from tests.modules import need_modules
from tests.plugins.python.package import contorno

onnx = pytest.importorskip("onnx", reason="needs python3-onnx")
need_modules("dnn", whole_file=True)
from tests.stages.network import models  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPSETS = [9, 11, 13, 18, 21]
LIST = (ROOT / "plugins" / "dnn" / "tried.cpp").read_text()
IMAGE = np.random.default_rng(7).standard_normal((3, models.HEIGHT, models.WIDTH)).astype(np.float32)
# Wrong in silence, by the specification of what was tried: form, opset.
SILENT = [("Softmax", 9), ("Softmax", 12), ("LogSoftmax", 9), ("LogSoftmax", 13), ("Resize(linear,half_pixel,fraction):1.3", 11),
          ("Resize(linear,half_pixel,fraction)", 13), ("ReduceMean", 18), ("ReduceMax", 18), ("QuantizeLinear", 13),
          ("Resize(nearest,half_pixel,round_prefer_floor,sizes)", 13), ("AveragePool(counted)", 13), ("Conv(same_lower)", 13)]
# Refused by OpenCV, some with an exception in the middle of a run.
LOUD = [("Cast", 13), ("Clip(constant)", 11), ("Clip(constant)", 17), ("Min(constant)", 13), ("Max(constant)", 13), ("LayerNormalization", 17),
        ("GroupNormalization", 21), ("Gelu", 20), ("Einsum", 13), ("GridSample", 16), ("Resize(cubic,half_pixel,whole)", 13), ("Upsample(linear)", 9),
        ("Resize(linear,asymmetric,whole)", 10), ("Shape", 13), ("DequantizeLinear", 13), ("InstanceNormalization", 13), ("Split", 13)]


@pytest.fixture(scope="module")
def runtime():
    """ONNX Runtime, from the build folder, or as it is installed."""
    folder = ROOT / "build" / "onnxruntime"
    if folder.exists():
        sys.path.append(str(folder))
    found = pytest.importorskip("onnxruntime", reason="needs ONNX Runtime (tools/setup test)")
    found.set_default_logger_severity(4)
    return found


def saved(folder, model):
    """In a file of its own: what a process has read it keeps."""
    path = folder / f"net{len(list(folder.iterdir()))}.onnx"
    onnx.save(model, str(path))
    return path


def maps_of(path):
    return contorno.apply("network", IMAGE, layout="CHW", backend="cpu", threads=1, model=str(path), scale=1.0, output_="logits")


def named(name):
    """"Resize(linear,sizes):odd" is the operator Resize in the form "linear,sizes"."""
    op, form = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?(?::.*)?", name).groups()
    return op, form or ""


@pytest.mark.parametrize("opset", OPSETS)
def test_what_the_list_calls_right_is_what_onnx_runtime_computes_and_all_else_is_refused(opset, runtime, tmp_path):
    tried, farthest = 0, 0.0
    for name, model in models.all_models(opset):
        path = saved(tmp_path, model)
        try:
            got = maps_of(path)
        except ValueError as error:
            assert re.search(r"node '[^']+' \(|the weight", str(error)) and "; " in str(error), (name, str(error))
            continue
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        expected = session.run(None, {"image": IMAGE[None]})[0][0]
        off = float(np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected))))
        assert off < 1e-5, (name, opset, off)
        tried, farthest = tried + 1, max(farthest, off)
    assert tried > 60
    print(f"opset {opset}: {tried} models right, at most {farthest:.1e} off")


@pytest.mark.parametrize("name, opset", SILENT + LOUD, ids=lambda value: str(value))
def test_models_that_go_wrong_are_refused_before_a_frame(name, opset, tmp_path):
    model = dict(models.all_models(opset))[name]
    with pytest.raises(ValueError, match="model '.*net0.onnx': .*; ") as refused:
        maps_of(saved(tmp_path, model))
    said = str(refused.value)
    assert "self-test" not in said
    if name == "Cast":
        assert "the weight 'w' has 16 bits, allowed are 32; export the model as float32" in said
    else:
        assert re.search(rf"node 'node' \((Quantize|{named(name)[0].removeprefix('Dequantize')})", said) and "with opencv " in said


def test_every_form_that_the_list_calls_right_is_tried():
    right = set(re.findall(r'right\("(\w+)"(?:, "([^"]*)")?', LIST.split("kTried[]")[1]))
    assert right - {named(name) for name, *_ in models.FORMS} == set()
