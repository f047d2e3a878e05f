#!/usr/bin/env python3
"""How often SAC decides right, and what that is worth, over eight choices of the sets that its directory samples.

    sampling.py [--jobs N] [--out DIR] [--runs DIR] [--atoll PATH] [--write] [NAME...]

`--runs` has the runs of report.py, which must have been made: they say which organisation is right for each launch (the one
whose launch is shorter: memory-side, or SM-side on SAC's network) and what memory-side takes. What is in `--out` is not run
again. Runs that decide alike are alike to the cycle: of a workload with one launch only the profile is simulated for each
choice, and the rest once for each decision. --write puts the tables into docs/validation/sac.md. Needs h5py."""

import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import report
import results_page

CHOICES = range(8)
# Those of which all choices are run, and those that are run once.
SAMPLED = {"8 sets": ["sac.crd_sets=8"], "256 sets": ["sac.crd_sets=256"]}
VARIANTS = {
    "emptied when the organisation changes, follows all requests": ["sac.crd_clear=change", "sac.crd_always=true"],
    "emptied when the organisation changes": ["sac.crd_clear=change"],
    "never emptied": ["sac.crd_clear=never"],
    "`sac.confidence` = 2": ["sac.confidence=2"],
}
BEGIN, END = "<!-- sampling: written by sampling.py -->", "<!-- end of sampling -->"


class Runs:
    def __init__(self, atoll, out, done, jobs):
        self.atoll, self.out, self.done, self.jobs = atoll, out, done, jobs
        out.mkdir(parents=True, exist_ok=True)

    def result(self, workload, settings, max_cycles=None):
        name = "_".join([workload, *(s.removeprefix("sac.").replace("=", "") for s in settings)]) + ("_window" if max_cycles else "")
        path = self.out / f"{name}.h5"
        if not path.exists():
            command = [self.atoll, "run", "sac-4chip", "-w", str(report.ROOT / f"inputs/workloads/sac/{workload}.json"), "-o",
                       str(path), "--set", "llc.organisation=sac"]
            for setting in settings:
                command += ["--set", setting]
            if max_cycles:
                command += ["--max-cycles", str(max_cycles)]
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=not max_cycles)
        return path

    def published(self, workload, variant):
        return self.done / f"{workload}__{variant}.h5"


def launches(path):
    """Lengths of the launches but the one that places pages."""
    with h5py.File(path) as f:
        return [int(e - s) for s, e in zip(f["kernels/started"][1:], f["kernels/finished"][1:])]


def choices(path):
    """Last decision of each launch but the one that places pages."""
    with h5py.File(path) as f:
        text = lambda v: v.decode() if isinstance(v, bytes) else v
        last = {int(k): text(c) for k, c in zip(f["decisions/kernel"][:], f["decisions/choice"][:])}
        return tuple(c for k, c in sorted(last.items()) if k > 0)


def cycles(path):
    with h5py.File(path) as f:
        return float(f.attrs["cycles"])


def window_end(runs, workload):
    """A cycle by which the first launch has been decided for."""
    with h5py.File(runs.published(workload, "sac")) as f:
        return int(f["kernels/started"][1]) + 2000 + 4 * 400


def outcome(runs, workload, settings):
    """Decisions of a run and its speed-up over memory-side."""
    one = len(launches(runs.published(workload, "memory_side"))) == 1
    base = cycles(runs.published(workload, "memory_side"))
    if not one or any("confidence" in s for s in settings):
        path = runs.result(workload, settings)
        return choices(path), base / cycles(path)
    chosen = choices(runs.result(workload, settings, window_end(runs, workload)))
    # Whoever decided so first was run to the end.
    for path in [runs.published(workload, "sac"), *sorted(runs.out.glob(f"{workload}_*.h5"))]:
        if not path.stem.endswith("_window") and choices(path) == chosen and "confidence" not in path.stem:
            return chosen, base / cycles(path)
    return chosen, base / cycles(runs.result(workload, settings))


