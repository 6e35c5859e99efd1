"""`contorno gst` prints a launch line that gives what `contorno run` gives."""
import json
import os
import shlex
import subprocess

import pytest
from tests.conftest import LIBRARY, read_lines, run_contorno
from tests.plugins.gst.videos import CHAINS, record

ENVIRONMENT = {**os.environ, "GST_PLUGIN_PATH": str(LIBRARY.parent / "gstreamer-1.0")}
STAGES = """
classes:
  - {name: red, references: ["#ff0000"], colour: "#00ff00"}
  - {name: rest, references: ["#808080"], hidden: true}
stages: [classify, marching_squares, contour_assembly, overlay]
"""


def line_of(folder, graph, *arguments):
    (folder / "graph.yaml").write_text(graph)
    done = run_contorno("gst", folder / "graph.yaml", *arguments)
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("gst-launch-1.0 ")
    return done.stdout.strip(), done.stderr


def run_line(line, folder):
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120, cwd=folder, env=ENVIRONMENT, check=False)
    assert done.returncode == 0 and "ERROR" not in done.stderr, line + "\n" + done.stderr


def contours_of(folder):
    lines = read_lines(folder / "contours.jsonl")
    for line in lines:
        line.pop("name", None)
    return lines


def test_the_line_of_a_video_gives_the_contours_and_times_of_a_run_and_its_film(tmp_path):
    video = tmp_path / "it's a \"line\".mkv"
    record(tmp_path / "plain.mkv", CHAINS["mkv"], 8)
    (tmp_path / "plain.mkv").rename(video)
    graph = (f"source: {{type: video, location: {json.dumps(str(video))}}}\n{STAGES}"
             "sinks: [{type: jsonl, path: contours.jsonl}, {type: video, path: shown.mkv}, {type: coco, path: coco.json}]\n")
    for name in ("line", "run"):
        (tmp_path / name).mkdir()
    line, said = line_of(tmp_path, graph, "--output", tmp_path / "line")
    assert "the sink 'coco' has no element" in said and said.count("\n") == 1
    run_line(line, tmp_path)
    run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "run", "--quiet")
    found, expected = contours_of(tmp_path / "line"), contours_of(tmp_path / "run")
    assert found == expected and len(found) == 8
    assert (tmp_path / "line" / "shown.mkv").stat().st_size > 1000


def test_the_line_of_the_sorting_line_brings_its_maps_along(tmp_path):
    graph = ("source: {type: synthetic, seed: 3, classes: 2, maps_size: [128, 24], frames: 4}\n"
             "classes: [{name: a}, {name: b}]\nstages: [marching_squares, contour_assembly]\n"
             "sinks: [{type: jsonl, path: contours.jsonl}]\n")
    for name in ("line", "run"):
        (tmp_path / name).mkdir()
    line, said = line_of(tmp_path, graph, "--output", tmp_path / "line")
    assert said == "" and "contorno.maps" in line
    run_line(line, tmp_path)
    run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "run", "--quiet")
    assert contours_of(tmp_path / "line") == contours_of(tmp_path / "run")


@pytest.mark.parametrize(("source", "expected"), [
    ("{type: camera, device: /dev/video7, width: 640}", "v4l2src device=/dev/video7 ! video/x-raw,width=640 ! videoconvert ! "),
    ("{type: video, location: 'rtsp://camera/stream'}", "uridecodebin uri=rtsp://camera/stream ! queue ! contorno "),
    ("{type: test, pattern: ball, frames: 3}",
     "videotestsrc pattern=ball num-buffers=3 ! video/x-raw,width=320,height=240,framerate=30/1 ! contorno "),
    ("{type: test, pattern: ball, frames: 3, rate: 12.5, live: true}",
     "videotestsrc pattern=ball num-buffers=3 is-live=true ! video/x-raw,width=320,height=240,framerate=25/2 ! contorno "),
    ("{type: camera, framerate: 29.97002997}", "v4l2src device=/dev/video0 ! video/x-raw,framerate=30000/1001 ! videoconvert ! "),
    ("{type: camera, pixel_format: yuyv, height: 48}", "v4l2src device=/dev/video0 ! video/x-raw,format=YUY2,height=48 ! videoconvert ! "),
    ("{type: camera, device: 4F2A}", "v4l2src device=4F2A ! videoconvert ! "),
    ("{type: camera, pixel_format: mjpeg}", "v4l2src device=/dev/video0 ! image/jpeg ! jpegdec ! videoconvert ! "),
    ("{type: gst, element: videotestsrc, properties: 'pattern=ball', caps: 'video/x-raw,width=64'}",
     "videotestsrc pattern=ball ! video/x-raw,width=64 ! contorno "),
])
def test_sources_have_their_elements(tmp_path, source, expected):
    line, _ = line_of(tmp_path, f"source: {source}\n{STAGES}sinks: [{{type: preview}}]\n")
    assert line.startswith("gst-launch-1.0 " + expected) and line.endswith("! videoconvert ! autovideosink")


