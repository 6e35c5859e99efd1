"""What the package says when it is looked at or called wrongly: names, suggestions, conversions, short texts."""
import os
import pathlib
import pydoc
import re
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

from tests.conftest import ROOT, blobs
from tests.plugins.python.package import BUILD, PACKAGE, contorno, run_python

HAS_GRAPHS = bool(list((BUILD / "python" / "contorno").glob("_pipeline.*.so")))
needs_graphs = pytest.mark.skipif(not HAS_GRAPHS, reason="needs contorno._pipeline: a build where yaml-cpp is installed")
IMAGE = np.arange(30 * 40, dtype=np.float64).reshape(30, 40) / 1200
GRAPH = {"classes": [{"name": "one", "level": 0.5}], "pipeline": {"backend": "cpu"},
         "stages": [{"type": "marching_squares"}, {"type": "contour_assembly"}]}


# Types of samples --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, fix", [
    (lambda image: contorno.erode(image, 3), "image.astype('float32')"),
    (lambda image: contorno.hit_or_miss(image, [[1, 0]], [[0, 1]]), "image.astype('float32')"),
    (lambda image: contorno.reconstruct(image, image), "image.astype('float32')"),
    (lambda image: contorno.mipmaps(image), "image.astype('float32')"),
    (lambda image: contorno.apply("morphology", image), "image.astype('float32')"),
    (lambda image: contorno.mean_shift_filter(image, 2, 10), "(image * 255).round().astype('uint8')"),
    (lambda image: contorno.mean_shift_segment(image, 2, 10), "(image * 255).round().astype('uint8')"),
])
@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_a_type_that_is_refused_is_named_with_its_conversion(call, fix, dtype):
    with pytest.raises(ValueError) as caught:
        call(IMAGE.astype(dtype))
    assert np.dtype(dtype).name in str(caught.value) and str(caught.value).endswith(fix), str(caught.value)
    call(eval(fix, {"image": IMAGE}))  # and the conversion is accepted


def test_preprocess_takes_float16_and_names_the_conversion_of_float64():
    assert contorno.apply("preprocess", IMAGE.astype(np.float16)).dtype == np.float32
    with pytest.raises(ValueError, match=r"float64.*image\.astype\('float32'\)$"):
        contorno.apply("preprocess", IMAGE)


def test_other_errors_are_left_as_they_are():
    with pytest.raises(ValueError) as caught:
        contorno.erode(IMAGE.astype(np.float32), 3, border="bordr")
    assert "astype" not in str(caught.value)


@needs_graphs
@pytest.mark.parametrize("dtype, fix", [(np.float64, "(frame * 255).round().astype('uint8')"), (np.uint16, "wanted uint8")])
def test_frames_that_are_no_bytes_are_refused_with_their_conversion(dtype, fix):
    with pytest.raises(TypeError) as caught:
        contorno.Pipeline({"stages": []}).push(IMAGE.astype(dtype))
    assert str(caught.value).startswith(f"frame is of {np.dtype(dtype).name}, wanted uint8") and str(caught.value).endswith(fix)


# Structuring elements ----------------------------------------------------------------------------------------------

def test_a_number_is_a_square_and_two_are_a_rectangle():
    image = np.random.default_rng(1).integers(0, 256, (30, 40), np.uint8)
    for given, array in ((3, np.ones((3, 3))), (np.int64(5), np.ones((5, 5))), ((5, 3), np.ones((3, 5))), ([1, 7], np.ones((7, 1)))):
        for name in ("open", "close", "erode", "dilate", "gradient", "tophat"):
            function = getattr(contorno, name)
            assert np.array_equal(function(image, given), function(image, array)), (name, given)


def test_an_array_of_two_numbers_stays_an_array():
    image = np.random.default_rng(1).integers(0, 256, (30, 40), np.uint8)
    with pytest.raises(ValueError, match="1 dimensions, wanted 2"):
        contorno.erode(image, np.array([3, 3]))
    for given in ("disk", 2.5):
        with pytest.raises(TypeError, match="diameter=7"):
            contorno.erode(image, given)


@pytest.mark.parametrize("given", [0, -3, (3, 0), True, 10**6])
def test_sizes_that_are_none_are_refused(given):
    with pytest.raises((ValueError, TypeError)):
        contorno.erode(np.zeros((9, 9), np.uint8), given)


@pytest.mark.parametrize("shape", ["disk", "diamond", "octagon", "rectangle", "cross", "ellipse"])
def test_a_radius_is_not_taken_for_a_diameter(shape):
    seven = contorno.element(shape, 7)
    assert seven.shape == (7, 7)
    for same in (contorno.element(shape, radius=3), contorno.element(shape, diameter=7), contorno.element(shape, size=7)):
        assert np.array_equal(same, seven)
    assert contorno.element(shape).shape == (3, 3) and contorno.element(shape, radius=0).shape == (1, 1)


