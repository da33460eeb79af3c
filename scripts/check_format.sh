#!/usr/bin/env bash
# Checks the format of tracked files: clang-format and ruff, 120 columns. Exits 1 and names the files that differ; --fix
# formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
check=(--dry-run -Werror)
ruff=(--check)
if [ "${1:-}" = --fix ]; then
  check=(-i)
  ruff=()
fi
git ls-files -z '*.cpp' '*.h' '*.c' | xargs -0 .venv/bin/clang-format "${check[@]}"
.venv/bin/ruff format --quiet "${ruff[@]}" .
.venv/bin/ruff check --quiet .
