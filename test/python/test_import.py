"""The ONNX importer, top-fold and top-fuse against onnxruntime, op by op, and models that the importer rejects."""

import re
import struct
import subprocess

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import top_text
from onnx import TensorProto, helper, numpy_helper
from pto_mlir.tools.native import _program

F = TensorProto.FLOAT


def pto_opt(*arguments):
    done = subprocess.run([_program("pto-opt"), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def make(path, nodes, inputs, outputs, weights=None, opset=13, ir=8, domains=()):
    """`inputs`: name -> shape (float) or (type, shape); `weights`: name -> array."""

    def info(name, spec):
        kind, shape = spec if isinstance(spec, tuple) else (F, spec)
        return helper.make_tensor_value_info(name, kind, shape)

    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(
        nodes,
        "g",
        [info(*i) for i in inputs.items()],
        [helper.make_tensor_value_info(o, F, None) for o in outputs],
        initializers,
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=ir), str(path))
    return path


def rand(*shape, low=-2.0, high=2.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def N(op, inputs, outputs="y", **attributes):
    return helper.make_node(
        op,
        inputs.split() if isinstance(inputs, str) else inputs,
        outputs.split(),
        name=f"{op}:{outputs.split()[0]}",
        **attributes,
    )


X = [2, 3, 7, 9]
CASES = {
    "conv": (
        [N("Conv", "x w b", strides=[2, 1], pads=[0, 1, 2, 1], dilations=[1, 2])],
        {"x": X},
        {"w": rand(5, 3, 3, 2), "b": rand(5)},
        13,
    ),
    "conv_group": ([N("Conv", "x w", group=3)], {"x": [1, 6, 5, 5]}, {"w": rand(9, 2, 3, 3)}, 11),
    "conv_same_upper": (
        [N("Conv", "x w", auto_pad="SAME_UPPER", strides=[2, 2])],
        {"x": X},
        {"w": rand(4, 3, 3, 4)},
        13,
    ),
    "conv_same_lower": (
        [N("Conv", "x w", auto_pad="SAME_LOWER", strides=[2, 2])],
        {"x": X},
        {"w": rand(4, 3, 3, 4)},
        13,
    ),
    "conv_1d": ([N("Conv", "x w", pads=[1, 0])], {"x": [2, 3, 11]}, {"w": rand(4, 3, 3)}, 13),
    "batch_norm": (
        [N("BatchNormalization", "x s b m v", epsilon=1e-3)],
        {"x": X},
        {"s": rand(3), "b": rand(3, seed=1), "m": rand(3, seed=2), "v": rand(3, low=0.1)},
        15,
    ),
    "conv_batch_norm": (
        [N("Conv", "x w", "c"), N("BatchNormalization", "c s b m v")],
        {"x": X},
        {"w": rand(5, 3, 3, 3), "s": rand(5), "b": rand(5, seed=1), "m": rand(5, seed=2), "v": rand(5, low=0.1)},
        9,
    ),
    "conv_bias_batch_norm": (
        [N("Conv", "x w", "c"), N("Add", "c k", "d"), N("BatchNormalization", "d s b m v")],
        {"x": X},
        {
            "w": rand(5, 3, 3, 3),
            "k": rand(1, 5, 1, 1),
            "s": rand(5),
            "b": rand(5, seed=1),
            "m": rand(5, seed=2),
            "v": rand(5, low=0.1),
        },
        13,
    ),
    "gemm_batch_norm": (
        [N("Gemm", "x w c", "d", transB=1), N("BatchNormalization", "d s b m v")],
        {"x": [3, 7]},
        {
            "w": rand(5, 7),
            "c": rand(5),
            "s": rand(5),
            "b": rand(5, seed=1),
            "m": rand(5, seed=2),
            "v": rand(5, low=0.1),
        },
        13,
    ),
    "max_pool": (
        [N("MaxPool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1], ceil_mode=1)],
        {"x": X},
        {},
        13,
    ),
    "average_pool": ([N("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])], {"x": X}, {}, 13),
    "average_pool_count": (
        [N("AveragePool", "x", kernel_shape=[3, 3], pads=[1, 0, 1, 2], count_include_pad=1)],
        {"x": X},
        {},
        13,
    ),
    "global_pools": (
        [N("GlobalAveragePool", "x", "a"), N("GlobalMaxPool", "x", "b"), N("Sub", "a b")],
        {"x": X},
        {},
        13,
    ),
    "matmul": ([N("MatMul", "x w")], {"x": [2, 4, 5]}, {"w": rand(5, 6)}, 13),
    "matmul_batch": ([N("MatMul", "x z")], {"x": [2, 1, 4, 5], "z": [3, 5, 2]}, {}, 13),
    "matmul_vectors": (
        [N("MatMul", "x w", "a"), N("MatMul", "a v")],
        {"x": [2, 4, 5]},
        {"w": rand(5), "v": rand(4)},
        13,
    ),
    "gemm": (
        [N("Gemm", "x w c", alpha=0.5, beta=2.0, transA=1)],
        {"x": [7, 3]},
        {"w": rand(7, 4), "c": rand(3, 1)},
        13,
    ),
    "binary": (
        [N("Add", "x z", "a"), N("Mul", "a w", "b"), N("Sub", "b z", "c"), N("Div", "c k")],
        {"x": X, "z": [7, 1]},
        {"w": rand(3, 1, 9), "k": np.float32(4)},
        14,
    ),
    "max_min_sum": (
        [N("Max", "x z w", "a"), N("Min", "a z", "b"), N("Sum", "b x w")],
        {"x": [3, 4], "z": [4]},
        {"w": rand(1)},
        13,
    ),
    "pow": ([N("Abs", "x", "a"), N("Pow", "a e")], {"x": [3, 4]}, {"e": i64(3)}, 13),
    "unary": (
        [
            N("Relu", "x", "a"),
            N("Exp", "a", "b"),
            N("Log", "b", "c"),
            N("Sqrt", "c", "d"),
            N("Sigmoid", "d", "e"),
            N("Tanh", "e", "f"),
            N("Erf", "f", "g"),
            N("Neg", "g", "h"),
            N("Reciprocal", "b", "i"),
            N("Add", "h i"),
        ],
        {"x": [5, 3]},
        {},
        13,
    ),
    "activations": (
        [N("LeakyRelu", "x", "a", alpha=0.3), N("HardSigmoid", "a", "b"), N("HardSwish", "x", "c"), N("Mul", "b c")],
        {"x": [5, 3]},
        {},
        14,
    ),
    "clip_10": ([N("Clip", "x", min=-0.5, max=1.0)], {"x": [5, 3]}, {}, 10),
    "clip_11": (
        [N("Clip", ["x", "", "hi"], "a"), N("Clip", "a lo z")],
        {"x": [5, 3], "z": []},
        {"hi": np.float32(1.5), "lo": np.float32(-1)},
        11,
    ),
    "cast": ([N("Cast", "x", "a", to=TensorProto.INT32), N("Cast", "a", to=F)], {"x": [5, 3]}, {}, 13),
    "softmax_flattened": ([N("Softmax", "x", axis=2)], {"x": X}, {}, 11),
    "softmax": ([N("Softmax", "x", axis=-3)], {"x": X}, {}, 13),
    "reduce": (
        [
            N("ReduceMean", "x", "a", axes=[-1, 1]),
            N("ReduceMax", "a", "b", keepdims=0, axes=[0]),
            N("ReduceSum", "x", "c"),
            N("Add", "b c"),
        ],
        {"x": X},
        {},
        12,
    ),
    "reduce_18": (
        [
            N("ReduceMean", "x k", "a", keepdims=0),
            N("ReduceMin", "a", "b", noop_with_empty_axes=1),
            N("ReduceSum", "b k"),
        ],
        {"x": X},
        {"k": i64(1)},
        18,
    ),
    "shape_arithmetic": (
        [
            N("Shape", "x", "s"),
            N("Gather", "s zero", "n"),
            N("Unsqueeze", "n ax", "n1"),
            N("Concat", "n1 rest", "t", axis=0),
            N("Reshape", "x t"),
        ],
        {"x": X},
        {"zero": np.int64(0), "ax": i64(0), "rest": i64(-1)},
        13,
    ),
    "more_shape_arithmetic": (
        [
            N("Shape", "x", "s"),
            N("Slice", "s st en", "hw"),
            N("Cast", "hw", "hwi", to=TensorProto.INT32),
            N("Cast", "hwi", "hwl", to=TensorProto.INT64),
            N("Mul", "hwl two", "m"),
            N("Div", "m two", "d"),
            N("Squeeze", "one3", "q", axes=[0]),
            N("Unsqueeze", "q", "u", axes=[0]),
            N("Concat", "u minus d", "t", axis=0),
            N("ConstantOfShape", "hw", "ones", value=numpy_helper.from_array(np.array([1.5], np.float32))),
            N("Reshape", "x t", "r"),
            N("Add", "r ones"),
        ],
        {"x": X},
        {"st": i64(2), "en": i64(9999), "two": i64(2), "one3": i64(3), "minus": i64(-1)},
        12,
    ),
    "range": (
        [N("Range", "a b c", "r"), N("Cast", "r", "f", to=F), N("Add", "x f")],
        {"x": [2, 4]},
        {"a": np.int64(1), "b": np.int64(9), "c": np.int64(2)},
        13,
    ),
    "constants": (
        [
            N("Constant", "", "a", value_floats=[1.0, 2.0, 3.0]),
            N("Constant", "", "b", value_float=0.5),
            N("Mul", "a b", "c"),
            N("Add", "x c"),
        ],
        {"x": [2, 3]},
        {},
        13,
    ),
    "reshape_zero": ([N("Reshape", "x s")], {"x": X}, {"s": i64(0, -1, 9)}, 13),
    "flatten": ([N("Flatten", "x", axis=2)], {"x": X}, {}, 13),
    "squeeze_unsqueeze": ([N("Unsqueeze", "x", "a", axes=[0, 3]), N("Squeeze", "a", axes=[0])], {"x": [2, 3]}, {}, 11),
    "squeeze_all": ([N("Squeeze", "x")], {"x": [1, 2, 1, 3]}, {}, 13),
    "transpose": ([N("Transpose", "x", "a", perm=[0, 2, 3, 1]), N("Transpose", "a")], {"x": X}, {}, 13),
    "concat": ([N("Concat", "x z w", axis=-1)], {"x": [2, 3], "z": [2, 1]}, {"w": rand(2, 2)}, 13),
    "slice_9": ([N("Slice", "x", starts=[1, -4], ends=[2, 1000], axes=[0, 3])], {"x": X}, {}, 9),
    "slice": (
        [N("Slice", "x s e a t")],
        {"x": X},
        {"s": i64(-1, 1), "e": i64(-1000, 6), "a": i64(3, -2), "t": i64(-2, 2)},
        13,
    ),
    "split": (
        [
            N("Split", "x", "a b", axis=1, split=[1, 2]),
            N("Split", "b", "c d", axis=1),
            N("Add", "c d", "e"),
            N("Sub", "e a"),
        ],
        {"x": X},
        {},
        12,
    ),
    "split_18": (
        [N("Split", "x", "a b c", axis=3, num_outputs=3), N("Concat", "c b a", axis=3)],
        {"x": [1, 2, 2, 8]},
        {},
        18,
    ),
    "pad_10": ([N("Pad", "x", pads=[0, 0, 1, 2, 0, 0, 3, 0], value=1.5)], {"x": X}, {}, 10),
    "pad_18": ([N("Pad", ["x", "p", "", "a"])], {"x": X}, {"p": i64(1, 2, 0, 3), "a": i64(-1, 2)}, 18),
    "conv_transpose": (
        [N("ConvTranspose", "x w b", strides=[2, 3], pads=[1, 0, 0, 2], output_padding=[1, 2])],
        {"x": X},
        {"w": rand(3, 4, 3, 2), "b": rand(4)},
        13,
    ),
    "conv_transpose_group": (
        [N("ConvTranspose", "x w", group=2, dilations=[2, 1], strides=[1, 2])],
        {"x": [1, 4, 5, 6]},
        {"w": rand(4, 3, 2, 3)},
        11,
    ),
    "conv_transpose_shape": (
        [N("ConvTranspose", "x w", output_shape=[14, 17], strides=[2, 2], auto_pad="SAME_LOWER")],
        {"x": X},
        {"w": rand(3, 4, 3, 3)},
        13,
    ),
    "conv_transpose_same": (
        [N("ConvTranspose", "x w", strides=[2, 2], auto_pad="SAME_UPPER")],
        {"x": X},
        {"w": rand(3, 4, 3, 3)},
        13,
    ),
    "conv_transpose_1d": (
        [N("ConvTranspose", "x w", strides=[2], pads=[1, 0])],
        {"x": [2, 3, 11]},
        {"w": rand(3, 4, 3)},
        13,
    ),
    "conv_transpose_batch_norm": (
        [N("ConvTranspose", "x w", "c", strides=[2, 2], group=2), N("BatchNormalization", "c s b m v")],
        {"x": [1, 4, 5, 6]},
        {"w": rand(4, 3, 2, 2), "s": rand(6), "b": rand(6, seed=1), "m": rand(6, seed=2), "v": rand(6, low=0.1)},
        13,
    ),
    "upsample_7": ([N("Upsample", "x", mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])], {"x": X}, {}, 7),
    "upsample_9": ([N("Upsample", "x s", mode="linear")], {"x": X}, {"s": np.array([1, 1, 2, 1.5], np.float32)}, 9),
    "resize_10": ([N("Resize", "x s", mode="nearest")], {"x": X}, {"s": np.array([1, 1, 2, 2], np.float32)}, 10),
    "resize_11": (
        [N("Resize", ["x", "r", "s"], mode="linear", coordinate_transformation_mode="align_corners")],
        {"x": X},
        {"r": np.array([], np.float32), "s": np.array([1, 1, 2.5, 0.6], np.float32)},
        11,
    ),
    "resize_sizes": (
        [N("Resize", ["x", "", "", "n"], mode="cubic", cubic_coeff_a=-0.5)],
        {"x": X},
        {"n": i64(2, 3, 10, 5)},
        13,
    ),
    "resize_crop": (
        [
            N(
                "Resize",
                ["x", "r", "", "n"],
                mode="linear",
                coordinate_transformation_mode="tf_crop_and_resize",
                extrapolation_value=3.0,
            )
        ],
        {"x": X},
        {"r": np.array([0, 0, 0.2, 0.1, 1, 1, 0.9, 1.5], np.float32), "n": i64(2, 3, 6, 7)},
        13,
    ),
    "resize_axes": (
        [N("Resize", ["x", "", "", "n"], mode="linear", axes=[3, 2], keep_aspect_ratio_policy="not_larger")],
        {"x": X},
        {"n": i64(12, 20)},
        19,
    ),
    "activations_more": (
        [
            N("Softplus", "x", "a"),
            N("Softsign", "a", "b"),
            N("Elu", "x", "c", alpha=0.7),
            N("Selu", "x", "d"),
            N("Celu", "x", "e", alpha=0.6),
            N("PRelu", "x s", "f"),
            N("Cosh", "x", "g"),
            N("Sinh", "x", "h"),
            N("Sum", "b c d e f g h"),
        ],
        {"x": [2, 3, 4]},
        {"s": rand(3, 1)},
        13,
    ),
    "mish": ([N("Mish", "x")], {"x": [5, 3]}, {}, 18),
    "instance_norm": (
        [N("InstanceNormalization", "x s b", epsilon=1e-3)],
        {"x": X},
        {"s": rand(3), "b": rand(3, seed=1)},
        13,
    ),
    "mvn": ([N("MeanVarianceNormalization", "x")], {"x": X}, {}, 13),
    "lp_norm": (
        [N("LpNormalization", "x", "a", axis=1), N("LpNormalization", "x", "b", axis=-1, p=1), N("Add", "a b")],
        {"x": X},
        {},
        13,
    ),
    "lrn": ([N("LRN", "x", size=3, alpha=0.5, beta=0.6, bias=1.5)], {"x": [2, 5, 3, 4]}, {}, 13),
    "depth_to_space": (
        [
            N("DepthToSpace", "x", "a", blocksize=2),
            N("SpaceToDepth", "a", "b", blocksize=4),
            N("DepthToSpace", "b", blocksize=2, mode="CRD"),
        ],
        {"x": [2, 8, 2, 6]},
        {},
        13,
    ),
    "reduce_more": (
        [
            N("ReduceL1", "x", "a", axes=[1]),
            N("ReduceL2", "x", "b", axes=[1]),
            N("ReduceSumSquare", "x", "c", axes=[1]),
            N("ReduceLogSumExp", "x", "d", axes=[1]),
            N("Abs", "x", "p"),
            N("ReduceLogSum", "p", "e", axes=[1]),
            N("ReduceLogSumExp", "x", "g", axes=[1, 2], keepdims=0),
            N("ReduceMax", "g", "h"),
            N("Sum", "a b c d e h"),
        ],
        {"x": X},
        {},
        13,
    ),
    "pad_modes": (
        [N("Pad", "x p", "a", mode="reflect"), N("Pad", "x p", "b", mode="edge"), N("Add", "a b")],
        {"x": X},
        {"p": i64(0, 1, 2, 8, 1, 0, 6, 3)},
        13,
    ),
    "pad_wrap": ([N("Pad", "x p", mode="wrap")], {"x": X}, {"p": i64(0, 0, 9, 3, 0, 1, 0, 2)}, 19),
    "pad_negative": (
        [N("Pad", "x p", "a"), N("Pad", "a q", mode="edge")],
        {"x": X},
        {"p": i64(0, -1, 1, -2, 0, 0, -3, 0), "q": i64(0, 0, 0, -2, 0, 0, 2, 1)},
        13,
    ),
    "lp_pool": (
        [
            N("LpPool", "x", "a", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1]),
            N("LpPool", "x", "b", kernel_shape=[2, 2], p=1),
            N("GlobalLpPool", "x", "c", p=3),
            N("ReduceMax", "a", "d"),
            N("ReduceMax", "b", "e"),
            N("Sum", "c d e"),
        ],
        {"x": X},
        {},
        13,
    ),
    "lp_pool_ceil": ([N("LpPool", "x", kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)], {"x": X}, {}, 18),
    "cum_sum": (
        [N("CumSum", "x a", "b"), N("CumSum", "b c", exclusive=1, reverse=1)],
        {"x": [2, 3, 7]},
        {"a": i64(1)[0], "c": i64(-1)[0]},
        14,
    ),
    "mean": ([N("Mean", "x z x")], {"x": [2, 3], "z": [3]}, {}, 13),
    "dropout_mask_unread": ([N("Dropout", "x", "a mask"), N("Relu", "a")], {"x": [2, 3]}, {}, 9),
    "dropout_identity": ([N("Dropout", "x", "a"), N("Identity", "a", "b"), N("Relu", "b")], {"x": [2, 3]}, {}, 13),
    "gather_rows": (
        [N("Gather", "w i", "a"), N("Add", "a x")],
        {"x": [1], "i": (TensorProto.INT64, [2, 3])},
        {"w": rand(7, 30)},
        13,
    ),
    "gather_axis": ([N("Gather", "x i", axis=-2)], {"x": [2, 7, 3], "i": (TensorProto.INT64, [2])}, {}, 13),
    "gather_slices": (
        [
            N("Gather", "x one", "a", axis=1),
            N("Gather", "x run", "b", axis=1),
            N("ReduceMean", "b", "c", axes=[1], keepdims=0),
            N("Add", "a c"),
        ],
        {"x": [2, 7, 3]},
        {"one": np.int64(-2), "run": i64(2, 3, 4)},
        13,
    ),
    "gather_permuted": ([N("Gather", "x i", axis=1)], {"x": [2, 7, 3]}, {"i": i64(6, 0, -2)}, 13),
    "logic": (
        [
            N("Less", "x z", "a"),
            N("GreaterOrEqual", "x k", "b"),
            N("And", "a b", "c"),
            N("Not", "c", "d"),
            N("Equal", "x x", "e"),
            N("Xor", "d e", "f"),
            N("Or", "f a", "g"),
            N("Greater", "z k", "h"),
            N("LessOrEqual", "z k", "i"),
            N("Or", "h i", "j"),
            N("And", "g j", "l"),
            N("Where", "l x z"),
        ],
        {"x": [3, 4], "z": [4]},
        {"k": np.float32(-0.5)},
        13,
    ),
    "where_shapes": (
        [
            N("Shape", "x", "s"),
            N("Equal", "s two", "q"),
            N("Where", "q five s", "t"),
            N("ConstantOfShape", "t", "o"),
            N("ReduceSum", "o ax", "p"),
            N("Add", "x p"),
        ],
        {"x": [2, 3]},
        {"two": i64(2), "five": i64(5, 5), "ax": i64(0, 1)},
        13,
    ),
    "expand": (
        [N("Expand", "x s", "a"), N("Expand", "w t", "b"), N("Add", "a b")],
        {"x": [3, 1]},
        {"s": i64(2, 1, 4), "w": rand(4), "t": i64(3, 1)},
        13,
    ),
    "tile": ([N("Tile", "x r")], {"x": [2, 3, 1]}, {"r": i64(2, 1, 3)}, 13),
    "layer_norm": (
        [N("LayerNormalization", "x s b", axis=1, epsilon=1e-3)],
        {"x": [2, 3, 5]},
        {"s": rand(3, 5), "b": rand(5)},
        17,
    ),
    "layer_norm_spelled": (
        [
            N("ReduceMean", "x", "m", axes=[-1]),
            N("Sub", "x m", "d"),
            N("Pow", "d two", "p"),
            N("ReduceMean", "p", "v", axes=[-1]),
            N("Add", "v e", "q"),
            N("Sqrt", "q", "r"),
            N("Div", "d r", "n"),
            N("Mul", "n s", "k"),
            N("Add", "k b"),
        ],
        {"x": [2, 3, 6]},
        {"two": np.float32(2), "e": np.float32(1e-5), "s": rand(6), "b": rand(1, 6)},
        17,
    ),
    "rms_norm_spelled": (
        [
            N("Mul", "x x", "p"),
            N("ReduceMean", "p", "v", axes=[-1]),
            N("Add", "v e", "q"),
            N("Sqrt", "q", "r"),
            N("Reciprocal", "r", "i"),
            N("Mul", "x i", "n"),
            N("Mul", "n s"),
        ],
        {"x": [2, 3, 6]},
        {"e": np.float32(1e-5), "s": rand(6)},
        17,
    ),
    "attention": (
        [
            N("Transpose", "x", "q", perm=[0, 2, 1, 3]),
            N("Transpose", "z", "k", perm=[0, 2, 3, 1]),
            N("MatMul", "q k", "s"),
            N("Softmax", "s", "p"),
            N("Transpose", "z", "v", perm=[0, 2, 1, 3]),
            N("MatMul", "p v", "o"),
            N("Transpose", "o", perm=[0, 2, 1, 3]),
        ],
        {"x": [2, 5, 3, 4], "z": [2, 6, 3, 4]},
        {},
        13,
    ),
    "einsum": (
        [
            N("Einsum", "x z", "a", equation="bhid, bhjd -> bhij"),
            N("Einsum", "a w", "c", equation="bhij,jk->kbi"),
            N("Einsum", "c", equation="kbi->ik"),
        ],
        {"x": [2, 3, 4, 5], "z": [2, 3, 6, 5]},
        {"w": rand(6, 2)},
        13,
    ),
    "einsum_implicit": ([N("Einsum", "x z", equation="ij,jk")], {"x": [3, 4], "z": [4, 2]}, {}, 13),
    "group_norm": (
        [N("GroupNormalization", "x s b", num_groups=2)],
        {"x": [2, 6, 3, 5]},
        {"s": rand(6), "b": rand(6)},
        21,
    ),
    "group_norm_18": (
        [N("GroupNormalization", "x s b", num_groups=2, epsilon=1e-3)],
        {"x": [2, 6, 7]},
        {"s": rand(2), "b": rand(2)},
        18,
    ),
    "scaled_queries": (
        [
            N("MatMul", "x w", "p"),
            N("Add", "p b", "a"),
            N("Split", "a z", "q k v", axis=2),
            N("Reshape", "q s", "r"),
            N("Transpose", "r", "t", perm=[0, 2, 1, 3]),
            N("Div", "t d", "u"),
            N("Reshape", "k s", "l"),
            N("Transpose", "l", "m", perm=[0, 2, 3, 1]),
            N("MatMul", "u m", "n"),
            N("ReduceSum", "v e", "f"),
            N("Add", "n f"),
        ],
        {"x": [2, 5, 12]},
        {
            "w": rand(12, 20),
            "b": rand(20),
            "z": i64(6, 6, 8),
            "s": i64(0, 0, 2, 3),
            "d": np.float32(3),
            "e": i64(0, 1, 2),
        },
        13,
    ),
    "gelu": ([N("Gelu", "x", "a"), N("Gelu", "x", "b", approximate="tanh"), N("Sub", "a b")], {"x": [4, 5]}, {}, 20),
    "large_weight": (
        [N("MatMul", "x w", "a"), N("Add", "a b")],
        {"x": [3, 40]},
        {"w": rand(40, 50), "b": rand(50)},
        13,
    ),
}


def random_input(spec, seed):
    """Floats, or (for an index input) integers from -2 to 2."""
    if isinstance(spec, tuple):
        return np.random.default_rng(seed).integers(-2, 3, spec[1])
    return rand(*spec, seed=seed)


@pytest.mark.parametrize("case", CASES)
def test_against_onnxruntime(case, tmp_path):
    nodes, inputs, weights, opset = CASES[case]
    path = make(tmp_path / "m.onnx", nodes, inputs, ["y"], weights, opset)
    feed = {name: random_input(spec, seed=7 + i) for i, (name, spec) in enumerate(inputs.items())}
    expected = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, feed)

    mlir = tmp_path / "m.mlir"
    code, out, err = pto_opt("--import-onnx", path, "-o", mlir)
    assert (code, out, err) == (0, "", "")
    stored = tmp_path / "m_top_weights.safetensors"
    code, text, err = pto_opt(f"--top-load-weights=file={stored}", mlir)
    assert code == 0, err
    got = top_text.run(text, top_text.read_safetensors(stored), feed)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=1e-5)
    assert got[0].dtype == expected[0].dtype

    fused = tmp_path / "fused.safetensors"
    code, text, err = pto_opt(
        f"--top-load-weights=file={stored}",
        "--top-infer-shapes",
        "--top-fold",
        "--top-fuse",
        f"--top-save-weights=file={fused}",
        mlir,
    )
    assert code == 0, err
    if "batch_norm" in case and case != "batch_norm":
        assert text.count("= top.batch_norm") == text.count("= top.add") == 0
    if case in ("layer_norm_spelled", "rms_norm_spelled"):
        assert set(re.findall(r"= top\.(\w+)", text)) <= {"reshape", "layer_norm"}
    if case == "scaled_queries":
        assert "top.div" not in text and "top.mul" not in text
    if case == "attention":
        assert text.count("= top.permute") == 4 and "transpose_b = true" in text
    got = top_text.run(text, top_text.read_safetensors(fused), feed)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=2e-5)


def test_names_are_locations(tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "in:0", "mid/1"), N("Exp", "mid/1", "out")], {"in:0": [2]}, ["out"])
    _, text, _ = pto_opt("--import-onnx", path, "--print-locs")
    assert 'top.name = "in:0"' in text and 'top.name = "out"' in text
    assert 'loc("mid/1")' in text and 'loc("out")' in text


