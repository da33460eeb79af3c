"""Top-k, gathers and scatters at computed places, cumulative products, and what is composed of them, beside onnxruntime
and numpy."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from pto_mlir import compiler
from pto_mlir.errors import UserError
from pto_mlir.reference import run_onnx
from pto_mlir.runtime import InferenceSession


def kind(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def build(path, op, feeds, constants=(), outputs=("float32",), opset=18, **attributes):
    """A graph of one node, whose inputs are `feeds` in order but for the `constants` among them."""
    names = list(feeds)
    node = helper.make_node(op, names, [f"y{i}" for i in range(len(outputs))], **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(n, kind(feeds[n].dtype), feeds[n].shape) for n in names if n not in constants],
        [helper.make_tensor_value_info(f"y{i}", kind(dtype), None) for i, dtype in enumerate(outputs)],
        [numpy_helper.from_array(feeds[n], n) for n in constants],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)
    return {n: feeds[n] for n in names if n not in constants}


def converted(folder, feed, mode="F32", processor="a3", cores=1):
    compiler.transform(str(folder / "m.onnx"), "m", [], [], str(folder / "m.mlir"), "")
    compiler.deploy(str(folder / "m.mlir"), str(folder / "m.pmodel"), mode, processor, cores, False)
    return InferenceSession(str(folder / "m.pmodel")).run(None, feed)


def ties(*shape, seed=1):
    return (np.random.default_rng(seed).integers(-40, 40, shape) / 8).astype(np.float32)


TOPK = [
    ((7, 32), 1, 5),
    ((3, 33, 4), 1, 33),
    ((130, 7), -1, 1),
    ((5, 600), 1, 20),
    ((2, 2049), 1, 9),
    ((3, 5000), 1, 2500),
    ((1, 9000), 1, 4096),
]


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize("shape,axis,k", TOPK, ids=str)
def test_topk(shape, axis, k, mode, largest, tmp_path):
    """Values and places, ties included: multiples of 1/8 up to 5 are exact in every storage type."""
    feeds = {"x": ties(*shape), "k": np.array([k], np.int64)}
    feed = build(tmp_path / "m.onnx", "TopK", feeds, ["k"], ["float32", "int64"], axis=axis, largest=largest)
    expected = list(run_onnx(tmp_path / "m.onnx", feed).values())
    for processor, cores in (("a3", 1), ("a3", 2), ("a5", 24)):
        values, places = converted(tmp_path, feed, mode, processor, cores)
        np.testing.assert_array_equal(values, expected[0])
        np.testing.assert_array_equal(places, expected[1])


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_topk_of_integers(kind, mode, tmp_path):
    """All 32 bits count, in every mode."""
    x = np.random.default_rng(3).integers(-(2**30), 2**30, (4, 300))
    x[:, ::7] = x[:, 1::7][:, : x[:, ::7].shape[1]] + np.random.default_rng(4).integers(-1, 2, x[:, ::7].shape)
    feeds = {"x": x.astype(kind), "k": np.array([50], np.int64)}
    for largest in (0, 1):
        feed = build(tmp_path / "m.onnx", "TopK", feeds, ["k"], [kind, "int64"], largest=largest)
        expected = list(run_onnx(tmp_path / "m.onnx", feed).values())
        for got, want in zip(converted(tmp_path, feed, mode), expected):
            np.testing.assert_array_equal(got, want)


def test_topk_infinities(tmp_path):
    """Elements that look like the border behind a row."""
    x = np.full((2, 40), -np.inf, np.float32)
    x[0, 7] = 1
    feeds = {"x": x, "k": np.array([40], np.int64)}
    feed = build(tmp_path / "m.onnx", "TopK", feeds, ["k"], ["float32", "int64"])
    for got, want in zip(converted(tmp_path, feed), run_onnx(tmp_path / "m.onnx", feed).values()):
        np.testing.assert_array_equal(got, want)


def test_doubles_on_the_host(tmp_path):
    """No engine has f64; the host keeps all its bits."""
    x = 1 + np.random.default_rng(2).permutation(60).reshape(3, 20) * 2.0**-50
    feed = build(tmp_path / "m.onnx", "TopK", {"x": x, "k": np.array([7])}, ["k"], ["float64", "int64"])
    for got, want in zip(converted(tmp_path, feed), run_onnx(tmp_path / "m.onnx", feed).values()):
        np.testing.assert_array_equal(got, want)


def cases_of_every_kind():
    x, rng = ties(4, 30, seed=9), np.random.default_rng(8)
    k = np.array([6], np.int64)
    yield "TopK", {"x": x, "k": k}, ["k"], ["float32", "int64"], {"largest": 0}
    yield "TopK", {"x": (x * 8).astype(np.int32), "k": k}, ["k"], ["int32", "int64"], {}
    index = rng.integers(-30, 30, (4, 9))
    yield "GatherElements", {"x": x, "i": index}, [], ["float32"], {"axis": 1}
    updates = {"u": rng.uniform(-2, 2, (4, 9)).astype(np.float32)}
    yield "ScatterElements", {"x": x, "i": index} | updates, [], ["float32"], {"axis": 1, "reduction": "add"}


@pytest.mark.parametrize("number", range(4))
def test_on_the_cpu(number, tmp_path):
    """The top module runs without kernels for model_transform's comparison."""
    op, feeds, constants, outputs, attributes = list(cases_of_every_kind())[number]
    feed = build(tmp_path / "m.onnx", op, feeds, constants, outputs, **attributes)
    compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
    ours = compiler.interpret(str(tmp_path / "m.mlir"), feed)
    for name, want in run_onnx(tmp_path / "m.onnx", feed).items():
        np.testing.assert_allclose(ours[name], want, rtol=1e-6, atol=1e-6)


