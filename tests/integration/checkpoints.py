"""Checkpoints as a user meets them: commands, signals, and what is refused. checkpoints.py, or checkpoints.py kills N: N runs
under mpirun of which a random rank is killed at a random time, each gone on with from its newest checkpoint."""

import glob
import os
import pathlib
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import program
from program import SMALL, sets, workload

CKPT_EXIT = 75


def cycle(path):
    return int(re.search(r"\.(\d+)\.ckpt$", path).group(1))


def checkpoints(output):
    return sorted(glob.glob(glob.escape(output) + ".*.ckpt"), key=cycle)


def start(arguments, ranks=None):
    command = (program.mpirun(ranks) if ranks else []) + [program.ATOLL] + [str(a) for a in arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            encoding="utf-8", errors="replace", env=program.environment(), start_new_session=True,
                            preexec_fn=program.heed_interrupts)


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


class CheckpointTest(program.ProgramTest):
    """`stores` in well under a second, and one of seconds that signals find at work on a fast machine too."""

    def arguments(self, output, *more, name="stores", organisation="sac"):
        return ["run", "sac-4chip", "-w", workload(name), "-o", output, *more,
                *sets(*SMALL, "llc.organisation=" + organisation)]

    def long(self, output, *more, repeat=1000):
        path = self.path(f"long{repeat}.json")
        with open(workload("stores"), encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r'"repeat": *\d+', f'"repeat": {repeat}', text))
        return ["run", "sac-4chip", "-w", path, "-o", output, *more, *sets(*SMALL)]

    def same_file(self, got, wanted):
        """Byte for byte but for the eight bytes of the host's time and, in the last sixteen, the checksum over them."""
        a, b = pathlib.Path(got).read_bytes(), pathlib.Path(wanted).read_bytes()
        self.assertEqual(len(a), len(b))
        differing = [i for i in range(len(a) - 16) if a[i] != b[i]]
        self.assertTrue(not differing or differing[-1] - differing[0] < 8, differing[:20])


