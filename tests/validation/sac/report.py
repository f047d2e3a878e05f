#!/usr/bin/env python3
"""Runs the comparison of SAC's Fig. 8 and writes its results into docs/validation/sac.md.

    report.py [--jobs N] [--out DIR] [--atoll PATH]

The runs are `atoll sweep inputs/experiments/sac.json`: what is in DIR already is not run again. Needs h5py (Debian:
python3-h5py, /usr/bin/python3)."""

import argparse
import json
import math
import pathlib
import subprocess
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/validation/sac.md"
EXPERIMENT = ROOT / "inputs/experiments/sac.json"
SP = ("RN", "AN", "SN", "CFD", "BFS", "3DC", "BS", "BT")
MP = ("SRAD", "GEMM", "LUD", "STEN", "3MM", "BP", "DWT", "NN")
ALL = SP + MP
VARIANTS = ("memory_side", "static", "dynamic", "sm_side", "sac")
LINKS, MEMORY = 768, 1750.4  # B/cycle of the system at 1 GHz: Table 3

# Published figures (bars read to about 0.02). Fig. 1b: LLC miss rates by class. Fig. 9: local data, % of the LLC.
# Fig. 10: local LLC, remote LLC, local memory, remote memory of memory-side; local LLC, local memory, remote memory of SM-side.
MISS_RATES = {"SP": (0.25, 0.45, 0.41, 0.39, 0.39), "MP": (0.51, 0.79, 0.69, 0.72, 0.51)}
LOCAL = {
    "dynamic": (42, 43, 49, 43, 59, 46, 44, 49, 80, 73, 75, 81, 83, 81, 79, 77),
    "sm_side": (37, 34, 29, 43, 54, 41, 38, 34, 75, 60, 57, 59, 60, 75, 89, 64),
    "sac": (37, 34, 29, 43, 61, 41, 38, 34) + (100,) * 8,
}
MEMORY_SIDE = {"RN": (.44, .53, 0, .02), "AN": (.30, .49, .08, .11), "SN": (.27, .70, 0, .01), "CFD": (.43, .27, .18, .10),
               "BFS": (.36, .47, .07, .08), "3DC": (.33, .33, .17, .15), "BS": (.01, .07, .24, .66), "BT": (.25, .61, .04, .08),
               "SRAD": (.18, .01, .72, .07), "GEMM": (.66, .21, .10, .01), "LUD": (.26, .10, .45, .17),
               "STEN": (.26, .10, .46, .16), "3MM": (.86, .12, 0, .01), "BP": (.44, .05, .48, .01), "DWT": (.10, 0, .83, .05),
               "NN": (.33, .07, .48, .10)}
SM_SIDE = {"RN": (1.68, .15, .16), "AN": (1.28, .16, .23), "SN": (2.48, .03, .06), "CFD": (1.03, .38, .24),
           "BFS": (.79, .22, .28), "3DC": (.32, .38, .35), "BS": (.08, .26, .69), "BT": (.93, .17, .39), "SRAD": (.04, .61, .04),
           "GEMM": (.26, .34, .11), "LUD": (.06, .48, .17), "STEN": (.12, .46, .16), "3MM": (.53, .26, .01),
           "BP": (.41, .44, .04), "DWT": (.03, .82, .05), "NN": (.16, .55, .11)}


