"""`contorno replay --record` into a folder that has a record already, and options that have no effect."""
import os
import shutil

import pytest

from tests.tools import replay_test
from tests.tools.replay_test import FRAMES, content, graph_text

folder = replay_test.folder


def times(record):
    return {path.name: path.stat().st_mtime_ns for path in (record / "frames").iterdir()}


def record(contorno, folder, *options, code=0, name="golden"):
    done = contorno("replay", "graph.yaml", "--record", name, *options, cwd=folder, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def test_a_record_is_not_written_over_unless_that_is_said(contorno, folder):
    record(contorno, folder)
    before = times(folder / "golden")
    said = record(contorno, folder, code=73).stderr
    assert f"'golden' has results of an earlier run, of {FRAMES} of the frames that this one takes" in said
    assert "--resume goes on with it, --overwrite makes them anew" in said
    assert times(folder / "golden") == before
    assert "0 frames recorded" in record(contorno, folder, "--resume").stdout and times(folder / "golden") == before
    assert f"{FRAMES} frames recorded" in record(contorno, folder, "--overwrite").stdout
    assert all(time > before[name] for name, time in times(folder / "golden").items())
    said = record(contorno, folder, "--overwrite", "--resume", code=2).stderr
    assert "give one of them" in said


def test_what_the_dataset_no_longer_has_goes_when_a_record_is_made_anew(contorno, folder):
    record(contorno, folder)
    (folder / "maps" / f"{FRAMES - 1:03}.npy").unlink()
    record(contorno, folder, "--overwrite")
    assert sorted(int(name[:8]) for name in content(folder / "golden")) == list(range(FRAMES - 1))
    # A part takes away what is its own.
    (folder / "golden" / "frames" / "00000021.failed").write_text("another part's\n")
    record(contorno, folder, "--overwrite", "--shard", "0/2")
    assert sorted(int(name[:8]) for name in content(folder / "golden")) == [*range(FRAMES - 1), 21]


def test_parts_share_a_folder_and_only_their_own_frames_are_theirs(contorno, folder):
    record(contorno, folder)
    for part in (0, 1):
        record(contorno, folder, "--shard", f"{part}/2", name="parts")
    assert content(folder / "parts") == content(folder / "golden")
    assert (folder / "parts" / "made_with.yaml").read_bytes() == (folder / "golden" / "made_with.yaml").read_bytes()
    said = record(contorno, folder, "--shard", "1/2", name="parts", code=73).stderr
    assert "of 3 of the frames that this one takes" in said


@pytest.mark.parametrize("change, said", [
    (("min_points: 8", "min_points: 9"), "contour_assembly had 'min_points: 8', and has 'min_points: 9' now"),
    (("level: 0.5", "level: 0.6"), "a had 'level: 0.5', and has 'level: 0.6' now"),
    (("location: maps", "location: other"), 'source had \'location: "../maps"\', and has \'location: "../other"\' now'),
    (("layout: hwc", "layout: hwc, every: 2"), "source had 'every: 1', and has 'every: 2' now"),
    (("min_points: 8}", "min_points: 8}\n  - {type: simplify, tolerance: 2}"),
     "recorded had 'recorded: [contour_assembly.contours]', and has 'recorded: [simplify.contours]' now"),
])
def test_a_record_is_gone_on_with_by_the_graph_that_began_it(contorno, folder, change, said):
    record(contorno, folder, "--stop", 3)
    kept = content(folder / "golden")
    shutil.copytree(folder / "maps", folder / "other")
    old, new = change
    assert old in graph_text()
    (folder / "graph.yaml").write_text(graph_text().replace(old, new))
    done = record(contorno, folder, "--resume", code=73)
    assert "'golden' was recorded with another graph or dataset, as 'golden/made_with.yaml' says: " in done.stderr
    assert said in done.stderr, done.stderr
    # Nor does another part of the dataset go beside it, and nothing was changed.
    record(contorno, folder, "--start", 3, code=73)
    assert content(folder / "golden") == kept
    record(contorno, folder, "--overwrite")
    assert len(content(folder / "golden")) > 3 and content(folder / "golden") != kept
    assert "0 frames recorded" in record(contorno, folder, "--resume").stdout


def test_what_changes_no_result_does_not_keep_a_record_from_going_on(contorno, folder):
    record(contorno, folder, "--stop", 3)
    text = graph_text(slots=2, threads=1).replace("unused.jsonl", "elsewhere.jsonl")
    (folder / "graph.yaml").write_text("# a comment\n" + text.replace("location: maps", f"location: {folder / 'maps'}"))
    assert f"{FRAMES - 3} frames recorded" in record(contorno, folder, "--resume").stdout
    # Also where all of it was moved.
    moved = folder.parent / (folder.name + "-moved")
    os.rename(folder, moved)
    (moved / "graph.yaml").write_text(graph_text())
    assert "0 frames recorded" in record(contorno, moved, "--resume").stdout


def test_a_part_that_is_there_already_is_left_as_it_is_though_the_dataset_has_more(contorno, folder):
    record(contorno, folder, "--stop", 3)
    before = times(folder / "golden")
    assert "0 frames recorded" in record(contorno, folder, "--stop", 3, "--resume").stdout
    assert times(folder / "golden") == before and len(before) < FRAMES


def test_a_record_that_does_not_say_what_made_it_is_gone_on_with(contorno, folder):
    record(contorno, folder, "--stop", 3)
    (folder / "golden" / "made_with.yaml").unlink()
    (folder / "graph.yaml").write_text(graph_text(level=0.6))
    assert f"{FRAMES - 3} frames recorded" in record(contorno, folder, "--resume").stdout
    assert not (folder / "golden" / "made_with.yaml").exists()  # nobody knows about all of it


@pytest.mark.parametrize("arguments, said", [
    (["--record", "a", "--tolerance", "1"], "--tolerance goes with --expect"),
    (["--record", "a", "--keep", "k"], "--keep goes with --expect"),
    (["--record", "a", "--worst", "3"], "--worst goes with --expect or --html"),
    (["--expect", "b", "--overwrite"], "--overwrite goes with --record"),
    (["--expect", "b", "--resume"], "--resume goes with --record"),
    (["--record", "a", "--first-label", "2"], "--first-label goes with a dataset that has truth"),
    (["--expect", "b", "--unjudged-label", "2"], "--unjudged-label goes with a dataset that has truth"),
    (["--record", "a", "--assert", "iou>0.5"], "--assert goes with a dataset that has truth"),
])
def test_options_without_effect_are_refused(contorno, folder, arguments, said):
    (folder / "b" / "frames").mkdir(parents=True)
    done = contorno("replay", "graph.yaml", *arguments, cwd=folder, check=False)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert not (folder / "a").exists()


@pytest.mark.parametrize("options", [(), ("--overwrite",), ("--resume",)])
def test_frames_that_were_recorded_are_never_results(contorno, folder, options):
    contorno("record", "graph.yaml", "golden", "--frames", 3, cwd=folder)
    (folder / "golden" / "frames").mkdir(exist_ok=True)
    for name in ("00000001.png", "00000002.npy", "7.picture.jpg"):
        (folder / "golden" / "frames" / name).write_bytes(b"of the user")
    before = {path: path.read_bytes() for path in (folder / "golden").rglob("*") if path.is_file()}
    said = record(contorno, folder, *options, code=65).stderr
    assert "no file of a record" in said and "golden/frames/" in said
    assert {path: path.read_bytes() for path in (folder / "golden").rglob("*") if path.is_file()} == before


def test_what_overwrite_removes_is_named_before_and_is_what_the_record_lists(contorno, folder):
    record(contorno, folder)
    said = record(contorno, folder, "--overwrite").stderr
    assert (f"--overwrite removes {FRAMES} results of {FRAMES} frames from 'golden/frames', '00000000.contour_assembly.contours.jsonl' "
            f"to '{FRAMES - 1:08}.contour_assembly.contours.jsonl'") in said
    # Of another graph, which the record lists: they go with it.
    (folder / "graph.yaml").write_text(graph_text().replace("8}", "8}\n  - {type: simplify, tolerance: 2}"))
    record(contorno, folder, "--overwrite")
    assert {name.split(".", 1)[1] for name in content(folder / "golden")} == {"simplify.contours.jsonl"}
    # Of something that nobody lists: they stay, and so does all else.
    other = folder / "golden" / "frames" / "00000003.another.contours.jsonl"
    other.write_text("{}")
    before = content(folder / "golden")
    said = record(contorno, folder, "--overwrite", code=73).stderr
    assert "00000003.another.contours.jsonl' is not removed: neither the graph nor 'golden/made_with.yaml' says that" in said
    assert content(folder / "golden") == before


@pytest.mark.parametrize("place", ["made_with.yaml", "frames/00000001.contour_assembly.contours.jsonl"])
def test_a_pipe_in_a_record_is_refused_and_not_waited_for(contorno, folder, place):
    record(contorno, folder)
    (folder / "golden" / place).unlink()
    os.mkfifo(folder / "golden" / place)
    done = contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder, check=False)
    assert done.returncode == 65 and f"'golden/{place}' is not a regular file" in done.stderr


def test_nothing_is_removed_or_written_by_a_link(contorno, folder):
    record(contorno, folder)
    (folder / "elsewhere").mkdir()
    (folder / "golden" / "frames").rename(folder / "elsewhere" / "frames")
    (folder / "golden" / "frames").symlink_to(folder / "elsewhere" / "frames")
    before = content(folder / "elsewhere")
    for option in ("--overwrite", "--resume"):
        assert "'golden/frames' is a symbolic link" in record(contorno, folder, option, code=73).stderr
    assert content(folder / "elsewhere") == before
    assert contorno("replay", "graph.yaml", "--expect", "golden", cwd=folder).returncode == 0  # reading is another thing
