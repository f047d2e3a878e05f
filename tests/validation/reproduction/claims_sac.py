"""Zhang et al., "SAC: Sharing-Aware Caching in Multi-Chip GPUs", ISCA 2023."""

import math

from claim import Claim, Test, counted

PAPER = "SAC (ISCA 2023)"
SAYS = "docs/validation/sac.md#what-the-results-say"
PROFILES = "docs/validation/sac.md#profiles"


def averages(number):
    """Harmonic mean of the speed-ups, to be compared with that of the bars; and the IPCs' means first, as printed."""
    def measure(r):
        s = r.sac
        _, _, variant, base, names, _ = next(a for a in s.page.AVERAGES if a[0] == str(number))
        return [s.page.average(s.columns, variant, base, names), s.page.ipc_first(s.runs, variant, base, names)]
    return measure


def average(number, what, bars, printed, where, why):
    return Claim(number, "performance", what, where, f"{printed:.2f}; the bars' harmonic mean is {bars:.2f}", "ratio",
                 (("harmonic mean", bars), ("IPC first", printed)), averages(number), ("sac",), why=why, link=SAYS)


def largest(number, what, published, variant, base, where, why):
    return Claim(number, "performance", what, where, f"{published:.2f}", "ratio", (("", published),),
                 lambda r: [max(r.sac.columns[variant][w] / r.sac.columns[base][w] for w in r.sac.page.ALL)], ("sac",),
                 why=why, link=SAYS)


def miss_rates(r):
    return [r.sac.page.mean_miss_rate(r.sac.runs, v, names) for names in (r.sac.page.SP, r.sac.page.MP)
            for v in ("memory_side", "sm_side")]


def bandwidth(r, workload, variant):
    return sum(r.sac.page.response_shares(r.sac.runs, workload, variant))


def effective_bandwidth(r):
    sm_side = {w: bandwidth(r, w, "sm_side") for w in r.sac.page.ALL}
    return [counted(sm_side[w] > 1 for w in r.sac.page.SP), counted(sm_side[w] < 1 for w in r.sac.page.MP)]


def follows(r):
    sac, sm_side = r.sac.columns["sac"], r.sac.columns["sm_side"]
    return [counted(abs(sac[w] / sm_side[w] - 1) <= 0.05 for w in r.sac.page.SP),
            counted(abs(sac[w] - 1) <= 0.05 for w in r.sac.page.MP)]


def local(r, workload, variant):
    return r.sac.runs[workload, variant]["local"]


def contents_sp(r):
    names = [w for w in r.sac.page.SP if w != "BFS"]
    less = lambda a, b: counted(local(r, w, a) < local(r, w, b) for w in names)
    return [less("dynamic", "static"), less("sm_side", "dynamic"), less("sac", "dynamic")]


def contents_mp(r):
    names = r.sac.page.MP
    more = lambda v: counted(local(r, w, v) > local(r, w, "static") for w in names)
    return [more("dynamic"), more("sm_side"), counted(local(r, w, "sac") > 0.99 for w in names)]


def contents_fixed(r):
    return [100 * sum(local(r, w, v) for w in r.sac.page.ALL) / len(r.sac.page.ALL) for v in ("memory_side", "static")]


def own_responses(r):
    def more(w):
        sm_side, memory_side = (r.sac.page.response_shares(r.sac.runs, w, v) for v in ("sm_side", "memory_side"))
        return sm_side[0] + sm_side[1] > memory_side[0]
    return [counted(map(more, r.sac.page.SP))]


def correlation(xs, ys):
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    return both / math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))


def correlations(r):
    points = [(w, v) for v in r.sac.page.VARIANTS[1:] for w in r.sac.page.ALL]
    speed = [r.sac.columns[v][w] for w, v in points]
    latency = [r.sac.runs[w, v]["latency"] / r.sac.runs[w, "memory_side"]["latency"] for w, v in points]
    return [abs(correlation(speed, [bandwidth(r, w, v) for w, v in points])) - abs(correlation(speed, latency))]


