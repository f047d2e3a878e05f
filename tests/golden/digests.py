"""The result digests of small runs are those of digests.json: nothing that is simulated has changed unnoticed.

digests.py            compares
digests.py --update   writes the table anew, after a change on purpose; CHANGELOG.md says which and why

Every organisation, protocol, replication, topology and cluster sharing is there at least once, and recorded programs, whose
instructions touch several lines."""

import json
import pathlib
import sys

import program

TABLE = pathlib.Path(__file__).with_name("digests.json")
ROOT = TABLE.parents[2]


def digest(row):
    settings = [*program.SMALL, "coherence.directory_entries=64", *row["set"]]
    name = row["workload"]  # of a workload for tests, or a file that is shipped
    path = str(ROOT / name) if "/" in name else program.workload(name)
    outcome = program.run(["run", row.get("system", "sac-4chip"), "-w", path, *program.sets(*settings)])
    if outcome.code != 0:
        sys.exit(f"failed:\n{outcome}")
    return outcome.digest()


rows = json.loads(TABLE.read_text())
update = sys.argv[1:] == ["--update"]
wrong = 0
for row in rows:
    found = digest(row)
    if found != row.get("digest"):
        wrong += 1
        print(f"{row['workload']} {' '.join(row['set'])}: digest {found}, not {row.get('digest')}", flush=True)
        row["digest"] = found
print(f"{len(rows)} runs, {wrong} with another digest")
if update:
    TABLE.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
sys.exit(1 if wrong and not update else 0)
