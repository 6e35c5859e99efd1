"""Address space from 40 to 400 MB, in steps of 4, for commands and graphs of every kind: each run ends with a code of
the table, in time and not by a signal; with code 0 its output is that of a run without a limit, and after any other
the next run without a limit works."""
import pathlib

import numpy as np
from tests.conftest import blobs

from tests.campaign.pictures import scene
from tests.campaign.trial import NOT_BEGUN, REGISTRY, Case

MEGABYTE = 1_000_000
DATASET = """
source: {{type: dataset, location: maps, layout: hwc}}
classes: [{{name: one}}, {{name: two}}]
stages: [{{type: marching_squares}}, {{type: contour_assembly}}]
sinks: [{{type: jsonl, path: contours.jsonl}}{more}]
"""
PATTERN = """
source: {{type: test, pattern: smpte, width: 160, height: 120, rate: 30, frames: 5}}
classes: [{{name: yellow, references: ["#bfbf00"]}}, {{name: blue, references: ["#0000bf"]}}]
stages: [{{type: classify}}, {{type: marching_squares}}, {{type: contour_assembly}}, {{type: overlay{overlay}}}]
sinks: [{{type: jsonl, path: contours.jsonl}}, {sink}]
"""
GRAPHS = {
    "maps": DATASET.format(more=""),
    "files": DATASET.format(more=', {type: coco, path: coco.json}, {type: geojson, path: contours.geojson}, '
                                 '{type: svg, path: "{frame}.svg"}'),
    "synthetic": """
source: {type: synthetic, maps_size: [160, 96], frame_size: [160, 96], classes: 3, frames: 5}
classes: [{name: background}, {name: fruit}, {name: defect}]
stages: [{type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
""",
    "text": PATTERN.format(overlay=", labels: 1, legend: top_left", sink='{type: images, path: "{frame}.png"}'),
    "video": PATTERN.format(overlay="", sink="{type: video, path: overlay.webm}"),
    "pictures": """
source: {type: images, location: pictures}
classes: [{name: a, references: ["#808080"]}, {name: b, references: ["#ffffff"]}]
stages: [{type: classify}, {type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
""",
    "film": """
source: {type: video, location: clip.gif}
classes: [{name: a, references: ["#808080"]}, {name: b, references: ["#ffffff"]}]
stages: [{type: classify}, {type: marching_squares}, {type: contour_assembly}]
sinks: [{type: jsonl, path: contours.jsonl}]
"""}
COMMANDS = {name: ("run", f"{name}.yaml", "--output", "out", "--quiet") for name in GRAPHS} | {
    "check": ("check", "text.yaml"),
    "stages": ("stages", "overlay"),
    "doctor": ("doctor",),
    "find-contours": ("find-contours", "plane.npy", "--json", "out.json"),
    "apply": ("apply", "morphology", "maps/0.npy", "out.npy"),
    "apply-picture": ("apply", "mipmap", "pictures/a.png", "out.npy"),
    "mean-shift": ("mean-shift", "points.npy", "out.npy", "--sigma", "0.5"),
    "learn": ("learn", "pictures", "--classes", "a,b", "--output", "learned.yaml"),
}

USE_MEDIA = ("text", "video", "pictures", "film", "apply-picture")


def prepare(folder):
    """The inputs of all commands."""
    from PIL import Image
    (folder / "maps").mkdir()
    (folder / "pictures").mkdir()
    for frame in range(3):
        np.save(folder / "maps" / f"{frame}.npy", blobs(48, 64, 2, frame))
    Image.fromarray(scene()).save(folder / "pictures" / "a.png")
    Image.fromarray(scene()).save(folder / "pictures" / "b.jpg")
    first, *others = [Image.fromarray(np.roll(scene(), 3 * frame, axis=1)) for frame in range(4)]
    first.save(folder / "clip.gif", save_all=True, append_images=others, duration=40)  # libav decodes it
    np.save(folder / "plane.npy", blobs(48, 64, 2, 0)[..., 0])
    np.save(folder / "points.npy", np.random.default_rng(1).normal(0, 1, (200, 2)).astype(np.float32))
    for name, text in GRAPHS.items():
        (folder / f"{name}.yaml").write_text(text)


def products(folder):
    """What a run wrote, as bytes by name; inputs do not change, and a WebM file has a random number in its header."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".webm")
    return {str(path.relative_to(folder)): path.read_bytes().replace(bytes(folder), b"") for path in files
            if path.name != REGISTRY}


def cases(options):
    expected = {}
    limits = range(60, 401, 80) if options.quick else range(40, 401, 4)

    def play(trial, command, limit):
        prepare(trial.folder)
        prefix = () if limit is None else ("prlimit", f"--as={limit * MEGABYTE}")
        done = trial.run(*COMMANDS[command], prefix=prefix, codes={0} if limit is None else None)
        if done.code == 0:
            made = products(trial.folder) | {"standard output": done.out if command != "doctor" else ""}
            if made != expected.setdefault(command, made) and not done.said:
                trial.fault("exit code 0, no word, and another output than without a limit")
        elif limit is not None and done.code not in (3, 69, 71, NOT_BEGUN):
            trial.fault(f"exit code {done.code} for too little memory")
        if limit is not None and done.code != 0 and command in USE_MEDIA:
            # What the limit did to GStreamer's registry must not show in a later run.
            trial.run(*COMMANDS[command], codes={0})

    # The first run of each is without a limit; only then is there something to compare with.
    for command in COMMANDS:
        yield Case(f"{command}-unlimited", lambda trial, command=command: play(trial, command, None))
    for limit in limits:
        for command in COMMANDS:
            yield Case(f"{command}-{limit:03}", lambda trial, command=command, limit=limit: play(trial, command, limit))
