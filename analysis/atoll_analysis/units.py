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


def _digits(value: float, form: str, *units: tuple[float, str]) -> str:
    """Three digits, of the first unit of which it is at least 1, or of the last. It is rounded before the unit is chosen, as
    there are no 1,000 mJ; the first unit has no larger one, and takes thousands."""
    if value != value:
        return _MISSING
    for factor, unit in units:
        if abs(value) * factor >= 0.9995 or unit == units[-1][1]:
            shown = value * factor
            text = f"{shown:{form}}".rstrip(".") if abs(shown) < 999.5 else grouped(float(f"{shown:.3g}"))
            return f"{text} {unit}"
    raise AssertionError("unreachable")


def joules(value: float) -> str:
    """Three digits: "82.4 mJ", "12,300 J"."""
    return _digits(value, "#.3g", (1.0, "J"), (1e3, "mJ"), (1e6, "µJ"), (1e9, "nJ"))


def tick(value: float) -> str:
    """Of an axis: "50 k", "2.5 M", without zeros that say nothing."""
    text, _, prefix = si(value).partition(" ")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {prefix}".rstrip()


def watts(value: float) -> str:
    """Three digits: "82.4 W", "1,230 W"."""
    return _digits(value, ".3g", (1.0, "W"))


def seconds(value: float) -> str:
    """Simulated time, three digits: "1.5 ms". Host time is a duration()."""
    return _digits(value, ".3g", (1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))


def duration(value: float) -> str:
    """Host time as the program prints it: "45 s", "20 min 34 s", "3 h 05 min", "2 d 07 h"."""
    if value != value:
        return _MISSING
    s = int(min(max(value, 0.0), 1e12) + 0.5)
    if s < 60:
        return f"{s} s"
    if s < 3600:
        return f"{s // 60} min {s % 60:02} s"
    if s < 86400:
        return f"{s // 3600} h {s % 3600 // 60:02} min"
    return f"{s // 86400} d {s % 86400 // 3600:02} h"
