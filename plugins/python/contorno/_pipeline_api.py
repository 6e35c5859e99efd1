"""Pipeline: a graph from YAML, run from Python, frame by frame."""
import base64
import collections
import html
import json
import os
import struct
import warnings
import zlib

import numpy as np

from . import _core, _pipeline
from ._batch import ContourArrays
from ._options import did_you_mean, is_planar, suggesting
from ._stages import loaded_files

Class = collections.namedtuple("Class", "name level colour hidden levels")
Class.__doc__ = """A class of a graph.

name : str; level : float, of its contours, the first of `levels`, a list; colour : (int, int, int, int), red, green, blue and alpha from 0 to 255;
hidden : bool, whether overlays leave it out.
"""


class FrameError(ValueError):
    """A frame that could not be processed. `frame` is its number; the stream goes on."""

    def __init__(self, frame, reason):
        super().__init__(f"frame {frame}: {reason}")
        self.frame, self.reason = frame, reason


class Result:
    """What became of one frame; ``frame, contours, timings = result`` takes it apart.

    Attributes
    ----------
    number : int
        0, 1, 2, ... over all frames of the source.
    name : str
        File name of the frame, empty for video.
    pts_ns : int
        Time stamp in ns.
    frame : (H, W, C) or (H, W) array of uint8, or None
        The source's picture.
    overlay : (H, W, C) array of uint8, or None
        The last image of the graph: the overlay where there is one.
    contours : ContourArrays
        Points (row, column) in px of the map, float32; `class_ids` number the graph's classes; `attributes` has what the graph knows of
        each contour besides, such as 'level' where a class has several levels.
    timings : dict
        Milliseconds: 'end_to_end', 'queue', 'upload', one for each stage, 'download'.
    """

    def __init__(self, values, classes):
        (self.number, self.name, self.pts_ns, _, self.frame, self.overlay, self._placement, points, offsets, closed,
         class_ids, attributes, self.timings) = values
        self._classes = classes
        if offsets is None:
            offsets = np.zeros(1, np.int64)
        self.contours = ContourArrays(points, offsets, closed, class_ids, np.full(len(closed), self.number, np.int32),
                                      np.zeros(len(closed), np.int32), attributes)

    def __iter__(self):
        return iter((self.frame, self.contours, self.timings))

    def __repr__(self):
        return f"<Result {self.number}: {len(self.contours)} contours, {self.timings.get('end_to_end', 0):.2f} ms>"

    def by_class(self):
        """Contours by name of class: ``{name: [(n, 2) array, ...]}``."""
        found = {one.name: [] for one in self._classes}
        for contour, number in zip(self.contours, self.contours.class_ids):
            found[self._classes[number].name].append(contour)
        return found

    def on_frame(self, points):
        """Points (row, column) of the map as px of the frame."""
        scale_x, scale_y, offset_x, offset_y = self._placement
        row = (points[:, 0] + 0.5) * scale_y - 0.5 + offset_y
        column = (points[:, 1] + 0.5) * scale_x - 0.5 + offset_x
        return np.stack([row, column], 1)

    def _repr_html_(self):
        title = f"frame {self.number} {html.escape(self.name)}: {len(self.contours)} contours, " \
                f"{self.timings.get('end_to_end', 0):.2f} ms"
        picture = self.overlay if _is_picture(self.overlay) else None
        if picture is not None:
            image = base64.b64encode(_png(picture)).decode()
            return f'<figure><img src="data:image/png;base64,{image}"><figcaption>{title}</figcaption></figure>'
        return f"<figure>{self._svg()}<figcaption>{title}</figcaption></figure>"

    def _svg(self):
        if _is_picture(self.frame):
            height, width = self.frame.shape[:2]
            back = f'<image width="{width}" height="{height}" href="data:image/png;base64,' \
                   f'{base64.b64encode(_png(self.frame)).decode()}"/>'
        else:
            points = self.on_frame(self.contours.points)
            height, width = np.ceil(points.max(0)).astype(int) + 2 if len(points) else (1, 1)
            back = f'<rect width="{width}" height="{height}" fill="#111"/>'
        lines = []
        for contour, number in zip(self.contours, self.contours.class_ids):
            one = self._classes[number]
            if one.hidden:
                continue
            points = " ".join(f"{column + 0.5:.2f},{row + 0.5:.2f}" for row, column in self.on_frame(contour))
            lines.append(f'<polyline points="{points}" fill="none" stroke="rgb{one.colour[:3]}"/>')
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">{back}' \
               f'{"".join(lines)}</svg>'


