#!/usr/bin/env bash
# Writes small .pmodel files, where unittests/PModelFuzz begins.  make_pmodel_seeds.sh OUT PTO-SAMPLE-MODEL PMODEL_TOOL
set -euo pipefail
out=$1 sample=$2 tool=$3
"$sample" "$out/small.pmodel" 1 8
"$sample" "$out/wide.pmodel" 3 37
"$sample" "$out/other.pmodel" 2 16 other
"$sample" "$out/state.pmodel" 2 8 accumulator state
"$sample" "$out/sized.pmodel" 4 8 sized sizes
"$sample" "$out/program.pmodel" 2 8 net program
"$tool" --combine "$out/small.pmodel" "$out/other.pmodel" -o "$out/both.pmodel" >/dev/null
