"""An experiment from its file to its table: what is run, what is left alone, what is told of failures."""

import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import time
import unittest

import program
from program import ATOLL, SMALL, SOURCE, sets

QUICK = os.path.join(SOURCE, "inputs", "experiments", "quick.json")
POINTS = 8
LONG = {"kernels": [{"ctas": 64, "memory_instructions": 8000, "regions": [{"name": "r", "size_kib": 256}]}]}


class Sweep(program.ProgramTest):
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

    def test_a_result_of_another_version_of_the_workload_is_in_no_row_with_its_baseline(self):
        experiment = self.experiment(baseline="mem")
        self.sweep(experiment=experiment)
        path = self.path("w", "a.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.write("w/a.json", text.replace('"ctas": 32', '"ctas": 40'))
        self.sweep("--only", "a__sm", "--force", experiment=experiment)
        outcome = program.run(["table", self.path("out")])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("a__sm (of another version of the workload than a__mem)", outcome.out + outcome.err)

    def test_runs_of_a_row_are_of_one_version_without_a_baseline_too(self):
        experiment = self.experiment()
        self.sweep("--only", "a__mem", experiment=experiment)
        self.write("w/a.json", self.read("w/a.json").replace('"ctas": 32', '"ctas": 40'))
        self.sweep("--only", "a__sm", experiment=experiment)
        said = program.run(["table", self.path("out"), "--metric", "cycles"])
        self.assertIn("a__sm (of another version of the workload than a__mem)", said.out + said.err)

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(ATOLL), "atoll_python_policy.so")), "built without Python")
    def test_runs_of_a_column_are_of_one_version_of_the_policy(self):
        policy = ("import atoll\n"
                  "class Policy:\n"
                  "    roles = ('memory_side', 'sm_side')\n"
                  "    def at_kernel_start(self, kernel, start):\n"
                  "        return atoll.Modes(llc='%s')\n"
                  "    def __init__(self, config):\n"
                  "        pass\n")
        path = self.write("p.py", policy % "memory_side")
        experiment = self.experiment(variants=[{"name": "mine", "set": {"llc.organisation": "plugin", "llc.policy": path}}])
        self.sweep(experiment=experiment)
        self.assertEqual(program.run(["table", self.path("out")]).out.count("no result"), 0)
        self.write("p.py", policy % "sm_side")
        time.sleep(1)  # results say in which second they began: the newest has the version that counts
        self.sweep("--only", "b__mine", "--force", experiment=experiment)
        said = program.run(["table", self.path("out")])
        self.assertIn(f"a__mine (of another version of the policy {path} than b__mine)", said.out + said.err)

    def test_speed_ups_are_of_times_where_clocks_differ(self):
        variants = [{"name": "slow"}, {"name": "fast", "set": {"core_clock_mhz": 2000}}]
        self.sweep(experiment=self.experiment(variants=variants, baseline="slow"))

        def of_a(metric):
            text = program.run(["table", self.path("out"), "--metric", metric, "--csv"]).out
            return [float(value) for value in next(row for row in csv.reader(io.StringIO(text)) if row[:1] == ["a"])[1:]]

        slow, fast = of_a("cycles")
        for time_of, cycles, clock in zip(of_a("time"), (slow, fast), (1e9, 2e9), strict=True):
            self.assertAlmostEqual(time_of * clock / cycles, 1, delta=1e-9)
        self.assertAlmostEqual(of_a("speedup")[1], 2 * slow / fast, delta=1e-6)
        said = program.run(["compare", self.path("out", "a__slow.h5"), self.path("out", "a__fast.h5")]).out
        self.assertIn(f"at 1000 and 2000 MHz, B is {2 * slow / fast:.3f} times as fast", said)

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
        self.assertEqual(outcome.err.count("lays data out"), 1, outcome)
        others, = re.findall(rf"\natoll: the warning of {first} is also one of (.*)\n", outcome.err)
        self.assertEqual(sorted([first, *others.split(", ")]), ["a__x", "a__y", "a__z"])
        self.assertRegex(outcome.err, r"(?m)^  a__z: no.py: no such file")
        self.assertTrue(self.states(experiment=file)["a__z"][1].startswith("(no.py: no such file"))

    def test_a_result_of_other_settings_is_replaced_only_with_force(self):
        file = self.experiment()
        self.sweep(experiment=file)
        before = self.results()
        refused = self.sweep("--set", "llc.ways=8", experiment=file, code=2)
        self.assertIn("a__mem.h5: is the result of something else: `llc.ways` = 16 in it, now 8 (and 3 more points)",
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

    def table(self, *more):
        """The rows of `atoll table --csv` by their first cell, and what is said of missing points."""
        outcome = self.succeeds(["table", self.path("out"), "--csv", *more])
        header, *rows = csv.reader(outcome.out.splitlines())
        return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}, outcome.err

    def test_a_table_shows_the_ratio_of_cycles_and_the_distance_to_the_paper(self):
        file = self.experiment(reference={"source": "Fig. 0", "speedup": {"sm": {"a": 0.5, "b": 2}}, "mean": {"sm": {"ALL": 3}}})
        self.write("w/b.json", self.read("w/b.json").replace("20", "60"))
        self.sweep(experiment=file)
        table, said = self.table()
        self.assertEqual(said, "")
        info = {p: json.loads(self.succeeds(["info", "--json", self.path("out", p + ".h5")]).out)
                for p in ("a__mem", "a__sm", "b__mem", "b__sm")}
        cycles = {p: i["cycles"] for p, i in info.items()}
        ipc = {p: i["totals"]["warp.instructions"] / i["cycles"] for p, i in info.items()}
        a, b = cycles["a__mem"] / cycles["a__sm"], cycles["b__mem"] / cycles["b__sm"]
        self.assertGreater(abs(a - b), 0.01)

        def shows(row, column, value):
            self.assertAlmostEqual(float(table[row][column]), value, places=6)

        shows("a", "mem", 1)
        shows("a", "sm", a)
        shows("a", "sm paper", 0.5)
        shows("a", "sm |ln|", abs(math.log(a / 0.5)))
        shows("b", "sm |ln|", abs(math.log(b / 2)))
        shows("mean |ln(ours/paper)|", "sm |ln|", (abs(math.log(a / 0.5)) + abs(math.log(b / 2))) / 2)
        shows("ALL harmonic mean", "sm", 2 / (1 / a + 1 / b))
        shows("ALL harmonic mean", "sm paper", 0.8)  # 2 / (1 / 0.5 + 1 / 2)
        shows("ALL IPC-first mean", "sm",
              (1 / ipc["a__mem"] + 1 / ipc["b__mem"]) / (1 / ipc["a__sm"] + 1 / ipc["b__sm"]))
        shows("ALL IPC-first mean", "sm paper", 3)
        table, _ = self.table("--metric", "llc.accesses")
        shows("b", "sm", info["b__sm"]["totals"]["llc.accesses"])
        self.assertEqual(list(table), ["a", "b"])
        energy = {name: sum(i["energy_joules"].values()) for name, i in info.items()}
        table, _ = self.table("--metric", "energy.total")
        shows("a", "sm", energy["a__sm"])
        self.assertEqual(list(table), ["a", "b"])
        table, _ = self.table("--metric", "energy.total", "--relative")
        ratio = {w: energy[f"{w}__sm"] / energy[f"{w}__mem"] for w in ("a", "b")}
        shows("a", "mem", 1)
        shows("b", "sm", ratio["b"])
        shows("ALL mean", "sm", (ratio["a"] + ratio["b"]) / 2)
        text = self.succeeds(["table", self.path("out"), "-m", "speedup,ipc,cycles"]).out
        self.assertIn("beside Fig. 0", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 120)

    def test_a_table_by_an_axis_has_a_column_for_each_value_and_no_baselines_of_themselves(self):
        self.write("a.json", json.dumps({"kernels": [{"ctas": 8, "memory_instructions": 10, "regions": [{"name": "r", "size_kib": 64}]}]}))
        experiment = self.write("axis.json", json.dumps({
            "system": "sac-4chip", "set": {key: int(value) for key, value in (word.split("=") for word in SMALL)},
            "workloads": [{"name": "a", "path": "a.json"}], "baseline": "mem",
            "variants": [{"name": "mem", "set": {"llc.organisation": "memory_side"}},
                         {"name": "sm", "set": {"llc.organisation": "sm_side"}}],
            "sweeps": [{"key": "link.bandwidth_gbps", "values": [4, 64]}]}))
        out = self.path("axis")
        self.succeeds(["sweep", experiment, "--out", out])
        plain = {row[0]: row for row in self.csv_of(out)}
        head = plain["speed-up"]
        table = list(self.csv_of(out, "--by", "link.bandwidth_gbps"))
        self.assertEqual(table[0], ["speed-up", "link.bandwidth_gbps=4", "link.bandwidth_gbps=64"])
        wanted = [plain["a"][head.index(f"sm_bandwidth_gbps-{v}")] for v in (4, 64)]
        self.assertEqual([row for row in table[1:] if row], [[name, *wanted] for name in
                         ("a sm_side", "ALL harmonic mean sm_side", "ALL IPC-first mean sm_side")])
        rows = [row[0] for row in self.csv_of(out, "--by", "link.bandwidth_gbps", "--metric", "cycles") if row]
        self.assertEqual(rows, ["cycles", "a memory_side", "a sm_side"])
        self.refused(["table", out, "--by", "link.bandwidth_gbp"], 2, "did you mean `link.bandwidth_gbps`", layouts=(None,))
        self.refused(["table", out, "--by", "x"], 2, "they set link.bandwidth_gbps, llc.organisation", layouts=(None,))

    def test_a_swept_variant_alone_is_compared_along_the_key_with_its_first_value(self):
        bandwidths = [8, 16, 64]
        file = self.experiment(variants=[{"name": "v"}],
                               sweeps=[{"key": "link.bandwidth_gbps", "values": bandwidths}, {"key": "llc.ways", "values": [8, 16]}])
        self.sweep(experiment=file)
        out = self.path("out")
        cycles = {(w, b, ways): json.loads(self.succeeds(["info", "--json", os.path.join(
            out, f"{w}__v_bandwidth_gbps-{b}_ways-{ways}.h5")]).out)["cycles"] for w in "ab" for b in bandwidths for ways in (8, 16)}
        for relative in (["-m", "speedup"], ["-m", "cycles", "--relative"]):
            table, _ = self.table("--by", "link.bandwidth_gbps", *relative)
            for w in "ab":
                for ways in (8, 16):
                    for b in bandwidths:
                        ratio = cycles[w, 8, ways] / cycles[w, b, ways]
                        shown = float(table[f"{w} {ways}"][f"link.bandwidth_gbps={b}"])
                        self.assertAlmostEqual(shown, ratio if "speedup" in relative else 1 / ratio, places=6)
        self.assertNotEqual(cycles["a", 8, 8], cycles["a", 64, 8])
        text = self.succeeds(["table", out, "--by", "link.bandwidth_gbps", "-m", "speedup,cycles", "--relative"]).out
        self.assertIn("Speed-up (ratio of times) over link.bandwidth_gbps = 8; columns: link.bandwidth_gbps\n", text)
        self.assertIn("; over that at link.bandwidth_gbps = 8; columns", text)
        said = "every variant is its own baseline; to compare along a key: --by link.bandwidth_gbps or --by llc.ways\n"
        self.assertIn(said, self.succeeds(["table", out]).out)
        self.assertEqual(self.table()[1], said)
        self.assertEqual(self.table("-m", "cycles")[1], "")

    def test_runs_of_other_scales_have_no_ratio(self):
        self.sweep(experiment=self.experiment(variants=[{"name": "v"}], sweeps=[{"key": "scale", "values": [1, 2]}]))
        for metric in (["-m", "speedup"], ["-m", "cycles", "--relative"]):
            table, said = self.table("--by", "scale", *metric)
            self.assertEqual(table["a"], {"scale=1": "1", "scale=2": "-"}, metric)
            self.assertIn("no ratios of unlike work (scale)", said)
        self.assertEqual(self.table()[1], "")

    def test_a_table_of_results_whose_system_file_is_not_there_any_more_says_so(self):
        system = self.write("s.json", json.dumps({"base": "sac-4chip"}))
        self.sweep(experiment=self.experiment(system="s.json"))
        table, _ = self.table()
        os.remove(system)
        again = self.succeeds(["table", self.path("out"), "--csv"])
        self.assertIn("whether these runs are of this experiment cannot be said: ", again.err)
        self.assertEqual(self.table()[0], table)

    def csv_of(self, out, *more):
        return csv.reader(io.StringIO(self.succeeds(["table", out, "--csv", *more]).out))

    def test_a_table_shows_what_is_missing_and_leaves_it_out_of_the_means(self):
        file = self.experiment()
        self.sweep(experiment=file)
        os.remove(self.path("out/a__sm.h5"))
        self.write("out/b__mem.h5", "damaged")
        speedup, said = self.table()
        self.assertEqual((speedup["a"]["mem"], speedup["a"]["sm"], speedup["b"]["sm"]), ("1", "-", "-"))
        self.assertEqual(speedup["ALL harmonic mean"], {"mem": "1", "sm": "-"})
        self.assertIn("2 of 4 points have no result", said)
        self.assertRegex(said, r"(?m)^  a__sm$")
        self.assertRegex(said, r"(?m)^  b__mem \(.*not an HDF5 file")

    def test_a_table_of_something_else_is_refused(self):
        self.refused(["table", self.folder], 2, "is not the folder of a sweep", layouts=[None])
        file = self.experiment()
        self.sweep("--only", "a__mem", experiment=file)
        self.refused(["table", self.path("out"), "-m", "llc.mises"], 2, "there is no `llc.mises`, did you mean `llc.misses`?",
                     layouts=[None])

    def test_under_mpirun_the_first_rank_runs_it_and_says_so(self):
        outcome = program.run(["sweep", QUICK, "--out", self.path("out"), "--only", "conv2d__*"], 2, timeout=120)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("only `run` and `resume` are parallel", outcome.err)
        self.assertEqual(sorted(name for name in os.listdir(self.path("out")) if name.endswith(".h5")),
                         ["conv2d__memory_side.h5", "conv2d__sm_side.h5"])


if __name__ == "__main__":
    program.main()
