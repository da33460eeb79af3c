"""Task graphs for the operators of test_graph_kernels.py, as a user writes them."""

import pypto.language as pl
from pto_mlir.kernels import TensorSpec, implements


@implements("example::ExpOfBlocks")
@pl.jit
def exp_of_blocks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for block in pl.spmd(12):
        out[block * 8 : block * 8 + 8, :] = pl.exp(x[block * 8 : block * 8 + 8, :])
    return out


@implements("example::TwoSweeps")
@pl.jit
def two_sweeps(x: pl.Tensor, out: pl.InOut[pl.Tensor]):
    """Each sweep writes all of the result; the second one reads the first one's."""
    for block in pl.spmd(6):
        out[block * 8 : block * 8 + 8, :] = pl.add(x[block * 8 : block * 8 + 8, :], 1.0)
    for block in pl.spmd(6):
        out[block * 8 : block * 8 + 8, :] = pl.mul(out[block * 8 : block * 8 + 8, :], 3.0)
    return out


@pl.jit.incore
def add_into(a: pl.Tensor, y: pl.InOut[pl.Tensor]):
    h, w = y.shape
    y = pl.store(pl.add(pl.load(a, [0, 0], [h, w]), pl.load(y, [0, 0], [h, w])), [0, 0], y)
    return y


@implements("example::SumOfTable", outputs=lambda x, table, count: [TensorSpec((8, x.shape[1]), x.dtype)])
@pl.jit
def sum_of_table(x: pl.Tensor, table: pl.Tensor, count: pl.Tensor, out: pl.InOut[pl.Tensor]):
    """The sum of the parts of x that a table names, as many as a run says."""
    for i in pl.range(pl.tensor.read(count, [0])):
        out = add_into(pl.slice(x, [8, 64], [pl.tensor.read(table, [i]) * 8, 0]), out)
    return out


@implements("example::Choose", outputs=lambda x, w, sign: [TensorSpec((x.shape[0], w.shape[1]), x.dtype)])
@pl.jit
def choose(x: pl.Tensor, w: pl.Tensor, sign: pl.Tensor, out: pl.Out[pl.Tensor]):
    """x times w, or the exponential of it: products and vector operations, through memory of the run."""
    rows, columns = out.shape
    y = pl.create_tensor([rows, columns], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.matmul(x, w, out_dtype=pl.FP32)
    if pl.tensor.read(sign, [0, 0]) > 0.0:
        with pl.at(level=pl.Level.CORE_GROUP):
            out[:] = pl.exp(y)
    else:
        with pl.at(level=pl.Level.CORE_GROUP):
            out[:] = pl.mul(y, 1.0)
    return out


@implements("example::Power")
@pl.jit
def power(x: pl.Tensor, count: pl.Tensor, out: pl.InOut[pl.Tensor]):
    """The power of a square matrix that a run says: each turn is a product behind the sum of the last one."""
    rows, columns = x.shape
    y = pl.create_tensor([rows, columns], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.mul(x, 1.0)
    for _ in pl.range(pl.tensor.read(count, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            y[:] = pl.matmul(out, x, out_dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            out[:] = pl.add(y, out)
    return out


@implements("example::Recurrence")
@pl.jit
def recurrence(x: pl.Tensor, count: pl.Tensor, out: pl.Out[pl.Tensor]):
    """Each value is a product of the last one, plus the one before that: of two tensors of the last turns and one of
    this one. The first one is the caller's."""
    before = x
    with pl.at(level=pl.Level.CORE_GROUP):
        last = pl.mul(x, 0.5)
    for _ in pl.range(pl.tensor.read(count, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            product = pl.matmul(last, x, out_dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP):
            made = pl.add(product, before)
        before = last
        last = made
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.add(last, before)
    return out


@implements("example::Swap")
@pl.jit
def swap(x: pl.Tensor, count: pl.Tensor, out: pl.Out[pl.Tensor]):
    """Two tensors that change places."""
    a = pl.create_tensor([32, 64], dtype=pl.FP32)
    b = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        a[:] = pl.mul(x, 1.0)
    with pl.at(level=pl.Level.CORE_GROUP):
        b[:] = pl.mul(x, 0.0)
    for _ in pl.range(pl.tensor.read(count, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            b[:] = pl.add(pl.mul(b, 2.0), a)
        a, b = b, a
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.sub(a, b)
    return out


@implements("example::LastMarked")
@pl.jit
def last_marked(x: pl.Tensor, marks: pl.Tensor, out: pl.Out[pl.Tensor]):
    """Of all turns the value of the last one that is marked; each turn has its own."""
    kept = x
    for i in pl.range(pl.tensor.read(marks, [0])):
        with pl.at(level=pl.Level.CORE_GROUP):
            made = pl.add(x, pl.cast(i, pl.FP32))
        if pl.tensor.read(marks, [i + 1]) > 0:
            kept = made
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.mul(kept, 1.0)
    return out


@implements("example::OneOfTwo", outputs=lambda x, first, second: [TensorSpec((8, x.shape[1]), x.dtype)])
@pl.jit
def one_of_two(x: pl.Tensor, first: pl.Tensor, second: pl.Tensor, out: pl.Out[pl.Tensor]):
    """The part of x that one of two tables names: elements of a tensor that a branch hands on."""
    table = first
    if pl.tensor.read(first, [0]) < 0:
        table = second
    row = pl.tensor.read(table, [1]) * 8
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.mul(x[row : row + 8, :], 1.0)
    return out


@implements("example::FirstRows")
@pl.jit
def first_rows(x: pl.Tensor, count: pl.Tensor, out: pl.InOut[pl.Tensor]):
    """So many rows through memory of that size, of 32 at most."""
    rows = pl.min(pl.tensor.read(count, [0]), 32)
    kept = pl.create_tensor([rows, 64], dtype=pl.FP32)
    for i in pl.range(rows):
        with pl.at(level=pl.Level.CORE_GROUP):
            kept[i : i + 1, :] = pl.add(x[i : i + 1, :], 1.0)
    for i in pl.range(rows):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[i : i + 1, :] = pl.mul(kept[rows - 1 - i : rows - i, :], 1.0)
    return out
