#!/usr/bin/env python3
"""Records the twelve programs of REC's Table 3 and its two networks in the sizes of inputs/experiments/rec*.json.

    record.py [--out DIR] [--build DIR] [--force] [--full] [NAME...]

Needs the programs of the workload library, which CMake builds where it finds nvcc. A trace that is in DIR is not recorded
again. What the sizes follow from: docs/validation/rec.md."""

import argparse
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]

# name: (program and options, options of `atoll record`). For a machine of a quarter of the CUs, caches and bandwidths: rows of
# matrices a quarter as long as in the paper, so that what is under way at a time relates to directory and L2 as there, and
# as many of them as make a quarter of the footprint, or fewer where a run would take more than a minute. Work-groups as
# MGPUSim has them, or PolyBench for the programs that are not MGPUSim's.
PROGRAMS = {
    "ATAX": ("atax --rows 4096 --columns 2048 --threads 256 --sum memory", ""),
    "C2D": ("conv2d --rows 8192 --columns 2048", ""),
    "FIR": ("fir --samples 4194304 --blocks 1", ""),
    "GEMM": ("gemm --ni 418 --nj 836 --nk 418 --sum memory", ""),
    "GEMV": ("gemver --n 2048 --threads 256 --sum memory", ""),
    "J2D": ("jacobi2d --n 1024 --rows 4096 --steps 2", ""),
    "LU": ("lu --n 1448 --rows 5792 --steps 2", ""),
    "MM2": ("mm2 --ni 324 --nj 324 --nk 162 --nl 648 --sum memory", ""),
    "MM3": ("mm3 --ni 388 --nj 388 --nk 97 --nl 388 --nm 97 --sum memory", ""),
    "PR": ("pagerank --nodes 44500 --degree 178 --steps 2 --lanes 64", ""),
    "SC": ("simpleconv --width 2048 --height 8192 --mask 3 --threads 64", ""),
    "ST": ("stencil2d --rows 4096 --columns 1024 --steps 4 --cta tall", ""),
    "VGG16": ("train --network vgg16 --images 4 --image 45 --divide 2", ""),
    "ResNet18": ("train --network resnet18 --images 4 --image 45 --divide 2", ""),
}

# For the whole machine (rec_full.json), at the footprints of Table 3.
FULL = {
    "C2D_full": ("conv2d --rows 8192 --columns 8192", ""),
    "FIR_full": ("fir --samples 16777216 --blocks 1", ""),
    "J2D_full": ("jacobi2d --n 4096 --rows 4096 --steps 2", ""),
    "LU_full": ("lu --n 5792 --rows 5792 --steps 2", ""),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(ROOT / "results/rec-traces"))
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--force", action="store_true", help="record again what is there")
    parser.add_argument("--full", action="store_true", help="those of rec_full.json instead")
    parser.add_argument("names", nargs="*", choices=[[], *PROGRAMS, *FULL], help="programs; default: all")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    programs = PROGRAMS | FULL
    for name in arguments.names or (FULL if arguments.full else PROGRAMS):
        trace = out / f"{name}.h5"
        if trace.exists() and not arguments.force:
            continue
        (program, *options), recording = programs[name][0].split(), programs[name][1].split()
        print(f"{name}: {programs[name][0]}", flush=True)
        subprocess.run([f"{arguments.build}/atoll", "record", "--force", *recording, "-o", str(trace), "--",
                        f"{arguments.build}/workloads/{program}", *options], check=True)


if __name__ == "__main__":
    main()
