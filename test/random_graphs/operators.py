"""Operators in float64 that onnx's reference evaluator lacks, or computes wrongly or in float32."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import onnx
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_conv_transpose, op_resize

from .model import attribute


class AffineGrid(OpRun):
    """The reference's grid is of float32."""

    op_domain = ""

    def _run(self, theta, size, align_corners=None):
        image = [int(extent) for extent in size[2:]]
        ends = [1 if align_corners else 1 - 1 / extent for extent in image]
        axes = [np.linspace(-end, end, extent) for end, extent in zip(ends, image, strict=True)]
        pixels = [*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(image)]
        return (np.einsum("nij,j...->n...i", theta, np.stack(pixels)),)


class GlobalLpPool(OpRun):
    """The reference has none."""

    op_domain = ""

    def _run(self, x, p=None):
        axes = tuple(range(2, x.ndim))
        return (np.sum(np.abs(x) ** (p or 2), axis=axes, keepdims=True) ** (1 / (p or 2)),)


class LRN(OpRun):
    """The reference's normalises as many channels as there are images."""

    op_domain = ""

    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        before, channels = (size - 1) // 2, x.shape[1]
        sums = np.stack([np.sum(x[:, max(c - before, 0) : c - before + size] ** 2, axis=1) for c in range(channels)], 1)
        return (x / (bias + alpha / size * sums) ** beta,)


