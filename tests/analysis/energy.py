"""Ranges of energy against hand-worked joules, and against every corner of the box of prices."""

import itertools
import math
import unittest

import support
import numpy as np
import pandas as pd

from atoll_analysis.energy_range import Range, mean_range, ratio_range, total_range


def priced(**prices: tuple[float, float]) -> pd.DataFrame:
    """Joules and factor by name."""
    return pd.DataFrame.from_dict(prices, orient="index", columns=["joules", "factor"])


def by_corners(pairs: list[tuple[pd.DataFrame, pd.DataFrame]], geometric: bool = False) -> Range:
    """Of the mean of the ratios, over all corners."""
    factor = pairs[0][0]["factor"].to_numpy()
    means = []
    for signs in itertools.product((-1, 1), repeat=len(factor)):
        corner = factor ** np.array(signs)
        ratios = [(ours["joules"] @ corner) / (theirs["joules"] @ corner) for ours, theirs in pairs]
        means.append(math.prod(ratios) ** (1 / len(ratios)) if geometric else np.mean(ratios))
    return Range(min(means), max(means))


class Ranges(unittest.TestCase):
    def assert_range(self, found: Range, least: float, greatest: float) -> None:
        self.assertAlmostEqual(found.least, least, places=9)
        self.assertAlmostEqual(found.greatest, greatest, places=9)

    def test_of_one_run_each_price_is_at_one_end(self) -> None:
        self.assert_range(total_range(priced(core=(6, 3), noc=(1, 2))), 2.5, 20)

    def test_what_both_runs_do_alike_cancels_out(self) -> None:
        run = priced(core=(6, 3), noc=(1, 2))
        self.assert_range(ratio_range(run, run), 1, 1)

    def test_of_a_ratio_prices_are_the_same_in_both_runs(self) -> None:
        # (3 core + noc) / (3 core + 2 noc): least where noc is dear and core cheap, (1.5 + 2) / (1.5 + 4).
        ours, theirs = priced(core=(3, 2), noc=(1, 2)), priced(core=(3, 2), noc=(2, 2))
        self.assert_range(ratio_range(ours, theirs), 3.5 / 5.5, 6.5 / 7)

    def test_a_price_that_only_one_run_pays_counts(self) -> None:
        self.assert_range(ratio_range(priced(core=(4, 2), table=(1, 3)), priced(core=(4, 2))), 1 + 1 / 24, 1 + 3 / 2)
        self.assert_range(ratio_range(priced(core=(4, 2)), priced(core=(4, 2), table=(1, 3))), 2 / 5, 24 / 25)

    def test_the_sign_is_undecided_where_the_range_has_one(self) -> None:
        self.assertTrue(Range(0.9, 1.01).has(1))
        self.assertFalse(Range(0.9, 0.99).has(1))

    def test_of_a_ratio_as_every_corner_says(self) -> None:
        random = np.random.default_rng(1)
        for _ in range(50):
            ours, theirs = self.random_pair(random, 8)
            corners = by_corners([(ours, theirs)])
            self.assert_range(ratio_range(ours, theirs), corners.least, corners.greatest)

    def test_of_a_mean_no_corner_is_outside(self) -> None:
        random = np.random.default_rng(2)
        for _ in range(20):
            pairs = [self.random_pair(random, 6) for _ in range(5)]
            for geometric in (False, True):
                corners, found = by_corners(pairs, geometric), mean_range(pairs, geometric)
                self.assertLessEqual(found.least, corners.least + 1e-12)
                self.assertGreaterEqual(found.greatest, corners.greatest - 1e-12)

    def test_of_a_mean_of_one_ratio_as_of_the_ratio(self) -> None:
        pair = self.random_pair(np.random.default_rng(3), 10)
        alone = ratio_range(*pair)
        self.assert_range(mean_range([pair]), alone.least, alone.greatest)
        self.assert_range(mean_range([pair], geometric=True), alone.least, alone.greatest)

    def test_a_geometric_mean_is_of_what_runs_do_in_opposite_ways(self) -> None:
        # r and 1/r: their geometric mean is 1 at all prices, their arithmetic mean is not.
        ours, theirs = priced(core=(3, 2), noc=(1, 2)), priced(core=(3, 2), noc=(2, 2))
        self.assert_range(mean_range([(ours, theirs), (theirs, ours)], geometric=True), 1, 1)

    @staticmethod
    def random_pair(random: np.random.Generator, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """With prices that one of the runs, or both, do not pay. Factors are the same for a price in all pairs."""
        factor = 1.2 + 0.4 * np.arange(n)
        ours, theirs = (pd.DataFrame({"joules": np.maximum(0, random.uniform(-0.5, 3, n)), "factor": factor},
                                     index=[f"p{i}" for i in range(n)]) for _ in range(2))
        ours.loc["p0", "joules"] = theirs.loc["p0", "joules"] = 1.0  # neither is free
        return ours, theirs


if __name__ == "__main__":
    support.main()
