"""Results of Atoll as pandas tables, figures and HTML reports (docs/analysis.md)."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from atoll_analysis.comparison import Comparison, compare
from atoll_analysis.errors import BadResult
from atoll_analysis.program import RunFailed, run, sweep
from atoll_analysis.result import Result, load
from atoll_analysis.sweeps import Sweep, load_sweep

if TYPE_CHECKING:
    from atoll_analysis import decisions as decisions
    from atoll_analysis import energy_range as energy_range
    from atoll_analysis import figures as figures
    from atoll_analysis import metrics as metrics
    from atoll_analysis import rankings as rankings
    from atoll_analysis import rates as rates
    from atoll_analysis import roofline as roofline
    from atoll_analysis import run_report as run_report
    from atoll_analysis import structures as structures
    from atoll_analysis import work as work

__all__ = ["BadResult", "Comparison", "Result", "RunFailed", "Sweep", "compare", "load", "load_sweep", "run", "sweep"]

#: The modules that docs/analysis.md names.
_MODULES = frozenset({"decisions", "energy_range", "figures", "metrics", "rankings", "rates", "roofline", "run_report", "structures",
                      "work"})


def __getattr__(name: str) -> ModuleType:
    """Loads a module when it is first asked for: Matplotlib, which some of them need, takes its time."""
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
