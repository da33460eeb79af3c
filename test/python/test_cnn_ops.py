"""Operators of convolutional networks to numbers on the cmodel, beside onnxruntime's: a net of many branches per
family."""

import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession

F = TensorProto.FLOAT
TOLERANCE = {"F32": 2e-5, "F16": 4e-3, "BF16": 4e-2}


def rand(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def f32(*values):
    return np.array(values, np.float32)


class Net:
    """Collects branches: each is one node with its own output and its own copy of the input."""

    def __init__(self, opset, **shapes):
        self.opset, self.shapes, self.inputs, self.nodes, self.weights, self.outputs = opset, shapes, {}, [], [], []

    def add(self, op, data, *operands, **attributes):
        """Adds a branch. `data`: the input; `operands`: arrays, "" for an absent one."""
        names = [f"{data}{len(self.nodes)}"]
        self.inputs[names[0]] = self.shapes[data]
        for value in operands:
            if isinstance(value, str):
                names.append(value)
                continue
            names.append(f"w{len(self.weights)}")
            self.weights.append(numpy_helper.from_array(value, names[-1]))
        output = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, names, [output], name=f"{op}_{output}", **attributes))

    def again(self, op, **attributes):
        """Adds a node on the output of the last one."""
        output = f"y{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, [self.nodes[-1].input[0]], [output], name=f"{op}_{output}", **attributes)
        )

    def save(self, path):
        outputs = self.outputs or [node.output[0] for node in self.nodes]
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info(n, F, s) for n, s in self.inputs.items()],
            [helper.make_tensor_value_info(o, F, None) for o in outputs],
            self.weights,
        )
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8), str(path)
        )


def check(net, folder, mode, cores=1):
    onnx_file, mlir, model = folder / "m.onnx", folder / "m.mlir", folder / "m.pmodel"
    net.save(onnx_file)
    feed = {name: rand(*shape, seed=5 + i) for i, (name, shape) in enumerate(net.inputs.items())}
    expected = run_onnx(onnx_file, feed)
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), mode, "a3", cores, False)
    session = InferenceSession(str(model))
    names = [output.name for output in session.get_outputs()]
    nodes = {node.output[0]: node for node in net.nodes}
    for name, value in zip(names, session.run(None, feed)):
        assert value.shape == expected[name].shape, nodes[name]
        scale = max(1.0, float(np.max(np.abs(expected[name]))))
        error = np.max(np.abs(value - expected[name])) / scale
        assert error <= TOLERANCE[mode], (error, nodes[name])


def conv_transpose():
    net = Net(13, x=[1, 6, 5, 7], z=[2, 3, 9])
    add = lambda *weights, data="x", **attributes: net.add("ConvTranspose", data, *weights, **attributes)
    add(rand(6, 5, 2, 2), rand(5), strides=[2, 2])
    add(rand(6, 17, 3, 2), rand(17), strides=[2, 3], pads=[1, 0, 0, 2], output_padding=[1, 2])
    add(rand(6, 4, 3, 3), pads=[1, 1, 1, 1])
    add(rand(6, 4, 4, 4), rand(12), strides=[2, 2], pads=[1, 1, 1, 1], group=3)
    add(rand(6, 1, 3, 3), strides=[2, 1], group=6)
    add(rand(6, 3, 2, 3), strides=[1, 2], dilations=[3, 2])
    add(rand(6, 3, 3, 3), rand(3), strides=[2, 2], output_shape=[10, 14], auto_pad="SAME_UPPER")
    add(rand(6, 3, 1, 1), strides=[3, 2])
    add(rand(6, 3, 4, 4), strides=[2, 2], pads=[5, 0, 3, 6])
    add(rand(3, 4, 3), rand(4), data="z", strides=[2], pads=[1, 0])
    return net


