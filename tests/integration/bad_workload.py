"""Every fault in a workload ends the whole job with one message that names the file and the place, also when it shows up
only in the middle of a run and in some of the ranks."""

import os
import shutil
import subprocess

import program
from program import ATOLL, MPIRUN, SMALL, sets, workload
from sass_trace import kernel, replace_line


class BadWorkload(program.ProgramTest):
    def refused_workload(self, path, *fragments, overrides=(), **options):
        self.refused(["run", "sac-4chip", "-w", path, "-o", self.path("out.h5"), *sets(*SMALL, *overrides)], 2, *fragments,
                     **options)

    def trace(self, *kernels):
        names = [f"kernel-{i + 1}.traceg" for i in range(len(kernels))]
        for name, text in zip(names, kernels):
            self.write(name, text)
        return self.write("kernelslist.g", "".join(name + "\n" for name in names))

    def test_the_whole_traces_that_these_tests_damage_run_well(self):
        out = self.succeeds(["run", "sac-4chip", "-w", self.trace(kernel(), kernel("k2", 12)), *sets(*SMALL)], ranks=5)
        self.assertIn("12 CTAs", out.out)

    def test_a_file_whose_name_a_workload_of_the_library_has_is_taken_and_told_of(self):
        shutil.copy(workload("hot"), self.path("stencil2d"))
        words = ["run", "sac-4chip", "-w", "stencil2d", *sets(*SMALL)]
        known = "inputs/workloads/traces/stencil2d.h5"
        self.assertTrue(os.path.exists(os.path.join(program.SOURCE, known)))
        for ranks in (None, 2):
            outcome = self.succeeds(words, ranks=ranks, cwd=self.folder)
            self.assertEqual(outcome.err.count("note: `stencil2d` is the file in this folder; the workload of this name"), 1)
            self.assertIn(known, outcome.err)
        self.assertEqual(self.succeeds([*words, "-q"], cwd=self.folder).err, "")
        self.assertIn("is the file in this folder", self.succeeds(["info", "stencil2d"], cwd=self.folder).err)
        self.assertNotIn("in this folder", self.succeeds(["info", "./stencil2d"], cwd=self.folder).err)
        os.remove(self.path("stencil2d"))
        os.mkdir(self.path("stencil2d"))  # a folder of results of it, perhaps
        self.assertNotIn("in this folder", self.succeeds(["info", "stencil2d"], cwd=self.folder).err)
        self.write("stencil2d/kernelslist.g", "kernel-1.traceg\n")  # SASS traces: refused here, as there is none
        self.refused(["info", "stencil2d"], 2, "kernel-1.traceg", layouts=(None,), cwd=self.folder)
        shutil.rmtree(self.path("stencil2d"))
        self.assertNotIn("in this folder", self.succeeds(["info", "stencil2d"], cwd=self.folder).err)

    def test_another_memory_with_the_energy_of_the_one_before_is_warned_of(self):
        words = ["run", "sac-4chip", "-w", workload("hot"), *sets(*SMALL)]
        self.assertNotIn("warning", self.succeeds(words).err)
        self.assertIn("atoll: warning: `dram.preset` = hbm2, and", self.succeeds([*words, *sets("dram.preset=hbm2")]).err)
        priced = sets("dram.preset=hbm2", "energy.dram_read_pj_per_bit=3.9")
        self.assertNotIn("warning", self.succeeds([*words, *priced]).err)

    def test_an_import_to_a_full_disk_is_refused_as_such_and_leaves_nothing(self):
        trace = self.trace(*(kernel(f"k{i}", 64 + i) for i in range(60)))
        mount = self.path("disk")
        os.mkdir(mount)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "none", mount], check=False,
                                               capture_output=True).returncode != 0:
            self.skipTest("mounting a small file system is not allowed here")
        try:
            self.refused(["import", "accel-sim", trace, "-o", os.path.join(mount, "t.h5")], 4,
                         "t.h5.part: writing failed (No space left on device)", layouts=[None])
            self.assertEqual(program.files_below(mount), [])
        finally:
            subprocess.run(["umount", mount], check=True)

    def test_private_data_that_the_run_shares_are_warned_of(self):
        text = '{"chips": 4, "kernels": [{"ctas": 16, "memory_instructions": 8, "regions": [{"name": "r", "kind": "private"}]}]}'
        words = ["run", "sac-4chip", "-w", self.write("four.json", text), *sets(*SMALL)]
        self.assertNotIn("warning", self.succeeds(words).err)
        self.assertNotIn("warning", self.succeeds([*words, *sets("chips=2")]).err)
        self.assertIn("lays data out for 4 chips (`chips`), and the system has 8", self.succeeds([*words, *sets("chips=8")]).err)
        self.assertIn("--ctas: the CTAs that are left are dealt", self.succeeds([*words, "--ctas", "0-7"]).err)

    def test_a_json_file_of_another_kind_is_refused_with_the_command_that_it_is_for(self):
        inputs = os.path.join(program.SOURCE, "inputs")
        workload, experiment, system = (os.path.join(inputs, *of) for of in (("workloads", "mixed.json"),
                                                                             ("experiments", "sac.json"),
                                                                             ("systems", "sac-4chip.json")))
        of_workload, of_experiment, of_system = "`atoll run SYSTEM --workload` simulates", "`atoll sweep` runs", "`atoll config` shows"
        for words, said in ((["run", "sac-4chip", "-w", experiment], of_experiment), (["info", system], of_system),
                            (["run", "-w", workload, workload], of_workload), (["config", experiment], of_experiment),
                            (["sweep", workload], of_workload), (["sweep", system], of_system)):
            self.refused(words, 2, os.path.basename(words[-1]) + ": ", said, layouts=(None,))

    def test_a_file_that_is_missing_is_refused(self):
        self.refused_workload(self.path("nothing.json"), "nothing.json: cannot be opened", "No such file")

    def ranks_with(self, *workloads):
        """Three ranks, of which each is told a workload of its own, as hosts would be that have other files of one name."""
        words = ["--oversubscribe"]
        for number, path in enumerate(workloads):
            words += [":"] * (number > 0) + ["-n", "1", ATOLL, "run", "sac-4chip", "-w", path, *sets(*SMALL)]
        return program.run(words, program=MPIRUN)

    def test_ranks_that_see_other_contents_are_refused_though_size_and_kernels_are_the_same(self):
        path = workload("hot")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        same, other = self.path("same.json"), self.write("other.json", text.replace('"seed": 11', '"seed": 12'))
        self.assertNotEqual(text, text.replace('"seed": 11', '"seed": 12'))
        shutil.copy(path, same)
        self.assertEqual(self.ranks_with(path, same, path).code, 0)
        for ranks, wrong in (((path, other, path), 1), ((path, path, other), 2), ((other, path, path), 1)):
            outcome = self.ranks_with(*ranks)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn(f"rank {wrong} sees other contents than rank 0; give all hosts the same file", outcome.err)

    def test_other_cycles_per_instruction_in_a_trace_of_another_rank_are_refused(self):
        self.write("kernel-1.traceg", kernel())
        path = self.write("kernelslist.g", "kernel-1.traceg\n")
        os.mkdir(self.path("there"))
        self.write(os.path.join("there", "kernel-1.traceg"), kernel().replace("R2", "R3", 1))
        other = self.write(os.path.join("there", "kernelslist.g"), "kernel-1.traceg\n")
        self.assertEqual(self.ranks_with(path, path).code, 0)
        self.assertIn("rank 1 sees other contents", self.ranks_with(path, other).err)

    def test_a_folder_without_a_list_is_refused(self):
        os.mkdir(self.path("folder"))
        self.refused_workload(self.path("folder"), "folder: this folder has no kernelslist.g")

    def test_an_empty_file_is_refused_with_what_a_workload_may_be(self):
        self.refused_workload(self.write("empty", ""), "empty: neither an Atoll trace (HDF5)", "kernelslist.g")

    def test_a_list_that_names_a_missing_kernel_is_refused_with_list_and_line(self):
        self.write("kernel-1.traceg", kernel())
        self.refused_workload(self.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n"), "kernelslist.g:2: ",
                              "kernel-2.traceg' does not exist")

    def test_a_text_named_h5_is_refused(self):
        self.refused_workload(self.write("trace.h5", "This is not HDF5.\n"), "trace.h5", "expected a list of kernels")

    def test_a_result_given_as_a_workload_is_refused(self):
        self.succeeds(["run", "sac-4chip", "-w", workload("hot"), "-o", self.path("result.h5"), "-q", *sets(*SMALL)])
        self.refused_workload(self.path("result.h5"), "result.h5: ", "trace")

    def test_a_truncated_trace_is_refused_with_file_and_last_line(self):
        text = kernel()
        lines = text.split("\n")
        self.refused_workload(self.trace("\n".join(lines[:40]) + "\n"), "kernel-1.traceg:40: ", "end")

    def test_a_trace_without_its_last_thread_blocks_is_refused(self):
        text = kernel()
        self.refused_workload(self.trace(text[: text.index("#BEGIN_TB\nthread block = 5,")]), "kernel-1.traceg:",
                              "the file ends after 5 of 8 thread blocks; block 5 is missing")

    def test_a_malformed_instruction_is_refused_with_file_and_line(self):
        self.refused_workload(self.trace(replace_line(kernel(), 18, "0010 fffffffff 0 NOP 0 0")),
                              "kernel-1.traceg:18: expected an active mask of 32 bits")

    def test_a_kernel_that_is_malformed_in_the_middle_of_the_run_ends_all_ranks(self):
        bad = replace_line(kernel("k2", ctas=40, warps=2), 122, "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 oops 4 0")
        trace = self.trace(kernel("k1", ctas=40, warps=2), bad, kernel("k3"))
        self.refused_workload(trace, "kernel-2.traceg:122: expected", "oops", layouts=(None, 2, 5))

    def test_a_kernel_whose_warps_do_not_fit_an_sm_is_refused_with_the_keys_to_raise(self):
        self.refused_workload(workload("hot"), "kernel 0 (lookup)", "does not fit an SM", "sm.warps",
                              overrides=["sm.warps=3", "sm.schedulers=1"])

    def test_a_later_kernel_whose_registers_do_not_fit_an_sm_is_refused(self):
        self.refused_workload(self.trace(kernel("k1"), kernel("k2", warps=8, registers=255)), "kernel 1 (k2)",
                              "255 registers per thread", "sm.registers", overrides=["sm.registers=2048"])

    def test_shared_memory_that_does_not_fit_an_sm_is_refused(self):
        self.refused_workload(self.trace(kernel("k1", shared=200 * 1024)), "kernel 0 (k1)", "204800 bytes of shared memory",
                              "sm.shared_kib")

    def test_an_unknown_key_of_a_parametric_workload_is_refused(self):
        text = '{"kernels": [{"ctas": 4, "regions": [{"name": "a", "wieght": 2}]}]}'
        self.refused_workload(self.write("w.json", text), "w.json: ", "`kernels[0].regions[0].wieght`")


