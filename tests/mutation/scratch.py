"""A scratch copy of the source in which all chosen mutants sleep side by side, built once."""

import os
import random
import re
import shutil
import subprocess

import sites

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants.hpp")
TOPS = ("core/chip", "core/engine", "core/control", "comm", "partition", "policies")
# What unit suites cannot see: mpirun's ranks (tests/contract and tests/distributed do), and the module with an interpreter
# in it (tests/integration/plugins.py does).
LEFT_OUT = ("comm/mpi_transport.cpp", "comm/mpi_transport.hpp", "policies/plugin/python/host.cpp",
            "policies/plugin/python/values.cpp", "policies/plugin/python/values.hpp")
SUITES = ("engine", "comm", "partition", "policies", "control", "checkpoint", "chip", "dram")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources():
    """Files that are mutated, by folder."""
    folders: dict = {}
    for top in TOPS:
        for folder, _, files in os.walk(os.path.join(SOURCE, top)):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), SOURCE)
                if name.endswith((".cpp", ".hpp")) and path not in LEFT_OUT:
                    folders.setdefault(os.path.dirname(path), []).append(path)
    return dict(sorted(folders.items()))


def candidates(seed):
    """Mutants, one of each folder in turn: a random line of the folder, and one of the changes that it allows. No line is
    taken twice."""
    rng = random.Random(seed)
    pools = {}
    for folder, files in sources().items():
        lines: dict = {}
        for path in files:
            for site in sites.sites(read(os.path.join(SOURCE, path))):
                lines.setdefault((path, site.line), []).append(site)
        pools[folder] = [(key[0], rng.choice(lines[key])) for key in sorted(lines)]
        rng.shuffle(pools[folder])
    while any(pools.values()):
        for folder in pools:
            if pools[folder]:
                yield pools[folder].pop()


class Scratch:
    def __init__(self, work, jobs):
        self.source, self.build, self.jobs = os.path.join(work, "source"), os.path.join(work, "build"), jobs
        self.log = os.path.join(work, "build.log")

    def program(self, suite):
        return os.path.join(self.build, "unit_" + suite)

    def prepare(self):
        """Copies what git knows, and what is new and not ignored."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                                check=True, capture_output=True, text=True).stdout
        for path in filter(None, listed.split("\0")):
            if not os.path.isfile(os.path.join(SOURCE, path)):
                continue
            target = os.path.join(self.source, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, path), target, follow_symlinks=False)
        shutil.copy2(HEADER, os.path.join(os.path.dirname(self.source), "mutants.hpp"))
        # Optimised, because tests run longer than the compiler.
        flags = f"-O2 -w -include {os.path.join(os.path.dirname(self.source), 'mutants.hpp')}"
        code, _ = self.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", "-D", "ATOLL_WERROR=OFF",
                            "-D", "ATOLL_ASSERTIONS=ON",
                            "-D", "CMAKE_BUILD_TYPE=Mutation", "-D", f"CMAKE_CXX_FLAGS_MUTATION={flags}"])
        if code != 0:
            raise SystemExit(f"cmake cannot set up the scratch copy: see {self.log}")

    def run(self, command):
        """Exit code and output, which goes to the log as it comes."""
        lines = []
        with open(self.log, "a", encoding="utf-8") as log, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            for line in process.stdout:
                lines.append(line)
                log.write(line)
                log.flush()
        return process.returncode, "".join(lines)

    def compile(self, mutants):
        """Builds the suites with these {number: (path, site)}. Returns the numbers of those that do not compile and were
        left out."""
        refused: set = set()
        targets = ["unit_" + suite for suite in SUITES]
        while True:
            left = {n: m for n, m in mutants.items() if n not in refused}
            self.write(left)
            code, output = self.run(["ninja", "-C", self.build, "-j", str(self.jobs), "-k", "0", *targets])
            if code == 0:
                return refused
            more = blamed(output, self.source, self.build, left)
            if not more:
                raise SystemExit(f"the scratch copy does not compile, for no mutant's sake: see {self.log}")
            refused |= more

    def write(self, mutants):
        """Files keep their time if they do not change, so that ninja does not compile them again."""
        by_path: dict = {}
        for number, (path, site) in mutants.items():
            by_path.setdefault(path, []).append((number, site))
        for paths in sources().values():
            for path in paths:
                text = sites.apply(read(os.path.join(SOURCE, path)), by_path.get(path, []))
                target = os.path.join(self.source, path)
                if read(target) != text:
                    with open(target, "w", encoding="utf-8") as file:
                        file.write(text)


def blamed(output, source, build, mutants):
    """Mutants in lines that the compiler, at work in `build`, names in an error or on the way to it: headers by the links
    below build/include. If it names none, the nearest one above: what was declared in its line is gone."""
    lines: dict = {}
    for number, (path, site) in mutants.items():
        text = read(os.path.join(SOURCE, path))
        for edit in site.edits:
            for offset in (edit.begin, edit.end):
                lines.setdefault((path, text.count("\n", 0, offset) + 1), set()).add(number)
    named = []
    for block in re.split(r"(?=^\[\d+/\d+\])", output, flags=re.M):
        if "error" not in block:
            continue
        for path, line in re.findall(r"(\S+?):(\d+):\d+:", block):
            path = os.path.relpath(os.path.realpath(os.path.join(build, path)), os.path.realpath(source))
            named.append((path, int(line)))
    found = set().union(*(lines.get(place, ()) for place in named))
    for path, line in named if not found else ():
        above = [at for at in lines if at[0] == path and at[1] <= line]
        found |= lines[max(above)] if above else set()
    return found
