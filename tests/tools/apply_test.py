"""`contorno apply`: one stage on one file."""
import json
import re

import cv2
import numpy as np
import pytest


@pytest.fixture
def picture(tmp_path):
    """A coloured picture without transparency, 37 x 23."""
    pixels = np.random.default_rng(3).integers(0, 256, (23, 37, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "in.png"), pixels[..., ::-1])
    return pixels


def test_a_crop_of_a_picture_has_the_pixels_of_the_picture(contorno, tmp_path, picture):
    contorno("apply", "preprocess", "in.png", "out.png", "--crop", "5,4,20,11", cwd=tmp_path)
    out = cv2.imread(str(tmp_path / "out.png"), cv2.IMREAD_UNCHANGED)[..., ::-1]
    np.testing.assert_array_equal(out, picture[4:15, 5:25])


@pytest.mark.parametrize("layout", ["hwc", "chw"])
def test_arrays_keep_their_type_and_layout(contorno, tmp_path, layout):
    maps = np.random.default_rng(4).random((3, 19, 28), np.float32)
    given = maps if layout == "chw" else maps.transpose(1, 2, 0)
    np.save(tmp_path / "in.npy", np.ascontiguousarray(given))
    contorno("apply", "preprocess", "in.npy", "out.npy", "--layout", layout, "--crop=[3,2,15,9]", cwd=tmp_path)
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == np.float32
    cropped = maps[:, 2:11, 3:18]
    np.testing.assert_array_equal(out, cropped if layout == "chw" else cropped.transpose(1, 2, 0))


def test_a_picture_is_taken_with_the_channels_that_were_asked_for(contorno, tmp_path, picture):
    shapes = {"auto": (23, 37, 3), "grey": (23, 37), "rgb": (23, 37, 3), "rgba": (23, 37, 4)}
    for channels, shape in shapes.items():
        contorno("apply", "preprocess", "in.png", "out.npy", "--channels", channels, cwd=tmp_path)
        assert np.load(tmp_path / "out.npy").shape == shape
    cv2.imwrite(str(tmp_path / "grey.png"), picture[..., 0])
    contorno("apply", "preprocess", "grey.png", "out.npy", cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), picture[..., 0])


def test_a_mask_from_a_file_is_the_element_and_is_never_written_over(contorno, tmp_path):
    image = np.random.default_rng(5).integers(0, 256, (20, 30), np.uint8)
    mask = np.array([[0, 1, 0], [1, 1, 1]], np.uint8)
    np.save(tmp_path / "in.npy", image)
    np.savez(tmp_path / "masks.npz", cross=mask, line=mask[1:])
    words = ["apply", "morphology", "in.npy", "out.npy", "--operation", "erosion", "--element", "file", "--file", "masks.npz:cross"]
    contorno(*words, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), cv2.erode(image, mask, anchor=(1, 1)))
    before = (tmp_path / "masks.npz").read_bytes()
    words[3] = "masks.npz"
    done = contorno(*words, cwd=tmp_path, check=False)
    assert done.returncode == 73 and "a mask of the stage 'morphology' is read from it" in done.stderr
    assert (tmp_path / "masks.npz").read_bytes() == before


