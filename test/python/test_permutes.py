"""Transpositions with reshapes between them, beside numpy's bits."""

import graphs
import numpy as np
import pytest
from onnx import TensorProto, helper
from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession

N = helper.make_node


class Chain:
    """Nodes one after the other, from the input x."""

    def __init__(self, *shape):
        self.shapes, self.nodes, self.weights = [list(shape)], [], []

    def _add(self, op, shape, constants=(), **attributes):
        inputs = [f"t{len(self.nodes)}" if self.nodes else "x"]
        for value in constants:
            inputs.append(f"c{len(self.weights)}")
            self.weights.append(graphs.weight(inputs[-1], value))
        self.nodes.append(N(op, inputs, [f"t{len(self.nodes) + 1}"], name=f"n{len(self.nodes)}", **attributes))
        self.shapes.append([int(size) for size in shape])
        return self

    def permute(self, *perm):
        return self._add("Transpose", [self.shapes[-1][dim] for dim in perm], perm=[int(dim) for dim in perm])

    def reshape(self, *shape):
        return self._add("Reshape", shape, [np.array(shape, np.int64)])

    def one(self, channels, seed):
        """A convolution of pixels, by integers, whose results are exact."""
        weights = np.random.default_rng(seed).integers(-2, 3, (channels, self.shapes[-1][1], 1, 1))
        shape = [self.shapes[-1][0], channels, *self.shapes[-1][2:]]
        return self._add("Conv", shape, [weights.astype(np.float32)])

    def relu(self):
        return self._add("Relu", self.shapes[-1])

    def check(self, folder):
        """The kernels' launches."""
        onnx_file, mlir, model = folder / "m.onnx", folder / "m.mlir", folder / "m.pmodel"
        output = self.nodes[-1].output[0]
        info = [graphs.info(n, TensorProto.FLOAT, s) for n, s in (("x", self.shapes[0]), (output, self.shapes[-1]))]
        graphs.save(onnx_file, self.nodes, info[:1], info[1:], self.weights)
        feed = {"x": np.random.default_rng(1).integers(-9, 10, self.shapes[0]).astype(np.float32)}
        compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
        launches = compiler.deploy(str(mlir), str(model), "F32", "a3", 24, False)["launches"]
        (got,) = InferenceSession(str(model)).run(None, feed)
        np.testing.assert_array_equal(got, run_onnx(onnx_file, feed)[output])
        return launches


def test_windows_of_an_image(tmp_path):
    # Into windows of 3 x 5 behind a convolution, out of them before the next one: rows move once each way.
    net = Chain(1, 8, 12, 20).one(16, 1)
    net.reshape(1, 16, 4, 3, 4, 5).permute(0, 2, 4, 3, 5, 1).reshape(1, 16, 15, 16).relu()
    net.reshape(1, 4, 4, 3, 5, 16).permute(0, 5, 1, 3, 2, 4).reshape(1, 16, 12, 20).relu().one(8, 2)
    # The input and the output change their layout; two products, two movements, two functions.
    assert net.check(tmp_path) <= 8


def test_windows_of_another_size_follow(tmp_path):
    net = Chain(2, 8, 12, 20).one(16, 1).reshape(2, 16, 4, 3, 4, 5).permute(0, 5, 3, 4, 2, 1).relu()
    net.permute(0, 5, 4, 2, 3, 1).reshape(2, 16, 2, 6, 10, 2).permute(0, 3, 5, 2, 4, 1).reshape(2, 12, 20, 16)
    net.permute(0, 3, 1, 2).relu().one(8, 2)
    net.check(tmp_path)


def test_two_orders_are_one(tmp_path):
    net = Chain(4, 6, 10, 8).permute(2, 0, 1, 3).reshape(10, 4, 3, 2, 8).permute(2, 4, 0, 1, 3).reshape(24, 80)
    assert net.relu().check(tmp_path) <= 2
    net = Chain(4, 6, 10, 8).permute(1, 2, 0, 3).reshape(60, 4, 8).permute(1, 0, 2).reshape(240, 8)
    assert net.relu().check(tmp_path) <= 2


@pytest.mark.parametrize("seed", range(10))
def test_random_chains(seed, tmp_path):
    random = np.random.default_rng(seed)
    net = Chain(*(int(size) for size in random.choice([1, 2, 3, 4, 6], 4)))
    for _ in range(5):
        if random.random() < 0.6:
            net.permute(*(int(dim) for dim in random.permutation(len(net.shapes[-1]))))
            continue
        # Any shape of as many elements.
        left, shape = int(np.prod(net.shapes[-1])), []
        while left > 1 and len(shape) < 4:
            factor = int(random.choice([f for f in range(1, left + 1) if left % f == 0]))
            shape.append(factor)
            left //= factor
        net.reshape(*shape, left)
    net.relu().check(tmp_path)
