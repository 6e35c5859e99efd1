"""Colours and samples of films that are read and written, against what FFmpeg makes of the same file."""
import re
import shutil
import subprocess

import cv2
import numpy as np
import pytest
from tests.conftest import LIBRARY

pytestmark = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs the package ffmpeg (tools/setup test)")

BARS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (128, 128, 128), (246, 246, 246), (8, 8, 8), (200, 200, 30),
        (30, 200, 200)]
SMALL, HD = (256, 96), (1280, 720)
MOST = 6  # of 255: quantisers and the converter's eight bits
EXACT = "accurate_rnd+full_chroma_int+full_chroma_inp+bicubic"


def ffmpeg(*arguments, **options):
    done = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], capture_output=True,
                          check=False, timeout=60, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bars(size):
    width, height = size
    columns = np.arange(width) * len(BARS) // width
    return np.repeat(np.array(BARS, np.uint8)[columns][None], height, axis=0)


def centres(picture):
    height, width = picture.shape[:2]
    return picture[height // 2, [(2 * k + 1) * width // (2 * len(BARS)) for k in range(len(BARS))]].astype(int)


def write_film(path, size, *encoding, filters="null", frames=2):
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", 10, "-i", "-", "-vf", filters,
           *encoding, path, input=bars(size).tobytes() * frames)


def read_film(path, size, pixels="rgb24"):
    """The first frame as FFmpeg reads it."""
    data = ffmpeg("-i", path, "-frames:v", 1, "-sws_flags", EXACT, "-f", "rawvideo", "-pix_fmt", pixels, "-")
    return np.frombuffer(data, np.uint8).reshape(size[1], size[0], -1)


def recorded(contorno, tmp_path, film):
    contorno("record", film, tmp_path / "rec", "--frames", "2")
    return cv2.imread(str(tmp_path / "rec" / "frames" / "00000000.png"))[..., ::-1]


UNTAGGED = {"libx264": "h264_metadata", "libx265": "hevc_metadata"}
RANGES, MATRICES = {"limited": "tv", "full": "pc"}, {"bt601": "smpte170m", "bt709": "bt709", "bt2020": "bt2020nc"}


@pytest.mark.parametrize("codec, size", [("libx264", SMALL), ("libx264", HD), ("libx265", SMALL)],
                         ids=["h264-small", "h264-hd", "hevc-small"])
@pytest.mark.parametrize("range_name", RANGES)
@pytest.mark.parametrize("matrix", ["none", *MATRICES])
def test_a_film_is_read_by_the_range_and_the_matrix_that_it_names(contorno, tmp_path, codec, size, range_name, matrix):
    meant = matrix if matrix != "none" else "bt601" if size == SMALL else "bt709"
    film, tag = tmp_path / "film.mp4", RANGES[range_name]
    named = ["-color_range", tag]
    if matrix == "none":
        named += ["-bsf:v", f"{UNTAGGED[codec]}=matrix_coefficients=2:colour_primaries=2:transfer_characteristics=2"]
    else:
        named += ["-colorspace", MATRICES[matrix]]
    quality = ["-qp", 2] if codec == "libx264" else ["-x265-params", "log-level=none:qp=4"]
    write_film(film, size, "-c:v", codec, "-preset", "ultrafast", *quality, *named, "-pix_fmt",
               "yuvj420p" if tag == "pc" else "yuv420p",
               filters=f"scale=out_range={tag}:out_color_matrix={meant}:flags={EXACT}")
    picture = recorded(contorno, tmp_path, film)
    assert np.abs(centres(picture) - BARS).max() <= MOST
    if matrix != "none":  # FFmpeg takes what names no matrix for BT.601 at any size, which players do not
        assert np.abs(centres(picture) - centres(read_film(film, size))).max() <= MOST


@pytest.mark.parametrize("codec, name", [("libvpx", "f.webm"), ("libtheora", "f.ogv"), ("mjpeg", "f.avi")])
@pytest.mark.parametrize("tag", [[], ["-colorspace", "bt709"]], ids=["untagged", "tagged"])
def test_a_codec_with_a_matrix_of_its_own_is_read_by_it_at_any_size(contorno, tmp_path, codec, name, tag):
    jpeg = codec == "mjpeg"
    film = tmp_path / name
    write_film(film, HD, "-c:v", codec, "-b:v", "40M", "-q:v", 10 if codec == "libtheora" else 2, "-pix_fmt",
               "yuvj420p" if jpeg else "yuv420p", *tag,
               filters=f"scale=out_color_matrix=bt601:out_range={'pc' if jpeg else 'tv'}")
    picture = recorded(contorno, tmp_path, film)
    assert np.abs(centres(picture) - BARS).max() <= MOST
    assert np.abs(centres(picture) - centres(read_film(film, HD))).max() <= MOST


