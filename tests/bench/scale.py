#!/usr/bin/python3
"""How the cost of a run grows with chips and falls with ranks (docs/scaling.md). Run by hand on a quiet machine.

    scale.py chips ATOLL [--chips 1,2,4,...] [--topologies ring,switch] [--workloads private,shared] [--work 0.25] [--repeat 3]
        constant work per chip on one rank: processor time per request, memory per chip
    scale.py ranks ATOLL [--ranks 1,2] [--workloads FILE,...] [--repeat 3] [--set KEY=VALUE]...
        wall clock, speed-up, and the time that ranks wait, all and per window
    scale.py model ATOLL [--workloads FILE,...] [--latencies 8,32,128] [--transport vader|tcp] [--repeat 3]
        calibrates the model of docs/scaling.md on two runs of two ranks, and compares other ones with it
    scale.py predict ATOLL --part A --batch MICROSECONDS --tcp-batch MICROSECONDS [--chips 64] [--workloads shared,mixed] [--work 0.1]
        what the model says of many ranks, from one run on one rank and the figures that `model` printed for each transport

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
        self.system_seconds = usage.ru_stime  # mostly memory that the kernel clears, once per run
        self.peak_mib = usage.ru_maxrss / 1024  # of the largest process
        totals, provenance = self.info["totals"], self.info["provenance"]
        self.requests = totals["requests.local"] + totals["requests.remote"]
        self.events, self.windows = provenance["events"], provenance["windows"]
        self.seconds = provenance["host_seconds"]
        self.waits = [self.seconds * share for share in provenance["wait_shares"]]
        self.loads = provenance["process_events"]
        self.digest = self.info["digest"]


def weak(name, chips, work, folder):
    """The workload of that name with as much work and data per chip as it has on four."""
    with open(os.path.join(SOURCE, FOUR_CHIPS[name]), encoding="utf-8") as file:
        workload = json.load(file)
    workload["chips"] = chips
    for kernel in workload["kernels"]:
        kernel["ctas"] = kernel["ctas"] * chips // 4
        kernel["memory_instructions"] = max(1, int(kernel["memory_instructions"] * work))
        for region in kernel["regions"]:
            region["size_kib"] = max(64, region["size_kib"] * chips // 4)
    path = os.path.join(folder, f"{name}-{chips}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(workload, file)
    return path


def chips_command(a):
    print("workload  topology  chips   requests  events/request  us/request  ratio  system  ns/event  MiB/chip")
    for name in a.workloads.split(","):
        for topology in a.topologies.split(","):
            rows = {}
            with tempfile.TemporaryDirectory() as folder:
                for chips in map(int, a.chips.split(",")):
                    work = weak(name, chips, a.work, folder)
                    arguments = ["sac-4chip", "--set", f"chips={chips}", "--set", f"link.topology={topology}", "-w", work]
                    # The fastest of several: nothing makes a run faster than it is.
                    run = min((Run(a.atoll, arguments) for _ in range(a.repeat)), key=lambda r: r.processor_seconds)
                    rows[chips] = cost = 1e6 * run.processor_seconds / run.requests
                    ratio = f"{cost / rows[4]:5.2f}" if 4 in rows else "    -"
                    print(f"{name:8}  {topology:8}  {chips:5}  {run.requests:9}  {run.events / run.requests:14.1f}  {cost:10.3f}  "
                          f"{ratio}  {run.system_seconds / run.processor_seconds:6.1%}  {1e9 * run.processor_seconds / run.events:8.1f}  "
                          f"{run.peak_mib / chips:8.1f}", flush=True)


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


class Model:
    """T = windows x max(slowest rank with its batches, mean of two chips that exchange + batch + wire), see docs/scaling.md.

    part: seconds of a rank's share of the work, as part of its share of a run on one rank (caches, uneven windows).
    batch: seconds of both ranks' processors for a batch to and fro; wire: seconds on the way, in which a rank can do other work."""

    def __init__(self, part, batch, wire=0):
        self.part, self.batch, self.wire = part, batch, wire

    def seconds(self, works, ranks, windows):
        """works: seconds of each process in the one-rank run, chips of a ring and the controller; ranks: where each is."""
        works = [self.part * work for work in works]
        chips = len(works) - 1
        across = [(i, (i + 1) % chips) for i in range(chips) if ranks[i] != ranks[(i + 1) % chips]]
        # Chips of a rank with the same neighbours in other ranks are a group and share their batches (comm/batch_plan.hpp).
        group = [(ranks[i], frozenset(j for pair in across if i in pair for j in pair if j != i)) for i in range(chips)]
        streams = {frozenset((group[i], group[j])) for i, j in across}
        of_rank = [sum(w for w, r in zip(works, ranks) if r == rank) +
                   self.batch * windows * sum(1 for stream in streams for of, _ in stream if of == rank) for rank in range(max(ranks) + 1)]
        pairs = max(((works[i] + works[j]) / 2 + (self.batch + self.wire) * windows for i, j in across), default=0)
        return max(max(of_rank), pairs)


def shares(run):
    """Seconds of each process in a one-rank run."""
    return [run.seconds * events / run.events for events in run.loads]


