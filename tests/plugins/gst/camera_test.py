"""The source camera at a stand-in for v4l2src: formats, what is not offered, names, and cameras that are unplugged."""
import json
import subprocess

import cv2
import numpy as np
import pytest
from tests.conftest import PROGRAM, read_lines
from tests.plugins.gst.cameras import GRAPH, GROUND, HEIGHT, PICTURES, SIDE, THING, WIDTH, caps, grey, picture, place, write_graph
from tests.plugins.gst.cameras import cameras  # noqa: F401, a fixture
from tests.plugins.gst.rtsp import wait_until


def run(contorno, folder, *options, code=0, **kwargs):
    done = contorno("run", folder / "graph.yaml", "--output", folder / "out", "--report", "report.json", *options, cwd=folder, check=False,
                    **kwargs)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def lines_of(folder):
    return read_lines(folder / "out" / "contours.jsonl")


def report_of(folder):
    return json.loads((folder / "out" / "report.json").read_text())


def check_lines(lines, frames, first=0):
    """All frames came, in order, each with the square of its picture, whose middle is known; times grow."""
    assert [line["frame"] for line in lines] == list(range(frames))
    for number, line in enumerate(lines):
        [contour] = line["classes"][0]["contours"]
        left, top = place(first + number)
        middle = (SIDE - 1) / 2
        np.testing.assert_allclose(contour["centroid"], (left + middle, top + middle), atol=0.3)
    times = [line["pts_ns"] for line in lines]
    assert all(one < other for one, other in zip(times, times[1:]))


def inner(array, number):
    """Without the pixels near the outline, where chroma of both colours is mixed."""
    left, top = place(number)
    near = np.zeros(array.shape[:2], bool)
    near[top - 3:top + SIDE + 3, left - 3:left + SIDE + 3] = True
    near[top + 3:top + SIDE - 3, left + 3:left + SIDE - 3] = False
    return array[~near].astype(int)


FRAMES = "sinks: [{type: jsonl, path: contours.jsonl}, {type: images, from: source.frame, path: '{frame}.png'}]\n"


@pytest.mark.parametrize(("word", "kind"), [("yuy2", "YUY2"), ("yuyv", "YUY2"), ("uyvy", "UYVY"), ("nv12", "NV12"), ("i420", "I420"),
                                            ("grey", "GRAY8"), ("grey16", "GRAY16_LE"), ("rgb", "RGB"), ("bgr", "BGR"),
                                            ("mjpeg", "JPEG")])
def test_pictures_come_in_every_pixel_format_that_can_be_asked_for(cameras, contorno, tmp_path, word, kind):
    """Among others that the camera offers before it."""
    others = [other for other in ("I420", "YUY2", "JPEG") if other != kind]
    cameras.plug(offers=";".join(caps(one) for one in (*others, kind)))
    rest = GRAPH[:GRAPH.index("sinks:")] + FRAMES
    write_graph(tmp_path, f"device: /dev/video0, pixel_format: {word}", rest)
    run(contorno, tmp_path, "--frames", PICTURES + 2)
    is_grey = kind.startswith("GRAY")
    if not is_grey:
        check_lines(lines_of(tmp_path), PICTURES + 2)
    for number in range(PICTURES + 2):
        expected = picture(number)
        if is_grey:
            expected = np.repeat(grey(expected)[..., None], 3, axis=2)
        found = cv2.imread(str(tmp_path / "out" / f"{number}.png"))[..., ::-1]
        assert found.shape == (HEIGHT, WIDTH, 3)
        # Samples are rounded, and GStreamer multiplies by 8 bits; with the matrix of BT.709 the ground would be off by 7.
        most = 0 if is_grey or kind in ("RGB", "BGR") else 5
        assert np.abs(inner(found, number) - inner(expected, number)).max() <= most
    assert report_of(tmp_path)["source"] == "camera /dev/video0, 64x48, 30 frames/s, live"


@pytest.mark.parametrize(("asked", "found"), [
    ("", "64x48, 30 frames/s"), ("framerate: 15", "64x48, 15 frames/s"), ("framerate: 12.5, width: 64", "64x48, 12.5 frames/s"),
    ("width: 1280", "1280x720, 10 frames/s"), ("height: 720, framerate: 30", "1280x720, 30 frames/s"),
    ("width: 1280, height: 720, framerate: 15", "1280x720, 15 frames/s"), ("pixel_format: mjpeg", "1280x720, 30 frames/s")])
