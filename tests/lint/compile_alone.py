"""What a build's compiler says of each source that is not generated, without writing a program: compile_alone.py BUILD.

Most of the time would go to the headers of the system that many sources include. Sets of them are compiled once, and a
source gets a set of which it includes every header, itself or by headers of the project: it sees nothing that it has not
asked for."""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

build = Path(sys.argv[1]).resolve()

# The dearest first: a source gets the first set that it includes whole. A set that none includes costs only its time.
CONTAINERS = ("algorithm", "array", "cstdint", "map", "memory", "optional", "stdexcept", "string", "utility", "vector")
CHIP = (*CONTAINERS, "atomic", "bit", "deque", "functional", "mutex", "span", "string_view", "unordered_map")
SETS = (
    ("CLI/CLI.hpp", "fmt/format.h", "string"),
    ("cstdint", "fmt/format.h", "nlohmann/json.hpp", "string", "string_view", "vector"),
    ("boost/archive/binary_iarchive.hpp", "boost/archive/binary_oarchive.hpp", *CONTAINERS, "limits", "span", "string_view"),
    (*CHIP, "chrono", "limits", "list", "set", "thread", "tuple", "variant"),
    ("fmt/format.h", *CONTAINERS),
    CHIP,
    ("fmt/format.h", "string"),
    CONTAINERS,
    ("algorithm", "array", "cstdint", "map", "string", "string_view", "vector"),
    ("string", "vector"),
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)', re.MULTILINE)


def words_of(entry: dict[str, str]) -> list[str]:
    """What of a source's command decides what its text means: definitions, folders of headers, the language."""
    words = iter(shlex.split(entry["command"]))
    kept = [next(words)]
    for word in words:
        if word == "-isystem":
            kept += [word, next(words)]
        elif word.startswith(("-D", "-I", "-std=", "-W")):
            kept.append(word)
    return kept


def system_headers(source: Path, folders: list[Path]) -> set[str]:
    """All that stand in <> in a source and in the headers of the project that it includes."""
    found: set[str] = set()
    seen: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        if file in seen:
            continue
        seen.add(file)
        for bracket, name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            if bracket == "<":
                found.add(name)
            else:
                left += [(folder / name).resolve() for folder in (file.parent, *folders) if (folder / name).is_file()][:1]
    return found


def run(words: list[str], entry: dict[str, str]) -> str:
    done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def compile_set(number: int, entry: dict[str, str]) -> Path:
    """A header that includes the set, and beside it what the compiler makes of it. A compiler that cannot use the second,
    as another command's definitions change it, reads the first."""
    header = build / f"set_{number}.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in SETS[number]), encoding="utf-8")
    run([*words_of(entry), "-x", "c++-header", str(header), "-o", f"{header}.gch"], entry)
    return header


def errors(entry: dict[str, str], header: Path | None) -> str:
    included = ["-include", str(header)] if header else []
    return run([*words_of(entry), *included, "-fsyntax-only", entry["file"]], entry)


def main() -> None:
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    # A source that several programs share is compiled once.
    sources = {entry["file"]: entry for entry in database if build not in Path(entry["file"]).parents}
    chosen: dict[str, int] = {}
    for file, entry in sources.items():
        headers = system_headers(Path(file), [Path(word[2:]) for word in words_of(entry) if word.startswith("-I")])
        fits = next((number for number, names in enumerate(SETS) if headers.issuperset(names)), None)
        if fits is not None:
            chosen[file] = fits
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        first = {number: file for file, number in reversed(chosen.items())}
        made = dict(zip(first, pool.map(lambda number: compile_set(number, sources[first[number]]), first), strict=True))
        found = [text for text in pool.map(lambda file: errors(sources[file], made.get(chosen.get(file, -1))), sources) if text]
    print(*found, sep="", end="")
    print(f"{len(sources)} sources, {len(found)} do not compile alone")
    sys.exit(bool(found) or not sources)


main()
