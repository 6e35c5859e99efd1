"""The wheel without CUDA for the system's Python, made by tools/package, installed into an environment of its own, and judged
there: contours beside scikit-image, graphs and the program beside the source build; and what `tools/package check` must find."""
import json
import os
import re
import subprocess
import zipfile

import numpy as np
import pytest
from tests.conftest import ROOT, blobs, run_contorno
from tests.package.trial import CASES
from tests.package.wheels import SYSTEM_PYTHON, TOOL, Environment, changed_wheel, made_wheel, package, with_needed

GRAPH = """
source: {type: dataset, location: maps.npz, layout: hwc}
pipeline: {backend: cpu}
classes: [{name: a, level: 0.3}, {name: b, level: 0.5}]
stages: [{type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""
# Ends with a line of JSON: what is loaded at the end, and what `result` holds.
REPORT = """
import json, pathlib
loaded = sorted({line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line})
print(json.dumps([loaded, result]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    return made_wheel(base.parent if "gw" in base.name else base)


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("wheel") / "venv", wheel)


def run_python(environment, tmp_path, code, **variables):
    """Runs `code` in the environment; returns its `result`, and the files that it had loaded, none of which is the checkout's."""
    done = environment.run("python", "-c", code + REPORT, cwd=tmp_path, **variables)
    loaded, result = json.loads(done.stdout.splitlines()[-1])
    assert [path for path in loaded if path.startswith(f"{ROOT}/")] == []
    assert any(path.startswith(str(environment.package)) for path in loaded)
    return loaded, result


def test_200_arrays_have_the_contours_of_scikit_image(environment, tmp_path):
    _, result = run_python(environment, tmp_path, CASES)
    assert result == 200


def test_a_graph_of_arrays_runs_without_glib_and_finds_what_the_functions_find(environment, tmp_path):
    maps = blobs(40, 60, 2, 0)
    np.savez_compressed(tmp_path / "maps.npz", maps=maps)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    loaded, (points, wanted) = run_python(environment, tmp_path, """
import numpy as np, contorno
maps = np.load("maps.npz")["maps"]
found = [frame.contours for frame in contorno.Pipeline("graph.yaml", output="out")]
wanted = contorno.find_contours_batch(maps, [0.3, 0.5], layout="HWC", flat=True, dtype=np.float32)
result = [found[0].points.tolist(), wanted.points.tolist()]
""")
    assert points == wanted and len(points) > 20
    assert [path for path in loaded if re.search(r"libglib|libgst|libpango|libyaml|libfmt|libpng|libjpeg", path)] == []


def test_the_program_of_the_wheel_writes_what_that_of_the_source_build_writes(environment, tmp_path):
    np.savez_compressed(tmp_path / "maps.npz", maps=blobs(40, 60, 2, 0))
    (tmp_path / "graph.yaml").write_text(GRAPH)
    environment.run("contorno", "run", "graph.yaml", "--output", "wheel", "--quiet", cwd=tmp_path)
    run_contorno("run", "graph.yaml", "--output", "source", "--quiet", cwd=tmp_path)
    lines = [re.sub(r'"(time|latency)[^,}]*', "", (tmp_path / folder / "contours.jsonl").read_text()) for folder in ("wheel", "source")]
    assert lines[0] == lines[1] and lines[0].count("\n") == 1


def test_the_console_script_is_the_program_and_python_finds_it(environment, tmp_path):
    version = environment.run("contorno", "--version", cwd=tmp_path).stdout
    assert version.splitlines()[0] == run_contorno("--version").stdout.splitlines()[0]
    assert environment.run("contorno", "run", "none.yaml", cwd=tmp_path, check=False).returncode == 66
    _, result = run_python(environment, tmp_path, "import contorno\nfrom contorno._program import find_program\nresult = find_program()\n")
    assert result == str(environment.package / "bin" / "contorno")


def test_video_without_gstreamer_is_told_in_one_sentence(environment, tmp_path):
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "libglib-2.0.so.0").write_bytes(b"")  # found first, and no library: as good as none
    (tmp_path / "clip.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(100))
    graph = "source: {type: video, location: clip.mp4}\nclasses: [{name: a, references: ['#ff0000']}]\n" \
            "stages: [classify, marching_squares, contour_assembly]\nsinks: [{type: jsonl, path: c.jsonl}]\n"
    (tmp_path / "video.yaml").write_text(graph)
    done = environment.run("contorno", "run", "video.yaml", "--output", "out", cwd=tmp_path, check=False,
                           LD_LIBRARY_PATH=str(tmp_path / "libs"))
    assert done.returncode == 69 and "libgstreamer1.0-0" in done.stderr and "apt-get install" in done.stderr, done.stderr


def test_the_wheel_is_judged_good(wheel):
    done = package("check", wheel)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"manylinux_2_\d+_x86_64\.whl: good, [0-4]\.\d+ MB", done.stdout)


