"""Files that are made to do harm: archives in the place of arrays, pictures of odd kinds, chains of directories without end.
Each is refused in a sentence or read as it should be, within bounded memory."""
import functools
import io
import os
import struct
import warnings
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image
from tests.conftest import run_measured
from tests.plugins.files.bounded import MEBIBYTE, MOST_MEMORY, gradient, read_picture, run_bounded


def test_the_measured_memory_is_the_programs_own(tmp_path):
    held = np.ones(MOST_MEMORY, np.uint8)
    assert run_measured("--version", cwd=tmp_path).peak_bytes < held.nbytes // 2


def npz(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members:
            archive.writestr(name, data)


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@functools.cache
def bomb():
    """A gibibyte of zeros in a few megabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("a.npy", "w") as out:
        for _ in range(64):
            out.write(bytes(16 * MEBIBYTE))
    return file.getvalue()


def make_bomb(path):
    path.write_bytes(bomb())


def make_encrypted(path):
    npz(path, [("a.npy", npy_bytes(np.zeros((4, 4), np.float32)))])
    data = bytearray(path.read_bytes())
    data[6] |= 1  # the flag in the local header, and in the central directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


def make_duplicates(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        npz(path, [("a.npy", npy_bytes(np.zeros((4, 4), np.float32)))] * 2)


def make_climbing(path):
    npz(path, [("../../escaped.npy", npy_bytes(np.zeros((4, 4), np.float32)))])


def make_wrong_sum(path):
    npz(path, [("a.npy", npy_bytes(np.zeros((4, 4), np.float32)))])
    data = bytearray(path.read_bytes())
    data[14] ^= 0xFF  # in the local header, and in the central directory
    data[data.index(b"PK\x01\x02") + 16] ^= 0xFF
    path.write_bytes(data)


def make_truncated(path):
    npz(path, [("a.npy", os.urandom(5000))])
    path.write_bytes(path.read_bytes()[:2000])


ARCHIVES = [make_bomb, make_encrypted, make_duplicates, make_climbing, make_wrong_sum, make_truncated]
GRAPH = """
source: {type: dataset, location: .}
classes: [{name: a}]
stages: [{type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


@pytest.mark.parametrize("make", ARCHIVES)
@pytest.mark.parametrize("name", ["a.npz", "lies.npy"])
def test_archives_are_refused_before_anything_is_unpacked(tmp_path, make, name):
    make(tmp_path / name)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    before = {path.name for path in tmp_path.iterdir()} | {"messages"}
    for arguments in [("find-contours", name), ("mean-shift", name, "out.npy"),
                      ("apply", "morphology", name, "out.npy"), ("run", "graph.yaml", "--input", name),
                      ("run", "graph.yaml", "--input", tmp_path)]:
        code, text = run_bounded(*arguments, cwd=tmp_path)
        # A frame fails where its samples alone are bad.
        assert code in ((3, 65, 66) if arguments[0] == "run" else (65, 66)), (arguments, code, text)
        assert "archive" in text or "zip" in text or "a.npz:a.npy' is not a readable .npy file" in text, (arguments, text)
    assert {path.name for path in tmp_path.iterdir()} <= before | {"contours.jsonl"}
    assert not (tmp_path.parent.parent / "escaped.npy").exists()


def tiff(directories, last_points_to):
    """A TIFF of 8 x 8 grey pixels whose directories follow each other; the last one points where it is told."""
    pixels = bytes(range(0, 256, 4))
    entries = [(256, 4, 1, 8), (257, 4, 1, 8), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8),
               (277, 3, 1, 1), (278, 4, 1, 8), (279, 4, 1, 64)]
    size = 2 + 12 * len(entries) + 4
    first = 8 + len(pixels)
    packed = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    parts = [b"II*\0", struct.pack("<I", first), pixels]
    for index in range(directories):
        following = first + size * (index + 1) if index + 1 < directories else last_points_to(first)
        parts += [packed, struct.pack("<I", following)]
    return b"".join(parts)


@pytest.mark.parametrize("directories, last_points_to", [
    (1, lambda first: 0), (1, lambda first: first), (2, lambda first: first), (200_000, lambda first: 0),
    (200_000, lambda first: first), (1, lambda first: 0xFFFFFFF0)],
    ids=["one", "itself", "loop", "many", "many in a loop", "nowhere"])
def test_a_tiff_with_directories_without_end_is_read_or_refused(tmp_path, directories, last_points_to):
    (tmp_path / "a.tif").write_bytes(tiff(directories, last_points_to))
    code, text = run_bounded("apply", "preprocess", "a.tif", "out.npy", cwd=tmp_path)
    assert code in (0, 65), text
    if code == 0:
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy").ravel(), np.arange(0, 256, 4))
    else:
        assert "a.tif" in text
    assert code == 0 or directories > 1 or last_points_to(80) != 0


def test_pngs_of_every_kind_have_their_pixels(tmp_path):
    rgba = gradient(24, 37)
    kinds = {"rgba": Image.fromarray(rgba), "rgb": Image.fromarray(rgba[..., :3]), "grey": Image.fromarray(rgba[..., 0]),
             "palette": Image.fromarray(rgba[..., :3]).quantize(16), "bits": Image.fromarray(rgba[..., 0] > 80)}
    for name, image in kinds.items():
        image.save(tmp_path / f"{name}.png")
        samples, text = read_picture(tmp_path, f"{name}.png")
        np.testing.assert_array_equal(samples, np.asarray(image.convert("RGBA")), f"{name}: {text}")


def test_a_png_of_16_bits_keeps_the_upper_ones(tmp_path):
    values = (np.arange(24 * 37).reshape(24, 37) * 73 % 65536).astype(np.uint16)
    Image.fromarray(values).save(tmp_path / "a.png")
    samples, text = read_picture(tmp_path, "a.png")
    assert samples is not None, text
    assert np.abs(samples[..., 0].astype(int) - values / 257).max() <= 1


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff\xe1\x00\x00", b"\x89PNG\r\n\x1a\n" + bytes(40),
                                  b"BM" + bytes(100), b"RIFF\xff\xff\xff\xffWEBPVP8 " + bytes(50)], ids=range(5))
def test_stumps_of_pictures_are_refused_in_a_sentence(tmp_path, data):
    (tmp_path / "a.png").write_bytes(data)
    samples, text = read_picture(tmp_path, "a.png")
    assert samples is None and "a.png" in text


@pytest.mark.parametrize("width, height", [(65535, 65535), (2 ** 31 - 1, 2 ** 31 - 1), (0, 0)])
def test_a_png_with_a_lie_about_its_size_takes_no_memory_for_it(tmp_path, width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                                     chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
    samples, text = read_picture(tmp_path, "a.png")
    assert samples is None and "a.png" in text
