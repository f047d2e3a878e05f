"""Figures of docs/comparison.md, as SVG that differs only where its numbers do."""

import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm

import effects

plt.rcParams.update({"svg.hashsalt": "atoll", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10,
                     "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})
# Okabe and Ito's palette: told apart by colour-blind readers too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def save(figure: plt.Figure, path: pathlib.Path) -> None:
    figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    plt.close(figure)


def alone(by_group: pd.DataFrame, path: pathlib.Path) -> None:
    """Bars of what each mechanism brings alone; by_group: [mechanism, group]."""
    figure, axes = plt.subplots(figsize=(9.5, 3.6))
    width = 0.8 / len(by_group.columns)
    for i, group in enumerate(by_group.columns):
        at = np.arange(len(by_group)) + (i - (len(by_group.columns) - 1) / 2) * width
        axes.bar(at, by_group[group] - 1, width * 0.92, bottom=1, color=COLOURS[i], label=group)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(by_group)), by_group.index)
    axes.set_ylabel("speed-up")
    axes.legend(frameon=False, ncol=len(by_group.columns), loc="upper left", bbox_to_anchor=(0, 1.14))
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    save(figure, path)


def heat(table: pd.DataFrame, path: pathlib.Path, size: tuple[float, float], label: str, ruled_by: int = 0) -> None:
    """Numbers around 1 on a diverging scale; `ruled_by`: a line after every so many rows."""
    values = table.to_numpy(dtype=float)
    spread = max(0.02, float(np.nanmax(np.abs(np.log(values)))))
    figure, axes = plt.subplots(figsize=size)
    shown = axes.imshow(np.log(values), cmap="RdBu", norm=TwoSlopeNorm(0, -spread, spread), aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        dark = abs(np.log(value)) > 0.6 * spread
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black", fontsize=9)
    axes.set_xticks(range(len(table.columns)), table.columns)
    axes.set_yticks(range(len(table.index)), table.index)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    for side in axes.spines.values():
        side.set_visible(False)
    if ruled_by:
        for row in range(ruled_by, len(table), ruled_by):
            axes.axhline(row - 0.5, color="white", linewidth=3)
    bar = figure.colorbar(shown, ax=axes, shrink=0.8, pad=0.02)
    ticks = [-spread, -spread / 2, 0, spread / 2, spread]
    bar.set_ticks(ticks, labels=[f"{np.exp(t):.2f}" for t in ticks])
    bar.set_label(label)
    bar.outline.set_visible(False)
    save(figure, path)


def spread(speedup: pd.DataFrame, marked: dict[str, tuple[str, ...]], path: pathlib.Path) -> None:
    """All settings of each workload as a strip of ticks, with some marked."""
    figure, axes = plt.subplots(figsize=(9.5, 0.34 * len(speedup) + 1.2))
    for row, (_, values) in enumerate(speedup.iterrows()):
        axes.plot(values, np.full(len(values), row), "|", color="#999999", markersize=11)
    for i, (name, setting) in enumerate(marked.items()):
        axes.plot(speedup[setting], range(len(speedup)), "os^Dv"[i % 5], color=COLOURS[i], label=name, markersize=6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(speedup)), speedup.index)
    axes.invert_yaxis()
    axes.set_xscale("log")
    low, high = float(speedup.min().min()), float(speedup.max().max())
    ticks = [t for t in (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4) if low / 1.1 <= t <= high * 1.1]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel("speed-up over memory-side (logarithmic); a tick for each of the settings")
    axes.legend(frameon=False, ncol=len(marked), loc="lower left", bbox_to_anchor=(0, 1.0))
    axes.grid(axis="x", alpha=0.3)
    save(figure, path)


def settings_table(mean: "pd.Series[float]") -> pd.DataFrame:
    """[organisation and protocol, replication and sharing] for heat()."""
    columns = [(r, s) for r in effects.DIMENSIONS["replication"] for s in effects.DIMENSIONS["sharing"]]
    rows = [(o, p) for o in effects.DIMENSIONS["organisation"] for p in effects.DIMENSIONS["protocol"]
            if o != "memory_side" or p == "software"]
    names = {("shared", "none"): "neither", ("selrep", "none"): "selrep", ("shared", "colab"): "colab",
             ("selrep", "colab"): "selrep + colab"}
    return pd.DataFrame([[mean.get((o, r, p, s), np.nan) for r, s in columns] for o, p in rows],
                        index=["memory_side" if o == "memory_side" else f"{o}, {p}" for o, p in rows],
                        columns=[names[c] for c in columns])
