"""TIFF files of every layout as pictures and as maps, compared with the arrays that tifffile and Pillow wrote: bands together and
apart, extra samples, byte and bit order, pages that belong to others, stacks behind one directory, damage that only a checksum sees."""
import itertools
import json
import struct
import subprocess
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image
from tests.conftest import PROGRAM, blobs, classes_yaml, read_lines
from tests.plugins.files.bounded import MEBIBYTE, gradient, read_picture, run_bounded

MAPS = """
source: {{type: dataset, location: {location}, layout: {layout}}}
classes:
{classes}
stages: [{{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: jsonl, path: contours.jsonl}}]
"""


def play(folder, location, classes=1, layout="hwc"):
    """The run of a dataset of maps, and the classes of each frame that it wrote."""
    (folder / "graph.yaml").write_text(MAPS.format(location=location, layout=layout, classes=classes_yaml(classes)))
    (folder / "contours.jsonl").unlink(missing_ok=True)
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--quiet"], cwd=folder, capture_output=True, text=True, timeout=60)
    lines = read_lines(folder / "contours.jsonl") if (folder / "contours.jsonl").exists() else []
    return done, [line["classes"] for line in lines]


def tiff(width, height, data, bits=8, compression=1, rows=None, **more):
    """A little-endian TIFF of one strip; `more` are further tags, "t266=2"."""
    tags = {256: width, 257: height, 258: bits, 259: compression, 262: 1, 273: 8, 277: 1, 278: rows or height, 279: len(data)}
    tags.update({int(name[1:]): value for name, value in more.items()})
    data += bytes(len(data) % 2)
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + entries + bytes(4)


def stored(array):
    """What a picture of 8 bits has of samples of 8 or 16."""
    return array if array.dtype == np.uint8 else ((array.astype(np.uint64) * 255 + 32895) >> 16).astype(np.uint8)