class Pipeline:
    """A graph of stages, run frame by frame.

    Parameters
    ----------
    graph : str, path-like or dict
        A YAML file; YAML text (anything with a line break); or the same as a dict.
    input : str or path-like, optional
        What the source reads, instead of what the graph says.
    output : str or path-like
        Folder for what the graph's sinks write.
    frames : int
        Stop after so many frames; 0: all.
    images : bool
        Whether results hold the frame and the overlay.
    progress : bool, optional
        A tqdm bar while iterating. Default: when tqdm is installed and the output is a terminal or a notebook.
    layout : {'CHW', 'HWC'}
        Of maps that are pushed.
    **overrides
        ``node__key=value`` sets a parameter of a stage, ``source__key`` one of the source, ``classes__NAME__key`` one of a
        class, and ``backend``, ``slots``, ``on_full``, ``deadline``, ``threads`` those of the pipeline. Names with dots
        work as ``**{"node.key": value}``.

    Examples
    --------
    >>> for frame, contours, timings in Pipeline("graph.yaml", input="video.mp4"):
    ...     print(len(contours), timings["end_to_end"])

    >>> with Pipeline("graph.yaml") as pipeline:     # frames of one's own
    ...     pipeline.push(maps=maps)
    ...     result = pipeline.pop()

    Frames that fail raise `FrameError` where they would have come; iterating or popping on goes on with the next. What did
    not come of a damaged source is a UserWarning at the end of the iteration, and in ``report["source_faults"]``. So is a class
    that is empty in every frame, as where its level is above all that its maps have; ``report["classes"]`` has how many contours
    of each class the results had that were taken.
    """

    def __init__(self, graph, input=None, *, output=".", frames=0, images=True, progress=None, layout="CHW", **overrides):
        self._planar, self._progress = is_planar(layout), progress
        if frames < 0:
            raise ValueError(f"frames is {frames}, allowed 0 and more")
        backend = os.environ.get("CONTORNO_BACKEND") or str(overrides.pop("backend", ""))
        settings = [_override(name, value) for name, value in overrides.items()]
        text, is_path = _graph_text(graph)
        self._graph = _pipeline.load(text, "graph", is_path, settings, None if input is None else os.fspath(input), backend,
                                     loaded_files())
        self._options = (os.fspath(output), int(frames), bool(images))
        self.classes = [Class(*one) for one in self._graph.classes]
        self.last = None
        self._run = self._report = None
        self._begin_counting()
        self._outstanding, self._pushing, self._ended, self._maps_on_device = 0, False, False, False

    # A source of the graph's own ---------------------------------------------------------------------------------
    def __iter__(self):
        """Results in order, from the first frame of the source."""
        self.close()
        run = _pipeline.Run(self._graph, *self._options)
        self._run, self._pushing = run, False
        self._begin_counting()
        self.classes = [Class(*one) for one in run.classes]  # which `classes: auto` takes from the maps
        return _Results(self, run)

    # Frames that are pushed --------------------------------------------------------------------------------------
    @suggesting
    def push(self, frame=None, maps=None):
        """Process a frame: (H, W, C) or (H, W) of uint8; and its maps: planes as `layout` says, or one plane (H, W).

        Returns when the arrays have been copied; waits while all slots are busy. Maps on a GPU (a PyTorch or CuPy array, or any
        with DLPack or __cuda_array_interface__) are read there, behind the work on their stream, by a graph on CUDA whose
        first frame came so; else they go by way of the host, as frames do. RuntimeError after `finish` or `close`: another run
        would write the same files again.
        """
        if self._ended:
            raise RuntimeError("the pipeline has ended: what it wrote is complete; make a new Pipeline for more frames")
        frame, (maps, on_device) = _bytes(_on_host(frame, "frame")), self._placed(maps)
        if self._run is not None and not self._pushing:
            raise RuntimeError("the pipeline is being iterated over; close() it before frames are pushed")
        if self._run is None:
            self._run = _pipeline.Run(self._graph, *self._options, frame, maps, on_device, self._planar)
            self._pushing, self._maps_on_device = True, on_device is not None
            self._begin_counting()
            self.classes = [Class(*one) for one in self._run.classes]
        self._run.push(frame, maps, on_device, self._planar)
        self._outstanding += 1

    def _placed(self, maps):
        """Maps on the host and None, or None and where they lie on a GPU."""
        if maps is None or not _core.is_on_device(maps):
            return maps, None
        stays = self._graph.runs_on_cuda() if self._run is None else self._maps_on_device
        on_device = _core.maps_in_place(maps, self._planar) if stays else None
        return (None, on_device) if on_device else (_core.to_host(maps, "maps", None), None)

    @suggesting
    def pop(self):
        """The next result, in the order of the pushes; waits for it."""
        if self._outstanding == 0:
            raise IndexError("every frame that was pushed has been popped")
        self._outstanding -= 1
        values = self._run.take()
        if values is None:
            raise RuntimeError("the pipeline has ended")
        return self._result(values)

    def _result(self, values):
        if values[3]:
            raise FrameError(values[0], values[3])
        self.last = Result(values, self.classes)
        self._has_contours = self._has_contours or values[8] is not None
        self._taken += 1
        self._contours.update(self.last.contours.class_ids.tolist())
        return self.last

    def objects(self):
        """Records of objects that have left since the last call: dicts, as the sink `jsonl` writes them.

        Of a graph with the step `objects`. After a result was taken, those that come before it are among them; after the end,
        all. Those of the last 10,000 objects are kept until they are asked for.
        """
        texts, self._objects = self._objects, []
        if self._run is not None:
            texts += self._run.take_objects()
        return [json.loads(text) for text in texts]

    # What classes have -------------------------------------------------------------------------------------------
    def _begin_counting(self):
        self._taken, self._contours, self._has_contours = 0, collections.Counter(), False
        self._objects = []

    def _class_counts(self):
        return [{"name": one.name, "contours": self._contours[number]} for number, one in enumerate(self.classes)]

    def _empty_classes(self):
        """A sentence for each class that all results were without."""
        for number, one in enumerate(self.classes):
            if self._has_contours and not one.hidden and self._contours[number] == 0:
                yield f"class {one.name}: no contour in {self._taken} frames; its level is {one.level:g}"

    # The end -----------------------------------------------------------------------------------------------------
    def finish(self):
        """No more frames: results that have not been popped are dropped, sinks complete their files. Returns the report."""
        if self._run is not None:
            self._run.finish()
            while self._run.take() is not None:
                pass
            self.close()
        return self._report

    def close(self):
        """Stop at once."""
        run, self._run, self._outstanding = self._run, None, 0
        if run is not None:
            self._ended = self._pushing
            run.stop()
            self._objects += run.take_objects()
            self._report = {**run.report(), "classes": self._class_counts()}

    @property
    def report(self):
        """Counts and latencies of the last run that ended: a dict like the JSON report of ``contorno run``."""
        return self._report

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close() if kind else self.finish()

    def __repr__(self):
        return f"<Pipeline: {self._graph.source} -> {' -> '.join(self._graph.nodes)}>"

    def _repr_html_(self):
        """The overlay of the last result."""
        return self.last._repr_html_() if self.last is not None else f"<code>{html.escape(repr(self))}</code>"


