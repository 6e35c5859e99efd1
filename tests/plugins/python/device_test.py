"""find_contours and find_contours_batch with arrays on a CUDA device: PyTorch and CuPy in, equal results, no copy. Skipped, and
counted, without a device or these packages."""
import concurrent.futures
import gc

import numpy as np
import pytest

from tests.plugins.python.contour_cases import ARRAYS
from tests.plugins.python.device import (FEW_IN_TORCH, MAKERS, InterfaceOnly, assert_all_is_given_back, copies, cupy, smooth, to_cupy, to_torch,
                                         torch)
from tests.plugins.python.package import contorno, run_python

find_contours, batch = contorno.find_contours, contorno.find_contours_batch


def same(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("maker, type_code", [(maker, code) for maker in MAKERS
                                              for code in ["?", "u1", "u2", "f2", "f4", "f8", "i1", "i2", "i4", "i8", "u4", "u8"]
                                              if maker != "torch" or code not in FEW_IN_TORCH])
def test_every_type_gives_the_contours_of_the_cpu(maker, type_code):
    random = np.random.default_rng(1)
    for shape in ((2, 2), (7, 5), (33, 65), (200, 131)):
        values = random.integers(0, 2 if type_code == "?" else 20, shape)
        image = (values + (0.25 if type_code[0] == "f" else 0)).astype(type_code)
        given = MAKERS[maker](image)
        for level in (0.5, 4.0, 7.25, None):
            same(find_contours(given, level), find_contours(image, level, backend="cpu"))


@pytest.mark.parametrize("maker", MAKERS)
def test_options_and_masks_work_on_the_device(maker):
    image, mask = smooth(90, 120), np.random.default_rng(2).random((90, 120)) < 0.95
    image[3, 4:20] = np.nan
    for connected in ("low", "high"):
        for orientation in ("low", "high"):
            options = {"fully_connected": connected, "positive_orientation": orientation}
            wanted = find_contours(image, 0.5, **options, mask=mask)
            same(find_contours(MAKERS[maker](image), 0.5, **options, mask=MAKERS[maker](mask)), wanted)
            same(find_contours(MAKERS[maker](image), 0.5, **options, mask=mask), wanted)
            same(find_contours(image, 0.5, **options, mask=mask, backend="cuda"), wanted)
            same(find_contours(MAKERS[maker](image), 0.5, **options, mask=MAKERS[maker](mask), backend="cpu"), wanted)
            same(find_contours(MAKERS[maker](image), **options), find_contours(image, **options))


def test_memory_orders_are_read_or_put_in_order():
    image = smooth(64, 80).astype(np.float32)
    wanted = find_contours(image, 0.5)
    wide = torch.zeros((128, 161), device="cuda")
    wide[::2, 1::2] = to_torch(image)
    flipped = cupy.asarray(np.ascontiguousarray(image[::-1, ::-1]))
    for one in (to_torch(image.T.copy()).T, wide[::2, 1::2], flipped[::-1, ::-1], cupy.asfortranarray(cupy.asarray(image)),
                torch.nn.functional.pad(to_torch(image), (3, 6, 1, 2))[1:65, 3:83], to_torch(image)[None, ..., None][0, :, :, 0]):
        same(find_contours(one, 0.5), wanted)
    same(find_contours(cupy.broadcast_to(cupy.asarray(image[:1]), (9, 80)), 0.5), find_contours(np.broadcast_to(image[:1], (9, 80)), 0.5))


def test_noise_and_large_images_fit_after_growing():
    for shape in ((300, 300), (1100, 1700)):
        image = np.random.default_rng(3).random(shape).astype(np.float32)
        given = to_torch(image)
        for _ in range(2):
            same(find_contours(given, 0.5), find_contours(image, 0.5, backend="cpu"))


@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("element", [np.float32, np.uint8, np.float16])
def test_batches_equal_those_of_the_cpu(layout, dtype, element):
    maps = smooth(40, 70, 4, (3, 5))
    maps = (255 * maps).astype(np.uint8) if element == np.uint8 else maps.astype(element)
    if layout == "HWC":
        maps = np.ascontiguousarray(np.moveaxis(maps, 1, -1))
    divisor = 255 if element == np.uint8 else 1
    options = {"layout": layout, "dtype": dtype, "divisor": divisor, "min_points": 4}
    for levels in (0.5, [0.3, 0.4, 0.5, 0.6, 0.7], [[0.4, 0.5, 0.6]]):
        wanted = batch(maps, levels, flat=True, backend="cpu", **options)
        for given in (to_torch(maps), to_cupy(maps), maps, to_torch(maps)[:, ::1]):
            got = batch(given, levels, flat=True, backend="cuda", **options)
            for name in ARRAYS:
                a, b = getattr(got, name), getattr(wanted, name)
                assert a.dtype == b.dtype and np.array_equal(a, b), name
        nested, expected = batch(to_torch(maps), levels, **options), batch(maps, levels, backend="cpu", **options)
        assert str(nested) == str(expected)


def test_results_stay_on_the_device_and_are_read_without_a_copy():
    maps = smooth(95, 511, 5, (2, 8)).astype(np.float32)
    levels = np.linspace(0.3, 0.7, 8)
    for given, flat_levels in ((to_torch(maps), levels), (to_torch(maps)[0], levels), (to_torch(maps)[0, 0], [[0.4, 0.5, 0.6]]),
                               (to_cupy(np.ascontiguousarray(np.moveaxis(maps[0], 0, -1))), levels)):
        layout = "HWC" if given.shape[-1] == 8 else "CHW"
        found = batch(given, flat_levels, layout=layout, output="device")
        assert found.on_device and "device" in repr(found)
        host = found.get()
        wanted = batch(given, flat_levels, layout=layout, flat=True)
        for name in ARRAYS:
            array = getattr(found, name)
            tensor = torch.from_dlpack(array)
            address = array.__cuda_array_interface__["data"][0]
            assert tensor.data_ptr() == address == cupy.asarray(array).data.ptr == cupy.from_dlpack(array).data.ptr
            assert tuple(tensor.shape) == array.shape and len(array) == tensor.shape[0]
            assert np.array_equal(tensor.cpu().numpy(), getattr(wanted, name)), name
            assert np.array_equal(getattr(host, name), getattr(wanted, name)) and np.array_equal(np.asarray(array), array.get())
        points, copy = torch.from_dlpack(found.points), torch.from_dlpack(found.points).clone()
        del found, array, tensor
        gc.collect()
        for _ in range(3):
            batch(given, np.asarray(flat_levels) + 0.01, layout=layout, output="device")
        assert torch.equal(points, copy)
    with pytest.raises(TypeError, match="get"):
        batch(to_torch(maps), levels, output="device")[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("shape", [(90, 70), (3, 90, 70), (2, 3, 90, 70), (4, 1, 40, 33)])
def test_several_levels_of_several_planes_and_frames_stay_on_the_device(shape, layout, dtype):
    maps = smooth(*shape[-2:], 3, shape[:-2]).astype(np.float32)
    if layout == "HWC":
        maps = np.ascontiguousarray(np.moveaxis(maps, -3, -1)) if maps.ndim > 2 else maps
    planes = shape[-3] if len(shape) > 2 else 1
    mask = np.random.default_rng(3).random(shape[-2:]) < 0.97
    for levels in (0.5, np.linspace(0.3, 0.6, planes), [[0.4, 0.5, 0.6]], np.linspace(0.1, 0.9, planes * 2).reshape(planes, 2),
                   [[2.0, 0.5]], [[0.5, 2.0]], 2.0):
        options = {"layout": layout, "dtype": dtype, "min_points": 5, "mask": mask}
        wanted = batch(maps, levels, flat=True, backend="cpu", **options)
        for given in (to_torch(maps), to_cupy(maps)[...], maps):
            got = batch(given, levels, output="device", **options).get()
            for name in ARRAYS:
                a, b = getattr(got, name), getattr(wanted, name)
                assert a.dtype == b.dtype and np.array_equal(a, b), (name, levels)


@pytest.mark.parametrize("count", [2, 7, 300])
def test_any_number_of_levels_in_any_order_are_found_in_one_run(count):
    image = smooth(190, 260).astype(np.float32)
    image[5, 9:40] = np.nan
    levels = np.random.default_rng(4).permutation(np.linspace(0.1, 0.9, count))
    levels[-1] = levels[0]
    for given_levels in (levels, np.append(levels, np.nan)):
        wanted = batch(image, given_levels, flat=True, backend="cpu")
        assert len(np.unique(wanted.level_ids)) > min(count, 100) // 3
        for given in (to_torch(image), to_cupy(image)):
            for options in ({"output": "device"}, {"flat": True}):
                got = batch(given, given_levels, **options).get()
                for name in ARRAYS:
                    assert np.array_equal(getattr(got, name), getattr(wanted, name)), name
            nested = batch(given, given_levels)
            assert [len(one) for one in nested] == list(np.bincount(wanted.level_ids, minlength=len(given_levels)))


def test_what_cannot_stay_on_the_device_says_so():
    with pytest.raises(ValueError, match="cpu|cuda"):
        batch(to_torch(smooth(9, 9)), 0.5, backend="cpu", output="device")


def test_work_is_done_on_the_stream_of_the_caller():
    image = smooth(200, 300).astype(np.float32)
    wanted, source = find_contours(image, 0.5), to_torch(image)
    side = torch.cuda.Stream()
    for _ in range(5):
        given = torch.zeros_like(source)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)  # about 10 ms: what follows is not done when the call begins
            given.copy_(source)
            same(find_contours(given, 0.5), wanted)
        given.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)
            given.copy_(source)
        for stream in (side, side.cuda_stream):
            assert len(batch(given, 0.5, stream=stream)) == len(wanted)
    other = cupy.cuda.Stream(non_blocking=True)
    with other:
        array = cupy.asarray(image)
        same(find_contours(array, 0.5), wanted)
    same(batch(InterfaceOnly(array, stream=other.ptr), 0.5), wanted)
    with pytest.raises(TypeError, match="stream"):
        batch(source, 0.5, stream="mine")


