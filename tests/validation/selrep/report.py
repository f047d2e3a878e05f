#!/usr/bin/env python3
"""Runs SelRep's comparison and writes its results into docs/validation/selrep.md.

    report.py [--jobs N] [--out DIR] [--atoll PATH] [--no-run]
    report.py --insensitive [...]     only Table III's twelve programs, and the table of these

The runs are `atoll sweep` of inputs/experiments/selrep.json, selrep_neutral.json and selrep_load.json, on the traces of
record.py: what is in DIR already is not run again, and points that are missing leave gaps in the tables. Needs h5py (Debian:
python3-h5py, /usr/bin/python3)."""

import argparse
import math
import pathlib
import subprocess
import sys

import h5py

from workloads import CONFIGURATIONS, NEUTRAL, ROOT, SENSITIVE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page
from energy_prices import range_of_mean, ratios, read_prices

PAGE = ROOT / "docs/validation/selrep.md"
STATIC = ("shared", "degree_2", "degree_4", "degree_8", "private")  # what BSR, the best static replication, picks from
DEGREE = {"shared": 1, "degree_2": 2, "degree_4": 4, "degree_8": 8, "private": 16}
ORIGINS = ("local_llc", "remote_llc", "local_memory", "remote_memory")
SHOWN = ("private", "adaptive", "selrep", "selrep_shadow", "BSR")
DIRECTORIES = {"selrep": "line tags", "selrep_shadow": "shadow tags"}
EXPERIMENTS = ("selrep", "selrep_neutral", "selrep_load")
INSENSITIVE = ("<!-- insensitive: written by report.py -->", "<!-- end of insensitive -->")  # within the results
PREFER_SHARED = ("lud", "sp", "3dc", "bt", "gemm", "bp")


def read(path):
    with h5py.File(path) as f:
        total = lambda counter: float(f["totals/" + counter][:].sum())
        cycles = float(f.attrs["cycles"])
        choices = f["decisions/choice"][:] if "decisions/choice" in f else []
        return {
            "cycles": cycles,
            "kernels": [float(e - s) for s, e in zip(f["kernels/launched"][:], f["kernels/finished"][:])],
            "miss": 1 - (total("llc.hits") + total("llc.merges")) / max(1.0, total("llc.accesses")),
            "replies": sum(float(f["latency/" + o][:].sum()) for o in ORIGINS) / cycles,
            "energy": sum(float(f["energy/" + part][:].sum()) for part in f["energy"]) if "energy" in f else None,
            "prices": read_prices(f),
            "choices": [c.decode() if isinstance(c, bytes) else c for c in choices],
            "predicted": predicted(f),
            "lsp": epochs_mean(f, "lsp"),
        }


def predicted(f):
    """Hit rate of each degree as the directory saw it over the run: epochs weighted by their sampled requests."""
    return epochs_mean(f, "hit")


def epochs_mean(f, what):
    """Of each degree, over the epochs weighted by their sampled requests."""
    if "decisions/values/sampled" not in f:
        return None
    values = f["decisions/values"]
    weight = values["sampled"][:]
    known = weight > 0
    if not known.any() or f"degree_2.{what}" not in values:  # Adaptive knows two
        return None
    return {d: float((values[f"{d}.{what}"][:][known] * weight[known]).sum() / weight[known].sum()) for d in STATIC}


class Results:
    """Runs by workload and variant; BSR is put together from the static ones, kernel by kernel."""

    def __init__(self, folder):
        self.runs = {tuple(p.stem.split("__")): read(p) for p in sorted(folder.glob("*__*.h5"))}
        self.add_best_static()

    def add_best_static(self):
        for workload in {w for w, _ in self.runs}:
            static = [self.runs.get((workload, v)) for v in STATIC]
            if all(static):
                kernels = [min(c) for c in zip(*(r["kernels"] for r in static))]
                self.runs[workload, "BSR"] = {"cycles": sum(kernels), "kernels": kernels}

    def get(self, workload, variant, what):
        run = self.runs.get((workload, variant))
        return run.get(what) if run else None

    def speedup(self, workload, variant, base="shared"):
        return self.ratio(workload, base, variant, "cycles")

    def ratio(self, workload, variant, base, what):
        ours, theirs = self.get(workload, variant, what), self.get(workload, base, what)
        return ours / theirs if ours and theirs else None

    def speedups(self, variant, base="shared", names=CONFIGURATIONS):
        return [self.speedup(w, variant, base) for w in names]


