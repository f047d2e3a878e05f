#!/usr/bin/env python3
"""Runs Accel-Sim's traces on Atoll and compares with what Accel-Sim says of them, kernel by kernel.

    accelsim.py                                                    four traces, Accel-Sim's figures from accelsim_reference.json
    accelsim.py --traces FOLDER --accelsim accel-sim.out --config gpgpusim.config --config trace.config
                                                                   every trace in a folder; Accel-Sim runs here, too
    accelsim.py --traces FOLDER --all                              every trace, on Atoll alone where nothing is stored

Prints tables in Markdown. Exit code: 0 if accesses and cycles are within the limits of accelsim_reference.json, 1 if not,
77 if the traces are absent. CPU time, which depends on what else runs, is printed and does not count.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
SECTOR_BYTES = 32


class Missing(Exception):
    """Something that the comparison needs is not here."""


class Refused(Exception):
    """Accel-Sim does not run a trace."""


def unpack(archive, scratch):
    scratch.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        options: dict = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(scratch, **options)


def kernel_list(traces, name, scratch):
    """The trace's kernelslist.g: in the folder as it is, or unpacked from an archive there."""
    unpacked = traces / name / "kernelslist.g"
    if unpacked.is_file():
        return unpacked
    archive = traces / f"{name}.tar.xz"
    if not archive.is_file():
        raise Missing(f"neither {unpacked} nor {archive} exists")
    unpack(archive, scratch)
    found = sorted(scratch.glob(f"**/{name}/**/kernelslist.g")) or sorted(scratch.glob("**/kernelslist.g"))
    if not found:
        raise Missing(f"{archive} has no kernelslist.g")
    return found[0]


def all_traces(traces, scratch):
    """Every trace at any depth below a folder: its name and its kernelslist.g."""
    found = {str(path.parent.relative_to(traces)): path for path in sorted(traces.glob("**/kernelslist.g"))}
    for archive in sorted(traces.glob("**/*.tar.xz")):
        name = str(archive.relative_to(traces)).removesuffix(".tar.xz")
        if name not in found:
            folder = scratch / "unpacked" / name
            unpack(archive, folder)
            lists = sorted(folder.glob("**/kernelslist.g"))
            if lists:
                found[name] = lists[0]
    if not found:
        raise Missing(f"below {traces} there is no kernelslist.g, plain or in a .tar.xz")
    return found


