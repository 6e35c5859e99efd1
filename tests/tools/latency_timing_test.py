"""How exact the times of `contorno latency` are, and whether a slowdown of a tenth is found by measuring: on a machine that does
nothing else. These run with `tools/test timing` alone. latency_test.py and latency_figures_test.cpp have what holds on any."""
import json

import numpy as np
import pytest
from tests.tools.latency_test import BRIEF, DELAYS, STALL, WARM_UP, frames_of, graph, latency, one_server, rows_of
from tests.tools.latency_test import stalled  # noqa: F401  (a fixture)

pytestmark = pytest.mark.timing


def near(value, wanted, share=0.02):
    return abs(value - wanted) <= share * wanted


def test_known_delays_are_reported_per_stage_and_end_to_end_to_two_percent(stalled):  # noqa: F811
    report = json.loads((stalled / "open.json").read_text())
    times, _ = frames_of(stalled / "open.csv")
    frames = np.arange(WARM_UP, WARM_UP + 160)
    delays = np.loadtxt(stalled / "delays.txt")[frames]
    stage, row = times["delay"] - times["uploaded"], rows_of(report)["delay"]
    assert np.median(np.abs(stage / delays - 1)) < 0.02 and near(stage[frames == 100][0], delays[frames == 100][0])
    assert near(row["min_ms"], 30) and near(row["max_ms"], delays.max()) and near(row["mean_ms"], delays.mean())
    assert near(row["percentiles_ms"]["p50"], np.percentile(delays, 50, method="inverted_cdf"))
    wanted = one_server(times["due"], delays) - times["due"]
    found = times["result"] - times["due"]
    waited = wanted > 100
    assert found.min() < 30 * 1.02 and (found - wanted).max() < 5
    assert np.median(np.abs(found[waited] / wanted[waited] - 1)) < 0.02 and report["worst"][0]["frame"] == STALL


def test_in_a_closed_loop_a_single_frame_is_late(tmp_path):
    latency("--mode", "single", "--fps", 20, "--duration", "8s", *BRIEF, "--deadline", "100ms", "--report", "closed.json",
            text=graph(DELAYS), cwd=tmp_path)
    closed = json.loads((tmp_path / "closed.json").read_text())
    assert near(rows_of(closed)["due to result"]["max_ms"], 500) and closed["frames"]["late"] <= 2


def test_the_highest_rate_of_a_stage_of_20_ms_is_near_50_frames_a_second(tmp_path):
    latency("--mode", "saturate", "--deadline", "200ms", "--hold", 90, "--duration", "700ms", *BRIEF, "--report", "rate.json",
            text=graph(", constant: 20"), cwd=tmp_path)
    assert 25 <= json.loads((tmp_path / "rate.json").read_text())["settings"]["frames_per_second"] <= 60


KINDS = {"before": 60, "again": 60, "slower": 66, "faster": 45}


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    """Measurements of known delays, all of them in turns."""
    folder = tmp_path_factory.mktemp("turns")
    (folder / "graph.yaml").write_text(graph("", ", on_full: wait"))
    for turn in (1, 2):
        for kind, constant in KINDS.items():
            latency("graph.yaml", "--fps", 12, "--duration", "1500ms", *BRIEF, "--deadline", "20s", "--quiet", "--set",
                    f"delay.constant={constant}", "--report", f"{kind}{turn}.json", cwd=folder)
    latency("--from", "before1.json", "--from", "before2.json", "--quiet", "--report", "before.json", cwd=folder)
    return folder


def compared(folder, kind, *options):
    """What the comparison of both turns with those of `before` says, and what of it is worse."""
    done = latency("--from", f"{kind}1.json", "--from", f"{kind}2.json", "--compare", "before.json", *options, cwd=folder, code=None)
    return done, [line.split()[:-1] for line in done.stdout.splitlines() if line.endswith(" WORSE")]


def test_two_runs_of_one_build_are_within_noise(turns):
    done, worse = compared(turns, "again")
    assert done.returncode == 0 and "COMPARED  not worse" in done.stdout and worse == [], done.stdout
    assert "not the same as before" not in done.stdout


def test_a_planted_slowdown_of_a_tenth_is_found(turns):
    slower, worse = compared(turns, "slower")
    assert slower.returncode == 1 and "COMPARED  WORSE" in slower.stdout, slower.stdout
    assert ["due", "to", "result", "p50"] in [line[:4] for line in worse]
    assert ["delay", "p50"] in [line[:2] for line in worse]
    assert "not the same as before: --set" in slower.stdout
    tolerated, _ = compared(turns, "slower", "--tolerance", 100)
    assert tolerated.returncode == 0 and "COMPARED  not worse" in tolerated.stdout
    faster, worse = compared(turns, "faster")
    assert faster.returncode == 0 and "better" in faster.stdout and worse == [], faster.stdout