def test_output_names_cut_the_graph(tmp_path):
    path = make(
        tmp_path / "m.onnx",
        [N("Relu", "x", "a"), N("Bad", "a", "y", domain="acme")],
        {"x": [2]},
        ["y"],
        domains=["acme"],
    )
    code, text, err = pto_opt("--import-onnx", path, "--output-names", "a")
    assert code == 0 and 'top.name = "a"' in text, err
    code, _, err = pto_opt("--import-onnx", path, "--output-names", "nowhere")
    assert code == 1 and "nowhere" in err


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.bool_]
)
@pytest.mark.parametrize("raw", [True, False])
def test_element_types(dtype, raw, tmp_path):
    values = np.array([0, 1, 1, 0, 3, 100]).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    tensor = helper.make_tensor("w", kind, [6], values.tobytes() if raw else values.tolist(), raw=raw)
    graph = helper.make_graph(
        [N("Cast", "w", "f", to=F), N("Add", "x f")],
        "g",
        [helper.make_tensor_value_info("x", F, [6])],
        [helper.make_tensor_value_info("y", F, [6])],
        [tensor],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(tmp_path / "m.onnx")
    )
    code, text, err = pto_opt("--import-onnx", tmp_path / "m.onnx")
    assert code == 0, err
    x = rand(6)
    np.testing.assert_array_equal(top_text.run(text, {}, {"x": x})[0], x + values.astype(np.float32))


