"""TLS and logins of Kafka, by a listener before librdkafka's mock cluster: what is right is taken, what is wrong is said and
waited for."""
import pytest
from tests.plugins.publish.kafka_test import kafka  # noqa: F401  (skips where there is no module, no kcat)
from tests.campaign.judge import judge
from tests.plugins.publish.certificates import Certificate
from tests.plugins.publish.kafka_front import Front
from tests.plugins.publish.line import Start, kept_of_frames

MESSAGES = 22  # of 20 frames, with run_start and run_end
USER, SECRET, WRONG = "line", "opensesame", "tellnobody"


@pytest.fixture
def front(kafka):  # noqa: F811
    """Makes listeners."""
    made = []

    def make(**more):
        made.append(Front(kafka.address, **more))
        return made[-1]
    yield make
    for one in made:
        one.close()


def run(folder, front, scheme="kafka+ssl", more="", drain=60_000, env=None, login=None):
    folder.mkdir(exist_ok=True)
    if login is not None:
        (folder / "login").write_text(login)
        (folder / "login").chmod(0o600)
        more += ", kafka_credentials: ./login"
    start = Start(folder, more=f"format: json, drain: {drain}, kafka: '{scheme}://127.0.0.1:{front.port}/line'{more}", frames=20, pause=0,
                  env=env)
    said = start.end()
    assert start.code == 0, said
    assert SECRET not in said and WRONG not in said
    return said, len(kept_of_frames(folder / "out" / "outbox.db"))


def came(kafka):  # noqa: F811
    return judge(kafka.read(), [(20, False)], doubles=True) == []


@pytest.mark.parametrize("issuer", ["named", "system"])
def test_a_broker_with_a_certificate_of_its_own_is_taken(tmp_path, kafka, front, issuer):  # noqa: F811
    tls = Certificate(tmp_path / "certificate")
    said, left = run(tmp_path / "line", front(tls=tls), more=f", kafka_ca: '{tls.ca}'" if issuer == "named" else "",
                     env={"SSL_CERT_FILE": str(tls.ca)} if issuer == "system" else None)
    assert left == 0 and came(kafka), said


@pytest.mark.parametrize("host, issuer", [("IP:127.0.0.1", "other"), ("IP:127.0.0.1", "none"), ("DNS:another.example", "own")])
def test_a_certificate_of_another_host_or_issuer_is_refused(tmp_path, front, host, issuer):
    tls = Certificate(tmp_path / "certificate", host)
    file = {"own": tls.ca, "other": Certificate(tmp_path / "other").ca}.get(issuer)
    said, left = run(tmp_path / "line", front(tls=tls), more=f", kafka_ca: '{file}'" if file else "", drain=8000)
    assert left == MESSAGES and said.count("certificate verify failed") == 1, said


@pytest.mark.parametrize("mechanism, scheme", [("PLAIN", "kafka+ssl"), ("SCRAM-SHA-256", "kafka"), ("SCRAM-SHA-512", "kafka"),
                                               ("SCRAM-SHA-512", "kafka+ssl")])
def test_a_login_is_taken(tmp_path, kafka, front, mechanism, scheme):  # noqa: F811
    tls = Certificate(tmp_path / "certificate") if scheme == "kafka+ssl" else None
    broker = front(tls=tls, login=(USER, SECRET), mechanism=mechanism)
    said, left = run(tmp_path / "line", broker, scheme, f", kafka_ca: '{tls.ca}'" if tls else "",
                     login=f"user={USER}\npassword={SECRET}\nmechanism={mechanism}\n")
    assert left == 0 and came(kafka) and broker.logins > 0, said


def test_a_login_that_is_refused_is_said_and_waits(tmp_path, kafka, front):  # noqa: F811
    broker = front(login=(USER, SECRET), mechanism="SCRAM-SHA-256")
    login = "user={}\npassword={}\nmechanism=SCRAM-SHA-256\n"
    said, left = run(tmp_path / "line", broker, "kafka", drain=8000, login=login.format(USER, WRONG))
    assert left == MESSAGES and said.count("route 'kafka'") == 1 and "no such person" in said and broker.logins > 0, said
    said, left = run(tmp_path / "line", broker, "kafka", login=login.format(USER, SECRET))
    assert left == 0, said
    assert judge(kafka.read(), [(20, False), (20, False)], doubles=True) == []
