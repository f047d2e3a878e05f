#!/usr/bin/env python3
"""Runs the microbenchmarks on the presets of real GPUs, and holds them against what others have measured.

    python3 tests/validation/hardware.py [--atoll PROGRAM] [--only NAME] [--results FILE] [--write] [--measure]

What has been simulated is kept in --results and not simulated again; delete the file after a change of the simulator, of a
preset or of a benchmark. --write puts table and plots into docs/validation/hardware.md and docs/images. --measure also runs
the CUDA programs of inputs/workloads/micro on the GPU of this machine, where nvidia-smi finds one, and adds a column. Nothing
is fitted: what was measured by others is in machines/published.py, and what each parameter was derived from in
docs/systems.md.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "machines"))
import micro  # noqa: E402
import published  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "validation", "hardware.md")
BEGIN, END = "<!-- results: tests/validation/hardware.py --write -->", "<!-- end of results -->"


def kernels_of(machine, figure):
    """The kernels of a figure, and what their difference moves: loads of a chase, or bytes."""
    sms, lanes = machine.sms, machine.lanes
    line = micro.LINE
    if figure.kind == "chase":
        made = micro.chase(*figure.arguments, chips_of(machine))
        return made, 2 * made[-1]["memory_instructions"] / 3
    wide = lanes * 8 // line
    if figure.kind in ("l1", "read"):
        warps = 1024 // lanes
        steps = (4, 64) if figure.kind == "l1" else (8, 8)
        made = micro.repeat_read(*figure.arguments, 2 * sms, warps, *steps, wide)
        return made, 2 * steps[1] * 2 * sms * warps * wide * line
    if figure.kind == "stream":
        what, threads = figure.arguments
        shared = machine_config(machine)["sm"]["shared_kib"] // 2
        llc = machine_config(machine)["llc"]["size_kib"] * chips_of(machine)
        writes = micro.STREAMS[what][1]
        made = micro.stream(what, llc * 5 // 4 if writes else 49152, 2 * sms, threads // lanes, wide, shared)
        arrays = sum(micro.STREAMS[what])
        return made, (made[-1]["ctas"] - made[-2]["ctas"]) * threads * 8 * arrays
    if figure.kind == "in_flight":
        ctas, stages, threads = figure.arguments
        warps = ctas * stages * threads // 32  # of an SM, with one load under way each; what exceeds 64 warps is in flight
        loads = max(1, warps // 64)
        made = micro.in_flight(sms, min(warps, 64) // 2, loads)
        made = [{**k, "ctas": 2 * sms} for k in made] if warps >= 2 else made
        steps = made[-1]["memory_instructions"] - made[-2]["memory_instructions"]
        return made, steps * 2 * sms * made[-1]["warps_per_cta"] * 512
    made = micro.stream("read", 49152, 2 * sms, 1024 // lanes, wide)  # link: the half that the far chip reads
    return made, (made[-1]["ctas"] - made[-2]["ctas"]) * 1024 * 8 / 2


def chips_of(machine):
    return 1 if "chips=1" in machine.sets else machine_config(machine)["chips"]


def machine_config(machine):
    with open(os.path.join(ROOT, "inputs", "systems", machine.preset + ".json"), encoding="utf-8") as f:
        return json.load(f)


class Results:
    """What has been simulated, in a file that grows with every figure."""

    def __init__(self, path):
        self.path, self.values = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.values = json.load(f)

    def simulate(self, atoll, machine, figure, sets=()):
        key = " ".join(str(word) for word in (machine.name, figure.kind, *figure.arguments, *sets))
        if key not in self.values:
            self.values[key] = simulate(atoll, machine, figure, sets)
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            with open(self.path, "w", encoding="utf-8") as f:
                json.dump(self.values, f, indent=1)
        return self.values[key]


def simulate(atoll, machine, figure, sets=()):
    """The figure as Atoll has it: cycles of a load, or GB/s."""
    made, moved = kernels_of(machine, figure)
    with tempfile.TemporaryDirectory() as folder:
        work, result = os.path.join(folder, "micro.json"), os.path.join(folder, "out.h5")
        with open(work, "w", encoding="utf-8") as f:
            json.dump(micro.workload("hardware.py", made), f)
        command = [atoll, "run", machine.preset, "-w", work, "-q", "-f", "-o", result]
        for s in (*machine.sets, *sets, *(("partition.placement=fixed", "partition.fixed_chip=0") if figure.kind == "link" else ())):
            command += ["--set", s]
        subprocess.run(command, check=True)
        info = json.loads(subprocess.run([atoll, "info", result, "--json"], check=True, capture_output=True, text=True).stdout)
    cycles = {k["name"]: k["cycles"] for k in info["kernels"]}
    short = next(k["name"] for k in made if k["name"].startswith("short"))
    taken = cycles[made[-1]["name"]] - cycles[short]
    return taken / moved if figure.kind == "chase" else moved / taken * machine.clock_mhz / 1e3


def name_of(machine, figure):
    a = figure.arguments
    if figure.kind == "chase":
        return f"latency, {a[0]:,} KiB"
    if figure.kind in ("l1", "read"):
        return f"{'L1' if figure.kind == 'l1' else 'L2 or memory'}, read {a[0]:,} KiB"
    if figure.kind == "stream":
        return f"memory, {a[0]}, 2 x {a[1]} threads"
    if figure.kind == "in_flight":
        return f"memory, {a[0] * a[1] * a[2] * 16 // 1024} KiB in flight ({a[0]} CTA, {a[1]} stages, {a[2]} threads)"
    return "link, read of the other die's memory"


def measure(figure):
    """The same by the CUDA programs on this machine's GPU: None where they do not have it."""
    build = os.path.join(ROOT, "build", "release", "workloads")
    programs = {"chase": ("micro_chase", 2), "read": ("micro_bandwidth", 1)}
    if figure.kind not in programs or not 1 <= figure.arguments[0] <= 1 << 22:
        return None
    program, column = programs[figure.kind]
    kib = str(figure.arguments[0])
    more = ["--loads", "200000"] if figure.kind == "chase" else ["--rounds", "50", "--ctas", "1024", "--threads", "512"]
    run = subprocess.run([os.path.join(build, program), "--least", kib, "--most", kib, *more], check=True, capture_output=True, text=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    return next(float(r[column]) for r in rows if r and r[0] == kib)


def has_gpu():
    return shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi"], capture_output=True, check=False).returncode == 0


def table(rows, measured):
    head = ["figure", "published", "simulated", "difference", "note"] + (["measured here"] if measured else [])
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, figure, value, here in rows:
        unit = "cycles" if figure.kind == "chase" else "GB/s"
        digits = 0 if figure.value >= 1000 else 1
        note = "derived from it" if figure.derived else figure.note
        cells = [name, f"{figure.value:,.{digits}f} {unit}", f"{value:,.{digits}f}", f"{value / figure.value - 1:+.1%}", note]
        out.append("| " + " | ".join(cells + ([f"{here:,.1f}" if here else ""] if measured else [])) + " |")
    return "\n".join(out)


def errors(rows):
    """Absolute differences of the checks, by (bandwidth, all without a note, all)."""
    checks = [(f, abs(v / f.value - 1)) for _, f, v, _ in rows if not f.derived]
    clean = [e for f, e in checks if not f.note]
    return clean, [e for _, e in checks]


def percent(values):
    return f"{sum(values) / len(values):.1%}" if values else "-"


def stairs(results, atoll, machine):
    """Latency against footprint: one line, or near and far for more chips than one."""
    chips = chips_of(machine)
    ways: dict[str, tuple] = {"": ()} if chips == 1 else {"near": ("partition.placement=fixed", f"partition.fixed_chip={chips - 1}"),
                                        "far": ("partition.placement=fixed", "partition.fixed_chip=0")}
    return {way: [(kib, results.simulate(atoll, machine, published.Figure("chase", (kib,), 0), sets)) for kib in machine.footprints]
            for way, sets in ways.items()}


def plot(results, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    for axis, kinds, unit in ((axes[0], ("chase",), "cycles for a load"), (axes[1], ("read",), "GB/s")):
        for i, (machine, rows, lines) in enumerate(results):
            colour = f"C{i}"
            if kinds == ("chase",):
                for way, points in lines.items():
                    axis.plot(*zip(*points), color=colour, linestyle="--" if way == "far" else "-", label=f"{machine.name} {way}".strip())
            points = sorted((f.arguments[0], f.value, v) for _, f, v, _ in rows if f.kind in kinds)
            if not points:
                continue
            sizes, values, simulated = zip(*points)
            axis.plot(sizes, values, "o", color=colour, fillstyle="none")
            if kinds != ("chase",):
                axis.plot(sizes, simulated, "-", color=colour, label=machine.name)
        axis.set_xscale("log", base=2)
        axis.set_xlabel("footprint, KiB (circles: published)")
        axis.set_ylabel(unit)
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoll", default=os.environ.get("ATOLL", os.path.join(ROOT, "build", "release", "atoll")))
    parser.add_argument("--only", default="", help="machines whose name or preset contains this")
    parser.add_argument("--write", action="store_true", help="write docs/validation/hardware.md and the plot")
    parser.add_argument("--measure", action="store_true", help="run the CUDA programs on this machine's GPU, too")
    parser.add_argument("--results", default=os.path.join(ROOT, "results", "hardware.json"), help="what has been simulated")
    options = parser.parse_args()
    done = Results(options.results)
    if options.measure and not has_gpu():
        sys.exit("hardware.py: --measure needs a GPU, and nvidia-smi finds none")

    results, parts = [], []
    for machine in published.MACHINES:
        if options.only.lower() not in (machine.name + machine.preset).lower():
            continue
        rows = []
        for figure in machine.figures:
            value = done.simulate(options.atoll, machine, figure)
            rows.append((name_of(machine, figure), figure, value, measure(figure) if options.measure else None))
            print(f"{machine.name}: {rows[-1][0]}: published {figure.value:,.1f}, simulated {value:,.1f}", flush=True)
        lines = stairs(done, options.atoll, machine) if any(f.kind == "chase" for f in machine.figures) else {}
        for way, points in lines.items():
            print(f"{machine.name} {way}: " + ", ".join(f"{k} KiB {v:.0f}" for k, v in points), flush=True)
        results.append((machine, rows, lines))
        clean, every = errors(rows)
        sources = "; ".join(f"{kind}: {text}" for kind, text in machine.sources.items())
        parts.append(f"### {machine.name}: `{machine.preset}`\n\n{sources}.\n\n{table(rows, options.measure)}\n\n"
                     f"Mean difference of the checks: {percent(every)}; without those marked above: {percent(clean)}.\n")
        for way, points in lines.items():
            if way:
                parts[-1] += f"\nLatency, data on the {way} die: " + ", ".join(f"{k:,} KiB {v:.0f}" for k, v in points) + " cycles.\n"
    clean = [e for _, rows, _ in results for e in errors(rows)[0]]
    every = [e for _, rows, _ in results for e in errors(rows)[1]]
    summary = (f"All checks: {len(every)}, mean difference {percent(every)}; without those marked as what the model cannot show: "
               f"{len(clean)}, {percent(clean)}.\n")
    text = summary + "\n" + "\n".join(parts)
    print(text)
    if options.write:
        plot(results, os.path.join(ROOT, "docs", "images", "hardware.png"))
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page[:begin] + "\n\n" + text + "\n" + page[end:])


if __name__ == "__main__":
    main()
