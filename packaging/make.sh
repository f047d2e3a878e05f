#!/usr/bin/env bash
# Makes the .deb, the tarball and the Python wheel, below build/package/packages; lintian looks at the .deb where it is
# installed, and each is unpacked and tried with the sources out of reach (try.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Without dpkg-shlibdeps cpack goes on, and makes a .deb that names no library.
missing=()
for tool in dpkg-shlibdeps:dpkg-dev file:file; do command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}"); done
for module in pip setuptools wheel; do
  /usr/bin/python3 -c "import $module" 2>/dev/null || missing+=("python3-$module")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  echo "make.sh: packages are made with ${missing[*]}, which this machine does not have: apt-get install ${missing[*]}" >&2
  exit 1
fi

build=${ATOLL_PACKAGE_BUILD:-build/package}
[[ -f $build/build.ninja ]] || cmake --preset package -B "$build"
ninja -C "$build"
packages=$build/packages
rm -rf "$packages"
(cd "$build" && cpack --config CPackConfig.cmake)

# setuptools writes beside what it reads: from a copy.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r analysis LICENSE "$scratch"
/usr/bin/python3 -m pip wheel --no-build-isolation --no-deps --no-index -w "$packages" "$scratch/analysis"

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "$packages"/*.deb
else
  echo "lintian is not installed: nothing looked at the .deb"
fi

mkdir "$scratch/deb" "$scratch/tar" "$scratch/python"
dpkg-deb -x "$packages"/*.deb "$scratch/deb"
tar -xzf "$packages"/*.tar.gz -C "$scratch/tar" --strip-components=1
/usr/bin/python3 -m pip install --no-deps --no-index --target "$scratch/python" "$packages"/*.whl
for prefix in "$scratch/deb/usr" "$scratch/tar"; do
  packaging/try.sh "$prefix" "$scratch/python" || [[ $? -eq 77 ]]  # where it cannot be tried, it says so
done
ls -l "$packages"
