"""The archive of the sources: what the repository tracks, and the commit, which it could not know by itself."""
import datetime
import pathlib
import shutil
import subprocess
import sys

from .common import DIST, ROOT, VERSION, WORK, Missing, date_of_sources, fetch_tools, need, run


def git(*words, given=None):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, input=given)


def tracked_files():
    """All but what .gitattributes keeps out of archives, file by file or folder by folder."""
    listed = git("ls-files", "-z")
    if listed.returncode != 0:
        raise Missing(f"{ROOT} is no repository of git, which says what belongs to the archive: clone it")
    names = [pathlib.PurePosixPath(name) for name in listed.stdout.decode().split("\0") if name]
    paths = sorted({str(path) for name in names for path in (name, *name.parents)} - {"."})
    answers = git("check-attr", "-z", "--stdin", "export-ignore", given="\0".join(paths).encode()).stdout.decode().split("\0")
    ignored = {path for path, value in zip(answers[::3], answers[2::3]) if value == "set"}
    return [name for name in names if not ignored & {str(path) for path in (name, *name.parents)}]


def stage():
    """A folder with the tracked files and tools/COMMIT."""
    need("git", "git")
    names = tracked_files()
    folder = WORK / f"contorno-{VERSION}"
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    commit = git("describe", "--always", "--dirty", "--abbrev=10", "--exclude=*").stdout.decode().strip()
    epoch = date_of_sources()
    day = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).date()
    (folder / "tools" / "COMMIT").write_text(f"{commit}\n{day}\n{epoch}\n")
    return folder


def main(_arguments=None):
    """the archive of the sources"""
    fetch_tools()
    DIST.mkdir(exist_ok=True)
    folder = ROOT if (ROOT / "tools" / "COMMIT").exists() else stage()
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check", "--outdir", DIST, folder], "sdist.log")
    path = DIST / f"contorno-{VERSION}.tar.gz"
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
