"""What a release needs beside the packages: one version everywhere, notes, sums; workflows that call what runs here."""
import hashlib
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from tests.conftest import ROOT

RELEASE = ROOT / "tools" / "packaging" / "release"
CHANGELOG = """# Changelog

## [{}] - {}
The first version.

### Added
* Something.

## [0.0.1] - 2020-01-01
Nothing.
"""


@pytest.fixture
def copy(tmp_path):
    """A folder with the script and what it reads; the changelog has version 1.2.3 and its day."""
    folder = tmp_path / "copy"
    (folder / "tools" / "packaging").mkdir(parents=True)
    shutil.copy(RELEASE, folder / "tools" / "packaging")
    (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(contorno VERSION 1.2.3 LANGUAGES CXX)\n")
    (folder / "CHANGELOG.md").write_text(CHANGELOG.format("1.2.3", "2026-11-28"))
    (folder / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.3\n")
    return folder


def run(folder, *words, **env):
    return subprocess.run([sys.executable, folder / "tools" / "packaging" / "release", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, **env})


def test_a_tag_of_the_version_is_right(copy):
    done = run(copy, "check", "v1.2.3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_other_version_is_told(copy):
    assert "the tag is 'v1.2.4', CMakeLists.txt wants 'v1.2.3'" in run(copy, "check", "v1.2.4").stderr
    (copy / "CHANGELOG.md").write_text(CHANGELOG.format("1.2.3", "unreleased"))
    (copy / "CITATION.cff").write_text("version: 1.2.2\n")
    done = run(copy, "check", "v1.2.3")
    assert done.returncode == 1 and "calls version 1.2.3 'unreleased'" in done.stderr and "CITATION.cff has version 1.2.2" in done.stderr
    (copy / "CHANGELOG.md").write_text(CHANGELOG.format("1.2.2", "2026-11-28"))
    done = run(copy, "check", "v1.2.3")
    assert done.returncode == 1 and "CHANGELOG.md begins with version 1.2.2, CMakeLists.txt has 1.2.3" in done.stderr


def test_notes_are_those_of_the_version(copy):
    assert run(copy, "notes").stdout == "The first version.\n\n### Added\n* Something.\n"
    assert len(run(ROOT, "notes").stdout) > 1000


def test_sums_are_as_sha256sum_checks_them(copy, tmp_path):
    files = tmp_path / "dist"
    files.mkdir()
    assert run(copy, "sums", files).returncode == 1
    (files / "b.whl").write_bytes(b"wheel")
    (files / "a.tar.gz").write_bytes(b"source")
    assert run(copy, "sums", files).returncode == 0 == run(copy, "sums", files).returncode
    assert (files / "SHA256SUMS").read_text().splitlines()[0] == f"{hashlib.sha256(b'source').hexdigest()}  a.tar.gz"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=files, check=True, capture_output=True)


def test_publishing_hands_notes_and_files_over(copy, tmp_path):
    programs, files = tmp_path / "bin", tmp_path / "dist"
    programs.mkdir()
    files.mkdir()
    (files / "a.whl").touch()
    (programs / "gh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{tmp_path}/words"\ncat >"{tmp_path}/notes"\n')
    (programs / "gh").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    assert run(copy, "publish", "v9", files, PATH=path).returncode == 1 and not (tmp_path / "words").exists()
    assert run(copy, "publish", "v1.2.3", files, PATH=path).returncode == 0
    assert (tmp_path / "words").read_text().splitlines() == ["release", "create", "v1.2.3", "--verify-tag", "--title", "contorno 1.2.3",
                                                             "--notes-file", "-", str(files / "a.whl")]
    assert (tmp_path / "notes").read_text().startswith("The first version.")
    done = run(copy, "publish", "v1.2.3", files, PATH="/nowhere")
    assert done.returncode == 69 and "gh is missing" in done.stderr


def test_other_words_are_refused(copy):
    for words in ([], ["check"], ["sums", "a", "b"], ["nothing"]):
        done = run(copy, *words)
        assert done.returncode == 2 and "release check TAG" in done.stderr


def workflows():
    folder = ROOT / ".github" / "workflows"
    if not folder.exists():
        pytest.skip("there are no workflows in this tree")
    return {path.name: yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yml"))}


def test_steps_are_lines_that_call_what_runs_here():
    """But for what an empty container needs before there is a checkout."""
    before = ("apt-get update", "git config --global --add safe.directory")
    seen = 0
    for name, workflow in workflows().items():
        for job in workflow["jobs"].values():
            for step in job.get("steps", []):
                if "run" in step and not step["run"].startswith(before):
                    seen += 1
                    program = step["run"].split()[0]
                    assert "\n" not in step["run"].strip() and program.startswith("tools/"), (name, step)
    assert seen > 6


def test_what_makes_packages_can_run_where_it_runs():
    """Debian packages need root, wheels with CUDA nvcc; what is uploaded are the files that a release publishes, by themselves."""
    jobs = {name: job for workflow in workflows().values() for name, job in workflow["jobs"].items() if "steps" in job}
    lines = {name: [step.get("run", "") for step in job["steps"]] for name, job in jobs.items()}
    uploads = {name: [step["with"]["path"].split() for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
               for name, job in jobs.items()}
    debs = [name for name in jobs if any(line.startswith("tools/package deb") for line in lines[name])]
    assert debs and all("--privileged" in jobs[name]["container"]["options"] for name in debs)
    assert all(any(line.startswith("tools/package try-debs") for line in lines[name]) for name in debs)
    assert all(path == ["dist/${{", "matrix.suite", "}}/"] for name in debs for path in uploads[name])
    wheels = [line for name in jobs for line in lines[name] if line.startswith("tools/package wheel")]
    assert wheels and all("--cpu" in line for line in wheels)
    assert ["dist/cpu/*.whl", "dist/*.tar.gz"] in uploads["wheels"]


def test_actions_are_pinned_and_keep_no_credentials():
    for name, workflow in workflows().items():
        assert workflow["permissions"] == {}, name
        for job in workflow["jobs"].values():
            for step in job.get("steps", []):
                uses = step.get("uses")
                assert uses is None or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", uses), (name, uses)
                if uses and uses.startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False


def test_the_checkers_of_workflows_are_silent():
    workflows()
    if not (ROOT / "build" / "venv-checks" / "list.txt").exists():
        pytest.skip("zizmor and check-jsonschema are not fetched: tools/packaging/venv checks")
    done = subprocess.run([ROOT / "tools" / "packaging" / "check-workflows"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_hooks_before_a_commit_run_commands_of_the_tests():
    path = ROOT / ".pre-commit-config.yaml"
    if not path.exists():
        pytest.skip("there are no hooks in this tree")
    commands = (ROOT / "tools" / "test").read_text()
    hooks = {hook["id"]: hook for repo in yaml.safe_load(path.read_text())["repos"] for hook in repo["hooks"]}
    assert {"format", "layout", "tidy"} <= set(hooks)
    assert f"check format {hooks['format']['entry']}" in commands
    assert f"check tidy {hooks['tidy']['entry']}" in commands
    assert hooks["layout"]["entry"].startswith("/usr/bin/python3 -m pytest -q ") and "/usr/bin/python3 -m pytest -q " in commands
