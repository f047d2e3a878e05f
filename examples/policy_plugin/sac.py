"""SAC's decision (ISCA 2023, section 3) as a policy in Python: the same choices as `llc.organisation` = sac.

    atoll run sac-4chip -w W --policy examples/policy_plugin/sac.py
"""
import atoll


class Policy:
    roles = ("memory_side", "sm_side")
    switches = True
    llc_profile = True

    def __init__(self, config):
        self.c = config
        self.profiling = False

    def at_kernel_start(self, kernel, start):
        return self.profile()

    def profile(self):
        self.profiling = True
        return atoll.Modes(profile=True, epoch_cycles=self.c["sac.window_cycles"])

    def at_epoch_end(self, epoch):
        if not self.profiling:
            return self.profile(), atoll.Decision("profile")
        self.profiling = False
        memory, sm = self.bandwidths(epoch)
        sm_side = sm > memory * (1 + self.c["sac.threshold"])
        role = "sm_side" if sm_side else "memory_side"
        decision = atoll.Decision(role, {"memory_side.eab": memory, "sm_side.eab": sm})
        return atoll.Modes(llc=role, epoch_cycles=self.c["sac.reprofile_cycles"]), decision

    def bandwidths(self, epoch):
        """Effective access bandwidth of both organisations, for the whole system in GB/s."""
        c, chips = self.c, self.c["chips"]
        ports = c["sm.count"] // c["noc.sms_per_cluster"] * c["noc.memory_routers"]
        if c["link.topology"] == "graph":
            raise ValueError("link.topology=graph has links of its own, which this example does not add up")
        links = {"ring": min(2, chips - 1), "full": chips - 1, "switch": min(1, chips - 1)}[c["link.topology"]]
        intra = chips * ports * c["noc.cluster_gbps"]
        inter = chips * (links * c["link.bandwidth_gbps"])
        llc = chips * c["llc.slices"] * c["llc.slice_gbps"]
        mem = chips * (c["dram.channels"] * c["dram.timing.burst_bytes"] * c["dram.timing.clock_mhz"] / c["dram.timing.ccd"] / 1e3)
        hits = epoch.profile_hits + (epoch.profile_merges if c["sac.merged_is_hit"] else 0)

        def rate(part, whole):
            return int(part.sum()) / int(whole.sum()) if whole.sum() else 0.0

        r = rate(epoch.profile_local, epoch.profile_local + epoch.profile_remote)
        memory_hit, sm_hit = rate(hits, epoch.profile_requests), rate(epoch.crd_hits, epoch.crd_requests)

        def uniformity(requests):
            most = int(requests.max())
            return int(requests.sum()) / requests.size / most if most else 1.0

        def share(hit, lsu, r, sm_llc, llc_mem):
            return min(sm_llc, llc * lsu * hit * r + min(llc * lsu * (1 - hit) * r, llc_mem, mem * r))

        inf, at_home, at_sm = float("inf"), uniformity(epoch.at_home), uniformity(epoch.at_requester)
        memory = share(memory_hit, at_home, r, intra, inf) + share(memory_hit, at_home, 1 - r, inter, inf)
        sm = share(sm_hit, at_sm, r, intra * r, inf) + share(sm_hit, at_sm, 1 - r, intra * (1 - r), inter)
        return memory, sm

    def save(self):
        return b"\x01" if self.profiling else b"\x00"

    def load(self, data):
        self.profiling = data == b"\x01"
