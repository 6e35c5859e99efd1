"""track against a naive one in Python, which compares all pairs, over random moving things, graphs and files; and the ids of
fruit on the synthetic line."""
import json

import numpy as np
import pytest

from tests.conftest import read_lines
from tests.plugins.python.package import contorno


class Naive:
    """Objects as dicts, all pairs in a list, the best one taken until none is left."""

    def __init__(self, min_overlap=0.3, max_distance=20, max_missed=5):
        self.min_overlap, self.max_distance, self.max_missed = min_overlap, max_distance, max_missed
        self.objects, self.ids, self.births, self.deaths, self.last = [], 0, 0, 0, None

    @staticmethod
    def look(points):
        points = np.asarray(points, np.float64)
        shifted = points - points[0]
        a, b = shifted[:-1], shifted[1:]
        cross = a[:, 1] * b[:, 0] - a[:, 0] * b[:, 1]
        weights = cross if (points[0] == points[-1]).all() and cross.sum() != 0 else np.hypot(*(b - a).T)
        parts = 3 if weights is cross else 2
        centre = points[0] + ((a + b) * weights[:, None]).sum(axis=0) / (parts * weights.sum()) if weights.sum() else points[0]
        closed = (points[0] == points[-1]).all()
        return {"box": (*points.min(axis=0), *points.max(axis=0)), "centre": centre, "hole": closed and cross.sum() < 0}

    @staticmethod
    def overlap(a, b):
        sides = [min(a[2 + k], b[2 + k]) - max(a[k], b[k]) for k in (0, 1)]
        both = max(sides[0], 0) * max(sides[1], 0)
        area = [(one[2] - one[0]) * (one[3] - one[1]) for one in (a, b)]
        return both / (sum(area) - both) if both > 0 else 0

    def update(self, number, contours):
        """`contours`: (class, points). Returns (id, age) of each, (None, None) of a hole."""
        if self.last is not None and number <= self.last:
            self.deaths += len(self.objects)
            self.objects = []
        self.last = number
        looked = [{**self.look(points), "class": of} for of, points in contours]
        seen = [one for one in looked if not one["hole"]]
        pairs = []
        for i, one in enumerate(seen):
            for other in self.objects:
                if other["class"] != one["class"] or number - other["last"] - 1 > self.max_missed:
                    continue
                overlap = self.overlap(one["box"], other["box"])
                distance = ((one["centre"] - other["centre"]) ** 2).sum()
                if overlap > 0 and overlap >= self.min_overlap:
                    pairs.append((0, -np.float32(overlap), other["id"], i, other))
                elif distance <= self.max_distance ** 2:
                    pairs.append((1, np.float32(distance), other["id"], i, other))
        while pairs:
            _, _, key, i, other = min(pairs, key=lambda pair: pair[:4])
            seen[i].update(id=key, first=other["first"])
            pairs = [pair for pair in pairs if pair[2] != key and pair[3] != i]
        for one in seen:
            if "id" not in one:
                self.ids += 1
                self.births += 1
                one.update(id=self.ids, first=number)
            one["last"] = number
        shown = {one["id"] for one in seen}
        missed = [one for one in self.objects if one["id"] not in shown]
        kept = [one for one in missed if number - one["last"] <= self.max_missed]
        self.deaths += len(missed) - len(kept)
        self.objects = seen + kept
        return [(None, None) if one["hole"] else (one["id"], number - one["first"]) for one in looked]


def rows_of(attributes):
    """(id, age) of each contour; None where an array has NaN."""
    rows = zip(attributes["id"], attributes["age"])
    return [tuple(None if number is None or np.isnan(number) else number for number in row) for row in rows]


