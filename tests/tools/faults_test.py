"""What the program does when memory ends, calls are interrupted, disks fill up, or a log is flooded: docs/architecture.md,
"Errors"."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from tests.conftest import GEOJSON, JSONL, PROGRAM, ROOT, maps_graph, read_lines

GRAPH = maps_graph(2, JSONL + GEOJSON, "backend: cpu, threads: 2, slots: 2")


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    """A library of faults to preload; its source says which."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs the compiler c++, of the Debian package build-essential")
    library = tmp_path_factory.mktemp("faults") / "preloaded.so"
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library,
                    ROOT / "tests" / "data" / "faults" / "preloaded.cpp", "-ldl"], check=True)
    return library


@pytest.fixture
def small(small):
    """With GeoJSON as well, and with the maps in one file: to read a folder, libstdc++ needs memory where it may not throw."""
    (small / "graph.yaml").write_text(GRAPH)
    np.save(small / "maps.npy", np.stack([np.load(small / "maps" / f"{frame}.npy") for frame in range(3)]))
    return small


def run_small(small, name, env=None, maps="maps", **kwargs):
    # OMP_WAIT_POLICY: with it the program does not start itself a second time.
    return subprocess.run([PROGRAM, "run", "graph.yaml", "--input", maps, "--output", name, "--quiet"], cwd=small,
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_WAIT_POLICY": "passive", **(env or {})}, **kwargs)


def test_whichever_allocation_fails_the_program_says_so(small, preloaded):
    whole = run_small(small, "whole", maps="maps.npy")
    assert whole.returncode == 0, whole.stderr
    expected = (small / "whole" / "contours.jsonl").read_bytes()
    number, failed = 1, 0
    while True:
        done = run_small(small, "out", {"LD_PRELOAD": str(preloaded), "FAULT_NEW": str(number)},
                         "maps.npy")
        came = "came" in done.stderr
        assert done.returncode in ((0, 3, 71) if came else (0,)), (number, done.returncode, done.stderr)
        if done.returncode == 0:
            assert (small / "out" / "contours.jsonl").read_bytes() == expected, number
        else:
            failed += 1
            assert done.returncode == 3 or "out of memory" in done.stderr, (number, done.stderr)
        if not came:
            break
        number += 1 + number // 8  # each of the first, then a sample
    assert failed > 20


def test_short_and_interrupted_reads_and_writes_change_nothing(small, preloaded):
    assert run_small(small, "whole").returncode == 0
    done = run_small(small, "out", {"LD_PRELOAD": str(preloaded), "FAULT_IO": "1"})
    assert done.returncode == 0, done.stderr
    for name in ("contours.jsonl", "contours.geojson"):
        assert (small / "out" / name).read_bytes() == (small / "whole" / name).read_bytes()


def test_whichever_write_fails_ends_with_74_and_whole_records(small, preloaded):
    assert run_small(small, "whole").returncode == 0
    expected = (small / "whole" / "contours.jsonl").read_bytes()
    number = 1
    while True:
        shutil.rmtree(small / "out", ignore_errors=True)
        done = run_small(small, "out", {"LD_PRELOAD": str(preloaded), "FAULT_EIO": str(number)})
        if done.returncode == 0:
            break
        assert done.returncode == 74, (number, done.returncode, done.stderr)
        assert "Input/output error" in done.stderr and "out/contours." in done.stderr, (number, done.stderr)
        # Lines are whole and the first ones; a file that has to be whole has no final name.
        lines = (small / "out" / "contours.jsonl").read_bytes()
        assert expected.startswith(lines) and (lines == b"" or lines.endswith(b"\n")), number
        assert not (small / "out" / "contours.geojson").exists(), number
        number += 1
    assert number > 6  # three lines, and what GeoJSON takes
    assert (small / "out" / "contours.jsonl").read_bytes() == expected


def test_maps_that_are_too_short_are_put_aside_and_too_long_ones_read(small):
    assert run_small(small, "whole").returncode == 0
    whole = (small / "maps" / "1.npy").read_bytes()
    (small / "maps" / "1.npy").write_bytes(whole + b"left over")
    done = run_small(small, "longer")
    assert done.returncode == 0
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(warnings) == 1 and warnings[0].startswith("contorno: frame 1 used with a warning: ")
    assert "1.npy" in warnings[0] and "9 bytes" in warnings[0]
    assert (small / "longer" / "contours.jsonl").read_bytes() == (small / "whole" / "contours.jsonl").read_bytes()
    (small / "maps" / "1.npy").write_bytes(whole[:-1])
    done = run_small(small, "shorter")
    assert done.returncode == 3
    assert "1.npy" in done.stderr and "too short" in done.stderr
    assert [line["frame"] for line in read_lines(small / "shorter" / "contours.jsonl")] == [0, 2]


@pytest.mark.parametrize("command", [["find-contours", "IN", "--json", "OUT"], ["apply", "morphology", "IN", "OUT.npy"],
                                     ["mean-shift", "IN", "OUT.npy", "--sigma", "0.5"]], ids=lambda command: command[0])
def test_an_array_longer_than_its_header_says_is_used_with_a_warning(tmp_path, command):
    np.save(tmp_path / "IN", np.linspace(0, 1, 20, dtype=np.float32).reshape(5, 4))
    for extra in (b"", b"left over"):
        for output in tmp_path.glob("OUT*"):
            output.unlink()
        (tmp_path / "IN").write_bytes((tmp_path / "IN.npy").read_bytes() + extra)
        (tmp_path / "IN").rename(tmp_path / "long.npy")
        arguments = ["long.npy" if word == "IN" else word for word in command]
        done = subprocess.run([PROGRAM, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        expected = "contorno: warning: 'long.npy' is longer than its header says: 9 bytes behind the (5, 4) float32 samples are not read\n"
        assert done.stderr == (expected if extra else "")


@pytest.mark.parametrize("mebibytes", [700, 1000, 1500])
def test_an_array_larger_than_the_memory_limit_ends_with_71(tmp_path, mebibytes):
    array = tmp_path / "large.npy"
    np.lib.format.open_memmap(array, "w+", np.float32, (20_000, 20_000))  # 1.6 GB, without a byte on the disk
    limit = mebibytes << 20
    done = subprocess.run([PROGRAM, "find-contours", array, "--json", tmp_path / "out.json"], capture_output=True,
                          text=True, timeout=300, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode == 71, (done.returncode, done.stderr)
    assert "memory" in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_second_signal_ends_a_run_that_cannot_come_to_its_end(tmp_path):
    # The frame under way takes minutes, and a request to stop waits for it.
    (tmp_path / "graph.yaml").write_text("""
pipeline: {backend: cpu, threads: 1}
source: {type: test, pattern: snow, width: 4000, height: 3000, frames: 1}
classes: [{name: a, level: 0.5, colour: "#ff0000"}]
stages: [{type: mean_shift_filter, spatial: 128, colour: 255, max_iterations: 100}]
sinks: [{type: images, path: "{frame}.png"}]
""")
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", "out"], cwd=tmp_path)
    while not list(tmp_path.glob("out/*.part*")):  # the sink is open
        assert process.poll() is None
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130


def test_a_pipe_into_which_nobody_writes_is_not_waited_for_longer_than_the_timeout(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = subprocess.run([PROGRAM, "run", ROOT / "config" / "examples" / "demo.yaml", "--input", tmp_path / "pipe",
                           "--output", tmp_path / "out", "--set", "source.timeout=300"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 66
    assert "nobody wrote into this pipe within 300 ms" in done.stderr


def test_a_flood_of_bad_frames_does_not_flood_the_log(small):
    for frame in range(2000):
        (small / "maps" / f"bad{frame}.npy").write_bytes(b"\x93NUMPY\x01\x00 not a header")
    done = run_small(small, "out")
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if "frame" in line and " failed" in line]
    assert 5 <= len(lines) <= 12
    assert "1000 frames" in lines[-1]


def test_names_of_files_cannot_forge_lines_or_colours_in_a_log(small):
    name = "9\ncontorno: all is well\x1b[31m.npy"
    (small / "maps" / name).write_bytes(b"not a map")
    done = run_small(small, "out")
    assert done.returncode == 3
    assert "\x1b" not in done.stderr
    assert not any(line.startswith("contorno: all is well") for line in done.stderr.splitlines())


def test_two_runs_at_the_same_time_do_not_disturb_each_other(small):
    command = [PROGRAM, "run", "graph.yaml", "--input", "maps", "--quiet", "--output"]
    runs = [subprocess.Popen([*command, f"out{one}"], cwd=small) for one in range(3)]
    assert [one.wait(timeout=120) for one in runs] == [0, 0, 0]
    assert len({(small / f"out{one}" / "contours.jsonl").read_bytes() for one in range(3)}) == 1
    assert len(read_lines(small / "out0" / "contours.jsonl")) == 3


def test_a_wall_clock_that_is_set_back_and_forth_shows_in_no_latency(small, preloaded):
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--input", "maps", "--output", "out", "--quiet", "--report",
                           "report.json"], cwd=small, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LD_PRELOAD": str(preloaded), "FAULT_CLOCK": "1"})
    assert done.returncode == 0, done.stderr
    latency = json.loads((small / "out" / "report.json").read_text())["latency_us"]
    times = [value for part in (latency["end_to_end"], *latency["parts"].values()) for value in part.values()
             if isinstance(value, (int, float))]
    assert times and min(times) >= 0 and max(times) < 100e6


def test_closed_standard_streams_leave_the_files_alone(small):
    assert run_small(small, "whole").returncode == 0
    (small / "maps" / "bad.npy").write_bytes(b"not a map")  # so that there is something to say
    subprocess.run([PROGRAM, "run", "graph.yaml", "--input", "maps", "--output", "out"], cwd=small, timeout=120,
                   close_fds=True, preexec_fn=lambda: os.closerange(0, 3))
    lines = read_lines(small / "out" / "contours.jsonl")
    assert lines == read_lines(small / "whole" / "contours.jsonl")


def test_latencies_come_from_a_clock_that_nobody_sets():
    """A clock that is set back must not show in any latency: the wall clock appears nowhere but where a measurement says when it
    was made, where messages and lines of the log get their time, and where runs get their number, which only grows."""
    wrong = [str(path.relative_to(ROOT)) for folder in ("cuda", "pipeline", "geometry", "stages", "config", "plugins", "tools")
             for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh", ".inc")
             for word in ("system_clock", "gettimeofday", "CLOCK_REALTIME", "std::time(", "high_resolution_clock")
             if word in path.read_text()]
    assert sorted(wrong) == ["plugins/publish/outbox/outbox_file.cpp", "plugins/publish/publish_sink.cpp", "tools/latency/environment.cpp",
                             "tools/ops/line_pages.cpp", "tools/restart_wait.cpp", "tools/say.cpp"]


def test_a_live_source_that_falls_silent_is_named_once_and_so_is_its_return(small):
    """The second frame comes 2.5 s after the first. From then on that is what is expected."""
    text = GRAPH.replace("layout: hwc", "layout: hwc, live: true, rate: 0.4")
    (small / "graph.yaml").write_text(text)
    command = [PROGRAM, "run", "graph.yaml", "--input", "maps", "--output", "out"]
    run = subprocess.run(command, cwd=small, capture_output=True, text=True, timeout=60, check=True)
    said = re.fullmatch(r"contorno: no frame has come for (\d+\.\d) s\ncontorno: frames come again after (\d+\.\d) s\n", run.stderr)
    assert said and 0.9 <= float(said[1]) <= float(said[2]) and float(said[2]) >= 2.4, run.stderr
    assert len(read_lines(small / "out" / "contours.jsonl")) == 3
    quiet = subprocess.run([*command, "--quiet"], cwd=small, capture_output=True, text=True, timeout=60, check=True)
    assert quiet.stderr == ""
