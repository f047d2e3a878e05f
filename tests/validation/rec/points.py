"""What the runs of REC's comparison counted: a point for each workload and variant, from its result file."""

import copy
import json
import math

import h5py

import published as paper


def look_up(f):
    """Mean latency of a look-up in the L2, and what a request waits for missing data on top. Nan before schema version 5."""
    if "requests" not in f["slices"]:
        return math.nan, math.nan
    requests = max(1.0, f["slices/requests"][:].sum())
    latency = json.loads(f["provenance"].attrs["effective_config"])["llc"]["latency_cycles"]
    return tuple(x / requests for x in (latency * requests + f["slices/queue_cycles"][:].sum(), f["slices/miss_cycles"][:].sum()))


def invalidations_sent(f):
    """Messages of invalidations on links, by the bytes that they took there."""
    config = json.loads(f["provenance"].attrs["effective_config"])
    slot, header = config["link"].get("slot_bytes", 1), config["noc"]["header_bytes"]
    return float(f["totals/coherence.invalidation_bytes"][:].sum()) / (math.ceil(header / slot) * slot), header


def links_used(f):
    """How busy the links are of their peak on that machine. Nan in results of Atoll 0.1, which do not say the peak."""
    sent = f["totals/link.bytes"][:]
    peak = len(sent) * f["provenance"].attrs.get("link_bytes_per_cycle", math.nan)
    return float(sent.sum()) / float(f.attrs["cycles"]) / peak


def read(path):
    with h5py.File(path) as f:
        messages, header = invalidations_sent(f)
        total = lambda counter: float(f["totals/" + counter][:].sum())
        served = {o: float(f["latency/" + o][:].sum()) for o in ("local_llc", "remote_llc", "local_memory", "remote_memory")}
        lookup, missing = look_up(f)
        return {
            "cycles": float(f.attrs["cycles"]),
            "lookup": lookup,
            "answer": lookup + missing,
            "accesses": total("llc.accesses"),
            "misses": total("llc.misses"),
            "remote": total("requests.remote") / max(1, total("requests.local") + total("requests.remote")),
            "own": served["local_llc"] / max(1, sum(served.values())),
            "hits": total("coherence.invalidation_hits"),
            "evict_hits": total("coherence.evict_invalidation_hits"),
            "invalidation_bytes": messages * header,
            "packets": total("link.packets"),
            "lines": total("directory.evicted_lines") / max(1, total("directory.evictions")),
            "evictions": total("directory.evictions"),
            "latency": total("load.latency_cycles") / max(1, total("load.completed")),
            "links": links_used(f),
            "homes": [float(x) for x in f["totals/directory.lookups"][:]],
        }


class Results:
    """The points of some experiments that are there, of the workloads that the paper has bars for. `missing` is raised where
    something is asked for that some of the workloads do not have, and without it these stay out."""

    def __init__(self, out, *names, missing=None):
        self.names, self.missing = paper.WORKLOADS, missing
        self.points = {tuple(p.stem.split("__")): read(p) for name in names for p in sorted((out / name).glob("*__*.h5"))}

    def of(self, names):
        """The same points, of other workloads."""
        other = copy.copy(self)
        other.names = names
        return other

    def under(self, prefix):
        """The points of variants with this prefix, without it."""
        other = copy.copy(self)
        other.points = {(w, v.removeprefix(prefix)): p for (w, v), p in self.points.items() if v.startswith(prefix)}
        return other

    def over(self, below):
        """The same points, and those of others that are not among them."""
        other = copy.copy(self)
        other.points = below.points | self.points
        return other

    def workloads(self, *variants):
        lacking = [f"{w}__{v}" for w in self.names for v in variants if (w, v) not in self.points]
        if lacking and self.missing:
            raise self.missing(f"there are no {len(lacking)} points, {lacking[0]} among them")
        return [w for w in self.names if all((w, v) in self.points for v in variants)]

    def ratio(self, key, variant, baseline="directory"):
        """By workload: this variant over the baseline."""
        return {w: self.points[w, variant][key] / max(1, self.points[w, baseline][key])
                for w in self.workloads(variant, baseline)}

    def speedup(self, variant, baseline="directory"):
        return {w: 1 / r for w, r in self.ratio("cycles", variant, baseline).items()}

    def warm(self, workload, variant):
        """Misses without the cold ones, which a machine whose L2 never gives up a line has as well."""
        cold = self.points[workload, "cold"]
        return max(0.0, self.points[workload, variant]["misses"] - (cold["misses"] - cold["hits"]))
