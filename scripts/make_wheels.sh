#!/usr/bin/env bash
# Builds the wheels pto-mlir and pto-mlir-runtime from a finished build tree, for each Python found from 3.10 to 3.12
# (that of 3.12 uses the stable ABI and serves all later versions). Only modules that depend on the Python version are
# compiled.
#   scripts/make_wheels.sh [BUILD_TREE]     default: build; the wheels go to BUILD_TREE/wheels
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh
tree=$(realpath "${1:-build}")
[ -e "$tree/PTOTargets.cmake" ] || die "$tree is no build tree of the whole project: run ./test.sh, or cmake --preset default && ninja -C build wheel"

rm -rf "$tree/wheels"
made=
while read -r python version <&3; do
  # One stable ABI wheel serves 3.12 and later.
  case "$version" in 3.1[01]) tag=$version ;; *) tag=abi3 ;; esac
  case " $made " in *" $tag "*) continue ;; esac
  made="$made $tag"
  environment=$tree/wheel-env/$version
  if [ ! -e "$environment/ready" ]; then
    rm -rf "$environment"
    "$python" -m venv "$environment" || die "$python -m venv failed"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
      'scikit-build-core>=0.10' 'nanobind>=2.4,<4' 'cmake>=3.26' ninja || die "pip could not install what builds wheels for Python $version"
    touch "$environment/ready"
  fi
  for project in . python/runtime; do
    # The second wheel reuses the modules compiled for the first one.
    PATH=$environment/bin:$PATH "$environment/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
      --config-settings=cmake.define.PTO_PREBUILT="$tree" --config-settings=build-dir="$tree/wheel-build/$version" -w "$tree/wheels" "./$project" || die "no wheel of $project for Python $version"
  done
done 3< <(find_pythons)
[ -n "$made" ] || die "no Python from 3.10 on was found"
for wheel in "$tree"/wheels/*.whl; do
  printf '%6.1f MB  %s\n' "$(stat -c %s "$wheel" | awk '{ print $1 / 1e6 }')" "$(basename "$wheel")"
done
