"""The commands of docs/guide, run as they stand there."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import cv2
import pytest
from tests.conftest import LIBRARY, PROGRAM, ROOT, read_lines
from tests.modules import need_modules
from tests.plugins.gst.cameras import caps
from tests.plugins.gst.cameras import cameras  # noqa: F401, a fixture


GUIDES = ROOT / "docs" / "guide"
PAGES_OF_CPP = ["cpp", "stage"]


def steps_of(page):
    """The blocks of commands of a page, each with the lines that the page says they print: those behind it, indented."""
    return re.findall(r"^```sh\n(.*?)^```\n(?:\n((?: {4}[^\n]*\n|\n(?= {4}))+))?", page.read_text(), re.S | re.M)


def without_times(line):
    """Without what a machine that is busy with other work does more slowly."""
    return re.sub(r"[\d.]+ ms\b", "some ms", re.sub(r"\bheld: .*", "held: or not", line.strip()))


def run_guide(page, folder, written=("", ""), seconds=300):
    """Runs all commands of the page, one block after the other; returns what they said on standard output. They say what the
    page shows, but for times; `written` is a path of this test, and how the page writes it."""
    tools = folder / ".tools"
    tools.mkdir()
    (tools / "python3").symlink_to(sys.executable)
    path = f"{tools}:{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"
    said = []
    assert steps_of(page)
    for block, shown in steps_of(page):
        done = subprocess.run(["bash", "-eu", "-c", block], cwd=folder, env={**os.environ, "PATH": path}, timeout=seconds,
                              capture_output=True, text=True)
        assert done.returncode == 0, block + done.stderr
        printed = [without_times(line.replace(*written)) for line in done.stdout.splitlines()]
        assert [line for line in shown.splitlines() if without_times(line) not in printed] == [], done.stdout
        said.append(done.stdout)
    return said


def test_from_a_video_to_classes(tmp_path):
    said = run_guide(GUIDES / "video-to-classes.md", tmp_path)
    for name in ("colours-frames.png", "colours-swatches.png", "colours-overlay.png"):
        assert cv2.imread(str(tmp_path / name)) is not None, name
    graph = (tmp_path / "colours.yaml").read_text()
    assert re.findall(r"- name: (.*?)  #", graph) == ["red", "green", '"everything else"']
    assert "budget    10 frames/s held: " in said[-1]
    areas = [contour["area"] for line in read_lines(tmp_path / "out" / "contours.jsonl")
             for contour in line["classes"][1]["contours"]]
    large, small, holes = (sum(abs(area) for area in areas if low < area <= high)
                           for low, high in ((2000, 1e9), (0, 2000), (-1e9, 0)))
    assert holes + small < 0.15 * large, "green apples are outlined as a whole, not in pieces"
    video = cv2.VideoCapture(str(tmp_path / "belt.webm"))
    frame = video.read()[1][..., ::-1].astype(int)
    line = read_lines(tmp_path / "out" / "contours.jsonl")[0]
    for one in line["classes"][:2]:
        # Outlines of that colour only: what lies in the middle of the large ones is red, or green.
        large = [contour for contour in one["contours"] if contour["area"] > 2000]
        assert len(large) >= 3
        for contour in large:
            x, y = (round(v) for v in contour["centroid"])
            red, green, _ = frame[y - 4:y + 5, x - 4:x + 5].reshape(-1, 3).mean(axis=0)
            assert red > green if one["name"] == "red" else green > 0.9 * red


def test_the_maps_of_a_network(tmp_path):
    run_guide(GUIDES / "network-maps.md", tmp_path)
    for number in range(5):
        frame = cv2.imread(str(tmp_path / "recorded" / "frames" / f"{number:05}.png"))
        drawn = cv2.imread(str(tmp_path / "out" / "overlay" / f"{number:05}.png"))
        changed = (frame != drawn).any(axis=2)
        assert changed[60, 50 + 10 * number], "the inside of the red ball is filled"
        assert not changed[50, 150] and changed[50, 165:180].any(), "the green ball has an outline alone"
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    assert [one["area"] > 0 for one in lines[0]["classes"][1]["contours"]] == [True]
    for folder in ("archive", "live"):
        others = read_lines(tmp_path / folder / "contours.jsonl")
        assert [line["classes"] for line in others] == [line["classes"] for line in lines], folder


def test_a_network_inside_the_graph(tmp_path):
    """Trains for about 75 s of one core."""
    pytest.importorskip("torch", reason="needs python3-torch")
    need_modules("dnn")
    shutil.copy(ROOT / "docs" / "examples" / "train_network.py", tmp_path)
    said = run_guide(GUIDES / "network-inside.md", tmp_path, seconds=1800)
    print(said[-1])
    iou = {name: [one["iou"] or 0 for one in json.loads((tmp_path / f"{name}.json").read_text())["scores"][0]["classes"]]
           for name in ("network", "colours")}
    assert sum(iou["network"]) > 1.5 * sum(iou["colours"]) and iou["network"][1] > 0.85
    assert "opencv" in (tmp_path / "out" / "report.json").read_text()


def centres(line, name):
    [one] = [one for one in line["classes"] if one["name"] == name]
    return sorted((round(x), round(y)) for x, y in (contour["centroid"] for contour in one["contours"] if contour["area"] > 100))


def are_at(found, wanted):
    return len(found) == len(wanted) and all(abs(a - b) < 2 for one, other in zip(found, wanted) for a, b in zip(one, other))


def test_a_live_camera(cameras, monkeypatch, tmp_path):
    """The stand-in of tests/plugins/gst/camera."""
    offers = ";".join([caps("YUY2", 640, 480, "{30/1,15/1}"), caps("YUY2", 1280, 720, "10/1"),
                       caps("JPEG", 1280, 720, "{30/1,15/1}"), caps("GRAY8", 640, 480, "[1/1,60/1]")])
    # Each command is a process of its own, which opens the camera for the first time, and again for the rest of its 20 frames.
    cameras.plug(offers=offers, name="HD Webcam", openings={1: {"unplugged_after": 12}})
    cameras.plug("video1", pictures="none")
    for index in range(2):
        cameras.link("by-id", f"usb-Maker_HD_Webcam_4F2A60DF-video-index{index}", f"video{index}")
        cameras.link("by-path", f"pci-0000:00:14.0-usb-0:2:1.0-video-index{index}", f"video{index}")
    for name, value in cameras.controls_env.items():
        monkeypatch.setenv(name, value)
    run_guide(GUIDES / "camera.md", tmp_path, (str(cameras.folder), "/dev"))
    assert cameras.controls() == 2 * ["White Balance, Automatic=0", "Brightness=-3", "Auto Exposure=1", "Exposure Time, Absolute=50",
                                      "Gain=40"]
    for folder in ("out", "still", "months"):
        lines = read_lines(tmp_path / folder / "contours.jsonl")
        assert lines and all(len(line["classes"][0]["contours"]) == 1 for line in lines), folder


def test_things_before_a_camera_that_stands_still(tmp_path):
    run_guide(GUIDES / "static-camera.md", tmp_path)
    given, learned, colours = (read_lines(tmp_path / folder / "contours.jsonl") for folder in ("with", "without", "colours"))
    assert len(given) == len(learned) == len(colours) == 40
    for number in range(4, 36):
        red, olive = [(5 * number, 40)], [(120, 90)] * (number >= 20)
        assert are_at(centres(given[number], "thing"), sorted(red + olive)), number
        assert are_at(centres(colours[number], "red"), red) and are_at(centres(colours[number], "olive"), olive), number
        if number >= 20:
            assert any(are_at([one], red) for one in centres(learned[number], "thing")), number


def test_grading_fruit(tmp_path):
    run_guide(GUIDES / "fruit-grading.md", tmp_path)
    assert (tmp_path / "graph.yaml").read_text() == (ROOT / "config" / "examples" / "fruit-grading.yaml").read_text()
    assert cv2.imread(str(tmp_path / "out" / "overlay-000060.png")).shape == (400, 1200, 3)


def test_whether_a_graph_holds_its_deadline(tmp_path):
    said = run_guide(GUIDES / "latency.md", tmp_path)
    assert "RESULT    PASS  10000 ms held at 10 frames/s: 0 of 20 frames missed it" in said[1]
    assert "COMPARED" in said[-1] and json.loads((tmp_path / "both.json").read_text())["frames"]["offered"] == 40


def test_finding_out_why_a_contour_looks_wrong(tmp_path):
    said = run_guide(GUIDES / "wrong-contour.md", tmp_path)
    assert len(said[1].splitlines()) == 5 and len(said[2].splitlines()) == 4
    shown = steps_of(GUIDES / "wrong-contour.md")[3][1]
    assert len(said[3].splitlines()) - len(shown.splitlines()) in (0, 1), "all but what a device adds"


@pytest.mark.parametrize("page", PAGES_OF_CPP)
def test_programs_in_cpp(page, monkeypatch, tmp_path):
    build = LIBRARY.parent.parent
    if shutil.which("cmake") is None or shutil.which("pkg-config") is None or not (build / "CMakeCache.txt").exists():
        pytest.skip("needs cmake, pkg-config and the build folder")
    subprocess.run(["cmake", "--install", build, "--prefix", tmp_path / "installed", "--component", "dev"], check=True,
                   capture_output=True, timeout=300)
    (configured,) = (tmp_path / "installed").rglob("contorno.pc")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(configured.parent))
    shutil.copy(ROOT / "docs" / "examples" / "own_stage.cpp", tmp_path)
    run_guide(GUIDES / f"{page}.md", tmp_path)


def code_of(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.S | re.M)


@pytest.mark.parametrize("block", [block for page in PAGES_OF_CPP for block in code_of(GUIDES / f"{page}.md", "cpp")],
                         ids=lambda block: block.split("\n")[0][:40])
def test_code_in_cpp_stands_in_an_example(block):
    examples = [path.read_text() for path in (ROOT / "docs" / "examples").glob("*.cpp")]
    assert any(textwrap.indent(block, margin) in text for text in examples for margin in ("", "  "))


def test_python_code_runs(tmp_path):
    """What needs no GPU and no video."""
    pytest.importorskip("skimage")
    blocks = [block for block in code_of(GUIDES / "python.md", "python") if "tensor" not in block and "logits" not in block
              and "line.mp4" not in block]
    assert len(blocks) == 6
    (tmp_path / "graph.yaml").write_text("""
