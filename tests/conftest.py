"""What the end-to-end tests share: the program, data made by script, real data when it is there."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import typing

import numpy as np
import pytest

# GStreamer brings libunwind, whose functions would take the place of those by which C++ unwinds exceptions in all that is loaded
# after it. Those that were made visible first win.
ctypes.CDLL("libgcc_s.so.1", mode=ctypes.RTLD_GLOBAL)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("CONTORNO_BIN", str(ROOT / "build" / "release" / "bin" / "contorno"))
LIBRARY = pathlib.Path(PROGRAM).parent.parent / "lib" / "libcontorno.so"
DATA = pathlib.Path(os.environ.get("CONTORNO_DATA", ROOT.parent / "shared" / "data"))


def run_contorno(*arguments, check=True, env=None, **kwargs):
    """Runs the program; returns the completed process with text output."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **(env or {})}, **kwargs)
    if check:
        assert done.returncode == 0, done.stderr + done.stdout
    return done


class MeasuredRun(typing.NamedTuple):
    """What one run of the program left: exit code (-9 when it was killed), both streams in one text, largest resident memory,
    seconds of the processor, which do not depend on who else computes."""
    code: int
    text: str
    peak_bytes: int
    processor_seconds: float


# The kernel counts what the parent holds at the start into a program's largest memory, and a test process holds a gigabyte.
# So a process of a few megabytes starts the program.
START_AND_MEASURE = """
import resource, subprocess, sys
started = subprocess.Popen(sys.argv[3:], close_fds=False)
try:
    code = started.wait(float(sys.argv[2]) or None)
except subprocess.TimeoutExpired:
    started.kill()
    code = started.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as measured:
    print(code, used.ru_maxrss, used.ru_utime + used.ru_stime, file=measured)
"""


def measured_command(command, measured, most_seconds=0):
    """`command` for a process that writes its exit code, its largest memory in KiB and its seconds of the processor into the
    file `measured`; a limit of 0 seconds is none. Who kills the process finds the file missing."""
    return [sys.executable, "-S", "-c", START_AND_MEASURE, str(measured), str(most_seconds), *map(str, command)]


def run_measured(*arguments, cwd, most_seconds=300, env=None):
    """Runs the program with a limit of time; its streams, code and memory come back."""
    measured = pathlib.Path(cwd) / ".measured"
    done = subprocess.run(measured_command([PROGRAM, *arguments], measured, most_seconds), cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
    code, kibibytes, seconds = measured.read_text().split()
    measured.unlink()
    return MeasuredRun(int(code), done.stdout.decode(errors="replace"), int(kibibytes) * 1024, float(seconds))


def pytest_configure(config):
    config.addinivalue_line("markers", "timing: says something of an idle machine alone (tools/test timing)")
    config.addinivalue_line("markers", "packages: needs root, mirrors and minutes (tools/test packages)")


def pytest_collection_modifyitems(config, items):
    """What is marked runs when it is asked for: `-m timing`, `-m packages`."""
    left_out = [item for item in items for name in ("timing", "packages")
                if item.get_closest_marker(name) and name not in config.option.markexpr]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture
def contorno():
    return run_contorno


@pytest.fixture
def real_data():
    """The folder of recorded data; tests that need it are skipped, and counted, without it."""
    if not DATA.is_dir():
        pytest.skip("needs recorded videos, fruit and maps, which are not in the repository (CONTORNO_DATA names their folder)")
    return DATA


def blobs(height, width, classes, frame, blobs_per_class=6, seed=1):
    """Softmax-like maps of moving Gaussian blobs, H x W x C float32."""
    random = np.random.default_rng(seed)
    rows, cols = np.mgrid[0:height, 0:width].astype(np.float64)
    logits = np.zeros((height, width, classes))
    for one in range(classes):
        for _ in range(blobs_per_class):
            row, col = random.uniform(0, height), (random.uniform(0, width) + 2 * frame) % width
            size = random.uniform(4, 14)
            logits[..., one] += 6 * np.exp(-((rows - row) ** 2 + (cols - col) ** 2) / (2 * size ** 2))
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    return (weights / weights.sum(axis=2, keepdims=True)).astype(np.float32)


@pytest.fixture
def dataset(tmp_path):
    """A folder of 6 frames' maps (95 x 160 x 8, float32) without pictures."""
    folder = tmp_path / "dataset"
    (folder / "maps").mkdir(parents=True)
    for frame in range(6):
        np.save(folder / "maps" / f"{frame:05}.npy", blobs(95, 160, 8, frame))
    return folder


def read_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def classes_yaml(count, level=0.5):
    return "\n".join(f"  - {{name: class{one}, level: {level}, colour: \"#ff00{16 * one:02x}\"}}" for one in range(count))


JSONL = "  - {type: jsonl, path: contours.jsonl}\n"
GEOJSON = "  - {type: geojson, path: contours.geojson}\n"


def maps_graph(classes, sinks=JSONL, pipeline=None, layout="hwc", level=0.5):
    """A graph from the maps in the folder `maps`, of so many classes, to contours. `sinks` are whole lines, `pipeline` is what
    stands between the braces of that section."""
    section = f"pipeline: {{{pipeline}}}\n" if pipeline else ""
    return (f"{section}source: {{type: dataset, location: maps, layout: {layout}}}\nclasses:\n{classes_yaml(classes, level)}\n"
            f"stages:\n  - type: marching_squares\n  - type: contour_assembly\nsinks:\n{sinks}")


@pytest.fixture
def small(tmp_path):
    """The maps of three small frames of two classes, and a graph of them."""
    (tmp_path / "maps").mkdir()
    for frame in range(3):
        np.save(tmp_path / "maps" / f"{frame}.npy", blobs(24, 40, 2, frame))
    (tmp_path / "graph.yaml").write_text(maps_graph(2, pipeline="backend: cpu, threads: 1, slots: 2"))
    return tmp_path