def harmonic(values):
    return len(values) / sum(1 / v for v in values) if values and None not in values else None


def mean(values):
    return sum(values) / len(values) if values and None not in values else None


def largest(values):
    return max(values) if values and None not in values else None


def show(value, form=".2f"):
    return "-" if value is None else format(value, form)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(str, r)) + " |" for r in rows] + [""]


def verdict(holds):
    return "not measured" if holds is None else "holds" if holds else "does not hold"


def group(index):
    return [f"{b}_{index}" for b in SENSITIVE]


def performance(r):
    rows = [[w] + [show(r.speedup(w, v)) for v in SHOWN] + [show(r.speedup(w, "selrep", "BSR"))] for w in CONFIGURATIONS]
    for label, names in [(f"harmonic mean, _{i}", group(i)) for i in range(5)] + [("harmonic mean, all", CONFIGURATIONS)]:
        rows.append([label] + [show(harmonic([r.speedup(w, v) for w in names])) for v in SHOWN]
                    + [show(harmonic([r.speedup(w, "selrep", "BSR") for w in names]))])
    return ["### Performance relative to Shared (Figs. 11 and 12)", "",
            "BSR is the sum of the best static degree's cycles, kernel by kernel. SelRep has the published directory, with shadow",
            "tags ours.", ""] \
        + table(["", "Private", "Adaptive", "SelRep", "SelRep, shadow tags", "BSR", "SelRep / BSR"], rows)


def averages(r):
    rows = [(number, what, paper, *(show(kind(r.speedups(v, b)), ".3f") for kind in (harmonic, mean, largest)))
            for number, what, paper, v, b in (("53, 54", "SelRep over Shared", "1.197, at most 1.616", "selrep", "shared"),
                                              ("55, 56", "SelRep over Adaptive", "1.111, at most 1.310", "selrep", "adaptive"),
                                              ("57", "Adaptive over Shared", "1.079", "adaptive", "shared"),
                                              ("59 to 61", "SelRep over BSR", "0.977, at most 1.019", "selrep", "BSR"),
                                              ("59", "SelRep with shadow tags over BSR", "0.977", "selrep_shadow", "BSR"),
                                              ("53", "SelRep with shadow tags over Shared", "1.197", "selrep_shadow",
                                               "shared"))]
    return ["### Averages over the 25 configurations", ""] \
        + table(["claim", "", "paper", "harmonic mean", "arithmetic mean", "largest"], rows)


def by_index(r, what, title, variants=("shared", "private", "adaptive", "selrep"), form=".2f"):
    rows = [[w] + [show(r.get(w, v, what), form) for v in variants] for w in CONFIGURATIONS]
    rows += [[f"mean, _{i}"] + [show(mean([r.get(w, v, what) for w in group(i)]), form) for v in variants] for i in range(5)]
    return [f"### {title}", ""] + table(["", *variants], rows)


def predictions(r):
    """What the directories saw against the LLC's own hit rate, merged requests included, in the run with that degree."""
    def error(variant, degree):
        pairs = [(r.get(w, variant, "predicted"), r.get(w, degree, "miss")) for w in CONFIGURATIONS]
        return mean([abs(p[degree] - (1 - m)) for p, m in pairs if p and m is not None])

    rows = [[name] + [show(error(variant, d)) for d in STATIC] for variant, name in DIRECTORIES.items()]
    return ["### Error of the predicted hit rate, mean of the configurations", "",
            "Against the run with that degree from beginning to end, which also has writes and misses after kernel ends.", ""] \
        + table(["", *STATIC], rows)


def degrees(r):
    rows = []
    for w in CONFIGURATIONS:
        choices = r.get(w, "selrep", "choices")
        share = lambda d: f"{100 * choices.count(d) / len(choices):.0f}" if choices else "-"
        rows.append([w, len(choices) if choices else "-"] + [share(d) for d in STATIC] + [show(mean_degree(r, w), ".1f")])
    return ["### Degrees over epochs, % (Fig. 13)", "", "The mean degree is geometric; shared counts as 1, private as 16.", ""] \
        + table(["", "epochs", *STATIC, "mean"], rows)


