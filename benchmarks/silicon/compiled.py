"""Attention as the compiler builds it from an ONNX graph, beside the hand-written kernel and silicon: the timing mode's
time of the kernel alone, f16, on 24 blocks of a3. The projection of the queries takes the scale, as in a network.

    python benchmarks/silicon/compiled.py [--large] [--only TEXT]

The result is checked. A row of one head has silicon's time (pto-isa's flash_atten README) and the goal of the kernel
alone; a row of several heads has the goal of a task, which pays less for its dispatch. Ends with 1 when a goal is
missed without a reason in benchmarks/known_misses.toml."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "build" / "python")]
from goals import Goals  # noqa: E402
from pto_mlir import compiler  # noqa: E402
from timed_run import tool  # noqa: E402

BLOCKS = 24
# Microseconds by which a launch of its own costs more than a task of the runtime (docs/timing.md).
TASK = 5.9 - 0.95

# heads, rows, depth, causal: silicon's microseconds, the goal, whether the row takes minutes
ROWS = {
    (1, 1024, 128, False): (20.96, 14.5, False),
    (1, 2048, 128, False): (32.46, 28, False),
    (1, 4096, 128, False): (88.90, 75, False),
    (1, 8192, 128, False): (292.6, 222, False),
    (1, 16384, 128, False): (909, 850, True),
    (1, 32768, 128, False): (3263, 3000, True),
    (1, 4096, 128, True): (None, 55, False),
    (1, 8192, 128, True): (None, 140, False),
    (12, 512, 64, False): (None, 14, False),
    (9, 1024, 64, False): (None, 29, False),
    (32, 2048, 128, False): (None, 445, True),
}


def compile_attention(folder: Path, heads: int, rows: int, depth: int, causal: bool) -> tuple:
    """The model of one attention, and the name and arguments of its kernel."""
    shape = [1, heads, rows, depth]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"]),
        helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=int(causal)),
    ]
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)  # noqa: E731
    weights = [numpy_helper.from_array(np.eye(depth, dtype=np.float32), "w")]
    graph = helper.make_graph(nodes, "g", [info(n) for n in "xkv"], [info("y")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    onnx.save(model, folder / "m.onnx")
    compiler.transform(str(folder / "m.onnx"), "m", None, [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), "F16", "a3", BLOCKS, False)
    made = json.loads(tool("pmodel_tool", "--print", folder / "m.pmodel"))["kernels"]
    # The projection may have both kinds of cores too: the attention's kernel is the one that is named after its result.
    (kernel,) = [k["name"] for k in made if k["name"].endswith("_y")]
    return folder / "m.pmodel", kernel


def expected(q, k, v, part: slice, causal: bool):
    """Rows `part` of the last head."""
    q, k, v = (x[0, -1].astype(np.float64) for x in (q, k, v))
    s = q[part] @ k.T
    if causal:
        s[np.arange(len(k)) > np.arange(len(k))[part, None]] = -np.inf
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p @ v / p.sum(axis=1, keepdims=True)


def measure(size: tuple, folder: Path, mode: str = "timing") -> tuple:
    """Microseconds and the percentage of them that each engine is busy."""
    heads, rows, depth, causal = size
    model, kernel = compile_attention(folder, heads, rows, depth, causal)
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((1, heads, rows, depth)).astype(np.float16) for _ in range(3))
    q = (q * np.float16(depth**-0.5)).astype(np.float16)
    slots = BLOCKS * 16 * 128
    rings = np.zeros((slots, 256), np.float32), np.zeros((slots, 256), np.float16), np.zeros((slots, 256), np.float32)
    arguments = []
    for number, array in enumerate((q, k, v, *rings)):
        np.save(folder / f"{number}.npy", array)
        arguments += ["--arg", folder / f"{number}.npy"]
    out = f"{folder / 'y.npy'}:1x{heads}x{rows}x{depth}xf32"
    printed = tool("pto-run", model, "--kernel", kernel, *arguments, "--out", out, "--mode", mode)
    part = slice(rows // 2, rows // 2 + 160)
    worst = np.abs(np.load(folder / "y.npy")[0, -1, part] - expected(q, k, v, part, causal)).max()
    if not worst < 2e-3:
        sys.exit(f"attention of {size}: the result is wrong by {worst}")
    if mode != "timing":
        return None, None
    cycles, microseconds = map(float, re.search(r"([\d.]+) cycles, ([\d.e+]+) us", printed).groups())
    busy = re.findall(r"^  (\w+ \w+): busy (\d+)", printed, re.M)
    return microseconds, {engine: 100 * float(count) / cycles for engine, count in busy}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also the rows that take minutes")
    parser.add_argument("--only", default="", help="the rows whose name has this text")
    args = parser.parse_args()
    goals = Goals("compiled attention")
    print("| heads x rows x depth | here, us | silicon, us | goal, us | | engines busy, % |\n|---|---|---|---|---|---|")
    for size, (silicon, goal, large) in ROWS.items():
        heads, rows, depth, causal = size
        name = f"{heads} x {rows} x {depth}" + (" causal" if causal else "")
        if args.only not in name or (large and not args.large):
            continue
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            here, busy = measure(size, Path(folder))
        here -= TASK if heads > 1 else 0
        engines = ", ".join(f"{n.replace('AIC ', '').replace('AIV ', 'v')} {b:.0f}" for n, b in busy.items() if b >= 5)
        result = goals.verdict(name, here, goal)
        print(f"| {name} | {here:.1f} | {silicon or '-'} | {goal} | {result} | {engines} |", flush=True)
    return goals.close()


if __name__ == "__main__":
    sys.exit(main())
