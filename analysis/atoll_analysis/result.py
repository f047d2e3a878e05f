"""One result file as tables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from atoll_analysis import config, tables
from atoll_analysis.energy_range import read_prices
from atoll_analysis.named import NamedValues, with_units
from atoll_analysis.policies import chooses_organisation
from atoll_analysis.sampling import Sampling, read_sampling
from atoll_analysis.schema import check_schema, open_result
from atoll_analysis.seal import is_sealed

_KNOWN_GROUPS = {"provenance", "kernels", "series", "totals", "slices", "channels", "latency", "energy", "energy_prices", "decisions",
                 "sharing", "sm_sharing", "stack", "structures", "sampling"}


@dataclass(frozen=True, repr=False)
class Head:
    """What a run is and what it counted in all: enough to compare it with others."""

    path: Path
    schema_version: int
    digest: str                       #: 16 hexadecimal digits; equal digests are equal simulations
    cycles: int                       #: end of the last kernel, in core cycles
    complete: bool                    #: False when --max-cycles or a signal stopped the run
    provenance: Mapping[str, Any]     #: system, workload, command, version, host_seconds ...
    config: "pd.Series[Any]"          #: value by flat key, defaults included
    totals: pd.DataFrame              #: [chip] every counter of the file over the run
    energy: pd.DataFrame | None       #: [chip] joules by component
    energy_prices: pd.DataFrame | None  #: [price] joules paid at it and its factor of uncertainty; None in older files
    spent: "pd.Series[float] | None"  #: [part] cycles by what they were spent on, mean of the chips (schema 4)
    decides: bool                     #: its policy chose an organisation for a kernel or during one
    sampling: Sampling | None         #: what a sampled run says of the whole workload; all else is of what it simulated

    def __repr__(self) -> str:
        p, state = self.provenance, "" if self.complete else ", stopped early"
        if self.sampling is not None:
            state = f", {self.sampling}"
        organisation = self.config.get("llc.organisation", "")
        return (f"<{type(self).__name__} {self.path.name}: {p.get('system')} ({organisation}) on {p.get('workload')}, "
                f"{self.cycles:,} cycles, digest {self.digest}{state}>")

    def _repr_html_(self) -> str:
        """For notebooks: who it is, and its figures of merit."""
        from atoll_analysis.markup import glance
        from atoll_analysis.metrics import METRICS, metrics

        values = metrics(self)
        return glance(repr(self), [(m.name, f"{values[m.name]:,.6g}", f"{m.unit}: {m.doc}".lstrip(": ")) for m in METRICS])

    @property
    def workload_cycles(self) -> float:
        """Of the whole workload: those of a sampled run are extrapolated."""
        return float(self.cycles) if self.sampling is None else float(self.sampling.figures.at["cycles", "value"])

    @property
    def written_by(self) -> str:
        """Version and commit of Atoll."""
        return f"{self.provenance['version']} ({self.provenance['git_commit']})"

    @property
    def chips(self) -> int:
        return len(self.totals)

    @property
    def compute_chips(self) -> int:
        """Chips with SMs, the first; all, but of machines of compute and base dies."""
        return int(self.config.get("partition.compute_chips", 0)) or self.chips

    @property
    def memory_chips(self) -> int:
        """Chips with memory, the last."""
        return int(self.config.get("partition.memory_chips", 0)) or self.chips

    @property
    def clock_ghz(self) -> float:
        return float(self.config.get("core_clock_mhz", 1000.0)) / 1000

    @property
    def seconds(self) -> float:
        """Simulated time; of a sampled run that of the launches that were simulated."""
        return self.cycles / self.clock_ghz * 1e-9


@dataclass(frozen=True, repr=False)
class Result(Head):
    """All of a result file. Counters only add up: form ratios after summing over chips or samples."""

    kernels: pd.DataFrame                   #: [kernel] name, ctas; launched, started, finished and cycles
    counters: pd.DataFrame                  #: [sample, chip] begin, end, and every counter in that period
    slices: pd.DataFrame                    #: [chip, slice] accesses, hits (requests)
    channels: pd.DataFrame                  #: [chip, channel] reads, writes (requests)
    latency: pd.DataFrame                   #: [chip, bucket] loads by origin; bucket b: 2^b to 2^(b+1)-1 cycles
    decisions: pd.DataFrame                 #: [decision] kernel, cycle, choice, values of the policy's model
    footprint: "pd.Series[Any] | None"      #: bytes by kind of sharing (observe.sharing)
    sharing: pd.DataFrame | None            #: [epoch, window] bytes by kind of sharing (observe.sharing)
    sm_sharing: pd.DataFrame | None         #: [kernel] lines that SMs share (observe.sm_sharing)
    stack: pd.DataFrame | None              #: [kernel, chip] cycles by what they were spent on (schema 4)
    structures: pd.DataFrame | None         #: [structure] name, address, bytes (schema 5, if the workload knows them)
    structure_use: pd.DataFrame | None      #: [kernel, structure, chip] requests, loads by origin, cycles of latency
    structure_homes: pd.DataFrame | None    #: [structure, chip x home] requests
    units: Mapping[str, str]                #: unit of each counter
    docs: Mapping[str, str]                 #: meaning of each counter
    other: Mapping[str, pd.DataFrame]       #: tables of groups that this package does not know
    sound: bool = True                      #: False: read by force, though its checksum is missing or does not fit


def _provenance(file: h5py.File) -> dict[str, Any]:
    plain = {}
    for name, value in file["provenance"].attrs.items():
        plain[name] = list(value) if isinstance(value, np.ndarray) else value.item() if hasattr(value, "item") else value
    return plain


def read_head(file: h5py.File, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of Head."""
    provenance = _provenance(file)
    flat = NamedValues(config.flatten(provenance.pop("effective_config")))
    return {"path": Path(path), "schema_version": check_schema(file, path), "digest": f"{int(file.attrs['digest']):016x}",
            "cycles": int(file.attrs["cycles"]), "complete": bool(file.attrs["complete"]), "provenance": provenance,
            "config": flat,
            "totals": with_units(tables.per_chip(file["totals"]), _attributes(file, "unit")),
            "energy": _of(tables.per_chip(file["energy"]), "J") if "energy" in file else None,
            "energy_prices": read_prices(file),
            "spent": _spent(tables.stack(file)),
            "decides": "decisions" in file and chooses_organisation(flat, tables.decisions(file)),
            "sampling": read_sampling(file)}


