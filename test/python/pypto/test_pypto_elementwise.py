"""Element-wise operations, reductions and broadcasts: numbers against numpy over types, whole and ragged tiles, on
both processors."""

import numpy as np
import pytest
from pypto import DataType
from pypto.ir.op import tile
from test_pypto_lower import Kernel, tensor_of
from test_pypto_parts import both

NUMPY = {
    "FP32": np.float32,
    "FP16": np.float16,
    "INT32": np.int32,
    "INT16": np.int16,
    "UINT16": np.uint16,
}
FLOATS, ALL, WORDS = ["FP32", "FP16"], ["FP32", "FP16", "INT32", "INT16"], ["INT16", "UINT16"]
SHAPES = pytest.mark.parametrize("shape", [(8, 64), (5, 20), (1, 33)], ids=["whole", "ragged", "row"])


def data(shape, dtype, seed, low=None):
    made = np.random.default_rng(seed)
    if dtype.startswith("FP"):
        return made.uniform(0.25 if low is None else low, 4, shape).astype(NUMPY[dtype])
    return made.integers(1 if low is None or dtype == "UINT16" else low, 9, shape).astype(NUMPY[dtype])


def run(path, processor, make, arrays, dtype, out_shape, out_dtype=None):
    """What `make(k, *tiles)` gives of the arrays, loaded into boxes of 8 rows and 64 columns."""
    out_dtype = out_dtype or dtype
    inputs = {f"x{i}": tensor_of(*array.shape, dtype=getattr(DataType, dtype)) for i, array in enumerate(arrays)}
    k = Kernel(**inputs, z=tensor_of(*out_shape, dtype=getattr(DataType, out_dtype)))
    tiles = []
    for array, x in zip(arrays, k.params, strict=False):
        box = [1 if array.shape[0] == 1 else 8, 1 if array.shape[1] == 1 else 64]
        tiles.append(k.let(tile.load(x, [0, 0], box)))
    k.store(make(k, *tiles), k.params[-1])
    out = np.zeros(out_shape, NUMPY[out_dtype])
    k.run(path, *arrays, out, processor=processor)
    return out


def check(out, expected):
    if out.dtype.kind == "f":
        eps = 2e-3 if out.dtype == np.float16 else 2e-5
        np.testing.assert_allclose(out.astype(np.float64), expected, rtol=eps, atol=eps)
    else:
        np.testing.assert_array_equal(out, expected.astype(out.dtype))


def cases(rows):
    return [pytest.param(make, fn, dtype, id=f"{name}-{dtype}") for name, make, fn, dtypes in rows for dtype in dtypes]


BINARY = [
    ("add", lambda a, b: tile.add(a, b), lambda a, b: a + b, ALL),
    ("sub", lambda a, b: tile.sub(a, b), lambda a, b: a - b, ALL),
    ("mul", lambda a, b: tile.mul(a, b), lambda a, b: a * b, ALL),
    ("div", lambda a, b: tile.div(a, b), lambda a, b: a / b, FLOATS),
    ("maximum", lambda a, b: tile.maximum(a, b), np.maximum, ALL),
    ("minimum", lambda a, b: tile.minimum(a, b), np.minimum, ALL),
    ("fmod", lambda a, b: tile.fmod(a, b), np.fmod, ["FP32"]),
    ("rem", lambda a, b: tile.rem(a, b), np.mod, ["FP32"]),
    ("part_add", lambda a, b: tile.part_add(a, b), lambda a, b: a + b, ALL),
    ("part_mul", lambda a, b: tile.part_mul(a, b), lambda a, b: a * b, ALL),
    ("part_max", lambda a, b: tile.part_max(a, b), np.maximum, ALL),
    ("part_min", lambda a, b: tile.part_min(a, b), np.minimum, ALL),
    ("and", lambda a, b: tile.and_(a, b), np.bitwise_and, WORDS),
    ("or", lambda a, b: tile.or_(a, b), np.bitwise_or, WORDS),
    ("xor", lambda a, b: tile.xor(a, b), np.bitwise_xor, WORDS),
    ("shl", lambda a, b: tile.shl(a, b), np.left_shift, ["INT16", "INT32"]),
    ("shr", lambda a, b: tile.shr(a, b), np.right_shift, ["INT16", "INT32"]),
    ("prelu", lambda a, b: tile.prelu(a, b), lambda a, b: np.where(a > 0, a, a * b), FLOATS),
    ("addc", lambda a, b: tile.addc(a, b, b), lambda a, b: a + b + b, FLOATS),
    ("addsc", lambda a, b: tile.addsc(a, 2.0, b), lambda a, b: a + 2 + b, FLOATS),
    ("sels", lambda a, b: tile.sels(tile.cmp(a, b, cmp_type=4), a, b, 2.5), None, []),
]


