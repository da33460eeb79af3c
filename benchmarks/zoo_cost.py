"""What a network costs, for every description of the zoo: seconds and peak memory of a conversion, one inference beside
onnxruntime's. Part of zoo.py (`--cost`); the goals of all networks are here.
"""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

from regression import zoo
from regression.measure import asked, command, medians, onnxruntime_call, onnxruntime_session

# Times onnxruntime's on one thread, of networks that take it more than BRIEF seconds, and of the others.
SPEED, SPEED_OF_BRIEF, BRIEF = 3.0, 6.0, 5e-3
SECONDS = ((30e6, 1.2), (120e6, 2.5), (600e6, 8.0))  # of a conversion: bytes of the model below which it is the goal
PER_NODE = 1.2  # times that of the same structure with fewer layers
LAYERS = (2, 48)  # of the decoder whose time per node is compared
LARGE_GIB, LARGE_MEMORY_GIB = 4, 6
OVER_ONNXRUNTIME = "the same / onnxruntime on one thread"
CONVERSION = "model_transform + model_deploy, s"
MEMORY = "peak memory of a conversion, MB"


def conversion_goal(model_bytes: int) -> float | None:
    return next((seconds for most, seconds in SECONDS if model_bytes < most), None)


def memory_goal(weight_bytes: int) -> float:
    """MiB."""
    return 2 * weight_bytes / 2**20 + 250


def weight_bytes(path: Path) -> int:
    """Of the floating-point initializers and constants of an ONNX file, those of branches and bodies included."""

    def graphs(graph):
        yield graph
        for attribute in (a for node in graph.node for a in node.attribute):
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs(attribute.g)

    found = 0
    for graph in graphs(onnx.load(str(path)).graph):
        constants = [a.t for n in graph.node if n.op_type == "Constant" for a in n.attribute if a.name == "value"]
        arrays = (numpy_helper.to_array(t) for t in [*graph.initializer, *constants])
        found += sum(a.nbytes for a in arrays if a.dtype.kind == "f")
    return found


def inference_row(table, name: str, mode: str, ours: float, theirs: float) -> None:
    """Seconds of one inference inside a loaded process, beside onnxruntime's."""
    table.add(name, mode, f"one inference, ms (onnxruntime {1e3 * theirs:.1f})", 1e3 * ours, None, ".1f")
    goal = None if mode == "BF16" else SPEED if theirs > BRIEF else SPEED_OF_BRIEF
    table.add(name, mode, OVER_ONNXRUNTIME, ours / theirs, goal, ".1f")


def convert(onnx_file: Path, options: list[str], mode: str, file: Path, repeat: int) -> tuple[float, float]:
    """Median seconds and greatest peak memory in MiB of both commands, process starts included."""
    times, peak, mlir = [], 0.0, file.with_suffix(".mlir")
    for _ in range(repeat):
        seconds = 0.0
        for tool, arguments in (
            ("model_transform", ["--model_name", file.stem, "--model_def", onnx_file, *options, "--mlir", mlir]),
            ("model_deploy", ["--mlir", mlir, "--quantize", mode, "--model", file]),
        ):
            run = command(tool, *arguments)
            if run.problem:
                raise UserError(f"{tool}: {run.problem.splitlines()[0]}")
            seconds, peak = seconds + run.seconds, max(peak, run.peak_mb)
        times.append(seconds)
    return statistics.median(times), peak


def network(table, args, name: str, mode: str, work: Path) -> None:
    model = zoo.read(args.descriptions / f"{name}.toml")
    onnx_file, file = args.cache / "zoo" / model.file, work / f"{name}.pmodel"
    seconds, peak = convert(onnx_file, model.transform_options, mode, file, args.repeat)
    table.add(name, mode, CONVERSION, seconds, conversion_goal(onnx_file.stat().st_size), ".2f")
    table.add(name, mode, MEMORY, peak, memory_goal(weight_bytes(onnx_file)), ".0f")
    ours, theirs = InferenceSession(str(file), threads=2), onnxruntime_session(onnx_file)
    feed = zoo.feed(model, args.cache)
    mine = asked(ours, feed)
    times = medians([lambda: ours.run(None, mine), lambda: onnxruntime_call(theirs, feed)])
    inference_row(table, name, mode, *times)


