#!/usr/bin/python3
"""How the cost of a run grows with chips and falls with ranks (docs/scaling.md). Run by hand on a quiet machine.

    scale.py chips ATOLL [--chips 1,2,4,...] [--topologies ring,switch] [--workloads private,shared] [--work 0.25] [--repeat 3]
        constant work per chip on one rank: processor time per request, memory per chip
    scale.py ranks ATOLL [--ranks 1,2] [--workloads FILE,...] [--repeat 3] [--set KEY=VALUE]...
        wall clock, speed-up, and the time that ranks wait, all and per window
    scale.py model ATOLL [--workloads FILE,...] [--latencies 8,32,128] [--transport vader|tcp] [--repeat 3]
        measures what a batch costs, and compares runs of two ranks with a replay of what each process did in each window
    scale.py predict ATOLL --batch MICROSECONDS --tcp-batch MICROSECONDS [--chips 64] [--workloads shared,mixed] [--work 0.1]
        what the replay says of many ranks, from a run on one rank and the figures that `model` printed for each transport
    scale.py threads ATOLL [--systems A,B] [--workloads FILE,...] [--threads 2,4,8] [--sync MICROSECONDS]
        what threads that share the parts of a chip could give at most, from the events of each part and step
    scale.py pairs ATOLL [--systems A,B] [--workloads FILE,...] [--repeat 5]
        one chip on one thread and on two, in turn: seconds, ratio, and which part of the events is the uncore's

`model`, `predict`, `threads` and `pairs` use bench_replay, which is built beside ATOLL. Processor time bears other jobs on
the machine, wall clock does not. Standard library only."""

import argparse
import json
import os
import statistics
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


def replayed(a, arguments, seconds, *options):
    """What bench_replay says of the run of `atoll run ARGUMENTS` that takes so long on one rank: a row for each layout."""
    words = [word for word in arguments if word != "-w"]
    words = [os.path.join(os.path.dirname(os.path.abspath(a.atoll)), "bench_replay"), *words, "--seconds", str(seconds), *map(str, options)]
    return [json.loads(line) for line in subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()]


def calibrated_batch(a):
    """Microseconds, from two chips with little to do, in ranks of their own, so that windows are hardly more than their batches."""
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
        batch = replayed(a, arguments, one, "--map", "0,1,1", "--match", two.seconds)[0]["batch_us"]
    print(f"two chips of few events: {one:.2f} s on one rank, {two.seconds:.2f} s on two, {two.windows} windows; a batch: {batch:.2f} us",
          flush=True)
    return batch


def model_command(a):
    os.environ["OMPI_MCA_btl"] = f"self,{a.transport}"  # noqa: SIM112
    if a.transport == "tcp":
        os.environ["OMPI_MCA_btl_tcp_if_include"] = "lo"  # noqa: SIM112
    maps = {"even": "0,0,1,1,1", "uneven": "0,0,0,1,1"}
    batch = calibrated_batch(a)
    print("workload              latency  map      windows  one rank  two ranks  speed-up  replay  error")
    errors = []
    for file in a.workloads.split(","):
        for latency in map(int, a.latencies.split(",")):
            arguments = ["sac-4chip", "-w", os.path.join(SOURCE, file), "--set", f"link.latency_cycles={latency}"]

            def fastest(*more, ranks=1, arguments=arguments):
                return min((Run(a.atoll, [*arguments, *more], ranks) for _ in range(a.repeat)), key=lambda r: r.seconds)

            alone = fastest()
            said = replayed(a, arguments, alone.seconds, "--batch", batch, *(word for m in maps.values() for word in ("--map", m)))
            for name, row in zip(maps, said):
                two = fastest("--map", maps[name], ranks=2)
                # Ranks go on with empty windows until they meet, every 32 windows; the replay ends with the work.
                if two.digest != alone.digest or not 0 <= two.windows - row["windows"] < 32:
                    sys.exit(f"digests or windows differ: {two.digest} {alone.digest}, {two.windows} {row['windows']}")
                errors.append(row["seconds"] / two.seconds - 1)
                print(f"{os.path.basename(file):20}  {latency:7}  {name:7}  {two.windows:7}  {alone.seconds:8.2f}  {two.seconds:9.2f}  "
                      f"{alone.seconds / two.seconds:8.2f}  {row['seconds']:6.2f}  {100 * errors[-1]:+5.1f} %", flush=True)
    sizes = [abs(error) for error in errors]
    print(f"{a.transport}, batch {batch:.2f} us: mean error {100 * sum(sizes) / len(sizes):.1f} %, largest {100 * max(sizes):.1f} %")


