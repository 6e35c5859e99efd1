"""contorno explain: what it says of a cell is compared with scikit-image's contours at that cell."""
import itertools
import json

import cv2
import numpy as np
import pytest
from tests.conftest import run_contorno

measure = pytest.importorskip("skimage.measure")
SIDES = {"top": (0, 0, 0, 1), "right": (0, 1, 1, 1), "bottom": (1, 0, 1, 1), "left": (0, 0, 1, 0)}


def explain(file, row, col, *options):
    return json.loads(run_contorno("explain", file, "--at", f"{row},{col}", "--json", "-", *options).stdout)


def text_of(file, at, *options, **kwargs):
    return run_contorno("explain", file, "--at", at, *options, **kwargs)


def pairs_in(contour, row, col):
    """The steps of a contour that lie in the cell: their first index, and both points."""
    steps = []
    for i, (a, b) in enumerate(zip(contour, contour[1:])):
        middle = (a + b) / 2
        if row <= middle[0] <= row + 1 and col <= middle[1] <= col + 1:
            steps.append((i, tuple(a), tuple(b)))
    return steps


def check_cell(file, values, level, row, col, high=False, reverse=False, options=(), mask=None):
    """Every segment stands where scikit-image has it, and scikit-image has no others inside of the cell."""
    said = explain(file, row, col, "--level", level, "--fully-connected", "high" if high else "low",
                   "--positive-orientation", "high" if reverse else "low", *options)
    contours = measure.find_contours(values, level, fully_connected="high" if high else "low",
                                     positive_orientation="high" if reverse else "low", mask=mask)
    assert said["contours"] == len(contours)
    found = set()
    for segment in said["segments"]:
        ends = [tuple(segment[end]["point"]) for end in ("from", "to")]
        assert segment["exists"] == (ends[0] != ends[1])
        for end in ("from", "to"):
            assert tuple(segment[end]["float32"]) == tuple(map(float, np.float32(segment[end]["point"])))
        if not segment["exists"]:
            assert segment["contour"] is None
            continue
        place = segment["contour"]
        contour = contours[place["index"]]
        assert place["points"] == len(contour) and place["closed"] == bool((contour[0] == contour[-1]).all())
        assert tuple(contour[place["from"]]) == ends[0] and tuple(contour[place["to"]]) == ends[1]
        assert place["to"] - place["from"] == (-1 if reverse else 1)
        found.add((place["index"], min(place["from"], place["to"])))
    inside = {(number, i) for number, contour in enumerate(contours) for i, a, b in pairs_in(contour, row, col)
              if not (a[0] == b[0] and a[0] in (row, row + 1)) and not (a[1] == b[1] and a[1] in (col, col + 1))}
    assert inside <= found
    return said


def test_all_sixteen_cases_have_the_segments_of_scikit_image(tmp_path):
    for code, high in itertools.product(range(16), (False, True)):
        cell = np.array([(code >> i & 1) for i in range(4)], float).reshape(2, 2)
        cell = cell * 0.6 + np.array([[0.1, 0.2], [0.3, 0.15]])
        np.save(tmp_path / "cell.npy", cell)
        said = check_cell(tmp_path / "cell.npy", cell, 0.5, 0, 0, high)
        assert said["case"] == code
        assert len(said["segments"]) == (0 if code in (0, 15) else 2 if code in (6, 9) else 1)
        sides = [(segment["from"]["side"], segment["to"]["side"]) for segment in said["segments"]]
        if code in (6, 9):
            others = said["segments_of_the_other_connectivity"]
            assert sides != [(segment["from"]["side"], segment["to"]["side"]) for segment in others]
            if high:
                assert [segment["from"]["point"] for segment in others] == saddle_starts
            saddle_starts = [segment["from"]["point"] for segment in said["segments"]]
        else:
            assert "segments_of_the_other_connectivity" not in said


