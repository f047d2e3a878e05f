"""Figures show what the tables say: titles, bars and lines are read back from what is drawn."""

import dataclasses
import html
import re
import unittest.mock

import support
import h5py
import matplotlib
import numpy as np

import pandas as pd

import atoll_analysis
from atoll_analysis import names, palette, rates, run_report, svg, sweep_report
from atoll_analysis.figures import balance, energy, responses, speedups, stack, timeline
from atoll_analysis.figures.chart import NARROW, Chart, settle, shortened
from atoll_analysis.palette import LIGHT


def axes_of(chart: Chart) -> list:
    return chart.draw(LIGHT).figure.axes


class RunFigures(support.FolderTest):
    def test_a_run_has_the_figures_that_its_file_has_data_for(self) -> None:
        found = {name: list(run_report.charts(atoll_analysis.load(self.result(f"{name}.h5")))) for name in
                 ("sac", "cut", "selrep")}
        usual = ["timeline", "responses", "latency", "slices", "channels"]
        self.assertEqual(found["sac"], [*usual, "sharing", "decisions", "energy"])
        self.assertEqual(found["cut"], [*usual, "energy"])
        self.assertEqual(found["selrep"], [*usual, "decisions", "energy"])

    def test_panels_of_the_time_line_are_titled_and_leave_out_what_a_chip_alone_does_not_have(self) -> None:
        def titles(name: str) -> list[str]:
            chart = timeline.timeline(atoll_analysis.load(self.result(name)))
            return [axes.get_title(loc="left") for axes in axes_of(chart)]

        shared = ["Kernels", "Warp instructions  (per cycle)", "Hit rates, all chips", "From LLC to SMs  (bytes per cycle)",
                  "DRAM: data buses busy"]
        latency = "Load latency, mean of all chips  (cycles)"
        self.assertEqual(titles("sac.h5"), [*shared, "Links: sent  (bytes per cycle)", latency, "LLC contents, of capacity"])
        self.assertEqual(titles("selrep.h5"), [*shared, latency])

    def test_lines_of_the_time_line_are_the_counters_per_cycle(self) -> None:
        path = self.result()
        run = atoll_analysis.load(path)
        panels = {axes.get_title(loc="left"): axes for axes in axes_of(timeline.timeline(run))}
        with h5py.File(path) as file:
            ends = file["series/end_cycle"][:].astype(float)
            lengths = np.diff(np.concatenate(([0.0], ends)))
            lengths[-1] = np.nan  # cut short: what chips did before they heard of the end is in it
            per_cycle = file["series/warp.instructions"][:] / lengths[:, None]
            busy = file["series/dram.bus_busy"][:] / lengths[:, None] / 2  # channels
            sent = file["series/link.bytes"][:] / lengths[:, None]  # the file is too old to say of how many
        for title, values in (("Warp instructions  (per cycle)", per_cycle), ("DRAM: data buses busy", busy),
                              ("Links: sent  (bytes per cycle)", sent)):
            lines = [line for line in panels[title].lines if str(line.get_label()).startswith("chip")]
            self.assertEqual([line.get_label() for line in lines], ["chip 0", "chip 1", "chip 2", "chip 3"])
            for chip, line in enumerate(lines):
                np.testing.assert_allclose(line.get_ydata()[:-1], values[:, chip], err_msg=title)
                np.testing.assert_array_equal(line.get_xdata()[1:], ends)

    def test_a_last_period_that_the_end_cuts_short_has_no_rate_unless_it_is_the_only_one(self) -> None:
        cases: list[tuple[tuple[int, ...], list[float]]]
        cases = [((10, 20, 25), [1, 1, np.nan]), ((10, 13), [1, np.nan]), ((10, 20), [1, 1]), ((3,), [1])]
        for ends, expected in cases:
            index = pd.MultiIndex.from_product([range(len(ends)), [0]], names=["sample", "chip"])
            lengths = np.diff([0, *ends])
            counters = pd.DataFrame({"begin": ends - lengths, "end": ends, "llc.hits": lengths}, index=index)
            np.testing.assert_array_equal(rates.per_cycle(counters, "llc.hits")[0], expected)

    def test_the_time_line_alone_says_how_much_of_the_workload_it_is_of(self) -> None:
        path = self.result()
        run = atoll_analysis.load(path)
        start, end = "sac-4chip: workload, ", f", digest {run.digest}"
        self.assertEqual(timeline.timeline(run).heading, f"{start}{run.cycles:,} cycles{end}")
        support.set_key(path, "scale", 16)
        with support.edited(path) as file:
            file.attrs["complete"] = np.uint8(0)
            file["provenance"].attrs.update(selection="kernels 3-5", incomplete="kernel 1: no warps")
        self.assertEqual(timeline.timeline(atoll_analysis.load(path)).heading, f"{start}scale 16, only kernels 3-5, workload not "
                         f"whole, {run.cycles:,} cycles (stopped early){end}")
        sampled = self.result()
        support.make_sampled(sampled)
        launches = f"sampled: 1 of {len(run.kernels)} launches simulated"
        self.assertEqual(timeline.timeline(atoll_analysis.load(sampled)).heading,
                         f"{start}~1,000,000 cycles ± 2.0 % ({launches}, {run.cycles:,} cycles shown){end}")

    def test_ranges_over_chips_are_of_those_that_can_be_busy(self) -> None:
        path = self.result()
        support.set_key(path, "partition.compute_chips", 3)
        support.set_key(path, "partition.memory_chips", 2)
        with unittest.mock.patch.object(timeline, "_MOST_CHIPS", 3):  # of which each would have its own line
            panels = {axes.get_title(loc="left"): axes for axes in axes_of(timeline.timeline(atoll_analysis.load(path)))}
        with h5py.File(path) as file:
            lengths = np.diff(np.concatenate(([0.0], file["series/end_cycle"][:].astype(float))))[:, None]
            lengths[-1] = np.nan
            issued, busy = (file[f"series/{name}"][:] / lengths for name in ("warp.instructions", "dram.bus_busy"))
            sent = file["series/link.bytes"][:] / lengths
        for title, values in (("Warp instructions, chips with SMs  (per cycle)", issued[:, :3]),
                              ("DRAM: data buses busy, chips with memory", busy[:, 2:] / 2),
                              ("Links: sent  (bytes per cycle)", sent)):
            mean = next(line for line in panels[title].lines if line.get_label() == "mean")
            np.testing.assert_allclose(mean.get_ydata()[:-1], values.mean(axis=1), err_msg=title)

    def test_bars_of_responses_are_shares_of_the_loads(self) -> None:
        path = self.result()
        axes = axes_of(responses.responses(atoll_analysis.load(path)))[0]
        with h5py.File(path) as file:
            loads = [file[f"latency/{o}"][:].sum() for o in ("local_llc", "remote_llc", "local_memory", "remote_memory")]
        widths = [bar.get_width() for bar in axes.patches if abs(bar.get_y() + bar.get_height() / 2) < 0.01]
        np.testing.assert_allclose(widths, np.array(loads) / sum(loads))
        self.assertEqual([t.get_text() for t in axes.get_yticklabels()], ["all chips", *[f"chip {c}" for c in range(4)]])

    def test_cells_of_slices_say_their_load_relative_to_the_mean(self) -> None:
        path = self.result()
        chart = balance.slices(atoll_analysis.load(path))
        with h5py.File(path) as file:
            accesses, hits = file["slices/accesses"][:], file["slices/hits"][:]
        above, below = axes_of(chart)
        self.assertEqual([t.get_text() for t in above.texts], [f"{v:.2f}" for v in (accesses / accesses.mean()).ravel()])
        self.assertEqual([t.get_text() for t in below.texts], [f"{100 * v:.0f}" for v in (hits / accesses).ravel()])

    def test_chips_that_can_have_no_requests_are_left_out_of_the_balance_and_named(self) -> None:
        path = self.result()
        for organisation, protocol, used, out in (("memory_side", "software", [3], "Chips 0 to 2, which have no memory"),
                                                  ("sm_side", "none_remote", [3], "Chips 0 to 2, which have no memory"),
                                                  ("sm_side", "hmg", [0, 1, 2, 3], ""),
                                                  ("sm_side", "software", [0, 1, 2], "Chip 3, which has no SMs")):
            support.set_key(path, "llc.organisation", organisation)
            support.set_key(path, "coherence.protocol", protocol)
            support.set_key(path, "partition.compute_chips", 3)
            support.set_key(path, "partition.memory_chips", 1)
            run = atoll_analysis.load(path)
            chart = balance.slices(run)
            with h5py.File(path) as file:
                accesses, hits = file["slices/accesses"][:][used], file["slices/hits"][:][used]
                reads, writes = file["channels/reads"][:][[3]], file["channels/writes"][:][[3]]
            above, below = axes_of(chart)
            self.assertEqual([t.get_text() for t in above.get_yticklabels()], [f"chip {chip}" for chip in used])
            self.assertEqual([t.get_text() for t in above.texts], [f"{v:.2f}" for v in (accesses / accesses.mean()).ravel()])
            self.assertEqual([t.get_text() for t in below.texts], [f"{100 * v:.0f}" for v in (hits / accesses).ravel()])
            self.assertIn(f"{accesses.max() / accesses.mean():.2f} times the mean of {round(accesses.mean()):,} req", chart.note)
            self.assertEqual(" and no LLC in use, " in chart.note, out != "")
            self.assertIn(f"{out} and no LLC in use, " if out else "", chart.note)
            requests = reads + writes
            chart = balance.channels(run)
            self.assertIn(f"{requests.max() / requests.mean():.2f} times the mean of {round(requests.mean()):,}", chart.note)
            self.assertIn("Chips 0 to 2, which have no memory, are left out.", chart.note)
            self.assertEqual(len(axes_of(chart)[0].get_yticklabels()), 1)

    def test_bars_of_energy_are_the_joules(self) -> None:
        run = atoll_analysis.load(self.result())
        axes = axes_of(energy.energy(run))[0]
        labels = [t.get_text() for t in axes.get_yticklabels()]
        widths = {labels[round(b.get_y() + b.get_height() / 2)]: b.get_width() for b in axes.patches if b.get_width() > 0}
        with h5py.File(run.path) as file:
            self.assertAlmostEqual(widths["DRAM"], 1e6 * file["energy/dram"][:].sum())  # the largest is below 1 mJ
            self.assertAlmostEqual(sum(widths.values()), 1e6 * sum(d[:].sum() for d in file["energy"].values()))
        self.assertIn("µJ", axes.get_title(loc="left"))

    def test_parts_of_the_stack_are_shares_of_each_chip(self) -> None:
        path = self.result()
        with support.edited(path) as file:
            file.attrs["schema_version"] = np.uint64(4)
            file["stack/dram"] = np.full((3, 4), 30.0)
            file["stack/link_in"] = np.full((3, 4), 10.0)
        chart = stack.stack(atoll_analysis.load(path))
        self.assertIn("DRAM 75.0 %, links inwards 25.0 %", chart.alt)
        np.testing.assert_allclose([b.get_width() for b in axes_of(chart)[0].patches], [0.75, 0.25] * 5)

    def test_the_stack_has_the_kernel_during_which_a_run_was_stopped_and_no_row_for_chips_without_sms(self) -> None:
        path = self.result()
        with support.edited(path) as file:
            file.attrs["schema_version"] = np.uint64(4)
            file.attrs["complete"] = np.uint8(0)
            dram = np.full((3, 4), 30.0)
            dram[:, 3] = 0
            file["stack/dram"] = dram
            finished = file["kernels/finished"]
            finished[2] = np.uint64(2**64 - 1)
            launched, cycles = int(file["kernels/launched"][2]), int(file.attrs["cycles"])
        chips, kernels = axes_of(stack.stack(atoll_analysis.load(path)))
        self.assertEqual([t.get_text() for t in chips.get_yticklabels()], ["all chips", "chip 0", "chip 1", "chip 2"])
        self.assertIn((launched, cycles - launched), [(bar.get_x(), bar.get_width()) for bar in kernels.patches])

    def test_kernels_that_are_too_many_are_mixed_by_their_time_in_equal_stretches_of_the_run(self) -> None:
        path = self.result()

        def kernels(number: int) -> np.ndarray:
            """As if all of the run were kernels of equal length, in turn of DRAM alone and of links alone: where they end."""
            with support.edited(path) as file:
                file.attrs["schema_version"] = np.uint64(4)
                ends = np.linspace(0, int(file.attrs["cycles"]), number + 1)[1:].astype(np.uint64)
                begins = np.concatenate((np.zeros(1, np.uint64), ends[:-1]))
                for name, values in {"kernels/launched": begins, "kernels/started": begins, "kernels/finished": ends,
                                     "kernels/ctas": ends, "kernels/name": np.array(["k"] * number, object),
                                     "stack/dram": np.tile([[30.0], [0.0]], (number, 4))[:number],
                                     "stack/link_in": np.tile([[0.0], [10.0]], (number, 4))[:number]}.items():
                    if name in file:
                        del file[name]
                    file[name] = values
            return ends

        few = kernels(stack.MOST_KERNELS)
        chart = stack.stack(atoll_analysis.load(path))
        self.assertNotIn("stretch", chart.note + chart.alt)
        self.assertEqual(len(axes_of(chart)[1].patches), len(few))
        ends = kernels(2 * stack.MOST_KERNELS + 1)  # two in each stretch, and a little
        chart = stack.stack(atoll_analysis.load(path))
        for said in (chart.note, chart.alt):
            self.assertIn("150 equal stretches of the run", said)
        axes = axes_of(chart)[1]
        self.assertEqual(axes.get_title(loc="left"), "Share of each stretch, all chips")
        dram, links, *_ = axes.patches  # of the first stretch: DRAM in its first kernel, and in what it has of the third
        length, first, second = int(ends[-1]) / 150, int(ends[0]), int(ends[1])
        np.testing.assert_allclose([bar.get_width() for bar in axes.patches], length)
        self.assertAlmostEqual(dram.get_height(), (first + length - second) / length)
        self.assertAlmostEqual(dram.get_height() + links.get_height(), 1)

    def test_a_kernel_that_the_end_of_a_stopped_run_cut_is_called_unfinished(self) -> None:
        path = self.result()
        with support.edited(path) as file:
            file.attrs["schema_version"] = np.uint64(4)
            file["stack/dram"] = np.full((3, 4), 30.0)
        self.assertNotIn("finished", stack.stack(atoll_analysis.load(path)).note)
        with support.edited(path) as file:
            file.attrs["complete"] = np.uint8(0)
            file["kernels/finished"][2] = np.uint64(2**64 - 1)
            length = int(file.attrs["cycles"]) - int(file["kernels/launched"][2])
        run = atoll_analysis.load(path)
        self.assertIn("Kernel 2 had not finished", stack.stack(run).note)
        for chart in (stack.stack(run), timeline.timeline(run)):
            tips = [tip for tip in chart.draw(LIGHT).tips.values() if tip.startswith("kernel ")]
            self.assertEqual([tip.startswith("kernel 2") for tip in tips], ["unfinished" in tip for tip in tips])
            self.assertIn(f"unfinished after {length:,} cycles", tips[-1])

    def test_an_image_that_stands_alone_has_the_words_below_the_figure_too(self) -> None:
        path = self.folder / "speedups.svg"
        for chart in sweep_report.charts(atoll_analysis.load_sweep(self.sweep())).values():
            chart.write_image(path)
            shown = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8")))
            self.assertIn(chart.note, html.unescape(shown))

    def test_images_are_written(self) -> None:
        for chart in run_report.charts(atoll_analysis.load(self.result())).values():
            path = self.folder / f"{chart.name}.png"
            chart.write_image(path)
            self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(path.stat().st_size, 5000)


