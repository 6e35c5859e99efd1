#!/usr/bin/python3
"""Whether programs that were linked with the last tagged version of this minor version still run with the library of this checkout:
builds both, with debugging information, in build/abi, and compares them by abidiff. Ends with 0 if nothing is gone or changed, with
1 if something is, with 69 if there is nothing to compare or to compare with."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "abi"


def version():
    return re.search(r"project\(contorno VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def last_tag():
    """The newest tag of this minor version, or None. Another minor version has another SONAME."""
    minor = ".".join(version().split(".")[:2])
    said = subprocess.run(["git", "tag", "--list", f"v{minor}.*", "--sort=-version:refname", "--merged"], cwd=ROOT,
                          capture_output=True, text=True)
    tags = said.stdout.split() if said.returncode == 0 else []
    return tags[0] if tags else None


def built(what):
    return FOLDER / what / "build" / "lib" / "libcontorno.so"


def differences(old, new, headers=False):
    """What abidiff says that a program which was linked with `old` may miss in `new`; empty: nothing. Names that are added are no
    difference. With `headers` only types of installed headers count."""
    command = ["abidiff", "--no-added-syms"]
    if headers:
        for option, library in (("--headers-dir1", old), ("--headers-dir2", new)):
            command += [option, str(pathlib.Path(library).parents[1] / "include")]
    said = subprocess.run([*command, str(old), str(new)], capture_output=True, text=True)
    return "" if said.returncode == 0 else said.stdout + said.stderr


def build(what, source):
    folder = FOLDER / what / "build"
    subprocess.run(["cmake", "-S", str(source), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_CXX_FLAGS=-g", "-DCONTORNO_TESTS=OFF", "-DCONTORNO_PYTHON=OFF"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "contorno_library"], check=True)


def main():
    missing = [program for program in ("abidiff", "cmake", "git", "ninja") if shutil.which(program) is None]
    if missing:
        print(f"tools/library/abi.py needs {', '.join(missing)} (tools/setup test)", file=sys.stderr)
        return 69
    tag = last_tag()
    if tag is None:
        print(f"there is no tag of version {version()} or of an earlier one of its minor version", file=sys.stderr)
        return 69
    source = FOLDER / tag / "source"
    if not source.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(source), tag], cwd=ROOT, check=True)
    build(tag, source)
    build("checkout", ROOT)
    found = differences(built(tag), built("checkout"), headers=True)
    print(found or f"all that {tag} shows is there as it was")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
