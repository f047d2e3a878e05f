#!/usr/bin/env python3
"""Writes docs/reproduction.md: every claim of the papers, what it is here, and a verdict.

    report.py                   the page, from the values in measured.json
    report.py --results DIR     reads the experiments' results, DIR/NAME, writes measured.json first. Needs h5py (Debian:
                                python3-h5py, /usr/bin/python3)
    report.py ... --check       writes nothing; fails where the page or measured.json would change

What an experiment without results would show stays as it was in measured.json."""

import argparse
import difflib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import page

ROOT = pathlib.Path(__file__).resolve().parents[3]
MEASURED = pathlib.Path(__file__).resolve().parent / "measured.json"
PAGE = ROOT / "docs/reproduction.md"


def rounded(value):
    """Kept with more digits than the page shows, which would round what is rounded already."""
    return value if value is None or isinstance(value, list) else float(f"{float(value):.6g}")


def measure(folder, before):
    import h5py
    import runs

    results = runs.Runs(folder)
    values, ranges, found = {}, {}, {}
    for claim in page.CLAIMS:
        if claim.measure is None:
            continue
        number = str(claim.number)
        try:
            values[number] = [rounded(v) for v in claim.measure(results)]
            if claim.ranges:
                ranges[number] = [r and [rounded(r.least), rounded(r.greatest)] for r in claim.ranges(results)]
        except runs.Missing as missing:
            print(f"claim {claim.number} stays as it was: {missing}", file=sys.stderr)
            values[number] = before["values"].get(number, [None] * len(claim.parts))
            if number in before.get("ranges", {}):
                ranges[number] = before["ranges"][number]
    for name in sorted({e for c in page.CLAIMS for e in c.experiments}):
        points = sorted((pathlib.Path(folder) / name).glob("*__*.h5"))
        commits = set()
        for point in points:
            with h5py.File(point) as f:
                commits.add(str(f["provenance"].attrs["git_commit"]))
        found[name] = {"points": len(points), "commits": sorted(commits)}
        if not points:
            found[name] = before["runs"].get(name, found[name])
    return {"values": values, "ranges": ranges, "runs": found}


def write(path, text, check):
    old = path.read_text() if path.exists() else ""
    if old == text:
        return True
    if not check:
        path.write_text(text)
        return True
    sys.stderr.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), path.name, "as written now"))
    return False


def as_json(measured):
    """One line per claim and per experiment."""
    parts = []
    for name, entries in measured.items():
        lines = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items())
        parts.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", metavar="DIR", help="read the results of the experiments in this folder")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    arguments = parser.parse_args()
    measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {"values": {}, "runs": {}}
    good = True
    if arguments.results:
        measured = measure(arguments.results, measured)
        good = write(MEASURED, as_json(measured), arguments.check)
    good &= write(PAGE, page.text(measured), arguments.check)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
