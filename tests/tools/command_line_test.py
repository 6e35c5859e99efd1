"""The command line: what may stand where a graph is named, what options take, where mistakes lead, what `check` tries."""
import json
import subprocess

import cv2
import numpy as np
import pytest
from tests.conftest import LIBRARY, PROGRAM, ROOT, blobs, classes_yaml, read_lines, run_measured

MAPS = """source: {{type: dataset, location: maps.npy, layout: hwc}}
classes:
{classes}
stages: [marching_squares, contour_assembly]
sinks:
  - {{type: jsonl, path: contours.jsonl}}
"""


@pytest.fixture
def folder(tmp_path):
    """maps.npy with three frames of two classes, and a graph for it."""
    np.save(tmp_path / "maps.npy", np.stack([blobs(24, 40, 2, frame) for frame in range(3)]))
    (tmp_path / "graph.yaml").write_text(MAPS.format(classes=classes_yaml(2)))
    return tmp_path


# ---- options

def test_an_option_takes_one_value_and_leaves_the_graph_alone(contorno, folder):
    contorno("run", "--set", "classes.class0.level=0.25", "--set", "class class1.level=0.75", "graph.yaml", "--output", "out",
             cwd=folder)
    classes = read_lines(folder / "out" / "contours.jsonl")[0]["classes"]
    assert [one["level"] for one in classes] == [0.25, 0.75]
    checked = contorno("check", "--set", "classes.class0.level=0.25", "graph.yaml", cwd=folder).stdout
    assert "level: 0.25" in checked


def test_a_misspelt_option_leads_on(contorno, folder):
    done = contorno("run", "graph.yaml", "--ouput", "out", check=False, cwd=folder)
    assert done.returncode == 2
    assert "there is no option '--ouput' (did you mean '--output'?)" in done.stderr
    assert "'contorno run --help' lists all" in done.stderr
    done = contorno("check", "graph.yaml", "other.yaml", check=False, cwd=folder)
    assert done.returncode == 2 and "'other.yaml' is one word too many, wanted is only GRAPH" in done.stderr
    assert contorno("run", check=False).stderr == "contorno: GRAPH is required; 'contorno run --help' lists all\n"
    alone = contorno(check=False)
    assert alone.returncode == 2 and alone.stdout == contorno("--help").stdout
    assert alone.stderr == "contorno: a command is missing; these are all\n"
    done = contorno("run", "belt.mp4", check=False, cwd=folder)
    assert done.stderr == f"contorno: 'belt.mp4' does not exist (current folder: {folder})\n"
    assert not (folder / "out").exists()


def test_help_explains_commands_and_whatever_graphs_are_made_of(contorno):
    assert contorno("help").stdout == contorno("--help").stdout
    assert contorno("help", "run").stdout == contorno("run", "--help").stdout
    assert "classes.NAME.KEY=VALUE" in contorno("help", "run").stdout.replace("\n", " ")
    assert contorno("help", "overlay").stdout == contorno("stages", "overlay").stdout
    assert contorno("help", "gst").stdout == contorno("gst", "--help").stdout + "\n" + contorno("stages", "gst").stdout
    classes = contorno("help", "classes").stdout
    assert '  colour  "#rrggbb" or "#rrggbbaa"; default one of a palette, by its place\n' in classes and "#000000" not in classes
    sources = contorno("stages", "source").stdout
    assert contorno("help", "sources").stdout == contorno("stages", "sources").stdout
    assert contorno("help", "sources").stdout.startswith("section sources\n")  # of a graph, not the list of all
    assert sources.startswith("sources\n") and "\n  dataset " in sources and "overlay" not in sources
    done = contorno("help", "rnu", check=False)
    assert done.returncode == 2 and "there is no" in done.stderr
    done = contorno("help", "overlya", check=False)
    assert done.returncode == 2 and "did you mean 'overlay'" in done.stderr