class GroupNormalization(OpRun):
    """The reference's body computes the statistics in the type of `stash_type`, float32 by default, and the variance
    as a difference of means."""

    op_domain = ""

    def _run(self, x, scale, bias, epsilon=None, num_groups=None, stash_type=None):
        groups = x.reshape(x.shape[0], num_groups, -1)
        variance = np.var(groups, axis=2, keepdims=True)
        normal = ((groups - np.mean(groups, axis=2, keepdims=True)) / np.sqrt(variance + epsilon)).reshape(x.shape)
        # Before opset 21 scale and bias have an element for each group.
        scale, bias = (np.repeat(p, x.shape[1] // p.size).reshape(-1, *[1] * (x.ndim - 2)) for p in (scale, bias))
        return (normal * scale + bias,)


class MeanVarianceNormalization(OpRun):
    """The reference's body computes in float32."""

    op_domain = ""

    def _run(self, x, axes=None):
        axes = tuple(axes if axes is not None else (0, 2, 3))
        centred = x - np.mean(x, axis=axes, keepdims=True)
        return (centred / (np.sqrt(np.mean(centred**2, axis=axes, keepdims=True)) + 1e-9),)


class ReduceMean(OpRun):
    """The reference's sums of integers wrap in their type; onnxruntime's do not."""

    op_domain = ""

    def _run(self, x, axes=None, keepdims=1, noop_with_empty_axes=0):
        if axes is None or np.size(axes) == 0:
            if noop_with_empty_axes:
                return (x,)
            axes = range(x.ndim)
        axes = tuple(int(axis) for axis in axes)
        if x.dtype.kind == "f":
            return (np.mean(x, axis=axes, keepdims=bool(keepdims), dtype=x.dtype),)
        sums = np.sum(x, axis=axes, keepdims=bool(keepdims), dtype=np.uint64 if x.dtype.kind == "u" else np.int64)
        count = math.prod(x.shape[axis] for axis in axes)
        means = np.asarray(np.sign(sums) * (np.abs(sums) // max(count, 1)))  # toward zero
        return (means.astype(x.dtype),)


class Erf(OpRun):
    """The reference's rounds to float32."""

    op_domain = ""

    def _run(self, x):
        return (_erf(x).astype(x.dtype),)


class Gelu(OpRun):
    """The reference's body calls its own Erf, and loses what 1 takes from it."""

    op_domain = ""

    def _run(self, x, approximate=None):
        if approximate == "tanh":
            return (x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),)
        return (x * _erfc(-x / np.sqrt(2)).astype(x.dtype) / 2,)


class Gemm(OpRun):
    """The reference's multiplies integers by float factors."""

    op_domain = ""

    def _run(self, a, b, c=None, alpha=None, beta=None, transA=None, transB=None):
        whole = np.issubdtype(a.dtype, np.integer) and alpha == int(alpha) and beta == int(beta)
        of = lambda factor: np.asarray(int(factor) if whole else factor).astype(a.dtype)
        product = np.matmul(a.T if transA else a, b.T if transB else b) * of(alpha)
        return ((product if c is None or beta == 0 else product + c * of(beta)).astype(a.dtype),)


class ConvTranspose(op_conv_transpose.ConvTranspose):
    """The reference's knows groups of one output channel only, and gives each the bias of the first."""

    op_domain = ""

    def _run(self, x, w, b=None, group=None, **more):
        if group in (None, 1):
            return super()._run(x, w, b, group=1, **more)
        biases = [None] * group if b is None else np.split(b, group)
        parts = zip(np.split(x, group, 1), np.split(w, group, 0), biases, strict=True)
        return (np.concatenate([super(ConvTranspose, self)._run(*part, group=1, **more)[0] for part in parts], 1),)


class Resize(op_resize.Resize):
    """The reference's makes the weights of cubic ones in the type of the attribute, float32, and takes the nearest
    integer through float64, which lacks those of 64 bits."""

    op_domain = ""

    def _run(self, x, *inputs, cubic_coeff_a=None, mode=None, coordinate_transformation_mode=None, **more):
        more |= {"mode": mode, "coordinate_transformation_mode": coordinate_transformation_mode}
        run = partial(super()._run, cubic_coeff_a=float(cubic_coeff_a), **more)
        if x.dtype.kind not in "iu" or mode != "nearest" or coordinate_transformation_mode == "tf_crop_and_resize":
            return run(x, *inputs)
        (places,) = run(np.arange(x.size, dtype=np.float64).reshape(x.shape), *inputs)
        return (x.ravel()[places.astype(np.int64)],)


_erf, _erfc = (np.vectorize(f, otypes=[np.float64]) for f in (math.erf, math.erfc))
NEW_OPS = [
    AffineGrid,
    ConvTranspose,
    Erf,
    Gelu,
    Gemm,
    GlobalLpPool,
    GroupNormalization,
    LRN,
    MeanVarianceNormalization,
    ReduceMean,
    Resize,
]


def rounded_inside(node: onnx.NodeProto, inputs: list[np.ndarray], opset: int, unit: float) -> np.ndarray | float:
    """What outputs are off by because something that no operand shows is rounded: the mean that a normalisation takes
    away, of the values' size and not of the differences'; the coordinates of a Resize, f32 as onnxruntime's."""
    if node.op_type in ("MeanVarianceNormalization", *_CENTRED):
        return 2 * unit * _centring(node, inputs, opset)
    if node.op_type == "Resize" and attribute(node, "mode") in (b"linear", b"cubic"):
        steps = [np.max(np.abs(np.diff(inputs[0], axis=i)), initial=0) * n for i, n in enumerate(inputs[0].shape)]
        return 2.0**-23 * sum(steps)
    return 0.0


def _centring(node: onnx.NodeProto, inputs: list[np.ndarray], opset: int) -> np.ndarray:
    """How far a relative error of the mean moves a normalisation's outputs."""
    x, scale, rank = inputs[0], np.ones(()), inputs[0].ndim
    axes, epsilon = tuple(range(2, rank)), attribute(node, "epsilon", 1e-5)
    shape = x.shape
    if node.op_type == "MeanVarianceNormalization":
        axes, epsilon = tuple(attribute(node, "axes", (0, 2, 3))), 1e-18
    elif node.op_type == "LayerNormalization":
        axes, scale = tuple(range(attribute(node, "axis", -1) % rank, rank)), inputs[1]
    else:
        scale = inputs[1].reshape(-1, *[1] * (rank - 2))
    if node.op_type == "GroupNormalization":
        groups = attribute(node, "num_groups")
        x, axes = x.reshape(x.shape[0], groups, -1), (2,)
        if opset < 21:  # a scale of each group
            scale = np.repeat(scale, shape[1] // groups, 0)
    if not x.size:
        return np.zeros(shape)
    greatest = np.max(np.abs(x), axis=axes, keepdims=True, initial=0)
    moved = np.broadcast_to(greatest / np.sqrt(np.var(x, axis=axes, keepdims=True) + epsilon), x.shape)
    return moved.reshape(shape) * np.abs(scale)


_CENTRED = ("InstanceNormalization", "GroupNormalization", "LayerNormalization")
