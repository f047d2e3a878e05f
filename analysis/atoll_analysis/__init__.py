"""Results of Atoll as pandas tables, figures and HTML reports (docs/analysis.md)."""

from atoll_analysis.comparison import Comparison, compare
from atoll_analysis.errors import BadResult
from atoll_analysis.result import Result, load
from atoll_analysis.sweep import Sweep, load_sweep

__all__ = ["BadResult", "Comparison", "Result", "Sweep", "compare", "load", "load_sweep"]
