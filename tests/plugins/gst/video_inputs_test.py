"""Video that comes through pipes, standard input, sockets and shared memory has the frames of the file."""
import json
import os
import socket
import struct
import subprocess
import threading

import cv2
import pytest
from tests.conftest import PROGRAM, read_lines
from tests.plugins.gst.videos import CHAINS, GRAPH, pictures, record

FRAMES = 20


@pytest.fixture
def clip(tmp_path):
    """A video, a graph beside it, and the contours of the file."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    record(tmp_path / "clip.mkv", "vp8enc deadline=1 cpu-used=8 ! matroskamux", FRAMES)
    done = run(tmp_path, "clip.mkv")
    assert done.returncode == 0, done.stderr
    assert len(lines_of(tmp_path)) == FRAMES
    return tmp_path


def run(folder, source, *arguments, **kwargs):
    return subprocess.run([PROGRAM, "run", "graph.yaml", "--input", source, "--output", "out", "--report", "report.json",
                           *arguments], cwd=folder, capture_output=True, text=True, timeout=60, **kwargs)


def lines_of(folder):
    return read_lines(folder / "out" / "contours.jsonl")


def check_same(folder, done, expected):
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "out" / "report.json").read_text())["source_faults"] == []
    assert lines_of(folder) == expected


def test_a_named_pipe_is_read_like_the_file(clip):
    expected = lines_of(clip)
    os.mkfifo(clip / "pipe")
    writer = threading.Thread(target=lambda: (clip / "pipe").write_bytes((clip / "clip.mkv").read_bytes()))
    writer.start()
    check_same(clip, run(clip, "pipe"), expected)
    writer.join()


def test_standard_input_is_read_like_the_file(clip):
    expected = lines_of(clip)
    with open(clip / "clip.mkv", "rb") as video:
        check_same(clip, run(clip, "-", stdin=video), expected)
    producer = subprocess.Popen(["cat", clip / "clip.mkv"], stdout=subprocess.PIPE)
    check_same(clip, run(clip, "-", stdin=producer.stdout), expected)
    producer.wait()


@pytest.mark.parametrize("container", ["mkv", "mp4", "avi"])
def test_a_stream_that_breaks_off_is_not_whole(clip, container):
    record(clip / f"whole.{container}", CHAINS[container], 51)
    whole = (clip / f"whole.{container}").read_bytes()
    for share in (0.5, 0.8):
        producer = subprocess.Popen(["head", "-c", str(int(share * len(whole)))], stdin=open(clip / f"whole.{container}", "rb"),
                                    stdout=subprocess.PIPE)
        done = run(clip, "-", stdin=producer.stdout)
        producer.wait()
        came = len(lines_of(clip))
        assert done.returncode == 3 and 0 < came < 51, done.stderr
        faults = json.loads((clip / "out" / "report.json").read_text())["source_faults"]
        assert faults[0]["missing"] == 51 - came
        assert f"-: {came} of 51 frames came; the stream broke off" in done.stdout


def record_with_sound(file):
    """A second of pictures, and more than that of sound."""
    subprocess.run(["gst-launch-1.0", "-q", "matroskamux", "name=mux", "!", "filesink", f"location={file}",
                    "videotestsrc", "num-buffers=25", "!", "video/x-raw,width=160,height=120,framerate=25/1", "!", "vp8enc",
                    "deadline=1", "!", "mux.", "audiotestsrc", "num-buffers=70", "samplesperbuffer=882", "!",
                    "audio/x-raw,rate=44100", "!", "audioconvert", "!", "vorbisenc", "!", "mux."], check=True, timeout=60)


def test_sound_that_is_longer_than_the_pictures_is_no_damage(clip):
    record_with_sound(clip / "sound.mkv")
    with open(clip / "sound.mkv", "rb") as video:
        done = run(clip, "-", stdin=video)
    assert done.returncode == 0 and len(lines_of(clip)) == 25, done.stderr + done.stdout


def logged(folder, source, categories):
    """What GStreamer logs of a run."""
    done = run(folder, source, env={**os.environ, "GST_DEBUG": categories, "GST_DEBUG_NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stderr


def test_sound_is_not_decoded(clip):
    record_with_sound(clip / "sound.mkv")
    log = logged(clip, "sound.mkv", "GST_ELEMENT_FACTORY:4")
    assert 'creating element "vp8dec"' in log
    assert "vorbis" not in log


def turn_right(mp4):
    """Says in the header of the track that its pictures are to be shown a quarter turn to the right."""
    data = bytearray(mp4.read_bytes())
    matrix = data.index(b"tkhd") + 44
    data[matrix:matrix + 20] = struct.pack(">5i", 0, 1 << 16, 0, -(1 << 16), 0)
    mp4.write_bytes(data)


def test_frames_are_copied_only_where_they_are_turned(clip):
    record(clip / "clip.mp4", CHAINS["mp4"], FRAMES)
    log = logged(clip, "clip.mp4", "videoflip:6,libav:6")
    assert "flipping" not in log
    assert log.count("get output buffer") < FRAMES / 2
    turn_right(clip / "clip.mp4")
    assert logged(clip, "clip.mp4", "videoflip:6").count("flipping (90r)") >= FRAMES
    assert {(line["width"], line["height"]) for line in lines_of(clip)} == {(120, 160)}


def test_a_pipe_cannot_be_played_in_a_loop(clip):
    os.mkfifo(clip / "pipe")
    for source in ("pipe", "-"):
        done = run(clip, source, "--set", "source.loop=true", stdin=subprocess.DEVNULL)
        assert done.returncode == 78
        assert "a pipe can be read only once" in done.stderr


def test_a_tcp_address_is_read_like_the_file(clip):
    expected = lines_of(clip)
    with socket.create_server(("127.0.0.1", 0)) as server:
        def serve():
            connection, _ = server.accept()
            with connection:
                connection.sendall((clip / "clip.mkv").read_bytes())
        sender = threading.Thread(target=serve)
        sender.start()
        check_same(clip, run(clip, f"tcp://127.0.0.1:{server.getsockname()[1]}"), expected)
        sender.join()


@pytest.mark.parametrize("address", ["tcp://", "tcp://host", "tcp://:80", "tcp://host:0", "tcp://host:70000",
                                     "tcp://host:8x"])
def test_an_address_that_is_none_is_refused(clip, address):
    done = run(clip, address)
    assert done.returncode == 78
    assert "allowed is tcp://HOST:PORT with a port from 1 to 65535" in done.stderr


def test_frames_in_shared_memory_are_taken_as_from_a_camera(clip):
    caps = "video/x-raw,format=RGB,width=160,height=120,framerate=25/1"
    path = clip / "socket"
    writer = cv2.VideoWriter(f"appsrc ! videoconvert ! {caps} ! shmsink socket-path={path} wait-for-connection=false "
                             "sync=false", cv2.CAP_GSTREAMER, 0, 25.0, (160, 120))
    assert writer.isOpened()
    stop = threading.Event()

    def produce():
        picture = next(pictures(1))
        while not stop.wait(0.02):
            writer.write(picture)

    producer = threading.Thread(target=produce, daemon=True)
    producer.start()
    try:
        done = run(clip, f"shm://{path}", "--frames", "5", "--set", f"source.caps={caps}")
        assert done.returncode == 0, done.stderr
        report = json.loads((clip / "out" / "report.json").read_text())
        assert report["frames"]["in"] == 5 and report["on_full"] == "drop_oldest"
        assert "160x120" in report["source"]
        done = run(clip, f"shm://{path}")
        assert done.returncode == 78 and "say in 'caps' what lies there" in done.stderr
    finally:
        stop.set()
        producer.join()
        writer.release()
    done = run(clip, "shm:///no/such/socket")
    assert done.returncode == 66
