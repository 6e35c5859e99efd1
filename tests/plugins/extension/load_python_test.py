"""contorno.load: stages, sources and sinks of others in Python, in a process for each test, since what is loaded stays."""
import os
import shutil
import subprocess
import sys

from tests.plugins.extension.files import FAULTY, OWN_STAGE, PARTS, RAMP, STEEPENED, graph_in, linked_lines
from tests.plugins.python.package import PACKAGE, run_python


def test_apply_stages_and_pipeline_know_what_was_loaded(tmp_path):
    linked_lines(tmp_path)
    graph = graph_in(tmp_path, STEEPENED)
    run_python(f"""
import pathlib
import numpy as np
import contorno
maps = np.random.default_rng(2).random((40, 30), np.float32)
assert "steepen" not in contorno.stages()
contorno.load({str(OWN_STAGE)!r})
contorno.load(pathlib.Path({str(OWN_STAGE)!r}))  # changes nothing
made = contorno.apply("steepen", maps, gain=4)
assert np.array_equal(made, np.clip((maps - np.float32(0.5)) * np.float32(4) + np.float32(0.5), 0, 1))
stage = contorno.stages()["steepen"]
assert stage["summary"] == "Moves the values of maps away from 0.5." and [one["name"] for one in stage["params"]] == ["gain"]
for result in contorno.Pipeline({str(graph)!r}, output={str(tmp_path / "python")!r}):
    pass
""")
    assert (tmp_path / "python" / "contours.jsonl").read_bytes() == (tmp_path / "linked" / "contours.jsonl").read_bytes()


def test_a_stage_on_contours_becomes_a_function_and_a_graph_has_the_source_and_sink(tmp_path):
    graph = graph_in(tmp_path, RAMP)
    run_python(f"""
import inspect
import numpy as np
import contorno
pipeline = contorno.Pipeline  # whose module is loaded before
assert not hasattr(contorno, "keep_long")
contorno.load({str(PARTS)!r})
contours = [np.array([(0, 0), (0, 1)], float), np.array([(1, 0), (1, 9)], float)]
[long] = contorno.keep_long(contours, least=2)
assert np.array_equal(long, contours[1])
assert inspect.signature(contorno.keep_long).parameters["least"].default == 2.0
assert "Shorter contours are left out." in contorno.keep_long.__doc__ and "keep_long" in dir(contorno)
assert [len(result.contours) for result in pipeline({str(graph)!r}, output={str(tmp_path)!r})] == [1, 1, 1]
""")
    assert (tmp_path / "tally.txt").read_text() == "3 frames, 3 contours\n"


def test_a_file_that_is_gone_stays_loaded(tmp_path):
    linked_lines(tmp_path)
    copy = tmp_path / "mine.so"
    shutil.copy(OWN_STAGE, copy)
    graph = graph_in(tmp_path, STEEPENED)
    run_python(f"""
import os
import contorno
contorno.load({str(copy)!r})
os.remove({str(copy)!r})
contorno.load({str(copy)!r})
for result in contorno.Pipeline({str(graph)!r}, output={str(tmp_path / "python")!r}):
    pass
""")
    assert (tmp_path / "python" / "contours.jsonl").read_bytes() == (tmp_path / "linked" / "contours.jsonl").read_bytes()


def test_what_is_no_extension_is_an_exception_and_changes_nothing(tmp_path):
    run_python(f"""
import os
import contorno
before = list(contorno.stages())
def refused(path, kind, *words):
    try:
        contorno.load(path)
    except kind as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(path)
refused("own_stage.so", ValueError, "allowed is an absolute path: /")
refused({str(tmp_path / "absent.so")!r}, RuntimeError, "there is no such file")
refused({__file__!r}, RuntimeError, "it is no shared library")
for fault, words in (("throws", "the model is missing"), ("classify", "exists already, in contorno")):
    os.environ["EXTENSION_FAULT"] = fault
    refused({str(FAULTY)!r}, RuntimeError, words)
refused(1, TypeError)
assert list(contorno.stages()) == before
contorno.load({str(OWN_STAGE)!r})
assert list(contorno.stages()) == [*before, "steepen"]
""")


def test_an_exception_of_a_static_object_ends_the_process_with_its_sentence():
    done = subprocess.run([sys.executable, "-c", f"import contorno; contorno.load({str(FAULTY)!r})"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), "EXTENSION_FAULT": "static"})
    # An exception instead, where the C library lets it through.
    assert done.returncode in (69, 1) and f"{FAULTY} cannot be loaded: it threw an exception while it was opened: no licence" in done.stderr
