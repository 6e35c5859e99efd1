"""The route to Kafka, on librdkafka's mock cluster: every error that a broker may answer to Produce, and a broker that is away.
kcat reads what came."""
import contextlib
import os
import random
import shutil
import sqlite3

import pytest
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("kafka", whole_file=True)
if shutil.which("kcat") is None:
    pytest.skip("needs kcat", allow_module_level=True)
from tests.campaign.judge import judge, kept  # noqa: E402
from tests.plugins.publish.brokers import KafkaBroker, last_run, settle  # noqa: E402
from tests.plugins.publish.line import Start, planted  # noqa: E402
from tests.plugins.publish.servers import MockKafka  # noqa: E402
from tests.waiting import wait_for  # noqa: E402

# What a broker may answer to Produce: unknown, corrupt, unknown topic, no leader, not the leader, timed out, network,
# coordinator, not enough replicas (before and after), epoch.
ERRORS = [-1, 2, 3, 5, 6, 7, 13, 16, 19, 20, 74]


@pytest.fixture
def kafka():
    mock = MockKafka()
    yield mock
    mock.process.kill()
    mock.process.wait()


def start(folder, kafka, frames=200, pause=0.002, drain=60_000, env=None):
    return Start(folder, more=f"format: json, drain: {drain}, kafka: 'kafka://{kafka.address}/line'", frames=frames, pause=pause, env=env)


def test_a_whole_run_comes_to_a_partition_in_order(tmp_path, kafka):
    one = start(tmp_path, kafka)
    said = one.end()
    assert one.code == 0, said
    assert judge(kafka.read(), [(200, False)], doubles=True) == []
    assert kept(tmp_path / "out" / "outbox.db") == []


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_of_produce_leaves_no_hole(tmp_path, kafka, code):
    one, rng = start(tmp_path, kafka), random.Random(code)
    for _ in range(2):
        one.wait_until_kept(one.sent + rng.randrange(20, 60))
        kafka.tell(f"errors {code}")
    said = one.end(timeout=120)
    assert one.code == 0, said
    assert judge(kafka.read(), [(200, False)], doubles=True) == []
    assert kept(tmp_path / "out" / "outbox.db") == []


# The others that librdkafka knows. Not among them: 0; 10 and 18, a message or a request that is too large; and 46, by which a broker
# says that it has the message: one that lies loses it.
OTHERS = sorted(set(range(1, 98)) - set(ERRORS) - {10, 18, 46})
SOME_OTHERS = [29, 45, 59]  # not allowed, out of sequence, an id of a producer that is not known


@pytest.fixture
def broker(tmp_path):
    """Whose messages are read along: the mock cluster forgets."""
    made = KafkaBroker(tmp_path)
    yield made
    made.end()


def test_every_other_error_of_produce_in_turn_leaves_no_hole(tmp_path, broker):
    """All of them with CONTORNO_KILLS."""
    one = Start(tmp_path, more=f"format: json, drain: 60000, {broker.option()}", pause=0.02)
    wait_for(lambda: one.sent > 20)
    codes = OTHERS if "CONTORNO_KILLS" in os.environ else SOME_OTHERS
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "outbox.db", timeout=30)) as file:
        for code in codes:
            broker.mock.tell(f"errors {code}")
            before = file.execute("SELECT seq FROM sqlite_sequence").fetchone()[0]
            wait_for(lambda before=before: file.execute("SELECT id FROM cursors").fetchone()[0] > before)
    said = one.finish()
    assert one.code == 0, said
    assert all(line.startswith("contorno: ") for line in said.splitlines())  # none of the library's own
    rows = settle(broker, last_run(tmp_path))
    assert judge(rows, [(one.sent, False)], doubles=True) == []
    assert kept(tmp_path / "out" / "outbox.db") == []
    print(f"{len(codes)} codes, {len(rows)} messages of {one.sent} frames")


def test_a_broker_that_is_away_is_waited_for(tmp_path, kafka):
    one = start(tmp_path, kafka, frames=600)
    one.wait_until_kept(100)
    kafka.tell("down")
    one.wait_until_kept(400)
    kafka.tell("up")
    said = one.end()
    assert one.code == 0, said
    assert judge(kafka.read(), [(600, False)], doubles=True) == []


TOO_LARGE = [10, 18]  # MSG_SIZE_TOO_LARGE, RECORD_LIST_TOO_LARGE


@pytest.mark.parametrize("code", TOO_LARGE)
def test_a_request_that_is_too_large_loses_none_of_its_messages(tmp_path, kafka, code):
    """The broker refuses a request of many messages that have waited for it; alone, the first one is taken."""
    one = start(tmp_path, kafka)
    kafka.tell("down")
    one.wait_until_kept(200)
    kafka.tell(f"errors {code}")
    kafka.tell("up")
    said = one.end()
    assert one.code == 0 and "set aside" not in said, said
    assert judge(kafka.read(), [(200, False)], doubles=True) == []


@pytest.mark.parametrize("code", TOO_LARGE)
def test_a_message_that_is_too_large_is_set_aside_and_those_behind_it_are_brought(tmp_path, kafka, code):
    one = start(tmp_path, kafka)
    one.wait_until_kept(50)
    kafka.tell(f"errors {code} {code}")
    said = one.end()
    assert one.code == 0 and "was refused and set aside" in said, said
    with sqlite3.connect(tmp_path / "out" / "outbox.db") as file:
        refused = [n for n, in file.execute("SELECT n FROM refused")]
    brought = {n for _, _, n, _ in kafka.read()}
    assert refused and not brought & set(refused) and brought | set(refused) == set(range(1, 203))


def test_the_judge_finds_a_report_that_is_passed_over(tmp_path, kafka):
    one = start(tmp_path, kafka, env=planted("report passed over"))
    for _ in range(4):
        one.wait_until_kept(one.sent + 30)
        kafka.tell("errors -1")
    one.end()
    assert judge(kafka.read(), doubles=True) != []
