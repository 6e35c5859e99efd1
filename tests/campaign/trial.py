"""What every campaign shares: running the program within bounds, the rules that hold for any run, and the readers that
say whether a file is whole. A campaign is a function that yields cases; a case is a name and a function of a Trial.
A Trial belongs to one thread; its folder is kept, with the commands that repeat it, when a rule was broken."""
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import xml.etree.ElementTree
from typing import Callable

from tests.conftest import PROGRAM, ROOT, measured_command

MEBIBYTE = 1 << 20
SAID = "said.txt"  # in a case's folder: what its runs printed on standard error
MOST_SECONDS = 15  # of the processor: they do not depend on who else computes
PATIENCE = 300  # seconds that a run may take on a machine that others use, before it counts as hung
MOST_MEMORY = 700 * MEBIBYTE  # resident; media libraries take about 100 of them
INTERNAL_ERROR = 70
NOT_BEGUN = 127  # of the dynamic linker, when a limit keeps it from loading the program
REGISTRY = "registry.bin"  # what GStreamer knows of its plugins; a limit may damage it, so each case has its own


def allowed_codes():
    """The exit codes of the program: its own list, and the signals that end a run cleanly."""
    body = re.search(r"enum class ExitCode[^{]*\{(.*?)\}", (ROOT / "base" / "error.h").read_text(), re.S).group(1)
    codes = {int(number) for number in re.findall(r"=\s*(\d+)", body)}
    assert {0, 65, 70, 78} <= codes
    return codes | {128 + signal.SIGHUP, 128 + signal.SIGINT, 128 + signal.SIGTERM}


ALLOWED_CODES = allowed_codes()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run of the program ended. The code is negative for a signal; peak is resident memory in bytes."""
    code: int
    out: str
    said: str  # on standard error
    seconds: float
    processor_seconds: float
    peak: int
    hung: bool


@dataclasses.dataclass(frozen=True)
class Case:
    name: str  # unique within its campaign; the seed of its random numbers
    play: Callable


class Skip(Exception):
    """This machine cannot do the case; the text says why."""


def make_registry(folder):
    """Lets GStreamer look for its plugins once; the cases below `folder` begin with what it found."""
    bounded([PROGRAM, "doctor"], folder, seconds=120, env={"GST_REGISTRY": str(pathlib.Path(folder) / REGISTRY)})


def bounded(command, cwd, seconds=PATIENCE, env=None, kill_after=None):
    """Runs a command that is killed after `seconds`, which counts as hung, or on purpose after `kill_after`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory() as beside:
        measured = pathlib.Path(beside) / "measured"
        began = time.monotonic()
        # Its other end is held by whoever lives: a killed process takes its time, and holds its locks as long.
        alive, held = os.pipe()
        process = subprocess.Popen(measured_command(command, measured), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=said, start_new_session=True, env={**os.environ, **(env or {})},
                                   pass_fds=[] if kill_after is None else [held])
        os.close(held)
        timer = threading.Timer(seconds if kill_after is None else kill_after, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        code = process.wait()
        timer.cancel()
        os.read(alive, 1)
        os.close(alive)
        took = time.monotonic() - began
        texts = []
        for file in (out, said):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        peak = used = 0
        if measured.exists() and (numbers := measured.read_text().split()):
            code, peak, used = int(numbers[0]), int(numbers[1]), float(numbers[2])
    return Outcome(code, *texts, took, used, peak * 1024, kill_after is None and took >= seconds)


class Trial:
    """One case: its folder, its random numbers, what it ran, and the rules it found broken."""

    def __init__(self, folder, seed):
        self.folder = pathlib.Path(folder)
        self.random = random.Random(seed)
        self.faults = []
        self.codes = []
        self.longest, self.peak = 0.0, 0
        self._commands, self._said = [], []
        whole = self.folder.parent / REGISTRY
        if whole.exists():
            shutil.copy(whole, self.folder / REGISTRY)
        self._env = {"GST_REGISTRY": str(self.folder / REGISTRY)}

    def fault(self, why):
        self.faults.append(why)

    def run(self, *arguments, prefix=(), most_memory=MOST_MEMORY, codes=None, seconds=MOST_SECONDS, patience=PATIENCE):
        """Runs the program in the case's folder and applies the rules that hold for any run. `prefix` is a command
        that runs it, such as prlimit; `codes` narrows the exit codes that are allowed; `seconds` are those of the processor,
        `patience` those of the wall."""
        command = [*prefix, PROGRAM, *arguments]
        self._commands.append(command)
        done = bounded(command, self.folder, patience, self._env)
        self.codes.append(done.code)
        self.longest, self.peak = max(self.longest, done.seconds), max(self.peak, done.peak)
        if done.hung:
            self.fault(f"hung: more than {patience} s")
        elif done.code < 0:
            self.fault(f"ended by signal {signal.Signals(-done.code).name}")
        elif done.code == NOT_BEGUN and "error while loading shared libraries" in done.said:
            pass  # the limits of the case kept the program from beginning
        elif done.code not in (codes or ALLOWED_CODES) or done.code == INTERNAL_ERROR:
            self.fault(f"exit code {done.code}")
        if done.processor_seconds > seconds:
            self.fault(f"took {done.processor_seconds:.1f} s of the processor, allowed {seconds}")
        if done.code > 0 and not done.said.strip():
            self.fault(f"exit code {done.code} without a word")
        if "bug in contorno" in done.said:
            self.fault("said that it has a bug")
        if done.peak > most_memory:
            self.fault(f"took {done.peak // MEBIBYTE} MiB, allowed {most_memory // MEBIBYTE}")
        self._said.append(done.said)
        return done

    def kill(self, *arguments, after):
        """Runs the program and ends it by SIGKILL after so many seconds."""
        self._commands.append(["timeout", "-s", "KILL", f"{after:.3f}", PROGRAM, *arguments])
        return bounded([PROGRAM, *arguments], self.folder, env=self._env, kill_after=after)

    def close(self):
        """Removes the folder, or leaves in it how to repeat what went wrong."""
        if not self.faults:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        (self.folder / SAID).write_text("".join(self._said))
        (self.folder / "why.txt").write_text("\n".join(self.faults) + "\n")
        commands = [shlex.join(map(str, command)) for command in self._commands]
        lines = ["#!/bin/sh", 'cd "$(dirname "$0")" || exit 1', f'export GST_REGISTRY="$PWD/{REGISTRY}"', *commands]
        (self.folder / "repeat").write_text("\n".join(lines) + "\n")
        (self.folder / "repeat").chmod(0o755)


def why_not_whole(path):
    """What another reader says against a text or array that has its final name; None for a whole one."""
    path = pathlib.Path(path)
    try:
        if path.suffix == ".jsonl":
            text = path.read_bytes()
            if text and not text.endswith(b"\n"):
                return "the last line is not complete"
            for line in text.splitlines():
                json.loads(line)
        elif path.suffix in (".json", ".geojson"):
            json.loads(path.read_bytes())
        elif path.suffix == ".svg":
            xml.etree.ElementTree.parse(path)
        elif path.suffix == ".npy":
            import numpy
            numpy.load(path)
    except Exception as error:  # a reader may refuse in any way that it likes
        return f"{type(error).__name__}: {error}"
    return None
