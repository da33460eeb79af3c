"""64-bit integers have 32 bits on the device: what a net computes with them is exact, or refused by name."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools.native import program_output

I64 = TensorProto.INT64


def deploy(nodes, inputs, folder, constants=(), output=I64):
    """The .pmodel of a graph from `inputs` (name: type, shape) to y."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info("y", output, None)],
        [numpy_helper.from_array(array, name) for name, array in constants],
    )
    onnx_file, mlir, model = folder / "m.onnx", folder / "m.mlir", folder / "m.pmodel"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), str(onnx_file))
    compiler.transform(str(onnx_file), "m", [], [], str(mlir), "")
    compiler.deploy(str(mlir), str(model), "F32", "a3", 1, False)
    return model


def check(model, exact, legal, wrong):
    """`legal` values give what numpy computes in 64 bits; `wrong` ones are refused with name, place and range."""
    session = InferenceSession(str(model))
    x = np.array([legal, -legal, 0, 5], np.int64)
    assert np.array_equal(session.run(None, {"x": x})[0], exact(x))
    for value in wrong:
        x[2] = value
        text = rf"input 'x': element \[2\] is {value}, but the net's 64-bit arithmetic with it is exact in a range only"
        with pytest.raises((InvalidArgument, RuntimeFailure), match=text):
            session.run(None, {"x": x})


def test_products_are_exact_or_refused(tmp_path):
    model = deploy([helper.make_node("Mul", ["x", "x"], ["y"])], {"x": (I64, [4])}, tmp_path)
    check(model, lambda x: x * x, 46339, [46340, -46341, 100_000])
    assert "below 46340 in magnitude" in program_output("pmodel_tool", ["--info", str(model)])


def test_sums_are_exact_or_refused(tmp_path):
    model = deploy([helper.make_node("Add", ["x", "x"], ["y"])], {"x": (I64, [4])}, tmp_path)
    check(model, lambda x: x + x, 2**30 - 1, [2**30 + 5, -(2**30) - 1])


def test_sums_over_a_tensor_are_exact_or_refused(tmp_path):
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"])]
    model = deploy(nodes, {"x": (I64, [4])}, tmp_path, [("axes", np.array([0]))])
    check(model, lambda x: x.sum(keepdims=True), 2**29 - 1, [2**29, 2**31 - 1])


def test_only_what_arithmetic_reads_is_bounded(tmp_path):
    nodes = [helper.make_node("Max", ["x", "z"], ["m"]), helper.make_node("Min", ["m", "z"], ["y"])]
    session = InferenceSession(str(deploy(nodes, {"x": (I64, [2]), "z": (I64, [2])}, tmp_path)))
    x, z = np.array([2**31 - 1, -(2**31)]), np.array([7, -(2**31)])
    assert np.array_equal(session.run(None, {"x": x, "z": z})[0], z)


def test_rounded_floats_whose_sum_may_leave_32_bits_are_refused(tmp_path):
    nodes = [helper.make_node("Cast", ["x"], ["i"], to=I64), helper.make_node("Add", ["i", "i"], ["y"], name="sum")]
    with pytest.raises(UserError, match="64-bit integers may be from -4294967296 to 4294967294"):
        deploy(nodes, {"x": (TensorProto.FLOAT, [4])}, tmp_path)


def test_32_bit_integers_wrap_as_in_the_model(tmp_path):
    nodes = [helper.make_node("Mul", ["x", "x"], ["y"])]
    model = deploy(nodes, {"x": (TensorProto.INT32, [4])}, tmp_path, output=TensorProto.INT32)
    x = np.array([100_000, -100_000, 3, 46341], np.int32)
    assert np.array_equal(InferenceSession(str(model)).run(None, {"x": x})[0], x * x)
