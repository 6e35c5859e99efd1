"""What contour files call their images, and classes that are left out of them."""
import json

import cv2
import numpy as np
import pytest
from tests.conftest import read_lines

GRAPH = """source: {source}
classes:
  - {{name: background, hidden: true}}
  - {{name: rot}}
stages: {stages}
sinks:
  - {{type: coco, path: coco.json, {more}}}
  - {{type: jsonl, path: contours.jsonl, {more_lines}}}
  - {{type: geojson, path: contours.geojson, {more_lines}}}
"""
FIND = "[marching_squares, contour_assembly]"
CLASSIFY = "[classify, marching_squares, contour_assembly]"


@pytest.fixture
def data(tmp_path):
    for name in ("maps", "frames"):
        (tmp_path / "data" / name).mkdir(parents=True)
    for number in range(2):
        rot = np.zeros((24, 40), np.float32)
        rot[5:18, 8 + number:30] = 1
        rot[9:13, 15:20] = 0  # in which the background has a region of its own
        np.save(tmp_path / "data" / "maps" / f"{number}_probabilities.npy", np.stack([1 - rot, rot], axis=2))
        cv2.imwrite(str(tmp_path / "data" / "frames" / f"{number}_tray.jpg"), np.full((24, 40, 3), 90, np.uint8))
    return tmp_path


def run(contorno, folder, source, stages=FIND, more="open_contours: close", more_lines="coordinates: frame"):
    text = GRAPH.format(source=source, stages=stages, more=more, more_lines=more_lines)
    if stages == CLASSIFY:
        text = text.replace("hidden: true", "hidden: true, references: \"#000000\"").replace("name: rot", "name: rot, references: \"#ffffff\"")
    (folder / "graph.yaml").write_text(text)
    contorno("run", "graph.yaml", "--output", "out", cwd=folder)
    return json.loads((folder / "out" / "coco.json").read_text())


def names(coco):
    return [image["file_name"] for image in coco["images"]]


def test_coco_names_the_pictures_that_were_read(contorno, data):
    assert names(run(contorno, data, "{type: images, location: data/frames}", CLASSIFY)) == ["0_tray.jpg", "1_tray.jpg"]
    # The maps' own names are no pictures.
    assert names(run(contorno, data, "{type: dataset, location: data, layout: hwc}")) == ["0_tray.jpg", "1_tray.jpg"]
    assert [line["name"] for line in read_lines(data / "out" / "contours.jsonl")] == ["0_probabilities.npy", "1_probabilities.npy"]


def test_coco_tells_pictures_of_one_name_apart(contorno, data):
    for folder in ("left/belt", "right/belt"):
        (data / "shots" / folder).mkdir(parents=True)
        cv2.imwrite(str(data / "shots" / folder / "0.png"), np.full((24, 40, 3), 90, np.uint8))
    coco = run(contorno, data, "{type: images, location: \"shots/*/belt/*.png\"}", CLASSIFY)
    assert names(coco) == ["left/belt/0.png", "right/belt/0.png"]


def test_coco_names_frames_that_are_no_files_by_their_number(contorno, data):
    assert names(run(contorno, data, "{type: test, width: 40, height: 24, frames: 2}", CLASSIFY)) == ["000000.png", "000001.png"]


def test_coco_names_the_pictures_that_a_graph_writes(contorno, data):
    coco = run(contorno, data, "{type: dataset, location: data, layout: hwc}", more="file_name: \"overlay/{name}-{frame:03}.png\"")
    assert names(coco) == ["overlay/0_tray-000.png", "overlay/1_tray-001.png"]
    done = contorno("check", "graph.yaml", "--set", "coco.file_name={day}.png", check=False, cwd=data)
    assert done.returncode == 78 and "--set coco.file_name: error: sink 'coco': path '{day}.png' has the placeholder" in done.stderr


def test_hidden_classes_are_left_out_where_that_is_asked_for(contorno, data):
    source = "{type: dataset, location: data, layout: hwc}"
    everything = run(contorno, data, source)
    lines = read_lines(data / "out" / "contours.jsonl")
    features = json.loads((data / "out" / "contours.geojson").read_text())["features"]
    assert [one["name"] for one in everything["categories"]] == ["background", "rot"]
    seen = run(contorno, data, source, more="skip_hidden: true", more_lines="skip_hidden: true")
    assert seen["categories"] == [everything["categories"][1]]
    kept = [one for one in everything["annotations"] if one["category_id"] == 2]
    assert 0 < len(kept) < len(everything["annotations"])
    assert [{**one, "id": 0} for one in seen["annotations"]] == [{**one, "id": 0} for one in kept]
    assert [one["id"] for one in seen["annotations"]] == list(range(1, len(kept) + 1))
    for line, whole in zip(read_lines(data / "out" / "contours.jsonl"), lines):
        assert line["classes"] == [whole["classes"][1]]
    assert json.loads((data / "out" / "contours.geojson").read_text())["features"] == [
        one for one in features if one["properties"]["class"] == "rot"]
