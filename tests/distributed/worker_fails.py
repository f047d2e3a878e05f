"""worker_fails.py PROGRAM: a thread of any rank that fails for itself ends the whole job, with its message and exit code."""

import sys

import program

for who in range(4):
    outcome = program.run(["2", str(who)], ranks=2, timeout=30, program=sys.argv[1])
    print(outcome, flush=True)
    if outcome.code != 7 or outcome.err.count(f"failed: worker {who} is gone") != 1:
        sys.exit(f"worker {who}: exit code 7 and one message were expected")