def test_only_one_size_is_taken():
    with pytest.raises(TypeError, match="size and radius were given"):
        contorno.element("disk", 3, radius=3)
    for radius in (-1, 1.5, True):
        with pytest.raises(ValueError, match="radius is"):
            contorno.element("disk", radius=radius)


# Looking around ----------------------------------------------------------------------------------------------------

def test_reprs_are_short():
    stages = contorno.stages()
    lines = repr(stages).splitlines()
    assert len(lines) == len(stages) and lines[0].startswith(f"{next(iter(stages))}: ")
    assert repr(stages["morphology"]).startswith("<stage morphology: image -> image; operation, ")
    assert isinstance(stages, dict) and isinstance(stages["morphology"], dict)
    found = contorno.mean_shift(np.repeat([[0.0, 0], [9, 9]], 500, axis=0), 1)
    assert repr(found) == f"<MeanShift: 2 clusters of 1000 points, {found.iterations} iterations, cpu>"
    for one in (found, *stages.values(), contorno.find_contours_batch(blobs(24, 40, 2, 0), 0.5, layout="HWC", flat=True)):
        assert len(repr(one)) < 400


@needs_graphs
def test_reprs_of_graphs_and_results_are_short():
    pipeline = contorno.Pipeline(GRAPH)
    assert repr(pipeline) == "<Pipeline: push -> contour_assembly>"
    pipeline.push(maps=IMAGE.astype(np.float32))
    assert len(repr(pipeline.pop())) < 100
    pipeline.finish()


@needs_graphs
def test_what_is_loaded_late_is_listed():
    assert set(contorno.__all__) <= set(dir(contorno)) and "Pipeline" in dir(contorno)
    assert "class Pipeline" in pydoc.plain(pydoc.render_doc(contorno))
    assert "A graph of stages, run frame by frame." in pydoc.plain(pydoc.render_doc(contorno.Pipeline))


def test_graphs_that_cannot_be_loaded_say_what_they_need():
    text = run_python("""
import sys
sys.modules["contorno._pipeline"] = None
import contorno, pydoc
from contorno import *
assert hasattr(contorno, "Pipeline") and issubclass(FrameError, Exception)
assert "class Pipeline" in pydoc.plain(pydoc.render_doc(contorno))
for make in (Pipeline, contorno.Result):
    try:
        make("graph.yaml", input="belt.mp4")
    except ImportError as error:
        print(error)
""")
    lines = text.splitlines()
    assert len(lines) == 2 and lines[0].startswith("contorno.Pipeline needs contorno._pipeline, which cannot be loaded here: ")
    assert lines[1].startswith("contorno.Result needs")


def test_a_build_that_cannot_read_arrays_of_numpy_2_says_so():
    text = run_python("""
import numpy
numpy.__version__ = "2.1.0"
try:
    import contorno
    print("can be used")
except ImportError as error:
    print(error)
""")
    cache = (BUILD / "CMakeCache.txt").read_text()
    folder = pathlib.Path(re.search("^pybind11_DIR:PATH=(.*)$", cache, re.MULTILINE).group(1))
    version = re.search(r'PACKAGE_VERSION "(\d+)\.(\d+)', (folder / "pybind11ConfigVersion.cmake").read_text())
    major, minor = map(int, version.groups())
    assert text == ("can be used\n" if (major, minor) >= (2, 12) else
                    f"contorno was built with pybind11 {major}.{minor}, which cannot read arrays of NumPy 2 (here: 2.1.0): "
                    "install NumPy below 2, or build contorno with pybind11 2.12 or newer\n")


def test_arrays_of_numpy_2_give_the_same_results(tmp_path):
    numpy_2 = ROOT / "build" / "numpy2"
    if not (numpy_2 / "numpy").is_dir():
        pytest.skip("needs NumPy 2, which tools/setup test fetches from the package registry")
    script = """
import hashlib, numpy, contorno
random = numpy.random.RandomState(3)
maps, picture = random.rand(3, 40, 50).astype("f4"), random.randint(0, 256, (40, 50, 3)).astype("u1")
flat = contorno.find_contours_batch(maps, 0.5, flat=True)
made = [flat.points, flat.offsets, contorno.erode(picture, 3), contorno.apply("preprocess", picture, size=[20, 0]),
        contorno.measure(flat).attributes["area"], *contorno.mipmaps(picture), *contorno.find_contours(maps[0].astype("f8"), 0.5)]
print(numpy.__version__.split(".")[0], *(hashlib.sha256(numpy.ascontiguousarray(one)).hexdigest() for one in made))
"""
    major, *with_the_systems = run_python(script).split()
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": f"{numpy_2}:{PACKAGE}"})
    if "which cannot read arrays of NumPy 2" in made.stderr:
        pytest.skip("needs a build with pybind11 2.12 or newer, which tools/setup fetches from the package registry")
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == ["2", *with_the_systems] and len(with_the_systems) > 20


