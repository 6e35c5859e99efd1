"""The size of an outbox whose broker is away until it is full: never more than one in a hundred above its bound, at any moment, and
every frame's number is accounted for when the broker is back."""
import contextlib
import pathlib
import sqlite3
import threading
import time

import pytest
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("redis", whole_file=True)
from tests.campaign.judge import decoded, in_redis, judge, kept  # noqa: E402
from tests.plugins.publish.disk_test import LIVE, outbox  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402
from tests.plugins.publish.servers import redis_server  # noqa: E402, F401
from tests.waiting import wait_for  # noqa: E402

BOUND = 1 << 20


class Size:
    """The largest size of file and write-ahead log that was seen."""

    def __init__(self, path):
        self.parts = [pathlib.Path(f"{path}-wal"), path]
        self.most, self.is_over = 0, False
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.is_over:
            size = 0
            for part in self.parts:
                with contextlib.suppress(FileNotFoundError):
                    size += part.stat().st_size
            self.most = max(self.most, size)
            time.sleep(0.002)

    def end(self):
        self.is_over = True
        self.thread.join()
        return self.most


def line(folder, policy, more=""):
    return Start(folder, more=f"format: json, max_bytes: {BOUND}, disk_full: {policy}, drain: 600000, queue: 8{more}", **LIVE)


# What the frames become that have no room, and the words of their gaps.
POLICIES = {"block": "outbox", "thin": "outbox", "drop_oldest": "outbox_full"}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_broker_that_is_away_until_the_outbox_is_full(tmp_path, redis_server, policy):  # noqa: F811
    redis_server.kill()
    size = Size(outbox(tmp_path))
    start = line(tmp_path, policy, f", redis: '{redis_server.address()}'")
    wait_for(lambda: start.has_said("is full"))
    start.wait_until_kept(start.sent + 400)
    redis_server.start()
    client = redis_server.client()
    wait_for(lambda: client.xlen("line:north") > 0)
    start.wait_until_kept(start.sent + 100)
    said = start.finish()
    assert start.code == 0, said
    assert BOUND / 2 < size.end() <= 1.01 * BOUND
    rows = in_redis(client, "line", "north")
    assert judge(rows, [(start.sent, False)], doubles=True) == []
    assert kept(outbox(tmp_path)) == []
    found = [decoded(body) for *_, body in rows]
    assert POLICIES[policy] in {message.get("reason") for message in found}
    assert any(message.get("thin") for message in found) == (policy == "thin")


def gaps_of(folder):
    found = [decoded(body) for *_, body in kept(outbox(folder))]
    return sum(message.get("reason") == "outbox_full" for message in found)


def test_nothing_is_dropped_for_a_log_that_a_reader_keeps_long(tmp_path):
    """To drop what is oldest would free nothing while somebody reads the file, and make the log longer."""
    start = line(tmp_path, "drop_oldest")
    size = Size(outbox(tmp_path))
    wait_for(lambda: outbox(tmp_path).exists() and start.sent > 50)
    with contextlib.closing(sqlite3.connect(outbox(tmp_path), timeout=30, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        first = reader.execute("SELECT count(*) FROM messages").fetchone()[0]
        wait_for(lambda: start.has_said("another program reads it"))
        start.wait_until_kept(start.sent + 100)
        assert gaps_of(tmp_path) == 0
        assert reader.execute("SELECT count(*) FROM messages").fetchone()[0] == first
    start.wait_until_kept(start.sent + 100)
    said = start.finish()
    assert start.code == 0, said
    assert size.end() <= 1.01 * BOUND
    assert judge(kept(outbox(tmp_path)), [(start.sent, False)]) == []
