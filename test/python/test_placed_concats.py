"""Concatenations whose operands are written where they are concatenated, and columns that are read where they are:
which need no launch, and their numbers."""

import json
import re

import numpy as np
import onnxruntime
import pytest
from conftest import save_model, weight
from onnx import helper
from pto_mlir.runtime import InferenceSession
from pto_mlir.tools import model_deploy, model_transform
from pto_mlir.tools.native import program_output
from random_numbers import numbers


class Net:
    """Nodes and weights of a network; each method returns the name of its result."""

    def __init__(self):
        self.rng, self.nodes, self.weights = np.random.default_rng(5), [], []

    def node(self, op, *inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def conv(self, x, before, after, side=1, relu=True, **attributes):
        self.weights.append(
            weight(
                self.rng, f"w{len(self.weights)}", after, before, side, side, scale=1 / (before * side * side) ** 0.5
            )
        )
        y = self.node("Conv", x, self.weights[-1].name, pads=[side // 2] * 4, **attributes)
        return self.node("Relu", y) if relu else y

    def norm(self, x, channels):
        """As BatchNormalization is left when no convolution is in front of it, and a relu."""
        for name in ("scale", "shift"):
            self.weights.append(weight(self.rng, f"{name}{len(self.weights)}", 1, channels, 1, 1))
            x = self.node("Mul" if name == "scale" else "Add", x, self.weights[-1].name)
        return self.node("Relu", x)

    def concat(self, *pieces, axis=1):
        return self.node("Concat", *pieces, axis=axis)


def dense_block(net):
    """Each layer reads all before it; the block's input is a pool's result, which another kernel reads, too."""
    pool = net.node("MaxPool", net.conv("x", 16, 32), kernel_shape=[2, 2], strides=[2, 2])
    pieces = [pool]
    for layer in range(1, 4):
        x = pool if layer == 1 else net.concat(*pieces)
        channels = 32 + 16 * (layer - 1)
        inner = net.conv(net.norm(x, channels), channels, 48)
        pieces.append(net.conv(inner, 48, 16, side=3, relu=False))
    return net.conv(net.norm(net.concat(*pieces), 80), 80, 24)


def inception(net):
    """Branches of several lengths, one of them a pool, another one read twice."""
    x = net.conv("x", 16, 32)
    first = net.conv(x, 32, 16)
    second = net.conv(net.conv(x, 32, 24), 24, 32, side=3)
    pool = net.node("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    largest = net.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    both = net.concat(first, second, net.conv(pool, 32, 16), largest)
    return net.conv(both, 96, 16)


def branches(net):
    """Convolutions of one tensor: one result is concatenated, two are read by convolutions. Then two blocks of them."""
    x = net.conv("x", 16, 32)
    for channels in (32, 80):
        wide = net.conv(net.conv(x, channels, 16), 16, 16, side=5)
        deep = net.conv(net.conv(net.conv(x, channels, 32), 32, 16, side=3), 16, 32, side=3)
        x = net.concat(net.conv(x, channels, 32), wide, deep)
    return net.conv(x, 80, 16)


def last_branch(net):
    """The result that is concatenated is the last one."""
    x = net.conv("x", 16, 32)
    first = net.conv(net.conv(x, 32, 48, side=3), 48, 16)
    return net.conv(net.concat(first, net.conv(x, 32, 16, side=3)), 32, 16)


def split(net):
    """Columns of one convolution that are read by others."""
    x = net.conv("x", 16, 64)
    net.weights += [
        helper.make_tensor(name, 7, [1], [value]) for name, value in (("0", 0), ("16", 16), ("64", 64), ("ch", 1))
    ]
    a, b = net.node("Slice", x, "0", "16", "ch"), net.node("Slice", x, "16", "64", "ch")
    return net.conv(net.conv(net.conv(a, 16, 48, side=3), 48, 16), 16, 16), net.conv(b, 48, 16, side=3)


def slices(net, x, axis, *bounds):
    """[bounds[i], bounds[i + 1]) of an axis, each."""
    for number in (axis, *bounds):
        if not any(each.name == str(number) for each in net.weights):
            net.weights.append(helper.make_tensor(str(number), 7, [1], [number]))
    return [net.node("Slice", x, str(a), str(b), str(axis)) for a, b in zip(bounds, bounds[1:], strict=False)]


def rolled(net):
    """Parts of one tensor in another order, along one axis and then along another one, as windows are shifted."""
    x = y = net.node("Softmax", net.conv("x", 16, 32), axis=1)
    for axis, bounds in ((2, (0, 5, 24)), (3, (0, 7, 20))):
        first, second = slices(net, y, axis, *bounds)
        y = net.concat(second, first, axis=axis)
    return net.conv(net.node("Add", x, net.node("Softmax", y, axis=1)), 32, 16)


def swapped(net):
    """The channels' halves in the other order: a slice each, and they make the whole."""
    first, second = slices(net, net.conv("x", 16, 32), 1, 0, 16, 32)
    return net.conv(net.concat(second, first), 32, 16)


def nested(net):
    """Columns of columns, of two convolutions."""
    x = net.conv("x", 16, 64)
    (inner,) = slices(net, slices(net, x, 1, 16, 64)[0], 1, 16, 32)
    return net.conv(inner, 16, 16, side=3), net.conv(net.node("Abs", inner), 16, 16)


def skip(net):
    """A decoder's step: the skipped tensor is pooled, too."""
    skipped = net.conv("x", 16, 16, side=3)
    small = net.conv(net.node("MaxPool", skipped, kernel_shape=[2, 2], strides=[2, 2]), 16, 32, side=3)
    large = net.node("Resize", small, "", "twice", mode="nearest", coordinate_transformation_mode="asymmetric")
    net.weights.append(helper.make_tensor("twice", 1, [4], [1.0, 1.0, 2.0, 2.0]))
    return net.conv(net.concat(skipped, net.conv(large, 32, 16)), 32, 16, side=3)


def runs(net):
    """A transposed convolution stores pixels of two columns in one run."""
    net.weights.append(weight(net.rng, "up", 32, 16, 2, 2, scale=0.1))
    small = net.conv(net.node("MaxPool", "x", kernel_shape=[2, 2], strides=[2, 2]), 16, 32)
    return net.conv(net.concat(net.conv("x", 16, 16), net.node("ConvTranspose", small, "up", strides=[2, 2])), 32, 16)


def flat(net):
    """Elementwise kernels take a tensor as one run."""
    a, b = net.conv("x", 16, 32), net.conv("x", 16, 32, side=3)
    both = net.node("Mul", a, b)
    return net.conv(net.concat(both, net.conv(net.concat(a, b), 64, 32)), 64, 16)


def images(net):
    """Along the outermost dimension every kernel's operands are dense."""
    return net.conv(net.concat(net.conv("x", 16, 8), net.conv("x", 16, 8), axis=0), 8, 16)


def narrow(net):
    """Rows of 3 and 5 channels begin at no multiple of 32 bytes."""
    return net.conv(net.concat(net.conv("x", 16, 3), net.conv("x", 16, 5)), 8, 16)


def deploy(command, folder, make, *options, images=1, transform=()):
    net = Net()
    results = make(net)
    results = results if isinstance(results, tuple) else (results,)
    names = [f"y{i}" for i in range(len(results))]
    net.nodes += [helper.make_node("Identity", [made], [name]) for made, name in zip(results, names, strict=True)]
    outputs = [(name, None) for name in names]
    save_model(folder / "m.onnx", net.nodes, [("x", [images, 16, 24, 20])], outputs, net.weights)
    paths = ["--model_def", folder / "m.onnx", "--mlir", folder / "m.mlir"]
    assert command(model_transform, "--model_name", "m", *paths, *transform)[0] == 0
    code, out, err = command(model_deploy, "--mlir", folder / "m.mlir", "--model", folder / "m.pmodel", *options)
    assert code == 0, out + err
    text = program_output("pmodel_tool", ["--print", str(folder / "m.pmodel")])
    copies = [kernel["name"] for kernel in json.loads(text)["kernels"] if "concat" in kernel["name"]]
    return folder / "m.pmodel", copies, int(re.search(r"\((\d+) launches\)", out).group(1))


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("quantize", ["F32", "F16"])
@pytest.mark.parametrize(
    ("make", "left"),
    [
        (dense_block, 0),
        (inception, 0),
        (branches, 0),
        (last_branch, 0),
        (skip, 0),
        (images, 0),
        (narrow, 1),
        (runs, 0),
        (flat, 0),
        (rolled, 1),
        (swapped, 1),
    ],
    ids=lambda p: getattr(p, "__name__", p),
)
def test_operands_are_written_in_place(command, tmp_path, make, left, quantize, processor):
    feed = {"x": numbers(1, 16, 24, 20)}
    tolerance = {"F32": 1e-5, "F16": 1e-2}[quantize]
    results = []
    for cores in (1, 2, 24):
        model, copies, _ = deploy(
            command, tmp_path, make, "--num_core", cores, "--quantize", quantize, "--processor", processor
        )
        assert len(copies) == left, copies
        results += InferenceSession(str(model)).run(None, feed)
    (expected,) = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, feed)
    np.testing.assert_allclose(results[0], expected, rtol=tolerance, atol=tolerance)
    assert all(np.array_equal(results[0], other) for other in results[1:])
    for mode in ("checked", "shuffled:5"):
        assert np.array_equal(InferenceSession(str(model), mode=mode).run(None, feed)[0], results[0])


@pytest.mark.parametrize("quantize", ["F32", "F16"])
@pytest.mark.parametrize(("make", "launches"), [(branches, 12), (last_branch, 6), (split, 8), (nested, 7)])
def test_columns_are_read_in_place(command, tmp_path, make, launches, quantize):
    """Convolutions of one tensor are one launch, and no slice is one; one more for the input and each output, whose
    channels move."""
    feed = {"x": numbers(1, 16, 24, 20)}
    tolerance = {"F32": 1e-5, "F16": 1e-2}[quantize]
    model, _, made = deploy(command, tmp_path, make, "--num_core", 24, "--quantize", quantize)
    assert made == launches
    got = InferenceSession(str(model), mode="checked").run(None, feed)
    for mine, expected in zip(got, onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, feed), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=tolerance, atol=tolerance)


def test_a_debug_build_keeps_every_tensor(command, tmp_path):
    """Each in a place of its own, as it is compared with onnxruntime's."""
    _, copies, _ = deploy(command, tmp_path, dense_block, "--debug")
    assert len(copies) == 3


@pytest.mark.parametrize("make", [dense_block, inception])
def test_the_number_of_images_is_known_at_run_time(command, tmp_path, make):
    """Places are those of the largest batch, rows of all as far apart."""
    model, copies, _ = deploy(command, tmp_path, make, "--num_core", 24, images="N", transform=["--dynamic", "N=1:5"])
    assert not copies, copies
    session, reference = InferenceSession(str(model)), onnxruntime.InferenceSession(tmp_path / "m.onnx")
    for batch in (1, 3, 5):
        feed = {"x": numbers(batch, 16, 24, 20)}
        (got,), (expected,) = session.run(None, feed), reference.run(None, feed)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
