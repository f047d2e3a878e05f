"""What the test of the documents' commands does about each document.

Commands run as they stand, top to bottom, in a folder of the document's own, unless this says otherwise. What is listed and
is no longer in the document is a fault."""

import dataclasses

MIXED = "inputs/workloads/mixed.json"
FIXTURE = "tests/unit/inputs_ptx/fixtures/features"


@dataclasses.dataclass
class Plan:
    before: list = dataclasses.field(default_factory=list)  # commands that make what the document takes for granted
    words: dict = dataclasses.field(default_factory=dict)  # placeholders, and what stands there in the test
    instead: dict = dataclasses.field(default_factory=dict)  # beginning of a command: the command that runs for it
    not_run: dict = dataclasses.field(default_factory=dict)  # beginning of a command: why it cannot run here
    needs: dict = dataclasses.field(default_factory=dict)  # beginning of a command: a command that fails where it cannot run
    differs: dict = dataclasses.field(default_factory=dict)  # beginning of a command: why it may print other lines
    smaller: bool = False  # runs of `mixed` have a sixteenth of its footprint, so that CI spends less time
    save: dict = dataclasses.field(default_factory=dict)  # number of a fenced block with code, from 1: file that gets it
    not_code: dict = dataclasses.field(default_factory=dict)  # number of a block with code: why it is not executed
    after: list = dataclasses.field(default_factory=list)  # commands that use what was saved


HOURS = "takes from many minutes to hours"
SLURM = "needs Slurm: integration_slurm runs these scripts"
RECORDED = "needs programs that nvcc has built; integration_record has the same for other programs"
ANALYSIS = "python3 -c 'import h5py, jinja2, matplotlib, pandas'"
GEMM = "test -x build/release/workloads/gemm"

# The run may have ended before it is watched: exit code 4.
WATCH = ("(atoll run sac-4chip -w mixed --scale 4 --monitor 0 2>address & until grep '/$' address; do sleep 0.1; done; "
         "atoll watch $(grep -o 'http.*' address) || test $? = 4; wait)")

