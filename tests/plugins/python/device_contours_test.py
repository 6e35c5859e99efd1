"""Stages on contours with points on a CUDA device: read where they lie, results there on request, with the bits of the CPU.
Skipped, and counted, without a device, PyTorch or CuPy."""
import functools

import numpy as np
import pytest

from tests.plugins.python.contour_cases import ARRAYS, NEEDED, contours, flat, largest, same_arrays
from tests.plugins.python.device import FEW_IN_TORCH, MAKERS, InterfaceOnly, assert_all_is_given_back, copies, cupy, smooth, to_cupy, to_torch, torch
from tests.plugins.python.package import contorno

ON_CONTOURS = contorno._ON_CONTOURS
first = contorno.largest_first
FRAMES = [[[contours(100 * f + 10 * k + level, 12) for level in range(2)] for k in range(3)] for f in range(2)]
MAPS = smooth(70, 80, 1, (2, 6)).astype(np.float32)
"""Of as many frames and classes as any test has."""


def function_of(name):
    """The function of a stage with what has no default."""
    maps = {"maps": MAPS} if len(contorno.stages()[name]["inputs"]) > 1 else {}
    return functools.partial(ON_CONTOURS[name], **NEEDED.get(name, {}), **maps)


def on_device(arrays, maker=to_torch):
    return contorno.ContourArrays(*(maker(getattr(arrays, name)) for name in ARRAYS),
                                  {name: maker(column) for name, column in arrays.attributes.items()})


def as_on_device(arrays):
    """On the device offsets are int32."""
    return contorno.ContourArrays(arrays.points, arrays.offsets.astype(np.int32), *(getattr(arrays, name) for name in ARRAYS[2:]),
                                  arrays.attributes)


def got(arrays):
    assert arrays.on_device
    for name in ARRAYS:
        one = getattr(arrays, name)
        assert isinstance(one, contorno.DeviceArray) and np.array_equal(cupy.asarray(one).get(), one.get()), name
    return contorno.ContourArrays(*(getattr(arrays, name).get() for name in ARRAYS),
                                  {name: column.get() for name, column in arrays.attributes.items()})


@pytest.mark.parametrize("name", ON_CONTOURS)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("frames", [[[[]]], FRAMES[:1], FRAMES], ids=["none", "one frame", "frames"])
def test_every_stage_gives_the_bits_of_the_cpu(name, maker, frames):
    function, given = function_of(name), flat(frames, np.float32)
    backend = "cuda" if contorno.stages()[name]["cuda"] else "auto"
    wanted = function(given)
    for arrays in (given, on_device(given, MAKERS[maker]), on_device(flat(frames), MAKERS[maker])):
        made = function(arrays, backend=backend)
        assert not made.on_device
        same_arrays(contorno.ContourArrays(np.asarray(made.points, np.float32), *(getattr(made, one) for one in ARRAYS[1:]),
                                          made.attributes), wanted)
        same_arrays(function(arrays, backend="cpu"), made)
        same_arrays(got(function(arrays, output="device")), as_on_device(made))
    classes = [level for k in frames[0] for level in k]
    for a, b in zip(function(classes, backend=backend), function(classes), strict=True):
        assert len(a) == len(b) and all(np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(a, b))


@pytest.mark.parametrize("maker", MAKERS)
def test_an_order_that_only_the_cpu_has_is_made_there(maker):
    given = flat(FRAMES, np.float32)
    wanted = contorno.order_nearest(given, "2opt")
    same_arrays(contorno.order_nearest(on_device(given, MAKERS[maker]), "2opt"), wanted)
    with pytest.raises(ValueError, match="no CUDA implementation of order: 2opt; take greedy or endpoint, or backend: cpu"):
        contorno.order_nearest(given, "2opt", backend="cuda")


TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@pytest.mark.parametrize("maker, type_code", [(maker, code) for maker in MAKERS for code in TYPES
                                              if maker != "torch" or code not in FEW_IN_TORCH])
def test_points_of_every_type_keep_it(maker, type_code):
    whole = [[[[np.abs(one * (4 if type_code[0] != "f" else 1)) % 100 for one in contours(1, 60)]]]]
    given = flat(whole, type_code)
    for by in ("points", "length", "area"):
        wanted = first(given, by=by, limit=20)
        arrays = on_device(given, MAKERS[maker])
        same_arrays(first(arrays, by=by, limit=20), wanted)
        same_arrays(got(first(arrays, by=by, limit=20, output="device")), as_on_device(wanted))


def test_points_that_float32_cannot_hold_are_rounded_as_on_the_host():
    random = np.random.default_rng(2)
    points = [random.random((9, 2)) * scale for scale in (1e-42, 1e-3, 1, 1e5, 1e38, 1e39, 1e300)]
    points += [np.full((3, 2), np.nan), np.array([[0, np.inf], [1, 1]])]
    given = flat([[[[*points, *(one[::-1] * 1.5 for one in points)]]]])
    for by in ("points", "length", "area"):
        same_arrays(first(on_device(given), by=by), first(given, by=by))


