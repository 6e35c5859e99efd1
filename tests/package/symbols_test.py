"""What the library shows: the committed list, no more than installed headers declare and programs of ours use, and, within one
minor version, all that the last version showed."""
import re
import subprocess
import sys

import pytest
from tests.conftest import ROOT
from tests.package.conftest import BUILD, done, need
from tools.library import abi, symbols

WHOLE = symbols.whole_library(BUILD)


def needs_every_part():
    """The list is that of builds with all parts."""
    if not symbols.has_every_part(BUILD):
        pytest.skip("needs a build for x86-64 with CUDA, GStreamer and Python")


def plain(names):
    return done("c++filt", *sorted(names)).splitlines() if names else []


def test_the_library_shows_the_list():
    needs_every_part()
    shown = set(symbols.shown_by(BUILD / "lib" / "libcontorno.so"))
    assert len(shown) > 300
    assert plain(set(symbols.listed()) - shown) == [], "these names are gone: a program that uses one no longer starts"
    assert plain(shown - set(symbols.listed())) == [], "these names are new"


def test_the_list_is_sorted_and_names_only_ours():
    names = symbols.listed()
    assert names == sorted(set(names))
    ours = re.compile(r"(vtable for |typeinfo (name )?for |non-virtual thunk to )?contorno::")
    assert [name for name in plain(names) if not ours.match(name)] == []


def test_what_is_shown_is_declared_or_used():
    """The target contorno_symbols makes the list again."""
    needs_every_part()
    need("clang++", "nm")
    if not WHOLE.exists():
        pytest.skip("needs a build of the tests")
    wanted, listed = set(symbols.wanted(BUILD)), set(symbols.listed())
    assert plain(wanted - listed) == [], "new: declared in an installed header, or used, and not shown"
    assert plain(listed - wanted) == [], "gone: shown, and neither declared in an installed header nor used"


def test_the_library_of_the_tests_is_the_same_but_for_what_it_shows():
    if not WHOLE.exists():
        pytest.skip("needs a build of the tests")
    need("readelf")
    own = BUILD / "lib" / "libcontorno.so"
    assert set(symbols.shown_by(own)) < set(symbols.shown_by(WHOLE))
    dynamic = [re.findall(r"\((NEEDED|SONAME|FLAGS|FLAGS_1)\)\s+(.*)", done("readelf", "-d", library)) for library in (own, WHOLE)]
    assert dynamic[0] == dynamic[1]


USER = "namespace contorno { int hidden(); }\nint main() { return contorno::hidden(); }\n"


@pytest.mark.parametrize("source, code, says", [(USER, 1, True), ("int main() { return mine(); }\nint mine();\n", 1, False),
                                                ("int other();\nint main() { return other(); }\n", 1, False), ("int main() {}\n", 0, False)])
def test_a_program_that_misses_a_name_is_told_what_lists_it(source, code, says, tmp_path):
    need("g++")
    (tmp_path / "main.cpp").write_text(source)
    ran = subprocess.run([ROOT / "tools" / "library" / "link", "make", "the list", "--", "g++", tmp_path / "main.cpp", "-o",
                          tmp_path / "main"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr.endswith("\n  make the list\n")) == (code, says)
    assert says == ("undefined reference to `contorno::hidden()'" in ran.stderr)


def test_a_build_without_a_part_takes_no_name_away(monkeypatch, tmp_path):
    """As one without CUDA, whose programs do not use what is listed for it."""
    monkeypatch.setattr(symbols, "LIST", tmp_path / "list")
    for whole, left in ((True, ["_ZN8contorno3newEv"]), (False, ["_ZN8contorno3newEv", "_ZN8contorno3oldEv"])):
        (tmp_path / "list").write_text(symbols.HEAD + "    _ZN8contorno3oldEv;\n" + symbols.TAIL)
        monkeypatch.setattr(symbols, "wanted", lambda *_: ["_ZN8contorno3newEv"])
        monkeypatch.setattr(symbols, "has_every_part", lambda _, whole=whole: whole)
        monkeypatch.setattr(sys, "argv", ["symbols.py", "--build", str(tmp_path), "--write"])
        assert symbols.main() == 0
        assert symbols.listed() == left


OLD = """#include <string>
namespace contorno {
struct Options { int threads = 1; double level = 0; };
int find(const Options& options) { return options.threads; }
void name(const std::string&) {}
}
"""
CHANGES = {"nothing": (lambda text: text, True),
           "a function that is added": (lambda text: text + "namespace contorno { int more() { return 1; } }\n", True),
           "a function that is gone": (lambda text: text.replace("void name(const std::string&) {}", ""), False),
           "a member that is added": (lambda text: text.replace("double level", "int few = 1; double level"), False)}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_programs_rely_on_is_found(change, tmp_path):
    need("abidiff", "g++")
    edit, is_kept = CHANGES[change]
    for name, text in (("old", OLD), ("new", edit(OLD))):
        (tmp_path / f"{name}.cpp").write_text(text)
        done("g++", "-g", "-shared", "-fPIC", tmp_path / f"{name}.cpp", "-o", tmp_path / f"{name}.so")
    report = abi.differences(tmp_path / "old.so", tmp_path / "new.so")
    assert (report == "") == is_kept, report


def test_the_last_version_of_this_minor_is_kept():
    """The libraries of the tag and of this checkout, with debugging information: tools/library/abi.py builds them, which takes
    minutes."""
    need("abidiff", "git")
    tag = abi.last_tag()
    if tag is None:
        pytest.skip("needs a tag of this minor version")
    old, new = abi.built(tag), abi.built("checkout")
    if not (old.exists() and new.exists()):
        pytest.skip(f"needs the libraries of {tag} and of the checkout (tools/library/abi.py)")
    assert abi.differences(old, new, headers=True) == ""