def test_sizes_and_rates_that_are_offered_come(cameras, contorno, tmp_path, asked, found):
    cameras.plug()
    write_graph(tmp_path, f"device: /dev/video0{', ' if asked else ''}{asked}")
    run(contorno, tmp_path, "--frames", 3)
    assert report_of(tmp_path)["source"] == f"camera /dev/video0, {found}, live"
    assert len(lines_of(tmp_path)) == 3


@pytest.mark.parametrize(("written", "offered"), [
    ("29.97", "30000/1001"), ("23.976", "24000/1001"), ("59.94", "60000/1001"), ("7.5", "15/2"), ("25", "25/1")])
def test_rates_are_meant_as_people_write_them(cameras, contorno, tmp_path, written, offered):
    cameras.plug(offers=f"video/x-raw,format=YUY2,width=64,height=48,framerate={offered}")
    write_graph(tmp_path, f"device: /dev/video0, framerate: {written}")
    contorno("check", "graph.yaml", cwd=tmp_path)


OFFERED = ("yuy2 64x48 at 30, 15 frames/s; yuy2 1280x720 at 10 frames/s; mjpeg 1280x720 at 30, 15 frames/s; "
           "grey 64x48 at 1 to 60 frames/s")


@pytest.mark.parametrize(("asked", "said"), [
    ("width: 1920, height: 1080", "1920x1080"), ("width: 65", "width 65"), ("height: 720, framerate: 60", "height 720 at 60 frames/s"),
    ("pixel_format: nv12", "nv12"), ("pixel_format: yuy2, width: 1280, height: 720, framerate: 30", "yuy2 1280x720 at 30 frames/s")])
def test_what_is_not_offered_is_named_beside_what_is(cameras, contorno, tmp_path, asked, said):
    cameras.plug()
    write_graph(tmp_path, f"device: /dev/video0, {asked}")
    sentence = f"/dev/video0: the camera does not offer {said}, but: {OFFERED}"
    assert sentence in run(contorno, tmp_path, code=78).stderr
    done = contorno("check", "graph.yaml", cwd=tmp_path, check=False)
    assert done.returncode == 78 and f"graph.yaml:1:32: {sentence}" in done.stderr, done.stderr


def test_a_camera_of_pixels_that_nobody_reads_says_what_they_are(cameras, contorno, tmp_path):
    cameras.plug(offers="video/x-bayer,format=rggb,width=[16,2592,16],height=1944,framerate=15/1")
    write_graph(tmp_path, "device: /dev/video0")
    assert ("the camera does not offer any format that contorno reads, but: "
            "video/x-bayer rggb 16 to 2592x1944 at 15 frames/s") in run(contorno, tmp_path, code=78).stderr


# ---- cameras that cannot be opened

def test_a_camera_that_is_not_there_is_named_with_those_that_are(cameras, contorno, tmp_path):
    cameras.plug("video2")
    cameras.link("by-id", "usb-Maker_Line_4F2A-video-index0", "video2")
    cameras.link("by-path", "pci-0000:00:14.0-usb-0:2:1.0-video-index0", "video2")
    write_graph(tmp_path, "device: /dev/video7")
    said = run(contorno, tmp_path, code=66).stderr
    assert (f"/dev/video7: there is no such camera (there are: {cameras.folder}/video2 (serial number Maker_Line_4F2A, bus path "
            "pci-0000:00:14.0-usb-0:2:1.0))") in said
    done = contorno("check", "graph.yaml", cwd=tmp_path)
    assert "note: " in done.stderr and "there is no such camera" in done.stderr


@pytest.mark.parametrize(("fails", "code", "words"), [
    ("denied", 66, "for reading and writing; Permission denied (reported by v4l2src); who may use cameras is in the group video"),
    ("busy", 69, "Device '/dev/video0' is busy (reported by v4l2src); another program may be using it")])
def test_a_camera_that_cannot_be_opened_says_why_and_what_to_do(cameras, contorno, tmp_path, fails, code, words):
    cameras.plug(fails=fails)
    write_graph(tmp_path, "device: /dev/video0")
    assert words in run(contorno, tmp_path, code=code).stderr


def test_a_camera_that_sends_nothing_at_the_start_is_an_error(cameras, contorno, tmp_path):
    cameras.plug(silent_after=0)
    write_graph(tmp_path, "device: /dev/video0, timeout: 300")
    assert "/dev/video0: no frame came within 300 ms" in run(contorno, tmp_path, code=65).stderr


# ---- cameras that are unplugged