class Commands(CheckpointTest):
    def test_a_run_that_goes_on_ends_with_the_same_digest_and_file_on_any_number_of_ranks(self):
        whole = self.path("whole.h5")
        wanted = self.succeeds(self.arguments(whole, "--checkpoint-every", "3000")).digest()
        left = checkpoints(whole)
        self.assertEqual(len(left), 2, "the last two are kept")
        again = self.path("again.h5")
        for path in left:
            self.assertEqual(self.succeeds(["resume", path, "-o", again, "-f"]).digest(), wanted)
        self.assertEqual(self.succeeds(["resume", left[0], "-o", again, "-f", "--threads", "3"]).digest(), wanted)
        for ranks in (2, 5):
            self.assertEqual(self.succeeds(["resume", left[0], "-o", again, "-f"], ranks=ranks).digest(), wanted)

    def test_the_result_file_of_a_run_that_goes_on_is_the_same(self):
        whole, parts = self.path("whole.h5"), self.path("parts.h5")
        arguments = self.arguments(parts, "--checkpoint-every", "3000")
        self.succeeds(arguments)
        shutil.copy(parts, whole)
        started = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
        for path in checkpoints(parts):
            self.succeeds(["resume", path, "--force"])
            self.same_file(parts, whole)
        with open(whole, "rb") as file:
            self.assertTrue(started.search(file.read()))

    def test_a_checkpoint_of_five_ranks_goes_on_on_one_and_the_other_way_round(self):
        wanted = self.succeeds(self.arguments(self.path("w.h5"))).digest()
        output = self.path("five.h5")
        self.succeeds(self.arguments(output, "--checkpoint-every", "5000"), ranks=5)
        self.assertEqual(self.succeeds(["resume", checkpoints(output)[0], "--force"]).digest(), wanted)

    def test_what_is_stopped_by_max_cycles_leaves_a_checkpoint_and_goes_on_with_a_higher_one(self):
        wanted = self.succeeds(self.arguments(self.path("w.h5"))).digest()
        limited = self.succeeds(self.arguments(self.path("l.h5"), "--max-cycles", "15000")).digest()
        output = self.path("o.h5")
        self.succeeds(self.arguments(output, "--max-cycles", "9000", "--checkpoint-every", "1000000"))
        (left,) = checkpoints(output)
        self.assertLessEqual(cycle(left), 9000)
        self.assertGreater(cycle(left), 9000 - 2048)
        self.assertEqual(self.succeeds(["resume", left, "-f", "--max-cycles", "15000"]).digest(), limited)
        self.assertIn("(stopped early)", self.succeeds(["resume", left, "-f"]).out)  # its limit is kept
        for higher in ("1000000", "none"):
            self.assertEqual(self.succeeds(["resume", left, "-f", "--max-cycles", higher]).digest(), wanted)
        for wrong, said in (("0", "neither `none` nor a number"), ("no", "neither `none` nor"), ("1", "is at cycle")):
            self.refused(["resume", left, "-f", "--max-cycles", wrong], 2, "--max-cycles", said, layouts=[None])
        self.assertEqual(self.succeeds(self.arguments(self.path("u.h5"), "--max-cycles", "1000000")).digest(), wanted)

    def test_who_takes_a_checkpoint_or_a_trace_for_a_result_is_told_what_it_is(self):
        output = self.path("o.h5")
        self.succeeds(self.arguments(output, "--max-cycles", "3000", "--checkpoint-every", "1000"))
        trace = os.path.join(program.SOURCE, "inputs", "workloads", "traces", "vectoradd.h5")
        for command in ("info", "explain", "compare"):
            second = [output] if command == "compare" else []
            self.refused([command, checkpoints(output)[-1], *second], 2, "is a checkpoint: `atoll resume`", layouts=(None,))
            if command != "info":
                self.refused([command, trace, *second], 2, "vectoradd.h5: is a trace and no result: `atoll info`", layouts=(None,))
        self.refused(["run", "sac-4chip", "-w", output], 2, "o.h5: is a result of `atoll run` and no trace", layouts=(None,))

    def test_no_checkpoint_is_left_behind_max_cycles_from_which_nobody_could_go_on_beyond_it(self):
        limited = self.succeeds(self.arguments(self.path("l.h5"), "--max-cycles", "15000")).digest()
        output = self.path("o.h5")
        for ranks in (None, 2):
            self.succeeds(self.arguments(output, "--max-cycles", "9200", "--checkpoint-every", "500", "--force"), ranks=ranks)
            left = checkpoints(output)
            self.assertEqual(len(left), 2)
            self.assertLessEqual(cycle(left[-1]), 9200)
            for path in left:
                outcome = self.succeeds(["resume", path, "-o", self.path("again.h5"), "-f", "--max-cycles", "15000"])
                self.assertEqual(outcome.digest(), limited)

    def test_checkpoints_of_an_earlier_run_are_kept_unless_force_is_given(self):
        output = self.path("o.h5")
        self.succeeds(self.arguments(output, "--checkpoint-every", "5000"))
        os.remove(output)
        self.refused(self.arguments(output), 2, ".ckpt: is a checkpoint of an earlier run", layouts=[None, 3])
        self.refused(self.arguments(output, "--force", name="none"), 2, "none.json", layouts=[None, 2])
        self.assertEqual(len(checkpoints(output)), 2, "a run that cannot begin removes nothing")
        self.succeeds(self.arguments(output, "--force"))
        self.assertEqual(checkpoints(output), [])

    def test_checkpoints_of_another_output_are_kept_unless_force_is_given(self):
        a, b = self.path("a.h5"), self.path("b.h5")
        for output in (a, b):
            self.succeeds(self.arguments(output, "--checkpoint-every", "5000"))
            os.remove(output)
        others = checkpoints(b)
        self.refused(["resume", checkpoints(a)[0], "-o", b], 2, ".ckpt: is a checkpoint of an earlier run", layouts=[None, 2])
        self.assertEqual(checkpoints(b), others)
        self.succeeds(["resume", checkpoints(a)[0], "-o", b, "--force", "--checkpoint-every", "none"])
        self.assertEqual(checkpoints(b), [])

    def test_two_checkpoints_are_kept_however_the_output_is_spelt(self):
        os.mkdir(self.path("d"))
        output = self.path("d") + "//o.h5"
        self.succeeds(self.arguments(output, "--checkpoint-every", "3000"))
        self.assertEqual(len(checkpoints(self.path("d", "o.h5"))), 2)
        self.succeeds(["resume", checkpoints(output)[0], "--force"])
        self.assertEqual(len(checkpoints(self.path("d", "o.h5"))), 2)

    def test_options_that_make_no_sense_are_refused(self):
        output = self.path("o.h5")
        for text in ("0", "-5", "10 potatoes", "5x", "min"):
            self.refused(self.arguments(output, f"--checkpoint-every={text}"), 2, "--checkpoint-every", layouts=[None])
        self.refused(self.arguments(output, "--time-limit", "10"), 2, "--time-limit: '10' is not a time", layouts=[None])
        self.refused(self.arguments(output, "--check", "--checkpoint-every", "500"), 2, "--check", layouts=[None])
        without = self.arguments(output)
        del without[without.index("-o"):without.index("-o") + 2]
        self.refused([*without, "--checkpoint-every", "500"], 2, "needs an output", layouts=[None, 2])


