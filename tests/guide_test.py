"""The commands of docs/guide, run as they stand there."""
import os
import pathlib
import re
import subprocess

import cv2
from conftest import PROGRAM, ROOT, read_lines


def commands_of(page):
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.S | re.M)


def run_guide(page, folder):
    """Runs all commands of the page, one block after the other; returns what they said on standard output."""
    path = f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"
    said = []
    assert commands_of(page)
    for block in commands_of(page):
        done = subprocess.run(["bash", "-eu", "-c", block], cwd=folder, env={**os.environ, "PATH": path}, timeout=300,
                              capture_output=True, text=True)
        assert done.returncode == 0, block + done.stderr
        said.append(done.stdout)
    return said


def test_from_a_video_to_classes(tmp_path):
    said = run_guide(ROOT / "docs" / "guide" / "video-to-classes.md", tmp_path)
    for name in ("colours-frames.png", "colours-swatches.png", "colours-overlay.png"):
        assert cv2.imread(str(tmp_path / name)) is not None, name
    graph = (tmp_path / "colours.yaml").read_text()
    assert re.findall(r"- name: (.*?)  #", graph) == ["red", "green", '"everything else"']
    assert "budget    10 frames/s held: " in said[-1]
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
