"""What goes wrong with files."""

import os


class BadResult(Exception):
    """A file or folder that cannot be used; the text names it and says what to do."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(f"{os.fspath(path)}: {problem}")
        self.path = os.fspath(path)
        self.problem = problem
