"""Arrays in Zarr stores, as zarr-python writes them: the samples of .npy files, and sentences for what cannot be read."""
import json
import os
import shutil

import numpy as np
import pytest

from tests.conftest import run_measured
from tests.modules import MODULES, need_modules
from tests.plugins.files.module_arrays import FRAMES, GRAPH, run, stack  # noqa: F401

zarr = pytest.importorskip("zarr", reason="needs python3-zarr")
numcodecs = pytest.importorskip("numcodecs")
need_modules("zarr", whole_file=True)

SHAPE = (FRAMES, 30, 41, 2)
CHUNKS = (2, 7, 16, 1)  # none of which fits
CODECS = {"none": None, "zlib": numcodecs.Zlib(3), "gzip": numcodecs.GZip(1), "zstd": numcodecs.Zstd(3), "lz4": numcodecs.LZ4(),
          **{f"blosc {name} {shuffle}": numcodecs.Blosc(name, 5, shuffle) for name in ("lz4", "zstd", "zlib", "blosclz")
             for shuffle in (0, 1, 2)}}


def store(path, maps, **options):
    array = zarr.open(str(path), mode="w", shape=maps.shape, dtype=maps.dtype, **options)
    array[...] = maps
    return path


def same_as_npy(contorno, folder, layout="hwc"):
    _, expected = run(contorno, folder, "maps.npy", layout)
    assert len(expected) == FRAMES and any(one["contours"] for one in expected[0])
    assert run(contorno, folder, "maps.zarr", layout)[1] == expected


@pytest.mark.parametrize("layout", ["hwc", "chw"])
@pytest.mark.parametrize("kind", ["f4", ">f4", "f8", ">f8", "f2", ">f2", "u2", ">u2", "u1"])
def test_a_store_has_the_contours_of_the_same_npy_file(contorno, tmp_path, stack, kind, layout):
    kind = np.dtype(kind)
    maps = stack.astype(kind) if kind.kind == "f" else (stack * np.iinfo(kind).max).astype(kind)
    maps = np.ascontiguousarray(np.moveaxis(maps, -1, 1)) if layout == "chw" else maps
    np.save(tmp_path / "maps.npy", maps)
    store(tmp_path / "maps.zarr", maps, chunks=CHUNKS)
    same_as_npy(contorno, tmp_path, layout)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_compressor_and_order_of_chunks_is_read(contorno, tmp_path, stack, codec, order):
    store(tmp_path / "maps.zarr", stack, chunks=CHUNKS, compressor=CODECS[codec], order=order)
    same_as_npy(contorno, tmp_path)


@pytest.mark.parametrize("options", [{"chunks": SHAPE}, {"chunks": (1, 30, 41, 2)}, {"chunks": (1, 1, 41, 2)}, {"chunks": (3, 64, 64, 4)},
                                     {"chunks": CHUNKS, "dimension_separator": "/"}, {}], ids=str)
def test_every_shape_of_chunks_is_read(contorno, tmp_path, stack, options):
    store(tmp_path / "maps.zarr", stack, **options)
    same_as_npy(contorno, tmp_path)


def test_an_array_of_a_group_is_found_or_named(contorno, tmp_path, stack):
    group = zarr.open_group(str(tmp_path / "maps.zarr"), mode="w")
    group["deep/maps"] = stack
    group["names"] = np.arange(FRAMES)  # of one side, and no map
    same_as_npy(contorno, tmp_path)
    _, expected = run(contorno, tmp_path, "maps.npy")
    for location in ("maps.zarr:deep/maps", "maps.zarr/"):
        assert run(contorno, tmp_path, location)[1] == expected
    zarr.consolidate_metadata(str(tmp_path / "maps.zarr"))
    assert run(contorno, tmp_path, "maps.zarr")[1] == expected
    group["other"] = stack
    assert run(contorno, tmp_path, "maps.zarr:deep/maps")[1] == expected


def test_one_frame_booleans_and_folders_of_stores_are_read_as_those_of_npy(contorno, tmp_path, stack):
    for frame, maps in enumerate((stack[0], stack[1] > 0.5)):
        (tmp_path / "npy").mkdir(exist_ok=True)
        np.save(tmp_path / "npy" / f"{frame}.npy", maps)
        store(tmp_path / "stores" / f"{frame}.zarr", maps)
    expected = run(contorno, tmp_path, "npy")[1]
    assert len(expected) == 2 and run(contorno, tmp_path, "stores")[1] == expected


@pytest.mark.parametrize("fill", [0, 0.75, None])
def test_chunks_that_are_not_stored_have_the_fill_value(contorno, tmp_path, stack, fill):
    stack[1:3] = fill or 0
    np.save(tmp_path / "maps.npy", stack)
    store(tmp_path / "maps.zarr", stack, chunks=(1, 30, 41, 2), fill_value=fill)
    for frame in (1, 2):
        (tmp_path / "maps.zarr" / f"{frame}.0.0.0").unlink(missing_ok=True)
    same_as_npy(contorno, tmp_path)


