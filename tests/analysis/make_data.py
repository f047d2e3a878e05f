#!/usr/bin/env python3
"""Makes the results below data/ anew: ATOLL=build/release/atoll tests/analysis/make_data.py. Standard library only.

They are of schema version 3 and stay: later packages have to read them. The files are gzipped, because most of a small
result is HDF5's own structure, zeros mostly."""

import gzip
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "data"
SMALL = ["sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2"]
RUNS = {
    # SAC decides for each kernel; sharing between chips is observed.
    "sac.h5": ["sac-4chip", "-w", "workload.json", "control.sample_cycles=1000", "llc.organisation=sac",
               "sac.window_cycles=500", "observe.sharing=true", "observe.sharing_window_cycles=5000"],
    # Stopped in its second kernel.
    "cut.h5": ["sac-4chip", "-w", "workload.json", "control.sample_cycles=1000", "--max-cycles", "12000"],
    # One chip, no links; SelRep decides every epoch; sharing between SMs is observed.
    "selrep.h5": ["selrep-gpu", "-w", "workload.json", "sm.count=16", "l1.size_kib=12", "llc.size_kib=256",
                  "llc.replication=selrep", "selrep.epoch_cycles=2000", "control.sample_cycles=1000",
                  "observe.sm_sharing=true"],
}


def pack(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(source.read_bytes(), mtime=0))


def main() -> None:
    atoll = os.path.abspath(os.environ["ATOLL"])
    with tempfile.TemporaryDirectory() as folder:
        for name, words in RUNS.items():
            sets = [*SMALL, *words] if words[0] == "sac-4chip" else words
            options = [w for word in sets for w in (["--set", word] if "=" in word else [word])]
            out = pathlib.Path(folder, name)
            system = options.pop(options.index(words[0]))
            subprocess.run([atoll, "run", system, *options, "-o", out], cwd=HERE, check=True)
            pack(out, HERE / f"{name}.gz")
        sweep = pathlib.Path(folder, "sweep")
        subprocess.run([atoll, "sweep", "experiment.json", "--out", sweep], cwd=HERE, check=True)
        for result in sorted(sweep.glob("*.h5")):
            pack(result, HERE / "sweep" / f"{result.name}.gz")
        (HERE / "sweep" / "experiment.json").write_bytes((sweep / "experiment.json").read_bytes())


if __name__ == "__main__":
    main()
