"""How much of the data chips share, by the length of the window looked at (SAC, ISCA 2023, table 4 and figure 11)."""

import pandas as pd

from atoll_analysis import capacity
from atoll_analysis.figures.chart import Chart, Drawing, label, legend_above, new_figure
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import si, tick

KINDS = {"true_shared": "truly shared", "false_shared": "falsely shared", "not_shared": "not shared"}


def working_sets(result: Result) -> pd.DataFrame | None:
    """[window] bytes by kind, mean of the epochs in which anything was accessed, as `atoll info` has them; the last row,
    "run", is the footprint of the whole run."""
    if result.sharing is None or result.footprint is None:
        return None
    bytes_ = result.sharing.astype(float)
    busy = bytes_.groupby(level="epoch").sum().sum(axis=1) > 0
    bytes_ = bytes_[busy.reindex(bytes_.index.get_level_values("epoch")).to_numpy()]
    table = bytes_.groupby(level="window").mean()
    table.index = pd.Index([f"{tick(w)} cycles" for w in table.index], name="window")
    table.loc["run"] = result.footprint
    table["distinct"] = table[list(KINDS)].sum(axis=1)
    table["with_copies"] = table["true_shared_copies"] + table["false_shared"] + table["not_shared"]
    return table


def _draw(table: pd.DataFrame, llc: float, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(0.85 + 0.32 * len(table)))
    axes = drawing.figure.subplots()
    for at, (window, row) in enumerate(table.iterrows()):
        left = 0.0
        for kind, colour in zip(KINDS, (colours.c1, colours.c4, colours.c0)):
            value = float(row[kind]) / 1e6
            tip = drawing.tip(f"{window}: {si(row[kind], 'B')} {KINDS[kind]}")
            axes.barh(at, value, left=left, height=0.7, color=colour, edgecolor=colours.paper, linewidth=0.6, gid=tip,
                      label=KINDS[kind] if at == 0 else None)
            left += value
        axes.plot([row["with_copies"] / 1e6] * 2, [at - 0.42, at + 0.42], color=colours.ink, linewidth=1.8,
                  label="with a copy in every chip that uses it" if at == 0 else None)
    if llc <= 1.6 * float(table["with_copies"].max()):
        axes.axvline(llc / 1e6, color=colours.muted, linewidth=1, linestyle=(0, (4, 2)), label="LLC of all chips")
    handles, names = axes.get_legend_handles_labels()
    kinds = list(KINDS.values())
    order = sorted(range(len(names)), key=lambda at: kinds.index(names[at]) if names[at] in kinds else len(kinds))
    axes.set_yticks(range(len(table)), ["whole run" if w == "run" else str(w) for w in table.index])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.grid(axis="x")
    axes.set_xlabel("MB of lines")
    label(axes, "Data accessed within")
    legend_above(axes, [handles[at] for at in order], [names[at] for at in order])
    return drawing


def sharing(result: Result) -> Chart | None:
    table = working_sets(result)
    if table is None:
        return None
    run, llc = table.loc["run"], capacity.llc_bytes(result)
    parts = ", ".join(f"{si(run[kind], 'B')} {text}" for kind, text in KINDS.items())
    note = (f"Whole run: {parts}; {si(run['with_copies'], 'B')} with copies. LLC of all chips: {si(llc, 'B')}. Windows: "
            "mean over the epochs with accesses. Memory-side LLCs have to hold the bars, SM-side ones the marks.")
    return Chart("sharing", "Data shared between chips", f"Bars of working sets by window. {note}",
                 lambda colours: _draw(table, llc, colours), note)