@pytest.mark.parametrize("command", [
    ["find-contours", "maps.npy"], ["explain", "maps.npy", "--at", "0,0"],
    ["apply", "morphology", "maps.npy", "out.npy"], ["mean-shift", "maps.npy", "out.npy"]],
    ids=lambda command: command[0])
def test_threads_have_one_range_in_every_command(contorno, folder, command):
    done = contorno(*command, "--threads", 65535, check=False, cwd=folder)
    assert done.returncode == 2
    assert "65535" in done.stderr and "1024" in done.stderr
    done = contorno("run", "graph.yaml", "--set", "pipeline.threads=65535", check=False, cwd=folder)
    assert done.returncode == 78 and "threads is 65535, allowed a whole number, 0 to 1024" in done.stderr


def test_as_many_threads_as_are_allowed_give_the_same_contours(contorno, folder):
    for out, threads in (("one", 1), ("most", 1024)):
        contorno("run", "graph.yaml", "--output", out, "--set", f"pipeline.threads={threads}", cwd=folder)
    assert (folder / "one" / "contours.jsonl").read_bytes() == (folder / "most" / "contours.jsonl").read_bytes()


@pytest.mark.parametrize("name, value", [
    ("OMP_STACKSIZE", "1"), ("OMP_STACKSIZE", "20k"), ("OMP_STACKSIZE", "many"), ("OMP_STACKSIZE", "999999999999G"),
    ("GOMP_STACKSIZE", "1"), ("OMP_NUM_THREADS", "-4"), ("OMP_NUM_THREADS", "many"), ("OMP_NUM_THREADS", "99999999999999999999")])
@pytest.mark.parametrize("policy", [None, "passive"])
def test_nonsense_for_openmp_is_said_once_and_left_out(contorno, folder, name, value, policy):
    env = {name: value, **({"OMP_WAIT_POLICY": policy} if policy else {})}
    done = contorno("run", "graph.yaml", "--output", "out", "--set", "pipeline.threads=4", env=env, cwd=folder)
    lines = [line for line in done.stderr.splitlines() if line.startswith(f"contorno: warning: {name} is '{value}'")]
    assert len(lines) == 1 and lines[0].endswith("it is left out")
    assert len(read_lines(folder / "out" / "contours.jsonl")) == 3


def test_a_sensible_stack_size_is_left_alone(contorno, folder):
    done = contorno("run", "graph.yaml", "--output", "out", "--quiet", env={"OMP_STACKSIZE": "4M"}, cwd=folder)
    assert done.stderr == ""


# ---- check

def test_check_prints_what_was_written_and_all_of_it_when_asked(contorno, folder):
    written = contorno("check", "graph.yaml", cwd=folder).stdout
    assert "layout: hwc" in written and "repeat:" not in written and "pipeline:" not in written
    assert "  # maps: 40x24x2 float32 interleaved\n" in written
    (folder / "again.yaml").write_text(written)
    everything = contorno("check", "graph.yaml", "--all", cwd=folder).stdout
    assert "    repeat: 1\n".lstrip() in everything and "  slots: 4\n" in everything
    assert contorno("check", "again.yaml", "--all", cwd=folder).stdout == everything


@pytest.mark.parametrize("kind, said", [("uint8", "0 to 255: a level of 0.5 is 127.5"), ("uint16", "0 to 65535: a level of 0.5 is 32767.5"),
                                        ("float32", None)])
def test_check_says_what_a_level_is_among_integer_samples(contorno, tmp_path, kind, said):
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "0.npy", np.zeros((6, 8), kind))
    (tmp_path / "graph.yaml").write_text(
        "source: {type: dataset, location: maps}\nclasses: [{name: a}]\nstages: [marching_squares, contour_assembly]\n")
    text = contorno("check", tmp_path / "graph.yaml").stdout
    assert (f"  # their samples are of {said}\n" in text) if said else "their samples" not in text
    (tmp_path / "again.yaml").write_text(text)
    contorno("check", tmp_path / "again.yaml")


