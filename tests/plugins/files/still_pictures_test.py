"""BMP, TGA, the formats of Netpbm and WebP in every layout that they have, made here sample by sample, and as Pillow, OpenCV and
ffmpeg read them; what is cut off or lies is refused."""
import struct
import subprocess

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps
from tests.conftest import PROGRAM
from tests.plugins.files.bounded import gradient, read_picture, run_bounded

HEIGHT, WIDTH = 21, 35


def refused(tmp_path, name, data, word=""):
    """Whether the program refuses a file with a sentence that names it."""
    (tmp_path / name).write_bytes(data)
    samples, text = read_picture(tmp_path, name)
    return samples is None and name in text and word in text


# BMP -----------------------------------------------------------------------------------------------------------------------------

def bmp(rows, bits, header=40, compression=0, palette=b"", masks=(), gap=0, from_top=False, size=(WIDTH, HEIGHT), colours=0):
    """A BMP of rows of bytes (or of all of them, as runs). `header` is the size of its header."""
    width, height = size
    if header == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIiiII", 40, width, -height if from_top else height, 1, bits, compression, 0, 0, 0, colours, 0)
        head = struct.pack("<I", header) + head[4:]
        inside = b"".join(struct.pack("<I", mask) for mask in masks)
        head += inside if header == 40 else inside.ljust(header - 40, b"\0") if header > 40 else b""
        head = head if header >= 40 else head[:header]
    at = 14 + len(head) + len(palette) + gap
    data = rows if isinstance(rows, bytes) else b"".join(row.ljust((len(row) + 3) // 4 * 4, b"\0")
                                                        for row in (rows if from_top else reversed(rows)))
    return b"BM" + struct.pack("<IHHI", at + len(data), 0, 0, at) + head + palette + bytes(gap) + data


def indices(bits):
    return (np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH) * 7 % 2 ** bits).astype(np.uint8)


def packed(values, bits):
    """Rows of samples of 1, 2, 4 or 8 bits as bytes, the first in the uppermost bits."""
    exploded = (values[..., None] >> np.arange(bits - 1, -1, -1)) & 1
    return [np.packbits(row.reshape(-1).astype(np.uint8)).tobytes() for row in exploded]


def palette_of(bits):
    return np.random.default_rng(bits).integers(0, 256, (2 ** bits, 3), dtype=np.uint8)


def entries(palette, header):
    return b"".join(bytes((*colour[::-1], 0)[:3 if header == 12 else 4]) for colour in palette)


@pytest.mark.parametrize("header", [12, 16, 40, 52, 56, 64, 108, 124])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_a_bmp_with_a_palette_has_its_colours(tmp_path, header, bits):
    palette, values = palette_of(bits), indices(bits)
    for gap in (0, 2, 100):
        for from_top in (False, True) if header >= 40 else (False,):
            (tmp_path / "a.bmp").write_bytes(bmp(packed(values, bits), bits, header, 0, entries(palette, header), gap=gap,
                                                 from_top=from_top))
            samples, text = read_picture(tmp_path, "a.bmp", "rgb")
            assert samples is not None, text
            np.testing.assert_array_equal(samples, palette[values], f"gap {gap} {from_top}")
            if bits != 2 and header in (12, 40, 64, 108, 124) and not from_top:
                np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.bmp").convert("RGB")), samples)


