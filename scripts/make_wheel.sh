#!/usr/bin/env bash
# Makes the wheel from the build tree that is there (nothing compiles twice) and installs it into a clean environment.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build/wheel build/wheel-venv
.venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w build/wheel .
python3 -m venv build/wheel-venv
build/wheel-venv/bin/python -m pip install --quiet --disable-pip-version-check build/wheel/*.whl
ls -l build/wheel/*.whl | awk '{ printf "%s %.1f MB\n", $NF, $5 / 1e6 }'
