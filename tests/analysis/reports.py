"""The pages: whole, self-contained, with the right figures in the right places, and safe with any text in them."""

import contextlib
import dataclasses
import errno
import functools
import html.parser
import io
import pathlib
import re
import resource
import shutil
import signal
import tempfile
import unittest
import unittest.mock

import support
import h5py
import numpy as np

import atoll_analysis
from atoll_analysis import bounded, cli, run_report, sweep_report, units

VOID = {"meta", "br", "img", "input", "hr", "link"}


class Page(html.parser.HTMLParser):
    """Checks nesting and collects what the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.problems: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.note(tag, attrs)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def note(self, tag: str, attrs: list) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data
        if any(tag in ("td", "th") for tag in self.open) and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def row(self, *first: str) -> list[str]:
        return next(row for row in self.rows if tuple(row[:len(first)]) == first)


@functools.cache
def page_of(name: str) -> str:
    """The page of a committed result, made once."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_bytes(support.packed(name))
        return run_report.page(atoll_analysis.load(path))


class PageTest(support.FolderTest):
    def check(self, text: str) -> Page:
        page = Page(text)
        self.assertEqual(page.problems, [])
        self.assertEqual(sorted(set(page.ids)), sorted(page.ids), "ids are unique")
        self.assertEqual(re.findall(r"https?:|src=|@import|<link|<iframe|<object|\bfetch\(|XMLHttpRequest", text), [])
        self.assertEqual(re.findall(r"url\([^#)][^)]*\)", text), [])
        for inner in [value[1:] for _, name, value in page.attributes if name == "href" and value.startswith("#")]:
            self.assertIn(inner, page.ids)
        for inner in re.findall(r"url\(#([^)]+)\)", text):
            self.assertIn(inner, page.ids)
        labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
        self.assertEqual(len(labels), text.count("<svg "))
        self.assertTrue(all(len(label) > 40 for label in labels))
        kinds = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "class")]
        self.assertEqual(kinds, ["chart wide", "chart narrow"] * (len(kinds) // 2))
        named = [name for tag, name, value in page.attributes if tag == "div" and name in ("tabindex", "aria-label")]
        self.assertEqual(len(named), 2 * text.count('<div class="scroll"'), "tables are reached by the keyboard, and named")
        return page


class RunPage(PageTest):
    def test_each_kind_of_run_gives_a_whole_self_contained_page(self) -> None:
        for name, titles in (("sac.h5", 7), ("cut.h5", 5), ("selrep.h5", 6)):
            text = page_of(name)
            self.check(text)
            self.assertEqual(text.count("<figure"), titles + 1, name)
            self.assertLess(len(text), 800_000)

    @support.without_drawings
    def test_the_host_time_is_as_the_program_prints_it(self) -> None:
        run = atoll_analysis.load(self.result())
        page = run_report.page(dataclasses.replace(run, provenance={**run.provenance, "host_seconds": 1234.4}))
        self.assertIn(", in 20 min 34 s on ", page)

    def test_summary_kernels_and_counters_are_those_of_the_file(self) -> None:
        path, page = self.result(), self.check(page_of("sac.h5"))
        with h5py.File(path) as file:
            hits, accesses = (int(file[f"totals/llc.{n}"][:].sum()) for n in ("hits", "accesses"))
            self.assertIn(f"{file.attrs['digest']:016x}", page.text)
            self.assertIn(f"{int(file.attrs['cycles']):,}", page.text)
            self.assertIn(f"{100 * hits / accesses:.1f} %", page.text)
            remote, local = (int(file[f"totals/requests.{n}"][:].sum()) for n in ("remote", "local"))
            self.assertIn(f"remote{100 * remote / (remote + local):.1f} %of the L1s' requests", page.text.replace("\n", ""))
            self.assertIn("links used, mean of ports", page.text)  # of which the busiest may be full
            launched, finished = file["kernels/launched"][:], file["kernels/finished"][:]
            self.assertEqual(page.row("0", "gather")[2:5], ["64", "0", f"{int(finished[0] - launched[0]):,}"])
            per_chip = [f"{int(v):,}" for v in file["totals/llc.hits"][:]]
            self.assertEqual(page.row("llc.hits"), ["llc.hits", f"{hits:,}", *per_chip])
        self.assertEqual(page.row("sac.window_cycles"), ["sac.window_cycles", "1500"])

    def test_decisions_stand_beside_what_was_measured(self) -> None:
        path, page = self.result(), self.check(page_of("sac.h5"))
        with h5py.File(path) as file:
            cycle, eab = int(file["decisions/cycle"][0]), float(file["decisions/values/sm_side.eab"][0])
        head = page.row("cycle", "kernel", "choice")
        self.assertIn("hit rate, measured", head)
        self.assertEqual(page.row(f"{cycle:,}", "0")[head.index("sm_side: GB/s")], f"{eab:,.0f}")

    @support.without_drawings
    def test_data_structures_stand_with_who_asked_and_where_they_are(self) -> None:
        path = self.result()
        self.assertNotIn("Data structures", page_of("sac.h5"))
        support.add_structures(path)
        with support.edited(path) as file:
            file["structures/name"][1] = "<b>"
        page = self.check(run_report.page(atoll_analysis.load(path)))
        self.assertEqual(page.row("structure")[-5:], ["remote", "local LLC", "latency", "asked by", "homes"])
        self.assertEqual(page.row("#0"), ["#0", "4.10 kB", "972", "8.2 %", "75.1 %", "100.0 %", "50", "25 25 25 25",
                                          "0 100 0 0"])
        self.assertEqual(page.row("<b>"), ["<b>", "1.00 kB", "40", "25.0 %", "100.0 %", "100.0 %", "50", "0 0 0 100",
                                           "75 25 0 0"])
        self.assertEqual(page.row("1", "update", "#0")[2:5], ["#0", "4.10 kB", "566"])
        self.assertEqual(page.row("1", "update", "other")[3:5], ["–", "1"])
        self.assertIn(f"{2**45:#x} to {2**45 + 4095:#x}", [value for tag, name, value in page.attributes if name == "title"])

    def test_a_run_cut_short_says_so(self) -> None:
        page = self.check(page_of("cut.h5"))
        self.assertEqual(page.text.count("Stopped early, by --max-cycles or a signal: 3 of 3 kernels had started, and 2 had finished."), 1)
        self.assertEqual(page.row("2", "mix")[4], "unfinished")
        self.assertEqual(page_of("sac.h5").count("Stopped early"), 0)

    @support.without_drawings
    def test_what_a_trace_lacks_is_on_the_pages_of_its_runs(self) -> None:
        folder = self.sweep()
        with support.edited(folder / "alone__sm.h5") as file:
            file["provenance"].attrs["incomplete"] = "the trace lacks <something>\nkernel 1 (x): no warps"
        text = "is not whole: the trace lacks <something>; and 1 more."
        self.assertIn(f"alone {text}", self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder)).text)
        with support.edited(folder / "alone__sm.h5") as file:
            file["provenance"].attrs["selection"] = "kernels 3-5"
        page = self.check(run_report.page(atoll_analysis.load(folder / "alone__sm.h5")))
        self.assertIn(f"The workload {text}", page.text)
        self.assertIn("kernels 3-5", page.text)

    @support.without_drawings
    def test_what_runs_warned_of_is_on_their_pages_but_for_keys_that_other_points_use(self) -> None:
        folder = self.sweep()
        with support.edited(folder / "alone__sm.h5") as file:
            file["provenance"].attrs["warnings"] = "pages are <far>\n`sac.threshold` has no effect: it needs SAC"
        page = self.check(run_report.page(atoll_analysis.load(folder / "alone__sm.h5"))).text
        self.assertIn("The run warned: pages are <far>.", page)
        self.assertIn("The run warned: `sac.threshold` has no effect: it needs SAC.", page)
        page = self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder)).text
        self.assertIn("1 run warned: pages are <far>.", page)
        self.assertNotIn("sac.threshold", page)

    @support.without_drawings
    def test_the_line_below_the_title_says_how_much_of_the_workload_a_run_is_of(self) -> None:
        def line(text: str) -> str:
            self.check(text)
            return text.partition("</h1><p>")[2].partition("</p>")[0]

        path = self.result("sac.h5")
        cycles = f"{atoll_analysis.load(path).cycles:,} cycles"
        self.assertIn(f" = sac · {cycles} · digest ", line(page_of("sac.h5")))
        support.make_sampled(path)
        support.set_key(path, "scale", 16)
        self.assertIn(f"· scale 16 · ~1,000,000 cycles ± 2.0 % (sampled: 1 of 3 launches simulated, {cycles} shown) · digest ",
                      line(run_report.page(atoll_analysis.load(path))))
        self.assertIn("12,000 cycles (stopped early) · digest ", line(page_of("cut.h5")))

    @support.without_drawings
    def test_variants_that_are_one_simulation_are_named(self) -> None:
        folder = self.sweep()
        before = self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder)).text
        self.assertNotIn("One and the same simulation", before)
        runs = atoll_analysis.load_sweep(folder).runs
        first, second = list(dict.fromkeys(runs["variant"]))[:2]
        for workload in set(runs["workload"]):
            with support.edited(folder / f"{workload}__{second}.h5") as file, h5py.File(folder / f"{workload}__{first}.h5") as of:
                file.attrs["digest"] = of.attrs["digest"]
        after = self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder)).text
        self.assertIn(f"One and the same simulation in every workload: {first}, {second}.", after)

    def test_a_run_cut_before_its_first_kernel_came_has_a_page_too(self) -> None:
        path = self.result("cut.h5")
        with support.edited(path) as file:
            file.attrs["cycles"] = np.uint64(1)
            for name in ("launched", "started", "finished"):
                file[f"kernels/{name}"][:] = np.uint64(2**64 - 1)
            for group in ("totals", "latency", "slices", "channels", "energy"):
                for dataset in file[group].values():
                    dataset[...] = 0
            for name in list(file["series"]):
                values = file[f"series/{name}"][:0]
                del file[f"series/{name}"]
                file[f"series/{name}"] = values
        page = self.check(run_report.page(atoll_analysis.load(path)))
        self.assertEqual(page.row("0", "gather")[2:], ["64", "–", "not started", "–"])
        self.assertIn("by --max-cycles or a signal: 0 of 3 kernels had started, and 0 had finished.", page.text)
        self.assertIn("No time line", page.text)

    def test_a_run_of_thousands_of_kernels_and_decisions_has_a_page_of_bearable_size(self) -> None:
        path, number = self.result("sac.h5"), 3000
        with support.edited(path) as file:
            ends = np.linspace(0, int(file.attrs["cycles"]), number + 1)[1:].astype(np.uint64)
            columns = {"launched": np.concatenate((np.zeros(1), ends[:-1])).astype(np.uint64), "started": ends, "finished": ends,
                       "ctas": np.arange(number, dtype=np.uint64), "name": np.array(["k"] * number, object)}
            for name, values in columns.items():
                del file[f"kernels/{name}"]
                file[f"kernels/{name}"] = values
            for name, dataset in [(n, d[()]) for n, d in file["decisions"].items() if n != "values"]:
                del file[f"decisions/{name}"]
                file[f"decisions/{name}"] = np.resize(dataset, number)
            for name, values in [(n, d[()]) for n, d in file["decisions/values"].items()]:
                del file[f"decisions/values/{name}"]
                file[f"decisions/values/{name}"] = np.resize(values, number)
            file["decisions/cycle"][:] = ends
        text = run_report.page(atoll_analysis.load(path))
        self.assertLess(len(text), 3_500_000)
        self.assertIn("The first 500 of 3,000 kernels", text)
        self.assertIn("The first 500 of 3,000 decisions", text)

    def test_text_of_files_cannot_become_markup(self) -> None:
        path = self.result("cut.h5")
        with support.edited(path) as file:
            file["provenance"].attrs["workload"] = "a<script>alert(1)</script>&\"'.json"
            del file["kernels/name"]
            file["kernels/name"] = np.array(["<i>", "x\" onload=\"y", "&amp;"], dtype=h5py.string_dtype())
            file["novel/name"] = np.array(["<em>", "input"], dtype=h5py.string_dtype())
            file["novel/loads"] = np.array([12, 34], dtype=np.uint64)
        text = run_report.page(atoll_analysis.load(path))
        page = self.check(text)
        self.assertEqual(text.count("<script"), 1)
        self.assertEqual((text.count("<i>"), text.count("<em>")), (0, 0))
        self.assertEqual([name for _, name, _ in page.attributes if name.startswith("on")], [])
        self.assertEqual([page.row(str(kernel))[1] for kernel in range(2)], ["<i>", "x\" onload=\"y"])
        self.assertEqual(page.row("0", "12"), ["0", "12", "<em>"])  # a group that the package does not know


