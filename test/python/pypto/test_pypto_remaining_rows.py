"""Rows of the table that no family of tests calls: numbers against numpy, and those that are refused by name."""

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import ParserError, PlacedError
from pypto.runtime import RunConfig, run
from test_pypto_parts import numbers
from test_pypto_tensor_rows import computed

platforms = pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
TEXT = """\
import pypto.language as pl


@pl.program
class Row:
    @pl.function(type=pl.FunctionType.{kind})
    def main(self, {params}):
        {body}
        return y
"""
TYPES = {"float32": "FP32", "int32": "INT32", "float16": "FP16", "bfloat16": "BF16"}


def ran(body, platform, kind="InCore", **arrays):
    """Runs lines that name these arrays; y is written."""
    params = [f"{name}: pl.Tensor[{list(each.shape)}, pl.{TYPES[each.dtype.name]}]" for name, each in arrays.items()]
    params = [each.replace("y: ", "y: pl.InOut[") + "]" if each.startswith("y: ") else each for each in params]
    lines = "\n        ".join(body)
    program = pl.parse_program(TEXT.format(kind=kind, params=", ".join(params), body=lines))
    run(program, *arrays.values(), config=RunConfig(platform=platform))


@platforms
@pytest.mark.parametrize("pad, value", [("zero", 0), ("min", -np.inf), ("max", np.inf)])
def test_a_fill_beyond_what_a_tensor_has(pad, value, platform):
    x, expected = numbers(4, 16), np.full((8, 32), value, np.float32)
    expected[:4, :16] = x
    text = f"pl.tensor.fillpad_expand(x0, [8, 32], pad_value=pl.PadValue.{pad})"
    np.testing.assert_array_equal(computed(text, [x], ["FP32"], (8, 32), "FP32", platform), expected)


@platforms
@pytest.mark.parametrize("rows", [[[3, 0]], [[1, 2], [3, 0]], [[2, 2]]])
def test_rows_in_place_of_rows(rows, platform):
    x, index, y = numbers(4, 16), np.array(rows, np.int32), numbers(2 * len(rows), 16, seed=1)
    expected = x.copy()
    for row, new in zip(index.flat, y, strict=True):
        expected[row] = new
    text, kinds = "pl.tensor.scatter_update(x0, -2, x1, x2)", ["FP32", "INT32", "FP32"]
    np.testing.assert_array_equal(computed(text, [x, index, y], kinds, (4, 16), "FP32", platform), expected)


@platforms
@pytest.mark.parametrize("shape", [(8, 8), (64,), (2, 32)])
def test_a_tensor_by_another_shape(shape, platform):
    x, y = numbers(4, 16), np.zeros(shape, np.float32)
    every = ", ".join(":" for _ in shape)
    body = [
        f"v = pl.tensor.view(x, {list(shape)})",
        "with pl.at(level=pl.Level.CORE_GROUP):",
        f"    y[{every}] = pl.add(v, v)",
    ]
    ran(body, platform, "Orchestration", x=x, y=y)
    np.testing.assert_array_equal(y, 2 * x.reshape(shape))


@platforms
@pytest.mark.parametrize("m, k, n", [(16, 64, 32), (272, 80, 144), (64, 384, 256)])
def test_a_product_of_tensors_and_a_bias(m, k, n, platform):
    a, b, bias = numbers(m, k), numbers(k, n, seed=1), numbers(1, n, seed=2)
    out = computed("pl.tensor.matmul_bias(x0, x1, x2)", [a, b, bias], ["FP32"] * 3, (m, n), "FP32", platform)
    expected = a.astype(np.float64) @ b + bias
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())


