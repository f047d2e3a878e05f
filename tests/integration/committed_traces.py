"""The traces that come with the project open and run on sac-4chip, and twice with the same digest."""

import glob
import os
import sys

import program

traces = sorted(glob.glob(os.path.join(program.SOURCE, "inputs", "workloads", "traces", "*.h5")))
if not traces:
    sys.exit("no traces in inputs/workloads/traces")
for trace in traces:
    digests = []
    for threads in (1, 2):
        outcome = program.run(["run", "sac-4chip", "-w", trace, "--threads", str(threads)], None)
        if outcome.code != 0:
            sys.exit(f"{trace}:\n{outcome}")
        digests.append(outcome.digest())
    print(f"{os.path.basename(trace)}: {digests[0]}", flush=True)
    if digests[0] != digests[1]:
        sys.exit(f"{trace}: with two threads the digest is {digests[1]}")
