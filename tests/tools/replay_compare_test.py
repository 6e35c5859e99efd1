"""What `contorno replay --expect` says of the reason: which class differs and how, what changed in the graph, and the frame below
the contours of its page."""
import base64
import io
import json
import re

import cv2
import numpy as np
import pytest
from PIL import Image

from tests.conftest import blobs

GRAPH = """
source: {type: dataset, location: data, layout: hwc}
classes: [{name: a, level: 0.45}, {name: b, level: 0.4}, {name: c, level: 0.3}]
stages:
  - marching_squares
  - {type: contour_assembly, min_points: 8}
sinks: [{type: jsonl, path: c.jsonl}]
"""
FRAMES = 4


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "maps").mkdir(parents=True)
    for frame in range(FRAMES):
        np.save(tmp_path / "data" / "maps" / f"{frame:03}.npy", blobs(48, 64, 3, frame))
    (tmp_path / "graph.yaml").write_text(GRAPH)
    return tmp_path


def with_frames(folder):
    """The same dataset with pictures of twice the size; a graph that draws on them, with the picture before the contours."""
    (folder / "data" / "frames").mkdir()
    for frame in range(FRAMES):
        picture = np.full((96, 128, 3), (10, 20 + frame, 200), np.uint8)
        cv2.imwrite(str(folder / "data" / "frames" / f"{frame:03}.png"), picture)
    text = GRAPH.replace("sinks: [", "  - overlay\nsinks: [{type: images, path: '{name}.png'}, ")
    (folder / "graph.yaml").write_text(text)
    return text


def compare(contorno, folder, text, *arguments):
    """Records by the graph that is there, compares by `text`: what is said, the report, the page, and the exit code."""
    contorno("replay", "graph.yaml", "--record", "golden", "--overwrite", cwd=folder)
    (folder / "other.yaml").write_text(text)
    done = contorno("replay", "other.yaml", "--expect", "golden", "--report", "r.json", "--html", "r.html", *arguments, cwd=folder,
                    check=False)
    return done.stdout, json.loads((folder / "r.json").read_text()), (folder / "r.html").read_text(), done.returncode


def contours(folder):
    """How many each class has in all frames of the record."""
    lines = [json.loads(path.read_text()) for path in sorted((folder / "golden" / "frames").glob("*.jsonl"))]
    return {of["name"]: sum(len(line["classes"][k]["contours"]) for line in lines) for k, of in enumerate(lines[0]["classes"])}


def sums(report):
    return {key: sum(one[key] for one in report["differences"]) for key in ("lost", "added", "moved")}


def test_a_level_of_one_class_moves_its_contours_and_no_others(contorno, folder):
    said, report, page, code = compare(contorno, folder, GRAPH.replace("level: 0.4}", "level: 0.400001}"))
    assert code == 1
    counts = contours(folder)
    assert sums(report) == {"lost": 0, "added": 0, "moved": counts["b"]} and counts["a"] > 0
    [of] = report["classes"]
    assert (of["name"], of["frames"], of["moved"], of["itself"]) == ("b", FRAMES, counts["b"], "its level was 0.4, is 0.400001")
    assert f"class 'b' of contour_assembly.contours differs in {FRAMES} frames: its level was 0.4, is 0.400001; 0 lost, 0 added, " in said
    assert "first difference: frame 0: contour_assembly.contours: class 'b': its level was 0.4, is 0.400001; contour 0: " in said
    # Where contours lie matters and not what the level is called.
    _, report, _, code = compare(contorno, folder, GRAPH.replace("level: 0.4}", "level: 0.400001}"), "--tolerance", 0.1)
    assert code == 0 and report["frames"]["within"] == FRAMES


def test_a_class_with_another_name_is_told_and_keeps_its_contours(contorno, folder):
    said, report, page, code = compare(contorno, folder, GRAPH.replace("name: b", "name: d"), "--tolerance", 5)
    assert code == 1  # whatever the tolerance
    assert sums(report) == {"lost": 0, "added": 0, "moved": 0}
    assert [(of["name"], of["itself"]) for of in report["classes"]] == [("b", "it is called 'd' now")]
    assert "class 'b': it is called 'd' now" in said and "called 'd' now" in re.sub(r"&(#39|apos);", "'", page)


def test_a_class_that_goes_or_comes_takes_its_own_contours_alone(contorno, folder):
    less = GRAPH.replace(", {name: c, level: 0.3}", "").replace("location: data", "location: two")
    (folder / "two" / "maps").mkdir(parents=True)
    for frame in range(FRAMES):
        np.save(folder / "two" / "maps" / f"{frame:03}.npy", blobs(48, 64, 3, frame)[..., :2])
    said, report, _, code = compare(contorno, folder, less, "--tolerance", 5)
    counts = contours(folder)
    assert code == 1 and sums(report) == {"lost": counts["c"], "added": 0, "moved": 0}
    assert [(of["name"], of["itself"]) for of in report["classes"]] == [("c", "it is gone")]
    frame = min((folder / "golden" / "frames").glob("*.jsonl"))
    first = json.loads(frame.read_text())["classes"][2]["contours"][0]
    assert f"class 'c': it is gone; contour 0: of {len(first['points'])} points is gone" in said  # counted within its class
    (folder / "graph.yaml").write_text(less)
    contorno("replay", "graph.yaml", "--record", "golden", "--overwrite", cwd=folder)
    (folder / "other.yaml").write_text(GRAPH)
    done = contorno("replay", "other.yaml", "--expect", "golden", "--report", "r.json", cwd=folder, check=False)
    report = json.loads((folder / "r.json").read_text())
    assert done.returncode == 1 and sums(report) == {"lost": 0, "added": counts["c"], "moved": 0}