@platforms
def test_a_row_times_a_matrix_and_a_bias(platform):
    a, b, c, y = numbers(1, 32), numbers(32, 16, seed=1), numbers(1, 16, seed=2), np.zeros((1, 16), np.float32)
    body = [
        "left = pl.load(a, [0, 0], [1, 32], target_memory=pl.Mem.Mat)",
        "right = pl.load(b, [0, 0], [32, 16], target_memory=pl.Mem.Mat)",
        "row = pl.load(c, [0, 0], [1, 16], target_memory=pl.Mem.Mat)",
        "product = pl.tile.gemv_bias(left, right, row)",
        "pl.system.bar_m()",
        "pl.store(product, [0, 0], y)",
    ]
    ran(body, platform, a=a, b=b, c=c, y=y)
    np.testing.assert_allclose(y, a.astype(np.float64) @ b + c, rtol=1e-3, atol=1e-3)


def test_random_words_of_a_tensor_are_those_of_a_tile():
    made = [np.zeros((8, 64), np.int32) for _ in range(3)]
    words = "pl.tensor.random(1, 2, 3, 4, 5, 6, [8, 64], dtype=pl.INT32)"
    ran(["with pl.at(level=pl.Level.CORE_GROUP):", f"    y[:, :] = {words}"], "a5sim", "Opaque", y=made[0])
    for key, y in zip((1, 2), made[1:], strict=True):
        words = f"pl.tile.random({key}, 2, 3, 4, 5, 6, [8, 64], dtype=pl.INT32)"
        ran([f"pl.store({words}, [0, 0], y)"], "a5sim", y=y)
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).mean() > 0.9


@platforms
def test_batches_added_to_batches(platform):
    a, b, y = numbers(2, 16, 32), numbers(2, 32, 16, seed=1), np.zeros((2, 16, 16), np.float32)
    body = [
        "left = pl.load(a, [0, 0, 0], [2, 16, 32], target_memory=pl.Mem.Mat)",
        "right = pl.load(b, [0, 0, 0], [2, 32, 16], target_memory=pl.Mem.Mat)",
        "acc = pl.tile.batch_matmul(left, right)",
        "pl.store(pl.tile.batch_matmul_acc(acc, left, right), [0, 0, 0], y)",
    ]
    ran(body, platform, a=a, b=b, y=y)
    np.testing.assert_allclose(y, 2 * (a.astype(np.float64) @ b), rtol=1e-3, atol=1e-3)


@platforms
def test_elements_of_an_array_by_name(platform):
    x, y = numbers(4, 16), np.zeros((4, 16), np.float32)
    body = [
        "a = pl.array.create(4, pl.INT32)",
        "a = pl.array.update_element(a, 1, 3)",
        "a = pl.array.update_element(a, 3, 1)",
        "for i in pl.range(4):",
        "    y = pl.store(pl.load(x, [pl.array.get_element(a, i), 0], [1, 16]), [i, 0], y)",
    ]
    ran(body, platform, x=x, y=y)
    np.testing.assert_array_equal(y, x[[0, 3, 0, 1]])


@platforms
@pytest.mark.parametrize("columns", [2, 12, 16, 17])
def test_elements_of_a_tile_whose_rows_are_padded(columns, platform):
    x, y = numbers(4, columns), np.zeros((4, columns), np.float32)
    last = columns - 1
    body = [
        f"t = pl.load(x, [0, 0], [4, {columns}])",
        f"first, second = pl.tile.read(t, [3, 1]), pl.tile.read(t, [2, {last}])",
        f"t = pl.tile.write(t, [1, {last}], first)",
        "t = pl.tile.write(t, [2, 0], second)",
        "y = pl.store(t, [0, 0], y)",
    ]
    ran(body, platform, x=x, y=y)
    expected = x.copy()
    expected[1, last], expected[2, 0] = x[3, 1], x[2, last]
    np.testing.assert_array_equal(y, expected)


