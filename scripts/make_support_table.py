"""Writes docs/onnx-ops.md from the importer's registry.

    PYTHONPATH=build/python .venv/bin/python scripts/make_support_table.py [--check]

With --check nothing is written: exits 1 when the page is not what the registry says.
"""

import sys
from pathlib import Path

import generated_page
from pto_mlir.compiler import supported_ops

PAGE = Path(__file__).resolve().parent.parent / "docs" / "onnx-ops.md"
HEAD = """# ONNX operators

Made by `scripts/make_support_table.py` from the importer's registry; a test keeps it current. Operators of the default
domain, and of others behind their name; opsets included on both ends. What a model holds beyond these is reported in
one list with node, operator, opset and reason.

| operator | opsets |
|---|---|
"""


def text() -> str:
    rows: dict[str, list[str]] = {}
    for name, first, last in supported_ops():
        rows.setdefault(name, []).append(f"{first}-{last}" if first != last else str(first))
    return HEAD + "".join(f"| {name} | {', '.join(ranges)} |\n" for name, ranges in rows.items())


if __name__ == "__main__":
    sys.exit(generated_page.main(PAGE, text))