class _Results:
    """The iterator: survives frames that fail."""

    def __init__(self, pipeline, run):
        self._pipeline, self._run = pipeline, run
        self._bar = _progress_bar(pipeline._progress, run.frame_count)

    def __iter__(self):
        return self

    def __next__(self):
        if self._run is None or self._pipeline._run is not self._run:
            raise StopIteration
        try:
            values = self._run.take()
        except BaseException:
            self._end()
            raise
        if values is None:
            self._end()
            for fault in self._pipeline.report["source_faults"]:
                warnings.warn(fault["reason"], UserWarning, stacklevel=2)
            for sentence in self._pipeline._empty_classes():
                warnings.warn(sentence, UserWarning, stacklevel=2)
            raise StopIteration
        if self._bar is not None:
            self._bar.update()
        return self._pipeline._result(values)

    def _end(self):
        self._run = None
        self._pipeline.close()
        if self._bar is not None:
            self._bar.close()


def _on_host(array, name):
    return _core.to_host(array, name, None) if array is not None and _core.is_on_device(array) else array


def _bytes(frame):
    """The frame itself; TypeError that says how to convert it where its samples are no bytes."""
    dtype = getattr(frame, "dtype", None)
    if dtype is None or dtype == np.uint8 or dtype == np.bool_:
        return frame
    fix = ": samples from 0 to 1 are converted by (frame * 255).round().astype('uint8')" if np.dtype(dtype).kind == "f" else ""
    raise TypeError(f"frame is of {dtype}, wanted uint8{fix}")


def _progress_bar(wanted, total):
    if wanted is False:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        return None
    return tqdm(total=total if total >= 0 else None, unit=" frames", disable=None if wanted is None else False)


def _graph_text(graph):
    """Text or path, and which of them."""
    if isinstance(graph, dict):
        return json.dumps({"source": {"type": "push"}, **graph}), False
    text = os.fspath(graph)
    if not isinstance(text, str):
        raise TypeError(f"graph is {graph!r}, wanted a file, YAML text or a dict")
    return text, "\n" not in text


_OPTIONS = ("input", "output", "frames", "images", "progress", "layout", "backend")


def _override(name, value):
    if name in _pipeline.settings:
        name = f"pipeline.{name}"
    elif "." not in name:
        node, _, key = name.partition("__")
        if not key:
            raise TypeError(f"Pipeline has no option '{name}'{did_you_mean(name, (*_OPTIONS, *_pipeline.settings))}; parameters "
                            "of stages are set with node__key=value")
        if node == "classes":  # classes__NAME__key, and a name may have any letters
            key = ".".join(key.rsplit("__", 1))
        name = f"{node}.{key}"
    return f"{name}={json.dumps(value) if not isinstance(value, str) else value}"


def _is_picture(image):
    return image is not None and image.dtype == np.uint8 and (image.ndim == 2 or image.shape[2] in (1, 3, 4))


def _png(image):
    """A PNG file of (H, W), (H, W, 3) or (H, W, 4) bytes."""
    height, width = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = image.reshape(height, -1)

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + chunk(b"IEND", b"")