@pytest.mark.parametrize("source", [
    "{type: synthetic, frame_size: [20000, 20000], maps_size: [10000, 10000], classes: 2}",
    "{type: diamond_square, size: [20000, 20000], fields: 2}",
    "{type: test, width: 16384, height: 16384}"])
def test_check_neither_paints_nor_allocates_frames(contorno, folder, source):
    graph = f"source: {source}\nclasses:\n{classes_yaml(2)}\n"
    graph = graph.replace("colour: \"#ff0000\"", "references: \"#ff0000\"").replace("colour: \"#ff0010\"", "references: \"#00ff00\"")
    stages = "stages: [classify, marching_squares, contour_assembly, overlay]\nsinks: []\n"
    (folder / "graph.yaml").write_text(graph + stages)
    shapes = contorno("check", "graph.yaml", cwd=folder).stdout
    assert "20000x20000" in shapes or "16384x16384" in shapes
    done = run_measured("check", "graph.yaml", cwd=folder)
    assert done.code == 0, done.text
    assert done.peak_bytes < 300 << 20, "a frame alone has more than a GiB"


def refused(contorno, folder, text, code=78, **kwargs):
    (folder / "graph.yaml").write_text(text)
    done = contorno("check", "graph.yaml", check=False, cwd=folder, **kwargs)
    assert done.returncode == code, done.stderr + done.stdout
    return done.stderr


GRAPH = """source: {{type: synthetic, frames: 2}}
classes: [{{name: a}}, {{name: b}}, {{name: c}}, {{name: d}}, {{name: e}}, {{name: f}}, {{name: g}}, {{name: h}}]
stages: [marching_squares, contour_assembly, overlay]
sinks:
  - {0}
  - {1}
"""


def test_check_tries_paths_placeholders_and_codecs_all_at_once(contorno, folder):
    said = refused(contorno, folder, GRAPH.format("{type: images, path: \"o-{day}.png\"}", "{type: svg, path: \"../x{frame}.svg\"}") +
                   "  - {type: video, path: a.webm, codec: png}\n  - {type: video, path: b.xyz}\n"
                   "  - {type: svg, path: same.svg}\n  - {type: geojson, path: \"{oops\"}\n")
    for part in ("graph.yaml:5:26: error: sink 'images': path", "placeholder '{day}'", "graph.yaml:6:",
                 "leads outside of the output folder", "graph.yaml:7:", "codec is png", "graph.yaml:8:",
                 "path is 'b.xyz'", "graph.yaml:9:", "is the same for every frame", "graph.yaml:10:", "without '}'"):
        assert part in said, (part, said)
    assert said.count("error:") == 6


def test_check_and_run_name_the_encoder_that_is_not_installed_before_anything_is_made(contorno, folder):
    text = GRAPH.format("{type: video, path: a.webm}", "{type: images, path: \"{frame}.png\"}")
    env = {"GST_PLUGIN_SYSTEM_PATH_1_0": str(folder / "none"), "GST_REGISTRY": str(folder / "registry.bin")}
    said = refused(contorno, folder, text, code=69, env=env)
    assert "graph.yaml:5:" in said and "'vp8enc' is not installed" in said
    assert "graph.yaml:6:" in said and "'pngenc' is not installed" in said
    done = contorno("run", "graph.yaml", "--output", "out", check=False, cwd=folder, env=env)
    assert done.returncode == 69 and "'vp8enc' is not installed" in done.stderr
    assert not (folder / "out").exists()


def test_check_tries_patterns_and_elements_of_stages(contorno, folder):
    said = refused(contorno, folder, """source: {type: test, pattern: smtpe}
stages:
  - {type: hit_or_miss, pattern: "1x0"}
  - {type: morphology, operation: open, size: 5.5}
  - {type: morphology, element: file, file: none.npy}
sinks: []
""")
    assert "graph.yaml:1:31: error: source: pattern is 'smtpe', allowed one of smpte" in said
    assert "graph.yaml:3:34: error: node 'hit_or_miss': the pattern has 'x', allowed 1, 0 and ." in said
    assert "graph.yaml:4:47: error: node 'morphology': size has the number 5.5" in said
    assert "graph.yaml:5:45: error: node 'morphology_2': file: " in said and "none.npy" in said


