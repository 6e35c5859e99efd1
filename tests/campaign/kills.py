"""Runs that are killed at a random moment, over every sink. What then has a final name is whole, another reader says;
the next run into the same folder works, and says what it found of the one that was killed."""
import dataclasses
import pathlib

from tests.campaign.readers import Reader
from tests.campaign.trial import PROGRAM, Case, bounded, why_not_whole
from tests.campaign.videos import CONTAINERS

FRAMES = 150
PICTURES = (".png", ".jpg", ".tif")
HEAD = """
source: {{type: test, pattern: ball, width: 160, height: 120, rate: 30, frames: {frames}}}
classes: [{{name: ball, references: ["#ffffff"]}}, {{name: ground, references: ["#000000"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}, {{type: overlay}}]
sinks:
"""
TEXT_SINKS = ["{type: jsonl, path: contours.jsonl}", "{type: coco, path: coco.json}",
              "{type: geojson, path: contours.geojson}", '{type: svg, path: "svg/{frame:06}.svg"}']
IMAGE_SINKS = ['{type: images, path: "images/{frame:06}.png"}',
               '{type: images, name: photos, path: "photos/{frame:06}.jpg"}',
               '{type: mipmaps, path: "levels/{frame:06}.tif"}']


def write_graphs(folder, sinks):
    """graph.yaml, and next.yaml for a short run into the same folder."""
    for name, frames in (("graph.yaml", FRAMES), ("next.yaml", 3)):
        (folder / name).write_text(HEAD.format(frames=frames) + "".join(f"  - {sink}\n" for sink in sinks))


def is_temporary(path):
    return ".part" in path.name


def kept_name(path):
    """The name under which a recording that was not finished is kept: NAME.unfinished.EXTENSION."""
    stem, _, rest = path.name.partition(".")
    return f"{stem}.unfinished.{rest.partition('.')[0]}"


def check_final_names(trial, reader, when):
    """Every file under a final name is whole, other readers say; a video has a frame, and its decoder no complaint."""
    for path in sorted((trial.folder / "out").rglob("*")):
        if is_temporary(path) or ".unfinished." in path.name or not path.is_file():
            continue
        if path.suffix.lstrip(".") in CONTAINERS:
            video = reader.ask("video", path)
            why = None if video and video["frames"] > 0 and not video["complaints"] else f"OpenCV: {video}"
        elif path.suffix in PICTURES:
            picture = reader.ask("picture", path)
            why = picture["refused"] if picture else "the other decoders crashed"
        else:
            why = why_not_whole(path)
        if why is not None:
            trial.fault(f"{when}: {path.name} is not whole: {why}")


def check_kept(trial, reader, whole_bytes):
    """What is kept of a film can be read, unless it was hardly begun: an index comes with every quarter of a second."""
    for path in (trial.folder / "out").rglob("*.unfinished.*"):
        kept = reader.ask("video", path)
        if path.stat().st_size > whole_bytes / 5 and (kept is None or kept["frames"] == 0):
            trial.fault(f"{path.name} was kept, and nobody can read it: {kept}")


def play(trial, sinks, reader, part, whole):
    write_graphs(trial.folder, sinks)
    command = ("--output", "out", "--report", "report.json", "--quiet")
    trial.kill("run", "graph.yaml", *command, after=part * whole.seconds)
    check_final_names(trial, reader, "after the kill")
    left = [path for path in sorted((trial.folder / "out").rglob("*")) if is_temporary(path)]
    done = trial.run("run", "next.yaml", *command, codes={0})
    check_final_names(trial, reader, "after the next run")
    check_kept(trial, reader, whole.bytes)
    for path in left:
        if path.name not in done.said and kept_name(path) not in done.said:
            trial.fault(f"the next run did not say what became of {path.name}")
        if path.exists():
            trial.fault(f"the next run left {path.name}")


@dataclasses.dataclass(frozen=True)
class Whole:
    """The run that is killed in the cases, when nobody kills it."""
    seconds: float
    bytes: int  # of all that it writes


def play_whole(folder, sinks):
    write_graphs(folder, sinks)
    done = bounded([PROGRAM, "run", "graph.yaml", "--output", "out", "--quiet"], folder, seconds=120)
    assert done.code == 0, done.said
    return Whole(done.seconds, sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file()))


def cases(options):
    reader = Reader()
    sets = {"text": TEXT_SINKS, "images": IMAGE_SINKS} | {
        container: [f"{{type: video, path: overlay.{container}}}"] for container in CONTAINERS}
    count = len(sets) if options.quick else 200
    keep = pathlib.Path(options.keep).resolve() / "kills"
    wholes = {}
    for one in range(count):
        name, sinks = list(sets.items())[one % len(sets)]
        if options.only not in f"{name}-{one:03}":
            continue
        if name not in wholes:
            folder = keep / f"whole-{name}"
            folder.mkdir()
            wholes[name] = play_whole(folder, sinks)

        def kill(trial, name=name, sinks=sinks):
            play(trial, sinks, reader, trial.random.uniform(0.05, 1.05), wholes[name])
        yield Case(f"{name}-{one:03}", kill)
