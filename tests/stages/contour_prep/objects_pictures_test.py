"""Pictures of the fruit on the synthetic line: of each one, cut out of the frame where it is seen best, by what the line's true maps
say and by a plain search in the contours of all frames."""
import collections
import json

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from tests.conftest import run_contorno
from tests.stages.contour_prep.objects_truth_test import FRAMES, PLACE, RATE, WIDTH, graph

AROUND, MARGIN = 5, 2
SINKS = f"""sinks:
  - {{type: jsonl, path: c.jsonl, coordinates: map}}
  - {{type: images, path: "frames/{{frame}}.png", from: source.frame}}
  - {{type: images, path: "fruit/{{name}}@{{frame}}.png", from: source.frame, objects: true, around: {AROUND}}}
"""


def outlines_of(lines):
    """Of each object by its id: the outline, as points x and y, in each frame that has it."""
    found = collections.defaultdict(dict)
    for line in lines:
        for one in line["classes"][0]["contours"] if "kind" not in line else []:
            if one["attributes"]["object"] is not None and one["attributes"]["object"] == one["attributes"]["id"]:
                found[int(one["attributes"]["id"])][line["frame"]] = np.array(one["points"])
    return found


def enclosed(points):
    x, y = points.T
    return abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2


def is_whole(points, width, height):
    return (points >= MARGIN).all() and (points <= [width - 1 - MARGIN, height - 1 - MARGIN]).all()


def cut_out(picture, points):
    left, top = np.maximum(np.floor(points.min(0)).astype(int) - AROUND, 0)
    right, bottom = np.ceil(points.max(0)).astype(int) + AROUND + 1
    return picture[top:bottom, left:right]


def best_frames(outlines, width, height):
    """The frames with the largest outline that the border does not cut, or with the largest at all; nearly as large ones, too, since
    files of contours have rounded numbers."""
    whole = {frame: enclosed(points) for frame, points in outlines.items() if is_whole(points, width, height)}
    areas = whole or {frame: enclosed(points) for frame, points in outlines.items()}
    return {frame for frame, area in areas.items() if area > max(areas.values()) - 0.01}


