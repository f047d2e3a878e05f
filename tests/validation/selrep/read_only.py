#!/usr/bin/env python3
"""How many of the data structures that a launch only reads are marked read-only (SelRep section III-A): what the
compile-time analysis finds, against what the recorded launches do.

    read_only.py [TRACE.h5 ...]    of the committed traces, unless others are named

A structure is an allocation that a launch loads from; it is read-only if the launch stores nothing into it; it is found if
all loads from it carry the mark. Needs h5py and numpy (Debian: python3-h5py, /usr/bin/python3)."""

import itertools
import pathlib
import sys

import h5py
import numpy

TRACES = pathlib.Path(__file__).resolve().parents[3] / "inputs/workloads/traces"
LOAD, STORE, ATOMIC = 1, 2, 3
READ_ONLY = 1


def deltas(coded):
    """Zigzag numbers of seven bits per byte, low bits first."""
    ends = numpy.flatnonzero(coded < 128)
    starts = numpy.append(0, ends[:-1] + 1)
    number = numpy.repeat(numpy.arange(ends.size), ends - starts + 1)
    shift = (numpy.arange(coded.size) - starts[number]) * 7
    parts = (coded & 127).astype(numpy.uint64) << shift.astype(numpy.uint64)
    values = numpy.bitwise_or.reduceat(parts, starts) if ends.size else parts
    return (values >> numpy.uint64(1)).astype(numpy.int64) ^ -(values & numpy.uint64(1)).astype(numpy.int64)


def accesses(kernel):
    """Byte address of every access of a launch, and the op that it belongs to; block by block."""
    index = kernel["block_index"][:].astype(numpy.int64).reshape(-1, 5)
    ops_of, accesses_of = kernel["warp_ops"][:], kernel["op_accesses"][:]
    coded = kernel["access_delta"][:]
    for (_, warp, op, _, byte), (_, warp_end, op_end, _, byte_end) in itertools.pairwise(index):
        d = deltas(coded[byte:byte_end])
        if d.size == 0:
            continue
        warp_of_op = numpy.repeat(numpy.arange(warp_end - warp), ops_of[warp:warp_end])
        op_of = numpy.repeat(numpy.arange(op, op_end), accesses_of[op:op_end])
        warp_of = warp_of_op[op_of - op]
        first = numpy.flatnonzero(numpy.diff(warp_of, prepend=-1))  # of each warp: counts from the warp's before
        base, sums = numpy.cumsum(d[first]), numpy.cumsum(d)
        which = numpy.repeat(numpy.arange(first.size), numpy.diff(numpy.append(first, d.size)))
        yield (base[which] + sums - sums[first][which]) * 128, op_of


def structures(path):
    """Those that launches only read, and those of them that are found."""
    read_only = found = 0
    with h5py.File(path) as f:
        begin = f["allocations/address"][:].astype(numpy.int64)
        size = f["allocations/size"][:].astype(numpy.int64)
        order = numpy.argsort(begin)
        begin, end = begin[order], (begin + size)[order]
        for kernel in f["kernels"].values():
            kind, flags = kernel["op_kind"][:], kernel["op_flags"][:]
            loaded, unmarked, written = (numpy.zeros(begin.size + 1, bool) for _ in range(3))
            for address, op in accesses(kernel):
                which = numpy.searchsorted(begin, address, side="right") - 1  # allocations begin with a block
                which[(which < 0) | (address >= end[which])] = begin.size  # local memory and the like
                load = kind[op] == LOAD
                loaded[which[load]] = True
                unmarked[which[load & (flags[op] & READ_ONLY == 0)]] = True
                written[which[(kind[op] == STORE) | (kind[op] == ATOMIC)]] = True
            only = (loaded & ~written)[:-1]
            read_only += int(only.sum())
            found += int((only & ~unmarked[:-1]).sum())
    return found, read_only


def main():
    for path in [pathlib.Path(p) for p in sys.argv[1:]] or sorted(TRACES.glob("*.h5")):
        found, read_only = structures(path)
        print(f"{path.stem}: {found} of {read_only}")


if __name__ == "__main__":
    main()
