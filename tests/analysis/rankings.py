"""What a sweep's page says of who is fastest where, and why, against runs made by hand."""

import dataclasses
import json
import pathlib

import support
import numpy as np
import pandas as pd

import atoll_analysis
from atoll_analysis import sweep_report
from atoll_analysis.rankings import alone, because, rankings, sentences
from atoll_analysis.sweeps import Sweep
from atoll_analysis.units import seconds
from atoll_analysis.work import Count

# cycles, and what they were spent on: [workload, organisation, bandwidth]
RUNS = {
    ("web", "mem", 48): {"issue": 100.0, "link_in": 100.0, "flush": 0.0},
    ("web", "sm", 48): {"issue": 100.0, "link_in": 20.0, "flush": 30.0},
    ("web", "sac", 48): {"issue": 100.0, "link_in": 60.0, "flush": 20.0},
    ("web", "mem", 96): {"issue": 100.0, "link_in": 10.0, "flush": 0.0},
    ("web", "sm", 96): {"issue": 100.0, "link_in": 2.0, "flush": 30.0},
    ("web", "sac", 96): {"issue": 100.0, "link_in": 11.0, "flush": 0.0},
}


def sweep(runs: dict, deciding: str = "sac") -> Sweep:
    index = pd.MultiIndex.from_tuples([(w, f"{o}-{b}") for w, o, b in runs], names=["workload", "variant"])
    configs = pd.DataFrame([{"llc.organisation": o, "link.bandwidth_gbps": b} for _, o, b in runs], index=index, dtype=object)
    table = pd.DataFrame([{"workload": w, "variant": f"{o}-{b}", "cycles": sum(spent.values()), "sampled": False, "llc.organisation": o,
                           "link.bandwidth_gbps": b} for (w, o, b), spent in runs.items()])
    return Sweep(pathlib.Path("made"), {}, ("web",), tuple(table["variant"]), table, configs,
                 pd.DataFrame(list(runs.values()), index=index),
                 pd.Series([o == deciding for _, o, _ in runs], index=index),
                 pd.DataFrame({"l1.sector_accesses": [Count(1000)] * len(index)}, index=index), {})


def counts(of: Sweep, values: list[int]) -> pd.DataFrame:
    """As if the runs had counted so much of everything."""
    return pd.DataFrame({name: [Count(value) for value in values] for name in of.counted}, index=of.counted.index)


