"""Where the C and C++ API lies: `cc $(python -m pto_mlir.config --cflags) x.c $(python -m pto_mlir.config --libs)`."""

from __future__ import annotations

import argparse
from pathlib import Path


def include_dir() -> Path:
    """The folder that holds pto_mlir/Runtime/CApi.h and Session.h."""
    package = Path(__file__).resolve().parent
    installed = package / "include"
    return installed if installed.is_dir() else package.parent.parent.parent / "include"


def library_dir() -> Path:
    """The folder that holds libpto_runtime.so and libpto_tasks.so."""
    package = Path(__file__).resolve().parent
    return package if (package / "libpto_runtime.so").is_file() else package.parent.parent / "lib"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pto_mlir.config", description=__doc__, allow_abbrev=False)
    parser.add_argument("--cflags", action="store_true", help="print the compiler's flags")
    parser.add_argument("--libs", action="store_true", help="print the linker's flags")
    arguments = parser.parse_args()
    if not arguments.cflags and not arguments.libs:
        parser.error("expects --cflags, --libs or both")
    flags = [f"-I{include_dir()}"] if arguments.cflags else []
    if arguments.libs:
        flags += [f"-L{library_dir()}", f"-Wl,-rpath,{library_dir()}", "-lpto_runtime"]
    print(*flags)


if __name__ == "__main__":
    main()