def test_check_reads_masks_and_describes_them_by_their_paths(contorno, folder):
    np.save(folder / "mask.npy", np.ones((3, 3), np.uint8))
    text = "source: {type: test, width: 32, height: 24, frames: 1}\nstages: [{type: morphology, element: file, file: mask.npy}]\n"
    (folder / "graph.yaml").write_text(text)
    described = contorno("check", "graph.yaml", cwd=folder).stdout
    assert "    file: mask.npy\n" in described
    (folder / "graph.yaml").write_text(described)
    assert contorno("check", "graph.yaml", cwd=folder).stdout == described
    (folder / "mask.npy").write_bytes(b"no array")
    done = contorno("check", "graph.yaml", cwd=folder, check=False)
    assert done.returncode == 65 and "graph.yaml:15:11: error: node 'morphology': file: 'mask.npy' is not" in done.stderr, done.stderr


def test_a_stage_that_does_not_fit_its_input_is_named_with_its_place(contorno, folder):
    said = refused(contorno, folder, MAPS.format(classes=classes_yaml(3)))
    assert "graph.yaml:6:10: node 'marching_squares': " in said and "3 classes" in said


@pytest.mark.parametrize("damage, code", [(lambda file: file.unlink(), 66), (lambda file: file.write_bytes(b"no array"), 65)])
def test_a_source_that_is_missing_or_damaged_fails_the_check_as_it_would_the_run(contorno, folder, damage, code):
    damage(folder / "maps.npy")
    done = contorno("check", "graph.yaml", cwd=folder, check=False)
    assert done.returncode == code == contorno("run", "graph.yaml", "--output", "out", cwd=folder, check=False).returncode
    assert done.stderr.startswith("contorno: graph.yaml:1:35: ") and "the shapes are not known" in done.stderr
    assert "  - type: marching_squares\n" in done.stdout, "the graph is printed all the same"


@pytest.mark.parametrize("source", ["{type: video, location: none.mp4}", "{type: images, location: none}",
                                    "{type: images, location: \"none-*.png\"}", "{type: dataset, location: none.npy}",
                                    "{type: dataset, location: none.h5}", "{type: dataset, location: none.csv}"])
def test_check_of_any_source_that_is_missing_ends_with_66(contorno, folder, source):
    said = refused(contorno, folder, f"source: {source}\nclasses: [{{name: a}}]\nstages: [marching_squares, contour_assembly]\n",
                   code=66)
    assert "graph.yaml:1:" in said and "none" in said


def test_check_of_a_camera_that_is_not_there_is_a_note(contorno, folder):
    (folder / "graph.yaml").write_text("source: {type: video, location: \"rtsp://127.0.0.1:1/none\", timeout: 500}\n"
                                       "classes: [{name: a}]\nstages: [marching_squares, contour_assembly]\nsinks: []\n")
    assert "contorno: note: graph.yaml:1:33: " in contorno("check", "graph.yaml", cwd=folder).stderr


@pytest.mark.parametrize("mask", ["none.npy", "none.npz", "none.png", "none.jpg", "none"])
@pytest.mark.parametrize("stage", ["morphology, element: file", "morphology, element: file, operation: open"])
def test_a_mask_that_is_missing_is_a_missing_input(contorno, folder, stage, mask):
    said = refused(contorno, folder, f"source: {{type: test, frames: 1}}\nstages: [{{type: {stage}, file: {mask}}}]\n", code=66)
    assert "graph.yaml:2:" in said and mask in said
    cv2.imwrite(str(folder / "in.png"), np.zeros((4, 4), np.uint8))
    done = contorno("apply", "morphology", "in.png", "out.png", "--element", "file", "--file", mask, cwd=folder, check=False)
    assert done.returncode == 66, done.stderr


