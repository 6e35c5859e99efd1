"""objects against naive ones in Python: what lies on what by Shapely, and the records recomputed from the lines of the frames."""
import json
import statistics

import pytest
from shapely import geometry

from tests.conftest import run_contorno

CLASSES = ["background", "skin", "stem", "bruise", "rot", "scab", "russet", "puncture"]
GRAPH = """
source: {{type: synthetic, maps_size: [300, 100], frame_size: [300, 100], lanes: 1, classes: 8, rate: 30, speed: {speed}, seed: {seed},
         noise: 0.04, defects: 0.9}}
classes: [{classes}]
pipeline: {{slots: {slots}}}
stages:
  - marching_squares
  - contour_assembly
  - type: contour_prep
    steps: [{before}{{type: drop_small, min_points: 0, min_area: 3}}, {{type: objects, max_distance: 20, {objects}}}]
sinks: [{{type: jsonl, path: c.jsonl, coordinates: map}}]
"""
SKIN = {"of": "skin", "min_area": 500, "max_missed": 3}
FRUIT = {"of": "background", "holes": "true", "called": "fruit", "max_missed": 2}


def run(folder, seed, objects, speed=2, frames=70, slots=3, whole=("skin", "stem", "bruise", "rot", "scab", "russet", "puncture"),
        hidden=("background",), words=()):
    before = "" if objects.get("holes") else "close_at_border, "
    classes = ", ".join(f"{{name: {name}, whole: {str(name in whole).lower()}, hidden: {str(name in hidden).lower()}}}" for name in CLASSES)
    (folder / "graph.yaml").write_text(GRAPH.format(
        seed=seed, speed=speed, slots=slots, classes=classes, before=before,
        objects=", ".join(f"{key}: {value}" for key, value in objects.items())))
    done = run_contorno("run", "graph.yaml", "--output", "out", "--frames", frames, "--report", "report.json", *words, cwd=folder)
    lines = [json.loads(line) for line in (folder / "out" / "c.jsonl").read_text().splitlines()]
    return lines, json.loads((folder / "out" / "report.json").read_text()), done.stdout + done.stderr


def shoelace(points):
    x0, y0 = points[0]
    return sum((ax - x0) * (by - y0) - (bx - x0) * (ay - y0) for (ax, ay), (bx, by) in zip(points, points[1:])) / 2


def box(points):
    xs, ys = zip(*points)
    return min(xs), min(ys), max(xs), max(ys)