class Refused(CheckpointTest):
    def setUp(self):
        super().setUp()
        self.workload = shutil.copy(workload("stores"), self.path("w.json"))
        self.output = self.path("o.h5")
        self.wanted = self.succeeds(["run", "sac-4chip", "-w", self.workload, "-o", self.output, "--checkpoint-every",
                                     "5000", *sets(*SMALL)]).digest()
        os.remove(self.output)
        self.checkpoint = checkpoints(self.output)[0]

    def test_a_workload_that_has_changed_is_refused_by_name(self):
        with open(self.workload, "a", encoding="utf-8") as file:
            file.write("\n")
        self.refused(["resume", self.checkpoint], 2, "w.json: has changed since the run began")
        shutil.copy(workload("stores"), self.path("moved.json"))
        outcome = self.succeeds(["resume", self.checkpoint, "-w", self.path("moved.json")])
        self.assertEqual(outcome.digest(), self.wanted)

    def test_a_workload_that_is_gone_is_refused_by_name(self):
        os.remove(self.workload)
        self.refused(["resume", self.checkpoint], 2, "w.json: the workload is there no more; `atoll resume -w FILE` says where")

    def test_a_checkpoint_with_any_bit_flipped_is_refused_or_gives_the_same_digest(self):
        rng = random.Random(1)
        with open(self.checkpoint, "rb") as file:
            good = file.read()
        bad = self.path("bad.h5.1.ckpt")
        for at in [*range(0, 48, 6), *(rng.randrange(len(good)) for _ in range(12))]:
            with open(bad, "wb") as file:
                file.write(good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1:])
            self.refused(["resume", bad], 2, "bad.h5.1.ckpt: is ", layouts=[None])
        for size in (0, 20, 100, len(good) // 2, len(good) - 1):
            with open(bad, "wb") as file:
                file.write(good[:size])
            self.refused(["resume", bad], 2, "bad.h5.1.ckpt: is ", layouts=[None])
        self.refused(["resume", bad], 2, "bad.h5.1.ckpt: is ", layouts=[5])

    def test_results_and_traces_as_checkpoints_and_checkpoints_as_results_are_refused(self):
        self.refused(["resume", self.workload, "-o", "x.h5"], 2, "is not a checkpoint", layouts=[None])
        self.refused(["explain", self.checkpoint], 2, "is a checkpoint", layouts=[None])
        self.refused(["run", "sac-4chip", "-w", self.checkpoint], 2, ".ckpt", layouts=[None])

    def test_a_full_disk_is_told_once_per_checkpoint_and_the_run_goes_on(self):
        mount = self.path("disk")
        os.mkdir(mount)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "none", mount], check=False,
                                               capture_output=True).returncode != 0:
            raise unittest.SkipTest("mounting a small file system is not allowed here")
        try:
            outcome = self.succeeds(["run", "sac-4chip", "-w", self.workload, "-o", os.path.join(mount, "o.h5"),
                                     "--checkpoint-every", "5000", *sets(*SMALL)])
            self.assertEqual(outcome.digest(), self.wanted)
            said = [line for line in outcome.err.splitlines() if line.startswith("atoll:")]
            self.assertGreater(len(said), 0, outcome)
            for line in said:
                self.assertRegex(line, r"no checkpoint at cycle \d+, and the run goes on: .*No space left on device")
            (left,) = checkpoints(os.path.join(mount, "o.h5"))
            again = self.succeeds(["resume", left, "-o", self.path("again.h5")])
            self.assertEqual(again.digest(), self.wanted)
        finally:
            subprocess.run(["umount", mount], check=True)


