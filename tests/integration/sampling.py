"""Sampled runs: what is in the result, that it does not depend on ranks, what is said of it, and what is refused."""

import csv
import importlib.util
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from program import ATOLL, SMALL, run, sets

LAUNCHES = 160
ASKED = "error=5%,confidence=95%,early=yes,warm=yes"  # what error=5% stands for


class Sampling(unittest.TestCase):
    scratch: tempfile.TemporaryDirectory
    workload = full = sampled = said = ""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        data = {"name": "data", "kind": "true_shared", "size_kib": 256, "pattern": "stream", "far_reuse": 0.3,
                "far_lines": 512, "write_fraction": 0.1}
        kernel = {"name": "step", "repeat": LAUNCHES, "ctas": 16, "warps_per_cta": 2, "memory_instructions": 12,
                  "regions": [data]}
        cls.workload = cls.path("steps.json")
        with open(cls.workload, "w", encoding="utf-8") as file:
            json.dump({"kernels": [kernel]}, file)
        cls.full, cls.sampled = cls.path("full.h5"), cls.path("sampled.h5")
        cls.run_into(cls.full)
        cls.said = cls.run_into(cls.sampled, "--sample", "error=5%").stdout

    @classmethod
    def path(cls, name):
        return os.path.join(cls.scratch.name, name)

    @classmethod
    def atoll(cls, *arguments, code=0):
        done = subprocess.run([ATOLL, *arguments], check=False, capture_output=True, text=True)
        if done.returncode != code:
            raise AssertionError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
        return done

    @classmethod
    def run_into(cls, out, *options, code=0):
        return cls.atoll("run", "sac-4chip", "-w", cls.workload, *sets(*SMALL), "-o", out, "-f", *options, code=code)

    def info(self, path):
        return json.loads(self.atoll("info", path, "--json").stdout)

    def test_sampled_runs_of_unlike_work_have_no_speed_up(self):
        # Of four pages: four of eight groups of CTAs touch nothing.
        profile = self.path("pages.json")
        with open(profile, "w", encoding="utf-8") as file:
            json.dump({"chips": 0, "kernels": [{"repeat": 16, "ctas": 64, "warps_per_cta": 4, "memory_instructions": 60, "regions": [
                {"name": "a", "kind": "page_interleaved", "size_kib": 64, "pattern": "uniform", "write_fraction": 0.2}]}]}, file)
        for chips in (4, 8):
            self.atoll("run", "sac-4chip", "-w", profile, *sets(*SMALL, "partition.page_kib=16", f"chips={chips}"),
                       "--sample", "error=3%", "-o", self.path(f"{chips}.h5"))
        self.assertIn("no speed-up, of unlike work (chips)", self.atoll("compare", self.path("4.h5"), self.path("8.h5")).stdout)

    def test_fewer_launches_are_simulated_and_the_figures_are_near_those_of_the_whole_run(self):
        full, part = self.info(self.full), self.info(self.sampled)
        of = part["sampling"]
        self.assertLess(of["simulated_launches"], LAUNCHES / 2)
        self.assertEqual(sum(launch["simulated"] for launch in of["launches"]), of["simulated_launches"])
        self.assertLess(part["provenance"]["events"], full["provenance"]["events"] / 2)
        self.assertEqual(part["provenance"]["sampling"], ASKED)
        self.assertEqual(full["provenance"]["sampling"], "")
        self.assertNotIn("sampling", full)
        cycles = of["figures"]["cycles"]
        self.assertAlmostEqual(cycles["value"] / full["cycles"], 1, delta=0.10)
        self.assertGreater(cycles["half_width"], 0)
        self.assertAlmostEqual(of["figures"]["l1.accesses"]["value"] / full["totals"]["l1.accesses"], 1, delta=0.05)
        self.assertAlmostEqual(sum(launch["cycles"] for launch in of["launches"]) / cycles["value"], 1, delta=1e-6)

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "this Python has no h5py")
    def test_the_file_says_that_it_is_sampled_and_skipped_kernels_have_no_times(self):
        import h5py
        with h5py.File(self.sampled) as file:
            self.assertEqual((file.attrs["sampled"], file.attrs["schema_version"]), (1, 6))
            simulated = file["sampling/launches/simulated"][()]
            for column in ("launched", "started", "finished"):
                self.assertEqual(list(file["kernels"][column][()] == 2**64 - 1), list(simulated == 0))
        with h5py.File(self.full) as file:
            self.assertEqual(file.attrs["schema_version"], 5)
            self.assertNotIn("sampled", file.attrs)
            self.assertNotIn("sampling", file)

    def test_threads_and_ranks_change_nothing(self):
        one = self.info(self.sampled)
        self.assertNotEqual(one["digest"], self.info(self.full)["digest"])
        other = self.path("other.h5")
        arguments = ["run", "sac-4chip", "-w", self.workload, *sets(*SMALL), "-o", other, "-f", "--sample", "error=5%"]
        for ranks in (None, 2, 5):
            with self.subTest(ranks=ranks):
                done = run(arguments if ranks else [*arguments, "--threads", "3"], ranks)
                self.assertEqual(done.code, 0, done)
                self.assertEqual(one["digest"], self.info(other)["digest"])
                self.assertEqual(one["sampling"], self.info(other)["sampling"])

    def test_every_command_says_what_is_extrapolated(self):
        self.assertRegex(self.said, r"  sampled      \d+ of 160 launches, .* of the instructions; 95 % intervals, 5.0 % asked for\n")
        self.assertRegex(self.said, r"    cycles     [\d,]+ ± [\d.]+ %\n")
        self.assertIn("(simulated; so is all below the kernels)", self.said)
        self.assertRegex(self.atoll("info", self.sampled).stdout, r"  step +~[\d,]+ cycles")
        self.assertIn("launches simulated", self.atoll("explain", self.sampled).stdout)
        compared = self.atoll("compare", self.full, self.sampled).stdout
        self.assertIn("B is sampled", compared)
        self.assertRegex(compared, rf"sampled +no +{ASKED}")
        self.assertRegex(compared, r"cycles +[\d,]+ and ~[\d,]+ \(± [\d.]+ %\): B is (0\.9|1\.0)\d+ times as fast")
        seen = json.loads(self.atoll("compare", "--json", self.full, self.sampled).stdout)
        cycles = next(e for e in seen["results"] if e["name"] == "cycles")
        wanted = next(f for name, f in self.info(self.sampled)["sampling"]["figures"].items() if name == "cycles")
        self.assertEqual((cycles["b"], cycles["half_width_b"]), (wanted["value"], wanted["half_width"]))
        self.assertNotIn("half_width_a", cycles)
        self.assertIn("sampled: ", self.atoll("export", self.sampled, "--csv", self.path("tables")).stdout)
        with open(os.path.join(self.path("tables"), "sampled_launches.csv"), encoding="utf-8") as file:
            launches = list(csv.DictReader(file))
        self.assertEqual(len(launches), 160)
        with open(os.path.join(self.path("tables"), "sampled_figures.csv"), encoding="utf-8") as file:
            figures = {row["figure"]: row for row in csv.DictReader(file)}
        self.assertAlmostEqual(sum(float(row["cycles"]) for row in launches) / float(figures["cycles"]["value"]), 1, 6)

    def test_a_sweep_and_its_table_do_not_mix_sampled_and_whole_results(self):
        out = self.path("sweep")
        experiment = {"system": "sac-4chip", "set": {s.split("=")[0]: int(s.split("=")[1]) for s in SMALL},
                      "workloads": [{"name": "steps", "path": "steps.json"}], "sample": "error=5%",
                      "variants": [{"name": "memory", "set": {"llc.organisation": "memory_side"}},
                                   {"name": "sm", "set": {"llc.organisation": "sm_side"}}]}
        with open(self.path("e.json"), "w", encoding="utf-8") as file:
            json.dump(experiment, file)
        self.atoll("sweep", self.path("e.json"), "--out", out)
        table = self.atoll("table", out, "--metric", "speedup,cycles").stdout
        self.assertIn(f"all runs are sampled ({ASKED})", table)
        self.assertNotIn("have no result", table)
        shown = self.info(os.path.join(out, "steps__sm.h5"))["sampling"]["figures"]["cycles"]["value"]
        self.assertIn(f"{round(shown):,}", table)
        listed = self.atoll("sweep", self.path("e.json"), "--out", out, "--list", "--sample", "error=9%").stdout
        self.assertIn(f"it is sampled with {ASKED}, wanted sampled with {ASKED.replace('5', '9', 1)}", listed)
        self.run_into(os.path.join(out, "steps__sm.h5"), "--set", "llc.organisation=sm_side", "-q")
        self.assertIn("steps__sm (it is not sampled, wanted sampled with error=5%", self.atoll("table", out).stdout)

    def test_what_a_chip_serves_after_its_own_part_of_a_launch_is_the_launch_s_too(self):
        """No access hits an L1, so that each launch has as many look-ups in LLCs as it has accesses."""
        own, shared = ({"name": kind, "kind": kind, "size_kib": size, "pattern": "stream"}
                       for kind, size in (("private", 2048), ("true_shared", 512)))
        kernel = {"name": "same", "repeat": 40, "ctas": 128, "warps_per_cta": 4, "memory_instructions": 20,
                  "regions": [own | {"write_fraction": 0.3}, shared]}
        path, out = self.path("served.json"), self.path("served.h5")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"kernels": [kernel]}, file)
        self.atoll("run", "sac-4chip", "-w", path, *sets(*SMALL, "partition.placement=interleaved"), "-o", out,
                   "--sample", "error=3%,early=no")
        sampling = self.info(out)["sampling"]
        self.assertLess(sampling["simulated_launches"], 20)
        self.assertEqual(sampling["figures"]["llc.accesses"]["value"], 40 * 128 * 4 * 20)

    def test_what_chips_serve_late_is_counted_once_where_they_say_twice_that_a_kernel_has_ended(self):
        """Chips without CTAs say so at once, and again when SAC has changed roles."""
        private, shared = ({"name": kind, "kind": kind, "size_kib": size, "pattern": pattern}
                           for kind, size, pattern in (("private", 256, "stream"), ("true_shared", 64, "uniform")))
        short = {"name": "short", "ctas": 2, "warps_per_cta": 4, "memory_instructions": 64, "regions": [private]}
        long = {"name": "long", "ctas": 2, "warps_per_cta": 32, "memory_instructions": 300, "regions": [shared]}
        path, out = self.path("twice.json"), self.path("twice.h5")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"kernels": 40 * [short, long]}, file)
        keys = sets(*SMALL, "llc.organisation=sac", "partition.placement=interleaved", "l1.enabled=false",
                    "link.bandwidth_gbps=8", "sac.window_cycles=4000")  # so that SAC goes SM-side in the long ones
        self.atoll("run", "sac-4chip", "-w", path, *keys, "-o", out, "--sample", "error=3%,early=no")
        said = self.info(out)
        self.assertLess(said["sampling"]["simulated_launches"], 40)
        self.assertEqual({d["choice"] for d in said["decisions"]}, {"memory_side", "sm_side"})
        self.assertEqual(said["sampling"]["figures"]["llc.accesses"]["value"], 40 * 2 * (4 * 64 + 32 * 300))

    def test_energy_of_machines_with_base_dies_is_that_of_the_whole_run_where_all_launches_are_simulated(self):
        path, keys = self.path("three.json"), sets(*SMALL, "partition.compute_chips=2", "partition.memory_chips=2")
        with open(self.workload, encoding="utf-8") as file:
            kernel = json.load(file)["kernels"][0]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"kernels": [kernel | {"repeat": 3}]}, file)
        for organisation in ("memory_side", "sm_side"):
            joules = []
            for number, options in enumerate(((), ("--sample", "error=5%,early=no"))):
                out = self.path(f"dies{number}.h5")
                self.atoll("run", "sac-4chip", "-w", path, *keys, *sets(f"llc.organisation={organisation}"), "-o", out, "-f", *options)
                joules.append(self.info(out))
            self.assertEqual(joules[1]["sampling"]["simulated_launches"], 3)
            for name, value in joules[0]["energy_joules"].items():
                self.assertAlmostEqual(joules[1]["sampling"]["figures"][name]["value"], value, delta=1e-6 * value, msg=name)

    def test_signals_end_a_sampled_run_at_once_and_leave_nothing_under_the_output_s_name(self):
        kernel = {"ctas": 64, "memory_instructions": 20000, "regions": [{"name": "r", "size_kib": 4096}]}
        path, out = self.path("long.json"), self.path("ended.h5")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"kernels": [kernel]}, file)
        command = [ATOLL, "run", "sac-4chip", "-w", path, *sets(*SMALL), "-o", out, "--sample", "error=3%,early=no"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while not os.path.exists(out + ".lock"):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            time.sleep(0.2)  # until it simulates
            process.send_signal(number)
            said = process.communicate(timeout=30)
            self.assertEqual((process.returncode, *said), (-number, b"", b""))
            self.assertFalse(os.path.exists(out))
            os.remove(out + ".lock")

    def test_what_does_not_go_together_is_refused_by_name(self):
        for options, words in ((["--sample", "error=3"], "`error` is a percentage"),
                               (["--sample", "what=3%"], "knows no key `what`"),
                               (["--sample", "error=3%", "--max-cycles", "100"], "without --max-cycles"),
                               (["--sample", "error=3%", "--checkpoint-every", "1h"], "leaves no checkpoints"),
                               (["--sample", "error=3%", "--set", "observe.sharing=true"], "without observe.sharing")):
            self.assertIn(words, self.run_into(self.path("no.h5"), *options, code=2).stderr)
            self.assertFalse(os.path.exists(self.path("no.h5")))


if __name__ == "__main__":
    unittest.main()
