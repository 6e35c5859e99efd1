"""`contorno replay`: records of results on a dataset, what a later run is found to differ in, parts, and runs that are killed."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest

from tests.conftest import PROGRAM, ROOT, blobs
from tests.waiting import wait_for

GRAPH = """
classes: [{{name: a, level: {level}}}, {{name: b, level: 0.4}}]
source: {{type: dataset, location: maps, layout: hwc}}
stages:
  - marching_squares
  - {{type: contour_assembly, min_points: 8}}
sinks:
  - {{type: jsonl, path: unused.jsonl}}
pipeline: {{slots: {slots}, threads: {threads}}}
"""
FRAMES = 7


def graph_text(level=0.5, slots=4, threads=0):
    return GRAPH.format(level=level, slots=slots, threads=threads)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "maps").mkdir()
    for frame in range(FRAMES):
        np.save(tmp_path / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
    (tmp_path / "graph.yaml").write_text(graph_text())
    return tmp_path


def content(record):
    return {path.name: path.read_bytes() for path in sorted((record / "frames").iterdir())}


def lines(record):
    return [json.loads(text) for text in content(record).values()]


def test_a_record_has_what_the_sink_jsonl_writes_a_file_a_frame(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    contorno("run", "graph.yaml", "--set", "jsonl.coordinates=map", cwd=folder)
    written = [json.loads(text) | {"pts_ns": 0} for text in (folder / "unused.jsonl").read_text().splitlines()]
    assert lines(folder / "golden") == written
    assert list(content(folder / "golden")) == [f"{frame:08}.contour_assembly.contours.jsonl" for frame in range(FRAMES)]


@pytest.mark.parametrize("slots, threads", [(1, 1), (3, 2), (4, 1)])
def test_a_record_has_the_same_bytes_whatever_slots_and_threads(contorno, folder, slots, threads):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    (folder / "graph.yaml").write_text(graph_text(slots=slots, threads=threads))
    contorno("replay", "graph.yaml", "--record", "again", cwd=folder)
    assert content(folder / "again") == content(folder / "golden")
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder)
    assert f"{FRAMES} frames compared: {FRAMES} same, 0 within 0 px, 0 different" in done.stdout


def test_a_changed_map_is_found_told_and_measured(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    maps = np.load(folder / "maps" / "003.npy")
    maps[..., 0] += np.float32(0.004)
    np.save(folder / "maps" / "003.npy", maps)
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--keep", "new", "--report", "report.json", "--html",
                    "page.html", cwd=folder, check=False)
    assert done.returncode == 1
    assert re.search(r"first difference: frame 3: contour_assembly.contours: class 'a', contour 0: point 0 \(x, y\) was "
                     r"\([\d.]+, [\d.]+\), is \([\d.]+, [\d.]+\)", done.stdout), done.stdout
    report = json.loads((folder / "report.json").read_text())
    assert report["frames"] == {"same": FRAMES - 1, "within": 0, "different": 1}
    [difference] = report["differences"]
    assert (difference["frame"], difference["lost"], difference["added"]) == (3, 0, 0)
    assert difference["distance"] == pytest.approx(largest_distance(folder / "golden", folder / "new", 3), abs=1e-5)
    page = (folder / "page.html").read_text()
    assert page.count("<figure>") == 3 and 'class="before"' in page and 'class="after"' in page
    assert "http" not in page and "src=" not in page


def largest_distance(before, after, frame):
    """By shapely: the largest Hausdorff distance of the contours that belong together."""
    shapely = pytest.importorskip("shapely.geometry")
    name = f"frames/{frame:08}.contour_assembly.contours.jsonl"
    classes = [json.loads((record / name).read_text())["classes"] for record in (before, after)]
    distances = []
    for one, other in zip(*classes):
        assert len(one["contours"]) == len(other["contours"])
        for a, b in zip(one["contours"], other["contours"]):
            a, b = shapely.LineString(a["points"]), shapely.LineString(b["points"])
            # From points to the line; shapely's own distance looks at points alone.
            far = [shapely.Point(p).distance(line) for points, line in ((a, b), (b, a)) for p in points.coords]
            distances.append(max(far))
    return max(distances)


def test_a_tolerance_takes_small_moves_and_nothing_larger(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    maps = np.load(folder / "maps" / "002.npy")
    np.save(folder / "maps" / "002.npy", maps + np.float32(0.004))
    compare = ["replay", "graph.yaml", "--expect", "golden", "--report", "report.json"]
    assert contorno(*compare, cwd=folder, check=False).returncode == 1
    far = json.loads((folder / "report.json").read_text())["distance"]
    assert 0 < far < 1
    done = contorno(*compare, "--tolerance", far * 1.01, cwd=folder)
    assert "6 same, 1 within" in done.stdout
    assert contorno(*compare, "--tolerance", far * 0.99, cwd=folder, check=False).returncode == 1


def test_contours_that_come_and_go_differ_whatever_the_tolerance(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    maps = np.load(folder / "maps" / "005.npy")
    maps[:] = 0
    np.save(folder / "maps" / "005.npy", maps)
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--tolerance", 50, "--report", "report.json", cwd=folder,
                    check=False)
    assert done.returncode == 1 and "is gone" in done.stdout
    [difference] = json.loads((folder / "report.json").read_text())["differences"]
    before = lines(folder / "golden")[5]["classes"]
    assert difference["lost"] == sum(len(one["contours"]) for one in before) > 0 and difference["added"] == 0


def disc(rows, cols, row, col, radius):
    """A map of one disc, soft at its edge."""
    y, x = np.mgrid[0:rows, 0:cols]
    return 1 / (1 + np.exp(np.hypot(y - row, x - col) - radius))


@pytest.mark.parametrize("tolerance", [0, 0.5, 50, 1000])
@pytest.mark.parametrize("recorded, now", [(1, 2), (2, 1)], ids=["added", "lost"])
def test_a_contour_more_or_less_beside_equal_ones_is_a_difference_at_every_tolerance(contorno, folder, recorded, now, tolerance):
    """The other contours of the frame, and all other frames, stay as they were."""
    def write(discs):
        maps = blobs(48, 64, 2, 3)
        maps[..., 1] = np.max([disc(48, 64, 15, 15 + 30 * one, 6) for one in range(discs)], axis=0)
        np.save(folder / "maps" / "003.npy", maps)

    write(recorded)
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    write(now)
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--tolerance", tolerance, "--report", "report.json", cwd=folder,
                    check=False)
    report = json.loads((folder / "report.json").read_text())
    assert report["frames"] == {"same": FRAMES - 1, "within": 0, "different": 1} and done.returncode == 1, done.stdout
    [difference] = report["differences"]
    assert (difference["lost"], difference["added"]) == (max(recorded - now, 0), max(now - recorded, 0))


def test_a_tolerance_is_a_distance_in_px_both_ways(contorno, folder):
    """A disc that grows by 2 px: within 2.1, not within 1.9, whichever of the two was recorded."""
    for before, after in ((6, 8), (8, 6)):
        for radius, arguments in ((before, ["--record", "golden", "--overwrite"]), (after, ["--expect", "golden", "--tolerance", 1.9]),
                                  (after, ["--expect", "golden", "--tolerance", 2.1])):
            maps = np.stack([np.zeros((48, 64)), disc(48, 64, 24, 32, radius)], axis=2).astype(np.float32)
            for frame in range(FRAMES):
                np.save(folder / "maps" / f"{frame:03}.npy", maps)
            (folder / "graph.yaml").write_text(graph_text().replace("level: 0.4", "level: 0.5"))
            done = contorno("replay", "graph.yaml", *arguments, cwd=folder, check=False)
            assert done.returncode == (1 if 1.9 in arguments else 0), (before, arguments, done.stdout)
    assert f"{FRAMES} within" in done.stdout


def test_frames_that_are_gone_and_new_ones_differ(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    (folder / "maps" / "006.npy").unlink()
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 1 and "frame 6: contour_assembly.contours did not come" in done.stdout
    for frame in (6, 7):
        np.save(folder / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 1 and "frame 7: contour_assembly.contours was not recorded" in done.stdout


def test_pictures_are_compared_by_their_samples(contorno, folder):
    text = graph_text().replace("sinks:", "  - {type: overlay}\nsinks:\n  - {type: images, path: o.png}")
    (folder / "data" / "frames").mkdir(parents=True)
    (folder / "maps").rename(folder / "data" / "maps")
    for frame in range(FRAMES):
        cv2.imwrite(str(folder / "data" / "frames" / f"{frame:03}.png"), np.full((48, 64, 3), 40 + frame, np.uint8))
    text = text.replace("location: maps", "location: data")
    (folder / "graph.yaml").write_text(text)
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    assert sum(name.endswith(".overlay.image.crc") for name in content(folder / "golden")) == FRAMES
    (folder / "graph.yaml").write_text(text.replace("name: a,", 'name: a, colour: "#00ff01",'))
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 1 and "the picture overlay.image differs: was " in done.stdout


@pytest.mark.parametrize("parts", [2, 3, 10])
def test_parts_are_disjoint_and_complete_and_put_together_by_copying(contorno, folder, parts):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    together = folder / "together"
    (together / "frames").mkdir(parents=True)
    for part in range(parts):
        done = contorno("replay", "graph.yaml", "--record", f"part{part}", "--shard", f"{part}/{parts}", cwd=folder)
        assert f"{len(range(part, FRAMES, parts))} frames recorded, 0 failed" in done.stdout
        for name, data in content(folder / f"part{part}").items() if part < FRAMES else ():
            assert not (together / "frames" / name).exists()
            (together / "frames" / name).write_bytes(data)
    assert content(together) == content(folder / "golden")
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--shard", "1/2", cwd=folder)
    assert "3 frames compared: 3 same" in done.stdout


@pytest.mark.parametrize("start, every", [(0, 2), (1, 3), (2, 1)])
def test_parts_of_a_dataset_of_which_every_nth_frame_is_taken_are_those_frames(contorno, folder, start, every):
    for frame in range(FRAMES, 17):
        np.save(folder / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
    contorno("replay", "graph.yaml", "--record", "all", cwd=folder)
    (folder / "graph.yaml").write_text(graph_text().replace("layout: hwc", f"layout: hwc, start: {start}, every: {every}"))
    taken = list(range(start, 17, every))
    parts = [taken[part::2] for part in range(2)]
    whole, wanted = content(folder / "all"), {}
    for part, frames in enumerate(parts):
        done = contorno("replay", "graph.yaml", "--record", f"part{part}", "--shard", f"{part}/2", cwd=folder)
        assert f"{len(frames)} frames recorded, 0 failed" in done.stdout
        found = content(folder / f"part{part}")
        assert sorted(int(name[:8]) for name in found) == frames
        assert found == {name: data for name, data in whole.items() if int(name[:8]) in frames}
        wanted |= found
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    assert content(folder / "golden") == wanted and len(wanted) == len(taken)
    # A piece of it counts the frames that are taken.
    contorno("replay", "graph.yaml", "--record", "piece", "--start", 1, "--stop", 4, "--shard", "1/2", cwd=folder)
    assert sorted(int(name[:8]) for name in content(folder / "piece")) == taken[1:4][1::2]
    contorno("replay", "graph.yaml", "--record", "most", "--shard", f"1/{1000000 // every}", cwd=folder)
    assert sorted(int(name[:8]) for name in content(folder / "most")) == taken[1:2]
    done = contorno("replay", "graph.yaml", "--record", "more", "--shard", f"1/{1000000 // every + 1}", cwd=folder, check=False)
    assert done.returncode == 2
    assert every == 1 or f"allowed are {1000000 // every} of a source with 'every: {every}'" in done.stderr


def test_start_and_stop_take_a_piece_under_the_same_names(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    contorno("replay", "graph.yaml", "--record", "piece", "--start", 2, "--stop", 5, cwd=folder)
    golden = content(folder / "golden")
    assert content(folder / "piece") == {name: data for name, data in golden.items() if 2 <= int(name[:8]) < 5}


def test_a_frame_that_fails_is_recorded_with_its_reason(contorno, folder):
    (folder / "maps" / "004.npy").write_bytes(b"no array")
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder, check=False)
    assert (folder / "golden" / "frames" / "00000004.failed").read_text().strip()
    assert "7 same" in contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False).stdout
    np.save(folder / "maps" / "004.npy", blobs(48, 64, 2, 4))
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 1 and "frame 4: it did not fail as before" in done.stdout
    contorno("replay", "graph.yaml", "--record", "golden", "--overwrite", cwd=folder)  # in the same folder
    assert "00000004.failed" not in content(folder / "golden")
    assert "7 same" in contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder).stdout
    (folder / "maps" / "004.npy").write_bytes(b"no array")
    contorno("replay", "graph.yaml", "--record", "golden", "--overwrite", cwd=folder, check=False)
    assert [name for name in content(folder / "golden") if name.startswith("00000004")] == ["00000004.failed"]


def test_a_recording_that_is_killed_goes_on_and_ends_with_the_same_bytes(contorno, folder):
    for frame in range(FRAMES, 60):
        np.save(folder / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
    # Played at their times frame 40 is waited for until the kill comes, however late that is.
    with_times(folder, [0.001 * frame + (1e6 if frame >= 40 else 0) for frame in range(60)])
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    command = [PROGRAM, "replay", "graph.yaml", "--record", "killed", "--resume", "--quiet"]
    (folder / "killed").mkdir()
    for most in (1, 7, 20, 33):
        started = subprocess.Popen([*command, "--real-time"], cwd=folder, stderr=subprocess.DEVNULL)
        wait_for(lambda: len(list((folder / "killed").glob("frames/*.jsonl"))) >= most, seconds=120)
        assert started.poll() is None
        started.send_signal(signal.SIGKILL)
        started.wait()
        # What is there under its name is complete.
        golden = content(folder / "golden")
        for path in (folder / "killed").glob("frames/*.jsonl"):
            assert path.read_bytes() == golden[path.name]
    for _ in range(2):  # the second one finds nothing to do
        subprocess.run(command, cwd=folder, check=True)
    assert {name: data for name, data in content(folder / "killed").items() if ".part" not in name} == content(folder / "golden")


def with_times(folder, seconds):
    """A manifest by which the frames were recorded at these times; the graph reads it."""
    lines = [{"maps": f"maps/{frame:03}.npy", "timestamp": second} for frame, second in enumerate(seconds)]
    (folder / "list.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "graph.yaml").write_text(graph_text().replace("location: maps", "location: list.jsonl"))


def test_frames_come_at_their_recorded_times_or_so_many_times_as_fast(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    with_times(folder, [5, 5.1, 5.1, 5.2, 5.5, 5.9, 5.8])
    begin = time.monotonic()
    contorno("replay", "graph.yaml", "--expect", "golden", "--real-time", cwd=folder)
    assert time.monotonic() - begin >= 0.9
    with_times(folder, [100 * frame for frame in range(FRAMES)])  # ten minutes
    begin = time.monotonic()
    contorno("replay", "graph.yaml", "--expect", "golden", "--speed", 1000, cwd=folder)
    assert time.monotonic() - begin >= 0.6
    contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder)  # not at these times at all
    # A part begins with its first frame.
    contorno("replay", "graph.yaml", "--expect", "golden", "--real-time", "--start", FRAMES - 1, cwd=folder)


def test_an_end_is_asked_for_while_a_frame_is_waited_for(folder):
    with_times(folder, [0, 0.1, *range(1000, 1000 + FRAMES - 2)])
    started = subprocess.Popen([PROGRAM, "replay", "graph.yaml", "--record", "part", "--real-time", "--quiet"], cwd=folder)
    while len(list(folder.glob("part/frames/*.jsonl"))) < 2:
        time.sleep(0.01)
    started.send_signal(signal.SIGTERM)
    assert started.wait(60) == 128 + signal.SIGTERM
    assert len(content(folder / "part")) == 2


def test_every_round_of_a_loop_has_the_results_of_the_record(contorno, folder):
    done = contorno("replay", "graph.yaml", "--record", "golden", "--loop", 3, cwd=folder)
    assert "7 frames recorded" in done.stdout and re.findall(r"round \d of 3: 7 frames compared: 7 same", done.stdout) == [
        f"round {number} of 3: 7 frames compared: 7 same" for number in (2, 3)]
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--loop", 2, cwd=folder)
    assert len(re.findall(r"round \d of 2: 7 frames compared: 7 same", done.stdout)) == 2


def test_a_round_that_differs_ends_the_loop(contorno, folder):
    with_times(folder, [frame / 10 for frame in range(FRAMES)])
    command = [PROGRAM, "replay", "graph.yaml", "--record", "golden", "--loop", "1000", "--real-time"]
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while len(list(folder.glob("golden/frames/*.jsonl"))) < FRAMES:
        time.sleep(0.01)
    time.sleep(0.1)
    np.save(folder / "maps" / "006.npy", blobs(48, 64, 2, 9))
    said, _ = started.communicate(timeout=60)
    assert started.returncode == 1 and "first difference: frame 6" in said


@pytest.mark.parametrize("arguments, code, said", [
    (["--record", "a", "--loop", "0"], 2, "--loop"),
    (["--record", "a", "--speed", "0"], 2, "--speed"),
    ([], 2, "give either --record DIR"),
    (["--record", "a", "--expect", "b"], 2, "give either --record DIR"),
    (["--expect", "nowhere"], 66, "there is no record in this folder"),
    (["--expect", "b", "--resume"], 2, "--resume goes with --record"),
    (["--record", "a", "--shard", "3/3"], 2, "--shard is '3/3', allowed PART/PARTS"),
    (["--record", "a", "--shard", "x"], 2, "--shard is 'x', allowed PART/PARTS"),
    (["--record", "a", "--shard", "0/1000001"], 2, "with up to 1000000 parts"),
    (["--record", "a", "--tolerance", "-1"], 2, "--tolerance"),
])
def test_wrong_words_are_answered(contorno, folder, arguments, code, said):
    (folder / "b" / "frames").mkdir(parents=True)
    done = contorno("replay", "graph.yaml", *arguments, cwd=folder, check=False)
    assert done.returncode == code and said in done.stderr, done.stderr


def test_a_graph_without_sinks_cannot_be_recorded(contorno, folder):
    text = graph_text()
    (folder / "graph.yaml").write_text(text[:text.index("sinks:")])
    done = contorno("replay", "graph.yaml", "--record", "a", cwd=folder, check=False)
    assert done.returncode == 78 and "the graph has no sinks" in done.stderr


def test_a_damaged_record_is_named(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    file = folder / "golden" / "frames" / "00000002.contour_assembly.contours.jsonl"
    file.write_bytes(file.read_bytes()[:100])
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 65 and "00000002.contour_assembly.contours.jsonl:1:" in done.stderr
    file.unlink()
    (folder / "golden" / "frames" / "notes.txt").write_text("")
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 65 and "notes.txt: no file of a record" in done.stderr


@pytest.mark.parametrize("name, ignored", [
    ("00000002.contour_assembly.contours.jsonl.part123-4", True), ("left.part77", True), ("notes.part", False), ("notes.part1x", False)])
def test_only_what_a_run_left_unfinished_is_passed_over_in_a_record(contorno, folder, name, ignored):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    (folder / "golden" / "frames" / name).write_text("")
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == (0 if ignored else 65) and (ignored or f"{name}: no file of a record" in done.stderr), done.stderr


def test_the_new_results_are_kept_only_on_demand(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    temporary = folder / "tmp"
    temporary.mkdir()
    contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, env={"TMPDIR": str(temporary)})
    assert not list(temporary.iterdir())
    done = contorno("replay", "graph.yaml", "--expect", "golden", "--keep", "new", cwd=folder)
    assert content(folder / "new") == content(folder / "golden") and "--keep: each round removes" not in done.stderr


def test_results_of_another_run_are_not_taken_for_new_ones(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    contorno("replay", "graph.yaml", "--expect", "golden", "--keep", "new", cwd=folder)
    for kept in ("new", "golden"):
        done = contorno("replay", "graph.yaml", "--expect", "golden", "--keep", kept, cwd=folder, check=False)
        assert done.returncode == 73 and f"--keep is '{kept}', but '{kept}/frames' may have the results of an earlier run" in done.stderr
    assert content(folder / "new") == content(folder / "golden")
    done = contorno("replay", "graph.yaml", "--record", "other", "--keep", "third", cwd=folder, check=False)
    assert done.returncode == 2 and "--keep goes with --expect" in done.stderr


def test_each_round_begins_with_an_empty_folder(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    report, page = folder / "report", folder / "page"
    os.mkfifo(report), os.mkfifo(page)  # a round waits until they are taken, one after the other
    started = subprocess.Popen([PROGRAM, "replay", "graph.yaml", "--expect", "golden", "--keep", "new", "--loop", "2",
                                "--report", report, "--html", page], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    # A program that ends early leaves nobody waiting for ever.
    take = lambda pipe: subprocess.run(["cat", pipe], capture_output=True, text=True, timeout=60, check=True).stdout
    for _ in range(2):
        assert json.loads(take(report))["frames"] == {"same": FRAMES, "within": 0, "different": 0}
        (folder / "new" / "frames" / f"{FRAMES:08}.contour_assembly.contours.jsonl").write_text("of this round")
        take(page)
    said, warned = started.communicate(timeout=60)
    assert started.returncode == 0, said + warned
    assert "--keep: each round removes its results of the round before from 'new/frames'" in warned


TEST_OF_A_USER = """
def test_defects(contorno_replay):
    contorno_replay("graph.yaml", "maps", expect="golden", tolerance=0.1)
