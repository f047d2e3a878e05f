"""Policies of users, as shared libraries: the same run on any layout, and errors that say where."""

import glob
import os
import subprocess
import unittest
import unittest.mock

import program
from policies import BUILD, HAS_PYTHON, PYTHON, SHARED, Case, run

FAULTY = os.path.join(BUILD, "plugins", "policy_faulty.so")
PROTOCOLS = ["software", "full_map", "directory", "hmg", "rec", "rec_adaptive", "ideal", "none_remote", "l1_only"]


class Plugins(Case):
    def test_a_policy_that_alternates_reads_nothing_stale_under_every_protocol(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                shared = self.digest("--policy", SHARED, "--check", settings=[f"coherence.protocol={protocol}"])
                if HAS_PYTHON:
                    self.assertEqual(self.digest("--policy", PYTHON, "--check", settings=[f"coherence.protocol={protocol}"]), shared)

    def test_what_a_shared_library_throws_ends_the_run_with_its_name_and_code_2(self):
        throwing = os.path.join(BUILD, "plugins", "policy_throwing.so")
        for chips, what in ((4, "at_kernel_start throws: out of luck"), (2, "at_kernel_start throws what is no std::exception")):
            outcome = run("--policy", throwing, settings=[f"chips={chips}"])
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn(f"policy_throwing.so: {what}", outcome.err)

    def test_the_digest_is_the_same_on_any_number_of_ranks(self):
        policy = PYTHON if HAS_PYTHON else SHARED
        alone = self.digest("--policy", policy)
        self.assertEqual(self.digest("--policy", policy, "--threads", "3"), alone)
        self.assertEqual(self.digest("--policy", policy, ranks=2), alone)
        self.assertEqual(self.digest("--policy", SHARED, ranks=5), alone)

    def test_the_result_names_the_policy_and_the_digest_of_its_file(self):
        out = os.path.join(self.folder, "out.h5")
        self.digest("--policy", SHARED, "-o", out)
        info = program.run(["info", out, "--json"]).out
        self.assertIn('"policy": "alternating"', info)
        self.assertRegex(info, r'"policy_digest": "[0-9a-f]{16}"')

    def test_a_change_of_role_may_take_longer_than_a_deadlock(self):
        outcome = program.run(["run", "sac-4chip", "-w", "mixed", "--scale", "16", *program.sets(
            "llc.organisation=sac", "control.latency_cycles=30000", "control.launch_latency_cycles=60000",
            "control.deadlock_cycles=20000")])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.out, "decisions .*sm_side")

    def test_a_plug_in_that_ends_the_program_ends_the_run_with_an_error(self):
        ending = os.path.join(BUILD, "plugins", "policy_throwing.so")
        for chips in (3, 5):  # by exit and by quick_exit
            outcome = run("--policy", ending, settings=[f"chips={chips}"])
            self.assertEqual(outcome.code, 3, outcome)
            self.assertIn("policy_throwing.so: ends the program, before the run is over", outcome.err)

    def test_a_plug_in_that_crashes_is_named(self):
        crashing = os.path.join(BUILD, "plugins", "policy_throwing.so")
        for chips, says in ((6, "crashes; no result"), (7, "aborts the program"), (8, "crashes; no result")):
            outcome = run("--policy", crashing, settings=[f"chips={chips}"])
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn(f"policy_throwing.so: {says}", outcome.err)

    def with_fault(self, fault, *arguments):
        with unittest.mock.patch.dict(os.environ, ATOLL_FAULT=fault):
            return program.run(arguments) if arguments else run("--policy", FAULTY)

    def test_a_plug_in_that_fails_while_it_is_loaded_is_named(self):
        for fault, says in (("static", "aborts the program"), ("entry", "atoll_policy_plugin throws: out of luck")):
            outcome = self.with_fault(fault)
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn("policy_faulty.so: " + says, outcome.err)

    def test_what_a_plug_in_throws_or_decides_for_an_earlier_kernel_is_named(self):
        for fault, says in (("own error", "policy_faulty.so: at_kernel_start throws: out of luck"),
                            ("other kernel", "policy_faulty.so: at_kernel_start of kernel 1 decides `sm_side` for kernel 0, whose")):
            outcome = self.with_fault(fault)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn(says, outcome.err)

    def test_a_plug_in_has_a_name_of_its_own_that_prints(self):
        for fault in ("no name", "empty name", "two lines"):
            outcome = self.with_fault(fault)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn("policy_faulty.so: has no name, or one of signs that do not print", outcome.err)
        self.assertIn("policy_faulty.so: is named `sac`, as an `llc.organisation` of Atoll's own", self.with_fault("built-in name").err)

    def test_checkpoints_need_save_of_a_policy_that_does_not_say_that_it_remembers_nothing(self):
        out = os.path.join(self.folder, "out.h5")
        throwing = os.path.join(BUILD, "plugins", "policy_throwing.so")
        self.assertIn("policy_throwing.so: has no methods `save` and `load`, which checkpoints need",
                      self.refused("--policy", throwing, "-o", out, "--checkpoint-every", "2000"))
        self.digest("--policy", SHARED, "-o", out, "--checkpoint-every", "2000")
        self.assertNotEqual(glob.glob(out + "*.ckpt"), [])

    def test_a_load_that_does_not_fit_save_is_told_of_at_the_first_checkpoint_and_where_a_run_goes_on(self):
        out = os.path.join(self.folder, "out.h5")
        more = ("--policy", FAULTY, "-o", out, "-f", "--checkpoint-every", "2000")
        size = "policy_faulty.so: `load` does not take all that `save` writes, or takes more"
        for fault, says in (("loads less", size), ("loads more", size),
                            ("loads nothing", "policy_faulty.so: `load` does not bring back what `save` wrote")):
            with unittest.mock.patch.dict(os.environ, ATOLL_FAULT=fault):
                outcome = run(*more)
            self.assertEqual(outcome.code, 0, outcome)
            self.assertRegex(outcome.err, r"no checkpoint at cycle \d+, and the run goes on: .*" + says)
            self.assertEqual(glob.glob(out + "*.ckpt"), [])
        wanted = self.digest(*more)
        checkpoint = sorted(glob.glob(out + "*.ckpt"))[0]
        for fault in ("loads less", "loads more"):
            outcome = self.with_fault(fault, "resume", checkpoint, "-f")
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn(size, outcome.err)
        self.assertEqual(program.run(["resume", checkpoint, "-f"]).digest(), wanted)

    def test_fields_of_modes_that_are_atolls_own_are_refused_from_a_plug_in(self):
        throwing = os.path.join(BUILD, "plugins", "policy_throwing.so")
        for chips, field in ((10, "epoch_gone"), (11, "beside_cycles"), (12, "beside_gone")):
            self.assertIn(f"policy throwing: its modes for kernel 0 cannot be obeyed: `{field}` = 5 is set, which is Atoll's own: "
                          "leave it 0", self.refused("--policy", throwing, settings=[f"chips={chips}"]))

    def test_modes_for_another_number_of_chips_are_refused_beside_replication_too(self):
        refusal = "its modes for kernel 0 cannot be obeyed: they are for {} chips, and the system has {}"
        throwing = os.path.join(BUILD, "plugins", "policy_throwing.so")
        for replication in ("shared", "selrep", "degree_2"):
            settings = [f"llc.replication={replication}"]
            err = self.refused("--policy", throwing, settings=["chips=9", *settings])
            self.assertIn("policy throwing: " + refusal.format(0, 9), err, replication)
            for number in (0, 3, 100) if HAS_PYTHON else ():
                for at_start, at_end in ((number, 4), (4, number)):
                    path = self.policy(f"""\
                        import atoll
                        class Policy:
                            roles = ("memory_side",)
                            def __init__(self, config): pass
                            def at_kernel_start(self, kernel, start): return [atoll.Modes(epoch_cycles=500)] * {at_start}
                            def at_epoch_end(self, epoch): return [atoll.Modes(epoch_cycles=500)] * {at_end}
                        """)
                    self.assertIn("policy mine: " + refusal.format(number, 4), self.refused("--policy", path, settings=settings))

    def test_a_policy_beside_another_organisation_is_refused(self):
        self.assertIn("--policy: sets llc.organisation=plugin, and --set says `sac`",
                      self.refused("--policy", SHARED, settings=["llc.organisation=sac"]))

    def test_a_file_that_is_no_policy_is_refused(self):
        for threads in ("1", "2", "5"):
            self.assertIn("no such file", self.refused("--policy", "nowhere.so", "--threads", threads))
        broken = os.path.join(self.folder, "broken.so")
        with open(broken, "w", encoding="utf-8") as f:
            f.write("not a library")
        self.assertIn("cannot be loaded as a shared library", self.refused("--policy", broken))
        with open(SHARED, "rb") as whole, open(broken, "wb") as part:
            part.write(whole.read()[:20000])
        self.assertIn("broken.so: is truncated; build it again", self.refused("--policy", broken))
        self.assertIn("--policy FILE sets both", self.refused(settings=["llc.organisation=plugin"]))

    def test_the_example_builds_alone_against_an_installation_and_runs(self):
        prefix = os.path.join(self.folder, "prefix")
        for command in (["cmake", "--install", BUILD, "--prefix", prefix],
                        ["cmake", "-S", os.path.join(program.SOURCE, "examples", "policy_plugin"), "-B", self.folder + "/b",
                         "-D", "CMAKE_PREFIX_PATH=" + prefix],
                        ["cmake", "--build", self.folder + "/b"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        example = ["--policy", self.folder + "/b/hit_rate.so"]
        self.digest(*example, "--check")

        def of_mixed(*options):
            mixed = os.path.join(program.SOURCE, "inputs", "workloads", "mixed.json")
            outcome = program.run(["run", "sac-4chip", "-w", mixed, "--scale", "8", *example, *program.sets(*options)])
            self.assertEqual(outcome.code, 0, outcome)
            return outcome.digest()
        plain = of_mixed()
        self.assertEqual(of_mixed("llc.policy_options=threshold=0.5"), plain)
        self.assertNotEqual(of_mixed("llc.policy_options=threshold=0.99"), plain)
        self.assertIn("hit_rate.so: its constructor throws: `llc.policy_options`: there is no `treshold`; NAME=NUMBER, apart by spaces, "
                      "of: threshold", self.refused(*example, settings=["llc.policy_options=treshold=0"]))
        installed = os.path.join(prefix, "bin", "atoll")
        outcome = program.run(["run", "sac-4chip", "-w", program.workload("stores"), "--policy", PYTHON if HAS_PYTHON else SHARED,
                               *program.sets(*program.SMALL)], timeout=60, program=installed)
        self.assertEqual(outcome.code, 0, outcome)


if __name__ == "__main__":
    unittest.main()
