"""TLS to brokers: a certificate is verified by the issuers that are named, or those of the system, and for the host; all else is
said, the messages wait."""
import pytest
from tests.modules import MODULES, need_modules

pytest.importorskip("cbor2")
need_modules("mqtt", whole_file=True)
from tests.campaign.judge import in_redis, judge  # noqa: E402
from tests.plugins.publish.certificates import Certificate  # noqa: E402
from tests.plugins.publish.line import Start, kept_of_frames  # noqa: E402
from tests.plugins.publish.login_test import checked, login_file  # noqa: E402
from tests.plugins.publish.servers import MosquittoServer, RedisServer, free_port  # noqa: E402

MESSAGES = 22  # of 20 frames, with run_start and run_end


def run(folder, route, drain=60_000, env=None):
    folder.mkdir(exist_ok=True)
    start = Start(folder, more=f"drain: {drain}, {route}", frames=20, pause=0, env=env)
    said = start.end()
    assert start.code == 0, said
    return said, len(kept_of_frames(folder / "out" / "outbox.db"))


def mqtt_with(tmp_path, host="IP:127.0.0.1", login=None):
    server = MosquittoServer(tmp_path, login=login, tls=Certificate(tmp_path / "certificate", host))
    server.secure = server.address().replace("mqtt://", "mqtts://")
    return server


@pytest.fixture
def mqtt_server(tmp_path):
    server = mqtt_with(tmp_path)
    yield server
    server.kill()


def test_mqtt_takes_a_broker_whose_issuer_is_named(tmp_path, mqtt_server):
    client, found = mqtt_server.subscriber("line/#")
    said, left = run(tmp_path / "line", f"mqtt: '{mqtt_server.secure}', mqtt_ca: '{mqtt_server.tls.ca}'")
    assert left == 0, said
    client.loop_stop()
    assert judge(found, [(20, False)]) == []


def test_mqtt_takes_a_broker_whose_issuer_the_system_has(tmp_path, mqtt_server):
    said, left = run(tmp_path / "line", f"mqtt: '{mqtt_server.secure}'", env={"SSL_CERT_FILE": str(mqtt_server.tls.ca)})
    assert left == 0, said


def test_mqtt_refuses_a_broker_whose_issuer_nobody_knows(tmp_path, mqtt_server):
    other = Certificate(tmp_path / "other")
    for route in (f"mqtt: '{mqtt_server.secure}'", f"mqtt: '{mqtt_server.secure}', mqtt_ca: '{other.ca}'"):
        said, _ = run(tmp_path / "line", route, drain=2500)
        assert said.count("certificate verify failed") == 1, said  # of two attempts at least
    assert len(kept_of_frames(tmp_path / "line" / "out" / "outbox.db")) == 2 * MESSAGES
    # Once it is named, all that waited comes.
    assert run(tmp_path / "line", f"mqtt: '{mqtt_server.secure}', mqtt_ca: '{mqtt_server.tls.ca}'")[1] == 0


def test_mqtt_refuses_a_certificate_of_another_host(tmp_path):
    server = mqtt_with(tmp_path, "DNS:another.example")
    try:
        said, left = run(tmp_path / "line", f"mqtt: '{server.secure}', mqtt_ca: '{server.tls.ca}'", drain=500)
        assert left == MESSAGES and said.count("route 'mqtt': MQTT at 127.0.0.1") == 1 and "TLS" in said, said
    finally:
        server.kill()


def test_mqtt_logs_in_over_tls(tmp_path):
    server = mqtt_with(tmp_path, login=("line", "opensesame"))
    try:
        (tmp_path / "line").mkdir()
        login_file(tmp_path / "line", "opensesame")
        said, left = run(tmp_path / "line", f"mqtt: '{server.secure}', mqtt_ca: '{server.tls.ca}', mqtt_credentials: ./login")
        assert left == 0, said
    finally:
        server.kill()


def test_a_line_without_tls_does_not_come_to_a_broker_with_it(tmp_path, mqtt_server):
    said, left = run(tmp_path / "line", f"mqtt: '{mqtt_server.address()}'", drain=500)
    assert left == MESSAGES and "route 'mqtt'" in said


@pytest.mark.parametrize("content, address, code, place, said", [
    (None, "mqtts", 66, "7:14", "ca.pem' cannot be read"), ("nothing\n", "mqtts", 78, "7:14", "has no certificate"),
    ("-----BEGIN CERTIFICATE-----\n", "mqtt", 78, "6:11", "write mqtts://, or leave the file out")])
def test_a_file_of_issuers_that_is_none_is_refused_at_its_place(tmp_path, content, address, code, place, said):
    folder = tmp_path / "graph"
    folder.mkdir()
    if content is not None:
        (folder / "ca.pem").write_text(content)
    result, text = checked(folder, [f"mqtt: {address}://127.0.0.1:1/line", "mqtt_ca: ca.pem"])
    assert result == code and f"line.yaml:{place}: " in text and said in text


def redis_with(tmp_path, host="IP:127.0.0.1"):
    tls, port = Certificate(tmp_path / "certificate", host), free_port()
    server = RedisServer(tmp_path, "--appendonly", "yes", "--tls-port", str(port), "--tls-cert-file", tls.certificate, "--tls-key-file",
                         tls.key, "--tls-ca-cert-file", tls.ca, "--tls-auth-clients", "no")
    server.client()  # by the port without TLS
    server.tls, server.secure = tls, f"rediss://127.0.0.1:{port}/line"
    return server


def redis_has_tls():
    return b"SSL_CTX_new" in (MODULES / "redis.so").read_bytes()


@pytest.mark.skipif(redis_has_tls(), reason="this build has TLS for Redis")
def test_a_build_without_tls_for_redis_says_so(tmp_path):
    folder = tmp_path / "graph"
    folder.mkdir()
    result, text = checked(folder, ["redis: rediss://127.0.0.1:1/line"])
    assert result == 69 and "line.yaml:6:12: " in text and "it needs hiredis 1.2" in text


@pytest.mark.skipif(not redis_has_tls(), reason="needs a build with TLS for Redis (hiredis 1.2)")
@pytest.mark.parametrize("host, ca, said", [
    ("IP:127.0.0.1", "own", None), ("IP:127.0.0.1", "system", None), ("IP:127.0.0.1", "other", "signed certificate in certificate chain"),
    ("IP:127.0.0.1", "none", "signed certificate in certificate chain"), ("DNS:another.example", "own", "IP address mismatch")])
def test_redis_takes_a_server_with_a_certificate_of_its_own_alone(tmp_path, host, ca, said):
    server = redis_with(tmp_path, host)
    try:
        file = {"own": server.tls.ca, "other": Certificate(tmp_path / "other").ca}.get(ca)
        env = {"SSL_CERT_FILE": str(server.tls.ca)} if ca == "system" else None
        route = f"redis: '{server.secure}'" + (f", redis_ca: '{file}'" if file else "")
        text, left = run(tmp_path / "line", route, drain=500 if said else 60_000, env=env)
        assert left == (MESSAGES if said else 0), text
        assert said is None or text.count(said) == 1, text
        assert judge(in_redis(server.client(), "line", "north"), [(20, False)]) == [] or said
    finally:
        server.kill()
