"""The image stages with arrays on a CUDA device: read where they lie, on the caller's stream, results there on request, with
the bits of the CPU. Skipped, and counted, without a device, PyTorch or CuPy."""
import concurrent.futures
import gc

import numpy as np
import pytest

from tests.plugins.python.device import (MAKERS, InterfaceOnly, assert_all_is_given_back, copies, cupy, smooth, to_cupy, to_torch,
                                         torch)
from tests.plugins.python.package import contorno, run_python

DISK = contorno.element("disk", 5)


def picture(height=121, width=171):
    return (255 * np.stack([smooth(height, width, seed) for seed in range(3)], -1)).astype(np.uint8)


def cases():
    """(images, call): `call(*images, **where)` with images on the host or on the device."""
    image = picture()
    grey, planes = np.ascontiguousarray(image[..., 0]), np.ascontiguousarray(np.moveaxis(image, -1, 0))
    heights = np.arange(9.0).reshape(3, 3)
    yield "erode", (image,), lambda a, **where: contorno.erode(a, DISK, **where)
    yield "dilate", (grey.astype(np.float32),), lambda a, **where: contorno.dilate(a, np.ones((3, 3)), heights=heights, **where)
    yield "open", (planes,), lambda a, **where: contorno.open(a, np.ones((4, 7)), layout="CHW", **where)
    yield "close", (grey.astype(np.uint16) * 200,), lambda a, **where: contorno.close(a, DISK, border="reflect", **where)
    yield "gradient", (grey,), lambda a, **where: contorno.gradient(a, DISK, kind="internal", **where)
    yield "tophat", (grey,), lambda a, **where: contorno.tophat(a, np.ones((3, 9)), anchor=(1, 1), border="wrap", **where)
    yield "blackhat", (image,), lambda a, **where: contorno.blackhat(a, contorno.element("line", 7, angle=30), **where)
    yield "open_by_reconstruction", (grey,), lambda a, **where: contorno.open_by_reconstruction(a, DISK, **where)
    yield "sets", (grey > 128,), lambda a, **where: contorno.erode(a, DISK, **where)
    yield "hit_or_miss", (grey > 128,), lambda a, **where: contorno.hit_or_miss(a, [[0, 1, 0], [0, 1, 1]], [[1, 0, 0], [0, 0, 0]], **where)
    yield "reconstruct", (np.minimum(grey, 90), grey), lambda a, b, **where: contorno.reconstruct(a, b, connectivity=4, **where)
    yield "reconstruct sets", (grey > 180, grey > 100), lambda a, b, **where: contorno.reconstruct(a, b, **where)
    yield "mipmaps", (image,), lambda a, **where: contorno.mipmaps(a, stop=4, **where)
    yield "mipmaps lanczos", (planes.astype(np.float32),), lambda a, **where: contorno.mipmaps(a, filter="lanczos3", layout="CHW", **where)
    yield "mipmaps precise", (grey,), lambda a, **where: contorno.mipmaps(a, high_precision=True, stop=2, **where)
    yield "mean_shift_filter", (image,), lambda a, **where: contorno.mean_shift_filter(a, 4, 20.0, **where)
    yield "mean_shift_filter grey", (grey,), lambda a, **where: contorno.mean_shift_filter(a, 3, 9.0, **where)
    yield "mean_shift_segment", (image,), lambda a, **where: contorno.mean_shift_segment(a, 4, 20.0, 10, return_image=True, **where)
    yield "mean_shift_segment plane", (image[..., :1].copy(),), lambda a, **where: contorno.mean_shift_segment(a, 4, 20.0, 10, **where)
    yield "preprocess", (image,), lambda a, **where: contorno.apply("preprocess", a, size=[64, 0], **where)
    yield "atlas", (image,), lambda a, **where: contorno.apply("mipmap", a, stop=8, **where)
    yield "diamond_square", (), lambda **where: contorno.diamond_square(7, 3, channels=3, **where)
    yield "diamond_square cyclic", (), lambda **where: contorno.diamond_square(6, 4, dtype=np.float32, domain="cyclic", **where)
    yield "diamond_square part", (), lambda **where: contorno.diamond_square(9, 5, size=(70, 33), origin=(-5, 3), domain="endless", **where)


