"""Writes graphs and their inputs into a folder: the same map in every form of arrays, and what needs GStreamer and Pango.

  inputs.py FOLDER
HDF5, MATLAB and TIFF are written where Python has h5py, SciPy and tifffile; without, there is no graph of these."""
import json
import pathlib
import sys

import numpy as np


def graph(source, classes, stages="[contours]", sinks=""):
    named = "".join(f"  - {{name: class{number}, level: 0.5}}\n" for number in range(classes))
    return (f"pipeline: {{backend: cpu, threads: 2}}\nclasses:\n{named}source: {source}\nstages: {stages}\n"
            f"sinks: [{{type: jsonl, path: contours.jsonl}}{sinks}]\n")


def write_zarr(folder, array):
    folder.mkdir()
    head = {"zarr_format": 2, "shape": array.shape, "chunks": array.shape, "dtype": array.dtype.str, "compressor": None,
            "fill_value": 0, "order": "C", "filters": None}
    (folder / ".zarray").write_text(json.dumps(head))
    (folder / "0.0").write_bytes(array.tobytes())


def write_forms(folder, array):
    """The array as file `field` of each form that can be written here."""
    np.save(folder / "field.npy", array)
    write_zarr(folder / "field.zarr", array)
    forms = ["npy", "zarr"]
    try:
        import h5py
        with h5py.File(folder / "field.h5", "w") as file:
            file["field"] = array
        forms.append("h5")
    except ImportError:
        pass
    try:
        import scipy.io
        scipy.io.savemat(folder / "field.mat", {"field": array})
        forms.append("mat")
    except ImportError:
        pass
    try:
        import tifffile
        tifffile.imwrite(folder / "field.tif", array)
        forms.append("tif")
    except ImportError:
        pass
    return forms


def main(folder):
    y, x = np.mgrid[0:95, 0:511]
    maps = np.stack([0.5 + 0.5 * np.sin(x / (7 + k)) * np.cos(y / (5 + k)) for k in range(3)], -1).astype(np.float32)
    np.save(folder / "maps.npy", maps)
    (folder / "maps.yaml").write_text(graph("{type: dataset, location: maps.npy, layout: hwc}", 3))
    for form in write_forms(folder, np.ascontiguousarray(maps[:, :, 0])):
        (folder / f"{form}.yaml").write_text(graph(f"{{type: dataset, location: field.{form}}}", 1))
    synthetic = "{type: synthetic, classes: 3, frame_size: [320, 120], frames: 5}"
    (folder / "picture.yaml").write_text(graph(synthetic, 3, "[contours, {type: overlay, legend: top_left}]",
                                               ", {type: video, path: overlay.webm}"))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
