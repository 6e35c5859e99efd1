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
Contours = Sequence[Any] | ContourArrays  # of (n, 2) arrays, or of such lists
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
    attributes: dict[str, Any]
    def __init__(self, points: Any, offsets: Any, closed: Any, class_ids: Any, frame_ids: Any, level_ids: Any,
                 attributes: dict[str, Any] | None = ...) -> None: ...
    @property
    def on_device(self) -> bool: ...
    def get(self) -> ContourArrays: ...
    def table(self) -> dict[str, NDArray[Any]]: ...
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

class Tracker:
    def __init__(self, **options: Any) -> None: ...
    def update(self, contours: Contours, frame: int | None = None) -> ContourArrays: ...
    @property
    def counts(self) -> dict[str, list[int]]: ...

class FrameError(ValueError):
    frame: int
    reason: str
    def __init__(self, frame: int, reason: str) -> None: ...

class Class(NamedTuple):
    name: str
    level: float
    colour: tuple[int, int, int, int]
    hidden: bool
    levels: list[float]

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
    def objects(self) -> list[dict[str, Any]]: ...
    def finish(self) -> dict[str, Any] | None: ...
    def close(self) -> None: ...
    @property
    def report(self) -> dict[str, Any] | None: ...
    def __enter__(self) -> Pipeline: ...
    def __exit__(self, kind: Any, *_: Any) -> None: ...
    def _repr_html_(self) -> str: ...

# Made by make_stubs from here on.
def apply(stage: str, *inputs: Any, layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
          output: Output = "host", stream: Stream = None, **params: Any) -> Any: ...
