"""Compiles a graph, runs it on the simulator, and compares with onnxruntime and float64."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, RuntimeFailure

from .exact import Value, trace
from .model import Graph, numpy_type
from .references import differs, onnxruntime_outputs

BAD = ("wrong", "crashed", "timed out", "refused")


class Target(NamedTuple):
    processor: str
    blocks: int
    mode: str
    simulator: str = "functional"  # or "checked": races and reads of what nobody wrote fail the run


TARGETS = [Target(p, b, m) for m in ("F32", "F16") for p in ("a3", "a5") for b in (1, 24)]


class Outcome(NamedTuple):
    """status: right, wrong, refused (an error for people), crashed, timed out, or `unsure`: the two references
    differ and we agree with neither, or the graph cannot be traced in this mode."""

    status: str
    reason: str = ""
    target: Target | None = None


def run(graph: Graph, target: Target) -> dict[str, np.ndarray]:
    """Our outputs by name, in numpy's or ml_dtypes' types. UserError where the compiler refuses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.onnx"
        onnx.save(graph.model(), path)
        top, binary = str(path.with_suffix(".mlir")), str(path.with_suffix(".pmodel"))
        compiler.transform(str(path), "m", None, [], top, "")
        compiler.deploy(top, binary, target.mode, target.processor, target.blocks, False)
        session = InferenceSession(binary, threads=1, mode=target.simulator)
        names = [output.name for output in session.get_outputs()]
        results = session.run(None, {i.name: graph.inputs[i.name] for i in session.get_inputs()})
    return {name: _typed(value, graph.kinds[name]) for name, value in zip(names, results, strict=True)}


def _typed(array: np.ndarray, kind: int) -> np.ndarray:
    """Of types that numpy lacks, sessions return the bits of floats, and integers of a byte."""
    dtype = numpy_type(kind)
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)


def compare(graph: Graph, got: dict, exact: dict[str, Value], theirs: dict | str) -> tuple[str, str]:
    """Status and reason."""
    unsure = ""
    ops = {name: node.op_type for node in graph.nodes for name in node.output}
    for name in graph.outputs:
        if name not in got:
            return "wrong", f"{name}: no such output"
        value = exact[name]
        if not (reason := differs(got[name], value.array, value.error)):
            continue
        if isinstance(theirs, dict):
            if not differs(got[name], theirs[name].astype(value.array.dtype), value.error):
                continue
            if other := differs(theirs[name], value.array, value.error):
                unsure = f"{name} ({ops[name]}): {reason}; onnxruntime: {other}"
                continue
        beside = "" if isinstance(theirs, dict) else f" (without onnxruntime: {theirs.splitlines()[0][:80]})"
        return "wrong", f"{name} ({ops[name]}): {reason}{beside}"
    return ("unsure", unsure) if unsure else ("right", "")


def check(graph: Graph, targets: Sequence[Target]) -> Outcome:
    """The first bad outcome on the targets, or right."""
    theirs = onnxruntime_outputs(graph)
    traces: dict[str, dict[str, Value]] = {}
    unsure = None
    for target in targets:
        try:
            got = run(graph, target)
        except UserError as error:
            if isinstance(error, RuntimeFailure) and target.simulator == "checked":  # what ran is at fault
                return Outcome("wrong", cause(str(error)), target)
            return Outcome("refused", cause(str(error)), target)
        if target.mode not in traces:
            try:
                traces[target.mode] = trace(graph, target.mode)
            except Exception as error:
                return Outcome("unsure", f"no trace: {error}", target)
        status, reason = compare(graph, got, traces[target.mode], theirs)
        if status == "wrong":
            return Outcome(status, reason, target)
        if status == "unsure":
            unsure = unsure or Outcome(status, reason, target)
    return unsure or Outcome("right")


def cause(text: str) -> str:
    """A refusal without the folder of its file."""
    return " | ".join(re.sub(r"/\S*/m\.(onnx|mlir|pmodel)", r"m.\1", text).splitlines())[:500]


def kind(reason: str) -> str:
    """A refusal without names and numbers."""
    text = re.sub(r"m\.(onnx|mlir): ", "", reason)
    text = re.sub(r"'[^']*'", "'..'", text)
    return re.sub(r"-?\d+(\.\d+)?", "N", text)[:200]