def read(path):
    with h5py.File(path) as f:
        total = lambda counter: float(f["totals/" + counter][:].sum())
        text = lambda values: [v.decode() if isinstance(v, bytes) else v for v in values]
        values = {name: column[:] for name, column in f["decisions/values"].items()}
        cycles = float(f.attrs["cycles"])
        return {
            "cycles": cycles,
            "instructions": total("warp.instructions"),
            "latency": total("load.latency_cycles") / max(1, total("load.completed")),
            "channels": [float(n) for n in (f["channels/reads"][:] + f["channels/writes"][:]).flat],
            "kernels": list(zip(text(f["kernels/name"][:]), f["kernels/started"][:], f["kernels/finished"][:])),
            "miss": 1 - (total("llc.hits") + total("llc.merges")) / total("llc.accesses"),
            "local": total("llc.local_lines") / max(1, total("llc.local_lines") + total("llc.remote_lines")),
            "responses": [float(f["latency/" + o][:].sum()) / cycles
                          for o in ("local_llc", "remote_llc", "local_memory", "remote_memory")],
            "links": total("link.bytes") / cycles / LINKS,
            "memory": (total("dram.read_bytes") + total("dram.write_bytes")) / cycles / MEMORY,
            "decisions": [dict(kernel=int(k), choice=c, **{n: float(v[i]) for n, v in values.items()})
                          for i, (k, c) in enumerate(zip(f["decisions/kernel"][:], text(f["decisions/choice"][:])))],
        }


def load(folder):
    return {(w, v): read(pathlib.Path(folder) / f"{w}__{v}.h5") for w in ALL for v in (*VARIANTS, "sm_side_1noc")}


def bars():
    """Fig. 8: speed-ups over memory-side by variant and workload."""
    return json.loads(EXPERIMENT.read_text())["reference"]["speedup"]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows] + [""]


def harmonic(values):
    values = list(values)
    return len(values) / sum(1 / v for v in values)


def speedup_columns(runs):
    """Over memory-side, by variant and workload."""
    return {v: {w: runs[w, "memory_side"]["cycles"] / runs[w, v]["cycles"] for w in ALL} for v in VARIANTS}


# Claims that are averages: number, what, variant, baseline, workloads, as printed.
AVERAGES = (("1", "SAC over memory-side", "sac", "memory_side", ALL, 1.76), ("3", "SAC over SM-side", "sac", "sm_side", ALL, 1.12),
            ("5", "SAC over Static", "sac", "static", ALL, 1.31), ("7", "SAC over Dynamic", "sac", "dynamic", ALL, 1.18),
            ("9", "SM-side over memory-side, SP", "sm_side", "memory_side", SP, 1.91),
            ("10", "memory-side over SM-side, MP", "memory_side", "sm_side", MP, 1.32))


def average(columns, variant, baseline, names):
    """Harmonic mean of the speed-ups; of those over memory-side, `columns` may leave out memory-side itself."""
    over = lambda v, w: 1.0 if v == "memory_side" else columns[v][w]
    return harmonic(over(variant, w) / over(baseline, w) for w in names)


def ipc_first(runs, variant, baseline, names):
    """Ratio of the harmonic means of the IPCs, which the printed averages fit."""
    ipc = lambda v: harmonic(runs[w, v]["instructions"] / runs[w, v]["cycles"] for w in names)
    return ipc(variant) / ipc(baseline)


def ratio_of_means(columns, variant, baseline):
    return harmonic(columns[variant].values()) / harmonic(columns[baseline].values())


