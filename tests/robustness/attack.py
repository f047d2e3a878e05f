"""Attacks the program as a hostile week would, and tells what was tried: attack.py [--seed N] [--count N] [--minutes M]
[CLASS ...]. Every attack has a number; `attack.py --seed S --first K --count 1 CLASS` repeats one."""

import argparse
import os
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

import damage
import life
from lab import Failure, Lab, tell

CLASSES = {"determinism": life.determinism, "resumes": life.resumes, "coherence": life.coherence, "kills": life.kills,
           "signals": life.signals, "writers": life.writers, "full_disk": life.full_disk, "endless": life.endless,
           "damaged_files": damage.plain, "crafted_checkpoints": damage.sealed, "crafted_results": damage.sealed_results}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ATOLL_SEED", "1")))
    parser.add_argument("--count", type=int, default=10, help="of each class")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--minutes", type=float, default=0, help="end then, whatever the count")
    parser.add_argument("--stop", action="store_true", help="at the first failure")
    parser.add_argument("classes", nargs="*", metavar="CLASS", help=", ".join(CLASSES))
    options = parser.parse_args()
    if set(options.classes) - set(CLASSES):
        parser.error(f"classes are {', '.join(CLASSES)}")
    return options


def main():
    options = arguments()
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    table: dict[str, dict[str, int]] = {name: {} for name in options.classes or CLASSES}
    print(f"seed {options.seed}", flush=True)
    lab = Lab(0)
    try:
        for k in range(options.first, options.first + options.count):
            for name, row in table.items():  # in turn, so that an end by the clock leaves as many of each
                if time.monotonic() > end:
                    break
                lab.rng.seed(zlib.crc32(f"{options.seed} {name} {k}".encode()))
                try:
                    outcome = CLASSES[name](lab)
                except Failure as failure:
                    outcome = "failed"
                    print(f"--- {name} {k}: {failure}", flush=True)
                row[outcome] = row.get(outcome, 0) + 1
                if outcome == "failed" and options.stop:
                    return 1
    finally:
        lab.close()
        tell(table)
    return 1 if any(row.get("failed") for row in table.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
