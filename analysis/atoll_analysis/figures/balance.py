"""How evenly slices and memory channels are used: heat maps of chip by slice."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from atoll_analysis import capacity
from atoll_analysis.figures.chart import Chart, Drawing, is_narrow, label, new_figure
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import fixed, grouped, percent


def _heat(axes: Axes, drawing: Drawing, values: pd.DataFrame, texts: pd.DataFrame, tips: pd.DataFrame, full: float,
          colours: Palette) -> None:
    """Cells of [chip x part]: as much colour as the value is of `full`."""
    small = values.shape[1] > (7 if is_narrow() else 24)
    for row, chip in enumerate(values.index):
        for column, part in enumerate(values.columns):
            value = float(values.at[chip, part])
            strength = 0.0 if value != value else 0.06 + 0.9 * min(max(value / full, 0.0), 1.0)
            gid = drawing.tip(str(tips.at[chip, part]))
            axes.add_patch(Rectangle((column + 0.02, row + 0.03), 0.96, 0.94, facecolor=colours.heat, alpha=strength,
                                     linewidth=0, gid=gid))
            if not small:
                axes.text(column + 0.5, row + 0.5, texts.at[chip, part], ha="center", va="center", fontsize=7.5,
                          color=colours.on_heat if strength > 0.8 else colours.ink)
    axes.set_xlim(0, values.shape[1])
    axes.set_ylim(values.shape[0], 0)
    axes.set_yticks(np.arange(len(values)) + 0.5, [f"chip {chip}" for chip in values.index])
    step = 4 if small else 1
    axes.set_xticks(np.arange(0, values.shape[1], step) + 0.5, [str(p) for p in values.columns[::step]])
    axes.spines[:].set_visible(False)


def _imbalance(counts: pd.DataFrame, what: str, chips: Sequence[int], lacking: str) -> str:
    """The busiest over the mean of the chips that are shown, and which are not because they can have no requests."""
    values = counts.loc[list(chips)].to_numpy()
    mean = values.mean()
    shown = f"{mean:.2g}" if mean < 10 else grouped(mean)
    said = f"The busiest {what} had {fixed(values.max() / mean)} times the mean of {shown} requests."
    out = [int(chip) for chip in counts.index if chip not in chips]  # neighbours: chips with memory are the last
    if not out:
        return said
    named = f"Chip {out[0]}, which has" if len(out) == 1 else f"Chips {out[0]} to {out[-1]}, which have"
    return f"{said} {named} no {lacking}, {'is' if len(out) == 1 else 'are'} left out."


def _draw_slices(accesses: pd.DataFrame, hits: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(2 * (0.6 + 0.27 * len(accesses))))
    above, below = drawing.figure.subplots(2, 1, sharex=True)
    load, rate = accesses / accesses.to_numpy().mean(), hits / accesses.where(accesses > 0)
    tips = pd.DataFrame({part: [f"chip {chip}, slice {part}: {grouped(accesses.at[chip, part])} requests, "
                                f"{fixed(load.at[chip, part])} of the mean, {percent(rate.at[chip, part])} hits"
                                for chip in load.index] for part in load}, index=load.index)
    _heat(above, drawing, load, load.applymap(fixed), tips, max(2.0, float(load.to_numpy().max())), colours)
    _heat(below, drawing, rate, rate.applymap(lambda r: f"{100 * r:.0f}" if r == r else ""), tips, 1.0, colours)
    label(above, "Requests of each slice", "relative to the mean of all")
    label(below, "Hit rate", "%")
    below.set_xlabel("slice")
    return drawing


def slices(result: Result) -> Chart | None:
    """Needs at least two slices that were asked for something."""
    every, chips = result.slices["accesses"].unstack("slice"), capacity.chips_with_llc(result)
    accesses, hits = every.loc[chips], result.slices["hits"].unstack("slice").loc[chips]
    if accesses.size < 2 or not accesses.to_numpy().any():
        return None
    missing = "SMs" if chips == list(capacity.chips_with_sms(result)) else "memory"
    note = _imbalance(every, "slice", chips, f"{missing} and no LLC in use")
    return Chart("slices", "LLC slices", f"Heat maps of requests and hit rates by chip and slice. {note}",
                 lambda colours: _draw_slices(accesses, hits, colours), note)


def _draw_channels(requests: pd.DataFrame, writes: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(0.75 + 0.27 * len(requests)))
    axes = drawing.figure.subplots()
    load = requests / requests.to_numpy().mean()
    written = writes / requests.where(requests > 0)
    tips = pd.DataFrame({part: [f"chip {chip}, channel {part}: {grouped(requests.at[chip, part])} requests, "
                                f"{fixed(load.at[chip, part])} of the mean, {percent(written.at[chip, part])} writes"
                                for chip in load.index] for part in load}, index=load.index)
    _heat(axes, drawing, load, load.applymap(fixed), tips, max(2.0, float(load.to_numpy().max())), colours)
    label(axes, "Reads and writes of each memory channel", "relative to the mean of all")
    axes.set_xlabel("channel")
    return drawing


def channels(result: Result) -> Chart | None:
    chips = capacity.chips_with_memory(result)
    every = result.channels["reads"].unstack("channel") + result.channels["writes"].unstack("channel")
    requests, writes = every.loc[list(chips)], result.channels["writes"].unstack("channel").loc[list(chips)]
    if requests.size < 2 or not requests.to_numpy().any():
        return None
    note = _imbalance(every, "channel", chips, "memory")
    return Chart("channels", "Memory channels", f"Heat map of requests by chip and memory channel. {note}",
                 lambda colours: _draw_channels(requests, writes, colours), note)
