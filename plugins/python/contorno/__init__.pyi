from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: str

class SupportsCudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

# Read in place: the buffer protocol, __array_interface__, DLPack, __cuda_array_interface__.
Array = NDArray[Any] | SupportsCudaArray | SupportsDLPack | memoryview
Side = Literal["low", "high"]
Backend = Literal["auto", "cpu", "cuda"]
Border = Literal["identity", "replicate", "reflect", "reflect101", "wrap", "constant"]
Alpha = Literal["keep", "process"]
Layout = Literal["CHW", "HWC"]
Output = Literal["host", "device"]
Stream = Any  # of PyTorch or CuPy, an object with __cuda_stream__, or a handle
Image = Any  # NDArray; with output="device", DeviceArray
Element = ArrayLike | int | tuple[int, int]  # a structuring element; the side of a square; (width, height) of a rectangle
Graph = str | PathLike[str] | dict[str, Any]

class DeviceArray:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __array__(self, *args: Any, **options: Any) -> NDArray[Any]: ...
    def get(self) -> NDArray[Any]: ...

class ContourArrays:
    points: Any
    offsets: Any
    closed: Any
    class_ids: Any
    frame_ids: Any
    level_ids: Any
    def __init__(self, points: Any, offsets: Any, closed: Any, class_ids: Any, frame_ids: Any, level_ids: Any) -> None: ...
    @property
    def on_device(self) -> bool: ...
    def get(self) -> ContourArrays: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[NDArray[Any]]: ...
    def __iter__(self) -> Iterator[NDArray[Any]]: ...

class MeanShift(NamedTuple):
    points: Image
    labels: Image
    modes: Image
    counts: Image
    iterations: int
    converged: bool
    backend: str
    def __repr__(self) -> str: ...

class FrameError(ValueError):
    frame: int
    reason: str
    def __init__(self, frame: int, reason: str) -> None: ...

class Class(NamedTuple):
    name: str
    level: float
    colour: tuple[int, int, int, int]
    hidden: bool

class Result:
    number: int
    name: str
    pts_ns: int
    frame: NDArray[np.uint8] | None
    overlay: NDArray[Any] | None
    contours: ContourArrays
    timings: dict[str, float]
    def __iter__(self) -> Iterator[Any]: ...
    def by_class(self) -> dict[str, list[NDArray[np.float32]]]: ...
    def on_frame(self, points: NDArray[Any]) -> NDArray[np.float64]: ...
    def _repr_html_(self) -> str: ...

class Pipeline:
    classes: list[Class]
    last: Result | None
    def __init__(self, graph: Graph, input: str | PathLike[str] | None = None, *, output: str | PathLike[str] = ".",
                 frames: int = 0, images: bool = True, progress: bool | None = None, layout: Layout = "CHW",
                 **overrides: Any) -> None: ...
    def __iter__(self) -> Iterator[Result]: ...
    def push(self, frame: Array | None = None, maps: Array | None = None) -> None: ...
    def pop(self) -> Result: ...
    def finish(self) -> dict[str, Any] | None: ...
    def close(self) -> None: ...
    @property
    def report(self) -> dict[str, Any] | None: ...
    def __enter__(self) -> Pipeline: ...
    def __exit__(self, kind: Any, *_: Any) -> None: ...
    def _repr_html_(self) -> str: ...

def backends() -> dict[str, dict[str, Any]]: ...
def stages() -> dict[str, dict[str, Any]]: ...
def apply(stage: str, *images: Array, layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
          output: Output = "host", stream: Stream = None, **params: Any) -> Any: ...

def find_contours(image: Array, level: float | None = None, fully_connected: Side = "low", positive_orientation: Side = "low",
                  *, mask: Array | None = None, backend: Backend = "auto",
                  threads: int | None = None) -> list[NDArray[np.float64]]: ...
def find_contours_batch(maps: Array, levels: ArrayLike, *, layout: Layout = "CHW", dtype: DTypeLike = ..., flat: bool = False,
                        fully_connected: Side = "low", positive_orientation: Side = "low", mask: Array | None = None,
                        divisor: float = 1.0, min_points: int = 0, backend: Backend = "auto", threads: int | None = None,
                        output: Output = "host", stream: Stream = None) -> Any: ...

