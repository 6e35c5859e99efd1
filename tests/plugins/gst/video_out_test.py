"""Videos as another reader (ffprobe of FFmpeg) sees them: pictures, sizes and times of every container and codec."""
import fractions
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

import cv2
import numpy as np
import pytest
from tests.conftest import PROGRAM

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffprobe") is None or shutil.which("ffmpeg") is None,
                                  reason="needs the package ffmpeg (tools/setup test)")
pytestmark = needs_ffmpeg

# Every pair that the program writes, and how exact its times are (s): Matroska counts milliseconds, the others a clock
# made for the rate.
KEPT = [("mkv", "vp8"), ("mkv", "mjpeg"), ("mkv", "theora"), ("mkv", "h264"), ("webm", "vp8"), ("mov", "mjpeg"),
        ("mov", "png"), ("mov", "h264"), ("mp4", "h264")]
CONSTANT = [("avi", "mjpeg"), ("avi", "png"), ("avi", "h264"), ("ogv", "theora")]
EXACT = 0.001
ENCODERS = {"vp8": "vp8enc", "mjpeg": "jpegenc", "png": "pngenc", "theora": "theoraenc", "h264": "openh264enc"}


def probe(path):
    """Picture size, codec, times of all pictures (s) and duration (s), read by FFmpeg; any complaint of it fails."""
    done = subprocess.run(["ffprobe", "-v", "warning", "-count_frames", "-show_entries",
                           "stream=codec_name,width,height:format=duration:frame=best_effort_timestamp_time",
                           "-of", "json", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # FFmpeg expects the flag of a key picture where GStreamer's Ogg pages do not have it; pictures are not concerned.
    complaints = [line for line in done.stderr.splitlines()
                  if "deprecated pixel format" not in line and "keyframe not correctly marked" not in line]
    found = json.loads(done.stdout)
    stream = found["streams"][0]
    return {"codec": stream["codec_name"], "size": (stream["width"], stream["height"]), "complaints": complaints,
            "times": [float(one["best_effort_timestamp_time"]) for one in found["frames"]],
            "duration": float(found["format"].get("duration", "nan"))}


def make_clip(path, size, rate, frames, keep="1", picture="testsrc2"):
    """A losslessly coded clip of a generator of FFmpeg; `keep` chooses pictures, whose times stay."""
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"{picture}=size={size}:rate={rate}",
                    "-frames:v", str(frames), "-vf", f"trim=end_frame={frames},select='{keep}'",
                    "-fps_mode", "passthrough", "-pix_fmt", "bgr0", "-c:v", "ffv1", str(path)], check=True, timeout=60)


def record(contorno, tmp_path, clip, container, codec, quality=75, source="video"):
    """Runs a graph that only copies the clip; returns the file and what the program said of it."""
    graph = tmp_path / "graph.yaml"
    graph.write_text(f"source: {{type: {source}, location: {clip}}}\n"
                     f"sinks:\n  - {{type: video, path: out.{container}, codec: {codec}, quality: {quality}}}\n")
    done = contorno("run", graph, "--output", tmp_path / "out")
    assert "OpenH264" not in done.stderr and "GStreamer" not in done.stderr, done.stderr
    [made] = [line for line in done.stdout.splitlines() + done.stderr.splitlines() if f"out.{container}" in line]
    return tmp_path / "out" / f"out.{container}", made


def assert_times(found, expected, duration, exact=EXACT):
    assert len(found["times"]) == len(expected)
    for one, other in zip(found["times"], expected):
        assert one == pytest.approx(other, abs=exact)
    assert found["duration"] == pytest.approx(duration, abs=2 * exact)
    assert found["complaints"] == []


@pytest.mark.parametrize("container,codec,rate", [(*one, "15" if k % 2 else "30000/1001")
                                                  for k, one in enumerate(KEPT + CONSTANT)])
def test_a_video_lasts_as_long_as_its_source(contorno, tmp_path, container, codec, rate):
    clip = tmp_path / "clip.mkv"
    make_clip(clip, "160x96", rate, 100)
    path, said = record(contorno, tmp_path, clip, container, codec)
    step = 1 / float(fractions.Fraction(rate))
    found = probe(path)
    assert found["codec"] == codec
    assert found["size"] == (160, 96)
    assert_times(found, [k * step for k in range(100)], 100 * step)
    assert re.search(rf"out\.{container} \(100 frames, {codec} by {ENCODERS[codec]}, \d+\.\d ms a frame\)", said)
    assert "repeated" not in said and "late" not in said and "corrected" not in said


