#!/usr/bin/env bash
# From a fresh Debian 12 to a built, tested or demonstrated Atoll.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly build=build/release
readonly sanitized=build/asan-ubsan-units
readonly apt_log=build/apt.log
readonly packages=(
  g++ cmake ninja-build git
  libopenmpi-dev openmpi-bin libboost-serialization-dev nlohmann-json3-dev libhdf5-dev libcli11-dev libfmt-dev liblzma-dev
  libzstd-dev liblz4-dev libdeflate-dev libjemalloc-dev
  doctest-dev
  python3 python3-h5py python3-jinja2 python3-numpy python3-pandas python3-matplotlib python3-dev pybind11-dev
)
readonly linters=(clang-format-14 clang-tidy-16 shellcheck mypy npm)  # programs, and the packages that have them

usage() {
  cat <<'END'
usage: ./bootstrap.sh COMMAND

  demo    compare three organisations of the last-level cache on four chips, in five processes, and say what decides
  test    run every test and linter, and the unit tests under sanitizers
  sanitize  the unit tests under address and undefined-behaviour sanitizers alone
  build   build build/release/atoll
  clean   remove what these wrote below build
  --help  show this

demo, test and build first install the Debian packages that are missing, as root or through sudo; linters for test alone.
END
}

step() { printf '== %s\n' "$*"; }

fail() {
  printf 'bootstrap.sh: %s\n' "$*" >&2
  exit 1
}

is_root() { [[ $(id -u) -eq 0 ]]; }

as_root() { if is_root; then "$@"; else sudo "$@"; fi; }

# Prints the packages of the list that dpkg does not know as installed.
missing_packages() {
  local package status
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || printf '%s\n' "$package"
  done
}

# Prints the programs that are not there: Debian is not the only one that packages these.
missing_programs() {
  local program
  for program in "$@"; do command -v "$program" >/dev/null || printf '%s\n' "$program"; done
}

# apt-get talks a lot: into the log, of which only a failure shows the end.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" >>"$apt_log" 2>&1 && return
  tail -n 20 "$apt_log" >&2
  fail "apt-get $1 failed; the whole log is in $apt_log"
}

# Installs the packages, and the programs that are named.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    step "no apt-get here: assuming that the equivalents of these are installed: ${packages[*]}"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages && missing_programs "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if ! is_root && ! command -v sudo >/dev/null; then
    fail "these packages are missing; have root run: apt-get update && apt-get install -y ${missing[*]}"
  fi
  step "installing ${missing[*]} (log: $apt_log)"
  : >"$apt_log"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
}

# Open MPI refuses to run as root unless told; in a container root is all there is.
prepare_mpi() {
  if is_root; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

# build FOLDER [TARGET...]: the folder has the name of its preset. With Debian 12's compiler there are no warnings. Of
# all sources of a target the compiler reads the headers once.
build() {
  step "building $1"
  cmake --preset "${1#build/}" -D ATOLL_WERROR=ON -D CMAKE_UNITY_BUILD=ON -D CMAKE_UNITY_BUILD_BATCH_SIZE=0 \
    >build/configure.log 2>&1 || {
    cat build/configure.log >&2
    fail "cmake could not configure the build"
  }
  ninja -C "$1" -j "$(nproc)" "${@:2}"
}

# Debian's own Python has the packages installed above; another one that stands first on the PATH may not.
python_with_plots() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import h5py, jinja2, matplotlib, numpy, pandas' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  fail "no python3 with h5py, jinja2, numpy, pandas and matplotlib found"
}

# One workload whose chips share data, and one whose chips do not.
demo() {
  local python workload organisation results
  build "$build" atoll
  python=$(python_with_plots)
  mkdir -p build/demo
  for workload in mixed stream; do
    step "$workload: four chips and a controller, one process each, three times"
    results=()
    for organisation in memory_side sm_side sac; do
      results+=("build/demo/$workload-$organisation.h5")
      mpirun --oversubscribe -n 5 "$build/atoll" run sac-4chip --workload "inputs/workloads/$workload.json" --quiet \
        --set "llc.organisation=$organisation" -o "${results[-1]}" --force
    done
    PYTHONPATH=analysis "$python" -m atoll_analysis "${results[@]}" -o "build/demo/$workload.html" \
      -o "build/demo/$workload.png" | tail -n +3
  done
  step "pages: $PWD/build/demo/mixed.html and stream.html, figures beside them"
  step "more:  $build/atoll explain build/demo/mixed-sac.h5"
}

run_tests() {
  build "$build"
  run_sanitizers
  step "testing"
  ctest --preset release
}

run_sanitizers() {
  build "$sanitized" unit_tests
  step "testing units under sanitizers"
  ctest --preset asan-ubsan-units
}

[[ $# -eq 1 ]] || {
  usage >&2
  exit 2
}
case $1 in
  demo | test | sanitize | build)
    mkdir -p build
    if [[ $1 == test ]]; then install_missing "${linters[@]}"; else install_missing; fi
    prepare_mpi
    ;;&
  demo) demo ;;
  test) run_tests ;;
  sanitize) run_sanitizers ;;
  build) build "$build" ;;
  clean) rm -rf "$build" "$sanitized" build/lint "$apt_log" build/configure.log build/demo ;;
  -h | --help | help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
