"""The stage around an engine: what it hands over and takes back, compared with NumPy; failing frames, checks, and errors."""
import hashlib
import json
import re

import numpy as np
import pytest
from PIL import Image
from tests.conftest import run_contorno
from tests.modules import needs_modules
from tests.plugins.python.package import BUILD, run_python

onnx = pytest.importorskip("onnx", reason="needs python3-onnx")
from onnx import helper  # noqa: E402

from tests.stages.network import models  # noqa: E402

ECHO = BUILD / "tests" / "plugins" / "extension" / "engine.so"
needs_echo = pytest.mark.skipif(not ECHO.exists(), reason="needs the extensions for tests")
needs_dnn = needs_modules("dnn")


def save(path, op="Conv", sides=(1, 3, "h", "w"), out=None, opset=13, kind=onnx.TensorProto.FLOAT):
    """A model of one node; the engine of the tests gives back its input, whatever the node is."""
    channels = sides[1] if isinstance(sides[1], int) else 3
    out = out or (1, channels, *sides[2:])
    weights = [models.constant("w", np.eye(channels).reshape(channels, channels, 1, 1))] if op == "Conv" else []
    attributes = {"kernel_shape": [1, 1]} if op == "Conv" else {}
    node = helper.make_node(op, ["image", *(["w"] if op == "Conv" else [])], ["maps"], name="node", **attributes)
    onnx.save(models.model_of([node], weights, opset, out, sides, kind), str(path))
    return path


def apply_echo(tmp_path, picture, model, **params):
    """What the stage makes with the engine that gives back its input."""
    np.save(tmp_path / "picture.npy", picture)
    text = ", ".join(f"{key}={value!r}" for key, value in params.items())
    run_python(f"""
import numpy as np, contorno
contorno.load({str(ECHO)!r})
maps = contorno.apply("network", np.load({str(tmp_path / "picture.npy")!r}), model={str(model)!r}, engine="plugin", backend="cpu", {text})
np.save({str(tmp_path / "maps.npy")!r}, maps)
""")
    return np.load(tmp_path / "maps.npy")


@needs_echo
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("order", ["rgb", "bgr", "gray"])
@pytest.mark.parametrize("alpha", [False, True])
def test_samples_are_scaled_and_ordered_as_numpy_does_it(tmp_path, layout, order, alpha):
    picture = np.random.default_rng(3).integers(0, 256, (11, 13, 4 if alpha else 3), np.uint8)
    channels = 1 if order == "gray" else 3
    sides = (1, channels, "h", "w") if layout == "nchw" else (1, "h", "w", channels)
    model = tmp_path / "net.onnx"
    node = helper.make_node("Softmax", ["image"], ["maps"], name="node")
    onnx.save(models.model_of([node], [], 13, sides, sides), str(model))
    mean, std = [0.1, 0.2, 0.3][:channels], [0.5, 0.25, 2.0][:channels]
    got = apply_echo(tmp_path, picture, model, layout="HWC", layout_=layout, order=order, mean=mean, std=std, scale=1 / 200, output_="logits")
    colours = picture[..., :3].astype(np.float32)
    if order == "gray":
        weights = np.float32([0.299, 0.587, 0.114])
        colours = (weights[0] * colours[..., 0] + weights[1] * colours[..., 1] + weights[2] * colours[..., 2])[..., None]
    if order == "bgr":
        colours = colours[..., ::-1]
    expected = ((colours.astype(np.float64) * (1 / 200) - mean) / std).astype(np.float32)
    assert np.array_equal(np.moveaxis(got, 0, -1) if got.shape[0] == channels and got.ndim == 3 else got.reshape(expected.shape), expected)


def graph_of(tmp_path, model, stage="", source="synthetic, frame_size: [30, 22], maps_size: [30, 22], classes: 3, frames: 3", classes=3, more=""):
    names = ", ".join(f"{{name: c{k}, level: 0.4}}" for k in range(classes))
    path = tmp_path / "graph.yaml"
    path.write_text(f"pipeline: {{backend: cpu, threads: 1}}\nsource: {{type: {source}}}\nclasses: [{names}]\n"
                    f"stages: [{{type: network, model: {model.name}{stage}}}, marching_squares, contour_assembly]\n"
                    f"sinks: [{{type: jsonl, path: out.jsonl}}]\n{more}")
    return path


