"""Limits on file size, processes and open files, and disks that fill up: each run ends with a code of the table and a
sentence, and what has a final name is whole."""
import os
import pathlib
import shlex
import shutil
import subprocess

from tests.campaign import memory
from tests.campaign.kills import IMAGE_SINKS, TEXT_SINKS, check_final_names, write_graphs
from tests.campaign.readers import Reader
from tests.campaign.trial import PROGRAM, Case, Skip
from tests.campaign.videos import CONTAINERS

SINKS = {"jsonl": TEXT_SINKS[:1], "coco": TEXT_SINKS[1:2], "geojson": TEXT_SINKS[2:3], "svg": TEXT_SINKS[3:],
         "images": IMAGE_SINKS[:1], "photos": IMAGE_SINKS[1:2], "levels": IMAGE_SINKS[2:]} | {
    container: [f"{{type: video, path: overlay.{container}}}"] for container in CONTAINERS}
FILE_SIZES = (1, 100, 1000, 4096, 10_000, 40_000, 100_000, 400_000)
DISK_SIZES = ("64k", "128k", "256k", "512k", "1m", "2m")
PROCESSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
OPEN_FILES = (4, 5, 6, 8, 10, 12, 16, 24, 32, 64)
PRINTS = {"stages": ("stages",), "schema": ("schema",), "doctor": ("doctor",), "check": ("check", "graph.yaml"),
          "help": ("--help",), "run": ("run", "graph.yaml", "--frames", "1", "--output", "out")}
OTHER_USERS = 61_000  # the first of some that nobody is, so that the processes that are counted are the case's
COMMAND = ("run", "graph.yaml", "--frames", "40", "--output", "out", "--report", "report.json", "--quiet")


def judge_full(trial, done, reader):
    """A run whose output did not fit: 74, or 73 for not even a beginning; or all of it did fit."""
    if done.code not in (0, 73, 74) and done.code > 0:
        trial.fault(f"exit code {done.code} for output that does not fit: {done.said.strip()[:200]}")
    check_final_names(trial, reader, f"exit code {done.code}")


def file_size(trial, name, size, reader):
    write_graphs(trial.folder, SINKS[name])
    done = trial.run(*COMMAND, prefix=("prlimit", f"--fsize={size}"))
    judge_full(trial, done, reader)


def can_mount():
    return shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


def full_disk(trial, name, size, reader):
    """The output folder is a small disk of memory that only the run sees; what it holds is copied out at the end."""
    write_graphs(trial.folder, SINKS[name])
    (trial.folder / "out").mkdir()
    (trial.folder / "disk").mkdir()
    command = shlex.join([PROGRAM, *COMMAND])
    script = f"mount -t tmpfs -o size={size} none disk && ln -s ../disk/x out/x 2>/dev/null; rm -f out/x\n" \
             f"mount --bind disk out && {command}; code=$?; cp -a out copy; exit $code"
    (trial.folder / "script").write_text(script)
    done = trial.run(prefix=("unshare", "-m", "sh", "script", "#"))
    (trial.folder / "out").rmdir()
    (trial.folder / "copy").rename(trial.folder / "out")
    judge_full(trial, done, reader)


def full_output(trial, name):
    write_graphs(trial.folder, TEXT_SINKS[:1])
    prefix = ("sh", "-c", 'exec "$@" >/dev/full', "sh")
    trial.run(*PRINTS[name], prefix=prefix, codes={74})


def closed_output(trial, name):
    write_graphs(trial.folder, TEXT_SINKS[:1])
    trial.run(*PRINTS[name], prefix=("sh", "-c", 'exec "$@" >&-', "sh"), codes={74})


def processes(trial, command, limit):
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("limits on processes bind users without privilege; needs root to become one")
    memory.prepare(trial.folder)
    user = OTHER_USERS + trial.random.randrange(4000)
    prefix = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
    if subprocess.run([*prefix, PROGRAM, "--help"], capture_output=True).returncode != 0:
        raise Skip("another user may not run the program here")
    for path in [trial.folder, *trial.folder.rglob("*")]:
        os.chown(path, user, user)
    trial.run(*memory.COMMANDS[command], prefix=("prlimit", f"--nproc={limit}", *prefix))


def open_files(trial, command, limit):
    memory.prepare(trial.folder)
    trial.run(*memory.COMMANDS[command], prefix=("prlimit", f"--nofile={limit}"))


def cases(options):
    reader = Reader()
    step = 4 if options.quick else 1
    for size in FILE_SIZES[1::step] if options.quick else FILE_SIZES:
        for name in list(SINKS)[::step]:
            yield Case(f"size-{size}-{name}", lambda trial, name=name, size=size: file_size(trial, name, size, reader))
    mounts = can_mount()
    for size in DISK_SIZES[::step]:
        for name in list(SINKS)[1::step]:
            def fill(trial, name=name, size=size):
                if not mounts:
                    raise Skip("may not mount a small disk")
                full_disk(trial, name, size, reader)
            yield Case(f"disk-{size}-{name}", fill)
    for name in PRINTS:
        yield Case(f"full-output-{name}", lambda trial, name=name: full_output(trial, name))
        yield Case(f"closed-output-{name}", lambda trial, name=name: closed_output(trial, name))
    for limit in PROCESSES[::step]:
        for command in list(memory.COMMANDS)[::step]:
            yield Case(f"processes-{limit}-{command}",
                       lambda trial, command=command, limit=limit: processes(trial, command, limit))
    for limit in OPEN_FILES[::step]:
        for command in list(memory.COMMANDS)[::step]:
            yield Case(f"files-{limit}-{command}",
                       lambda trial, command=command, limit=limit: open_files(trial, command, limit))
