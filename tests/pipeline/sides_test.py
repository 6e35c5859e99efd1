"""Images of the greatest side that is allowed and one sample beyond it, by every way into the program."""
import numpy as np
import pytest
from tests.conftest import read_lines

MOST = 65536
GRAPH = """
source: {type: dataset, location: map.npy}
classes: [{name: a}]
stages: [marching_squares, contour_assembly]
sinks: [{type: jsonl, path: out.jsonl}]
"""
SIZES = [(2, MOST), (MOST, 2)]
LARGER = [(2, MOST + 1), (MOST + 1, 2), (2, 200_000)]


def half_high(rows, columns, kind=np.float32):
    """The first row or column is high: one contour, from end to end."""
    image = np.zeros((rows, columns), kind)
    if rows < columns:
        image[0] = 1
    else:
        image[:, 0] = 1
    return image


@pytest.mark.parametrize("rows, columns", SIZES + LARGER)
@pytest.mark.parametrize("levels", ["level: 0.5", "levels: [0.25, 0.5]"])
def test_run_takes_the_greatest_side_and_refuses_a_greater_one(contorno, tmp_path, rows, columns, levels):
    np.save(tmp_path / "map.npy", half_high(rows, columns))
    (tmp_path / "graph.yaml").write_text(GRAPH.replace("name: a", f"name: a, {levels}"))
    done = contorno("run", "graph.yaml", "--quiet", cwd=tmp_path, check=False)
    if max(rows, columns) > MOST:
        assert done.returncode == 65 and f"allowed are 1 to {MOST} px" in done.stderr, done.stderr
        return
    assert done.returncode == 0, done.stderr
    found = read_lines(tmp_path / "out.jsonl")[0]["classes"][0]["contours"]
    assert len(found) == levels.count("0.") and all(len(one["points"]) >= MOST for one in found)


@pytest.mark.parametrize("rows, columns", SIZES + LARGER)
def test_apply_and_find_contours_check_sides(contorno, tmp_path, rows, columns):
    np.save(tmp_path / "map.npy", half_high(rows, columns, np.uint8))
    for command in (("apply", "morphology", "map.npy", "out.npy"), ("find-contours", "map.npy", "--json", "out.json"),
                    ("apply", "mipmap", "map.npy", "levels.npy")):
        done = contorno(*command, cwd=tmp_path, check=False)
        if max(rows, columns) > MOST:
            assert done.returncode == 65 and str(MOST) in done.stderr, done.stderr
        else:
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rows, columns", SIZES + LARGER)
def test_python_checks_sides(rows, columns):
    package = pytest.importorskip("tests.plugins.python.package")
    image = half_high(rows, columns)
    ways = [lambda: package.contorno.find_contours(image, 0.5), lambda: package.contorno.find_contours_batch(image[None], 0.5),
            lambda: package.contorno.apply("morphology", image)]
    for way in ways:
        if max(rows, columns) > MOST:
            with pytest.raises(ValueError) as refused:
                way()
            assert str(MOST) in str(refused.value)
        else:
            assert len(way()) in (1, rows)
