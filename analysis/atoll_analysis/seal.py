"""The checksum behind a result, which is looked at before HDF5 is: that library can crash on damaged files."""

import os
import struct

from atoll_analysis.errors import BadResult, check_input
from atoll_analysis.file_digest import digest_of_bytes

_MARK = b"ATOLSEAL"
_SEAL_BYTES = 16
# Superblock version 0 (HDF5 file format specification, II.A), which is what results have.
_SUPERBLOCK = b"\x89HDF\r\n\x1a\n\0"
_END_OF_FILE = 40  # offset of the field that says how long the HDF5 part is


def sealed(image: bytes) -> bytes:
    """The bytes of an HDF5 file with their checksum behind them."""
    return image + _MARK + struct.pack("<Q", digest_of_bytes(image))


def check_seal(path: str | os.PathLike[str]) -> None:
    """BadResult if the bytes do not fit the checksum, or there is none."""
    check_input(path)
    with open(path, "rb") as raw:
        image = raw.read()
    if not image:
        raise BadResult(path, "is empty; run the simulation again")
    if not image.startswith(_SUPERBLOCK[:8]):
        raise BadResult(path, "is not an HDF5 file; give the file named by `atoll run -o`")
    end, = struct.unpack_from("<Q", image.ljust(_END_OF_FILE + 8, b"\0"), _END_OF_FILE)
    marked = image[-_SEAL_BYTES:].startswith(_MARK)
    if not marked and b"atoll-trace" in image:
        raise BadResult(path, "is a trace and no result: `atoll run --workload` simulates it")
    if not image.startswith(_SUPERBLOCK) or (not marked and len(image) == end):
        raise BadResult(path, "has no checksum behind its data: it is still being written, or another program changed it "
                        "(--force-damaged reads it all the same, and HDF5 may crash)")
    if marked and len(image) - _SEAL_BYTES == end:
        seal, = struct.unpack_from("<Q", image, end + len(_MARK))
        if seal == digest_of_bytes(image[:end]):
            return
    raise BadResult(path, "is truncated or damaged: its bytes do not fit the checksum behind them; copy it again, or run the "
                    "simulation again (--force-damaged looks at it all the same, and HDF5 may crash)")


#: Of a run whose result was read all the same.
UNSOUND = "Its checksum is missing or does not fit: nothing that is said of this run need be true."


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether the bytes fit a checksum behind them."""
    try:
        check_seal(path)
    except BadResult:
        return False
    return True
