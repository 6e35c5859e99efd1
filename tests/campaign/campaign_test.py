"""A quick part of each campaign of faults, and the rules by which campaigns judge. The whole of them:
tests/campaign/run."""
import importlib.machinery
import importlib.util
import json
import random
import re
import subprocess

import pytest
from PIL import Image
from tests.campaign.campaigns import CAMPAIGNS
from tests.campaign.pictures import DAMAGES, cut_with_end, verdict, whole_pictures
from tests.campaign.readers import Reader
from tests.campaign.sweep import KNOWN, known_outcomes
from tests.campaign.trial import ALLOWED_CODES, Trial, bounded, why_not_whole
from tests.conftest import ROOT


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_quick_part_of_a_campaign_breaks_no_rule(tmp_path, name):
    # In a process of its own: the memory that is counted for a child begins with its parent's.
    done = subprocess.run(["/usr/bin/python3", ROOT / "tests" / "campaign" / "run", name, "--quick", "--keep", tmp_path],
                          capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    cases, violations = re.search(rf"^{name} +(\d+) +\d+ +(\d+) ", done.stdout, re.M).groups()
    assert int(cases) > 5 and int(violations) == 0


def shell(trial, script, **kwargs):
    """A run of a shell in the program's place."""
    return trial.run(prefix=("sh", "-c", script), **kwargs)


@pytest.mark.parametrize("script, why", [
    ("kill -SEGV $$", "ended by signal SIGSEGV"), ("echo no >&2; exit 1", "exit code 1"),
    ("echo no >&2; exit 70", "exit code 70"),
    ("exit 66", "exit code 66 without a word"), ("sleep 99", "hung: more than 0.3 s"),
    ("i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done", "s of the processor, allowed 0.02"),
    ("echo this is a bug in contorno >&2; exit 65", "said that it has a bug"),
    ("python3 -c 'b = bytearray(60 << 20)'", "MiB, allowed 16")],
    ids=["signal", "code", "internal", "silent", "hung", "slow", "bug", "memory"])
def test_what_breaks_a_rule_is_kept_with_its_reason_and_its_command(tmp_path, script, why):
    folder = tmp_path / "case"
    folder.mkdir()
    trial = Trial(folder, "seed")
    shell(trial, script, most_memory=16 << 20, seconds=0.02 if "while" in script else 15, patience=0.3 if "sleep" in script else 300)
    assert any(why in fault for fault in trial.faults), trial.faults
    trial.close()
    assert why in (folder / "why.txt").read_text()
    assert script.split()[0] in (folder / "repeat").read_text()


def test_what_keeps_the_rules_leaves_nothing(tmp_path):
    folder = tmp_path / "case"
    folder.mkdir()
    trial = Trial(folder, "seed")
    done = shell(trial, "echo all is well")
    trial.close()
    assert (done.code, done.out, trial.faults) == (0, "all is well\n", [])
    assert not folder.exists()


def test_the_same_seed_gives_the_same_case(tmp_path):
    assert Trial(tmp_path, "1/pictures/0005").random.random() == Trial(tmp_path, "1/pictures/0005").random.random()
    assert Trial(tmp_path, "1/pictures/0005").random.random() != Trial(tmp_path, "2/pictures/0005").random.random()


def test_exit_codes_are_those_of_the_program_and_of_signals():
    assert {0, 2, 3, 65, 66, 71, 74, 78, 129, 130, 143} <= ALLOWED_CODES
    assert not {1, 134, 139} & ALLOWED_CODES


@pytest.mark.parametrize("name, whole, broken", [
    ("a.jsonl", b'{"a":1}\n{"a":2}\n', b'{"a":1}\n{"a":'), ("a.jsonl", b"", b'{"a":1}'), ("a.json", b"[1]", b"[1"),
    ("a.svg", b"<svg/>", b"<svg>")])
def test_a_file_that_is_not_whole_is_seen(tmp_path, name, whole, broken):
    (tmp_path / name).write_bytes(whole)
    assert why_not_whole(tmp_path / name) is None
    (tmp_path / name).write_bytes(broken)
    assert why_not_whole(tmp_path / name) is not None


@pytest.fixture(scope="module")
def reader():
    reader = Reader()
    yield reader
    reader.close()


@pytest.mark.parametrize("name", whole_pictures())
def test_other_decoders_take_whole_pictures_and_not_those_that_end_early(tmp_path, reader, name):
    whole = whole_pictures()[name]
    (tmp_path / name).write_bytes(whole)
    assert verdict(tmp_path / name, reader) is None
    (tmp_path / name).write_bytes(cut_with_end(whole, random.Random(5)))
    assert verdict(tmp_path / name, reader) is not None


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damage_changes_every_picture_and_is_the_same_for_the_same_seed(kind):
    for name, whole in whole_pictures().items():
        damaged = DAMAGES[kind](whole, random.Random(5))
        assert damaged != whole, name
        assert damaged == DAMAGES[kind](whole, random.Random(5)), name


def test_a_reader_outlives_what_it_cannot_read(tmp_path, reader):
    (tmp_path / "a.mkv").write_bytes(b"no video")
    assert reader.ask("video", tmp_path / "a.mkv")["opens"] is False
    reader._process.kill()
    assert reader.ask("video", tmp_path / "a.mkv") is None
    assert reader.ask("video", tmp_path / "a.mkv")["frames"] == 0


def test_the_sweep_tells_what_is_different_and_its_list_has_reasons(tmp_path, reader):
    for name, shade, size in (("a.png", 40, (30, 20)), ("other.png", 90, (30, 20)), ("small.png", 40, (15, 10))):
        Image.new("RGB", size, (shade, 80, 120)).save(tmp_path / name)
    (tmp_path / "none.png").write_bytes(b"none")

    def outcome(name, first, frames=1):
        asked = {"file": str(tmp_path / name), "first": first and str(tmp_path / first), "frames": frames}
        return reader.ask("compare", json.dumps(asked))["outcome"]
    assert outcome("a.png", "a.png") == "agrees" and outcome("none.png", None) == "refused by all"
    assert outcome("a.png", None) == "refused, read by Pillow OpenCV ffmpeg" and outcome("none.png", "a.png") == "read alone"
    assert outcome("a.png", "other.png") == "other colours" and outcome("a.png", "small.png") == "another size"
    assert known_outcomes("# outcome\nagrees\ta/b.png\twhy\n") == {"a/b.png": "agrees"}
    assert len(known_outcomes(KNOWN.read_text())) > 20
    with pytest.raises(AssertionError):
        known_outcomes("agrees\ta.png\t\n")


def test_a_kill_is_no_fault(tmp_path):
    done = bounded(["sleep", "99"], tmp_path, kill_after=0.1)
    assert done.code == -9 and not done.hung


@pytest.fixture(scope="module")
def soak():
    """The script, as a module."""
    loader = importlib.machinery.SourceFileLoader("soak", str(ROOT / "tests" / "campaign" / "soak"))
    spec = importlib.util.spec_from_loader("soak", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


MEBIBYTE = 1 << 20
WHOLE = {"frames": {"offered": 400, "delivered": 399, "dropped": {"total": 1}, "failed": 0, "in_flight": 0}}


def planted(resident, descriptors=lambda frame: 5, threads=lambda frame: 7):
    """Samples of a run of 400 frames, one a frame, whose memory is a function of the frame; before them the program starts."""
    start = [(0.1 * i, 0, i * MEBIBYTE, i, 1) for i in range(20)]
    way = [(2 + 0.1 * frame, 100 * (frame + 1), resident(frame), descriptors(frame), threads(frame)) for frame in range(400)]
    return start + way + [(43, 40_000, 300 * MEBIBYTE, 9, 2)]


@pytest.mark.parametrize("resident, grows", [
    (lambda frame: 100 * MEBIBYTE, False),
    (lambda frame: (100 + 10 * (frame > 90) + 10 * (frame > 200) + 10 * (frame > 390)) * MEBIBYTE, False),
    (lambda frame: 100 * MEBIBYTE + (frame % 7) * 200_000, False),
    (lambda frame: min(frame, 60) * MEBIBYTE, False),
    (lambda frame: 100 * MEBIBYTE + 20_000 * frame, True),
    (lambda frame: (100 + 10 * (frame // 50)) * MEBIBYTE, True),
    (lambda frame: (100 + 90 * (frame > 250)) * MEBIBYTE, True)],
    ids=["flat", "slots used late", "up and down", "warm-up", "leak", "leak in steps", "one large step"])
def test_memory_that_grows_with_every_frame_is_told_from_slots_that_are_used_late(soak, resident, grows):
    samples = soak.settled(planted(resident))
    assert 300 < len(samples) < 330  # without the start, the warm-up and the end
    faults = soak.faults_of(samples, WHOLE)
    assert len(faults) == grows and all(fault.startswith("memory grew by ") for fault in faults), faults


def test_threads_descriptors_and_frames_that_are_not_as_they_should_be_are_told(soak):
    flat = lambda frame: 100 * MEBIBYTE
    odd = soak.settled(planted(flat, descriptors=lambda frame: 5 + (frame > 200), threads=lambda frame: 7 + frame // 300))
    lost = {"frames": {**WHOLE["frames"], "delivered": 398}}
    assert soak.faults_of(odd, lost) == ["there were 7 to 8 threads", "there were 5 to 6 descriptors",
                                         "400 frames were offered, 399 are counted"]
    assert len(soak.settled([])) == 0


def test_a_short_soak_finds_nothing_that_grows():
    done = subprocess.run(["/usr/bin/python3", ROOT / "tests" / "campaign" / "soak", "--seconds", "8", "--fps", "20"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stdout.endswith(" threads: flat\n"), done.stdout + done.stderr
    assert ": 160 frames in 8 s, " in done.stdout
