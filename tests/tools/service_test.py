"""`contorno run` as systemd starts it: what it tells the service manager, and the unit that is installed."""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest
from tests.conftest import PROGRAM, ROOT

UNIT = ROOT / "tools" / "systemd" / "contorno@.service.in"
GRAPH = """source: {type: synthetic, maps_size: [64, 48], classes: 2, rate: 50, live: true}
classes: [{name: background}, {name: rot}]
stages: [contours]
sinks: [{type: jsonl, path: lines.jsonl}]
"""
CAMERAS = """sources:
  - {name: north, type: synthetic, maps_size: [64, 48], classes: 2, rate: 50, live: true}
  - {name: away, type: camera, device: /dev/video_that_is_unplugged}
classes: [{name: background}, {name: rot}]
stages: [contours]
sinks: [{type: jsonl, path: "{camera}.jsonl"}]
"""


class Manager:
    """The socket of a service manager, in a file or in the abstract namespace."""
    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address[0] == "@" else address)
        self.socket.settimeout(120)
        self.environment = {**os.environ, "NOTIFY_SOCKET": address}

    def until(self, wanted):
        """All that is said until a line begins so."""
        said = []
        while not (said and said[-1].startswith(wanted)):
            said.append(self.socket.recv(4096).decode())
        return said

    def close(self):
        self.socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    made = Manager(f"@contorno-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify"))
    yield made
    made.close()


def start(folder, graph, environment):
    (folder / "graph.yaml").write_text(graph)
    return subprocess.Popen([PROGRAM, "run", folder / "graph.yaml", "--output", folder], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def ended(process):
    try:
        return process.communicate(timeout=120)
    finally:
        process.kill()


@pytest.mark.parametrize("graph", [GRAPH, CAMERAS], ids=["one", "several, one of them away"])
def test_a_run_says_that_it_is_ready_gets_on_and_stops(tmp_path, manager, graph):
    environment = {**manager.environment, "WATCHDOG_USEC": "60000000"}
    process = start(tmp_path, graph, environment)
    said = manager.until("WATCHDOG=1")
    said += manager.until("STATUS=")
    assert said.index("READY=1") < said.index("WATCHDOG=1")
    assert said.count("READY=1") == said.count("WATCHDOG=1") == 1
    assert re.match(r"STATUS=(\d of 2 cameras run, )?\d+ frames, ", said[-1]), said[-1]
    assert ("of 2 cameras" in said[-1]) == (graph is CAMERAS)
    process.send_signal(signal.SIGTERM)
    assert "STOPPING=1" in manager.until("STOPPING=1")
    ended(process)
    assert process.returncode == 128 + signal.SIGTERM


def test_the_watchdog_is_fed_again_and_again(tmp_path, manager):
    process = start(tmp_path, GRAPH, {**manager.environment, "WATCHDOG_USEC": "2000000"})
    for _ in range(3):
        manager.until("WATCHDOG=1")
    process.terminate()
    manager.until("STOPPING=1")
    ended(process)


class FrozenThread:
    """A thread of another process that stands still, as in a call that never returns, until the end of the scope: a tracer stops one
    thread alone (ptrace(2), PTRACE_SEIZE and PTRACE_INTERRUPT)."""
    SEIZE, INTERRUPT, DETACH, ALL_THREADS = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, process, name):
        self.ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
        # Threads of OpenMP have the name of the one that began them.
        self.thread = min(int(folder.name) for folder in tasks if (folder / "comm").read_text() == name + "\n")

    def __enter__(self):
        if self.ptrace(self.SEIZE, self.thread, None, None) != 0:
            pytest.skip(f"needs a system that lets a process be traced ({os.strerror(ctypes.get_errno())})")
        assert self.ptrace(self.INTERRUPT, self.thread, None, None) == 0
        os.waitpid(self.thread, self.ALL_THREADS)

    def __exit__(self, *_):
        self.ptrace(self.DETACH, self.thread, None, None)


def all_said(manager):
    """What has been said by now."""
    said = []
    manager.socket.setblocking(False)
    try:
        while True:
            said.append(manager.socket.recv(4096).decode())
    except BlockingIOError:
        manager.socket.settimeout(120)
    return said


@pytest.mark.parametrize("thread", ["launcher", "finisher", "sink jsonl"])
def test_a_thread_that_hangs_is_told_and_starves_the_watchdog_until_it_goes_on(tmp_path, thread):
    manager = Manager(str(tmp_path / "notify"))
    process = start(tmp_path, GRAPH, {**manager.environment, "WATCHDOG_USEC": "2000000"})
    try:
        manager.until("WATCHDOG=1")
        with FrozenThread(process, thread):
            hang = next(line for line in process.stderr if "has made no step for" in line)
            assert re.search(r"the (launcher|finisher|sink 'jsonl') has made no step for \d+\.\d s and is", hang), hang
            all_said(manager)
            time.sleep(3)
            assert "WATCHDOG=1" not in all_said(manager)
            assert process.poll() is None
        manager.until("WATCHDOG=1")
        process.terminate()
        manager.until("STOPPING=1")
        ended(process)
        assert process.returncode == 128 + signal.SIGTERM
    finally:
        process.kill()
        manager.close()


