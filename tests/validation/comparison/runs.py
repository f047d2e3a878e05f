"""The runs of a comparison as a table, and the tables that are kept: results are large, and a comparison takes hours."""

import pathlib
import sys

import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "analysis"))

from atoll_analysis import load_sweep  # noqa: E402

KEYS = {"llc.organisation": "organisation", "llc.replication": "replication", "coherence.protocol": "protocol",
        "cluster.sharing": "sharing"}
POINT = ["workload", *KEYS.values()]
COLUMNS = ["workload", "group", *KEYS.values(), "cycles", "energy", "link"]


def read_runs(folder: pathlib.Path) -> pd.DataFrame:
    """A row per complete run: workload, group, the dimensions of effects.DIMENSIONS, cycles, joules, bytes on links."""
    if not folder.is_dir():
        return pd.DataFrame(columns=COLUMNS)
    sweep = load_sweep(folder)
    settings = sweep.configs[list(KEYS)].rename(columns=KEYS).astype(str)
    out = sweep.runs.join(settings, on=["workload", "variant"])
    out["link"] = out["link.bytes_per_cycle"] * out["cycles"]
    return out.rename(columns={"energy.total": "energy"})[COLUMNS]


def kept(path: pathlib.Path) -> pd.DataFrame:
    """What keep() wrote; without rows if there is no such file."""
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def keep(frame: pd.DataFrame, path: pathlib.Path) -> None:
    frame.to_csv(path, index=False, float_format="%.6g")


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The rows of both; where both have a point, the new one."""
    both = [frame for frame in (old, new) if not frame.empty]
    if not both:
        return new
    return pd.concat(both).drop_duplicates(POINT, keep="last").reset_index(drop=True)
