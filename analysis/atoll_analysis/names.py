"""Names of kernels, workloads and what is counted as people know them, and longer texts in short."""

import re

_PARTS = {"no_warp": "no warps", "l1": "L1", "cluster": "other L1s", "mshr": "MSHRs", "page_home": "page homes",
          "request": "request crossbar", "l2": "L2 slices", "slice": "LLC slices", "response": "response crossbar",
          "link_out": "links outwards", "link_in": "links inwards", "dram": "DRAM", "balance": "other chips"}
_ORIGINS = {"local_llc": "local LLC", "remote_llc": "remote LLC", "local_memory": "local memory",
            "remote_memory": "remote memory", "neighbour_l1": "neighbouring L1", "l2": "L2"}


def part(name: object) -> str:
    """Of what cycles are spent on, such as "links inwards" of "link_in". One that is not known here is nearly its own."""
    return _PARTS.get(str(name), str(name).replace("_", " "))


def origin(name: object) -> str:
    """Of who answers a load."""
    return _ORIGINS[str(name)]


def kernel(name: str) -> str:
    """The function's own name of one mangled by C++ (Itanium ABI): "_Z8max_poolPfPKf5Shape" is "max_pool", and
    "_ZN3lib4gemmIfEEvPT_" is "lib::gemm". Anything else stays as it is."""
    nested = name.startswith("_ZN")
    at = 3 if nested else 2
    if not name.startswith("_Z"):
        return name
    parts: list[str] = []
    while found := re.match(r"\d+", name[at:]):
        begin = at + found.end()
        at = begin + int(found.group())
        parts.append(name[begin:at])
        if at > len(name):
            return name
        if not nested:
            break
    return "::".join(parts) or name


def first_line(text: str) -> str:
    """And how many lines follow it."""
    first, *others = text.splitlines()
    return f"{first}; and {len(others)} more" if others else first


def workload(path: str) -> str:
    """A file's name without folder and suffix."""
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".h5").removesuffix(".json")
