"""contorno.Pipeline: graphs run from Python, results frame by frame, frames that are pushed."""
import base64
import gc
import json
import re
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

from tests.conftest import blobs
from tests.plugins.gst.videos import CHAINS, FRAMES, record, with_concealed_pictures
from tests.plugins.python.package import BUILD, contorno, resident_bytes, run_python

if not list((BUILD / "python" / "contorno").glob("_pipeline.*.so")):
    pytest.skip("needs contorno._pipeline: a build where GStreamer and yaml-cpp are installed", allow_module_level=True)
Pipeline, FrameError = contorno.Pipeline, contorno.FrameError

CLASSES = [{"name": f"class{one}", "level": 0.3, "colour": f"#10{one * 30:02x}80"} for one in range(8)]
STAGES = [{"type": "marching_squares"}, {"type": "contour_assembly"}]
GRAPH = {"classes": CLASSES, "stages": STAGES, "pipeline": {"backend": "cpu", "threads": 2}}
WITH_DATASET = {**GRAPH, "source": {"type": "dataset", "location": "nowhere", "layout": "hwc"}}
PICTURES = """
source: {type: push}
pipeline: {backend: cpu}
classes:
  - {name: red, colour: "#ff0000", references: ["#ff0000"]}
  - {name: black, colour: "#00ff00", references: ["#000000"]}
stages:
  - {type: classify}
  - {type: marching_squares}
  - {type: contour_assembly}
  - {type: overlay}
"""


def check(result, maps):
    """A result beside find_contours_batch of the same maps (H, W, C)."""
    wanted = contorno.find_contours_batch(maps, 0.3, layout="HWC", flat=True, dtype=np.float32)
    for name in ("points", "offsets", "closed", "class_ids"):
        assert np.array_equal(getattr(result.contours, name), getattr(wanted, name)), name


def picture(shift=0):
    frame = np.zeros((40, 60, 3), np.uint8)
    frame[10:20, 10 + shift:30 + shift] = (255, 0, 0)
    return frame


def test_results_of_a_dataset_come_in_order_with_contours_and_timings(dataset, tmp_path):
    pipeline = Pipeline({**WITH_DATASET, "sinks": [{"type": "jsonl", "path": "contours.jsonl"}]}, input=dataset, output=tmp_path)
    numbers = []
    for result in pipeline:
        check(result, np.load(dataset / "maps" / f"{result.number:05}.npy"))
        numbers.append(result.number)
        frame, contours, timings = result
        assert frame is None and contours is result.contours
        assert {"end_to_end", "queue", "marching_squares", "contour_assembly"} <= set(timings)
        assert timings["end_to_end"] > 0
        by_class = result.by_class()
        assert list(by_class) == [one["name"] for one in CLASSES] and sum(map(len, by_class.values())) == len(contours)
        assert result.name.startswith(f"{result.number:05}") or result.name
    assert numbers == list(range(6))
    assert len((tmp_path / "contours.jsonl").read_text().splitlines()) == 6
    report = pipeline.report
    assert report["frames"] == {"in": 6, "out": 6, "failed": 0, "dropped": 0, "regrown": report["frames"]["regrown"]}
    assert report["backend"] == "cpu" and report["latency_ms"]["end_to_end"]["count"] == 6
    json.dumps(report)


def test_a_dict_may_have_types_alone_and_settings_of_classes_their_name(dataset):
    short = {**WITH_DATASET, "stages": ["marching_squares", "contour_assembly"]}
    whole = next(iter(Pipeline(WITH_DATASET, input=dataset)))
    assert np.array_equal(next(iter(Pipeline(short, input=dataset))).contours.points, whole.contours.points)
    raised = next(iter(Pipeline(short, input=dataset, classes__class0__level=2))).by_class()
    assert len(raised["class0"]) == 0 and len(raised["class1"]) == len(whole.by_class()["class1"]) > 0
    with pytest.raises(ValueError, match="unknown class 'clas0' .did you mean 'class0'.."):
        Pipeline(short, input=dataset, classes__clas0__level=2)


