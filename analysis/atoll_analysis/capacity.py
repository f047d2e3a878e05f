"""What a chip could hold and move at most."""

import math

import numpy as np
import numpy.typing as npt

from atoll_analysis.result import Head


def link_bytes_per_cycle(head: Head) -> float:
    """Bytes per core cycle that one chip can send to others, mean of the chips. NaN without links, or if the file does not
    say."""
    return float(head.provenance.get("link_bytes_per_cycle", math.nan))


def links_of_chips(head: Head) -> npt.NDArray[np.float64]:
    """The same of each chip; in older files, which have the mean, that of all."""
    return np.broadcast_to(np.asarray(head.provenance.get("links_of_chips", link_bytes_per_cycle(head)), np.float64), head.chips)


def chips_with_sms(head: Head) -> range:
    return range(head.compute_chips)


def chips_with_memory(head: Head) -> range:
    return range(head.chips - head.memory_chips, head.chips)


#: For files that do not say: the protocols that there were under which slices hold lines of their own chip's memory alone,
#: and those whose homes look up others' requests.
_AT_HOMES = ("none_remote", "l1_only")
_WITH_DIRECTORY = ("directory", "hmg", "rec", "rec_adaptive", "ideal")


def chips_with_llc(head: Head) -> list[int]:
    """Chips whose LLC caches anything: those that ask, or those that own memory, or both."""
    if "llc_chips" in head.provenance:
        return [int(chip) for chip in head.provenance["llc_chips"]]
    protocol = head.config.get("coherence.protocol", "software")
    if head.config.get("llc.organisation") != "sm_side" or protocol in _AT_HOMES:
        return list(chips_with_memory(head))
    return list(range(head.chips) if protocol in _WITH_DIRECTORY else chips_with_sms(head))


def llc_chips(head: Head) -> int:
    return len(chips_with_llc(head))


def llc_bytes(head: Head) -> float:
    """Bytes of LLC of the whole machine, at the run's scale."""
    return llc_chips(head) * float(head.config["llc.size_kib"]) * 1024 / float(head.config.get("scale", 1))


def dram_channels(head: Head) -> int:
    """Channels of one chip."""
    return int(head.config["dram.channels"])


def per_cycle(head: Head, gbps: float) -> float:
    """Bytes per core cycle of so many GB/s."""
    return gbps / head.clock_ghz


def llc_bytes_per_cycle(head: Head) -> float:
    """Bytes per core cycle that the slices of one chip can look up."""
    return int(head.config["llc.slices"]) * per_cycle(head, float(head.config["llc.slice_gbps"]))


def dram_bytes_per_cycle(head: Head) -> float:
    """Bytes per core cycle on the data buses of one chip's memory: a burst every `ccd` clocks of each channel."""
    timing = {name: float(head.config[f"dram.timing.{name}"]) for name in ("burst_bytes", "ccd", "clock_mhz")}
    return dram_channels(head) * per_cycle(head, timing["burst_bytes"] / timing["ccd"] * timing["clock_mhz"] / 1000)


def instructions_per_cycle(head: Head) -> float:
    """Warp instructions per core cycle that one chip can issue."""
    return float(head.config["sm.count"]) * float(head.config["sm.schedulers"])
