"""Zhao et al., "Selective Replication in Memory-Side GPU Caches", MICRO 2020."""

from claim import Claim, Test, counted

PAPER = "SelRep (MICRO 2020)"
SAYS = "docs/validation/selrep.md#what-the-results-say"
SHAPES = "docs/validation/selrep.md#claims-about-shapes"
SHARING = "docs/validation/selrep.md#measured-on-the-base-machine-shared"
ENERGY = "Energy follows the run time, and so do the profiles': 1.03 (1.02 to 1.07)."
LOAD = "Replication pays little on these recordings: SMs issue nearly all they can, and loads wait in the shadow of others."
PRIVATE = "Private leads in AlexNet's smallest set alone: its misses cost memory bandwidth, and slices are not short of bandwidth."
DIRECTORY = ("The published directory does not see that replicas take room, and chooses too high degrees where the LLC is "
             "small.")
L1 = "Direct convolutions read a line once per element of the mask, in the L1."


def mean_and_largest(number, largest, what, base, published, where, why):
    """Two claims: the mean over the 25 configurations, and the largest."""
    read = lambda r: r.selrep.all.speedups("selrep", base)
    mean = lambda r: [r.selrep.page.harmonic(read(r))]
    claim = lambda n, which, value, measure: Claim(n, "performance", f"{what}, {which}", where, f"{value:.3f}", "ratio",
                                                   (("", value),), measure, ("selrep",), ".3f", why=why, link=SAYS)
    return (claim(number, "mean of 25 configurations", published[0], mean),
            claim(largest, "largest", published[1], lambda r: [max(read(r))]))


def medium(r):
    """Over Shared and over Adaptive alike: the smaller of the two, the best of the configurations _1 to _3."""
    speedup = r.selrep.all.speedup
    return [max(min(speedup(f"{b}_{i}", "selrep", base) for base in ("shared", "adaptive")) for i in (1, 2, 3))
            for b in ("rn", "nn", "mm", "an")]


def bsr(r, benchmark=None):
    page = r.selrep.page
    names = [w for w in page.CONFIGURATIONS if benchmark in (None, w[:2])]
    return r.selrep.all.speedups("selrep", "BSR", names)


def shape(number, what, where, paper, *labels, why="", link=SHAPES, kind="behaviour"):
    """A claim that the page tests as well, statement by statement."""
    def measure(r):
        return [counted(found) for _, found in r.selrep.page.claims(r.selrep.all)[str(number)]]
    return Claim(number, kind, what, where, paper, "cases", labels, measure, ("selrep",), why=why, link=link)


def sharing(quantity, *benchmarks):
    """Mean of the five benchmarks, then the single ones."""
    def measure(r):
        values = {b: row[quantity] for b, row in r.selrep_sharing.items()}
        return [sum(values.values()) / len(values)] + [values[b] for b in benchmarks]
    return measure


def insensitive(r):
    return [counted(abs(r.selrep_neutral.speedup(w, "selrep") - 1) <= 0.05 for w in r.selrep_page.NEUTRAL)]


def preferences(r):
    page = r.selrep_page
    private = {w: r.selrep_neutral.speedup(w, "private") for w in page.NEUTRAL}
    return [counted(private[w] < 0.95 for w in page.PREFER_SHARED),
            counted(abs(x - 1) <= 0.05 for w, x in private.items() if w not in page.PREFER_SHARED)]


def epochs(r):
    e = r.selrep_epoch
    return [counted(e.speedup(w, v, "epoch_20k") <= 1.02 for w in ("nn_1", "mm_2")
                    for v in ("epoch_5k", "epoch_10k", "epoch_40k"))]


