"""Entries for the commands that are native programs: they lie in the package's bin/, or in the build tree's."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def _exec(name: str) -> int:
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "bin", package.parent.parent / "bin"):
        program = folder / name
        if program.is_file():
            os.execv(program, [name, *sys.argv[1:]])
    print(f"{name}: error: the program is missing from {package / 'bin'}; reinstall pto-mlir", file=sys.stderr)
    return 1


def pmodel_tool() -> int:
    return _exec("pmodel_tool")


def pto_opt() -> int:
    return _exec("pto-opt")


def pto_run() -> int:
    return _exec("pto-run")
