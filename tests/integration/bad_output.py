"""A result that cannot be written is an error of the whole job: nothing is left under its name or beside it."""

import os
import re
import resource
import shutil
import subprocess
import time
import unittest

import program
from program import ATOLL, SMALL, sets, workload
from sass_trace import kernel


class BadOutput(program.ProgramTest):
    def arguments(self, output, *more):
        return ["run", "sac-4chip", "-w", workload("hot"), "-o", output, *more, *sets(*SMALL)]

    def test_a_folder_that_does_not_exist_is_refused_before_the_run(self):
        self.refused(self.arguments(self.path("no", "such", "out.h5")), 4, "out.h5: there is no directory", "no/such")

    def test_a_path_below_a_file_is_refused(self):
        self.write("file", "text")
        self.refused(self.arguments(self.path("file", "out.h5")), 4, "out.h5: there is no directory")

    def test_a_name_that_is_too_long_is_refused_before_the_run(self):
        long = [self.path("x" * length) for length in (300, 252)]  # 252 and .part are more than 255
        for output in long:
            self.refused(self.arguments(output), 4, "x: cannot be written: File name too long")
        checkpointed = self.path("x" * 240)
        self.refused(self.arguments(checkpointed, "--checkpoint-every", "1000"), 4, ".ckpt: cannot be written: File name too long")
        self.succeeds(self.arguments(checkpointed, "-q"))
        self.assertEqual(program.files_below(self.folder), [checkpointed])

    def test_a_folder_as_output_is_refused(self):
        self.refused(self.arguments(self.folder), 2, "is a directory")

    def test_a_device_as_output_is_refused(self):
        self.refused(self.arguments("/dev/full"), 2, "/dev/full: exists and is not a regular file")
        self.assertTrue(os.path.exists("/dev/full"))

    def test_an_output_that_is_read_is_refused_even_with_force(self):
        with open(workload("hot"), encoding="utf-8") as file:
            mine = self.write("mine.json", file.read())
        system = self.write("system.json", '{"base": "sac-4chip"}')
        result = self.path("r.h5")
        self.succeeds(["run", system, "-w", mine, "-o", result, "--checkpoint-every", "2000", *sets(*SMALL)])
        checkpoint = next(path for path in program.files_below(self.folder) if path.endswith(".ckpt"))
        before = {path: os.path.getsize(path) for path in program.files_below(self.folder)}
        for output in (mine, system):
            self.refused(["run", system, "-w", mine, "-o", output, "-f", *sets(*SMALL)], 2, f"{output}: is what is read here")
        self.refused(["resume", checkpoint, "-o", checkpoint, "-f"], 2, f"{checkpoint}: is what is read here")
        self.refused(["export", result, "--perfetto", result, "-f"], 2, f"{result}: is what is read here")
        self.assertEqual({path: os.path.getsize(path) for path in program.files_below(self.folder)}, before)

    def test_a_symbolic_link_is_no_output(self):
        target, link = self.path("target.h5"), self.path("link.h5")
        os.symlink(target, link)
        flags: list[list[str]] = [[], ["--force"]]
        for force in flags:
            self.refused(self.arguments(link, *force), 2, f"link.h5: is a symbolic link to {target}; name the file itself")
        self.assertTrue(os.path.islink(link))
        self.assertFalse(os.path.exists(target))

    def test_options_that_are_empty_are_refused(self):
        for option in ("--policy", "--sample", "--kernels", "--ctas", "--map"):
            self.refused(["run", "sac-4chip", "-w", workload("hot"), option, "", *sets(*SMALL)], 2, f"{option}: the text is empty")

    def test_a_warning_that_nobody_can_read_ends_no_run(self):
        arguments = [ATOLL, *self.arguments(self.path("out.h5")), "--set", "noc.link_port_gbps=10"]
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run(arguments, check=False, stdout=subprocess.PIPE, stderr=full, encoding="utf-8")
        self.assertEqual(run.returncode, 0)
        self.succeeds(["info", self.path("out.h5")])

    def test_an_existing_result_is_kept_unless_force_is_given(self):
        output = self.write("out.h5", "precious")
        self.refused(self.arguments(output), 2, "out.h5: exists already; use --force to replace it")
        with open(output, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        for ranks in (None, 5):
            self.write("out.h5", "precious")
            self.succeeds(self.arguments(output, "--force"), ranks=ranks)
            self.succeeds(["info", output])
            self.assertEqual(program.files_below(self.folder), [output])

    def test_of_runs_that_write_one_output_at_a_time_only_the_first_goes_on(self):
        output = self.path("out.h5")
        with open(workload("stores"), encoding="utf-8") as file:
            long = self.write("long.json", file.read().replace('"repeat": 2', '"repeat": 2000'))
        first = subprocess.Popen([ATOLL, "run", "sac-4chip", "-w", long, "-o", output, "-q", *sets(*SMALL)],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
        self.until(lambda: os.path.exists(output + ".lock") and os.path.getsize(output + ".lock") > 0, lambda: "no lock")
        for ranks in (None, 3):
            second = program.run(self.arguments(output, "--force"), ranks=ranks)
            self.assertEqual(second.code, 2, second)
            self.assertIn(f"out.h5: is being written by process {first.pid} on ", second.err)
        first.kill()
        first.communicate()
        self.succeeds(self.arguments(output))  # what a killed run has left locks nothing
        self.assertEqual(program.files_below(self.folder), sorted([long, output]))

    def test_a_lock_that_is_a_link_is_not_followed(self):
        victim = self.write("victim", "precious")
        os.symlink(victim, self.path("out.h5.lock"))
        os.symlink(victim, self.path("other.h5.part"))
        self.refused(self.arguments(self.path("out.h5")), 4, "out.h5.lock: cannot be made")
        other = program.run(self.arguments(self.path("other.h5")))
        self.assertEqual(other.code, 4, other)
        self.assertIn("other.h5: cannot be written", other.err)
        with open(victim, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_a_result_that_finds_no_room_is_refused_before_the_run(self):
        def no_large_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.refused(self.arguments(self.path("out.h5")), 4, "out.h5: cannot be written: File too large",
                     "nothing has been simulated", layouts=[None], preexec_fn=no_large_files)

    def test_other_files_that_find_no_room_are_refused_and_leave_nothing(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        result, trace = self.path("out.h5"), self.path("trace.h5")
        self.succeeds(self.arguments(result))
        kernels = self.write("kernelslist.g", "kernel-1.traceg\n")
        self.write("kernel-1.traceg", kernel())
        before = set(os.listdir(self.folder))
        for arguments in (["import", "accel-sim", kernels, "-o", trace],
                          ["export", result, "--perfetto", self.path("t.json")]):
            self.refused(arguments, 4, "File too large", layouts=[None], preexec_fn=small_files)
            self.assertEqual(set(os.listdir(self.folder)), before)

    def test_a_result_that_cannot_be_written_at_the_end_is_kept_elsewhere_and_its_digest_printed(self):
        out = self.path("gone", "out.h5")
        for ranks in (None, 2):
            os.makedirs(os.path.dirname(out))
            with open(workload("stores"), encoding="utf-8") as file:
                long = self.write("long.json", file.read().replace('"repeat": 2', '"repeat": 300'))
            command = (program.mpirun(ranks) if ranks else []) + [
                ATOLL, "run", "sac-4chip", "-w", long, "-o", out, "-q", *sets(*SMALL)]
            env = {**program.environment(), "TMPDIR": self.folder}
            run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding="utf-8", env=env)
            self.until(lambda: os.path.exists(out + ".lock"), lambda: "no lock")
            time.sleep(0.2)
            shutil.rmtree(os.path.dirname(out))
            said, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 4, err)
            self.assertRegex(said, r"digest +[0-9a-f]{16}")
            kept = re.search(r"gone/out.h5: .*; the result is kept in (\S+/out.h5)", err).group(1)
            self.assertTrue(kept.startswith(self.folder), kept)
            self.assertIn(re.search(r"digest +([0-9a-f]{16})", said).group(1), self.succeeds(["info", kept]).out)

    def test_a_result_of_someone_else_that_appears_during_the_run_is_left_and_ours_is_kept_elsewhere(self):
        out = self.path("out.h5")
        with open(workload("stores"), encoding="utf-8") as file:
            long = self.write("long.json", file.read().replace('"repeat": 2', '"repeat": 300'))
        run = subprocess.Popen([ATOLL, "run", "sac-4chip", "-w", long, "-o", out, *sets(*SMALL)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                               env={**os.environ, "TMPDIR": self.folder})
        self.until(lambda: os.path.exists(out + ".lock"), lambda: "no lock")
        time.sleep(0.2)
        self.write("out.h5", "precious")
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, err)
        self.assertRegex(err, r"out.h5: exists already.*; the result is kept in ")
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_what_stdout_does_not_take_goes_to_stderr_and_is_an_error(self):
        without = self.arguments("-")
        del without[without.index("-o"):without.index("-o") + 2]
        for arguments in (without, ["list"], ["config", "sac-4chip"], ["--version"], ["help"], ["run", "--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run([ATOLL, *arguments], check=False, stdout=full, stderr=subprocess.PIPE, encoding="utf-8")
            self.assertEqual(run.returncode, 4, run.stderr)
            self.assertIn("standard output: cannot be written: No space left on device", run.stderr)
            if arguments is without:
                self.assertRegex(run.stderr, r"digest +[0-9a-f]{16}")

    def test_without_an_output_the_summary_says_that_nothing_is_kept_and_an_empty_name_is_refused(self):
        without = self.arguments("")
        self.refused(without, 2, "--output: the text is empty")
        del without[without.index("-o"):without.index("-o") + 2]
        self.assertIn("result     not kept; -o FILE keeps it", self.succeeds(without).out)

    def test_a_folder_that_is_full_is_an_error_and_keeps_the_old_result(self):
        mount = self.path("disk")
        os.mkdir(mount)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", mount], check=False,
                                               capture_output=True).returncode != 0:
            raise unittest.SkipTest("mounting a small file system is not allowed here")
        try:
            output = self.write("disk/out.h5", "precious")
            self.refused(self.arguments(output, "--force"), 4, "out.h5: cannot be written: No space left on device")
            with open(output, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
        finally:
            subprocess.run(["umount", mount], check=True)


class BadResult(program.ProgramTest):
    def test_what_is_no_result_is_refused_and_said_once(self):
        self.refused(["info", self.path("none.h5")], 2, "none.h5: cannot be opened")
        self.refused(["explain", self.path("none.h5")], 2, "none.h5: there is no such file")
        self.refused(["explain", self.write("text.h5", "no HDF5")], 2, "text.h5: is not an HDF5 file")

    def test_info_refuses_a_truncated_result(self):
        output = self.path("out.h5")
        self.succeeds(["run", "sac-4chip", "-w", workload("hot"), "-q", "-o", output, *sets(*SMALL)])
        with open(output, "r+b") as file:
            file.truncate(os.path.getsize(output) // 2)
        self.refused(["info", output], 2, "out.h5: ", "truncated", layouts=[None])


if __name__ == "__main__":
    program.main()