class Narrow(support.FolderTest):
    """What a telephone shows: the same chart on less than half of the width, with text of the same size."""

    def drawn(self, chart: Chart) -> "matplotlib.figure.Figure":
        with matplotlib.rc_context({"figure.figsize": (NARROW, NARROW)}):
            figure = chart.draw(LIGHT).figure
            settle(figure)
            return figure

    def charts(self) -> list[Chart]:
        path = self.result()
        with support.edited(path) as file:
            file.attrs["schema_version"] = np.uint64(4)
            for part in ("dram", "link_in", "link_out", "mshr", "slice", "request", "response", "no_warp"):
                file[f"stack/{part}"] = np.full((3, 4), 10.0)
        return [*run_report.charts(atoll_analysis.load(path)).values(),
                *sweep_report.charts(atoll_analysis.load_sweep(self.sweep())).values()]

    def test_titles_and_legends_are_whole_do_not_overlap_and_name_what_the_wide_ones_name(self) -> None:
        for chart in self.charts():
            figure = self.drawn(chart)
            self.assertEqual(figure.get_figwidth(), NARROW)
            for wide, axes in zip(axes_of(chart), figure.axes, strict=True):
                names = [[t.get_text() for t in a.get_legend().get_texts()] if a.get_legend() else [] for a in (wide, axes)]
                self.assertEqual(*[[name.split() for name in of] for of in names])  # however it is folded
                shown = [t for t in (axes._left_title, axes.get_legend()) if t is not None]
                for artist in shown:
                    box = artist.get_window_extent()
                    self.assertGreaterEqual(box.x0, -1, (chart.name, str(artist)))
                    self.assertLessEqual(box.x1, figure.bbox.width + 1, (chart.name, str(artist)))
                if len(shown) == 2:
                    self.assertFalse(shown[0].get_window_extent().overlaps(shown[1].get_window_extent()), chart.name)


