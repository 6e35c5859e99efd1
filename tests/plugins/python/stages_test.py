"""The image stages as functions of the Python package, beside OpenCV, SciPy, scikit-image and scikit-learn. The stages' own
tests compare many more cases; here it is that arrays, options and errors arrive where they should."""
import sys

import numpy as np
import pytest

from tests.plugins.python.package import contorno, resident_bytes, run_python
from tests.stages.contours.fields import smooth

cv2 = pytest.importorskip("cv2")
ndimage = pytest.importorskip("scipy.ndimage")
morphology = pytest.importorskip("skimage.morphology")


def picture(height=61, width=83, channels=3, seed=0):
    random = np.random.default_rng(seed)
    planes = [255 * smooth(random, (height, width), 2.0) for _ in range(channels)]
    return np.stack(planes, -1).astype(np.uint8) if channels > 1 else planes[0].astype(np.uint8)


SHAPES = {"rectangle": (5, 3), "cross": (5, 5), "ellipse": (7, 5), "disk": 7, "diamond": 7, "octagon": 9, "line": 5}


def test_a_parameter_that_is_a_mask_takes_an_array():
    image = picture(channels=1)
    for seed in range(3):  # the same shape every time: what is kept between calls must not be that of another mask
        mask = np.random.default_rng(seed).integers(0, 2, (3, 5), np.uint8)
        mask[1, 2] = 1
        eroded = contorno.apply("morphology", image, operation="erosion", element="file", file=mask)
        assert np.array_equal(eroded, cv2.erode(image, mask))
        heights = mask * 7
        dilated = contorno.apply("morphology", image, operation="dilation", element="file", file=heights, non_flat=True)
        assert np.array_equal(dilated, contorno.dilate(image, mask, heights=heights))
    found = contorno.apply("hit_or_miss", image, hit_file=mask == 1, miss_file=mask == 0)
    assert np.array_equal(found, contorno.hit_or_miss(image, mask == 1, mask == 0))
    with pytest.raises(ValueError, match="file has 3 dimensions"):
        contorno.apply("morphology", image, element="file", file=np.ones((1, 1, 1)))
    with pytest.raises(ValueError, match="elements are arrays, not files"):
        contorno.apply("morphology", image, element="file", file="mask.npy")


# Morphology ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES)
def test_erode_and_dilate_are_those_of_opencv(shape):
    mask = contorno.element(shape, SHAPES[shape])
    assert mask.dtype == bool and mask.shape[::-1] == tuple(np.broadcast_to(SHAPES[shape], 2)) or shape == "line"
    for channels in (1, 3):
        image = picture(channels=channels)
        kernel = mask.astype(np.uint8)
        assert np.array_equal(contorno.erode(image, mask), cv2.erode(image, kernel))
        assert np.array_equal(contorno.dilate(image, mask, opencv_compat=True), cv2.dilate(image, kernel))
        symmetric = np.array_equal(mask, mask[::-1, ::-1]) and all(side % 2 for side in mask.shape)
        if symmetric:
            for ours, theirs in ((contorno.open, cv2.MORPH_OPEN), (contorno.close, cv2.MORPH_CLOSE),
                                 (contorno.gradient, cv2.MORPH_GRADIENT), (contorno.tophat, cv2.MORPH_TOPHAT),
                                 (contorno.blackhat, cv2.MORPH_BLACKHAT)):
                assert np.array_equal(ours(image, mask), cv2.morphologyEx(image, theirs, kernel)), ours.__name__


def test_shapes_of_opencv():
    for size in ((3, 3), (5, 7), (9, 9)):
        assert np.array_equal(contorno.element("rectangle", size), cv2.getStructuringElement(cv2.MORPH_RECT, size))
        assert np.array_equal(contorno.element("cross", size), cv2.getStructuringElement(cv2.MORPH_CROSS, size))
        assert np.array_equal(contorno.element("ellipse", size), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, size))
    assert contorno.element("line", 5, angle=90).sum() == 5


