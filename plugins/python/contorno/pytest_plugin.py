"""A plugin for pytest: replays a dataset and compares the results with a record, in one line of a test.

    # conftest.py
    pytest_plugins = ["contorno.pytest_plugin"]

    # test_line.py
    def test_defects(contorno_replay):
        contorno_replay("graph.yaml", "recordings/monday", expect="golden/monday", tolerance=0.1)

`pytest --contorno-record` makes the records anew, with the same tests. The program is `contorno` on PATH, or what the environment
variable CONTORNO_BIN names.
"""
import pathlib
import subprocess
import warnings

import pytest

from contorno._program import find_program


def pytest_addoption(parser):
    parser.addoption("--contorno-record", action="store_true",
                     help="write the records of contorno_replay anew instead of comparing with them")


def _program():
    try:
        return find_program()
    except FileNotFoundError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture
def contorno_replay(request):
    """A function of a graph and a dataset that fails the test where the results differ from the record `expect` by more than
    `tolerance` px. Relative paths begin at the folder of the test. `arguments` are further ones of `contorno replay`. Where
    something differs, a page that shows it is written beside the record, as RECORD.html."""
    folder = pathlib.Path(request.node.path).parent

    def replay(graph, dataset=None, *, expect, tolerance=0, arguments=()):
        command = [_program(), "replay", str(graph), *([] if dataset is None else [str(dataset)]), "--quiet", *map(str, arguments)]
        if request.config.getoption("--contorno-record"):
            command += ["--record", str(expect), "--overwrite"]
        else:
            command += ["--expect", str(expect), "--tolerance", str(tolerance), "--html", f"{expect}.html"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if "--record" in command and done.returncode == 3:  # that frames failed is part of the record
            warnings.warn(done.stderr, stacklevel=2)
        elif done.returncode != 0:
            pytest.fail(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)

    return replay