def owner_of(points, area, outlines, reach):
    """The id of the smallest outline that encloses more and has the middle of the first segment, else that of the box's middle beside."""
    larger = [one for one in outlines if one["area"] > area]
    middle = geometry.Point((points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2)
    found = [one for one in larger if one["polygon"].contains(middle)]
    if not found:
        left, top, right, bottom = box(points)
        x, y = (left + right) / 2, (top + bottom) / 2
        found = [one for one in larger
                 if one["box"][0] - reach <= x <= one["box"][2] + reach and one["box"][1] - reach <= y <= one["box"][3] + reach]
    return min(found, key=lambda one: one["area"], default=None)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("objects", [SKIN, {**SKIN, "reach": 0}, FRUIT], ids=["skin", "no reach", "fruit"])
def test_contours_belong_to_the_smallest_outline_around_them(tmp_path, seed, objects):
    lines, _, _ = run(tmp_path, seed, objects, frames=30)
    inside = beside = none = holes = 0
    for line in lines:
        if "kind" in line:
            continue
        outlines = []
        for one in next(of for of in line["classes"] if of["name"] == objects["of"])["contours"]:
            area = abs(shoelace(one["points"])) if one["closed"] else 0
            if one["attributes"]["id"] is not None and area >= objects.get("min_area", 0):
                polygon = geometry.Polygon(one["points"]) if len(one["points"]) > 3 else geometry.Polygon()
                outlines.append({"id": one["attributes"]["id"], "area": area, "polygon": polygon, "box": box(one["points"]),
                                 "contour": one})
        for of in line["classes"]:
            for one in of["contours"]:
                got = one["attributes"]
                signed = shoelace(one["points"]) if one["closed"] else 0
                own = next((outline for outline in outlines if outline["contour"] is one), None)
                owner = own or owner_of(one["points"], abs(signed), outlines, objects.get("reach", 2))
                assert got["object"] == (owner and owner["id"])
                if owner is None:
                    none += 1
                    assert got["share"] is None
                    continue
                turned = -1 if objects.get("holes") and of["name"] == objects["of"] else 1
                assert got["share"] == (pytest.approx(turned * signed / owner["area"], abs=1e-7) if owner["area"] else None)
                holes += got["share"] is not None and got["share"] < 0
                first = geometry.Point((one["points"][0][0] + one["points"][1][0]) / 2, (one["points"][0][1] + one["points"][1][1]) / 2)
                if own is None:
                    inside, beside = inside + owner["polygon"].contains(first), beside + (not owner["polygon"].contains(first))
    assert inside > 30 and none > 10
    assert beside > 3 or objects is not SKIN
    assert holes > 3 or objects is FRUIT


class Naive:
    """Every number of a record, from the frames in which the object was seen."""

    def __init__(self, objects, whole, hidden, size, max_views=256, margin=1):
        self.of, self.max_missed = objects["of"], objects.get("max_missed", 5)
        self.whole, self.hidden, self.size, self.max_views, self.margin = whole, hidden, size, max_views, margin
        self.objects, self.frames = {}, []

    def is_whole(self, points):
        left, top, right, bottom = box(points)
        return (min(left, top) >= self.margin and right <= self.size[0] - 1 - self.margin
                and bottom <= self.size[1] - 1 - self.margin)

    def add(self, line):
        self.frames.append(line["frame"])
        seen = {}
        for of in line["classes"]:
            for one in of["contours"]:
                a = one["attributes"]
                if of["name"] == self.of and a["object"] is not None and a["object"] == a["id"]:
                    seen[a["id"]] = one
        for key, outline in seen.items():
            view = {"frame": line["frame"], "pts_ns": line["pts_ns"], "shares": None}
            area = abs(shoelace(outline["points"])) if outline["closed"] else 0
            sums, counts = {}, {}
            for of in line["classes"]:
                total, count = 0.0, 0
                for one in of["contours"]:
                    if one["attributes"]["object"] == key:
                        total += one["attributes"]["share"] or 0
                        count += one["attributes"]["id"] is not None
                sums[of["name"]], counts[of["name"]] = total, count
            of_whole = 1.0
            if self.whole:
                of_whole = 0.0
                for name in CLASSES:
                    of_whole += sums[name] if name in self.whole else 0
            if self.is_whole(outline["points"]) and area > 0 and of_whole > 0:
                view.update(shares={name: total / of_whole for name, total in sums.items()}, counts=counts, area=area)
            self.objects.setdefault(key, []).append(view)

    def numbers(self, values):
        if not values:
            return None
        total = 0.0
        for value in values:
            total += value
        kept, stride = list(values), 1
        while len(kept) > self.max_views:
            stride *= 2
            kept = values[::stride]
        return {"largest": max(values), "mean": total / len(values), "median": statistics.median(kept)}

    def record(self, key):
        views = self.objects[key]
        whole = [view for view in views if view["shares"] is not None]
        last = views[-1]["frame"]
        gone = [frame for frame in self.frames if frame - last > self.max_missed]
        place = lambda view: {"frame": view["frame"], "pts_ns": view["pts_ns"]}
        classes = []
        for name in CLASSES:
            if name in self.hidden:
                continue
            having = [view for view in whole if view["counts"][name] > 0]
            best = max(having, key=lambda view: view["shares"][name], default=None)
            classes.append({"name": name, "share": self.numbers([view["shares"][name] for view in whole]),
                            "count": self.numbers([view["counts"][name] for view in whole]), "best": best and place(best)})
        return {"kind": "object", "id": key, "left": bool(gone), "first": place(views[0]), "last": place(views[-1]), "views": len(views),
                "whole_views": len(whole), "area": self.numbers([view["area"] for view in whole]), "classes": classes,
                "before": gone[0] if gone else None}


def check_records(lines, naive, max_views=256):
    """Compares every record, and where it stands among the frames."""
    for line in lines:
        if "kind" not in line:
            naive.add(line)
    found = {}
    for at, line in enumerate(lines):
        if "kind" not in line:
            continue
        assert line["id"] not in found, "one record for each object"
        found[line["id"]] = line
        wanted = naive.record(line["id"])
        following = next((other["frame"] for other in lines[at:] if "kind" not in other), None)
        assert following == wanted.pop("before")
        area, wanted_area = line["area"], wanted.pop("area")
        if wanted_area is None:
            assert area is None
        else:
            assert {key: pytest.approx(value, rel=1e-7) for key, value in wanted_area.items()} == area
        assert line["median_views"] == line["whole_views"] or line["whole_views"] > max_views
        got = {key: line[key] for key in wanted}
        got["classes"] = [{key: of[key] for key in ("name", "share", "count", "best")} for of in line["classes"]]
        assert got == wanted
    assert sorted(found) == sorted(naive.objects)
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("objects", [SKIN, FRUIT], ids=["skin", "fruit"])
@pytest.mark.parametrize("speed", [2, 4])
def test_records_are_what_the_frames_say(tmp_path, seed, objects, speed):
    whole = CLASSES[1:] if seed != 2 else []
    lines, report, text = run(tmp_path, seed, objects, speed=speed, whole=whole)
    records = check_records(lines, Naive(objects, whole, ["background"], (300, 100)))
    assert sum(one["left"] for one in records.values()) >= 2 and sum(not one["left"] for one in records.values()) >= 1
    name = objects.get("called", objects["of"])
    assert {one["object"] for one in records.values()} == {name}
    defects = [one for one in CLASSES if one not in ("background", objects["of"])]
    over = {defect: sum(any(of["name"] == defect and of["over"] for of in one["classes"]) for one in records.values()) for defect in defects}
    for one in records.values():
        for of in one["classes"]:
            assert of["over"] == (of["name"] in defects and of["share"] is not None and of["share"]["largest"] > 0.02)
    totals, = report["objects"]
    assert (totals["object"], totals["objects"], totals["threshold"]) == (name, len(records), 0.02)
    assert {one["class"]: one["objects"] for one in totals["over"]} == over
    assert totals["never_whole"] == sum(one["whole_views"] == 0 for one in records.values())
    sentence = ", ".join(f"{count} with {defect} over 2 %" for defect, count in over.items() if count)
    assert f"objects   {len(records)} {name}; {sentence or 'none over 2 %'}\n" in text


def test_medians_are_of_every_second_view_when_there_are_more_than_allowed(tmp_path):
    objects = {**FRUIT, "max_views": 7}
    lines, _, _ = run(tmp_path, 4, objects)
    records = check_records(lines, Naive(objects, CLASSES[1:], ["background"], (300, 100), max_views=7), max_views=7)
    assert any(one["whole_views"] > 14 for one in records.values())
    for one in records.values():
        stride = 1
        while (one["whole_views"] + stride - 1) // stride > 7:
            stride *= 2
        assert one["median_views"] == (one["whole_views"] + stride - 1) // stride


def test_chosen_defects_and_threshold_are_counted(tmp_path):
    objects = {**FRUIT, "defects": "'rot, scab'", "threshold": 0.3}
    lines, report, _ = run(tmp_path, 1, objects, hidden=("background", "scab"))
    totals, = report["objects"]
    assert [one["class"] for one in totals["over"]] == ["rot", "scab"]
    # A defect is in the records although it is hidden.
    assert {of["name"] for line in lines if "kind" in line for of in line["classes"]} == set(CLASSES[1:])


def test_wide_margins_leave_views_out(tmp_path):
    objects = {**FRUIT, "margin": 40}
    lines, report, text = run(tmp_path, 1, objects)
    check_records(lines, Naive(objects, CLASSES[1:], ["background"], (300, 100), margin=40))
    assert report["objects"][0]["never_whole"] > 0 and "never seen whole" in text


def test_objects_for_which_there_is_no_room_are_told(tmp_path):
    lines, report, text = run(tmp_path, 1, {**FRUIT, "max_objects": 1})
    assert report["objects"][0]["views_left_out"] > 0 and "left out for want of room" in text


@pytest.mark.parametrize("slots", [1, 6])
def test_records_do_not_depend_on_slots(tmp_path, slots):
    lines = [run(folder, 3, SKIN, slots=count)[0] for count, folder in ((3, tmp_path), (slots, tmp_path))]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("objects, sentence", [({"of": "skim"}, "of has 'skim', which is no class; allowed: background, skin, stem"),
                                               ({"of": "skin", "defects": "'rot,rott'"}, "defects has 'rott', which is no class")])
def test_classes_that_are_not_there_are_refused(tmp_path, objects, sentence):
    classes = ", ".join(f"{{name: {name}}}" for name in CLASSES)
    (tmp_path / "graph.yaml").write_text(GRAPH.format(seed=1, speed=2, slots=2, classes=classes, before="",
                                                      objects=", ".join(f"{key}: {value}" for key, value in objects.items())))
    done = run_contorno("check", "graph.yaml", check=False, cwd=tmp_path)
    assert done.returncode == 78 and sentence in done.stderr


def test_files_of_records_are_read_again(tmp_path):
    lines, _, _ = run(tmp_path, 1, FRUIT, frames=40)
    run_contorno("clean", "out/c.jsonl", "again.jsonl", "--step", "drop_small min_points=0", cwd=tmp_path)
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    assert again == [line for line in lines if "kind" not in line]
