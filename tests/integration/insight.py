"""From a result to what it means: explain, compare, export."""

import csv
import itertools
import json
import os

import program
from program import SMALL, SOURCE, sets, workload


def total(stack):
    return sum(stack.values())


class Insight(program.ProgramTest):
    def result(self, name, *overrides, ranks=None, more=(), of=None):
        path = self.path(name + ".h5")
        self.succeeds(["run", "sac-4chip", "-q", "-w", of or workload("stores"), *sets(*SMALL, *overrides), "-o", path, *more],
                      ranks=ranks)
        return path

    def explained(self, path):
        return json.loads(self.succeeds(["explain", "--json", path]).out)

    def info(self, path):
        return json.loads(self.succeeds(["info", "--json", path]).out)

    # ---- explain ----

    def test_the_stack_adds_up_to_the_run_under_every_organisation_and_no_part_is_negative(self):
        variants: list[tuple[str, ...]] = [("llc.organisation=" + o,) for o in ("memory_side", "sm_side", "static", "dynamic", "sac")]
        variants += [("llc.organisation=sm_side", "coherence.protocol=" + p) for p in ("full_map", "rec", "hmg", "l1_only")]
        variants += [("cluster.sharing=colab", "noc.sms_per_cluster=4")]
        for i, variant in enumerate(variants):
            with self.subTest(variant=variant):
                seen = self.explained(self.result(f"r{i}", *variant))
                self.assertEqual(len(seen["chips"]), 4)
                for chip in seen["chips"]:
                    self.assertAlmostEqual(total(chip["stack"]) / seen["cycles"], 1, 9)
                    self.assertGreaterEqual(min(chip["stack"].values()), 0)
                    self.assertGreater(chip["stack"]["issue"], 0)
                    self.assertEqual(chip["stack"]["unseen"], 0)
                self.assertAlmostEqual(sum(total(k["stack"]) for k in seen["kernels"]) / seen["cycles"], 1, 9)
                for name, busy in seen["chips"][0]["utilisation"].items():
                    self.assertLessEqual(busy["mean"], 1.02, name)

    def test_what_caches_hold_after_the_end_is_in_no_counter(self):
        # The end comes to the chips up to two latencies later, and they look until then.
        def held(period):
            info = self.info(self.result(f"every{period}", f"control.sample_cycles={period}", "control.latency_cycles=1500"))
            return info["cycles"], info["totals"]["llc.local_lines"] + info["totals"]["llc.remote_lines"]

        cycles, often = held(100)
        self.assertGreater(often, 0)
        self.assertLessEqual(often, cycles // 100 * 4 * 1024)  # lines of four LLCs, at each look
        self.assertEqual(held(cycles + 500), (cycles, 0))

    def test_what_is_explained_is_the_same_for_every_number_of_ranks(self):
        seen = [self.explained(self.result(f"ranks{ranks}", "llc.organisation=sac", ranks=ranks)) for ranks in (None, 2, 5)]
        self.assertEqual(seen[1], seen[0])
        self.assertEqual(seen[2], seen[0])

    def test_a_run_that_was_stopped_adds_up_as_well(self):
        seen = self.explained(self.result("part", more=("--max-cycles", "2500")))
        self.assertFalse(seen["complete"])
        for chip in seen["chips"]:
            self.assertAlmostEqual(total(chip["stack"]) / seen["cycles"], 1, 9)

    def test_a_kernel_that_did_not_end_is_said_to_be_unfinished_and_what_did_not_begin_has_no_limit(self):
        path = self.result("part", more=("--max-cycles", "2500"))
        ended = [k["cycles"] is not None for k in self.info(path)["kernels"]]
        seen = self.explained(path)["kernels"]
        self.assertEqual([k["finished"] for k in seen], ended)
        begun = [total(k["stack"]) > 0 for k in seen]
        self.assertEqual([k["limit"] is not None for k in seen], begun)
        self.assertIn(False, begun)
        unfinished = [k for k in range(len(seen)) if begun[k] and not ended[k]]
        self.assertEqual(len(unfinished), 1)
        said = [line for line in self.succeeds(["explain", path]).out.splitlines() if "; unfinished" in line]
        self.assertEqual([line.split()[0] for line in said], [str(unfinished[0])])

    def test_a_chip_without_sms_has_no_limit(self):
        seen = self.explained(self.result("memory", "partition.compute_chips=2", "partition.memory_chips=2"))
        self.assertEqual([chip["limit"] is None for chip in seen["chips"]], [False, False, True, True])
        self.assertIsNotNone(seen["limit"])

    def test_no_resource_is_busier_than_all_the_time_in_a_last_period_of_two_cycles(self):
        whole = self.info(self.result("whole", "link.bandwidth_gbps=4"))
        self.assertGreater(whole["cycles"], 4100)
        seen = self.explained(self.result("short", "link.bandwidth_gbps=4", "control.sample_cycles=4000", more=("--max-cycles", "3802")))
        self.assertEqual(seen["cycles"], 4002)
        for chip in seen["chips"]:
            for name, busy in chip["utilisation"].items():
                self.assertLess(busy["most"], 1.02, name)

    def test_narrow_links_are_named_with_how_busy_they_are(self):
        path = self.result("narrow", "link.bandwidth_gbps=2")
        text = self.succeeds(["explain", path]).out
        self.assertRegex(text, r"chip 0: [\d.]+ % of the run waits for links .*; links (in|out)wards \d+ % busy")
        self.assertIn("link.bandwidth_gbps", text)
        self.assertEqual(self.explained(path)["limit"], "link_out")

    def test_a_resource_that_is_busier_than_the_one_waited_for_is_named_as_well(self):
        """Stores of all chips line up before the crossbar in bursts, because slices are full all the time."""
        region = {"name": "r", "kind": "private", "size_kib": 512, "pattern": "stream", "write_fraction": 1}
        kernel = {"ctas": 256, "warps_per_cta": 8, "memory_instructions": 40, "regions": [region]}
        stores = self.write("stores.json", json.dumps({"kernels": [kernel]}))
        path = self.result("busy", "llc.slice_gbps=16", "l1.pending_stores=4096", of=stores)
        said = self.succeeds(["explain", path]).out.splitlines()[-1]
        self.assertRegex(said, r"LLC slices.* \d+ %.*: llc\.slice_gbps and llc\.slices bound it")

    def test_what_cannot_be_explained_is_refused_by_name(self):
        self.refused(["explain", self.path("none.h5")], 2, "none.h5", "no such file", layouts=(None,))

    # ---- compare ----

    def test_equal_runs_are_said_to_be_equal(self):
        a, b = self.result("a"), self.result("b", more=("--threads", "2"))
        text = self.succeeds(["compare", a, b]).out
        self.assertIn("the digests are both " + self.info(a)["digest"], text)
        seen = json.loads(self.succeeds(["compare", "--json", a, b]).out)
        self.assertTrue(seen["same_simulation"])
        for part in ("configuration", "inputs", "cycles", "results", "kernels"):
            self.assertEqual(seen[part], [])

    def test_equal_simulations_differ_in_what_is_worked_out_of_them(self):
        a, b = self.result("a"), self.result("b", "energy.noc_pj_per_byte=17")
        text = self.succeeds(["compare", a, b]).out
        self.assertIn("everything simulated is the same", text)
        self.assertRegex(text, r"energy\.noc .*\+100\.0 %")

    def test_different_runs_differ_in_the_keys_that_were_set_and_in_figures_by_size(self):
        a, b = self.result("a"), self.result("b", "link.bandwidth_gbps=4", "llc.ways=8")
        seen = json.loads(self.succeeds(["compare", "--json", a, b]).out)
        self.assertFalse(seen["same_simulation"])
        self.assertEqual({s["name"]: (s["a"], s["b"]) for s in seen["configuration"]},
                         {"link.bandwidth_gbps": ("96.0", "4.0"), "llc.ways": ("16", "8")})
        figures = {e["name"]: e for e in seen["results"]}
        self.assertEqual(figures["cycles"]["a"], self.info(a)["cycles"])
        self.assertEqual(figures["cycles"]["b"], self.info(b)["cycles"])
        self.assertGreater(figures["cycles"]["ratio"], 1)
        sizes = [max(e["ratio"], 1 / e["ratio"]) for e in seen["results"] if e["ratio"]]
        for one, other in itertools.pairwise(sizes):
            self.assertGreaterEqual(one, other * (1 - 1e-12))
        self.assertGreater(sizes[-1], 1)
        self.assertLess(sizes[-1], 1.01)  # the text leaves such out
        self.assertEqual((seen["unlike_work"], seen["speedup"]), ([], 1 / figures["cycles"]["ratio"]))
        self.assertEqual([figures[name]["unit"] for name in ("cycles", "energy.link", "link.bytes")], ["cycles", "J", "bytes"])
        more = [e["b"] - e["a"] for e in seen["cycles"]]
        self.assertEqual(more, sorted(more, key=abs, reverse=True))
        self.assertAlmostEqual(sum(more), figures["cycles"]["b"] - figures["cycles"]["a"], 6)
        text = self.succeeds(["compare", a, b, "--top", "3"]).out
        self.assertIn("times as fast", text)
        self.assertIn("more (--top)", text)

    def test_runs_of_unlike_work_have_no_ratio_of_cycles_and_energy(self):
        a, b = self.result("a"), self.result("b", more=("--max-cycles", "2500"))
        seen = json.loads(self.succeeds(["compare", "--json", a, b]).out)
        self.assertEqual((seen["unlike_work"], seen["speedup"]), (["complete"], None))
        ratios = {e["name"]: e["ratio"] for e in seen["results"]}
        self.assertIsNone(ratios["cycles"])
        self.assertIsNone(ratios["energy.total"])
        self.assertIsNotNone(ratios["l1.hit_rate"])
        self.assertTrue(seen["cycles"])
        self.assertEqual({e["ratio"] for e in seen["cycles"] + seen["kernels"]}, {None})

    def test_parts_and_kernels_are_compared_at_one_clock(self):
        a, b = self.result("a"), self.result("b", "core_clock_mhz=2000")
        seen = json.loads(self.succeeds(["compare", "--json", a, b]).out)
        self.assertEqual(seen["core_clock_mhz"], {"a": 1000, "b": 2000})
        cycles = self.info(a)["cycles"], self.info(b)["cycles"] / 2
        self.assertAlmostEqual(seen["speedup"], cycles[0] / cycles[1], 9)
        self.assertAlmostEqual(sum(e["b"] - e["a"] for e in seen["cycles"]), cycles[1] - cycles[0], 6)
        kernel = next(k for k in seen["kernels"] if k["name"].startswith("0 "))
        self.assertEqual((kernel["a"], kernel["b"]), (self.info(a)["kernels"][0]["cycles"], self.info(b)["kernels"][0]["cycles"] / 2))
        self.assertIn("cycles of parts and kernels are counted at A's", self.succeeds(["compare", a, b]).out)
        self.assertNotIn("counted at A's", self.succeeds(["compare", a, a]).out)

    def test_scale_part_and_warnings_stand_with_what_is_said_of_a_run(self):
        mixed = os.path.join(SOURCE, "inputs", "workloads", "mixed.json")
        a, b = (self.result(name, of=mixed, more=("--scale", "16", "--kernels", kernels)) for name, kernels in
                (("a", "0"), ("b", "1")))
        warnings = [line.split(None, 1)[1] for line in self.succeeds(["info", a]).out.splitlines() if line.startswith("  warning ")]
        self.assertGreater(len(warnings), 0)
        of_a = [("scale", "16: LLC and footprints are divided by it"), ("selection", self.info(a)["provenance"]["selection"]),
                *(("warning", what) for what in warnings)]
        seen = self.explained(a)["conditions"]
        self.assertEqual([(c["name"], c["text"]) for c in seen], of_a)
        text = self.succeeds(["explain", a]).out
        for name, what in of_a:
            self.assertIn(f"  {name:<12} {what}\n", text)
        same, other = self.succeeds(["compare", a, a]).out, self.succeeds(["compare", a, b]).out
        for name, what in of_a:
            self.assertIn(f"  A and B        {name:<10} {what}\n", same)
            self.assertIn(f"  A              {name:<10} {what}\n", other)
        self.assertIn("  B              selection  kernels 1", other)

    # ---- export ----

    def test_a_trace_has_every_kernel_decision_and_counter_where_it_was(self):
        path = self.result("r", "llc.organisation=sac", "sac.window_cycles=500")
        self.succeeds(["export", path, "--perfetto", self.path("t.json")])
        with open(self.path("t.json"), encoding="utf-8") as file:
            trace = json.load(file)
        self.assertIn("1 core cycle", trace["otherData"]["time_unit"])
        info = self.info(path)
        last: dict = {}
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], "XCiM")
            self.assertIn("name", event)
            self.assertIn("pid", event)
            if event["ph"] == "M":
                self.assertIn("name" if "name" in event["args"] else "sort_index", event["args"])
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertLessEqual(event["ts"] + event.get("dur", 0), info["cycles"] * (1 + 1e-12))
            track = (event["pid"], event.get("tid"), event["name"] if event["ph"] == "C" else event["ph"])
            self.assertGreaterEqual(event["ts"], last.get(track, 0), track)  # in order of time, and slices do not overlap
            last[track] = event["ts"] + event.get("dur", 0) * (1 - 1e-12)
            if event["ph"] == "C":
                self.assertTrue(all(isinstance(v, (int, float)) for v in event["args"].values()))
        kernels = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == 4]
        self.assertEqual([k["name"] for k in kernels], [k["name"] for k in info["kernels"]])
        self.assertEqual([k["dur"] for k in kernels], [k["cycles"] for k in info["kernels"]])
        self.assertEqual(kernels[0]["ts"], 0)
        for one, other in itertools.pairwise(kernels):
            self.assertEqual(other["ts"], one["ts"] + one["dur"])
        self.assertGreater(len([e for e in trace["traceEvents"] if e["ph"] == "i"]), 0)
        for chip in range(4):
            of_chip = [e for e in trace["traceEvents"] if e["pid"] == chip]
            phases = sum(e["dur"] for e in of_chip if e["ph"] == "X")
            self.assertAlmostEqual(phases / info["cycles"], 1, 9)
            ipc = [e for e in of_chip if e["ph"] == "C" and e["name"] == "IPC"]
            self.assertGreaterEqual(len(ipc), info["samples"] - 1)
            queues = {e["name"] for e in of_chip if e["ph"] == "C" and e["name"].startswith("queue: ")}
            self.assertEqual(queues, {"queue: " + q for q in ("L1 MSHRs", "request crossbar", "LLC slices", "LLC MSHRs",
                                                              "DRAM", "response crossbar", "links outwards",
                                                              "links inwards")})

    def test_depths_of_queues_are_tracks_and_the_mean_over_the_looks_of_each_period(self):
        path = self.result("r")
        self.succeeds(["export", path, "--perfetto", self.path("t.json"), "--csv", self.path("tables")])
        with open(self.path("tables", "series.csv"), encoding="utf-8", newline="") as file:
            series = list(csv.DictReader(file))
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        for track, counter in (("L1 MSHRs", "l1_mshrs"), ("DRAM", "dram"), ("links outwards", "link_out")):
            wanted = {(int(row["chip"]), int(row["begin_cycle"])): int(row[f"queue.{counter}"]) / int(row["queue.looked"])
                      for row in series if row["queue.looked"] != "0"}
            shown = {(e["pid"], e["ts"]): next(iter(e["args"].values())) for e in events if e["name"] == f"queue: {track}"}
            self.assertGreater(max(shown.values()), 0, track)
            self.assertEqual(shown, {at: value for at, value in wanted.items() if at in shown})
            self.assertGreaterEqual(len(shown), len(wanted) - 4)  # the last period may begin where the run ends

    def test_csv_tables_have_what_the_result_has(self):
        path = self.result("r", "llc.organisation=sac", "sac.window_cycles=500")
        self.succeeds(["export", path, "--csv", self.path("tables")])
        info = self.info(path)

        def rows(name):
            with open(self.path("tables", name + ".csv"), encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))

        self.assertEqual([k["name"] for k in rows("kernels")], [k["name"] for k in info["kernels"]])
        decisions = rows("decisions")
        self.assertGreater(len(info["decisions"]), 0)
        for number, decision in enumerate(info["decisions"]):
            own = [row for row in decisions if int(row["decision"]) == number]
            self.assertEqual({(int(row["kernel"]), int(row["cycle"]), row["choice"]) for row in own},
                             {(decision["kernel"], decision["cycle"], decision["choice"])})
            self.assertEqual({row["name"]: float(row["value"]) for row in own if row["name"]},
                             {name: float(value) for name, value in decision["values"].items()})
        series, totals = rows("series"), rows("totals")
        self.assertEqual(len(series), 4 * info["samples"])
        for counter, value in info["totals"].items():
            self.assertEqual(sum(int(row[counter]) for row in series), value, counter)
            self.assertEqual(sum(int(row[counter]) for row in totals), value, counter)
        for column, counter in (("accesses", "llc.accesses"), ("hits", "llc.hits")):
            self.assertEqual(sum(int(row[column]) for row in rows("slices")), info["totals"][counter])
        self.assertEqual(list(rows("slices")[0])[4:], ["requests", "queue_cycles", "miss_cycles"])
        parts = [sum(float(v) for k, v in row.items() if k not in ("kernel", "chip")) for row in rows("stack")]
        self.assertAlmostEqual(sum(parts) / (4 * info["cycles"]), 1, 9)
        self.assertEqual({row["origin"] for row in rows("latency")}, set(info["responses"]))
        self.assertGreater(len(rows("decisions")), 0)
        use, homes = rows("structures"), rows("homes")
        asked = sum(int(row[kind]) for row in use for kind in ("reads", "writes", "atomics"))
        self.assertEqual(asked, info["totals"]["requests.local"] + info["totals"]["requests.remote"])
        self.assertEqual(sum(int(row["remote"]) for row in use), info["totals"]["requests.remote"])
        self.assertEqual(sum(int(row["requests"]) for row in homes), asked)
        self.assertEqual(sum(int(row["requests"]) for row in homes if row["chip"] == row["home"]),
                         info["totals"]["requests.local"])
        self.assertEqual({row["name"] for row in use}, {"F", "N", "histogram"})
        self.assertEqual({r["name"]: r["value"] for r in rows("provenance")}["digest"], info["digest"])
        joules = [sum(float(row["joules"]) for row in rows(name)) for name in ("energy", "energy_prices")]
        self.assertAlmostEqual(joules[0] / joules[1], 1, 9)
        self.assertEqual([name for name in os.listdir(self.path("tables")) if not name.endswith(".csv")], [])

    def test_csv_tables_of_sharing_have_what_the_program_touches(self):
        chips = self.result("chips", "observe.sharing=true", "observe.sharing_window_cycles=1000")
        sms = self.result("sms", "observe.sm_sharing=true")
        for path in (chips, sms):
            self.succeeds(["export", path, "--csv", self.path("tables"), "--force"])

        def rows(name):
            with open(self.path("tables", name + ".csv"), encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))

        whole, *windows = rows("sharing")
        sizes = ("true_shared", "false_shared", "not_shared")
        self.assertEqual((whole["epoch"], whole["window_cycles"]), ("", ""))
        self.assertEqual([row["window_cycles"] for row in windows[:6]], ["10", "50", "100", "500", "1000", "10"])
        for row in windows:
            self.assertTrue(all(int(row[size]) >= 0 for size in sizes))
            self.assertLessEqual(sum(int(row[size]) for size in sizes), sum(int(whole[size]) for size in sizes))
        kernels = rows("sm_sharing")
        self.assertEqual(len(kernels), len(self.info(sms)["kernels"]))
        self.assertTrue(all(0 < int(row["shared_lines"]) <= int(row["lines"]) for row in kernels), kernels)

    def test_an_existing_file_is_kept_unless_force_is_given(self):
        path = self.result("r")
        trace = self.write("t.json", "mine")
        self.refused(["export", path, "--perfetto", trace], 2, "t.json", "--force", layouts=(None,))
        with open(trace, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.succeeds(["export", path, "--perfetto", trace, "--force"])
        self.refused(["export", path], 2, "--perfetto", "--csv", layouts=(None,))
        self.refused(["export", path, "--perfetto", self.path("no", "t.json")], 4, "no directory", layouts=(None,))

    def test_a_recorded_program_is_explained(self):
        trace = os.path.join(SOURCE, "inputs", "workloads", "traces", "vectoradd.h5")
        path = self.result("trace", of=trace)
        seen = self.explained(path)
        self.assertEqual(len(seen["chips"]), 4)
        for chip in seen["chips"]:
            self.assertAlmostEqual(total(chip["stack"]) / seen["cycles"], 1, 9)

    def test_kernels_of_a_recorded_program_have_their_names_in_the_source(self):
        path = self.result("trace", of=os.path.join(SOURCE, "inputs", "workloads", "traces", "atax.h5"))
        self.assertTrue(all(k["name"].startswith("_Z") for k in self.explained(path)["kernels"]))
        functions = ["rows_times_vector", "columns_times_vector"]
        text = self.succeeds(["explain", path]).out
        for function in functions:
            self.assertRegex(text, rf"(?m)^ +\d  {function} +[0-9,]+ cycles")
        self.succeeds(["export", path, "--perfetto", self.path("t.json")])
        with open(self.path("t.json"), encoding="utf-8") as file:
            slices = [e["name"] for e in json.load(file)["traceEvents"] if e["ph"] == "X" and e["pid"] == 4]
        self.assertEqual(slices, functions)


if __name__ == "__main__":
    program.main()
