"""docs/reproduction.md from claims and measured values."""

import collections
import pathlib
import sys

import claims_colab
import claims_rec
import claims_sac
import claims_selrep
from claim import KINDS, RULES, VERDICTS, shown, verdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import results_page

PAPERS = (claims_sac, claims_selrep, claims_rec, claims_colab)
CLAIMS = tuple(c for p in PAPERS for c in p.CLAIMS)
COMMAND = "/usr/bin/python3 tests/validation/reproduction/report.py"


def found_of(claim, measured):
    """Its values, and their ranges where it has any."""
    return (measured["values"].get(str(claim.number), [None] * len(claim.parts)),
            measured.get("ranges", {}).get(str(claim.number)))


def verdicts(measured):
    return {c.number: verdict(c, *found_of(c, measured)) for c in CLAIMS}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(str, r)) + " |" for r in rows] + [""]


def summary(found):
    def row(label, claims, bold=True):
        counts = collections.Counter(found[c.number] for c in claims)
        cells = [label, len(claims), *(counts[v] or "" for v in VERDICTS)]
        return [f"**{c}**" if c and bold else c for c in cells]

    rows = []
    for p in PAPERS:
        kinds = {kind: [c for c in p.CLAIMS if c.kind == kind] for kind in KINDS}
        rows += [row(p.PAPER, p.CLAIMS)] + [row(kind, claims, False) for kind, claims in kinds.items() if claims]
    return table(["", "claims", *VERDICTS], [*rows, row("all", CLAIMS)])


def shown_by(claim):
    if claim.tests:
        cases = dict.fromkeys((t.part, t.case.split(",")[0]) for t in claim.tests)  # a comma would begin another pattern
        return ", ".join(f'`unit_{part} -tc="{case}*"`' for part, case in cases)
    return ", ".join(f"`{e}`" for e in claim.experiments or filter(None, [claim.script]))


def comment(claim):
    if not claim.link:
        return claim.why
    name = claim.link.split("#")[0].rsplit("/", 1)[-1]
    return f"{claim.why} [{name}]({('../' + claim.link).replace('../docs/', '')})".lstrip()


def of_paper(paper, measured, found):
    rows = []
    for c in sorted(paper.CLAIMS, key=lambda c: c.number):
        rows.append([c.number, c.what, c.where, c.paper, shown(c, *found_of(c, measured)), found[c.number], shown_by(c), comment(c)])
    return [f"## {paper.PAPER}", ""] + table(["", "claim", "where", "paper", "here", "verdict", "shown by", ""], rows)


def runs(measured):
    rows = [[f"`{name}`", r["points"], ", ".join(r["commits"])] for name, r in sorted(measured["runs"].items())]
    return ["## Runs", "", "The results that the figures were read from, and the versions of Atoll that wrote them.", ""] \
        + table(["experiment", "points", "commits"], rows)


def text(measured):
    found = verdicts(measured)
    measurable = [c for c in CLAIMS if c.measure]
    held = sum(found[c.number] == "reproduced" for c in measurable)
    direction = sum(found[c.number] == "direction only" for c in measurable)
    lines = [
        "# Reproduction", "",
        "The figures and statements of the four papers that Atoll's organisations come from:",
        f"{len(CLAIMS)} claims, numbered as on the [validation pages](validation). {len(measurable)} are measured",
        f"in runs; {held} of these are reproduced, {direction} in direction only. Speed-ups of the papers' sensitivity",
        "studies are not among them.", "",
        *summary(found),
        *results_page.wrapped("Kinds: " + "; ".join(f"{kind}: {what}" for kind, what in KINDS.items()) + "."), "",
        "## Verdicts", "",
        "A script applies these rules to all claims alike; no verdict is set by hand.", "",
        *(line for rule in RULES.values() for line in results_page.wrapped(f"- {rule}")),
        "- A claim of several figures or statements is worth what its worst is.",
        "- Where a paper prints an average that is not the mean of its own bars, both are compared, each with the same kind",
        "  of mean here.", "",
        "The pages of the papers have goals of their own, chosen before: a third of the effect for COLAB, a quarter for",
        "REC, statements without exception for SelRep. Where they differ, verdicts here are by the rules above.", "",
        "## How it is made", "",
        "    tests/validation/selrep/record.py; tests/validation/rec/record.py    the traces, once",
        "    build/release/atoll sweep inputs/experiments/NAME.json               each experiment named below",
        f"    {COMMAND} --results results",
        "    tests/validation/reproduction/report.py [--check]                    the page, from the values of last time",
        "",
        "The third reads the results, keeps the values in `measured.json` beside the script, and writes this page. In the",
        "tables, *shown by* names the experiments that a figure is read from, a script, or the test below `build/release`",
        "with its command line. The last column says why a claim is not reproduced, or what to know if it is.", "",
    ]
    for p in PAPERS:
        lines += of_paper(p, measured, found)
    return "\n".join(lines + runs(measured)).rstrip("\n") + "\n"
