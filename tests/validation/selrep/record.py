#!/usr/bin/env python3
"""Records the workloads of SelRep's tables II and III without a GPU, into results/selrep-traces.

    record.py [--build DIR] [--out DIR] [NAME...]

Needs the programs of the workload library, which CMake builds where it finds nvcc. What is there is not recorded again."""

import argparse
import pathlib
import subprocess
import sys

import workloads


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=str(workloads.ROOT / "build/release"))
    parser.add_argument("--out", default=str(workloads.TRACES))
    parser.add_argument("names", nargs="*", help="traces; default: all")
    arguments = parser.parse_args()
    build, out = pathlib.Path(arguments.build), pathlib.Path(arguments.out)
    unknown = [n for n in arguments.names if n not in workloads.RECORDINGS]
    if unknown:
        sys.exit(f"record.py: no workload {', '.join(unknown)}; there are {', '.join(workloads.RECORDINGS)}")
    wanted = [n for n in arguments.names or workloads.RECORDINGS if not (out / f"{n}.h5").exists()]
    for name in wanted:
        binary = build / "workloads" / workloads.RECORDINGS[name][0].split()[0]
        if not binary.exists():
            sys.exit(f"record.py: there is no {binary}: the workload library is built where CMake finds nvcc (CUDA 12 or later); "
                     "install it, run cmake again, and build the target `workloads`")
        if not (build / "cuda/libcudart.so.13").exists():
            sys.exit(f"record.py: there is no {build}/cuda/libcudart.so.13: build the whole project first")
    out.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(wanted, 1):
        command, options = workloads.RECORDINGS[name]
        program, *words = command.split()
        print(f"[{number}/{len(wanted)}] {name}: {command}", flush=True)
        record = [build / "atoll", "record", "--quiet", *options.split(), "-o", out / f"{name}.h5", "--"]
        subprocess.run([*map(str, record), str(build / "workloads" / program), *words], check=True)
    print(f"{len(wanted)} recorded, {len(arguments.names or workloads.RECORDINGS) - len(wanted)} were there: {out}")


if __name__ == "__main__":
    main()
