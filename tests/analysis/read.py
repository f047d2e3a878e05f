"""Every table of a result says what the file says, which h5py reads here without the package; bad files are named."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Callable

import support
import h5py
import numpy as np

import atoll_analysis
from atoll_analysis.bounded import bounded, note
from atoll_analysis import BadResult, comparison, config, rates, run_report, structures
from atoll_analysis.decisions import judged, options
from atoll_analysis.figures import sharing
from atoll_analysis.metrics import metrics, sums
from atoll_analysis.schema import READABLE_VERSIONS


class Tables(support.FolderTest):
    def setUp(self) -> None:
        super().setUp()
        path = self.result("sac.h5")
        self.run_ = atoll_analysis.load(path)
        self.file = h5py.File(path, "r")
        self.addCleanup(self.file.close)

    def test_head_and_provenance(self) -> None:
        r, f = self.run_, self.file
        self.assertEqual(r.digest, f"{f.attrs['digest']:016x}")
        self.assertEqual((r.cycles, r.complete, r.schema_version, r.chips), (f.attrs["cycles"], True, 3, 4))
        self.assertEqual(r.provenance["system"], "sac-4chip")
        self.assertEqual(list(r.provenance["hosts"]), list(f["provenance"].attrs["hosts"]))
        self.assertNotIn("effective_config", r.provenance)

    def test_counters_are_those_of_the_series_by_sample_and_chip(self) -> None:
        table, series = self.run_.counters, self.file["series"]
        ends = series["end_cycle"][:]
        self.assertEqual(table.index.names, ["sample", "chip"])
        self.assertEqual(set(table.columns), {"begin", "end", *series} - {"end_cycle"})
        for name in set(series) - {"end_cycle"}:
            np.testing.assert_array_equal(table[name].unstack("chip").to_numpy(), series[name][:], name)
        np.testing.assert_array_equal(table["end"].unstack("chip")[3], ends)
        np.testing.assert_array_equal(table["begin"].unstack("chip")[0], [0, *ends[:-1]])
        self.assertEqual(self.run_.units["llc.hits"], "requests")
        self.assertIn("found all their data in the slice", self.run_.docs["llc.hits"])

    def test_totals_are_the_sums_of_the_series(self) -> None:
        sums = self.run_.counters.drop(columns=["begin", "end"]).groupby(level="chip").sum()
        for name in self.file["totals"]:
            np.testing.assert_array_equal(self.run_.totals[name], self.file[f"totals/{name}"][:], name)
            np.testing.assert_array_equal(self.run_.totals[name], sums[name], name)

    def test_kernels(self) -> None:
        table, group = self.run_.kernels, self.file["kernels"]
        self.assertEqual(list(table["name"]), ["_Z6gatherPKfPf", "update", "mix"])
        for column in ("ctas", "launched", "started", "finished"):
            self.assertEqual(list(table[column]), list(group[column][:]), column)
        self.assertEqual(list(table["cycles"]), list(group["finished"][:] - group["launched"][:]))
        self.assertEqual(table["cycles"].sum(), self.run_.cycles)

    def test_slices_channels_latency_and_energy(self) -> None:
        for name, parts in (("slices", "slice"), ("channels", "channel"), ("latency", "bucket")):
            table = getattr(self.run_, name)
            self.assertEqual(table.index.names, ["chip", parts])
            self.assertEqual(set(table.columns), set(self.file[name]))
            for column in table:
                np.testing.assert_array_equal(table[column].unstack(parts).to_numpy(), self.file[f"{name}/{column}"][:])
        self.assertEqual(self.run_.slices["accesses"].sum(), self.run_.totals["llc.accesses"].sum())
        self.assertEqual(list(self.run_.latency.columns)[:2], ["local_llc", "remote_llc"])
        for component in self.file["energy"]:
            np.testing.assert_array_equal(self.run_.energy[component], self.file[f"energy/{component}"][:])

    def test_decisions_with_all_values_of_the_model(self) -> None:
        table, group = self.run_.decisions, self.file["decisions"]
        self.assertEqual(list(table["choice"]), [c.decode() for c in group["choice"][:]])
        self.assertEqual(list(table["cycle"]), list(group["cycle"][:]))
        self.assertEqual(set(table.columns) - {"kernel", "cycle", "choice"}, set(group["values"]))
        np.testing.assert_array_equal(table["sm_side.eab"], group["values/sm_side.eab"][:])
        self.assertEqual(set(table["choice"]), {"sm_side", "memory_side"})

    def test_sharing_footprint_windows_and_their_means(self) -> None:
        group, windows = self.file["sharing"], self.file["sharing/window_cycles"][:]
        for kind in group["windows"]:
            np.testing.assert_array_equal(self.run_.sharing[kind].unstack("window").to_numpy(), group[f"windows/{kind}"][:])
            self.assertEqual(self.run_.footprint[kind], group[f"footprint/{kind}"][0])
        means = sharing.working_sets(self.run_)
        busy = sum(group[f"windows/{kind}"][:] for kind in group["windows"]).sum(axis=1) > 0
        by_hand = [group["windows/true_shared"][:][busy, at].mean() for at in range(len(windows))]
        np.testing.assert_allclose(means["true_shared"].iloc[:-1], by_hand)
        self.assertEqual(means.loc["run", "distinct"], sum(group[f"footprint/{k}"][0] for k in
                                                           ("true_shared", "false_shared", "not_shared")))

    def test_config_is_flat_and_in_the_order_of_the_file(self) -> None:
        whole = json.loads(self.file["provenance"].attrs["effective_config"])
        self.assertEqual(self.run_.config["llc.organisation"], "sac")
        self.assertEqual(self.run_.config["dram.timing.burst_bytes"], whole["dram"]["timing"]["burst_bytes"])
        self.assertEqual(list(self.run_.config.index[:2]), list(whole)[:2])
        self.assertEqual(config.overrides(self.run_.provenance["command"])[:2], ["sm.count", "l1.size_kib"])

    def test_metrics_are_quotients_of_sums(self) -> None:
        values, totals = metrics(self.run_), self.file["totals"]
        self.assertAlmostEqual(values["llc.hit_rate"], totals["llc.hits"][:].sum() / totals["llc.accesses"][:].sum())
        self.assertAlmostEqual(values["ipc"], totals["warp.instructions"][:].sum() / self.file.attrs["cycles"])
        self.assertAlmostEqual(values["energy.total"], sum(d[:].sum() for d in self.file["energy"].values()))

    def test_coarser_samples_keep_every_sum_and_the_whole_time(self) -> None:
        fine = self.run_.counters
        coarse = rates.coarsened(fine, 4)
        self.assertLessEqual(len(rates.lengths(coarse)), 4)
        self.assertEqual(rates.lengths(coarse).sum(), rates.lengths(fine).sum())
        self.assertEqual(rates.edges(coarse)[-1], rates.edges(fine)[-1])
        np.testing.assert_array_equal(coarse["llc.hits"].groupby(level="chip").sum(), self.run_.totals["llc.hits"])
        whole = rates.lengths(fine)[:-1]  # the last may be cut short
        np.testing.assert_array_equal(rates.looks(fine, 1000)[:-1], whole / 1000)
        self.assertIn(rates.looks(coarse, 1000).sum(), (len(whole), len(whole) + 1))

    def test_part_of_a_sample_counts_in_proportion(self) -> None:
        issued, ends = self.file["series/warp.instructions"][:].sum(axis=1), self.file["series/end_cycle"][:].astype(float)
        self.assertEqual(list(ends[1:3] - ends[:2]), [1000, 1000])
        found = rates.during(self.run_, [ends[0] + 500], [ends[1] + 250], ["warp.instructions"])["warp.instructions"][0]
        self.assertAlmostEqual(found, issued[1] / 2 + issued[2] / 4)


class Documents(support.unittest.TestCase):
    def test_the_page_names_every_member_of_a_result_and_the_versions_that_are_read(self) -> None:
        page = (support.HERE.parents[1] / "docs/analysis.md").read_text(encoding="utf-8")
        table = page[page.index("| member of `load()`"):page.index("The counters are those")]
        self.assertEqual([of.name for of in dataclasses.fields(atoll_analysis.Result) if f"`{of.name}`" not in table], [])
        self.assertIn(f"another schema version ({READABLE_VERSIONS[0]} to {READABLE_VERSIONS[-1]} are read)", page)


class OtherRuns(support.FolderTest):
    def test_a_run_that_was_stopped_has_a_kernel_without_end(self) -> None:
        cut = atoll_analysis.load(self.result("cut.h5"))
        self.assertFalse(cut.complete)
        self.assertTrue(cut.kernels["cycles"].isna().iloc[-1])
        self.assertEqual(int(cut.kernels["cycles"].isna().sum()), 1)

    def test_one_chip_with_sharing_between_sms_and_without_links(self) -> None:
        path = self.result("selrep.h5")
        run = atoll_analysis.load(path)
        self.assertEqual(run.chips, 1)
        self.assertIsNone(run.sharing)
        with h5py.File(path) as file:
            np.testing.assert_array_equal(run.sm_sharing["shared_lines"], file["sm_sharing/shared_lines"][:])
            self.assertEqual(run.sm_sharing.attrs["line_bytes"], file["sm_sharing/line_bytes"][0])
        self.assertEqual(set(options(run)), {"shared", "degree_2", "degree_4", "degree_8", "private"})

    def test_version_4_has_a_stack_by_kernel_and_chip(self) -> None:
        path = self.result()
        with support.edited(path) as file:
            file.attrs["schema_version"] = np.uint64(4)
            file["stack/dram"] = np.arange(12.0).reshape(3, 4)
            file["stack/issue"] = np.ones((3, 4))
            file["novel/name"] = np.array(["a", "b"], dtype=h5py.string_dtype())
            file["novel/loads"] = np.array([1, 2], dtype=np.uint64)
        run = atoll_analysis.load(path)
        self.assertEqual(run.schema_version, 4)
        self.assertEqual(run.stack.loc[(2, 1), "dram"], 9.0)
        self.assertIsNone(run.structures)
        self.assertIsNone(run.structure_use)
        self.assertEqual(list(run.other["novel"]["name"]), ["a", "b"])


    def test_version_5_has_data_structures_by_kernel_and_chip(self) -> None:
        path = self.result()
        support.add_structures(path)
        run = atoll_analysis.load(path)
        self.assertEqual(run.schema_version, 5)
        self.assertEqual(list(run.structures["name"]), ["#0", "weights", "unused", "other"])
        self.assertEqual(run.structure_use.loc[(1, 0, 2), "reads"], 122)
        self.assertEqual(run.structure_homes.loc[(1, 3), 0], 30)
        table = structures.by_structure(run)
        self.assertEqual(list(table["name"]), ["#0", "weights", "other"])  # by requests; nobody used the fourth
        self.assertEqual(table.loc[0, "requests"], 972)
        self.assertEqual(list(structures.askers(run).loc[1]), [0, 0, 0, 40])
        self.assertEqual(list(structures.homes(run).loc[1]), [30, 10, 0, 0])


class CountersOfOtherAtolls(support.FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.result("sac.h5")
        self.whole = atoll_analysis.load(self.path)

    @support.without_drawings
    def test_one_that_the_file_does_not_have_is_zero_in_sums_rates_and_metrics(self) -> None:
        missing = ("llc.hits", "dram.read_bytes")
        with support.edited(self.path) as file:
            for name in missing:
                del file[f"series/{name}"], file[f"totals/{name}"]
        old, whole = atoll_analysis.load(self.path), self.whole
        self.assertEqual(set(whole.totals) - set(old.totals), set(missing))
        self.assertEqual((sums(old)["llc.hits"], old.totals.get("llc.hits", 0)), (0, 0))
        self.assertEqual(sums(old)["llc.accesses"], sums(whole)["llc.accesses"])
        self.assertEqual(metrics(old)["llc.hit_rate"], 0)
        self.assertEqual(metrics(old)["dram.bytes_per_cycle"], whole.totals["dram.write_bytes"].sum() / old.cycles)
        self.assertEqual(metrics(old)["llc.miss_rate"], metrics(whole)["llc.miss_rate"])
        self.assertEqual(rates.by_chip(old.counters, "llc.hits").to_numpy().sum(), 0)
        counted = rates.during(old, [0.0], [rates.edges(old.counters)[-1]], ["llc.hits", "llc.accesses"]).iloc[0]
        self.assertEqual(list(counted), [0, whole.totals["llc.accesses"].sum()])
        self.assertEqual(list(judged(old)["bandwidth.measured"]), list(judged(whole)["bandwidth.measured"]))
        self.assertIn(old.digest, run_report.page(old))

    @support.without_drawings
    def test_one_that_only_the_file_has_is_a_column_and_on_the_page(self) -> None:
        with support.edited(self.path) as file:
            for group in ("series", "totals"):
                file[f"{group}/llc.of_tomorrow"] = file[f"{group}/llc.hits"][:]
        run = atoll_analysis.load(self.path)
        self.assertEqual(list(run.totals["llc.of_tomorrow"]), list(self.whole.totals["llc.hits"]))
        self.assertEqual(list(run.counters["llc.of_tomorrow"]), list(self.whole.counters["llc.hits"]))
        self.assertIn("llc.of_tomorrow", run_report.page(run))


def reading(path: str, work: Callable[[], int | None]) -> int:
    note(path)
    return work() or 0


def spin() -> int:
    while True:
        pass


class Sampled(support.FolderTest):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.result("sac.h5")
        support.make_sampled(self.path)

    def test_figures_of_the_whole_workload_stand_beside_what_was_simulated(self) -> None:
        r = atoll_analysis.load(self.path)
        assert r.sampling is not None
        self.assertEqual(r.workload_cycles, 1e6)
        self.assertNotEqual(r.cycles, 1e6)
        self.assertEqual(tuple(r.sampling.figures.loc["cycles"]), (1e6, 2e4))
        self.assertEqual(list(r.sampling.launches["simulated"])[:2], [True, False][:len(r.kernels)])
        self.assertIn(f"sampled: 1 of {len(r.kernels)} launches simulated", repr(r))
        whole, simulated = metrics(r), metrics(r, simulated=True)
        self.assertEqual((whole["cycles"], whole["ipc"], whole["llc.hit_rate"]), (1e6, 3.0, 0.5))
        self.assertEqual((whole["energy.total"], whole["energy.llc"]), (2.5, 0.5))
        self.assertEqual(simulated["cycles"], r.cycles)

    @support.without_drawings
    def test_its_page_says_so_and_pages_of_several_refuse_it(self) -> None:
        page = run_report.page(atoll_analysis.load(self.path))
        self.assertIn("launches simulated", page)
        run = atoll_analysis.load(self.path)
        self.assertIn(f"{run.kernels['ctas'].sum()} CTAs in all; 1 kernel simulated", page)
        self.assertIn("1,000,000", page.replace("1e+06", "1,000,000"))
        other = self.result("sac.h5").rename(self.folder / "whole.h5")
        support.make_sampled(self.result("sac.h5"))
        with self.assertRaisesRegex(BadResult, "is sampled: 1 of"):
            comparison.compare([atoll_analysis.load(other), atoll_analysis.load(self.path)])


class Refusals(support.FolderTest):
    def refusal(self, path: pathlib.Path) -> str:
        with self.assertRaises(BadResult) as caught:
            atoll_analysis.load(path)
        self.assertTrue(str(caught.exception).startswith(f"{path}: "))
        return caught.exception.problem

    def with_attribute(self, name: str, value: object) -> str:
        path = self.result()
        with support.edited(path) as file:
            file.attrs[name] = value
        return self.refusal(path)

    def test_other_versions_are_refused_by_number_with_what_to_do(self) -> None:
        old, new = self.with_attribute("schema_version", 2), self.with_attribute("schema_version", 99)
        self.assertRegex(old, "version 2, which is too old .* reads 3, 4, 5 and 6.*; run the simulation again")
        self.assertRegex(new, "version 99, which is too new .*; use the analysis/ of the Atoll")

    def test_other_hdf5_files_are_told_from_results(self) -> None:
        trace = pathlib.Path(__file__).parents[2] / "inputs" / "workloads" / "traces" / "vectoradd.h5"
        self.assertIn("is a trace and no result", self.refusal(trace))
        self.assertIn("no result of `atoll run`", self.with_attribute("schema", "atoll-trace"))
        path = self.folder / "other.h5"
        h5py.File(path, "w").close()
        self.assertIn("has no checksum", self.refusal(path))
        with support.edited(path):
            pass
        self.assertIn("attribute `schema` is missing", self.refusal(path))

    def test_what_may_have_no_end_is_refused_before_it_is_opened(self) -> None:
        pipe = self.folder / "pipe.h5"
        os.mkfifo(pipe)
        for path in (pipe, pathlib.Path("/dev/zero")):
            self.assertIn("is a device, pipe or socket", self.refusal(path))

    def test_a_reading_child_ends_when_hdf5_crashes_or_takes_for_ever_and_the_file_read_last_is_named(self) -> None:
        inputs = [pathlib.Path("sweep")]
        self.assertEqual(bounded(inputs, lambda: 7), 7)
        for work, said in ((lambda: os.kill(os.getpid(), signal.SIGSEGV), "crashes on it .SIGSEGV"),
                           (spin, "took longer than 1 s: damaged, or very large")):
            with self.assertRaisesRegex(BadResult, "^sweep: .*" + said):
                bounded(inputs, work, seconds=1)
            with self.assertRaisesRegex(BadResult, "^sweep/a.h5: .*" + said):
                bounded(inputs, lambda: reading("sweep/a.h5", work), seconds=1)

    def test_a_child_of_a_child_leaves_the_name_of_its_file_behind(self) -> None:
        def work() -> int:
            bounded([pathlib.Path("sweep/a.h5")], lambda: 0)
            return reading("sweep/b.h5", lambda: os.kill(os.getpid(), signal.SIGSEGV))

        with self.assertRaisesRegex(BadResult, "^sweep/b.h5: "):
            bounded([pathlib.Path("sweep")], work)

    def test_a_file_cut_short_an_empty_one_a_text_and_none(self) -> None:
        path = self.result()
        path.write_bytes(path.read_bytes()[:50000])
        self.assertIn("is truncated or damaged", self.refusal(path))
        path.write_bytes(b"")
        self.assertIn("is empty", self.refusal(path))
        path.write_text("IPC 3")
        self.assertIn("not an HDF5 file", self.refusal(path))
        path.unlink()
        self.assertEqual(self.refusal(path), "does not exist")
        self.assertIn("load_sweep", self.refusal(self.folder))

    def test_a_missing_group_is_named(self) -> None:
        path = self.result()
        with support.edited(path) as file:
            del file["latency"]
        self.assertRegex(self.refusal(path), "damaged or incomplete.*latency")


class Imports(support.FolderTest):
    def printed(self, code: str) -> str:
        """By a Python that has imported nothing yet."""
        said = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, encoding="utf-8",
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(said.stderr, "")
        return said.stdout

    def test_tables_need_no_library_of_figures_which_is_slow_to_load(self) -> None:
        code = "import sys, atoll_analysis, atoll_analysis.rankings; print([m for m in sys.modules if m.startswith('matplotlib')])"
        self.assertEqual(self.printed(code), "[]\n")

    def test_what_the_document_names_is_there_after_the_one_import(self) -> None:
        text = (pathlib.Path(__file__).parents[2] / "docs" / "analysis.md").read_text(encoding="utf-8")
        names = set(re.findall(r"\batoll_analysis\.((?:[a-z_]+\.)*[a-z_]+)", text)) | {
            "structures.by_kernel", "structures.askers", "structures.homes", "rankings.rankings", "work.unlike", "figures.Chart"}
        self.assertLessEqual({"load_sweep", "metrics.metrics", "rates", "roofline.bounds"}, names)
        self.assertEqual(self.printed("import atoll_analysis\n" + "".join(
            f"atoll_analysis.{name}; assert '{name.split('.')[0]}' in dir(atoll_analysis)\n" for name in sorted(names))), "")
        self.assertIn("no attribute 'rakings'", self.printed(
            "import atoll_analysis\ntry: atoll_analysis.rakings\nexcept AttributeError as error: print(error)"))

    def test_the_functions_that_the_document_names_take_a_run_or_a_sweep_after_the_one_import(self) -> None:
        path, folder = self.result(), self.sweep()
        support.add_structures(path)
        self.assertEqual(self.printed(f"""
import atoll_analysis
run = atoll_analysis.load({str(path)!r})
for of in (atoll_analysis.structures.by_structure, atoll_analysis.structures.by_kernel, atoll_analysis.structures.askers,
           atoll_analysis.structures.homes, atoll_analysis.roofline.bounds, atoll_analysis.metrics.metrics,
           atoll_analysis.decisions.judged):
    assert len(of(run)) > 0, of
assert len(atoll_analysis.rankings.rankings(atoll_analysis.load_sweep({str(folder)!r}))) == 2
assert atoll_analysis.work.unlike(run, run) == ""
assert len(atoll_analysis.rates.per_cycle(run.counters, "llc.hits")) > 0
assert isinstance(atoll_analysis.run_report.charts(run)["timeline"], atoll_analysis.figures.Chart)
print("all")
"""), "all\n")


if __name__ == "__main__":
    support.main()
