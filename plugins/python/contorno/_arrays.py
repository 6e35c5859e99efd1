"""What the compiled part asks of NumPy: arrays from other packages, and types that it cannot read itself."""
import sys

import numpy as np

_NUMBERS = "biufO"  # kinds of dtype that are numbers, or may be


def to_numpy(object, name):
    """The samples of `object` as an ndarray, without a copy where there is a way."""
    if isinstance(object, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be lost: pass {name}={name}.data and "
                        f"mask=~np.ma.getmaskarray({name})")
    if isinstance(object, np.ndarray):
        array = object.view(np.ndarray)
    elif hasattr(object, "__dlpack__"):
        array = _from_dlpack(object, name)
    elif hasattr(object, "__array_interface__"):
        array = _from_interface(object, name)
    elif hasattr(object, "__array__"):
        array = np.asarray(object)
    else:
        try:
            array = np.asarray(memoryview(object))
        except TypeError:
            raise TypeError(f"{name} is a {type(object).__name__}, not an array; wanted a NumPy array or anything "
                            "with the buffer protocol, __array_interface__, DLPack or __cuda_array_interface__"
                            ) from None
    if array.dtype.kind not in _NUMBERS:
        raise TypeError(f"{name} has dtype {array.dtype}, allowed are bool, integers and floats")
    return array


def to_samples(object, name, known_type):
    """`object` in C order; of a type that is not known, as float64."""
    array = to_numpy(object, name)
    if known_type:
        return np.require(array, requirements=["C", "A"])
    with np.errstate(all="ignore"):
        return np.require(array, dtype=np.float64, requirements=["C", "A"])


def default_level(image):
    """Of a type that was converted: half-way between the smallest and the largest sample, added without wrapping
    around."""
    image = to_numpy(image, "image")
    low, high = np.nanmin(image), np.nanmax(image)
    return (int(low) + int(high)) / 2 if image.dtype.kind in "iub" else float((low + high) / 2.0)


def device_stream(object, stream):
    """Handle of the CUDA stream that work on `object` is to be enqueued on; None: the array's interface may say."""
    if stream is not None:
        return stream_handle(stream)
    package = type(object).__module__.partition(".")[0]
    if package == "torch":
        return sys.modules["torch"].cuda.current_stream(object.device).cuda_stream or None
    if package == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr or None
    if package == "contorno":
        return object._stream or None
    return None


def stream_handle(stream):
    """Of a PyTorch or CuPy stream, an object with __cuda_stream__, or a handle."""
    handle = stream
    if hasattr(stream, "__cuda_stream__"):
        try:
            _, handle = stream.__cuda_stream__()
        except (TypeError, ValueError):
            raise TypeError(f"stream is {stream!r}, whose __cuda_stream__ gives no (version, handle)") from None
    else:
        for name in ("cuda_stream", "ptr"):
            if hasattr(stream, name):
                handle = getattr(stream, name)
                break
    if isinstance(handle, int) and not isinstance(handle, bool) and 0 <= handle < 2**64:
        return handle
    raise TypeError(f"stream is {stream!r}, wanted a PyTorch or CuPy stream or its handle")


def stream_device(stream):
    """Number of the device that a stream says it belongs to, or None."""
    device = getattr(stream, "device_id", None)  # CuPy; -1: whichever is current
    if device is None:
        device = getattr(getattr(stream, "device", None), "index", None)
    return device if isinstance(device, int) and device >= 0 else None


def _from_dlpack(object, name):
    kind, _ = object.__dlpack_device__()
    if kind not in (1, 3):  # CPU, page-locked
        raise TypeError(f"{name} lies on a device of DLPack type {kind}, which contorno cannot read")
    try:
        return np.from_dlpack(object)
    except (AttributeError, RuntimeError, BufferError):  # read-only, or of a type that NumPy's DLPack refuses
        if hasattr(object, "__array__"):
            return np.asarray(object)
        raise TypeError(f"{name} cannot be read through DLPack") from None


def _from_interface(object, name):
    from . import _core
    try:
        array = np.asarray(object)
    except (TypeError, ValueError):
        raise
    except Exception as error:
        raise TypeError(f"{name} has an __array_interface__ that NumPy refuses: {error}") from error
    if array.size:
        low, high = np.lib.array_utils.byte_bounds(array) if hasattr(np.lib, "array_utils") else np.byte_bounds(array)
        if not _core._is_mapped(low, high - low):
            raise ValueError(f"{name} has an __array_interface__ whose memory ({low:#x}, {high - low} bytes) is not there")
    return array
