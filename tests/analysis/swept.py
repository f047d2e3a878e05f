"""Figures of sweeps that vary a key, along it, or two, over both."""

import dataclasses
import math
import pathlib

import support
import numpy as np
import pandas as pd

from atoll_analysis import axes, config
from atoll_analysis.figures import axes as lines
from atoll_analysis.figures import grids
from atoll_analysis.figures.chart import Chart
from atoll_analysis.palette import LIGHT
from atoll_analysis.sweeps import Sweep

KEY = "link.bandwidth_gbps"


def swept(speedups: dict[tuple[str, str], tuple[float, ...]]) -> Sweep:
    """[workload, organisation] speed-ups at 48, 96, ...; NaN where there is no run."""
    runs = pd.DataFrame([{"workload": workload, "variant": f"{organisation}-{48 << at}", "baseline": f"mem-{48 << at}",
                          "speedup": value, KEY: 48 << at, "llc.organisation": organisation}
                         for (workload, organisation), values in speedups.items() for at, value in enumerate(values)])
    configs = runs.set_index(["workload", "variant"])[["llc.organisation", KEY]].astype(object)
    return Sweep(pathlib.Path("made"), {}, tuple(dict.fromkeys(runs["workload"])), tuple(dict.fromkeys(runs["variant"])),
                 runs, configs, pd.DataFrame(index=configs.index), pd.Series(False, index=configs.index),
                 pd.DataFrame({"l1.sector_accesses": 1000.0}, index=configs.index), {})


class Values(support.unittest.TestCase):
    def test_values_that_differ_in_late_digits_are_shown_and_grouped_apart(self) -> None:
        self.assertEqual([config.text(v) for v in (48.0, 0.5, 1410.125, 123.4567891, 1234567.0, 1e15, math.inf, True)],
                         ["48", "0.5", "1410.125", "123.4567891", "1234567", "1e+15", "inf", "true"])
        runs = pd.DataFrame({"workload": "web", "speedup": [1.0, 2.0], "core_clock_mhz": [1410.125, 1410.1250001], KEY: 48})
        table = axes.along(runs, ["core_clock_mhz", KEY], KEY, "speedup")
        self.assertEqual(list(table[48]), [1.0, 2.0])


class Keys(support.unittest.TestCase):
    """Which keys a sweep varies."""

    def test_a_key_that_only_follows_a_given_one_is_not_varied(self) -> None:
        index = pd.MultiIndex.from_product([["web"], list("abcd")], names=["workload", "variant"])
        configs = pd.DataFrame({"dram.preset": ["gddr6", "gddr6", "hbm2", "hbm2"], "dram.timing.rcd": [20, 20, 14, 14],
                                "llc.ways": [8, 16, 8, 16], "scale": [1, 16, 1, 16], "llc.size_kib": [1, 2, 3, 4]},
                               index=index, dtype=object)
        given = {"dram.preset", "llc.ways"}
        # The scale is of another section, and the size has several values at either number of ways.
        self.assertEqual(axes.varied(configs, given), ["dram.preset", "llc.ways", "scale", "llc.size_kib"])
        self.assertEqual(axes.varied(configs, given | {"dram.timing.rcd"}), list(configs))
        self.assertEqual(axes.varied(configs), list(configs))  # of systems that files describe


