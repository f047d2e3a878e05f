#!/usr/bin/env python3
"""REC's sensitivity study (sections 5.3 and 5.4) on its twelve programs.

    sensitivity.py [--jobs N] [--out DIR] [--atoll PATH] [--only AXIS...] [--write] [NAME...]
    sensitivity.py --check | --update       inputs/experiments/rec_sensitivity.json is, or becomes, what this script says

One command runs every point and prints the tables, on traces of record.py; what is in `--out` is not run again. --write
keeps what the runs gave in sensitivity.csv, beside what was kept before, and puts its tables into docs/validation/rec.md.
--kept makes the tables from what is kept, without a run. Needs h5py."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import axes
import published
import report
from axes import Settings, Study
from points import read

ENTRIES, L2_KIB, LINK = 2048, 512, 37.5  # of a GPU of a quarter of the size
DIRECTORY: Settings = {"coherence.protocol": "directory"}
REC: Settings = {"coherence.protocol": "rec"}

# Axis, its points in order, and what each sets; nothing is the machine of the paper, of which all are a quarter. Names are
# those of the whole machine. Inputs stay the same on more GPUs, and on the one like Ada, whose caches leave little to evict.
AXES: dict[str, dict[str, Settings]] = {
    "range, B": {"128": {"coherence.range_bytes": 128}, "256": {"coherence.range_bytes": 256},
                 "512": {"coherence.range_bytes": 512}, "1024": {}, "2048": {"coherence.range_bytes": 2048},
                 "4096": {"coherence.range_bytes": 4096}},
    "entries": {"2 K": {"coherence.directory_entries": ENTRIES // 4}, "4 K": {"coherence.directory_entries": ENTRIES // 2},
                "8 K": {}, "16 K": {"coherence.directory_entries": ENTRIES * 2},
                "32 K": {"coherence.directory_entries": ENTRIES * 4}},
    "replacement": {"as published": {}, "FIFO": {"coherence.directory_replacement": "fifo"},
                    "LRU": {"coherence.directory_replacement": "lru"}},
    "L2, MB": {"0.5": {"llc.size_kib": L2_KIB // 4}, "1": {"llc.size_kib": L2_KIB // 2}, "2": {},
               "4": {"llc.size_kib": L2_KIB * 2}, "8": {"llc.size_kib": L2_KIB * 4}},
    "links, GB/s": {"150": {"link.bandwidth_gbps": LINK / 2}, "300": {}, "450": {"link.bandwidth_gbps": LINK * 1.5},
                    "600": {"link.bandwidth_gbps": LINK * 2}},
    "shader arrays": {"16": {}, "32": {"sm.count": 32}},
    "GPUs": {"4": {}, "8": {"chips": 8}, "16": {"chips": 16}},
    "GPU": {"R9 Nano": {}, "Ada": {"sm.count": 32, "l1.size_kib": 128, "llc.size_kib": 18432, "line_bytes": 128,
                                   "coherence.range_bytes": 2048, "dram.timing.burst_bytes": 128}},
}
# A directory with entries for 8 and 16 GPUs takes 3 and 5 times the storage under REC: those of the baseline beside it.
LARGER: dict[str, dict[str, Settings]] = {"8": {"directory_3x": {**DIRECTORY, "coherence.directory_entries": 3 * ENTRIES}},
          "16": {"directory_5x": {**DIRECTORY, "coherence.directory_entries": 5 * ENTRIES}}}


def organisations(axis, point):
    if axis == "range, B":
        return {"rec": REC}  # the baseline has no ranges
    return {"directory": DIRECTORY, **(LARGER.get(point, {}) if axis == "GPUs" else {}), "rec": REC}


STUDY = Study(
    experiment=report.ROOT / "inputs/experiments/rec_sensitivity.json",
    head={"doc": "REC's sensitivity study: written by tests/validation/rec/sensitivity.py, which says what each point stands for, runs"
                 " them all and makes the tables of docs/validation/rec.md. Pages in rotation, as in rec_placement.json.",
          "recorded_by": "tests/validation/rec/record.py",
          "system": "rec-4gpu",
          "set": {"sm.count": 16, "sm.warps": 64, "llc.slices": 4, "llc.size_kib": L2_KIB, "dram.channels": 4,
                  "link.bandwidth_gbps": LINK, "coherence.directory_entries": ENTRIES, "partition.page_kib": 1,
                  "partition.interleave_kib": 1}},
    workloads=[{"name": w, "path": f"../../results/rec-traces/{w}.h5"} for w in published.WORKLOADS],
    axes=AXES, organisations={"directory": DIRECTORY, "rec": REC},
    kept=pathlib.Path(__file__).resolve().parent / "sensitivity.csv",
    figures=("cycles", "packets", "misses", "evictions", "lines", "links"), only=organisations)


def figures(path):
    run = read(path)
    return {k: run[k] for k in STUDY.figures}


def tables(runs):
    lines = []
    for axis, points in AXES.items():
        rows = []
        for point in points:
            suffix, here = STUDY.suffix(axis, point), organisations(axis, point)
            base = "directory" + (suffix if "directory" in here else "")
            names = [w for w in published.WORKLOADS if (w, base) in runs and (w, "rec" + suffix) in runs]
            if not names:
                continue
            gain = lambda o: report.geometric(STUDY.speedup(runs, w, o, axis, point) for w in names)
            over = lambda key: report.mean(runs[w, "rec" + suffix][key] / max(1.0, runs[w, base][key]) for w in names)
            larger = [o for o in here if o not in ("directory", "rec") and (names[0], o + suffix) in runs]
            known = [w for w in names if (w, "directory") in runs]
            rows.append([f"**{point}**" if not suffix else point,
                         f"{report.geometric(runs[w, 'directory']['cycles'] / runs[w, base]['cycles'] for w in known):.2f}",
                         f"{report.mean(runs[w, base]['links'] for w in names):.2f}", f"{gain('rec'):.2f}",
                         ", ".join(f"{o.removeprefix('directory_')}: {gain(o):.2f}" for o in larger),
                         f"{over('misses'):.2f}", f"{over('packets'):.2f}",
                         *(f"{STUDY.speedup(runs, w, 'rec', axis, point):.2f}" if w in names else "-" for w in published.WORKLOADS)])
        if rows:
            lines += [f"**{axis}**", ""] + report.table(
                ["", "baseline's speed", "its links", "REC", "larger directory", "misses", "packets", *published.WORKLOADS], rows)
    return lines


if __name__ == "__main__":
    axes.main(STUDY, __doc__, report.PAGE, figures, tables)