@both
@SHAPES
@pytest.mark.parametrize("make, fn, dtype", cases(BINARY))
def test_two_tiles(tmp_path, processor, shape, make, fn, dtype):
    a, b = data(shape, dtype, 0, low=-4), data(shape, dtype, 1)
    wide = (a, b) if dtype.startswith(("INT", "UINT")) else (a.astype(np.float64), b.astype(np.float64))
    check(run(tmp_path, processor, lambda k, x, y: k.let(make(x, y)), [a, b], dtype, shape), fn(*wide))


SCALAR = [
    ("adds", lambda a, s: tile.adds(a, s), lambda a: a + 3, ALL),
    ("subs", lambda a, s: tile.subs(a, s), lambda a: a - 3, ALL),
    ("muls", lambda a, s: tile.muls(a, s), lambda a: a * 3, ALL),
    ("divs", lambda a, s: tile.divs(a, s), lambda a: a / 3, FLOATS),
    ("maximums", lambda a, s: tile.maximums(a, s), lambda a: np.maximum(a, 3), ALL),
    ("minimums", lambda a, s: tile.minimums(a, s), lambda a: np.minimum(a, 3), ALL),
    ("fmods", lambda a, s: tile.fmods(a, s), lambda a: np.fmod(a, 3), ["FP32"]),
    ("rems", lambda a, s: tile.rems(a, s), lambda a: np.mod(a, 3), ["FP32"]),
    ("ands", lambda a, s: tile.ands(a, s), lambda a: a & 3, WORDS),
    ("ors", lambda a, s: tile.ors(a, s), lambda a: a | 3, WORDS),
    ("xors", lambda a, s: tile.xors(a, s), lambda a: a ^ 3, WORDS),
    ("shls", lambda a, s: tile.shls(a, s), lambda a: a << 3, ["INT16", "INT32"]),
    ("shrs", lambda a, s: tile.shrs(a, s), lambda a: a >> 3, ["INT16", "INT32"]),
    ("lrelu", lambda a, s: tile.lrelu(a, s), lambda a: np.where(a > 0, a, a * 3), FLOATS),
    ("expands", lambda a, s: tile.expands(a, s), lambda a: np.full(a.shape, 3), ALL),
]


@both
@SHAPES
@pytest.mark.parametrize("make, fn, dtype", cases(SCALAR))
def test_a_tile_and_a_number(tmp_path, processor, shape, make, fn, dtype):
    a = data(shape, dtype, 0, low=-4)
    wide = a.astype(np.float64) if dtype.startswith("FP") else a
    s = 3.0 if dtype.startswith("FP") else 3
    check(run(tmp_path, processor, lambda k, x: k.let(make(x, s)), [a], dtype, shape), fn(wide))


UNARY = [
    ("exp", lambda a: tile.exp(a), np.exp, FLOATS),
    ("log", lambda a: tile.log(a), np.log, FLOATS),
    ("sqrt", lambda a: tile.sqrt(a), np.sqrt, FLOATS),
    ("rsqrt", lambda a: tile.rsqrt(a), lambda a: 1 / np.sqrt(a), ["FP32"]),
    ("recip", lambda a: tile.recip(a), lambda a: 1 / a, ["FP32"]),
    ("abs", lambda a: tile.abs(tile.neg(a)), np.abs, FLOATS),
    ("relu", lambda a: tile.relu(tile.subs(a, 1.0)), lambda a: np.maximum(a - 1, 0), FLOATS),
    ("not", lambda a: tile.not_(a), np.invert, WORDS),
]


@both
@SHAPES
@pytest.mark.parametrize("make, fn, dtype", cases(UNARY))
def test_one_tile(tmp_path, processor, shape, make, fn, dtype):
    a = data(shape, dtype, 0)
    wide = a.astype(np.float64) if dtype.startswith("FP") else a
    check(run(tmp_path, processor, lambda k, x: k.let(make(x)), [a], dtype, shape), fn(wide))


@both
@SHAPES
@pytest.mark.parametrize("mode", range(6))
def test_comparisons(tmp_path, processor, shape, mode):
    compare = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal][mode]
    a, b = (np.round(data(shape, "FP32", seed)) for seed in (0, 1))
    by_tile = lambda k, x, y: k.let(tile.sel(tile.cmp(x, y, cmp_type=mode), x, y))  # noqa: E731
    check(run(tmp_path, processor, by_tile, [a, b], "FP32", shape), np.where(compare(a, b), a, b))
    by_number = lambda k, x, y: k.let(tile.sel(tile.cmps(x, 2.0, cmp_type=mode), x, y))  # noqa: E731
    check(run(tmp_path, processor, by_number, [a, b], "FP32", shape), np.where(compare(a, 2), a, b))


REDUCTIONS = [
    ("row_sum", lambda a: tile.row_sum(a), lambda a: a.sum(1, keepdims=True), FLOATS),
    ("row_max", lambda a: tile.row_max(a), lambda a: a.max(1, keepdims=True), FLOATS),
    ("row_min", lambda a: tile.row_min(a), lambda a: a.min(1, keepdims=True), FLOATS),
    ("row_prod", lambda a: tile.row_prod(a), lambda a: a.prod(1, keepdims=True), ["FP32"]),
    ("col_sum", lambda a: tile.col_sum(a), lambda a: a.sum(0, keepdims=True), FLOATS),
    ("col_max", lambda a: tile.col_max(a), lambda a: a.max(0, keepdims=True), FLOATS),
    ("col_min", lambda a: tile.col_min(a), lambda a: a.min(0, keepdims=True), FLOATS),
    ("col_prod", lambda a: tile.col_prod(a), lambda a: a.prod(0, keepdims=True), ["FP32"]),
]


