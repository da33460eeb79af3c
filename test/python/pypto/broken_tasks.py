"""Programs with one mistake each, as in broken_programs.py: calls, tasks, directions, and what the processors lack."""

from broken_programs import (
    HEAD,
    KERNEL,
    LOAD,
    METHOD,
    OUT,
    STORE,
    Broken,
    entry,
    headed,
    kernel,
    methods,
)
from pto_mlir.runtime import RuntimeFailure
from pypto.backend.pto_backend import PartialCodegenError
from pypto.language.parser.diagnostics import (
    InvalidOperationError,
    OperandError,
    ParserSyntaxError,
    ParserTypeError,
    ScopeIsolationError,
    UndefinedVariableError,
    UnsupportedFeatureError,
)

OPERANDS = (
    Broken(
        "too few offsets",
        kernel("u = ^^pl.load(x, [0], [64, 32])"),
        InvalidOperationError,
        "pl.tile operation 'load': a window of [64, 32] needs 2 offsets and extents, not 1 and 2",
        "give one of each for each axis",
        (("[0],", "[0, 0],"),),
    ),
    Broken(
        "an operand too few",
        kernel("t = ^^pl.add(t)"),
        OperandError,
        "tile.add needs its rhs",
        "it takes lhs, rhs",
        (("pl.add(t)", "pl.add(t, rhs=t)"),),
    ),
    Broken(
        "a keyword that is not there",
        kernel("t = pl.exp(t, ^^mode=1)"),
        OperandError,
        "tile.exp has no argument mode",
        "it takes x",
        ((", mode=1", ""),),
    ),
    Broken(
        "a keyword of tensors on tiles",
        headed(
            f"x: pl.Tensor[[64, 32], pl.FP32], {OUT}",
            LOAD,
            "pl.store(pl.matmul(t, t, ^^a_trans=True), [0, 0], y)",
        ),
        OperandError,
        "pl.matmul on tiles takes a pl.tile.transpose_view instead of a_trans=",
        "multiply the view, or tensors",
        (
            (LOAD, ""),
            ("pl.store(pl.matmul(t, t, a_trans=True), [0, 0], y)", "y[0:32, :] = pl.matmul(x, x, a_trans=True)"),
        ),
    ),
    Broken(
        "tiles of two element types",
        kernel("h = pl.cast(t, pl.FP16)", "t = pl.add(t, ^^h)"),
        OperandError,
        "pl.add takes tiles of one element type, not FP32 and FP16",
        "write `pl.cast(h, pl.FP32)`",
        (("(t, h)", "(t, {0})"),),
    ),
    Broken(
        "shapes that do not fit",
        kernel("u = pl.load(x, [0, 0], [64, 16])", "t = ^^pl.add(t, u)"),
        OperandError,
        "pl.tile operation 'add': shapes [64, 32] and [64, 16] do not broadcast",
        "load both in one shape, or with an extent of 1",
        (("[64, 16]", "[64, 32]"),),
    ),
    Broken(
        "an index beside numbers with a fraction",
        kernel("for i in pl.range(4):", "    t = ^^pl.add(t, i)"),
        OperandError,
        "pl.tile operation 'adds': rhs is INDEX beside FP32",
        "cast it, as in `pl.cast(.., pl.FP32)`",
        (("(t, i)", "(t, pl.cast(i, pl.FP32))"),),
    ),
    Broken(
        "an operation of tiles on a number",
        kernel("t = pl.mul(t, ^^pl.exp(1.0))"),
        OperandError,
        "pl.exp works on tensors and tiles, not on a Scalar",
        "use Python operators on scalars",
        (("pl.exp(1.0)", "2.718281828"),),
    ),
    Broken(
        "rows and columns of a product",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32], {OUT}", "y[:] = ^^pl.matmul(x, x)"),
        InvalidOperationError,
        "pl.tensor operation 'matmul': K differs: [64, 32] times [64, 32]",
        "the columns of lhs are the rows of rhs",
        (("y[:] = pl.matmul(x, x)", "y[0:32, :] = pl.matmul(x, x, a_trans=True)"),),
    ),
    Broken(
        "a tensor that is stored as a tile",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32], {OUT}", "t = pl.add(x, x)", "pl.store(^^t, [0, 0], y)"),
        OperandError,
        "pl.store takes a tile, and t is a tensor",
        "write `y[:] = t`",
        (("pl.store(t, [0, 0], y)", "{0}"),),
    ),
    Broken(
        "a window that begins outside",
        kernel("t = ^^pl.load(x, [64, 0], [64, 32])"),
        InvalidOperationError,
        "pl.tile operation 'load': offset 64 lies outside the extent 64",
        "begin inside of the tensor",
        (("[64, 0]", "[0, 0]"),),
    ),
)

