"""What each network of the zoo takes on 24 blocks in timing mode, beside a lower bound for it.

    PYTHONPATH=build/python .venv/bin/python benchmarks/bounds.py [--models cls,rec] [--modes F16,F32] [--old DIR]

The bound (lib/Cost's lowerBound) is the largest of: bytes of inputs, outputs and weights, each once, over the rate of
HBM; multiplications of products and convolutions in whole boxes over the cube cores' rate; operations of what cannot be
part of storing a product (pools, functions, sums, softmax, sums of two computed tensors) over the vector cores'; plus
one dispatch. "chain": what no order of launches is below that has one for each product or convolution. It is the
longest path of the graph, on which each of these takes its own bound, with a dispatch and the bytes of its operands,
and all else nothing. Sizes of tensors are those of a run of onnxruntime. --old: another build tree, whose makespans are
printed beside ours. Prints the geometric means; the goal, 2.5, is for networks of batch 1 with more than 1 GFLOP. Ends
with 1 when it is missed without a reason in known_misses.toml.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np
import onnx
from goals import Goals
from pto_mlir import compiler, inner_tensors
from pto_mlir.errors import UserError
from sizes import makespan

from regression import bounds, zoo
from regression.measure import command, onnxruntime_session

CHIP, BLOCKS, GOAL, LARGE = "a3", 24, 2.5, 1e9
BRANCHES = {"If", "Loop", "Scan"}
PRODUCTS = {"Conv", "ConvTranspose", "MatMul", "Gemm"}
# Vector operations per element of the larger of input and output.
COMPUTED = {
    **{op: 1 for op in ("Exp", "Sqrt", "Div", "Reciprocal", "Abs", "Add", "Sub", "Mul", "Max", "Min", "Where")},
    **{op: 1 for op in ("ReduceMean", "ReduceSum", "ReduceMax", "GlobalAveragePool")},
    **{op: 3 for op in ("HardSigmoid", "HardSwish", "Sigmoid", "Softmax")},
    **{op: 6 for op in ("LayerNormalization", "Erf", "Tanh", "Gelu")},
    "Pow": 1,  # squares
}
BINARY = {"Add", "Sub", "Mul", "Div", "Max", "Min"}


def tensors(model: onnx.ModelProto, feed: dict[str, np.ndarray], weights: dict[str, tuple]) -> dict[str, tuple]:
    """Shapes of all tensors of a run."""
    exposed = onnx.ModelProto()
    exposed.CopyFrom(model)
    inner_tensors.add_node_outputs(exposed)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(exposed, file.name)
        session = onnxruntime_session(file.name)
    names = [o.name for o in session.get_outputs()]
    found = {name: np.shape(value) for name, value in zip(names, session.run(names, feed), strict=True)}
    return weights | {name: value.shape for name, value in feed.items()} | found


def multiplications(node: onnx.NodeProto, shapes: dict[str, tuple], element: int) -> int:
    """Of one product or convolution, in whole boxes."""
    left, right, out = shapes[node.input[0]], shapes[node.input[1]], shapes[node.output[0]]
    if node.op_type in ("Conv", "ConvTranspose"):
        group = next((a.i for a in node.attribute if a.name == "group"), 1)
        return bounds.convolution(node.op_type, left, right, out, group, element) if group == 1 else 0
    return bounds.product(node.op_type, left, right, out, element)


def operations(node: onnx.NodeProto, shapes: dict[str, tuple], constant: set[str]) -> float:
    """Of one node on the vector cores; nothing for what storing a product may do."""
    out = math.prod(shapes[node.output[0]])
    if node.op_type in ("Conv", "ConvTranspose"):
        filters = shapes[node.input[1]]
        grouped = filters[0] != filters[1] and next((a.i for a in node.attribute if a.name == "group"), 1) > 1
        return 2.0 * math.prod(filters[1:]) * out if grouped else 0.0
    if node.op_type in ("MaxPool", "AveragePool"):
        return float(out * math.prod(next(a.ints for a in node.attribute if a.name == "kernel_shape")))
    if node.op_type in BINARY and any(name in constant for name in node.input):
        return 0.0
    most = max([out, *(math.prod(shapes[name]) for name in node.input if name in shapes and name not in constant)])
    return float(COMPUTED.get(node.op_type, 0) * most)


def flops(node: onnx.NodeProto, shapes: dict[str, tuple]) -> float:
    """Twice the multiplications as they are, without boxes."""
    out, right = math.prod(shapes[node.output[0]]), shapes[node.input[1]]
    depth = math.prod(right[1:]) if node.op_type == "Conv" else right[0 if len(right) < 2 else -2]
    return 2.0 * out * depth


def shapes_of(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> tuple[dict[str, tuple], dict[str, tuple]]:
    """Of the weights, and of all tensors."""
    graph = model.graph
    constants = [
        (n.output[0], a.t) for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"
    ]
    weights = {t.name: tuple(t.dims) for t in graph.initializer} | {name: tuple(t.dims) for name, t in constants}
    return weights, tensors(model, feed, weights)


def bound(graph, weights: dict[str, tuple], shapes: dict[str, tuple], feed, mode: str) -> tuple[float, float]:
    """The lower bound in ms, and the FLOPs of products."""
    element = 4 if mode == "F32" else 2
    # Of a table only the rows that a gather takes.
    picked = {node.input[0]: math.prod(shapes[node.output[0]]) for node in graph.node if node.op_type == "Gather"}
    used = {name for node in graph.node for name in node.input} & set(weights)
    held = sum(min(math.prod(weights[name]), picked.get(name, math.inf)) for name in used)
    written = sum(math.prod(shapes[o.name]) for o in graph.output)
    products = [node for node in graph.node if node.op_type in PRODUCTS]
    read = element * held + sum(4 * value.size for value in feed.values())
    milliseconds = 1e3 * compiler.lower_bound(
        CHIP,
        BLOCKS,
        bytes_read=read,
        bytes_written=4 * written,
        multiplications=sum(multiplications(node, shapes, element) for node in products),
        wide=mode == "F32",
        operations=sum(operations(node, shapes, set(weights)) for node in graph.node),
    )
    return milliseconds, sum(flops(node, shapes) for node in products)


def chain(graph, weights: dict[str, tuple], shapes: dict[str, tuple], mode: str) -> float:
    """Milliseconds of the longest path when each product is a launch at its own bound, and everything else is free."""
    element = 4 if mode == "F32" else 2
    size = {name: element * math.prod(shape) for name, shape in shapes.items()}
    ends: dict[str, float] = {}
    for node in graph.node:
        begin = max((ends.get(name, 0.0) for name in node.input), default=0.0)
        if node.op_type in PRODUCTS:
            begin += 1e3 * compiler.lower_bound(
                CHIP,
                BLOCKS,
                bytes_read=sum(size.get(name, 0) for name in node.input),
                bytes_written=size[node.output[0]],
                multiplications=multiplications(node, shapes, element),
                wide=mode == "F32",
                operations=operations(node, shapes, set(weights)),
            )
        ends.update(dict.fromkeys(node.output, begin))
    return max(ends.values())


def deploy(tree: Path, mlir: Path, mode: str, work: Path) -> Path:
    """The file that the compiler of a build tree makes."""
    target = work / f"{tree.parent.name}_{mode}.pmodel"
    script = "import sys; from pto_mlir import compiler; compiler.deploy(*sys.argv[1:5], int(sys.argv[5]), False)"
    arguments = [sys.executable, "-c", script, mlir, target, mode, CHIP, str(BLOCKS)]
    subprocess.run(
        [str(a) for a in arguments], check=True, env={"PYTHONPATH": str(tree / "python"), "PATH": "/usr/bin"}
    )
    return target


class Row(NamedTuple):
    """One network in one mode, in ms."""

    gflop: float
    bound: float
    chain: float
    took: float
    old: float
    counts: bool  # whether the goal is for it


def measure(model: zoo.Model, cache: Path, modes: list[str], old: Path | None) -> dict[str, Row]:
    """The rows of a network by mode; none where nothing says what it takes at least, which is printed."""
    try:
        path = zoo.make(model, cache)
    except zoo.Unavailable as error:
        print(f"{model.name:<14} left out of the mean: {error}", flush=True)
        return {}
    graph = onnx.load(str(path))
    if any(node.op_type in BRANCHES for node in graph.graph.node):
        print(f"{model.name:<14} left out of the mean: what it computes is decided at run time", flush=True)
        return {}
    feed, rows = zoo.feed(model, cache), {}
    with tempfile.TemporaryDirectory() as folder:
        work, mlir = Path(folder), Path(folder) / "m.mlir"
        arguments = ["--model_name", model.name, "--model_def", path, *model.transform_options]
        made = command("model_transform", *arguments, "--mlir", mlir)
        if made.code != 0:
            raise UserError(made.problem)
        weights, shapes = shapes_of(graph, feed)
        for mode in modes:
            least, done = bound(graph.graph, weights, shapes, feed, mode)
            path_takes = max(least, chain(graph.graph, weights, shapes, mode))
            took = makespan(deploy(ROOT / "build", mlir, mode, work), feed)
            before = makespan(deploy(old.resolve(), mlir, mode, work), feed) if old else took
            counts = done > LARGE and next(iter(feed.values())).shape[0] == 1
            row = rows[mode] = Row(done / 1e9, least, path_takes, took, before, counts)
            shown = f" {before / least:7.2f}" if old else ""
            print(
                f"{model.name:<24} {mode:<5} {row.gflop:7.2f} {least:10.4f} {took:10.4f} {took / least:7.2f} "
                f"{row.chain:10.4f} {took / row.chain:7.2f}{shown}",
                flush=True,
            )
    return rows


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", default="", help="names, comma-separated (default: the whole zoo)")
    p.add_argument("--modes", default="F16,F32")
    p.add_argument("--old", type=Path, help="another build tree to compare with")
    args = p.parse_args()
    goals, modes = Goals("bounds"), args.modes.split(",")
    print(
        f"{'model':<24} {'mode':<5} {'GFLOP':>7} {'bound, ms':>10} {'makespan':>10} {'ratio':>7} {'chain, ms':>10} "
        f"{'ratio':>7}" + "     old" * bool(args.old)
    )
    measured = [
        measure(model, zoo.cache_folder(), modes, args.old)
        for model in zoo.read_all([name for name in args.models.split(",") if name])
    ]
    for mode in modes:
        large = [rows[mode] for rows in measured if mode in rows and rows[mode].counts]
        if not large:
            continue
        mean = statistics.geometric_mean(row.took / row.bound for row in large)
        old = statistics.geometric_mean(row.old / row.bound for row in large)
        chain_of = statistics.geometric_mean(row.chain / row.bound for row in large)
        verdict = goals.verdict(f"{mode}: geometric mean", mean, GOAL)
        print(
            f"{mode}: geometric mean of {len(large)} networks {mean:.2f} (old {old:.2f})  goal {GOAL}  {verdict}\n"
            f"{mode}: launches of one product each take {chain_of:.2f} times the bound, the networks "
            f"{mean / chain_of:.2f} times that"
        )
    return goals.close()


if __name__ == "__main__":
    sys.exit(main())
