"""Runs and sweeps started from Python, and what names that do not exist are told."""

import json
import os
import pathlib
import sys
import warnings

import support
import numpy as np

import atoll_analysis
from atoll_analysis import program
from atoll_analysis.metrics import metrics

SMALL = {"sm.count": 4, "l1.size_kib": 16, "llc.slices": 4, "llc.size_kib": 128, "dram.channels": 2}
WORKLOAD = support.DATA / "workload.json"


class Calls(support.FolderTest):
    def test_a_run_gives_its_result_and_leaves_nothing(self) -> None:
        run = atoll_analysis.run("sac-4chip", WORKLOAD, set=SMALL, llc__organisation="sm_side", link__bandwidth_gbps=12)
        self.assertTrue(run.complete)
        self.assertEqual((run.config["llc.organisation"], run.config["link.bandwidth_gbps"], run.config["sm.count"]),
                         ("sm_side", 12, 4))
        self.assertFalse(run.path.exists())
        path = self.folder / "kept.h5"
        again = atoll_analysis.run("sac-4chip", WORKLOAD, output=path,
                                   set={**SMALL, "llc.organisation": "sm_side", "link.bandwidth_gbps": 12})
        self.assertEqual((again.digest, atoll_analysis.load(path).digest), (run.digest, run.digest))

    def test_keys_have_all_their_digits(self) -> None:
        run = atoll_analysis.run("sac-4chip", WORKLOAD, set=SMALL, link__bandwidth_gbps=123.4567891,
                                 core_clock_mhz=np.float64(1410.125), llc__latency_cycles=np.int64(61))
        self.assertEqual([run.config[key] for key in ("link.bandwidth_gbps", "core_clock_mhz", "llc.latency_cycles")],
                         [123.4567891, 1410.125, 61])
        for value, word in ((True, "true"), (np.bool_(False), "false"), (1e21, "1e+21"), (48, "48"), ("sac", "sac")):
            self.assertEqual(program._sets({"some__key": value}, {}), ["--set", f"some.key={word}"])

    def test_a_key_that_is_given_twice_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "llc.ways is given twice"):
            atoll_analysis.run("sac-4chip", WORKLOAD, set={"llc.ways": 8}, llc__ways=16)

    def test_what_the_simulator_refuses_is_said_in_its_words(self) -> None:
        with self.assertRaisesRegex(atoll_analysis.RunFailed, "llc.way"):
            atoll_analysis.run("sac-4chip", WORKLOAD, llc__way=3)
        path = self.result()
        with self.assertRaisesRegex(atoll_analysis.RunFailed, str(path)):
            atoll_analysis.run("sac-4chip", WORKLOAD, output=path)

    def test_a_program_that_is_not_there_is_named(self) -> None:
        before = os.environ["ATOLL"]
        self.addCleanup(os.environ.__setitem__, "ATOLL", before)
        os.environ["ATOLL"] = str(self.folder / "none")
        with self.assertRaisesRegex(atoll_analysis.RunFailed, "ATOLL=.*none is no program"):
            atoll_analysis.run("sac-4chip", WORKLOAD)

    def test_a_sweep_of_a_dict_gives_its_results_and_names_points_that_fail(self) -> None:
        experiment = json.loads((support.DATA / "experiment.json").read_text())
        experiment["workloads"] = [{"name": "mixed", "path": os.path.relpath(WORKLOAD)}]
        experiment["variants"], experiment["reference"] = experiment["variants"][:2], {}
        sweep = atoll_analysis.sweep(experiment, self.folder / "s", llc__latency_cycles=60)
        self.assertEqual(list(sweep.runs["variant"]), ["mem", "sm"])
        self.assertEqual(set(sweep.configs["llc.latency_cycles"]), {60})
        broken = self.folder / "broken.json"
        broken.write_text('{"kernels": [{"ctas": 1, "ragions": []}]}')
        experiment["workloads"].append({"name": "broken", "path": str(broken)})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sweep = atoll_analysis.sweep(experiment, self.folder / "s", llc__latency_cycles=60)
        self.assertRegex(str(caught[0].message), "2 of 2 points failed:\n(.*\n)?  broken__mem: .*did you mean")
        self.assertEqual(sweep.missing, {"broken__mem": "no result", "broken__sm": "no result"})
        self.assertEqual(len(sweep.runs), 2)
        with self.assertRaisesRegex(atoll_analysis.RunFailed, "2 of 2 points failed"):
            atoll_analysis.sweep({**experiment, "workloads": experiment["workloads"][1:]}, self.folder / "empty")


class Names(support.FolderTest):
    def test_tables_say_their_units(self) -> None:
        run = atoll_analysis.load(self.result())
        self.assertEqual(run.totals.attrs["units"]["link.bytes"], "bytes")
        self.assertEqual(run.counters.attrs["units"]["begin"], "cycles")
        self.assertEqual(run.kernels.attrs["units"], {"ctas": "CTAs", **dict.fromkeys(
            ("launched", "started", "finished", "cycles"), "cycles")})
        self.assertEqual(set(run.energy.attrs["units"].values()), {"J"})
        self.assertEqual(run.decisions.attrs["units"]["sm_side.eab"], "GB/s")
        self.assertEqual((run.slices.attrs["units"]["hits"], run.footprint.attrs["units"]), ("requests", "bytes"))
        self.assertEqual(metrics(run).attrs["units"]["load.mean_latency"], "cycles")
        sweep = atoll_analysis.load_sweep(self.sweep())
        self.assertEqual(sweep.runs.attrs["units"]["energy.total"], "J")
        selrep = atoll_analysis.load(self.result("selrep.h5"))
        self.assertEqual(selrep.sm_sharing.attrs["units"]["shared_lines"], "lines")
        self.assertGreater(selrep.sm_sharing.attrs["line_bytes"], 0)

    def test_names_that_do_not_exist_are_told_which_ones_are_near(self) -> None:
        run = atoll_analysis.load(self.result())
        sweep = atoll_analysis.load_sweep(self.sweep())
        for table, name, said in ((run.totals, "llc.hit", "no column llc.hit; near it: llc.hits"),
                                  (run.totals, "llc.hit_rate", "a quotient of sums: .*metrics"),
                                  (run.counters, "bytes", "link.bytes"),
                                  (run.config, "llc.way", "no key llc.way; near it: llc.ways"),
                                  (run.config, "zzz", "there are chips|there are .*"),
                                  (sweep.runs, "link.bandwith_gbps", "near it: link.bandwidth_gbps")):
            with self.assertRaisesRegex(KeyError, said):
                table[name]
        self.assertEqual(run.totals.get("queue.nothing", 0), 0)
        self.assertEqual(run.config.get("queue.nothing", 7), 7)
        self.assertIs(type(run.totals[["llc.hits"]]).__name__, "DataFrame")
        self.assertEqual(float(run.totals["llc.hits"].sum()), run.counters["llc.hits"].sum())


if __name__ == "__main__":
    if not pathlib.Path(os.environ.get("ATOLL", "")).is_file():
        print("skipped: ATOLL names no program")
        sys.exit(77)
    support.main()
