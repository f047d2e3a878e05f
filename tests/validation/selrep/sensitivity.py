#!/usr/bin/env python3
"""SelRep's sensitivity study (section V-C) on the profiles of make_profiles.py.

    sensitivity.py [--jobs N] [--out DIR] [--atoll PATH] [--only AXIS...] [--write] [NAME...]
    sensitivity.py --check | --update    inputs/experiments/selrep_sensitivity.json is, or becomes, what this script says

One command runs every point and prints the tables; what is in `--out` is not run again. --write keeps what the runs gave in
sensitivity.csv, beside what was kept before, and puts its tables into docs/validation/selrep.md. --kept makes the tables from
what is kept, without a run. Needs h5py.

The paper names the axes, not all of their points: beside 16 B channels they are ours, halves and doubles of the machine of
Table I. Benchmarks have its LLC of 4 MB, so the ratio of data to LLC varies on the LLC's axis alone."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import axes
import make_profiles as profiles
import report
from axes import Settings, Study
from report import STATIC, harmonic, mean, show, table

WORKLOADS = ("an", "rn", "sn", "nn_2", "mm_2")
CHANNEL, MEMORY_MHZ, HOP = 44.8, 585.9375, 8  # GB/s of 32 B at 1.4 GHz; 600 GB/s; cycles of two routers, each way
WIDTH = ("noc.cluster_gbps", "noc.slice_gbps", "llc.slice_gbps")


def channels(times: float) -> Settings:
    return {"noc.flit_bytes": int(32 * times), **dict.fromkeys(WIDTH, CHANNEL * times)}


def routers(cycles: int) -> Settings:
    """So many more in each of the two routers of a way."""
    return {f"noc.{way}_latency_cycles": HOP + 2 * cycles for way in ("request", "response")}


# Axis, its points in order, and what each sets; nothing is the machine of Table I. Clusters stay 16, of fewer or more SMs.
AXES: dict[str, dict[str, Settings]] = {
    "LLC, MB": {"0.5": {"llc.size_kib": 512}, "1": {"llc.size_kib": 1024}, "2": {"llc.size_kib": 2048}, "4": {},
                "8": {"llc.size_kib": 8192}},
    "memory, GB/s": {"300": {"dram.timing.clock_mhz": MEMORY_MHZ / 2}, "600": {}, "900": {"dram.timing.clock_mhz": MEMORY_MHZ * 1.5},
                     "1200": {"dram.timing.clock_mhz": MEMORY_MHZ * 2}},
    "SMs": {"32": {"sm.count": 32, "noc.sms_per_cluster": 2}, "64": {}, "128": {"sm.count": 128, "noc.sms_per_cluster": 8}},
    "L1, KB": {"24": {"l1.size_kib": 24}, "48": {}, "96": {"l1.size_kib": 96}},
    "CTA scheduler": {"two-level": {}, "round robin": {"partition.cta_to_sm": "round_robin"}, "blocks": {"partition.cta_to_sm": "bcs"}},
    "channels, B": {"16": channels(0.5), "32": {}, "64": channels(2)},
    # What the two axes say of each other, written down before its runs: a crossbar that is short of bandwidth, and memory that is
    # not, are where replication must pay most, more than at either alone (1.12 and 1.06 for the best static degree).
    "channels, B; memory, GB/s": {"32; 600": {}, "16; 1200": {**channels(0.5), "dram.timing.clock_mhz": MEMORY_MHZ * 2}},
    "router cycles": {"+0": {}, "+1": routers(1), "+2": routers(2), "+4": routers(4)},
}
ORGANISATIONS: dict[str, Settings] = {o: {"llc.replication": o} for o in (*STATIC, "selrep")}


def organisations(axis, _point):
    """Router cycles are what replication costs: Shared has routers without them."""
    return {o: s for o, s in ORGANISATIONS.items() if axis != "router cycles" or o != "shared"}


STUDY = Study(
    experiment=report.ROOT / "inputs/experiments/selrep_sensitivity.json",
    head={"doc": "SelRep's sensitivity study (section V-C): written by tests/validation/selrep/sensitivity.py, which says what each point"
                 " stands for, runs them all and makes the tables of docs/validation/selrep.md.",
          "system": "selrep-gpu", "set": {"llc.write_back_at_end": True}},
    workloads=[{"name": w, "path": f"../workloads/selrep/{w}.json"} for w in WORKLOADS],
    axes=AXES, organisations=ORGANISATIONS, kept=pathlib.Path(__file__).resolve().parent / "sensitivity.csv",
    figures=("cycles", "replies", "miss"), only=organisations)


def figures(path):
    run = report.read(path)
    return {k: run[k] for k in STUDY.figures}


def tables(runs):
    lines = []
    for axis, points in AXES.items():
        rows = []
        for point in points:
            suffix = STUDY.suffix(axis, point)
            base = "shared" + (suffix if "shared" in organisations(axis, point) else "")
            others = [o for o in ORGANISATIONS if o != "shared"]
            names = [w for w in WORKLOADS if (w, base) in runs and all((w, o + suffix) in runs for o in others)]
            if not names:
                continue
            speed = {(w, o): STUDY.speedup(runs, w, o, axis, point) for w in names for o in others}
            best = {w: max(1.0, *(speed[w, o] for o in others if o != "selrep")) for w in names}
            known = [w for w in names if (w, "shared") in runs]
            row = [point if suffix else f"**{point}**",
                   show(harmonic([runs[w, "shared"]["cycles"] / runs[w, base]["cycles"] for w in known]))]
            row += [show(mean([runs[w, base][k] for w in names]), form) for k, form in (("replies", ".1f"), ("miss", ".2f"))]
            row += [show(harmonic([speed[w, o] for w in names])) for o in others if o != "selrep"]
            row += [show(harmonic(list(best.values()))), show(harmonic([speed[w, "selrep"] for w in names]))]
            rows.append(row + [f"{best[w]:.2f} {speed[w, 'selrep']:.2f}" if w in names else "-" for w in WORKLOADS])
        if rows:
            lines += [f"**{axis}**", ""] + table(
                ["", "Shared's speed", "its replies", "its misses", "2", "4", "8", "Private", "best static", "SelRep", *WORKLOADS], rows)
    return lines


if __name__ == "__main__":
    axes.main(STUDY, __doc__, profiles.PAGE, figures, tables)
