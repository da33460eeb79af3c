"""Kernels in PyPTO's IR that compare_pypto.py shows to the public tools: name -> (function, shapes and types of its
arguments). The last argument is the output."""

import numpy as np
from pypto import DataType, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import tile

SPAN = ir.Span.unknown()
F32, F16, INDEX = DataType.FP32, DataType.FP16, DataType.INDEX
NUMPY = {F32: np.float32, F16: np.float16, DataType.INT32: np.int32}
KERNELS = {}


def kernel(*shapes, dtypes=None):
    """Registers the function that the decorated builder makes of tensors of these shapes."""
    dtypes = dtypes or [F32] * len(shapes)

    def register(body):
        ib = IRBuilder()
        with ib.function(body.__name__) as f:
            names = [*"xyw"[: len(shapes) - 1], "out"]
            given = zip(names, shapes, dtypes, strict=True)
            body(ib, *(f.param(name, ir.TensorType(list(shape), dtype)) for name, shape, dtype in given))
        KERNELS[body.__name__] = (f.get_result(), [(shape, NUMPY[dtype]) for shape, dtype in zip(shapes, dtypes)])
        return body

    return register


def load(ib, x, name, shape=None, **keywords):
    return ib.let(name, tile.load(x, [0, 0], shape or [extent.value for extent in x.type.shape], **keywords))


def store(ib, value, out, offsets=(0, 0)):
    ib.eval_stmt(tile.store(value, list(offsets), out))


@kernel((32, 32), (32, 32), (32, 32))
def mul_kernel_2d(ib, x, y, out):
    store(ib, ib.let("c", tile.mul(load(ib, x, "a"), load(ib, y, "b"))), out)


@kernel((128, 64), (128, 64), (128, 64))
def simple_add(ib, x, y, out):
    store(ib, ib.let("tile_z", tile.add(load(ib, x, "tile_x"), load(ib, y, "tile_y"))), out)


@kernel((64, 32), (64, 32))
def scale_rows(ib, x, out):
    with ib.for_loop("i", 0, 4, 1) as loop:
        row = ib.let("row", ir.Mul(loop.loop_var, 16, INDEX, SPAN))
        t = ib.let("t", tile.load(x, [row, 0], [16, 32]))
        store(ib, ib.let("u", tile.muls(t, 3.0)), out, [row, 0])


@kernel((64, 32), (16, 32))
def sum_of_rows(ib, x, out):
    first = ib.let("first", tile.load(x, [0, 0], [16, 32]))
    with ib.for_loop("i", 16, 64, 16) as loop:
        total = loop.iter_arg("total", first)
        ib.yield_stmt([ib.let("more", tile.add(total, ib.let("t", tile.load(x, [loop.loop_var, 0], [16, 32]))))])
        loop.return_var("sum")
    store(ib, loop.output(), out)


@kernel((16, 32), (16, 32))
def carried_scalars(ib, x, out):
    with ib.for_loop("i", 0, 5, 1) as loop:
        factor = loop.iter_arg("factor", ir.ConstFloat(0.5, F32, SPAN))
        ib.yield_stmt([ib.let("next", ir.Add(factor, 1.0, F32, SPAN))])
        loop.return_var("last")
    store(ib, ib.let("u", tile.muls(load(ib, x, "t"), loop.output())), out)


@kernel((16, 32), (16, 32))
def chosen(ib, x, out):
    t = load(ib, x, "t")
    with ib.if_stmt(ir.Gt(tile.get_block_idx(), 0, DataType.BOOL, SPAN)) as branch:
        ib.yield_stmt([ib.let("p", tile.exp(t))])
        with branch.else_():
            ib.yield_stmt([ib.let("q", tile.muls(t, 2.0))])
        either = branch.return_var("either", t.type)
    store(ib, either, out)


@kernel((16, 64), (16, 64))
def softmax(ib, x, out):
    t = load(ib, x, "t")
    e = ib.let("e", tile.exp(ib.let("d", tile.row_expand_sub(t, ib.let("m", tile.row_max(t))))))
    store(ib, ib.let("r", tile.row_expand_div(e, ib.let("s", tile.row_sum(e)))), out)


@kernel((5, 20), (5, 20))
def ragged(ib, x, out):
    store(ib, ib.let("u", tile.adds(load(ib, x, "t", [8, 32]), 1.0)), out)


@kernel((16, 32), (32, 16))
def transposed(ib, x, out):
    store(ib, ib.let("u", tile.transpose(load(ib, x, "t"), 0, 1)), out)


@kernel((16, 64), (4, 64), (16, 64))
def assembled(ib, x, y, out):
    store(ib, ib.let("u", tile.assemble(load(ib, x, "t"), load(ib, y, "p"), [8, 0])), out)


@kernel((16, 64), (16, 32))
def every_other(ib, x, out):
    store(ib, ib.let("u", tile.gather_mask(load(ib, x, "t"), ir.MaskPattern.P0101)), out)


@kernel((32, 64), (64, 32), (32, 32), dtypes=[F16, F16, F32])
def product(ib, x, y, out):
    Mem = ir.MemorySpace
    left = ib.let("l", tile.move(load(ib, x, "a", target_memory=Mem.Mat), target_memory=Mem.Left))
    right = ib.let("r", tile.move(load(ib, y, "b", target_memory=Mem.Mat), target_memory=Mem.Right))
    store(ib, ib.let("acc", tile.matmul(left, right)), out)


@kernel((64, 32), (64, 32))
def until(ib, x, out):
    with ib.for_loop("i", 0, 64, 16) as loop:
        with ib.if_stmt(ir.Ge(loop.loop_var, 48, DataType.BOOL, SPAN)):
            ib.emit(ir.BreakStmt(SPAN))
        t = ib.let("t", tile.load(x, [loop.loop_var, 0], [16, 32]))
        store(ib, ib.let("u", tile.neg(t)), out, [loop.loop_var, 0])
