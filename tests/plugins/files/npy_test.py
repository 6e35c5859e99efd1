"""NumPy as the reference for the .npy reader: arrays of every allowed kind, compared byte by byte in C++."""

import os
import pathlib
import re
import subprocess

import numpy as np


def test_every_dtype_order_and_shape_reads_as_numpy_reads_it(tmp_path):
    random = np.random.default_rng(1)
    count = 0
    for dtype in ["<f2", "<f4", "<f8", "|u1", "<u2", "|b1", ">f2", ">f4", ">f8", ">u2"]:
        for shape in [(5,), (3, 4), (4, 3, 5), (2, 3, 4, 5), (1, 1), (1, 7), (7, 1), (0, 3), (2, 1, 3, 1, 2)]:
            for order in "CF":
                for version in [(1, 0), (2, 0), (3, 0)]:
                    values = random.integers(0, 2 if dtype == "|b1" else 250, shape)
                    array = np.asarray(values.astype(dtype), order=order)
                    path = tmp_path / f"{count}.npy"
                    with open(path, "wb") as file:
                        np.lib.format.write_array(file, array, version=version)
                    native = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("="))
                    path.with_suffix(".bin").write_bytes(native.tobytes())
                    count += 1
    program = pathlib.Path(os.environ["CONTORNO_BIN"]).with_name("contorno_tests")
    result = subprocess.run(
        [program, "--test-case=npy files made by NumPy*", "--success"],
        env={**os.environ, "CONTORNO_NPY_CASES": str(tmp_path)}, capture_output=True, text=True, errors="replace")
    assert result.returncode == 0, result.stdout
    assert re.search(r"arrays compared: (\d+)", result.stdout)[1] == str(count)