TASKS = (
    Broken(
        "an argument too few",
        entry("y = ^^g(x)"),
        ParserTypeError,
        "g: expects 2 arguments, y is missing",
        "write `g(x, y)`",
        (("g(x)\n", "{0}\n"),),
    ),
    Broken(
        "a kernel that calls a kernel",
        entry("with pl.at(level=pl.Level.CORE_GROUP):", "    y = ^^g(x, y)"),
        UnsupportedFeatureError,
        "a kernel calls no kernel: g",
        "`@pl.jit.inline` can be called in a kernel",
        (("@pl.jit.incore", "{0}"),),
    ),
    Broken(
        "a tensor as dependency",
        entry("y, first = pl.submit(g, x, y)", "y, last = pl.submit(g, x, y, deps=[^^y])"),
        ParserTypeError,
        "deps: y is no task",
        "a task is the last result of `pl.submit`, or the name behind `as` of a scope",
        (("deps=[y]", "deps=[first]"),),
    ),
    Broken(
        "a dependency that is no list",
        entry("y, first = pl.submit(g, x, y)", "y, last = pl.submit(g, x, y, deps=^^first)"),
        ParserTypeError,
        "deps must be a list literal of tasks",
        "write `[first]`",
        (("deps=first", "deps={0}"),),
    ),
    Broken(
        "a predicate that compares nothing",
        entry("y, task = pl.submit(g, x, y, predicate=^^x[0, 0])").replace("FP32", "INT32"),
        ParserTypeError,
        "predicate must compare an element with an integer",
        "write `(x[0, 0] > 0)`",
        (("predicate=x[0, 0]", "predicate={0}"),),
    ),
    Broken(
        "a cycle of calls",
        methods(METHOD.format("f", "y = self.g(x, y)"), METHOD.format("g", "y = ^^self.f(x, y)")),
        ParserSyntaxError,
        "functions call each other: f -> g -> f",
        "leave this call of f out, or loop",
        (("y = self.f(x, y)", f"{LOAD}\n        y = {STORE}"),),
    ),
    Broken(
        "a function that the program lacks",
        methods(METHOD.format("f", "y = ^^self.kernal(x, y)"), METHOD.format("kernel", f"{LOAD}\n        y = {STORE}")),
        UndefinedVariableError,
        "the program has no function kernal",
        "did you mean `kernel`?",
        (("kernal", "{0}"),),
    ),
    Broken(
        "an operation outside of a scope",
        entry("t = ^^pl.add(x, x)", "y = g(t, y)"),
        UnsupportedFeatureError,
        "pl.add outside a scope is not supported",
        "move it into `with pl.at(level=pl.Level.CORE_GROUP):`",
        (("    t =", "    {0}\n        t ="),),
    ),
    Broken(
        "an entry without a kernel",
        f"{HEAD}@pl.jit\n^^def f(x: pl.Tensor[[64, 32], pl.FP32], {OUT}):\n    return y\n",
        UnsupportedFeatureError,
        "an entry without a scope",
        "put the work into `with pl.at(level=pl.Level.CORE_GROUP):`",
        (("    return", "    {0}\n        y[:] = pl.exp(x)\n    return"),),
    ),
    Broken(
        "an output that nothing writes",
        headed(f"x: pl.Tensor[[64, 32], pl.FP32], ^^{OUT}", "y = pl.add(x, x)"),
        PartialCodegenError,
        "f: output y is never written",
        "use pl.store, or `y[:] = `",
        (("        y = ", "        {0}"),),
    ),
    Broken(
        "an input that is written",
        kernel("pl.store(t, [0, 0], x)").replace("f(x:", "f(^^x:"),
        ParserTypeError,
        "x is written, but not declared as Out",
        "write `x: pl.InOut[pl.Tensor[[64, 32], pl.FP32]]`",
        (("x: pl.Tensor[[64, 32], pl.FP32]", "{0}"),),
    ),
    Broken(
        "a result that is no output",
        f"{HEAD}{KERNEL}@pl.jit\ndef f(^^x: pl.Tensor[[64, 32], pl.FP32], {OUT}):\n    y = g(x, y)\n    return x\n",
        UnsupportedFeatureError,
        "an entry returns only its outputs",
        "return a `pl.Out` tensor",
        (("return x", "return y"),),
    ),
)

SCOPES = (
    Broken(
        "a value that leaves its scope nowhere",
        entry("for i in pl.spmd(2):", "    ^^e = pl.exp(x)", "with pl.at(level=pl.Level.CORE_GROUP):", "    y[:] = e"),
        ScopeIsolationError,
        "variable e holds nothing outside of the scope that computes it",
        "store it there to a tensor that was made before",
        (
            ("    for i", "    e = pl.create_tensor([64, 32], dtype=pl.FP32)\n    for i"),
            ("e = pl.exp(x)", "e[:] = pl.exp(x)"),
        ),
    ),
    Broken(
        "an operand that a loop replaces in L1",
        headed(
            "x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
            "a = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)",
            "b = pl.move(a, pl.Mem.Right)",
            "t = pl.matmul(pl.move(a, pl.Mem.Left), b)",
            "^^for i in pl.range(2):",
            "    a = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)",
            "    t = pl.matmul_acc(t, pl.move(a, pl.Mem.Left), b)",
            "pl.store(t, [0, 0], y)",
        ),
        InvalidOperationError,
        "a tile in mat cannot be copied to be handed on",
        "give the one of the loop a name of its own, or both the same MemRef",
        (
            (
                "    a = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n            t",
                "    c = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n            t",
            ),
            ("t, pl.move(a,", "t, pl.move(c,"),
        ),
    ),
    Broken(
        "a tensor beside a tile",
        kernel("t = ^^pl.add(t, x)"),
        OperandError,
        "pl.tile operation 'add': rhs must be a tile",
        "load it with `pl.load`",
        (("(t, x)", "(t, {0}(x, [0, 0], [64, 32]))"),),
    ),
)