CASES = {name: (images, call) for name, images, call in cases()}
WITH_IMAGES = [name for name, (images, _) in CASES.items() if images]
# PyTorch has few functions for uint16.
IN_TORCH = [name for name in WITH_IMAGES if CASES[name][0][0].dtype != np.uint16]


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def same(got, wanted):
    assert len(listed(got)) == len(listed(wanted))
    for a, b in zip(listed(got), listed(wanted)):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


def on_host(result):
    return [one.get() if isinstance(one, (contorno.DeviceArray, cupy.ndarray)) else
            one.cpu().numpy() if isinstance(one, torch.Tensor) else one.array.get() if isinstance(one, InterfaceOnly) else one
            for one in listed(result)]


@pytest.mark.parametrize("name", CASES)
def test_both_backends_have_the_same_bits(name):
    images, call = CASES[name]
    wanted = call(*images, backend="cpu")
    same(call(*images, backend="cuda"), wanted)
    stays = call(*images, output="device")
    assert all(isinstance(one, contorno.DeviceArray) for one in listed(stays))
    same(on_host(stays), wanted)
    for one, host in zip(listed(stays), on_host(stays)):
        assert np.array_equal(cupy.asarray(one).get(), host) and np.array_equal(np.asarray(one), host)
        assert cupy.asarray(one).data.ptr == one.__cuda_array_interface__["data"][0]
        if one.dtype != np.uint16:
            assert np.array_equal(torch.from_dlpack(one).cpu().numpy(), host)


@pytest.mark.parametrize("name,maker", [(name, maker) for maker in MAKERS
                                        for name in (IN_TORCH if maker == "torch" else WITH_IMAGES)])
def test_arrays_on_the_device_have_the_bits_of_the_host(name, maker):
    images, call = CASES[name]
    wanted = call(*images, backend="cpu")
    given = [MAKERS[maker](image) for image in images]
    same(call(*given), wanted)
    same(call(*given, backend="cpu"), wanted)
    stays = call(*given, output="device")
    assert all(isinstance(one, contorno.DeviceArray) or one is given[0] for one in listed(stays))
    same(on_host(stays), wanted)
    if len(given) == 2:
        same(call(given[0], images[1]), wanted)
        same(call(images[0], given[1]), wanted)


def views(image):
    """Arrays on the device with the samples of `image` and other strides: `True` where they are read in place."""
    height, width = image.shape[:2]
    wide = cupy.zeros((height + 2, width + 5, *image.shape[2:]), image.dtype)
    inner = wide[1:-1, 3:-2]
    inner[...] = cupy.asarray(image)
    yield inner, True
    yield cupy.asarray(image[::-1].copy())[::-1], False
    yield cupy.asarray(np.swapaxes(image, 0, 1).copy()).swapaxes(0, 1), False
    twice = cupy.zeros((height, 2 * width, *image.shape[2:]), image.dtype)
    twice[:, ::2] = cupy.asarray(image)
    yield twice[:, ::2], False


# Those with rows and columns first.
@pytest.mark.parametrize("name", [name for name in WITH_IMAGES if len(CASES[name][0]) == 1 and "CHW" not in name
                                  and CASES[name][0][0].shape[0] != 3])
def test_views_of_any_strides_are_read(name):
    (image,), call = CASES[name]
    wanted = call(image, backend="cpu")

    def gathers(array):
        _, kernels, _ = copies(lambda: call(array, output="device"))
        return sum("gather" in kernel for kernel in kernels)

    without = gathers(to_cupy(image))
    for view, in_place in views(image):
        same(call(view), wanted)
        if image.dtype != bool:
            assert (gathers(view) == without) == in_place


@pytest.mark.parametrize("name", CASES)
def test_a_trace_shows_no_copy_and_the_stream_of_the_caller(name):
    images, call = CASES[name]
    given = [to_cupy(image) for image in images]
    side = torch.cuda.Stream()
    call(*given, output="device", stream=side)
    moved, kernels, streams = copies(lambda: call(*given, output="device", stream=side))
    print(name, "copies:", moved, "kernels:", [kernel.split("(")[0][-40:] for kernel in kernels])
    assert kernels and len(streams) == 1
    assert moved == [] or name == "atlas"
    with torch.cuda.stream(side):
        _, _, theirs = copies(lambda: torch.ones(5, device="cuda").add_(1))
    assert theirs == streams


