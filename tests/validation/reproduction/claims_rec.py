"""Ko et al., "REC: Enhancing fine-grained cache coherence protocol in multi-GPU systems", Journal of Systems Architecture
2025."""

from claim import Claim, Test, counted

PAPER = "REC (JSA 2025)"
OFF = "docs/validation/rec.md#what-is-off-and-why"
SPEED = "docs/validation/rec.md#speed-up-over-the-baseline-directory-here--fig-1-6-and-11"
AVERAGES = "docs/validation/rec.md#averages"
TRAFFIC = "docs/validation/rec.md#invalidations-transactions-latency-here--fig-5-12-14-15-16"
SIZES = "docs/validation/rec.md#directory-size-and-range"
MAIN = ("rec", "rec_products")
ALL = (*MAIN, "rec_sizes", "rec_sizes_others")
RARE = "These programs hardly write a line that another GPU's L2 holds."
LOOKUP = ("Taken as the time from arrival to the end of the look-up, with its queue, where requests wait behind one that needs a "
          "link: ")


def averages(*numbers):
    """As on the page."""
    def measure(r):
        return [ours() for n, _, _, ours, _ in r.rec.page.averages(r.rec.main, r.rec.sizes) if n in map(str, numbers)]
    return measure


def mean_speedup(r, variant, baseline="directory", results=None):
    return r.rec.page.geometric((results or r.rec.main).speedup(variant, baseline).values())


def speedups(variant, *workloads, baseline="directory"):
    return lambda r: [r.rec.main.speedup(variant, baseline)[w] for w in workloads]


def ideal(r):
    return [mean_speedup(r, "ideal"), max(r.rec.main.speedup("ideal").values())]


def without_caching(r):
    return [mean_speedup(r, "none_remote"), mean_speedup(r, "none_remote", "ideal"), mean_speedup(r, "l1_only", "ideal")]


def miss_rates(r):
    rates = [r.rec.page.miss_rates(r.rec.main, v).values() for v in ("directory", "ideal")]
    return [r.rec.page.mean(rates[0]) / r.rec.page.mean(rates[1])]


def traffic(quantity, *workloads):
    return lambda r: [r.rec.page.traffic(r.rec.main)[quantity][w] for w in workloads]


def write_initiated(r):
    return [1 - share / 100 for share in traffic("evict", "FIR", "LU", "MM2")(r)]


def lookups(r):
    latency = r.rec.page.traffic(r.rec.main)["look-up"].values()
    return [r.rec.page.mean(latency) if latency else None]


def lookup_directions(r):
    """By two digits, as on the page."""
    latency = {w: round(x, 2) for w, x in r.rec.page.traffic(r.rec.main)["look-up"].items()}
    longer = ("PR", "ST")
    if not latency:
        return [None, None]
    return [counted(x < 1 for w, x in latency.items() if w not in longer), counted(latency[w] > 1 for w in longer)]


def bandwidth(r):
    return [r.rec.page.mean(r.rec.page.traffic(r.rec.main)["bandwidth"].values())]


def strong_locality(r):
    lines = r.rec.page.traffic(r.rec.main)["lines"]
    return [counted(n > 14 for w, n in lines.items() if w not in ("ATAX", "PR", "ST"))]


def peak_at_six(r):
    six, twelve = (r.rec.large.speedup(f"directory_{n}x") for n in (6, 12))
    reached = {w: six[w] >= 0.97 * twelve[w] for w in six}
    hard = ("ATAX", "PR", "ST")
    return [counted(not reached[w] for w in hard), counted(reached[w] for w in six if w not in hard)]


def larger(r):
    return [mean_speedup(r, f"directory_{n}x", results=r.rec.large) for n in (2, 4, 6, 12)]


def over_rec(r):
    mean = {v: r.rec.page.mean(r.rec.page.miss_ratios(r.rec.main, v).values()) for v in ("directory_2x", "hmg", "rec")}
    return [mean["directory_2x"] / mean["rec"], mean["hmg"] / mean["rec"]]


