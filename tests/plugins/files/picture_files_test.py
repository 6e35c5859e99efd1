"""Pictures as the program reads them: the pixels of Pillow and OpenCV, whatever is damaged refused, no memory for what a
header tells alone."""
import io
import struct
import subprocess
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image
from tests.conftest import PROGRAM, read_lines
from tests.plugins.files.bounded import MEBIBYTE, gradient, read_picture, run_bounded

GRAPH = """
source: {type: images, location: shots}
classes: [{name: light, level: 0.5, references: ["#ffffff"]}, {name: dark, level: 0.5}]
stages: [{type: classify}, {type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""


def photograph(height=131, width=203):
    """Smooth colours with edges and grain, of odd sides: what every part of a decoder has to do with."""
    random = np.random.default_rng(5)
    rows, cols = np.mgrid[0:height, 0:width]
    picture = np.stack([rows * 255 // height, cols * 255 // width, 255 - rows * 200 // height], axis=-1).astype(np.int16)
    picture[(rows - 60) ** 2 + (cols - 90) ** 2 < 1600] = (200, 40, 30)
    return np.clip(picture + random.integers(-12, 13, picture.shape), 0, 255).astype(np.uint8)


def jpeg(**options):
    file = io.BytesIO()
    Image.fromarray(photograph()).save(file, "JPEG", **options)
    return file.getvalue()


def png(mode="RGB"):
    file = io.BytesIO()
    Image.fromarray(photograph()).convert(mode).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("options", [{"subsampling": 0}, {"subsampling": 1}, {"subsampling": 2}, {"progressive": True},
                                     {"quality": 100, "subsampling": 0}, {"optimize": True}], ids=str)
def test_a_jpeg_has_the_pixels_of_pillow_and_opencv(tmp_path, options):
    (tmp_path / "a.jpg").write_bytes(jpeg(**{"quality": 85, **options}))
    samples, text = read_picture(tmp_path, "a.jpg")
    assert samples is not None, text
    np.testing.assert_array_equal(samples[..., 3], 255)
    np.testing.assert_array_equal(samples[..., :3], np.asarray(Image.open(tmp_path / "a.jpg")))
    np.testing.assert_array_equal(samples[..., 2::-1], cv2.imread(str(tmp_path / "a.jpg")))


def test_grey_and_four_ink_jpegs_have_the_pixels_of_pillow(tmp_path):
    for mode in ("L", "CMYK"):
        Image.fromarray(photograph()).convert(mode).save(tmp_path / "a.jpg", quality=90)
        samples, text = read_picture(tmp_path, "a.jpg")
        assert samples is not None, text
        np.testing.assert_array_equal(samples, np.asarray(Image.open(tmp_path / "a.jpg").convert("RGBA")), mode)


def test_a_photograph_has_the_pixels_of_pillow(tmp_path, real_data):
    path = real_data / "scientific" / "retina.jpg"
    samples, text = read_picture(tmp_path, path)
    np.testing.assert_array_equal(samples[..., :3], np.asarray(Image.open(path)), text)


def test_a_coloured_png_of_16_bits_is_rounded_to_8(tmp_path):
    values = np.random.default_rng(3).integers(0, 65536, (21, 34, 3), dtype=np.uint16)
    cv2.imwrite(str(tmp_path / "a.png"), values)
    samples, text = read_picture(tmp_path, "a.png")
    assert samples is not None, text
    np.testing.assert_array_equal(samples[..., 2::-1], (values.astype(np.int64) * 255 + 32895) >> 16)


def test_an_interlaced_png_has_its_pixels(tmp_path):
    picture = photograph(19, 23)
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    rows = b"".join(b"\0" + row.tobytes() for y, x, down, across in passes for row in picture[y::down, x::across]
                    if row.size)
    header = struct.pack(">IIBBBBB", 23, 19, 8, 2, 0, 0, 1)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) +
                                     chunk(b"IEND", b""))
    samples, text = read_picture(tmp_path, "a.png", "rgb")
    np.testing.assert_array_equal(samples, picture, text)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def small_idat(width, height):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(bytes(3000))) + chunk(b"IEND", b"")


def overwritten(data, count, at=0.4):
    begin = int(len(data) * at)
    return data[:begin] + np.random.default_rng(1).bytes(count) + data[begin + count:]


def large_jpeg():
    file = io.BytesIO()
    Image.fromarray(np.kron(photograph(), np.ones((4, 4, 1), np.uint8))).save(file, "JPEG", quality=95)
    return file.getvalue()


DAMAGED = {
    "cut": lambda: (jpeg()[:-500], "jpg"),
    "cut with an end marker": lambda: (jpeg()[:len(jpeg()) // 2] + b"\xff\xd9", "jpg"),
    "cut progressive with an end marker": lambda: (jpeg(progressive=True)[:2500] + b"\xff\xd9", "jpg"),
    "4,000 bytes overwritten": lambda: (overwritten(large_jpeg(), 4000), "jpg"),
    "png cut": lambda: (png()[:-500], "png"),
    "png without its end": lambda: (png()[:-12], "png"),
    "png with 4,000 bytes overwritten": lambda: (overwritten(png(), 4000), "png"),
    "png with too little data": lambda: (small_idat(200, 300), "png"),
    "png with one wrong bit": lambda: (overwritten(png(), 1), "png"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_picture_fails_with_its_reason_and_the_stream_goes_on(tmp_path, kind):
    data, extension = DAMAGED[kind]()
    shots = tmp_path / "shots"
    shots.mkdir()
    for number in (0, 2):
        (shots / f"{number}.{extension}").write_bytes(jpeg() if extension == "jpg" else png())
    (shots / f"1.{extension}").write_bytes(data)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--quiet", "--backend", "cpu"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    assert f"1.{extension}: the picture is damaged (" in done.stderr, done.stderr
    assert [line["frame"] for line in read_lines(tmp_path / "contours.jsonl")] == [0, 2]


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1"])
def test_bmp_is_read_as_others_read_it_and_refused_when_it_is_cut(tmp_path, mode):
    picture = Image.fromarray(photograph(37, 50)).convert(mode)
    picture.save(tmp_path / "a.bmp")
    subprocess.run([PROGRAM, "apply", "preprocess", "a.bmp", "a.npy", "--channels", "rgb"], cwd=tmp_path, check=True, timeout=60)
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.asarray(picture.convert("RGB")))
    data = (tmp_path / "a.bmp").read_bytes()
    (tmp_path / "cut.bmp").write_bytes(data[:len(data) * 2 // 3])
    done = subprocess.run([PROGRAM, "apply", "preprocess", "cut.bmp", "cut.npy"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 65 and "cut.bmp" in done.stderr, done.stderr


def lying_headers():
    bmp = b"BM" + struct.pack("<IHHI", 70, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 12000, 12000, 1, 24, 0, 0, 0, 0, 0, 0)
    gif = b"GIF89a" + struct.pack("<HHBBB", 16000, 16000, 0x80, 0, 0) + bytes(6) + b",\0\0\0\0" + \
        struct.pack("<HH", 16000, 16000) + b"\0\x02\x02\x4c\x01\0;"
    webp = io.BytesIO()
    Image.fromarray(photograph(8, 8)).save(webp, "WEBP", lossless=True)
    yield "png", small_idat(11000, 11000)
    yield "png", small_idat(16384, 16384)
    yield "jpg", lie_in_jpeg(jpeg(), 11000, 11000)
    yield "jpg", lie_in_jpeg(jpeg(progressive=True), 11000, 11000)
    yield "jpg", lie_in_jpeg(jpeg(), 65500, 65500)
    yield "bmp", bmp + bytes(16)
    yield "gif", gif
    lossless = webp.getvalue()
    yield "webp", lossless[:21] + struct.pack("<I", 11999 | 11999 << 14) + lossless[25:]
    yield "ppm", b"P6 11000 11000 255\n" + bytes(50)
    yield "tif", tiff_header(11000, 11000)


def lie_in_jpeg(data, width, height):
    at = next(at for at in range(len(data)) if data[at:at + 2] in (b"\xff\xc0", b"\xff\xc2"))
    return data[:at + 5] + struct.pack(">HH", height, width) + data[at + 9:]


def tiff_header(width, height):
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8),
               (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, width * height)]
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(entries)) + \
        b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)


@pytest.mark.parametrize("name", [b"iTXt", b"tEXt", b"zTXt", b"sPLT", b"pCAL", b"sCAL", b"iCCP", b"eXIf"], ids=bytes.decode)
def test_a_chunk_that_lies_about_its_length_costs_no_memory(tmp_path, name):
    whole = png()
    at = 8 + 25  # behind IHDR
    lie = struct.pack(">I", 0x7FFFFFFF) + name + b"a\0" + bytes(8)
    (tmp_path / "a.png").write_bytes(whole[:at] + lie + whole[at:])
    code, text = run_bounded("apply", "preprocess", "a.png", "out.npy", cwd=tmp_path, most_memory=150 * MEBIBYTE, most_seconds=15)
    assert code == 65 and "a.png" in text, text


def test_a_transparent_colour_that_no_sample_has_is_no_damage(tmp_path):
    header = struct.pack(">IIBBBBB", 8, 2, 1, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tRNS", b"\0\7") + \
        chunk(b"IDAT", zlib.compress(b"\0\xaa\0\x55")) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(data)
    samples, text = read_picture(tmp_path, "a.png", "grey")
    np.testing.assert_array_equal(samples.squeeze(), [[255, 0] * 4, [0, 255] * 4], text)


@pytest.mark.parametrize("number", range(10))
def test_a_header_that_lies_about_the_size_costs_neither_memory_nor_time(tmp_path, number):
    extension, data = list(lying_headers())[number]
    (tmp_path / f"a.{extension}").write_bytes(data)
    code, text = run_bounded("apply", "preprocess", f"a.{extension}", "out.npy", cwd=tmp_path, most_memory=400 * MEBIBYTE,
                             most_seconds=15)
    assert code == 65 and f"a.{extension}" in text, text
    assert not (tmp_path / "out.npy").exists()


def test_the_limit_of_pixels_holds_for_every_format_and_for_the_frames_of_datasets(tmp_path):
    shots, maps, frames = tmp_path / "shots", tmp_path / "set" / "maps", tmp_path / "set" / "frames"
    for folder in (shots, maps, frames):
        folder.mkdir(parents=True)
    for number, extension in enumerate(("png", "jpg", "bmp", "tif", "webp", "ppm", "gif")):
        Image.fromarray(np.zeros((1001, 1000, 3), np.uint8)).save(shots / f"{number}.{extension}")
    Image.fromarray(np.zeros((10, 10, 3), np.uint8)).save(shots / "9.png")
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--set", "source.max_megapixels=1", "--quiet"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    assert [line["frame"] for line in read_lines(tmp_path / "contours.jsonl")] == [7]
    assert done.stderr.count("it is 1000x1001, allowed are sides of 1 to 16384 px and 1000000 pixels in all") >= 5, done.stderr
    np.save(maps / "0.npy", np.zeros((4, 4), np.float32))
    Image.fromarray(np.zeros((1001, 1000, 3), np.uint8)).save(frames / "0.png")
    (tmp_path / "set.yaml").write_text("source: {type: dataset, location: set, max_megapixels: 1}\nclasses: [{name: a}]\n"
                                       "stages: [{type: marching_squares}, {type: contour_assembly}]\n"
                                       "sinks: [{type: jsonl, path: set.jsonl}]\n")
    done = subprocess.run([PROGRAM, "run", "set.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 65 and "1000000 pixels in all" in done.stderr, done.stderr


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("extension", ["png", "tif", "jpg"])
def test_pictures_come_upright_as_pillow_turns_them(tmp_path, orientation, extension):
    image = Image.fromarray(gradient(24, 37)[..., :3])
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"tiffinfo": {0x0112: orientation}} if extension == "tif" else {"exif": exif}
    image.save(tmp_path / f"a.{extension}", **options)
    # Pillow turns TIFF files by itself when it loads them.
    stored = image if extension == "tif" else Image.open(tmp_path / f"a.{extension}")
    turn = [None, None, Image.FLIP_LEFT_RIGHT, Image.ROTATE_180, Image.FLIP_TOP_BOTTOM, Image.TRANSPOSE, Image.ROTATE_270,
            Image.TRANSVERSE, Image.ROTATE_90][orientation]
    expected = np.asarray(stored if turn is None else stored.transpose(turn))
    samples, text = read_picture(tmp_path, f"a.{extension}", "rgb")
    assert samples is not None, text
    np.testing.assert_array_equal(samples, expected)


def test_each_page_of_a_tiff_is_a_frame(tmp_path):
    shots = tmp_path / "shots"
    shots.mkdir()
    pages = [Image.fromarray(np.full((20, 30, 3), 20 * page, np.uint8)) for page in range(11)]
    pages[0].save(shots / "stack.tif", save_all=True, append_images=pages[1:])
    pages[5].save(shots / "zz.png")
    (tmp_path / "graph.yaml").write_text("source: {type: images, location: shots}\nstages: [{type: preprocess}]\n"
                                         "classes: [{name: a}]\nsinks: [{type: images, path: \"out/{name}.png\"}]\n")
    done = subprocess.run([PROGRAM, "run", "graph.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for page in range(11):
        assert cv2.imread(str(tmp_path / "out" / f"stack-{page:02}.png"))[3, 3].tolist() == [20 * page] * 3
    assert len(list((tmp_path / "out").iterdir())) == 12
