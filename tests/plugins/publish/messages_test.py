"""Messages of the sink publish: JSON and CBOR say the same, Python's json and cbor2 read them, the schema describes them, and
contorno reads them back."""
import contextlib
import json
import random
import sqlite3
import subprocess
import time

import numpy as np
import pytest
from tests.conftest import PROGRAM, ROOT, blobs, classes_yaml, read_lines

cbor2 = pytest.importorskip("cbor2")
from tests.campaign.judge import decoded, kept  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402

SCHEMA = ROOT / "plugins" / "files" / "contours" / "messages.schema.json"
GRAPH = """
pipeline: {{backend: cpu, threads: 2, slots: 2}}
source: {{type: dataset, location: maps, layout: hwc}}
classes:
{classes}
stages: [{{type: marching_squares}}, {{type: contour_assembly}}, {{type: contour_prep, steps: [measure, hierarchy]}}]
sinks:
  - {{type: publish, name: json, outbox: json.db, format: json, camera: north, totals: true, {more}}}
  - {{type: publish, name: cbor, outbox: cbor.db, format: cbor, camera: north, totals: true, {more}}}
  - {{type: jsonl, path: lines.jsonl, totals: true}}
"""


@pytest.fixture
def results(tmp_path):
    """A run over five maps, of which the third cannot be read; its outboxes as lists of bodies."""
    (tmp_path / "maps").mkdir()
    for frame in range(5):
        np.save(tmp_path / "maps" / f"{frame}.npy", blobs(60, 80, 3, frame))
    (tmp_path / "maps" / "2.npy").write_bytes(b"no array")
    return lambda more="drain: 0": play(tmp_path, more)


def play(folder, more):
    (folder / "graph.yaml").write_text(GRAPH.format(classes=classes_yaml(3), more=more))
    done = subprocess.run([PROGRAM, "run", "graph.yaml", "--output", "out", "--quiet"], cwd=folder, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 3, done.stderr  # one frame failed
    return [[body for *_, body in kept(folder / "out" / f"{name}.db")] for name in ("json", "cbor")]


def as_float32(value):
    """Points as float32, in which they are computed, and all other numbers as they are."""
    if isinstance(value, dict):
        return {key: [[np.float32(n).item() for n in pair] for pair in one] if key == "points" else as_float32(one)
                for key, one in value.items()}
    return [as_float32(one) for one in value] if isinstance(value, list) else value


def without_times(message):
    return {key: value for key, value in message.items() if key not in ("utc_ns", "latency_us", "run")}


def test_json_and_cbor_say_the_same_and_frames_have_the_members_of_jsonl(results, tmp_path):
    as_json, as_cbor = results()
    assert [json.loads(body)["kind"] for body in as_json] == ["run_start", "frame", "frame", "failed", "frame", "frame", "run_end"]
    for text, binary in zip(as_json, as_cbor, strict=True):
        assert as_float32(without_times(json.loads(text))) == as_float32(without_times(decoded(binary)))
    lines = read_lines(tmp_path / "out" / "lines.jsonl")
    frames = [message for message in map(json.loads, as_json) if message["kind"] == "frame"]
    assert [{key: message[key] for key in line} for message, line in zip(frames, lines, strict=True)] == lines
    assert "2.npy" in json.loads(as_json[3])["error"] and json.loads(as_json[3])["frame"] == 2


def test_points_in_cbor_are_a_typed_array_that_is_half_as_large(results):
    as_json, as_cbor = results()
    contour = cbor2.loads(as_cbor[1])["classes"][0]["contours"][0]
    assert isinstance(contour["points"], cbor2.CBORTag) and contour["points"].tag == 85
    assert sum(map(len, as_cbor)) < 0.6 * sum(map(len, as_json))


def test_every_message_keeps_to_the_schema_and_wrong_ones_do_not(results):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    as_json, as_cbor = results()
    for message in [json.loads(body) for body in as_json] + [decoded(body) for body in as_cbor]:
        validator.validate(message)
        for key in sorted(message.keys() - {"name", "thin", "future"}):
            assert not validator.is_valid({other: value for other, value in message.items() if other != key}), key
        validator.validate({**message, "future": 1})  # unknown members are ignored


def clean(folder, name):
    """The contours of a file, as `contorno clean` reads them and writes them again."""
    done = subprocess.run([PROGRAM, "clean", name, f"{name}.again.jsonl", "--step", "measure"], cwd=folder, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stderr, read_lines(folder / f"{name}.again.jsonl") if done.returncode == 0 else None


def test_messages_are_read_back_from_both_forms_with_the_same_bits(results, tmp_path):
    as_json, as_cbor = results()
    (tmp_path / "messages.jsonl").write_bytes(b"".join(body + b"\n" for body in as_json))
    (tmp_path / "messages.cbor").write_bytes(b"".join(as_cbor))
    lines, binary = clean(tmp_path, "messages.jsonl"), clean(tmp_path, "messages.cbor")
    assert lines[0] == binary[0] == 0, (lines[1], binary[1])
    assert [line["frame"] for line in lines[2]] == [0, 1, 3, 4]
    assert lines[2] == binary[2]


def test_damaged_cbor_is_refused_and_never_crashes(results, tmp_path):
    _, as_cbor = results()
    whole, rng = b"".join(as_cbor[:3]), random.Random(5)
    for trial in range(40):
        damaged = bytearray(whole)
        if trial % 2:
            del damaged[rng.randrange(len(damaged)):]
        else:
            for _ in range(3):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "damaged.cbor").write_bytes(damaged)
        code, said, _ = clean(tmp_path, "damaged.cbor")
        assert code in (0, 65), said
    (tmp_path / "deep.cbor").write_bytes(b"\x81" * 100_000)
    assert "nested deeper than 32" in clean(tmp_path, "deep.cbor")[1]
    (tmp_path / "long.cbor").write_bytes(b"\x5b" + b"\x7f" * 8)
    assert "it is cut off" in clean(tmp_path, "long.cbor")[1]


@pytest.mark.parametrize("form", ["json", "cbor"])
def test_without_points_a_message_says_that_it_is_thin(tmp_path, form):
    """While somebody else holds the file's lock nothing is kept, and a queue of four fills."""
    start = Start(tmp_path, more=f"format: {form}, queue: 4, queue_full: thin, drain: 0", frames=300, pause=0.001)
    start.wait_until_kept(50)
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db", timeout=30)) as file:
        file.execute("BEGIN IMMEDIATE")
        before = -1
        while before < start.sent < 300:  # until the pipe is full, too
            before = start.sent
            time.sleep(0.5)
        file.execute("ROLLBACK")
    assert start.end() is not None and start.code == 0
    frames = [message for message in (decoded(body) for *_, body in kept(tmp_path / "out" / "outbox.db"))
              if message["kind"] == "frame"]
    thin = [message for message in frames if message.get("thin")]
    assert len(frames) == 300 and 0 < len(thin) < 300
    for message in thin:
        assert all("points" not in contour for one in message["classes"] for contour in one["contours"])
        assert any(one["contours"] for one in message["classes"])
    assert "thin" not in frames[0] and any("points" in contour for one in frames[0]["classes"] for contour in one["contours"])
