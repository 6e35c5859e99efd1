"""Archives of arrays (.npz) as NumPy and zipfile write them, whatever their headers look like, and as nobody should: each is read
as numpy.load reads it, or refused in a sentence."""
import io
import struct
import zlib

import numpy as np
import pytest

ARRAY = np.arange(24 * 37, dtype=np.float32).reshape(24, 37) % 11


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def stream(data):
    """Raw deflate."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def archive(packed, size, checksum, method=8, extra=b"", sizes=None, comment=b""):
    """A ZIP file of one member `a.npy`; `extra` and `sizes` stand in its directory alone."""
    name = b"a.npy"
    packed_size, full_size = sizes or (len(packed), size)
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, method, 0, 0x21, checksum, len(packed), size, len(name), 0) + name
    central = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, method, 0, 0x21, checksum, packed_size, full_size, len(name),
                          len(extra), 0, 0, 0, 0, 0) + name + extra
    where = len(local) + len(packed)
    return local + packed + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), where, len(comment)) + comment


def with_64_bits(data):
    """The same archive, its directory found by the 64-bit record, as NumPy writes one beyond 4 GiB."""
    end = data.rindex(b"PK\5\6")
    size, where = struct.unpack("<2I", data[end + 12:end + 20])
    record = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, where)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    return data[:end] + record + locator + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


PLAIN = npy_bytes(ARRAY)
SUM, PACKED = zlib.crc32(PLAIN), stream(PLAIN)
IN_64_BITS = struct.pack("<2H2Q", 1, 16, len(PLAIN), len(PACKED))
GOOD = {
    "deflated": archive(PACKED, len(PLAIN), SUM),
    "stored": archive(PLAIN, len(PLAIN), SUM, method=0),
    "a comment": archive(PACKED, len(PLAIN), SUM, comment=b"x" * 65535),
    "sizes of 64 bits": archive(PACKED, len(PLAIN), SUM, extra=IN_64_BITS, sizes=(0xFFFFFFFF, 0xFFFFFFFF)),
    "another extra field first": archive(PACKED, len(PLAIN), SUM, extra=struct.pack("<2H", 0x5455, 5) + bytes(5) + IN_64_BITS,
                                         sizes=(0xFFFFFFFF, 0xFFFFFFFF)),
    "a directory of 64 bits": with_64_bits(archive(PACKED, len(PLAIN), SUM)),
}
DIRECTORY = GOOD["deflated"].rindex(b"PK\1\2")
END = GOOD["deflated"].rindex(b"PK\5\6")


def changed(at, data):
    bytes_ = bytearray(GOOD["deflated"])
    bytes_[at:at + len(data)] = data
    return bytes(bytes_)


BAD = {
    "longer than it says": (archive(stream(PLAIN + b"more"), len(PLAIN), SUM), "the archive's member is longer than it says"),
    "shorter than it says": (archive(stream(PLAIN[:-8]), len(PLAIN), zlib.crc32(PLAIN[:-8])), "the archive ends within the array"),
    "cut within its stream": (archive(PACKED[:-9], len(PLAIN), SUM), "the archive ends within the array"),
    "no deflate": (archive(b"\xff" * 99, len(PLAIN), SUM), "the archive is damaged: invalid"),
    "a wrong checksum": (archive(PACKED, len(PLAIN), SUM ^ 1), "the archive is damaged: the checksum differs"),
    "stored, of two sizes": (archive(PLAIN, len(PLAIN) + 9, SUM, method=0), "bytes become"),
    "bzip2": (archive(PACKED, len(PLAIN), SUM, method=12), "compression method 12 of the archive, allowed are what NumPy writes"),
    "sizes that the extra field lacks": (archive(PACKED, len(PLAIN), SUM, sizes=(0xFFFFFFFF, 0xFFFFFFFF),
                                                 extra=struct.pack("<2HQ", 1, 8, 9)), "its directory is damaged"),
    "sizes beyond the file": (archive(PACKED, len(PLAIN), SUM, sizes=(0xFFFFFFF0, 0xFFFFFFF0)), "bytes become"),
    "a directory beyond the file": (changed(END + 16, b"\xf0\xff\xff\xff"), "its directory is damaged"),
    "more members than there are": (changed(END + 10, b"\x02"), "its directory is damaged"),
    "a name beyond the directory": (changed(DIRECTORY + 28, b"\xff\xff"), "its directory is damaged"),
    "a header elsewhere": (changed(DIRECTORY + 42, b"\x07"), "its directory is damaged"),
    "a header beyond the file": (changed(DIRECTORY + 42, b"\xf0\xff\xff\xff"), "its directory is damaged"),
    "one of several parts": (changed(END + 4, b"\x01"), "it is one part of an archive in several"),
    "no end": (GOOD["deflated"][:END], "it is no ZIP file, or cut off"),
    "nothing": (b"", "it is no ZIP file"),
}


@pytest.mark.parametrize("kind", GOOD)
def test_an_archive_is_read_as_numpy_reads_it(contorno, tmp_path, kind):
    (tmp_path / "a.npz").write_bytes(GOOD[kind])
    with np.load(tmp_path / "a.npz") as file:
        np.testing.assert_array_equal(file["a"], ARRAY)
    np.save(tmp_path / "b.npy", ARRAY)
    for name in ("a.npz", "b.npy"):
        contorno("apply", "morphology", name, f"{name}.out.npy", "--operation", "erosion", cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz.out.npy"), np.load(tmp_path / "b.npy.out.npy"))


def test_a_directory_without_end_takes_no_memory(contorno, tmp_path):
    with open(tmp_path / "a.npz", "wb") as file:  # a hole of 3 GiB, and the record that ends a directory of all of it
        file.truncate(3 << 30)
        file.seek(0, 2)
        file.write(struct.pack("<I4H2IH", 0x06054B50, 0, 0, 9, 9, 3 << 30, 0, 0))
    done = contorno("apply", "morphology", "a.npz", "out.npy", check=False, cwd=tmp_path)
    assert done.returncode == 65 and "its directory has 3221225472 bytes, allowed are 67108864" in done.stderr, done.stderr


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_archive_is_refused_in_a_sentence(contorno, tmp_path, kind):
    data, sentence = BAD[kind]
    (tmp_path / "a.npz").write_bytes(data)
    done = contorno("apply", "morphology", "a.npz", "out.npy", check=False, cwd=tmp_path)
    assert done.returncode == 65 and sentence in done.stderr, (done.returncode, done.stderr)
    assert "a.npz" in done.stderr and not (tmp_path / "out.npy").exists()
