"""Arrays in HDF5 files, as h5py writes them: the samples of .npy files, and sentences for what cannot be read."""
import os
import shutil
import struct
import zlib

import numpy as np
import pytest

from tests.conftest import run_measured
from tests.modules import MODULES, need_modules
from tests.plugins.files.module_arrays import FRAMES, GRAPH, run, stack  # noqa: F401

h5py = pytest.importorskip("h5py", reason="needs python3-h5py")
need_modules("hdf5", whole_file=True)


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
    refused(contorno, tmp_path, "two.h5:claimed", "a frame of it has 2746582 MiB, allowed are 2048 MiB")
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


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True, "fletcher32": True}], ids=str)
@pytest.mark.parametrize("fill", [0, 0.75])
def test_frames_that_are_laid_out_and_not_written_have_the_fill_value(contorno, tmp_path, stack, options, fill):
    """As h5py says; that the file is small is no damage."""
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        maps = file.create_dataset("maps", (900, 30, 41, 2), np.float32, chunks=(1, 30, 41, 2), fillvalue=fill, **options)
        maps[:FRAMES], maps[899] = stack, stack[0]
        np.save(tmp_path / "maps.npy", maps[...])
    done, found = run(contorno, tmp_path, "maps.h5")
    assert found == run(contorno, tmp_path, "maps.npy")[1] and len(found) == 900
    assert [any(one["contours"] for one in found[frame]) for frame in (0, 450, 899)] == [True, False, True] and not done.stderr


@pytest.mark.parametrize("options", [{}, {"chunks": (1, 30, 41, 2)}], ids=["whole", "chunks"])
def test_an_array_that_was_never_written_has_the_fill_value(contorno, tmp_path, options):
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        file.create_dataset("maps", (3, 30, 41, 2), np.float32, **options)
    assert [[one["contours"] for one in frame] for frame in run(contorno, tmp_path, "maps.h5")[1]] == [[[], []]] * 3


def filtered(path, number, values=(), data=None, name=b"", optional=True):
    """Maps whose chunks say that they were packed by a filter, which need not be here; `data` takes the place of each chunk."""
    shape, chunk = (3, 24, 32, 1), (1, 24, 32, 1)
    with h5py.File(path, "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(chunk)
        properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        for one in np.atleast_1d(number):
            properties.set_filter(int(one), h5py.h5z.FLAG_OPTIONAL if optional else 0, tuple(values))
        maps = h5py.h5d.create(file.id, b"maps", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(shape), properties)
        for frame in range(3):
            maps.write_direct_chunk((frame, 0, 0, 0), data or bytes(24 * 32 * 4), 0)


def test_a_filter_that_is_missing_is_named_once_with_its_package(contorno, tmp_path, stack):
    with h5py.File(tmp_path / "lzf.h5", "w") as file:
        file.create_dataset("maps", data=stack, compression="lzf", chunks=(1, 30, 41, 2))
    nowhere = {"HDF5_PLUGIN_PATH": str(tmp_path)}  # where machines have the filters, too
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="lzf.h5", layout="hwc"))
    done = contorno("run", "graph.yaml", "--quiet", cwd=tmp_path, check=False, env=nowhere)
    assert done.returncode == 65 and len(done.stderr.splitlines()) == 1 and "HDF5-DIAG" not in done.stderr, done.stderr
    assert "packed by the filter LZF (number 32000), which libhdf5 has not here; set HDF5_PLUGIN_PATH" in done.stderr


@pytest.mark.parametrize("number, said", [(32001, "Blosc (number 32001)"), (32015, "Zstandard (number 32015)"), (307, "bzip2 (number 307), which libhdf5 has not here; install hdf5-filter-plugin"),
                                          (32123, "(number 32123)")])
