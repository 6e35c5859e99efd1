"""measure_map against scikit-image: regions of pixels with their intensities, and masks of polygons."""
import json

import numpy as np
import pytest
from skimage import draw, measure

from tests.conftest import run_contorno
from tests.plugins.python.package import contorno
from tests.stages.contours.fields import smooth


def framed(seed, shape=(120, 160)):
    """A smooth map whose regions are closed."""
    field = smooth(np.random.default_rng(seed), shape, sigma=2.0)
    field[[0, -1]] = field[:, [0, -1]] = 0
    return field.astype(np.float32)


def measured_regions(field, labels):
    return sorted((one.area, one.mean_intensity, one.max_intensity) for one in measure.regionprops(labels, intensity_image=field.astype(float)))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("level", [0.35, 0.5, 0.62])
def test_regions_and_their_holes_have_the_samples_and_intensities_of_scikit_image(seed, level):
    field = framed(seed)
    made = contorno.measure_map(contorno.measure(contorno.find_contours(field, level)), field)
    of = made.attributes
    rows = np.stack([of["samples"], of["mean"], of["maximum"]], axis=1)
    # Contours part samples whose corners touch, and join the low ones around.
    high = measured_regions(field, measure.label(field > level, connectivity=1))
    low = measure.label(field <= level, connectivity=2)
    low[low == low[0, 0]] = 0
    holes = measured_regions(field, low)
    assert len(high) + len(holes) > 10
    for got, wanted in [(rows[of["area"] > 0], high), (rows[of["area"] < 0], holes)]:
        assert len(got) == len(wanted)
        np.testing.assert_allclose(np.reshape(sorted(map(tuple, got)), (-1, 3)), np.reshape(wanted, (-1, 3)), rtol=1e-12)


def test_polygons_have_the_samples_of_their_masks():
    random = np.random.default_rng(8)
    field = random.random((90, 110))
    field = np.where(random.random(field.shape) < 0.05, np.nan, field).astype(np.float32)
    for _ in range(40):
        angles = np.sort(random.random(random.integers(3, 40))) * 2 * np.pi
        points = random.random(2) * field.shape + (2 + 40 * random.random((len(angles), 1))) * np.stack([np.sin(angles), np.cos(angles)], axis=1)
        points = np.float32(np.concatenate([points, points[:1]]))
        inside = field[draw.polygon2mask(field.shape, points.astype(float))].astype(float)
        inside = inside[~np.isnan(inside)]
        of = contorno.measure_map([points], field).attributes
        assert of["samples"] == len(inside)
        if len(inside):
            assert of["mean"] == pytest.approx(inside.mean(), rel=1e-12) and of["maximum"] == inside.max()


def test_every_frame_class_and_level_has_its_map():
    maps = np.stack([[framed(10 * frame + of_class, (60, 80)) for of_class in range(2)] for frame in range(3)])
    found = contorno.find_contours_batch(maps, [0.4, 0.6], flat=True)
    made = contorno.measure_map(found, maps)
    for name, array in contorno.apply("measure_map", found, maps).attributes.items():
        assert np.array_equal(array, made.attributes[name], equal_nan=True)
    for frame, of_class, level in np.ndindex(3, 2, int(found.level_ids.max()) + 1):
        chosen = np.flatnonzero((found.frame_ids == frame) & (found.class_ids == of_class) & (found.level_ids == level))
        alone = contorno.measure_map([found[i] for i in chosen], maps[frame, of_class])
        for name, array in alone.attributes.items():
            assert np.array_equal(array, made.attributes[name][chosen], equal_nan=True)
    assert made.attributes["samples"].sum() > 1000


@pytest.mark.parametrize("maps, words", [
    (np.zeros(9, np.float32), "maps has shape"), (np.zeros((1, 1, 1, 9, 9), np.float32), "maps has shape"),
    (np.zeros((2, 9, 9), np.int64), "dtype"), (np.zeros((2, 1, 9, 9), np.float32), "1 classes, and contours have 2")])
def test_maps_that_are_none_are_refused(maps, words):
    square = np.float32([[1, 1], [1, 5], [5, 5], [1, 1]])
    with pytest.raises((ValueError, TypeError), match=words):
        contorno.measure_map([[square], [square]], maps)


def test_the_program_measures_contours_of_a_file_in_a_map_of_a_file(tmp_path):
    field = framed(4, (60, 80))
    np.save(tmp_path / "map.npy", field)
    found = [np.float32(one) for one in contorno.find_contours(field, 0.5)]
    frame = {"width": 80, "height": 60, "classes": [{"name": "one", "level": 0.5, "contours": [
        {"closed": True, "points": one[:, ::-1].astype(float).tolist()} for one in found]}]}
    (tmp_path / "found.jsonl").write_text(json.dumps(frame) + "\n")
    run_contorno("apply", "measure_map", "found.jsonl", "measured.jsonl", "--maps", "map.npy", cwd=tmp_path)
    (contours,) = [one["contours"] for one in json.loads((tmp_path / "measured.jsonl").read_text())["classes"]]
    wanted = contorno.measure_map(found, field).attributes
    assert len(contours) > 5
    for i, one in enumerate(contours):
        of = {name: np.nan if value is None else value for name, value in one["attributes"].items()}
        assert of == pytest.approx({name: array[i] for name, array in wanted.items()}, rel=0, abs=0, nan_ok=True)
    other = run_contorno("apply", "measure_map", "found.jsonl", "other.jsonl", cwd=tmp_path, check=False)
    assert other.returncode == 2 and "also takes 'maps'" in other.stderr and not (tmp_path / "other.jsonl").exists()
    (tmp_path / "two.jsonl").write_text(2 * (tmp_path / "found.jsonl").read_text())
    two = run_contorno("apply", "measure_map", "two.jsonl", "other.jsonl", "--maps", "map.npy", cwd=tmp_path, check=False)
    assert two.returncode == 65 and "several frames, wanted the one of the maps" in two.stderr and not (tmp_path / "other.jsonl").exists()