def mean_stack(stack: pd.DataFrame) -> "pd.Series[float]":
    """[part] cycles of the run by what they were spent on, mean of the chips that have SMs: others spend none."""
    chips = stack.groupby(level="chip").sum()
    return chips[chips.sum(axis=1) > 0].mean() if len(chips) > 1 else chips.mean()


def _spent(stack: pd.DataFrame | None) -> "pd.Series[float] | None":
    if stack is None:
        return None
    spent = mean_stack(stack)
    spent.attrs["units"] = "cycles"
    return spent


def load_head(path: str | os.PathLike[str]) -> Head:
    """The head of a result: quick, for many files."""
    with open_result(path) as file:
        return Head(**read_head(file, path))


def _attributes(file: h5py.File, name: str) -> dict[str, str]:
    """What the file says of each counter."""
    return {counter: str(d.attrs.get(name, "")) for counter, d in file["series"].items() if counter != "end_cycle"}


_CYCLES = dict.fromkeys(("begin", "end", "cycle", "launched", "started", "finished", "cycles", "latency_cycles",
                         "queue_cycles", "miss_cycles"), "cycles")
_PLAIN = {**_CYCLES, "ctas": "CTAs", "address": "bytes", "bytes": "bytes", "chunks": "chunks"}


def _of(table: pd.DataFrame, unit: str = "") -> pd.DataFrame:
    """With units: `unit` of all columns of numbers but those whose names say another one."""
    units = {str(c): _PLAIN.get(str(c), unit) for c in table if table[c].dtype.kind in "iuf" or str(c) in _PLAIN}
    return with_units(table, units)


def _maybe(table: pd.DataFrame | None, unit: str = "") -> pd.DataFrame | None:
    return None if table is None else _of(table, unit)


def _decisions(table: pd.DataFrame) -> pd.DataFrame:
    """Bandwidths are in GB/s; what else models write has the unit that its policy's page says."""
    gbps = {str(c): "GB/s" for c in table if str(c).rpartition(".")[2] in ("eab", "bandwidth")}
    return with_units(table, {**_CYCLES, **gbps})


def _footprint(shared: "tuple[pd.Series[Any], pd.DataFrame] | None") -> "pd.Series[Any] | None":
    if shared is None:
        return None
    shared[0].attrs["units"] = "bytes"
    return shared[0]


def _other(file: h5py.File) -> dict[str, pd.DataFrame]:
    found = {}
    for name, group in file.items():
        if name in _KNOWN_GROUPS or not isinstance(group, h5py.Group):
            continue
        columns: dict[str, Any] = {at: tables.texts(d) if d.dtype.kind == "O" else tables.numbers(d)
                                   for at, d in tables.leaves(group) if d.ndim == 1}
        if columns and len({len(values) for values in columns.values()}) == 1:
            found[name] = pd.DataFrame(columns)
    return found


def load(path: str | os.PathLike[str], force_damaged: bool = False) -> Result:
    """Reads a result of `atoll run -o`. Raises BadResult for what is not one, is damaged, or has another layout."""
    with open_result(path, force_damaged) as file:
        shared, units = tables.sharing(file), _attributes(file, "unit")
        return Result(
            **read_head(file, path), kernels=_of(tables.kernels(file)),
            counters=with_units(tables.counters(file), {**_CYCLES, **units}),
            slices=_of(tables.per_part(file["slices"], "slice"), "requests"),
            channels=_of(tables.per_part(file["channels"], "channel"), "requests"),
            latency=_of(tables.latency(file), "loads"), decisions=_decisions(tables.decisions(file)),
            footprint=_footprint(shared), sharing=_of(shared[1], "bytes") if shared else None,
            sm_sharing=_maybe(tables.sm_sharing(file), "lines"), stack=_maybe(tables.stack(file), "cycles"),
            structures=_maybe(tables.structures(file)), structure_use=_maybe(tables.structure_use(file), "requests"),
            structure_homes=_maybe(tables.structure_homes(file), "requests"), units=units,
            docs=_attributes(file, "doc"), other=_other(file), sound=not force_damaged or is_sealed(path))
