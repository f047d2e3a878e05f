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
ACCESSES = "l1.sector_accesses"


@dataclass(frozen=True)
class Done:
    """What a run did of its workload."""

    settings: Mapping[str, Any]  #: the scale, and what a profile is laid out for
    accesses: float              #: of all L1s, in sectors; NaN of a sampled run, which counts a part

    def unlike(self, other: "Done") -> str:
        """The key by which they did other work; empty if they did the same, as `atoll compare` has it."""
        if self.settings[WORK] != other.settings[WORK]:
            return WORK
        if not abs(self.accesses - other.accesses) > 0:  # of NaN it is not
            return ""
        return next((key for key in LAYOUT if self.settings[key] != other.settings[key]), "")


def done(config: Mapping[str, Any], accesses: float) -> Done:
    return Done({WORK: config.get(WORK, 1), **{key: config.get(key) for key in LAYOUT}}, accesses)


def accesses(run: "Head") -> float:
    """Of all L1s, in sectors: what differs between layouts of a profile. NaN of a sampled run, which counts a part."""
    return float(run.totals[ACCESSES].sum()) if ACCESSES in run.totals and run.sampling is None else math.nan


def unlike(one: "Head", other: "Head") -> str:
    """The key by which two runs of one workload did other work; empty if they did the same."""
    return done(one.config.to_dict(), accesses(one)).unlike(done(other.config.to_dict(), accesses(other)))


def workload(provenance: Mapping[str, Any], names: Iterable[object], ctas: Iterable[object]) -> tuple[object, ...]:
    """The same for runs of the same kernels of the same part of the same files."""
    return provenance.get("workload_digest"), provenance.get("selection"), list(names), list(ctas)
