"""contorno.find_contours_batch: every plane, level and frame as find_contours gives it, in lists or flat arrays."""
import gc
import sys

import numpy as np
import pytest

from tests.plugins.python.package import contorno, resident_bytes, run_python
from tests.stages.contours.fields import same_bits, smooth

batch, single = contorno.find_contours_batch, contorno.find_contours


def stack(frames, planes, height, width, seed=0):
    random = np.random.default_rng(seed)
    return np.stack([[smooth(random, (height, width), 2.0) for _ in range(planes)] for _ in range(frames)])


def same(got, wanted):
    assert len(got) == len(wanted)
    assert all(a.dtype == b.dtype and same_bits(a, b) for a, b in zip(got, wanted))


@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("element", [np.float64, np.float32, np.float16, np.uint8, np.int16])
def test_planes_frames_and_levels_nest_and_equal_single_calls(layout, threads, element):
    maps = stack(3, 5, 23, 31)
    maps = (200 * maps).astype(element) if np.dtype(element).kind in "iu" else maps.astype(element)
    scale = 200.0 if np.dtype(element).kind in "iu" else 1.0
    given = maps if layout == "CHW" else np.ascontiguousarray(np.moveaxis(maps, 1, -1))
    levels = scale * np.array([[0.4, 0.5], [0.3, 0.6], [0.1, 0.9], [0.5, 0.5], [0.45, 2]])
    nested = batch(given, levels, layout=layout, threads=threads)
    assert len(nested) == 3 and all(len(frame) == 5 and all(len(plane) == 2 for plane in frame) for frame in nested)
    for frame in range(3):
        for plane in range(5):
            for level in range(2):
                same(nested[frame][plane][level], single(maps[frame, plane], levels[plane, level]))
    for frame, planes in enumerate(batch(given, levels[:, 0], layout=layout, threads=threads)):
        for plane in range(5):
            same(planes[plane], single(maps[frame, plane], levels[plane, 0]))


def test_dimensions_decide_the_nesting():
    maps = stack(2, 3, 9, 11)
    same(batch(maps[0, 0], 0.5), single(maps[0, 0], 0.5))
    planes = batch(maps[0], 0.5)
    assert len(planes) == 3
    same(planes[2], single(maps[0, 2], 0.5))
    two = batch(maps[0, 0], [[0.4, 0.5]])
    assert len(two) == 2
    same(two[1], single(maps[0, 0], 0.5))
    same(batch(maps, [[0.4, 0.5]])[1][2][0], single(maps[1, 2], 0.4))
    for one in (batch(maps[0, 0], [0.5]), batch(maps[0, 0], [[0.5]])):
        assert len(one) == 1
        same(one[0], single(maps[0, 0], 0.5))


@pytest.mark.parametrize("element", [np.float64, np.float32, np.float16, np.uint8, np.int16])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_plane_takes_a_sequence_of_levels_in_any_order(element, threads):
    plane = (200 * stack(1, 1, 71, 150)[0, 0]).astype(element)
    levels = [120, 40, 100.5, 40, 199, float("nan"), 1e300, -1, *np.linspace(0, 200, 60)]
    nested = batch(plane, levels, threads=threads)
    assert len(nested) == len(levels)
    for got, level in zip(nested, levels):
        same(got, single(plane, level))
    flat = batch(plane, tuple(levels), threads=threads, flat=True)
    assert (flat.level_ids == np.repeat(np.arange(len(levels)), [len(one) for one in nested])).all()
    same(list(flat), [contour for one in nested for contour in one])


def test_a_thousand_levels_have_the_points_of_contourpy():
    contourpy = pytest.importorskip("contourpy")
    row, column = np.mgrid[0:90, 0:140]
    plane = np.hypot(row - 30.2, column - 55.7)
    levels = np.linspace(0.05, 110, 1000)
    peer = contourpy.contour_generator(z=plane, name="serial")
    for level, found in zip(levels, batch(plane, levels)):
        # As sets: lines begin, and so repeat a point, elsewhere.
        ours, theirs = (np.unique(np.concatenate([np.zeros((0, 2)), *lines]).round(7), axis=0)
                        for lines in ([one[:, ::-1] for one in found], peer.lines(level)))
        assert np.array_equal(ours, theirs)