def test_an_unplugged_camera_ends_the_run_where_nobody_asked_for_more(cameras, contorno, tmp_path):
    cameras.plug(unplugged_after=7)
    write_graph(tmp_path, "device: /dev/video0, reconnect_attempts: 0")
    run(contorno, tmp_path, code=3)
    check_lines(lines_of(tmp_path), 7)
    report = report_of(tmp_path)
    assert report["frames"]["in"] == report["frames"]["out"] == 7 and report["source_reconnections"] == 0
    assert "/dev/video0: Could not read from resource" in report["source_faults"][0]["reason"]


SILENCE = 5000  # ms; a busy machine needs less for any frame


@pytest.mark.parametrize(("end", "fails", "reason"), [
    ("unplugged_after", "absent", "/dev/video0: Could not read from resource (reported by v4l2src); there again at attempt 2"),
    ("silent_after", "busy",
     f"/dev/video0: no frame came within {SILENCE} ms (parameter timeout; 0 waits for ever); there again at attempt 2"),
    ("ends_after", "denied", "/dev/video0: the stream ended; there again at attempt 2")])
def test_a_camera_that_comes_back_is_read_on_and_the_reconnection_counted(cameras, contorno, tmp_path, end, fails, reason):
    cameras.plug(openings={1: {end: 7}, 2: {"fails": fails}})
    write_graph(tmp_path, f"device: /dev/video0, timeout: {SILENCE}")
    done = run(contorno, tmp_path, "--frames", 12)
    lines = lines_of(tmp_path)
    check_lines(lines[:7], 7)
    check_lines([{**line, "frame": line["frame"] - 7} for line in lines[7:]], 5)
    assert all(one["pts_ns"] < other["pts_ns"] for one, other in zip(lines, lines[1:]))
    report = report_of(tmp_path)
    assert report["frames"]["in"] == 12 and report["source_reconnections"] == 1
    assert report["source"] == "camera /dev/video0, 64x48, 30 frames/s, live, reconnected 1 time"
    assert reason in done.stderr


def test_a_camera_that_stays_away_ends_the_run_when_all_attempts_are_made(cameras, contorno, tmp_path):
    cameras.plug(fails="absent", openings={1: {"fails": "", "unplugged_after": 7}})
    write_graph(tmp_path, "device: /dev/video0, reconnect_attempts: 2")
    run(contorno, tmp_path, code=3)
    report = report_of(tmp_path)
    assert report["frames"]["in"] == 7 and report["source_reconnections"] == 0 and len(report["source_faults"]) == 1


def test_a_camera_is_tried_again_for_ever_until_the_run_is_ended(cameras, tmp_path):
    """More often than any number of attempts would allow: each loss is a series of its own."""
    cameras.plug(openings={number: {"unplugged_after": 2} for number in range(1, 4)} | {4: {"fails": "absent"}})
    write_graph(tmp_path, "device: /dev/video0, reconnect_attempts: -1")
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", "out", "--frames", "8", "--report", "report.json"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    assert report_of(tmp_path)["source_reconnections"] == 3 and len(lines_of(tmp_path)) == 8


def test_a_run_that_waits_for_its_camera_ends_at_once_when_it_is_told_to(cameras, tmp_path):
    cameras.plug(fails="absent", openings={1: {"fails": "", "unplugged_after": 3}})
    write_graph(tmp_path, "device: /dev/video0, reconnect_attempts: -1")
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", "out", "--report", "report.json"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    contours = tmp_path / "out" / "contours.jsonl"
    wait_until(lambda: contours.exists() and contours.read_text().count("\n") == 3)
    process.terminate()
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 143, said
    assert report_of(tmp_path)["frames"]["out"] == 3


def test_a_camera_that_comes_back_with_other_pictures_is_read_on(cameras, contorno, tmp_path):
    cameras.plug(offers=f"{caps('YUY2')};{caps('YUY2', 96, 64)}",
                 openings={1: {"unplugged_after": 3, "offers": caps("YUY2")}, 2: {"offers": caps("YUY2", 96, 64, "15/1")}})
    write_graph(tmp_path, "device: /dev/video0")
    run(contorno, tmp_path, "--frames", 6)
    assert [(line["width"], line["height"]) for line in lines_of(tmp_path)] == [(64, 48)] * 3 + [(96, 64)] * 3


# ---- names of cameras

ID, PATH = "usb-Maker_Line_Camera_4F2A60DF", "pci-0000:00:14.0-usb-0:2:1.0"


@pytest.mark.parametrize("device", ["4F2A60DF", "Maker_Line_Camera_4F2A60DF", ID, f"{ID}-video-index0", PATH, "usb-0:2:1.0", "video2",
                                    "/dev/v4l/by-id/" + f"{ID}-video-index0"])
