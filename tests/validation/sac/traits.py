#!/usr/bin/env python3
"""What our own recordings say of SAC's applications, for the profiles: instructions per request, and lines touched in part.

    traits.py [--build DIR] [--out DIR] [NAME...]     measures, writes traits.json beside this file

Each program of the workload library (docs/workload_library.md) is recorded at two sizes and run on sac-4chip, memory-side.
What the profiles take of it, and what not, is decided in make_profiles.py by rules that were written before the profiles
were run. Needs h5py, numpy and the programs, which CMake builds where it finds nvcc. What is in DIR is not done again."""

import argparse
import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import trace_columns

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = pathlib.Path(__file__).with_name("traits.json")

# The default size, and one with about four times the work. PolyBench's products add to the element in memory.
PROGRAMS = {
    "RN": ("cnn --network resnet", "cnn --network resnet --image 133"),
    "AN": ("cnn --network alexnet", "cnn --network alexnet --image 133"),
    "SN": ("cnn --network squeezenet", "cnn --network squeezenet --image 133"),
    "CFD": ("cfd", "cfd --width 384 --height 256"),
    "BFS": ("bfs", "bfs --nodes 262144"),
    "3DC": ("conv3d", "conv3d --rows 384 --columns 384"),
    "BS": ("blackscholes", "blackscholes --options 983040"),
    "BT": ("btree", "btree --records 800000 --queries 16384"),
    "SRAD": ("srad", "srad --rows 768 --columns 768"),
    "GEMM": ("gemm --sum memory", "gemm --sum memory --ni 512 --nj 512"),
    "LUD": ("lud", "lud --tiles 32"),
    "STEN": ("stencil3d", "stencil3d --nx 256 --ny 256"),
    "3MM": ("mm3 --sum memory", "mm3 --sum memory --ni 256 --nj 256 --nk 256 --nl 256 --nm 256"),
    "BP": ("backprop", "backprop --ctas 4096"),
    "DWT": ("dwt2d", "dwt2d --width 1024 --height 1024"),
    "NN": ("nn", "nn --images 64"),
}


def sectors(trace):
    """Of the lines that the launches touch: share of which some sector stays untouched by the launch, and sectors of those."""
    lines = partial = touched = 0
    with h5py.File(trace) as f:
        for kernel in f["kernels"].values():
            if kernel["access_delta"].shape[0] == 0:
                continue
            blocks = list(trace_columns.accesses(kernel))
            where, mask = (np.concatenate([block[column] for block in blocks]) for column in (0, 2))
            order = np.argsort(where, kind="stable")
            where, mask = where[order], mask[order]
            start = np.concatenate([[0], np.flatnonzero(np.diff(where)) + 1])
            union = np.bitwise_or.reduceat(mask, start)
            count = np.unpackbits(union[:, None], axis=1).sum(axis=1)
            lines += len(union)
            partial += int((count < 4).sum())
            touched += int(count[count < 4].sum())
    return {"partial_lines": round(partial / lines, 4), "partial_sectors": round(touched / max(1, partial), 2)}


def run(atoll, trace, result):
    if not result.exists():
        subprocess.run([atoll, "run", "sac-4chip", "-w", str(trace), "-o", str(result)], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(result) as f:
        total = lambda counter: float(f["totals/" + counter][:].sum())
        requests = total("requests.local") + total("requests.remote")
        return {"instructions_per_request": round(total("warp.instructions") / requests, 2),
                "instructions_per_miss": round(total("warp.instructions") / total("l1.misses"), 2),
                "stores": round(total("l1.stores") / requests, 3), "requests": int(requests)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/sac_traits")
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    atoll = asked.build + "/atoll"
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for name in asked.names or PROGRAMS:
        rows = []
        for size, command in zip(("default", "larger"), PROGRAMS[name]):
            trace = asked.out / f"{name}_{size}.h5"
            if not trace.exists():
                program, *options = command.split()
                subprocess.run([atoll, "record", "-o", str(trace), "--", f"{asked.build}/workloads/{program}", *options],
                               check=True, stdout=subprocess.DEVNULL)
            rows.append({"program": command, **run(atoll, trace, asked.out / f"{name}_{size}_run.h5"), **sectors(trace)})
        table[name] = rows
        TABLE.write_text(json.dumps({n: table[n] for n in PROGRAMS if n in table}, indent=1) + "\n")
        print(name, *rows, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