def test_another_order_of_classes_is_no_other_contour(contorno, folder):
    (folder / "turned").mkdir()
    for frame in range(FRAMES):
        np.save(folder / "turned" / f"{frame:03}.npy", blobs(48, 64, 3, frame)[..., ::-1])
    turned = GRAPH.replace("[{name: a, level: 0.45}, {name: b, level: 0.4}, {name: c, level: 0.3}]",
                           "[{name: c, level: 0.3}, {name: b, level: 0.4}, {name: a, level: 0.45}]")
    said, report, _, code = compare(contorno, folder, turned.replace("location: data", "location: turned"))
    assert code == 1 and sums(report) == {"lost": 0, "added": 0, "moved": 0} and report["classes"] == []
    assert "the order of contours, or facts about the frame, differ" in said and "the order was " in said


@pytest.mark.parametrize("change, sentences", [
    (("min_points: 8", "min_points: 40"), ["contour_assembly had 'min_points: 8', and has 'min_points: 40' now"]),
    (("level: 0.4}", "level: 0.35}"), ["b had 'level: 0.4', and has 'level: 0.35' now"]),
    (("sinks:", "  - {type: drop_small, min_points: 30}\nsinks:"),
     ["recorded had 'recorded: [contour_assembly.contours]', and has 'recorded: [drop_small.contours]' now", "stage 'drop_small' is new"]),
    (("min_points: 8}", "min_points: 8, fully_connected: high}"),
     ["contour_assembly had 'fully_connected: low', and has 'fully_connected: high' now"]),
])
def test_what_changed_in_the_graph_is_told_in_text_report_and_page(contorno, folder, change, sentences):
    said, report, page, _ = compare(contorno, folder, GRAPH.replace(*change))
    assert set(sentences) <= set(report["graph"]), report["graph"]
    for sentence in sentences:
        assert f"the graph is another one: {sentence}\n" in said
    shown = re.sub(r"&(#39|apos);", "'", page)
    assert all(f"<li>{sentence}</li>" in shown for sentence in sentences)


def test_a_graph_that_is_the_same_is_not_talked_about(contorno, folder):
    said, report, page, code = compare(contorno, folder, GRAPH + "pipeline: {slots: 2}\n")
    assert code == 0 and report["graph"] == report["classes"] == [] and "another one" not in said + page


def test_a_picture_does_not_hide_the_contours_that_changed_it(contorno, folder):
    text = with_frames(folder)
    said, report, _, code = compare(contorno, folder, text.replace("level: 0.4}", "level: 0.42}"))
    assert code == 1
    for one in report["differences"]:
        assert one["first"].startswith("contour_assembly.contours: class 'b': its level was 0.4, is 0.42; contour")
        assert one["pictures"] == 1


def test_the_page_draws_contours_on_the_frame(contorno, folder):
    text = with_frames(folder)
    _, _, page, _ = compare(contorno, folder, text.replace("level: 0.4}", "level: 0.42}"), "--worst", 2)
    found = re.findall(r'<image id="(p\d+-[\w.]+)" x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]* '
                       r'href="data:image/png;base64,([^"]+)"/>', page)
    assert len(found) == 2
    for name, *place, data in found:
        # The frame is twice as large as the map, whose samples have their centres at whole numbers.
        assert [float(number) for number in place] == [-0.5, -0.5, 64, 48]
        assert page.count(f'<use href="#{name}"/>') == 3
        picture = np.array(Image.open(io.BytesIO(base64.b64decode(data))))
        number = int(name[1:name.index("-")])
        assert picture.shape[:2] == (96, 128) and (picture[..., :3] == (200, 20 + number, 10)).all()
    assert page.count('viewBox="-0.5 -0.5 64 48"') == 6


def test_maps_alone_have_a_page_without_frames(contorno, folder):
    _, _, page, _ = compare(contorno, folder, GRAPH.replace("level: 0.4}", "level: 0.42}"))
    assert "<image" not in page and page.count("<figure>") == 3 * FRAMES


def test_a_record_of_frames_that_failed_ends_as_a_run_does(contorno, folder):
    (folder / "data" / "maps" / "002.npy").write_bytes(b"no array")
    run = contorno("run", "graph.yaml", "--output", "o", cwd=folder, check=False)
    done = contorno("replay", "graph.yaml", "--record", "golden", cwd=folder, check=False)
    assert (run.returncode, done.returncode) == (3, 3) and "3 frames recorded, 1 failed" in done.stdout
    # Whoever goes on with it is told of those that failed before.
    done = contorno("replay", "graph.yaml", "--record", "golden", "--resume", cwd=folder, check=False)
    assert done.returncode == 3 and "golden: 1 more have failed before" in done.stdout
    # A part has its own frames alone.
    for part, code in (("0/2", 3), ("1/2", 0)):
        assert contorno("replay", "graph.yaml", "--record", "parts", "--shard", part, cwd=folder, check=False).returncode == code
    # What fails as it is recorded is as expected.
    assert contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder).returncode == 0
