"""All results of a sweep's folder as tables."""

import itertools
import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from atoll_analysis import axes, clocks, means, units
from atoll_analysis.config import WORK, differences, overrides, text
from atoll_analysis.errors import BadResult, check_input
from atoll_analysis.metrics import UNITS, metrics
from atoll_analysis.named import unknown, with_units
from atoll_analysis.result import Head, load_head
from atoll_analysis.foreign import changed_policies, changed_workloads, foreign
from atoll_analysis.warned import warned
from atoll_analysis.work import LAYOUT, counted, unlike


@dataclass(frozen=True, repr=False)
class Sweep:
    """What `atoll sweep` left in a folder. Rows are in the order of the experiment."""

    path: Path
    experiment: Mapping[str, Any]     #: experiment.json; {} if the folder has none
    workloads: tuple[str, ...]
    variants: tuple[str, ...]
    runs: pd.DataFrame                #: one row per complete run: workload, group, variant, baseline, speedup, baseline_ipc
    #                                    per cycle of the run, all of metrics.metrics(), sampled, digest, file, and the keys
    #                                    that differ between variants
    configs: pd.DataFrame             #: [workload, variant] every configuration key
    spent: pd.DataFrame               #: [workload, variant x part] cycles by what they were spent on, mean of the chips
    decides: "pd.Series[bool]"        #: [workload, variant] its policy chose an organisation for a kernel or during one
    counted: pd.DataFrame             #: [workload, variant x counter] Count: what runs of the same work have alike
    missing: Mapping[str, str]        #: points without a usable result, and why
    lacking: Mapping[str, str] = field(default_factory=dict)  #: workloads whose traces are not whole, and what they lack, in lines
    warned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  #: what runs warned of: their points, WORKLOAD__VARIANT
    changed: tuple[str, ...] = ()     #: files of workloads and policies that are others now than when they were run
    versions: Mapping[str, int] = field(default_factory=dict)  #: runs by the version and commit of Atoll that wrote them
    given: frozenset[str] = frozenset()  #: keys that command lines of runs set

    @property
    def differences(self) -> pd.DataFrame:
        """[workload, variant] the configuration keys that are not the same in all runs."""
        return differences(self.configs)

    @property
    def same_simulations(self) -> list[tuple[str, ...]]:
        """Variants whose runs are one simulation in every workload: what they set changes nothing."""
        of = self.runs.pivot(index="variant", columns="workload", values="digest").reindex(list(self.variants)).dropna(how="all")
        alike: dict[tuple[str, ...], list[str]] = {}
        for variant, digests in zip(of.index, of.astype(str).itertuples(index=False)):
            alike.setdefault(tuple(digests), []).append(str(variant))
        return [tuple(variants) for variants in alike.values() if len(variants) > 1]

    @property
    def clocks(self) -> "pd.Series[float]":
        """[workload, variant] core clock in MHz."""
        return self.configs.get("core_clock_mhz", pd.Series(1000.0, index=self.configs.index)).astype(float)

    @property
    def clock_note(self) -> str:
        """A sentence where runs have different core clocks, so that times are compared; else nothing."""
        return clocks.note(self.clocks)

    @property
    def work_note(self) -> str:
        """A sentence where variants have other work to do; else nothing."""
        shown = [f"{key} {', '.join(map(text, sorted(set(self.configs[key]))))}" for key in self.work_keys]
        return (f"The runs have different work ({' and '.join(shown)}): speed-ups and ranks are among those of the same."
                if shown else "")

    @property
    def changed_note(self) -> str:
        """A sentence where files of workloads or policies have changed, in the words of `atoll table`; else nothing."""
        have = "have" if len(self.changed) > 1 else "has"
        return (f"{', '.join(self.changed)} {have} changed since these runs; `atoll sweep --force` runs them again."
                if self.changed else "")

    @property
    def version_note(self) -> str:
        """A sentence where runs were written by different versions; else nothing."""
        shown = ", ".join(f"{version} ({units.counted(runs, 'run')})" for version, runs in self.versions.items())
        return (f"The results are of {len(self.versions)} versions of Atoll, which alone can make them differ: {shown}."
                if len(self.versions) > 1 else "")

    @property
    def work_keys(self) -> list[str]:
        """The keys that differ between variants, and with them the work: see work.unlike()."""
        return [key for key in self.axes if key == WORK or (key in LAYOUT and self._work_varies_with(key))]

    def _work_varies_with(self, key: str) -> bool:
        """At the same values of what else a profile is laid out for."""
        others = [self.configs[other] for other in self.axes if other in (WORK, *LAYOUT) and other != key]
        same = [self.counted.index.get_level_values("workload"), *others]
        differ = lambda counts: any(own.differs(of) for own, of in itertools.pairwise(counts))
        return bool(self.counted.groupby(same, dropna=False).agg(differ).any(axis=None))

    @property
    def of_fewer_workloads(self) -> list[str]:
        """Variants whose means are not of all workloads that others have a speed-up for, and do not compare with theirs."""
        known = self.speedups().notna()
        return [variant for variant in self.variants if 0 < known[variant].sum() < known.any(axis=1).sum()]

    @property
    def own_baselines(self) -> bool:
        """Every run is its own baseline, as those of a single swept variant, and every speed-up 1."""
        return bool((self.runs["variant"] == self.runs["baseline"]).all())

    @property
    def seconds(self) -> "pd.Series[float]":
        """[row of `runs`] simulated time."""
        return self.runs["cycles"] / (1e6 * self.clocks.to_numpy())

    @property
    def axes(self) -> list[str]:
        """The keys that differ between variants; each is a column of `runs`."""
        return axes.varied(self.configs, self.given)

    def along(self, key: str, metric: str = "speedup") -> pd.DataFrame:
        """[workload, others x value of the key] one figure of every run: `others` is what else its variant sets."""
        self._check(key, metric)
        return axes.along(self.runs, self.axes, key, metric)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of keys of numbers that variants vary independently."""
        return axes.pairs(self.configs, self.axes)

    def grid(self, row: str, column: str, metric: str = "speedup") -> pd.DataFrame:
        """[others, value of `row` x value of `column`] harmonic mean of one figure over the workloads that have it at every
        point, with all `others`, which is what else the variants set; if there is none, over those of each `others`."""
        self._check(row, metric)
        self._check(column, metric)
        if row == column:
            raise ValueError(f"a grid has two keys, and {row} is given for both: along() has one")
        return axes.mean_grid(axes.alike_points(axes.points(self.runs, self.axes, row, column, metric)))

    def _check(self, key: str, metric: str) -> None:
        if key not in self.axes and key not in self.configs:
            raise KeyError(unknown(key, self.configs, "configuration key"))
        if key not in self.axes:
            differ = f"these differ: {', '.join(self.axes)}" if self.axes else "no key differs between them"
            raise KeyError(f"{key} is the same in all variants; {differ}")
        if metric not in self.runs:
            raise KeyError(unknown(metric, self.runs, "metric"))

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" if self.missing else ""
        varied = f", by {', '.join(self.axes)}" if self.axes else ""
        return f"<Sweep {self.path.name}: {len(self.workloads)} workloads x {len(self.variants)} variants{varied}{missing}>"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, its speed-ups, and what is missing."""
        from atoll_analysis.markup import glance

        table = self.speedups().T  # variants are many, and their names long
        return glance(repr(self), content=table.to_html(float_format="{:.2f}".format, na_rep="–"), gaps=self.missing.items())

    def speedups(self) -> pd.DataFrame:
        """[workload x variant] time of the baseline over own time, with one core clock that of cycles; NaN where a run is
        missing, or of other work than its baseline."""
        table = self.runs.pivot(index="workload", columns="variant", values="speedup")
        return table.reindex(index=list(self.workloads), columns=list(self.variants))

    def means(self) -> pd.DataFrame:
        """[group, mean x variant] "harmonic" and "ipc_first" means of the speed-ups by group and over ALL; a workload
        without a result is left out of its variant's column."""
        rows = {}
        groups = list(dict.fromkeys(g for g in self.runs["group"] if g))
        for group in [*groups, "ALL"]:
            for variant in self.variants:
                here = (self.runs["variant"] == variant) & self.runs["speedup"].notna()
                here &= (self.runs["group"] == group) | (group == "ALL")
                runs, mhz = self.runs[here], self.clocks[here.to_numpy()].to_numpy()  # rates, as workloads' clocks may differ
                rows[group, "harmonic", variant] = means.harmonic(list(runs["speedup"]))
                rows[group, "ipc_first", variant] = means.ipc_first(list(runs["ipc"] * mhz), list(runs["baseline_ipc"] * mhz))
        table = pd.Series(rows).unstack()[list(self.variants)]
        table.index.names = ["group", "mean"]
        order = list(dict.fromkeys((group, mean) for group, mean, _ in rows))
        return table.reindex(order)


