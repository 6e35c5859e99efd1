"""Faults, planted one at a time: the tests of this folder find them."""
import re
import shutil

import pytest
from tests.package import consumers_test, headers_test, symbols_test
from tests.package.conftest import done, need
from tools.library import abi, symbols


def changed(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.fixture
def planted(installed, tmp_path):
    """A copy of the prefix, for a fault."""
    return shutil.copytree(installed, tmp_path / "planted", symlinks=True)


def test_a_header_that_includes_fmt(planted):
    changed(planted / "include" / "contorno" / "base" / "error.h", "#include <string>\n", "#include <string>\n#include <fmt/format.h>\n")
    with pytest.raises(AssertionError, match="base/error.h includes fmt/format.h"):
        headers_test.test_they_need_no_other_package(planted)


def test_a_header_that_includes_one_that_is_not_listed(tmp_path):
    """The build itself refuses it."""
    source = tmp_path / "source"
    (source / "base").mkdir(parents=True)
    (source / "base" / "error.h").write_text('#include "base/inside.h"\n')
    (tmp_path / "headers.txt").write_text("base/error.h\n")
    script = headers_test.ROOT / "tools" / "library" / "rewrite_headers.cmake"
    with pytest.raises(AssertionError, match="includes base/inside.h"):
        done("cmake", f"-DSOURCE={source}", f"-DLIST={tmp_path / 'headers.txt'}", f"-DTARGET={tmp_path / 'made'}", "-P", script)


def test_a_consumer_that_sees_our_werror(planted, tmp_path):
    need("cmake", "ninja")
    [targets] = planted.rglob("contorno-targets.cmake")
    changed(targets, 'INTERFACE_COMPILE_FEATURES "cxx_std_20"', 'INTERFACE_COMPILE_OPTIONS "-Werror"')
    source, build = consumers_test.consumer(tmp_path / "mine", consumers_test.FIND), tmp_path / "build"
    done("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={planted}", "-DCMAKE_CXX_STANDARD=20", *consumers_test.SEEN)
    assert consumers_test.strange_flags(build, "main.cpp", planted / "include") == [f"-I{source}/.", "-Werror"]


def test_a_name_that_is_gone(monkeypatch, tmp_path):
    symbols_test.needs_every_part()
    text = symbols.LIST.read_text()
    monkeypatch.setattr(symbols, "LIST", tmp_path / "list")
    (tmp_path / "list").write_text(text.replace("  local:", "    _ZN8contorno4goneEv;\n  local:"))
    with pytest.raises(AssertionError, match=r"(?s)are gone.*contorno::gone\(\)"):
        symbols_test.test_the_library_shows_the_list()


@pytest.mark.parametrize("name", ["_ZN8contorno6Runner", "_ZN8contorno12full_catalog"])
def test_a_name_that_is_gone_from_the_library(name, monkeypatch, tmp_path):
    """The library itself, without it: the comparison with the last version finds it, and so does the one with the list."""
    need("abidiff", "nm")
    symbols_test.needs_every_part()
    own = symbols_test.BUILD / "lib" / "libcontorno.so"
    whole = next(shown for shown in sorted(symbols.shown_by(own)) if shown.startswith(name))
    (tmp_path / "lib").mkdir()
    faulty = tmp_path / "lib" / "libcontorno.so"
    text, word = own.read_bytes(), b"\0" + whole.encode() + b"\0"
    assert word in text, "in the table of what is shown, and in that of debuggers"
    faulty.write_bytes(text.replace(word, word.replace(b"8contorno", b"8contornO")))
    assert abi.differences(own, own) == ""
    plain = done("c++filt", whole).strip()
    assert whole in abi.differences(own, faulty)
    monkeypatch.setattr(symbols_test, "BUILD", tmp_path)
    monkeypatch.setattr(symbols_test, "needs_every_part", lambda: None)
    with pytest.raises(AssertionError, match=rf"(?s)are gone.*{re.escape(plain)}"):
        symbols_test.test_the_library_shows_the_list()
