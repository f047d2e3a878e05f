"""The runs of a comparison over simulated time, one upon the other."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from atoll_analysis import capacity, rates
from atoll_analysis.comparison import Comparison
from atoll_analysis.figures.chart import (Chart, Drawing, count_axis, is_narrow, label, legend_above, new_figure,
                                          percent_axis, shortened)
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result

_FEWEST_SAMPLES = 3
_MOST_SAMPLES, _MOST_NARROW = 150, 50
_MOST_RUNS = 8
_LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1, 1, 1)))  # told apart without colours, too
_TITLES = {"ipc": "Warp instructions per cycle, all chips", "hits": "LLC hit rate",
           "links": "Links: outgoing bandwidth used, mean of ports", "dram": "DRAM: data buses busy",
           "latency": "Load latency (cycles)"}
_SHARES = ("hits", "links", "dram")


def over_time(result: Result, most: int) -> tuple[pd.DataFrame, npt.NDArray[np.float64]]:
    """[sample] mean of all chips by the keys of _TITLES, at most so many of them; and the cycles between samples."""
    counters = rates.coarsened(result.counters, most)

    def mean(name: str) -> "pd.Series[float]":
        return rates.per_cycle(counters, name).mean(axis=1)

    table = pd.DataFrame({
        "ipc": mean("warp.instructions") * result.chips,
        "hits": rates.share(counters, ("llc.hits",), ("llc.accesses",)),
        "links": mean("link.bytes") / capacity.link_bytes_per_cycle(result),
        "dram": mean("dram.bus_busy") * result.chips / result.memory_chips / capacity.dram_channels(result),
        "latency": rates.share(counters, ("load.latency_cycles",), ("load.completed",))})
    return table, rates.edges(counters)


def _draw(comparison: Comparison, shown: list[str], colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(1.45 * len(shown) + 0.3))
    panels = np.atleast_1d(drawing.figure.subplots(len(shown), 1, sharex=True))
    highest = dict.fromkeys(shown, 0.0)
    for at, ((run, result), short) in enumerate(zip(comparison.runs.items(), shortened(comparison.runs))):
        table, edges = over_time(result, _MOST_NARROW if is_narrow() else _MOST_SAMPLES)
        edges = edges * (comparison.times[run] / result.cycles)  # at the baseline's clock
        for name, axes in zip(shown, panels):
            values = table[name].to_numpy(dtype=float)
            axes.step(edges, np.append(values, values[-1:]), where="post", color=colours.categories[at % 8],
                      linestyle=_LINES[at % len(_LINES)], linewidth=1.2, label=short)
            axes.axvline(comparison.times[run], color=colours.categories[at % 8], linewidth=0.8, alpha=0.6,
                         gid=drawing.tip(f"{run} ends after {result.cycles:,} cycles"))
            highest[name] = max(highest[name], float(np.nanmax(values, initial=0.0)))
    for name, axes in zip(shown, panels):
        label(axes, _TITLES[name])
        axes.grid(axis="y")
        axes.set_ylim(0, 1.08 * (highest[name] or 1))
        (percent_axis if name in _SHARES else count_axis)(axes.yaxis)
        axes.locator_params(axis="y", nbins=4)
    legend_above(panels[0])
    panels[-1].set_xlim(0, comparison.times.max())
    clock = f" of {comparison.baseline}'s clock" if comparison.clock_note else ""
    panels[-1].set_xlabel(f"simulated time (cycles{clock})")
    count_axis(panels[-1].xaxis)
    return drawing


def overlay(comparison: Comparison) -> Chart | None:
    """None for more runs than can be told apart, or with too few samples for lines."""
    samples = [r.counters.index.get_level_values("sample").nunique() for r in comparison.runs.values()]
    if len(comparison.runs) > _MOST_RUNS or min(samples) < _FEWEST_SAMPLES:
        return None
    tables = {run: over_time(result, _MOST_SAMPLES)[0] for run, result in comparison.runs.items()}
    shown = [name for name in _TITLES if any(t[name].gt(0).any() for t in tables.values())]
    if not shown:
        return None
    said = "; ".join(f"{run}: up to {table['ipc'].max():.3g} warp instructions per cycle, {comparison.runs[run].cycles:,} cycles"
                     for run, table in tables.items())
    return Chart("overlay", "The runs over time", f"Time series of all runs in the same panels. {said}.",
                 lambda colours: _draw(comparison, shown, colours), "Means of all chips; a vertical line is the end of a run.")
