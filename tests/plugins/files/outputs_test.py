"""What becomes of files that are in the way of an output, of outputs that share a file, and of whoever does not take what is written."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import cv2
import numpy as np
import pytest
from tests.conftest import GEOJSON, JSONL, PROGRAM, blobs, maps_graph, read_lines
from tests.waiting import has_lines, wait_for


def write_graph(folder, sinks=JSONL, pipeline="on_full: wait", name="graph.yaml"):
    (folder / name).write_text(maps_graph(2, sinks, f"backend: cpu, threads: 1, slots: 2, {pipeline}"))


def run(folder, *arguments, **kwargs):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120, **kwargs)


def run_graph(folder, *arguments, output="out", **kwargs):
    return run(folder, "run", "graph.yaml", "--output", output, *arguments, **kwargs)


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_output_does_not_take_the_place_of_an_input(small):
    array = (small / "maps" / "0.npy").read_bytes()
    np.save(small / "map.npy", blobs(24, 40, 1, 0)[..., 0])
    one = (small / "map.npy").read_bytes()
    (small / "link.npy").symlink_to("map.npy")
    np.savez(small / "mask.npz", cross=np.ones((3, 3), np.uint8))
    (small / "mask.yaml").write_text("source: {type: synthetic, frames: 1}\nsinks: [{type: images, path: '{frame}.png'}]\n"
                                     "stages: [{type: morphology, element: file, file: 'mask.npz:cross'}]\n")
    cases = [
        (["find-contours", "map.npy", "--json", "map.npy"], "'map.npy': the array is read from it"),
        (["find-contours", "map.npy", "--json", "link.npy"], "'link.npy': it is a symbolic link"),
        (["apply", "morphology", "map.npy", "map.npy"], "'map.npy': IN is read from it"),
        (["apply", "preprocess", "map.npy", "./map.npy"], "'./map.npy': IN is read from it"),
        (["mean-shift", "map.npy", "map.npy"], "'map.npy': the array of points is read from it"),
        (["mean-shift", "map.npy", "a.npy", "--modes", "a.npy"], "'a.npy': LABELS and --modes both write it; give one of them another path"),
        (["run", "graph.yaml", "--output", ".", "--report", "graph.yaml"], "'./graph.yaml': the graph is read from it"),
        (["run", "graph.yaml", "--output", ".", "--trace", "maps/1.npy"],
         "'./maps/1.npy': a frame of the source is read from it"),
        (["run", "mask.yaml", "--output", ".", "--report", "mask.npz"],
         "'./mask.npz': a mask of the stage 'morphology' is read from it"),
        (["run", "graph.yaml", "--output", "out", "--report", "r.json", "--trace", "r.json"],
         "'out/r.json': --report and --trace both write it; give one of them another path"),
        (["run", "graph.yaml", "--output", "out", "--report", "contours.jsonl"],
         f"'{small}/out/contours.jsonl': --report and the sink 'jsonl' both write it; give one of them another path"),
    ]
    graph = (small / "graph.yaml").read_text()
    for command, said in cases:
        done = run(small, *command)
        assert done.returncode == 73, (command, done.stderr)
        assert done.stderr == f"contorno: cannot create {said}\n", command
    assert (small / "maps" / "0.npy").read_bytes() == array and (small / "map.npy").read_bytes() == one
    assert (small / "graph.yaml").read_text() == graph
    assert not list(small.rglob("*.part*")) and not (small / "a.npy").exists()


@pytest.mark.parametrize("command", [
    ["run", "graph.yaml", "--output", "out", "--report", "../{link}"], ["run", "graph.yaml", "--output", "out", "--trace", "../{link}"],
    ["replay", "graph.yaml", "--expect", "golden", "--report", "{link}"], ["replay", "graph.yaml", "--expect", "golden", "--html", "{link}"],
    ["latency", "graph.yaml", "--report", "{link}"], ["latency", "graph.yaml", "--trace", "{link}"],
    ["find-contours", "map.npy", "--json", "{link}"], ["explain", "map.npy", "--at", "3,3", "--json", "{link}"],
    ["check", "graph.yaml", "--svg", "{link}"], ["check", "graph.yaml", "--dot", "{link}"],
    ["mean-shift", "map.npy", "{link}"], ["mean-shift", "map.npy", "labels.npy", "--modes", "{link}"],
    ["clean", "golden.jsonl", "{link}.jsonl", "--step", "drop_small"], ["clean", "golden.jsonl", "{link}.geojson", "--step", "drop_small"],
    ["apply", "drop_small", "golden.jsonl", "{link}.jsonl"], ["apply", "preprocess", "map.npy", "{link}.npy"],
])
@pytest.mark.parametrize("target", ["victim", "nothing"])
def test_a_link_is_refused_wherever_a_command_writes(small, command, target):
    np.save(small / "map.npy", blobs(24, 40, 1, 0)[..., 0])
    assert run(small, "replay", "graph.yaml", "--record", "golden", "--quiet").returncode == 0
    [first, *_] = sorted((small / "golden" / "frames").iterdir())
    shutil.copy(first, small / "golden.jsonl")
    (small / "victim").write_text("as it was")
    for name in ("link", "link.jsonl", "link.geojson", "link.npy"):
        (small / name).symlink_to(target)
    done = run(small, *(word.format(link="link") for word in command))
    assert done.returncode in (73, 78) and "is a symbolic link" in done.stderr, done.stderr
    assert (small / "victim").read_text() == "as it was" and not (small / "nothing").exists()
    assert (small / "link").is_symlink()


def test_a_link_to_a_pipe_a_device_or_standard_output_is_written_to(small):
    script = ('"$0" run graph.yaml --output out --quiet --report >(cat > taken; echo > ready); '
              'while [ ! -e ready ]; do sleep 0.05; done; '
              '"$0" run graph.yaml --output out --quiet --report /dev/stdout > whole; '
              '"$0" run graph.yaml --output out --quiet --report "$PWD/null"')
    (small / "null").symlink_to("/dev/null")
    (small / "whole").write_text("before")
    done = subprocess.run(["bash", "-ec", script, PROGRAM], cwd=small, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for name in ("taken", "whole"):
        assert json.loads((small / name).read_text())["frames"]["out"] == 3


def test_two_sinks_do_not_share_a_file(small):
    write_graph(small, "  - {type: coco, path: a.json}\n  - {name: second, type: geojson, path: ./a.json}\n")
    (small / "out").mkdir()
    (small / "out" / "a.json").write_text("of an earlier run")
    done = run_graph(small)
    assert done.returncode == 73
    assert done.stderr == (f"contorno: cannot create '{small}/out/a.json': the sink 'coco' and the sink 'second' both write it; "
                           "give one of them another path\n")
    assert files_in(small / "out") == ["a.json"]
    assert (small / "out" / "a.json").read_text() == "of an earlier run"


def test_a_drawing_does_not_take_the_place_of_the_graph_or_of_another(small):
    text = (small / "graph.yaml").read_text()
    for arguments, other in ([["--svg", "./graph.yaml"], "the graph"], [["--dot", "a.svg", "--svg", "./a.svg"], "--dot"]):
        done = run(small, "check", "graph.yaml", *arguments)
        assert done.returncode == 73 and other in done.stderr, done.stderr
        assert (small / "graph.yaml").read_text() == text
    assert run(small, "check", "graph.yaml", "--svg", "a.svg").returncode == 0
    assert "<svg" in (small / "a.svg").read_text()


def test_maps_of_one_name_get_files_of_their_own(small):
    write_graph(small, "  - {type: svg, path: \"svg/{name}.svg\"}\n")
    text = (small / "graph.yaml").read_text().replace("layout: hwc", "layout: hwc, repeat: 2")
    (small / "graph.yaml").write_text(text)
    done = run_graph(small)
    assert done.returncode == 0, done.stderr
    assert files_in(small / "out") == ["svg/0-2.svg", "svg/0.svg", "svg/1-2.svg", "svg/1.svg", "svg/2-2.svg", "svg/2.svg"]
    assert "6 files" in done.stdout and "3 numbered, since frames had the same name" in done.stdout


def test_names_of_pictures_are_refused_in_their_own_folder(tmp_path):
    cv2 = pytest.importorskip("cv2")
    (tmp_path / "shots").mkdir()
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(tmp_path / "shots" / name), np.full((20, 30, 3), 90, np.uint8))
    before = {name: (tmp_path / "shots" / name).read_bytes() for name in ("a.png", "b.png")}
    (tmp_path / "graph.yaml").write_text("""
