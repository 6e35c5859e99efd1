"""Maps on a CUDA device, pushed to a Pipeline: read where they lie, in the order of the caller's stream, with the bits of maps of the
host. Skipped, and counted, without a device, PyTorch or CuPy."""
import numpy as np
import pytest

from tests.plugins.python.device import FEW_IN_TORCH, MAKERS, assert_all_is_given_back, copies, cupy, smooth, to_cupy, to_torch, torch
from tests.plugins.python.package import contorno

CLASSES, FRAMES = 4, 6
GRAPH = {"classes": [{"name": f"c{number}"} for number in range(CLASSES)], "stages": ["contours"]}


def maps_of(seed, dtype="f4", sides=(97, 131)):
    field = smooth(*sides, seed=seed, planes=(CLASSES,))
    dtype = np.dtype(dtype)
    if dtype.kind == "i":  # of which a contour's level is 0.5
        return (field > 0.5).astype(dtype)
    return (field * np.iinfo(dtype).max).astype(dtype) if dtype.kind == "u" else field.astype(dtype)


def run(arrays, layout="CHW", **overrides):
    """Points, offsets and classes of each frame."""
    found = []
    with contorno.Pipeline(GRAPH, layout=layout, **overrides) as pipeline:
        for array in arrays:
            pipeline.push(maps=array)
            contours = pipeline.pop().contours
            found.append([np.array(part) for part in (contours.points, contours.offsets, contours.class_ids)])
        report = pipeline.finish()
    return found, report


def assert_same(one, other):
    assert len(one) == len(other)
    for parts in zip(one, other):
        for mine, theirs in zip(*parts):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize(("maker", "dtype"), [(maker, dtype) for maker in MAKERS for dtype in ("f2", "f4", "f8", "u1", "u2", "i4")
                                              if maker != "torch" or dtype not in FEW_IN_TORCH])
def test_maps_of_a_device_give_the_bits_of_the_host(maker, layout, dtype):
    arrays = [maps_of(seed, dtype) for seed in range(FRAMES)]
    if layout == "HWC":
        arrays = [np.ascontiguousarray(np.moveaxis(array, 0, -1)) for array in arrays]
    host, report = run(arrays, layout, backend="cuda")
    assert report["backend"] == "cuda" and sum(len(frame[0]) for frame in host) > 1000
    assert_same(run([MAKERS[maker](array) for array in arrays], layout, backend="cuda")[0], host)
    assert_same(run(arrays, layout, backend="cpu")[0], host)


@pytest.mark.parametrize("maker", [to_torch, to_cupy])
def test_parts_of_arrays_are_read_with_their_strides(maker):
    whole = [maps_of(seed, sides=(120, 150)) for seed in range(2)]
    cuts = {"rows": np.s_[:, 7:101, 9:140], "every second": np.s_[:, ::2, ::2], "one plane": np.s_[1:2]}
    graph = dict(GRAPH)
    for name, cut in cuts.items():
        graph["classes"] = GRAPH["classes"][:1] if name == "one plane" else GRAPH["classes"]
        results = []
        for make in (np.asarray, maker):
            with contorno.Pipeline(graph, backend="cuda") as pipeline:
                for array in whole:
                    pipeline.push(maps=make(array)[cut])
                results.append([np.array(pipeline.pop().contours.points) for _ in whole])
        for mine, theirs in zip(*results):
            np.testing.assert_array_equal(mine, theirs)


def test_maps_are_not_copied_to_the_host_nor_uploaded():
    arrays = [maps_of(seed) for seed in range(FRAMES)]
    on_device = [to_torch(array) for array in arrays]
    with contorno.Pipeline(GRAPH, backend="cuda") as pipeline:
        def work():
            for array in on_device:
                pipeline.push(maps=array)
                pipeline.pop()
        work()  # memory for contours has grown
        moved, _, _ = copies(work)
    maps = arrays[0].nbytes
    uploads = [count for name, count in moved if "HtoD" in name]
    downloads = [count for name, count in moved if "DtoH" in name]
    inside = [count for name, count in moved if "DtoD" in name]
    assert sum(uploads) < maps // 8 and max(downloads, default=0) < maps
    assert inside.count(maps // CLASSES) == CLASSES * FRAMES  # to the slot, plane after plane


def test_maps_come_behind_the_work_on_their_stream():
    arrays = [maps_of(seed, sides=(200, 300)) for seed in range(FRAMES)]
    reference, _ = run(arrays, backend="cuda")
    with cupy.cuda.Stream(non_blocking=True):
        busy = cupy.random.rand(3000, 3000, dtype=cupy.float32)
        target = cupy.zeros(arrays[0].shape, np.float32)
        found = []
        with contorno.Pipeline(GRAPH, backend="cuda") as pipeline:
            for array in arrays:
                source = cupy.asarray(array)
                for _ in range(4):
                    busy = busy @ busy / 3000
                target[...] = source  # behind all that
                pipeline.push(maps=target)
                target[...] = 0  # was read before
                contours = pipeline.pop().contours
                found.append([np.array(part) for part in (contours.points, contours.offsets, contours.class_ids)])
    assert_same(found, reference)


def test_maps_of_the_host_and_of_a_device_may_take_turns():
    arrays = [maps_of(seed) for seed in range(FRAMES)]
    reference, _ = run(arrays, backend="cuda")
    for first in (0, 1):
        mixed = [to_torch(array) if number % 2 == first else array for number, array in enumerate(arrays)]
        assert_same(run(mixed, backend="cuda")[0], reference)
    assert_same(run([to_cupy(array) for array in arrays], backend="cpu")[0], reference)


def test_another_size_may_follow_and_memory_is_given_back():
    arrays = [maps_of(0), maps_of(1, sides=(61, 77)), maps_of(2)]
    on_device = [to_torch(array) for array in arrays]
    assert_same(run(on_device, backend="cuda")[0], run(arrays, backend="cuda")[0])

    def calls(rounds):
        for _ in range(rounds):
            run(on_device, backend="cuda")
    assert_all_is_given_back(calls, on_device, 2, 4)