def test_a_source_without_an_element_and_a_graph_on_standard_input_are_refused(tmp_path):
    (tmp_path / "graph.yaml").write_text(f"source: {{type: images, location: frames}}\n{STAGES}")
    done = run_contorno("gst", tmp_path / "graph.yaml", check=False)
    assert done.returncode == 64 and "the source 'images' has no element of GStreamer" in done.stderr
    assert run_contorno("gst", "-", check=False).returncode == 2


HOSTILE = "a b'; touch PWNED; echo '\"$(touch PWNED)`touch PWNED`\\ ${IFS}&|<>*?[]{}~#! ! filesink location=PWNED"


def words_that_reach_gst_launch(line, folder, **variables):
    """The arguments of gst-launch-1.0 when a shell runs the line; nothing else may run."""
    stand_in = folder / "bin" / "gst-launch-1.0"
    stand_in.parent.mkdir(exist_ok=True)
    stand_in.write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n")
    stand_in.chmod(0o755)
    before = {path for path in folder.rglob("*")}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, timeout=60, check=True,
                          env={**os.environ, "PATH": f"{stand_in.parent}:{os.environ['PATH']}", **variables})
    assert {path for path in folder.rglob("*")} == before and not (folder / "PWNED").exists(), line
    return done.stdout.split("\0")[:-1]


