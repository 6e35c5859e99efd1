"""find_contours compared with scikit-image, bit for bit: points, their order, the order of contours, start
points. Thousands of fields go through one process (find_contours_batch, beside the program)."""
import os
import pathlib
import struct
import subprocess

import numpy as np
import pytest
from tests.conftest import DATA
from tests.stages.contours.fields import KINDS, same_bits, smooth, with_holes

measure = pytest.importorskip("skimage.measure")

TYPES = {np.dtype(np.uint8): 0, np.dtype(np.uint16): 1, np.dtype(np.float16): 2, np.dtype(np.float32): 3,
         np.dtype(np.float64): 4}
# Folder that keeps every field with its result, which the test has compared with scikit-image by the time it passes:
# for machines that have no scikit-image (tests/gpu/pack).
RECORD = os.environ.get("CONTORNO_ORACLE_RECORD")
recorded = set()


def batch_program():
    program = pathlib.Path(os.environ.get("CONTORNO_BIN", "build/cpu/bin/contorno")).with_name("find_contours_batch")
    if not program.exists():
        pytest.fail(f"{program} is missing: build it, and set CONTORNO_BIN to the program beside it")
    return program


class Case:
    def __init__(self, image, level, high=False, reverse=False, mask=None, threads=1, simd=2, band_rows=0):
        self.image, self.level, self.high, self.reverse = np.ascontiguousarray(image), level, high, reverse
        self.mask, self.threads, self.simd, self.band_rows = mask, threads, simd, band_rows

    def record(self):
        height, width = self.image.shape
        head = struct.pack("=10id", height, width, TYPES[self.image.dtype], self.high, self.reverse,
                           self.mask is not None, self.level is not None, self.threads, self.simd, self.band_rows,
                           0.0 if self.level is None else self.level)
        mask = b"" if self.mask is None else np.ascontiguousarray(self.mask, np.uint8).tobytes()
        return head + self.image.tobytes() + mask

    def expected(self):
        options = {"fully_connected": "high" if self.high else "low",
                   "positive_orientation": "high" if self.reverse else "low", "mask": self.mask}
        with np.errstate(all="ignore"):
            return measure.find_contours(self.image, self.level, **options)


def record_once(case, result):
    """Threads, instruction sets and bands do not change a result, so each field is kept once; of large ones a tenth."""
    key = (case.image.tobytes(), case.image.shape, str(case.image.dtype), case.level, case.high, case.reverse)
    if not RECORD or case.mask is None and key in recorded:
        return
    recorded.add(key)
    if case.image.size > 4000 and len(recorded) % 10 != 0:
        return
    for name, content in ("in.bin", case.record()), ("expected.bin", result):
        with open(pathlib.Path(RECORD, name), "ab") as file:
            file.write(content)


def run(cases, tmp_path):
    source, target = tmp_path / "in.bin", tmp_path / "out.bin"
    source.write_bytes(b"".join(case.record() for case in cases))
    subprocess.run([batch_program(), source, target], check=True)
    data, at, results = target.read_bytes(), 0, []
    for case in cases:
        start = at
        (count,) = struct.unpack_from("=I", data, at + 8)
        offsets = np.frombuffer(data, np.uint32, count + 1, at + 12)
        at += 12 + 4 * (count + 1)
        closed = np.frombuffer(data, np.uint8, count, at)
        at += count
        points = np.frombuffer(data, np.float64, 2 * int(offsets[-1]), at).reshape(-1, 2)
        at += points.nbytes
        results.append(([points[a:b] for a, b in zip(offsets, offsets[1:])], closed))
        record_once(case, data[start:at])
    assert at == len(data)
    return results


def compare(cases, tmp_path):
    for number, (case, (got, closed)) in enumerate(zip(cases, run(cases, tmp_path))):
        expected = case.expected()
        note = (f"case {number}: {case.image.dtype} {case.image.shape} level {case.level} high {case.high} "
                f"bands {case.band_rows} threads {case.threads} simd {case.simd}\n{case.image!r}\n{case.mask!r}")
        assert len(got) == len(expected), f"{len(got)} contours, expected {len(expected)}: {note}"
        for index, (a, b) in enumerate(zip(got, expected)):
            assert same_bits(a, b), f"contour {index}:\n{a}\nexpected\n{b}\n{note}"
            if closed[index]:
                assert same_bits(a[0], a[-1]), note


