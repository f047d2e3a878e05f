#!/usr/bin/env python3
"""What SelRep's counters see of few lines that everybody asks for, and what replicating them is worth.

    hot_lines.py [--atoll PATH] [--write]

Its model can prefer a degree only where slices are asked for unevenly in the shared organisation, which a hash over many
lines does not give. Here nine accesses of ten go to a hot part of AN's shared set, of several sizes, that stays or moves on;
all else is AN's profile. Written down before any run: a hot part that an L1 of 48 KB holds changes nothing; a larger one makes
few slices busy, so that LSP falls and copies pay; one that moves does so for short windows only, over which LSP is low, and over
epochs of 20,000 cycles even. --write puts the table into docs/validation/selrep.md. Needs h5py."""

import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import make_profiles as profiles
import report
import results_page

SIZES, MOVES = (16, 64, 128, 256), (0, 40, 8)  # KiB; memory instructions of a warp after which the hot part moves on, 0: never
VARIANTS = {"shared": (), "degree_4": ("llc.replication=degree_4",), "private": ("llc.replication=private",),
            "selrep": ("llc.replication=selrep",), "selrep, 1,000": ("llc.replication=selrep", "selrep.epoch_cycles=1000")}
BEGIN, END = "<!-- hot lines: written by hot_lines.py -->", "<!-- end of hot lines -->"


def workload(kib, moves):
    made = copy.deepcopy(profiles.profile("an"))
    for kernel in made["kernels"]:
        shared = kernel["regions"][0]
        for key in ("warp_reuse", "phase", "skew_lines"):
            shared.pop(key, None)
        shared |= {"pattern": "hot_set", "hot_fraction": kib / shared["size_kib"], "hot_probability": 0.9}
        if moves:
            shared["hot_moves_every"] = moves
    return made


def simulate(atoll, made, settings):
    with tempfile.TemporaryDirectory() as folder:
        path, out = pathlib.Path(folder) / "workload.json", pathlib.Path(folder) / "out.h5"
        path.write_text(json.dumps(made))
        command = [atoll, "run", "selrep-gpu", "-w", str(path), "-o", str(out), "-q", "--set", "llc.write_back_at_end=true"]
        for setting in settings:
            command += ["--set", setting]
        subprocess.run(command, check=True)
        return report.read(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", default=str(profiles.ROOT / "build/release/atoll"))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = []
    for kib in SIZES:
        for moves in MOVES:
            runs = {v: simulate(asked.atoll, workload(kib, moves), s) for v, s in VARIANTS.items()}
            base = runs["shared"]
            lsp = [f"{runs[v]['lsp']['shared']:.1f} {runs[v]['lsp']['private']:.1f}" for v in ("selrep", "selrep, 1,000")]
            rows.append([f"{kib} KB", f"every {moves}" if moves else "never", f"{base['replies']:.1f}",
                         *(f"{base['cycles'] / runs[v]['cycles']:.2f}" for v in VARIANTS if v != "shared"), *lsp])
            print(*rows[-1], flush=True)
    lines = report.table(["hot", "moves", "replies per cycle, Shared", "degree 4", "Private", "SelRep", "SelRep, epochs of 1,000",
                          "LSP of shared, private; 20,000", "1,000"], rows)
    if asked.write:
        results_page.write(profiles.PAGE, lines, BEGIN, END)


if __name__ == "__main__":
    main()
