"""colour_map beside a naive one in NumPy: of files, of a graph's source, with and without blending."""
import cv2
import numpy as np
import pytest

from tests.conftest import run_contorno

POINTS = [(-0.5, (9, 8, 7)), (0.1, (11, 42, 91)), (0.4, (47, 127, 184)), (0.4, (227, 211, 160)), (0.72, (250, 3, 128)), (1, (255, 255, 255))]


def text_of(points):
    return ", ".join(f"{value} #{red:02x}{green:02x}{blue:02x}" for value, (red, green, blue) in points)


def naive(values, points, blend):
    picture = np.zeros((*values.shape, 3), np.uint8)
    for place, value in np.ndenumerate(values.astype(np.float64)):
        if np.isnan(value):
            continue
        below = [point for point in points if point[0] <= value]
        above = [point for point in points if point[0] > value]
        low = below[-1] if below else above[0]
        part = (value - low[0]) / (above[0][0] - low[0]) if blend and below and above else 0
        high = above[0] if above else low
        picture[place] = [int(a + part * (b - a) + 0.5) for a, b in zip(low[1], high[1])]
    return picture


@pytest.mark.parametrize("blend", [True, False])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float16, np.float32])
def test_every_number_has_the_colour_that_numpy_gives_it(tmp_path, kind, blend):
    random = np.random.default_rng(5)
    if np.issubdtype(kind, np.integer):
        values = random.integers(0, np.iinfo(kind).max + 1, (40, 61)).astype(kind)
        meant = values / np.iinfo(kind).max
    else:
        values = random.uniform(-1, 1.5, (40, 61)).astype(kind)
        values[3, 4], values[5, 6], values[7, 8], values[9, :2] = np.nan, np.inf, -np.inf, (0.4, 1)
        meant = values
    np.save(tmp_path / "in.npy", values)
    run_contorno("apply", "colour_map", "in.npy", "out.png", "--colours", text_of(POINTS), "--blend", str(blend).lower(), cwd=tmp_path)
    assert np.array_equal(cv2.imread(str(tmp_path / "out.png"))[..., ::-1], naive(meant, POINTS, blend))


def test_heights_of_a_source_are_coloured_in_a_graph(tmp_path):
    (tmp_path / "graph.yaml").write_text(f"""
source: {{type: diamond_square, size: [65, 33], seed: 4, frames: 2, type_: 0}}
stages: [{{type: colour_map, colours: "{text_of(POINTS)}"}}]
sinks: [{{type: images, path: "{{frame}}.png"}}]
""".replace(", type_: 0", ""))
    run_contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path)
    pictures = [cv2.imread(str(path))[..., ::-1] for path in sorted((tmp_path / "out").glob("*.png"))]
    assert len(pictures) == 2 and not np.array_equal(*pictures)
    run_contorno("apply", "diamond_square", "-", "h.npy", "--size", "[65, 33]", "--seed", "4", cwd=tmp_path)
    assert np.array_equal(pictures[0], naive(np.load(tmp_path / "h.npy") / 255, POINTS, True))


def test_a_channel_that_is_not_there_is_refused(tmp_path):
    np.save(tmp_path / "in.npy", np.zeros((8, 9), np.float32))
    done = run_contorno("apply", "colour_map", "in.npy", "out.png", "--channel", "1", cwd=tmp_path, check=False)
    assert done.returncode in (64, 78) and "channel is 1" in done.stderr and "allowed 0 to 0" in done.stderr


def test_a_table_that_does_not_ascend_is_refused_with_its_place(tmp_path):
    (tmp_path / "graph.yaml").write_text("""
source: {type: diamond_square, size: [65, 33], frames: 1}
stages:
  - {type: colour_map, colours: "0.5 #000000, 0.4 #ffffff"}
sinks: [{type: images, path: a.png}]
""")
    done = run_contorno("check", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78 and "graph.yaml:4" in done.stderr and "0.4 comes behind 0.5" in done.stderr


@pytest.mark.parametrize("colours, said", [("0#000000", "'0#000000' has no space between its value and its colour"),
                                           ("0 #000000, 1 #ffffff80", "'1 #ffffff80' has an opacity, and the picture has none"),
                                           ("0 #000000, 1", "'1' has no colour behind its value"),
                                           ("0 #000000,", "a point is empty"),
                                           ("nan #000000", "'nan #000000' does not begin with a number of -1e9 to 1e9")])
def test_a_point_that_is_no_value_and_colour_is_refused(tmp_path, colours, said):
    np.save(tmp_path / "in.npy", np.zeros((4, 5), np.float32))
    done = run_contorno("apply", "colour_map", "in.npy", "out.png", "--colours", colours, cwd=tmp_path, check=False)
    assert done.returncode == 64 and said in done.stderr and not (tmp_path / "out.png").exists(), done.stderr


def test_contours_of_its_colours_are_warned_of(tmp_path):
    text = "source: {{type: synthetic, classes: 3, frames: 1}}\nclasses: auto\nstages: [colour_map, {}]\nsinks: [{{type: jsonl, path: c.jsonl}}]\n"
    for contours, is_odd in (("contours", True), ("{type: contours, from: source.maps}", False)):
        (tmp_path / "graph.yaml").write_text(text.format(contours))
        said = run_contorno("check", "graph.yaml", cwd=tmp_path).stderr
        assert ("node 'contours': it takes red, green and blue of node 'colour_map' for maps of classes" in said) == is_odd, said
