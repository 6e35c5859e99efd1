"""`contorno learn`: classes from what a person points at, and what it never overwrites."""
import re

import cv2
import numpy as np
import pytest
from tests.conftest import read_lines, run_contorno

BELT, FRUIT, STALK = (52, 56, 60), (205, 60, 40), (60, 130, 50)


def belt_frames(folder, count=5):
    """A red fruit with a small green stalk that moves over a grey belt with a bright rail."""
    folder.mkdir()
    random = np.random.default_rng(7)
    rows, cols = np.mgrid[0:120, 0:200]
    for number in range(count):
        picture = np.empty((120, 200, 3))
        picture[:] = BELT
        picture[100:112] = (190, 188, 182)
        picture[np.hypot(rows - 50, cols - 50 - 20 * number) < 30] = FRUIT
        picture[np.hypot(rows - 35, cols - 50 - 20 * number) < 5] = STALK
        picture = np.clip(picture + random.normal(0, 4, picture.shape), 0, 255).astype(np.uint8)
        cv2.imwrite(str(folder / f"belt-{number}.png"), picture[..., ::-1])
    return folder


def references_of(graph):
    """Reference colours of every class, as arrays of RGB."""
    classes = re.findall(r"- name: (\S+|\".*?\")  #.*?references: \[(.*?)\]", graph.read_text(), re.S)
    return {name.strip('"'): np.array([list(bytes.fromhex(one)) for one in re.findall(r"#([0-9a-f]{6})", colours)])
            for name, colours in classes}


def near(colours, colour, most=14):
    return bool(np.any(np.abs(colours.astype(int) - colour).max(axis=1) <= most))


def boxes(line, name):
    found = next(one for one in line["classes"] if one["name"] == name)
    return [contour["bbox"] for contour in found["contours"]]