def for_launch(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.parametrize(("source", "expected"), [
    ({"type": "video", "location": "/" + HOSTILE}, "location=" + for_launch("/" + HOSTILE)),
    ({"type": "video", "location": "rtsp://camera/" + HOSTILE}, "uri=" + for_launch("rtsp://camera/" + HOSTILE)),
    ({"type": "camera", "device": HOSTILE}, "device=" + for_launch(HOSTILE)),
    ({"type": "gst", "element": "videotestsrc", "properties": "name=" + shlex.quote(HOSTILE)}, "name=" + for_launch(HOSTILE)),
    ({"type": "gst", "element": "videotestsrc", "caps": HOSTILE}, "caps=" + for_launch(HOSTILE)),
    ({"type": "gst", "element": "videotestsrc", "caps": "filesink"}, "caps=filesink"),
])
def test_whatever_a_graph_says_reaches_gst_launch_as_one_word_and_runs_nothing(tmp_path, source, expected):
    graph = f"source: {json.dumps(source)}\n{STAGES}sinks: [{{type: jsonl, path: c.jsonl}}]\n"
    line, _ = line_of(tmp_path, graph, "--output", tmp_path / "it's an 'output'; touch PWNED")
    words = words_that_reach_gst_launch(line, tmp_path)
    assert words.count(expected) == 1 and "location=PWNED" not in words, words
    assert f"location={for_launch(str(tmp_path))[:-1]}/it's an 'output'; touch PWNED/c.jsonl\"" in words
    assert [word for word in words if word.startswith("filesink")] == ["filesink"]


def test_the_words_of_a_launch_line_reach_gst_launch_as_they_are_and_it_is_said(tmp_path):
    launch = "videotestsrc name=a;touch${IFS}PWNED ! video/x-raw,format=(string)RGB ! queue"
    line, said = line_of(tmp_path, f"source: {{type: gst, launch: {json.dumps(launch)}}}\n{STAGES}sinks: [{{type: preview}}]\n")
    assert words_that_reach_gst_launch(line, tmp_path)[:6] == launch.split()[:6]
    assert "the graph's own launch line is part of it" in said


@pytest.mark.parametrize(("source", "words"), [
    ({"element": "videotestsrc", "properties": "num-buffers=2 a;touch${IFS}PWNED;b=1"}, "properties has the name 'a;touch${IFS}PWNED;b'"),
    ({"element": "videotestsrc", "properties": "num-buffers=2 'a b'=1"}, "properties has the name 'a b'"),
    ({"element": "videotestsrc", "properties": "!"}, "properties has '!', allowed is NAME=VALUE"),
    ({"element": "videotestsrc!filesink"}, "element is 'videotestsrc!filesink', allowed is the name of one element"),
    ({"element": "a;touch${IFS}PWNED"}, "allowed is the name of one element"),
    ({"element": "videotestsrc", "properties": "name='a\nb'"}, "without control characters"),
    ({"element": "videotestsrc", "caps": "video/x-raw\x1b[31m"}, "without control characters"),
])
def test_names_that_are_none_are_refused(tmp_path, source, words):
    (tmp_path / "graph.yaml").write_text(f"source: {json.dumps({'type': 'gst'} | source)}\n{STAGES}sinks: [{{type: preview}}]\n")
    done = run_contorno("gst", tmp_path / "graph.yaml", check=False)
    assert done.returncode == 64 and words in done.stderr and done.stdout == "", done


@pytest.mark.parametrize(("source", "word", "what"), [
    ({"type": "gst", "element": "rtspsrc", "properties": "user-id=me user-pw=geheim"}, 'user-pw="geheim"', "user-pw"),
    ({"type": "video", "location": "rtsp://me:geheim@camera/x?y=1"}, 'uri="rtsp://me:geheim@camera/x?y=1"', "uri"),
    ({"type": "gst", "launch": "souphttpsrc user-pw='geheim' ! queue"}, "user-pw='geheim'", "user-pw"),
])
def test_secrets_do_not_stand_in_the_line_which_takes_them_from_variables(tmp_path, source, word, what):
    line, said = line_of(tmp_path, f"source: {json.dumps(source)}\n{STAGES}sinks: [{{type: preview}}]\n")
    assert "geheim" not in line + said and f"the line takes the secret in '{what}' from the variable CONTORNO_SECRET_1" in said
    assert word in words_that_reach_gst_launch(line, tmp_path, CONTORNO_SECRET_1="geheim")


@pytest.mark.parametrize(("name", "codec", "encoding"), [
    ("o.mkv", "auto", "vp8enc deadline=1 ! matroskamux"), ("o.mkv", "mjpeg", "jpegenc ! matroskamux"),
    ("o.mkv", "theora", "theoraenc ! matroskamux"), ("o.mkv", "h264", "openh264enc ! h264parse ! matroskamux"),
    ("o.webm", "vp8", "vp8enc deadline=1 ! webmmux"), ("o.avi", "auto", "jpegenc ! avimux"), ("o.AVI", "png", "pngenc ! avimux"),
    ("o.ogv", "auto", "theoraenc ! oggmux"), ("o.mov", "auto", "jpegenc ! qtmux"), ("o.mov", "h264", "openh264enc ! h264parse ! qtmux"),
    ("o.mp4", "auto", "openh264enc ! h264parse ! mp4mux"), ("o.mp4, encoder: x264", "auto", "x264enc ! h264parse ! mp4mux"),
])
def test_a_film_keeps_the_codec_that_the_graph_asks_for(tmp_path, name, codec, encoding):
    line, said = line_of(tmp_path, "source: {type: test, frames: 3}\n" + STAGES + f"sinks: [{{type: video, path: {name}, codec: {codec}}}]\n")
    assert f" ! videoconvert ! {encoding} ! filesink " in line and said == ""


def test_every_film_of_a_run_has_the_codec_of_the_line(tmp_path):
    """What `contorno run` writes, container by container and codec by codec; and the line makes the same."""
    for name, codec in (("a.mkv", "auto"), ("b.avi", "auto"), ("c.mov", "auto"), ("d.ogv", "auto"), ("e.mkv", "mjpeg")):
        graph = "source: {type: test, frames: 2, width: 64, height: 48}\n" + STAGES + f"sinks: [{{type: video, path: {name}, codec: {codec}}}]\n"
        for folder in ("line", "run"):
            (tmp_path / folder).mkdir(exist_ok=True)
        line, _ = line_of(tmp_path, graph, "--output", tmp_path / "line")
        run_line(line, tmp_path)
        run_contorno("run", tmp_path / "graph.yaml", "--output", tmp_path / "run", "--quiet")
        made, expected = (kind_of(tmp_path / folder / name) for folder in ("line", "run"))
        assert made == expected and made, (name, codec)


def kind_of(film):
    return subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=codec_name,width,height:format=format_name",
                           "-of", "csv=p=0", film], capture_output=True, text=True, timeout=60, check=True).stdout


def test_what_the_line_leaves_out_is_said(tmp_path):
    _, said = line_of(tmp_path, "source: {type: video, location: in.mp4, start: 3, every: 2, limit: 7}\n" + STAGES + """
sinks:
  - {type: video, path: o.mkv, codec: mjpeg, quality: 30, from: source.frame}
  - {type: jsonl, path: c.jsonl, skip_hidden: true, totals: true}
  - {type: preview, title: line, on_full: drop_oldest}
""")
    for words in ("the source has limit, start, every, which has no place in the line and is left out",
                  "the sink 'video' has quality, which has no place", "the sink 'video' takes other pictures in the graph",
                  "the sink 'jsonl' has skip_hidden, totals, which", "the sink 'preview' has title, which",
                  "the sink 'preview' has on_full, which"):
        assert words in said, (words, said)
    assert said.count("\n") == 6