def test_filters_are_named_by_their_registered_names(contorno, tmp_path, number, said):
    try:
        filtered(tmp_path / "maps.h5", number)
    except (OSError, ValueError, RuntimeError):
        pytest.skip("this h5py does not write filters that it has not")
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.h5", layout="hwc"))
    done = contorno("run", "graph.yaml", "--quiet", cwd=tmp_path, check=False, env={"HDF5_PLUGIN_PATH": str(tmp_path)})
    assert done.returncode == 65 and said in done.stderr and "HDF5-DIAG" not in done.stderr, done.stderr


def test_a_damaged_chunk_fails_its_frame_in_one_line(contorno, tmp_path, stack):
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        maps = file.create_dataset("maps", data=stack, chunks=(1, 30, 41, 2), compression="gzip", fletcher32=True)
        maps.id.write_direct_chunk((2, 0, 0, 0), b"no chunk" * 9)
    _, expected = run(contorno, tmp_path, "maps.npy")
    done, found = run(contorno, tmp_path, "maps.h5", check=False)
    assert done.returncode == 3 and found == expected[:2] + expected[3:]
    assert "HDF5-DIAG" not in done.stderr and len(done.stderr.splitlines()) <= 2, done.stderr


def test_memory_is_bounded_before_a_chunk_is_opened(tmp_path):
    """A few bytes could stand for any number: chunks of gigabytes, deflated twice, and filters that say how much they make."""
    huge = zlib.compress(zlib.compress(bytes(200 << 20), 9), 9)
    with h5py.File(tmp_path / "large.h5", "w") as file:
        file.create_dataset("maps", (10, 10), np.float32, maxshape=(None, None), chunks=(20000, 30000), compression="gzip")[0, 0] = 1
    filtered(tmp_path / "twice.h5", (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_DEFLATE), (9,), huge)
    with h5py.File(tmp_path / "offset.h5", "w") as file:
        file.create_dataset("maps", data=np.ones((3, 24, 32, 1), np.float32), chunks=(1, 24, 32, 1), scaleoffset=3)
    data = (tmp_path / "offset.h5").read_bytes()
    said_by_filter = struct.pack("<3I", 24 * 32, 1, 4)  # samples of a chunk, their class and bytes
    assert data.count(said_by_filter) == 1
    (tmp_path / "offset.h5").write_bytes(data.replace(said_by_filter, struct.pack("<3I", 1 << 30, 1, 4)))
    for name, said in (("large", "a chunk of it has 2289 MiB, allowed are 256 MiB"), ("twice", "deflated twice"),
                       ("offset", "says that a chunk has 1073741824 samples of 4 bytes, but it has 768 of 4")):
        (tmp_path / "graph.yaml").write_text(GRAPH.format(location=f"{name}.h5", layout="hwc").replace("[{name: a}, {name: b, level: 0.4}]",
                                                                                                   "[{name: a}]"))
        done = run_measured("run", "graph.yaml", "--quiet", cwd=tmp_path)
        assert done.code == 65 and said in done.text and done.peak_bytes < 300 << 20, done


def typed(path, kind, samples, shape):
    """An array of a type that NumPy has no name for, by its bytes."""
    with h5py.File(path, "w") as file:
        maps = h5py.h5d.create(file.id, b"maps", kind, h5py.h5s.create_simple(shape))
        maps.write(h5py.h5s.ALL, h5py.h5s.ALL, samples, kind)


def read_as_npy(contorno, folder):
    """The samples of an array as the program has them."""
    (folder / "record.yaml").write_text("source: {type: dataset, location: maps.h5}\nstages: [preprocess]\n")
    shutil.rmtree(folder / "rec", ignore_errors=True)
    done = contorno("record", "record.yaml", "rec", "--quiet", cwd=folder, check=False)
    return done, np.load(folder / "rec" / "maps" / "00000000.npy").squeeze() if done.returncode == 0 else None


