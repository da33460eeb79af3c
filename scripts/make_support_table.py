"""Writes docs/onnx-ops.md from the importer's registry.

    PYTHONPATH=build/python .venv/bin/python scripts/make_support_table.py [--check]

With --check nothing is written: exits 1 when the page is not what the registry says.
"""

import argparse
import sys
from pathlib import Path

from pto_mlir.compiler import supported_ops

PAGE = Path(__file__).resolve().parent.parent / "docs" / "onnx-ops.md"
HEAD = """# ONNX operators

Made by `scripts/make_support_table.py` from the importer's registry; a test keeps it current. Operators of the default domain, opsets included on both ends.
What a model holds beyond these is reported in one list with node, operator, opset and reason.

| operator | opsets |
|---|---|
"""


def text() -> str:
    rows: dict[str, list[str]] = {}
    for name, first, last in supported_ops():
        rows.setdefault(name, []).append(f"{first}-{last}" if first != last else str(first))
    return HEAD + "".join(f"| {name} | {', '.join(ranges)} |\n" for name, ranges in rows.items())


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        return 0 if PAGE.exists() and PAGE.read_text() == text() else 1
    PAGE.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
