"""Arrays in HDF5 files, as h5py writes them: the samples of .npy files, and sentences for what cannot be read."""
import shutil

import numpy as np
import pytest

from tests.conftest import run_measured
from tests.plugins.files.module_arrays import FRAMES, GRAPH, MODULES, run, skip_without, stack  # noqa: F401

h5py = pytest.importorskip("h5py", reason="needs python3-h5py")
skip_without("hdf5", "libhdf5-dev")


@pytest.mark.parametrize("options", [{}, {"chunks": (2, 7, 41, 1), "compression": "gzip", "shuffle": True, "fletcher32": True}],
                         ids=["whole", "chunks"])
@pytest.mark.parametrize("layout", ["hwc", "chw"])
@pytest.mark.parametrize("kind", ["f4", ">f4", "f8", ">f8", "f2", ">f2", "u2", ">u2", "u1"])
def test_a_stack_has_the_contours_of_the_same_npy_file(contorno, tmp_path, stack, kind, layout, options):
    kind = np.dtype(kind)
    maps = stack.astype(kind) if kind.kind == "f" else (stack * np.iinfo(kind).max).astype(kind)
    if layout == "chw":
        maps = np.ascontiguousarray(np.moveaxis(maps, -1, 1))
        options = {key: (2, 1, 7, 41) if key == "chunks" else value for key, value in options.items()}
    np.save(tmp_path / "maps.npy", maps)
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        file.create_dataset("group/maps", data=maps, **options)
        file["names"] = np.arange(FRAMES)  # of one side, and no map
    _, expected = run(contorno, tmp_path, "maps.npy", layout)
    assert len(expected) == FRAMES and any(one["contours"] for one in expected[0])
    assert run(contorno, tmp_path, "maps.h5", layout)[1] == expected
    assert run(contorno, tmp_path, "maps.h5:group/maps", layout)[1] == expected


def test_one_frame_booleans_and_folders_of_files_are_read_as_those_of_npy(contorno, tmp_path, stack):
    for folder in ("npy", "h5"):
        (tmp_path / folder).mkdir()
    for frame, maps in enumerate((stack[0], stack[1] > 0.5)):
        np.save(tmp_path / "npy" / f"{frame}.npy", maps)
        with h5py.File(tmp_path / "h5" / f"{frame}.hdf5", "w") as file:
            file["maps"] = maps
    expected = run(contorno, tmp_path, "npy")[1]
    assert len(expected) == 2 and run(contorno, tmp_path, "h5")[1] == expected


def refused(contorno, tmp_path, location, said):
    done, _ = run(contorno, tmp_path, location, check=False)
    assert done.returncode in (65, 66) and said in done.stderr, done.stderr


def test_what_cannot_be_read_is_told_in_a_sentence(contorno, tmp_path, stack):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = stack
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b"], file["text"] = stack, stack, "words"
        file["long"] = stack.astype(np.int64)
        file["far"] = h5py.ExternalLink("other.h5", "a")
        file.create_dataset("claimed", (60000, 60000, 200), np.float32, chunks=(100, 100, 10))
        layout = h5py.VirtualLayout((FRAMES, 30, 41, 2), np.float32)
        layout[:] = h5py.VirtualSource("other.h5", "a", (FRAMES, 30, 41, 2))
        file.create_virtual_dataset("virtual", layout)
    refused(contorno, tmp_path, "two.h5", "it has 5 arrays, name one as FILE.h5:NAME: a, b, claimed, long, virtual")
    refused(contorno, tmp_path, "two.h5:c", "'two.h5:c': there is no such data set")
    refused(contorno, tmp_path, "two.h5:long", "its samples have a type that no map has")
    refused(contorno, tmp_path, "two.h5:text", "its samples have a type that no map has")
    refused(contorno, tmp_path, "two.h5:virtual", "its samples lie in other files")
    refused(contorno, tmp_path, "two.h5:far", "it is a link to another file, which is not opened")
    refused(contorno, tmp_path, "two.h5:claimed", "only 0 bytes of it are stored")
    (tmp_path / "no.h5").write_bytes(b"no array")
    refused(contorno, tmp_path, "no.h5", "it is no HDF5 file that can be read")
    refused(contorno, tmp_path, "nowhere.h5", "nowhere.h5")
    whole = (tmp_path / "two.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[:len(whole) // 2])
    refused(contorno, tmp_path, "cut.h5:a", "cut.h5")


def test_without_the_module_the_remedy_is_named(contorno, tmp_path, stack):
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        file["maps"] = stack
    modules = tmp_path / "modules"
    shutil.copytree(MODULES, modules)
    (modules / "hdf5.so").unlink()
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.h5", layout="hwc"))
    done = contorno("run", "graph.yaml", cwd=tmp_path, check=False, env={"CONTORNO_MODULES": str(modules)})
    assert done.returncode == 69 and "hdf5" in done.stderr and "reads HDF5 files" in done.stderr


def test_a_long_stack_is_read_frame_by_frame(tmp_path):
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        maps = file.create_dataset("maps", (300, 500, 500, 2), np.float32, chunks=(1, 500, 500, 2), compression="gzip",
                                   compression_opts=1)
        for frame in range(300):
            maps[frame] = np.full((500, 500, 2), frame / 300, np.float32)
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.h5", layout="hwc"))
    done = run_measured("run", "graph.yaml", "--quiet", cwd=tmp_path)
    assert done.code == 0 and done.peak_bytes < 300 << 20  # the stack has 600 MB
