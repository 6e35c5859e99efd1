"""`contorno.replay_on_dask`: a record made by many workers has the bytes of one made by one run, also where workers are killed."""
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tests.conftest import PROGRAM, blobs
from tests.plugins.python.package import PACKAGE  # skips where the build has no Python package

distributed = pytest.importorskip("distributed", reason="needs python3-distributed")

from contorno import replay_on_dask  # noqa: E402

FRAMES = 48
GRAPH = """
classes: [{name: a}, {name: b, level: 0.4}]
source: {type: dataset, location: maps, layout: hwc}
stages: [marching_squares, contour_assembly]
sinks: [{type: jsonl, path: unused.jsonl}]
pipeline: {threads: 1}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "maps").mkdir()
    for frame in range(FRAMES):
        np.save(tmp_path / "maps" / f"{frame:03}.npy", blobs(48, 64, 2, frame))
    (tmp_path / "graph.yaml").write_text(GRAPH)
    return tmp_path


@contextlib.contextmanager
def two_workers(folder, program=PROGRAM):
    """A client of two worker processes, which run `program`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTORNO_BIN", str(program))
        patch.setenv("PYTHONPATH", str(PACKAGE))
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(folder))
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def client(tmp_path_factory):
    with two_workers(tmp_path_factory.mktemp("dask")) as client:
        yield client


def content(record):
    return {path.name: path.read_bytes() for path in sorted((record / "frames").iterdir()) if ".part" not in path.name}


def test_a_worker_that_is_killed_in_the_middle_loses_nothing_and_changes_no_byte(contorno, folder, client):
    contorno("replay", "graph.yaml", "maps", "--record", "golden", cwd=folder)
    record, done = folder / "record", []
    # At 20 frames a second each of the 4 parts takes 0.6 s: the worker is killed while it is at its first one.
    running = threading.Thread(target=lambda: done.append(replay_on_dask.replay(
        client, folder / "graph.yaml", folder / "maps", record, parts=4, arguments=("--speed", 0.5))))
    running.start()
    while running.is_alive() and len(list(record.glob("frames/*.jsonl"))) < 3:
        time.sleep(0.01)
    assert running.is_alive() and len(list(record.glob("frames/*.jsonl"))) < FRAMES // 4
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    running.join(60)
    assert str(done[0]) == "4 parts: 4 done, 0 put aside"
    assert content(record) == content(folder / "golden")
    done[0].check()


def test_a_part_that_fails_is_put_aside_and_named_and_the_others_are_done(contorno, folder, client):
    contorno("replay", "graph.yaml", "maps", "--record", "golden", cwd=folder)
    for frame in range(1, FRAMES, 3):
        (folder / "maps" / f"{frame:03}.npy").write_bytes(b"no array")
    done = replay_on_dask.replay(client, folder / "graph.yaml", folder / "maps", folder / "record", parts=3)
    [bad] = done.put_aside
    assert (bad.part, bad.code) == (1, 65) and "001.npy" in bad.said
    assert str(done).startswith("3 parts: 2 done, 1 put aside\npart 1/3: exit code 65: ")
    with pytest.raises(RuntimeError, match="part 1/3"):
        done.check()
    golden = content(folder / "golden")
    assert content(folder / "record") == {name: data for name, data in golden.items() if int(name[:8]) % 3 != 1}


def test_a_part_that_kills_its_program_again_and_again_is_put_aside(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)  # where the graph's own dataset is looked for
    killed = tmp_path / "killed"
    killed.write_text(f'#!/bin/sh\ncase "$*" in *" 2/3 "*) kill -9 $$;; esac\nexec {PROGRAM} "$@"\n')
    killed.chmod(0o755)
    with two_workers(tmp_path / "dask", killed) as client:
        done = replay_on_dask.replay(client, folder / "graph.yaml", None, folder / "record", parts=3, retries=1)
    [bad] = done.put_aside
    assert (bad.part, bad.code) == (2, -signal.SIGKILL)
    assert len(content(folder / "record")) == FRAMES * 2 // 3


def test_the_command_hands_words_on_and_says_what_was_put_aside(contorno, folder):
    contorno("replay", "graph.yaml", "maps", "--record", "golden", cwd=folder)
    command = [sys.executable, "-m", "contorno.replay_on_dask", "graph.yaml", "maps", "record", "--parts", "2"]
    environment = {**os.environ, "CONTORNO_BIN": PROGRAM, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([*command, "--", "--stop", "10"], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "2 parts: 2 done, 0 put aside\n", done.stderr
    golden = content(folder / "golden")
    assert content(folder / "record") == {name: data for name, data in golden.items() if int(name[:8]) < 10}
    done = subprocess.run([*command, "--", "--set", "pipeline.slots=0"], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 3 and "2 put aside\npart 0/2: exit code 78" in done.stdout


def test_an_array_in_a_file_is_a_dataset(contorno, folder, client, monkeypatch):
    monkeypatch.chdir(folder)
    np.savez("maps.npz", other=np.zeros((2, 2)), a=np.stack([blobs(48, 64, 2, frame) for frame in range(6)]))
    contorno("replay", "graph.yaml", "maps.npz:a", "--record", "golden", cwd=folder)
    for number, dataset in enumerate(["maps.npz:a", folder / "maps.npz:a"]):
        done = replay_on_dask.replay(client, "graph.yaml", dataset, f"record{number}", parts=2)
        assert str(done) == "2 parts: 2 done, 0 put aside"
        assert content(folder / f"record{number}") == content(folder / "golden")


def test_what_is_not_there_is_named_before_any_part_is_run(folder, client):
    with pytest.raises(FileNotFoundError, match="nowhere.yaml"):
        replay_on_dask.replay(client, folder / "nowhere.yaml", folder / "maps", folder / "record", parts=2)
    with pytest.raises(ValueError, match="parts is 0"):
        replay_on_dask.replay(client, folder / "graph.yaml", folder / "maps", folder / "record", parts=0)
    assert not (folder / "record").exists()