@pytest.mark.parametrize("seed", range(8))
def test_cells_of_random_maps_have_the_points_of_scikit_image(tmp_path, seed):
    random = np.random.default_rng(seed)
    rows, columns = random.integers(2, 12, 2)
    kind = seed % 4
    if kind == 0:
        stored = random.random((rows, columns))
    elif kind == 1:
        stored = random.random((rows, columns)).astype(np.float32)
    elif kind == 2:
        stored = random.integers(0, 256, (rows, columns), np.uint8)
    else:
        stored = random.integers(0, 4, (rows, columns)).astype(np.float64) / 4  # many equal to the level
    values = stored / 255.0 if stored.dtype == np.uint8 else stored.astype(np.float64)
    if kind < 2:
        stored[random.random(stored.shape) < 0.1] = np.nan
        values = stored.astype(np.float64)
    np.save(tmp_path / "map.npy", stored)
    cells = {(0, 0), (rows - 2, columns - 2), (0, columns - 2), (rows - 2, 0)}
    cells |= {(int(random.integers(0, rows - 1)), int(random.integers(0, columns - 1))) for _ in range(6)}
    for row, col in sorted(cells):
        high, reverse = random.random() < 0.5, random.random() < 0.5
        said = check_cell(tmp_path / "map.npy", values, 0.5, row, col, high, reverse)
        block = values[row:row + 2, col:col + 2].ravel()
        assert [sample["value"] for sample in said["samples"]] == [None if np.isnan(v) else v for v in block]
        if np.isnan(block).any():
            assert said["case"] is None and said["segments"] == []
            assert [sample["state"] for sample in said["samples"]].count("NaN") == np.isnan(block).sum()
        else:
            assert said["case"] == sum(int(v > 0.5) << i for i, v in enumerate(block))


def test_a_masked_sample_skips_the_cell(tmp_path):
    values = np.array([[0.0, 1, 0], [0, 1, 0], [0, 1, 0]])
    mask = np.ones((3, 3), bool)
    mask[0, 0] = False
    np.save(tmp_path / "map.npy", values)
    np.save(tmp_path / "mask.npy", mask)
    options = ("--mask", tmp_path / "mask.npy")
    said = check_cell(tmp_path / "map.npy", values, 0.5, 0, 0, options=options, mask=mask)
    assert said["case"] is None and said["samples"][0]["state"] == "masked"
    said = check_cell(tmp_path / "map.npy", values, 0.5, 1, 0, options=options, mask=mask)
    assert said["case"] == 10 and said["segments"][0]["contour"]["points"] == 2
    assert "(0, 0) is masked, so the cell is skipped" in text_of(tmp_path / "map.npy", "0,0", *options).stdout


def test_a_segment_between_equal_points_does_not_exist(tmp_path):
    np.save(tmp_path / "map.npy", np.array([[0.5, 1], [1, 1]]))
    said = explain(tmp_path / "map.npy", 0, 0)
    assert said["case"] == 14 and said["contours"] == 0
    assert [segment["exists"] for segment in said["segments"]] == [False]
    assert said["segments"][0]["from"]["on_sample"] and said["samples"][0]["state"] == "low"
    text = text_of(tmp_path / "map.npy", "0,0").stdout
    assert "A and B are one point, so this segment does not exist" in text and "low, as it is equal to the level" in text


def test_layouts_classes_and_types_name_the_same_cell(tmp_path):
    maps = np.random.default_rng(3).integers(0, 256, (5, 7, 3), np.uint8)
    np.save(tmp_path / "hwc.npy", maps)
    np.save(tmp_path / "chw.npy", np.ascontiguousarray(np.moveaxis(maps, -1, 0)))
    np.savez(tmp_path / "maps.npz", maps=maps)
    cv2.imwrite(str(tmp_path / "maps.png"), maps[..., ::-1])
    for number in range(3):
        expected = maps[2:4, 4:6, number].ravel()
        for file, options in (("hwc.npy", ()), ("chw.npy", ("--layout", "chw")), ("maps.npz:maps", ()), ("maps.png", ())):
            said = explain(tmp_path / file, 2, 4, "--class", number, *options)
            assert [sample["stored"] for sample in said["samples"]] == list(expected), file
            assert [sample["value"] for sample in said["samples"]] == list(expected / 255.0), file
    text = text_of(tmp_path / "hwc.npy", "2,4", "--class", "2").stdout
    assert f"{maps[2, 4, 2]} / 255 = {maps[2, 4, 2] / 255}" in " ".join(text.split())


