"""Where each chip's cycles went, and each kernel's."""

import pandas as pd
from matplotlib.axes import Axes

from atoll_analysis import names
from atoll_analysis.figures.chart import Chart, Drawing, count_axis, label, legend_at, new_figure, percent_axis
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import grouped, percent

UNFINISHED = "unfinished after "  # so many cycles
_HATCHES = ("", "////", "....", "xxxx")
_LEAST = 0.0005    # of the run: smaller parts are not seen
_NARROWEST = 1500  # of the run: nor are shorter kernels


def _shares(cycles: pd.DataFrame) -> pd.DataFrame:
    whole = cycles.sum(axis=1)
    return cycles.div(whole.where(whole > 0), axis=0).fillna(0.0)


def fill(at: int, colours: Palette) -> dict[str, object]:
    """The parts that matter most have plain colours, the others a hatch on the same."""
    return {"color": colours.categories[at % 8], "hatch": _HATCHES[at // 8 % 4], "edgecolor": colours.paper,
            "linewidth": 0.5}


def _draw_chips(axes: Axes, chips: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    rows = {"all chips": chips.sum()} if len(chips) > 1 else {}
    rows.update({f"chip {chip}": row for chip, row in chips.iterrows()})
    shares = _shares(pd.DataFrame(rows).T)
    for row, name in enumerate(shares.index):
        left = 0.0
        for at, part in enumerate(shares):
            value = float(shares.at[name, part])
            gid = drawing.tip(f"{name}, {part}: {percent(value)}")
            axes.barh(row, value, left=left, height=0.76, gid=gid, label=str(part) if row == 0 else None,
                      **fill(at, colours))
            left += value
    axes.set_yticks(range(len(shares)), list(shares.index))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    percent_axis(axes.xaxis)
    axes.spines[:].set_visible(False)
    label(axes, "Share of the run")


def _draw_kernels(axes: Axes, result: Result, kernels: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    shares = _shares(kernels)
    for kernel, row in result.kernels.iterrows():
        if kernel not in shares.index or row["launched"] is pd.NA:
            continue
        below = 0.0
        begin = float(row["launched"])
        ended = row["cycles"] is not pd.NA
        length = float(row["cycles"]) if ended else result.cycles - begin  # until the run was stopped
        if length < result.cycles / _NARROWEST:
            continue
        for at, part in enumerate(shares):
            value = float(shares.at[kernel, part])
            if value < _LEAST:
                continue
            gid = drawing.tip(f"kernel {kernel}, {names.kernel(str(row['name']))}, {'' if ended else UNFINISHED}"
                              f"{grouped(length)} cycles\n{part}: {percent(value)}")
            axes.bar(begin, value, width=length, bottom=below, align="edge", gid=gid, **fill(at, colours))
            below += value
    axes.set_xlim(0, result.cycles)
    axes.set_ylim(0, 1)
    percent_axis(axes.yaxis)
    count_axis(axes.xaxis)
    axes.set_xlabel("simulated time (cycles)")
    axes.spines[:].set_visible(False)
    label(axes, "Share of each kernel, all chips")


def _draw(result: Result, parts: pd.DataFrame, colours: Palette) -> Drawing:
    chips, kernels = (parts.groupby(level=level).sum() for level in ("chip", "kernel"))
    chips = chips[chips.any(axis=1)]  # others have no SMs, which wait
    rows, several = len(chips) + (len(chips) > 1), len(kernels) > 1
    heights = [0.28 * rows] + [1.8] * several
    drawing = Drawing(new_figure(sum(heights) + 0.7 * len(heights) + 0.5))
    first, *rest = drawing.figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    _draw_chips(first, chips, drawing, colours)
    for axes in rest:
        _draw_kernels(axes, result, kernels, drawing, colours)
    legend_at(first, 0.3, "lower left", 8)
    return drawing


def stack(result: Result) -> Chart | None:
    if result.stack is None or not result.stack.to_numpy().sum() > 0:
        return None
    means = (result.stack.sum() / result.stack.to_numpy().sum()).sort_values(ascending=False)
    parts = result.stack[[part for part in means.index if means[part] >= _LEAST]]
    parts.columns = [names.part(part) for part in parts]
    alt = "Stacked bars per chip of what the run's cycles were spent on: " + ", ".join(
        f"{part} {percent(means[original])}" for part, original in zip(parts, means.index)) + "."
    cut = result.kernels.index[result.kernels["started"].notna() & result.kernels["finished"].isna()]
    stopped = f" Kernel {', '.join(map(str, cut))} had not finished when the run was stopped." if len(cut) else ""
    return Chart("stack", "Where the cycles went", alt, lambda colours: _draw(result, parts, colours),
                 f"Parts of less than 0.05 % of the run are left out. atoll explain says it in words.{stopped}")
