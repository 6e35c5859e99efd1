"""Runs within bounds of memory and time, and pictures for them."""
import numpy as np
from tests.conftest import run_measured

MEBIBYTE = 1 << 20
MOST_MEMORY = 600 * MEBIBYTE  # of the program with all its libraries; bad files ask for more


def run_bounded(*arguments, cwd, most_memory=MOST_MEMORY, most_seconds=60):
    """The exit code and messages of a run that may not hang nor take more memory, nor so many seconds of the processor."""
    # A device's driver takes memory of its own.
    done = run_measured(*arguments, cwd=cwd, env={"CUDA_VISIBLE_DEVICES": ""})
    assert done.peak_bytes < most_memory and done.processor_seconds < most_seconds, done
    return done.code, done.text


def read_picture(tmp_path, name, channels="rgba"):
    """The samples of a picture as the program reads them, or what it says about it."""
    code, text = run_bounded("apply", "preprocess", name, "out.npy", "--channels", channels,
                             cwd=tmp_path)
    return (np.load(tmp_path / "out.npy"), text) if code == 0 else (None, text)


def gradient(height, width):
    rows, cols = np.mgrid[0:height, 0:width]
    return np.stack([rows * 7 % 256, cols * 5 % 256, (rows + cols) * 3 % 256, 255 - rows], axis=-1).astype(np.uint8)
