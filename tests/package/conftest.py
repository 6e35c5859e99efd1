"""A contorno that is installed for these tests, and programs of others that are built against it."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest
from tests.conftest import PROGRAM, ROOT

BUILD = pathlib.Path(os.environ.get("CONTORNO_BUILD", pathlib.Path(PROGRAM).resolve().parent.parent))
COMPILERS = ["g++", "clang++"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
EXAMPLES = ROOT / "docs" / "examples"


def need(*programs):
    """Skips the test, by name, where one of them is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (tools/setup test)")


def done(*command, **kwargs):
    """Runs a command that has to succeed; returns its standard output."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **kwargs)
    assert ran.returncode == 0, f"{shlex.join(map(str, command))}\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}"
    return ran.stdout


def install(prefix, *components, env=None):
    for component in components:
        done("cmake", "--install", BUILD, "--prefix", prefix, "--component", component, env={**os.environ, **(env or {})})


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A prefix with the library and what programs of others need, and nothing else."""
    prefix = tmp_path_factory.mktemp("installed") / "prefix"
    install(prefix, "library", "dev")
    return prefix


def pkg_config(prefix, *what):
    """What pkg-config says about contorno below a prefix, as words."""
    [found] = prefix.rglob("contorno.pc")
    return done("pkg-config", *what, "contorno", env={**os.environ, "PKG_CONFIG_PATH": str(found.parent)}).split()


def library_folder(prefix):
    [found] = prefix.rglob("libcontorno.so")
    return found.parent


def run_out_of_reach(program, prefix, *words, cwd=None):
    """Runs a program whose library is below the prefix, in an empty environment. Where users may have mounts of their own, the
    checkout is empty for it."""
    command = [str(program), *map(str, words)]
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0:
        command = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(ROOT), *command]
    environment = {"LD_LIBRARY_PATH": str(library_folder(prefix)), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    return done(*command, cwd=cwd or prefix, env={**environment, "OMP_WAIT_POLICY": "passive"})


def shown_by_guides():
    """For each program of docs/examples, what the guides say that it prints."""
    shown = {}
    for page in ("cpp", "stage"):
        text = (ROOT / "docs" / "guide" / f"{page}.md").read_text()
        for name, lines in re.findall(r"^```sh\nexample_(\w+)\n```\n\n((?: {4}[^\n]*\n)+)", text, re.M):
            shown[name] = re.sub(r"^ {4}", "", lines, flags=re.M)
    return shown


def flags_of(build, source):
    """The words of the command that compiles a file, without the compiler, what it reads and what it writes."""
    commands = json.loads((build / "compile_commands.json").read_text())
    [entry] = [entry for entry in commands if pathlib.Path(entry["file"]).name == source]
    words = shlex.split(entry["command"])[1:]
    for with_argument in ("-o", "-c"):
        at = words.index(with_argument)
        del words[at:at + 2]
    return words
