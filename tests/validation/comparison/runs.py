"""The runs of a comparison as a table, and the tables that are kept: results are large, and a comparison takes hours."""

import pathlib
import sys

import h5py
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "analysis"))
sys.path.insert(0, str(ROOT / "tests/validation"))

import energy_prices  # noqa: E402
from atoll_analysis import load_sweep  # noqa: E402

KEYS = {"llc.organisation": "organisation", "llc.replication": "replication", "coherence.protocol": "protocol",
        "cluster.sharing": "sharing"}
POINT = ["workload", *KEYS.values()]
COLUMNS = ["workload", "group", *KEYS.values(), "cycles", "link", "prices"]


def read_runs(folder: pathlib.Path) -> pd.DataFrame:
    """A row per complete run: workload, group, the dimensions of effects.DIMENSIONS, cycles, bytes on links, and joules by
    price in the words of energy_prices."""
    if not folder.is_dir():
        return pd.DataFrame(columns=COLUMNS)
    sweep = load_sweep(folder)
    settings = sweep.configs[list(KEYS)].rename(columns=KEYS).astype(str)
    out = sweep.runs.join(settings, on=["workload", "variant"])
    out["link"] = out["link.bytes_per_cycle"] * out["cycles"]
    out["prices"] = [prices_of(folder / f"{w}__{v}.h5") for w, v in zip(out["workload"], out["variant"])]
    return out[COLUMNS]


def prices_of(path: pathlib.Path) -> str:
    with h5py.File(path) as file:
        prices = energy_prices.read_prices(file)
    return "" if prices is None else energy_prices.as_text(prices)


def kept(path: pathlib.Path) -> pd.DataFrame:
    """What keep() wrote; without rows if there is no such file. Prices are empty of runs that came without."""
    if not path.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path).reindex(columns=COLUMNS).fillna({"prices": ""})


def keep(frame: pd.DataFrame, path: pathlib.Path) -> None:
    frame.to_csv(path, index=False, float_format="%.6g")


def merged(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The rows of both; where both have a point, the new one."""
    both = [frame for frame in (old, new) if not frame.empty]
    if not both:
        return new
    return pd.concat(both).drop_duplicates(POINT, keep="last").reset_index(drop=True)
