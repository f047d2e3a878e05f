#!/usr/bin/env python3
"""What docs/reproduction.md rests on, without any results: claims are complete, the tests, experiments and pages that they
name exist, verdicts follow from the rules, and the page is what the script writes from measured.json."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import claim
import page
import report

ROOT = report.ROOT
MEASURED = json.loads(report.MEASURED.read_text())


def test_cases(part):
    """Text of each doctest case below tests/unit/<part>, by name."""
    cases = {}
    for path in sorted((ROOT / "tests/unit" / part).glob("*.cpp")):
        for text in path.read_text().split("TEST_CASE(")[1:]:
            name = re.match(r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text)
            if name:
                cases["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', name[1]))] = text[name.end():]
    return cases


def anchors(path):
    """What GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.replace("`", "").lower()).replace(" ", "-") for h in headings}


def each_claim(test):
    """All failures are shown, each with its claim."""
    def run(self):
        for c in page.CLAIMS:
            with self.subTest(claim=c.number):
                test(self, c)
    run.__name__ = test.__name__
    return run


class Claims(unittest.TestCase):
    def test_numbers_are_unique(self):
        numbers = [c.number for c in page.CLAIMS]
        self.assertEqual(len(numbers), len(set(numbers)))

    @each_claim
    def test_each_says_what_where_and_how_much(self, c):
        self.assertTrue(c.what and c.where and c.paper)
        self.assertIn(c.kind, claim.KINDS)
        self.assertIn(c.rule, claim.RULES)

    @each_claim
    def test_each_is_shown_by_runs_or_by_tests_or_says_why_not(self, c):
        measured = c.rule in ("ratio", "amount", "limit", "cases")
        self.assertEqual(measured, c.measure is not None)
        self.assertEqual(measured, bool(c.experiments or c.script))
        self.assertEqual(measured, bool(c.parts))
        self.assertEqual(c.rule == "test", bool(c.tests))
        if not measured and not c.tests:
            self.assertTrue(c.why)

    @each_claim
    def test_what_is_not_reproduced_has_a_reason(self, c):
        found = page.verdicts(MEASURED)
        if found[c.number] != "reproduced":
            self.assertTrue(c.why, found[c.number])

    @each_claim
    def test_unit_tests_exist_and_have_the_number(self, c):
        lists = (ROOT / "tests/CMakeLists.txt").read_text()
        for test in c.tests:
            self.assertIn(f"atoll_unit_tests({test.part} ", lists)
            cases = test_cases(test.part)
            self.assertIn(test.case, cases)
            self.assertIn(test.check, cases[test.case])

    @each_claim
    def test_experiments_and_scripts_exist(self, c):
        for name in c.experiments:
            self.assertTrue((ROOT / f"inputs/experiments/{name}.json").exists(), name)
        self.assertTrue((ROOT / c.script).exists(), c.script)

    @each_claim
    def test_links_lead_to_headings(self, c):
        path, _, anchor = c.link.partition("#")
        if c.link:
            self.assertTrue((ROOT / path).exists(), path)
        if anchor:
            self.assertIn(anchor, anchors(ROOT / path))

    def test_values_and_runs_are_those_of_the_claims(self):
        self.assertEqual({str(c.number) for c in page.CLAIMS if c.measure}, set(MEASURED["values"]))
        self.assertEqual({e for c in page.CLAIMS for e in c.experiments}, set(MEASURED["runs"]))

    @each_claim
    def test_each_that_runs_measure_has_its_values(self, c):
        if c.measure:
            values = MEASURED["values"][str(c.number)]
            self.assertEqual(len(c.parts), len(values))
            for v in values:
                self.assertEqual(isinstance(v, list), c.rule == "cases" and v is not None)


