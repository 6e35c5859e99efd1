"""Formats that need something which is missing, or that nothing reads, are named; interlaced video becomes one picture a frame."""
import json
import re
import subprocess

import cv2
import numpy as np
import pytest
from PIL import Image
from tests.plugins.gst.times_test import assert_same_times, decoded_by_ffmpeg, ffmpeg, record, times_by_ffprobe
from tests.plugins.gst.video_out_test import needs_ffmpeg

pytestmark = needs_ffmpeg
BRANDS = {"a.avif": (b"avif", "an AVIF picture"), "b.avif": (b"mif1avif", "an AVIF picture"), "c.heic": (b"heic", "an HEIC picture"),
          "d.heif": (b"mif1heic", "an HEIC picture"), "e.cr3": (b"crx ", "a raw picture of a camera")}
STARTS = {"f.jxl": (b"\xff\x0a", "a JPEG XL picture"), "g.jxl": (b"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL picture"),
          "h.psd": (b"8BPS\0\1", "a Photoshop picture"), "j.qoi": (b"qoif", "a QOI picture"),
          "k.dcm": (bytes(128) + b"DICM", "a DICOM file"), "l.jxr": (b"II\xbc\x01", "a JPEG XR picture"),
          "m.hdr": (b"#?RADIANCE\n", "a Radiance picture"), "n.hdr": (b"#?RGBE\n", "a Radiance picture"),
          "o.pfm": (b"PF\n4 4\n-1\n", "a portable float map"), "p.pfm": (b"Pf\n4 4\n-1\n", "a portable float map"),
          "q.nii": ((348).to_bytes(4, "little") + bytes(340) + b"n+1\0", "a NIfTI volume"), "r.nrrd": (b"NRRD0004\n\0", "an NRRD volume"),
          "s.xcf": (b"gimp xcf v011\0", "a GIMP picture")}
BY_PILLOW = {"a.dds": "a DirectDraw texture", "b.sgi": "a picture of Silicon Graphics", "c.pcx": "a PCX picture", "d.ico": "a Windows icon",
             "e.icns": "an icon of macOS"}


def refused(contorno, path, *command):
    done = contorno(*(command or ("record", path, path.parent / "out")), "--quiet", check=False)
    assert done.returncode == 65 and done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("name", [*BRANDS, *STARTS])
def test_a_picture_of_a_format_that_is_not_read_is_refused_by_its_name(contorno, tmp_path, name):
    start, called = BRANDS.get(name) or STARTS[name]
    if name in BRANDS:
        start = (8 + len(start) + 4).to_bytes(4, "big") + b"ftyp" + start[:4] + b"\0\0\0\0" + start[4:]
    (tmp_path / name).write_bytes(start + bytes(300))
    said = refused(contorno, tmp_path / name)
    assert said.count("\n") == 1 and f"{name}: it is {called}" in said and "which contorno does not read" in said
    said = refused(contorno, tmp_path / name, "run", tmp_path / name, "--output", tmp_path / "run")
    assert f"it is {called}" in said


@pytest.mark.parametrize("name", BY_PILLOW)
def test_what_pillow_writes_and_nothing_here_reads_is_refused_by_its_name(contorno, tmp_path, name):
    Image.new("RGB", (128, 128), (200, 90, 30)).save(tmp_path / name)
    assert f"{name}: it is {BY_PILLOW[name]}" in refused(contorno, tmp_path / name)


def test_an_animated_png_is_no_still_picture_and_the_way_that_is_named_has_its_times(contorno, tmp_path):
    pictures = [Image.new("RGB", (96, 64), (30 * index, 200, 90)) for index in range(4)]
    pictures[0].save(tmp_path / "moving.png", save_all=True, append_images=pictures[1:], duration=[100, 300, 50, 400], dpi=(72, 72))
    pictures[0].save(tmp_path / "still.png", save_all=True, append_images=pictures[:1], duration=100)  # one frame in the end
    said = refused(contorno, tmp_path / "moving.png")
    assert "moving.png: it is an animated PNG" in said
    (tmp_path / "shots").mkdir()
    (tmp_path / "moving.png").rename(tmp_path / "shots" / "a.png")
    done = contorno("record", tmp_path / "shots", tmp_path / "folder", check=False)
    assert done.returncode == 65 and "a.png: it is an animated PNG" in done.stderr
    (tmp_path / "run.yaml").write_text("source: {type: images, location: shots/a.png}\nstages: [preprocess]\nsinks: []\n")
    done = contorno("run", tmp_path / "run.yaml", "--quiet", check=False)
    assert done.returncode == 65 and "a.png: it is an animated PNG" in done.stderr and "ffmpeg -i FILE -c:v ffv1 FILE.mkv" in done.stderr
    ffmpeg(tmp_path, "-i", "shots/a.png", "-c:v", "ffv1", "moving.mkv")
    frames, times = record(contorno, tmp_path / "moving.mkv")
    assert len(frames) == 4
    assert_same_times(times, times_by_ffprobe(tmp_path / "shots" / "a.png"))
    assert len(record(contorno, tmp_path / "still.png")[0]) == 1