class Lines(support.unittest.TestCase):
    """The figure along a swept key."""

    def drawn(self, speedups: dict[tuple[str, str], tuple[float, ...]]) -> tuple[Chart, dict[str, list[float]]]:
        chart, = lines.axes(swept(speedups))
        axes, = chart.draw(LIGHT).figure.axes
        return chart, {str(line.get_label()): list(line.get_ydata()) for line in axes.lines
                       if not str(line.get_label()).startswith("_")}

    def bars(self, chart: Chart) -> np.ndarray:
        """[value, (lowest, highest)] error bars of the first line."""
        axes, = chart.draw(LIGHT).figure.axes
        return np.array([bar[:, 1] for bar in next(c.get_segments() for c in axes.collections if len(c.get_segments()))])

    def test_a_workload_on_which_a_line_is_as_fast_as_the_baseline_counts(self) -> None:
        chart, found = self.drawn({("web", "mem"): (1, 1), ("web", "sac"): (0.5, 1), ("db", "mem"): (1, 1), ("db", "sac"): (1, 1)})
        self.assertEqual(list(found), ["sac"])  # the baseline is 1 for all workloads
        np.testing.assert_allclose(found["sac"], [2 / 3, 1])
        self.assertIn("over the 2 of 2 workloads that have all values", chart.note)

    def test_all_lines_are_of_the_workloads_that_all_of_them_have(self) -> None:
        chart, found = self.drawn({("web", "sm"): (0.5, 2), ("web", "sac"): (2, 3), ("db", "sm"): (math.nan, 4), ("db", "sac"): (4, 5),
                                   ("web", "half"): (2, math.nan), ("db", "half"): (2, math.nan)})
        self.assertEqual(found, {"sm": [0.5, 2], "sac": [2, 3]})
        self.assertIn("over the 1 of 2 workloads that have all values", chart.note)

    def test_lines_without_a_workload_in_common_say_that_they_do_not_compare(self) -> None:
        chart, found = self.drawn({("web", "sm"): (0.5, 2), ("web", "sac"): (math.nan, 3), ("db", "sm"): (math.nan, 4),
                                   ("db", "sac"): (4, 5), ("ml", "sac"): (4, 5)})
        self.assertEqual(found, {"sm": [0.5, 2], "sac": [4, 5]})
        self.assertIn("do not compare between lines: each is over the 1 to 2 of 3 workloads", chart.note)

    def test_more_than_three_lines_have_no_bars_which_would_lie_on_each_other(self) -> None:
        for count in (3, 4):
            chart, _ = self.drawn({(w, f"o{n}"): (0.5 + n, high) for n in range(count) for w, high in (("web", 2), ("db", 13))})
            axes, = chart.draw(LIGHT).figure.axes
            drawn = sum(len(c.get_segments()) for c in axes.collections)
            self.assertEqual(drawn, 2 * 3 if count == 3 else 0)
            self.assertEqual("bars behind: the lowest and the highest" in chart.note, count == 3)
            self.assertEqual("which 4 lines would have on each other" in chart.note, count == 4)
            self.assertEqual(axes.get_ylim()[1] > 13, count == 3)

    def test_a_legend_names_what_differs_between_its_lines_and_cuts_nothing(self) -> None:
        same = "plugin llc.policy=policies/python/mine.py"
        self.assertEqual(lines.what_differs([f"{same} llc.ways=8 link.gbps=1", f"{same} llc.ways=16 link.gbps=1"]),
                         ["ways=8", "ways=16"])
        self.assertEqual(lines.what_differs(["l1.ways=4 llc.ways=8", "l1.ways=8 llc.ways=4"]),
                         ["l1.ways=4 llc.ways=8", "l1.ways=8 llc.ways=4"])
        self.assertEqual(lines.what_differs(["sac llc.ways=8", "sac"]), ["sac llc.ways=8", "sac"])  # the one would have no name
        self.assertEqual(lines.what_differs(["sac llc.ways=8"]), ["sac ways=8"])
        self.assertEqual(lines.what_differs([""]), [""])

    def test_bars_of_seeds_have_the_workloads_without_seeds_in_every_mean(self) -> None:
        chart, found = self.drawn({("web-seed1", "sm"): (0.5, 1), ("web-seed2", "sm"): (0.25, 1), ("web-seed3", "sm"): (0.4, 1),
                                   ("db", "sm"): (2, 2)})
        np.testing.assert_allclose(found["all"], [4 / 9, 4 / 3.5])  # as in the table: 2 + 4 + 2.5 + 0.5 of four
        # Three runs of 0.25 and db, three of 0.5 and db
        np.testing.assert_allclose(self.bars(chart), [[4 / 12.5, 4 / 6.5], [4 / 3.5, 4 / 3.5]])
        self.assertIn("by seed", chart.note)

    def test_workloads_of_fewer_seeds_begin_again_with_their_first(self) -> None:
        chart, _ = self.drawn({("web-seed1", "sm"): (1, 1), ("web-seed2", "sm"): (2, 1), ("web-seed3", "sm"): (1, 1),
                               ("db-seed1", "sm"): (1, 1), ("db-seed2", "sm"): (4, 1)})
        np.testing.assert_allclose(self.bars(chart), [[1.0, 2.5], [1.0, 1.0]])


