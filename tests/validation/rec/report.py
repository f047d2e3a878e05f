#!/usr/bin/env python3
"""Runs the comparison of REC's section 5 and writes its results into docs/validation/rec.md.

    report.py [--jobs N] [--out DIR] [--atoll PATH] [--only PATTERN] [--no-run]

The runs are `atoll sweep` of the experiments of EXPERIMENTS in inputs/experiments, on traces of record.py: what is in DIR
already is not run again. What is missing (--only, --no-run) stays out of tables and means; of what was not run at all the
page keeps what it has, and says so. Needs h5py (Debian:
python3-h5py, /usr/bin/python3)."""

import argparse
import itertools
import math
import pathlib
import subprocess
import sys

import published as paper
from points import Results

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/validation/rec.md"
EXPERIMENTS = ("rec", "rec_products", "rec_placement", "rec_placement_others", "rec_sizes", "rec_messages", "rec_messages_chunks",
               "rec_full")
DIVISOR = 4  # of the machine in the experiments: bandwidths are multiplied by it before they are compared
SIZED = ("C2D", "FIR", "J2D", "PR")  # programs of rec_sizes.json
ORDER = ("directory", "directory_2x", "hmg", "rec", "ideal")
NOT_RUN = "Not run with this version."
EARLIER = "Not run with this version: figures of an earlier one."


def kept(heading):
    """For what was not run with this version: what the page has under a heading."""
    lines = [line for line in results_page.section(PAGE, heading)[2:] if line != NOT_RUN]
    return [heading, ""] + ([NOT_RUN, ""] if not any(lines) else lines if lines[0] == EARLIER else [EARLIER, "", *lines])


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows] + [""]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def geometric(values):
    return math.exp(mean(math.log(v) for v in values))


def cell(here, paper, digits):
    return f"{here:.{digits}f}" if paper is None else f"{here:.{digits}f} / {paper:.{digits}f}"


def side_by_side(ours, published, digits=2):
    """Rows by workload, columns by variant: here / in the paper; last the means of both over the workloads that are there."""
    rows = []
    for w in paper.WORKLOADS:
        if any(w in column for column in ours.values()):
            rows.append([w] + [cell(ours[v][w], published[v][w] if v in published else None, digits) if w in ours[v] else "-"
                               for v in ours])
    return rows


def mean_row(label, ours, published, kind, digits=2):
    cells = [cell(kind(c.values()), kind(published[v][w] for w in c) if v in published else None, digits) if c else "-"
             for v, c in ours.items()]
    return [label] + cells


def network_rows(rec, columns, label, kind, digits=2):
    """The networks, which have no published bars, and the means of all workloads. `columns`: of results, by variant."""
    ours, every = columns(rec.of(paper.NETWORKS)), columns(rec.of(paper.WORKLOADS + paper.NETWORKS))
    there = [w for w in paper.NETWORKS if any(w in c for c in ours.values())]
    rows = [[w] + [f"{c[w]:.{digits}f}" if w in c else "-" for c in ours.values()] for w in there]
    means = [f"{label} with them"] + [f"{kind(c.values()):.{digits}f}" if c else "-" for c in every.values()]
    return rows + [means] if rows else []


def speedup_columns(results):
    return {v: results.speedup(v) for v in ("none_remote", "l1_only", "directory_2x", "hmg", "rec", "ideal")}


def speedups(rec):
    ours = speedup_columns(rec)
    rows = side_by_side(ours, paper.SPEEDUP) + [mean_row("geometric mean", ours, paper.SPEEDUP, geometric)] \
        + network_rows(rec, speedup_columns, "geometric mean", geometric)
    means = {"directory": 1.0, **{v: geometric(ours[v].values()) for v in ours if ours[v]}}
    chain = [v for v in ORDER if v in means]
    broken = [f"{a} {means[a]:.3f} > {b} {means[b]:.3f}" for a, b in itertools.pairwise(chain) if means[a] > means[b]]
    wrong, right = [], 0
    for v, column in ours.items():
        for w, x in column.items():
            if abs(paper.SPEEDUP[v][w] - 1) > 0.05:
                good = x > 1.01 if paper.SPEEDUP[v][w] > 1 else x < 0.99
                right += good
                wrong += [] if good else [f"{w} {v} {x:.2f} / {paper.SPEEDUP[v][w]:.2f}"]
    out = ["### Speed-up over the baseline directory: here / Fig. 1, 6 and 11", ""] + table(["", *ours], rows)
    out += ["- Order baseline, 2x, HMG, REC, ideal on average: " + ("as published" if not broken else "; ".join(broken)) + ".",
            f"- On the published side of 1, by more than 1 % before rounding, where the paper differs from it by more than 5 %: "
            f"{right} of {right + len(wrong)}"
            + (f" (not: {', '.join(wrong)})" if wrong else "") + "."]
    largest = max(ours["rec"], key=ours["rec"].get)
    rest = [w for w in ours["rec"] if w != largest]
    out.append(f"- REC without {largest}, its largest here: {geometric(ours['rec'][w] for w in rest):.2f} / "
               f"{geometric(paper.SPEEDUP['rec'][w] for w in rest):.2f}.")
    error = [abs(math.log(x / paper.SPEEDUP["rec"][w])) for w, x in ours["rec"].items()]
    return out + [f"- Mean |ln(here / paper)| of REC: {mean(error):.2f}.", ""]