@pytest.mark.parametrize("environment", [{}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"},
                                         {"WATCHDOG_USEC": "-5"}], ids=str)
def test_a_watchdog_that_is_not_asked_for_is_not_fed(tmp_path, manager, environment):
    process = start(tmp_path, GRAPH.replace("live: true", "live: true, frames: 20"), {**manager.environment, **environment})
    said = manager.until("STOPPING=1")
    ended(process)
    assert process.returncode == 0
    assert "READY=1" in said and "WATCHDOG=1" not in said


def test_a_run_that_is_over_at_once_was_ready(tmp_path, manager):
    process = start(tmp_path, GRAPH.replace("rate: 50, live: true", "frames: 1"), manager.environment)
    said = manager.until("STOPPING=1")
    ended(process)
    assert process.returncode == 0
    assert said.index("READY=1") < said.index("STOPPING=1")


def test_a_graph_that_is_wrong_is_never_ready(tmp_path, manager):
    process = start(tmp_path, GRAPH.replace("live: true", "live: maybe"), manager.environment)
    _, errors = ended(process)
    assert process.returncode == 78, errors
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.socket.recv(4096)


@pytest.mark.parametrize("address", ["relative", "/nowhere/at/all", "@", "/" + 120 * "x"], ids=lambda text: text[:9])
def test_a_socket_that_is_not_there_is_told_and_the_run_goes_on(tmp_path, address):
    process = start(tmp_path, GRAPH.replace("live: true", "live: true, frames: 3"), {**os.environ, "NOTIFY_SOCKET": address})
    _, errors = ended(process)
    assert process.returncode == 0
    assert f"contorno: warning: NOTIFY_SOCKET is '{address}'" in errors
    assert "allowed is the path of a socket or @NAME" in errors


def broken(state, ended, in_a_row):
    """What runs leave whose device broke."""
    state.mkdir(exist_ok=True)
    (state / "restarts").write_text(f"device-broke {int(ended)} {in_a_row}\n")


def test_a_run_after_one_whose_device_broke_waits_and_can_be_stopped(tmp_path, manager):
    state = tmp_path / "state"
    broken(state, time.time(), 7)
    process = start(tmp_path, GRAPH, {**manager.environment, "STATE_DIRECTORY": f"{state}:/nowhere"})
    said = manager.until("EXTEND_TIMEOUT_USEC=")
    assert said == ["STATUS=the device broke under the last 7 runs: it is opened again in 60 s", "EXTEND_TIMEOUT_USEC=90000000"]
    process.terminate()
    _, errors = ended(process)
    assert process.returncode == 128 + signal.SIGTERM
    assert "contorno: the device broke under the last 7 runs: it is opened again in 60 s" in errors
    assert not (tmp_path / "lines.jsonl").exists()
    assert (state / "restarts").read_text().endswith(" 7\n")  # the next one waits, too


@pytest.mark.parametrize(("ago", "left"), [(61, "device-broke 0 1"), (0, "nonsense"), (0, "")], ids=["long ago", "nonsense", "empty"])
def test_a_run_does_not_wait_without_a_reason_and_forgets_what_is_over(tmp_path, ago, left):
    state = tmp_path / "state"
    broken(state, time.time() - ago, 5)
    if ago == 0:
        (state / "restarts").write_text(left)
    process = start(tmp_path, GRAPH.replace("live: true", "live: true, frames: 3"), {**os.environ, "STATE_DIRECTORY": str(state)})
    _, errors = ended(process)
    assert process.returncode == 0
    assert "the device broke" not in errors
    assert not (state / "restarts").exists()


def unit_in(folder):
    """The unit as it is installed, with the program of this build."""
    text = UNIT.read_text().replace("@CMAKE_INSTALL_FULL_BINDIR@", str(pathlib.Path(PROGRAM).resolve().parent))
    path = folder / "contorno@line.service"
    path.write_text(text)
    path.chmod(0o644)
    return path


def test_the_unit_says_what_its_page_says():
    lines = UNIT.read_text().splitlines()
    for line in ("Type=notify", "Restart=on-failure", "SuccessExitStatus=3 143", "RestartPreventExitStatus=2 64 66 78",
                 "StartLimitIntervalSec=0", "DynamicUser=yes", "StateDirectory=contorno/%i", "ProtectSystem=strict",
                 "SystemCallFilter=@system-service", "WatchdogSec=60"):
        assert line in lines
    # CUDA needs devices, and memory that it writes code into.
    assert not [line for line in lines if line.startswith(("PrivateDevices", "MemoryDenyWriteExecute"))]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_unit_is_verified_by_systemd(tmp_path):
    unit = unit_in(tmp_path)
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    wrong = tmp_path / "wrong.service"
    wrong.write_text(unit.read_text().replace("StateDirectory=contorno/%i", "StateDirectory=/no/such/place"))
    refused = subprocess.run(["systemd-analyze", "verify", "--man=no", wrong], capture_output=True, text=True, check=False)
    assert "StateDirectory=" in refused.stderr  # it does look


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_unit_exposes_little(tmp_path):
    """The threshold is ten times the level of exposure; above it the exit code is 1."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=22", unit_in(tmp_path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    level = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)[1])
    assert level <= 2.2
