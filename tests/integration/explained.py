"""The keys of the configuration as the program itself explains them: what a test reads here it need not list."""

import dataclasses
import re

import program


@dataclasses.dataclass
class Key:
    value: str
    words: list[str]  # of a key that has words
    least: float | None = None  # of a number
    most: float | None = None
    truth: bool = False


def keys(system: str) -> dict[str, Key]:
    outcome = program.run(["config", system, "--explain"])
    if outcome.code != 0:
        raise AssertionError(f"failed:\n{outcome}")
    found: dict[str, Key] = {}
    for line in outcome.out.splitlines():
        if head := re.match(r"([\w.]+) = (\S*)", line):
            key = found[head[1]] = Key(head[2], [])
        elif word := re.match(r"      (\w+): ", line):
            key.words.append(word[1])
        elif bounds := re.search(r"\(([\d.]+) to ([\d.]+)[^()]*\)$", line):
            key.least, key.most = float(bounds[1]), float(bounds[2])
        elif line.endswith("(true or false)"):
            key.truth = True
    if not found.get("link.topology", Key("", [])).words or found["sm.count"].most is None or not found["l1.sectored"].truth:
        raise AssertionError("`atoll config --explain` is not as this reads it")
    return found
