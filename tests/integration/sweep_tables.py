"""What `atoll table` says of the results of a sweep: which are in it, ratios, means, distances to a paper."""

import csv
import io
import json
import math
import os
import shutil
import time
import unittest

import program
from program import ATOLL, SMALL
from result_seal import seal
from sweep_test import SweepTest


class Tables(SweepTest):
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
        said = program.run(["table", self.path("out")])
        self.assertEqual((said.out.count("no result"), said.err), (0, ""))
        self.write("p.py", policy % "sm_side")
        self.assertEqual(self.succeeds(["table", self.path("out")]).err,
                         f"atoll: warning: {path} has changed since these runs; `atoll sweep --force` runs them again\n")
        time.sleep(1)  # results say in which second they began: the newest has the version that counts
        self.sweep("--only", "b__mine", "--force", experiment=experiment)
        said = program.run(["table", self.path("out")])
        self.assertIn(f"a__mine (of another version of the policy {path} than b__mine)", said.out + said.err)
        self.assertNotIn("has changed", said.err)
        os.remove(path)
        self.assertNotIn("has changed", self.succeeds(["table", self.path("out")]).err)

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
        note = "the runs have different core clocks (1000, 2000 MHz): figures in cycles are of each one's own"
        self.assertIn(note, program.run(["table", self.path("out"), "--metric", "cycles", "--relative"]).out)
        self.assertNotIn("core clocks", program.run(["table", self.path("out")]).out)

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
        shows("ALL arithmetic mean", "sm", (ratio["a"] + ratio["b"]) / 2)
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
        self.assertTrue(self.succeeds(["table", out, "--by", "link.bandwidth_gbps"]).out.startswith(
            "Speed-up (ratio of times) over memory_side in the same column; columns: link.bandwidth_gbps\n"))
        self.assertIn("\ncolumns refer to different baselines: sm_bandwidth_gbps-4 to mem_bandwidth_gbps-4; "
                      "sm_bandwidth_gbps-64 to mem_bandwidth_gbps-64\n", self.succeeds(["table", out]).out)
        rows = [row[0] for row in self.csv_of(out, "--by", "link.bandwidth_gbps", "--metric", "cycles") if row]
        self.assertEqual(rows, ["cycles", "a memory_side", "a sm_side"])
        self.refused(["table", out, "--by", "link.bandwidth_gbp"], 2, "did you mean `link.bandwidth_gbps`", layouts=(None,))
        self.refused(["table", out, "--by", "x"], 2, "they set link.bandwidth_gbps, llc.organisation", layouts=(None,))

    def test_variants_that_give_two_keys_one_value_have_rows_of_their_own(self):
        settings: list[dict] = [{}, {"l1.mshrs": 8}, {"llc.mshrs": 8}]
        variants = [{"name": f"{organisation}{n}", "set": {"llc.organisation": organisation + "_side", **setting}}
                    for n, setting in enumerate(settings) for organisation in ("memory", "sm")]
        self.sweep(experiment=self.experiment(variants=variants))
        plain, _ = self.table("-m", "cycles")
        table, _ = self.table("--by", "llc.organisation", "-m", "cycles")
        for row, n in (("a", 0), ("a l1.mshrs=8", 1), ("a llc.mshrs=8", 2)):
            self.assertEqual(list(table[row].values()), [plain["a"][f"memory{n}"], plain["a"][f"sm{n}"]], row)
        self.assertEqual(len({tuple(table[row].values()) for row in table if row.startswith("a")}), 3)

    def test_words_of_rows_have_their_keys_where_they_alone_tell_none_apart(self):
        ways = {"key": "llc.ways", "values": [8, 16]}
        variants = [{"name": "none"}, {"name": "network", "set": {"llc.network": "shared"}},
                    {"name": "replication", "set": {"llc.replication": "shared"}}]
        for chosen, rows in ((variants, ["a", "a llc.network=shared", "a llc.replication=shared"]), (variants[:2], ["a", "a shared"])):
            file = self.experiment(variants=chosen, sweeps=[ways], workloads=[{"name": "a", "path": "w/a.json"}])
            self.sweep("--only", "a__none*", "--force", experiment=file)
            table, _ = self.table("--by", "llc.ways", "-m", "cycles")
            self.assertEqual(list(table), rows)

    def test_a_cell_that_two_variants_share_is_refused_with_both_names(self):
        sm = {"llc.organisation": "sm_side"}
        self.sweep("--only", "a__mem", experiment=self.experiment(variants=[
            {"name": "mem", "set": {"llc.organisation": "memory_side"}}, {"name": "sm", "set": sm}, {"name": "again", "set": sm}]))
        self.refused(["table", self.path("out"), "--by", "llc.organisation"], 2, "`sm` and `again`", layouts=(None,))

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
                        shown = float(table[f"{w} llc.ways={ways}"][f"link.bandwidth_gbps={b}"])
                        self.assertAlmostEqual(shown, ratio if "speedup" in relative else 1 / ratio, places=6)
        self.assertNotEqual(cycles["a", 8, 8], cycles["a", 64, 8])
        text = self.succeeds(["table", out, "--by", "link.bandwidth_gbps", "-m", "speedup,cycles", "--relative"]).out
        self.assertIn("Speed-up (ratio of times) over link.bandwidth_gbps = 8; columns: link.bandwidth_gbps\n", text)
        self.assertIn("; over that at link.bandwidth_gbps = 8; columns", text)
        said = "every variant is its own baseline; to compare along a key: --by link.bandwidth_gbps or --by llc.ways\n"
        self.assertIn(said, self.succeeds(["table", out]).out)
        self.assertTrue(self.table()[1].startswith(said))
        self.assertNotIn("baseline", self.table("-m", "cycles")[1])

    def test_runs_of_other_scales_have_no_ratio(self):
        self.sweep(experiment=self.experiment(variants=[{"name": "v"}], sweeps=[{"key": "scale", "values": [1, 2]}]))
        for metric in (["-m", "speedup"], ["-m", "cycles", "--relative"]):
            table, said = self.table("--by", "scale", *metric)
            self.assertEqual(table["a"], {"scale=1": "1", "scale=2": "-"}, metric)
            self.assertIn("no ratios of unlike work (scale)", said)
        self.assertEqual(self.table()[1], "")
        shown = self.succeeds(["table", self.path("out")]).out
        self.assertIn("; LLC and footprints divided by 1 or 2\n", shown)

    def test_a_profile_that_is_laid_out_for_other_chips_has_no_ratio_and_a_program_has_one(self):
        # As many sectors of loads and stores with either, but other stores.
        profile = {"chips": 0, "kernels": [{"ctas": 8, "memory_instructions": 30, "regions": [
            {"name": "r", "kind": "page_interleaved", "size_kib": 256, "pattern": "strided", "stride_bytes": 4096,
             "write_fraction": 0.3}, {"name": "s", "size_kib": 64, "kind": "private"}]}]}
        trace = os.path.join(program.SOURCE, "inputs", "workloads", "traces", "histogram.h5")
        self.sweep(experiment=self.experiment(
            workloads=[{"name": "a", "path": self.write("w/laid.json", json.dumps(profile))}, {"name": "b", "path": trace}],
            variants=[{"name": "four"}, {"name": "two", "set": {"chips": 2}}], baseline="four"))
        table, said = self.table()
        self.assertEqual(table["a"]["two"], "-")
        self.assertNotEqual(table["b"]["two"], "-")
        self.assertIn("no ratios of unlike work (chips)", said)

    def test_the_heading_names_the_baseline_and_a_note_those_of_columns_that_have_others(self):
        sm = {"llc.organisation": "sm_side"}
        self.sweep(experiment=self.experiment(baseline="mem"))
        plain: list[str] = []
        for more, blank in ((plain, ""), (["--markdown"], "\n")):
            text = self.succeeds(["table", self.path("out"), "-m", "speedup,cycles", "--relative", *more]).out
            self.assertTrue(text.startswith("Speed-up (ratio of times) over mem\n" + blank), text)
            self.assertRegex(text, r"\ncycles: .*; over that of mem\n")
            self.assertNotIn("baselines", text)
        self.sweep("--only", "*__m*", experiment=self.experiment(baseline="mem", variants=[
            {"name": "mem"}, {"name": "more"}, {"name": "much"}, {"name": "own", "baseline": "more", "set": sm}]))
        note = "columns refer to different baselines: own to more; others to mem\n"
        shown = self.succeeds(["table", self.path("out")]).out
        self.assertTrue(shown.startswith("Speed-up (ratio of times)\n"), shown)
        self.assertIn("\n" + note, shown)
        self.assertIn("\n\n- " + note, self.succeeds(["table", self.path("out"), "--markdown"]).out)
        self.assertNotIn("baselines", self.succeeds(["table", self.path("out"), "-m", "cycles"]).out)
        table, said = self.table()
        self.assertEqual(list(table["a"]), ["mem", "more", "much", "own"])
        self.assertIn(note, said)

    def test_points_whose_baseline_has_no_result_are_named(self):
        variants = [{"name": "mem"}, {"name": "sm", "set": {"llc.organisation": "sm_side"}}]
        file = self.experiment(variants=variants, baseline="mem")
        self.sweep("--only", "a__sm", experiment=file)
        said = "1 point has a result, but not its baseline: a__sm (over mem)\n"
        self.assertIn(said, self.succeeds(["table", self.path("out")]).out)
        self.assertIn(said, self.table("-m", "cycles", "--relative")[1])
        self.assertNotIn(said, self.table("-m", "cycles")[1])
        self.sweep("--only", "*__sm", experiment=file)
        self.assertIn("2 points have a result, but not their baseline: a__sm (over mem), b__sm (over mem)\n", self.table()[1])
        self.sweep(experiment=file)
        self.assertNotIn("baseline", self.table()[1])

    def test_a_result_of_another_workload_is_in_no_row(self):
        self.sweep(experiment=self.experiment())
        for variant in ("mem", "sm"):
            shutil.copy(self.path("out", f"b__{variant}.h5"), self.path("out", f"a__{variant}.h5"))
        said = program.run(["table", self.path("out")])
        self.assertIn("a__mem (it is of the workload b.json, wanted a.json)", said.out + said.err)

    def test_a_result_of_a_part_of_the_workload_is_in_no_row_and_list_and_table_say_it_in_the_same_words(self):
        trace = os.path.join(program.SOURCE, "inputs", "workloads", "traces", "histogram.h5")
        experiment = self.experiment(workloads=[{"name": "a", "path": trace}])
        self.sweep(experiment=experiment)
        run = ["run", "sac-4chip", "-w", trace, "--kernels", "0", "--force", "-o", self.path("out", "a__mem.h5")]
        self.succeeds(run + [word for setting in SMALL for word in ("--set", setting)])
        why = "it is of a part of the workload histogram.h5 (kernels 0: 1 of 2)"
        self.assertEqual(self.states(experiment=experiment)["a__mem"], ("differs", f"({why})"))
        self.assertIn(f"  a__mem ({why})\n", self.succeeds(["table", self.path("out")]).out)

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
        self.assertNotIn("fewer workloads", said)  # sm has no mean
        self.assertRegex(said, r"(?m)^  a__sm$")
        self.assertRegex(said, r"(?m)^  b__mem \(.*not an HDF5 file")

    def test_a_workload_that_was_changed_behind_its_runs_is_told_of(self):
        self.sweep(experiment=self.experiment())
        self.assertEqual(self.succeeds(["table", self.path("out")]).err, "")
        os.utime(self.path("w/a.json"), (2e9, 2e9))  # newer, and the same
        self.assertEqual(self.succeeds(["table", self.path("out")]).err, "")
        self.write("w/b.json", self.read("w/b.json").replace("256", "512"))
        os.utime(self.path("w/b.json"), (2e9, 2e9))
        self.assertRegex(self.succeeds(["table", self.path("out")]).err,
                         r"^atoll: warning: .*w/b.json has changed since these runs; `atoll sweep --force` runs them again\n$")

    def test_a_changed_workload_is_told_of_whose_file_has_an_old_time(self):
        self.sweep(experiment=self.experiment())
        new = self.write("new.json", self.read("w/b.json").replace("256", "512"))
        os.utime(new, (1e9, 1e9))
        os.rename(new, self.path("w/b.json"))
        self.assertRegex(self.succeeds(["table", self.path("out")]).err, r"^atoll: warning: .*w/b.json has changed since these runs")

    def test_results_of_two_versions_are_told_of_by_table_and_sweep(self):
        experiment = self.experiment()
        self.sweep(experiment=experiment)
        said = self.succeeds(["table", self.path("out")])
        self.assertNotIn("versions", said.out + self.sweep("--list", experiment=experiment).err)
        result = self.path("out", "a__sm.h5")
        provenance = json.loads(self.succeeds(["info", "--json", result]).out)["provenance"]
        commit, other = provenance["git_commit"], "0" * len(provenance["git_commit"])
        with open(result, "rb") as file:
            image = file.read()[:-16].replace(commit.encode(), other.encode())
        with open(result, "wb") as file:
            file.write(seal(image))
        note = (f"results are of 2 versions of Atoll, which alone can make them differ: "
                f"1 of {provenance['version']} ({other}), 3 of {provenance['version']} ({commit})\n")
        self.assertIn(f"\n{note}", self.succeeds(["table", self.path("out")]).out)
        self.assertEqual(self.sweep("--list", experiment=experiment).err, f"note: {note}")
        self.assertEqual(self.sweep("--list", "--missing", experiment=experiment).err, "")
        for point in ("a__mem", "b__mem", "b__sm"):
            os.remove(self.path("out", point + ".h5"))
        self.assertIn(f"note: when this sweep has ended, {note}", self.sweep(experiment=experiment).err)

    def test_headings_have_the_unit_and_say_what_is_summed(self):
        self.sweep(experiment=self.experiment())
        text = self.succeeds(["table", self.path("out"), "-m", "energy.link,link.bytes,cycles,llc.hit_rate"]).out
        for heading in ("energy.link (J, all chips): for bytes sent over", "link.bytes (bytes, all chips): bytes sent",
                        "cycles (cycles): end of the last kernel\n", "llc.hit_rate: requests that hit"):
            self.assertIn(heading, text)
        self.assertIn("energy.link: for bytes", self.succeeds(["table", self.path("out"), "-m", "energy.link", "--relative"]).out)

    def test_variants_are_named_whose_means_lack_workloads_that_others_have(self):
        self.sweep(experiment=self.experiment())
        self.assertNotIn("fewer", self.succeeds(["table", self.path("out"), "-m", "speedup,llc.hit_rate"]).out)
        os.remove(self.path("out/a__sm.h5"))
        for metric, mean in (("speedup", "ALL harmonic mean"), ("llc.hit_rate", "ALL arithmetic mean")):
            table, said = self.table("-m", metric)
            self.assertIn("as they are of fewer workloads, and are left out: sm\n", said, metric)
            self.assertEqual((table[mean]["mem"] == "-", table[mean]["sm"], table["b"]["sm"] == "-"), (False, "-", False), metric)
            text = self.succeeds(["table", self.path("out"), "-m", metric]).out
            self.assertIn("as they are of fewer workloads: sm\n", text)
            self.assertRegex(text, rf"{mean} +[0-9.]+ +[0-9.]+\n")

    def test_markdown_has_the_heading_above_and_what_is_to_be_known_below(self):
        self.sweep(experiment=self.experiment(scale=2))
        os.remove(self.path("out/a__sm.h5"))
        outcome = self.succeeds(["table", self.path("out"), "--markdown", "-m", "cycles", "--relative"])
        lines = outcome.out.splitlines()
        self.assertEqual(lines[:3], ["cycles: end of the last kernel; over that of mem; LLC and footprints divided by 2", "",
                                     "| cycles | mem | sm |"])
        at = next(n for n, line in enumerate(lines[2:], 2) if not line)
        self.assertTrue(all(line.startswith("|") for line in lines[2:at]))
        self.assertEqual(lines[at + 1:], ["- means that do not compare with the others, as they are of fewer workloads: sm",
                                          "- 1 of 4 points have no result; the means leave them out:", "  - a__sm"])
        self.assertEqual(outcome.err, "")

    def test_a_table_of_something_else_is_refused(self):
        self.refused(["table", self.folder], 2, "is not the folder of a sweep", layouts=[None])
        file = self.experiment()
        self.sweep("--only", "a__mem", experiment=file)
        self.refused(["table", self.path("out"), "-m", "llc.mises"], 2, "there is no `llc.mises`, did you mean `llc.misses`?",
                     layouts=[None])


if __name__ == "__main__":
    program.main()