GAIN, LOSS, AMOUNT = (lambda x: x - 1), (lambda x: 1 - x), (lambda x: x)  # what the effect of a claim is
RANGES = ("128 B", "256 B", "1 KB", "4 KB")


def evicted_lines(results, variant):
    """Of an entry, the mean of the workloads that evict any."""
    points = [results.points[w, variant] for w in results.workloads(variant)]
    return mean(p["lines"] for p in points if p["evictions"] > 0)


def averages(rec, sizes):
    """Claims that are averages: number, what, printed, a function that says what it is here (nan where nothing was run),
    effect."""
    def speedup(v):
        return lambda: geometric(c) if (c := rec.speedup(v).values()) else math.nan

    def lines(results, v):
        return lambda: evicted_lines(results, v)

    def evict_share():
        evict = [rec.points[w, "directory"] for w in rec.workloads("directory")]
        return mean(p["evict_hits"] / max(1, p["hits"]) for p in evict)

    out = [(number, f"speed-up of {v}, geometric mean", printed, speedup(v), GAIN)
           for number, v, printed in (("108", "rec", 1.327), ("128", "directory_2x", 1.073), ("129", "hmg", 1.167))]
    out += [("109", "misses of REC over the baseline's, cold excluded", 0.465,
             lambda: mean(miss_ratios(rec, "rec").values()), LOSS),
            ("113", "evict-initiated share of invalidations that hit", 0.795, evict_share, AMOUNT)]
    for r, results, v, printed in zip(RANGES, (sizes, sizes, rec, sizes), ("rec_128", "rec_256", "rec", "rec_4096"),
                                      (1.8, 3.4, 12.9, 54.7)):
        out.append(("130", f"lines per evicted entry, range {r}", printed, lines(results, v), AMOUNT))
    out += [("135", "unnecessary invalidations that hit, REC over the baseline", 0.156,
             lambda: mean(rec.ratio("evict_hits", "rec").values()), LOSS),
            ("136", "inter-GPU transactions, REC over the baseline", 0.651,
             lambda: mean(rec.ratio("packets", "rec").values()), LOSS)]
    return out


def claims(rec, sizes, places):
    """Averages against the text's, a quarter of the effect being the goal; those with the networks; with homes by page."""
    rows = []
    every, pages = rec.of(paper.WORKLOADS + paper.NETWORKS), places.under("pages_")
    for columns in zip(averages(rec, sizes), averages(every, sizes), averages(pages, pages)):
        number, what, printed, _, effect = columns[0]
        ours, with_networks, by_page = (measure() for _, _, _, measure, _ in columns)

        def within(value):
            off = effect(value) / effect(printed) - 1
            return [f"{value:.3g}", f"{off:+.0%}", "yes" if abs(off) <= 0.25 else "no"]
        if not math.isnan(ours):
            rows.append([number, what, f"{printed:.3g}", *within(ours), f"{with_networks:.3g}" if with_networks != ours else "-"]
                        + (within(by_page) if not math.isnan(by_page) else ["-"] * 3))
    return ["### Averages", "",
            "The effect is the distance from 1, or from 0 of claims 113 and 130; the goal is to be within a quarter of it. "
            "Entries of 130 are those of workloads that evict any, with other ranges than 1 KB of four workloads. "
            "Last, the twelve with pages in rotation (4 KB, 1 KB here) instead of chunks of 2 MB.", ""] \
        + table(["claim", "", "printed", "here", "effect here against printed", "within a quarter", "with the networks",
                 "by page", "effect by page", "within a quarter"], rows)


def miss_ratios(rec, variant):
    """Misses over the baseline's, cold ones excluded, by workload."""
    return {w: rec.warm(w, variant) / max(1, rec.warm(w, "directory")) for w in rec.workloads("directory", variant, "cold")}


