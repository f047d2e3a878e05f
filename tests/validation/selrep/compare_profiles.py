#!/usr/bin/env python3
"""Runs the organisations on the profiles of make_profiles.py and writes tables and averages (claims 53 to 73) into
docs/validation/selrep.md.

    compare_profiles.py [--atoll PATH] [--stop-after MINUTES]     runs what profiles.csv beside this file lacks, then writes
    compare_profiles.py --no-run                                  only writes
    compare_profiles.py --redo                                    begins profiles.csv anew

Each run is a line of profiles.csv as soon as it ends, so that a later call goes on; runs without the joules by price are
made again. Needs h5py."""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import energy_prices
import make_profiles as profiles
import report
import results_page
from report import STATIC, harmonic, show, table
from workloads import CONFIGURATIONS, LLC_KIB, NEUTRAL, SENSITIVE

TABLE = pathlib.Path(__file__).with_name("profiles.csv")
COLUMNS = ("condition", "workload", "variant", "cycles", "kernels", "miss", "replies", "prices", "choices",
           *(f"hit_{d}" for d in STATIC), *(f"lsp_{d}" for d in STATIC))

# All organisations pay for what is dirty at the end: SelRep's last flush would be charged to it alone otherwise.
ALL = ("llc.write_back_at_end=true",)
SELREP = ("llc.replication=selrep",)
BEST_WITHIN = (*SELREP, "selrep.restart=kernel", "selrep.margin=0.02", "selrep.tie=highest")
VARIANTS = {
    **{d: (f"llc.replication={d}",) for d in STATIC},
    "adaptive": ("llc.replication=adaptive",),
    "selrep": SELREP,  # as published
    "selrep_margin": BEST_WITHIN,  # ours: epochs begin with kernels, the highest degree within 2 % of the best bandwidth
    "selrep_flush": (*BEST_WITHIN, "selrep.flush=replicas"),
    "selrep_shadow": (*BEST_WITHIN, "selrep.flush=replicas", "selrep.directory=shadow_tags", "selrep.directory_sets=1"),
    "selrep_restart": (*SELREP, "selrep.restart=kernel"),
    "selrep_replies": (*SELREP, "selrep.restart=kernel", "selrep.limit=replies"),
    "selrep_replies_shadow": (*SELREP, "selrep.restart=kernel", "selrep.limit=replies", "selrep.flush=replicas",
                              "selrep.directory=shadow_tags", "selrep.directory_sets=1"),
    **{f"{d}_kept": (f"llc.replication={d}", "selrep.flush=replicas") for d in ("degree_4", "degree_8", "private")},
}
FIRST = ("shared", "private", "selrep", "selrep_margin", "degree_4", "degree_2", "degree_8", "adaptive")
KEPT = ("degree_8_kept", "selrep_flush", "private_kept", "degree_4_kept")
REST = ("selrep_shadow", "selrep_flush", "selrep_restart", "selrep_replies", "selrep_replies_shadow")
OURS = {"selrep_restart": "restart per kernel", "selrep_margin": "and highest degree within 2 %",
        "selrep_flush": "and only replicas flushed", "selrep_shadow": "and shadow tags",
        "selrep_replies": "restart per kernel and replies' conflicts",
        "selrep_replies_shadow": "replies' conflicts, shadow tags, only replicas flushed"}

# Constants of a profile that are varied, for some configurations and organisations.
CONDITIONS: dict[str, dict[str, float]] = {
    "in_flight_16": {"in_flight": 16}, "in_flight_2": {"in_flight": 2}, "in_flight_4": {"in_flight": 4},
    "instructions_6": {"instructions": 6}, "launches_x2": {"most_requests": 2 * profiles.MOST_REQUESTS},
}
VARIED, VARIED_VARIANTS = ("an_0", "rn_2"), ("shared", "degree_4", "private", "selrep")


def settings(workload):
    """Of the LLC's size. 64 slices with a power of two of sets take 6 MB in 12 ways."""
    benchmark, _, index = workload.partition("_")
    if benchmark not in LLC_KIB:
        return []
    kib = LLC_KIB[benchmark][int(index)]
    return [f"llc.size_kib={kib}"] + (["llc.ways=12"] if kib == 6144 else [])


def plan():
    """Points in the order of what they tell: the ends and the middle of the configurations first."""
    base = lambda *indices: [("base", f"{b}_{i}", v) for i in indices for b in SENSITIVE for v in FIRST]
    kept = [("base", f"{b}_0", v) for b in SENSITIVE for v in KEPT]  # what emptying the whole LLC costs
    points = base(0, 4) + kept + [(c, w, v) for w in VARIED for c in CONDITIONS for v in VARIED_VARIANTS] + base(2, 1, 3)
    points += [("base", w, v) for w in NEUTRAL for v in ("shared", "private", "selrep")]
    return points + [("base", w, v) for w in CONFIGURATIONS for v in REST]


def measured():
    if not TABLE.exists():
        return {}
    with TABLE.open() as f:
        return {(r["condition"], r["workload"], r["variant"]): r for r in csv.DictReader(f)}


