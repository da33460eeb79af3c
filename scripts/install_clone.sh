#!/usr/bin/env bash
# `pip install .` of a clean clone of HEAD into a new environment, BUILD_TREE/wheel-test/3.x-clone, as someone who has no
# wheel does it. test/python/test_wheel.py then tests it like the environments with wheels.
#   scripts/install_clone.sh [BUILD_TREE]     default: build
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh
tree=$(realpath "${1:-build}")
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone --quiet . "$clone/pto-mlir"
read -r python version < <(find_pythons)
environment=$tree/wheel-test/$version-clone
rm -rf "$environment"
"$python" -m venv "$environment" || die "$python -m venv failed"
(cd "$clone/pto-mlir" && "$environment/bin/python" -m pip install --quiet --disable-pip-version-check '.[regression]') ||
  die "pip install . failed for Python $version"
