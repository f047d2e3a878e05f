#!/usr/bin/env bash
# What a linter says of all C++, shell or Python: run.sh [LINTER]; without a name each has its turn. A linter that is not
# installed is skipped (exit code 77 if it was named).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=build/lint
readonly ruff=@astral-sh/ruff-wasm-nodejs@0.17.4  # Debian 12 has no ruff; this one needs nothing but node
readonly missing=77

# Prints the files whose names fit one of the patterns, but for what builds and experiments have written.
files() {
  local names=(-name "$1") pattern
  for pattern in "${@:2}"; do names+=(-o -name "$pattern"); done
  find . -mindepth 1 \( -name .git -o -name build -o -name results -o -name '.*_cache' \) -prune \
    -o -type f \( "${names[@]}" \) -print | sort
}

needs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null && continue
    printf 'skipped: there is no %s (CONTRIBUTING.md names the package)\n' "$program"
    exit "$missing"
  done
}

# Not the CUDA programs: traces of them name their lines.
lint_clang_format() {
  needs clang-format-14
  files '*.cpp' '*.hpp' | xargs clang-format-14 --dry-run -Werror
}

lint_shellcheck() {
  needs shellcheck
  files '*.sh' '*.sbatch' | xargs shellcheck .ci/run
}

lint_ruff() {
  needs node npm python3
  if ! npm install --prefix "$build" --no-save --no-audit --no-fund --loglevel=error "$ruff" >"$build/npm.log" 2>&1; then
    tail -n 5 "$build/npm.log"
    printf 'skipped: npm could not install %s\n' "$ruff"
    exit "$missing"
  fi
  local settings
  settings=$(python3 -c 'import json, tomllib; print(json.dumps(tomllib.load(open("pyproject.toml", "rb"))["tool"]["ruff"]))')
  files '*.py' | xargs node tests/lint/ruff.mjs "$PWD/$build" "$settings"
}

# Scripts of different folders may have the same name: each folder is checked on its own.
lint_mypy() {
  needs mypy
  local folder failed=0
  mypy --cache-dir "$build/mypy" analysis/atoll_analysis || failed=1
  while read -r folder; do
    MYPYPATH=$folder:analysis:tests/integration mypy --cache-dir "$build/mypy" "$folder"/*.py || failed=1
  done < <(files '*.py' | grep ^./tests/ | xargs dirname | sort -u)
  return "$failed"
}

# One translation unit per library, and few for all tests: headers are read once, which takes a tenth of the time. What the
# build generates has to be there, but is not compiled.
lint_clang_tidy() {
  needs clang-tidy-16 cmake ninja python3
  local unity=$build/unity
  cmake -S . -B "$unity" -G Ninja -D CMAKE_BUILD_TYPE=Debug -D CMAKE_UNITY_BUILD=ON -D CMAKE_UNITY_BUILD_BATCH_SIZE=0 \
    -D ATOLL_NATIVE=OFF -D ATOLL_WERROR=OFF >"$build/cmake.log"
  ninja -C "$unity" atoll_version generated/embedded_systems.cpp >"$build/ninja.log"
  local api
  for api in cudart cuda; do
    cmake -D NAMES="inputs/cuda/runtime/${api}_names.txt" -D OUT="$unity/generated/${api}_names.cpp" -D TABLE="atoll_${api}_names" \
      -D HANDLER="atoll_${api}_unsupported" -P inputs/cuda/runtime/names.cmake
  done
  # The largest first, so that none is left for the end.
  python3 tests/lint/merge_units.py "$unity" | xargs wc -l | grep -v ' total$' | sort -rn | awk '{ print $2 }' |
    xargs -n 1 -P "$(nproc)" clang-tidy-16 --quiet -p "$unity" --extra-arg=-Wno-everything 2>"$build/clang-tidy.log"
}

# Each source on its own, as packages compile it: in a build from unity sources one source has what another includes. Tests
# are in no package, and would take as long again: CONTRIBUTING.md has the command.
lint_includes() {
  needs cmake ninja python3
  cmake -S . -B "$build/plain" -G Ninja -D CMAKE_UNITY_BUILD=OFF -D ATOLL_TESTS=OFF >"$build/cmake-plain.log"
  python3 tests/lint/compile_alone.py "$build/plain"
}

mkdir -p "$build"
case ${1:-} in
  clang-format) lint_clang_format ;;
  shellcheck) lint_shellcheck ;;
  ruff) lint_ruff ;;
  mypy) lint_mypy ;;
  clang-tidy) lint_clang_tidy ;;
  includes) lint_includes ;;
  "")
    failed=()
    for linter in clang-format shellcheck ruff mypy clang-tidy includes; do
      printf '== %s\n' "$linter"
      tests/lint/run.sh "$linter" || [[ $? -eq $missing ]] || failed+=("$linter")
    done
    [[ ${#failed[@]} -eq 0 ]] || { printf '== not clean: %s\n' "${failed[*]}"; exit 1; }
    ;;
  *)
    printf 'run.sh: there is no linter %s; there are clang-format, shellcheck, ruff, mypy, clang-tidy and includes\n' "$1" >&2
    exit 2
    ;;
esac
