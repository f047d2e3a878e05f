"""What slurm/run.sbatch does around a simulation, without Slurm: signals, checkpoints, what is queued again; and the scripts
of experiments. slurm.py has the real thing."""

import json
import os
import shutil
import signal
import subprocess
import time

import program
from checkpoints import checkpoints
from program import ATOLL, SMALL, SOURCE, sets, workload

SCRIPT = os.path.join(SOURCE, "slurm", "run.sbatch")


class JobScript(program.ProgramTest):
    def setUp(self):
        super().setUp()
        shutil.copy(workload("stores"), self.path("short.json"))
        with open(workload("stores"), encoding="utf-8") as file:
            text = file.read().replace('"repeat": 2', '"repeat": 3000')
        self.assertIn("3000", text, "of a run that lasts")
        self.write("long.json", text)
        os.chmod(self.write("bin/scontrol", "#!/bin/sh\necho scontrol $*\n"), 0o755)
        self.output = self.path("o.h5")

    def start(self, name, *more, system="sac-4chip", spelling=("--workload ", "--output "), **variables):
        environment = {**program.environment(), "SLURM_JOB_ID": "7", "SLURM_NTASKS": "2", "SLURM_SUBMIT_DIR": SOURCE, "ATOLL": ATOLL,
                       "LAUNCHER": "mpirun", "LAUNCHER_OPTIONS": "--oversubscribe", "CHECKPOINT_EVERY": "20000",
                       "PATH": self.path("bin") + ":" + os.environ["PATH"], **variables}
        words = "\n".join([spelling[0] + self.path(name), spelling[1] + self.output]).replace(" ", "\n").split("\n")
        return subprocess.Popen(["bash", SCRIPT, system, *words, *more, *sets(*SMALL)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                                env=environment, start_new_session=True)

    def end(self, process, code):
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, code, said)
        return said

    def stop_behind(self, process, cycle, besides=None):
        """Once it has checkpoints behind that cycle."""
        end = time.monotonic() + 30
        while not [c for c in checkpoints(self.output) if c != besides and int(c.split(".")[-2]) > cycle]:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        process.send_signal(signal.SIGUSR1)
        return self.end(process, 75)

    def test_a_signal_queues_the_job_again_and_progress_behind_a_damaged_checkpoint_counts(self):
        self.assertIn("scontrol requeue 7", self.stop_behind(self.start("long.json"), 20000))
        newest = checkpoints(self.output)[-1]
        damaged = self.output + ".999999999.ckpt"
        shutil.copy(newest, damaged)
        self.damage(damaged)
        said = self.stop_behind(self.start("long.json"), int(newest.split(".")[-2]), besides=damaged)
        self.assertIn(f"going on from {newest}", said)
        self.assertIn("scontrol requeue 7", said)
        self.assertFalse(os.path.exists(damaged))
        self.assertTrue(os.path.exists(damaged + ".damaged"))

    def damage(self, path):
        with open(path, "r+b") as file:
            file.seek(20000)
            file.write(b"x")

    def refusing(self, *checkpoints):
        """An ATOLL that takes its time to refuse these, whatever signals come, and is killed by the time it would take others."""
        path = self.write("refusing", f"""#!/bin/sh
trap '' USR1
[ $1 = resume ] || exec {ATOLL} "$@"
case " {' '.join(checkpoints)} " in *" $2 "*) sleep 0.5; exit 2 ;; esac
exit 143
""")
        os.chmod(path, 0o755)
        return path

    def test_a_job_whose_checkpoints_are_all_refused_is_not_queued_again(self):
        self.stop_behind(self.start("long.json"), 20000)
        before = checkpoints(self.output)
        self.assertEqual(len(before), 2)
        again = self.start("long.json", ATOLL=self.refusing(*before))
        self.assertIn("going on from", again.stdout.readline())
        again.send_signal(signal.SIGUSR1)
        said = self.end(again, 2)
        self.assertNotIn("queue", said)
        self.assertEqual(checkpoints(self.output), before)

    def test_a_refused_checkpoint_is_put_aside_only_for_what_the_one_before_it_leads_to(self):
        self.stop_behind(self.start("long.json"), 1000000)
        before = checkpoints(self.output)
        self.end(self.start("long.json", ATOLL=self.refusing(before[-1])), 143)
        self.assertEqual(checkpoints(self.output), before)
        self.damage(before[-1])
        damaged = os.stat(before[-1]).st_ino
        again = self.start("long.json", CHECKPOINT_EVERY=before[-1].split(".")[-2])
        self.until(lambda: os.stat(before[-1]).st_ino != damaged, lambda: "it is never written anew")
        again.send_signal(signal.SIGUSR1)
        self.assertIn("queued again", self.end(again, 75))
        # The run may be beyond two later ones by now, and have removed it: it must not have been taken for the damaged one.
        self.assertFalse(os.path.exists(before[-1] + ".damaged"))

    def test_srun_is_told_to_fence_in_a_ring(self):
        os.chmod(self.write("bin/srun", "#!/bin/sh\necho fences: $SLURM_PMIX_FENCE\n"), 0o755)
        self.assertIn("fences: ring\n", self.end(self.start("short.json", LAUNCHER="srun"), 1))
        self.assertIn("fences: tree\n", self.end(self.start("short.json", LAUNCHER="srun", SLURM_PMIX_FENCE="tree"), 1))

    def test_checkpoints_of_other_runs_are_neither_taken_nor_removed(self):
        other = self.write("o.4096.ckpt", "of an output called o")
        self.end(self.start("short.json"), 0)
        self.assertTrue(os.path.exists(other))
        self.assertEqual(checkpoints(self.output), [])
        self.stop_behind(self.start("long.json", "--force"), 20000)
        with open(self.path("long.json"), "a", encoding="utf-8") as file:
            file.write("\n")
        self.assertIn("other arguments, or of another system or workload", self.end(self.start("long.json", "--force"), 2))

    def test_options_of_the_run_hold_for_its_later_parts(self):
        # Some seconds of simulation: the script holds the signal back until the launcher is a second old.
        run = ("long.json", "-q", "--max-cycles", "4000000", "--checkpoint-every=100000")
        self.stop_behind(self.start(*run), 100000)
        said = self.end(self.start(*run), 0)
        self.assertIn("going on from", said)
        self.assertNotIn("digest", said, "-q")
        self.assertEqual(len(checkpoints(self.output)), 2, "to go on beyond --max-cycles")

    def test_an_interrupted_result_is_not_complete_and_its_run_goes_on(self):
        """Twice: at the second time the result is older than the newest checkpoint."""
        run = ("long.json", "--max-cycles", "2500000", "--checkpoint-every", "20000")
        for code, number in ((130, signal.SIGINT), (75, signal.SIGUSR1)):
            process = self.start(*run)
            self.until(lambda: len(checkpoints(self.output)) == 2, lambda: "no checkpoints")
            newest = checkpoints(self.output)[-1]
            self.until(lambda: checkpoints(self.output)[-1] != newest, lambda: "no progress")
            for pid in self.ranks() if number == signal.SIGINT else [process.pid]:
                os.kill(pid, number)
            said = self.end(process, code)
            self.assertEqual(len(checkpoints(self.output)), 2, said)
            self.assertTrue(os.path.exists(self.output + ".job"), said)
            self.assertIn("stopped early", self.succeeds(["info", self.output]).out)
        said = self.end(self.start(*run), 0)
        self.assertIn("going on from", said)
        self.assertIn("was complete already", self.end(self.start(*run), 0), "at its --max-cycles")
        wanted = self.succeeds(["run", "sac-4chip", "-w", self.path("long.json"), "--max-cycles", "2500000", *sets(*SMALL)])
        self.assertEqual(self.succeeds(["info", self.output]).digest(), wanted.digest())

    def ranks(self):
        """Processes that simulate this test's output."""
        pids = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words[0] == ATOLL and self.output in words:
                pids.append(int(pid))
        return pids

    def test_a_result_that_is_not_of_the_checkpoints_run_is_kept(self):
        self.stop_behind(self.start("long.json"), 20000)
        self.succeeds(["run", "sac-4chip", "-w", self.path("long.json"), "-o", self.path("x.h5"), "--max-cycles", "9000", *sets(*SMALL)])
        shutil.move(self.path("x.h5"), self.output)
        before = self.succeeds(["info", self.output]).out
        self.assertIn("exists already", self.end(self.start("long.json"), 2))
        self.assertEqual(self.succeeds(["info", self.output]).out, before)

    def job_file(self):
        """What the job says that its run is; it is there before the run begins, and the program's own lock when it has."""
        self.until(lambda: os.path.exists(self.output + ".lock"), lambda: "the run does not begin")
        with open(self.output + ".job", encoding="utf-8") as file:
            return file.read()

    def test_a_second_job_of_an_output_changes_nothing_of_the_first_ones(self):
        asked = {"CHECKPOINT_EVERY": "none"}
        first = self.start("long.json", **asked)
        said = self.job_file()
        for other in ((), ("--set", "llc.ways=4")):
            refused = self.end(self.start("long.json", *other, **asked), 2)
            self.assertIn(f"is being written by another job, which holds {self.output}.job", refused)
        self.assertEqual(self.job_file(), said)
        first.send_signal(signal.SIGUSR1)
        self.end(first, 75)
        self.assertIn("other arguments", self.end(self.start("long.json", "--set", "llc.ways=4", **asked), 2))
        again = self.start("long.json", **asked)
        self.job_file()
        again.send_signal(signal.SIGUSR1)
        self.assertIn("going on from", self.end(again, 75))

    def test_a_job_that_is_killed_before_its_first_checkpoint_hinders_no_other(self):
        first = self.start("long.json", CHECKPOINT_EVERY="none")
        self.job_file()
        os.killpg(first.pid, signal.SIGKILL)
        for pid in self.ranks():
            os.kill(pid, signal.SIGKILL)
        first.communicate()
        for name in (".job", ".lock"):
            self.assertTrue(os.path.exists(self.output + name), name)
        self.end(self.start("short.json", "--set", "llc.ways=4"), 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "long.json", "o.h5", "short.json"])

    def test_a_run_that_is_refused_leaves_no_word_of_itself(self):
        self.write("o.h5", "")
        self.end(self.start("short.json"), 2)
        self.assertFalse(os.path.exists(self.output + ".job"))

    def test_options_are_the_same_in_both_spellings(self):
        spellings = (("--workload=", "-qo"), ("-w", "--quiet --output="), ("-w ", "-q -o "))
        cycle = 20000
        for spelling in spellings:
            self.stop_behind(self.start("long.json", spelling=spelling), cycle)
            cycle = int(checkpoints(self.output)[-1].split(".")[-2])
        with open(self.path("long.json"), "a", encoding="utf-8") as file:
            file.write("\n")
        for spelling in spellings:
            with self.subTest(spelling=spelling):
                said = self.end(self.start("long.json", spelling=spelling), 2)
                self.assertIn("other arguments, or of another system or workload", said)

    def test_files_of_any_name_are_part_of_what_a_run_is(self):
        system = self.succeeds(["config", "sac-4chip", *sets(*SMALL)]).out
        options = {"system": self.write("system.txt", system)}
        self.stop_behind(self.start("long.json", **options), 20000)
        self.write("system.txt", system.replace('"ways": 16', '"ways": 8'))
        self.assertIn("other arguments, or of another system", self.end(self.start("long.json", **options), 2))

    def test_what_a_system_rests_on_is_part_of_what_a_run_is(self):
        self.write("base.json", '{"base": "sac-4chip", "llc": {"ways": 16}}')
        options = {"system": self.write("system.json", '{"base": "base.json", "llc": {"organisation": "sm_side"}}')}
        self.stop_behind(self.start("long.json", **options), 20000)
        self.write("base.json", '{"base": "sac-4chip", "llc": {"ways": 8}}')
        self.assertIn("other arguments, or of another system", self.end(self.start("long.json", **options), 2))

    def test_a_sampled_run_is_one_without_checkpoints(self):
        self.assertNotIn("leaves no checkpoints", self.end(self.start("short.json", "--sample", "error=5%"), 0))

    def test_a_checked_run_is_one_without_checkpoints(self):
        self.end(self.start("short.json", "--check", SLURM_NTASKS="1"), 0)
        self.assertTrue(os.path.exists(self.output))

    def test_setup_files_may_use_what_is_not_set_and_see_no_arguments(self):
        setup = self.write("setup", 'export X=$NOT_SET_ANYWHERE:x\nfalse\necho "arguments: $#"\n')
        said = self.end(self.start("short.json", ATOLL_SETUP=setup), 0)
        self.assertIn("arguments: 0", said)

    def test_what_cannot_work_is_refused_by_name(self):
        self.assertIn("LAUNCHER is srun or mpirun", self.end(self.start("short.json", LAUNCHER="mpiexec"), 2))
        self.output = self.path("no", "o.h5")
        self.assertIn("o.h5: there is no such folder", self.end(self.start("short.json"), 2))


