"""The result digests of small runs are those of digests.json: nothing that is simulated has changed unnoticed.

digests.py            compares
digests.py --update   writes the table anew, after a change on purpose; CHANGELOG.md says which and why

Every word of every key that has words (organisations, protocols, topologies, placements and so on) is there at least once, which
is checked: one that is new gets a row. So are recorded programs, whose instructions touch several lines."""

import json
import pathlib
import sys

import explained
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


#: Keys whose words need no row: presets are timings. Words: of a plug-in, which tests/integration/plugins.py runs.
LEFT_OUT = {"dram.preset": None, "llc.organisation": "plugin", "llc.replication": "policy"}


def without_row(rows):
    """KEY=WORD of the configuration that no row has, neither by `set` nor as its system has it."""
    met = {setting for row in rows for setting in row["set"]}
    words: dict[str, list[str]] = {}
    for system in {row.get("system", "sac-4chip") for row in rows}:
        for name, key in explained.keys(system).items():
            met.add(f"{name}={key.value}")
            words[name] = key.words
    return [f"{key}={word}" for key, list_of in sorted(words.items()) for word in list_of
            if f"{key}={word}" not in met and LEFT_OUT.get(key, "") not in (None, word)]


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
missing = without_row(rows)
for setting in missing:
    print(f"no run has {setting}: add a row to {TABLE.name}, and --update")
if update:
    TABLE.write_text("[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]\n")
sys.exit(1 if missing or (wrong and not update) else 0)
