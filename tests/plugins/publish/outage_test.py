"""What may happen to brokers and to the way to them, done to those of all routes at once: they are killed, away, stopped, as slow
as can be; and the program is killed beside them. Nothing that was kept is lost, all comes in order, and a run ends in time.
CONTORNO_KILLS=50 kills so often."""
import contextlib
import os
import random
import sqlite3
import time

import pytest
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("redis", "mqtt", "kafka", whole_file=True)
from tests.campaign.judge import judge, kept  # noqa: E402
from tests.plugins.publish.brokers import KINDS, all_options, kill_count, last_run, settle  # noqa: E402
from tests.plugins.publish.line import Start, kept_of_frames  # noqa: E402
from tests.plugins.publish.valve import nobody_takes_up  # noqa: E402
from tests.waiting import wait_for  # noqa: E402

LONG = 600_000  # ms: a drain that is not waited for in full


@pytest.fixture
def brokers(tmp_path):
    made = []
    try:
        made.extend(kind(tmp_path) for kind in KINDS.values())
        yield made
    finally:
        for one in made:
            one.end()


def line_folder(tmp_path):
    folder = tmp_path / "line"
    folder.mkdir()
    return folder


def judged(folder, brokers, sent):
    """Each broker has all, in order; `sent` as the judge's. Says how much that was."""
    run = last_run(folder)
    assert kept(folder / "out" / "outbox.db") == []
    with sqlite3.connect(folder / "out" / "outbox.db") as file:
        assert file.execute("SELECT count(*) FROM refused").fetchone()[0] == 0
    for broker in brokers:
        rows = settle(broker, run)
        # A start that was killed before its first message was kept has no run.
        is_whole = len({row[0] for row in rows}) == len(sent)
        assert judge(rows, sent if is_whole else None, doubles=True) == [], broker.name
        keys = {row[:3] for row in rows}
        print(f"{broker.name}: {len(keys)} messages of {sum(noted for noted, _ in sent)} frames that were sent, "
              f"{len(rows) - len(keys)} came again")
        assert len(keys) > 50


@pytest.mark.parametrize("sync", ["full", "normal"])
def test_kills_of_the_program_lose_nothing(tmp_path, brokers, sync):
    folder, count, rng, sent = line_folder(tmp_path), kill_count(2), random.Random(f"outage-{sync}"), []
    for _ in range(count):
        start = Start(folder, more=f"drain: 0, queue: 16, sync: {sync}, {all_options(brokers)}", pause=0.001)
        start.wait_until_kept(rng.randrange(50, 500))
        start.kill()
        sent.append((start.sent, True))
    last = Start(folder, more=f"drain: {LONG}, queue: 16, sync: {sync}, {all_options(brokers)}", frames=100, pause=0)
    said = last.end(timeout=600)
    assert last.code == 0, said
    print(f"sync: {sync}, {count} kills of the program")
    judged(folder, brokers, [*sent, (100, False)])


def test_kills_of_the_brokers_lose_nothing(tmp_path, brokers):
    folder, count, rng = line_folder(tmp_path), kill_count(2), random.Random("brokers")
    start = Start(folder, more=f"drain: {LONG}, {all_options(brokers)}", pause=0.01)
    for _ in range(count):
        before = [broker.count() for broker in brokers]
        wait_for(lambda before=before: all(broker.count() > was for broker, was in zip(brokers, before)))
        for broker in brokers:
            time.sleep(rng.uniform(0, 0.2))
            broker.kill()
        for broker in rng.sample(brokers, len(brokers)):
            time.sleep(rng.uniform(0, 0.2))
            broker.start()
    said = start.finish(timeout=600)
    assert start.code == 0, said
    assert "route 'redis'" in said and "route 'mqtt'" in said  # the library for Kafka does not speak of every loss
    print(f"{count} kills of each broker")
    judged(folder, brokers, [(start.sent, False)])


# What a broker's way may be like. Each gives the port to which the route is led, or None for the usual one.
@contextlib.contextmanager
def absent(broker):
    broker.kill()
    yield None
    broker.start()


@contextlib.contextmanager
def byte_a_second(broker):
    """Of what is answered: a way on which something always comes."""
    broker.valve.answer_rate = 1
    yield None
    broker.valve.answer_rate = None


@contextlib.contextmanager
def silent(_):
    with nobody_takes_up() as port:
        yield port


TROUBLES = [byte_a_second, silent, absent]
TURNS = range(len(TROUBLES)) if "CONTORNO_KILLS" in os.environ else [0]  # each for each, or one for one


@pytest.mark.parametrize("turn", TURNS)
def test_a_run_without_brokers_ends_in_time_and_the_next_one_brings_everything(tmp_path, brokers, turn):
    """In time: tens of seconds, where a route that waits for its library, or for each byte, takes minutes."""
    folder, troubles = line_folder(tmp_path), [TROUBLES[(place + turn) % len(TROUBLES)] for place in range(len(brokers))]
    with contextlib.ExitStack() as ways:
        options = [broker.option(ways.enter_context(trouble(broker))) for broker, trouble in zip(brokers, troubles)]
        began = time.monotonic()
        start = Start(folder, more=", ".join(["format: json, drain: 500", *options]), frames=60, pause=0)
        said = start.end(timeout=1000)
        assert start.code == 0, said
        assert time.monotonic() - began < 100
        assert len(kept_of_frames(folder / "out" / "outbox.db")) == 62
        for broker, trouble in zip(brokers, troubles):  # MQTT connects with an answer of four bytes
            assert trouble is byte_a_second and broker.name == "mqtt" or f"route '{broker.name}'" in said
    start = Start(folder, more=f"drain: {LONG}, {all_options(brokers)}", frames=60, pause=0)
    said = start.end()
    assert start.code == 0, said
    judged(folder, brokers, [(60, False), (60, False)])


def test_brokers_that_are_stopped_get_everything_once_they_go_on(tmp_path, brokers):
    folder = line_folder(tmp_path)
    before = [broker.count() for broker in brokers]
    start = Start(folder, more=f"drain: {LONG}, {all_options(brokers)}", pause=0.01)
    wait_for(lambda: all(broker.count() > was for broker, was in zip(brokers, before)))
    for broker in brokers:
        broker.pause()
    time.sleep(7)  # longer than a route waits
    for broker in brokers:
        broker.resume()
    said = start.finish()
    assert start.code == 0, said
    for broker in brokers:
        assert f"route '{broker.name}'" in said
    judged(folder, brokers, [(start.sent, False)])


def test_a_slow_way_carries_what_no_batch_of_the_usual_size_gets_over_in_time(tmp_path, brokers):
    """64 messages take longer than a route waits: it has to try with fewer, not with the same again and again."""
    folder = line_folder(tmp_path)
    Start(folder, more="format: json, drain: 0", frames=200, pause=0).end()  # so that the first batch is a whole one
    for broker in brokers:
        broker.valve.rate = 5000
    start = Start(folder, more=f"drain: {LONG}, {all_options(brokers)}", frames=20, pause=0)
    with contextlib.closing(sqlite3.connect(folder / "out" / "outbox.db", timeout=30)) as file:
        # That something came says nothing: of a connection that was given up, the rest may come all the same.
        wait_for(lambda: file.execute("SELECT count(*) FROM cursors WHERE id > 0").fetchone()[0] == len(brokers))
    for broker in brokers:
        broker.valve.rate = None
    said = start.end()
    assert start.code == 0, said
    for broker in brokers:
        assert f"route '{broker.name}'" in said
    judged(folder, brokers, [(200, False), (20, False)])
