"""Integers of 2 and 4 bits, floats of 4 and 8: storage, casts from and to them; ml_dtypes is the reference."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.runtime import InferenceSession, InvalidArgument

INTEGERS = ["INT4", "UINT4", "INT2", "UINT2"]
MX = ["FLOAT4E2M1", "FLOAT8E8M0"]
FLOATS = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]


def number(kind):
    return getattr(TensorProto, kind)


def dtype(kind):
    return helper.tensor_dtype_to_np_dtype(number(kind))


def deploy(folder, nodes, inputs, kind, constants=()):
    return build(folder, nodes, inputs, kind, constants)[0]


def build(folder, nodes, inputs, kind, constants=(), mode="F32", processor="a3"):
    """The session of a graph from `inputs` (name: type, shape) to y of type `kind`, and why the host computes ops."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, number(type), shape) for name, (type, shape) in inputs.items()],
        [helper.make_tensor_value_info("y", number(kind), None)],
        list(constants),
    )
    files = [str(folder / name) for name in ("m.onnx", "m.mlir", "m.pmodel")]
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=10), files[0])
    compiler.transform(files[0], "m", [], [], files[1], "")
    summary = compiler.deploy(files[1], files[2], mode, processor, 1, False)
    return InferenceSession(files[2]), {op.partition(" on the host, ")[2] for op in summary["host_ops"]}


def every(kind):
    """Every value of a type, as an array of ml_dtypes; an odd number of integers."""
    if kind == "FLOAT4E2M1":
        return np.append(np.arange(16), 5).astype(np.uint8).view(dtype(kind))
    if kind in FLOATS + MX:
        return np.arange(256, dtype=np.uint8).view(dtype(kind))
    low, high = ml_dtypes.iinfo(dtype(kind)).min, ml_dtypes.iinfo(dtype(kind)).max
    return np.append(np.arange(low, int(high) + 1), low).astype(np.int8).astype(dtype(kind))


@pytest.mark.parametrize("kind", INTEGERS + FLOATS + MX)
def test_every_value_becomes_a_float_and_comes_back(tmp_path, kind):
    x = every(kind)
    session = deploy(tmp_path, [helper.make_node("Cast", ["x"], ["y"], to=1)], {"x": (kind, x.shape)}, "FLOAT")
    assert session.get_inputs()[0].type == f"tensor({kind.lower()})"
    wide = session.run(None, {"x": x})[0]
    assert np.array_equal(wide, x.astype(np.float32), equal_nan=True)
    node = helper.make_node("Cast", ["x"], ["y"], to=number(kind), saturate=0)  # keeps the infinities of E5M2
    back = deploy(tmp_path, [node], {"x": ("FLOAT", x.shape)}, kind)
    (y,) = back.run(None, {"x": wide})
    y = y.astype(x.dtype) if kind in INTEGERS else y.view(x.dtype)
    assert np.array_equal(y.astype(np.float32), wide, equal_nan=True)


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_round_once_and_saturate_as_onnx_says(tmp_path, kind, saturate):
    """Neighbours of every tie, and what lies beyond; in f32, f64 and as a constant."""
    values = np.sort(every(kind).astype(np.float32)[:128])
    values = values[np.isfinite(values)]
    ties = (values[1:] + values[:-1]) / 2
    beyond = values[-1] + (values[-1] - values[-2]) * np.array([0.49, 0.5, 0.51, 3, 1e20])
    x = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf), beyond, [np.inf, np.nan, 0, 1e-9]])
    x = np.concatenate([x, -x]).astype(np.float32)
    wanted = x.astype(dtype(kind)) if not saturate else onnx.numpy_helper.saturate_cast(x, dtype(kind))
    node = helper.make_node("Cast", ["x"], ["y"], to=number(kind), saturate=saturate)
    widen = helper.make_node("Cast", ["x"], ["d"], to=number("DOUBLE"))
    from_double = helper.make_node("Cast", ["d"], ["y"], to=number(kind), saturate=saturate)
    constant = helper.make_node("Add", ["f", "z"], ["y"])
    to_float = [node, helper.make_node("Cast", ["y"], ["f"], to=1), constant]
    to_float[0] = helper.make_node("Cast", ["c"], ["n"], to=number(kind), saturate=saturate)
    to_float[1] = helper.make_node("Cast", ["n"], ["f"], to=1)
    for nodes in ([node], [widen, from_double]):
        (y,) = deploy(tmp_path, nodes, {"x": ("FLOAT", x.shape)}, kind).run(None, {"x": x})
        assert np.array_equal(y.view(dtype(kind)).astype(np.float32), wanted.astype(np.float32), equal_nan=True)
    folded = deploy(tmp_path, to_float, {"z": ("FLOAT", [1])}, "FLOAT", [numpy_helper.from_array(x, "c")])
    (y,) = folded.run(None, {"z": np.zeros(1, np.float32)})
    assert np.array_equal(y, wanted.astype(np.float32), equal_nan=True)


