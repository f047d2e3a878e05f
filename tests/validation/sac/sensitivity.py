#!/usr/bin/env python3
"""SAC's sensitivity study (section 5.6, Fig. 13 and 14) on all sixteen benchmarks.

    sensitivity.py [--jobs N] [--out DIR] [--atoll PATH] [--scale N] [--only AXIS...] [--write] [NAME...]
    sensitivity.py --check | --update       inputs/experiments/sac_sensitivity.json is, or becomes, what this script says

One command runs every point and prints the tables; what is in `--out` is not run again. --scale N divides LLC and footprints
by N; --write keeps what the runs gave in sensitivity.csv, beside what was kept before, and puts its tables into
docs/validation/sac.md, so that a study of hours can be made in several sittings. --kept makes the tables from
what is kept, without a run. Needs h5py.

An input k times as large has an LLC that is k times as small for it: input x4 is that LLC, which leaves launches as long as they
are; input / 4 is `scale` = 4 on an LLC that is not scaled, with launches that are as much shorter."""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "analysis"))
import report
import results_page
from atoll_analysis import capacity, load

EXPERIMENT = report.ROOT / "inputs/experiments/sac_sensitivity.json"
ORGANISATIONS = ("memory_side", "sm_side", "sac")
KEPT = pathlib.Path(__file__).resolve().parent / "sensitivity.csv"
FIGURES = ("cycles", "links", "memory", "miss")  # kept of each run: the busiest of them is what limits
BEGIN, END = "<!-- sensitivity: written by sensitivity.py -->", "<!-- end of sensitivity -->"
SIZE = 4096  # KiB of LLC per chip

