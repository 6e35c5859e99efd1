"""Judges whether results were lost. It imports nothing of contorno: it reads what an outbox or a broker has by their own
clients, decodes messages by Python's json and cbor2, and knows from a camera's name and a number which picture its source
painted. What it finds wrong is a list of sentences; an empty one means that all is well."""
import collections
import json
import sqlite3
import struct
import zlib

import cbor2

WIDTH, HEIGHT = 64, 48
FLOAT32_LE = 85  # RFC 8746


def thing(camera, number):
    """The rectangle in a camera's picture of a number: x, y, width, height."""
    of = zlib.crc32(camera.encode()) % 97
    return 2 + (7 * number + 13 * of) % 40, 2 + (5 * number + 3 * of) % 30, 12 + number % 5, 10 + number % 3


def picture(camera, number):
    """The frame as YUV4MPEG has it, 4:4:4."""
    x, y, width, height = thing(camera, number)
    dark, light = b"\x10", b"\xeb"
    plain = dark * WIDTH
    row = dark * x + light * width + dark * (WIDTH - x - width)
    rows = [row if y <= one < y + height else plain for one in range(HEIGHT)]
    return b"FRAME\n" + b"".join(rows) + b"\x80" * (2 * WIDTH * HEIGHT)


STREAM_HEAD = f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F30:1 Ip A1:1 C444\n".encode()


def decoded(body):
    """A message as JSON would have it; points in a typed array become pairs."""
    def plain(value):
        if isinstance(value, cbor2.CBORTag):
            assert value.tag == FLOAT32_LE, value.tag
            numbers = struct.unpack(f"<{len(value.value) // 4}f", value.value)
            return [list(pair) for pair in zip(numbers[::2], numbers[1::2])]
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value
    return json.loads(body) if body[:1] == b"{" else plain(cbor2.loads(body))


def kept(path):
    """(run, camera, n, body) of an outbox, in the order in which they were kept."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
        return [(run, camera, n, bytes(body)) for run, camera, n, body in
                file.execute("SELECT run, camera, n, body FROM messages ORDER BY id")]


def in_redis(client, prefix, camera):
    """The same of a stream."""
    found = []
    for name, fields in client.xrange(f"{prefix}:{camera}"):
        run, n = name.decode().split("-")
        found.append((int(run), camera, int(n), fields[b"m"]))
    return found


def shows(message, camera):
    """Whether a frame's only contour is that of the picture that the source painted."""
    contours = message["classes"][0]["contours"]
    if len(contours) != 1:
        return False
    x, y, width, height = thing(camera, message["frame"])
    middle, box = contours[0]["centroid"], contours[0]["bbox"]
    return (abs(middle[0] - (x + (width - 1) / 2)) < 0.01 and abs(middle[1] - (y + (height - 1) / 2)) < 0.01
            and width - 1 < box[2] < width and height - 1 < box[3] < height)


def accounted(message):
    """The first number that a message accounts for and the one behind the last; None: none."""
    if message["kind"] in ("frame", "failed"):
        return message["frame"], message["frame"] + 1
    return (message["from"], message["to"] + 1) if message["kind"] == "gap" else None


def judge_stream(name, rows, doubles):
    """One camera in one run, in the order of arrival. With `doubles` a key may come again, equal each time."""
    faults, known, last, frames, ended = [], {}, 0, 0, None
    for run, camera, n, body in rows:
        where = f"{name}, message {n}"
        if n in known:
            if not doubles:
                faults.append(f"{where}: its key was there before")
            elif known[n] != body and b"outbox_full" not in body + known[n]:
                faults.append(f"{where}: it has another content than before")
            continue
        known[n] = body
        message = decoded(body)
        if (message["run"], message["camera"], message["n"]) != (run, camera, n):
            faults.append(f"{where}: its key is {message['run']}, {message['camera']}, {message['n']}")
        if n != last + 1:
            faults.append(f"{where}: it follows message {last}")
        last = n
        if (n == 1) != (message["kind"] == "run_start"):
            faults.append(f"{where}: its kind is {message['kind']}")
        if ended is not None:
            faults.append(f"{where}: it follows run_end")
        if message["kind"] == "run_end":
            ended = message
            if message["frames"] != frames or message["last_n"] != n - 1:
                faults.append(f"{where}: it ends after frame {message['last_frame']} and message {message['last_n']}, "
                              f"there are {frames} frames and {n - 1} messages")
        numbers = accounted(message)
        if numbers is None:
            continue
        if numbers[0] != frames:
            faults.append(f"{where}: it accounts for frame {numbers[0]}, the next is {frames}")
        frames = numbers[1]
        if message["kind"] == "frame" and not message.get("thin") and not shows(message, camera):
            faults.append(f"{where}: its contour is not that of frame {message['frame']}")
    return faults, frames, ended


def judge(rows, sent=None, doubles=False):
    """`rows` as of kept() or in_redis(). `sent` has, for each start of the program in turn, how many numbers its source
    had noted, and whether it was killed: then every run has to be there, in that order, and no more."""
    streams, order, faults = collections.defaultdict(list), [], []
    for row in rows:
        if row[:2] not in order:
            order.append(row[:2])
        streams[row[:2]].append(row)
    runs = [run for run, _ in order]
    if runs != sorted(runs):
        faults.append(f"a run went back: {runs}")
    ends = []
    for run, camera in order:
        wrong, frames, ended = judge_stream(f"run {run}, {camera}", streams[run, camera], doubles)
        faults += wrong
        ends.append((frames, ended))
    for (frames, ended), (noted, killed) in zip(ends, sent or []):
        if frames > noted:
            faults.append(f"{frames} frames are accounted for, the source had sent {noted}")
        if ended is not None and ended["crashed"] != killed:
            faults.append(f"run_end says crashed: {ended['crashed']}")
        if not killed and ended is not None and frames != noted:
            faults.append(f"{frames} frames are accounted for, the source sent {noted}")
    if sent is not None and len(ends) != len(sent):
        faults.append(f"{len(ends)} runs are there, {len(sent)} were begun")
    return faults
