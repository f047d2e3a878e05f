"""What a user sees of the commands: run, info, config, list."""

import json
import os
import re

import program
from program import SMALL, sets, workload


class Commands(program.ProgramTest):
    def arguments(self, *more):
        return ["run", "sac-4chip", "-w", workload("stores"), *sets(*SMALL), *more]

    def info(self, path):
        return json.loads(self.succeeds(["info", "--json", path]).out)

    def test_info_json_repeats_the_printed_digest_kernels_and_totals(self):
        output = self.path("out.h5")
        printed = self.succeeds(self.arguments("-o", output))
        info = self.info(output)
        self.assertEqual(info["digest"], printed.digest())
        self.assertTrue(info["complete"])
        self.assertEqual(info["chips"], 4)
        self.assertEqual([k["name"] for k in info["kernels"]], ["produce", "produce", "consume"])
        self.assertEqual([k["ctas"] for k in info["kernels"]], [48, 48, 37])
        for kernel in info["kernels"]:
            self.assertGreater(kernel["cycles"], 0)
        self.assertLessEqual(sum(k["cycles"] for k in info["kernels"]), info["cycles"])
        cycles = re.search(r"^ +cycles +([\d,']+)", printed.out, re.M).group(1)
        self.assertEqual(info["cycles"], int(re.sub(r"\D", "", cycles)))
        totals = info["totals"]
        for name in ("warp.instructions", "l1.misses", "llc.accesses", "llc.hits", "dram.reads", "link.bytes"):
            self.assertGreater(totals[name], 0, name)
        self.assertLessEqual(totals["llc.hits"], totals["llc.accesses"])
        self.assertEqual(totals["sm.ctas"], 48 + 48 + 37)
        self.assertEqual(program.files_below(self.folder), [output])

    def test_info_of_a_workload_lists_its_kernels_and_counts_what_they_do(self):
        info = json.loads(self.succeeds(["info", "--json", "--count", workload("stores")]).out)
        self.assertEqual([k["ctas"] for k in info["kernels"]], [48, 48, 37])
        totals = json.loads(self.succeeds(["info", "--json", self.ran()]).out)["totals"]
        self.assertEqual(sum(k["instructions"] for k in info["kernels"]), totals["warp.instructions"])
        for kernel in info["kernels"]:
            self.assertGreater(kernel["touched_bytes"], 0)
            self.assertGreaterEqual(kernel["touched_bytes"], kernel["written_bytes"])
        trace = os.path.join(program.SOURCE, "inputs/workloads/traces/squeezenet.h5")
        info = json.loads(self.succeeds(["info", "--json", trace]).out)
        self.assertEqual((info["format"], len(info["kernels"])), ("Atoll trace", 30))
        self.assertEqual((info["kernels"][0]["function"], info["kernels"][0]["grid"]), ("convolution", [4, 24, 1]))
        self.assertGreater(info["kernels"][0]["instructions"], 0)  # a small trace is counted unasked
        text = self.succeeds(["info", trace]).out
        self.assertRegex(text, r"\n +1  max_pool +grid 1 x 24 +block 256; ")
        self.assertRegex(text, r"\n  instructions [0-9,]+ of warps\n  footprint ")
        self.assertIn("--count", self.succeeds(["info", workload("stores")]).out)
        self.refused(["info", self.path("none.json")], 2, "none.json", layouts=(None,))

    def ran(self):
        output = self.path("ran.h5")
        self.succeeds(self.arguments("-q", "-o", output))
        return output

    def test_help_is_a_command_and_a_mistyped_one_gets_a_suggestion(self):
        self.assertEqual(self.succeeds(["help"]).out, self.succeeds(["--help"]).out)
        self.assertEqual(self.succeeds(["help", "sweep"]).out, self.succeeds(["sweep", "--help"]).out)
        self.refused(["runn", "sac-4chip"], 2, "no command `runn`", "did you mean `run`")
        self.refused(["help", "tabl"], 2, "no command `tabl`", "did you mean `table`", layouts=(None,))
        self.refused(["xyzzy"], 2, "no command `xyzzy`", "atoll --help", layouts=(None,))

    def test_an_option_before_any_command_is_named(self):
        self.refused(["--foo"], 2, "`--foo` is not for the program itself: a command comes first", layouts=[None, 2])
        self.refused([], 2, "A subcommand is required", layouts=[None])

    def test_without_output_only_the_summary_is_printed(self):
        self.assertIn("LLC", self.succeeds(self.arguments(), cwd=self.folder).out)
        self.assertEqual(program.files_below(self.folder), [])

    def test_quiet_prints_nothing(self):
        outcome = self.succeeds(self.arguments("-q", "-o", self.path("out.h5")))
        self.assertEqual(outcome.out + outcome.err, "")

    def test_check_compares_what_is_read_and_changes_nothing(self):
        for protocol in ("software", "full_map", "rec"):
            more = ["--set", "llc.organisation=sm_side", "--set", f"coherence.protocol={protocol}"]
            plain = self.succeeds(self.arguments(*more))
            checked = self.succeeds(self.arguments("--check", *more))
            self.assertEqual(plain.digest(), checked.digest())
            line = re.search(r"^check +(\d+) sectors read by SMs and (\d+) in slices.*: no violation", checked.out, re.M)
            self.assertGreater(int(line.group(1)), 1000)
            self.assertGreater(int(line.group(2)), 1000)
            self.assertNotIn("violation", plain.out)

    def test_commands_that_are_not_parallel_work_once_under_mpirun_and_say_so(self):
        output = self.path("out.h5")
        self.succeeds(self.arguments("-o", output, "-q"))
        for command in (["list"], ["info", output], ["config", "sac-4chip"], ["--version"]):
            alone, many = self.succeeds(command), self.succeeds(command, ranks=3)
            self.assertEqual(many.out, alone.out)
            self.assertEqual(many.err.count("note: only `run` and `resume` are parallel"), 1, many)
        self.refused(["info", self.path("none.h5")], 2, "none.h5: cannot be opened", layouts=(3,))

    def test_however_many_samples_are_kept_digest_and_totals_are_the_same(self):
        whole, few = self.path("whole.h5"), self.path("few.h5")
        digest = self.succeeds(self.arguments("-o", whole, *sets("control.sample_cycles=200"))).digest()
        want = self.info(whole)
        for most in (2, 3, 5, 16, 1000):
            bounded = self.arguments("-o", few, "-f", *sets("control.sample_cycles=200", f"control.max_samples={most}"))
            self.assertEqual(self.succeeds(bounded).digest(), digest)
            got = self.info(few)
            self.assertLessEqual(got["samples"], most)
            self.assertEqual(got["totals"], want["totals"])
        self.assertEqual(got["samples"], want["samples"])

    def test_check_is_for_one_process(self):
        self.refused(self.arguments("--check", "--threads", "2"), 2, "--check", "one process", layouts=(None,))
        self.refused(self.arguments("--check"), 2, "--check", "one process", layouts=(2,))
        for key in ("observe.sharing", "observe.sm_sharing"):
            self.refused(self.arguments("--check", "--set", f"{key}=true"), 2, "--check", key, layouts=(None,))

    def test_two_threads_give_the_digest_and_totals_of_one(self):
        self.succeeds(self.arguments("-o", self.path("one.h5")))
        self.succeeds(self.arguments("-o", self.path("two.h5"), "--threads", "2"))
        one, two = self.info(self.path("one.h5")), self.info(self.path("two.h5"))
        self.assertGreater(one["energy_joules"]["energy.core"], 0)
        for key in ("digest", "cycles", "kernels", "totals", "samples", "energy_joules"):
            self.assertEqual(one[key], two[key])
        self.assertEqual(len(two["provenance"]["hosts"]), 2)

    def test_max_cycles_ends_the_run_with_a_result_that_says_so(self):
        whole = self.succeeds(self.arguments("-o", self.path("whole.h5")))
        digests = set()
        for ranks in (None, 2, 5):
            output = self.path(f"part{ranks}.h5")
            part = self.succeeds(self.arguments("-o", output, "--max-cycles", "2500"), ranks=ranks)
            self.assertIn("stopped early", part.out)
            info = self.info(output)
            self.assertFalse(info["complete"])
            self.assertEqual(info["cycles"], 2700, "word takes control.latency_cycles to come to the chips")
            self.assertIsNone(info["kernels"][-1]["cycles"])
            digests.add(info["digest"])
        self.assertEqual(len(digests), 1)
        self.assertNotIn(whole.digest(), digests)

    def test_max_cycles_may_name_any_cycle_that_a_run_can_come_to_and_none_behind(self):
        for command, said in ((self.arguments(), "'549755813888' is no whole number from 1 to 549755813887"),
                              (["resume", "none.ckpt"], "'549755813888' is neither `none` nor a number of cycles from 1 to ")):
            self.refused([*command, "--max-cycles", str(2**39)], 2, "--max-cycles: ", said, "549755813887")
        self.succeeds(self.arguments("--max-cycles", str(2**39 - 1)))

    def test_numbers_of_options_are_decimal(self):
        for number in ("010", "0x10", "1e5", "+4", "4.0", "-1", "9" * 30):
            for command in (self.arguments(f"--scale={number}"), ["sweep", "quick", f"--jobs={number}"],
                            ["record", f"--max-ctas={number}", "--", "true"], ["resume", "none.ckpt", f"--threads={number}"]):
                self.refused(command, 2, f"'{number}' is no whole number from 1 to ", layouts=(None,))

    def test_max_cycles_beyond_the_end_changes_nothing_that_is_reported(self):
        self.succeeds(self.arguments("-o", self.path("a.h5")))
        self.succeeds(self.arguments("-o", self.path("b.h5"), "--max-cycles", "100000000"))
        a, b = self.info(self.path("a.h5")), self.info(self.path("b.h5"))
        for key in ("cycles", "complete", "kernels", "totals"):
            self.assertEqual(a[key], b[key])

    def test_watching_the_sharing_adds_the_same_statistics_on_any_number_of_ranks_and_keeps_the_digest(self):
        plain = self.succeeds(self.arguments())
        self.assertNotIn("true shared", plain.out)
        seen = []
        for ranks in (None, 1, 2, 5):
            output = self.path(f"ranks{ranks}.h5")
            watch = sets("observe.sharing=true", "observe.sharing_window_cycles=1000")
            watched = self.succeeds(self.arguments("-o", output, *watch), ranks=ranks)
            self.assertIn("true shared", watched.out)
            self.assertEqual(watched.digest(), plain.digest())
            seen.append(self.info(output)["sharing"])
        # The sizes in workloads/stores.json: an upper bound where accesses are drawn at random.
        self.assertLessEqual(seen[0]["footprint"]["not_shared"], 1024 * 1024)
        for kind in ("true_shared", "false_shared", "not_shared"):
            self.assertGreater(seen[0]["footprint"][kind], 0)
        self.assertEqual(seen[1:], seen[:1] * 3)

    def test_a_result_names_its_system_workload_and_command(self):
        output = self.path("out.h5")
        self.succeeds(self.arguments("-o", output))
        provenance = self.info(output)["provenance"]
        self.assertEqual(provenance["system"], "sac-4chip")
        self.assertEqual(provenance["workload"], workload("stores"))
        self.assertIn("--set llc.slices=4", provenance["command"])
        self.assertIn("sac-4chip", self.succeeds(["info", output]).out)

    def test_config_prints_a_system_that_reads_back_to_the_same(self):
        printed = self.succeeds(["config", "sac-4chip", *sets("llc.ways=8")]).out
        self.assertEqual(json.loads(printed)["llc"]["ways"], 8)
        self.assertEqual(self.succeeds(["config", self.write("sac-4chip.json", printed)]).out, printed)

    def test_config_storage_has_the_sizes_that_papers_print(self):
        def storage(system, *settings):
            return self.succeeds(["config", system, "--storage", *sets(*settings)]).out

        self.assertRegex(storage("sac-4chip", "llc.organisation=sac"), r"\nall +620 ")
        self.assertRegex(storage("selrep-gpu", "llc.replication=selrep"), r"directory +520 .*\n.*counters +172 ")
        self.assertIn("SelRep's own settings only", storage("selrep-gpu", "llc.replication=selrep", "selrep.directory_sets=64"))
        for degree, bits in (("degree_2", 1), ("degree_8", 3), ("private", 4)):
            self.assertRegex(storage("selrep-gpu", f"llc.replication={degree}"), rf"\nall +{bits * 32768 // 8} ")
        self.assertRegex(storage("rec-4gpu", "coherence.protocol=rec"), rf"\nall +{103 * 1024} +5\.029 %\n")
        # A cluster's table is 11.625 KB and its queues 0.75 KB.
        self.assertRegex(storage("colab-gpu", "cluster.sharing=colab"), rf"\nall +{10 * (11904 + 768)} ")
        self.assertEqual(storage("rtx3070"), "nothing besides caches and queues\n")
        self.assertIn("`coherence.protocol` = ideal has room for all lines", storage("rec-4gpu", "coherence.protocol=ideal"))

    def test_config_explain_gives_value_range_and_meaning_of_every_key(self):
        explained = self.succeeds(["config", "sac-4chip", "--explain"]).out
        for words in ("llc.ways", "link.latency_cycles", "one hop; also the lookahead of the parallel simulation", "GB/s"):
            self.assertIn(words, explained)

    def test_list_names_every_preset(self):
        listed = self.succeeds(["list"]).out
        for name in ("sac-4chip", "selrep-gpu", "rec-4gpu", "colab-gpu", "rtx3070", "a100", "h100-sxm", "h200", "b200", "mi250x",
                     "mi300x", "qv100", "rtx2060", "titanx"):
            self.assertIn(name, listed)
            json.loads(self.succeeds(["config", name]).out)

    def test_list_counters_has_a_line_each_and_list_says_so(self):
        self.assertIn("atoll list counters", self.succeeds(["list"]).out)
        listed = self.succeeds(["list", "counters"])
        self.assertRegex(listed.out, r"(?m)^dram\.reads +requests +reads served by the chip's memory$")
        self.assertNotIn("Systems (", listed.out)
        self.assertIn("| `dram.reads` | requests | reads served by", self.succeeds(["list", "counters", "--markdown"]).out)

    def test_help_and_version_end_well(self):
        self.assertIn("mpirun", self.succeeds(["run", "--help"]).out)
        self.assertRegex(self.succeeds(["--version"]).out, r"^\d+\.\d+\.\d+")

    def test_commands_that_simulate_nothing_print_once_under_mpirun(self):
        self.assertEqual(self.succeeds(["list"], ranks=5).out.count("Systems ("), 1)


if __name__ == "__main__":
    program.main()
