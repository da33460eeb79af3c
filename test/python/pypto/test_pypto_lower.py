"""Kernels in PyPTO's IR: compiled and run on the simulated device, compared with numpy."""

import numpy as np
import pytest
from pto_mlir import _compiler, runtime
from pto_mlir.tools.native import run_native
from pypto import DataType, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import block, system, tensor, tile
from pypto.pypto_core import codegen
from pypto.pypto_core import ir as core
from random_numbers import numbers

SPAN = ir.Span.unknown()
F32, F16, I32 = DataType.FP32, DataType.FP16, DataType.INT32


class Kernel:
    """A kernel in the making: `k.load(..)`, `k.let(..)`; `k.run(arrays)` compiles and launches it."""

    def __init__(self, **params):
        self.builder = IRBuilder()
        self.context = self.builder.function("kernel")
        self.function = self.context.__enter__()
        self.params = [self.function.param(name, type) for name, type in params.items()]

    def let(self, value, name="t", type=None):
        return self.builder.let(name, value, type)

    def store(self, value, tensor_, offsets=(0, 0)):
        self.builder.eval_stmt(tile.store(value, list(offsets), tensor_))

    def program(self):
        self.context.__exit__(None, None, None)
        return ir.Program([self.function.get_result()], "P")

    def run(self, path, *args, processor="", blocks=1):
        file = str(path / "k.pmodel")
        _compiler.compile_pypto(core.serialize(self.program()), file, processor, blocks)
        runtime.Kernel(file).run(*args)


def tensor_of(*shape, dtype=F32):
    return ir.TensorType(list(shape), dtype)


def scalar(name, dtype=DataType.INDEX):
    return ir.Var(name, ir.ScalarType(dtype), SPAN)


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda a, b: tile.add(a, b), lambda a, b: a + b),
        (lambda a, b: tile.sub(a, b), lambda a, b: a - b),
        (lambda a, b: tile.div(a, b), lambda a, b: a / b),
        (lambda a, b: tile.maximum(a, b), np.maximum),
        (lambda a, b: block.add(a, b, a), lambda a, b: a + b + a),
        (lambda a, b: tile.subc(a, b, a), lambda a, b: a - b - a),
        (lambda a, b: tile.subsc(a, 2.0, b), lambda a, b: a - 2 - b),
        (lambda a, b: tile.adds(a, 2.0), lambda a, b: a + 2),
        (lambda a, b: tile.divs(a, 4.0), lambda a, b: a / 4),
        (lambda a, b: tile.exp(a), lambda a, b: np.exp(a)),
        (lambda a, b: tile.abs(tile.neg(b)), lambda a, b: np.abs(b)),
        (lambda a, b: tile.lrelu(a, 0.5), lambda a, b: np.where(a > 0, a, a / 2)),
        (lambda a, b: tile.row_expand_sub(a, tile.row_max(a)), lambda a, b: a - a.max(1, keepdims=True)),
        (
            lambda a, b: tile.row_expand_div(b, tile.row_sum(tile.exp(a))),
            lambda a, b: b / np.exp(a).sum(1, keepdims=True),
        ),
        (lambda a, b: tile.col_expand_mul(a, tile.col_sum(b)), lambda a, b: a * b.sum(0)),
        (lambda a, b: tile.sel(tile.cmp(a, b, cmp_type=4), a, b), np.maximum),
        (lambda a, b: tile.cast(tile.cast(a, F16), F32), lambda a, b: a.astype(np.float16).astype(np.float32)),
        (lambda a, b: tile.full([32, 64], F32, 7.0), lambda a, b: np.full_like(a, 7)),
        (lambda a, b: tile.add(a, tile.slice(b, [32, 64], [0, 0])), lambda a, b: a + b),
        (lambda a, b: tile.reshape(tile.reshape(a, [16, 128]), [32, 64]), lambda a, b: a),
    ],
)
def test_operations_on_tiles(tmp_path, make, expected):
    k = Kernel(x=tensor_of(32, 64), y=tensor_of(32, 64), z=tensor_of(32, 64))
    x, y, z = k.params
    a, b = k.let(tile.load(x, [0, 0], [32, 64])), k.let(tile.load(y, [0, 0], [32, 64]))
    k.store(k.let(make(a, b)), z)
    in0, in1, out = numbers(32, 64), numbers(32, 64, seed=1), np.zeros((32, 64), np.float32)
    k.run(tmp_path, in0, in1, out)
    np.testing.assert_allclose(out, expected(in0, in1), rtol=2e-5, atol=1e-5)


