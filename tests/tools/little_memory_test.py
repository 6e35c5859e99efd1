"""Where addresses, threads or processes are limited the program works or says so; no signal ends it."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

import numpy as np
import pytest
from tests.conftest import LIBRARY, PROGRAM, blobs, classes_yaml

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


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """GStreamer's list of its plugins, made without a limit."""
    path = tmp_path_factory.mktemp("registry") / "registry"
    subprocess.run([PROGRAM, "doctor"], env={**os.environ, "GST_REGISTRY": str(path)}, capture_output=True, timeout=120)
    return path


@pytest.fixture
def graphs(tmp_path, registry):
    if registry.exists():
        shutil.copy(registry, tmp_path / "registry")
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
    """So many beyond the files of the program and its library, which are several times as large with code for devices."""
    limit = mebibytes * MEBIBYTE + os.stat(PROGRAM).st_size + os.stat(LIBRARY).st_size
    return run_limited(folder, resource.RLIMIT_AS, limit, *arguments)


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


def test_large_frames_of_media_end_no_run_with_a_signal(graphs):
    (graphs / "large.yaml").write_text("source: {type: test, width: 3840, height: 2160, frames: 2}\npipeline: {backend: cpu}\n"
                                       "sinks: [{type: images, path: '{frame}.png', from: source.frame}]\n")
    for mebibytes in range(300, 620, 80):
        done = run_with_addresses(graphs, mebibytes, "run", "large.yaml", "--quiet")
        assert done.returncode in (0, 71, 74), done
        assert done.returncode != 71 or done.stderr.count("out of memory") == 1, done


def test_what_lacks_addresses_is_named(graphs):
    done = run_with_addresses(graphs, 60, "run", "text.yaml", "--quiet")
    assert done.returncode == 71 and "out of memory to draw text: it takes " in done.stderr, done
    done = run_with_addresses(graphs, 100, "run", "media.yaml", "--quiet")
    assert done.returncode == 71 and "out of memory for GStreamer: it takes " in done.stderr, done


def test_the_doctor_says_of_a_machine_with_little_memory_what_it_can(graphs):
    done = run_with_addresses(graphs, 100, "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {line[9:21].strip(): line for line in done.stdout.splitlines()[1:] if line[:8].strip()}
    assert list(rows) == ["cpu", "cuda", "gstreamer", "camera", "module", "python", "display"]
    assert rows["gstreamer"].startswith("missing  gstreamer    out of memory for GStreamer: it takes ")
    assert "to mend it: raise the limit" in done.stdout
    done = run_with_addresses(graphs, 100, "doctor", "--json")
    media = json.loads(done.stdout)["gstreamer"]
    assert (media["built_in"], media["complete"], media["elements"]) == (True, False, [])
    assert media["reason"].startswith("out of memory for GStreamer: it takes ")


def test_plugins_that_lacked_memory_once_are_tried_again(graphs):
    """GStreamer notes in its list which plugins could not be loaded, and believes it ever after."""
    if not shutil.which("gst-inspect-1.0"):
        pytest.skip("needs gst-inspect-1.0")
    (graphs / "registry").unlink(missing_ok=True)

    def unusable(limit=None):
        def limits():
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        done = subprocess.run(["gst-inspect-1.0", "--print-blacklist"], capture_output=True, text=True, timeout=120,
                              preexec_fn=limits, env={**os.environ, "GST_REGISTRY": str(graphs / "registry")})
        return [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    unusable(70 * MEBIBYTE)
    assert "libgstvideotestsrc.so" in unusable()
    done = subprocess.run([PROGRAM, "run", "media.yaml", "--quiet"], cwd=graphs, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "GST_REGISTRY": str(graphs / "registry")})
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(graphs.glob("*.png"))) == 2
    assert unusable() == []


@pytest.mark.parametrize("arguments", [["stages"], ["schema"], ["check", "maps.yaml"], ["check", "text.yaml"], ["doctor"],
                                       ["find-contours", "map.npy", "--threads", "2"], ["mean-shift", "points.npy", "out.npy"]],
                         ids=" ".join)
