"""contorno latency --probe-every N: frames whose parts are not timed have no zeros for times, are no less slow, and are counted."""
import csv
import json
import re

import pytest
from tests.tools.latency_test import BRIEF, WARM_UP, graph, latency, rows_of

EVERY = 3
STALL = WARM_UP + 11  # no multiple of 3
PARTS = ("start", "upload", "delay", "marching_squares", "contour_assembly", "download", "completion")


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """20 ms a frame, of which one in three is probed; one that is not stalls, and those behind it wait."""
    folder = tmp_path_factory.mktemp("sampled")
    latency("--fps", 25, "--duration", "4s", *BRIEF, "--deadline", "5s", "--probe-every", EVERY, "--report", "r.json", "--csv", "r.csv",
            "--html", "r.html", "--trace", "trace.json", text=graph(f", constant: 20, stall: 300, stall_at: {STALL}", ", on_full: wait"),
            cwd=folder)
    return folder


def test_only_frames_that_are_probed_have_times_of_parts(sampled):
    report = json.loads((sampled / "r.json").read_text())
    rows = list(csv.DictReader((sampled / "r.csv").open()))
    inner = ("started", "uploaded", "delay", "marching_squares", "contour_assembly", "downloaded")
    for row in rows:
        assert [bool(row[name]) for name in inner] == [int(row["frame"]) % EVERY == 0] * len(inner), row
        assert all(row[name] for name in ("due", "arrived", "launched", "result", "sink jsonl begins", "sink jsonl"))
    probed = sum(row["warm_up"] == "0" and int(row["frame"]) % EVERY == 0 for row in rows)
    assert report["settings"]["probe_every"] == EVERY
    assert report["frames"]["delivered"] == 100 and report["frames"]["probed"] == probed == 34
    for name, row in rows_of(report).items():
        assert row["count"] == {"between results": 99}.get(name, probed if name in PARTS else 100), name
        assert row["min_ms"] >= 0 and row["max_ms"] < 2000
    assert rows_of(report)["delay"]["min_ms"] >= 20 and rows_of(report)["delay"]["max_ms"] < 300
    assert rows_of(report)["due to result"]["max_ms"] >= 300


def test_the_slowest_frames_are_those_of_all_and_of_the_probed_ones(sampled):
    report = json.loads((sampled / "r.json").read_text())
    rows = [row for row in csv.DictReader((sampled / "r.csv").open()) if row["warm_up"] == "0"]
    took = {int(row["frame"]): (float(row["result"]) - float(row["due"])) / 1e6 for row in rows}
    slowest = lambda frames: sorted(frames, key=lambda frame: -took[frame])[:5]
    assert [one["frame"] for one in report["worst"]] == slowest(took)
    assert [one["frame"] for one in report["worst_probed"]] == slowest(frame for frame in took if frame % EVERY == 0)
    assert not all(one["probed"] for one in report["worst"]) and STALL in [one["frame"] for one in report["worst"]]
    for one in report["worst"] + report["worst_probed"]:
        assert one["probed"] == (one["frame"] % EVERY == 0)
        names = [name for name, _, _ in one["trace"]]
        assert names == ["timer and source", "queue", *(PARTS if one["probed"] else ("launch to result",)), "queue of sink jsonl",
                         "sink jsonl"]
        # Whether in one piece or in many, the parts are the whole time and follow each other.
        assert sum(one["parts_ms"].values()) == pytest.approx(one["total_ms"], abs=1e-5)
        for before, after in zip(one["trace"], one["trace"][1:]):
            assert after[1] == pytest.approx(before[1] + before[2], abs=1e-5)
    stalled = next(one for one in report["worst"] if one["frame"] == STALL)
    assert stalled["parts_ms"]["launch to result"] >= 300


def test_the_table_and_the_page_say_what_was_probed(sampled):
    report, page = json.loads((sampled / "r.json").read_text()), (sampled / "r.html").read_text()
    table = latency("--from", "r.json", cwd=sampled).stdout
    sentence = "the parts of 34 of 100 frames were timed, of those whose number is a multiple of 3"
    assert f"probed    {sentence}\n" in table and sentence in page
    assert re.search(r"n/a: p90 needs 100 frames, .*, have 100, of parts 34\n", table)
    lines = table.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("worst "))
    more = next(i for i, line in enumerate(lines) if line.startswith("of probed "))
    named = lambda some: [int(re.search(r"#(\d+)", line)[1]) for line in some]
    assert named(lines[first:first + 5]) == [one["frame"] for one in report["worst"]]
    for line in lines[first:first + 5]:
        assert line.endswith(" (not probed)") == (named([line])[0] % EVERY != 0), line
    beside = [one["frame"] for one in report["worst_probed"] if one["frame"] not in named(lines[first:first + 5])]
    assert beside and named(lines[more:more + len(beside)]) == beside
    assert "(not probed)" not in "".join(lines[more:more + len(beside)])
    drawn = [int(frame) for frame in re.findall(r"<summary>#(\d+): ", page)]
    assert drawn == named(lines[first:first + 5]) + beside and "<h2>The slowest probed frames</h2>" in page
    assert ">launch to result</text>" in page


