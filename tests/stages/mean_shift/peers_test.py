"""Mean shift beside scikit-learn, OpenCV and SciPy, and the subcommands mean-shift and learn."""
import json
import re
import xml.etree.ElementTree

import numpy as np
import pytest

from tests.conftest import run_contorno


def clusters(count, dims, groups, seed, side=100.0):
    """Clusters of unit deviation around centres that are at least 12 apart."""
    random = np.random.default_rng(seed)
    centres = []
    while len(centres) < groups:
        centre = random.uniform(0, side, dims)
        if all(np.linalg.norm(centre - other) > 12 for other in centres):
            centres.append(centre)
    return np.array(centres)[np.arange(count) % groups] + random.normal(size=(count, dims))


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist()))) == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("count,dims,groups,radius", [(600, 2, 6, 2.5), (1024, 32, 16, 12), (300, 3, 5, 3.5)])
def test_the_clusters_of_a_flat_kernel_are_those_of_scikit_learn(tmp_path, count, dims, groups, radius):
    cluster = pytest.importorskip("sklearn.cluster")
    points = clusters(count, dims, groups, seed=count)
    np.save(tmp_path / "points.npy", points)
    run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--kernel", "flat", "--sigma", radius,
                 "--modes", tmp_path / "modes.npy", "--points", tmp_path / "ends.npy", "--backend", "cpu")
    labels, modes = np.load(tmp_path / "labels.npy"), np.load(tmp_path / "modes.npy")
    # Some of the seeds are enough for scikit-learn to find the clusters, and leave time for other tests.
    peer = cluster.MeanShift(bandwidth=radius, seeds=points[::23]).fit(points)
    assert same_partition(labels, peer.labels_)
    assert labels[0] == 0 and np.all(np.unique(labels) == np.arange(groups))
    for centre in peer.cluster_centers_:
        assert np.min(np.linalg.norm(modes - centre, axis=1)) < 0.15 * radius
    assert np.load(tmp_path / "ends.npy").shape == points.shape


def test_the_estimated_bandwidth_is_that_of_scikit_learn(tmp_path):
    cluster = pytest.importorskip("sklearn.cluster")
    points = clusters(250, 2, 3, seed=4)
    np.save(tmp_path / "points.npy", points)
    done = run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--quantile", "0.2")
    sigma = float(done.stdout.split("sigma ")[1].split(",")[0])
    assert sigma == pytest.approx(cluster.estimate_bandwidth(points, quantile=0.2), rel=1e-5)


def test_mean_shift_reads_every_number_type_and_one_dimension(tmp_path):
    values = np.array([1, 2, 1, 200, 201, 200, 2], np.uint8)
    for number in (np.uint8, np.uint16, np.float16, np.float32, np.float64):
        np.save(tmp_path / "points.npy", values.astype(number))
        run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--sigma", "3")
        assert np.load(tmp_path / "labels.npy").tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_mean_shift_says_what_is_wrong(tmp_path):
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    done = run_contorno("mean-shift", tmp_path / "cube.npy", tmp_path / "x.npy", check=False)
    assert done.returncode == 65 and "wanted N points" in done.stderr
    np.save(tmp_path / "nan.npy", np.array([[0.0, np.nan]]))
    done = run_contorno("mean-shift", tmp_path / "nan.npy", tmp_path / "x.npy", "--sigma", "1", check=False)
    assert done.returncode == 65 and "not finite" in done.stderr
    np.save(tmp_path / "good.npy", np.zeros((2, 2)))
    assert run_contorno("mean-shift", tmp_path / "good.npy", tmp_path / "x.npy", "--sigma", "wide", check=False).returncode == 2


