"""`contorno clean`: steps on the contours of a file, in the order of the command line, and what is said of mistakes."""
import json

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
    contorno("clean", "in.jsonl", "out.jsonl", "--step", "largest_first limit=2", "--step", "drop_small min_points=0 min_area=100",
             cwd=folder)
    assert sides(folder / "out.jsonl") == [[20], []]
    contorno("clean", "in.jsonl", "out.jsonl", "--step", "drop_small min_points=5 min_length=20", "--step", "largest_first",
             cwd=folder)
    assert sides(folder / "out.jsonl") == [[20, 6], [6]]


def test_the_command_does_what_the_stages_do_one_by_one(contorno, folder):
    contorno("clean", "in.jsonl", "both.jsonl", "--step", "drop_small min_points=1 min_area=5", "--step", "largest_first by=length",
             cwd=folder)
    contorno("apply", "drop_small", "in.jsonl", "one.jsonl", "--min_points", "1", "--min_area", "5", cwd=folder)
    contorno("apply", "largest_first", "one.jsonl", "two.jsonl", "--by", "length", cwd=folder)
    assert (folder / "both.jsonl").read_bytes() == (folder / "two.jsonl").read_bytes()
    contorno("apply", "contour_prep", "in.jsonl", "list.jsonl", "--steps",
             "[{type: drop_small, min_points: 1, min_area: 5}, {type: largest_first, by: length}]", cwd=folder)
    assert (folder / "both.jsonl").read_bytes() == (folder / "list.jsonl").read_bytes()


def test_what_is_cleaned_is_written_as_geojson_and_coco(contorno, folder):
    contorno("clean", "in.jsonl", "out.geojson", "--step", "largest_first limit=1", cwd=folder)
    features = json.loads((folder / "out.geojson").read_text())["features"]
    assert [max(x for x, _ in one["geometry"]["coordinates"][0]) for one in features] == [25, 36]
    contorno("clean", "in.jsonl", "out.json", "--step", "largest_first limit=1", cwd=folder)
    coco = json.loads((folder / "out.json").read_text())
    assert [one["area"] for one in coco["annotations"]] == [400, 36]
    assert [one["bbox"][2] for one in coco["annotations"]] == [20, 6]


@pytest.mark.parametrize("steps, code, words", [
    ([], 2, "--step is required"),
    (["drop_smal"], 2, "there is no step 'drop_smal' (did you mean 'drop_small'?); the steps are"),
    (["overlay"], 2, "there is no step 'overlay'"),
    (["drop_small 4"], 2, "--step 'drop_small 4': '4' is no NAME=VALUE"),
    (["drop_small min_point=4"], 78, "unknown key 'min_point' (did you mean 'min_points'?)"),
    (["largest_first", "drop_small min_points=-4"], 78, "min_points is -4, allowed a whole number, 0 to 1000000000"),
])
def test_what_is_wrong_with_a_step_is_told(contorno, folder, steps, code, words):
    done = contorno("clean", "in.jsonl", "out.jsonl", *(word for step in steps for word in ("--step", step)), cwd=folder, check=False)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert not (folder / "out.jsonl").exists()


def test_other_names_of_outputs_are_refused(contorno, folder):
    done = contorno("clean", "in.jsonl", "out.txt", "--step", "largest_first", cwd=folder, check=False)
    assert done.returncode == 64 and "written as .jsonl, .geojson or .json (COCO)" in done.stderr
