"""Stages on contours as functions of the Python package: forms, types and errors. What the stages compute is tested with them."""
import gc
import inspect
import itertools
import json
import sys

import numpy as np
import pytest

from tests.conftest import run_contorno
from tests.plugins.python.contour_cases import NEEDED, contours, flat, is_closed, largest, same_arrays, size_of
from tests.plugins.python.package import contorno, resident_bytes
from tests.stages.contours.fields import smooth

ON_CONTOURS = [name for name, stage in contorno.stages().items()
               if [port[1] for port in stage["inputs"]] == [port[1] for port in stage["outputs"]] == ["contours"]]
first = contorno.largest_first


def by_the_program(folder, name, given, options):
    """What `contorno apply` makes of contours in a file, as float32."""
    frame = {"width": 64, "height": 64, "classes": [{"name": "one", "level": 0.5, "contours": [
        {"closed": is_closed(one), "points": one[:, ::-1].tolist()} for one in given]}]}
    (folder / "in.jsonl").write_text(json.dumps(frame))
    words = [word for key, value in options.items() if key != "size" for word in (f"--{key}", json.dumps(value))]
    run_contorno("apply", name, "in.jsonl", "out.jsonl", *words, cwd=folder)
    made = json.loads((folder / "out.jsonl").read_text())["classes"][0]["contours"]
    return [np.array(one["points"], np.float32).reshape(-1, 2)[:, ::-1] for one in made]


def are_same(got, wanted):
    return len(got) == len(wanted) and all(np.array_equal(one, np.float32(other)) for one, other in zip(got, wanted))


def same_objects(got, wanted):
    assert isinstance(got, list) and len(got) == len(wanted) and all(a is b for a, b in zip(got, wanted))


@pytest.mark.parametrize("name", ON_CONTOURS)
def test_every_stage_on_contours_is_a_function_with_its_options(name, tmp_path):
    function = getattr(contorno, name)
    assert name in contorno.__all__ and function.__name__ == name
    options = {param["name"] for param in contorno.stages()[name]["params"]}
    assert options <= set(inspect.signature(function).parameters) and contorno.stages()[name]["summary"] in function.__doc__
    given = contours(1, 30)
    needed = NEEDED.get(name, {})
    wanted = by_the_program(tmp_path, name, given, needed)
    for got in (function(given, **needed), contorno.apply(name, given, **needed)):
        assert len(wanted) > 3 and are_same(got, wanted)
    if name in ("measure", "hierarchy", "fourier_descriptors", "track", "objects"):  # lists cannot have attributes
        assert len(function([], **needed)) == len(function([[], []], **needed)) == 0
    else:
        assert function([], **needed) == [] and function([[], []], **needed) == [[], []]
    none = function(flat([]), **needed)
    assert len(none) == 0 and none.points.shape == (0, 2) and none.offsets.tolist() == [0]


@pytest.mark.parametrize("call", [
    lambda given, **options: contorno.close_at_border(given, **options), lambda given, **options: contorno.apply("close_at_border", given, **options),
    lambda given, **options: contorno.contour_prep(given, ["drop_small", "close_at_border"], **options),
    lambda given, **options: contorno.contour_prep(given, [{"type": "close_at_border"}], **options)])
def test_contours_are_not_closed_at_the_border_of_a_map_of_unknown_size(call):
    with pytest.raises(TypeError, match="close_at_border needs size=: "):
        call(contours(1, 30))


# Lists -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("by", ["points", "length", "area"])
@pytest.mark.parametrize("limit", [0, 1, 7, 1000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int16, np.uint8, np.int64])
def test_a_list_has_the_largest_of_the_given_arrays(by, limit, dtype):
    for count in (0, 1, 2, 8, 150):
        with np.errstate(all="ignore"):
            given = [(4 * one if np.dtype(dtype).kind in "iu" else one).astype(dtype) for one in contours(2, count)]
        for threads in (1, 3):
            same_objects(first(given, by=by, limit=limit, threads=threads), [given[i] for i in largest(given, by, limit)])


def test_contours_of_find_contours_come_in_the_order_of_their_sizes():
    found = contorno.find_contours(smooth(np.random.default_rng(3), (90, 120), 1.5), 0.5)
    for by in ("points", "length", "area"):
        sorted_ = first(found, by=by)
        assert sorted(map(id, sorted_)) == sorted(map(id, found))
        sizes = [size_of(one, by) for one in sorted_]
        assert len(found) > 20 and all(a > b - 1e-4 for a, b in zip(sizes, sizes[1:]))