def test_numbers_of_odd_layouts_are_converted_by_the_library(contorno, tmp_path):
    """Bits from the middle of a word, other exponent biases, numbers of 16 bits with the exponent of float32: as h5py reads them."""
    shape, random = (24, 32), np.random.default_rng(1)
    middle = h5py.h5t.STD_U16LE.copy()
    middle.set_precision(10)
    middle.set_offset(3)
    brain = h5py.h5t.IEEE_F32LE.copy()
    brain.set_fields(15, 7, 8, 0, 7)
    brain.set_size(2)
    biased = h5py.h5t.IEEE_F32LE.copy()
    biased.set_ebias(100)
    narrow = h5py.h5t.IEEE_F32BE.copy()
    narrow.set_fields(15, 10, 5, 0, 10)
    narrow.set_size(2)
    narrow.set_ebias(12)
    for kind, own in ((middle, h5py.h5t.STD_U16LE), (brain, h5py.h5t.IEEE_F32LE), (biased, h5py.h5t.IEEE_F64LE),
                      (narrow, h5py.h5t.IEEE_F32LE)):
        samples = random.integers(0, 1 << 14, shape).astype(np.uint16) if kind.get_size() == 2 else random.uniform(0, 1, shape).astype("f4")
        typed(tmp_path / "maps.h5", kind, samples, shape)
        expected = np.zeros(shape, own.dtype)
        with h5py.File(tmp_path / "maps.h5") as file:
            file["maps"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, expected, own)
        done, found = read_as_npy(contorno, tmp_path)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(found, expected.astype(found.dtype))


def test_what_is_no_plain_number_is_refused_by_its_name(contorno, tmp_path, stack):
    flags = stack[0, ..., 0] > 0.5
    with h5py.File(tmp_path / "maps.h5", "w") as file:
        file.create_dataset("names", data=flags.astype("i1"), dtype=h5py.enum_dtype({"sky": 0, "road": 1}, basetype="i1"))
        file.create_dataset("bool", data=flags)
        file["scaled"], file["shifted"], file["plain"] = (stack[..., :1],) * 3
        file["scaled"].attrs["scale_factor"], file["shifted"].attrs["add_offset"] = 0.01, 3
        file["plain"].attrs["scale_factor"], file["plain"].attrs["add_offset"] = 1.0, 0
    for name, said in (("names", "its samples are an enumeration (road, sky)"), ("scaled", "its attribute scale_factor is 0.01"),
                       ("shifted", "its attribute add_offset is 3")):
        refused(contorno, tmp_path, f"maps.h5:{name}", said)
    for name in ("bool", "plain"):
        (tmp_path / "graph.yaml").write_text(GRAPH.format(location=f"maps.h5:{name}", layout="hwc").replace(", {name: b, level: 0.4}", ""))
        assert contorno("run", "graph.yaml", "--quiet", cwd=tmp_path).returncode == 0


def test_other_files_are_not_opened_even_to_look_at_them(contorno, tmp_path, stack):
    """A pipe in the place of the file that a link or a virtual array names would be waited for."""
    os.mkfifo(tmp_path / "other.h5")
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["maps"] = h5py.ExternalLink("other.h5", "maps")
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout((FRAMES, 30, 41, 2), np.float32, maxshape=(None, 30, 41, 2))
        layout[:] = h5py.VirtualSource("other.h5", "maps", (FRAMES, 30, 41, 2), maxshape=(None, 30, 41, 2))[:]
        file.create_virtual_dataset("maps", layout)
    refused(contorno, tmp_path, "link.h5:maps", "it is a link to another file, which is not opened")
    refused(contorno, tmp_path, "virtual.h5", "its samples lie in other files, which are not opened")
    refused(contorno, tmp_path, "virtual.h5:maps", "its samples lie in other files, which are not opened")


@pytest.mark.parametrize("kind", ["i1", ">i2", "i4", ">i8", "u4", "u8"])
def test_points_of_any_integers_are_read(contorno, tmp_path, kind):
    points = np.array([[1, 2], [1, 2], [50, 60], [1, 3]])
    with h5py.File(tmp_path / "points.h5", "w") as file:
        file["points"] = points.astype(kind)
    contorno("mean-shift", "points.h5", "labels.npy", "--sigma", 2, cwd=tmp_path)
    assert np.load(tmp_path / "labels.npy").tolist() == [0, 0, 1, 0]