def options(random):
    return {"high": bool(random.integers(2)), "reverse": bool(random.integers(2)),
            "threads": int(random.choice([1, 2, 3], p=[0.9, 0.07, 0.03])), "simd": int(random.integers(3)),
            "band_rows": int(random.choice([0, 1, 2, 3, 5]))}


@pytest.mark.parametrize("kind", KINDS)
def test_random_fields_give_the_bits_of_scikit_image(kind, tmp_path):
    count, sides, field, level = KINDS[kind]
    random = np.random.default_rng(list(KINDS).index(kind))
    cases = []
    for _ in range(count):
        image = field(random, tuple(random.integers(*sides, 2)))
        height = level(random, image)
        image, mask = with_holes(random, image)
        cases.append(Case(image, None if height is None else float(height), mask=mask, **options(random)))
    compare(cases, tmp_path)


@pytest.mark.parametrize("high", [False, True])
def test_all_3x3_fields_of_three_values_give_the_bits_of_scikit_image(high, tmp_path):
    digits = np.stack(np.unravel_index(np.arange(3**9), (3,) * 9), -1).reshape(-1, 3, 3) - 1.0
    compare([Case(field, 0.0, high, band_rows=i % 3) for i, field in enumerate(digits)], tmp_path)


@pytest.mark.parametrize("high", [False, True])
def test_all_neighbourhoods_of_a_sample_at_the_level_give_the_bits_of_scikit_image(high, tmp_path):
    around = np.stack(np.unravel_index(np.arange(3**8), (3,) * 8), -1)
    values = np.array([-1.0, 1.0, np.nan])[around]
    fields = np.insert(values, 4, 0.0, axis=1).reshape(-1, 3, 3).astype(np.float32)
    compare([Case(field, 0.0, high, band_rows=i % 3) for i, field in enumerate(fields)], tmp_path)


def test_the_small_vectors_of_the_specification(tmp_path):
    one = np.zeros((5, 5))
    one[2, 2] = 1
    y, x = np.mgrid[-1:1:5j, -1:1:5j]
    vectors = [([[1, 0, 0], [0, 0, 0], [0, 0, 0]], 0.5, [[[0, 0.5], [0.5, 0]]]),
               (one, 0.5, [[[2.5, 2], [2, 1.5], [1.5, 2], [2, 2.5], [2.5, 2]]]),
               (1 - one, 0.5, [[[2, 2.5], [1.5, 2], [2, 1.5], [2.5, 2], [2, 2.5]]]),
               (np.hypot(x, y), 0.5, [[[2, 3], [1, 2], [2, 1], [3, 2], [2, 3]]]),
               (np.full((3, 3), 0.5), 0.5, []),
               ([[0, np.inf], [1, -1]], 0.5, [[[np.nan, 1], [0, 0]], [[0.5, 0], [1, 0.25]]])]
    results = run([Case(np.asarray(image, float), level) for image, level, _ in vectors], tmp_path)
    for (got, _), (_, _, expected) in zip(results, vectors):
        assert len(got) == len(expected)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(got, expected))


def test_the_sizes_of_the_paper_and_every_thread_and_band_count_give_equal_bits(tmp_path):
    random = np.random.default_rng(3)
    noise = random.random((95, 511)).astype(np.float32)
    soft = smooth(random, (95, 511)).astype(np.float32)
    cases = [Case(field, 0.5, high, threads=threads, simd=simd, band_rows=band_rows)
             for field in (noise, soft, soft.astype(np.float16), (9 * soft).astype(np.uint8)) for high in (False, True)
             for threads, simd, band_rows in ((1, 0, 0), (1, 1, 1), (2, 2, 0), (3, 2, 7), (3, 0, 94), (2, 1, 95))]
    compare(cases, tmp_path)