# Words that are not there --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, near", [
    (lambda: contorno.find_contours(IMAGE, levl=0.5), "level"),
    (lambda: contorno.find_contours_batch(IMAGE, 0.5, min_point=3), "min_points"),
    (lambda: contorno.erode(IMAGE, 3, bordr="wrap"), "border"),
    (lambda: contorno.open_by_reconstruction(IMAGE, 3, conectivity=4), "connectivity"),
    (lambda: contorno.gradient(IMAGE, 3, bakend="cpu"), "backend"),
    (lambda: contorno.element("disk", raduis=3), "radius"),
    (lambda: contorno.element("disk", r=3), "radius"),
    (lambda: contorno.hit_or_miss(IMAGE, 3, 3, ancor=(0, 0)), "anchor"),
    (lambda: contorno.reconstruct(IMAGE, IMAGE, metod="erosion"), "method"),
    (lambda: contorno.mipmaps(IMAGE, filtr="box"), "filter"),
    (lambda: contorno.mean_shift(IMAGE, 1, kernl="flat"), "kernel"),
    (lambda: contorno.estimate_bandwidth(IMAGE, quantil=0.1), "quantile"),
    (lambda: contorno.diamond_square(3, sed=1), "seed"),
])
def test_unknown_options_are_suggested(call, near):
    with pytest.raises(TypeError, match=rf"got an unexpected keyword argument '\w+' \(did you mean '{near}'\?\)"):
        call()


@pytest.mark.parametrize("call, near", [
    (lambda: contorno.mean_shift_filter(IMAGE, 1, 1, spase="rgb"), "space"),
    (lambda: contorno.apply("preprocess", IMAGE, sise=[3, 3]), "size"),
    (lambda: contorno.apply("prepocess", IMAGE), "preprocess"),
])
def test_unknown_options_of_stages_are_suggested(call, near):
    with pytest.raises(ValueError, match=f"did you mean '{near}'"):
        call()


def test_options_that_are_like_nothing_are_named():
    with pytest.raises(TypeError, match=r"find_contours\(\) got an unexpected keyword argument 'xyzzy'$"):
        contorno.find_contours(IMAGE, xyzzy=1)


def test_unknown_names_of_the_package_are_suggested():
    with pytest.raises(AttributeError, match="no attribute 'find_contour' .did you mean 'find_contours'"):
        contorno.find_contour


@needs_graphs
def test_unknown_options_of_graphs_are_suggested():
    for option, near in (("bakend", "backend"), ("outptu", "output"), ("slot", "slots")):
        with pytest.raises(TypeError, match=rf"Pipeline has no option '{option}' \(did you mean '{near}'\?\)"):
            contorno.Pipeline(GRAPH, **{option: 1})
    with pytest.raises(TypeError, match=r"push\(\) got an unexpected keyword argument 'mpas' \(did you mean 'maps'\?\)"):
        contorno.Pipeline(GRAPH).push(mpas=IMAGE)


# The end of a pipeline -----------------------------------------------------------------------------------------------

@needs_graphs
@pytest.mark.parametrize("end", ["finish", "close", "with"])
def test_frames_that_are_pushed_after_the_end_are_an_error(tmp_path, end):
    maps = IMAGE.astype(np.float32)
    graph = {**GRAPH, "sinks": [{"type": "jsonl", "path": "contours.jsonl"}]}
    pipeline = contorno.Pipeline(graph, output=tmp_path)
    pipeline.push(maps=maps)
    pipeline.pop()
    if end == "with":
        with pipeline:
            pass
    else:
        getattr(pipeline, end)()
    written = (tmp_path / "contours.jsonl").read_bytes()
    with pytest.raises(RuntimeError, match="the pipeline has ended"):
        pipeline.push(maps=maps)
    assert (tmp_path / "contours.jsonl").read_bytes() == written and written.count(b"\n") == 1
    assert pipeline.report["frames"]["out"] == 1


# In the place of scikit-image ----------------------------------------------------------------------------------------

def test_install_names_the_modules_that_keep_the_old_function():
    measure = pytest.importorskip("skimage.measure")
    import contorno.skimage
    module = types.ModuleType("user_of_contours")
    module.trace = measure.find_contours
    sys.modules["user_of_contours"] = module
    try:
        with pytest.warns(UserWarning, match=r"user_of_contours\.trace") as caught:
            contorno.skimage.install()
        assert caught[0].filename == __file__
        contorno.skimage.uninstall()
    finally:
        del sys.modules["user_of_contours"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contorno.skimage.install():
            assert measure.find_contours is contorno.find_contours