def test_a_trace_shows_that_no_sample_is_copied():
    maps = to_torch(smooth(512, 512, 6, (8,)).astype(np.float32))
    batch(maps, 0.5, output="device")
    moved, kernels, _ = copies(lambda: batch(maps, 0.5, output="device"))
    print("copies:", moved, "kernels:", [name.split("(")[0][-60:] for name in kernels])
    assert any("trace" in name or "place_points" in name for name in kernels)
    assert sum(size for _, size in moved) <= 64 and all("DtoH" in name or "Device -> P" in name for name, _ in moved)
    moved, _, _ = copies(lambda: batch(maps, 0.5, flat=True))
    assert not any("HtoD" in name or "DtoD" in name for name, _ in moved)


def lying():
    good = cupy.asarray(smooth(20, 30))
    address = good.__cuda_array_interface__["data"][0]
    host = np.zeros((20, 30))
    return good, {
        "null": {"data": (0, False)}, "host": {"data": (host.ctypes.data, False)}, "nowhere": {"data": (12345678, False)},
        "high": {"data": (2**64 - 8, False)}, "negative": {"data": (-8, False)}, "beyond": {"data": (2**70, False)},
        "unaligned": {"data": (address + 1, False)}, "too large": {"shape": (60000, 60000)},
        "enormous": {"shape": (2**40, 2**40)}, "negative side": {"shape": (-20, 30)}, "no shape": {"shape": None},
        "side of text": {"shape": ("20", 30)}, "one side": {"shape": (600,)}, "five sides": {"shape": (1, 1, 1, 20, 30)},
        "far strides": {"strides": (2**40, 8)}, "backwards": {"strides": (-(2**40), 8)}, "few strides": {"strides": (8,)},
        "text strides": {"strides": "C"}, "complex": {"typestr": "<c16"}, "big-endian": {"typestr": ">f8"},
        "long": {"typestr": "<f16"}, "objects": {"typestr": "|O8"}, "no type": {"typestr": ""}, "type 8": {"typestr": 8},
        "masked": {"mask": good}, "stream 0": {"stream": 0}, "text stream": {"stream": "7"}, "data of text": {"data": "here"},
        "half the data": {"data": (address,)},
    }


