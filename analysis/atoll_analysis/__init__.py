"""Results of Atoll as pandas tables, figures and HTML reports (docs/analysis.md)."""

from atoll_analysis.comparison import Comparison, compare
from atoll_analysis.errors import BadResult
from atoll_analysis.program import RunFailed, run, sweep
from atoll_analysis.result import Result, load
from atoll_analysis.sweeps import Sweep, load_sweep

__all__ = ["BadResult", "Comparison", "Result", "RunFailed", "Sweep", "compare", "load", "load_sweep", "run", "sweep"]
