"""Runs test cases of the unit suites, one process each."""

import concurrent.futures
import math
import os
import resource
import signal
import subprocess
import tempfile
import time

ASLEEP = 30  # seconds in which no thread wanted a processor: a deadlock
MEMORY = 6 << 30  # bytes; a mutant that fills memory fails instead


class Case:
    """One test case: which mutants it comes by, and what it takes without any."""

    def __init__(self, suite, index, name, seconds=0.0, cpu_seconds=0.0, reached=()):
        self.suite, self.index, self.name = suite, index, name
        self.seconds, self.cpu_seconds, self.reached = seconds, cpu_seconds, set(reached)

    def as_json(self):
        return {"suite": self.suite, "index": self.index, "name": self.name, "seconds": round(self.seconds, 3),
                "cpu_seconds": round(self.cpu_seconds, 3), "reached": sorted(self.reached)}


def cases(program, suite):
    listed = subprocess.run([program, "--list-test-cases", "--no-colors"], check=True, capture_output=True, text=True)
    names = [line for line in listed.stdout.splitlines() if not line.startswith(("[doctest]", "====="))]
    return [Case(suite, i + 1, name) for i, name in enumerate(names)]


def busy(pid):
    """Whether a thread of the process runs or waits for a processor, as it does however slow the machine is."""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] in "RD":
                    return True
    except OSError:  # it has just ended
        return True
    return False


def run(program, case, mutant, cpu_limit, reached_to=None):
    """(outcome, seconds, processor seconds); the outcome is passed, failed, crashed or timeout."""
    environment = dict(os.environ, ATOLL_MUTANT=str(mutant))
    if reached_to is not None:
        environment["ATOLL_MUTANTS_REACHED"] = reached_to

    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_limit) + 1, int(cpu_limit) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    start = awake = time.monotonic()
    process = subprocess.Popen([program, "--abort-after=1", f"--first={case.index}", f"--last={case.index}"],
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits,
                               start_new_session=True)
    pause, seen, deadlocked = 0.002, 0.0, False
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        now = time.monotonic()
        if now - seen > 0.2:
            seen, awake = now, now if busy(process.pid) else awake
        if now - awake > ASLEEP:  # its threads wait for each other
            deadlocked = True
            process.kill()
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds, cpu_seconds = time.monotonic() - start, usage.ru_utime + usage.ru_stime
    if deadlocked or process.returncode == -signal.SIGXCPU:
        return "timeout", seconds, cpu_seconds
    return {0: "passed", 1: "failed"}.get(process.returncode, "crashed"), seconds, cpu_seconds


def baseline(program, case):
    """Runs the case without a mutant and notes what it comes by."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "reached")
        outcome, case.seconds, case.cpu_seconds = run(program, case, 0, 3600, path)
        if outcome != "passed":
            raise SystemExit(f"unit_{case.suite}: \"{case.name}\" {outcome} without any mutant")
        with open(path, encoding="utf-8") as file:
            case.reached = {int(line) for line in file}


def in_order(all_cases, mutant, own):
    """Those that come by a mutant: quick ones first, and of equally quick ones those of its own suite."""
    def key(case):
        return (sum(case.cpu_seconds > s for s in (0.1, 0.5, 2, 8)), case.suite != own, case.cpu_seconds)
    return sorted((c for c in all_cases if mutant in c.reached), key=key)


def judge(programs, all_cases, mutant, own, shortest=0.0, longest=math.inf):
    """What becomes of a mutant under the cases that take such times: a dictionary with outcome, killer, the number of cases
    run, that of longer ones left, and the seconds it took."""
    start, ran, outcome, by = time.monotonic(), 0, "not reached", ""
    cases = in_order(all_cases, mutant, own)
    left = sum(case.cpu_seconds > longest for case in cases)
    for case in cases:
        if not shortest < case.cpu_seconds <= longest:
            outcome = "passed"
            continue
        ran += 1
        outcome, _, _ = run(programs[case.suite], case, mutant, 5 * case.cpu_seconds + 2)
        if outcome == "crashed":  # once more: somebody else may have ended it
            outcome, _, _ = run(programs[case.suite], case, mutant, 5 * case.cpu_seconds + 2)
        if outcome != "passed":
            by = f"unit_{case.suite}: {case.name}"
            break
    return {"outcome": "survived" if outcome == "passed" else outcome, "by": by, "ran": ran, "left": 0 if by else left,
            "seconds": round(time.monotonic() - start, 2)}


def each(function, arguments, jobs):
    """Results as they come."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(function, a) for a in arguments]):
            yield future.result()
