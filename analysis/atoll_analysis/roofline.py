"""How near a run is to what its LLCs, links and memories can move (the roofline model, Williams et al., CACM 2009)."""

import pandas as pd

from atoll_analysis import capacity
from atoll_analysis.metrics import ratio, sums
from atoll_analysis.result import Head

SECTOR = 32  # bytes


def bounds(head: Head) -> pd.DataFrame:
    """[resource] of the whole system: `used` and `most` in bytes per core cycle, their quotient `share`, `intensity` in warp
    instructions per byte, and `bound`, the warp instructions per cycle at which the resource would be full. A resource that
    moved nothing, or whose capacity the file does not say, has no row. Links count as if each port of a chip had moved as
    much as its busiest, as in `atoll explain`: what is full first is the bound. Older files have the mean of the ports."""
    of = sums(head)
    # A slice looks up whole lines unless it is sectored, as `atoll explain` counts it.
    looked_up = of["llc.sector_accesses"] * SECTOR if head.config.get("llc.sectored") else \
        of["llc.accesses"] * float(head.config["line_bytes"])
    moved = {"LLC": (max(looked_up, of.get("llc.lookup_bytes", 0.0)), capacity.llc_bytes_per_cycle(head), capacity.llc_chips(head)),
             "links": (max(of["link.bytes"], of.get("link.busiest_bytes", 0.0)), capacity.link_bytes_per_cycle(head), head.chips),
             "DRAM": (of["dram.read_bytes"] + of["dram.write_bytes"], capacity.dram_bytes_per_cycle(head), head.memory_chips)}
    rows = {}
    for name, (total, of_chip, chips) in moved.items():
        most = of_chip * chips
        if total > 0 and most > 0:
            used, intensity = ratio(total, head.cycles), ratio(of["warp.instructions"], total)
            rows[name] = {"used": used, "most": most, "share": used / most, "intensity": intensity,
                          "bound": intensity * most}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["used", "most", "share", "intensity", "bound"])


def instructions_per_cycle(head: Head) -> tuple[float, float]:
    """Warp instructions per cycle of the whole system: issued, and at most."""
    return ratio(sums(head)["warp.instructions"], head.cycles), capacity.instructions_per_cycle(head) * head.compute_chips