FILMS = [("f.webm", "vp8"), ("f.mkv", "vp8"), ("f.mkv", "theora"), ("f.mkv", "h264"), ("f.mkv", "mjpeg"),
         ("f.mp4", "h264"), ("f.mov", "h264"), ("f.ogv", "theora"), ("f.avi", "mjpeg"), ("f.mov", "png")]


@pytest.mark.parametrize("name, codec", FILMS)
@pytest.mark.parametrize("size", [SMALL, (255, 95), HD], ids=["small", "odd", "hd"])
def test_a_film_that_is_written_has_its_colours_in_ffmpeg_too(contorno, tmp_path, name, codec, size):
    (tmp_path / "in").mkdir()
    for k in range(2):
        cv2.imwrite(str(tmp_path / "in" / f"{k}.png"), bars(size)[..., ::-1])
    graph = tmp_path / "graph.yaml"
    graph.write_text(f"source: {{type: images, location: {tmp_path}/in}}\nsinks: [{{type: video, path: {name}, codec: {codec}, "
                     "quality: 95}]\n")
    contorno("run", graph, "--output", tmp_path / "out", "--quiet")
    film = tmp_path / "out" / name
    padded = size if codec != "h264" else (size[0] + size[0] % 2, size[1] + size[1] % 2)
    assert np.abs(centres(read_film(film, padded)) - BARS).max() <= MOST
    (tmp_path / "again").mkdir()
    picture = recorded(contorno, tmp_path / "again", film)
    assert np.abs(centres(picture) - BARS).max() <= MOST + 2
    if codec in ("vp8", "h264"):
        said = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=color_range,color_space", "-of",
                               "csv=p=0", film], capture_output=True, text=True, check=True, timeout=60).stdout
        matrix = "bt709" if (codec, size) == ("h264", HD) else "smpte170m"
        assert said.strip() == f"{'unknown' if name.endswith('mov') else 'tv'},{matrix}"  # QuickTime has no range


@pytest.mark.parametrize("pixels", ["gray", "rgb24", "yuv420p", "yuv422p", "yuyv422", "nv12", "gray16le"])
@pytest.mark.parametrize("name", ["f.avi", "f.mkv", "f.mov"])
@pytest.mark.parametrize("width", [161, 162])
def test_raw_samples_are_read_at_any_width(contorno, tmp_path, pixels, name, width):
    film, size = tmp_path / name, (width, 60)
    write_film(film, size, "-c:v", "rawvideo", "-pix_fmt", pixels, "-strict", "-2")
    done = contorno("record", film, tmp_path / "rec", check=False)
    if done.returncode != 0:
        assert done.returncode >= 64 and done.stderr.strip(), done
        return
    picture = cv2.imread(str(tmp_path / "rec" / "frames" / "00000001.png"))[..., ::-1]
    assert np.abs(centres(picture) - centres(read_film(film, size))).max() <= MOST


def test_pictures_that_are_too_small_for_their_header_are_counted(contorno, tmp_path):
    film = tmp_path / "film.avi"
    write_film(film, (160, 60), "-c:v", "rawvideo", "-pix_fmt", "gray")
    data = bytearray(film.read_bytes())
    at = data.index(b"strf") + 8 + 4
    assert data[at:at + 4] == (160).to_bytes(4, "little")
    data[at:at + 4] = (168).to_bytes(4, "little")
    film.write_bytes(data)
    done = contorno("record", film, tmp_path / "rec", check=False)
    assert done.returncode == 3 and re.search(r"the decoder gave \d+ bytes for a picture of 168x60 px, which takes 10080; the file may be damaged", done.stderr), done


ONE_COLOUR = """
classes:
  - {{name: bar, references: ["{0}"]}}
  - {{name: rest, references: ["{1}", "#ffffff", "#000000"], hidden: true}}
stages: [classify, marching_squares, contour_assembly]
"""


