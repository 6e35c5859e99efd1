"""`contorno apply`: one stage on one file."""
import cv2
import numpy as np
import pytest


@pytest.fixture
def picture(tmp_path):
    """A coloured picture without transparency, 37 x 23."""
    pixels = np.random.default_rng(3).integers(0, 256, (23, 37, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "in.png"), pixels[..., ::-1])
    return pixels


def test_a_crop_of_a_picture_has_the_pixels_of_the_picture(contorno, tmp_path, picture):
    contorno("apply", "preprocess", "in.png", "out.png", "--crop", "5,4,20,11", cwd=tmp_path)
    out = cv2.imread(str(tmp_path / "out.png"), cv2.IMREAD_UNCHANGED)[..., ::-1]
    np.testing.assert_array_equal(out, picture[4:15, 5:25])


@pytest.mark.parametrize("layout", ["hwc", "chw"])
def test_arrays_keep_their_type_and_layout(contorno, tmp_path, layout):
    maps = np.random.default_rng(4).random((3, 19, 28), np.float32)
    given = maps if layout == "chw" else maps.transpose(1, 2, 0)
    np.save(tmp_path / "in.npy", np.ascontiguousarray(given))
    contorno("apply", "preprocess", "in.npy", "out.npy", "--layout", layout, "--crop=[3,2,15,9]", cwd=tmp_path)
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == np.float32
    cropped = maps[:, 2:11, 3:18]
    np.testing.assert_array_equal(out, cropped if layout == "chw" else cropped.transpose(1, 2, 0))


def test_a_picture_is_taken_with_the_channels_that_were_asked_for(contorno, tmp_path, picture):
    shapes = {"auto": (23, 37, 3), "grey": (23, 37), "rgb": (23, 37, 3), "rgba": (23, 37, 4)}
    for channels, shape in shapes.items():
        contorno("apply", "preprocess", "in.png", "out.npy", "--channels", channels, cwd=tmp_path)
        assert np.load(tmp_path / "out.npy").shape == shape
    cv2.imwrite(str(tmp_path / "grey.png"), picture[..., 0])
    contorno("apply", "preprocess", "grey.png", "out.npy", cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), picture[..., 0])


def test_a_mask_from_a_file_is_the_element_and_is_never_written_over(contorno, tmp_path):
    image = np.random.default_rng(5).integers(0, 256, (20, 30), np.uint8)
    mask = np.array([[0, 1, 0], [1, 1, 1]], np.uint8)
    np.save(tmp_path / "in.npy", image)
    np.savez(tmp_path / "masks.npz", cross=mask, line=mask[1:])
    words = ["apply", "morphology", "in.npy", "out.npy", "--operation", "erosion", "--element", "file", "--file", "masks.npz:cross"]
    contorno(*words, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), cv2.erode(image, mask, anchor=(1, 1)))
    before = (tmp_path / "masks.npz").read_bytes()
    words[3] = "masks.npz"
    done = contorno(*words, cwd=tmp_path, check=False)
    assert done.returncode == 73 and "a mask of the stage 'morphology' is read from it" in done.stderr
    assert (tmp_path / "masks.npz").read_bytes() == before


@pytest.mark.parametrize("arguments, code, words", [
    (["preproces", "in.png", "out.png"], 2, "did you mean 'preprocess'"),
    (["preprocess", "no.png", "out.png"], 66, "no.png"),
    (["preprocess", "in.png", "out.bmp"], 64, "allowed are the extensions .png, .jpg and .jpeg (.npy and .tif take every image)"),
    (["preprocess", "in.png", "out.png", "--size"], 2, "--size needs a value"),
    (["preprocess", "in.png", "out.png", "stray"], 2, "'stray' is no option"),
    (["preprocess", "in.png", "out.png", "--filter", "best", "--sise", "3"], 78, "did you mean 'size'"),
    (["preprocess", "in.png", "out.png", "--filter", "best", "--sise", "3"], 78, "'best'"),
    (["overlay", "in.png", "out.png"], 64, "takes contours"),
    (["preprocess", "in.png", "out.png", "--output", "float32"], 64, "float32"),
    (["preprocess", "flat.npy", "out.npy"], 65, "flat.npy"),
    (["morphology", "flat.npy", "out.npy", "--element", "file", "--file", "none.npy"], 66, "--file: error: morphology: file: "),
    (["morphology", "flat.npy", "out.npy", "--element", "file", "--file", "flat.npy"], 65, "a mask has two sides"),
])
def test_mistakes_are_told_in_a_sentence(contorno, tmp_path, picture, arguments, code, words):
    np.save(tmp_path / "flat.npy", np.zeros(5, np.float32))
    done = contorno("apply", *arguments, cwd=tmp_path, check=False)
    assert done.returncode == code
    assert words in done.stderr
    assert not list(tmp_path.glob("out.*"))
