"""Pixels that are not square: a film that is written names the ratio of its source, as ffprobe reads both."""
import json
import subprocess

import pytest
from tests.plugins.gst.times_test import ffmpeg
from tests.plugins.gst.video_out_test import CONSTANT, KEPT, needs_ffmpeg

pytestmark = needs_ffmpeg
GRAPH = "source: {{type: video, location: {source}}}\nstages: [preprocess]\nsinks: [{{type: video, path: {film}, codec: {codec}}}]\n"


def ratio(path):
    """Of a pixel; None where the file names none."""
    done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=sample_aspect_ratio", "-of",
                           "json", path], capture_output=True, text=True, check=True, timeout=60)
    said = json.loads(done.stdout)["streams"][0].get("sample_aspect_ratio")
    return None if said in (None, "0:1", "N/A") else said


def make(folder, name, *filters, size="144x108"):
    ffmpeg(folder, "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=10:duration=0.4", "-vf", ",".join(filters), "-pix_fmt", "yuv420p",
           name)


@pytest.mark.parametrize("container, codec", KEPT + CONSTANT)
@pytest.mark.parametrize("named", ["16/9", "9/16", "1"])
def test_a_film_has_pixels_of_the_shape_that_its_source_has(contorno, tmp_path, container, codec, named):
    make(tmp_path, "clip.mp4", f"setsar={named}")
    assert ratio(tmp_path / "clip.mp4") == ("1:1" if named == "1" else named.replace("/", ":"))
    (tmp_path / "graph.yaml").write_text(GRAPH.format(source="clip.mp4", film=f"film.{container}", codec=codec))
    done = contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path)
    came = ratio(tmp_path / "out" / f"film.{container}")
    if named == "1":
        assert came in (None, "1:1") and "not square" not in done.stderr
    else:
        assert came == named.replace("/", ":")
        assert f"its pixels are not square ({came}); lengths and areas take them as squares" in done.stderr
        assert "films" not in done.stderr


def test_pixels_of_a_film_that_is_held_upright_are_turned_with_it(contorno, tmp_path):
    make(tmp_path, "flat.mp4", "setsar=16/9")
    ffmpeg(tmp_path, "-i", "flat.mp4", "-c", "copy", "-metadata:s:v", "rotate=90", "clip.mp4")
    (tmp_path / "graph.yaml").write_text(GRAPH.format(source="clip.mp4", film="film.mkv", codec="vp8"))
    contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path)
    assert ratio(tmp_path / "out" / "film.mkv") == "9:16"


def test_a_new_shape_of_pixels_begins_a_new_film(contorno, tmp_path):
    """A broadcast that goes from 4:3 to 16:9 keeps the size of its pictures."""
    for name, named in (("a.ts", "16/15"), ("b.ts", "64/45")):
        ffmpeg(tmp_path, "-f", "lavfi", "-i", f"testsrc2=size=720x576:rate=25:duration=0.4,setsar={named}", "-c:v", "mpeg2video",
               "-pix_fmt", "yuv420p", name)
    ffmpeg(tmp_path, "-i", "concat:a.ts|b.ts", "-c", "copy", "clip.ts")
    (tmp_path / "graph.yaml").write_text(GRAPH.format(source="clip.ts", film="film.mkv", codec="vp8"))
    contorno("run", "graph.yaml", "--output", "out", cwd=tmp_path, check=False)
    assert [ratio(tmp_path / "out" / name) for name in ("film.mkv", "film-2.mkv")] == ["16:15", "64:45"]
