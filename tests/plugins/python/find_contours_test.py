"""contorno.find_contours in the place of scikit-image's: its tests, its bits, its errors, and what a function that
releases the GIL must not break."""
import array as python_array
import concurrent.futures
import gc
import inspect
import pathlib
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from tests.plugins.python.package import PACKAGE, contorno, resident_bytes, run_python
from tests.stages.contours.fields import KINDS, same_bits, smooth, with_holes

measure = pytest.importorskip("skimage.measure")
find_contours = contorno.find_contours


def expected(image, level=None, **options):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return measure.find_contours(image, level, **options)


def assert_same(got, wanted, note=""):
    assert isinstance(got, list) and len(got) == len(wanted), f"{len(got)} contours, expected {len(wanted)} {note}"
    for a, b in zip(got, wanted):
        assert type(a) is np.ndarray and a.dtype == b.dtype and same_bits(a, b), note


# scikit-image ----------------------------------------------------------------------------------------------------
def test_the_tests_of_scikit_image_pass():
    own = pathlib.Path(measure.__file__).parent / "tests" / "test_find_contours.py"
    if not own.exists():
        pytest.skip("this scikit-image comes without its tests")
    out = run_python("import contorno.skimage, pytest, sys; contorno.skimage.install()\n"
                     f"sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {str(own)!r}]))")
    counts = out.strip().splitlines()[-1]
    assert "passed" in counts and "failed" not in counts and "error" not in counts


def test_the_signature_begins_with_that_of_scikit_image():
    theirs = list(inspect.signature(measure.find_contours).parameters.values())
    ours = list(inspect.signature(find_contours).parameters.values())
    assert ours[:len(theirs)] == theirs
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in ours[len(theirs):])


def test_install_replaces_scikit_image_everywhere_and_uninstall_puts_it_back():
    import contorno.skimage
    import skimage.measure._find_contours as inner
    original = measure.find_contours
    assert original is not find_contours
    with contorno.skimage.install():
        contorno.skimage.install()
        assert measure.find_contours is find_contours and inner.find_contours is find_contours
        assert contorno.skimage.is_installed()
    assert measure.find_contours is original and inner.find_contours is original
    assert not contorno.skimage.is_installed()