def storing(kind):
    """What of a cast from and to a float of few bits is left to the host."""
    return {"bits in another type"} | ({"elements of type ui4"} if kind == "FLOAT4E2M1" else set())


@pytest.mark.parametrize("processor", ["a3", "a5"])
@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("source", ["FLOAT", "FLOAT16", "BFLOAT16"])
@pytest.mark.parametrize("kind", FLOATS + MX)
def test_the_engines_make_the_codes_of_the_host(tmp_path, kind, source, saturate, processor):
    """Any bits, NaNs and numbers below the least normal one included; the host casts what comes from f64."""
    x = np.random.default_rng(5).integers(0, 2**32, 4099, np.uint64).astype(np.uint32)
    x = x.view(np.float32) if source == "FLOAT" else x.astype(np.uint16).view(dtype(source))
    inputs = {"x": (source, x.shape)}
    cast = helper.make_node("Cast", ["x"], ["y"], to=number(kind), saturate=saturate)
    engines, reasons = build(tmp_path, [cast], inputs, kind, processor=processor)
    assert reasons == storing(kind)
    widen = helper.make_node("Cast", ["x"], ["d"], to=number("DOUBLE"))
    narrow = helper.make_node("Cast", ["d"], ["y"], to=number(kind), saturate=saturate)
    host = deploy(tmp_path, [widen, narrow], inputs, kind)
    (mine,), (theirs,) = engines.run(None, {"x": x}), host.run(None, {"x": x})
    assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("kind", FLOATS + MX)
@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_codes_become_values_in_every_mode(tmp_path, kind, mode):
    """The sum is in the mode's type, to which the values of most types are exact."""
    x = every(kind)
    wide = x.astype(np.float32)
    x = x[(np.abs(wide) >= 2.0**-14) & (np.abs(wide) < 2.0**16) | (wide == 0)]
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=1), helper.make_node("Add", ["f", "z"], ["y"])]
    session, reasons = build(tmp_path, nodes, {"x": (kind, x.shape), "z": ("FLOAT", [1])}, "FLOAT", mode=mode)
    assert reasons == storing(kind)
    (y,) = session.run(None, {"x": x, "z": np.zeros(1, np.float32)})
    assert np.array_equal(y, x.astype(np.float32))


@pytest.mark.parametrize("kind", [*INTEGERS, "FLOAT8E5M2", *MX])
def test_packed_tensors_move(tmp_path, kind):
    """An odd number of elements, a weight among the operands, movement that crosses bytes."""
    random = np.random.default_rng(1)
    x, w = (random.choice(every(kind)[:16], shape) for shape in ((3, 5), (3, 2)))
    nodes = [
        helper.make_node("Concat", ["x", "w"], ["c"], axis=1),
        helper.make_node("Transpose", ["c"], ["t"]),
        helper.make_node("Slice", ["t", "from", "to"], ["y"]),
    ]
    constants = [numpy_helper.from_array(np.array(v), n) for n, v in (("from", [1, 0]), ("to", [7, 2]))]
    weight = onnx.helper.make_tensor("w", number(kind), w.shape, w.astype(np.float32).flatten())
    session = deploy(tmp_path, nodes, {"x": (kind, x.shape)}, kind, [weight, *constants])
    (y,) = session.run(None, {"x": x})
    wanted = np.concatenate([x, w], 1).T[1:7, :2]
    assert y.dtype == (np.uint8 if kind.startswith(("U", "F")) else np.int8)
    assert np.array_equal(
        y if kind in INTEGERS else y.view(x.dtype), wanted.astype(y.dtype) if kind in INTEGERS else wanted
    )