def test_an_animated_webp_is_refused_by_its_name_and_a_still_one_read(contorno, tmp_path):
    pictures = [Image.new("RGB", (96, 64), (30 * index, 200, 90)) for index in range(3)]
    pictures[0].save(tmp_path / "moving.webp", save_all=True, append_images=pictures[1:], duration=100, lossless=True)
    pictures[0].save(tmp_path / "still.webp", lossless=True, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0")
    assert "moving.webp: it is an animated WebP" in refused(contorno, tmp_path / "moving.webp")
    (picture,), _ = record(contorno, tmp_path / "still.webp")
    assert np.abs(picture.astype(int) - (90, 200, 0)).max() <= 2


def test_a_film_of_ffmpeg_is_named_in_a_folder_of_pictures_too(contorno, tmp_path):
    folder = tmp_path / "shots"
    folder.mkdir()
    cv2.imwrite(str(folder / "a.png"), np.zeros((8, 8, 3), np.uint8))
    ffmpeg(folder, "-f", "lavfi", "-i", "color=red:size=64x64", "-frames:v", 1, "-c:v", "libaom-av1", "-still-picture", 1, "b.avif")
    done = contorno("record", folder, tmp_path / "out", check=False)
    assert done.returncode == 3 and "b.avif: it is an AVIF picture" in done.stderr
    assert "1 frames recorded, 0 dropped, 1 failed" in done.stdout


def has(element):
    return subprocess.run(["gst-inspect-1.0", element], capture_output=True, check=False).returncode == 0


def test_a_missing_demuxer_names_the_package_that_has_it_and_no_other(contorno, tmp_path):
    if has("asfdemux"):
        pytest.skip("gstreamer1.0-plugins-ugly is installed")
    ffmpeg(tmp_path, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=0.5", "-c:v", "wmv2", "a.wmv")
    done = contorno("record", tmp_path / "a.wmv", tmp_path / "out", "--quiet", check=False)
    assert done.returncode == 69
    assert set(re.findall(r"gstreamer1\.0-[\w-]+", done.stderr)) == {"gstreamer1.0-plugins-ugly"}
    assert "apt-get install gstreamer1.0-plugins-ugly" in done.stderr


def test_what_no_package_of_gstreamer_reads_is_said_to_be_that(contorno, tmp_path):
    ffmpeg(tmp_path, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=0.5", "-c:v", "magicyuv", "-pix_fmt", "gbrp", "a.avi")
    done = contorno("record", tmp_path / "a.avi", tmp_path / "out", "--quiet", check=False)
    assert done.returncode == 69 and "no package of GStreamer" in done.stderr
    assert "gstreamer1.0-" not in done.stderr and "ffmpeg -i FILE -c:v ffv1" in done.stderr
    ffmpeg(tmp_path, "-i", "a.avi", "-c:v", "ffv1", "a.mkv")  # as it says
    pictures, _ = record(contorno, tmp_path / "a.mkv")
    assert len(pictures) == 5


DISC = "color=black:size=320x240:rate={rate}:duration=1,format=gray,geq=lum='if(lt(hypot(X-40-{step}*N,Y-120),30),235,16)'"
INTERLACED = {
    "upper.mp4": ("top", ["-c:v", "libx264", "-x264-params", "interlaced=1:tff=1", "-qp", 4, "-pix_fmt", "yuv420p"]),
    "lower.mp4": ("bottom", ["-c:v", "libx264", "-x264-params", "interlaced=1:bff=1", "-qp", 4, "-pix_fmt", "yuv420p"]),
    "broadcast.ts": ("top", ["-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-top", 1, "-q:v", 2, "-pix_fmt", "yuv420p"]),
    "studio.mov": ("top", ["-c:v", "prores_ks", "-flags", "+ilme+ildct", "-top", 1, "-pix_fmt", "yuv422p10le"]),
    "archive.mkv": ("top", ["-c:v", "ffv1", "-pix_fmt", "yuv444p10le"])}


def circularity(picture):
    outline, = cv2.findContours((picture[..., 1] > 125).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    return 4 * np.pi * cv2.contourArea(outline) / cv2.arcLength(outline, True) ** 2


@pytest.mark.parametrize("name", INTERLACED)
def test_a_frame_of_two_fields_is_the_picture_of_its_first_one(contorno, tmp_path, name):
    order, options = INTERLACED[name]
    ffmpeg(tmp_path, "-f", "lavfi", "-i", DISC.format(rate=50, step=4), "-vf",
           f"tinterlace=mode=interleave_{order},fieldorder={order[0]}ff", *options, name)
    ffmpeg(tmp_path, "-f", "lavfi", "-i", DISC.format(rate=25, step=8), "-c:v", "ffv1", "-pix_fmt", "yuv444p", "whole.mkv")
    pictures, times = record(contorno, tmp_path / name)
    whole, _ = record(contorno, tmp_path / "whole.mkv")
    assert len(pictures) == len(whole) == 25
    assert_same_times(times, times_by_ffprobe(tmp_path / name))
    combed = decoded_by_ffmpeg(tmp_path / name)
    for picture, expected, raw in zip(pictures, whole, combed):
        middle = np.argwhere(picture[..., 1] > 125).mean(axis=0)
        np.testing.assert_allclose(middle, np.argwhere(expected[..., 1] > 125).mean(axis=0), atol=0.3)
        assert abs(circularity(picture) - circularity(expected)) < 0.05 and circularity(picture) > circularity(raw) + 0.02


def test_what_does_not_move_keeps_the_rows_of_both_fields(contorno, tmp_path):
    picture = cv2.GaussianBlur(np.random.default_rng(4).random((120, 160)), (0, 0), 6)
    cv2.imwrite(str(tmp_path / "still.png"), np.round(cv2.normalize(picture, None, 20, 230, cv2.NORM_MINMAX)))
    ffmpeg(tmp_path, "-loop", 1, "-i", "still.png", "-frames:v", 3, "-vf", "setfield=tff", "-c:v", "ffv1", "-pix_fmt", "gbrp",
           "-field_order", "tt", "fields.mkv")
    said = contorno("record", tmp_path / "fields.mkv", tmp_path / "out").stdout
    assert "3 frames recorded" in said
    assert np.abs(cv2.imread(str(tmp_path / "out" / "frames" / "00000002.png")).astype(int)
                  - cv2.imread(str(tmp_path / "still.png"))).max() <= 1


def test_the_report_says_that_a_video_is_interlaced(contorno, tmp_path):
    order, options = INTERLACED["upper.mp4"]
    (tmp_path / "graph.yaml").write_text("source: {type: video, location: clip.mp4}\nstages: [preprocess]\nsinks: []\n")
    for interlaced in (True, False):
        fields = ["-vf", f"tinterlace=mode=interleave_{order},fieldorder=tff", *options] if interlaced else []
        ffmpeg(tmp_path, "-f", "lavfi", "-i", DISC.format(rate=50, step=4), *fields, "clip.mp4")
        contorno("run", "graph.yaml", "--report", "report.json", cwd=tmp_path)
        assert ("interlaced" in json.loads((tmp_path / "report.json").read_text())["source"]) == interlaced


def test_the_report_says_that_pixels_are_not_square(contorno, tmp_path):
    (tmp_path / "graph.yaml").write_text("source: {type: video, location: clip.mp4}\nstages: [preprocess]\nsinks: []\n")
    for ratio, said in (("16/9", ", pixels not square (16:9)"), ("1", "")):
        ffmpeg(tmp_path, "-f", "lavfi", "-i", f"testsrc2=size=144x108:rate=10:duration=0.3,setsar={ratio}", "-pix_fmt", "yuv420p",
               "clip.mp4")
        done = contorno("run", "graph.yaml", "--report", "report.json", cwd=tmp_path)
        source = json.loads((tmp_path / "report.json").read_text())["source"]
        assert source.endswith("144x108, 10 frames/s" + said)
        assert ("its pixels are not square (16:9)" in done.stderr) == bool(said)