def test_iterating_again_starts_again_and_frames_stop_early(dataset):
    pipeline = Pipeline(WITH_DATASET, input=str(dataset), frames=3)
    assert [len(list(pipeline)) for _ in range(2)] == [3, 3]
    iterator = iter(Pipeline(WITH_DATASET, input=dataset))
    assert next(iterator).number == 0
    for result in (pipeline := Pipeline(WITH_DATASET, input=dataset)):
        break
    pipeline.close()
    assert pipeline.report["frames"]["out"] < 7 and result.number == 0


def test_iterating_shows_progress_where_tqdm_is_installed(dataset, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, **options):
            self.options, self.frames, self.closed = options, 0, False
            bars.append(self)

        def update(self):
            self.frames += 1

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(auto=sys.modules["tqdm.auto"]))
    assert len(list(Pipeline(WITH_DATASET, input=dataset))) == 6
    assert bars[0].options["total"] == bars[0].frames == 6 and bars[0].closed and bars[0].options["disable"] is None
    list(Pipeline(WITH_DATASET, input=dataset, progress=True))
    assert bars[1].options["disable"] is False
    list(Pipeline(WITH_DATASET, input=dataset, progress=False))
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # not installed
    list(Pipeline(WITH_DATASET, input=dataset))
    assert len(bars) == 2
    with pytest.raises(ImportError):
        list(Pipeline(WITH_DATASET, input=dataset, progress=True))


def test_overrides_reach_the_graph(dataset):
    few = next(iter(Pipeline(WITH_DATASET, input=dataset, contour_assembly__min_points=40)))
    more = next(iter(Pipeline(WITH_DATASET, input=dataset, slots=1, **{"contour_assembly.min_points": 3})))
    assert np.diff(few.contours.offsets).min() >= 40 and len(few.contours) < len(more.contours)


def test_frames_that_are_pushed_come_back_in_order():
    all_maps = [blobs(50, 60, 8, frame) for frame in range(12)]
    with Pipeline(GRAPH, layout="HWC") as pipeline:
        for maps in all_maps:
            pipeline.push(maps=maps)
        for number, maps in enumerate(all_maps):
            result = pipeline.pop()
            assert result.number == number
            check(result, maps)
        with pytest.raises(IndexError):
            pipeline.pop()
        for maps in all_maps[:3]:  # one at a time, planar
            pipeline.push(maps=np.moveaxis(maps, -1, 0)) if pipeline._planar else pipeline.push(maps=maps)
            check(pipeline.pop(), maps)
    assert pipeline.report["frames"]["out"] == 15


def test_a_class_that_is_empty_in_every_frame_is_a_warning_and_counted(tmp_path):
    (tmp_path / "maps").mkdir()
    for frame in range(3):
        np.save(tmp_path / "maps" / f"{frame}.npy", np.stack([blobs(24, 40, 2, frame)[..., 0], np.full((24, 40), 0.25)], 2).astype(np.float32))
    classes = [{"name": "one", "level": 0.5}, {"name": "two", "level": 0.75}]
    for given, empty in ((classes, ["class two: no contour in 3 frames; its level is 0.75"]), ([classes[0], {**classes[1], "hidden": True}], [])):
        pipeline = Pipeline({**WITH_DATASET, "classes": given}, input=tmp_path / "maps")
        for _ in range(2):  # each run counts for itself
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                counts = [len(result.contours) for result in pipeline]
            assert [str(one.message) for one in caught] == empty
            assert pipeline.report["classes"] == [{"name": "one", "contours": sum(counts)}, {"name": "two", "contours": 0}]


