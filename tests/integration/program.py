"""Runs the program as a user would, plain or under mpirun. Standard library only."""

import os
import signal
import subprocess
import tempfile
import time
import unittest

ATOLL = os.environ["ATOLL"]
MPIRUN = os.environ.get("MPIRUN", "mpirun")
SOURCE = os.environ["ATOLL_SOURCE_DIR"]
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
PATIENCE = 180  # seconds after which a run hangs: beside other tests on a slow machine one takes many times what it needs

# Jobs of Open MPI keep their files below one folder, which each removes when it ends and finds it empty: just then another
# one may be making its own there. So each test has a folder for its jobs.
SESSIONS = tempfile.TemporaryDirectory(prefix="mpi", ignore_cleanup_errors=True)
os.environ.setdefault("OMPI_MCA_orte_tmpdir_base", SESSIONS.name)

# SAC's system, shrunk so that a run takes well under a second.
SMALL = ["sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2",
         "control.sample_cycles=1000"]


def sets(*overrides):
    return [word for override in overrides for word in ("--set", override)]


def workload(name):
    return os.path.join(SOURCE, "tests", "distributed", "workloads", name + ".json")


def environment():
    env = dict(os.environ)
    if os.geteuid() == 0:  # containers of CI; Open MPI refuses root otherwise
        env["OMPI_ALLOW_RUN_AS_ROOT"] = env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return env


def mpirun(ranks):
    return [MPIRUN, "--oversubscribe", "-n", str(ranks)]


def heed_interrupts():
    """For `preexec_fn`: tests that were started in the background would hand down that SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Outcome:
    def __init__(self, command, code, out, err, seconds):
        self.command, self.code, self.out, self.err, self.seconds = command, code, out, err, seconds

    def __str__(self):
        return (f"$ {' '.join(self.command)}\nexit code {self.code} after {self.seconds:.1f} s\n"
                f"--- stdout\n{self.out}\n--- stderr\n{self.err}")

    def digest(self):
        """The digest of the printed summary."""
        for line in self.out.splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == "digest":
                return words[1]
        raise AssertionError(f"no digest printed:\n{self}")


def run(arguments, ranks=None, timeout=PATIENCE, cwd=None, program=ATOLL, **options):
    """Runs `atoll ARGUMENTS`, under mpirun if `ranks` is given. Whatever still runs after `timeout` is killed."""
    command = (mpirun(ranks) if ranks else []) + [program] + [str(a) for a in arguments]
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               encoding="utf-8", errors="replace", cwd=cwd, start_new_session=True,
                               **{"env": environment(), **options})
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks; they are in sessions of their own
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s: {' '.join(command)}\n{out}\n{err}") from None
    return Outcome(command, process.returncode, out, err, time.monotonic() - start)


def files_below(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


class ProgramTest(unittest.TestCase):
    """A folder of its own for every test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="atoll-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def until(self, condition, said, seconds=PATIENCE):
        """Waits for the condition; if it does not come, said() tells what is."""
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, said())
            time.sleep(0.05)

    def succeeds(self, arguments, ranks=None, **options):
        outcome = run(arguments, ranks, **options)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def refused(self, arguments, code, *fragments, layouts=(None, 5), timeout=20, **options):
        """The program ends with exit code `code` within `timeout` seconds, says one line `atoll: ...` that has all
        `fragments`, and leaves the folder as it was."""
        for ranks in layouts:
            with self.subTest(ranks=ranks or "no mpirun"):
                before = files_below(self.folder)
                outcome = run(arguments, ranks, timeout, **options)
                self.assertEqual(outcome.code, code, outcome)
                said = [line for line in (outcome.out + "\n" + outcome.err).splitlines() if line.startswith("atoll:")]
                self.assertEqual(len(said), 1, outcome)
                for fragment in fragments:
                    self.assertIn(fragment, said[0], outcome)
                self.assertEqual(files_below(self.folder), before, outcome)


def main():
    unittest.main(verbosity=2)
