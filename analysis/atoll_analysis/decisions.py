"""What policies decided: their model's predictions beside what was measured while the decision ruled."""

import math

import numpy as np
import pandas as pd

from atoll_analysis import rates
from atoll_analysis.policies import carries_over, degree, policy_of
from atoll_analysis.result import Result

# SAC's Effective Access Bandwidth is that of the whole system, Adaptive's and SelRep's that of one memory-side router; GB/s.
_BANDWIDTHS = ("eab", "bandwidth")
_MEASURED = ("llc.hits", "llc.merges", "llc.accesses", "requests.local", "requests.remote", "noc.response_bytes",
             "warp.instructions")


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
    """[decision] begin and end in cycles of the time in which it ruled: until the same policy's next one, and at most until
    the end of its kernel, unless the policy carries it over to the next. A decision that is made as a kernel ends is for the
    next one, and rules from the one's end to the other's."""
    made, config = result.decisions, result.config
    table = pd.DataFrame({"begin": made["cycle"].astype(float), "end": float(result.cycles)}, index=made.index)
    finished = np.sort(result.kernels["finished"].dropna().to_numpy(float))
    kernel_ends = np.append(finished, float(result.cycles))[np.searchsorted(finished, table["begin"], side="right")]
    for policy, own in table.groupby(policy_of(config, made)):
        ends = np.append(own["begin"].to_numpy()[1:], float(result.cycles))
        if not carries_over(config, str(policy)):
            ends = np.minimum(ends, kernel_ends[own.index])
        table.loc[own.index, "end"] = ends
    return table


def _of_degrees(result: Result) -> "pd.Series[bool]":
    return policy_of(result.config, result.decisions) == "replication"


def _merged_is_hit(result: Result) -> "pd.Series[bool]":
    """[decision] SAC's model may count requests that join a pending miss as hits, and a directory of degrees does: its tags
    are there from the first request on. What is measured has to be counted alike."""
    sac = result.config.get("llc.organisation") == "sac" and bool(result.config.get("sac.merged_is_hit", False))
    return _of_degrees(result) | sac


def parts(result: Result) -> "pd.Series[int]":
    """[decision] into how many parts of the system the model of its policy divides the bandwidth."""
    return _of_degrees(result).map({True: int(result.config.get("noc.memory_routers", 1)), False: 1})


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
    cycles = table["ruled"].clip(lower=1)
    requests = of["requests.local"] + of["requests.remote"]
    found = of["llc.hits"] + of["llc.merges"].where(_merged_is_hit(result), 0)
    table["hit.measured"] = found / of["llc.accesses"].where(of["llc.accesses"] > 0)
    table["local.measured"] = of["requests.local"] / requests.where(requests > 0)
    table["bandwidth.measured"] = of["noc.response_bytes"] / cycles * result.clock_ghz / parts(result)
    table["ipc.measured"] = of["warp.instructions"] / cycles
    if result.chips == 1:
        table = table.drop(columns="local.measured")
    elif "r_local" in made:
        table.insert(table.columns.get_loc("local.measured"), "local.predicted", made["r_local"])
    return table.dropna(axis=1, how="all")
