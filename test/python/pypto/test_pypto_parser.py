"""The parser: text and decorated functions to the IR, printed text back to the same IR."""

import ast
import textwrap
from pathlib import Path

import pypto
import pypto.language as pl
import pytest
from pypto import ir
from pypto.language.parser.diagnostics import ParserSyntaxError, ParserTypeError

ROWS = 32
M = pl.dynamic("M")


@pl.function
def doubled(x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Tensor[[ROWS, 64], pl.FP32]):
    """An ordinary kernel: constants come from around it."""
    t = pl.load(x, [0, 0], [ROWS, 2 * ROWS])
    pl.store(pl.mul(t, 2), [0, 0], y)  # the number becomes an FP32


@pl.program
class MulKernel:
    @pl.function
    def mul_kernel_2d(
        self,
        a: pl.Tensor[[32, 32], pl.FP32],
        b: pl.Tensor[[32, 32], pl.FP32],
        c: pl.Tensor[[32, 32], pl.FP32],
    ):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.mul(tile_a, tile_b)
        pl.store(tile_c, [0, 0], [32, 32], c)

    def helper(self):
        raise AssertionError("methods without @pl.function are ignored, and nothing is executed")


@pl.program
class VectorAdd:
    @pl.function
    def vector_add(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 32], pl.FP32]):
        tile_a = pl.load(a, [0, 0], [32, 32])
        tile_b = pl.load(b, [0, 0], [32, 32])
        tile_c = pl.add(tile_a, tile_b)
        pl.store(tile_c, [0, 0], [32, 32], a)


def text(body, head="x: pl.Tensor[[64, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]"):
    return f"@pl.function\ndef f({head}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def printed(function):
    """The statements of a printed function, after checking that they are parsed to the same IR."""
    shown = str(function)
    ir.assert_structural_equal(pl.parse(shown), function)
    ir.assert_structural_equal(ir.deserialize(ir.serialize(function)), function)
    return textwrap.dedent(shown.split(":\n", 1)[1]).rstrip()


def parsed(body, **head):
    return printed(pl.parse(text(body, **head)))


def test_a_decorated_function_is_its_ir():
    assert isinstance(doubled, ir.Function)
    assert [p.name for p in doubled.params] == ["x", "y"]
    assert doubled.param_directions == [ir.ParamDirection.In, ir.ParamDirection.Out]
    assert printed(doubled) == (
        "t: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64])\n"
        "pl.tile.store(pl.tile.muls(t, 2.0), [0, 0], y)"
    )
    load = doubled.body.stmts[0]
    assert load.span.filename == __file__
    with open(__file__) as file:
        line = file.read().splitlines()[load.span.begin_line - 1]
    assert line[load.span.begin_column - 1 :].startswith("t = pl.load(x")


def test_a_decorated_class_is_its_program():
    assert isinstance(MulKernel, ir.Program) and MulKernel.name == "MulKernel"
    kernel = MulKernel.functions["mul_kernel_2d"]
    assert list(MulKernel.functions) == ["mul_kernel_2d"]
    assert kernel.param_directions == [ir.ParamDirection.In, ir.ParamDirection.In, ir.ParamDirection.Out]
    assert [s.value.op.name for s in kernel.body.stmts[:3]] == ["tile.load", "tile.load", "tile.mul"]
    ir.assert_structural_equal(pl.parse_program(str(MulKernel)), MulKernel)
    # The sum is stored to what was loaded.
    added = VectorAdd.functions["vector_add"]
    assert added.param_directions == [ir.ParamDirection.InOut, ir.ParamDirection.In]


def test_kernels_may_be_made_in_functions():
    def make(rows):
        @pl.program
        class Made:
            @pl.function(type=pl.FunctionType.InCore)
            def copy(self, x: pl.Tensor[[rows, 8], pl.FP16], y: pl.Out[pl.Tensor[[rows, 8], pl.FP16]]):
                y = pl.store(pl.load(x, [0, 0], [rows, 8]), [0, 0], y)
                return y

        return Made

    for rows in (8, 16):
        copy = make(rows).functions["copy"]
        assert copy.func_type == ir.FunctionType.InCore and copy.params[0].type.shape[0].value == rows
        assert copy.return_types[0].shape[0].value == rows


