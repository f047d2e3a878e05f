"""Results of today's simulator are read, and say what `atoll info` and `atoll table` say of them."""

import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys

import support
import h5py
import numpy as np

import atoll_analysis
from atoll_analysis import capacity, comparison_report, run_report, schema, seal, structures, sweep_report
from atoll_analysis.energy_range import total_range
from atoll_analysis.figures.responses import by_origin
from atoll_analysis.figures.sharing import working_sets
from atoll_analysis.metrics import metrics
from atoll_analysis.palette import LIGHT
from atoll_analysis.rankings import rankings
from atoll_analysis.tables import ORIGINS

sys.path.insert(1, str(support.HERE.parent / "validation/rec"))

import points

SMALL = ["sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2",
         "control.sample_cycles=1000", "llc.organisation=sm_side", "observe.sharing=true"]

PYTHON_POLICY = pathlib.Path(os.environ.get("ATOLL") or "atoll").with_name("atoll_python_policy.so")


def atoll(*words: object) -> str:
    return subprocess.run([os.environ["ATOLL"], *map(str, words)], check=True, capture_output=True, encoding="utf-8").stdout


class Fresh(support.FolderTest):
    def test_the_first_result_of_the_readme_is_what_the_demo_says_today(self) -> None:
        readme = (support.HERE.parent.parent / "README.md").read_text(encoding="utf-8")
        shown = re.findall(r"== (mixed|stream): four chips.*\n((?:    (?!==).*\n)+)", readme)
        self.assertEqual([workload for workload, _ in shown], ["mixed", "stream"])
        for workload, lines in shown:
            results = []
            for organisation in ("memory_side", "sm_side", "sac"):
                results.append(self.folder / f"{workload}-{organisation}.h5")
                atoll("run", "sac-4chip", "-w", workload, "--set", f"llc.organisation={organisation}", "-o", results[-1])
            said = subprocess.run([sys.executable, "-m", "atoll_analysis", *map(str, results), "-o", self.folder / "page.html"],
                                  check=True, capture_output=True, encoding="utf-8",
                                  env={**os.environ, "PYTHONPATH": sys.path[0]}).stdout.splitlines()
            figures = [line[4:] for line in lines.splitlines() if " x  " in line]
            self.assertEqual(figures, [line for line in said if " x  " in line])

    @support.without_drawings
    def test_a_new_result_is_read_and_agrees_with_atoll_info(self) -> None:
        path = self.folder / "new.h5"
        sets = [word for key in SMALL for word in ("--set", key)]
        atoll("run", "sac-4chip", "-w", support.DATA / "workload.json", *sets, "-o", path)
        said, run = json.loads(atoll("info", "--json", path)), atoll_analysis.load(path)
        self.assertIn(run.schema_version, schema.READABLE_VERSIONS)
        self.assertEqual((run.digest, run.cycles, run.chips), (said["digest"], said["cycles"], said["chips"]))
        self.assertEqual({str(k): int(v) for k, v in run.totals.sum().items()}, said["totals"])
        self.assertEqual({k: v for k, v in said["responses"].items() if v},
                         {str(k): int(v) for k, v in by_origin(run).sum().items()})
        ring = 2 * float(run.config["link.bandwidth_gbps"]) / run.clock_ghz  # two neighbours
        self.assertAlmostEqual(capacity.link_bytes_per_cycle(run), ring)
        self.assertEqual([k["cycles"] for k in said["kernels"]], list(run.kernels["cycles"]))
        used = structures.by_structure(run)
        self.assertEqual(used["requests"].sum(), said["totals"]["requests.local"] + said["totals"]["requests.remote"])
        self.assertEqual(used["remote"].sum(), said["totals"]["requests.remote"])
        self.assertEqual({k: v for k, v in said["responses"].items() if v},
                         {o: int(used[o].sum()) for o in ORIGINS if o in used and used[o].sum()})
        self.assertEqual(structures.askers(run).to_numpy().sum(), used["requests"].sum())
        self.assertLessEqual(set(used["name"]), set(run.structures["name"]))
        self.assertNotIn("other", set(used["name"]))  # a parametric workload's regions are all it has
        self.assertEqual(len(run.counters.index.unique("sample")), said["samples"])
        found = total_range(run.energy_prices)
        self.assertAlmostEqual(found.least, said["energy_range_joules"]["least"], places=12)
        self.assertAlmostEqual(found.greatest, said["energy_range_joules"]["greatest"], places=12)
        self.assertAlmostEqual(run.energy_prices["joules"].sum(), run.energy.to_numpy().sum(), places=12)
        for name, value in said["energy_joules"].items():
            self.assertAlmostEqual(metrics(run).get(name, 0.0), value)  # an L2 that is not there has no row
        table = working_sets(run)
        for row, window in zip(table.to_dict("records"), said["sharing"]["mean_windows"]):
            for kind in ("true_shared", "true_shared_copies", "false_shared", "not_shared"):
                self.assertLessEqual(abs(row[kind] - window[kind]), 1)  # whole bytes there
        for chip in range(run.chips):
            np.testing.assert_allclose(run.stack.xs(chip, level="chip").sum(axis=1), run.kernels["cycles"].astype(float))
        self.assertIn("Where the cycles went", [chart.title for chart in run_report.charts(run).values()])
        self.assertEqual(run.other, {}, "every group of a result has a table of its own")
        self.assertIn(run.digest, run_report.page(run))

    def test_a_result_says_whose_llcs_hold_lines(self) -> None:
        path = self.folder / "dies.h5"
        for protocol, chips in (("software", [0, 1]), ("hmg", [0, 1, 2, 3]), ("l1_only", [2, 3])):
            with self.subTest(protocol=protocol):
                keys = [*SMALL, f"coherence.protocol={protocol}", "partition.compute_chips=2", "partition.memory_chips=2"]
                words = [word for key in keys for word in ("--set", key)]
                atoll("run", "sac-4chip", "-w", support.DATA / "workload.json", *words, "-o", path, "-f")
                run = atoll_analysis.load(path)
                asked = run.slices["accesses"].groupby("chip").sum()
                self.assertEqual(capacity.chips_with_llc(run), chips)
                self.assertEqual(list(asked[asked > 0].index), chips)

    def test_use_of_links_in_rec_s_comparison_is_of_the_links_of_the_run_s_own_machine(self) -> None:
        path, keys = self.folder / "eight.h5", ("sm.count=4", "chips=8", "link.bandwidth_gbps=20")
        atoll("run", "rec-4gpu", "-w", support.DATA / "workload.json", *[w for k in keys for w in ("--set", k)], "-o", path)
        run = atoll_analysis.load(path)
        self.assertAlmostEqual(points.read(path)["links"], run.totals["link.bytes"].sum() / run.cycles / (8 * 20))

    @support.without_drawings
    def test_a_flipped_bit_is_found_before_hdf5_reads_and_looked_past_if_forced(self) -> None:
        path = self.folder / "new.h5"
        atoll("run", "sac-4chip", "-w", support.DATA / "workload.json", *[w for k in SMALL for w in ("--set", k)], "-o", path)
        whole, choose = path.read_bytes(), random.Random(28)
        for _ in range(40):
            damaged, bit = bytearray(whole), choose.randrange(128, 8 * len(whole))  # behind what says that it is HDF5
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            with self.assertRaisesRegex(atoll_analysis.BadResult, "do not fit the checksum"):
                atoll_analysis.load(path)
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))  # the checksum alone
        self.assertEqual(atoll_analysis.load(path, force_damaged=True).chips, 4)
        path.write_bytes(whole)
        digest = atoll_analysis.load(path).digest
        with h5py.File(path, "r+") as file:  # another tool's change takes the checksum away
            file.attrs["note"] = "seen"
        with self.assertRaisesRegex(atoll_analysis.BadResult, "has no checksum"):
            atoll_analysis.load(path)
        forced = atoll_analysis.load(path, force_damaged=True)
        self.assertEqual((forced.digest, forced.sound), (digest, False))
        self.assertIn(seal.UNSOUND, run_report.page(forced))
        sound = self.folder / "sound.h5"
        sound.write_bytes(whole)
        self.assertTrue(atoll_analysis.load(sound, force_damaged=True).sound)
        self.assertNotIn(seal.UNSOUND, run_report.page(atoll_analysis.load(sound)))
        compared = atoll_analysis.compare([atoll_analysis.load(sound), forced])
        self.assertIn(seal.UNSOUND, "\n".join(comparison_report.lines(compared)))
        self.assertEqual(comparison_report.page(compared).count(seal.UNSOUND), 1)

    def test_a_new_sweep_has_the_speedups_and_means_of_atoll_table(self) -> None:
        folder = self.folder / "sweep"
        atoll("sweep", support.DATA / "experiment.json", "--out", folder)
        sweep, means = atoll_analysis.load_sweep(folder), atoll_analysis.load_sweep(folder).means()
        rows = {row[0]: row for row in csv.reader(io.StringIO(atoll("table", folder, "--csv"))) if row}
        head = next(iter(rows.values()))
        at = {variant: head.index(variant) for variant in sweep.variants}
        for workload in sweep.workloads:
            for variant, column in at.items():
                self.assertAlmostEqual(float(rows[workload][column]), sweep.speedups().loc[workload, variant], 4)
        for group in ("ALL", "shared", "private"):
            for mean, text in (("harmonic", "harmonic mean"), ("ipc_first", "IPC-first mean")):
                for variant, column in at.items():
                    self.assertAlmostEqual(float(rows[f"{group} {text}"][column]), means.loc[(group, mean), variant], 4)

    def test_a_result_of_a_version_that_lacks_a_key_is_of_the_same_settings_where_its_text_is_empty_today(self) -> None:
        folder = self.folder / "sweep"
        atoll("sweep", support.DATA / "experiment.json", "--out", folder, "--only", "mixed__*")
        older = folder / "mixed__sm.h5"
        for key, state in (("policy_options", "done"), ("ways", "differs")):
            with support.edited(older) as file:
                config = json.loads(file["provenance"].attrs["effective_config"])
                del config["llc"][key]
                file["provenance"].attrs["effective_config"] = json.dumps(config)
                file["provenance"].attrs["started_at"] = "2026-01-01T00:00:00Z"  # the newest is what others are held against
            self.assertRegex(atoll("sweep", support.DATA / "experiment.json", "--out", folder, "--list"), rf"{state} +mixed__sm\b")
            sweep = atoll_analysis.load_sweep(folder)
            self.assertEqual(("mixed__sm" in sweep.missing, "llc.ways" in sweep.differences), (state == "differs", False))
            self.assertNotIn("llc.policy_options", sweep.differences)

    @support.unittest.skipUnless(PYTHON_POLICY.exists(), "built without Python")
    def test_a_policy_that_was_edited_since_a_new_sweep_is_told_of_and_one_that_was_not_is_not(self) -> None:
        policy = self.folder / "mine.py"
        policy.write_text("import atoll\n\n\nclass Policy:\n    roles = ('memory_side',)\n\n    def __init__(self, config):\n"
                          "        pass\n\n    def at_kernel_start(self, kernel, start):\n"
                          "        return atoll.Modes(llc='memory_side')\n")
        experiment = json.loads((support.DATA / "experiment.json").read_text())
        experiment.update(workloads=experiment["workloads"][:1], reference={}, baseline="mine", variants=[
            {"name": "mine", "set": {"llc.organisation": "plugin", "llc.policy": str(policy)}}])
        experiment["workloads"][0]["path"] = str(support.DATA / experiment["workloads"][0]["path"])
        file, folder = self.folder / "e.json", self.folder / "sweep"
        file.write_text(json.dumps(experiment))
        atoll("sweep", file, "--out", folder)
        self.assertEqual(atoll_analysis.load_sweep(folder).changed, ())
        policy.write_text(policy.read_text() + "# edited\n")
        self.assertEqual(atoll_analysis.load_sweep(folder).changed, (str(policy),))

    def test_what_a_sweep_varies_is_a_column_a_table_and_a_figure(self) -> None:
        experiment = json.loads((support.DATA / "experiment.json").read_text())
        experiment["variants"], experiment["reference"] = experiment["variants"][:2], {}
        experiment["sweeps"] = [{"key": "link.bandwidth_gbps", "values": [4, 16, 64]}]
        for workload in experiment["workloads"]:
            workload["path"] = str(support.DATA / workload["path"])
        (self.folder / "e.json").write_text(json.dumps(experiment))
        atoll("sweep", self.folder / "e.json", "--out", self.folder / "axis")
        sweep = atoll_analysis.load_sweep(self.folder / "axis")
        self.assertEqual(sweep.axes, ["llc.organisation", "link.bandwidth_gbps"])
        self.assertEqual(list(sweep.runs["link.bandwidth_gbps"][:6]), [4, 16, 64] * 2)
        table = sweep.along("link.bandwidth_gbps")
        self.assertEqual(list(table.columns), [4, 16, 64])
        for workload in ("mixed", "alone"):
            for value in (4, 16, 64):
                self.assertEqual(table.loc[(workload, "memory_side"), value], 1)
                self.assertEqual(table.loc[(workload, "sm_side"), value],
                                 sweep.speedups().loc[workload, f"sm_bandwidth_gbps-{value}"])
        drawn = sweep_report.charts(sweep)["by-link-bandwidth-gbps"]
        mean = 2 / sum(1 / table.loc[(w, "sm_side"), 4] for w in ("mixed", "alone"))
        self.assertIn(f"sm_side: {mean:.2f} at 4", drawn.alt)
        self.assertNotIn("memory_side", drawn.alt)
        self.assertIn("By what was swept", sweep_report.page(sweep, self.folder))
        with self.assertRaisesRegex(KeyError, "there is no configuration key llc.wayz; near it: llc.ways"):
            sweep.along("llc.wayz")
        with self.assertRaisesRegex(KeyError, "llc.ways is the same in all variants; these differ: llc.organisation"):
            sweep.along("llc.ways")
        with self.assertRaisesRegex(KeyError, "no metric hits"):
            sweep.along("link.bandwidth_gbps", "hits")

    def test_a_named_system_whose_local_ways_follow_and_a_variant_with_a_number_of_its_own(self) -> None:
        experiment = json.loads((support.DATA / "experiment.json").read_text())
        (self.folder / "own.json").write_text(json.dumps({"base": experiment["system"], "name": "mine"}))
        experiment.update(system="own.json", reference={}, baseline="mem", workloads=experiment["workloads"][:1], variants=[
            {"name": "mem", "set": {"llc.organisation": "memory_side"}}, {"name": "dyn", "set": {"llc.organisation": "dynamic"}},
            {"name": "rec", "set": {"llc.organisation": "sm_side", "coherence.protocol": "rec", "coherence.directory_entries": 512}}])
        experiment["sweeps"] = [{"key": "llc.ways", "values": [8, 16]}]
        experiment["workloads"][0]["path"] = str(support.DATA / experiment["workloads"][0]["path"])
        (self.folder / "e.json").write_text(json.dumps(experiment))
        atoll("sweep", self.folder / "e.json", "--out", self.folder / "own")
        sweep = atoll_analysis.load_sweep(self.folder / "own")
        self.assertEqual((dict(sweep.missing), set(sweep.configs["name"])), ({}, {"mine"}))
        self.assertEqual(set(sweep.configs["llc.local_ways"]), {4, 8})
        self.assertNotIn("llc.local_ways", sweep.axes)
        found = rankings(sweep)
        self.assertEqual([dict(r.at) for r in found], [{"llc.ways": 8}, {"llc.ways": 16}])
        self.assertEqual([len(r.cycles) for r in found], [3, 3])

    def test_two_keys_are_a_heat_map_and_seeds_are_error_bars(self) -> None:
        experiment = json.loads((support.DATA / "experiment.json").read_text())
        experiment["variants"], experiment["reference"] = experiment["variants"][:2], {}
        experiment["sweeps"] = [{"key": "link.bandwidth_gbps", "values": [4, 64]},
                                {"key": "llc.latency_cycles", "values": [60, 240]}]
        experiment["workloads"] = []
        for seed in (1, 2):
            workload = json.loads((support.DATA / "workload.json").read_text()) | {"seed": seed}
            (self.folder / f"{seed}.json").write_text(json.dumps(workload))
            experiment["workloads"].append({"name": f"mixed-seed{seed}", "path": str(self.folder / f"{seed}.json")})
        (self.folder / "e.json").write_text(json.dumps(experiment))
        said = atoll("sweep", self.folder / "e.json", "--out", self.folder / "two")
        self.assertIn("[16/16] ", said)
        sweep = atoll_analysis.load_sweep(self.folder / "two")
        self.assertEqual(sweep.pairs, [("llc.latency_cycles", "link.bandwidth_gbps")])
        table, speedups = sweep.grid(*sweep.pairs[0]), sweep.speedups()
        self.assertEqual((list(table.columns), [at[1] for at in table.index]), ([4, 64], [60, 60, 240, 240]))
        for latency in (60, 240):
            for bandwidth in (4, 64):
                own = speedups[f"sm_bandwidth_gbps-{bandwidth}_latency_cycles-{latency}"]
                self.assertAlmostEqual(table.loc[("sm_side", latency), bandwidth], 2 / (1 / own).sum())
                self.assertEqual(table.loc[("memory_side", latency), bandwidth], 1)
        charts = sweep_report.charts(sweep)
        heat = charts["by-llc-latency-cycles-and-link-bandwidth-gbps"].draw(LIGHT).figure.axes
        self.assertEqual([axes.get_title(loc="left") for axes in heat], ["sm_side"])
        self.assertEqual([t.get_text() for t in heat[0].texts], [f"{v:.2f}" for v in table.loc["sm_side"].to_numpy().ravel()])
        lines = charts["by-link-bandwidth-gbps"]
        self.assertIn("by seed", lines.note)
        low, high = (speedups["sm_bandwidth_gbps-4_latency_cycles-60"].agg(f) for f in ("min", "max"))
        self.assertLess(low, high)
        bars = [c for c in lines.draw(LIGHT).figure.axes[0].collections if len(c.get_segments())]
        np.testing.assert_allclose(bars[0].get_segments()[0][:, 1], [low, high])
        with self.assertRaisesRegex(KeyError, "llc.ways is the same in all variants"):
            sweep.grid("llc.ways", "link.bandwidth_gbps")

    def test_what_a_notebook_shows_of_a_result_and_a_sweep_is_short(self) -> None:
        run, sweep = atoll_analysis.load(self.result("sac.h5")), atoll_analysis.load_sweep(self.sweep())
        self.assertRegex(repr(run), r"^<Result sac\.h5: sac-4chip \(sac\) on .*, [\d,]+ cycles, digest [0-9a-f]{16}>$")
        self.assertLess(len(repr(run)), 300)
        self.assertIn("<th>llc.hit_rate</th>", run._repr_html_())
        self.assertIn("2 workloads x 3 variants, by llc.organisation, link.bandwidth_gbps", repr(sweep))
        shown = sweep._repr_html_()
        for workload in sweep.workloads:
            self.assertIn(f"<td>{sweep.speedups().loc[workload, 'narrow']:.2f}</td>", shown)
        chart = run_report.charts(run)["energy"]
        self.assertEqual(chart._repr_png_()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    if not pathlib.Path(os.environ.get("ATOLL", "")).is_file():
        print("skipped: ATOLL names no program")
        sys.exit(77)
    support.main()