def miss_rates(rec, variant):
    """%, cold ones excluded, by workload."""
    return {w: 100 * rec.warm(w, variant) / (rec.points[w, variant]["accesses"] - rec.points[w, "cold"]["misses"])
            for w in rec.workloads(variant, "cold")}


def miss_ratio_columns(results):
    return {v: miss_ratios(results, v) for v in ("directory_2x", "hmg", "rec")}


def miss_rate_columns(results):
    return {v: miss_rates(results, v) for v in ("directory", "ideal")}


def cold_shares(results):
    """%, of the baseline's misses, by workload."""
    return {w: 100 * results.points[w, "cold"]["misses"] / results.points[w, "directory"]["misses"]
            for w in results.workloads("directory", "cold")}


def misses(rec):
    if not rec.workloads("directory", "cold"):
        return ["### L2 misses without cold ones", "", NOT_RUN, ""]
    ours, rates = miss_ratio_columns(rec), miss_rate_columns(rec)
    every = cold_shares(rec.of(paper.WORKLOADS + paper.NETWORKS))
    cold = every | {"mean": mean(cold_shares(rec).values()), "mean with them": mean(every.values())}
    rows = side_by_side(rates, paper.MISS_RATE, 0) + [mean_row("mean", rates, paper.MISS_RATE, mean, 0)] \
        + network_rows(rec, miss_rate_columns, "mean", mean, 0)
    for row in rows:
        row.insert(1, f"{cold[row[0]]:.0f}" if row[0] in cold else "-")
    return ["### L2 misses without cold ones", "",
            "Cold misses are those of a machine with an L2 of 64 MB per GPU and an ideal directory, less its invalidations that hit. "
            "All slices' look-ups count, those of other GPUs' reads at the home included.", "",
            "Over the baseline's: here / Fig. 13.", ""] \
        + table(["", *ours], side_by_side(ours, paper.MISSES) + [mean_row("mean", ours, paper.MISSES, mean)]
                + network_rows(rec, miss_ratio_columns, "mean", mean)) \
        + ["Miss rates, %: here / Fig. 4. First, the share of the baseline's misses that are cold here.", ""] \
        + table(["", "cold", *rates], rows)


def traffic(rec):
    """By quantity and workload."""
    names = rec.workloads("directory", "rec")
    base, ours = ({w: rec.points[w, v] for w in names} for v in ("directory", "rec"))
    return {
        "evict": {w: 100 * base[w]["evict_hits"] / max(1, base[w]["hits"]) for w in names},
        "lines": {w: ours[w]["lines"] for w in names if ours[w]["evictions"] > 0},
        "unnecessary": rec.ratio("evict_hits", "rec"),
        "transactions": rec.ratio("packets", "rec"),
        "bandwidth": {w: DIVISOR * ours[w]["invalidation_bytes"] / ours[w]["cycles"] for w in names},
        "look-up": {w: x for w, x in rec.ratio("lookup", "rec").items() if not math.isnan(x)},
        "answer": {w: x for w, x in rec.ratio("answer", "rec").items() if not math.isnan(x)},
        "load": rec.ratio("latency", "rec"),
    }


def invalidations(rec):
    columns = traffic(rec)
    rows = side_by_side(columns, paper.TRAFFIC) + [mean_row("mean", columns, paper.TRAFFIC, mean)] \
        + network_rows(rec, traffic, "mean", mean)
    return ["### Invalidations, transactions, latency: here / Fig. 5, 12, 14, 15, 16", "",
            "evict: share of the baseline's invalidations that hit which an eviction caused, %. lines: per evicted entry of REC (- where "
            "none was evicted). unnecessary: evict-initiated ones that hit, REC over the baseline. transactions: link packets, likewise. "
            f"bandwidth: REC's invalidations, all GPUs together, GB/s, times {DIVISOR}. Then REC over the baseline again: look-up: "
            "mean time from a request's arrival at an L2 to the end of its look-up, queueing included; answer: the same and the wait "
            "for missing data; load: mean load latency, L1 hits included.", ""] \
        + table(["", *columns], rows)