class SweepPage(PageTest):
    @support.without_drawings
    def test_table_of_speedups_with_means_below(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        page = self.check(sweep_report.page(sweep, sweep.path))
        speedups, means = sweep.speedups(), sweep.means()
        self.assertEqual(page.row("mixed", "shared"), ["mixed", "shared", *[f"{v:.2f}" for v in speedups.loc["mixed"]]])
        harmonic = [f"{value:.2f}" for value in means.loc[("ALL", "harmonic")]]
        self.assertEqual(page.row("harmonic mean", ""), ["harmonic mean", "", *harmonic])
        self.assertEqual(page.row("link.bandwidth_gbps"), ["link.bandwidth_gbps", "96", "96", "12"])

    @support.without_drawings
    def test_points_are_linked_their_reports_first_if_they_are_of_these_results(self) -> None:
        sweep = atoll_analysis.load_sweep(self.sweep())
        for name, of in (("mixed__sm", "mixed__sm"), ("mixed__mem", "mixed__narrow")):  # the latter's run was made again
            text = run_report.page(atoll_analysis.load(sweep.path / f"{of}.h5"))
            (sweep.path / f"{name}.html").write_text(text, encoding="utf-8")
        (sweep.path / "mixed__narrow.html").write_bytes(b"no page of ours \xff")
        (sweep.path / "alone__mem.html").mkdir()
        page = Page(sweep_report.page(sweep, self.folder))
        links = [value for tag, name, value in page.attributes if (tag, name) == ("a", "href") and not value.startswith("#")]
        self.assertEqual(len(links), 6)
        self.assertEqual(links[:4], ["sweep/mixed__mem.h5", "sweep/mixed__sm.html", "sweep/mixed__narrow.h5",
                                     "sweep/alone__mem.h5"])

    def test_missing_points_are_named(self) -> None:
        folder = self.sweep()
        (folder / "alone__sm.h5").unlink()
        page = self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder))
        self.assertEqual(page.row("alone__sm"), ["alone__sm", "no result"])
        self.assertIn("1 of 6 points", page.text)
        self.assertIn("do not compare with the others, as they are of fewer workloads: sm.", page.text)
        (folder / "mixed__sm.h5").unlink()
        self.assertNotIn("fewer workloads", sweep_report.page(atoll_analysis.load_sweep(folder), folder))

    @support.without_drawings
    def test_a_result_of_other_settings_is_a_missing_point_and_not_in_the_figures(self) -> None:
        folder = self.sweep()
        shutil.copy(folder / "mixed__sm.h5", folder / "mixed__mem.h5")
        page = self.check(sweep_report.page(atoll_analysis.load_sweep(folder), folder))
        self.assertEqual(page.row("mixed__mem"), ["mixed__mem", "`llc.organisation` = \"sm_side\" in it, now \"memory_side\""])
        self.assertEqual(page.row("mixed", "shared"), ["mixed", "shared", "–", "–", "–"])