@needs_dnn
def test_padding_is_numpys_reflection_and_is_cropped_again(tmp_path):
    """A convolution of 9 x 9 sees the padding: maps of a frame of 30 x 22 with multiple 16 are the corner of those of the frame that
    NumPy has padded to 32 x 32."""
    nodes = [helper.make_node("Conv", ["image", "w"], ["maps"], name="node", kernel_shape=[9, 9], pads=[4, 4, 4, 4])]
    model = tmp_path / "net.onnx"
    onnx.save(models.model_of(nodes, [models.constant("w", models.weights(3, 3, 9, 9, scale=0.1))], 13, (1, 3, "h", "w"), (1, 3, "h", "w")), str(model))
    picture = np.random.default_rng(1).random((22, 30, 3), np.float32)
    np.savez(tmp_path / "pictures.npz", small=picture, large=np.pad(picture, ((0, 10), (0, 2), (0, 0)), mode="reflect"),
             huge=np.pad(picture, ((0, 106), (0, 98), (0, 0)), mode="reflect"))
    run_python(f"""
import numpy as np, contorno
pictures = np.load({str(tmp_path / "pictures.npz")!r})
def maps(name, **params):
    return contorno.apply("network", pictures[name], layout="HWC", model={str(model)!r}, backend="cpu", threads=1, output_="logits", **params)
def chw(array):
    return array if array.shape[0] == 3 else np.moveaxis(array, -1, 0)
small, large, huge = chw(maps("small", multiple=16)), chw(maps("large")), chw(maps("huge"))
assert small.shape == (3, 22, 30)
assert np.array_equal(small, large[:, :22, :30])
assert np.array_equal(chw(maps("small", size=[128, 128])), huge[:, :22, :30])
""")


@needs_dnn
def test_an_activation_of_contornos_is_the_softmax_of_the_logits(tmp_path):
    logits = tmp_path / "logits.onnx"
    onnx.save(models.model_of([helper.make_node("Conv", ["image", "w"], ["maps"], name="node", kernel_shape=[1, 1])],
                              [models.constant("w", models.weights(3, 3, 1, 1, scale=4))], 13), str(logits))
    run_python(f"""
import numpy as np, contorno
picture = np.random.default_rng(1).random((3, 12, 16), np.float32)
def maps(**params):
    return contorno.apply("network", picture, layout="CHW", model={str(logits)!r}, backend="cpu", output_="logits", **params).astype(np.float64)
raw = maps()
weights = np.exp(raw - raw.max(axis=0))
assert np.abs(maps(activation="softmax") - weights / weights.sum(axis=0)).max() < 1e-7
assert np.abs(maps(activation="sigmoid") - 1 / (1 + np.exp(-raw))).max() < 1e-7
assert np.array_equal(maps(activation="softmax", threads=2), maps(activation="softmax", threads=1))
""")


@needs_echo
def test_a_frame_that_the_engine_cannot_compute_has_failed_and_ten_in_a_row_end_the_run(tmp_path):
    model = save(tmp_path / "net.onnx")
    frames = np.full((14, 8, 9, 3), 100, np.uint8)
    frames[[2, 5], 0, 0, 0] = 255  # the engine refuses an input whose first number is 1
    maps = np.full((14, 8, 9, 3), 0.2, np.float32)
    for part in ("frames", "maps"):
        (tmp_path / "data" / part).mkdir(parents=True)
    for number in range(14):
        Image.fromarray(frames[number]).save(tmp_path / "data" / "frames" / f"{number:03}.png")
        np.save(tmp_path / "data" / "maps" / f"{number:03}.npy", maps[number])
    graph = graph_of(tmp_path, model, ", engine: plugin", "dataset, location: data, layout: hwc")
    done = run_contorno("--load", ECHO, "run", graph, "--output", tmp_path, "--report", "report.json", check=False)
    report = json.loads((tmp_path / "report.json").read_text())
    assert done.returncode == 3 and [one["frame"] for one in report["failures"]] == [2, 5]
    assert "the first number is 1" in report["failures"][0]["reason"] and report["frames"]["out"] == 12
    assert report["networks"][0]["engine"] == "echo" and report["networks"][0]["version"] == "7"
    frames[4:, 0, 0, 0] = 255
    for number in range(14):
        Image.fromarray(frames[number]).save(tmp_path / "data" / "frames" / f"{number:03}.png")
    done = run_contorno("--load", ECHO, "run", graph, "--output", tmp_path, check=False)
    assert done.returncode == 69 and "10 frames in a row have failed, the last one: the first number is 1" in done.stderr


