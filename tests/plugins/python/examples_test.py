"""The examples of docs/examples that need PyTorch, run as a reader runs them."""
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.plugins.python.package import PACKAGE


def test_maps_of_a_network_are_pushed():
    torch = pytest.importorskip("torch")
    done = subprocess.run([sys.executable, ROOT / "docs" / "examples" / "maps_on_device.py", "--frames", "4", "--trace"],
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, timeout=300)
    assert done.returncode == 0, done.stderr
    first, *trace = done.stdout.splitlines()
    # A ball each, and two round holes and nothing else in the ground.
    assert re.fullmatch(r"4 frames on (cpu|cuda): \{'background': 2, 'red': 1, 'green': 1\}", first)
    if torch.cuda.is_available():
        copied = {way: int(count) for way, count in re.findall("(HtoD|DtoH|DtoD) ([0-9]+)", trace[0])}
        maps = int(re.match("maps: ([0-9]+) bytes a frame", trace[0])[1])
        assert copied["DtoD"] >= maps and copied["HtoD"] < maps and copied["DtoH"] < maps
    else:
        assert not trace
