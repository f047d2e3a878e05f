"""What is fastest where in a sweep, and what makes the others slower."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from atoll_analysis import axes, names
from atoll_analysis.alike import ALIKE, beaten_by
from atoll_analysis.config import text
from atoll_analysis.sweeps import Sweep


@dataclass(frozen=True)
class Ranking:
    """The runs of one workload that have the same numbers in the keys that the sweep varies."""

    workload: str
    at: Mapping[str, object]       #: value by varied key of numbers
    cycles: "pd.Series[float]"     #: [contender] the fastest first; a contender is what else its variant sets
    times: "pd.Series[float]"      #: [contender] ascending: cycles, or seconds in a sweep of different core clocks
    spent: pd.DataFrame            #: [contender, part] of `times` by what it was spent on; parts that were not recorded: none,
    #                                 and nothing of sampled runs
    chooses: frozenset[str]        #: contenders whose policy chose an organisation while it ran
    sampled: bool = False          #: times are extrapolated from the launches that were simulated, in at least one run

    @property
    def fastest(self) -> str:
        return str(self.times.index[0])

    @property
    def winners(self) -> list[str]:
        """The fastest, and who is as fast."""
        return [str(c) for c, behind in self.behind().items() if behind <= ALIKE]

    def behind(self) -> "pd.Series[float]":
        """[contender] how much longer it takes than the fastest."""
        return self.times / self.times.iloc[0] - 1

    def causes(self, contender: str, against: str | None = None) -> "pd.Series[float]":
        """[part] what the contender spends more time on than the fastest, the most first."""
        if self.spent.empty:
            return pd.Series(dtype=float)
        more = self.spent.loc[contender] - self.spent.loc[against or self.fastest]
        return more[more > 0].sort_values(ascending=False)


def _contenders(sweep: Sweep) -> "tuple[list[str], pd.Series[str]]":
    """The varied keys of numbers at whose values variants are compared, and [run] what else its variant sets. A number that
    belongs to single variants, as the parameter of a mechanism does, is no such key. Where all keys are numbers, they are
    compared, but for those with which the work changes."""
    keys = sweep.axes
    numbers = [key for key in keys if axes.numeric(sweep.runs[key])]
    swept = {*sweep.work_keys, *(str(s.get("key")) for s in sweep.experiment.get("sweeps", ()))}
    words = axes.others(sweep.runs, keys, *numbers)
    places = [key for key in numbers if key in swept or _in_common(sweep.runs[key], words)]
    if len(places) == len(keys):
        places = [key for key in places if key in sweep.work_keys]
    if len(numbers) == len(keys):
        return places, axes.others(sweep.runs, keys, *places)
    for key in (key for key in numbers if key not in places):  # what most have need not be said
        own = sweep.runs[key]
        words += [f" {key}={text(value)}" if value != own.mode()[0] else "" for value in own]
    return places, words


def _in_common(values: "pd.Series[object]", contenders: "pd.Series[str]") -> bool:
    """Two contenders have several of the values each."""
    of = [set(own) for _, own in values.groupby(contenders)]
    return any(len(one & other) > 1 for one, other in itertools.combinations(of, 2))


def alone(sweep: Sweep, found: list[Ranking]) -> str:
    """A sentence about those that are in no ranking, as no other run has their numbers; else nothing."""
    ranked = {str(contender) for ranking in found for contender in ranking.cycles.index}
    places, contenders = _contenders(sweep)
    runs = sweep.runs[~contenders.isin(ranked).to_numpy()] if found else sweep.runs[:0]
    shown = [f"{variant} ({at})" for variant, at in zip(runs["variant"], axes.settings(runs, places))] if places else []
    return f"Not ranked, as nothing else has their numbers: {', '.join(dict.fromkeys(shown))}." if shown else ""


def rankings(sweep: Sweep) -> list[Ranking]:
    """In the order of the experiment; of several runs that are alike in all keys the first, and none where only one is left
    to compare."""
    places, contenders = _contenders(sweep)
    found = []
    # Cycles stay cycles where they are times as well: they are what people look up in the results.
    second = 1e6 * sweep.clocks if sweep.clock_note else pd.Series(1.0, index=sweep.clocks.index)
    runs = sweep.runs.assign(contender=contenders, time=sweep.runs["cycles"] / second.to_numpy())
    runs = runs.drop_duplicates(["workload", *places, "contender"])
    for key, group in runs.groupby(["workload", *places] if places else "workload", sort=False, dropna=False):
        workload, *at = key if places else (key,)
        if len(group) < 2:
            continue
        by_name = group.set_index("contender").sort_values("time", kind="stable")
        variants = {name: (workload, variant) for name, variant in by_name["variant"].items()}
        spent = pd.DataFrame({name: sweep.spent.loc[run] / second[run] for name, run in variants.items()}).T
        spent = spent.dropna(axis=1, how="all").rename(columns=names.part)
        sampled = bool(by_name["sampled"].any())  # stacks are of the launches that were simulated, times of all
        known = spent.size and not spent.isna().any(axis=None) and not sampled
        found.append(Ranking(str(workload), dict(zip(places, at)), by_name["cycles"].astype(float), by_name["time"].astype(float),
                             spent.astype(float) if known else pd.DataFrame(),
                             frozenset(by_name.index[by_name["variant"].map(lambda v: sweep.decides[(workload, v)])]), sampled))
    order = {workload: place for place, workload in enumerate(sweep.workloads)}
    return sorted(found, key=lambda r: (order[r.workload], *[float(str(v)) for v in r.at.values()]))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def because(ranking: Ranking, contender: str, count: int = 2) -> str:
    """`flush +12 %, links outwards +4 %`: of the fastest's time."""
    whole = ranking.times.iloc[0]
    parts = [f"{part} +{_percent(more / whole)}" for part, more in ranking.causes(contender)[:count].items()
             if more / whole >= ALIKE / 2]
    return ", ".join(parts)


