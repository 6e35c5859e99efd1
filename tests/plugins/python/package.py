"""Imports the Python package of the build that is tested, for the tests of this folder and the processes that they start."""
import os
import pathlib
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ.get("CONTORNO_BUILD", pathlib.Path(__file__).resolve().parents[3] / "build" / "release"))
PACKAGE = BUILD / "python"
if not list(PACKAGE.glob("contorno/_core.*.so")):
    pytest.skip("needs contorno's Python package, which is built where pybind11-dev and python3-dev are installed", allow_module_level=True)
sys.path.insert(0, str(PACKAGE))

import contorno  # noqa: E402, F401


def run_python(code, timeout=120):
    """Runs `code` in a process of its own; returns what it printed."""
    # A shell that starts the tests in the background has Ctrl-C ignored, and children inherit that.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
