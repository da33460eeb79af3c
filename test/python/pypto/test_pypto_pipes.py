"""Queues of tiles between the cores of a block: a product that the vector cores finish, and back again."""

import numpy as np
import pytest
from pto_mlir import _compiler, runtime
from pypto import DataType, codegen, ir
from pypto.ir.builder import IRBuilder
from pypto.ir.op import system, tile
from pypto.pypto_core import ir as core
from test_pypto_lower import F16, F32, SPAN, numbers, tensor_of
from test_pypto_parts import both

Mem, Kind, INDEX = ir.MemorySpace, ir.FunctionType, DataType.INDEX
SLOT = 32 * 32 * 4


def function(kind, name, body):
    ib = IRBuilder()
    with ib.function(name, type=kind) as f:
        half = [f.param(each, tensor_of(64, 32, dtype=F16)) for each in "xw"]
        body(ib, *half, f.param("y", tensor_of(64, 32)))
    return f.get_result()


def product(ib, left, right):
    left = ib.let("l", tile.move(left, target_memory=Mem.Left))
    return ib.let("acc", tile.matmul(left, ib.let("r", tile.move(right, target_memory=Mem.Right))))


def row_of(ib, rows=32):
    return ib.let("row", ir.Mul(tile.get_block_idx(), rows, INDEX, SPAN))


def program(split, round_trip):
    directions = 3 if round_trip else 1

    def cube(ib, x, w, y):
        there = ib.let("there", system.import_peer_buffer(name="sums", peer_func="vector_side"))
        more = {}
        if round_trip:
            more["v2c_consumer_buf"] = ib.let("here", system.reserve_buffer(name="halves", size=8 * SLOT))
        ib.eval_stmt(system.aic_initialize_pipe(there, dir_mask=directions, slot_size=SLOT, **more))
        row = row_of(ib)
        a = ib.let("a", tile.load(x, [row, 0], [32, 32], target_memory=Mem.Mat))
        b = ib.let("b", tile.load(w, [0, 0], [32, 32], target_memory=Mem.Mat))
        ib.eval_stmt(tile.tpush_to_aiv(product(ib, a, b), split=split))
        if round_trip:
            got = ib.let("got", tile.tpop_from_aiv([32, 32], F16, split=split))
            out = product(ib, got, b)
            ib.eval_stmt(tile.tfree_to_aiv(got, split=split))
            ib.eval_stmt(tile.store(out, [row, 0], y))

    def vector(ib, x, w, y):
        here = ib.let("here", system.reserve_buffer(name="sums", size=8 * SLOT))
        more = {}
        if round_trip:
            more["v2c_consumer_buf"] = ib.let("to", system.import_peer_buffer(name="halves", peer_func="cube_side"))
        ib.eval_stmt(system.aiv_initialize_pipe(here, dir_mask=directions, slot_size=SLOT, **more))
        shape = [16, 32] if split == 1 else [32, 16]
        got = ib.let("got", tile.tpop_from_aic(shape, F32, split=split))
        done = ib.let("done", tile.adds(ib.let("twice", tile.muls(got, 2.0)), 1.0))
        ib.eval_stmt(tile.tfree_to_aic(got, split=split))
        if round_trip:
            ib.eval_stmt(tile.tpush_to_aic(ib.let("half", tile.cast(done, F16, mode="rint")), split=split))
            return
        lane = tile.get_subblock_idx()
        row, col = row_of(ib), ir.ConstInt(0, INDEX, SPAN)
        if split == 1:
            row = ib.let("mine", ir.Add(row, ir.Mul(lane, 16, INDEX, SPAN), INDEX, SPAN))
        else:
            col = ib.let("mine", ir.Mul(lane, 16, INDEX, SPAN))
        ib.eval_stmt(tile.store(done, [row, col], y))

    return ir.Program([function(Kind.AIC, "cube_side", cube), function(Kind.AIV, "vector_side", vector)], "P")


@both
@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("round_trip", [False, True])
@pytest.mark.parametrize("blocks", [1, 2])
def test_tiles_from_core_to_core(tmp_path, processor, split, round_trip, blocks):
    file = str(tmp_path / "k.pmodel")
    _compiler.compile_pypto(core.serialize(program(split, round_trip)), file, processor, blocks)
    x, w = (numbers(64, 32, seed=seed).astype(np.float16) for seed in (0, 1))
    out = np.zeros((64, 32), np.float32)
    slots = [np.zeros(blocks * 8 * SLOT // 4, np.float32)] if processor == "a3" else []
    runtime.Kernel(file).run(x, w, out, *slots)
    expected = 2 * (x.astype(np.float64) @ w[:32].astype(np.float64)) + 1
    if round_trip:
        expected = expected.astype(np.float16).astype(np.float64) @ w[:32].astype(np.float64)
    expected[blocks * 32 :] = 0
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-2 if round_trip else 1e-4)


def refused(body, kind=Kind.AIC):
    with pytest.raises(ValueError) as error:
        codegen.PTOCodegen().generate(ir.Program([function(kind, "f", body)], "P"))
    return str(error.value)


@pytest.mark.parametrize(
    "body, message",
    [
        (
            lambda ib, x, w, y: ib.eval_stmt(system.aic_initialize_pipe(dir_mask=4, slot_size=SLOT)),
            "dir_mask is 1, 2 or 3, not 4",
        ),
        (
            lambda ib, x, w, y: ib.eval_stmt(system.aic_initialize_pipe(dir_mask=1, slot_size=SLOT, slot_num=9)),
            "a queue has up to 8 slots, or 4 in each of two directions",
        ),
        (
            lambda ib, x, w, y: ib.eval_stmt(
                system.aic_initialize_pipe(dir_mask=1, slot_size=SLOT, slot_num=4, local_slot_num=5)
            ),
            "local_slot_num is 1 to 4, the slots of the queue, not 5",
        ),
        (
            lambda ib, x, w, y: ib.let("t", tile.tpop_from_aiv([32, 32], F16, split=5)),
            "split is 0 to 4, not 5",
        ),
        (
            lambda ib, x, w, y: ib.let("t", tile.tpop_from_aiv([32, 32], F16, split=1, lane_stride=3)),
            "lane_stride is what a tile of a queue has along the axis that is split",
        ),
    ],
)
def test_refused(body, message):
    assert message in refused(body)


def test_a_buffer_belongs_to_a_core():
    def body(ib, x, w, y):
        ib.let("b", system.reserve_buffer(name="b", size=SLOT))

    assert "a buffer is reserved in a function of kind AIC or AIV" in refused(body, Kind.InCore)
