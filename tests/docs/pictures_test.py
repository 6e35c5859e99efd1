"""The pictures that the README shows."""
import json
import os
import re
import shutil
import subprocess

import cv2
import numpy as np
from tests.conftest import PROGRAM, ROOT

PICTURES = ROOT / "docs" / "pictures"


def test_the_pictures_of_the_readme_are_there_and_small():
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert "docs/pictures/overlay.jpg" in shown
    for path in shown:
        assert 1000 < (ROOT / path).stat().st_size < 300_000, path


def test_whose_photographs_they_are_is_said_beside_them():
    readme = (ROOT / "README.md").read_text()
    after = readme[readme.index("docs/pictures/overlay.jpg"):].split("\n\n")[1]
    assert "© 2020 SoftwareMill" in after and "docs/pictures/NOTICE.md" in after
    notice = (PICTURES / "NOTICE.md").read_text()
    assert "Copyright (c) 2020 SoftwareMill" in notice and "shall be included in all" in notice


def test_without_the_photographs_it_is_said_where_they_are_from(tmp_path):
    done = subprocess.run([PICTURES / "make", tmp_path, tmp_path], capture_output=True, text=True)
    assert done.returncode == 1 and "softwaremill/lemon-dataset" in done.stderr


def test_the_picture_of_graded_fruit_is_what_the_example_draws(tmp_path):
    folder = tmp_path / "docs" / "pictures"
    folder.mkdir(parents=True)
    shutil.copy(PICTURES / "make", folder)
    shutil.copytree(ROOT / "config" / "examples", tmp_path / "config" / "examples")
    subprocess.run([folder / "make", "grading", os.path.dirname(PROGRAM)], check=True, capture_output=True)
    made, kept = (cv2.imread(str(path / "fruit-grading.jpg")).astype(int) for path in (folder, PICTURES))
    assert made.shape == kept.shape and np.abs(made - kept).mean() < 0.5


def test_the_first_picture_is_what_the_program_draws(real_data, tmp_path):
    folder = tmp_path / "docs" / "pictures"
    folder.mkdir(parents=True)
    shutil.copy(PICTURES / "make", folder)
    subprocess.run([folder / "make", os.path.dirname(PROGRAM), real_data / "fruit-photos" / "lemons"], check=True,
                   capture_output=True)
    made, kept = (cv2.imread(str(path / "overlay.jpg")).astype(int) for path in (folder, PICTURES))
    assert made.shape == kept.shape and np.abs(made - kept).mean() < 0.5
    texts = [re.findall(r"<text[^>]*>([^<]*)</text>", (path / "graph.svg").read_text()) for path in (folder, PICTURES)]
    assert texts[0] == texts[1] and len(texts[0]) > 20  # Graphviz's versions place them differently

    frame = json.loads((tmp_path / "build" / "pictures" / "contours.jsonl").read_text())
    lemons, spots = ([contour["bbox"] for contour in found["contours"]] for found in frame["classes"][:2])
    wholes = [box for box in lemons if min(box[2:]) > 100]
    for x, y, width, height in wholes:  # whole: the edges of the picture cut nothing off
        assert x > 5 and y > 5 and x + width < frame["width"] - 5 and y + height < frame["height"] - 5
    middles = [x + width / 2 for x, _, width, _ in spots]
    assert [sum(x < middle < x + width for middle in middles) for x, _, width, _ in wholes] == [0, 3, 3]
