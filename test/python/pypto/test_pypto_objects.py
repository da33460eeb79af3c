"""Attributes of objects around a program, and operations that Python puts in place of others."""

import dataclasses
import enum
import types

import numpy as np
import pypto
import pypto.language as pl
import pytest
from pypto import ir
from pypto.language.op import tensor_ops, tile_ops, unified_ops
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    OperandError,
    ParserError,
    UndefinedVariableError,
)
from test_pypto_parts import numbers

Mode = enum.Enum("Mode", {"FAST": 2, "EXACT": 3})


@dataclasses.dataclass
class Sizes:
    rows: int
    columns: int
    dtype: object = pl.FP32


class Constants:
    FACTOR = 3.0
    INNER = types.SimpleNamespace(offset=[0, 0], mode=Mode.EXACT)


class Broken:
    held = object()

    @property
    def wrong(self):
        raise ValueError("it is not known yet")

    @property
    def fault(self):
        raise pypto.InternalError("a fault of ours")


sizes, broken = Sizes(16, 32), Broken()


def test_extents_types_and_numbers_of_objects():
    @pl.function
    def scale(x: pl.Tensor[[sizes.rows, sizes.columns], sizes.dtype], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.load(x, Constants.INNER.offset, [sizes.rows, sizes.columns])
        pl.store(pl.mul(t, Constants.FACTOR * Constants.INNER.mode.value), [0, 0], y)

    text = ir.python_print(scale)
    assert "pl.tile.muls(t, 9.0)" in text and "[16, 32]" in text


@pl.jit
def scaled(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        pl.store(pl.mul(pl.load(x, [0, 0], [sizes.rows, 32]), Constants.FACTOR), [0, 0], y)
    return y


def test_a_specialisation_has_the_attributes_of_its_call(monkeypatch):
    x, y = numbers(16, 32), np.zeros((16, 32), np.float32)
    scaled(x, y)
    np.testing.assert_array_equal(y, x * np.float32(3))
    monkeypatch.setattr(Constants, "FACTOR", 5.0)
    monkeypatch.setattr(sizes, "rows", 8)
    scaled(x, y)
    np.testing.assert_array_equal(y[:8], x[:8] * np.float32(5))
    count = len(scaled._cache)
    scaled(x, y)
    assert len(scaled._cache) == count == 2


def no_such(x: pl.Tensor[[8], pl.FP32]):
    return pl.mul(x, sizes.row)


def not_known(x: pl.Tensor[[8], pl.FP32]):
    return pl.mul(x, broken.wrong.more)


def whole(x: pl.Tensor[[8], pl.FP32]):
    return pl.mul(x, sizes)


def hidden(x: pl.Tensor[[8], pl.FP32]):
    return pl.mul(x, sizes.__class__)


def no_value(x: pl.Tensor[[8], pl.FP32]):
    return pl.mul(x, broken.held)


@pytest.mark.parametrize(
    "function, message",
    [
        (no_such, "sizes.row cannot be read"),
        (not_known, "broken.wrong cannot be read: it is not known yet"),
        (whole, "a Sizes cannot be used in a kernel"),
        (hidden, "the attribute __class__ is not supported"),
        (no_value, "a object cannot be used in a kernel"),
    ],
)
def test_what_objects_do_not_have(function, message):
    with pytest.raises(ParserError, match=message) as caught:
        pl.function(function)
    assert caught.value.span["line"] == function.__code__.co_firstlineno + 1


def test_faults_of_ours_stay_what_they_are():
    with pytest.raises(pypto.InternalError, match="a fault of ours"):

        @pl.function
        def fault(x: pl.Tensor[[8], pl.FP32]):
            return pl.mul(x, broken.fault)


def test_a_text_names_no_objects():
    with pytest.raises(UndefinedVariableError):
        pl.parse("@pl.function\ndef f(x: pl.Tensor[[8], pl.FP32]):\n    return pl.mul(x, sizes.rows)\n")


def one(op, module, monkeypatch, function):
    monkeypatch.setattr(module, op, function)

    @pl.function
    def f(x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.tile.load(x, [0, 0], [16, 32])
        u = pl.tile.exp(t)
        pl.store(pl.abs(u), [0, 0], y)

    return ir.python_print(f)


def test_an_operation_of_python_takes_the_place_of_one(monkeypatch):
    twice = lambda x: pl.tile.muls(x, 2.0)  # noqa: E731
    assert "pl.tile.muls(t, 2.0)" in one("exp", tile_ops, monkeypatch, twice)
    assert "pl.tile.muls(u, 2.0)" in one("abs", unified_ops, monkeypatch, twice)
    monkeypatch.undo()
    assert "pl.tile.exp(t)" in one("cast", tensor_ops, monkeypatch, twice)  # which the kernel does not call


@pytest.mark.parametrize(
    "raised, seen",
    [
        (ValueError, InvalidOperationError),
        (TypeError, OperandError),
        (pypto.InternalError, pypto.InternalError),
        (AssertionError, AssertionError),
    ],
)
def test_what_an_operation_of_python_raises(monkeypatch, raised, seen):
    def refuse(*_, **__):
        raise raised("this one does not")

    with pytest.raises(seen, match="this one does not") as caught:
        one("exp", tile_ops, monkeypatch, refuse)
    assert isinstance(caught.value, ParserError) == (seen in (InvalidOperationError, OperandError))


def test_keywords_that_transpose_a_tile_name_the_view():
    with pytest.raises(OperandError, match="takes a pl.tile.transpose_view instead of b_trans="):

        @pl.function
        def f(x: pl.Tensor[[16, 16], pl.FP16]):
            a = pl.load(x, [0, 0], [16, 16], target_memory=pl.MemorySpace.Mat)
            c = pl.matmul(a, a, b_trans=True)
            return c
