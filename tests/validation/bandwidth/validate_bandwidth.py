#!/usr/bin/env python3
"""Drives each shared resource of the simulated machine to its limit and prints measured bandwidth over that limit.

    python3 validate_bandwidth.py [--atoll PROGRAM] [--markdown] [--only TEXT]

Exit code 1 when a goal is missed. The standard library is all it needs; ATOLL names the program if --atoll does not.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

LINE, HEADER = 128, 8
DATA = LINE + HEADER
NO_L1 = ["l1.size_kib=1", "l1.ways=4"]  # eight lines: nothing is found there
# The ports, links and banks are measured, not the buffers in front of them: the system's own limit a chip to 70 % of its memory.
ROOMY = ["sm.schedulers=4", "llc.mshrs=64", "llc.mshr_merges=16", "dram.queue=64"]


class Case:
    """One run: a kernel on a system, what it should move per cycle at most, and what it moved."""

    def __init__(self, name, goal, limit, measure, sets, region, chips=1, note=""):
        self.name, self.goal, self.limit, self.measure, self.note = name, goal, limit, measure, note
        self.sets, self.chips = [f"chips={chips}"] + NO_L1 + ROOMY + sets, chips
        # Exactly as many CTAs as are resident at a time: 64 SMs of 64 warps.
        self.kernel = {"name": "load", "ctas": 512 * chips, "warps_per_cta": 8, "memory_instructions": 60,
                       "compute_instructions": 0, "loads_in_flight": 4, "regions": [region]}

    def once(self, atoll, folder, size):
        workload, result = os.path.join(folder, "load.json"), os.path.join(folder, "result.h5")
        with open(workload, "w", encoding="utf-8") as f:
            json.dump({"seed": 1, "chips": self.chips, "kernels": [{**self.kernel, "ctas": size * self.kernel["ctas"]}]}, f)
        command = [atoll, "run", "sac-4chip", "--workload", workload, "-q", "-f", "-o", result]
        for s in self.sets:
            command += ["--set", s]
        subprocess.run(command, check=True)
        info = json.loads(subprocess.run([atoll, "info", result, "--json"], check=True, capture_output=True, text=True).stdout)
        return self.measure(info["totals"]), sum(k["cycles"] for k in info["kernels"])

    def run(self, atoll, folder):
        """A long run less a short one: start, cold caches and end, which both have, drop out."""
        moved, cycles = self.once(atoll, folder, 3)
        moved_short, cycles_short = self.once(atoll, folder, 1)
        return (moved - moved_short) / (cycles - cycles_short)


def stream(kib, **more):
    return {"name": "stream", "kind": "private", "pattern": "stream", "size_kib": kib, **more}


def uniform(kib, **more):
    return {"name": "data", "kind": "true_shared", "pattern": "uniform", "size_kib": kib, **more}


def dram_bytes(t):
    return t["dram.read_bytes"] + t["dram.write_bytes"]


DRAM_PEAK = 8 * 64 * 3418.75 / 4 / 1000  # channels x burst x bursts per cycle
RING = ["partition.placement=interleaved"]


def cases():
    slices, clusters = 16 * 250 / DATA, 32 * 125 / DATA  # lines per cycle: both are 29.4
    for packets, goal in [(512, 0.90), (64, 0.0), (16, 0.0)]:  # 512 is the preset's
        queue = [f"noc.queue_packets={packets}"]
        yield Case(f"LLC hits, queues of {packets}", goal, min(slices, clusters) * LINE, lambda t: t["llc.hits"] * LINE, queue,
                   uniform(1024), note="16 slice ports of 250 B/cycle, packets of 136 B")
        yield Case(f"LLC hits, 60 GB/s clusters, {packets}", goal, 32 * 60 / DATA * LINE, lambda t: t["llc.hits"] * LINE,
                   queue + ["noc.cluster_gbps=60"], uniform(1024), note="32 cluster ports of 60 B/cycle")
    for name, goal, region in [("DRAM read stream", 0.85, stream(1 << 19)),
                               ("DRAM random reads", 0.0, uniform(1 << 19)),
                               ("DRAM stream, 20 % writes", 0.85, stream(1 << 19, write_fraction=0.2)),
                               ("DRAM stream, 50 % writes", 0.85, stream(1 << 19, write_fraction=0.5))]:
        yield Case(name, goal, DRAM_PEAK, dram_bytes, [], region, note="8 channels of GDDR6")
    for preset, channel in [("gddr5", 32 * 924 / 2 / 1000), ("hbm2", 32 * 850 / 1000), ("hbm_selrep", 32 * 585.9375 / 1000)]:
        timing = [f"dram.preset={preset}", "dram.timing.burst_bytes=32"] + \
            [f"dram.timing.clock_mhz={c}" for p, c in [("gddr5", 924), ("hbm2", 850), ("hbm_selrep", 585.9375)] if p == preset]
        yield Case(f"DRAM read stream, {preset}", 0.85, 8 * channel, dram_bytes, timing, stream(1 << 18),
                   note=f"8 channels of {channel:.1f} B/cycle")
    # One link: chip 1 reads chip 0's lines. Responses fill the direction 0 -> 1; requests are all that goes back.
    one = ["partition.placement=fixed", "partition.cta_to_chip=contiguous"]
    # Requests go back by the other direction, with 8 bytes for every 136.
    yield Case("one link, 2 chips", 0.95, 96 * (1 + HEADER / DATA), lambda t: t["link.bytes"], one,
               uniform(1024), chips=2,
               note="responses at 96 B/cycle, and their requests")
    for org in ["memory_side", "sm_side"]:
        # Uniform traffic on a ring of four: 1, 2 and 1 hops to the others, so 4/3 on average, over 8 directed edges.
        yield Case(f"ring all-to-all, {org}", 0.85, 8 * 96, lambda t: t["link.bytes"], RING + [f"llc.organisation={org}"],
                   uniform(8192 if org == "memory_side" else 1 << 19), chips=4,
                   note="8 directed edges of 96 B/cycle; 1, 2 and 1 hops to the others")
    yield Case("full all-to-all", 0.85, 12 * 32, lambda t: t["link.bytes"],
               RING + ["link.topology=full", "link.bandwidth_gbps=32"], uniform(8192), chips=4,
               note="12 directed links of 32 B/cycle")
    yield Case("switch all-to-all", 0.85, 4 * 96, lambda t: t["link.bytes"], RING + ["link.topology=switch"],
               uniform(8192), chips=4, note="4 ports of 96 B/cycle")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", default=os.environ.get("ATOLL", "atoll"), help="the program")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--markdown", action="store_true", help="print a table for bandwidth.md")
    options = parser.parse_args()
    missed = False
    if options.markdown:
        print("| resource | limit (B/cycle) | measured | of limit | goal | what limits |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if options.only not in case.name:
                continue
            measured = case.run(options.atoll, folder)
            part = measured / case.limit
            missed |= part < case.goal
            goal = f"{case.goal:.0%}" if case.goal else "-"
            row = [case.name, f"{case.limit:.1f}", f"{measured:.1f}", f"{part:.1%}",
                   goal + (", **missed**" if options.markdown and part < case.goal else ""), case.note]
            line = "| " + " | ".join(row) + " |"
            print(line if options.markdown else f"{row[0]:<32} {row[1]:>8} {row[2]:>8} {row[3]:>7} {goal:>5}"
                  f"{'  MISSED' if part < case.goal else ''}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