def test_a_loop_carries_a_scalar_a_tile_and_a_tensor(tmp_path):
    k = Kernel(x=tensor_of(64, 32), z=tensor_of(8, 32), n=ir.ScalarType(I32))
    x, z, n = k.params
    first = k.let(tile.load(x, [0, 0], [8, 32]))
    with k.builder.for_loop("i", 0, n, 1) as loop:
        row, total, out = loop.iter_arg("row", 0), loop.iter_arg("total", first), loop.iter_arg("out", z)
        part = k.let(tile.load(x, [row, 0], [8, 32]))
        loop.return_var("row"), loop.return_var("total"), loop.return_var("out")
        k.builder.yield_stmt([ir.Add(row, 8, DataType.INDEX, SPAN), k.let(tile.add(tile.muls(total, 0.5), part)), out])
    k.store(tile.add(loop.output(1), first), loop.output(2))
    data, out = numbers(64, 32), np.zeros((8, 32), np.float32)
    k.run(tmp_path, data, out, 5)
    total = data[:8]
    for i in range(5):
        total = total * 0.5 + data[8 * i : 8 * i + 8]
    np.testing.assert_allclose(out, total + data[:8], rtol=1e-5, atol=1e-6)


def test_a_loop_leaves_tiles_that_others_read(tmp_path):
    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 32))
    x, z = k.params
    a = k.let(tile.load(x, [0, 0], [8, 32]))
    shared = k.let(tile.reshape(a, [4, 64]))
    with k.builder.for_loop("i", 0, 3, 1) as loop:
        t = loop.iter_arg("t", shared)
        loop.return_var("t")
        k.builder.yield_stmt([k.let(tile.muls(t, 2.0))])
    k.store(tile.sub(tile.reshape(loop.output(), [8, 32]), a), z)
    data, out = numbers(8, 32), np.zeros((8, 32), np.float32)
    k.run(tmp_path, data, out)
    np.testing.assert_array_equal(out, data * 7)


def test_a_loop_that_swaps_its_tiles(tmp_path):
    k = Kernel(x=tensor_of(8, 32), y=tensor_of(8, 32), z=tensor_of(8, 32))
    x, y, z = k.params
    a, b = k.let(tile.load(x, [0, 0], [8, 32])), k.let(tile.load(y, [0, 0], [8, 32]))
    with k.builder.for_loop("i", 0, 7, 1) as loop:
        u, v = loop.iter_arg("u", a), loop.iter_arg("v", b)
        loop.return_var("u"), loop.return_var("v")
        k.builder.yield_stmt([v, u])
    k.store(tile.sub(loop.output(0), tile.muls(loop.output(1), 2.0)), z)
    in0, in1, out = numbers(8, 32), numbers(8, 32, seed=1), np.zeros((8, 32), np.float32)
    k.run(tmp_path, in0, in1, out)
    np.testing.assert_array_equal(out, in1 - in0 * 2)


@pytest.mark.parametrize("flag", [0, 3])
def test_a_branch_gives_a_tile_and_a_scalar(tmp_path, flag):
    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 32), n=ir.ScalarType(I32))
    x, z, n = k.params
    a = k.let(tile.load(x, [0, 0], [8, 32]))
    with k.builder.if_stmt(ir.Gt(n, 1, DataType.BOOL, SPAN)) as branch:
        k.builder.yield_stmt([k.let(tile.exp(a)), 2.0])
        with branch.else_():
            k.builder.yield_stmt([a, 0.5])
        t, s = branch.return_var("t", a.type), branch.return_var("s", ir.ScalarType(F32))
    k.store(k.let(tile.muls(t, s)), z)
    data, out = numbers(8, 32), np.zeros((8, 32), np.float32)
    k.run(tmp_path, data, out, flag)
    np.testing.assert_allclose(out, np.exp(data) * 2 if flag > 1 else data / 2, rtol=1e-5)


