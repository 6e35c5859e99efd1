"""The disk under an outbox: its writes fail, it is full, read-only, locked by somebody else, damaged while the line runs. The program
goes on or ends as it says, and what the file then has is judged. With CONTORNO_KILLS every write fails once, else a sample of them."""
import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import time

import pytest
from tests.conftest import ROOT, run_contorno
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("publish", whole_file=True)
from tests.campaign.judge import decoded, in_redis, judge, kept  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402
from tests.plugins.publish.servers import redis_server  # noqa: E402, F401
from tests.waiting import wait_for  # noqa: E402

FRAMES = 24
MORE = "format: json, drain: 0, queue: 8"


@pytest.fixture(scope="module")
def broken_disk(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs the compiler cc, of the Debian package build-essential")
    library = tmp_path_factory.mktemp("disk") / "broken_disk.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, ROOT / "tests" / "data" / "faults" / "broken_disk.c", "-ldl"],
                   check=True)
    return library


def outbox(folder):
    return folder / "out" / "outbox.db"


def whole_run(folder, more=MORE, frames=FRAMES, **rest):
    start = Start(folder, more=more, frames=frames, pause=0, **rest)
    said = start.end()
    return start, said


def assert_whole(folder, more=MORE):
    start, said = whole_run(folder, more)
    assert start.code == 0, said


def sent_and_killed(rows, start):
    """What the judge is to know of a start between two whole ones: nothing, if no message of it was kept; one that has its end as a
    whole run is one, whatever the program said of it."""
    runs = list(dict.fromkeys(row[0] for row in rows))
    if len(runs) < 3:
        return []
    ends = [decoded(row[3]) for row in rows if row[0] == runs[1] and b'"run_end"' in row[3]]
    return [(start.sent, start.code != 0 and ends[0]["crashed"])]


# Which error, how many calls fail (0: all from there on), and by what factor the calls of a sample grow.
TROUBLES = {"eio-once": (errno.EIO, 1, 1.5), "eio-on": (errno.EIO, 0, 3), "full-for-a-while": (errno.ENOSPC, 30, 3)}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_whichever_write_fails_what_was_kept_is_there(tmp_path, broken_disk, trouble):
    number, count, growth = TROUBLES[trouble]
    base = tmp_path / "base"
    base.mkdir()
    assert_whole(base)
    call, codes = 1, []
    while True:
        folder, came = tmp_path / f"call-{call}", tmp_path / f"came-{call}"
        shutil.copytree(base, folder)
        start, said = whole_run(folder, env={
            "LD_PRELOAD": str(broken_disk), "OMP_WAIT_POLICY": "passive", "FAULT_FILE": "outbox.db", "FAULT_CALL": str(call),
            "FAULT_COUNT": str(count), "FAULT_ERRNO": str(number), "FAULT_CAME": str(came)})
        assert start.code in ((0, 74) if came.exists() else (0,)), (call, start.code, said)
        assert start.code == 0 or "outbox.db' failed: " in said, (call, said)
        assert not list((folder / "out").glob("*corrupt*")), (call, said)
        codes.append(start.code)
        assert_whole(folder)  # the disk is mended
        rows = kept(outbox(folder))
        sent = [(FRAMES, False), *sent_and_killed(rows, start), (FRAMES, False)]
        assert judge(rows, sent) == [], (call, start.code, said)
        shutil.rmtree(folder)
        if not came.exists():
            break
        call = call + 1 if "CONTORNO_KILLS" in os.environ else int(call * growth) + 1
    print(f"{trouble}: {len(codes)} runs of {call} calls, {codes.count(74)} ended with 74, {codes.count(0)} went on, 0 faults")
    assert call > 40 and codes.count(74) > 2 and codes[-1] == 0


@pytest.mark.parametrize("call", [120, 131, 150])
def test_a_line_goes_on_once_its_disk_has_room_again(tmp_path, broken_disk, call):
    came = tmp_path / "came"
    assert_whole(tmp_path)
    start = Start(tmp_path, more=MORE, env={
        "LD_PRELOAD": str(broken_disk), "OMP_WAIT_POLICY": "passive", "FAULT_FILE": "outbox.db", "FAULT_CALL": str(call),
        "FAULT_COUNT": "30", "FAULT_ERRNO": str(errno.ENOSPC), "FAULT_CAME": str(came)})
    wait_for(came.exists)
    had = start.sent
    wait_for(lambda: start.sent > had + 300)  # more than the queue, the ring and the pipe hold
    said = start.finish()
    assert start.code == 0 and "its disk has no room; it is tried again" in said, said
    assert judge(kept(outbox(tmp_path)), [(FRAMES, False), (start.sent, False)]) == []