def test_loops_carry_what_their_body_binds_again():
    body = """
        acc = pl.create_tile([16, 32], pl.FP32)
        for i in pl.range(4):
            acc = pl.add(acc, pl.load(x, [i * 16, 0], [16, 32]))
        pl.store(acc, [0, 0], y)
    """
    assert parsed(body) == (
        "acc: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 32], dtype=pl.FP32)\n"
        "for i, (acc_1,) in pl.range(4, init_values=(acc,)):\n"
        "    acc_2: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = "
        "pl.tile.add(acc_1, pl.tile.load(x, [i * 16, 0], [16, 32]))\n"
        "    acc_3 = pl.yield_(acc_2)\n"
        "pl.tile.store(acc_3, [0, 0], y)"
    )


def test_values_are_carried_by_name():
    body = """
        for i, (a, b) in pl.range(0, n, 2, init_values=(n, 1)):
            c, d = pl.yield_(a + i, b * 2)
        for (e,) in pl.while_(init_values=(c,)):
            pl.cond(e < d)
            g = pl.yield_(e + 1)
        return g
    """
    assert parsed(body) == (
        "for i, (a, b) in pl.range(0, n, 2, init_values=(n, 1)):\n"
        "    c, d = pl.yield_(a + i, b * 2)\n"
        "for (e,) in pl.while_(init_values=(c,)):\n"
        "    pl.cond(e < d)\n"
        "    g = pl.yield_(e + 1)\n"
        "return g"
    )


def test_a_while_carries_what_its_condition_reads():
    body = """
        k = 0
        while k < n:
            k = k + 3
        return k
    """
    assert parsed(body) == (
        "for (k,) in pl.while_(init_values=(0,)):\n"
        "    pl.cond(k < n)\n"
        "    k_1: pl.Scalar[pl.INDEX] = k + 3\n"
        "    k_2 = pl.yield_(k_1)\n"
        "return k_2"
    )


def test_branches_join_names():
    body = """
        k = 1
        if n < 4 and not n == 2:
            k = n
            z = n
        else:
            z = n + 1
        return k, z
    """
    assert parsed(body) == (
        "if n < 4 and not n == 2:\n"
        "    k, z = pl.yield_(n, n)\n"
        "else:\n"
        "    z_1: pl.Scalar[pl.INDEX] = n + 1\n"
        "    k, z = pl.yield_(1, z_1)\n"
        "return k, z"
    )


def test_branches_yield_and_known_conditions_choose():
    body = """
        if n > 0:
            r = pl.yield_(n)
        else:
            r = pl.yield_(0)
        if ROWS == 64:
            r = r + 1
        elif True:
            r = r + 2
        return r
    """
    shown = printed(pl.parse("ROWS = 32\n" + text(body)))
    assert shown == (
        "if n > 0:\n    r = pl.yield_(n)\nelse:\n    r = pl.yield_(0)\nr_1: pl.Scalar[pl.INDEX] = r + 2\nreturn r_1"
    )


def test_the_result_of_a_store_is_the_tensor_also_behind_the_loop():
    body = """
        for i in pl.range(4):
            out = pl.store(pl.load(x, [i * 16, 0], [16, 32]), [i * 16, 0], y)
        return out
    """
    assert parsed(body).endswith("return y")


def test_loops_of_all_kinds_and_exits():
    body = """
        for i in pl.parallel(1, 4):
            pl.store(pl.load(x, [i, 0], [1, 32]), [i, 0], y)
        for j in pl.pipeline(0, 64, 16, stage=2):
            pl.store(pl.load(x, [j, 0], [16, 32]), [j, 0], y)
        for k in pl.range(n):
            if k == 3:
                break
            pl.system.bar_all()
    """
    shown = parsed(body)
    assert "for i in pl.parallel(1, 4):" in shown
    assert "for j in pl.pipeline(0, 64, 16, stage=2):" in shown
    assert "    if k == 3:\n        break" in shown


