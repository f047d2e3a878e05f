#!/usr/bin/env python3
"""Draws one result of `atoll run` over simulated time: hit rate, memory and link traffic, instructions."""

import argparse
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)

SCHEMA = ("atoll-result", 4)


class BadResult(Exception):
    """The file is not one that this script understands."""


class Series:
    """The counters of one result over time, as arrays of [sample, chip]."""

    def __init__(self, file):
        found = (file.attrs.get("schema"), int(file.attrs.get("schema_version", 0)))
        if found != SCHEMA:
            raise BadResult(f"has schema {found[0]} {found[1]} instead of {SCHEMA[0]} {SCHEMA[1]}")
        self._series = file["series"]
        self.ends = self._series["end_cycle"][:].astype(float)
        if self.ends.size == 0:
            raise BadResult("holds no samples, so there is nothing to draw over time")
        self.edges = np.concatenate(([0.0], self.ends))
        self.lengths = np.maximum(np.diff(self.edges), 1.0)

    def counter(self, name):
        return self._series[name][:].astype(float)

    def per_cycle(self, *names):
        return sum(self.counter(name) for name in names) / self.lengths[:, None]

    def share(self, part, whole):
        """Per sample, over all chips; a gap where nothing happened."""
        part, whole = self.counter(part).sum(axis=1), self.counter(whole).sum(axis=1)
        return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def draw_steps(axes, edges, values, **style):
    """A sample is a mean over a period: a step says that, a line between points would not."""
    axes.step(edges, np.append(values, values[-1:]), where="post", **style)


def draw_chips(axes, series, values):
    for chip in range(values.shape[1]):
        draw_steps(axes, series.edges, values[:, chip], linewidth=1.0, label=f"chip {chip}")


def kernel_starts(file):
    launched, finished = file["kernels/launched"][:], file["kernels/finished"][:]
    return launched[finished > launched][1:]


def title(file):
    of = file["provenance"].attrs
    cut = "" if file.attrs["complete"] else " (stopped early)"
    cycles, digest = int(file.attrs["cycles"]), int(file.attrs["digest"])
    return f"{of['system']}: {of['workload']}{cut}\n{cycles:,} cycles, digest {digest:016x}"


def draw(file):
    series = Series(file)
    figure, panels = plt.subplots(4, 1, sharex=True, figsize=(10, 9), constrained_layout=True)
    hits, dram, links, ipc = panels
    draw_steps(hits, series.edges, series.share("llc.hits", "llc.accesses"), color="black", linewidth=1.2)
    hits.set_ylim(0, 1.02)
    hits.set_ylabel("LLC hit rate\n(all chips)")
    draw_chips(dram, series, series.per_cycle("dram.read_bytes", "dram.write_bytes"))
    dram.set_ylabel("DRAM\n(bytes per cycle)")
    draw_chips(links, series, series.per_cycle("link.bytes"))
    links.set_ylabel("links, sent\n(bytes per cycle)")
    draw_chips(ipc, series, series.per_cycle("warp.instructions"))
    ipc.set_ylabel("warp instructions\nper cycle")
    ipc.set_xlabel("simulated time (cycles)")
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.set_xlim(0, series.edges[-1])
        for start in kernel_starts(file):
            axes.axvline(start, color="grey", linewidth=0.6, linestyle=":")
    for axes in panels[1:]:
        axes.set_ylim(bottom=0)
    chips = dram.get_legend_handles_labels()
    above = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderpad": 0, "frameon": False}
    dram.legend(*(column[:8] for column in chips), ncol=8, fontsize="small", **above)
    figure.suptitle(title(file))
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", help="HDF5 file written by atoll run")
    parser.add_argument("-o", "--output", required=True, help="image to write, e.g. result.png")
    arguments = parser.parse_args()
    try:
        with h5py.File(arguments.result, "r") as file:
            draw(file).savefig(arguments.output, dpi=120)
    except (OSError, KeyError, BadResult) as error:
        print(f"{arguments.result}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
