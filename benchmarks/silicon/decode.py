"""Attention of a decoder's step and of a few rows: microseconds in timing mode on 24 blocks of a3, f16, in one kernel,
as separate kernels, and as the compiler chooses by its estimate.

    python benchmarks/silicon/decode.py [--only ROWS,HEADS,KV_HEADS,KEYS,DEPTH]..

Kernels are tasks (0.95 us for the dispatch of each); the conversions of the model's inputs and of its result between
f32 and f16 are the same in all and left out. Results are checked beside float64. Ends with 1 where the choice takes
more than a fifth longer than the better way."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "build" / "python")]
from compiled import BLOCKS, TASK  # noqa: E402
from pto_mlir import compiler  # noqa: E402
from timed_run import tool  # noqa: E402

SIZES = [
    (rows, heads, shared, keys, depth)
    for depth, keys, (heads, shared), rows in itertools.product(
        (64, 128), (1024, 4096, 8192), ((8, 1), (8, 8), (32, 1), (32, 8)), (1, 4, 16)
    )
]
# The choice is by an estimate whose error is about a fifth.
MOST = 1.2

TEXT = """module attributes {{top.state = "imported"}} {{
  func.func @main(%q: {query} {{top.name = "q"}}, %k: {key} {{top.name = "k"}}, %v: {key} {{top.name = "v"}})
      -> ({query} {{top.name = "y"}}) {asked} {{
    %0 = top.attention %q, %k, %v {{scale = {scale} : f64, q_heads = {heads}, kv_heads = {shared}}}
        : ({query}, {key}, {key}) -> {query} loc("y")
    return %0 : {query}
  }}
}}
"""


def operands(rows: int, heads: int, shared: int, keys: int, depth: int) -> dict:
    random = np.random.default_rng(0)
    shapes = {"q": (1, heads, rows, depth), "k": (1, shared, keys, depth), "v": (1, shared, keys, depth)}
    return {name: random.standard_normal(shape).astype(np.float16).astype(np.float32) for name, shape in shapes.items()}


def expected(q, k, v):
    q, k, v = (x[0].astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, len(q) // len(x), axis=0) for x in (k, v))
    s = q @ k.transpose(0, 2, 1) * q.shape[-1] ** -0.5
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return p @ v / p.sum(axis=-1, keepdims=True)


def at_the_border(file: Path) -> set[str]:
    """The kernels that take an input of the model, or give its result."""
    calls = re.findall(r"call_device (\w+), (.*)", tool("pmodel_tool", "--disasm", file))
    return {name for name, arguments in calls if re.search(r"\b(in|out)\d", arguments)}


def measure(size: tuple, way: str, feed: dict, wanted, folder: Path) -> float:
    """Microseconds of the kernels that are not conversions; `way`: together, apart or "" for the compiler's choice."""
    rows, heads, shared, keys, depth = size
    asked = f'attributes {{top.attentions = "{way}"}}' if way else ""
    types = {n: f"tensor<{'x'.join(map(str, feed[n[0]].shape))}xf32>" for n in ("query", "key")}
    text = TEXT.format(asked=asked, scale=depth**-0.5, heads=heads, shared=shared, **types)
    (folder / "m.mlir").write_text(text)
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), "F16", "a3", BLOCKS, False)
    np.savez(folder / "in.npz", **feed)
    run = ["--model", folder / "m.pmodel", "--input", folder / "in.npz", "--output", folder / "out.npz"]
    printed = tool("model_runner", *run, "--mode", "timing", "--blocks", BLOCKS, "--profile")
    worst = np.abs(np.load(folder / "out.npz")["y"][0] - wanted).max()
    if not worst < 2e-3:
        sys.exit(f"attention of {size}, {way or 'chosen'}: the result is wrong by {worst}")
    launches = re.findall(r"^(k\d+_\w+) +(\d+) +[\d,]+ +([\d.]+) +(AI.*)$", printed, re.M)
    converts = at_the_border(folder / "m.pmodel")
    works = [launch for launch in launches if "AIC" in launch[3] or launch[0] not in converts]
    return sum(float(us) - TASK * int(count) for _, count, us, _ in works)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="a row: five numbers with commas")
    args = parser.parse_args()
    sizes = [tuple(map(int, text.split(","))) for text in args.only] if args.only else SIZES
    print("| rows | heads | of K, V | keys | depth | one kernel, us | apart, us | chosen, us | |")
    print("|---|---|---|---|---|---|---|---|---|")
    missed = 0
    for size in sizes:
        feed = operands(*size)
        wanted = expected(**feed)
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            together, apart, chosen = (
                measure(size, way, feed, wanted, Path(folder)) for way in ("together", "apart", "")
            )
        bad = chosen > MOST * min(together, apart)
        missed += bad
        verdict = "the other" if bad else "together" if chosen == together else "apart"
        times = " | ".join(f"{us:.1f}" for us in (together, apart, chosen))
        print(f"| {' | '.join(map(str, size))} | {times} | {verdict} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
