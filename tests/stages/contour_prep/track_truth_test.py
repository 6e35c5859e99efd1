"""The ids of `track` on the synthetic line against which fruit it really is. That is known from how the line moves: fruit lie on
places that are equally far apart and move on by the same way in every frame, so that a place is known by its number. Run as a program
(`python3 -m tests.stages.contour_prep.track_truth_test`) it prints the table of docs/reference/contour-prep.md."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from tests.conftest import PROGRAM
from tests.stages.contour_prep.mot import Mot

WIDTH, HEIGHT, LANES, RATE = 320, 120, 2, 30
PLACE = 0.98 * HEIGHT / LANES  # from fruit to fruit, px
FRAMES, SEEDS = 36, 20

GRAPH = """
source: {{type: synthetic, maps_size: [{width}, {height}], frame_size: [{width}, {height}], lanes: {lanes}, classes: {classes}, rate: {rate},
         speed: {speed}, seed: {seed}, noise: {noise}, softness: {softness}, layout: hwc}}
classes: [{names}]
stages:
  - marching_squares
  - contour_assembly
  - type: contour_prep
    steps: [close_at_border, {{type: drop_small, min_points: 0, min_area: 60}}, {{type: track, max_distance: {distance}}}]
sinks: [{{type: jsonl, path: c.jsonl, coordinates: map}}]
"""


def graph(seed, classes, noise, softness, speed):
    names = ["background", "skin", "stem", "bruise", "rot", "scab"][:classes] if classes > 2 else ["background", "skin"]
    return GRAPH.format(width=WIDTH, height=HEIGHT, lanes=LANES, classes=classes, rate=RATE, speed=speed, seed=seed, noise=noise,
                        softness=softness, names=", ".join(f"{{name: {name}}}" for name in names),
                        distance=round(PLACE / 2))


def run(folder, *words):
    subprocess.run([PROGRAM, *words], cwd=folder, check=True, capture_output=True)


def fruit_of(maps, travelled, phases):
    """A box for each place with a fruit, and for what the first frames say of where places lie."""
    boxes = {}
    lane_height = HEIGHT / LANES
    for lane in range(LANES):
        rows = slice(round(lane * lane_height), round((lane + 1) * lane_height))
        parts, _ = ndimage.label(maps[rows])
        for index, (high, wide) in enumerate(ndimage.find_objects(parts), 1):
            if (parts[high, wide] == index).sum() < 60:
                continue
            # Fruit that touch are one part: its columns go to the place that is nearest.
            columns = np.arange(wide.start, wide.stop)
            places = np.round((columns - travelled - phases[lane]) / PLACE).astype(int)
            for place in np.unique(places):
                own = columns[places == place]
                inside = np.nonzero((parts[:, own] == index).any(axis=1))[0]
                if (parts[:, own] == index).sum() >= 60:
                    boxes[lane, int(place)] = (own[0], rows.start + inside[0], own[-1], rows.start + inside[-1])
    return boxes


def phases_of(all_maps, way):
    """Where place 0 of each lane lies in frame 0: the mean direction of all fruit that are seen whole, on a circle of a place."""
    phases = []
    for lane in range(LANES):
        rows = slice(round(lane * HEIGHT / LANES), round((lane + 1) * HEIGHT / LANES))
        angles = []
        for number, maps in enumerate(all_maps):
            parts, _ = ndimage.label(maps[rows])
            for high, wide in ndimage.find_objects(parts):
                if wide.start > 1 and wide.stop < WIDTH - 1 and 0.5 * PLACE < wide.stop - wide.start < PLACE:
                    middle = (wide.start + wide.stop - 1) / 2
                    angles.append(np.exp(2j * np.pi * (middle - number * way) / PLACE))
        phases.append(np.angle(np.mean(angles)) / (2 * np.pi) * PLACE)
    return phases


def measure(seed, folder, classes=2, noise=0.04, speed=2, frames=FRAMES):
    """The counts over one run of the line."""
    folder = Path(folder)
    (folder / "truth.yaml").write_text(graph(seed, 2, 0, 0, speed))
    run(folder, "record", "truth.yaml", "truth", "--frames", str(frames), "--quiet")
    files = sorted((folder / "truth" / "maps").glob("*.npy"))
    all_maps = [np.load(file)[..., 1] > 0.5 for file in files]
    (folder / "graph.yaml").write_text(graph(seed, classes, noise, 1, speed))
    run(folder, "run", "graph.yaml", "--output", "out", "--frames", str(frames), "--quiet")
    lines = [json.loads(line) for line in (folder / "out" / "c.jsonl").read_text().splitlines()]
    way = speed / RATE * PLACE
    phases = phases_of(all_maps, way)
    mot = Mot()
    for line in lines:
        number = line["frame"]
        found = {}
        for one in line["classes"][1]["contours"]:
            if one["attributes"]["id"] is not None:
                points = np.array(one["points"])
                found[one["attributes"]["id"]] = (*points.min(axis=0), *points.max(axis=0))
        mot.add(fruit_of(all_maps[number], number * way, phases), found)
    return mot


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_ids_follow_the_fruit_of_the_line_without_a_switch(tmp_path, seed):
    mot = measure(seed, tmp_path)
    assert mot.frames == FRAMES and len(mot.seen) >= 10
    assert (mot.switches, mot.fragments) == (0, 0)
    assert mot.mota > 0.95, (mot.missed, mot.extra, mot.truths)


def main():
    print("| maps | px a frame | frames | fruit | boxes | missed | extra | switches | fragments | MOTA |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, options in (("fruit", {}), ("skin, with defects", {"classes": 6}), ("fruit, noise 0.2", {"noise": 0.2}),
                          ("fruit", {"speed": 8}), ("fruit", {"speed": 14})):
        total = Mot()
        for seed in range(1, SEEDS + 1):
            with tempfile.TemporaryDirectory() as folder:
                one = measure(seed, folder, frames=90, **options)
            for key in ("frames", "truths", "missed", "extra", "switches", "fragments"):
                setattr(total, key, getattr(total, key) + getattr(one, key))
            total.seen |= {(seed, name) for name in one.seen}
        print(f"| {name} | {options.get('speed', 2) / RATE * PLACE:.1f} | {total.frames} | {len(total.seen)} | {total.truths} | {total.missed} | {total.extra} | "
              f"{total.switches} | {total.fragments} | {total.mota:.4f} |")


if __name__ == "__main__":
    main()
