"""A build with CUDA on machines without a driver, with one that is too old, and with one that finds no device: each is told in one
sentence, what asks for CUDA by name ends with 69, and everything else runs on the CPU. The CUDA runtime, which is linked in,
opens libcuda.so.1 by its name, so a few lines of C in that file stand for the driver."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.conftest import PROGRAM, blobs, run_contorno

# The answers of a driver's two functions (cuda.h: CUDA_ERROR_NO_DEVICE is 100) and the sentence that they must lead to. The first
# is a file that is no library.
MACHINES = {
    "no driver": (None, "no NVIDIA driver is installed; install the NVIDIA driver (libcuda.so.1 was not found)"),
    "too old a driver": ((11040, 0), "CUDA driver version is insufficient for CUDA runtime version; this build needs a driver for "
                                     "CUDA {runtime} or later, the one installed is for CUDA 11.4; update the driver"),
    "no device": ((99000, 100), "no CUDA-capable device is detected; the driver (CUDA 99.0) is new enough; check that the device is "
                                "there (nvidia-smi) and not hidden by CUDA_VISIBLE_DEVICES"),
}
SOURCE = "int cuDriverGetVersion(int* version) {{ *version = {}; return 0; }}\nint cuInit(unsigned flags) {{ return {} + 0 * (int)flags; }}\n"
GRAPH = """
source: {type: dataset, location: maps.npy, layout: hwc}
classes: [{name: a, level: 0.3}, {name: b, level: 0.5}]
stages: [contours]
sinks: [{type: jsonl, path: contours.jsonl}]
"""
# Prints what a package does on such a machine: what it reports, contours on the CPU, and the errors of those who ask for CUDA.
USE_PACKAGE = """
import json, sys, numpy as np, contorno
maps = np.load("maps.npy")
def error(function):
    try:
        function()
    except Exception as raised:
        return f"{type(raised).__name__}: {raised}"
print(json.dumps([contorno.backends()["cuda"], len(contorno.find_contours(maps[:, :, 0], 0.3)),
                  [frame.contours.points.tolist() for frame in contorno.Pipeline("graph.yaml", output="out")],
                  contorno.find_contours_batch(maps, [0.3, 0.5], layout="HWC", flat=True, dtype=np.float32).points.tolist(),
                  error(lambda: contorno.find_contours(maps[:, :, 0], 0.3, backend="cuda")),
                  error(lambda: list(contorno.Pipeline("graph.yaml", backend="cuda", output="none")))]))
"""


def machine(kind, folder):
    """The environment of processes that find such a driver first."""
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler (tools/setup)")
    answers, _ = MACHINES[kind]
    folder.mkdir()
    library = folder / "libcuda.so.1"
    if answers is None:
        library.write_bytes(b"")
    else:
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SOURCE.format(*answers), text=True, check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def sentence(kind, runtime):
    return MACHINES[kind][1].format(runtime=f"{runtime.partition('.')[0]}.0")


def runtime_of(program, env=None):
    """The version of the CUDA runtime that is linked in; skips the test for a build without CUDA."""
    report = subprocess.run([program, "doctor", "--json"], env=env, capture_output=True, text=True).stdout
    cuda = json.loads(report)["cuda"]
    if not cuda["built_in"]:
        pytest.skip("needs a build with CUDA")
    return cuda["runtime"]


@pytest.fixture
def folder(tmp_path):
    maps = blobs(40, 60, 2, 0)
    np.save(tmp_path / "maps.npy", maps)
    np.save(tmp_path / "plane.npy", maps[:, :, 0])
    (tmp_path / "graph.yaml").write_text(GRAPH)
    return tmp_path


@pytest.mark.parametrize("kind", MACHINES)
def test_the_program_says_why_and_runs_on_the_cpu(folder, kind):
    env = machine(kind, folder / "driver")
    wanted = sentence(kind, runtime_of(PROGRAM))
    for command in (["run", "graph.yaml", "--backend", "cuda", "--output", "cuda"], ["find-contours", "plane.npy", "--backend", "cuda"]):
        done = run_contorno(*command, check=False, env=env, cwd=folder)
        assert done.returncode == 69 and done.stderr.count("\n") == 1 and wanted in done.stderr, done.stderr
    lines = []
    for backend, variables in (("auto", env), ("cpu", {})):
        run_contorno("run", "graph.yaml", "--backend", backend, "--output", backend, "--quiet", env=variables, cwd=folder)
        lines.append((folder / backend / "contours.jsonl").read_text())
    assert lines[0] == lines[1] and len(lines[0]) > 500


def judge_package(kind, printed, runtime):
    """What USE_PACKAGE printed on such a machine."""
    cuda, count, [frame], batch, *errors = json.loads(printed.splitlines()[-1])
    wanted = sentence(kind, runtime)
    assert not cuda["available"] and f"{cuda['reason']}; {cuda['fix']}" == wanted
    assert errors == [f"RuntimeError: backend cuda was asked for, but {wanted}"] * 2
    assert count > 0 and frame == batch and len(frame) > 20


@pytest.mark.parametrize("kind", MACHINES)
def test_the_python_package_says_why_and_runs_on_the_cpu(folder, kind):
    runtime = runtime_of(PROGRAM)
    package = pathlib.Path(PROGRAM).parent.parent / "python"
    if not list(package.glob("contorno/_core*.so")):
        pytest.skip("this build has no package for Python")
    done = subprocess.run([sys.executable, "-c", USE_PACKAGE], cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(package), **machine(kind, folder / "driver")})
    assert done.returncode == 0, done.stderr
    judge_package(kind, done.stdout, runtime)