FIELDS = {"555": (16, (0x7C00, 0x3E0, 0x1F, 0)), "565": (16, (0xF800, 0x7E0, 0x1F, 0)), "444": (16, (0xF00, 0xF0, 0xF, 0)),
          "1555": (16, (0x7C00, 0x3E0, 0x1F, 0x8000)), "4444": (16, (0xF00, 0xF0, 0xF, 0xF000)),
          "bgra": (32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)), "rgba": (32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
          "xrgb": (32, (0xFF0000, 0xFF00, 0xFF, 0)), "deep": (32, (0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000))}


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("header", [40, 52, 56, 108, 124])
def test_a_bmp_of_bit_fields_has_its_colours(tmp_path, fields, header):
    bits, masks = FIELDS[fields]
    samples = np.random.default_rng(2).integers(0, 2 ** bits, (HEIGHT, WIDTH), dtype=np.uint64).astype(f"<u{bits // 8}")
    alpha = masks[3] if header >= 56 else 0
    data = bmp([row.tobytes() for row in samples], bits, header, 3, masks=masks[:3] if header <= 52 else (*masks[:3], alpha))
    (tmp_path / "a.bmp").write_bytes(data)
    want = np.full((HEIGHT, WIDTH, 4), 255)
    for channel, mask in enumerate((*masks[:3], alpha)):
        shift = (mask & -mask).bit_length() - 1
        if mask:
            want[..., channel] = np.round(((samples & mask) >> shift) * 255 / (mask >> shift))
    got, text = read_picture(tmp_path, "a.bmp")
    np.testing.assert_array_equal(got, want, text)
    if header in (40, 108, 124) and (fields in ("bgra", "xrgb") or (fields == "565" and header == 40)):
        assert np.abs(cv2.imread(str(tmp_path / "a.bmp"))[..., ::-1].astype(int) - want[..., :3]).max() <= (8 if bits == 16 else 0)


def test_a_bmp_of_plain_colours_has_them(tmp_path):
    picture = gradient(HEIGHT, WIDTH)[..., :3]
    bgr = np.ascontiguousarray(picture[..., ::-1])
    for header in (12, 40, 64, 124):
        (tmp_path / "a.bmp").write_bytes(bmp([row.tobytes() for row in bgr], 24, header))
        np.testing.assert_array_equal(read_picture(tmp_path, "a.bmp", "rgb")[0], picture)
        padded = np.dstack([bgr, np.full((HEIGHT, WIDTH), 7, np.uint8)])
        (tmp_path / "a.bmp").write_bytes(bmp([row.tobytes() for row in padded], 32, header))
        np.testing.assert_array_equal(read_picture(tmp_path, "a.bmp")[0], np.dstack([picture, np.full((HEIGHT, WIDTH), 255)]))
    five = (picture.astype(np.uint16) >> 3)
    (tmp_path / "a.bmp").write_bytes(bmp([(row[:, 0] << 10 | row[:, 1] << 5 | row[:, 2]).astype("<u2").tobytes() for row in five], 16))
    np.testing.assert_array_equal(read_picture(tmp_path, "a.bmp", "rgb")[0], np.round(five * 255 / 31))


def runs(values, bits):
    """Samples as run lengths that use each way to write them: runs, samples as they are, steps and the ends of rows."""
    out = bytearray()
    for y, row in enumerate(values[::-1]):
        x = 0
        if y == 3:  # a step over what is the first colour
            out += bytes((0, 2, 4, 0))
            x = 4
        while x < len(row):
            equal = 1
            while x + equal < len(row) and equal < 255 and row[x + equal] == row[x]:
                equal += 1
            some = min(9, len(row) - x)
            if equal >= 3 or some < 3:
                out += bytes((equal, row[x] * 17 if bits == 4 else row[x]))
                x += equal
            else:
                part = row[x:x + some]
                body = part.tobytes() if bits == 8 else packed(part[None], 4)[0]
                out += bytes((0, some)) + body + bytes(len(body) % 2)
                x += some
        out += bytes((0, 0))
    return bytes(out) + bytes((0, 1))


