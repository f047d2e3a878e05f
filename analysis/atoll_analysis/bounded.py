"""Reading what may be damaged, in a process of its own: HDF5 can crash on it, run for ever, or take all memory."""

import os
import resource
import signal
import sys
from collections.abc import Callable

from atoll_analysis.errors import BadResult

SECONDS = 120
BYTES = 4 << 30


def bounded(path: str | os.PathLike[str], work: Callable[[], int], seconds: int = SECONDS, memory: int = BYTES) -> int:
    """The exit code of `work`, done in a child that may use so much processor time and memory. BadResult, naming `path`, if
    it ends otherwise."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            code = work()
        except MemoryError:
            print(f"atoll-report: {os.fspath(path)}: is so damaged that reading it takes all memory", file=sys.stderr)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    if number in (signal.SIGXCPU, signal.SIGKILL):
        raise BadResult(path, f"is so damaged that reading it takes for ever; ended after {seconds} s")
    raise BadResult(path, f"is so damaged that HDF5 crashes on it ({signal.Signals(number).name})")
