"""The rows B19 to B26 of CodeGenerator's checklist (docs/pypto-rows.md): expressions, control flow, plans."""

import re

import pytest
from pypto import DataType, ir
from pypto.ir.op import block, tensor, tile
from row_kernels import (
    F32,
    I32,
    INDEX,
    SPAN,
    cpp,
    function_body,
    kernel,
    memref,
    product,
    tile_in,
)


def scalar(make, dtype=I32):
    """The statements of a kernel that assigns `make(i, j)` to x."""

    def body(ib, i, j):
        ib.let("x", make(i, j))

    return function_body(cpp(kernel(body, i=ir.ScalarType(dtype), j=ir.ScalarType(dtype))))[0]


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda i, j: ir.Mul(i, 32, I32, SPAN), "auto x = (i * 32);"),
        (lambda i, j: ir.Add(ir.Mul(i, 128, I32, SPAN), j, I32, SPAN), "auto x = ((i * 128) + j);"),
        (lambda i, j: ir.Sub(i, j, I32, SPAN), "auto x = (i - j);"),
        (lambda i, j: ir.Lt(i, j, DataType.BOOL, SPAN), "auto x = (i < j);"),
        (
            lambda i, j: ir.And(
                ir.Lt(i, j, DataType.BOOL, SPAN), ir.Ge(i, 1, DataType.BOOL, SPAN), DataType.BOOL, SPAN
            ),
            "auto x = ((i < j) && (i >= 1));",
        ),
        (lambda i, j: ir.BitShiftLeft(i, 2, I32, SPAN), "auto x = (i << 2);"),
        (lambda i, j: ir.BitXor(i, j, I32, SPAN), "auto x = (i ^ j);"),
        (lambda i, j: ir.Min(i, j, I32, SPAN), "auto x = min(i, j);"),
        (lambda i, j: ir.Cast(i, F32, SPAN), "auto x = ((float)i);"),
    ],
)
def test_B19_scalar_expressions(make, text):
    assert scalar(make) == text


def test_B20_loops():
    def body(ib, a, b, c):
        with ib.for_loop("i", 2, 8, 2) as loop:
            acc = loop.iter_arg("acc", ir.ConstFloat(0.5, F32, SPAN))
            loop.return_var("total")
            ib.yield_stmt([ib.let("next", ir.Add(acc, 1.0, F32, SPAN))])
        t = ib.let("t", block.load(a, [0, 0], [32, 32]))
        ib.eval_stmt(block.store(ib.let("u", block.muls(t, loop.output())), [0, 0], [32, 32], c))

    assert function_body(cpp(kernel(body)))[:6] == [
        "float acc = 0.5f;",
        "for (int64_t i = 2; i < 8; i += 2) {",
        "auto next = (acc + 1.0f);",
        "acc = next;",
        "}",
        "TLOAD(t, aGlobal);",
    ]
    assert "TMULS(u, t, acc);" in cpp(kernel(body)), "the loop's result is the carried variable"


def test_B20_a_carried_tile_has_the_declaration_of_B11():
    def body(ib, a, b, c):
        first = ib.let("first", block.load(a, [0, 0], [32, 32]), tile_in(memref(0, 0)))
        with ib.for_loop("i", 0, 4, 1) as loop:
            acc = ir.IterArg("acc", tile_in(memref(1, 0x1000)), first, SPAN)
            loop.iter_args.append(acc)
            loop.return_var("last")
            ib.yield_stmt([ib.let("next", block.mul(acc, first), tile_in(memref(2, 0x2000)))])
        ib.eval_stmt(block.store(loop.output(), [0, 0], [32, 32], c))

    text = cpp(kernel(body))
    assert "    accType acc(32, 32);\n    TASSIGN(acc, 0x1000);\n" in text
    assert function_body(text) == [
        "TLOAD(first, aGlobal);",
        "TMOV(acc, first);",
        "for (int64_t i = 0; i < 4; i += 1) {",
        "TMUL(next, acc, first);",
        "TMOV(acc, next);",
        "}",
        "TSTORE(cGlobal, acc);",
        "}",
    ]


def branching(ib, a, b, c):
    t = ib.let("t", block.load(a, [0, 0], [32, 32]))
    with ib.if_stmt(ir.ConstBool(True, SPAN)) as branch:
        ib.yield_stmt([ib.let("p", block.sqrt(t)), ir.ConstFloat(2.0, F32, SPAN)])
        with branch.else_():
            ib.yield_stmt([t, ir.ConstFloat(4.0, F32, SPAN)])
        out = branch.return_var("out", tile_in(memref(0, 0x20000)))
        factor = branch.return_var("factor", ir.ScalarType(F32))
    ib.eval_stmt(block.store(ib.let("u", block.muls(out, factor)), [0, 0], [32, 32], c))


