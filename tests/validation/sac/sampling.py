#!/usr/bin/env python3
"""How often SAC decides right, and what that is worth, over eight choices of the sets that its directory samples.

    sampling.py [--jobs N] [--out DIR] [--runs DIR] [--atoll PATH] [--write] [NAME...]

`--runs` has the runs of report.py, which must have been made: they say which organisation is right for each launch (the one
whose launch is shorter: memory-side, or SM-side on SAC's network) and what memory-side takes. What is in `--out` is not run
again. Runs that decide alike are alike to the cycle: of a workload with one launch only the profile is simulated for each
choice, and the rest once for each decision. What was found is kept in sampling.json, benchmark by benchmark, so that some can
be repeated and hours of runs need not be; --write puts the tables of all that is kept into docs/validation/sac.md. Needs h5py."""

import argparse
import concurrent.futures
import json
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
KEPT = pathlib.Path(__file__).resolve().parent / "sampling.json"
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


def found(runs, workload):
    """What is kept of a benchmark: share of right decisions and speed-ups by label, and what SM-side has."""
    wanted = right(runs, workload)
    row = {}
    for label, settings in SAMPLED.items():
        each = [outcome(runs, workload, [*settings, f"sac.crd_choice={n}"]) for n in CHOICES]
        row[label] = {"right": statistics.mean(share(c, wanted) for c, _ in each), "speedup": [round(s, 4) for _, s in each]}
    for label, settings in VARIANTS.items():
        chosen, speedup = outcome(runs, workload, settings)
        row[label] = {"right": share(chosen, wanted), "speedup": [round(speedup, 4)]}
    row["sm_side"] = round(cycles(runs.published(workload, "memory_side")) / cycles(runs.published(workload, "sm_side")), 4)
    print(workload, wanted, row, flush=True)
    return row


def tables(rows):
    """Of what is kept, by benchmark in the order of the paper."""
    names = [w for w in report.ALL if w in rows]
    better = {w: max(1.0, rows[w]["sm_side"]) for w in names}

    def cell(r):
        return f"{100 * r['right']:.0f} %, {statistics.mean(r['speedup']):.2f} ({min(r['speedup']):.2f} to {max(r['speedup']):.2f})"

    def over_sm(column):
        return report.harmonic(column[w] / rows[w]["sm_side"] for w in names)

    def near(column):
        return sum(column[w] >= 0.97 * better[w] for w in names)

    out = ["Share of right decisions over eight choices; speed-up over memory-side, mean and range.", ""]
    out += report.table(["", *SAMPLED, "better organisation"],
                        [[w, *(cell(rows[w][label]) for label in SAMPLED), f"{better[w]:.2f}"] for w in names])
    out += [f"Of {len(names)} benchmarks: how many are at most 3 % below the better organisation, and SAC over SM-side.", ""]
    lines = []
    for label in [*SAMPLED, *VARIANTS]:
        decided = f"{100 * statistics.mean(rows[w][label]['right'] for w in names):.0f} %"
        columns = [{w: rows[w][label]["speedup"][n] for w in names} for n in range(len(CHOICES) if label in SAMPLED else 1)]
        counts, gains = [near(c) for c in columns], [over_sm(c) for c in columns]
        if label in SAMPLED:
            lines.append([label, decided, f"{statistics.mean(counts):.1f} ({min(counts)} to {max(counts)})",
                          f"{statistics.mean(gains):.3f} ({min(gains):.3f} to {max(gains):.3f})"])
        else:
            lines.append([label, decided, f"{counts[0]}", f"{gains[0]:.3f}"])
    lines.append(["the better organisation, always", "", f"{len(names)}", f"{over_sm(better):.3f}"])
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
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    names = asked.names or list(report.ALL)
    with concurrent.futures.ThreadPoolExecutor(runs.jobs) as pool:
        for w, row in zip(names, pool.map(lambda w: found(runs, w), names)):
            kept[w] = row
            KEPT.write_text(json.dumps({w: kept[w] for w in report.ALL if w in kept}, indent=1) + "\n")
    lines = tables(kept)
    print("\n".join(lines))
    if asked.write:
        results_page.write(report.PAGE, lines, BEGIN, END)


if __name__ == "__main__":
    main()
