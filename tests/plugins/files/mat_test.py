"""Arrays in MATLAB's files, as scipy.io and h5py write them: the points and maps of .npy files, and sentences for what cannot be read."""
import shutil
import struct

import numpy as np
import pytest

from tests.conftest import run_contorno
from tests.modules import MODULES, need_modules
from tests.plugins.files.module_arrays import run, stack  # noqa: F401

io = pytest.importorskip("scipy.io", reason="needs python3-scipy")
need_modules("mat", whole_file=True)


def points(kind="f8"):
    random = np.random.default_rng(4)
    values = np.concatenate([random.normal(centre, 2, (40, 2)) for centre in ((20, 20), (60, 30))])
    return (values if np.dtype(kind).kind == "f" else np.round(values)).astype(kind)


def rest(folder, name, *words, check=True):
    """The points as they come to rest."""
    done = run_contorno("mean-shift", name, "out.npy", "--sigma", "4", *words, cwd=folder, check=check)
    return np.load(folder / "out.npy") if check else done


def big_endian(values):
    """Level 5 as a computer of the other byte order writes it."""
    def element(kind, data):
        return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)
    body = (element(6, struct.pack(">II", 6, 0)) + element(5, struct.pack(">ii", *values.shape)) + element(1, b"x")
            + element(9, values.T.astype(">f8").tobytes()))
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI" + element(14, body)


@pytest.mark.parametrize("kind", ["f8", "f4", "u1", "u2", "i1", "i2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}], ids=["plain", "compressed", "level 4"])
def test_points_come_to_rest_where_those_of_a_npy_file_do(tmp_path, kind, options):
    if options.get("format") and kind not in ("f8", "f4", "u1", "u2", "i2", "i4"):
        pytest.skip("level 4 has no such numbers")
    values = points(kind)
    io.savemat(tmp_path / "p.mat", {"points": values, "count": 80, "note": "text"}, **options)
    np.save(tmp_path / "p.npy", values.astype(float))
    expected = rest(tmp_path, "p.npy")
    assert len(np.unique(np.round(expected), axis=0)) < 20
    assert np.array_equal(rest(tmp_path, "p.mat:points"), expected)
    if not options.get("format"):
        assert np.array_equal(rest(tmp_path, "p.mat"), expected)


def test_the_other_byte_order_is_read(tmp_path):
    (tmp_path / "p.mat").write_bytes(big_endian(points()))
    assert np.array_equal(io.loadmat(tmp_path / "p.mat")["x"], points())
    np.save(tmp_path / "p.npy", points())
    assert np.array_equal(rest(tmp_path, "p.mat"), rest(tmp_path, "p.npy"))


def test_version_73_is_read_as_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py", reason="needs python3-h5py")
    need_modules("hdf5")
    with h5py.File(tmp_path / "p.mat", "w", userblock_size=512) as file:
        file["points"] = points().T  # MATLAB's columns are HDF5's rows
        file["points"].attrs["MATLAB_class"] = np.bytes_("double")
    with open(tmp_path / "p.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H", 0x0200) + b"IM")
    np.save(tmp_path / "p.npy", points())
    assert np.array_equal(rest(tmp_path, "p.mat"), rest(tmp_path, "p.npy"))
    assert np.array_equal(rest(tmp_path, "p.mat:points"), rest(tmp_path, "p.npy"))


@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "u2"])
def test_maps_have_the_contours_of_the_same_npy_file(contorno, tmp_path, stack, kind):
    maps = (stack[0] if np.dtype(kind).kind == "f" else stack[0] * np.iinfo(kind).max).astype(kind)
    np.save(tmp_path / "maps.npy", maps)
    io.savemat(tmp_path / "maps.mat", {"maps": maps})
    _, expected = run(contorno, tmp_path, "maps.npy")
    assert any(one["contours"] for one in expected[0])
    assert run(contorno, tmp_path, "maps.mat")[1] == expected


def test_frames_in_one_array_are_refused(contorno, tmp_path, stack):
    io.savemat(tmp_path / "maps.mat", {"maps": stack})
    done, _ = run(contorno, tmp_path, "maps.mat", check=False)
    assert done.returncode == 65 and "is a sequence that is empty or in Fortran order" in done.stderr


@pytest.mark.parametrize("given, name, said", [
    ({"a": points(), "b": points()}, "p.mat", "it has 2 arrays, name one as FILE.mat:NAME: a, b"),
    ({"n": 3, "s": "text"}, "p.mat", "it has no array"),
    ({"a": points()}, "p.mat:c", "there is no such variable"),
    ({"a": points() * 1j}, "p.mat:a", "it is no matrix of real numbers"),
    ({"a": np.array([["x", "y"]])}, "p.mat:a", "it is no matrix of real numbers"),
    ({"a": {"b": points()}}, "p.mat:a", "it is no matrix of real numbers"),
])
def test_what_is_no_array_is_told_in_a_sentence(tmp_path, given, name, said):
    io.savemat(tmp_path / "p.mat", given)
    done = rest(tmp_path, name, check=False)
    assert done.returncode == 65 and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_damaged_and_missing_files_are_told_in_a_sentence(tmp_path):
    assert rest(tmp_path, "p.mat", check=False).returncode == 66
    io.savemat(tmp_path / "whole.mat", {"a": points()}, do_compression=True)
    whole = (tmp_path / "whole.mat").read_bytes()
    for data in (b"", b"no file of MATLAB's" * 20, whole[:128], whole[:300], whole[:-40], whole[:200] + b"\xff" * 60 + whole[260:]):
        (tmp_path / "p.mat").write_bytes(data)
        done = rest(tmp_path, "p.mat", check=False)
        assert done.returncode == 65 and len(done.stderr.splitlines()) == 1 and "p.mat" in done.stderr, (len(data), done)


def test_a_file_of_level_4_that_is_cut_off_is_told_in_a_sentence(tmp_path):
    io.savemat(tmp_path / "whole.mat", {"a": points()}, format="4")
    whole = (tmp_path / "whole.mat").read_bytes()
    for length in (10, 21, 300, len(whole) - 8):
        (tmp_path / "p.mat").write_bytes(whole[:length])
        done = rest(tmp_path, "p.mat", check=False)
        assert done.returncode == 65 and len(done.stderr.splitlines()) == 1 and "p.mat" in done.stderr, (length, done)


def test_without_the_module_the_remedy_is_named(tmp_path):
    io.savemat(tmp_path / "p.mat", {"a": points()})
    modules = tmp_path / "modules"
    shutil.copytree(MODULES, modules)
    (modules / "mat.so").unlink()
    done = run_contorno("mean-shift", "p.mat", "out.npy", "--sigma", "4", cwd=tmp_path, check=False, env={"CONTORNO_MODULES": str(modules)})
    assert done.returncode == 69 and "mat" in done.stderr and "reads files of MATLAB" in done.stderr