# ---- where paths of a graph lead

COLOURS = """source: {{type: {source}}}
classes: [{{name: white, references: ["#ffffff"]}}, {{name: rest, hidden: true, references: ["#000000"]}}]
stages: [classify, marching_squares, contour_assembly]
sinks: [{{type: jsonl, path: contours.jsonl}}]
"""


def test_paths_in_a_graph_are_relative_to_its_file_and_those_of_the_command_line_to_the_current_folder(contorno, folder):
    inner = folder / "inner"
    (inner / "shots").mkdir(parents=True)
    cv2.imwrite(str(inner / "shots" / "a.png"), np.zeros((8, 8, 3), np.uint8))
    np.save(inner / "element.npy", np.ones((3, 3), np.uint8))
    np.save(inner / "maps.npy", np.stack([blobs(24, 40, 2, frame) for frame in range(3)]))
    for source, frames in (("images, location: shots", 1), ("images, location: \"shots/*.png\"", 1),
                           ("images, location: ../inner/shots/a.png", 1)):
        (inner / "graph.yaml").write_text(COLOURS.format(source=source))
        contorno("run", "inner/graph.yaml", "--output", "out", "--quiet", cwd=folder)
        assert len(read_lines(folder / "out" / "contours.jsonl")) == frames, source
    (inner / "graph.yaml").write_text(MAPS.format(classes=classes_yaml(2)).replace(
        "stages: [", "stages: [{type: morphology, element: file, file: element.npy}, "))
    (folder / "maps.npy").unlink()
    assert "file: inner/element.npy" in contorno("check", "inner/graph.yaml", cwd=folder).stdout
    for location in (["--input", "maps.npy"], ["--set", "source.location=maps.npy"]):
        done = contorno("check", "inner/graph.yaml", *location, cwd=folder, check=False)
        assert done.returncode == 66 and "there is no dataset at 'maps.npy'" in done.stderr
        contorno("check", "inner/graph.yaml", location[0], location[1].replace("maps", "inner/maps"), cwd=folder)


