"""What others have measured on the machines of the presets: written down before the first run that compares.

A figure is a check only if no parameter was derived from it; docs/systems.md says what each parameter was derived from. Those
that parameters were derived from are here as well, marked `derived`: they show that the parameter does what it should.
"""
from dataclasses import dataclass, field

NHR = "gpu-benches (NHR@FAU, github.com/te42kyfo/gpu-benches, June 2024)"
SEMI = "microbench-blackwell (SemiAnalysis, github.com/SemiAnalysisAI/microbench-blackwell, May 2026), LDGSTS"
FABRIC = "emergentmind.com, Infinity Fabric Interconnect Overview (2025): links reach up to 81 % of their 200 GB/s"


@dataclass(frozen=True)
class Figure:
    """`kind` is one of hardware.py's; `value` in cycles (chase) or GB/s."""

    kind: str
    arguments: tuple
    value: float
    derived: bool = False
    note: str = ""  # expected before the run to be missed, and why


@dataclass(frozen=True)
class Machine:
    """A preset as a product has it, which others measured."""

    name: str
    preset: str
    sources: dict[str, str]
    figures: tuple[Figure, ...]
    sets: tuple[str, ...] = ()
    sms: int = 0  # in all
    clock_mhz: float = 0
    threads: int = 2048  # of an SM
    lanes: int = 32
    footprints: tuple[int, ...] = field(default=(16, 64, 128, 160, 256, 512, 2048, 8192, 15360, 26551, 35343, 47045, 125026))


CTA_START = "one element for a thread: launching CTAs takes time on hardware, here one starts every cycle"
PARTITIONS = "two partitions on hardware; one here"


def streams(full, quarter):
    """init, read, scale, triad of gpu-stream with two CTAs of 1024 threads on an SM, and with two of 256."""
    kinds = ("init", "read", "scale", "triad")
    return tuple(Figure("stream", (what, 1024), v) for what, v in zip(kinds, full)) + tuple(
        Figure("stream", (what, 256), v, note=CTA_START) for what, v in zip(kinds, quarter))


A100 = Machine(
    "A100-SXM4-80GB", "a100", {"chase": f"{NHR}, gpu-latency/a100_80.txt", "l1": f"{NHR}, gpu-cache/a100_80.txt",
                               "read": f"{NHR}, gpu-l2-cache/a100_80.txt", "stream": f"{NHR}, gpu-stream/a100_80.txt"},
    (Figure("chase", (64,), 36.2, derived=True), Figure("chase", (2048,), 211.0, derived=True),
     Figure("chase", (15360,), 211.0, derived=True),
     Figure("chase", (26551,), 377.0, note=PARTITIONS), Figure("chase", (35343,), 424.3, note=PARTITIONS),
     Figure("chase", (125026,), 570.2, derived=True),
     Figure("l1", (128,), 19119.9),
     Figure("read", (4096,), 5466.9), Figure("read", (12288,), 5434.7), Figure("read", (23552,), 5427.4),
     Figure("read", (40448,), 2462.0, note=PARTITIONS),
     *streams((1880, 1769, 1732, 1759), (1506, 619, 1026, 1372))),
    sms=108, clock_mhz=1410)

H100_PCIE = Machine(
    "H100 PCIe", "h100-sxm", {"chase": f"{NHR}, gpu-latency/h100_pcie.txt", "l1": f"{NHR}, gpu-cache/h100_pcie.txt",
                              "read": f"{NHR}, gpu-l2-cache/h100_pcie.txt", "stream": f"{NHR}, gpu-stream/h100_pcie.txt"},
    (Figure("chase", (64,), 34.2, derived=True), Figure("chase", (2048,), 265.5, derived=True),
     Figure("chase", (15360,), 265.5, derived=True),
     Figure("chase", (26551,), 319.6, note=PARTITIONS), Figure("chase", (35343,), 475.4, note=PARTITIONS),
     Figure("chase", (125026,), 649.9, derived=True),
     Figure("l1", (128,), 25130.6),
     Figure("read", (4096,), 7121.5), Figure("read", (12288,), 6992.5), Figure("read", (23552,), 6921.3),
     Figure("read", (40448,), 5728.6, note=PARTITIONS),
     *streams((2016, 1942, 1704, 1832), (1686, 702, 1037, 1399))),
    sms=114, clock_mhz=1755,
    # The PCIe card: fewer SMs, a lower clock, and HBM2E as on A100.
    sets=("sm.count=114", "core_clock_mhz=1755", "noc.cluster_gbps=224.64", "noc.slice_gbps=112.32", "llc.slice_gbps=112.32",
          "dram.preset=hbm2e", "dram.channels=80", "dram.extra_latency_cycles=296",
          *(f"dram.timing.{k}={v}" for k, v in {
              "clock_mhz": 1593, "banks": 16, "bank_groups": 4, "rrd": 7, "rcd": 23, "ras": 54, "rp": 23, "rc": 76, "cl": 23,
              "wl": 8, "cdlr": 11, "wr": 26, "rtp": 8, "faw": 24}.items())))

