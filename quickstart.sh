#!/usr/bin/env bash
# Quickstart on a fresh machine: installs dependencies, builds the required targets, converts the PP-OCR text direction
# classifier to a .pmodel, and compares its answers for two pictures with onnxruntime's.
set -euo pipefail
cd "$(dirname "$0")"
source scripts/common.sh

say "1/4 packages"
install_packages
make_venv

say "2/4 build (a few minutes the first time)"
configure default
build build quickstart

say "3/4 model and pictures"
.venv/bin/python scripts/fetch_cls.py .cache/cls

say "4/4 convert, deploy, run"
PYTHONPATH=build/python .venv/bin/python scripts/classify.py .cache/cls

say "done"
cat <<'END'
The model, the pictures and the .pmodel files are in .cache/cls, the commands in build/bin. What each command above does, and how to bring a
model of your own: README.md, "From a model to numbers". All tests: ./test.sh
END
