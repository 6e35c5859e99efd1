"""The programs that contours are compared with, in a process of their own: the packages of the Python that runs this file.

Started by tools/bench/contours, with the Python of the system or of a virtual environment. Commands on standard input, one a
line, each answered with a line:
  peers THREADS                        names of the peers that this Python has, with their versions, by tabs
  load FILE CLASSES HEIGHT WIDTH       float32 maps, one after the other
  run NAME                             seconds of one run over all maps at level 0.5
"""
import os
import subprocess
import sys
import time

LEVEL = 0.5


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def contourpy_peers():
    """The engines that give uncut lines. Generators are made outside of the timed part, anew for each call."""
    import contourpy

    def with_engine(engine):
        def run(maps):
            generators = [contourpy.contour_generator(z=plane, name=engine) for plane in maps]
            return timed(lambda: [generator.lines(LEVEL) for generator in generators])
        return run
    return {f"contourpy {contourpy.__version__} {engine}": with_engine(engine) for engine in ("mpl2005", "mpl2014", "serial")}


def opencv_peers(threads):
    """Both tracers, behind the comparison that makes the bytes they want in one pass."""
    import cv2
    cv2.setNumThreads(threads)

    def high(plane):
        return cv2.compare(plane, LEVEL, cv2.CMP_GT)

    def by_borders(maps):
        return timed(lambda: [cv2.findContours(high(plane), cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE) for plane in maps])

    def by_runs(maps):
        return timed(lambda: [cv2.findContoursLinkRuns(high(plane)) for plane in maps])
    version = f"OpenCV {cv2.__version__}"
    return {f"{version} findContours": by_borders,
            **({f"{version} findContoursLinkRuns": by_runs} if hasattr(cv2, "findContoursLinkRuns") else {})}


def skimage_peers():
    import skimage
    from skimage import measure
    return {f"scikit-image {skimage.__version__}": lambda maps: timed(
        lambda: [measure.find_contours(plane, LEVEL) for plane in maps])}


def answer():
    import numpy as np
    peers, maps = {}, None
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split(" ", 1)
        if command == "peers":
            for found in (skimage_peers, contourpy_peers, lambda: opencv_peers(int(words[0]))):
                try:
                    peers.update(found())
                except ImportError as error:
                    print(f"{sys.executable}: {error}", file=sys.stderr)
            print("\t".join(peers), flush=True)
        elif command == "load":
            path, *shape = words[0].rsplit(" ", 3)
            maps = np.fromfile(path, np.float32).reshape([int(side) for side in shape])
            print("loaded", flush=True)
        else:
            print(peers[words[0]](maps), flush=True)


class Peers:
    """The process of one Python, and the names of its peers."""

    def __init__(self, python, threads):
        self.process = subprocess.Popen([python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        self.names = self.ask(f"peers {threads}").split("\t")

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        said = self.process.stdout.readline()
        if not said:
            raise SystemExit(f"the peers of {self.process.args[0]} stopped")
        return said.rstrip("\n")

    def load(self, path, maps):
        self.ask(f"load {path} " + " ".join(str(side) for side in maps.shape))

    def run(self, name):
        return float(self.ask(f"run {name}"))


if __name__ == "__main__":
    answer()
