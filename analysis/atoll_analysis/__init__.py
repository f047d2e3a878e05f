"""Results of Atoll as pandas tables, figures and HTML reports (docs/analysis.md)."""

from atoll_analysis.errors import BadResult
from atoll_analysis.result import Result, load
from atoll_analysis.sweep import Sweep, load_sweep

__all__ = ["BadResult", "Result", "Sweep", "load", "load_sweep"]
