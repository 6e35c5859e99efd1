"""Which frames a video has and when they are shown: as ffmpeg says, for containers and codecs that make it hard."""
import json
import subprocess

import cv2
import numpy as np
import pytest
from PIL import Image
from tests.plugins.gst.video_out_test import needs_ffmpeg

pytestmark = needs_ffmpeg
MOVING = ["-f", "lavfi", "-i", "testsrc2=size=192x108:rate=25:duration=3"]
STILL = ["-f", "lavfi", "-i", "color=0x3060c0:size=192x112:rate=10:duration=1"]


def ffmpeg(folder, *arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-v", "error", *map(str, arguments)], cwd=folder, check=True)


def times_by_ffprobe(path):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                           "frame=best_effort_timestamp_time", "-of", "csv=p=0", str(path)], capture_output=True, text=True,
                          check=True).stdout
    return np.array([float(line.strip(",")) for line in text.split()])


def record(contorno, path, *arguments):
    """The pictures (BGR) and times in s of the whole video, which nothing is said against."""
    folder = path.parent / f"{path.name}-recorded"
    done = contorno("record", path, folder, "--quiet", *arguments)
    assert done.stdout + done.stderr == ""
    lines = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]
    return ([cv2.imread(str(folder / line["frame"])) for line in lines],
            np.array([line["pts_ns"] for line in lines]) / 1e9)


def decoded_by_ffmpeg(path):
    ffmpeg(path.parent, "-i", path.name, "-fps_mode", "passthrough", "-pix_fmt", "bgr24", "-f", "rawvideo", f"{path.name}.raw")
    width, height = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG).read()[1].shape[1::-1]
    return np.fromfile(path.parent / f"{path.name}.raw", np.uint8).reshape(-1, height, width, 3)


def assert_same_pictures(pictures, expected):
    assert len(pictures) == len(expected)
    for one, other in zip(pictures, expected):
        assert np.abs(one.astype(int) - other).mean() < 4  # the next frame of a moving one is more than 8 away


def assert_same_times(times, expected):
    np.testing.assert_allclose(times - times[0], expected - expected[0], atol=0.0011)  # Matroska counts in ms


@pytest.mark.parametrize("name, codec", [("late.mkv", "mpeg4"), ("late.webm", "libvpx"), ("late.ogv", "libtheora"),
                                         ("late.mp4", "libx264"), ("late.mov", "mpeg4"), ("late.ts", "libx264"),
                                         ("late.flv", "flv1")])
def test_a_video_that_does_not_begin_at_0_is_whole(contorno, tmp_path, name, codec):
    ffmpeg(tmp_path, *MOVING, "-c:v", codec, "-pix_fmt", "yuv420p", "-output_ts_offset", 12, name)
    pictures, times = record(contorno, tmp_path / name)
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / name))
    assert_same_times(times, times_by_ffprobe(tmp_path / name))


