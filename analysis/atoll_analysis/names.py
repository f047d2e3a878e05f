"""Names of kernels and workloads as people know them, and longer texts in short."""

import re


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