def test_subscripts():
    body = """
        v = x[1, n]
        row = x[n]
        part = x[n : n + 16, 8:]
        h, w = x.shape
        t = pl.load(x, [0, 0], [h, w // 2], valid_shape=[n, 16])
        u = t[0:16]
        y[16:32, 8:] = part
        z = v + pl.cast(n, x.dtype)
    """
    assert parsed(body) == (
        "v: pl.Scalar[pl.FP32] = pl.tensor.read(x, [1, n])\n"
        "row: pl.Tensor[[32], pl.FP32] = pl.tensor.slice(x, [1, 32], [n, 0], drop_dims=[0])\n"
        "part: pl.Tensor[[16, 24], pl.FP32] = pl.tensor.slice(x, [16, 24], [n, 8])\n"
        "t: pl.Tile[[64, 16], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 16], "
        "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box, fractal=512)] = "
        "pl.tile.load(x, [0, 0], [64, 16], [n, 16])\n"
        "u: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[pl.min(n, pl.const(16, pl.INDEX)), 16], "
        "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box, fractal=512)] = "
        "pl.tile.slice(t, [16, 16], [0, 0])\n"
        "y_1: pl.Tensor[[64, 32], pl.FP32] = pl.tensor.assemble(y, part, [16, 8])\n"
        "z: pl.Scalar[pl.FP32] = v + pl.cast(n, pl.FP32)"
    )


def test_annotations_add_memory_buffers_and_views():
    body = """
        a: pl.Tile[[16, 32], pl.FP32, pl.MemRef(pl.Mem.Vec, 0, 2048, 0), pl.Mem.Vec] = pl.load(x, [0, 0], [16, 32])
        b: pl.Tile[[16, 32], pl.FP32, pl.MemRef(pl.Mem.Vec, 0, 2048, 0)] = pl.exp(a)
        c: pl.Scalar[pl.INT32] = 5
    """
    function = pl.parse(text(body))
    printed(function)
    a, b, c = (stmt.var for stmt in function.body.stmts)
    assert a.type.memref is b.type.memref and a.type.memref.size == 2048
    assert c.type.dtype == pl.INT32


def test_shapes_known_at_run_time():
    head = "x: pl.Tensor[[M, 64], pl.FP16], y: pl.Tensor[[M * 2, 64], pl.FP16]"
    body = """
        for i in pl.range(0, M, 16):
            pl.store(pl.load(x, [i, 0], [16, 64]), [i * 2, 0], y)
    """
    function = pl.parse('M = pl.dynamic("M")\n' + text(body, head))
    extent = function.params[0].type.shape[0]
    assert extent is function.params[1].type.shape[0].left and extent is function.body.stop
    assert 'M = pl.dynamic("M")\n' in str(function)
    ir.assert_structural_equal(pl.parse(str(function)), function)


def test_calls_between_functions_in_any_order():
    code = """
    import pypto.language as pl

    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
            y = self.kernel(x, y)
            return y

        @pl.function(type=pl.FunctionType.InCore)
        def kernel(self, x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
            return pl.store(pl.load(x, [0, 0], [8, 8]), [0, 0], y)
    """
    program = pl.parse_program(textwrap.dedent(code))
    assert list(program.functions) == ["main", "kernel"]
    assert "    y_1: pl.Tensor[[8, 8], pl.FP32] = self.kernel(x, y)" in str(program)
    ir.assert_structural_equal(pl.parse_program(str(program)), program)


