"""`contorno replay` on datasets with truth: scores are those of NumPy and SciPy, from label images and masks a class."""
import json
import os
import re

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from tests.conftest import blobs

GRAPH = """
classes: [{{name: a, level: {level}}}, {{name: b, level: 0.4}}]
source: {{type: dataset, location: "{location}", layout: hwc}}
stages:
  - marching_squares
  - {{type: contour_assembly, positive_orientation: {orientation}}}
sinks:
  - {{type: jsonl, path: unused.jsonl}}
"""
FRAMES = 5
LEVELS = (0.5, 0.4)


def write_graph(folder, location="data", level=0.5, orientation="low"):
    (folder / "graph.yaml").write_text(GRAPH.format(level=level, location=location, orientation=orientation))


def true_labels(frame):
    """Labels 1 and 2 of the classes of a moved, softened map, 0 elsewhere, and a corner of pixels that nobody judged."""
    maps = blobs(48, 64, 2, frame + 0.7)
    labels = np.where(maps[..., 1] > 0.6, 2, np.where(maps[..., 0] > 0.45, 1, 0)).astype(np.uint8)
    labels[:6, -9:] = 255
    return labels


@pytest.fixture
def folder(tmp_path):
    for name in ("maps", "truth"):
        (tmp_path / "data" / name).mkdir(parents=True)
    for frame in range(FRAMES):
        np.save(tmp_path / "data" / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
        cv2.imwrite(str(tmp_path / "data" / "truth" / f"{frame:03}.png"), true_labels(frame))
    write_graph(tmp_path)
    return tmp_path


def edge(region):
    return region & ~ndimage.binary_erosion(region, border_value=0)  # with the cross of four neighbours


def expected(result, truth):
    """Intersection, union, and the distances of all edge pixels to the other edge, by SciPy."""
    far = np.empty(0)
    if result.any() and truth.any():
        one, other = edge(result), edge(truth)
        far = np.concatenate([ndimage.distance_transform_edt(~other)[one], ndimage.distance_transform_edt(~one)[other]])
    return (result & truth).sum(), (result | truth).sum(), far


def by_scipy(maps, labels, k, level):
    judged = labels != 255
    return expected((maps[..., k] > level) & judged, (labels == k + 1) & judged)


def check_scores(report, figures):
    """`figures[frame][k]` are those of `expected`."""
    [scores] = report["scores"]
    assert [frame["frame"] for frame in scores["frames"]] == sorted(figures)
    for frame in scores["frames"]:
        for k, score in enumerate(frame["classes"]):
            both, either, far = figures[frame["frame"]][k]
            assert (score["intersection"], score["union"], score["edge_pixels"]) == (both, either, len(far))
            assert score["iou"] == (pytest.approx(both / either, abs=1e-12) if either else None)
            assert score["mean_distance"] == (pytest.approx(far.mean(), abs=1e-9) if len(far) else None)
            assert score["hausdorff"] == (pytest.approx(far.max(), abs=1e-12) if len(far) else None)
    for k, total in enumerate(scores["classes"]):
        both, either = (sum(int(figure[k][i]) for figure in figures.values()) for i in (0, 1))
        far = np.concatenate([figure[k][2] for figure in figures.values()])
        assert total["iou"] == (pytest.approx(both / either, abs=1e-12) if either else None)
        assert total["mean_distance"] == (pytest.approx(far.mean(), abs=1e-9) if len(far) else None)
        assert total["hausdorff"] == (pytest.approx(far.max(), abs=1e-12) if len(far) else None)


def record(contorno, folder, *arguments, check=True):
    done = contorno("replay", "graph.yaml", "--record", "record", "--overwrite", "--report", "report.json", "--html", "page.html",
                    *arguments, cwd=folder, check=check)
    return done, json.loads((folder / "report.json").read_text())


@pytest.mark.parametrize("orientation", ["low", "high"])
def test_scores_are_those_of_numpy_and_scipy_on_the_maps_above_their_levels(contorno, folder, orientation):
    write_graph(folder, orientation=orientation)
    done, report = record(contorno, folder)
    check_scores(report, {frame: [by_scipy(blobs(48, 64, 2, frame), true_labels(frame), k, LEVELS[k]) for k in (0, 1)]
                          for frame in range(FRAMES)})
    total = report["scores"][0]["classes"][0]
    assert f"{total['iou']:.4g}" in done.stdout and f"{total['hausdorff']:.4g}" in done.stdout
    page = (folder / "page.html").read_text()
    assert page.count("<figure") == 2 * FRAMES and f"{total['iou']:.4g}" in page and "http" not in page


def test_the_truth_itself_has_the_scores_of_a_perfect_result(contorno, folder):
    for frame in range(FRAMES):
        maps = blobs(48, 64, 2, frame)
        labels = np.where(maps[..., 0] > 0.5, 1, np.where(maps[..., 1] > 0.5, 2, 0)).astype(np.uint8)
        cv2.imwrite(str(folder / "data" / "truth" / f"{frame:03}.png"), labels)
    write_graph(folder)
    (folder / "graph.yaml").write_text((folder / "graph.yaml").read_text().replace("level: 0.4", "level: 0.5"))
    _, report = record(contorno, folder)
    for total in report["scores"][0]["classes"]:
        assert (total["iou"], total["mean_distance"], total["hausdorff"]) == (1, 0, 0)


def test_a_ring_a_hole_at_the_middle_of_a_high_map_and_an_empty_map_are_scored(contorno, folder):
    rows, cols = np.mgrid[0:48, 0:64]
    far = np.hypot(rows - 23.3, cols - 30.2)
    regions = [(far < 15) & (far > 6), far > 9, far < 0]
    maps = [1 / (1 + np.exp(far - 15)) * (1 / (1 + np.exp(6 - far))), 1 / (1 + np.exp(9 - far)), 0 * far]
    for frame in range(FRAMES):
        np.save(folder / "data" / "maps" / f"{frame:03}.npy", np.stack([maps[frame % 3], maps[(frame + 1) % 3]], 2).astype(np.float32))
        labels = np.zeros((48, 64), np.uint8)
        labels[regions[frame % 3]] = 1
        cv2.imwrite(str(folder / "data" / "truth" / f"{frame:03}.png"), labels)
    _, report = record(contorno, folder)
    figures = {}
    for frame in range(FRAMES):
        both = np.load(folder / "data" / "maps" / f"{frame:03}.npy")
        labels = cv2.imread(str(folder / "data" / "truth" / f"{frame:03}.png"), cv2.IMREAD_UNCHANGED)
        figures[frame] = [by_scipy(both, labels, k, LEVELS[k]) for k in (0, 1)]
    check_scores(report, figures)
    a, b = report["scores"][0]["classes"]
    assert (a["found"], a["missed"], a["extra"]) == (4, 0, 0) and (b["found"], b["missed"], b["extra"]) == (0, 0, 3)


def test_masks_a_class_uint16_labels_palettes_and_larger_truth_come_by_a_manifest(contorno, folder):
    maps = [blobs(48, 64, 2, frame) for frame in range(FRAMES)]
    data, figures, entries = folder / "data", {}, []
    for frame in range(FRAMES):
        labels = true_labels(frame)
        labels[labels == 255] = 0
        name = f"labels{frame}"
        if frame == 0:
            for k, one in enumerate("ab"):
                (data / one).mkdir()
                cv2.imwrite(str(data / one / f"{one}0.png"), (labels == k + 1).astype(np.uint8) * 200)
            name = "{class}/{class}0.png"
        elif frame == 1:
            name += ".npy"
            np.save(data / name, labels.astype(np.uint16))
        elif frame == 2:
            name += ".png"
            palette = Image.fromarray(labels, "P")
            palette.putpalette([9, 9, 9, 200, 0, 0, 0, 200, 0])
            palette.save(data / name)
        elif frame == 3:
            name += ".png"
            cv2.imwrite(str(data / name), labels.astype(np.uint16))
        else:  # four pixels for each of the map
            name += ".tif"
            labels = np.kron(labels, np.ones((2, 2), np.uint8))
            cv2.imwrite(str(data / name), labels)
        entries.append({"maps": f"maps/{frame:03}.npy", "truth": name})
        if frame < 4:
            figures[frame] = [by_scipy(maps[frame], labels, k, LEVELS[k]) for k in (0, 1)]
    (data / "list.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    write_graph(folder, "data/list.jsonl")
    _, report = record(contorno, folder, "--stop", 4)
    check_scores(report, figures)
    _, report = record(contorno, folder)
    for k, score in enumerate(report["scores"][0]["frames"][4]["classes"]):
        # Bilinear interpolation between the samples is not what contours are, but nearly.
        large = cv2.resize(maps[4][..., k], (128, 96), interpolation=cv2.INTER_LINEAR) > LEVELS[k]
        both, either, _ = expected(large, np.kron(true_labels(4), np.ones((2, 2), np.uint8)) == k + 1)
        assert score["iou"] == pytest.approx(both / either, abs=0.02)
    page = (folder / "page.html").read_text()  # contours of the map on twice as many pixels, and on as many
    assert 'translate(0.5 0.5) scale(2 2)' in page and 'translate(0 0) scale(1 1)' in page and page.count("scale(") == 2 * FRAMES


def test_labels_may_begin_at_another_number_and_all_pixels_may_count(contorno, folder):
    for frame in range(FRAMES):
        cv2.imwrite(str(folder / "data" / "truth" / f"{frame:03}.png"), true_labels(frame) % 255 + 4)
    _, report = record(contorno, folder, "--first-label", 5, "--unjudged-label", 65536)
    check_scores(report, {frame: [expected(blobs(48, 64, 2, frame)[..., k] > LEVELS[k], true_labels(frame) == k + 1) for k in (0, 1)]
                          for frame in range(FRAMES)})


def test_truth_that_cannot_be_read_is_named_and_the_rest_is_scored(contorno, folder):
    truth = folder / "data" / "truth"
    cv2.imwrite(str(truth / "001.png"), np.zeros((48, 64, 3), np.uint8))
    (truth / "002.png").write_bytes((truth / "002.png").read_bytes()[:60])
    (truth / "003.png").unlink()
    os.mkfifo(truth / "003.png")  # which would be waited for without end
    (folder / "data" / "maps" / "004.npy").write_bytes(b"no array")
    done, report = record(contorno, folder, check=False)
    assert done.returncode == 3
    frames = report["scores"][0]["frames"]
    assert [frame["frame"] for frame in frames] == [0, 1, 2, 3, 4]
    assert "001.png: no labels can be read from the picture (it has colours" in frames[1]["fault"]
    assert "002.png: " in frames[2]["fault"] and "cut off" in frames[2]["fault"] and frames[4]["fault"] == "the frame failed"
    assert "003.png' is not a regular file" in frames[3]["fault"]
    assert "not scored: frame 1: " in done.stdout


def test_scores_come_with_a_comparison_and_without_truth_there_are_none(contorno, folder):
    record(contorno, folder)
    done = contorno("replay", "graph.yaml", "--expect", "record", "--report", "-", "--quiet", cwd=folder)
    report = json.loads(done.stdout)
    assert report["frames"]["same"] == FRAMES and len(report["scores"][0]["frames"]) == FRAMES
    done = contorno("replay", "graph.yaml", "data/maps", "--record", "other", cwd=folder)
    assert "IoU" not in done.stdout
    done = contorno("replay", "graph.yaml", "data/maps", "--record", "other", "--report", "x.json", cwd=folder, check=False)
    assert done.returncode == 2 and "with a dataset that has truth" in done.stderr


def test_a_score_beyond_its_limit_ends_the_run_with_1_and_says_so(contorno, folder):
    _, report = record(contorno, folder)
    [a, b] = report["scores"][0]["classes"]
    least = min(a["iou"], b["iou"])
    held = ("--assert", f"iou>={least - 1e-6}", "--assert", f"a.hausdorff <= {a['hausdorff']}", "--assert", "b.missed==0")
    done, report = record(contorno, folder, *held)
    assert done.stdout.count("--assert held: class ") == 4 and [one["held"] for one in report["assertions"]] == [True] * 4
    assert "assertions" not in record(contorno, folder)[1]
    done, report = record(contorno, folder, "--assert", f"b.iou>{100 * b['iou'] + 0.1:.4f}%", "--assert", "a.mean_distance>0", check=False)
    sentence = f"class 'b': IoU {b['iou']:.6g}, not > {100 * b['iou'] + 0.1:.4f}%"
    assert done.returncode == 1 and done.stderr.endswith(f"\ncontorno: --assert failed: {sentence}\n")
    assert report["assertions"][0] == {"held": False, "sentence": sentence} and report["assertions"][1]["held"]
    assert "<b>failed</b> " + sentence.replace("'", "&#39;").replace(">", "&gt;") in (folder / "page.html").read_text().replace("'", "&#39;")
    for options in (("--record", "record", "--overwrite"), ("--expect", "record")):
        done = contorno("replay", "graph.yaml", *options, "--assert", "iou>0.9999", "--quiet", cwd=folder, check=False)
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("--assert failed: class ") == 2


def test_a_score_that_no_class_has_holds_no_limit(contorno, folder):
    for frame in range(FRAMES):
        np.save(folder / "data" / "maps" / f"{frame:03}.npy", np.zeros((48, 64, 2), np.float32))
        cv2.imwrite(str(folder / "data" / "truth" / f"{frame:03}.png"), np.zeros((48, 64), np.uint8))
    done = contorno("replay", "graph.yaml", "--record", "record", "--assert", "iou>=0", "--assert", "b.iou>=0", cwd=folder, check=False)
    assert done.returncode == 1 and "--assert failed: iou>=0: no class has this score" in done.stderr
    assert "--assert failed: class 'b': IoU is not defined, as no frame has the class in its result or its truth" in done.stderr


@pytest.mark.parametrize("limit, said", [("iou", "wanted FIGURE>=LIMIT"), ("iuo>1", "wanted FIGURE>=LIMIT"), ("c.iou>=1", "there is no class 'c'; classes: a, b"),
                                         ("iou>=high", "'high' is no limit of iou, wanted a number from 0 to 1, or a share"),
                                         ("a.hausdorff<3%", "'3%' is no limit of hausdorff, wanted a number of at least 0 without a unit"),
                                         ("iou>90", "'90' is no limit of iou"), ("iou>=-1", "'-1' is no limit")])
def test_a_limit_that_cannot_be_understood_is_refused_before_anything_is_computed(contorno, folder, limit, said):
    done = contorno("replay", "graph.yaml", "--record", "record", "--assert", limit, cwd=folder, check=False)
    assert done.returncode == 2 and f"--assert '{limit}': " in done.stderr and said in done.stderr
    assert not (folder / "record" / "frames").exists()


def test_limits_without_truth_are_refused(contorno, folder):
    done = contorno("replay", "graph.yaml", "data/maps", "--record", "record", "--assert", "iou>0", cwd=folder, check=False)
    assert done.returncode == 2 and "--assert goes with a dataset that has truth" in done.stderr


@pytest.mark.parametrize("command", ["--record", "--expect"])
def test_truth_of_files_of_several_frames_is_refused(contorno, folder, command):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    lines = ["maps,truth"]
    for file in range(2):
        np.save(folder / f"two{file}.npy", np.stack([blobs(48, 64, 2, 2 * file + frame) for frame in range(2)]))
        lines.append(f"two{file}.npy,data/truth/00{file}.png")
    (folder / "list.csv").write_text("\n".join(lines) + "\n")
    record = "golden" if command == "--expect" else "new"
    done = contorno("replay", "graph.yaml", "list.csv", command, record, cwd=folder, check=False)
    assert done.returncode == 65
    assert re.search(r"two0.npy' is a sequence of 2 maps, but the dataset has truth", done.stderr), done.stderr
    assert not (folder / "new" / "frames").exists()