def decoder(layers: int, path: Path, width: int = 256, heads: int = 4, tokens: int = 64) -> int:
    """A decoder of GPT-2's structure with seeded weights; the number of its nodes."""
    rng = np.random.default_rng(2026)
    nodes, weights = [], []

    def weight(*shape: int) -> str:
        weights.append(numpy_helper.from_array(rng.normal(0, 0.02, shape).astype(np.float32), f"w{len(weights)}"))
        return weights[-1].name

    def constant(value, kind=np.float32) -> str:
        weights.append(numpy_helper.from_array(np.array(value, kind), f"w{len(weights)}"))
        return weights[-1].name

    def op(kind: str, *inputs: str, count: int = 1, **attributes) -> str | list[str]:
        outputs = [f"t{len(nodes)}_{i}" for i in range(count)]
        nodes.append(helper.make_node(kind, inputs, outputs, name=f"n{len(nodes)}", **attributes))
        return outputs if count > 1 else outputs[0]

    def linear(x: str, columns_in: int, columns_out: int) -> str:
        return op("Add", op("MatMul", x, weight(columns_in, columns_out)), weight(columns_out))

    def norm(x: str) -> str:
        return op("LayerNormalization", x, weight(width), weight(width))

    split = constant([1, tokens, heads, width // heads], np.int64)
    joined = constant([1, tokens, width], np.int64)
    mask = constant(np.triu(np.full((tokens, tokens), -3e4), 1))
    x = "x"
    for _ in range(layers):
        parts = op("Split", linear(norm(x), width, 3 * width), count=3, axis=-1, num_outputs=3)
        q, k, v = (op("Transpose", op("Reshape", p, split), perm=[0, 2, 1, 3]) for p in parts)
        scores = op("Mul", op("MatMul", q, op("Transpose", k, perm=[0, 1, 3, 2])), constant((width / heads) ** -0.5))
        rows = op("MatMul", op("Softmax", op("Add", scores, mask)), v)
        rows = op("Reshape", op("Transpose", rows, perm=[0, 2, 1, 3]), joined)
        x = op("Add", x, linear(rows, width, width))
        hidden = op("Gelu", linear(norm(x), width, 4 * width), approximate="tanh")
        x = op("Add", x, linear(hidden, 4 * width, width))
    nodes.append(helper.make_node("Identity", [x], ["y"]))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, tokens, width]) for name in "xy"]
    graph = helper.make_graph(nodes, "decoder", infos[:1], infos[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))
    return len(nodes)


def depth(table, args, work: Path) -> None:
    """Seconds per node of a decoder of few and of many layers."""
    few = None
    for layers in LAYERS:
        path = work / f"decoder_{layers}.onnx"
        nodes = decoder(layers, path)
        seconds, _ = convert(path, [], "F32", path.with_suffix(".pmodel"), args.repeat)
        goal = PER_NODE * few if few else None
        few = 1e3 * seconds / nodes
        table.add(f"decoder_{layers}", "F32", f"conversion per node, ms ({nodes} nodes)", few, goal, ".2f")


def large(table, work: Path, gib: int = LARGE_GIB) -> None:
    """A model of products whose weights, in external data, have so many GiB."""
    side = 4096
    count = gib * 2**30 // (side * side * 4)
    block = np.random.default_rng(0).normal(0, side**-0.5, (side, side)).astype(np.float32)
    weights, nodes = [], []
    with open(work / "large.bin", "wb") as file:
        for i in range(count):
            block[0, 0] = i  # no two alike
            weight = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[side, side])
            weight.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "large.bin"), ("offset", i * block.nbytes), ("length", block.nbytes)):
                weight.external_data.add(key=key, value=str(value))
            block.tofile(file)
            weights.append(weight)
            nodes.append(helper.make_node("MatMul", [f"t{i}" if i else "x", f"w{i}"], [f"t{i + 1}"]))
    nodes.append(helper.make_node("Identity", [f"t{count}"], ["y"]))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, side]) for name in "xy"]
    graph = helper.make_graph(nodes, "large", infos[:1], infos[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (work / "large.onnx").write_bytes(model.SerializeToString())
    seconds, peak = convert(work / "large.onnx", [], "F32", work / "large.pmodel", 1)
    table.add(f"{gib} GiB", "F32", CONVERSION, seconds, None, ".1f")
    table.add(f"{gib} GiB", "F32", MEMORY, peak, LARGE_MEMORY_GIB * 1024, ".0f")
    for file in work.glob("large*"):
        file.unlink()


def run(table, args, names: list[str], work: Path) -> int:
    """Every network that is in the cache, time per node, and a large model; 1 when one cannot be converted."""
    work.mkdir(parents=True, exist_ok=True)
    code = 0
    for name in names:
        for mode in (m for m in args.modes.split(",") if m in zoo.read(args.descriptions / f"{name}.toml").modes):
            try:
                network(table, args, name, mode, work)
            except UserError as problem:
                print(f"{name:<24} {mode:<5} {str(problem).splitlines()[0][:110]}")
                code = 1
    depth(table, args, work)
    large(table, work)
    return code
