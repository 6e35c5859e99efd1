"""Arrays and datasets from every kind of file: archives, TIFF stacks, pipes; maps and frames that lack each other or do not fit
the graph."""
import io
import json
import os
import subprocess
import threading
import zipfile

import numpy as np
import pytest
from PIL import Image
from tests.conftest import PROGRAM, ROOT, blobs, classes_yaml, read_lines

GRAPH = """
source: {{type: dataset, location: set, layout: {layout}{more}}}
classes:
{classes}
stages: [{{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: jsonl, path: contours.jsonl}}]
"""


def run(folder, *arguments, **kwargs):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=60, **kwargs)


def play(folder, layout="hwc", classes=2, more="", arguments=()):
    """The run of a dataset, and the lines that it wrote."""
    (folder / "graph.yaml").write_text(GRAPH.format(layout=layout, classes=classes_yaml(classes), more=more))
    (folder / "contours.jsonl").unlink(missing_ok=True)
    done = run(folder, "run", "graph.yaml", "--report", "report.json", "--quiet", *arguments)
    lines = read_lines(folder / "contours.jsonl") if (folder / "contours.jsonl").exists() else []
    return done, lines


def without_names(lines):
    return [{key: value for key, value in line.items() if key != "name"} for line in lines]


@pytest.fixture
def maps(tmp_path):
    """Three frames' maps of two classes, H x W x C, and their contours from .npy files."""
    folder = tmp_path / "set" / "maps"
    folder.mkdir(parents=True)
    arrays = [blobs(24, 40, 2, frame) for frame in range(3)]
    for frame, array in enumerate(arrays):
        np.save(folder / f"{frame}.npy", array)
    done, lines = play(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(lines) == 3 and lines[0]["classes"][0]["contours"]
    for file in folder.iterdir():
        file.unlink()
    return arrays, lines


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_a_map_of_another_class_count_fails_and_the_stream_goes_on(tmp_path, maps, wrong):
    arrays, lines = maps
    for frame, array in enumerate(arrays):
        np.save(tmp_path / "set" / "maps" / f"{frame}.npy", array[..., [0, 1, 1]] if frame == wrong else array)
    done, good = play(tmp_path)
    assert done.returncode == 3, done.stderr
    assert good == [line for line in lines if line["frame"] != wrong]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["frames"]["in"] == 3 and report["frames"]["out"] == 2 and report["frames"]["failed"] == 1
    assert report["failures"] == [{"frame": wrong, "reason": f"'{wrong}.npy': graph.yaml:6:17: node 'marching_squares': the maps have 3 channels "
                                   "(40x24x3 float32 interleaved), but the graph declares 2 classes; declare one class a channel"}]


def test_maps_that_all_have_another_class_count_are_a_mistake_of_the_graph(tmp_path, maps):
    for frame in range(3):
        np.save(tmp_path / "set" / "maps" / f"{frame}.npy", maps[0][frame])
    done, good = play(tmp_path, classes=3)
    assert done.returncode == 78 and good == []
    assert "the maps have 2 channels" in done.stderr and "declares 3 classes" in done.stderr


def test_maps_and_frames_without_each_other_are_counted_and_said(tmp_path, maps):
    frames = tmp_path / "set" / "frames"
    frames.mkdir()
    for frame in (0, 2):
        np.save(tmp_path / "set" / "maps" / f"{frame}.npy", maps[0][frame])
    for frame in (0, 1):
        Image.new("RGB", (40, 24)).save(frames / f"{frame}.png")
    done, good = play(tmp_path)
    assert done.returncode == 3
    assert [line["frame"] for line in good] == [0]
    failures = json.loads((tmp_path / "report.json").read_text())["failures"]
    assert failures == [
        {"frame": 1, "reason": "frame 'set/frames/1.png' has no map of the same name or number in 'set/maps'"},
        {"frame": 2, "reason": "map 'set/maps/2.npy' has no frame of the same name or number in 'set/frames'"}]
    for failure in failures:
        assert failure["reason"] in done.stderr


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed], ids=lambda save: save.__name__)
@pytest.mark.parametrize("dtype", [np.float32, ">f4"])
def test_archives_have_the_maps_of_npy_files(tmp_path, maps, save, dtype):
    arrays, lines = maps
    for frame, array in enumerate(arrays):
        save(tmp_path / "set" / "maps" / f"{frame}.npz", maps=array.astype(dtype))
    done, good = play(tmp_path)
    assert done.returncode == 0, done.stderr
    assert without_names(good) == without_names(lines)


