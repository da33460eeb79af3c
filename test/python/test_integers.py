"""64-bit integers have 32 bits on the device: what a net computes with them is exact, or refused by name."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pto_mlir import backend, compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pto_mlir.tools.native import program_output

I64 = TensorProto.INT64
RNG = np.random.default_rng(5)


def deploy(nodes, inputs, folder, constants=(), output=I64, mode="F32", processor="a3"):
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
    compiler.deploy(str(mlir), str(model), mode, processor, 1, False)
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


def test_sums_of_rounded_floats_that_may_leave_32_bits_go_to_the_host(tmp_path):
    nodes = [helper.make_node("Cast", ["x"], ["i"], to=I64), helper.make_node("Add", ["i", "i"], ["y"], name="sum")]
    model = deploy(nodes, {"x": (TensorProto.FLOAT, [4])}, tmp_path)
    x = np.array([2**30, -(2**31), 7.9, 1.5 * 2**30], np.float32)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    assert np.array_equal(y, 2 * x.astype(np.int64))


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


WIDTHS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def spread(kind, count, seed, low=None):
    """Numbers over the whole range of `kind` (from `low` on), its ends and small ones among them."""
    info = np.iinfo(kind)
    low = info.min if low is None else low
    random = np.random.default_rng(seed)
    wide = [int(random.integers(low // 2, info.max // 2 + 1)) * 2 + int(random.integers(2)) for _ in range(count - 6)]
    small = [low, info.max, 1, 2, 3, max(low, -1) or 5]
    return np.array([min(max(v, low), info.max) for v in wide + small], kind)


def toward_zero(x, z):
    quotients = [abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, z, strict=True)]
    return np.array([q & (2**64 - 1) for q in quotients], np.uint64).astype(x.dtype)


ARITHMETIC = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": toward_zero,
    "Mod": np.mod,
    "Max": np.maximum,
    "Min": np.minimum,
    "Pow": np.power,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Less": np.less,
    "Equal": np.equal,
}


@pytest.mark.parametrize(
    "op, kind",
    # ONNX raises integers of 32 and 64 bits only.
    [(op, kind) for op in ARITHMETIC for kind in WIDTHS if op != "Pow" or np.iinfo(kind).bits >= 32],
)
def test_arithmetic_of_every_width_is_numpys(tmp_path, op, kind):
    """Two tensors that take part in another operation first, so that their ranges are the types' own."""
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    x, z = spread(kind, 40, 1), spread(kind, 40, 2)
    if op in ("Div", "Mod"):
        z[z == 0] = 3
    if op == "Pow":
        x, z = (x % 7).astype(kind), (z % 5).astype(kind)
    if kind in (np.int64, np.uint32, np.uint64) and op != "Pow":
        # Inputs of a net are 32 bits wide; what is wider comes from the host.
        nodes = [helper.make_node("BitwiseXor", ["x", "none"], ["a"]), helper.make_node(op, ["a", "z2"], ["y"])]
        nodes.insert(1, helper.make_node("BitwiseXor", ["z", "none"], ["z2"]))
    else:
        nodes = [helper.make_node(op, ["x", "z"], ["y"])]
    is_boolean = op in ("Less", "Equal")
    inputs = {"x": (name, x.shape), "z": (name, z.shape)}
    constants = [("none", np.zeros(1, kind))] if len(nodes) > 1 else ()
    model = deploy(nodes, inputs, tmp_path, constants, TensorProto.BOOL if is_boolean else name)
    with np.errstate(all="ignore"):
        wanted = ARITHMETIC[op](x, z)
    (y,) = InferenceSession(str(model)).run(None, {"x": x, "z": z})
    assert y.dtype == wanted.dtype
    wrong = np.flatnonzero(y != wanted)
    assert wrong.size == 0, [(x[i], z[i], y[i], wanted[i]) for i in wrong[:5]]


@pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("shape", [(3, 70), (5, 1), (7,)])
def test_bits(kind, shape):
    """Up to 32 bits on the engines, in one kernel: beside tensors, rows, columns and constants of both signs."""
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    x, other = (np.resize(spread(kind, 210, seed), part) for seed, part in ((4, (3, 70)), (5, shape)))
    if shape == (7,):
        x = x[:, :7]
    one = kind(np.iinfo(kind).max // 3)
    if shape == (5, 1):
        x = x[:1]
    nodes = [
        helper.make_node("BitwiseAnd", ["x", "other"], ["a"]),
        helper.make_node("BitwiseNot", ["other"], ["b"]),
        helper.make_node("BitwiseXor", ["b", "x"], ["c"]),
        helper.make_node("BitwiseOr", ["one", "c"], ["d"]),
        helper.make_node("BitwiseXor", ["a", "d"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(n, name, v.shape) for n, v in (("x", x), ("other", other))]
    wanted = (x & other) ^ (one | (~other ^ x))
    out = helper.make_tensor_value_info("y", name, wanted.shape)
    graph = helper.make_graph(nodes, "g", infos, [out], [numpy_helper.from_array(np.array(one), "one")])
    rep = backend.Rep(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    (y,) = rep.run([x, other])
    assert y.dtype == kind and np.array_equal(y, wanted)
    assert bool(rep.host_ops) == (kind in (np.uint32, np.int64, np.uint64)), rep.host_ops


@pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.__name__)
def test_shifts(tmp_path, kind):
    x = spread(kind, 20, 3)
    z = np.array([0, 1, 2, 7, 8, 15, 16, 31, 32, 63] * 2).astype(kind)
    z[z >= np.iinfo(kind).bits] = np.iinfo(kind).bits - 1
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    for direction, reference in (("LEFT", np.left_shift), ("RIGHT", np.right_shift)):
        nodes = [helper.make_node("BitShift", ["x", "z"], ["y"], direction=direction)]
        model = deploy(nodes, {"x": (name, x.shape), "z": (name, z.shape)}, tmp_path, (), name)
        (y,) = InferenceSession(str(model)).run(None, {"x": x, "z": z})
        assert np.array_equal(y, reference(x, z)), direction


def test_sizes_of_a_mixed_graph(tmp_path):
    """Engines, host and engines again: i64 beyond 32 bits in between, broadcasts, a matrix product, a reduction."""
    x = np.random.default_rng(5).integers(-3, 4, (3, 5)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=I64),
        helper.make_node("Mul", ["i", "big"], ["p"]),
        helper.make_node("MatMul", ["p", "w"], ["m"]),
        helper.make_node("ReduceSum", ["m", "axes"], ["s"]),
        helper.make_node("Mod", ["s", "small"], ["r"]),
        helper.make_node("Cast", ["r"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Exp", ["f"], ["y"]),
    ]
    big, w = np.array([[2**40 + 1]]), np.arange(10).reshape(5, 2) - 4
    constants = [("big", big), ("w", w), ("axes", np.array([1])), ("small", np.array(11))]
    model = deploy(nodes, {"x": (TensorProto.FLOAT, x.shape)}, tmp_path, constants, TensorProto.FLOAT)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    exact = ((x.astype(np.int64) * big) @ w).sum(1, keepdims=True) % 11
    np.testing.assert_allclose(y, np.exp(exact.astype(np.float32)), rtol=1e-5)


@pytest.mark.parametrize("op", ["Exp", "Tanh", "Sqrt", "Add", "Mul", "ReduceSum", "ReduceMax", "MatMul", "Sin"])
def test_double_precision_is_the_hosts(tmp_path, op):
    x = np.random.default_rng(6).uniform(0.1, 2, (4, 4))
    nodes = [
        helper.make_node(op, ["x"] if op in ("Exp", "Tanh", "Sqrt", "Sin") or op.startswith("R") else ["x", "x"], ["y"])
    ]
    model = deploy(nodes, {"x": (TensorProto.DOUBLE, x.shape)}, tmp_path, (), TensorProto.DOUBLE)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    functions = {"ReduceSum": lambda v: v.sum(keepdims=True), "ReduceMax": lambda v: v.max(keepdims=True)}
    functions |= {"Add": lambda v: v + v, "Mul": lambda v: v * v, "MatMul": lambda v: v @ v}
    np.testing.assert_allclose(y, functions.get(op, getattr(np, op.lower(), None))(x), rtol=1e-15)


@pytest.mark.parametrize("likeC", [0, 1])
@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_remainders_of_floats_are_exact(tmp_path, kind, likeC):
    random = np.random.default_rng(7)
    x, z = random.uniform(-500, 500, 50).astype(kind), random.uniform(-3, 3, 50).astype(kind)
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    nodes = [helper.make_node("Mod", ["x", "z"], ["y"], fmod=likeC)]
    model = deploy(nodes, {"x": (name, x.shape), "z": (name, z.shape)}, tmp_path, (), name)
    (y,) = InferenceSession(str(model)).run(None, {"x": x, "z": z})
    wide = (np.fmod if likeC else np.mod)(x.astype(np.float64), z.astype(np.float64))
    assert np.array_equal(y, wide.astype(kind))


def test_the_report_names_what_the_host_computes(tmp_path):
    nodes = [helper.make_node("Add", ["x", "x"], ["y"])]
    deploy(nodes, {"x": (TensorProto.UINT8, [4])}, tmp_path, (), TensorProto.UINT8)
    text = program_output("model_deploy", ["--mlir", str(tmp_path / "m.mlir"), "--model", str(tmp_path / "r.pmodel")])
    assert "y: add on the host, integers from 0 to 510" in text
    assert "  on the host    add\n" in program_output("pmodel_tool", ["--info", str(tmp_path / "r.pmodel")])


def test_a_division_by_zero_on_the_host_is_one_error(tmp_path):
    inputs = {"x": (TensorProto.UINT64, [3]), "z": (TensorProto.UINT64, [3])}
    session = InferenceSession(
        str(deploy([helper.make_node("Div", ["x", "z"], ["y"])], inputs, tmp_path, (), TensorProto.UINT64))
    )
    with pytest.raises(RuntimeFailure, match="@host.div: an integer is divided by 0"):
        session.run(None, {"x": np.ones(3, np.uint64), "z": np.zeros(3, np.uint64)})


def test_what_neither_has_is_refused_up_front(tmp_path):
    constants = [("none", np.zeros(0, np.float32)), ("scales", np.array([1, 1, 0.5, 0.5], np.float32))]
    nodes = [helper.make_node("Resize", ["x", "none", "scales"], ["y"], mode="linear", antialias=1)]
    with pytest.raises(UserError, match='"y".*computes integers from .*, which neither the engines nor the host do'):
        deploy(nodes, {"x": (TensorProto.UINT8, [1, 1, 6, 6])}, tmp_path, constants, TensorProto.UINT8)


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_logarithms_and_roots_of_sums_are_cut(mode, keepdims, tmp_path):
    """What onnxruntime computes in double, whatever the floats of the model are stored as."""
    x = RNG.integers(1, 40, (9, 16)).astype(np.int32)
    for op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        node = helper.make_node(op, ["x", "axes"], ["y"], keepdims=keepdims)
        model = deploy(
            [node], {"x": (TensorProto.INT32, [9, 16])}, tmp_path, [("axes", np.array([1]))], TensorProto.INT32, mode
        )
        theirs = ort.InferenceSession((tmp_path / "m.onnx").read_bytes()).run(None, {"x": x})
        np.testing.assert_array_equal(InferenceSession(str(model)).run(None, {"x": x})[0], theirs[0])


def test_floats_beyond_32_bits_become_64_bit_integers(tmp_path):
    """What the engines' 32 bits would clamp; a bounded float stays with them."""
    x = np.array([1e10, -3e18, 2.0**31, -7.9, 2.0**62], np.float32)
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=I64)]
    session = InferenceSession(str(deploy(nodes, {"x": (TensorProto.FLOAT, [5])}, tmp_path)))
    assert np.array_equal(session.run(None, {"x": x})[0], x.astype(np.int64))
    # ONNX leaves this open: the nearest integer, as docs/types.md says.
    x = np.array([1e19, -1e19, np.inf, -np.inf, np.nan], np.float32)
    wanted = np.array([2**63 - 1, -(2**63), 2**63 - 1, -(2**63), 0])
    assert np.array_equal(session.run(None, {"x": x})[0], wanted)
    nodes.insert(0, helper.make_node("Clip", ["z", "low", "high"], ["x"]))
    bounds = [("low", np.float32(-5)), ("high", np.float32(1e9))]
    session = InferenceSession(str(deploy(nodes, {"z": (TensorProto.FLOAT, [5])}, tmp_path, bounds)))
    assert session.info()["host_ops"] == []
    z = np.array([1e10, -3e18, 7.9, np.inf, -np.inf], np.float32)
    assert np.array_equal(session.run(None, {"z": z})[0], [10**9, -5, 7, 10**9, -5])


def test_unsigned_integers_of_floats(tmp_path):
    x = np.array([3e9, 4e9, 7.9, 0, 2.0**31], np.float32)
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.UINT32)
    model = deploy([node], {"x": (TensorProto.FLOAT, [5])}, tmp_path, (), TensorProto.UINT32)
    assert np.array_equal(InferenceSession(str(model)).run(None, {"x": x})[0], x.astype(np.uint32))


@pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.__name__)
def test_pools_means_and_signs(tmp_path, kind):
    x = spread(kind, 30, 5)[:30].reshape(1, 1, 5, 6)
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    runs = {
        "MaxPool": ({"kernel_shape": [2, 3], "pads": [1, 0, 0, 1]}, None),
        "ReduceMean": ({}, [("axes", np.array([3]))]),
        "Sign": ({}, None),
    }
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 1)), constant_values=np.iinfo(kind).min)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (1, 1, 2, 3))
    means = [[int(sum(map(int, row)) / len(row)) for row in x[0, 0]]]
    wide = kind in (np.int64, np.uint64)
    wanted = {
        "MaxPool": windows.max((-1, -2, -3, -4)),
        "ReduceMean": np.array(means, object).reshape(1, 1, 5, 1),
        "Sign": np.sign(x),
    }
    for op, (attributes, constants) in runs.items():
        if wide and op == "ReduceMean":  # the sum of large ones wraps
            continue
        nodes = [helper.make_node(op, ["x", "axes"][: 2 if constants else 1], ["y"], **attributes)]
        session = InferenceSession(str(deploy(nodes, {"x": (name, x.shape)}, tmp_path, constants or (), name)))
        (y,) = session.run(None, {"x": x})
        assert y.dtype == kind and np.array_equal(y, wanted[op].astype(kind)), op


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_positions_are_not_rounded(tmp_path, mode):
    """A rotary angle of positions beyond what the storage type holds exactly, and a comparison of positions."""
    x = np.array([0, 1, 2049, 4097, 10_001, 32_767])
    nodes = [
        helper.make_node("Cast", ["x"], ["p"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["p", "f"], ["a"]),
        helper.make_node("Sin", ["a"], ["s"]),
        helper.make_node("Less", ["p", "k"], ["l"]),
        helper.make_node("Where", ["l", "s", "none"], ["w"]),
        helper.make_node("Add", ["w", "v"], ["y"]),
    ]
    inputs = {"x": (I64, x.shape), "v": (TensorProto.FLOAT, [1])}
    constants = [("f", np.float32(0.37)), ("k", np.float32(10_000.5)), ("none", np.zeros(1, np.float32))]
    model = deploy(nodes, inputs, tmp_path, constants, TensorProto.FLOAT, mode)
    (y,) = InferenceSession(str(model)).run(None, {"x": x, "v": np.zeros(1, np.float32)})
    wanted = np.where(x < 10_000.5, np.sin(x.astype(np.float32) * np.float32(0.37)), 0)
    np.testing.assert_allclose(y, wanted, atol=2e-3 if mode == "F16" else 8e-3)


def test_limits_beyond_2_to_the_53_are_exact(tmp_path):
    """Attributes of ops are doubles, which these limits are not."""
    limit = 2**60 + 1
    x = np.array([2**60, limit, 2**60 + 2, -(2**62), 7])
    nodes = [helper.make_node("BitwiseXor", ["x", "none"], ["w"]), helper.make_node("Clip", ["w", "a", "b"], ["y"])]
    constants = [("none", np.array(0)), ("a", np.array(-limit)), ("b", np.array(limit))]
    session = InferenceSession(str(deploy(nodes, {"x": (I64, x.shape)}, tmp_path, constants)))
    assert np.array_equal(session.run(None, {"x": x})[0], np.clip(x, -limit, limit))
    pads = [("pads", np.array([0, 1])), ("value", np.array(limit))]
    with pytest.raises(UserError, match="the pad value is an integer beyond 2\\^53 that no double holds"):
        deploy([helper.make_node("Pad", ["x", "pads", "value"], ["y"])], {"x": (I64, x.shape)}, tmp_path, pads)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (np.int64, 0, 2**40),
        (np.int64, -(2**40), 2**33 + 5),
        (np.int64, -(2**63), 2**53),
        (np.uint32, 5, 2**31 + 9),
    ],
)
def test_limits_beyond_32_bits_hide_nothing(tmp_path, kind, low, high):
    x = np.array([1, 7, 100, 2**31 - 2], kind)
    element = {np.int64: I64, np.uint32: TensorProto.UINT32}[kind]
    constants = [("a", np.array(low, kind)), ("b", np.array(high, kind))]
    node = onnx.NodeProto(op_type="Clip", input=["x", "a", "b"], output=["y"])
    model = deploy([node], {"x": (element, x.shape)}, tmp_path, constants, element)
    np.testing.assert_array_equal(InferenceSession(str(model)).run(None, {"x": x})[0], np.clip(x, low, high))