def speedups(runs, published):
    ours = speedup_columns(runs)
    rows = [[w] + [f"{ours[v][w]:.2f} / {published[v][w]:.2f}" for v in VARIANTS[1:]] for w in ALL]
    for label, names in (("SP", SP), ("MP", MP), ("all", ALL)):
        rows.append([f"harmonic mean, {label}"] + [f"{harmonic(ours[v][w] for w in names):.2f} / "
                                                   f"{harmonic(published[v][w] for w in names):.2f}" for v in VARIANTS[1:]])
    out = ["### Speed-up over memory-side: here / Fig. 8", ""] + table(["", "Static", "Dynamic", "SM-side", "SAC"], rows)

    error = {v: [abs(math.log(ours[v][w] / published[v][w])) for w in ALL] for v in VARIANTS[1:]}
    right = [w for w in ALL if (abs(published["sm_side"][w] - 1) <= 0.08 and abs(ours["sm_side"][w] - 1) <= 0.08)
             or (ours["sm_side"][w] > 1) == (published["sm_side"][w] > 1)]
    better = {w: max(1.0, ours["sm_side"][w]) for w in ALL}
    picked = [w for w in ALL if ours["sac"][w] >= 0.97 * better[w]]
    out += [
        "- Mean |ln(here / Fig. 8)|: " + ", ".join(f"{v} {sum(error[v]) / len(ALL):.2f}" for v in VARIANTS[1:]) + ".",
        f"- SM-side on the right side of 1: {len(right)} of 16" + (f" (not: {', '.join(w for w in ALL if w not in right)})"
                                                                   if len(right) < 16 else "") + ".",
        f"- SM-side within 20 % of Fig. 8: {sum(e <= math.log(1.2) for e in error['sm_side'])} of 16.",
        f"- SAC at most 3 % below the better of memory-side and SM-side: {len(picked)} of 16"
        + (" (not: " + ", ".join(f"{w} {ours['sac'][w] / better[w] - 1:+.0%}" for w in ALL if w not in picked) + ")"
           if len(picked) < 16 else "") + ".",
        f"- BFS: SAC {ours['sac']['BFS']:.2f}, SM-side {ours['sm_side']['BFS']:.2f}.",
        f"- SAC over SM-side: {harmonic(ours['sac'][w] / ours['sm_side'][w] for w in ALL):.3f} (harmonic mean of ratios),"
        f" {ratio_of_means(ours, 'sac', 'sm_side'):.3f} (ratio of harmonic means); whoever knew the better organisation"
        f" {harmonic(better[w] / ours['sm_side'][w] for w in ALL):.3f},"
        f" {harmonic(better.values()) / harmonic(ours['sm_side'].values()):.3f}.",
        f"- SAC over Dynamic: {harmonic(ours['sac'][w] / ours['dynamic'][w] for w in ALL):.3f},"
        f" {ratio_of_means(ours, 'sac', 'dynamic'):.3f}; Dynamic over Static:"
        f" {harmonic(ours['dynamic'][w] / ours['static'][w] for w in ALL):.3f}, {ratio_of_means(ours, 'dynamic', 'static'):.3f}.",
    ]
    return out + ["", "Averages; those printed are not the means of the bars (they fit IPC averaged before it is normalised).", ""] \
        + table(["claim", "", "printed", "harmonic mean of the bars", "here"],
                [[n, what, f"{printed:.2f}", f"{average(published, v, base, names):.2f}", f"{average(ours, v, base, names):.2f}"]
                 for n, what, v, base, names, printed in AVERAGES])


def mean_miss_rate(runs, variant, names):
    return sum(runs[w, variant]["miss"] for w in names) / len(names)


def miss_rates(runs):
    rows = [[w] + [f"{runs[w, v]['miss']:.2f}" for v in VARIANTS] for w in ALL]
    for label, names in (("SP", SP), ("MP", MP)):
        rows.append([f"mean, {label} / Fig. 1b"] + [f"{mean_miss_rate(runs, v, names):.2f} / {MISS_RATES[label][i]:.2f}"
                                                    for i, v in enumerate(VARIANTS)])
    return ["### LLC miss rates", "", "Under Static and Dynamic a remote request is looked up in two slices.", ""] \
        + table(["", *VARIANTS], rows)


def contents(runs):
    rows = [[w] + [f"{100 * runs[w, v]['local']:.0f} / {LOCAL[v][i]}" for v in LOCAL] for i, w in enumerate(ALL)]
    side = [(runs[w, "dynamic"]["local"] > 0.5) == (LOCAL["dynamic"][i] > 50) for i, w in enumerate(ALL)]
    return ["### Local data, % of what the LLC holds: here / Fig. 9", "",
            "Memory-side is 100. Static is held to half and half in every set. Dynamic is on the side of one half that Fig. 9 has in"
            f" {sum(side)} of 16.", ""] + table(["", *LOCAL], rows)


def response_shares(runs, workload, variant):
    """Loads answered per cycle by local LLC, remote LLC, local memory, remote memory; all of memory-side are 1."""
    unit = sum(runs[workload, "memory_side"]["responses"])
    return [r / unit for r in runs[workload, variant]["responses"]]


