"""Videos that were cut off or damaged never count as whole, and whole ones always do."""
import json
import shlex
import shutil
import signal
import subprocess

import cv2
import pytest
from tests.conftest import PROGRAM, read_lines
from tests.plugins.gst.videos import CHAINS, FRAMES, GRAPH, VP8, overwritten, pictures, record, with_concealed_pictures
from tests.waiting import has_lines, wait_for


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    for extension, chain in CHAINS.items():
        record(folder / f"clip.{extension}", chain)
    return folder


@pytest.fixture
def play(contorno, tmp_path):
    """Runs a video; returns the process, the report and what the contour file says of the frames."""
    def run(video, *arguments, source=None):
        graph = tmp_path / "graph.yaml"
        graph.write_text(GRAPH)
        out = tmp_path / "out"
        done = contorno("run", graph, "--input", video, "--output", out, "--report", tmp_path / "report.json",
                        *arguments, check=False)
        report = json.loads((tmp_path / "report.json").read_text())
        return done, report, read_lines(out / "contours.jsonl")
    return run


def frames_of(path):
    """How many frames another reader gets, and their times in ms."""
    reader = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    times = []
    while reader.read()[0]:
        times.append(reader.get(cv2.CAP_PROP_POS_MSEC))
    return len(times), times


@pytest.mark.parametrize("extension", CHAINS)
def test_a_whole_video_is_whole(videos, play, extension):
    video = videos / f"clip.{extension}"
    done, report, _ = play(video)
    assert (done.returncode, report["source_faults"], report["frames"]["out"]) == (0, [], FRAMES), done.stderr
    for arguments in (["--frames", 7], ["--set", "source.limit=7"], ["--set", "source.start=44"],
                      ["--set", "source.every=8"]):
        done, report, _ = play(video, *arguments)
        assert (done.returncode, report["source_faults"], report["frames"]["out"]) == (0, [], 7), done.stderr


@pytest.mark.parametrize("part", [0.35, 0.6, 0.95])
@pytest.mark.parametrize("extension", ["mp4", "mkv", "webm", "avi"])
def test_a_video_that_was_cut_off_says_how_much_is_missing(videos, play, tmp_path, extension, part):
    data = (videos / f"clip.{extension}").read_bytes()
    cut = tmp_path / f"cut.{extension}"
    cut.write_bytes(data[:int(len(data) * part)])
    done, report, lines = play(cut)
    assert done.returncode == 3
    came = report["frames"]["out"]
    assert len(lines) == came and abs(came - frames_of(cut)[0]) <= 1
    (fault,) = report["source_faults"]
    assert fault["missing"] == FRAMES - came
    assert fault["reason"].startswith(f"{cut}: {came} of {FRAMES} frames came; the file is cut off")
    assert fault["reason"] in done.stdout
    done, _, _ = play(cut, "--quiet")
    assert done.stdout == "" and fault["reason"] in done.stderr