def test_a_while_loop(tmp_path):
    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 32), n=ir.ScalarType(I32))
    x, z, n = k.params
    a = k.let(tile.load(x, [0, 0], [8, 32]))
    with k.builder.while_loop(lambda loop: ir.Gt(loop.iter_args[0], 1, DataType.BOOL, SPAN)) as loop:
        left, t = loop.iter_arg("left", n), loop.iter_arg("t", a)
        k.builder.yield_stmt([ir.FloorDiv(left, 2, I32, SPAN), k.let(tile.muls(t, 3.0))])
        loop.return_var("left"), loop.return_var("t")
    k.store(loop.output(1), z)
    data, out = numbers(8, 32), np.zeros((8, 32), np.float32)
    k.run(tmp_path, data, out, 20)
    np.testing.assert_allclose(out, data * 3**4, rtol=1e-6)


@pytest.mark.parametrize("processor", ["a3", "a5"])
def test_a_product_over_slices_of_k(tmp_path, processor):
    k = Kernel(x=tensor_of(32, 128, dtype=F16), y=tensor_of(128, 64, dtype=F16), z=tensor_of(32, 64))
    x, y, z = k.params
    Mem = ir.MemorySpace

    def operands(at):
        a = tile.load(x, [0, at], [32, 32], target_memory=Mem.Mat)
        b = tile.load(y, [at, 0], [32, 64], target_memory=Mem.Mat)
        return k.let(tile.move(a, target_memory=Mem.Left)), k.let(tile.move(b, target_memory=Mem.Right))

    first = k.let(tile.matmul(*operands(0)))
    with k.builder.for_loop("i", 32, 128, 32) as loop:
        acc = loop.iter_arg("acc", first)
        left, right = operands(loop.loop_var)
        k.builder.yield_stmt([k.let(tile.matmul_acc(acc, left, right))])
        loop.return_var("acc")
    k.store(loop.output(), z)
    in0, in1, out = (
        numbers(32, 128).astype(np.float16),
        numbers(128, 64, seed=1).astype(np.float16),
        np.zeros((32, 64), np.float32),
    )
    k.run(tmp_path, in0, in1, out, processor=processor)
    np.testing.assert_allclose(out, in0.astype(np.float32) @ in1.astype(np.float32), rtol=1e-4, atol=1e-4)


def cube_operands(k, x, y, at=0):
    Mem = ir.MemorySpace
    a = tile.load(x, [0, at], [16, 16], target_memory=Mem.Mat)
    b = tile.load(y, [at, 0], [16, 16], target_memory=Mem.Mat)
    return k.let(tile.move(a, target_memory=Mem.Left)), k.let(tile.move(b, target_memory=Mem.Right))