def test_whatever_addresses_there_are_no_signal_ends_a_command(graphs, arguments):
    np.save(graphs / "map.npy", blobs(300, 400, 2, 0)[..., 0])
    np.save(graphs / "points.npy", blobs(100, 20, 2, 0).reshape(-1, 2)[:1500])
    for mebibytes in range(40, 300, 52):
        works_or_says_so(run_with_addresses(graphs, mebibytes, *arguments))


@pytest.fixture
def open_folder(graphs):
    """A folder with the graphs that a user without rights may write into, and beside it the program with its libraries: the
    checkout may lie where other users may not look."""
    if os.getuid() != 0:
        pytest.skip("needs to run as root, which may become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = pathlib.Path(shutil.copytree(graphs, pathlib.Path(name) / "graphs"))
        for path in (folder.parent, folder):
            path.chmod(0o777)
        (folder.parent / "bin").mkdir()
        shutil.copy(PROGRAM, folder.parent / "bin" / "contorno")
        shutil.copytree(LIBRARY.parent, folder.parent / "lib", symlinks=True)
        done = run_with_processes(folder, 1000, "stages")
        assert done.returncode == 0, done
        yield folder


def run_with_processes(folder, count, *arguments):
    """As a user who may have so many threads in all; root may have any number. Tests that run at the same time are other users,
    or they would count each other's."""
    user = 62_000 + os.getpid() % 3000

    def limits():
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
        os.setgid(user)
        os.setuid(user)

    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HOME": str(folder), "GST_REGISTRY": str(folder / "registry")}
    return subprocess.run([folder.parent / "bin" / "contorno", *arguments], cwd=folder, capture_output=True, text=True, timeout=60,
                          preexec_fn=limits, env=environment)


@pytest.mark.parametrize("name", GRAPHS)
def test_whatever_threads_there_are_no_signal_ends_a_run(open_folder, name):
    codes = []
    for count in (1, 2, 3, 4, 5, 6, 9, 14, 20, 60):
        done = run_with_processes(open_folder, count, "run", f"{name}.yaml", "--quiet")
        assert done.returncode in (0, 71), (count, done)
        assert done.returncode == 0 or "thread" in done.stderr.lower(), (count, done)
        codes.append(done.returncode)
    assert codes[0] == 71 and codes[-1] == 0, codes


def test_many_threads_are_as_many_as_there_is_memory_for(graphs):
    text = (graphs / "maps.yaml").read_text().replace("threads: 2", "threads: 256")
    (graphs / "maps.yaml").write_text(text)
    whole = run_with_addresses(graphs, 4000, "run", "maps.yaml", "--quiet", "--output", "whole")
    assert whole.returncode == 0, whole
    done = run_with_addresses(graphs, 120, "run", "maps.yaml", "--quiet", "--output", "few")
    assert (done.returncode, done.stderr) == (0, "")
    assert (graphs / "few" / "a.jsonl").read_bytes() == (graphs / "whole" / "a.jsonl").read_bytes()


@pytest.mark.parametrize("arguments", [["find-contours", "map.npy", "--json", "out.npy"], ["mean-shift", "points.npy", "out.npy"],
                                       ["apply", "morphology", "map.npy", "out.npy"]], ids=lambda words: words[0])
def test_a_command_takes_as_many_threads_as_there_is_memory_for(graphs, arguments):
    """OpenMP's library ends the process where a thread cannot be started."""
    np.save(graphs / "map.npy", blobs(300, 400, 2, 0)[..., 0])
    np.save(graphs / "points.npy", blobs(100, 20, 2, 0).reshape(-1, 2)[:1500])
    command, *words = arguments
    whole = run_with_addresses(graphs, 4000, command, *words, "--threads", "1")
    assert whole.returncode == 0, whole
    expected = (graphs / "out.npy").read_bytes()
    (graphs / "out.npy").unlink()
    done = run_with_addresses(graphs, 120, command, *words, "--threads", "256")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert (graphs / "out.npy").read_bytes() == expected
