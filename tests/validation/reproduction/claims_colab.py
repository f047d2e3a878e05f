"""Cheng et al., "COLAB: Collaborative and Efficient Processing of Replicated Cache Requests in GPU", poster 2022, ASP-DAC
2023."""

from claim import Claim, Test, counted

PAPER = "COLAB (2022, ASP-DAC 2023)"
AGREES = "docs/validation/colab.md#what-agrees-and-what-does-not"
TABLE = "COLAB's table has 3,072 entries of 31 bits, 11.625 KB, and its queues of 8 B entries 0.75 KB"


def average(number, change=0.0):
    """As on the page; a change as a ratio."""
    def measure(r):
        return [ours + change for n, _, _, ours, _ in r.colab.page.averages(r.colab.all) if n == str(number)]
    return measure


def energy_range(r):
    page, runs = r.colab.page, r.colab.all
    return [runs.energy_range(page.split(runs)[0])]


def change(number, kind, what, published, why, ranges=None):
    return Claim(number, kind, what, "results slide", f"{published:.2f} ({published - 1:+.0%})".replace("%", " %"), "ratio",
                 (("", published),), average(number, 1), ("colab",), why=why, link=AGREES, ranges=ranges)


def captures(r):
    page = r.colab.page
    served = {p: page.arithmetic(values) for p, values in page.served_shares(r.colab.arbitration).items()}
    return [counted(served["colab_first"] >= served[p] for p in ("local_first", "round_robin"))]


CLAIMS = (
    Claim(97, "behaviour", "L1 misses that another SM of the cluster could serve", "motivation slide", "52 %", "amount",
          (("", 0.52),), average(97), ("colab",), ".1%", why="Programs count as sensitive from half of this share on.",
          link="docs/validation/colab.md#what-is-compared"),
    change(98, "behaviour", "read traffic of the network, COLAB over none", 0.62, ""),
    change(99, "behaviour", "cycles stalled by the network, COLAB over none", 0.60,
           "Falls by more: the stalls of two tiled products vanish. As stalls per cycle it is 0.58; "
           "which the paper counts we cannot tell."),
    change(100, "performance", "instructions per cycle, COLAB over none", 1.43,
           "Hangs on one trace of ten, whose rows all lie in one memory channel; without it 1.28."),
    change(101, "performance", "energy, COLAB over none", 0.83,
           "No single price decides; those of the table (which no source gives), of L1s and of static power together do.", energy_range),
    Claim(102, "arithmetic", "table of line ownership", "overhead slide", "3,072 entries of 31 bits, 11.625 KB", "test",
          tests=tuple(Test("chip", TABLE, c) for c in ("entries() == 3072", "27 + 3 + 1", "11.625"))),
    Claim(103, "arithmetic", "queues", "overhead slide", "96 of 8 B, 0.75 KB", "test",
          tests=tuple(Test("chip", TABLE, c) for c in ("queued == 96", "0.75"))),
    Claim(104, "arithmetic", "both as a share of the L1s", "overhead slide", "2 %", "test", tests=(Test("policies",
          "COLAB: table and queues are 2 % of the cluster's data and texture L1s, and 3 % of its data L1s", "== 2"), ),
          why="Of the data L1s alone, 3 %."),
    Claim(105, "trend", "arbitration: neighbours first captures most", "ablation slide", "best", "cases",
          ("mean share served above the other two",), captures, ("colab_arbitration",),
          why="On average; round robin is close, and ahead in one of four programs.",
          link="docs/validation/colab.md#arbitration-at-the-l1-claim-105"),
    Claim(107, "circuits", "latency of the table", "configuration slide", "8 cycles", "outside",
          why="SRAM model; taken over as a parameter."),
)
