#!/usr/bin/env bash
# Runs the demo, a sweep and a plug-in's build from an installation, with the sources out of reach.
#   packaging/try.sh PREFIX [PYTHONPATH]
# An empty file system lies over this tree meanwhile, in a mount namespace of its own. Exit code 77: the machine has none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [[ ${1:-} != --hidden ]]; then
  [[ $# -ge 1 ]] || { sed -n 3p "${BASH_SOURCE[0]}" >&2; exit 2; }
  script=$(mktemp /tmp/atoll-try-XXXXXX)
  trap 'rm -f "$script"' EXIT
  cp "${BASH_SOURCE[0]}" "$script"
  prefix=$(cd "$1" && pwd)
  unshare --user --map-root-user --mount true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
  # The prefix may lie within the tree.
  kept=$(mktemp -d /tmp/atoll-prefix-XXXXXX)
  trap 'rm -rf "$script" "$kept"' EXIT
  cp -r "$prefix/." "$kept"
  [[ -z ${2:-} ]] || cp -r "$2" "$kept/python"
  cd /
  # shellcheck disable=SC2016  # the inner shell expands them
  unshare --user --map-root-user --mount bash -c 'mount -t tmpfs none "$1" && exec bash "$2" --hidden "$3" "$1"' \
    bash "$here" "$script" "$kept"
  exit
fi

prefix=$2 tree=$3
[[ ! -e $tree/CMakeLists.txt ]] || { echo "the tree is still there" >&2; exit 1; }
atoll=$prefix/bin/atoll
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$prefix/work
mkdir "$work"
cd "$work"
for organisation in memory_side sm_side sac; do
  mpirun --oversubscribe -n 5 "$atoll" run sac-4chip --workload mixed --scale "${ATOLL_TRY_SCALE:-1}" --quiet \
    --set "llc.organisation=$organisation" -o "mixed-$organisation.h5"
  "$atoll" info "mixed-$organisation.h5" | grep -E '^ +(cycles|digest)'
done
"$atoll" compare mixed-memory_side.h5 mixed-sac.h5 --top 3
"$atoll" sweep quick --only 'conv2d__*' --out quick
"$atoll" table quick >/dev/null
cmake -S "$prefix/share/atoll/examples/policy_plugin" -B plugin -D CMAKE_PREFIX_PATH="$prefix" >plugin.log
cmake --build plugin >>plugin.log
"$atoll" run sac-4chip -w mixed --scale 16 --quiet --policy plugin/hit_rate.so -o plugin.h5
"$atoll" run sac-4chip -w mixed --scale 16 --quiet --policy "$prefix/share/atoll/examples/policy_plugin/sac.py" -o python.h5
if [[ -d $prefix/python ]]; then
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import h5py, jinja2, matplotlib, pandas' 2>/dev/null || continue
    PYTHONPATH=$prefix/python "$python" -m atoll_analysis mixed-*.h5 -o mixed.html
    break
  done
  [[ -s mixed.html ]]
fi
echo "everything ran from $prefix, without $tree"
