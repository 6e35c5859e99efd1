"""The same bytes: archive and wheel built again, elsewhere in time, by a user with other habits; and what pip itself builds from the
archive, which has the same files."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from tests.conftest import ROOT
from tests.package.wheels import SYSTEM_PYTHON, TOOL, package

pytestmark = pytest.mark.packages
# Another day, language, home and mask of new files.
OTHERWISE = {"TZ": "Pacific/Auckland", "LC_ALL": "C", "LANG": "de_DE.UTF-8", "HOME": "/nonexistent"}


def made(command, **kwargs):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **kwargs)
    if done.returncode == 69:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A copy of the archive of sources."""
    made([TOOL, "sdist"])
    [path] = (ROOT / "dist").glob("contorno-*.tar.gz")
    return shutil.copy(path, tmp_path_factory.mktemp("archive"))


@pytest.fixture
def sources(archive, tmp_path):
    """The archive, unpacked."""
    made(["tar", "-xf", archive, "-C", tmp_path])
    return next(tmp_path.glob("contorno-*"))


def content(wheel):
    """The names of a wheel's files, with the libraries and notes that a repair adds left out."""
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if not name.endswith("/")}
    return {name for name in names if not re.search(r"^contorno\.libs/|sboms/auditwheel|/licenses/lib|/licenses/(yaml-cpp|zlib|giflib)", name)}


def test_the_archive_built_again_has_the_same_bytes(archive):
    made([TOOL, "sdist"], env={**os.environ, **OTHERWISE, "HOME": os.environ.get("HOME", "/")}, umask=0o077)
    [again] = (ROOT / "dist").glob("contorno-*.tar.gz")
    assert again.read_bytes() == pathlib.Path(archive).read_bytes()


def test_the_archive_s_wheel_has_the_bytes_of_the_tree_s(sources):
    """The archive takes the place of the checkout, since the folder stands in debugging notes that nobody strips from archives
    of others; nothing is compiled there before."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("the archive is mounted over the checkout by root")
    done = package("wheel", "--cpu", "--python", SYSTEM_PYTHON)
    if done.returncode == 69:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    tree = ROOT / re.search(r"^(dist/\S+\.whl): ", done.stdout, re.M)[1]
    for name in ("tools", "archives"):
        (sources / "build" / "package" / name).mkdir(parents=True)
    script = 'set -eu; for name in tools archives; do mount --bind "$1/build/package/$name" "$0/build/package/$name"; done; ' \
             'mount --rbind "$0" "$1"; cd "$1"; umask 077; exec tools/package wheel --cpu --python "$2"'
    said = made(["unshare", "-m", "bash", "-c", script, sources, ROOT, SYSTEM_PYTHON], env={**os.environ, **OTHERWISE})
    print(f"\nfrom nothing: {said}")
    assert (sources / "dist" / "cpu" / tree.name).read_bytes() == tree.read_bytes()


def test_pip_makes_the_same_files(sources, tmp_path):
    """`pip wheel .` and `pip install .`, in environments of pip's own."""
    made([sys.executable, "-m", "venv", tmp_path / "venv"])
    without_cuda = "--config-settings=cmake.define.CONTORNO_CUDA=OFF"
    pip = [tmp_path / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, without_cuda, "."], cwd=sources, capture_output=True, text=True)
    if done.returncode != 0 and re.search("Failed to establish|Temporary failure|No matching distribution", done.stderr):
        pytest.skip("pip could not fetch what the build requires")
    assert done.returncode == 0, done.stderr[-3000:]
    [wheel] = tmp_path.glob("*.whl")
    [ours] = (ROOT / "dist" / "cpu").glob("-".join(wheel.name.split("-")[:4]) + "-*.whl")
    assert content(wheel) == content(ours)
    made([*pip, "install", "numpy"], cwd=tmp_path)
    made([*pip, "install", "--no-deps", without_cuda, "."], cwd=sources)
    shutil.rmtree(sources)
    version = made([tmp_path / "venv" / "bin" / "contorno", "--version"], cwd=tmp_path)
    assert version.startswith("contorno ")
    assert "True" in made([pip[0], "-c", "import contorno; print(contorno.backends()['cpu']['available'])"], cwd=tmp_path)
