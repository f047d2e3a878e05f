"""Runs of one workload side by side: parts add up to the difference of the run times, policies that choose are judged, and
what cannot be compared is refused."""

import contextlib
import dataclasses
import html
import io
import os
import pathlib
import pickle
import subprocess
import sys

import support
import numpy as np
import pandas as pd

import atoll_analysis
from atoll_analysis import cli, comparison, comparison_report, rates, roofline
from atoll_analysis.energy_range import mean_range, ratio_range
from atoll_analysis.palette import LIGHT
from atoll_analysis.result import load_head

ORGANISATIONS = ("memory_side", "sm_side", "sac")
SMALL = ["sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2", "sac.window_cycles=1000",
         "link.bandwidth_gbps=8", "control.sample_cycles=1000"]


class SideBySide(support.FolderTest):
    def simulate(self, name: str, workload: "os.PathLike[str]", *sets: str) -> pathlib.Path:
        path = self.folder / f"{name}.h5"
        words = [word for key in [*SMALL, *sets] for word in ("--set", key)]
        subprocess.run([os.environ["ATOLL"], "run", "sac-4chip", "-w", str(workload), *words, "-o", str(path), "--force", "-q"],
                       check=True, capture_output=True)
        return path

    def setUp(self) -> None:
        super().setUp()
        self.paths = [self.simulate(o, support.DATA / "workload.json", f"llc.organisation={o}") for o in ORGANISATIONS]
        self.results = [atoll_analysis.load(path) for path in self.paths]
        self.compared = comparison.compare(self.results)

    def test_labels_say_what_differs(self) -> None:
        self.assertEqual(list(self.compared.runs), list(ORGANISATIONS))
        self.assertEqual(comparison.label([self.results[0], self.results[0]]), [str(self.paths[0])] * 2)
        again = self.simulate("wide", support.DATA / "workload.json", "llc.organisation=sac", "link.bandwidth_gbps=64")
        self.assertEqual(comparison.label([self.results[2], atoll_analysis.load(again)]), ["sac", "wide"])  # of the files
        self.assertEqual(list(comparison.keys_that_differ(self.compared).index), ["llc.organisation"])

    def test_parts_add_up_to_the_run_times_and_their_differences_to_what_separates_these(self) -> None:
        base = self.results[0].cycles
        for name, result in self.compared.runs.items():
            self.assertAlmostEqual(self.compared.cycles[name].sum(), result.cycles, delta=1e-6 * result.cycles)
            self.assertAlmostEqual(self.compared.speedups[name], base / result.cycles)
        more = self.compared.differences()
        for name in more:
            self.assertAlmostEqual(more[name].sum(), self.compared.runs[str(name)].cycles - base, delta=1e-6 * base)
        sizes = more.abs().max(axis=1).to_numpy()
        self.assertTrue((np.diff(sizes) <= 0).all(), "what separates most stands first")

    def test_the_roofline_is_the_share_of_the_bandwidths_that_atoll_explain_has(self) -> None:
        found = roofline.bounds(self.results[0])
        said = subprocess.run([os.environ["ATOLL"], "explain", str(self.paths[0])], check=True, capture_output=True,
                              encoding="utf-8").stdout
        for name, words in (("LLC", "LLC slices"), ("links", "links outwards"), ("DRAM", "DRAM data buses")):
            busy = next(line.split() for line in said.split("% busy")[1].splitlines() if line.strip().startswith(words))
            self.assertAlmostEqual(100 * found.at[name, "share"], float(busy[len(words.split())]), delta=0.06)
        chart = comparison_report.charts(self.compared)["roofline"]
        axes = chart.draw(LIGHT).figure.axes[0]
        issued = {name: r.totals["warp.instructions"].sum() / r.cycles for name, r in self.compared.runs.items()}
        marks = [line for line in axes.lines if line.get_marker() in ("o", "s", "D") and len(line.get_xdata()) == 1]
        self.assertEqual(len(marks), 9)
        for at, (run, ipc) in enumerate(issued.items()):
            for line, intensity in zip(marks[3 * at:], roofline.bounds(self.compared.runs[run])["intensity"]):
                self.assertAlmostEqual(line.get_ydata()[0], ipc)
                self.assertAlmostEqual(line.get_xdata()[0], intensity)
        for line, (_, of) in zip(axes.lines, found.iterrows()):  # roofs: as many instructions as the bytes allow
            self.assertAlmostEqual(line.get_ydata()[0] / line.get_xdata()[0], of["most"])
        self.assertEqual([t.get_text() for t in axes.get_legend().get_texts()], ["LLC", "links", "DRAM", *ORGANISATIONS])

    def test_time_lines_lie_upon_each_other(self) -> None:
        figure = comparison_report.charts(self.compared)["overlay"].draw(LIGHT).figure
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        self.assertEqual(titles[:3], ["Warp instructions per cycle, all chips", "LLC hit rate",
                                      "Links: outgoing bandwidth used, mean of ports"])
        for result, line in zip(self.results, [x for x in figure.axes[0].lines if x.get_label() in ORGANISATIONS], strict=True):
            issued = line.get_ydata()[:-1] * np.diff(line.get_xdata())
            counted = rates.by_chip(result.counters, "warp.instructions").sum(axis=1)
            self.assertTrue(np.isnan(issued[-1]))  # of a period that the end cuts short there is no rate
            self.assertAlmostEqual(issued[:-1].sum(), counted[:-1].sum(), delta=1)
            self.assertEqual(line.get_xdata()[-1], rates.edges(result.counters)[-1])

    def test_decisions_say_what_was_promised_and_what_was_needed(self) -> None:
        made = comparison.choices(self.results[2])
        self.assertEqual(set(made["choice"]) - {"sm_side", "memory_side"}, set())
        for _, row in made.iterrows():
            self.assertAlmostEqual(row["lead"], row["sm_side"] / row["memory_side"] - 1)
            self.assertEqual(row["choice"] == "sm_side", row["lead"] > row["needed"])
        self.assertTrue((made["needed"] == 0.05).all())
        self.assertEqual([r.decides for r in self.results], [False, False, True])

    def test_a_policy_that_loses_to_what_does_not_choose_is_flagged(self) -> None:
        best = min(self.results[:2], key=lambda r: r.cycles)
        for factor, flagged in ((1.3, True), (1.005, False)):
            chosen = dataclasses.replace(self.results[2], cycles=round(best.cycles * factor))
            found = comparison.beaten(comparison.compare([*self.results[:2], chosen]))
            self.assertEqual(set(found), {"sac"} if flagged else set())
            if flagged:
                self.assertEqual(found["sac"][0], best.config["llc.organisation"])
                self.assertAlmostEqual(found["sac"][1], 0.3, 3)

    def test_who_replicates_chooses_no_organisation_and_is_not_said_to_lose_to_one(self) -> None:
        adaptive = ("llc.replication=adaptive", "adaptive.window_cycles=1000", "adaptive.epoch_cycles=2500")
        path = self.simulate("adaptive", support.DATA / "workload.json", *adaptive)
        run = atoll_analysis.load(path)
        self.assertIn("profile", set(run.decisions["choice"]))
        self.assertEqual((run.decides, load_head(path).decides, len(comparison.choices(run))), (False, False, 0))
        slow = comparison.compare([self.results[0], dataclasses.replace(run, cycles=2 * self.results[0].cycles)])
        self.assertEqual(comparison.beaten(slow), {})
        self.assertNotIn("chose", " ".join(comparison_report.lines(slow)))
        both = atoll_analysis.load(self.simulate("both", support.DATA / "workload.json", "llc.organisation=sac", *adaptive))
        self.assertLess({"shared.bandwidth", "sm_side.eab"}, set(both.decisions))
        made = comparison.choices(both)
        self.assertTrue(both.decides and set(made["choice"]) <= {"sm_side", "memory_side"}, made)
        self.assertEqual(list(made), ["kernel", "cycle", "choice", "ruled", "memory_side", "sm_side", "lead", "needed"])

    def test_the_command_writes_a_page_and_says_it_in_a_few_lines(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(cli.report([str(p) for p in self.paths]), 0)
        text = said.getvalue().splitlines()
        self.assertEqual(text[0], str(self.folder / "comparison.html"))
        self.assertEqual(text[1:], comparison_report.lines(self.compared))
        for name, result in self.compared.runs.items():
            self.assertTrue(any(line.startswith(name) and f"{result.cycles:,} cycles" in line for line in text), text)
        page = (self.folder / "comparison.html").read_text(encoding="utf-8")
        for part in ("Where the cycles went",
                     "The runs over time", "Bandwidth of LLC, links and DRAM", "Decisions of sac", "lead needed", "Keys that differ"):
            self.assertIn(part, page)
        self.assertIn("links, by the busiest port", page)  # more than the bytes between chips on the same page
        self.assertNotIn("http://", page.replace("http://www.w3.org", ""))
        self.assertRegex(page, r">\+\d+\.\d %<")
        self.assertNotRegex(page, r">-\d|>[-−+]0(\.0 %)?<", "one sign for minus, none before 0")

    @support.without_drawings
    def test_with_core_clocks_that_differ_times_are_compared_in_cycles_of_the_baselines_clock(self) -> None:
        base, other = self.results[0], self.results[2]
        fast = dataclasses.replace(other, config=pd.Series({**other.config.to_dict(), "core_clock_mhz": 2000.0}, dtype=object))
        found = comparison.compare([base, fast])
        self.assertAlmostEqual(found.speedups["sac"], 2 * base.cycles / other.cycles)
        self.assertAlmostEqual(found.cycles["sac"].sum(), other.cycles / 2, delta=1e-6 * other.cycles)
        self.assertAlmostEqual(found.differences()["sac"].sum(), other.cycles / 2 - base.cycles, delta=1e-6 * base.cycles)
        self.assertEqual(list(found.kernels["sac"]), list(other.kernels["cycles"] / 2))
        self.assertEqual(comparison.beaten(found), {})
        slow = comparison.compare([fast, base])
        self.assertAlmostEqual(slow.speedups["memory_side"], other.cycles / 2 / base.cycles)
        said, page = comparison_report.lines(found), comparison_report.page(found)
        self.assertIn(f"{other.cycles:,} cycles at 2000 MHz", said[1])
        self.assertIn("different core clocks (1000, 2000 MHz)", said[-1])
        self.assertIn("different core clocks (1000, 2000 MHz)", page)
        self.assertIn("cycles of memory_side&#39;s clock", page)
        lines = comparison_report.charts(found)["overlay"].draw(LIGHT).figure.axes[0].lines
        self.assertEqual([x.get_xdata()[-1] for x in lines if x.get_label() in found.runs],
                         [rates.edges(base.counters)[-1], rates.edges(other.counters)[-1] / 2])
        self.assertEqual(self.compared.clock_note, "")

    def test_ranges_of_ratios_of_energies_are_of_whole_runs_of_the_same_work(self) -> None:
        def prices(path: pathlib.Path) -> pd.DataFrame:
            found = atoll_analysis.load(path).energy_prices
            assert found is not None
            return found

        ours, theirs = (prices(path) for path in self.paths[:2])
        self.assertTrue(ratio_range(ours, theirs).has(ours["joules"].sum() / theirs["joules"].sum()))
        sampled, scaled, cut = self.paths
        support.make_sampled(sampled)
        support.set_key(scaled, "scale", 2)
        with support.edited(cut) as file:
            file.attrs["complete"] = np.uint64(0)
        other = self.simulate("alone", support.DATA / "alone.json")
        for path, why in ((other, "another workload"), (scaled, "another scale"), (cut, "stopped early"),
                          (sampled, "is of a sampled run")):
            with self.assertRaisesRegex(atoll_analysis.BadResult, why):
                ratio_range(ours, prices(path))
            with self.assertRaisesRegex(atoll_analysis.BadResult, why):
                mean_range([(ours, theirs), (prices(path), ours)])

    def test_energies_of_runs_that_are_laid_out_otherwise_are_of_the_same_work_if_their_accesses_are(self) -> None:
        support.set_key(self.paths[1], "partition.page_kib", 64)
        ours, paged = self.results[0].energy_prices, atoll_analysis.load(self.paths[1]).energy_prices
        assert ours is not None and paged is not None
        ratio_range(ours, paged)
        with support.edited(self.paths[1]) as file:
            file["totals/l1.sector_accesses"][0] += np.uint64(1)
        other = atoll_analysis.load(self.paths[1]).energy_prices
        assert other is not None
        for pair in ((ours, other), (other, ours)):
            with self.assertRaisesRegex(atoll_analysis.BadResult, "another partition.page_kib"):
                ratio_range(*pair)

    def test_of_two_parts_of_a_workload_neither_times_nor_energies_are_compared(self) -> None:
        for path, part in zip(self.paths, ("kernels 1 to 2", "kernels 3 to 4")):
            with support.edited(path) as file:
                file["provenance"].attrs["selection"] = part
        one, other = (atoll_analysis.load(path) for path in self.paths[:2])
        assert one.energy_prices is not None and other.energy_prices is not None
        with self.assertRaisesRegex(atoll_analysis.BadResult, "another part of the workload"):
            comparison.compare([one, other])
        with self.assertRaisesRegex(atoll_analysis.BadResult, "another workload"):
            ratio_range(one.energy_prices, other.energy_prices)

    def test_prices_that_another_process_read_are_of_the_same_work(self) -> None:
        code = "import pickle, sys, atoll_analysis as a; pickle.dump(a.load(sys.argv[1]).energy_prices, sys.stdout.buffer)"
        said = subprocess.run([sys.executable, "-c", code, str(self.paths[1])], capture_output=True, check=True,
                              env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)})
        ours = self.results[0].energy_prices
        assert ours is not None
        ratio_range(ours, pickle.loads(said.stdout))

    @support.without_drawings
    def test_runs_of_different_versions_are_named_with_a_warning(self) -> None:
        self.assertEqual(self.compared.version_note, "")
        one, other = (dataclasses.replace(r, provenance={**r.provenance, "version": "9.0", "git_commit": commit})
                      for r, commit in zip(self.results, ("abc", "def")))
        found = comparison.compare([one, other])
        self.assertTrue(found.version_note.endswith("memory_side of 9.0 (abc), sm_side of 9.0 (def)."))
        self.assertIn(f"warning: {found.version_note}", comparison_report.lines(found))
        page = comparison_report.page(found)
        self.assertIn(found.version_note, page)
        self.assertIn("written by Atoll 9.0 (abc), 9.0 (def).", page)

    @support.without_drawings
    def test_what_runs_are_of_and_warned_of_is_on_the_page_even_where_it_is_the_same_in_all(self) -> None:
        for path, warned in zip(self.paths, ("pages are far", "pages are far\nno <caches>")):
            support.set_key(path, "scale", 16)
            with support.edited(path) as file:
                file["provenance"].attrs.update(selection="kernels 3-5", incomplete="kernel 1: no warps\nkernel 2", warnings=warned)
        found = comparison.compare([atoll_analysis.load(path) for path in self.paths[:2]])
        page = html.unescape(comparison_report.page(found))
        for said in ("2 runs: memory_side, sm_side · scale 16 · only kernels 3-5 · workload not whole", "All runs warned: pages are far.",
                     "sm_side warned: no <caches>.", "The workload is not whole: kernel 1: no warps; and 1 more.",
                     "LLC and footprints divided by 16"):
            self.assertEqual(page.count(said), 1, said)
        self.assertIn("warning: the workload is not whole: kernel 1: no warps; and 1 more.", comparison_report.lines(found))
        page = comparison_report.page(self.compared)
        self.assertIn("memory_side warned: chip 2 is the home of ", page)
        self.assertNotIn("sac.window_cycles", page)  # which has no effect in two of them, and is set for the third

    def test_what_is_no_result_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "at least one result"):
            comparison.compare([])
        with self.assertRaisesRegex(TypeError, "as load.. and run.. return them, not paths"):
            comparison.compare(self.paths)  # type: ignore[arg-type]

    def test_what_cannot_be_compared_is_refused_by_name(self) -> None:
        other = self.simulate("alone", support.DATA / "alone.json")
        cut = dataclasses.replace(self.results[1], complete=False)
        old = dataclasses.replace(self.results[1], stack=None)
        scaled = dataclasses.replace(self.results[1], config=pd.Series({**self.results[1].config.to_dict(), "scale": 2}))
        paged = dataclasses.replace(self.results[1], config=pd.Series({**self.results[1].config.to_dict(), "partition.page_kib": 64}))
        comparison.compare([self.results[0], paged])  # the same accesses
        other_pages = dataclasses.replace(paged, totals=paged.totals + 1)
        for results, why in (([self.results[0], atoll_analysis.load(other)], "is of another workload"),
                             ([self.results[0], other_pages], "has partition.page_kib 64, and .*memory_side.h5 4: the work differs"),
                             ([self.results[0], self.results[0]], "is given twice"),
                             ([self.results[0], cut], "was stopped early"), ([self.results[0], old], "run it again"),
                             ([self.results[0], scaled], "has scale 2, and .*memory_side.h5 1: the work differs")):
            with self.assertRaisesRegex(atoll_analysis.BadResult, why):
                comparison.compare(results)


if __name__ == "__main__":
    if not pathlib.Path(os.environ.get("ATOLL", "")).is_file():
        print("skipped: ATOLL names no program")
        sys.exit(77)
    support.main()