def noisy_scene(height, width, seed=0):
    random = np.random.default_rng(seed)
    rows, cols = np.mgrid[0:height, 0:width]
    image = np.stack([(rows // 17 * 53 + cols // 23 * 31 + 80 * k) % 200 for k in range(3)], axis=2) + 20
    image = image + 12 * np.sin(cols / 9.0)[..., None] + random.normal(0, 6, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("spatial,colour", [(1, 5), (4, 16), (10, 20), (21, 60)])
def test_the_filter_gives_the_bytes_of_opencv(tmp_path, spatial, colour):
    cv2 = pytest.importorskip("cv2")
    for height, width in ((1, 1), (7, 90), (75, 101)):
        image = noisy_scene(height, width)
        np.save(tmp_path / "in.npy", image)
        for threads in (1, 3):
            run_contorno("apply", "mean_shift_filter", tmp_path / "in.npy", tmp_path / "out.npy", "--spatial", spatial,
                         "--colour", colour, "--threads", threads)
            assert np.array_equal(np.load(tmp_path / "out.npy"),
                                  cv2.pyrMeanShiftFiltering(image, spatial, colour, maxLevel=0))
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 20, 0)
    run_contorno("apply", "mean_shift_filter", tmp_path / "in.npy", tmp_path / "out.npy", "--spatial", spatial,
                 "--colour", colour, "--max_iterations", 20, "--eps", 0)
    assert np.array_equal(np.load(tmp_path / "out.npy"),
                          cv2.pyrMeanShiftFiltering(image, spatial, colour, maxLevel=0, termcrit=criteria))


def test_the_filter_gives_the_bytes_of_opencv_on_a_photograph(tmp_path, real_data):
    cv2 = pytest.importorskip("cv2")
    image = cv2.imread(str(real_data / "fruit-photos/opencv/fruits.jpg"))[100:260, 80:330]
    np.save(tmp_path / "in.npy", image)
    run_contorno("apply", "mean_shift_filter", tmp_path / "in.npy", tmp_path / "out.npy", "--spatial", 8, "--colour", 24)
    assert np.array_equal(np.load(tmp_path / "out.npy"), cv2.pyrMeanShiftFiltering(image, 8, 24, maxLevel=0))


def test_regions_of_one_segment_are_connected_large_enough_and_in_their_mean_colour(tmp_path):
    ndimage = pytest.importorskip("scipy.ndimage")
    image = noisy_scene(90, 120, seed=3)
    np.save(tmp_path / "in.npy", image)
    run_contorno("apply", "mean_shift_segment", tmp_path / "in.npy", tmp_path / "image.npy", "--spatial", 6, "--colour", 25,
                 "--min_region", 50, "--labels-out", tmp_path / "labels.npy")
    labels = np.squeeze(np.load(tmp_path / "labels.npy"))
    means = np.load(tmp_path / "image.npy")
    assert labels.shape == image.shape[:2] and labels[0, 0] == 0
    numbers, first = np.unique(labels, return_index=True)
    assert np.array_equal(numbers, np.arange(len(numbers))) and np.all(np.diff(first) > 0)
    assert 4 < len(numbers) < 60
    for number in numbers:
        inside = labels == number
        assert ndimage.label(inside)[1] == 1
        assert inside.sum() >= 50
        assert np.array_equal(np.unique(means[inside], axis=0), [np.floor(image[inside].mean(axis=0) + 0.5)])


def painted(tmp_path, cv2):
    """Pictures of three colours with their masks: the background, a disk on it, and a small spot on the disk."""
    random = np.random.default_rng(2)
    (tmp_path / "frames").mkdir()
    (tmp_path / "masks").mkdir()
    for number in range(3):
        rows, cols = np.mgrid[0:80, 0:120]
        mask = np.zeros((80, 120), np.uint8)
        mask[np.hypot(rows - 40, cols - 40 - 15 * number) < 28] = 1
        mask[np.hypot(rows - 35, cols - 45 - 15 * number) < 6] = 2
        colours = np.array([[30, 60, 160], [210, 60, 40], [90, 60, 20]])
        picture = np.clip(colours[mask] + random.normal(0, 5, (80, 120, 3)), 0, 255).astype(np.uint8)
        cv2.imwrite(str(tmp_path / "frames" / f"{number}.png"), picture[..., ::-1])
        cv2.imwrite(str(tmp_path / "masks" / f"{number}_labels.png"), mask)


@pytest.mark.parametrize("masks", [True, False])
def test_learned_colours_find_the_objects_again(tmp_path, masks):
    cv2 = pytest.importorskip("cv2")
    painted(tmp_path, cv2)
    graph = tmp_path / "colours.yaml"
    run_contorno("learn", tmp_path / "frames", "--classes", "belt,apple,rot: brown", "-o", graph, "--hidden", "belt",
                 *(["--masks", tmp_path / "masks"] if masks else []))
    run_contorno("check", graph)
    text = graph.read_text()
    assert text.index("belt") < text.index("apple") < text.index("rot: brown") and "hidden: true" in text
    run_contorno("run", graph, "--output", tmp_path / "out")
    frames = [json.loads(line) for line in (tmp_path / "out" / "contours.jsonl").read_text().splitlines()]
    assert len(frames) == 3
    for number, frame in enumerate(frames):
        points = {one["name"]: [np.array(c["points"]) for c in one["contours"]] for one in frame["classes"]}
        largest = max(points["apple"], key=len)
        assert np.allclose((largest.max(axis=0) + largest.min(axis=0)) / 2, [40 + 15 * number, 40], atol=2)
        spots = points["rot: brown"]
        assert any(np.all(np.abs((s.max(axis=0) - s.min(axis=0)) - 12) < 4) for s in spots)


def test_learn_says_what_is_wrong(tmp_path):
    cv2 = pytest.importorskip("cv2")
    painted(tmp_path, cv2)
    done = run_contorno("learn", tmp_path / "frames", "--classes", "a,a", check=False)
    assert done.returncode == 2 and "twice" in done.stderr
    done = run_contorno("learn", tmp_path / "frames", "--classes", "a,b", "--masks", tmp_path / "none", check=False)
    assert done.returncode == 66
    done = run_contorno("learn", tmp_path / "frames", "--classes", "a,b,c,d", "--masks", tmp_path / "masks", check=False)
    assert done.returncode == 65 and "class 'd'" in done.stderr
    assert not (tmp_path / "colours.yaml").exists()


@pytest.mark.parametrize("kind", ["i1", "i2", "<i4", ">i4", "i8", "u1", "u2", "u4", "u8", ">u8", "f2", "f4", "f8", "?"])
@pytest.mark.parametrize("order", "CF")
def test_points_of_any_number_type_have_the_labels_of_float64(tmp_path, kind, order):
    points = np.array([[1, 0], [1, 1], [100, 60], [101, 60], [1, 0], [40, 1]])
    points = (points > 50 if kind == "?" else points).astype(kind)
    np.save(tmp_path / "points.npy", np.asarray(points, order=order))
    np.save(tmp_path / "wide.npy", points.astype(np.float64))
    np.savez_compressed(tmp_path / "packed.npz", points)
    for name in ("points.npy", "packed.npz", "wide.npy"):
        run_contorno("mean-shift", tmp_path / name, tmp_path / f"{name}.labels", "--sigma", 2, "--modes", tmp_path / f"{name}.modes")
    for what in ("labels", "modes"):
        found = [np.load(tmp_path / f"{name}.{what}") for name in ("points.npy", "packed.npz", "wide.npy")]
        assert np.array_equal(found[0], found[2]) and np.array_equal(found[1], found[2])
    assert len(np.unique(np.load(tmp_path / "wide.npy.labels"))) == (1 if kind == "?" else 3)


@pytest.mark.parametrize("kind", ["c8", "U3", "M8[s]", "f16"])
def test_points_that_are_no_numbers_are_refused_by_their_type(tmp_path, kind):
    np.save(tmp_path / "points.npy", np.zeros((3, 2), np.longdouble if kind == "f16" else kind))
    done = run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "x.npy", check=False)
    assert done.returncode == 65 and "allowed are float16, float32, float64, integers of 1 to 8 bytes and bool" in done.stderr


# Files and the picture of mean-shift -------------------------------------------------------------------------
def some_points(count=600):
    random = np.random.default_rng(4)
    return np.concatenate([random.normal(centre, 0.6, (count // 4, 2)) for centre in [(0, 0), (5, 1), (2, 6), (8, 7)]])


@pytest.mark.parametrize("write", [
    lambda f, p: np.savetxt(f, p), lambda f, p: np.savetxt(f, p, delimiter=","),
    lambda f, p: np.savetxt(f, p, header=f"{p.shape[0]} {p.shape[1]}", comments=""),
    lambda f, p: np.savetxt(f, p, header="columns: x; y\nof a plane"),
    lambda f, p: f.write("% x y\n\n" + "".join(f"\t+{x!r} ; {y!r} # {x}\r\n" if x > 0 else f"{x!r} {y!r}\n" for x, y in p.tolist()))])
def test_points_of_a_text_are_those_of_an_array(tmp_path, write):
    points = some_points()
    np.save(tmp_path / "points.npy", points)
    with open(tmp_path / "points.txt", "w", newline="") as text:
        write(text, points)
    wanted = run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "a.npy", "--sigma", 0.6, "--modes", tmp_path / "a_modes.npy")
    got = run_contorno("mean-shift", tmp_path / "points.txt", tmp_path / "b.npy", "--sigma", 0.6, "--modes", tmp_path / "b_modes.npy")
    assert got.stdout == wanted.stdout and "600 points, 4 clusters" in got.stdout
    for name in ("", "_modes"):
        assert (tmp_path / f"a{name}.npy").read_bytes() == (tmp_path / f"b{name}.npy").read_bytes()


def test_the_time_is_said_where_it_is_asked_for_and_the_climb_is_a_part_of_it(tmp_path):
    np.save(tmp_path / "points.npy", some_points())
    wanted = run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "a.npy", "--sigma", 0.6, "--backend", "cpu")
    timed = run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "b.npy", "--sigma", 0.6, "--backend", "cpu", "--time")
    assert wanted.stderr == "" and timed.stdout == wanted.stdout
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    said = re.fullmatch(r"contorno: mean-shift: (\d+\.\d{3}) ms on cpu\ncontorno: mean-shift, climb alone: (\d+\.\d{3}) ms on cpu\n",
                        timed.stderr)
    assert said and 0 < float(said[2]) <= float(said[1])


def test_two_numbers_that_are_no_sides_are_a_point(tmp_path):
    for text, points in (("2 3\n1 2\n3 4\n5 6\n", 4), ("3 2\n1 2\n3 4\n5 6\n", 3), ("4 2\n1 2\n3 4\n5 6\n", 4), ("7 1\n", 1), ("3 1\n1\n2\n3\n", 3)):
        (tmp_path / "p.txt").write_text(text)
        assert f"{points} points," in run_contorno("mean-shift", tmp_path / "p.txt", tmp_path / "l.npy", "--sigma", 1).stdout, text


@pytest.mark.parametrize("text,said", [
    ("1 2\n3\n", ":2:1: this line has 1 of them, line 1 has 2"), ("1 2\n3 x4\n", ":2:3: 'x4' is no number"),
    ("# none\n1, nan\n", ":2:4: 'nan' is no number"), ("1e999 2\n", ":1:1: '1e999' is no number"),
    (" ".join(["1"] * 513), ":1:1: this line has 513 of them, allowed 1 to 512")])
def test_what_is_wrong_in_a_text_of_points_is_said_with_its_place(tmp_path, text, said):
    (tmp_path / "p.txt").write_text(text)
    done = run_contorno("mean-shift", tmp_path / "p.txt", tmp_path / "l.npy", check=False)
    assert done.returncode == 65 and f"p.txt{said}" in done.stderr


def drawn(path):
    """Of each field of a picture of points: x, y and the colour of every point."""
    fields = xml.etree.ElementTree.parse(path).getroot().findall("{*}g")
    return [[(float(c.get("cx")), float(c.get("cy")), c.get("fill")) for c in field.iter("{http://www.w3.org/2000/svg}circle")] for field in fields]


def test_the_picture_has_every_point_in_its_place_and_in_the_colour_of_its_cluster(tmp_path):
    points = np.concatenate([some_points(), [[40, -30]]])
    np.save(tmp_path / "points.npy", points)
    run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--sigma", 0.6, "--min-size", 5,
                 "--points", tmp_path / "ends.npy", "--plot", tmp_path / "plot.svg")
    labels, ends = np.load(tmp_path / "labels.npy"), np.load(tmp_path / "ends.npy")
    before, after = drawn(tmp_path / "plot.svg")
    assert labels[-1] == -1 and len(before) == len(after) == len(points)
    for circles, places in ((before, points), (after, ends)):
        px = np.array([circle[:2] for circle in circles])
        for axis in (0, 1):
            slope, offset = np.polyfit(places[:, axis], px[:, axis], 1)
            assert slope * (-1) ** axis > 0 and np.abs(slope * places[:, axis] + offset - px[:, axis]).max() < 0.02
    colour = {label: before[int(np.argmax(labels == label))][2] for label in set(labels)}
    assert len(set(colour.values())) == 5
    assert [circle[2] for circle in before] == [colour[label] for label in labels] == [circle[2] for circle in after]


def test_of_many_points_some_are_drawn_and_the_picture_says_how_many(tmp_path):
    np.save(tmp_path / "points.npy", np.arange(50_001) % 7)
    run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--sigma", 0.3, "--plot", tmp_path / "plot.svg")
    assert [len(field) for field in drawn(tmp_path / "plot.svg")] == [16667, 16667]
    assert "50001 points, 7 clusters, one of 3 points is drawn" in (tmp_path / "plot.svg").read_text()


def test_equal_points_beside_which_a_half_is_nothing_are_drawn(tmp_path):
    np.save(tmp_path / "points.npy", np.full((3, 2), 1e17))
    run_contorno("mean-shift", tmp_path / "points.npy", tmp_path / "labels.npy", "--sigma", 1, "--plot", tmp_path / "plot.svg")
    assert [len(field) for field in drawn(tmp_path / "plot.svg")] == [3, 3]
    assert "nan" not in (tmp_path / "plot.svg").read_text() and np.isfinite([c[:2] for f in drawn(tmp_path / "plot.svg") for c in f]).all()
