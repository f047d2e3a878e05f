#!/usr/bin/env python3
"""Runs the profiles of make_profiles.py and compares what they do with what SAC publishes about its benchmarks.

    check_profiles.py --atoll build/release/atoll             memory-side: achieved against target, as a Markdown table
    check_profiles.py --atoll ... --solve                     also the corrections to be entered in make_profiles.py
    check_profiles.py --atoll ... --predict MEASURED.json     SM-side: speed-up over the memory-side runs of an earlier --json
    check_profiles.py --atoll ... --set KEY=VALUE             a further setting for every run
    check_profiles.py --measured FILE...                      benchmarks of earlier --json files are not run again
    check_profiles.py ... --write                             put the table into docs/validation/sac.md
Needs h5py. A run takes seconds to half a minute.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import make_profiles as profiles
import results_page

MB = 1 << 20

# Fig. 8, SM-side over memory-side (+-0.02): to compare predictions with, never to derive a profile from.
SPEEDUP = {"RN": 2.01, "AN": 1.70, "SN": 2.60, "CFD": 1.67, "BFS": 1.31, "3DC": 1.07, "BS": 1.12, "BT": 1.51, "SRAD": 0.66,
           "GEMM": 0.73, "LUD": 0.74, "STEN": 0.75, "3MM": 0.82, "BP": 0.92, "DWT": 0.92, "NN": 0.83}
SHARING = ("true_shared", "false_shared", "not_shared")
LINK_PEAK, DRAM_PEAK = 768, 1750  # B/cycle of the system at 1 GHz, SAC Table 3


def simulate(atoll, name, settings=()):
    """What a run did. Hits are requests that needed no memory access: found in a slice, or joined to a pending miss."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.h5"
        command = [atoll, "run", "sac-4chip", "-w", str(profiles.TARGET_DIR / f"{name}.json"), "-o", str(out)]
        for setting in settings:
            command += ["--set", setting]
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - start
        with h5py.File(out) as f:
            # Without the first launch, which places pages.
            total = lambda counter: float(f["totals/" + counter][:].sum())
            per_chip = lambda counter: f["totals/" + counter][:].astype(float)
            cycles = float(f.attrs["cycles"]) - float(f["kernels/finished"][0])
            requests = total("requests.local") + total("requests.remote")
            latency = {o: float(f["latency/" + o][:].sum()) for o in ("local_llc", "remote_llc", "local_memory", "remote_memory")}
            dram = f["channels/reads"][:].astype(float) + f["channels/writes"][:].astype(float)
            slices = f["slices/accesses"][:].astype(float)
            seconds = float(f["provenance"].attrs["host_seconds"])
            kernels = [(n.decode() if isinstance(n, bytes) else n, int(e - s)) for n, s, e in
                       zip(f["kernels/name"][:], f["kernels/started"][:], f["kernels/finished"][:])]
            return {
                "cycles": cycles,
                "kernels": kernels,
                "requests": requests,
                "rate": requests / cycles,
                "local": total("requests.local") / requests,
                "hit": (total("llc.hits") + total("llc.merges")) / total("llc.accesses"),
                "merged": total("llc.merges") / total("llc.accesses"),
                "misses": total("llc.misses"),
                "responses": {o: n / sum(latency.values()) for o, n in latency.items()},
                "l1_hit": (total("l1.hits") + total("l1.merges")) / max(1, total("l1.accesses")),
                "home_skew": per_chip("llc.accesses").max() / per_chip("llc.accesses").mean(),
                "slice_skew": slices.max() / slices.mean(),
                "dram_skew": dram.max() / dram.mean(),
                "dram_bytes": (total("dram.read_bytes") + total("dram.write_bytes")) / cycles,
                "link_bytes": total("link.bytes") / cycles,
                "footprint": [float(f["sharing/footprint/" + kind][:].sum()) / MB for kind in SHARING] if "sharing" in f else None,
                "wall": wall,
                "host": seconds,
            }


