"""Job scripts on a private Slurm of two nodes (slurm/local-cluster.sh); skipped where that cannot start."""

import json
import os
import re
import subprocess
import sys
import tempfile

import program
from program import ATOLL, SMALL, SOURCE, sets

SCRIPTS = os.path.join(SOURCE, "slurm")
CLUSTER = os.path.join(SCRIPTS, "local-cluster.sh")


class Cluster:
    """Up while it lives."""

    def __init__(self):
        self.folder = os.path.join(tempfile.gettempdir(), f"atoll-slurm-{os.getpid()}")
        self.up = self.control("up", "--nodes", "2", "--cpus", "4")
        self.environment = {**program.environment(), "ATOLL": ATOLL}
        if self.up.returncode == 0:
            for name, value in re.findall(r"(\w+)=(\S+)", self.control("env").stdout):
                self.environment[name] = value

    def control(self, *words):
        return subprocess.run([CLUSTER, *words, "--dir", self.folder], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", timeout=60)

    def call(self, *words, **more):
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60,
                              env={**self.environment, **more})


cluster: "Cluster"  # main makes it


class Slurm(program.ProgramTest):
    def slurm(self, *words, **more):
        done = cluster.call(*words, **more)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout.strip()

    def fields(self, job):
        """What Slurm knows of a job or of the first element of an array."""
        return dict(word.split("=", 1) for word in self.slurm("scontrol", "--oneliner", "show", "job", job).splitlines()[0].split()
                    if "=" in word)

    def wait(self, job, states, seconds=400):
        self.until(lambda: self.fields(job)["JobState"] in states, lambda: f"{self.fields(job)}\n{self.output('job.out')}", seconds)
        return self.fields(job)

    def output(self, name):
        if not os.path.exists(self.path(name)):
            return ""
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def submit(self, *words, **more):
        return self.slurm("sbatch", "--parsable", "--output", self.path("job.out"), *words, **more)

    def small(self, *more, name="stores"):
        return ["sac-4chip", "--workload", program.workload(name), *sets(*SMALL), *more]

    def info(self, result):
        return json.loads(self.succeeds(["info", "--json", result]).out)

    def test_a_run_on_two_nodes_has_the_digest_of_one_process(self):
        wanted = self.succeeds(["run", *self.small()]).digest()
        for launcher in ("srun", "mpirun"):
            with self.subTest(launcher=launcher):
                result = self.path(launcher + ".h5")
                job = self.submit("--nodes=2", "--ntasks=5", os.path.join(SCRIPTS, "run.sbatch"), *self.small("--output", result),
                                  LAUNCHER=launcher)
                fields = self.wait(job, ("COMPLETED", "FAILED"))
                self.assertEqual(fields["ExitCode"], "0:0", self.output("job.out"))
                info = self.info(result)
                self.assertEqual(info["digest"], wanted)
                self.assertEqual(info["provenance"]["hosts"], ["n1"] * 4 + ["n2"])

    def test_an_interrupted_job_goes_on_by_the_same_line_and_another_one_of_its_output_changes_nothing(self):
        kernel = {"repeat": 200, "ctas": 64, "memory_instructions": 60, "regions": [{"name": "r", "size_kib": 1024}]}
        work, result = self.write("w.json", json.dumps({"kernels": [kernel]})), self.path("o.h5")
        arguments = ["sac-4chip", "--workload", work, *sets(*SMALL)]
        line = [os.path.join(SCRIPTS, "run.sbatch"), *arguments, "--output", result]
        wide = ["--nodes=2", "--ntasks=5"]
        job = self.submit(*wide, *line, CHECKPOINT_EVERY="20000")
        self.until(lambda: os.path.exists(result + ".lock"), lambda: self.output("job.out"))
        other = self.slurm("sbatch", "--parsable", "--output", self.path("other.out"), "--ntasks=1", *line, "--set", "llc.ways=4")
        self.until(lambda: self.fields(other)["JobState"] == "FAILED", lambda: f"{self.fields(other)}")
        self.assertIn("is being written by another job", self.output("other.out"))
        self.until(lambda: self.checkpoints(result), lambda: self.output("job.out"))
        self.slurm("scancel", "--signal=INT", job)
        self.assertEqual(self.wait(job, ("COMPLETED", "FAILED"))["ExitCode"], "130:0", self.output("job.out"))
        self.assertIs(self.info(result)["complete"], False)
        self.assertNotEqual(self.checkpoints(result), [])
        fields = self.wait(self.submit(*wide, *line), ("COMPLETED", "FAILED"))
        self.assertEqual(fields["ExitCode"], "0:0", self.output("job.out"))
        self.assertIn("going on from", self.output("job.out"))
        self.assertEqual(self.info(result)["digest"], self.succeeds(["run", *arguments]).digest())
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.startswith("o.h5")), ["o.h5"])

    def test_a_job_that_is_told_of_its_time_limit_queues_itself_again_and_goes_on_to_the_same_digest(self):
        """What --signal sends before the limit, sent at once; the script holds it back until the launcher is a second old."""
        kernel = {"repeat": 100, "ctas": 64, "memory_instructions": 60, "regions": [{"name": "r", "size_kib": 1024}]}
        work = self.write("w.json", json.dumps({"kernels": [kernel]}))
        arguments = ["sac-4chip", "--workload", work, *sets(*SMALL)]
        wanted = self.succeeds(["run", *arguments]).digest()
        for launcher in ("srun", "mpirun"):
            with self.subTest(launcher=launcher):
                result = self.path(launcher + ".h5")
                job = self.submit("--nodes=2", "--ntasks=5", os.path.join(SCRIPTS, "run.sbatch"), *arguments, "--output", result,
                                  CHECKPOINT_EVERY="20000", LAUNCHER=launcher)
                self.until(lambda: self.checkpoints(result), lambda: self.output("job.out"))
                self.slurm("scancel", "--signal=USR1", "--batch", job)
                fields = self.wait(job, ("COMPLETED", "FAILED"))
                said = self.output("job.out")
                self.assertEqual((fields["ExitCode"], fields["Restarts"]), ("0:0", "1"), said)
                self.assertRegex(said, rf"going on from {result}\.\d+\.ckpt")
                self.assertEqual(self.info(result)["digest"], wanted)
                self.assertEqual(self.checkpoints(result), [])
                os.remove(self.path("job.out"))

    def checkpoints(self, result):
        return [name for name in os.listdir(self.folder) if re.fullmatch(rf"{os.path.basename(result)}\.\d+\.ckpt", name)]

    def test_a_job_array_runs_what_is_missing_of_an_experiment_and_gathers_the_table(self):
        out = self.path("out")
        workload = {"kernels": [{"ctas": 32, "memory_instructions": 20, "regions": [{"name": "r", "size_kib": 256}]}]}
        self.write("w.json", json.dumps(workload))
        experiment = self.write("e.json", json.dumps({
            "system": "sac-4chip", "set": {key: int(value) for key, value in (word.split("=") for word in SMALL)},
            "workloads": [{"name": "w", "path": "w.json"}], "variants": [{"name": "mem"}],
            "sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96, 192, 384]}]}))
        self.succeeds(["sweep", experiment, "--out", out, "--point", "2"])
        submit = [os.path.join(SCRIPTS, "submit.sh"), experiment, out, "--jobs", "2", "--cpus-per-task=2"]
        said = self.slurm(*submit, ATOLL=f"env {ATOLL}")  # as a container's command stands before the program
        array, elements, gather = re.fullmatch(r"3 points missing; array (\d+) of (\d+) elements, table by job (\d+) in .*", said).groups()
        self.assertEqual(elements, "2")
        self.wait(gather, ("COMPLETED", "FAILED"))
        for element in ("1", "2"):
            self.assertEqual(self.fields(f"{array}_{element}")["ExitCode"], "0:0", self.output(f"out/sweep-{element}.out"))
            self.assertIn("0 of " + ("2" if element == "1" else "1"), self.output(f"out/sweep-{element}.out"))
        self.assertEqual(self.fields(gather)["ExitCode"], "0:0", self.output("out/gather.out"))
        self.assertIn("ALL harmonic mean", self.output("out/table.txt"))
        self.assertEqual(len([name for name in os.listdir(out) if name.endswith(".h5")]), 4)
        self.assertEqual(self.slurm(*submit), f"nothing is missing in {out}")

    def test_down_leaves_nothing_behind(self):
        other = Cluster.__new__(Cluster)
        other.folder = cluster.folder + "-b"
        links = subprocess.run(["ip", "-brief", "link"], capture_output=True, check=True).stdout
        self.assertEqual(other.control("up").returncode, 0)
        other.environment = dict(program.environment(), SLURM_CONF=os.path.join(other.folder, "slurm.conf"))
        marker = f"{3600 + os.getpid() / 1e7:.7f}"
        job = other.call("sbatch", "--parsable", "--output=/dev/null", "--wrap", f"sleep {marker}").stdout.strip()
        self.until(lambda: self.processes(marker), lambda: job)
        self.assertEqual(other.control("down").returncode, 0)
        self.assertEqual(self.processes(marker), [])
        self.assertEqual(self.processes(other.folder), [])
        self.assertFalse(os.path.exists(other.folder))
        self.assertEqual(subprocess.run(["ip", "-brief", "link"], capture_output=True, check=True).stdout, links)

    def processes(self, word):
        """Command lines that have the word."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                    line = file.read().replace("\0", " ")
            except OSError:
                continue
            if word in line:
                found.append(line)
        return found


def main():
    global cluster
    cluster = Cluster()
    if cluster.up.returncode == program.SKIPPED:
        print("skipped:", cluster.up.stderr.strip())
        sys.exit(program.SKIPPED)
    try:
        if cluster.up.returncode != 0:
            sys.exit(cluster.up.stderr)
        program.main()
    finally:
        cluster.control("down")


if __name__ == "__main__":
    main()