def resize():
    net = Net(13, x=[1, 8, 6, 9], z=[2, 3, 5, 4])
    shapes = [f32(1, 1, 2, 2), f32(1, 1, 3, 2), f32(1, 1, 0.5, 2.5), f32(1, 1, 1.7, 0.6), f32(1, 2, 1, 3)]
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    nearest = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    for i, scales in enumerate(shapes):
        for data in "xz"[: 1 + i % 2]:
            net.add(
                "Resize",
                data,
                "",
                scales,
                mode="nearest",
                coordinate_transformation_mode=coordinates[i % 4],
                nearest_mode=nearest[(i + 2) % 4],
            )
    net.add(
        "Resize",
        "x",
        "",
        f32(1, 1, 2, 4),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    for i, coordinate in enumerate(coordinates):
        net.add("Resize", "xz"[i % 2], "", shapes[i], mode="linear", coordinate_transformation_mode=coordinate)
        net.add(
            "Resize",
            "xz"[i % 2],
            "",
            "",
            i64(*net.shapes["xz"[i % 2]][:2], 11, 13),
            mode="linear",
            coordinate_transformation_mode=coordinate,
        )
    net.add("Resize", "x", "", f32(1, 1, 2, 2), mode="cubic")
    net.add("Resize", "z", "", f32(1, 1, 0.7, 1.6), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1)
    net.add(
        "Resize",
        "x",
        f32(0, 0, 0.2, -0.1, 1, 1, 0.9, 1.3),
        "",
        i64(1, 8, 7, 5),
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=2.0,
    )
    return net


def pools():
    net = Net(19, x=[2, 9, 11, 14], z=[1, 5, 17])
    for kind in ("MaxPool", "AveragePool"):
        more = {"count_include_pad": 1} if kind == "AveragePool" else {}
        net.add(kind, "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        net.add(kind, "x", kernel_shape=[3, 2], strides=[3, 2], ceil_mode=1)
        net.add(kind, "x", kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 2, 0, 1], **more)
        net.add(kind, "x", kernel_shape=[4, 4], strides=[3, 3], pads=[2, 1, 1, 2], ceil_mode=1, **more)
        net.add(kind, "x", kernel_shape=[5, 5], auto_pad="SAME_UPPER", strides=[2, 3])
        net.add(kind, "z", kernel_shape=[3], strides=[2], pads=[1, 0])
    net.add("LpPool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1])
    net.add("LpPool", "x", kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1, dilations=[1, 2])
    net.add("LpPool", "z", kernel_shape=[2], strides=[7], ceil_mode=1)  # no window begins behind the input
    net.add("GlobalMaxPool", "x")
    net.add("GlobalAveragePool", "x")
    net.add("GlobalLpPool", "x")
    return net


def movement():
    net = Net(19, x=[1, 8, 6, 10], z=[3, 5])
    net.add("DepthToSpace", "x", blocksize=2)
    net.add("DepthToSpace", "x", blocksize=2, mode="CRD")
    net.add("SpaceToDepth", "x", blocksize=2)
    for mode in ("reflect", "edge", "wrap"):
        net.add("Pad", "x", i64(0, 1, 2, 0, 0, 0, 1, 3), mode=mode)
        net.add("Pad", "z", i64(1, 2, 0, 1), mode=mode)
    net.add("Pad", "x", i64(0, -1, 0, -2, 0, 0, -3, 0))
    return net


def norms():
    net = Net(14, x=[2, 9, 7, 6], z=[3, 40], c=[1, 100, 3, 4])
    net.add("Mul", "c", np.full((100, 1, 1), 1.5, np.float32))  # too many equal elements for an inline constant
    net.add("InstanceNormalization", "x", rand(9), rand(9))
    net.again("ReduceMean", axes=[2, 3])
    net.again("ReduceMax", axes=[1], keepdims=0)
    net.add("MeanVarianceNormalization", "x")
    net.add("LpNormalization", "x", axis=1)
    net.add("LpNormalization", "z", p=1)
    net.add("LRN", "x", size=5, alpha=0.5)
    net.add("CumSum", "z", np.int64(1))
    net.add("CumSum", "x", np.int64(1), reverse=1, exclusive=1)
    for op in ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceMean"):
        net.add(op, "x", axes=[1])
        net.add(op, "x", axes=[2, 3], keepdims=0)
        net.add(op, "z", axes=[0])
    for op in ("Softplus", "Softsign", "Elu", "Selu", "Celu", "Cosh", "Sinh"):
        net.add(op, "z")
    net.add("PRelu", "x", rand(9, 1, 1))
    return net


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("family", [conv_transpose, resize, pools, movement, norms], ids=lambda f: f.__name__)
def test_family(family, mode, tmp_path):
    check(family(), tmp_path, mode)


def test_kept_tensors_have_onnx_shapes(tmp_path):
    # A grouped convolution writes [.., groups, features], a global pool writes one row, a product of three dimensions
    # writes two.
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["conv"], group=2, pads=[1] * 4),
        helper.make_node("GlobalAveragePool", ["conv"], ["pool"]),
        helper.make_node("Mul", ["conv", "pool"], ["scaled"]),
        helper.make_node("ReduceSum", ["scaled", "height"], ["sum"]),
        helper.make_node("Squeeze", ["sum", "height"], ["rows"]),
        helper.make_node("MatMul", ["rows", "m"], ["product"]),
        helper.make_node("Sigmoid", ["product"], ["y"]),
    ]
    weights = [("w", rand(6, 2, 3, 3)), ("height", i64(2)), ("m", rand(7, 5, seed=1))]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", F, [1, 4, 5, 7])],
        [helper.make_tensor_value_info("y", F, None)],
        [numpy_helper.from_array(value, name) for name, value in weights],
    )
    onnx_file, mlir, model = tmp_path / "m.onnx", tmp_path / "m.mlir", tmp_path / "m.pmodel"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(onnx_file))
    feed = {"x": rand(1, 4, 5, 7, seed=2)}
    expected = run_onnx(onnx_file, feed, all_tensors=True)
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), "F32", "a3", 1, True)
    values = InferenceSession(str(model)).run_with_debug(feed)
    assert {"conv", "pool", "scaled", "sum", "product"} <= set(values)
    for name in set(values) & set(expected):
        np.testing.assert_allclose(values[name], expected[name], rtol=0, atol=1e-5, err_msg=name, strict=True)


