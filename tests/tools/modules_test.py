"""Modules (GStreamer, Pango, libtiff) are loaded when a graph needs them; without one there is a sentence with the remedy."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.conftest import LIBRARY, PROGRAM, blobs, classes_yaml
from tests.modules import need_modules

MODULES = LIBRARY.parent / "contorno"
ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = "stages: [{type: marching_squares}, {type: contour_assembly}"
GRAPHS = {
    "maps": "source: {type: dataset, location: maps.npy, layout: hwc}\n" + STAGES + "]\nsinks: [{type: jsonl, path: a.jsonl}]\n",
    "tiff": "source: {type: dataset, location: maps.tif, layout: chw}\n" + STAGES + "]\nsinks: [{type: jsonl, path: a.jsonl}]\n",
    "text": "source: {type: synthetic, classes: 2, maps_size: [200, 100], frames: 2}\n" + STAGES
            + ", {type: overlay, legend: top_left}]\nsinks: [{type: jsonl, path: a.jsonl}]\n",
    "gst": "source: {type: test, width: 64, height: 48, frames: 2}\nsinks: [{type: images, path: '{frame}.png', from: source.frame}]\n",
}
# What of these libraries a run of each graph may load.
LOADS = {"maps": set(), "tiff": {"libtiff"}, "text": {"libpango-1.0", "libglib-2.0"}, "gst": {"libgstreamer-1.0", "libglib-2.0"}}
HEAVY = set.union(*LOADS.values()) | {"libgobject-2.0", "libcairo", "libgstapp-1.0"}
NEEDED = ["tiff", "text", "gst"]


def write_tiff(path, planes):
    """Uncompressed float32, a page a plane."""
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(path, planes, photometric="minisblack")


@pytest.fixture
def graphs(tmp_path):
    maps = blobs(48, 64, 2, 0)
    np.save(tmp_path / "maps.npy", maps)
    for name, text in GRAPHS.items():
        classes = "" if name == "gst" else f"classes:\n{classes_yaml(2)}\n"
        (tmp_path / f"{name}.yaml").write_text("pipeline: {backend: cpu, threads: 2, slots: 2}\n" + classes + text)
    return tmp_path


def prepared(folder, name):
    if name != "maps":
        need_modules(name)
    if name == "tiff":
        write_tiff(folder / "maps.tif", np.moveaxis(np.load(folder / "maps.npy"), -1, 0))
    return folder


def run(folder, *arguments, **env):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **env})


def libraries_of(folder, *arguments):
    """The names of the libraries that a run loads, without versions, as the dynamic linker tells them."""
    for old in folder.glob("loaded.*"):
        old.unlink()
    done = run(folder, *arguments, LD_DEBUG="files", LD_DEBUG_OUTPUT=str(folder / "loaded"))
    assert done.returncode == 0, done
    text = "".join(path.read_text(errors="replace") for path in folder.glob("loaded.*"))
    return {pathlib.Path(name).name.split(".so")[0] for name in re.findall(r"file=(\S+) \[0\];  (?:needed|dynamically)", text)}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_run_loads_the_libraries_that_its_graph_needs_and_no_others(graphs, name):
    prepared(graphs, name)
    loaded = libraries_of(graphs, "run", f"{name}.yaml", "--quiet")
    assert "libcontorno" in loaded and "libstdc++" in loaded
    assert LOADS[name] <= loaded
    if not LOADS[name]:
        assert loaded & HEAVY == set()
    if name != "gst":  # whose plugins bring libraries of their own
        assert not any(library.startswith("libgst") for library in loaded)
        others = set().union(*(LOADS[other] for other in LOADS if other not in (name, "gst"))) - LOADS[name]
        assert loaded & others == set()


@pytest.mark.parametrize("arguments", [["stages"], ["stages", "video"], ["schema"], ["run", "--help"], ["check", "maps.yaml"],
                                       ["check", "text.yaml"]], ids=" ".join)
def test_help_and_lists_need_no_module(graphs, tmp_path, arguments):
    (tmp_path / "none").mkdir()
    whole, without = run(graphs, *arguments), run(graphs, *arguments, CONTORNO_MODULES=str(tmp_path / "none"))
    assert whole.returncode == 0
    assert (without.returncode, without.stdout, without.stderr) == (whole.returncode, whole.stdout, whole.stderr)


def package_of(name):
    """Debian's package of contorno that has a module, as debian/ says it."""
    of_module = re.compile(rf"/contorno/(\{{(\w+,)*)?{name}(,\w+)*\}}?\.so")  # "{dnn,onnxruntime}.so": those that were built
    (package,) = [file.stem for file in (ROOT / "debian").glob("*.install") if of_module.search(file.read_text())]
    return package


def test_every_module_comes_in_one_package():
    declared = re.findall(r'\.name = "(\w+)"[^}]*\.comes_with = "([^"]+)"', (ROOT / "plugins" / "modules.h").read_text())
    assert len(declared) == 15
    assert declared == [(name, package_of(name)) for name, _ in declared]


@pytest.mark.parametrize("name", NEEDED)
def test_an_absent_module_ends_with_69_and_says_which_file_is_missing(graphs, tmp_path, name):
    prepared(graphs, name)
    (tmp_path / "none").mkdir()
    done = run(graphs, "run", f"{name}.yaml", "--quiet", CONTORNO_MODULES=str(tmp_path / "none"))
    assert done.returncode == 69, done
    assert f"the module {name}, which " in done.stderr
    assert f"there is no file {tmp_path}/none/{name}.so; " in done.stderr and "or unset CONTORNO_MODULES" in done.stderr
    assert f"install the package {package_of(name)}, " in done.stderr


