"""Where addresses, threads or processes are limited the program works or says so; no signal ends it."""
import os
import resource
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM, blobs, classes_yaml

MEBIBYTE = 1 << 20
STAGES = "stages: [{type: marching_squares}, {type: contour_assembly}"
GRAPHS = {
    # Neither media nor text: neither library is started.
    "maps": "source: {type: dataset, location: maps.npy, layout: hwc}\n" + STAGES + "]\nsinks:\n  - {type: jsonl, path: a.jsonl}\n"
            "  - {type: coco, path: a.json}\n  - {type: svg, path: '{frame}.svg'}\n",
    "text": "source: {type: synthetic, classes: 2, maps_size: [200, 100], frames: 2}\n" + STAGES
            + ", {type: overlay, legend: top_left}]\nsinks: [{type: jsonl, path: b.jsonl}]\n",
    "media": "source: {type: test, width: 64, height: 48, frames: 2}\nsinks: [{type: images, path: '{frame}.png', from: source.frame}]\n",
}


@pytest.fixture
def graphs(tmp_path):
    np.save(tmp_path / "maps.npy", np.stack([blobs(48, 64, 2, frame) for frame in range(3)]))
    for name, text in GRAPHS.items():
        classes = "" if name == "media" else f"classes:\n{classes_yaml(2)}\n"
        (tmp_path / f"{name}.yaml").write_text("pipeline: {backend: cpu, threads: 2, slots: 2}\n" + classes + text)
    return tmp_path


def run_limited(folder, limit, value, *arguments):
    def limits():
        resource.setrlimit(limit, (value, value))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, preexec_fn=limits,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "GST_REGISTRY": str(folder / "registry")})


def run_with_addresses(folder, mebibytes, *arguments):
    return run_limited(folder, resource.RLIMIT_AS, mebibytes * MEBIBYTE, *arguments)


def works_or_says_so(done):
    assert done.returncode in (0, 71), done
    assert done.returncode == 0 or "out of memory" in done.stderr or "libgomp" in done.stderr, done


def test_a_graph_without_media_and_text_runs_in_64_mebibytes_of_addresses(graphs):
    done = run_with_addresses(graphs, 64, "run", "maps.yaml", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert len((graphs / "a.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize("name", GRAPHS)
def test_whatever_addresses_there_are_no_signal_ends_a_run(graphs, name):
    codes = []
    for mebibytes in range(40, 340, 20):
        done = run_with_addresses(graphs, mebibytes, "run", f"{name}.yaml", "--quiet")
        works_or_says_so(done)
        codes.append(done.returncode)
    assert codes[-1] == 0, codes
    assert codes == sorted(codes, reverse=True), codes  # more memory never makes it worse


def test_what_lacks_addresses_is_named(graphs):
    done = run_with_addresses(graphs, 60, "run", "text.yaml", "--quiet")
    assert done.returncode == 71 and "out of memory to draw text: it takes " in done.stderr, done
    done = run_with_addresses(graphs, 100, "run", "media.yaml", "--quiet")
    assert done.returncode == 71 and "out of memory for GStreamer: it takes " in done.stderr, done


@pytest.mark.parametrize("arguments", [["stages"], ["schema"], ["check", "maps.yaml"], ["check", "text.yaml"], ["doctor"],
                                       ["find-contours", "map.npy", "--threads", "2"], ["mean-shift", "points.npy", "out.npy"]],
                         ids=" ".join)
def test_whatever_addresses_there_are_no_signal_ends_a_command(graphs, arguments):
    np.save(graphs / "map.npy", blobs(300, 400, 2, 0)[..., 0])
    np.save(graphs / "points.npy", blobs(100, 20, 2, 0).reshape(-1, 2)[:1500])
    for mebibytes in range(40, 300, 52):
        works_or_says_so(run_with_addresses(graphs, mebibytes, *arguments))


def test_many_threads_are_as_many_as_there_is_memory_for(graphs):
    text = (graphs / "maps.yaml").read_text().replace("threads: 2", "threads: 256")
    (graphs / "maps.yaml").write_text(text)
    whole = run_with_addresses(graphs, 4000, "run", "maps.yaml", "--quiet", "--output", "whole")
    assert whole.returncode == 0, whole
    done = run_with_addresses(graphs, 120, "run", "maps.yaml", "--quiet", "--output", "few")
    assert (done.returncode, done.stderr) == (0, "")
    assert (graphs / "few" / "a.jsonl").read_bytes() == (graphs / "whole" / "a.jsonl").read_bytes()
