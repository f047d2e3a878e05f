#!/usr/bin/env python3
"""SAC's sensitivity study (section 5.6, Fig. 13 and 14) on all sixteen benchmarks.

    sensitivity.py [--jobs N] [--out DIR] [--atoll PATH] [--only AXIS...] [--write] [NAME...]
    sensitivity.py --check | --update       inputs/experiments/sac_sensitivity.json is, or becomes, what this script says

One command runs every point and prints the tables; what is in `--out` is not run again. --write keeps what the runs gave in
sensitivity.csv, beside what was kept before, and puts its tables into docs/validation/sac.md, so that a study of hours can be
made in several sittings. --kept makes the tables from what is kept, without a run. Needs h5py.

An input k times as large has an LLC that is k times as small for it: input x4 is that LLC, which leaves launches as long as they
are; input / 4 is `scale` = 4 on an LLC that is not scaled, with launches that are as much shorter."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import axes
import report
from atoll_analysis import capacity, load
from axes import Settings, Study

SIZE = 4096  # KiB of LLC per chip

# Axis, its points in order, and what each sets; nothing is the machine of Table 3. GDDR5 and HBM2 have 0.96 and 3.2 TB/s by their
# clock (the paper gives no numbers). Two chips share the ring's total link bandwidth, as in the paper; 8 and 16 have links of
# 96 GB/s. Links of 768 GB/s have buffers for what is on its way there and back, 407 packets and more.
AXES: dict[str, dict[str, Settings]] = {
    "links, GB/s per direction": {
        "48": {"link.bandwidth_gbps": 48}, "96": {}, "192": {"link.bandwidth_gbps": 192}, "384": {"link.bandwidth_gbps": 384},
        "768": {"link.bandwidth_gbps": 768, "link.buffer_packets": 1024}},
    "LLC, MB": {"8": {"llc.size_kib": SIZE // 2}, "16": {}, "32": {"llc.size_kib": SIZE * 2}, "64": {"llc.size_kib": SIZE * 4}},
    "memory": {"GDDR5": {"dram.timing.clock_mhz": 1875}, "GDDR6": {}, "HBM2": {"dram.timing.clock_mhz": 6250}},
    "coherence": {"software": {}, "hardware": {"coherence.protocol": "full_map"}},
    "chips": {"2": {"chips": 2, "link.bandwidth_gbps": 384}, "4": {}, "8": {"chips": 8}, "16": {"chips": 16}},
    "sectors": {"off": {}, "on": {"llc.sectored": True, "l1.sectored": True}},
    "pages": {"4 KB": {}, "2 MB": {"partition.page_kib": 2048}},
    "input": {"x16": {"llc.size_kib": SIZE // 16}, "x4": {"llc.size_kib": SIZE // 4}, "x1": {},
              "/4": {"scale": 4, "llc.size_kib": SIZE * 4}, "/32": {"scale": 32, "llc.size_kib": SIZE * 32}},
}


STUDY = Study(
    experiment=report.ROOT / "inputs/experiments/sac_sensitivity.json",
    head={"doc": "SAC's sensitivity study (section 5.6): written by tests/validation/sac/sensitivity.py, which says what each point stands"
                 " for, runs them all and makes the tables of docs/validation/sac.md.",
          "system": "sac-4chip"},
    workloads=[{"name": w, "path": f"../workloads/sac/{w}.json", "group": "SP" if w in report.SP else "MP"} for w in report.ALL],
    axes=AXES, organisations={o: {"llc.organisation": o} for o in ("memory_side", "sm_side", "sac")},
    kept=pathlib.Path(__file__).resolve().parent / "sensitivity.csv",
    figures=("cycles", "links", "memory", "miss"))  # the busiest of them is what limits


def figures(path):
    """Run time, how busy links and memory are of their peak on that machine, and the miss rate of the LLC."""
    run = report.read(path)
    head = load(path)
    return {"cycles": run["cycles"], "links": run["links"] * report.LINKS / head.chips / capacity.link_bytes_per_cycle(head),
            "memory": run["memory"] * report.MEMORY / head.chips / capacity.dram_bytes_per_cycle(head), "miss": run["miss"]}


def complete(runs, half, suffix):
    """Benchmarks of a half of which a point has all runs."""
    return [w for w in half if all((w, o + suffix) in runs for o in STUDY.organisations)]


def busy(runs, names, variant):
    """Means over benchmarks of links, memory and misses."""
    return " ".join(f"{sum(runs[w, variant][k] for w in names) / len(names):.2f}" for k in STUDY.figures[1:]) if names else ""


def count(names):
    return f" ({len(names)})" if 0 < len(names) < 8 else ""


def tables(runs):
    memory_side, *others = STUDY.organisations
    lines = []
    for axis, points in AXES.items():
        rows = []
        for point in points:
            suffix = STUDY.suffix(axis, point)
            row = [point if suffix else f"**{point}**"]
            halves = [complete(runs, half, suffix) for half in (report.SP, report.MP)]
            for names in halves:
                for o in others:
                    mean = f"{report.harmonic(STUDY.speedup(runs, w, o, axis, point) for w in names):.2f}" if names else ""
                    row.append(mean + count(names))
            for names in halves:
                row += [busy(runs, names, o + suffix) for o in (memory_side, "sm_side")]
            rows.append(row)
        lines += [f"**{axis}**", ""] + report.table(
            ["", "SM-side, SP", "SAC, SP", "SM-side, MP", "SAC, MP",
             *(f"{half}: {o}" for half in ("SP", "MP") for o in ("memory-side", "SM-side"))], rows)
    rows = []
    for w in report.ALL:
        row = [w]
        for axis, points in AXES.items():
            cells = []
            for point in points:
                found = [STUDY.speedup(runs, w, o, axis, point) for o in others]
                cells.append("-" if None in found else f"{found[0]:.2f} {found[1]:.2f}")
            row.append("; ".join(cells))
        if any(c.strip("-; ") for c in row[1:]):
            rows.append(row)
    heads = [f"{axis}: {', '.join(points)}" for axis, points in AXES.items()]
    return lines + ["Each benchmark, SM-side and SAC at the points of an axis in order.", ""] + report.table(["", *heads], rows)


if __name__ == "__main__":
    axes.main(STUDY, __doc__, report.PAGE, figures, tables)