@pytest.mark.parametrize("bits", [4, 8])
def test_a_bmp_of_runs_has_its_colours(tmp_path, bits):
    values = indices(bits)
    values[2:9, 5:30] = 3
    values[HEIGHT - 4, :4] = 0
    palette = palette_of(bits)
    data = bmp(runs(values, bits), bits, 40, 1 if bits == 8 else 2, entries(palette, 40), gap=10)
    (tmp_path / "a.bmp").write_bytes(data)
    samples, text = read_picture(tmp_path, "a.bmp", "rgb")
    np.testing.assert_array_equal(samples, palette[values], text)
    reference = subprocess.run(["ffmpeg", "-v", "error", "-i", tmp_path / "a.bmp", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                               capture_output=True, timeout=60).stdout
    np.testing.assert_array_equal(np.frombuffer(reference, np.uint8).reshape(samples.shape), samples)
    assert refused(tmp_path, "cut.bmp", data[:-40], "cut off")
    # What goes beyond a row is dropped, as others do.
    too_long = bmp(bytes((WIDTH + 2, 0x11, 0, 0)) * HEIGHT + bytes((0, 1)), bits, 40, 1 if bits == 8 else 2, entries(palette, 40))
    (tmp_path / "long.bmp").write_bytes(too_long)
    samples, text = read_picture(tmp_path, "long.bmp", "rgb")
    np.testing.assert_array_equal(samples, np.broadcast_to(palette[17 if bits == 8 else 1], samples.shape), text)


def test_a_bmp_that_is_cut_or_lies_is_refused(tmp_path):
    palette = entries(palette_of(8), 40)
    data = bmp(packed(indices(8), 8), 8, palette=palette)
    assert not refused(tmp_path, "whole.bmp", data) and not refused(tmp_path, "unpadded.bmp", data[:-1])
    assert refused(tmp_path, "cut.bmp", data[:-2], "cut off") and refused(tmp_path, "head.bmp", data[:40], "cut off")
    assert refused(tmp_path, "colours.bmp", bmp(packed(indices(8), 8), 8, palette=palette[:80], colours=20), "beyond the 20 of its palette")
    # A header may forget the palette, and then tells of samples where it begins.
    for at in (54, 0):
        (tmp_path / "forgot.bmp").write_bytes(data[:10] + struct.pack("<I", at) + data[14:])
        np.testing.assert_array_equal(read_picture(tmp_path, "forgot.bmp", "rgb")[0], palette_of(8)[indices(8)])
    # Samples may lie where the last colours would.
    short = bmp(packed(indices(4), 8), 8, palette=palette[:1000])
    (tmp_path / "short.bmp").write_bytes(short)
    np.testing.assert_array_equal(read_picture(tmp_path, "short.bmp", "rgb")[0], palette_of(8)[indices(4)])
    assert refused(tmp_path, "within.bmp", data[:10] + struct.pack("<I", 20) + data[14:], "within its header")
    assert refused(tmp_path, "huffman.bmp", bmp(bytes(50), 1, 64, compression=3), "compression 3")
    assert refused(tmp_path, "bits.bmp", bmp(bytes(9000), 7), "7 bits")
    assert refused(tmp_path, "mask.bmp", bmp(bytes(9000), 32, compression=3, masks=(0xFF0000, 0xF0F0, 0xFF)), "lie together")
    assert refused(tmp_path, "zero.bmp", bmp(bytes(9000), 24, size=(0, 5)), "0x5")


@pytest.mark.parametrize("kind, compression", [("JPEG", 4), ("PNG", 5)])
def test_a_bmp_around_another_picture_has_its_pixels(tmp_path, kind, compression):
    picture = Image.fromarray(gradient(HEIGHT, WIDTH)[..., :3])
    picture.save(tmp_path / "inside", kind)
    (tmp_path / "a.bmp").write_bytes(bmp((tmp_path / "inside").read_bytes(), 0, compression=compression))
    samples, text = read_picture(tmp_path, "a.bmp", "rgb")
    np.testing.assert_array_equal(samples, np.asarray(Image.open(tmp_path / "inside")), text)


# TGA -----------------------------------------------------------------------------------------------------------------------------

def tga(samples, kind, bits, how=0, palette=b"", palette_bits=0, identity=b"", first=0, size=(WIDTH, HEIGHT)):
    count = len(palette) // ((palette_bits + 7) // 8) if palette else 0
    return struct.pack("<BBBHHBHHHHBB", len(identity), bool(palette), kind, first, count, palette_bits, 0, 0, *size, bits, how) + identity + \
        palette + samples


def placed(values, how):
    """Rows and columns in the order in which a TGA with this descriptor stores them."""
    values = values if how & 32 else values[::-1]
    return np.ascontiguousarray(values[:, ::-1] if how & 16 else values)


def tga_runs(samples):
    """Packets of runs and of samples as they are, over the ends of rows."""
    flat, out, at = [bytes(sample) for sample in samples], b"", 0
    while at < len(flat):
        equal = 1
        while at + equal < len(flat) and equal < 128 and flat[at + equal] == flat[at]:
            equal += 1
        some = 1 if equal > 1 else min(5, len(flat) - at)
        out += bytes((127 + equal,)) + flat[at] if equal > 1 else bytes((some - 1,)) + b"".join(flat[at:at + some])
        at += max(equal, some)
    return out


@pytest.mark.parametrize("how", [0, 16, 32, 48])
@pytest.mark.parametrize("run", [False, True])
@pytest.mark.parametrize("kind, bits", [(1, 8), (1, 16), (2, 15), (2, 16), (2, 24), (2, 32), (3, 8), (3, 16)])
def test_a_tga_has_its_colours_from_every_corner(tmp_path, how, run, kind, bits):
    picture = gradient(HEIGHT, WIDTH)
    picture[4:9] = picture[4]
    picture[:, 3:20] = picture[:, 3:4]
    palette = b""
    if kind == 1:
        colours = palette_of(6)
        values = (indices(6).astype(np.uint16) + 5).astype("<u1" if bits == 8 else "<u2")[..., None]
        palette, want = entries(colours, 12), colours[indices(6)]
    elif kind == 3:
        values, want = (picture[..., :1], picture[..., [0, 0, 0]]) if bits == 8 else (picture[..., [0, 3]], picture[..., [0, 0, 0, 3]])
    elif bits <= 16:
        five = picture.astype(np.uint16) >> 3
        values = (five[..., 0] << 10 | five[..., 1] << 5 | five[..., 2]).astype("<u2")[..., None]
        want = np.round(five[..., :3] * 255 / 31)
    else:
        values, want = picture[..., [2, 1, 0, 3][:bits // 8]], picture[..., :bits // 8]
    stored = placed(values, how)
    flat = [sample.tobytes() for sample in stored.reshape(-1, stored.shape[2])]
    data = tga(tga_runs(flat) if run else b"".join(flat), kind + 8 * run, bits, how | (8 if bits == 32 else 0), palette, 24 if palette else 0,
               b"a comment" if run else b"", 5 if palette else 0)
    (tmp_path / "a.tga").write_bytes(data)
    samples, text = read_picture(tmp_path, "a.tga")
    assert samples is not None, text
    np.testing.assert_array_equal(samples[..., :want.shape[2]], want)
    if how in (0, 32) and bits in (8, 24, 32) and kind != 1 and not run:  # Pillow wants runs to end with their rows
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.tga").convert("RGBA"))[..., :want.shape[2]], want)
    assert refused(tmp_path, "cut.tga", data[:-3], "cut off")


def test_a_tga_without_its_extension_is_known_by_its_end_and_other_kinds_are_refused(tmp_path):
    Image.fromarray(gradient(20, 30)[..., :3]).save(tmp_path / "a.tga")
    data = (tmp_path / "a.tga").read_bytes()
    assert data.endswith(b"TRUEVISION-XFILE.\0")
    (tmp_path / "a.dat").write_bytes(data)
    np.testing.assert_array_equal(read_picture(tmp_path, "a.dat", "rgb")[0], gradient(20, 30)[..., :3])
    assert refused(tmp_path, "huge.tga", tga(bytes(100), 10, 24, size=(16000, 8000)), "cut off")
    assert refused(tmp_path, "beyond.tga", tga(bytes((127, *range(24))) * 9000, 9, 8, palette=bytes(60), palette_bits=24))
    assert refused(tmp_path, "none.tga", tga(b"", 0, 8)) and refused(tmp_path, "huffman.tga", tga(bytes(9000), 32, 8))


# Netpbm --------------------------------------------------------------------------------------------------------------------------

def netpbm(kind, values, most):
    """A picture as one of P1 to P6."""
    height, width = values.shape[:2]
    head = f"P{kind}\n# a comment\n{width} # another\n{height}\n" + ("" if kind in (1, 4) else f"{most}\n")
    if kind <= 3:
        rows = [("" if kind == 1 else " ").join(map(str, row.reshape(-1))) for row in values]
        return (head + "\n".join(rows) + "\n").encode()
    return head.encode() + (b"".join(packed(values, 1)) if kind == 4 else values.astype("u1" if most < 256 else ">u2").tobytes())


@pytest.mark.parametrize("kind, most", [(1, 1), (4, 1), *((kind, most) for kind in (2, 5, 3, 6) for most in (1, 15, 255, 1023, 65535))])
def test_netpbm_pictures_have_their_samples(tmp_path, kind, most):
    shape = (HEIGHT, WIDTH, 3) if kind in (3, 6) else (HEIGHT, WIDTH)
    values = np.random.default_rng(kind).integers(0, most + 1, shape)
    name = f"a.{'pbm' if kind in (1, 4) else 'pgm' if kind in (2, 5) else 'ppm'}"
    data = netpbm(kind, values.astype(np.uint8) if most == 1 else values, most)
    (tmp_path / name).write_bytes(data)
    samples, text = read_picture(tmp_path, name, "rgb")
    assert samples is not None, text
    want = 255 - values * 255 if kind in (1, 4) else np.floor(values * 255 / most + 0.5)
    np.testing.assert_array_equal(samples, want if want.ndim == 3 else np.repeat(want[..., None], 3, axis=2))
    if most == 255 or kind in (1, 4):
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / name).convert("RGB")), samples)
    # A word that is cut is a shorter word in text.
    assert refused(tmp_path, f"cut-{name}", data[:len(data) - 3 if kind > 3 or kind == 1 else len(data) * 2 // 3], "cut off")


def test_pam_pictures_have_their_channels_and_what_is_no_netpbm_is_refused(tmp_path):
    for depth, kind in ((1, "GRAYSCALE"), (2, "GRAYSCALE_ALPHA"), (3, "RGB"), (4, "RGB_ALPHA")):
        for most in (255, 65535):
            values = np.random.default_rng(depth).integers(0, most + 1, (HEIGHT, WIDTH, depth))
            head = f"P7\nWIDTH {WIDTH}\nHEIGHT {HEIGHT}\n# a comment\nDEPTH {depth}\nMAXVAL {most}\nTUPLTYPE {kind}\nENDHDR\n"
            (tmp_path / "a.pam").write_bytes(head.encode() + values.astype("u1" if most < 256 else ">u2").tobytes())
            samples, text = read_picture(tmp_path, "a.pam")
            want = np.full((HEIGHT, WIDTH, 4), most)
            want[..., :3] = values[..., :1] if depth < 3 else values[..., :3]
            want[..., 3] = values[..., -1] if depth % 2 == 0 else most
            np.testing.assert_array_equal(samples, np.floor(want * 255 / most + 0.5), text)
    for number, (data, word) in enumerate([
            (b"P6 3 3 255\n" + bytes(26), "cut off"), (b"P2 2 1 7 8 1\n", "a sample is 8"), (b"P5 2 2 0\n" + bytes(9), "largest sample"),
            (b"P2 2 1 7 x 1\n", "'x'"), (b"P1 2 1 2 0\n", "neither 0 nor 1"), (b"P7\nWIDTH 2\nSIZE 3\n", "SIZE"),
            (b"P5 2 2 70000\n" + bytes(9), "70000"), (b"P6 999999 9 255\n" + bytes(50), "999999x9")]):
        assert refused(tmp_path, f"{number}.ppm", data, word), word


def test_a_folder_and_a_run_take_every_extension(tmp_path):
    (tmp_path / "shots").mkdir()
    picture = Image.fromarray(gradient(HEIGHT, WIDTH)[..., :3])
    for extension in ("bmp", "tga", "ppm", "webp"):
        picture.save(tmp_path / "shots" / f"{extension}.{extension}")
    (tmp_path / "shots" / "pbm.pbm").write_bytes(netpbm(1, indices(1), 1))
    done = subprocess.run([PROGRAM, "record", "shots", "rec", "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and len(list((tmp_path / "rec" / "frames").iterdir())) == 5, done.stderr
    (tmp_path / "text.pbm").write_text("P1\n6 4\n0 0 0 0 0 0\n0 1 1 0 0 0\n0 1 1 0 0 0\n0 0 0 0 0 0\n")
    done = subprocess.run([PROGRAM, "run", "text.pbm", "--output", "out", "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, data", [
    ("a.bmp", lambda: bmp(bytes(40), 24, size=(11000, 11000))), ("a.tga", lambda: tga(bytes(40), 2, 24, size=(11000, 11000))),
    ("b.tga", lambda: tga(bytes(40), 10, 24, size=(11000, 11000))), ("a.ppm", lambda: b"P3 11000 11000 255\n" + b"1 " * 20),
    ("a.pbm", lambda: b"P1 11000 11000\n" + b"1 " * 20)], ids=["bmp", "tga", "tga runs", "ppm", "pbm"])
def test_a_header_that_tells_of_more_than_is_there_takes_no_memory(tmp_path, name, data):
    (tmp_path / name).write_bytes(data())
    code, text = run_bounded("apply", "preprocess", name, "out.npy", cwd=tmp_path, most_memory=200 << 20, most_seconds=15)
    assert code == 65 and name in text and "cut off" in text, text


# WebP ----------------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, start, word", [
    ("a.avif", b"\0\0\0\x1cftypavif\0\0\0\0", "an AVIF picture"), ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0", "an HEIC picture"),
    ("b.heif", b"\0\0\0\x18ftypmif1\0\0\0\0", "an HEIC picture"), ("a.jxl", b"\xff\x0a\x10\x20", "a JPEG XL picture"),
    ("b.jxl", b"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL picture")])
def test_formats_that_are_not_read_are_refused_by_their_names(tmp_path, name, start, word):
    assert refused(tmp_path, name, start + bytes(200), word)
    (tmp_path / "shots").mkdir()
    (tmp_path / name).rename(tmp_path / "shots" / name)
    Image.fromarray(gradient(HEIGHT, WIDTH)[..., :3]).save(tmp_path / "shots" / "z.png")
    done = subprocess.run([PROGRAM, "record", "shots", "rec", "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and word in done.stderr and len(list((tmp_path / "rec" / "frames").iterdir())) == 1


def test_an_animated_webp_is_refused_by_its_name(tmp_path):
    frames = [Image.fromarray(np.roll(gradient(24, 37)[..., :3], step, axis=1)) for step in range(3)]
    frames[0].save(tmp_path / "a.webp", save_all=True, append_images=frames[1:])
    samples, text = read_picture(tmp_path, "a.webp")
    assert samples is None and "a.webp: it is an animated WebP" in text and "anim_dump" in text


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("mode", ["lossless", "lossy", "alpha", "named"])
def test_a_webp_comes_upright(tmp_path, orientation, mode):
    rgba = gradient(24, 37)
    exif = Image.Exif()
    exif[0x0112] = orientation
    block = exif.tobytes()
    block = block if mode == "named" else block.removeprefix(b"Exif\0\0")
    Image.fromarray(rgba if mode == "alpha" else rgba[..., :3]).save(tmp_path / "a.webp", exif=block, lossless=mode != "lossy", exact=True)
    want = np.asarray(ImageOps.exif_transpose(Image.open(tmp_path / "a.webp")).convert("RGB")).astype(int)
    samples, text = read_picture(tmp_path, "a.webp", "rgb")
    assert samples is not None and samples.shape == want.shape, text
    assert np.abs(samples - want).max() <= (6 if mode == "lossy" else 0)
