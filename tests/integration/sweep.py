"""An experiment: what is run, what is left alone, what is told of failures. sweep_tables.py has its tables."""

import json
import os
import re
import signal
import subprocess
import time

import program
from program import ATOLL, SMALL, SOURCE, sets
from sweep_test import QUICK, SweepTest

POINTS = 8
LONG = {"kernels": [{"ctas": 64, "memory_instructions": 8000, "regions": [{"name": "r", "size_kib": 256}]}]}


class Sweep(SweepTest):
    def begun_with_a_long_point(self, experiment):
        """A sweep that runs a__mem, and takes a while for it."""
        self.write("w/a.json", json.dumps(LONG))
        command = [ATOLL, "sweep", experiment, "-o", self.path("out"), "--jobs", "1"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding="utf-8", env=program.environment())
        while not os.path.exists(self.path("out", "a__mem.log")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        return process

    def test_a_folder_behind_a_link_and_a_section_as_setting_can_be_read_again(self):
        os.makedirs(self.path("deep", "er", "disk"))
        os.symlink(self.path("deep", "er", "disk"), self.path("out"))
        self.sweep("--set", 'llc={"ways":8}', experiment=self.experiment())
        outcome = program.run(["table", self.path("out")])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertNotIn("no result", outcome.out)

    def test_a_result_that_another_sweep_makes_meanwhile_with_other_settings_is_not_replaced(self):
        experiment = self.experiment()
        process = self.begun_with_a_long_point(experiment)
        self.sweep("--only", "b__mem", "--set", "llc.ways=8", experiment=experiment)
        before = self.results()["b__mem.h5"]
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("b__mem: another process has made a result of something else meanwhile: `llc.ways` = 8 in it, now 16", err)
        self.assertEqual(self.results()["b__mem.h5"], before)

    def test_a_folder_of_results_with_the_experiment_s_name_is_in_nobody_s_way(self):
        os.makedirs(self.path("quick"))
        outcome = program.run(["sweep", "quick", "-o", "quick", "--list"], cwd=self.folder)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("missing", outcome.out)

    def test_points_that_another_sweep_has_done_meanwhile_are_not_run_again(self):
        experiment = self.experiment()
        process = self.begun_with_a_long_point(experiment)
        self.sweep("--only", "b__*", experiment=experiment)
        before = {name: at for name, at in self.results().items() if name.startswith("b__")}
        self.assertEqual(len(before), 2)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(out.count("has been done by another process"), 2, out)
        self.assertLessEqual(before.items(), self.results().items())

    def test_a_sweep_that_is_stopped_keeps_what_is_finished_and_goes_on_from_there(self):
        command = [ATOLL, "sweep", QUICK, "-o", self.path("out"), "--jobs", "2"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding="utf-8", env=program.environment())
        for line in process.stdout:
            if "done in" in line:
                break
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, out + err)
        self.assertIn("stopped by signal 15", err)
        first = self.results()
        self.assertTrue(1 <= len(first) < POINTS, first)
        self.assertEqual([n for n in os.listdir(self.path("out")) if n.endswith((".log", ".part"))], [])
        states = [state for state, _ in self.states().values()]
        self.assertEqual((states.count("done"), states.count("missing")), (len(first), POINTS - len(first)))

        resumed = self.sweep()
        self.assertIn(f"{len(first)} of {POINTS} points are done; running {POINTS - len(first)}, 2 at a time", resumed.out)
        second = self.results()
        self.assertEqual(len(second), POINTS)
        for name, written in first.items():
            self.assertEqual(second[name], written, name)
        self.assertIn(f"{POINTS} of {POINTS} points are done; running 0", self.sweep().out)
        self.assertEqual(self.results(), second)
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted([*second, "experiment.json"]))

    def test_a_stopped_sweep_leaves_no_process_behind(self):
        slow = self.experiment()
        self.write("w/a.json", json.dumps({"kernels": [{"repeat": 10000, "ctas": 4096, "regions": [{"name": "r"}]}]}))
        process = subprocess.Popen([ATOLL, "sweep", slow, "-o", self.path("out"), "--jobs", "2", "--only", "a__*"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=program.environment())
        listed: dict = {}
        until = time.monotonic() + 20
        while [s for s, _ in listed.values()].count("running") < 2 and time.monotonic() < until:
            time.sleep(0.1)
            listed = self.states(experiment=slow) if os.path.isdir(self.path("out")) else {}
        self.assertEqual([s for s, _ in listed.values()], ["running", "running", "missing", "missing"])
        with subprocess.Popen(["ps", "-o", "pid=", "--ppid", str(process.pid)], stdout=subprocess.PIPE) as ps:
            children = ps.stdout.read().split()
        self.assertEqual(len(children), 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        for pid in children:
            self.assertFalse(os.path.exists(f"/proc/{int(pid)}"))
        self.assertEqual({s for s, _ in self.states(experiment=slow).values()}, {"missing"})

    def test_lines_say_how_long_the_whole_sweep_still_takes(self):
        lines = [line for line in self.sweep().out.splitlines() if line.startswith("[")]
        self.assertEqual(len(lines), POINTS)
        for line in lines[:-1]:
            self.assertRegex(line, r": done in .+, about .+ left$")
        self.assertRegex(lines[-1], r": done in [^,]+$")

    def test_a_point_that_fails_is_reported_and_the_others_are_run(self):
        file = self.experiment()
        self.write("w/b.json", '{"kernels": [{"ctas": 1, "ragions": []}]}')
        outcome = self.sweep(experiment=file, code=1)
        said = "unknown key `kernels[0].ragions`, did you mean `kernels[0].regions`?"
        self.assertIn("atoll: 2 of 4 points failed:", outcome.err)
        for variant in ("mem", "sm"):
            self.assertRegex(outcome.err, rf"(?m)^  b__{variant}: .*w/b.json: ")
        self.assertEqual(outcome.err.count(said), 2, outcome)
        states = self.states(experiment=file)
        self.assertEqual([state for state, _ in states.values()], ["done", "done", "failed", "failed"])
        self.assertIn(said, states["b__sm"][1])
        self.assertIn(said, self.read("out/b__sm.log"))
        self.experiment()  # mended
        self.sweep(experiment=file)
        self.assertEqual({state for state, _ in self.states(experiment=file).values()}, {"done"})
        self.assertFalse(os.path.exists(self.path("out", "b__sm.log")))

    def test_what_runs_warn_of_is_told_once_and_is_no_error(self):
        three = {"chips": 3}
        file = self.experiment(variants=[{"name": "x", "set": three}, {"name": "y", "set": {**three, "llc.organisation": "sm_side"}},
                                         {"name": "four"},
                                         {"name": "z", "set": {**three, "llc.organisation": "plugin", "llc.policy": "no.py"}}])
        kernel = {"ctas": 32, "memory_instructions": 20, "regions": [{"name": "r", "size_kib": 256, "kind": "private"}]}
        self.write("w/a.json", json.dumps({"chips": 4, "kernels": [kernel]}))
        outcome = self.sweep(experiment=file, code=1)
        warning = r"(?m)^atoll: warning: (a__[xyz]): .*w/a.json lays data out for 4 chips .*, and the system has 3: "
        first, = re.findall(warning, outcome.err)  # of two that run beside each other, either
        (words, others), = re.findall(rf'\natoll: the warning of {first}, "(.*)", is also one of (.*)\n', outcome.err)
        self.assertRegex(words, r"^\S*w/a.json lays data out for 4 chips \S+ \.\.\.$")
        self.assertEqual(sorted([first, *others.split(", ")]), ["a__x", "a__y", "a__z"])
        self.assertRegex(outcome.err, r"(?m)^  a__z: no.py: no such file")
        self.assertTrue(self.states(experiment=file)["a__z"][1].startswith("(no.py: no such file"))

    def test_a_result_of_other_settings_is_replaced_only_with_force(self):
        file = self.experiment()
        self.sweep(experiment=file)
        before = self.results()
        refused = self.sweep("--set", "llc.ways=8", experiment=file, code=2)
        self.assertIn("a__mem.h5: is no result of this point: `llc.ways` = 16 in it, now 8 (and 3 more points)",
                      refused.err)
        self.assertEqual(self.results(), before)
        self.sweep("--set", "llc.ways=8", "--force", "--only", "a__*", experiment=file)
        after = self.results()
        self.assertEqual({n for n in before if before[n] != after[n]}, {"a__mem.h5", "a__sm.h5"})

    def test_a_workload_that_has_changed_makes_its_results_differ(self):
        file = self.experiment()
        self.sweep(experiment=file)
        self.write("w/a.json", self.read("w/a.json").replace("256", "512"))
        refused = self.sweep(experiment=file, code=2)
        self.assertIn("w/a.json has changed since (and 1 more points); use --force", refused.err)
        self.assertEqual([s for s, _ in self.states(experiment=file).values()], ["differs", "differs", "done", "done"])
        listed = self.sweep("--list", "--missing", experiment=file, code=2)  # as the sweep would say itself
        self.assertEqual((listed.out, listed.err), ("", refused.err))
        self.assertEqual(self.sweep("--list", "--missing", "--force", experiment=file).out, "1 a__mem\n2 a__sm\n")

    def test_another_experiment_that_takes_the_folder_meanwhile_is_told_of(self):
        process = self.begun_with_a_long_point(self.experiment())
        other = self.write("other.json", json.dumps({"system": "sac-4chip", "workloads": [{"name": "v", "path": "vectoradd"}],
                                                     "variants": [{"name": "mem"}]}))
        self.sweep(experiment=other)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("experiment.json: is of another experiment now, whose sweep began meanwhile", err)

    def test_point_runs_those_of_these_numbers_and_missing_lists_the_others(self):
        file = self.experiment()
        self.sweep("--point", "3", experiment=file)
        self.assertEqual(list(self.results()), ["b__mem.h5"])
        self.assertIn("--point: 5 does not exist; there are 4", self.sweep("--point", "5", experiment=file, code=2).err)
        self.assertEqual(self.sweep("--list", "--missing", experiment=file).out, "1 a__mem\n2 a__sm\n4 b__sm\n")
        self.sweep("--point", "1,4", experiment=file)
        self.assertEqual(set(self.results()), {"a__mem.h5", "b__mem.h5", "b__sm.h5"})
        self.sweep("--point", "2", experiment=file)
        self.assertEqual(self.sweep("--list", "--missing", experiment=file).out, "")
        self.assertIn("--only: `x*` fits none of the 4 points", self.sweep("--only", "x*", experiment=file, code=2).err)

    def test_a_key_that_tells_points_apart_cannot_be_set_for_all(self):
        file = self.experiment(sweeps=[{"key": "link.bandwidth_gbps", "values": [32, 96]}])
        for key, value in (("llc.organisation", "memory_side"), ("link.bandwidth_gbps", "9"), ("llc", '{"organisation":"sac"}')):
            said = self.sweep("--set", f"{key}={value}", experiment=file, code=2).err
            self.assertIn("is set by variant `", said)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_what_is_missing_beside_the_chosen_points_and_results_of_other_experiments_are_told(self):
        said = self.sweep("--only", "a__*", experiment=self.experiment()).out
        self.assertIn("done, as chosen; 2 other points are not done; `atoll table", said)
        other = self.experiment(variants=[{"name": "mem"}])
        done = self.sweep(experiment=other)
        self.assertIn("has a__sm.h5, which is no point of this experiment: `atoll table` leaves it out", done.err)
        self.assertIn("all done; `atoll table", done.out)
        self.assertNotIn("no point of this experiment", self.sweep(experiment=other).err)

    def test_points_that_are_not_done_beside_the_chosen_ones_are_counted_whatever_they_lack(self):
        self.sweep("--only", "a__*", experiment=self.experiment())
        said = self.sweep("--only", "b__mem", experiment=self.experiment()).out
        self.assertIn("done, as chosen; 1 other point is not done; `atoll table", said)
        # A result of other settings is one that is not done, and is not missing.
        file = self.experiment(variants=[{"name": "mem", "set": {"llc.ways": 8}}, {"name": "sm", "set": {"llc.organisation": "sm_side"}}])
        self.assertEqual({state for state, _ in self.states("--only", "*__mem", experiment=file).values()}, {"differs"})
        said = self.sweep("--only", "*__sm", experiment=file).out
        self.assertIn("done, as chosen; 2 other points are not done; `atoll table", said)

    def test_a_scale_for_all_leaves_that_of_a_workload_alone_and_recorded_traces_are_refused_at_once(self):
        trace = os.path.join(SOURCE, "inputs", "workloads", "traces", "vectoradd.h5")
        workloads = [{"name": "a", "path": "w/a.json"}, {"name": "t", "path": trace, "set": {"scale": 1}}]
        file = self.experiment(workloads=workloads, variants=[{"name": "mem"}])
        self.sweep("--scale", "4", experiment=file)
        info = {n: json.loads(self.succeeds(["info", "--json", self.path(f"out/{n}__mem.h5")]).out)["provenance"] for n in "at"}
        self.assertIn("--set scale=4", info["a"]["command"])
        self.assertRegex(info["t"]["command"], "--set scale=4 .*--set scale=1")  # the last one counts
        file = self.experiment(workloads=[{"name": "t", "path": trace}], scale=2)
        self.assertIn("is a recorded trace, which cannot be scaled by 2", self.sweep(experiment=file, code=2).err)

    def test_a_scale_for_all_takes_the_place_of_the_experiments_own_in_set_as_well(self):
        file = self.experiment(workloads=[{"name": "a", "path": "w/a.json"}], variants=[{"name": "mem"}],
                               set=dict(s.split("=") for s in SMALL) | {"scale": 8})
        self.sweep("--scale", "4", experiment=file)
        command = json.loads(self.succeeds(["info", "--json", self.path("out/a__mem.h5")]).out)["provenance"]["command"]
        self.assertIn("--set scale=4", command)
        self.assertNotIn("scale=8", command)
        file = self.experiment(workloads=[{"name": "a", "path": "w/a.json"}], variants=[{"name": "mem"}], scale=8)
        self.sweep("--set", "scale=4", experiment=file)
        self.succeeds(["table", self.path("out"), "-m", "cycles"])  # the folder's own experiment is read again

    def test_scale_is_stored_and_shrinks_footprint_and_llc_together(self):
        file = self.experiment(scale=2)
        self.sweep("--only", "a__mem", experiment=file)
        whole = self.path("whole.h5")
        self.succeeds(["run", "sac-4chip", "-w", self.path("w/a.json"), *sets(*SMALL), "-o", whole])
        small, whole = (json.loads(self.succeeds(["info", "--json", f]).out) for f in (self.path("out/a__mem.h5"), whole))
        self.assertEqual(whole["totals"]["sm.ctas"], 2 * small["totals"]["sm.ctas"])
        self.assertLess(small["totals"]["mmu.page_touches"], 0.7 * whole["totals"]["mmu.page_touches"])
        self.assertIn("--set scale=2", small["provenance"]["command"])
        again = self.sweep("--scale", "4", "--only", "a__mem", experiment=file, code=2)
        self.assertIn("`scale` = 2 in it, now 4", again.err)

    def test_a_trace_cannot_be_scaled_and_a_scale_must_divide_the_llc(self):
        trace = os.path.join(SOURCE, "inputs", "workloads", "traces", "vectoradd.h5")
        self.refused(["run", "sac-4chip", "-w", trace, "--scale", "2"], 2, "is a recorded trace, which cannot be scaled by 2")
        self.refused(["run", "sac-4chip", "-w", trace, "--scale", "3"], 2, "`scale` = 3 does not divide `llc.size_kib` = 4096")

    def test_ranks_run_each_point_under_mpirun_with_the_same_digest(self):
        file = self.experiment()
        self.sweep("--only", "a__mem", experiment=file)
        one = json.loads(self.succeeds(["info", "--json", self.path("out/a__mem.h5")]).out)
        os.rename(self.path("out"), self.path("one"))
        self.sweep("--only", "a__mem", experiment=self.experiment(ranks=2))
        two = json.loads(self.succeeds(["info", "--json", self.path("out/a__mem.h5")]).out)
        self.assertEqual(len(two["provenance"]["hosts"]), 2)
        self.assertEqual(two["digest"], one["digest"])

    def test_a_workload_that_comes_with_atoll_may_be_named(self):
        experiment = self.write("named.json", json.dumps({
            "system": "sac-4chip", "workloads": [{"name": "v", "path": "vectoradd"}], "variants": [{"name": "mem"}]}))
        self.sweep(experiment=experiment)
        table = self.succeeds(["table", self.path("out")])
        self.assertRegex(table.out, r"\nv +1\.00")

    def test_a_workload_that_is_not_there_is_refused_before_anything_runs(self):
        file = self.experiment()
        os.rename(self.path("w/b.json"), self.path("w/bb.json"))
        outcome = self.sweep(experiment=file, code=2)
        self.assertRegex(outcome.err, r"^atoll: b__mem: there is no workload .*w/b.json, did you mean `\w+.json`\?")
        self.assertFalse(os.path.exists(self.path("out")))
        self.experiment(recorded_by="make_traces.sh")
        os.remove(self.path("w/b.json"))
        outcome = self.sweep(experiment=self.path("e.json"), code=2)
        self.assertRegex(outcome.err, r"there is no workload .*w/b.json; it is recorded by make_traces.sh\n")
        states = self.states(experiment=self.path("e.json"))
        self.assertEqual(states["a__mem"], ("missing", ""))
        self.assertEqual(states["b__sm"][0], "missing")
        self.assertRegex(states["b__sm"][1], r"^\(there is no workload .*w/b.json; it is recorded by make_traces.sh\)$")

    def test_under_mpirun_the_first_rank_runs_it_and_says_so(self):
        outcome = program.run(["sweep", QUICK, "--out", self.path("out"), "--only", "conv2d__*"], 2, timeout=120)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("only `run` and `resume` are parallel", outcome.err)
        self.assertEqual(sorted(name for name in os.listdir(self.path("out")) if name.endswith(".h5")),
                         ["conv2d__memory_side.h5", "conv2d__sm_side.h5"])


if __name__ == "__main__":
    program.main()