def responses(runs):
    rows = []
    for w in ALL:
        ours = response_shares(runs, w, "sm_side")
        ours = [ours[0] + ours[1], ours[2], ours[3]]
        mem = response_shares(runs, w, "memory_side")
        rows.append([w, " ".join(f"{x:.2f}" for x in mem), " ".join(f"{x:.2f}" for x in MEMORY_SIDE[w]),
                     " ".join(f"{x:.2f}" for x in ours), " ".join(f"{x:.2f}" for x in SM_SIDE[w])])
    return ["### Loads answered by origin, per cycle, memory-side = 1", "",
            "Memory-side: local LLC, remote LLC, local memory, remote memory. SM-side: LLC, local memory, remote memory.", ""] \
        + table(["", "memory-side", "Fig. 10", "SM-side", "Fig. 10"], rows)


def decisions(runs):
    rows = []
    for w in ALL:
        for d in runs[w, "sac"]["decisions"]:
            name = runs[w, "sac"]["kernels"][d["kernel"]][0]
            rows.append([w, name, f"{d['r_local']:.2f}", f"{d['memory_side.hit']:.2f}", f"{d['sm_side.hit']:.2f}",
                         f"{d['memory_side.lsu']:.2f}", f"{d['sm_side.lsu']:.2f}", f"{d['memory_side.eab']:.0f}",
                         f"{d['sm_side.eab']:.0f}", d["choice"]])
    return ["### SAC's decisions", "", "What the model saw in 2,000 cycles, and the bandwidth in GB/s that it predicted. Launches "
            "shorter than that decide nothing.", ""] \
        + table(["", "kernel", "R_local", "hit, memory-side", "hit, CRD", "LSU, memory-side", "LSU, SM-side", "EAB memory-side",
                 "EAB SM-side", "choice"], rows)


def cost(runs, workload):
    """What SAC chose; where that is one organisation, also the run that has it from the start, and how much longer SAC takes."""
    chosen = {d["choice"] for d in runs[workload, "sac"]["decisions"]}
    if len(chosen) != 1:
        return chosen, None, None
    oracle = runs[workload, "sm_side_1noc" if chosen == {"sm_side"} else "memory_side"]
    return chosen, oracle, runs[workload, "sac"]["cycles"] / oracle["cycles"] - 1


def overhead(runs):
    rows = []
    for w in ALL:
        chosen, oracle, longer = cost(runs, w)
        if oracle is None:
            rows.append([w, " and ".join(sorted(chosen)), "", "", ""])
            continue
        launches = [e - s for n, s, e in oracle["kernels"] if n != "place"]
        rows.append([w, chosen.pop(), f"{oracle['cycles']:.0f}", f"{sum(launches) / len(launches):.0f}", f"{100 * longer:+.1f} %"])
    return ["### Cost of profiling and switching", "", "SAC against a machine with one network that starts in the organisation which "
            "SAC chooses.", ""] + table(["", "SAC chose", "cycles of the oracle", "cycles per launch", "SAC takes longer by"], rows)


def limits(runs):
    rows = [[w] + [f"{runs[w, v]['links']:.2f} {runs[w, v]['memory']:.2f}" for v in VARIANTS] for w in ALL]
    return ["### How busy links and memory are", "", "Share of the peak: links, memory.", ""] + table(["", *VARIANTS], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results/sac"))
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    arguments = parser.parse_args()
    subprocess.run([arguments.atoll, "sweep", str(EXPERIMENT), "--jobs", arguments.jobs, "--out", arguments.out], check=True)
    runs = load(arguments.out)
    parts = [speedups(runs, bars()), overhead(runs), miss_rates(runs), contents(runs), responses(runs), limits(runs),
             decisions(runs)]
    results_page.write(PAGE, [line for part in parts for line in part])


if __name__ == "__main__":
    main()
