"""An archive of the repository, as forges offer it for a tag, has what builds, tests and explains contorno."""
import subprocess
import tarfile

import pytest
from tests.conftest import ROOT

LEFT_OUT = {".ci", ".github", ".editorconfig", ".gitattributes", ".gitignore", ".git-blame-ignore-revs", ".pre-commit-config.yaml"}
WANTED = {".clang-format", ".clang-tidy", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md",
          "LICENSE", "README.md", ".dockerignore", "SECURITY.md", "base", "config", "contorno.symbols", "cuda", "docs", "geometry", "pipeline", "plugins",
          "pyproject.toml", "stages", "tests", "tools"}
# What packaging adds, where it is there.
MAY_BE = {"cmake", "debian", "docker"}


def git(*words):
    if not (ROOT / ".git").exists():
        pytest.skip("this tree is no checkout")
    return subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, *words], check=True, capture_output=True).stdout


def test_an_archive_has_what_is_meant(tmp_path):
    (tmp_path / "all.tar").write_bytes(git("archive", "--worktree-attributes", "HEAD"))
    with tarfile.open(tmp_path / "all.tar") as archive:
        names = {name.split("/")[0] for name in archive.getnames()}
    assert names - MAY_BE == WANTED
    assert not names & LEFT_OUT


def test_every_text_ends_its_lines_as_the_attributes_say():
    lines = git("ls-files", "--eol").decode().splitlines()
    assert len(lines) > 500
    assert [line for line in lines if not line.startswith(("i/lf", "i/-text", "i/none"))] == []
