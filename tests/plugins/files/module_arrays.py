"""What the tests of arrays share that a module reads (HDF5 files, Zarr stores): a graph over an array, and a stack of maps."""
import json

import numpy as np
import pytest

from tests.conftest import blobs

GRAPH = """
classes: [{{name: a}}, {{name: b, level: 0.4}}]
source: {{type: dataset, location: "{location}", layout: {layout}}}
stages: [marching_squares, contour_assembly]
sinks: [{{type: jsonl, path: out.jsonl}}]
"""
FRAMES = 5


def run(contorno, folder, location, layout="hwc", check=True):
    """What ran, and the classes of each frame that was written."""
    (folder / "graph.yaml").write_text(GRAPH.format(location=location, layout=layout))
    done = contorno("run", "graph.yaml", "--quiet", cwd=folder, check=check)
    out = folder / "out.jsonl"
    return done, [json.loads(line)["classes"] for line in out.read_text().splitlines()] if out.exists() else []


@pytest.fixture
def stack(tmp_path):
    """FRAMES x 30 x 41 x 2, which maps.npy has as well."""
    maps = np.stack([blobs(30, 41, 2, frame) for frame in range(FRAMES)])
    np.save(tmp_path / "maps.npy", maps)
    return maps