needs_x264 = pytest.mark.skipif(shutil.which("gst-inspect-1.0") is None
                                or subprocess.run(["gst-inspect-1.0", "--exists", "x264enc"]).returncode != 0,
                                reason="needs the package gstreamer1.0-plugins-ugly")


@needs_x264
@pytest.mark.parametrize("container", ["mkv", "mp4", "mov"])
def test_x264_writes_the_same_bytes_every_time_and_keeps_times_and_pictures(contorno, tmp_path, container):
    clip, streams = tmp_path / "clip.mkv", []
    make_clip(clip, "160x96", "30", 120, VARIABLE)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        path, said = record(contorno, tmp_path / name, clip, container, "auto, encoder: x264")
        assert "(42 frames, h264 by x264enc, " in said
        # Without its container, which holds the hour.
        streams.append(subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-c", "copy", "-f", "h264", "-"],
                                      capture_output=True, check=True, timeout=60).stdout)
    assert streams[0] == streams[1] and len(streams[0]) > 1000
    found = probe(path)
    assert found["codec"] == "h264" and found["size"] == (160, 96)
    assert_times(found, VARIABLE_TIMES, VARIABLE_TIMES[-1] + 1 / 30)
    videos = [cv2.VideoCapture(str(one)) for one in (clip, path)]
    for _ in range(42):
        (_, given), (_, got) = (video.read() for video in videos)
        assert np.abs(given.astype(int) - got).mean() < 6


@pytest.mark.parametrize("settings,code,sentence", [
    ("path: a.mkv, codec: vp8, encoder: x264", 78, "encoder is x264, which writes h264, but codec is vp8"),
    ("path: a.webm, encoder: va", 78, "encoder is va, which writes h264, allowed in a .webm file: auto, vp8"),
    ("path: a.webm, codec: mjpeg", 78, "codec is mjpeg, allowed in a .webm file: auto, vp8"),
    ("path: a.mkv, encoder: fast", 78, "encoder is 'fast', allowed one of auto, x264, nvidia, va")])
def test_an_encoder_that_does_not_fit_is_refused_where_it_stands(contorno, tmp_path, settings, code, sentence):
    graph = tmp_path / "graph.yaml"
    graph.write_text(f"source: {{type: test}}\nsinks:\n  - {{type: video, {settings}}}\n")
    done = contorno("check", graph, check=False)
    assert done.returncode == code
    assert "graph.yaml:3:" in done.stderr and sentence in done.stderr


VARIABLE = "not(mod(n,2))*lt(n,60)+not(mod(n,5))*gte(n,60)"  # 15, then 6 pictures a second
VARIABLE_TIMES = [k / 30 for k in range(120) if (k < 60 and k % 2 == 0) or (k >= 60 and k % 5 == 0)]


@pytest.mark.parametrize("container,codec", KEPT)
def test_a_source_of_variable_rate_keeps_its_times(contorno, tmp_path, container, codec):
    clip = tmp_path / "clip.mkv"
    make_clip(clip, "160x96", "30", 120, VARIABLE)
    path, said = record(contorno, tmp_path, clip, container, codec)
    assert_times(probe(path), VARIABLE_TIMES, VARIABLE_TIMES[-1] + 1 / 30)
    assert "42 frames" in said and "repeated" not in said and "corrected" not in said


@pytest.mark.parametrize("container,codec", CONSTANT)
def test_a_container_of_constant_rate_fills_gaps_and_says_so(contorno, tmp_path, container, codec):
    clip = tmp_path / "clip.mkv"
    make_clip(clip, "160x96", "30", 120, VARIABLE)
    path, said = record(contorno, tmp_path, clip, container, codec)
    shown = round(VARIABLE_TIMES[-1] * 30) + 1
    found = probe(path)
    slots = [round(time * 30) for time in found["times"]]
    # FFmpeg does not count Theora's repeated pictures, packets without bytes.
    if codec == "theora":
        assert {round(time * 30) for time in VARIABLE_TIMES} <= set(slots)
    else:
        assert slots == list(range(shown))
    assert_times(found, [slot / 30 for slot in slots], shown / 30)
    assert "42 frames" in said
    assert f"{shown - 42} pictures repeated where the source has gaps" in said