PLANS = {
    "README.md": Plan(
        smaller=True,
        before=[
            f"atoll run sac-4chip -w {MIXED} -o B.h5 --checkpoint-every 102400 --max-cycles 110000",
            f"cp examples/policy_plugin/sac.py mine.py && cp {FIXTURE}.ptx FILE.ptx",
            "cp B.h5 A.h5 && cp B.h5 out.h5",
            """printf '%s' '{"system": "sac-4chip", "scale": 16, "baseline": "m", "workloads": [{"name": "stream",
            "path": "inputs/workloads/stream.json"}], "variants": [{"name": "m", "set": {}}], "sweeps": [{"key":
            "link.bandwidth_gbps", "values": [96, 192]}]}' >EXPERIMENT.json""",
        ],
        words={
            "SYSTEM": "sac-4chip", "W": MIXED, "key=value": "chips=4", "N": "50000", "...": f"-w {MIXED} --scale 16", "DIR": "swept",
            "KEY": "link.bandwidth_gbps", "M": "ipc", "OUT.h5.512000.ckpt": "B.h5.102400.ckpt -o R.h5", "args": "", "./program":
            "build/release/workloads/gemm", "kernelslist.g": "sass/kernelslist.g",
        },
        instead={
            "atoll run SYSTEM ... -o OUT.h5 --checkpoint-every 10min":
                f"atoll run sac-4chip -w {MIXED} -o O.h5 --checkpoint-every 10min --scale 16",
            "atoll run SYSTEM ... --kernels": f"atoll run sac-4chip -w {MIXED} --scale 16 --kernels 3-10,name=up* --ctas 0-99",
            "atoll export OUT.h5": "atoll export OUT.h5 --perfetto T.json --csv tables",
            "atoll sweep EXPERIMENT.json": "atoll sweep EXPERIMENT.json --jobs 2 --out swept",
            "atoll record --check ...": "atoll record --check -o check.h5 -- build/release/workloads/gemm --ni 64 --nj 64 --nk 64",
            "atoll record -o T.h5": "atoll record -o T.h5 -- build/release/workloads/gemm --ni 64 --nj 64 --nk 64",
            "atoll import": "atoll import accel-sim sass/kernelslist.g -o I.h5",
            "atoll watch": WATCH,
        },
        not_run={"./bootstrap.sh demo": "installs packages and builds; integration_installation runs the same demo from a prefix"},
        needs={"PYTHONPATH=analysis": ANALYSIS, "atoll record": GEMM},
    ),
    "docs/README.md": Plan(
        smaller=True,
        before=[
            """printf '%s' '{"system": "sac-4chip", "scale": 16, "baseline": "m", "workloads": [{"name": "stream",
            "path": "inputs/workloads/stream.json"}], "variants": [{"name": "m", "set": {}}], "sweeps": [{"key":
            "link.bandwidth_gbps", "values": [96, 192]}]}' >mine.json""",
            "cp sass/* .",
        ],
        instead={
            "mpirun": "mpirun -n 5 atoll run sac-4chip --set chips=16 --scale 16 -w mixed -o out.h5",
            "atoll record": "atoll record -o T2.h5 -- build/release/workloads/gemm --ni 64 --nj 64 --nk 64",
        },
        needs={"atoll-report": ANALYSIS, "atoll record": GEMM, "atoll info T2.h5": GEMM},
    ),
    "docs/installation.md": Plan(
        instead={"$HOME/atoll/bin/atoll sweep": "$HOME/atoll/bin/atoll sweep quick --only 'gemm__*'"},
        not_run={"packaging/make.sh": "builds everything anew; its try.sh is what integration_installation runs",
                 "sudo apt-get": "changes the machine", "tar": "needs the tarball of packaging/make.sh"},
        needs={"pip install": "python3 -c 'import setuptools, wheel, pip'", "PYTHONPATH=python": f"test -d python && {ANALYSIS}"},
    ),
    "docs/analysis.md": Plan(
        before=[f"atoll run sac-4chip -w {MIXED} --scale 16 -o out.h5"],
        instead={"atoll run": f"atoll run sac-4chip -w {MIXED} --set llc.organisation=sac --set observe.sharing=true -o out.h5 --force"},
        needs={"PYTHONPATH=analysis": ANALYSIS, "atoll-report": ANALYSIS,
               "python3 -m venv": f"{ANALYSIS} && python3 -c 'import setuptools, wheel, ensurepip'",
               "env/bin/atoll-report": "test -x env/bin/atoll-report"},
    ),
    "docs/checkpoints.md": Plan(
        before=[f"cp {MIXED} W.json"],
        words={"500000": "100000", "out.h5.1000448.ckpt": "out.h5.200704.ckpt"},  # every 100,000 cycles
        instead={"atoll run sac-4chip -w W.json -o out.h5 --checkpoint-every 10min":
                 "atoll run sac-4chip -w W.json -o timed.h5 --checkpoint-every 10min",
                 "mpirun -n 5": "rm out.h5 && mpirun -n 5 atoll resume out.h5.200704.ckpt",
                 "atoll resume": "rm out.h5 && atoll resume out.h5.200704.ckpt"},
    ),
    "docs/cluster.md": Plan(
        not_run={"sbatch": SLURM, "slurm/submit.sh": SLURM, "cat hosts": "shows a file", "sudo": SLURM, "eval": SLURM,
                 "mpirun -n 65": "needs two hosts: integration_two_hosts runs over two of its own",
                 "mpirun -n 8": "needs 64 processors to bind to: integration_rank_threads runs two threads in each of two ranks"},
    ),
    "docs/comparison.md": Plan(not_run={"tests/validation/comparison/report.py": HOURS}),
    "docs/energy.md": Plan(before=["atoll sweep quick"], words={"W": MIXED}),
    "docs/experiments.md": Plan(
        save={1: "ring.json", 2: "inputs/experiments/own.json"},
        needs={"atoll-report": ANALYSIS},
        after=["atoll sweep inputs/experiments/own.json --scale 16", "atoll table results/own"],
    ),
    "docs/explain.md": Plan(smaller=True, before=[f"atoll run sac-4chip -w {MIXED} --scale 16 -o a.h5", "cp a.h5 b.h5"]),
    "docs/monitor.md": Plan(
        smaller=True,
        instead={"atoll watch": WATCH},
        differs={"atoll run": "every run has an address of its own"},
    ),
    "docs/performance.md": Plan(
        smaller=True,
        words={"FILE": MIXED, "N": "2"},
        not_run={"build/release/bench_phold": "a benchmark, which the test's build may not have"},
    ),
    "docs/traces.md": Plan(
        before=["cp sass/* ."],
        instead={"atoll run rtx3070 -w kernelslist.g --kernels": "atoll run rtx3070 -w kernelslist.g --kernels '0,name=k*'",
                 "atoll import accel-sim kernelslist.g": "atoll import accel-sim kernelslist.g -o part.h5 --kernels 0 --ctas 0"},
    ),
    "docs/plugins.md": Plan(
        smaller=True,
        save={1: "mine.py", 2: "ways.py"},
        not_code={3: "one line of a file; examples/policy_plugin/hit_rate.cpp is a whole one"},
    ),
    "docs/ptx.md": Plan(needs={"nvcc": "command -v nvcc"}, differs={"nvcc": "lines and registers are this nvcc's"}),
    "docs/recording.md": Plan(not_run={"atoll record": RECORDED, "atoll run sac-4chip --workload gemm.h5": RECORDED,
                                        "atoll run sac-4chip --workload halo.h5": RECORDED}),
    "docs/reliability.md": Plan(
        not_run={"ATOLL=": f"{HOURS}; robustness_attacks runs a few of each class"}),
    "docs/real_machines.md": Plan(not_run={"atoll sweep": HOURS}),
    "docs/reproduction.md": Plan(not_run={"tests/validation": HOURS, "build/release/atoll sweep": HOURS, "/usr/bin/python3": HOURS}),
    "docs/results.md": Plan(before=[f"atoll run sac-4chip -w {MIXED} --scale 16 -o run.h5"]),
    "docs/scaling.md": Plan(not_run={"tests/bench/scale.py": f"{HOURS}, and wants a quiet machine"}),
    "docs/systems.md": Plan(save={1: "two_dies.json"}),
    "docs/validation/accelsim.md": Plan(not_run={"tests/validation/accelsim.py": "needs traces and results of Accel-Sim beside the tree"}),
    "docs/validation/bandwidth.md": Plan(not_run={"python3 tests/validation": HOURS}),
    "docs/validation/coherence.md": Plan(not_run={"cmake --build": "builds a test program",
                                                  "build/release/coherence_stress": f"{HOURS}; unit_chip has its small part"}),
    "docs/validation/colab.md": Plan(not_run={"tests/validation": HOURS, "/usr/bin/python3": HOURS}),
    "docs/validation/hardware.md": Plan(not_run={"python3 tests/validation": HOURS}),
    "docs/validation/rec.md": Plan(not_run={"python3": HOURS, "/usr/bin/python3": HOURS}),
    "docs/validation/sampling.md": Plan(not_run={"tests/validation/sampling.py": HOURS}),
    "docs/validation/sac.md": Plan(not_run={"python3": HOURS, "/usr/bin/python3": HOURS}),
    "docs/validation/selrep.md": Plan(not_run={"atoll sweep": HOURS}),
    "docs/workload_library.md": Plan(needs={"atoll record": GEMM, "atoll run sac-4chip --workload gemm.h5": GEMM}),
    "docs/workloads.md": Plan(
        save={1: "network.json"},
        needs={"atoll record -o chase.h5": "test -x build/release/workloads/micro_chase"},
        after=["atoll info network.json", "atoll run sac-4chip -w network.json --scale 16"],
    ),
}