def simulate(atoll, condition, workload, variant):
    with tempfile.TemporaryDirectory() as folder:
        out, path = pathlib.Path(folder) / "out.h5", profiles.file_of(workload)
        if condition != "base":
            path = pathlib.Path(folder) / "workload.json"
            path.write_text(json.dumps(profiles.profile(profiles.file_of(workload).stem, **CONDITIONS[condition])))
        command = [atoll, "run", "selrep-gpu", "-w", str(path), "-o", str(out), "-q"]
        for setting in (*ALL, *settings(workload), *VARIANTS[variant]):
            command += ["--set", setting]
        subprocess.run(command, check=True)
        run = report.read(out)
    count = {c: run["choices"].count(c) for c in dict.fromkeys(run["choices"])}
    row = {"condition": condition, "workload": workload, "variant": variant, "cycles": f"{run['cycles']:.0f}",
           "kernels": " ".join(f"{k:.0f}" for k in run["kernels"]), "miss": f"{run['miss']:.4f}",
           "replies": f"{run['replies']:.3f}", "prices": energy_prices.as_text(run["prices"]),
           "choices": " ".join(f"{c}:{n}" for c, n in count.items())}
    for degree in STATIC:
        row[f"hit_{degree}"] = f"{run['predicted'][degree]:.4f}" if run["predicted"] else ""
        row[f"lsp_{degree}"] = f"{run['lsp'][degree]:.3f}" if run["lsp"] else ""
    return row