def predict(arguments):
    """Prints the speed-up of the SM-side LLC, and how busy links and memory were on both sides."""
    memory_side = json.loads(pathlib.Path(arguments.predict).read_text())
    print("| | SM-side / memory-side | SAC Fig. 8 | links busy | DRAM busy | LLC hit | requests per cycle | s |")
    print("|---|---|---|---|---|---|---|---|")
    measured, errors = {}, []
    for name in arguments.names or profiles.PUBLISHED:
        before = memory_side[name]
        after = measured[name] = simulate(arguments.atoll, name, arguments.settings + ["llc.organisation=sm_side"])
        speedup = before["cycles"] / after["cycles"]
        errors.append(abs(math.log(speedup / SPEEDUP[name])))
        pair = lambda of, digits=2: f"{of(before):.{digits}f} -> {of(after):.{digits}f}"
        print(f"| {name} | {speedup:.2f} | {SPEEDUP[name]:.2f} | {pair(lambda m: m['link_bytes'] / LINK_PEAK)} |"
              f" {pair(lambda m: m['dram_bytes'] / DRAM_PEAK)} | {pair(lambda m: m['hit'])} |"
              f" {pair(lambda m: m['rate'], 1)} | {after['wall']:.0f} |", flush=True)
    print(f"\nmean |ln(predicted / published)| {sum(errors) / len(errors):.3f}")
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--atoll", default="build/release/atoll")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--solve", action="store_true", help="print corrections for SOLVED")
    parser.add_argument("--predict", metavar="FILE", help="run SM-side, and compare with memory-side runs written by --json")
    parser.add_argument("--measured", nargs="+", default=[], help="files of an earlier --json")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    parser.add_argument("--json", help="also write everything measured to this file")
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    arguments = parser.parse_args()
    measured = predict(arguments) if arguments.predict else compare(arguments)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(measured, indent=1))


def compare(arguments):
    """Prints achieved / target of the memory-side runs."""
    lines = ["| | footprint MB | true MB | false MB | R_local | LLC hit | merged | requests M | per cycle | L1 hit"
             " | most / mean: homes, slices, channels | DRAM, links B/cycle |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    measured, solved = {}, []
    earlier: dict[str, dict] = {}
    for path in arguments.measured:
        earlier |= json.loads(pathlib.Path(path).read_text())
    for name in arguments.names or profiles.PUBLISHED:
        p, run = profiles.PUBLISHED[name], profiles.LAUNCHES[name]
        m = measured[name] = earlier.get(name) or simulate(arguments.atoll, name, arguments.settings + ["observe.sharing=true"])
        touched = [sum(m["footprint"]), *m["footprint"][:2]]  # as Table 4 counts: every line once
        sizes = [f"{got:.3g} / {mb * run.portion:.3g}" for got, mb in zip(touched, (p.footprint, p.true, p.false))]
        lines.append(f"| {name} | {sizes[0]} | {sizes[1]} | {sizes[2]} | {m['local']:.2f} / {p.local:.2f} | {m['hit']:.2f} /"
              f" {p.hit:.2f} | {m['merged']:.2f} | {m['requests'] / 1e6:.2f} | {m['rate']:.1f} | {m['l1_hit']:.2f} |"
              f" {m['home_skew']:.2f} {m['slice_skew']:.2f} {m['dram_skew']:.2f} |"
              f" {m['dram_bytes']:.0f}, {m['link_bytes']:.0f} |")
        print(lines[-1], flush=True)
        if arguments.solve:
            old = profiles.SOLVED.get(name, profiles.Solved())
            shared = old.shared * (1 - p.local) / (1 - m["local"])
            expected = touched[0] * profiles.LINES_PER_MB * run.passes * run.launches
            # Few more misses than first touches: more requests. Many more: the windows do not fit, they are too large.
            excess = m["misses"] / expected
            windows = old.windows
            if m["hit"] < p.hit - 0.01 and excess > 1.1:
                windows *= 0.7
            instructions = old.instructions * (1 - m["hit"]) / (1 - p.hit)
            if excess > 1.1 and m["hit"] < p.hit - 0.01:
                instructions = old.instructions
            solved.append(f'    "{name}": Solved({instructions:.3f}, {windows:.3f}, {shared:.3f}),  # misses / footprint {excess:.2f}')
    print("\n".join(solved))
    if arguments.write:
        results_page.write(profiles.PAGE, [*lines, ""], "<!-- profiles: written by check_profiles.py -->", "<!-- end of profiles -->")
    return measured


if __name__ == "__main__":
    main()