@pytest.mark.parametrize("kind", WIDTHS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("factor", [2, 1.5])
def test_nearest_resizes(tmp_path, kind, factor):
    """Repeated and gathered elements keep every bit."""
    x = spread(kind, 24, 8).reshape(1, 1, 4, 6)
    if kind is np.int64:
        x = np.clip(x, -(2**31), 2**31 - 1)
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    constants = [("none", np.zeros(0, np.float32)), ("scales", np.array([1, 1, factor, factor], np.float32))]
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    nodes = [helper.make_node("Resize", ["x", "none", "scales"], ["y"], mode="nearest", **attributes)]
    if kind is np.uint32:
        x = np.minimum(x, 2**31 - 1)
    (y,) = InferenceSession(str(deploy(nodes, {"x": (name, x.shape)}, tmp_path, constants, name))).run(None, {"x": x})
    rows, columns = (np.floor(np.arange(int(n * factor)) / factor).astype(int) for n in (4, 6))
    assert np.array_equal(y, x[:, :, rows][:, :, :, columns])


@pytest.mark.parametrize("factor", [2, 1.5])
def test_nearest_resizes_of_numbers_beyond_31_bits(tmp_path, factor):
    """Such as products, which the host computes."""
    x = np.arange(1, 25, dtype=np.uint32).reshape(1, 1, 4, 6) * np.uint32(40_000_003)
    constants = [("none", np.zeros(0, np.float32)), ("scales", np.array([1, 1, factor, factor], np.float32))]
    attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("Resize", ["square", "none", "scales"], ["y"], mode="nearest", **attributes),
    ]
    u32 = TensorProto.UINT32
    (y,) = InferenceSession(str(deploy(nodes, {"x": (u32, x.shape)}, tmp_path, constants, u32))).run(None, {"x": x})
    rows, columns = (np.floor(np.arange(int(n * factor)) / factor).astype(int) for n in (4, 6))
    assert np.array_equal(y, (x * x)[:, :, rows][:, :, :, columns])


