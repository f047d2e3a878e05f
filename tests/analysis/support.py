"""What the tests of the analysis package share: the right Python, the committed results, a folder of one's own."""

import gzip
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"
_NEEDED = ("h5py", "numpy", "pandas", "matplotlib")
_DEBIAN = "/usr/bin/python3"
_SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def _missing() -> list[str]:
    return [name for name in _NEEDED if importlib.util.find_spec(name) is None]


if _missing():
    # Another Python may stand first on the PATH: Debian's has what bootstrap.sh installs.
    if os.path.exists(_DEBIAN) and os.environ.setdefault("ATOLL_TRIED_PYTHON", sys.executable) == sys.executable != _DEBIAN:
        os.execv(_DEBIAN, [_DEBIAN, "-B", *sys.argv])
    print(f"skipped: {sys.executable} has no {', '.join(_missing())}")
    sys.exit(_SKIPPED)

sys.path.insert(0, str(HERE.parent.parent / "analysis"))  # when started by hand


def packed(name: str) -> bytes:
    """A committed result."""
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


class FolderTest(unittest.TestCase):
    """A folder of its own for every test."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="atoll-analysis-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def result(self, name: str = "sac.h5") -> pathlib.Path:
        """An unpacked copy of a committed result, which the test may spoil."""
        target = self.folder / pathlib.Path(name).name
        target.write_bytes(packed(name))
        return target

    def sweep(self) -> pathlib.Path:
        target = self.folder / "sweep"
        target.mkdir()
        for file in (DATA / "sweep").glob("*.gz"):
            (target / file.stem).write_bytes(packed(f"sweep/{file.stem}"))
        shutil.copy(DATA / "sweep" / "experiment.json", target)
        return target


def main() -> None:
    unittest.main(verbosity=2)