def test_every_segment_of_a_recorder_is_whole_and_a_cut_one_says_how_much_is_missing(contorno, tmp_path):
    ffmpeg(tmp_path, *MOVING, "-g", 25, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-f", "segment", "-segment_time", 1,
           "-segment_format", "matroska", "part%d.mkv")
    for number in range(3):
        path = tmp_path / f"part{number}.mkv"
        pictures, times = record(contorno, path)
        assert_same_pictures(pictures, decoded_by_ffmpeg(path))
        assert_same_times(times, times_by_ffprobe(path))
    data = path.read_bytes()
    (tmp_path / "cut.mkv").write_bytes(data[:len(data) * 2 // 3])
    done = contorno("record", tmp_path / "cut.mkv", tmp_path / "cut", "--quiet", check=False)
    came = len(list((tmp_path / "cut" / "frames").iterdir()))
    assert done.returncode == 3 and 0 < came < 25
    # The duration that the file states ends with the delay of its B-frames, 2 frames.
    assert any(f"{came} of {count} frames came; the file is cut off" in done.stderr for count in (25, 26, 27)), done.stderr


def test_a_matroska_file_that_begins_late_still_says_when_its_end_is_missing(contorno, tmp_path):
    """Sent through a pipe, so that nothing but its head tells how long it is."""
    ffmpeg(tmp_path, *MOVING, "-g", 25, "-c:v", "libvpx", "-output_ts_offset", 12, "late.webm")
    data = (tmp_path / "late.webm").read_bytes()
    (tmp_path / "graph.yaml").write_text("source: {type: video, location: '-'}\nstages: [preprocess]\nsinks: []\n")
    for part, code in ((1, 0), (0.5, 3)):
        with open(tmp_path / "sent", "wb") as sent:
            sent.write(data[:int(len(data) * part)])
        with open(tmp_path / "sent", "rb") as sent:
            done = contorno("record", "graph.yaml", tmp_path / f"r{code}", "--quiet", stdin=sent, cwd=tmp_path, check=False)
        assert done.returncode == code, done.stderr
        assert ("the stream broke off" in done.stderr) == (code == 3)


def test_sound_that_begins_before_the_pictures_does_not_stretch_the_time_of_the_first(contorno, tmp_path):
    ffmpeg(tmp_path, *MOVING, "-f", "lavfi", "-i", "sine=duration=3.4", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac",
           "-output_ts_offset", 7, "clip.mkv")
    pictures, times = record(contorno, tmp_path / "clip.mkv")
    assert len(pictures) == 75
    assert_same_times(times, times_by_ffprobe(tmp_path / "clip.mkv"))


@pytest.mark.parametrize("begin", [0.7, 2.06])
@pytest.mark.parametrize("name, options", [
    ("h264.mp4", ["-c:v", "libx264", "-g", 40, "-bf", 3, "-pix_fmt", "yuv420p"]),
    ("mpeg4.mp4", ["-c:v", "mpeg4", "-g", 40, "-bf", 2]),
    ("vp9.mp4", ["-c:v", "libvpx-vp9", "-g", 40, "-deadline", "realtime", "-cpu-used", 8]),
    ("ntsc.mov", ["-c:v", "libx264", "-g", 40, "-pix_fmt", "yuv420p", "-r", "30000/1001"]),
    ("uneven.mp4", ["-vf", "setpts='PTS+0.3*mod(N,3)/25/TB'", "-c:v", "libx264", "-g", 30, "-pix_fmt", "yuv420p"])])
def test_an_mp4_cut_by_copy_has_the_frames_that_begin_within_the_cut(contorno, tmp_path, name, options, begin):
    ffmpeg(tmp_path, *MOVING, *options, "whole-" + name)
    ffmpeg(tmp_path, "-ss", begin, "-i", "whole-" + name, "-t", 0.813, "-c", "copy", name)
    pictures, times = record(contorno, tmp_path / name)
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / name))
    assert_same_times(times, times_by_ffprobe(tmp_path / name))
    assert 0 <= times[0] < 0.04


def test_the_frames_of_a_cut_motion_jpeg_are_those_whose_packets_are_kept(contorno, tmp_path):
    """ffmpeg decodes the one before the cut too, but says that it is to be left out."""
    ffmpeg(tmp_path, *MOVING, "-c:v", "mjpeg", "-q:v", 3, "whole.mov")
    ffmpeg(tmp_path, "-ss", 0.3, "-i", "whole.mov", "-c", "copy", "cut.mov")
    pictures, _ = record(contorno, tmp_path / "cut.mov")
    decoded = decoded_by_ffmpeg(tmp_path / "cut.mov")
    flags = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=flags", "-of", "csv=p=0", "cut.mov"], cwd=tmp_path,
                           capture_output=True, text=True, check=True).stdout.split()
    assert "D" in flags[0]
    assert_same_pictures(pictures, [picture for picture, flag in zip(decoded, flags) if "D" not in flag])


def test_a_cut_mp4_can_be_begun_later_limited_and_played_in_a_loop(contorno, tmp_path):
    ffmpeg(tmp_path, *MOVING, "-c:v", "libx264", "-g", 40, "-bf", 3, "-pix_fmt", "yuv420p", "whole.mp4")
    ffmpeg(tmp_path, "-ss", 0.7, "-i", "whole.mp4", "-t", 0.813, "-c", "copy", "cut.mp4")
    whole, _ = record(contorno, tmp_path / "cut.mp4")
    (tmp_path / "cut.mp4-recorded").rename(tmp_path / "whole")
    some, _ = record(contorno, tmp_path / "cut.mp4", "--set", "source.start=3", "--set", "source.every=4")
    assert_same_pictures(some, whole[3::4])
    (tmp_path / "cut.mp4-recorded").rename(tmp_path / "some")
    twice, times = record(contorno, tmp_path / "cut.mp4", "--set", "source.loop=true", "--set", f"source.limit={2 * len(whole)}")
    assert_same_pictures(twice, whole + whole)
    np.testing.assert_allclose(np.diff(times), 0.04, atol=0.021)  # where the rounds meet


