"""Runs of one workload side by side: what separates their times, and what the policies that choose saw."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from atoll_analysis import clocks, config, names, work
from atoll_analysis.alike import beaten_by
from atoll_analysis.decisions import options, reigns
from atoll_analysis.errors import BadResult
from atoll_analysis.policies import policy_of
from atoll_analysis.result import Result, mean_stack
from atoll_analysis.warned import warned

_IDENTITY = ("llc.organisation", "llc.replication", "coherence.protocol", "cluster.sharing")


@dataclass(frozen=True)
class Comparison:
    """The first run is the baseline. Where core clocks differ, `times`, `cycles` and `kernels` are in cycles of its clock, of
    which all runs have equally many a second."""

    runs: dict[str, Result]     #: by label
    times: "pd.Series[float]"   #: [run] cycles
    cycles: pd.DataFrame        #: [part, run] cycles of the run by what they were spent on, mean of the chips
    kernels: pd.DataFrame       #: [kernel, run] cycles

    @property
    def baseline(self) -> str:
        return next(iter(self.runs))

    @property
    def speedups(self) -> "pd.Series[float]":
        """[run] the baseline's time over its own."""
        return self.times[self.baseline] / self.times

    @property
    def clock_note(self) -> str:
        """Sentences where runs have different core clocks; else nothing."""
        note = clocks.note(1000 * run.clock_ghz for run in self.runs.values())
        return note and (f"{note} Cycles of parts and kernels are counted at {self.baseline}'s clock, rates and latencies are in "
                         "each run's own cycles.")

    @property
    def written_by(self) -> dict[str, str]:
        """[run] version and commit of the Atoll that wrote it."""
        return {name: run.written_by for name, run in self.runs.items()}

    @property
    def version_note(self) -> str:
        """A sentence where runs were written by different versions; else nothing."""
        written = self.written_by
        if len(set(written.values())) < 2:
            return ""
        return (f"The runs are of different versions of Atoll, which alone can make them differ: "
                f"{', '.join(f'{name} of {version}' for name, version in written.items())}.")

    @property
    def lacking(self) -> list[str]:
        """What the workload's trace lacks, as the runs were told."""
        told = dict.fromkeys(str(run.provenance.get("incomplete", "")) for run in self.runs.values())
        return [names.first_line(what) for what in told if what]

    @property
    def warned(self) -> dict[str, tuple[str, ...]]:
        """What runs warned of, and which."""
        return warned(self.runs)

    def differences(self) -> pd.DataFrame:
        """[part, run] cycles more than the baseline's, what separates the run times most first. They add up to the
        difference of the runs' times."""
        more = self.cycles.sub(self.cycles[self.baseline], axis=0).drop(columns=self.baseline)
        return more.loc[more.abs().max(axis=1).sort_values(ascending=False).index]


def label(results: Sequence[Result]) -> list[str]:
    """Short names that tell the results apart: what distinguishes their organisations, or their files' names."""
    values = {key: [str(r.config.get(key, "")) for r in results] for key in _IDENTITY}
    telling = [key for key, of in values.items() if len(set(of)) > 1]
    found = [" ".join(values[key][at] for key in telling) for at in range(len(results))]
    if len(set(found)) < len(found):
        found = [r.path.stem for r in results]
    if len(set(found)) < len(found):
        found = [str(r.path) for r in results]
    return found


def compare(results: Sequence[Result]) -> Comparison:
    """Raises BadResult for a result that did other work than the first, is not complete, or the same file."""
    if not results:
        raise ValueError("compare() takes at least one result")
    if not all(isinstance(result, Result) for result in results):
        raise TypeError("compare() takes results as load() and run() return them, not paths")
    first = results[0]
    labels = label(results)
    for at, result in enumerate(results):
        if labels[at] in labels[:at]:
            raise BadResult(result.path, "is given twice")
        if not result.complete:
            raise BadResult(result.path, "was stopped early, by --max-cycles or a signal: its cycles cannot be compared")
        if result.sampling is not None:
            raise BadResult(result.path, f"is {result.sampling}, and other runs may have simulated others: `atoll compare` "
                            "compares what is extrapolated")
        if (key := work.unlike(result, first)) and _file(result) == _file(first):
            own, other = (config.text(of.config.get(key, 1)) for of in (result, first))
            raise BadResult(result.path, f"has {key} {own}, and {first.path} {other}: the work differs, and cycles of it cannot be "
                            "compared")
        if _workload(result) != _workload(first):
            what = "part of the workload" if _file(result) == _file(first) else "workload"
            raise BadResult(result.path, f"is of another {what} than {first.path}: only runs of one can be compared")
    runs = dict(zip(labels, results))
    clock = {name: first.clock_ghz / r.clock_ghz for name, r in runs.items()}  # the baseline's cycles in one of the run's
    return Comparison(runs, pd.Series({name: r.cycles * clock[name] for name, r in runs.items()}),
                      pd.DataFrame({name: _parts(r) * clock[name] for name, r in runs.items()}).fillna(0.0),
                      pd.DataFrame({name: r.kernels["cycles"].astype(float) * clock[name] for name, r in runs.items()}))


def _file(result: Result) -> object:
    """The same for workloads of the same bytes."""
    return result.provenance.get("workload_digest")


def _workload(result: Result) -> tuple[object, ...]:
    return work.workload(result.provenance, result.kernels["name"], result.kernels["ctas"])


def _parts(result: Result) -> "pd.Series[float]":
    if result.stack is None:
        raise BadResult(result.path, "is of an Atoll that did not record where the cycles went: run it again")
    return mean_stack(result.stack).rename(names.part)


def choices(result: Result) -> pd.DataFrame:
    """[decision] kernel, cycle, choice, cycles that it ruled, the predicted bandwidth of every option in GB/s, and, where a
    model compares two options, the lead of the one over the other and the lead that it needs. Those of an organisation."""
    made = result.decisions[policy_of(result.config, result.decisions) == "organisation"]
    table, ruled = made[["kernel", "cycle", "choice"]].copy(), reigns(result).loc[made.index]
    table["ruled"] = (ruled["end"] - ruled["begin"]).clip(lower=0)
    for name, column in options(result).items():
        if made[column].notna().any():  # others are another policy's
            table[name] = made[column]
    if {"sm_side", "memory_side"} <= set(table.columns):
        table["lead"] = table["sm_side"] / table["memory_side"] - 1
        table["needed"] = float(result.config.get("sac.threshold", 0.0))
    return table


def beaten(comparison: Comparison) -> dict[str, tuple[str, float]]:
    """Runs whose policy chooses an organisation and that are slower than one whose organisation is fixed: by whom, and by how much."""
    choosing = [name for name, result in comparison.runs.items() if result.decides]
    found = {name: beaten_by(comparison.times, choosing, name) for name in choosing}
    return {name: by for name, by in found.items() if by}


def keys_that_differ(comparison: Comparison) -> pd.DataFrame:
    """[key, run] the configuration keys whose values are not the same in all runs."""
    return config.differences(pd.DataFrame({name: r.config for name, r in comparison.runs.items()}).T).T