@needs_dnn
@pytest.mark.parametrize("off, tolerance, passes", [(0, 1e-5, True), (0.01, 1e-5, False), (0.01, 0.1, True)])
def test_a_check_beside_the_model_decides(tmp_path, off, tolerance, passes):
    model = save(tmp_path / "net.onnx", sides=(1, 3, 22, 30))
    x = np.random.default_rng(2).random((1, 3, 22, 30), np.float32)
    np.savez(tmp_path / "net.check.npz", input=x, output=x + np.float32(off), tolerance=np.float32([tolerance]))
    done = run_contorno("run", graph_of(tmp_path, model), "--output", tmp_path, check=False)
    assert (done.returncode == 0) == passes, done.stderr
    if not passes:
        assert done.returncode == 78 and "self-test" in done.stderr and "allowed is a difference of" in done.stderr


WRONG = {
    "absent": (lambda path: path.unlink(), "", 66, "there is no such file"),
    "no model": (lambda path: path.write_bytes(b"hello, I am no model at all"), "", 78, "it is damaged, or no ONNX file"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-20]), "", 78, "it is damaged, or no ONNX file: it ends within a field"),
    "opset": (lambda path: save(path, opset=8), "", 78, "its opset is 8, tried with opencv .* are 9 to 21; export it with opset_version=17"),
    "unknown": (lambda path: save(path, op="Det"), "", 78, r"node 'node' \(Det\): an operator of this form, in opset 13, is not among"),
    "three sides": (lambda path: save(path, op="Relu", sides=(3, "h", "w"), out=(3, "h", "w")), "", 78, "has 3 sides, allowed are 4"),
    "batch": (lambda path: save(path, op="Relu", sides=(2, 3, "h", "w"), out=(2, 3, "h", "w")), "", 78, "takes 2 images at a time, allowed is one"),
    "bytes": (lambda path: save(path, op="Relu", kind=onnx.TensorProto.UINT8), "", 78, "its input 'image' is uint8, allowed is float32"),
    "channels": (lambda path: save(path, sides=(1, 1, "h", "w")), "", 78, "with 1 channels, while order makes 3; set order, or layout"),
    "size": (lambda path: save(path, sides=(1, 3, 24, 32)), "", 78, "the model takes 1x3x24x32 .nchw., while the image.*set size to"),
    "not probabilities": (lambda path: save(path, op="Neg"), "", 78, "probabilities are from 0 to 1; is its output logits"),
    "activation": (lambda path: None, ", activation: softmax", 78, "activation is given, while output is probabilities"),
    "both": (lambda path: None, ", size: [30, 22], multiple: 2", 78, "size and multiple are both given"),
    "one number": (lambda path: None, ", size: [30]", 78, "size has 1 number"),
    "means": (lambda path: None, ", mean: [1, 2]", 78, "mean has 2 numbers, allowed is one, or one for each of the 3 channels"),
    "std": (lambda path: None, ", std: 0", 78, "std has 0, allowed are numbers above 0"),
    "no engine": (lambda path: None, ", engine: plugin", 69, "no file with an engine was loaded; name one with --load"),
}


@needs_dnn
@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_before_a_frame(tmp_path, what):
    spoil, stage, code, said = WRONG[what]
    model = save(tmp_path / "net.onnx")
    spoil(model)
    done = run_contorno("run", graph_of(tmp_path, model, stage), "--output", tmp_path, check=False)
    assert done.returncode == code, done.stderr
    assert re.search(said, done.stderr), done.stderr
    assert not (tmp_path / "out.jsonl").exists() or (tmp_path / "out.jsonl").stat().st_size == 0
    assert "graph.yaml:4:" in done.stderr  # the place in the graph


@needs_dnn
def test_maps_and_classes_are_as_many(tmp_path):
    done = run_contorno("run", graph_of(tmp_path, save(tmp_path / "net.onnx"), classes=2), "--output", tmp_path, check=False)
    assert done.returncode == 78 and "it makes 3 maps, while the graph has 2 classes" in done.stderr


@needs_dnn
def test_the_report_names_model_engine_and_hash(tmp_path):
    model = save(tmp_path / "net.onnx")
    done = run_contorno("run", graph_of(tmp_path, model), "--output", tmp_path, "--report", "report.json")
    (network,) = json.loads((tmp_path / "report.json").read_text())["networks"]
    assert network["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest() and network["engine"] == "opencv"
    assert network["model"] == str(model) and "network   " in done.stdout
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


def test_an_engine_of_another_version_or_a_second_one_is_refused(tmp_path):
    folder = ECHO.parent
    if not (folder / "old_engine.so").exists():
        pytest.skip("needs the extensions for tests")
    done = run_contorno("--load", folder / "old_engine.so", "stages", check=False)
    assert done.returncode == 69 and "its engine is of version 0, needed is 1" in done.stderr
    done = run_contorno("--load", ECHO, "--load", folder / "second_engine.so", "stages", check=False)
    assert done.returncode == 69 and "it has an engine, and so has" in done.stderr
