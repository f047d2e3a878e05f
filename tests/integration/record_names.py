"""That docs/recording.md says of every call that the recorder lacks that it does."""

import os
import re
import subprocess

import program
import recorded_program
from recorded_program import RUNTIME

PAGE = os.path.join(os.environ["ATOLL_SOURCE_DIR"], "docs", "recording.md")
VERSION = re.compile(r"(_v\d+|_ptsz|_ptds)+$")


def plain(name):
    return VERSION.sub("", name)


def exported():
    """The names of the CUDA runtime and driver, and whether there is more than a stub behind each."""
    listed = subprocess.run(["nm", "--dynamic", "--defined-only", RUNTIME], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [(row[2].split("@")[0], row[1] == "T") for row in rows if row[2].startswith("cu")]


class Names(program.ProgramTest):
    maxDiff = None

    def test_every_call_that_is_missing_is_listed_by_name_or_as_one_of_a_family(self):
        names = exported()
        there = {plain(name) for name, strong in names if strong}
        self.assertIn("cudaMalloc", there)
        missing = {plain(name) for name, strong in names if not strong} - there
        with open(PAGE, encoding="utf-8") as file:
            said = re.findall(r"`(cu[\w.]+)`", file.read())
        patterns = [re.compile(re.escape(name).replace(re.escape("..."), r"\w*")) for name in said]
        self.assertEqual(sorted(n for n in missing if not any(p.fullmatch(n) for p in patterns)), [])
        wrong = [name for name in said if "..." not in name and name in missing and name in there]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    recorded_program.main()
