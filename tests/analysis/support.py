"""What the tests of the analysis package share: the right Python, the committed results, a folder of one's own."""

import contextlib
import gzip
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"
_NEEDED = ("h5py", "jinja2", "numpy", "pandas", "matplotlib")
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


#: Decorates a test of a page's words: drawing its figures takes most of the time of making a page.
without_drawings = unittest.mock.patch("atoll_analysis.svg.inline", lambda chart: "")


def packed(name: str) -> bytes:
    """A committed result."""
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


@contextlib.contextmanager
def edited(path: pathlib.Path) -> Iterator[Any]:
    """The open file, and its checksum anew when it has been changed: HDF5 cuts it off."""
    import h5py
    from atoll_analysis.seal import sealed

    with h5py.File(path, "r+") as file:
        yield file
    path.write_bytes(sealed(path.read_bytes()))


def set_for_variant(experiment: pathlib.Path, variant: str, key: str, value: object) -> None:
    """As if the variant set the key, and its runs had as many cycles as they have."""
    of = json.loads(experiment.read_text())
    next(v for v in of["variants"] if v["name"] == variant)["set"][key] = value
    experiment.write_text(json.dumps(of))
    for path in experiment.parent.glob(f"*__{variant}.h5"):
        set_key(path, key, value)


def set_clock(experiment: pathlib.Path, variant: str, mhz: float) -> None:
    set_for_variant(experiment, variant, "core_clock_mhz", mhz)


def set_key(path: pathlib.Path, key: str, value: object) -> None:
    """As if the run had been made with another value of a key."""
    section, _, name = key.rpartition(".")
    with edited(path) as file:
        of = whole = json.loads(file["provenance"].attrs["effective_config"])
        for part in filter(None, section.split(".")):
            of = of[part]
        of[name] = value
        file["provenance"].attrs["effective_config"] = json.dumps(whole)


def make_sampled(path: pathlib.Path) -> None:
    """As if all kernels but the first were extrapolated: a million cycles, half of the requests of the LLC hits."""
    import h5py
    import numpy as np

    with edited(path) as file:
        kernels = len(file["kernels/name"])
        file.attrs["schema_version"], file.attrs["sampled"] = np.uint64(6), np.uint64(1)
        figures = {"cycles": (1e6, 2e4), "warp.instructions": (3e6, 0), "llc.accesses": (200, 2), "llc.hits": (100, 1),
                   "llc.hit_rate": (0.5, 0.01), "energy.total": (2.5, 0.1), "energy.llc": (0.5, 0)}
        file["provenance"].attrs["sampling"] = "error=3%"
        group = file.create_group("sampling")
        for name, value in {"error": 0.03, "confidence": 0.95, "work": 1e9, "simulated_work": 1e8}.items():
            group.attrs[name] = value
        group.create_dataset("figures/name", data=list(figures), dtype=h5py.string_dtype())
        group["figures/value"] = [value for value, _ in figures.values()]
        group["figures/half_width"] = [half for _, half in figures.values()]
        group["launches/cluster"] = np.zeros(kernels, np.uint64)
        group["launches/simulated"] = np.array([1] + [0] * (kernels - 1), np.uint64)
        group["launches/cycles"] = np.full(kernels, 1e6 / kernels)
        group["launches/half_width"] = np.zeros(kernels)


def add_structures(path: pathlib.Path) -> None:
    """What a file of version 5 has: four structures, used by four chips in the first two kernels."""
    import h5py
    import numpy as np

    def numbers(values: object) -> "np.ndarray":
        return np.array(values, dtype=np.uint64)

    reads = [[100, 101, 102, 103], [0, 0, 0, 30], [120, 121, 122, 123], [1, 0, 0, 0]]
    writes = [[0] * 4, [0, 0, 0, 10], [20] * 4, [0] * 4]
    remote = [[100, 0, 102, 103], [0, 0, 0, 40], [140, 0, 142, 143], [1, 0, 0, 0]]
    homes = np.zeros((4, 4, 4))
    homes[0, :, 1] = [240, 242, 244, 246]
    homes[1, 3, :2] = [30, 10]
    homes[3, 0, 2] = 1
    with edited(path) as file:
        file.attrs["schema_version"] = np.uint64(5)
        file["structures/name"] = np.array(["#0", "weights", "unused", "other"], dtype=h5py.string_dtype())
        file["structures/address"] = numbers([2**45, 2**45 + 8192, 2**45 + 65536, 0])
        file["structures/bytes"] = numbers([4096, 1000, 512, 0])
        file["structures/homes"] = numbers(homes)
        file["structures/use/kernel"] = numbers([0, 0, 1, 1])
        file["structures/use/structure"] = numbers([0, 1, 0, 3])
        for name, values in (("reads", reads), ("writes", writes), ("remote", remote), ("local_llc", reads)):
            file[f"structures/use/{name}"] = numbers(values)
        file["structures/use/latency_cycles"] = 50 * numbers(reads)
        for name in ("atomics", "remote_llc", "local_memory", "remote_memory", "neighbour_l1"):
            file[f"structures/use/{name}"] = numbers(np.zeros((4, 4)))


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

    def sweep(self, alone: str = "alone") -> pathlib.Path:
        """The committed one, whose workload `alone` may have another name."""
        target = self.folder / "sweep"
        target.mkdir()
        for file in (DATA / "sweep").glob("*.gz"):
            (target / file.stem.replace("alone__", f"{alone}__")).write_bytes(packed(f"sweep/{file.stem}"))
        text = (DATA / "sweep" / "experiment.json").read_text()
        (target / "experiment.json").write_text(text.replace('"name": "alone"', f'"name": "{alone}"'))
        return target


def main() -> None:
    unittest.main(verbosity=2)
