"""The page about a sweep."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from atoll_analysis import config, markup, run_report
from atoll_analysis.alike import ALIKE
from atoll_analysis.figures import axes, grids, speedups
from atoll_analysis.figures.chart import Chart
from atoll_analysis.markup import Cell, Column, number
from atoll_analysis.means import NAMES
from atoll_analysis.names import first_line
from atoll_analysis.rankings import alone, because, rankings, sentences
from atoll_analysis.sweeps import Sweep
from atoll_analysis.units import counted, fixed, grouped, joules, percent, seconds

_MOST_COLUMNS = 8  # of variants; names of variants are long
_MOST_BEHIND = 3   # contenders beside the fastest


def charts(sweep: Sweep) -> dict[str, Chart]:
    """The figures of a sweep by name, the most telling first."""
    found = {c.name: c for make in (speedups.speedups, speedups.means) if (c := make(sweep)) is not None}
    return {**found, **{c.name: c for c in [*axes.axes(sweep), *grids.grids(sweep)]}}


def _shade(speedup: float) -> str:
    """Background of a cell: the further from 1 the stronger, faster and slower in different hues."""
    if speedup != speedup or speedup <= 0:
        return ""
    strength = min(abs(math.log2(speedup)), 1.0) * 45
    hue = "good" if speedup >= 1 else "bad"
    return f"background: color-mix(in srgb, var(--{hue}) {strength:.0f}%, transparent)" if strength >= 1 else ""


def _link(sweep: Sweep, file: str, digest: str, folder: Path) -> str:
    """To the point's own report if there is one beside its result that is of it, else to the result."""
    target = sweep.path / file
    page = target.with_suffix(".html")
    shown = os.path.relpath(page if run_report.is_page_of(page, digest) else target, folder)
    return shown.replace(os.sep, "/")


def _speedup(value: float) -> Cell:
    return Cell(fixed(value), None if value != value else value, style=_shade(value))


def _speedups(sweep: Sweep) -> str:
    """A row per workload and mean; or, where variants are too many for columns, a row per variant."""
    table, means = sweep.speedups(), sweep.means()
    groups = sweep.runs.drop_duplicates("workload").set_index("workload")["group"]
    names = [(str(w), str(groups.get(w, ""))) for w in table.index]
    names += [(NAMES[mean], "" if group == "ALL" else str(group)) for group, mean in means.index]
    values = np.vstack([table.to_numpy(dtype=float), means.to_numpy(dtype=float)])
    grouped_ = any(group for _, group in names)
    rows: list[list[Cell | str]]
    if len(sweep.variants) <= _MOST_COLUMNS or len(names) > len(sweep.variants):
        columns = [Column("workload"), *([Column("group")] if grouped_ else []), *[Column(v, True) for v in sweep.variants]]
        rows = [[name, *([group] if grouped_ else []), *map(_speedup, row)] for (name, group), row in zip(names, values)]
        return markup.table(columns, rows, "Speed-up over the baseline; below: means", footer=len(means))
    titles = [f"{name} {group}" if name in NAMES.values() else name for name, group in names]
    columns = [Column("variant"), *[Column(title, True) for title in titles]]
    rows = [[variant, *map(_speedup, values[:, at])] for at, variant in enumerate(sweep.variants)]
    return markup.table(columns, rows, "Speed-up over the baseline, and means at the right")


def _rankings(sweep: Sweep) -> str:
    """A row per workload and place: the fastest, and by how much and by what each other one is slower."""
    found, timed = rankings(sweep), bool(sweep.clock_note)
    if not found:
        return ""
    places = list(found[0].at)
    unit = "time" if timed else "cycles"
    behind = min(_MOST_BEHIND, max(len(r.cycles) for r in found) - 1)
    columns = [Column("workload"), *[Column(key, True) for key in places], Column("fastest"), Column(unit, True)]
    for _ in range(behind):
        columns += [Column("next"), Column("slower", True), Column("because of", doc=f"what it spends more {unit} on than the "
                                                                   "fastest, in % of the fastest's")]
    rows: list[list[Cell | str]] = []
    for r in found:
        row: list[Cell | str] = [r.workload, *[number(float(str(v)), config.text(v)) for v in r.at.values()], r.fastest,
                                 number(float(r.times.iloc[0]), (seconds if timed else grouped)(float(r.times.iloc[0])))]
        others = list(r.behind().items())[1:behind + 1]
        for contender, loss in others:
            why = "as fast" if loss <= ALIKE else "–" if r.sampled else because(r, str(contender))
            why = why.replace(" %", "\N{NO-BREAK SPACE}%")
            row += [str(contender), number(loss, percent(loss)), Cell(why, style="min-width: 13rem")]
        rows.append(row + [""] * (len(columns) - len(row)))
    lines = "".join(markup.paragraph(line, "warn" if line.startswith("warning") else "") for line in sentences(found))
    if left_out := alone(sweep, found):
        lines += markup.paragraph(left_out)
    return lines + markup.table(columns, rows, f"What is fastest, and what the others spend more {unit} on than it: % of its "
                                f"{unit}, mean of the chips")


def _variants(sweep: Sweep) -> str:
    """Their names, or what they are made from."""
    if len(sweep.variants) <= _MOST_COLUMNS:
        return ", ".join(sweep.variants)
    return f"{len(sweep.variants)}: " + ", ".join(f"{key} {_values(sweep.runs[key])}" for key in sweep.axes)


def _tenths(value: float) -> str:
    return fixed(value, 1)


