"""What goes wrong with files."""

import os
import stat


class BadResult(Exception):
    """A file or folder that cannot be used; the text names it and says what to do."""

    exit_code = 2  #: of `atoll-report`, as of `atoll` where the input is at fault

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{os.fspath(path)}: {problem}")
        self.path = os.fspath(path)
        self.problem = problem


class CannotWrite(BadResult):
    """A page or figure that cannot be written."""

    exit_code = 4  #: as of `atoll` where reading or writing fails


def check_input(path: str | os.PathLike[str]) -> None:
    """BadResult for what is there and is no regular file: a device or pipe may have no end, and one without a writer keeps
    whoever opens it waiting."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # who opens it says what is wrong
    if stat.S_ISDIR(mode):
        raise BadResult(path, "is a folder; a sweep is read by load_sweep()")
    if not stat.S_ISREG(mode):
        raise BadResult(path, "is a device, pipe or socket, and may have no end; write its content into a file, and give that")