def backends() -> dict[str, dict[str, Any]]: ...
def blackhat(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
             border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
             backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
             opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def close(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
          border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
          backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
          opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
@overload
def close_at_border(contours: ContourArrays, positive_orientation: Side = "low", *, size: tuple[int, int] | None = None,
                    backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                    stream: Stream = None) -> ContourArrays: ...
@overload
def close_at_border(contours: Contours, positive_orientation: Side = "low", *, size: tuple[int, int] | None = None,
                    backend: Backend = "auto", threads: int | None = None, output: Literal["device"],
                    stream: Stream = None) -> ContourArrays: ...
@overload
def close_at_border(contours: Sequence[NDArray[Any]], positive_orientation: Side = "low", *, size: tuple[int, int] | None = None,
                    backend: Backend = "auto", threads: int | None = None, output: Literal["host"] = "host",
                    stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def close_at_border(contours: Contours, positive_orientation: Side = "low", *, size: tuple[int, int] | None = None,
                    backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                    stream: Stream = None) -> list[Any] | ContourArrays: ...
def close_by_reconstruction(image: Array, element: Element, *, heights: ArrayLike | None = None,
                            anchor: tuple[int, int] | None = None, border: Border = "identity", border_value: float = 0.0,
                            alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
                            output: Output = "host", stream: Stream = None, connectivity: Literal[4, 8] = 8,
                            opencv_compat: bool = False) -> Image: ...
@overload
def contour_prep(contours: ContourArrays, steps: Sequence[str | dict[str, Any]], *, size: tuple[int, int] | None = None,
                 backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                 stream: Stream = None) -> ContourArrays: ...
@overload
def contour_prep(contours: Contours, steps: Sequence[str | dict[str, Any]], *, size: tuple[int, int] | None = None,
                 backend: Backend = "auto", threads: int | None = None, output: Literal["device"],
                 stream: Stream = None) -> ContourArrays: ...
@overload
def contour_prep(contours: Contours, steps: Sequence[str | dict[str, Any]], *, size: tuple[int, int] | None = None,
                 backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                 stream: Stream = None) -> list[Any] | ContourArrays: ...
def diamond_square(n: int, seed: int = 0, *, size: tuple[int, int] | None = None, channels: int = 1, dtype: DTypeLike = ...,
                   domain: Literal["finite", "cyclic", "endless"] = "finite", range: Literal["paper", "unbiased"] = "paper",
                   roughness: float = 1.0, amplitude: float = 1.0, corners: Sequence[float] = (), origin: tuple[int, int] = (0, 0),
                   backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                   stream: Stream = None) -> Image: ...
def dilate(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
           border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
           backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
           opencv_compat: bool = False) -> Image: ...
@overload
def drop_duplicates(contours: ContourArrays, distance: float = 1.0, rule: Literal["kept_earlier", "any_earlier"] = "kept_earlier",
                    *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                    output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def drop_duplicates(contours: Contours, distance: float = 1.0, rule: Literal["kept_earlier", "any_earlier"] = "kept_earlier", *,
                    size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                    output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def drop_duplicates(contours: Sequence[NDArray[Any]], distance: float = 1.0,
                    rule: Literal["kept_earlier", "any_earlier"] = "kept_earlier", *, size: tuple[int, int] | None = None,
                    backend: Backend = "auto", threads: int | None = None, output: Literal["host"] = "host",
                    stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def drop_duplicates(contours: Contours, distance: float = 1.0, rule: Literal["kept_earlier", "any_earlier"] = "kept_earlier", *,
                    size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                    output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
@overload
def drop_small(contours: ContourArrays, min_points: int = 10, min_length: float = 0.0, min_area: float = 0.0, *,
               size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None, output: Output = "host",
               stream: Stream = None) -> ContourArrays: ...
@overload
def drop_small(contours: Contours, min_points: int = 10, min_length: float = 0.0, min_area: float = 0.0, *,
               size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
               output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def drop_small(contours: Sequence[NDArray[Any]], min_points: int = 10, min_length: float = 0.0, min_area: float = 0.0, *,
               size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
               output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def drop_small(contours: Contours, min_points: int = 10, min_length: float = 0.0, min_area: float = 0.0, *,
               size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None, output: Output = "host",
               stream: Stream = None) -> list[Any] | ContourArrays: ...
def element(shape: Literal["rectangle", "cross", "ellipse", "disk", "diamond", "octagon", "line"],
            size: int | tuple[int, int] | None = None, *, diameter: int | None = None, radius: int | None = None,
            angle: float = 0.0) -> NDArray[np.bool_]: ...
def erode(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
          border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
          backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
          paper_compat: bool = False) -> Image: ...
def estimate_bandwidth(points: ArrayLike | Array, *,
                       rule: Literal["mean_neighbour", "median_neighbour", "silverman"] = "mean_neighbour", quantile: float = 0.3,
                       most_samples: int = 5000, threads: int | None = None) -> float: ...
@overload
def exclude(contours: ContourArrays, points: ArrayLike = (), radius: float = 0.0, strokes: ArrayLike = (),
            mask: Array | None = None, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
            threads: int | None = None, output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def exclude(contours: Contours, points: ArrayLike = (), radius: float = 0.0, strokes: ArrayLike = (), mask: Array | None = None, *,
            size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None, output: Literal["device"],
            stream: Stream = None) -> ContourArrays: ...
@overload
def exclude(contours: Sequence[NDArray[Any]], points: ArrayLike = (), radius: float = 0.0, strokes: ArrayLike = (),
            mask: Array | None = None, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
            threads: int | None = None, output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def exclude(contours: Contours, points: ArrayLike = (), radius: float = 0.0, strokes: ArrayLike = (), mask: Array | None = None, *,
            size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None, output: Output = "host",
            stream: Stream = None) -> list[Any] | ContourArrays: ...
def find_contours(image: Array, level: float | None = None, fully_connected: Side = "low", positive_orientation: Side = "low", *,
                  mask: Array | None = None, backend: Backend = "auto",
                  threads: int | None = None) -> list[NDArray[np.float64]]: ...
@overload
def find_contours_batch(maps: Array, levels: ArrayLike, *, layout: Layout = "CHW", dtype: DTypeLike = ..., flat: Literal[True],
                        fully_connected: Side = "low", positive_orientation: Side = "low", mask: Array | None = None,
                        divisor: float = 1.0, min_points: int = 0, backend: Backend = "auto", threads: int | None = None,
                        output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def find_contours_batch(maps: Array, levels: ArrayLike, *, layout: Layout = "CHW", dtype: DTypeLike = ..., flat: bool = False,
                        fully_connected: Side = "low", positive_orientation: Side = "low", mask: Array | None = None,
                        divisor: float = 1.0, min_points: int = 0, backend: Backend = "auto", threads: int | None = None,
                        output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def find_contours_batch(maps: Array, levels: ArrayLike, *, layout: Layout = "CHW", dtype: DTypeLike = ...,
                        flat: Literal[False] = False, fully_connected: Side = "low", positive_orientation: Side = "low",
                        mask: Array | None = None, divisor: float = 1.0, min_points: int = 0, backend: Backend = "auto",
                        threads: int | None = None, output: Literal["host"] = "host", stream: Stream = None) -> list[Any]: ...
@overload
def find_contours_batch(maps: Array, levels: ArrayLike, *, layout: Layout = "CHW", dtype: DTypeLike = ..., flat: bool = False,
                        fully_connected: Side = "low", positive_orientation: Side = "low", mask: Array | None = None,
                        divisor: float = 1.0, min_points: int = 0, backend: Backend = "auto", threads: int | None = None,
                        output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
def find_segments(image: Array, level: float | None = None, fully_connected: Side = "low", positive_orientation: Side = "low", *,
                  mask: Array | None = None, threads: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
def fourier(contour: ArrayLike) -> NDArray[np.complex128]: ...
def fourier_descriptors(contours: Contours, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                        threads: int | None = None, output: Output = "host", stream: Stream = None) -> ContourArrays: ...
def fourier_points(coefficients: ArrayLike, t: ArrayLike, *, low: int | None = None, top: int | None = None,
                   threads: int | None = None) -> NDArray[np.float64]: ...
def gradient(image: Array, element: Element, *, kind: Literal["beucher", "internal", "external"] = "beucher",
             **options: Any) -> Image: ...
def hierarchy(contours: Contours, *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
              output: Output = "host", stream: Stream = None) -> ContourArrays: ...
def hit_or_miss(image: Array, hit: ArrayLike, miss: ArrayLike, *, anchor: tuple[int, int] | None = None,
                border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
                backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None) -> Image: ...
@overload
def largest_first(contours: ContourArrays, by: Literal["points", "length", "area"] = "area", limit: int = 0,
                  only_first: bool = False, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                  threads: int | None = None, output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def largest_first(contours: Contours, by: Literal["points", "length", "area"] = "area", limit: int = 0, only_first: bool = False, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def largest_first(contours: Sequence[NDArray[Any]], by: Literal["points", "length", "area"] = "area", limit: int = 0,
                  only_first: bool = False, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                  threads: int | None = None, output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def largest_first(contours: Contours, by: Literal["points", "length", "area"] = "area", limit: int = 0, only_first: bool = False, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
def load(path: str | PathLike[str]) -> None: ...
def mean_shift(points: ArrayLike | Array, sigma: float, *, cut: float = 3.0,
               kernel: Literal["gaussian", "flat", "epanechnikov"] = "gaussian", eps: float = 0.001, max_iter: int = 300,
               merge: float = 0.5, min_size: int = 1, stop: Literal["point", "frobenius"] = "point",
               precision: Literal["auto", "float32", "float64"] = "auto", backend: Backend = "auto", threads: int | None = None,
               output: Output = "host", stream: Stream = None) -> MeanShift: ...
def mean_shift_filter(image: Array, spatial: int, colour: float, *, backend: Backend = "auto", threads: int | None = None,
                      output: Output = "host", stream: Stream = None, **options: Any) -> Image: ...
def mean_shift_segment(image: Array, spatial: int, colour: float, min_region: int = 20, *, return_image: bool = False,
                       backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
                       **options: Any) -> Any: ...
def measure(contours: Contours, *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
            output: Output = "host", stream: Stream = None) -> ContourArrays: ...
def measure_map(contours: Contours, maps: Array, *, backend: Backend = "auto", threads: int | None = None, output: Output = "host",
                stream: Stream = None) -> ContourArrays: ...
@overload
def merge_close(contours: ContourArrays, distance: float = 2.0, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                threads: int | None = None, output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def merge_close(contours: Contours, distance: float = 2.0, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                threads: int | None = None, output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def merge_close(contours: Sequence[NDArray[Any]], distance: float = 2.0, *, size: tuple[int, int] | None = None,
                backend: Backend = "auto", threads: int | None = None, output: Literal["host"] = "host",
                stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def merge_close(contours: Contours, distance: float = 2.0, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
                threads: int | None = None, output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
def mipmaps(image: Array, *, filter: Literal["box", "clamp", "triangle", "kaiser", "lanczos3", "mitchell"] = "box", width: int = 2,
            stop: int = 32, sizes: Literal["floor", "ceil", "round"] = "floor", edge: Literal["clamp", "wrap", "mirror"] = "clamp",
            linear_light: bool = False, premultiplied: bool = False, high_precision: bool = False, layout: Layout = "HWC",
            backend: Backend = "auto", threads: int | None = None, output: Output = "host",
            stream: Stream = None) -> list[Image]: ...
def objects(contours: Contours, of: str = "", holes: bool = False, min_area: float = 0.0, reach: float = 2.0, called: str = "",
            defects: str = "", threshold: float = 0.02, margin: float = 1.0, max_views: int = 256, min_overlap: float = 0.3,
            max_distance: float = 20.0, max_missed: int = 5, max_objects: int = 4096, positive_orientation: Side = "low", *,
            size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None, output: Output = "host",
            stream: Stream = None) -> ContourArrays: ...
def open(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
         border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
         backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
         opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def open_by_reconstruction(image: Array, element: Element, *, heights: ArrayLike | None = None,
                           anchor: tuple[int, int] | None = None, border: Border = "identity", border_value: float = 0.0,
                           alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
                           output: Output = "host", stream: Stream = None, connectivity: Literal[4, 8] = 8,
                           paper_compat: bool = False) -> Image: ...
@overload
def order_nearest(contours: ContourArrays, order: Literal["greedy", "endpoint", "2opt"] = "greedy", passes: int = 10, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def order_nearest(contours: Contours, order: Literal["greedy", "endpoint", "2opt"] = "greedy", passes: int = 10, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def order_nearest(contours: Sequence[NDArray[Any]], order: Literal["greedy", "endpoint", "2opt"] = "greedy", passes: int = 10, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def order_nearest(contours: Contours, order: Literal["greedy", "endpoint", "2opt"] = "greedy", passes: int = 10, *,
                  size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
                  output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
def pen_up_length(contours: Contours) -> float: ...
def reconstruct(marker: Array, mask: Array, *, method: Literal["dilation", "erosion"] = "dilation", connectivity: Literal[4, 8] = 8,
                alpha: Alpha = "keep", layout: Layout = "HWC", backend: Backend = "auto", threads: int | None = None,
                output: Output = "host", stream: Stream = None) -> Image: ...
@overload
def resample(contours: ContourArrays, spacing: float = 1.0, points: int = 0, *, size: tuple[int, int] | None = None,
             backend: Backend = "auto", threads: int | None = None, output: Output = "host",
             stream: Stream = None) -> ContourArrays: ...
@overload
def resample(contours: Contours, spacing: float = 1.0, points: int = 0, *, size: tuple[int, int] | None = None,
             backend: Backend = "auto", threads: int | None = None, output: Literal["device"],
             stream: Stream = None) -> ContourArrays: ...
@overload
def resample(contours: Sequence[NDArray[Any]], spacing: float = 1.0, points: int = 0, *, size: tuple[int, int] | None = None,
             backend: Backend = "auto", threads: int | None = None, output: Literal["host"] = "host",
             stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def resample(contours: Contours, spacing: float = 1.0, points: int = 0, *, size: tuple[int, int] | None = None,
             backend: Backend = "auto", threads: int | None = None, output: Output = "host",
             stream: Stream = None) -> list[Any] | ContourArrays: ...
@overload
def simplify(contours: ContourArrays, method: Literal["douglas_peucker", "visvalingam"] = "douglas_peucker", tolerance: float = 1.0,
             points: int = 0, *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
             output: Output = "host", stream: Stream = None) -> ContourArrays: ...
@overload
def simplify(contours: Contours, method: Literal["douglas_peucker", "visvalingam"] = "douglas_peucker", tolerance: float = 1.0,
             points: int = 0, *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
             output: Literal["device"], stream: Stream = None) -> ContourArrays: ...
@overload
def simplify(contours: Sequence[NDArray[Any]], method: Literal["douglas_peucker", "visvalingam"] = "douglas_peucker",
             tolerance: float = 1.0, points: int = 0, *, size: tuple[int, int] | None = None, backend: Backend = "auto",
             threads: int | None = None, output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def simplify(contours: Contours, method: Literal["douglas_peucker", "visvalingam"] = "douglas_peucker", tolerance: float = 1.0,
             points: int = 0, *, size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
             output: Output = "host", stream: Stream = None) -> list[Any] | ContourArrays: ...
@overload
def smooth(contours: ContourArrays, terms: int = 21, keep: Literal["low", "top"] = "low", *, size: tuple[int, int] | None = None,
           backend: Backend = "auto", threads: int | None = None, output: Output = "host",
           stream: Stream = None) -> ContourArrays: ...
@overload
def smooth(contours: Contours, terms: int = 21, keep: Literal["low", "top"] = "low", *, size: tuple[int, int] | None = None,
           backend: Backend = "auto", threads: int | None = None, output: Literal["device"],
           stream: Stream = None) -> ContourArrays: ...
@overload
def smooth(contours: Sequence[NDArray[Any]], terms: int = 21, keep: Literal["low", "top"] = "low", *,
           size: tuple[int, int] | None = None, backend: Backend = "auto", threads: int | None = None,
           output: Literal["host"] = "host", stream: Stream = None) -> list[NDArray[Any]]: ...
@overload
def smooth(contours: Contours, terms: int = 21, keep: Literal["low", "top"] = "low", *, size: tuple[int, int] | None = None,
           backend: Backend = "auto", threads: int | None = None, output: Output = "host",
           stream: Stream = None) -> list[Any] | ContourArrays: ...
def stages() -> dict[str, dict[str, Any]]: ...
def to_shapely(contours: Contours, holes: bool = False) -> list[Any]: ...
def tophat(image: Array, element: Element, *, heights: ArrayLike | None = None, anchor: tuple[int, int] | None = None,
           border: Border = "identity", border_value: float = 0.0, alpha: Alpha = "keep", layout: Layout = "HWC",
           backend: Backend = "auto", threads: int | None = None, output: Output = "host", stream: Stream = None,
           opencv_compat: bool = False, paper_compat: bool = False) -> Image: ...
def track(contours: Contours, min_overlap: float = 0.3, max_distance: float = 20.0, max_missed: int = 5, max_objects: int = 4096,
          positive_orientation: Side = "low", *, size: tuple[int, int] | None = None, backend: Backend = "auto",
          threads: int | None = None, output: Output = "host", stream: Stream = None) -> ContourArrays: ...
