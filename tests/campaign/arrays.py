"""Arrays (.npy, and .npz that hold one) that were changed at random, in their header and behind it: each is read as
NumPy reads it, or refused as bad data. What NumPy refuses is never read in silence."""
import io
import re
import warnings
import zipfile

import numpy as np

from tests.campaign.damage import cut, flip_bits, overwrite
from tests.campaign.trial import MEBIBYTE, Case

ARRAYS_A_CASE = 10
MOST_MEMORY = 300 * MEBIBYTE
TYPES = ("f4", "f4", "f2", "u1", "u1", "u2", ">f4", ">u2", "?", "f8", "i4", "c8", "U3")
SHAPES = ((9, 7), (1, 1), (2, 30), (40, 25), (5, 6, 3), (3, 8, 9), (12,), (), (0, 4))
WORDS = [b"True", b"False", b"(7, 9)", b"(63,)", b"'|u1'", b"'<f2'", b"'<f4'", b"'|O'", b"'>f8'",
         b"'<f4', 'x'", b"(9, 7)", b"(-1, 7)", b"(4294967296, 4294967296)", b"(99999999999999999999, 1)", b"(True, 3)",
         b"()", b"(3,)", b"'descr'", b"{}", b"[('a', '<f4')]", b"'|S0'"]


def whole_array(random):
    values = np.random.default_rng(random.randrange(1 << 30))
    shape = random.choice(SHAPES)
    array = (values.random(shape) * 100).astype(random.choice(TYPES))
    if random.random() < 0.2:
        array = np.asfortranarray(array)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=random.choice([(1, 0), (2, 0)]))
    return file.getvalue()


def change(data, random):
    header = data.index(b"\n") + 1
    kind = random.randrange(7)
    if kind == 0:
        return flip_bits(data[:header], random, random.choice([1, 1, 2, 8])) + data[header:]
    if kind == 1:
        return cut(data, random.randrange(len(data)))
    if kind == 2:
        return overwrite(data[:header], random, random.choice([1, 2, 8, 40])) + data[header:]
    if kind == 3:
        return data + random.randbytes(random.choice([1, 9, 5000]))
    if kind == 4 and len(data) > header:
        return flip_bits(data, random, 4, header)
    # Another type, shape or order; the padding grows or shrinks with it.
    text = data[:header]
    found = random.choice([re.search(pattern, text) for pattern in (rb"'[<>|]\w+'", rb"\([^)]*\)", rb"True|False")])
    changed = (text[:found.start()] + random.choice(WORDS) + text[found.end():]).rstrip(b" \n")
    return changed[:header - 1].ljust(header - 1) + b"\n" + data[header:]


def change_archive(npy, random):
    """An archive of a whole array, changed anywhere; its names and sizes stand at its end, so that is where half go."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        archive.writestr("a.npy", npy)
    data = file.getvalue()
    first = max(0, len(data) - 120) if random.random() < 0.5 else 0
    return random.choice([lambda: flip_bits(data, random, random.choice([1, 2, 8]), first),
                          lambda: overwrite(data, random, random.choice([1, 4, 40]), first),
                          lambda: cut(data, random.randrange(len(data))),
                          lambda: data + random.randbytes(9)])()


def numpy_reads(path):
    """The array, or None where NumPy refuses it. NotImplementedError: of a kind that Python lacks."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = np.load(path, allow_pickle=False)
            return loaded if path.suffix == ".npy" else loaded["a"]
    except NotImplementedError:
        raise
    except Exception:  # NumPy's parser lets many kinds through
        return None


def play(trial):
    for number in range(ARRAYS_A_CASE):
        data = whole_array(trial.random)
        archived = number % 4 == 3
        data = change_archive(data, trial.random) if archived else change(data, trial.random)
        name = f"array{number}.{'npz' if archived else 'npy'}"
        (trial.folder / name).write_bytes(data)
        product = trial.folder / f"copy{number}.npy"
        done = trial.run("apply", "preprocess", name, product.name, codes={0, 64, 65, 66, 71, 78}, seconds=5,
                         most_memory=MOST_MEMORY)
        try:
            array = numpy_reads(trial.folder / name)
        except NotImplementedError:
            continue  # no verdict
        if done.code == 0 and array is None and not done.said:
            trial.fault(f"{name}: read without a word, and NumPy refuses it")
        elif done.code == 0 and array is not None and product.exists():
            made = np.load(product)
            if made.size != array.size:
                trial.fault(f"{name}: {array.shape} became {made.shape}")


def cases(options):
    for one in range((60 if options.quick else 4000) // ARRAYS_A_CASE):
        yield Case(f"{one:04}", play)