def test_the_drawing_shows_values_marks_and_crossings(tmp_path):
    np.save(tmp_path / "map.npy", np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32) * 0.75)
    lines = text_of(tmp_path / "map.npy", "1,1").stdout.splitlines()
    top = next(i for i, line in enumerate(lines) if line.startswith("row 1"))
    bottom = next(i for i, line in enumerate(lines) if line.startswith("row 2"))
    assert lines[top].split()[2] == "0" and lines[top].split()[-1] == "0.75"
    corner = [lines[i][j] for i in (top, bottom) for j in (lines[top].index("."), len(lines[top]) - len("  0.75") - 1)]
    assert corner == [".", "#", "#", "."]
    # 0.5 of 0.75 is two thirds of the way from low to high.
    left, right = lines[top].index("."), len(lines[top]) - len("  0.75") - 1
    crossing = next(j for j in range(left, right) if lines[top][j] == "B")
    assert abs((crossing - left) / (right - left) - 2 / 3) < 0.05
    assert any(line[left] == "C" for line in lines[top:bottom]) and lines[bottom].count("D") == 1
    said = "\n".join(lines)
    assert "fully_connected low joins the low samples: right to top, left to bottom (used here)" in said
    assert "fully_connected high joins the high samples: left to top, right to bottom" in said


def test_a_point_names_the_cell_in_which_it_lies(tmp_path):
    np.save(tmp_path / "map.npy", np.random.default_rng(1).random((6, 6)))
    assert explain(tmp_path / "map.npy", 3.7, 1.25)["cell"] == [3, 1]


def test_both_backends_answer_where_a_device_is(tmp_path):
    np.save(tmp_path / "map.npy", np.random.default_rng(2).random((40, 50)))
    done = text_of(tmp_path / "map.npy", "10,20", "--backend", "cuda", check=False)
    if done.returncode == 69:
        pytest.skip("needs a CUDA device")
    assert done.returncode == 0 and "finds the same contours as the CPU, bit for bit" in done.stdout


@pytest.mark.parametrize("code, said, options", [
    (64, "allowed rows 0 to 3 and columns 0 to 5", ["--at", "4,0"]),
    (64, "allowed rows 0 to 3 and columns 0 to 5", ["--at", "0,6"]),
    (64, "allowed rows 0 to 3 and columns 0 to 5", ["--at", "-1,2"]),
    (2, "wanted ROW,COL", ["--at", "3"]),
    (2, "wanted ROW,COL", ["--at", "nan,1"]),
    (2, "--at is required", []),
    (2, "--level is nan", ["--at", "1,1", "--level", "nan"]),
    (64, "--class is 1, allowed 0 to 0", ["--at", "1,1", "--class", "1"]),
    (69, "", ["--at", "1,1", "--backend", "cuda"]),
    (66, "", ["--at", "1,1", "--mask", "none.npy"]),
])
def test_refusals_say_what_is_allowed(tmp_path, code, said, options):
    np.save(tmp_path / "map.npy", np.zeros((5, 7), np.float32))
    done = run_contorno("explain", tmp_path / "map.npy", *options, check=False)
    if code == 69 and done.returncode == 0:
        pytest.skip("needs a machine without a CUDA device")
    assert done.returncode == code, done.stderr
    assert said in done.stderr and done.stdout == ""


def test_a_level_above_every_integer_says_so(tmp_path):
    np.save(tmp_path / "map.npy", np.full((3, 3), 200, np.uint8))
    assert "127 of 255 is 0.498" in text_of(tmp_path / "map.npy", "0,0", "--level", "127").stdout
