"""What the tests of the Python package on a CUDA device share: arrays of other packages, and traces. Importing it skips, and
counts, where there is no device, PyTorch or CuPy."""
import gc
import json
import os
import sys
import tempfile

import numpy as np
import pytest

from tests.plugins.python.package import contorno

if not contorno.backends()["cuda"]["available"]:
    pytest.skip("needs a CUDA device", allow_module_level=True)
torch = pytest.importorskip("torch")
cupy = pytest.importorskip("cupy")


def to_torch(array):
    return torch.from_numpy(np.array(array, copy=True)).cuda()


def to_cupy(array):
    return cupy.asarray(array)


class InterfaceOnly:
    """An array that has nothing but __cuda_array_interface__, which may lie."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 3, **changes}


def to_interface(array):
    return InterfaceOnly(cupy.asarray(array))


FEW_IN_TORCH = ("u2", "u4", "u8")  # PyTorch has few functions for these types
MAKERS = {"torch": to_torch, "cupy": to_cupy, "interface": to_interface}


def smooth(height, width, seed=0, planes=()):
    random = np.random.default_rng(seed)
    field = random.standard_normal((*planes, height, width))
    for axis in (-1, -2):
        for _ in range(3):
            field = field + np.roll(field, 1, axis)
    field -= field.min()
    return field / field.max()


def copies(work):
    """Bytes that the driver copied during `work`, by direction, and the kernels that ran, as CUPTI traced them."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as trace:
        work()
        torch.cuda.synchronize()
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    trace.export_chrome_trace(path)
    events = json.load(open(path))["traceEvents"]
    moved = [(event["name"], event["args"].get("bytes", 0)) for event in events if event.get("cat") == "gpu_memcpy"]
    kernels = [event["name"] for event in events if event.get("cat") == "kernel"]
    streams = {event["args"].get("stream") for event in events if event.get("cat") == "kernel"}
    return moved, kernels, streams


def assert_all_is_given_back(calls, arrays, first, then):
    """calls(n) makes n rounds of calls: after the first ones, more of them keep no reference to the arrays and no memory of the device."""
    def held():
        gc.collect()
        torch.cuda.synchronize()
        return [sys.getrefcount(array) for array in arrays], torch.cuda.mem_get_info()[0]

    calls(first)
    references, free = held()
    calls(then)
    assert held()[0] == references
    assert free - held()[1] < 64 << 20