def test_points_of_any_strides_are_read_where_they_lie():
    given = flat(FRAMES)
    wanted = first(given, limit=5)
    count = len(given.points)
    wide = torch.zeros((2 * count, 5), dtype=torch.float64, device="cuda")
    wide[::2, 1:4:2] = to_torch(given.points)
    flipped = to_cupy(np.ascontiguousarray(given.points[::-1, ::-1]))[::-1, ::-1]
    for points in (wide[::2, 1:4:2], to_torch(given.points.T.copy()).T, flipped, cupy.asfortranarray(to_cupy(given.points))):
        arrays = on_device(given)
        arrays.points = points
        same_arrays(first(arrays, limit=5), wanted)
        same_arrays(got(first(arrays, limit=5, output="device")), as_on_device(wanted))
    mixed = contorno.ContourArrays(to_torch(given.points), given.offsets, given.closed, given.class_ids, given.frame_ids, given.level_ids)
    same_arrays(first(mixed, limit=5), wanted)


def test_contours_that_were_found_on_the_device_stay_there():
    maps = np.stack([smooth(300, 400, seed) for seed in range(4)]).astype(np.float32)
    for dtype in (np.float64, np.float32):
        found = contorno.find_contours_batch(to_torch(maps), 0.5, output="device", dtype=dtype)
        wanted = first(found.get(), limit=30)
        made = first(found, limit=30, output="device")
        same_arrays(got(made), as_on_device(wanted))
        same_arrays(got(first(made, by="length", output="device")), as_on_device(first(wanted, by="length")))
        moved, kernels, _ = copies(lambda: first(found, limit=30, output="device"))
        assert any("gather_picked" in kernel for kernel in kernels)
        assert sum(size for name, size in moved if "DtoH" in name or "HtoD" in name) < 100 * len(found) + 65536


def test_lists_of_arrays_on_the_device_come_to_the_host():
    given = contours(3, 40)
    wanted = [given[i] for i in largest(given, limit=9)]
    for maker in MAKERS.values():
        made = first([maker(one) for one in given if len(one)], limit=9)
        assert len(made) == 9 and all(isinstance(a, np.ndarray) and np.array_equal(a, b) for a, b in zip(made, wanted))
    made = got(first(given, limit=9, output="device"))
    same_arrays(made, as_on_device(flat([[[[wanted[i] for i in range(9)]]]])))


def test_points_that_a_stage_computes_stay_as_float32(monkeypatch):
    core, given = contorno._contours._core.apply_to_contours, flat(FRAMES)
    wanted = first(flat(FRAMES, np.float32), limit=4)

    def computing(stage, params, points, at, offsets, closed, begin, *where):
        _, offsets_, closed_, begin_, sources, attributes = core(stage, params, points, at, offsets, closed, begin, *where)
        picked = contorno._core.gather_on_device(points, at + offsets[sources], offsets_, None)
        return contorno._core.to_device(picked.get().astype(np.float32), points, None), offsets_, closed_, begin_, None, attributes

    monkeypatch.setattr(contorno._contours._core, "apply_to_contours", computing)
    for arrays in (on_device(given), on_device(flat(FRAMES, np.float32))):
        same_arrays(first(arrays, limit=4), wanted)
        same_arrays(got(first(arrays, limit=4, output="device")), as_on_device(wanted))


def test_streams_and_wrong_arguments():
    given = flat(FRAMES)
    wanted = first(given, limit=5)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        arrays = on_device(given)
        same_arrays(first(arrays, limit=5), wanted)
    same_arrays(first(arrays, limit=5, stream=stream), wanted)
    for error, points in ((ValueError, arrays.points[:-1]), (ValueError, arrays.points[:, :1]), (ValueError, arrays.points[0]),
                          (TypeError, arrays.points > 3), (TypeError, arrays.points.to(torch.complex64)),
                          (ValueError, InterfaceOnly(to_cupy(given.points), data=(0, False)))):
        wrong = on_device(given)
        wrong.points = points
        with pytest.raises(error):
            first(wrong)
    same_arrays(first(arrays, limit=5), wanted)


def test_references_and_device_memory_are_given_back():
    arrays = on_device(flat(FRAMES))

    def calls(count):
        for _ in range(count):
            first(arrays, limit=5)
            torch.from_dlpack(first(arrays, limit=5, output="device").points)
            with pytest.raises(ValueError):
                first(arrays, by="wide")

    assert_all_is_given_back(calls, (arrays.points, arrays.offsets), 20, 60)
