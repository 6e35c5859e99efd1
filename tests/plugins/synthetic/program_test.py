"""The synthetic line through the whole program, and Diamond-Square from the command line."""
import json

import cv2
import numpy as np
import pytest
from tests.conftest import ROOT, read_lines

EXAMPLE = ROOT / "config" / "examples" / "synthetic.yaml"


def test_the_synthetic_line_runs_to_contours_on_its_frames(contorno, tmp_path):
    contorno("run", EXAMPLE, "--output", tmp_path, "--frames", 12, "--report", tmp_path / "report.json",
             "--set", "images.first=3", "--set", "source.defects=1")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["frames"]["out"] == 12
    lines = read_lines(tmp_path / "contours.jsonl")
    assert [line["frame"] for line in lines] == list(range(12))
    for line in lines:
        assert (line["width"], line["height"]) == (1022, 190)
        skin = [np.array(contour["points"], float) for contour in line["classes"][1]["contours"]]
        outlines = [points for points in skin if np.ptp(points[:, 1]) > 100]
        assert 3 <= len(outlines) <= 8, "fruit in view"
        assert any(one["contours"] for one in line["classes"][3:]), "defects in view"
    picture = cv2.imread(str(next(tmp_path.glob("overlay-*.png"))))
    assert picture.shape == (190, 1022, 3)
    # Something as colourful as fruit on grey rollers.
    saturation = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[..., 1]
    assert 0.25 < (saturation > 120).mean() < 0.75


def shoelace(contour):
    x, y = np.array(contour["points"], float).T
    return 0.5 * (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() if contour["closed"] else 0.0


def test_totals_of_graded_fruit_are_sums_over_its_contours(contorno, tmp_path):
    contorno("run", EXAMPLE.with_name("fruit-grading.yaml"), "--output", tmp_path, "--frames", 4, "--report", tmp_path / "report.json",
             "--set", "images.first=3")
    lines = [line for line in read_lines(tmp_path / "contours.jsonl") if "kind" not in line]
    names = ["skin", "stem", "bruise", "rot", "scab", "russet", "puncture"]
    areas, all_areas, all_contours = {}, dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for line in lines:
        assert [one["name"] for one in line["classes"]] == names
        for one in line["classes"]:
            areas[one["name"]] = sum(map(shoelace, one["contours"]))
            all_areas[one["name"]] += areas[one["name"]]
            all_contours[one["name"]] += len(one["contours"])
        for one in line["classes"]:
            totals, outer = one["totals"], [contour["attributes"] for contour in one["contours"] if contour["area"] > 0]
            assert totals["contours"] == len(one["contours"])
            assert totals["area"] == pytest.approx(areas[one["name"]], rel=1e-6, abs=1e-6)
            assert totals["share"] == pytest.approx(areas[one["name"]] / sum(areas.values()), rel=1e-6, abs=1e-9)
            assert totals["perimeter"] == pytest.approx(sum(contour["length"] for contour in one["contours"]))
            samples = sum(of["samples"] for of in outer)
            assert totals["mean"] == (pytest.approx(sum(of["mean"] * of["samples"] for of in outer if of["samples"]) / samples) if samples else None)
            assert all(0.4 < of["mean"] <= of["maximum"] <= 1 for of in outer if of["samples"])
    assert 0.8 < areas["skin"] / sum(areas.values()) < 1 and sum(areas.values()) > 0.3 * 1200 * 400
    report = json.loads((tmp_path / "report.json").read_text())
    (running,) = [one["totals"] for one in report["sinks"] if "totals" in one]
    assert [one["class"] for one in running] == names
    for one in running:
        assert one["contours"] == all_contours[one["class"]] and one["area"] == pytest.approx(all_areas[one["class"]], rel=1e-6)
        assert one["share"] == pytest.approx(all_areas[one["class"]] / sum(all_areas.values()), rel=1e-6)


def test_the_same_seed_gives_the_same_contours_again(contorno, tmp_path):
    texts = []
    for name, threads in (("a", 1), ("b", 3)):
        contorno("run", EXAMPLE, "--output", tmp_path / name, "--frames", 3, "--set", f"source.threads={threads}")
        texts.append((tmp_path / name / "contours.jsonl").read_text())
    assert texts[0] == texts[1]


def philox(row, col, level, seed):
    """Philox4x32-10, word 0, in Python's integers."""
    mask = 0xFFFFFFFF
    c, k = [row, col, level, 0], [seed & mask, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c[0]


def field(exponent, seed):
    """The definition, cell by cell."""
    last = 1 << exponent
    cells = {(row, col): philox(row, col, 0, seed) >> 24 for row in (0, last) for col in (0, last)}
    step, spread, level = last, 256, 1
    while step > 1:
        half, bound = step // 2, spread // 2
        low, high = (-bound, bound) if bound else (-1, 1)
        middles = [(row, col) for row in range(half, last, step) for col in range(half, last, step)]
        edges = [(row, col) for row in range(0, last + 1, half) for col in range(0, last + 1, half)
                 if (row // half + col // half) % 2]
        for where, offsets in ((middles, ((-1, -1), (-1, 1), (1, -1), (1, 1))), (edges, ((-1, 0), (1, 0), (0, -1), (0, 1)))):
            for row, col in where:
                around = [cells[row + r * half, col + c * half] for r, c in offsets
                          if (row + r * half, col + c * half) in cells]
                noise = low + (philox(row, col, level, seed) * (high - low) >> 32)
                cells[row, col] = min(max((sum(around) + noise) // len(around), 0), 255)
        step, spread, level = half, spread // 2, level + 1
    return np.array([[cells[row, col] for col in range(last + 1)] for row in range(last + 1)], np.uint8)


def test_apply_makes_the_field_of_the_definition(contorno, tmp_path):
    seed = 123456789012345
    for name in ("field.npy", "field.png"):
        contorno("apply", "diamond_square", "-", tmp_path / name, "--size", "[65, 65]", "--seed", seed)
    expected = field(6, seed)
    np.testing.assert_array_equal(np.load(tmp_path / "field.npy").squeeze(), expected)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "field.png"), cv2.IMREAD_GRAYSCALE), expected)