def scene(seed, frames=50, things=25, classes=2):
    """(number, [(class, points)]) of things that move, appear, leave, hide and run into each other; some frames are missing."""
    random = np.random.default_rng(seed)

    def appear(col):
        return {"class": int(random.integers(classes)), "at": np.array([random.uniform(0, 300), col]),
                "step": random.uniform([-1, 0], [1, 6]), "size": random.uniform(3, 30, 2), "hidden": 0}

    movers, number = [appear(random.uniform(0, 300)) for _ in range(things)], 0
    for _ in range(frames):
        for place, one in enumerate(movers):
            one["at"] = one["at"] + one["step"]
            one["hidden"] = max(one["hidden"] - 1, 0) or (int(random.integers(1, 9)) if random.random() < 0.04 else 0)
            if one["at"][1] > 320 or random.random() < 0.005:
                movers[place] = appear(0)
        shown = [dict(one) for one in movers if not one["hidden"]]
        merged = []
        for one in shown:  # things whose boxes overlap much are one contour
            for other in merged:
                if one["class"] == other["class"] and (abs(one["at"] - other["at"]) < (one["size"] + other["size"]) / 6).all():
                    other["size"] = other["size"] * 1.3
                    break
            else:
                merged.append(one)
        order = random.permutation(len(merged))
        contours = []
        for k in sorted(order, key=lambda k: merged[k]["class"]):
            turns = np.linspace(0, 2 * np.pi, int(random.integers(5, 30)))
            ring = merged[k]["at"] + merged[k]["size"] / 2 * np.column_stack([np.sin(turns), np.cos(turns)])
            ring[-1] = ring[0]
            contours.append((merged[k]["class"], ring.astype(np.float32)))
            if k % 4 == 1:  # it has a hole, which nothing else may become
                middle = ring.mean(axis=0)
                contours.append((merged[k]["class"], (middle + (ring[::-1] - middle) * 0.6).astype(np.float32)))
        yield number, contours
        number += 1 if random.random() < 0.85 else int(random.integers(2, 10))


def by_class(contours, classes=2):
    return [[points for of, points in contours if of == k] for k in range(classes)]


PARAMETERS = [{}, {"max_missed": 0}, {"min_overlap": 0.6, "max_distance": 8, "max_missed": 2}, {"max_distance": 1e9}]


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_tracker_gives_the_ids_and_counts_of_all_pairs(parameters, threads):
    naive, tracker = Naive(**parameters), contorno.Tracker(threads=threads, **parameters)
    for number, contours in scene(len(parameters) + threads):
        made = tracker.update(by_class(contours), number)
        assert rows_of(made.attributes) == naive.update(number, contours)
    assert naive.births > 40
    counts = tracker.counts
    assert (sum(counts["births"]), sum(counts["deaths"]), sum(counts["forgotten"])) == (naive.births, naive.deaths, 0)


def test_the_frames_of_one_call_are_one_sequence():
    frames = list(scene(7))
    points = [points for _, contours in frames for _, points in contours]
    arrays = contorno.ContourArrays(
        np.concatenate(points), np.cumsum([0, *map(len, points)]), np.ones(len(points), bool),
        np.array([of for _, contours in frames for of, _ in contours], np.int32),
        np.array([number for number, contours in frames for _ in contours], np.int32), np.zeros(len(points), np.int32))
    naive = Naive()
    wanted = [row for number, contours in frames if contours for row in naive.update(number, contours)]
    for _ in range(2):  # the second call knows nothing of the first
        made = contorno.track(arrays)
        assert rows_of(made.attributes) == wanted


def test_a_tracker_counts_frames_and_begins_anew_where_they_go_back():
    square = np.array([[0, 0], [0, 9], [9, 9], [9, 0], [0, 0]], np.float32)
    tracker = contorno.Tracker(max_missed=2)
    assert tracker.counts == {"births": [], "deaths": [], "forgotten": []}
    ids = [tracker.update(frame).attributes["id"].tolist() for frame in ([square], [], [], [square], [square + 500, square + 1])]
    assert ids == [[1], [], [], [1], [2, 1]]
    assert tracker.update([square], 4).attributes["id"].tolist() == [3]
    assert tracker.update([square]).attributes["age"].tolist() == [1]
    assert tracker.update([square], 8).attributes["id"].tolist() == [3]
    assert tracker.update([square], 12).attributes["id"].tolist() == [4]
    assert tracker.counts == {"births": [4], "deaths": [3], "forgotten": [0]}


def test_what_a_tracker_does_not_take_is_refused():
    with pytest.raises(TypeError, match="min_overlp"):
        contorno.Tracker(min_overlp=1)
    tracker = contorno.Tracker(max_missed=-1)
    with pytest.raises(ValueError, match="max_missed"):
        tracker.update([])
    with pytest.raises(ValueError, match="frame is -1"):
        contorno.Tracker().update([], -1)