class Verdicts(unittest.TestCase):
    def test_a_ratio_is_judged_by_its_distance_from_1(self):
        judge = lambda published, ours: claim.figure("ratio", published, ours)
        self.assertEqual(judge(1.2, 1.24), "reproduced")
        self.assertEqual(judge(1.2, 1.16), "reproduced")
        self.assertEqual(judge(1.2, 1.26), "direction only")
        self.assertEqual(judge(1.2, 1.03), "direction only")
        self.assertEqual(judge(1.2, 1.01), "not reproduced")
        self.assertEqual(judge(1.2, 0.80), "not reproduced")
        self.assertEqual(judge(0.6, 0.65), "reproduced")
        self.assertEqual(judge(0.6, 0.40), "direction only")
        self.assertEqual(judge(0.6, 1.40), "not reproduced")

    def test_an_amount_is_judged_by_its_size(self):
        judge = lambda published, ours: claim.figure("amount", published, ours)
        self.assertEqual(judge(0.8, 0.99), "reproduced")
        self.assertEqual(judge(0.8, 1.01), "direction only")
        self.assertEqual(judge(0.8, 0.41), "direction only")
        self.assertEqual(judge(0.8, 0.39), "not reproduced")
        self.assertEqual(judge(0.8, 1.61), "not reproduced")

    def test_limits_and_cases(self):
        self.assertEqual(claim.limit("<", 0.01, 0.009), "reproduced")
        self.assertEqual(claim.limit("<", 0.01, 0.01), "not reproduced")
        self.assertEqual(claim.limit(">", 0, 0.1), "reproduced")
        self.assertEqual(claim.cases([8, 8]), "reproduced")
        self.assertEqual(claim.cases([6, 8]), "direction only")
        self.assertEqual(claim.cases([5, 8]), "not reproduced")

    def test_the_worst_part_counts_and_what_was_not_run_is_not_measured(self):
        c = claim.Claim(1, "performance", "a", "b", "c", "ratio", (("x", 1.2), ("y", 1.2)))
        self.assertEqual(claim.verdict(c, [1.2, 1.2]), "reproduced")
        self.assertEqual(claim.verdict(c, [1.2, 1.05]), "direction only")
        self.assertEqual(claim.verdict(c, [0.9, 1.05]), "not reproduced")
        self.assertEqual(claim.verdict(c, [1.2, None]), "not measured")
        for rule in ("limit", "cases"):
            c = claim.Claim(1, "trend", "a", "b", "c", rule, (("x", "<", 1),))
            self.assertEqual(claim.verdict(c, [None]), "not measured")

    def test_an_energy_whose_range_has_one_is_undecided(self):
        c = claim.Claim(1, "performance", "a", "b", "c", "ratio", (("", 0.9),), form=".2f")
        self.assertEqual(claim.verdict(c, [0.9], [[0.85, 0.99]]), "reproduced")
        self.assertEqual(claim.verdict(c, [0.9], [[0.85, 1.01]]), "undecided")
        self.assertEqual(claim.verdict(c, [0.9], [None]), "reproduced")
        self.assertEqual(claim.shown(c, [0.9], [[0.85, 1.01]]), "0.90 (0.85 to 1.01)")
        self.assertEqual(claim.shown(c, [0.9], None), "0.90")

    def test_rules_without_values(self):
        for rule, verdict in (("test", "reproduced"), ("input", "input"), ("outside", "outside"), ("open", "not measured")):
            self.assertEqual(claim.verdict(claim.Claim(1, "circuits", "a", "b", "c", rule), []), verdict)


class Page(unittest.TestCase):
    def test_the_page_is_what_the_script_writes(self):
        self.assertEqual(report.PAGE.read_text(), page.text(MEASURED), "run tests/validation/reproduction/report.py")

    def test_measured_values_are_written_as_they_are_read(self):
        self.assertEqual(report.MEASURED.read_text(), report.as_json(MEASURED))

    def test_every_claim_has_a_row_and_the_summary_counts_them_all(self):
        rows = re.findall(r"^\| (\d+) \|", report.PAGE.read_text(), re.M)
        self.assertEqual([int(n) for n in rows], [n for p in page.PAPERS for n in sorted(c.number for c in p.CLAIMS)])
        last = re.search(r"^\| \*\*all\*\* \|(.*)\|$", report.PAGE.read_text(), re.M)[1]
        total, *counts = (int(n) for n in re.findall(r"\d+", last))
        self.assertEqual(total, len(page.CLAIMS))
        self.assertEqual(sum(counts), total)


if __name__ == "__main__":
    unittest.main()
