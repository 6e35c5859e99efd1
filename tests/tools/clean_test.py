"""`contorno clean`: steps on the contours of a file, in the order of the command line, and what is said of mistakes."""
import json

import numpy as np
import pytest


def square(x, y, side, closed=True):
    points = [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    return {"closed": closed, "points": points + [points[0]] if closed else points}


def line(*contours):
    return json.dumps({"frame": 0, "width": 64, "height": 64, "classes": [{"name": "rot", "level": 0.5, "contours": list(contours)}]})


SMALL, LARGE, MIDDLE = square(1, 1, 2), square(5, 5, 20), square(30, 2, 6)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.jsonl").write_text(line(SMALL, MIDDLE, LARGE) + "\n" + line(MIDDLE) + "\n")
    return tmp_path


def sides(path):
    """The sides of the squares that a file has, frame by frame."""
    frames = [json.loads(one)["classes"][0]["contours"] for one in path.read_text().splitlines()]
    return [[one["bbox"][2] for one in contours] for contours in frames]


def test_steps_run_in_the_order_of_the_command_line(contorno, folder):
    exclude, first = "exclude points=[15,15] radius=15", "largest_first limit=1"  # which excludes the largest
    contorno("clean", "in.jsonl", "out.jsonl", "--step", exclude, "--step", first, cwd=folder)
    assert sides(folder / "out.jsonl") == [[6], [6]]
    contorno("clean", "in.jsonl", "out.jsonl", "--step", first, "--step", exclude, cwd=folder)
    assert sides(folder / "out.jsonl") == [[], [6]]


def test_the_command_does_what_the_stages_do_one_by_one(contorno, folder):
    contorno("clean", "in.jsonl", "both.jsonl", "--step", "resample spacing=1", "--step", "drop_small min_points=20", cwd=folder)
    contorno("apply", "resample", "in.jsonl", "one.jsonl", "--spacing", "1", cwd=folder)
    contorno("apply", "drop_small", "one.jsonl", "two.jsonl", "--min_points", "20", cwd=folder)
    assert (folder / "both.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()
    assert sides(folder / "both.jsonl") == [[6, 20], [6]]  # as they are given, with 5 points, all are small
    contorno("apply", "contour_prep", "in.jsonl", "list.jsonl", "--steps",
             "[{type: resample, spacing: 1}, {type: drop_small, min_points: 20}]", cwd=folder)
    assert (folder / "both.jsonl").read_bytes() == (folder / "list.jsonl").read_bytes()


def test_what_is_cleaned_is_written_as_geojson_and_coco(contorno, folder):
    contorno("clean", "in.jsonl", "out.geojson", "--step", "largest_first limit=1", cwd=folder)
    features = json.loads((folder / "out.geojson").read_text())["features"]
    assert [max(x for x, _ in one["geometry"]["coordinates"][0]) for one in features] == [25, 36]
    contorno("clean", "in.jsonl", "out.json", "--step", "largest_first limit=1", cwd=folder)
    coco = json.loads((folder / "out.json").read_text())
    assert [one["area"] for one in coco["annotations"]] == [400, 36]
    assert [one["bbox"][2] for one in coco["annotations"]] == [20, 6]


@pytest.mark.parametrize("step", ["exclude points=[15,15] radius=15", " exclude  points=[15, 15]\tradius=15 ", "exclude points='[15, 15]' radius=15",
                                  'exclude radius="15" points=[15, 15]'])
def test_values_in_brackets_and_quotes_may_have_blanks(contorno, folder, step):
    contorno("clean", "in.jsonl", "out.jsonl", "--step", step, cwd=folder)
    assert sides(folder / "out.jsonl") == [[2, 6], [6]]


@pytest.mark.parametrize("name, value", [("a b.npy", "'a b.npy'"), ("a b.npy", '"a b.npy"'), ("a=b[1]'s.npy", "a=b[1]'s.npy")])
def test_names_of_files_with_blanks_and_signs_are_taken_as_they_are(contorno, folder, name, value):
    mask = np.zeros((64, 64), np.uint8)
    mask[5:26, 5:26] = 1
    np.save(folder / name, mask)
    contorno("clean", "in.jsonl", "out.jsonl", "--step", f"exclude mask={value} radius=0", cwd=folder)
    assert sides(folder / "out.jsonl") == [[2, 6], [6]]


@pytest.mark.parametrize("steps, code, words", [
    ([], 2, "--step is required"),
    (["drop_smal"], 2, "there is no step 'drop_smal' (did you mean 'drop_small'?); the steps are"),
    (["overlay"], 2, "there is no step 'overlay'"),
    (["drop_small 4"], 2, "--step 'drop_small 4': '4' is not NAME=VALUE, as in 'drop_small min_points=4'; "
     "the parameters of drop_small are min_points, min_length, min_area"),
    (["drop_small =4"], 2, "'=4' is not NAME=VALUE"),
    (["exclude points=[1, 2] 3"], 2, "'3' is not NAME=VALUE"),
    (["hierarchy by=4 x"], 2, "'x' is not NAME=VALUE, as in 'drop_small min_points=4'; hierarchy has no parameters"),
    (["exclude points=[1, 2 radius=3"], 78, "--step exclude points: error: exclude: points is "),
    (["drop_small min_point=4"], 78, "--step drop_small min_point: error: drop_small: unknown key 'min_point' (did you mean 'min_points'?)"),
    (["largest_first", "drop_small min_points=-4"], 78, "min_points is -4, allowed a whole number, 0 to 1000000000"),
])
def test_what_is_wrong_with_a_step_is_told(contorno, folder, steps, code, words):
    done = contorno("clean", "in.jsonl", "out.jsonl", *(word for step in steps for word in ("--step", step)), cwd=folder, check=False)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert not (folder / "out.jsonl").exists()


def test_other_names_of_outputs_are_refused(contorno, folder):
    done = contorno("clean", "in.jsonl", "out.txt", "--step", "largest_first", cwd=folder, check=False)
    assert done.returncode == 64 and "written as .jsonl, .geojson or .json (COCO)" in done.stderr


def attributes_of(path):
    frames = [json.loads(one)["classes"][0]["contours"] for one in path.read_text().splitlines()]
    return [[one.get("attributes") for one in contours] for contours in frames]


def test_attributes_are_written_with_contours_and_read_again(contorno, folder):
    contorno("clean", "in.jsonl", "measured.jsonl", "--step", "measure", cwd=folder)
    measured = attributes_of(folder / "measured.jsonl")
    assert [[one["area"] for one in contours] for contours in measured] == [[4, 36, 400], [36]]
    assert measured[0][2]["centroid_col"] == 15 and measured[0][2]["convexity"] == 1
    # Of fewer points, and in another order: they stay as they were measured.
    contorno("clean", "measured.jsonl", "later.jsonl", "--step", "largest_first", "--step", "exclude points=[5,5]", cwd=folder)
    assert attributes_of(folder / "later.jsonl") == [measured[0][::-1], measured[1]]
    contorno("clean", "measured.jsonl", "out.geojson", "--step", "drop_small min_area=100 min_points=0", cwd=folder)
    features = json.loads((folder / "out.geojson").read_text())["features"]
    assert [one["properties"]["attributes"] for one in features] == [measured[0][2]]
    contorno("clean", "measured.jsonl", "out.json", "--step", "drop_small min_area=100 min_points=0", cwd=folder)
    assert [one["attributes"] for one in json.loads((folder / "out.json").read_text())["annotations"]] == [measured[0][2]]
    assert attributes_of(folder / "in.jsonl")[1] == [None]


def test_a_contour_without_an_attribute_that_others_have_gets_none(contorno, folder):
    (folder / "in.jsonl").write_text(line({**SMALL, "attributes": {"area": 0.25}}, {**MIDDLE, "attributes": {"depth": None}}, LARGE))
    contorno("clean", "in.jsonl", "out.jsonl", "--step", "drop_small min_points=0", cwd=folder)
    assert attributes_of(folder / "out.jsonl") == [[{"depth": None, "area": 0.25}, {"depth": None, "area": None}, {"depth": None, "area": None}]]


@pytest.mark.parametrize("attributes, words", [
    ({"weight": 1}, "the attribute 'weight' of classes[0].contours[0] is not known; known are number, parent, depth"),
    ({"area": "4"}, "attribute 'area' of classes[0].contours[0] is string, wanted a number or null"),
    ([], "'attributes' in classes[0].contours[0] is array, wanted an object")])
def test_wrong_attributes_of_a_file_are_refused(contorno, folder, attributes, words):
    (folder / "in.jsonl").write_text(line({**SMALL, "attributes": attributes}))
    refused = contorno("clean", "in.jsonl", "out.jsonl", "--step", "measure", cwd=folder, check=False)
    assert refused.returncode == 65 and "in.jsonl:1: " + words in refused.stderr and not (folder / "out.jsonl").exists()
