"""Judges wheels: what is in them, what their files need, and what they say of themselves. What a wheel does is tried by
tests/package/wheel_test.py."""
import base64
import csv
import email
import fnmatch
import hashlib
import io
import json
import pathlib
import re
import sys
import zipfile

from .common import DIST, ROOT, TOOLS, VERSION, Failed, fetch_tools
from .wheel import VERSIONS

MODULES = ("gst", "text")
# Whatever runs on manylinux_2_35 has these.
ALLOWED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1"}
GRAFTED = "libgomp-*.so.1*"
# The system's, which only the modules open.
MODULES_MAY_NEED = ("libgst*-1.0.so.0", "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgmodule-2.0.so.0", "libgio-2.0.so.0",
                    "libpango*-1.0.so.0", "libcairo.so.2", "libharfbuzz.so.0")
MOST_MEGABYTES = {True: 5, False: 20}  # CPU alone; with CUDA, of seven architectures


def options(command):
    command.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="wheels (default: all in dist/)")


class Wheel:
    """An open wheel and the faults that were found in it."""

    def __init__(self, path):
        self.path, self.faults = path, []
        self.archive = zipfile.ZipFile(path)
        self.names = [name for name in self.archive.namelist() if not name.endswith("/")]
        self.info = f"contorno-{VERSION}.dist-info"

    def fault(self, sentence):
        self.faults.append(sentence)

    def read(self, name):
        return self.archive.read(name)

    def info_file(self, name):
        path = f"{self.info}/{name}"
        if path not in self.names:
            self.fault(f"there is no {path}")
            return b""
        return self.read(path)

    def binaries(self):
        return [name for name in self.names if self.read(name)[:4] == b"\x7fELF"]


def dynamic(data, tag):
    """The entries of a kind in the dynamic section of an ELF file. Raises elftools' ELFError."""
    from elftools.elf.elffile import ELFFile
    section = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
    return [entry for entry in section.iter_tags() if entry.entry.d_tag == tag] if section else []


def check_name(wheel):
    found = re.fullmatch(r"contorno-([0-9.]+)-cp(3)(\d+)-cp3\3-(\w+)\.whl", wheel.path.name.replace("manylinux_2_", "manylinux2_"))
    if not found:
        return wheel.fault("its name is not contorno-VERSION-cpXY-cpXY-PLATFORM.whl")
    if found[1] != VERSION:
        wheel.fault(f"its version is {found[1]}, that of CMakeLists.txt is {VERSION}")
    if f"3.{found[3]}" not in VERSIONS:
        wheel.fault(f"it is for Python 3.{found[3]}, which is not among {', '.join(VERSIONS)}")
    if "manylinux" not in found[4]:
        wheel.fault(f"its platform is {found[4]}: it was not repaired, and runs where it was built")


def check_files(wheel):
    python = re.search(r"-cp(3\d+)-", wheel.path.name)
    suffix = f".cpython-{python[1]}-x86_64-linux-gnu.so" if python else ".so"
    wanted = {f"contorno/_core{suffix}", f"contorno/_pipeline{suffix}", "contorno/libcontorno_python.so", "contorno/bin/contorno",
              *(f"contorno/modules/{name}.so" for name in MODULES)}
    wanted |= {"_contorno_program.py", *(f"contorno/{path.name}" for path in (ROOT / "plugins/python/contorno").iterdir() if path.is_file())}
    for name in sorted(wanted - set(wheel.names)):
        wheel.fault(f"there is no {name}")
    more = set(wheel.names) - wanted - {name for name in wheel.names if name.startswith(f"{wheel.info}/")}
    for name in sorted(more):
        if not fnmatch.fnmatch(name, f"contorno.libs/{GRAFTED}"):
            wheel.fault(f"{name} does not belong in it")
    if "contorno/bin/contorno" in wheel.names and not wheel.archive.getinfo("contorno/bin/contorno").external_attr >> 16 & 0o111:
        wheel.fault("contorno/bin/contorno may not be run")


def check_needed(wheel):
    from elftools.common.exceptions import ELFError
    for name in wheel.binaries():
        data = wheel.read(name)
        try:
            needed = [entry.needed for entry in dynamic(data, "DT_NEEDED")]
        except ELFError as error:
            wheel.fault(f"{name} is no library: {error}")
            continue
        may = MODULES_MAY_NEED if name.startswith("contorno/modules/") else ()
        for library in needed:
            own = any(other.endswith(f"/{library}") for other in wheel.names)
            known = library in ALLOWED or library == "libcontorno_python.so" or fnmatch.fnmatch(library, GRAFTED)
            if not known and not any(fnmatch.fnmatch(library, pattern) for pattern in may):
                wheel.fault(f"{name} needs {library}")
            elif library not in ALLOWED and not own and not any(fnmatch.fnmatch(library, pattern) for pattern in may):
                wheel.fault(f"{name} needs {library}, which is not in the wheel")
        for entry in dynamic(data, "DT_RUNPATH") + dynamic(data, "DT_RPATH"):
            path = entry.runpath if entry.entry.d_tag == "DT_RUNPATH" else entry.rpath
            if any(part and not part.startswith("$ORIGIN") for part in path.split(":")):
                wheel.fault(f"{name} looks for libraries in {path}, a folder of the machine that built it")
        if str(ROOT).encode() in data:
            wheel.fault(f"{name} names the folder that it was built in, {ROOT}")