def test_topk_on_the_host(tmp_path):
    """What no template takes: more records than are carried along a long row."""
    feeds = {"x": ties(2, 9000), "k": np.array([5000], np.int64)}
    feed = build(tmp_path / "m.onnx", "TopK", feeds, ["k"], ["float32", "int64"])
    for got, want in zip(converted(tmp_path, feed), run_onnx(tmp_path / "m.onnx", feed).values()):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_scatter_at_computed_places(op, reduction, tmp_path):
    """Duplicates in order, negative indices, the same bits on any number of cores."""
    rng = np.random.default_rng(5)
    x = ties(30, 17)
    index = rng.integers(-30, 30, (12, 17) if op == "ScatterElements" else (40, 1))
    shape = index.shape if op == "ScatterElements" else (40, 17)
    feeds = {"x": x, "i": index, "u": rng.uniform(-2, 2, shape).astype(np.float32)}
    feed = build(tmp_path / "m.onnx", op, feeds, reduction=reduction)
    (want,) = run_onnx(tmp_path / "m.onnx", feed).values()
    results = [converted(tmp_path, feed, "F32", *how)[0] for how in (("a3", 1), ("a3", 2), ("a5", 24))]
    np.testing.assert_allclose(results[0], want, rtol=1e-5, atol=1e-6)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "bool", "float16"])
@pytest.mark.parametrize("how", [("a3", 1), ("a3", 24), ("a5", 1), ("a5", 24)])
def test_scatter_of_single_elements_of_every_width(dtype, how, tmp_path):
    """More elements than one core's stretch of them, in no order, some of them twice."""
    rng = np.random.default_rng(6)
    least, most = (np.iinfo(dtype).min, min(np.iinfo(dtype).max, 2**31 - 1)) if np.dtype(dtype).kind in "iu" else (0, 1)
    x, updates = (rng.integers(least, most, count, np.int64, True).astype(dtype) for count in (9000, 2500))
    index = rng.integers(-9000, 9000, (2500, 1))
    feeds = {"x": x, "i": index, "u": updates}
    feed = build(tmp_path / "m.onnx", "ScatterND", feeds, [], [dtype])
    (got,) = converted(tmp_path, feed, "F32", *how)
    want = x.copy()
    for place, value in zip(index[:, 0], updates):
        want[place] = value
    np.testing.assert_array_equal(got.astype(dtype), want)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather_elements_at_computed_places(axis, tmp_path):
    x = ties(9, 20, 31)
    index = np.random.default_rng(2).integers(-x.shape[axis], x.shape[axis], [8, 20, 29])
    for kind in ("int32", "int64"):
        feed = build(tmp_path / "m.onnx", "GatherElements", {"x": x, "i": index.astype(kind)}, axis=axis)
        (want,) = run_onnx(tmp_path / "m.onnx", feed).values()
        for cores in (1, 24):
            np.testing.assert_array_equal(converted(tmp_path, feed, cores=cores)[0], want)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cumulative_products(exclusive, reverse, tmp_path):
    x = np.random.default_rng(1).uniform(0.8, 1.25, (3, 37, 2)).astype(np.float32)
    feeds = {"x": x, "axis": np.array(1, np.int64)}
    flags = {"exclusive": exclusive, "reverse": reverse}
    feed = build(tmp_path / "m.onnx", "CumProd", feeds, ["axis"], opset=26, **flags)
    ordered = x[:, ::-1] if reverse else x
    want = np.cumprod(ordered, 1, dtype=np.float64)
    if exclusive:
        want = np.concatenate([np.ones_like(want[:, :1]), want[:, :-1]], 1)
    want = want[:, ::-1] if reverse else want
    np.testing.assert_allclose(converted(tmp_path, feed)[0], want, rtol=1e-5)


