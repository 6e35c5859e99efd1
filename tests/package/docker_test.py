"""Images of containers: their files are judged by a checker, and each line of ours in them is a command that runs here.
No image is built: that needs a daemon, as root."""
import re
import shlex
import subprocess

import pytest
from tests.conftest import ROOT

FILES = sorted((ROOT / "tools" / "packaging" / "docker").glob("*.Dockerfile"))


def commands(path):
    """The commands of a file's RUN lines, as lists of words."""
    text = path.read_text().replace("\\\n", " ")
    return [shlex.split(part) for line in re.findall(r"^RUN (.*)$", text, re.M) for part in line.split("&&")]


def test_there_is_an_image_without_and_one_with_cuda():
    assert [path.name for path in FILES] == ["cuda.Dockerfile", "slim.Dockerfile"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lines_call_scripts_that_are_here(path):
    ours = [words for words in commands(path) if words[0].startswith("tools/")]
    assert ["tools/setup"] in ours and ["tools/setup", "package"] in ours
    wheel = next(words for words in ours if words[0] == "tools/package")
    assert wheel[1:] == ["wheel"] + ["--cpu"] * (path.stem == "slim")
    assert all((ROOT / words[0]).stat().st_mode & 0o100 for words in ours)
    # What is copied into the last stage is where the command leaves wheels.
    assert re.search(r"^COPY --from=build /contorno/dist/" + ("cpu/" if path.stem == "slim" else "") + r"\*\.whl ", path.read_text(), re.M)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_last_stage_builds_nothing_and_is_not_root(path):
    last = path.read_text().split("\nFROM ")[-1]
    assert "tools/" not in last and "-dev" not in last and "build-essential" not in last
    assert re.search(r"^USER [1-9]\d*$", last, re.M) and 'ENTRYPOINT ["contorno"]' in last


def test_the_checker_of_images_is_silent():
    checker = ROOT / "build" / "venv-checks" / "bin" / "hadolint"
    if not checker.exists():
        pytest.skip("hadolint is not fetched: tools/packaging/venv checks")
    # Versions of Debian's packages are the suite's (DL3008).
    done = subprocess.run([checker, "--ignore", "DL3008", *FILES], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    broken = subprocess.run([checker, "-"], input="FROM debian:latest\nRUN cd /tmp\n", capture_output=True, text=True)
    assert broken.returncode != 0
