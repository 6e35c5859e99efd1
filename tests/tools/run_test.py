"""`contorno run`, end to end, on data made here and on recorded data."""
import json
import os
import pathlib
import re
import signal
import subprocess

import cv2
import numpy as np
import pytest
from tests.conftest import PROGRAM, ROOT, blobs, maps_graph, read_lines
from tests.waiting import has_lines, wait_for
from skimage import measure

EXAMPLES = ROOT / "config" / "examples"


def write_graph(folder, text):
    path = folder / "graph.yaml"
    path.write_text(text)
    return path


def check_accounts(report):
    frames = report["frames"]
    dropped = frames["dropped"]
    assert frames["in"] == frames["out"] + frames["failed"] + dropped["total"]
    assert dropped["total"] == dropped["ring_full"] + dropped["deadline"] + dropped["thinned"] + dropped["aborted"]


def points_of(contour):
    """As written: the shortest text that is read back as the same float32."""
    return np.array([[np.nan if v is None else v for v in point] for point in contour["points"]], np.float32)


def assert_same_contours(line, maps, level):
    """Every class of a frame has scikit-image's contours, in its order, rounded to float32, as (x, y)."""
    for index, one in enumerate(line["classes"]):
        expected = measure.find_contours(maps[..., index].astype(np.float64), level)
        assert len(one["contours"]) == len(expected)
        for contour, reference in zip(one["contours"], expected):
            rounded = reference.astype(np.float32)[:, ::-1]
            np.testing.assert_array_equal(points_of(contour), rounded)
            closed = np.array_equal(reference[0], reference[-1])
            assert contour["closed"] == closed


def test_a_dataset_gives_the_contours_of_scikit_image(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(8))
    contorno("run", graph, "--input", dataset, "--output", tmp_path, "--report", tmp_path / "report.json")
    lines = read_lines(tmp_path / "contours.jsonl")
    assert [line["frame"] for line in lines] == list(range(6))
    for frame, line in enumerate(lines):
        assert (line["width"], line["height"]) == (160, 95)
        assert_same_contours(line, np.load(dataset / "maps" / f"{frame:05}.npy"), 0.5)
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    assert report["frames"]["out"] == 6
    assert report["backend"] in ("cpu", "cuda")
    counted = {one["name"]: one for one in report["classes"]}
    for index in range(8):
        name = f"class{index}"
        contours = [contour for line in lines for contour in line["classes"][index]["contours"]]
        assert counted[name]["contours"] == len(contours)
        assert counted[name]["points"] == sum(len(contour["points"]) for contour in contours)


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
@pytest.mark.parametrize("layout", ["hwc", "chw"])
def test_number_types_and_layouts_give_the_contours_of_their_values(contorno, tmp_path, dtype, layout):
    maps = blobs(60, 71, 3, 0)
    stored = np.round(maps * 255).astype(np.uint8) if dtype == "uint8" else maps.astype(dtype)
    values = stored / 255.0 if dtype == "uint8" else stored.astype(np.float64)
    folder = tmp_path / "dataset"
    folder.mkdir()
    np.save(folder / "0.npy", stored if layout == "hwc" else np.ascontiguousarray(stored.transpose(2, 0, 1)))
    graph = write_graph(tmp_path, maps_graph(3, layout=layout, level=0.4))
    contorno("run", graph, "--input", folder, "--output", tmp_path)
    assert_same_contours(read_lines(tmp_path / "contours.jsonl")[0], values, 0.4)


def test_slots_and_threads_do_not_change_a_byte(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(8))
    results = set()
    for slots, threads in [(1, 1), (4, 2), (7, 3)]:
        contorno("run", graph, "--input", dataset, "--output", tmp_path, "--set", f"pipeline.slots={slots}", "--set",
                 f"pipeline.threads={threads}")
        results.add((tmp_path / "contours.jsonl").read_bytes())
    assert len(results) == 1


def test_the_street_maps_of_a_real_network(contorno, real_data, tmp_path):
    folder = real_data / "cnn-maps" / "street"
    contorno("run", EXAMPLES / "dataset.yaml", "--input", folder, "--output", tmp_path, "--report",
             tmp_path / "report.json")
    lines = read_lines(tmp_path / "contours.jsonl")
    files = sorted((folder / "maps").glob("*.npy"))
    assert len(lines) == len(files) == 5
    for line, file in zip(lines, files):
        assert_same_contours(line, np.load(file).astype(np.float64), 0.5)
    coco = json.loads((tmp_path / "coco.json").read_text())
    assert len(coco["images"]) == 5
    assert len(list((tmp_path / "overlay").glob("*.png"))) == 5
    assert len(list((tmp_path / "svg").glob("*.svg"))) == 5


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.yaml")))
def test_every_example_graph_is_valid(contorno, name):
    done = contorno("check", EXAMPLES / f"{name}.yaml", check=False)
    missing = done.returncode == 66 and "the shapes are not known without it" in done.stderr
    assert done.returncode == 0 or missing, done.stderr
    assert "stages:\n" in done.stdout or "sinks:\n" in done.stdout


