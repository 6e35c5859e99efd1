"""The wheel without CUDA in minimal roots of Debian 12, Debian 13 and Ubuntu 24.04, whose Python it is for: installed by pip as a
stranger does, without GLib, then with the distribution's GStreamer and Pango; what it makes is what the source build makes."""
import json
import re
import shutil
import time

import numpy as np
import pytest
import skimage.io
from tests.conftest import ROOT
from tests.package.trial import CASES, PIPELINE, SUITES, Root, fill, lines, source_build  # noqa: F401 (a fixture)

pytestmark = pytest.mark.packages
PROGRAM = "/srv/venv/bin/contorno"
REPORT = "import json; print(json.dumps(result))"


def wheel_for(version):
    """The one in dist/cpu."""
    found = sorted((ROOT / "dist" / "cpu").glob(f"contorno-*-cp{version.replace('.', '')}-*.whl"))
    if not found:
        pytest.skip(f"needs a wheel of Python {version} in dist/cpu: tools/package wheel --cpu --python python{version}")
    return found[-1]


@pytest.fixture(scope="module", params=SUITES)
def plain(request, tmp_path_factory):
    """A root with the wheel and NumPy in an environment, and nothing of GStreamer."""
    suite = request.param
    wheel = wheel_for(SUITES[suite][0])
    folder = tmp_path_factory.mktemp(suite)
    root = Root.unpacked(suite, folder / "plain")
    shutil.copy(wheel, root.folder / "srv")
    began = time.monotonic()
    root.apt_install("python3-venv")
    apt = time.monotonic() - began
    fill(root.folder / "srv")
    began = time.monotonic()
    root.run("python3 -m venv venv; venv/bin/pip -q --disable-pip-version-check install ./contorno-*.whl; "
             "venv/bin/contorno find-contours --help >help; venv/bin/contorno run maps.yaml --quiet --output first")
    print(f"\n{suite}: apt-get install python3-venv {apt:.0f} s; environment, pip install and first contours {time.monotonic() - began:.0f} s")
    yield root
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def full(plain, tmp_path_factory):
    """The same with the distribution's GStreamer and Pango."""
    root = plain.copy(tmp_path_factory.mktemp(plain.suite) / "full")
    root.apt_install("gstreamer1.0-plugins-base", "gstreamer1.0-plugins-good", "fonts-dejavu-core", "libpangocairo-1.0-0")
    yield root
    shutil.rmtree(root.folder)


def result(root, code):
    return json.loads(root.run(f"venv/bin/python - <<'END'\n{code}{REPORT}\nEND").stdout.splitlines()[-1])


def test_a_graph_of_arrays_runs_without_glib(plain, source_build):  # noqa: F811
    assert not list(plain.folder.rglob("libglib-2.0.so*"))
    assert lines(plain.folder / "srv", "first") == lines(source_build, "maps")
    equal, points = result(plain, PIPELINE)
    assert equal and points > 20
    version = plain.run(f"{PROGRAM} --version").stdout
    assert version.splitlines()[2] == "backends: cpu (OpenMP)"


def test_its_contours_are_those_of_scikit_image(plain):
    if plain.run("venv/bin/pip -q --disable-pip-version-check install --only-binary :all: scikit-image", check=False).returncode != 0:
        pytest.skip("scikit-image could not be fetched")
    assert result(plain, CASES) == 200


def test_video_and_text_without_their_libraries_are_one_sentence_each(plain, source_build):  # noqa: F811
    (plain.folder / "srv" / "clip").mkdir(exist_ok=True)
    shutil.copy(source_build / "clip" / "clip.webm", plain.folder / "srv" / "clip")
    legend = (source_build / "picture.yaml").read_text().replace(", {type: images, path: 'frame{frame}.png'}", "")
    (plain.folder / "srv" / "legend.yaml").write_text(legend)
    for graph, module, package in (("video", "gst", "libgstreamer1.0-0"), ("legend", "text", "libpangocairo-1.0-0")):
        done = plain.run(f"{PROGRAM} run {graph}.yaml --quiet --output none", check=False)
        errors = re.findall(r"^contorno: (?!warning: )", done.stderr, re.M)
        assert done.returncode == 69 and len(errors) == 1, done.stderr
        assert f"the module {module}," in done.stderr and re.search(rf"apt-get install [^;]*{re.escape(package)}", done.stderr), done.stderr


@pytest.mark.parametrize("graph", ["maps", "video", "picture"])
def test_with_gstreamer_it_makes_what_the_source_build_makes(full, source_build, graph):  # noqa: F811
    (full.folder / "srv" / "clip").mkdir(exist_ok=True)
    shutil.copy(source_build / "clip" / "clip.webm", full.folder / "srv" / "clip")
    full.run(f"{PROGRAM} run {graph}.yaml --quiet --output {graph}")
    assert lines(full.folder / "srv", graph) == lines(source_build, graph)
    pictures = sorted(source_build.glob(f"{graph}/*.png"))
    assert len(pictures) == {"maps": 0, "video": 5, "picture": 1}[graph]
    for ours in pictures:
        theirs = skimage.io.imread(full.folder / "srv" / graph / ours.name)
        differing = np.argwhere((skimage.io.imread(ours) != theirs).any(axis=2))
        # Letters are drawn by each distribution's own FreeType: alike, inside the legend.
        if graph == "picture" and len(differing):
            assert differing[:, 0].max() < 80 and differing[:, 1].max() < 120
        else:
            assert len(differing) == 0
