"""What the tables of COLAB's page read out of results, and how they are written."""

import json
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from energy_prices import range_of_mean, read_prices

ENERGY = {"core": (), "static": (), "noc": (), "dram": (), "caches": ("l1", "llc")}


def decisions(f):
    """SAC's: for each kernel, what it chose, and by how much the model had the SM-side LLC ahead."""
    if "values/sm_side.eab" not in f.get("decisions", {}):
        return {}
    d = f["decisions"]
    ahead = d["values/sm_side.eab"][:] / d["values/memory_side.eab"][:]
    return {int(k): (choice.decode(), float(a)) for k, choice, a in zip(d["kernel"][:], d["choice"][:], ahead)}


def read(path):
    with h5py.File(path) as f:
        total = lambda counter: float(f["totals/" + counter][:].sum())
        joules = {part: float(f["energy/" + part][:].sum()) for part in f["energy"]}
        cycles, misses = float(f.attrs["cycles"]), max(1.0, total("l1.misses"))
        lookups = max(1.0, total("cluster.lookups"))
        stalls = total("sm.port_stall") + total("sm.reply_stall")
        chips = next(iter(f["stack"].values())).shape[1]
        return {
            "cycles": cycles,
            "ipc": total("warp.instructions") / cycles,
            "misses": total("l1.misses"),
            "held": total("cluster.held") / misses,
            "pending": total("cluster.pending") / misses,
            "served": total("cluster.served") / misses,
            "traffic": total("noc.response_bytes"),
            "crossbar bytes": sum(total(f"noc.{way}_bytes") for way in ("request", "response", "link")),
            "replies": total("noc.response_bytes") / cycles,
            "stalls": stalls,
            "stalls per cycle": stalls / cycles,
            "links": total("link.bytes"),
            "link load": total("link.bytes") / cycles,
            "energy": sum(joules.values()),
            "joules": joules,
            "prices": read_prices(f),
            "parts": {name: sum(j for part, j in joules.items() if part in parts or part.endswith(name))
                      / sum(joules.values()) for name, parts in ENERGY.items()},
            "stack": {part: float(f["stack/" + part][:].sum()) / chips for part in f["stack"]},
            "kernels": (f["kernels/finished"][:] - f["kernels/launched"][:]).tolist(),
            "decisions": decisions(f),
            "false positives": total("cluster.false_positives") / lookups,
            "false negatives": total("cluster.false_negatives") / lookups,
            "access full": total("cluster.access_full") / lookups,
            "input full": total("cluster.input_full") / misses,
        }


class Results:
    """The runs of one experiment, by workload and variant."""

    def __init__(self, folder):
        self.runs = {tuple(p.stem.split("__")): read(p) for p in sorted(folder.glob("*__*.h5"))}
        asked = json.loads((folder / "experiment.json").read_text()) if self.runs else {"workloads": []}
        self.workloads = [w["name"] for w in asked["workloads"]]
        self.group = {w["name"]: w.get("group", "") for w in asked["workloads"]}

    def get(self, workload, variant, what):
        run = self.runs.get((workload, variant))
        return run[what] if run else None

    def ratio(self, workload, variant, base, what):
        ours, theirs = self.get(workload, variant, what), self.get(workload, base, what)
        return ours / theirs if ours is not None and theirs else None

    def energy_range(self, names, variant="colab", base="none"):
        """Of the programs' mean energy with COLAB over without, while prices move."""
        return range_of_mean([tuple(self.get(w, v, "prices") for v in (variant, base)) for w in names])


def arithmetic(values):
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def harmonic(values):
    known = [v for v in values if v is not None]
    return len(known) / sum(1 / v for v in known) if known else None


def show(value, form=".2f"):
    return "-" if value is None else format(value, form)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(str, r)) + " |" for r in rows] + [""]
