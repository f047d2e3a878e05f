"""How much of its workload a run is of, in the words of headings."""

from atoll_analysis import config
from atoll_analysis.config import WORK
from atoll_analysis.result import Head
from atoll_analysis.units import grouped, percent


def facts(head: Head) -> list[tuple[str, str]]:
    """Names and values; nothing of a run of all of its workload."""
    scale, part = head.config.get(WORK, 1), head.provenance.get("selection")
    return [*([("part of it", str(part))] if part else []),
            *([("scale", f"LLC and footprints divided by {config.text(scale)}")] if scale != 1 else [])]


def marks(head: Head) -> list[str]:
    """The same in fewer words, and whether the trace lacks something."""
    scale, part = head.config.get(WORK, 1), head.provenance.get("selection")
    return [*([f"scale {config.text(scale)}"] if scale != 1 else []), *([f"only {part}"] if part else []),
            *(["workload not whole"] if head.provenance.get("incomplete") else [])]


def cycles(head: Head) -> str:
    """Of the whole workload, which a sampled run extrapolates, and what was simulated of it."""
    more = [] if head.complete else ["stopped early"]
    if head.sampling is None:
        said = f"{grouped(head.cycles)} cycles"
    else:
        value, half = head.sampling.figures.loc["cycles", ["value", "half_width"]]
        said = f"~{grouped(value)} cycles ± {percent(half, value)}"
        more.insert(0, f"{head.sampling}, {grouped(head.cycles)} cycles shown")
    return said + (f" ({', '.join(more)})" if more else "")