def run_all(atoll, minutes):
    done, end = measured(), time.monotonic() + 60 * minutes
    left = [p for p in plan() if p not in done or not done[p]["prices"]]
    for number, point in enumerate(left, 1):
        if time.monotonic() > end:
            break
        row = simulate(atoll, *point)
        fresh = not TABLE.exists()
        with TABLE.open("a", newline="") as f:
            writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerow(row)
        print(f"[{number}/{len(left)}]", *point, row["cycles"], flush=True)
    rows = measured().values()  # one of each point, the last
    with TABLE.open("w", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


class Results(report.Results):
    """As report.py has them from a folder of result files."""

    def __init__(self, condition):
        self.runs = {}
        for (of, workload, variant), r in measured().items():
            if of != condition:
                continue
            choices = [c for word in r["choices"].split() for c, n in [word.split(":")] for _ in range(int(n))]
            prices = energy_prices.from_text(r["prices"])
            hits = {d: float(r[f"hit_{d}"]) for d in STATIC} if r["hit_shared"] else None
            self.runs[workload, variant] = {
                "cycles": float(r["cycles"]), "kernels": [float(k) for k in r["kernels"].split()], "miss": float(r["miss"]),
                "replies": float(r["replies"]), "prices": prices,
                "energy": None if prices is None else prices["joules"].sum(), "choices": choices,
                "predicted": hits, "lsp": {d: float(r[f"lsp_{d}"]) for d in STATIC} if r["lsp_shared"] else None}
        self.add_best_static()


def complete(r, names, variants):
    return [w for w in names if all((w, v) in r.runs for v in variants)]


def performance(r):
    shown = {"private": "Private", "degree_2": "2", "degree_4": "4", "degree_8": "8", "adaptive": "Adaptive", "selrep": "SelRep",
             **{v: f"ours: {text}" for v, text in OURS.items()}, "BSR": "BSR"}
    known = [w for w in CONFIGURATIONS if (w, "shared") in r.runs]
    rows = [[w] + [show(r.speedup(w, v)) for v in shown] for w in known]
    for label, among in [(f"_{i}", report.group(i)) for i in range(5)] + [("all", CONFIGURATIONS)]:
        names = [w for w in among if w in complete(r, known, FIRST)]
        rows.append([f"harmonic mean, {label} ({len(names)})"] + [show(harmonic([r.speedup(w, v) for w in names])) for v in shown])
    return ["### Performance relative to Shared (Figs. 11 and 12), profiles", "",
            "BSR: the sum of the best static degree's cycles, kernel by kernel. The means are over configurations that have all of",
            "the organisations (their number in brackets).", ""] + table(["", *shown.values()], rows)


def averages(r):
    names = complete(r, CONFIGURATIONS, FIRST)
    kinds = (report.harmonic, report.mean, report.largest)
    rows = []
    for number, what, paper, v, b in (("53, 54", "SelRep over Shared", "1.197, at most 1.616", "selrep", "shared"),
                                      ("55, 56", "SelRep over Adaptive", "1.111, at most 1.310", "selrep", "adaptive"),
                                      ("57", "Adaptive over Shared", "1.079", "adaptive", "shared"),
                                      ("59 to 61", "SelRep over BSR", "0.977, at most 1.019", "selrep", "BSR"),
                                      ("", "BSR over Shared", "1.225", "BSR", "shared"),
                                      *(("", f"ours ({text}) over Shared", "", v, "shared") for v, text in OURS.items()),
                                      *(("", f"ours ({text}) over BSR", "", v, "BSR") for v, text in OURS.items())):
        values = r.speedups(v, b, names)
        if names and None not in values:
            rows.append((number, what, paper, *(show(kind(values), ".3f") for kind in kinds), show(min(values), ".3f")))
    worst = [min(1.0, r.speedup(w, "selrep") / max(1.0, r.speedup(w, "adaptive"))) for w in names]
    return [f"### Averages over {len(names)} of the 25 configurations, profiles", ""] \
        + table(["claim", "", "paper", "harmonic mean", "arithmetic mean", "largest", "smallest"], rows) \
        + ([f"SelRep as published is at worst {min(worst):.3f} of the better of Shared and Adaptive.", ""] if worst else [])


def boundaries(r):
    rows = [[w] + [show(r.speedup(w, v)) for v in ("degree_4", "degree_4_kept", "degree_8", "degree_8_kept", "private", "private_kept",
                                                   "selrep_margin", "selrep_flush")] for w in complete(r, CONFIGURATIONS, KEPT)]
    return ["### What emptying the LLC after each kernel costs", "",
            "Relative to Shared, which keeps it; `kept`: only replicas leave (`selrep.flush` = replicas).", ""] \
        + table(["", "4", "4, kept", "8", "8, kept", "Private", "Private, kept", "ours", "ours, kept"], rows)


def requests(r):
    """How many replies the whole run needed, and how fast they came: both relative to Shared."""
    shown = ("degree_2", "degree_4", "degree_8", "private", "selrep", "selrep_margin")
    replies = lambda w, v: r.get(w, v, "replies") * r.get(w, v, "cycles")
    names = complete(r, CONFIGURATIONS, FIRST)
    rows = [[w] + [f"{replies(w, v) / replies(w, 'shared'):.2f}, {r.ratio(w, v, 'shared', 'replies'):.2f}" for v in shown] for w in names]
    average = lambda v: (harmonic([replies(w, v) / replies(w, "shared") for w in names]),
                         harmonic([r.ratio(w, v, "shared", "replies") for w in names]))
    rows.append(["harmonic mean", *(", ".join(show(x) for x in average(v)) for v in shown)])
    return ["### LLC replies of the whole run, and per cycle, relative to Shared, profiles", "",
            "What the run does is the same; how many of its loads join a pending miss of their L1, and need no reply of their own, "
            "depends on how long misses take.", ""] + table(["", *shown], rows)


def parallelism(r):
    """What equation 1 sees of slices that are asked for unevenly, over whole epochs."""
    rows = [[w] + [show(r.runs[w, "selrep"]["lsp"][d], ".1f") for d in STATIC]
            for w in CONFIGURATIONS if r.get(w, "selrep", "lsp")]
    return ["### Slice-level parallelism that SelRep counts, of 16, profiles", "",
            "Mean of the epochs, weighted by sampled requests.", ""] + table(["", *STATIC], rows)


def sensitivity():
    rows = []
    for condition in ("base", *CONDITIONS):
        r = Results(condition)
        for w in complete(r, VARIED, VARIED_VARIANTS):
            rows.append([condition, w, show(r.get(w, "shared", "replies"), ".1f")] + [show(r.speedup(w, v)) for v in VARIED_VARIANTS[1:]])
    return ["### Sensitivity to the constants of the profiles", "",
            "Relative to Shared under the same condition: loads in flight (8 in the base), instructions per load (3), and launches "
            "of twice the length.", ""] \
        + table(["", "", "replies per cycle, Shared", *VARIED_VARIANTS[1:]], rows)


def neutral(r):
    names = complete(r, NEUTRAL, ("shared", "private", "selrep"))
    rows = [[w] + [show(r.speedup(w, v)) for v in ("private", "selrep")] for w in names]
    rows.append(["harmonic mean"] + [show(harmonic([r.speedup(w, v) for w in names])) for v in ("private", "selrep")])
    return ["### Insensitive programs relative to Shared (Table III; claim 92), profiles", ""] + table(["", "Private", "SelRep"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", default=str(profiles.ROOT / "build/release/atoll"))
    parser.add_argument("--stop-after", type=float, default=1e9, metavar="MINUTES", help="begin no further run after so long")
    parser.add_argument("--no-run", action="store_true", help="only write what there is")
    parser.add_argument("--redo", action="store_true", help="forget earlier runs, which other versions may have made")
    asked = parser.parse_args()
    if asked.redo:
        TABLE.unlink(missing_ok=True)
    if not asked.no_run:
        run_all(asked.atoll, asked.stop_after)
    r = Results("base")
    lines = performance(r) + averages(r) + report.shapes(r)
    lines += report.by_index(r, "miss", "LLC miss rates (Fig. 14), profiles")
    lines += report.by_index(r, "replies", "LLC replies per cycle (Fig. 15), profiles", form=".1f")
    lines += report.energies(r, ("private", "degree_4", *OURS))
    lines += boundaries(r) + requests(r) + report.degrees(r) + parallelism(r) + sensitivity() + neutral(r)
    # Headings of the recordings' tables stay the only ones of their name.
    lines = [f"{line}, profiles" if line.startswith("### ") and not line.endswith("profiles") else line for line in lines]
    results_page.write(profiles.PAGE, lines, "<!-- comparison: written by compare_profiles.py -->", "<!-- end of comparison -->")


if __name__ == "__main__":
    main()
