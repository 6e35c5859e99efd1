"""`contorno --load FILE`: stages, sources and sinks of others, known to every command, and files that are none."""
import json
import os
import re
import shutil

import numpy as np
import pytest
from tests.conftest import PROGRAM, read_lines, run_contorno
from tests.modules import need_modules
from tests.plugins.extension.files import FAULTY, OWN_STAGE, PARTS, RAMP, SAMPLES, STEEPENED, graph_in, linked_lines, load


# Known everywhere --------------------------------------------------------------------------------------------------

def test_a_loaded_stage_gives_the_bytes_of_the_same_stage_linked_in(tmp_path):
    graph = graph_in(tmp_path, STEEPENED)
    load(OWN_STAGE, "run", graph, "--output", tmp_path / "loaded", "--quiet")
    lines = (tmp_path / "loaded" / "contours.jsonl").read_bytes()
    assert lines == linked_lines(tmp_path)
    plain = graph_in(tmp_path, STEEPENED.replace("  - {type: steepen, gain: 4}\n", ""), "plain.yaml")
    run_contorno("run", plain, "--output", tmp_path / "plain", "--quiet")
    assert (tmp_path / "plain" / "contours.jsonl").read_bytes() != lines, "the stage does something"


def test_apply_runs_a_loaded_stage_with_its_parameters(tmp_path):
    maps = np.random.default_rng(1).random((40, 30), np.float32)
    np.save(tmp_path / "maps.npy", maps)
    load(OWN_STAGE, "apply", "steepen", "maps.npy", "out.npy", "--gain", "4", cwd=tmp_path)
    wanted = np.clip((maps - np.float32(0.5)) * np.float32(4) + np.float32(0.5), 0, 1)
    assert np.array_equal(np.load(tmp_path / "out.npy").squeeze(), wanted)


