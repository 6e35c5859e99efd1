"""The headers that the guides include compile in a program of somebody else's, whichever compiler and warnings it has."""
import re
import shutil
import subprocess

import pytest
from tests.conftest import ROOT

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.cpp"))
HEADERS = sorted({name for page in (*EXAMPLES, ROOT / "docs" / "guide" / "cpp.md", ROOT / "docs" / "guide" / "stage.md")
                  for name in re.findall(r"[\"`]([a-z_]+/[a-z_/]+\.h)[\"`]", page.read_text())})
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wno-missing-field-initializers", "-Werror"]


@pytest.mark.parametrize("compiler", ["clang++", "g++"])
def test_public_headers_are_silent(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler} (tools/setup test)")
    assert len(HEADERS) > 8
    (tmp_path / "all.cpp").write_text("".join(f'#include "{name}"\n' for name in HEADERS))
    own = {"clang++": [], "g++": ["-Wshadow=local", "-fopenmp"]}[compiler]
    done = subprocess.run([compiler, "-std=c++20", *WARNINGS, *own, "-fsyntax-only", "-I", ROOT, tmp_path / "all.cpp"], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:3000]
