"""onnxruntime's numbers, and the comparison of two arrays."""

from __future__ import annotations

import numpy as np
import onnxruntime

from .model import Graph

SAFETY = 4.0  # how many errors a value may be off


def onnxruntime_outputs(graph: Graph) -> dict[str, np.ndarray] | str:
    """onnxruntime's outputs, unoptimised; or why there are none."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    if any(array.dtype.isbuiltin != 1 for array in graph.inputs.values()):
        return "inputs of types that numpy lacks"
    if any(array.size == 0 for array in graph.given().values()):
        return "empty tensors, on some of which onnxruntime ends the process"
    try:
        session = onnxruntime.InferenceSession(graph.model().SerializeToString(), options, ["CPUExecutionProvider"])
        return dict(zip(graph.outputs, session.run(None, graph.inputs), strict=True))
    except Exception as error:
        return str(error)


def differs(got: np.ndarray, want: np.ndarray, error: np.ndarray | float) -> str:
    """How `got` is not `want` within SAFETY errors; empty where it is."""
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, not {list(want.shape)}"
    if want.dtype != np.float64:
        bad = got.astype(want.dtype) != want
        return f"{int(bad.sum())} of {bad.size} differ, first {got[bad][0]}, not {want[bad][0]}" if np.any(bad) else ""
    away = np.abs(got.astype(np.float64) - want)
    limit = np.broadcast_to(np.asarray(SAFETY * error), away.shape)
    bad = ~(away <= limit)
    if not np.any(bad):
        return ""
    at = np.unravel_index(int(np.argmax(np.where(bad, away - limit, -1))), away.shape)
    where = list(map(int, at))
    return f"{int(bad.sum())} of {bad.size} differ, at {where} {got[at]:.7g}, not {want[at]:.7g} +- {limit[at]:.2g}"