@pytest.mark.parametrize("name, bar, other", [
    ("f.webm", "#c81e1e", "#e03a1e"),  # what BT.601 and BT.709 make of the same samples
    ("f.mp4", "#10f010", "#00ff00")], ids=["vp8-hd", "h264-full"])
def test_the_element_takes_colours_for_what_the_codec_and_the_tags_say(tmp_path, name, bar, other):
    pipelines = pytest.importorskip("tests.plugins.gst.pipelines")
    size = HD if name.endswith("webm") else SMALL
    picture = np.zeros((size[1], size[0], 3), np.uint8)
    picture[20:60, 20:60] = [int(bar[k:k + 2], 16) for k in (1, 3, 5)]
    encoding = ["-c:v", "libvpx", "-b:v", "4M", "-pix_fmt", "yuv420p"]
    filters = "scale=out_color_matrix=bt601"
    if name.endswith("mp4"):
        encoding = ["-c:v", "libx264", "-qp", 2, "-pix_fmt", "yuvj420p", "-color_range", "pc", "-bsf:v",
                    "h264_metadata=matrix_coefficients=2:colour_primaries=2:transfer_characteristics=2"]
        filters += ":out_range=pc"
    ffmpeg("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", 10, "-i", "-", "-vf", filters,
           *encoding, tmp_path / name, input=picture.tobytes() * 2)
    (tmp_path / "graph.yaml").write_text(ONE_COLOUR.format(bar, other))
    done = pipelines.launch("filesrc", f"location={tmp_path / name}", "!", "decodebin", "!", "contorno",
                            f"config={tmp_path / 'graph.yaml'}", "!", "contornometa2json", "!", "filesink",
                            f"location={tmp_path / 'lines'}")
    assert done.returncode == 0, done.stderr
    lines = pipelines.read_lines(tmp_path / "lines")
    assert [len(line["classes"][0]["contours"]) for line in lines] == [1, 1]


DEEP = [("ffv1", "f.mkv", pixels) for pixels in
        ("gray9le", "gray10le", "gray12le", "gray16le", "rgb48le", "rgba64le", "gbrp9le", "gbrp14le", "gbrp16le", "ya8",
         "yuv420p9le", "yuv422p14le", "yuv444p16le", "yuv420p16le", "yuva444p16le", "yuv440p10le")]
DEEP += [("ffv1", "f.avi", "gray12le"), ("ffv1", "f.mov", "rgb48le"), ("libx265", "f.mp4", "gray10le"),
         ("libx265", "f.mp4", "gray12le"), ("libx264", "f.mp4", "gray10le")]


@pytest.mark.parametrize("codec, name, pixels", DEEP)
def test_samples_that_gstreamer_has_no_name_for_are_read_by_libav(contorno, tmp_path, codec, name, pixels):
    film = tmp_path / name
    write_film(film, SMALL, "-c:v", codec, "-pix_fmt", pixels, "-x265-params", "log-level=none", frames=5)
    done = contorno("record", film, tmp_path / "rec", check=False)
    if not (LIBRARY.parent / "contorno" / "deep.so").exists():
        assert done.returncode == 69 and "no name for the samples" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    frames = sorted((tmp_path / "rec" / "frames").glob("*.png"))
    assert len(frames) == 5
    wanted = centres(read_film(film, SMALL))
    for frame in frames:
        picture = centres(cv2.imread(str(frame))[..., ::-1])
        assert np.abs(picture - wanted).max() <= MOST
        if pixels.startswith(("gray", "ya")):
            assert (picture == picture[:, :1]).all()


def test_deep_samples_from_a_pipe_are_refused_with_a_sentence(contorno, tmp_path):
    film = tmp_path / "f.mkv"
    write_film(film, SMALL, "-c:v", "ffv1", "-pix_fmt", "gray10le", frames=5)
    (tmp_path / "graph.yaml").write_text('source: {type: video, location: "-"}\nclasses: [{name: a}]\n'
                                         'sinks: [{type: images, path: "{name}.png"}]\n')
    with film.open("rb") as given:
        done = contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "out", check=False, stdin=given)
    assert done.returncode == 69 and "no name for the samples that libav's decoder ffv1 makes" in done.stderr, done