def test_a_graph_from_a_pipe_is_read_and_its_paths_are_relative_to_the_current_folder(folder):
    for reader in ("check", "run --quiet --output out"):
        done = subprocess.run(["bash", "-c", f"exec '{PROGRAM}' {reader} <(sleep 0.2; cat graph.yaml)"], cwd=folder, text=True,
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
    assert len(read_lines(folder / "out" / "contours.jsonl")) == 3
    done = subprocess.run(["bash", "-c", f"exec '{PROGRAM}' check <(true)"], cwd=folder, text=True, capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 66 and "is a pipe that nobody writes to" in done.stderr, done.stderr


# ---- classes by colour need classify

@pytest.mark.parametrize("key", ["references: \"#{0}0{0}0{0}0\"", "ranges: {{hue: [{0}, 90]}}"])
@pytest.mark.parametrize("classes", [1, 2, 3, 4])
@pytest.mark.parametrize("command", [["check"], ["run", "--quiet"], ["gst"]])
def test_classes_by_colour_without_classify_are_an_error_that_says_so(contorno, folder, command, classes, key):
    listed = ", ".join(f"{{name: c{one}, {key.format(one)}}}" for one in range(classes))
    cv2.imwrite(str(folder / "a.png"), np.zeros((8, 8, 4), np.uint8))
    (folder / "graph.yaml").write_text(f"source: {{type: images, location: a.png}}\nclasses: [{listed}]\n"
                                       "stages: [marching_squares, contour_assembly]\nsinks: [{type: jsonl, path: c.jsonl}]\n")
    done = contorno(*command, "graph.yaml", cwd=folder, check=False)
    assert done.returncode == 78 and "graph.yaml:2:" in done.stderr and "classify is missing" in done.stderr, done.stderr
    assert not (folder / "c.jsonl").exists()


def test_classify_behind_what_takes_its_maps_is_an_error_that_says_so(contorno, folder):
    cv2.imwrite(str(folder / "a.png"), np.zeros((8, 8, 4), np.uint8))
    for before in ("", "preprocess, "):
        text = COLOURS.format(source="images, location: a.png").replace("stages: [classify, ", f"stages: [{before}") \
            .replace("contour_assembly]", "contour_assembly, classify]")
        said = refused(contorno, folder, text)
        assert "would take the channels of the frame for the maps" in said and "put classify before" in said, said


# ---- what may stand in the place of a graph

def test_a_graph_comes_from_standard_input(contorno, folder):
    text = (folder / "graph.yaml").read_text()
    contorno("run", "-", "--output", "out", "--report", "report.json", input=text, cwd=folder)
    assert len(read_lines(folder / "out" / "contours.jsonl")) == 3
    assert json.loads((folder / "out" / "report.json").read_text())["graph"]["text"] == text
    assert "layout: hwc" in contorno("check", "-", input=text, cwd=folder).stdout
    done = contorno("run", "-", input="source: {type: datset}\nsinks: []\n", check=False, cwd=folder)
    assert done.returncode == 78 and done.stderr.startswith("contorno: <stdin>:1:16: error: unknown source type 'datset'")


def same_when_run_again(contorno, folder, graph, results):
    """The graph that was written gives the same results."""
    before = {name: (folder / "out" / name).read_bytes() for name in results}
    contorno("run", graph, "--output", "again", "--quiet", cwd=folder)
    assert before == {name: (folder / "again" / name).read_bytes() for name in results}


def test_an_array_in_the_place_of_a_graph_gives_the_contours_of_its_classes(contorno, folder):
    done = contorno("run", "maps.npy", "--output", "out", cwd=folder)
    assert "maps.npy has maps of 40x24x2 float32 interleaved, read as hwc (2 classes); edit out/maps.yaml" in done.stderr
    lines = read_lines(folder / "out" / "contours.jsonl")
    assert [one["name"] for one in lines[0]["classes"]] == ["class0", "class1"]
    assert all(one["level"] == 0.5 and one["contours"] for one in lines[0]["classes"])
    assert len(list((folder / "out" / "svg").glob("*.svg"))) == 3
    same_when_run_again(contorno, folder, "out/maps.yaml", ["contours.jsonl"])


def test_classes_are_the_short_side_of_an_array(contorno, tmp_path):
    maps = blobs(24, 40, 2, 0)
    np.save(tmp_path / "hwc.npy", maps)
    np.save(tmp_path / "chw.npy", np.ascontiguousarray(maps.transpose(2, 0, 1)))
    np.save(tmp_path / "flat.npy", np.ascontiguousarray(maps[..., 0]))
    results = {}
    for name in ("hwc", "chw", "flat"):
        contorno("run", f"{name}.npy", "--output", name, "--quiet", cwd=tmp_path)
        results[name] = read_lines(tmp_path / name / "contours.jsonl")[0]["classes"]
    assert results["hwc"] == results["chw"] and len(results["hwc"]) == 2
    assert results["flat"] == results["hwc"][:1]


def test_a_folder_of_arrays_with_frames_is_drawn_on_them(contorno, tmp_path):
    for name in ("maps", "frames"):
        (tmp_path / "data" / name).mkdir(parents=True)
    np.save(tmp_path / "data" / "maps" / "0.npy", blobs(24, 40, 2, 0))
    cv2.imwrite(str(tmp_path / "data" / "frames" / "0.png"), np.full((48, 80, 3), 90, np.uint8))
    contorno("run", "data/", "--output", "out", cwd=tmp_path)
    assert (tmp_path / "out" / "data.yaml").exists()
    assert cv2.imread(str(tmp_path / "out" / "overlay" / "0.png")).shape == (48, 80, 3)


@pytest.fixture
def photo(tmp_path):
    picture = np.full((120, 160, 3), (60, 40, 30), np.uint8)
    cv2.circle(picture, (80, 60), 30, (90, 220, 240), -1)
    cv2.imwrite(str(tmp_path / "fruit.png"), picture)
    return tmp_path


def test_a_picture_in_the_place_of_a_graph_is_outlined(contorno, photo):
    done = contorno("run", "fruit.png", "--output", "out", cwd=photo)
    assert done.stderr.startswith("contorno: fruit.png is ") and "edit out/fruit.yaml" in done.stderr
    contours = [contour for one in read_lines(photo / "out" / "contours.jsonl")[0]["classes"] for contour in one["contours"]]
    assert any(abs(contour["area"] - np.pi * 30 ** 2) < 200 for contour in contours)
    assert cv2.imread(str(photo / "out" / "overlay" / "fruit.png")).shape == (120, 160, 3)
    same_when_run_again(contorno, photo, "out/fruit.yaml", ["contours.jsonl", "overlay/fruit.png"])


def test_a_graph_that_was_edited_is_never_written_over(contorno, photo):
    contorno("run", "fruit.png", "--output", "out", cwd=photo)
    made = (photo / "out" / "fruit.yaml").read_text()
    contorno("run", "fruit.png", "--output", "out", cwd=photo)
    assert [path.name for path in sorted((photo / "out").glob("*.yaml"))] == ["fruit.yaml"]
    (photo / "out" / "fruit.yaml").write_text(made + "# mine\n")
    done = contorno("run", "fruit.png", "--output", "out", cwd=photo)
    assert "edit out/fruit-2.yaml" in done.stderr
    assert (photo / "out" / "fruit.yaml").read_text() == made + "# mine\n"
    assert (photo / "out" / "fruit-2.yaml").read_text() == made


def test_a_video_in_the_place_of_a_graph_is_outlined(contorno, tmp_path):
    (tmp_path / "make.yaml").write_text("source: {type: test, pattern: ball, width: 160, height: 120, frames: 12}\n"
                                        "sinks: [{type: video, path: belt.webm}]\n")
    contorno("run", "make.yaml", "--output", tmp_path, cwd=tmp_path)
    done = contorno("run", "belt.webm", "--output", "out", cwd=tmp_path)
    assert done.stderr.startswith("contorno: belt.webm is a video") and "edit out/belt.yaml" in done.stderr
    lines = read_lines(tmp_path / "out" / "contours.jsonl")
    assert len(lines) == 12 and all(any(one["contours"] for one in line["classes"]) for line in lines)
    assert (tmp_path / "out" / "overlay.webm").stat().st_size > 500


def test_a_name_with_letters_of_a_pattern_is_a_name_where_there_is_such_a_file(contorno, tmp_path):
    (tmp_path / "make.yaml").write_text("source: {type: test, pattern: ball, width: 160, height: 120, frames: 5}\n"
                                        "sinks: [{type: video, path: belt.webm}]\n")
    contorno("run", "make.yaml", "--output", tmp_path, cwd=tmp_path)
    for name in ("film [1080p].webm", "is it?.webm", "a*b.webm"):
        (tmp_path / name).write_bytes((tmp_path / "belt.webm").read_bytes())
        contorno("run", name, "--output", "out", cwd=tmp_path)
        assert len(read_lines(tmp_path / "out" / "contours.jsonl")) == 5
        contorno("learn", name, "--classes", "a,b", "--output", "learned.yaml", "--force", cwd=tmp_path)


def test_what_is_neither_a_graph_nor_there_is_still_called_a_graph(contorno, tmp_path):
    done = contorno("run", "none.mp4", check=False, cwd=tmp_path)
    assert done.returncode == 66 and "'none.mp4' does not exist" in done.stderr
    (tmp_path / "notes.txt").write_text("just text")
    assert contorno("run", "notes.txt", check=False, cwd=tmp_path).returncode == 78


def test_whole_numbers_are_read_and_refused_as_in_graphs(contorno, folder):
    contorno("run", "graph.yaml", "--every", "2e0", "--output", "out", cwd=folder)
    assert [line["frame"] for line in read_lines(folder / "out" / "contours.jsonl")] == [0, 1]
    for flag, value, allowed in (("--every", "0", "at least 1"), ("--start", "-1", "at least 0"), ("--frames", "-1", "at least 0"),
                                 ("--frames", "many", "at least 0")):
        done = contorno("run", "graph.yaml", flag, value, check=False, cwd=folder)
        assert done.returncode == 2 and done.stderr == f"contorno: {flag} is {value}, allowed a whole number, {allowed}\n"


def test_what_is_misspelt_before_a_command_leads_on(contorno, folder):
    assert "did you mean '--version'?" in contorno("--verson", check=False).stderr
    assert "did you mean 'run'?" in contorno("rnu", "graph.yaml", check=False).stderr
    done = contorno("run", "graph.yaml", "--set", "clases.class0.level=0.2", check=False, cwd=folder)
    assert done.returncode == 78 and "did you mean 'classes.class0'?" in done.stderr
    done = contorno("run", "graph.yaml", "--set", "sorce.layout=hwc", check=False, cwd=folder)
    assert done.returncode == 78 and "did you mean 'source'?" in done.stderr


def test_a_member_of_an_archive_takes_the_place_of_a_graph(contorno, folder):
    maps = blobs(24, 40, 2, 0)
    np.savez(folder / "scan.npz", first=maps, second=maps[::-1])
    done = contorno("run", "scan.npz", check=False, cwd=folder)
    assert done.returncode != 0 and "scan.npz:first" in done.stderr
    contorno("run", "scan.npz:second", "--output", "out", cwd=folder)
    assert len(read_lines(folder / "out" / "contours.jsonl")) == 1 and (folder / "out" / "scan.yaml").is_file()


def test_arrays_of_hdf5_and_zarr_take_the_place_of_a_graph(contorno, folder):
    maps = np.stack([blobs(24, 40, 2, frame) for frame in range(3)])
    np.save(folder / "scan.npy", maps)
    contorno("run", "scan.npy", "--output", "npy", cwd=folder)
    expected = read_lines(folder / "npy" / "contours.jsonl")
    modules = LIBRARY.parent / "contorno"
    if (modules / "hdf5.so").exists():
        with pytest.importorskip("h5py").File(folder / "scan.h5", "w") as file:
            file["maps"] = maps
    if (modules / "zarr.so").exists():
        pytest.importorskip("zarr").save(str(folder / "scan.zarr"), maps)
    for number, location in enumerate(("scan.h5", "scan.h5:maps", "scan.zarr", "scan.zarr/")):
        if not (folder / location.split(":")[0]).exists():
            continue
        contorno("run", location, "--output", f"out{number}", cwd=folder)
        found = read_lines(folder / f"out{number}" / "contours.jsonl")
        assert [line["classes"] for line in found] == [line["classes"] for line in expected] and len(found) == 3
        contorno("record", location, f"recording{number}", "--set", "source.layout=hwc", cwd=folder)
        for frame, one in enumerate(maps):
            assert (np.load(folder / f"recording{number}" / "maps" / f"{frame:08}.npy") == one).all()


def test_an_array_of_float64_takes_the_place_of_a_graph(contorno, folder):
    maps = blobs(24, 40, 2, 0)
    for name, array in (("narrow", maps), ("wide", maps.astype(np.float64))):
        np.save(folder / f"{name}.npy", array)
        contorno("run", f"{name}.npy", "--output", name, cwd=folder)
    narrow, wide = ((folder / name / "contours.jsonl").read_text() for name in ("narrow", "wide"))
    assert narrow.replace("narrow", "wide") == wide and '"points"' in wide
