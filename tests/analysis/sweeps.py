"""A sweep's tidy table, speed-ups and means, against what h5py and a pencil say."""

import support
import h5py
import numpy as np

import atoll_analysis
from atoll_analysis import BadResult, means


def cycles(path: object) -> int:
    with h5py.File(path) as file:
        return int(file.attrs["cycles"])


def issued(path: object) -> int:
    with h5py.File(path) as file:
        return int(file["totals/warp.instructions"][:].sum())


class Means(support.unittest.TestCase):
    def test_harmonic_mean_of_1_2_4_is_12_sevenths(self) -> None:
        self.assertAlmostEqual(means.harmonic([1, 2, 4]), 12 / 7)

    def test_ipc_first_weighs_workloads_of_low_ipc_most(self) -> None:
        # Ours 1 and 10, baseline 0.5 and 10: (2 / (1 + 1/10)) / (2 / (2 + 1/10)) = 2.1 / 1.1
        self.assertAlmostEqual(means.ipc_first([1, 10], [0.5, 10]), 2.1 / 1.1)

    def test_means_of_nothing_are_no_number(self) -> None:
        self.assertNotEqual(means.harmonic([]), means.harmonic([]))
        self.assertNotEqual(means.ipc_first([], []), means.ipc_first([], []))
        with self.assertRaises(ValueError):
            means.ipc_first([1], [])


class Sweeps(support.FolderTest):
    def test_a_row_per_run_in_the_order_of_the_experiment(self) -> None:
        folder = self.sweep()
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual([tuple(r) for r in sweep.runs[["workload", "variant"]].itertuples(index=False)],
                         [(w, v) for w in ("mixed", "alone") for v in ("mem", "sm", "narrow")])
        self.assertEqual(list(sweep.runs["group"]), ["shared"] * 3 + ["private"] * 3)
        self.assertEqual(set(sweep.runs["baseline"]), {"mem"})
        for _, run in sweep.runs.iterrows():
            path = folder / run["file"]
            self.assertEqual(run["cycles"], cycles(path))
            self.assertAlmostEqual(run["ipc"], issued(path) / cycles(path))
            self.assertAlmostEqual(run["speedup"], cycles(folder / f"{run['workload']}__mem.h5") / cycles(path))
        self.assertEqual(sweep.missing, {})

    def test_means_of_groups_and_of_all(self) -> None:
        folder = self.sweep()
        table = atoll_analysis.load_sweep(folder).means()
        ratios = [cycles(folder / f"{w}__mem.h5") / cycles(folder / f"{w}__narrow.h5") for w in ("mixed", "alone")]
        self.assertNotAlmostEqual(ratios[0], ratios[1])
        self.assertAlmostEqual(table.loc[("ALL", "harmonic"), "narrow"], 2 / (1 / ratios[0] + 1 / ratios[1]))
        self.assertAlmostEqual(table.loc[("shared", "harmonic"), "narrow"], ratios[0])
        self.assertAlmostEqual(table.loc[("private", "ipc_first"), "narrow"], ratios[1])
        per_instruction = [[cycles(folder / f"{w}__{v}.h5") / issued(folder / f"{w}__{v}.h5") for w in ("mixed", "alone")]
                           for v in ("mem", "narrow")]
        self.assertAlmostEqual(table.loc[("ALL", "ipc_first"), "narrow"], sum(per_instruction[0]) / sum(per_instruction[1]))
        self.assertTrue((table["mem"] == 1).all())

    def test_only_keys_that_differ_are_differences(self) -> None:
        found = atoll_analysis.load_sweep(self.sweep()).differences
        self.assertEqual(set(found), {"llc.organisation", "link.bandwidth_gbps"})
        self.assertEqual(found.loc[("mixed", "narrow"), "link.bandwidth_gbps"], 12)

    def test_points_without_a_usable_result_are_listed_and_left_out_of_means(self) -> None:
        folder = self.sweep()
        (folder / "alone__sm.h5").unlink()
        with support.edited(folder / "alone__narrow.h5") as file:
            file.attrs["complete"] = np.uint64(0)
        with support.edited(folder / "mixed__sm.h5") as file:
            file.attrs["schema_version"] = np.uint64(2)
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual(len(sweep.runs), 3)
        self.assertEqual(sweep.missing["alone__sm"], "no result")
        self.assertEqual(sweep.missing["alone__narrow"], "stopped early")
        self.assertIn("schema version 2", sweep.missing["mixed__sm"])
        self.assertTrue(np.isnan(sweep.means().loc[("ALL", "harmonic"), "sm"]))
        self.assertAlmostEqual(sweep.means().loc[("ALL", "harmonic"), "narrow"], sweep.speedups().loc["mixed", "narrow"])

    def test_a_missing_baseline_leaves_no_speedup(self) -> None:
        folder = self.sweep()
        (folder / "alone__mem.h5").unlink()
        sweep = atoll_analysis.load_sweep(folder)
        self.assertTrue(np.isnan(sweep.speedups().loc["alone", "sm"]))
        self.assertFalse(np.isnan(sweep.speedups().loc["mixed", "sm"]))

    def test_without_its_experiment_a_folder_is_read_by_the_files_names(self) -> None:
        folder = self.sweep()
        (folder / "experiment.json").unlink()
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual(sweep.workloads, ("alone", "mixed"))
        self.assertEqual(set(sweep.runs["baseline"]), {sweep.variants[0]})

    def test_folders_without_results_and_files_are_refused(self) -> None:
        for path, problem in ((self.folder / "none", "does not exist"), (self.folder, "no files WORKLOAD__VARIANT.h5"),
                              (self.result(), "is no folder")):
            with self.assertRaisesRegex(BadResult, problem):
                atoll_analysis.load_sweep(path)


if __name__ == "__main__":
    support.main()
