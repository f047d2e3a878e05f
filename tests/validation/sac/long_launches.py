#!/usr/bin/env python3
"""What SAC's profiling and switching cost in launches as long as the paper's (its section 3.2: 2,000 cycles are less than 1 %).

    long_launches.py [--jobs N] [--out DIR] [--atoll PATH] [NAME...]

The profiles' launches are cut short. Here the first launch of each (of BFS: the first two) runs so many times as long, over the
same data, and SAC is compared with a machine that has the same network and is SM-side from its start, and with the
published SM-side machine, whose network is doubled. Prints the table of sac.md. Needs h5py (/usr/bin/python3)."""

import argparse
import json
import pathlib
import subprocess

import report

ROOT = report.ROOT
TIMES = {"AN": 10, "SN": 7, "CFD": 4, "BFS": 7, "BS": 7, "BT": 7}  # to some 0.6 M cycles
VARIANTS = {
    "sac": {"llc.organisation": "sac"},
    "oracle": {"llc.organisation": "sm_side", "llc.network": "shared"},
    "sm_side": {"llc.organisation": "sm_side"},
}


def longer(name):
    workload = json.loads((ROOT / f"inputs/workloads/sac/{name}.json").read_text())
    launches = 2 if name == "BFS" else 1
    workload["doc"] = f"The first launch of {name}.json, {TIMES[name]} times as long."
    workload["kernels"] = workload["kernels"][:1 + launches]  # the first one places pages
    for kernel in workload["kernels"][1:]:
        kernel["memory_instructions"] *= TIMES[name]
    return workload


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/sac_long")
    parser.add_argument("--atoll", default=ROOT / "build/release/atoll")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TIMES)}; default: all")
    asked = parser.parse_args()
    names = asked.names or list(TIMES)
    out = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        (out / f"{name}.json").write_text(json.dumps(longer(name), indent=1))
    experiment = out / "sac_long.json"
    experiment.write_text(json.dumps({
        "doc": "SAC in launches of the paper's length", "system": "sac-4chip", "set": {"control.sample_cycles": 10000},
        "workloads": [{"name": n, "path": f"{n}.json"} for n in names],
        "variants": [{"name": v, "set": s} for v, s in VARIANTS.items()], "baseline": "oracle"}, indent=1))
    subprocess.run([asked.atoll, "sweep", experiment, "--jobs", asked.jobs, "--out", out], check=True)
    rows = []
    for name in names:
        runs = {v: report.read(out / f"{name}__{v}.h5") for v in VARIANTS}
        cycles = {v: run["cycles"] for v, run in runs.items()}
        launches = " and ".join(f"{end - start:,.0f}" for _, start, end in runs["oracle"]["kernels"][1:])
        chosen = " and ".join(sorted({d["choice"] for d in runs["sac"]["decisions"]}))
        rows.append([name, launches, chosen, f"{100 * (cycles['sac'] / cycles['oracle'] - 1):+.2f} %",
                     f"{100 * (cycles['sac'] / cycles['sm_side'] - 1):+.2f} %"])
    print("\n".join(report.table(["", "cycles of a launch", "SAC chose", "SAC takes longer than the oracle", "than SM-side"], rows)))


if __name__ == "__main__":
    main()
