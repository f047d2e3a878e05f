"""Runs of the simulator from Python: what `atoll run` and `atoll sweep` do, with results instead of files."""

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atoll_analysis.result import Result, load
from atoll_analysis.sweeps import Sweep, load_sweep

PathLike = str | os.PathLike[str]


class RunFailed(Exception):
    """The simulator could not be found, or ended with an error; the text is its message."""


def program() -> str:
    """The simulator: $ATOLL, or `atoll` on the PATH, or the build of the checkout that this package lies in."""
    if named := os.environ.get("ATOLL"):
        if not os.access(named, os.X_OK):
            raise RunFailed(f"ATOLL={named} is no program")
        return named
    if found := shutil.which("atoll"):
        return found
    built = Path(__file__).resolve().parents[2] / "build" / "release" / "atoll"
    if built.is_file():
        return str(built)
    raise RunFailed("there is no program `atoll`: put it on the PATH, or name it in the environment variable ATOLL")


def run(system: PathLike, workload: PathLike, *, output: PathLike | None = None, ranks: int = 0, force: bool = False,
        set: Mapping[str, Any] | None = None, **keys: Any) -> Result:
    """Simulates, and returns the result. `keys` and `set` are configuration keys, as after `atoll run --set`; in a Python name
    two underscores stand for the dot: run("sac-4chip", "mixed.json", llc__organisation="sac"). `output` keeps the file, and
    `force` replaces it; without, it is removed once it is read. `ranks`: processes of one `mpirun`. Raises RunFailed with
    the simulator's message."""
    with tempfile.TemporaryDirectory(prefix="atoll-") as folder:
        path = Path(folder, "out.h5") if output is None else Path(output)
        words = [program(), "run", os.fspath(system), "--workload", os.fspath(workload), "--output", str(path), "--quiet",
                 *_sets(set or {}, keys)]
        if ranks:
            words = ["mpirun", "--oversubscribe", "-n", str(ranks), *words]
        _call([*words, *(["--force"] if force else [])])
        return load(path)


def sweep(experiment: PathLike | Mapping[str, Any], out: PathLike, *, jobs: int = 0, force: bool = False,
          set: Mapping[str, Any] | None = None, **keys: Any) -> Sweep:
    """Runs what is missing of an experiment into the folder `out`, and returns all of its results. `experiment`: a file, the
    name of one that comes with Atoll, or its content as a dict, in which paths are relative to where Python runs. `jobs`: runs
    at a time. Points that fail are named in a warning and in the answer's `missing`; RunFailed if nothing could be run."""
    with tempfile.TemporaryDirectory(prefix="atoll-") as folder:
        if isinstance(experiment, Mapping):
            file = Path(folder, "experiment.json")
            file.write_text(json.dumps(_absolute(experiment)), encoding="utf-8")
        words = [program(), "sweep", str(file) if isinstance(experiment, Mapping) else os.fspath(experiment), "--out",
                 os.fspath(out), *_sets(set or {}, keys)]
        words += ["--jobs", str(jobs)] * bool(jobs) + ["--force"] * force
        try:
            _call(words)
        except RunFailed as error:
            if not any(Path(out).glob("*__*.h5")) or "points failed" not in str(error):
                raise
            warnings.warn(str(error), stacklevel=2)
    return load_sweep(out)


def _sets(named: Mapping[str, Any], keys: Mapping[str, Any]) -> list[str]:
    names = [(key.replace("__", "."), value) for key, value in (*named.items(), *keys.items())]
    if twice := [key for key, times in Counter(key for key, _ in names).items() if times > 1]:
        raise ValueError(f"{twice[0]} is given twice")
    return [word for key, value in names for word in ("--set", f"{key}={_word(value)}")]


def _word(value: Any) -> str:
    """As written after --set. Numbers with all their digits: of fewer, another system would be simulated."""
    plain = value.item() if isinstance(value, np.generic) else value
    return json.dumps(plain) if isinstance(plain, bool | int | float) else str(plain)


def _absolute(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """With paths that hold from any folder: an experiment's are relative to its file."""
    def of(path: str) -> str:
        return str(Path(path).resolve()) if os.path.exists(path) else path

    found = dict(experiment)
    if isinstance(found.get("system"), str):
        found["system"] = of(found["system"]) if found["system"].endswith(".json") else found["system"]
    found["workloads"] = [{**w, "path": of(w["path"])} if "path" in w else w for w in found.get("workloads", [])]
    return found


def _call(words: Sequence[str]) -> None:
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise RunFailed(f"{words[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.strip().removeprefix("atoll: ") or f"{words[0]} ended with code {done.returncode}"
        raise RunFailed(said)