def run(folder, text, *words):
    (folder / "graph.yaml").write_text(text)
    run_contorno("run", "graph.yaml", "--output", "out", "--frames", FRAMES, "--quiet", *words, cwd=folder)
    return [json.loads(line) for line in (folder / "out" / "c.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("seed, speed", [(1, 1), (2, 2), (3, 5)])
def test_of_every_fruit_there_is_the_picture_where_it_is_seen_best(tmp_path, seed, speed):
    text = graph(seed, speed, 0.04, 1)
    text = text[:text.index("sinks:")] + SINKS
    lines = run(tmp_path, text)
    records = {line["id"]: line for line in lines if "kind" in line}
    outlines = outlines_of(lines)
    pictures = {}
    for path in (tmp_path / "out" / "fruit").iterdir():
        name, frame = path.stem.split("@")
        called, number = name.split("-")
        assert called == "fruit"
        pictures[int(number)] = (int(frame), np.asarray(Image.open(path)))
    assert set(pictures) == set(records) == set(outlines) and len(pictures) >= 3
    for number, (frame, picture) in pictures.items():
        whole = np.asarray(Image.open(tmp_path / "out" / "frames" / f"{frame}.png"))
        assert frame in best_frames(outlines[number], whole.shape[1], whole.shape[0])
        assert np.array_equal(picture, cut_out(whole, outlines[number][frame]))

    # What the line's own maps say: whatever fruit is in view as a whole has one picture, of a frame that shows nearly the most of it.
    (tmp_path / "truth.yaml").write_text(graph(seed, speed, 0, 0))
    run_contorno("record", "truth.yaml", "truth", "--frames", FRAMES, "--quiet", cwd=tmp_path)
    way, truth = speed / RATE * PLACE, collections.defaultdict(dict)
    for frame, file in enumerate(sorted((tmp_path / "truth" / "maps").glob("*.npy"))):
        parts, _ = ndimage.label(np.load(file).argmax(-1) != 0)
        for part, (high, wide) in enumerate(ndimage.find_objects(parts), 1):
            if wide.start >= 1 and wide.stop <= WIDTH - 1 and (parts == part).sum() > 2000:
                middle = (wide.start + wide.stop - 1) / 2 - frame * way
                key = next((one for one in truth if abs(one - middle) < PLACE / 4), middle)
                truth[key][frame] = ((parts == part).sum(), wide, high)
    taken = []
    for number, (frame, picture) in pictures.items():
        middle = (outlines[number][frame][:, 0].min() + outlines[number][frame][:, 0].max()) / 2 - frame * way
        near = [key for key in truth if abs(key - middle) < PLACE / 4]
        if not near:
            continue  # never in view as a whole
        taken += near
        area, wide, high = truth[near[0]][frame]
        surely_whole = [one[0] for one in truth[near[0]].values() if one[1].start >= 4 and one[1].stop <= WIDTH - 4]
        assert area > 0.98 * max(surely_whole, default=0)
        assert abs(picture.shape[1] - (wide.stop - wide.start + 2 * AROUND)) <= 4 and abs(picture.shape[0] - (high.stop - high.start + 2 * AROUND)) <= 4
    sure = {key for key, frames in truth.items() if any(one[1].start >= 4 and one[1].stop <= WIDTH - 4 for one in frames.values())}
    assert len(taken) == len(set(taken)) and sure <= set(taken) and len(sure) >= 3


def test_pictures_are_of_the_image_that_the_sink_takes_and_of_the_frames_that_it_chooses(tmp_path):
    """Here of a frame twice as large as the maps, with lines drawn on it, every second frame; three at most."""
    text = graph(1, 2, 0.04, 1)
    text = text[:text.index("sinks:")].replace(f"frame_size: [{WIDTH},", f"frame_size: [{2 * WIDTH},").replace(", 150], lanes", ", 300], lanes")
    text += """  - overlay
sinks:
  - {type: jsonl, path: c.jsonl, coordinates: map}
  - {type: images, path: "frames/{frame}.png", from: overlay}
  - {type: images, path: "fruit/{name}@{frame}.jpg", from: overlay, objects: true, around: 0, every: 2, first: 1, limit: 3, quality: 100}
"""
    lines = run(tmp_path, text)
    outlines = outlines_of(lines)
    paths = sorted((tmp_path / "out" / "fruit").iterdir())
    assert len(paths) == 3
    for path in paths:
        number, frame = int(path.stem.split("-")[1].split("@")[0]), int(path.stem.split("@")[1])
        assert frame % 2 == 1
        picture, whole = (np.asarray(Image.open(one).convert("RGB")).astype(int) for one in (path, tmp_path / "out" / "frames" / f"{frame}.png"))
        assert frame in best_frames({at: points for at, points in outlines[number].items() if at % 2 == 1}, WIDTH, 150)
        on_frame = (outlines[number][frame] + 0.5) * 2 - 0.5
        left, top = np.maximum(np.floor(on_frame.min(0)).astype(int), 0)
        right, bottom = np.ceil(on_frame.max(0)).astype(int) + 1
        cut = whole[top:bottom, left:right]
        assert cut.shape == picture.shape and abs(cut - picture).mean() < 3


def test_without_the_step_the_sink_says_what_is_missing(tmp_path):
    (tmp_path / "graph.yaml").write_text("""source: {type: synthetic, classes: 3, frames: 3}
classes: auto
stages: [contours]
sinks: [{type: images, path: "a/{name}.png", from: source.frame, objects: true}]
""")
    done = run_contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path, check=False)
    assert done.returncode == 78 and "the step objects of contour_prep does" in done.stdout
