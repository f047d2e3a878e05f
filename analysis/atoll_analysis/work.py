"""Whether two runs of one workload did the same work: only then can their cycles be compared."""

import math

from atoll_analysis.config import WORK
from atoll_analysis.result import Head

#: What a profile is laid out for. A recorded program accesses the same with any.
LAYOUT = ("chips", "partition.compute_chips", "partition.page_kib")
_ACCESSES = "l1.sector_accesses"


def accesses(run: Head) -> float:
    """Of all L1s, in sectors: what differs between layouts of a profile. NaN of a sampled run, which counts a part."""
    return float(run.totals[_ACCESSES].sum()) if _ACCESSES in run.totals and run.sampling is None else math.nan


def unlike(one: Head, other: Head) -> str:
    """The key by which they did other work; empty if they did the same, as `atoll compare` has it."""
    if one.config.get(WORK, 1) != other.config.get(WORK, 1):
        return WORK
    if not abs(accesses(one) - accesses(other)) > 0:  # of NaN it is not
        return ""
    return next((key for key in LAYOUT if one.config.get(key) != other.config.get(key)), "")