class Rankings(support.unittest.TestCase):
    def test_organisations_are_compared_at_the_same_bandwidth_fastest_first(self) -> None:
        found = rankings(sweep(RUNS))
        self.assertEqual([dict(r.at) for r in found], [{"link.bandwidth_gbps": 48}, {"link.bandwidth_gbps": 96}])
        self.assertEqual(list(found[0].cycles.items()), [("sm", 150), ("sac", 180), ("mem", 200)])
        self.assertEqual(list(found[1].cycles.items()), [("mem", 110), ("sac", 111), ("sm", 132)])
        self.assertEqual([r.winners for r in found], [["sm"], ["mem", "sac"]])  # 1 of 110 is less than 1 %

    def test_the_cause_is_what_the_slower_one_spends_more_cycles_on(self) -> None:
        narrow, wide = rankings(sweep(RUNS))
        self.assertEqual(narrow.causes("mem").to_dict(), {"links inwards": 80})
        self.assertEqual(because(narrow, "mem"), "links inwards +53 %")
        self.assertEqual(wide.causes("sm").to_dict(), {"flush": 30})

    def test_sentences_name_fastest_cause_and_policies_that_lose_to_a_fixed_choice(self) -> None:
        self.assertEqual(sentences(rankings(sweep(RUNS))), [
            "web: fastest is sm at 48 (sac: links inwards +27 %), mem and sac at 96 (sm: flush +27 %); by link.bandwidth_gbps.",
            "warning: sac chooses, and is slower than a fixed choice in 1 of 2 places; most, 20 %, with web, "
            "link.bandwidth_gbps = 48: links inwards +27 %."])
        self.assertEqual(len(sentences(rankings(sweep(RUNS, deciding="none")))), 1)

    def test_a_contender_may_have_an_and_in_its_name(self) -> None:
        made = sweep({("web", "sm and l2", 48): {"issue": 100.0, "link_in": 0.0},
                      ("web", "mem", 48): {"issue": 100.0, "link_in": 50.0}})
        self.assertEqual(sentences(rankings(made)), ["web: fastest is sm and l2 (mem: links inwards +50 %)."])

    def test_policies_that_lose_are_in_the_order_of_their_times(self) -> None:
        made = sweep({("web", "fixed", 48): {"issue": 100.0}, **{("web", f"p{n}", 48): {"issue": 190.0 - 10 * n} for n in range(8)}})
        said = sentences(rankings(dataclasses.replace(made, decides=made.decides | (made.runs["llc.organisation"] != "fixed").to_numpy())))
        self.assertEqual([line.split()[1] for line in said[1:]], [f"p{n}" for n in reversed(range(8))])

    def test_with_core_clocks_that_differ_times_are_ranked_and_the_causes_are_of_times(self) -> None:
        made = sweep({key: spent for key, spent in RUNS.items() if key[2] == 48})  # sm 150, sac 180, mem 200 cycles
        configs = made.configs.assign(**{"core_clock_mhz": [2000.0, 1000.0, 1000.0], "link.bandwidth_gbps": 48})
        found = rankings(dataclasses.replace(made, configs=configs, runs=made.runs.drop(columns="link.bandwidth_gbps").assign(
            core_clock_mhz=list(map(str, configs["core_clock_mhz"])))))  # a text: no place, but part of who is compared
        self.assertEqual([list(r.cycles) for r in found], [[200, 150, 180]])
        np.testing.assert_allclose(found[0].times, [100e-9, 150e-9, 180e-9])
        np.testing.assert_allclose(found[0].behind(), [0, 0.5, 0.8])
        # sm: 100 ns issue, 20 ns links, 30 ns flush; mem: 50 ns issue, 50 ns links
        self.assertEqual(because(found[0], "sm 1000.0"), "issue +50 %, flush +30 %")
        self.assertIn("warning: sac 1000.0 chooses, and is slower than a fixed choice in 1 of 1 places; most, 80 %, with web: "
                      "issue +50 %, flush +20 %.", sentences(found))

    def test_without_another_key_the_numbers_themselves_are_compared(self) -> None:
        found, key = rankings(sweep({run: spent for run, spent in RUNS.items() if run[1] == "mem"})), "link.bandwidth_gbps"
        self.assertEqual([list(r.cycles.items()) for r in found], [[(f"{key}=96", 110), (f"{key}=48", 200)]])
        self.assertEqual(sentences(found), [f"web: fastest is {key}=96 ({key}=48: links inwards +82 %)."])

    def test_a_number_of_single_variants_is_part_of_who_is_compared_and_one_in_common_is_a_place(self) -> None:
        made = sweep(RUNS)
        entries = [8192, 8192, 512, 8192, 8192, 512]  # of sac alone
        own = dataclasses.replace(made, runs=made.runs.assign(entries=entries), configs=made.configs.assign(entries=entries))
        found = rankings(own)
        self.assertEqual([dict(r.at) for r in found], [{"link.bandwidth_gbps": 48}, {"link.bandwidth_gbps": 96}])
        self.assertEqual(list(found[0].cycles.index), ["sm", "sac entries=512", "mem"])
        self.assertEqual(alone(own, found), "")

    def test_who_has_numbers_that_no_other_has_is_named(self) -> None:
        made = sweep({**RUNS, ("web", "colab", 24): {"issue": 1.0, "link_in": 0.0, "flush": 0.0}})
        self.assertEqual(alone(made, rankings(made)),
                         "Not ranked, as nothing else has their numbers: colab-24 (link.bandwidth_gbps=24).")
        self.assertEqual(alone(sweep(RUNS), rankings(sweep(RUNS))), "")

    def test_a_swept_number_is_a_place_while_most_runs_are_missing(self) -> None:
        made = sweep({key: RUNS[key] for key in (("web", "mem", 48), ("web", "sm", 48), ("web", "sac", 96))})
        swept = dataclasses.replace(made, experiment={"sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96]}]})
        self.assertEqual([dict(r.at) for r in rankings(swept)], [{"link.bandwidth_gbps": 48}])
        self.assertIn("sac-96", alone(swept, rankings(swept)))

    def test_runs_of_different_scales_are_ranked_apart(self) -> None:
        made = sweep({key: spent for key, spent in RUNS.items() if key[1] == "mem"})  # would be ranked by bandwidth
        self.assertEqual(len(rankings(made)), 1)
        scaled = dataclasses.replace(made, runs=made.runs.assign(scale=[16, 32]), configs=made.configs.assign(scale=[16, 32]))
        self.assertEqual(rankings(scaled), [])

    def test_runs_of_other_pages_are_ranked_apart_where_their_work_differs(self) -> None:
        made = sweep({key: spent for key, spent in RUNS.items() if key[1] == "mem"})
        pages = {"partition.page_kib": [4, 64]}
        paged = dataclasses.replace(made, runs=made.runs.assign(**pages), configs=made.configs.assign(**pages))
        self.assertEqual((len(rankings(paged)), paged.work_note), (1, ""))
        other = dataclasses.replace(paged, counted=counts(paged, [5, 6]))
        self.assertEqual(rankings(other), [])
        self.assertIn("different work (partition.page_kib 4, 64)", other.work_note)
        both = made.configs.assign(**{"partition.page_kib": [4, 64], "chips": [2, 2]})
        self.assertEqual(dataclasses.replace(other, configs=both).work_keys, ["partition.page_kib"])

    def test_only_those_of_chips_and_pages_are_other_work_that_change_it(self) -> None:
        made = sweep({key: spent for key, spent in RUNS.items() if key[0] == "web" and key[1] != "sac"})
        laid_out = made.configs.assign(**{"chips": [2, 2, 4, 4], "partition.page_kib": [4, 64, 4, 64]})
        for done, keys in (([5, 5, 5, 5], []), ([5, 5, 7, 7], ["chips"]), ([5, 6, 5, 6], ["partition.page_kib"]),
                           ([5, 6, 7, 8], ["chips", "partition.page_kib"])):
            self.assertEqual(dataclasses.replace(made, configs=laid_out, counted=counts(made, done)).work_keys, keys)

    def test_runs_of_an_old_atoll_are_ranked_without_causes(self) -> None:
        old = sweep(RUNS)
        bare = dataclasses.replace(old, spent=pd.DataFrame(index=old.spent.index))
        found = rankings(bare)
        self.assertEqual([r.fastest for r in found], ["sm", "mem"])
        self.assertEqual(because(found[0], "mem"), "")
        self.assertEqual(sentences(found)[0], "web: fastest is sm at 48, mem and sac at 96; by link.bandwidth_gbps.")

    def test_sampled_runs_are_ranked_without_causes_which_would_be_of_other_launches(self) -> None:
        made = sweep(RUNS)
        found = rankings(dataclasses.replace(made, runs=made.runs.assign(sampled=[True] + [False] * 5)))
        self.assertEqual([r.sampled for r in found], [True, False])
        self.assertEqual(because(found[0], "mem"), "")
        said = sentences(found)
        self.assertEqual(said[0], "web: fastest is sm at 48, mem and sac at 96 (sm: flush +27 %); by link.bandwidth_gbps.")
        self.assertTrue(said[1].endswith("most, 20 %, with web, link.bandwidth_gbps = 48."))
        self.assertTrue(said[-1].startswith("No reasons are given for sampled runs: "))
        self.assertNotIn("No reasons", " ".join(sentences(rankings(made))))

    def test_one_variant_alone_has_no_ranking(self) -> None:
        self.assertEqual(rankings(sweep({("web", "mem", 48): RUNS["web", "mem", 48]})), [])


class Pages(support.FolderTest):
    @support.without_drawings
    def test_the_page_of_a_sweep_has_the_sentences_and_a_row_for_each_place(self) -> None:
        read = atoll_analysis.load_sweep(self.sweep())
        found = rankings(read)
        self.assertTrue(found)
        page = sweep_report.page(read, self.folder)
        self.assertIn("What is fastest, and why", page)
        for line in sentences(found):
            self.assertIn(line, page)

    @support.without_drawings
    def test_the_page_of_a_sampled_sweep_says_why_it_has_no_reasons(self) -> None:
        folder = self.sweep()
        experiment = json.loads((folder / "experiment.json").read_text())
        (folder / "experiment.json").write_text(json.dumps({**experiment, "sample": "error=3%"}))
        for path in folder.glob("*__*.h5"):
            support.make_sampled(path)
        read = atoll_analysis.load_sweep(folder)
        spent = pd.DataFrame({"issue": [1e3, 2e3] * 3, "link_in": [5e3, 1e2] * 3}, index=read.spent.index)
        read = dataclasses.replace(read, spent=spent)
        self.assertEqual((len(read.runs), [r.spent.empty for r in rankings(read)]), (6, [True, True]))
        self.assertIn("No reasons are given for sampled runs", sweep_report.page(read, self.folder))

    @support.without_drawings
    def test_the_page_says_that_runs_of_different_scales_are_not_compared_and_only_there(self) -> None:
        folder = self.sweep()
        self.assertNotIn("different work", sweep_report.page(atoll_analysis.load_sweep(folder), self.folder))
        support.set_for_variant(folder / "experiment.json", "narrow", "scale", 16)
        read = atoll_analysis.load_sweep(folder)
        self.assertIn(read.work_note, sweep_report.page(read, self.folder))

    @support.without_drawings
    def test_the_page_says_that_times_are_compared_where_core_clocks_differ_and_only_there(self) -> None:
        folder = self.sweep()
        self.assertNotIn("core clocks", sweep_report.page(atoll_analysis.load_sweep(folder), self.folder))
        experiment = json.loads((folder / "experiment.json").read_text())
        experiment["variants"] = [{**v, "baseline": "sm"} for v in experiment["variants"][1:]]  # differ by numbers alone
        (folder / "experiment.json").write_text(json.dumps(experiment))
        support.set_clock(folder / "experiment.json", "narrow", 1500.0)
        read = atoll_analysis.load_sweep(folder)
        page = sweep_report.page(read, self.folder)
        self.assertIn(read.clock_note, page)
        self.assertIn("Time of the baseline over own time", page)
        self.assertNotIn("Cycles of the baseline over own cycles", page)
        self.assertIn("what the others spend more time on", page)
        self.assertEqual([dict(r.at) for r in rankings(read)], [{}, {}])
        for ranking in rankings(read):
            self.assertIn(seconds(ranking.times.iloc[0]), page)


if __name__ == "__main__":
    support.main()
