"""The configuration of a run: flat, what was set by hand, and what differs between runs."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

WORK = "scale"  # the key that divides a workload's footprint and accesses: with another value runs do other work


def leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Flat keys, such as "llc.ways", with their values."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix, value


def flatten(effective_config: str) -> "pd.Series[Any]":
    """Values by key, such as "llc.ways", in the order of the file."""
    pairs = dict(leaves(json.loads(effective_config)))
    return pd.Series(list(pairs.values()), index=pd.Index(pairs, name="key"), name="value", dtype=object)


def overrides(command: str) -> list[str]:
    """Keys that the command line set. What a JSON system file changed against its base is not known to a result."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quote without its partner: a command line that was stored unquoted
        words = command.split()
    keys: list[str] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in ("--set", "-s"):
            keys.append(following.partition("=")[0])
        elif word.startswith("--set="):
            keys.append(word[len("--set="):].partition("=")[0])
        elif word == "--scale" or word.startswith("--scale="):
            keys.append("scale")
    return list(dict.fromkeys(key for key in keys if key))


def differences(configs: pd.DataFrame) -> pd.DataFrame:
    """Of [run, key], the keys whose values are not the same in all runs. A key that some runs do not have differs, unless it
    is an empty text in the others: a version without the key had none."""
    differing = [key for key in configs if configs[key].map(lambda value: repr("" if value != value else value)).nunique() > 1]
    return configs[differing]


def text(value: Any) -> str:
    """For display. Runs are named and grouped by it, too, so that no other value has the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        short = f"{value:g}"
        return short if value != value or float(short) == value else repr(float(value)).removesuffix(".0")
    return str(value)
