#!/usr/bin/env python3
"""What the base machine (Shared) does with SelRep's workloads, as a table: load, L1, LLC, and how SMs share.

    workload_table.py DIR    results of points NAME__*.h5 that were run with observe.sm_sharing=true

Needs h5py (Debian: python3-h5py, /usr/bin/python3)."""

import pathlib
import sys

import h5py


def read(path):
    with h5py.File(path) as f:
        total = lambda counter: float(f["totals/" + counter][:].sum())
        shared = lambda column: f["sm_sharing/" + column][:].astype(float)
        cycles, line = float(f.attrs["cycles"]), float(f["sm_sharing/line_bytes"][0])
        spans = (f["kernels/finished"][:] - f["kernels/launched"][:]).astype(float)
        sets = shared("shared_lines") * line / 1e6
        loads = shared("shared_loads").sum()
        replies = sum(float(f["latency/" + o][:].sum()) for o in ("local_llc", "remote_llc", "local_memory", "remote_memory"))
        window = lambda n: shared(f"window_lines_{n}").sum() / max(1.0, shared("window_lines").sum())
        return {
            "shared MB": (spans * sets[: len(spans)]).sum() / spans.sum(),
            "K cycles": cycles / 1e3,
            "M events": float(f["provenance"].attrs["events"]) / 1e6,
            "IPC per SM": total("warp.instructions") / cycles / 64,
            "replies per cycle": replies / cycles,
            "L1 hit": total("l1.hits") / total("l1.accesses"),
            "LLC miss": total("llc.misses") / total("llc.accesses"),
            "read-only": shared("shared_read_only_lines").sum() / shared("shared_lines").sum(),
            "by LLC": (loads - shared("shared_l1_hits").sum() - shared("shared_l1_merges").sum()) / loads,
            "> 2 SMs": window(3),
            "> 9 SMs": window(10),
        }


def row(path):
    digits = {"K cycles": 0, "M events": 0, "replies per cycle": 1}
    return [path.stem.split("__")[0]] + [f"{value:.{digits.get(name, 2)}f}" for name, value in read(path).items()]


def main():
    head = ["", "shared MB", "K cycles", "M events", "IPC per SM", "replies per cycle", "L1 hit", "LLC miss", "read-only",
            "by LLC", "> 2 SMs", "> 9 SMs"]
    rows = [row(p) for p in sorted(pathlib.Path(sys.argv[1]).glob("*__*.h5"))]
    for line in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(line) + " |")
    if rows:
        mean = lambda i: sum(float(r[i]) for r in rows) / len(rows)
        print("| mean | " + " | ".join("" if i in (1, 2, 3) else f"{mean(i):.2f}" for i in range(1, len(head))) + " |")


if __name__ == "__main__":
    main()
