"""Graphs of one operator at the edges of what the hardware expresses: each is right, or refused with its limit."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession

F = TensorProto.FLOAT


def rand(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def one(op, *operands, count=1, **attributes):
    """(node, feed, weights): the first operand is the input unless it is repeated; the others are weights."""
    names = ["x"] * count + [f"w{i}" for i in range(len(operands) - 1)]
    weights = {f"w{i}": value for i, value in enumerate(operands[1:])}
    return helper.make_node(op, names, ["y"], **attributes), {"x": operands[0]}, weights


RIGHT = {
    "conv_1d_of_a_spectrum": one("Conv", rand(1, 1, 4096), rand(130, 1, 256), strides=[128]),
    "conv_kernel_400_stride_160": one("Conv", rand(1, 1, 4000), rand(20, 1, 400), strides=[160]),
    "conv_kernel_300": one("Conv", rand(1, 2, 700), rand(4, 2, 300), pads=[7, 290]),
    "conv_stride_300": one("Conv", rand(1, 2, 2000), rand(4, 2, 31), strides=[300], dilations=[2]),
    "conv_dilation_96": one("Conv", rand(1, 8, 200, 210), rand(8, 8, 3, 3), dilations=[96, 96]),
    "conv_dilation_beyond_the_image": one(
        "Conv", rand(1, 16, 14, 14), rand(9, 16, 3, 3), rand(9), dilations=[24, 12], pads=[24, 12, 24, 12]
    ),
    "conv_taps_on_one_side": one(
        "Conv", rand(2, 4, 9, 5), rand(6, 2, 3, 3), dilations=[6, 1], pads=[5, 1, 0, 1], group=2
    ),
    "conv_taps_of_strides": one("Conv", rand(1, 3, 7), rand(6, 3, 5), dilations=[7], pads=[15, 22], strides=[3]),
    # Both rows of taps lie beside the one row of the image.
    "conv_no_tap": one("Conv", rand(1, 4, 1, 5), rand(6, 4, 2, 3), rand(6), dilations=[2, 1], pads=[1, 2, 1, 2]),
    "conv_1_of_25_taps": one("Conv", rand(1, 3, 3, 3), rand(6, 3, 5, 5), dilations=[4, 9], pads=[8, 18, 8, 18]),
    "conv_patches_of_many_channels": one("Conv", rand(1, 256, 32, 32), rand(64, 256, 16, 16), strides=[16, 16]),
    "conv_35_by_31": one("Conv", rand(1, 2, 35, 38), rand(1, 2, 35, 31)),
    "conv_3d": one("Conv", rand(1, 2, 4, 5, 6), rand(3, 2, 2, 2, 2), pads=[1, 0, 1, 0, 1, 1], strides=[2, 1, 1]),
    "conv_4d": one("Conv", rand(1, 2, 3, 3, 4, 4), rand(3, 2, 2, 2, 2, 2)),
    "conv_transpose_3d": one("ConvTranspose", rand(1, 4, 3, 4, 2), rand(4, 3, 2, 3, 2), group=2, strides=[2, 1, 3]),
    "conv_transpose_kernel_300": one("ConvTranspose", rand(1, 2, 9), rand(2, 3, 300), strides=[5], pads=[20, 11]),
    "average_pool_96": one("AveragePool", rand(1, 16, 100, 100), kernel_shape=[96, 96]),
    "max_pool_16_stride_16": one("MaxPool", rand(1, 16, 64, 64), kernel_shape=[16, 16], strides=[16, 16]),
    "max_pool_299": one("MaxPool", rand(1, 8, 300, 300), kernel_shape=[299, 299]),
    "max_pool_3d": one("MaxPool", rand(1, 3, 5, 6, 7), kernel_shape=[3, 2, 2], strides=[2, 1, 2], ceil_mode=1),
    "average_pool_3d": one("AveragePool", rand(1, 3, 5, 6, 7), kernel_shape=[3, 2, 2], pads=[1, 0, 1, 1, 1, 0]),
    # One channel: a strided row of pixels of size 1.
    "pool_of_one_channel": one(
        "AveragePool", rand(2, 1, 1, 44), kernel_shape=[1, 32], strides=[17, 2], pads=[0, 5, 0, 1]
    ),
    "lp_pool_of_one_channel": one("LpPool", rand(1, 1, 44, 44), kernel_shape=[30, 1], strides=[3, 4]),
    "sum_of_300": one("Sum", rand(4, 4), count=300),
    "concat_of_300": one("Concat", rand(4, 4), count=300, axis=0),
    "slice_downward": one("Slice", rand(4, 9), i64(8), i64(-100), i64(1), i64(-1)),
    "slice_downward_twice": one("Slice", rand(4, 9), i64(8, 3), i64(-100, -100), i64(1, 0), i64(-1, -1)),
    "pad_reflect_100": one("Pad", rand(1, 200), i64(0, 100, 0, 100), mode="reflect"),
    "einsum_diagonal": one("Einsum", rand(4, 4), equation="ii->i"),
    "einsum_with_dots": one("Einsum", rand(2, 3, 4), rand(1, 4, 5), equation="...ij,...jk->...ik"),
    "einsum_of_three": one("Einsum", rand(3, 4), rand(4, 5), rand(3, 6, seed=2), equation="ij,jk,il->kl"),
    "arg_max": one("ArgMax", np.round(rand(7, 33) * 4), axis=1, select_last_index=1),
    "scatter_many_times": one("ScatterND", rand(9, 4), np.zeros((65, 1), np.int64), rand(65, 4), reduction="add"),
    "scatter_with_duplicates": one("ScatterND", rand(9, 4), i64(1, 3, 1)[:, None], rand(3, 4), reduction="add"),
}
REFUSED = {
    "gather_outside": (one("GatherND", rand(9, 4), i64(9)[:, None]), "index 9 is outside"),
}


def convert(case, folder, mode="F32", processor="a3", num_core=24):
    node, feed, weights = case
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", F, feed["x"].shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT64 if node.op_type.startswith("Arg") else F, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    path = str(folder / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    compiler.transform(path, "m", [], [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), mode, processor, num_core, False)
    return path, feed


@pytest.mark.parametrize("name", RIGHT)
def test_right(name, tmp_path):
    path, feed = convert(RIGHT[name], tmp_path)
    (expected,) = ort.InferenceSession(path).run(None, feed)
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed)
    assert value.shape == expected.shape
    assert np.max(np.abs(value - expected)) <= 3e-5 * max(1, np.max(np.abs(expected)))


# Groups with several features each, and more taps than one block of channels has room for.
GROUPS = {
    "30 by 40, two features a channel": one(
        "Conv", rand(1, 37, 30, 79), 0.03 * rand(74, 1, 30, 40), strides=[3, 33], dilations=[1, 2], group=37
    ),
    "33 by 33, two channels a group": one("Conv", rand(1, 8, 40, 36), 0.03 * rand(4, 2, 33, 33), group=4),
}


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("name", GROUPS)
def test_large_windows_in_groups(name, mode, processor, tmp_path):
    path, feed = convert(GROUPS[name], tmp_path, mode, processor)
    (expected,) = ort.InferenceSession(path).run(None, feed)
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed)
    bound = 3e-5 if mode == "F32" else 2e-3
    assert np.max(np.abs(value - expected)) <= bound * max(1, np.max(np.abs(expected)))


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_padded_batch_of_pixels(op, tmp_path):
    """No transposition stands between the pad and the convolution, whose kernel pads height and width only."""
    nodes = [helper.make_node("Pad", ["x", "p"], ["a"]), helper.make_node(op, ["a", "w"], ["y"], strides=[3, 3])]
    kernel = rand(*([2, 1] if op == "Conv" else [1, 2]), 1, 1)
    weights = [numpy_helper.from_array(i64(1, 0, 0, 0, 2, 0, 0, 0), "p"), numpy_helper.from_array(kernel, "w")]
    infos = [helper.make_tensor_value_info("x", F, [17, 1, 1, 1]), helper.make_tensor_value_info("y", F, None)]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 24, False)
    feed = {"x": rand(17, 1, 1, 1, seed=1)}
    (expected,) = ort.InferenceSession(str(tmp_path / "m.onnx")).run(None, feed)
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed)
    np.testing.assert_allclose(value, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("op", "kind", "least"),
    [("MaxPool", F, -np.inf), ("MaxPool", TensorProto.INT8, -128), ("ReduceMean", TensorProto.INT32, 0)],
)
def test_of_nothing(op, kind, least, tmp_path):
    """The least number where a window has none; a mean of no integers is 0, as onnxruntime's."""
    window = {"kernel_shape": [2, 1], "pads": [1, 0, 1, 0]} if op == "MaxPool" else {"axes": [2]}
    node = helper.make_node(op, ["x"], ["y"], name="n", **window)
    outputs = [onnx.ValueInfoProto(name=name) for name in ("y", "places")]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", kind, [1, 2, 0, 4])], outputs[:1])
    path = str(tmp_path / "m.onnx")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)
    compiler.transform(path, "m", [], [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), "F32", "a3", 1, False)
    x = np.zeros([1, 2, 0, 4], helper.tensor_dtype_to_np_dtype(kind))
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": x})
    assert value.shape == (1, 2, 1, 4) and np.all(value == least)
    if op == "MaxPool":
        model.graph.node[0].output.append("places")
        model.graph.output.append(outputs[1])
        onnx.save(model, path)
        with pytest.raises(UserError, match=r"node 'n' \(MaxPool, opset 17\): has no element in its windows"):
            compiler.transform(path, "m", [], [], str(tmp_path / "m.mlir"), "")