def predict_command(a):
    networks = {"one host": (a.batch, 0), "InfiniBand": (a.batch, 2), "TCP": (a.tcp_batch, 30)}
    numbers = [2**i for i in range(1, a.chips.bit_length()) if 2**i <= a.chips] + [a.chips + 1]
    print("workload   ranks  " + "  ".join(f"{name:>20}" for name in networks) + "   (speed-up, part of all ranks' time that is waiting)")
    for name in a.workloads.split(","):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["sac-4chip", "--set", f"chips={a.chips}", "-w", weak(name, a.chips, a.work, folder)]
            alone = min(Run(a.atoll, arguments).seconds for _ in range(a.repeat))
            layouts = [word for ranks in numbers for word in ("--ranks", ranks)]
            rows = {network: replayed(a, arguments, alone, "--batch", batch, "--wire", wire, *layouts)
                    for network, (batch, wire) in networks.items()}
        for i, ranks in enumerate(numbers):
            print(f"{name:9}  {ranks:5}" + "".join(f"  {alone / rows[n][i]['seconds']:10.1f}  {100 * rows[n][i]['waited']:6.1f} %"
                                                    for n in networks))


def threads_command(a):
    numbers = [word for n in a.threads.split(",") for word in ("--threads", n)]
    print("system       workload              events/step  " + "  ".join(f"{n:>5}" for n in a.threads.split(",")))
    for system in a.systems.split(","):
        for file in a.workloads.split(","):
            arguments = [system, "-w", os.path.join(SOURCE, file)]
            alone = min((Run(a.atoll, arguments) for _ in range(a.repeat)), key=lambda r: r.seconds)
            rows = replayed(a, arguments, alone.seconds, "--sync", a.sync, *numbers)
            print(f"{system:11}  {os.path.basename(file):20}  {rows[0]['events'] / rows[0]['steps']:11.1f}  " +
                  "  ".join(f"{row['speed_up']:5.2f}" for row in rows), flush=True)


def pairs_command(a):
    print("system       workload                 uncore  1 thread  2 threads  least : least  median of pairs")
    for system in a.systems.split(","):
        for file in a.workloads.split(","):
            arguments = [system, "-w", os.path.join(SOURCE, file)]
            pairs = [[Run(a.atoll, [*arguments, "--threads", n]) for n in ("1", "2")] for _ in range(a.repeat)]
            if len({run.digest for pair in pairs for run in pair}) > 1:
                sys.exit("digests differ")
            one, two = (min(pair[i].seconds for pair in pairs) for i in (0, 1))
            ratio = statistics.median(pair[0].seconds / pair[1].seconds for pair in pairs)
            row = replayed(a, arguments, one, "--threads", 2)[0]
            print(f"{system:11}  {os.path.basename(file):23}  {100 * row['uncore'] / row['events']:4.0f} %  {one:8.2f}  {two:9.2f}  "
                  f"{one / two:13.2f}  {ratio:15.2f}", flush=True)


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
    c.add_argument("--batch", type=float, required=True)
    c.add_argument("--tcp-batch", type=float, required=True)
    c.add_argument("--chips", type=int, default=64)
    c.add_argument("--workloads", default="shared,mixed")
    c.add_argument("--work", type=float, default=0.1)
    c.add_argument("--repeat", type=int, default=3)
    c.set_defaults(command=predict_command)
    c = commands.add_parser("threads")
    c.add_argument("atoll")
    c.add_argument("--systems", default="selrep-gpu,rtx3070,sac-4chip")
    c.add_argument("--workloads", default="inputs/workloads/mixed.json,"
                   + ",".join(f"inputs/workloads/traces/{name}.h5" for name in ("squeezenet", "gemm", "atax", "bfs")))
    c.add_argument("--threads", default="2,4,8,16,32")
    c.add_argument("--sync", type=float, default=0.1)
    c.add_argument("--repeat", type=int, default=3)
    c.set_defaults(command=threads_command)
    c = commands.add_parser("pairs")
    c.add_argument("atoll")
    c.add_argument("--systems", default="selrep-gpu,colab-gpu,rtx3070")
    c.add_argument("--workloads", default="inputs/workloads/mixed.json,tests/bench/uniform_private.json,"
                   + ",".join(f"inputs/workloads/traces/{name}.h5" for name in ("squeezenet", "gemm", "atax", "bfs", "conv2d")))
    c.add_argument("--repeat", type=int, default=5)
    c.set_defaults(command=pairs_command)
    arguments = parser.parse_args()
    arguments.command(arguments)


if __name__ == "__main__":
    main()
