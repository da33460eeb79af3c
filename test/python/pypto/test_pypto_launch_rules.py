"""What scopes and submits may say of a launch: class, message and place of each refusal, and what stays allowed."""

import textwrap

import pypto.language as pl
import pytest
from pypto.language.parser.diagnostics import InvalidOperationError, ParserSyntaxError, ParserTypeError

PROGRAM = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        y = pl.store(pl.load(x, [0, 0], [64, 32]), [0, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[64, 32], pl.FP32],
        u: pl.Tensor[[1, 1], pl.UINT8],
        n: pl.Tensor[[1, 1], pl.INT32],
        y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
    ) -> pl.Tensor[[64, 32], pl.FP32]:
"""
BLOCKS = "i = pl.tile.get_block_idx()\ny = pl.store(pl.load(x, [i * 16, 0], [16, 32]), [i * 16, 0], y)"
COPY = "y = pl.store(pl.load(x, [0, 0], [64, 32]), [0, 0], y)"


def parse(*lines):
    body = textwrap.indent("\n".join(lines), " " * 8)
    return pl.parse_program(f"{PROGRAM}{body}\n        return y\n")


def scope(head, body=BLOCKS, outer=()):
    lines = [*outer, head, *("    " + line for line in body.splitlines())]
    return [("    " * min(i, len(outer))) + line for i, line in enumerate(lines)]


REFUSED = [
    (scope("with pl.spmd(1.5):"), ParserSyntaxError, "core_num must be an integer expression", "1.5"),
    (scope("with pl.spmd(True):"), ParserSyntaxError, "core_num must be an integer expression", "True"),
    (scope("with pl.spmd(0):"), ParserSyntaxError, "core_num must be a positive integer", "0):"),
    (scope("with pl.spmd(4, core_num=4):"), ParserSyntaxError, "multiple values for argument 'core_num'", "core_num"),
    (scope("with pl.spmd():"), ParserSyntaxError, "requires core_num", "pl.spmd("),
    (scope("with pl.spmd(4, sync_start=1):"), ParserSyntaxError, "sync_start must be a boolean literal", "1):"),
    (scope("with pl.spmd(4, name_hint='a b'):"), ParserSyntaxError, "valid non-keyword identifier", "name_hint"),
    (scope("with pl.spmd(4, name_hint='for'):"), ParserSyntaxError, "valid non-keyword identifier", "name_hint"),
    (scope("with pl.spmd(4, deps=[]):"), ParserSyntaxError, "does not accept 'deps='", "deps"),
    (scope("for i in pl.spmd(4, deps=[]):", COPY), ParserSyntaxError, "does not accept 'deps='", "deps"),
    (scope("with pl.spmd(4):", COPY), ParserSyntaxError, "neither reads the per-block index", "with pl.spmd(4)"),
    (scope("with pl.spmd(4) as t:", outer=["with pl.cluster():"]), ParserSyntaxError, "cannot capture a TaskId", "t:"),
    (
        scope("with pl.spmd(4, allow_early_resolve=True):", outer=["with pl.cluster():"]),
        ParserSyntaxError,
        "cannot be nested inside `pl.cluster",
        "allow_early",
    ),
    (
        scope("with pl.spmd(4, optimizations=[pl.split(pl.SplitMode.NONE), pl.split(pl.SplitMode.NONE)]):"),
        ParserSyntaxError,
        "Duplicate 'pl.split'",
        "pl.split(pl.SplitMode.NONE)]",
    ),
    (
        scope("with pl.spmd(4, optimizations=[pl.cross_core_slot(slot_num=0)]):"),
        ParserSyntaxError,
        "must be positive",
        "0)]",
    ),
    (
        scope("with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=x):", COPY),
        ParserTypeError,
        "must be a list literal",
        "x):",
    ),
    (
        scope("with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=[x, x]):", COPY),
        ParserTypeError,
        "more than once",
        "x]):",
    ),
    (["pl.submit(self.k, x, y)"], ParserSyntaxError, "must be unpacked", "pl.submit"),
    (["y, t = pl.spmd_submit(self.k, x, y, core_num=0)"], ParserSyntaxError, "must be a positive integer", "0)"),
    (["y, t = pl.submit(self.k, x, y, allow_early_resolve=1)"], ParserSyntaxError, "boolean literal", "1)"),
    (["y, t = pl.submit(self.k, x, y, predicate=(u[0, 0] > 0))"], ParserTypeError, "signed 8/16/32/64-bit", "u[0"),
    (
        ["y, t = pl.submit(self.k, x, y, predicate=(n[0, 0] > n[0, 0]))"],
        ParserSyntaxError,
        "one tensor element with an integer literal",
        "n[0",
    ),
    (
        ["ids = pl.array.create(2, pl.TASK_ID)", "y, t = pl.submit(self.k, x, y, deps=[ids, ids[0]])"],
        ParserTypeError,
        "cannot mix",
        "[ids, ids",
    ),
    (["y = self.k(x, y, attrs={'manual_dep_edges': []})"], ParserTypeError, "manual_dep_edges", "self.k(x"),
    (["y[0:8, 0:32] = pl.slice(x, [16, 32], [0, 0])"], ParserTypeError, "shape mismatch on source axis 0", "y[0:8"),
    (["y[0, 0, 0:2] = x"], ParserTypeError, "3 indices but the tensor is 2D", "y[0, 0"),
    (scope("for i in pl.parallel(4):", "break"), InvalidOperationError, "'break' not supported inside", "break"),
    (scope("for i in pl.unroll(4):", "continue"), InvalidOperationError, "'continue' not supported inside", "continue"),
    (scope("for i in pl.spmd(4):", "break"), InvalidOperationError, "'break' not supported inside", "break"),
    (scope("for i in pl.split_aiv(2):", "pass"), ParserSyntaxError, "requires mode=", "pl.split_aiv"),
    (
        scope("for i in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN, init_values=(0,)):", "pass"),
        ParserSyntaxError,
        "does not accept 'init_values='",
        "init_values",
    ),
]


@pytest.mark.parametrize("lines, error, message, at", REFUSED, ids=[f"{i}-{each[2]}" for i, each in enumerate(REFUSED)])
def test_refused(lines, error, message, at):
    with pytest.raises(error) as caught:
        parse(*lines)
    assert message in caught.value.message and caught.value.hint
    span = caught.value.span
    shown = caught.value.source_lines[span["begin_line"] - 1]
    assert shown[span["begin_column"] - 1 :].startswith(at), shown[span["begin_column"] - 1 :]


@pytest.mark.parametrize(
    "lines",
    [
        scope("with pl.spmd(1):", COPY),
        scope("with pl.spmd(4) as t:"),
        scope("with pl.spmd(4, sync_start=True, name_hint='rows'):"),
        scope("with pl.spmd(4):", "y = self.k(x, y)"),
        ["y, t = pl.submit(self.k, x, y)", *scope("with pl.spmd(4, deps=[t]) as u:")],
        ["y, t = pl.submit(self.k, x, y, predicate=(n[0, 0] > 0))"],
        ["y[0:16, 0:32] = pl.slice(x, [16, 32], [0, 0])", "y[3, 0:32] = x[0]"],
        scope("for i in pl.range(4):", "if i > 2:\n    break"),
    ],
    ids=str,
)
def test_allowed(lines):
    parse(*lines)
