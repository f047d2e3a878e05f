"""Results in a sweep's folder that are of something else than its points: compared with them they would mislead.

They are told as `atoll table` tells them, but from the results and experiment.json alone. These do not say what a key should
be that the experiment leaves alone, nor what a policy's file holds: the newest result knows."""

import json
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from atoll_analysis import config
from atoll_analysis.file_digest import digest_of_file
from atoll_analysis.result import Head

_BEGIN = 4096  # bytes of a file that say what it is
_HDF5 = b"\x89HDF"
_MOST_BYTES = 16 << 20

Point = tuple[str, str]  # workload, variant


def foreign(heads: Mapping[Point, Head], experiment: Mapping[str, Any], baselines: Mapping[str, str]) -> dict[Point, str]:
    """The points whose results do not belong, and why. `baselines`: of each variant; `experiment`: {} if there is none."""
    found: dict[Point, str] = {}
    left = dict(heads)

    def leave_out(reasons: Mapping[Point, str]) -> None:
        found.update(reasons)
        for point in reasons:
            del left[point]

    if experiment:
        wanted = {point: _wanted(experiment, *point) for point in heads}
        files = {w["name"]: str(w.get("path", "")) for w in experiment.get("workloads", ())}
        leave_out({p: why for p, head in left.items() if (why := _as_wanted(head, wanted[p], experiment.get("sample", ""))
                                                          or _other_file(head, files.get(p[0], "")) or _part(head))})
        leave_out(_other_defaults(left, wanted))
    leave_out(_other_workloads(left, baselines))
    leave_out(_other_policies(left))
    return found


def _wanted(experiment: Mapping[str, Any], workload: str, variant: str) -> dict[str, Any]:
    """The keys that the experiment sets for a point; those of a variant are above its workload's."""
    system = str(experiment.get("system", ""))
    preset = system if "/" not in system and not system.endswith(".json") else ""  # a file may have a name of its own
    keys: dict[str, Any] = {"name": preset} if preset else {}
    if "scale" in experiment:
        keys["scale"] = experiment["scale"]
    for layer in (experiment, *(entry for part, name in (("workloads", workload), ("variants", variant))
                                for entry in experiment.get(part, ()) if entry["name"] == name)):
        keys.update(config.leaves(layer.get("set") or {}))
    return keys


def _as_wanted(head: Head, wanted: Mapping[str, Any], sample: str) -> str:
    """What the result has that the experiment sets otherwise, in the words of `atoll table`; nothing if it is as wanted."""
    for key, value in wanted.items():
        if key not in head.config:
            return f"`{key}` = {json.dumps(value)} is not in it"
        stored = head.config[key]
        if stored != value:
            now = float(value) if isinstance(stored, float) and isinstance(value, int) else value
            return f"`{key}` = {json.dumps(stored)} in it, now {json.dumps(now)}"
    sampled = head.provenance.get("sampling", "")
    return "" if sampled == sample else f"it is {_sampling(sampled)}, wanted {_sampling(sample)}"


def _other_file(head: Head, path: str) -> str:
    """By the names of workloads' files: what is in them, the results' digests tell."""
    stored, wanted = (text.rpartition("/")[2] for text in (str(head.provenance.get("workload", "")), path))
    return f"it is of the workload {stored}, wanted {wanted}" if wanted and stored != wanted else ""


def _part(head: Head) -> str:
    selection = str(head.provenance.get("selection", ""))
    name = str(head.provenance.get("workload", "")).rpartition("/")[2]
    return f"it is of a part of the workload {name} ({selection})" if selection else ""


def _sampling(options: str) -> str:
    return f"sampled with {options}" if options else "not sampled"


def _newest(points: Iterable[Point], heads: Mapping[Point, Head]) -> Point:
    return max(points, key=lambda point: str(heads[point].provenance.get("started_at", "")))