def test_external_data(tmp_path):
    path = make(tmp_path / "m.onnx", [N("MatMul", "x w")], {"x": [3, 40]}, ["y"], {"w": rand(40, 50)})
    model = onnx.load(str(path))
    onnx.save(model, str(path), save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (tmp_path / "w.bin").stat().st_size == 8000
    code, _, err = pto_opt("--import-onnx", path, "-o", tmp_path / "m.mlir")
    assert code == 0, err
    np.testing.assert_array_equal(top_text.read_safetensors(tmp_path / "m_top_weights.safetensors")["w"], rand(40, 50))


@pytest.mark.parametrize(
    "location, offset, reason",
    [
        ("../w.bin", 0, "inside the model's folder"),
        ("/etc/passwd", 0, "inside the model's folder"),
        ("none.bin", 0, "no such file"),
        ("link.bin", 0, "inside the model's folder"),
        ("w.bin", 4, "outside the file"),
        ("w.bin", 2**63, "outside the file"),
    ],
)
def test_bad_external_data(location, offset, reason, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for where in (tmp_path, folder):
        (where / "w.bin").write_bytes(bytes(24))
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    tensor = TensorProto(name="w", data_type=F, dims=[6], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", "24")):
        tensor.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [N("Add", "x w")],
        "g",
        [helper.make_tensor_value_info("x", F, [6])],
        [helper.make_tensor_value_info("y", F, [6])],
        [tensor],
    )
    (folder / "m.onnx").write_bytes(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    refused(folder / "m.onnx", "initializer 'w'", reason)


def refused(path, *words, arguments=()):
    code, out, err = pto_opt("--import-onnx", path, *arguments)
    assert code == 1 and out == "", (code, out, err)
    for word in words:
        assert word in err, err
    assert all(str(path) in line for line in err.splitlines()), err
    return err.splitlines()


def test_every_problem_is_listed(tmp_path):
    nodes = [
        N("Relu", "x", "a"),
        N("Foo", "a", "b", domain="acme"),
        N("NonMaxSuppression", "a a", "c"),
        N("Relu", "b", "d"),
        N("Conv", "x w", "e"),
        N("Add", "c d", "f"),
        N("Add", "e f", "y"),
        N("Softmax", "x", "y2", axis=9),
        N("Relu", "x", "y3", slope=1.0),
        N("Conv", "x w2", "y4", group="two"),
    ]
    path = make(
        tmp_path / "m.onnx",
        nodes,
        {"x": X},
        ["y", "y2", "y3", "y4"],
        {"w": rand(4, 5, 3, 3), "w2": rand(4, 3, 3, 3)},
        domains=["acme"],
    )
    lines = refused(
        path,
        "node 'Foo:b' (acme.Foo, opset 1): is not supported",
        "node 'NonMaxSuppression:c' (NonMaxSuppression, opset 13): is not supported",
        "node 'Conv:e' (Conv, opset 13): input has 3 channels, but the filter takes 5 in each of 1 group",
        "node 'Softmax:y2' (Softmax, opset 13): axis 9",
        "has no attribute 'slope'",
        "attribute 'group' must be of type INT",
    )
    assert len(lines) == 6, lines


@pytest.mark.parametrize(
    "shapes, reason",
    [
        (None, "shape [?, 3] is not fixed"),
        ("[[2,4]]", "dimension 1 is 3 in the model, 4 is given"),
        ("[[2]]", "has 2 dimensions in the model"),
        ("[[2,3],[1]]", "has 1 inputs, but 2 input shapes are given"),
    ],
)
def test_input_shapes(shapes, reason, tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "x")], {"x": ["n", 3]}, ["y"])
    refused(path, reason, arguments=["--input-shapes", shapes] if shapes else [])
    assert pto_opt("--import-onnx", path, "--input-shapes", "[[2,3]]")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[1,3",
        "1,3",
        "[[1,-3]]",
        "[[0,3]]",
        "[[1.5]]",
        "[[a]]",
        "[[1,3]]]",
        "[1,[3]]",
        "[[99999999999999999999]]",
        "__import__('os').system('true')",
        "[[1,3],]",
        "[[1,,3]]",
    ],
)
def test_shape_syntax(text, tmp_path):
    path = make(tmp_path / "m.onnx", [N("Relu", "x")], {"x": ["n", 3]}, ["y"])
    code, _, err = pto_opt("--import-onnx", path, "--input-shapes", text)
    assert code == 1 and len(err.splitlines()) == 1 and "list of lists of positive integers" in err


