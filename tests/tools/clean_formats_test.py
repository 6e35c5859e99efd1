"""`contorno clean` between JSON lines, COCO and GeoJSON: what goes round is the same, what other programs write is read, and what is
wrong with a file is told with its place. COCO is also read as pycocotools reads it: lists by image and category, corners of pixels at
integers, polygons filled as they are."""
import json
import math

import numpy as np
import pytest
from shapely.geometry import Polygon, shape
from tests.conftest import run_measured

STEP = ["--step", "drop_small min_points=0"]  # leaves all as it is


def ring(*points):
    return [list(point) for point in points] + [list(points[0])]


def blob(seed, x, y, radius, points=40):
    """A ring of positive area (clockwise on the screen) whose coordinates use all bits of float32."""
    random = np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, points, endpoint=False)
    far = radius * random.uniform(0.7, 1, points)
    xy = np.stack([x + far * np.cos(turn), y + far * np.sin(turn)], 1).astype(np.float32)
    return ring(*xy.tolist())


def contour(points, closed=True, **attributes):
    return {"closed": closed, "points": points, **({"attributes": attributes} if attributes else {})}


# A region with two holes and an island in the first, one near the border (where half a pixel more needs more bits), and a line.
LARGE = contour(blob(1, 60, 50, 40), area=5.5, depth=0)
HOLES = [contour(blob(2, 50, 50, 8)[::-1], area=-0.25, depth=1), contour(blob(3, 70, 55, 7)[::-1])]
ISLAND = contour(blob(4, 50.25, 50.125, 3), area=1e-3)
NEAR = contour(blob(5, 0.3, 2.2, 0.4))
LINE = contour([[100.0, 0.0], [101.1, 7.7], [100.0, 9.0]], closed=False, area=0.125)
KEPT_BY_COCO = [LARGE, *HOLES, ISLAND, NEAR]


def frame(number, *classes, **more):
    return {"frame": number, "pts_ns": 40 * number - 7, "width": 128, "height": 100, **more,
            "classes": [{"name": name, "level": level, "contours": list(contours)} for name, level, contours in classes]}


def write_lines(path, *frames):
    path.write_text("".join(json.dumps(one) + "\n" for one in frames))


def clean(contorno, folder, *names, step=STEP):
    for given, made in zip(names, names[1:]):
        contorno("clean", given, made, *step, cwd=folder)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def bits(points):
    return np.asarray(points, np.float32).tobytes()


def contours_of(one, with_attributes=True):
    """Per class: its contours as bits, in an order of their own."""
    def known(contour):
        given = contour.get("attributes") or {}
        return tuple(sorted((name, value) for name, value in given.items() if value is not None)) if with_attributes else ()
    return [(entry["name"], entry["level"], sorted((contour["closed"], bits(contour["points"]), known(contour)) for contour in entry["contours"]))
            for entry in one["classes"]]


def heads(frames):
    return [(one["frame"], one.get("name"), one["pts_ns"], one["width"], one["height"]) for one in frames]


def without_attributes(contour):
    return {name: value for name, value in contour.items() if name != "attributes"}


FRAMES = [frame(0, ("rot", 0.5, KEPT_BY_COCO), ("leaf é\"<", 0.25, [ISLAND])),
          frame(3, ("rot", 0.5, [NEAR]), ("leaf é\"<", 0.25, []), name="a/b.png"),
          frame(7, ("rot", 0.5, []), ("leaf é\"<", 0.25, []))]
# The holes' own attributes have no place in a region.
EXPECTED = [frame(0, ("rot", 0.5, [LARGE, *map(without_attributes, HOLES), ISLAND, NEAR]), ("leaf é\"<", 0.25, [ISLAND])), *FRAMES[1:]]


@pytest.mark.parametrize("form", ["json", "geojson"])
def test_what_goes_round_by_coco_and_geojson_has_the_same_bits(contorno, tmp_path, form):
    write_lines(tmp_path / "in.jsonl", *FRAMES)
    clean(contorno, tmp_path, "in.jsonl", f"a.{form}", "back.jsonl", f"b.{form}")
    back = read_lines(tmp_path / "back.jsonl")
    kept = EXPECTED if form == "json" else EXPECTED[:2]  # a frame without contours has no feature
    assert heads(back) == heads(kept)
    assert [contours_of(one) for one in back] == [contours_of(one) for one in kept]
    assert (tmp_path / f"b.{form}").read_bytes() == (tmp_path / f"a.{form}").read_bytes()


