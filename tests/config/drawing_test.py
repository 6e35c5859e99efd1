"""`contorno check --svg` and `--dot`: what a drawing has; and the place of a mistake in a long line."""
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from tests.conftest import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def drawn(contorno, graph, folder):
    """The texts of the drawing's boxes and the (from, to) of its lines, as Graphviz names them."""
    done = contorno("check", str(graph), "--svg", "drawing.svg", cwd=folder, check=False)
    assert done.returncode in (0, 66), done.stderr  # a source of an example may be missing
    root = ElementTree.parse(folder / "drawing.svg").getroot()
    groups = {kind: [one for one in root.iter(f"{SVG}g") if one.get("class") == kind] for kind in ("node", "edge")}
    texts = {one.find(f"{SVG}title").text: [text.text for text in one.iter(f"{SVG}text")] for one in groups["node"]}
    return texts, [tuple(re.sub(r":[^-]*", "", one.find(f"{SVG}title").text).split("->")) for one in groups["edge"]]


@pytest.mark.parametrize("name", ["dataset", "demo", "fruit-grading", "synthetic"])
def test_a_drawing_has_every_box_with_its_ports_and_every_line(contorno, tmp_path, name):
    graph = ROOT / "config" / "examples" / f"{name}.yaml"
    texts, lines = drawn(contorno, graph, tmp_path)
    said = contorno("check", str(graph), check=False, cwd=tmp_path).stdout
    # The two parts of contours are one box.
    said = re.sub(r"^  - type: marching_squares\n(    from: .*\n)  - type: contour_assembly\n    from: .*\n", r"  - type: contours\n\1", said,
                  flags=re.M)
    # Each step of a list is a box.
    said = re.sub(r"^  - type: contour_prep\n    from: .*\n    steps: \[(.*)\]\n",
                  lambda steps: "".join(f"  - type: {kind}\n    from: {{contours: before}}\n" for kind in re.findall(r"{type: (\w+)", steps[1])),
                  said, flags=re.M)
    types = re.findall(r"^  - type: (\S+)", said, re.M)
    inputs = [pair for one in re.findall(r"^    from: (?:\{(.*)\}|\S+)$", said, re.M) for pair in (one.split(", ") if one else [""])]
    boxes = [texts[f"n{number}"] for number in range(len(types) + 1)]
    assert boxes[0][0] == "source" and all(any(kind in text for text in box[:2]) for kind, box in zip(types, boxes[1:]))
    assert len(lines) == len(inputs) and set(texts) - {"key"} == {f"n{number}" for number in range(len(boxes))}
    assert all(int(begin[1:]) < int(end[1:]) for begin, end in lines)
    assert {end for _, end in lines} == {f"n{number}" for number in range(1, len(boxes))}, "each box takes something"


def test_the_classes_stand_beside_a_drawing_with_their_levels(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text("source: {type: synthetic, frames: 1, classes: 2}\nstages: [marching_squares, contour_assembly]\nsinks: []\n"
                                         "classes: [{name: 'a<b>&\"c\\N', level: 0.25}, {name: d, hidden: true}]\n")
    texts, _ = drawn(contorno, tmp_path / "graph.yaml", tmp_path)
    assert ["image", "a<b>&\"c\\N > 0.25", "d > 0.5 (hidden)"] == [text for text in texts["key"] if text.strip()]


def test_without_graphviz_a_drawing_is_refused_with_what_to_install(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text("source: {type: synthetic, frames: 1}\nclasses: auto\nstages: [marching_squares, contour_assembly]\n"
                                         "sinks: []\n")
    done = contorno("check", "graph.yaml", "--svg", "drawing.svg", cwd=tmp_path, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 69 and "apt-get install graphviz" in done.stderr and "--dot" in done.stderr
    assert not (tmp_path / "drawing.svg").exists()
    done = contorno("check", "graph.yaml", "--dot", "drawing.dot", cwd=tmp_path)
    subprocess.run(["dot", "-Tsvg", "-o", os.devnull, tmp_path / "drawing.dot"], check=True, timeout=60)


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