def test_long_contours_that_are_emitted_in_pieces_give_the_bits_of_scikit_image(tmp_path):
    rows, cols = np.mgrid[0:300, 0:300]
    comb = (np.minimum(rows % 4, 299 - rows) > 1).astype(float)
    comb[:, 2] = 1
    comb[:, 0] = comb[0] = comb[-1] = comb[:, -1] = 0
    radius = np.hypot(rows - 150, cols - 150)
    spiral = np.sin(radius / 2 + np.arctan2(rows - 150, cols - 150))
    cases = [Case(field, level, high, threads=2, band_rows=band_rows, reverse=high) for field in (comb, spiral)
             for level in (0.5, 0.25, 0.0) for high in (False, True) for band_rows in (0, 3, 64)]
    compare(cases, tmp_path)


# Fields of the kind that once made scikit-image fail, in spirit: plateaus beside NaN, where ends meet on one sample.
def test_plateaus_beside_nan_give_the_bits_of_scikit_image(tmp_path):
    nan = np.nan
    fields = [[[nan, nan, nan, nan, nan, nan], [nan, 0, 0, 0, 0, nan], [nan, 0, 1, 1, 0, nan],
               [nan, 0, 1, nan, 0, nan], [nan, 0, 0, 0, 0, nan], [nan, nan, nan, nan, nan, nan]],
              [[0, 0.5, 1], [0.5, nan, 0.5], [1, 0.5, 0]], [[1, 0.5, 1], [0.5, 0.5, nan], [1, nan, 1]]]
    compare([Case(np.asarray(field, float), level, high) for field in fields for level in (0, 0.5, 1)
             for high in (False, True)], tmp_path)


def real_maps():
    found = sorted(DATA.glob("cnn-maps/*/maps/*.npy"))[:4] + sorted(DATA.glob("probability-maps/*.npy"))
    return found or [DATA]  # one test that says what it waits for


@pytest.mark.parametrize("path", real_maps(), ids=lambda path: path.stem)
def test_real_maps_give_the_bits_of_scikit_image(path, tmp_path):
    if not path.is_file():
        pytest.skip("needs recorded videos, fruit and maps, which are not in the repository (CONTORNO_DATA names their folder)")
    array = np.load(path)
    if array.ndim == 3:
        array = np.moveaxis(array, np.argmin(array.shape), 0)
    planes = [plane for plane in array.reshape((-1,) + array.shape[-2:]) if plane.max() > 0.5][:6]
    compare([Case(plane, 0.5, high, threads=2) for plane in planes for high in (False, True)], tmp_path)


def test_the_subcommand_prints_the_contours_of_scikit_image(tmp_path):
    import json
    program = os.environ.get("CONTORNO_BIN")
    if not program:
        pytest.skip("needs the program contorno (set CONTORNO_BIN)")
    random = np.random.default_rng(8)
    image, mask = random.integers(0, 4, (20, 30)).astype(np.float64), random.random((20, 30)) < 0.9
    image[3, 4] = np.inf
    np.save(tmp_path / "image.npy", image)
    np.save(tmp_path / "mask.npy", mask)
    command = [program, "find-contours", tmp_path / "image.npy", "--level", "1.5", "--fully-connected", "high",
               "--positive-orientation", "high", "--mask", tmp_path / "mask.npy", "--json"]
    text = subprocess.run([*command, "-"], check=True, stdout=subprocess.PIPE).stdout
    expected = Case(image, 1.5, True, True, mask).expected()
    got = [np.array(contour, float) for contour in json.loads(text)]
    assert len(got) == len(expected)
    assert all(same_bits(a, b) for a, b in zip(got, expected))
    subprocess.run([*command, tmp_path / "out.json"], check=True)
    assert (tmp_path / "out.json").read_bytes() == text
    np.save(tmp_path / "mask.npy", mask.astype(np.uint8))
    refused = subprocess.run([*command, "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 65 and "wanted bool" in refused.stderr
