"""Flash attention as a PyPTO program (flash_program.py) beside silicon and the kernel that the compiler makes from an
ONNX graph: the timing mode's time of the kernel alone, head of 128, on 24 blocks of a3.

    python benchmarks/silicon/pypto_attention.py [--only TEXT] [--type f16|bf16]

Silicon's times (pto-isa's flash_atten README) are of f16. Every result is checked. The goal is 1.15 times silicon;
ends with 1 when it is missed without a reason in benchmarks/known_misses.toml."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "build" / "python")]
from pto_mlir import _compiler, pypto  # noqa: E402

pypto.enable()
import compiled  # noqa: E402
import pypto.language as pl  # noqa: E402
from flash_program import flash_attention, queue_words  # noqa: E402
from goals import Goals  # noqa: E402
from pypto.pypto_core import ir as core  # noqa: E402
from timed_run import tool  # noqa: E402

BLOCKS, HEAD, RATIO = compiled.BLOCKS, 128, 1.15


def measure(rows: int, kind: str, folder: Path) -> tuple:
    """Microseconds and the percentage of them that each engine is busy."""
    program = flash_attention(rows, rows, HEAD, pl.FP16 if kind == "f16" else pl.BF16)
    _compiler.compile_pypto(core.serialize(program), str(folder / "flash.pmodel"), "a3", BLOCKS)
    (kernel,) = json.loads(tool("pmodel_tool", "--print", folder / "flash.pmodel"))["kernels"]
    random = np.random.default_rng(0)
    values = [random.standard_normal((rows, HEAD)).astype(np.float32) for _ in range(3)]
    if kind == "f16":
        stored = [each.astype(np.float16) for each in values]
        q, k, v = stored
    else:  # the upper halves of f32
        stored = [(each.view(np.uint32) >> 16).astype(np.uint16) for each in values]
        q, k, v = ((each.astype(np.uint32) << 16).view(np.float32) for each in stored)
    arguments = []
    for number, array in enumerate((*stored, np.zeros(BLOCKS * queue_words(rows, HEAD), np.float32))):
        np.save(folder / f"{number}.npy", array)
        arguments.append(["--arg", folder / f"{number}.npy"])
    out = ["--out", f"{folder / 'y.npy'}:{rows}x{HEAD}x{'f16' if kind == 'f16' else 'i16'}"]
    order = [each for argument in (*arguments[:3], out, arguments[3]) for each in argument]
    printed = tool("pto-run", folder / "flash.pmodel", "--kernel", kernel["name"], *order, "--mode", "timing")
    y = np.load(folder / "y.npy")
    y = y.astype(np.float32) if kind == "f16" else (y.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    part = slice(rows // 2, rows // 2 + 160)
    scaled = (q[None, None].astype(np.float64) * HEAD**-0.5, k[None, None], v[None, None])
    worst = np.abs(y[part] - compiled.expected(*scaled, part, False)).max()
    if not worst < (5e-4 if kind == "f16" else 4e-3):
        sys.exit(f"attention of {rows}: the result is wrong by {worst}")
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", printed).groups())
    busy = re.findall(r"^  (\w+ \w+): busy (\d+)", printed, re.M)
    return microseconds, {engine: 100 * float(count) / cycles for engine, count in busy}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the rows whose number of rows has this text")
    parser.add_argument("--type", default="f16", choices=["f16", "bf16"], help="of q, k, v and the result")
    args = parser.parse_args()
    goals = Goals("pypto attention")
    print("| rows | here, us | silicon, us | ratio | goal | | compiled from ONNX, us | engines busy, % |")
    print("|---|---|---|---|---|---|---|---|")
    for size, (silicon, _, large) in compiled.ROWS.items():
        heads, rows, head, causal = size
        if heads != 1 or head != HEAD or causal or large or args.only not in str(rows):
            continue
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here, busy = measure(rows, args.type, Path(folder))
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            trunk, _ = compiled.measure(size, Path(folder))
        engines = ", ".join(f"{n.replace('AIC ', '').replace('AIV ', 'v')} {b:.0f}" for n, b in busy.items() if b >= 5)
        result = goals.verdict(f"{rows} rows {args.type}: times silicon", here / silicon, RATIO)
        ratio = here / silicon
        print(f"| {rows} | {here:.1f} | {silicon} | {ratio:.2f} | {RATIO} | {result} | {trunk:.1f} | {engines} |")
    return goals.close()


if __name__ == "__main__":
    sys.exit(main())
