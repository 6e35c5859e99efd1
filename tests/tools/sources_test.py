"""The commands of tools/bench/sources, in their smallest size: baselines have the product's results, and tables and figures come."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from tests.conftest import ROOT

PROGRAM = pathlib.Path(os.environ.get("CONTORNO_BUILD", ROOT / "build/release")) / "bin/bench_sources"
FOLDER = ROOT / "tools/bench/sources"
GRECO = ("filter_contour_by_hand", "filter_vector_by_min", "merge_contours", "filter_contour_duplicate", "order_clusters_by_distance")
# Tables of the document, and its baselines without a device with what each has to agree in.
WORKS = {"sciarrillo": (["Table 5.1", "Table 6.1", "Table 6.2", "Table 6.3", "Table 6.4"],
                        {"serial", "assembly", "contorno, stage"}),
         "albertini": ([*(f"Table {number}" for number in range(1, 8) if number != 3), *(f"Graph {number}" for number in (3, 8, 9, 10))],
                       {"serial", "OpenMP", *(f"OpenMP, {version} version" for version in ("first", "second", "third", "fourth"))}),
         "della-schiava": (["Figure 3", "Figure 4", "Figure 5"], {"serial", "OpenMP"}),
         "greco": (["Table of kernels", "Graph: time", "Graph: speed-up", "The brush"],
                   {f"{step}, serial" for step in GRECO}),
         "spyrou": (["Data a", "Data b"], {"serial -O0", "serial -O3"})}

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the target contorno_benchmarks is not built")


def run(work, *options, **more):
    return subprocess.run([sys.executable, FOLDER / work, *options], capture_output=True, text=True, timeout=600, **more)


@needs_program
@pytest.mark.parametrize("work", WORKS)
def test_baselines_agree_and_every_table_comes(work, tmp_path):
    pytest.importorskip("skimage")
    kept = tmp_path / "facts.jsonl"
    done = run(work, "--small", "--runs", "1", "--program", PROGRAM, "--keep", kept, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    tables, checked = WORKS[work]
    assert [title for title in tables if not re.search(rf"^{re.escape(title)}\b", done.stdout, re.M)] == []
    facts = [json.loads(line) for line in kept.read_text().splitlines()]
    checks = [fact for fact in facts if fact["kind"] == "check"]
    assert checked <= {fact["variant"] for fact in checks}
    assert [fact for fact in checks if not fact["agrees"]] == []
    if not any(fact["kind"] == "device" for fact in facts):
        assert "columns of CUDA are empty" in done.stdout
    pytest.importorskip("matplotlib")
    drawn = sorted((tmp_path / "out" / work).iterdir())
    assert drawn and {path.suffix for path in drawn} == {".png", ".svg"}
    assert all(path.stat().st_size > 2000 for path in drawn)


@needs_program
def test_results_of_another_machine_are_shown_and_a_wrong_one_is_told(tmp_path):
    kept = tmp_path / "facts.jsonl"
    assert run("spyrou", "--small", "--runs", "1", "--program", PROGRAM, "--keep", kept, "--output", tmp_path / "out").returncode == 0
    again = run("spyrou", "--results", kept, "--output", tmp_path / "again", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    facts = kept.read_text().replace('"agrees":true', '"agrees":false', 1)
    kept.write_text(facts)
    wrong = run("spyrou", "--results", kept, "--output", tmp_path / "again")
    assert wrong.returncode == 1 and "DIFFERS" in wrong.stdout


def test_all_names_every_work():
    listed = re.search(r"^WORKS = (.*)$", (FOLDER / "all").read_text(), re.M)[1]
    assert sorted(json.loads(listed)) == sorted(WORKS)
    assert all(os.access(FOLDER / work, os.X_OK) for work in [*WORKS, "all"])


def on_a_device(lines):
    """The same facts as of a machine with a GPU: for each variant of the host one of CUDA, with made times."""
    cuda = {"sciarrillo": ["CUDA, six kernels", "CUDA, six kernels, without memory and copies", "contorno, CUDA", "kernel, C++",
                           "application, C++"],
            "albertini": ["CUDA, first version", "CUDA, second version", "CUDA, third version", "CUDA", "contorno, CUDA"],
            "della-schiava": [f"{program}: {step}" for program in ("CUDA", "OpenMP + CUDA", "contorno, CUDA")
                              for step in ("read", "generate", "write")],
            "spyrou": ["CUDA (global)", "CUDA (shared)", "contorno, CUDA"],
            "greco": [f"{step}, {variant}{kernel}" for step in GRECO
                      for variant in ("CUDA, int4", "CUDA, int2", "CUDA, patch", "contorno, CUDA")
                      for kernel in ("", ": flags", ": scan", ": move", ": affiliation", ": afference", ": realign", ": device")]}
    facts = [json.loads(line) for line in lines]
    work = facts[0]["work"]
    facts = [{"kind": "device", "name": "made up", "work": work} if fact["kind"] == "no device" else fact for fact in facts]
    for case in {fact["case"] for fact in facts if fact["kind"] == "time"} | {"saxpy"}:
        facts += [{"kind": "time", "work": work, "case": case, "variant": variant, "seconds": [0.001, 0.002, 0.003]}
                  for variant in cuda[work]]
    for variant in ("CUDA", "OpenMP + CUDA"):
        facts.append({"kind": "timeline", "work": work, "case": "M", "variant": variant,
                      "bars": [[0, 0, "HtoD", 0, 2], [0, 1, "kernel", 2, 3], [1, 1, "DtoH", 3, 4]]})
    return "".join(json.dumps(fact) + "\n" for fact in facts)


@needs_program
@pytest.mark.parametrize("work", WORKS)
def test_columns_of_cuda_are_filled_where_there_is_a_device(work, tmp_path):
    kept = tmp_path / "facts.jsonl"
    done = run(work, "--small", "--runs", "1", "--program", PROGRAM, "--keep", kept, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    kept.write_text(on_a_device(kept.read_text().splitlines()))
    shown = run(work, "--results", kept, "--output", tmp_path / "again")
    assert shown.returncode == 0, shown.stderr
    assert "GPU: made up" in shown.stdout
    assert "no GPU here" not in shown.stdout
    assert "2 ms" in shown.stdout


def rows_of(said, title):
    """The cells of the rows of a table."""
    lines = said.split(f"\n{title}", 1)[1].split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@needs_program
def test_rates_of_kernels_count_what_those_of_the_document_count(tmp_path):
    kept = tmp_path / "facts.jsonl"
    assert run("greco", "--small", "--runs", "1", "--program", PROGRAM, "--keep", kept, "--output", tmp_path / "out").returncode == 0
    kept.write_text(on_a_device(kept.read_text().splitlines()))
    shown = run("greco", "--results", kept, "--output", tmp_path / "out")
    table = {tuple(row[1:3]): row[4:] for row in rows_of(shown.stdout, "Table of kernels")}
    # Columns: his ms, GE/s and GB/s, and ours of 1000 points in 10 contours, brush of 400, at 2 ms.
    pairs, quarters = 1000 * 999 / 2, 250 * 249 / 2
    for key, theirs, elements, each in (
            (("compute_flags", "int4"), ["81.969315", "0.001020", "1390.378905"], 1000, 8 * 400),
            (("fill_afference_array", "int4"), ["0.166624", "0.166624", "43.903256"], 1000, None),
            (("reverse_lookup", "int4"), ["0.017408", "0.150391", "38.686120"], 10, 8 * 1010 / 10),
            (("realign_contours", "int4"), ["0.013312", "6.127028", "220.573024"], 1000, 36),
            (("compute_duplicates_flags", "int2"), ["40.70809", "5.253555", "420.284416"], quarters, 80),
            (("compute_duplicates_flags", "patch"), ["4.777984", "0.174818", "268.520576"], 16 * 17 / 2, 1536),
            (("compute_closeness_matrix", "int4"), ["500.274170", "6.648796", "212.761472"], pairs, 32),
            (("compute_closeness_matrix", "patch"), ["14.673920", "3.332518", "426.792224"], 125 * 126 / 2, 128),
            (("compute_distance_matrix", "patch"), ["19.827711", "0.153039", "465.595232"], 125 * 126 / 2, None)):
        row = table[key]
        assert row[:3] == theirs and row[3] == "2"
        assert float(row[4]) == pytest.approx(elements / 2e-3 / 1e9, rel=5e-3)
        assert row[5] == "-" if each is None else float(row[5]) == pytest.approx(elements * each / 2e-3 / 1e9, rel=5e-3)
    pytest.importorskip("matplotlib")
    assert {"int2-over-int4.png", "patches-over-int2.png"} <= {path.name for path in (tmp_path / "out/greco").iterdir()}


@needs_program
def test_speed_ups_of_the_thesis_are_as_printed_and_serial_fractions_follow_from_times(tmp_path):
    pytest.importorskip("skimage")
    done = run("sciarrillo", "--small", "--runs", "1", "--program", PROGRAM, "--output", tmp_path / "out")
    assert rows_of(done.stdout, "Table 6.4")[0][1:3] == ["6.766283", "2.620361"]
    done = run("albertini", "--small", "--runs", "1", "--program", PROGRAM, "--output", tmp_path / "out")
    rows = {row[0]: row[1:] for row in rows_of(done.stdout, "Table 2 and 3")}
    assert rows["Albertini: alpha(p)"][0] == "-"
    for p, (speedup, alpha) in enumerate(zip(rows["Albertini: S(p)"], rows["Albertini: alpha(p)"]), 1):
        if p > 1:  # as much as three digits of S(p) tell
            assert 1 / (float(alpha) + (1 - float(alpha)) / p) == pytest.approx(float(speedup), rel=5e-3)