def of_line(line):
    """(class, points as row, column) of a line of a file."""
    return [(k, np.array(one["points"])[:, ::-1]) for k, of in enumerate(line["classes"]) for one in of["contours"]]


def check_lines(lines, naive):
    """What a file of JSON lines says of ids, against all pairs of its contours."""
    for line in lines:
        made = [(one["attributes"]["id"], one["attributes"]["age"]) for of in line["classes"] for one in of["contours"]]
        assert made == naive.update(line["frame"], of_line(line))


def test_clean_follows_objects_through_the_frames_of_a_file(contorno, tmp_path):
    text = []
    for number, contours in scene(3):
        classes = [{"name": name, "level": 0.5, "contours": [{"closed": True, "points": points[:, ::-1].tolist()} for points in of]}
                   for name, of in zip("ab", by_class(contours))]
        # Classes without contours may be missing from a frame.
        text.append(json.dumps({"frame": number, "width": 400, "height": 400, "classes": classes if number % 3 else classes[:1]}))
    (tmp_path / "in.jsonl").write_text("\n".join(text) + "\n")
    contorno("clean", "in.jsonl", "out.jsonl", "--step", "drop_small min_points=0", "--step", "track max_missed=2", cwd=tmp_path)
    lines = read_lines(tmp_path / "out.jsonl")
    naive = Naive(max_missed=2)
    check_lines(lines, naive)
    assert len(lines) == 50 and naive.births > 40


@pytest.fixture(scope="module")
def discs(tmp_path_factory):
    """A folder of maps with discs that move, one map a frame."""
    folder = tmp_path_factory.mktemp("discs")
    rows, cols = np.mgrid[:96, :160]
    for number in range(24):
        field = np.full((2, 96, 160), -1.0)
        for k in range(2):
            for disc in range(5):
                if (number + 3 * disc) % 17 != 4:  # sometimes it hides
                    col = (30 * disc + 4 * number + 11 * k) % 170 - 5
                    field[k] = np.maximum(field[k], (5 + disc - np.hypot(rows - 12 - 17 * disc, cols - col)) / 8)
        np.save(folder / f"maps-{number:03}.npy", np.clip(0.5 + field, 0, 1).astype(np.float32))
    return folder


@pytest.mark.parametrize("slots, threads", [(1, 1), (2, 2), (3, 1), (4, 2)])
@pytest.mark.parametrize("every", [1, 2])
def test_track_in_a_graph_gives_what_all_pairs_say(contorno, tmp_path, discs, slots, threads, every):
    graph = f"""
pipeline: {{slots: {slots}, threads: {threads}, backend: cpu}}
classes: [{{name: a, level: 0.5}}, {{name: b, level: 0.5}}]
source: {{type: dataset, location: '{discs}', layout: chw, every: {every}}}
stages:
  - marching_squares
  - contour_assembly
  - type: contour_prep
    steps: [{{type: drop_small, min_points: 5}}, hierarchy, {{type: track, max_missed: 2}}, largest_first]
sinks: [{{type: jsonl, path: out.jsonl, coordinates: map}}]
"""
    (tmp_path / "graph.yaml").write_text(graph)
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path, "--report", tmp_path / "report.json")
    lines = read_lines(tmp_path / "out.jsonl")
    assert len(lines) == 24 // every
    # Ids are given in the order before largest_first, which hierarchy has noted.
    naive = Naive(max_missed=2)
    for line in lines:
        attributes = [one["attributes"] for of in line["classes"] for one in of["contours"]]
        order = np.argsort([one["number"] for one in attributes])
        contours = of_line(line)
        wanted = naive.update(line["frame"], [contours[place] for place in order])
        assert [(attributes[place]["id"], attributes[place]["age"]) for place in order] == wanted
    tracks = json.loads((tmp_path / "report.json").read_text())["tracks"]
    assert [one["class"] for one in tracks] == ["a", "b"] and {one["stage"] for one in tracks} == {"contour_prep_track"}
    assert sum(one["births"] for one in tracks) == naive.births and sum(one["deaths"] for one in tracks) == naive.deaths