def test_levels_with_masks_and_holes_equal_scikit_image():
    measure = pytest.importorskip("skimage.measure")
    random = np.random.default_rng(3)
    plane = random.integers(0, 6, (60, 130)).astype(float)
    plane[random.random(plane.shape) < 0.02] = np.nan
    mask = random.random(plane.shape) < 0.95
    levels = [0.5, 1, 2, 2.5, 3, 5]
    for found, level in zip(batch(plane, levels, mask=mask, fully_connected="high"), levels):
        same(found, measure.find_contours(plane, level, fully_connected="high", mask=mask))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, "float32", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3)])
@pytest.mark.parametrize("per_plane", [1, 2])
def test_flat_arrays_hold_all_contours_in_order(dtype, shape, per_plane):
    maps = stack(*shape, 40, 50)
    levels = np.linspace(0.3, 0.7, shape[1] * per_plane).reshape(shape[1], per_plane)
    flat = batch(maps, levels if per_plane > 1 else levels[:, 0], flat=True, dtype=dtype)
    assert isinstance(flat, contorno.ContourArrays)
    assert flat.points.dtype == np.dtype(dtype) and flat.offsets.dtype == np.int64 and flat.closed.dtype == bool
    index = 0
    for frame in range(shape[0]):
        for plane in range(shape[1]):
            for level in range(per_plane):
                for contour in single(maps[frame, plane], levels[plane, level]):
                    assert same_bits(flat[index], contour.astype(dtype))
                    assert (flat.frame_ids[index], flat.class_ids[index], flat.level_ids[index]) == (frame, plane, level)
                    assert flat.closed[index] == np.array_equal(contour[0], contour[-1])
                    index += 1
    assert len(flat) == index == len(flat.closed) and flat.offsets[-1] == len(flat.points) and flat.offsets[0] == 0
    assert len(list(flat)) == index and same_bits(flat[-1], flat[index - 1]) and len(flat[1:3]) == 2
    with pytest.raises(IndexError):
        flat[index]
    assert "contours" in repr(flat)


def test_flat_arrays_share_memory_that_lives_as_long_as_any_of_them():
    flat = batch(stack(1, 2, 60, 60), 0.5, flat=True)
    assert not flat.points.flags.owndata and flat.points.base is not None and flat.points.flags.writeable
    copy, view = flat.points.copy(), flat[0]
    points = flat.points
    del flat
    gc.collect()
    batch(stack(1, 2, 60, 60, seed=1), 0.5, flat=True)
    assert np.array_equal(points, copy) and np.array_equal(view, copy[:len(view)])


def test_options_reach_every_plane():
    maps, mask = stack(2, 3, 30, 34), np.random.default_rng(1).random((30, 34)) < 0.95
    options = {"fully_connected": "high", "positive_orientation": "high", "mask": mask}
    for frame, planes in enumerate(batch(maps, 0.5, **options)):
        for plane, contours in enumerate(planes):
            same(contours, single(maps[frame, plane], 0.5, **options))
    long = batch(maps, 0.5, min_points=12, flat=True)
    assert 0 < len(long) < len(batch(maps, 0.5, flat=True)) and np.diff(long.offsets).min() >= 12
    bytes_ = (255 * maps).astype(np.uint8)
    assert [len(plane) for plane in batch(bytes_[0], 0.5, divisor=255)] == [len(plane) for plane in batch(bytes_[0], 127.5)]


def test_strides_are_read_in_place_or_copied():
    maps = stack(2, 3, 20, 24)
    wanted = batch(maps, 0.5, flat=True)
    wide = np.zeros((4, 6, 40, 48))
    wide[::2, ::2, ::2, ::2] = maps
    for one in (wide[::2, ::2, ::2, ::2], maps[:, ::-1][:, ::-1], np.asfortranarray(maps), maps[:, :, ::-1].copy()[:, :, ::-1]):
        got = batch(one, 0.5, flat=True)
        assert np.array_equal(got.points, wanted.points) and np.array_equal(got.class_ids, wanted.class_ids)
    same_plane = np.broadcast_to(maps[0, 0], (2, 3, 20, 24))
    repeated = batch(same_plane, 0.5)
    same(repeated[1][2], single(maps[0, 0], 0.5))


