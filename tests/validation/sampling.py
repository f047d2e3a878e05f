#!/usr/bin/env python3
"""Runs workloads whole and sampled, and compares: work saved, true error, intervals, ranking of organisations.

    sampling.py [--atoll build/release/atoll] [--results results/sampling] [--only NAME] [--jobs 1]
    sampling.py --long ...     two programs of the workload library that run for ten minutes and more; records them first

Runs what is missing in the folder of results, and writes the tables of docs/validation/sampling.md between its markers.
Parametric workloads are made by this script. Work is events handled, which no other load on the host changes; processor
seconds, which include the reading of the workload for the plan, stand beside.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "validation" / "sampling.md"
ORGANISATIONS = ("memory_side", "sm_side", "sac")
RECORDED = ("atax", "backprop", "bfs", "conv2d", "gemm", "histogram", "jacobi2d", "squeezenet", "srad", "stencil2d",
            "vectoradd")
#: Programs of ten minutes and more on the machine simulated: a solver that repeats its launches, and a factorisation whose
#: launches shrink from step to step. Chosen, and sized by events alone, before either was sampled.
LONG = {"cfd": "cfd --width 768 --height 512 --steps 100", "lu": "lu --n 2304"}
#: what a run is called, and its --sample; cold: what warming the LLC is worth
MODES = {"whole": None, "sampled": "error=3%", "cold": "error=3%,warm=no"}
SCALE = 8  # of parametric workloads: LLC and footprints
#: metric: absolute error (of a rate) or relative one
FIGURES = {"cycles": False, "llc.hit_rate": True, "link.bytes": False, "energy.total": False}


def region(name, kind, kib, weight=1, **more):
    return {"name": name, "kind": kind, "size_kib": kib, "weight": weight, "pattern": "stream", **more}


def kernel(name, ctas, regions, memory=24, compute=4, **more):
    return {"name": name, "ctas": ctas, "warps_per_cta": 8, "concurrent_ctas": 256, "memory_instructions": memory,
            "compute_instructions": compute, "regions": regions, **more}


def iterative(iterations):
    """A solver: three kernels, iterated on the same data."""
    grid = region("grid", "private", 65536, 3, near_reuse=0.3, near_lines=256, write_fraction=0.2)
    table = region("table", "true_shared", 16384, 2, near_reuse=0.2, near_lines=256, far_reuse=0.4, far_lines=8192)
    halo = region("halo", "false_shared", 8192, 1, near_reuse=0.2, near_lines=128, write_fraction=0.3)
    step = [kernel("stencil", 512, [grid, halo]), kernel("gather", 384, [grid, table], 16),
            kernel("reduce", 128, [{**grid, "write_fraction": 0}], 32, 2)]
    return step * iterations


def network(batches):
    """Inference: batches through 14 layers of different sizes; weights are shared and read-only."""
    layers = []
    for i in range(14):
        weights = region(f"weights{i}", "true_shared", 2048 * (1 + i % 4), 3, near_reuse=0.2, near_lines=128,
                         far_reuse=0.5, far_lines=8192, read_only=True)
        activations = region("activations", "private", 32768, 2, write_fraction=0.3)
        layers.append(kernel("gemm" if i % 3 else "conv", 64 * (2 + i % 5), [weights, activations], 16 + 4 * (i % 3), 6))
    return layers * batches


def frontier():
    """A search: 160 levels, whose frontier grows and shrinks again, so that launches of a kernel differ in size."""
    graph = region("graph", "true_shared", 65536, 3, pattern="hot_set", accesses=4, sectors=1)
    queue = region("queue", "private", 8192, 1, write_fraction=0.4)
    levels = []
    for level in range(160):
        ctas = 32 + round(480 * math.exp(-((level - 80) / 40) ** 2))
        levels += [kernel("expand", ctas, [graph, queue], 12, 2), kernel("contract", max(16, ctas // 4), [queue], 16, 2)]
    return levels


def drift():
    """320 launches of one kernel whose working set grows by little and little from a part of the LLC to a multiple."""
    launches = []
    for i in range(320):
        reach = round(2048 * 2 ** (i / 64))
        data = region("data", "true_shared", 131072, 1, near_reuse=0.2, near_lines=128, far_reuse=0.6, far_lines=reach)
        launches.append(kernel("sweep", 256, [data], 24, 3))
    return launches


#: its kernels, made when the file is written
PARAMETRIC = {"iterative": lambda: iterative(120), "iterative_long": lambda: iterative(600), "network": lambda: network(25),
              "network_long": lambda: network(120), "frontier": frontier, "drift": drift}


def long_points(atoll, results):
    """As points(); records what is not there."""
    results.mkdir(parents=True, exist_ok=True)
    for name, command in LONG.items():
        path, (program, *words) = results / f"{name}.h5", command.split()
        if not path.exists():
            binary = atoll.resolve().parent / "workloads" / program
            subprocess.run([str(atoll), "record", "--quiet", "-o", str(path), "--", str(binary), *words], check=True)
        yield name, path, []


def points(results):
    """Name, file, overrides of every workload."""
    for name in RECORDED:
        yield name, ROOT / "inputs" / "workloads" / "traces" / f"{name}.h5", []
    results.mkdir(parents=True, exist_ok=True)
    for name, make in PARAMETRIC.items():
        path = results / f"{name}.json"
        path.write_text(json.dumps({"seed": 11, "kernels": make()}))
        yield name, path, ["--scale", str(SCALE)]


def run(atoll, results, name, workload, options, organisation, mode):
    """Simulates one point, unless its result is there. Leaves its figures beside the result."""
    stem = results / f"{name}__{organisation}__{mode}"
    facts = stem.with_name(stem.name + ".facts.json")
    if facts.is_file():
        return
    out = stem.with_name(stem.name + ".h5")
    command = [str(atoll), "run", "sac-4chip", "-w", str(workload), "--set", f"llc.organisation={organisation}", *options,
               "-o", str(out), "-f", "-q", *(["--sample", MODES[mode]] if MODES[mode] else [])]
    child = subprocess.Popen(command)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    info = json.loads(subprocess.run([str(atoll), "info", str(out), "--json"], check=True, capture_output=True).stdout)
    totals = info["totals"]
    found = {"cycles": info["cycles"], "llc.hit_rate": totals["llc.hits"] / max(1, totals["llc.accesses"]),
             "link.bytes": totals["link.bytes"], "energy.total": sum(info["energy_joules"].values()),
             "events": info["provenance"]["events"], "cpu": used.ru_utime + used.ru_stime, "launches": len(info["kernels"]),
             "kernels": [kernel["cycles"] for kernel in info["kernels"]], "version": info["provenance"]["git_commit"]}
    if MODES[mode]:
        of = info["sampling"]
        found.update({figure: of["figures"].get(figure, {"value": 0.0})["value"] for figure in FIGURES})
        found["half"] = {figure: of["figures"].get(figure, {"half_width": 0.0})["half_width"] for figure in FIGURES}
        found["simulated"] = of["simulated_launches"]
        found["kernels"] = [launch["cycles"] if launch["simulated"] else None for launch in of["launches"]]
        found["work"] = of["work"] / of["simulated_work"]
    facts.write_text(json.dumps(found, indent=1))
    print(f"{stem.name}: {found['cpu']:.1f} s", flush=True)


def read(results, name, organisation, mode):
    return json.loads((results / f"{name}__{organisation}__{mode}.facts.json").read_text())


def error(whole, part, figure):
    if FIGURES[figure]:
        return part[figure] - whole[figure]
    return part[figure] / whole[figure] - 1 if whole[figure] else 0.0


def state_error(whole, part):
    """Of launches that were simulated in both: how much longer they took in the sampled run, for want of what skipped ones
    would have left in caches and page homes (and of the rest of launches that ended early)."""
    both = [(w, p) for w, p in zip(whole["kernels"], part["kernels"]) if p is not None]
    return sum(p for _, p in both) / sum(w for w, _ in both) - 1


def percent(value):
    return f"{100 * value:+.2f} %".replace("-", "−")


def same_ranking(whole, part):
    """Every pair that the whole runs tell apart by more than 1 % is in the same order."""
    return all((whole[a] < whole[b]) == (part[a] < part[b]) for a in whole for b in whole
               if abs(whole[a] / whole[b] - 1) > 0.01)


def by_run(results, names):
    rows = ["| workload | organisation | launches simulated | events | CPU time | cycles | interval | state | LLC hits "
            "| link bytes | energy |", "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    held = 0
    for name in names:
        for organisation in ORGANISATIONS:
            whole, part = read(results, name, organisation, "whole"), read(results, name, organisation, "sampled")
            errors = {figure: error(whole, part, figure) for figure in FIGURES}
            inside = abs(part["cycles"] - whole["cycles"]) <= part["half"]["cycles"] + 0.5
            held += inside
            rows.append(f"| {name} | {organisation} | {part['simulated']} of {whole['launches']} "
                        f"| 1 / {whole['events'] / part['events']:.1f} | 1 / {whole['cpu'] / part['cpu']:.1f} "
                        f"| {percent(errors['cycles'])} | ±{100 * part['half']['cycles'] / part['cycles']:.2f} %"
                        f"{'' if inside else ', missed'} | {percent(state_error(whole, part))} | {percent(errors['llc.hit_rate'])} "
                        f"| {percent(errors['link.bytes'])} | {percent(errors['energy.total'])} |")
    rows.append(f"\nThe interval of the cycles held those of the whole run in {held} of {3 * len(names)} runs.")
    return "\n".join(rows)


def warming(results, names):
    """Where skipped launches leave something in the LLC: with and without it, of the organisation that keeps it."""
    rows = ["| memory_side | LLC hits, warmed | not warmed | cycles, warmed | not warmed | CPU time, warmed | not warmed |",
            "|---|---:|---:|---:|---:|---:|---:|"]
    for name in names:
        whole, warm, cold = (read(results, name, "memory_side", mode) for mode in MODES)
        if cold["simulated"] == whole["launches"] and cold["work"] < 1.01:
            continue
        rows.append(f"| {name} | {percent(error(whole, warm, 'llc.hit_rate'))} | {percent(error(whole, cold, 'llc.hit_rate'))} "
                    f"| {percent(error(whole, warm, 'cycles'))} | {percent(error(whole, cold, 'cycles'))} "
                    f"| 1 / {whole['cpu'] / warm['cpu']:.1f} | 1 / {whole['cpu'] / cold['cpu']:.1f} |")
    return "\n".join(rows)


def summary(results, names):
    rows = ["| workloads | events saved | mean error of cycles | largest | LLC hits, largest | link bytes, largest "
            "| ranking kept |", "|---|---:|---:|---:|---:|---:|---:|"]
    for title, group in (("recorded", [n for n in names if n in RECORDED]), ("parametric", [n for n in names if n in PARAMETRIC]),
                         ("long", [n for n in names if n in LONG]), ("all", names)):
        if not group:
            continue
        pairs = [(read(results, n, o, "whole"), read(results, n, o, "sampled")) for n in group for o in ORGANISATIONS]
        errors = {figure: [abs(error(w, p, figure)) for w, p in pairs] for figure in FIGURES}
        kept = sum(same_ranking(*({o: read(results, n, o, mode)["cycles"] for o in ORGANISATIONS}
                                  for mode in ("whole", "sampled"))) for n in group)
        saved = sum(w["events"] for w, _ in pairs) / sum(p["events"] for _, p in pairs)
        rows.append(f"| {title} | 1 / {saved:.1f} | {100 * sum(errors['cycles']) / len(pairs):.2f} % "
                    f"| {100 * max(errors['cycles']):.2f} % | {100 * max(errors['llc.hit_rate']):.2f} points "
                    f"| {100 * max(errors['link.bytes']):.2f} % | {kept} of {len(group)} |")
    return "\n".join(rows)


def write(page, tables):
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"{page} lacks the markers {begin} and {end}")
        text = text[:text.index(begin) + len(begin)] + f"\n{table}\n" + text[text.index(end):]
    page.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", type=pathlib.Path, default=ROOT / "build" / "release" / "atoll")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results" / "sampling")
    parser.add_argument("--only", action="append", help="a workload; repeatable. The page is left as it is")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="the long programs instead")
    parser.add_argument("--whole", action="store_true", help="only the whole runs; no tables")
    options = parser.parse_args()
    todo = list(long_points(options.atoll, options.results) if options.long else points(options.results))
    names = [name for name, _, _ in todo]
    for name in options.only or []:
        if name not in names:
            parser.error(f"--only: there is no {name}; there are {', '.join(names)}")
    chosen = [point for point in todo if not options.only or point[0] in options.only]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        modes = ["whole"] if options.whole else list(MODES)
        runs = [pool.submit(run, options.atoll, options.results, name, file, more, organisation, mode)
                for name, file, more in chosen for organisation in ORGANISATIONS for mode in modes]
        for done in runs:
            done.result()
    if options.whole:
        return 0
    chosen_names = [name for name, _, _ in chosen]
    tables = {"summary": summary(options.results, chosen_names), "warming": warming(options.results, chosen_names),
              "runs": by_run(options.results, chosen_names)}
    print("\n\n".join(tables.values()))
    if options.long:
        cpu = lambda *run: read(options.results, *run)["cpu"] / 60
        minutes = [f"- {n}, {o}: {cpu(n, o, 'whole'):.1f} minutes of CPU time whole, {cpu(n, o, 'sampled'):.1f} sampled"
                   for n in chosen_names for o in ORGANISATIONS]
        tables = {"long": "\n\n".join([tables["summary"], tables["runs"], tables["warming"], "\n".join(minutes)])}
    if not options.only:
        write(PAGE, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
