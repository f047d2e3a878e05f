"""What tests of sweeps and of their tables share."""

import json
import os

import program
from program import SMALL, SOURCE

QUICK = os.path.join(SOURCE, "inputs", "experiments", "quick.json")


class SweepTest(program.ProgramTest):
    def sweep(self, *more, experiment=QUICK, code=0, **options):
        outcome = program.run(["sweep", experiment, "-o", self.path("out"), "--jobs", "2", *more], timeout=120, **options)
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def states(self, *more, **options):
        """State and note by point, from --list."""
        lines = self.sweep("--list", *more, **options).out.splitlines()[:-1]
        words = [line.split(maxsplit=3) for line in lines]
        return {w[2]: (w[1], w[3] if len(w) > 3 else "") for w in words}

    def results(self):
        folder = self.path("out")
        return {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder) if name.endswith(".h5")}

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def experiment(self, **changes):
        """A tiny one of parametric workloads, with system and settings of the tests."""
        workload = {"kernels": [{"ctas": 32, "memory_instructions": 20, "regions": [{"name": "r", "size_kib": 256}]}]}
        for name in ("a", "b"):
            self.write(f"w/{name}.json", json.dumps(workload))
        whole: dict = {"system": "sac-4chip", "set": dict(override.split("=") for override in SMALL),
                       "workloads": [{"name": n, "path": f"w/{n}.json"} for n in ("a", "b")],
                       "variants": [{"name": "mem"}, {"name": "sm", "set": {"llc.organisation": "sm_side"}}], **changes}
        whole["set"] = {key: int(value) for key, value in whole["set"].items()}
        return self.write("e.json", json.dumps(whole))