def sized(number, what, where, paper, case, *checks, here="", why="", of="policies"):
    tests = tuple(Test(of, case, c) for c in checks)
    return Claim(number, "arithmetic", what, where, paper, "test", tests=tests, here=here, why=why)


WIDTHS = "entries are as wide as in REC's table 1"
WIDER = "entries for 8 and 16 chips are as wide as REC says, 167 and 295 bits, and those of single lines 56 and 64"
STORAGE = "8 K entries take 52 KB for single lines and 103 KB for ranges of 1 KB"
SHARES = "REC: the baseline's directory is 2.5 % of an L2; six times of it 312 KB, 15.2 %, twelve times 624 KB, 30.5 %"

CLAIMS = (
    Claim(108, "performance", "REC over the baseline's directory, mean", "abstract, 5.2, Fig. 11", "1.327", "ratio",
          (("", 1.327),), averages(108), MAIN, ".3f",
          why="ATAX, GEMV, ST and the products gain hardly anything, and SC loses; the other five are 1.32 times as fast (paper 1.53).",
          link=OFF),
    Claim(109, "behaviour", "L2 misses of REC over the baseline's, cold ones excluded", "abstract, Fig. 13", "0.465",
          "ratio", (("", 0.465),), averages(109), MAIN, ".3f",
          link="docs/validation/rec.md#l2-misses-without-cold-ones"),
    Claim(110, "performance", "an ideal directory over the baseline: mean, largest", "3.1, Fig. 1", "1.369, 2.79", "ratio",
          (("mean", 1.369), ("largest", 2.79)), ideal, MAIN, why="PR is the largest here, C2D in the paper.", link=OFF),
    Claim(111, "performance", "no remote caching below baseline and ideal, L1 only below ideal", "2.2, Fig. 1",
          "0.763, 0.558, 0.784 (means of the bars)", "ratio",
          (("none over baseline", 0.763), ("none over ideal", 0.558), ("L1 only over ideal", 0.784)), without_caching, MAIN,
          why="Twice the published loss: each L1 miss on a remote line crosses a link. In the paper L1 only is above the "
              "baseline (1.07), here below (0.69).", link=OFF),
    Claim(112, "behaviour", "miss rate of the baseline over the ideal's, cold misses excluded", "3.1, Fig. 4", "2.4",
          "ratio", (("", 2.4),), miss_rates, MAIN,
          why="A home's look-ups for other GPUs count as well here; ATAX, GEMV and the products lose little to "
              "invalidations.", link="docs/validation/rec.md#l2-misses-without-cold-ones"),
    Claim(113, "behaviour", "invalidations that hit and that an eviction caused", "3.2, Fig. 5", "79.5 %", "amount",
          (("", 0.795),), averages(113), MAIN, ".1%", why=RARE, link=OFF),
    Claim(114, "behaviour", "those that a write caused: FIR, LU, MM2", "3.2, Fig. 5", "46, 54, 61 %", "amount",
          (("FIR", 0.46), ("LU", 0.54), ("MM2", 0.61)), write_initiated, MAIN, ".1%", why=RARE, link=OFF),
    sized(115, "entries to cover three L2s, and how many directories that is", "3.3", "96 K, 12",
          "REC: three other GPUs' L2s hold 98,304 lines, twelve directories of 8 K entries", "lines == 98304",
          "directory_entries == 12"),
    Claim(116, "performance", "a directory of six times the size, mean", "3.3, Fig. 6", "1.35", "ratio", (("", 1.35),),
          lambda r: [mean_speedup(r, "directory_6x", results=r.rec.large)], ALL,
          why="C2D is 1.62 times as fast here, 2.78 in the paper; the products, ATAX and GEMV gain nothing.",
          link=OFF),
    Claim(117, "performance", "ATAX, PR and ST need more than six times the size for their peak, most others do not",
          "3.3, Fig. 6", "8 to 12 times", "cases", ("below 97 % of twelve times the size", "others: above"), peak_at_six,
          ALL, why="Larger directories change ATAX and ST little here, and C2D and FIR go on gaining.", link=OFF),
    Claim(118, "arithmetic", "baseline: entry, directory, its share of an L2", "3.3", "52 bits, 52 KB, 2.5 %", "test",
          tests=(Test("policies", WIDTHS, "directory)).bits() == 52"), Test("policies", STORAGE, "== 52 * 1024"),
          Test("policies", SHARES, "== 2.5"))),
    sized(119, "directories of 6 and 12 times the size", "1, 3.3", "312 to 624 KB, 15.2 to 30.4 %", SHARES, "312 * 1024",
          "== 15.2", "624 * 1024", "== 30.5", here="312 to 624 KB, 15.2 to 30.5 %",
          why="30.47 %: the paper doubles the rounded 15.2."),
    Claim(120, "performance",
          "speed per storage falls as directories grow; compared are the speed-ups, what they are divided by being given",
          "3.3, Fig. 6, 7", "1.07, 1.26, 1.35, 1.37 at 2, 4, 6, 12 times; over storage .54, .31, .23, .11", "ratio",
          (("2x", 1.073), ("4x", 1.257), ("6x", 1.35), ("12x", 1.37)), larger, ALL,
          why="Larger directories bring C2D and FIR less than in the paper, and PR more.", link=SIZES),
    sized(121, "base, position and sharer bits of each range", "Table 1", "5 rows",
          "REC: base, position and sharer bits of each range as in table 1", "48, 0, 3", "41, 2, 6", "40, 4, 12",
          "38, 16, 48", "36, 64, 192"),
    sized(122, "widths of entries", "Table 1", "52, 50, 57, 103, 293 bits", WIDTHS, "bits() == 52", "bits() == 50",
          "bits() == 57", "bits() == 103", "bits() == 293"),
    sized(123, "position of a line in an entry", "4.1, 4.2", "0x340: bit 52, the 14th line",
          "REC: offset 0x340 is the 14th line of its range of 1 KB, whose bits begin at the 52nd behind the base",
          "d.offset({0x340 / 64}) == 13", "d.offset({0x340 / 64}) * bits_per_line == 52", of="chip"),
    sized(124, "REC's directory", "4.3", "103 KB", STORAGE, "103 * 1024"),
    Claim(125, "circuits", "area and power of REC's directory, share of an L2", "4.3", "3.94 %, 3.28 %", "outside",
          why="SRAM model."),
    sized(126, "entries with 8 and 16 GPUs", "4.3", "167, 295 bits", WIDER, "bits() == 167", "bits() == 295",
          "bits() == 56"),
    sized(127, "lines that an entry tracks: HMG, REC", "5.2", "4, 16",
          "REC: an entry covers up to 16 lines where HMG's covers 4 and the baseline's one", "lines == 4", "lines == 16"),
    Claim(128, "performance", "a directory of twice the size, mean", "5.2, Fig. 11", "1.073", "ratio", (("", 1.073),),
          averages(128), MAIN, ".3f",
          why="Carried by PR (1.33, in the paper 1.01), C2D and LU; ATAX has 1.00, GEMV 1.00.", link=OFF),
    Claim(129, "performance", "HMG over the baseline, mean", "5.2, Fig. 11", "1.167", "ratio", (("", 1.167),), averages(129),
          MAIN, ".3f", why="ATAX, GEMV and the products gain hardly anything. With a message for each line, as REC's entries "
          "have, 1.10.", link=OFF),
    Claim(130, "behaviour", "lines per evicted entry, ranges of 128 B, 256 B, 1 KB, 4 KB", "5.2, Fig. 12",
          "1.8, 3.4, 12.9, 54.7", "amount", (("128 B", 1.8), ("256 B", 3.4), ("1 KB", 12.9), ("4 KB", 54.7)), averages(130),
          (*MAIN, "rec_sizes"), ".1f", why="Of four workloads, for 1 KB of nine: in the others, REC evicts nothing.",
          link=AVERAGES),
    Claim(131, "behaviour", "more than 14 of 16 lines where locality is strong", "5.2", "> 14", "cases",
          ("all but ATAX, PR, ST",), strong_locality, MAIN, why="The products evict nothing.", link=TRAFFIC),
    Claim(132, "behaviour", "lines per evicted entry of ATAX, PR, ST", "5.2", "3.9, 6.1, 5.8", "amount",
          (("ATAX", 3.9), ("PR", 6.1), ("ST", 5.8)), traffic("lines", "ATAX", "PR", "ST"), MAIN, ".1f",
          why="Evicted entries of ATAX and PR are full here with chunks of 2 MB; with pages in rotation ATAX has 1.6.",
          link=TRAFFIC),
    Claim(133, "performance", "GEMV: REC over the ideal directory", "5.2, Fig. 11", "1.017", "ratio", (("", 1.017),),
          speedups("rec", "GEMV", baseline="ideal"), MAIN, ".3f", why="No protocol changes GEMV: it is bound by latency.",
          link=OFF),
    Claim(134, "behaviour", "misses over REC's: twice the directory, HMG", "5.2, Fig. 13", "1.79, 1.40", "ratio",
          (("2x", 1.79), ("HMG", 1.40)), over_rec, MAIN, why="Where entries for few lines suffice, REC's ranges add little.",
          link=OFF),
    Claim(135, "behaviour", "unnecessary invalidations that hit, REC over the baseline", "5.2, Fig. 14", "0.156", "ratio",
          (("", 0.156),), averages(135), MAIN, ".3f", link=TRAFFIC),
    Claim(136, "behaviour", "transactions between GPUs, REC over the baseline", "5.2, Fig. 14", "0.651", "ratio",
          (("", 0.651),), averages(136), MAIN, ".3f",
          why="Packets of all kinds are counted, as the paper does not say what a transaction is. The products' links carry "
          "stores in the main.", link=TRAFFIC),
    Claim(137, "behaviour", "bandwidth of REC's invalidations", "5.2, Fig. 15", "2.95 GB/s", "amount", (("", 2.95),),
          bandwidth, MAIN, ".1f",
          why="Of all GPUs together, in runs of another length than the paper's, which does not say whether it means one GPU "
          "(here 3.6) or all.", link=OFF),
    Claim(138, "behaviour", "latency of an L2 look-up, REC over the baseline", "5.2, Fig. 16", "0.852", "ratio",
          (("", 0.852),), lookups, MAIN, ".3f",
          why=LOOKUP + "single programs are not the published ones.", link=OFF),
    sized(140, "entry for 4 KB over the baseline's", "5.3", "about 6",
          "REC: an entry for 4 KB is about six times as wide as the baseline's", "== 6"),
    Claim(151, "performance", "GEMM, GEMV: REC over the baseline", "5.5", "1.202, 1.204", "ratio",
          (("GEMM", 1.202), ("GEMV", 1.204)), speedups("rec", "GEMM", "GEMV"), MAIN,
          why="GEMM is bound by stores that are written through, GEMV by latency.", link=OFF),
    Claim(153, "behaviour", "look-up latency falls in most workloads, not in PR and ST", "Fig. 16", "1.067, 1.007", "cases",
          ("others: falls", "PR, ST: rises"), lookup_directions, MAIN,
          why=LOOKUP + "PR falls most; ATAX, FIR and SC do not.", link=OFF),
    Claim(156, "behaviour", "a release writes back, an acquire leaves the L2 alone", "2.3, 5.1", "as in HMG", "test",
          tests=(Test("chip", "dirty lines are written back when a kernel ends, once, and stay", "dram_writes) == 1"),
          Test("chip", "a remote line stays in the reader's slice and the home's from kernel to kernel",
          "llc_flushed_lines) == 0")), here="written back at a kernel's end, and kept"),
)