def test_versions(tmp_path):
    relu = [N("Relu", "x")]
    refused(make(tmp_path / "a.onnx", relu, {"x": [1]}, ["y"], ir=99), "IR version 99 is newer")
    refused(make(tmp_path / "b.onnx", relu, {"x": [1]}, ["y"], opset=99), "opset 99 is newer")
    refused(make(tmp_path / "c.onnx", relu, {"x": [1]}, ["y"], opset=6), "opset 6 is older")
    assert pto_opt("--import-onnx", make(tmp_path / "d.onnx", relu, {"x": [1]}, ["y"], opset=28, ir=13))[0] == 0


def test_broken_graphs(tmp_path):
    refused(make(tmp_path / "a.onnx", [N("Relu", "z")], {"x": [1]}, ["y"]), "input 'z' is defined nowhere")
    refused(make(tmp_path / "b.onnx", [N("Relu", "x"), N("Exp", "x")], {"x": [1]}, ["y"]), "defines 'y' a second time")
    refused(
        make(tmp_path / "c.onnx", [N("Relu", "a"), N("Exp", "x", "a")], {"x": [1]}, ["y"]), "computed later in the file"
    )
    refused(
        make(
            tmp_path / "d.onnx",
            [
                N("Relu", "x"),
            ],
            {"x": [0, 2]},
            ["y"],
        ),
        "dimension 0 is 0",
    )
    refused(
        make(tmp_path / "e.onnx", [N("Reshape", "x s")], {"x": [2, 3]}, ["y"], {"s": i64(4, -1)}), "cannot give 2x3"
    )
    refused(
        make(tmp_path / "f.onnx", [N("Unsqueeze", "x z")], {"x": [2, 3], "z": (TensorProto.INT64, [1])}, ["y"]),
        "must be constant",
    )