class DamageInSomeRanks(program.ProgramTest):
    """Ranks read the workload on their own: some may meet a fault that the others never see."""

    def setUp(self):
        super().setUp()
        for node in ("first", "second"):
            self.write(f"{node}/kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n")
            for i in (1, 2):
                self.write(f"{node}/kernel-{i}.traceg", kernel(f"k{i}", ctas=40, warps=2))

    def arguments(self, trace):
        return ["run", "sac-4chip", "-w", trace, "-o", self.path("out.h5"), *sets(*SMALL)]

    def refused_where_ranks_3_and_4_run_in_another_folder(self, *fragments):
        atoll = [program.ATOLL, *self.arguments("kernelslist.g")]
        self.refused([*program.mpirun(3)[1:], "-wdir", self.path("first"), *atoll, ":", "-n", "2", "-wdir",
                      self.path("second"), *atoll], 2, *fragments, layouts=[None], program=program.MPIRUN)

    def test_a_trace_that_is_missing_on_one_node_ends_all_ranks(self):
        os.remove(self.path("second", "kernelslist.g"))
        self.refused_where_ranks_3_and_4_run_in_another_folder("kernelslist.g: cannot be opened")

    def test_a_second_kernel_that_is_another_on_one_node_ends_all_ranks_before_the_run(self):
        self.write("second/kernel-2.traceg", replace_line(kernel("k2", ctas=40, warps=2), 122, "0010 nonsense"))
        self.refused_where_ranks_3_and_4_run_in_another_folder("kernelslist.g: rank 3 sees other contents than rank 0")

    def test_a_second_kernel_that_is_malformed_ends_all_ranks_in_the_middle_of_the_run(self):
        for node in ("first", "second"):
            self.write(f"{node}/kernel-2.traceg", replace_line(kernel("k2", ctas=40, warps=2), 122, "0010 nonsense"))
        self.refused_where_ranks_3_and_4_run_in_another_folder("kernel-2.traceg:122: expected an active mask")

    def test_an_atoll_trace_that_is_damaged_or_cut_short_ends_all_ranks(self):
        trace = self.path("trace.h5")
        self.succeeds(["import", "accel-sim", self.path("first", "kernelslist.g"), "-o", trace])
        self.succeeds(["run", "sac-4chip", "-w", trace, *sets(*SMALL)], ranks=5)
        with open(trace, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size // 2)
            whole = file.read(size // 4)
            file.seek(size // 2)
            file.write(bytes(255 - byte for byte in whole))
        self.refused(self.arguments(trace), 2, "trace.h5:")
        with open(trace, "r+b") as file:
            file.truncate(size * 3 // 4)
        self.refused(self.arguments(trace), 2, "trace.h5:")


if __name__ == "__main__":
    program.main()
