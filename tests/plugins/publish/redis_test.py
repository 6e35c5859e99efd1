"""The route to Redis: over kills of both sides, an absent, forgetful, full and locked server, and a consumer that is killed."""
import contextlib
import os
import random
import sqlite3
import subprocess
import threading
import time

import pytest
from tests.conftest import ROOT
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("redis", whole_file=True)
from tests.campaign.judge import in_redis, judge, kept  # noqa: E402
from tests.plugins.publish.line import Start, kept_of_frames, planted  # noqa: E402
from tests.plugins.publish.servers import RedisServer, mosquitto_server, redis_server  # noqa: E402, F401

CONSUMER = ROOT / "docs" / "examples" / "consumer.py"


def whole_run(folder, server, frames=60, more="", env=None, drain=60_000, pause=0):
    start = Start(folder, more=f"drain: {drain}, redis: '{server.address()}'{more}", frames=frames, pause=pause, env=env)
    said = start.end()
    return start.code, said


def streamed(server):
    return in_redis(server.client(), "line", "north")


def left_in_outbox(folder):
    return kept(folder / "out" / "outbox.db")


def test_a_whole_run_comes_to_the_broker_in_order_once_and_leaves_the_outbox_empty(tmp_path, redis_server):
    assert whole_run(tmp_path, redis_server)[0] == 0
    assert judge(streamed(redis_server), [(60, False)]) == []
    assert left_in_outbox(tmp_path) == []


def test_what_an_absent_broker_did_not_get_comes_with_the_next_run(tmp_path, redis_server):
    redis_server.kill()
    code, said = whole_run(tmp_path, redis_server, drain=500)
    assert code == 0 and "messages are kept and tried again" in said
    assert len(kept_of_frames(tmp_path / "out" / "outbox.db")) == 62
    redis_server.start()
    redis_server.client()
    assert whole_run(tmp_path, redis_server)[0] == 0
    assert judge(streamed(redis_server), [(60, False), (60, False)]) == []


@pytest.mark.parametrize("names", [("redis", "mqtt"), ("mqtt", "redis")])
def test_a_route_that_has_a_message_keeps_it_for_one_that_was_never_reached(tmp_path, redis_server, names):
    """One broker has all; the other, which was added with the run and is away, must still get every message."""
    need_modules("mqtt")
    away = "127.0.0.1:1"
    addresses = {"redis": redis_server.address() if names[0] == "redis" else f"redis://{away}/line", "mqtt": f"mqtt://{away}/line"}
    routes = ", ".join(f"{name}: '{addresses[name]}'" for name in names)
    start = Start(tmp_path, more=f"drain: 500, {routes}", frames=60, pause=0)
    said = start.end()
    assert start.code == 0, said
    assert len(kept_of_frames(tmp_path / "out" / "outbox.db")) == 62
    with sqlite3.connect(tmp_path / "out" / "outbox.db") as file:
        assert {route for route, in file.execute("SELECT route FROM cursors")} == set(names)


def test_damage_that_a_route_meets_while_the_line_runs_ends_the_old_file(tmp_path, redis_server):
    """A page of messages that nobody writes to any more is damaged: only the route reads it."""
    redis_server.kill()
    start = Start(tmp_path, more=f"drain: 30000, format: json, redis: '{redis_server.address()}'", frames=600, pause=0.005)
    start.wait_until_kept(200)
    path = tmp_path / "out" / "outbox.db"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as file:
        until = time.monotonic() + 60
        while file.execute("SELECT max(id) FROM messages").fetchone()[0] < 150 and time.monotonic() < until:
            time.sleep(0.05)
        while file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0 and time.monotonic() < until:
            time.sleep(0.05)
    with open(path, "r+b") as file:
        page = file.read().index(b'"n":60,') // 4096
        file.seek(page * 4096)
        file.write(b"\xff" * 4096)
    redis_server.start()
    said = start.end()
    assert start.code == 0, said
    assert "was damaged; it was moved to" in said
    (aside,) = (tmp_path / "out").glob("outbox.db.corrupt-*[0-9]")
    assert aside.name in said
    before = [n for _, _, n, _ in streamed(redis_server)]
    assert before[:1] == [1] and before == sorted(before)  # what is in whole pages came before the damage was met
    # The next run works with the new file.
    assert whole_run(tmp_path, redis_server)[0] == 0
    assert left_in_outbox(tmp_path) == []
    assert [n for _, _, n, _ in streamed(redis_server)][-62:] == list(range(1, 63))


