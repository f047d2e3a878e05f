"""What attacks share: a folder, sound files of every kind, and the verdict on what the program did."""

import glob
import os
import random
import re
import subprocess
import tempfile

import program
from program import SMALL, sets, workload

# An error that the program has words for: bad input, a simulation that cannot go on, a file that cannot be written.
REFUSALS = (2, 3, 4)


class Failure(Exception):
    """The program did what it promises never to do."""


class Lab:
    """One attacker's folder and random numbers. Sound files are made once."""

    def __init__(self, seed, parent=None):
        self.rng = random.Random(seed)
        self._folder = tempfile.TemporaryDirectory(prefix="atoll-attack-", dir=parent)
        self.folder = self._folder.name
        self._sound, self._digests, self._number = {}, {}, 0

    def close(self):
        self._folder.cleanup()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def fresh(self, suffix):
        self._number += 1
        return self.path(f"a{self._number}{suffix}")

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def run(self, arguments, ranks=None, timeout=60, **options):
        """A hang and a crash are failures of whoever asked."""
        try:
            outcome = program.run(arguments, ranks, timeout, **options)
        except AssertionError as error:
            raise Failure(f"hang: {error}") from None
        if outcome.code < 0 or outcome.code in (134, 136, 139):
            raise Failure(f"crash: {outcome}")
        return outcome

    def refused(self, outcome):
        """True if the program refused; then in one message, perhaps below warnings, and by an exit code that says so."""
        if outcome.code == 0:
            return False
        said = [line for line in (outcome.out + "\n" + outcome.err).splitlines() if re.match("atoll: (?!warning: )", line)]
        if outcome.code not in REFUSALS or len(said) != 1:
            raise Failure(f"refused without one message and a code of {REFUSALS}: {outcome}")
        return True

    def digest(self, arguments):
        """Of the undisturbed run."""
        key = tuple(arguments)
        if key not in self._digests:
            self._digests[key] = self.run(arguments).digest()
        return self._digests[key]

    def same(self, outcome, wanted):
        try:
            digest = outcome.digest()
        except AssertionError as error:
            raise Failure(str(error)) from None
        if digest != wanted:
            raise Failure(f"silently wrong: digest {digest} instead of {wanted}: {outcome}")
        return "same"

    # ---- sound files ----

    def long(self, repeat):
        path = self.path(f"long{repeat}.json")
        if not os.path.exists(path):
            with open(workload("stores"), encoding="utf-8") as file:
                self.write(os.path.basename(path), re.sub(r'"repeat": *\d+', f'"repeat": {repeat}', file.read()))
        return path

    def sound(self, kind):
        if kind not in self._sound:
            self._sound[kind] = getattr(self, "_make_" + kind)()
        return self._sound[kind]

    def _make_result(self):
        self.run(["run", "sac-4chip", "-w", workload("hot"), "-q", "-o", self.path("sound.h5"), *sets(*SMALL)])
        return self.path("sound.h5")

    def _make_sass(self):
        from sass_trace import kernel
        self.write("kernel-1.traceg", kernel(ctas=16, loads=20))
        return self.write("kernelslist.g", "kernel-1.traceg\n")

    def _make_trace(self):
        self.run(["import", "accel-sim", self.sound("sass"), "-o", self.path("trace.h5")])
        return self.path("trace.h5")

    def _make_checkpoint(self):
        return self.checkpoint(())

    def checkpoint(self, overrides, cycles=3000):
        """After some cycles of a small system with these settings."""
        key = "checkpoint", overrides, cycles
        if key not in self._sound:
            output = self.fresh(".h5")
            self.run(["run", "sac-4chip", "-w", workload("stores"), "-o", output, "--checkpoint-every", cycles, "--max-cycles",
                      cycles + 1500, "-q", *sets(*SMALL, *overrides)])
            self._sound[key] = glob.glob(output + ".*.ckpt")[0]
        return self._sound[key]

    def _make_system(self):
        return self.write("system.json", '{"base": "sac-4chip", "chips": 2, "sm": {"count": 4}, "llc": {"ways": 8}}')

    def _make_workload(self):
        with open(workload("hot"), "rb") as file:
            return self.write("workload.json", file.read())

    def _make_experiment(self):
        return self.write("experiment.json", '{"system": "sac-4chip", "workloads": [{"name": "w", "path": "workload.json"}],'
                          '"variants": [{"name": "a"}, {"name": "b", "set": {"llc.ways": 8}}], "baseline": "a"}')

    def _make_sweep(self):
        """The folder of a sweep of two small points."""
        self.sound("workload")
        self.run(["sweep", self.sound("experiment"), "--out", self.path("swept"), *sets(*SMALL)])
        return self.path("swept")

    def _make_ptx(self):
        folder = os.path.join(program.SOURCE, "tests", "unit", "inputs_ptx", "fixtures")
        with open(sorted(glob.glob(os.path.join(folder, "*.ptx")))[0], "rb") as file:
            return self.write("sound.ptx", file.read())


def tell(table):
    """The table of what was tried."""
    width = max(len(name) for name in table)
    outcomes = ("same", "refused", "kept", "failed")
    print(f"{'attack':<{width}} {'tried':>7} " + " ".join(f"{o:>8}" for o in outcomes))
    for name, row in table.items():
        print(f"{name:<{width}} {sum(row.values()):>7} " + " ".join(f"{row.get(o, 0):>8}" for o in outcomes))
    total = {o: sum(row.get(o, 0) for row in table.values()) for o in outcomes}
    print(f"{'all':<{width}} {sum(total.values()):>7} " + " ".join(f"{total[o]:>8}" for o in outcomes), flush=True)


def quiet_kill(process):
    if process.poll() is None:
        process.kill()
    process.communicate()


def start(arguments, ranks=None, **options):
    command = (program.mpirun(ranks) if ranks else []) + [program.ATOLL] + [str(a) for a in arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8", errors="replace", start_new_session=True,
                            preexec_fn=program.heed_interrupts, **{"env": program.environment(), **options})