def costs(r, choice, names):
    found = [r.sac.page.cost(r.sac.runs, w) for w in names]
    return [longer for chosen, oracle, longer in found if oracle is not None and chosen == {choice}]


def sm_side_cost(r):
    longer = costs(r, "sm_side", r.sac.page.SP)
    return [sum(longer) / len(longer)]


def bfs_kernels(r):
    def cycles(variant, kernel):
        return sum(e - s for n, s, e in r.sac.runs["BFS", variant]["kernels"] if n == kernel)
    run = r.sac.runs["BFS", "sac"]
    chosen: dict[str, list[str]] = {"K1": [], "K2": []}
    for d in run["decisions"]:
        chosen[run["kernels"][d["kernel"]][0]].append(d["choice"])
    gain = {k: cycles("memory_side", k) / cycles("sm_side", k) for k in chosen}
    return [counted(c == "memory_side" for c in chosen["K1"]), counted(c == "sm_side" for c in chosen["K2"]),
            counted([gain["K1"] <= 1]), counted([1.5 <= gain["K2"] <= 3])]


def window(r, variant, over="sac"):
    """By workload: how much faster than SAC as published."""
    return {w: cycles / r.sac_window[w, variant] for (w, v), cycles in r.sac_window.items() if v == over}


def mean_speedup(r, variant):
    return r.sac.page.harmonic(window(r, variant, "memory_side").values())


def thresholds(r):
    return [counted([mean_speedup(r, "sac") >= 0.99 * mean_speedup(r, v)]) for v in ("threshold_0", "threshold_20")]


def channels(r):
    def most(w):
        n = r.sac.runs[w, "memory_side"]["channels"]
        return max(n) * len(n) / sum(n)
    return [max(map(most, r.sac.page.ALL))]


STORAGE = "profilers take 544 + 64 + 12 = 620 bytes per chip, and 736 + 64 + 12 = 812 with sectors"
BANDWIDTHS = "the bandwidths of SAC's system are those of its tables: 16, 0.768, 16 and 1.75 TB/s"


def storage(number, what, where, paper, *checks):
    return Claim(number, "arithmetic", what, where, paper, "test", tests=tuple(Test("policies", STORAGE, c) for c in checks))


SHORT = ("The directory sees 44 to 180 requests of a window: with the sets that are sampled by default GEMM goes SM-side, and "
         "one launch of BFS stays. Other choices are in the page.")
STATIC = "Half the ways hold the windows of RN, AN, SN and BT here, so Static and Dynamic are too good on the SP half."
INPUT = "The profiles were made from this figure."