class Signals(CheckpointTest):
    def stop(self, process, number):
        os.kill(process.pid, number)
        before = time.monotonic()
        out, err = process.communicate(timeout=20)
        return process.returncode, out + err, time.monotonic() - before

    def test_usr1_leaves_a_checkpoint_and_ends_with_75_and_again_until_the_run_is_done(self):
        wanted = self.succeeds(self.long(self.path("w.h5"), repeat=200)).digest()
        for ranks in (None, 3):
            output = self.path(f"o{ranks}.h5")
            process = start(self.long(output, "--checkpoint-every", "20000", repeat=200), ranks)
            wait_for(lambda: checkpoints(output))
            code, said, _ = self.stop(process, signal.SIGUSR1)
            self.assertEqual(code, CKPT_EXIT, said)
            left = checkpoints(output)[-1]
            self.assertEqual([f"atoll: stopped; go on with: atoll resume {left}"],
                             [line for line in said.splitlines() if line.startswith("atoll:")])
            process = start(["resume", left])
            wait_for(lambda: checkpoints(output)[-1] != left)
            code, said, _ = self.stop(process, signal.SIGUSR1)
            self.assertEqual(code, CKPT_EXIT, said)
            newest = checkpoints(output)[-1]
            self.assertGreater(cycle(newest), cycle(left))
            self.assertEqual(self.succeeds(["resume", newest]).digest(), wanted)

    def test_a_workload_that_changes_before_the_first_checkpoint_is_refused_by_name(self):
        output = self.path("o.h5")
        arguments = self.long(output)
        process = start(arguments)
        time.sleep(1)  # it has read the workload by then
        path = arguments[arguments.index("-w") + 1]
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n")
        code, said, _ = self.stop(process, signal.SIGUSR1)
        self.assertEqual(code, CKPT_EXIT, said)
        self.refused(["resume", checkpoints(output)[-1]], 2, "long1000.json: has changed since the run began", layouts=[None])

    def test_a_time_limit_does_the_same(self):
        output = self.path("o.h5")
        outcome = program.run(self.long(output, "--time-limit", "0.1s"))
        self.assertEqual(outcome.code, CKPT_EXIT, outcome)
        self.assertEqual(len(checkpoints(output)), 1)

    def test_checkpoints_by_the_clock(self):
        output = self.path("o.h5")
        process = start(self.long(output, "--checkpoint-every", "0.05s"))
        wait_for(lambda: len(checkpoints(output)) == 2)
        process.kill()
        process.communicate()

    def test_term_ends_at_once_with_one_message_and_the_last_checkpoint_good(self):
        for ranks in (None, 3):
            output = self.path(f"o{ranks}.h5")
            process = start(self.long(output, "--checkpoint-every", "10000"), ranks)
            wait_for(lambda: len(checkpoints(output)) == 2)
            code, said, seconds = self.stop(process, signal.SIGTERM)
            self.assertNotEqual(code, 0)
            self.assertLess(seconds, 10)
            if ranks is None:
                self.assertEqual(code, 128 + signal.SIGTERM, said)
                self.assertEqual(said.strip(), "atoll: ended by SIGTERM; go on from the last checkpoint with: atoll resume " +
                                 checkpoints(output)[-1])
            self.succeeds(["resume", checkpoints(output)[-1], "--max-cycles", str(cycle(checkpoints(output)[-1]) + 5000)])


