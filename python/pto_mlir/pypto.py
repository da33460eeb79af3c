"""Makes the package `pypto` importable, which lies beside this file and is on no path by itself.

    PYTHONPATH=$(python -m pto_mlir.pypto --path) python program.py
    python -m pto_mlir.pypto program.py ARGS        # or -m MODULE ARGS

or, in a program, before the first import: pto_mlir.pypto.enable().
"""

import importlib.util
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATH = str(Path(__file__).resolve().parent / "_pypto")


def enable() -> str:
    """Puts this `pypto` before any other on sys.path; the folder. RuntimeError when another one is imported already.

    Says so in one line on stderr when there are two.
    """
    loaded = sys.modules.get("pypto")
    if loaded is not None and not str(getattr(loaded, "__file__", "")).startswith(PATH):
        raise RuntimeError(f"another pypto is imported already: {getattr(loaded, '__file__', 'unknown')}")
    if PATH not in sys.path:
        other = importlib.util.find_spec("pypto") if loaded is None else None
        sys.path.insert(0, PATH)
        importlib.invalidate_caches()
        if other is not None and other.origin:
            print(f"pypto: {PATH} is active, {other.origin} is not", file=sys.stderr)
    return PATH


def described(error: Any) -> str:
    """A ParserError in one line: place, message, hint."""
    span = error.span or {}
    place = f"{span['filename']}:{span['line']}:{span['column']}: " if span.get("line", 0) > 0 else ""
    hint = f" (hint: {error.hint})" if error.hint else ""
    return f"{place}{error.message}{hint}"


def run(program: Callable[[], Any]) -> None:
    """Runs a program; an error in the text of a kernel, or a fault at one of its lines, is shown as that line, without
    a traceback, and ends the process."""
    diagnostics = importlib.import_module("pypto.language.parser.diagnostics")
    try:
        program()
    except diagnostics.PlacedError as error:
        print(diagnostics.ErrorRenderer().render(error), file=sys.stderr)
        sys.exit(1)


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--path"]:
        print(PATH)
        return
    module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if module else arguments
    if not arguments or arguments[0].startswith("-"):
        print("usage: python -m pto_mlir.pypto (--path | FILE ARGS.. | -m MODULE ARGS..)", file=sys.stderr)
        sys.exit(2)
    enable()
    sys.argv = arguments
    if module:
        sys.path.insert(1, "")
        run(lambda: runpy.run_module(arguments[0], run_name="__main__", alter_sys=True))
        return
    if not Path(arguments[0]).is_file():
        print(f"{arguments[0]}: no such file", file=sys.stderr)
        sys.exit(1)
    sys.path.insert(1, str(Path(arguments[0]).resolve().parent))
    run(lambda: runpy.run_path(arguments[0], run_name="__main__"))


if __name__ == "__main__":
    main()
