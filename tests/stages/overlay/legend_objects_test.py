"""What the legend says of objects, read from pictures, against a naive count of the JSON lines of the same run."""
import json

import cv2
import numpy as np
import pytest

from tests.conftest import run_contorno
from tests.stages.contour_prep.objects_oracle_test import CLASSES

SHOWN = CLASSES[1:]
LINE, MARGIN, STEP = 16, 8, 20  # px of a text_height of 16
DIGIT = 8                       # px: all of a digit but its left edge
# Black lines on a black frame, so that the legend is all there is.
GRAPH = """
source: {{type: synthetic, maps_size: [300, 180], frame_size: [300, 180], lanes: 1, classes: 8, rate: 30, speed: 3, seed: 5,
         noise: 0.04, defects: 0.9}}
classes: [{classes}]
pipeline: {{slots: {slots}}}
stages:
  - {{type: preprocess, output: uint8, mean: [1000]}}
  - {{type: marching_squares, from: source.maps}}
  - contour_assembly
  - type: contour_prep
    steps: [{before}{{type: drop_small, min_points: 0, min_area: 3}}, {{type: objects, {objects}, max_distance: 20, max_missed: 2}}]
  - {{type: overlay, from: {{frame: preprocess.image}}, halo: 0, line_width: 1, text_height: {line}, legend: top_left, {legend}}}
sinks: [{{type: jsonl, path: c.jsonl, coordinates: map}}, {{type: images, path: "{{frame:03}}.png"}}]
"""
HOLES = {"objects": "of: background, holes: true", "before": ""}
SKINS = {"objects": "of: skin, min_area: 900", "before": "close_at_border, "}


def run(folder, whole, case, legend="objects: fruit, shares: true", slots=3):
    classes = ", ".join(f'{{name: {name}, colour: "#000000", hidden: {str(name == "background").lower()}, whole: {str(whole and name != "background").lower()}}}'
                        for name in CLASSES)
    (folder / "graph.yaml").write_text(GRAPH.format(classes=classes, legend=legend, line=LINE, slots=slots, **case))
    run_contorno("run", "graph.yaml", "--output", "out", "--frames", 80, "--quiet", cwd=folder)
    lines = [json.loads(line) for line in (folder / "out" / "c.jsonl").read_text().splitlines()]
    pictures = [cv2.imread(str(path)) for path in sorted((folder / "out").glob("*.png"))]
    assert len(pictures) == 80
    return [line for line in lines if "kind" not in line], [line for line in lines if "kind" in line], pictures


def naive(frames, whole, outlined):
    """For each frame how many are in view, how many there were, and the largest share of each class in tenths of a per cent."""
    known, said = set(), []
    for line in frames:
        by_name = {one["name"]: [{"points": contour["points"], **contour["attributes"]} for contour in one["contours"]]
                   for one in line["classes"]}
        outlines = [one for one in by_name.get(outlined, []) if one["object"] is not None and one["object"] == one["id"]]
        known |= {one["id"] for one in outlines}
        largest = dict.fromkeys(SHOWN, None)
        for outline in outlines:
            if not all(1 <= x <= 298 and 1 <= y <= 178 for x, y in outline["points"]):
                continue
            shares = {name: sum(one["share"] for one in by_name.get(name, []) if one["object"] == outline["id"]) for name in CLASSES}
            total = sum(share for name, share in shares.items() if name != "background") if whole else 1
            for name in SHOWN:
                tenths = int(1000 * shares[name] / total + 0.5)
                largest[name] = max(largest[name] or 0, tenths)
        said.append((len(outlines), len(known), largest))
    return said


def row(picture, number):
    """The pixels of a row of the legend, up to where its numbers end."""
    panel = np.flatnonzero(picture[MARGIN + LINE].any(axis=1))
    right = panel[-1] + 1 - MARGIN
    top = 2 * MARGIN + STEP * number
    return picture[top:top + LINE, right - 110:right]