@platforms
@pytest.mark.parametrize("dtype", ["FP16", "BF16"])
def test_products_side_by_side_in_the_first_level(dtype, platform):
    integers = np.random.default_rng(3).integers
    a, b, c = (integers(-3, 4, shape).astype(np.float32) for shape in ((32, 16), (16, 64), (64, 32)))
    y = np.zeros((32, 32), np.float32)
    kind = {"FP16": np.float16, "BF16": ml_dtypes.bfloat16}[dtype]
    body = [
        "left = pl.load(a, [0, 0], [32, 16], target_memory=pl.Mem.Mat)",
        f"held = pl.tile.create_l1([32, 64], dtype=pl.{dtype})",
        "for j in pl.range(0, 64, 32):",
        "    right = pl.load(b, [0, j], [16, 32], target_memory=pl.Mem.Mat)",
        "    held = pl.tile.assemble(held, pl.matmul(left, right), [0, j])",
        "last = pl.load(c, [0, 0], [64, 32], target_memory=pl.Mem.Mat)",
        "y = pl.store(pl.matmul(held, last), [0, 0], y)",
    ]
    ran(body, platform, a=a.astype(kind), b=b.astype(kind), c=c.astype(kind), y=y)
    np.testing.assert_array_equal(y, a.astype(np.float64) @ b @ c)


@platforms
@pytest.mark.parametrize("rows, valid", [(1, "1"), (4, "4"), (4, "3"), (4, "n")])
def test_rows_of_memory_in_the_first_level(rows, valid, platform):
    """Slots that no row is gathered to keep what they held: rows 32 to 47 of the pool."""
    integers, count = np.random.default_rng(rows).integers, np.array([2], np.int32)
    a, x = (integers(-3, 4, shape).astype(np.float16) for shape in ((32, 16), (48, 64)))
    index, y = integers(0, 28, 16).astype(np.int32), np.zeros((32, 64), np.float32)
    body = [
        "left = pl.load(a, [0, 0], [32, 16], target_memory=pl.Mem.Mat)",
        "n = pl.cast(pl.read(count, [0]), pl.INDEX)",
        "held = pl.tile.create_l1([16, 64], dtype=pl.FP16)",
        "held = pl.tile.gather_row(held, x, [0, 0], [32, 0], [16, 64])",
        f"for i in pl.range(0, 16, {rows}):",
        "    row = pl.read(index, [i])",
        f"    held = pl.tile.gather_row(held, x, [i, 0], [row, 0], [{rows}, 64], valid_shape=[{valid}, 64])",
        "y = pl.store(pl.matmul(left, held), [0, 0], y)",
    ]
    ran(body, platform, a=a, x=x, index=index, count=count, y=y)
    held = x[32:].copy()
    for i in range(0, 16, rows):
        some = count[0] if valid == "n" else int(valid)
        held[i : i + some] = x[index[i] : index[i] + some]
    np.testing.assert_array_equal(y, a.astype(np.float64) @ held)


@platforms
@pytest.mark.parametrize("kind", (np.float16, np.float32))
@pytest.mark.parametrize("rows, valid", [(1, 1), (4, 4), (4, 3)])
def test_rows_that_become_columns_of_the_first_level(rows, valid, kind, platform):
    """Columns that no row is gathered to keep what they held: rows 32 to 47 of the pool."""
    integers = np.random.default_rng(rows).integers
    a, x = (integers(-3, 4, shape).astype(kind) for shape in ((32, 64), (48, 64)))
    index, y = integers(0, 28, 16).astype(np.int32), np.zeros((32, 16), np.float32)
    body = [
        "left = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)",
        f"held = pl.tile.create_l1([64, 16], dtype=pl.{TYPES[np.dtype(kind).name]}, transpose=True)",
        "held = pl.tile.gather_row(held, x, [0, 0], [32, 0], [16, 64], transpose=True)",
        f"for i in pl.range(0, 16, {rows}):",
        "    row = pl.read(index, [i])",
        f"    held = pl.tile.gather_row(held, x, [0, i], [row, 0], [{rows}, 64], valid_shape=[{valid}, 64], "
        "transpose=True)",
        "y = pl.store(pl.matmul(left, held), [0, 0], y)",
    ]
    ran(body, platform, a=a, x=x, index=index, y=y)
    held = x[32:].T.copy()
    for i in range(0, 16, rows):
        held[:, i : i + valid] = x[index[i] : index[i] + valid].T
    np.testing.assert_array_equal(y, a.astype(np.float64) @ held)