def test_a_member_of_an_archive_is_chosen_by_its_name(tmp_path, maps):
    arrays, lines = maps
    np.savez_compressed(tmp_path / "all.npz", maps=np.stack(arrays), fortran=np.asfortranarray(arrays[1]), other=np.zeros(3))
    for name in ("all.npz:maps", "all.npz:maps.npy"):
        done, good = play(tmp_path, arguments=["--input", name])
        assert done.returncode == 0, done.stderr
        assert without_names(good) == without_names(lines)
    done, good = play(tmp_path, more=", member: fortran", arguments=["--input", "all.npz"])
    assert done.returncode == 0, done.stderr
    assert [line["classes"] for line in good] == [lines[1]["classes"]]
    done, _ = play(tmp_path, arguments=["--input", "all.npz"])
    assert done.returncode == 65
    assert "the archive 'all.npz' has the arrays maps, fortran, other; name one: all.npz:maps" in done.stderr
    done, _ = play(tmp_path, arguments=["--input", "all.npz:none"])
    assert done.returncode == 65 and "none that is called 'none'" in done.stderr


def test_commands_take_members_of_archives_and_pages_of_tiff(tmp_path):
    array = blobs(24, 40, 1, 0)[..., 0]
    array = np.linspace(0, 1, 960, dtype=np.float32).reshape(24, 40) ** 2
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", one=array, mask=array > 0.1)
    Image.fromarray(array).save(tmp_path / "a.tif")
    expected = run(tmp_path, "find-contours", "a.npy", "--level", "0.5")
    assert expected.returncode == 0 and expected.stdout.count("[") > 10
    for name in ("a.npz:one", "a.tif"):
        done = run(tmp_path, "find-contours", name, "--level", "0.5")
        assert done.returncode == 0 and done.stdout == expected.stdout, done.stderr
    assert run(tmp_path, "find-contours", "a.npz:one", "--mask", "a.npz:mask", "--level", "0.5").returncode == 0
    for name in ("a.npy", "a.npz:one"):
        assert run(tmp_path, "apply", "preprocess", name, f"{name[:5]}.out.npy").returncode == 0
        np.testing.assert_array_equal(np.load(tmp_path / f"{name[:5]}.out.npy"), array)
        assert run(tmp_path, "mean-shift", name, f"{name[:5]}.labels.npy", "--sigma", "1").returncode in (0, 65)


def test_a_pipe_takes_the_place_of_a_file_where_commands_read_arrays(tmp_path):
    array = np.linspace(0, 1, 200 * 300, dtype=np.float32).reshape(200, 300)
    np.save(tmp_path / "a.npy", array)
    data = (tmp_path / "a.npy").read_bytes()
    expected = run(tmp_path, "find-contours", "a.npy").stdout
    os.mkfifo(tmp_path / "pipe")
    for sent, code in ((data, 0), (data[:-1], 65), (b"", 65), (b"PK", 65)):
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(sent,))
        writer.start()
        done = run(tmp_path, "find-contours", "pipe")
        writer.join()
        assert done.returncode == code, done.stderr
        assert done.stdout == (expected if code == 0 else "")
    done = subprocess.run(f"cat a.npy | {PROGRAM} find-contours /dev/stdin", shell=True, cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)
    assert done.stdout == expected, done.stderr
    # A dataset is read more than once, and a stream must not wait for a pipe that nobody writes into.
    assert play(tmp_path, arguments=["--input", "pipe"])[0].returncode == 65


def save_stack(path, pages, **options):
    pages = [Image.fromarray(page) for page in pages]
    pages[0].save(path, save_all=True, append_images=pages[1:], **options)


@pytest.mark.parametrize("compression", ["raw", "tiff_adobe_deflate", "tiff_lzw"])
def test_pages_of_a_tiff_are_classes_or_frames(tmp_path, maps, compression):
    arrays, lines = maps
    for frame, array in enumerate(arrays):
        save_stack(tmp_path / "set" / "maps" / f"{frame}.tif", list(np.moveaxis(array, 2, 0)), compression=compression)
    done, good = play(tmp_path, "chw")
    assert done.returncode == 0, done.stderr
    assert without_names(good) == without_names(lines)
    save_stack(tmp_path / "one.tif", [array[..., 0] for array in arrays], compression=compression)
    done, good = play(tmp_path, "hwc", classes=1, arguments=["--input", "one.tif"])
    assert done.returncode == 0, done.stderr
    assert [line["classes"] for line in good] == [line["classes"][:1] for line in lines]
    done, _ = play(tmp_path, "undeclared", classes=1, arguments=["--input", "one.tif"])
    assert done.returncode == 65 and "declare layout: chw or layout: hwc" in done.stderr


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_tiff_maps_of_whole_numbers_equal_npy_maps(tmp_path, maps, dtype):
    array = (maps[0][0][..., 0] * np.iinfo(dtype).max).astype(dtype)
    for name in ("0.npy", "0.tif"):
        for file in (tmp_path / "set" / "maps").iterdir():
            file.unlink()
        if name.endswith("npy"):
            np.save(tmp_path / "set" / "maps" / name, array)
        else:
            Image.fromarray(array).save(tmp_path / "set" / "maps" / name)
        done, lines = play(tmp_path, classes=1)
        assert done.returncode == 0, done.stderr
        expected = lines if name == "0.npy" else expected
    assert without_names(lines) == without_names(expected) and lines[0]["classes"][0]["contours"]