def mean_degree(r, workload):
    choices = r.get(workload, "selrep", "choices")
    return 2 ** mean([math.log2(DEGREE[c]) for c in choices]) if choices else None


def claims(r):
    """Claims that say how things compare: number -> statements, each a text and what was found, case by case; None where runs
    are missing."""
    private = {w: r.speedup(w, "private") for w in CONFIGURATIONS}
    adaptive = {w: r.speedup(w, "adaptive") for w in CONFIGURATIONS}
    used = {b: {c for i in range(5) for c in r.get(f"{b}_{i}", "selrep", "choices") or []} for b in SENSITIVE}
    decided = [1 if r.get(w, "selrep", "choices") else None for w in CONFIGURATIONS]
    rate = {v: [mean([r.get(w, v, "replies") for w in group(i)]) for i in range(5)]
            for v in ("shared", "private", "adaptive", "selrep")}
    miss = {v: {w: r.get(w, v, "miss") for w in CONFIGURATIONS} for v in ("shared", "private", "selrep")}
    inside = lambda b, low, high: all(low <= DEGREE[c] <= high for c in used[b])
    gain = [mean([adaptive[w] for w in group(i)]) for i in range(5)]

    def cases(needed, *statements):
        missing = any(n is None for n in needed)
        return [(text, None if missing else list(test())) for text, test in statements]

    return {
        "62": cases(
            [*private.values(), *adaptive.values()],
            ("Private better than Shared at _0, for each benchmark", lambda: (private[f"{b}_0"] > 1 for b in SENSITIVE)),
            ("Private worse than Shared at _4", lambda: (private[f"{b}_4"] < 1 for b in SENSITIVE)),
            ("Adaptive at most 5 % below the better",
             lambda: (adaptive[w] >= 0.95 * max(1, private[w]) for w in CONFIGURATIONS))),
        "63": cases(
            gain,
            ("Adaptive's mean gain is largest at _0", lambda: [gain[0] == max(gain) and gain[0] > 1]),
            ("it is at most 2 % from _2 on", lambda: (g <= 1.02 for g in gain[2:]))),
        "68": cases(decided, ("AN and RN use both ends, shared and private",
                              lambda: ({"shared", "private"} <= used[b] for b in ("an", "rn")))),
        "69": cases(decided, ("SN within 2 to 4, NN within 4 to 16, MM within 1 to 8",
                              lambda: [inside("sn", 2, 4), inside("nn", 4, 16), inside("mm", 1, 8)])),
        "70": cases(decided, ("the mean degree falls from _0 to _4, for each benchmark",
                              lambda: (mean_degree(r, f"{b}_{i}") >= mean_degree(r, f"{b}_{i + 1}")
                                       for b in SENSITIVE for i in range(4)))),
        "71": cases(
            [m for v in miss.values() for m in v.values()],
            ("Private's miss rate rises from _0 to _4, for each benchmark",
             lambda: (miss["private"][f"{b}_4"] > miss["private"][f"{b}_0"] for b in SENSITIVE)),
            ("SelRep's is at most 0.1 above Shared's",
             lambda: (miss["selrep"][w] <= miss["shared"][w] + 0.1 for w in CONFIGURATIONS))),
        "72": cases(
            [x for v in rate.values() for x in v],
            ("mean replies per cycle: Private above Shared at _0", lambda: [rate["private"][0] > rate["shared"][0]]),
            ("Private below Shared from _1 on", lambda: (rate["shared"][i] > rate["private"][i] for i in range(1, 5))),
            ("SelRep highest everywhere",
             lambda: (rate["selrep"][i] >= max(rate["shared"][i], rate["private"][i]) for i in range(5)))),
        "73": cases(rate["selrep"] + rate["adaptive"],
                    ("mean replies per cycle: SelRep above Adaptive at _3 and _4",
                     lambda: (rate["selrep"][i] > rate["adaptive"][i] for i in (3, 4)))),
    }


def shapes(r):
    rows = []
    for number, statements in claims(r).items():
        known = all(found is not None for _, found in statements)
        rows.append([number, "; ".join(text for text, _ in statements),
                     verdict(all(all(found) for _, found in statements) if known else None)])
    return ["### Claims about shapes", ""] + table(["claim", "tested as", ""], rows)