def right(runs, workload):
    memory, sm = (launches(runs.published(workload, v)) for v in ("memory_side", "sm_side_1noc"))
    return tuple("sm_side" if s < m else "memory_side" for m, s in zip(memory, sm))


def share(decided, wanted):
    """Of decisions that were right; launches too short to decide for count as memory-side."""
    return sum(d == w for d, w in zip(decided, wanted)) / len(wanted)


def tables(runs, names):
    def of(workload):
        wanted = right(runs, workload)
        row = {}
        for label, settings in SAMPLED.items():
            found = [outcome(runs, workload, [*settings, f"sac.crd_choice={n}"]) for n in CHOICES]
            row[label] = statistics.mean(share(c, wanted) for c, _ in found), [s for _, s in found]
        for label, settings in VARIANTS.items():
            chosen, speedup = outcome(runs, workload, settings)
            row[label] = share(chosen, wanted), [speedup]
        print(workload, wanted, {k: (round(a, 2), [round(x, 2) for x in s]) for k, (a, s) in row.items()}, flush=True)
        return row

    with concurrent.futures.ThreadPoolExecutor(runs.jobs) as pool:
        rows = dict(zip(names, pool.map(of, names)))
    better = {w: max(1.0, cycles(runs.published(w, "memory_side")) / cycles(runs.published(w, "sm_side"))) for w in names}
    cell = lambda r: f"{100 * r[0]:.0f} %, {statistics.mean(r[1]):.2f} ({min(r[1]):.2f} to {max(r[1]):.2f})"
    out = ["Share of right decisions over eight choices; speed-up over memory-side, mean and range.", ""]
    out += report.table(["", *SAMPLED, "better organisation"],
                        [[w, *(cell(rows[w][label]) for label in SAMPLED), f"{better[w]:.2f}"] for w in names])
    columns = {f"{label}, choice {n}": {w: rows[w][label][1][n] for w in names} for label in SAMPLED for n in CHOICES}
    columns |= {label: {w: rows[w][label][1][0] for w in names} for label in VARIANTS}
    right_of = {f"{label}, choice {n}": "" for label in SAMPLED for n in CHOICES}
    right_of |= {label: f"{100 * statistics.mean(rows[w][label][0] for w in names):.0f} %" for label in VARIANTS}
    out += ["Of all benchmarks: how many are at most 3 % below the better organisation, and SAC over SM-side.", ""]
    over_sm = lambda c: report.harmonic(
        c[w] * cycles(runs.published(w, "sm_side")) / cycles(runs.published(w, "memory_side")) for w in names)
    lines = []
    for label in SAMPLED:
        each = [columns[f"{label}, choice {n}"] for n in CHOICES]
        near = [sum(c[w] >= 0.97 * better[w] for w in names) for c in each]
        gain = [over_sm(c) for c in each]
        decided = statistics.mean(rows[w][label][0] for w in names)
        lines.append([label, f"{100 * decided:.0f} %", f"{statistics.mean(near):.1f} ({min(near)} to {max(near)})",
                      f"{statistics.mean(gain):.3f} ({min(gain):.3f} to {max(gain):.3f})"])
    for label in VARIANTS:
        c = columns[label]
        lines.append([label, right_of[label], sum(c[w] >= 0.97 * better[w] for w in names), f"{over_sm(c):.3f}"])
    return out + report.table(["", "right", "within 3 %", "SAC over SM-side, harmonic mean"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=report.ROOT / "results/sac_sampling")
    parser.add_argument("--runs", type=pathlib.Path, default=report.ROOT / "results/sac")
    parser.add_argument("--atoll", default=str(report.ROOT / "build/release/atoll"))
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    asked = parser.parse_args()
    runs = Runs(asked.atoll, asked.out, asked.runs, asked.jobs)
    lines = tables(runs, asked.names or list(report.ALL))
    print("\n".join(lines))
    if asked.write:
        results_page.write(report.PAGE, lines, BEGIN, END)


if __name__ == "__main__":
    main()