def test_a_store_of_version_3_is_read_where_gdal_can_and_refused_elsewhere(contorno, tmp_path, stack):
    folder = tmp_path / "maps.zarr"
    for frame in range(FRAMES):
        (folder / "c" / str(frame) / "0" / "0").mkdir(parents=True)
        (folder / "c" / str(frame) / "0" / "0" / "0").write_bytes(stack[frame].astype("<f4").tobytes())
    (folder / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "float32", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (1, 30, 41, 2)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}))
    _, expected = run(contorno, tmp_path, "maps.npy")
    (tmp_path / "out.jsonl").unlink()
    done, found = run(contorno, tmp_path, "maps.zarr", check=False)
    assert found == expected or (done.returncode == 65 and "that GDAL 3." in done.stderr), done.stderr


def refused(contorno, tmp_path, location, *said):
    done, _ = run(contorno, tmp_path, location, check=False)
    assert done.returncode in (65, 66), done.stderr
    for words in said:
        assert words in done.stderr, done.stderr


def test_what_cannot_be_read_is_told_in_a_sentence(contorno, tmp_path, stack):
    group = zarr.open_group(str(tmp_path / "two.zarr"), mode="w")
    group["a"], group["b"], group["line"], group["long"] = stack, stack, stack[0, 0, 0], stack.astype(np.int64)
    group.create_dataset("complex", shape=SHAPE, dtype="c8")
    group.create_dataset("five", shape=(1, *SHAPE), dtype="f4")
    refused(contorno, tmp_path, "two.zarr", "it has 4 arrays, name one as FILE.zarr:NAME: a, b, five, long")
    refused(contorno, tmp_path, "two.zarr:c", "'two.zarr:c': there is no such array that can be read")
    refused(contorno, tmp_path, "two.zarr:long", "its samples have a type that no map has, allowed are float16")
    refused(contorno, tmp_path, "two.zarr:complex", "'two.zarr:complex': there is no such array that can be read")
    refused(contorno, tmp_path, "two.zarr:line", "has no map's shape, allowed are 2 sides")
    refused(contorno, tmp_path, "two.zarr:five", "has no map's shape, allowed are 2 sides")
    refused(contorno, tmp_path, "nowhere.zarr", "there is no dataset at 'nowhere.zarr'")
    (tmp_path / "empty.zarr").mkdir()
    refused(contorno, tmp_path, "empty.zarr", "'empty.zarr': it is no Zarr store that can be read")
    (tmp_path / "file.zarr").write_bytes(b"no store")
    refused(contorno, tmp_path, "file.zarr", "'file.zarr': there is no folder of this name, which a Zarr store is")


@pytest.mark.parametrize("change, said", [
    ({"compressor": {"id": "wavelet"}}, "wavelet"), ({"dtype": "<q9"}, "<q9"), ({"chunks": [1, 2]}, "of different size"),
    ({"chunks": [0, 7, 16, 1]}, "chunks"), ({"shape": [-1, 30, 41, 2]}, "'maps.zarr'"), ({"zarr_format": 9}, "zarr_format"),
    ({"shape": [2**62, 2**62, 41, 2]}, "'maps.zarr'"), ({"order": "Q"}, "order"),
    ({"shape": [9, 60000, 60000, 200]}, "a frame of it has 2746582 MiB, allowed are 2048 MiB"),
    ({"chunks": [9, 60000, 60000, 200]}, "a chunk of it has 24719238 MiB, allowed are 256 MiB"),
    ("{\"zarr_format\": 2,", "'maps.zarr': it is no Zarr store that can be read")], ids=str)
def test_a_damaged_description_is_told_in_a_sentence(contorno, tmp_path, stack, change, said):
    text = store(tmp_path / "maps.zarr", stack, chunks=CHUNKS) / ".zarray"
    text.write_text(change if isinstance(change, str) else json.dumps({**json.loads(text.read_text()), **change}))
    refused(contorno, tmp_path, "maps.zarr", said)