@pytest.mark.parametrize("extension", ["ts", "ogv"])
def test_a_cut_video_of_unknown_length_says_that_it_is_cut_off(videos, play, tmp_path, extension):
    data = (videos / f"clip.{extension}").read_bytes()
    cut = tmp_path / f"cut.{extension}"
    cut.write_bytes(data[:len(data) // 2 // 188 * 188 + 100])
    done, report, _ = play(cut)
    assert done.returncode == 3
    (fault,) = report["source_faults"]
    assert 10 < report["frames"]["out"] < 45
    assert "the file is cut off" in fault["reason"]


@pytest.mark.parametrize("extension", ["mkv", "mp4", "avi"])
def test_a_cut_video_that_is_played_as_from_a_camera_is_cut_all_the_same(videos, play, tmp_path, extension):
    data = (videos / f"clip.{extension}").read_bytes()
    cut = tmp_path / f"cut.{extension}"
    cut.write_bytes(data[:int(0.6 * len(data))])
    done, report, _ = play(cut, "--live")
    assert done.returncode == 3, done.stderr
    (fault,) = report["source_faults"]
    assert fault["missing"] > 5 and report["frames"]["in"] + fault["missing"] == FRAMES


def test_frames_that_the_decoder_left_out_are_missing(videos, play, tmp_path):
    """The beginnings of all pictures but the key frames are overwritten: nothing can be decoded from them."""
    data = bytearray((videos / "clip.mp4").read_bytes())
    start = data.index(b"mdat") + 4
    positions = [at for at in range(start, len(data) - 5) if 20 < int.from_bytes(data[at:at + 4], "big") < 20000
                 and data[at + 4] & 0x1F == 1 and data[at + 4] & 0x80 == 0 and data[at + 4] & 0x60]
    assert positions
    for at in positions[5:35]:
        data[at + 4:at + 24] = b"\xff" * 20
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(data)
    done, report, _ = play(damaged)
    assert done.returncode == 3
    came = report["frames"]["out"]
    assert came + sum(fault["missing"] for fault in report["source_faults"]) == FRAMES
    assert came < FRAMES
    assert f"{came} of {FRAMES} frames came" in done.stdout


def test_times_begin_at_0_where_pictures_are_stored_in_another_order(play, tmp_path):
    path = tmp_path / "reordered.mp4"
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, cv2.VideoWriter_fourcc(*"avc1"), 15.0, (160, 120))
    if not writer.isOpened():
        pytest.skip("needs an encoder with B-frames")
    for picture in pictures(30):
        writer.write(picture)
    writer.release()
    count, times = frames_of(path)
    done, report, lines = play(path)
    assert (done.returncode, report["source_faults"], count) == (0, [], 30), done.stderr
    assert lines[0]["pts_ns"] == 0
    assert [line["pts_ns"] for line in lines] == pytest.approx([index * 1e9 / 15 for index in range(30)], abs=1000)
    # The other reader does not know the times of its last two frames.
    assert [line["pts_ns"] / 1e6 for line in lines[:28]] == pytest.approx(times[:28], abs=0.01)


def trimmed(whole, first, count, target):
    """The same mp4 with an edit list that shows `count` frames from the frame `first` on, as tools leave it that cut
    without encoding again."""
    data = bytearray(whole.read_bytes())

    def number(box, at, value=None):
        place = data.index(box) + 4 + at
        if value is not None:
            data[place:place + 4] = value.to_bytes(4, "big")
        return int.from_bytes(data[place:place + 4], "big")
    shown = number(b"mvhd", 12) * count // 25
    for box, at in ((b"mvhd", 16), (b"tkhd", 20), (b"elst", 8)):
        number(box, at, shown)
    number(b"elst", 12, number(b"mdhd", 12) * first // 25)
    target.write_bytes(data)
    return target


@pytest.mark.parametrize("first, count", [(0, 30), (2, 17), (7, 44), (1, FRAMES - 1), (9, 31), (3, 19), (24, 4)])
def test_an_mp4_with_an_edit_list_is_whole(videos, play, tmp_path, first, count):
    path = trimmed(videos / "clip.mp4", first, count, tmp_path / "clip.mp4")
    done, report, lines = play(path)
    assert (done.returncode, report["source_faults"], len(lines)) == (0, [], count), done.stderr
    assert [line["pts_ns"] for line in lines] == pytest.approx([index * 40_000_000 for index in range(count)], abs=1)
    assert frames_of(path)[0] == count


def test_recorded_videos_are_whole(real_data, play):
    for video in sorted((real_data / "video").iterdir()):
        done, report, _ = play(video, "--set", "source.every=10")
        assert (done.returncode, report["source_faults"]) == (0, []), f"{video}: {done.stderr}"


@pytest.mark.parametrize("extension", ["mkv", "webm"])
def test_a_block_that_the_demuxer_leaves_out_is_missing(videos, play, tmp_path, extension):
    """Readers go on behind a header that cannot be, and say nothing."""
    whole = videos / f"clip.{extension}"
    data = whole.read_bytes()
    cluster = data.index(b"\x1f\x43\xb6\x75")
    block = data.index(b"\xa3", cluster + 400)
    while data[block + 1] & 0xC0 != 0x40 or data[block + 3] != 0x81:
        block = data.index(b"\xa3", block + 1)
    damaged = overwritten(whole, block, 1, tmp_path / whole.name)
    done, report, lines = play(damaged)
    assert done.returncode == 3
    (fault,) = report["source_faults"]
    came = len(lines)
    assert came < FRAMES and fault["missing"] == FRAMES - came
    assert fault["reason"].startswith(
        f"{damaged}: {came} of {FRAMES} frames came; its structure is broken at byte {block}")


@pytest.mark.parametrize("extension", ["mkv", "webm"])
def test_vp8_of_a_profile_that_does_not_exist_is_damaged(videos, play, tmp_path, extension):
    whole = videos / f"clip.{extension}"
    data = bytearray(whole.read_bytes())
    block = data.index(b"\xa3", data.index(b"\x1f\x43\xb6\x75") + 400)
    while data[block + 1] & 0xC0 != 0x40 or data[block + 3] != 0x81:
        block = data.index(b"\xa3", block + 1)
    data[block + 7] |= 0x0E
    damaged = tmp_path / whole.name
    damaged.write_bytes(data)
    done, report, lines = play(damaged)
    assert (done.returncode, len(lines)) == (3, FRAMES)
    assert report["source_faults"] == [
        {"missing": 0, "reason": f"{damaged}: 1 of the frames that came is damaged; VP8 has no profile 7"}]


def test_pages_that_the_demuxer_leaves_out_are_missing(videos, play, tmp_path):
    whole = videos / "clip.ogv"
    data = whole.read_bytes()
    pages = [at for at in range(len(data)) if data[at:at + 4] == b"OggS"]
    page = pages[len(pages) // 2]
    damaged = overwritten(whole, page + 60, 2, tmp_path / "damaged.ogv")
    done, report, lines = play(damaged)
    assert done.returncode == 3
    (fault,) = report["source_faults"]
    assert len(lines) < FRAMES and fault["missing"] == FRAMES - len(lines)
    assert f"; 1 page of it cannot be read, the first at byte {page}" in fault["reason"]
    without = tmp_path / "without.ogv"
    without.write_bytes(data[:page] + data[pages[len(pages) // 2 + 1]:])
    done, report, lines = play(without)
    assert done.returncode == 3
    (fault,) = report["source_faults"]
    assert fault["missing"] == FRAMES - len(lines) > 0
    assert "; pages of it are missing" in fault["reason"]


def test_a_picture_that_the_index_of_an_avi_does_not_name_is_missing(videos, play, tmp_path):
    whole = videos / "clip.avi"
    entry = whole.read_bytes().index(b"idx1") + 8 + 20 * 16
    damaged = overwritten(whole, entry, 1, tmp_path / whole.name)
    done, report, lines = play(damaged)
    assert (done.returncode, len(lines)) == (3, FRAMES - 1)
    assert report["source_faults"] == [{"missing": 1, "reason":
                                        f"{damaged}: {FRAMES - 1} of {FRAMES} frames came; "
                                        f"its index leads to {FRAMES - 1} of its {FRAMES} pictures"}]


def test_a_broken_chunk_of_an_avi_without_an_index_is_named(videos, play, tmp_path):
    whole = videos / "clip.avi"
    data = whole.read_bytes()
    chunk = data.index(b"movi") + 4
    for _ in range(20):
        size = int.from_bytes(data[chunk + 4:chunk + 8], "little")
        chunk += 8 + size + size % 2
    index = data.index(b"idx1")
    without = tmp_path / "without.avi"
    without.write_bytes(data[:index] + b"JUNK" + data[index + 4:])
    done, report, lines = play(without)
    assert (done.returncode, report["source_faults"], len(lines)) == (0, [], FRAMES), done.stderr
    damaged = overwritten(without, chunk, 4, tmp_path / "damaged.avi")
    done, report, lines = play(damaged)
    assert done.returncode == 3 and len(lines) < FRAMES
    (fault,) = report["source_faults"]
    assert fault["missing"] == FRAMES - len(lines)
    assert f"; its structure is broken at byte {chunk}" in fault["reason"]


def test_the_frames_that_an_avi_leaves_empty_are_not_missing(videos, play, tmp_path):
    """A frame without data repeats the one before."""
    data = bytearray((videos / "clip.avi").read_bytes())
    data[data.index(b"vids") + 32:data.index(b"vids") + 36] = (FRAMES + 2).to_bytes(4, "little")
    chunk, entry = b"00db" + bytes(4), bytearray(b"00db" + bytes(12))
    movie, index = data.index(b"movi"), data.index(b"idx1")
    entry[8:12] = (index - movie).to_bytes(4, "little")
    path = tmp_path / "clip.avi"

    def longer(at, by):
        data[at:at + 4] = (int.from_bytes(data[at:at + 4], "little") + by).to_bytes(4, "little")
    longer(4, 2 * (len(chunk) + len(entry)))
    longer(movie - 4, 2 * len(chunk))
    longer(index + 4, 2 * len(entry))
    path.write_bytes(data[:index] + 2 * chunk + data[index:] + 2 * entry)
    done, report, lines = play(path)
    assert (done.returncode, report["source_faults"]) == (0, []), done.stderr
    assert FRAMES <= len(lines) <= FRAMES + 2


@pytest.mark.parametrize("chain", ["matroskamux streamable=true", "webmmux streamable=true",
                                   "matroskamux min-cluster-duration=0 max-cluster-duration=100000000",
                                   "matroskamux offset-to-zero=true writing-app=another"])
def test_other_ways_to_write_a_container_are_whole(play, tmp_path, chain):
    path = tmp_path / "clip.mkv"
    record(path, f"{VP8} ! {chain}")
    done, report, _ = play(path)
    assert (done.returncode, report["source_faults"], report["frames"]["out"]) == (0, [], FRAMES), done.stderr


def pipeline_of(description):
    subprocess.run(["gst-launch-1.0", "-q", "-e", *shlex.split(description)], check=True, timeout=60,
                   stderr=subprocess.PIPE)


@pytest.mark.parametrize("extension, audio, muxer", [
    ("mkv", "vorbisenc", "matroskamux"), ("webm", "vorbisenc", "webmmux"), ("ogv", "vorbisenc", "oggmux"),
    ("avi", "identity", "avimux")])
def test_a_video_whose_sound_is_longer_is_whole(play, tmp_path, extension, audio, muxer):
    if not shutil.which("gst-launch-1.0"):
        pytest.skip("needs gst-launch-1.0")
    path = tmp_path / f"clip.{extension}"
    video = {"ogv": "theoraenc", "avi": "jpegenc"}.get(extension, VP8)
    pipeline_of(f"{muxer} name=m ! filesink location={path} "
                f"videotestsrc num-buffers=30 ! video/x-raw,width=160,height=120,framerate=25/1 ! {video} ! queue ! m. "
                f"audiotestsrc num-buffers=100 ! audioconvert ! {audio} ! queue ! m.")
    done, report, _ = play(path)
    came = report["frames"]["out"]
    assert (done.returncode, report["source_faults"], came) == (0, [], frames_of(path)[0]), done.stderr
    assert 28 <= came <= 30  # the recorder may leave out the last ones


@pytest.mark.parametrize("extension", ["mkv", "webm", "mp4"])
def test_a_video_of_variable_rate_is_whole(play, tmp_path, extension):
    if not shutil.which("gst-launch-1.0"):
        pytest.skip("needs gst-launch-1.0")
    path = tmp_path / f"clip.{extension}"
    pipeline_of(f"videotestsrc num-buffers=60 ! video/x-raw,width=160,height=120,framerate=30/1 ! "
                f"identity drop-probability=0.5 ! {CHAINS[extension]} ! filesink location={path}")
    done, report, _ = play(path)
    came = report["frames"]["out"]
    assert (done.returncode, report["source_faults"], came) == (0, [], frames_of(path)[0]), done.stderr
    assert 5 < came < 55


def test_pictures_that_the_decoder_conceals_are_damaged(videos, play, tmp_path):
    """All frames come, and the decoder only writes to its log that it could not read parts of one."""
    damaged = with_concealed_pictures(videos / "clip.mp4", tmp_path / "damaged.mp4")
    done, report, lines = play(damaged)
    assert (done.returncode, len(lines)) == (3, FRAMES)
    (fault,) = report["source_faults"]
    assert fault["missing"] == 0
    assert fault["reason"].startswith(f"{damaged}: {FRAMES} of {FRAMES} frames came; ")
    assert fault["reason"].endswith("(reported by libav)")
    assert "0x" not in done.stderr  # the log itself is not printed


def jpegs(count=FRAMES):
    return [cv2.imencode(".jpg", picture)[1].tobytes() for picture in pictures(count)]


def flipped(jpeg):
    """With three codes in the middle of the picture changed: it still decodes, to something else."""
    data = bytearray(jpeg)
    middle = len(data) // 2
    data[middle:middle + 12] = bytes(byte ^ 0x55 if byte != 0xFF else byte for byte in data[middle:middle + 12])
    return bytes(data)


def record_jpegs(path, all_of_them):
    """A film of exactly these pictures."""
    if not shutil.which("gst-launch-1.0"):
        pytest.skip("needs gst-launch-1.0")
    folder = path.parent / "pictures"
    folder.mkdir()
    for index, jpeg in enumerate(all_of_them):
        (folder / f"{index:03}.jpg").write_bytes(jpeg)
    avi = path.with_suffix(".avi")
    pipeline_of(f"multifilesrc location={folder}/%03d.jpg caps=image/jpeg,width=160,height=120,framerate=25/1 ! "
                f"avimux ! filesink location={avi}")
    if path != avi:
        muxer = {".mov": "qtmux", ".mkv": "matroskamux"}[path.suffix]
        pipeline_of(f"filesrc location={avi} ! avidemux ! {muxer} ! filesink location={path}")


@pytest.mark.parametrize("extension", ["avi", "mov", "mkv"])
def test_motion_jpeg_that_the_decoder_paints_over_is_damaged(play, tmp_path, extension):
    path = tmp_path / f"clip.{extension}"
    film = jpegs()
    film[20], film[30] = flipped(film[20]), film[30][:len(film[30]) // 2]
    record_jpegs(path, film)
    done, report, lines = play(path)
    assert (done.returncode, len(lines)) == (3, FRAMES), done.stderr
    (fault,) = report["source_faults"]
    assert fault["missing"] == 0
    assert fault["reason"].startswith(f"{path}: 2 of the frames that came are damaged; Corrupt JPEG data: ")
    assert fault["reason"].endswith("(reported by libjpeg)")
    assert fault["reason"] in done.stdout
    done, report, _ = play(path, "--set", "source.limit=20")
    assert (done.returncode, report["source_faults"]) == (0, []), "nobody saw the damaged ones"


def test_motion_jpeg_from_a_pipe_is_looked_at_too(contorno, tmp_path):
    path = tmp_path / "clip.avi"
    film = jpegs()
    film[20] = flipped(film[20])
    record_jpegs(path, film)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    with path.open("rb") as pipe:
        done = contorno("run", tmp_path / "graph.yaml", "--input", "-", "--output", tmp_path / "out", stdin=pipe,
                        check=False)
    assert done.returncode == 3
    assert "1 of the frames that came is damaged; Corrupt JPEG data: " in done.stdout


@pytest.mark.parametrize("way", ["bytes before the end marker", "no end marker", "bytes behind the end marker",
                                 "two fields"])
def test_the_way_in_which_a_camera_writes_its_jpegs_is_no_damage(play, tmp_path, way):
    change = {"bytes before the end marker": lambda jpeg: jpeg[:-2] + b"abc" + jpeg[-2:],
              "no end marker": lambda jpeg: jpeg[:-2],
              "bytes behind the end marker": lambda jpeg: jpeg + bytes(5) + b"abc",
              "two fields": lambda jpeg: jpeg + bytes(2) + jpeg}[way]
    path = tmp_path / "clip.avi"
    film = [change(jpeg) for jpeg in jpegs()]
    record_jpegs(path, film)
    done, report, lines = play(path)
    assert (done.returncode, report["source_faults"], len(lines)) == (0, [], FRAMES), done.stderr
    shutil.rmtree(tmp_path / "pictures")
    whole = jpegs(21)[20]
    film[20] = change(whole[:len(whole) // 2] + whole[-2:])
    record_jpegs(path, film)
    done, report, _ = play(path)
    assert done.returncode == 3
    (fault,) = report["source_faults"]
    assert fault["reason"].startswith(f"{path}: 1 of the frames that came is damaged; Corrupt JPEG data: ")


def test_a_recording_that_is_interrupted_is_not_damaged(videos, tmp_path):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--input", videos / "clip.mp4", "--output", "out", "--quiet",
                                "--report", "report.json", "--set", "source.live=true", "--set", "source.loop=true"],
                               cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_for(has_lines(tmp_path / "out" / "contours.jsonl"))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130, process.stderr.read()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (report["interrupted"], report["source_faults"]) == (True, [])
    assert report["frames"]["out"] == len(read_lines(tmp_path / "out" / "contours.jsonl")) > 0


def test_a_gif_ends_with_its_last_frame(play, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "clip.gif"
    first, *others = [image.fromarray(picture[..., ::-1]) for picture in pictures(12)]
    first.save(path, save_all=True, append_images=others, duration=40, loop=0)
    done, report, lines = play(path)
    assert (done.returncode, report["source_faults"], len(lines)) == (0, [], 12), done.stderr
    assert [line["pts_ns"] for line in lines] == sorted({line["pts_ns"] for line in lines})


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_gif_that_is_cut_off_gives_its_whole_frames(play, tmp_path, share):
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "clip.gif"
    first, *others = [image.fromarray(picture[..., ::-1]) for picture in pictures(12)]
    first.save(path, save_all=True, append_images=others, duration=40, loop=0)
    data = path.read_bytes()
    ends = [at for at in range(len(data) - 1) if data[at:at + 2] in (b"\0!", b"\0;", b"\0,")]
    cut = int(max(share * len(data), ends[3] + 50))
    _, _, whole = play(path)
    path.write_bytes(data[:cut])
    done, report, lines = play(path)
    assert done.returncode == 3 and 0 < len(lines) < 12, done.stderr
    assert lines == whole[:len(lines)]
    (fault,) = report["source_faults"]
    assert fault["missing"] is None and "nobody knows how many are missing; the file is cut off" in fault["reason"]