def test_lines_and_holes_without_a_region_go_round_by_geojson(contorno, tmp_path):
    frames = [frame(2, ("rot", 0.5, [LINE, HOLES[0]]), ("rot", 0.75, [LARGE]))]  # one name, two levels
    write_lines(tmp_path / "in.jsonl", *frames)
    clean(contorno, tmp_path, "in.jsonl", "a.geojson", "back.jsonl")
    back = read_lines(tmp_path / "back.jsonl")
    assert heads(back) == heads(frames) and [contours_of(one) for one in back] == [contours_of(one) for one in frames]


def test_coco_and_geojson_become_each_other(contorno, tmp_path):
    write_lines(tmp_path / "in.jsonl", *FRAMES[:2])
    clean(contorno, tmp_path, "in.jsonl", "a.json", "a.geojson", "b.json", "b.geojson")
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    assert (tmp_path / "b.geojson").read_bytes() == (tmp_path / "a.geojson").read_bytes()
    (tmp_path / "named.json").write_bytes((tmp_path / "a.geojson").read_bytes())  # the content decides
    clean(contorno, tmp_path, "named.json", "c.geojson")
    assert (tmp_path / "c.geojson").read_bytes() == (tmp_path / "a.geojson").read_bytes()


def test_regions_are_those_that_other_readers_see(contorno, tmp_path):
    write_lines(tmp_path / "in.jsonl", FRAMES[0])
    clean(contorno, tmp_path, "in.jsonl", "a.json", "a.geojson")
    points = lambda one: np.asarray(one["points"], np.float32).astype(float)
    wanted = Polygon(points(LARGE), [points(hole) for hole in HOLES])
    exact = lambda rings: [np.asarray(one, np.float32).astype(float) for one in rings]
    features = [Polygon(exact(one["geometry"]["coordinates"])[0], exact(one["geometry"]["coordinates"])[1:]) for one in json.loads((tmp_path / "a.geojson").read_text())["features"]]
    assert all(one.is_valid for one in features)
    assert any(one.symmetric_difference(wanted).area < 1e-9 * wanted.area for one in features)
    coco = json.loads((tmp_path / "a.json").read_text())
    largest = max(coco["annotations"], key=lambda one: one["area"])
    assert largest["area"] == pytest.approx(wanted.area, rel=1e-12)
    (flat,) = largest["segmentation"]
    xy = np.asarray(flat).reshape(-1, 2)
    assert {bits(one - 0.5) for one in xy} == {bits(one) for contour in [LARGE, *HOLES] for one in points(contour)}
    assert [one["level"] for one in coco["categories"]] == [0.5, 0.25]


def coco_of(**members):
    polygon = [10.5, 10.5, 30.5, 10.5, 30.5, 40.5]
    return {"images": [{"id": 9, "width": 64, "height": 48, "file_name": "x.jpg"}, {"id": 4, "width": 50, "height": 40, "file_name": "y.jpg"}],
            "annotations": [{"id": 1, "image_id": 4, "category_id": 70, "segmentation": [polygon], "bbox": [0, 0, 1, 1], "area": 1, "iscrowd": 0}],
            "categories": [{"id": 70, "name": "cat", "supercategory": "pet"}, {"id": 3, "name": "dog"}], "info": {"any": [[[]]]}, **members}


def annotation(polygons, **more):
    return {"id": 1, "image_id": 9, "category_id": 3, "segmentation": polygons, **more}


