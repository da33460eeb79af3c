"""Task graphs as kernels of operators: blocks, and launches that a run decides. Numbers against float64."""
# ruff: noqa: F811 (the fixture convert)

import re
from pathlib import Path

import numpy as np
import pytest
from kernel_models import EVERYWHERE, convert, info, node, save  # noqa: F401
from onnx import TensorProto, helper
from pto_mlir.runtime import InferenceSession, RuntimeFailure
from random_numbers import numbers

KERNELS = Path(__file__).with_name("graph_kernels_of_tests.py")
INT = TensorProto.INT32


@pytest.fixture
def run(tmp_path, convert):
    """What a node between two operators of the trunk gives, whose inputs are doubled and whose result is negated."""

    def call(op, shape, processor, blocks, given, mode="functional"):
        names = list(given)
        nodes = [helper.make_node("Add", [names[0], names[0]], ["t"]), node(op, " ".join(["t", *names[1:]]), "y")]
        nodes.append(helper.make_node("Neg", ["y"], ["z"]))
        inputs = [info(n, a.shape, INT if a.dtype == np.int32 else TensorProto.FLOAT) for n, a in given.items()]
        model = save(tmp_path, nodes, inputs, [info("z", shape)])
        session = convert(model, processor, blocks, kernels=KERNELS)
        (got,) = session.run(None, given)
        return -got

    return call


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
def test_blocks(run, processor, blocks):
    x = numbers(96, 64)
    got = run("ExpOfBlocks", [96, 64], processor, blocks, {"x": x})
    np.testing.assert_allclose(got, np.exp(2 * x.astype(np.float64)), rtol=1e-5)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