def digits(folder):
    """What each digit looks like, as the numbers of contours in a legend without objects show them."""
    folder.mkdir()
    frames, _, pictures = run(folder, False, HOLES, "counts: true")
    found = {}
    for line, picture in zip(frames, pictures):
        for one in line["classes"]:
            if one["name"] in SHOWN:
                count = sum(contour["attributes"]["id"] is not None for contour in one["contours"])
                found[count % 10] = row(picture, SHOWN.index(one["name"]))[:, -DIGIT:]
    return found


def agree(rows, numbers, known, offset):
    """Whether the digit so far from the right end is the one of `numbers`, wherever its picture is known."""
    pairs = [(one[:, one.shape[1] - offset - DIGIT:one.shape[1] - offset], known[number])
             for one, number in zip(rows, numbers) if number in known]
    return len(pairs) > 20 and all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("whole, case, outlined", [(True, HOLES, "background"), (False, HOLES, "background"), (True, SKINS, "skin")],
                         ids=["of the whole", "of the outline", "cut by the border"])
def test_the_legend_says_what_a_count_of_the_lines_says(tmp_path, whole, case, outlined):
    frames, records, pictures = run(tmp_path, whole, case)
    said = naive(frames, whole, outlined)
    assert [so_far for _, so_far, _ in said] == [sum(one["first"]["frame"] <= line["frame"] for one in records) for line in frames]
    assert max(so_far for _, so_far, _ in said) >= 4 and len({in_view for in_view, _, _ in said}) >= 2
    known = digits(tmp_path / "digits")
    assert len(known) >= 4

    # The same text has the same pixels, another text others.
    texts, pixels = {}, {}
    for at, (in_view, so_far, largest) in enumerate(said):
        for number, text in enumerate([(in_view, so_far), *largest.values()]):
            part = row(pictures[at], number)[:, -60:].tobytes()
            assert texts.setdefault((number == 0, text), part) == part
            assert pixels.setdefault(part, (number == 0, text)) == (number == 0, text)
    assert len(texts) > 20

    # And its digits are those of the numbers: at one place for the objects, and for tenths and ones of a per cent.
    objects = [row(picture, 0) for picture in pictures]
    assert agree(objects, [so_far % 10 for _, so_far, _ in said], known, 0)
    measured = [(row(picture, 1 + SHOWN.index(name)), tenths) for picture, (_, _, largest) in zip(pictures, said)
                for name, tenths in largest.items() if tenths is not None]
    rows = [one for one, _ in measured]
    tenths_at = [offset for offset in range(5, 40) if agree(rows, [tenths % 10 for _, tenths in measured], known, offset)]
    ones_at = [offset for offset in range(5, 50) if agree(rows, [tenths // 10 % 10 for _, tenths in measured], known, offset)]
    assert len(tenths_at) == 1 and len(ones_at) == 1 and ones_at[0] > tenths_at[0] + DIGIT


@pytest.mark.parametrize("slots", [1, 6])
def test_the_legend_is_the_same_with_any_number_of_slots(tmp_path, slots):
    (tmp_path / "three").mkdir()
    _, _, expected = run(tmp_path / "three", True, SKINS)
    _, _, pictures = run(tmp_path, True, SKINS, slots=slots)
    assert all(np.array_equal(a, b) for a, b in zip(expected, pictures))


@pytest.mark.parametrize("legend, given", [("objects: fruit", "objects"), ("shares: true", "shares")])
def test_a_legend_of_objects_that_nothing_makes_is_refused(tmp_path, legend, given):
    (tmp_path / "graph.yaml").write_text(f"""
source: {{type: synthetic, maps_size: [60, 40], frame_size: [60, 40], classes: 2, frames: 1}}
classes: [{{name: a}}, {{name: b}}]
stages: [marching_squares, contour_assembly, {{type: overlay, legend: top_left, {legend}}}]
sinks: [{{type: images, path: a.png}}]
""")
    done = run_contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path, check=False)
    assert done.returncode == 78
    assert f"{given} is given, but nothing before the overlay makes objects of the contours" in done.stderr
