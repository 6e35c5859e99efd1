"""`contorno bench` measures frames as `contorno latency` does, and prints its rows; benchmarks print their conditions."""
import os
import re
import subprocess
import sys

import pytest
from tests.conftest import ROOT, run_contorno

CONTORNO = os.environ.get("CONTORNO_BIN", "build/release/bin/contorno")


def rows_of(table):
    """The numbers of each row by its name: a name, two blanks or more, and cells of digits, n/a or inf."""
    found = {}
    for line in table.splitlines():
        row = re.fullmatch(r" {10,12}(\S.*?) {2,}((?:(?:[\d.]+|n/a|inf) *)+)", line)
        if row:
            found[row[1]] = [float(cell) for cell in row[2].split() if cell not in ("n/a", "inf")]
    return found


def test_stages_are_shown_in_the_rows_of_latency_with_the_points_they_had():
    run = subprocess.run([CONTORNO, "bench", "stages"], capture_output=True, text=True, timeout=1800,
                         env={**os.environ, "CONTORNO_BACKEND": ""})
    assert run.returncode == 0, run.stderr
    titles = re.findall(r"^(.*), (\d+) points, one frame at a time, waiting adaptive$", run.stdout, re.M)
    assert [name for name, _ in titles] == ["511x95x8 f32", "1920x1080x4 f32", "1080p RGBA, 20 circles",
                                            "1080p RGBA, 4 long lines"]
    # A disc of radius r crosses 8 r rows and columns; there are 20 of radius 62.5.
    assert abs(int(titles[2][1]) - 20 * 8 * 62.5) < 200
    tables = run.stdout.split("latency   ms")[1:]
    assert len(tables) == 4
    for number, table in enumerate(tables):
        times = rows_of(table)
        least, mean = times["due to result"][:2]
        assert 0 < least <= mean
        assert ("overlay" in times) == (number >= 2)
        assert times["contours.contour_assembly"][1] < mean


def test_the_conditions_of_measuring_are_a_line_of_the_build_and_of_the_machine():
    (line, _) = run_contorno("bench", "conditions").stdout.splitlines()
    facts = r"conditions: contorno [\d.]+, .*build g\+\+ [\d.]+.*, with(out)? assertions, .*processors \d+, "
    assert re.match(facts, line), line
    load, busy = re.search(r"load average ([\d.]+) [\d.]+ [\d.]+ \((idle|shared)\)", line).groups()
    assert busy == ("idle" if float(load) < 0.5 else "shared")


@pytest.mark.parametrize("path", sorted((ROOT / "tools/bench").glob("*.cpp")), ids=lambda path: path.stem)
def test_every_benchmark_prints_its_conditions(path):
    text = path.read_text()
    assert "int main(" not in text or re.search(r"\b(answer_commands|bench|conditions_line)\(", text)


def test_peers_of_contours_run_in_their_own_process_and_opencv_gets_the_bytes_that_it_wants(tmp_path):
    cv2, np = pytest.importorskip("cv2"), pytest.importorskip("numpy")
    pytest.importorskip("contourpy")
    sys.path.insert(0, str(ROOT / "tools/bench"))
    try:
        from peers import Peers
    finally:
        sys.path.pop(0)
    peers = Peers(sys.executable, 1)
    maps = np.random.default_rng(1).random((2, 20, 30), np.float32)
    maps[0, 3, 4] = 0.5  # equal is low
    maps.tofile(tmp_path / "maps.raw")
    peers.load(tmp_path / "maps.raw", maps)
    assert {name.split()[0] for name in peers.names} == {"scikit-image", "contourpy", "OpenCV"}
    assert all(0 < peers.run(name) < 60 for name in peers.names)
    peers.process.stdin.close()
    assert peers.process.wait(60) == 0
    for plane in maps:
        in_two_passes = cv2.threshold(plane, 0.5, 255, cv2.THRESH_BINARY)[1].astype(np.uint8)
        assert np.array_equal(cv2.compare(plane, 0.5, cv2.CMP_GT), in_two_passes)
