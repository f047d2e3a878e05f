#!/usr/bin/env python3
"""Makes the results below data/ anew: `tests/analysis/make_data.py build/release/atoll`. Needs numpy.

They are of schema version 3 and stay so: later packages have to read them. The files are gzipped, because most of a small
result is HDF5's own structure."""

import gzip
import os
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent / "data"
sys.path.insert(0, str(DATA.parents[2] / "analysis"))

from atoll_analysis.seal import sealed  # noqa: E402
SMALL = ["sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2",
         "control.sample_cycles=1000"]
RUNS: dict[str, tuple[str, list[str], list[str]]] = {
    # SAC decides for each kernel; sharing between chips is observed.
    "sac.h5": ("sac-4chip", [*SMALL, "llc.organisation=sac", "sac.window_cycles=1500", "link.bandwidth_gbps=24",
                             "observe.sharing=true", "observe.sharing_window_cycles=5000"], []),
    # Stopped in its last kernel.
    "cut.h5": ("sac-4chip", SMALL, ["--max-cycles", "12000"]),
    # One chip, no links; SelRep decides every epoch; sharing between SMs is observed.
    "selrep.h5": ("selrep-gpu", ["sm.count=16", "l1.size_kib=12", "llc.size_kib=256", "control.sample_cycles=1000",
                                 "llc.replication=selrep", "selrep.epoch_cycles=2000", "observe.sm_sharing=true"], []),
}


def pack(source: pathlib.Path) -> None:
    """The folder of the program, which is in the command lines of sweeps, gives way to as many characters of "./"."""
    here = (os.path.abspath(DATA.parents[2]) + "/").encode()
    plain = source.read_bytes()[:-16].replace(here, b"./" * (len(here) // 2) if len(here) % 2 == 0 else here)
    source.with_name(f"{source.name}.gz").write_bytes(gzip.compress(sealed(plain), mtime=0))
    source.unlink()


def main() -> None:
    atoll = os.path.relpath(sys.argv[1], DATA)
    for name, (system, keys, options) in RUNS.items():
        sets = [word for key in keys for word in ("--set", key)]
        subprocess.run([atoll, "run", system, "-w", "workload.json", *sets, *options, "-o", name], cwd=DATA, check=True)
        pack(DATA / name)
    subprocess.run([atoll, "sweep", "experiment.json", "--out", "sweep"], cwd=DATA, check=True)
    for result in (DATA / "sweep").glob("*.h5"):
        pack(result)


if __name__ == "__main__":
    main()
