"""JPEG and PNG pictures that were damaged in a thousand ways. No picture may count as good, without a word, that
Pillow, libpng or libjpeg refuses or complains about; none may take long or much memory, whatever its header says."""
import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

from tests.campaign.damage import chunks, cut, flip_bits, overwrite, png_of
from tests.campaign.readers import Reader, libjpeg_complaint
from tests.campaign.trial import MEBIBYTE, Case

PICTURES_A_RUN = 5  # messages about single frames are told one by one up to this many
MOST_MEMORY = 400 * MEBIBYTE
WIDTH, HEIGHT = 200, 150
GRAPH = """
source: {type: images, location: pictures}
classes: [{name: a}]
sinks: [{type: images, path: "{name}.png"}]
"""
END_OF_IMAGE = b"\xff\xd9"


def scene():
    """Soft shapes and noise, so that a JPEG and a PNG of it have some kilobytes."""
    random = np.random.default_rng(1)
    rows, cols = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [127 + 90 * np.sin(rows / (9 + 4 * one)) * np.cos(cols / (13 - 2 * one)) for one in range(3)]
    return np.clip(np.stack(planes, axis=2) + random.normal(0, 6, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)


def encoded(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def whole_pictures():
    """Pairs of extension and bytes: the kinds of JPEG and PNG that cameras and tools write."""
    colour = Image.fromarray(scene())
    alpha = colour.copy()
    alpha.putalpha(colour.convert("L"))
    deep = Image.fromarray((scene()[..., 0].astype(np.int32) * 257), "I")
    return {
        "baseline.jpg": encoded(colour, "JPEG", quality=88),
        "progressive.jpg": encoded(colour, "JPEG", progressive=True),
        "grey.jpg": encoded(colour.convert("L"), "JPEG"),
        "fine.jpg": encoded(colour, "JPEG", quality=95, subsampling=0),
        "colour.png": encoded(colour, "PNG"), "alpha.png": encoded(alpha, "PNG"),
        "palette.png": encoded(colour.quantize(64), "PNG"), "deep.png": encoded(deep, "PNG")}


def frame_header(jpeg):
    """Where the height stands in the frame header of a JPEG."""
    at = 2
    while not 0xC0 <= jpeg[at + 1] <= 0xC2:
        at += 2 + struct.unpack_from(">H", jpeg, at + 2)[0]
    return at + 5


def other_size(data, random):
    """The same picture with a header that says another size."""
    width, height = random.choice([(65500, 65500), (30000, 20000), (WIDTH * 2, HEIGHT), (WIDTH, HEIGHT * 3),
                                   (WIDTH - 40, HEIGHT), (WIDTH, HEIGHT + 1), (65500, 1), (1, 65500)])
    if data.startswith(b"\xff\xd8"):
        at = frame_header(data)
        return data[:at] + struct.pack(">HH", height, width) + data[at + 4:]
    pairs = list(chunks(data))
    pairs[0] = (pairs[0][0], struct.pack(">II", width, height) + pairs[0][1][8:])
    return png_of(pairs)


def less_data(data, random):
    """A picture whose data ends in good order, but too early."""
    if data.startswith(b"\xff\xd8"):
        start = data.rindex(b"\xff\xda") + 14
        return data[:random.randrange(start, len(data) - 2)] + END_OF_IMAGE
    pairs = list(chunks(data))
    packed = zlib.decompress(b"".join(body for kind, body in pairs if kind == b"IDAT"))
    packed = zlib.compress(packed[:random.randrange(len(packed))])
    return png_of([*(pair for pair in pairs if pair[0] not in (b"IDAT", b"IEND")), (b"IDAT", packed), (b"IEND", b"")])


def cut_with_end(data, random):
    """Cut off anywhere, and closed with what ends a file of its kind."""
    end = END_OF_IMAGE if data.startswith(b"\xff\xd8") else data[-12:]
    return cut(data, random.randrange(24, len(data) - 12)) + end


DAMAGES = {
    "cut": lambda data, random: cut(data, random.randrange(1, len(data))),
    "cut-with-end": cut_with_end,
    "overwritten": lambda data, random: overwrite(data, random, random.choice([16, 200, 4000]), 2),
    "flipped": lambda data, random: flip_bits(data, random, random.choice([1, 1, 2, 8, 64])),
    "other-size": other_size,
    "less-data": less_data,
}


def verdict(path, reader):
    """Why another decoder refuses a picture or complains about it; None when all of them are content."""
    other = reader.ask("picture", path)
    if other is None:
        return "the other decoders crashed"
    return other["refused"] or other["complaints"] or libjpeg_complaint(path)


def play_batch(trial, names, subjects, reader):
    """Runs the program on a folder of damaged pictures, and asks the others about each that it counted as good."""
    folder = trial.folder / "pictures"
    folder.mkdir()
    kinds = list(DAMAGES)
    for name in names:
        number = int(name.split("-")[0])
        subject = list(subjects)[number % len(subjects)]
        damaged = DAMAGES[kinds[number // len(subjects) % len(kinds)]](subjects[subject], trial.random)
        (folder / f"{name}{pathlib.Path(subject).suffix}").write_bytes(damaged)
    (trial.folder / "graph.yaml").write_text(GRAPH)
    done = trial.run("run", "graph.yaml", "--output", "out", "--quiet", most_memory=MOST_MEMORY)
    good = 0
    for path in sorted(folder.iterdir()):
        result = trial.folder / "out" / f"{path.stem}.png"
        if not result.exists() or path.name in done.said:
            continue
        good += 1
        why = verdict(path, reader)
        if why is not None:
            trial.fault(f"{path.name} counts as good, but {why}")
    if done.code == 0 and good < len(names) and not done.said:
        trial.fault(f"{len(names) - good} of {len(names)} pictures were lost without a word")


def cases(options):
    reader, subjects = Reader(), whole_pictures()

    def play_whole(trial):
        (trial.folder / "pictures").mkdir()
        for name, data in subjects.items():
            (trial.folder / "pictures" / name).write_bytes(data)
        (trial.folder / "graph.yaml").write_text(GRAPH)
        done = trial.run("run", "graph.yaml", "--output", "out", "--quiet", codes={0})
        came = {path.stem for path in (trial.folder / "out").glob("*.png")}
        if done.said or came != {pathlib.Path(name).stem for name in subjects}:
            trial.fault(f"of whole pictures came {sorted(came)}, and: {done.said}")
    yield Case("whole", play_whole)

    kinds, count = list(DAMAGES), 60 if options.quick else 1000
    names = [f"{one:04}-{kinds[one // len(subjects) % len(kinds)]}" for one in range(count)]
    for first in range(0, count, PICTURES_A_RUN):
        batch = names[first:first + PICTURES_A_RUN]
        yield Case(batch[0].split("-")[0], lambda trial, batch=batch: play_batch(trial, batch, subjects, reader))
