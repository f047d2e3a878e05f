"""Core clocks of runs that are compared: where they differ, a run of fewer cycles need not be the faster one."""

from collections.abc import Iterable


def note(mhz: Iterable[float]) -> str:
    """What is said where runs of several core clocks are compared; nothing where all have one."""
    found = sorted(set(mhz))
    if len(found) < 2:
        return ""
    shown = ", ".join(f"{clock:g}" for clock in found)
    return f"The runs have different core clocks ({shown} MHz): speed-ups and ranks are by time, cycles / core_clock_mhz."