@pytest.mark.parametrize("shape", [(4, 1, 16, 1, 890), (97, 1, 431), (60_000,), (3, 70_001)])
def test_all_elements_are_reduced_while_their_casts_are_stored(shape, tmp_path):
    """The rounded input is stored and reduced by one kernel, and no local memory holds all of it."""
    axes = np.arange(len(shape)) if len(shape) != 2 else i64(1)
    path, feed = convert(one("ReduceLogSumExp", rand(*shape), axes), tmp_path, "F16")
    (expected,) = ort.InferenceSession(path).run(None, feed)
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed)
    assert value.shape == expected.shape and np.max(np.abs(value - expected)) <= 0.01


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("columns", [1, 6, 15, 17])
def test_narrow_columns_of_two_types(op, columns, tmp_path):
    """All tiles of a nest have the columns of its narrowest type: 6 of f16 are 16, those of the i32 positions too."""
    path, feed = convert(one(op, rand(8, 989, columns), axis=1), tmp_path, "F16", "a5", num_core=1)
    (expected,) = ort.InferenceSession(path).run(None, {"x": feed["x"].astype(np.float16).astype(np.float32)})
    (value,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed)
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    case, reason = REFUSED[name]
    with pytest.raises(UserError, match=reason):
        convert(case, tmp_path)
    assert not (tmp_path / "m.pmodel").exists()


@pytest.mark.parametrize("op", ["Hardmax", "ArgMax"])
def test_positions_of_an_endless_axis_are_refused(op, tmp_path):
    """A table of its positions would fill the memory."""
    node = helper.make_node(op, ["x"], ["y"], name="n", axis=0)
    inputs = [helper.make_tensor_value_info("x", F, [2**31 - 1, 2])]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="y")])
    path = str(tmp_path / "m.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    with pytest.raises(
        UserError, match=rf"node 'n' \({op}, opset 17\): builds a constant of shape .*, more than 67108864 elements"
    ):
        compiler.transform(path, "m", [], [], str(tmp_path / "m.mlir"), "")