class OwnBaselines(support.unittest.TestCase):
    """Where every run is its own baseline, as in a sweep of one variant, figures are over the first value."""

    def made(self, key: str = KEY) -> Sweep:
        at = [(96, 2), (96, 4), (48, 2), (48, 4)]
        runs = pd.DataFrame([{"workload": "web", "variant": f"v{n}", "baseline": f"v{n}", "speedup": 1.0, "cycles": cycles, key: at[n][0],
                              "llc.ways": at[n][1]} for n, cycles in enumerate((100, 50, 400, 80))])
        of = swept({("web", "mem"): (1, 1, 1, 1)})
        configs = runs.set_index(["workload", "variant"])[[key, "llc.ways"]].astype(object)
        return dataclasses.replace(of, variants=tuple(runs["variant"]), runs=runs, configs=configs,
                                   counted=of.counted.set_axis(configs.index))

    def test_lines_are_over_the_first_value_as_in_the_table_and_say_so(self) -> None:
        chart, of_ways = lines.axes(self.made())
        axes, = chart.draw(LIGHT).figure.axes
        self.assertEqual({line.get_label(): list(line.get_ydata()) for line in axes.lines if not line.get_label().startswith("_")},
                         {"ways=2": [0.25, 1], "ways=4": [0.625, 1]})
        self.assertEqual(chart.title, f"By {KEY}, over {KEY} = 96")
        self.assertEqual(axes.get_title(loc="left"), f"Speed-up over {KEY} = 96")
        self.assertIn(f"over {KEY} = 96", chart.alt)
        self.assertEqual(of_ways.title, "By llc.ways, over llc.ways = 2")

    def test_maps_are_over_the_first_values_of_both_keys(self) -> None:
        chart, = grids.grids(self.made())
        panel, = chart.draw(LIGHT).figure.axes
        self.assertEqual([t.get_text() for t in panel.texts], ["0.25", "1.25", "1.00", "2.00"])
        over = f"over {KEY} = 96, llc.ways = 2"
        self.assertEqual((chart.title, panel.get_title(loc="left")), (f"By {KEY} and llc.ways, {over}", f"Speed-up {over}"))

    def test_runs_of_other_work_are_not_compared(self) -> None:
        scaled = self.made("scale")
        self.assertEqual(([c.name for c in lines.axes(scaled)], grids.grids(scaled)), (["by-llc-ways"], []))


class Maps(support.unittest.TestCase):
    """The figure over two swept keys."""

    def drawn(self, speedups: dict[tuple[str, str], tuple[float, ...]]) -> tuple[str, dict[str, list[str]]]:
        """Its caption, and the numbers of each panel, at (2, 4), (2, 8), (6, 4) and (6, 8); NaN where there is no run."""
        runs = pd.DataFrame([{"workload": workload, "variant": f"{organisation}-{at}", "baseline": f"mem-{at}",
                              "speedup": value, "llc.ways": (2, 6)[at // 2], "llc.slices": (4, 8)[at % 2],
                              "llc.organisation": organisation}
                             for (workload, organisation), values in speedups.items() for at, value in enumerate(values)])
        made = dataclasses.replace(swept(speedups), runs=runs, configs=runs.set_index(["workload", "variant"])[
            ["llc.organisation", "llc.ways", "llc.slices"]].astype(object))
        charts = grids.grids(made)
        if not charts:
            return "", {}
        panels = charts[0].draw(LIGHT).figure.axes
        return charts[0].note, {panel.get_title(loc="left"): [t.get_text() for t in panel.texts] for panel in panels}

    def test_the_caption_counts_the_workloads_of_the_means(self) -> None:
        note, found = self.drawn({("web", "mem"): (1, 1, 1, 1), ("web", "sm"): (1, 2, 2, 4), ("db", "mem"): (1, 1, 1, 1),
                                  ("db", "sm"): (1, 2, 4, 4)})
        self.assertEqual(found, {"sm": ["1.00", "2.00", "2.67", "4.00"]})
        self.assertIn("over the 2 of 2 workloads that have all values; full colour", note)

    def test_all_maps_are_of_the_workloads_that_all_of_them_have(self) -> None:
        note, found = self.drawn({("web", "sm"): (1, 2, 2, 4), ("web", "sac"): (2, 2, 2, 2), ("db", "sm"): (math.nan, 9, 9, 9),
                                  ("db", "sac"): (9, 9, 9, 9)})
        self.assertEqual(found, {"sm": ["1.00", "2.00", "2.00", "4.00"], "sac": ["2.00"] * 4})
        self.assertIn("over the 1 of 2 workloads that have all values", note)

    def test_maps_without_a_workload_in_common_say_that_they_do_not_compare(self) -> None:
        note, found = self.drawn({("web", "sm"): (1, 2, 2, 4), ("web", "sac"): (math.nan, 2, 2, 2), ("db", "sac"): (3, 3, 3, 3),
                                  ("ml", "sac"): (3, 3, 3, 3)})
        self.assertEqual(found, {"sm": ["1.00", "2.00", "2.00", "4.00"], "sac": ["3.00"] * 4})
        self.assertIn("do not compare between maps: each is over the 1 to 2 of 3 workloads", note)

    def test_a_point_that_no_workload_has_is_left_empty(self) -> None:
        note, found = self.drawn({("web", "sm"): (1, 2, 2, 4), ("web", "sac"): (2, 2, 2, math.nan)})
        self.assertEqual(found, {"sm": ["1.00", "2.00", "2.00", "4.00"], "sac": ["2.00", "2.00", "2.00", ""]})
        self.assertIn("over the 1 of 1 workloads", note)

    def test_without_speedups_there_is_no_map(self) -> None:
        self.assertEqual(self.drawn({("web", "sm"): (math.nan,) * 4}), ("", {}))


if __name__ == "__main__":
    support.main()
