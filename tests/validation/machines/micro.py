"""The microbenchmarks as parametric workloads, for a machine of any size.

    python3 micro.py            writes inputs/workloads/micro/*.json, which are made for machines of about 1,000 resident CTAs
    python3 micro.py --check    says whether these are what it would write

A benchmark is a list of kernels; what it measures is the difference of a long kernel and a short one, so that launch, cold
L1s and the end, which both have, drop out. tests/validation/hardware.py runs them, made for each machine, and does these differences.
"""
import json
import os
import sys

LINE = 128
PARTS = 8192  # KiB more than is touched, since the private parts of two chips end at multiples of 2 MiB
SECTOR: dict = {"partial_lines": 1, "partial_sectors": 1}  # always the same sector of a line, as a chain of pointers has
LATENCY_KIB = [16, 64, 128, 512, 2048, 8192, 16384, 24576, 32768, 49152, 65536, 131072]
BANDWIDTH_KIB = [512, 4096, 12288, 23552, 40448, 131072]


def kernel(name, ctas, warps, instructions, regions, **more):
    return {"name": name, "ctas": ctas, "warps_per_cta": warps, "memory_instructions": instructions,
            "compute_instructions": 0, "compute_latency_cycles": 1, "loads_in_flight": 1, "regions": regions, **more}


def region(name, kib, **more):
    return {"name": name, "kind": "true_shared", "pattern": "stream", "size_kib": kib, **more}


def workload(doc, kernels, chips=0):
    return {"doc": doc, "seed": 1, "chips": chips, "kernels": kernels}


def chase(kib, chips=2):
    """One warp follows a chain of pointers through `kib`: its next load waits for the one before.

    The chain goes from line to line in a small footprint, so that rounds meet every line, and in steps of 33 lines from the
    start of a large one, which has just been read from start to end: what an LRU cache has lost of it is met first, as by a
    chain that goes round. Each of up to `chips` chips reads all of it then.
    """
    lines = kib * 1024 // LINE
    small = kib <= 4096
    data: dict = {"name": f"{kib} KiB", "kind": "true_shared", "size_kib": kib}
    walk: dict = {**data, "pattern": "stream", **SECTOR} if small else {**data, "pattern": "strided", "stride_bytes": 33 * LINE, **SECTOR}
    short, long = (lines, 3 * lines) if small else (1000, 3000)
    passes = max(1, -(-lines // 8192))
    warm = kernel(f"warm {kib} KiB", 256, 8, 4 * passes * chips, [{**data, "pattern": "stream"}], loads_in_flight=4)
    return [warm, kernel(f"short chase {kib} KiB", 1, 1, short, [walk]),
            *([] if small else [warm]), kernel(f"long chase {kib} KiB", 1, 1, long, [walk])]


def repeat_read(kib, ctas, warps=8, loads=4, instructions=16, accesses=2):
    """Every CTA reads a part of `kib`, and all together the whole of it again and again: what a cache can deliver."""
    data = [region(f"read {kib} KiB", kib, accesses=accesses)]
    size = kib * 1024 // LINE // accesses
    rounds = max(1, -(-size // (ctas * warps)))
    steps = {"loads_in_flight": loads}
    return [kernel(f"warm read {kib} KiB", ctas, warps, rounds, data, **steps),
            kernel(f"short read {kib} KiB", ctas, warps, instructions, data, **steps),
            kernel(f"long read {kib} KiB", ctas, warps, 3 * instructions, data, **steps)]


STREAMS = {"init": (0, 1), "read": (1, 0), "scale": (1, 1), "triad": (2, 1)}  # arrays read, arrays written


def stream(what, kib, ctas, warps, accesses=2, shared_kib=0):
    """Every thread takes one element of 8 B of each array, as in gpu-stream: two lines for a warp of 32.

    `ctas` are resident at a time, and `kib` are moved. Where data are written, as much is written before, so that the LLC is
    full of dirty lines, as it is in a long run.
    """
    reads, writes = STREAMS[what]
    arrays = reads + writes
    lines_of_cta = accesses * warps * arrays
    all_ctas = max(4 * ctas, kib * 1024 // LINE // lines_of_cta)
    made = []
    for name, n in [("fill", all_ctas)] * writes + [("short", all_ctas // 4), ("long", all_ctas)]:
        size = n * lines_of_cta * LINE // 1024 // arrays + PARTS
        regions = [region(f"{name} {what} {warps} {i}", size, kind="private", accesses=accesses,
                          write_fraction=int(i >= reads)) for i in range(arrays)]
        made.append(kernel(f"{name} {what} {warps}", n, warps, arrays, regions, loads_in_flight=max(1, reads),
                           shared_kib=shared_kib))
    return made


def atomics(lines, ctas, warps=8, instructions=8):
    """Atomics of all warps on so many lines."""
    data = {"name": f"{lines} lines", "kind": "true_shared", "size_kib": 1024, "pattern": "hot_set",
            "hot_fraction": lines * LINE / (1024 * 1024), "hot_probability": 1, "atomic_fraction": 1, **SECTOR}
    return [kernel(f"short atomics {lines}", ctas, warps, instructions, [data]),
            kernel(f"long atomics {lines}", ctas, warps, 3 * instructions, [data])]


def in_flight(ctas, warps, loads):
    """`warps` of each CTA keep `loads` loads of 512 B under way each: bandwidth against what is in flight (LDGSTS on B200)."""
    made = []
    steps_of_long = max(24, 1200000 // (4 * warps * ctas * loads)) * loads
    for name, steps in [("short", steps_of_long // 3 // loads * loads), ("long", steps_of_long)]:
        size = warps * ctas * steps // 2 + PARTS
        made.append(kernel(f"{name} {warps} x {loads} in flight", ctas, warps, steps,
                           [region(f"{name} {warps} {loads} {ctas}", size, kind="private", accesses=4)], loads_in_flight=loads))
    return made


def shipped():
    """name: workload, for a machine on which 1,024 CTAs of 8 warps are resident."""
    yield "chase", workload("Latency against footprint: one warp follows pointers through data that the LLC holds, or does not. "
                            "A load takes (long - short) cycles / (their difference in loads).",
                            [k for kib in LATENCY_KIB for k in chase(kib)])
    yield "read", workload("Bandwidth against footprint: all SMs read the same data again and again.",
                           [k for kib in BANDWIDTH_KIB for k in repeat_read(kib, 1024)])
    yield "stream", workload("Memory bandwidth: write, read, scale (copy) and triad, one element of each array for a thread.",
                             [k for what in STREAMS for k in stream(what, 98304, 128, 32)])
    yield "occupancy", workload("Memory bandwidth against CTAs: scale with 2 to 32 warps in each of 256 CTAs.",
                                [k for warps in (2, 8, 16, 32) for k in stream("scale", 49152, 256, warps)])
    yield "atomics", workload("Atomics of all warps on one line, on 64, and on 8,192.",
                              [k for lines in (1, 64, 8192) for k in atomics(lines, 1024)])


def write_or_check(folder, check):
    """True if the files hold what shipped() makes, now or before."""
    same = True
    for name, content in shipped():
        path, text = os.path.join(folder, name + ".json"), json.dumps(content, indent=1) + "\n"
        if not check:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                print(f"{path} is not what micro.py writes")
                same = False
    return same


if __name__ == "__main__":
    HERE = os.path.dirname(os.path.abspath(__file__))
    sys.exit(0 if write_or_check(os.path.join(HERE, "../../../inputs/workloads/micro"), "--check" in sys.argv) else 1)
