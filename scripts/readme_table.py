#!/usr/bin/env python3
"""Writes the tables of measured figures in README.md and docs/ from the JSON that the benchmarks write.

    benchmarks/zoo.py --modes F32,F16 --json zoo.json && scripts/readme_table.py --zoo zoo.json

A given JSON file replaces the recorded one in benchmarks/recorded; then the block between the markers of each page is
written anew. --check writes nothing and exits 1 when a page is not what the recorded runs give.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "benchmarks" / "recorded"

# Networks of the README in its order: name of the description, name for readers, shape of the first input.
NETWORKS = {
    "cls": ("PP-OCR cls", "1x3x48x192"),
    "det": ("PP-OCRv4 det", "1x3x640x640"),
    "rec": ("PP-OCRv4 rec", "1x3x48x320"),
    "mobilenet_v2": ("MobileNetV2", "1x3x224x224"),
    "resnet50": ("ResNet-50", "1x3x224x224"),
    "minilm": ("all-MiniLM-L6-v2", "1x128"),
    "vit_b_16": ("ViT-B/16", "1x3x224x224"),
}
SPEED, ERROR, COSINE = (
    "the same / onnxruntime on one thread",
    "max error of the outputs",
    "least cosine of the outputs",
)
FLOAT64, FILE = ": distance to float64 / ort's", "file, bytes"
# Head of the column, mode, how the figure's name ends, how it is printed.
ZOO_COLUMNS: list[tuple[str, str, str, Callable[[float], str]]] = [
    ("F32 cmodel / ort", "F32", SPEED, lambda v: f"{v:.1f} x"),
    ("F16 cmodel / ort", "F16", SPEED, lambda v: f"{v:.1f} x"),
    ("F32 max error", "F32", ERROR, lambda v: power(v)),
    ("F32 to float64", "F32", FLOAT64, lambda v: f"{v:.1f} x"),
    ("F16 max error", "F16", ERROR, lambda v: power(v)),
    ("F16 cosine", "F16", COSINE, lambda v: f"{v:.7f}"),
    ("`.pmodel` F32, bytes", "F32", FILE, lambda v: f"{v:,.0f}"),
]


def power(value: float) -> str:
    """3.6e-4 for 0.00036."""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(line)}|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines)


def figure(run: dict, model: str, mode: str, ending: str) -> float:
    """The worst of the figures of that name: a network has one distance to float64 per output."""
    values = [
        row["value"]
        for row in run["rows"]
        if row["model"] == model and row["mode"] == mode and row["what"].endswith(ending)
    ]
    if not values:
        sys.exit(f"readme_table.py: error: the run has no figure '{ending.strip(': ')}' of {model} in {mode}")
    return max(values)


def zoo(run: dict) -> str:
    """The networks of the README: speed, accuracy and size."""
    rows = [
        [title, shape, *(form(figure(run, name, mode, ending)) for _, mode, ending, form in ZOO_COLUMNS)]
        for name, (title, shape) in NETWORKS.items()
    ]
    summary = run["summary"]
    least, most = summary["conversion_s"]
    missed = "; ".join(summary["missed"]) or "none"
    return (
        f"    {run['command']}\n\n"
        f"One run of the tree {run['tree']} on {run['machine']}. Goals held: {summary['held']}; missed: {missed}.\n"
        f"`model_transform` and `model_deploy` together, process starts included, took {least:.1f} to {most:.1f} "
        f"s per network.\n\n" + table(["network", "ONNX input", *(column[0] for column in ZOO_COLUMNS)], rows)
    )


class Block(NamedTuple):
    """A generated part of a page, from the recorded run RECORDED/NAME.json."""

    page: Path
    write: Callable[[dict], str]


BLOCKS = {"zoo": Block(ROOT / "README.md", zoo)}


def markers(name: str) -> tuple[str, str]:
    """The lines before and after a generated block."""
    return f"<!-- figures: {name}, by scripts/readme_table.py -->", f"<!-- end of figures: {name} -->"


def rewritten(page: str, name: str, text: str) -> str:
    """The page with the block's text replaced."""
    begin, end = markers(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        sys.exit(f"readme_table.py: error: the page of {name} needs one line '{begin}' and after it one line '{end}'")
    return f"{page.split(begin)[0]}{begin}\n{text}\n{end}{page.split(end)[1]}"


def read(file: Path) -> dict:
    try:
        run = json.loads(file.read_text())
    except OSError as error:
        sys.exit(f"readme_table.py: error: {file}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"readme_table.py: error: {file}: {error}")
    if not isinstance(run, dict) or not {"command", "tree", "machine", "summary", "rows"} <= run.keys():
        sys.exit(f"readme_table.py: error: {file}: expects command, tree, machine, summary and rows")
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    for name in BLOCKS:
        parser.add_argument(f"--{name}", type=Path, metavar="JSON", help=f"replace the recorded run of {name}")
    args = vars(parser.parse_args())
    stale = 0
    for name, block in BLOCKS.items():
        new = args[name]
        page = block.page.read_text()
        text = rewritten(page, name, block.write(read(new or RECORDED / f"{name}.json")))
        stale += text != page
        if not args["check"]:
            block.page.write_text(text)
            if new:
                shutil.copyfile(new, RECORDED / f"{name}.json")
    return 1 if args["check"] and stale else 0


if __name__ == "__main__":
    sys.exit(main())