def placement(results, rec):
    if not results.workloads("pages_directory", "one_home_directory"):
        return ["### Where pages lie", "", *rotation(results)]
    kinds = ("pages", "first_touch", "one_home")
    rows = []
    for w in results.workloads("pages_directory", "one_home_directory"):
        for kind in ("chunks", *kinds):
            source, prefix = (rec, "") if kind == "chunks" else (results, kind + "_")
            if (w, prefix + "directory") not in source.points:
                continue
            p = source.points[w, prefix + "directory"]
            cells = [source.speedup(prefix + v, prefix + "directory").get(w) for v in ORDER[1:]]
            rows.append([w, kind, f"{p['remote']:.2f}", f"{max(p['homes']) / max(1, mean(p['homes'])):.2f}", f"{p['links']:.2f}"]
                        + [f"{c:.2f}" if c else "-" for c in cells])
    return ["### Where pages lie", "",
            "Speed-up over the baseline directory under the same placement: chunks of 2 MB divided by the scale, as above; pages of "
            "4 KB in rotation; first touch; all at one GPU. remote: share of L1 misses whose home is another GPU. busiest home: "
            "its directory's look-ups over the mean. links: their use under the baseline.", ""] \
        + table(["", "placement", "remote", "busiest home", "links", *ORDER[1:]], rows) + rotation(results)


def rotation(results):
    """All programs with pages in rotation, against the paper's bars."""
    pages = results.under("pages_")
    ours = {v: pages.speedup(v) for v in ORDER[1:]}
    rows = side_by_side(ours, paper.SPEEDUP) + [mean_row("geometric mean", ours, paper.SPEEDUP, geometric)]
    packets = {"transactions": pages.ratio("packets", "rec")}
    for row, extra in zip(rows, side_by_side(packets, paper.TRAFFIC) + [mean_row("", packets, paper.TRAFFIC, mean)]):
        row.append(extra[1])
    return ["All programs with pages of 4 KB (1 KB here) in rotation: here / Fig. 6 and 11; last, REC's link packets over the baseline's, "
            "here / Fig. 14.", ""] + table(["", *ours, "packets"], rows)


def messages(variants, plain, where):
    """Links of bytes or of slots, invalidations by line or by range. `variants` has what differs from `plain`. None: it was
    not run."""
    slots, ranges, both, lines = (variants.under(prefix + "_") for prefix in ("slots", "range", "both", "line"))
    readings = {"bytes, by line": lines.over(plain), "bytes, by range": ranges.over(plain) if ranges.workloads("rec") else ranges,
                "slots, by line": slots, "slots, by range": both.over(slots)}
    columns = ("l1_only", "directory_2x", "hmg", "rec", "ideal")
    rows = [["paper", *(f"{geometric(paper.SPEEDUP[v].values()):.2f}" for v in columns),
             *(f"{mean(paper.TRAFFIC[k].values()):.2f}" for k in ("transactions", "bandwidth")), ""]]
    for name, results in readings.items():
        ours = {v: results.speedup(v) for v in columns}
        if len(ours["rec"]) < len(paper.WORKLOADS):
            continue
        sent = mean(DIVISOR * p["invalidation_bytes"] / p["cycles"] for p in (results.points[w, "rec"] for w in ours["rec"]))
        error = mean(abs(math.log(x / paper.SPEEDUP["rec"][w])) for w, x in ours["rec"].items())
        rows.append([name, *(f"{geometric(c.values()):.2f}" if len(c) == len(paper.WORKLOADS) else "-" for c in ours.values()),
                     f"{mean(results.ratio('packets', 'rec').values()):.2f}", f"{sent:.2f}", f"{error:.2f}"])
    if len(rows) <= 2:
        return None
    out = [f"{where}: geometric means of the twelve over the baseline; packets under REC over the baseline's, and its "
           "invalidations in GB/s as above, means; mean |ln(here / paper)| of REC.", ""] \
        + table(["", *columns, "packets", "GB/s", "off"], rows)
    both = readings["slots, by range"]
    ours = {v: x for v in columns if len(x := both.speedup(v)) == len(paper.WORKLOADS)}
    if "rec" in ours:
        packets = side_by_side({"transactions": both.ratio("packets", "rec")}, paper.TRAFFIC)
        cells = [row + extra[1:] for row, extra in zip(side_by_side(ours, paper.SPEEDUP), packets)]
        out += [f"{where}, slots and by range: here / paper.", ""] + table(["", *ours, "packets"], cells)
    return out


