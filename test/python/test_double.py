"""Models in double precision: the host computes them in double, whatever the operator; numpy is the reference."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pto_mlir import compiler
from pto_mlir.runtime import InferenceSession

F64 = TensorProto.DOUBLE
RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _same_numbers():
    """Each test draws the same numbers, whichever tests ran before it."""
    global RNG
    RNG = np.random.default_rng(11)


def graph_of(nodes, feed, constants, kinds, opset):
    return helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
                for name, x in feed.items()
            ],
            [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
            [numpy_helper.from_array(array, name) for name, array in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=10,
    )


def run(folder, model, feed, strict=False):
    """What the compiled model gives, by output name."""
    files = [str(folder / name) for name in ("m.onnx", "m.mlir", "m.pmodel")]
    onnx.save(model, files[0])
    compiler.transform(files[0], "m", [], [], files[1], "", strict_f64=strict)
    compiler.deploy(files[1], files[2], "F16", "a3", 1, False)
    session = InferenceSession(files[2])
    return dict(zip((info.name for info in session.get_outputs()), session.run(None, feed), strict=True))


def single(folder, op, values, constants=None, outputs=("y",), kind=F64, opset=20, **attributes):
    """One node on `values`, then `constants`: ours and onnx's reference."""
    feed = {f"x{i}": np.asarray(value) for i, value in enumerate(values)}
    rest = {f"c{i}": np.asarray(value) for i, value in enumerate(constants or ())}
    node = helper.make_node(op, [*feed, *rest], list(outputs), **attributes)
    model = graph_of([node], feed, rest, dict.fromkeys(outputs, kind), opset)
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(model).run(None, feed)
    return list(run(folder, model, feed).values()), wanted


def check(ours, wanted, ulps):
    for got, want in zip(ours, wanted, strict=True):
        want = np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        if ulps == 0 or want.dtype != np.float64:
            assert np.array_equal(got, want, equal_nan=want.dtype.kind == "f")
            continue
        far = np.abs(got - want) > ulps * np.spacing(np.maximum(np.abs(want), 1e-300))
        assert not far.any(), (got[far][:4], want[far][:4])


def numbers(*shape):
    """Over the whole range of f64's exponents that squares stay in, and well beyond f32's."""
    return RNG.uniform(-1, 1, shape) * 10.0 ** RNG.integers(-140, 140, shape)


def near(*shape, low=-3.0, high=3.0):
    return RNG.uniform(low, high, shape)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum"])
def test_arithmetic_is_exact(tmp_path, op):
    check(*single(tmp_path, op, [numbers(6, 5), numbers(5)]), 1 if op == "Mean" else 0)


@pytest.mark.parametrize("op", ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"])
def test_comparisons_see_the_last_bit(tmp_path, op):
    x = numbers(40)
    z = np.nextafter(x, RNG.choice([-np.inf, np.inf], 40))
    z[::4] = x[::4]
    check(*single(tmp_path, op, [x, z], kind=TensorProto.BOOL), 0)


@pytest.mark.parametrize("op", ["Abs", "Neg", "Floor", "Ceil", "Round", "Sign", "Relu", "Reciprocal", "Identity"])
def test_exact_functions(tmp_path, op):
    x = np.concatenate([numbers(30), near(30), [0.5, 1.5, -2.5, 2**52 + 0.5, 1e300]])
    check(*single(tmp_path, op, [x]), 0)


@pytest.mark.parametrize("op", "Sqrt Exp Log Sin Cos Tan Tanh Asin Acos Atan Sinh Cosh Asinh Acosh Atanh".split())
def test_functions_are_libms(tmp_path, op):
    low, high = {"Sqrt": (0, 1e9), "Log": (1e-9, 1e9), "Asin": (-1, 1), "Acos": (-1, 1), "Atanh": (-0.99, 0.99)}.get(
        op, (1, 90) if op == "Acosh" else (-9, 9)
    )
    check(*single(tmp_path, op, [near(200, low=low, high=high)]), 0 if op == "Sqrt" else 2)


ACTIVATIONS = {
    "Sigmoid": {},
    "Softplus": {},
    "Softsign": {},
    "Elu": {"alpha": 1.5},
    "Celu": {"alpha": 0.75},
    "Selu": {},
    "LeakyRelu": {"alpha": 0.25},
    "HardSigmoid": {"alpha": 0.25, "beta": 0.5},
    "HardSwish": {},
    "ThresholdedRelu": {"alpha": 0.5},
    "Mish": {},
    "Shrink": {"lambd": 0.5, "bias": 0.25},
}


def reference(op, x, alpha=1.0, beta=0.5, lambd=0.5, bias=0.0):
    """Activations in double; onnx's own evaluator rounds attributes or results to f32 in some."""
    e, line = np.expm1(np.minimum(x, 0)), np.maximum(x, 0)
    return {
        "Sigmoid": lambda: 1 / (1 + np.exp(-x)),
        "Softplus": lambda: line + np.log1p(np.exp(-np.abs(x))),
        "Softsign": lambda: x / (1 + np.abs(x)),
        "Elu": lambda: line + alpha * e,
        "Celu": lambda: line + alpha * np.expm1(np.minimum(x, 0) / alpha),
        "Selu": lambda: 1.05070102214813232421875 * (line + 1.67326319217681884765625 * e),
        "LeakyRelu": lambda: np.where(x < 0, alpha * x, x),
        "HardSigmoid": lambda: np.clip(alpha * x + beta, 0, 1),
        "HardSwish": lambda: x * np.clip(x / 6 + 0.5, 0, 1),
        "ThresholdedRelu": lambda: np.where(x > alpha, x, 0),
        "Mish": lambda: x * np.tanh(np.log1p(np.exp(x))),
        "Shrink": lambda: np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)),
    }[op]()


