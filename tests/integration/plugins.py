"""Policies of users, as shared libraries and in Python: the same run on any layout, and errors that say where."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
import unittest

import program

BUILD = os.path.dirname(program.ATOLL)
SHARED = os.path.join(BUILD, "plugins", "policy_alternating.so")
PYTHON = os.path.join(program.SOURCE, "tests", "plugins", "alternating.py")
SAC = os.path.join(program.SOURCE, "examples", "policy_plugin", "sac.py")
HAS_PYTHON = os.path.exists(os.path.join(BUILD, "atoll_python_policy.so"))
PROTOCOLS = ["software", "full_map", "directory", "hmg", "rec", "rec_adaptive", "ideal", "none_remote", "l1_only"]


def run(*arguments, ranks=None, settings=()):
    settings = [*program.SMALL, "coherence.directory_entries=64", *settings]
    return program.run(["run", "sac-4chip", "-w", program.workload("stores"), *program.sets(*settings), *arguments], ranks, timeout=60)


class Plugins(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="atoll-plugins-")
        self.addCleanup(shutil.rmtree, self.folder)

    def policy(self, text):
        path = os.path.join(self.folder, "mine.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(text))
        return path

    def digest(self, *arguments, **options):
        outcome = run(*arguments, **options)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome.digest()

    def refused(self, *arguments, **options):
        outcome = run(*arguments, **options)
        self.assertNotEqual(outcome.code, 0, outcome)
        return outcome.err

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

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_sac_in_python_decides_as_the_built_in_does(self):
        settings: list[list[str]] = [[], ["link.bandwidth_gbps=4"], ["sac.reprofile_cycles=3000", "sac.window_cycles=1000"]]
        for more in settings:
            self.assertEqual(self.digest("--policy", SAC, settings=more), self.digest(settings=["llc.organisation=sac", *more]), more)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_an_error_in_python_ends_the_job_with_file_and_line(self):
        path = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): self.chips = config["chips"]
                def at_kernel_start(self, kernel, start):
                    if kernel == 1:
                        raise ValueError("no idea")
                    return atoll.Modes()
            """)
        for ranks in (None, 3):
            self.assertIn("mine.py:7: ValueError: no idea", self.refused("--policy", path, ranks=ranks))
        for threads in ("2", "3", "5"):
            self.assertIn("mine.py:7: ValueError: no idea", self.refused("--policy", path, "--threads", threads))
        self.assertIn("mine.py:2: SyntaxError", self.refused("--policy", self.policy("x = 1\nclass Policy\n")))
        self.assertIn("defines no class `Policy`", self.refused("--policy", self.policy("x = 1\n")))
        self.assertIn("lacks `roles`", self.refused("--policy", self.policy("class Policy: pass\n")))
        broken = 'class Policy:\n    roles = ("sm_side",)\n    def __init__(self, config): raise ValueError("mine")\n'
        for threads in ("1", "2", "5"):
            self.assertIn("mine.py:3: ValueError: mine", self.refused("--policy", self.policy(broken), "--threads", threads))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_values_of_other_types_are_refused_with_what_would_be_taken(self):
        def policy(returns, roles='("memory_side",)'):
            return self.policy(f"""\
                import atoll
                class Policy:
                    roles = {roles}
                    def __init__(self, config): pass
                    def at_kernel_start(self, kernel, start):
                        return {returns}
                """)
        for returns, said in (("atoll.Modes(epoch_cycles=-1)", "mine.py:6: TypeError: takes atoll.Modes(*, llc: str = 'memory_side', "),
                              ("atoll.Modes(level='two')", "; was given kwargs: level='two'"),
                              ("atoll.Modes(), atoll.Decision('a', {1: 2.0})", "the names of a Decision's values are strings"),
                              ("atoll.Modes(), atoll.Decision('a', {'b': 'c'})", "TypeError: must be real number, not str"),
                              ("atoll.Modes(), 3",
                               "mine.py: at_kernel_start: returned int; a policy's decisions are None, a Decision, or a list of them"),
                              ("[atoll.Modes(), 3]", "a policy returns None, Modes, a list of Modes"),
                              ("None", "mine.py: at_kernel_start: returned None; it must return Modes"),
                              ("'sm_side'", "mine.py: at_kernel_start: returned str; a policy returns None, Modes, a list of")):
            self.assertIn(said, self.refused("--policy", policy(returns)), returns)
        for roles, said in (('("memory_side")', "`roles` of class Policy is a tuple of words"),
                            ("(1, 2)", "`roles` of class Policy has something that is no word"),
                            ('("memory_side",); switches = "no"', "`switches` of class Policy is True or False")):
            self.assertIn(said, self.refused("--policy", policy("atoll.Modes()", roles)), roles)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_what_a_result_cannot_keep_and_names_that_nobody_knows_are_refused(self):
        def policy(returns="atoll.Modes()", more="pass"):
            return self.policy(f"""\
                import atoll, os
                class Policy:
                    roles = ("memory_side",)
                    def __init__(self, config): pass
                    def at_kernel_start(self, kernel, start):
                        {more}
                        return {returns}
                """)
        for name in ("hit/miss", "", ".", "..", "/x", "a\\0b", "a\\nb", "x" * 201):
            err = self.refused("--policy", policy(f"atoll.Modes(), atoll.Decision('a', {{'{name}': 1.0}})"))
            self.assertIn("policy mine: a value of its decision for kernel 0 is named `", err, name)
        for decision, said in (("'a', {'v': float('nan')}", "at_kernel_start returns `v` = NaN in decision `a`: leave out what"),
                               ("'a', {'v': float('inf')}", "at_kernel_start returns `v` = infinity in decision `a`: leave out"),
                               ("'a', {'v': -float('inf')}", "at_kernel_start returns `v` = infinity in decision `a`: leave out"),
                               ("''", "at_kernel_start returns a decision without a choice"),
                               ("'split'", "at_kernel_start decides `split`, and its modes have `llc` = memory_side")):
            self.assertIn(said, self.refused("--policy", policy(f"atoll.Modes(), atoll.Decision({decision})")))
        self.assertIn("signs that do not print", self.refused("--policy", policy("atoll.Modes(), atoll.Decision('a\\x1b')")))
        for choice, has in (("hit/miss", "8 signs and a `/`"), ("x" * 201, "201 signs")):
            err = self.refused("--policy", policy(f"atoll.Modes(), atoll.Decision('{choice}')"))
            self.assertIn(f"at_kernel_start returns a decision whose choice has {has}: give it 1 to 200, and no `/`", err)
        self.digest("--policy", policy(f"atoll.Modes(), atoll.Decision('{'x' * 200}')"))
        for wrong, right in (("def at_epoch_ends(self): pass", "at_epoch_end"), ("swiches = True", "switches"),
                             ("def at_kernel_stop(self): pass", "at_kernel_start"), ("def loads(self, data): pass", "load")):
            text = f"class Policy:\n    roles = ('sm_side',)\n    {wrong}\n"
            self.assertRegex(self.refused("--policy", self.policy(text)), f"has `.*did you mean `{right}`")
        self.assertIn("`at_epoch_end` of class Policy is no method",
                      self.refused("--policy", self.policy("class Policy:\n    roles = ('sm_side',)\n    at_epoch_end = None\n")))
        own = "    def switch(self): pass\n    role = 3\n".replace("role =", "_role =")
        with open(PYTHON, encoding="utf-8") as f:
            self.digest("--policy", self.policy(f.read() + "\n" + own))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_policy_that_leaves_the_folder_moves_no_output_and_a_set_has_one_order(self):
        path = self.policy("""\
            import os
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start):
                    os.chdir("/")
                    return atoll.Modes(epoch_cycles=1000), atoll.Decision("-".join({"red", "green", "blue", "black", "white"}))
            """)
        out = os.path.relpath(os.path.join(self.folder, "out.h5"))
        self.digest("--policy", path, "-o", out)
        self.assertTrue(os.path.exists(out))
        choices = set()
        for _ in range(3):
            self.digest("--policy", path, "-o", out, "-f")
            choices |= set(re.findall(r"decisions +(\S+-\S+)", program.run(["info", out]).out))
        self.assertEqual(len(choices), 1, choices)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_policy_that_cannot_be_saved_loses_a_checkpoint_and_not_the_run(self):
        path = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes()
                def save(self): raise ValueError("not now")
                def load(self, data): pass
            """)
        out = os.path.join(self.folder, "out.h5")
        for ranks in (None, 3):
            outcome = run("--policy", path, "-o", out, "--checkpoint-every", "2000", "-f", ranks=ranks)
            self.assertEqual(outcome.code, 0, outcome)
            self.assertRegex(outcome.err, r"no checkpoint at cycle \d+, and the run goes on: .*mine.py:6: ValueError: not now")
            self.assertEqual(outcome.err.count("no checkpoint at cycle"), 1, outcome)
            self.assertEqual(glob.glob(out + "*.ckpt"), [])

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_the_configuration_is_read_only_and_a_copy_of_it_is_not(self):
        def policy(does):
            return self.policy(f"""\
                import atoll, copy, pickle
                class Policy:
                    roles = ("memory_side",)
                    def __init__(self, config):
                        {does}
                    def at_kernel_start(self, kernel, start): return atoll.Modes()
                """)
        for writes in ("config['llc.ways'] = 3", "config.update(chips=3)", "config |= {'chips': 3}", "del config['chips']",
                       "config.setdefault('mine', 3)", "config.pop('chips')", "config.clear()"):
            self.assertIn("mine.py:5: TypeError: config is read-only: set keys for the run with --set, or change a copy, "
                          "dict(config)", self.refused("--policy", policy(writes)), writes)
        for copies in ("dict(config)", "copy.deepcopy(config)", "copy.copy(config)", "pickle.loads(pickle.dumps(config))"):
            self.digest("--policy", policy(f"own = {copies}; own['chips'] += 1; assert own['chips'] == config['chips'] + 1"))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_numbers_of_a_policy_are_a_key_of_the_run_and_names_that_it_does_not_have_are_refused(self):
        mine = ("--policy", self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side", "sm_side")
                options = {"first": 0.5, "window": 3}
                def __init__(self, config): self.options = config.options
                def at_kernel_start(self, kernel, start):
                    return atoll.Modes(), atoll.Decision("told", vars(self.options))
            """))
        out = os.path.join(self.folder, "r.h5")

        def values(options):
            self.digest(*mine, "-o", out, "-f", "--kernels", "0", settings=[f"llc.policy_options={options}"])
            return json.loads(program.run(["info", out, "--json"]).out)["decisions"][0]["values"]
        self.assertEqual(values(""), {"first": 0.5, "window": 3})
        before = os.path.join(self.folder, "before.h5")
        os.rename(out, before)
        self.assertEqual(values("window=7  first=-1e-3"), {"first": -1e-3, "window": 7})
        self.assertRegex(program.run(["compare", before, out]).out, r"llc.policy_options +.*window=7  first=-1e-3")
        for options, what in (("windw=3", "there is no `windw`; NAME=NUMBER, apart by spaces, of: first, window"),
                              ("window", "`window` has no number"), ("window=", "`window=` has no number"),
                              ("first=0.5x", "`first=0.5x` has no number"), ("first=nan", "`first=nan` has no number"),
                              ("first=1 first=2", "`first` is given twice"), ("window=2.5", "`window` is a whole number")):
            self.assertIn("`llc.policy_options`: " + what, self.refused(*mine, settings=[f"llc.policy_options={options}"]))
        self.assertIn("there is no `a`; this policy has none", self.refused("--policy", PYTHON, settings=["llc.policy_options=a=1"]))
        self.assertIn("there is no `a`; this policy has none", self.refused("--policy", SHARED, settings=["llc.policy_options=a=1"]))
        self.assertIn("`llc.policy_options` = a=1 is for a policy of your own", self.refused(settings=["llc.policy_options=a=1"]))
        for options, what in (("[]", "is a dict"), ("{'a': True}", "are numbers by name"), ("{'a': 'b'}", "are numbers by name")):
            other = self.policy(f"""\
                class Policy:
                    roles = ("memory_side",)
                    options = {options}
                    def at_kernel_start(self, kernel, start): pass
                """)
            self.assertIn("mine.py: `options` of class Policy " + what, self.refused("--policy", other))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_policy_that_only_watches_changes_nothing_beside_replication_and_is_told_if_it_cannot(self):
        def cycles(*arguments):
            outcome = run(*arguments, settings=["llc.replication=selrep", "selrep.epoch_cycles=1000", "selrep.tie=highest"])
            self.assertEqual(outcome.code, 0, outcome)
            return re.findall(r"^ *(?:cycles|decisions) .*", outcome.out, re.MULTILINE), re.sub(".* has no effect: .*\n", "", outcome.err)

        def watch(epoch):
            return cycles("--policy", self.policy(f"""\
                import atoll
                class Policy:
                    roles = ("memory_side",)
                    def __init__(self, config): pass
                    def at_kernel_start(self, kernel, start): return atoll.Modes(epoch_cycles={epoch})
                    def at_epoch_end(self, epoch): return None
                """))

        alone, _ = cycles("--set", "llc.organisation=memory_side")
        self.assertEqual(len(alone), 2)
        for epoch in (500, 700, 1300):
            self.assertEqual(watch(epoch), (alone, ""))
        shown, said = watch(0)
        self.assertEqual(shown, alone)
        self.assertIn("mine.py: at_epoch_end was never called, as no modes had `epoch_cycles`", said)

    def test_a_change_of_role_may_take_longer_than_a_deadlock(self):
        outcome = program.run(["run", "sac-4chip", "-w", "mixed", "--scale", "16", *program.sets(
            "llc.organisation=sac", "control.latency_cycles=30000", "control.launch_latency_cycles=60000",
            "control.deadlock_cycles=20000")])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.out, "decisions .*sm_side")

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_check_finds_what_save_leaves_out(self):
        text = """\
            import atoll
            seen = 0
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): self.mine = 0
                def at_kernel_start(self, kernel, start): return atoll.Modes(epoch_cycles=1000)
                def at_epoch_end(self, epoch):
                    global seen
                    seen, self.mine = seen + 1, self.mine + 1
                    return atoll.Modes(epoch_cycles=1000), atoll.Decision("count", {{"n": {counted}}})
                def save(self): return bytes([self.mine])
                def load(self, data): self.mine = data[0]
            """
        whole, part = self.policy(text.format(counted="self.mine")), None
        self.assertEqual(self.digest("--policy", whole, "--check"), self.digest("--policy", whole))
        part = self.policy(text.format(counted="seen"))
        self.digest("--policy", part)
        self.assertRegex(self.refused("--policy", part, "--check"),
                         r"mine.py: what it saves for checkpoints is not all that it decides by: one of its kind .* right "
                         r"before returns something else from at_epoch_end of kernel 0 at cycle \d+")

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

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_resumed_run_finds_its_policy_where_it_is_said_to_be(self):
        path, moved = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes()
                def save(self): return b""
                def load(self, data): pass
            """), os.path.join(self.folder, "moved.py")
        output = os.path.join(self.folder, "o.h5")
        wanted = run("--policy", path, "-o", output, "--checkpoint-every", "1000").digest()
        checkpoint = next(os.path.join(self.folder, f) for f in sorted(os.listdir(self.folder)) if f.endswith(".ckpt"))
        os.rename(path, moved)
        self.assertIn("mine.py: no such file", program.run(["resume", checkpoint, "-f"]).err)
        self.assertEqual(program.run(["resume", checkpoint, "-f", "--policy", moved]).digest(), wanted)
        with open(moved, "a", encoding="utf-8") as file:
            file.write("# another\n")
        self.assertIn("moved.py: has changed since", program.run(["resume", checkpoint, "-f", "--policy", moved]).err)

    def test_a_policy_beside_another_organisation_is_refused(self):
        self.assertIn("--policy: sets llc.organisation=plugin, and --set says `sac`",
                      self.refused("--policy", SHARED, settings=["llc.organisation=sac"]))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_modes_beyond_what_was_declared_are_refused_with_the_field(self):
        path = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes(llc="sm_side")
            """)
        self.assertIn("policy mine: its modes for kernel 0 cannot be obeyed: its traits do not declare the role sm_side",
                      self.refused("--policy", path))

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_a_run_that_fails_says_one_thing(self):
        path = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes(llc="sm_side")
                def at_epoch_end(self, epoch): return None
            """)
        ways: list[tuple[list[str], int | None]] = [([], None), (["--threads", "3"], None), (["--check"], None), ([], 3)]
        for more, ranks in ways:
            err = self.refused("--policy", path, *more, ranks=ranks)
            self.assertIn("its traits do not declare the role sm_side", err)
            self.assertNotIn("at_epoch_end was never called", err)

    @unittest.skipUnless(HAS_PYTHON, "built without Python")
    def test_checkpoints_need_save_and_load_and_then_go_on_with_the_same_digest(self):
        out = os.path.join(self.folder, "out.h5")
        more = ["--checkpoint-every", "2000"]
        self.assertIn("has no methods `save` and `load`, which checkpoints need", self.refused("--policy", PYTHON, "-o", out, *more))
        alone = self.digest("--policy", SAC, "-o", out, *more, "--force")
        checkpoint = sorted(glob.glob(out + ".*.ckpt"))[0]
        resumed = program.run(["resume", checkpoint, "--force"], timeout=60)
        self.assertEqual(resumed.code, 0, resumed)
        self.assertEqual(resumed.digest(), alone)

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
            outcome = program.run(["run", "sac-4chip", "-w", mixed, "--scale", "8", *example, *program.sets(*options)], timeout=60)
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