class Numbers(unittest.TestCase):
    def test_numbers_have_three_digits_one_minus_sign_and_no_negative_zero(self) -> None:
        self.assertEqual([units.watts(v) for v in (0.5, 82.44, 1234.5, 123456.0)], ["0.5 W", "82.4 W", "1,230 W", "123,000 W"])
        self.assertEqual([units.percent(v) for v in (0.1234, -0.1234, -0.0001)], ["12.3 %", "−12.3 %", "0.0 %"])

    def test_units_are_chosen_after_rounding_and_large_numbers_have_no_exponents(self) -> None:
        self.assertEqual([units.seconds(v) for v in (1234, 0.9996, 999.7e-6, 1.5e-6, 2e-10)],
                         ["1,230 s", "1 s", "1 ms", "1.5 µs", "0.2 ns"])
        self.assertEqual([units.joules(v) for v in (12345, 1, 0.9996e-3, 82.4e-6, 0)],
                         ["12,300 J", "1.00 J", "1.00 mJ", "82.4 µJ", "0.00 nJ"])

    def test_host_time_is_as_the_program_prints_it(self) -> None:
        self.assertEqual([units.duration(v) for v in (0, 59.4, 59.5, 1234, 3599.6, 11100, 86399.7, 200000)],
                         ["0 s", "59 s", "1 min 00 s", "20 min 34 s", "1 h 00 min", "3 h 05 min", "1 d 00 h", "2 d 07 h"])