@pytest.mark.parametrize("op", ACTIVATIONS)
def test_activations_keep_double_precision(tmp_path, op):
    x = np.concatenate([near(100, low=-20, high=20), near(100, low=-1e-7, high=1e-7)])
    ours, _ = single(tmp_path, op, [x], opset=18, **ACTIVATIONS[op])
    check(ours, [reference(op, x, **ACTIVATIONS[op])], 8)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(tmp_path, approximate):
    from math import erfc, exp, pi, sqrt

    x = near(200, low=-8, high=8)
    exact = [v / 2 * erfc(-v / sqrt(2)) for v in x]
    cubic = [v / (1 + exp(-2 * sqrt(2 / pi) * (v + 0.044715 * v**3))) for v in x]
    ours, _ = single(tmp_path, "Gelu", [x], approximate=approximate)
    # The references round their exponents, up to 64, to double.
    check(ours, [np.array(exact if approximate == "none" else cubic)], 256)


def test_erf_is_libms(tmp_path):
    from math import erf

    x = near(200)
    ours, _ = single(tmp_path, "Erf", [x])
    check(ours, [np.array([erf(v) for v in x])], 2)


def test_powers_and_remainders(tmp_path):
    x, z = near(50, low=0.1, high=9), near(50)
    check(*single(tmp_path, "Pow", [x, z]), 2)
    check(*single(tmp_path, "Mod", [x, z], fmod=1), 0)


REDUCTIONS = (
    "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp"
)


@pytest.mark.parametrize("op", REDUCTIONS.split())
def test_reductions(tmp_path, op):
    x = near(3, 7, 5, low=0.5, high=1.5)
    for axes in ([1], [0, 2]):
        check(*single(tmp_path, op, [x], [np.array(axes)]), 40)


@pytest.mark.parametrize("op", ["CumSum", "Softmax", "LogSoftmax", "Hardmax", "ArgMax", "ArgMin"])
def test_along_an_axis(tmp_path, op):
    x = near(4, 9)
    if op == "CumSum":
        check(*single(tmp_path, op, [x], [np.array(1)]), 64)
    else:
        kind = TensorProto.INT64 if op.startswith("Arg") else F64
        check(*single(tmp_path, op, [x], axis=1, kind=kind), 64)


def test_matrix_products(tmp_path):
    a, b, c = near(4, 7), near(7, 5), near(5)
    check(*single(tmp_path, "MatMul", [a, b]), 1024)
    check(*single(tmp_path, "Gemm", [a, b, c], alpha=0.5, beta=2.0), 1024)
    check(*single(tmp_path, "Einsum", [a, b], equation="ij,jk->ki"), 1024)


def test_windows(tmp_path):
    x, w, b = near(2, 4, 9, 8), near(6, 2, 3, 3), near(6)
    window = {"strides": [2, 1], "pads": [1, 0, 1, 2]}
    check(*single(tmp_path, "Conv", [x], [w, b], group=2, dilations=[1, 2], **window), 4096)
    check(*single(tmp_path, "Conv", [near(1, 3, 11)], [near(2, 3, 4)]), 4096)
    check(*single(tmp_path, "ConvTranspose", [x], [near(4, 3, 3, 2)], group=1, **window), 4096)
    check(*single(tmp_path, "MaxPool", [x], kernel_shape=[3, 2], ceil_mode=1, **window), 0)
    # Means of one sign: where numbers cancel, the reference's own error is many spacings of the mean.
    check(*single(tmp_path, "AveragePool", [np.abs(x)], kernel_shape=[3, 3], **window), 16)
    check(*single(tmp_path, "GlobalAveragePool", [np.abs(x)]), 16)
    check(*single(tmp_path, "GlobalMaxPool", [x]), 0)