def test_damaged_files(tmp_path):
    good = make(
        tmp_path / "m.onnx", *(lambda c: (c[0], c[1], ["y"], c[2], c[3]))(CASES["conv_batch_norm"])
    ).read_bytes()
    path = tmp_path / "bad.onnx"
    for data, reason in (
        (b"", "the file is empty"),
        (b"this is a text file\n", "is not an ONNX model"),
        (bytes(1000), "is not an ONNX model"),
        (np.random.default_rng(0).bytes(5000), "is not an ONNX model"),
    ):
        path.write_bytes(data)
        assert len(refused(path, reason)) == 1
    refused(tmp_path / "missing.onnx", "cannot open")
    for part in range(1, 20):
        path.write_bytes(good[: len(good) * part // 20])
        refused(path)
    rng = np.random.default_rng(1)
    for _ in range(60):
        data = bytearray(good)
        data[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(bytes(data))
        code, _, err = pto_opt("--import-onnx", path)
        assert code == 0 or (code == 1 and err.startswith("pto-opt: error: ")), (code, err)


def test_weights_beside_the_module(tmp_path):
    case = CASES["large_weight"]
    path = make(tmp_path / "m.onnx", case[0], case[1], ["y"], case[2], case[3])
    mlir, stored = tmp_path / "m.mlir", tmp_path / "m_top_weights.safetensors"
    assert pto_opt("--import-onnx", path, "-o", mlir)[0] == 0
    assert mlir.stat().st_size < 4000  # 8000 bytes of weights are not in it
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.mlir", "m.onnx", "m_top_weights.safetensors"]
    good = stored.read_bytes()
    (size,) = struct.unpack("<Q", good[:8])
    broken = {
        "truncated": good[:-4],
        "longer": good + b"1234",
        "no header": good[:7],
        "header length": b"\xff" * 8 + good[8:],
        "no JSON": good[:8] + b"x" * size + good[8 + size :],
        "type": good.replace(b'"F32"', b'"F16"'),
        "name": good.replace(b'"w"', b'"v"'),
        "shape": good.replace(b"[40,50]", b"[50,40]"),
    }
    for what, data in broken.items():
        stored.write_bytes(data)
        code, _, err = pto_opt(f"--top-load-weights=file={stored}", mlir)
        assert code == 1 and str(stored) in err, (what, err)