def test_the_trace_has_the_slowest_probed_frames_too(sampled):
    events = json.loads((sampled / "trace.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    report = json.loads((sampled / "r.json").read_text())
    of = lambda frame: {event["name"]: event for event in slices if event["args"]["frame"] == frame}
    for one in report["worst"] + report["worst_probed"]:
        found = of(one["frame"])
        assert ("delay" in found) == one["probed"] != ("launch to result" in found)
        assert found[f"frame {one['frame']}"]["dur"] / 1e3 == pytest.approx(one["total_ms"], abs=1e-3)
    # Times that were not taken would lie at the clock's zero.
    begin = min(event["ts"] for event in slices)
    assert max(event["ts"] + event["dur"] for event in slices) - begin < 10e6


def test_reports_of_as_many_probed_frames_are_put_together(sampled, tmp_path):
    one = (sampled / "r.json").read_text()
    (tmp_path / "a.json").write_text(one)
    (tmp_path / "other.json").write_text(one.replace('"probe_every": 3', '"probe_every": 5'))
    latency("--from", "a.json", "--from", "a.json", "--report", "both.json", "--quiet", cwd=tmp_path)
    both, report = json.loads((tmp_path / "both.json").read_text()), json.loads(one)
    assert both["frames"]["probed"] == 68 and rows_of(both)["delay"]["count"] == 68
    twice = lambda worst: [frame["frame"] for frame in worst for _ in range(2)][:5]
    assert [frame["frame"] for frame in both["worst_probed"]] == twice(report["worst_probed"])
    refused = latency("--from", "a.json", "--from", "other.json", cwd=tmp_path, code=64)
    assert "are not put together (--probe-every: 3 and 5)" in refused.stderr
    compared = latency("--from", "other.json", "--compare", "a.json", cwd=tmp_path)
    assert "not the same as before: --probe-every" in compared.stdout and "COMPARED  not worse" in compared.stdout


def test_a_report_of_before_there_was_a_choice_has_all_frames_probed(sampled, tmp_path):
    old = json.loads((sampled / "r.json").read_text())
    del old["settings"]["probe_every"], old["frames"]["probed"], old["worst_probed"]
    for one in old["worst"]:
        del one["probed"]
    (tmp_path / "old.json").write_text(json.dumps(old))
    shown = latency("--from", "old.json", "--report", "new.json", cwd=tmp_path).stdout
    assert "probed" not in shown
    new = json.loads((tmp_path / "new.json").read_text())
    assert new["frames"]["probed"] == 100 and new["settings"]["probe_every"] == 1


def test_what_probes_cost_is_told_of_a_probed_frame_and_on_average(tmp_path):
    latency("--fps", 50, "--duration", "200ms", "--warmup", "100ms", "--deadline", "5s", "--probe-every", 4, "--report", "r.json",
            "--html", "r.html", text=graph(", constant: 1", ", on_full: wait"), cwd=tmp_path)
    cost = json.loads((tmp_path / "r.json").read_text())["probe_cost"]
    assert cost["every"] == 4 and cost["mean_percent"] == pytest.approx(cost["median_percent"] / 4)
    assert cost["least_percent"] <= cost["median_percent"] <= cost["most_percent"]
    sentence = f"{cost['mean_percent']:+.2f} % of a frame on average, as one in 4 is probed; all probed: {cost['median_percent']:+.2f} %"
    assert f"probes    {sentence}" in latency("--from", "r.json", cwd=tmp_path).stdout
    assert sentence in (tmp_path / "r.html").read_text()


def test_percentiles_of_parts_need_probed_frames(tmp_path):
    run = ("--fps", 500, "--duration", "400ms", *BRIEF, "--deadline", "5s", "--probe-every", 11)
    done = latency(*run, "--assert", "delay.p90<1s", text=graph("", ", on_full: wait"), cwd=tmp_path, code=5)
    assert "delay.p90<1s: n/a (needs 100 frames, have 18)" in done.stdout
    latency(*run, "--assert", "p90<1s", text=graph("", ", on_full: wait"), cwd=tmp_path)


@pytest.mark.parametrize("arguments, message", [
    (("graph.yaml", "--probe-every", 0), "--probe-every is 0, allowed a whole number"),
    (("--gst", "fakesrc ! fakesink", "--probe-every", 2), "at the pace of its own source: --probe-every would have no effect"),
])
def test_a_choice_of_frames_that_says_nothing_is_refused(arguments, message, tmp_path):
    (tmp_path / "graph.yaml").write_text(graph())
    assert message in latency(*arguments, cwd=tmp_path, code=2).stderr
