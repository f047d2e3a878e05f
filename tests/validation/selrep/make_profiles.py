#!/usr/bin/env python3
"""Writes the parametric profiles of SelRep's programs (Zhao et al., MICRO 2020, Tables II and III) to
inputs/workloads/selrep.

    make_profiles.py            write the files
    make_profiles.py --check    fail if a file differs from what would be written

What goes in: the shared data sets of the two tables, what machine code and published tables say of the programs (below,
each with its source), and how SMs share in time (claims 64 to 67: the paper's sections II and III-A, Figs. 4, 5 and 7),
which are measured with the *shared* LLC. What must not go in: any speed-up, degree, miss rate or reply rate of the paper or
of a run that compares organisations. check_profiles.py runs the profiles under Shared alone; SOLVED has its corrections."""

import argparse
import dataclasses
import json
import pathlib
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/validation/selrep.md"
TARGET_DIR = ROOT / "inputs/workloads/selrep"
SAC = ROOT / "tests/validation/sac"
LINES_PER_MB = (1 << 20) // 128
SMS = 64

# ---- What the paper publishes ----
SHARED_MB = {"an": (1.0,) * 5, "rn": (4.2,) * 5, "sn": (0.7,) * 5,  # Table II: these have one set and five sizes of the LLC
             "nn": (0.6, 2.8, 5.7, 11.4, 22.8), "mm": (0.04, 0.1, 0.6, 1.9, 3.8)}  # and these the other way round
INSENSITIVE_MB = {"lud": 33.4, "sp": 17.0, "3dc": 51.1, "bt": 13.7, "gemm": 1.8, "bp": 18.8,  # Table III: prefer shared
                  "bs": 0.001, "dwt2d": 0.001, "ms": 0.001, "bino": 0.017, "hg": 0.003, "va": 0.001}  # neutral
# Claim 65, of the accesses to shared data those that the LLC serves: .509 on average and .782 for SN, which leaves .441 for
# the other four. Claims 66 and 67, of the lines that SMs ask the LLC for within 1,000 cycles: by more than 2, more than 9 SMs.
LLC_SHARE = {"sn": 0.782} | dict.fromkeys(("an", "rn", "nn", "mm"), (5 * 0.509 - 0.782) / 4)
BY_3, BY_10 = 0.833, 0.328
READ_ONLY = 0.97  # claim 64: at least so much of the shared lines; here all of them, because outputs are private


# ---- What the programs say; fixed before any profile was run ----
#
# in_flight: loads that a warp issues before it waits for one of them; instructions: that it issues per load, the load
# included. From sass_loads.py, the kernels as ptxas schedules them. Convolutions: masks of 3 x 3 and 1 x 1, which do most of
# the three networks' multiplications, have 9 and 8 loads in flight and 2.8 and 3.8 instructions per load (5 x 5 and more: 14 and
# 2.7). NN: masks of 5 x 5 in its own layout, 12 to 13 and 1.7 (fully connected layers: 13 to 17 and 2.7). MM: tiles in shared
# memory, of 16 x 16: Table II's sizes are two squares of n = 112, 272, 496 and 704, and multiples of 32 give neither its 1.9 nor
# its 0.04 MB. 2 and 22; a warp's load takes half of two lines.
#
# loads: by a launch's warps. Two for each multiplication of the mean layer, 32 threads at once: AlexNet (with its groups) 666
# million in 5 convolutions, ResNet-50 3.86 thousand million in 53, SqueezeNet 1.0 0.84 thousand million in 26. NN: 340
# thousand per image and 1,200 images (60,000 CTAs of 50 maps, SAC's Table 4). MM: n x n x n / 256 with tiles of 16, n = 704;
# the sample repeats its launch 300 times.
#
# warps_per_cta: Tango's networks have one CTA per output channel, of up to 1024 threads; maps of NN have 169 threads at most, and
# MM's tiles 256. registers: of `convolution_channel`, one CTA per channel with borders, 40, so that an SM holds one CTA of 1024
# threads; NN 31 and MM 32, which leaves 64 warps.
#
# stores: share of the requests to the LLC, from recordings of the same applications on a machine with larger L1s
# (tests/validation/sac/traits.json, larger size). MM: one per 2 n / 16 loads, .441 of which reach the LLC.
@dataclass(frozen=True)
class Program:
    in_flight: int
    instructions: float
    loads: float
    stores: float
    warps_per_cta: int
    lines: int = 1  # that a load takes
    registers: int = 32  # of a thread
    barrier_every: int = 16


