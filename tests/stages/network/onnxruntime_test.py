"""The engine onnxruntime: every form of an operator that its list calls right, compared with the reference evaluator of the ONNX
project, and libraries that are absent, too old or something else."""
import json
import pathlib
import re
import subprocess

import numpy as np
import pytest
from tests.conftest import run_contorno
from tests.modules import need_modules
from tests.plugins.python.package import contorno

onnx = pytest.importorskip("onnx", reason="needs python3-onnx")
need_modules("dnn", "onnxruntime", whole_file=True)
reference = pytest.importorskip("onnx.reference", reason="needs python3-onnx 1.13")
from tests.stages.network import models  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = (ROOT / "plugins" / "onnxruntime" / "tried.cpp").read_text().split("kTried[]")[1]
IMAGE = np.random.default_rng(7).standard_normal((3, models.HEIGHT, models.WIDTH)).astype(np.float32)
# What the evaluator lacks or computes otherwise in old opsets means the same as another model.
SAME_AS = {"Upsample(linear)": ("Resize(linear,asymmetric,whole)", 13), "Resize(linear,asymmetric,whole)": ("Resize(linear,asymmetric,whole)", 13),
           "Resize(nearest,asymmetric,whole)": ("Resize(nearest,asymmetric,floor,whole)", 13), "QuantizeLinear": ("QuantizeLinear", 21),
           "DequantizeLinear": ("DequantizeLinear", 21), "BatchNormalization": ("BatchNormalization", 15)}
# What the evaluator computes wrong, in all its versions or in that of Debian 13, and OpenCV right where its list says so.
BY_OPENCV = {"ConvTranspose(grouped)"}
if tuple(int(part) for part in onnx.__version__.split(".")[:2]) < (1, 23):
    BY_OPENCV |= {"Conv(same_upper):strided", "ReduceMean:channels", "ReduceMean(sides_removed)", "ReduceMax"}
NOT_TRIED = "Resize(linear,align_corners,fraction)"


def maps_of(path, engine="onnxruntime"):
    return contorno.apply("network", IMAGE, layout="CHW", backend="cpu", threads=1, model=str(path), scale=1.0, output_="logits", engine=engine)


def softmax_of_all(name, model):
    """Before opset 13, Softmax over axis 1 is one over all sides from there on."""
    first = np.einsum("oi,ihw->ohw", onnx.numpy_helper.to_array(model.graph.initializer[0])[..., 0, 0].astype(np.float64), IMAGE)
    logarithm = first - first.max() - np.log(np.exp(first - first.max()).sum())
    return logarithm if name == "LogSoftmax" else np.exp(logarithm)


def expected_of(name, opset, model, path):
    """None where nobody can tell: the evaluator of Debian 13 fails with Resize, and OpenCV refuses some of its forms."""
    if name in ("Softmax", "LogSoftmax") and opset < 13:
        return softmax_of_all(name, model)
    if name not in BY_OPENCV:
        other, at = SAME_AS.get(name, (name, opset))
        try:
            return reference.ReferenceEvaluator(dict(models.all_models(at))[other]).run(None, {"image": IMAGE[None]})[0][0]
        except (IndexError, ValueError, RuntimeError):
            pass
    try:
        return maps_of(path, "opencv")
    except ValueError:
        return None


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "net.onnx"
    onnx.save(dict(models.all_models(13))["Relu"], str(path))
    try:
        maps_of(path)
    except Exception as error:
        if "install ONNX Runtime" in str(error):
            pytest.skip(f"needs the library of ONNX Runtime: {error}")
        raise


