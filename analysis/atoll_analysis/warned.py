"""What runs that stand side by side warned of."""

from collections.abc import Mapping

from atoll_analysis.result import Head


def warned(runs: Mapping[str, Head]) -> dict[str, tuple[str, ...]]:
    """The names of the runs by what they warned of. A key without effect in some of them is set for the others: only one that
    is idle in all is told of."""
    found: dict[str, list[str]] = {}
    for name, run in runs.items():
        for what in dict.fromkeys(str(run.provenance.get("warnings", "")).splitlines()):
            found.setdefault(what, []).append(name)
    return {what: tuple(names) for what, names in found.items()
            if "` has no effect: it needs " not in what or len(names) == len(runs)}
