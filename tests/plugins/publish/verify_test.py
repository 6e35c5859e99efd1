"""`contorno verify URL`: what a broker holds is judged as an outbox is, but for what comes to it again."""
import json
import subprocess

import pytest
from tests.conftest import run_contorno
from tests.modules import need_modules

need_modules("redis", whole_file=True)
from tests.plugins.publish.kafka_test import kafka  # noqa: E402, F401  (skips where there is no module, no kcat)
from tests.plugins.publish.line import Start  # noqa: E402
from tests.plugins.publish.servers import RedisServer, redis_server  # noqa: E402, F401


def publish(folder, route, frames=200, **more):
    start = Start(folder, more=f"drain: 60000, {route}", frames=frames, pause=0, **more)
    said = start.end()
    assert start.code == 0, said


def verify(*words, code=0, **more):
    done = run_contorno("verify", *words, check=False, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_redis_with_two_runs_of_two_cameras_is_complete(tmp_path, redis_server):  # noqa: F811
    address = redis_server.address()
    assert verify(address) == "no messages\n"
    for camera in ("north", "south", "north"):
        publish(tmp_path, f"redis: '{address}'", camera=camera)
    client = redis_server.client()
    client.xadd("line:a:b", {"x": 1})  # of another prefix
    client.set("line:text", "none of ours")
    lines = verify(address).splitlines()
    assert [line.split(": ")[0].split()[-1] for line in lines] == ["north", "south", "north"]
    assert all(line.endswith("messages 1 to 202, 200 frames, 0 failed, 0 in gaps, ended: complete") for line in lines)


def entries(client):
    return [(name.decode(), fields[b"m"]) for name, fields in client.xrange("line:north")]


@pytest.mark.parametrize("harm, said", [
    (lambda client, ids, bodies: client.xdel("line:north", ids[70]), "2 faults, the first: after message 70 comes 72"),
    (lambda client, ids, bodies: client.xadd("line:north", {"m": bodies[3]}, id=ids[-1].split("-")[0] + "-300"),
     "message 4 is where another one should be"),
    (lambda client, ids, bodies: client.xadd("line:north", {"other": "x"}), "1 that are no messages, the first: 'a message of north'"),
    (lambda client, ids, bodies: client.xadd("line:south", {"m": bodies[0]}, id=ids[0]), "message 1 is where another one should be"),
])
def test_what_is_wrong_with_a_redis_is_found(tmp_path, redis_server, harm, said):  # noqa: F811
    publish(tmp_path, f"redis: '{redis_server.address()}'")
    ids, bodies = zip(*entries(redis_server.client()))
    harm(redis_server.client(), ids, bodies)
    assert said in verify(redis_server.address(), code=65)


def test_a_stream_that_its_consumer_trims_is_complete(tmp_path, redis_server):  # noqa: F811
    publish(tmp_path, f"redis: '{redis_server.address()}'")
    client = redis_server.client()
    client.xtrim("line:north", maxlen=100, approximate=False)
    assert "messages 103 to 202, 99 frames, 0 failed, 0 in gaps, ended, earlier ones were brought away: complete" in verify(
        redis_server.address())


def test_a_topic_of_kafka_is_judged(tmp_path, kafka):  # noqa: F811
    address = f"kafka://{kafka.address}/line"
    assert verify(address) == "no messages\n"
    one = Start(tmp_path, more=f"format: json, drain: 60000, kafka: '{address}'", frames=200, pause=0.002)
    one.wait_until_kept(50)
    kafka.tell("errors 7 7")  # timed out: what was written comes again
    said = one.end()
    assert one.code == 0, said
    text = verify(address)
    assert "messages 1 to 202, 200 frames, 0 failed, 0 in gaps, ended" in text and text.endswith(": complete\n")


def produce(kafka, numbers):  # noqa: F811
    """Messages of a camera, each of which accounts for one frame."""
    bodies = [{"v": 1, "kind": "gap", "run": 7, "camera": "north", "n": n, "from": n - 1, "to": n - 1, "reason": "ring_full"} for n in numbers]
    lines = "".join(f"north\t{json.dumps(body)}\n" for body in bodies)
    subprocess.run(["kcat", "-P", "-b", kafka.address, "-t", "line", "-K", "\t"], input=lines, text=True, check=True, timeout=60)


def test_what_comes_to_kafka_again_is_counted_and_a_hole_is_found(tmp_path, kafka):  # noqa: F811
    produce(kafka, [1, 2, 3, 4, 3, 4, 5, 6])
    assert "messages 1 to 6, 0 frames, 0 failed, 6 in gaps, still open, 2 came again: complete" in verify(
        f"kafka://{kafka.address}/line")
    produce(kafka, [8])
    assert "NOT complete, 2 faults, the first: after message 6 comes 8" in verify(f"kafka://{kafka.address}/line", code=65)


@pytest.mark.parametrize("words, code, said", [
    (["mqtt://127.0.0.1/line"], 64, "keeps none that could be read again"), (["http://127.0.0.1/line"], 64, "no address of a broker"),
    (["redis://127.0.0.1"], 64, "wanted redis://"), (["redis://127.0.0.1:1/line"], 69, "Redis at 127.0.0.1:1"),
    (["redis://127.0.0.1:1/line", "--ca", "x"], 64, "has no TLS"), (["line.db", "--ca", "x"], 64, "are for the address of a broker"),
    (["redis://127.0.0.1:1/line", "--credentials", "./x"], 66, "the file of credentials cannot be read")])
def test_what_cannot_be_asked_is_refused(words, code, said):
    assert said in verify(*words, code=code)


def test_a_broker_with_a_login_is_read_by_it_alone(tmp_path):
    server = RedisServer(tmp_path, "--appendonly", "yes", "--requirepass", "opensesame")
    try:
        (tmp_path / "login").write_text("opensesame\n")
        (tmp_path / "login").chmod(0o600)
        publish(tmp_path, f"redis: '{server.address()}', redis_credentials: ./login", frames=5)
        assert "NOAUTH" in verify(server.address(), code=69)
        assert ": complete" in verify(server.address(), "--credentials", tmp_path / "login")
    finally:
        server.kill()

