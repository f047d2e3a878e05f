"""Speed-ups of a sweep along the keys that it varies."""

import math
from collections import Counter

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, NullLocator

from atoll_analysis.axes import along, alike, compared, mean_along, numeric, over_first, seed_bars, unseeded
from atoll_analysis.config import text
from atoll_analysis.figures.chart import Chart, Drawing, label, legend_above, new_figure
from atoll_analysis.palette import Palette
from atoll_analysis.sweeps import Sweep
from atoll_analysis.units import fixed

_MARKS = "osD^vPX*"
_MOST_LINES = 8
_MOST_RANGES = 3  # lines that have bars behind: those of more lie on each other, and flatten the lines


def _draw(key: str, table: pd.DataFrame, over: str, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(3.2))
    axes = drawing.figure.subplots()
    mean, values, seeds = mean_along(table), [float(v) for v in table.columns], seed_bars(table)
    log = values[0] > 0 and values[-1] / values[0] >= 8
    places = np.log2(values) if log else np.array(values)
    for at, ((others, row), short) in enumerate(zip(mean.iterrows(), what_differs(list(map(str, mean.index))))):
        colour = colours.categories[at % 8]
        each = table.xs(others, level="others")
        low = high = None
        if others in seeds.index:
            low, high = (seeds.loc[others].xs(bound, level=1).to_numpy(dtype=float) for bound in ("lowest", "highest"))
            middle = row.to_numpy(dtype=float)
            axes.errorbar(places, middle, yerr=[(middle - low).clip(min=0), (high - middle).clip(min=0)], fmt="none",
                          ecolor=colour, capsize=4, elinewidth=1.2)
        elif len(each) > 1 and len(mean) <= _MOST_RANGES:
            axes.vlines(places, each.min(), each.max(), color=colour, alpha=0.35, linewidth=5)
        axes.plot(places, row.to_numpy(dtype=float), color=colour, label=short or "all")
        for point, (x, value, at_value) in enumerate(zip(places, row, values)):
            tip = f"{others}, {key} = {text(at_value)}: {fixed(float(value))}"
            if low is not None and high is not None:
                tip += f"; {fixed(low[point])} to {fixed(high[point])} by seed"
            elif len(each) > 1:
                tip += f"; {fixed(each[at_value].min())} to {fixed(each[at_value].max())} over {len(each)} workloads"
            axes.plot([x], [value], _MARKS[at % len(_MARKS)], color=colour, markersize=6, gid=drawing.tip(tip))
    axes.axhline(1, color=colours.ink, linewidth=0.9)
    axes.set_xticks(places, [text(v) for v in values])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.2g}"))
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    axes.set_xlabel(key)
    label(axes, f"Speed-up over {over}")
    legend_above(axes)
    return drawing


def what_differs(names: list[str]) -> list[str]:
    """Of axes.settings() of each line: the words that not all of them have, with the ends of keys where these tell them apart."""
    words = [name.split(" ") for name in names]
    shared = set(words[0]).intersection(*words) if len(names) > 1 else set()
    left = [[word for word in line if word not in shared] for line in words]
    keys = {word.partition("=")[0] for line in left for word in line if "=" in word}
    ends = Counter(key.rpartition(".")[2] for key in keys)

    def short(word: str) -> str:
        key, equals, value = word.partition("=")
        end = key.rpartition(".")[2]
        return f"{end}={value}" if equals and ends[end] == 1 else word

    found = [" ".join(map(short, line)) for line in left]
    return found if len(set(found)) == len(set(names)) and all(found) else names


def _ranges(lines: int, seeded: bool) -> str:
    """What the caption says of bars."""
    if seeded:
        return "error bars: from the lowest to the highest of the means by seed."
    if lines <= _MOST_RANGES:
        return "bars behind: the lowest and the highest."
    return f"without bars from the lowest to the highest, which {lines} lines would have on each other: pointing at a mark shows both."


def _seeded(sweep: Sweep) -> bool:
    return any(unseeded(workload) != workload for workload in sweep.workloads)


def _lines(sweep: Sweep, key: str) -> pd.DataFrame:
    """[workload, others x value of the key] what is drawn."""
    if sweep.own_baselines:
        return alike(over_first(along(timed(sweep), sweep.axes, key, "seconds"), first(sweep, key)[0]))
    return alike(compared(sweep.along(key).dropna(how="all")))


def timed(sweep: Sweep) -> pd.DataFrame:
    return sweep.runs.assign(seconds=sweep.seconds)


def first(sweep: Sweep, *keys: str) -> list[object]:
    """The values of the keys that speed-ups refer to where every run is its own baseline, as in `atoll table --by`."""
    return list(sweep.runs[list(keys)].iloc[0])


def reference(sweep: Sweep, *keys: str) -> str:
    """What speed-ups are over, in figures by these keys."""
    if not sweep.own_baselines:
        return "the baseline"
    return ", ".join(f"{key} = {text(value)}" for key, value in zip(keys, first(sweep, *keys)))


def title(sweep: Sweep, *keys: str) -> str:
    over = f", over {reference(sweep, *keys)}" if sweep.own_baselines else ""
    return f"By {' and '.join(keys)}{over}"


def comparable(sweep: Sweep, *keys: str) -> bool:
    """Runs at other values of the keys have the same work, or baselines of their own values to be compared with."""
    return not (sweep.own_baselines and set(keys) & set(sweep.work_keys))


def of_workloads(sweep: Sweep, table: pd.DataFrame, noun: str) -> str:
    """Of how many the means of [workload, others x ...] are; `noun` is what shows those of one `others`."""
    counts = table.groupby(level="others").size()
    every, used = len(sweep.workloads), table.index.get_level_values("workload").nunique()
    if (counts == used).all():
        return f"Harmonic means over the {used} of {every} workloads that have all values"
    numbers = " to ".join(map(str, sorted({counts.min(), counts.max()})))
    return (f"Harmonic means, which do not compare between {noun}s: each is over the {numbers} of {every} workloads that have all "
            f"of its values, and none has those of all {noun}s")


def axes(sweep: Sweep) -> list[Chart]:
    """A figure for each key of numbers that variants vary, without lines that are 1 because they are the baseline."""
    charts = []
    for key in sweep.axes:
        if not numeric(sweep.runs[key]) or not comparable(sweep, key):
            continue
        table = _lines(sweep, key)
        mean = mean_along(table) if len(table) else table
        if not 1 <= len(mean) <= _MOST_LINES or table.shape[1] < 2:
            continue
        said = "; ".join(f"{others or 'all'}: " + ", ".join(f"{fixed(v)} at {text(at)}" for at, v in row.items())
                         for others, row in mean.iterrows() if not math.isnan(float(row.iloc[0])))
        over = reference(sweep, key)
        charts.append(Chart("by-" + key.replace(".", "-").replace("_", "-"), title(sweep, key),
                            f"Mean speed-ups over {over} by {key}: {said}.",
                            lambda colours, key=key, table=table, over=over: _draw(key, table, over, colours),  # type: ignore[misc]
                            f"{of_workloads(sweep, table, 'line')}; {_ranges(len(mean), _seeded(sweep))}"))
    return charts
