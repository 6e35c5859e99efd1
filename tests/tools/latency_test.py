"""contorno latency, on a stage of known delays (latency_faults.cpp): what it reports is compared with a simulation of one
server and with NumPy on the samples."""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import cv2
import numpy as np
import pytest
from tests.conftest import PROGRAM, run_contorno

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAULTS = pathlib.Path(PROGRAM).parent / "latency_faults"
WARM_UP = 30
BRIEF = ("--warmup", "100ms", "--no-probe-cost")


def graph(delay="", settings=""):
    return (f"pipeline: {{backend: cpu, threads: 1{settings}}}\n"
            "source: {type: synthetic, frame_size: [64, 32], classes: 2, frames: 4}\n"
            "classes: [{name: a}, {name: b}]\n"
            f"stages:\n  - {{type: delay{delay}}}\n  - marching_squares\n  - contour_assembly\n"
            "sinks:\n  - {type: jsonl, path: contours.jsonl}\n")


def latency(*arguments, code=0, text=None, cwd=None, delays=""):
    """Runs the program with the stage `delay`; `text` is the graph, `delays` a file for how long the stage really slept."""
    if text:
        (cwd / "graph.yaml").write_text(text)
        arguments = ("graph.yaml", *arguments)
    done = subprocess.run([str(FAULTS), "latency", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=300,
                          env={**os.environ, "CONTORNO_BACKEND": "cpu", **({"CONTORNO_TEST_DELAYS": delays} if delays else {})})
    assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def rows_of(report):
    return {row["name"]: row for row in report["rows"]}


def frames_of(path):
    """The frames after the warm-up, times in ms."""
    rows = [row for row in csv.DictReader(path.open()) if row["warm_up"] == "0"]
    number = lambda text: float(text) / 1e6 if text else np.nan
    times = {key: np.array([number(row[key]) for row in rows]) for key in rows[0]
             if key not in ("repeat", "camera", "frame", "warm_up", "outcome")}
    return times, [row["outcome"] for row in rows]


def one_server(due, delays):
    """When each frame is done that waits for the one before."""
    done, last = [], -np.inf
    for begin, delay in zip(due, delays):
        last = max(begin, last) + delay
        done.append(last)
    return np.array(done)


STALL = WARM_UP + 40
DELAYS = f", constant: 30, slow: 45, slow_every: 100, stall: 500, stall_at: {STALL}"


@pytest.fixture(scope="module")
def stalled(tmp_path_factory):
    """20 frames/s for 8 s: 30 ms, one in a hundred 45 ms, and once 500 ms. Nothing is dropped."""
    folder = tmp_path_factory.mktemp("stalled")
    latency("--fps", 20, "--duration", "8s", *BRIEF, "--deadline", "100ms", "--report", "open.json", "--csv", "open.csv", "--html",
            "open.html", "--trace", "open-trace.json", text=graph(DELAYS, ", on_full: wait"), cwd=folder, code=4,
            delays="delays.txt")
    return folder


def test_known_delays_are_reported_per_stage_and_end_to_end(stalled):
    report = json.loads((stalled / "open.json").read_text())
    times, outcomes = frames_of(stalled / "open.csv")
    assert outcomes == ["delivered"] * 160
    frames = np.arange(WARM_UP, WARM_UP + 160)
    assert np.allclose(times["due"], frames * 50)
    # What the stage measured of itself: on a busy machine a sleep is longer than it was asked to be, never shorter, and whatever
    # else happens lies around it. How exact times are on an idle machine: latency_timing_test.py.
    delays = np.loadtxt(stalled / "delays.txt")[frames]
    asked = np.where(frames % 100 == 0, 45.0, 30.0)
    asked[frames == STALL] = 500
    assert (delays >= asked - 0.01).all()
    stage, row = times["delay"] - times["uploaded"], rows_of(report)["delay"]
    assert (stage >= delays - 0.01).all() and (stage - delays).min() < 0.02 * 30
    assert row["min_ms"] == pytest.approx(stage.min(), abs=2e-6) and row["max_ms"] == pytest.approx(stage.max(), abs=2e-6)
    # From end to end: those behind the stalled one waited for it.
    wanted = one_server(times["due"], delays) - times["due"]
    found = times["result"] - times["due"]
    assert (found > wanted - 0.01).all()
    assert report["worst"][0]["total_ms"] == pytest.approx(found.max(), abs=2e-6)
    assert report["worst"][0]["frame"] == frames[found.argmax()]
    assert report["frames"]["late"] == (found > 100).sum() >= (wanted > 100).sum() >= 15
    assert report["frames"]["longest_run_of_misses"] >= 15


def test_a_closed_loop_hides_the_stall(stalled, tmp_path):
    """The same frames, each sent when the one before is done: none waits for the stalled one."""
    latency("--mode", "single", "--fps", 20, "--duration", "8s", *BRIEF, "--deadline", "100ms", "--report", "closed.json", "--csv",
            "closed.csv", text=graph(DELAYS), cwd=tmp_path, delays="delays.txt")
    closed, opened = (json.loads(path.read_text()) for path in (tmp_path / "closed.json", stalled / "open.json"))
    assert closed["verdict"]["result"] == "NONE" and closed["settings"]["loop"] == "closed"
    assert opened["verdict"]["result"] == "FAIL" and opened["settings"]["loop"] == "open"
    (times, _), delays = frames_of(tmp_path / "closed.csv"), np.loadtxt(tmp_path / "delays.txt")[WARM_UP:]
    assert (times["due"][1:] >= times["result"][:-1]).all()
    assert rows_of(closed)["due to result"]["max_ms"] >= delays.max() >= 500
    late = times["result"] - times["due"] > 100
    assert closed["frames"]["late"] == late.sum() and late[STALL - WARM_UP]
    # In the open loop frames are due while others are at work.
    times, _ = frames_of(stalled / "open.csv")
    assert (times["due"][1:] < times["result"][:-1]).sum() >= 9


def test_figures_are_those_of_numpy(stalled):
    report = json.loads((stalled / "open.json").read_text())
    times, _ = frames_of(stalled / "open.csv")
    for name, samples in (("due to result", times["result"] - times["due"]), ("delay", times["delay"] - times["uploaded"]),
                          ("timer and source", times["arrived"] - times["due"]), ("between results", np.diff(times["result"])),
                          ("sink jsonl", times["sink jsonl"] - times["sink jsonl begins"])):
        row = rows_of(report)[name]
        for key, figure in (("min_ms", np.min), ("max_ms", np.max), ("mean_ms", np.mean), ("jitter_ms", np.std)):
            assert row[key] == pytest.approx(figure(samples), abs=2e-6), (name, key)
        for share in (50, 90):
            wanted = np.percentile(samples, share, method="inverted_cdf")
            assert row["percentiles_ms"][f"p{share}"] == pytest.approx(wanted, abs=2e-6), name
        assert [row["percentiles_ms"][key] for key in ("p99", "p99.9", "p99.99")] == [None] * 3
        highest, counts = np.array(row["histogram_ns"]).T
        assert counts.sum() == row["count"] == len(samples)
        # Every sample lies in its bucket.
        spread = np.sort(np.repeat(highest / 1e6, counts))
        assert ((np.sort(samples) <= spread + 2e-6) & (spread <= np.sort(samples) * 1.008 + 2e-6)).all(), name


def test_the_parts_of_a_frame_are_its_whole_time(stalled):
    report = json.loads((stalled / "open.json").read_text())
    times, _ = frames_of(stalled / "open.csv")
    for worst in report["worst"]:
        assert sum(worst["parts_ms"].values()) == pytest.approx(worst["total_ms"], abs=1e-5)
        assert worst["due_s"] == pytest.approx(times["due"][worst["frame"] - WARM_UP] / 1e3, abs=1e-6)


def test_the_page_draws_the_slowest_frames_as_they_ran(stalled):
    """Each bar lies where its part began and ended, on one scale; the parts follow each other up to the result."""
    report, page = json.loads((stalled / "open.json").read_text()), (stalled / "open.html").read_text()
    drawings = re.findall(r"<summary>#(\d+): [^<]* due at [^<]*</summary>(<svg.*?</svg>)</details>", page)
    assert [int(frame) for frame, _ in drawings] == [worst["frame"] for worst in report["worst"]]
    scales = []
    for worst, (_, drawing) in zip(report["worst"], drawings):
        shown = [part for part in worst["trace"] if part[2] >= 0.005]
        bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>(.*?): ', drawing)
        assert [name for _, _, name in bars] == [name for name, _, _ in shown] and "delay" in [name for name, _, _ in shown]
        scales += [float(width) / ms for (_, width, _), (_, _, ms) in zip(bars, shown) if float(width) > 20]
        scales += [(float(x) - 170) / begin for (x, _, _), (_, begin, _) in zip(bars, shown) if float(x) > 190]
        ends = {name: begin + ms for name, begin, ms in worst["trace"]}
        assert ends["completion"] == pytest.approx(worst["total_ms"], abs=1e-5)
        for before, after in zip(worst["trace"], worst["trace"][1:]):
            assert after[1] == pytest.approx(before[1] + before[2], abs=1e-5)
    assert np.ptp(scales) < 0.01 * np.mean(scales)


def test_a_trace_has_the_slowest_frames_and_those_beside_them(stalled):
    events = json.loads((stalled / "open-trace.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    whole = {event["args"]["frame"]: event for event in slices if event["name"].startswith("frame ")}
    times, _ = frames_of(stalled / "open.csv")
    slowest = WARM_UP + np.argsort(times["result"] - times["due"])[-3:]  # on a busy machine others than those of the stall
    assert set(slowest.tolist()) <= set(whole) and len(whole) < 100
    worst = json.loads((stalled / "open.json").read_text())["worst"][0]
    assert whole[worst["frame"]]["dur"] / 1e3 == pytest.approx(worst["total_ms"], abs=1e-3)
    for event in slices:
        outer = whole[event["args"]["frame"]]
        assert event["ts"] >= outer["ts"] - 1e-3
        if event["name"] == "sink jsonl":
            assert event["tid"] == outer["tid"] + 1 and event["ts"] >= outer["ts"] + outer["dur"] - 1e-3
        else:
            assert event["tid"] == outer["tid"] and event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 1e-3


def test_every_frame_is_in_one_count(tmp_path):
    """Three times as many frames as the stage takes, and every tenth of those fails."""
    done = latency("--fps", 60, "--duration", "2s", *BRIEF, "--report", "r.json", "--csv", "r.csv", "--html", "r.html",
                   text=graph(", constant: 50, fail_every: 10", ", slots: 2"), cwd=tmp_path, code=4)
    report = json.loads((tmp_path / "r.json").read_text())
    frames, (_, outcomes) = report["frames"], frames_of(tmp_path / "r.csv")
    assert frames["offered"] == 120 == frames["delivered"] + frames["dropped"]["total"] + frames["failed"] + frames["in_flight"]
    assert outcomes.count("delivered") == frames["delivered"] and outcomes.count("failed") == frames["failed"] > 0
    assert outcomes.count("dropped: no free slot") == frames["dropped"]["ring_full"] > 60
    assert frames["misses"] == frames["late"] + frames["dropped"]["total"] + frames["failed"]
    assert report["missing_frames"] == [WARM_UP + i for i, one in enumerate(outcomes) if one not in ("delivered", "in flight")][:20]
    assert rows_of(report)["due to result"]["percentiles_of_offered_ms"]["p90"] == "infinite"
    assert "RESULT    FAIL" in done.stdout and "without result = inf" in done.stdout
    # The policy of the graph counts, and frames that waited too long are a reason of their own.
    latency("--fps", 60, "--duration", "1s", *BRIEF, "--report", "r.json", cwd=tmp_path, code=4,
            text=graph(", constant: 50", ", on_full: wait, deadline: 40"))
    dropped = json.loads((tmp_path / "r.json").read_text())["frames"]["dropped"]
    assert dropped["deadline"] > 0 and dropped["ring_full"] == 0


@pytest.mark.parametrize("planted", [0, 3])
def test_allocations_of_frames_on_their_way_are_counted(planted, tmp_path):
    done = latency("--fps", 20, "--duration", "1s", "--warmup", "100ms", "--deadline", "20s", "--report", "r.json", "--html", "r.html",
                   cwd=tmp_path, text=graph(f", allocations: {planted}", ", on_full: wait"))
    counted = json.loads((tmp_path / "r.json").read_text())["frame_allocations"]
    # One frame at a time, for 0.4 s: as many as the machine gets to.
    assert counted["frames"] > 0 and counted["count"] == planted * counted["frames"]
    sentence = f"{counted['count']} times by {counted['frames']} frames one at a time"
    assert sentence in done.stdout and sentence in (tmp_path / "r.html").read_text()
    again = latency("--from", "r.json", cwd=tmp_path)
    assert sentence in again.stdout


def test_a_report_names_its_build_and_its_input(tmp_path):
    """The checksum is that of the samples: the same for the same input, and another for another."""
    def environment(seed):
        latency("--fps", 20, "--duration", "500ms", *BRIEF, "--deadline", "20s", "--report", "r.json", cwd=tmp_path,
                text=graph("", ", on_full: wait").replace("frames: 4", f"frames: 4, seed: {seed}"))
        return json.loads((tmp_path / "r.json").read_text())["environment"]
    first, again, other = environment(1), environment(1), environment(2)
    assert re.fullmatch(r"CRC-32 [0-9a-f]{8} of the 4 frames held in memory", first["input"])
    assert first["input"] == again["input"] != other["input"]
    if shutil.which("git") and (ROOT / ".git").exists():
        commit = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        assert first["commit"].removesuffix("-dirty") == commit


def test_reports_are_put_together_and_shown_again(tmp_path):
    run = ("--fps", 50, "--duration", "1s", *BRIEF, "--deadline", "20s", "--quiet")
    latency(*run, "--report", "a.json", text=graph(", constant: 2", ", on_full: wait"), cwd=tmp_path)
    latency(*run, "--report", "b.json", text=graph(", constant: 2", ", on_full: wait"), cwd=tmp_path)
    latency("--from", "a.json", "--from", "b.json", "--report", "both.json", "--quiet", cwd=tmp_path)
    a, b, both = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("a", "b", "both"))
    assert both["merged"] == 2 and both["frames"]["offered"] == 100
    for name, row in rows_of(both).items():
        if name in rows_of(a) and name in rows_of(b):
            assert row["count"] == rows_of(a)[name]["count"] + rows_of(b)[name]["count"]
            assert row["max_ms"] == max(rows_of(a)[name]["max_ms"], rows_of(b)[name]["max_ms"])
    table = latency("--from", "both.json", cwd=tmp_path).stdout
    assert "merged    from 2 reports" in table and "RESULT    PASS" in table
    latency("--from", "a.json", "--from", "b.json", "--assert", "p50>1h", cwd=tmp_path, code=4)


def test_a_report_put_together_with_itself_has_no_two_pieces_at_one_time(tmp_path):
    latency("--fps", 50, "--duration", "500ms", *BRIEF, "--deadline", "20s", "--quiet", "--report", "a.json", "--repeat", 2,
            text=graph(", constant: 2", ", on_full: wait"), cwd=tmp_path)
    latency("--from", "a.json", "--from", "a.json", "--report", "both.json", "--quiet", cwd=tmp_path)
    one, both = (json.loads((tmp_path / f"{name}.json").read_text())["series"] for name in ("a", "both"))
    begins = [piece[0] for piece in both]
    assert len(both) == 2 * len(one) and all(b - a > 1e-6 for a, b in zip(begins, begins[1:])), begins
    assert begins[len(one)] == pytest.approx(2 * begins[len(one) - 1] - begins[len(one) - 2])


def test_another_input_is_said_before_any_verdict(tmp_path):
    run = ("--fps", 50, "--duration", "500ms", *BRIEF, "--deadline", "20s", "--quiet")
    for name, seed in (("a", 1), ("b", 2)):
        text = graph(", constant: 2", ", on_full: wait").replace("type: synthetic", f"type: synthetic, seed: {seed}")
        assert f"seed: {seed}" in text
        latency(*run, "--report", f"{name}.json", text=text, cwd=tmp_path)
    done = latency("--from", "b.json", "--compare", "a.json", "--tolerance", 1000, cwd=tmp_path, code=None)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("compare   ANOTHER INPUT than before (the input: CRC-32 "), done.stdout
    assert any(line.startswith("RESULT") for line in lines[1:]) and ", of another input: " in done.stdout
    same = latency("--from", "a.json", "--compare", "a.json", cwd=tmp_path)
    assert "ANOTHER INPUT" not in same.stdout


def test_a_report_that_contradicts_itself_is_refused(tmp_path):
    latency("--fps", 50, "--duration", "500ms", *BRIEF, "--deadline", "20s", "--quiet", "--report", "a.json",
            text=graph(", constant: 2", ", on_full: wait"), cwd=tmp_path)
    report = json.loads((tmp_path / "a.json").read_text())
    report["frames"]["offered"] += 1400
    (tmp_path / "b.json").write_text(json.dumps(report))
    for arguments in (("--from", "b.json"), ("--from", "a.json", "--from", "b.json"), ("--from", "a.json", "--compare", "b.json")):
        done = run_contorno("latency", *arguments, cwd=tmp_path, check=False)
        assert done.returncode == 65 and "b.json: no latency report: its counts contradict each other: 1425 frames were offered" in done.stderr


def test_the_highest_rate_and_the_most_cameras_are_found(tmp_path):
    """A stage of 20 ms takes 50 frames a second and not more; a busy machine takes fewer, or none within 200 ms."""
    done = latency("--mode", "saturate", "--deadline", "200ms", "--hold", 90, "--duration", "700ms", *BRIEF, "--report", "rate.json",
                   text=graph(", constant: 20"), cwd=tmp_path, code=None)
    assert done.returncode in (0, 69), done.stderr
    if done.returncode == 0:
        report = json.loads((tmp_path / "rate.json").read_text())
        held = [one["frames_per_second"] for one in report["search"] if one["held"]]
        assert report["settings"]["frames_per_second"] == max(held) <= 60
    latency("--mode", "cameras", "--fps", 10, "--most-cameras", 3, "--deadline", "20s", "--duration", "500ms", *BRIEF, "--report",
            "cameras.json", text=graph(", constant: 20", ", on_full: wait"), cwd=tmp_path)
    report = json.loads((tmp_path / "cameras.json").read_text())
    assert report["settings"]["cameras"] == 3 and report["frames"]["offered"] == 3 * 5
    none = latency("--mode", "saturate", "--deadline", "1ms", "--duration", "300ms", *BRIEF, text=graph(", constant: 20"),
                   cwd=tmp_path, code=69)
    assert "no rate holds 1 ms" in none.stderr


def test_assertions_decide_the_exit_code(tmp_path):
    run = ("--fps", 50, "--duration", "500ms", *BRIEF, "--deadline", "20s")
    text = graph(", constant: 2", ", on_full: wait")
    done = latency(*run, "--assert", "p50<20s", "--assert", "delay.min>=2ms", "--assert", "misses==0", text=text, cwd=tmp_path)
    assert done.stdout.count("assert    held: ") == 3
    assert "assert    failed: delay.p50<1ms" in latency(*run, "--assert", "delay.p50<1ms", text=text, cwd=tmp_path, code=4).stdout
    assert "n/a (needs 1000 frames, have 25)" in latency(*run, "--assert", "p99<1s", text=text, cwd=tmp_path, code=5).stdout
    wrong = latency(*run, "--assert", "dealy.p50<1ms", text=text, cwd=tmp_path, code=2)
    assert "there is no part 'dealy' (did you mean 'delay'?)" in wrong.stderr


def test_sinks_write_into_a_folder_that_is_removed_unless_one_is_named(tmp_path):
    run = ("--fps", 50, "--duration", "200ms", *BRIEF, "--deadline", "20s", "--quiet")
    text = graph("", ", on_full: wait")
    latency(*run, text=text, cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"graph.yaml"}
    latency(*run, "--output", "kept", "--cameras", 2, text=text, cwd=tmp_path)
    for camera in (1, 2):
        assert len((tmp_path / "kept" / f"camera-{camera}" / "contours.jsonl").read_text().splitlines()) == WARM_UP + 10
    latency(*run, "--output", "none", "--no-sinks", text=text, cwd=tmp_path)
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.parametrize("arguments, code, message", [
    ((), 2, "wanted is one of: a GRAPH to measure, --gst with a pipeline, --from with a report"),
    (("g.yaml", "--duration", "60"), 2, "--duration is '60', wanted a time with its unit"),
    (("g.yaml", "--deadline", "0ms"), 2, "--deadline is 0, allowed a time above 0"),
    (("g.yaml", "--deadline", "0s", "--mode", "single"), 2, "--deadline is 0, allowed a time above 0"),
    (("g.yaml", "--duration", "0s"), 2, "--duration is 0, allowed a time above 0"),
    (("g.yaml", "--arrival", "bursts"), 2, "--arrival is 'bursts', wanted fixed, poisson, or burst:N"),
    (("g.yaml", "--fps", "0"), 2, "--fps is 0, allowed"),
    (("g.yaml", "--mode", "saturate", "--fps", "5"), 2, "--mode saturate searches for the rate"),
    (("g.yaml", "--mode", "single", "--arrival", "poisson"), 2, "it has no --arrival"),
    (("g.yaml", "--preload", "0", "--cameras", "2"), 2, "need frames that are held in memory"),
    (("g.yaml", "--assert", "p99<100"), 2, "'100' is no time with its unit"),
    (("g.yaml", "--tolerance", "3"), 2, "--tolerance goes with --compare"),
    (("g.yaml", "--seed", "3"), 2, "--seed goes with --arrival poisson"),
    (("g.yaml", "--most-cameras", "3"), 2, "--most-cameras goes with --mode cameras"),
    (("g.yaml", "--mode", "single", "--hold", "99"), 2, "--hold goes with an open loop"),
    (("--from", "none.json", "--fps", "5", "--deadline", "1s"), 2,
     "--from shows what was measured before: --fps, --deadline would have no effect"),
    (("--gst", "fakesrc ! fakesink", "--no-sinks"), 2, "at the pace of its own source: --no-sinks would have no effect"),
    (("g.yaml", "--compare", "none.json"), 66, "none.json"),
    (("--from", "none.json"), 66, "none.json"),
    (("none.yaml",), 66, "none.yaml"),
])
def test_a_wrong_command_line_is_told(arguments, code, message, tmp_path):
    (tmp_path / "g.yaml").write_text(graph().replace("  - {type: delay}\n", ""))
    done = run_contorno("latency", *arguments, cwd=tmp_path, check=False)
    assert done.returncode == code and message in done.stderr, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"g.yaml"}


def test_the_page_shows_its_charts_in_a_browser_without_any_network(stalled, tmp_path):
    page = (stalled / "open.html").read_text()
    assert "http:" not in page and "https:" not in page and "<script" not in page and "src=" not in page and "@import" not in page
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs the package chromium, for a screenshot of the page")
    picture = tmp_path / "page.png"
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={tmp_path / 'user'}",
                    "--window-size=980,2400", f"--screenshot={picture}", (stalled / "open.html").as_uri()], timeout=120,
                   capture_output=True, check=True)
    pixels = cv2.imread(str(picture))[..., ::-1].astype(int)
    shown = lambda colour: (np.abs(pixels - colour).max(axis=2) <= 3)
    # Bars and curves in blue, the stall's part in the chart of parts, the deadline's dashes in red.
    assert shown((0x2a, 0x6f, 0x97)).sum() > 3000 and shown((0xc8, 0x20, 0x3a)).sum() > 100
    assert np.ptp(np.nonzero(shown((0x2a, 0x6f, 0x97)).any(axis=1))[0]) > 500, "several charts below each other"


