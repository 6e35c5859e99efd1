"""What the commands in this folder share: they let bench_sources measure, or read what it has measured on another machine,
print the tables of a document with the author's figures beside ours, and draw its figures."""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from built import built  # noqa: E402

NO_DEVICE = "no GPU here"


class Results:
    """The facts of one work, of one run on one machine."""

    def __init__(self, work, lines, arguments):
        self.work, self.arguments = work, arguments
        self.facts = collections.defaultdict(list)
        for line in lines:
            fact = json.loads(line)
            self.facts[fact["kind"]].append(fact)
        self.times = {(one["case"], one["variant"]): one for one in self.facts["time"]}
        self.small = any(one["small"] for one in self.facts["conditions"])

    def measured_here(self, case, variant, measure, **more):
        """What `measure()` returns, seconds, of a peer that runs in this process: measured where bench_sources is, kept with the
        rest, and read from there. None where it was not measured there."""
        if (case, variant) not in self.times and not self.arguments.results:
            one = {"work": self.work, "kind": "time", "case": case, "variant": variant, "seconds": measure(), **more}
            self.times[case, variant] = one
            if self.arguments.keep:
                with open(self.arguments.keep, "a") as file:
                    file.write(json.dumps(one) + "\n")
        return self.times.get((case, variant))

    def seconds(self, case, variant):
        """The median, or None."""
        one = self.times.get((case, variant))
        return statistics.median(one["seconds"]) if one else None

    def mean(self, case, variant):
        one = self.times.get((case, variant))
        return statistics.mean(one["seconds"]) if one else None

    def device(self):
        return self.facts["device"][0]["name"] if self.facts["device"] else None

    def wrong(self):
        return [one for one in self.facts["check"] if not one["agrees"]]

    def print_conditions(self):
        for one in self.facts["conditions"]:
            print(one["line"])
        print(f"GPU: {self.device()}" if self.device() else
              f"GPU: none ({self.facts['no device'][0]['reason']}); columns of CUDA are empty")
        if self.small:
            print("small sizes, for a test: no figures")
        for one in self.facts["check"]:
            print(f"  {'agrees' if one['agrees'] else 'DIFFERS'}: {one['case']}, {one['variant']}: {one['found']}")


def text_of(seconds, results=None, variant=""):
    """A time; what cannot be measured here says why."""
    if seconds is None:
        return NO_DEVICE if results is not None and "CUDA" in variant and not results.device() else "-"
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def ratio_text(above, below):
    return f"{above / below:.3g}" if above and below else "-"


def print_table(title, header, rows):
    print(f"\n{title}\n\n| " + " | ".join(map(str, header)) + " |\n|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


class Figures:
    """Draws figures as PNG and SVG into a folder, where Matplotlib is there."""

    def __init__(self, folder):
        self.folder = folder
        try:
            import matplotlib
            matplotlib.use("Agg")
            import matplotlib.pyplot
            self.plot = matplotlib.pyplot
        except ImportError:
            self.plot = None
            print("no figures: needs Matplotlib (apt-get install python3-matplotlib)", file=sys.stderr)

    def draw(self, name, paint, rows=1, cols=1, size=(8, 4.5)):
        """`paint` is called with the axes."""
        if self.plot is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        figure, axes = self.plot.subplots(rows, cols, figsize=size, layout="constrained")
        paint(axes)
        for suffix in ("png", "svg"):
            figure.savefig(self.folder / f"{name}.{suffix}", dpi=110)
        self.plot.close(figure)
        print(f"drawn: {self.folder / name}.png, .svg")


def bars(axes, names, series, label, log=False):
    """Groups of bars: series is name -> a value, or None, a group."""
    series = {name: values for name, values in series.items() if any(value is not None for value in values)}
    width = 0.8 / max(1, len(series))
    for k, (name, values) in enumerate(series.items()):
        places = [i + (k - (len(series) - 1) / 2) * width for i in range(len(names))]
        shown = [(place, value) for place, value in zip(places, values) if value is not None]
        axes.bar([place for place, _ in shown], [value for _, value in shown], width, label=name)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(label)
    if log:
        axes.set_yscale("log")
    axes.legend(fontsize="small")


def lines_of(work, arguments):
    if arguments.results:
        lines = [line for path in arguments.results for line in pathlib.Path(path).read_text().splitlines()]
    else:
        program = arguments.program or built("bench_sources", folder=arguments.build) / "bench_sources"
        command = [program, work, *(["small"] if arguments.small else []), "runs", str(arguments.runs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={"OMP_WAIT_POLICY": "passive", **os.environ})
        if done.returncode not in (0, 1) or not done.stdout:
            raise SystemExit(f"bench_sources ended with {done.returncode}")
        lines = done.stdout.splitlines()
    lines = [line for line in lines if json.loads(line)["work"] == work]
    if arguments.keep:
        path = pathlib.Path(arguments.keep)
        others = [line for line in (path.read_text().splitlines() if path.exists() else []) if json.loads(line)["work"] != work]
        path.write_text("".join(f"{line}\n" for line in [*others, *lines]))
    return lines


def main(work, doc, show, runs=5, options=()):
    """`show(results, figures)` prints the tables and draws the figures. The exit code is 1 where a baseline has another
    result than the product."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="small sizes, for a test")
    parser.add_argument("--runs", type=int, default=runs, help="of each variant")
    parser.add_argument("--results", nargs="+", metavar="FILE", help="what bench_sources has printed, perhaps elsewhere")
    parser.add_argument("--keep", metavar="FILE", help="keeps what was measured, for --results; other works in it stay")
    parser.add_argument("--output", default="build/sources", metavar="FOLDER", help="for the figures")
    parser.add_argument("--program", metavar="FILE", help="bench_sources, as it is; else it is built first")
    parser.add_argument("--build", help="build folder (default: build/release or build/cpu)")
    for name, value, text in options:
        parser.add_argument(name, metavar=value, help=text)
    arguments = parser.parse_args()
    results = Results(work, lines_of(work, arguments), arguments)
    results.print_conditions()
    show(results, Figures(pathlib.Path(arguments.output) / work))
    sys.exit(1 if results.wrong() else 0)
