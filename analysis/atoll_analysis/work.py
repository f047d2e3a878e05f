"""Whether two runs did the same work: only then can their cycles and energies be compared."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from atoll_analysis.config import WORK

if TYPE_CHECKING:
    from atoll_analysis.result import Head  # which reads prices of energy, and with them the work that they are of

#: What a profile is laid out for. A recorded program accesses the same with any.
LAYOUT = ("chips", "partition.compute_chips", "partition.page_kib")
#: What a program does on any machine, whatever its caches hold: not lines, which are of 64 or 128 bytes.
COUNTED = ("warp.instructions", "l1.sector_accesses", "l1.store_sectors")


@dataclass(frozen=True)
class Count:
    """Of a whole workload."""

    value: float         #: NaN: not known
    within: float = 0.0  #: half of its interval, where it is extrapolated

    def differs(self, other: "Count") -> bool:
        """Of extrapolated ones only what lies twice as far apart as the intervals reach, as `atoll compare` has it."""
        return abs(self.value - other.value) > 2 * (self.within + other.within) + 0.5  # of NaN it is not


@dataclass(frozen=True)
class Done:
    """What a run did of its workload."""

    settings: Mapping[str, Any]  #: the scale, and what a profile is laid out for
    counted: tuple[Count, ...]   #: of all chips, see COUNTED

    def unlike(self, other: "Done") -> str:
        """The key by which they did other work; empty if they did the same, as `atoll compare` has it."""
        if self.settings[WORK] != other.settings[WORK]:
            return WORK
        if not any(own.differs(of) for own, of in zip(self.counted, other.counted)):
            return ""
        return next((key for key in LAYOUT if self.settings[key] != other.settings[key]), "")


def done(config: Mapping[str, Any], counted: Iterable[Count]) -> Done:
    return Done({WORK: config.get(WORK, 1), **{key: config.get(key) for key in LAYOUT}}, tuple(counted))


def counted(run: "Head") -> dict[str, Count]:
    """Of all chips: what differs between layouts of a profile."""
    if run.sampling is None:
        return {name: Count(float(run.totals[name].sum()) if name in run.totals else math.nan) for name in COUNTED}
    figures = run.sampling.figures
    return {name: Count(*figures.loc[name, ["value", "half_width"]]) if name in figures.index else Count(math.nan)
            for name in COUNTED}


def unlike(one: "Head", other: "Head") -> str:
    """The key by which two runs of one workload did other work; empty if they did the same."""
    return done(one.config.to_dict(), counted(one).values()).unlike(done(other.config.to_dict(), counted(other).values()))


def workload(provenance: Mapping[str, Any], names: Iterable[object], ctas: Iterable[object]) -> tuple[object, ...]:
    """The same for runs of the same kernels of the same part of the same files."""
    return provenance.get("workload_digest"), provenance.get("selection"), list(names), list(ctas)