def test_long_and_integer_sums(tmp_path):
    for x in (ties(2, 9000), np.random.default_rng(1).integers(-50, 50, (3, 200)).astype(np.int32)):
        feeds = {"x": x, "axis": np.array(1, np.int64)}
        feed = build(tmp_path / "m.onnx", "CumSum", feeds, ["axis"], [str(x.dtype)], reverse=1)
        want = np.cumsum(x[:, ::-1], 1, dtype=np.float64)[:, ::-1]
        np.testing.assert_allclose(converted(tmp_path, feed)[0], want, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("shape,axis", [((3, 40), 1), ((70, 5), 0), ((2, 300), 1), ((3, 1000, 2), 1)], ids=str)
def test_sums_before_what_is_not_finite(shape, axis, value, mode, tmp_path):
    """An element that is infinite or NaN is in the sums from it on, and in no other."""
    x = ties(*shape)
    x[(1,) if axis else (slice(None), 1)].flat[shape[axis] // 2] = value
    for exclusive, reverse in ((0, 0), (1, 1)):
        feeds = {"x": x, "axis": np.array(axis, np.int64)}
        feed = build(tmp_path / "m.onnx", "CumSum", feeds, ["axis"], exclusive=exclusive, reverse=reverse)
        ordered = np.flip(x, axis) if reverse else x
        want = np.cumsum(ordered, axis, dtype=np.float64)
        if exclusive:
            first = np.zeros_like(np.take(want, [0], axis))
            want = np.concatenate([first, np.delete(want, -1, axis)], axis)
        want = np.flip(want, axis) if reverse else want
        assert 0 < (~np.isfinite(want)).sum() < want.size / 2
        got = converted(tmp_path, feed, mode)[0]
        tolerance = {"F32": 1e-5, "F16": 2e-3}[mode]
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * np.abs(want[np.isfinite(want)]).max())


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_sums_beyond_f16_and_before_them(mode, tmp_path):
    """A block of a long row sums to more than f16 holds; the sums before it are as good as ever."""
    x = np.ones((2, 400), np.float32)
    x[1, 300:] = 4000
    feed = build(tmp_path / "m.onnx", "CumSum", {"x": x, "axis": np.array(1, np.int64)}, ["axis"])
    got = converted(tmp_path, feed, mode)[0]
    np.testing.assert_allclose(got[:, :300], np.cumsum(x, 1)[:, :300], rtol=1e-3)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_log_sum_exp_of_infinities(mode, tmp_path):
    """Rows of impossible states, as in forward algorithms: the logarithm of no probability."""
    x = np.full((5, 40), -np.inf, np.float32)
    x[1, 3], x[2, 7], x[3] = 2.5, np.inf, ties(40)
    x[4] = np.where(np.arange(40) == 9, np.nan, x[3])
    feed = build(tmp_path / "m.onnx", "ReduceLogSumExp", {"x": x, "axes": np.array([1], np.int64)}, ["axes"])
    with np.errstate(invalid="ignore"):
        want = np.array([-np.inf, 2.5, np.inf, np.log(np.exp(x[3].astype(np.float64)).sum()), np.nan])[:, None]
    np.testing.assert_allclose(converted(tmp_path, feed, mode)[0], want, rtol={"F32": 1e-6, "F16": 1e-3}[mode])


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_grid_sample(mode, padding, tmp_path):
    rng = np.random.default_rng(6)
    grid = rng.uniform(-1.5, 1.5, (2, 5, 6, 2)).astype(np.float32)
    for align in (0, 1):
        feeds = {"x": ties(2, 3, 7, 9), "g": grid}
        flags = {"mode": mode, "padding_mode": padding, "align_corners": align}
        feed = build(tmp_path / "m.onnx", "GridSample", feeds, opset=20, **flags)
        (want,) = run_onnx(tmp_path / "m.onnx", feed).values()
        np.testing.assert_allclose(converted(tmp_path, feed)[0], want, rtol=1e-4, atol=1e-4)


def test_columns_to_image(tmp_path):
    feeds = {"x": ties(1, 12, 42), "i": np.array([9, 8], np.int64), "b": np.array([2, 3], np.int64)}
    flags = {"strides": [1, 1], "dilations": [2, 1], "pads": [0, 0, 0, 0]}
    feed = build(tmp_path / "m.onnx", "Col2Im", feeds, ["i", "b"], **flags)
    (want,) = ReferenceEvaluator(str(tmp_path / "m.onnx")).run(None, feed)
    np.testing.assert_allclose(converted(tmp_path, feed)[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "image, block, flags, reason",
    [
        ([9, 8], [2, 3], {"pads": [0, 0, -(2**63) + 1, 0]}, r"values below 2\^31"),
        ([9, 8], [2, 3], {"dilations": [2**62, 1]}, r"values below 2\^31"),
        ([9, 8], [2**31 - 1, 2**31 - 1], {}, "does not fit"),
        ([9, 8], [2, 3], {}, "does not hold the blocks"),
        ([2**30, 2**30], [6, 2], {}, "does not hold the blocks"),
    ],
)
def test_blocks_that_are_no_image(image, block, flags, reason, tmp_path):
    feeds = {"x": ties(1, 12, 42), "i": np.array(image, np.int64), "b": np.array(block, np.int64)}
    build(tmp_path / "m.onnx", "Col2Im", feeds, ["i", "b"], **flags)
    with pytest.raises(UserError, match=reason):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [[1, 3, 4, 5], [3, 1, 1, 7], [2, 1, 3, 4, 5], [1, 1, 2, 1, 1]])
def test_affine_grids(size, align, tmp_path):
    rank = len(size) - 2
    feeds = {"t": ties(size[0], rank, rank + 1) / 2, "s": np.array(size, np.int64)}
    feed = build(tmp_path / "m.onnx", "AffineGrid", feeds, ["s"], opset=20, align_corners=align)
    (want,) = run_onnx(tmp_path / "m.onnx", feed).values()
    np.testing.assert_allclose(converted(tmp_path, feed)[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "theta, size", [([1, 2, 3], [2, 3, 4, 5]), ([1, 2, 3], [1, 3, 0, 5]), ([1, 3, 3], [1, 3, 4, 5])]
)
def test_affine_grids_that_are_refused(theta, size, tmp_path):
    build(tmp_path / "m.onnx", "AffineGrid", {"t": ties(*theta), "s": np.array(size, np.int64)}, ["s"], opset=20)
    with pytest.raises(UserError, match="takes matrices .N, 2, 3. for a size"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


def test_reversed_sequences(tmp_path):
    feeds = {"x": ties(6, 4, 3), "l": np.array([6, 1, 3, 2], np.int64)}
    feed = build(tmp_path / "m.onnx", "ReverseSequence", feeds)
    (want,) = run_onnx(tmp_path / "m.onnx", feed).values()
    np.testing.assert_array_equal(converted(tmp_path, feed)[0], want)


@pytest.mark.parametrize("batch, time", [(1, 1), (2, 0), (2, -1), (-(2**63), -1), (2**63 - 1, 2)])
def test_axes_of_sequences_that_are_refused(batch, time, tmp_path):
    feeds = {"x": ties(6, 4, 3), "l": np.array([6, 1, 3, 2], np.int64)}
    build(tmp_path / "m.onnx", "ReverseSequence", feeds, batch_axis=batch, time_axis=time)
    with pytest.raises(UserError, match="takes batch and time as dimensions 0 and 1"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")


@pytest.mark.parametrize("kinds", [(np.float32, np.bool_), (np.int32, np.float32)])
def test_a_grid_of_another_type_is_refused(kinds, tmp_path):
    image, grid = np.zeros((1, 1, 3, 2), kinds[0]), np.zeros((1, 3, 4, 2), kinds[1])
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in (("x", image), ("g", grid))
    ]
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode="cubic", align_corners=1)
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", 1, None)])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(tmp_path / "m.onnx")
    )
    with pytest.raises(UserError, match="'y' .GridSample.*takes an input and a grid of floats"):
        compiler.transform(str(tmp_path / "m.onnx"), "m", [], [], str(tmp_path / "m.mlir"), "")
