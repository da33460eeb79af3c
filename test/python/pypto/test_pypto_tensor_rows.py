"""Rows of the table of operations in their form on tensors: numbers against numpy in float64 over types, whole and
ragged extents, on both processors; and which rows of the table no test calls."""

import re

import numpy as np
import pypto.language as pl
import pytest
import test_pypto_elementwise as tiles
from conftest import ROOT
from pypto.language.parser.diagnostics import InvalidOperationError, OperandError
from pypto.pypto_core import ir
from pypto.runtime import RunConfig, run
from test_pypto_elementwise import FLOATS, NUMPY, check, data

TEXT = """\
import pypto.language as pl


@pl.program
class Row:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, {params}):
        with pl.at(level=pl.Level.CORE_GROUP):
            z[:, :] = {value}
        return z
"""
SHAPES = [(8, 64), (5, 20), (1, 33)]
platforms = pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])


def annotated(shape, dtype):
    return f"pl.Tensor[{list(shape)}, pl.{dtype}]"


def computed(value, arrays, dtypes, out_shape, out_dtype, platform):
    """What the expression gives of the arrays, which it calls x0, x1, .."""
    params = [
        f"x{i}: {annotated(array.shape, kind)}" for i, (array, kind) in enumerate(zip(arrays, dtypes, strict=True))
    ]
    params.append(f"z: pl.Out[{annotated(out_shape, out_dtype)}]")
    out = np.zeros(out_shape, NUMPY[out_dtype])
    program = pl.parse_program(TEXT.format(params=", ".join(params), value=value))
    run(program, *arrays, out, config=RunConfig(platform=platform))
    return out


def rows(table, leave_out=()):
    """(operation, what numpy computes, element type) of a table of test_pypto_elementwise; its lambdas call the row."""
    found = []
    for name, make, fn, dtypes in table:
        called = next(each for each in make.__code__.co_names if each != "tile")
        found += [(called, fn, dtype) for dtype in dtypes if name not in leave_out]
    return found


def cases(table, leave_out=()):
    return pytest.mark.parametrize(
        "name, fn, dtype", [pytest.param(*row, id=f"{row[0]}-{row[2]}") for row in rows(table, leave_out)]
    )


def wide(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


# Of three operands; with two operations.
NO_TWIN = ("addc", "addsc", "sels", "abs", "relu")


@platforms
@pytest.mark.parametrize("shape", SHAPES)
@cases(tiles.BINARY, NO_TWIN)
def test_two_tensors(name, fn, dtype, shape, platform):
    a, b = data(shape, dtype, 0, low=-4), data(shape, dtype, 1)
    check(computed(f"pl.tensor.{name}(x0, x1)", [a, b], [dtype] * 2, shape, dtype, platform), fn(wide(a), wide(b)))


@platforms
@pytest.mark.parametrize("shape", SHAPES)
@cases(tiles.SCALAR)
def test_a_tensor_and_a_number(name, fn, dtype, shape, platform):
    a = data(shape, dtype, 0, low=-4)
    number = "3.0" if dtype in FLOATS else "3"
    check(computed(f"pl.tensor.{name}(x0, {number})", [a], [dtype], shape, dtype, platform), fn(wide(a)))


UNARY = [
    ("abs", np.abs, FLOATS),
    ("neg", np.negative, FLOATS),
    ("relu", lambda a: np.maximum(a, 0), [*FLOATS, "INT32"]),
    ("sin", np.sin, ["FP32"]),
    ("cos", np.cos, ["FP32"]),
]


@platforms
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "name, fn, dtype",
    [*rows(tiles.UNARY, NO_TWIN), *((name, fn, dtype) for name, fn, dtypes in UNARY for dtype in dtypes)],
)
def test_one_tensor(name, fn, dtype, shape, platform):
    a = data(shape, dtype, 0, low=-4 if name in ("abs", "neg", "relu", "sin", "cos") else None)
    check(computed(f"pl.tensor.{name}(x0)", [a], [dtype], shape, dtype, platform), fn(wide(a)))


@platforms
@pytest.mark.parametrize("shape", SHAPES)
@cases(tiles.REDUCTIONS)
def test_reductions(name, fn, dtype, shape, platform):
    a = data(shape, dtype, 0)
    if "prod" in name:
        a = (np.sign(a - 2) + (np.abs(a - 2) < 0.5)).astype(a.dtype)
    expected = fn(wide(a))
    out = computed(f"pl.tensor.{name}(x0)", [a], [dtype], expected.shape, dtype, platform)
    np.testing.assert_allclose(out, expected, rtol=2e-2 if dtype == "FP16" else 1e-4)


