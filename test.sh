#!/usr/bin/env bash
# Runs all tests, also on a fresh machine. `--full` adds the long ones (fuzzing, sweeps, pip install of the clone).
# Ends with
#   N passed, N failed, N skipped
set -euo pipefail
cd "$(dirname "$0")"
source scripts/common.sh

full=
for argument in "$@"; do
  case "$argument" in
    --full) full=--full ;;
    *) printf 'usage: ./test.sh [--full]\n' >&2; exit 2 ;;
  esac
done

stages=()
stage() { # NAME COMMAND..: runs the command and records its minutes
  local name=$1 begin=$SECONDS
  shift
  say "$name"
  "$@"
  stages+=("$(printf '%6.1f min  %s' "$(minutes_of $((SECONDS - begin)))" "$name")")
}

packages() { install_packages; make_venv; }
compile() { configure default; build build; check_generated_headers build; }
wheels() { scripts/make_wheels.sh; scripts/install_wheels.sh; }
clone() { scripts/install_clone.sh; }
sanitizers() {
  configure sanitize; build build-sanitize PTOUnitTests; check_generated_headers build-sanitize
  configure sanitize-thread; build build-sanitize-thread PTOThreadTests
  check_generated_headers build-sanitize-thread
}
fuzzers() { build build PTOFuzzers; check_generated_headers build; }
tidy() { scripts/check_tidy.sh $([ -n "$full" ] || echo --below-border) || status=$?; }
# Noted here: a stage behind '||' would run on after a failure, and then succeed.
tests() { .venv/bin/python scripts/run_tests.py $full || status=$?; }

stage packages packages
stage format scripts/check_format.sh
stage build compile
stage wheels wheels
[ -z "$full" ] || stage "pip install ." clone
stage "sanitizer build" sanitizers
stage "fuzzer build" fuzzers
status=0
stage clang-tidy tidy
stage tests tests

say "minutes per stage"
printf '%s\n' "${stages[@]}"
echo
cat build/test-results/summary.txt
exit $status