def test_normalizations(tmp_path):
    x, channels = near(2, 3, 4, 5), [near(3, low=0.5, high=2) for _ in range(4)]
    check(*single(tmp_path, "BatchNormalization", [x], channels, epsilon=1e-3), 1024)
    check(*single(tmp_path, "InstanceNormalization", [x], channels[:2], epsilon=1e-3), 4096)
    ours, _ = single(tmp_path, "LayerNormalization", [x], [near(5), near(5)], epsilon=1e-3)
    assert ours[0].dtype == np.float64


MOVES = {
    "Transpose": ([], {"perm": [1, 0]}),
    "Reshape": ([np.array([3, 8])], {}),
    "Flatten": ([], {}),
    "Squeeze": ([], {}),
    "Slice": ([np.array([3, 0]), np.array([0, 6]), np.array([0, 1]), np.array([-1, 2])], {}),
    "Expand": ([np.array([2, 4, 6])], {}),
    "Tile": ([np.array([2, 2])], {}),
    "Gather": ([np.array([2, -1, 0])], {"axis": 0}),
    "Pad": ([np.array([1, 0, 0, 2]), np.array(0.1)], {}),
    "Trilu": ([], {}),
    "Concat": ([numbers(4, 1)], {"axis": 1}),
}


@pytest.mark.parametrize("op", MOVES)
def test_movement_keeps_every_bit(tmp_path, op):
    constants, attributes = MOVES[op]
    check(*single(tmp_path, op, [numbers(4, 6)], constants, **attributes), 0)


def test_selection(tmp_path):
    x, z = numbers(4, 6), numbers(4, 6)
    check(*single(tmp_path, "Where", [RNG.uniform(size=(4, 6)) < 0.5, x, z]), 0)
    check(*single(tmp_path, "Clip", [x], [np.array(-0.1), np.array(1e100)]), 0)


@pytest.mark.parametrize("kind", ["float32", "float16", "int32", "int64", "uint8", "bool"])
def test_casts(tmp_path, kind):
    x = np.concatenate([near(30, low=-100, high=100), [0, 1 + 2.0**-24 + 2.0**-45, 1 + 2.0**-11 + 2.0**-40]])
    x = np.abs(x) if kind == "uint8" else x
    to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    check(*single(tmp_path, "Cast", [x], to=to, kind=to), 0)
    check(*single(tmp_path, "Cast", [x.astype(kind)], to=F64), 0)


