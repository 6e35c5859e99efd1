"""The outbox of the sink publish: what is in it after runs that end, fail, drop, meet other processes, damage and limits."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess

import numpy as np
import pytest
from tests.conftest import LIBRARY, PROGRAM, blobs
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("publish", whole_file=True)
from tests.campaign.judge import decoded, judge, kept  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402

TEST_GRAPH = """
pipeline: {{backend: cpu, threads: 1, slots: 4, {pipeline}}}
source: {{type: test, pattern: ball, width: {size}, height: {size}, rate: 500, frames: {frames}}}
classes: [{{name: ball, references: ["#ffffff"]}}, {{name: ground, references: ["#000000"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: publish, outbox: outbox.db, {more}}}]
"""


def run(folder, *arguments, env=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(env or {})})


def run_test_graph(folder, more="drain: 0", frames=30, size=64, pipeline="on_full: wait"):
    (folder / "graph.yaml").write_text(TEST_GRAPH.format(more=more, frames=frames, size=size, pipeline=pipeline))
    return run(folder, "run", "graph.yaml", "--output", "out", "--quiet")


def messages(folder):
    return [decoded(body) for *_, body in kept(folder / "out" / "outbox.db")]


def test_a_whole_run_is_complete_by_a_judge_that_is_not_ours_and_by_verify(tmp_path):
    for form in ("cbor", "json"):
        start = Start(tmp_path, more=f"format: {form}, drain: 0", frames=80, pause=0)
        said = start.end()
        assert start.code == 0, said
    rows = kept(tmp_path / "out" / "outbox.db")
    assert judge(rows, sent=[(80, False), (80, False)]) == []
    assert len(rows) == 2 * 82
    verified = run(tmp_path, "verify", "out/outbox.db")
    assert verified.returncode == 0 and verified.stdout.count("80 frames, 0 failed, 0 in gaps, ended: complete") == 2


def accounted(found, frames):
    """The kinds of a run's messages, of which each frame's number must be in one, in order."""
    expected = 0
    for message in found[1:-1]:
        first, last = (message["from"], message["to"]) if message["kind"] == "gap" else (message["frame"],) * 2
        assert first == expected
        expected = last + 1
    assert expected == found[-1]["frames"] == frames
    return [message["kind"] for message in found[1:-1]]


def test_failed_frames_are_accounted_for(tmp_path):
    (tmp_path / "maps").mkdir()
    for frame in range(6):
        np.save(tmp_path / "maps" / f"{frame}.npy", blobs(30, 40, 1, frame))
    (tmp_path / "maps" / "2.npy").write_bytes(b"no array")
    (tmp_path / "graph.yaml").write_text("pipeline: {backend: cpu}\nsource: {type: dataset, location: maps, layout: hwc}\n"
                                         "classes: [{name: a}]\nstages: [marching_squares, contour_assembly]\n"
                                         "sinks: [{type: publish, outbox: outbox.db, drain: 0}]\n")
    assert run(tmp_path, "run", "graph.yaml", "--output", "out", "--quiet").returncode == 3
    assert accounted(messages(tmp_path), 6) == ["frame", "frame", "failed", "frame", "frame", "frame"]


def test_frames_that_are_dropped_while_nothing_can_be_kept_are_accounted_for(tmp_path):
    """Somebody else holds the lock of the file, and the source is live, at 30 frames a second: the queue fills, then the ring."""
    start = Start(tmp_path, more="queue: 2, drain: 0", frames=150, pipeline="threads: 1, on_full: drop_oldest", live=True)
    start.wait_until_kept(20)
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db", timeout=30)) as file:
        file.execute("BEGIN IMMEDIATE")
        start.wait_until_kept(start.sent + 60, seconds=8)
        file.execute("ROLLBACK")
    said = start.end()
    assert start.code == 0, said
    found = messages(tmp_path)
    kinds = accounted(found, 150)
    assert "gap" in kinds and "frame" in kinds
    assert "outbox" in {message["reason"] for message in found if message["kind"] == "gap"}


@pytest.mark.parametrize("damage, why", [
    ("DELETE FROM messages WHERE n = 7", "after message 6 comes 8"),
    ("UPDATE messages SET n = 900 WHERE n = 7", "after message 6 comes 8"),
    ("UPDATE messages SET body = (SELECT body FROM messages WHERE n = 8) WHERE n = 7", "holds another one"),
    ("UPDATE messages SET body = x'a1' WHERE n = 7", "cut off")])
def test_verify_finds_what_is_wrong(tmp_path, damage, why):
    run_test_graph(tmp_path)
    with sqlite3.connect(tmp_path / "out" / "outbox.db") as file:
        file.execute(damage)
    verified = run(tmp_path, "verify", "out/outbox.db")
    assert verified.returncode == 65 and "NOT complete" in verified.stdout and why in verified.stdout
    assert judge([row for row in kept(tmp_path / "out" / "outbox.db") if row[3] != b"\xa1"]) != []


@pytest.mark.parametrize("damage, why", [
    ("DELETE FROM messages WHERE n > 27", "5 rows are missing behind the last one"),
    ("DELETE FROM messages", "32 rows are missing before the first one, and no route has brought them away"),
    ("DELETE FROM messages WHERE n < 4", "3 rows are missing before the first one, and no route has brought them away"),
    ("DELETE FROM messages WHERE n IN (5, 6, 9)", "3 rows are missing between the first and the last"),
    ("UPDATE messages SET n = -n WHERE n IN (7, 8); UPDATE messages SET n = 15 + n WHERE n < 0", "the row of message 7 holds another one")])
def test_verify_finds_rows_that_are_gone_or_swapped(tmp_path, damage, why):
    run_test_graph(tmp_path)
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db")) as file:
        file.executescript(damage)
    verified = run(tmp_path, "verify", "out/outbox.db")
    assert verified.returncode == 65 and why in verified.stdout, verified.stdout


def test_verify_finds_nothing_wrong_with_rows_that_a_route_has_brought_away(tmp_path):
    run_test_graph(tmp_path)
    for damage, code in (("INSERT INTO cursors VALUES('redis', 20); DELETE FROM messages WHERE id <= 20", 0),
                         ("DELETE FROM messages WHERE id <= 22", 65), ("UPDATE cursors SET id = 32; DELETE FROM messages", 0)):
        with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db")) as file:
            file.executescript(damage)
        verified = run(tmp_path, "verify", "out/outbox.db")
        assert verified.returncode == code, verified.stdout
    assert verified.stdout == "no messages\n"


def one_less(message):
    """The message as if one frame before it had never been."""
    return {key: value - 1 if key in ("n", "frame", "frames", "last_n", "last_frame") else value for key, value in message.items()}


# What is done to the messages of a whole run, as a list, and what is said of it: all keys are right, the frames are not.
PLANTED_FRAMES = {
    "hole": (lambda all: [*all[:10], *map(one_less, all[11:])], "message 11 accounts for frame 10, expected was 9"),
    "doubled": (lambda all: [*all[:10], {**all[9], "n": 11}, *({**one, "n": one["n"] + 1} for one in all[10:])],
                "message 11 accounts for frame 8, expected was 9"),
    "swapped": (lambda all: [*all[:9], {**all[10], "n": 10}, {**all[9], "n": 11}, *all[11:]],
                "message 10 accounts for frame 9, expected was 8"),
    "end": (lambda all: [*all[:-1], {**all[-1], "frames": 31}], "run_end says 31 frames, the messages account for 30"),
}


@pytest.mark.parametrize("fault", PLANTED_FRAMES)
def test_verify_finds_frames_that_are_missing_doubled_or_swapped_behind_right_keys(tmp_path, fault):
    run_test_graph(tmp_path, "format: json, drain: 0")
    plant, why = PLANTED_FRAMES[fault]
    bodies = plant(messages(tmp_path))
    if fault == "hole":  # the frames keep their numbers, the keys close up
        bodies = [*bodies[:10], *({**one, "frame": one["frame"] + 1} if "frame" in one else one for one in bodies[10:])]
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db")) as file:
        run_number, = file.execute("SELECT max(run) FROM runs").fetchone()
        file.execute("DELETE FROM messages")
        file.execute("DELETE FROM sqlite_sequence")
        file.executemany("INSERT INTO messages(run, camera, n, kind, first, last, body) VALUES(?, 'camera', ?, ?, ?, ?, ?)",
                         [(run_number, one["n"], one["kind"], one.get("frame", 1), one.get("frame", 0), json.dumps(one).encode())
                          for one in bodies])
        file.commit()
    verified = run(tmp_path, "verify", "out/outbox.db")
    assert verified.returncode == 65 and why in verified.stdout, verified.stdout
    assert judge(kept(tmp_path / "out" / "outbox.db")) != []


def test_verify_refuses_what_is_no_outbox(tmp_path):
    (tmp_path / "text").write_text("no outbox" * 1000)
    assert run(tmp_path, "verify", "absent.db").returncode == 66
    assert run(tmp_path, "verify", "text").returncode == 65


def test_a_second_process_exits_73(tmp_path):
    first = Start(tmp_path)
    first.wait_until_kept(20)
    second = run_test_graph(tmp_path)
    assert second.returncode == 73 and "belongs to another process" in second.stderr
    first.kill()


def test_a_run_grows_when_the_clock_steps_back(tmp_path):
    run_test_graph(tmp_path)
    far = 9_000_000_000_000
    with sqlite3.connect(tmp_path / "out" / "outbox.db") as file:  # as if the clock had been in the year 2255
        file.execute("UPDATE runs SET run = ?", [far])
    run_test_graph(tmp_path)
    assert messages(tmp_path)[-1]["run"] == far + 1


def test_a_program_that_is_stopped_keeps_its_outbox_and_goes_on_where_it_was(tmp_path):
    first = Start(tmp_path)
    first.wait_until_kept(50)
    first.process.send_signal(signal.SIGSTOP)
    second = run_test_graph(tmp_path)
    assert second.returncode == 73 and "belongs to another process" in second.stderr
    first.process.send_signal(signal.SIGCONT)
    first.wait_until_kept(first.sent + 50)
    said = first.finish()
    assert first.code == 0, said
    assert judge(kept(tmp_path / "out" / "outbox.db"), [(first.sent, False)]) == []


@pytest.mark.parametrize("content", ["no database", "damaged pages"])
def test_a_damaged_file_is_moved_aside_and_the_run_goes_on(tmp_path, content):
    run_test_graph(tmp_path)
    path = tmp_path / "out" / "outbox.db"
    whole = path.read_bytes()
    path.write_bytes(b"no database" * 999 if content == "no database" else whole[:4096] + b"\xff" * (len(whole) - 4096))
    done = run_test_graph(tmp_path)
    assert done.returncode == 0, done.stderr
    (aside,) = (tmp_path / "out").glob("outbox.db.corrupt-*[0-9]")
    assert aside.name in done.stderr
    assert [message["kind"] for message in messages(tmp_path)].count("frame") == 30
    assert run(tmp_path, "verify", "out/outbox.db").returncode == 0


def size_of(folder):
    return sum(path.stat().st_size for path in (folder / "out").glob("outbox.db*"))


def test_a_full_outbox_makes_gaps_of_the_oldest_and_stays_below_its_size(tmp_path):
    limit = 2 << 20
    done = run_test_graph(tmp_path, f"format: json, max_bytes: {limit}, disk_full: drop_oldest, drain: 0", frames=600, size=300)
    assert done.returncode == 0, done.stderr
    assert "is full" in done.stderr
    assert size_of(tmp_path) <= 1.01 * limit
    found = messages(tmp_path)
    kinds = [message["kind"] for message in found]
    assert kinds[1] == "gap" and kinds[-2] == "frame" and found[1]["reason"] == "outbox_full"
    assert [message["n"] for message in found] == list(range(1, 603))  # no key is missing
    numbers = [message["frame"] if message["kind"] == "frame" else message["from"] for message in found[1:-1]]
    assert numbers == list(range(600))
    assert run(tmp_path, "verify", "out/outbox.db").returncode == 0


def test_a_full_outbox_that_blocks_says_so_and_ends_when_it_is_asked_to(tmp_path):
    start = Start(tmp_path, more="format: json, max_bytes: 1048576, drain: 0", pause=0)
    start.wait_until_kept(2000, seconds=8)
    start.process.terminate()
    said = start.end()
    assert start.code in (74, 143), (start.code, said)
    assert "is full" in said
    assert size_of(tmp_path) <= 1.01 * (1 << 20)
    run_test_graph(tmp_path, "disk_full: drop_oldest, max_bytes: 1048576, drain: 0", frames=2)
    verified = run(tmp_path, "verify", "out/outbox.db")
    assert verified.returncode == 0, verified.stdout


def test_a_sink_that_would_drop_frames_itself_is_refused(tmp_path):
    done = run_test_graph(tmp_path, "on_full: drop_oldest")
    assert done.returncode == 78 and "accounts for every frame" in done.stderr


@pytest.mark.parametrize("camera", ["North", "a b", "", "-a", "a" * 33])
def test_a_name_that_is_none_is_refused(tmp_path, camera):
    done = run_test_graph(tmp_path, f"camera: {json.dumps(camera)}")
    assert done.returncode == 78 and "is no name" in done.stderr


def test_two_sinks_of_one_camera_need_two_outboxes_and_two_cameras_share_one(tmp_path):
    assert run_test_graph(tmp_path, "drain: 0}, {type: publish, name: again, outbox: outbox.db").returncode == 78
    done = run_test_graph(tmp_path, "drain: 0}, {type: publish, name: again, camera: south, outbox: outbox.db")
    assert done.returncode == 0, done.stderr
    found = messages(tmp_path)
    assert {message["run"] for message in found if message["camera"] == "south"} == {found[-1]["run"]}
    assert run(tmp_path, "verify", "out/outbox.db").stdout.count(": complete") >= 2


def test_an_absent_module_ends_with_69_and_names_the_package(tmp_path):
    shutil.copytree(LIBRARY.parent / "contorno", tmp_path / "modules", ignore=shutil.ignore_patterns("publish.so"))
    (tmp_path / "graph.yaml").write_text(TEST_GRAPH.format(more="drain: 0", frames=3, size=64, pipeline=""))
    done = run(tmp_path, "run", "graph.yaml", "--quiet", "--output", "out", env={"CONTORNO_MODULES": str(tmp_path / "modules")})
    assert done.returncode == 69 and "install the package contorno-publish" in done.stderr