def test_fruit_keep_their_ids_while_they_pass(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text("""
classes: [{name: background}, {name: fruit}]
source: {type: synthetic, maps_size: [640, 240], classes: 2, rate: 10, speed: 1, fill: 0.8, seed: 4}
stages:
  - marching_squares
  - contour_assembly
  - {type: drop_small, min_points: 0, min_area: 400}
  - track
sinks: [{type: jsonl, path: out.jsonl, coordinates: map}]
""")
    contorno("run", tmp_path / "graph.yaml", "--output", tmp_path, "--frames", 60)
    lines = read_lines(tmp_path / "out.jsonl")
    check_lines(lines, Naive())
    places = {}
    for line in lines:
        for one in line["classes"][1]["contours"]:
            left, _, width, _ = one["bbox"]
            if one["attributes"]["id"] is None:  # the hole of a spot in the skin
                continue
            places.setdefault(one["attributes"]["id"], []).append((line["frame"], left, left + width))
    assert len(places) > 10
    for steps in places.values():
        # It comes in on the left, or was there from the first frame; it goes out on the right, or is there in the last one. What
        # touches the border is open, has no area, and is left out.
        assert steps[0][0] == 0 or steps[0][1] < 24
        assert steps[-1][0] == 59 or steps[-1][2] > 616
        assert all(after[1] >= before[1] - 1 for before, after in zip(steps, steps[1:]))


def ring_and_discs(folder):
    """Two frames: a ring, a disc that becomes a ring, and a ring that becomes a disc, where the hole was as large."""
    rows, cols = np.mgrid[:60, :200]

    def disc(col, radius):
        return (radius - np.hypot(rows - 30, cols - col)) / 4

    maps = []
    for large in (False, True):
        ring = np.minimum(disc(30, 20), -disc(30, 9))
        other = disc(100, 9) if large else np.minimum(disc(100, 20), -disc(100, 9))
        third = np.minimum(disc(160, 20), -disc(160, 9)) if large else disc(160, 9)
        maps.append(np.clip(0.5 + np.maximum.reduce([ring, other, third]), 0, 1))
    np.save(folder / "maps.npy", np.stack(maps)[:, None].astype(np.float32))


GRAPH_OF_RINGS = """
source: {{type: dataset, location: maps.npy, layout: chw}}
classes: [{{name: a}}]
stages:
  - marching_squares
  - {{type: contour_assembly, positive_orientation: {made}}}
  - {{type: contour_prep, steps: [{{type: track, max_distance: 10, positive_orientation: {told}}}]}}
sinks: [{{type: jsonl, path: c.jsonl}}]
"""


@pytest.mark.parametrize("orientation", ["low", "high"])
def test_rings_are_one_object_each_whichever_way_contours_run(contorno, tmp_path, orientation):
    ring_and_discs(tmp_path)
    (tmp_path / "graph.yaml").write_text(GRAPH_OF_RINGS.format(made=orientation, told=orientation))
    done = contorno("run", "graph.yaml", "--report", "report.json", cwd=tmp_path)
    [track] = json.loads((tmp_path / "report.json").read_text())["tracks"]
    assert (track["births"], track["deaths"], track["forgotten"]) == (3, 0, 0) and "3 births, 0 deaths" in done.stderr + done.stdout
    sign = 1 if orientation == "low" else -1
    for line in read_lines(tmp_path / "c.jsonl"):
        ids = {}
        for one in line["classes"][0]["contours"]:
            ids.setdefault(sign * one["area"] > 0, []).append(one["attributes"]["id"])
        assert sorted(ids[True]) == [1, 2, 3] and ids[False] == [None, None]
    assert "orientation" not in contorno("check", "graph.yaml", cwd=tmp_path).stderr


def test_another_orientation_than_that_of_the_contours_is_warned_of(contorno, tmp_path):
    ring_and_discs(tmp_path)
    (tmp_path / "graph.yaml").write_text(GRAPH_OF_RINGS.format(made="high", told="low"))
    said = contorno("check", "graph.yaml", cwd=tmp_path)
    assert ("node 'contour_prep_track': positive_orientation is low, but contour_assembly's is high: holes and what lies "
            "around them are mistaken for each other") in said.stdout + said.stderr