def test_a_weight_of_four_bits_is_widened_once(tmp_path):
    """Dequantisation by hand: the weight is folded to f32, the product is the engines'."""
    w = np.arange(-8, 7).reshape(5, 3).astype(ml_dtypes.int4)
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=1),
        helper.make_node("Mul", ["f", "s"], ["d"]),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    constants = [
        onnx.helper.make_tensor("w", number("INT4"), w.shape, w.astype(np.int8).flatten()),
        numpy_helper.from_array(np.array([0.5, 0.25, 2], np.float32), "s"),
    ]
    x = np.random.default_rng(2).uniform(-1, 1, (4, 5)).astype(np.float32)
    session = deploy(tmp_path, nodes, {"x": ("FLOAT", x.shape)}, "FLOAT", constants)
    assert session.info()["host_ops"] == []
    wanted = x @ (w.astype(np.float32) * np.array([0.5, 0.25, 2], np.float32))
    np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=1e-5)


def test_integers_that_do_not_fit_are_refused(tmp_path):
    session = deploy(tmp_path, [helper.make_node("Cast", ["x"], ["y"], to=1)], {"x": ("INT4", [3])}, "FLOAT")
    assert np.array_equal(session.run(None, {"x": np.array([-8, 7, 0], np.int8)})[0], [-8, 7, 0])
    with pytest.raises(InvalidArgument, match="input 'x': element 1 is 8, which i4 does not hold"):
        session.run(None, {"x": np.array([0, 8, 0], np.int8)})
    with pytest.raises(InvalidArgument, match="expects i4 3, got u8 3"):
        session.run(None, {"x": np.zeros(3, np.uint8)})


@pytest.mark.parametrize("source", ["FLOAT", "DOUBLE", "FLOAT16", "constant"])
def test_casts_to_four_bits_round_to_even_and_saturate(tmp_path, source):
    """All f16 values in [-8, 8] and what lies beyond, against ml_dtypes (whose NaN is -0)."""
    x = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    x = np.concatenate([x[np.abs(x) <= 8], [np.inf, -np.inf, np.nan, 1e30, -1e30, 0.25000003, 4.9999995]])
    x = x.astype(np.float32)
    if source in ("DOUBLE", "FLOAT16"):
        x = x.astype(dtype(source))
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=number("FLOAT4E2M1"))]
    if source == "constant":
        nodes = [
            helper.make_node("Cast", ["c"], ["n"], to=number("FLOAT4E2M1")),
            helper.make_node("Identity", ["n"], ["y"]),
        ]
        session = deploy(tmp_path, nodes, {"z": ("FLOAT", [1])}, "FLOAT4E2M1", [numpy_helper.from_array(x, "c")])
        (y,) = session.run(None, {"z": np.zeros(1, np.float32)})
    else:
        (y,) = deploy(tmp_path, nodes, {"x": (source, x.shape)}, "FLOAT4E2M1").run(None, {"x": x})
    assert np.array_equal(y, x.astype(ml_dtypes.float4_e2m1fn).view(np.uint8))


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("source", ["FLOAT", "DOUBLE", "constant"])
def test_casts_to_powers_of_two(tmp_path, source, round_mode, saturate):
    """Neighbours of every power and tie against onnx's reference; the ends of the type as the table of Cast says, where
    the reference differs from it (infinity, powers below 2^-126, 0)."""
    powers = np.ldexp(np.float32(1), np.arange(-126, 128)).astype(np.float32)
    x = np.concatenate(
        [
            [v, np.nextafter(v, np.float32(np.inf)), np.nextafter(v, np.float32(0))]
            for v in (*powers[1:], *powers[1:-1] * np.float32(1.5))
        ]
    )
    x = x.astype(np.float32)
    wanted = numpy_helper.to_float8e8m0(x, bool(saturate), round_mode).view(np.uint8)
    ends = {np.nan: 255, np.inf: 254, -1.0: 255, 0.0: 0, 2.0**-127: 0, 2.0**-140: 0, 2.0**-126: 1}
    if not saturate:
        ends |= {np.inf: 255, 0.0: 255, 2.0**-140: 255}
    ends[1.5 * 2.0**-127] = {"up": 1, "down": 0, "nearest": 1}[round_mode]
    top = float(np.finfo(np.float32).max)
    ends[top] = 254 if saturate or round_mode == "down" else 255
    x = np.concatenate([x, np.array(list(ends), np.float32)])
    wanted = np.concatenate([wanted, np.array(list(ends.values()), np.uint8)])
    flags = {"to": number("FLOAT8E8M0"), "round_mode": round_mode, "saturate": saturate}
    if source == "constant":
        nodes = [helper.make_node("Cast", ["c"], ["n"], **flags), helper.make_node("Identity", ["n"], ["y"])]
        session = deploy(tmp_path, nodes, {"z": ("FLOAT", [1])}, "FLOAT8E8M0", [numpy_helper.from_array(x, "c")])
        (y,) = session.run(None, {"z": np.zeros(1, np.float32)})
    else:
        node = helper.make_node("Cast", ["x"], ["y"], **flags)
        x = x.astype(dtype(source))
        (y,) = deploy(tmp_path, [node], {"x": (source, x.shape)}, "FLOAT8E8M0").run(None, {"x": x})
    assert np.array_equal(y, wanted)