@both
@SHAPES
@pytest.mark.parametrize("make, fn, dtype", cases(REDUCTIONS))
def test_reductions(tmp_path, processor, shape, make, fn, dtype):
    a = data(shape, dtype, 0)
    if fn(np.ones((2, 3))).max() > 1 and "prod" in str(make.__code__.co_names):
        a = np.sign(a - 2) + (np.abs(a - 2) < 0.5)
    expected = fn(a.astype(np.float64))
    out = run(tmp_path, processor, lambda k, x: k.let(make(x)), [a], dtype, expected.shape)
    np.testing.assert_allclose(out, expected, rtol=2e-2 if dtype == "FP16" else 1e-4)


ARGUMENTS = [
    ("row_argmax", lambda a: tile.row_argmax(a), lambda a: a.argmax(1).reshape(-1, 1), ["FP32"]),
    ("row_argmin", lambda a: tile.row_argmin(a), lambda a: a.argmin(1).reshape(-1, 1), ["FP32"]),
    ("col_argmax", lambda a: tile.col_argmax(a), lambda a: a.argmax(0).reshape(1, -1), ["FP32"]),
    ("col_argmin", lambda a: tile.col_argmin(a), lambda a: a.argmin(0).reshape(1, -1), ["FP32"]),
]


@both
@SHAPES
@pytest.mark.parametrize("make, fn, dtype", cases(ARGUMENTS))
def test_places_of_extremes(tmp_path, processor, shape, make, fn, dtype):
    a = np.random.default_rng(0).permutation(shape[0] * shape[1]).reshape(shape).astype(np.float32)
    expected = fn(a)
    out = run(tmp_path, processor, lambda k, x: k.let(make(x)), [a], dtype, expected.shape, "INT32")
    np.testing.assert_array_equal(out, expected)


ROWS = [
    ("row_expand", lambda a, v: tile.row_expand(a, v), lambda a, v: v + 0 * a, FLOATS),
    ("row_expand_add", lambda a, v: tile.row_expand_add(a, v), lambda a, v: a + v, FLOATS),
    ("row_expand_sub", lambda a, v: tile.row_expand_sub(a, v), lambda a, v: a - v, FLOATS),
    ("row_expand_mul", lambda a, v: tile.row_expand_mul(a, v), lambda a, v: a * v, FLOATS),
    ("row_expand_div", lambda a, v: tile.row_expand_div(a, v), lambda a, v: a / v, FLOATS),
    ("row_expand_max", lambda a, v: tile.row_expand_max(a, v), np.maximum, FLOATS),
    ("row_expand_min", lambda a, v: tile.row_expand_min(a, v), np.minimum, FLOATS),
    ("row_expand_expdif", lambda a, v: tile.row_expand_expdif(a, v), lambda a, v: np.exp(a - v), FLOATS),
]
COLUMNS = [
    ("col_expand", lambda a, v: tile.col_expand(a, v), lambda a, v: v + 0 * a, FLOATS),
    ("col_expand_add", lambda a, v: tile.col_expand_add(a, v), lambda a, v: a + v, FLOATS),
    ("col_expand_sub", lambda a, v: tile.col_expand_sub(a, v), lambda a, v: a - v, FLOATS),
    ("col_expand_mul", lambda a, v: tile.col_expand_mul(a, v), lambda a, v: a * v, FLOATS),
    ("col_expand_div", lambda a, v: tile.col_expand_div(a, v), lambda a, v: a / v, FLOATS),
    ("col_expand_max", lambda a, v: tile.col_expand_max(a, v), np.maximum, FLOATS),
    ("col_expand_min", lambda a, v: tile.col_expand_min(a, v), np.minimum, FLOATS),
    ("col_expand_expdif", lambda a, v: tile.col_expand_expdif(a, v), lambda a, v: np.exp(a - v), FLOATS),
]


@both
@pytest.mark.parametrize("shape", [(8, 64), (5, 20)], ids=["whole", "ragged"])
@pytest.mark.parametrize("make, fn, dtype", cases(ROWS) + cases(COLUMNS))
def test_broadcasts(tmp_path, processor, shape, make, fn, dtype):
    a = data(shape, dtype, 0)
    by_rows = "row_" in make.__code__.co_names[1]
    v = data((shape[0], 1) if by_rows else (1, shape[1]), dtype, 1)
    expected = fn(a.astype(np.float64), v.astype(np.float64))
    out = run(tmp_path, processor, lambda k, x, y: k.let(make(x, y)), [a, v], dtype, shape)
    np.testing.assert_allclose(out, expected, rtol=4e-3 if dtype == "FP16" else 5e-5, atol=1e-3)
