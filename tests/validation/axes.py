"""Sensitivity studies: parameters of a machine changed one at a time, each point with the same organisations.

`axes` is {axis: {point: settings}}, in the order of the tables; a point without settings is the machine as it is.
`organisations` is {name: settings}, the first of which is the baseline of its point. Runs are kept in a file, a line each, so
that a study of hours can be made in several sittings."""

import csv
import dataclasses
import json
import pathlib
from collections.abc import Callable
from typing import Any

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

    def sweep(self, command: list[str], out: pathlib.Path, axes: list[str] | None, names: list[str] | None) -> list[str]:
        """The command that runs what is asked for into `out`, after its experiment has been written there."""
        out.mkdir(parents=True, exist_ok=True)
        whole = self.asked(axes, names)
        for w in whole["workloads"]:
            w["path"] = str((self.experiment.parent / w["path"]).resolve())
        path = out / "asked.json"
        path.write_text(json.dumps(whole, indent=1))
        return [*command, "sweep", str(path), "--out", str(out)]
