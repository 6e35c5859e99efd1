"""The element `contorno` on a GPU, and frames that lie in its memory: what the program tests/gpu/gst_element.cpp finds."""
import subprocess

import pytest
from tests.conftest import LIBRARY
from tests.plugins.gst.pipelines import ENVIRONMENT, Gst, caps_of, launch

CHECK = LIBRARY.parent.parent / "bin" / "gst_element_gpu"
NOTHING_ANSWERS = 77
ON_DEVICE = "video/x-raw(memory:CUDAMemory)"


def check(*words):
    if not CHECK.exists():
        pytest.skip("needs a build with CUDA (nvcc), which has gst_element_gpu")
    done = subprocess.run([CHECK, "check", *words], capture_output=True, text=True, timeout=300, env=ENVIRONMENT, check=False)
    if done.returncode == NOTHING_ANSWERS:
        pytest.skip("needs a CUDA device: " + done.stdout.strip().removeprefix("SKIPPED: "))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_element_gives_the_contours_of_the_bare_library():
    assert "37 cases, 0 wrong" in check("cpu", "90")


def test_the_element_gives_the_same_pixels_and_contours_on_a_gpu():
    assert ", 0 wrong" in check("cuda", "270")


def test_memory_of_a_device_is_offered_only_where_the_graph_may_run_on_one():
    element = Gst.ElementFactory.make("contorno")
    element.set_property("backend", "cpu")
    pad = element.get_static_pad("sink")
    assert ON_DEVICE in pad.get_pad_template_caps().to_string()
    assert "CUDAMemory" not in pad.query_caps(None).to_string()
    assert "format=(string){ RGBA, RGBx" in pad.query_caps(None).to_string()


def test_frames_of_a_device_that_the_graph_cannot_take_are_refused_before_they_come(tmp_path):
    """Here the backend is the CPU."""
    (tmp_path / "graph.yaml").write_text("classes: [{name: a, references: ['#ff0000']}]\n"
                                         "stages: [classify, marching_squares, contour_assembly]\n")
    caps = caps_of("RGBA", 64, 48).replace("video/x-raw", ON_DEVICE)
    done = launch("fakesrc", "num-buffers=1", "!", caps, "!", "contorno", "backend=cpu", f"config={tmp_path}/graph.yaml", "!", "fakesink")
    assert done.returncode != 0 and "contorno0 can't handle caps" in done.stderr, done.stderr