def test_a_tiff_that_is_damaged_fails_in_its_turn(tmp_path, maps):
    folder = tmp_path / "set" / "maps"
    for frame, array in enumerate(maps[0]):
        Image.fromarray(array[..., 0]).save(folder / f"{frame}.tif", compression="tiff_adobe_deflate")
    data = (folder / "1.tif").read_bytes()
    (folder / "1.tif").write_bytes(data[:1500])
    (folder / "2.tif").write_bytes((folder / "2.tif").read_bytes()[:200])
    done, lines = play(tmp_path, classes=1)
    assert done.returncode == 3, done.stderr
    assert [line["frame"] for line in lines] == [0]
    assert "1.tif' is not a readable TIFF file: " in done.stderr and "2.tif' is not a readable TIFF file: " in done.stderr


def test_the_example_for_datasets_works_without_frames(tmp_path):
    (tmp_path / "set").mkdir()
    for frame in range(2):
        np.save(tmp_path / "set" / f"{frame}.npy", blobs(40, 60, 8, frame))
    done = run(tmp_path, "run", ROOT / "config" / "examples" / "dataset.yaml", "--input", "set", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert "note: the source has class maps and no frames: left out node 'overlay', sink 'images'" in done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["coco.json", "contours.geojson", "contours.jsonl", "svg"]
    assert len(read_lines(tmp_path / "out" / "contours.jsonl")) == 2
    checked = run(tmp_path, "check", ROOT / "config" / "examples" / "dataset.yaml", "--input", "set")
    assert checked.returncode == 0 and "left out node 'overlay'" in checked.stderr


def test_an_archive_with_more_than_its_shape_is_refused(tmp_path):
    file = io.BytesIO()
    np.save(file, np.zeros((4, 4), np.float32))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", file.getvalue() + bytes(100 << 20))
    done = run(tmp_path, "find-contours", "a.npz")
    assert done.returncode == 65
    assert f"the archive has {100 << 20} bytes behind the (4, 4) float32 samples" in done.stderr


@pytest.mark.parametrize("classes", [1, 3, 8, 20])
def test_the_example_for_datasets_takes_any_number_of_classes(tmp_path, classes):
    (tmp_path / "set").mkdir()
    for frame in range(2):
        np.save(tmp_path / "set" / f"{frame}.npy", np.repeat(blobs(40, 60, 2, frame), 10, axis=-1)[..., :classes])
    example = ROOT / "config" / "examples" / "dataset.yaml"
    done = run(tmp_path, "run", example, "--input", "set", "--output", "out")
    assert done.returncode == 0, done.stderr
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    assert [[one["name"] for one in line["classes"]] for line in lines] == [[f"class{k}" for k in range(classes)]] * 2
    assert lines[0]["classes"][0]["contours"]
    checked = run(tmp_path, "check", example, "--input", "set")
    assert checked.returncode == 0 and f"class{classes - 1}" in checked.stdout


@pytest.mark.parametrize("form", ["files", "sequence", "hdf5", "tiff"])
@pytest.mark.parametrize("layout", ["auto", "example"])
def test_an_automatic_layout_takes_the_shorter_side_for_that_of_the_classes(tmp_path, form, layout):
    maps = np.stack([blobs(40, 60, 5, frame) for frame in range(2)])
    found = []
    for order in ("hwc", "chw"):
        folder = tmp_path / order
        folder.mkdir()
        arrays = maps if order == "hwc" else np.ascontiguousarray(maps.transpose(0, 3, 1, 2))
        if form == "sequence":
            np.save(folder / "all.npy", arrays)
        for frame, array in enumerate(arrays if form != "sequence" else ()):
            if form == "files":
                np.save(folder / f"{frame}.npy", array)
            elif form == "hdf5":
                with pytest.importorskip("h5py").File(folder / f"{frame}.h5", "w") as file:
                    file["maps"] = array
            else:  # bands say themselves which side they are
                pytest.importorskip("tifffile").imwrite(folder / f"{frame}.tif", array, photometric="minisblack",
                                                        planarconfig="contig" if order == "hwc" else "separate")
        if layout == "auto":
            (tmp_path / "graph.yaml").write_text("source: {type: dataset, location: set, layout: auto}\nclasses: auto\n"
                                                 "stages: [marching_squares, contour_assembly]\nsinks: [{type: jsonl, path: contours.jsonl}]\n")
        graph = "graph.yaml" if layout == "auto" else ROOT / "config" / "examples" / "dataset.yaml"
        done = run(tmp_path, "run", graph, "--input", order, "--output", f"out-{order}")
        assert done.returncode == 0, done.stderr
        found.append(read_lines(tmp_path / f"out-{order}" / "contours.jsonl"))
    assert without_names(found[0]) == without_names(found[1]) and [len(line["classes"]) for line in found[0]] == [5, 5]
    assert found[0][0]["classes"][0]["contours"]


def test_a_graph_that_takes_its_classes_from_maps_needs_maps(tmp_path):
    (tmp_path / "graph.yaml").write_text("source: {type: test, width: 32, height: 24, frames: 1}\nclasses: auto\n"
                                         "stages: [marching_squares, contour_assembly]\n")
    done = run(tmp_path, "run", "graph.yaml")
    assert done.returncode == 78 and "the source has no class maps, from which 'classes: auto' could take them" in done.stderr


def matlab(path):
    """A MATLAB file of version 7.3: HDF5 behind 512 bytes of its own."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        file["maps"] = blobs(24, 40, 1, 0)[..., 0]
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, b"{}")


OTHERS = {"seven.dat": (matlab, "file of MATLAB; let its name end in .mat"),
          "five.dat": (lambda path: path.write_bytes(b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(126) + b"IM" + bytes(99)),
                       "file of MATLAB; let its name end in .mat"),
          "store.zarr.zip": (lambda path: zipped(path, [".zarray", "0.0"]), "zipped Zarr store"),
          "other.zip": (lambda path: zipped(path, ["zarr.json", "c/0/0"]), "zipped Zarr store"),
          "net.pt": (lambda path: zipped(path, ["net/data.pkl"]), "file of PyTorch"),
          "maps.zip": (lambda path: np.savez(path.open("wb"), blobs(9, 9, 1, 0)), "let its name end in .npz"),
          "letter.docx": (lambda path: zipped(path, ["[Content_Types].xml"]), "office document"),
          "maps.pkl": (lambda path: path.write_bytes(__import__("pickle").dumps(blobs(9, 9, 1, 0))), "pickle of Python"),
          "maps.nc": (lambda path: path.write_bytes(b"CDF\x01" + bytes(99)), "netCDF file of version 3"),
          "maps.fits": (lambda path: path.write_bytes(b"SIMPLE  =                    T".ljust(2880)), "FITS file"),
          "maps.dat": (lambda path: np.save(path.open("wb"), blobs(9, 9, 1, 0)), "let its name end in .npy"),
          "bits.dat": (lambda path: path.write_bytes(b"P4 8 1\n\xaa"), "PNM picture (P4); let its name end in .pbm"),
          "text.dat": (lambda path: path.write_text("P1\n2 1\n0 1\n"), "PNM picture (P1); let its name end in .pbm"),
          "grey.dat": (lambda path: path.write_bytes(b"P5 2 1 255\n\0\xff"), "PNM picture (P5); let its name end in .pgm"),
          "any.dat": (lambda path: path.write_text("P7\nWIDTH 2\n"), "PNM picture (P7); let its name end in .pam"),
          "a.svg": (lambda path: path.write_text('<?xml version="1.0"?>\n<svg width="9" height="9"/>'), "SVG drawing"),
          "b.svg": (lambda path: path.write_text('\n<svg width="9" height="9"/>'), "SVG drawing"),
          "a.xbm": (lambda path: Image.new("1", (16, 9)).save(path), "X bitmap (XBM)"),
          "a.xpm": (lambda path: path.write_text('/* XPM */\nstatic char *a[] = {"1 1 1 1", "a c #fff", "a"};\n'), "X pixmap (XPM)"),
          "gone.mp4": (lambda path: path.write_text("<!DOCTYPE html>\n<title>404</title>"), "page of HTML"),
          "maps.hdf": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(99)), "let its name end in .h5")}


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_format_is_named_and_taken_for_nothing_else(tmp_path, name):
    make, said = OTHERS[name]
    make(tmp_path / name)
    for done in (run(tmp_path, "run", name, "--output", "out"), run(tmp_path, "record", name, "rec")):
        assert done.returncode == 65 and f"'{name}' is " in done.stderr and said in done.stderr, done.stderr
    if name != "maps.dat":  # which is read in the place of an array
        done = run(tmp_path, "find-contours", name)
        assert done.returncode == 65 and said in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", ">i8", "u4", "u8"])
def test_find_contours_takes_any_integers_as_scikit_image_does(tmp_path, kind):
    measure = pytest.importorskip("skimage.measure")
    image = (blobs(24, 40, 2, 0)[..., 0] * 100).astype(kind)
    np.save(tmp_path / "image.npy", image)
    done = run(tmp_path, "find-contours", "image.npy", "--level", "40.5", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    expected = measure.find_contours(image.astype(np.float64), 40.5)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(np.array(one), other)
