"""under_mpirun.py RANKS PROGRAM [ARGUMENT]...: runs a test program on so many ranks and passes on what it says and its
exit code."""

import sys

import program

outcome = program.run(sys.argv[3:], ranks=int(sys.argv[1]), timeout=50, program=sys.argv[2])
print(outcome)
sys.exit(outcome.code)
