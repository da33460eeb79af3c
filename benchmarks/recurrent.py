"""Recurrent layers beside onnxruntime on one thread: two bidirectional layers of 50 steps.

    PYTHONPATH=build/python .venv/bin/python benchmarks/recurrent.py [--op LSTM] [--hidden 64,128,256] [--quantize F32]

The simulator runs on all threads, in turns with onnxruntime in the same process; commands are timed as processes.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from goals import Goals
from pto_mlir import cli
from pto_mlir.runtime import InferenceSession

from regression import measure

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
GOAL = 4.0  # times onnxruntime's time


def make(path: str, op: str, steps: int, batch: int, hidden: int, layers: int = 2) -> None:
    """Bidirectional layers on `hidden` features, seeded weights."""
    rng, bound = np.random.default_rng(0), 1 / np.sqrt(hidden)
    nodes, weights, current = [], [], "x"
    for layer in range(layers):
        features, gates = hidden * (1 if layer == 0 else 2), GATES[op] * hidden
        for name, shape in (("w", (2, gates, features)), ("r", (2, gates, hidden)), ("b", (2, 2 * gates))):
            array = rng.uniform(-bound, bound, shape).astype(np.float32)
            weights.append(numpy_helper.from_array(array, f"{name}{layer}"))
        names = [current, *(f"{name}{layer}" for name in "wrb")]
        nodes.append(helper.make_node(op, names, [f"y{layer}"], hidden_size=hidden, direction="bidirectional"))
        nodes.append(helper.make_node("Transpose", [f"y{layer}"], [f"t{layer}"], perm=[0, 2, 1, 3]))
        nodes.append(helper.make_node("Reshape", [f"t{layer}", "shape"], [current := f"o{layer}"]))
    sizes = [steps, batch, 2 * hidden]
    weights.append(numpy_helper.from_array(np.array(sizes), "shape"))
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, hidden])]
    outputs = [helper.make_tensor_value_info(current, TensorProto.FLOAT, sizes)]
    graph = helper.make_graph(nodes, "g", infos, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def row(goals: Goals, args, hidden: int, folder: str) -> str:
    model, mlir, file = (f"{folder}/m.{ending}" for ending in ("onnx", "mlir", "pmodel"))
    make(model, args.op, args.steps, args.batch, hidden)
    cores = ("--processor", args.processor, "--num_core", str(args.num_core))
    runs = [
        measure.command("model_transform", "--model_name", "m", "--model_def", model, "--mlir", mlir),
        measure.command("model_deploy", "--mlir", mlir, "--quantize", args.quantize, *cores, "--model", file),
    ]
    for run in runs:
        if run.problem:
            sys.exit(run.problem)
    reference, ours = measure.onnxruntime_session(model), InferenceSession(file)
    x = np.random.default_rng(1).standard_normal((args.steps, args.batch, hidden)).astype(np.float32)
    (expected,), (got,) = reference.run(None, {"x": x}), ours.run(None, {"x": x})
    theirs, mine = measure.medians([lambda: reference.run(None, {"x": x}), lambda: ours.run(None, {"x": x})])
    verdict = goals.verdict(f"{args.op} {hidden} {args.quantize}: x onnxruntime", mine / theirs, GOAL)
    return (
        f"{hidden:>6} {sum(run.seconds for run in runs):>10.2f} {Path(file).stat().st_size:>11,} {theirs * 1e3:>10.2f} "
        f"{mine * 1e3:>10.2f} {mine / theirs:>6.1f} {np.abs(got - expected).max():>10.1e}  {verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--op", default="LSTM", choices=GATES)
    parser.add_argument("--hidden", default="64,128,256", help="hidden sizes (%(default)s)")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--quantize", default="F32")
    parser.add_argument("--processor", default="a3")
    parser.add_argument("--num_core", type=int, default=24)
    args = parser.parse_args()
    goals = Goals("recurrent")
    print(
        f"{'hidden':>6} {'convert s':>10} {'file bytes':>11} {'ort ms':>10} {'cmodel ms':>10} {'x':>6} "
        f"{'max error':>10}"
    )
    for hidden in args.hidden.split(","):
        with tempfile.TemporaryDirectory() as folder:
            print(row(goals, args, int(hidden), folder), flush=True)
    return goals.close()


if __name__ == "__main__":
    sys.exit(cli.run("recurrent", lambda _: main()))