source: {type: images, location: shots}
classes: [{name: a, level: 0.5, colour: "#ff0000"}]
stages: [{type: preprocess}]
sinks: [{type: images, path: "{name}.png"}]
""")
    done = run_graph(tmp_path, output="shots")
    assert done.returncode == 73, done.stderr
    assert done.stderr.endswith(f"cannot create '{tmp_path}/shots/a.png': a frame of the source is read from it\n")
    assert {name: (tmp_path / "shots" / name).read_bytes() for name in files_in(tmp_path / "shots")} == before


def test_what_was_there_before_is_named_in_one_line(small):
    write_graph(small, JSONL + "  - {type: svg, path: \"svg/{frame}.svg\"}\n")
    first = run_graph(small)
    assert first.returncode == 0 and first.stderr == ""
    again = run_graph(small)
    assert again.stderr == (f"contorno: replaced 4 files that were there before, the first '{small}/out/contours.jsonl'\n")
    assert run_graph(small, "--quiet").stderr == ""
    np.save(small / "map.npy", blobs(24, 40, 1, 0)[..., 0])
    command = ["find-contours", "map.npy", "--json", "found.json"]
    assert run(small, *command).stderr == ""
    assert run(small, *command).stderr == "contorno: replaced 'found.json', which was there before\n"


def test_the_report_lies_in_the_output_folder_and_is_begun_before_the_work(small):
    done = run_graph(small, "--report", "new/report.json", "--trace", "trace.json")
    assert done.returncode == 0, done.stderr
    assert files_in(small / "out") == ["contours.jsonl", "new/report.json", "trace.json"]
    assert json.loads((small / "out" / "new" / "report.json").read_text())["frames"]["out"] == 3
    json.loads((small / "out" / "trace.json").read_text())
    # What cannot be is said before the first frame.
    (small / "file").write_text("x")
    done = run_graph(small, "--report", "../file/report.json", output="other")
    assert done.returncode == 73
    assert done.stderr == "contorno: cannot create 'other/../file/report.json': Not a directory\n"
    assert files_in(small / "other") == []
    assert run(small, "run", "graph.yaml", "--output", "out", "--quiet", "--report", "-").stdout.startswith("{\n")


def test_an_output_folder_that_cannot_be_is_named(small):
    (small / "file").write_text("x")
    done = run_graph(small, output="file")
    assert done.returncode == 73
    assert done.stderr == "contorno: cannot create the output folder 'file': there is a file of this name\n"
    (small / "gone").mkdir()
    script = f'cd gone && rmdir ../gone && exec "{PROGRAM}" run "{small}/graph.yaml" --input "{small}/maps" --output "$0"'
    for output in (".", "out"):
        done = subprocess.run(["sh", "-c", script, output], cwd=small, capture_output=True, text=True, timeout=60)
        assert done.returncode == 73, done.stderr
        assert re.search(f"cannot create (the output folder )?'{output}': No such file or directory\n", done.stderr), done.stderr
        (small / "gone").mkdir()


def endless(small, sinks=JSONL, pipeline="on_full: wait"):
    """A graph whose frames never end, 100 a second."""
    write_graph(small, sinks, pipeline)
    text = (small / "graph.yaml").read_text().replace("layout: hwc", "layout: hwc, loop: true, live: true, rate: 100")
    (small / "graph.yaml").write_text(text)


def heed_signals():
    """Tests that run in the background or under nohup have some signals ignored, and the program would respect that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def start(small, *arguments, output="out"):
    return subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", output, "--quiet", *arguments], cwd=small,
                            stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)