def cpu_seconds(command, **options):
    """Runs a command; returns the user and system time that it took, and what it printed if that was asked for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def counts_of(read):
    """What Atoll says of a run, by the names of the reference."""
    total = read["totals"]
    return {
        "warp_instructions": total["warp.instructions"],
        "l1_accesses": total["l1.sector_accesses"],
        "l1_misses": total["l1.sector_misses"],
        # Atomics are neither; their sectors are looked up as reads are. Whatever else is looked up is a store's.
        "l2_reads": total["llc.sector_accesses"] - total["l1.store_sectors"],
        "l2_writes": total["l1.store_sectors"],
        "l2_misses": total["llc.sector_misses"],
        "dram_reads": total["dram.read_bytes"] // SECTOR_BYTES,
        "cycles": [kernel["cycles"] for kernel in read["kernels"]],
        "names": [kernel["name"] for kernel in read["kernels"]],
    }


def measure(options, kernels, scratch):
    """Atoll on a trace: whole for cycles and totals, and each kernel alone for its counts and CPU time. An L1 begins every
    kernel empty, so a kernel's accesses do not depend on those before it; misses of the L2 do, and are not compared."""
    scratch.mkdir(parents=True, exist_ok=True)
    trace, result = scratch / "trace.h5", scratch / "result.h5"
    command = [options.atoll, "import", "accel-sim", kernels, "-o", trace, "--force", "--latencies", "accel-sim"]
    import_seconds, _ = cpu_seconds(command)
    run = [options.atoll, "run", options.system, "--workload", trace, "--quiet"]

    def read(*part):
        seconds, _ = cpu_seconds([*run, *part, "-o", result, "--force"])
        # `info` and not h5py: the comparison is a test too, and shall run with any Python.
        info = subprocess.run([options.atoll, "info", "--json", result], check=True, stdout=subprocess.PIPE).stdout
        return {**counts_of(json.loads(info)), "cpu_seconds": seconds}

    ours = read()
    ours["cpu_seconds"] = sorted(cpu_seconds(run)[0] for _ in range(options.repeat))[options.repeat // 2]
    ours["import_seconds"] = import_seconds
    count = len(ours["cycles"])
    ours["kernels"] = [read("--kernels", str(k)) for k in range(count)] if count <= options.alone else []
    return ours


# The last figure of a name in what Accel-Sim prints after a kernel; caches' are sums since the beginning.
PRINTED = {
    "warp_instructions": r"gpgpu_n_tot_w_icount = (\d+)",
    "l1_accesses": r"L1D_total_cache_accesses = (\d+)",
    "l1_misses": r"L1D_total_cache_misses = (\d+)",
    "l2_reads": r"L2_cache_stats_breakdown\[(?:GLOBAL|LOCAL)_ACC_R\]\[TOTAL_ACCESS\] = (\d+)",
    "l2_writes": r"L2_cache_stats_breakdown\[(?:GLOBAL|LOCAL)_ACC_W\]\[TOTAL_ACCESS\] = (\d+)",
    "l2_misses": r"L2_total_cache_misses = (\d+)",
    "dram_reads": r"total dram reads = (\d+)",
    "seconds": r"gpgpu_simulation_time = .*\((\d+) sec\)",
}


def parse_accelsim(text):
    """What Accel-Sim printed, by the names of the reference; `kernels` has the counts of each."""
    blocks = re.split(r"^kernel_name = ", text, flags=re.M)[1:]
    if not blocks:
        raise Refused("its output has no kernel")
    sums, cycles, names = [], [], []
    for block in blocks:
        found = re.findall(r"^gpu_sim_cycle = (\d+)", block, flags=re.M)
        if not found:
            raise Refused(f"it printed no gpu_sim_cycle for {block.splitlines()[0]}")
        cycles.append(int(found[0]))
        names.append(block.splitlines()[0].strip())
        row = {}
        for key, pattern in PRINTED.items():
            values = [int(value) for value in re.findall(pattern, block)]
            row[key] = sum(values) if key in ("l2_reads", "l2_writes") else values[-1] if values else 0
        sums.append(row)
    before = dict.fromkeys(PRINTED, 0)
    kernels = []
    for row in sums:
        kernels.append({key: row[key] - before[key] for key in PRINTED})
        before = row
    return {**sums[-1], "cycles": cycles, "names": names, "kernels": kernels}


def run_accelsim(options, kernels, scratch):
    command = [options.accelsim, "-trace", kernels]
    for config in options.config:
        command += ["-config", config.resolve()]
    # Its interconnect's configuration is named beside gpgpusim.config.
    try:
        seconds, text = cpu_seconds(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    cwd=options.config[0].resolve().parent if options.config else scratch)
    except subprocess.CalledProcessError as failed:
        said = [line for line in failed.stdout.splitlines() if line.strip()] or ["nothing"]
        raise Refused(f"it ended with {failed.returncode}; its last words: {said[-1]}") from failed
    return {**parse_accelsim(text), "cpu_seconds": seconds}


# key, what the table calls it, whether there is a limit for it
COUNTS = [
    ("warp_instructions", "warp instructions", True),
    ("l1_accesses", "L1 sector accesses", True),
    ("l1_misses", "L1 sector misses (Atoll: loads only)", False),
    ("l2_reads", "L2 sector reads", True),
    ("l2_writes", "L2 sector writes", True),
    ("l2_misses", "L2 sector misses (Atoll: loads only)", False),
    ("dram_reads", "DRAM reads of a sector", False),
]


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def verdict(within):
    return "yes" if within else "**no**"


def ratio_of(ours, theirs, digits=3):
    return f"{ours / theirs:.{digits}f}" if theirs else "1" if ours == theirs else "-"


def totals(reference, ours, launch, limits):
    row("quantity", "Accel-Sim", "Atoll", "ratio", "ratio without launch latency", "within limit")
    row("---", "---:", "---:", "---:", "---:", "---")
    good = True
    for key, title, limited in COUNTS:
        limited = limited and (reference[key] != 0 or key != "l1_accesses")  # machines whose loads pass the L1 by have none there
        within = abs(ours[key] - reference[key]) <= limits["accesses"] * reference[key]
        good = good and (within or not limited)
        row(title, f"{reference[key]:,}", f"{ours[key]:,}", ratio_of(ours[key], reference[key], 4), "",
            verdict(within) if limited else "none set")
    theirs, mine, kernels = sum(reference["cycles"]), sum(ours["cycles"]), len(ours["cycles"])
    row("cycles in all", f"{theirs:,}", f"{mine:,}", ratio_of(mine, theirs),
        ratio_of(mine - kernels * launch, theirs - kernels * launch), "")
    faster = reference["cpu_seconds"] / max(ours["cpu_seconds"], 1e-6)
    row("CPU seconds", f"{reference['cpu_seconds']:.2f}", f"{ours['cpu_seconds']:.3f}", f"1 / {faster:.0f}", "",
        verdict(faster >= reference["speedup"]) if "speedup" in reference else "none set")
    row("CPU seconds of the import", "", f"{ours['import_seconds']:.3f}", "", "", "")
    return good


def pair(theirs, mine):
    return f"{mine:,}" if theirs == mine else f"{theirs:,} / {mine:,}"


def per_kernel(reference, ours, launch, limits):
    """One row for each kernel: counts where they differ as Accel-Sim / Atoll. Whether all are within the limit, and the errors
    of cycles without launch latency."""
    print()
    row("kernel", "L1 sectors", "L2 reads", "L2 writes", "cycles, Accel-Sim", "Atoll", "ratio", "without launch latency",
        "within limit", "CPU s, Accel-Sim", "Atoll alone")
    row(*["---"] + ["---:"] * 7 + ["---"] + ["---:"] * 2)
    good, errors = True, []
    alone = ours["kernels"] or [None] * len(ours["cycles"])
    theirs_alone = reference.get("kernels") or [None] * len(ours["cycles"])
    for kernel, (theirs, mine, a, t) in enumerate(zip(reference["cycles"], ours["cycles"], alone, theirs_alone)):
        within = abs(mine / theirs - 1) <= limits["cycles"]
        good = good and within
        errors.append(abs((mine - launch) / max(theirs - launch, 1) - 1))
        counts = [""] * 3
        if a:
            counts = [pair(t[key], a[key]) if t else f"{a[key]:,}" for key in ("l1_accesses", "l2_reads", "l2_writes")]
        row(f"{kernel} {ours['names'][kernel][:28]}", *counts, f"{theirs:,}", f"{mine:,}", ratio_of(mine, theirs),
            ratio_of(mine - launch, theirs - launch), verdict(within), f"{t['seconds']}" if t else "",
            f"{a['cpu_seconds']:.3f}" if a else "")
    print(f"\nWithout launch latency: mean error {100 * sum(errors) / len(errors):.1f} %, "
          f"{sum(e <= 0.15 for e in errors)} of {len(errors)} kernels within 15 %.")
    return good, errors


def compare(name, reference, ours, launch, limits):
    """Prints one workload's tables; returns whether everything is within the limits, and its row of the summary."""
    print(f"\n### {name}\n")
    if len(ours["cycles"]) != len(reference["cycles"]):
        raise SystemExit(f"{name}: {len(ours['cycles'])} kernels instead of {len(reference['cycles'])}")
    good = totals(reference, ours, launch, limits)
    cycles_good, errors = per_kernel(reference, ours, launch, limits)
    off = max(abs(ours[k] / reference[k] - 1) for k in ("l1_accesses", "l2_reads", "l2_writes") if reference[k])
    speed = reference["cpu_seconds"] / ours["cpu_seconds"]
    return good and cycles_good, {"name": name, "errors": errors, "sectors": off, "speed": speed}


def summary(rows):
    """The traces side by side; errors are of a kernel's cycles without launch latency."""
    print("\n### All traces\n")
    row("trace", "kernels", "sector accesses off by", "mean error of cycles", "within 15 %", "Accel-Sim's CPU time")
    row("---", *["---:"] * 5)
    every = [e for r in rows for e in r["errors"]]
    for r in rows + [{"name": "all", "errors": every, "sectors": max(r["sectors"] for r in rows), "speed": None}]:
        errors = r["errors"]
        row(r["name"], f"{len(errors)}", f"{100 * r['sectors']:.1f} %", f"{100 * sum(errors) / len(errors):.1f} %",
            f"{sum(e <= 0.15 for e in errors)}", f"{r['speed']:.0f} times" if r["speed"] else "")


def show(name, ours):
    """A trace of which nothing is known but what Atoll says."""
    print(f"\n### {name}: Atoll alone\n")
    row("quantity", "Atoll")
    row("---", "---:")
    for key, title, _ in COUNTS:
        row(title, f"{ours[key]:,}")
    row("cycles in all", f"{sum(ours['cycles']):,}")
    row("CPU seconds", f"{ours['cpu_seconds']:.3f}")
    for kernel, cycles in enumerate(ours["cycles"]):
        row(f"cycles of kernel {kernel} {ours['names'][kernel][:28]}", f"{cycles:,}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", type=pathlib.Path, default=pathlib.Path(os.environ.get("ATOLL", ROOT / "build/release/atoll")),
                        help="program to test (default: $ATOLL, else build/release/atoll)")
    parser.add_argument("--traces", type=pathlib.Path, default=ROOT.parent / "shared/traces",
                        help="folder with the traces, packed (.tar.xz) or unpacked (default: ../shared/traces)")
    parser.add_argument("--accelsim", type=pathlib.Path, help="Accel-Sim's program: runs every trace below the folder, too")
    parser.add_argument("--config", type=pathlib.Path, action="append", default=[],
                        help="for Accel-Sim, repeatable: gpgpusim.config and trace.config of the machine that --system is")
    parser.add_argument("--system", default="rtx3070", help="Atoll's preset or file (default: rtx3070)")
    parser.add_argument("--all", action="store_true", help="without --accelsim: traces without stored figures as well")
    parser.add_argument("--alone", type=int, default=64, metavar="N",
                        help="run each kernel of a trace of up to N by itself, for its counts (default: 64)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the median CPU time counts (default: 5)")
    options = parser.parse_args()
    options.repeat = max(1, options.repeat)
    if not options.atoll.is_file():
        raise SystemExit(f"accelsim.py: {options.atoll} does not exist; build it or name another with --atoll")
    if options.accelsim and not (options.accelsim.is_file() and options.config):
        raise SystemExit("accelsim.py: --accelsim needs a program that exists, and its configuration with --config")
    return options


def main():
    options = arguments()
    reference = json.loads((HERE / "accelsim_reference.json").read_text())
    launch, limits = reference["launch_latency_cycles"], reference["limits"]
    stored = {} if options.system != "rtx3070" else {w["trace"]: w for w in reference["workloads"]}
    good, rows = True, []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        if options.accelsim or options.all:
            traces = all_traces(options.traces, scratch)
        else:
            traces = {name: kernel_list(options.traces, name, scratch / name) for name in stored}
        for number, (name, kernels) in enumerate(traces.items()):
            work = scratch / str(number)
            ours = measure(options, kernels, work)
            theirs = stored.get(name)
            if options.accelsim:
                try:
                    theirs = run_accelsim(options, kernels, work)
                except Refused as why:
                    theirs = None
                    print(f"accelsim.py: Accel-Sim does not run {name}: {why}", file=sys.stderr)
            if theirs:
                within, found = compare(theirs.get("name", name), theirs, ours, launch, limits)
                good &= within
                rows.append(found)
            else:
                show(name, ours)
    if rows:
        summary(rows)
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        sys.exit(SKIPPED)
