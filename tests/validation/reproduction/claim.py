"""A published claim, and the verdict that follows from what was measured. The rules stand here once; docs/reproduction.md
explains them with the texts of RULES."""

import dataclasses
import typing

# Of the first four, the later is worse.
VERDICTS = ("reproduced", "direction only", "undecided", "not reproduced", "not measured", "input", "outside")
KINDS = {
    "performance": "speed and energy",
    "behaviour": "what caches, networks and policies do",
    "trend": "which choice of a design is the better one",
    "arithmetic": "sizes that follow from a configuration",
    "circuits": "area, power, wires",
}
RULES = {
    "ratio": "A ratio has its effect as the distance from 1. Reproduced: the effect here is 0.75 to 1.25 times the "
             "published one. Direction only: of the same sign, and a tenth of it at least. A ratio of energies has a range in "
             "brackets, over the prices' ranges ([energy.md](energy.md#uncertainty)). Undecided: 1 is within it.",
    "amount": "An amount (a share, a number of lines) has no direction. Reproduced: within a quarter. Direction only: half "
              "to twice as much.",
    "limit": "A limit holds, or it does not.",
    "cases": "A statement about several cases is reproduced if it holds in all of them, in direction only if in three "
             "quarters.",
    "test": "Arithmetic and rules of a protocol are reproduced if a unit test finds the printed number, or the rule, in "
            "what the simulator is configured with.",
    "input": "Input: the simulated machine or the workloads were made from this figure, so that agreement would say "
             "nothing.",
    "outside": "Outside: needs models of circuits.",
    "open": "Not measured: no run answers it.",
}


class Test(typing.NamedTuple):
    """A test case below tests/unit/<part>, and a piece of it that has the claim's number."""

    part: str
    case: str
    check: str


@dataclasses.dataclass(frozen=True)
class Claim:
    number: int
    kind: str
    what: str
    where: str  # section, figure or table of the paper
    paper: str  # as published
    rule: str
    # One entry per value that `measure` returns. Ratios, amounts: (label, published). Limits: (label, "<" or ">", limit).
    # Cases: label.
    parts: tuple = ()
    measure: typing.Callable | None = None  # of Runs -> a value per part; of cases (those that hold, all)
    experiments: tuple = ()  # of inputs/experiments, that `measure` reads
    form: str = ".2f"  # of the values
    script: str = ""  # shows the same, where no experiment is needed
    tests: tuple = ()
    why: str = ""  # the reason, if the claim is not reproduced; what to know, if it is
    here: str = ""  # what a test shows, where it is not word for word what the paper prints
    link: str = ""  # page and section that say more, relative to the repository
    ranges: typing.Callable | None = None  # of energies: of Runs -> a Range per part, or None where the runs have no prices


def figure(rule, published, ours):
    if ours is None:
        return "not measured"
    effect = (lambda v: v - 1) if rule == "ratio" else (lambda v: v)
    share = effect(ours) / effect(published)
    if 0.75 <= share <= 1.25:
        return "reproduced"
    direction = share >= 0.1 if rule == "ratio" else 0.5 <= share <= 2
    return "direction only" if direction else "not reproduced"


def limit(sign, bound, ours):
    if ours is None:
        return "not measured"
    return "reproduced" if (ours < bound if sign == "<" else ours > bound) else "not reproduced"


def cases(found):
    if found is None:
        return "not measured"
    hold, of = found
    return "reproduced" if hold == of else "direction only" if hold >= 0.75 * of else "not reproduced"


def judged(claim, part, value, limits):
    if limits and limits[0] <= 1 <= limits[1]:
        return "undecided"
    return figure(claim.rule, part[1], value)


def verdict(claim, values, ranges=None):
    """A claim of several figures or statements is worth what its worst is."""
    if claim.rule in ("test", "input", "outside", "open"):
        return {"test": "reproduced", "open": "not measured"}.get(claim.rule, claim.rule)
    judge = {"limit": lambda part, v, _: limit(part[1], part[2], v), "cases": lambda part, v, _: cases(v)}.get(
        claim.rule, lambda part, v, limits: judged(claim, part, v, limits))
    of_parts = zip(claim.parts, values, ranges or [None] * len(values), strict=True)
    return max((judge(*part) for part in of_parts), key=VERDICTS.index)


def shown(claim, values, ranges=None):
    """The values as text."""
    if claim.rule == "test":
        return claim.here or claim.paper
    out = []
    for part, value, limits in zip(claim.parts, values, ranges or [None] * len(values), strict=True):
        label = part if claim.rule == "cases" else part[0]
        text = "-" if value is None else f"{value[0]} of {value[1]}" if claim.rule == "cases" else format(value, claim.form)
        if limits:
            text += f" ({limits[0]:{claim.form}} to {limits[1]:{claim.form}})"
        text = text.replace("%", " %")
        out.append(f"{label}: {text}" if label else text)
    return "; ".join(out)


def counted(found):
    """Cases as measured: those that hold, and all."""
    found = list(found)
    return [sum(map(bool, found)), len(found)]