@pytest.mark.parametrize("name", IN_TORCH)
def test_what_is_under_way_on_the_stream_is_waited_for(name):
    images, call = CASES[name]
    wanted, sources = call(*images, backend="cpu"), [to_torch(image) for image in images]
    side = torch.cuda.Stream()
    for use in ("current", "stream", "handle"):
        given = [torch.zeros_like(source) for source in sources]
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)  # about 10 ms: what follows is not done when the call begins
            for one, source in zip(given, sources):
                one.copy_(source)
            if use == "current":
                same(call(*given), wanted)
        if use != "current":
            same(on_host(call(*given, output="device", stream=side if use == "stream" else side.cuda_stream)), wanted)


def test_results_are_taken_again_and_outlive_their_makers():
    image = picture()
    wanted = contorno.dilate(contorno.erode(image, DISK, backend="cpu"), DISK, backend="cpu")
    side = torch.cuda.Stream()
    eroded = contorno.erode(to_torch(image), DISK, output="device", stream=side)
    contorno.dilate(eroded, DISK, output="device")
    moved, _, _ = copies(lambda: contorno.dilate(eroded, DISK, output="device"))
    assert moved == []
    same(contorno.dilate(eroded, DISK), wanted)
    tensor = torch.from_dlpack(contorno.dilate(eroded, DISK, output="device"))
    level = torch.from_dlpack(contorno.mipmaps(to_torch(image), stop=8, output="device")[2])
    second = contorno.mipmaps(image, stop=8, backend="cpu")[2]
    del eroded
    gc.collect()
    for _ in range(5):
        contorno.dilate(to_torch(255 - image), DISK, output="device", stream=side)
        contorno.mipmaps(to_torch(255 - image), stop=8, output="device")
    assert np.array_equal(tensor.cpu().numpy(), wanted) and np.array_equal(level.cpu().numpy(), second)


def test_points_on_the_device():
    points = np.random.default_rng(0).normal(0, 1, (400, 3)) + np.arange(400)[:, None] // 100 * 4
    for type_ in (np.float64, np.float32):
        given = points.astype(type_)
        wanted = contorno.mean_shift(given, 0.7, backend="cpu")
        for array in (to_torch(given), to_cupy(given), given):
            found = contorno.mean_shift(array, 0.7, backend="cuda" if array is given else "auto")
            assert found.backend == "cuda"
            same(found[:4], wanted[:4])
            stays = contorno.mean_shift(array, 0.7, output="device")
            assert all(isinstance(one, contorno.DeviceArray) for one in stays[:4])
            same(on_host(stays[:4]), wanted[:4])
            same(contorno.mean_shift(array, 0.7, backend="cpu")[:4], wanted[:4])
        assert contorno.estimate_bandwidth(to_torch(given)) == contorno.estimate_bandwidth(given)
    side = torch.cuda.Stream()
    _, _, streams = copies(lambda: contorno.mean_shift(to_cupy(points), 0.7, stream=side))
    with torch.cuda.stream(side):
        _, _, theirs = copies(lambda: torch.ones(5, device="cuda").add_(1))
    assert theirs <= streams


