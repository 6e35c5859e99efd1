"""Wheels: the library is compiled once, in one build folder, and for every Python its bindings and the wheel."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

from . import archives
from .common import DIST, ROOT, TOOLS, WORK, Failed, Missing, fetch_tools, need, run

SYSTEM = "/usr/bin/python3"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What the preset `package` of CMakePresets.json has.
ARCHITECTURES = "75-real;80-real;86-real;89-real;90"
# Libraries of the system that the modules gst and text use where it has them. A copy of GStreamer would have no plugins.
NEVER_CARRIED = ("libgst*", "libpango*", "libcairo*", "libglib*", "libgobject*", "libgmodule*", "libgio*", "libgthread*", "libharfbuzz*",
                 "libfontconfig*", "libfreetype*")


def options(command):
    command.add_argument("--python", nargs="+", metavar="X", default=[SYSTEM], help="for these (default: %(default)s)")
    command.add_argument("--cpu", action="store_true", help="without CUDA, in dist/cpu")
    command.add_argument("--architectures", metavar="LIST", default=ARCHITECTURES,
                         help="of GPUs, as in CMAKE_CUDA_ARCHITECTURES (default: %(default)s)")


def describe(python):
    """Version, headers' folder and whether a Python has them; None where it cannot be run."""
    code = ("import json, os, sys, sysconfig; folder = sysconfig.get_path('include'); "
            "print(json.dumps([sys.executable, '%d.%d' % sys.version_info[:2], folder, os.path.exists(folder + '/Python.h')]))")
    try:
        done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
    except OSError:
        return None
    return json.loads(done.stdout) if done.returncode == 0 else None


def pythons_at_hand():
    """One of each version that wheels are made for, with headers: the system's, those on PATH, those that pyenv and uv keep."""
    found = {}
    home = pathlib.Path.home()
    kept = [path for version in VERSIONS for folder in (".pyenv/versions", ".local/share/uv/python")
            for path in sorted(home.glob(f"{folder}/*{version}.*/bin/python{version}"))]
    for name in (SYSTEM, *(f"python{version}" for version in VERSIONS), *kept):
        known = describe(name) if shutil.which(name) else None
        if known and known[1] in VERSIONS and known[3]:
            found.setdefault(known[1], known[0])
    return list(found.values())


def check_python(python):
    """The path of a Python that a wheel can be built for."""
    known = describe(python)
    if known is None:
        raise Missing(f"the Python '{python}' cannot be run: give the path of one, --python /usr/bin/python3")
    path, version, folder, has_headers = known
    if version not in VERSIONS:
        raise Missing(f"{python} is Python {version}, wheels are made for {', '.join(VERSIONS)}: give the path of one of these")
    if not has_headers:
        raise Missing(f"the headers of {python} are missing ({folder}/Python.h): apt-get install python{version}-dev")
    return path


def build(python, cpu, architectures):
    """Compiles what is not compiled, and packs a wheel that still needs the libraries of this machine. Returns its path."""
    kind = "cpu" if cpu else "cuda"
    raw = WORK / f"raw-{kind}"
    shutil.rmtree(raw, ignore_errors=True)
    settings = [f"build-dir={WORK / kind}", f"cmake.define.CONTORNO_CUDA={'OFF' if cpu else 'ON'}",
                f"cmake.define.pybind11_DIR={TOOLS}/pybind11/share/cmake/pybind11",
                f"cmake.define.CONTORNO_ARCHIVES={archives.PREFIX}"]
    if not cpu:
        settings.append(f"cmake.define.CMAKE_CUDA_ARCHITECTURES={architectures}")
    run([python, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check", "--outdir", raw,
         *(f"--config-setting={setting}" for setting in settings), ROOT], f"wheel-{kind}-{pathlib.Path(python).name}.log")
    return next(raw.glob("*.whl"))


def repair(wheel, folder):
    """Adds libgomp, under a name of its own, and gives the wheel the tag of the oldest systems that it runs on."""
    fixed = WORK / f"repaired-{folder.name}"
    shutil.rmtree(fixed, ignore_errors=True)
    run([sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", "--zip-compression-level", "9",
         *(word for pattern in NEVER_CARRIED for word in ("--exclude", pattern)), "--wheel-dir", fixed, wheel], f"repair-{folder.name}.log")
    made = next(fixed.glob("*.whl"))
    for old in folder.glob("-".join(made.name.split("-")[:4]) + "-*.whl"):
        old.unlink()
    return pathlib.Path(shutil.move(made, folder / made.name))


def main(arguments):
    """wheels, one for each Python"""
    need("cmake", "cmake")
    need("ninja", "ninja-build")
    need("c++", "build-essential")
    need("git", "git")
    if not arguments.cpu and not (shutil.which(os.environ.get("CUDACXX", "nvcc")) or os.path.exists("/usr/local/cuda/bin/nvcc")):
        raise Missing("nvcc is missing: apt-get install nvidia-cuda-toolkit, or --cpu for wheels without CUDA")
    pythons = [check_python(python) for python in arguments.python]
    fetch_tools()
    archives.prepare()
    folder = DIST / "cpu" if arguments.cpu else DIST
    folder.mkdir(parents=True, exist_ok=True)
    for python in pythons:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        made = repair(build(python, arguments.cpu, arguments.architectures), folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{made.relative_to(ROOT)}: {made.stat().st_size / 1e6:.2f} MB, {seconds:.0f} CPU-s, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        if "-linux_" in made.name:
            raise Failed(f"{made.name} runs on this system alone; see build/package/repair-{folder.name}.log")