def element(shape: Literal["rectangle", "cross", "ellipse", "disk", "diamond", "octagon", "line"],
            size: int | tuple[int, int] | None = None, *, diameter: int | None = None, radius: int | None = None,
            angle: float = 0.0) -> NDArray[np.bool_]: ...
def erode(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
          border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
          backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
          paper_compat: bool = False) -> Image: ...
def dilate(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
           border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
           backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
           opencv_compat: bool = False) -> Image: ...
def open(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
         border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
         backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
         opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def close(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
          border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
          backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
          opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def tophat(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
           border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
           backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
           opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def blackhat(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
             border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
             backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
             opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def open_by_reconstruction(image: Array, element: Element, *, heights: ArrayLike | None = None,
                           anchor: tuple[int, int] | None = None, border: Border = "identity", border_value: float = 0.0,
                           alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
                           output: Output = "host", stream: Stream = None, connectivity: Literal[4, 8] = 8,
                           paper_compat: bool = False) -> Image: ...
def close_by_reconstruction(image: Array, element: Element, *, heights: ArrayLike | None = None,
                            anchor: tuple[int, int] | None = None, border: Border = "identity", border_value: float = 0.0,
                            alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto",
                            threads: int | None = None, output: Output = "host", stream: Stream = None,
                            connectivity: Literal[4, 8] = 8, opencv_compat: bool = False) -> Image: ...
def gradient(image: Array, element: Element, *, kind: Literal["beucher", "internal", "external"] = "beucher",
             **options: Any) -> Image: ...
def hit_or_miss(image: Array, hit: ArrayLike, miss: ArrayLike, *, anchor: tuple[int, int] | None = None,
                border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
                backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                stream: Stream = None) -> Image: ...
def reconstruct(marker: Array, mask: Array, *, method: Literal["dilation", "erosion"] = "dilation",
                connectivity: Literal[4, 8] = 8, alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto",
                threads: int | None = None, output: Output = "host", stream: Stream = None) -> Image: ...

def mipmaps(image: Array, *, filter: Literal["box", "clamp", "triangle", "kaiser", "lanczos3", "mitchell"] = "box",
            width: int = 2, stop: int = 32, sizes: Literal["floor", "ceil", "round"] = "floor",
            edge: Literal["clamp", "wrap", "mirror"] = "clamp", linear_light: bool = False, premultiplied: bool = False,
            high_precision: bool = False, layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
            output: Output = "host", stream: Stream = None) -> list[Image]: ...

def mean_shift(points: ArrayLike | Array, sigma: float, *, cut: float = 3.0,
               kernel: Literal["gaussian", "flat", "epanechnikov"] = "gaussian", eps: float = 1e-3, max_iter: int = 300,
               merge: float = 0.5, min_size: int = 1, stop: Literal["point", "frobenius"] = "point",
               precision: Literal["auto", "float32", "float64"] = "auto", backend: Backend = "auto", threads: int | None = None,
               output: Output = "host", stream: Stream = None) -> MeanShift: ...
def estimate_bandwidth(points: ArrayLike | Array, *,
                       rule: Literal["mean_neighbour", "median_neighbour", "silverman"] = "mean_neighbour",
                       quantile: float = 0.3, most_samples: int = 5000, threads: int | None = None) -> float: ...
def mean_shift_filter(image: Array, spatial: int, colour: float, *, backend: Backend = "auto", threads: int | None = None,
                      output: Output = "host", stream: Stream = None, **options: Any) -> Image: ...
def mean_shift_segment(image: Array, spatial: int, colour: float, min_region: int = 20, *, return_image: bool = False,
                       backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
                       **options: Any) -> Any: ...

def diamond_square(n: int, seed: int = 0, *, size: tuple[int, int] | None = None, channels: int = 1, dtype: DTypeLike = ...,
                   domain: Literal["finite", "cyclic", "endless"] = "finite", range: Literal["paper", "unbiased"] = "paper",
                   roughness: float = 1.0, amplitude: float = 1.0, corners: Sequence[float] = (),
                   origin: tuple[int, int] = (0, 0), backend: Backend = "auto", threads: int | None = None,
                   output: Output = "host", stream: Stream = None) -> Image: ...
