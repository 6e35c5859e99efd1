"""Samples of films that GStreamer would read as something else, against what FFmpeg decodes; what is not read is refused."""
import json
import subprocess

import cv2
import numpy as np
import pytest
from tests.campaign.matrix import POSES, decode, encode, fields, posed, turn
from tests.plugins.gst.film_colours_test import BARS, EXACT, bars, centres, ffmpeg, pytestmark  # noqa: F401

MOST = 6  # of 255: quantisers and the converter's eight bits
ODD = (93, 31)
QUICK = ("-cpu-used", 8, "-usage", "realtime", "-b:v", "20M")


def write(path, size, *encoding, pixels, filters=f"scale=flags={EXACT}"):
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", 10, "-i", "-", "-vf",
           f"{filters},format={pixels}", "-strict", -2, *encoding, path, input=bars(size).tobytes() * 2)


def seen_by_ffmpeg(path, size):
    # What names no matrix is BT.601 at this size.
    data = ffmpeg("-i", path, "-vf", f"scale=flags={EXACT}", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    return np.frombuffer(data, np.uint8).reshape(-1, size[1], size[0], 3)


def recorded(contorno, film, folder):
    contorno("record", film, folder)
    return [cv2.imread(str(file))[..., ::-1] for file in sorted((folder / "frames").glob("*.png"))]


FILMS = [("f.mov", "png", "rgb48be"), ("f.mov", "png", "rgba64be"), ("f.mov", "png", "gray16be"), ("f.mov", "png", "ya8"),
         ("f.mov", "png", "pal8"), ("f.mkv", "png", "rgb48be"), ("f.avi", "png", "rgb24"),
         ("f.mov", "jpeg2000", "yuv444p"), ("f.mov", "jpeg2000", "pal8"), ("f.mov", "jpeg2000", "yuv420p"),
         ("f.mov", "jpeg2000", "rgb24"), ("f.mov", "jpeg2000", "gray"), ("f.mov", "jpeg2000", "rgb48le"),
         ("f.mov", "r210", "gbrp10le"), ("f.avi", "r210", "gbrp10le"), ("f.mkv", "r210", "gbrp10le"), ("f.mov", "smc", "pal8"),
         ("f.mov", "v308", "yuv444p")]


@pytest.mark.parametrize("name, codec, pixels", FILMS, ids=["-".join(film) for film in FILMS])
def test_samples_of_a_film_mean_what_ffmpeg_says(contorno, tmp_path, name, codec, pixels):
    size = ODD if codec != "v308" else (94, 31)
    write(tmp_path / name, size, "-c:v", codec, pixels=pixels)
    expected = seen_by_ffmpeg(tmp_path / name, size)
    came = recorded(contorno, tmp_path / name, tmp_path / "rec")
    assert len(came) == len(expected) == 2
    for picture, wanted in zip(came, expected):
        assert np.abs(centres(picture) - centres(wanted)).max() <= MOST
        if codec != "jpeg2000" and pixels not in ("pal8", "gray", "gray16be", "ya8"):  # those lose colours
            assert np.abs(centres(picture) - BARS).max() <= MOST


@pytest.mark.parametrize("name", ["f.mkv", "f.mp4"])
@pytest.mark.parametrize("pixels", ["gbrp", "gbrp10le", "gbrp12le"])
@pytest.mark.parametrize("tag", ["tv", "pc"])
def test_av1_of_red_green_and_blue_is_read_as_that(contorno, tmp_path, name, pixels, tag):
    write(tmp_path / name, (256, 96), "-c:v", "libaom-av1", *QUICK, "-color_range", tag, pixels=pixels,
          filters=f"scale=flags={EXACT},setparams=colorspace=unknown:range={'limited' if tag == 'tv' else 'full'}")
    for picture, wanted in zip(recorded(contorno, tmp_path / name, tmp_path / "rec"),
                               seen_by_ffmpeg(tmp_path / name, (256, 96)), strict=True):
        assert np.abs(centres(picture) - centres(wanted)).max() <= MOST
        assert np.abs(centres(picture) - BARS).max() <= MOST


def test_vp8_has_no_full_range_whatever_its_container_says(contorno, tmp_path):
    write(tmp_path / "f.webm", (256, 96), "-c:v", "libvpx", "-b:v", "20M", "-color_range", "pc", pixels="yuv420p",
          filters="scale=out_range=pc")
    said = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=color_range", "-of", "csv=p=0", tmp_path / "f.webm"],
                          capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.strip() == "pc"
    for picture, wanted in zip(recorded(contorno, tmp_path / "f.webm", tmp_path / "rec"),
                               seen_by_ffmpeg(tmp_path / "f.webm", (256, 96)), strict=True):
        assert np.abs(centres(picture) - centres(wanted)).max() <= MOST


@pytest.mark.parametrize("named", ["tv", "pc"])
@pytest.mark.parametrize("pixels", ["yuv420p", "yuv422p", "yuv444p"])
def test_motion_jpeg_has_the_range_that_it_names_in_a_comment(contorno, tmp_path, pixels, named):
    write(tmp_path / "f.avi", (256, 96), "-c:v", "mjpeg", "-q:v", 2, "-color_range", named, pixels=pixels,
          filters=f"scale=out_range={named}:out_color_matrix=bt601:flags={EXACT}")
    assert (b"CS=ITU601" in (tmp_path / "f.avi").read_bytes()) == (named == "tv")
    for picture, wanted in zip(recorded(contorno, tmp_path / "f.avi", tmp_path / "rec"),
                               seen_by_ffmpeg(tmp_path / "f.avi", (256, 96)), strict=True):
        assert np.abs(centres(picture) - centres(wanted)).max() <= MOST
        assert np.abs(centres(picture) - BARS).max() <= MOST


@pytest.mark.parametrize("name, codec, code, said", [
    ("f.nut", "ffv1", 65, "it is a NUT film, which contorno does not read; put it into Matroska: ffmpeg -i FILE -c copy FILE.mkv"),
    ("f.flv", "flashsv2", 65, "no frame could be decoded; if ffmpeg reads the file, convert it: ffmpeg -i FILE -c:v ffv1 FILE.mkv")])
def test_a_film_that_is_not_read_to_its_end_is_refused_in_one_sentence(contorno, tmp_path, name, codec, code, said):
    write(tmp_path / name, (256, 96), "-c:v", codec, pixels="bgr24" if codec == "flashsv2" else "yuv420p")
    done = contorno("record", tmp_path / name, tmp_path / "rec", "--quiet", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1) and said in done.stderr
    assert not list(tmp_path.glob("rec/frames/*.png"))
    way = ["-c", "copy"] if codec == "ffv1" else ["-c:v", "ffv1"]  # what the sentence says
    ffmpeg("-i", tmp_path / name, *way, tmp_path / "again.mkv")
    assert len(recorded(contorno, tmp_path / "again.mkv", tmp_path / "read")) == 2


def test_grey_av1_whose_stream_names_no_range_has_that_of_its_container(contorno, tmp_path):
    write(tmp_path / "f.mkv", (256, 96), "-c:v", "libaom-av1", *QUICK, "-color_range", "tv", pixels="gray",
          filters=f"scale=out_range=tv:flags={EXACT},setparams=colorspace=unknown:range=limited")
    grey = bars((256, 96)).astype(float) @ [0.299, 0.587, 0.114]
    for picture in recorded(contorno, tmp_path / "f.mkv", tmp_path / "rec"):
        assert np.abs(centres(picture)[:, 0] - centres(grey)).max() <= MOST


@pytest.mark.parametrize("between", [[], ["queue", "!"], ["queue", "!", "identity", "!"]], ids=["decoder", "queue", "two"])
def test_the_element_takes_av1_of_red_green_and_blue_as_that(tmp_path, between):
    """Contours are those of the same samples in FFV1, whose decoder knows what they are."""
    from tests.plugins.gst.pipelines import GRAPH, launch
    (tmp_path / "graph.yaml").write_text(GRAPH)
    write(tmp_path / "f.mp4", (256, 96), "-c:v", "libaom-av1", *QUICK, pixels="gbrp")
    ffmpeg("-i", tmp_path / "f.mp4", "-c:v", "ffv1", "-pix_fmt", "gbrp", tmp_path / "f.mkv")
    found = []
    for name in ("f.mp4", "f.mkv"):
        lines = tmp_path / f"{name}.jsonl"
        done = launch("filesrc", f"location={tmp_path}/{name}", "!", "decodebin", "!", *between, "contorno", f"config={tmp_path}/graph.yaml",
                      "!", "contornometa2json", "!", "filesink", f"location={lines}")
        assert done.returncode == 0, done.stderr
        found.append([json.loads(line)["classes"] for line in lines.read_text().splitlines()])
    assert found[0] == found[1] and len(found[0]) == 2
    assert any(one["contours"] for one in found[0][0])


@pytest.mark.parametrize("pose", POSES)
def test_a_film_is_seen_as_its_track_is_posed(contorno, tmp_path, pose):
    """All eight poses; the stored picture is FFmpeg's, and so is the size of the turned one."""
    film = tmp_path / "f.mp4"
    encode(film, "libx264", "yuv420p", (96, 64))
    stored = decode(film, "bt601")
    turn(film, pose)
    shown = decode(film, "bt601")
    for picture, wanted, turned in zip(recorded(contorno, film, tmp_path / "rec"), posed(stored, pose), shown, strict=True):
        assert picture.shape == wanted.shape == turned.shape
        assert np.abs(fields(picture) - fields(wanted)).max() <= MOST + 1
