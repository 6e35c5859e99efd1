"""`contorno record`: what a source delivers becomes a dataset that has the same samples, whatever ends the recording."""
import json
import re
import signal
import subprocess
import time

import cv2
import numpy as np
import pytest

from tests.conftest import PROGRAM, blobs, run_measured

GRAPH = """
classes: [{{name: apple}}, {{name: rot}}, {{name: bruise}}]
source: {source}
stages: [marching_squares, contour_assembly, overlay]
sinks:
  - {{type: jsonl, path: unused.jsonl, from: contour_assembly}}
  - {{type: images, path: "{{frame}}.png"}}
"""
LINE = "{type: synthetic, maps_size: [160, 60], frame_size: [320, 120], classes: 3, rate: 20, frames: 12}"


def write_graph(folder, name, source):
    (folder / name).write_text(GRAPH.format(source=source))


def manifest(folder):
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


def without_names(record):
    """The files of a record; a synthetic frame has no file name, a recorded one has."""
    files = {}
    for path in sorted((record / "frames").iterdir()):
        content = path.read_text()
        if path.suffix == ".jsonl":
            content = json.loads(content)
            content.pop("name", None)
        files[path.name] = content
    return files


def test_a_recording_is_replayed_with_the_results_of_its_source(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    done = contorno("record", "graph.yaml", "recording", "--camera", "left", cwd=tmp_path)
    assert done.stdout.startswith("recording: 12 frames recorded, 0 dropped, 0 failed\n")
    write_graph(tmp_path, "again.yaml", done.stdout.splitlines()[1].removeprefix("source: "))
    contorno("replay", "graph.yaml", "--record", "one", cwd=tmp_path)
    contorno("replay", "again.yaml", "--record", "other", cwd=tmp_path)
    assert len(without_names(tmp_path / "one")) == 24
    assert without_names(tmp_path / "one") == without_names(tmp_path / "other")
    # In the recording of a recording every file has the same bytes.
    contorno("record", "again.yaml", "twice", "--camera", "left", cwd=tmp_path)
    for entry in manifest(tmp_path / "recording"):
        for part in (entry["frame"], entry["maps"]):
            assert (tmp_path / "recording" / part).read_bytes() == (tmp_path / "twice" / part).read_bytes()
    assert [entry["pts_ns"] for entry in manifest(tmp_path / "recording")] == [50_000_000 * frame for frame in range(12)]
    assert {entry["camera"] for entry in manifest(tmp_path / "twice")} == {"left"}


def test_pictures_and_arrays_are_recorded_without_a_graph(contorno, tmp_path):
    (tmp_path / "shots").mkdir()
    (tmp_path / "arrays").mkdir()
    random = np.random.default_rng(3)
    shots = [random.integers(0, 256, (31 + frame, 40, 3), np.uint8) for frame in range(4)]  # of different sizes
    for frame, shot in enumerate(shots):
        cv2.imwrite(str(tmp_path / "shots" / f"{frame}.bmp"), shot)
        np.save(tmp_path / "arrays" / f"{frame}.npy", blobs(20, 30, 2, frame).astype(np.float16))
    contorno("record", "shots", "pictures", "--start", 1, "--compression", 9, cwd=tmp_path)
    entries = manifest(tmp_path / "pictures")
    assert [entry["_name"] for entry in entries] == ["1.bmp", "2.bmp", "3.bmp"] and "maps" not in entries[0]
    for entry, shot in zip(entries, shots[1:]):
        assert np.array_equal(cv2.imread(str(tmp_path / "pictures" / entry["frame"])), shot)
    contorno("record", "arrays", "maps", "--set", "source.layout=hwc", "--frames", 3, cwd=tmp_path)
    for frame, entry in enumerate(manifest(tmp_path / "maps")):
        assert np.array_equal(np.load(tmp_path / "maps" / entry["maps"]), blobs(20, 30, 2, frame).astype(np.float16))
    assert len(manifest(tmp_path / "maps")) == 3


@pytest.mark.parametrize("most", [1, 5, 12])
def test_a_recorder_that_is_killed_leaves_a_dataset_that_can_be_read(contorno, tmp_path, most):
    write_graph(tmp_path, "graph.yaml", LINE.replace("frames: 12", "frames: 1000000"))
    started = subprocess.Popen([PROGRAM, "record", "graph.yaml", "recording", "--quiet"], cwd=tmp_path)
    listed = tmp_path / "recording" / "manifest.jsonl"
    while not listed.exists() or listed.read_bytes().count(b"\n") < most:
        assert started.poll() is None
        time.sleep(0.002)
    started.send_signal(signal.SIGKILL)
    started.wait()
    entries = manifest(tmp_path / "recording")
    assert [entry["frame"] for entry in entries] == [f"frames/{frame:08}.png" for frame in range(len(entries))]
    write_graph(tmp_path, "again.yaml", "{type: dataset, location: recording/manifest.jsonl, layout: chw}")
    done = contorno("replay", "again.yaml", "--record", "other", cwd=tmp_path)
    assert f"{len(entries)} frames recorded, 0 failed" in done.stdout
    contorno("replay", "graph.yaml", "--record", "one", "--stop", len(entries), cwd=tmp_path)
    assert without_names(tmp_path / "one") == without_names(tmp_path / "other")


def test_ctrl_c_ends_a_recording_with_all_that_was_taken(tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE.replace("frames: 12", "frames: 1000000, live: true"))
    started = subprocess.Popen([PROGRAM, "record", "graph.yaml", "recording"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    while len(list(tmp_path.glob("recording/maps/*.npy"))) < 3:
        assert started.poll() is None
        time.sleep(0.01)
    started.send_signal(signal.SIGTERM)
    said, _ = started.communicate(timeout=60)
    entries = manifest(tmp_path / "recording")
    assert started.returncode == 128 + signal.SIGTERM and f"recording: {len(entries)} frames recorded" in said
    assert sorted(entry["maps"] for entry in entries) == sorted(f"maps/{path.name}" for path in tmp_path.glob("recording/maps/*"))


def test_a_live_source_that_is_too_fast_drops_frames_and_memory_stays_bounded(tmp_path):
    # Few different values take the compressor of PNG far longer than a decoder.
    shot = np.random.default_rng(1).integers(0, 4, (480, 1280, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "shot.png"), shot)
    write_graph(tmp_path, "graph.yaml", "{type: images, location: shot.png, loop: true, limit: 250, live: true, rate: 1000}")
    run = run_measured("record", "graph.yaml", "recording", "--compression", 9, cwd=tmp_path)
    recorded, dropped = (int(run.text.split(f" {what}")[0].split()[-1]) for what in ("frames recorded", "dropped"))
    assert run.code == 0 and recorded + dropped == 250 and dropped > 0
    assert recorded == len(manifest(tmp_path / "recording"))
    for entry in manifest(tmp_path / "recording"):
        assert np.array_equal(cv2.imread(str(tmp_path / "recording" / entry["frame"])), shot)
    assert run.peak_bytes < 400 << 20  # all frames have 600 MB


def test_a_full_disk_ends_the_recording_with_what_is_complete(tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE.replace("[160, 60]", "[600, 60]"))
    command = f"ulimit -f 300; exec {PROGRAM} record graph.yaml recording"  # KiB; the maps of a frame have 422
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 74 and "maps: " in done.stderr and "File too large" in done.stderr
    assert not (tmp_path / "recording" / "manifest.jsonl").exists() and not list(tmp_path.glob("recording/maps/*.npy"))


def test_a_run_that_ends_before_its_first_frame_leaves_the_folder_free(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    command = f"ulimit -f 0; exec {PROGRAM} record graph.yaml recording"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 74 and done.stdout == "recording: 0 frames recorded, 0 dropped, 0 failed\n"
    assert not [path for path in tmp_path.glob("recording/**/*") if path.is_file()]
    contorno("record", "graph.yaml", "recording", "--frames", 2, cwd=tmp_path)
    assert len(manifest(tmp_path / "recording")) == 2


@pytest.mark.parametrize("name", ["frames/00000000.png", "maps/00000000.npy"])
def test_frames_without_a_manifest_are_not_replaced(contorno, tmp_path, name):
    write_graph(tmp_path, "graph.yaml", LINE)
    old = tmp_path / "recording" / name
    old.parent.mkdir(parents=True)
    old.write_text("old")
    done = contorno("record", "graph.yaml", "recording", cwd=tmp_path, check=False)
    assert done.returncode == 73 and "has a recording already, or a part of one" in done.stderr
    assert old.read_text() == "old" and not (tmp_path / "recording" / "manifest.jsonl").exists()


def test_start_0_and_every_1_undo_those_of_a_graph(contorno, tmp_path):
    (tmp_path / "shots").mkdir()
    for frame in range(12):
        cv2.imwrite(str(tmp_path / "shots" / f"{frame:02}.png"), np.full((9, 9, 3), frame, np.uint8))
    write_graph(tmp_path, "graph.yaml", "{type: images, location: shots, start: 9, every: 2}")
    contorno("record", "graph.yaml", "some", cwd=tmp_path)
    contorno("record", "graph.yaml", "all", "--start", 0, "--every", 1, cwd=tmp_path)
    assert [entry["_name"] for entry in manifest(tmp_path / "some")] == ["09.png", "11.png"]
    assert len(manifest(tmp_path / "all")) == 12


def test_a_recording_is_not_written_over_and_wrong_words_are_answered(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "recording", "--frames", 2, cwd=tmp_path)
    done = contorno("record", "graph.yaml", "recording", cwd=tmp_path, check=False)
    assert done.returncode == 73 and "has a recording already" in done.stderr and len(manifest(tmp_path / "recording")) == 2
    done = contorno("record", "nothing", "other", cwd=tmp_path, check=False)
    assert done.returncode == 66 and "nothing" in done.stderr
    done = contorno("record", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 2 and "DIR" in done.stderr


def test_a_duration_is_of_the_stream_and_ends_before_the_frame_that_is_so_late(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)  # 20 frames a second
    for duration, frames in (("200ms", 4), ("0.201 s", 5), ("1h", 12)):
        done = contorno("record", "graph.yaml", f"in {duration}", "--duration", duration, cwd=tmp_path)
        assert f"{frames} frames recorded" in done.stdout and len(manifest(tmp_path / f"in {duration}")) == frames
    done = contorno("record", "graph.yaml", "no", "--duration", "3", cwd=tmp_path, check=False)
    assert done.returncode == 2 and "--duration is '3', wanted a time with its unit" in done.stderr


def test_what_is_appended_follows_the_recording_and_both_are_read(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "first", cwd=tmp_path)
    write_graph(tmp_path, "again.yaml", "{type: dataset, location: first/manifest.jsonl, layout: chw}")
    contorno("record", "again.yaml", "whole", "--camera", "left", cwd=tmp_path)
    for start, frames in ((0, 5), (5, 4), (9, 3)):
        done = contorno("record", "again.yaml", "parts", "--append", "--camera", "left", "--start", start, "--frames", frames,
                        cwd=tmp_path)
    assert done.stdout.startswith("parts: 3 frames recorded, 0 dropped, 0 failed; 12 with those before\n")
    assert (tmp_path / "parts" / "manifest.jsonl").read_bytes() == (tmp_path / "whole" / "manifest.jsonl").read_bytes()
    for part in ("frames", "maps"):
        names = sorted(path.name for path in (tmp_path / "whole" / part).iterdir())
        assert names == sorted(path.name for path in (tmp_path / "parts" / part).iterdir()) and len(names) == 12
        assert all((tmp_path / "whole" / part / name).read_bytes() == (tmp_path / "parts" / part / name).read_bytes() for name in names)


def test_a_recorder_that_was_killed_is_appended_to_behind_all_it_has_written(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "recording", "--frames", 3, cwd=tmp_path)
    listed, spare = tmp_path / "recording" / "manifest.jsonl", tmp_path / "recording" / "frames" / "00000006.png"
    whole = listed.read_bytes()
    listed.write_bytes(whole + b'{"frame": "frames/0000')  # cut off while it was written
    spare.write_bytes(b"never named")
    contorno("record", "graph.yaml", "recording", "--frames", 2, "--append", cwd=tmp_path)
    assert listed.read_bytes().startswith(whole) and spare.read_bytes() == b"never named"
    assert [entry["frame"] for entry in manifest(tmp_path / "recording")[3:]] == ["frames/00000007.png", "frames/00000008.png"]
    assert [entry["pts_ns"] for entry in manifest(tmp_path / "recording")] == [50_000_000 * frame for frame in range(5)]
    # A run without a frame leaves everything as it was.
    before = listed.read_bytes()
    done = contorno("record", "graph.yaml", "recording", "--append", "--duration", "0s", cwd=tmp_path)
    assert done.stdout == "recording: 0 frames recorded, 0 dropped, 0 failed; 5 with those before\n" and listed.read_bytes() == before


@pytest.mark.parametrize("times, begins", [([0, 10, 20], 30), ([20, 0, 10], 30), ([5, 9], 13), ([0, 1, 20], 30), ([7], 7.05), ([8, 8], 8.05)],
                         ids=["in steps", "in no order", "not from 0", "unevenly", "one frame", "at one time"])
def test_what_is_appended_begins_one_mean_interval_behind_the_last_frame(contorno, tmp_path, times, begins):
    """Of what is recorded, whatever the source's own rate is: 20 frames a second, which counts where there is no interval yet."""
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "recording", "--frames", len(times), cwd=tmp_path)
    entries = [entry | {"pts_ns": int(time * 1e9)} for entry, time in zip(manifest(tmp_path / "recording"), times)]
    (tmp_path / "recording" / "manifest.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    contorno("record", "graph.yaml", "recording", "--frames", 2, "--append", cwd=tmp_path)
    assert [entry["pts_ns"] for entry in manifest(tmp_path / "recording")[len(times):]] == [int(begins * 1e9), int(begins * 1e9) + 50_000_000]


@pytest.mark.parametrize("other, said", [
    (LINE.replace("[320, 120]", "[330, 120]"), "the recording has frames of 320 x 120, the source frames of 330 x 120"),
    (LINE.replace("[160, 60]", "[160, 70]"), "the recording has maps of 160x60x3"),
    (LINE.replace("classes: 3", "classes: 2"), "the recording has maps of 160x60x3"),
    ("{type: images, location: shots}", "the recording has maps of 160x60x3 float32 planar, the source no maps")])
def test_another_size_or_kind_is_not_appended(contorno, tmp_path, other, said):
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "recording", "--frames", 2, cwd=tmp_path)
    before = (tmp_path / "recording" / "manifest.jsonl").read_bytes()
    (tmp_path / "shots").mkdir()
    cv2.imwrite(str(tmp_path / "shots" / "0.png"), np.zeros((120, 320, 3), np.uint8))
    text = GRAPH.format(source=other).replace("stages: [marching_squares, contour_assembly, overlay]\n", "stages: [preprocess]\n"
                                              ).replace("  - {type: jsonl, path: unused.jsonl, from: contour_assembly}\n", "")
    (tmp_path / "other.yaml").write_text(text)
    done = contorno("record", "other.yaml", "recording", "--append", cwd=tmp_path, check=False)
    assert done.returncode == 73 and said in done.stderr and "give another folder" in done.stderr
    assert (tmp_path / "recording" / "manifest.jsonl").read_bytes() == before


def test_a_manifest_with_a_wrong_line_is_not_appended_to(contorno, tmp_path):
    write_graph(tmp_path, "graph.yaml", LINE)
    contorno("record", "graph.yaml", "recording", "--frames", 2, cwd=tmp_path)
    with open(tmp_path / "recording" / "manifest.jsonl", "a") as listed:
        listed.write('{"frame": "x.png", "pts_ns": "soon"}\n')
    done = contorno("record", "graph.yaml", "recording", "--append", cwd=tmp_path, check=False)
    assert done.returncode == 65 and re.search(r"recording/manifest.jsonl:3:\d+: pts_ns is 'soon'", done.stderr)


def test_maps_of_16_bit_are_recorded_as_they_are(contorno, tmp_path):
    maps = np.random.default_rng(5).integers(0, 65536, (3, 2, 11, 13), np.uint16)
    np.save(tmp_path / "maps.npy", maps)
    contorno("record", "maps.npy", "recording", "--set", "source.layout=chw", cwd=tmp_path)
    for frame in range(3):
        assert np.array_equal(np.load(tmp_path / "recording" / "maps" / f"{frame:08}.npy"), maps[frame])


@pytest.mark.parametrize("query", ["?channel=1&subtype=0", "?picture=1.png", "#[1]"])
@pytest.mark.parametrize("command", ["run", "record"])
def test_an_address_stays_one_whatever_letters_of_patterns_it_has(contorno, tmp_path, command, query):
    def answer(address):
        return contorno(command, address, *([tmp_path / "out"] if command == "record" else ["--output", tmp_path / "out"]),
                        check=False)
    plain, with_query = answer("rtsp://127.0.0.1:1/cam"), answer("rtsp://127.0.0.1:1/cam" + query)
    assert with_query.returncode == plain.returncode == 66
    assert with_query.stderr.replace(query, "") == plain.stderr and "(reported by rtspsrc)" in plain.stderr


@pytest.mark.parametrize("command", [["run", "-"], ["check", "-"], ["record", "-", "out"]])
def test_a_video_on_standard_input_in_the_place_of_a_graph_is_told_where_it_has_to_stand(tmp_path, command):
    video = b"\0\0\0\x20ftypisom\0\0\2\0" + bytes(range(256)) * 8000
    done = subprocess.run([PROGRAM, *command], input=video, capture_output=True, cwd=tmp_path, check=False)
    said = done.stderr.decode()
    assert done.returncode == 78 and "no graph, but a video" in said and "contorno run graph.yaml --input -" in said, said


@pytest.mark.parametrize("latest, taken", [(9_000_000_000_000_000_000, False), (8_999_999_999_999_999_999, False),
                                           (4_500_000_000_000_000_000, False), (4_499_999_999_000_000_000, True)])
def test_times_that_a_manifest_has_no_room_for_are_not_appended(contorno, tmp_path, latest, taken):
    """The next frames follow by the mean interval of the two before, which is `latest`."""
    write_graph(tmp_path, "graph.yaml", LINE.replace("frames: 12", "frames: 2"))
    contorno("record", "graph.yaml", "recording", cwd=tmp_path)
    lines = manifest(tmp_path / "recording")
    lines[0]["pts_ns"], lines[1]["pts_ns"] = 0, latest
    (tmp_path / "recording" / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = contorno("record", "graph.yaml", "recording", "--append", cwd=tmp_path, check=False)
    times = [line["pts_ns"] for line in manifest(tmp_path / "recording")]
    if taken:
        assert done.returncode == 0 and times == [0, latest, 2 * latest, 2 * latest + 50_000_000]
    else:
        assert done.returncode == 73 and "which is what a manifest has room for" in done.stderr and times[:2] == [0, latest], done.stderr
        assert times[2:] == ([2 * latest] if latest == 4_500_000_000_000_000_000 else [])  # what there is room for
