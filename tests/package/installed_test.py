"""The installed program, moved to another place and without the checkout, writes the bytes of the one in the build folder."""
import shutil

import pytest
from tests.conftest import PROGRAM, ROOT
from tests.modules import need_modules
from tests.package.conftest import done, install, run_out_of_reach

PAINT = """source: {type: synthetic, classes: 3, frames: 6, frame_size: [320, 160], maps_size: [160, 80], seed: 5}
sinks:
  - {type: video, path: line.webm, from: source.frame}
  - {type: images, path: "line.png", from: source.frame}
"""
CLASSES = """classes:
  - {name: fruit, colour: "#1f8a4c", references: ["#c0392b", "#8fae3c"]}
  - {name: belt, hidden: true, references: ["#303030", "#606060"]}
"""
GRAPHS = {
    "maps": """source: {type: dataset, location: maps, layout: chw}
classes: auto
stages: [{type: morphology, operation: opening, from: source.maps}, marching_squares, contour_assembly, {type: contour_prep, steps: [measure, track]}]
sinks: [{type: jsonl, path: contours.jsonl}]
""",
    "a video": "source: {type: video, location: line.webm}\n" + CLASSES + """stages: [classify, marching_squares, contour_assembly]
sinks: [{type: jsonl, path: contours.jsonl}]
""",
    "a picture with a legend": "source: {type: images, location: line-3.png}\n" + CLASSES + """stages:
  - classify
  - marching_squares
  - contour_assembly
  - {type: overlay, legend: top_left}
sinks:
  - {type: images, path: "overlay.png"}
  - {type: jsonl, path: contours.jsonl}
""",
}


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """A prefix with the program, its library and modules, behind its move."""
    need_modules("gst", "text")
    folder = tmp_path_factory.mktemp("installed program")
    install(folder / "first", "library", "dev", "program", "gst", "text")
    (folder / "first").rename(folder / "moved here")
    return folder / "moved here"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with a video, pictures and maps, painted by the program of the build."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "paint.yaml").write_text(PAINT)
    done(PROGRAM, "run", "paint.yaml", "--output", ".", "--quiet", cwd=folder)
    done(PROGRAM, "record", "paint.yaml", "maps", cwd=folder)
    return folder


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_installed_program_writes_the_bytes_of_that_of_the_build(name, moved, inputs, tmp_path):
    shutil.copytree(inputs, tmp_path / "in")
    (tmp_path / "in" / "graph.yaml").write_text(GRAPHS[name])
    done(PROGRAM, "run", "graph.yaml", "--output", tmp_path / "built", "--quiet", cwd=tmp_path / "in")
    run_out_of_reach(moved / "bin" / "contorno", moved, "run", "graph.yaml", "--output", tmp_path / "installed", "--quiet",
                     cwd=tmp_path / "in")
    built = files_below(tmp_path / "built")
    assert files_below(tmp_path / "installed") == built
    assert set(built) == {"contours.jsonl", "overlay.png"} if "legend" in name else {"contours.jsonl"}
    assert built["contours.jsonl"].count(b'"points":[[') > 3


def test_help_of_the_installed_program_is_that_of_the_build(moved):
    for words in (["--help"], ["schema"], ["stages", "morphology"], ["man", "run"], ["completion", "bash"], ["--version"]):
        assert run_out_of_reach(moved / "bin" / "contorno", moved, *words) == done(PROGRAM, *words), words
    there = {str(path.relative_to(moved)) for path in (moved / "share").rglob("*") if path.is_file()}
    assert {"share/man/man1/contorno.1", "share/contorno/graph.schema.json", "share/bash-completion/completions/contorno",
            "share/zsh/vendor-completions/_contorno", "share/fish/vendor_completions.d/contorno.fish"} <= there
    assert (moved / "share/man/man1/contorno-run.1").read_text() == done(PROGRAM, "man", "run")
    for path in there:
        assert str(ROOT) not in (moved / path).read_text(), path


def test_the_unit_is_installed_and_starts_the_installed_program(moved):
    unit = (moved / "lib/systemd/system/contorno@.service").read_text()
    (start,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    assert start.endswith("/bin/contorno run %E/contorno/%i.yaml --output %S/contorno/%i")
    assert "@" not in unit.replace("contorno@", "").replace("@system-service", "")