def test_coco_of_other_programs_is_read(contorno, tmp_path):
    right, left = [1, 1, 5, 1, 5, 4, 1, 4], [20, 4, 25, 4, 25, 1, 20, 1, 20, 4]  # clockwise; the other way, and closed
    given = coco_of()
    given["annotations"] += [annotation([right, left], attributes={"occluded": False, "area": 3.5}), annotation([[0.5, 0.5, 1, 0.5, 1, 1]])]
    (tmp_path / "in.json").write_text("\ufeff" + json.dumps(given, indent=1))
    clean(contorno, tmp_path, "in.json", "out.jsonl")
    first, second = read_lines(tmp_path / "out.jsonl")
    assert heads([first, second]) == [(0, "x.jpg", 0, 64, 48), (1, "y.jpg", 0, 50, 40)]
    cats, dogs = first["classes"]
    assert (cats["name"], dogs["name"], cats["contours"], dogs["level"]) == ("cat", "dog", [], 0.5)
    assert [one["points"] for one in dogs["contours"]] == [
        [[0.5, 0.5], [4.5, 0.5], [4.5, 3.5], [0.5, 3.5], [0.5, 0.5]], [[19.5, 3.5], [19.5, 0.5], [24.5, 0.5], [24.5, 3.5], [19.5, 3.5]],
        [[0, 0], [0.5, 0], [0.5, 0.5], [0, 0]]]
    assert [one["area"] for one in dogs["contours"]] == [12, 15, 0.125]
    assert [one["attributes"] for one in dogs["contours"]] == [{"area": 3.5}, {"area": 3.5}, {"area": None}]
    assert second["classes"][0]["contours"][0]["points"] == [[10, 10], [30, 10], [30, 40], [10, 10]]


def test_a_ring_that_touches_its_first_point_again_is_one_contour(contorno, tmp_path):
    touching = [[8, 8], [12, 8], [12, 12], [8, 8], [4, 12], [4, 8]]
    write_lines(tmp_path / "in.jsonl", frame(0, ("rot", 0.5, [contour(ring(*touching))])))
    clean(contorno, tmp_path, "in.jsonl", "a.json", "back.jsonl")
    assert [one["points"] for one in read_lines(tmp_path / "back.jsonl")[0]["classes"][0]["contours"]] == [ring(*touching)]


SQUARE = [[2, 2], [2, 8], [8, 8], [8, 2], [2, 2]]  # runs the other way than regions here


def geojson_of(*features, **more):
    return {"type": "FeatureCollection", "features": list(features), **more}


def feature(kind, coordinates, **properties):
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def test_geojson_of_other_programs_is_read(contorno, tmp_path):
    hole, other = [[4, 4], [4, 5], [5, 5], [4, 4]], [[20.25, 20], [30, 20], [30, 30.5], [20.25, 20]]
    bare = {**feature("MultiPolygon", [[SQUARE, hole[::-1]], [other]]), "properties": None}
    given = geojson_of(bare, feature("LineString", [[1, 1], [2, 9.5]], attributes={"weight": "x", "depth": 2}, **{"class": "b"}),
                       feature("Polygon", [SQUARE], frame=5, name="n.png", width=64, height=32), crs={"type": "name"})
    (tmp_path / "in.json").write_text(json.dumps(given))
    clean(contorno, tmp_path, "in.json", "out.jsonl")
    first, second = read_lines(tmp_path / "out.jsonl")
    assert heads([first, second]) == [(0, None, 0, 31, 32), (5, "n.png", 0, 64, 32)]  # the smallest map with all points; its own
    assert [(one["name"], one["level"]) for one in first["classes"]] == [("class 0", 0.5), ("b", 0.5)]
    assert [one["area"] for one in first["classes"][0]["contours"]] == [36, -0.5, 0.5 * 9.75 * 10.5]
    assert first["classes"][0]["contours"][0]["points"] == SQUARE[::-1]
    (line,) = first["classes"][1]["contours"]
    assert (line["closed"], line["points"], line["attributes"]) == (False, [[1, 1], [2, 9.5]], {"depth": 2})
    assert shape(feature("Polygon", [one["points"] for one in first["classes"][0]["contours"][:2]])["geometry"]).is_valid


def changed_coco(change):
    given = coco_of()
    change(given)
    return json.dumps(given, indent=0)


def with_polygon(polygon):
    return changed_coco(lambda given: given["annotations"][0].update(segmentation=polygon))