def test_an_error_of_a_loaded_stage_has_its_sentence_and_code(tmp_path):
    np.save(tmp_path / "bytes.npy", np.zeros((4, 5), np.uint8))
    done = load(OWN_STAGE, "apply", "steepen", "bytes.npy", "out.npy", cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (78, "contorno: node 'steepen': the maps are 5x4x1 uint8 interleaved, allowed float32\n")
    done = load(OWN_STAGE, "apply", "steepen", "bytes.npy", "out.npy", "--gain", "0", cwd=tmp_path, check=False)
    assert done.returncode == 78 and "gain is 0, allowed 1 to 100" in done.stderr


def test_help_and_the_lists_have_what_was_loaded():
    said = load(OWN_STAGE, "stages", "steepen").stdout
    assert "stage steepen\n  Moves the values of maps away from 0.5." in said and "gain  a number, 1 to 100; default 2" in said
    assert load(OWN_STAGE, "help", "steepen").stdout == said
    listed = run_contorno("--load", PARTS, f"--load={OWN_STAGE}", "stages").stdout
    built_in = run_contorno("stages").stdout
    assert set(re.findall(r"^  (\w+) ", listed, re.M)) - set(re.findall(r"^  (\w+) ", built_in, re.M)) \
        == {"ramp", "keep_long", "steepen", "tally"}
    assert "--load FILE" in run_contorno("--help").stdout and "--load FILE" in run_contorno("help").stdout


def test_the_schema_takes_graphs_with_loaded_types(tmp_path):
    jsonschema, yaml = pytest.importorskip("jsonschema"), pytest.importorskip("yaml")
    graph = yaml.safe_load(RAMP)
    schema = json.loads(load(PARTS, "schema").stdout)
    jsonschema.validate(graph, schema)
    graph["stages"][2]["least"] = -1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(graph, schema)
    assert "keep_long" not in run_contorno("schema").stdout


def test_check_plans_a_loaded_stage_and_finds_its_mistakes(tmp_path):
    said = load(OWN_STAGE, "check", graph_in(tmp_path, STEEPENED)).stdout
    assert "  - type: steepen\n    from: {maps: source.maps}\n    gain: 4\n    # maps: 200x90x3 float32" in said
    done = load(OWN_STAGE, "check", graph_in(tmp_path, STEEPENED.replace("gain: 4", "gian: 4")), check=False)
    assert done.returncode == 78 and "gian" in done.stderr and "gain" in done.stderr


def test_sources_and_sinks_are_loaded_too(tmp_path):
    """A ramp from 0 to 1 over nine columns has one contour, at column 4, from the lower to the upper border."""
    graph = graph_in(tmp_path, RAMP)
    load(PARTS, "run", graph, "--output", tmp_path / "out", "--quiet")
    assert (tmp_path / "out" / "tally.txt").read_text() == "3 frames, 3 contours\n"
    for line in read_lines(tmp_path / "out" / "contours.jsonl"):
        [[contour]] = [one["contours"] for one in line["classes"]]
        assert sorted(contour["points"]) == [[4, y] for y in range(4)]
    load(PARTS, "run", graph, "--output", tmp_path / "long", "--quiet", "--set", "keep_long.least=3.5", "--set", "source.frames=2")
    assert (tmp_path / "long" / "tally.txt").read_text() == "2 frames, 0 contours\n"


def test_commands_that_read_graphs_take_loaded_types(tmp_path):
    graph = graph_in(tmp_path, RAMP)
    load(PARTS, "record", graph, tmp_path / "data")
    assert (tmp_path / "data" / "manifest.jsonl").read_text().count("\n") >= 3
    dataset = graph_in(tmp_path, RAMP.replace("type: ramp, frames: 3, width: 9", "type: dataset, location: data/manifest.jsonl, layout: hwc"),
                       "dataset.yaml")
    for option in ("--record", "--expect"):
        load(PARTS, "replay", dataset, tmp_path / "data" / "manifest.jsonl", option, tmp_path / "recorded")
    assert load(PARTS, "apply", "keep_long", tmp_path / "data", tmp_path / "x.jsonl", check=False).returncode != 0
    load(PARTS, "run", graph, "--output", tmp_path, "--quiet")
    load(PARTS, "apply", "keep_long", tmp_path / "contours.jsonl", tmp_path / "long.jsonl", "--least", "3.5")
    assert [one["contours"] for line in read_lines(tmp_path / "long.jsonl") for one in line["classes"]] == 3 * [[]]


def test_a_file_that_is_loaded_twice_adds_its_types_once(tmp_path):
    link = tmp_path / "link.so"
    link.symlink_to(OWN_STAGE)
    said = run_contorno("--load", OWN_STAGE, "--load", OWN_STAGE, "--load", link, "stages").stdout
    assert said.count("steepen") == 1


# What is no extension ----------------------------------------------------------------------------------------------

def refused(file, code, tmp_path, fault="", more=()):
    """What is said of a file; the graph is not read, so it may be missing."""
    done = run_contorno("--load", file, *more, "run", "no-such-graph.yaml", "--output", "out", cwd=tmp_path, check=False,
                        env={"EXTENSION_FAULT": fault})
    assert done.returncode == code, done
    assert done.stdout == "" and done.stderr.startswith("contorno: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    return done.stderr.removeprefix("contorno: ").strip()


def test_a_relative_path_is_refused_with_the_absolute_one(tmp_path):
    shutil.copy(OWN_STAGE, tmp_path / "mine.so")
    for path in ("mine.so", "./mine.so"):
        assert refused(path, 2, tmp_path) == f"the library to load is '{path}', allowed is an absolute path: {tmp_path}/mine.so"
    assert "is empty, allowed is an absolute one" in refused("", 2, tmp_path)


def test_a_missing_value_and_a_late_option_say_where_it_stands(tmp_path):
    for words, wanted in ((["--load"], "--load needs the absolute path of a library"),
                          (["run", "graph.yaml", "--load", OWN_STAGE], "--load stands before the command: contorno --load FILE run"),
                          (["apply", "steepen", "a", "b", f"--load={OWN_STAGE}"], "contorno --load FILE apply"),
                          (["--laod", OWN_STAGE, "stages"], "did you mean '--load'?")):
        done = run_contorno(*words, check=False, cwd=tmp_path)
        assert done.returncode == 2 and wanted in done.stderr, done.stderr


def test_a_file_that_is_absent_or_no_library_is_told(tmp_path):
    absent, text, fifo, empty = (tmp_path / name for name in ("absent.so", "text.so", "fifo.so", "empty.so"))
    text.write_text("no library\n" * 100)
    empty.touch()
    os.mkfifo(fifo)
    for file, reason in ((absent, "there is no such file"), (text, "it is no shared library"), (empty, "it is no shared library"),
                         (tmp_path, "it is a folder, wanted is a shared library"), (fifo, "it is no regular file"),
                         (PROGRAM, "cannot dynamically load position-independent executable")):
        assert refused(os.path.abspath(file), 69, tmp_path) == f"{os.path.abspath(file)} cannot be loaded: {reason}"


@pytest.mark.parametrize("part", [0.001, 0.02, 0.3, 0.6])
def test_a_library_that_is_cut_off_is_told(tmp_path, part):
    whole = OWN_STAGE.read_bytes()
    cut = tmp_path / "cut.so"
    cut.write_bytes(whole[:int(len(whole) * part)])
    assert f"cut.so cannot be loaded: it is cut off, at {cut.stat().st_size} bytes" in refused(cut, 69, tmp_path)


def test_a_library_without_the_symbol_is_told(tmp_path):
    module = OWN_STAGE.parent.parent / "contorno" / "tiff.so"
    need_modules("tiff")
    assert "it is no extension of contorno: it has no contorno_extension, which the macro CONTORNO_EXTENSION" \
        in refused(module, 69, tmp_path)


@pytest.mark.parametrize("name, has", [("other_version", "it was built with contorno 0.9.3 and g++ 15 (0.9 gxx_abi=1020 libstdcxx_cxx11=1)"),
                                       ("other_compiler", r"and clang++ 14 (")])
def test_another_version_or_compiler_is_named_with_the_one_that_is_needed(tmp_path, name, has):
    said = refused(SAMPLES / f"{name}.so", 69, tmp_path)
    version = run_contorno("--version").stdout.split()[1]
    assert has in said and re.search(rf", needed are contorno {re.escape(version)} and (g|clang)\+\+ \d+ \(\d+\.\d+ gxx_abi=\d+ ", said)


def test_a_library_that_needs_more_than_this_contorno_has_is_told(tmp_path):
    said = refused(SAMPLES / "later_version.so", 69, tmp_path)
    version = run_contorno("--version").stdout.split()[1]
    assert re.search(r"cannot be loaded: undefined symbol: \w*name_of_a_later_version\w*; "
                     rf"build it with the headers of contorno {re.escape(version)}, which is running$", said)


@pytest.mark.parametrize("fault, reason", [
    ("classify", "its stage 'classify' has a name that exists already, in contorno; rename it"),
    ("marching_squares", "its stage 'marching_squares' has a name that exists already, in contorno; rename it"),
    ("taken part", "its stage 'classify' has a name that exists already, in contorno; rename it"),
    ("part of both", "its stage 'marching_squares' has a name that exists already, in contorno; rename it"),
    ("one part", "its stage 'plain' has 1 parts, allowed are none or two"),
    ("taken sink", "its sink 'jsonl' has a name that exists already, in contorno; rename it"),
    ("twice", f"its stage 'first' has a name that exists already, in {FAULTY}; rename it"),
    ("No Name", "its stage is called 'No Name', allowed are a lower-case letter and then lower-case letters, digits and _"),
    ("", "its stage is called '', allowed are"),
    ("unmade", "its stage 'unmade' has no function that makes it"),
    ("null", "one of its stages is a null pointer"),
    ("empty", "it has no stage, source, sink or engine")])
def test_a_name_that_exists_and_other_faults_of_declarations_are_told(tmp_path, fault, reason):
    assert refused(FAULTY, 69, tmp_path, fault).startswith(f"{FAULTY} cannot be loaded: {reason}")


def test_a_name_of_another_extension_is_told_with_its_file(tmp_path):
    said = refused(FAULTY, 69, tmp_path, "steepen", ["--load", OWN_STAGE])
    assert f"{OWN_STAGE} cannot be loaded: its stage 'steepen' has a name that exists already, in {FAULTY}; rename it" == said


@pytest.mark.parametrize("fault, reason", [
    ("throws", "it threw an exception when it was asked what it has: the model is missing"),
    ("throws a number", "it threw an exception when it was asked what it has: an exception that is no std::exception"),
    ("static", r"it threw an exception while it was opened: no licence for this\nmachine"),
    ("static number", "it threw an exception while it was opened: an exception that is no std::exception")])
def test_a_library_that_throws_while_it_is_loaded_is_told(tmp_path, fault, reason):
    assert refused(FAULTY, 69, tmp_path, fault) == f"{FAULTY} cannot be loaded: {reason}"


def test_a_graph_loads_nothing(tmp_path):
    """Nor where the file is named: neither a section, a type nor a parameter is a file of code."""
    for text in (f"load: {OWN_STAGE}\n{STEEPENED}", STEEPENED.replace("type: steepen", f"type: {OWN_STAGE}"),
                 STEEPENED.replace("type: steepen", f"type: steepen, load: {OWN_STAGE}")):
        done = run_contorno("check", graph_in(tmp_path, text), check=False)
        assert done.returncode == 78 and "error: unknown" in done.stderr, done.stderr
    done = load(OWN_STAGE, "check", graph_in(tmp_path, f"load: {PARTS}\n{RAMP}"), check=False)
    assert done.returncode == 78 and "error: unknown" in done.stderr, done.stderr
