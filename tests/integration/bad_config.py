"""Every fault in the configuration or the command line ends the whole job with one message that names it."""

import program
from program import SMALL, sets, workload


class BadConfiguration(program.ProgramTest):
    def refused_set(self, override, *fragments):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "-o", self.path("out.h5"), *sets(override)], 2, "--set",
                     *fragments)

    def refused_sets(self, overrides, *fragments):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "-o", self.path("out.h5"), *sets(*overrides)], 2,
                     *fragments)

    def test_an_unknown_key_is_refused_with_the_key_that_was_probably_meant(self):
        self.refused_set("llc.wayz=8", "unknown key `llc.wayz`, did you mean `llc.ways`?")

    def test_an_unknown_key_in_a_file_is_refused_with_file_and_suggestion(self):
        system = self.write("mine.json", '{"base": "sac-4chip", "link": {"latency": 3}}')
        self.refused(["run", system, "-w", workload("hot"), "-o", self.path("out.h5")], 2, "mine.json: ",
                     "unknown key `link.latency`, did you mean `link.latency_cycles`?")

    def test_a_system_that_does_not_fit_into_memory_is_refused_before_it_is_built(self):
        huge = ["chips=64", "llc.size_kib=1048576", "sm.count=1024", "l1.size_kib=4096"]  # 63 GiB of tags
        with open("/proc/meminfo", encoding="ascii") as file:
            if int(file.readline().split()[1]) >= 60 << 20:
                self.skipTest("this machine has memory for the largest system")
        self.refused_sets(huge, "llc.size_kib: tags and directories of the chips on ", "GiB of memory")

    def test_a_text_in_place_of_a_number_is_refused(self):
        self.refused_set("llc.ways=many", "`llc.ways`", "many")

    def test_a_number_in_place_of_a_word_is_refused(self):
        self.refused_set("link.topology=4", "`link.topology`", "4")

    def test_an_unknown_word_is_refused_with_the_legal_ones(self):
        self.refused_set("llc.organisation=both", "`llc.organisation`", "memory_side", "sm_side")

    def test_a_value_out_of_range_is_refused_with_the_range(self):
        self.refused_set("sm.warps=65", "`sm.warps` = 65", "1 to 64")

    def test_a_link_without_latency_is_refused(self):
        self.refused_set("link.latency_cycles=0", "`link.latency_cycles` = 0")

    def test_a_cache_that_has_no_whole_sets_is_refused(self):
        self.refused_sets(["llc.size_kib=4097"], "system sac-4chip: `llc.size_kib` = 4097 cannot be divided into sets")

    def test_clusters_that_are_not_full_are_refused(self):
        self.refused_sets(["sm.count=5"], "`sm.count` = 5 is not a multiple of `noc.sms_per_cluster` = 2")

    def test_an_override_without_a_value_is_refused(self):
        self.refused_set("llc.ways", "`llc.ways` is not of the form key.path=value")

    def test_a_system_that_does_not_exist_is_refused_with_the_preset_that_was_probably_meant(self):
        self.refused(["run", "x" * 300, "-w", workload("hot")], 2, "neither a preset nor a file")
        self.refused(["run", "sac-4chips", "-w", workload("hot")], 2, "sac-4chips: neither a preset nor a file", "sac-4chip")

    def test_a_file_that_is_no_json_is_refused_with_its_line(self):
        system = self.write("broken.json", '{\n"chips": 4,\n"llc": {"ways" 8}\n}\n')
        self.refused(["run", system, "-w", workload("hot")], 2, "broken.json", "line 3")


class BadLayout(program.ProgramTest):
    def test_more_ranks_than_chips_and_controller_are_refused(self):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "-o", self.path("out.h5"), *sets(*SMALL)], 2, "6 ranks",
                     "4 chips", "1 to 5 ranks", layouts=[6])

    def test_more_threads_than_chips_and_controller_are_refused(self):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "--threads", "6"], 2, "1 to 5 ranks", layouts=[None])

    def test_threads_of_all_ranks_that_are_more_than_chips_and_controller_are_refused_once(self):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "--threads", "2"], 2, "--threads 2", "10 in all", "5 at most", layouts=[5])

    def test_a_map_to_ranks_that_do_not_exist_is_refused(self):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "--map", "0,1,2,3,7"], 2, "--map 0,1,2,3,7",
                     "does not exist")

    def test_an_error_with_threads_is_said_once_and_never_lost(self):
        for _ in range(10):
            self.refused(["run", "sac-4chip", "-w", workload("hot"), "--threads", "5", *sets("llc.wayz=8")], 2, "`llc.wayz`",
                         layouts=[None])

    def test_an_unknown_option_is_refused(self):
        self.refused(["run", "sac-4chip", "-w", workload("hot"), "--fast"], 2, "--fast")

    def test_a_run_without_a_workload_is_refused(self):
        self.refused(["run", "sac-4chip"], 2, "--workload", "required")

    def test_a_bad_key_in_config_is_said_once(self):
        self.refused(["config", "sac-4chip", *sets("llc.wayz=8")], 2, "did you mean `llc.ways`?")


if __name__ == "__main__":
    program.main()