def test_a_camera_has_names_that_stay(cameras, contorno, tmp_path, device):
    cameras.plug("video2")
    cameras.plug("video3", fails="absent")  # sends no pictures, as the second node of a webcam
    cameras.plug("video4")
    for index in range(2):
        cameras.link("by-id", f"{ID}-video-index{index}", f"video{2 + index}")
        cameras.link("by-path", f"{PATH}-video-index{index}", f"video{2 + index}")
    cameras.link("by-id", "usb-Maker_Line_Camera_0000AAAA-video-index0", "video4")
    cameras.link("by-path", "pci-0000:00:14.0-usb-0:3:1.0-video-index0", "video4")
    write_graph(tmp_path, f"device: '{device}'")
    run(contorno, tmp_path, "--frames", 3)
    check_lines(lines_of(tmp_path), 3)
    assert report_of(tmp_path)["source"].startswith(f"camera {device}, 64x48")


@pytest.mark.parametrize("serial", ["20240117", "1E5", "0x4F"])
def test_a_serial_number_may_look_like_a_number_and_come_from_the_command_line(cameras, contorno, tmp_path, serial):
    cameras.plug("video2")
    cameras.link("by-id", f"usb-Maker_Cam_{serial}-video-index0", "video2")
    write_graph(tmp_path, f"device: '{serial}'")
    run(contorno, tmp_path, "--frames", 3)
    write_graph(tmp_path, "device: none")
    run(contorno, tmp_path, "--frames", 3, "--input", serial)
    assert report_of(tmp_path)["source"].startswith(f"camera {serial}, 64x48")


def test_a_name_that_no_camera_has_and_one_that_several_have_are_told_apart(cameras, contorno, tmp_path):
    for node, serial in (("video0", "AA"), ("video2", "BB")):
        cameras.plug(node)
        cameras.link("by-id", f"usb-Maker_{serial}_Cam-video-index0", node)
    write_graph(tmp_path, "device: CC")
    said = run(contorno, tmp_path, code=66).stderr
    assert "camera CC: no camera has this serial number or bus path (there are: " in said and "serial number Maker_BB_Cam" in said
    write_graph(tmp_path, "device: Cam")
    said = run(contorno, tmp_path, code=78).stderr
    assert ("camera Cam: several cameras are called so, allowed is a name of one: usb-Maker_AA_Cam-video-index0, "
            "usb-Maker_BB_Cam-video-index0") in said


def test_a_camera_that_comes_back_with_another_number_is_found_by_its_serial_number(cameras, tmp_path):
    cameras.plug("video0", fails="absent", openings={1: {"fails": "", "unplugged_after": 5}})
    cameras.plug("video1")
    cameras.link("by-id", f"{ID}-video-index0", "video0")
    write_graph(tmp_path, "device: 4F2A60DF, reconnect_attempts: -1")
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", "out", "--frames", "8", "--report", "report.json"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    contours = tmp_path / "out" / "contours.jsonl"
    wait_until(lambda: contours.exists() and contours.read_text().count("\n") == 5)
    cameras.link("by-id", f"{ID}-video-index0", "video1")
    said = process.communicate(timeout=300)[0]
    assert process.returncode == 0, said
    assert report_of(tmp_path)["source_reconnections"] == 1 and len(lines_of(tmp_path)) == 8


def test_the_line_of_gst_launch_for_a_camera_finds_the_same(cameras, contorno, tmp_path):
    """It names the camera by the link that stays, and says which parameters a line has no place for."""
    cameras.plug("video2", ";".join(caps(kind) for kind in ("YUY2", "JPEG", "GRAY8")), ends_after=4)
    cameras.link("by-id", f"{ID}-video-index0", "video2")
    for word in ("mjpeg", "grey", "auto"):
        write_graph(tmp_path, f"device: 4F2A60DF, pixel_format: {word}, gain: 3")
        (tmp_path / word).mkdir()
        done = contorno("gst", "graph.yaml", "--output", tmp_path / word, cwd=tmp_path)
        assert f"v4l2src device={cameras.folder}/v4l/by-id/{ID}-video-index0 ! " in done.stdout
        assert "the source has gain, which has no place in the line" in done.stderr
        # Which frames a queue lets go by depends on who computes beside it.
        line = done.stdout.replace("leaky=downstream", "leaky=no")
        subprocess.run(["bash", "-c", line], check=True, cwd=tmp_path, capture_output=True, timeout=300)
        lines = read_lines(tmp_path / word / "contours.jsonl")
        assert len(lines) == 4
        if word != "grey":
            check_lines(lines, 4)
