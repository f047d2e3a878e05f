"""What tests need that write results: the checksum without which the program reads none."""

import struct


def seal(image):
    """The bytes of a result with their checksum behind them: the program's digest of words of eight bytes, and the length."""
    word, state = (1 << 64) - 1, 0x243F6A8885A308D3
    for (n,) in [*struct.iter_unpack("<Q", image + bytes(-len(image) % 8)), (len(image),)]:
        mixed = state ^ n
        state = (mixed << 29 | mixed >> 35) * 0x9E3779B97F4A7C15 & word
    return image + b"ATOLSEAL" + struct.pack("<Q", state ^ state >> 31)