FLAT = [1, 1, 5, 1, 5, 5]
WRONG_COCO = [
    (with_polygon({"counts": "x", "size": [4, 4]}), "the segmentation of annotations[0] is a mask (RLE), which is not read; wanted polygons"),
    (with_polygon([]), "the segmentation of annotations[0] has no polygons"),
    (with_polygon([FLAT, FLAT + [1]]), "annotations[0].segmentation[1] has 7 numbers, wanted x and y of 3 points or more"),
    (with_polygon([FLAT[:4]]), "annotations[0].segmentation[0] has 4 numbers, wanted x and y of 3 points or more"),
    (with_polygon([3]), "annotations[0].segmentation[0] is number, wanted [x, y, ...]"),
    (with_polygon([FLAT + [1, 1e10]]), "a coordinate of annotations[0].segmentation[0] is 10000000000.0, allowed -1000000000 to 1000000000 px"),
    (with_polygon([FLAT + [1, None]]), "a coordinate of annotations[0].segmentation[0] is null, wanted a number"),
    (changed_coco(lambda given: given["annotations"][0].pop("segmentation")), "there is no 'segmentation' in annotations[0]"),
    (changed_coco(lambda given: given["annotations"][0].update(category_id=8)),
     "annotations[0] is of the category 8, which is not among 'categories'; their ids are 3, 70"),
    (changed_coco(lambda given: given.pop("categories")), "which is not among 'categories'; their ids are none"),
    (changed_coco(lambda given: given["annotations"][0].update(image_id=5)), "annotations[0] is of the image 5, which is not among 'images'; their ids are 4, 9"),
    (changed_coco(lambda given: given["images"][0].update(id=4)), "images[1] has the id 4, which another image has"),
    (changed_coco(lambda given: given["categories"][0].update(id=3)), "categories[1] has the id 3, which another category has"),
    (changed_coco(lambda given: given["images"][0].update(width=70000)), "'width' is 70000, allowed 0 to 65536"),
    (changed_coco(lambda given: given["images"][1].pop("height")), "there is no 'height' in images[1]"),
    (changed_coco(lambda given: given["annotations"][0].update(image_id=1.5)), "'image_id' in annotations[0] is 1.5, wanted a whole number"),
    (changed_coco(lambda given: given["annotations"][0].update(attributes={"area": "4"})), "attribute 'area' of annotations[0] is string, wanted a number or null"),
    (changed_coco(lambda given: given.update(annotations={})), "'annotations' is no array, wanted one"),
    (changed_coco(lambda given: given.update(annotations=[[]])), "annotations[0] is no object, wanted one"),
    (changed_coco(lambda given: given.update(images=[4])), "images[0] is no object, wanted one"),
]


def with_geometry(kind, coordinates, **properties):
    return json.dumps(geojson_of(feature("LineString", [[0, 0], [1, 1]]), feature(kind, coordinates, **properties)), indent=0)


WRONG_GEOJSON = [
    (with_geometry("Polygon", [SQUARE[:-1]]), "features[1] has a ring that is not closed: its last position is not its first"),
    (with_geometry("Polygon", [SQUARE[:2] + SQUARE[:1]]), "a ring of features[1] has 3 positions, wanted 4 or more"),
    (with_geometry("Polygon", []), "a polygon of features[1] has no rings"),
    (with_geometry("MultiPolygon", [SQUARE]), "a position of features[1] is not [x, y]"),
    (with_geometry("LineString", [[0, 0], [1, 2, 3]]), "a position of features[1] is not [x, y]"),
    (with_geometry("LineString", [[0, 0], [1, "2"]]), "a coordinate of features[1] is string, wanted a number"),
    (with_geometry("LineString", [[0, 0], [1, -2e9]]), "a coordinate of features[1] is -2000000000.0, allowed -1000000000 to"),
    (with_geometry("LineString", [[0, 0], [1, 1]], closed=True), "features[1] has a ring that is not closed"),
    (with_geometry("LineString", 4), "'coordinates' in the geometry of features[1] is 4, wanted array"),
    (with_geometry("Point", [1, 2]), "the geometry of features[1] is 'Point', allowed Polygon, MultiPolygon, LineString"),
    (with_geometry("Polygon", [SQUARE], **{"class": 4}), "'class' in features[1] is 4, wanted string"),
    (with_geometry("Polygon", [SQUARE], frame=1, width=-1), "'width' in features[1] is -1, wanted a whole number from 0"),
    (json.dumps(geojson_of({"type": "Feature", "properties": {}, "geometry": None}), indent=0), "'geometry' in features[0] is null, wanted object"),
    (json.dumps(geojson_of(feature("LineString", [[0, 0], [70000, 1]]))), "there is no 'width' of the map, and a point is at 70000, allowed up to 65535"),
]
WRONG_JSON = [
    ("[]", ":1:1: this is no JSON object; wanted one, COCO or GeoJSON"), ("", ":1:1: this is not valid JSON"),
    ('{"features":[\n{"a":NaN}]}', ":2:6: this is not valid JSON (which has no NaN or Infinity); wanted one complete object"),
    ('{"images":[\n\n{"id":4', ":3:7: this is not valid JSON"), ('{"features":[]} {}', ":1:17: this is not valid JSON"),
    ('{"images":[{"id": 1e400}]}', "a number is too large, allowed up to 1.8e308"), ('{"a":1}', "in.json' has no contours; wanted COCO, with 'images'"),
    ('{"features":[],"images":[]}', "has features and members of COCO; wanted COCO"), ('{"features":[]}', "'in.json' has no frame"),
    ('{"images":[{"id":' + "[" * 100000, "nested deeper than 32"), ('{"x":' + '{"x":' * 100000, "nested deeper than 32"), ('{"features":[{"a":"\xff"}]}', "not valid JSON"),
]