def test_equal_sizes_keep_their_order_and_one_point_is_open():
    square = np.array([[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]])
    given = [np.array([[3.0, 4]]), square + 1.5, square[::-1] + 9, square[:4] * 100, square * 2, square.astype(np.uint16)]
    same_objects(first(given), [given[i] for i in (4, 1, 2, 5, 0, 3)])
    same_objects(first(tuple(given), by="points", limit=5), [given[i] for i in (1, 2, 4, 5, 3)])


def test_a_contour_is_closed_by_the_points_that_were_given():
    """Ends that differ in float64 alone do not close it."""
    square = np.array([[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]], np.float64)
    nearly = 3 * square
    nearly[-1, 0] = 1e-60
    same_objects(first([nearly, square]), [square, nearly])


def test_points_that_are_no_numbers_reach_the_stage_as_they_are():
    square = np.array([[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]], np.float64)
    bad = square.copy()
    bad[2] = np.nan, np.inf
    same_objects(first([square, bad], by="points"), [square, bad])
    same_objects(first([bad, square], by="length"), [square, bad])  # two of its segments count
    far = np.array([[0, 0], [0, 1e300], [0, 1]])  # infinite in float32
    same_objects(first([far, square], by="length"), [square, far])


def test_small_contours_are_dropped_and_the_others_are_those_that_were_given():
    given = [*contours(4, 40), np.array([[0, 0], [3, 4], [0, 0]]), np.array([[7, 7]])]
    for least in (1, 3, 9, 100):
        same_objects(contorno.drop_small(given, min_points=least), [one for one in given if len(one) >= least])
    same_objects(contorno.drop_small(given, min_points=0, min_area=2.5), [one for one in given if len(one) and size_of(one, "area") >= 2.5])


def test_lists_of_lists_are_classes_frames_and_levels():
    every = [contours(seed, 12) for seed in range(8)]
    wanted = [[one[i] for i in largest(one, limit=3)] for one in every]
    for a, b in zip(first(every[:4], limit=3), wanted, strict=False):
        same_objects(a, b)
    frames = first([[every[0], every[1]], [every[2], [], every[3]]], limit=3)
    assert [len(frame) for frame in frames] == [2, 3] and frames[1][1] == []
    for a, b in zip((frames[0][0], frames[0][1], frames[1][0], frames[1][2]), wanted):
        same_objects(a, b)
    levels = first([[every[0:2], every[2:4]], [every[4:6], every[6:8]]], limit=3)
    for a, b in zip((level for frame in levels for plane in frame for level in plane), wanted, strict=True):
        same_objects(a, b)


def test_batches_are_taken_as_they_come():
    maps = np.stack([[smooth(np.random.default_rng(10 * f + k), (40, 50), 1.5) for k in range(3)] for f in range(2)])
    for levels in (0.5, [[0.4, 0.5]]):
        nested = contorno.find_contours_batch(maps, levels)
        arrays = contorno.find_contours_batch(maps, levels, flat=True)
        for frame, (a, b) in enumerate(zip(nested, first(nested, by="points", limit=4), strict=True)):
            for k, (c, d) in enumerate(zip(a, b, strict=True)):
                for one, made in zip(c, d, strict=True) if levels != 0.5 else [(c, d)]:
                    same_objects(made, [one[i] for i in largest(one, "points", 4)])
        made = first(arrays, by="points", limit=4)
        listed = first(nested, by="points", limit=4)
        leaves = [one for frame in listed for k in frame for one in (k if levels != 0.5 else [k])]
        assert len(made) == sum(map(len, leaves))
        assert all(np.array_equal(a, b) for a, b in zip(made, (one for leaf in leaves for one in leaf)))


# Arrays ------------------------------------------------------------------------------------------------------------

def frames_of(seed, frames, classes, levels, count):
    return [[[contours(seed + 100 * f + 10 * k + level, count) for level in range(levels)] for k in range(classes)] for f in range(frames)]