def test_a_weight_in_blocks_of_mx_is_widened_once(tmp_path):
    """float4 with a power of two per block, as MX stores it: folded to f32, the product is the engines'."""
    rng = np.random.default_rng(4)
    w = rng.integers(0, 16, (8, 6)).astype(np.uint8).view(ml_dtypes.float4_e2m1fn)
    s = rng.integers(120, 134, (8, 3)).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=1),
        helper.make_node("Cast", ["s"], ["g"], to=1),
        helper.make_node("Reshape", ["f", "blocks"], ["b"]),
        helper.make_node("Unsqueeze", ["g", "last"], ["u"]),
        helper.make_node("Mul", ["b", "u"], ["d"]),
        helper.make_node("Reshape", ["d", "whole"], ["m"]),
        helper.make_node("MatMul", ["x", "m"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(w, "w"),
        numpy_helper.from_array(s, "s"),
        *(
            numpy_helper.from_array(np.array(v), n)
            for n, v in (("blocks", [8, 3, 2]), ("last", [2]), ("whole", [8, 6]))
        ),
    ]
    x = rng.uniform(-1, 1, (4, 8)).astype(np.float32)
    session = deploy(tmp_path, nodes, {"x": ("FLOAT", x.shape)}, "FLOAT", constants)
    assert session.info()["host_ops"] == []
    wide = w.astype(np.float32).reshape(8, 3, 2) * s.astype(np.float32)[..., None]
    np.testing.assert_allclose(session.run(None, {"x": x})[0], x @ wide.reshape(8, 6), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", [*FLOATS, "FLOAT8E8M0"])
def test_what_is_not_zero(tmp_path, kind):
    """-0 is, no power of two is."""
    x = every(kind)
    session = deploy(tmp_path, [helper.make_node("NonZero", ["x"], ["y"])], {"x": (kind, x.shape)}, "INT64")
    assert np.array_equal(session.run(None, {"x": x})[0], np.nonzero(x.astype(np.float32)))


def test_cast_like(tmp_path):
    x = np.array([1.3, -700, 0.02], np.float32)
    node = helper.make_node("CastLike", ["x", "like"], ["y"], saturate=0)
    like = onnx.helper.make_tensor("like", number("FLOAT8E4M3FN"), [1], [0.0])
    (y,) = deploy(tmp_path, [node], {"x": ("FLOAT", [3])}, "FLOAT8E4M3FN", [like]).run(None, {"x": x})
    wanted = x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert np.array_equal(y.view(ml_dtypes.float8_e4m3fn).astype(np.float32), wanted, equal_nan=True)


def test_an_input_that_only_gives_a_type_may_be_empty(tmp_path):
    node = helper.make_node("CastLike", ["x", "like"], ["y"])
    session = deploy(tmp_path, [node], {"x": ("FLOAT", [3]), "like": ("INT8", [0])}, "INT8")
    feed = {"x": np.array([1.5, -7, 99], np.float32), "like": np.zeros(0, np.int8)}
    assert np.array_equal(session.run(None, feed)[0], [1, -7, 99])
    with pytest.raises(UserError, match="broadcast"):
        deploy(
            tmp_path,
            [helper.make_node("Add", ["x", "like"], ["y"])],
            {"x": ("INT8", [3]), "like": ("INT8", [0])},
            "INT8",
        )


def test_arithmetic_is_refused(tmp_path):
    with pytest.raises(UserError, match="elements of type i4, which neither the engines nor the host do"):
        deploy(tmp_path, [helper.make_node("Add", ["x", "x"], ["y"])], {"x": ("INT4", [3])}, "INT4")


SQUARES = {
    "MeanVarianceNormalization": (
        {},
        lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True),
    ),
    "LpNormalization": ({"axis": 1}, lambda x: x / np.sqrt((x**2).sum(1, keepdims=True))),
    "LRN": ({"size": 1, "alpha": 0.1}, lambda x: x / (1 + 0.1 * x**2) ** 0.75),
    "LpPool": ({"kernel_shape": [2, 1], "strides": [2, 1]}, lambda x: np.hypot(x[:, :, ::2], x[:, :, 1::2])),
    "GlobalLpPool": ({}, lambda x: np.sqrt((x**2).sum((2, 3), keepdims=True))),
    "ReduceL2": ({}, lambda x: np.sqrt((x**2).sum(keepdims=True))),
}


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("op", SQUARES)
def test_squares_beyond_f16(op, mode, tmp_path):
    """Of models whose tensors are f16: a sum of squares need not fit f16 where the result does."""
    attributes, exact = SQUARES[op]
    x = (500 * np.random.default_rng(4).standard_normal((2, 4, 8, 8))).astype(np.float16)
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    session, _ = build(tmp_path, [node], {"x": ("FLOAT16", x.shape)}, "FLOAT16", mode=mode)
    wanted = exact(x.astype(np.float64))
    assert np.linalg.norm(session.run(None, {"x": x})[0] - wanted) < 5e-4 * np.linalg.norm(wanted)


@pytest.mark.parametrize("quantize", ["F16", "F32"])
@pytest.mark.parametrize("axis", [0, 1])
def test_products_of_f16_are_f32_until_the_last(tmp_path, axis, quantize):
    """6 or 200 factors near 1: rounded at each step a product is up to 5e-3 off, rounded once it is the one in f64."""
    x = (1 + 0.05 * np.random.default_rng(0).standard_normal((6, 200))).astype(np.float16)
    exact = np.prod(x.astype(np.float64), axis=axis, keepdims=True)
    half = TensorProto.FLOAT16
    graph = helper.make_graph(
        [helper.make_node("ReduceProd", ["x", "axes"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", half, x.shape)],
        [helper.make_tensor_value_info("y", half, exact.shape)],
        [numpy_helper.from_array(np.array([axis], np.int64), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    compiler.transform(str(tmp_path / "m.onnx"), "m", None, [], str(tmp_path / "m.mlir"), "")
    compiler.deploy(str(tmp_path / "m.mlir"), str(tmp_path / "m.pmodel"), quantize, "a3", 1, False)
    (y,) = InferenceSession(str(tmp_path / "m.pmodel")).run(None, {"x": x})
    np.testing.assert_array_equal(y, exact.astype(np.float16))