def test_what_is_pointed_at_is_found_on_other_frames_and_nothing_else(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"
    run_contorno("learn", frames, "-o", graph, "--pick", "fruit=30,50,40,20", "--pick", "stalk@2=88,33,5,5")
    colours = references_of(graph)
    assert list(colours) == ["fruit", "stalk", "everything else"]
    assert near(colours["fruit"], FRUIT) and not near(colours["fruit"], BELT)
    assert near(colours["stalk"], STALK) and not near(colours["stalk"], FRUIT)
    assert near(colours["everything else"], BELT) and near(colours["everything else"], (190, 188, 182))
    run_contorno("run", graph, "--output", tmp_path / "out")
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    assert len(lines) == 5
    for number, line in enumerate(lines):
        fruit, stalk = boxes(line, "fruit"), boxes(line, "stalk")
        # The stalk is a hole in the fruit.
        assert len(fruit) == 2 and len(stalk) == 1
        assert np.allclose(max(fruit, key=lambda box: box[2]), [20 + 20 * number, 20, 60, 60], atol=2)
        assert np.allclose(stalk[0], [45 + 20 * number, 30, 10, 10], atol=2)


def test_the_pictures_show_picks_swatches_and_contours(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"
    run_contorno("learn", frames, "-o", graph, "--pick", "fruit=30,50,40,20", "--pick", "stalk@2=88,33,5,5")
    sheet = cv2.imread(str(tmp_path / "fruit-swatches.png"))[..., ::-1]
    for colours in references_of(graph).values():
        for colour in colours:
            assert np.all(sheet == colour, axis=2).sum() > 50 * 50  # each as a patch of exactly its colour
    overlay = cv2.imread(str(tmp_path / "fruit-overlay.png"))[..., ::-1].astype(int)
    # Left the frame with its picks, right the same with outlines: those of the fruit of frame 0 and nothing within it.
    scale, left, right, top = 3.6, 46, 812, 16 + 16 + 12

    def at(x, y):
        row = int(top + scale * y)
        columns = int(left + scale * x), int(right + scale * x)
        return [overlay[row - 6:row + 7, column - 6:column + 7] for column in columns]

    for x, y in ((20, 50), (80, 50), (50, 80)):
        frame, drawn = at(x, y)
        assert np.abs(frame - drawn).max() > 60, (x, y)
    frame, drawn = at(50, 60)
    assert np.abs(frame - drawn).max() < 3
    frame, drawn = (np.all(part == 255, axis=2) for part in at(30, 60))
    assert frame.any() and not drawn.any()  # the pick's edge


def test_small_and_coloured_is_not_lost_without_picks(tmp_path):
    """The stalk has 0.3 % of the pixels; the shades of everything else have far more."""
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "auto.yaml"
    run_contorno("learn", frames, "-o", graph, "--classes", "belt,fruit,rail,stalk")
    colours = references_of(graph)
    assert near(colours["belt"], BELT) and near(colours["fruit"], FRUIT) and near(colours["stalk"], STALK)


def test_a_picture_is_named_by_its_file_and_a_class_may_be_picked_often(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"
    run_contorno("learn", frames, "-o", graph, "--pick", "fruit@belt-1.png=50,50,30,20", "--pick",
                 "fruit@belt-3=90,50,30,20", "--pick", "rail@belt-0=10,102,100,8", "--hidden", "rail")
    colours = references_of(graph)
    assert list(colours) == ["fruit", "rail", "everything else"]
    assert near(colours["rail"], (190, 188, 182)) and graph.read_text().count("hidden: true") == 2


def test_without_classes_it_shows_the_frames_to_point_at(tmp_path):
    frames = belt_frames(tmp_path / "frames")
    done = run_contorno("learn", frames, "-o", tmp_path / "fruit.yaml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["frames", "fruit-frames.png"]
    assert "--pick NAME@FRAME=X,Y,WIDTH,HEIGHT" in done.stdout
    sheet = cv2.imread(str(tmp_path / "fruit-frames.png"))[..., ::-1]
    assert sheet.shape[1] > 2 * 720


def test_nothing_is_overwritten(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"
    arguments = ["learn", frames, "-o", graph, "--pick", "fruit=30,50,40,20"]
    graph.write_text("edited by hand")
    done = run_contorno(*arguments, check=False)
    assert done.returncode == 73 and "fruit.yaml is there already" in done.stderr and "--force" in done.stderr
    assert graph.read_text() == "edited by hand" and not (tmp_path / "fruit-overlay.png").exists()
    graph.unlink()
    (tmp_path / "fruit-swatches.png").write_text("somebody's")
    done = run_contorno(*arguments, check=False)
    assert done.returncode == 73 and "fruit-swatches.png is there already" in done.stderr and not graph.exists()
    done = run_contorno(*arguments, "--force")
    said = [line for line in done.stderr.splitlines() if "--force" in line]  # of what is there, and of nothing else
    assert len(said) == 1 and "--force replaces '" in said[0] and "fruit-swatches.png'" in said[0], done.stderr
    run_contorno("check", graph)
    assert cv2.imread(str(tmp_path / "fruit-swatches.png")) is not None
    picture = frames / "belt-0.png"
    before = picture.read_bytes()
    done = run_contorno("learn", picture, "-o", picture, "--force", "--pick", "fruit=30,50,40,20", check=False)
    assert done.returncode == 73 and "is the input" in done.stderr and picture.read_bytes() == before


def test_an_example_is_never_written_over(tmp_path):
    frames, masks = belt_frames(tmp_path / "frames"), tmp_path / "masks"
    masks.mkdir()
    for number in range(5):
        cv2.imwrite(str(masks / f"belt-{number}.png"), np.zeros((120, 200), np.uint8))
    (frames / "z-swatches.png").write_bytes((frames / "belt-4.png").read_bytes())
    before = {path: path.read_bytes() for folder in (frames, masks) for path in folder.iterdir()}
    pick = ["--pick", "fruit=30,50,40,20"]
    for arguments in (["learn", frames, *pick, "-o", frames / "belt-3.png"], ["learn", frames, *pick, "-o", frames / "z.yaml"],
                      ["learn", f"{frames}/*.png", *pick, "-o", frames / "z.yaml"],
                      ["learn", frames, "--masks", masks, "--classes", "fruit", "-o", masks / "belt-0.png"]):
        done = run_contorno(*arguments, "--force", check=False)
        assert done.returncode == 73 and "an example is read from it" in done.stderr, done.stderr
        assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize("pick", ["fruit", "fruit=1,2,3", "fruit=1,2,0,4", "fruit=1,2,3,4,5", "=1,2,3,4",
                                  "fruit@=1,2,3,4", "fruit=-1,2,3,4", "fruit=1, 2,3,4"])
def test_a_pick_that_cannot_be_read_is_a_usage_error_that_says_what_is_allowed(tmp_path, pick):
    done = run_contorno("learn", tmp_path, "--pick", pick, check=False)
    assert done.returncode == 2 and f"--pick {pick}: allowed is NAME=X,Y,W,H or NAME@FRAME=X,Y,W,H" in done.stderr


def test_picks_that_do_not_fit_are_refused(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"

    def refused(code, words, *arguments):
        done = run_contorno("learn", frames, "-o", graph, *arguments, check=False)
        assert done.returncode == code and words in done.stderr and not graph.exists()

    refused(64, "the rectangle ends at 210,70, beyond the frame of 200 x 120 px", "--pick", "fruit=30,50,180,20")
    refused(64, "has no frame '7'", "--pick", "fruit@7=30,50,40,20")
    refused(2, "give yours another name", "--pick", "everything else=30,50,40,20")
    refused(2, "--classes does not list it", "--pick", "fruit=30,50,40,20", "--classes", "apple")
    refused(2, "no --pick shows it", "--pick", "fruit=30,50,40,20", "--classes", "fruit,apple")
    refused(2, "--hidden belt: there is no such class", "--pick", "fruit=30,50,40,20", "--hidden", "belt")
    refused(2, "give one of them", "--pick", "fruit=30,50,40,20", "--masks", frames)


def test_classes_that_look_alike_are_told(tmp_path):
    frames, graph = belt_frames(tmp_path / "frames"), tmp_path / "fruit.yaml"
    done = run_contorno("learn", frames, "-o", graph, "--pick", "one=30,50,20,20", "--pick", "two=52,50,20,20")
    assert re.search(r"warning: only \d+ % of what was shown as '(one|two)' looks most like it", done.stderr)


def test_the_fruit_of_a_recorded_belt(tmp_path, real_data):
    graph = tmp_path / "belt.yaml"
    run_contorno("learn", real_data / "video" / "conveyor-fruit-and-vegetables.gif", "-o", graph, "--pick",
                 "apple@12=305,150,40,40", "--pick", "orange@90=255,150,45,45")
    run_contorno("run", graph, "--output", tmp_path / "out", "--set", "contour_assembly.min_points=60")
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    apple, orange = (max(boxes(line, name), key=lambda box: box[2] * box[3], default=None)
                     for line, name in ((lines[12], "apple"), (lines[90], "orange")))
    assert np.allclose(apple, [296, 143, 60, 55], atol=10) and np.allclose(orange, [246, 138, 72, 72], atol=10)