@pytest.mark.parametrize("settings", [("--appendonly", "no"),
                                      ("--appendonly", "yes", "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")])
def test_a_broker_that_forgets_is_refused(tmp_path, settings):
    server = RedisServer(tmp_path, *settings)
    try:
        server.client()
        code, said = whole_run(tmp_path, server)
        assert code == 78 and "'durable: any' in the graph" in said
        assert streamed(server) == []
        assert whole_run(tmp_path, server, more=", durable: any")[0] == 0
        assert judge(streamed(server), [(60, False)]) == []
    finally:
        server.kill()


def test_a_broker_without_memory_is_waited_for(tmp_path, redis_server):
    client = redis_server.client()
    client.config_set("maxmemory", client.info("memory")["used_memory"] + 60_000)
    start = Start(tmp_path, more=f"drain: 60000, redis: '{redis_server.address()}'", frames=400, pause=0)
    start.wait_until_kept(400)
    time.sleep(1)
    assert len(streamed(redis_server)) < 402
    client.config_set("maxmemory", 0)
    said = start.end()
    assert start.code == 0 and "OOM" in said
    assert judge(streamed(redis_server), [(400, False)]) == []


def test_a_route_that_is_added_later_begins_with_what_is_kept(tmp_path, redis_server, mosquitto_server):
    need_modules("mqtt")
    assert whole_run(tmp_path, redis_server)[0] == 0  # and so the outbox is empty
    client, found = mosquitto_server.subscriber("line/#")
    began = time.monotonic()
    assert whole_run(tmp_path, redis_server, more=f", mqtt: '{mosquitto_server.address()}'")[0] == 0
    assert time.monotonic() - began < 50  # it waits for nothing that is gone
    assert left_in_outbox(tmp_path) == []
    while len(found) < 62 and time.monotonic() - began < 100:
        time.sleep(0.05)
    client.loop_stop()
    assert judge(found, [(60, False)]) == []
    assert judge(streamed(redis_server), [(60, False)] * 2) == []


def test_a_login_that_is_refused_is_said_and_tried_again_without_its_password(tmp_path):
    server = RedisServer(tmp_path, "--appendonly", "yes", "--requirepass", "right")
    try:
        time.sleep(1)
        folder = tmp_path / "line"
        folder.mkdir()
        address = server.address().replace("redis://", "redis://:tellnobody@")
        start = Start(folder, more=f"drain: 300, redis: '{address}'", frames=5, pause=0)
        said = start.end()
        assert start.code == 0 and "route 'redis'" in said and "tellnobody" not in said
        address = server.address().replace("redis://", "redis://:right@")
        start = Start(folder, more=f"drain: 60000, redis: '{address}'", frames=5, pause=0)
        assert start.end() is not None and start.code == 0
        assert len(left_in_outbox(folder)) == 0
    finally:
        server.kill()


@pytest.mark.parametrize("address", ["http://127.0.0.1/line", "redis://127.0.0.1:99999/line", "redis://127.0.0.1:6379", "redis:///line",
                                     "redis://127.0.0.1/a*b"])
def test_an_address_that_is_none_is_refused(tmp_path, address):
    start = Start(tmp_path, more=f"redis: '{address}'", frames=1)
    said = start.end()
    assert start.code == 78 and "wanted redis://" in said


