"""A line of the tests: a source that notes each number before it delivers it, the program, and kills from outside."""
import contextlib
import os
import pathlib
import subprocess
import threading
import time

import pytest
from tests.campaign.judge import STREAM_HEAD, decoded, kept, picture
from tests.conftest import LIBRARY, PROGRAM

GRAPH = """
pipeline: {{backend: cpu, slots: 4, {pipeline}}}
source: {{type: video, location: "-", live: {live}}}
classes: [{{name: thing, references: ["#ffffff"]}}, {{name: ground, hidden: true, references: ["#000000"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: publish, outbox: outbox.db, camera: {camera}, skip_hidden: true, {more}}}]
"""
FAULTY = LIBRARY.parent / "contorno-planted"  # modules in which faults can be planted


class Start:
    """One start of the program. Its source sends until `frames`, or until somebody ends it."""

    def __init__(self, folder, camera="north", more="drain: 0", frames=10**9, pause=0.002, env=None, pipeline="threads: 1",
                 live=False, rate=30, wrapper=()):
        """`rate`: of the frames' times, by which a live source is paced; `wrapper`: the words of a command that starts the
        program."""
        self.folder, self.camera, self.sent, self.is_last = pathlib.Path(folder), camera, 0, False
        (self.folder / "line.yaml").write_text(GRAPH.format(camera=camera, more=more, pipeline=pipeline,
                                                                 live=str(live).lower()))
        self.process = subprocess.Popen([*wrapper, PROGRAM, "run", "line.yaml", "--output", "out", "--quiet"], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env={**os.environ, **(env or {})})
        self.feeder = threading.Thread(target=self.feed, args=(frames, pause, rate), daemon=True)
        self.feeder.start()
        self.lines = []  # of standard error, as far as they have come
        self.listener = threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True)
        self.listener.start()

    def has_said(self, words):
        return words in self.said()

    def said(self):
        return b"".join(self.lines).decode()

    def feed(self, frames, pause, rate):
        try:
            with self.process.stdin as pipe:
                pipe.write(STREAM_HEAD.replace(b"F30:1", b"F%d:1" % rate))
                for number in range(frames):
                    if self.is_last:
                        break
                    self.sent = number + 1  # noted before it is delivered
                    pipe.write(picture(self.camera, number))
                    pipe.flush()
                    time.sleep(pause)
        except BrokenPipeError:
            pass

    def wait_until_kept(self, messages, seconds=60):
        """Until so many numbers were sent at least."""
        until = time.monotonic() + seconds
        while self.sent < messages and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)

    def finish(self, timeout=120):
        """The source comes to its end, and the run with it."""
        self.is_last = True
        return self.end(timeout)

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self, timeout=120):
        """What it said on standard error; the exit code is in `code`."""
        self.code = self.process.wait(timeout)
        self.listener.join(timeout)
        self.feeder.join(timeout)
        return self.said()


def planted(fault):
    """The environment in which the modules of the tests have this fault. Those without faults are beside them as links."""
    if not (FAULTY / "publish.so").exists():
        pytest.skip("needs the modules with planted faults (contorno_publish_planted)")
    for module in (LIBRARY.parent / "contorno").glob("*.so"):
        with contextlib.suppress(FileExistsError):
            (FAULTY / module.name).symlink_to(module)
    return {"CONTORNO_MODULES": str(FAULTY), "CONTORNO_PLANTED_FAULT": fault}


def kept_of_frames(path):
    """Messages in an outbox but those of what became of the camera, of which a busy machine has more: begin, frames, end."""
    return [row for row in kept(path) if decoded(row[3])["kind"] != "camera"]
