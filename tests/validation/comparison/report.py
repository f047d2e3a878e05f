#!/usr/bin/env python3
"""Runs the comparison of all mechanisms with each other and writes its results into docs/comparison.md.

    report.py [--scale quick|full] [--jobs N] [--out DIR] [--atoll PATH] [--no-run] [--page FILE]

quick: inputs/experiments/comparison.json, from a clone alone, twenty minutes on two processors. full:
comparison_full.json, published footprints and larger recordings, three hours. What is in DIR already is not run again. The
numbers of complete workloads are kept beside this script (quick.csv, full.csv), and the page has those and what DIR adds.
Needs h5py, pandas and matplotlib (Debian: python3-h5py, python3-pandas, python3-matplotlib; /usr/bin/python3)."""

import argparse
import json
import os
import pathlib
import subprocess

import pandas as pd

import effects
import figures
import runs
from runs import energy_prices

ROOT = runs.ROOT
EXPERIMENTS = {"quick": "comparison", "full": "comparison_full"}


def markdown(table: pd.DataFrame, corner: str, form: str = ".2f") -> list[str]:
    def cell(value: object) -> str:
        return "-" if pd.isna(value) else format(value, form) if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join([corner, *map(str, table.columns)]) + " |", "|" + "---|" * (len(table.columns) + 1)]
    return lines + ["| " + " | ".join([str(name), *map(cell, row)]) + " |" for name, row in
                    zip(table.index, table.itertuples(index=False))] + [""]


def label(setting: tuple[str, ...]) -> str:
    words = [v for v, base in zip(setting, effects.BASE) if v != base]
    return " + ".join([setting[0]] + [w for w in words if w != setting[0]])


def grouped(speedup: pd.DataFrame, groups: dict[str, list[str]], settings: dict[str, "pd.Series[float]"]) -> pd.DataFrame:
    """[name, group] geometric means of series over workloads."""
    return pd.DataFrame({group: {name: effects.geometric(s[names]) for name, s in settings.items()}
                         for group, names in groups.items()})


def alone(speedup: pd.DataFrame) -> dict[str, "pd.Series[float]"]:
    """What each mechanism brings alone. Protocols act where remote lines are cached: relative to sm_side with software."""
    out = {v: speedup[effects.replaced(effects.BASE, d, v)] for d, v in effects.others() if d != "protocol"}
    sm_side = effects.replaced(effects.BASE, "organisation", "sm_side")
    for v in effects.DIMENSIONS["protocol"][1:]:
        out[f"{v} *"] = speedup[effects.replaced(sm_side, "protocol", v)] / speedup[sm_side]
    return out


