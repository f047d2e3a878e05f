"""The table of counters in docs/results.md is what `atoll list counters --markdown` prints.

counter_table.py            compares
counter_table.py --update   writes the program's table into the page"""

import difflib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results.md"
ATOLL = os.environ.get("ATOLL", str(ROOT / "build" / "release" / "atoll"))

table = subprocess.run([ATOLL, "list", "counters", "--markdown"], check=True, capture_output=True, encoding="utf-8").stdout
page = PAGE.read_text(encoding="utf-8")
head = table.splitlines(keepends=True)[0]
if page.count(head) != 1:
    sys.exit(f"{PAGE}: should have one line {head.strip()}")
begin = page.index(head)
rows = page[begin:].partition("\n\n")[0] + "\n"
if rows == table:
    sys.exit(0)
if sys.argv[1:] == ["--update"]:
    PAGE.write_text(page[:begin] + table + page[begin + len(rows):], encoding="utf-8")
    sys.exit(0)
print("".join(difflib.unified_diff(rows.splitlines(True), table.splitlines(True), str(PAGE), "atoll list counters", n=0)))
sys.exit(f"{PAGE} is not up to date; run python3 {sys.argv[0]} --update")
