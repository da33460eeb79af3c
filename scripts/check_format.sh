#!/usr/bin/env bash
# Format of what git tracks: clang-format and ruff, 120 columns. Exit code 1 and the files' names when one differs; --fix mends them.
# Then the types of the Python packages: mypy, as pyproject.toml says.
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
.venv/bin/mypy --no-error-summary