def stores(sac_name):
    return json.loads((SAC / "traits.json").read_text())[sac_name][1]["stores"]


PROGRAMS = {
    "an": Program(8, 3, 666e6 / 5 * 2 / 32, stores("AN"), 32, registers=40),
    "rn": Program(8, 3, 3.86e9 / 53 * 2 / 32, stores("RN"), 32, registers=40),
    "sn": Program(8, 3, 0.84e9 / 26 * 2 / 32, stores("SN"), 32, registers=40),
    "nn": Program(13, 2, 340e3 * 1200 * 2 / 32, stores("NN"), 8),
    "mm": Program(2, 22, 704**3 / 256, 1 / (1 + 2 * 704 / 16 * 0.441), 8, lines=2, barrier_every=2),
}
# Launches are as long as the programs', but not above 1 million requests of loads, which is 6 epochs of 20,000 cycles at 9
# replies per cycle (RN's would have 2.0, SN's 1.6, AN's 3.7, NN's 11, MM's 1.2 million), so that a run takes seconds; the
# result of longer ones is one of the sensitivities. Two launches, because what kernel boundaries do is part of the comparison.
MOST_REQUESTS, LAUNCHES = 1e6, 2
# Cycles per dependent instruction, and why warps meet at barriers: as for SAC's profiles (sac/make_profiles.py). In MM two
# loads lie between two barriers.
CYCLES_PER_INSTRUCTION = 2.7

# ---- Corrections found by check_profiles.py --solve under Shared alone, with an LLC of 4 MB ----
#
# loads: of a warp, which is how long a CTA lives. 64 CTAs in turn go through the same part of the sequence, one for each
# walker, and begin as CTAs before them end: the longer they live, the farther apart they are, and the fewer SMs ask for a line within
# 1,000 cycles (claims 66 and 67).
# advancing: of the loads those that go on to the next line, over claim 65's share; the others read again what their warp
# touched last, three of a mask's row being in one line or two. CTAs of two walkers on one SM share lines too.
# skew: lines that a CTA is ahead of its place, at most. SMs with one CTA, or such as issue all they can, would march in step.
@dataclass(frozen=True)
class Solved:
    loads: int
    advancing: float
    skew: int = 0


SOLVED = {
    "an": Solved(150, 1.00, skew=700),
    "rn": Solved(150, 1.00, skew=700),
    "sn": Solved(60, 1.00, skew=650),
    "nn": Solved(20, 2.26),
    "mm": Solved(80, 1.00, skew=80),
}


def sequence(mb, reuse, lines=1, phase=0, skew=0):
    return {"name": "shared", "kind": "true_shared", "size_kib": max(1, round(mb * 1024)), "pattern": "stream",
            "warp_reuse": round(reuse, 4), "phase": phase, "skew_lines": skew, "accesses": lines, "read_only": True}