@pytest.mark.parametrize("name", NEEDED)
def test_a_module_whose_library_is_missing_names_the_package(graphs, tmp_path, name):
    prepared(graphs, name)
    library = {"tiff": b"libtiff.so.6", "text": b"libpango-1.0.so.0", "gst": b"libgstapp-1.0.so.0"}[name]
    whole = (MODULES / f"{name}.so").read_bytes()
    assert library in whole
    absent = library.replace(b"lib", b"xyz", 1)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / f"{name}.so").write_bytes(whole.replace(library, absent))
    done = run(graphs, "run", f"{name}.yaml", "--quiet", CONTORNO_MODULES=str(tmp_path / "broken"),
               LD_LIBRARY_PATH=str(LIBRARY.parent))
    assert done.returncode == 69, done
    assert f"{absent.decode()}: cannot open shared object file" in done.stderr
    assert re.search(r"it needs the packages lib\S+.* \(apt-get install lib", done.stderr)


@pytest.mark.parametrize("content", ["no library", "another version"])
def test_a_file_that_is_no_module_of_this_version_is_refused(graphs, tmp_path, content):
    prepared(graphs, "text")
    whole = (MODULES / "text.so").read_bytes()
    version = run(graphs, "--version").stdout.split()[1].encode()
    assert whole.count(version + b"\0") == 1
    broken = b"hello" * 1000 if content == "no library" else whole.replace(version + b"\0", b"9.9.9"[:len(version)] + b"\0")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "text.so").write_bytes(broken)
    done = run(graphs, "run", "text.yaml", "--quiet", CONTORNO_MODULES=str(tmp_path / "broken"), LD_LIBRARY_PATH=str(LIBRARY.parent))
    assert done.returncode == 69, done
    assert ("invalid ELF header" if content == "no library" else "is no module of contorno") in done.stderr


def test_a_module_is_never_taken_from_the_current_folder(graphs):
    prepared(graphs, "text")
    (graphs / "contorno").mkdir()
    (graphs / "contorno" / "text.so").write_text("not this one")
    shutil.copy(graphs / "contorno" / "text.so", graphs / "text.so")
    assert run(graphs, "run", "text.yaml", "--quiet").returncode == 0
    for folder in ("contorno", ".", "./contorno"):
        done = run(graphs, "run", "text.yaml", "--quiet", CONTORNO_MODULES=folder)
        assert done.returncode == 69, done
        assert f"CONTORNO_MODULES is '{folder}', allowed is the absolute path of a folder" in done.stderr


def test_search_paths_of_libraries_begin_where_the_file_is():
    """An empty one would be the current folder."""
    if shutil.which("readelf") is None:
        pytest.skip("needs readelf, of the Debian package binutils")
    package = LIBRARY.parent.parent / "python" / "contorno"
    files = [pathlib.Path(PROGRAM), LIBRARY, *MODULES.glob("*.so"), *package.glob("*.so")]
    assert len(files) > 2
    for file in files:
        said = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
        for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", said):
            for path in paths.split(":"):
                assert path == "$ORIGIN" or path.startswith("$ORIGIN/"), (file, paths)


def test_an_installed_tree_works_wherever_it_is(graphs, tmp_path):
    cmake, build = shutil.which("cmake"), LIBRARY.parent.parent
    if cmake is None or not (build / "CMakeCache.txt").exists():
        pytest.skip("needs cmake and the build folder")
    built = ["python"] if list((build / "python" / "contorno").glob("_pipeline.*.so")) else []
    for part in ["library", "program", *(file.stem for file in MODULES.glob("*.so")), *built]:
        subprocess.run([cmake, "--install", build, "--prefix", tmp_path / "first", "--component", part], check=True,
                       capture_output=True, timeout=300)
    shutil.move(tmp_path / "first", tmp_path / "moved here")
    root = tmp_path / "moved here"
    for name in GRAPHS:
        if name != "maps" and not (MODULES / f"{name}.so").exists() or name == "tiff":
            continue
        for old in graphs.glob("loaded.*"):
            old.unlink()
        done = subprocess.run([root / "bin" / "contorno", "run", f"{name}.yaml", "--quiet"], cwd=graphs, capture_output=True, text=True,
                              timeout=120, env={**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(graphs / "loaded")})
        said = [line for line in done.stderr.splitlines() if "warning: node" not in line]  # what is odd about the graph
        assert (done.returncode, said) == (0, [])
        text = "".join(path.read_text(errors="replace") for path in graphs.glob("loaded.*"))
        own = {pathlib.Path(os.path.normpath(line)) for line in re.findall(r"calling init: (.*/(?:libcontorno|contorno/).*)", text)}
        assert own and all(path.is_relative_to(root) for path in own), own
    packages = list(root.glob("lib*/**/contorno/_core.*.so"))
    assert len(packages) == len(built)
    for core in packages:
        done = subprocess.run([sys.executable, "-c", "import contorno; print(contorno.__file__)"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "PYTHONPATH": str(core.parent.parent)})
        assert done.stdout.strip() == str(core.parent / "__init__.py"), done
