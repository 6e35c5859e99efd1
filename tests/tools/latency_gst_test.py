"""`contorno latency --gst` measures pipelines of GStreamer as they are, beside GStreamer's own tracer."""
import contextlib
import json
import os
import re
import subprocess
import time

import pytest
from tests.conftest import PROGRAM

GRAPH = """
classes: [{name: ball, references: ["#ffffff"]}, {name: rest, references: ["#000000"], hidden: true}]
stages: [classify, marching_squares, contour_assembly, overlay]
"""
CAPS = "video/x-raw,format=RGB,width=64,height=48,framerate=100/1"


def measure(contorno, folder, line, *options, code=0, report="report.json"):
    (folder / "graph.yaml").write_text(GRAPH)
    done = contorno("latency", "--gst", line, "--warmup", "0s", "--duration", "20s", "--report", report, *options, cwd=folder,
                    check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done, json.loads((folder / report).read_text())


def rows_of(report):
    return {row["name"]: row for row in report["rows"]}


def test_an_element_that_takes_its_time_is_found_and_the_tracer_agrees(contorno, tmp_path):
    line = (f"videotestsrc is-live=true num-buffers=100 ! {CAPS.replace('100/1', '20/1')} ! identity name=slow sleep-time=20000 ! "
            "contorno name=c config=graph.yaml ! fakesink name=end")
    done, report = measure(contorno, tmp_path, line, "--deadline", "10s")
    rows = rows_of(report)
    assert report["settings"]["mode"] == "pipeline" and report["settings"]["source"] == "videotestsrc0"
    assert report["verdict"]["result"] == "PASS" and report["frames"]["offered"] == report["frames"]["delivered"] == 100
    assert rows["slow"]["min_ms"] >= 20 and rows["due to end of sinks"]["min_ms"] >= 20
    for name in ("slow", "c"):
        # Both look at the same moments, one right after the other: what half of the frames took does not depend on the few
        # between whose looks another process ran.
        half, tracer = (rows[row]["percentiles_ms"]["p50"] for row in (name, f"tracer: {name}"))
        assert half == pytest.approx(tracer, rel=0.2, abs=0.2)
    whole = rows["due to end of sinks"]["mean_ms"] - rows["timer and source"]["mean_ms"]
    assert whole >= 20 and rows["tracer: videotestsrc0 to end"]["mean_ms"] == pytest.approx(whole, rel=0.5)
    assert "tracer: c " in done.stdout and "sink end" in rows


def test_a_live_source_that_is_held_up_counts_from_when_its_frames_were_due(contorno, tmp_path):
    """GStreamer's tracer begins when the source gets round to sending, so that it does not see the frames that wait."""
    line = (f"videotestsrc is-live=true num-buffers=30 ! {CAPS} ! identity sleep-time=30000 ! "
            "contorno config=graph.yaml ! fakesink name=end")
    _, report = measure(contorno, tmp_path, line, "--deadline", "100ms", code=4)
    rows = rows_of(report)
    assert rows["due to end of sinks"]["max_ms"] > 29 * 20 and report["verdict"]["result"] == "FAIL"
    assert rows["timer and source"]["max_ms"] > rows["tracer: videotestsrc0 to end"]["percentiles_ms"]["p50"] * 2


def test_a_sink_that_stops_for_good_is_named_and_what_the_source_owed_counts_as_missed(tmp_path):
    """The reader of the pipe takes a part of the film and then nothing more; the source can send no more and owes the rest."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    reading, writing = os.pipe()
    line = ("contornosrc frame-size=[64,48] maps-size=[64,48] classes=2 rate=100 ! contorno config=graph.yaml overlay=false ! "
            f"fdsink name=pipe fd={writing}")
    with subprocess.Popen([PROGRAM, "latency", "--gst", line, "--deadline", "500ms", "--warmup", "0s", "--duration", "4s", "--report",
                           "report.json"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=[writing]) as program:
        os.close(writing)
        left = 64 * 48 * 4 * 100
        while left > 0 and (taken := os.read(reading, left)):
            left -= len(taken)
        out, said = program.communicate(timeout=60)
    os.close(reading)
    assert program.returncode == 4, out + said
    report = json.loads((tmp_path / "report.json").read_text())
    frames = report["frames"]
    assert report["verdict"]["result"] == "FAIL" and 100 <= frames["delivered"] < 200 and frames["dropped"]["not_sent"] > 100
    assert frames["offered"] == frames["delivered"] + frames["dropped"]["total"] + frames["failed"] + frames["in_flight"]
    assert frames["offered"] > 300 and frames["in_flight"] <= 51
    assert "the sink 'pipe' took a frame" in report["verdict"]["sentence"] and "did not come back" in report["held_up"]
    assert "that the source owed" in out
    again = subprocess.run([PROGRAM, "latency", "--from", "report.json", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 4 and "the sink 'pipe' took a frame" in again.stdout


@pytest.mark.parametrize("queue", ["queue max-size-buffers=5", "queue max-size-buffers=5 leaky=downstream"])
def test_frames_that_were_due_while_a_slow_element_held_the_source_up_are_offered(contorno, tmp_path, queue):
    line = (f"videotestsrc is-live=true ! {CAPS.replace('100/1', '20/1')} ! {queue} ! contorno config=graph.yaml ! "
            "identity sleep-time=120000 ! fakesink name=end")
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = contorno("latency", "--gst", line, "--warmup", "1s", "--duration", "3s", "--deadline", "50ms", "--report", "report.json",
                    cwd=tmp_path, check=False)
    assert done.returncode == 4, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert 55 <= report["frames"]["offered"] <= 61 and report["settings"]["frames_per_second"] == pytest.approx(20, rel=0.05)
    assert report["frames"]["misses"] >= 50


def test_a_sink_that_is_too_slow_is_named(tmp_path):
    """It writes into a pipe whose reader takes a frame in 150 ms. One that waits for the time to show a frame is not slow."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    reading, writing = os.pipe()
    line = (f"videotestsrc is-live=true num-buffers=40 ! {CAPS.replace('100/1', '20/1').replace('RGB', 'RGBA')} ! contorno config=graph.yaml ! "
            f"tee name=t ! queue ! fakesink name=screen sync=true t. ! queue ! fdsink name=slow fd={writing}")
    with subprocess.Popen([PROGRAM, "latency", "--gst", line, "--deadline", "10ms", "--warmup", "0s", "--duration", "60s", "--report",
                           "report.json", "--quiet"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          pass_fds=[writing]) as program:
        os.close(writing)
        while os.read(reading, 64 * 48 * 4):
            time.sleep(0.15)
        out = program.communicate(timeout=60)[0]
    os.close(reading)
    assert program.returncode == 4, out
    report = json.loads((tmp_path / "report.json").read_text())
    sentence, rows = report["verdict"]["sentence"], rows_of(report)
    assert "sink slow keeps a frame for" in sentence and "but frames come every 50 ms" in sentence and "screen" not in sentence, sentence
    assert rows["in sink slow"]["mean_ms"] > 75 > rows["in sink screen"]["mean_ms"]


def test_every_frame_is_in_one_count_also_those_that_are_lost_on_the_way(contorno, tmp_path):
    line = (f"videotestsrc num-buffers=200 ! {CAPS} ! contorno config=graph.yaml ! identity drop-probability=0.3 ! "
            "tee name=t ! queue ! fakesink t. ! queue ! contornometa2json ! fakesink")
    done, report = measure(contorno, tmp_path, line)
    frames = report["frames"]
    assert frames["offered"] == 200 and 20 < frames["dropped"]["total"] < 120 and "left out on the way" in done.stdout
    assert frames["offered"] == frames["delivered"] + frames["dropped"]["total"] + frames["failed"] + frames["in_flight"]
    assert report["settings"]["loop"] == "closed" and report["verdict"]["result"] == "NONE"


def test_a_pipeline_whose_sinks_get_nothing_fails_and_one_that_ends_before_its_time_says_so(contorno, tmp_path):
    line = f"videotestsrc is-live=true num-buffers=100 ! {CAPS} ! contorno config=graph.yaml ! identity drop-probability=1 ! fakesink name=end"
    done, report = measure(contorno, tmp_path, line, code=4)
    assert report["frames"]["offered"] == 100 and report["frames"]["delivered"] == 0 and report["verdict"]["result"] == "FAIL"
    assert "the pipeline came to its end after" in done.stderr and "; 20 s were wanted" in done.stderr


def test_a_video_is_measured_from_its_demuxer_on(contorno, tmp_path):
    from tests.plugins.gst.videos import CHAINS, record
    record(tmp_path / "clip.mkv", CHAINS["mkv"], 40)
    line = "filesrc location=clip.mkv ! decodebin ! videoconvert ! contorno config=graph.yaml ! vp8enc deadline=1 ! matroskamux ! filesink location=out.mkv"
    _, report = measure(contorno, tmp_path, line, "--html", "page.html", "--csv", "frames.csv", "--trace", "trace.json")
    rows = rows_of(report)
    assert report["settings"]["source"].startswith("matroskademux") and report["frames"]["delivered"] == 40
    assert any(name.startswith("vp8dec") for name in rows) and "tracer: vp8enc0" in rows
    page = (tmp_path / "page.html").read_text()
    assert "filesrc location=clip.mkv" in page and "contorno0" in page
    assert (tmp_path / "frames.csv").read_text().count("\n") == 41 and "contorno0" in (tmp_path / "trace.json").read_text()


def test_reports_of_pipelines_are_read_back_and_compared(contorno, tmp_path):
    line = f"videotestsrc is-live=true num-buffers=60 ! {CAPS} ! contorno name=c config=graph.yaml ! fakesink"
    for name in ("before.json", "after.json"):
        measure(contorno, tmp_path, line, "--deadline", "10s", "--assert", "c.p50<5s", report=name)
    again = contorno("latency", "--from", "after.json", "--compare", "before.json", "--tolerance", "1000", "--report", "-", "--quiet",
                     cwd=tmp_path)
    after = json.loads((tmp_path / "after.json").read_text())
    assert json.loads(again.stdout.split("\ncompared")[0].rsplit("}", 1)[0] + "}")["rows"][0]["name"] == after["rows"][0]["name"]


@pytest.mark.parametrize(("line", "options", "words", "code"), [
    ("videotestsrc ! fakesink", (), "the pipeline has no element 'contorno'", 78),
    ("videotestsrc ! contornoo ! fakesink", (), "names elements that are not installed: contornoo", 69),
    ("videotestsrc ! contorno config=nowhere.yaml ! fakesink", (), "'nowhere.yaml' does not exist", 66),
    ("videotestsrc ! audioconvert ! contorno ! fakesink", (), "could not link", 78),
    ("videotestsrc num-buffers=0 ! contorno config=graph.yaml ! fakesink", (), "no frame with a time came", 65),
    ("videotestsrc ! contorno ! fakesink", ("graph.yaml",), "wanted is one of: a GRAPH to measure, --gst with a pipeline", 2),
    ("videotestsrc ! contorno ! fakesink", ("--deadline", "0ms"), "--deadline is 0, allowed a time above 0", 2),
    ("videotestsrc ! contorno ! fakesink", ("--fps", "10"), "at the pace of its own source", 2),
    ("videotestsrc ! contorno ! fakesink", ("--mode", "saturate"), "at the pace of its own source", 2),
])
def test_what_cannot_be_measured_says_why(contorno, tmp_path, line, options, words, code):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    done = contorno("latency", "--gst", line, "--duration", "1s", "--warmup", "0s", *options, cwd=tmp_path, check=False)
    assert done.returncode == code and words in done.stderr and "dispose" not in done.stderr, done.stderr


@pytest.mark.parametrize("options, shown", [((), True), (("--quiet",), False)])
def test_a_terminal_shows_how_far_the_measurement_is(tmp_path, options, shown):
    (tmp_path / "graph.yaml").write_text(GRAPH)
    terminal, of_program = os.openpty()
    line = f"videotestsrc is-live=true num-buffers=20 ! {CAPS} ! contorno config=graph.yaml ! fakesink"
    with subprocess.Popen([PROGRAM, "latency", "--gst", line, "--warmup", "0s", "--duration", "20s", "--deadline", "10s",
                           *options], cwd=tmp_path, stdout=subprocess.PIPE, stderr=of_program) as program:
        os.close(of_program)
        written = b""
        # A terminal that nobody holds open any more is an error to its reader.
        with contextlib.suppress(OSError):
            while part := os.read(terminal, 4096):
                written += part
        program.communicate()
    os.close(terminal)
    assert program.returncode == 0, written
    lines = re.findall(r"\r(\d+) of 20 s", written.decode())
    assert bool(lines) == shown
    if shown:
        assert lines[0] == "0" and [int(line) for line in lines] == sorted(int(line) for line in lines)
        # Nothing of the line stays behind the sentence that the pipeline ended.
        assert re.search(r"\r +\r[^\r]*the pipeline came to its end", written.decode())