def test_a_sum_of_products_that_begins_in_a_branch(tmp_path):
    half = tensor_of(16, 64, dtype=F16)
    k = Kernel(x=half, y=tensor_of(64, 16, dtype=F16), z=tensor_of(16, 16))
    x, y, z = k.params
    first = k.let(tile.create([16, 16], F32, target_memory=ir.MemorySpace.Acc))
    with k.builder.for_loop("i", 0, 64, 16) as loop:
        acc = loop.iter_arg("acc", first)
        left, right = cube_operands(k, x, y, loop.loop_var)
        with k.builder.if_stmt(ir.Eq(loop.loop_var, 0, DataType.BOOL, SPAN)) as branch:
            k.builder.yield_stmt([k.let(tile.matmul(left, right))])
            with branch.else_():
                k.builder.yield_stmt([k.let(tile.matmul_acc(acc, left, right))])
            total = branch.return_var("total", acc.type)
        loop.return_var("acc")
        k.builder.yield_stmt([total])
    k.store(loop.output(), z)
    in0, in1 = numbers(16, 64).astype(np.float16), numbers(64, 16, seed=1).astype(np.float16)
    out = np.zeros((16, 16), np.float32)
    k.run(tmp_path, in0, in1, out)
    np.testing.assert_allclose(out, in0.astype(np.float32) @ in1.astype(np.float32), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("looped", [False, True])
def test_a_tile_that_was_replaced_is_not_read_again(looped):
    k = Kernel(x=tensor_of(16, 64, dtype=F16), y=tensor_of(64, 16, dtype=F16), z=tensor_of(16, 16))
    x, y, z = k.params
    left, right = cube_operands(k, x, y)
    acc = k.let(tile.matmul(left, right), "acc")
    if looped:
        with k.builder.for_loop("i", 0, 4, 1):
            k.let(tile.matmul_acc(acc, left, right))
    else:
        k.let(tile.matmul_acc(acc, left, right))
        k.store(acc, z)
    message = "let the loop carry it" if looped else "tile.matmul_acc has replaced tile acc in its buffer"
    with pytest.raises(ValueError, match=message):
        codegen.PTOCodegen().generate(k.program())


def test_extents_known_at_run_time(tmp_path):
    m = scalar("M")
    k = Kernel(x=ir.TensorType([m, 64], F32), z=ir.TensorType([m, 64], F32), rows=ir.ScalarType(DataType.INDEX))
    x, z, rows = k.params
    t = k.let(tile.load(x, [2, 0], [16, 64], valid_shape=[rows, 64]))
    k.store(k.let(tile.muls(t, 2.0)), z, [2, 0])
    data, out = numbers(20, 64), np.zeros((20, 64), np.float32)
    k.run(tmp_path, data, out, 9, 20)  # the symbol's value comes last
    expected = np.zeros_like(data)
    expected[2:11] = 2 * data[2:11]
    np.testing.assert_array_equal(out, expected)


def test_windows_of_tensors_of_other_ranks(tmp_path):
    k = Kernel(x=tensor_of(256), c=tensor_of(16, 1), z=tensor_of(3, 16, 64))
    x, c, z = k.params
    row = k.let(tile.load(x, [64], [64]))
    column = k.let(tile.load(c, [0, 0], [16, 1]))
    t = k.let(tile.row_expand_mul(tile.full([16, 64], F32, 1.0), column))
    t = k.let(tile.col_expand_mul(t, tile.reshape(row, [1, 64])))
    k.store(t, z, [2, 0, 0])
    line, column, out = numbers(256), numbers(16, 1, seed=1), np.zeros((3, 16, 64), np.float32)
    k.run(tmp_path, line, column, out)
    np.testing.assert_allclose(out[2], column * line[64:128], rtol=1e-6)
    assert not out[:2].any()


def test_an_element_of_a_tensor(tmp_path):
    k = Kernel(z=tensor_of(1, 8, dtype=I32), x=tensor_of(4, 4, dtype=I32))
    z, x = k.params
    k.store(k.let(tile.full([1, 8], I32, k.let(tensor.read(x, [2, 3]), "s"))), z)
    out = np.zeros((1, 8), np.int32)
    k.run(tmp_path, out, np.arange(16, dtype=np.int32).reshape(4, 4))
    assert out.tolist() == [[11] * 8]


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda n: ir.FloorMod(n, 5, I32), 3),
        (lambda n: ir.FloorDiv(n, 5, I32), -2),
        (lambda n: ir.Max(ir.Neg(n, I32), 3, I32), 7),
        (lambda n: ir.Abs(n, I32), 7),
        (lambda n: ir.BitShiftLeft(n, 2, I32), -28),
        (lambda n: ir.Cast(ir.Mul(ir.Cast(n, F32), -2.0, F32), I32), 14),
    ],
)
def test_scalar_expressions(tmp_path, make, expected):
    k = Kernel(z=tensor_of(1, 8, dtype=I32), n=ir.ScalarType(I32))
    z, n = k.params
    k.store(k.let(tile.full([1, 8], I32, k.let(make(n), "s"))), z)
    out = np.zeros((1, 8), np.int32)
    k.run(tmp_path, out, -7)
    assert out.tolist() == [[expected] * 8]


def test_blocks_and_flags(tmp_path):
    k = Kernel(x=tensor_of(32, 64), z=tensor_of(32, 64))
    x, z = k.params
    Pipe = ir.PipeType
    row = k.let(ir.Mul(tile.get_block_idx(), 8, DataType.INDEX, SPAN), "row")
    t = k.let(tile.load(x, [row, 0], [8, 64]))
    for make in (system.sync_src, system.sync_dst):
        k.builder.eval_stmt(make(set_pipe=Pipe.MTE2, wait_pipe=Pipe.V, event_id=0))
    u = k.let(tile.exp(t))
    k.builder.eval_stmt(system.bar_v())
    v = k.let(tile.add(u, t))
    for make in (system.sync_src, system.sync_dst):
        k.builder.eval_stmt(make(set_pipe=Pipe.V, wait_pipe=Pipe.MTE3, event_id=1))
    k.store(v, z, [row, 0])
    data, out = numbers(32, 64), np.zeros((32, 64), np.float32)
    k.run(tmp_path, data, out, blocks=4)
    np.testing.assert_allclose(out, np.exp(data) + data, rtol=1e-5, atol=1e-6)