def test_planes_without_contours_have_empty_lists():
    nested = batch(np.zeros((2, 3, 5, 5)), 0.5)
    assert nested == [[[], [], []], [[], [], []]]
    flat = batch(np.zeros((3, 5, 5)), 0.5, flat=True)
    assert len(flat) == 0 and flat.points.shape == (0, 2) and flat.offsets.tolist() == [0] and list(flat) == []
    assert batch(np.ones((2, 5, 5)), np.nan, flat=True).points.shape == (0, 2)


MAPS = np.zeros((2, 4, 5))


@pytest.mark.parametrize("error,message,maps,levels,options", [
    (ValueError, "dimensions", np.zeros(5), 0.5, {}), (ValueError, "dimensions", np.float64(1), 0.5, {}),
    (ValueError, "dimensions", np.zeros((2,) * 5), 0.5, {}), (ValueError, "rows", np.zeros((2, 1, 5)), 0.5, {}),
    (ValueError, "rows", np.zeros((2, 5, 1)), 0.5, {}), (ValueError, "planes", np.zeros((0, 5, 5)), 0.5, {}),
    (ValueError, "frames", np.zeros((0, 2, 5, 5)), 0.5, {}), (ValueError, "levels", MAPS, [0.1, 0.2, 0.3], {}),
    (ValueError, "empty", MAPS[0], [], {}), (ValueError, "65534", MAPS[0], np.zeros(65535), {}),
    (ValueError, "levels", MAPS, np.zeros((3, 1)), {}), (ValueError, "empty", MAPS, np.zeros((2, 0)), {}),
    (ValueError, "dimensions", MAPS, np.zeros((2, 1, 1)), {}), ((TypeError, ValueError), "", MAPS, "high", {}),
    ((TypeError, ValueError), "", MAPS, None, {}), (ValueError, "layout", MAPS, 0.5, {"layout": "WHC"}),
    (ValueError, "layout", MAPS, 0.5, {"layout": ["CHW"]}), (ValueError, "dtype", MAPS, 0.5, {"dtype": np.float16}),
    (TypeError, "", MAPS, 0.5, {"dtype": "what"}), (ValueError, "mask", MAPS, 0.5, {"mask": np.ones((2, 4, 5), bool)}),
    (TypeError, "mask", MAPS, 0.5, {"mask": np.ones((4, 5), np.int8)}), (ValueError, "divisor", MAPS, 0.5, {"divisor": 0}),
    (ValueError, "divisor", MAPS, 0.5, {"divisor": np.nan}), (ValueError, "divisor", MAPS, 0.5, {"divisor": 255}),
    (ValueError, "min_points", MAPS, 0.5, {"min_points": -1}),
    (ValueError, "threads", MAPS, 0.5, {"threads": 0}), (ValueError, "backend", MAPS, 0.5, {"backend": "tpu"}),
    (TypeError, "masked", np.ma.ones((2, 4, 5)), 0.5, {}), (TypeError, "complex", MAPS.astype(complex), 0.5, {}),
    (ValueError, "fully_connected", MAPS, 0.5, {"fully_connected": "both"}),
])
def test_wrong_input_is_refused(error, message, maps, levels, options):
    with pytest.raises(error, match=message):
        batch(maps, levels, **options)


def test_references_and_memory_are_given_back():
    maps = stack(2, 4, 80, 80).astype(np.float32)

    def calls(count):
        for _ in range(count):
            batch(maps, 0.5)
            batch(maps, [[0.4, 0.6]], flat=True)
            with pytest.raises(ValueError):
                batch(maps, 0.5, mask=np.ones((1, 1), bool))
        gc.collect()

    calls(10)
    references, before = sys.getrefcount(maps), resident_bytes()
    calls(60)
    assert sys.getrefcount(maps) == references and resident_bytes() - before < 8 << 20


def test_ctrl_c_ends_a_batch():
    out = run_python("""
import os, signal, threading
import numpy as np, contorno
maps = np.random.default_rng(0).random((40, 700, 700), np.float32)
threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    contorno.find_contours_batch(maps, 0.5)
    print("finished")
except KeyboardInterrupt:
    print("interrupted")
""")
    assert out.strip() == "interrupted"