def neutral(r):
    rows = [[w, "shared" if w in PREFER_SHARED else "neutral"] + [show(r.speedup(w, v)) for v in ("private", "selrep")]
            for w in NEUTRAL]
    rows.append(["harmonic mean", ""] + [show(harmonic([r.speedup(w, v) for w in NEUTRAL])) for v in ("private", "selrep")])
    return ["### Insensitive programs relative to Shared (Fig. 18, Table III; claims 92 and 93)", "",
            "SelRep is neutral in the paper.", ""] + table(["", "prefers (paper)", "Private", "SelRep"], rows)


def load(r):
    names = sorted({w for w, _ in r.runs})
    shown = ("degree_2", "degree_4", "degree_8", "private", "selrep", "selrep_shadow")
    rows = [[w, show(r.get(w, "shared", "replies"), ".1f")] + [show(r.speedup(w, v)) for v in shown] for w in names]
    rows.append(["harmonic mean", ""] + [show(harmonic([r.speedup(w, v) for w in names])) for v in shown])
    return ["### Where the LLC is the limit", "",
            "SMs with four schedulers instead of two, relative to Shared on the same SMs.", ""] \
        + table(["", "replies per cycle, Shared", "degree 2", "degree 4", "degree 8", "Private", "SelRep", "SelRep, shadow tags"], rows)


def energy(r, base, variant="selrep"):
    """The variant's energy over that of `base`, mean of the configurations; None where one of them is missing."""
    return mean([r.ratio(w, variant, base, "energy") for w in CONFIGURATIONS])


def energy_range(r, base, variant="selrep"):
    """Of that mean, while prices move."""
    return range_of_mean([(r.get(w, variant, "prices"), r.get(w, base, "prices")) for w in CONFIGURATIONS])


def energies(r, others=("private", "degree_4")):
    row = lambda number, what, paper, of, base: [number, what, paper, show(energy(r, base, of), ".3f"),
                                                 ratios(energy_range(r, base, of))]
    rows = [row("74", "SelRep over Shared", "0.943", "selrep", "shared"),
            row("75", "SelRep over Adaptive", "0.954", "selrep", "adaptive")]
    rows += [row("", f"`{v}` over Shared", "", v, "shared") for v in others]
    return ["### Energy (Fig. 16)", "",
            "Means of the configurations. Range: while every price moves, the same in all runs "
            "([docs/energy.md](../energy.md#uncertainty)).", ""] \
        + table(["claim", "energy of", "paper", "here", "range"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results"), help="folder for the sweeps' folders")
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--no-run", action="store_true", help="only write what there is")
    parser.add_argument("--insensitive", action="store_true", help="only Table III's programs, and their table")
    arguments = parser.parse_args()
    folders = {name: pathlib.Path(arguments.out) / name for name in EXPERIMENTS}
    if not arguments.no_run:
        for name in ("selrep_neutral",) if arguments.insensitive else EXPERIMENTS:
            experiment = ROOT / f"inputs/experiments/{name}.json"
            subprocess.run([arguments.atoll, "sweep", str(experiment), "--jobs", arguments.jobs, "--out", str(folders[name])],
                           check=True)
    rest = Results(folders["selrep_neutral"])
    if arguments.insensitive:
        results_page.write(PAGE, neutral(rest), *INSENSITIVE)
        return
    r = Results(folders["selrep"])
    done = sum(v != "BSR" for _, v in r.runs)
    lines = [f"{done} runs of the 25 configurations, {sum(v != 'BSR' for _, v in rest.runs)} of the insensitive programs.", ""]
    lines += performance(r) + averages(r) + shapes(r)
    lines += by_index(r, "miss", "LLC miss rates (Fig. 14)") + by_index(r, "replies", "LLC replies per cycle (Fig. 15)", form=".1f")
    lines += degrees(r) + predictions(r) + energies(r)
    lines += [INSENSITIVE[0], "", *neutral(rest), INSENSITIVE[1], ""]
    lines += load(Results(folders["selrep_load"]))
    results_page.write(PAGE, lines)


if __name__ == "__main__":
    main()