def test_a_result_that_is_written_twice(run, processor, blocks):
    x = numbers(48, 64)
    got = run("TwoSweeps", [48, 64], processor, blocks, {"x": x})
    np.testing.assert_array_equal(got, (2 * x + np.float32(1)) * np.float32(3))


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_loop_that_a_run_counts(run, processor, blocks, count):
    """What no turn writes is zero."""
    x, table = numbers(80, 64), np.array([9, 0, 3, 3, 7], np.int32)
    given = {"x": x, "table": table, "count": np.array([count], np.int32)}
    got = run("SumOfTable", [8, 64], processor, blocks, given)
    expected = np.zeros((8, 64), np.float32)
    for part in table[:count]:
        expected += 2 * x[part * 8 : part * 8 + 8]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_branch_that_a_run_takes(run, processor, blocks, sign):
    x, w = numbers(32, 64) / 8, numbers(64, 32, seed=1) / 8
    given = {"x": x, "w": w, "sign": np.array([[sign] * 8], np.float32)}
    got = run("Choose", [32, 32], processor, blocks, given)
    product = 2 * x.astype(np.float64) @ w
    np.testing.assert_allclose(got, np.exp(product) if sign > 0 else product, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("count", [0, 3])
def test_cores_that_wait_for_each_other_in_a_loop(run, processor, blocks, count):
    x = numbers(32, 32) / 16
    got = run("Power", [32, 32], processor, blocks, {"x": x, "count": np.array([count], np.int32)})
    twice = expected = 2 * x.astype(np.float64)
    for _ in range(count):
        expected = expected @ twice + expected
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_tensors_of_earlier_turns(run, processor, blocks, count):
    x = numbers(32, 32) / 16
    got = run("Recurrence", [32, 32], processor, blocks, {"x": x, "count": np.array([count], np.int32)})
    before = 2 * x.astype(np.float64)
    last = before / 2
    for _ in range(count):
        before, last = last, last @ (2 * x.astype(np.float64)) + before
    np.testing.assert_allclose(got, last + before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("count", [0, 1, 4])
def test_tensors_that_change_places(run, processor, blocks, count):
    x = np.round(numbers(32, 64) * 8)
    got = run("Swap", [32, 64], processor, blocks, {"x": x, "count": np.array([count], np.int32)})
    a, b = 2 * x.astype(np.float64), np.zeros(x.shape)
    for _ in range(count):
        a, b = 2 * b + a, a
    np.testing.assert_array_equal(got, a - b)


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("marks", [[], [0, 0], [1, 0, 0], [0, 1, 0, 1, 0, 0]])
def test_a_tensor_that_outlives_many_turns(run, processor, blocks, marks):
    x = np.round(numbers(16, 64) * 8)
    given = {"x": x, "marks": np.array([len(marks), *marks, *[7] * (8 - len(marks))], np.int32)}
    got = run("LastMarked", [16, 64], processor, blocks, given)
    marked = [i for i, mark in enumerate(marks) if mark]
    np.testing.assert_array_equal(got, 2 * x + (marked[-1] if marked else 0))


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("chosen", [-1, 0])
def test_elements_of_one_of_two_tensors(run, processor, blocks, chosen):
    x = numbers(48, 64)
    given = {"x": x, "first": np.array([chosen, 2], np.int32), "second": np.array([0, 5], np.int32)}
    got = run("OneOfTwo", [8, 64], processor, blocks, given)
    row = 8 * (5 if chosen < 0 else 2)
    np.testing.assert_array_equal(got, 2 * x[row : row + 8])


@pytest.mark.parametrize(("processor", "blocks"), EVERYWHERE)
@pytest.mark.parametrize("count", [0, 3, 40])
def test_memory_of_a_bounded_size(run, processor, blocks, count):
    x = numbers(32, 64)
    got = run("FirstRows", [32, 64], processor, blocks, {"x": x, "count": np.array([count], np.int32)})
    expected, rows = np.zeros_like(x), min(count, 32)
    expected[:rows] = (2 * x + np.float32(1))[:rows][::-1]
    np.testing.assert_array_equal(got, expected)


def test_memory_of_a_negative_size_is_a_fault(run):
    given = {"x": numbers(32, 64), "count": np.array([-1], np.int32)}
    with pytest.raises(RuntimeFailure, match="out-of-range"):
        run("FirstRows", [32, 64], "a3", 1, given)


def test_blocks_share_a_launch(tmp_path, convert):
    """The blocks of `pl.spmd` are shared by those of the launch; a graph is run by the first one."""
    for op, shares in ("ExpOfBlocks", True), ("TwoSweeps", False):
        model = save(tmp_path, [node(op, "x", "z")], [info("x", [96, 64])], [info("z", [96, 64])])
        convert(model, kernels=KERNELS)
        assert ("pto.get_block_num" in model.with_suffix(".mlir").read_text()) == shares


@pytest.mark.parametrize("op", ["TwoSweeps", "Power", "Recurrence"])
@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_nothing_races(tmp_path, convert, op, processor):
    names, rows = ("x", 96) if op == "TwoSweeps" else ("x count", 64)
    inputs = [info("x", [rows, 64]), info("count", [1], INT)][: len(names.split())]
    model = save(tmp_path, [node(op, names, "z")], inputs, [info("z", [rows, 64])])
    convert(model, processor, 4, kernels=KERNELS)
    given = {"x": numbers(rows, 64), "count": np.array([2], np.int32)}
    session = InferenceSession(model.with_suffix(".pmodel"), mode="checked")
    session.run(None, {each.name: given[each.name] for each in inputs})


@pytest.mark.parametrize("part", [-1, 10])
def test_a_view_that_lies_beyond_its_tensor_is_a_fault(run, part):
    given = {"x": numbers(80, 64), "table": np.array([part], np.int32), "count": np.array([1], np.int32)}
    with pytest.raises(RuntimeFailure, match="out-of-range"):
        run("SumOfTable", [8, 64], "a3", 1, given)


HEAD = """import pypto.language as pl
from pto_mlir.kernels import implements


@implements("example::Graph")
@pl.jit
def graph(x: pl.Tensor, n: pl.Tensor, out: pl.Out[pl.Tensor]):
"""
MANY_FORMS = """    a = x
    b = x
    with pl.at(level=pl.Level.CORE_GROUP):
        c = pl.add(x, 1.0)
    d = c
    e = c
    for i in pl.range(pl.tensor.read(n, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.add(pl.add(pl.add(a, b), pl.add(c, d)), e)
        a, b, c, d, e = b, c, d, e, t
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.add(a, 0.0)
    return out
"""
OF_A_SIZE = """    m = pl.tensor.read(n, [0])
    a = pl.create_tensor([m, 64], dtype=pl.FP32)
    for i in pl.range(1):
        with pl.at(level=pl.Level.CORE_GROUP):
            a[0:16, :] = pl.add(x, 1.0)
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.add(a[0:16, :], 0.0)
    return out
"""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (MANY_FORMS, "hand on tensors that may lie in 32 ways in memory"),
        (OF_A_SIZE, "makes a tensor of a size that a run decides, .* bound the extent: `pl.min"),
    ],
)
def test_what_a_graph_cannot_do(tmp_path, convert, body, says):
    (tmp_path / "mine.py").write_text(HEAD + body)
    inputs = [info("x", [16, 64]), info("n", [1], INT)]
    model = save(tmp_path, [node("Graph", "x n", "z")], inputs, [info("z", [16, 64])])
    error = convert(model, kernels=tmp_path / "mine.py", session=False)
    assert re.search(says, error) and "mine.py:" in error


def test_tensors_of_its_own_have_one_form(tmp_path, convert):
    """What the error on many forms says."""
    own = "    with pl.at(level=pl.Level.CORE_GROUP):\n        a = pl.mul(x, 1.0)\n    b = a\n"
    (tmp_path / "mine.py").write_text(HEAD + MANY_FORMS.replace("    a = x\n    b = x\n", own))
    inputs = [info("x", [16, 64]), info("n", [1], INT)]
    model = save(tmp_path, [node("Graph", "x n", "z")], inputs, [info("z", [16, 64])])
    x = np.round(numbers(16, 64) * 8)
    (got,) = convert(model, kernels=tmp_path / "mine.py").run(None, {"x": x, "n": np.array([3], np.int32)})
    values = [x.astype(np.float64), x, x + 1, x + 1, x + 1]
    for _ in range(3):
        values = [*values[1:], sum(values)]
    np.testing.assert_array_equal(got, values[0])
