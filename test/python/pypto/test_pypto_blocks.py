"""Scopes of several blocks, their kernel and their task."""

import pypto.language as pl
import pytest
from pypto import ir

BLOCKS = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        {}
            y = pl.store(pl.load(a, [i * 16, 0], [16, 32]), [i * 16, 0], y)
        with pl.spmd(4, deps=[{}], name_hint="second") as other:
            i = pl.tile.get_block_idx()
            y = pl.store(pl.load(y, [i * 16, 0], [16, 32]), [i * 16, 0], y)
        return y
"""


@pytest.mark.parametrize(
    "head, task",
    [
        ('for i in pl.spmd(4, sync_start=True, name_hint="first", allow_early_resolve=True):', ""),
        (
            "with pl.spmd(4, optimizations=[pl.split(pl.SplitMode.UP_DOWN), pl.cross_core_slot(slot_num=2)]) as t:\n"
            "            i = pl.tile.get_block_idx()",
            "t",
        ),
    ],
)
def test_blocks_run_a_kernel_that_is_a_scope_of_its_own(head, task):
    program = pl.parse(BLOCKS.format(head, task))
    body = program.functions["main"].body.stmts
    first, second = (each for each in body if isinstance(each, ir.SpmdScopeStmt))
    (kernel,), (other,) = first.body.stmts, second.body.stmts
    assert isinstance(kernel, ir.InCoreScopeStmt) and (second.name_hint, other.name_hint) == ("second_spmd", "second")
    if task:
        assert first.attrs["task_id_var"] is body[0].var and body[0].value.op.name == "system.task_invalid"
        assert second.attrs["manual_dep_edges"][0] is body[0].var
        assert kernel.split == ir.SplitMode.UP_DOWN == 1 and dict(kernel.attrs) == {"slot_num": 2}
    else:
        assert (
            first.attrs["allow_early_resolve"] and first.name_hint == "first_spmd" and kernel.split == ir.SplitMode.NONE
        )
    shown = ir.python_print(program)
    assert "task_invalid" not in shown and " as other:" in shown and "pl.at(" not in shown
    assert ir.structural_equal(program, pl.parse(shown)) and ir.python_print(pl.parse(shown)) == shown