def check_metadata(wheel):
    metadata = email.message_from_bytes(wheel.info_file("METADATA"))
    for key, value in (("Name", "contorno"), ("Version", VERSION), ("License-Expression", "MIT"), ("License-File", "LICENSE"),
                       ("Requires-Python", f">={VERSIONS[0]}")):
        if metadata.get(key) != value:
            wheel.fault(f"{key} in METADATA is {metadata.get(key)!r}, allowed is {value!r}")
    listed = [line.rsplit(" ", 1)[1] for line in metadata.get_all("Classifier", []) if re.search(r":: 3\.\d+$", line)]
    if tuple(listed) != VERSIONS:
        wheel.fault(f"its classifiers name Python {', '.join(listed)}, wheels are made for {', '.join(VERSIONS)}")
    if b"contorno = _contorno_program:main" not in wheel.info_file("entry_points.txt"):
        wheel.fault("it has no console script contorno")


def check_record(wheel):
    recorded = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.info_file("RECORD").decode())) if row}
    for name in wheel.names:
        if name == f"{wheel.info}/RECORD":
            continue
        digest = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
        if recorded.get(name) != digest:
            wheel.fault(f"RECORD does not have {name} as it is")
    for name in sorted(set(recorded) - set(wheel.names)):
        wheel.fault(f"RECORD has {name}, which is not in the wheel")


def check_carried(wheel):
    """What is of others is listed, and its licence lies in the wheel."""
    components = []
    for name in ("sboms/contorno.cdx.json", "sboms/auditwheel.cdx.json"):
        text = wheel.info_file(name)
        try:
            listed = json.loads(text).get("components", []) if text else []
        except ValueError as error:
            wheel.fault(f"{name} is no JSON: {error}")
            continue
        components += [component["name"] for component in listed if component["name"] != "contorno"]
        for component in listed:
            if not component.get("version"):
                wheel.fault(f"{name} does not say which version of {component['name']} is in the wheel")
    for name in [*sorted(set(components)), "LICENSE"]:
        stem = re.sub(r"\d+$", "", name) if name.startswith("libgomp") else name
        if not any(path in wheel.names for path in (f"{wheel.info}/licenses/{stem}.txt", f"{wheel.info}/licenses/{name}")):
            wheel.fault(f"the licence of {name} is not in {wheel.info}/licenses")
    for name in ("yaml-cpp", "libpng", "libjpeg-turbo", "zlib", "giflib", "fmt"):
        if name not in components:
            wheel.fault(f"{name} is linked in, but not listed in {wheel.info}/sboms/contorno.cdx.json")


def has_cuda(wheel):
    return any(b".nv_fatbin" in wheel.read(name) for name in wheel.names if name.endswith("libcontorno_python.so"))


def check_size(wheel):
    most, size = MOST_MEGABYTES[not has_cuda(wheel)], wheel.path.stat().st_size / 1e6
    if size > most:
        wheel.fault(f"it has {size:.1f} MB, allowed are {most}")


def faults_of(path):
    """The sentences that say what is wrong with a wheel."""
    try:
        wheel = Wheel(path)
    except (OSError, zipfile.BadZipFile) as error:
        return [f"it cannot be read: {error}"]
    for check in (check_name, check_files, check_needed, check_metadata, check_record, check_carried, check_size):
        check(wheel)
    return wheel.faults


def main(arguments):
    """judges the wheels in dist/, or FILE"""
    files = arguments.files or sorted([*DIST.glob("*.whl"), *DIST.glob("cpu/*.whl")])
    if not files:
        raise Failed("there is no wheel in dist/: tools/package wheel")
    fetch_tools()
    sys.path.insert(0, str(TOOLS))
    bad = 0
    for path in files:
        faults = faults_of(path)
        bad += bool(faults)
        print(f"{path.name}: {'good' if not faults else f'{len(faults)} faults'}, {path.stat().st_size / 1e6:.2f} MB"
              if path.exists() else f"{path}: {faults[0]}")
        for fault in faults:
            print(f"  {fault}")
    return 1 if bad else 0
