"""Contours of the GStreamer element `contorno` on the buffers of a pipeline in Python.

>>> contorno.gst.contours(info.get_buffer())   # in a probe on the element's source pad
Contours(frame=0, width=640, height=480, 3 contours of 2 classes)
"""
import ctypes
import dataclasses

import numpy as np

_gst = None


class _Meta(ctypes.Structure):
    """ContornoMeta of contorno/gst/contornometa.h."""
    _fields_ = [("flags", ctypes.c_int), ("info", ctypes.c_void_p), ("width", ctypes.c_uint), ("height", ctypes.c_uint),
                ("frame", ctypes.c_uint64), ("n_classes", ctypes.c_uint), ("class_names", ctypes.POINTER(ctypes.c_char_p)),
                ("levels", ctypes.c_void_p), ("class_begin", ctypes.c_void_p), ("n_contours", ctypes.c_uint),
                ("offsets", ctypes.c_void_p), ("closed", ctypes.c_void_p), ("points", ctypes.c_void_p),
                ("n_attributes", ctypes.c_uint), ("attribute_names", ctypes.POINTER(ctypes.c_char_p)),
                ("attributes", ctypes.c_void_p), ("attribute_stride", ctypes.c_size_t), ("block", ctypes.c_void_p)]


@dataclasses.dataclass(eq=False)
class Contours:
    """The contours of one frame. All arrays are copies, which stay when the buffer is gone."""
    frame: int                          #: number of the frame since the element was started, from 0
    width: int                          #: of the frame that the points lie on, px
    height: int
    class_names: list                   #: names of the classes
    levels: np.ndarray                  #: at which the contours of each class lie
    classes: np.ndarray                 #: of each contour the number of its class
    closed: np.ndarray                  #: of each contour whether it is closed; else it ends at a border
    points: list                        #: of each contour an (n, 2) array of (row, column), px; a sample's centre is at whole numbers
    attributes: dict = dataclasses.field(default_factory=dict)  #: by name what stages have measured of each contour

    def __len__(self):
        return len(self.points)

    def __iter__(self):
        return iter(self.points)

    def of(self, name):
        """The contours of the class of this name."""
        number = self.class_names.index(name)
        return [points for points, one in zip(self.points, self.classes) if one == number]

    def __repr__(self):
        return (f"Contours(frame={self.frame}, width={self.width}, height={self.height}, {len(self)} contours of "
                f"{len(self.class_names)} classes)")


def _library():
    global _gst
    if _gst is None:
        library = ctypes.CDLL("libgstreamer-1.0.so.0")
        library.g_type_from_name.restype = ctypes.c_size_t
        library.g_type_from_name.argtypes = [ctypes.c_char_p]
        library.gst_buffer_get_meta.restype = ctypes.c_void_p
        library.gst_buffer_get_meta.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        _gst = library
    return _gst


def _array(address, kind, count):
    if count == 0:
        return np.empty(0, kind)
    size = np.dtype(kind).itemsize * count
    return np.frombuffer((ctypes.c_char * size).from_address(address), kind, count).copy()


def contours(buffer):
    """The contours that the element `contorno` has attached to a buffer.

    Elements behind it may leave them out: read them in a probe on its source pad, or before converters, encoders and muxers.

    Parameters
    ----------
    buffer : Gst.Buffer
        Of a probe (`info.get_buffer()`) or a sample (`sample.get_buffer()`).

    Returns
    -------
    Contours or None
        None where the buffer has none: the frame has failed, or an element on the way has left them out.
    """
    if type(buffer).__name__ != "Buffer" or not type(buffer).__module__.endswith("Gst"):
        raise TypeError(f"buffer is of the type {type(buffer).__name__}, wanted Gst.Buffer")
    library = _library()
    api = library.g_type_from_name(b"ContornoMetaAPI")
    # Its hash is the address of what it wraps.
    address = library.gst_buffer_get_meta(hash(buffer), api) if api else None
    if not address:
        return None
    meta = _Meta.from_address(address)
    begin = _array(meta.class_begin, np.uint32, meta.n_classes + 1)
    offsets = _array(meta.offsets, np.uint32, meta.n_contours + 1)
    points = _array(meta.points, np.float32, 2 * int(offsets[-1])).reshape(-1, 2)
    columns = _array(meta.attributes, np.float64, meta.n_attributes * meta.attribute_stride)
    attributes = {meta.attribute_names[i].decode(): columns[i * meta.attribute_stride:][:meta.n_contours]
                  for i in range(meta.n_attributes)}
    return Contours(meta.frame, meta.width, meta.height, [meta.class_names[i].decode() for i in range(meta.n_classes)],
                    _array(meta.levels, np.float64, meta.n_classes), np.repeat(np.arange(meta.n_classes), np.diff(begin)),
                    _array(meta.closed, np.uint8, meta.n_contours).astype(bool), np.split(points, offsets[1:-1]) if meta.n_contours else [],
                    attributes)
