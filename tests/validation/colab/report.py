#!/usr/bin/env python3
"""Runs COLAB's comparison and writes its results into docs/validation/colab.md.

    report.py [--jobs N] [--out DIR] [--atoll PATH] [--no-run]

The runs are `atoll sweep` of inputs/experiments/colab*.json, the larger ones of traces that
tests/validation/selrep/record.py records: what is in DIR already is not run again, and points that are missing leave gaps in
the tables. The speed of the simulator is measured once and kept in DIR/colab_speed.json. Needs h5py (Debian: python3-h5py,
/usr/bin/python3)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import h5py

from causes import causes, latency
from colab_runs import ENERGY, Results, arithmetic, harmonic, show, table
from four_chips import multichip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page
from energy_prices import changed, ratios

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/validation/colab.md"
EXPERIMENTS = ("colab", "colab_sizes", "colab_buffers", "colab_multichip", "colab_arbitration", "colab_latency")

# The averages that the poster and the abstract give for programs that are sensitive to replication; no bars are available.
PUBLISHED = {"held": 0.52, "traffic": -0.38, "stalls": -0.40, "ipc": 0.43, "energy": -0.17}
SENSITIVE_FROM = PUBLISHED["held"] / 2


def verdict(holds):
    return "not measured" if holds is None else "holds" if holds else "does not hold"


def within_a_third(ours, paper):
    return None if ours is None else abs(ours - paper) <= abs(paper) / 3


COLUMNS = ("traffic", "stalls", "ipc", "energy")


def split(r, threshold=SENSITIVE_FROM):
    """Workloads that are sensitive and others, by what the oracle saw without sharing."""
    known = [w for w in r.workloads if (w, "none") in r.runs and (w, "colab") in r.runs]
    sensitive = [w for w in known if r.get(w, "none", "held") >= threshold]
    return sensitive, [w for w in known if w not in sensitive]


def row(r, w):
    return [w, show(r.get(w, "none", "held")), show(r.get(w, "none", "pending")), show(r.get(w, "colab", "served"))] \
        + [show(r.ratio(w, "colab", "none", what), form) for what, form in zip(COLUMNS, (".2f", ".2f", ".3f", ".3f"))] \
        + [ratios(r.energy_range([w]), ".2f")] \
        + [show(r.ratio(w, "colab", "none", "misses")), show(r.get(w, "none", "replies"), ".0f")] \
        + [show(r.get(w, "colab", what), ".3f")
           for what in ("false positives", "false negatives", "access full", "input full")]


def programs(r):
    head = ["", "held", "pending", "served", "read traffic", "stalls", "IPC", "energy", "range", "L1 misses", "reply B/cycle",
            "false pos.", "false neg.", "access full", "input full"]
    lines = []
    for title, names in zip(("Sensitive", "Others"), split(r)):
        rows = [row(r, w) for w in sorted(names, key=lambda w: -r.get(w, "none", "held"))]
        mean = lambda what, variant: show(arithmetic([r.get(w, variant, what) for w in names]))
        rows.append(["mean", mean("held", "none"), mean("pending", "none"), mean("served", "colab")]
                    + [show(arithmetic([r.ratio(w, "colab", "none", c) for w in names]), ".3f") for c in COLUMNS]
                    + [ratios(r.energy_range(names), ".2f")]
                    + [show(arithmetic([r.ratio(w, "colab", "none", "misses") for w in names]))] + [""] * 5)
        lines += [f"### {title}: COLAB relative to none", ""] + table(head, rows)
    return lines


def by_program(names, value):
    """Mean in which each program weighs alike, whatever the number of its sizes: mm_1 to mm_4 are one."""
    sizes: dict[str, list[float]] = {}
    for w in names:
        sizes.setdefault(w.rstrip("0123456789"), []).append(value(w))
    return arithmetic([arithmetic(values) for values in sizes.values()])


def averages(r):
    """Claims that are averages over the sensitive programs: number, what, published, here, here by program. The last four are
    changes from none to COLAB."""
    sensitive, _ = split(r)
    both = lambda value: (arithmetic([value(w) for w in sensitive]), by_program(sensitive, value))
    change = lambda what: lambda w: r.ratio(w, "colab", "none", what) - 1
    return [("97", "L1 misses that a neighbour's L1 holds", PUBLISHED["held"], *both(lambda w: r.get(w, "none", "held")))] \
        + [(number, name, PUBLISHED[what], *both(change(what)))
           for number, what, name in (("98", "traffic", "read traffic of the network"), ("99", "stalls", "stalls"),
                                      ("100", "ipc", "IPC"), ("101", "energy", "energy"))]


def claims(r):
    sensitive, others = split(r)
    rows = []
    for number, name, published, ours, by in averages(r):
        form = ".2f" if number == "97" else "+.0%"
        ranged = r.energy_range(sensitive) if number == "101" else None
        judged = "undecided" if ranged and ranged.has(1) else verdict(within_a_third(ours, published))
        rows.append([number, name, show(published, form), show(ours, form) + (f" ({changed(ranged)})" if ranged else ""),
                     show(by, form), judged])
    ipc = {w: r.ratio(w, "colab", "none", "ipc") for w in sensitive + others}
    if sensitive:
        per_cycle = [value - 1 for value in (arithmetic([r.ratio(w, "colab", "none", "stalls per cycle") for w in sensitive]),
                                             by_program(sensitive, lambda w: r.ratio(w, "colab", "none", "stalls per cycle")))]
        rows.insert(3, ["99", "stalls per cycle, another reading", show(PUBLISHED["stalls"], "+.0%"),
                        *(show(value, "+.0%") for value in per_cycle), verdict(within_a_third(per_cycle[0], PUBLISHED["stalls"]))])
        rows.append(["100", "IPC, harmonic mean", "", show(harmonic([ipc[w] for w in sensitive]) - 1, "+.0%"), "", ""])
    for name, group in (("others", others), ("all", sensitive + others)):
        least = min(((ipc[w], w) for w in group), default=None)
        rows.append(["", f"IPC never below 0.98, {name}", "", f"{least[0]:.3f} ({least[1]})" if least else "-", "",
                     verdict(least and least[0] >= 0.98)])
    return ["### Claims, over the sensitive programs", "",
            "Holds: the mean effect over the traces is within a third of the published one, above or below. Behind energy, the range "
            "while every price moves, the same in all runs ([docs/energy.md](../energy.md#uncertainty)).", ""] \
        + table(["claim", "", "paper", "here", "here, by program", ""], rows) + energy_shares(r, sensitive)


def energy_shares(r, names):
    share = {part: arithmetic([r.get(w, "none", "parts")[part] for w in names]) for part in ENERGY}
    shown = ", ".join(f"{p} {show(s)}" for p, s in share.items())
    return [f"Energy of these programs without sharing, means: {shown}.", ""]


def thresholds(r):
    rows = []
    for threshold in (0.10, 0.20, SENSITIVE_FROM, 0.40, PUBLISHED["held"]):
        names, others = split(r, threshold)
        mean = [arithmetic([r.ratio(w, "colab", "none", c) for w in names]) for c in COLUMNS]
        rows.append([f"{threshold:.2f}", len(names), show(arithmetic([r.get(w, "none", "held") for w in names]))]
                    + [show(None if m is None else m - 1, "+.0%") for m in mean] + [changed(r.energy_range(names))]
                    + [show(min((r.ratio(w, "colab", "none", "ipc") for w in others), default=None), ".3f")])
    return ["### The same with other thresholds of the held share", ""] \
        + table(["from", "programs", "held", "read traffic", "stalls", "IPC", "energy", "range", "least IPC of the others"], rows)


ARBITRATION = ("colab_first", "local_first", "round_robin")


def served_shares(r):
    """Share of L1 misses that neighbours serve, by arbitration, in the order of the workloads."""
    return {p: [r.get(w, p, "served") for w in r.workloads] for p in ARBITRATION}


def arbitration(r):
    policies, served = ARBITRATION, served_shares(r)
    ipc = {p: [r.ratio(w, p, "colab_first", "ipc") for w in r.workloads] for p in policies}
    rows = [[w] + [show(served[p][i], ".3f") for p in policies] + [show(ipc[p][i], ".3f") for p in policies]
            for i, w in enumerate(r.workloads)]
    rows.append(["mean"] + [show(arithmetic(values[p]), ".3f") for values in (served, ipc) for p in policies])
    complete = r.workloads and all(None not in served[p] for p in policies)
    first = lambda values: all(values[0] >= v for v in values[1:])
    on_average = first([arithmetic(served[p]) for p in policies]) if complete else None
    everywhere = all(first(values) for values in zip(*(served[p] for p in policies))) if complete else None
    return ["### Arbitration at the L1 (claim 105)", "", "IPC relative to `colab_first`.", ""] \
        + table(["", *(f"served, {p}" for p in policies), *(f"IPC, {p}" for p in policies)], rows) \
        + [f"`colab_first` serves most on average: {verdict(on_average)}; in every program: {verdict(everywhere)}.", ""]


def sizes(r, sensitive):
    """With the mean of the sensitive programs, where all of them have run."""
    of = (2, 4, 8, 16)
    values = {w: [r.get(w, f"none_{n}", "held") for n in of] + [r.get(w, f"colab_{n}", "served") for n in of]
              + [r.ratio(w, f"colab_{n}", f"none_{n}", "ipc") for n in of]
              + [r.ratio(w, f"colab_{n}", "none_8", "ipc") for n in of] for w in r.workloads}
    if sensitive and all(None not in values.get(w, [None]) for w in sensitive):
        values["mean, sensitive"] = [arithmetic(column) for column in zip(*(values[w] for w in sensitive))]
    rows = [[w] + [show(v) for v in row] for w, row in values.items()]
    return ["### Cluster size", "",
            "IPC relative to none with clusters of the same size, and relative to none with clusters of 8.", ""] \
        + table(["", *(f"held, {n}" for n in of), *(f"served, {n}" for n in of), *(f"IPC, {n}" for n in of),
                 *(f"over none_8, {n}" for n in of)], rows)


def buffers(r):
    variants = ("deep", "no_hits", "colab")
    rows = [[w] + [show(r.ratio(w, v, "none", "ipc"), ".3f") for v in variants]
            + [show(r.ratio(w, v, "none", "stalls")) for v in variants] + [show(r.get(w, "no_hits", "served"), ".3f")]
            for w in r.workloads]
    return ["### What queues do without sharing", ""] \
        + table(["", *(f"IPC, {v}" for v in variants), *(f"stalls, {v}" for v in variants), "served, no_hits"], rows)


def cpu_seconds(atoll, sharing, out):
    """User time of one run, which other load on the machine hardly changes, and the run's cycles and events."""
    before = os.times().children_user
    trace = ROOT / "results/selrep-traces/nn_0.h5"
    subprocess.run([atoll, "run", "colab-gpu", "-w", str(trace), "--set", f"cluster.sharing={sharing}", "-o", str(out)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = os.times().children_user - before
    with h5py.File(out) as f:
        events = float(f["provenance"].attrs["events"])
    out.unlink()
    return seconds, events


def measure_speed(atoll, folder, rounds=3):
    """Alternately with and without, the fastest of each counts."""
    fastest: dict = {}
    for _ in range(rounds):
        for sharing in ("none", "colab"):
            fastest[sharing] = min(fastest.get(sharing, (1e9, 0)), cpu_seconds(atoll, sharing, folder / "colab_speed.h5"))
    return fastest


def speed(path):
    if not path.exists():
        return ["### Speed of the simulator", "", "Not measured.", ""]
    fastest = json.loads(path.read_text())
    rows = [[sharing, f"{seconds:.2f}", f"{events / 1e6:.1f}", f"{events / 1e6 / seconds:.1f}"]
            for sharing, (seconds, events) in fastest.items()]
    ratio = {i: fastest["colab"][i] / fastest["none"][i] for i in (0, 1)}
    return ["### Speed of the simulator", "",
            "`nn_0`, user time of the whole process, the fastest of three runs of each, in turn.", ""] \
        + table(["", "s", "M events", "M events/s"], rows) \
        + [f"With COLAB, the same program takes {ratio[0]:.2f} of the time and {ratio[1]:.2f} of the events.", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results"), help="folder of the sweeps' folders colab, colab_sizes, ...")
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--no-run", action="store_true", help="only write what there is")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out)
    if not arguments.no_run:
        for name in EXPERIMENTS:  # a trace that is not recorded is a point that fails, a gap in a table
            experiment = ROOT / f"inputs/experiments/{name}.json"
            subprocess.run([arguments.atoll, "sweep", str(experiment), "--jobs", arguments.jobs, "--out", str(out / name)])
        if not (out / "colab_speed.json").exists():
            (out / "colab_speed.json").write_text(json.dumps(measure_speed(arguments.atoll, out)))
    r = {name: Results(out / name) for name in EXPERIMENTS}
    done = ", ".join(f"{len(r[name].runs)} of `{name}`" for name in EXPERIMENTS)
    lines = [f"Runs: {done}.", ""] + claims(r["colab"]) + thresholds(r["colab"]) + programs(r["colab"])
    lines += causes(r["colab"], split(r["colab"])[0]) + latency(r["colab_latency"]) + buffers(r["colab_buffers"])
    lines += arbitration(r["colab_arbitration"]) + sizes(r["colab_sizes"], split(r["colab"])[0]) + multichip(r["colab_multichip"])
    lines += speed(out / "colab_speed.json")
    results_page.write(PAGE, lines)


if __name__ == "__main__":
    main()