def make_video(contorno, tmp_path, frames=30):
    graph = tmp_path / "make.yaml"
    graph.write_text("""
source: {type: test, pattern: ball, width: 320, height: 240, rate: 30, frames: %d}
sinks: [{type: video, path: made.webm, from: source.frame}]
""" % frames)
    contorno("run", graph, "--output", tmp_path)
    return tmp_path / "made.webm"


def test_the_demo_graph_draws_on_a_video(contorno, tmp_path):
    video = make_video(contorno, tmp_path)
    out = tmp_path / "out"
    contorno("run", EXAMPLES / "demo.yaml", "--input", video, "--output", out, "--report", out / "report.json",
             "--set", "images.first=3")
    report = json.loads((out / "report.json").read_text())
    check_accounts(report)
    assert report["frames"]["out"] == 30
    assert len(read_lines(out / "contours.jsonl")) == 30
    assert (out / "overlay.webm").stat().st_size > 1000
    assert len(list(out.glob("overlay-*.png"))) == 1


def test_the_demo_graph_finds_the_ball_and_nothing_else(contorno, tmp_path):
    """A yellow ball rolls over a dark board under a bright wall, as in the recorded video."""
    frames = tmp_path / "frames"
    frames.mkdir()
    for number in range(4):
        picture = np.full((288, 360, 3), (35, 29, 32), np.uint8)
        picture[:90] = (204, 204, 211)
        picture[270:] = (84, 85, 94)
        cv2.circle(picture, (80 + 50 * number, 180), 12, (78, 151, 149), -1, cv2.LINE_AA)
        cv2.imwrite(str(frames / f"{number}.png"), picture)
    make = tmp_path / "make.yaml"
    make.write_text("source: {type: images, location: frames}\nsinks: [{type: video, path: ball.webm, from: source.frame}]\n")
    contorno("run", make, "--input", frames, "--output", tmp_path)
    contorno("run", EXAMPLES / "demo.yaml", "--input", tmp_path / "ball.webm", "--output", tmp_path, "--set", "images.first=0")
    lines = read_lines(tmp_path / "contours.jsonl")
    assert len(lines) == 4
    for number, line in enumerate(lines):
        ball = line["classes"][0]
        assert ball["name"] == "ball" and len(ball["contours"]) == 1
        assert np.allclose(ball["contours"][0]["bbox"], [68 + 50 * number, 168, 24, 24], atol=3)


def test_the_demo_graph_finds_the_ball_of_the_recorded_video(contorno, real_data, tmp_path):
    contorno("run", EXAMPLES / "demo.yaml", "--input", real_data / "video" / "thrown-ball.mp4", "--output", tmp_path)
    lines = read_lines(tmp_path / "contours.jsonl")
    assert len(lines) == 255
    counts = [len(line["classes"][0]["contours"]) for line in lines]
    assert counts.count(1) >= 250 and min(counts) == 1
    for frame, at in ((40, (430, 362)), (140, (545, 336)), (200, (570, 346))):
        assert np.allclose(lines[frame]["classes"][0]["contours"][0]["centroid"], at, atol=3)


