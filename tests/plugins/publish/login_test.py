"""Logins in files of their own: taken and refused by brokers, wrong ones shown at their place in the graph, and no word of them in
anything that is printed or written."""
import json
import os
import subprocess

import pytest
from tests.conftest import PROGRAM
from tests.modules import need_modules

pytest.importorskip("cbor2")
need_modules("redis", "mqtt", whole_file=True)
from tests.campaign.judge import in_redis, judge, kept  # noqa: E402
from tests.plugins.publish.line import Start  # noqa: E402
from tests.plugins.publish.servers import MosquittoServer, RedisServer  # noqa: E402

USER, SECRET, WRONG = "line", "opensesame=42", "tellnobody"


def login_file(folder, password, name="login", user=USER):
    path = folder / name
    path.write_text((f"user={user}\n" if user else "") + f"password={password}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def redis_with_login(tmp_path):
    """A Redis whose only user that may do anything is `line`."""
    server = RedisServer(tmp_path, "--appendonly", "yes", "--user", "default", "off", "--user", USER, "on", f">{SECRET}", "~*", "+@all")
    server.client_of = lambda: server.module.Redis(port=server.port, username=USER, password=SECRET)
    yield server
    server.kill()


@pytest.fixture
def mosquitto_with_login(tmp_path):
    server = MosquittoServer(tmp_path, login=(USER, SECRET))
    yield server
    server.kill()


def run(folder, route, frames=20, drain=60_000, env=None, pause=0):
    start = Start(folder, more=f"drain: {drain}, {route}", frames=frames, pause=pause, env=env)
    return start.end(), start.code


def line_folder(tmp_path):
    folder = tmp_path / "graph"
    folder.mkdir()
    return folder


def test_a_user_of_redis_logs_in_by_a_file_beside_the_graph(tmp_path, redis_with_login):
    folder = line_folder(tmp_path)
    login_file(folder, SECRET)
    said, code = run(folder, f"redis: '{redis_with_login.address()}', redis_credentials: ./login")
    assert code == 0, said
    assert judge(in_redis(redis_with_login.client_of(), "line", "north"), [(20, False)]) == []
    assert kept(folder / "out" / "outbox.db") == []


def test_a_client_of_mqtt_logs_in_by_a_name_in_the_folder_of_credentials(tmp_path, mosquitto_with_login):
    folder, secrets = line_folder(tmp_path), tmp_path / "secrets"
    secrets.mkdir()
    login_file(secrets, SECRET, "broker").chmod(0o444)
    client, found = mosquitto_with_login.subscriber("line/#")
    said, code = run(folder, f"mqtt: '{mosquitto_with_login.address()}', mqtt_credentials: broker",
                     env={"CREDENTIALS_DIRECTORY": str(secrets)})
    assert code == 0, said
    client.loop_stop()
    assert kept(folder / "out" / "outbox.db") == []


@pytest.mark.parametrize("route", ["redis", "mqtt"])
def test_a_login_that_is_refused_is_said_once_and_taken_when_its_file_is_mended(tmp_path, route, request):
    """The route waits, the line goes on, and nothing is lost; a new password needs no new start."""
    server = request.getfixturevalue("redis_with_login" if route == "redis" else "mosquitto_with_login")
    folder = line_folder(tmp_path)
    login_file(folder, WRONG)
    start = Start(folder, more=f"drain: 60000, {route}: '{server.address()}', {route}_credentials: ./login", frames=1000, pause=0.004)
    start.wait_until_kept(700)  # some three seconds, in which the route tries twice at least
    login_file(folder, SECRET)
    said = start.end()
    assert start.code == 0, said
    assert said.count(f"route '{route}'") == 2, said  # why it waits, and that it does no longer
    assert "connected again" in said and WRONG not in said and SECRET not in said
    assert kept(folder / "out" / "outbox.db") == []
    if route == "redis":
        assert judge(in_redis(server.client_of(), "line", "north"), [(1000, False)]) == []


def test_nothing_that_is_printed_or_written_has_the_secret(tmp_path, redis_with_login):
    folder = line_folder(tmp_path)
    login = login_file(folder, SECRET)
    Start(folder, more=f"drain: 0, redis: '{redis_with_login.address()}', redis_credentials: ./login", frames=3, pause=0).end()
    commands = [("run", "line.yaml", "--output", "out", "--report", "report.json", "--trace", "trace.json"), ("check", "line.yaml"),
                ("check", "line.yaml", "--json"), ("draw", "line.yaml"), ("verify", "out/outbox.db")]
    printed = b""
    for command in commands:
        done = subprocess.run([PROGRAM, *command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        printed += done.stdout + done.stderr
    assert len(printed) > 500
    files = [path for path in folder.rglob("*") if path.is_file() and path != login]
    assert len(files) > 1
    for text in [printed, *(path.read_bytes() for path in files)]:
        assert SECRET.encode() not in text


def checked(folder, route, env=None):
    graph = folder / "line.yaml"
    graph.write_text("source: {type: video, location: '-'}\nclasses: [{name: thing, references: ['#ffffff']}]\n"
                     "stages: [classify, contours]\nsinks:\n  - type: publish\n" + "".join(f"    {line}\n" for line in route))
    done = subprocess.run([PROGRAM, "run", graph, "--output", folder / "out"], cwd=folder.parent, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, env={**os.environ, **(env or {})})
    return done.returncode, done.stderr


@pytest.mark.parametrize("content, mode, code, said", [
    (None, 0, 66, "cannot be read: No such file"), ("", 0o600, 78, "is empty"), ("tellnobody\n", 0o644, 78, "chmod o-rw"),
    ("x" * 5000, 0o600, 78, "more than 4096 bytes"), ("user=line\ntellnobody\n", 0o600, 78, "has in line 2 neither user="),
    ("user=tellnobody\n", 0o600, 78, "has no password")])
def test_a_wrong_file_is_refused_at_its_place_in_the_graph(tmp_path, content, mode, code, said):
    folder = line_folder(tmp_path)
    if content is not None:
        (folder / "login").write_text(content)
        (folder / "login").chmod(mode)
    result, text = checked(folder, ["redis: redis://127.0.0.1:1/line", "redis_credentials: ./login"])
    assert result == code and "line.yaml:7:24: " in text and said in text and "tellnobody" not in text


@pytest.mark.parametrize("route, place, said", [
    (["redis: redis://127.0.0.1:1/line", "redis_credentials: tellnobody"], "7:24", "$CREDENTIALS_DIRECTORY, and that is not set"),
    (["mqtt_credentials: ./good"], "6:23", "mqtt_credentials is given, and no mqtt"),
    (["redis: redis://a:b@127.0.0.1:1/line", "redis_credentials: ./good"], "6:12", "the address has a password"),
    (["mqtt: mqtt://127.0.0.1:1/line", "mqtt_credentials: ./alone"], "6:11", "a login of MQTT has a user"),
    (["kafka: kafka://127.0.0.1:1/line", "kafka_credentials: ./good"], "6:12", "begin the address with kafka+ssl://"),
    (["kafka: kafka://a:b@127.0.0.1:1/line"], "6:12", "begin the address with kafka+ssl://"),
    (["kafka: kafka+ssl://127.0.0.1:1/line", "kafka_credentials: ./odd"], "6:12", "is none of PLAIN, SCRAM-SHA-256"),
    (["mqtt: mqtt://127.0.0.1:1/line", "mqtt_credentials: ./odd"], "6:11", "has a mechanism, and mqtt:// has none")])
def test_a_login_that_does_not_fit_is_refused_at_its_place(tmp_path, route, place, said):
    if "kafka" in route[0]:
        need_modules("kafka")
    folder = line_folder(tmp_path)
    login_file(folder, "tellnobody", "good")
    login_file(folder, "tellnobody", "alone", user=None)
    login_file(folder, "tellnobody\nmechanism=GSSAPI", "odd")
    env = {key: value for key, value in os.environ.items() if key != "CREDENTIALS_DIRECTORY"}
    result, text = checked(folder, route, env)
    assert result in (66, 78) and f"line.yaml:{place}: " in text and said in text and "tellnobody" not in text


def asked_of_doctor(server, *words):
    done = subprocess.run([PROGRAM, "doctor", "--broker", server.address(), *map(str, words), "--json"], capture_output=True, text=True)
    assert done.returncode == 0 and SECRET not in done.stdout + done.stderr and WRONG not in done.stdout + done.stderr
    return json.loads(done.stdout)["broker"]


def test_doctor_connects_to_a_broker_as_a_route_would(tmp_path, redis_with_login, mosquitto_with_login):
    right, wrong = login_file(tmp_path, SECRET, "right"), login_file(tmp_path, WRONG, "wrong")
    for server in (redis_with_login, mosquitto_with_login):
        assert asked_of_doctor(server, "--credentials", right) == {"address": server.address(), "usable": True}
        assert not asked_of_doctor(server, "--credentials", wrong)["usable"]
        assert not asked_of_doctor(server)["usable"]
    redis_with_login.client_of().config_set("appendonly", "no")
    assert "forgets" in asked_of_doctor(redis_with_login, "--credentials", right)["reason"]
    text = subprocess.run([PROGRAM, "doctor", "--broker", "http://u:geheim@h/x"], capture_output=True, text=True).stdout
    assert "missing  broker       http://u:***@h/x: no address of a broker" in text and "geheim" not in text