@pytest.mark.parametrize("name, codec, pixels", [
    ("animation.mov", "qtrle", "rgb24"), ("grey.mov", "qtrle", "gray"), ("video.mov", "rpza", "rgb555le"),
    ("cinepak.mov", "cinepak", "rgb24"), ("cram.avi", "msvideo1", "rgb555le"), ("screen.avi", "zmbv", "bgr0"),
    ("flash.flv", "flashsv", "bgr24"), ("sorenson.flv", "flv1", "yuv420p"), ("packed.avi", "mpeg4", "yuv420p")])
def test_a_still_scene_has_all_its_frames_at_their_times(contorno, tmp_path, name, codec, pixels):
    ffmpeg(tmp_path, *STILL, "-c:v", codec, "-pix_fmt", pixels, name)
    pictures, times = record(contorno, tmp_path / name)
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / name))
    assert_same_times(times, times_by_ffprobe(tmp_path / name))


def test_frames_that_say_that_nothing_has_changed_are_shown_at_their_own_times(contorno, tmp_path):
    """Uneven times: they cannot be made up of the rate."""
    ffmpeg(tmp_path, "-f", "lavfi", "-i", "testsrc=size=192x108:rate=2:duration=2,fps=10,settb=1/1000,setpts='PTS+0.4*mod(N,2)/10/TB'", "-c:v",
           "qtrle", "-fps_mode", "passthrough", "holds.mov")
    pictures, times = record(contorno, tmp_path / "holds.mov")
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / "holds.mov"))
    assert_same_times(times, times_by_ffprobe(tmp_path / "holds.mov"))
    assert len(set(np.round(np.diff(times), 3))) > 1


def write_gif(path, durations, **options):
    pictures = [np.full((64, 96, 3), (30, 60, 90), np.uint8) for _ in durations]
    for index, picture in enumerate(pictures):
        cv2.circle(picture, (10 + 12 * index, 30), 9, (200, 40, 40), -1)
    first, *others = map(Image.fromarray, pictures)
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0, **options)


@pytest.mark.parametrize("durations", [[100, 300, 50, 50, 400, 100], [40, 40, 40, 40], [20, 1000, 30, 70], [650_000, 10_000]])
def test_the_frames_of_a_gif_are_shown_when_it_says(contorno, tmp_path, durations):
    write_gif(tmp_path / "clip.gif", durations)
    pictures, times = record(contorno, tmp_path / "clip.gif")
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / "clip.gif"))
    with Image.open(tmp_path / "clip.gif") as image:
        told = []
        for frame in range(image.n_frames):
            image.seek(frame)
            told.append(image.info["duration"])
    np.testing.assert_allclose(times, np.cumsum([0, *told[:-1]]) / 1e3)
    np.testing.assert_allclose(times, times_by_ffprobe(tmp_path / "clip.gif"))


@pytest.mark.parametrize("disposal", [0, 1, 2, 3])
def test_a_gif_whose_frames_have_no_time_is_shown_as_players_do(contorno, tmp_path, disposal):
    write_gif(tmp_path / "clip.gif", [0, 10, 20, 0, 40], disposal=disposal)
    pictures, times = record(contorno, tmp_path / "clip.gif")
    assert_same_pictures(pictures, decoded_by_ffmpeg(tmp_path / "clip.gif"))
    np.testing.assert_allclose(times, times_by_ffprobe(tmp_path / "clip.gif"))


def test_the_rate_of_a_gif_is_the_mean_of_its_frames(contorno, tmp_path):
    write_gif(tmp_path / "clip.gif", [100, 300, 50, 50, 400, 100])
    (tmp_path / "graph.yaml").write_text("source: {type: video, location: clip.gif}\nstages: [preprocess]\nsinks: []\n")
    contorno("run", "graph.yaml", "--report", "report.json", cwd=tmp_path)
    assert json.loads((tmp_path / "report.json").read_text())["source"].endswith("96x64, 6 frames/s")
