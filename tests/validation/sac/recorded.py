#!/usr/bin/env python3
"""SAC's comparison on recorded programs whose inputs have the paper's size: records them, runs every organisation, prints the
table. Unlike the profiles, nothing of these workloads is derived from the paper's measurements.

    recorded.py [--jobs N] [--out DIR] [--build DIR] [NAME...]

Needs the programs of the workload library, which CMake builds where it finds nvcc. What is in DIR is not done again."""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Sizes: docs/workload_library.md. One time step where the program has many.
PROGRAMS = {
    "AN": "cnn --network alexnet --image 227 --divide 1",
    "SN": "cnn --network squeezenet --image 224 --divide 1",
    "CFD": "cfd --width 1008 --height 768 --steps 1",
    "BFS": "bfs --nodes 1000000",
    "3DC": "conv3d --planes 24 --rows 512 --columns 1024",
    "BS": "blackscholes --options 4000000",
    "BT": "btree --records 1000000 --queries 48096 --order 256",
    "SRAD": "srad --rows 4096 --columns 4096 --steps 1",
    "STEN": "stencil3d --nx 512 --ny 512 --nz 102 --steps 2",
    "BP": "backprop --ctas 65536",
}
SP = ("AN", "SN", "CFD", "BFS", "3DC", "BS", "BT")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results/sac-recorded"))
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("names", nargs="*", help="benchmarks; default: all")
    arguments = parser.parse_args()
    atoll, out = arguments.build + "/atoll", pathlib.Path(arguments.out).resolve()
    traces = out / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    names = arguments.names or list(PROGRAMS)
    for name in names:
        trace = traces / f"{name}.h5"
        if not trace.exists():
            program, *options = PROGRAMS[name].split()
            subprocess.run([atoll, "record", "-o", str(trace), "--", f"{arguments.build}/workloads/{program}", *options], check=True)
    published = json.loads((ROOT / "inputs/experiments/sac.json").read_text())
    published["doc"] = "SAC's organisations on recorded programs of the paper's sizes"
    published["workloads"] = [{"name": n, "path": str(traces / f"{n}.h5"), "group": "SP" if n in SP else "MP"} for n in names]
    reference = published["reference"]
    reference.pop("mean", None)
    reference["speedup"] = {v: {w: x for w, x in bars.items() if w in names} for v, bars in reference["speedup"].items()}
    experiment = out / "recorded.json"
    experiment.write_text(json.dumps(published, indent=1))
    subprocess.run([atoll, "sweep", str(experiment), "--jobs", arguments.jobs, "--out", str(out)], check=True)
    subprocess.run([atoll, "table", str(out)], check=True)


if __name__ == "__main__":
    main()
