"""What a chip could move at most, from the configuration."""

import math

from atoll_analysis.result import Head


def link_bytes_per_cycle(head: Head) -> float:
    """Bytes per core cycle that one chip can send to others: two edges of a ring (one if there are two chips), one per
    other chip if fully connected, one port behind a switch. NaN without links."""
    chips, topology = head.chips, head.config.get("link.topology")
    if chips < 2:
        return math.nan
    ports = {"ring": 1 if chips == 2 else 2, "full": chips - 1, "switch": 1}.get(str(topology))
    return math.nan if ports is None else ports * float(head.config["link.bandwidth_gbps"]) / head.clock_ghz


def llc_bytes(head: Head) -> float:
    """Bytes of LLC of the whole machine, at the run's scale."""
    return head.chips * float(head.config["llc.size_kib"]) * 1024 / float(head.config.get("scale", 1))


def dram_channels(head: Head) -> int:
    """Channels of one chip."""
    return int(head.config["dram.channels"])