EXTRAS = {"none": [], "unspecified": ["unspecified"], "alpha": ["unassalpha"], "two": ["unspecified", "unassalpha"]}


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2"])
@pytest.mark.parametrize("colours, photometric", [(1, "minisblack"), (1, "miniswhite"), (3, "rgb")])
@pytest.mark.parametrize("extras", EXTRAS)
def test_pictures_have_their_colours_whatever_bands_follow(tmp_path, dtype, colours, photometric, extras):
    count = colours + len(EXTRAS[extras])
    random = np.random.default_rng(4)
    picture = random.integers(0, np.iinfo(dtype).max, (37, 52, count), dtype=np.dtype(dtype).newbyteorder("="))
    picture[:, :5, colours:] = 0  # where alpha is none, the colours are what they are
    light = stored(picture if photometric != "miniswhite" else np.iinfo(dtype).max - picture)
    want = np.repeat(light[..., :1], 3, axis=2) if colours == 1 else light[..., :3]
    alpha = stored(picture[..., -1]) if "unassalpha" in EXTRAS[extras] else np.full((37, 52), 255, np.uint8)
    layouts = [{}, {"tile": (16, 32)}, {"rowsperstrip": 7, "compression": "zlib"},
               {"rowsperstrip": 7, "compression": "zlib", "predictor": True}]
    for layout, planar in itertools.product(layouts, ["contig", "separate"] if count > 1 else [None]):
        array = np.moveaxis(picture, 2, 0) if planar == "separate" else picture if count > 1 else picture[..., 0]
        tifffile.imwrite(tmp_path / "a.tif", np.ascontiguousarray(array), photometric=photometric, planarconfig=planar,
                         extrasamples=EXTRAS[extras] or None, byteorder=dtype[0] if len(dtype) > 2 else "<", metadata=None, **layout)
        samples, text = read_picture(tmp_path, "a.tif")
        assert samples is not None, (layout, planar, text)
        np.testing.assert_array_equal(samples[..., :3], want, f"{layout} {planar}")
        np.testing.assert_array_equal(samples[..., 3], alpha, f"{layout} {planar}")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_colours_that_are_multiplied_by_alpha_are_divided_by_it(tmp_path, dtype):
    most = np.iinfo(dtype).max
    straight = np.random.default_rng(5).integers(0, most, (30, 40, 3), dtype=dtype).astype(np.int64)
    alpha = np.linspace(0, most, 40).astype(np.int64)[None, :, None].repeat(30, axis=0)
    multiplied = straight * alpha // most
    tifffile.imwrite(tmp_path / "a.tif", np.dstack([multiplied, alpha]).astype(dtype), photometric="rgb", extrasamples=["assocalpha"])
    want = np.where(alpha > 0, (multiplied * most + alpha // 2) // np.maximum(alpha, 1), multiplied)
    samples, text = read_picture(tmp_path, "a.tif")
    np.testing.assert_array_equal(samples[..., :3], stored(np.minimum(want, most).astype(dtype)), text)
    if dtype == np.uint8:
        pillow = np.asarray(Image.open(tmp_path / "a.tif").convert("RGBA")).astype(int)
        assert np.abs(pillow - samples).max() <= 1


@pytest.mark.parametrize("mode", ["1", "P", "CMYK", "JPEG", "RGBX"])
def test_other_kinds_of_colours_are_those_of_pillow(tmp_path, mode):
    picture = Image.fromarray(gradient(40, 56)[..., :3])
    if mode == "JPEG":
        picture.save(tmp_path / "a.tif", compression="jpeg")
    else:
        picture.convert(mode).save(tmp_path / "a.tif")
    want = np.asarray(Image.open(tmp_path / "a.tif").convert("RGB")).astype(int)
    samples, text = read_picture(tmp_path, "a.tif", "rgb")
    assert samples is not None, text
    assert np.abs(samples.astype(int) - want).max() <= 2


@pytest.mark.parametrize("array, word", [
    (np.zeros((8, 8), np.float32), "floating point of 32 bits"), (np.zeros((8, 8, 3), np.float32), "floating point of 32 bits"),
    (np.zeros((8, 8), np.int8), "signed integers of 8 bits"), (np.zeros((8, 8), np.int16), "signed integers of 16 bits"),
    (np.zeros((8, 8), np.complex64), "complex numbers of 64 bits")], ids=str)
def test_a_picture_of_samples_that_are_no_colours_is_refused_by_their_name(tmp_path, array, word):
    tifffile.imwrite(tmp_path / "a.tif", array, photometric="rgb" if array.ndim == 3 else "minisblack")
    samples, text = read_picture(tmp_path, "a.tif")
    assert samples is None and word in text and "dataset" in text


def test_maps_of_every_layout_have_the_contours_of_npy(tmp_path):
    maps = blobs(45, 70, 3, 1)
    for kind in ("npy", "tif"):
        (tmp_path / kind).mkdir()
    scales = {"u1": 255, "u2": 65535, "f2": 1, "f4": 1, "f8": 1}
    layouts = [{}, {"rowsperstrip": 8}, {"tile": (16, 32)}, {"compression": "zlib", "rowsperstrip": 8},
               {"compression": "zlib", "tile": (16, 16)}]
    for number, (dtype, planar, order, layout) in enumerate(itertools.product(scales, ["contig", "separate"], "<>", layouts)):
        array = (maps * scales[dtype]).astype(dtype)
        np.save(tmp_path / "npy" / f"{number}.npy", array)
        tifffile.imwrite(tmp_path / "tif" / f"{number}.tif",
                         np.ascontiguousarray(np.moveaxis(array, 2, 0)) if planar == "separate" else array, photometric="minisblack",
                         planarconfig=planar, byteorder=order, metadata=None, **layout)
    done, expected = play(tmp_path, "npy", 3)
    assert done.returncode == 0 and len(expected) == 100 and all(one["contours"] for one in expected[0]), done.stderr
    # The file says which side has the bands.
    for layout in ("hwc", "chw", "undeclared"):
        done, lines = play(tmp_path, "tif", 3, layout)
        assert done.returncode == 0, done.stderr
        assert [number for number in range(100) if lines[number] != expected[number]] == []


def test_pages_with_bands_are_frames_whatever_the_layout(tmp_path):
    frames = [blobs(24, 40, 2, frame) for frame in range(3)]
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        for frame in frames:
            file.write(np.ascontiguousarray(np.moveaxis(frame, 2, 0)), photometric="minisblack", planarconfig="separate", metadata=None)
    np.save(tmp_path / "a.npy", np.stack(frames))
    _, expected = play(tmp_path, "a.npy", 2)
    assert len(expected) == 3
    for layout in ("hwc", "chw", "undeclared"):
        done, lines = play(tmp_path, "a.tif", 2, layout)
        assert done.returncode == 0 and lines == expected, done.stderr


@pytest.mark.parametrize("kind", ["thumbnail", "mask", "mask of a thumbnail", "levels in SubIFDs", "thumbnail first"])
def test_what_belongs_to_another_page_is_neither_a_frame_nor_a_class(tmp_path, kind):
    mask = blobs(40, 60, 2, 0)[..., 0]
    small = np.ascontiguousarray(mask[::2, ::2])
    with tifffile.TiffWriter(tmp_path / "a.tif") as file:
        if kind == "thumbnail first":
            file.write(small, subfiletype=1)
        file.write(mask, subifds=2 if "SubIFDs" in kind else None)
        if kind == "levels in SubIFDs":
            file.write(small, subfiletype=1)
            file.write(np.ascontiguousarray(small[::2, ::2]), subfiletype=1)
        elif kind != "thumbnail first":
            mask_of = {"mask": 4, "mask of a thumbnail": 5}.get(kind)
            file.write(small > 0.5 if mask_of else small, subfiletype=mask_of or 1, photometric=4 if mask_of else 1)
        file.write(mask[::-1].copy())
    np.save(tmp_path / "a.npy", np.stack([mask, mask[::-1]])[..., None])
    done, expected = play(tmp_path, "a.npy")
    assert len(expected) == 2 and expected[0] != expected[1], done.stderr
    done, lines = play(tmp_path, "a.tif")
    assert done.returncode == 0 and lines == expected, done.stderr
    done, lines = play(tmp_path, "a.tif", 2, "chw")
    assert done.returncode == 0 and len(lines) == 1 and len(lines[0]) == 2, done.stderr


def test_a_thumbnail_that_is_alone_is_a_picture(tmp_path):
    values = np.arange(64, dtype=np.uint8)
    (tmp_path / "a.tif").write_bytes(tiff(8, 8, values.tobytes(), t254=1))
    samples, text = read_picture(tmp_path, "a.tif")
    np.testing.assert_array_equal(samples[..., 0].ravel(), values, text)


STACKS = {"imagej": {"imagej": True, "metadata": {"axes": "TYX"}}, "tifffile": {"photometric": "minisblack"}}


@pytest.mark.parametrize("writer", STACKS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("order", "<>")
def test_planes_behind_one_directory_are_pages(tmp_path, writer, dtype, order):
    planes = np.stack([blobs(40, 50, 2, frame)[..., 0] for frame in range(5)])
    planes = (planes * {"u1": 255, "u2": 65535, "f4": 1}[dtype]).astype(dtype)
    tifffile.imwrite(tmp_path / "a.tif", planes, truncate=True, byteorder=order, **STACKS[writer])
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert len(file.pages) == 1 and file.asarray().shape == planes.shape
    np.save(tmp_path / "a.npy", planes[..., None])
    _, expected = play(tmp_path, "a.npy")
    done, lines = play(tmp_path, "a.tif")
    assert done.returncode == 0 and len(lines) == 5 and lines == expected, done.stderr
    done, lines = play(tmp_path, "a.tif", 5, "chw")
    assert done.returncode == 0 and [len(line) for line in lines] == [5], done.stderr


def test_planes_of_colours_behind_one_directory_are_pictures_and_those_that_are_missing_are_said(tmp_path):
    planes = np.stack([np.roll(gradient(30, 44)[..., :3], step, axis=1) for step in range(4)])
    tifffile.imwrite(tmp_path / "a.tif", planes, imagej=True, truncate=True, metadata={"axes": "TYXS"})
    (tmp_path / "graph.yaml").write_text("source: {type: images, location: a.tif}\nstages: [{type: preprocess}]\n"
                                         "classes: [{name: a}]\nsinks: [{type: images, path: \"out/{name}.png\"}]\n")
    done = subprocess.run([PROGRAM, "run", "graph.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for page in range(4):
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out" / f"a-{page}.png"))[..., :3], planes[page])
    data = (tmp_path / "a.tif").read_bytes()
    (tmp_path / "cut.tif").write_bytes(data[:-5000])
    _, text = read_picture(tmp_path, "cut.tif")
    assert "tells of 4 planes, there are bytes of 2" in text
    # A copy of one page keeps the description of the stack that it was of.
    tifffile.imwrite(tmp_path / "one.tif", planes[2], photometric="rgb", description="ImageJ=1.53\nimages=4\n", metadata=None)
    samples, text = read_picture(tmp_path, "one.tif", "rgb")
    np.testing.assert_array_equal(samples, planes[2], text)


@pytest.mark.parametrize("order", "<>")
def test_planes_behind_one_directory_may_have_their_bands_apart(tmp_path, order):
    frames = np.stack([blobs(24, 40, 2, frame) for frame in range(3)])
    tifffile.imwrite(tmp_path / "a.tif", np.ascontiguousarray(np.moveaxis(frames, 3, 1)), photometric="minisblack",
                     planarconfig="separate", truncate=True, byteorder=order)
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert len(file.pages) == 1
    np.save(tmp_path / "a.npy", frames)
    _, expected = play(tmp_path, "a.npy", 2)
    done, lines = play(tmp_path, "a.tif", 2)
    assert done.returncode == 0 and len(lines) == 3 and lines == expected, done.stderr


def test_a_page_that_packs_very_well_is_read(tmp_path):
    page = Image.new("1", (3300, 4600), 1)
    page.save(tmp_path / "a.tif", compression="group4")
    assert (tmp_path / "a.tif").stat().st_size < 3300 * 4600 // 8192
    samples, text = read_picture(tmp_path, "a.tif", "grey")
    assert samples is not None and samples.min() == 255, text
    zeros = np.zeros((3000, 3000), np.float32)
    zeros[1000:1040, 1000:1050] = 1
    tifffile.imwrite(tmp_path / "b.tif", zeros, compression="zlib", compressionargs={"level": 9}, rowsperstrip=3000)
    done, lines = play(tmp_path, "b.tif")
    assert done.returncode == 0 and len(lines[0][0]["contours"]) == 1, done.stderr


@pytest.mark.parametrize("compression", [1, 4, 5, 8, 32773, 34925, 50000])
def test_a_header_that_tells_of_more_than_is_there_takes_no_memory(tmp_path, compression):
    for bits, sides in ((32, (60000, 60000)), (8, (11000, 11000))):
        (tmp_path / "a.tif").write_bytes(tiff(*sides, bytes(40), bits=bits, compression=compression, t339=3 if bits == 32 else 1))
        for command in (("apply", "preprocess", "a.tif", "out.npy"), ("find-contours", "a.tif")):
            code, text = run_bounded(*command, cwd=tmp_path, most_memory=700 * MEBIBYTE, most_seconds=20)
            assert code == 65 and "a.tif" in text, text


def test_a_stream_that_its_checksum_refuses_is_damage(tmp_path):
    values = np.random.default_rng(1).integers(0, 256, (64, 64), dtype=np.uint8)
    for rows in (64, 60):  # a strip may hold more rows than the page has left
        packed = zlib.compress(values.tobytes())
        for wrong in (False, True):
            data = packed[:-1] + bytes([packed[-1] ^ wrong])
            (tmp_path / "a.tif").write_bytes(tiff(64, rows, data, compression=8, rows=64))
            samples, text = read_picture(tmp_path, "a.tif")
            assert (samples is None) == wrong, text
            assert run_bounded("find-contours", "a.tif", cwd=tmp_path)[0] == (65 if wrong else 0)


@pytest.mark.parametrize("width", [40, 33, 2])
def test_maps_of_float_that_are_packed_by_differences_of_bytes_are_read(tmp_path, width):
    """Predictor 3 (Adobe's technical note 3): the first bytes of all samples of a row, then the second ones, and of all these
    the difference to the one before."""
    values = np.ascontiguousarray(blobs(24, 40, 2, 3)[:, :width, 0], np.float32)
    planes = values.astype(">f4").view(np.uint8).reshape(24, width, 4).transpose(0, 2, 1).reshape(24, 4 * width)
    packed = zlib.compress(np.diff(planes, axis=1, prepend=np.uint8(0)).tobytes())
    (tmp_path / "a.tif").write_bytes(tiff(width, 24, packed, bits=32, compression=8, t317=3, t339=3))
    with Image.open(tmp_path / "a.tif") as picture:
        np.testing.assert_array_equal(np.asarray(picture), values)
    np.save(tmp_path / "a.npy", values)
    expected, got = (play(tmp_path, name) for name in ("a.npy", "a.tif"))
    assert got[0].returncode == 0 and got[1] == expected[1] and (width < 40 or got[1][0][0]["contours"]), got[0].stderr


def test_bits_in_the_other_order_are_turned(tmp_path):
    values = np.arange(256, dtype=np.uint8).reshape(16, 16)
    turned = np.packbits(np.unpackbits(values, bitorder="little"), bitorder="big")
    (tmp_path / "a.tif").write_bytes(tiff(16, 16, turned.tobytes(), t266=2))
    samples, text = read_picture(tmp_path, "a.tif")
    np.testing.assert_array_equal(samples[..., 0], values, text)
    np.save(tmp_path / "a.npy", values)
    _, expected = play(tmp_path, "a.npy")
    assert json.dumps(play(tmp_path, "a.tif")[1]) == json.dumps(expected)


def test_a_volume_is_refused(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((16, 32, 32), np.float32), photometric="minisblack", volumetric=True, tile=(16, 16, 16))
    done, _ = play(tmp_path, "a.tif")
    assert done.returncode == 65 and "volume of 16 slices" in done.stderr


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("folder", [False, True])
def test_a_tiff_of_floats_is_taken_for_maps_and_not_for_a_picture(tmp_path, dtype, folder):
    row, column = np.mgrid[0:24, 0:40]
    map_ = (1 - np.hypot(row - 12, column - 18) / 16).clip(0, 1).astype(dtype)
    (tmp_path / "some").mkdir()
    name = "some/a.tif" if folder else "a.tif"
    tifffile.imwrite(tmp_path / name, map_)
    np.save(tmp_path / "a.npy", map_)
    found = []
    for given in ("some" if folder else name, "a.npy"):
        done = subprocess.run([PROGRAM, "run", given, "--output", f"out-{given}"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        found.append([line["classes"] for line in read_lines(tmp_path / f"out-{given}" / "contours.jsonl")])
    assert json.dumps(found[0]) == json.dumps(found[1])
    assert found[0][0][0]["contours"]
