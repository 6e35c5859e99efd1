"""Every wheel that lies in dist/ and whose Python is at hand, with the oldest and the newest NumPy that there is for this Python, in
an environment of its own, where the checkout is empty: contours beside scikit-image, a graph, the program. A wheel with CUDA also
beside drivers that are absent, too old or without a device."""
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from tests.conftest import ROOT, blobs
from tests.cuda import driver_test
from tests.package.trial import CASES, PIPELINE, fill, lines, source_build  # noqa: F401 (a fixture)

sys.path.insert(0, str(ROOT / "tools" / "packaging"))
from parts import wheel as wheel_tool  # noqa: E402

pytestmark = pytest.mark.packages
# The first for each Python that is on PyPI as a wheel, from the oldest that METADATA takes.
OLDEST_NUMPY = {"3.11": "1.23.2", "3.12": "1.26.0", "3.13": "2.1.0", "3.14": "2.3.2"}
WHEELS = [*sorted((ROOT / "dist").glob("*.whl")), *sorted((ROOT / "dist" / "cpu").glob("*.whl"))]
# The checkout is an empty folder for what runs.
HIDE = 'mount -t tmpfs none "$0" && exec "$@"'


class Environment:
    """A virtual environment with a wheel, one version of NumPy and scikit-image."""

    def __init__(self, folder, wheel, version, numpy):
        python = {wheel_tool.describe(path)[1]: path for path in wheel_tool.pythons_at_hand()}.get(version)
        if python is None:
            pytest.skip(f"Python {version} is not at hand")
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
            pytest.skip("mounts of its own are not allowed here (unshare -rm)")
        self.folder = folder
        subprocess.run([python, "-m", "venv", folder], check=True)
        self.pip("install", numpy)
        self.numpy = self.pip("list", "--format=freeze").split("numpy==")[1].split()[0]
        self.pip("install", "--no-deps", str(wheel))
        self.pip("install", f"numpy=={self.numpy}", "scikit-image")
        self.pip("check")

    def pip(self, command, *words):
        binary = ["--only-binary", ":all:"] if command == "install" else []
        done = subprocess.run([self.folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", command, *binary, *words],
                              capture_output=True, text=True, cwd="/")
        if done.returncode != 0 and re.search("Failed to establish|Temporary failure|Read timed out", done.stderr):
            pytest.skip("packages could not be fetched from PyPI")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def run(self, folder, program, *words, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CONTORNO_", "PYTHON", "LD_"))}
        done = subprocess.run(["unshare", "-rm", "sh", "-c", HIDE, ROOT, self.folder / "bin" / program, *words], cwd=folder,
                              env={**clean, **variables}, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout

    def result(self, folder, code):
        return json.loads(self.run(folder, "python", "-c", code + "import json; print(json.dumps(result))").splitlines()[-1])


def name_of(parameter):
    path, which = parameter
    kind = "cpu" if path.parent.name == "cpu" else "cuda"
    return f"{kind}-{re.search('-(cp3[0-9]+)-', path.name)[1]}-{which}"


@pytest.fixture(scope="module", params=[(path, which) for path in WHEELS for which in ("oldest", "newest")] or [None],
                ids=lambda parameter: name_of(parameter) if parameter else "none")
def environment(request, tmp_path_factory):
    if request.param is None:
        pytest.skip("there is no wheel in dist/: tools/package all")
    path, which = request.param
    version = re.sub("cp3", "3.", re.search("-(cp3[0-9]+)-", path.name)[1])
    numpy = f"numpy=={OLDEST_NUMPY[version]}" if which == "oldest" else "numpy"
    made = Environment(tmp_path_factory.mktemp(f"{version}-{which}") / "venv", path, version, numpy)
    made.has_cuda = path.parent.name != "cpu"
    print(f"\n{path.name}: {path.stat().st_size / 1e6:.2f} MB, NumPy {made.numpy}")
    return made


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path)
    np.save(tmp_path / "maps.npy", blobs(40, 60, 2, 0))
    (tmp_path / "graph.yaml").write_text(driver_test.GRAPH)
    return tmp_path


def test_200_arrays_have_the_contours_of_scikit_image(environment, folder):
    assert environment.result(folder, CASES) == 200


def test_a_graph_finds_what_the_function_finds(environment, folder):
    equal, points = environment.result(folder, PIPELINE)
    assert equal and points > 20


def test_the_program_writes_the_lines_of_the_source_build(environment, folder, source_build):  # noqa: F811
    for graph in ("maps", "picture"):
        environment.run(folder, "contorno", "run", f"{graph}.yaml", "--output", graph, "--quiet")
        assert lines(folder, graph) == lines(source_build, graph)


@pytest.mark.parametrize("kind", driver_test.MACHINES)
def test_without_a_driver_it_says_why_and_runs_on_the_cpu(environment, folder, kind):
    if not environment.has_cuda:
        pytest.skip("a wheel without CUDA asks for no driver")
    runtime = driver_test.runtime_of(environment.folder / "bin" / "contorno")
    printed = environment.run(folder, "python", "-c", driver_test.USE_PACKAGE, **driver_test.machine(kind, folder / "driver"))
    driver_test.judge_package(kind, printed, runtime)