"""


def test_a_dataset_is_compared_by_one_line_of_pytest(folder):
    from tests.plugins.python.package import PACKAGE  # skips where the build has no Python package

    (folder / "conftest.py").write_text('pytest_plugins = ["contorno.pytest_plugin"]\n')
    (folder / "test_line.py").write_text(TEST_OF_A_USER)

    def pytest_run(*arguments):
        environment = {**os.environ, "CONTORNO_BIN": PROGRAM, "PYTHONPATH": str(PACKAGE)}
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=folder,
                              env=environment, capture_output=True, text=True)

    assert "there is no record in this folder" in pytest_run().stdout
    assert pytest_run("--contorno-record").returncode == 0
    assert pytest_run().returncode == 0
    np.save(folder / "maps" / "001.npy", np.zeros((48, 64, 2), np.float32))
    done = pytest_run()
    assert done.returncode == 1 and "1 failed" in done.stdout and "is gone" in done.stdout
    assert (folder / "golden.html").exists()


def test_a_dataset_is_compared_by_one_line_of_ctest(contorno, folder):
    contorno("replay", "graph.yaml", "--record", "golden", cwd=folder)
    (folder / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.22)
project(line LANGUAGES NONE)
enable_testing()
list(APPEND CMAKE_MODULE_PATH {ROOT}/tools/replay)
include(ContornoReplay)
contorno_add_replay_test(NAME defects GRAPH graph.yaml DATASET maps EXPECT golden PROGRAM {PROGRAM})
""")
    subprocess.run(["cmake", "-S", ".", "-B", "build"], cwd=folder, check=True, capture_output=True)
    test = ["ctest", "--test-dir", "build", "--output-on-failure"]
    assert subprocess.run(test, cwd=folder, capture_output=True).returncode == 0
    np.save(folder / "maps" / "001.npy", np.zeros((48, 64, 2), np.float32))
    done = subprocess.run(test, cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0 and "first difference: frame 1" in done.stdout
    assert (folder / "build" / "defects.html").exists()
