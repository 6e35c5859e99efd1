"""`contorno check --svg`: where boxes stand and lines run; and the place of a mistake in a long line."""
import re

import cv2
import numpy as np
import pytest
from tests.conftest import ROOT


GAP = 26  # between boxes, and between a box and a line that passes it


def drawing(contorno, graph, folder):
    """The sides of the drawing, its boxes as (left, top, right, bottom), and its lines as lists of segments."""
    done = contorno("check", str(graph), "--svg", "drawing.svg", cwd=folder, check=False)
    assert done.returncode in (0, 66), done.stderr  # a source of an example may be missing
    text = (folder / "drawing.svg").read_text()
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    boxes = []
    for x, y, w, h in re.findall(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" rx="7"', text):
        boxes.append((float(x), float(y), float(x) + float(w), float(y) + float(h)))
    return (width, height), boxes, [segments(path) for path in re.findall(r'<path d="([^"]*)" fill="none"', text)]


def segments(path):
    """(is it straight, its points)"""
    at, found = None, []
    for letter, numbers in re.findall(r"([MCH])([^MCH]*)", path):
        values = [float(one) for one in re.split(r"[ ,]+", numbers.strip())]
        if letter == "H":
            points = [at, (values[0], at[1])]
        else:
            points = ([at] if at else []) + list(zip(values[::2], values[1::2]))
        if letter != "M":
            found.append((letter == "H", points))
        at = points[-1]
    return found


@pytest.mark.parametrize("name", ["dataset", "demo", "fruit-grading", "synthetic"])
def test_lines_stay_within_the_drawing_and_run_past_the_boxes_between_their_ends(contorno, tmp_path, name):
    (width, height), boxes, lines = drawing(contorno, ROOT / "config" / "examples" / f"{name}.yaml", tmp_path)
    assert len(boxes) > 3 and len(lines) >= len(boxes) - 1
    straight = 0
    for line in lines:
        for is_straight, points in line:
            assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
            if not is_straight:
                continue
            (begin, y), (end, _) = points
            straight += 1
            passed = [box for box in boxes if box[0] < end and begin < box[2]]
            assert all(max(top - y, y - bottom) >= GAP for _, top, _, bottom in passed), (passed, y)
    assert straight > 0 or name == "synthetic"


@pytest.mark.parametrize("name", ["dataset", "demo", "fruit-grading", "synthetic"])
def test_lines_begin_and_end_at_ports_which_stand_a_row_apart_on_the_sides_of_boxes(contorno, tmp_path, name):
    _, boxes, lines = drawing(contorno, ROOT / "config" / "examples" / f"{name}.yaml", tmp_path)
    ports = {(float(x), float(y)) for x, y in
             re.findall(r'<circle cx="(\S+)" cy="(\S+)" r="4"', (tmp_path / "drawing.svg").read_text())}
    begins, ends = {line[0][1][0] for line in lines}, {line[-1][1][-1] for line in lines}
    assert begins | ends <= ports and not begins & ends
    on = lambda side, places: sorted(y for x, y in places if abs(x - side[0]) < 0.2 and side[1] < y < side[2])
    for number, (left, top, right, bottom) in enumerate(boxes):
        for side, used in (((left, top, bottom), ends), ((right, top, bottom), begins)):
            rows = on(side, ports)
            assert all(below - above >= 16 for above, below in zip(rows, rows[1:])) and set(on(side, used)) <= set(rows)
        assert number == 0 or on((left, top + 20, bottom), ports), "each box but the source's takes something"
    assert sum(len(on((x, top, bottom), ports)) for left, top, right, bottom in boxes for x in (left, right)) == len(ports)


def test_boxes_that_follow_each_other_alone_stand_in_one_row(contorno, tmp_path):
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((8, 8, 3), np.uint8))
    (tmp_path / "graph.yaml").write_text("source: {type: images, location: a.png}\nstages: [mean_shift_filter, morphology]\n"
                                         "sinks: [{type: images, path: o.png}]\n")
    _, boxes, _ = drawing(contorno, tmp_path / "graph.yaml", tmp_path)
    middles = [(top + bottom) / 2 for _, top, _, bottom in boxes]
    assert len(boxes) == 4 and len({bottom - top for _, top, _, bottom in boxes}) > 1
    assert np.ptp(middles) < 1, middles


@pytest.mark.parametrize("before", [0, 1, 30])
def test_the_mark_below_a_mistake_stands_below_it_in_a_long_line_too(contorno, tmp_path, before):
    classes = "".join(f"{{name: class{one:02}}}, " for one in range(before))
    (tmp_path / "graph.yaml").write_text(f"source: {{type: synthetic, frames: 2}}\nclasses: [{classes}{{name: z, levle: 3}}]\n"
                                         "stages: [marching_squares, contour_assembly]\nsinks: []\n")
    done = contorno("check", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78
    shown, mark = done.stderr.splitlines()[1:3]
    assert len(shown) < 120 and shown[mark.index("^"):mark.rindex("~") + 1] == "levle", done.stderr


def test_a_source_without_its_place_is_told_so_wherever_the_graph_lies(contorno, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "graph.yaml").write_text("source: {type: images}\nstages: [morphology]\nsinks: []\n")
    done = contorno("check", "inner/graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78 and "inner/graph.yaml:1:9: error: source: 'location' is missing" in done.stderr