def test_scopes_and_submissions_of_one_kernel():
    body = """
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="k", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            t = pl.load(x, [0, 0], [64, 32])
        with pl.manual_scope():
            pl.store(t, [0, 0], y)
        with pl.spmd(4, sync_start=True):
            pl.tile.get_block_idx()
        with pl.cluster():
            pl.system.fence()
    """
    shown = parsed(body)
    assert shown.startswith("with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]")
    assert "with pl.manual_scope():" in shown and "with pl.spmd(4, sync_start=True):" in shown


def test_operations_of_the_cube():
    body = """
        a = pl.load(x, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
        left = pl.move(a, pl.MemorySpace.Left)
        right = pl.move(pl.tile.transpose_view(a), pl.Mem.Right)
        acc = pl.matmul(left, right)
        for k in pl.range(3):
            acc = pl.matmul_acc(acc, left, right)
        half = pl.cast(acc, pl.BF16, mode="rint")
        pl.system.sync_src(set_pipe=pl.PipeType.M, wait_pipe=pl.PipeType.FIX, event_id=0)
    """
    shown = parsed(body)
    assert "acc_3 = pl.yield_(acc_2)" in shown and 'target_type=pl.BF16, mode="rint"' in shown
    assert "acc: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(left, right)" in shown


SAMPLES = {
    "Tile": "t",
    "Tensor": "x",
    "Expr | int | float": "3",
    "Expr | int": "1",
    "Sequence[Expr | int]": "[16, 16]",
    "DataType": "pl.FP32",
    "int": "2",
    "str": '"a"',
    "MemorySpace": "pl.Mem.Vec",
    "MaskPattern": "pl.MaskPattern.P0101",
    "PipeType": "pl.PipeType.V",
}
SCALED = ", ".join(
    f"pl.tile.create([{shape}], pl.{kind}, pl.Mem.{space})"
    for shape, kind, space in (
        ("16, 64", "FP8E4M3FN", "Left"),
        ("16, 2", "FP8E8M0", "LeftScale"),
        ("64, 32", "FP8E4M3FN", "Right"),
        ("2, 32", "FP8E8M0", "RightScale"),
    )
)
# What those samples do not fit.
ARGUMENTS = {
    "array.get_element": "a, 1",
    "array.update_element": "a, 1, 3",
    "tensor.create_tensor": "[16, 16], pl.FP32",
    "tensor.gather": "x, 0, x",
    "tile.load": "x, [0, 0], [16, 16]",
    "tile.store": "t, [0, 0], x",
    "comm.notify": "x, 1, [0, 0], 1",
    "comm.wait": "x, [0, 0], 1",
    "comm.defer_wait": "x, [0, 0], 1",
    "comm.remote_load": "x, 1, [0, 0], [16, 16]",
    "tile.mgather": "x, pl.tile.full([1, 16], pl.INT32, 0)",
    "tile.transpose": "t, 0, 1",
    "tile.img2col": "t, 0, 0, [16, 16], [1, 1], [1, 1], [1, 1], [0, 0, 0, 0], [4, 4], channels=16",
    "tensor.transpose": "x, 0, 1",
    "tensor.view": "x, [32, 16]",
    "tile.reshape": "t, [256]",
    "tensor.dim": "x, 1",
    "tile.matmul_mx": SCALED,
    "tile.matmul_mx_acc": f"pl.tile.create([16, 32], pl.FP32, pl.Mem.Acc), {SCALED}",
    "tile.matmul_mx_bias": f"{SCALED}, pl.tile.create([1, 32], pl.FP32, pl.Mem.Bias)",
}


def operations():
    stubs = ast.parse((Path(pypto.__file__).parent / "language" / "_ops.pyi").read_text())
    for space in stubs.body:
        for stub in getattr(space, "body", []):
            yield f"{space.name}.{stub.name}", stub


def sample(name, argument):
    kind = ast.unparse(argument.annotation)
    if kind in ("Expr", "Tile | Tensor"):
        return "t"
    return SAMPLES["Tensor" if kind == "Tile" and name.startswith("tensor.") else kind]