CLAIMS = (
    average(1, "SAC over memory-side, mean of all", 1.20, 1.76, "abstract, 5.1, Fig. 8",
            "The mean of the speed-ups agrees; the printed average weighs programs of low IPC most, and our profiles' IPCs "
            "" "" "" "are not the paper's."),
    largest(2, "SAC over memory-side, largest", 2.57, "sac", "memory_side", "abstract, Fig. 8",
            "SN gains most, as in the paper, and a quarter more."),
    average(3, "SAC over SM-side, mean of all", 1.11, 1.12, "abstract, 5.1",
            "Sampling noise decides between 0.94 and 1.07 (other choices of sets are in the page): this one sends GEMM SM-side."),
    largest(4, "SAC over SM-side, largest", 1.49, "sac", "sm_side", "abstract",
            "SRAD loses a third SM-side in the paper, a tenth here, where memory limits both organisations."),
    average(5, "SAC over Static, mean of all", 1.31, 1.31, "1, 5.1", STATIC),
    largest(6, "SAC over Static, largest", 1.92, "sac", "static", "1", STATIC),
    average(7, "SAC over Dynamic, mean of all", 1.12, 1.18, "1, 5.1", STATIC),
    largest(8, "SAC over Dynamic, largest", 1.27, "sac", "dynamic", "1", "In LUD here, in GEMM in the paper."),
    average(9, "SM-side over memory-side, SP half", 1.50, 1.91, "1, Fig. 1a",
            "The printed average agrees, the mean of the bars is exceeded: RN, SN, BFS, 3DC and BT gain too much."),
    average(10, "memory-side over SM-side, MP half", 1.26, 1.32, "1, Fig. 1a",
            "SRAD, GEMM and 3MM lose less SM-side than published."),
    Claim(11, "behaviour", "LLC miss rates: SM-side above memory-side in both halves", "1, Fig. 1b",
          "SP .25, .39; MP .51, .72", "amount",
          (("SP memory-side", 0.25), ("SP SM-side", 0.39), ("MP memory-side", 0.51), ("MP SM-side", 0.72)), miss_rates,
          ("sac",), why="Memory-side hit rates are a target of the profiles; SM-side's are not.",
          link="docs/validation/sac.md#llc-miss-rates"),
    Claim(12, "behaviour", "SM-side caching raises the LLC's responses per cycle in SP and lowers them in MP",
          "1, 5.2, Fig. 1c, 10", "SP 1.91, MP 0.80", "cases", ("SP: more than memory-side", "MP: fewer"),
          effective_bandwidth, ("sac",), link="docs/validation/sac.md#loads-answered-by-origin-per-cycle-memory-side--1"),
    Claim(13, "performance", "SAC is as fast as SM-side on SP and as memory-side on MP", "5.1, Fig. 8",
          "within the bars' reading, BFS apart", "cases", ("SP: within 5 % of SM-side", "MP: within 5 % of memory-side"),
          follows, ("sac",), why=SHORT, link=SAYS),
    Claim(14, "performance", "SAC over SM-side on SP: the gap is small", "5.1, 5.4", "1.00 (means of the bars)", "limit",
          (("", ">", 0.98),), lambda r: [r.sac.page.average(r.sac.columns, "sac", "sm_side", r.sac.page.SP)], ("sac",),
          why=SHORT, link=SAYS),
    Claim(15, "circuits", "power and area of SM-side's two networks above memory-side's", "1, 2.1", "21 %, 18 %", "outside",
          why="Power and area of routers and wires come from a circuit model."),
    Claim(16, "circuits", "area and power of the bypass logic, share of the network", "3.6", "1.9 %, 1.6 %", "outside",
          why="Synthesised logic."),
    Claim(17, "circuits", "width of a slice of 256 KB in 22 nm", "3.6", "0.69 mm", "outside", why="Layout of an SRAM."),
    storage(18, "Chip Request Directory per chip", "3.6", "544 B", "crd == 544"),
    storage(19, "the same with four sectors per line", "3.6", "736 B", "crd == 736"),
    storage(20, "counters of slice use per chip", "3.6", "64 B", "slice_counters == 64"),
    storage(21, "four counters of 24 bits per chip", "3.6, Fig. 7", "12 B", "counters == 12"),
    storage(22, "all profilers per chip, without and with sectors", "1, 3.6", "620 B, 812 B", "total() == 620",
            "total() == 812"),
    Claim(23, "trend", "a profile of 2,000 cycles suffices", "3.2", "suffices", "cases",
          ("10,000 cycles at most 2 % faster",), lambda r: [counted(x <= 1.02 for x in window(r, "window_10k").values())],
          ("sac_window",),
          why="With 10,000 the directory sees more requests: BFS gains 1.82 instead of 1.66. The other five lose up to 2 %.", link=SAYS),
    Claim(24, "performance", "profiling costs less than 1 %, where nothing is switched afterwards", "3.2", "< 1 %", "limit",
          (("largest, benchmarks that stay memory-side", "<", 0.01),),
          lambda r: [max(costs(r, "memory_side", r.sac.page.ALL))], ("sac",), ".1%",
          link="docs/validation/sac.md#cost-of-profiling-and-switching"),
    Claim(25, "performance", "deciding and switching cost less than 1 %", "3.6, 5.4", "< 1 %", "limit",
          (("mean, SP benchmarks that go SM-side", "<", 0.01),), sm_side_cost, ("sac",), ".1%",
          why="0.4 to 6.3 thousand cycles per launch, in launches of 180 to 480 thousand here.", link=SAYS),
    Claim(26, "trend", "new profiles during a kernel bring nothing (each 100,000 or 1 million cycles)", "3.2", "no benefit",
          "cases", ("each 100,000 cycles: at most 2 % faster",),
          lambda r: [counted(x <= 1.02 for x in window(r, "reprofile_100k").values())], ("sac_window",),
          why="Later profiles send RN, AN and 3DC back to memory-side: 1.13, 1.32, 1.11 instead of 2.52, 1.83, 1.58.", link=SAYS),
    Claim(27, "trend", "a threshold of 5 % is balanced", "3.5", "balanced", "cases",
          ("at most 1 % slower than with 0", "than with 20 %"), thresholds, ("sac_window",),
          why="0 decides as 5 % does; with 20 % RN and AN stay memory-side (1.00 instead of 2.52 and 1.83).", link=SAYS),
    Claim(28, "performance", "BFS: SAC over SM-side, the only gain", "5.4, Fig. 8", "1.09", "ratio", (("", 1.09),),
          lambda r: [r.sac.columns["sac"]["BFS"] / r.sac.columns["sm_side"]["BFS"]], ("sac",),
          why="K1 gains SM-side here, as its gather relieves the links, so nothing is left for SAC to gain.", link=SAYS),
    Claim(29, "behaviour", "BFS: K1 stays memory-side, K2 goes SM-side", "Fig. 12",
          "K1 0.8 to 1, K2 1.5 to 3 times as fast SM-side", "cases",
          ("K1 stays", "K2 goes", "K1 no faster SM-side", "K2 1.5 to 3 times as fast"), bfs_kernels, ("sac",),
          why="K1 gains SM-side here, as its gather relieves the links.", link=SAYS),
    Claim(30, "performance", "3DC, BS, BP, DWT: SM-side differs little from memory-side", "5.3", "1.07, 1.12, .92, .92",
          "cases", ("within 15 %, the largest difference and a quarter",),
          lambda r: [counted(abs(r.sac.columns["sm_side"][w] - 1) <= 0.15 for w in ("3DC", "BS", "BP", "DWT"))], ("sac",),
          why="3DC misses less often SM-side than in Fig. 10; nothing published explains the misses there. BP is at 0.84.",
          link=SAYS),
    Claim(31, "behaviour", "share of the LLC that holds local data: memory-side, Static", "5.1, Fig. 9", "100 %, 50 %",
          "amount", (("memory-side", 100), ("Static", 50)), contents_fixed, ("sac",), ".0f",
          link="docs/validation/sac.md#local-data--of-what-the-llc-holds-here--fig-9"),
    Claim(32, "behaviour", "SP without BFS: Dynamic holds more remote data than Static, SM-side and SAC more still",
          "Fig. 9", "Dynamic 42 to 49 % local, SM-side 29 to 43 %", "cases",
          ("Dynamic above Static", "SM-side above Dynamic", "SAC above Dynamic"), contents_sp, ("sac",),
          why="Dynamic goes further than published in AN, SN, BS and 3DC, whose links stay saturated: to one way for local lines, "
              "where SM-side has more.", link=SAYS),
    Claim(33, "behaviour", "MP: Dynamic and SM-side hold more local data than Static, SAC local data only", "Fig. 9",
          "Dynamic 73 to 83 %, SM-side 57 to 89 %", "cases",
          ("Dynamic above Static", "SM-side above Static", "SAC all local"), contents_mp, ("sac",),
          why="SAC goes SM-side in GEMM, where it loses 12 %.", link=SAYS),
    Claim(34, "performance", "Dynamic is slightly faster than Static", "5.1, Fig. 8",
          "1.50 / 1.35; the bars' means 1.05 / 0.86", "ratio", (("harmonic mean", 1.22), ("IPC first", 1.11)),
          lambda r: [r.sac.page.average(r.sac.columns, "dynamic", "static", r.sac.page.ALL), r.sac.page.ipc_first(r.sac.runs,
          "dynamic", "static", r.sac.page.ALL)], ("sac",), ".3f",
          why="Static is too good on the SP half here, where half the ways hold the windows. On the MP half Dynamic gains 8 %.",
          link=SAYS),
    Claim(35, "behaviour", "SP: responses of the own LLC replace those of other chips' LLCs under SM-side caching",
          "Fig. 10", "0.08 to 2.48 of the own, 0.01 to 0.44 memory-side", "cases", ("more of the own LLC",), own_responses,
          ("sac",), link="docs/validation/sac.md#loads-answered-by-origin-per-cycle-memory-side--1"),
    Claim(36, "trend", "speed-up follows bandwidth more closely than latency", "footnote 2", "higher correlation", "limit",
          (("difference of the absolute correlations, four organisations", ">", 0),), correlations, ("sac",),
          link="docs/validation/sac.md#loads-answered-by-origin-per-cycle-memory-side--1"),
    Claim(37, "behaviour", "truly shared sets are small in SP and large in MP; with copies up to 16 MB and more", "Fig. 11",
          "4.0 and 14.7 MB true in 100,000 cycles", "input", why=INPUT, link=PROFILES),
    Claim(38, "behaviour", "most SP benchmarks share a good deal falsely", "5.3, Fig. 11", "5.4 MB in 100,000 cycles",
          "input", why=INPUT, link=PROFILES),
    Claim(39, "behaviour", "footprints, true and false sharing, CTAs of 16 benchmarks", "Table 4", "16 rows", "input",
          why=INPUT + " The runs touch what it says, with the exceptions on the page.",
          link="docs/validation/sac.md#achieved--target"),
    Claim(43, "arithmetic", "NVLink 2 and 3 in a ring of four, and the default in between", "5.6",
          "150, 300 GB/s; 96 GB/s each way", "test", tests=(Test("policies",
          "SAC: 96 GB/s each way per neighbour lie between NVLink 2 and 3, 150 and 300 GB/s both ways in a ring of four",
          "2 * c.link.bandwidth_gbps < 300"), )),
    Claim(50, "arithmetic", "ports of the crossbar", "2, 3.1", "38 x 22", "test", tests=tuple(Test("policies",
          "SAC: 32 clusters, 16 slices and 6 links of 64 GB/s make a crossbar of 38 x 22 ports", c) for c in ("links == 38",
          "links == 22"))),
    Claim(51, "arithmetic", "bandwidth within chips over that between them: an order of magnitude", "5.1",
          "16 and 0.768 TB/s", "test",
          tests=tuple(Test("policies", BANDWIDTHS, c) for c in ("intra == 16000", "inter == 768"))),
    Claim(52, "behaviour", "PAE spreads requests evenly over channels", "3.3", "evenly", "limit",
          (("busiest channel over the mean, memory-side, largest of 16", "<", 1.05),), channels, ("sac",),
          link="docs/validation/sac.md#achieved--target"),
    Claim(154, "arithmetic", "the model takes a couple of dozen operations", "3.6", "a couple dozen", "open",
          why="The controller computes it in no time; operations are not counted."),
    Claim(155, "behaviour", "copies thrash the LLC in MP over long windows", "5.3, Fig. 11", "> 16 MB", "input", why=INPUT,
          link=PROFILES),
)
