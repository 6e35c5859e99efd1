"""The records of `objects` on the synthetic line against which fruit it really is and what is on it: every fruit that was in view as
a whole once, with the shares of its defects as far as contours at a level can have them. Run as a program
(`python3 -m tests.stages.contour_prep.objects_truth_test`) it prints the table of docs/reference/objects.md."""
import collections
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from tests.conftest import run_contorno

WIDTH, HEIGHT, RATE, FRAMES = 450, 150, 30, 60
PLACE = 0.98 * HEIGHT  # from fruit to fruit, px
CLASSES = ["background", "skin", "stem", "bruise", "rot", "scab", "russet", "puncture"]
DEFECTS = CLASSES[3:]
SEEDS = range(1, 5)
SMALLEST = 4  # px^2, of a spot

GRAPH = """
source: {{type: synthetic, maps_size: [{width}, {height}], frame_size: [{width}, {height}], lanes: 1, classes: 8, rate: {rate},
         speed: {speed}, seed: {seed}, defects: 0.8, noise: {noise}, softness: {softness}, layout: hwc}}
classes: [{classes}]
stages:
  - marching_squares
  - contour_assembly
  - type: contour_prep
    steps:
      - {{type: drop_small, min_points: 0, min_area: {smallest}}}
      - {{type: objects, of: background, holes: true, called: fruit, min_area: 2000, max_distance: {distance}, max_missed: 2, margin: 2}}
sinks: [{{type: jsonl, path: c.jsonl, coordinates: map}}]
"""


def graph(seed, speed, noise, softness):
    classes = ", ".join(f"{{name: {name}, whole: {str(name != 'background').lower()}, hidden: {str(name == 'background').lower()}}}"
                        for name in CLASSES)
    return GRAPH.format(width=WIDTH, height=HEIGHT, rate=RATE, speed=speed, seed=seed, noise=noise, softness=softness, classes=classes,
                        smallest=SMALLEST, distance=round(PLACE / 2))


def true_fruit(maps, margin=3):
    """What every fruit in view shows that the border does not cut: its middle column, area, and the area and outline of each defect."""
    labels = maps.argmax(-1)
    parts, _ = ndimage.label(labels != 0)
    for index, (high, wide) in enumerate(ndimage.find_objects(parts), 1):
        own = np.where(parts == index, labels, 0)
        area = (own != 0).sum()
        if area < 2000 or wide.start < margin or wide.stop > WIDTH - margin:
            continue
        of = {}
        for number, name in enumerate(CLASSES):
            spots = own == number
            # Edges of samples between the spots and what is around them.
            outline = sum((spots[tuple(a)] != spots[tuple(b)]).sum() for a, b in (
                ((slice(1, None), slice(None)), (slice(None, -1), slice(None))), ((slice(None), slice(1, None)), (slice(None), slice(None, -1)))))
            of[name] = (spots.sum() / area, outline / area, ndimage.label(spots)[1])
        yield (wide.start + wide.stop - 1) / 2, area, of


Score = collections.namedtuple("Score", "fruit records wrong shares worst allowed")


def score(seed, speed, folder, frames=FRAMES, noise=0.04, softness=1):
    """Compares one run; raises AssertionError where a fruit has no record or several."""
    folder = Path(folder)
    (folder / "truth.yaml").write_text(graph(seed, speed, 0, 0))
    run_contorno("record", "truth.yaml", "truth", "--frames", frames, "--quiet", cwd=folder)
    way = speed / RATE * PLACE
    truth = collections.defaultdict(list)  # by where the fruit lay in frame 0
    for number, file in enumerate(sorted((folder / "truth" / "maps").glob("*.npy"))):
        for middle, _, of in true_fruit(np.load(file)):
            key = next((one for one in truth if abs(one - (middle - number * way)) < PLACE / 4), middle - number * way)
            truth[key].append(of)
    (folder / "graph.yaml").write_text(graph(seed, speed, noise, softness))
    run_contorno("run", "graph.yaml", "--output", "out", "--frames", frames, "--quiet", cwd=folder)
    lines = [json.loads(line) for line in (folder / "out" / "c.jsonl").read_text().splitlines()]
    places = {}
    for line in lines:
        for one in line["classes"][0]["contours"] if "kind" not in line else []:
            if one["attributes"]["object"] is not None and one["attributes"]["object"] == one["attributes"]["id"]:
                xs = [x for x, _ in one["points"]]
                places.setdefault(one["attributes"]["id"], (min(xs) + max(xs)) / 2 - line["frame"] * way)
    records = [line for line in lines if "kind" in line and line["whole_views"] > 0]
    wrong = shares = 0
    errors, found = [], collections.Counter()
    for record in records:
        key = min(truth, key=lambda one: abs(one - places[record["id"]]))
        assert abs(key - places[record["id"]]) < PLACE / 4
        found[key] += 1
        views = truth[key]
        for of in record["classes"]:
            if of["name"] not in DEFECTS:
                continue
            true_share = max(view[of["name"]][0] for view in views)
            # A contour at a level lies up to a quarter of a sample beside the edge, more on curved ones and in noise, and spots that are
            # too small are left out.
            allowed = min(0.015, 0.002 + max(view[of["name"]][1] / 4 + SMALLEST * view[of["name"]][2] / 2000 for view in views))
            error = abs(of["share"]["largest"] - true_share)
            shares += 1
            wrong += error > allowed
            errors.append((error, true_share, of["share"]["largest"], of["name"], allowed))
    # Seen whole in the last or the first frame alone, within a sample of the border, it may be cut in the one and not in the other.
    sure = {key for key, views in truth.items() if len(views) >= 2}
    assert set(found) >= sure, "a fruit without a record"
    assert max(found.values()) == 1, "a fruit with two records"
    return Score(len(truth), len(records), wrong, shares, max(errors), errors)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("speed", [1, 2, 5])
def test_every_fruit_has_one_record_with_the_shares_of_its_defects(tmp_path, seed, speed):
    result = score(seed, speed, tmp_path)
    assert result.fruit >= 3 and result.records >= 3
    assert result.wrong == 0, result.worst


def main():
    print("| px a frame | frames | fruit | records | shares | mean error | largest error |")
    print("|---|---|---|---|---|---|---|")
    for speed in (1, 2, 5):
        fruit = records = shares = 0
        errors = []
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as folder:
                one = score(seed, speed, folder)
            fruit, records, shares = fruit + one.fruit, records + one.records, shares + one.shares
            errors += [error for error, *_ in one.allowed]
        print(f"| {speed / RATE * PLACE:.1f} | {len(SEEDS) * FRAMES} | {fruit} | {records} | {shares} | {np.mean(errors):.4f} | {max(errors):.4f} |")


if __name__ == "__main__":
    sys.exit(main())
