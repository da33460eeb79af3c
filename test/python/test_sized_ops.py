"""Single ops on a batch that is known at run time: in one kernel or as versions, with onnxruntime's numbers."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from pto_mlir.runtime import InferenceSession
from test_sizes import convert
from test_transformer import Graph

IMAGE, ROWS, VECTOR = ["batch", 6, 8, 8], ["batch", 10, 16], ["batch", 24]


def numbers(g, *values):
    return g.constant(list(values), np.int64)


def split(g):
    g.nodes.append(helper.make_node("Split", ["x"], ["a", "b"], axis=1))
    g.op("Mul", "a", "b", name="y")


def deviation(g):
    centred = g.op("Sub", "x", g.op("ReduceMean", "x", axes=[1]))
    g.op("Div", centred, g.op("Sqrt", g.op("ReduceMean", g.op("Mul", centred, centred), axes=[1])), name="y")


def outer(g):
    g.op("MatMul", g.op("Unsqueeze", "x", numbers(g, 2)), g.op("Unsqueeze", "x", numbers(g, 1)), name="y")


BOUNDED = {
    "global_pool": (IMAGE, lambda g: g.op("GlobalAveragePool", "x", name="y")),
    "flatten": (IMAGE, lambda g: g.op("Gemm", g.op("Flatten", "x"), g.weight(384, 7), g.weight(7), name="y")),
    "transpose": (IMAGE, lambda g: g.op("Transpose", "x", perm=[0, 3, 1, 2], name="y")),
    "greatest": (IMAGE, lambda g: g.op("ReduceMax", "x", axes=[1], keepdims=0, name="y")),
    "mean_of_all": (IMAGE, lambda g: g.op("ReduceMean", "x", axes=[1, 2, 3], keepdims=0, name="y")),
    "instance_norm": (IMAGE, lambda g: g.op("InstanceNormalization", "x", g.weight(6), g.weight(6), name="y")),
    "where": (IMAGE, lambda g: g.op("Where", g.op("Greater", "x", g.constant(0)), "x", g.weight(8), name="y")),
    "softmax_inside": (IMAGE, lambda g: g.op("Softmax", "x", axis=1, name="y")),
    "resize": (IMAGE, lambda g: g.op("Resize", "x", "", g.constant([1, 1, 2, 2]), mode="nearest", name="y")),
    "layer_norm": (
        ROWS,
        lambda g: g.op("LayerNormalization", "x", g.weight(10, 16), g.weight(10, 16), axis=1, name="y"),
    ),
    "argmax": (ROWS, lambda g: g.op("Cast", g.op("ArgMax", "x", axis=2), to=1, name="y")),
    "split": (ROWS, split),
    "products": (ROWS, lambda g: g.op("Einsum", "x", "x", equation="bik,bjk->bij", name="y")),
    "sums": (ROWS, lambda g: g.op("CumSum", "x", g.constant(1, np.int64), name="y")),
    "reflected": (ROWS, lambda g: g.op("Pad", "x", numbers(g, 0, 1, 2, 0, 2, 1), mode="reflect", name="y")),
    "backwards": (
        ROWS,
        lambda g: g.op("Slice", "x", numbers(g, -1), numbers(g, -11), numbers(g, 1), numbers(g, -2), name="y"),
    ),
    "columns": (ROWS, lambda g: g.op("Gather", "x", g.constant([[1, 0], [3, 2]], np.int64), axis=2, name="y")),
    "split_rows": (ROWS, lambda g: g.op("Reshape", "x", numbers(g, -1, 5, 2, 16), name="y")),
    "repeated": (ROWS, lambda g: g.op("Tile", "x", numbers(g, 1, 2, 1), name="y")),
    "long_rows": (ROWS, lambda g: g.op("Softmax", g.op("MatMul", "x", g.weight(16, 3000)), axis=-1, name="y")),
    "outer_products": (VECTOR, outer),
    "sum_of_batches": (ROWS, lambda g: g.op("ReduceSum", "x", numbers(g, 0), keepdims=0, name="y")),
    "mean_of_numbers": (["batch"], lambda g: g.op("ReduceMean", "x", axes=[0], keepdims=0, name="y")),
    "first": (ROWS, lambda g: g.op("Gather", "x", numbers(g, 0), axis=0, name="y")),
    "pool": (IMAGE, lambda g: g.op("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2], name="y")),
    "average": (
        IMAGE,
        lambda g: g.op("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], name="y"),
    ),
    "volume_pool": (
        ["batch", 2, 6, 6, 6],
        lambda g: g.op("MaxPool", "x", kernel_shape=[2, 2, 2], strides=[2, 2, 2], name="y"),
    ),
    "convolution": (IMAGE, lambda g: g.op("Conv", "x", g.weight(5, 6, 3, 3), pads=[1, 1, 1, 1], name="y")),
    "pointwise": (IMAGE, lambda g: g.op("Conv", "x", g.weight(5, 6, 1, 1), name="y")),
    "patches": (IMAGE, lambda g: g.op("Conv", "x", g.weight(5, 6, 2, 2), strides=[2, 2], name="y")),
    "grouped": (IMAGE, lambda g: g.op("Conv", "x", g.weight(4, 3, 3, 3), group=2, pads=[1, 1, 1, 1], name="y")),
    "grouped_pointwise": (IMAGE, lambda g: g.op("Conv", "x", g.weight(4, 3, 1, 1), group=2, name="y")),
    "depthwise": (
        ["batch", 8, 40, 40],
        lambda g: g.op(
            "Clip",
            g.op("Conv", g.op("Relu", "x"), g.weight(8, 1, 5, 5), g.weight(8), group=8, pads=[2, 2, 2, 2]),
            g.constant(0),
            g.constant(6),
            name="y",
        ),
    ),
    "transposed_convolution": (
        IMAGE,
        lambda g: g.op("ConvTranspose", "x", g.weight(6, 4, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], name="y"),
    ),
    "sequence": (["batch", 4, 20], lambda g: g.op("Conv", "x", g.weight(5, 4, 3), pads=[1, 1], name="y")),
    "volume": (["batch", 2, 5, 6, 7], lambda g: g.op("Conv", "x", g.weight(5, 2, 3, 3, 3), pads=[1] * 6, name="y")),
    "residual": (
        IMAGE,
        lambda g: g.op("Relu", g.op("Add", "x", g.op("Conv", "x", g.weight(6, 6, 3, 3), pads=[1, 1, 1, 1])), name="y"),
    ),
    "deviation": (VECTOR, deviation),
}
VERSIONS = {
    "linear_resize": (IMAGE, lambda g: g.op("Resize", "x", "", g.constant([1, 1, 2, 2]), mode="linear", name="y")),
    "constant_left": (ROWS, lambda g: g.op("MatMul", g.weight(4, 10), "x", name="y")),
    "joined_batches": (ROWS, lambda g: g.op("Concat", "x", "x", axis=0, name="y")),
    "repeated_batches": (ROWS, lambda g: g.op("Tile", "x", numbers(g, 2, 1, 1), name="y")),
    "norm_of_batches": (ROWS, lambda g: g.op("ReduceL2", "x", axes=[0, 2], keepdims=0, name="y")),
    "last": (ROWS, lambda g: g.op("Gather", "x", numbers(g, -1), axis=0, name="y")),
    "split_batch": (ROWS, lambda g: g.op("Reshape", "x", numbers(g, 10, -1), name="y")),
    # In F32 the sum alone would have a kernel, in F16 what casts in front of it has none.
    "behind_others": ([2, "batch", 16], lambda g: g.op("ReduceMean", "x", axes=[1], keepdims=0, name="y")),
    "gram": (VECTOR, lambda g: g.op("MatMul", "x", g.op("Transpose", "x", perm=[1, 0]), name="y")),
}


@pytest.mark.parametrize(("quantize", "cores", "tolerance"), [("F32", 1, 1e-4), ("F16", 24, 1e-2)])
@pytest.mark.parametrize("name", [*BOUNDED, *VERSIONS])
def test_against_onnxruntime(tmp_path, name, quantize, cores, tolerance):
    shape, build = (BOUNDED | VERSIONS)[name]
    g = Graph(3)
    build(g)
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, shape)], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", quantize, cores, ranges={"batch": (1, 6, 1)})
    assert list(summary["bounded"]) == (["batch"] if name in BOUNDED else []), summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch in (6, 1, 4):
        x = g.rng.standard_normal([batch if extent == "batch" else extent for extent in shape]).astype(np.float32)
        (ours,), (expected,) = session.run(None, {"x": x}), reference.run(None, {"x": x})
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def test_the_reason_names_what_the_host_computes(tmp_path):
    g = Graph(3)
    whole = g.op("Mod", g.op("Cast", "x", to=TensorProto.INT64, name="whole"), numbers(g, 3))
    g.op("Cast", whole, to=TensorProto.FLOAT, name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, VECTOR)], ["y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", ranges={"batch": (1, 3, 1)})
    assert summary["remarks"] == [
        "a version is compiled for each size of 'batch', since 'whole' is computed on the host"
    ]


def test_ops_without_a_common_value_have_the_same_rows(tmp_path):
    """In one kernel |x|, alone all numbers of a row, and a norm, which keeps rows apart from columns."""
    g = Graph(3)
    places = g.op("ArgMax", "x", axis=2, keepdims=0)
    found = g.op("OneHot", places, g.constant(100, np.int64), g.constant([0, 1]), axis=-1, name="found")
    g.op("Abs", "x", name="size")
    mean = g.op("ReduceMean", g.op("Mul", found, found), axes=[-1])
    root = g.op("Sqrt", g.op("Add", mean, g.constant(1e-3)))
    g.op("Abs", g.op("Mul", g.op("Div", found, root), g.weight(100)), name="y")
    outputs = ["found", "size", "y"]
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, ["batch", 2, 100])], outputs)
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F16", 24, ranges={"batch": (1, 300, 1)})
    assert list(summary["bounded"]) == ["batch"], summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    reference = ort.InferenceSession(str(tmp_path / "m.onnx"))
    for batch in (300, 1, 131):
        x = g.rng.standard_normal([batch, 2, 100]).astype(np.float16).astype(np.float32)
        for ours, expected in zip(session.run(None, {"x": x}), reference.run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=2e-3, atol=1e-3)


def test_an_output_that_is_an_input_has_the_rows_of_the_others(tmp_path):
    """The greater of x and x is x, which a kernel copies beside what it computes."""
    g = Graph(3)
    g.op("Neg", g.op("Max", "x", "x", name="same"), name="y")
    g.save(tmp_path / "m.onnx", [("x", TensorProto.FLOAT, ["batch", 5, 24])], ["same", "y"])
    summary = convert(tmp_path / "m.onnx", tmp_path / "m.pmodel", "F32", 24, ranges={"batch": (1, 30, 1)})
    assert list(summary["bounded"]) == ["batch"], summary["remarks"]
    session = InferenceSession(str(tmp_path / "m.pmodel"), mode="checked")
    for batch in (30, 1, 7):
        x = g.rng.standard_normal([batch, 5, 24]).astype(np.float32)
        same, y = session.run(None, {"x": x})
        np.testing.assert_array_equal(same, x)
        np.testing.assert_array_equal(y, -x)