source: {type: synthetic, maps_size: [300, 100], frame_size: [300, 100], lanes: 1, classes: 3, frames: 40}
classes: [{name: background, hidden: true}, {name: skin}, {name: defect}]
stages: [marching_squares, contour_assembly, {type: objects, of: background, holes: true, threshold: 0}]
""")
    given = """
import numpy as np
maps = np.random.default_rng(1).random((2, 40, 50), np.float32)
levels, image = 0.5, (maps[0] * 255).astype(np.uint8)
points, heights = np.random.default_rng(2).random((30, 2)) * 9, maps[0] * 1000
"""
    done = subprocess.run([sys.executable, "-c", given + "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    assert "'defect']" in done.stdout


def test_results_that_stay_the_same(tmp_path):
    run_guide(GUIDES / "replay.md", tmp_path)
    page = (tmp_path / "differences.html").read_text()
    assert page.count("<h2") == 2 and page.count("<figure>") == 6


def test_a_large_dataset_on_many_machines(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="needs python3-distributed")
    if shutil.which("parallel") is None:
        pytest.skip("needs GNU parallel, of the Debian package parallel")
    from tests.plugins.python.package import PACKAGE  # skips where the build has no Python package

    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    run_guide(GUIDES / "many-machines.md", tmp_path)


def test_several_cameras(tmp_path):
    run_guide(GUIDES / "several-cameras.md", tmp_path)


def test_a_line_that_runs_for_months(tmp_path):
    need_modules("publish", "ops")
    run_guide(GUIDES / "a-line-that-runs-for-months.md", tmp_path)


def test_results_that_reach_a_database(tmp_path):
    need_modules("publish")
    run_guide(GUIDES / "results-to-a-database.md", tmp_path)


def test_the_commands_of_every_guide_are_among_these():
    run = {"a-line-that-runs-for-months", "camera", "fruit-grading", "latency", "many-machines", "network-inside", "network-maps", "replay",
           "results-to-a-database", "several-cameras", "static-camera", "video-to-classes", "wrong-contour", *PAGES_OF_CPP}
    assert {page.stem for page in GUIDES.glob("*.md") if steps_of(page)} == run
