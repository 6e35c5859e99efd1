"""The pages of a line that runs: metrics as Prometheus reads them, health, readiness, and whoever asks badly."""
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from tests.conftest import PROGRAM
from tests.modules import need_modules, needs_modules
from tests.waiting import wait_for

pytestmark = needs_modules("ops")
REST = """
classes: [{name: background}, {name: rot}]
stages: [contours]
"""
SOURCE = "type: synthetic, maps_size: [64, 48], classes: 2, rate: 50, live: true"
ONE = "source: {" + SOURCE + "}" + REST + "sinks: [{type: jsonl, path: lines.jsonl}]\n"
SEVERAL = ("sources:\n  - {name: north, required: true, " + SOURCE + "}\n  - {name: away, type: camera, device: /dev/video_unplugged}"
           + REST + 'sinks: [{type: jsonl, path: "{camera}.jsonl"}]\n')
OPS = 'ops: {listen: "127.0.0.1:0"}\n'


class Line:
    """A run that answers."""
    def __init__(self, folder, graph):
        (folder / "graph.yaml").write_text(OPS + graph)
        self.errors = folder / "errors"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen([PROGRAM, "run", folder / "graph.yaml", "--output", folder / "out"], stderr=errors,
                                            stdout=subprocess.DEVNULL)
        wait_for(lambda: self.process.poll() is not None or "ops: http://" in self.errors.read_text())
        found = re.search(r"ops: http://127\.0\.0\.1:(\d+)/metrics", self.errors.read_text())
        assert found, self.errors.read_text()
        self.port = int(found[1])

    def get(self, path):
        """Status, type and text of a page."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=120) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def until(self, path, status):
        """The text of a page once it has this status."""
        wait_for(lambda: self.get(path)[0] == status)
        return self.get(path)[2]

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def ask(self, request):
        """What comes back for the bytes of a request."""
        with self.connect() as client:
            with contextlib.suppress(ConnectionError):
                client.sendall(request)
            return read_all(client)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)
        return self.process.returncode


def read_all(client):
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else None


@contextlib.contextmanager
def running(folder, graph):
    made = Line(folder, graph)
    yield made
    made.process.kill()
    made.process.wait()


@pytest.fixture
def line(tmp_path):
    with running(tmp_path, ONE) as made:
        yield made


@pytest.fixture
def several(tmp_path):
    with running(tmp_path, SEVERAL) as made:
        yield made


def families(text):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="needs python3-prometheus-client")
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


def value(found, family, suffix="", **labels):
    (sample,) = [one for one in found[family].samples if one.name == family + suffix and labels.items() <= one.labels.items()]
    return sample.value


def test_metrics_are_what_prometheus_reads_and_counts_add_up(several):
    several.until("/readyz", 200)
    def frames():
        return families(several.get("/metrics")[2])["contorno_frames"]
    wait_for(lambda: any(one.value > 20 for one in frames().samples if one.labels["result"] == "delivered"))
    status, kind, text = several.get("/metrics")
    assert status == 200
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    found = families(text)
    assert found["contorno_frames"].type == "counter"
    assert found["contorno_latency_seconds"].type == "histogram"
    delivered = value(found, "contorno_frames", "_total", camera="north", result="delivered")
    read = value(found, "contorno_frames_read", "_total", camera="north")
    done = sum(one.value for one in found["contorno_frames"].samples if one.labels["camera"] == "north")
    assert read - 5 <= done <= read + 5  # frames go on while they are counted: at most those of the slots
    in_time = value(found, "contorno_latency_seconds", "_bucket", camera="north", le="+Inf")
    assert in_time == value(found, "contorno_latency_seconds", "_count", camera="north")
    assert abs(in_time - delivered) <= 5
    assert value(found, "contorno_camera_state", camera="north", contorno_camera_state="running") == 1
    assert value(found, "contorno_camera_state", camera="away", contorno_camera_state="connecting") == 1
    assert value(found, "contorno_ready") == value(found, "contorno_progress") == 1
    assert value(found, "contorno_device_errors", "_total", camera="north") == 0
    assert abs(value(found, "process_start_time_seconds") - time.time()) < 600


def test_the_last_counts_of_a_camera_are_those_of_the_report(tmp_path):
    graph = ("sources:\n  - {name: short, type: synthetic, maps_size: [64, 48], classes: 2, frames: 37}\n  - {name: long, " + SOURCE
             + "}" + REST + 'sinks: [{type: jsonl, path: "{camera}.jsonl"}]\n')
    line = Line(tmp_path, graph)
    try:
        def state(name):
            found = families(line.get("/metrics")[2])
            return value(found, "contorno_camera_state", camera="short", contorno_camera_state=name)
        wait_for(lambda: state("ended") == 1)
        found = families(line.get("/metrics")[2])
        assert value(found, "contorno_frames", "_total", camera="short", result="delivered") == 37
        assert value(found, "contorno_latency_seconds", "_bucket", camera="short", le="+Inf") == 37
    finally:
        assert line.stop() == 128 + signal.SIGTERM


def test_a_line_is_healthy_and_ready_in_a_word(line):
    assert line.until("/readyz", 200) == "ok\n"
    assert line.get("/healthz") == (200, "text/plain; charset=utf-8", "ok\n")
    assert line.get("/healthz?verbose=1")[0] == 200


def test_a_required_camera_that_is_away_is_told(tmp_path):
    line = Line(tmp_path, SEVERAL.replace("name: away, ", "name: away, required: true, "))
    try:
        wait_for(lambda: "required" in line.get("/readyz")[2])
        assert line.get("/readyz")[0] == 503
        assert re.fullmatch(r"(north|away): it is required, and connecting\n", line.get("/readyz")[2])
        assert line.get("/healthz")[0] == 200  # a restart would not help
        assert value(families(line.get("/metrics")[2]), "contorno_ready") == 0
    finally:
        line.stop()


REQUESTS = {
    "the root": ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    "a slash too much": ("GET /metrics/ HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    "a path upwards": ("GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    "a post to nowhere": ("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 404),
    "a post": ("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405),
    "a long post": ("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nabc", 405),
    "head": ("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    "delete": ("DELETE /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    "version 1.0": ("GET /healthz HTTP/1.0\r\n\r\n", 200),
    "a long header": ("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + 7000 * "y" + "\r\n\r\n", 200),
    "a header too long": ("GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + 9000 * "y" + "\r\n\r\n", 431),
    "a path too long": ("GET /" + 9000 * "y" + " HTTP/1.1\r\nHost: x\r\n\r\n", 431),
    "many headers": ("GET /healthz HTTP/1.1\r\nHost: x\r\n" + 100_000 * "X: y\r\n" + "\r\n", 431),
    "a length that is none": ("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    "nonsense": ("nonsense\r\n\r\n", 400),
    "bytes": ("\x00\x01\x02\xff\r\n\r\n", 400),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_only_get_of_the_pages_is_answered(line, name):
    request, status = REQUESTS[name]
    answer = line.ask(request.encode("latin-1"))
    assert status_of(answer) == status
    assert b"Connection: close" in answer
    assert (b"Allow: GET" in answer) == (status == 405)
    assert line.get("/healthz")[0] == 200


def test_a_header_of_ten_megabytes_ends_its_connection_alone(line):
    with line.connect() as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(b"GET /healthz HTTP/1.1\r\nX: " + 10_000_000 * b"y")
        assert status_of(read_all(client)) in (431, None)  # the connection may be reset before it is read
    assert line.get("/healthz")[0] == 200


def test_half_open_requests_keep_nobody_from_an_answer(line):
    """Whether an answer comes is judged, and not when."""
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(line.connect()).sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        for path in ("/healthz", "/metrics", "/readyz"):
            assert line.get(path)[0] in (200, 503)


def test_more_connections_than_there_are_places_for_displace_the_oldest(line):
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(line.connect())
        first.sendall(b"GET /healthz")
        rest = [stack.enter_context(line.connect()) for _ in range(200)]
        assert line.get("/healthz")[0] == 200
        assert read_all(first) == b""  # displaced, or over its time
        rest[-1].settimeout(120)
        assert read_all(rest[-1]) == b""  # whoever asks nothing is closed in the end


def test_a_thousand_slow_clients_one_after_the_other_use_nothing_up(line):
    def descriptors():
        return len(os.listdir(f"/proc/{line.process.pid}/fd"))
    line.until("/readyz", 200)
    before = descriptors()
    for _ in range(50):
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                stack.enter_context(line.connect()).sendall(b"G")
            assert line.get("/healthz")[0] == 200
    wait_for(lambda: descriptors() <= before + 1)


def test_readers_that_never_read_keep_nobody_from_an_answer(several):
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            client.settimeout(120)
            client.connect(("127.0.0.1", several.port))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        for path in ("/healthz", "/metrics"):
            assert several.get(path)[0] == 200


def test_fuzzed_requests_are_answered_or_closed(line):
    draw = random.Random(1)
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
    for _ in range(200):
        text = bytearray(request)
        for _ in range(draw.randrange(1, 6)):
            place = draw.randrange(len(text))
            text[place:place + draw.randrange(3)] = bytes(draw.randrange(256) for _ in range(draw.randrange(3)))
        with line.connect() as client:
            with contextlib.suppress(ConnectionError):
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
            assert status_of(read_all(client)) in (200, 400, 404, 405, 431, None)
    assert line.get("/healthz")[0] == 200
    assert line.process.poll() is None


def run(folder, graph):
    (folder / "graph.yaml").write_text(graph)
    return subprocess.run([PROGRAM, "run", folder / "graph.yaml", "--output", folder / "out"], capture_output=True, text=True,
                          timeout=300, check=False)


@pytest.mark.parametrize("graph", [ONE, SEVERAL], ids=["one", "several"])
def test_a_port_that_is_taken_ends_with_73_before_a_frame(tmp_path, graph):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(tmp_path, OPS.replace(":0", f":{port}") + graph)
    assert done.returncode == 73
    assert f"ops: 127.0.0.1:{port} cannot be listened on: Address already in use" in done.stderr
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(("listen", "message"), [
    ("0.0.0.0:9464", "listen is 0.0.0.0:9464, which other machines may reach; allowed are 127.0.0.1 and [::1]"),
    ("[::]:9464", "which other machines may reach"),
    ("nowhere", "listen is 'nowhere', allowed is an address in numbers and a port"),
    ("127.0.0.1:99999", "allowed is an address in numbers and a port of 0 to 65535"),
])
def test_an_address_that_is_not_allowed_ends_with_78_line_and_column(tmp_path, listen, message):
    done = run(tmp_path, f'ops:\n  listen: "{listen}"\n' + ONE)
    assert done.returncode == 78
    assert "graph.yaml:2:11: error: " in done.stderr
    assert message in done.stderr


def test_a_remote_address_is_taken_when_it_is_asked_for(tmp_path):
    done = run(tmp_path, 'ops: {listen: "0.0.0.0:0", allow_remote: true}\n' + ONE.replace("rate: 50, live: true", "frames: 3"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"ops: http://0\.0\.0\.0:\d+/metrics, /healthz, /readyz", done.stderr)


def test_keys_that_are_unknown_are_told_with_the_nearest(tmp_path):
    done = run(tmp_path, 'ops: {listn: "127.0.0.1:0"}\n' + ONE)
    assert done.returncode == 78
    assert "graph.yaml:1:7: error: " in done.stderr and "did you mean 'listen'?" in done.stderr


def test_nothing_listens_without_being_asked(tmp_path):
    done = run(tmp_path, ONE.replace("rate: 50, live: true", "frames: 3"))
    assert done.returncode == 0
    assert "ops:" not in done.stderr


def test_an_outbox_is_on_the_page_and_one_without_room_is_not_ready(tmp_path):
    pytest.importorskip("prometheus_client", reason="needs python3-prometheus-client")
    need_modules("publish")
    with socket.socket() as free:  # nobody listens there
        free.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{free.getsockname()[1]}/line"
    sink = f'{{type: publish, outbox: line.db, drain: 0, max_bytes: 1048576, queue: 4, durable: any, redis: "{address}"}}'
    line = Line(tmp_path, ONE.replace("{type: jsonl, path: lines.jsonl}", sink).replace("rate: 50", "rate: 200"))
    try:
        def found():
            return families(line.get("/metrics")[2])
        wait_for(lambda: found()["contorno_outbox_bytes"].samples)
        assert value(found(), "contorno_outbox_limit_bytes") == 1048576
        wait_for(lambda: value(found(), "contorno_route_up", route="redis") == 0)
        wait_for(lambda: value(found(), "contorno_route_waiting_messages", route="redis") > 5)
        assert value(found(), "contorno_route_age_seconds", route="redis") > 0
        fault = line.until("/readyz", 503)
        assert re.fullmatch(r"the outbox '.*/line\.db' takes no messages\n", fault)
        assert value(found(), "contorno_outbox_bytes") <= 1048576
        assert line.get("/healthz")[0] == 200  # who waits for a broker does not hang
    finally:
        line.process.kill()
        line.process.wait()
