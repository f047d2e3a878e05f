"""Whose a decision is. Several policies may decide in one run, each for itself: which ones do, and what they can choose,
follows from the run's configuration. What none of Atoll's others can choose is of the organisation: a plug-in's choices are
texts of its own."""

import math
from typing import Any

import pandas as pd

_DEGREES = {"shared": 1.0, "private": math.inf}


def _degree(word: str) -> float:
    number = word.removeprefix("degree_")
    return _DEGREES.get(word, float(number) if word != number and number.isdigit() else 0.0)


def degree(choice: str) -> float:
    """The degree of replication that a choice stands for (of the first chip, if it names several), or 0."""
    degrees = [_degree(word) for word in choice.split()]
    return degrees[0] if degrees and all(degrees) else 0.0


def policy_of(config: "pd.Series[Any]", made: pd.DataFrame) -> "pd.Series[str]":
    """[decision] `replication`, `range` or `organisation`."""
    replication, ranges = config.get("llc.replication"), config.get("coherence.protocol") == "rec_adaptive"
    found, profile_from = [], (-1, 0.0)  # the kernel in which, and the cycle from which on, Adaptive may profile anew
    for kernel, cycle, choice in zip(made["kernel"], made["cycle"], made["choice"]):
        degrees = replication in ("adaptive", "selrep", "policy") and degree(choice) > 0
        if replication == "adaptive" and degrees:
            profile_from = (kernel, cycle + float(config.get("adaptive.epoch_cycles", 0)))
        elif replication == "adaptive" and choice == "profile" and kernel == profile_from[0] and cycle >= profile_from[1]:
            degrees, profile_from = True, (-1, 0.0)  # SAC and plug-ins may have profiles as well, each at its own time
        number, _, unit = choice.partition(" ")
        found.append("replication" if degrees else "range" if ranges and unit == "B" and number.isdigit() else "organisation")
    return pd.Series(found, index=made.index, dtype=object)


def carries_over(config: "pd.Series[Any]", policy: str) -> bool:
    """Whether its choice stays in force when a kernel ends. Others are asked anew for every kernel, and begin it alike."""
    return policy == "range" or (policy == "replication" and config.get("llc.replication") == "selrep")


def chooses_organisation(config: "pd.Series[Any]", made: pd.DataFrame) -> bool:
    return bool((policy_of(config, made) == "organisation").any())
