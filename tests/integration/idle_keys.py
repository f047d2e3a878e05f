"""Keys that are said to have no effect have none: all of them at once leave the digest and the energy as they are."""

import json
import os
import re

import program
from program import SMALL, SOURCE, sets

#: A legal value, other than the default, of every key that can be without effect.
OTHER = {
    "sac.window_cycles": 500, "sac.threshold": 0.3, "sac.reprofile_cycles": 5000, "sac.crd_sets": 4, "sac.crd_ways": 8,
    "sac.crd_counts_copies": "true", "sac.crd_choice": 3, "sac.crd_clear": "never", "sac.crd_always": "true",
    "sac.merged_is_hit": "false", "sac.confidence": 2, "sac.confidence_windows": 3, "sac.crd_tag_bits": 20,
    "dynamic.period_cycles": 700, "dynamic.saturation": 0.2, "dynamic.memory": "peak", "dynamic.step_ways": 2,
    "dynamic.min_ways": 2, "selrep.epoch_cycles": 3000, "selrep.restart": "kernel", "selrep.margin": 0.2,
    "selrep.tie": "highest", "selrep.flush": "replicas", "selrep.directory": "shadow_tags", "selrep.directory_sets": 4,
    "selrep.directory_ways": 8, "adaptive.window_cycles": 2000, "adaptive.epoch_cycles": 20000, "adaptive.directory_sets": 4,
    "adaptive.miss_margin": 0.3, "rec_adaptive.min_range_bytes": 512, "rec_adaptive.max_range_bytes": 2048,
    "rec_adaptive.widen_above": 0.5, "rec_adaptive.narrow_below": 0.1, "rec_adaptive.min_evictions": 0.2,
    "cluster.table_sets": 16, "cluster.table_ways": 2, "cluster.table_latency_cycles": 20, "cluster.input_queue": 2,
    "cluster.access_queue": 2, "cluster.response_buffer": 2, "cluster.port_bytes": 8, "cluster.arbitration": "round_robin",
    "cluster.keep_table": "true", "cluster.owner_lru": "false",
    "energy.cluster_pj_per_byte": 99, "energy.cluster_table_pj": 99,
    "l2.size_kib": 1024, "l2.ways": 4, "l2.sectored": "true", "l2.index": "linear", "l2.latency_cycles": 10,
    "l2.slice_gbps": 20, "l2.mshrs": 4, "l2.mshr_merges": 2, "l2.writes": "through", "l2.write_buffer": 2,
    "l2.memory_gbps": 20, "l2.memory_latency_cycles": 50, "energy.l2_tag_pj": 99, "energy.l2_sector_pj": 99,
    "noc.channel_flits": 80, "llc.local_ways": 4, "llc.remote_writes": "back", "llc.remote_mshrs": 3, "llc.bypass": "direct",
    "llc.bypass_reads": 2, "coherence.directory_entries": 4096, "coherence.directory_ways": 4,
    "coherence.protocol": "rec", "coherence.directory_replacement": "lru", "coherence.directory_index": "linear",
    "coherence.range_bytes": 512,
    "coherence.directory_latency_cycles": 50, "coherence.invalidation_queue": 1, "coherence.invalidate": "range",
    "partition.fixed_chip": 1, "partition.interleave_kib": 64, "partition.bcs_block": 4, "observe.sharing_window_cycles": 500,
    "observe.sm_window_cycles": 500, "link.bandwidth_gbps": 7, "link.latency_cycles": 99, "link.buffer_packets": 3,
    "link.credit_cycles": 50, "link.slot_bytes": 32, "link.topology": "full", "noc.link_port_gbps": 9,
    "energy.link_pj_per_bit": 9, "llc.network": "separate", "l1.size_kib": 64, "l1.ways": 8, "l1.index": "linear",
    "l1.mshr_merges": 3, "partition.placement": "interleaved", "partition.cta_to_chip": "round_robin",
}
BASE = (*(text for text in SMALL if not text.startswith("l1.")), "llc.slices=16", "llc.size_kib=4096")
SYSTEMS = {
    "memory-side": (),
    "SM-side, software": ("llc.organisation=sm_side",),
    "HMG": ("llc.organisation=sm_side", "coherence.protocol=hmg"),
    "a directory without bounds": ("llc.organisation=sm_side", "coherence.protocol=ideal"),
    "full map": ("llc.organisation=sm_side", "coherence.protocol=full_map"),
    "L1s alone keep other chips' lines": ("llc.organisation=sm_side", "coherence.protocol=l1_only"),
    "no L1": ("l1.enabled=false",),
    "SAC": ("llc.organisation=sac",),
    "static": ("llc.organisation=static",),
    "one chip": ("chips=1",),
    "SM-side on one chip": ("chips=1", "llc.organisation=sm_side", "coherence.protocol=rec"),
    "replicas of one degree": ("chips=1", "llc.replication=degree_2"),
}


class IdleKeys(program.ProgramTest):
    def run_with(self, base, more=()):
        done = self.succeeds(["run", "sac-4chip", "-w", os.path.join(SOURCE, "inputs", "workloads", "mixed.json"), "--scale", "64",
                              *sets(*BASE, *base, *more), "-o", self.path("r.h5"), "-f"])
        info = json.loads(self.succeeds(["info", "--json", self.path("r.h5")]).out)
        return info, re.findall(r"warning: `([\w.]+)` has no effect: it needs ", done.err)

    def test_what_has_no_effect_changes_nothing(self):
        covered = set()
        for name, base in SYSTEMS.items():
            with self.subTest(name):
                wanted, warned = self.run_with(base)
                self.assertEqual(warned, [], name)
                said, idle = self.run_with(base, [f"{key}={value}" for key, value in self.idle_in(base).items()])
                self.assertGreater(len(idle), 30)
                self.assertEqual(said["digest"], wanted["digest"], name)
                self.assertEqual(said["energy_joules"], wanted["energy_joules"], name)
                self.assertEqual(said["provenance"]["warnings"].count("has no effect"), len(idle))
                covered |= set(idle)
        self.assertEqual(covered, set(OTHER))

    def test_a_file_and_set_are_looked_at_on_any_number_of_ranks(self):
        system = self.write("mine.json", json.dumps({"base": "sac-4chip", "l2": {"size_kib": 1024}, "dram": {"preset": "hbm2"}}))
        for ranks in (None, 2, 5):
            done = program.run(["run", system, "-w", program.workload("stores"), *sets(*SMALL, "sac.threshold=0.5")], ranks)
            self.assertEqual(re.findall(r"warning: `([\w.]+)` (?:has no effect|= hbm2)", done.err),
                             ["sac.threshold", "l2.size_kib", "dram.preset"], ranks)

    def idle_in(self, base):
        """What the program says has no effect there, asked one by one at the price of no run."""
        kept = {}
        for key, value in OTHER.items():
            done = program.run(["config", "sac-4chip", *sets(*BASE, *base, f"{key}={value}")])
            if done.code == 0 and f"`{key}` has no effect" in done.err:
                kept[key] = value
        return kept


if __name__ == "__main__":
    program.main()
