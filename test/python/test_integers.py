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


def deploy(nodes, inputs, folder, constants=(), output=I64, mode="F32"):
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
    compiler.deploy(str(mlir), str(model), mode, "a3", 1, False)
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


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Every pair of some numbers at the ends of ranges, and random pairs."""
    rng = np.random.default_rng(0)
    values = [0, 1, 2, 3, 7, 2**16, 2**24 - 1, 2**24 + 1, 2**30, 2**31 - 2, 2**31 - 1]
    few = np.array([*values, *(-v for v in values), -(2**31)])
    wide, narrow = rng.integers(-(2**31), 2**31, (2, 2000)), rng.integers(-100, 100, (2, 2000))
    a = [np.repeat(few, few.size), wide[0], narrow[0], wide[0]]
    b = [np.tile(few, few.size), wide[1], narrow[1], narrow[1]]
    return np.concatenate(a), np.concatenate(b)


def divided(a, b):
    """Toward zero, as ONNX says; exact."""
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


@pytest.mark.parametrize("kind", [TensorProto.INT32, I64])
def test_quotients_round_toward_zero(kind, tmp_path):
    """All pairs of edges, random numbers, and multiples of the divisor with their neighbours."""
    a, b = pairs()
    a, b = a[b != 0], b[b != 0]
    near = np.clip(divided(a, b) * b + np.resize([-1, 0, 1], b.size), -(2**31) + 1, 2**31 - 1)
    a, b = np.concatenate([a, near]), np.concatenate([b, b])
    if kind == I64:  # the quotient of -2^31 and -1 leaves 32 bits, which bounds both
        a, b = np.clip([a, b], -(2**31) + 1, 2**31 - 2)
    else:
        a, b = a[(a != -(2**31)) | (b != -1)], b[(a != -(2**31)) | (b != -1)]
    dtype = np.int32 if kind == TensorProto.INT32 else np.int64
    inputs = {"x": (kind, [a.size]), "z": (kind, [a.size])}
    model = deploy([helper.make_node("Div", ["x", "z"], ["y"])], inputs, tmp_path, output=kind)
    result = InferenceSession(str(model)).run(None, {"x": a.astype(dtype), "z": b.astype(dtype)})[0]
    wrong = np.flatnonzero(result != divided(a, b))
    assert wrong.size == 0, [(a[i], b[i], result[i]) for i in wrong[:5]]


def test_magnitudes(tmp_path):
    model = deploy([helper.make_node("Abs", ["x"], ["y"])], {"x": (I64, [4])}, tmp_path)
    x = np.array([2**31 - 2, -(2**31) + 1, 0, -7])
    assert np.array_equal(InferenceSession(str(model)).run(None, {"x": x})[0], np.abs(x))


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.uint32])
def test_images_of_narrow_integers(tmp_path, kind, mode):
    """Cast to float and scaled, as an exporter puts pre-processing into a model."""
    least, most = (-128, 127) if kind is np.int8 else (0, 255)
    x = np.random.default_rng(4).integers(least, most + 1, (1, 3, 9, 7)).astype(kind)
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT), helper.make_node("Add", ["f", "k"], ["y"])]
    inputs = {"x": (helper.np_dtype_to_tensor_dtype(np.dtype(kind)), x.shape)}
    model = deploy(nodes, inputs, tmp_path, [("k", np.float32(1))], TensorProto.FLOAT, mode)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    assert np.array_equal(y, x.astype(np.float32) + 1)


def test_extrema_of_bytes(tmp_path):
    x = np.random.default_rng(4).integers(0, 256, (5, 40)).astype(np.uint8)
    nodes = [helper.make_node("Max", ["x", "k"], ["y"])]
    model = deploy(nodes, {"x": (TensorProto.UINT8, x.shape)}, tmp_path, [("k", np.uint8(99))], TensorProto.UINT8)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    assert y.dtype == np.uint8 and np.array_equal(y, np.maximum(x, 99))


def test_bytes_that_would_wrap_are_refused(tmp_path):
    with pytest.raises(UserError, match="'ui8' may be from 0 to 510 and wrap"):
        deploy(
            [helper.make_node("Add", ["x", "x"], ["y"])],
            {"x": (TensorProto.UINT8, [4])},
            tmp_path,
            (),
            TensorProto.UINT8,
        )
