"""`contorno draw`: the contours of a picture, drawn by Fourier series, in every format, and what is said of mistakes."""
import json
import re
import xml.etree.ElementTree

import cv2
import numpy as np
import pytest
from PIL import Image

PAPER, LINE, ARM = np.array([[16, 20, 27], [243, 239, 228], [255, 176, 72]])
SIDE = 96
STEPS = ["--step", "drop_small min_points=20", "--step", "resample spacing=1"]


@pytest.fixture
def folder(tmp_path):
    """A picture of a blurred ellipse and a bar that the border cuts: a closed contour and an open one."""
    picture = np.full((SIDE, SIDE), 40, np.uint8)
    cv2.ellipse(picture, (60, 55), (25, 14), 20, 0, 360, 200, cv2.FILLED)
    cv2.rectangle(picture, (10, 0), (24, 40), 220, cv2.FILLED)
    cv2.imwrite(str(tmp_path / "in.png"), cv2.GaussianBlur(picture, (0, 0), 2))
    return tmp_path


def frames_of(path):
    """All frames, H x W x RGB."""
    if path.suffix in (".gif", ".apng"):
        with Image.open(path) as film:
            frames = []
            for number in range(film.n_frames):
                film.seek(number)
                frames.append(np.array(film.convert("RGB")))
            return frames
    film, frames = cv2.VideoCapture(str(path)), []
    while True:
        there, frame = film.read()
        if not there:
            return frames
        frames.append(frame[..., ::-1])


def prepared(contorno, folder):
    """The contours that are drawn, as complex points: our contours of the picture after the same steps."""
    np.save(folder / "grey.npy", cv2.imread(str(folder / "in.png"), cv2.IMREAD_GRAYSCALE))
    found = json.loads(contorno("find-contours", "grey.npy", "--level", "120", cwd=folder).stdout)
    contours = [{"closed": one[0] == one[-1], "points": [[x, y] for y, x in one]} for one in found]
    line = {"frame": 0, "width": SIDE, "height": SIDE, "classes": [{"name": "a", "level": 0.5, "contours": contours}]}
    (folder / "found.jsonl").write_text(json.dumps(line))
    contorno("clean", "found.jsonl", "steps.jsonl", *STEPS, cwd=folder)
    return [(np.array(one["points"]) @ [1, 1j], one["closed"])
            for one in json.loads((folder / "steps.jsonl").read_text())["classes"][0]["contours"]]


def kept(points, terms, select):
    """The points with some terms of NumPy's transform."""
    spectrum = np.fft.fft(points)
    frequency = np.round(np.fft.fftfreq(len(points)) * len(points))
    order = np.lexsort((frequency > 0, abs(frequency))) if select == "low" else np.argsort(-abs(spectrum), kind="stable")
    spectrum[order[terms:]] = 0
    return np.fft.ifft(spectrum)


def reconstructed(contour, closed, terms, select):
    if closed:
        line = kept(contour[:-1], terms, select)
        return np.append(line, line[0])
    return kept(np.concatenate([contour, contour[-2:0:-1]]), terms, select)[:len(contour)]


def densely(line):
    """The points of the polyline, with others between them."""
    steps = np.linspace(0, len(line) - 1, 32 * len(line))
    return np.interp(steps, np.arange(len(line)), line)


def expected_lines(contorno, folder, terms, select, series):
    contours = prepared(contorno, folder)
    assert sorted(closed for _, closed in contours) == [False, True]
    if series == "each":
        return [reconstructed(*contour, terms, select) for contour in contours]
    lengths = [len(contour) for contour, _ in contours]
    return np.split(kept(np.concatenate([contour for contour, _ in contours]), terms, select), np.cumsum(lengths)[:-1])


SETTINGS = pytest.mark.parametrize("terms, select, series", [(10 ** 9, "low", "each"), (9, "low", "each"), (6, "top", "each"),
                                                             (25, "low", "all"), (30, "top", "all")])


@SETTINGS
def test_the_paths_of_an_svg_are_the_sums_that_numpy_gives(contorno, folder, terms, select, series):
    contorno("draw", "in.png", "out.svg", "--level", "120", *STEPS, "--terms", terms, "--select", select, "--series", series, cwd=folder)
    root = xml.etree.ElementTree.parse(folder / "out.svg").getroot()
    paths = [np.array(re.findall(r"[-\d.]+", one.get("d")), float).reshape(-1, 2) @ [1, 1j]
             for one in root.iter("{http://www.w3.org/2000/svg}path")]
    expected = expected_lines(contorno, folder, terms, select, series)
    assert len(paths) == len(expected) == 2
    for path, line in zip(paths, expected):
        assert np.abs(path - (line + 0.5 + 0.5j)).max() < 0.02


