#!/usr/bin/python3
"""What recording costs: peak memory beyond the program's own data, and trace bytes per access. Run by hand; needs h5py.

Usage: record_cost.py BUILD_FOLDER [--threads N]... (docs/validation/recording.md)"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import h5py

PROGRAMS = [["gemm", "--ni", "1024", "--nj", "1024", "--nk", "1024"], ["bfs", "--nodes", "1048576"]]
GOAL_MIB, GOAL_BYTES = 500, 6.0


def peak_mib():
    """Of the largest process waited for until now."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def measure(build, command, threads, trace):
    """One recording, in a process of its own, because the peak is that of all children together."""
    start = time.monotonic()
    record = [os.path.join(build, "atoll"), "record", "-q", "-f", "--threads", str(threads), "-o", trace, "--"]
    done = subprocess.run(record + [os.path.join(build, "workloads", command[0])] + command[1:], capture_output=True, text=True)
    if done.returncode != 0 or "PASS" not in done.stdout:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    seconds, peak = time.monotonic() - start, peak_mib()
    with h5py.File(trace) as file:
        accesses = sum(int(kernel["access_sectors"].shape[0]) for kernel in file["kernels"].values())
        device = int(file["allocations/size"][...].sum()) / 2**20
    size = os.path.getsize(trace)
    over = peak - device > GOAL_MIB or size / accesses > GOAL_BYTES
    print(f"{' '.join(command):38} {threads:3} threads  {seconds:6.1f} s  peak {peak:5.0f} MiB, device data {device:5.0f}, "
          f"rest {peak - device:5.0f}  {accesses / 1e6:7.1f} M accesses, {size / accesses:5.2f} B each{'  OVER' if over else ''}",
          flush=True)
    return 1 if over else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--threads", type=int, action="append")
    arguments = parser.parse_args()
    failed = False
    for command in PROGRAMS:
        for threads in arguments.threads or [1, 16]:
            pid = os.fork()
            if pid == 0:
                with tempfile.TemporaryDirectory() as folder:
                    code = measure(arguments.build, command, threads, os.path.join(folder, "t.h5"))
                os._exit(code)
            failed |= os.waitpid(pid, 0)[1] != 0
    sys.exit(1 if failed else 0)


main()
