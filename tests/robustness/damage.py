"""Damaged files of every kind, and checkpoints and results whose damage no checksum tells of."""

import ctypes
import ctypes.util
import os
import shutil
import struct

from lab import Failure
from program import SMALL, sets, workload
from result_seal import seal

_CRC64 = ctypes.CDLL(ctypes.util.find_library("lzma") or "liblzma.so.5").lzma_crc64
_CRC64.restype = ctypes.c_uint64
_CRC64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]

EXTREMES = (0, 1, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)


def readers(kind, path, lab):
    run = ["run", "sac-4chip", *sets(*SMALL), "--max-cycles", 20000, "-w"]
    return {"result": [["info", path], ["explain", path], ["compare", lab.sound("result"), path]],
            "trace": [[*run, path]], "sass": [[*run, path]], "workload": [[*run, path]],
            "checkpoint": [["resume", path, "-o", lab.fresh(".h5")]],
            "system": [["run", path, "-w", workload("hot"), "--max-cycles", 3000]],
            "experiment": [["sweep", path, "--list", "--out", lab.path("sweep")]], "ptx": [["ptx", path]]}[kind]


def damaged(rng, whole):
    """Bits that flip, bytes that go or come, an end that is missing."""
    at, kind = rng.randrange(len(whole)), rng.randrange(6)
    if kind <= 2:
        image = bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 8))):
            image[rng.randrange(len(image))] ^= 1 << rng.randrange(8)
        return bytes(image)
    if kind == 3:
        return whole[:at]
    if kind == 4:
        return whole[:at] + rng.randbytes(rng.randrange(1, 64)) + whole[at:]
    return whole[:at] + whole[at + rng.randrange(1, 64):]


def plain(lab):
    """Damage that checksums can tell of, where a file has them: then it must be refused, or change nothing."""
    rng = lab.rng
    kind = rng.choice(("result", "trace", "checkpoint", "sass", "workload", "system", "experiment", "ptx"))
    with open(lab.sound(kind), "rb") as file:
        whole = file.read()
    content = damaged(rng, whole)
    name = {"sass": "kernel-1.traceg", "checkpoint": "bad.h5.1.ckpt"}.get(kind, "bad." + lab.sound(kind).rsplit(".", 1)[1])
    if kind == "sass":  # the kernel's file beside its list, in a folder of its own
        with open(lab.path("kernel-1.traceg"), "rb") as file:
            content = damaged(rng, file.read())
        os.makedirs(lab.path("bad"), exist_ok=True)
        lab.write("bad/kernelslist.g", "kernel-1.traceg\n")
        lab.write("bad/kernel-1.traceg", content)
        path = lab.path("bad", "kernelslist.g")
    else:
        path = lab.write(name, content)
    command = rng.choice(readers(kind, path, lab))
    refused = lab.refused(lab.run(command))
    if kind in ("result", "checkpoint") and not refused and content != whole:
        raise Failure(f"damage was not seen: {command}")
    return "refused" if refused else "same" if content == whole else "kept"


class Checkpoint:
    """A checkpoint's parts, and its checksums made right again (docs/checkpoints.md)."""

    def __init__(self, image):
        self.preamble = bytearray(image[:48])
        size, = struct.unpack_from("<Q", image, 16)
        header, body = image[48:48 + size], image[48 + size:]
        for count in range(2, 66):  # the list of blocks ends the header
            at = len(header) - 8 - 16 * count
            blocks = [struct.unpack_from("<QQ", header, at + 8 + 16 * i) for i in range(count)]
            if struct.unpack_from("<Q", header, at)[0] == count and sum(b for b, _ in blocks) == len(body):
                break
        else:
            raise ValueError("not a checkpoint")
        self.header, self.blocks = header[:at], []
        for bytes_, _ in blocks:
            self.blocks.append(bytearray(body[:bytes_]))
            body = body[bytes_:]

    @staticmethod
    def crc(data):
        return _CRC64(bytes(data), len(data), 0)

    def image(self):
        header = self.header + struct.pack("<Q", len(self.blocks))
        for block in self.blocks:
            header += struct.pack("<QQ", len(block), self.crc(block))
        struct.pack_into("<QQ", self.preamble, 16, len(header), self.crc(header))
        struct.pack_into("<Q", self.preamble, 40, self.crc(self.preamble[:40]))
        return bytes(self.preamble) + header + b"".join(self.blocks)