class SweepFigures(support.FolderTest):
    def test_bars_are_the_speedups_and_diamonds_the_papers(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        self.assertEqual(speedups.compared(sweep), ["sm", "narrow"])
        axes = axes_of(speedups.speedups(sweep))[0]
        expected = sweep.speedups()[["sm", "narrow"]].to_numpy().T.ravel()
        np.testing.assert_allclose([bar.get_height() for bar in axes.patches], expected)
        marks = [line for line in axes.lines if line.get_label() == "_paper"]
        self.assertEqual([list(line.get_ydata()) for line in marks], [[1.3]])
        self.assertEqual([t.get_text() for t in axes.get_xticklabels()], ["mixed", "alone"])

    def test_bars_are_of_variants_whose_runs_have_another_baseline(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        of_sm = dataclasses.replace(sweep, runs=sweep.runs.assign(baseline="sm"))
        self.assertEqual(speedups.compared(of_sm), ["mem", "narrow"])
        own = sweep.runs["baseline"].mask(sweep.runs["variant"] == "narrow", "narrow")
        self.assertEqual(speedups.compared(dataclasses.replace(sweep, runs=sweep.runs.assign(baseline=own))), ["sm"])

    def test_a_papers_mark_above_all_bars_is_within_the_axis(self) -> None:
        folder = self.sweep()
        file = folder / "experiment.json"
        file.write_text(file.read_text().replace('"mixed": 1.3', '"mixed": 7'))
        axes = axes_of(speedups.speedups(atoll_analysis.load_sweep(folder)))[0]
        self.assertLess(max(bar.get_height() for bar in axes.patches), 3)
        self.assertGreater(axes.get_ylim()[1], 7)

    def test_the_legend_names_variants_that_the_first_workload_lacks_in_the_colour_of_their_bars(self) -> None:
        folder = self.sweep()
        (folder / "mixed__sm.h5").unlink()
        axes = axes_of(speedups.speedups(atoll_analysis.load_sweep(folder)))[0]
        legend = axes.get_legend()
        named = {text.get_text(): patch.get_facecolor() for text, patch in zip(legend.get_texts(), legend.get_patches())}
        self.assertEqual(list(named), ["sm", "narrow"])
        self.assertEqual([bar.get_facecolor() for bar in axes.patches], [named["sm"], named["narrow"], named["narrow"]])
        (folder / "alone__sm.h5").unlink()
        axes = axes_of(speedups.speedups(atoll_analysis.load_sweep(folder)))[0]
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["narrow"])

    def test_means_of_all_come_first_then_groups(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        drawn = axes_of(speedups.means(sweep))
        self.assertEqual([axes.get_title(loc="left") for axes in drawn], ["All workloads", "shared", "private"])
        table = sweep.means()
        expected = [table.loc[("ALL", mean), variant] for mean in ("harmonic", "ipc_first") for variant in ("sm", "narrow")]
        np.testing.assert_allclose([bar.get_width() for bar in drawn[0].patches], expected)
        self.assertFalse(any(bar.get_hatch() for axes in drawn for bar in axes.patches))

    def test_means_of_fewer_workloads_than_others_are_hatched_and_say_of_how_many(self) -> None:
        folder = self.sweep()
        (folder / "alone__sm.h5").unlink()
        chart = speedups.means(atoll_analysis.load_sweep(folder))
        self.assertIn("Hatched: of fewer workloads", chart.note)
        self.assertRegex(chart.alt, r"sm [\d.]+ and [\d.]+ \(of 1 of 2\); narrow [\d.]+ and [\d.]+\.")
        every, shared, private = axes_of(chart)
        self.assertEqual([bool(bar.get_hatch()) for bar in every.patches], [True, False] * 2)
        self.assertEqual([text.get_text().partition(" ")[2] for text in every.texts], ["(1 of 2)", ""] * 2)
        self.assertFalse(any(bar.get_hatch() for axes in (shared, private) for bar in axes.patches))
        self.assertEqual([text.get_text() for text in every.get_legend().get_texts()][2:], ["of fewer workloads"])
        self.assertNotRegex(svg.inline(chart).replace("url(#", "url("), r"#[0-9a-f]{6}\b", "colours follow the theme")

    def test_means_of_the_same_workloads_that_are_not_all_are_titled_so(self) -> None:
        folder = self.sweep()
        for variant in ("sm", "narrow"):
            (folder / f"alone__{variant}.h5").unlink()
        chart = speedups.means(atoll_analysis.load_sweep(folder))
        drawn = axes_of(chart)
        self.assertEqual([axes.get_title(loc="left") for axes in drawn],
                         ["1 of 2 workloads", "shared", "private, 0 of 1 workloads"])
        self.assertFalse(any(bar.get_hatch() for axes in drawn for bar in axes.patches))
        self.assertNotIn("Hatched", chart.note)
        self.assertIn("means over 1 of 2 workloads", chart.alt)

    def test_all_figures_have_titles_and_words_for_those_who_cannot_see_them(self) -> None:
        charts = [*run_report.charts(atoll_analysis.load(self.result())).values(),
                  *sweep_report.charts(atoll_analysis.load_sweep(self.sweep())).values()]
        self.assertEqual(len(charts), 11)
        for chart in charts:
            self.assertTrue(chart.title)
            self.assertGreater(len(chart.alt), 40)


class Svg(support.FolderTest):
    def test_every_colour_follows_the_theme_and_every_text_is_text(self) -> None:
        for chart in run_report.charts(atoll_analysis.load(self.result())).values():
            drawn = svg.inline(chart)
            self.assertNotRegex(drawn.replace("url(#", "url("), r"#[0-9a-f]{6}\b", chart.name)
            self.assertRegex(drawn, r"var\(--\w+\)")
            self.assertIn("<text", drawn)
            self.assertNotIn("DejaVu", drawn)
            self.assertIn("<title>", drawn)

    def test_colours_stand_out_from_their_background(self) -> None:
        def luminance(colour: str) -> float:
            parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
            linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        def contrast(one: str, other: str) -> float:
            light, dark = sorted((luminance(one), luminance(other)), reverse=True)
            return (light + 0.05) / (dark + 0.05)

        for theme in (palette.LIGHT, palette.DARK):
            self.assertGreater(contrast(theme.ink, theme.paper), 12)
            self.assertGreater(contrast(theme.muted, theme.paper), 4.5)
            for colour in theme.categories:
                self.assertGreater(contrast(colour, theme.paper), 2.2, colour)
            for colour in theme.categories[4:6]:
                self.assertGreater(contrast(theme.on_pale, colour), 4.5, colour)


class Names(support.unittest.TestCase):
    def test_mangled_names_of_kernels(self) -> None:
        self.assertEqual(names.kernel("_Z8max_poolPfPKf5Shape"), "max_pool")
        self.assertEqual(names.kernel("_ZN3lib4gemmIfEEvPT_"), "lib::gemm")
        self.assertEqual(names.kernel("gather"), "gather")
        self.assertEqual(names.kernel("_Z99short"), "_Z99short")

    def test_workloads(self) -> None:
        self.assertEqual(names.workload("inputs/workloads/mixed.json"), "mixed")

    def test_long_names_lose_their_middle_as_far_as_they_stay_different(self) -> None:
        self.assertEqual(shortened(["mixed", "k" * 28, "a" * 33 + "b" * 33]), ["mixed", "k" * 28, "a" * 14 + "…" + "b" * 13])
        alike = [f"{'a' * 20}{at}{'b' * 20}" for at in range(2)]
        self.assertEqual(shortened(alike), alike)

    def test_long_names_of_swept_variants_keep_the_values_and_lose_the_keys_that_all_have(self) -> None:
        names = [f"{organisation}_bandwidth_gbps-{bandwidth}_size_kib-{size}"
                 for organisation in ("sm_side", "sac") for bandwidth in (48, 192, 768) for size in (2048, 4096)]
        with matplotlib.rc_context({"figure.figsize": (NARROW, NARROW)}):
            narrow = shortened([*names, "mem"])
        for most, short in ((28, shortened([*names, "mem"])), (20, narrow)):
            self.assertEqual((len(set(short)), short[-1]), (len(short), "mem"))
            self.assertLessEqual(max(map(len, short)), most)
            for name, kept in zip(names, short):
                organisation, bandwidth, size = re.split(r"_bandwidth_gbps-|_size_kib-", name)
                self.assertRegex(kept, rf"^{organisation}_.*(?<!\d){bandwidth}_.*(?<!\d){size}$")


if __name__ == "__main__":
    support.main()
