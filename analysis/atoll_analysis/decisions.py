"""What policies decided: their model's predictions beside what was measured while the decision ruled."""

import math

import pandas as pd

from atoll_analysis import rates
from atoll_analysis.metrics import ratio
from atoll_analysis.result import Result

_BANDWIDTHS = ("eab", "bandwidth")  # SAC's Effective Access Bandwidth; Adaptive's and SelRep's: bytes per cycle


def options(result: Result) -> dict[str, str]:
    """The choices whose bandwidth the policy's model predicts, with the column that has it: sm_side -> sm_side.eab."""
    found = {}
    for column in result.decisions.columns:
        name, _, what = str(column).rpartition(".")
        if what in _BANDWIDTHS and "." not in name:
            found[name] = str(column)
    return found


def reigns(result: Result) -> pd.DataFrame:
    """[decision] begin and end in cycles of the time in which it ruled: until the next one, the end of its kernel if the
    policy decides anew for every kernel, or the end of the run."""
    made = result.decisions
    per_kernel = len(made) > 0 and made["kernel"].is_unique
    ends = []
    for at in range(len(made)):
        until = float(made["cycle"].iloc[at + 1]) if at + 1 < len(made) else float(result.cycles)
        kernel = int(made["kernel"].iloc[at])
        if per_kernel and kernel < len(result.kernels) and result.kernels["finished"].iloc[kernel] is not pd.NA:
            finished = float(result.kernels["finished"].iloc[kernel])
            until = min(until, finished) if finished > float(made["cycle"].iloc[at]) else until
        ends.append(until)
    return pd.DataFrame({"begin": made["cycle"].astype(float), "end": ends}, index=made.index)


def _merged_is_hit(result: Result) -> bool:
    """SAC's model may count requests that join a pending miss as hits; what is measured has to be counted alike."""
    return result.config.get("llc.organisation") == "sac" and bool(result.config.get("sac.merged_is_hit", False))


def judged(result: Result) -> pd.DataFrame:
    """[decision] kernel, cycle, choice, cycles that it ruled; predicted.<option> bandwidths in bytes per cycle; hit rate
    predicted for the choice and measured; share of local requests in the model and measured; measured bytes per cycle from
    LLC to SMs and IPC. Measured values rest on whole samples, shared out where one spans two decisions."""
    made, ruled = result.decisions, reigns(result)
    table = made[["kernel", "cycle", "choice"]].copy()
    table["ruled"] = (ruled["end"] - ruled["begin"]).clip(lower=0)
    for name, column in options(result).items():
        table[f"predicted.{name}"] = made[column]
    hits = [made[f"{c}.hit"].iloc[at] if f"{c}.hit" in made else math.nan for at, c in enumerate(made["choice"])]
    table["hit.predicted"] = hits
    measured = []
    for at in range(len(made)):
        begin, end = float(ruled["begin"].iloc[at]), float(ruled["end"].iloc[at])
        of, cycles = rates.during(result, begin, end), max(end - begin, 1.0)
        found = of["llc.hits"] + (of["llc.merges"] if _merged_is_hit(result) else 0)
        measured.append({"hit.measured": ratio(found, of["llc.accesses"]),
                         "local.measured": ratio(of["requests.local"], of["requests.local"] + of["requests.remote"]),
                         "bandwidth.measured": of["noc.response_bytes"] / cycles,
                         "ipc.measured": of["warp.instructions"] / cycles})
    table = pd.concat([table, pd.DataFrame(measured, index=table.index)], axis=1)
    if "r_local" in made:
        table.insert(table.columns.get_loc("local.measured"), "local.predicted", made["r_local"])
    return table.dropna(axis=1, how="all")
