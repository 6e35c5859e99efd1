"""Manifests: lists of the frames of a dataset as CSV and JSON lines, what they may say, and what is wrong with them."""
import csv
import json

import cv2
import numpy as np
import pytest

from tests.conftest import blobs, run_measured

GRAPH = """
classes: [{{name: a}}, {{name: b, level: 0.4}}]
source: {{type: dataset, location: "{location}", layout: hwc{more}}}
stages: [marching_squares, contour_assembly]
sinks: [{{type: jsonl, path: out.jsonl}}]
"""
OF_FRAMES = """
source: {{type: dataset, location: "{location}"}}
sinks: [{{type: images, path: "out/{{frame:03}}.png"}}]
"""
FRAMES = 4


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "a, b").mkdir(parents=True)
    for frame in range(FRAMES):
        np.save(tmp_path / "data" / "a, b" / f"{frame}.npy", blobs(30, 40, 2, frame))
        cv2.imwrite(str(tmp_path / "data" / f"shot{frame}.png"), picture(frame))
    return tmp_path


def picture(frame):
    return np.random.default_rng(frame).integers(0, 256, (30, 40, 3), np.uint8)


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def write_lines(path, entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def run(contorno, folder, location, more="", check=True, graph=GRAPH):
    (folder / "graph.yaml").write_text(graph.format(location=location, more=more))
    done = contorno("run", "graph.yaml", "--quiet", "--report", "report.json", cwd=folder, check=check)
    out = folder / "out.jsonl"
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return done, lines


@pytest.mark.parametrize("name", ["list.csv", "list.jsonl", "list.NDJSON"])
def test_a_manifest_gives_the_frames_in_its_order_with_paths_from_its_folder(contorno, folder, name):
    order = [2, 0, 3]
    paths = [f"a, b/{frame}.npy" for frame in order]
    if name.endswith("csv"):
        write_csv(folder / "data" / name, [["maps"], *([path] for path in paths)])
    else:
        write_lines(folder / "data" / name, [{"maps": path} for path in paths])
    _, lines = run(contorno, folder, f"data/{name}")
    assert [line["name"] for line in lines] == [f"{frame}.npy" for frame in order]
    (folder / "data" / "maps").mkdir()
    for place, frame in enumerate(order):
        np.save(folder / "data" / "maps" / f"{place}.npy", blobs(30, 40, 2, frame))
    _, plain = run(contorno, folder, "data/maps")
    assert [line["classes"] for line in lines] == [line["classes"] for line in plain]


def test_timestamps_are_those_of_the_recording_counted_from_the_first(contorno, folder):
    stamps = ["1700000000.25", "1700000000.35", "1700000000.4500000019", "1700000001"]
    write_csv(folder / "data" / "list.csv", [["timestamp", "maps"], *([stamp, f"a, b/{i}.npy"] for i, stamp in enumerate(stamps))])
    _, lines = run(contorno, folder, "data/list.csv")
    assert [line["pts_ns"] for line in lines] == [0, 100_000_000, 200_000_001, 750_000_000]
    write_lines(folder / "data" / "list.jsonl", [{"pts_ns": 7 + 3 * i, "maps": f"a, b/{i}.npy"} for i in range(FRAMES)])
    _, lines = run(contorno, folder, "data/list.jsonl", ", repeat: 2")
    assert [line["pts_ns"] for line in lines] == [3 * i for i in range(2 * FRAMES)]
    write_lines(folder / "data" / "list.jsonl", [{"timestamp": 12.5 + i / 4, "maps": f"a, b/{i}.npy"} for i in range(FRAMES)])
    _, lines = run(contorno, folder, "data/list.jsonl", ", start: 1, every: 2")
    assert [line["pts_ns"] for line in lines] == [250_000_000, 750_000_000]


def test_times_in_any_order_are_counted_from_the_earliest(contorno, folder):
    write_csv(folder / "data" / "list.csv", [["timestamp", "maps"], *([stamp, f"a, b/{i}.npy"] for i, stamp in enumerate([11, 10, 10.5, 12]))])
    _, lines = run(contorno, folder, "data/list.csv")
    assert [(line["name"], line["pts_ns"]) for line in lines] == [
        ("0.npy", 1_000_000_000), ("1.npy", 0), ("2.npy", 500_000_000), ("3.npy", 2_000_000_000)]


@pytest.mark.parametrize("entries, round_ns", [(FRAMES, 3 * FRAMES), (1, 100_000_000)], ids=["of several frames", "of one frame"])
def test_times_go_on_in_every_round_of_a_loop(contorno, folder, entries, round_ns):
    write_lines(folder / "data" / "list.jsonl", [{"pts_ns": 7 + 3 * i, "maps": f"a, b/{i}.npy"} for i in range(entries)])
    (folder / "graph.yaml").write_text(GRAPH.format(location="data/list.jsonl", more=", loop: true"))
    contorno("run", "graph.yaml", "--quiet", "--frames", 3 * entries, cwd=folder)
    times = [json.loads(line)["pts_ns"] for line in (folder / "out.jsonl").read_text().splitlines()]
    assert times == [round_ns * number + 3 * i for number in range(3) for i in range(entries)]


def test_times_that_are_centuries_apart_are_kept_and_never_go_back(contorno, folder):
    write_lines(folder / "data" / "list.jsonl", [{"timestamp": 9_000_000_000 * i, "maps": f"a, b/{i}.npy"} for i in range(2)])
    _, lines = run(contorno, folder, "data/list.jsonl", ", repeat: 3")
    latest = 9_000_000_000 * 10**9
    assert [line["pts_ns"] for line in lines] == [0, *[latest] * 5]


def test_a_manifest_of_frames_alone_delivers_pictures(contorno, folder):
    write_csv(folder / "data" / "list.csv", [["frame", "_note"], *([f"shot{i}.png", "sharp"] for i in range(FRAMES))])
    run(contorno, folder, "data/list.csv", graph=OF_FRAMES)
    for frame in range(FRAMES):
        assert np.array_equal(cv2.imread(str(folder / "out" / f"{frame:03}.png")), picture(frame))


def test_frames_and_maps_of_an_entry_belong_together_whatever_their_names(contorno, folder):
    write_lines(folder / "data" / "list.jsonl", [{"maps": f"a, b/{i}.npy", "frame": f"shot{FRAMES - 1 - i}.png"} for i in range(FRAMES)])
    images = '{{type: images, from: source.frame, path: "out/{{name}}.png"}}'
    _, lines = run(contorno, folder, "data/list.jsonl", graph=GRAPH.replace("out.jsonl}}]", f"out.jsonl}}}}, {images}]"))
    assert [line["name"] for line in lines] == [f"{i}.npy" for i in range(FRAMES)]
    for frame in range(FRAMES):
        assert np.array_equal(cv2.imread(str(folder / "out" / f"{frame}.png")), picture(FRAMES - 1 - frame))


def test_one_camera_is_chosen_by_its_name(contorno, folder):
    write_csv(folder / "data" / "list.csv", [["maps", "camera"], *([f"a, b/{i}.npy", "left" if i % 2 else "right"] for i in range(FRAMES))])
    _, lines = run(contorno, folder, "data/list.csv", ", camera: left")
    assert [line["name"] for line in lines] == ["1.npy", "3.npy"]
    done, _ = run(contorno, folder, "data/list.csv", ", camera: lef", check=False)
    assert done.returncode == 65 and "list.csv: no entry is of camera 'lef'; cameras are left, right" in done.stderr
    done, _ = run(contorno, folder, "data/a, b", ", camera: left", check=False)
    assert done.returncode == 78 and "is no manifest" in done.stderr


BAD_LINES = [
    (b'a, b/1.npy,1', "list.csv:3:12: the line has 3 fields, the first line 2"),
    (b'"a, b/1.npy"', "list.csv:3:1: the line has 1 fields, the first line 2"),
    (b'"a, b/1.npy,1', "list.csv:3:1: the quote is not closed on this line"),
    (b'"a, b/1.npy"x,1', "list.csv:3:13: a comma or the end of the line is missing behind the quote"),
    (b'"a, b/1.npy",soon', "list.csv:3:14: timestamp is 'soon', allowed seconds from 0 to 9000000000, as 12.5"),
    (b'"a, b/1.npy",-1', "list.csv:3:14: timestamp is '-1'"),
    (b'"a, b/1.npy",1e3', "list.csv:3:14: timestamp is '1e3'"),
    (b'"a, b/1.npy",1.', "list.csv:3:14: timestamp is '1.'"),
    (b'"a, b/1.npy",99999999999', "list.csv:3:14: timestamp is '99999999999'"),
    (b'"a, b/1.npy",', "list.csv:3: the entry has no timestamp, as others have"),
    (b',1', "list.csv:3:1: the entry has neither frame nor maps"),
    (b'a\0b.npy,1', "list.csv:3:1: maps is no path: it has a character 0"),
    (b'nowhere.npy,1', "nowhere.npy"),
    (b"x" * 70000 + b",1", "list.csv:3:65537: the line is longer than the 65536 bytes allowed"),
]


@pytest.mark.parametrize("line, said", BAD_LINES, ids=[said for _, said in BAD_LINES])
def test_a_bad_line_is_put_aside_with_its_place_and_the_others_are_delivered(contorno, folder, line, said):
    (folder / "data" / "list.csv").write_bytes(b'maps,timestamp\r\n"a, b/0.npy",0\r\n' + line + b'\r\n\r\n"a, b/2.npy",0.5\r\n')
    done, lines = run(contorno, folder, "data/list.csv", check=False)
    assert done.returncode == 3 and said in done.stderr and "frame 1 failed" in done.stderr
    assert [(line["name"], line["pts_ns"]) for line in lines] == [("0.npy", 0), ("2.npy", 500_000_000)]


BAD_OBJECTS = [
    ('{"maps": "a, b/1.npy"', "list.jsonl:2:22: it is no object of JSON"),
    ('["a, b/1.npy"]', "list.jsonl:2:1: it is array, wanted is an object"),
    ('{"maps": ["a, b/1.npy"]}', "list.jsonl:2:2: maps is array, wanted is a text or a number from 0"),
    ('{"maps": "a, b/1.npy", "timestamp": -1}', "list.jsonl:2:24: timestamp is -1, wanted is a text or a number from 0"),
    ('{"maps": "a, b/1.npy", "timestamp": 1e300}', "list.jsonl:2:24: timestamp is '"),
    ('{"maps": "a, b/1.npy", "timestamp": 1e999}', "list.jsonl:2:1: it cannot be read (number overflow parsing '1e999')"),
    ('{"maps": "maps", "_note": "maps", "maps" : "a, b/1.npy"}', "list.jsonl:2:35: the member 'maps' is there twice"),
    ('{"maps": "a, b/1.npy", "_a": 1, "_a": 1}', "list.jsonl:2:33: the member '_a' is there twice"),
    ('{"maps": "a, b/1.npy", "timestamp": 1, "pts_ns": 1}', "list.jsonl:2:24: timestamp and pts_ns are both given"),
    ('{"maps": "a, b/1.npy", "pts_ns": 9223372036854775807}', "allowed whole nanoseconds from 0 to 9000000000000000000"),
    ('{"maps": "a, b/1.npy", "timestmap": 1}', "list.jsonl:2:24: unknown member 'timestmap' (did you mean 'timestamp'?)"),
    ('{"_a": ' + "[" * 100000, "list.jsonl:2:65537: the line is longer"),
    ('{"_a": ' + "[" * 1000, "list.jsonl:2:1: it is nested too deeply"),
    ('{}', "list.jsonl:2:1: the entry has neither frame nor maps"),
]


@pytest.mark.parametrize("line, said", BAD_OBJECTS, ids=[said for _, said in BAD_OBJECTS])
def test_a_bad_object_is_put_aside_with_its_place(contorno, folder, line, said):
    (folder / "data" / "list.jsonl").write_text('{"maps": "a, b/0.npy"}\n' + line + '\n{"maps": "a, b/2.npy", "camera": null}\n')
    done, lines = run(contorno, folder, "data/list.jsonl", check=False)
    assert done.returncode == 3 and said in done.stderr
    assert [line["name"] for line in lines] == ["0.npy", "2.npy"]


@pytest.mark.parametrize("text, said", [
    ("", "list.csv: the manifest has no entry"),
    ("maps\n", "list.csv: the manifest has no entry"),
    ("mapss\n0.npy\n", "list.csv:1:1: unknown column 'mapss' (did you mean 'maps'?); allowed are frame, maps, timestamp, pts_ns"),
    ("maps,camera,maps\n", "list.csv:1:13: the column 'maps' is there twice"),
    ("camera,timestamp\nleft,1\n", "list.csv:1:1: the first line names the columns, and one of frame and maps must be among them"),
    ("maps\nnowhere.npy\n", "nowhere.npy"),
    ('maps\n"0.npy\n', "list.csv:2:1: the quote is not closed"),
])
def test_a_manifest_without_a_usable_entry_is_refused(contorno, folder, text, said):
    (folder / "data" / "list.csv").write_text(text)
    done, _ = run(contorno, folder, "data/list.csv", check=False)
    assert done.returncode in (65, 66) and said in done.stderr


LONGEST = b'"a, b/1.npy",' + b"x" * (65536 - 13)


@pytest.mark.parametrize("line, names, code", [
    (LONGEST, ["1.npy", "2.npy"], 0),
    (LONGEST + b"y", ["2.npy"], 3),
    (b" " * 70000 + LONGEST, ["2.npy"], 3),
], ids=["the longest", "a byte more", "blank where it begins"])
def test_a_line_of_up_to_65536_bytes_is_read_and_no_longer_one(contorno, folder, line, names, code):
    (folder / "data" / "list.csv").write_bytes(b"maps,_note\r\n" + line + b'\r\n"a, b/2.npy",')
    done, lines = run(contorno, folder, "data/list.csv", check=False)
    assert done.returncode == code and [line["name"] for line in lines] == names


def test_a_line_without_end_takes_no_memory(folder):
    with open(folder / "data" / "list.csv", "wb") as file:
        file.truncate(2 << 30)
    (folder / "graph.yaml").write_text(GRAPH.format(location="data/list.csv", more=""))
    done = run_measured("run", "graph.yaml", "--quiet", cwd=folder)
    assert done.code == 65 and "list.csv:1:65537: the line is longer than the 65536 bytes allowed" in done.text
    assert done.peak_bytes < 1 << 30


def test_a_manifest_that_cannot_be_read_to_its_end_is_refused(contorno, folder):
    (folder / "data" / "list.csv").symlink_to("/proc/self/mem")  # reading its first byte is an error of input and output
    done, _ = run(contorno, folder, "data/list.csv", check=False)
    assert done.returncode == 74 and "list.csv': Input/output error" in done.stderr


def test_a_manifest_is_never_written_over(contorno, folder):
    write_csv(folder / "list.csv", [["maps"], ["data/a, b/0.npy"]])
    (folder / "graph.yaml").write_text(GRAPH.format(location="list.csv", more="").replace("out.jsonl", "list.csv"))
    done = contorno("run", "graph.yaml", cwd=folder, check=False)
    assert done.returncode == 73 and (folder / "list.csv").read_text().startswith("maps")


def test_a_manifest_begins_with_a_mark_of_utf_8_or_without(contorno, folder):
    (folder / "data" / "list.csv").write_bytes(b'\xef\xbb\xbfmaps\n"a, b/0.npy"\n')
    _, lines = run(contorno, folder, "data/list.csv")
    assert [line["name"] for line in lines] == ["0.npy"]
