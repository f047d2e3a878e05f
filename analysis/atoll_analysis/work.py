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
class Done:
    """What a run did of its workload."""

    settings: Mapping[str, Any]  #: the scale, and what a profile is laid out for
    counted: tuple[float, ...]   #: of all chips, see COUNTED; NaN of a sampled run, which counts a part

    def unlike(self, other: "Done") -> str:
        """The key by which they did other work; empty if they did the same, as `atoll compare` has it."""
        if self.settings[WORK] != other.settings[WORK]:
            return WORK
        if not any(abs(own - of) > 0 for own, of in zip(self.counted, other.counted)):  # of NaN it is not
            return ""
        return next((key for key in LAYOUT if self.settings[key] != other.settings[key]), "")


def done(config: Mapping[str, Any], counted: Iterable[float]) -> Done:
    return Done({WORK: config.get(WORK, 1), **{key: config.get(key) for key in LAYOUT}}, tuple(counted))


def counted(run: "Head") -> dict[str, float]:
    """Of all chips: what differs between layouts of a profile. NaN of a sampled run, which counts a part."""
    return {name: float(run.totals[name].sum()) if name in run.totals and run.sampling is None else math.nan for name in COUNTED}


def unlike(one: "Head", other: "Head") -> str:
    """The key by which two runs of one workload did other work; empty if they did the same."""
    return done(one.config.to_dict(), counted(one).values()).unlike(done(other.config.to_dict(), counted(other).values()))


def workload(provenance: Mapping[str, Any], names: Iterable[object], ctas: Iterable[object]) -> tuple[object, ...]:
    """The same for runs of the same kernels of the same part of the same files."""
    return provenance.get("workload_digest"), provenance.get("selection"), list(names), list(ctas)
