"""The accesses of a trace's launch as arrays (docs/traces.md). Needs h5py and numpy (Debian: python3-h5py)."""

import itertools
from collections.abc import Iterator

import h5py
import numpy
from numpy.typing import NDArray

BLOCK_BYTES = 128


def deltas(coded: NDArray[numpy.uint8]) -> NDArray[numpy.int64]:
    """Zigzag numbers of seven bits per byte, low bits first."""
    ends = numpy.flatnonzero(coded < 128)
    starts = numpy.append(0, ends[:-1] + 1)
    number = numpy.repeat(numpy.arange(ends.size), ends - starts + 1)
    shift = (numpy.arange(coded.size) - starts[number]) * 7
    parts = (coded & 127).astype(numpy.uint64) << shift.astype(numpy.uint64)
    values = numpy.bitwise_or.reduceat(parts, starts) if ends.size else parts
    return (values >> numpy.uint64(1)).astype(numpy.int64) ^ -(values & numpy.uint64(1)).astype(numpy.int64)


def accesses(kernel: h5py.Group) -> Iterator[tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.uint8]]]:
    """Block by block: byte address of every access, the row of its op in the columns of ops, and its sectors."""
    shared = "warp_program" in kernel  # else the file is of version 1, where each warp has its own ops
    index = kernel["block_index"][:].astype(numpy.int64).reshape(-1, 6 if shared else 5)
    if not shared:
        index = numpy.insert(index, 2, index[:, 1], axis=1)
    ops_of = kernel["program_ops" if shared else "warp_ops"][:].astype(numpy.int64)
    accesses_of, sectors, coded = kernel["op_accesses"][:], kernel["access_sectors"][:], kernel["access_delta"][:]
    for (_, warp, program, op, access, byte), end in itertools.pairwise(index):
        d = deltas(coded[byte:end[5]])
        if d.size == 0:
            continue
        count = ops_of[program:end[2]]
        begin = op + numpy.cumsum(count) - count
        which = kernel["warp_program"][warp:end[1]] if shared else numpy.arange(end[1] - warp)
        length = count[which]
        row = numpy.repeat(begin[which] - (numpy.cumsum(length) - length), length) + numpy.arange(length.sum())
        warp_of = numpy.repeat(numpy.repeat(numpy.arange(which.size), length), accesses_of[row])
        first = numpy.flatnonzero(numpy.diff(warp_of, prepend=-1))  # of each warp: counts from the warp's before
        base, sums = numpy.cumsum(d[first]), numpy.cumsum(d)
        nth = numpy.repeat(numpy.arange(first.size), numpy.diff(numpy.append(first, d.size)))
        address = (base[nth] + sums - sums[first][nth]) * BLOCK_BYTES
        yield address, numpy.repeat(row, accesses_of[row]), sectors[access:end[4]]