@pytest.mark.parametrize("lie", lying()[1])
def test_a_cuda_array_interface_that_lies_is_refused(lie):
    good, lies = lying()
    same(find_contours(InterfaceOnly(good), 0.5), find_contours(good, 0.5))
    with pytest.raises((TypeError, ValueError)):
        find_contours(InterfaceOnly(good, **lies[lie]), 0.5)
    same(find_contours(good, 0.5), find_contours(good.get(), 0.5))  # and the device still works


@pytest.mark.parametrize("missing", ["shape", "typestr", "data", "version"])
def test_an_interface_that_lacks_a_key_is_refused(missing):
    one = InterfaceOnly(cupy.zeros((4, 4)))
    del one.__cuda_array_interface__[missing]
    with pytest.raises(ValueError, match=missing):
        find_contours(one, 0.5)


def test_memory_that_was_freed_is_refused():
    pointer = cupy.cuda.runtime.malloc(1 << 24)
    one = InterfaceOnly(cupy.zeros((20, 30)), data=(pointer, False))
    find_contours(one, 0.5)
    cupy.cuda.runtime.free(pointer)
    with pytest.raises(ValueError, match="memory"):
        find_contours(one, 0.5)


class LyingDlpack:
    def __init__(self, capsule, device=(2, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **options):
        return self.capsule() if callable(self.capsule) else self.capsule

    def __dlpack_device__(self):
        return self.device


def test_dlpack_that_lies_is_refused():
    host = torch.zeros(4, 4)
    for capsule in (lambda: host.__dlpack__(), None, 3, lambda: torch.zeros(4, 4, device="cuda").to(torch.bfloat16).__dlpack__()):
        with pytest.raises((TypeError, ValueError)):
            find_contours(LyingDlpack(capsule), 0.5)
    used = torch.zeros(4, 4, device="cuda").__dlpack__()
    torch.from_dlpack(LyingDlpack(used))
    with pytest.raises(TypeError):
        find_contours(LyingDlpack(used), 0.5)


@pytest.mark.parametrize("error,make", [
    (ValueError, lambda: torch.zeros(4, device="cuda")), (ValueError, lambda: torch.zeros(4, 4, 4, device="cuda")),
    (ValueError, lambda: torch.zeros((), device="cuda")), (ValueError, lambda: torch.zeros(1, 9, device="cuda")),
    (ValueError, lambda: torch.zeros(0, 9, device="cuda")), (TypeError, lambda: torch.zeros(4, 4, device="cuda", dtype=torch.complex64)),
    (TypeError, lambda: torch.zeros(4, 4, device="cuda", dtype=torch.bfloat16)),
    (ValueError, lambda: torch.zeros(4, 4, device="cuda", requires_grad=True)),
])
def test_wrong_tensors_are_refused(error, make):
    with pytest.raises(error):
        find_contours(make(), 0.5)


def test_wrong_masks_are_refused():
    image = torch.zeros(4, 5, device="cuda")
    for error, mask in ((ValueError, torch.ones(5, 4, dtype=torch.bool, device="cuda")), (TypeError, torch.ones(4, 5, device="cuda")),
                        (TypeError, torch.ones(4, 5, dtype=torch.uint8, device="cuda")), (TypeError, np.ones((4, 5), np.uint8))):
        with pytest.raises(error):
            find_contours(image, 0.5, mask=mask)


def test_eight_threads_with_streams_of_their_own():
    images = [smooth(100 + i, 120, i).astype(np.float32) for i in range(8)]
    wanted = [find_contours(image, 0.5) for image in images]
    tensors = [to_torch(image) for image in images]
    torch.cuda.synchronize()

    def work(index):
        with torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(30):
                image = (index + turn) % 8
                same(find_contours(tensors[image] if turn % 3 else images[image], 0.5, backend="cuda"), wanted[image])
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_references_and_device_memory_are_given_back():
    maps = to_torch(smooth(300, 400, 7, (4,)).astype(np.float32))
    array = to_cupy(smooth(300, 400))
    bad = InterfaceOnly(array, data=(0, False))

    def calls(count):
        for _ in range(count):
            find_contours(array, 0.5)
            torch.from_dlpack(batch(maps, 0.5, output="device").points)
            batch(maps, 0.5, flat=True, stream=torch.cuda.Stream())
            cupy.asarray(batch(maps, 0.5, output="device").closed)
            batch(maps, 0.5, output="device").points.__dlpack__()
            with pytest.raises(ValueError):
                find_contours(bad, 0.5)

    assert_all_is_given_back(calls, (maps, array, bad), 30, 100)


def test_a_process_forked_after_cuda_is_told():
    out = run_python("""
import os
import numpy as np, contorno
image = np.random.default_rng(0).random((90, 90))
wanted = contorno.find_contours(image, 0.5, backend="cuda")
child = os.fork()
if child == 0:
    try:
        contorno.find_contours(image, 0.5, backend="cuda")
    except RuntimeError as error:
        same = len(contorno.find_contours(image, 0.5)) == len(wanted)
        os._exit(0 if same and "spawn" in str(error) else 3)
    finally:
        os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out.strip().endswith("0")