def test_a_second_run_into_the_same_files_is_refused_while_the_first_goes_on(small):
    endless(small, JSONL + "  - {type: svg, path: \"{name}.svg\"}\n")
    first = start(small)
    try:
        wait_for(has_lines(small / "out" / "contours.jsonl"))
        inode = (small / "out" / "contours.jsonl").stat().st_ino
        second = run_graph(small, "--frames", 2)
        assert second.returncode == 73
        path = f"{small}/out/contours.jsonl"
        assert second.stderr == f"contorno: cannot create '{path}': it is being written by another run (into '{path}')\n"
        write_graph(small, "  - {type: svg, path: \"{name}.svg\"}\n")
        third = run_graph(small)
        assert third.returncode == 73
        assert "{name}.svg': it is being written by another run" in third.stderr
        assert run_graph(small, output="elsewhere").returncode == 0
        assert (small / "out" / "contours.jsonl").stat().st_ino == inode
    finally:
        first.send_signal(signal.SIGTERM)
    assert first.wait(timeout=300) == 143
    assert not list((small / "out").glob("*.part*"))
    frames = [line["frame"] for line in read_lines(small / "out" / "contours.jsonl")]
    assert frames == list(range(len(frames)))


def test_the_next_run_clears_away_what_a_killed_one_left(small):
    endless(small, GEOJSON + "  - {type: svg, path: \"{frame}.svg\"}\n")
    process = start(small, "--report", "report.json")
    wait_for(lambda: list((small / "out").glob("*.svg")))
    process.kill()
    process.wait()
    left = sorted(path.name for path in (small / "out").glob("*.part*"))
    assert [name.split(".part")[0] for name in left][:2] == ["contours.geojson", "report.json"] or len(left) >= 3
    done = run_graph(small, "--report", "report.json", "--frames", 3, "--quiet")
    assert done.returncode == 0, done.stderr
    assert not list((small / "out").glob("*.part*"))
    told = sorted(line for line in done.stderr.splitlines())
    assert len(told) == len(left)
    for line in told:
        assert line.startswith("contorno: removing '") and line.endswith("', which a run that was killed had not finished")
    json.loads((small / "out" / "contours.geojson").read_text())


