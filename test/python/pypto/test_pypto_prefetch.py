"""pl.prefetch changes no number; its handles are checked."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import OperandError
from pypto.runtime import RunConfig


@pl.jit
def warmed(x: pl.Tensor[[4, 128], pl.FP32], y: pl.Out[pl.Tensor[[4, 128], pl.FP32]]):
    for i in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP):
            ctx: pl.PrefetchAsyncContext = pl.prefetch.make_context()
            event = pl.prefetch.async_prefetch(x[i : i + 1, :], ctx)
            session = pl.prefetch.session(ctx=ctx)
            pl.prefetch.wait(event, session)
            pl.store(pl.add(pl.load(x, [i, 0], [1, 128]), 1.0), [i, 0], y)
    return y


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_rows_that_are_fetched_before(platform):
    x, y = np.random.default_rng(0).standard_normal((4, 128)).astype(np.float32), np.zeros((4, 128), np.float32)
    warmed(x, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, x + 1)


@pytest.mark.parametrize(
    "line, message, hint",
    [
        ("pl.prefetch.async_prefetch(x, ctx)", "takes one row of a known length", "x[0:1, :]"),
        ("pl.prefetch.async_prefetch(x[0:1, :])", "ctx must be a context", "make_context()"),
        ("pl.prefetch.async_prefetch(1.0, ctx)", "src must be a tensor", ""),
        ("pl.prefetch.session(pl.prefetch.session(ctx))", "ctx must be a context", "make_context()"),
        ("pl.prefetch.wait(ctx, ctx)", "event must be an event", "async_prefetch(x, ctx)"),
        ("pl.prefetch.make_context(x)", "pl.prefetch.make_context takes ()", ""),
        ("pl.prefetch.session(context=ctx)", "pl.prefetch.session takes (ctx)", ""),
    ],
)
def test_handles_are_checked(line, message, hint):
    head = "@pl.function(type=pl.FunctionType.InCore)\ndef f(x: pl.Tensor[[4, 128], pl.FP32]):\n"
    with pytest.raises(OperandError) as caught:
        pl.parse(f"{head}    ctx = pl.prefetch.make_context()\n    {line}\n    return x\n")
    assert message in caught.value.message and hint in (caught.value.hint or "")
    assert caught.value.span["line"] == 4