@SETTINGS
def test_the_last_frame_shows_the_lines_and_nothing_else(contorno, folder, terms, select, series):
    contorno("draw", "in.png", "out.apng", "--level", "120", *STEPS, "--terms", terms, "--select", select, "--series", series,
             "--frames", "3", cwd=folder)
    lines = np.concatenate([densely(one) for one in expected_lines(contorno, folder, terms, select, series)])
    drawn = np.argwhere(np.abs(frames_of(folder / "out.apng")[-1] - PAPER).sum(axis=2) > 300) @ [1j, 1]
    inside = lines[(lines.real > 1) & (lines.real < SIDE - 2) & (lines.imag > 1) & (lines.imag < SIDE - 2)]
    assert len(drawn) > 100
    assert np.abs(drawn[:, None] - lines[None]).min(axis=1).max() < 1   # what is drawn lies on the lines
    assert np.abs(drawn[:, None] - inside[None]).min(axis=0).max() < 1  # and all of them is drawn
    coloured = np.argwhere(np.abs(frames_of(folder / "out.apng")[-1] - PAPER).sum(axis=2) > 40) @ [1j, 1]
    assert np.abs(coloured[:, None] - lines[None]).min(axis=1).max() < 2  # no circle and no arm is left


@pytest.mark.parametrize("number, drawing", [(2, 0), (5, 0), (16, 1)])
def test_a_frame_shows_the_line_up_to_the_tip_of_the_arms(contorno, folder, number, drawing):
    contorno("draw", "in.png", "out.apng", "--level", "120", *STEPS, "--frames", "20", cwd=folder)
    lines = expected_lines(contorno, folder, 10 ** 9, "low", "each")
    points = np.concatenate(lines)
    shown = len(points) * (number + 1) // 20
    assert (shown > len(lines[0])) == drawing
    frame = frames_of(folder / "out.apng")[number].astype(int)
    arms = np.argwhere(np.abs(frame - ARM).sum(axis=2) < 120) @ [1j, 1]
    assert np.abs(arms - points[shown - 1]).min() < 1.5

    def lit(some):
        rows, columns = some.imag.round().astype(int), some.real.round().astype(int)
        return np.abs(frame[rows, columns] - LINE).sum(axis=1) < 250
    assert lit(points[:shown - 8]).mean() > 0.6  # circles and arms hide some
    later = points[shown:]
    later = later[np.abs(later[:, None] - points[None, :shown]).min(axis=1) > 4]
    assert len(later) > 5 and not lit(later).any()


@pytest.mark.parametrize("name", ["out.webm", "out.mkv", "out.gif", "out.apng"])
def test_every_film_has_its_frames_and_the_same_pictures(contorno, folder, name):
    cv2.imwrite(str(folder / "in.png"), cv2.imread(str(folder / "in.png"))[:72])
    contorno("draw", "in.png", "reference.apng", "--frames", "7", "--fps", "10", "--size", "160", cwd=folder)
    contorno("draw", "in.png", name, "--frames", "7", "--fps", "10", "--size", "160", cwd=folder)
    frames, wanted = frames_of(folder / name), frames_of(folder / "reference.apng")
    assert len(frames) == 7
    for frame, other in zip(frames, wanted):
        assert frame.shape == (120, 160, 3)
        assert np.abs(frame.astype(float) - other).mean() < 5
    lit = [(np.abs(frame.astype(int) - PAPER).sum(axis=2) > 300).sum() for frame in frames]
    assert lit[-1] > 1.5 * lit[0]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["out.gif", "out.apng"])
def test_a_film_lasts_as_long_as_its_frames_and_is_played_once(contorno, folder, name):
    contorno("draw", "in.png", name, "--frames", "7", "--fps", "30", cwd=folder)
    with Image.open(folder / name) as film:
        lengths = []
        for number in range(film.n_frames):
            film.seek(number)
            lengths.append(film.info["duration"])
        assert film.info.get("loop", 1) == 1
    assert sum(lengths) == pytest.approx(7 / 30 * 1000, abs=5) and max(lengths) - min(lengths) <= 10