class Interrupted(CheckpointTest):
    """Ctrl-C."""

    def limited(self, output):
        cycles = int(self.succeeds(["info", output]).out.split("cycles")[1].split()[0].replace(",", ""))
        self.assertIn("stopped early", self.succeeds(["info", output]).out)
        asked = cycles - 200  # chips hear of the end control.latency_cycles later
        return self.succeeds(self.long(self.path("limited.h5"), "--max-cycles", asked, "-f")).digest()

    def test_ctrl_c_keeps_what_was_simulated_as_if_the_run_had_been_limited_to_that_cycle(self):
        layouts: list[list[str]] = [[], ["--threads", "2"]]
        for layout in layouts:
            output = self.path(f"o{len(layout)}.h5")
            process = start(self.long(output, *layout))
            wait_for(lambda: os.path.exists(output + ".lock"))
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
            self.assertRegex(err, "atoll: interrupted at cycle [0-9]+; the result is incomplete")
            self.assertIn(self.limited(output), out)

    def test_without_an_output_ctrl_c_ends_at_once(self):
        arguments = self.long("-")
        del arguments[arguments.index("-o"):arguments.index("-o") + 2]
        process = start(arguments)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=5)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_at_a_terminal_it_asks_and_goes_on_or_keeps_or_ends(self):
        for answer, code in ((b"n\ny\n", 130), (b"y\n", 130), (None, -signal.SIGINT)):
            output = self.path(f"o{code}{len(answer or b'')}.h5")
            terminal, theirs = pty.openpty()
            process = subprocess.Popen([program.ATOLL, *map(str, self.long(output, "-q"))], stdin=theirs, stdout=theirs,
                                       stderr=theirs, start_new_session=True, preexec_fn=program.heed_interrupts)
            os.close(theirs)
            wait_for(lambda: os.path.exists(output + ".lock"))
            for line in (answer or b"").splitlines() or [None]:
                time.sleep(0.3)
                os.kill(process.pid, signal.SIGINT)
                said = b""
                while b"[y/n]" not in said:
                    said += os.read(terminal, 4096)
                if line is None:
                    os.kill(process.pid, signal.SIGINT)
                else:
                    os.write(terminal, line + b"\n")
            self.assertEqual(process.wait(timeout=20), code)
            self.assertEqual(os.path.exists(output), code == 130)
            os.close(terminal)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(p) for p in file.read().split()]


def running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # gone before it is opened, or before it is read
        return False


class Kills(CheckpointTest):
    """A rank that is killed takes the job with it; what it left goes on to the same end."""
    count = 4

    def code_of(self, process):
        """Open MPI 4.1 sometimes waits for itself when all ranks are gone (open-mpi/ompi#7790)."""
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            print("mpirun itself hangs, its ranks are gone", flush=True)
            process.kill()
            process.communicate()
        return process.returncode

    def test_killed_at_random_times(self):
        seed = int(os.environ.get("ATOLL_SEED", "1"))
        rng = random.Random(seed)
        before = time.monotonic()
        wanted = self.succeeds(self.long(self.path("w.h5"), repeat=60)).digest()
        whole = time.monotonic() - before
        gone_on = 0
        for k in range(self.count):
            ranks = rng.choice([2, 3, 5])
            output = self.path(f"k{k}.h5")
            process = start(self.long(output, "--checkpoint-every", "2000", repeat=60), ranks)
            delay = rng.uniform(0, whole)  # ranks that share processors take longer than one
            wait_for(lambda: checkpoints(output) or process.poll() is not None)
            time.sleep(delay)
            victims = children(process.pid) if process.poll() is None else []
            if victims:
                os.kill(rng.choice(victims), signal.SIGKILL)
            before = time.monotonic()
            wait_for(lambda: not any(running(rank) for rank in victims), 15)
            seconds = time.monotonic() - before
            if self.code_of(process) == 0:  # it was done before
                continue
            left = checkpoints(output)
            print(f"kill {k}: {ranks} ranks {delay:.2f} s after the first checkpoint, job ended {seconds:.2f} s later, "
                  f"{len(left)} checkpoints{', newest at ' + str(cycle(left[-1])) if left else ''}", flush=True)
            if not left:
                continue
            gone_on += 1
            outcome = program.run(["resume", left[-1], "-f"], rng.choice([None, 2, 3, 5]))
            self.assertEqual(outcome.code, 0, outcome)
            self.assertEqual(outcome.digest(), wanted)
        print(f"{gone_on} of {self.count} went on from a checkpoint", flush=True)
        self.assertGreater(gone_on, 0)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "kills":
        Kills.count = int(sys.argv[2])
        sys.argv[1:] = ["Kills"]
    program.main()