def _spans(of: list[Ranking]) -> list[tuple[list[str], list[Ranking]]]:
    """Stretches with the same fastest, which are several if they are as fast all along."""
    found: list[tuple[list[str], list[Ranking]]] = []
    for ranking in of:
        shared = [w for w in found[-1][0] if w in ranking.winners] if found else []
        if shared:
            found[-1] = (shared, [*found[-1][1], ranking])
        else:
            found.append((ranking.winners, [ranking]))
    return found


def _where(span: list[Ranking], whole: bool) -> str:
    if whole or not span[0].at:
        return ""
    at = [next(iter(r.at.values())) for r in span]
    return f" at {text(at[0])}" + (f" to {text(at[-1])}" if len(at) > 1 else "")


def sentences(found: list[Ranking]) -> list[str]:
    """For each workload who is fastest where, and what holds the next one back; and which policies lose to a fixed choice."""
    said = []
    for workload in dict.fromkeys(r.workload for r in found):
        of = [r for r in found if r.workload == workload]
        key = next(iter(of[0].at), "")
        parts = []
        spans = _spans(of) if len(of[0].at) < 2 else []
        for winners, span in spans:
            middle = span[len(span) // 2]
            others = [str(c) for c in middle.cycles.index if str(c) not in winners]
            part = f"{' and '.join(winners)}{_where(span, len(spans) == 1)}"
            if others and (why := because(middle, others[0])):
                part += f" ({others[0]}: {why})"
            parts.append(part)
        if parts:
            said.append(f"{workload}: fastest is " + ", ".join(parts) + (f"; by {key}" if key and len(spans) > 1 else "") + ".")
    losers: dict[str, list[tuple[float, str, Ranking]]] = {}  # loss, against whom, where
    for ranking in found:
        for contender in (str(c) for c in ranking.cycles.index if c in ranking.chooses):
            if by := beaten_by(ranking.times, ranking.chooses, contender):
                losers.setdefault(contender, []).append((by[1], by[0], ranking))
    for contender, lost in losers.items():
        loss, against, worst = max(lost, key=lambda of: of[0])
        place = "".join(f", {k} = {text(v)}" for k, v in worst.at.items())
        parts = [f"{part} +{_percent(more / worst.times[against])}" for part, more in worst.causes(contender, against)[:2].items()]
        said.append(f"warning: {contender} chooses, and is slower than a fixed choice in {len(lost)} of {len(found)} places; most, "
                    f"{_percent(loss)}, with {worst.workload}{place}" + (f": {', '.join(parts)}" if parts else "") + ".")
    if any(r.sampled for r in found):
        said.append("No reasons are given for sampled runs: their cycles are extrapolated to the whole workload, and what cycles "
                    "were spent on is known of the launches that were simulated alone.")
    return said
