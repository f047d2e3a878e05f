"""Numbers for people: the same forms as `atoll info` prints."""

import math

_MISSING = "–"
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


def grouped(value: float | int | None) -> str:
    """1,234,567"""
    return _MISSING if value is None or value != value else f"{round(value):,}"


def counted(number: int, noun: str) -> str:
    """ "1 kernel", "1,234 kernels" """
    return f"{grouped(number)} {noun}{'' if number == 1 else 's'}"


def si(value: float, unit: str = "") -> str:
    """Three digits and a prefix: "58.7 k", "1.40 MB" with unit "B"."""
    if value != value:
        return _MISSING
    at, sign, value = 0, "-" if value < 0 else "", abs(value)
    while value >= 999.5 and at + 1 < len(_PREFIXES):
        value, at = value / 1000, at + 1
    digits = 0 if at == 0 and value == int(value) else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{sign}{value:.{digits}f} {_PREFIXES[at]}{unit}".rstrip()


def percent(part: float, whole: float = 1.0) -> str:
    """ "12.3 %", of `whole`."""
    share = round(100 * part / whole, 1) + 0.0 if whole else math.nan  # a negative zero becomes 0
    return _MISSING if share != share else f"{share:.1f} %".replace("-", "−")


def fixed(value: float, digits: int = 2) -> str:
    return _MISSING if value is None or value != value else f"{value:,.{digits}f}"


def joules(value: float) -> str:
    """Three digits: "82.4 mJ"."""
    for factor, unit in ((1.0, "J"), (1e3, "mJ"), (1e6, "µJ"), (1e9, "nJ")):
        if value * factor >= 0.9995 or unit == "nJ":
            return f"{value * factor:#.3g}".rstrip(".") + f" {unit}"
    raise AssertionError("unreachable")


def tick(value: float) -> str:
    """Of an axis: "50 k", "2.5 M", without zeros that say nothing."""
    text, _, prefix = si(value).partition(" ")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {prefix}".rstrip()


def watts(value: float) -> str:
    """Three digits: "82.4 W", "1,230 W"."""
    return f"{value:.3g} W" if value < 999.5 else f"{grouped(float(f'{value:.3g}'))} W"


def seconds(value: float) -> str:
    """Simulated or host time."""
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"
