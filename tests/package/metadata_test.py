"""What a wheel says of itself and what the repository promises: one list of Pythons, and the checkers of PyPI's people."""
import json
import re
import subprocess
import tomllib

import pytest
from tests.conftest import ROOT
from tests.package.wheel_numpy_test import OLDEST_NUMPY, WHEELS, wheel_tool

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_metadata_workflow_and_tools_name_the_same_pythons():
    versions = list(wheel_tool.VERSIONS)
    assert [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)] == versions
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert list(OLDEST_NUMPY) == versions
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml")
    if not workflow.exists():
        pytest.skip("an archive of the sources has no workflows")
    assert re.search(r"tools/packaging/pythons ([\d. ]+) >", workflow.read_text())[1].split() == versions


def test_the_oldest_numpy_that_is_tried_is_the_oldest_that_is_taken():
    assert PROJECT["dependencies"] == [f"numpy>={OLDEST_NUMPY[wheel_tool.VERSIONS[0]]}"]


@pytest.fixture(scope="module")
def checkers():
    made = subprocess.run([ROOT / "tools" / "packaging" / "venv", "metadata"], capture_output=True, text=True)
    if made.returncode == 69:
        pytest.skip(made.stderr.strip())
    return made.stdout.strip() + "/bin"


@pytest.mark.packages
@pytest.mark.parametrize("command", [["twine", "check", "--strict"], ["check-wheel-contents"]], ids=lambda command: command[0])
def test_checkers_have_nothing_to_say_of_the_wheels(checkers, command):
    if not WHEELS:
        pytest.skip("there is no wheel in dist/: tools/package all")
    done = subprocess.run([f"{checkers}/{command[0]}", *command[1:], *WHEELS], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.packages
def test_repo_review_has_nothing_to_say(checkers):
    """What does not hold here stands in pyproject.toml, with the reason."""
    done = subprocess.run([f"{checkers}/repo-review", ROOT, "--format", "json"], capture_output=True, text=True)
    failed = {name: check["description"] for name, check in json.loads(done.stdout)["checks"].items() if check["result"] is False}
    assert failed == {}
