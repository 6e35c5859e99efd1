#!/usr/bin/python3
"""What libcontorno shows: contorno.symbols is the list, and the linker's script.

    tools/library/symbols.py --build build/release               says what is new and what is gone
    cmake --build build/release --target contorno_symbols        builds what is read, and writes the list again (--write)

Shown are the functions and objects that installed headers declare (by clang's syntax tree), the types that are declared there and
have virtual functions (so that they are caught and cast), and what the program, the modules, the Python package and the element
of this build use. All of it is looked for in the whole library, which the tests link: the same objects, with every name shown. A
build that lacks a part, as CUDA or GStreamer, adds what it uses, and takes nothing away."""
import argparse
import bisect
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "contorno.symbols"
HEAD = """/* What libcontorno shows, written by tools/library/symbols.py: what installed headers declare, and what the program, the modules,
   the Python package and the GStreamer element use. All else stays inside, as does what it is built from (the standard library's
   templates, fmt, yaml-cpp, the CUDA runtime): a process may have others of these. */
{
  global:
"""
TAIL = """  local:
    *;
};
"""


def said(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def listed():
    return re.findall(r"^    (_Z\w+);", LIST.read_text(), re.M)


def shown_by(library):
    """The names of contorno that a library shows, each with nm's letter."""
    names = {}
    for line in said("nm", "-D", "--defined-only", library).splitlines():
        _, letter, name = line.split()[:3]
        names[name.split("@")[0]] = letter
    return names


def used_by(programs):
    """The names of contorno that programs and libraries look for in others."""
    used = set()
    for path in programs:
        used |= {line.split()[-1] for line in said("nm", "-D", "--undefined-only", path).splitlines()}
    return {name for name in used if "8contorno" in name}


def users(build, program=None):
    """What is installed beside the library; the program may lie in another place."""
    found = [program or build / "bin" / "contorno"]
    for pattern in ("lib/contorno/*.so", "lib/gstreamer-1.0/*.so", "python/contorno/*.so"):
        found += sorted(build.glob(pattern))
    return found


def whole_library(build):
    """The library that shows every name."""
    return build / "lib" / "whole" / "libcontorno.so"


def has_every_part(build):
    """Whether the list is that of this build: the names of other machines are mangled otherwise."""
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    has_cuda = re.search(r"^CMAKE_CUDA_COMPILER:\w+=/", cache, re.M) and not re.search(r"^CONTORNO_CUDA:\w+=OFF", cache, re.M)
    files = ("lib/contorno/gst.so", "lib/gstreamer-1.0/*.so", "python/contorno/_core*.so")
    return platform.machine() == "x86_64" and bool(has_cuda) and all(any(build.glob(name)) for name in files)


def nodes(tree):
    yield tree
    for child in tree.get("inner", ()):
        yield from nodes(child)


def declared(include):
    """The mangled names of the functions and objects that the headers below a folder declare."""
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.h") if "gst" not in path.parts)
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write("".join(f"#include <{header}>\n" for header in headers))
        source.flush()
        text = said("clang++", "-std=c++20", "-I", include, "-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang",
                    "-ast-dump-filter=contorno::", source.name)
    names, at, read = set(), 0, json.JSONDecoder()
    while at < len(text.rstrip()):
        tree, at = read.raw_decode(text, text.index("{", at))
        names |= {node["mangledName"] for node in nodes(tree) if "mangledName" in node}
    # Of constructors and destructors the tree has one of the two or three functions that there are.
    return names | {re.sub(r"([CD])1(?=E)", rf"\g<1>{number}", name) for name in names for number in (0, 2)}


def wanted(build, program=None):
    """The names that the library has to show, sorted."""
    there = shown_by(whole_library(build))
    names = declared(build / "include")
    keep = {name for name in names if there.get(name) in ("T", "B", "D", "R")}
    keep |= used_by(users(build, program)) & set(there)
    members = sorted(name.replace("_ZNK", "_ZN") for name in names)
    for name in there:
        if type_name := re.fullmatch(r"_ZT[ISV](N8contorno\w+)E", name):
            prefix = f"_Z{type_name[1]}"
            at = bisect.bisect_left(members, prefix)
            if at < len(members) and members[at].startswith(prefix):
                keep.add(name)
    return sorted(keep)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, required=True, help="the build folder")
    options.add_argument("--program", type=pathlib.Path, help="the program, if it is not bin/contorno there")
    options.add_argument("--write", action="store_true", help="write contorno.symbols")
    given = options.parse_args()
    names = wanted(given.build, given.program)
    if not has_every_part(given.build):
        names = sorted({*names, *listed()})
    new, gone = sorted(set(names) - set(listed())), sorted(set(listed()) - set(names))
    for word, some in (("new", new), ("gone", gone)):
        for plain in said("c++filt", *some).splitlines() if some else ():
            print(f"{word}: {plain}")
    if given.write:
        LIST.write_text(HEAD + "".join(f"    {name};\n" for name in names) + TAIL)
    return 1 if (new or gone) and not given.write else 0


if __name__ == "__main__":
    sys.exit(main())
