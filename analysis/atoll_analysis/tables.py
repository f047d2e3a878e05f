"""One pandas table per group of a result file. Extents and units are those of docs/results.md."""

from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pandas as pd

ORIGINS = ("local_llc", "remote_llc", "local_memory", "remote_memory", "neighbour_l1", "l2")
_NEVER = np.uint64(2**64 - 1)  # a kernel of a run that was stopped before has not finished


def numbers(dataset: h5py.Dataset) -> npt.NDArray[Any]:
    """Counts as signed integers, so that differences of them may be negative; the rest as it is stored."""
    values = dataset[()]
    return values.astype(np.int64) if values.dtype.kind == "u" else values


def texts(dataset: h5py.Dataset) -> list[str]:
    return [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in dataset[()]]


def leaves(group: h5py.Group, prefix: str = "") -> Iterator[tuple[str, h5py.Dataset]]:
    """Datasets below a group with their paths in it."""
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from leaves(item, f"{prefix}{name}/")
        else:
            yield prefix + name, item


def kernels(file: h5py.File) -> pd.DataFrame:
    """[kernel] name, ctas, and in cycles launched, started, finished and their length; <NA> for what never came."""
    group = file["kernels"]
    table = pd.DataFrame({"name": texts(group["name"])})
    table.index.name = "kernel"
    for column in ("ctas", "launched", "started", "finished"):
        raw = group[column][()]
        table[column] = pd.array(np.where(raw == _NEVER, 0, raw).astype(np.int64), dtype="Int64")
        table.loc[raw == _NEVER, column] = pd.NA
    cycles = table["finished"] - table["launched"]
    table["cycles"] = cycles.where((cycles > 0).fillna(False))
    return table


def counters(file: h5py.File) -> pd.DataFrame:
    """[sample, chip] begin and end of the period in cycles, and what every counter counted in it."""
    series = file["series"]
    ends = numbers(series["end_cycle"])
    names = [name for name in series if name != "end_cycle"]
    chips = int(series[names[0]].shape[1])
    index = pd.MultiIndex.from_product([range(len(ends)), range(chips)], names=["sample", "chip"])
    begins = np.insert(ends[:-1], 0, 0) if len(ends) else ends
    columns = {"begin": np.repeat(begins, chips), "end": np.repeat(ends, chips)}
    columns.update({name: numbers(series[name]).reshape(-1) for name in names})
    return pd.DataFrame(columns, index=index)


def per_chip(group: h5py.Group) -> pd.DataFrame:
    """[chip] a column per dataset of one value per chip, such as /totals and /energy."""
    table = pd.DataFrame({name: numbers(dataset) for name, dataset in group.items()})
    table.index.name = "chip"
    return table


def per_part(group: h5py.Group, part: str) -> pd.DataFrame:
    """[chip, part] a column per dataset of such extents, as /slices, /channels and /latency."""
    shape = next(iter(group.values())).shape
    index = pd.MultiIndex.from_product([range(shape[0]), range(shape[1])], names=["chip", part])
    return pd.DataFrame({name: numbers(dataset).reshape(-1) for name, dataset in group.items()}, index=index)


def latency(file: h5py.File) -> pd.DataFrame:
    """[chip, bucket] loads by who answered them; bucket b holds latencies of 2^b to 2^(b+1) - 1 cycles."""
    table = per_part(file["latency"], "bucket")
    return table[[origin for origin in ORIGINS if origin in table]]


def decisions(file: h5py.File) -> pd.DataFrame:
    """[decision] kernel, cycle, choice, and a column per value of the policy's model (NaN where it has none)."""
    group = file["decisions"]
    table = pd.DataFrame({"kernel": numbers(group["kernel"]), "cycle": numbers(group["cycle"]),
                          "choice": texts(group["choice"])})
    table.index.name = "decision"
    values = {name: dataset[()] for name, dataset in leaves(group["values"])}
    return pd.concat([table, pd.DataFrame(values, index=table.index)], axis=1)


def sharing(file: h5py.File) -> tuple[pd.Series, pd.DataFrame] | None:
    """Footprint in bytes by kind of sharing; and [epoch, window] the bytes accessed within `window` cycles."""
    if "sharing" not in file:
        return None
    group = file["sharing"]
    footprint = pd.Series({name: int(numbers(d)[0]) for name, d in group["footprint"].items()}, name="bytes")
    windows = numbers(group["window_cycles"])
    columns = {name: numbers(d) for name, d in group["windows"].items()}
    epochs = next(iter(columns.values())).shape[0]
    index = pd.MultiIndex.from_product([range(epochs), windows], names=["epoch", "window"])
    return footprint, pd.DataFrame({name: values.reshape(-1) for name, values in columns.items()}, index=index)


def sm_sharing(file: h5py.File) -> pd.DataFrame | None:
    """[kernel] lines that SMs of a chip share, summed over chips; attrs has window_cycles and line_bytes."""
    if "sm_sharing" not in file:
        return None
    group = file["sm_sharing"]
    single = ("window_cycles", "line_bytes")
    table = pd.DataFrame({name: numbers(d) for name, d in group.items() if name not in single})
    table.index.name = "kernel"
    table.attrs.update({name: int(numbers(group[name])[0]) for name in single})
    return table


def stack(file: h5py.File) -> pd.DataFrame | None:
    """[kernel, chip] cycles by what they were spent on (schema 4, /stack)."""
    if "stack" not in file:
        return None
    columns = {name: d for name, d in file["stack"].items() if isinstance(d, h5py.Dataset) and d.ndim == 2}
    shapes = {d.shape for d in columns.values()}
    if len(shapes) != 1:
        return None
    kernels, chips = shapes.pop()
    index = pd.MultiIndex.from_product([range(kernels), range(chips)], names=["kernel", "chip"])
    return pd.DataFrame({name: numbers(d).reshape(-1) for name, d in columns.items()}, index=index)


def structures(file: h5py.File) -> pd.DataFrame | None:
    """[structure] name, address, bytes of the workload's data structures; the last one stands for all other addresses."""
    if "structures" not in file:
        return None
    group = file["structures"]
    table = pd.DataFrame({"name": texts(group["name"]), "address": numbers(group["address"]),
                          "bytes": numbers(group["bytes"])})
    table.index.name = "structure"
    return table


def structure_use(file: h5py.File) -> pd.DataFrame | None:
    """[kernel, structure, chip] requests, answers by origin and their latency; what no chip used has no row."""
    if "structures" not in file:
        return None
    group = file["structures/use"]
    kernel, structure = numbers(group["kernel"]), numbers(group["structure"])
    chips = int(group["reads"].shape[1])
    index = pd.MultiIndex.from_arrays([np.repeat(kernel, chips), np.repeat(structure, chips),
                                       np.tile(np.arange(chips), len(kernel))], names=["kernel", "structure", "chip"])
    names = ["reads", "writes", "atomics", "remote", *ORIGINS, "latency_cycles"]
    return pd.DataFrame({name: numbers(group[name]).reshape(-1) for name in names if name in group}, index=index)


def structure_homes(file: h5py.File) -> pd.DataFrame | None:
    """[structure, chip] requests of the chip, a column per chip that is home to what was asked for."""
    if "structures" not in file:
        return None
    values = numbers(file["structures/homes"])
    count, chips, _ = values.shape
    index = pd.MultiIndex.from_product([range(count), range(chips)], names=["structure", "chip"])
    return pd.DataFrame(values.reshape(-1, chips), index=index, columns=pd.RangeIndex(chips, name="home"))