@pytest.mark.parametrize("type_", [np.float32, np.float64])
def test_points_travel_once_each_way(type_):
    count, dims = 3000, 3
    points = (np.random.default_rng(1).normal(0, 1, (count, dims)) + np.arange(count)[:, None] % 4 * 5).astype(type_)
    tensor = to_torch(points)

    def moved(output):
        found = contorno.mean_shift(tensor, 0.7, output=output)
        copied, _, _ = copies(lambda: contorno.mean_shift(tensor, 0.7, output=output))
        assert all("HtoD" in name or "DtoH" in name for name, _ in copied), copied
        return found, *(sum(size for name, size in copied if way in name) for way in ("HtoD", "DtoH"))

    found, up, down = moved("host")
    ends, leaves = 4 * count * dims, 4 * dims * -(-count // 32) * 32
    assert points.nbytes + ends <= down <= points.nbytes + ends + 1024
    assert leaves + 4 * count <= up <= 1.15 * leaves + 4 * count + 2048
    stays, up_again, same_down = moved("device")
    assert same_down == down and up_again == up + found.labels.nbytes + found.modes.nbytes + found.counts.nbytes
    same(on_host(stays[:4]), found[:4])


@pytest.mark.parametrize("lie", [
    {"data": (0, False)}, {"data": (12345678, False)}, {"shape": (60000, 60000, 3)}, {"shape": (-1, 30)}, {"strides": (2**40, 3, 1)},
    {"strides": (-(2**40), 3, 1)}, {"typestr": "<c16"}, {"typestr": ">f8"}, {"shape": (121,)}, {"shape": (1, 1, 1, 1, 5)}, {"stream": 0}])
def test_an_interface_that_lies_is_refused(lie):
    good = to_cupy(picture())
    for call in (lambda a: contorno.erode(a, DISK), lambda a: contorno.mipmaps(a), lambda a: contorno.mean_shift_filter(a, 3, 9),
                 lambda a: contorno.reconstruct(good, a), lambda a: contorno.apply("preprocess", a)):
        with pytest.raises((TypeError, ValueError)):
            call(InterfaceOnly(good, **lie))
    same(contorno.erode(good, DISK), contorno.erode(picture(), DISK))


def test_wrong_arguments_are_refused():
    image = to_torch(picture())
    for error, call in (
            (TypeError, lambda: contorno.erode(image.int(), DISK)), (ValueError, lambda: contorno.erode(image.double(), DISK)),
            (TypeError, lambda: contorno.erode(image.to(torch.complex64), DISK)),
            (ValueError, lambda: contorno.erode(image[0, 0], DISK)), (ValueError, lambda: contorno.erode(image[:0], DISK)),
            (ValueError, lambda: contorno.erode(image, DISK, output="there")), (TypeError, lambda: contorno.erode(image, DISK, stream="mine")),
            (ValueError, lambda: contorno.erode(image, DISK, backend="cpu", output="device")),
            (ValueError, lambda: contorno.reconstruct(image, image[:5])), (ValueError, lambda: contorno.reconstruct(image, image > 3)),
            (ValueError, lambda: contorno.mean_shift_filter(image.float(), 3, 9)), (ValueError, lambda: contorno.mipmaps(image, filter="none")),
            (ValueError, lambda: contorno.apply("morphology", image, image)), (ValueError, lambda: contorno.apply("marching_squares", image)),
            (ValueError, lambda: contorno.mean_shift(image, 1.0)), (ValueError, lambda: contorno.mean_shift(image[0].double(), -1.0))):
        with pytest.raises(error):
            call()
    same(contorno.erode(image, DISK), contorno.erode(picture(), DISK))


def test_a_stream_of_another_device_is_refused():
    class Stream:
        cuda_stream, device_id = torch.cuda.current_stream().cuda_stream, 1

    with pytest.raises(ValueError, match="device 1"):
        contorno.erode(to_torch(picture()), DISK, stream=Stream())


def test_threads_with_streams_of_their_own():
    names = ["erode", "open", "mipmaps", "mean_shift_filter", "reconstruct", "mean_shift_segment", "diamond_square"]
    wanted = {name: CASES[name][1](*CASES[name][0], backend="cpu") for name in names}
    given = {name: [to_torch(image) for image in CASES[name][0]] for name in names}
    torch.cuda.synchronize()

    def work(index):
        with torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(14):
                name = names[(index + turn) % len(names)]
                result = CASES[name][1](*given[name], output="device" if turn % 2 else "host", **({} if given[name] else {"backend": "cuda"}))
                same(on_host(result), wanted[name])
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_references_and_device_memory_are_given_back():
    image, grey = to_torch(picture(300, 400)), to_cupy(picture(300, 400)[..., 0])
    bad = InterfaceOnly(grey, data=(0, False))

    def calls(count):
        for _ in range(count):
            torch.from_dlpack(contorno.erode(image, DISK, output="device"))
            contorno.mipmaps(image, output="device")
            contorno.reconstruct(grey, grey)
            cupy.asarray(contorno.mean_shift_segment(image, 2, 9.0, 5, output="device", max_iterations=3))
            with pytest.raises(ValueError):
                contorno.erode(bad, DISK)

    assert_all_is_given_back(calls, (image, grey, bad), 20, 60)


def test_a_process_forked_after_cuda_is_told():
    out = run_python("""
import os
import numpy as np, contorno
image = (255 * np.random.default_rng(0).random((90, 90))).astype(np.uint8)
wanted = contorno.erode(image, np.ones((3, 3)), backend="cuda")
child = os.fork()
if child == 0:
    try:
        contorno.erode(image, np.ones((3, 3)), backend="cuda")
    except RuntimeError as error:
        same = np.array_equal(contorno.erode(image, np.ones((3, 3))), wanted)
        os._exit(0 if same and "spawn" in str(error) else 3)
    finally:
        os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out.strip().endswith("0")
