"""Whether two runs of one workload did the same work: only then can their cycles be compared."""

import math

from atoll_analysis.config import WORK
from atoll_analysis.result import Head

PAGES = "partition.page_kib"
_ACCESSES = "l1.sector_accesses"


def accesses(run: Head) -> float:
    """Of all L1s, in sectors: what differs between profiles of other pages. NaN of a sampled run, which counts a part."""
    return float(run.totals[_ACCESSES].sum()) if _ACCESSES in run.totals and run.sampling is None else math.nan


def unlike(one: Head, other: Head) -> str:
    """The key by which they did other work; empty if they did the same, as `atoll compare` has it. A profile's groups of pages
    are cut by the size of pages: other pages, other accesses. A recorded program's are the same."""
    if one.config.get(WORK, 1) != other.config.get(WORK, 1):
        return WORK
    other_pages = one.config.get(PAGES) != other.config.get(PAGES)
    return PAGES if other_pages and abs(accesses(one) - accesses(other)) > 0 else ""  # of NaN it is not
