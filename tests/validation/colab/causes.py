"""Where the cycles and the joules go that COLAB saves or costs, and what of its costs is latency."""

from colab_runs import arithmetic, show, table

PARTS = ("issue", "compute", "no_warp", "l1", "cluster", "mshr", "request", "slice", "response", "dram")
# Programs that lose, beside the mean of those that are sensitive.
LOSERS = ("squeezenet", "gemm", "gemm_large")


def stack(r, w, variant):
    """Cycles by what warps wait for, as shares of the cycles that the program takes without COLAB."""
    of, cycles = r.get(w, variant, "stack"), r.get(w, "none", "cycles")
    shares = [of[p] / cycles for p in PARTS]
    return shares + [sum(of.values()) / cycles - sum(shares), sum(of.values()) / cycles]


def joules(r, w):
    """Change of energy by what it is for, as shares of all energy without COLAB. The crossbars' price per byte is the same in both runs:
    the rest of `noc` is tables, and ways within clusters."""
    before, after = (r.get(w, v, "joules") for v in ("none", "colab"))
    crossbars = before["noc"] * (r.ratio(w, "colab", "none", "crossbar bytes") or 1)
    sum_of = lambda run, names: sum(run[n] for n in names)
    static = [n for n in before if n.endswith("static")]
    changes = [sum_of(after, static) - sum_of(before, static), crossbars - before["noc"], after["noc"] - crossbars,
               *(after[n] - before[n] for n in ("l1", "llc", "dram"))]
    whole = sum(before.values())
    return [c / whole for c in changes + [sum(after.values()) - whole]]


def mean(columns):
    return [arithmetic(values) for values in zip(*columns)]


def causes(r, sensitive):
    known = [w for w in LOSERS if (w, "none") in r.runs and (w, "colab") in r.runs]
    if not sensitive:
        return []
    rows, changes = [], []
    for title, names in [("sensitive, mean", sensitive)] + [(w, [w]) for w in known]:
        for variant in ("none", "colab"):
            rows.append([title, variant] + [show(v) for v in mean([stack(r, w, variant) for w in names])])
        changes.append([title] + [show(v, "+.1%") for v in mean([joules(r, w) for w in names])])
    return ["### Where the cycles go", "",
            "What warps wait for ([docs/explain.md](../explain.md)), as shares of the cycles without COLAB.",
            ""] \
        + table(("", "", *PARTS, "rest", "all"), rows) \
        + ["### Where the energy goes", "", "Changes, as shares of the energy without COLAB; instructions cost the same.", ""] \
        + table(("", "static", "crossbars", "tables and clusters", "L1s", "LLC", "DRAM", "all"), changes)


def latency(r):
    variants = ("no_hits", "quick", "colab")
    rows = [[w] + [show(r.ratio(w, v, "none", "ipc"), ".3f") for v in variants]
            + [show(r.ratio(w, v, "none", "misses")) for v in variants] for w in r.workloads]
    return ["### What programs lose that the network does not limit", "",
            "IPC relative to none. `no_hits`: a table that never knows an owner; `quick`: COLAB with look-ups in the table and "
            "crossings of a cluster that take one cycle instead of 8 and 4.", ""] \
        + table(("", *(f"IPC, {v}" for v in variants), *(f"L1 misses, {v}" for v in variants)), rows)
