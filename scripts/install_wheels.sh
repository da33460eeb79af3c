#!/usr/bin/env bash
# Installs the wheels of BUILD_TREE/wheels into new environments, two per Python found: BUILD_TREE/wheel-test/3.x with
# pto-mlir, 3.x-runtime with pto-mlir-runtime. test/python/test_wheel.py tests them.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh
tree=$(realpath "${1:-build}")
rm -rf "$tree/wheel-test"
while read -r python version <&3; do
  for project in pto-mlir pto-mlir-runtime; do
    environment=$tree/wheel-test/$version${project#pto-mlir}
    extra=
    [ "$project" = pto-mlir ] && extra='[regression]' # a test runs the regression command with it
    "$python" -m venv "$environment" || die "$python -m venv failed"
    # pip selects the matching wheel; its dependencies come from PyPI.
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --find-links "$tree/wheels" "$project" &&
      "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$project$extra" ||
      die "pip could not install $project for Python $version"
  done
done 3< <(find_pythons)
