#!/usr/bin/env python3
"""Says how far chance moves REC's comparison: runs rec_chance.json and writes a table into docs/validation/rec.md.

    chance.py [--jobs N] [--out DIR] [--atoll PATH] [--no-run]

Each program runs with one latency a cycle longer or shorter, under the baseline and under REC. What is in DIR already is
not run again. Traces are those of record.py. Needs h5py (Debian: python3-h5py, /usr/bin/python3)."""

import argparse
import json
import pathlib
import subprocess
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/validation/rec.md"
EXPERIMENT = ROOT / "inputs/experiments/rec_chance.json"
BEGIN, END = "<!-- written by chance.py -->", "<!-- end of chance -->"
PROTOCOLS = ("directory", "rec")


def cycles(folder, workload, variant):
    path = folder / f"{workload}__{variant}.h5"
    if not path.exists():
        sys.exit(f"{path} is missing: run without --no-run")
    with h5py.File(path) as file:
        return float(file.attrs["cycles"])


def spread(values):
    """Mean, and how far the least and the greatest are from it, in percent."""
    mean = sum(values) / len(values)
    return mean, 100 * (min(values) / mean - 1), 100 * (max(values) / mean - 1)


def rows(folder):
    experiment = json.loads(EXPERIMENT.read_text())
    changes = [v["name"].removeprefix("rec_") for v in experiment["variants"] if v["name"].startswith("rec_")]
    for workload in (w["name"] for w in experiment["workloads"]):
        took = {p: [cycles(folder, workload, f"{p}_{c}") for c in changes] for p in PROTOCOLS}
        speedups = [baseline / rec for baseline, rec in zip(took["directory"], took["rec"])]
        cells = [f"{low:+.1f} to {high:+.1f} %" for _, low, high in (spread(took[p]) for p in PROTOCOLS)]
        mean, _, _ = spread(speedups)
        yield [workload, *cells, f"{mean:.2f}", f"{min(speedups):.2f} to {max(speedups):.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results"), help="folder of the experiments' folders")
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--no-run", action="store_true", help="write the table from what is there")
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.out) / EXPERIMENT.stem
    if not arguments.no_run:
        subprocess.run([arguments.atoll, "sweep", str(EXPERIMENT), "--jobs", arguments.jobs, "--out", str(folder)], check=True)
    lines = ["|  | cycles, directory | cycles, rec | speed-up of rec, mean | least to greatest |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows(folder)]
    results_page.write(PAGE, lines, BEGIN, END)


if __name__ == "__main__":
    main()