CLAIMS = (
    *mean_and_largest(53, 54, "SelRep over Shared", "shared", (1.197, 1.616), "abstract, V-A, Fig. 12", LOAD),
    *mean_and_largest(55, 56, "SelRep over Adaptive", "adaptive", (1.111, 1.310), "abstract, Fig. 12",
                      LOAD + " It leads where Adaptive goes private and loses."),
    Claim(57, "performance", "Adaptive over Shared, mean of 25 configurations", "Fig. 12", "1.079", "ratio", (("", 1.079),),
          lambda r: [r.selrep.page.harmonic(r.selrep.all.speedups("adaptive"))], ("selrep",), ".3f", why=PRIVATE, link=SAYS),
    Claim(58, "performance", "SelRep over Shared and Adaptive, best of the medium configurations of each benchmark", "V-A",
          "RN 1.31, NN 1.30, MM 1.27, AN 1.17", "ratio", (("RN", 1.31), ("NN", 1.296), ("MM", 1.273), ("AN", 1.165)), medium,
          ("selrep",), why=LOAD, link=SAYS),
    Claim(59, "performance", "SelRep falls short of the best static degree, mean", "I, V-A, Fig. 11", "by at most 2.3 %",
          "limit", (("", "<", 0.0235),), lambda r: [1 - r.selrep.page.harmonic(bsr(r))], ("selrep",), ".1%",
          why=DIRECTORY + " With shadow tags, which see it, 3.3 %.", link=SAYS),
    Claim(60, "performance", "NN falls short of the best static degree, most of all", "V-A", "by 7.3 %", "amount",
          (("largest, NN", 0.073),), lambda r: [1 - min(bsr(r, "nn"))], ("selrep",), ".1%",
          why="Its launches are short here, and the LLC is emptied after each.",
          link=SAYS),
    Claim(61, "performance", "RN is faster than with the best static degree", "V-A", "by 1.9 %", "ratio", (("", 1.019),),
          lambda r: [max(bsr(r, "rn"))], ("selrep",), ".3f", why=DIRECTORY, link=SAYS),
    shape(62, "Private is best at _0, Shared for large sets, Adaptive follows the better", "Fig. 11", "in all benchmarks",
          "Private better at _0", "Private worse at _4", "Adaptive at most 5 % below the better", why=PRIVATE, link=SAYS,
          kind="trend"),
    shape(63, "Adaptive gains at the smallest configurations only", "V-A, Fig. 12", "at _0 only", "largest gain at _0",
          "at most 2 % from _2 on", why=PRIVATE, link=SAYS, kind="trend"),
    Claim(64, "behaviour", "shared lines that are read-only", "I, III-A, Fig. 7", "97 %", "amount",
          (("mean of five benchmarks", 0.97),), sharing("read-only"), ("selrep_sharing",), ".1%",
          why="NN 0.73, all others 1.00: its maps of 25 and 169 numbers leave lines that two CTAs write.", link=SHARING),
    Claim(65, "behaviour", "accesses to shared data that the LLC serves, not an L1", "II, Fig. 4",
          "50.9 %; SN 78.2 %, the most", "amount", (("mean of five benchmarks", 0.509), ("SN", 0.782)),
          sharing("by LLC", "sn"), ("selrep_sharing",), ".1%", why=L1, link=SHARING),
    Claim(66, "behaviour", "read-only lines that more than 2 SMs ask for within 1,000 cycles", "II, Fig. 5", "83.3 %",
          "amount", (("mean of five benchmarks", 0.833),), sharing("> 2 SMs"), ("selrep_sharing",), ".1%",
          why="CTAs that replace one another are at different places of the data.", link=SHARING),
    Claim(67, "behaviour", "the same, more than 9 SMs", "II, Fig. 5", "32.8 %", "amount",
          (("mean of five benchmarks", 0.328),), sharing("> 9 SMs"), ("selrep_sharing",), ".1%",
          why="CTAs that replace one another are at different places of the data.", link=SHARING),
    shape(68, "AN and RN use all degrees, from shared to private", "Fig. 13", "16 to 0", "both ends",
          link="docs/validation/selrep.md#degrees-over-epochs--fig-13"),
    shape(69, "range of degrees", "Fig. 13", "SN 2 to 4, NN 4 to 16, MM 0 to 8", "within the range", why=DIRECTORY,
          link="docs/validation/selrep.md#degrees-over-epochs--fig-13"),
    shape(70, "the smaller the shared set, the more replicas", "Fig. 13", "in all benchmarks",
          "the mean degree falls to the next configuration",
          why="In AlexNet and ResNet it falls with the LLC; elsewhere it does not follow.",
          link="docs/validation/selrep.md#degrees-over-epochs--fig-13", kind="trend"),
    shape(71, "miss rates: Private's rises steeply from _0 to _4, SelRep's is slightly above Shared's", "Fig. 14",
          "in all benchmarks", "Private's rises", "SelRep's at most 0.1 above Shared's", why=DIRECTORY,
          link="docs/validation/selrep.md#llc-miss-rates-fig-14"),
    shape(72, "replies per cycle: Private first at _0, Shared from _1 on, SelRep above both", "Fig. 15", "in the means",
          "Private above Shared at _0", "below from _1 on", "SelRep highest", why=PRIVATE,
          link="docs/validation/selrep.md#llc-replies-per-cycle-fig-15"),
    shape(73, "replies per cycle: SelRep above Adaptive also for large configurations", "V-A", "at _3 and _4",
          "SelRep above Adaptive", why="Adaptive stays shared there, and SelRep's replicas cost misses.",
          link="docs/validation/selrep.md#llc-replies-per-cycle-fig-15", kind="trend"),
    Claim(74, "performance", "energy of SelRep over Shared, mean", "V-B, Fig. 16", "0.943", "ratio", (("", 0.943),),
          lambda r: [r.selrep.page.energy(r.selrep.all, "shared")],
          ("selrep",), ".3f", why=ENERGY, link=SAYS,
          ranges=lambda r: [r.selrep.page.energy_range(r.selrep.all, "shared")]),
    Claim(75, "performance", "energy of SelRep over Adaptive, mean", "V-B", "0.954", "ratio", (("", 0.954),),
          lambda r: [r.selrep.page.energy(r.selrep.all, "adaptive")],
          ("selrep",), ".3f", why=ENERGY, link=SAYS,
          ranges=lambda r: [r.selrep.page.energy_range(r.selrep.all, "adaptive")]),
    Claim(76, "arithmetic", "replication degree directory of a chip", "III-D", "520 B", "input",
          why="Taken over as printed: its make-up is not published, and two sets of 16 entries would be 130 bits wide."),
    Claim(77, "arithmetic", "16-bit counters of a chip", "III-D", "172 B", "test",
          tests=(Test("policies", "SelRep's hardware: 172 bytes of counters, 692 with the directory", "counters == 172"),)),
    Claim(78, "arithmetic", "all storage of a chip", "abstract, III-D", "692 B", "test",
          tests=(Test("policies", "SelRep's hardware: 172 bytes of counters, 692 with the directory", "total() == 692"),),
          why="With the directory's 520 bytes as printed."),
    Claim(79, "arithmetic", "growth of the LLC by longer tags", "III-D", "< 0.4 %", "test", tests=(Test("policies",
          "SelRep: four bits more in the tag, one for each doubling of the degree, are less than 0.4 % of a line",
          "< 0.004"), )),
    Claim(80, "circuits", "area of further crossbars and of long links", "III-D", "1.01 and 0.42 mm2", "outside",
          why="Area of routers and wires comes from a circuit model."),
    Claim(81, "circuits", "both as a share of the die", "III-D", "0.2 %", "outside", why="Follows from the areas."),
    Claim(82, "circuits", "length of a long link", "III-D, IV", "12.3 mm", "outside", why="Floor plan."),
    Claim(83, "arithmetic", "wires of a port that a read request uses", "III-A", "8 of 32 B", "test",
          tests=tuple(Test("policies", "SelRep: a read request takes 8 of the 32 bytes that a port moves per cycle",
          c) for c in ("header_bytes == 8", "flit_bytes == 32"))),
    Claim(90, "arithmetic", "bandwidth of network and LLC, full and half width", "V-C", "2.9, 1.4 TB/s", "test",
          tests=tuple(Test("policies", "SelRep: 64 slices give 2.9 TB/s with 32 bytes per cycle and 1.4 TB/s with 16",
          c) for c in ("== 29", "== 14"))),
    Claim(92, "performance", "SelRep changes nothing for twelve insensitive programs", "Fig. 18", "1.0", "cases",
          ("within 5 %",), insensitive, ("selrep_neutral",), why="Short launches pay for the emptied LLC at their ends.",
          link="docs/validation/selrep.md#insensitive-programs-relative-to-shared-fig-18-table-iii-claims-92-and-93"),
    Claim(93, "performance", "six of these prefer Shared to Private, six do not care", "Table III", "6 and 6", "cases",
          ("prefer Shared by 5 %", "within 5 %"), preferences, ("selrep_neutral",),
          why="Private costs misses also where the paper's programs do not care.",
          link="docs/validation/selrep.md#insensitive-programs-relative-to-shared-fig-18-table-iii-claims-92-and-93"),
    Claim(94, "behaviour", "shared data of the configurations", "Tables II, III", "0.04 to 22.8 MB", "input",
          why="Sizes of the programs were chosen to meet Table II.", link="docs/validation/selrep.md#workloads"),
    Claim(95, "trend", "an epoch of 20,000 cycles", "III-A", "chosen", "cases",
          ("5,000, 10,000, 40,000 cycles at most 2 % faster",), epochs, ("selrep_epoch",), why="Two configurations."),
    Claim(96, "behaviour", "read-only structures that the compiler's analysis finds", "III-A", "all", "amount",
          (("committed traces", 1.0),), lambda r: [r.read_only_structures[0] / r.read_only_structures[1]], form=".1%",
          script="tests/validation/selrep/read_only.py",
          why="155 of 156; the one that is missed is not written in one launch of a kernel that writes it in others.",
          link="docs/ptx.md"),
)
