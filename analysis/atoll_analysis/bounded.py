"""Reading what may be damaged, in a process of its own: HDF5 can crash on it, run for ever, or take all memory."""

import mmap
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from atoll_analysis.errors import BadResult

# For each child, and more of both for each file and for its size: pages of a thousand results take their time.
SECONDS, SECONDS_PER_FILE, SECONDS_PER_MIB = 120, 2, 1
BYTES, TIMES = 4 << 30, 64

_NAME = 4096  # bytes of a path
_reading: mmap.mmap | None = None  # which file the child has open, for its parent


def note(path: str | os.PathLike[str]) -> None:
    """Says which file is about to be read."""
    if _reading:
        name = os.fsencode(path)[:_NAME]
        _reading[:_NAME] = name.ljust(_NAME, b"\0")


def _size(inputs: Sequence[Path]) -> tuple[int, int]:
    """Number and bytes of the results that are named, or in folders that are."""
    files = [f for path in inputs for f in (path.glob("*.h5") if path.is_dir() else [path]) if f.is_file()]
    return len(files), sum(f.stat().st_size for f in files)


def bounded(inputs: Sequence[Path], work: Callable[[], int], seconds: int | None = None) -> int:
    """The exit code of `work`, done in a child that may use so much processor time and memory as `inputs` can need. BadResult,
    with the file that was read last, if it ends otherwise."""
    global _reading
    count, size = _size(inputs)
    seconds = seconds or SECONDS + SECONDS_PER_FILE * count + SECONDS_PER_MIB * (size >> 20)
    memory = BYTES + TIMES * size
    outer, _reading = _reading, mmap.mmap(-1, _NAME)
    note(inputs[0])
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
            print(f"atoll-report: {os.fsdecode(_last_read())}: is so damaged that reading it takes all memory", file=sys.stderr)
            code = BadResult.exit_code
        except Exception:
            traceback.print_exc()  # the process ends below, and would say nothing
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    path, _reading = os.fsdecode(_last_read()), outer  # of the child that this one may be
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    if number in (signal.SIGXCPU, signal.SIGKILL):
        raise BadResult(path, f"took longer than {seconds} s: damaged, or very large")
    raise BadResult(path, f"is so damaged that HDF5 crashes on it ({signal.Signals(number).name})")


def _last_read() -> bytes:
    assert _reading
    return _reading[:_NAME].rstrip(b"\0")
