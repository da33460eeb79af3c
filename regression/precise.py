"""The reference of the reference: a model's outputs in float64, by torch or by onnx's reference evaluator."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from pto_mlir import npz
from pto_mlir.errors import UserError

from . import zoo


def float64_outputs(model, path: Path, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs by name. With torch the network is rebuilt by its maker, else the graph is evaluated."""
    return _by_torch(model, feed) if model.float64 == "torch" else evaluate(path, feed)


def distance(values: dict[str, np.ndarray], exact: dict[str, np.ndarray]) -> dict[str, float]:
    """Greatest absolute difference per output."""
    return {name: float(np.abs(values[name] - exact[name]).max()) for name in values}


def _by_torch(model, feed) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = f"{folder}/in.npz", f"{folder}/out.npz"
        npz.save(source, feed)
        command = [
            zoo.DEBIAN_PYTHON,
            str(zoo.FOLDER / "makers" / model.maker[0]),
            "float64",
            model.maker[2],
            source,
            target,
        ]
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode == zoo.MISSING_PACKAGE:
            raise zoo.Unavailable(done.stderr.strip())
        if done.returncode != 0:
            raise UserError(f"{model.name}: float64: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
        return npz.load(target)


def evaluate(path: Path, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All float32 constants, casts and inputs become float64, then onnx's evaluator runs the graph."""
    model = onnx.load(str(path))
    _widen_graph(model.graph)
    for info in [*model.graph.input, *model.graph.output]:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    wide = {name: value.astype(np.float64) if value.dtype == np.float32 else value for name, value in feed.items()}
    # The evaluator's own take minutes on an image, and its batch norm of opset 9 normalises by the batch; the formulas
    # here are those of ONNX's operator documents.
    evaluator = ReferenceEvaluator(
        model, new_ops=[BatchNormalization, Conv, ConvTranspose, MaxPool, AveragePool, Resize]
    )
    names = [o.name for o in model.graph.output]
    inputs = {i.name for i in model.graph.input}
    return dict(zip(names, evaluator.run(names, {n: v for n, v in wide.items() if n in inputs})))


def _widen_graph(graph: onnx.GraphProto) -> None:
    """Its constants and casts, and those of the bodies of If and Loop."""
    for tensor in graph.initializer:
        _widen(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                _widen(attribute.t)
            elif attribute.type == onnx.AttributeProto.GRAPH:
                _widen_graph(attribute.g)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    del graph.value_info[:]


def _widen(tensor: TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def _pads(pads, auto_pad, size, kernel, strides, dilations) -> list[tuple[int, int]]:
    """Begin and end padding of both image dimensions."""
    if auto_pad in (None, "NOTSET", ""):
        return [(pads[i], pads[i + 2]) for i in (0, 1)] if pads else [(0, 0), (0, 0)]
    if auto_pad == "VALID":
        return [(0, 0), (0, 0)]
    result = []
    for n, k, s, d in zip(size, kernel, strides, dilations):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        result.append(
            (total // 2, total - total // 2) if auto_pad == "SAME_UPPER" else (total - total // 2, total // 2)
        )
    return result


def _windows(x, kernel, strides, dilations, pads, fill):
    """[n, c, oh, ow, kh, kw]: a view of what each output sees."""
    x = np.pad(x, [(0, 0), (0, 0), *pads], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=(2, 3))
    return view[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def _convolve(x, w, group, strides, dilations, pads):
    n, c = x.shape[:2]
    view = _windows(x, w.shape[2:], strides, dilations, pads, 0)
    oh, ow = view.shape[2:4]
    columns = view.reshape(n, group, c // group, oh, ow, *w.shape[2:])
    filters = w.reshape(group, w.shape[0] // group, -1)
    out = np.empty((n, group, filters.shape[1], oh * ow))
    for i in range(n):
        for g in range(group):
            out[i, g] = filters[g] @ columns[i, g].transpose(0, 3, 4, 1, 2).reshape(-1, oh * ow)
    return out.reshape(n, w.shape[0], oh, ow)


class BatchNormalization(OpRun):
    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=None, momentum=None, training_mode=None, spatial=None):
        shape = (-1, *[1] * (x.ndim - 2))
        factor = scale / np.sqrt(variance + (1e-5 if epsilon is None else epsilon))
        return ((x - mean.reshape(shape)) * factor.reshape(shape) + bias.reshape(shape),)


class Conv(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
        strides, dilations = strides or [1, 1], dilations or [1, 1]
        pads = _pads(pads, auto_pad, x.shape[2:], w.shape[2:], strides, dilations)
        y = _convolve(x, w, group or 1, strides, dilations, pads)
        return (y if b is None else y + b[:, None, None],)


class ConvTranspose(OpRun):
    op_domain = ""

    def _run(
        self,
        x,
        w,
        b=None,
        auto_pad=None,
        dilations=None,
        group=None,
        kernel_shape=None,
        output_padding=None,
        output_shape=None,
        pads=None,
        strides=None,
    ):
        if (
            (group or 1) != 1
            or output_shape
            or auto_pad not in (None, "NOTSET")
            or any(d != 1 for d in dilations or [])
        ):
            raise UserError("float64: ConvTranspose with groups, dilations, output_shape or auto_pad")
        strides, pads, more = strides or [1, 1], pads or [0] * 4, output_padding or [0, 0]
        spread = np.zeros((*x.shape[:2], *((d - 1) * s + 1 for d, s in zip(x.shape[2:], strides))))
        spread[:, :, :: strides[0], :: strides[1]] = x
        edges = [(k - 1 - pads[i], k - 1 - pads[i + 2] + more[i]) for i, k in enumerate(w.shape[2:])]
        y = _convolve(spread, w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1], 1, [1, 1], [1, 1], edges)
        return (y if b is None else y + b[:, None, None],)


def _pool_pads(x, auto_pad, ceil_mode, kernel, pads, strides, dilations):
    edges = _pads(pads, auto_pad, x.shape[2:], kernel, strides, dilations)
    if not ceil_mode:
        return edges
    grown = []
    for (begin, end), n, k, s in zip(edges, x.shape[2:], kernel, strides):
        outputs = -(-(n + begin + end - k) // s) + 1
        outputs -= (outputs - 1) * s >= n + begin  # a window must begin inside the image or its left padding
        grown.append((begin, max(end, (outputs - 1) * s + k - n - begin)))
    return grown


class MaxPool(OpRun):
    op_domain = ""

    def _run(
        self,
        x,
        auto_pad=None,
        ceil_mode=None,
        dilations=None,
        kernel_shape=None,
        pads=None,
        storage_order=None,
        strides=None,
    ):
        strides, dilations = strides or [1, 1], dilations or [1, 1]
        edges = _pool_pads(x, auto_pad, ceil_mode, kernel_shape, pads, strides, dilations)
        return (_windows(x, kernel_shape, strides, dilations, edges, -np.inf).max(axis=(4, 5)),)


class AveragePool(OpRun):
    op_domain = ""

    def _run(
        self,
        x,
        auto_pad=None,
        ceil_mode=None,
        count_include_pad=None,
        kernel_shape=None,
        pads=None,
        strides=None,
        dilations=None,
    ):
        strides, dilations = strides or [1, 1], dilations or [1, 1]
        edges = _pool_pads(x, auto_pad, ceil_mode, kernel_shape, pads, strides, dilations)
        total = _windows(x, kernel_shape, strides, dilations, edges, 0).sum(axis=(4, 5))
        count = _windows(
            np.ones_like(x[:1, :1]), kernel_shape, strides, dilations, edges, 1 if count_include_pad else 0
        )
        return (total / count.sum(axis=(4, 5)),)


class Resize(OpRun):
    op_domain = ""

    def _run(
        self,
        x,
        roi=None,
        scales=None,
        sizes=None,
        mode=None,
        coordinate_transformation_mode=None,
        nearest_mode=None,
        **_,
    ):
        whole = scales is not None and len(scales) == x.ndim and all(s == int(s) for s in scales)
        if mode not in (None, "nearest", b"nearest") or not whole:
            raise UserError("float64: Resize is known for mode nearest with whole scales only")
        for axis, scale in enumerate(scales):
            position = np.arange(int(x.shape[axis] * scale))
            if coordinate_transformation_mode in ("asymmetric", b"asymmetric") and nearest_mode in ("floor", b"floor"):
                x = np.take(x, position // int(scale), axis)
            elif coordinate_transformation_mode in (None, "half_pixel", b"half_pixel"):
                # (i + 1/2) / scale - 1/2 lies within half a pixel of i / scale, rounded down.
                x = np.take(x, position // int(scale), axis)
            else:
                raise UserError(f"float64: Resize with {coordinate_transformation_mode}, {nearest_mode}")
        return (x,)