def calibrated_batch(a):
    """From two chips with little to do, in ranks of their own, so that windows are hardly more than their batches:
    T = work / 2 + windows batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = weak("shared", 2, 1, folder)
        with open(path, encoding="utf-8") as file:
            workload = json.load(file)
        workload["kernels"][0].update(ctas=8, memory_instructions=4000)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(workload, file)
        arguments = ["sac-4chip", "-w", path, "--set", "chips=2", "--set", "link.latency_cycles=2"]
        one = min(Run(a.atoll, arguments).seconds for _ in range(a.repeat))
        two = min((Run(a.atoll, [*arguments, "--map", "0,1,1"], 2) for _ in range(a.repeat)), key=lambda r: r.seconds)
    print(f"two chips of few events: {one:.2f} s on one rank, {two.seconds:.2f} s on two, {two.windows} windows", flush=True)
    return (two.seconds - one / 2) / two.windows


def model_command(a):
    os.environ["OMPI_MCA_btl"] = f"self,{a.transport}"  # noqa: SIM112
    if a.transport == "tcp":
        os.environ["OMPI_MCA_btl_tcp_if_include"] = "lo"  # noqa: SIM112
    maps = {"even": [0, 0, 1, 1, 1], "uneven": [0, 0, 0, 1, 1]}
    points = []
    for file in a.workloads.split(","):
        for latency in map(int, a.latencies.split(",")):
            arguments = ["sac-4chip", "-w", os.path.join(SOURCE, file), "--set", f"link.latency_cycles={latency}"]

            def fastest(*more, ranks=1, arguments=arguments):
                return min((Run(a.atoll, [*arguments, *more], ranks) for _ in range(a.repeat)), key=lambda r: r.seconds)

            alone = fastest()
            for name, ranks in maps.items():
                two = fastest("--map", ",".join(map(str, ranks)), ranks=2)
                if two.digest != alone.digest:
                    sys.exit("digests differ")
                points.append((os.path.basename(file), latency, name, (shares(alone), ranks), two.windows, two.seconds, alone.seconds))
    # `part` of a run whose windows are so long that batches hardly count.
    longest = max((p for p in points if p[0] == points[0][0] and p[2] == "even"), key=lambda p: p[1])
    batch = calibrated_batch(a)
    model = Model(1, batch)
    for _ in range(20):  # the slowest rank's batches do not grow with `part`
        model.part *= longest[5] / model.seconds(*longest[3], longest[4])
    print(f"{a.transport}: part {model.part:.3f}, batch {1e6 * model.batch:.2f} us")
    print("workload              latency  map      windows  one rank  two ranks  speed-up   model  error")
    errors = []
    for point in points:
        file, latency, name, works, windows, seconds, alone = point
        said = model.seconds(*works, windows)
        error = said / seconds - 1
        fitted = point is longest
        if not fitted:
            errors.append(abs(error))
        print(f"{file:20}  {latency:7}  {name:7}  {windows:7}  {alone:8.2f}  {seconds:9.2f}  {alone / seconds:8.2f}  {said:6.2f}  "
              f"{100 * error:+5.1f} %{'  (calibration)' if fitted else ''}")
    print(f"held-out runs: mean error {100 * sum(errors) / len(errors):.1f} %, largest {100 * max(errors):.1f} %")


def predict_command(a):
    networks = {"one host": (a.batch, 0), "InfiniBand": (a.batch, 2), "TCP": (a.tcp_batch, 30)}
    print("workload   ranks  " + "  ".join(f"{name:>20}" for name in networks) + "   (speed-up, part of it that is synchronisation)")
    for name in a.workloads.split(","):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(a.atoll, ["sac-4chip", "--set", f"chips={a.chips}", "-w", weak(name, a.chips, a.work, folder)])
        ranks = 1
        while True:
            of_process = [min(p * ranks // a.chips, ranks - 1) for p in range(a.chips + 1)]
            if ranks > a.chips:
                of_process = list(range(a.chips + 1))
            works = shares(run)
            row = f"{name:9}  {ranks:5}"
            for batch, wire in networks.values():
                part = a.part if ranks > 1 else 1
                seconds = Model(part, 1e-6 * batch, 1e-6 * wire).seconds(works, of_process, run.windows)
                free = Model(part, 0).seconds(works, of_process, run.windows)
                row += f"  {run.seconds / seconds:10.1f}  {100 * (1 - free / seconds):6.1f} %"
            print(row)
            if ranks > a.chips:
                break
            ranks = 2 * ranks if ranks < a.chips else a.chips + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    c = commands.add_parser("chips")
    c.add_argument("atoll")
    c.add_argument("--chips", default="4,1,2,8,16,32,64")
    c.add_argument("--topologies", default="ring,full,switch")
    c.add_argument("--workloads", default="private,shared,mixed")
    c.add_argument("--work", type=float, default=0.1, help="part of the memory instructions")
    c.add_argument("--repeat", type=int, default=3)
    c.set_defaults(command=chips_command)
    c = commands.add_parser("ranks")
    c.add_argument("atoll")
    c.add_argument("--system", default="sac-4chip")
    c.add_argument("--ranks", default="1,2")
    c.add_argument("--workloads", help="files; default: four of SAC's benchmarks")
    c.add_argument("--repeat", type=int, default=3)
    c.add_argument("--set", action="append", default=[])
    c.set_defaults(command=ranks_command)
    c = commands.add_parser("model")
    c.add_argument("atoll")
    c.add_argument("--workloads", default="tests/bench/uniform_shared.json,tests/bench/uniform_private.json,inputs/workloads/mixed.json")
    c.add_argument("--latencies", default="8,32,128")
    c.add_argument("--transport", choices=["vader", "tcp"], default="vader")
    c.add_argument("--repeat", type=int, default=3)
    c.set_defaults(command=model_command)
    c = commands.add_parser("predict")
    c.add_argument("atoll")
    c.add_argument("--part", type=float, required=True)
    c.add_argument("--batch", type=float, required=True)
    c.add_argument("--tcp-batch", type=float, required=True)
    c.add_argument("--chips", type=int, default=64)
    c.add_argument("--workloads", default="shared,mixed")
    c.add_argument("--work", type=float, default=0.1)
    c.set_defaults(command=predict_command)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()
