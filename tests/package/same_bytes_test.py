"""Nothing that is compiled says when it was compiled: packages that are built twice are the same bytes."""
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
from tests.package.conftest import BUILD, need
from tools.library import symbols

# What __DATE__ and __TIMESTAMP__ make; and __TIME__, alone in its string.
MONTHS = b"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
MOMENT = re.compile(MONTHS + rb" [ 123]\d (?:[012]\d:[0-5]\d:[0-5]\d )?20\d\d|\0[012]\d:[0-5]\d:[0-5]\d\0")


def moments_in(path):
    return MOMENT.findall(path.read_bytes())


def compiled(command, target, moment):
    """The bytes of what a command compiles at a moment, in seconds since 1970; a compiler that is told takes it for now."""
    words = shlex.split(command)
    words[words.index("-o") + 1] = str(target)
    ran = subprocess.run(words, capture_output=True, text=True, cwd=BUILD, env={**os.environ, "SOURCE_DATE_EPOCH": str(moment)})
    assert ran.returncode == 0, ran.stderr
    return target.read_bytes()


def test_no_moment_is_in_what_is_installed():
    installed = [BUILD / "lib" / "libcontorno.so", *symbols.users(BUILD)]
    assert len(installed) > 3
    assert {path.name: moments_in(path) for path in installed if moments_in(path)} == {}


@pytest.mark.parametrize("word", ["__DATE__", "__TIME__", "__TIMESTAMP__"])
def test_a_planted_moment_is_found(word, tmp_path):
    need("g++")
    (tmp_path / "when.cpp").write_text(f"extern const char when[];\nconst char when[] = {word};\n")
    command = f"g++ -c {tmp_path / 'when.cpp'} -o ?"
    first, second = (compiled(command, tmp_path / name, moment) for name, moment in (("a.o", 1_600_000_000), ("b.o", 1_700_000_001)))
    # The one of a file's last change is no matter of when it is compiled; that it is there is found.
    assert first != second or word == "__TIMESTAMP__"
    assert moments_in(tmp_path / "a.o")


def test_a_file_of_the_library_is_the_same_whenever_it_is_compiled(tmp_path):
    entries = [entry for entry in json.loads((BUILD / "compile_commands.json").read_text())
               if pathlib.Path(entry["file"]).parts[-2:] == ("cpu", "find_contours.cpp") or entry["file"].endswith("tools/commit.cpp")]
    assert entries
    for at, entry in enumerate(entries):
        first, second = (compiled(entry["command"], tmp_path / f"{at}.o", moment) for moment in (1_600_000_000, 1_700_000_001))
        assert first == second, entry["file"]