def test_B21_what_a_branch_gives_is_declared_before_it():
    text = cpp(kernel(branching))
    tile_declared = text.index("    outType out(32, 32);\n    TASSIGN(out, 0x20000);\n")
    scalar_declared = text.index("    float factor;\n")
    assert tile_declared < scalar_declared < text.index("    if (true) {")
    assert text.index("} else {") < text.index("factor = 4.0f;")


def test_B22_yields_are_consumed_by_their_statement():
    body = function_body(cpp(kernel(branching)))
    begin, middle = body.index("if (true) {"), body.index("} else {")
    end = body.index("}", middle)
    assert "factor = 2.0f;" in body[begin:middle] and "factor = 4.0f;" in body[middle:end]
    assert "TMOV(out, t);" in body[middle:end] and not any("yield" in line for line in body)


def test_B23_carried_tensors_keep_their_pointer():
    def body(ib, x, y):
        with ib.for_loop("i", 0, 2, 1) as loop:
            out = loop.iter_arg("out_iter", y)
            loop.return_var("out_final")
            row = ir.Mul(loop.loop_var, 32, INDEX, SPAN)
            t = ib.let("t", block.load(x, [row, 0], [32, 32]))
            ib.yield_stmt([ib.let("stored", block.store(t, [row, 0], [32, 32], out))])
        last = ib.let("last", block.load(x, [32, 0], [32, 32]))
        ib.eval_stmt(block.store(last, [0, 0], [32, 32], loop.output()))

    both = {name: ir.TensorType([64, 32], F32) for name in "xy"}
    text = cpp(kernel(body, **both))
    assert "TASSIGN(yGlobal, y + (i * 32) * 32 + 0);" in text and "TASSIGN(yGlobal, y + 0 * 32 + 0);" in text


def test_B24_epilogue():
    assert cpp(kernel(product)).endswith("    TSTORE(cGlobal, tile_c);\n}\n")


def test_B25_errors():
    with pytest.raises(ValueError, match="cmp_mode is eq or gt, not near"):
        cpp(kernel(lambda ib, a, b, c: ib.let("x", tensor.gather(a, kvalue=1.0, cmp_mode="near", out_cols=8))))
    rows = ir.Var("M", ir.ScalarType(INDEX), SPAN)
    with pytest.raises(ValueError, match="a tile's extents must be constants"):
        cpp(kernel(lambda ib, x: ib.let("t", tile.load(x, [0, 0], [rows, 32])), x=ir.TensorType([rows, 32], F32)))


def test_B26_extents_known_at_run_time():
    rows = ir.Var("M", ir.ScalarType(INDEX), SPAN)

    def body(ib, x):
        t = ib.let("t", tile.load(x, [0, 0], [32, 32], valid_shape=[rows, 32]))
        ib.eval_stmt(tile.store(t, [0, 0], x))

    text = cpp(kernel(body, x=ir.TensorType([rows, 32], F32)))
    assert "int64_t M = static_cast<int64_t>(args[1]);" in text and "t.SetValidShape(M, 32);" in text


def test_B26_nested_expressions():
    nested = scalar(lambda i, j: ir.Add(ir.Mul(ir.Sub(i, 1, I32, SPAN), j, I32, SPAN), i, I32, SPAN))
    assert nested == "auto x = (((i - 1) * j) + i);"


def constants(ib, a, b, c):
    row = ib.let("row", ir.Mul(ir.ConstInt(2, INDEX, SPAN), 4, INDEX, SPAN))
    ib.let("dead", ir.Add(row, 1, INDEX, SPAN))
    ib.eval_stmt(block.store(ib.let("t", block.load(a, [row, 0], [16, 32])), [row, 0], [16, 32], c))


def test_B26_folding_dead_code_and_common_subexpressions():
    function = kernel(constants)
    assert "auto row = " in cpp(function) and "auto dead = (row + 1);" in cpp(function)
    text = cpp(function, optimise=True)
    assert "row" not in text.split("// Function body")[1] and "dead" not in text and "a + 8 * 32 + 0" in text


def test_B26_scheduling_hints():
    def body(ib, a, b, c):
        with ib.for_loop("i", 0, 4, 1):
            ib.let("t", block.load(a, [0, 0], [32, 32]))

    assert "    #pragma unroll\n    for (" in cpp(kernel(body), hints=True)
    assert "#pragma" not in cpp(kernel(body))


def test_B26_prints_profiling_and_places():
    function = kernel(product)
    assert "TMUL(tile_c, tile_a, tile_b);\n    TPRINT(tile_c);\n" in cpp(function, debug_prints=True)
    timed = 'PTO_PROFILE_BEGIN(2);\n    TMUL(tile_c, tile_a, tile_b);\n    PTO_PROFILE_END(2, "TMUL");\n'
    assert timed in cpp(function, profiling=True)
    assert re.search(r"    // row_kernels\.py:\d+\n    TMUL\(", cpp(function, places=True))