def _other_defaults(heads: Mapping[Point, Head], wanted: Mapping[Point, Mapping[str, Any]]) -> dict[Point, str]:
    """Results that differ from the others in a key that the experiment leaves alone: the system's file was edited since, or
    the sweep began with another --set."""
    found: dict[Point, str] = {}
    configs = pd.DataFrame([head.config.to_dict() for head in heads.values()], index=pd.Index(list(heads), tupleize_cols=False),
                           dtype=object)
    for key in config.differences(configs):
        groups: dict[Hashable, list[Point]] = {}
        for point, head in heads.items():
            if key not in wanted[point]:
                groups.setdefault(_default_follows(key, head.config), []).append(point)
        for points in groups.values():
            shown = {p: json.dumps(of[key]) if key in (of := heads[p].config) else "nothing" for p in points}
            if len(set(shown.values())) == 1:
                continue
            plain = [p for p in points if key not in config.overrides(str(heads[p].provenance.get("command", "")))]
            like = _newest(plain or points, heads)
            found.update({p: f"`{key}` = {value} in it, {shown[like]} in {'__'.join(like)}" for p, value in shown.items()
                          if value != shown[like] and p not in found})
    return found


def _default_follows(key: str, of: Mapping[str, Any]) -> Hashable:
    """A DRAM preset brings timings of its own; where ways are split, half of them are local."""
    if key.startswith("dram.timing."):
        return of.get("dram.preset")
    return (of.get("llc.organisation"), of.get("llc.ways")) if key == "llc.local_ways" else None


def _other_workloads(heads: Mapping[Point, Head], baselines: Mapping[str, str]) -> dict[Point, str]:
    """As `atoll table`: what the speed-ups refer to stays."""
    found: dict[Point, str] = {}
    for workload in dict.fromkeys(workload for workload, _ in heads):
        variants = [variant for of, variant in heads if of == workload]
        like = next((baselines[v] for v in variants if baselines.get(v) in variants), variants[0])
        digests = {v: heads[workload, v].provenance.get("workload_digest") for v in variants}
        found.update({(workload, v): f"of another version of the workload than {like}" for v, digest in digests.items()
                      if digest != digests[like]})
    return found


def changed_workloads(folder: Path, heads: Mapping[Point, Head], experiment: Mapping[str, Any]) -> tuple[str, ...]:
    """Files of workloads that are others than when they were run, as `atoll table` has them. One is read only if it is newer
    than a result, and once; those that are large, or of many files as SASS traces are, are left to `atoll table`."""
    files = {w["name"]: os.path.normpath(folder / str(w["path"])) for w in experiment.get("workloads", ()) if w.get("path")}
    found: dict[str, None] = {}
    digests: dict[str, str] = {}
    for (workload, _), head in heads.items():
        file = files.get(workload, "")
        if not os.path.isfile(file) or not _is_newer(file, head.path):
            continue
        if file not in digests:
            digests[file] = _workload_digest(file)
        if digests[file] not in ("", head.provenance.get("workload_digest")):
            found[file] = None
    return tuple(found)


def _is_newer(file: str, result: Path) -> bool:
    """By its content or by its name, as a file that was moved there keeps the time of its content."""
    of = os.stat(file)
    return max(of.st_mtime_ns, of.st_ctime_ns) >= result.stat().st_mtime_ns


def _workload_digest(file: str) -> str:
    """Of a profile or a trace of one file; nothing for others, and for large ones, which take long in Python."""
    try:
        with open(file, "rb") as opened:
            begin = opened.read(_BEGIN).lstrip()
    except OSError:
        return ""
    return digest_of_file(file) if begin.startswith((b"{", _HDF5)) and os.path.getsize(file) <= _MOST_BYTES else ""


def changed_policies(heads: Iterable[Head]) -> tuple[str, ...]:
    """Files of policies that are others than when they were run. One that is not there may be so because the folder was taken
    elsewhere: a policy's name is relative to where `atoll` started."""
    found = dict.fromkeys((str(policy), str(head.provenance.get("policy_digest", ""))) for head in heads
                          if (policy := head.config.get("llc.policy")))
    return tuple(dict.fromkeys(policy for policy, digest in found if (now := digest_of_file(policy)) and now != digest))


def _other_policies(heads: Mapping[Point, Head]) -> dict[Point, str]:
    """The newest has what the policy's file holds now."""
    found: dict[Point, str] = {}
    groups: dict[str, list[Point]] = {}
    for point, head in heads.items():
        if policy := head.config.get("llc.policy"):
            groups.setdefault(str(policy), []).append(point)
    for policy, points in groups.items():
        like = _newest(points, heads)
        digests = {p: heads[p].provenance.get("policy_digest") for p in points}
        found.update({p: f"of another version of the policy {policy} than {'__'.join(like)}" for p, digest in digests.items()
                      if digest != digests[like]})
    return found