def test_without_options_quartiles_and_the_usual_steps_are_taken(contorno, folder):
    noise = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE)).astype(np.float32)
    cv2.imwrite(str(folder / "in.png"), cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 8), None, 0, 255, cv2.NORM_MINMAX))
    values = np.sort(cv2.imread(str(folder / "in.png"), cv2.IMREAD_GRAYSCALE), axis=None)
    levels = sorted({int(values[len(values) * part // 4]) - 0.5 for part in (1, 2, 3)} - {float(values[0]) - 0.5})
    assert len(levels) == 3
    steps = ["drop_small min_length=40", "resample spacing=1", "order_nearest order=2opt"]
    contorno("draw", "in.png", "usual.svg", cwd=folder)
    contorno("draw", "in.png", "given.svg", *[word for level in levels for word in ("--level", level)],
             *[word for step in steps for word in ("--step", step)], cwd=folder)
    assert (folder / "usual.svg").read_bytes() == (folder / "given.svg").read_bytes()


def test_the_tip_of_the_arms_is_where_the_line_ends(contorno, folder):
    contorno("draw", "in.png", "out.svg", "--level", "120", *STEPS, "--frames", "90", "--fps", "30", cwd=folder)
    space = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(folder / "out.svg").getroot()
    paths = list(root.iter(f"{space}path"))
    machines = [one for one in root.iter(f"{space}g") if one.get("visibility")]
    ends = [float(one.get("begin")[:-1]) + float(one.get("dur")[:-1]) for one in root.iter(f"{space}animate")]
    assert len(machines) == 2 and max(ends) == pytest.approx(3, abs=0.01)
    for machine, path in zip(machines, paths):
        line = np.array(re.findall(r"[-\d.]+", path.get("d")), float).reshape(-1, 2) @ [1, 1j]
        seconds = float(path.find(f"{space}animate").get("dur")[:-1])
        for point in (0, len(line) // 3, len(line) - 2):
            tip, angle = np.array(re.findall(r"[-\d.]+", machine.get("transform")), float) @ [1, 1j], 0.0
            for turn, circle in zip(machine.iter(f"{space}animateTransform"), machine.iter(f"{space}circle")):
                begin, end = float(turn.get("from")), float(turn.get("to"))
                angle += begin + (end - begin) * seconds * point / len(line) / float(turn.get("dur")[:-1])
                tip += float(circle.get("r")) * np.exp(1j * np.radians(angle))
            assert abs(tip - line[point]) < 1  # what is left out are arms below 0.05 px


@pytest.mark.parametrize("name", ["out.gif", "out.apng", "out.svg", "out.webm"])
def test_the_bytes_do_not_depend_on_threads(contorno, folder, name):
    contents = set()
    for threads in (1, 2, 5):
        contorno("draw", "in.png", name, "--frames", "6", "--threads", threads, cwd=folder)
        pictures = [frame.tobytes() for frame in frames_of(folder / name)] if name == "out.webm" else [(folder / name).read_bytes()]
        contents.add(b"".join(pictures))
    assert len(contents) == 1


def test_a_picture_of_two_values_is_drawn_too(contorno, folder):
    picture = np.zeros((60, 60), np.uint8)
    picture[20:40, 20:40] = 255
    np.save(folder / "two.npy", picture)
    contorno("draw", "two.npy", "out.svg", cwd=folder)
    points = np.array(re.findall(r" d=\"M([^\"]+)", (folder / "out.svg").read_text())[0].replace("L", " ").split(), float)
    assert points.min() == 20 and points.max() == 40


@pytest.mark.parametrize("arguments, code, words", [
    (["none.png", "out.svg"], 66, "none.png"),
    (["in.png", "out.mpg"], 2, "OUT is 'out.mpg', allowed are the extensions .webm, .mkv, .gif, .apng, .svg"),
    (["in.png", "out"], 2, "allowed are the extensions"),
    (["in.png", "/proc/out.gif"], 73, "/proc"),
    (["flat.png", "out.gif"], 65, "'flat.png' has no contour to draw: none was found at the levels 90;"),
    (["in.png", "out.gif", "--step", "drop_small min_points=100000"], 65, "the steps (drop_small min_points=100000) left none"),
    (["in.png", "out.gif", "--step", "drop_smal"], 2, "did you mean 'drop_small'?"),
    (["in.png", "out.gif", "--series", "some"], 2, "--series"),
    (["in.png", "out.gif", "--frames", "0"], 2, "--frames is 0"),
])
def test_mistakes_are_named_and_nothing_is_written(contorno, folder, arguments, code, words):
    cv2.imwrite(str(folder / "flat.png"), np.full((20, 20), 90, np.uint8))
    if arguments[1] == "out.gif":
        (folder / "out.gif").write_bytes(b"of another run")
    before = sorted(folder.iterdir())
    done = contorno("draw", *arguments, cwd=folder, check=False)
    assert done.returncode == code and words in done.stderr, done.stderr
    assert sorted(folder.iterdir()) == before
    assert arguments[1] != "out.gif" or (folder / "out.gif").read_bytes() == b"of another run"
