"""Writer of R data files, in the format described in "R Internals", section 1.8."""

import struct

import numpy as np

NULL = struct.pack(">i", 254)


def integer(value):
    return struct.pack(">i", value)


def characters(text):
    encoded = text.encode()
    return integer(0x40009) + integer(len(encoded)) + encoded


class RFile:
    """Encoder of one R data file.

    A symbol is written at its first use and referenced afterwards.
    """

    def __init__(self, version=2):
        self.symbols = []
        self.version = version

    def bytes(self, objects):
        head = b"RDX%d\nX\n" % self.version + integer(self.version) + integer(0x30603) + integer(0)
        if self.version == 3:
            head += integer(5) + b"UTF-8"
        return head + self.pairs(objects)

    def symbol(self, name):
        if name in self.symbols:
            return integer((self.symbols.index(name) + 1) << 8 | 255)
        self.symbols.append(name)
        return integer(1) + characters(name)

    def pairs(self, values):
        written = [integer(0x402) + self.symbol(n) + self.value(v) for n, v in values.items()]
        return b"".join(written) + NULL

    def value(self, value):
        if isinstance(value, dict):
            items = b"".join(self.value(v) for v in value.values())
            names = self.pairs({"names": list(value)})
            return integer(0x213) + integer(len(value)) + items + names
        if isinstance(value, list):
            return integer(16) + integer(len(value)) + b"".join(characters(v) for v in value)
        return self.array(np.asarray(value))

    def array(self, array):
        kind, dtype = (14, ">f8") if array.dtype.kind == "f" else (13, ">i4")
        data = integer(array.size) + array.ravel(order="F").astype(dtype).tobytes()
        if array.ndim == 1:
            return integer(kind) + data
        return integer(0x200 | kind) + data + self.pairs({"dim": np.array(array.shape)})


def write_r_data(path, objects, pack=bytes, version=2):
    path.write_bytes(pack(RFile(version).bytes(objects)))
    return path
