"""Sensitivity studies: parameters of a machine changed one at a time, each point with the same organisations.

`axes` is {axis: {point: settings}}, in the order of the tables; a point without settings is the machine as it is.
`organisations` is {name: settings}, the first of which is the baseline of its point. Runs are kept in a file, a line each, so
that a study of hours can be made in several sittings."""

import argparse
import csv
import dataclasses
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import results_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- sensitivity: written by sensitivity.py -->", "<!-- end of sensitivity -->"

Settings = dict[str, Any]
Runs = dict[tuple[str, str], dict[str, float]]  # by workload and variant


@dataclasses.dataclass
class Study:
    experiment: pathlib.Path  # what `text` says
    head: dict[str, Any]  # of the experiment, up to its workloads
    workloads: list[dict[str, Any]]
    axes: dict[str, dict[str, Settings]]
    organisations: dict[str, Settings]
    kept: pathlib.Path
    figures: tuple[str, ...]  # kept of each run, the first its cycles
    # Of an axis and a point: the organisations that are run there; all by default.
    only: Callable[[str, str], dict[str, Settings]] | None = None

    def suffix(self, axis: str, point: str) -> str:
        """Of the names of a point's variants."""
        if not self.axes[axis][point]:
            return ""
        return "-" + "".join(c for c in f"{axis.split(',')[0]}{point}".replace("/", "div") if c.isalnum() or c == ".")

    def at(self, axis: str, point: str) -> dict[str, Settings]:
        return self.only(axis, point) if self.only else self.organisations

    def asked(self, axes: list[str] | None = None, names: list[str] | None = None) -> dict[str, Any]:
        """The experiment, or a part of it."""
        baseline = next(iter(self.organisations))
        variants: list[dict[str, Any]] = [{"name": o, "set": s} for o, s in self.organisations.items()]
        for axis in axes or self.axes:
            for point, keys in self.axes[axis].items():
                suffix, here = self.suffix(axis, point), self.at(axis, point)
                own = baseline + suffix if baseline in here else baseline
                for o, s in here.items() if suffix else ():
                    variants.append({"name": o + suffix, "set": {**s, **keys}, "baseline": own})
        workloads = [w for w in self.workloads if not names or w["name"] in names]
        return {**self.head, "workloads": workloads, "variants": variants, "baseline": baseline}

    def text(self) -> str:
        asked = self.asked()
        rows = lambda key: ",\n".join("    " + json.dumps(row) for row in asked[key])
        head = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in self.head.items())
        return (f'{{\n{head}  "workloads": [\n{rows("workloads")}\n  ],\n  "variants": [\n{rows("variants")}\n  ],\n'
                f'  "baseline": {json.dumps(asked["baseline"])}\n}}\n')

    def read_kept(self) -> Runs:
        if not self.kept.exists():
            return {}
        with self.kept.open() as f:
            return {(row["workload"], row["variant"]): {k: float(row[k]) for k in self.figures} for row in csv.DictReader(f)}

    def keep(self, runs: Runs) -> None:
        workloads, variants = ([x["name"] for x in self.asked()[key]] for key in ("workloads", "variants"))
        cell = lambda key, x: f"{x:.0f}" if key == self.figures[0] else f"{x:.6g}"
        rows = [{"workload": w, "variant": v, **{k: cell(k, runs[w, v][k]) for k in self.figures}}
                for w in workloads for v in variants if (w, v) in runs]
        with self.kept.open("w", newline="") as f:
            writer = csv.DictWriter(f, ["workload", "variant", *self.figures], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def speedup(self, runs: Runs, workload: str, organisation: str, axis: str, point: str) -> float | None:
        """Over the baseline of the same point; None without both runs."""
        baseline, suffix = next(iter(self.organisations)), self.suffix(axis, point)
        own = baseline + suffix if baseline in self.at(axis, point) else baseline
        base, other = runs.get((workload, own)), runs.get((workload, organisation + suffix))
        return base[self.figures[0]] / other[self.figures[0]] if base and other else None

    def sweep(self, atoll: str, jobs: str, out: pathlib.Path, axes: list[str], names: list[str]) -> list[tuple[str, str]]:
        """Runs what is asked for and not in `out` yet. Its workloads and variants."""
        out.mkdir(parents=True, exist_ok=True)
        whole = self.asked(axes, names)
        for w in whole["workloads"]:
            w["path"] = str((self.experiment.parent / w["path"]).resolve())
        path = out / "asked.json"
        path.write_text(json.dumps(whole, indent=1))
        subprocess.run([atoll, "sweep", str(path), "--out", str(out), "--jobs", jobs], check=True)
        return [(w["name"], v["name"]) for w in whole["workloads"] for v in whole["variants"]]


def main(study: Study, doc: str, page: pathlib.Path, figures: Callable[[pathlib.Path], dict[str, float]],
         tables: Callable[[Runs], list[str]]) -> None:
    """The command line of a study: figures(result file) of a run, tables(runs) for the page."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results" / study.experiment.stem)
    parser.add_argument("--atoll", default=str(ROOT / "build/release/atoll"))
    parser.add_argument("--only", nargs="+", choices=[a.split(",")[0] for a in study.axes], help="axes; default: all")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--kept", action="store_true", help="run nothing")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*", help="workloads; default: all")
    asked = parser.parse_args()
    if asked.update:
        study.experiment.write_text(study.text())
        return
    if asked.check:
        same = study.experiment.read_text() == study.text()
        sys.exit(0 if same else f"{study.experiment.name} is not what sensitivity.py writes: --update")
    runs = study.read_kept()
    if not asked.kept:
        axes, out = [a for a in study.axes if not asked.only or a.split(",")[0] in asked.only], asked.out.resolve()
        runs |= {(w, v): figures(out / f"{w}__{v}.h5") for w, v in study.sweep(asked.atoll, asked.jobs, out, axes, asked.names)}
    lines = tables(runs)
    print("\n".join(lines))
    if asked.write:
        study.keep(runs)
        results_page.write(page, lines, BEGIN, END)