FILM_INTO_PIPE = """pipeline: {backend: cpu}
source: {type: test, width: 64, height: 48, rate: 20, frames: 37}
sinks:
  - {type: video, path: "film.CONTAINER", codec: CODEC}
"""


def film_into_pipe(tmp_path, container, codec):
    """A graph whose film goes into a pipe; returns the pipe and the command that runs the graph."""
    (tmp_path / "graph.yaml").write_text(FILM_INTO_PIPE.replace("CONTAINER", container).replace("CODEC", codec))
    os.mkfifo(tmp_path / f"film.{container}")
    return tmp_path / f"film.{container}", [PROGRAM, "run", "graph.yaml", "--output", ".", "--quiet"]


@pytest.mark.parametrize("container,codec", [one for one in KEPT + CONSTANT if one[0] != "avi"])
def test_whoever_reads_a_pipe_gets_the_whole_film(tmp_path, container, codec):
    pipe, command = film_into_pipe(tmp_path, container, codec)
    writer = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    found = probe(pipe)
    assert writer.communicate(timeout=300)[1] == "" and writer.returncode == 0
    assert (found["codec"], found["size"], found["complaints"]) == (codec, (64, 48), [])
    assert found["times"] == pytest.approx([k / 20 for k in range(37)], abs=EXACT)


def test_a_container_that_is_finished_at_its_beginning_is_refused_for_a_pipe(tmp_path):
    pipe, command = film_into_pipe(tmp_path, "avi", "mjpeg")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 73
    assert f"graph.yaml:4:25: error: sink 'video': '{pipe}' is a pipe, and a .avi file is finished at its beginning" in done.stderr
    assert ".mkv, .webm, .ogv, .mov, .mp4 can be written into one" in done.stderr


@pytest.mark.parametrize("size", ["161x91", "33x18", "5x3"])
@pytest.mark.parametrize("container,codec", [("mkv", "vp8"), ("avi", "mjpeg"), ("mov", "png"), ("ogv", "theora"),
                                             ("mp4", "h264"), ("avi", "h264")])
def test_odd_and_tiny_pictures_are_padded_where_they_must_be(contorno, tmp_path, container, codec, size):
    clip = tmp_path / "clip.mkv"
    make_clip(clip, size, "10", 7, picture="cellauto")
    path, said = record(contorno, tmp_path, clip, container, codec, quality=100)
    width, height = (max(int(side), 16) for side in size.split("x"))
    if codec == "theora":
        width, height = max(width, 18), max(height, 18)
    if codec == "h264":
        width, height = width + width % 2, height + height % 2
    found = probe(path)
    assert found["size"] == (width, height)
    # A picture of Theora that equals the one before is a packet without bytes, which FFmpeg does not count.
    count = len(found["times"]) if codec == "theora" else 7
    assert_times(found, [k / 10 for k in range(count)], 0.7)
    assert (f"padded to {width} x {height}" in said) == (f"{width}x{height}" != size)


@pytest.mark.parametrize("container,codec", KEPT + CONSTANT)
def test_a_video_of_one_picture_can_be_read(contorno, tmp_path, container, codec):
    clip = tmp_path / "clip.mkv"
    make_clip(clip, "64x48", "25", 1)
    path, _ = record(contorno, tmp_path, clip, container, codec)
    assert_times(probe(path), [0], 1 / 25)


@pytest.mark.parametrize("container,codec", KEPT + CONSTANT)
def test_every_new_picture_size_begins_a_film_that_can_be_read(contorno, tmp_path, container, codec):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for index, size in enumerate([(64, 48)] * 3 + [(80, 64)] * 2 + [(64, 48)]):
        random = np.random.default_rng(index)
        assert cv2.imwrite(str(pictures / f"{index}.png"), random.integers(0, 255, (size[1], size[0], 3), np.uint8))
    path, made = record(contorno, tmp_path, pictures, container, codec, source="images")
    for name, size, frames in [("out", (64, 48), 3), ("out-2", (80, 64), 2), ("out-3", (64, 48), 1)]:
        film = path.with_stem(name)
        found = probe(film)
        assert found["size"] == size
        assert_times(found, [k / 25 for k in range(frames)], frames / 25)
        assert f"{film} ({frames} frames, {codec} by {ENCODERS[codec]}, " in made
    assert len(list(path.parent.iterdir())) == 3