def _runs(sweep: Sweep, folder: Path) -> str:
    shown: list[tuple[str, str, Callable[[float], str]]] = [
        ("speedup", "speed-up", fixed), ("cycles", "cycles", grouped), ("ipc", "IPC", fixed),
        ("l1.hit_rate", "L1 hits", percent), ("llc.hit_rate", "LLC hits", percent),
        ("requests.local_share", "local", percent), ("load.mean_latency", "cycles per load", _tenths),
        ("dram.bytes_per_cycle", "DRAM B/cycle", _tenths), ("link.bytes_per_cycle", "links B/cycle", _tenths),
        ("energy.total", "energy", joules)]
    runs = sweep.runs
    if sweep.clock_note:
        runs, shown = runs.assign(seconds=sweep.seconds), [shown[0], ("seconds", "time", seconds), *shown[1:]]
    shown = [s for s in shown if s[0] in runs and runs[s[0]].fillna(0).any()]
    columns = [Column("workload"), Column("variant"), *[Column(title, True) for _, title, _ in shown], Column("digest")]
    rows: list[list[Cell | str]] = []
    for _, run in runs.iterrows():
        cells: list[Cell | str] = [str(run["workload"]), Cell(
            str(run["variant"]), href=_link(sweep, str(run["file"]), run["digest"], folder))]
        cells += [number(run[name], "–" if run[name] != run[name] else form(run[name])) for name, _, form in shown]
        cells.append(Cell(run["digest"][:8], code=True))
        rows.append(cells)
    return markup.table(columns, rows, "Every run; links lead to its own report, or to its result file")


def _values(values: "pd.Series[object]") -> str:
    found = list(dict.fromkeys(config.text(v) for v in values if v == v))
    return ", ".join(found) if len(found) <= 4 else f"{found[0]} … {found[-1]} ({len(found)} values)"


def _differences(sweep: Sweep) -> str:
    table = sweep.differences
    if table.empty or table.shape[1] == 0:
        return markup.paragraph("All runs have the same configuration.")
    by_variant = dict(list(table.groupby(level="variant", sort=False)))
    caption = "Keys that are not the same in all runs; several values: they differ by workload"
    if len(by_variant) <= _MOST_COLUMNS or table.shape[1] > len(by_variant):
        rows = [[str(key), *[_values(runs[key]) for runs in by_variant.values()]] for key in table]
        return markup.table([Column("key"), *map(Column, by_variant)], rows, caption, sortable=False)
    rows = [[str(name), *[_values(runs[key]) for key in table]] for name, runs in by_variant.items()]
    return markup.table([Column("variant"), *[Column(str(key)) for key in table]], rows, caption)


def page(sweep: Sweep, folder: Path) -> str:
    """The whole document, for a file in `folder`."""
    drawn = charts(sweep)
    experiment = sweep.experiment
    done, planned = len(sweep.runs), len(sweep.workloads) * len(sweep.variants)
    summary = markup.paragraph(str(experiment["doc"])) if experiment.get("doc") else ""
    baselines = ", ".join(dict.fromkeys(sweep.runs["baseline"]))
    facts = [("runs", f"{done} of {planned}"), ("workloads", str(len(sweep.workloads))),
             ("variants", _variants(sweep)),
             ("baseline", baselines if len(baselines) < 100 else "each variant's own")]
    if experiment.get("system"):
        facts.insert(0, ("system", str(experiment["system"])))
    scales = sorted({int(scale) for scale in sweep.configs.get("scale", pd.Series([1])).dropna()})
    if scales != [1]:
        facts.append(("scale", f"LLC and footprints divided by {' or '.join(map(str, scales))}"))
    if source := experiment.get("reference", {}).get("source"):
        facts.append(("paper", str(source)))
    notes = sweep.version_note, sweep.work_note, sweep.clock_note, sweep.changed_note
    gaps = "".join(markup.paragraph(note, "warn") for note in notes if note)
    if sweep.runs["sampled"].any():
        gaps += markup.paragraph(f"{int(sweep.runs['sampled'].sum())} of {done} runs are sampled: their figures are "
                                 "extrapolated (docs/sampling.md).", "warn")
    for workload, what in sweep.lacking.items():
        gaps += markup.paragraph(f"{workload} is not whole: {first_line(what)}.", "warn")
    for what, warned in sweep.warned.items():
        gaps += markup.paragraph(f"{counted(len(warned), 'run')} warned: {what}.", "warn")
    for variants in sweep.same_simulations:
        gaps += markup.paragraph(f"One and the same simulation in every workload: {', '.join(variants)}.", "warn")
    if fewer := sweep.of_fewer_workloads:
        gaps += markup.paragraph("Means that do not compare with the others, as they are of fewer workloads: "
                                 f"{', '.join(fewer)}.", "warn")
    if sweep.missing:
        points = markup.table([Column("point"), Column("why")], list(sweep.missing.items()), "Missing points")
        gaps += markup.paragraph(f"{len(sweep.missing)} of {planned} points have no usable result; means leave them out. "
                                 "`atoll sweep` runs what is missing, and with --force what is of something else.",
                                 "warn") + markup.details("Which, and why", points)
    lines = "".join(markup.figure(chart) for name, chart in drawn.items() if name.startswith("by-"))
    figures = "".join(markup.figure(chart) for name, chart in drawn.items() if not name.startswith("by-"))
    sections = [("summary", "Summary", summary + markup.facts(facts) + gaps),
                ("rankings", "What is fastest, and why", _rankings(sweep)),
                ("axes", "By what was swept", lines), ("speedups", "Speed-ups", figures + _speedups(sweep)),
                ("runs", "Runs", _runs(sweep, folder)), ("configuration", "Configuration", _differences(sweep))]
    title = f"Sweep {sweep.path.resolve().name}"
    sections = [s for s in sections if s[2]]
    return markup.page(title, f"{counted(len(sweep.workloads), 'workload')} on {counted(len(sweep.variants), 'variant')}", sections,
                     f"From {counted(done, 'result')} in {sweep.path.resolve().name}.")