def sizes_study(results, rec):
    if not results.workloads("directory_6x"):
        return kept("### Directory size and range")
    ours = {"directory_2x": rec.speedup("directory_2x")}
    ours |= {v: results.speedup(v) for v in ("directory_4x", "directory_6x")}
    names = results.workloads("directory")
    ours = {v: {w: x for w, x in c.items() if w in names} for v, c in ours.items()}
    twelve = results.speedup("directory_12x")
    rows = side_by_side(ours, paper.SPEEDUP)
    for row in rows:
        row += [f"{twelve[row[0]]:.2f}" if row[0] in twelve else "-", f"{rec.speedup('rec').get(row[0], math.nan):.2f}"]
    per_kb = [f"{geometric(c.values()) / int(v.split('_')[1][:-1]):.2f}" for v, c in [*ours.items(), ("directory_12x", twelve)] if c]
    widths = {"directory": 52, "hmg": 50, "rec_128": 50, "rec_256": 57, "rec": 103, "rec_4096": 293}
    lines = {"rec_128": results, "rec_256": results, "rec": rec, "rec_4096": results}
    coalesced = [[w] + [f"{r.points[w, v]['lines']:.1f}" if (w, v) in r.points and r.points[w, v]["evictions"] else "-"
                        for v, r in lines.items()] + [f"{r.speedup(v).get(w, math.nan):.2f}" for v, r in lines.items()] for w in names]
    return ["### Directory size and range", "", "Speed-up of larger baseline directories: here / Fig. 6; 12x and REC here.", ""] \
        + table(["", *ours, "12x", "REC"], rows) \
        + [f"Speed-up per storage, baseline 1 (Fig. 7: .536, .314, .225 at 2x, 4x, 6x, .114 at 12x): {', '.join(per_kb)}.", "",
           "Lines per evicted entry and speed-up by range (128 B, 256 B, 1 KB, 4 KB):", ""] \
        + table(["", *(f"lines, {v}" for v in lines), *(f"speed-up, {v}" for v in lines)], coalesced) \
        + ["Storage of 8 K entries, as Table 1 has them: " + ", ".join(f"{n} {b} bits, {b} KB" for n, b in widths.items()) + "."
           " HMG's: 46 bits of base, 3 sharers, valid (inferred). 6x and 12x the baseline: 312 and 624 KB, 15.2 and 30.5 % of an L2.", ""]


def footprints(whole, rec, places):
    """The whole machine at the footprints of Table 3 beside a quarter of both."""
    heading = "### The whole machine, whole footprints"
    out = [heading, ""]
    for kind, quarter in (("pages", places.under("pages_")), ("chunks", rec)):
        results = whole.under(kind + "_")
        ours, theirs = ({v: r.speedup(v) for v in ORDER[1:]} for r in (results, quarter))
        names = [w for w in paper.WORKLOADS if all(w in c for c in (*ours.values(), *theirs.values()))]
        if not names:
            return kept(heading)
        packets = [r.ratio("packets", "rec") for r in (results, quarter)]
        rows = [[w, *(f"{ours[v][w]:.2f} / {theirs[v][w]:.2f}" for v in ORDER[1:]), f"{packets[0][w]:.2f} / {packets[1][w]:.2f}"]
                for w in names]
        out += [f"{kind.capitalize()}, speed-up over the baseline and REC's packets over the baseline's: whole / a quarter.", ""] \
            + table(["", *ORDER[1:], "packets"], rows)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", default=str(ROOT / "results"), help="folder of the experiments' folders")
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--only", help="run points of this pattern only")
    parser.add_argument("--no-run", action="store_true", help="write the page from what is there")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out)
    for name in EXPERIMENTS if not arguments.no_run else ():
        experiment = str(ROOT / f"inputs/experiments/{name}.json")
        command = [arguments.atoll, "sweep", experiment, "--jobs", arguments.jobs, "--out", str(out / name)]
        subprocess.run(command + (["--only", arguments.only] if arguments.only else []), check=not arguments.only)
    rec, sizes = Results(out, "rec", "rec_products"), Results(out, "rec_sizes")
    places = Results(out, "rec_placement", "rec_placement_others")
    costs = [messages(variants, plain, where) for variants, plain, where in (
        (Results(out, "rec_messages"), places.under("pages_"), "Pages in rotation"),
        (Results(out, "rec_messages_chunks"), rec, "Chunks"))]
    links = "### Links of slots, invalidations by range"
    whole = Results(out, "rec_full")
    parts = [speedups(rec), claims(rec, sizes, places), misses(rec), invalidations(rec), placement(places, rec),
             sizes_study(sizes, rec), footprints(whole, rec, places),
             kept(links) if None in costs else
             [links, "",
              "Links of bytes, as above, or of slots of 150 bytes (`link.slot_bytes`); invalidations by line, as above, or by range "
              "and sharer (`coherence.invalidate`).", "", *costs[0], *costs[1]]]
    results_page.write(PAGE, [line for part in parts for line in part])


if __name__ == "__main__":
    main()
