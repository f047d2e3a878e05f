"""Every program of the workload library passes its own check under `atoll record --check`, which finds no wrong read-only mark
and no race; on several threads it leaves the same trace, which runs on sac-4chip."""

import concurrent.futures
import filecmp
import os
import subprocess
import sys
import tempfile

import program

FOLDER = os.path.join(os.path.dirname(program.ATOLL), "workloads")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")
VARIANTS: dict[str, list[list[str]]] = {
            "cnn": [*(["--network", net] for net in ("alexnet", "resnet", "squeezenet")),
                    ["--network", "resnet50", "--divide", "8", "--blocks", "1", "--ctas", "channels"]],
            "jacobi2d": [[], ["--rows", "300"]], "lu": [[], ["--rows", "300", "--steps", "20"]],
            "pagerank": [[], ["--lanes", "32"], ["--lanes", "64"]], "stencil2d": [[], ["--cta", "tall", "--rows", "300"]],
            "simpleconv": [[], ["--threads", "64"]], "train": [["--network", net] for net in ("vgg16", "resnet18")],
            **{name: [[], ["--sum", "memory"]] for name in ("atax", "gemm", "gemver", "mm2", "mm3")}}


def record(trace, options, name, arguments):
    command = [program.ATOLL, "record", *options, "-o", trace, "--", os.path.join(FOLDER, name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def check(name, arguments, folder):
    """None, or what went wrong."""
    trace = os.path.join(folder, "-".join([name, *arguments]) + ".h5")
    recorded = record(trace, ["--check"], name, arguments)
    held = "every read-only mark held; no shared-memory races" in recorded.stderr
    if recorded.returncode != 0 or "PASS" not in recorded.stdout or not held:
        return f"record: exit code {recorded.returncode}\n{recorded.stdout}{recorded.stderr}"
    checked = trace + ".checked"
    os.rename(trace, checked)
    recorded = record(trace, ["--threads", "4"], name, arguments)
    if recorded.returncode != 0 or "PASS" not in recorded.stdout or not filecmp.cmp(trace, checked, shallow=False):
        return f"record on four threads: exit code {recorded.returncode}, or another trace\n{recorded.stdout}{recorded.stderr}"
    os.remove(checked)
    ran = subprocess.run([program.ATOLL, "run", "sac-4chip", "-w", trace], capture_output=True, text=True, timeout=300, check=False)
    if ran.returncode != 0 or "digest" not in ran.stdout:
        return f"run: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}"
    size = os.path.getsize(trace)
    os.remove(trace)
    print(f"{name} {' '.join(arguments)}: passes, {size:,} bytes", flush=True)
    return None


if not os.path.isdir(FOLDER) or not os.listdir(FOLDER) or not os.path.exists(RUNTIME):
    print("skipped: the programs are built where nvcc is")
    sys.exit(program.SKIPPED)
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    cases = [(name, more) for name in sorted(os.listdir(FOLDER)) for more in VARIANTS.get(name, [[]])]
    outcomes = list(pool.map(lambda case: check(case[0], case[1], folder), cases))
failed = [f"{name} {' '.join(more)}: {why}" for (name, more), why in zip(cases, outcomes) if why]
print("\n".join(failed))
sys.exit(1 if failed else 0)
