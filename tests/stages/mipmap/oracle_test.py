"""OpenCV, SciPy and NumPy as references for the mipmap chain, and other programs' readers for its files."""
import cv2
import numpy as np
import pytest
import scipy.signal
from tests.conftest import classes_yaml, read_lines, run_contorno

FILTERS = {
    "triangle": (1, lambda t: 1 - np.abs(t)),
    "mitchell": (2, lambda t: np.where(np.abs(t) < 1, (21 * np.abs(t) ** 3 - 36 * t ** 2 + 16) / 18,
                                       (-7 * np.abs(t) ** 3 + 36 * t ** 2 - 60 * np.abs(t) + 32) / 18)),
    "lanczos3": (3, lambda t: np.sinc(t) * np.sinc(t / 3)),
    "kaiser": (3, lambda t: np.sinc(t) * np.i0(4 * np.sqrt(np.maximum(0, 1 - t * t / 9))) / np.i0(4)),
}


def picture(height, width, channels=None, dtype=np.uint8, seed=1):
    shape = (height, width) if channels is None else (height, width, channels)
    random = np.random.default_rng(seed)
    if dtype == np.float32:
        return random.random(shape, np.float32)
    return random.integers(0, np.iinfo(dtype).max + 1, shape, dtype)


def level(folder, image, number, *options):
    np.save(folder / "in.npy", image)
    run_contorno("apply", "mipmap", folder / "in.npy", folder / "out.npy", "--level", number, "--stop", 1, *options)
    return np.load(folder / "out.npy")


def decode(code):
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


def encode(light):
    return np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("channels, dtype", [(None, np.uint8), (3, np.uint8), (4, np.uint8), (3, np.uint16)])