@pytest.mark.parametrize("more", ["drain: 600000, redis: '{}'"])
def test_a_route_whose_cursor_cannot_be_kept_brings_its_messages_again(tmp_path, broken_disk, redis_server, more):  # noqa: F811
    more = "format: json, " + more.format(redis_server.address())
    sent = []
    for call in range(20, 100, 16):
        start, said = whole_run(tmp_path, more, frames=200, env={
            "LD_PRELOAD": str(broken_disk), "OMP_WAIT_POLICY": "passive", "FAULT_FILE": "outbox.db", "FAULT_CALL": str(call),
            "FAULT_COUNT": "1", "FAULT_ERRNO": str(errno.EIO)})
        assert start.code in (0, 74), said
        sent.append((start.sent, start.code != 0))
    assert_whole(tmp_path, more)
    rows = in_redis(redis_server.client(), "line", "north")
    whole = len({row[0] for row in rows}) == len(sent) + 1
    assert judge(rows, [*sent, (FRAMES, False)] if whole else None, doubles=True) == []
    assert kept(outbox(tmp_path)) == []


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of so many bytes in the folder."""
    folder.mkdir(exist_ok=True)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                                           capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a file system of its own")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


# Frames that come whether anybody takes them or not: the ring drops what has no room.
LIVE = {"live": True, "rate": 200, "pause": 0.005, "pipeline": "threads: 1, on_full: drop_oldest"}


def test_a_full_disk_holds_up_the_line_until_its_broker_is_back(tmp_path, redis_server):  # noqa: F811
    redis_server.kill()
    with small_disk(tmp_path / "out", 5 << 19):
        start = Start(tmp_path, more=f"format: json, drain: 600000, queue: 8, redis: '{redis_server.address()}'", **LIVE)
        wait_for(lambda: start.has_said("its disk has no room"))
        start.wait_until_kept(start.sent + 100)
        redis_server.start()
        client = redis_server.client()
        wait_for(lambda: client.xlen("line:north") > 0)
        start.wait_until_kept(start.sent + 200)
        said = start.finish()
        assert start.code == 0, said
        rows = in_redis(client, "line", "north")
        assert judge(rows, [(start.sent, False)], doubles=True) == []
        assert "outbox" in {decoded(body).get("reason") for *_, body in rows}
        assert kept(outbox(tmp_path)) == []


def test_a_line_whose_disk_stays_full_ends_when_it_is_asked_to_and_keeps_what_it_had(tmp_path):
    with small_disk(tmp_path / "out", 5 << 19):
        start = Start(tmp_path, more=MORE, **LIVE)
        wait_for(lambda: start.has_said("its disk has no room"))
        start.wait_until_kept(start.sent + 100)
        rows = kept(outbox(tmp_path))
        start.process.terminate()
        said = start.end()
        assert start.code in (74, 143), (start.code, said)
        assert len(rows) > 50 and kept(outbox(tmp_path))[:len(rows)] == rows
        assert judge(rows, [(start.sent, True)]) == []


@pytest.mark.parametrize("name", ["out", "out/outbox.db"])
def test_an_outbox_that_may_only_be_read_ends_with_73_and_is_left_as_it_is(tmp_path, name):
    assert_whole(tmp_path)
    rows = kept(outbox(tmp_path))
    bound = f"mount --bind '{name}' '{name}' && mount -o remount,ro,bind '{name}' && exec \"$@\""
    if subprocess.run(["unshare", "-m", "sh", "-c", bound, "sh", "true"], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a folder for reading alone")
    start, said = whole_run(tmp_path, wrapper=["unshare", "-m", "sh", "-c", bound, "sh"])
    assert start.code == 73 and "outbox.db" in said, (start.code, said)
    assert kept(outbox(tmp_path)) == rows
    assert_whole(tmp_path)


def test_a_lock_of_somebody_else_is_waited_for_while_the_line_runs_and_ends_a_start_with_73(tmp_path):
    """SQLite itself waits 10 s."""
    running, starting = tmp_path / "running", tmp_path / "starting"
    for folder in (running, starting):
        folder.mkdir()
        assert_whole(folder)
    line = Start(running, more=MORE, **LIVE)
    wait_for(lambda: len(kept(outbox(running))) > FRAMES + 10)
    with contextlib.ExitStack() as locks:
        for folder in (running, starting):
            file = locks.enter_context(contextlib.closing(sqlite3.connect(outbox(folder), timeout=30)))
            file.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        refused, said = whole_run(starting)
        assert refused.code == 73 and "database is locked" in said, (refused.code, said)
        time.sleep(max(0, began + 12 - time.monotonic()))
    said = line.finish()
    assert line.code == 0 and "another program has locked it" in said, (line.code, said)
    assert judge(kept(outbox(running)), [(FRAMES, False), (line.sent, False)]) == []
    assert_whole(starting)


def test_damage_that_the_writer_meets_ends_the_old_file_and_nothing_more(tmp_path):
    start = Start(tmp_path, more=MORE, pause=0.005)
    path = outbox(tmp_path)
    wait_for(lambda: path.exists() and start.sent > 100)
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as file:
        wait_for(lambda: file.execute("SELECT count(*) FROM messages").fetchone()[0] > 60)
        while file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0:
            pass
        file.execute("BEGIN IMMEDIATE")  # nobody writes meanwhile; and the writer has to read again what it knows
        file.execute("INSERT INTO refused VALUES('nobody', 0, '', 0, '', '')")
        last = file.execute("SELECT max(n) FROM messages").fetchone()[0]
        with open(path, "r+b") as pages:
            size = path.stat().st_size
            pages.seek(4096)
            pages.write(b"\xff" * (size - 4096))
        file.commit()
    wait_for(lambda: list((tmp_path / "out").glob("outbox.db.corrupt-*[0-9]")))
    start.wait_until_kept(start.sent + 100)
    said = start.finish()
    assert start.code == 0 and "was damaged; it was moved to" in said, (start.code, said)
    found = [decoded(body) for *_, body in kept(path)]
    # The new file has all that was not yet kept when the old one was damaged.
    assert found[0]["n"] <= last + 2
    assert [message["n"] for message in found] == list(range(found[0]["n"], start.sent + 3))
    assert [message["frame"] for message in found[:-1]] == list(range(found[0]["n"] - 2, start.sent))
    assert found[-1]["kind"] == "run_end" and found[-1]["frames"] == start.sent
    assert run_contorno("verify", path).stdout.count(": complete") == 1
    assert_whole(tmp_path)