@pytest.mark.parametrize("name, stub", list(operations()), ids=lambda value: value if isinstance(value, str) else "")
def test_every_operation_makes_a_call_that_is_printed_and_parsed(name, stub):
    required = stub.args.args[: len(stub.args.args) - len(stub.args.defaults)]
    arguments = [sample(name, argument) for argument in required]
    for argument, default in zip(stub.args.kwonlyargs, stub.args.kw_defaults, strict=True):
        if default is None:
            arguments.append(f"{argument.arg}={sample(name, argument)}")
    call = f"pl.{name}({ARGUMENTS.get(name, ', '.join(arguments))})"
    body = f"""
        t = pl.load(x, [0, 0], [16, 16])
        a = pl.array.create(4, pl.INT32)
        {call if ast.unparse(stub.returns) == "None" else "r = " + call}
    """
    function = pl.parse(text(body, "x: pl.Tensor[[16, 16], pl.FP32]"))
    printed(function)
    last = function.body.stmts[-1]
    held = last.expr if isinstance(last, ir.EvalStmt) else last.value
    assert held.op.name == name and isinstance(held.type, ir.UnknownType) == (ast.unparse(stub.returns) == "None")


def scopes(lines):
    """A program whose orchestrator has these lines."""
    head = """\
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64], pl.FP32]):
        return x

    @pl.function(type=pl.FunctionType.Orchestration, auto_scope=False)
    def main(self, x: pl.Tensor[[64], pl.FP32]):
"""
    return pl.parse_program(head + "".join(f"        {line}\n" for line in lines))


def test_a_scope_says_who_orders_its_launches():
    call, manual = "    a = self.k(x)", "with pl.scope(mode=pl.ScopeMode.MANUAL):"
    made = scopes([manual, call, "with pl.manual_scope():", call, "with pl.scope(mode=pl.ScopeMode.AUTO):", call])
    assert [each.manual for each in made.functions["main"].body.stmts] == [True, True, False]
    assert ir.structural_equal(made, pl.parse_program(str(made)))
    for inner in ("pl.scope()", "pl.manual_scope()"):
        with pytest.raises(ParserSyntaxError, match="inside of a manual scope") as caught:
            scopes([manual, f"    with {inner}:", f"    {call}"])
        assert caught.value.span["line"] == 13
    assert scopes(["with pl.scope():", f"    {manual}", f"    {call}"])
    with pytest.raises(ParserTypeError, match="mode must be of pl.ScopeMode"):
        scopes(["with pl.scope(mode=1):", call])


def test_one_statement_is_the_body_itself():
    alone = pl.parse(text("return x", "x: pl.Tensor[[16, 16], pl.FP32]"))
    assert isinstance(alone.body, ir.ReturnStmt) and alone.body.value[0] is alone.params[0]
    assert ir.structural_equal(alone, pl.parse(str(alone)))


def test_files_are_read_not_run(tmp_path):
    path = tmp_path / "k.py"
    path.write_text(text("return n"))
    assert pl.loads(path).body.span.filename == str(path)
    with pytest.raises(ValueError, match="Expected @pl.program but found @pl.function"):
        pl.loads_program(path)
    with pytest.raises(ValueError, match="Multiple functions/programs found, and one is wanted: f, f"):
        pl.parse(text("return n") + text("return n"))


def test_a_long_function_takes_time_in_proportion():
    lines = "\n".join(f"a{i} = a{i - 1} + n" for i in range(1, 10001))
    function = pl.parse(text(f"a0 = n + 0\n{lines}\nreturn a10000"))
    assert len(function.body.stmts) == 10002


def test_operations_cannot_be_called_outside():
    with pytest.raises(RuntimeError, match="pl.at is only for kernels"), pl.at(pl.Level.CORE_GROUP):
        pass
    with pytest.raises(AttributeError, match="has no attribute 'xyz'"):
        pl.xyz
    assert "row_sum" in dir(pl.tile) and repr(pl.tile.row_sum) == "tile.row_sum"