def _experiment(folder: Path) -> dict[str, Any]:
    path = folder / "experiment.json"
    if not path.exists():
        return {}
    check_input(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {"workloads": [w["name"] for w in found["workloads"]], "variants": [v["name"] for v in found["variants"]],
                "raw": found}
    except (ValueError, KeyError, TypeError) as error:
        raise BadResult(path, f"is not an experiment as `atoll sweep` writes it ({error})") from error


def _points(folder: Path, experiment: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Names of workloads and variants: of the experiment, or else from the names WORKLOAD__VARIANT.h5."""
    if experiment:
        return list(experiment["workloads"]), list(experiment["variants"])
    names = [p.stem.split("__", 1) for p in sorted(folder.glob("*__*.h5"))]
    return list(dict.fromkeys(n[0] for n in names)), list(dict.fromkeys(n[1] for n in names))


def load_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """Reads the results below a folder of `atoll sweep`. A point that is missing, incomplete, unreadable or a result of
    something else than experiment.json says is listed in `missing`; BadResult if none is left."""
    path = Path(folder)
    if not path.is_dir():
        raise BadResult(path, "is no folder" if path.exists() else "does not exist")
    experiment = _experiment(path)
    workloads, variants = _points(path, experiment)
    raw = experiment.get("raw", {})
    groups = {w["name"]: w.get("group", "") for w in raw.get("workloads", [])}
    first = raw.get("baseline") or (variants[0] if variants else "")
    baselines = {v["name"]: v.get("baseline") or first for v in raw.get("variants", [])}
    heads: dict[tuple[str, str], Head] = {}
    missing: dict[str, str] = {}
    for workload in workloads:
        for variant in variants:
            name = f"{workload}__{variant}"
            file = path / f"{name}.h5"
            if not file.exists():
                missing[name] = "no result"
                continue
            try:
                head = load_head(file)
            except BadResult as error:
                missing[name] = error.problem
                continue
            if head.complete:
                heads[workload, variant] = head
            else:
                missing[name] = "stopped early"
    for point, why in foreign(heads, raw, baselines).items():
        missing["__".join(point)] = why
        del heads[point]
    missing = {name: missing[name] for w in workloads for v in variants if (name := f"{w}__{v}") in missing}
    if not heads:
        why = next(iter(missing.values()), "it has no files WORKLOAD__VARIANT.h5")
        raise BadResult(path, f"holds no result that can be compared ({why})")
    runs = pd.DataFrame([_row(heads, w, v, groups.get(w, ""), baselines.get(v, first)) for w, v in heads])
    index = pd.MultiIndex.from_tuples(list(heads), names=["workload", "variant"])
    configs = pd.DataFrame([head.config.to_dict() for head in heads.values()], index=index, dtype=object)
    given = frozenset(key for head in heads.values() for key in overrides(str(head.provenance.get("command", ""))))
    runs = with_units(runs.join(configs[axes.varied(configs, given)].reset_index(drop=True)), UNITS)
    spent = pd.DataFrame([{} if head.spent is None else head.spent.to_dict() for head in heads.values()], index=index)
    decides = pd.Series([head.decides for head in heads.values()], index=index)
    done = pd.DataFrame([counted(head) for head in heads.values()], index=index)
    lacking = {w: str(head.provenance["incomplete"]) for (w, _), head in heads.items() if head.provenance.get("incomplete")}
    return Sweep(path, raw, tuple(workloads), tuple(variants), runs, configs, spent, decides, done, missing, lacking,
                 warned({f"{w}__{v}": head for (w, v), head in heads.items()}),
                 (*changed_workloads(path, heads, raw), *changed_policies(heads.values())),
                 Counter(head.written_by for head in heads.values()), given)


def _row(heads: Mapping[tuple[str, str], Head], workload: str, variant: str, group: str, baseline: str) -> dict[str, Any]:
    own, of = metrics(heads[workload, variant]), heads.get((workload, baseline))
    if of is not None and unlike(of, heads[workload, variant]):
        of = None
    base = metrics(of) if of is not None else None
    clock = heads[workload, variant].clock_ghz / of.clock_ghz if of is not None else 1.0  # times are compared, not cycles
    return {"workload": workload, "group": group, "variant": variant, "baseline": baseline,
            "speedup": base["cycles"] / own["cycles"] * clock if base is not None and own["cycles"] else math.nan,
            "baseline_ipc": base["ipc"] / clock if base is not None else math.nan,
            **own.to_dict(), "sampled": heads[workload, variant].sampling is not None,
            "digest": heads[workload, variant].digest, "file": heads[workload, variant].path.name}
