#!/usr/bin/env bash
# Submits an experiment: a job array over what is missing of it, and a job behind that gathers the table.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
readonly here

usage() {
  cat <<'END'
usage: slurm/submit.sh EXPERIMENT.json DIR [--jobs N] [--sweep OPTION]... [OPTION OF sbatch]...

Submits `slurm/sweep.sbatch` as an array of N elements (default: one per missing point, at most 32), which share the points
of the experiment, and `slurm/gather.sbatch` behind it, which writes DIR/table.txt. Nothing is submitted if nothing is
missing. Run it again after a failure: it submits what is missing then.

  slurm/submit.sh inputs/experiments/sac.json results/sac --jobs 8 --time=2:00:00 --cpus-per-task=16 --partition=cpu
  slurm/submit.sh E.json results/e --sweep --scale=8 --sweep '--set=llc.ways=8'

What else is said goes to the array's sbatch (with =, as above). ATOLL (the program, or words before it such as
`apptainer exec atoll.sif atoll`) and ATOLL_SETUP (a file to source first, for modules) come from the environment.
END
}

jobs=
sweep=()
batch=()
words=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --jobs) jobs=${2:?--jobs needs a number} && shift 2 ;;
    --sweep) sweep+=("${2:?--sweep needs an option}") && shift 2 ;;
    -*) batch+=("$1") && shift ;;
    *) words+=("$1") && shift ;;
  esac
done
[[ ${#words[@]} -eq 2 ]] || {
  usage >&2
  exit 2
}
experiment=${words[0]} folder=${words[1]}
[[ -z $jobs || $jobs =~ ^[1-9][0-9]*$ ]] || {
  printf 'submit.sh: --jobs %s: must be a number of 1 or more\n' "$jobs" >&2
  exit 2
}

# Of modules and the like: written neither for `set -eu` nor for this script's arguments.
setup() {
  set +eu
  # shellcheck disable=SC1090
  . "$ATOLL_SETUP"
  set -eu
}
[[ -z ${ATOLL_SETUP:-} ]] || setup
export ATOLL=${ATOLL:-$(readlink -f "$here/../build/release/atoll")}
atoll=("$ATOLL")
[[ -x ${atoll[0]} ]] || read -ra atoll <<<"${atoll[0]}"  # several words
command -v "${atoll[0]}" >/dev/null || {
  printf 'submit.sh: %s: no program there; build it (./bootstrap.sh build), or name it in ATOLL\n' "${atoll[0]}" >&2
  exit 2
}
missing=$("${atoll[@]}" sweep "$experiment" --out "$folder" --list --missing "${sweep[@]}")
if [[ -z $missing ]]; then
  printf 'nothing is missing in %s\n' "$folder"
  exit 0
fi
points=$(wc -l <<<"$missing")
jobs=${jobs:-$((points < 32 ? points : 32))}
mkdir -p "$folder"
array=$(POINTS=$(cut -d" " -f1 <<<"$missing" | xargs) SHARES=$jobs sbatch --parsable --array="1-$jobs" --output="$folder/sweep-%a.out" "${batch[@]}" \
  "$here/sweep.sbatch" "$experiment" "$folder" "${sweep[@]}")
# What sites demand of every job.
common=()
for option in "${batch[@]}"; do
  case $option in --account=* | --partition=* | --qos=* | --clusters=* | --reservation=* | -A* | -p* | -q* | -M*) common+=("$option") ;; esac
done
gather=$(sbatch --parsable --dependency="afterany:${array%%;*}" --output="$folder/gather.out" "${common[@]}" \
  "$here/gather.sbatch" "$experiment" "$folder" "${sweep[@]}") || {
  printf 'array %s is submitted, but nothing that gathers its table: atoll table %s\n' "$array" "$folder" >&2
  exit 1
}
printf '%d points missing; array %s of %d elements, table by job %s in %s/table.txt\n' \
  "$points" "$array" "$jobs" "$gather" "$folder"