def test_what_is_missing_of_a_video_is_in_the_report_and_a_warning(tmp_path):
    whole, cut = tmp_path / "whole.mkv", tmp_path / "cut.mkv"
    record(whole, CHAINS["mkv"])
    cut.write_bytes(whole.read_bytes()[:whole.stat().st_size // 2])
    graph = {"source": {"type": "video", "location": "clip.mkv"}, "classes": [{"name": "red", "references": ["#ff0000"]}],
             "stages": [{"type": "classify"}, *STAGES], "pipeline": GRAPH["pipeline"]}
    pipeline = Pipeline(graph, input=whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(pipeline)) == FRAMES
    assert pipeline.report["source_faults"] == []
    pipeline = Pipeline(graph, input=cut)
    with pytest.warns(UserWarning) as caught:
        came = len(list(pipeline))
    (fault,) = pipeline.report["source_faults"]
    assert fault["missing"] == FRAMES - came > 0
    assert fault["reason"].startswith(f"{cut}: {came} of {FRAMES} frames came; the file is cut off")
    assert [(str(one.message), one.filename) for one in caught] == [(fault["reason"], __file__)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert next(iter(Pipeline(graph, input=cut))).number == 0
        pipeline = Pipeline(graph, input=cut)
        with pytest.raises(UserWarning, match="the file is cut off"):
            list(pipeline)
    assert len(pipeline.report["source_faults"]) == 1


def test_of_two_videos_at_a_time_libav_does_not_say_which_is_damaged(tmp_path):
    whole = tmp_path / "whole.mp4"
    record(whole, CHAINS["mp4"])
    damaged = with_concealed_pictures(whole, tmp_path / "damaged.mp4")
    graph = {"source": {"type": "video", "location": "clip.mp4"}, "classes": [{"name": "red", "references": ["#ff0000"]}],
             "stages": [{"type": "classify"}, *STAGES], "pipeline": GRAPH["pipeline"]}

    def faults(pipeline, results):
        with pytest.warns(UserWarning):
            assert len(list(results)) == FRAMES
        return [fault["reason"] for fault in pipeline.report["source_faults"]]
    alone = Pipeline(graph, input=damaged)
    (reason,) = faults(alone, alone)
    assert reason.startswith(f"{damaged}: {FRAMES} of {FRAMES} frames came; ") and reason.endswith(" (reported by libav)")
    first, second = Pipeline(graph, input=whole), Pipeline(graph, input=damaged)
    results = iter(first)
    doubt = " (reported by libav, of this video or of another that is read at the same time)"
    assert [reason.endswith(doubt) for reason in faults(second, second)] == [True]
    assert [reason.endswith(doubt) for reason in faults(first, results)] == [True]


def test_layouts_and_types_of_pushed_maps():
    maps = blobs(40, 50, 8, 0)
    with Pipeline(GRAPH) as pipeline:
        pipeline.push(maps=np.ascontiguousarray(np.moveaxis(maps, -1, 0)))
        check(pipeline.pop(), maps)
        pipeline.push(maps=np.moveaxis(maps, -1, 0))  # strided
        check(pipeline.pop(), maps)
        pipeline.push(maps=np.moveaxis(maps.astype(np.float16), -1, 0))
        check(pipeline.pop(), maps.astype(np.float16))
        larger = blobs(70, 90, 8, 1)
        pipeline.push(maps=np.moveaxis(larger, -1, 0))
        check(pipeline.pop(), larger)


def test_pictures_give_overlays_and_html():
    pipeline = Pipeline(PICTURES)
    assert "push" in repr(pipeline) and "classify" in pipeline._repr_html_()
    pipeline.push(picture())
    result = pipeline.pop()
    assert np.array_equal(result.frame[..., :3], picture()) and result.overlay.shape[:2] == (40, 60)
    assert not np.array_equal(result.overlay[..., :3], result.frame[..., :3])
    assert len(result.by_class()["red"]) == 1
    assert np.allclose(result.on_frame(result.by_class()["red"][0]).mean(0), [14.5, 19.5], atol=0.6)
    data = re.search(r'data:image/png;base64,([^"]+)"', pipeline._repr_html_()).group(1)
    image = decode_png(base64.b64decode(data))
    assert np.array_equal(image, result.overlay)
    pipeline.close()
    without = Pipeline(PICTURES.replace("  - {type: overlay}\n", "").replace("  - {type: classify}", "  - {type: classify}"))
    without.push(picture(5))
    assert "<polyline" in without.pop()._svg()
    plain = Pipeline(PICTURES, images=False)
    plain.push(picture())
    result = plain.pop()
    assert result.frame is None and result.overlay is None and "<svg" in result._repr_html_()
    for one in (without, plain):
        one.close()


def decode_png(data):
    from skimage import io
    import io as files
    return io.imread(files.BytesIO(data))


def test_frames_that_fail_raise_where_they_would_have_come(tmp_path):
    (tmp_path / "maps").mkdir()
    for frame in range(4):
        np.save(tmp_path / "maps" / f"{frame}.npy", blobs(20, 30, 8, frame))
    (tmp_path / "maps" / "1.npy").write_bytes((tmp_path / "maps" / "1.npy").read_bytes()[:200])
    results, errors = [], []
    iterator = iter(Pipeline(WITH_DATASET, input=tmp_path))
    while True:
        try:
            results.append(next(iterator).number)
        except FrameError as error:
            errors.append((error.frame, error.reason))
        except StopIteration:
            break
    assert results == [0, 2, 3] and errors[0][0] == 1 and "1.npy" in errors[0][1]


@pytest.mark.parametrize("error,message,make", [
    (ValueError, "nonsense", lambda: Pipeline({"classes": CLASSES, "stages": [{"type": "nonsense"}]})),
    (ValueError, "stages", lambda: Pipeline("source: {type: push}\nstagess: []\n")),
    (ValueError, "classify is missing", lambda: Pipeline(PICTURES.replace("  - {type: classify}\n", ""))),
    (ValueError, "classify is missing", lambda: Pipeline({**GRAPH, "classes": [{"name": "a", "ranges": [{"hue": [0, 9]}]}]})),
    (FileNotFoundError, "missing.yaml", lambda: Pipeline("missing.yaml")), (TypeError, "", lambda: Pipeline(3)),
    (TypeError, "", lambda: Pipeline(None)), (TypeError, "colour", lambda: Pipeline(GRAPH, colour=3)),
    (ValueError, "min_pts", lambda: Pipeline(GRAPH, contour_assembly__min_pts=3)),
    (ValueError, "min_points", lambda: Pipeline(GRAPH, contour_assembly__min_points=-3)),
    (ValueError, "backend", lambda: Pipeline(GRAPH, backend="gpu")), (ValueError, "layout", lambda: Pipeline(GRAPH, layout="WHC")),
    (ValueError, "push", lambda: list(Pipeline(GRAPH))), (FileNotFoundError, "nowhere", lambda: list(Pipeline(WITH_DATASET))),
    (ValueError, "frames", lambda: Pipeline(GRAPH, frames=-1)),
    (TypeError, "frame", lambda: Pipeline(GRAPH).push()), (TypeError, "uint8", lambda: Pipeline(PICTURES).push(np.zeros((4, 4, 3)))),
    (ValueError, "dimensions", lambda: Pipeline(GRAPH).push(maps=np.zeros(4))),
    (ValueError, "dimensions", lambda: Pipeline(GRAPH).push(maps=np.zeros((1, 2, 3, 4)))),
    (ValueError, "channels", lambda: Pipeline(GRAPH).push(maps=np.zeros((3, 9, 9)))),
    (ValueError, "rows", lambda: Pipeline(GRAPH).push(maps=np.zeros((8, 0, 9)))),
    (TypeError, "list", lambda: Pipeline(GRAPH).push(maps=[[1.0]])), (IndexError, "popped", lambda: Pipeline(GRAPH).pop()),
])
def test_wrong_graphs_and_frames_are_refused(error, message, make):
    with pytest.raises(error, match=message or None):
        make()


def test_a_graph_that_has_ended_refuses_frames():
    pipeline = Pipeline(GRAPH, frames=1)
    maps = blobs(20, 30, 8, 0).transpose(2, 0, 1)
    pipeline.push(maps=maps)
    pipeline.pop()
    with pytest.raises(ValueError, match="ended"):
        for _ in range(3):
            pipeline.push(maps=maps)
    pipeline.close()
    iterating = Pipeline(PICTURES)
    iterating.push(picture())
    iterating.finish()
    assert iterating.report["frames"]["out"] == 1


def test_pushing_and_popping_from_two_threads():
    maps = [blobs(40, 50, 8, frame).transpose(2, 0, 1) for frame in range(4)]
    pipeline, numbers = Pipeline(GRAPH), []
    pipeline.push(maps=maps[0])

    def pop():
        while len(numbers) < 60:
            try:
                numbers.append(pipeline.pop().number)
            except IndexError:
                time.sleep(0.001)

    taker = threading.Thread(target=pop)
    taker.start()
    for turn in range(1, 60):
        pipeline.push(maps=maps[turn % 4])
    taker.join(30)
    assert numbers == list(range(60))
    pipeline.close()


def test_memory_and_references_are_given_back():
    maps = blobs(200, 300, 8, 0).transpose(2, 0, 1).copy()
    references = sys.getrefcount(maps)

    def runs(count):
        for _ in range(count):
            with Pipeline(GRAPH) as pipeline:
                for _ in range(5):
                    pipeline.push(maps=maps)
                for _ in range(4):
                    pipeline.pop()
            dropped = Pipeline(GRAPH)
            dropped.push(maps=maps)
            del dropped
        gc.collect()

    runs(3)
    before = resident_bytes()
    runs(10)
    assert resident_bytes() - before < 24 << 20 and sys.getrefcount(maps) == references


def test_ctrl_c_ends_waiting_for_a_result():
    out = run_python("""
import os, signal, threading
import contorno
graph = {"classes": [{"name": "a", "level": 0.5, "colour": "#ffffff"}], "stages": [{"type": "marching_squares"}, {"type": "contour_assembly"}]}
import numpy as np
pipeline = contorno.Pipeline(graph, backend="cpu")
pipeline.push(maps=np.zeros((1, 8, 8)))
pipeline.pop()
pipeline._outstanding = 1
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    pipeline.pop()
except KeyboardInterrupt:
    print("interrupted")
""")
    assert out.strip() == "interrupted"


def test_a_forked_process_is_told_that_the_pipeline_is_not_its_own():
    out = run_python("""
import os
import contorno, numpy as np
graph = {"classes": [{"name": "a", "level": 0.5, "colour": "#ffffff"}], "stages": [{"type": "marching_squares"}, {"type": "contour_assembly"}]}
pipeline = contorno.Pipeline(graph, backend="cpu")
pipeline.push(maps=np.zeros((1, 8, 8)))
child = os.fork()
if child == 0:
    try:
        pipeline.pop()
    except RuntimeError as error:
        del pipeline
        os._exit(0 if "forked" in str(error) else 3)
    finally:
        os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
pipeline.pop()
pipeline.close()
""")
    assert out.strip() == "0"


def test_the_package_is_light_until_a_graph_is_made():
    assert run_python("import contorno, sys; print('contorno._pipeline' in sys.modules)").strip() == "False"


def test_graphs_may_be_made_of_all_that_the_program_knows(contorno):
    from contorno import _pipeline
    listed = contorno("stages").stdout
    program = {"sources": [], "stages": [], "sinks": []}
    for line in listed.splitlines():
        if line in program:
            section = line
        elif match := re.match(r"  (\w+)  ", line):
            program[section].append(match.group(1))
    assert program["stages"] == list(_pipeline.types["stages"])
    assert [*program["sources"], "push"] == list(_pipeline.types["sources"])
    assert program["sinks"] == list(_pipeline.types["sinks"])


def test_classes_that_a_graph_takes_from_the_maps_are_named_in_the_results():
    graph = {"classes": "auto", "stages": ["marching_squares", "contour_assembly"]}
    maps = np.stack([blobs(24, 40, 3, 0)[..., one] for one in range(3)])
    with Pipeline(graph) as pipeline:
        pipeline.push(maps=maps)
        found = pipeline.pop().by_class()
    assert list(found) == ["class0", "class1", "class2"] and any(found.values())
