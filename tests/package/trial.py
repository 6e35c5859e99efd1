"""What wheels are tried with: graphs and what the source build makes of them, cases beside scikit-image, and minimal roots of
distributions, in which nothing is but what a stranger has installed."""
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest
from tests.conftest import ROOT, blobs, run_contorno

ROOTS = ROOT / "build" / "roots"
# Each distribution with its Python, and what mmdebstrap is told beside its name.
SUITES = {"bookworm": ("3.11", []), "trixie": ("3.13", []),
          "noble": ("3.12", ["--components=main,universe", "--keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg"])}
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"

# In how many of 200 arrays the contours are those of scikit-image.
CASES = """
import numpy as np, contorno
from skimage import measure
rng, same = np.random.default_rng(5), 0
for case in range(200):
    shape = rng.integers(2, 40, 2)
    image = rng.integers(0, 5, shape) / 4.0 if case % 2 else rng.random(shape)
    if case % 5 == 0:
        image[rng.random(shape) < 0.1] = np.nan
    arguments = dict(level=float(rng.choice([0.25, 0.5, 0.6])), fully_connected=str(rng.choice(["low", "high"])))
    ours, theirs = contorno.find_contours(image, **arguments), measure.find_contours(image, **arguments)
    same += len(ours) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(ours, theirs))
result = same
"""
# Whether a graph finds in maps.npz what the function finds, and how many points.
PIPELINE = """
import numpy as np, contorno
maps = np.load("maps.npz")["maps"]
[frame] = contorno.Pipeline("maps.yaml", output="pipeline")
wanted = contorno.find_contours_batch(maps, [0.3, 0.5], layout="HWC", flat=True, dtype=np.float32)
result = [bool(np.array_equal(frame.contours.points, wanted.points)), len(wanted.points)]
"""
HEAD = "pipeline: {backend: cpu, threads: 2}\n"
GRAPHS = {
    "maps": "source: {type: dataset, location: maps.npz, layout: hwc}\nclasses: [{name: a, level: 0.3}, {name: b, level: 0.5}]\n"
            "stages: [contours]\nsinks: [{type: jsonl, path: contours.jsonl}]\n",
    "clip": "source: {type: synthetic, classes: 3, frame_size: [320, 120], frames: 5}\nclasses: [{name: a}, {name: b}, {name: c}]\n"
            "stages: [contours, overlay]\nsinks: [{type: video, path: clip.webm}]\n",
    "video": "source: {type: video, location: clip/clip.webm}\n"
             "classes: [{name: a, references: ['#c03020']}, {name: b, references: ['#40a050']}]\n"
             "stages: [classify, contours, overlay]\n"
             "sinks: [{type: jsonl, path: contours.jsonl}, {type: images, path: 'frame{frame}.png'}]\n",
    "picture": "source: {type: synthetic, classes: 3, frame_size: [320, 120], frames: 1}\n"
               "classes: [{name: a}, {name: b}, {name: c}]\nstages: [contours, {type: overlay, legend: top_left, text_height: 12}]\n"
               "sinks: [{type: jsonl, path: contours.jsonl}, {type: images, path: 'frame{frame}.png'}]\n",
}


def fill(folder):
    """Writes the graphs and what they read into a folder."""
    np.savez_compressed(folder / "maps.npz", maps=blobs(40, 60, 2, 0))
    for name, text in GRAPHS.items():
        (folder / f"{name}.yaml").write_text(HEAD + text)


@pytest.fixture(scope="session")
def source_build(tmp_path_factory):
    """A folder with the graphs and, in a folder for each, what the build of this checkout makes of them."""
    folder = tmp_path_factory.mktemp("source-build")
    fill(folder)
    for name in GRAPHS:
        run_contorno("run", f"{name}.yaml", "--output", name, "--quiet", cwd=folder)
    return folder


def lines(folder, graph):
    """The lines of JSON of a graph, which must be there."""
    data = (folder / graph / "contours.jsonl").read_bytes()
    assert data.count(b"\n") >= 1 and len(data) > 500
    return data


class Root:
    """A minimal system of a distribution, which is entered by root; what it sees of this machine is the network."""

    def __init__(self, suite, folder):
        self.suite, self.folder = suite, pathlib.Path(folder)

    @classmethod
    def unpacked(cls, suite, folder):
        """A new one. Skips the test, by name, where it cannot be made."""
        if os.geteuid() != 0:
            pytest.skip("roots are made and entered by root")
        archive = ROOTS / f"{suite}-min.tar"
        if not archive.exists():
            if shutil.which("mmdebstrap") is None:
                pytest.skip("needs mmdebstrap (tools/setup package)")
            ROOTS.mkdir(parents=True, exist_ok=True)
            part = ROOTS / f"{suite}-min.part.tar"
            made = subprocess.run(["mmdebstrap", "--variant=minbase", "--include=apt,ca-certificates", *SUITES[suite][1], suite, part], capture_output=True, text=True)
            if made.returncode != 0:
                (ROOTS / f"{suite}-min.log").write_text(made.stderr)
                reason = next((line for line in made.stderr.splitlines() if line.startswith("E: ")), "mmdebstrap failed")
                pytest.skip(f"no root of {suite} could be made: {reason}")
            part.rename(archive)
        folder.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", folder, "--exclude=./dev/*"], check=True)
        for path in ("etc/resolv.conf", CERTIFICATES):  # of the network that this machine is in
            shutil.copy(f"/{path}", folder / path)
        (folder / "srv").mkdir(exist_ok=True)
        return cls(suite, folder)

    def copy(self, folder):
        subprocess.run(["cp", "-a", "--reflink=auto", self.folder, folder], check=True)
        return Root(self.suite, folder)

    def run(self, script, check=True, seconds=900):
        """Runs lines of a shell in /srv; returns the completed process."""
        enter = 'mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && exec chroot "$1" env -i ' \
                f'PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_CERT=/{CERTIFICATES} LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -euc "cd /srv; $2"'
        done = subprocess.run(["unshare", "--mount", "bash", "-c", enter, "_", self.folder, script], capture_output=True, text=True,
                              timeout=seconds)
        assert not check or done.returncode == 0, f"{script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done

    def apt_install(self, *packages):
        """Skips the test where the mirror does not answer."""
        done = self.run("apt-get update -q && apt-get install -y -q --no-install-recommends " + " ".join(packages), check=False)
        if re.search("Could not resolve|Failed to fetch|Could not connect|Unable to locate", done.stderr):
            pytest.skip(f"the mirror of {self.suite} has not delivered: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
