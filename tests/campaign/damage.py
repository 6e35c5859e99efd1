"""Ways to damage a file's bytes, and to write PNG chunks by hand. All of them take their randomness from the caller."""
import struct
import zlib


def cut(data, at):
    return data[:at]


def flip_bits(data, random, count=1, first=0):
    """Other bits at `count` places behind `first`."""
    changed = bytearray(data)
    for _ in range(count):
        changed[random.randrange(first, len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def overwrite(data, random, size, first=0):
    """`size` random bytes in the place of those somewhere behind `first`."""
    size = min(size, len(data) - first)
    at = random.randrange(first, len(data) - size + 1)
    return data[:at] + random.randbytes(size) + data[at + size:]


def chunk(kind, body):
    """A chunk of a PNG with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def chunks(png):
    """The chunks of a whole PNG as pairs of kind and body."""
    at = 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + 8:at + 8 + length]
        at += 12 + length


def png_of(pairs):
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in pairs)
