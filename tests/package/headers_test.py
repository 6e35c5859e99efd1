"""The headers that are installed: which ones, what they need, and what a stranger's compiler makes of them."""
import re

import pytest
from tests.conftest import ROOT
from tests.package.conftest import COMPILERS, EXAMPLES, WARNINGS, done, need
from tools.library.list_headers import ENTRIES, installed_headers

LIST = (ROOT / "tools" / "library" / "headers.txt").read_text().split()
# Headers of C, C++ and Linux, which every machine has.
STANDARD = re.compile(r"[a-z_0-9]+|c?(std\w+|time|errno|string|math)(\.h)?|(unistd|pthread)\.h|sys/\w+\.h")
GUIDES = [ROOT / "docs" / "guide" / f"{page}.md" for page in ("cpp", "stage")]
STRICT = ["-std=c++20", "-fsyntax-only", *WARNINGS, "-Wsign-conversion", "-Wpedantic"]


def test_the_list_is_what_programs_of_others_reach():
    assert installed_headers() == LIST, "tools/library/list_headers.py > tools/library/headers.txt"


def test_what_guides_and_examples_include_is_in_the_list():
    named = {name for page in EXAMPLES.glob("*.cpp") for name in re.findall(r"<contorno/([^>]+)>", page.read_text())}
    assert len(named) > 8
    header = r"[`\"</]((?:base|cuda|pipeline|geometry|stages|config|plugins)/[\w/]+\.h)\b"
    of_guides = {name for page in GUIDES for name in re.findall(header, page.read_text())}
    assert len(of_guides) > 8
    assert sorted((named | of_guides) - set(LIST)) == []


def test_they_need_no_other_package(installed):
    """Also none that this machine happens to have."""
    there = installed / "include" / "contorno"
    assert sorted(str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()) == LIST
    wrong = []
    for header in LIST:
        for mark, name in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', (there / header).read_text(), re.M):
            ours = name.removeprefix("contorno/") in LIST and name.startswith("contorno/")
            if mark == '"' or not (ours or STANDARD.fullmatch(name)):
                wrong.append(f"{header} includes {name}")
    assert wrong == []


def test_none_computes_samples():
    """A stranger's compiler may fuse multiplications and additions; samples and crossing points are computed in the library."""
    assert not {"stages/contours/rules/crossing_point.h", "stages/shared/sample_value.h"} & set(LIST)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_they_are_silent(compiler, installed, tmp_path):
    need(compiler)
    (tmp_path / "all.cpp").write_text("".join(f"#include <contorno/{name}>\n" for name in LIST))
    done(compiler, *STRICT, "-I", installed / "include", tmp_path / "all.cpp")


@pytest.mark.parametrize("part", range(4))
def test_each_compiles_alone(part, installed, tmp_path):
    """Each that others are told to include."""
    need("g++")
    for name in ENTRIES[part::4]:
        (tmp_path / "one.cpp").write_text(f"#include <contorno/{name}>\n")
        done("g++", "-std=c++20", "-fsyntax-only", "-I", installed / "include", tmp_path / "one.cpp")


def test_fused_operations_stay_in_what_steps_compute(installed, tmp_path):
    """With instructions that multiply and add at once, and every function of the headers compiled: only the arithmetic of points,
    which steps of a stranger's own take part in, would change. docs/guide/stage.md says how they are compiled."""
    need("g++", "objdump")
    if done("uname", "-m").strip() != "x86_64":
        pytest.skip("needs an x86-64 machine")
    (tmp_path / "all.cpp").write_text("".join(f"#include <contorno/{name}>\n" for name in LIST))
    done("g++", "-std=c++20", "-O1", "-fexpensive-optimizations", "-march=haswell", "-fkeep-inline-functions",
         "-I", installed / "include", "-c", tmp_path / "all.cpp", "-o", tmp_path / "all.o")
    name, fused = "", set()
    for line in done("objdump", "-d", "-C", "--no-show-raw-insn", tmp_path / "all.o").splitlines():
        if started := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = started[1]
        elif re.search(r"\tvf(n?m)(add|sub)", line) and "contorno::" in name:
            fused.add(re.sub(r"\(.*", "", name).removeprefix("contorno::"))
    assert {"squared_distance", "twice_signed_area"} <= fused, "the compiler has such instructions"
    of_points = {*re.findall(r"\b(\w+)\(const Point&", (ROOT / "geometry/points.h").read_text()),
                 *re.findall(r"\b(\w+)\(", (ROOT / "geometry/contour_size.h").read_text())}
    assert sorted(name for name in fused if name.split("::")[0] not in of_points) == []
