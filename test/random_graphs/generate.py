"""Draws a graph: operators of the importer's registry in turn, each node evaluated before it is kept."""

from __future__ import annotations

import functools

import numpy as np
import onnx
from pto_mlir import compiler

from . import recipes_any, recipes_choose, recipes_math, recipes_shape
from .draw import Draw
from .exact import Unusable
from .model import Graph

OPSETS = range(18, 27)  # what recipes are written for, up to the newest that onnxruntime runs
RECIPES = recipes_any.RECIPES | recipes_shape.RECIPES | recipes_choose.RECIPES | recipes_math.RECIPES
# Operators that are not drawn, each with its reason.
LEFT_OUT = {
    "DFT": "sums over waves: no exact bound; test_signal_ops.py",
    "STFT": "as DFT",
    "If": "bodies: test_control_flow.py",
    "Loop": "bodies: test_control_flow.py",
    "Scan": "bodies: test_control_flow.py",
    "DeformConv": "no recipe yet: test_pixel_ops.py",
    "Det": "no recipe yet: square matrices",
    "MaxRoiPool": "no recipe yet: test_pixel_ops.py",
    "MaxUnpool": "no recipe yet: needs the places of a MaxPool",
    "MelWeightMatrix": "no recipe yet: constants only",
    "RoiAlign": "no recipe yet: boxes within an image",
    "TfIdfVectorizer": "no recipe yet: attributes of matching lengths",
    "NonMaxSuppression": "compares overlaps of boxes: test_select_ops.py",
    "QLinearConv": "rounds at halves of a product: test_quantised.py",
    "QLinearMatMul": "as QLinearConv",
    **dict.fromkeys(
        ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        "random numbers: test_random_numbers.py",
    ),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"), "strings: test_strings.py"),
    "Scatter": "until opset 10",
    "Upsample": "until opset 9",
}


# A fifth of the graphs consist of these: parts of tensors, parts of parts and what reads them meet seldom otherwise.
MOVING = {
    *("Concat", "Slice", "Split", "Pad", "Transpose", "Reshape", "Expand", "Gather", "Tile"),
    *("Add", "Mul", "Relu", "MatMul", "Gemm", "Conv", "Softmax", "LayerNormalization", "ReduceMean"),
}


@functools.cache
def operators(opset: int) -> list[str]:
    """The registry's operators of ONNX's default domain that an opset has, but for LEFT_OUT."""
    found = {name for name, first, last in compiler.supported_ops() if first <= opset <= last and "." not in name}
    return sorted(name for name in found - LEFT_OUT.keys() if onnx.defs.has(name, opset, ""))


def all_operators() -> set[str]:
    """Those that some opset has: onnxruntime has operators of the default domain that ONNX lacks."""
    named = {name for name, _, _ in compiler.supported_ops() if "." not in name and onnx.defs.has(name)}
    return named - LEFT_OUT.keys()


def put(draw: Draw, op: str) -> bool:
    """Adds one node of an operator, if a few attempts find one."""
    recipe = RECIPES.get(op)
    for _ in range(4):
        kept = dict(draw.graph.inputs), dict(draw.graph.weights), dict(draw.values), list(draw.graph.nodes)
        try:
            recipe(draw) if recipe else recipes_any.by_schema(draw, op)
            return True
        except Unusable as why:
            draw.refused[op] = str(why)
            draw.graph.inputs, draw.graph.weights, draw.values, draw.graph.nodes = kept
    return False


def generate(seed: int) -> Graph:
    """The graph of a seed, always the same."""
    rng = np.random.default_rng([17, seed])
    draw = Draw(rng, int(rng.choice(OPSETS)), rng.random() < 0.08)
    names = operators(draw.graph.opset)
    if draw.chance(0.2):
        names = [name for name in names if name in MOVING]
    size = int(rng.integers(5, 13)) if rng.random() < 0.75 else int(rng.integers(13, 41))
    while len(draw.graph.nodes) < size:
        put(draw, draw.one(names))
    return finish(draw)


def one_of(op: str) -> Graph:
    """A small graph with a node of that operator."""
    opset = next(o for o in OPSETS[::-1] if op in operators(o))
    draw = Draw(np.random.default_rng(3), opset, False)
    if not any(put(draw, op) for _ in range(20)):
        raise Unusable(f"{op}: {draw.refused.get(op)}")
    return finish(draw)


def finish(draw: Draw) -> Graph:
    """Chooses outputs: most of what nothing reads, some of the rest; drops inputs that nothing reads."""
    graph = draw.graph
    made = [name for node in graph.nodes for name in node.output if name]
    read = {name for node in graph.nodes for name in node.input}
    for name in made:
        if draw.chance(0.85 if name not in read else 0.12):
            graph.outputs.append(name)
    graph.outputs = graph.outputs or made[-1:]
    prune(graph)
    return graph


def prune(graph: Graph) -> None:
    """Drops inputs and weights that nothing reads; dead nodes stay."""
    used = graph.used()
    graph.inputs = {name: value for name, value in graph.inputs.items() if name in used}
    graph.weights = {name: value for name, value in graph.weights.items() if name in used}
