"""Replays a dataset in parts on the workers of Dask.distributed, on one machine or many.

    from dask.distributed import Client
    from contorno.replay_on_dask import replay

    done = replay(Client("scheduler:8786"), "graph.yaml", "recordings", "record", parts=256)
    print(done)
    done.check()

or, from a shell, `python3 -m contorno.replay_on_dask graph.yaml recordings record --scheduler scheduler:8786 --parts 256`; without
a scheduler the parts run on this machine. Graph, dataset, record and the current folder, at which relative paths in the graph
begin, lie on a file system that all workers see, and contorno is installed on each.

A part is `contorno replay GRAPH DATASET --record RECORD --shard PART/PARTS --resume`. All parts write into one folder: their files
have names of their own, and a file that has its name is complete. So a worker may die at any moment: its part goes on on another
one with the frames that are missing, and the bytes are those of an undisturbed run. A part that fails by itself, as all its files
are damaged, or that fails again and again is put aside with its reason, and the others go on.
"""
from __future__ import annotations

import argparse
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import time

from contorno._program import find_program

# Exit codes that another try would repeat: the graph, the options or the data are at fault, not the machine.
_FINAL_CODES = frozenset({0, 1, 2, 3, 64, 65, 66, 78})
_SECONDS_BETWEEN_TRIES = 1.0


@dataclasses.dataclass(frozen=True)
class Part:
    """What became of a part: the exit code of contorno (None where no worker survived it) and what it said."""
    part: int
    parts: int
    code: int | None
    said: str

    def __str__(self):
        ended = "no worker survived it" if self.code is None else f"exit code {self.code}"
        return f"part {self.part}/{self.parts}: {ended}: {self.said.strip()}"


@dataclasses.dataclass(frozen=True)
class Replayed:
    """All parts, in their order."""
    parts: tuple[Part, ...]

    @property
    def put_aside(self):
        """The parts that did not end with exit code 0; some or all of their frames may be missing in the record."""
        return tuple(part for part in self.parts if part.code != 0)

    def check(self):
        """Raises RuntimeError where parts were put aside, with their names and reasons."""
        if self.put_aside:
            raise RuntimeError(str(self))

    def __str__(self):
        aside = self.put_aside
        count = f"{len(self.parts)} parts: {len(self.parts) - len(aside)} done, {len(aside)} put aside"
        return "\n".join([count, *map(str, aside)])


class _TryAgain(Exception):
    """The machine was at fault; Dask runs the part again, on any worker. Its argument is the Part."""


def _run_part(folder, graph, dataset, record, part, parts, arguments):
    """On a worker: runs one part to its end, in `folder`. The program dies with the worker, where the system can do that."""
    command = [find_program(), "replay", graph, *([dataset] if dataset else []), "--record", record,
               "--shard", f"{part}/{parts}", "--resume", "--quiet", *arguments]
    if shutil.which("setpriv"):
        command = ["setpriv", "--pdeathsig", "KILL", *command]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    result = Part(part, parts, done.returncode, done.stderr[-2000:])
    if done.returncode not in _FINAL_CODES:
        time.sleep(_SECONDS_BETWEEN_TRIES)
        raise _TryAgain(result)
    return result


def replay(client, graph, dataset, record, *, parts, arguments=(), retries=3):
    """Records the results of `graph` on `dataset` in the folder `record`, in `parts` parts on the workers of `client`.

    `dataset` is what `contorno replay` takes: a path, also one with the name of an array behind it (maps.h5:GROUP/NAME), or an
    address; None is what the graph itself reads. `arguments` are further ones of `contorno replay`, as
    ("--set", "pipeline.threads=1") for workers that share a machine. A part is tried `retries` times more where a machine was at
    fault (exit codes of memory, devices and disks, signals); Dask itself moves the parts of workers that died. Returns a Replayed;
    raises ValueError for fewer than one part, and FileNotFoundError where the graph is not there."""
    from dask.distributed import as_completed

    if parts < 1:
        raise ValueError(f"parts is {parts}, allowed is 1 or more")
    graph, record = pathlib.Path(graph).resolve(strict=True), pathlib.Path(record).resolve()
    if dataset is None:
        dataset = ""
    elif pathlib.Path(dataset).exists():
        dataset = pathlib.Path(dataset).resolve()
    words = tuple(map(str, arguments))
    futures = {client.submit(_run_part, str(pathlib.Path.cwd()), str(graph), str(dataset), str(record), part, parts, words, pure=False,
                             retries=retries): part for part in range(parts)}
    done = {}
    for future in as_completed(list(futures)):
        part = futures[future]
        error = future.exception()
        done[part] = (future.result() if error is None else error.args[0] if isinstance(error, _TryAgain)
                      else Part(part, parts, None, str(error)))
        future.release()
    return Replayed(tuple(done[part] for part in range(parts)))


def main(words=None):
    parser = argparse.ArgumentParser(prog="python3 -m contorno.replay_on_dask", description=__doc__.split("\n", maxsplit=1)[0],
                                     epilog="What stands behind -- is handed to contorno replay.")
    parser.add_argument("graph")
    parser.add_argument("dataset")
    parser.add_argument("record", help="folder that the results are kept in")
    parser.add_argument("--scheduler", help="address of Dask's scheduler; without one the parts run on this machine")
    parser.add_argument("--parts", type=int, required=True, help="about ten for each thread of the workers share the load well")
    parser.add_argument("--retries", type=int, default=3, help="further tries where a machine was at fault")
    words = list(sys.argv[1:] if words is None else words)
    handed = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:handed])

    from dask.distributed import Client

    with Client(options.scheduler) as client:
        done = replay(client, options.graph, options.dataset, options.record, parts=options.parts, retries=options.retries,
                      arguments=words[handed + 1:])
    print(done)
    return 3 if done.put_aside else 0


if __name__ == "__main__":
    sys.exit(main())