def test_box_is_bit_equal_to_inter_area_where_sides_halve(tmp_path, channels, dtype):
    image = picture(208, 336, channels, dtype)
    for number in (1, 4):
        expected = image
        for _ in range(number):
            size = (expected.shape[1] // 2, expected.shape[0] // 2)
            expected = cv2.resize(expected, size, interpolation=cv2.INTER_AREA)
        assert np.array_equal(level(tmp_path, image, number), expected)


@pytest.mark.parametrize("shape", [(209, 337), (33, 4096), (128, 32), (7, 5), (1, 77)])
def test_box_of_odd_sides_is_within_half_a_level_of_the_exact_area(tmp_path, shape):
    image = picture(*shape, 3)
    height, width = (max(1, side // 2) for side in shape)

    def weights(n, m):
        edges = np.arange(m + 1) * n / m
        low, high = edges[:-1, None], edges[1:, None]
        return np.clip(np.minimum(high, np.arange(n) + 1) - np.maximum(low, np.arange(n)), 0, None) * m / n

    down = np.tensordot(weights(shape[0], height), image.astype(float), 1)
    exact = np.moveaxis(np.tensordot(weights(shape[1], width), down, (1, 1)), 0, 1)
    assert np.abs(level(tmp_path, image, 1) - exact).max() <= 0.5 + 1e-6
    floats = (image / 255).astype(np.float32)
    assert np.abs(level(tmp_path, floats, 1) - exact / 255).max() <= 1e-6


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("edge, mode", [("wrap", "wrap"), ("mirror", "symm")])
def test_filters_are_convolutions_by_scipy(tmp_path, name, edge, mode):
    image = picture(64, 48)
    reach, kernel = FILTERS[name]
    # A sample of the next level lies between two samples: positions of half a pixel, every second one.
    offsets = np.arange(-2 * reach, 2 * reach) + 0.5
    taps = kernel(offsets / 2)
    taps /= taps.sum()
    padded = np.pad(image.astype(float), 16, mode="wrap" if mode == "wrap" else "symmetric")
    both = scipy.signal.convolve2d(padded, np.outer(taps, taps)[::-1, ::-1], mode="same")
    # 'same' of an even kernel: sample i is centred on i - 1/2.
    exact = both[16 + 1:16 + 64 + 1:2, 16 + 1:16 + 48 + 1:2]
    made = level(tmp_path, image, 1, "--filter", name, "--edge", edge)
    assert np.abs(made - np.clip(exact, 0, 255)).max() <= 0.501


LIGHT = np.floor(65535 * decode(np.arange(256) / 255) + 0.5)


def nearest_code(lights):
    """Of the code whose light is nearest; of two as near, the brighter one."""
    return np.searchsorted((LIGHT[1:] + LIGHT[:-1]) / 2, lights, side="right").astype(np.uint8)


def test_linear_light_is_within_one_level_of_the_curve(tmp_path):
    image = picture(128, 96, 4)
    light = decode(image / 255)
    light[..., 3] = image[..., 3] / 255
    means = light.reshape(64, 2, 48, 2, 4).mean((1, 3))
    expected = 255 * encode(means)
    expected[..., 3] = 255 * means[..., 3]
    assert np.abs(level(tmp_path, image, 1, "--linear_light") - expected).max() <= 0.56
    checks = np.indices((64, 64)).sum(0) % 2 * np.uint8(255)
    assert (level(tmp_path, checks.astype(np.uint8), 1, "--linear_light") == 188).all()


@pytest.mark.parametrize("channels", [None, 2, 3, 4])
def test_linear_light_is_bit_equal_to_a_table_inter_area_and_the_nearest_code(tmp_path, channels):
    image = picture(256, 320, channels)
    colours = 3 if channels == 4 else 1 if channels == 2 else channels
    for number in (1, 4):
        expected = image
        for _ in range(number):
            size = (expected.shape[1] // 2, expected.shape[0] // 2)
            lights = cv2.resize(LIGHT[expected].astype(np.float32), size, interpolation=cv2.INTER_AREA)
            halved = nearest_code(lights)
            if channels in (2, 4):
                halved[..., colours] = cv2.resize(np.ascontiguousarray(expected[..., colours]), size, interpolation=cv2.INTER_AREA)
            expected = halved
        assert np.array_equal(level(tmp_path, image, number, "--linear_light"), expected)


@pytest.mark.parametrize("name", FILTERS)
def test_filters_in_linear_light_give_the_nearest_code_of_scipys_convolution(tmp_path, name):
    image = picture(64, 48)
    reach, kernel = FILTERS[name]
    taps = kernel((np.arange(-2 * reach, 2 * reach) + 0.5) / 2)
    taps /= taps.sum()
    both = scipy.signal.convolve2d(np.pad(LIGHT[image], 16, mode="wrap"), np.outer(taps, taps)[::-1, ::-1], mode="same")
    exact = both[16 + 1:16 + 64 + 1:2, 16 + 1:16 + 48 + 1:2]
    made = level(tmp_path, image, 1, "--filter", name, "--edge", "wrap", "--linear_light")
    margin = 0.05  # of float32 sums, out of 65535
    assert (nearest_code(exact - margin) <= made).all() and (made <= nearest_code(exact + margin)).all()


def test_linear_light_of_16_bits_is_bit_equal_to_the_nearest_code(tmp_path):
    image = picture(64, 96, 3, np.uint16)
    light = (65535 * decode(np.arange(65536) / 65535)).astype(np.float32)
    lights = light[image]
    halves = np.float32(0.5) * lights[0::2] + np.float32(0.5) * lights[1::2]
    means = np.float32(0.5) * halves[:, 0::2] + np.float32(0.5) * halves[:, 1::2]
    thresholds = (light[1:].astype(float) + light[:-1]) / 2
    expected = np.searchsorted(thresholds, means.astype(float), side="right")
    assert np.array_equal(level(tmp_path, image, 1, "--linear_light"), expected)


def test_colours_of_transparent_pixels_do_not_show(tmp_path):
    image = picture(64, 64, 4)
    image[:16, :, 3] = 0
    alpha = image[..., 3:].astype(float)
    up = (image[..., :3] * alpha).reshape(32, 2, 32, 2, 3).sum((1, 3))
    down = alpha.reshape(32, 2, 32, 2, 1).sum((1, 3))
    plain = image[..., :3].astype(float).reshape(32, 2, 32, 2, 3).mean((1, 3))
    expected = np.where(down == 0, plain, up / np.maximum(down, 1))
    assert np.abs(level(tmp_path, image, 1, "--premultiplied")[..., :3] - expected).max() <= 0.5


def test_high_precision_is_the_mean_of_the_whole_square(tmp_path):
    image = picture(256, 256, 3)
    for number in (3, 6, 8):
        side = 256 >> number
        exact = image.astype(float).reshape(side, 1 << number, side, 1 << number, 3).mean((1, 3))
        assert np.abs(level(tmp_path, image, number, "--high_precision") - exact).max() <= 0.5


def test_class_maps_are_averaged_plane_by_plane(tmp_path):
    maps = picture(95, 511, 8, np.float32)
    planar = level(tmp_path, np.ascontiguousarray(np.moveaxis(maps, -1, 0)), 1, "--layout", "chw")
    assert planar.shape == (8, 47, 255)
    alone = level(tmp_path, np.ascontiguousarray(maps[..., 5]), 1)
    assert np.array_equal(planar[5], alone)


def chain(image, stop):
    levels = [image]
    while min(levels[-1].shape[:2]) > stop:
        size = (levels[-1].shape[1] // 2, levels[-1].shape[0] // 2)
        levels.append(cv2.resize(levels[-1], size, interpolation=cv2.INTER_AREA).reshape(size[1], size[0], *image.shape[2:]))
    return levels


@pytest.mark.parametrize("channels, dtype", [(None, np.uint8), (3, np.uint8), (4, np.uint16), (3, np.float32)])
def test_all_levels_are_in_one_tiff(tmp_path, channels, dtype):
    tifffile = pytest.importorskip("tifffile")
    image = picture(1024, 768, channels, dtype)
    np.save(tmp_path / "in.npy", image)
    run_contorno("apply", "mipmap", tmp_path / "in.npy", tmp_path / "out.tif", "--stop", 32)
    with tifffile.TiffFile(tmp_path / "out.tif") as tiff:
        pages = [page.asarray() for page in tiff.pages]
        assert [page.is_reduced for page in tiff.pages] == [False] + [True] * (len(pages) - 1)
    expected = chain(image, 32)
    assert [page.shape for page in pages] == [one.shape for one in expected]
    for page, one in zip(pages, expected):
        assert np.array_equal(page, one) if dtype != np.float32 else np.abs(page - one).max() < 1e-6
    if dtype == np.uint8:
        done, read = cv2.imreadmulti(str(tmp_path / "out.tif"), flags=cv2.IMREAD_UNCHANGED)
        assert done and len(read) == len(pages)


def test_class_maps_go_into_a_tiff_plane_by_plane(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    maps = picture(90, 70, 5, np.float32)
    np.save(tmp_path / "in.npy", np.ascontiguousarray(np.moveaxis(maps, -1, 0)))
    run_contorno("apply", "mipmap", tmp_path / "in.npy", tmp_path / "out.tif", "--layout", "chw")
    with tifffile.TiffFile(tmp_path / "out.tif") as tiff:
        assert np.array_equal(tiff.pages[0].asarray(), np.moveaxis(maps, -1, 0))
        assert tiff.pages[1].asarray().shape == (5, 45, 35)


@pytest.mark.parametrize("channels, dtype", [(None, np.uint8), (4, np.uint8), (3, np.uint16)])
def test_each_level_has_its_own_png(tmp_path, channels, dtype):
    image = picture(1100, 700, channels, dtype)
    image[100:900] //= 7  # something to compress
    np.save(tmp_path / "in.npy", image)
    run_contorno("apply", "mipmap", tmp_path / "in.npy", tmp_path / "level{level}.png", "--stop", 200)
    for number, expected in enumerate(chain(image, 200)):
        read = cv2.imread(str(tmp_path / f"level{number}.png"), cv2.IMREAD_UNCHANGED)
        assert read.dtype == dtype
        if channels:
            read = read[..., [2, 1, 0, 3][:channels]]
        if number < 3:  # odd sides are not averaged as OpenCV does
            assert np.array_equal(read, expected)
        assert read.shape == expected.shape


def test_a_graph_writes_levels_of_every_frame(tmp_path, dataset):
    (tmp_path / "graph.yaml").write_text(f"""
source: {{type: dataset, location: {dataset}, layout: hwc}}
classes:
{classes_yaml(8)}
stages:
  - type: mipmap
sinks:
  - type: mipmaps
    path: "levels/{{frame:03}}.tif"
    every: 2
""")
    done = run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "levels").iterdir()) == ["000.tif", "002.tif", "004.tif"]


def test_contours_of_a_level_are_placed_on_the_frame(tmp_path):
    rows, columns = np.mgrid[0:191, 0:254]
    disc = 1 / (1 + np.exp((np.hypot(rows - 90.3, columns - 121.7) - 60) / 3))
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "0.npy", disc[..., None].astype(np.float32))
    for number in (1, 2):
        (tmp_path / "graph.yaml").write_text(f"""
source: {{type: dataset, location: {tmp_path}, layout: hwc}}
classes:
{classes_yaml(1)}
stages:
  - {{type: mipmap, level: {number}}}
  - {{type: marching_squares, from: mipmap}}
  - type: contour_assembly
sinks:
  - {{type: jsonl, path: contours.jsonl}}
""")
        run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path)
        (contour,) = read_lines(tmp_path / "contours.jsonl")[0]["classes"][0]["contours"]
        x, y = np.asarray(contour["points"]).T
        # All the way round at the radius where the disc is 0.5, to a fraction of the level's pixels.
        assert np.abs(np.hypot(x - 121.7, y - 90.3) - 60).max() < 0.12 * 2 ** number


def test_a_path_without_a_level_refuses_a_chain(tmp_path):
    np.save(tmp_path / "in.npy", picture(200, 200, 3))
    done = run_contorno("apply", "mipmap", tmp_path / "in.npy", tmp_path / "{level}.bmp", check=False)
    assert done.returncode != 0 and ".tif, .tiff and .png" in done.stderr
    run_contorno("apply", "mipmap", tmp_path / "in.npy", tmp_path / "one.tif", "--level", 1)
    assert cv2.imread(str(tmp_path / "one.tif")).shape == (100, 100, 3)
