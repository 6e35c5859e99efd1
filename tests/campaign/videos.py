"""Videos that were cut off or whose bits flipped, of every container that the program writes. Whatever is missing has
to be said: fewer frames than the container promises, fewer than another decoder finds, or errors that another decoder
reports, all with exit code 0 and no word, break the rule."""
import json
import pathlib

from tests.campaign.damage import cut, flip_bits
from tests.campaign.readers import Reader
from tests.campaign.trial import PROGRAM, Case, bounded

CONTAINERS = ("mkv", "webm", "avi", "ogv", "mov", "mp4")
FRAMES = 60
READ = """
source: {type: video, location: none}
classes: [{name: bright, references: ["#ffffff"]}, {name: dark, references: ["#000000"]}]
stages: [{type: preprocess, size: [32, 0]}, {type: classify}, {type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""
WRITE = """
source: {type: test, pattern: ball, width: 160, height: 120, rate: 30, frames: %d}
sinks: [{type: video, path: %s}]
classes: [{name: a}]
"""


def write_video(folder, container, frames=FRAMES):
    """A video of the program's own in `folder`, as bytes."""
    name = f"whole.{container}"
    (folder / "write.yaml").write_text(WRITE % (frames, name))
    done = bounded([PROGRAM, "run", "write.yaml", "--quiet"], folder, seconds=60)
    assert done.code == 0, done.said
    return (folder / name).read_bytes()


def read(trial, name):
    """Runs the program on a video; the outcome, how many frames came, and whether anything was said."""
    (trial.folder / "read.yaml").write_text(READ)
    report = trial.folder / "out" / "report.json"
    done = trial.run("run", "read.yaml", "--input", name, "--output", "out", "--report", report, "--quiet")
    lines = trial.folder / "out" / "contours.jsonl"
    came = len(lines.read_bytes().splitlines()) if lines.exists() else 0
    if done.code == 0 and json.loads(report.read_bytes())["frames"]["out"] != came:
        trial.fault("the report counts other frames than came")
    return done, came, done.code != 0 or bool(done.said.strip())


def judge(trial, name, reader, slack):
    """Applies the campaign's rule to the damaged video `name`. `slack` is by how much the promise of the whole one is
    off, for some containers only know their duration."""
    _, came, said = read(trial, name)
    if said:
        return
    other = reader.ask("video", trial.folder / name)
    if other is None:
        return  # the other decoder did worse
    if came < other["promised"] - slack:
        trial.fault(f"{came} frames came and nothing was said; the container promises {other['promised']:.0f}")
    elif came < other["frames"]:
        trial.fault(f"{came} frames came and nothing was said; OpenCV reads {other['frames']}")
    elif other["complaints"]:
        trial.fault(f"nothing was said; OpenCV's decoder says: {other['complaints'][:200]}")


def damaged(name, data, count, reader, slack):
    """The cases of one video: the whole one, `count` cuts and `count` with flipped bits, at places evenly spread."""
    suffix = pathlib.Path(name).suffix

    def case(kind, make):
        def play(trial):
            (trial.folder / f"video{suffix}").write_bytes(make(trial.random))
            judge(trial, f"video{suffix}", reader, slack)
        return Case(f"{name}-{kind}", play)

    for one in range(count):
        at = len(data) * (one + 1) // (count + 1)
        yield case(f"cut-{at}", lambda _, at=at: cut(data, at))
        # From a stray bit to a burst; the place is the same as that of the cut.
        bits = (1, 8, 64)[one % 3]
        yield case(f"flip-{at}", lambda random, at=at, bits=bits:
                   data[:at] + flip_bits(data[at:at + 4096], random, bits) + data[at + 4096:])


def whole(name, data, reader, expected):
    """The case of the undamaged video: every frame, and not a word."""
    def play(trial):
        path = trial.folder / name
        path.write_bytes(data)
        done, came, _ = read(trial, name)
        if done.code != 0 or done.said.strip() or came != expected:
            trial.fault(f"a whole video gave exit code {done.code}, {came} of {expected} frames, and: {done.said}")
    return Case(f"{name}-whole", play)


def cases(options):
    reader = Reader()
    keep = pathlib.Path(options.keep).resolve() / "videos"
    subjects = {f"{kind}.{kind}": write_video(keep, kind) for kind in CONTAINERS}
    subjects |= {path.name: path.read_bytes() for path in options.video}
    for name, data in subjects.items():
        path = keep / f"whole-{name}"
        path.write_bytes(data)
        other = reader.ask("video", path)
        assert other is not None and other["frames"] > 0, name
        yield whole(name, data, reader, other["frames"])
        yield from damaged(name, data, 3 if options.quick else 200, reader, abs(other["promised"] - other["frames"]))