def test_half_a_recording_is_kept_under_a_name_of_its_own(tmp_path):
    (tmp_path / "graph.yaml").write_text("""
pipeline: {backend: cpu, threads: 1}
source: {type: test, width: 64, height: 48, frames: 3}
classes: [{name: a, level: 0.5, colour: "#ff0000"}]
stages: [{type: preprocess}]
sinks: [{type: video, path: a.mkv}]
""")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.mkv.part77-0").write_bytes(b"half a recording")
    for name in ("a.unfinished.mkv", "a.unfinished-2.mkv"):
        done = run_graph(tmp_path, "--quiet")
        assert done.returncode == 0
        part = tmp_path / "out" / "a.mkv.part77-0"
        assert done.stderr == (f"contorno: keeping '{part}', which a run that was killed had recorded, as "
                               f"'{tmp_path}/out/{name}'\n")
        assert (tmp_path / "out" / name).read_bytes() == b"half a recording"
        part.write_bytes(b"half a recording")


def test_a_limit_of_file_sizes_ends_with_74_and_whole_lines(small):
    limit = 20_000
    done = run_graph(small, "--quiet", "--set", "source.repeat=50",
                     preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_DFL),
                                         resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
    assert done.returncode == 74, (done.returncode, done.stderr)
    assert "File too large" in done.stderr
    text = (small / "out" / "contours.jsonl").read_bytes()
    assert 0 < len(text) <= limit and text.endswith(b"\n")
    assert [line["frame"] for line in read_lines(small / "out" / "contours.jsonl")] == list(range(text.count(b"\n")))


def test_a_deleted_output_folder_is_an_error_for_lines_too(small):
    endless(small)
    process = start(small)
    wait_for(has_lines(small / "out" / "contours.jsonl"))
    (small / "out" / "contours.jsonl").unlink()
    (small / "out").rmdir()
    assert process.wait(timeout=300) == 74  # soon, not at the end that never comes
    assert process.stderr.read() == (f"contorno: sink 'jsonl': '{small}/out/contours.jsonl' was deleted while it was "
                                     "written\n")


