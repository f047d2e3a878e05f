"""The digest of a file as results have it of a policy's (core/engine/file_digest.hpp)."""

import os
from collections.abc import Iterable

import numpy as np

_PIECE = 16 << 20  # bytes: larger files are digested in pieces
_START, _FACTOR, _MASK = 0x243F6A8885A308D3, 0x9E3779B97F4A7C15, 2**64 - 1


def _digest(words: Iterable[int]) -> int:
    state = _START
    for word in words:
        state ^= word
        state = ((state << 29 | state >> 35) & _MASK) * _FACTOR & _MASK
    return state ^ state >> 31


def digest_of_bytes(data: bytes) -> int:
    """Of words of eight bytes, the last filled with zeros, and the length (core/engine/digest.hpp)."""
    padded = data + bytes(-len(data) % 8)
    return _digest([*np.frombuffer(padded, "<u8").tolist(), len(data)])


def digest_of_file(path: str | os.PathLike[str]) -> str:
    """16 hexadecimal digits; nothing for what is no regular file or cannot be read."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            pieces = [digest_of_bytes(piece) for piece in iter(lambda: file.read(_PIECE), b"")] or [digest_of_bytes(b"")]
    except OSError:
        return ""
    return f"{pieces[0] if len(pieces) == 1 else _digest(pieces):016x}"