# Axis, its points in order, and what each sets; nothing is the machine of Table 3. GDDR5 and HBM2 have 0.96 and 3.2 TB/s by their
# clock (the paper gives no numbers). Two chips share the ring's total link bandwidth, as in the paper; 8 and 16 have links of
# 96 GB/s.
AXES: dict[str, dict[str, dict[str, Any]]] = {
    "links, GB/s per direction": {
        "48": {"link.bandwidth_gbps": 48}, "96": {}, "192": {"link.bandwidth_gbps": 192}, "384": {"link.bandwidth_gbps": 384},
        "768": {"link.bandwidth_gbps": 768}},
    "LLC, MB": {"8": {"llc.size_kib": SIZE // 2}, "16": {}, "32": {"llc.size_kib": SIZE * 2}, "64": {"llc.size_kib": SIZE * 4}},
    "memory": {"GDDR5": {"dram.timing.clock_mhz": 1875}, "GDDR6": {}, "HBM2": {"dram.timing.clock_mhz": 6250}},
    "coherence": {"software": {}, "hardware": {"coherence.protocol": "full_map"}},
    "chips": {"2": {"chips": 2, "link.bandwidth_gbps": 384}, "4": {}, "8": {"chips": 8}, "16": {"chips": 16}},
    "sectors": {"off": {}, "on": {"llc.sectored": True, "l1.sectored": True}},
    "pages": {"4 KB": {}, "2 MB": {"partition.page_kib": 2048}},
    "input": {"x16": {"llc.size_kib": SIZE // 16}, "x4": {"llc.size_kib": SIZE // 4}, "x1": {},
              "/4": {"scale": 4, "llc.size_kib": SIZE * 4}, "/32": {"scale": 32, "llc.size_kib": SIZE * 32}},
}


def name_of(axis, point):
    if not AXES[axis][point]:
        return ""
    return "-" + "".join(c for c in f"{axis.split(',')[0]}{point}" if c.isalnum() or c == "/").replace("/", "div")


def experiment(scale=1, axes=None, names=None):
    variants: list[dict[str, Any]] = [{"name": o, "set": {"llc.organisation": o}} for o in ORGANISATIONS]
    for axis in axes or AXES:
        for point, keys in AXES[axis].items():
            suffix = name_of(axis, point)
            keys = dict(keys)
            if "scale" in keys:
                keys["scale"] *= scale
            for o in ORGANISATIONS if suffix else ():
                variants.append({"name": o + suffix, "set": {"llc.organisation": o, **keys}, "baseline": "memory_side" + suffix})
    return {
        "doc": "SAC's sensitivity study (section 5.6): written by tests/validation/sac/sensitivity.py, which says what each point stands"
               " for, runs them all and makes the tables of docs/validation/sac.md.",
        "system": "sac-4chip",
        **({"scale": scale} if scale > 1 else {}),
        "workloads": [{"name": w, "path": f"../workloads/sac/{w}.json", "group": "SP" if w in report.SP else "MP"}
                      for w in names or report.ALL],
        "variants": variants,
        "baseline": "memory_side",
    }


def text():
    asked = experiment()
    rows = lambda key: ",\n".join("    " + json.dumps(row) for row in asked[key])
    return (f'{{\n  "doc": {json.dumps(asked["doc"])},\n  "system": "sac-4chip",\n  "workloads": [\n{rows("workloads")}\n  ],\n'
            f'  "variants": [\n{rows("variants")}\n  ],\n  "baseline": "memory_side"\n}}\n')


def figures(path):
    """Run time, how busy links and memory are of their peak on that machine, and the miss rate of the LLC."""
    run = report.read(path)
    head = load(path)
    return {"cycles": run["cycles"], "links": run["links"] * report.LINKS / head.chips / capacity.link_bytes_per_cycle(head),
            "memory": run["memory"] * report.MEMORY / head.chips / capacity.dram_bytes_per_cycle(head), "miss": run["miss"]}


def read_kept(scale):
    """By workload and variant."""
    if not KEPT.exists():
        return {}
    with KEPT.open() as f:
        return {(row["workload"], row["variant"]): {k: float(row[k]) for k in FIGURES}
                for row in csv.DictReader(f) if int(row["scale"]) == scale}


def keep(runs, scale):
    """Replaces what was kept of this scale."""
    rows = []
    if KEPT.exists():
        with KEPT.open() as f:
            rows = [row for row in csv.DictReader(f) if int(row["scale"]) != scale]
    rows += [{"scale": scale, "workload": w, "variant": v, **{k: f"{x:.6g}" if k != "cycles" else f"{x:.0f}" for k, x in run.items()}}
             for (w, v), run in runs.items()]
    variants = [v["name"] for v in experiment()["variants"]]
    rows.sort(key=lambda r: (int(r["scale"]), report.ALL.index(r["workload"]), variants.index(r["variant"])))
    with KEPT.open("w", newline="") as f:
        writer = csv.DictWriter(f, ["scale", "workload", "variant", *FIGURES], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def speedup(runs, workload, organisation, suffix):
    """Over memory-side on the same machine; None without both runs."""
    base, other = (runs.get((workload, o + suffix)) for o in ("memory_side", organisation))
    return base["cycles"] / other["cycles"] if base and other else None


def complete(runs, half, suffix):
    """Benchmarks of a half of which a point has all runs."""
    return [w for w in half if all((w, o + suffix) in runs for o in ORGANISATIONS)]


def busy(runs, names, variant):
    """Means over benchmarks of links, memory and misses."""
    return " ".join(f"{sum(runs[w, variant][k] for w in names) / len(names):.2f}" for k in FIGURES[1:]) if names else ""


def count(names):
    return f" ({len(names)})" if 0 < len(names) < 8 else ""


def tables(runs, axes=AXES):
    lines = []
    for axis in axes:
        rows = []
        for point in AXES[axis]:
            suffix = name_of(axis, point)
            row = [point if suffix else f"**{point}**"]
            halves = [complete(runs, half, suffix) for half in (report.SP, report.MP)]
            for names in halves:
                for o in ORGANISATIONS[1:]:
                    mean = f"{report.harmonic(speedup(runs, w, o, suffix) for w in names):.2f}" if names else ""
                    row.append(mean + count(names))
            for names in halves:
                row += [busy(runs, names, o + suffix) for o in ORGANISATIONS[:2]]
            rows.append(row)
        lines += [f"**{axis}**", ""] + report.table(
            ["", "SM-side, SP", "SAC, SP", "SM-side, MP", "SAC, MP",
             *(f"{half}: {o}" for half in ("SP", "MP") for o in ("memory-side", "SM-side"))], rows)
    rows = []
    for w in report.ALL:
        row = [w]
        for axis in axes:
            cells = []
            for point in AXES[axis]:
                found = [speedup(runs, w, o, name_of(axis, point)) for o in ORGANISATIONS[1:]]
                cells.append("-" if None in found else f"{found[0]:.2f} {found[1]:.2f}")
            row.append("; ".join(cells))
        if any(c.strip("-; ") for c in row[1:]):
            rows.append(row)
    heads = [f"{axis}: {', '.join(AXES[axis])}" for axis in axes]
    return lines + ["Each benchmark, SM-side and SAC at the points of an axis in order.", ""] + report.table(["", *heads], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", type=pathlib.Path, help="default: results/sac_sensitivity, with the scale")
    parser.add_argument("--atoll", default=str(report.ROOT / "build/release/atoll"))
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=[a.split(",")[0] for a in AXES], help="axes; default: all")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--kept", action="store_true", help="run nothing")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    asked = parser.parse_args()
    if asked.update:
        EXPERIMENT.write_text(text())
        return
    if asked.check:
        sys.exit(0 if EXPERIMENT.read_text() == text() else f"{EXPERIMENT.name} is not what sensitivity.py writes: --update")
    out = (asked.out or report.ROOT / f"results/sac_sensitivity{'' if asked.scale == 1 else f'_{asked.scale}'}").resolve()
    if not asked.kept:
        out.mkdir(parents=True, exist_ok=True)
    names = asked.names or list(report.ALL)
    axes = [a for a in AXES if not asked.only or a.split(",")[0] in asked.only]
    runs = read_kept(asked.scale)
    if not asked.kept:
        whole = experiment(asked.scale, axes, names)
        for w in whole["workloads"]:
            w["path"] = str(EXPERIMENT.parent / w["path"])
        path = out / "asked.json"
        path.write_text(json.dumps(whole, indent=1))
        subprocess.run([asked.atoll, "sweep", str(path), "--jobs", asked.jobs, "--out", str(out)], check=True)
        runs |= {(w, v["name"]): figures(out / f"{w}__{v['name']}.h5") for w in names for v in whole["variants"]}
    lines = tables(runs)
    print("\n".join(lines))
    if asked.write:
        keep(runs, asked.scale)
        results_page.write(report.PAGE, lines, BEGIN, END)


if __name__ == "__main__":
    main()