@pytest.mark.parametrize("opset", [9, 10, 11, 13, 18, 21])
def test_every_operator_of_the_list_is_what_the_reference_evaluator_computes(opset, tmp_path):
    tried = 0
    for name, model in models.all_models(opset):
        path = tmp_path / f"net{tried}-{len(list(tmp_path.iterdir()))}.onnx"
        onnx.save(model, str(path))
        if name == NOT_TRIED or name == "Cast":  # weights of 16 bits are refused with every engine
            with pytest.raises(ValueError, match="; "):
                maps_of(path)
            continue
        got, expected = maps_of(path), expected_of(name, opset, model, path)
        if expected is None:
            continue
        off = float(np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected))))
        assert off < 1e-5, (name, opset, off)
        tried += 1
    assert tried > 75


def test_every_form_of_the_list_is_tried():
    right = set(re.findall(r'right\("(\w+)"(?:, "([^"]*)")?', LIST))
    forms = {re.fullmatch(r"(\w+)(?:\(([^)]*)\))?(?::.*)?", name).groups(default="") for name, *_ in models.FORMS}
    assert len(right) > 80 and right - forms == {("Reshape", "computed")}  # it is in the model of Shape


def test_a_graph_runs_and_its_report_names_the_engine(tmp_path):
    onnx.save(dict(models.all_models(13))["Conv"], str(tmp_path / "net.onnx"))
    np.save(tmp_path / "picture.npy", np.random.default_rng(1).integers(0, 256, (12, 16, 3), np.uint8))
    lines = {}
    for engine in ("onnxruntime", "opencv"):
        (tmp_path / "graph.yaml").write_text(f"""
pipeline: {{backend: cpu}}
source: {{type: synthetic, frame_size: [16, 12], maps_size: [16, 12], classes: 3, frames: 3}}
classes: [{{name: a, level: 0.1}}, {{name: b, level: 0.1}}, {{name: c, level: 0.1}}]
stages: [{{type: network, model: net.onnx, engine: {engine}, output: logits}}, contours]
sinks: [{{type: jsonl, path: out.jsonl}}]
""")
        done = run_contorno("run", tmp_path / "graph.yaml", "--quiet", "--output", tmp_path / engine, "--report", tmp_path / "report.json")
        assert done.stderr == ""  # Debian's library says a thousand lines when it makes its first session
        used = json.loads((tmp_path / "report.json").read_text())["networks"][0]
        assert used["engine"] == engine and re.fullmatch(r"\d+\.\d+\.\d+", used["version"])
        frames = [json.loads(line) for line in (tmp_path / engine / "out.jsonl").read_text().splitlines()]
        lines[engine] = [contour["points"] for frame in frames for one in frame["classes"] for contour in one["contours"]]
    assert len(lines["onnxruntime"]) > 3
    for one, other in zip(lines["onnxruntime"], lines["opencv"], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


@pytest.mark.parametrize("source, said", [
    ("int nothing;", "the library of that name has no OrtGetApiBase"),
    ("""static const void* get(unsigned version) { (void)version; return 0; }
        static const char* version(void) { return "1.2.0"; }
        static const struct { const void* (*get)(unsigned); const char* (*version)(void); } base = {get, version};
        const void* OrtGetApiBase(void) { return &base; }""", "version 1.2.0 is installed"),
])
def test_a_library_that_is_none_or_too_old_is_told_in_a_sentence(tmp_path, source, said):
    onnx.save(dict(models.all_models(13))["Relu"], str(tmp_path / "net.onnx"))
    (tmp_path / "fake.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "fake.c", "-o", tmp_path / "libonnxruntime.so.1"], check=True)
    (tmp_path / "graph.yaml").write_text("""
source: {type: synthetic, frames: 1, classes: 3}
classes: [{name: a}, {name: b}, {name: c}]
stages: [{type: network, model: net.onnx, engine: onnxruntime}, contours]
sinks: [{type: jsonl, path: out.jsonl}]
""")
    done = run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "out", check=False, env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 69, done.stderr
    assert re.search(rf"node 'network': engine is onnxruntime, and {re.escape(said)}; install ONNX Runtime 1\.16 or later "
                     r"\(apt-get install libonnxruntime1\.\d+\), or take engine: opencv", done.stderr)