PROCESSOR = (
    Broken(
        "more tiles than memory",
        kernel("u = ^^pl.create_tile([256, 1024], dtype=pl.FP32)", "u = pl.exp(u)"),
        InvalidOperationError,
        "tiles need 1056768 bytes of UB, which has 196608",
        "smaller tiles or fewer of them at a time would fit (the largest tile takes 1048576 bytes)",
        (("[256, 1024]", "[64, 64]"),),
    ),
    Broken(
        "elements that an operation lacks",
        kernel("n = pl.cast(t, pl.INT32)", "n = ^^pl.exp(n)"),
        InvalidOperationError,
        "pl.exp does not work on INT32 on a3",
        "expects one of FP16 FP32",
        (("exp(n)", "exp(t)"),),
    ),
    Broken(
        "a conversion that takes two steps",
        kernel("h = ^^pl.cast(pl.cast(t, pl.INT64), pl.FP16)"),
        InvalidOperationError,
        "pl.cast expects a destination of FP32 or INT32 for INT64 on a3, got FP16",
        "cast to one of these first",
        (("pl.cast(t, pl.INT64)", "pl.cast(pl.cast(t, pl.INT64), pl.FP32)"),),
    ),
    Broken(
        "an operation of another processor",
        kernel("r = ^^pl.tile.random(1, 2, 3, 4, 5, 6, [64, 32])"),
        InvalidOperationError,
        "pl.random exists on a5 only",
        'compile for it, `RunConfig(platform="a5sim")`',
        (
            (
                "import pypto.language as pl\n",
                "import pypto.language as pl\nfrom pypto.runtime import RunConfig\n\nCONFIG = {0}\n",
            ),
        ),
    ),
    Broken(
        "rows that are not aligned",
        kernel("u = pl.exp(pl.load(x, [0, 0], [64, 30]))", "t = ^^pl.reshape(u, [60, 32])"),
        InvalidOperationError,
        "pl.reshape cannot give another shape to a tile whose rows are no multiple of 32 bytes",
        "load as many columns as fill them",
        (("30]", "32]"), ("[60, 32]", "[64, 32]")),
    ),
    Broken(
        "a store that leaves its tensor",
        kernel("^^pl.store(t, [0, 16], y)"),
        InvalidOperationError,
        "pl.tile operation 'store': the window is not inside of the tensor: 16 + 32 of 32 on axis 1",
        "say the part that is valid, or store to another place",
        (("[0, 16]", "[0, 0]"),),
    ),
    Broken(
        "a store that a run finds outside of its tensor",
        kernel("for i in pl.range(16, 17):", "    ^^pl.store(t, [0, i], y)"),
        RuntimeFailure,
        "",
        "keep the offset plus the extent of the window inside of the tensor",
        (("16, 17", "0, 1"),),
    ),
    Broken(
        "an index behind the last element",
        entry("^^n = pl.tensor.read(x, [64, 0])", "y = g(x, y)"),
        RuntimeFailure,
        "",
        "keep the index below the extent",
        (("[64, 0]", "[63, 0]"),),
    ),
)

WAIT = """import pypto.language as pl
import pypto.language.distributed as pld
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.runtime import RunConfig

CONFIG = RunConfig(distributed_config=DistributedConfig(device_ids=[0, 1]))


@pl.jit.incore
def g(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    me = pld.rank(pld.get_comm_ctx(cells))
    if me != 1:
        ^^pld.system.wait(cells, offsets=[2, 0], expected=1, cmp=pld.WaitCmp.Ge)
    pl.write(y, [0, 0], me)
    return y


@pl.jit
def device(y: pl.Out[pl.Tensor[[4, 1], pl.INT32]], cells: pld.DistributedTensor[[4, 1], pl.INT32]):
    return g(y, cells)


@pl.jit.host
def f(y: pl.Out[pl.Tensor[[2, 4, 1], pl.INT32]]):
    cells = pld.alloc_window_buffer([4, 1], dtype=pl.INT32)
    for r in pl.range(pld.world_size()):
        device(y[r], pld.window(cells, [4, 1], dtype=pl.INT32), device=r)
"""
RANKS = (
    Broken(
        "a wait that nobody satisfies",
        WAIT,
        RuntimeFailure,
        "",
        "let a rank notify the cell, or do not wait for it",
        (
            (
                "    pl.write",
                "    else:\n        pld.system.notify(cells, peer=0, offsets=[2, 0], value=1, op=pld.NotifyOp.Set)\n"
                "    pl.write",
            ),
        ),
    ),
)