DAMAGE = {"cut off": lambda data: data[:len(data) // 2], "empty": lambda data: b"", "reversed": lambda data: data[::-1]}


# Without a codec bytes are samples in any order, also reversed.
@pytest.mark.parametrize("codec, damage", [(codec, damage) for codec in ("none", "zlib", "blosc lz4 1") for damage in DAMAGE
                                           if (codec, damage) != ("none", "reversed")])
def test_a_damaged_chunk_fails_its_frame_and_no_other(contorno, tmp_path, stack, codec, damage):
    chunk = store(tmp_path / "maps.zarr", stack, chunks=(1, 30, 41, 2), compressor=CODECS[codec]) / "2.0.0.0"
    chunk.write_bytes(DAMAGE[damage](chunk.read_bytes()))
    _, expected = run(contorno, tmp_path, "maps.npy")
    done, found = run(contorno, tmp_path, "maps.zarr", check=False)
    assert done.returncode == 3 and "'maps.zarr': it cannot be read" in done.stderr and "2.0.0.0" in done.stderr
    assert found == expected[:2] + expected[3:]


def test_without_the_module_the_remedy_is_named(contorno, tmp_path, stack):
    store(tmp_path / "maps.zarr", stack)
    modules = tmp_path / "modules"
    shutil.copytree(MODULES, modules)
    (modules / "zarr.so").unlink()
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.zarr", layout="hwc"))
    done = contorno("run", "graph.yaml", cwd=tmp_path, check=False, env={"CONTORNO_MODULES": str(modules)})
    assert done.returncode == 69 and "the module zarr, which reads Zarr stores, is not installed" in done.stderr


def test_a_long_store_is_read_frame_by_frame(tmp_path):
    maps = zarr.open(str(tmp_path / "maps.zarr"), mode="w", shape=(300, 500, 500, 2), dtype=np.float32, chunks=(1, 500, 500, 2))
    for frame in range(300):
        maps[frame] = np.full((500, 500, 2), frame / 300, np.float32)
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.zarr", layout="hwc"))
    done = run_measured("run", "graph.yaml", "--quiet", cwd=tmp_path)
    assert done.code == 0 and done.peak_bytes < 300 << 20  # the store has 600 MB


@pytest.mark.parametrize("place", ["1.0.0.0", ".zattrs", "more"])
def test_a_pipe_in_a_store_is_refused_and_not_waited_for(contorno, tmp_path, stack, place):
    folder = store(tmp_path / "maps.zarr", stack, chunks=(1, 30, 41, 2))
    (folder / place).unlink(missing_ok=True)
    os.mkfifo(folder / place)
    refused(contorno, tmp_path, "maps.zarr", f"'maps.zarr': '{place}' in it is not a regular file")


@pytest.mark.parametrize("separator", ["/../../", "../", "x", "/./"])
def test_names_of_chunks_stay_in_the_store(contorno, tmp_path, stack, separator):
    text = store(tmp_path / "maps.zarr", stack, chunks=CHUNKS) / ".zarray"
    text.write_text(json.dumps({**json.loads(text.read_text()), "dimension_separator": separator}))
    refused(contorno, tmp_path, "maps.zarr", "the indices in the names of its chunks are separated by")
    refused(contorno, tmp_path, "maps.zarr:../maps.zarr", "leads out of the store")


def test_links_are_followed_as_far_as_they_stay_in_the_store(contorno, tmp_path, stack):
    folder = store(tmp_path / "maps.zarr", stack, chunks=(1, 30, 41, 2))
    (folder / "kept").mkdir()
    (folder / "1.0.0.0").rename(folder / "kept" / "chunk")
    (folder / "1.0.0.0").symlink_to("kept/chunk")
    same_as_npy(contorno, tmp_path)
    (folder / "kept" / "chunk").rename(tmp_path / "chunk")
    (folder / "1.0.0.0").unlink()
    (folder / "1.0.0.0").symlink_to(tmp_path / "chunk")
    refused(contorno, tmp_path, "maps.zarr", "'1.0.0.0' in it is a link out of the store, which is not followed")
    (tmp_path / "linked.zarr").symlink_to("maps.zarr")  # the store itself may be one
    (folder / "1.0.0.0").unlink()
    shutil.copy(tmp_path / "chunk", folder / "1.0.0.0")
    assert run(contorno, tmp_path, "linked.zarr")[1] == run(contorno, tmp_path, "maps.npy")[1]


def test_samples_that_an_attribute_or_a_filter_scales_are_refused(contorno, tmp_path, stack):
    for name, attributes in (("scaled", {"scale_factor": 0.01}), ("shifted", {"add_offset": 3})):
        store(tmp_path / f"{name}.zarr", stack, chunks=CHUNKS)
        zarr.open(str(tmp_path / f"{name}.zarr")).attrs.update(attributes)
        refused(contorno, tmp_path, f"{name}.zarr", f"its attribute {next(iter(attributes))} is")
    store(tmp_path / "filtered.zarr", stack, chunks=CHUNKS, filters=[numcodecs.FixedScaleOffset(0, 100, "f4", "u1")])
    refused(contorno, tmp_path, "filtered.zarr", "'filtered.zarr'")


def test_memory_is_bounded_before_a_chunk_is_opened(tmp_path):
    text = store(tmp_path / "maps.zarr", np.ones((10, 10), np.float32), chunks=(10, 10)) / ".zarray"
    text.write_text(json.dumps({**json.loads(text.read_text()), "chunks": [20000, 30000]}))
    (tmp_path / "graph.yaml").write_text(GRAPH.format(location="maps.zarr", layout="hwc"))
    done = run_measured("run", "graph.yaml", "--quiet", cwd=tmp_path)
    assert done.code == 65 and "a chunk of it has 2289 MiB, allowed are 256 MiB" in done.text and done.peak_bytes < 300 << 20, done


@pytest.mark.parametrize("kind", ["i2", ">i4", "u4", "i8", "u8"])
def test_points_of_any_integers_that_gdal_reads_are_read(contorno, tmp_path, kind):
    store(tmp_path / "points.zarr", np.array([[1, 2], [1, 2], [50, 60], [1, 3]], kind))
    contorno("mean-shift", "points.zarr", "labels.npy", "--sigma", 2, cwd=tmp_path)
    assert np.load(tmp_path / "labels.npy").tolist() == [0, 0, 1, 0]
