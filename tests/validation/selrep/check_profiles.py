#!/usr/bin/env python3
"""Runs the profiles of make_profiles.py under Shared alone and compares how SMs share with what SelRep publishes (claims 64
to 67).

    check_profiles.py --atoll build/release/atoll             achieved / target, as a Markdown table
    check_profiles.py --atoll ... --solve                     also the corrections to be entered in make_profiles.py
    check_profiles.py ... --set KEY=VALUE                     a further setting for every run
    check_profiles.py ... --json FILE, --measured FILE...     keeps what was measured; these are not run again
    check_profiles.py ... --write                             put the table into docs/validation/selrep.md
Needs h5py. A run takes seconds. The LLC has 4 MB, as on the machine for which the paper publishes these figures."""

import argparse
import json
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

ORIGINS = ("local_llc", "remote_llc", "local_memory", "remote_memory")


def simulate(atoll, name, settings=()):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.h5"
        command = [atoll, "run", "selrep-gpu", "-w", str(profiles.TARGET_DIR / f"{name}.json"), "-o", str(out), "-q"]
        for setting in ("observe.sm_sharing=true", *settings):
            command += ["--set", setting]
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - start
        with h5py.File(out) as f:
            total = lambda counter: float(f["totals/" + counter][:].sum())
            shared = lambda column: float(f["sm_sharing/" + column][:].astype(float).sum())
            kernels = len(f["kernels/name"])
            cycles = float(f.attrs["cycles"])
            return {
                "cycles": cycles,
                "set": shared("shared_lines") * float(f["sm_sharing/line_bytes"][0]) / (1 << 20) / kernels,
                "read_only": shared("shared_read_only_lines") / max(1.0, shared("shared_lines")),
                "llc_share": 1 - (shared("shared_l1_hits") + shared("shared_l1_merges")) / max(1.0, shared("shared_loads")),
                "by_3": shared("window_lines_3") / max(1.0, shared("window_lines")),
                "by_10": shared("window_lines_10") / max(1.0, shared("window_lines")),
                "replies": sum(float(f["latency/" + o][:].sum()) for o in ORIGINS) / cycles,
                "ipc": total("warp.instructions") / cycles / profiles.SMS,
                "miss": total("llc.misses") / max(1.0, total("llc.accesses")),
                "events": float(f["provenance"].attrs["events"]),
                "wall": wall,
            }


def row(name, m):
    if name in profiles.INSENSITIVE_MB:
        mb, share, by_3, by_10 = profiles.INSENSITIVE_MB[name], "", "", ""
    else:
        benchmark, _, index = name.partition("_")
        mb = profiles.SHARED_MB[benchmark][int(index or 0)]
        share, by_3, by_10 = (f" / {target:.2f}" for target in (profiles.LLC_SHARE[benchmark], profiles.BY_3, profiles.BY_10))
    return (f"| {name} | {m['set']:.3g} / {mb:g} | {m['read_only']:.2f} | {m['llc_share']:.2f}{share} | {m['by_3']:.2f}{by_3} |"
            f" {m['by_10']:.2f}{by_10} | {m['replies']:.1f} | {m['ipc']:.2f} | {m['miss']:.2f} | {m['cycles'] / 1e3:.0f} |"
            f" {m['events'] / 1e6:.0f} |")


def correction(name, m):
    """A step towards claim 65. By how many SMs a line is asked for follows from the loads of a warp, which are tried by hand."""
    benchmark = name.partition("_")[0]
    old = profiles.SOLVED[benchmark]
    advancing = old.advancing * profiles.LLC_SHARE[benchmark] / m["llc_share"]
    return f'    "{benchmark}": Solved({old.loads}, {advancing:.3f}),  # of {name}'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", default=str(profiles.ROOT / "build/release/atoll"))
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--solve", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--measured", nargs="+", default=[], type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", help="profiles; default: all")
    asked = parser.parse_args()
    earlier: dict[str, dict] = {}
    for path in asked.measured:
        earlier |= json.loads(path.read_text())
    lines = ["| | shared MB | read-only | by LLC | > 2 SMs | > 9 SMs | replies per cycle | IPC per SM | LLC miss | K cycles | M events |",
             "|" + "---|" * 11]
    print("\n".join(lines))
    measured = {}
    for name in asked.names or profiles.FILES:
        m = measured[name] = earlier.get(name) or simulate(asked.atoll, name, asked.settings)
        lines.append(row(name, m))
        print(lines[-1], flush=True)
        if asked.json:
            asked.json.write_text(json.dumps(earlier | measured, indent=1))
    if asked.solve:
        print("\n".join(correction(n, m) for n, m in measured.items() if n not in profiles.INSENSITIVE_MB))
    if asked.write:
        results_page.write(profiles.PAGE, [*lines, ""], "<!-- profiles: written by check_profiles.py -->", "<!-- end of profiles -->")


if __name__ == "__main__":
    main()