@pytest.mark.parametrize("arguments, code, words", [
    (["preproces", "in.png", "out.png"], 2, "did you mean 'preprocess'"),
    (["preprocess", "no.png", "out.png"], 66, "no.png"),
    (["preprocess", "in.png", "out.bmp"], 64, "allowed are the extensions .png, .jpg and .jpeg (.npy and .tif take every image)"),
    (["preprocess", "in.png", "out.png", "--size"], 2, "--size needs a value"),
    (["preprocess", "in.png", "out.png", "stray"], 2, "'stray' is no option"),
    (["preprocess", "in.png", "out.png", "--filter", "best", "--sise", "3"], 78, "did you mean 'size'"),
    (["preprocess", "in.png", "out.png", "--filter", "best", "--sise", "3"], 78, "'best'"),
    (["preprocess", "-", "out.png"], 2, "Write its file in place of -"),
    (["overlay", "in.png", "out.png"], 2, "also takes 'contours'"),
    (["contours", "in.png", "out.jsonl"], 64, "makes contours"),
    (["contour_assembly", "in.png", "out.jsonl"], 2, "a part of the stage 'contours'"),
    (["largest_first", "no.jsonl", "out.jsonl"], 66, "no.jsonl"),
    (["largest_first", "flat.npy", "out.jsonl"], 65, "flat.npy:1:1"),
    (["preprocess", "in.png", "out.png", "--output", "float32"], 64, "float32"),
    (["preprocess", "flat.npy", "out.npy"], 65, "flat.npy"),
    (["morphology", "flat.npy", "out.npy", "--element", "file", "--file", "none.npy"], 66, "--file: error: morphology: file: "),
    (["morphology", "flat.npy", "out.npy", "--element", "file", "--file", "flat.npy"], 65, "a mask has two sides"),
])
def test_mistakes_are_told_in_a_sentence(contorno, tmp_path, picture, arguments, code, words):
    np.save(tmp_path / "flat.npy", np.zeros(5, np.float32))
    done = contorno("apply", *arguments, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert words in done.stderr
    assert not list(tmp_path.glob("out.*"))


def square(x, y, side, closed=True):
    points = [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]
    return {"closed": closed, "points": points if closed else points[:-1]}


def frame(number, *classes):
    return {"frame": number, "name": f"{number}.png", "pts_ns": 40 * number, "width": 60, "height": 50,
            "classes": [{"name": f"class {k}", "level": 0.5, "contours": list(contours)} for k, contours in enumerate(classes)]}


def given_of(line):
    """What is in a line without the measures that are written beside it."""
    classes = [{**one, "contours": [{"closed": contour["closed"], "points": contour["points"]} for contour in one["contours"]]}
               for one in line["classes"]]
    return {**line, "classes": classes}


def test_contours_of_every_frame_of_a_file_are_sorted(contorno, tmp_path):
    small, large, middle, open_one = square(1, 1, 2), square(5, 5, 20), square(30, 2, 6), square(0, 0, 40, closed=False)
    frames = [frame(3, [small, open_one, large], [middle]), frame(7, [], [middle, large, small])]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, frames)) + "\n\n")
    expected = {"area": [frame(3, [large, small], [middle]), frame(7, [], [large, middle])],
                "length": [frame(3, [open_one, large], [middle]), frame(7, [], [large, middle])],
                "points": [frame(3, [small, large], [middle]), frame(7, [], [middle, large])]}
    for by, lines in expected.items():
        contorno("apply", "largest_first", "in.jsonl", "out.jsonl", "--limit", "2", "--by", by, cwd=tmp_path)
        out = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [given_of(line) for line in out] == lines
    assert out[0]["classes"][0]["contours"][1]["area"] == 400


def test_points_of_a_file_are_painted_over_joined_and_thinned_out(contorno, tmp_path):
    def apply(stage, source, *options):
        contorno("apply", stage, source, "out.jsonl", *options, cwd=tmp_path)
        return [contour["points"] for contour in json.loads((tmp_path / "out.jsonl").read_text())["classes"][0]["contours"]]

    (tmp_path / "in.jsonl").write_text(json.dumps(frame(0, [square(1, 1, 2), square(10, 1, 6), square(4, 1, 1)])) + "\n")
    mask = np.zeros((5, 20), np.uint8)
    mask[1, 10:17] = 1
    np.save(tmp_path / "mask.npy", mask)
    assert apply("exclude", "in.jsonl", "--mask", "mask.npy", "--points", "1,3,4,1", "--strokes", "4.5,2.5,30,2.5", "--radius",
                 "0.5") == [[[1, 1], [3, 1], [3, 3], [1, 1]], [[16, 7], [10, 7]], [[5, 1], [4, 2]]]
    assert apply("merge_close", "in.jsonl", "--distance", "1.5") == [
        square(1, 1, 2)["points"][:-1] + square(4, 1, 1)["points"][:-1], square(10, 1, 6)["points"]]
    assert apply("drop_duplicates", "in.jsonl", "--distance", "2.25") == [[[1, 1], [3, 3]], square(10, 1, 6)["points"], [[5, 1]]]
    done = contorno("apply", "exclude", "in.jsonl", "out.jsonl", "--strokes", "1,2,3", cwd=tmp_path, check=False)
    assert done.returncode == 78 and "strokes has 3 numbers, allowed four a stroke: x0, y0, x1, y1" in done.stderr


def test_contours_of_a_file_are_drawn_on_a_picture(contorno, tmp_path, picture):
    (tmp_path / "in.jsonl").write_text(json.dumps(frame(0, [square(10, 5, 8)])) + "\n")
    contorno("apply", "overlay", "in.png", "out.png", "--contours", "in.jsonl", "--line_width", "3", "--halo", "0", cwd=tmp_path)
    out = cv2.imread(str(tmp_path / "out.png"))[..., ::-1]
    changed = (out != picture).any(axis=2)
    assert changed[5, 10:19].all() and changed[13, 10:19].all() and changed[5:14, 10].all() and changed[5:14, 18].all()
    assert not changed[8:11, 13:16].any() and not changed[16:].any() and not changed[:, 22:].any()