@pytest.mark.parametrize("type_", [np.uint8, np.uint16, np.float32])
def test_heights_anchors_and_borders(type_):
    random = np.random.default_rng(1)
    image = (200 * smooth(random, (40, 50))).astype(type_)
    mask = random.random((3, 5)) < 0.7
    mask[1, 2] = True
    heights = random.integers(0, 9, (3, 5)).astype(float)
    wanted = ndimage.grey_erosion(image.astype(float), footprint=mask, structure=heights, mode="mirror")
    got = contorno.erode(image, mask, heights=heights, border="reflect101")
    assert np.array_equal(got, np.maximum(wanted, 0 if type_ != np.float32 else -np.inf).astype(type_))
    wanted = ndimage.grey_dilation(image.astype(float), footprint=mask, structure=heights, mode="nearest")
    assert np.array_equal(contorno.dilate(image, mask, heights=heights, border="replicate"), np.minimum(wanted, 255).astype(type_)
                          if type_ == np.uint8 else wanted.astype(type_))
    shifted = cv2.erode(image, mask.astype(np.uint8), anchor=(0, 2))
    assert np.array_equal(contorno.erode(image, mask, anchor=(0, 2)), shifted)
    constant = cv2.dilate(image, np.ones((3, 3), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=250)
    assert np.array_equal(contorno.dilate(image, np.ones((3, 3)), border="constant", border_value=250), constant)


def test_sets_planes_and_views():
    random = np.random.default_rng(2)
    image = random.random((50, 60)) < 0.5
    cross = contorno.element("cross", 3)
    eroded = contorno.erode(image, cross)
    assert eroded.dtype == bool
    assert np.array_equal(eroded, ndimage.binary_erosion(image, cross, border_value=1))
    assert np.array_equal(contorno.dilate(image, cross), ndimage.binary_dilation(image, cross))
    planes = np.stack([picture(channels=1, seed=seed) for seed in range(6)])
    got = contorno.open(planes, np.ones((3, 3)), layout="CHW")
    assert all(np.array_equal(got[k], contorno.open(planes[k], np.ones((3, 3)))) for k in range(6))
    colour = picture()
    for view in (colour[::-1], colour[:, ::2], np.asfortranarray(colour), colour[..., ::-1]):
        assert np.array_equal(contorno.close(view, cross), contorno.close(view.copy(), cross))
    before = colour.copy()
    contorno.erode(colour, cross, threads=3)
    assert np.array_equal(colour, before)


def test_hit_or_miss_is_that_of_scipy():
    image = np.random.default_rng(3).random((40, 50)) < 0.5
    hit, miss = np.array([[0, 1, 0], [0, 1, 1], [0, 0, 0]]), np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    got = contorno.hit_or_miss(image, hit, miss, border="constant")
    wanted = ndimage.binary_hit_or_miss(image, hit, miss)
    assert got.dtype == bool and np.array_equal(got[1:-1, 1:-1], wanted[1:-1, 1:-1])


@pytest.mark.parametrize("method", ["dilation", "erosion"])
def test_reconstruct_is_that_of_scikit_image(method):
    mask = picture(channels=1)
    marker = np.clip(mask.astype(int) - 40, 0, 255).astype(np.uint8) if method == "dilation" else \
        np.clip(mask.astype(int) + 40, 0, 255).astype(np.uint8)
    for connectivity, footprint in ((8, np.ones((3, 3))), (4, ndimage.generate_binary_structure(2, 1))):
        wanted = morphology.reconstruction(marker, mask, method, footprint)
        assert np.array_equal(contorno.reconstruct(marker, mask, method=method, connectivity=connectivity), wanted)
    opened = contorno.open_by_reconstruction(mask, np.ones((5, 5)))
    assert np.array_equal(opened, morphology.reconstruction(cv2.erode(mask, np.ones((5, 5), np.uint8)), mask))
    closed = contorno.close_by_reconstruction(mask, np.ones((5, 5)))
    assert np.array_equal(closed, morphology.reconstruction(cv2.dilate(mask, np.ones((5, 5), np.uint8)), mask, "erosion"))


# Mipmaps ---------------------------------------------------------------------------------------------------------
def test_mipmaps_halve_the_image():
    image = picture(64, 128)
    levels = contorno.mipmaps(image, stop=8)
    assert levels[0] is image and [level.shape for level in levels] == [(64, 128, 3), (32, 64, 3), (16, 32, 3), (8, 16, 3)]
    for one, two in zip(levels, levels[1:]):
        mean = one.astype(int).reshape(one.shape[0] // 2, 2, one.shape[1] // 2, 2, 3).sum((1, 3))
        assert np.array_equal(two, (mean + 2) // 4)
    grey = contorno.mipmaps(image[..., 0].astype(np.float32), stop=1, filter="triangle")
    assert grey[-1].shape == (1, 1) and grey[0].dtype == grey[-1].dtype == np.float32
    planes = contorno.mipmaps(np.moveaxis(image, -1, 0), layout="CHW", stop=8)
    assert all(np.array_equal(np.moveaxis(a, 0, -1), b) for a, b in zip(planes[1:], levels[1:]))
    thirds = contorno.mipmaps(image, filter="clamp", width=3, stop=4)
    assert thirds[1].shape[0] in (21, 22)
    chain = contorno.apply("mipmap", image, stop=8)
    assert len(chain) == 4 and all(np.array_equal(a, b) for a, b in zip(chain, levels))
    level = levels[2].copy()
    view = levels[2]
    del levels
    assert np.array_equal(view, level)


# Mean shift ------------------------------------------------------------------------------------------------------
def test_mean_shift_finds_the_clusters_of_scikit_learn():
    cluster = pytest.importorskip("sklearn.cluster")
    random = np.random.default_rng(4)
    points = np.concatenate([random.normal(centre, 0.4, (60, 2)) for centre in ((0, 0), (5, 1), (2, 6))])
    found = contorno.mean_shift(points, 1.5, kernel="flat")
    theirs = cluster.MeanShift(bandwidth=1.5).fit(points)
    assert len(found.modes) == len(theirs.cluster_centers_) == 3 and found.counts.tolist() == [60, 60, 60]
    assert len({(a, b) for a, b in zip(found.labels, theirs.labels_)}) == 3
    gaussian = contorno.mean_shift(points, 0.5, threads=2)
    assert gaussian.points.shape == points.shape and gaussian.converged and gaussian.iterations > 1
    assert np.allclose(gaussian.modes, [points[gaussian.labels == k].mean(0) for k in range(3)], atol=0.3)
    points_, labels, modes, counts, *_ = gaussian
    assert labels is gaussian.labels
    assert 0.5 < contorno.estimate_bandwidth(points) < 10
    estimate = cluster.estimate_bandwidth(points)
    assert contorno.estimate_bandwidth(points) == pytest.approx(estimate)


def test_mean_shift_of_images():
    image = picture()
    filtered = contorno.mean_shift_filter(image, 5, 20)
    assert filtered.shape == image.shape and filtered.dtype == np.uint8 and not np.array_equal(filtered, image)
    assert np.array_equal(filtered, contorno.mean_shift_filter(image, 5, 20.0, threads=2))
    flat = np.zeros((20, 30, 3), np.uint8)
    flat[:, 15:] = 200
    labels, painted = contorno.mean_shift_segment(flat, 4, 10, 5, return_image=True)
    assert labels.dtype == np.int32 and labels.shape == (20, 30)
    assert np.array_equal(labels, np.repeat([[0] * 15 + [1] * 15], 20, 0)) and np.array_equal(painted, flat)
    grey = contorno.mean_shift_segment(flat[..., 0], 4, 10, 5)
    assert np.array_equal(grey, labels)


# What is common --------------------------------------------------------------------------------------------------
def test_the_catalogue_describes_every_stage():
    catalogue = contorno.stages()
    for name in ("morphology", "hit_or_miss", "reconstruction", "mipmap", "mean_shift_filter", "mean_shift_segment", "preprocess"):
        assert catalogue[name]["summary"].endswith(".") and catalogue[name]["params"]
    assert "border : {'identity', 'replicate'" in contorno.erode.__doc__
    assert "spatial : int\n" in contorno.mean_shift_filter.__doc__ and "connectivity : {4, 8}, default 8" in contorno.reconstruct.__doc__
    for name in contorno.__all__:
        if name != "DeviceArray":
            text = getattr(contorno, name).__doc__
            assert text and not any(mark in text for mark in ("{params}", "{where}", "{place}")), name


def test_any_stage_can_be_applied():
    image = picture(40, 60)
    assert contorno.apply("preprocess", image, size=[30, 0]).shape == (20, 30, 3)
    assert np.array_equal(contorno.apply("morphology", image, operation="erosion", size=[3]), contorno.erode(image, np.ones((3, 3))))
    assert np.array_equal(contorno.apply("morphology", image, operation="erosion", size=3), contorno.erode(image, np.ones((3, 3))))
    with pytest.raises(ValueError, match=r"size is \[5000\], allowed a list of 1 to 2 numbers, each 1 to 4096 px"):
        contorno.apply("morphology", image, size=5000)
    with pytest.raises(ValueError, match="morphology"):
        contorno.apply("morpholgy", image)
    with pytest.raises(ValueError, match="contours|image|crossings"):
        contorno.apply("contour_assembly", image)


IMAGE = np.zeros((9, 9), np.uint8)
BOX = np.ones((3, 3))


@pytest.mark.parametrize("error,message,call", [
    (ValueError, "dimensions", lambda: contorno.erode(np.zeros(3, np.uint8), BOX)),
    (ValueError, "dimensions", lambda: contorno.erode(np.zeros((2, 2, 2, 2), np.uint8), BOX)),
    (ValueError, "rows", lambda: contorno.erode(np.zeros((0, 4), np.uint8), BOX)),
    (TypeError, "dtype", lambda: contorno.erode(IMAGE.astype(int), BOX)), (ValueError, "", lambda: contorno.erode(IMAGE.astype(float), BOX)),
    (TypeError, "masked", lambda: contorno.erode(np.ma.asarray(IMAGE), BOX)), (TypeError, "list", lambda: contorno.erode(IMAGE.tolist(), BOX)),
    (ValueError, "", lambda: contorno.erode(IMAGE, np.zeros((3, 3)))), (ValueError, "dimensions", lambda: contorno.erode(IMAGE, np.ones(3))),
    (TypeError, "element", lambda: contorno.erode(IMAGE, "disk")), (ValueError, "shape", lambda: contorno.erode(IMAGE, BOX, heights=np.ones((2, 2)))),
    (ValueError, "", lambda: contorno.erode(IMAGE, BOX, anchor=(5, 5))), (ValueError, "border", lambda: contorno.erode(IMAGE, BOX, border="none")),
    (TypeError, "colour", lambda: contorno.erode(IMAGE, BOX, colour=1)), (ValueError, "backend", lambda: contorno.erode(IMAGE, BOX, backend="x")),
    (ValueError, "layout", lambda: contorno.erode(IMAGE, BOX, layout="x")), (ValueError, "threads", lambda: contorno.erode(IMAGE, BOX, threads=0)),
    (ValueError, "kind", lambda: contorno.gradient(IMAGE, BOX, kind="x")), (ValueError, "element", lambda: contorno.element("star", 3)),
    (ValueError, "size", lambda: contorno.element("disk", 0)), (ValueError, "", lambda: contorno.hit_or_miss(IMAGE, BOX, BOX)),
    (ValueError, "mask", lambda: contorno.reconstruct(IMAGE, np.zeros((8, 9), np.uint8))),
    (ValueError, "", lambda: contorno.reconstruct(IMAGE, IMAGE.astype(np.uint16))), (ValueError, "method", lambda: contorno.reconstruct(IMAGE, IMAGE, method="x")),
    (ValueError, "filter", lambda: contorno.mipmaps(IMAGE, filter="x")), (ValueError, "width", lambda: contorno.mipmaps(IMAGE, filter="clamp", width=17)),
    (ValueError, "dimensions", lambda: contorno.mean_shift(np.zeros(3), 1)), (ValueError, "", lambda: contorno.mean_shift(np.full((3, 2), np.nan), 1)),
    (ValueError, "sigma", lambda: contorno.mean_shift(np.zeros((3, 2)), -1)), (ValueError, "kernel", lambda: contorno.mean_shift(np.zeros((3, 2)), 1, kernel="x")),
    (ValueError, "spatial", lambda: contorno.mean_shift_filter(IMAGE, 0, 3)), (ValueError, "", lambda: contorno.mean_shift_filter(IMAGE.astype(np.float32), 3, 3)),
    (ValueError, "no parameter|unknown|nonsense", lambda: contorno.mean_shift_filter(IMAGE, 3, 3, nonsense=1)),
])
def test_wrong_input_is_refused(error, message, call):
    with pytest.raises(error, match=message or None):
        call()


def test_references_and_memory_are_given_back():
    image = picture(200, 300)
    calls = (lambda: contorno.open(image, BOX), lambda: contorno.mipmaps(image), lambda: contorno.apply("preprocess", image, size=[90, 0]),
             lambda: contorno.mean_shift(np.zeros((50, 2)), 1.0))
    for call in calls:
        call()
    references, before = sys.getrefcount(image), resident_bytes()
    for _ in range(60):
        for call in calls:
            call()
    assert sys.getrefcount(image) == references and resident_bytes() - before < 8 << 20


def test_ctrl_c_ends_a_stage():
    out = run_python("""
import os, signal, threading
import numpy as np, contorno
image = np.random.default_rng(0).integers(0, 255, (1500, 1500, 3)).astype(np.uint8)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    contorno.mean_shift_filter(image, 20, 200)
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
print(contorno.mean_shift_filter(image[:20, :20], 2, 20).shape)
""")
    assert out.split("\n")[:2] == ["interrupted", "(20, 20, 3)"]


# Diamond-Square --------------------------------------------------------------------------------------------------
def test_diamond_square_makes_fields():
    field = contorno.diamond_square(6, 7)
    assert field.shape == (65, 65) and field.dtype == np.uint8 and field.std() > 5
    assert np.array_equal(field, contorno.diamond_square(6, 7, threads=3)) and not np.array_equal(field, contorno.diamond_square(6, 8))
    assert np.array_equal(contorno.diamond_square(6, 7, size=(20, 30), origin=(5, 9)), field[9:39, 5:25])
    cyclic = contorno.diamond_square(5, 1, domain="cyclic", dtype=np.float32)
    assert cyclic.shape == (32, 32) and 0 <= cyclic.min() and cyclic.max() <= 1
    assert contorno.diamond_square(4, channels=3, dtype=np.uint16).shape == (3, 17, 17)
    corners = contorno.diamond_square(3, corners=(0, 1, 1, 0))
    assert corners[0, 0] == corners[-1, -1] == 0 and corners[0, -1] == corners[-1, 0] == 255


@pytest.mark.parametrize("call", [
    lambda: contorno.diamond_square(0), lambda: contorno.diamond_square(17), lambda: contorno.diamond_square(3, size=(10, 10)),
    lambda: contorno.diamond_square(3, dtype=np.float64), lambda: contorno.diamond_square(3, domain="x"),
    lambda: contorno.diamond_square(3, range="x"), lambda: contorno.diamond_square(3, channels=0), lambda: contorno.diamond_square(2.5),
    lambda: contorno.diamond_square(3, corners=(1, 2)), lambda: contorno.diamond_square(3, roughness=-1),
])
def test_wrong_fields_are_refused(call):
    with pytest.raises(ValueError):
        call()
