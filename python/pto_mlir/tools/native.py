"""Entries for the commands that are native programs: they lie in the package's bin/, or in the build tree's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ..errors import UserError


def _program(name: str) -> str:
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "bin", package.parent.parent / "bin"):
        if (folder / name).is_file():
            return str(folder / name)
    print(f"{name}: error: the program is missing from {package / 'bin'}; reinstall pto-mlir", file=sys.stderr)
    raise SystemExit(1)


def run_native(name: str, arguments: list[str]) -> int:
    """Runs a native command and returns its exit code."""
    return subprocess.run([_program(name), *arguments]).returncode


def program_output(name: str, arguments: list[str], stdin: str | None = None) -> str:
    """What a native command prints; a UserError with its own words when it fails."""
    done = subprocess.run([_program(name), *arguments], input=stdin, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise UserError(done.stderr.strip() or f"{name}: exit code {done.returncode}")
    return done.stdout


def _exec(name: str) -> int:
    os.execv(_program(name), [name, *sys.argv[1:]])


def pmodel_tool() -> int:
    return _exec("pmodel_tool")


def pto_opt() -> int:
    return _exec("pto-opt")


def pto_compile() -> int:
    """A program in Python is compiled here, all other inputs by the native command."""
    output = [None, *sys.argv[1:-1]]  # what stands before each argument
    if any(each.endswith(".py") and before != "-o" for before, each in zip(output, sys.argv[1:], strict=True)):
        from .compile_pypto import main

        return main()
    return _exec("pto-compile")


def pto_run() -> int:
    return _exec("pto-run")