GOOD = frame(0, [square(1, 1, 2)])


@pytest.mark.parametrize("line, words", [
    ('{"frame": 0,', "in.jsonl:2:13: this is not valid JSON"),
    ("[]", "in.jsonl:2: the line is array, wanted an object"),
    (json.dumps(GOOD | {"width": 1.5}), "'width' in the line is 1.5, wanted a whole number"),
    (json.dumps(GOOD | {"width": 10**9}), "'width' is 1000000000, allowed 0 to"),
    (json.dumps({"width": 1, "height": 1}), "there is no 'classes' in the line"),
    (json.dumps(frame(0, [{"closed": True}])), "there is no 'points' in classes[0].contours[0]"),
    (json.dumps(frame(0, [{"closed": 1, "points": []}])), "'closed' in classes[0].contours[0] is 1, wanted boolean"),
    (json.dumps(frame(0, [], [{"closed": True, "points": [[1, 2], [3]]}])), "a point of classes[1].contours[0] is not [x, y]"),
    (json.dumps(frame(0, [square(1, 1, 2), {"closed": True, "points": [[1, 2], [3, 2], [3, 4]]}])),
     "in.jsonl:2: classes[0].contours[1] is closed, but its last point is not its first"),
    (json.dumps(frame(0, [{"closed": True, "points": [[None, 2], [3, 2], [1, 2]]}])), "contours[0] is closed, but its last point"),
], ids=["cut", "array", "width", "large", "classes", "points", "closed", "point", "open", "no number"])
def test_what_is_wrong_with_a_file_of_contours_is_told_with_its_place(contorno, tmp_path, line, words):
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD) + "\n" + line + "\n")
    (tmp_path / "out.jsonl").write_text("of an earlier run")
    done = contorno("apply", "largest_first", "in.jsonl", "out.jsonl", cwd=tmp_path, check=False)
    assert done.returncode == 65
    assert words in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "of an earlier run"
    assert len(list(tmp_path.iterdir())) == 2


def test_closed_contours_without_points_with_one_and_with_ends_that_are_no_numbers_are_read(contorno, tmp_path):
    given = [[], [[4, 5]], [[None, 2], [3, 2], [None, 2]]]
    (tmp_path / "in.jsonl").write_text(json.dumps(frame(0, [{"closed": True, "points": points} for points in given])) + "\n")
    contorno("apply", "largest_first", "in.jsonl", "out.jsonl", "--by", "points", cwd=tmp_path)
    out = json.loads((tmp_path / "out.jsonl").read_text())["classes"][0]["contours"]
    assert sorted(len(one["points"]) for one in out) == [0, 1, 3]


def test_a_file_without_frames_and_one_with_too_many_are_refused(contorno, tmp_path, picture):
    (tmp_path / "none.jsonl").write_text("\n")
    (tmp_path / "two.jsonl").write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD) + "\n")
    done = contorno("apply", "largest_first", "none.jsonl", "out.jsonl", cwd=tmp_path, check=False)
    assert done.returncode == 65 and "has no frame" in done.stderr
    done = contorno("apply", "overlay", "in.png", "out.png", "--contours", "two.jsonl", cwd=tmp_path, check=False)
    assert done.returncode == 65 and "several frames" in done.stderr
    done = contorno("apply", "largest_first", "two.jsonl", "out.png", cwd=tmp_path, check=False)
    assert done.returncode == 64 and "written as .jsonl" in done.stderr


def test_the_time_of_the_stage_is_said_where_it_is_asked_for(contorno, tmp_path, picture):
    assert contorno("apply", "preprocess", "in.png", "out.png", cwd=tmp_path).stderr == ""
    said = contorno("apply", "preprocess", "in.png", "timed.png", "--time", "--backend", "cpu", cwd=tmp_path).stderr
    assert re.fullmatch(r"contorno: preprocess: \d+\.\d{3} ms on cpu\n", said)
    assert (tmp_path / "out.png").read_bytes() == (tmp_path / "timed.png").read_bytes()
    line = {"frame": 0, "width": 9, "height": 9, "classes": [{"name": "a", "level": 0.5, "contours": []}]}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({**line, "frame": k}) + "\n" for k in range(3)))
    said = contorno("apply", "measure", "a.jsonl", "b.jsonl", "--time", "--backend", "cpu", cwd=tmp_path).stderr
    assert re.fullmatch(r"contorno: measure: \d+\.\d{3} ms on cpu for 3 frames\n", said)
