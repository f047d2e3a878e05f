#!/usr/bin/env python3
"""Run times by layout on a host with other work: threads and ranks, beside so many busy loops.

    busy_host.py [--loops N] [--rounds N] [--atoll PATH] [--mpirun COMMAND] [WORKLOAD]

Layouts take turns, so that a host whose speed drifts slows all of them; the table has medians, and ratios to as many threads."""

import argparse
import contextlib
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = (2, 5)


@contextlib.contextmanager
def busy_loops(number):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=os.cpu_count(), help="busy loops; default: one for each processor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--mpirun", default="mpirun --oversubscribe")
    parser.add_argument("workload", nargs="?", default=str(ROOT / "tests/bench/uniform_shared.json"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, busy_loops(asked.loops):
        run = [asked.atoll, "run", "sac-4chip", "-w", asked.workload, "--set", "llc.organisation=sm_side", "--force", "-o",
               f"{folder}/run.h5"]
        layouts = {"one rank": run}
        for n in RANKS:
            layouts[f"--threads {n}"] = [*run, "--threads", str(n)]
            layouts[f"mpirun -n {n}"] = [*shlex.split(asked.mpirun), "-n", str(n), *run]
        times: dict[str, list[float]] = {name: [] for name in layouts}
        for _ in range(asked.rounds):
            for name, command in layouts.items():
                times[name].append(seconds(command))
    median = {name: statistics.median(t) for name, t in times.items()}
    print(f"{asked.loops} busy loops on {os.cpu_count()} processors, {asked.rounds} rounds\n")
    print("| layout | seconds, median | least | most | to as many threads |\n|---|---|---|---|---|")
    for name, t in times.items():
        threads = median.get(name.replace("mpirun -n", "--threads"), median[name])
        print(f"| `{name}` | {median[name]:.1f} | {min(t):.1f} | {max(t):.1f} | {median[name] / threads:.2f} |")


if __name__ == "__main__":
    main()
