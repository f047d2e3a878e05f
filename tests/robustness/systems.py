"""Legal and not quite legal systems and workloads at random. Any key of the program's own list may be set, so that one that
is new is attacked without being named here."""

import functools
import json

import explained
from program import sets

# SAC's system more often than others: it has everything that depends on several chips.
PRESETS = ("sac-4chip",) * 4 + ("rec-4gpu", "selrep-gpu", "colab-gpu", "rtx3070", "mi250x", "mi300x", "b200", "a100")
# What decides which parts of the machine there are. Combinations of these are where parts meet that seldom do.
PARTS = ("chips", "llc.organisation", "llc.replication", "coherence.protocol", "cluster.sharing", "link.topology", "l2.slices",
         "partition.placement", "partition.compute_chips", "partition.memory_chips", "noc.memory_routers", "noc.virtual_channels")
# Numbers that decide how much there is to simulate.
CHOSEN = {"chips": "1234568", "dram.channels": "123468", "llc.slices": "123468", "l2.slices": "0248", "sm.count": "248"}
WORDS_OF_PLUGINS = ("plugin", "policy")

keys_of = functools.lru_cache(explained.keys)


def value(rng, name, key):
    """A value of the key, mostly within its bounds; nothing for texts."""
    if name in CHOSEN:
        return rng.choice(CHOSEN[name])
    if key.truth:
        return rng.choice(("true", "false"))
    if key.words:
        return rng.choice([word for word in key.words if word not in WORDS_OF_PLUGINS])
    if key.least is None:
        return None
    usual = float(key.value)
    near = (key.least, key.least + 1, 1, 2, 3, usual / 8, usual / 4, usual / 2, usual * 0.7, usual + 1, usual * 2, usual * 4)
    some = min(max(rng.choice(near), key.least), key.most)
    return str(some if "." in key.value else int(some))


def system(rng):
    """A preset made small, the overrides, and its number of chips."""
    preset = rng.choice(PRESETS)
    keys = keys_of(preset)
    chosen = {"sm.count": rng.choice("248"), "noc.sms_per_cluster": rng.choice("12"), "dram.channels": rng.choice("24")}
    if rng.random() < 0.8:
        chosen["llc.slices"] = rng.choice("448")
    if rng.random() < 0.6:
        chosen["llc.size_kib"] = "128"
    others = sorted(set(keys) - {"scale", "core_clock_mhz"})
    for name in rng.sample(PARTS, rng.randrange(5)) + rng.sample(others, rng.choice((0, 1, 2, 3, 4, 6, 9))):
        if (some := value(rng, name, keys[name])) is not None:
            chosen[name] = some
    return preset, sets(*(f"{name}={some}" for name, some in chosen.items())), int(chosen.get("chips", keys["chips"].value))


def region(rng, number):
    pattern = rng.choice(("stream", "strided", "uniform", "hot_set"))
    made = {"name": f"r{number}", "kind": rng.choice(("private", "false_shared", "true_shared", "page_interleaved")),
            "size_kib": rng.choice((16, 64, 256, 1024, 4096)), "weight": rng.randint(1, 5), "pattern": pattern,
            "accesses": rng.choice((1, 1, 1, 2, 4, 32)), "sectors": rng.choice((1, 2, 4, 4))}
    if pattern == "strided":
        made["stride_bytes"] = rng.choice((128, 256, 512, 4096))
    if pattern in ("stream", "strided"):
        made["near_reuse"] = rng.choice((0, 0, 0.3))
    return made | rng.choice(({}, {}, {"write_fraction": rng.choice((0.1, 0.5, 1))}, {"atomic_fraction": rng.choice((0.1, 1))},
                              {"read_only": True}))


def workload(lab):
    """A small one. Kernels share regions, which some write and others only read."""
    rng = lab.rng
    regions = [region(rng, number) for number in range(rng.randint(1, 3))]
    kernels = []
    for number in range(rng.randint(1, 3)):
        used = [dict(r) for r in rng.sample(regions, rng.randint(1, len(regions)))]
        if rng.random() < 0.3:
            for r in used:
                r.pop("write_fraction", None), r.pop("atomic_fraction", None)
        kernels.append({"name": f"k{number}", "repeat": rng.randint(1, 2), "ctas": rng.choice((1, 7, 24, 64, 130)),
                        "warps_per_cta": rng.randint(1, 6), "memory_instructions": rng.randint(1, 30),
                        "compute_instructions": rng.choice((0, 1, 4)), "loads_in_flight": rng.choice((1, 2, 4, 16)),
                        "barrier_every": rng.choice((0, 0, 5)), "regions": used})
    return lab.write("random.json", json.dumps({"seed": rng.randrange(100), "chips": rng.choice((0, 0, 1, 2, 4)), "kernels": kernels}))