@platforms
@pytest.mark.parametrize("shape", SHAPES)
@cases(tiles.ARGUMENTS)
def test_places_of_extremes(name, fn, dtype, shape, platform):
    a = np.random.default_rng(0).permutation(shape[0] * shape[1]).reshape(shape).astype(np.float32)
    expected = fn(a)
    out = computed(f"pl.tensor.{name}(x0)", [a], [dtype], expected.shape, "INT32", platform)
    np.testing.assert_array_equal(out, expected)


@platforms
@pytest.mark.parametrize("shape", SHAPES[:2])
@cases(tiles.ROWS + tiles.COLUMNS)
def test_broadcasts(name, fn, dtype, shape, platform):
    a = data(shape, dtype, 0)
    v = data((shape[0], 1) if name.startswith("row_") else (1, shape[1]), dtype, 1)
    out = computed(f"pl.tensor.{name}(x0, x1)", [a, v], [dtype] * 2, shape, dtype, platform)
    np.testing.assert_allclose(out, fn(wide(a), wide(v)), rtol=4e-3 if dtype == "FP16" else 5e-5, atol=1e-3)


@platforms
@pytest.mark.parametrize("shape", SHAPES)
def test_a_cosine_of_a_tile(shape, platform):
    a = data(shape, "FP32", 0, low=-4)
    out = computed(f"pl.tile.cos(pl.tile.load(x0, [0, 0], {list(shape)}))", [a], ["FP32"], shape, "FP32", platform)
    np.testing.assert_allclose(out, np.cos(wide(a)), rtol=2e-3, atol=2e-3)


@platforms
@pytest.mark.parametrize("dtype", FLOATS)
def test_columns_behind_columns(dtype, platform):
    a, b = data((8, 32), dtype, 0), data((8, 64), dtype, 1)
    out = computed("pl.tensor.concat(x0, x1)", [a, b], [dtype] * 2, (8, 96), dtype, platform)
    np.testing.assert_array_equal(out, np.concatenate([a, b], 1))


@platforms
@pytest.mark.parametrize("descending", [False, True])
def test_numbers_in_order(descending, platform):
    out = computed(f"pl.tensor.ci(3, [1, 64], descending={descending})", [], [], (1, 64), "INT32", platform)
    np.testing.assert_array_equal(out[0], 3 - np.arange(64) if descending else 3 + np.arange(64))


GENERATED = {
    *(name for table in (tiles.BINARY, tiles.SCALAR) for name, _, _ in rows(table, NO_TWIN)),
    *(name for name, _, _ in rows(tiles.UNARY, NO_TWIN)),
    *(name for name, _, _ in UNARY),
    *(name for table in (tiles.REDUCTIONS, tiles.ARGUMENTS, tiles.ROWS, tiles.COLUMNS) for name, _, _ in rows(table)),
}


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_operands_of_other_types_are_refused(name):
    """An operand too few, and one of a type that the row does not take."""
    operands = [each for each, *_ in ir.op_parameters(f"tensor.{name}")]
    for value in (f"pl.tensor.{name}()", f"pl.tensor.{name}(x0, nothing=1)", f"pl.tensor.{name}('x0', x0)"):
        with pytest.raises((OperandError, InvalidOperationError)) as caught:
            computed(value, [data((8, 64), "FP32", 0)], ["FP32"], (8, 64), "FP32", "a2a3sim")
        assert "Traceback" not in str(caught.value) and operands


def called():
    """Rows that tests call: by their form (`tile.add(`), or by a name that both forms have (`pl.add(`)."""
    by_form, by_name = {f"tensor.{name}" for name in GENERATED}, set()
    for path in (ROOT / "test/python/pypto").glob("*.py"):
        text = path.read_text()
        for space, name in re.findall(r"\b(tile|block|tensor|system|array)\.(\w+)\(", text):
            by_form.add(f"{'tile' if space == 'block' else space}.{name}")
        by_form |= {f"comm.{name}" for name in re.findall(r"\bpld\.(?:\w+\.)?(\w+)\(", text)}
        by_name |= set(re.findall(r"\bpl\.(\w+)\(", text))
    return by_form, by_name


def test_each_row_of_the_table_has_a_test():
    by_form, by_name = called()
    names = set(ir.op_names())
    assert not {name for name in names if name not in by_form and name.partition(".")[2] not in by_name}