SYSTEMS = (["llc.organisation=sac", "observe.sharing=true", "partition.placement=first_touch"],
           ["llc.organisation=sm_side", "coherence.protocol=hmg", "partition.placement=first_touch"],
           ["llc.organisation=sm_side", "coherence.protocol=full_map", "cluster.sharing=colab", "noc.sms_per_cluster=2"],
           ["llc.organisation=dynamic", "observe.sm_sharing=true", "link.topology=full"],
           ["llc.replication=selrep", "llc.remote_writes=through", "llc.index=linear"],
           ["llc.organisation=sm_side", "coherence.protocol=rec_adaptive", "chips=3"],
           ["chips=1", "noc.virtual_channels=4", "noc.slice_gbps=125"])


def edit(rng, block):
    """One place of a block, anywhere, or near its ends, where single fields are."""
    size = len(block)
    where = rng.randrange(4)
    at = (rng.randrange(size) if where < 2 else
          min(size - 1, int(size ** rng.random())) if where == 2 else max(0, size - int(size ** rng.random())))
    kind = rng.randrange(8)
    if kind <= 2:
        block[at] ^= 1 << rng.randrange(8)
    elif kind == 3:
        block[at] = rng.randrange(256)
    elif kind <= 5:
        width = rng.choice((1, 2, 4, 8))
        at = min(at, size - width)
        value = rng.choice(EXTREMES) if kind == 4 else int.from_bytes(block[at:at + width], "little") + rng.choice((-1, 1))
        block[at:at + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    elif kind == 6:
        other = rng.randrange(size)
        width = min(8, size - max(at, other))
        block[at:at + width], block[other:other + width] = block[other:other + width], block[at:at + width]
    else:
        block[at:at + rng.randrange(0, 9)] = rng.randbytes(rng.randrange(0, 9))


def sealed(lab):
    """A checkpoint put together by hand, with right checksums: refused, or gone on with to some end; no crash, no hang."""
    rng = lab.rng
    with open(lab.checkpoint(tuple(rng.choice(SYSTEMS)), rng.choice((2000, 8000))), "rb") as file:
        checkpoint = Checkpoint(file.read())
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        edit(rng, rng.choice(checkpoint.blocks))
    path = lab.write("crafted.h5.1.ckpt", checkpoint.image())
    outcome = lab.run(["resume", path, "-o", lab.fresh(".h5"), "--checkpoint-every", "none", "--max-cycles", 30000], timeout=90)
    return "refused" if lab.refused(outcome) else "kept"


def sealed_results(lab):
    """A result that is damaged behind its checksum: HDF5 1.10 crashes on some and turns in circles on others. Whoever reads it
    ends with numbers or with one message; who reads many goes on to the next."""
    rng = lab.rng
    folder = lab.sound("sweep")
    with open(os.path.join(folder, "w__a.h5"), "rb") as file:
        image = bytearray(file.read()[:-16])
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(96, len(image))
        if rng.random() < 0.5:
            image[at] ^= 1 << rng.randrange(8)
        else:
            image[at:at + 8] = struct.pack("<Q", rng.choice(EXTREMES))[:len(image) - at]
    bad = lab.path("crafted")
    shutil.rmtree(bad, ignore_errors=True)
    shutil.copytree(folder, bad)
    path = lab.write("crafted/w__a.h5", seal(bytes(image)))
    many = rng.random() < 0.5
    command = rng.choice((["table", bad], ["sweep", lab.sound("experiment"), "--list", "--out", bad, *sets(*SMALL)]) if many else
                         (["info", path], ["explain", path], ["compare", lab.sound("result"), path],
                          ["export", path, "--csv", lab.path("csv"), "--force"]))
    outcome = lab.run(command, timeout=150)
    if many and outcome.code != 0:
        raise Failure(f"one bad result of a sweep must not end `{command[0]}`: {outcome}")
    return "refused" if not many and lab.refused(outcome) else "kept"
