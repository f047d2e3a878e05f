#!/usr/bin/python3
"""How the cost of a run grows with chips and falls with ranks (docs/scaling.md). Run by hand on a quiet machine.

    scale.py chips ATOLL [--chips 1,2,4,...] [--topologies ring,switch] [--workloads private,shared,mixed] [--work 0.25]
        constant work per chip on one rank: processor time per request, memory per chip
    scale.py ranks ATOLL [--ranks 1,2] [--workloads FILE,...] [--repeat 3] [--set KEY=VALUE]...
        wall clock, speed-up, and the time that ranks wait, all and per window

Processor time bears other jobs on the machine, wall clock does not. Standard library only."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOUR_CHIPS = {  # what four chips do; other numbers of chips get so many times as much
    "private": "tests/bench/uniform_private.json",
    "shared": "tests/bench/uniform_shared.json",
    "mixed": "inputs/workloads/mixed.json",
}
SAC = ["AN", "BFS", "RN", "STEN"]


class Run:
    """One run of the program: its result and what it took."""

    def __init__(self, atoll, arguments, ranks=1):
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "r.h5")
            command = [atoll, "run", *arguments, "-q", "-o", result]
            if ranks > 1:
                command = ["mpirun", "--oversubscribe", "--bind-to", "core" if ranks <= (os.cpu_count() or 1) else "none",
                           "-n", str(ranks), *command]
            environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            process = subprocess.Popen(command, env=environment)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
            self.info = json.loads(subprocess.run([atoll, "info", "--json", result], check=True, capture_output=True).stdout)
        self.processor_seconds = usage.ru_utime + usage.ru_stime
        self.peak_mib = usage.ru_maxrss / 1024  # of the largest process
        totals, provenance = self.info["totals"], self.info["provenance"]
        self.requests = totals["requests.local"] + totals["requests.remote"]
        self.events, self.windows = provenance["events"], provenance["windows"]
        self.seconds, self.waits = provenance["host_seconds"], provenance["wait_seconds"]
        self.loads = provenance["process_events"]
        self.digest = self.info["digest"]


def weak(name, chips, work, folder):
    """The workload of that name with as much work and data per chip as it has on four."""
    with open(os.path.join(SOURCE, FOUR_CHIPS[name]), encoding="utf-8") as file:
        workload = json.load(file)
    for kernel in workload["kernels"]:
        for key in ("ctas", "concurrent_ctas"):
            if key in kernel:
                kernel[key] = kernel[key] * chips // 4
        kernel["memory_instructions"] = max(1, int(kernel["memory_instructions"] * work))
        for region in kernel["regions"]:
            region["size_kib"] = max(64, region["size_kib"] * chips // 4)
    path = os.path.join(folder, f"{name}-{chips}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(workload, file)
    return path


def chips_command(a):
    print("workload  topology  chips   requests  events/request  us/request  ratio  ns/event  MiB/chip")
    for name in a.workloads.split(","):
        for topology in a.topologies.split(","):
            rows = {}
            with tempfile.TemporaryDirectory() as folder:
                for chips in map(int, a.chips.split(",")):
                    work = weak(name, chips, a.work, folder)
                    run = Run(a.atoll, ["sac-4chip", "--set", f"chips={chips}", "--set", f"link.topology={topology}", "-w", work])
                    rows[chips] = cost = 1e6 * run.processor_seconds / run.requests
                    ratio = f"{cost / rows[4]:5.2f}" if 4 in rows else "    -"
                    print(f"{name:8}  {topology:8}  {chips:5}  {run.requests:9}  {run.events / run.requests:14.1f}  {cost:10.3f}  "
                          f"{ratio}  {1e9 * run.processor_seconds / run.events:8.1f}  {run.peak_mib / chips:8.1f}", flush=True)


def ranks_command(a):
    files = a.workloads.split(",") if a.workloads else [os.path.join(SOURCE, "inputs/workloads/sac", n + ".json") for n in SAC]
    sets = [word for setting in a.set for word in ("--set", setting)]
    print("workload            ranks  seconds  speed-up  waits of ranks (%)            windows  us waited/window  us/window  "
          "imbalance")
    for file in files:
        alone = None
        for ranks in map(int, a.ranks.split(",")):
            # The fastest of several: nothing makes a run faster than it is.
            runs = [Run(a.atoll, [a.system, "-w", file, *sets], ranks) for _ in range(a.repeat)]
            if len({run.digest for run in runs}) > 1:
                sys.exit("digests differ")
            run = min(runs, key=lambda r: r.seconds)
            alone = alone or run.seconds
            waits = " ".join(f"{100 * w / run.seconds:.1f}" for w in run.waits)
            # The least waiting rank is the one that the others wait for: what it waits is what waiting costs.
            least = min(run.waits)
            loads = run.loads[:-1]
            print(f"{os.path.basename(file):18}  {ranks:5}  {run.seconds:7.2f}  {alone / run.seconds:8.2f}  {waits:28}  {run.windows:7}  "
                  f"{1e6 * least / run.windows:16.2f}  {1e6 * run.seconds / run.windows:9.1f}  "
                  f"{max(loads) * len(loads) / sum(loads):9.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    c = commands.add_parser("chips")
    c.add_argument("atoll")
    c.add_argument("--chips", default="4,1,2,8,16,32,64")
    c.add_argument("--topologies", default="ring,full,switch")
    c.add_argument("--workloads", default="private,shared,mixed")
    c.add_argument("--work", type=float, default=0.1, help="part of the memory instructions")
    c.set_defaults(command=chips_command)
    c = commands.add_parser("ranks")
    c.add_argument("atoll")
    c.add_argument("--system", default="sac-4chip")
    c.add_argument("--ranks", default="1,2")
    c.add_argument("--workloads", help="files; default: four of SAC's benchmarks")
    c.add_argument("--repeat", type=int, default=3)
    c.add_argument("--set", action="append", default=[])
    c.set_defaults(command=ranks_command)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()
