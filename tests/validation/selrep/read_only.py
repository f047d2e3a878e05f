#!/usr/bin/env python3
"""How many of the data structures that a launch only reads are marked read-only (SelRep section III-A): what the
compile-time analysis finds, against what the recorded launches do.

    read_only.py [TRACE.h5 ...]    of the committed traces, unless others are named

A structure is an allocation that a launch loads from; it is read-only if the launch stores nothing into it; it is found if
all loads from it carry the mark. Needs h5py and numpy (Debian: python3-h5py, /usr/bin/python3)."""

import pathlib
import sys

import h5py
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import trace_columns

TRACES = pathlib.Path(__file__).resolve().parents[3] / "inputs/workloads/traces"
LOAD, STORE, ATOMIC = 1, 2, 3
READ_ONLY = 1


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
            for address, op, _ in trace_columns.accesses(kernel):
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
