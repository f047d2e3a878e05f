"""What policies decided: their model's predictions beside what was measured while the decision ruled."""

import math

import pandas as pd

from atoll_analysis import rates
from atoll_analysis.result import Result

# SAC's Effective Access Bandwidth is that of the whole system, Adaptive's and SelRep's that of one memory-side router; GB/s.
_BANDWIDTHS = ("eab", "bandwidth")
_DEGREES = {"shared": 1.0, "private": math.inf}
_MEASURED = ("llc.hits", "llc.merges", "llc.accesses", "requests.local", "requests.remote", "noc.response_bytes",
             "warp.instructions")


def degree(choice: str) -> float:
    """The degree of replication that a choice stands for (of the first chip, if it names several), or 0."""
    first = choice.partition(" ")[0]
    number = first.removeprefix("degree_")
    return _DEGREES.get(first, float(number) if first != number and number.isdigit() else 0.0)


def policy(choice: str) -> str:
    """Whose choice it is: several policies may decide in one run, each for itself."""
    return "replication" if degree(choice) else "range" if choice.endswith(" B") else "organisation"


def options(result: Result) -> dict[str, str]:
    """The choices whose bandwidth the policy's model predicts, with the column that has it: sm_side -> sm_side.eab.
    Degrees of replication are in their order. Empty where a model predicts for each chip by itself."""
    found = {}
    for column in result.decisions.columns:
        name, _, what = str(column).rpartition(".")
        if what in _BANDWIDTHS and "." not in name:
            found[name] = str(column)
    return {name: found[name] for name in sorted(found, key=degree)}


def reigns(result: Result) -> pd.DataFrame:
    """[decision] begin and end in cycles of the time in which it ruled: until the same policy's next one, the end of its
    kernel if that policy decides once for every kernel, or the end of the run."""
    made = result.decisions
    table = pd.DataFrame({"begin": made["cycle"].astype(float), "end": float(result.cycles)}, index=made.index)
    finished = result.kernels["finished"].astype(float)
    for _, own in made.groupby(made["choice"].map(policy)):
        table.loc[own.index[:-1], "end"] = own["cycle"].to_numpy()[1:].astype(float)
        if own["kernel"].is_unique:
            ends = own["kernel"].map(finished)
            ends = ends.where(ends > own["cycle"])  # decided at the end of a kernel for the next
            table.loc[own.index, "end"] = pd.concat([table.loc[own.index, "end"], ends], axis=1).min(axis=1)
    return table


def _merged_is_hit(result: Result, choice: str) -> bool:
    """SAC's model may count requests that join a pending miss as hits, and a directory of degrees does: its tags are there
    from the first request on. What is measured has to be counted alike."""
    if policy(choice) == "replication":
        return True
    return result.config.get("llc.organisation") == "sac" and bool(result.config.get("sac.merged_is_hit", False))


def parts(result: Result, choice: str) -> int:
    """Into how many parts of the system the model of this choice's policy divides the bandwidth."""
    return int(result.config.get("noc.memory_routers", 1)) if policy(choice) == "replication" else 1


def judged(result: Result) -> pd.DataFrame:
    """[decision] kernel, cycle, choice, cycles that it ruled; predicted.<option> bandwidths in GB/s; hit rate predicted for
    the choice and measured; share of local requests in the model and measured; measured bandwidth from LLC to SMs, headers
    included, in GB/s and of as much of the system as the model's; IPC. Measured values rest on whole samples, shared out
    where one spans two decisions."""
    made, ruled = result.decisions, reigns(result)
    table = made[["kernel", "cycle", "choice"]].copy()
    table["ruled"] = (ruled["end"] - ruled["begin"]).clip(lower=0)
    for name, column in options(result).items():
        table[f"predicted.{name}"] = made[column]
    table["hit.predicted"] = [made[f"{c}.hit"].iloc[at] if f"{c}.hit" in made else math.nan
                              for at, c in enumerate(made["choice"])]
    of = rates.during(result, ruled["begin"], ruled["end"], _MEASURED).set_index(made.index)
    cycles, divided = table["ruled"].clip(lower=1), made["choice"].map(lambda choice: parts(result, choice))
    requests = of["requests.local"] + of["requests.remote"]
    found = of["llc.hits"] + of["llc.merges"].where(made["choice"].map(lambda choice: _merged_is_hit(result, choice)), 0)
    table["hit.measured"] = found / of["llc.accesses"].where(of["llc.accesses"] > 0)
    table["local.measured"] = of["requests.local"] / requests.where(requests > 0)
    table["bandwidth.measured"] = of["noc.response_bytes"] / cycles * result.clock_ghz / divided
    table["ipc.measured"] = of["warp.instructions"] / cycles
    if result.chips == 1:
        table = table.drop(columns="local.measured")
    elif "r_local" in made:
        table.insert(table.columns.get_loc("local.measured"), "local.predicted", made["r_local"])
    return table.dropna(axis=1, how="all")
