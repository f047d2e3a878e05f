"""Effects and interactions of the comparison of all mechanisms (tests/validation/comparison), on run times made up of known
factors: what was put in must come out."""

import itertools
import math
import pathlib
import sys
import tempfile

import support
import numpy as np
import pandas as pd

sys.path.insert(0, str(support.HERE.parent / "validation/comparison"))

import effects
import report
import runs as table

# Speed-ups that multiply; a directory does nothing under memory_side.
FACTORS = {"static": 1.2, "dynamic": 1.25, "sm_side": 1.5, "sac": 1.6, "selrep": 0.9, "directory": 0.8, "hmg": 0.85,
           "rec": 0.95, "colab": 1.1}
WORKLOADS = {"a": 1000.0, "b": 30.0}


def runs(together: float = 1.0, pair: tuple[str, str] = ("sac", "colab")) -> pd.DataFrame:
    """All settings; those with both of `pair` are faster by `together` than the product of each alone."""
    rows = []
    for workload, cycles in WORKLOADS.items():
        for setting in itertools.product(*effects.DIMENSIONS.values()):
            if effects.stand_in(setting) != setting:
                continue
            speedup = math.prod(FACTORS.get(value, 1.0) for value in setting)
            if all(value in setting for value in pair):
                speedup *= together
            rows.append({"workload": workload, **dict(zip(effects.DIMENSIONS, setting)), "cycles": cycles / speedup})
    return pd.DataFrame(rows)


class Kept(support.unittest.TestCase):
    def test_rows_are_kept_and_new_ones_replace_old_ones(self) -> None:
        frame = runs().assign(group="g", link=0.0, prices="noc:1.5:2")[table.COLUMNS]
        old, new = frame[frame["workload"] == "a"], frame.assign(cycles=frame["cycles"] * 2)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.csv"
            self.assertTrue(table.merged(table.kept(path), table.read_runs(path)).empty)
            table.keep(old, path)
            both = table.merged(table.kept(path), new)
            self.assertEqual(len(both), len(frame))
            self.assertEqual(sorted(both["cycles"]), sorted(new["cycles"]))
            np.testing.assert_allclose(table.merged(table.kept(path), new.head(0))["cycles"], old["cycles"], rtol=1e-5)


class Effects(support.unittest.TestCase):
    def test_there_are_68_settings(self) -> None:
        self.assertEqual(len(effects.speedups(runs()).columns), 68)

    def test_each_alone_brings_its_factor(self) -> None:
        alone = report.alone(effects.speedups(runs()))
        for name, factor in FACTORS.items():
            series = alone[name if name in alone else f"{name} *"]
            self.assertAlmostEqual(effects.geometric(series), factor)

    def test_a_mechanism_that_multiplies_brings_the_same_everywhere(self) -> None:
        speedup = effects.speedups(runs())
        for dimension, value in effects.others():
            brings = effects.contexts(speedup, dimension, value)
            # 4 of an organisation; 16 of a protocol, which has none under memory_side; 34 of what is on or off.
            self.assertEqual(len(brings), {"organisation": 4, "protocol": 16}.get(dimension, 34))
            self.assertAlmostEqual(brings.min(), FACTORS[value])
            self.assertAlmostEqual(brings.max(), FACTORS[value])

    def test_what_multiplies_does_not_interact(self) -> None:
        pairs = effects.interactions(effects.speedups(runs()))
        protocols = set(effects.DIMENSIONS["protocol"])
        for a, b in itertools.product(pairs.index, pairs.columns):
            dimension = {v: d for d, v in effects.others()}
            if dimension[a] == dimension[b]:
                self.assertTrue(pd.isna(pairs.loc[a, b]))
            elif {dimension[a], dimension[b]} == {"organisation", "protocol"}:
                # Nothing happens under memory_side, so all that a protocol does is its interaction.
                self.assertAlmostEqual(pairs.loc[a, b], FACTORS[a if a in protocols else b])
            else:
                self.assertAlmostEqual(pairs.loc[a, b], 1.0)

    def test_a_planted_interaction_is_found_where_it_is_and_nowhere_else(self) -> None:
        pairs = effects.interactions(effects.speedups(runs(together=0.7)))
        self.assertAlmostEqual(pairs.loc["sac", "colab"], 0.7)
        self.assertAlmostEqual(pairs.loc["colab", "sac"], 0.7)
        self.assertAlmostEqual(pairs.loc["sm_side", "colab"], 1.0)
        self.assertAlmostEqual(pairs.loc["sac", "selrep"], 1.0)

    def test_regret_is_against_the_workloads_best_setting(self) -> None:
        regret = effects.regret(effects.speedups(runs()))
        self.assertAlmostEqual(regret.min().min(), 1.0)
        best = ("sac", "shared", "software", "colab")
        self.assertTrue((regret[best] == 1.0).all())
        self.assertAlmostEqual(regret[effects.BASE].max(), 1.6 * 1.1)

    def test_a_workload_without_a_run_of_a_setting_has_no_mean_there(self) -> None:
        frame = runs()
        mean = effects.mean(effects.speedups(frame.drop(frame.index[5])))
        self.assertEqual(int(mean.isna().sum()), 1)


if __name__ == "__main__":
    support.unittest.main()
