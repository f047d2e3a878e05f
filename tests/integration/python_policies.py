"""Policies of users in Python: what they are told, what they may return, and errors with file and line."""

import glob
import json
import os
import re
import unittest

import program
import sass_trace
from policies import HAS_PYTHON, PYTHON, SAC, SHARED, Case, run


@unittest.skipUnless(HAS_PYTHON, "built without Python")
class PythonPolicies(Case):
    def test_sac_in_python_decides_as_the_built_in_does(self):
        settings: list[list[str]] = [[], ["link.bandwidth_gbps=4"], ["sac.reprofile_cycles=3000", "sac.window_cycles=1000"]]
        for more in settings:
            self.assertEqual(self.digest("--policy", SAC, settings=more), self.digest(settings=["llc.organisation=sac", *more]), more)

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
        whole = "of atoll.Modes is a whole number from 0 to 4294967295, not "
        for returns, said in (("atoll.Modes(epoch_cycles=-1)", f"mine.py:6: TypeError: `epoch_cycles` {whole}-1"),
                              ("atoll.Modes(level='two')", f"`level` {whole}'two'"),
                              ("atoll.Modes(local_ways=8.0)", f"`local_ways` {whole}8.0"),
                              ("atoll.Modes(epoch_cycles=True)", f"`epoch_cycles` {whole}True"),
                              ("atoll.Modes(range_bytes=2**32)", f"`range_bytes` {whole}4294967296"),
                              ("atoll.Modes(profile=1)", "`profile` of atoll.Modes is True or False, not 1"),
                              ("atoll.Modes(llc=3)", "`llc` of atoll.Modes is the name of a role, not 3"),
                              ("atoll.Modes(epochs=5)", "atoll.Modes has no `epochs`; it has llc, local_ways, profile, epoch_cycles"),
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

    def test_modes_can_be_compared_and_read_and_a_log_is_whole(self):
        log = os.path.join(self.folder, "log")
        self.digest("--policy", self.policy(f"""\
            import atoll, atexit, numpy
            log, at_exit = open({log!r}, "w"), open({log + ".end"!r}, "w")
            atexit.register(lambda: at_exit.write("ended"))
            class Policy:
                roles = ("memory_side", "sm_side")
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start):
                    modes = atoll.Modes(llc="sm_side", epoch_cycles=numpy.int64(700))
                    assert modes == atoll.Modes(llc="sm_side", epoch_cycles=700) and modes != atoll.Modes()
                    assert (modes.llc, modes.epoch_cycles, modes.profile) == ("sm_side", 700, False)
                    log.write(f"kernel {{kernel}}\\n")
                    return modes
            """))
        for name, said in ((log, "kernel 0\nkernel 1\nkernel 2\n"), (log + ".end", "ended")):
            with open(name, encoding="utf-8") as file:
                self.assertEqual(file.read(), said)

    def test_under_a_protocol_that_keeps_no_remote_lines_no_result_says_otherwise(self):
        path = self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side", "sm_side")
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start):
                    return atoll.Modes(llc="sm_side"), atoll.Decision("sm_side")
            """)
        for protocol in ("none_remote", "l1_only"):
            out = os.path.join(self.folder, "out.h5")
            self.digest("--policy", path, "-o", out, "-f", settings=["coherence.protocol=" + protocol])
            said = program.run(["info", out]).out
            self.assertRegex(said, r"decisions +memory_side 3\n")

    def test_a_trace_that_changes_while_it_runs_has_no_result(self):
        for number in range(1, 4):
            with open(os.path.join(self.folder, f"kernel-{number}.traceg"), "w", encoding="utf-8") as file:
                file.write(sass_trace.kernel(loads=number))
        with open(os.path.join(self.folder, "kernelslist.g"), "w", encoding="utf-8") as file:
            file.writelines(f"kernel-{number}.traceg\n" for number in range(1, 4))
        path = self.policy("""\
            import atoll, os
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start):
                    last = os.path.join(os.environ["TRACE"], "kernel-3.traceg")
                    with open(last, encoding="utf-8") as file: text = file.read()
                    with open(last, "w", encoding="utf-8") as file: file.write(text.replace(*os.environ["CHANGE"].split(",")))
                    return atoll.Modes()
            """)
        output = os.path.join(self.folder, "out.h5")
        self.addCleanup(os.environ.pop, "TRACE")
        self.addCleanup(os.environ.pop, "CHANGE")
        os.environ["TRACE"] = self.folder
        for ranks in (None, 3):
            os.environ["CHANGE"] = "a,a"  # written to, to the same contents
            outcome = program.run(["run", "sac-4chip", "-w", self.folder, "--policy", path, "-f", "-o", output], ranks)
            self.assertEqual(outcome.code, 0, outcome)
            os.remove(output)
            os.environ["CHANGE"] = ("R4 LDG,R5 LDG", "R5 LDG,R4 LDG")[ranks is not None]
            outcome = program.run(["run", "sac-4chip", "-w", self.folder, "--policy", path, "-f", "-o", output], ranks)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertIn("kernel-3.traceg: has changed since the run began", outcome.err)
            self.assertFalse(os.path.exists(output))

    def test_a_result_names_no_role_that_chips_do_not_have(self):
        text = """\
            import atoll
            class Policy:
                roles = ("memory_side", "sm_side")
                switches = True
                def __init__(self, config): self.n = 0
                def at_kernel_start(self, kernel, start): return atoll.Modes(epoch_cycles=500)
                def at_epoch_end(self, epoch):
                    self.n += 1
                    if self.n == 1: return atoll.Modes(llc="sm_side", epoch_cycles=500), atoll.Decision("sm_side")
                    return atoll.Modes(epoch_cycles=500), atoll.Decision("memory_side")
            """
        self.digest("--policy", self.policy(text))
        self.assertIn("at_epoch_end returns modes with `llc` = memory_side and no decision, and in reports `sm_side`",
                      self.refused("--policy", self.policy(text.replace(', atoll.Decision("memory_side")', ""))))
        self.assertIn("at_kernel_end decides `memory_side`, and no chip obeys that", self.refused("--policy", self.policy("""\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes()
                def at_kernel_end(self, end): return atoll.Decision("memory_side")
            """)))

    def test_a_sampled_run_says_that_the_policy_sees_fewer_launches(self):
        said = "warning: --sample calls .*alternating.py for launches that are simulated alone"
        outcome = run("--policy", PYTHON, "--sample", "error=5%")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.err, said)
        self.assertNotRegex(run("--policy", PYTHON).err, said)

    def test_zero_divided_by_zero_decides_nothing(self):
        text = """\
            import atoll
            class Policy:
                roles = ("memory_side", "sm_side")
                switches = True
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes(epoch_cycles=500)
                def at_epoch_end(self, epoch):
                    better = epoch.crd_hits.sum() / epoch.crd_requests.sum() > 0.5
                    return atoll.Modes(llc="sm_side" if better else "memory_side", epoch_cycles=500)
            """
        self.assertIn("mine.py:8: FloatingPointError: invalid value", self.refused("--policy", self.policy(text)))

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
                               ("'sm_side '", "at_kernel_start returns a decision whose choice, `sm_side `, has a blank at an end"),
                               ("' a'", "at_kernel_start returns a decision whose choice, ` a`, has a blank at an end"),
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

    def test_modules_where_a_run_starts_and_beside_the_policy_do_not_take_the_place_of_pythons_own(self):
        with open(os.path.join(self.folder, "statistics.py"), "w", encoding="utf-8") as f:
            f.write("raise ImportError('not this one')\n")
        path = self.policy("""\
            import statistics, sys
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): assert "" not in sys.path and statistics.median([1, 2, 4]) == 2
                def at_kernel_start(self, kernel, start): return atoll.Modes()
            """)
        outcome = program.run(["run", "sac-4chip", "-w", program.workload("stores"), "--policy", path, *program.sets(*program.SMALL)],
                              cwd=self.folder)
        self.assertEqual(outcome.code, 0, outcome)

    def test_a_policy_that_cannot_be_saved_loses_a_checkpoint_and_not_the_run(self):
        text = """\
            import atoll
            class Policy:
                roles = ("memory_side",)
                def __init__(self, config): pass
                def at_kernel_start(self, kernel, start): return atoll.Modes()
                def save(self): {}
                def load(self, data): {}
            """
        out = os.path.join(self.folder, "out.h5")
        fails = 'raise ValueError("not now")'
        for save, load, line in ((fails, "pass", 6), ('return b"1"', fails, 7)):  # what does not load is tried before it is kept
            path = self.policy(text.format(save, load))
            for ranks in (None, 3):
                outcome = run("--policy", path, "-o", out, "--checkpoint-every", "2000", "-f", ranks=ranks)
                self.assertEqual(outcome.code, 0, outcome)
                self.assertRegex(outcome.err, rf"no checkpoint at cycle \d+, and the run goes on: .*mine.py:{line}: ValueError: not now")
                self.assertEqual(outcome.err.count("no checkpoint at cycle"), 1, outcome)
                self.assertEqual(glob.glob(out + "*.ckpt"), [])

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
        self.assertIn("mine.py: at_epoch_end was never called, as no kernel ran for `epoch_cycles`", watch(10 ** 8)[1])

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

    def test_checkpoints_need_save_and_load_and_then_go_on_with_the_same_digest(self):
        out = os.path.join(self.folder, "out.h5")
        more = ["--checkpoint-every", "2000"]
        self.assertIn("has no methods `save` and `load`, which checkpoints need", self.refused("--policy", PYTHON, "-o", out, *more))
        alone = self.digest("--policy", SAC, "-o", out, *more, "--force")
        checkpoint = sorted(glob.glob(out + ".*.ckpt"))[0]
        resumed = program.run(["resume", checkpoint, "--force"])
        self.assertEqual(resumed.code, 0, resumed)
        self.assertEqual(resumed.digest(), alone)


if __name__ == "__main__":
    unittest.main()