def outputs(requests):
    return {"name": "output", "kind": "private", "size_kib": max(SMS // 8, round(requests / 4)), "pattern": "stream",
            "write_fraction": 1}  # twice what is written: parts of groups differ in size, and none may be gone through twice


def kernel(name, p, regions, requests_of, per_warp, launches):
    """A launch in which each region gets so many instructions, `per_warp` of them in one warp. CTAs 0 to 63 begin the
    walkers, the next 64 go on from where these end."""
    ctas = SMS * max(1, round(sum(requests_of) / (SMS * p.warps_per_cta * per_warp)))
    for region, n in zip(regions, requests_of):
        region["weight"] = round(n / sum(requests_of), 5)
    compute = round(p.instructions) - 1
    return {
        "name": name,
        "repeat": launches,
        "ctas": ctas,
        "warps_per_cta": p.warps_per_cta,
        "memory_instructions": per_warp,
        "compute_instructions": compute,
        "compute_latency_cycles": max(1, round(compute * CYCLES_PER_INSTRUCTION)),
        "loads_in_flight": p.in_flight,
        "barrier_every": p.barrier_every,
        "concurrent_ctas": 1,
        "registers_per_thread": p.registers,
        "groups": SMS,
        "group_order": "interleaved",
        "regions": regions,
    }


def replication_sensitive(benchmark, mb, most_requests, changes):
    p, solved = dataclasses.replace(PROGRAMS[benchmark], **changes), SOLVED[benchmark]
    share = LLC_SHARE[benchmark]
    loads = min(p.loads, most_requests / share / p.lines)
    stored = p.stores / (1 - p.stores) * loads * share * p.lines
    reuse = max(0.0, 1 - share * solved.advancing)
    regions = [sequence(mb, reuse, p.lines, skew=solved.skew), outputs(stored)]
    return kernel(benchmark, p, regions, [loads, stored], solved.loads, LAUNCHES)


# ---- Table III ----
#
# instructions per request: recordings where SAC's rules take them (LUD, 3DC, BT, BP, BS, DWT2D), else 20, and 2 loads in flight,
# the geometric means of sixteen programs (sac/make_profiles.py). Stores: traits.json, else 0.3. How much of the loads
# is of shared data is not published: half for the six that prefer a shared LLC, a hundredth for the six that have next to
# none. SMs are anywhere in a large set (phase 1). One launch of 0.6 million requests, which is 3 to 10 epochs.
TRAITS_OF = {"lud": "LUD", "3dc": "3DC", "bt": "BT", "bp": "BP", "bs": "BS", "dwt2d": "DWT"}
INSENSITIVE_REQUESTS, INSENSITIVE_LOADS = 0.6e6, 60


def insensitive(name, mb):
    traits = json.loads((SAC / "traits.json").read_text())[TRAITS_OF[name]][1] if name in TRAITS_OF else None
    p = Program(2, traits["instructions_per_request"] if traits else 20, 0, traits["stores"] if traits else 0.3, 8)
    stored = p.stores * INSENSITIVE_REQUESTS
    loads = INSENSITIVE_REQUESTS - stored
    shared = loads * (0.5 if mb > 1 else 0.01)
    own = loads - shared
    inputs = {"name": "input", "kind": "private", "size_kib": round(own / 4), "pattern": "stream", "read_only": True}
    return kernel(name, p, [sequence(mb, 0, phase=1), inputs, outputs(stored)], [shared, own, stored], INSENSITIVE_LOADS, 1)


def profile(name, most_requests=MOST_REQUESTS, **changes):
    """`changes`: fields of a Program, for sensitivities."""
    if name in INSENSITIVE_MB:
        of, k = "Table III", insensitive(name, INSENSITIVE_MB[name])
    else:
        benchmark, _, index = name.partition("_")
        of, k = "Table II", replication_sensitive(benchmark, SHARED_MB[benchmark][int(index or 0)], most_requests, changes)
    return {"doc": f"{name} of SelRep (MICRO 2020), {of}, written by tests/validation/selrep/make_profiles.py. Do not edit.",
            "chips": 1, "kernels": [k]}


# AN, RN and SN have the same data in all five configurations.
FILES = ("an", "rn", "sn", *(f"{b}_{i}" for b in ("nn", "mm") for i in range(5)), *INSENSITIVE_MB)


def file_of(configuration):
    """The profile of one of Table II's 25 configurations, or of a program of Table III."""
    benchmark = configuration.split("_")[0]
    return TARGET_DIR / f"{benchmark if benchmark in ('an', 'rn', 'sn') else configuration}.json"


def text(name):
    return json.dumps(profile(name), indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    check = parser.parse_args().check
    different = []
    TARGET_DIR.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        path = TARGET_DIR / f"{name}.json"
        if not check:
            path.write_text(text(name))
        elif not path.exists() or path.read_text() != text(name):
            different.append(path.name)
    if different:
        sys.exit("not what make_profiles.py writes: " + ", ".join(different))


if __name__ == "__main__":
    main()
