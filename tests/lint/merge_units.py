"""merge_units.py FOLDER: makes few units of the many in FOLDER/compile_commands.json, and prints the files to check.

A linter spends most of its time on the headers that every unit has. What stands together here has no names in common."""

import json
import re
import shlex
import sys
from pathlib import Path

CHIP_AND_RUN = {f"unit_{part}" for part in ("engine", "comm", "stats", "partition", "monitor", "control", "dram", "policies",
                                            "bench", "checkpoint")}
READERS = {"atoll_inputs", "atoll_executors"}
INPUTS = {f"unit_inputs_{part}" for part in ("config", "workload", "experiment", "trace")}
# Each defines what another source does, or replaces operator new.
ALONE = ("tests/plugins/", "distributed/mpi_main.cpp", "equal_bytes_test.cpp")
# Of which every program has one. The header that declares the second comes first, so that a caller finds the declaration.
OF_A_PROGRAM = ("main", "LLVMFuzzerTestOneInput")
FIRST = "tests/fuzz/harness.hpp"

Unit = dict[str, str]


def group_of(target: str) -> str:
    if target in CHIP_AND_RUN:
        return "units"
    if target in INPUTS:
        return "inputs"
    return "" if target.startswith("unit_") else "programs"


def sources_of(unit: Unit) -> list[str]:
    text = Path(unit["file"]).read_text(encoding="utf-8") if "/Unity/" in unit["file"] else ""
    return re.findall(r'#include "(.*)"', text) or [unit["file"]]


def options_of(unit: Unit) -> list[str]:
    """Definitions and folders of headers, each with its option in one string."""
    words = iter(shlex.split(unit["command"])[1:])
    found = []
    for word in words:
        if word == "-isystem":
            found.append(f"-isystem{next(words)}")
        elif word.startswith(("-I", "-D")) and not word.endswith("_EXPORTS"):
            found.append(word)
    return found


def renamed(source: str, number: int) -> str:
    """The source, with names of its own for what every program has."""
    names = [name for name in OF_A_PROGRAM if not source.endswith("corpus_main.cpp") or name == "main"]
    before = "".join(f"#define {name} {name}_{number}\n" for name in names)
    return f'{before}#include "{source}"\n' + "".join(f"#undef {name}\n" for name in names)


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    database = folder / "compile_commands.json"
    kept: list[Unit] = []
    merged: dict[str, tuple[list[str], list[str]]] = {}
    for unit in json.loads(database.read_text(encoding="utf-8")):
        target = re.search(r"(tests/)?CMakeFiles/(\w+)\.dir/", unit["command"])
        group = "" if target is None else group_of(target[2]) if target[1] else "readers" if target[2] in READERS else ""
        sources = sources_of(unit)
        apart = [s for s in sources if any(name in s for name in ALONE)]
        if not group or apart == sources:
            kept.append(unit)
            continue
        kept += [unit | {"file": s, "command": unit["command"].replace(unit["file"], s)} for s in apart]
        all_sources, options = merged.setdefault(group, ([], []))
        all_sources += [s for s in sources if s not in apart and s not in all_sources]
        options += [o for o in options_of(unit) if o not in options]
    for group, (sources, options) in merged.items():
        file = folder / f"merged_{group}.cpp"
        lines = [renamed(source, number) for number, source in enumerate(sources)]
        file.write_text((f'#include "{FIRST}"\n' if group == "programs" else "") + "".join(lines), encoding="utf-8")
        command = shlex.join(["c++", "-std=c++20", *options, "-I", str(Path.cwd()), "-c", str(file)])
        kept.append({"directory": str(folder), "command": command, "file": str(file)})
    database.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    print("\n".join(unit["file"] for unit in kept))


main()