def tile_with(memref=None, view=None, shape=(8, 32), space=None):
    return ir.TileType(list(shape), F32, memref, view, space)


def broken(case):
    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 32), n=ir.ScalarType(I32))
    x, z, n = k.params
    t = k.let(tile.load(x, [0, 0], [8, 32]))
    case(k, x, z, n, t)
    return k.program()


@pytest.mark.parametrize(
    "case, message",
    [
        (
            lambda k, x, z, n, t: k.let(tensor.gather(x, kvalue=1.0, cmp_mode="near", out_cols=8)),
            "cmp_mode is eq or gt, not near",
        ),
        (lambda k, x, z, n, t: k.builder.return_stmt([t]), "gives back its results in tensors"),
        (
            lambda k, x, z, n, t: k.builder.eval_stmt(
                system.sync_src(set_pipe=ir.PipeType.V, wait_pipe=ir.PipeType.MTE3, event_id=8)
            ),
            "Event ID must be in range [0, 7], got 8",
        ),
        (lambda k, x, z, n, t: k.builder.emit(ir.BreakStmt(t.span)), "break outside of a loop"),
        (lambda k, x, z, n, t: k.let(tile.add(t, t), type=tile_with(shape=(8, 64))), "valid"),
    ],
)
def test_errors_name_the_line(case, message):
    with pytest.raises(ValueError) as error:
        codegen.PTOCodegen().generate(broken(case))
    assert message in str(error.value) and str(error.value).startswith(__file__)
    assert "\n" not in str(error.value)


def test_parameters_are_tensors_and_scalars():
    with pytest.raises(ValueError, match="parameter t of kernel kernel must be a tensor or a scalar"):
        codegen.PTOCodegen().generate(Kernel(t=tile_with()).program())


@pytest.mark.parametrize("style", ["seed", "today"])
def test_the_text_is_read_back_and_runs(tmp_path, style):
    k = Kernel(x=tensor_of(16, 32), z=tensor_of(16, 32))
    x, z = k.params
    view = ir.TileView(blayout=ir.TileLayout.none_box)
    t = k.let(tile.load(x, [0, 0], [16, 32]), type=ir.TileType([16, 32], F32, None, view))
    k.store(k.let(tile.muls(t, 3.0), type=ir.TileType([16, 32], F32, None, view)), z)
    text = codegen.PTOCodegen().generate(k.program(), style=style)
    assert ("blayout=none_box" in text) == (style == "seed")
    (tmp_path / "k.pto").write_text(text)
    files = [str(tmp_path / "k.pto"), "-o", str(tmp_path / "k.pmodel")]
    assert run_native("pto-compile", [*files, "--relaxed-syntax"]) == 0
    data, out = numbers(16, 32), np.zeros((16, 32), np.float32)
    runtime.Kernel(str(tmp_path / "k.pmodel")).run(data, out)
    np.testing.assert_array_equal(out, data * 3)


def test_an_unknown_style():
    with pytest.raises(ValueError, match="style is seed or today, not old"):
        codegen.PTOCodegen().generate(ir.Program([], "P"), style="old")


def test_nested_calls_are_computed_once(tmp_path):
    tensor_ = ir.TensorType([16, 32], F32)
    k = Kernel(x=tensor_, y=tensor_)
    x, y = k.params
    inner = tile.add(tile.load(x, [0, 0], [16, 32]), tile.load(x, [0, 0], [16, 32]))
    k.store(tile.maximum(tile.exp(tile.muls(inner, 0.5)), tile.load(x, [0, 0], [16, 32])), y)
    program = k.program()
    text = codegen.PTOCodegen().generate(program, "today")
    assert [text.count(f"pto.{op} ") for op in ("tload", "tadd", "tmuls", "texp", "tmax")] == [3, 1, 1, 1, 1]
    a, b = np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32), np.zeros((16, 32), np.float32)
    _compiler.compile_pypto(core.serialize(program), str(tmp_path / "k.pmodel"), "", 1)
    runtime.Kernel(str(tmp_path / "k.pmodel")).run(a, b)
    np.testing.assert_allclose(b, np.maximum(np.exp(a.astype(np.float64)), a), rtol=1e-6)