class Experiment(program.ProgramTest):
    """slurm/gather.sbatch and slurm/sweep.sbatch."""

    def setUp(self):
        super().setUp()
        self.out = self.path("out")

    def experiment(self, **more):
        return self.write("e.json", json.dumps({
            "system": "sac-4chip", "set": {key: int(value) for key, value in (word.split("=") for word in SMALL)},
            "workloads": [{"name": "w", "path": workload("stores")}], "variants": [{"name": "mem"}],
            "sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96]}], **more}))

    def script(self, name, code, *words, **variables):
        done = subprocess.run(["bash", os.path.join(SOURCE, "slurm", name), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", timeout=60,
                              env={**program.environment(), "SLURM_SUBMIT_DIR": SOURCE, "ATOLL": ATOLL, **variables})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def text(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def test_the_table_of_results_of_other_settings_says_so(self):
        experiment = self.experiment()
        self.succeeds(["sweep", experiment, "--out", self.out, "--set", "llc.ways=4"])
        self.script("gather.sbatch", 0, experiment, self.out, "--set", "llc.ways=4")
        self.assertTrue(self.text("table.txt").startswith("Speed-up"), self.text("table.txt"))
        self.assertIn("ALL harmonic mean", self.text("table.csv"))
        said = self.script("gather.sbatch", 1, experiment, self.out)
        self.assertRegex(said, r"missing:\n +1 +differs +w__mem")
        self.assertTrue(self.text("table.txt").startswith(f"NOT THE TABLE OF {experiment}"), self.text("table.txt"))
        self.assertRegex(self.text("table.txt"), r"1 +differs +w__mem\S+ +\(`llc.ways` = 4 in it, now 16\)")
        self.assertFalse(os.path.exists(os.path.join(self.out, "table.csv")), "a CSV of the other settings")

    def test_the_table_of_a_part_says_what_is_missing(self):
        experiment = self.experiment()
        os.mkdir(self.out)
        self.script("gather.sbatch", 1, experiment, self.out)
        self.assertEqual(os.listdir(self.out), [])
        self.succeeds(["sweep", experiment, "--out", self.out, "--point", "2"])
        self.script("gather.sbatch", 1, experiment, self.out)
        self.assertRegex(self.text("table.txt"), r"NOT THE TABLE OF .*\n +1 +missing +w__mem")
        self.assertNotRegex(self.text("table.txt"), r"2 +done")


class LocalCluster(program.ProgramTest):
    """slurm/local-cluster.sh runs as root what is in its folder."""

    def refused(self, why, folder):
        for command in ("env", "status", "down"):
            with self.subTest(why=why, command=command):
                done = subprocess.run([os.path.join(SOURCE, "slurm", "local-cluster.sh"), command, "--dir", folder],
                                      stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=20)
                self.assertEqual(done.returncode, 1, done)
                self.assertEqual(done.stdout, "")
                self.assertIn(why if os.geteuid() == 0 or command != "down" else "only root", done.stderr)
                self.assertTrue(os.path.exists(os.path.join(folder, "slurm.conf")), "nothing was removed")

    def test_a_folder_that_somebody_else_made_or_can_change_is_not_used(self):
        for part in ("munge", "spool"):
            os.makedirs(self.path("planted", part))
        self.write("planted/slurm.conf", "")
        self.write("planted/first", f"{os.getpid()} 1\n")
        os.symlink(self.path("planted"), self.path("link"))
        self.refused("is a link", self.path("link"))
        if os.geteuid() == 0:
            os.chmod(self.path("planted"), 0o777)
            self.refused("mode 777 and not to root alone", self.path("planted"))
            os.chmod(self.path("planted"), 0o755)
            os.chown(self.path("planted"), 65534, 65534)
        self.refused("and not to root alone", self.path("planted"))


if __name__ == "__main__":
    program.main()
