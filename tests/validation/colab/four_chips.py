"""COLAB on four chips: what it does to links under each LLC organisation, and to SAC's choices."""

from colab_runs import arithmetic, harmonic, show, table
from energy_prices import ratios

ORGANISATIONS = ("memory_side", "sm_side", "sac")
HEAD = ("", "LLC", "held", "served", "link B/cycle", "link MB", "with COLAB", "link bytes", "speed-up", "with COLAB", "IPC", "energy",
        "range")


def mega(value):
    return show(None if value is None else value / 1e6, ".1f")


def row(r, w, o):
    both = f"{o}_colab"
    return [w, o, show(r.get(w, o, "held")), show(r.get(w, both, "served")), show(r.get(w, o, "link load"), ".0f"),
            mega(r.get(w, o, "links")), mega(r.get(w, both, "links")), show(r.ratio(w, both, o, "links")),
            show(r.ratio(w, o, "memory_side", "ipc")), show(r.ratio(w, both, "memory_side", "ipc")),
            *(show(r.ratio(w, both, o, what)) for what in ("ipc", "energy")), ratios(r.energy_range([w], both, o), ".2f")]


def mean(r, names, title, o):
    both = f"{o}_colab"
    average = lambda variant, base, what: show(arithmetic([r.ratio(w, variant, base, what) for w in names]))
    speed_up = lambda variant, base: show(harmonic([r.ratio(w, variant, base, "ipc") for w in names]))
    return [title, o, *(show(arithmetic([r.get(w, v, what) for w in names])) for v, what in ((o, "held"), (both, "served"))),
            show(arithmetic([r.get(w, o, "link load") for w in names]), ".0f"), "", "", average(both, o, "links"),
            speed_up(o, "memory_side"), speed_up(both, "memory_side"), speed_up(both, o), average(both, o, "energy"),
            ratios(r.energy_range(names, both, o), ".2f")]


def multichip(r):
    """The programs that use links, their means, and those that do not."""
    rows = []
    for group, title in (("links", "mean of these"), ("small", None)):
        names = [w for w in r.workloads if r.group[w] == group]
        rows += [row(r, w, o) for w in names for o in ORGANISATIONS]
        if title:
            rows += [mean(r, names, title, o) for o in ORGANISATIONS]
    return ["### Four chips", "", "Speed-ups over memory-side without COLAB; of link bytes, IPC and energy the columns of that name",
            "have COLAB over none in the same organisation. Means of speed-ups and IPC are harmonic.", ""] \
        + table(HEAD, rows) + choices(r)


def choices(r):
    """Kernels for which SAC chooses otherwise with COLAB, and how long each choice takes with it."""
    rows, kernels = [], 0
    for w in r.workloads:
        without, with_it = (r.get(w, v, "decisions") or {} for v in ("sac", "sac_colab"))
        kernels += len(without)
        for k, (choice, ahead) in without.items():
            if k not in with_it or with_it[k][0] == choice:
                continue
            cycles = [r.get(w, v, "kernels") for v in ("sac", "sac_colab", "memory_side_colab", "sm_side_colab")]
            rows.append([w, k, choice, show(ahead, ".3f"), with_it[k][0], show(with_it[k][1], ".3f"),
                         *(show(c[k] if c else None, ",") for c in cycles)])
    return ["#### SAC's choices", "",
            f"{len(rows)} of {kernels} kernels are decided otherwise with COLAB. EAB: SM-side over memory-side, as SAC's model",
            "has it; from 1.05 on SAC chooses SM-side. The last two columns are with COLAB, too.", ""] \
        + table(("", "kernel", "choice", "EAB", "with COLAB", "EAB", "cycles", "with COLAB", "memory_side", "sm_side"), rows)