def everywhere(speedup: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for dimension, value in effects.others():
        brings = effects.contexts(speedup, dimension, value)
        rows[value] = {"settings": len(brings), "mean": effects.geometric(brings), "least": brings.min(),
                       "where": label(brings.idxmin()), "most": brings.max(), "where ": label(brings.idxmax())}
    return pd.DataFrame.from_dict(rows, orient="index")


def energy(frame: pd.DataFrame, settings: list[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Geometric means over workloads relative to BASE, with their ranges; none unless all runs have joules by price."""
    if (frame["prices"] == "").any():
        return {}
    prices: dict[str, dict[tuple[str, ...], pd.DataFrame]] = {}
    for workload, *setting, text in frame[[*runs.POINT, "prices"]].itertuples(index=False):
        prices.setdefault(workload, {})[tuple(setting)] = energy_prices.from_text(text)
    out = {}
    for s in settings:
        pairs = [(of[s], of[effects.BASE]) for of in prices.values()]
        ratios = pd.Series([ours["joules"].sum() / theirs["joules"].sum() for ours, theirs in pairs])
        found = energy_prices.range_of_mean(pairs, geometric=True)
        out[s] = f"{effects.geometric(ratios):.2f}" + ("" if s == effects.BASE else f" ({energy_prices.ratios(found, '.2f')})")
    return out


def ranking(tables: dict[str, pd.DataFrame], groups: dict[str, list[str]], frame: pd.DataFrame) -> pd.DataFrame:
    speedup = tables["cycles"]
    regret = effects.regret(speedup)
    order = effects.mean(speedup).sort_values(ascending=False).index
    best = list(order[:8])
    for setting in [effects.BASE] + [effects.replaced(effects.BASE, "organisation", o) for o in
                                     effects.DIMENSIONS["organisation"]]:
        if setting not in best:
            best.append(setting)
    place = {s: i + 1 for i, s in enumerate(order)}
    rows: dict[str, dict[str, float | str]] = {}
    joules = energy(frame, best)
    for s in sorted(best, key=place.get):
        row = rows[label(s)] = {"rank": place[s], **{g: effects.geometric(speedup[s][names]) for g, names in groups.items()}}
        row["slowest against memory_side"] = float(speedup[s].min())
        row["farthest from the workload's best"] = float(regret[s].max())
        if joules:
            row["energy"] = joules[s]
        row["link bytes"] = 1 / effects.geometric(tables["link"][s])
    return pd.DataFrame.from_dict(rows, orient="index")


def winners(speedup: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for workload, values in speedup.iterrows():
        best = values.idxmax()
        near = int((values > values.max() / 1.01).sum())
        rows[workload] = {"best": label(best), "speed-up": float(values.max()), "within 1 % of it": f"{near} settings",
                          "worst": label(values.idxmin()), "its speed-up": float(values.min())}
    return pd.DataFrame.from_dict(rows, orient="index")


def sections(frame: pd.DataFrame, groups: dict[str, list[str]], images: pathlib.Path, prefix: str) -> list[str]:
    tables = {what: effects.speedups(frame, what).loc[groups["all"]] for what in ("cycles", "link")}
    speedup = tables["cycles"]
    mean = effects.mean(speedup)
    best = mean.idxmax()
    by_group = grouped(speedup, groups, alone(speedup))
    pairs = effects.interactions(speedup)
    figures.alone(by_group, images / f"{prefix}-alone.svg")
    figures.heat(figures.settings_table(mean), images / f"{prefix}-settings.svg", (8.0, 6.2),
                 "speed-up over memory_side (geometric mean)", 0)
    figures.heat(pairs, images / f"{prefix}-pairs.svg", (8.6, 4.8), "together / product of each alone")
    sac = effects.replaced(effects.BASE, "organisation", "sac")
    marked = {"SAC alone": sac, f"best on average: {label(best)}": best}
    figures.spread(speedup, marked, images / f"{prefix}-spread.svg")
    where = os.path.relpath(images, ROOT / "docs")
    picture = lambda name, text: [f"![{text}]({where}/{prefix}-{name}.svg)", ""]
    return [
        f"{len(frame)} runs: {len(speedup)} workloads on {len(speedup.columns)} settings.", "",
        "### Each alone", "", *picture("alone", "Speed-up of each mechanism alone, by group of workloads"),
        *markdown(by_group, "speed-up"),
        "\\* relative to `sm_side` with software coherence, since `memory_side` has no copies to keep coherent.", "",
        "### Each, wherever it can be added", "",
        "Ratio of run times without and with it, everything else equal; geometric mean over workloads.", "",
        *markdown(everywhere(speedup), "adds", ".3f"),
        "### All settings", "", *picture("settings", "Speed-up over memory-side of every setting"),
        *markdown(ranking(tables, groups, frame), "setting"),
        "Bytes on links, and energy where it is known, are relative to `memory_side`; in brackets, while every price moves, the",
        "same in all runs ([energy.md](energy.md#uncertainty)).", "",
        "### Pairs", "", *picture("pairs", "Pairs: together against the product of each alone"),
        *markdown(pairs, "", ".3f"),
        "1: they add up (their ratios multiply). Below: one takes from the other; above: one needs the other.", "",
        "### Workloads", "", *picture("spread", "All settings of each workload"), *markdown(winners(speedup), "workload"),
    ]


def write(page: pathlib.Path, scale: str, lines: list[str]) -> None:
    begin, end = f"<!-- {scale}: written by report.py -->", f"<!-- end of {scale} -->"
    text = page.read_text()
    head, rest = text.split(begin)
    page.write_text(head + begin + "\n\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=EXPERIMENTS, default="quick")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, help="folder of the runs (results/EXPERIMENT)")
    parser.add_argument("--atoll", default=ROOT / "build/release/atoll", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "docs/comparison.md", type=pathlib.Path)
    parser.add_argument("--no-run", action="store_true", help="write the page from what is there")
    asked = parser.parse_args()
    name = EXPERIMENTS[asked.scale]
    folder = asked.out or ROOT / "results" / name
    experiment = ROOT / f"inputs/experiments/{name}.json"
    if not asked.no_run:
        subprocess.run([asked.atoll, "sweep", experiment, "--jobs", str(asked.jobs), "--out", folder], cwd=ROOT, check=False)
    rows = pathlib.Path(__file__).with_name(f"{asked.scale}.csv")
    frame = runs.merged(runs.kept(rows), runs.read_runs(folder))
    if frame.empty:
        raise SystemExit(f"{folder} holds no complete run: run this without --no-run")
    settings = frame.groupby("workload", sort=False).size()
    partial = list(settings.index[settings < settings.max()])
    frame = frame[~frame["workload"].isin(partial)]
    order = {w["name"]: i for i, w in enumerate(json.loads(experiment.read_text())["workloads"])}
    frame = frame.sort_values("workload", key=lambda names: names.map(order), kind="stable")
    runs.keep(frame, rows)
    groups: dict[str, list[str]] = {}
    for workload, group in frame.groupby("workload", sort=False)["group"].first().items():
        groups.setdefault(group, []).append(workload)
    groups["all"] = [w for names in groups.values() for w in names]
    images = asked.page.parent / "images"
    images.mkdir(exist_ok=True)
    write(asked.page, asked.scale, sections(frame, groups, images, name))
    missing = f"; not all settings of {', '.join(partial)}" if partial else ""
    print(f"{asked.page}: {len(frame)} runs of {folder} and {rows.name}{missing}")


if __name__ == "__main__":
    main()