def test_nothing_of_a_chart_lies_outside_it(stalled):
    charts = re.findall(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)".*?</svg>', (stalled / "open.html").read_text(), re.S)
    bodies = re.findall(r"<svg viewBox=.*?</svg>", (stalled / "open.html").read_text(), re.S)
    assert len(charts) == len(bodies) > 2
    for (width, height), body in zip(charts, bodies, strict=True):
        places = {axis: [float(at) for at in re.findall(rf' {axis}[12]?="([-\d.e]+)"', body)] for axis in "xy"}
        assert places["x"] and 0 <= min(places["x"]) and max(places["x"]) <= float(width)
        assert places["y"] and 0 <= min(places["y"]) and max(places["y"]) <= float(height)
        assert "<text" in body


@pytest.mark.parametrize("mode", [("--mode", "saturate"), ("--mode", "cameras", "--fps", "50", "--most-cameras", "4"),
                                  ("--mode", "stream", "--fps", "50", "--repeat", "100"), ("--mode", "single")], ids=lambda mode: mode[1])
def test_a_signal_ends_a_measurement_at_whatever_moment_it_comes(tmp_path, mode):
    """Before the first one the system ends the program; later a report says what there is, also between two of a search."""
    (tmp_path / "graph.yaml").write_text(graph(", constant: 1"))
    codes = []
    for moment in range(5):
        with subprocess.Popen([str(FAULTS), "latency", "graph.yaml", *mode, "--deadline", "200ms", "--duration",
                               "20s" if mode[1] == "single" else "50ms", "--warmup", "10ms", "--no-probe-cost"], cwd=tmp_path,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "CONTORNO_BACKEND": "cpu"}) as process:
            time.sleep(0.8 + 0.087 * moment)
            process.terminate()
            process.communicate(timeout=60)
        codes.append(process.returncode)
    assert set(codes) <= {128 + signal.SIGTERM, -signal.SIGTERM}, codes