@platforms
@pytest.mark.parametrize("kind", (np.float16, np.float32))
def test_rows_that_become_columns_of_a_tile(kind, platform):
    x, y = numbers(32, 64).astype(kind), np.zeros((64, 32), kind)
    body = [
        f"held = pl.tile.full([64, 32], dtype=pl.{TYPES[np.dtype(kind).name]}, value=2.0)",
        "held = pl.tile.gather_row(held, x, [0, 16], [8, 0], [16, 64], transpose=True)",
        "y = pl.store(held, [0, 0], y)",
    ]
    ran(body, platform, x=x, y=y)
    expected = np.full_like(y, 2)
    expected[:, 16:] = x[8:24].T
    np.testing.assert_array_equal(y, expected)


@platforms
@pytest.mark.parametrize(
    "lines, message",
    [
        (["t = pl.tile.create_l1([16, 64])"], "dtype"),
        (["t = pl.tile.create_l1(16, dtype=pl.FP32)"], "shape"),
        (["t = pl.tile.create_l1([16, 64], pl.FP32)", "s = pl.exp(t)"], "row_major on every tile"),
        (
            ["t = pl.tile.create_l1([16, 64], pl.FP32)", "t = pl.tile.gather_row(t, x, [0, 16], [0, 0], [4, 16])"],
            "from their first column on",
        ),
        (
            [
                "t = pl.tile.create_l1([64, 16], pl.FP32)",
                "t = pl.tile.gather_row(t, x, [0, 0], [0, 0], [4, 64], transpose=True)",
            ],
            "made with `transpose=True`",
        ),
        (
            [
                "t = pl.tile.create_l1([16, 64], pl.FP32, transpose=True)",
                "t = pl.tile.gather_row(t, x, [0, 0], [0, 0], [4, 64])",
            ],
            "made without `transpose=True`",
        ),
        (
            [
                "t = pl.tile.create_l1([16, 16], pl.FP32, transpose=True)",
                "a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)",
                "t = pl.tile.assemble(t, pl.matmul(a, a), [0, 0])",
            ],
            "made without `transpose=True`",
        ),
    ],
)
def test_uses_of_the_first_level_that_are_refused(lines, message, platform):
    y = np.zeros((8, 16), np.float32)
    with pytest.raises((ParserError, PlacedError), match=message):
        ran([*lines, "y = pl.store(pl.load(x, [0, 0], [8, 16]), [0, 0], y)"], platform, x=numbers(8, 16), y=y)
    assert not y.any()


@platforms
@pytest.mark.parametrize(
    "lines, message",
    [
        (["s = pl.tile.scatter_mask(d, t, mask_pattern=pl.MaskPattern.P0101)"], "mask_pattern is not lowered"),
        (["pl.system.cacheinvalid()"], "cacheinvalid is not lowered"),
        (["n = pl.system.available_aiv_count()", "pl.write(y, [n, 0], 1.0)"], "available_aiv_count is not lowered"),
        (["n = pl.system.available_cluster_count()", "pl.write(y, [n, 0], 1.0)"], "cluster_count is not lowered"),
    ],
)
def test_rows_without_a_lowering_are_refused_by_name(lines, message, platform):
    y = np.zeros((8, 32), np.float32)
    head = ["t = pl.load(x, [0, 0], [8, 16])", "d = pl.load(y, [0, 0], [8, 32])", "i = pl.load(idx, [0, 0], [1, 8])"]
    with pytest.raises(PlacedError, match=message) as caught:
        ran([*head, *lines], platform, x=numbers(8, 16), idx=np.zeros((1, 8), np.int32), y=y)
    assert caught.value.span["line"] > 10 and not y.any()
