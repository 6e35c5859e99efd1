"""The route to MQTT: QoS 1, each message till its PUBACK, over kills of the program, an absent broker and one that is killed."""
import os
import random
import time

import pytest
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("mqtt", whole_file=True)
from tests.campaign.judge import judge, kept  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402
from tests.plugins.publish.servers import mosquitto_server  # noqa: E402, F401


def wait_for(found, ends, seconds=60):
    """Until so many runs have come to their ends."""
    until = time.monotonic() + seconds
    while sum(b"run_end" in body for *_, body in found) < ends and time.monotonic() < until:
        time.sleep(0.05)


def whole_run(folder, server, frames=60, drain=60_000):
    start = Start(folder, more=f"drain: {drain}, mqtt: '{server.address()}'", frames=frames, pause=0)
    return start.end(), start.code


def test_a_whole_run_comes_to_a_subscriber_in_order(tmp_path, mosquitto_server):
    client, found = mosquitto_server.subscriber("line/#")
    assert whole_run(tmp_path, mosquitto_server)[1] == 0
    wait_for(found, 1)
    client.loop_stop()
    assert judge(found, [(60, False)]) == []
    assert kept(tmp_path / "out" / "outbox.db") == []


def test_what_an_absent_broker_did_not_get_comes_with_the_next_run(tmp_path, mosquitto_server):
    mosquitto_server.kill()
    said, code = whole_run(tmp_path, mosquitto_server, drain=500)
    assert code == 0 and "messages are kept and tried again" in said
    mosquitto_server.start()
    client, found = mosquitto_server.subscriber("line/#")
    assert whole_run(tmp_path, mosquitto_server)[1] == 0
    wait_for(found, 2)
    client.loop_stop()
    assert judge(found, [(60, False), (60, False)]) == []


def test_every_message_reaches_a_subscriber_over_kills_of_the_program(tmp_path, mosquitto_server):
    client, found = mosquitto_server.subscriber("line/#")
    rng, sent = random.Random("mqtt-kills"), []
    for _ in range(int(os.environ.get("CONTORNO_KILLS", "4"))):
        start = Start(tmp_path, more=f"drain: 0, mqtt: '{mosquitto_server.address()}'", pause=0.001)
        start.wait_until_kept(rng.randrange(50, 300))
        start.kill()
        sent.append((start.sent, True))
    assert whole_run(tmp_path, mosquitto_server)[1] == 0
    wait_for(found, len({row[0] for row in found}))
    client.loop_stop()
    whole = len({row[0] for row in found}) == len(sent) + 1
    assert judge(found, [*sent, (60, False)] if whole else None, doubles=True) == []
    assert kept(tmp_path / "out" / "outbox.db") == []


def test_a_broker_that_is_killed_gets_again_what_it_had_not_acknowledged(tmp_path, mosquitto_server):
    start = Start(tmp_path, more=f"drain: 60000, mqtt: '{mosquitto_server.address()}'", frames=800, pause=0.003)
    start.wait_until_kept(200)
    mosquitto_server.kill()
    start.wait_until_kept(400)
    mosquitto_server.start()
    client, found = mosquitto_server.subscriber("line/#")
    said = start.end()
    assert start.code == 0 and "MQTT at 127.0.0.1" in said
    wait_for(found, 1)
    client.loop_stop()
    assert kept(tmp_path / "out" / "outbox.db") == []
    # What the broker acknowledged before it was killed, it may have lost: the rest is whole and in order.
    numbers = [row[2] for row in found]
    assert numbers[-1] == 802 and sorted(set(numbers)) == list(range(numbers[0], 803))
