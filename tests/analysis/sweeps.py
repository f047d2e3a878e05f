"""A sweep's tidy table, speed-ups and means, against what h5py and a pencil say."""

import contextlib
import html
import io
import json
import os
import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import support
import h5py
import numpy as np

import atoll_analysis
from atoll_analysis import BadResult, cli, means, sweep_report
from atoll_analysis.figures import speedups as figures
from atoll_analysis.file_digest import digest_of_file
from atoll_analysis.palette import LIGHT


def cycles(path: object) -> int:
    with h5py.File(path) as file:
        return int(file.attrs["cycles"])


def issued(path: object) -> int:
    with h5py.File(path) as file:
        return int(file["totals/warp.instructions"][:].sum())


class Means(support.unittest.TestCase):
    def test_a_mean_with_a_value_of_0_is_0(self) -> None:
        self.assertEqual(means.harmonic([2.0, 0.0]), 0)

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

    def test_one_group_has_means_too_as_in_the_table(self) -> None:
        folder = self.sweep()
        file = folder / "experiment.json"
        experiment = json.loads(file.read_text())
        del experiment["workloads"][1]["group"]
        file.write_text(json.dumps(experiment))
        sweep = atoll_analysis.load_sweep(folder)
        table = sweep.means()
        self.assertEqual(list(table.index.get_level_values("group")), ["shared", "shared", "ALL", "ALL"])
        self.assertAlmostEqual(table.loc[("shared", "harmonic"), "narrow"], sweep.speedups().loc["mixed", "narrow"])
        self.assertIn("shared", [axes.get_title(loc="left") for axes in figures.means(sweep).draw(LIGHT).figure.axes])

    def test_with_core_clocks_that_differ_speedups_are_of_times_and_ipcs_of_instructions_a_second(self) -> None:
        folder = self.sweep()
        self.assertEqual(atoll_analysis.load_sweep(folder).clock_note, "")
        support.set_clock(folder / "experiment.json", "narrow", 1500.0)
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual(sweep.missing, {})
        self.assertIn("different core clocks (1000, 1500 MHz)", sweep.clock_note)
        ratios = [cycles(folder / f"{w}__mem.h5") / cycles(folder / f"{w}__narrow.h5") * 1.5 for w in ("mixed", "alone")]
        for at, workload in enumerate(("mixed", "alone")):
            self.assertAlmostEqual(sweep.speedups().loc[workload, "narrow"], ratios[at])
            self.assertAlmostEqual(sweep.speedups().loc[workload, "sm"], cycles(folder / f"{workload}__mem.h5")
                                   / cycles(folder / f"{workload}__sm.h5"))
        means = sweep.means()
        self.assertAlmostEqual(means.loc[("ALL", "harmonic"), "narrow"], 2 / (1 / ratios[0] + 1 / ratios[1]))
        self.assertAlmostEqual(means.loc[("private", "ipc_first"), "narrow"], ratios[1])
        narrow = sweep.runs["variant"] == "narrow"
        self.assertEqual(list(sweep.runs[narrow]["cycles"]), [cycles(folder / f"{w}__narrow.h5") for w in ("mixed", "alone")])
        self.assertEqual(list(sweep.seconds[narrow]), [c / 1.5e9 for c in sweep.runs[narrow]["cycles"]])

    def test_with_core_clocks_that_differ_by_workload_means_are_of_instructions_a_second(self) -> None:
        folder = self.sweep()
        file = folder / "experiment.json"
        experiment = json.loads(file.read_text())
        experiment["workloads"][0]["set"]["core_clock_mhz"] = 2000.0
        file.write_text(json.dumps(experiment))
        for path in folder.glob("mixed__*.h5"):
            support.set_key(path, "core_clock_mhz", 2000.0)
        support.set_clock(file, "narrow", 1000.0)  # above its workload's
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual(sweep.missing, {})
        seconds = {v: [cycles(folder / f"{w}__{v}.h5") / issued(folder / f"{w}__{v}.h5") / mhz
                       for w, mhz in (("mixed", 1000.0 if v == "narrow" else 2000.0), ("alone", 1000.0))]
                   for v in ("mem", "sm", "narrow")}  # of an instruction
        for variant in ("sm", "narrow"):
            self.assertAlmostEqual(sweep.means().loc[("ALL", "ipc_first"), variant],
                                   sum(seconds["mem"]) / sum(seconds[variant]))

    def test_runs_of_another_scale_than_their_baselines_have_no_speedup(self) -> None:
        folder = self.sweep()
        self.assertEqual(atoll_analysis.load_sweep(folder).work_note, "")
        support.set_for_variant(folder / "experiment.json", "narrow", "scale", 16)
        sweep = atoll_analysis.load_sweep(folder)
        self.assertEqual((len(sweep.runs), sweep.missing), (6, {}))
        self.assertIn("different work (scale 1, 16)", sweep.work_note)
        self.assertTrue(sweep.speedups()["narrow"].isna().all())
        self.assertFalse(sweep.speedups()[["mem", "sm"]].isna().any(axis=None))
        self.assertTrue(sweep.means()["narrow"].isna().all())

    def test_runs_of_other_pages_have_a_speedup_where_their_accesses_are_those_of_the_baseline(self) -> None:
        folder = self.sweep()
        support.set_for_variant(folder / "experiment.json", "narrow", "partition.page_kib", 64)
        self.assertFalse(atoll_analysis.load_sweep(folder).speedups().isna().any(axis=None))
        for counter in ("warp.instructions", "l1.sector_accesses", "l1.store_sectors"):
            for more in (1, -1):
                with support.edited(folder / "mixed__narrow.h5") as file:
                    file[f"totals/{counter}"][0] += more
                sweep = atoll_analysis.load_sweep(folder)
                self.assertEqual(list(sweep.speedups()["narrow"].isna()), [more > 0, False], counter)
                self.assertEqual("different work (partition.page_kib" in sweep.work_note, more > 0, counter)

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

    def test_keys_that_do_not_differ_and_grids_of_one_key_are_refused(self) -> None:
        folder = self.sweep()
        with self.assertRaisesRegex(ValueError, "link.bandwidth_gbps is given for both"):
            atoll_analysis.load_sweep(folder).grid("link.bandwidth_gbps", "link.bandwidth_gbps")
        for path in [*folder.glob("alone__*.h5"), folder / "mixed__sm.h5", folder / "mixed__narrow.h5"]:
            path.unlink()
        with self.assertRaisesRegex(KeyError, "no key differs between them"):
            atoll_analysis.load_sweep(folder).along("llc.ways")

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


