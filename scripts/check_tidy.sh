#!/usr/bin/env bash
# clang-tidy, with the checks of .clang-tidy, over what the tree in build/ compiles: check_tidy.sh [--below-border] [FILES..].
# Exit code 1 and the findings when there are some. The work is in run_tidy.py; here is what must be installed and built.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

command -v clang-tidy-19 >/dev/null || die "clang-tidy-19 is not installed. As root, type:
  apt-get update && apt-get install -y --no-install-recommends clang-tidy-19"
[ -f build/compile_commands.json ] || die "build/compile_commands.json is missing. Type:
  cmake --preset default -DPython_EXECUTABLE=\$PWD/.venv/bin/python && ninja -C build PTOGeneratedHeaders PTOPch"
exec .venv/bin/python scripts/run_tidy.py "$@"
