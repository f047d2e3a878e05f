#!/usr/bin/env python3
"""Runs Atoll's rtx3070 on two Accel-Sim traces and compares it with what Accel-Sim says of them.

Prints a table in Markdown. Exit code: 0 if accesses and cycles are within the limits of accelsim_reference.json, 1 if not,
77 if the traces are absent. CPU time, which depends on what else runs, is printed and does not count.
"""

import argparse
import json
import os
import pathlib
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


def kernel_list(traces, name, scratch):
    """The trace's kernelslist.g: in the folder as it is, or unpacked from an archive there."""
    unpacked = traces / name / "kernelslist.g"
    if unpacked.is_file():
        return unpacked
    archive = traces / f"{name}.tar.xz"
    if not archive.is_file():
        raise Missing(f"neither {unpacked} nor {archive} exists")
    with tarfile.open(archive) as tar:
        options: dict = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(scratch, **options)
    found = sorted(scratch.glob(f"**/{name}/**/kernelslist.g")) or sorted(scratch.glob("**/kernelslist.g"))
    if not found:
        raise Missing(f"{archive} has no kernelslist.g")
    return found[0]


def cpu_seconds(command):
    """Runs a command; returns the user and system time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(part) for part in command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(atoll, kernels, scratch, repeat):
    """What Atoll says of a trace, by the names of the reference."""
    trace, result = scratch / "trace.h5", scratch / "result.h5"
    cpu_seconds([atoll, "import", "accel-sim", kernels, "-o", trace])
    run = [atoll, "run", "rtx3070", "--workload", trace, "--quiet"]
    seconds = sorted(cpu_seconds(run) for _ in range(repeat))[repeat // 2]
    cpu_seconds([*run, "-o", result])
    # `info` and not h5py: the comparison is a test too, and shall run with any Python.
    read = json.loads(subprocess.run([atoll, "info", "--json", result], check=True, stdout=subprocess.PIPE).stdout)
    total = read["totals"]
    return {
        "warp_instructions": total["warp.instructions"],
        "l1_accesses": total["l1.sector_accesses"],
        "l1_misses": total["l1.sector_misses"],
        # Without atomics, which neither trace has, whatever is looked up for no load is looked up for a store.
        "l2_reads": total["llc.sector_accesses"] - total["l1.store_sectors"],
        "l2_writes": total["l1.store_sectors"],
        "l2_misses": total["llc.sector_misses"],
        "dram_reads": total["dram.read_bytes"] // SECTOR_BYTES,
        "cycles": [kernel["cycles"] for kernel in read["kernels"]],
        "cpu_seconds": seconds,
    }


# key, what the table calls it, whether the issue sets a limit for it
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


def compare(name, reference, ours, launch, limits):
    """Prints one workload's table; returns whether everything is within the limits."""
    print(f"\n### {name}\n")
    row("quantity", "Accel-Sim", "Atoll", "ratio", "ratio without launch latency", "within limit")
    row("---", "---:", "---:", "---:", "---:", "---")
    good = True
    for key, title, limited in COUNTS:
        ratio = ours[key] / reference[key]
        within = abs(ratio - 1) <= limits["accesses"]
        good = good and (within or not limited)
        row(title, f"{reference[key]:,}", f"{ours[key]:,}", f"{ratio:.4f}", "", verdict(within) if limited else "none set")
    if len(ours["cycles"]) != len(reference["cycles"]):
        raise SystemExit(f"{name}: {len(ours['cycles'])} kernels instead of {len(reference['cycles'])}")
    for kernel, (theirs, mine) in enumerate(zip(reference["cycles"], ours["cycles"]), start=1):
        within = abs(mine / theirs - 1) <= limits["cycles"]
        good = good and within
        row(f"cycles of kernel {kernel}", f"{theirs:,}", f"{mine:,}", f"{mine / theirs:.3f}",
            f"{(mine - launch) / (theirs - launch):.3f}", verdict(within))
    theirs, mine, kernels = sum(reference["cycles"]), sum(ours["cycles"]), len(ours["cycles"])
    row("cycles in all", f"{theirs:,}", f"{mine:,}", f"{mine / theirs:.3f}",
        f"{(mine - kernels * launch) / (theirs - kernels * launch):.3f}", "")
    faster = reference["cpu_seconds"] / max(ours["cpu_seconds"], 1e-6)
    row("CPU seconds", f"{reference['cpu_seconds']:.2f}", f"{ours['cpu_seconds']:.3f}", f"1 / {faster:.0f}", "",
        verdict(faster >= reference["speedup"]) if "speedup" in reference else "none set")
    return good


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", type=pathlib.Path, default=pathlib.Path(os.environ.get("ATOLL", ROOT / "build/release/atoll")),
                        help="program to test (default: $ATOLL, else build/release/atoll)")
    parser.add_argument("--traces", type=pathlib.Path, default=ROOT.parent / "shared/traces",
                        help="folder with the traces, packed (.tar.xz) or unpacked (default: ../shared/traces)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of which the median CPU time counts (default: 5)")
    return parser.parse_args()


def main():
    options = arguments()
    if not options.atoll.is_file():
        raise SystemExit(f"accelsim.py: {options.atoll} does not exist; build it or name another with --atoll")
    reference = json.loads((HERE / "accelsim_reference.json").read_text())
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for workload in reference["workloads"]:
            scratch = pathlib.Path(folder) / workload["name"]
            scratch.mkdir()
            kernels = kernel_list(options.traces, workload["trace"], scratch)
            ours = measure(options.atoll, kernels, scratch, max(1, options.repeat))
            good &= compare(workload["name"], workload, ours, reference["launch_latency_cycles"], reference["limits"])
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        sys.exit(SKIPPED)
