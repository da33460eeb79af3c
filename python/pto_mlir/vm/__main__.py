"""python -m pto_mlir.vm PROGRAM.vm [ARGUMENT ...]: runs a program for target `python`; arguments are numbers or .npy
files."""

import argparse
import sys
from pathlib import Path

import numpy as np

from . import VM, VMError, assemble


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pto_mlir.vm", description=__doc__, allow_abbrev=False)
    parser.add_argument("program", help="text form of a program, docs/vm.md")
    parser.add_argument("arguments", nargs="*", help="numbers and .npy files")
    parser.add_argument("--list", action="store_true", help="print the bytecode instead of running it")
    parser.add_argument("--trace", action="store_true", help="print every instruction with its slots on stderr")
    options = parser.parse_args()
    try:
        module = assemble(Path(options.program).read_text())
        if options.list:
            print(module)
            return 0
        values = [
            np.load(text, allow_pickle=False) if text.endswith(".npy") else float(text) if "." in text else int(text)
            for text in options.arguments
        ]
        trace = (lambda line: print(line, file=sys.stderr)) if options.trace else None
        for result in VM(module).run(*values, trace=trace):
            print(result)
    except OSError as error:
        print(f"pto_mlir.vm: error: {error.filename or options.program}: {error.strerror}", file=sys.stderr)
        return 1
    except (ValueError, VMError) as error:
        print(f"pto_mlir.vm: error: {options.program}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