class Command(support.FolderTest):
    def report(self, *words: object) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.report([str(word) for word in words])
        return code, out.getvalue(), err.getvalue()

    @support.without_drawings
    def test_a_report_stands_beside_its_result(self) -> None:
        path = self.result()
        code, out, err = self.report(path)
        self.assertEqual((code, out, err), (0, f"{path.with_suffix('.html')}\n", ""))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["sac.h5", "sac.html"])

    def test_outputs_by_suffix_and_single_figures(self) -> None:
        code, _, err = self.report(self.result("cut.h5"), "-o", self.folder / "a.html", "-o", self.folder / "b.png",
                                   "--png", self.folder / "all")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue((self.folder / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>"))
        self.assertTrue((self.folder / "b.png").read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(sorted(p.name for p in (self.folder / "all").iterdir()),
                         ["channels.png", "energy.png", "latency.png", "responses.png", "slices.png", "timeline.png"])

    def test_a_sweep_and_its_points(self) -> None:
        folder = self.sweep()
        for name in ("mixed__narrow", "alone__mem", "alone__sm", "alone__narrow"):
            (folder / f"{name}.h5").unlink()
        code, out, err = self.report(folder, "--points")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(list(folder.glob("*__*.html"))), 2)
        self.assertEqual(out.splitlines()[-3:], [
            str(folder / "report.html"), "mixed: fastest is memory_side.",
            "warning: 4 of 6 points have no usable result, such as mixed__narrow (no result)."])
        self.assertIn('href="mixed__mem.html"', (folder / "report.html").read_text(encoding="utf-8"))

    @support.without_drawings
    def test_a_point_that_takes_too_long_is_named_and_the_others_have_their_pages(self) -> None:
        folder, out, err = self.sweep(), io.StringIO(), io.StringIO()

        def slow(path: pathlib.Path) -> None:
            while path.stem == "mixed__mem":
                pass

        with unittest.mock.patch.multiple(bounded, SECONDS=1, SECONDS_PER_FILE=0), \
                unittest.mock.patch.multiple(cli, load=slow), unittest.mock.patch.multiple(run_report, page=lambda _: "page"), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run(cli._arguments([str(folder), "--points"]), bounded.bounded)
        self.assertEqual((code, err.getvalue()), (2, f"atoll-report: {folder / 'mixed__mem.h5'}: took longer than 1 s: damaged, or very "
                                                     "large\n"))
        self.assertEqual(len(list(folder.glob("*__*.html"))), 5)
        self.assertTrue((folder / "report.html").exists())

    def test_an_image_of_a_sweep_without_figures_is_refused_in_its_name(self) -> None:
        folder = self.sweep()
        for path in folder.glob("*__[sn]*.h5"):
            path.unlink()
        code, _, err = self.report(folder, "-o", self.folder / "a.png")
        self.assertEqual(code, 2)
        self.assertIn("this sweep has no figure", err)

    @support.without_drawings
    def test_a_page_that_does_not_fit_is_told_by_its_name_and_leaves_nothing(self) -> None:
        path, before = self.result(), resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            code, out, err = self.report(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        self.assertEqual((code, out), (4, ""))
        self.assertEqual(err, f"atoll-report: {path.with_suffix('.html')}: cannot be written: File too large; "
                              "-o FILE writes it elsewhere\n")
        self.assertEqual([p.name for p in self.folder.iterdir()], ["sac.h5"])

    @support.without_drawings
    def test_folders_that_cannot_be_written_to_are_told_with_a_way_out(self) -> None:
        path, read_only = self.result("cut.h5"), OSError(errno.EROFS, "Read-only file system", ".cut.part.html")
        with unittest.mock.patch.multiple(pathlib.Path, write_text=unittest.mock.Mock(side_effect=read_only),
                                          unlink=unittest.mock.Mock(side_effect=read_only)):
            found = self.report(path)
        page = path.with_suffix(".html")
        self.assertEqual(found, (4, "", f"atoll-report: {page}: cannot be written: Read-only file system; -o FILE writes it "
                                        "elsewhere\n"))
        below = path / "page.html"
        self.assertEqual(self.report(path, "-o", below), (4, "", f"atoll-report: {below}: cannot be written: File exists; -o FILE "
                                                                 "writes it elsewhere\n"))

    def test_bad_files_and_names_are_one_line_and_leave_nothing(self) -> None:
        bad = self.result()
        bad.write_bytes(bad.read_bytes()[:9000])
        for words, said in ((f"{bad}", "is truncated or damaged"), (f"{self.folder}/none.h5", "does not exist"),
                            (f"{self.result('cut.h5')} -o {self.folder}/x.h5", "should end in .html"),
                            (f"{self.result('cut.h5')} --points", "--points is of a sweep's folder"),
                            (f"{self.folder} {self.folder}", "is a folder: several results are compared")):
            code, out, err = self.report(*words.split())
            self.assertEqual((code, out), (2, ""))
            self.assertRegex(err, rf"^atoll-report: .*{said}.*\n$")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["cut.h5", "sac.h5"])


if __name__ == "__main__":
    support.main()
