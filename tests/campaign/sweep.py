"""Files as they lie in the test folders of other programs: what `record` makes of each is what Pillow, OpenCV or ffmpeg makes of it,
or stands with its reason in sweep_known.tsv. Outcomes are written into outcomes.tsv, as lines of that list."""
import json
import os
import pathlib
import threading

import numpy as np
from PIL import Image

from tests.campaign.readers import Reader
from tests.campaign.sweep_files import FILMS, STILL, fetch, files_of
from tests.campaign.trial import Case

FILES_A_RUN = 12
MOST_SECONDS = 120  # of a run of so many files
KNOWN = pathlib.Path(__file__).with_name("sweep_known.tsv")
AS_OTHERS = ("agrees", "refused by all")
_writing = threading.Lock()


def known_outcomes(text):
    """Paths and what is known of them: lines of an outcome, a path and a reason, between tabs."""
    known = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            outcome, path, reason = line.split("\t")
            assert reason.strip(), f"{path} has no reason"
            known[path] = outcome
    return known


def first_frames(folder):
    """By name of the file: the first picture that was recorded of it, and how many."""
    frames = {}
    manifest = folder / "manifest.jsonl"
    for line in manifest.read_text().splitlines() if manifest.exists() else ():
        entry = json.loads(line)
        number = entry.get("_name", "")[:4]
        first, count = frames.get(number, (folder / entry["frame"], 0))
        frames[number] = first, count + 1
    return frames


def judge(trial, path, frame, source, reader, known):
    """Compares what came of a file; says so unless it is known."""
    first, count = frame
    answer = reader.ask("compare", json.dumps({"file": str(source), "first": first and str(first), "frames": count}))
    outcome = answer["outcome"] if answer else "refused by all" if first is None else "read alone"
    listed = known.get(str(path))
    with _writing, open(trial.folder.parent / "outcomes.tsv", "a") as file:
        print(outcome, path, answer and answer.get("nearest"), sep="\t", file=file)
    if listed is None and outcome not in AS_OTHERS:
        trial.fault(f"{path}: {outcome}")
    elif listed not in (None, outcome):
        trial.fault(f"{path}: {outcome}, the list says: {listed}")


def play_stills(trial, paths, folder, reader, known):
    """Pictures one after the other in a run; what ends it is found by running each alone."""
    shots = trial.folder / "shots"
    shots.mkdir()
    for number, path in enumerate(paths):
        os.symlink((folder / path).resolve(), shots / f"{number:04}-{path.name}")
    done = trial.run("record", "shots", "rec", "--quiet", seconds=MOST_SECONDS)
    if len(paths) > 1 and trial.faults:
        trial.faults.append(f"of {', '.join(map(str, paths))}")
    frames = first_frames(trial.folder / "rec")
    if done.code == 0 and len(frames) < len(paths):
        trial.fault(f"{len(paths) - len(frames)} of {len(paths)} pictures were lost without a word")
    for number, path in enumerate(paths):
        judge(trial, path, frames.get(f"{number:04}", (None, 0)), folder / path, reader, known)


def play_film(trial, path, folder, reader, known):
    os.symlink((folder / path).resolve(), trial.folder / f"0000-{path.name}")
    trial.run("record", f"0000-{path.name}", "rec", "--quiet", seconds=MOST_SECONDS)
    frames = sorted((trial.folder / "rec" / "frames").glob("*.png"))
    judge(trial, path, (frames[0] if frames else None, len(frames)), folder / path, reader, known)


def make_some(folder):
    """A few files of each kind, for a sweep that needs no network."""
    import tifffile
    folder.mkdir(parents=True)
    rows, cols = np.mgrid[0:40, 0:60]
    colours = np.stack([rows * 6, cols * 4, 255 - rows * 3 - cols * 2], axis=2).astype(np.uint8)
    picture = Image.fromarray(colours)
    for ending in ("png", "jpg", "bmp", "tga", "webp", "ppm", "tif"):
        picture.save(folder / f"colour.{ending}")
    for ending in ("png", "bmp", "tga", "pgm"):
        picture.convert("L").save(folder / f"grey.{ending}")
    picture.quantize(16).save(folder / "palette.bmp")
    picture.convert("1").save(folder / "bits.pbm")
    tifffile.imwrite(folder / "bands.tif", np.dstack([colours, colours[..., :1]]), photometric="rgb", extrasamples=["unspecified"])
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(folder / "turned.jpg", exif=exif)
    picture.save(folder / "turned.webp", exif=exif)
    (folder / "none.png").write_bytes(b"no picture")
    (folder / "cut.bmp").write_bytes((folder / "colour.bmp").read_bytes()[:3000])
    frames = [Image.fromarray(np.roll(colours, 5 * step, axis=1)).quantize(64) for step in range(4)]
    frames[0].save(folder / "film.gif", save_all=True, append_images=frames[1:], duration=100)
    return folder


def cases(options):
    folder = make_some(pathlib.Path(options.keep).resolve() / "sweep" / "made") if options.quick else fetch()
    known = {} if options.quick else known_outcomes(KNOWN.read_text())
    reader = Reader()
    stills = files_of(folder, STILL)
    size = 4 if options.quick else FILES_A_RUN
    for number, first in enumerate(range(0, len(stills), size)):
        batch = stills[first:first + size]
        yield Case(f"stills-{number:04}", lambda trial, batch=batch: play_stills(trial, batch, folder, reader, known))
    for number, path in enumerate(files_of(folder, FILMS)):
        yield Case(f"film-{number:04}", lambda trial, path=path: play_film(trial, path, folder, reader, known))
