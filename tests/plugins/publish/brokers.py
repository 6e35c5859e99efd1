"""The brokers of the three routes behind one interface, for tests that do the same to all of them: kill, stop, hold up, and read
what each was brought."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest
from tests.campaign.judge import decoded, in_redis
from tests.plugins.publish.kafka_front import Front
from tests.plugins.publish.mqtt_front import MqttFront
from tests.plugins.publish.servers import MockKafka, MosquittoServer, RedisServer
from tests.plugins.publish.valve import Valve
from tests.waiting import wait_for


class Broker:
    """`kill` and `start` end it and begin it again, `pause` and `resume` stop its process and let it go on. `valve` is on the way
    to it. `rows` are (run, camera, n, body) in the order in which they came, `count` grows with them."""
    name = ""

    def option(self, port=None):
        """What the sink is given; another port stands for the way to somebody else."""
        return f"{self.name}: '{self.name}://127.0.0.1:{port or self.valve.port}/line'"

    def pause(self):
        self.process().send_signal(signal.SIGSTOP)

    def resume(self):
        self.process().send_signal(signal.SIGCONT)

    def has_end_of(self, run):
        return any(one == run and b'"run_end"' in body for one, _, _, body in self.rows())

    def end(self):
        self.valve.close()
        self.process().kill()
        self.process().wait()


class RedisBroker(Broker):
    name = "redis"

    def __init__(self, folder):
        self.server = RedisServer(folder)
        self.valve = Valve(self.server.port)
        self.server.client()

    def process(self):
        return self.server.process

    def kill(self):
        self.server.kill()

    def start(self):
        self.server.start()

    def rows(self):
        return in_redis(self.server.client(), "line", "north")

    def count(self):
        return self.server.client().xlen("line:north")


class MqttBroker(Broker):
    """What was brought is what was acknowledged."""
    name = "mqtt"

    def __init__(self, folder):
        self.server = MosquittoServer(folder)
        self.front = MqttFront(self.server.port)
        self.valve = Valve(self.front.port)

    def process(self):
        return self.server.process

    def kill(self):
        self.server.kill()

    def start(self):
        self.server.start()

    def rows(self):
        found = []
        for topic, body in self.front.acknowledged:
            message = decoded(body)
            found.append((message["run"], topic.rpartition("/")[2], message["n"], body))
        return found

    def count(self):
        return len(self.front.acknowledged)


class KafkaBroker(Broker):
    """A mock cluster keeps the last 5 MB alone, and forgets all with its process: kcat reads along, and its broker is taken down
    instead of killed."""
    name = "kafka"

    def __init__(self, folder):
        if shutil.which("kcat") is None:
            pytest.skip("needs kcat")
        self.mock = MockKafka()
        self.front = Front(self.mock.address)
        self.valve = Valve(self.front.port)
        self.front.port = self.valve.port  # the place of the broker, as it is told
        self.came = pathlib.Path(folder) / "kafka"
        with self.came.open("wb") as out:
            self.reader = subprocess.Popen(
                ["kcat", "-C", "-q", "-u", "-E", "-b", self.mock.address, "-t", "line", "-o", "beginning", "-f", "%k\t%s\n", "-X",
                 "reconnect.backoff.max.ms=200", "-X", "topic.auto.offset.reset=error"], stdout=out, stderr=subprocess.DEVNULL)
        subprocess.run(["kcat", "-P", "-b", self.mock.address, "-t", "line", "-K", "\t"], input=b"-\tit reads\n", check=True, timeout=60)
        wait_for(lambda: self.count() > 0)

    def process(self):
        return self.mock.process

    def kill(self):
        self.mock.tell("down")

    def start(self):
        self.mock.tell("up")

    def rows(self):
        found = []
        for line in self.came.read_bytes().splitlines()[1:]:
            camera, _, body = line.partition(b"\t")
            message = decoded(body)
            found.append((message["run"], camera.decode(), message["n"], body))
        return found

    def count(self):
        return self.came.stat().st_size

    def end(self):
        self.reader.kill()
        self.reader.wait()
        super().end()


KINDS = {kind.name: kind for kind in (RedisBroker, MqttBroker, KafkaBroker)}


def all_options(brokers):
    return ", ".join(["format: json", *(one.option() for one in brokers)])


def last_run(folder):
    with sqlite3.connect(folder / "out" / "outbox.db") as file:
        return file.execute("SELECT max(run) FROM runs").fetchone()[0]


def settle(broker, run, seconds=60):
    """Until the end of a run has come, or for so long. The rows of the broker."""
    until, pause = time.monotonic() + seconds, 0.05
    while not broker.has_end_of(run) and time.monotonic() < until:
        time.sleep(pause)
        pause *= 1.5  # reading takes longer, too, the more there is
    return broker.rows()


def kill_count(short):
    """How often a test kills: a few times, or CONTORNO_KILLS."""
    return int(os.environ.get("CONTORNO_KILLS", short))
