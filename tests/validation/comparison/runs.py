"""The runs of a comparison as a table."""

import pathlib
import sys

import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "analysis"))

from atoll_analysis import load_sweep  # noqa: E402

KEYS = {"llc.organisation": "organisation", "llc.replication": "replication", "coherence.protocol": "protocol",
        "cluster.sharing": "sharing"}


def read_runs(folder: pathlib.Path) -> pd.DataFrame:
    """A row per complete run: workload, group, the dimensions of effects.DIMENSIONS, cycles, joules, bytes on links."""
    sweep = load_sweep(folder)
    settings = sweep.configs[list(KEYS)].rename(columns=KEYS).astype(str)
    out = sweep.runs.join(settings, on=["workload", "variant"])
    out["link"] = out["link.bytes_per_cycle"] * out["cycles"]
    return out.rename(columns={"energy.total": "energy"})[["workload", "group", *KEYS.values(), "cycles", "energy", "link"]]