@pytest.mark.parametrize("kind", KINDS)
def test_random_fields_give_the_bits_of_scikit_image(kind):
    count, sides, field, level = KINDS[kind]
    random = np.random.default_rng(1000 + list(KINDS).index(kind))
    for _ in range(max(count * 2 // 3, 30)):
        image = field(random, tuple(random.integers(*sides, 2)))
        height = level(random, image)
        image, mask = with_holes(random, image)
        options = {"fully_connected": random.choice(["low", "high"]), "mask": mask,
                   "positive_orientation": random.choice(["low", "high"])}
        assert_same(find_contours(image, height, **options), expected(image, height, **options),
                    f"{image!r} {height} {options}")


def test_there_are_ten_thousand_random_fields():
    assert sum(max(count * 2 // 3, 30) for count, *_ in KINDS.values()) >= 9500
    assert sum(max(count * 2 // 3, 30) for count, *_ in KINDS.values()) + len(TYPES) * 50 >= 10000


TYPES = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "g", ">f4", ">f8", ">i2", ">u2", ">f2", "O"]


@pytest.mark.parametrize("type_code", TYPES)
def test_every_type_of_samples_gives_the_bits_of_scikit_image(type_code):
    random = np.random.default_rng(5)
    for number in range(50):
        values = random.integers(0, 2 if type_code == "?" else 60, random.integers(2, 14, 2))
        image = values.astype(type_code) if number % 2 else (values + 0.25).astype(type_code)
        # The sum of these samples fits every type, so that scikit-image's default level does not wrap around.
        for level in (None, 0.5, 17, 30.25):
            if type_code == "O" and level is None:
                continue
            assert_same(find_contours(image, level), expected(image, level), f"{image!r} {level}")


def test_the_default_level_of_integers_does_not_wrap_around():
    image = np.array([[100, 240], [100, 240]], np.uint8)
    assert np.array_equal(find_contours(image), find_contours(image.astype(float), 170.0))
    wide = np.array([[2**62, 2**63 - 1], [2**62, 2**63 - 1]], np.int64)
    assert len(find_contours(wide)) == 1


def layouts():
    random = np.random.default_rng(6)
    base = smooth(random, (40, 56)).astype(np.float32)
    big = np.zeros((80, 112), np.float32)
    big[::2, ::2] = base
    unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32).reshape(base.shape)
    frozen = base.copy()
    frozen.flags.writeable = False
    padded = np.zeros((40, 61), np.float32)
    padded[:, 2:58] = base
    record = np.zeros(base.shape, [("a", "u1"), ("value", "f4")])
    record["value"] = base
    return {"plain": base, "Fortran": np.asfortranarray(base), "rows and columns left out": big[::2, ::2],
            "backwards": base[::-1, ::-1].copy()[::-1, ::-1], "rows backwards": base[::-1].copy()[::-1],
            "unaligned": unaligned, "read-only": frozen, "gaps between rows": padded[:, 2:58], "a field": record["value"],
            "matrix": np.asmatrix(base), "memoryview": memoryview(base), "double": base.astype(np.float64)}, base


@pytest.mark.parametrize("name", layouts()[0])
def test_every_memory_layout_gives_the_same_contours(name):
    images, base = layouts()
    assert_same(find_contours(images[name], 0.5), expected(base, 0.5))
    mask = np.random.default_rng(7).random(base.shape) < 0.9
    for one in (mask, np.asfortranarray(mask), mask[::-1].copy()[::-1]):
        assert_same(find_contours(images[name], 0.5, mask=one), expected(base, 0.5, mask=mask))


def test_rows_that_are_all_the_same_memory_are_read():
    image = np.broadcast_to(np.array([0.0, 1, 0, 1]), (5, 4))
    assert_same(find_contours(image, 0.5), expected(image, 0.5))


def test_results_do_not_depend_on_threads():
    image = smooth(np.random.default_rng(8), (700, 900), 2.0)
    wanted = expected(image, 0.5)
    for threads in (None, 1, 2, 3, 7, np.int64(2)):
        assert_same(find_contours(image, 0.5, threads=threads), wanted)


def test_a_large_image_is_linked_band_by_band_with_the_same_result():
    image = np.random.default_rng(9).integers(0, 3, (1500, 1100)).astype(np.float32)
    assert_same(find_contours(image, 1.0, threads=1), find_contours(image, 1.0, threads=2))


# Other arrays ----------------------------------------------------------------------------------------------------
class Interface:
    """An object with an __array_interface__ that may lie."""

    def __init__(self, **changes):
        self.image = np.arange(20.0).reshape(4, 5)
        self.__array_interface__ = {**self.image.__array_interface__, **changes}


class Dlpack:
    def __init__(self, image, device=(1, 0)):
        self.image, self.device = image, device

    def __dlpack__(self, **options):
        return self.image.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Convertible:
    def __init__(self, image):
        self.image = image

    def __array__(self, dtype=None, copy=None):
        return self.image


def test_arrays_of_other_packages_are_read():
    image = np.arange(20.0).reshape(4, 5)
    wanted = expected(image, 7.5)
    for one in (Interface(), Dlpack(image), Convertible(image)):
        assert_same(find_contours(one, 7.5), wanted)


@pytest.mark.parametrize("changes", [
    {"data": (0, False)}, {"data": (64, False)}, {"data": (2**63, False)}, {"data": (2**64 - 8, False)}, {"data": "here"},
    {"shape": (1 << 15, 1 << 15)}, {"shape": (-4, 5)}, {"shape": None}, {"shape": (4, "5")}, {"shape": (2**62, 2**62)},
    {"strides": (1 << 40, 8)}, {"strides": (8,)}, {"strides": (-(1 << 40), 8)}, {"typestr": "<f99"}, {"typestr": 8},
    {"typestr": "<M8[s]"}, {"typestr": "|V8"}, {"version": "x", "typestr": ""},
])
def test_an_array_interface_that_lies_is_refused(changes):
    with pytest.raises((TypeError, ValueError)):
        find_contours(Interface(**changes), 7.5)


# Wrong input -----------------------------------------------------------------------------------------------------
GOOD = np.arange(20.0).reshape(4, 5)


@pytest.mark.parametrize("error,message,arguments,options", [
    (ValueError, "fully_connected", (GOOD, 1), {"fully_connected": "foo"}),
    (ValueError, "fully_connected", (GOOD, 1), {"fully_connected": None}),
    (ValueError, "positive_orientation", (GOOD, 1), {"positive_orientation": "Low"}),
    (ValueError, "positive_orientation", (GOOD, 1), {"positive_orientation": ["low"]}),
    (ValueError, "2D", (np.float64(3), 1), {}), (ValueError, "2D", (np.array(3.0), 1), {}),
    (ValueError, "2D", (np.arange(5.0), 1), {}), (ValueError, "2D", (GOOD[..., None], 1), {}),
    (ValueError, "2D", (np.zeros((2,) * 12), 1), {}),
    (ValueError, "2x2", (np.zeros((1, 5)), 1), {}), (ValueError, "2x2", (np.zeros((5, 1)), 1), {}),
    (ValueError, "2x2", (np.zeros((0, 0)), 1), {}), (ValueError, "2x2", (np.zeros((0, 5), ">i4"), 1), {}),
    (ValueError, "65536", (np.zeros((2, 65537), np.uint8), 1), {}),
    (TypeError, "complex128", (GOOD.astype(complex), 1), {}), (TypeError, "datetime", (GOOD.astype("M8[s]"), 1), {}),
    (TypeError, "<U", (GOOD.astype(str), 1), {}), (TypeError, "dtype", (np.zeros((4, 5), [("a", "f8")]), 1), {}),
    (TypeError, "masked", (np.ma.masked_less(GOOD, 3), 1), {}), (TypeError, "masked", (np.ma.asarray(GOOD), 1), {}),
    (TypeError, "list", (GOOD.tolist(), 1), {}), (TypeError, "NoneType", (None, 1), {}), (TypeError, "str", ("image", 1), {}),
    (TypeError, "int", (3, 1), {}), ((TypeError, ValueError), "", (np.array([[1, "a"], [2, 3]], object), 1), {}),
    (ValueError, "2D", (b"some bytes", 1), {}), (ValueError, "2D", (python_array.array("d", [1, 2, 3]), 1), {}),
    (TypeError, "", (GOOD, "0.5"), {}), (TypeError, "", (GOOD, [1, 2]), {}), (TypeError, "", (GOOD, 1j), {}),
    (ValueError, "shape", (GOOD, 1), {"mask": np.ones((4, 4), bool)}), (ValueError, "shape", (GOOD, 1), {"mask": np.ones(20, bool)}),
    (TypeError, "binary", (GOOD, 1), {"mask": np.ones((4, 5), np.uint8)}), (TypeError, "binary", (GOOD, 1), {"mask": GOOD}),
    (TypeError, "list", (GOOD, 1), {"mask": [[True] * 5] * 4}), (TypeError, "masked", (GOOD, 1), {"mask": np.ma.ones((4, 5), bool)}),
    (ValueError, "threads", (GOOD, 1), {"threads": 0}), (ValueError, "threads", (GOOD, 1), {"threads": -3}),
    (ValueError, "threads", (GOOD, 1), {"threads": 10**6}), (TypeError, "", (GOOD, 1), {"threads": 1.5}),
    (TypeError, "", (GOOD, 1), {"threads": "2"}), (ValueError, "backend", (GOOD, 1), {"backend": "gpu"}),
    (ValueError, "backend", (GOOD, 1), {"backend": None}), (TypeError, "colour", (GOOD, 1), {"colour": 1}),
    (TypeError, "device", (Dlpack(GOOD, (4, 0)), 1), {}),
])
def test_wrong_input_is_refused(error, message, arguments, options):
    with pytest.raises(error, match=message):
        find_contours(*arguments, **options)


def test_an_integer_that_is_too_large_for_a_level_is_refused():
    with pytest.raises(OverflowError):
        find_contours(GOOD, 10**400)


def test_errors_of_objects_leave_as_they_are():
    class Broken:
        @property
        def __array_interface__(self):
            raise ZeroDivisionError("planted")

    with pytest.raises((ZeroDivisionError, TypeError)):
        find_contours(Broken(), 1)
    with pytest.raises(ZeroDivisionError):
        find_contours(GOOD, type("Level", (), {"__float__": lambda self: 1 / 0})())


def test_cuda_that_is_not_there_is_an_error_with_a_reason():
    cuda = contorno.backends()["cuda"]
    if cuda["available"]:
        pytest.skip("a CUDA device answers")
    with pytest.raises(RuntimeError, match="cuda"):
        find_contours(GOOD, 1, backend="cuda")
    assert cuda["reason"]


# References and memory -------------------------------------------------------------------------------------------
def test_references_to_arguments_are_given_back():
    image, mask = smooth(np.random.default_rng(1), (30, 30)), np.ones((30, 30), bool)
    converted, bad = np.asfortranarray(image.astype(np.int32)), np.ones((30, 29), bool)
    objects = (image, mask, converted, bad)
    before = [sys.getrefcount(one) for one in objects]
    for _ in range(20):
        find_contours(image, 0.5, mask=mask)
        find_contours(converted, 0.5)
        with pytest.raises(ValueError):
            find_contours(image, 0.5, mask=bad)
        with pytest.raises(TypeError):
            find_contours(image, object())
    gc.collect()
    assert [sys.getrefcount(one) for one in objects] == before
    image.resize((20, 45), refcheck=True)  # nobody holds the memory


def test_results_own_their_memory():
    contour = find_contours(smooth(np.random.default_rng(1), (30, 30)), 0.5)[0]
    assert sys.getrefcount(contour) == 2
    assert (contour if contour.base is None else contour.base).flags.owndata
    assert contour.flags.writeable and contour.flags.c_contiguous


def test_memory_does_not_grow():
    image = np.random.default_rng(2).random((200, 200))
    fields = (image, image.astype(np.int16), np.asfortranarray(image))

    def calls(count):
        for _ in range(count):
            for one in fields:
                find_contours(one, 0.5)
                with pytest.raises(TypeError):
                    find_contours(one, 0.5, mask=image)
        gc.collect()

    calls(20)
    before = resident_bytes()
    calls(80)
    assert resident_bytes() - before < 8 << 20


# Threads, signals, fork ------------------------------------------------------------------------------------------
def test_eight_threads_call_at_the_same_time():
    random = np.random.default_rng(3)
    images = [smooth(random, (100 + i, 120), 1.5) for i in range(8)]
    wanted = [expected(image, 0.5) for image in images]

    def work(index):
        for turn in range(20):
            image = (index + turn) % 8
            assert_same(find_contours(images[image], 0.5, threads=1 + turn % 3), wanted[image])
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_other_threads_run_during_a_call():
    image = np.random.default_rng(4).random((1200, 1200))
    assert find_contours(image, 2.0) == []
    ticks, calls, done = [], [], threading.Event()

    def tick():
        while not done.wait(0.002):
            ticks.append(time.perf_counter())

    def ticks_within_calls():
        return sum(start < at < end for start, end in calls for at in list(ticks))

    other = threading.Thread(target=tick)
    other.start()
    limit = time.monotonic() + 120  # on a busy machine the other thread seldom gets to tick; without the lock let go, never
    while ticks_within_calls() < 5 and time.monotonic() < limit:
        start = time.perf_counter()
        contorno._core.find_contours(image, 0.5, "low", "low", None, "cpu", 1)
        calls.append((start, time.perf_counter()))
    done.set()
    other.join()
    assert ticks_within_calls() >= 5


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_call(threads):
    out = run_python(f"""
import os, signal, threading, time
import numpy as np, contorno
image = np.random.default_rng(0).random((5000, 5000), np.float32)
contorno.find_contours(image[:50], 0.5, threads={threads})
for turn in range(2):
    threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        contorno.find_contours(image, 0.5, threads={threads})
        print("finished")
    except KeyboardInterrupt:
        print("interrupted", time.perf_counter() - start)
print(len(contorno.find_contours(image[:50, :50], 0.5)) > 0)
""")
    lines = out.split("\n")
    assert [line.split()[0] for line in lines[:3]] == ["interrupted", "interrupted", "True"], out


def test_a_forked_process_is_told_what_it_cannot_use():
    out = run_python("""
import os, sys
import numpy as np, contorno
image = np.random.default_rng(0).random((900, 900))
wanted = contorno.find_contours(image, 0.5, threads=2)
child = os.fork()
if child == 0:
    try:
        same = all(np.array_equal(a, b) for a, b in zip(contorno.find_contours(image, 0.5), wanted))
        try:
            contorno.find_contours(image, 0.5, threads=2)
            os._exit(4)
        except RuntimeError as error:
            os._exit(0 if same and "spawn" in str(error) else 3)
    finally:
        os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out.strip() == "0"


def test_a_fork_before_any_threads_may_use_them():
    out = run_python("""
import os
import numpy as np, contorno
image = np.random.default_rng(0).random((300, 300))
contorno.find_contours(image, 0.5, threads=1)
child = os.fork()
if child == 0:
    os._exit(0 if contorno.find_contours(image, 0.5, threads=2) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert out.strip() == "0"


def test_the_package_imports_in_a_fresh_process_without_scikit_image():
    subprocess.run([sys.executable, "-c", "import contorno, sys; assert 'skimage' not in sys.modules"], check=True,
                   env={"PYTHONPATH": str(PACKAGE)})


def test_short_contours_share_an_array_of_at_most_16_kibibytes():
    noise = np.random.default_rng(0).random((300, 300))
    long = np.sin(np.add.outer(np.arange(900.0), np.zeros(60)) / 40)
    for found in (find_contours(noise, 0.5), contorno.find_contours_batch(noise, 0.5, dtype=np.float32), find_contours(long, 0.5),
                  find_contours(np.hypot(*np.mgrid[-9:9, -9:9]), 5.0)):
        before = [one.copy() for one in found]
        for number, one in enumerate(found):
            assert one.flags.c_contiguous and one.flags.aligned and one.flags.writeable and type(one) is np.ndarray
            assert one.base is None or one.nbytes < one.base.nbytes <= 16 << 10 and one.base.base is None
            one *= number
        assert all(np.array_equal(one, number * old) for number, (one, old) in enumerate(zip(found, before)))
        last = found[-1]
        del found, one
        assert np.array_equal(last, before[-1] * (len(before) - 1))
