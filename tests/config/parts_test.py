"""Graphs whose stages wait for each other, and graphs of which a part has nothing to work on."""
import numpy as np
from tests.conftest import blobs

CYCLE = """source: {type: synthetic, frames: 2}
classes: [{name: a, references: "#ff0000"}, {name: rest}]
stages:
  - {type: overlay, name: drawn, from: {frame: source.frame, contours: contour_assembly}}
  - {type: morphology, name: opened, from: drawn}
  - {type: classify, from: opened}
  - {type: marching_squares, from: classify}
  - {type: contour_assembly, from: marching_squares}
sinks: []
"""
PARTS = """source: {type: dataset, location: maps.npy, layout: hwc}
classes: [{name: a}, {name: b}]
stages:
  - {type: preprocess, name: small, from: source.frame, size: [20, 0]}
  - {type: marching_squares, from: source.maps}
  - contour_assembly
  - {type: overlay, name: drawn, from: {frame: small, contours: contour_assembly}}
sinks: [{type: images, name: pictures, path: "{name}.png", from: drawn}, {type: jsonl, path: c.jsonl, from: contour_assembly.contours}]
"""


def test_a_cycle_is_told_by_its_stages_also_where_one_of_them_takes_something_of_the_source_first(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text(CYCLE)
    done = contorno("check", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78
    assert "the stages form a cycle: drawn -> opened -> classify -> contour_assembly -> drawn" in done.stderr


def test_what_needs_frames_is_left_out_with_all_that_takes_it_where_the_source_has_maps_alone(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text(PARTS)
    np.save(tmp_path / "maps.npy", np.stack([blobs(24, 40, 2, frame) for frame in range(2)]))
    done = contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path)
    assert "left out node 'small', node 'drawn', sink 'pictures'" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["c.jsonl"]
