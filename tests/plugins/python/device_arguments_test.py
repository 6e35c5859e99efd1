"""What the functions of the Python package say of arrays that claim to lie on a GPU, of streams and of places: a sentence, never
a crash, with and without a device."""
import dataclasses

import numpy as np
import pytest

from tests.plugins.python.package import contorno

THERE = contorno.backends()["cuda"]["available"]
BUILT = contorno.DeviceArray is not None  # a build without CUDA refuses all that claims to lie on a GPU
BOX = np.ones((3, 3))
IMAGE = np.zeros((9, 9), np.uint8)
CALLS = {
    "find_contours": lambda array, **where: contorno.find_contours(array, 0.5),
    "find_contours_batch": lambda array, **where: contorno.find_contours_batch(array, 0.5, **where),
    "erode": lambda array, **where: contorno.erode(array, BOX, **where),
    "gradient": lambda array, **where: contorno.gradient(array, BOX, **where),
    "hit_or_miss": lambda array, **where: contorno.hit_or_miss(array, [[0, 1]], [[1, 0]], **where),
    "reconstruct": lambda array, **where: contorno.reconstruct(array, array, **where),
    "mipmaps": lambda array, **where: contorno.mipmaps(array, **where),
    "mean_shift": lambda array, **where: contorno.mean_shift(array, 1.0, **where),
    "mean_shift_filter": lambda array, **where: contorno.mean_shift_filter(array, 2, 9.0, **where),
    "mean_shift_segment": lambda array, **where: contorno.mean_shift_segment(array, 2, 9.0, **where),
    "largest_first": lambda array, **where: contorno.largest_first([array[:, :2] if isinstance(array, np.ndarray) else array], **where),
    "apply": lambda array, **where: contorno.apply("preprocess", array, **where),
    "diamond_square": lambda array, **where: contorno.diamond_square(3, **where),
}
WITH_ARRAY = [name for name in CALLS if name != "diamond_square"]
WITH_PLACE = [name for name in CALLS if name != "find_contours"]


class Claims:
    """Has nothing but a __cuda_array_interface__; its memory is the host's."""

    def __init__(self, **changes):
        self.samples = np.zeros((9, 9), np.uint8)
        self.__cuda_array_interface__ = {"shape": (9, 9), "typestr": "|u1", "data": (self.samples.ctypes.data, False), "strides": None,
                                         "version": 3, **changes}


@pytest.mark.parametrize("name", WITH_ARRAY)
def test_memory_that_is_not_the_devices_is_refused(name):
    with pytest.raises(ValueError if THERE else RuntimeError, match="memory" if THERE else "cuda"):
        CALLS[name](Claims())


@pytest.mark.parametrize("changes", [
    {"shape": None}, {"shape": 9}, {"shape": ("9", 9)}, {"shape": (9.0, 9)}, {"shape": (2**70, 9)}, {"shape": (1,) * 5}, {"typestr": ""},
    {"typestr": 1}, {"typestr": ">f4"}, {"typestr": "<c8"}, {"typestr": "|O8"}, {"typestr": "<f16"}, {"data": None}, {"data": 5},
    {"data": ("here", False)}, {"data": (-8, False)}, {"data": (2**70, False)}, {"data": (5,)}, {"strides": "C"}, {"strides": (1,)},
    {"strides": (9, "1")}, {"stream": 0}, {"stream": "7"}, {"stream": -1}, {"mask": IMAGE}])
@pytest.mark.parametrize("name", ["find_contours", "erode", "mipmaps", "mean_shift"])
def test_words_of_an_interface_that_mean_nothing_are_refused(name, changes):
    with pytest.raises((TypeError, ValueError) if BUILT else RuntimeError):
        CALLS[name](Claims(**changes))


@pytest.mark.parametrize("key", ["shape", "typestr", "data", "version"])
def test_an_interface_that_lacks_a_key_is_refused(key):
    one = Claims()
    del one.__cuda_array_interface__[key]
    with pytest.raises(ValueError if BUILT else RuntimeError, match=key if BUILT else "CUDA"):
        contorno.erode(one, BOX)
    one.__cuda_array_interface__ = 3
    with pytest.raises(TypeError if BUILT else RuntimeError, match="dict" if BUILT else "CUDA"):
        contorno.erode(one, BOX)


@dataclasses.dataclass
class Stream:
    cuda_stream: object


@dataclasses.dataclass
class Protocol:
    answer: object

    def __cuda_stream__(self):
        return self.answer


@pytest.mark.parametrize("stream", ["mine", -1, 2**64, 1.5, True, [], Stream("handle"), Stream(None), Protocol(7), Protocol((0,)),
                                    Protocol((0, "x"))], ids=repr)
@pytest.mark.parametrize("name", WITH_PLACE)
def test_what_is_no_stream_is_refused_also_for_arrays_on_the_host(name, stream):
    with pytest.raises(TypeError, match="stream"):
        CALLS[name](IMAGE, stream=stream)


@pytest.mark.parametrize("name", WITH_PLACE)
def test_places_are_words(name):
    for output in ("there", None, 1, "cuda"):
        with pytest.raises(ValueError, match="allowed 'host' or 'device'"):
            CALLS[name](IMAGE, output=output)
    for backend in ("gpu", None, 0):
        with pytest.raises(ValueError, match="allowed 'auto', 'cpu' or 'cuda'"):
            CALLS[name](IMAGE, backend=backend)
    with pytest.raises(ValueError, match="needs the backend"):
        CALLS[name](IMAGE, output="device", backend="cpu")


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("find_contours", "mean_shift")])
def test_threads_are_checked_where_they_do_nothing(name):
    for where in ({"output": "device"}, {}):
        with pytest.raises((ValueError, RuntimeError), match="threads|cuda" if not THERE else "threads"):
            CALLS[name](IMAGE, threads=0, **where)


@pytest.mark.skipif(THERE, reason="a device is there")
@pytest.mark.parametrize("name", WITH_PLACE)
def test_without_a_device_the_reason_is_said(name):
    for where in ({"output": "device"}, {"backend": "cuda"}):
        with pytest.raises(RuntimeError, match="cuda.*but"):
            CALLS[name](IMAGE, **where)
    CALLS[name](IMAGE, backend="auto", stream=7)  # a stream says nothing about arrays that stay on the host


def test_dlpack_of_a_device_that_contorno_cannot_read_is_refused():
    class Elsewhere:
        def __dlpack_device__(self):
            return 10, 0  # ROCm

        def __dlpack__(self, **options):
            raise AssertionError("nobody asked")

    for name in ("find_contours", "erode", "mean_shift"):
        with pytest.raises(TypeError, match="device"):
            CALLS[name](Elsewhere())
