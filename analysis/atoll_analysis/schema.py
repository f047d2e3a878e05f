"""Which result files are read: opening one, and saying what is wrong with the others."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

from atoll_analysis.bounded import note
from atoll_analysis.errors import BadResult, check_input
from atoll_analysis.seal import check_seal

SCHEMA = "atoll-result"
# 4 adds /stack and attributes of /provenance to 3; 5 adds three datasets to /slices, and /structures.
# 6 is 5 with /sampling, of runs that simulated a part of their launches: totals are not the workload's.
# Newer parts and counters are looked for, not inferred from the number.
READABLE_VERSIONS = (3, 4, 5, 6)


def check_schema(file: h5py.File, path: str | os.PathLike[str]) -> int:
    """The version of the file's layout, if it is one of READABLE_VERSIONS."""
    schema = file.attrs.get("schema")
    if schema != SCHEMA:
        raise BadResult(path, "is HDF5, but no result of `atoll run` (attribute `schema` is "
                        f"{'missing' if schema is None else repr(schema)}); give the file named by `atoll run -o`")
    version = int(file.attrs.get("schema_version", 0))
    if version < min(READABLE_VERSIONS):
        raise BadResult(path, f"has schema version {version}, which is too old (this package reads {versions()}); "
                        "run the simulation again with this Atoll")
    if version not in READABLE_VERSIONS:
        raise BadResult(path, f"has schema version {version}, which is too new (this package reads {versions()}); "
                        "use the analysis/ of the Atoll that wrote it")
    return version


def versions() -> str:
    """For messages: `3, 4, 5 and 6`."""
    *others, last = map(str, READABLE_VERSIONS)
    return f"{', '.join(others)} and {last}"


@contextmanager
def open_result(path: str | os.PathLike[str], force_damaged: bool = False) -> Iterator[h5py.File]:
    """The open file, its checksum (unless `force_damaged`) and schema checked. Whatever is broken in it, then and in the
    block, becomes a BadResult."""
    if not os.path.exists(path):
        raise BadResult(path, "does not exist")
    check_input(path)
    try:
        if not force_damaged:
            check_seal(path)
        note(path)
        with h5py.File(path, "r") as file:
            check_schema(file, path)
            yield file
    except OSError as error:
        raise BadResult(path, _unreadable(path, error)) from error
    except (KeyError, ValueError, RuntimeError) as error:
        what = str(error.args[0] if error.args else error).strip("'\"")
        raise BadResult(path, f"is damaged or incomplete ({what}); run the simulation again") from error


def _unreadable(path: str | os.PathLike[str], error: OSError) -> str:
    if not os.access(path, os.R_OK):
        return "cannot be read: permission denied"
    if os.path.getsize(path) == 0:
        return "is empty; run the simulation again"
    with open(path, "rb") as raw:
        if raw.read(8) != b"\x89HDF\r\n\x1a\n":
            return "is not an HDF5 file; give the file named by `atoll run -o`"
    if "truncated" in str(error):
        return "is cut short (truncated); copy it again, or run the simulation again"
    return f"is damaged ({error}); copy it again, or run the simulation again"