H200 = Machine(
    "H200", "h200", {"read": f"{NHR}, gpu-l2-cache/h200.txt", "stream": f"{NHR}, gpu-stream/h200.txt"},
    (Figure("read", (4096,), 10619.2), Figure("read", (12288,), 9716.0), Figure("read", (23552,), 9766.9),
     Figure("read", (40448,), 9666.0, note=PARTITIONS),
     *streams((3884, 2756, 3165, 3534), (2196, 935, 1395, 1905))),
    sms=132, clock_mhz=1980)

# The L2 of H100 SXM is H200's, at the same clock. No measurement of its memory was at hand.
H100_SXM = Machine(
    "H100 SXM5", "h100-sxm", {"read": f"{NHR}, gpu-l2-cache/h200.txt: the same die at the same clock"},
    (Figure("read", (4096,), 10619.2), Figure("read", (12288,), 9716.0), Figure("read", (23552,), 9766.9),
     Figure("read", (40448,), 9666.0, note=PARTITIONS)),
    sms=132, clock_mhz=1980)

B200 = Machine(
    "B200", "b200", {"chase": "Chips and Cheese, Nvidia's B200 (2025): some 150 ns", "in_flight": SEMI},
    (Figure("chase", (2048,), 295.0, derived=True),
     # (CTAs of an SM, stages, threads), each thread 16 B a stage
     Figure("in_flight", (1, 1, 64), 341.3), Figure("in_flight", (1, 1, 128), 683.7), Figure("in_flight", (1, 1, 256), 1351.7),
     Figure("in_flight", (1, 2, 128), 1288.7), Figure("in_flight", (1, 2, 256), 2486.4),
     Figure("in_flight", (1, 4, 256), 4234.5), Figure("in_flight", (1, 8, 256), 5699.4),
     Figure("in_flight", (2, 1, 256), 2623.3), Figure("in_flight", (2, 4, 256), 6216.5),
     Figure("in_flight", (4, 2, 256), 6552.9), Figure("in_flight", (4, 4, 256), 6690.0)),
    sms=148, clock_mhz=1965)

MI210 = Machine(
    "MI210 (one GCD of MI250X, 104 CUs)", "mi250x",
    {"chase": f"{NHR}, gpu-latency/mi210.txt", "l1": f"{NHR}, gpu-cache/mi210.txt",
     "read": f"{NHR}, gpu-l2-cache/mi210.txt", "stream": f"{NHR}, gpu-stream/mi210.txt"},
    (Figure("chase", (12,), 125.2, derived=True), Figure("chase", (2048,), 245.6, derived=True),
     Figure("chase", (26551,), 576.1, derived=True),
     Figure("chase", (125026,), 628.6, note="misses of the TLB, which is not modelled"),
     Figure("l1", (8,), 10590.1),
     Figure("read", (2048,), 4827.7), Figure("read", (4096,), 5064.1), Figure("read", (6144,), 4703.2),
     Figure("read", (132608,), 1365.5),
     *streams((1526, 1345, 1358, 1248), (908, 608, 840, 1104))),
    sets=("chips=1", "sm.count=104"), sms=104, clock_mhz=1700, lanes=64,
    footprints=(4, 12, 32, 128, 512, 2048, 4096, 8192, 15360, 26551, 62620, 125026))

MI250X = Machine(
    "MI250X", "mi250x", {"link": FABRIC},
    (Figure("link", (), 162.0, note="the link's 200 GB/s less 19 % for the protocol of Infinity Fabric, which is not modelled"),),
    sms=220, clock_mhz=1700, lanes=64)

MACHINES = (A100, H100_PCIE, H100_SXM, H200, B200, MI210, MI250X)
