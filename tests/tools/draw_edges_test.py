"""`contorno draw --edges canny`: the lines are those of cv2.Canny, each link between two pixels is drawn once."""
import collections
import os
import re

import cv2
import numpy as np
import pytest
from tests.modules import needs_modules

HEIGHT, WIDTH = 61, 83
needs_opencv = needs_modules("opencv")


@pytest.fixture
def folder(tmp_path):
    noise = np.random.default_rng(3).normal(size=(HEIGHT, WIDTH))
    picture = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 1.5), None, 0, 255, cv2.NORM_MINMAX).astype(np.uint8)
    cv2.imwrite(str(tmp_path / "in.png"), picture)
    return tmp_path


def drawn_lines(folder):
    """Of an SVG, which has the middles of pixels at .5: a list of (row, column) a line."""
    return [(np.array(re.findall(r"[-\d.]+", path), float).reshape(-1, 2)[:, ::-1] - 0.5).round(1)
            for path in re.findall(r' d="([^"]+)"', (folder / "out.svg").read_text())]


def links_of(edges):
    """Pairs of linked pixels: side by side, or at a corner where nothing else joins them."""
    is_set = {tuple(map(int, pixel)) for pixel in np.argwhere(edges)}
    links = set()
    for row, column in is_set:
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            joined = down and right and ((row + down, column) in is_set or (row, column + right) in is_set)
            if (row + down, column + right) in is_set and not joined:
                links.add(frozenset({(row, column), (row + down, column + right)}))
    return links


@needs_opencv
@pytest.mark.parametrize("low, high, sigma", [(15, 40, 1.4), (60, 60, 0), (100, 300, 0), (0, 0, 0.6), (5, 5, 0)])
def test_every_link_of_the_edges_is_drawn_once(contorno, folder, low, high, sigma):
    contorno("draw", "in.png", "out.svg", "--edges", "canny", "--low", low, "--high", high, "--sigma", sigma,
             "--step", "drop_small min_points=1", cwd=folder)
    picture = cv2.imread(str(folder / "in.png"), cv2.IMREAD_GRAYSCALE)
    smooth = cv2.GaussianBlur(picture, (0, 0), sigma) if sigma else picture
    edges = cv2.Canny(smooth, low, high, L2gradient=True)
    links = links_of(edges)
    assert len(links) > 100
    degree = collections.Counter(pixel for link in links for pixel in link)
    drawn = collections.Counter()
    for line in drawn_lines(folder):
        assert (line == line.round()).all()
        pixels = [tuple(map(int, pixel)) for pixel in line]
        drawn.update(frozenset(pair) for pair in zip(pixels, pixels[1:]))
        assert all(degree[pixel] == 2 for pixel in pixels[1:-1])  # it ends wherever lines meet or end
        assert pixels[0] == pixels[-1] or (degree[pixels[0]] != 2 and degree[pixels[-1]] != 2)
    assert set(drawn) == links and set(drawn.values()) == {1}


@needs_opencv
def test_without_options_edges_have_the_usual_thresholds_and_steps(contorno, folder):
    picture = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.imwrite(str(folder / "in.png"), cv2.ellipse(picture, (40, 30), (30, 22), 20, 0, 360, 90, cv2.FILLED))
    contorno("draw", "in.png", "usual.svg", "--edges", "canny", cwd=folder)
    steps = ["drop_small min_length=40", "resample spacing=1", "order_nearest order=2opt"]
    contorno("draw", "in.png", "given.svg", "--edges", "canny", "--low", 15, "--high", 40, "--sigma", 1.4,
             *[word for step in steps for word in ("--step", step)], cwd=folder)
    assert (folder / "usual.svg").read_bytes() == (folder / "given.svg").read_bytes()


@pytest.mark.parametrize("arguments, code, words", [
    (["in.png", "--edges", "sobel"], 2, "--edges"),
    (["in.png", "--edges", "canny", "--level", "3"], 2, "--level goes with --edges grey"),
    (["in.png", "--low", "3"], 2, "--low goes with --edges canny"),
    (["in.png", "--sigma", "3"], 2, "--sigma goes with --edges canny"),
    (["in.png", "--edges", "canny", "--low", "50"], 2, "--low 50 is above --high 40; allowed is at most that"),
    (["in.png", "--edges", "canny", "--high", "nan"], 2, "--high"),
    (["in.npy", "--edges", "canny"], 65, "'in.npy': --edges canny takes an array H x W of uint8, this one is 9 x 9 of float32"),
    (["rgb.npy", "--edges", "canny"], 65, "'rgb.npy': --edges canny takes an array H x W of uint8, this one is 9 x 9 x 3 of uint8"),
    pytest.param(["in.png", "--edges", "canny", "--high", "100000"], 65, "'in.png' has no edge to draw at --low 15 --high 100000 --sigma 1.4; lower ones find more",
                 marks=needs_opencv),
])
def test_mistakes_of_edges_are_named(contorno, folder, arguments, code, words):
    np.save(folder / "in.npy", np.zeros((9, 9), np.float32))
    np.save(folder / "rgb.npy", np.zeros((9, 9, 3), np.uint8))
    done = contorno("draw", arguments[0], "out.gif", *arguments[1:], cwd=folder, check=False)
    assert done.returncode == code and words in done.stderr, done.stderr
    assert not (folder / "out.gif").exists()


def test_without_the_module_there_is_a_sentence_with_the_remedy(contorno, folder, monkeypatch):
    (folder / "none").mkdir()
    monkeypatch.setenv("CONTORNO_MODULES", str(folder / "none"))
    done = contorno("draw", "in.png", "out.gif", "--edges", "canny", cwd=folder, check=False)
    assert done.returncode == 69, done.stderr
    assert f"the module opencv, which finds edges by Canny's detector, is not installed: there is no file {folder}/none/opencv.so" in done.stderr
    assert os.listdir(folder / "none") == []