def test_a_parametric_relu_leaves_numbers_without_a_sign(tmp_path):
    x, slope = np.array([[0, 1], [2**32 - 1, 7]], np.uint32), np.array([3, 2**31], np.uint32)
    u32, nodes = TensorProto.UINT32, [helper.make_node("PRelu", ["x", "slope"], ["y"])]
    model = deploy(nodes, {"x": (u32, x.shape), "slope": (u32, slope.shape)}, tmp_path, output=u32)
    (y,) = InferenceSession(str(model)).run(None, {"x": x, "slope": slope})
    assert np.array_equal(y, x)


def interpolated(x, scale, dim):
    """Linear along one dimension with half_pixel coordinates in f32, as exact as double is."""
    size, place = x.shape[dim], np.float32(0.5)
    at = (np.arange(int(size * scale), dtype=np.float32) + place) / scale - place
    at = np.clip(at, 0, size - 1)
    low = np.floor(at).astype(int)
    part = at.astype(np.float64) - low
    high = np.minimum(low + 1, size - 1)
    shape = [-1 if d == dim else 1 for d in range(x.ndim)]
    return np.take(x, low, dim) * (1 - part).reshape(shape) + np.take(x, high, dim) * part.reshape(shape)


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("factors", [(2, 2), (1.7, 0.6), (0.3, 2.9)])
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int32, np.int16, np.uint16], ids=lambda kind: kind.__name__)
def test_linear_resizes_cut_to_whole_numbers(tmp_path, kind, factors, processor):
    """Toward zero, as onnxruntime casts its sums in f32 (those of 16 bits it lacks). Its f32 misses whole numbers by an
    ulp here and there; where the exact value is none, both must agree."""
    x = RNG.integers(max(np.iinfo(kind).min, -(10**5)), min(np.iinfo(kind).max, 10**5), (1, 2, 5, 9)).astype(kind)
    x[0, 1] = np.iinfo(kind).max if kind is not np.int32 else 77  # weights add up to 1
    name = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    scales = np.array([1, 1, *factors], np.float32)
    constants = [("none", np.zeros(0, np.float32)), ("scales", scales)]
    nodes = [helper.make_node("Resize", ["x", "none", "scales"], ["y"], mode="linear")]
    path = deploy(nodes, {"x": (name, x.shape)}, tmp_path, constants, name, processor=processor)
    (y,) = InferenceSession(str(path)).run(None, {"x": x})
    exact = interpolated(interpolated(x.astype(np.float64), scales[2], 2), scales[3], 3)
    assert y.dtype == kind and np.array_equal(y, np.trunc(exact).astype(kind))
    assert np.all(y[0, 1] == x[0, 1].flat[0])
    if kind in (np.int16, np.uint16):
        return
    (wanted,) = ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    clear = np.abs(exact - np.round(exact)) > (1e-3 if kind is not np.int32 else 0.05)
    assert clear.mean() > 0.2 and np.array_equal(y[clear], wanted[clear])
    assert np.abs(y.astype(np.int64) - wanted).max() <= 1


def test_cubic_resizes_saturate(tmp_path):
    """onnxruntime has none of integers: onnx's reference in f64 (within 1e-6), cut and clamped."""
    x = RNG.choice([0, 9, 255], (1, 1, 6, 7)).astype(np.uint8)
    constants = [("none", np.zeros(0, np.float32)), ("scales", np.array([1, 1, 1.6, 2.3], np.float32))]
    nodes = [helper.make_node("Resize", ["x", "none", "scales"], ["y"], mode="cubic")]
    model = deploy(nodes, {"x": (TensorProto.UINT8, x.shape)}, tmp_path, constants, TensorProto.UINT8)
    (y,) = InferenceSession(str(model)).run(None, {"x": x})
    real = onnx.load(tmp_path / "m.onnx")
    for tensor in (*real.graph.input, *real.graph.output):
        tensor.type.tensor_type.elem_type = TensorProto.DOUBLE
    (exact,) = ReferenceEvaluator(real).run(None, {"x": x.astype(np.float64)})
    clear = np.abs(exact - np.round(exact)) > 1e-4
    assert clear.mean() > 0.5 and exact.max() > 256 and exact.min() < 0
    assert np.array_equal(y[clear], np.clip(np.trunc(exact), 0, 255)[clear])