@pytest.mark.parametrize("kernel", [3, 5])
def test_depthwise_sums_do_not_round_at_the_bias(tmp_path, kernel):
    # Starting the accumulation with a bias of 1000 would round each product to 6e-5.
    net = Net(17, x=[1, 8, 12, 10])
    bias = np.full(8, 1000, np.float32)
    net.add("Conv", "x", rand(8, 1, kernel, kernel, seed=3), bias, group=8, pads=[kernel // 2] * 4, strides=[1, 1])
    net.add("Conv", "x", rand(8, 1, kernel, kernel, seed=4), bias, group=8, pads=[kernel // 2] * 4, strides=[2, 2])
    onnx_file, mlir, model = tmp_path / "m.onnx", tmp_path / "m.mlir", tmp_path / "m.pmodel"
    net.save(onnx_file)
    feed = {name: rand(*shape, seed=6) for name, shape in net.inputs.items()}
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), "F32", "a3", 1, False)
    for i, value in enumerate(InferenceSession(str(model)).run(None, feed)):
        weight = numpy_helper.to_array(net.weights[2 * i]).astype(np.float64)[:, 0]
        padded = np.pad(feed[f"x{i}"][0].astype(np.float64), [(0, 0)] + [(kernel // 2,) * 2] * 2)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (1, 2))[:, :: i + 1, :: i + 1]
        exact = np.einsum("chwij,cij->chw", windows, weight) + 1000
        assert np.abs(value[0] - exact).max() <= 0.55 * np.spacing(np.float32(1000))


def depthwise_of_inputs():
    """Depthwise convolutions that read the net's own (NCHW) inputs: channels, sizes, windows, strides and pads of all
    kinds."""
    channels = (1, 3, 8, 16, 17, 32, 40)
    sizes = {1: (160, 160), 3: (320, 320), 8: (61, 160), 16: (160, 160), 17: (80, 113), 32: (160, 40), 40: (33, 57)}
    net = Net(17, **{f"c{c}": [1, c, *sizes[c]] for c in channels})
    for i, c in enumerate(channels):
        for k, stride in ((3, 1 + i % 2), (5, 2 - i % 2)):
            pads = [k // 2] * 4 if (i + k) % 3 else [0, 1, k - 2, 2]
            net.add(
                "Conv",
                f"c{c}",
                rand(c, 1, k, k, seed=c + k),
                rand(c, seed=k),
                group=c,
                strides=[stride, stride],
                pads=pads,
            )
    return net


@pytest.mark.parametrize("mode,cores", [("F32", 1), ("F32", 24), ("F16", 1), ("F16", 24)])
def test_depthwise_of_the_input(mode, cores, tmp_path):
    check(depthwise_of_inputs(), tmp_path, mode, cores)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_transpositions_of_every_proportion(mode, tmp_path):
    # Few long rows and many short ones, in both directions; data movement must be exact.
    for cores in (1, 24):
        net = Net(
            17, a=[16, 25600], b=[25600, 3], c=[1, 7000], d=[129, 1031], e=[5, 2, 9000], f=[3, 4100, 9, 2], g=[4999, 17]
        )
        for data in "abdg":
            net.add("Transpose", data, perm=[1, 0])
        net.add("Relu", "c")
        for data, perm in (("e", [2, 1, 0]), ("e", [1, 2, 0]), ("f", [3, 2, 1, 0]), ("f", [0, 3, 1, 2])):
            net.add("Transpose", data, perm=perm)
        check(net, tmp_path, mode, cores)


def test_concatenations_of_many(tmp_path):
    net = Net(18, a=[1, 2, 24])
    for axis, count in ((0, 64), (2, 101)):
        for _ in range(count):
            net.add("Relu", "a")
        pieces = [node.output[0] for node in net.nodes[-count:]]
        net.nodes.append(helper.make_node("Concat", pieces, [f"all{axis}"], axis=axis))
        net.outputs.append(f"all{axis}")
    check(net, tmp_path, "F32", 3)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_means_of_images(mode, tmp_path):
    """Sums over many rows of few columns are split, unless the number of rows has no divisor."""
    net = Net(
        18, a=[1, 8, 24, 48], b=[1, 3, 40, 41], c=[2, 20, 31, 37], d=[1, 5, 521, 1], e=[3, 700, 4], f=[2, 3, 40, 50]
    )
    net.add("GlobalAveragePool", "a")
    net.again("GlobalMaxPool")
    net.add("GlobalAveragePool", "b")
    net.add("ReduceMean", "c", i64(2, 3), keepdims=0)
    net.add("GlobalAveragePool", "d")
    net.add("ReduceMean", "e", i64(1), keepdims=1)
    net.add("ReduceMin", "e", i64(1), keepdims=0)
    net.add("ReduceSum", "f", i64(0, 2, 3), keepdims=1)
    one, many = (tmp_path / name for name in ("one", "many"))
    for folder in (one, many):
        folder.mkdir()
    check(net, one, mode, 1)
    check(net, many, mode, 24)
    feed = {name: rand(*shape, seed=i) for i, (name, shape) in enumerate(net.inputs.items())}
    for ours, theirs in zip(
        *(InferenceSession(str(folder / "m.pmodel")).run(None, feed) for folder in (one, many)), strict=True
    ):
        assert np.array_equal(ours, theirs)  # the order of additions is independent of the cores


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_every_number_of_rows(mode, tmp_path):
    """Rows are reduced by halves of their number: none is lost or taken twice, whatever it is, and columns may end
    inside a block."""
    counts = [2, 3, 4, 5, 7, 9, 31, 33, 63, 64, 65, 67, 130, 196]
    net = Net(18, **{f"n{count}": [count, 37] for count in counts})
    for count in counts:
        net.add("ReduceSum", f"n{count}", i64(0), keepdims=0)
        net.add("ReduceMax", f"n{count}", i64(0))
    check(net, tmp_path, mode, 2)
    feed = {name: rand(*shape, seed=i) for i, (name, shape) in enumerate(net.inputs.items())}
    model = str(tmp_path / "m.pmodel")
    for ours, theirs in zip(
        *(InferenceSession(model, mode=way).run(None, feed) for way in ("functional", "checked")), strict=True
    ):
        assert np.array_equal(ours, theirs)


def gather_of_a_shared_tensor():
    # The data of a gather is not an operand of its op, yet the producing kernel must come first.
    return [
        ("Expand", ["x", i64(2, 17, 6, 7)], "e", {}),
        ("Gather", ["e", i64(-1, 0, -2)], "y0", {"axis": 0}),
        ("Conv", ["e", rand(34, 1, 3, 3)], "y1", {"group": 17, "pads": [1] * 4}),
    ], [1, 17, 6, 7]


def softmax_over_few_long_columns():
    return [("Tanh", ["x"], "t", {}), ("Softmax", ["t"], "y", {"axis": 0})], [3, 11, 100]


def parts_of_reduced_rows():
    # The maximum reads rows of pixels that the normalisation sums together with their columns.
    return [
        ("Max", ["x", rand(24, 8, 1)], "y0", {}),
        ("LeakyRelu", ["x"], "l", {}),
        ("InstanceNormalization", ["l", rand(24, seed=2), rand(24, seed=3)], "y1", {}),
    ], [1, 24, 8, 10]


def column_maxima_of_a_long_body():
    return [
        ("Div", ["x", f32(2**0.5)], "a", {}),
        ("Erf", ["a"], "b", {}),
        ("Add", ["b", f32(1)], "c", {}),
        ("Mul", ["x", "c"], "d", {}),
        ("Mul", ["d", f32(0.5)], "e", {}),
        ("Tanh", ["e"], "f", {}),
        ("GlobalMaxPool", ["f"], "y", {}),
    ], [3, 17, 23, 20]


def constants_within_a_body():
    return [
        ("Add", ["x", rand(1, 43, 1)], "w", {}),
        ("Where", [np.zeros((1, 1, 1, 1), bool), "w", np.array(0.25, np.float32)], "a", {}),
        ("Reshape", ["a", i64(3, 2, 43)], "r", {}),
        ("Div", ["r", f32(2**0.5)], "b", {}),
        ("Erf", ["b"], "c", {}),
        ("Add", ["c", f32(1)], "d", {}),
        ("Mul", ["r", "d"], "e", {}),
        ("Mul", ["e", f32(0.5)], "y", {}),
    ], [3, 2, 43, 1]


@pytest.mark.parametrize("mode,cores", [("F32", 1), ("F16", 24)])
@pytest.mark.parametrize(
    "chain",
    [
        gather_of_a_shared_tensor,
        softmax_over_few_long_columns,
        parts_of_reduced_rows,
        column_maxima_of_a_long_body,
        constants_within_a_body,
    ],
    ids=lambda f: f.__name__,
)
def test_chain(chain, mode, cores, tmp_path):
    nodes, shape = chain()
    net = Net(17)
    net.inputs["x"] = shape
    for op, operands, result, attributes in nodes:
        names = []
        for value in operands:
            names.append(value if isinstance(value, str) else f"w{len(net.weights)}")
            if not isinstance(value, str):
                net.weights.append(
                    numpy_helper.from_array(
                        np.squeeze(value) if value.size == 1 and op in ("Div", "Add", "Mul") else value, names[-1]
                    )
                )
        net.nodes.append(helper.make_node(op, names, [result], name=result, **attributes))
    read = {name for node in net.nodes for name in node.input}
    net.outputs = [node.output[0] for node in net.nodes if node.output[0] not in read]
    check(net, tmp_path, mode, cores)


@pytest.mark.parametrize("mode,cores", [("F32", 1), ("F16", 24)])
def test_residual_block_of_three_dimensions(mode, cores, tmp_path):
    # Two images; windows over the depth with a stride, of groups and of one element; the depth stays channels-last.
    net = Net(17, x=[2, 6, 5, 7, 6])
    net.add("Conv", "x", rand(8, 6, 3, 3, 3, seed=1) / 8, rand(8, seed=2), pads=[1, 1, 1, 1, 1, 1])
    operands = [
        ("Relu", [], {}),
        ("Conv", [rand(8, 4, 3, 1, 3, seed=3) / 4], {"group": 2, "pads": [1, 0, 1, 1, 0, 1]}),
        ("Conv", [rand(8, 8, 1, 3, 3, seed=4) / 8], {"pads": [0, 1, 1, 0, 1, 1]}),
        ("Add", ["y1"], {}),
        ("Conv", [rand(5, 8, 2, 2, 2, seed=5) / 8], {"strides": [2, 1, 2]}),
    ]
    for op, others, attributes in operands:
        names = [net.nodes[-1].output[0]]
        for value in others:
            names.append(value if isinstance(value, str) else f"w{len(net.weights)}")
            if not isinstance(value, str):
                net.weights.append(numpy_helper.from_array(value, names[-1]))
        output = f"y{len(net.nodes)}"
        net.nodes.append(helper.make_node(op, names, [output], name=f"{op}_{output}", **attributes))
    net.outputs = [net.nodes[-1].output[0]]
    check(net, tmp_path, mode, cores)


def test_convolutions_that_share_a_filter_share_it_permuted(tmp_path):
    """As the levels of a feature pyramid do."""
    net = Net(17, x=[1, 32, 9, 8], z=[1, 32, 4, 5])
    net.add("Conv", "x", rand(64, 32, 3, 3), pads=[1] * 4)
    net.add("Conv", "z", "w0", pads=[1] * 4)
    path, mlir, dumps = (str(tmp_path / name) for name in ("m.onnx", "m.mlir", "ir"))
    net.save(path)
    compiler.transform(path, "m", [], [], mlir, "")
    (tmp_path / "ir").mkdir()
    compiler.deploy(mlir, str(tmp_path / "m.pmodel"), "F32", "a3", 1, False, dumps, "", False, False)
    used = {name for file in (tmp_path / "ir").iterdir() for name in re.findall(r'"(w0[^"]*)"', file.read_text())}
    assert "w0.nhwc" in used and "w0.nhwc_1" not in used, used
    feed = {name: rand(*shape) for name, shape in net.inputs.items()}
    for ours, theirs in zip(
        InferenceSession(str(tmp_path / "m.pmodel")).run(None, feed), run_onnx(path, feed).values()
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