def member(wheel, pattern):
    with zipfile.ZipFile(wheel) as archive:
        return next(name for name in archive.namelist() if re.search(pattern, name))


def without(pattern):
    return lambda wheel, folder: {member(wheel, pattern): None}


def with_libcrypto(wheel, folder):
    library, any_library = "contorno/libcontorno_python.so", with_needed(wheel, folder, "contorno/modules/text.so", "libc.so.6")
    return {"contorno.libs/libcrypto-5f2d1c3a.so.3": any_library,
            library: with_needed(wheel, folder, library, "libcrypto-5f2d1c3a.so.3")}


def with_other_bytes(name, old, new):
    def change(wheel, folder):
        path = member(wheel, name)
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(path)
        assert old in data
        return {path: data.replace(old, new)}
    return change


PLANTED = {
    "a library that is cut off": (lambda wheel, folder: {member(wheel, "modules/text.so"): b"\x7fELF and no more"},
                                  "contorno/modules/text.so is no library"),
    "no _pipeline": (without(r"contorno/_pipeline\."), r"there is no contorno/_pipeline\.cpython-\d+-x86_64-linux-gnu\.so"),
    "no text module": (without(r"modules/text\.so"), "there is no contorno/modules/text.so"),
    "libcrypto": (with_libcrypto, "libcontorno_python.so needs libcrypto-5f2d1c3a.so.3"),
    "no program": (without("contorno/bin/contorno$"), "there is no contorno/bin/contorno"),
    "no libgomp": (without(r"contorno\.libs/libgomp"), "which is not in the wheel"),
    "a module that is not for wheels": (lambda wheel, folder: {"contorno/modules/tiff.so": b"x"}, "tiff.so does not belong in it"),
    "a licence is missing": (without("licenses/libpng.txt"), "the licence of libpng is not in"),
    "no list of what is linked in": (without(r"sboms/contorno\.cdx\.json"), r"there is no contorno-.*contorno\.cdx\.json"),
    "no console script": (with_other_bytes("entry_points", b"contorno = ", b"other = "), "it has no console script contorno"),
    "another Python": (with_other_bytes("METADATA", b"Requires-Python: >=3.11", b"Requires-Python: >=3.9"),
                       "Requires-Python in METADATA is '>=3.9'"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_fault_is_found(wheel, tmp_path, kind):
    plant, sentence = PLANTED[kind]
    done = package("check", changed_wheel(wheel, tmp_path, plant(wheel, tmp_path)))
    assert done.returncode == 1 and re.search(sentence, done.stdout), done.stdout + done.stderr
    assert "RECORD does not have" not in done.stdout


def test_a_wheel_that_was_changed_behind_its_record_is_found(wheel, tmp_path):
    copy = tmp_path / wheel.name
    copy.write_bytes(wheel.read_bytes())
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr("contorno/more.py", "")
    done = package("check", copy)
    assert done.returncode == 1 and "RECORD does not have contorno/more.py" in done.stdout


def test_a_tool_that_is_missing_is_named_with_what_brings_it(tmp_path):
    for arguments, sentence in (
            (["wheel", "--cpu", "--python", tmp_path / "none"], "cannot be run: give the path of one"),
            (["check", tmp_path / "none.whl"], "it cannot be read")):
        done = package(*arguments)
        assert done.returncode == (69 if arguments[0] == "wheel" else 1) and sentence in done.stdout + done.stderr
    done = subprocess.run([TOOL, "wheel", "--cpu"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 69 and "cmake is missing: apt-get install cmake" in done.stderr


def test_pip_says_in_a_sentence_what_is_not_installed(wheel, tmp_path):
    """`wheel` so that the tools are there. Without pkg-config's files nothing of the distribution is found but headers alone."""
    done = subprocess.run([SYSTEM_PYTHON, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path,
                           f"--config-settings=build-dir={tmp_path / 'build'}", ROOT], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "package" / "tools"), "PKG_CONFIG_LIBDIR": "/nonexistent"})
    assert done.returncode != 0
    assert "contorno cannot be built without the headers of libjpeg, libpng, Pango, GStreamer, GStreamer's base plugins: apt-get install " \
           "libjpeg-dev libpng-dev libpango1.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev" \
           in " ".join((done.stdout + done.stderr).split())