@pytest.mark.parametrize("number, code", [(signal.SIGHUP, 129), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_drain_what_is_under_way(small, number, code):
    endless(small, JSONL + GEOJSON)
    process = start(small, "--report", "report.json")
    wait_for(has_lines(small / "out" / "contours.jsonl"))
    process.send_signal(number)
    assert process.wait(timeout=300) == code, process.stderr.read()
    frames = json.loads((small / "out" / "report.json").read_text())["frames"]
    assert frames["out"] == len(read_lines(small / "out" / "contours.jsonl")) > 0
    json.loads((small / "out" / "contours.geojson").read_text())


def test_a_folder_that_vanishes_while_it_is_played_for_ever_ends_the_run(small):
    shots = small / "shots"
    shots.mkdir()
    for index in range(3):
        cv2.imwrite(str(shots / f"{index}.png"), np.full((24, 40, 3), 100 * index, np.uint8))
    (small / "graph.yaml").write_text(
        "source: {type: images, location: shots, loop: true}\nclasses: [{name: light, references: ['#ffffff']}]\n"
        "stages: [{type: classify}, {type: marching_squares}, {type: contour_assembly}]\n"
        "sinks: [{type: jsonl, path: contours.jsonl}]\n")
    process = start(small, "--report", "report.json")
    wait_for(has_lines(small / "out" / "contours.jsonl"))
    shutil.rmtree(shots)
    assert process.wait(timeout=300) == 3
    said = process.stderr.read()
    report = json.loads((small / "out" / "report.json").read_text())
    assert report["frames"]["failed"] == 1000
    assert report["frames"]["out"] == len(read_lines(small / "out" / "contours.jsonl")) > 0
    (fault,) = report["source_faults"]
    assert re.fullmatch(r"the run ended early: the source's last 1000 frames failed one after the other, the last with: "
                        r"cannot read 'shots/[012]\.png': No such file or directory", fault["reason"])
    assert fault["reason"] in said


def test_a_run_that_ignores_hangups_goes_on(small):
    endless(small)
    process = subprocess.Popen([PROGRAM, "run", "graph.yaml", "--output", "out", "--quiet"], cwd=small,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(has_lines(small / "out" / "contours.jsonl"))
    process.send_signal(signal.SIGHUP)
    size = (small / "out" / "contours.jsonl").stat().st_size
    wait_for(lambda: (small / "out" / "contours.jsonl").stat().st_size > size + 20_000)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 143


def test_a_pipe_without_a_reader_is_waited_for_until_the_first_signal(small):
    endless(small)
    (small / "out").mkdir()
    os.mkfifo(small / "out" / "contours.jsonl")
    process = start(small, "--report", "report.json", "--set", "pipeline.sink_timeout=0")
    wait_for(lambda: list((small / "out").glob("report.json.part*")))
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130
    said = process.stderr.read()
    assert f"cannot create '{small}/out/contours.jsonl': nobody has opened the pipe for reading when the run was to end" in said


def test_a_pipe_without_a_reader_ends_the_run_after_the_timeout(small):
    (small / "out").mkdir()
    os.mkfifo(small / "out" / "contours.jsonl")
    done = run_graph(small, "--set", "pipeline.sink_timeout=300")
    assert done.returncode == 73
    assert done.stderr == (f"contorno: cannot create '{small}/out/contours.jsonl': nobody has opened the pipe for reading "
                           "for 0.3 s (sink_timeout)\n")


def test_a_stalled_sink_is_left_and_the_others_go_on(small):
    write_graph(small, JSONL + "  - {name: lines, type: jsonl, path: all.jsonl}\n", "sink_timeout: 500")
    (small / "out").mkdir()
    pipe = small / "out" / "contours.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # takes nothing
    try:
        done = run_graph(small, "--quiet", "--set", "source.repeat=50")
    finally:
        os.close(reader)
    assert done.returncode == 74
    assert done.stderr == (f"contorno: sink 'jsonl': cannot write '{pipe}': nobody took what was written for 0.5 s "
                           "(sink_timeout)\n")
    assert [line["frame"] for line in read_lines(small / "out" / "all.jsonl")] == list(range(150))


def test_a_video_into_a_pipe_that_nobody_empties_is_left(tmp_path):
    (tmp_path / "graph.yaml").write_text("""
pipeline: {backend: cpu, threads: 1, sink_timeout: 1000}
source: {type: test, width: 320, height: 240, frames: 200}
classes: [{name: a, level: 0.5, colour: "#ff0000"}]
stages: [{type: preprocess}]
sinks:
  - {type: video, path: a.mkv}
  - {type: images, path: "{frame}.png", every: 50}
""")
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "a.mkv")
    reader = os.open(tmp_path / "out" / "a.mkv", os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = run_graph(tmp_path, "--quiet")
    finally:
        os.close(reader)
    assert done.returncode == 74, done.stderr
    assert "sink 'video'" in done.stderr
    assert files_in(tmp_path / "out") == ["0.png", "100.png", "150.png", "50.png"]