def test_a_missing_encoder_is_named_with_its_package_before_a_frame_comes(contorno, tmp_path):
    installed = pathlib.Path(subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], check=True,
                                            capture_output=True, text=True).stdout.strip())
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    for plugin in installed.glob("*.so"):
        if "openh264" not in plugin.name:
            (plugins / plugin.name).symlink_to(plugin)
    graph, out = live_graph(tmp_path, [("mp4", "h264"), ("mkv", "vp8")])
    missing = {"GST_PLUGIN_SYSTEM_PATH_1_0": str(plugins), "GST_REGISTRY": str(tmp_path / "registry")}
    for arguments in (["check", graph], ["run", graph, "--output", out]):
        done = contorno(*arguments, check=False, env=missing)
        assert done.returncode == 69
        assert ("the GStreamer element 'openh264enc' is not installed; it comes with the package "
                "gstreamer1.0-plugins-bad" in done.stderr)
        assert f"{graph}:3:" in done.stderr
        assert not out.exists() or list(out.iterdir()) == []


def live_graph(tmp_path, films):
    """A camera that never ends into one film of each kind; the folder of the films."""
    graph = tmp_path / "graph.yaml"
    graph.write_text("source: {type: test, pattern: ball, width: 96, height: 64, rate: 30, live: true, frames: 0}\n"
                     "sinks:\n" +
                     "".join(f"  - {{type: video, name: {container}, path: film-{container}.{container}, "
                             f"codec: {codec}}}\n"
                             for container, codec in films))
    return graph, tmp_path / "out"


def pictures_in(folder, container):
    """How many pictures FFmpeg finds in the only file of that film, whatever its name is now; 0 when it opens none."""
    [path] = folder.glob(f"film-{container}*")
    named = {"mkv": "matroska", "webm": "matroska", "ogv": "ogg"}
    done = subprocess.run(["ffprobe", "-v", "error", "-f", named.get(container, container), "-show_entries",
                           "frame=best_effort_timestamp_time", "-of", "csv=p=0", str(path)],
                          capture_output=True, text=True, timeout=60)
    return len(done.stdout.split())


def test_what_a_killed_run_leaves_can_be_read(tmp_path):
    films = [("mkv", "vp8"), ("webm", "vp8"), ("avi", "mjpeg"), ("ogv", "theora"), ("mov", "mjpeg"), ("mp4", "h264")]
    graph, out = live_graph(tmp_path, films)
    run = subprocess.Popen([PROGRAM, "run", str(graph), "--output", str(out)], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    readable = {}
    try:
        until = time.monotonic() + 60
        while len(readable) < len(films) and time.monotonic() < until and run.poll() is None:
            time.sleep(0.2)
            for container, _ in films:
                if out.is_dir() and any(out.glob(f"film-{container}*")) and container not in readable:
                    count = pictures_in(out, container)
                    if count >= 30:
                        readable[container] = count
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert set(readable) == {container for container, _ in films}
    for container, count in readable.items():
        assert pictures_in(out, container) >= count, container


@pytest.mark.parametrize("container,codec", [("mp4", "h264"), ("mov", "png"), ("mkv", "mjpeg"), ("avi", "mjpeg")])
def test_a_full_disk_leaves_a_film_that_can_be_read(tmp_path, container, codec):
    graph, out = live_graph(tmp_path, [(container, codec)])

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run([PROGRAM, "run", str(graph), "--output", str(out), "--set", "source.live=false", "--set",
                           "source.frames=3000"], capture_output=True, text=True, preexec_fn=limit, timeout=120)
    assert done.returncode == 74, done.stderr
    [path] = out.iterdir()
    assert path.name != f"film-{container}.{container}"
    assert path.name in done.stdout + done.stderr
    assert pictures_in(out, container) >= 30