WRONG = WRONG_COCO + WRONG_GEOJSON + WRONG_JSON


@pytest.mark.parametrize("text, words", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_a_file_is_told(contorno, tmp_path, text, words):
    (tmp_path / "in.json").write_bytes(text.encode("latin-1"))
    done = contorno("clean", "in.json", "out.jsonl", *STEP, cwd=tmp_path, check=False)
    assert done.returncode == 65 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_the_place_is_that_of_the_element(contorno, tmp_path):
    text = with_polygon([[1]])
    (tmp_path / "in.json").write_text(text)
    done = contorno("clean", "in.json", "out.jsonl", *STEP, cwd=tmp_path, check=False)
    before = text[:text.index('"image_id"')]
    before = before[:before.rindex("{")]
    assert f"in.json:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}: annotations[0].segmentation[0] has 1 numbers" in done.stderr


@pytest.mark.parametrize("text, words", [
    ('{"frame": -3, "width": 9, "height": 9, "classes": []}', "x.jsonl:1: 'frame' in the line is -3, wanted a whole number from 0"),
    ('{"frame": 1.5, "width": 9, "height": 9, "classes": []}', "x.jsonl:1: 'frame' in the line is 1.5, wanted a whole number"),
    ('{"frame": "7", "width": 9, "height": 9, "classes": []}', "x.jsonl:1: 'frame' in the line is string, wanted a whole number"),
    ('{"frame": 1e300, "width": 9, "height": 9, "classes": []}', "'frame' in the line is 1e+300, wanted a whole number"),
    ('{"frame": 1, "name": 7, "width": 9, "height": 9, "classes": []}', "'name' in the line is 7, wanted string"),
    ('{"frame": 1, "pts_ns": 0.5, "width": 9, "height": 9, "classes": []}', "'pts_ns' in the line is 0.5, wanted a whole number"),
    ('{"frame": 1, "frame": 2, "width": 9, "height": 9, "classes": []}', "x.jsonl:1: an object has the member 'frame' twice"),
    ('{"frame": 1, "width": 9, "height": 9, "classes": [{"name": "a", "level": 1, "contours": [], "level": 2}]}',
     "an object has the member 'level' twice"),
    ('{"frame": 1, "width": 9, "height": 9, "classes": [{"name": "a", "level": 1, "contours": '
     '[{"closed": false, "points": [], "attributes": {"area": 1, "area": 2}}]}]}', "an object has the member 'area' twice"),
])
def test_frames_that_are_no_numbers_and_doubled_members_are_refused_in_json_lines(contorno, tmp_path, text, words):
    (tmp_path / "x.jsonl").write_text(text + "\n")
    done = contorno("clean", "x.jsonl", "y.jsonl", *STEP, cwd=tmp_path, check=False)
    assert done.returncode == 65 and words in done.stderr, done.stderr
    assert not (tmp_path / "y.jsonl").exists()


@pytest.mark.parametrize("text, words", [
    ('{"images": [], "annotations": [], "categories": [], "images": []}', "an object has the member 'images' twice"),
    ('{"images": [{"id": 1, "width": 9, "height": 9, "id": 2}], "annotations": [], "categories": []}', "has the member 'id' twice"),
    ('{"images": [{"id": 1, "width": 9, "height": 9, "frame": -3}], "annotations": [], "categories": []}',
     "'frame' in images[0] is -3, wanted a whole number from 0"),
    ('{"features": [{"type": "Feature", "properties": {"frame": 1.5}, "geometry": {"type": "LineString", "coordinates": [[1, 2]]}}]}',
     "is 1.5, wanted a whole number from 0"),
    ('{"features": [{"properties": {"class": "a", "class": "b"}, "geometry": {"type": "LineString", "coordinates": [[1, 2]]}}]}',
     "an object has the member 'class' twice"),
])
def test_the_same_is_refused_in_coco_and_geojson(contorno, tmp_path, text, words):
    (tmp_path / "x.json").write_text(text)
    done = contorno("clean", "x.json", "y.jsonl", *STEP, cwd=tmp_path, check=False)
    assert done.returncode == 65 and "x.json:1:" in done.stderr and words in done.stderr, done.stderr


def test_members_of_other_programs_and_whole_numbers_with_a_point_are_read(contorno, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"frame": 3.0, "name": null, "width": 9, "height": 9, "classes": []}\n')
    clean(contorno, tmp_path, "x.jsonl", "y.jsonl")
    assert read_lines(tmp_path / "y.jsonl")[0]["frame"] == 3
    (tmp_path / "x.json").write_text('{"info": {"year": 1, "year": 2}, "features": [{"properties": {"frame": "oak", "name": 5}, '
                                     '"geometry": {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}}]}')
    clean(contorno, tmp_path, "x.json", "z.jsonl")
    assert read_lines(tmp_path / "z.jsonl")[0]["frame"] == 0


def test_numbers_that_are_too_large_are_refused_in_json_lines_too(contorno, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"width":3,"height":1e400,"classes":[]}')
    done = contorno("clean", "in.jsonl", "out.jsonl", *STEP, cwd=tmp_path, check=False)
    assert done.returncode == 65 and "in.jsonl:1: a number is too large, allowed up to 1.8e308" in done.stderr


def test_other_classes_in_a_later_frame_are_no_coco(contorno, tmp_path):
    write_lines(tmp_path / "in.jsonl", frame(0, ("rot", 0.5, [])), frame(1, ("leaf", 0.5, [NEAR])))
    done = contorno("clean", "in.jsonl", "out.json", *STEP, cwd=tmp_path, check=False)
    assert done.returncode == 65 and "frame 1 has other classes than the first one, and a COCO file has one list of them" in done.stderr
    assert not (tmp_path / "out.json").exists()
    clean(contorno, tmp_path, "in.jsonl", "out.geojson")


@pytest.mark.parametrize("form", ["json", "geojson"])
def test_the_memory_of_a_large_file_is_less_than_its_size(tmp_path, form):
    flat, count = [round(1000 + 900 * math.sin(i), 5) for i in range(4000)], 1500
    unknown = ["x" * 100] * 100

    def element(i):
        if form == "json":
            return annotation(["FLAT"], image_id=i % 50, unknown=unknown)
        return feature("LineString", "FLAT", unknown=unknown, width=4000, height=4000, frame=i % 50)
    numbers = json.dumps(flat if form == "json" else list(zip(flat[::2], flat[1::2])))
    images = [{"id": i, "width": 4000, "height": 4000} for i in range(50)]
    members = {"images": images, "categories": [{"id": 3, "name": "dog"}]} if form == "json" else {}
    with (tmp_path / f"in.{form}").open("w") as file:
        file.write(json.dumps({**members, "last": 0})[:-1] + (',"annotations":[' if form == "json" else ',"features":['))
        for i in range(count):
            file.write("," * (i > 0) + json.dumps(element(i)).replace('"FLAT"', numbers))
        file.write("]}")
    size = (tmp_path / f"in.{form}").stat().st_size
    done = run_measured("clean", f"in.{form}", "out.jsonl", "--step", "largest_first limit=1", "--threads", "1", cwd=tmp_path)
    assert done.code == 0, done.text
    assert len(read_lines(tmp_path / "out.jsonl")) == 50
    assert size > 60e6 and done.peak_bytes < size, (size, done.peak_bytes)


def test_a_foreign_feature_that_calls_itself_an_object_is_read_where_it_has_a_place(contorno, tmp_path):
    ring = [[1, 1], [9, 1], [9, 9], [1, 9], [1, 1]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]},
               "properties": {"kind": "object", "frame": 0, "class": "rot", "level": 0.5}}
    record = {"type": "Feature", "geometry": None, "properties": {"kind": "object", "id": 3}}
    (tmp_path / "in.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature, record]}))
    contorno("clean", "in.geojson", "out.jsonl", "--step", "drop_small min_points=0", cwd=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [len(one["contours"]) for line in lines for one in line["classes"]] == [1]
