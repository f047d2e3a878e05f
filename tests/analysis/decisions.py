"""Decisions of a run: whose they are, how long each rules, and what came of it."""

import dataclasses

import support
import pandas as pd

import atoll_analysis
from atoll_analysis import rates
from atoll_analysis.decisions import judged, options, reigns
from atoll_analysis.policies import chooses_organisation, policy_of


class Decisions(support.FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.run_ = atoll_analysis.load(self.result("sac.h5"))

    def test_a_decision_is_judged_by_what_came_until_its_kernel_ended(self) -> None:
        table = judged(self.run_)
        self.assertEqual(set(options(self.run_)), {"memory_side", "sm_side"})
        first = self.run_.decisions.iloc[0]
        end = float(self.run_.kernels["finished"].iloc[int(first["kernel"])])
        self.assertEqual(table["ruled"].iloc[0], end - first["cycle"])
        self.assertEqual(table["hit.predicted"].iloc[0], first[f"{first['choice']}.hit"])
        of = rates.during(self.run_, [first["cycle"]], [end], ["llc.hits", "llc.merges", "llc.accesses"]).iloc[0]
        self.assertAlmostEqual(table["hit.measured"].iloc[0], (of["llc.hits"] + of["llc.merges"]) / of["llc.accesses"])

    def test_measured_bandwidth_is_of_as_much_of_the_system_as_the_models(self) -> None:
        whole = judged(self.run_)["bandwidth.measured"].iloc[0]
        begin, end = reigns(self.run_).iloc[0]
        taken = rates.during(self.run_, [begin], [end], ["noc.response_bytes"])["noc.response_bytes"][0]
        self.assertAlmostEqual(whole, taken / (end - begin))  # at 1 GHz, bytes per cycle are GB/s
        run = atoll_analysis.load(self.result("selrep.h5"))   # 1.4 GHz, four routers, of which the model has one
        begin, end = reigns(run).iloc[0]
        taken = rates.during(run, [begin], [end], ["noc.response_bytes"])["noc.response_bytes"][0]
        self.assertAlmostEqual(judged(run)["bandwidth.measured"].iloc[0], taken / (end - begin) * 1.4 / 4)

    def deciding(self, decisions: list[tuple[int, int, str]], **keys: object) -> atoll_analysis.Result:
        """The run, with decisions of these kernels and cycles, and keys."""
        made = pd.DataFrame(decisions, columns=["kernel", "cycle", "choice"])
        config_of = pd.Series({**self.run_.config.to_dict(), **{k.replace("__", "."): v for k, v in keys.items()}}, dtype=object)
        return dataclasses.replace(self.run_, decisions=made, config=config_of)

    def policies(self, *choices: str, **keys: object) -> list[str]:
        run = self.deciding([(0, 10_000 * at, choice) for at, choice in enumerate(choices)], **keys)
        found = policy_of(run.config, run.decisions)
        self.assertEqual(chooses_organisation(run.config, run.decisions), "organisation" in set(found))
        return list(found)

    def test_whose_a_decision_is_follows_from_what_the_runs_policies_can_choose(self) -> None:
        for replication in ("selrep", "policy"):
            self.assertEqual(self.policies("shared degree_2", "sm_side", "profile", llc__replication=replication),
                             ["replication", "organisation", "organisation"])
        self.assertEqual(self.policies("private", "profile", "shared", llc__replication="adaptive", adaptive__epoch_cycles=9000),
                         ["replication"] * 3)
        self.assertEqual(self.policies("2048 B", coherence__protocol="rec_adaptive"), ["range"])
        self.assertEqual(self.policies("local ways 8 8", llc__organisation="dynamic"), ["organisation"])
        # A plug-in's choices are texts of its own, whatever others would mean by them.
        own = ("shared", "degree_2", "64 B", "profile", "shared by all")
        self.assertEqual(self.policies(*own, llc__organisation="plugin", llc__replication="degree_2"), ["organisation"] * 5)
        self.assertEqual(self.policies("shared by all", llc__organisation="plugin", llc__replication="selrep"), ["organisation"])

    def test_of_two_policies_that_profile_each_has_its_own_profiles(self) -> None:
        made = [(0, 2000, "memory_side"), (0, 2000, "shared"), (0, 3900, "profile"), (0, 4500, "profile"), (0, 5300, "memory_side"),
                (0, 6700, "profile"), (1, 30000, "profile")]
        run = self.deciding(made, llc__replication="adaptive", adaptive__epoch_cycles=2500)
        self.assertEqual([at for at, policy in enumerate(policy_of(run.config, run.decisions)) if policy == "replication"], [1, 3])

    def test_a_decision_ends_with_its_kernel_unless_the_policy_carries_it_over(self) -> None:
        first, second, *_ = (float(end) for end in self.run_.kernels["finished"])
        last = float(self.run_.cycles)
        cases: list[tuple[tuple[str, str], dict[str, object], bool]] = [
            (("sm_side", "profile"), {"llc__organisation": "sac"}, False),
            (("local ways 8 8", "local ways 4 8"), {"llc__organisation": "dynamic"}, False),
            (("mine", "yours"), {"llc__organisation": "plugin"}, False),
            (("shared", "private"), {"llc__replication": "policy"}, False),
            (("private", "profile"), {"llc__replication": "adaptive", "adaptive__epoch_cycles": 50}, False),
            (("private private", "shared degree_2"), {"llc__replication": "selrep"}, True)]
        for words, keys, carried in cases:
            with self.subTest(words):
                ruled = reigns(self.deciding([(0, 100, words[0]), (0, 200, words[1]), (1, int(second) - 10, words[0])], **keys))
                self.assertEqual(list(ruled["begin"]), [100, 200, second - 10])
                self.assertEqual(list(ruled["end"]), [200, second - 10, last] if carried else [200, first, second])

    def test_a_decision_at_a_kernels_end_is_for_the_next_one(self) -> None:
        first, second, *_ = (float(end) for end in self.run_.kernels["finished"])
        of = [(0, int(first), "a")]
        self.assertEqual(list(reigns(self.deciding(of, llc__organisation="plugin"))["end"]), [second])
        ranges = self.deciding([(0, int(first), "2048 B")], coherence__protocol="rec_adaptive")
        self.assertEqual(list(reigns(ranges)["end"]), [self.run_.cycles])  # goes on until another is chosen

    def test_each_of_two_policies_rules_until_its_own_next_decision(self) -> None:
        first, second, *_ = (float(end) for end in self.run_.kernels["finished"])
        made = [(0, 100, "sm_side"), (0, 200, "shared degree_2"), (1, int(first) + 1500, "memory_side"), (0, 500, "private private"),
                (1, int(first) + 1600, "shared")]
        self.assertEqual(list(reigns(self.deciding(made, llc__organisation="sac", llc__replication="selrep"))["end"]),
                         [first, 500, second, first + 1600, self.run_.cycles])


if __name__ == "__main__":
    support.unittest.main()