class Strangers(support.FolderTest):
    """Results in the folder that are of something else than its points."""

    def setUp(self) -> None:
        super().setUp()
        self.path = self.sweep()

    def experiment(self, edit: Callable[[dict[str, Any]], object]) -> None:
        file = self.path / "experiment.json"
        edit(stored := json.loads(file.read_text()))
        file.write_text(json.dumps(stored))

    def provenance(self, point: str, **values: str) -> None:
        with support.edited(self.path / f"{point}.h5") as file:
            file["provenance"].attrs.update(values)

    def key(self, point: str, key: str, value: object, started_at: str = "2000-01-01T00:00:00Z", command: str = "") -> None:
        """As if the point had been run with another value of a key."""
        support.set_key(self.path / f"{point}.h5", key, value)
        with support.edited(self.path / f"{point}.h5") as file:
            attributes = file["provenance"].attrs
            attributes["started_at"], attributes["command"] = started_at, attributes["command"] + command

    def missing(self) -> dict[str, str]:
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual(len(sweep.runs) + len(sweep.missing), 6)
        return dict(sweep.missing)

    def test_a_key_of_the_experiment_that_is_another_in_a_result(self) -> None:
        self.experiment(lambda e: [v["set"].update({"link.bandwidth_gbps": 50}) for v in e["variants"] if v["name"] == "sm"])
        why = "`link.bandwidth_gbps` = 96.0 in it, now 50.0"
        self.assertEqual(self.missing(), {"mixed__sm": why, "alone__sm": why})

    def test_a_variants_key_is_above_its_workloads_and_that_above_the_experiments(self) -> None:
        self.experiment(lambda e: (e["set"].update({"link.bandwidth_gbps": 1}),
                                   [w["set"].update({"link.bandwidth_gbps": 96, "llc": {"ways": 16}}) for w in e["workloads"]]))
        self.assertEqual(self.missing(), {})
        self.experiment(lambda e: e["workloads"][0]["set"].update({"llc": {"ways": 8}}))
        self.assertEqual(self.missing(), dict.fromkeys(("mixed__mem", "mixed__sm", "mixed__narrow"),
                                                       "`llc.ways` = 16 in it, now 8"))

    def test_another_system_scale_and_key_that_results_do_not_have(self) -> None:
        for key, value, why in (("system", "h100-sxm", "`name` = \"sac-4chip\" in it, now \"h100-sxm\""),
                                ("scale", 4, "`scale` = 1 in it, now 4"), ("set", {"l1.new": 1}, "`l1.new` = 1 is not in it")):
            file = self.path / "experiment.json"
            before = file.read_text()
            self.experiment(lambda e, key=key, value=value: e.update({key: value}))  # type: ignore[misc]
            with self.assertRaises(BadResult) as caught:
                atoll_analysis.load_sweep(self.path)
            self.assertIn(f"holds no result that can be compared ({why})", str(caught.exception))
            file.write_text(before)

    def test_a_systems_file_is_not_told_by_its_name_which_it_may_give_itself(self) -> None:
        for file in ("../my/h100.json", "h100.json", "../my/h100"):
            self.experiment(lambda e, file=file: e.update(system=file))  # type: ignore[misc]
            self.assertEqual(self.missing(), {})

    def test_a_key_that_the_experiment_leaves_alone_is_as_in_the_newest_result(self) -> None:
        self.key("alone__mem", "l1.ways", 2)
        self.assertEqual(self.missing(), {"alone__mem": "`l1.ways` = 2 in it, 4 in alone__narrow"})

    def test_a_set_that_is_not_the_experiments_is_wrong_even_in_the_newest_result(self) -> None:
        self.key("alone__sm", "link.bandwidth_gbps", 50.0, "2999-01-01T00:00:00Z", " --set link.bandwidth_gbps=50")
        self.assertEqual(self.missing(), {"alone__sm": "`link.bandwidth_gbps` = 50.0 in it, 96.0 in mixed__mem"})

    def test_timings_may_differ_with_the_memory_that_has_them(self) -> None:
        self.experiment(lambda e: e["variants"][1]["set"].update({"dram.preset": "hbm2"}))
        for workload in ("mixed", "alone"):
            self.key(f"{workload}__sm", "dram.preset", "hbm2")
            self.key(f"{workload}__sm", "dram.timing.ccd", 1)
        self.assertEqual(self.missing(), {})

    def test_a_sampled_run_among_others_and_the_other_way_round(self) -> None:
        self.provenance("mixed__sm", sampling="error=3%")
        self.assertEqual(self.missing(), {"mixed__sm": "it is sampled with error=3%, wanted not sampled"})
        self.experiment(lambda e: e.update(sample="error=3%"))
        found = self.missing()
        self.assertEqual((len(found), found["mixed__mem"]), (5, "it is not sampled, wanted sampled with error=3%"))

    def test_a_workload_that_was_edited_since_its_baseline_ran(self) -> None:
        self.provenance("alone__narrow", workload_digest="0" * 16)
        self.assertEqual(self.missing(), {"alone__narrow": "of another version of the workload than mem"})
        self.provenance("alone__mem", workload_digest="0" * 16)
        self.assertEqual(self.missing(), {"alone__sm": "of another version of the workload than mem"})

    def test_a_part_of_a_workload(self) -> None:
        self.provenance("alone__narrow", workload_digest="0" * 16, selection="kernels 0 to 1")
        self.assertEqual(self.missing(), {"alone__narrow": "it is of a part of the workload alone.json (kernels 0 to 1)"})

    def test_without_a_baseline_and_without_an_experiment_the_first_version_stays(self) -> None:
        (self.path / "experiment.json").unlink()
        (self.path / "alone__mem.h5").unlink()
        self.provenance("alone__sm", workload_digest="0" * 16)
        self.assertEqual(self.missing(), {"alone__mem": "no result",
                                          "alone__sm": "of another version of the workload than narrow"})

    def test_a_policy_that_was_edited_since(self) -> None:
        self.experiment(lambda e: [v["set"].update({"llc.policy": "mine.py"}) for v in e["variants"] if v["name"] != "mem"])
        for at, point in enumerate(("mixed__sm", "mixed__narrow", "alone__sm", "alone__narrow")):
            self.key(point, "llc.policy", "mine.py", f"200{at}-01-01T00:00:00Z")
            self.provenance(point, policy_digest="a" if point == "mixed__narrow" else "b")
        self.assertEqual(self.missing(), {"mixed__narrow": "of another version of the policy mine.py than alone__narrow"})

    @support.without_drawings
    def test_a_policy_that_was_edited_behind_its_runs_is_told_of(self) -> None:
        policy = self.path.parent / "mine.py"
        policy.write_text("class Policy: pass\n")
        self.experiment(lambda e: [v["set"].update({"llc.policy": str(policy)}) for v in e["variants"] if v["name"] == "sm"])
        for point in ("mixed__sm", "alone__sm"):
            self.key(point, "llc.policy", str(policy))
            self.provenance(point, policy_digest=digest_of_file(policy))
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual((sweep.changed, sweep.changed_note, sweep.missing), ((), "", {}))
        self.assertNotIn("has changed", sweep_report.page(sweep, self.path))
        policy.write_text("class Policy: pass  # edited\n")
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual((sweep.changed, len(sweep.runs)), ((str(policy),), 6))
        self.assertIn(f"{policy} has changed since these runs; `atoll sweep --force` runs them again.",
                      html.unescape(sweep_report.page(sweep, self.path)))
        policy.unlink()  # as where the folder was taken elsewhere
        self.assertEqual(atoll_analysis.load_sweep(self.path).changed, ())

    def workload(self, text: str) -> pathlib.Path:
        """One that all points of `mixed` are of, as if they ran now."""
        file = self.path.parent / "web.json"
        file.write_text(text)
        self.experiment(lambda e: e["workloads"][0].update(path="../web.json"))
        for variant in ("mem", "sm", "narrow"):
            self.provenance(f"mixed__{variant}", workload=str(file), workload_digest=digest_of_file(file))
        return file

    @support.without_drawings
    def test_a_workload_that_was_edited_behind_its_runs_is_told_of_whatever_time_it_is_given(self) -> None:
        file = self.workload('{"seed": 1}')
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual((sweep.changed, sweep.missing), ((), {}))
        file.write_text('{"seed": 2}')
        os.utime(file, (1, 1))
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual((sweep.changed, len(sweep.runs)), ((str(file),), 6))
        self.assertIn(f"{file} has changed since these runs; `atoll sweep --force` runs them again.",
                      html.unescape(sweep_report.page(sweep, self.path)))
        file.write_text('{"seed": 1}')  # as it was
        self.assertEqual(atoll_analysis.load_sweep(self.path).changed, ())
        file.unlink()  # as where the folder was taken elsewhere
        self.assertEqual(atoll_analysis.load_sweep(self.path).changed, ())

    def test_workloads_of_several_files_and_large_ones_are_left_to_atoll_table(self) -> None:
        for text in ("kernel-1.traceg\n", '{"doc": "' + "x" * (16 << 20) + '"}'):
            self.workload('{"seed": 1}').write_text(text)
            self.assertEqual(atoll_analysis.load_sweep(self.path).changed, ())

    @support.without_drawings
    def test_results_of_several_versions_are_told_of(self) -> None:
        self.assertEqual(atoll_analysis.load_sweep(self.path).version_note, "")
        self.provenance("mixed__sm", version="9.0", git_commit="abc")
        sweep = atoll_analysis.load_sweep(self.path)
        self.assertEqual(len(sweep.runs), 6)
        self.assertRegex(sweep.version_note, r"are of 2 versions of Atoll, .*: .* \(5 runs\), 9\.0 \(abc\) \(1 run\)\.$")
        self.assertIn(sweep.version_note, html.unescape(sweep_report.page(sweep, self.path)))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(cli.report([str(self.path)]), 0)
        self.assertIn(f"warning: {sweep.version_note}", said.getvalue().replace("\n  ", " "))

    def test_results_of_one_point_under_the_name_of_another(self) -> None:
        shutil.copy(self.path / "mixed__mem.h5", self.path / "mixed__sm.h5")
        self.assertEqual(self.missing(), {"mixed__sm": "`llc.organisation` = \"memory_side\" in it, now \"sm_side\""})


if __name__ == "__main__":
    support.main()
