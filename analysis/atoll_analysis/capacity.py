"""What a chip could hold and move at most."""

import math

from atoll_analysis.result import Head


def link_bytes_per_cycle(head: Head) -> float:
    """Bytes per core cycle that one chip can send to others. NaN without links, or if the file does not say."""
    return float(head.provenance.get("link_bytes_per_cycle", math.nan))


def llc_bytes(head: Head) -> float:
    """Bytes of LLC of the whole machine, at the run's scale."""
    return head.chips * float(head.config["llc.size_kib"]) * 1024 / float(head.config.get("scale", 1))


def dram_channels(head: Head) -> int:
    """Channels of one chip."""
    return int(head.config["dram.channels"])