def test_the_images_graph_outlines_what_is_brown_on_photographs(contorno, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for index, width in enumerate((200, 200, 160)):
        photo = np.full((120, width, 3), (58, 178, 217), np.uint8)
        cv2.circle(photo, (80, 60), 20, (34, 58, 90), -1)
        cv2.imwrite(str(photos / f"{index}.png"), photo)
    contorno("run", EXAMPLES / "images.yaml", "--input", photos, "--output", tmp_path)
    assert len(list((tmp_path / "overlay").glob("*.png"))) == 3
    first = (tmp_path / "svg" / "000000.svg").read_text()
    assert "blemish" in first and "<path" in first
    picture = cv2.imread(str(tmp_path / "overlay" / "000000.png"))
    photo = cv2.imread(str(photos / "0.png"))
    changed = np.abs(picture.astype(int) - photo).sum(axis=2) > 30
    # The spot's rim and inside are drawn on, the skin around it is not.
    assert changed[60, 66:95].all() and changed[60, 57:63].any()
    assert not changed[:30].any()


def test_the_dataset_graph_writes_every_kind_of_output(contorno, dataset, tmp_path):
    (dataset / "frames").mkdir()
    for index in range(6):
        cv2.imwrite(str(dataset / "frames" / f"{index:05}.png"), np.full((190, 320, 3), 90, np.uint8))
    contorno("run", EXAMPLES / "dataset.yaml", "--input", dataset, "--output", tmp_path)
    lines = read_lines(tmp_path / "contours.jsonl")
    # The frames are twice as large as the maps, and contours are given on the frame.
    assert (lines[0]["width"], lines[0]["height"]) == (320, 190)
    expected = measure.find_contours(np.load(dataset / "maps" / "00000.npy")[..., 3].astype(np.float64), 0.5)[0]
    points = points_of(lines[0]["classes"][3]["contours"][0])
    np.testing.assert_allclose(points, (expected[:, ::-1] + 0.5) * 2 - 0.5, atol=1e-4)
    assert len(json.loads((tmp_path / "coco.json").read_text())["images"]) == 6
    assert len(json.loads((tmp_path / "contours.geojson").read_text())["features"]) > 6
    assert len(list((tmp_path / "overlay").glob("*.png"))) == 6
    assert len(list((tmp_path / "svg").glob("*.svg"))) == 6


@pytest.mark.parametrize("name", ["camera", "rtsp"])
def test_a_source_that_is_not_there_is_an_error_with_its_address(contorno, tmp_path, name):
    done = contorno("run", EXAMPLES / f"{name}.yaml", "--output", tmp_path, "--frames", 1, "--set",
                    "source.timeout=2000", check=False)
    assert done.returncode in (65, 66, 69, 74, 3)
    assert len(done.stderr) > 20


def test_the_pattern_graph_runs_and_is_deterministic(contorno, tmp_path):
    results = set()
    for run in ("a", "b"):
        contorno("run", EXAMPLES / "pattern.yaml", "--output", tmp_path / run)
        results.add((tmp_path / run / "contours.jsonl").read_bytes())
        assert (tmp_path / run / "overlay.webm").stat().st_size > 1000
    assert len(results) == 1
    lines = [json.loads(line) for line in results.pop().decode().splitlines()]
    assert len(lines) == 60
    assert all(one["contours"] for one in lines[0]["classes"])


def test_frames_limits_the_run_and_set_changes_the_graph(contorno, tmp_path):
    contorno("run", EXAMPLES / "pattern.yaml", "--output", tmp_path, "--frames", 7, "--set", "class yellow.level=0.9")
    lines = read_lines(tmp_path / "contours.jsonl")
    assert len(lines) == 7
    assert lines[0]["classes"][0]["level"] == 0.9


def test_a_bad_map_fails_with_its_number_and_the_stream_goes_on(contorno, dataset, tmp_path):
    (dataset / "maps" / "00002.npy").write_bytes(b"\x93NUMPY\x01\x00 not a header")
    graph = write_graph(tmp_path, maps_graph(8))
    done = contorno("run", graph, "--input", dataset, "--output", tmp_path, "--report", tmp_path / "report.json",
                    check=False)
    assert done.returncode == 3
    assert "frame 2" in done.stderr and "00002.npy" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    assert report["frames"]["failed"] == 1 and report["frames"]["out"] == 5
    assert report["failures"][0]["frame"] == 2
    assert [line["frame"] for line in read_lines(tmp_path / "contours.jsonl")] == [0, 1, 3, 4, 5]


def test_a_class_count_that_does_not_fit_the_maps_is_a_configuration_error(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(3))
    done = contorno("run", graph, "--input", dataset, "--output", tmp_path, check=False)
    assert done.returncode == 78
    assert "3" in done.stderr and "8" in done.stderr


def test_missing_inputs_exit_with_66(contorno, tmp_path):
    assert contorno("run", tmp_path / "none.yaml", check=False).returncode == 66
    done = contorno("run", EXAMPLES / "demo.yaml", "--input", tmp_path / "none.mp4", "--output", tmp_path, check=False)
    assert done.returncode == 66
    assert "none.mp4" in done.stderr


def test_usage_errors_exit_with_2(contorno):
    assert contorno("run", check=False).returncode == 2
    done = contorno("find-contour", check=False)
    assert done.returncode == 2
    assert "there is no command 'find-contour' (did you mean 'find-contours'?)" in done.stderr
    assert contorno("run", "x.yaml", "--backend", "opencl", check=False).returncode == 2


def test_the_help_of_every_command_is_plain_text(contorno):
    commands = re.findall(r"^  ([a-z-]+) {3,}\S", contorno("--help").stdout.split("Subcommands:")[1], re.M)
    assert len(commands) >= 10
    for command in commands:
        text = contorno(command, "--help").stdout
        assert f"contorno {command}" in text
        assert text.replace("\n", "").isprintable(), command


def test_cuda_by_name_never_falls_back(contorno, tmp_path):
    doctor = json.loads(contorno("doctor", "--json").stdout)
    done = contorno("run", EXAMPLES / "pattern.yaml", "--output", tmp_path, "--backend", "cuda", "--report",
                    tmp_path / "report.json", check=False)
    if doctor["cuda"]["available"] and done.returncode == 0:
        assert json.loads((tmp_path / "report.json").read_text())["backend"] == "cuda"
    else:
        assert done.returncode == 69
        assert "cuda" in done.stderr


def test_a_device_that_is_not_there_ends_with_69_and_a_word_that_names_none_is_told_with_its_place(contorno, tmp_path):
    graph = tmp_path / "graph.yaml"
    graph.write_text("source: {type: synthetic, maps_size: [64, 48], classes: 1, frames: 2}\nclasses: [{name: a}]\n"
                     "stages: [contours]\nsinks: [{type: jsonl, path: a.jsonl}]\npipeline:\n  backend: cuda:999\n")
    devices = json.loads(contorno("doctor", "--json").stdout)["cuda"]["devices"]
    done = contorno("run", graph, "--output", tmp_path, check=False)
    assert done.returncode == 69
    assert "backend cuda:999 was asked for, but " in done.stderr
    if devices:
        assert f"this machine has {len(devices)} CUDA device" in done.stderr
        assert all(f"cuda:{device['index']}" in done.stderr for device in devices)
    # The command line and the environment have the same words, and outrank the file.
    assert contorno("run", graph, "--output", tmp_path, "--backend", "cuda:x", check=False).returncode == 2
    assert contorno("run", graph, "--output", tmp_path, "--backend", "cpu", "--quiet").returncode == 0
    for word in ("cuda", "cuda:0", "cuda:all"):
        done = contorno("run", graph, "--output", tmp_path, "--set", f"pipeline.backend={word}", "--quiet", check=False)
        assert done.returncode == (0 if devices else 69), word
        assert devices or f"backend {word} was asked for, but " in done.stderr
    graph.write_text(graph.read_text().replace("cuda:999", "cuda:x"))
    done = contorno("run", graph, "--output", tmp_path, check=False)
    assert done.returncode == 78
    assert "graph.yaml:6:12: error: pipeline: backend is 'cuda:x'" in done.stderr
    assert "allowed one of auto, cpu, cuda, cuda:all, cuda:N (N is a number from 0)" in done.stderr


def test_a_full_disk_ends_with_74_and_names_the_file(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(8))
    os.symlink("/dev/full", tmp_path / "full")
    done = contorno("run", graph, "--input", dataset, "--output", "/dev", "--set", "jsonl.path=full", check=False)
    assert done.returncode in (73, 74)
    assert "full" in done.stderr + done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_completes_the_files(tmp_path, number):
    out = tmp_path / "out"
    process = subprocess.Popen([PROGRAM, "run", EXAMPLES / "pattern.yaml", "--output", out, "--set", "source.frames=0",
                                "--report", tmp_path / "report.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(has_lines(out / "contours.jsonl"), seconds=120)
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 128 + number
    report = json.loads((tmp_path / "report.json").read_text())
    check_accounts(report)
    lines = read_lines(out / "contours.jsonl")
    assert len(lines) == report["frames"]["out"] > 0
    assert (out / "overlay.webm").exists()


def test_no_progress_line_and_no_escape_codes_in_a_log(contorno, tmp_path):
    done = contorno("run", EXAMPLES / "pattern.yaml", "--output", tmp_path)
    assert "\r" not in done.stdout + done.stderr and "\x1b" not in done.stdout + done.stderr


def test_odd_environments_do_not_change_the_output(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(8))
    results = set()
    environments = [{}, {"LC_ALL": "de_DE.UTF-8"}, {"LANG": "C"}, {"OMP_NUM_THREADS": "1"}, {"OMP_NUM_THREADS": "1000"},
                    {"OMP_NUM_THREADS": "0"}, {"OMP_NUM_THREADS": "2,2", "OMP_MAX_ACTIVE_LEVELS": "2"},
                    {"TMPDIR": "/nonexistent"},
                    {"TERM": "dumb", "NO_COLOR": "1"}, {"HOME": "/nonexistent"}]
    for index, env in enumerate(environments):
        out = tmp_path / f"out é %n {index}"
        contorno("run", graph, "--input", dataset, "--output", out, env=env)
        results.add((out / "contours.jsonl").read_bytes())
    assert len(results) == 1


def test_the_trace_is_json_with_every_stage_of_every_frame(contorno, dataset, tmp_path):
    graph = write_graph(tmp_path, maps_graph(8))
    contorno("run", graph, "--input", dataset, "--output", tmp_path, "--trace", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    for name in ("read", "marching_squares", "contour_assembly", "jsonl"):
        assert sorted(event["args"]["frame"] for event in slices if event["name"] == name) == list(range(6))
    assert all(event["dur"] >= 0 for event in slices)
