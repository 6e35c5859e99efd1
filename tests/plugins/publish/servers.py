"""Brokers of the tests, each on a free port of this machine, which are ended by whoever started them."""
import getpass
import pathlib
import shutil
import socket
import subprocess
import time

import pytest
from tests.campaign.judge import decoded


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class RedisServer:
    """A Redis of Debian that keeps what it acknowledges, unless told otherwise."""

    def __init__(self, folder, *settings):
        self.program = shutil.which("redis-server")
        if self.program is None:
            pytest.skip("needs redis-server")
        self.module = pytest.importorskip("redis")
        self.folder, self.port = folder / "redis", free_port()
        self.folder.mkdir()
        self.settings = settings or ("--appendonly", "yes", "--appendfsync", "always")
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder, "--save",
                                         "", *self.settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def client(self, seconds=30):
        client = self.module.Redis(port=self.port)
        until = time.monotonic() + seconds
        while True:
            try:
                client.ping()
                return client
            except self.module.RedisError:  # it starts, or loads
                assert time.monotonic() < until, "redis-server does not answer"
                time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def address(self, prefix="line"):
        return f"redis://127.0.0.1:{self.port}/{prefix}"


@pytest.fixture
def redis_server(tmp_path):
    server = RedisServer(tmp_path)
    server.client()
    yield server
    server.kill()


class MosquittoServer:
    """A Mosquitto of Debian that keeps all for a subscriber that is away. `login` is a user and a
    password without which it takes nobody, `tls` a Certificate of its own."""

    def __init__(self, folder, login=None, tls=None):
        self.program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        if self.program is None:
            pytest.skip("needs mosquitto")
        self.module = pytest.importorskip("paho.mqtt.client")
        self.folder, self.port = folder / "mosquitto", free_port()
        self.folder.mkdir()
        self.login, self.tls, settings = login, tls, ""
        if login is not None:
            subprocess.run(["mosquitto_passwd", "-b", "-c", self.folder / "passwords", *login], check=True, capture_output=True)
            settings += f"password_file {self.folder}/passwords\n"
        if tls is not None:
            settings += f"certfile {tls.certificate}\nkeyfile {tls.key}\n"
        anonymous = str(login is None).lower()
        # Started as root it takes the rights of a user who may write into folders that are theirs alone.
        (self.folder / "conf").write_text(f"listener {self.port} 127.0.0.1\n{settings}allow_anonymous {anonymous}\npersistence true\n"
                                          f"persistence_location {self.folder}/\nautosave_on_changes true\nautosave_interval 1\n"
                                          f"max_queued_messages 0\nuser {getpass.getuser()}\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "-c", self.folder / "conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < until, "mosquitto does not answer"
                time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def subscriber(self, topic):
        """A client with a session, and the list to which it adds (run, camera, n, body) in the order of arrival."""
        found = []
        # The first parameter of Paho 2 says how callbacks are called.
        version = [self.module.CallbackAPIVersion.VERSION1] if hasattr(self.module, "CallbackAPIVersion") else []
        client = self.module.Client(*version, "reader", clean_session=False)

        def take(_client, _data, message):
            body = decoded(message.payload)
            found.append((body["run"], message.topic.rpartition("/")[2], body["n"], message.payload))
        client.on_message = take
        client.on_connect = lambda *_: client.subscribe(topic, qos=1)
        if self.login is not None:
            client.username_pw_set(*self.login)
        if self.tls is not None:
            client.tls_set(self.tls.ca)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        return client, found

    def address(self, prefix="line"):
        return f"mqtt://127.0.0.1:{self.port}/{prefix}"


@pytest.fixture
def mosquitto_server(tmp_path):
    server = MosquittoServer(tmp_path)
    yield server
    server.kill()


class MockKafka:
    """librdkafka's mock cluster, with the topic `line`. It forgets all when it ends, and the oldest of more than 5 MB."""

    def __init__(self):
        script = pathlib.Path(__file__).parent / "mock_kafka.py"
        self.process = subprocess.Popen(["/usr/bin/python3", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            pytest.skip("needs librdkafka1")

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def read(self):
        done = subprocess.run(["kcat", "-C", "-q", "-b", self.address, "-t", "line", "-o", "beginning", "-e", "-f", "%k\t%s\n",
                               "-X", "topic.auto.offset.reset=earliest"],  # where the oldest go meanwhile
                              capture_output=True, timeout=60, check=True)
        rows = []
        for line in done.stdout.splitlines():
            camera, _, body = line.partition(b"\t")
            message = decoded(body)
            rows.append((message["run"], camera.decode(), message["n"], body))
        return rows
