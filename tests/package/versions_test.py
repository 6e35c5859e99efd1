"""One version: CMakeLists.txt, the program, the library, Python, the element, pkg-config, manual pages, schema, citation."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from tests.conftest import LIBRARY, PROGRAM, ROOT, run_contorno

BUILD = pathlib.Path(PROGRAM).parent.parent


@pytest.fixture(scope="module")
def version():
    return re.search(r"^project\(contorno VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def test_the_program_says_its_version_and_what_it_was_built_with(version):
    lines = run_contorno("--version").stdout.splitlines()
    assert lines[0] == f"contorno {version}"
    told = dict(line.split(": ", 1) for line in lines[1:])
    assert list(told) == ["commit", "backends", "CUDA", "libraries"]
    assert re.fullmatch(r"unknown|[0-9a-f]{10,}(-dirty)? of \d{4}-\d\d-\d\d", told["commit"])
    assert told["backends"].startswith("cpu") and ("cuda" in told["backends"]) == (told["CUDA"] != "not in this build")
    libraries = dict(one.split(" ") for one in told["libraries"].split(", "))
    assert {"fmt", "yaml-cpp", "zlib", "libpng"} <= set(libraries)
    assert all(re.match(r"\d+\.\d", one) for one in libraries.values())


def test_doctor_and_the_program_name_the_same_commit():
    told = re.search(r"^commit: (\S+)", run_contorno("--version").stdout, re.M)[1]
    assert json.loads(run_contorno("doctor", "--json").stdout)["commit"] in (told, "")


def test_the_library_is_of_the_minor_version(version):
    dynamic = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert re.search(r"SONAME.*\[(.*)\]", dynamic)[1] == f"libcontorno.so.{version.rpartition('.')[0]}"
    assert LIBRARY.resolve().name == f"libcontorno.so.{version}"


def test_the_python_package_has_the_same_version(version):
    package = BUILD / "python"
    if not list(package.glob("contorno/_core*.so")):
        pytest.skip("this build has no package for Python")
    done = subprocess.run([sys.executable, "-c", "import contorno; print(contorno.__version__)"], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(package)})
    assert done.stdout == version + "\n", done.stderr


def test_files_of_pkg_config_have_the_same_version(version):
    files = [*BUILD.rglob("contorno*.pc")]
    if not files:
        pytest.skip("this build has no file for pkg-config")
    for path in files:
        assert re.search(r"^Version: (.*)$", path.read_text(), re.M)[1] == version, path


def test_the_element_has_the_same_version(version, tmp_path):
    folder = BUILD / "lib" / "gstreamer-1.0"
    if shutil.which("gst-inspect-1.0") is None or not folder.exists():
        pytest.skip("gst-inspect-1.0 or the element is not there")
    done = subprocess.run(["gst-inspect-1.0", "contorno"], capture_output=True, text=True,
                          env={**os.environ, "GST_PLUGIN_PATH": str(folder), "GST_REGISTRY": str(tmp_path / "registry")})
    assert re.search(r"^ *Version +(\S+)$", done.stdout, re.M)[1] == version, done.stdout + done.stderr


def test_what_is_generated_has_the_same_version(version):
    for name in ("contorno", "run", "graph", "contorno-stages.7"):
        assert run_contorno("man", name).stdout.split('"')[7] == f"contorno {version}"
    assert json.loads(run_contorno("schema").stdout)["version"] == version


def test_changelog_and_citation_have_the_same_version(version):
    assert re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == version
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == version