def kept(frames, by, limit):
    return [[[[one[i] for i in largest(one, by, limit)] for one in levels] for levels in classes] for classes in frames]


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 4, 1), (3, 2, 1), (2, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_flat_arrays_keep_type_classes_frames_and_levels(shape, dtype):
    given = frames_of(5, *shape, 11)
    for by, limit in (("area", 0), ("length", 4)):
        made = first(flat(given, dtype), by=by, limit=limit)
        assert isinstance(made, contorno.ContourArrays)
        same_arrays(made, flat(kept(given, by, limit), dtype))


def test_classes_and_frames_without_contours_are_left_out_of_nothing():
    given = frames_of(6, 3, 3, 1, 6)
    given[1] = [[[]], [[]], [[]]]
    given[0][1] = given[2][0] = [[]]
    same_arrays(first(flat(given), limit=2), flat(kept(given, "area", 2)))


def test_tables_of_other_types_and_strides_are_taken():
    given = flat(frames_of(7, 2, 2, 1, 9))
    wide = np.zeros((2 * len(given.points), 5))
    wide[::2, 1:4:2] = given.points
    other = contorno.ContourArrays(wide[::2, 1:4:2], given.offsets.astype(np.uint32), given.closed.astype(np.uint8),
                                   given.class_ids.astype(np.int64)[::-1].copy()[::-1], given.frame_ids, given.level_ids)
    same_arrays(first(other, limit=3), first(given, limit=3))


@pytest.mark.parametrize("options", [{"points": 7}, {"spacing": 0.3}])
def test_frames_whose_points_a_stage_computes_keep_their_places(options):
    """Frames of very different sizes, one without contours; beside NumPy's interpolation."""
    given = [[[[], contours(31, 3)]], [[[], []]], [[contours(32, 40), contours(33, 9)]]]
    made = contorno.resample(flat(given), **options)
    wanted = flat([[[contorno.resample(one, **options) for one in levels] for levels in classes] for classes in given], np.float32)
    every = [one for classes in given for levels in classes for level in levels for one in level]
    wanted.closed = np.array([is_closed(one) for one in every])  # one point becomes several equal ones, and stays open
    same_arrays(made, wanted)
    assert made.points.dtype == np.float32 and sorted(set(made.frame_ids.tolist())) == [0, 2]
    for one, got in zip(every, made, strict=True):
        steps = len(got) - 1
        if not len(one):
            assert not len(got)
            continue
        at = np.concatenate([[0], np.hypot(*np.diff(one, axis=0).T).cumsum()])
        along = [np.interp(np.linspace(0, at[-1], steps + 1), at, one[:, axis]) for axis in (0, 1)]
        assert np.allclose(got, np.stack(along, axis=1) if at[-1] > 0 else one[0], atol=2e-5)


def test_points_that_a_stage_computes_are_float32(monkeypatch):
    """As of a stage that says of no contour where it comes from."""
    core, given = contorno._contours._core.apply_to_contours, frames_of(8, 2, 2, 1, 9)

    def computing(stage, params, points, at, offsets, closed, begin, *where):
        _, offsets_, closed_, begin_, sources, attributes = core(stage, params, points, at, offsets, closed, begin, *where)
        parts = [points[at + offsets[i]:at + offsets[i + 1]] for i in sources]
        return np.concatenate([np.zeros((0, 2), np.float32), *parts]), offsets_, closed_, begin_, None, attributes

    wanted = first(flat(given, np.float32), limit=4)
    monkeypatch.setattr(contorno._contours._core, "apply_to_contours", computing)
    same_arrays(first(flat(given), limit=4), wanted)
    nested = first([[k[0] for k in frame] for frame in given], limit=4)
    contour = iter(wanted)
    for frame in nested:
        for k in frame:
            assert len(k) == 4
            for one in k:
                assert one.dtype == np.float32 and np.array_equal(one, next(contour))


# Errors ------------------------------------------------------------------------------------------------------------

LINE = np.array([[0.0, 1], [2, 3]])


@pytest.mark.parametrize("error,message,given,options", [
    (TypeError, "contours is a ndarray, wanted a list of .n, 2. arrays, or ContourArrays", LINE, {}), (TypeError, "contours is a NoneType", None, {}),
    (ValueError, r"contours\[1\] has shape \(2, 3\), wanted \(n, 2\)", [LINE, np.zeros((2, 3))], {}),
    (ValueError, r"contours\[0\]\[1\] has shape \(4,\), wanted \(n, 2\)", [[LINE, np.zeros(4)]], {}),
    (TypeError, r"contours\[0\] has dtype complex128", [LINE.astype(complex)], {}), (TypeError, r"contours\[0\] has dtype bool", [LINE > 1], {}),
    (TypeError, r"contours\[0\]\[0\]\[0\] is a float", [[[0.0, 1], [2, 3]]], {}), (TypeError, "masked", [np.ma.asarray(LINE)], {}),
    (TypeError, r"contours\[0\] is a ndarray, wanted a list", [LINE, [LINE]], {}), (ValueError, "lists of contours beside", [[LINE], [[LINE]]], {}),
    (ValueError, "more than four levels", [[[[[LINE]]]]], {}),
    (ValueError, r"by is .*wide.*allowed|allowed.*points, length, area", [LINE], {"by": "wide"}), (ValueError, "limit is -1, allowed", [LINE], {"limit": -1}),
    (TypeError, r"unexpected keyword argument 'limits' \(did you mean 'limit'\?\)", [LINE], {"limits": 1}),
    (ValueError, r"size is \(0, 5\), allowed \(width, height\)", [LINE], {"size": (0, 5)}), (ValueError, "size is 7", [LINE], {"size": 7}),
    (ValueError, "threads", [LINE], {"threads": 0}), (ValueError, "backend", [LINE], {"backend": "gpu"}), (ValueError, "output", [LINE], {"output": "x"}),
    (ValueError, "allowed up to 1024", [[] for _ in range(1025)], {}), (ValueError, "allowed 65536 of both", [[LINE]] * 65537, {}),
])
def test_what_is_no_contours_is_refused(error, message, given, options):
    with pytest.raises(error, match=message):
        first(given, **options)


@pytest.mark.parametrize("error,message,changes", [
    (ValueError, "shape", {"points": np.zeros((4, 3))}), (TypeError, "contours.points has dtype bool", {"points": np.zeros((4, 2), bool)}),
    (ValueError, "has 3 points, and contours.offsets ends at 4", {"points": np.zeros((3, 2))}), (ValueError, "ascend", {"offsets": np.array([1, 2, 4])}),
    (ValueError, "ascend", {"offsets": np.array([0, 5, 4])}), (ValueError, r"offsets has shape \(2,\), wanted \(3,\)", {"offsets": np.array([0, 4])}),
    (TypeError, "offsets has dtype float64", {"offsets": np.array([0.0, 2, 4])}), (ValueError, "closed has shape", {"closed": np.zeros((2, 2), bool)}),
    (ValueError, "class_ids has shape", {"class_ids": np.zeros(3, np.int32)}), (ValueError, "ids of -1", {"class_ids": np.array([-1, 0])}),
    (ValueError, "order of frames", {"class_ids": np.array([1, 0])}), (ValueError, "order of frames", {"frame_ids": np.array([1, 0])}),
    (ValueError, "70001 classes", {"class_ids": np.array([0, 70000])}),
    (ValueError, "contour 1 is closed, but its last point is not its first", {"points": np.arange(8.0).reshape(4, 2), "closed": np.array([False, True])}),
    (ValueError, "contour 0 is closed, but", {"points": np.array([[np.nan, 0], [0, 0], [1, 1], [1, 1]]), "closed": np.ones(2, bool)})])
def test_arrays_that_do_not_go_together_are_refused(error, message, changes):
    arrays = {"points": np.zeros((4, 2)), "offsets": np.array([0, 2, 4]), "closed": np.zeros(2, bool),
              **{name: np.zeros(2, np.int32) for name in ("class_ids", "frame_ids", "level_ids")}}
    assert len(first(contorno.ContourArrays(**arrays))) == 2
    without_numbers = np.array([[np.nan, 0], [np.nan, 0], [1, 1], [2, 1]])
    assert len(first(contorno.ContourArrays(**{**arrays, "points": without_numbers, "closed": np.array([True, False])}))) == 2
    with pytest.raises(error, match=message):
        first(contorno.ContourArrays(**{**arrays, **changes}))


def test_stages_on_images_refuse_contours_and_the_other_way_round():
    with pytest.raises(ValueError, match="makes contours, allowed images; use it in a graph"):
        contorno.apply("contours", np.zeros((9, 9), np.uint8))
    with pytest.raises(ValueError, match="a part of the stage 'contours'"):
        contorno.apply("contour_assembly", np.zeros((9, 9), np.uint8))
    with pytest.raises(ValueError, match="takes contours, allowed images; use it in a graph"):
        contorno.apply("overlay", np.zeros((9, 9), np.uint8))
    with pytest.raises(TypeError, match="contours is a ndarray"):
        contorno.apply("largest_first", np.zeros((9, 9), np.uint8))
    with pytest.raises((TypeError, ValueError)):
        contorno.apply("morphology", [LINE])


def test_references_and_memory_are_given_back():
    given, arrays = contours(9, 200), flat([[[contours(9, 200)]]])
    one = given[0]

    def calls(count):
        for _ in range(count):
            first(given)
            first(arrays, limit=9)
            with pytest.raises(ValueError):
                first(given, by="wide")
        gc.collect()

    calls(10)
    references, before = sys.getrefcount(one), resident_bytes()
    calls(60)
    assert sys.getrefcount(one) == references and resident_bytes() - before < 8 << 20


# Lists of steps ----------------------------------------------------------------------------------------------------

def one_after_the_other(given, steps):
    for step in steps:
        params = {"type": step} if isinstance(step, str) else dict(step)
        given = getattr(contorno, params.pop("type"))(given, **params)
    return given


def test_steps_give_what_their_functions_give_one_after_the_other():
    given = contours(5, 80)
    steps = [{"type": "largest_first", "limit": 30}, {"type": "resample", "spacing": 0.5}, {"type": "drop_small", "min_points": 24}]
    for count in (1, 2, 3):
        got = contorno.contour_prep(given, steps=steps[:count])
        assert 0 < len(got) < len(given) and are_same(got, one_after_the_other(given, steps[:count]))
    assert are_same(contorno.contour_prep(given, steps=["drop_small"]), contorno.drop_small(given))
    # In every other order they make something else.
    for other in list(itertools.permutations(steps))[1:]:
        assert not are_same(one_after_the_other(given, other), one_after_the_other(given, steps)), other
        assert are_same(contorno.contour_prep(given, steps=other), one_after_the_other(given, other)), other


@pytest.mark.parametrize("steps, kind, words", [
    ("drop_small", TypeError, "steps is 'drop_small', wanted a list of steps, each one of "),
    ([], ValueError, "steps is [], allowed a list of steps, each one of "),
    (["drop_smal"], ValueError, "steps[0] is 'drop_smal' (did you mean 'drop_small'?), wanted the name of a step or a dict with its 'type', "
     "as {'type': 'drop_small', 'min_points': 4}; allowed is a list of steps, each one of exclude, "),
    (["drop_small", {"min_points": 3}], ValueError, "steps[1] is {'min_points': 3}, wanted the name of a step"),
    ([{"type": "drop_small", "min_point": 3}], ValueError, "steps[0] 'drop_small': unknown key 'min_point' (did you mean 'min_points'?)"),
    ([{"type": "drop_small", "min_points": -3}], ValueError, "steps[0] 'drop_small': min_points is -3, allowed"),
    (["contour_prep"], ValueError, "steps[0] is 'contour_prep'"),
])
def test_what_is_wrong_with_steps_is_told(steps, kind, words):
    with pytest.raises(kind) as refused:
        contorno.contour_prep([], steps=steps)
    assert words in str(refused.value)


def test_contour_prep_needs_steps():
    with pytest.raises(TypeError, match=r"contour_prep\(\) needs steps=: a list of steps, each one of "):
        contorno.contour_prep([])


# Options without their names ---------------------------------------------------------------------------------------

def test_options_of_steps_may_be_given_without_their_names():
    given = contours(6, 60)
    for got, wanted in ((contorno.drop_small(given, 4, 2.5), contorno.drop_small(given, min_points=4, min_length=2.5)),
                        (contorno.merge_close(given, 3), contorno.merge_close(given, distance=3)),
                        (contorno.drop_duplicates(given, 2, "any_earlier"), contorno.drop_duplicates(given, distance=2, rule="any_earlier")),
                        (contorno.exclude(given, [1, 2, 30, 20], 9), contorno.exclude(given, points=[1, 2, 30, 20], radius=9)),
                        (contorno.contour_prep(given, ["drop_small"]), contorno.contour_prep(given, steps=["drop_small"]))):
        assert 0 < len(got) and all(np.array_equal(one, other) for one, other in zip(got, wanted, strict=True))
    with pytest.raises(TypeError, match="multiple values for argument 'min_points'"):
        contorno.drop_small(given, 4, min_points=5)
    with pytest.raises(TypeError, match="too many positional arguments"):
        contorno.merge_close(given, 3, 4)
