"""What Pillow, OpenCV and ffmpeg make of a file, beside what the program made of it. Runs in the process of a Reader."""
import json
import subprocess

import numpy as np

NEAR = 2.5  # most mean difference, of 255, between pictures that count as equal: decoders of JPEG differ by as much
SECONDS = 20


def by_pillow(path):
    """The first frame as R, G, B, upright, and how many frames there are."""
    from PIL import Image, ImageOps
    with Image.open(path) as picture:
        count = getattr(picture, "n_frames", 1)
        picture.seek(0)
        upright = ImageOps.exif_transpose(picture)
        if upright.mode.startswith("I"):
            grey = np.asarray(upright).astype(np.int64)
            most = 65535 if grey.max() > 255 or "16" in upright.mode else 255
            return np.repeat((grey * 255 // most).clip(0, 255).astype(np.uint8)[..., None], 3, axis=2), count
        if upright.mode == "F":
            return None, count
        return np.asarray(upright.convert("RGB")), count


def by_opencv(path):
    import cv2
    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is not None:
        return np.ascontiguousarray(picture[..., ::-1]), None
    video = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
    count, first = 0, None
    while (frame := video.read())[0]:
        first = frame[1] if count == 0 else first
        count += 1
    return (None if first is None else np.ascontiguousarray(first[..., ::-1])), count or None


def by_ffmpeg(path):
    said = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_frames", "-show_entries", "stream=nb_read_frames",
                           "-of", "json", path], capture_output=True, timeout=SECONDS).stdout
    streams = json.loads(said or "{}").get("streams", [])
    shown = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-sws_flags", "accurate_rnd+full_chroma_int",
                            "-f", "image2pipe", "-c:v", "ppm", "-"], capture_output=True, timeout=SECONDS).stdout
    if not shown.startswith(b"P6"):
        return None, None
    _, width, height, _ = shown[:40].split(maxsplit=4)[:4]
    samples = np.frombuffer(shown, np.uint8)[-int(width) * int(height) * 3:]
    count = streams[0].get("nb_read_frames") if streams else None
    return samples.reshape(int(height), int(width), 3), int(count) if count and count.isdigit() else None


READERS = {"Pillow": by_pillow, "OpenCV": by_opencv, "ffmpeg": by_ffmpeg}


def compare(question):
    """In a word, how what came compares with what others read: "agrees", "refused by all", or what is different from all of them.
    The question is JSON: file, first (a PNG, or null for a refusal) and frames."""
    asked = json.loads(question)
    from PIL import Image
    ours = None if asked["first"] is None else np.asarray(Image.open(asked["first"]).convert("RGB"))
    reads, sizes, counts, nearest = [], False, [], None
    for name, reader in READERS.items():
        try:
            theirs, count = reader(asked["file"])
        except Exception:  # a reader may refuse in any way that it likes
            continue
        if theirs is None:
            continue
        reads.append(name)
        if ours is None:
            continue
        if theirs.shape == ours.shape:
            sizes = True
            difference = float(np.abs(theirs.astype(int) - ours).mean())
            nearest = difference if nearest is None else min(nearest, difference)
            if difference <= NEAR and count in (None, asked["frames"]):
                return {"outcome": "agrees"}
            if difference <= NEAR:
                counts.append(count)
    if not reads:
        return {"outcome": "refused by all" if ours is None else "read alone"}
    if ours is None:
        return {"outcome": f"refused, read by {' '.join(reads)}"}
    if counts:
        return {"outcome": f"{asked['frames']} frames, others {' '.join(map(str, counts))}"}
    return {"outcome": "other colours" if sizes else "another size", "nearest": nearest}
