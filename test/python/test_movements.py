"""Slices, pads and concatenations of each other in one launch, beside numpy's and onnxruntime's bits."""

import graphs
import numpy as np
import pytest
from onnx import TensorProto, helper
from pto_mlir import compiler
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession

N = helper.make_node
KINDS = {"float": TensorProto.FLOAT, "int32": TensorProto.INT32}


class Tree:
    """Nodes of one graph over the input x."""

    def __init__(self, shape):
        self.shapes, self.nodes, self.weights = {"x": list(shape)}, [], []

    def _add(self, op, inputs, shape, constants=(), **attributes):
        names = list(inputs)
        for value in constants:
            names.append(f"c{len(self.weights)}")
            self.weights.append(graphs.weight(names[-1], value))
        out = f"t{len(self.nodes)}"
        self.nodes.append(N(op, names, [out], name=out, **attributes))
        self.shapes[out] = list(shape)
        return out

    def slice(self, value, axis, start, end, step=1):
        shape = list(self.shapes[value])
        shape[axis] = len(range(start, end, step))
        return self._add("Slice", [value], shape, [np.array([v], np.int64) for v in (start, end, axis, step)])

    def concat(self, values, axis):
        shape = list(self.shapes[values[0]])
        shape[axis] = sum(self.shapes[value][axis] for value in values)
        return self._add("Concat", values, shape, axis=axis)

    def pad(self, value, widths, filler):
        shape = [size + low + high for size, (low, high) in zip(self.shapes[value], widths, strict=True)]
        pads = np.array([low for low, _ in widths] + [high for _, high in widths], np.int64)
        return self._add("Pad", [value], shape, [pads, filler])

    def roll(self, value, axis, by):
        size = self.shapes[value][axis]
        return self.concat([self.slice(value, axis, by, size), self.slice(value, axis, 0, by)], axis)


def check(tree, output, folder, kind="float", mode="F32", cores=24, opset=17):
    """The kernels' launches; the output has the bits of onnxruntime's."""
    onnx_file, mlir, model = folder / "m.onnx", folder / "m.mlir", folder / "m.pmodel"
    info = [graphs.info(name, KINDS[kind], tree.shapes[name]) for name in ("x", output)]
    graphs.save(onnx_file, tree.nodes, info[:1], info[1:], tree.weights, opset)
    values = np.random.default_rng(3).integers(-900, 900, tree.shapes["x"])
    feed = {"x": values.astype(np.float32 if kind == "float" else np.int32)}
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    launches = compiler.deploy(str(mlir), str(model), mode, "a3", cores, False)["launches"]
    (got,) = InferenceSession(str(model), mode="checked").run(None, feed)
    np.testing.assert_array_equal(got, run_onnx(onnx_file, feed)[output])
    return launches


@pytest.mark.parametrize("cores", [1, 24])
@pytest.mark.parametrize("kind", KINDS)
def test_roll_in_two_directions(kind, cores, tmp_path):
    tree = Tree([1, 14, 9, 24])
    assert check(tree, tree.roll(tree.roll("x", 1, 3), 2, 4), tmp_path, kind, cores=cores) == 1


def test_rolled_slices_with_steps(tmp_path):
    tree = Tree([27, 9, 8])
    thinned = tree.slice(tree.slice("x", 0, 1, 27, 2), 1, 2, 9, 3)
    assert check(tree, tree.roll(tree.roll(thinned, 1, 1), 0, 4), tmp_path) == 1


def test_rolled_patches(tmp_path):
    tree = Tree([8, 12, 8])
    merged = tree.concat([tree.slice("x", 0, row, 8, 2) for row in (1, 0)], 2)
    assert check(tree, tree.roll(tree.roll(merged, 1, 5), 0, 1), tmp_path) == 1


@pytest.mark.parametrize("cores", [1, 24])
def test_patches_merged(cores, tmp_path):
    tree = Tree([1, 8, 6, 32])
    parts = [tree.slice(tree.slice("x", 1, row, 8, 2), 2, column, 6, 2) for column in range(2) for row in range(2)]
    assert check(tree, tree.concat(parts, 3), tmp_path, cores=cores) == 1


def test_taps_of_a_padded_depth(tmp_path):
    tree = Tree([2, 5, 3, 4, 16])
    padded = tree.pad("x", [(0, 0), (1, 2), (0, 0), (0, 1), (0, 0)], np.float32(7))
    taps = [tree.slice(padded, 1, tap, tap + 5) for tap in range(3)]
    assert check(tree, tree.concat(taps, 4), tmp_path) == 1


def test_what_others_read_is_kept(tmp_path):
    # The inner concatenation is read by a slice that is no part of another one.
    tree = Tree([3, 10, 16])
    inner = tree.concat([tree.slice("x", 1, 4, 10), tree.slice("x", 1, 0, 3)], 1)
    outer = tree.concat([tree.slice(inner, 2, 3, 11), tree.slice(inner, 2, 0, 3)], 2)
    other = tree._add("Neg", [tree.slice(inner, 2, 0, 11)], [3, 9, 11])
    check(tree, tree._add("Add", [outer, other], [3, 9, 11]), tmp_path)


@pytest.mark.parametrize("mode", ["wrap", "edge", "reflect"])
def test_borders_of_columns(mode, tmp_path):
    # Of a border's slices, which have no names, rows are one piece of the columns; these lie apart in the whole tensor.
    tree = Tree([7, 40])
    columns = tree.slice(tree._add("Relu", ["x"], [7, 40]), 1, 20, 40)
    wide = tree._add("Pad", [columns], [13, 26], [np.full(4, 3, np.int64)], mode=mode)
    check(tree, wide, tmp_path, opset=19)


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed, computed, tmp_path):
    random = np.random.default_rng(seed)
    tree = Tree(random.integers(3, 9, 3).tolist())
    kind = ("float", "int32")[seed % 2]
    values = [tree._add("Neg", ["x"], tree.shapes["x"]) if computed else "x"]

    def cut(value, axis, size):
        room = tree.shapes[value][axis] - size
        start = int(random.integers(0, room + 1))
        return tree.slice(value, axis, start, start + size) if room else value

    for _ in range(9):
        value = values[int(random.integers(max(0, len(values) - 3), len(values)))]
        axis, choice = int(random.integers(0, 3)), random.random()
        size = tree.shapes[value][axis]
        if choice < 0.3:
            widths = [tuple(int(w) for w in random.integers(0, 3, 2)) if d == axis else (0, 0) for d in range(3)]
            values.append(tree.pad(value, widths, np.float32(5) if kind == "float" else np.int32(5)))
        elif choice < 0.6:
            values.append(cut(value, axis, max(1, size - int(random.integers(0, 3)))))
        else:
            other = values[int(random.integers(0, len(values)))]
            both = []
            for d in range(3):
                least = min(tree.shapes[value][d], tree.shapes[other][d])
                if d != axis:
                    value, other = cut(value, d, least), cut(other, d, least)
            both = [value, other, value] if random.random() < 0.3 else [value, other]
            values.append(tree.concat(both, axis))
    if values[-1] == "x":
        pytest.skip("nothing moves")
    check(tree, values[-1], tmp_path, kind, cores=int(random.choice([1, 24])))
