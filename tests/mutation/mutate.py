#!/usr/bin/env python3
"""Mutation testing: changes single lines of the simulator and asks whether a unit suite notices (README.md)."""

import argparse
import json
import math
import os
import sys
import time

import scratch
import sites
import suites

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = 1.0  # processor seconds of a test case
EQUIVALENT = os.path.join(HERE, "equivalent.json")


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def append(path, record):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def own_suite(path):
    return path.split("/")[1] if path.startswith("core/") else path.split("/")[0]


def record(number, path, site):
    before, after = sites.mutated_line(scratch.read(os.path.join(scratch.SOURCE, path)), site)
    return {"id": number, "file": path, "line": site.line + 1, "change": site.change, "before": before, "after": after,
            "default": site.default}


def choose(seed, count):
    """`count` mutants and some more, because not all compile."""
    chosen: dict = {}
    for path, site in scratch.candidates(seed):
        if len(chosen) == count + count // 4 + 4:
            break
        if not any(p == path and sites.overlap(site, s) for p, s in chosen.values()):
            chosen[len(chosen) + 1] = (path, site)
    return chosen


def build(work, seed, count, jobs):
    """The mutants that compile, in mutants.jsonl, and the test cases with what they reach, in cases.jsonl."""
    os.makedirs(work, exist_ok=True)
    copy = scratch.Scratch(work, jobs)
    programs = {suite: copy.program(suite) for suite in scratch.SUITES}
    mutants_file, cases_file = os.path.join(work, "mutants.jsonl"), os.path.join(work, "cases.jsonl")
    if not os.path.exists(mutants_file):
        start = time.monotonic()
        chosen = choose(seed, count)
        print(f"building {len(chosen)} mutants into the unit suites ({copy.log})", flush=True)
        copy.prepare()
        refused = copy.compile(chosen)
        left = [record(n, *m) for n, m in chosen.items() if n not in refused][:count]
        print(f"{len(refused)} do not compile; {len(left)} are tried; {time.monotonic() - start:.0f} s", flush=True)
        with open(mutants_file + ".part", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(m) + "\n" for m in left)
        os.replace(mutants_file + ".part", mutants_file)
    known = [suites.Case(**c) for c in lines_of(cases_file)]
    have = {(c.suite, c.index) for c in known}
    every = [c for suite in scratch.SUITES for c in suites.cases(programs[suite], suite)]
    todo = [c for c in every if (c.suite, c.index) not in have]
    if todo:
        print(f"running {len(todo)} test cases without any mutant", flush=True)

    def one(case):
        suites.baseline(programs[case.suite], case)
        return case
    for case in suites.each(one, todo, jobs):
        append(cases_file, case.as_json())
        known.append(case)
    return programs, known


def run(options):
    results = os.path.join(options.work, "results.jsonl")
    settings = os.path.join(options.work, "settings.json")
    wanted = {"seed": options.seed, "count": options.count}
    if os.path.exists(settings) and json.loads(scratch.read(settings)) != wanted:
        raise SystemExit(f"{options.work} is of a run with {scratch.read(settings)}: give another --work, or delete it")
    os.makedirs(options.work, exist_ok=True)
    with open(settings, "w", encoding="utf-8") as file:
        json.dump(wanted, file)
    programs, cases = build(options.work, options.seed, options.count, options.jobs)
    mutants = lines_of(os.path.join(options.work, "mutants.jsonl"))
    done = latest(results)
    # Most are killed in no time: the few cases that take long are for those that are not.
    quick = [m for m in mutants if m["id"] not in done]
    passes = (("quick", quick, 0.0, QUICK), ("long", None, QUICK, math.inf))
    for name, todo, shortest, longest in passes:
        if todo is None:
            done = latest(results)
            todo = [done[m["id"]] for m in mutants if done[m["id"]]["left"] > 0]

        def one(mutant):
            judged = suites.judge(programs, cases, mutant["id"], own_suite(mutant["file"]), shortest, longest)
            return {**mutant, **judged, "ran": judged["ran"] + mutant.get("ran", 0),
                    "seconds": judged["seconds"] + mutant.get("seconds", 0.0)}
        for number, result in enumerate(suites.each(one, todo, options.jobs)):
            append(results, result)
            print(f"{name} {number + 1}/{len(todo)} {result['outcome']:<11} {result['seconds']:7.1f} s  "
                  f"{result['file']}:{result['line']}  {result['change']}", flush=True)
    report(options)


def latest(path):
    """What is known of each mutant, by number."""
    return {r["id"]: r for r in lines_of(path)}


def reason(result, written):
    """Why a survivor changes nothing, if it does not."""
    if result["default"] and result["outcome"] == "not reached":
        return "a default that is never taken: whoever makes one gives the value"
    return written.get((result["before"], result["after"]))


def report(options):
    results = list(latest(os.path.join(options.work, "results.jsonl")).values())
    if not results:
        raise SystemExit(f"{options.work} has no results: run first")
    written = {(e["before"], e["after"]): e["why"] for e in json.loads(scratch.read(EQUIVALENT))}
    folders: dict = {}
    alive = []
    for r in results:
        column = 0
        if r["outcome"] in ("survived", "not reached"):
            why = reason(r, written)
            alive.append((r, why))
            column = 1 if why is None else 2
        folders.setdefault(os.path.dirname(r["file"]), [0, 0, 0])[column] += 1
    killed, survived, _ = total = [sum(column) for column in zip(*folders.values())]
    print(f"\n{'folder':<24} {'killed':>7} {'survived':>9} {'change nothing':>15}")
    for folder, counts in [*sorted(folders.items()), ("all", total)]:
        print(f"{folder:<24} {counts[0]:>7} {counts[1]:>9} {counts[2]:>15}")
    print(f"{killed} of {sum(total)} killed ({killed / sum(total):.1%}); of those that change something "
          f"{killed / max(1, killed + survived):.1%}; {sum(r['seconds'] for r in results) / len(results):.1f} s each")
    for r, why in sorted(alive, key=lambda a: (a[1] is not None, a[0]["file"], a[0]["line"])):
        seen = f", by {r['ran']} test cases" if r["ran"] else ""
        if r["left"] > 0:
            seen += f"; {r['left']} long ones have not been run"
        print(f"\n{r['file']}:{r['line']}: {r['outcome']}{seen} (mutant {r['id']})")
        print(f"  - {r['before']}\n  + {r['after']}")
        if why:
            print(f"  changes nothing: {why}")


def show(options):
    """One mutant by hand: the command that runs a suite with it."""
    for mutant in lines_of(os.path.join(options.work, "mutants.jsonl")):
        if mutant["id"] == options.mutant:
            print(f"{mutant['file']}:{mutant['line']}\n  - {mutant['before']}\n  + {mutant['after']}")
            programs = scratch.Scratch(options.work, 1)
            print(f"ATOLL_MUTANT={options.mutant} {programs.program(own_suite(mutant['file']))}")
            return
    raise SystemExit(f"{options.work} has no mutant {options.mutant}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, function in (("run", run), ("report", report), ("show", show)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--work", default=os.path.join(scratch.SOURCE, "build", "mutants"),
                             help="folder for the scratch copy and the results (build/mutants)")
        if name == "run":
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--count", type=int, default=200)
            command.add_argument("--jobs", type=int, default=1)
        if name == "show":
            command.add_argument("mutant", type=int)
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    options.function(options)


if __name__ == "__main__":
    sys.exit(main())