def kill_both(folder, server, count, seed, env=None):
    """Starts and servers that are killed at drawn moments; a last start brings everything to the server."""
    rng, sent = random.Random(seed), []
    for _ in range(count):
        start = Start(folder, more=f"drain: 0, queue: 16, redis: '{server.address()}'", pause=0.001, env=env)
        start.wait_until_kept(rng.randrange(50, 300))
        if rng.random() < 0.5:
            server.kill()
            server.start()
            start.wait_until_kept(start.sent + rng.randrange(20, 400))
        start.kill()
        sent.append((start.sent, True))
    server.client()
    start = Start(folder, more=f"drain: 120000, queue: 16, redis: '{server.address()}'", frames=100, pause=0, env=env)
    said = start.end()
    assert start.code == 0, said
    return [*sent, (100, False)]


def test_every_message_reaches_a_broker_over_kills_of_both(tmp_path, redis_server):
    count = int(os.environ.get("CONTORNO_KILLS", "4"))
    sent = kill_both(tmp_path, redis_server, count, "redis-kills")
    rows = streamed(redis_server)
    assert judge(rows, sent if len({row[0] for row in rows}) == len(sent) else None, doubles=True) == []
    assert left_in_outbox(tmp_path) == []
    print(f"{len(rows)} messages of {sum(noted for noted, _ in sent)} frames that were sent, {count} kills")


@contextlib.contextmanager
def now_and_then_without_memory(server):
    """The server refuses what would be added, and takes it again, faster than a batch of messages comes."""
    client, stop = server.client(), threading.Event()

    def switch():
        while not stop.is_set():
            for limit in (1, 0):
                client.config_set("maxmemory", limit)
    thread = threading.Thread(target=switch)
    thread.start()
    yield
    stop.set()
    thread.join()
    client.config_set("maxmemory", 0)


def play_refusals(folder, server, env):
    more = f"format: json, drain: 12000, queue: 500, redis: '{server.address()}'"
    with now_and_then_without_memory(server):
        Start(folder, more=more, frames=1500, pause=0, env=env).end()
    whole_run(folder, server, env=env)


PLANTED = {
    "two keys": lambda folder, server, env: whole_run(folder, server, frames=120, env=env),
    "gap left out": lambda folder, server, env: Start(folder, more=f"drain: 60000, redis: '{server.address()}'", frames=400, pause=0,
                                                      env=env, pipeline="threads: 1, on_full: wait, deadline: 0.3").end(),
    "cursor before report": play_refusals,
    "pipeline": play_refusals,
}


@pytest.mark.parametrize("fault", PLANTED)
def test_the_judge_finds_a_planted_fault(tmp_path, redis_server, fault):
    PLANTED[fault](tmp_path, redis_server, planted(fault))
    assert judge(streamed(redis_server), doubles=True) != []


@pytest.mark.parametrize("fault", ["gap left out", "pipeline"])
def test_the_judge_finds_nothing_where_none_is_planted(tmp_path, redis_server, fault):
    PLANTED[fault](tmp_path, redis_server, planted("none"))
    assert judge(streamed(redis_server), doubles=True) == []


def test_a_consumer_that_is_killed_has_each_message_once(tmp_path, redis_server):
    rng, table = random.Random("consumer"), tmp_path / "table.db"
    start = Start(tmp_path, more=f"drain: 60000, redis: '{redis_server.address()}'", frames=600, pause=0.002)
    for _ in range(6):
        consumer = subprocess.Popen(["/usr/bin/python3", CONSUMER, redis_server.address(), "north", table])
        time.sleep(rng.uniform(0.2, 0.6))
        consumer.kill()
        consumer.wait()
    start.end()
    assert start.code == 0
    subprocess.run(["/usr/bin/python3", CONSUMER, redis_server.address(), "north", table, "602"], check=True, timeout=60)
    with sqlite3.connect(table) as file:
        rows = file.execute("SELECT n, kind, frame, contours FROM results ORDER BY n").fetchall()
    assert [row[0] for row in rows] == list(range(1, 603))
    assert [row[2] for row in rows if row[1] == "frame"] == list(range(600))
    assert {row[3] for row in rows if row[1] == "frame"} == {1}
