"""Compares morphology with OpenCV (flat elements, its conventions), SciPy (heights) and scikit-image (reconstruction)
through the program that tools/bench/morphology times."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")
ndimage = pytest.importorskip("scipy.ndimage")
morphology = pytest.importorskip("skimage.morphology")

PROGRAM = pathlib.Path(os.environ.get("CONTORNO_BIN", "build/release/bin/contorno")).parent / "bench_morphology"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="bench_morphology is not built")


class Contorno:
    def __init__(self, folder, image, threads=2):
        self.folder, self.shape = folder, image.shape
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        image.tofile(folder / "image.raw")
        height, width, channels = image.shape
        self.ask(f"load {folder / 'image.raw'} {height} {width} {channels} {threads}")

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline(), f"stopped at {line}"

    def result(self):
        self.ask("run 1")
        self.ask(f"save {self.folder / 'result.raw'}")
        return np.fromfile(self.folder / "result.raw", np.uint8).reshape(self.shape)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.fixture
def image():
    random = np.random.default_rng(3)
    smooth = cv2.GaussianBlur(random.random((97, 131, 3), np.float32), (0, 0), 3)
    smooth = (smooth - smooth.min()) / np.ptp(smooth)
    return np.clip(255 * smooth + random.normal(0, 15, smooth.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def contorno(tmp_path, image):
    program = Contorno(tmp_path, image)
    yield program
    program.close()


OPERATIONS = {"erosion": cv2.MORPH_ERODE, "dilation": cv2.MORPH_DILATE, "opening": cv2.MORPH_OPEN,
              "closing": cv2.MORPH_CLOSE, "gradient": cv2.MORPH_GRADIENT, "top_hat": cv2.MORPH_TOPHAT,
              "black_hat": cv2.MORPH_BLACKHAT}


@pytest.mark.parametrize("size", [(3, 3), (5, 9), (1, 7), (21, 21), (4, 4), (6, 3)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_flat_operations_are_opencvs_under_the_switch(contorno, image, operation, size):
    for shape, kind in (("rectangle", cv2.MORPH_RECT), ("ellipse", cv2.MORPH_ELLIPSE), ("cross", cv2.MORPH_CROSS)):
        contorno.ask(f"plan {operation} {shape} {size[0]} {size[1]} opencv")
        expected = cv2.morphologyEx(image, OPERATIONS[operation], cv2.getStructuringElement(kind, size))
        np.testing.assert_array_equal(contorno.result(), expected, err_msg=f"{shape} {size}")


@pytest.mark.parametrize("size", [(3, 3), (4, 5), (11, 2)])
def test_heights_are_scipys_where_nothing_wraps(contorno, image, size):
    random = np.random.default_rng(sum(size))
    heights = random.integers(-40, 40, (size[1], size[0]))
    words = " ".join(map(str, heights.ravel()))
    wide = image.astype(np.int32)
    contorno.ask(f"plan erosion rectangle {size[0]} {size[1]} {words}")
    eroded = ndimage.grey_erosion(wide, structure=heights[..., None], mode="constant", cval=1 << 20)
    np.testing.assert_array_equal(contorno.result(), np.clip(eroded, 0, 255))
    contorno.ask(f"plan dilation rectangle {size[0]} {size[1]} {words}")
    # SciPy's origin of even sides moves when it turns the element: n - 1 - n // 2 from the other end.
    origin = [-1 if side % 2 == 0 else 0 for side in (size[1], size[0])] + [0]
    dilated = ndimage.grey_dilation(wide, structure=heights[..., None], mode="constant", cval=-(1 << 20))
    shifted = ndimage.grey_dilation(wide, structure=heights[..., None], mode="constant", cval=-(1 << 20), origin=origin)
    ours = contorno.result()
    assert np.array_equal(ours, np.clip(dilated, 0, 255)) or np.array_equal(ours, np.clip(shifted, 0, 255))


def test_reconstruction_is_scikit_images(tmp_path, image):
    marker = cv2.erode(image, np.ones((9, 9), np.uint8))
    program = Contorno(tmp_path, marker)
    image.tofile(tmp_path / "mask.raw")
    program.ask(f"reconstruct {tmp_path / 'mask.raw'}")
    expected = np.dstack([morphology.reconstruction(marker[..., c], image[..., c]) for c in range(3)])
    np.testing.assert_array_equal(program.result(), expected.astype(np.uint8))
    program.close()