def test_a_model_of_both_precisions(tmp_path):
    """Time stamps in f64, what follows from their differences on the engines."""
    now, then = 1.7e9 + RNG.uniform(0, 1, 50), np.array(1.7e9)
    nodes = [
        helper.make_node("Sub", ["t", "then"], ["d"]),
        helper.make_node("Cast", ["d"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Exp", ["f"], ["y"]),
    ]
    model = graph_of(nodes, {"t": now}, {"then": then}, {"y": TensorProto.FLOAT}, 18)
    np.testing.assert_allclose(run(tmp_path, model, {"t": now})["y"], np.exp(now - then), rtol=2e-3)


def cubic(size, scale, count):
    """The matrix of half_pixel cubic interpolation, in double; onnx's evaluator is off by 1e-6."""
    a, matrix = -0.75, np.zeros((count, size))
    for o in range(count):
        x = (o + 0.5) / float(scale) - 0.5
        for i in range(int(np.floor(x)) - 1, int(np.floor(x)) + 3):
            t = abs(x - i)
            near, far = ((a + 2) * t - (a + 3)) * t * t + 1, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
            matrix[o, np.clip(i, 0, size - 1)] += near if t < 1 else far if t < 2 else 0
    return matrix


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resizes_have_weights_in_double(tmp_path, mode):
    x, scales = near(1, 2, 5, 7), np.array([1, 1, 1.7, 0.6], np.float32)
    ours, wanted = single(tmp_path, "Resize", [x], [np.zeros(0, np.float32), scales], mode=mode)
    if mode == "cubic":
        wanted = [np.einsum("oi,bcij,pj->bcop", cubic(5, scales[2], 8), x, cubic(7, scales[3], 4))]
    np.testing.assert_allclose(ours[0], wanted[0], atol=1e-13)
    sizes = [np.zeros(0, np.float32), np.zeros(0, np.float32), np.array([1, 2, 9, 4])]
    ours, wanted = single(tmp_path, "Resize", [x], sizes, mode=mode, coordinate_transformation_mode="align_corners")
    np.testing.assert_allclose(ours[0], wanted[0], atol=1e-5)  # the reference has coordinates in f32 here, and below
    if mode == "linear":
        rows = np.apply_along_axis(lambda v: np.interp(np.linspace(0, 4, 9), range(5), v), 2, x)
        exact = np.apply_along_axis(lambda v: np.interp(np.linspace(0, 6, 4), range(7), v), 3, rows)
        np.testing.assert_allclose(ours[0], exact, atol=1e-14)
    crop = [np.array([0, 0, 0.1, 0.2, 1, 1, 1.2, 0.9], np.float32), np.zeros(0, np.float32), np.array([1, 2, 6, 5])]
    attributes = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.5}
    ours, wanted = single(tmp_path, "Resize", [x], crop, mode=mode, **attributes)
    np.testing.assert_allclose(ours[0], wanted[0], atol=1e-5)


def attention_f64(q, k, v, allowed=None, bias=0.0, softcap=0.0, scale=None):
    """Heads first; query heads share keys in groups. A row that may see no key is 0."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = np.einsum("bhid,bhjd->bhij", q, k) * (scale or 1 / np.sqrt(q.shape[3]))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores + bias
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    e = np.exp(scores - np.maximum(scores.max(3, keepdims=True), -1e300))
    return np.einsum("bhij,bhjd->bhid", e / np.maximum(e.sum(3, keepdims=True), 0.5), v)


@pytest.mark.parametrize("case", ["plain", "causal", "bias", "mask", "softcap", "groups", "past", "window"])
def test_attention_in_double(tmp_path, case):
    """Scores, softmax and sums by the host: 2^-53 against numpy, where f32 would differ in the eighth digit."""
    q, k, v = near(2, 4, 5, 8), near(2, 2 if case == "groups" else 4, 7, 8), near(2, 2 if case == "groups" else 4, 7, 6)
    names, more, attributes, kinds = ["q", "k", "v"], {}, {}, {"y": F64}
    rows, keys = np.arange(5)[:, None], np.arange(7)
    expected = {}
    if case in ("causal", "past"):
        attributes, expected = {"is_causal": 1}, {"allowed": keys <= rows}
    elif case == "bias":
        more = {"m": near(2, 1, 5, 7)}
        expected = {"bias": more["m"]}
    elif case == "mask":
        more = {"m": RNG.random((5, 7)) > 0.4}
        more["m"][3] = False
        expected = {"allowed": more["m"]}
    elif case == "softcap":
        attributes, expected = {"softcap": 2.5, "scale": 0.75}, {"softcap": 2.5, "scale": 0.75}
    elif case == "window":
        attributes = {"left_window_size": 2, "right_window_size": 1}
        expected = {"allowed": (keys >= rows - 2) & (keys <= rows + 1)}
    if case == "past":
        more = {"pk": near(2, 4, 3, 8), "pv": near(2, 4, 3, 6)}
        names += ["", "pk", "pv"]
        kinds |= {"nk": F64, "nv": F64}
        expected = {"allowed": np.arange(10) <= rows + 3}
    else:
        names += list(more)
    model = graph_of(
        [helper.make_node("Attention", names, list(kinds), **attributes)],
        {"q": q, "k": k, "v": v} | more,
        {},
        kinds,
        25,
    )
    ours = run(tmp_path, model, {"q": q, "k": k, "v": v} | more)
    if case == "past":
        k, v = np.concatenate([more["pk"], k], 2), np.concatenate([more["pv"], v], 2)
        assert np.array_equal(ours["nk"], k) and np.array_equal(ours["nv"], v)
    np.testing.assert_allclose(ours["y"], attention_f64(q, k, v, **expected), rtol=1e-13, atol=1e-14)
    if case in ("plain", "bias"):
        np.testing.assert_allclose(
            ours["y"], ReferenceEvaluator(model).run(None, {"q": q, "k": k, "v": v} | more)[0], rtol=1e-7
        )


def test_a_softmax_between_casts_is_double_when_that_is_strict(tmp_path):
    """Without --strict-f64 a softmax between casts from and to f32 is the engines', in f32."""
    x = near(2, 40, low=-30, high=30).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["x"], ["d"], to=F64),
        helper.make_node("Softmax", ["d"], ["s"], axis=1),
        helper.make_node("Cast", ["s"], ["y"], to=TensorProto.FLOAT),
    ]
    model = graph_of(nodes, {"x": x}, {}, {"y": TensorProto.FLOAT}, 18)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    assert np.array_equal(run(tmp_path, model, {"x": x}, strict=True)["y"], (e / e.sum(1, keepdims=True)).astype("f4"))
