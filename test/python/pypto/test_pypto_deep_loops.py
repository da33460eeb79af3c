"""Nests of many loops: they compile at once, and run in order. Expectations are counted."""

import time

import numpy as np
import pypto.language as pl
import pytest
from pypto.ir.compiled_program import CompiledProgram, compile_to
from pypto.runtime import RunConfig

F32 = np.float32

NEST = """@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def f(self, x: pl.Tensor[[4, 8], pl.FP32],
          y: pl.InOut[pl.Tensor[[4, 8], pl.FP32]]) -> pl.Tensor[[4, 8], pl.FP32]:
{loops}
{body}
        return y
"""


@pytest.mark.parametrize(
    "loop", ["pl.range(2)", "pl.pipeline(2, stage=2)", "pl.range(100)", "pl.pipeline(100, stage=2)"]
)
def test_deep_nests_of_loops_compile_at_once(loop, tmp_path):
    """What orders the engines is proven without walking each trip: that takes twice as long with each loop."""
    depth = 24
    loops = "\n".join(" " * (8 + i) + f"for i{i} in {loop}:" for i in range(depth))
    body = " " * (8 + depth) + "y = pl.store(pl.add(pl.load(x, [0, 0], [4, 8]), pl.load(y, [0, 0], [4, 8])), [0, 0], y)"
    program = pl.parse_program(NEST.format(loops=loops, body=body))
    begin = time.perf_counter()
    compile_to(program, tmp_path / "k.pmodel", "a3")
    assert time.perf_counter() - begin < 10


def test_a_nest_that_is_not_walked_trip_by_trip_runs_in_order():
    """13 loops of 2 are more than the trips that a proof walks one by one."""
    loops = "\n".join(" " * (8 + i) + f"for i{i} in pl.range(2):" for i in range(13))
    body = " " * 21 + "y = pl.store(pl.add(pl.load(x, [0, 0], [4, 8]), pl.load(y, [0, 0], [4, 8])), [0, 0], y)"
    x, y = np.ones((4, 8), F32), np.zeros((4, 8), F32)
    for mode in ("functional", "checked"):
        y[:] = 0
        CompiledProgram(pl.parse_program(NEST.format(loops=loops, body=body)), RunConfig(mode=mode))(x, y)
        assert (y == 2**13).all()
