"""Energy by component."""

import pandas as pd

from atoll_analysis.figures.chart import Chart, Drawing, is_narrow, label, legend_above, new_figure
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import joules, percent, watts

LABELS = {"core": "cores", "l1": "L1", "l2": "L2", "llc": "LLC", "noc": "crossbars", "link": "links", "dram": "DRAM",
          "sm_static": "SMs at rest", "llc_static": "LLC at rest", "chip_static": "chips at rest",
          "dram_static": "DRAM at rest"}


def _draw(parts: "pd.Series[float]", colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(0.8 + 0.25 * len(parts)))
    axes = drawing.figure.subplots()
    whole = float(parts.sum())
    most = float(parts.max())
    scale, unit = next(((f, u) for f, u in ((1.0, "J"), (1e3, "mJ"), (1e6, "µJ")) if most * f >= 1), (1e9, "nJ"))
    for at, (name, value) in enumerate(parts.items()):
        rests = str(name).endswith("_static")
        text = f"{joules(value)}, {percent(value, whole)}"
        axes.barh(at, value * scale, height=0.72, color=colours.muted if rests else colours.c0,
                  alpha=0.55 if rests else 1.0, gid=drawing.tip(f"{LABELS.get(str(name), name)}: {text}"))
        axes.annotate(text, (value * scale, at), (4, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.barh(0, 0, color=colours.c0, label="spent on events")
    axes.barh(0, 0, color=colours.muted, alpha=0.55, label="drawn at rest, times the run's length")
    axes.set_yticks(range(len(parts)), [LABELS.get(str(name), str(name)) for name in parts.index])
    axes.invert_yaxis()
    axes.set_xlim(0, most * scale * (1.6 if is_narrow() else 1.14))
    axes.grid(axis="x")
    label(axes, "Energy of all chips and their memories", unit)
    legend_above(axes)
    return drawing


def energy(result: Result) -> Chart | None:
    if result.energy is None or not result.energy.to_numpy().sum() > 0:
        return None
    parts = result.energy.sum()
    parts = parts[parts > 0].sort_values(ascending=False)
    whole = float(parts.sum())
    alt = f"Bars of energy by component, {joules(whole)} in all: " + ", ".join(
        f"{LABELS.get(str(n), n)} {percent(v, whole)}" for n, v in parts.items()) + "."
    note = (f"{joules(whole)} in {result.cycles:,} cycles: {watts(whole / result.seconds)} on average. Good for comparing "
            "runs of one machine; each price has a range (docs/energy.md).")
    return Chart("energy", "Energy", alt, lambda colours: _draw(parts, colours), note)
