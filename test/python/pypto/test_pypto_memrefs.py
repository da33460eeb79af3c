"""Addresses that a program gives its tiles: honoured in commands and texts, or refused."""

import re

import numpy as np
import pypto.language as pl
import pytest
from pypto import DataType, ir
from pypto.backend.pto_backend import PartialCodegenError
from pypto.ir import compile as ir_compile
from pypto.ir.op import tile
from pypto.ir.pass_manager import PassManager
from pypto.language.parser.diagnostics import ParserTypeError
from pypto.pypto_core import codegen
from pypto.pypto_core.passes import MemoryPlanner
from test_pypto_lower import F32, SPAN, Kernel, numbers, scalar, tensor_of

SHAPE = [16, 32]
BYTES = 16 * 32 * 4


def placed(address, shape=SHAPE, space=ir.MemorySpace.Vec, **more):
    if isinstance(address, int):
        address = ir.ConstInt(address, DataType.INDEX, SPAN)
    return ir.TileType(shape, F32, ir.MemRef(space, address, BYTES, 0, **more))


def kernel():
    k = Kernel(x=tensor_of(*SHAPE), y=tensor_of(*SHAPE), z=tensor_of(*SHAPE))
    return (k, *k.params)


def run(k, path, *arrays):
    out = np.zeros(SHAPE, np.float32)
    k.run(path, *arrays, out)
    return out


def test_tiles_lie_where_the_program_says(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(BYTES))
    k.let(tile.load(y, [0, 0], SHAPE), "b", placed(BYTES))  # over a
    k.store(k.let(tile.muls(a, 2.0), "c", placed(0)), z)
    in0, in1 = numbers(*SHAPE), numbers(*SHAPE, seed=1)
    np.testing.assert_array_equal(run(k, tmp_path, in0, in1), in1 * 2)


def test_tiles_share_bytes_in_turn(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0))
    b = k.let(tile.exp(a), "b", placed(BYTES))
    c = k.let(tile.load(y, [0, 0], SHAPE), "c", placed(0))
    d = k.let(tile.add(b, c), "d", placed(0))
    k.store(d, z)
    in0, in1 = numbers(*SHAPE), numbers(*SHAPE, seed=1)
    np.testing.assert_allclose(run(k, tmp_path, in0, in1), np.exp(in0) + in1, rtol=1e-5, atol=1e-6)


def test_tiles_without_addresses_are_planned_around_the_others(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0))
    b = k.let(tile.load(y, [0, 0], SHAPE), "b")
    c = k.let(tile.row_sum(a), "c")  # its scratch as well
    k.store(k.let(tile.add(k.let(tile.row_expand_mul(b, c), "d"), a), "e", placed(4 * BYTES)), z)
    in0, in1 = numbers(*SHAPE), numbers(*SHAPE, seed=1)
    expected = in1 * in0.sum(1, keepdims=True) + in0
    np.testing.assert_allclose(run(k, tmp_path, in0, in1), expected, rtol=1e-4, atol=1e-5)


def test_a_loop_carries_tiles_at_addresses(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0))
    b = k.let(tile.load(y, [0, 0], SHAPE), "b", placed(BYTES))
    with k.builder.for_loop("i", 0, 3, 1) as loop:
        t = ir.IterArg("t", placed(2 * BYTES), a, SPAN)
        loop.iter_args.append(t)
        k.builder.yield_stmt([k.let(tile.add(t, b), "u", placed(0))])
        loop.return_var("t")
    k.store(loop.output(), z)
    in0, in1 = numbers(*SHAPE), numbers(*SHAPE, seed=1)
    np.testing.assert_allclose(run(k, tmp_path, in0, in1), in0 + in1 + in1 + in1, rtol=1e-6)


def test_addresses_stand_in_the_text():
    k, x, y, z = kernel()
    k.store(k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0x800)), z)
    program = k.program()
    assert "addr = %c2048_i64" in codegen.PTOCodegen().generate(program, style="today")
    assert "addr" not in codegen.PTOCodegen().generate(program), "the seed leaves them to the assembler"


@pytest.mark.parametrize(
    "type, message",
    [
        (placed(8), "the address of a MemRef is a multiple of 32, not 8"),
        (placed(-32), "a multiple of 32, not -32"),
        (placed(1 << 20), "a tile of 2048 bytes at 1048576 lies outside of vec, which has "),
        (placed(scalar("n")), "the address of a MemRef must be a constant; leave it out to have it planned"),
        (placed(0, slots=2), "a MemRef with an address has one slot, not 2"),
    ],
)
def test_addresses_that_cannot_be(tmp_path, type, message):
    k, x, y, z = kernel()
    k.store(k.let(tile.load(x, [0, 0], SHAPE), "a", type), z)
    with pytest.raises(Exception) as error:
        k.run(tmp_path)
    assert message in str(error.value) and re.match(r"\S+\.py:\d+:\d+: ", str(error.value))


def test_what_a_loop_gives_lies_where_it_carries_it(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0))
    with k.builder.for_loop("i", 0, 3, 1) as loop:
        t = loop.iter_arg("t", a)
        k.builder.yield_stmt([k.let(tile.add(t, t), "u", placed(BYTES))])
        loop.return_var("last", placed(2 * BYTES))
    k.store(loop.output(), z)
    with pytest.raises(Exception, match="last must have the MemRef of t, which the loop carries"):
        k.run(tmp_path)


def test_a_view_lies_where_the_tile_lies(tmp_path):
    k, x, y, z = kernel()
    a = k.let(tile.load(x, [0, 0], SHAPE), "a", placed(0))
    k.store(k.let(tile.reshape(k.let(tile.reshape(a, [32, 16]), "b", placed(BYTES, [32, 16])), SHAPE)), z)
    with pytest.raises(Exception, match="tile.reshape gives the bytes of a, whose MemRef is another one"):
        k.run(tmp_path)


PAIR = pl.MemRef(slots=2)


@pl.jit
def in_turn(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    for _ in pl.spmd(1):
        for i in pl.range(4):
            a: pl.Tile[[16, 32], pl.FP32, PAIR[i % 2], pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
            b: pl.Tile[[16, 32], pl.FP32, PAIR[(i + 1) % 2], pl.Mem.Vec] = pl.load(y, [i * 16, 0], [16, 32])
            c: pl.Tile[[16, 32], pl.FP32, pl.MemRef("c", slots=2)[i % 2]] = pl.sub(a, b)
            pl.store(c, [i * 16, 0], z)
    return z


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_slots_that_take_turns(platform):
    from pypto.runtime import RunConfig

    x, y, z = numbers(64, 32), numbers(64, 32, seed=1), np.zeros((64, 32), np.float32)
    in_turn(x, y, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(z, x - y)


@pytest.mark.parametrize(
    "buffer, message",
    [
        ('pl.MemRef("a", slots=2)[2]', "pl.MemRef has slots 0 to 1, not 2"),
        ('pl.MemRef("a", slots=0)[0]', "slots must be 1 to 1024, not 0"),
    ],
)
def test_slots_that_are_not_there(buffer, message):
    text = f"""import pypto.language as pl
@pl.function
def k(x: pl.Tensor[[16, 32], pl.FP32], z: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    a: pl.Tile[[16, 32], pl.FP32, {buffer}] = pl.load(x, [0, 0], [16, 32])
    return pl.store(a, [0, 0], z)
"""
    with pytest.raises(ParserTypeError, match=message):
        pl.parse(text)


@pl.program
class Turns:
    """Both slots live in each turn."""

    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Tensor[[64, 32], pl.FP32], z: pl.Out[pl.Tensor[[64, 32], pl.FP32]]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        for i in pl.range(4):
            a: pl.Tile[[16, 32], pl.FP32, PAIR[i % 2], pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
            b: pl.Tile[[16, 32], pl.FP32, PAIR[(i + 1) % 2], pl.Mem.Vec] = pl.load(y, [i * 16, 0], [16, 32])
            z = pl.store(pl.sub(a, b), [i * 16, 0], z)
        return z


def slot_program(first, second, between="for j in pl.range(2):", shape="[16, 32]"):
    """A program with a tile in each of two loops."""
    return pl.parse_program(f"""import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(
        self, x: pl.Tensor[[64, 32], pl.FP32], z: pl.Out[pl.Tensor[[64, 32], pl.FP32]], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[64, 32], pl.FP32]:
        for i in pl.range(2):
            a: pl.Tile[[16, 32], pl.FP32, {first}, pl.Mem.Vec] = pl.load(x, [i * 16, 0], [16, 32])
            z = pl.store(pl.exp(a), [i * 16, 0], z)
        {between}
            b: pl.Tile[{shape}, pl.FP32, {second}, pl.Mem.Vec] = pl.load(x, [32, 0], {shape})
            z = pl.store(pl.exp(b), [32, 0], z)
        return z
""")


SLOT = 'pl.MemRef("s", slots={})[{}]'


def test_slots_are_printed_and_stored():
    text = ir.python_print(Turns)
    assert 'pl.MemRef(pl.Mem.Vec, None, 0, 0, name="PAIR", slots=2)[(i + 1) % 2]' in text
    for again in (pl.parse_program(text), ir.deserialize(ir.serialize(Turns))):
        ir.assert_structural_equal(Turns, again)
        assert ir.structural_hash(Turns) == ir.structural_hash(again)
    other = pl.parse_program(text.replace("[(i + 1) % 2]", "[i % 2]"))
    assert not ir.structural_equal(Turns, other)
    body = Turns.functions["k"].body
    body = body.stmts[0] if isinstance(body, ir.SeqStmts) else body
    slot = body.body.stmts[1].var.type.memref
    assert (slot.slots, slot.id, slot.name, str(slot.memory_space)) == (2, 0, "PAIR", "MemorySpace.Vec")
    expanded = PassManager.get_strategy().run_passes(Turns)
    ir.assert_structural_equal(expanded, pl.parse_program(ir.python_print(expanded)))
    assert "slots=2)[(i + 1) % 2]" in ir.python_print(expanded)


def test_the_assembler_guards_one_slot_of_a_turn(tmp_path):
    ir_compile(Turns, output_dir=tmp_path / "ours")
    with pytest.raises(PartialCodegenError) as error:
        ir_compile(Turns, output_dir=tmp_path / "theirs", memory_planner=MemoryPlanner.PTOAS)
    assert (
        "b is a slot of `PAIR`, which memory_planner=PTOAS refuses: two slots live at once in a turn of a loop"
        in str(error.value)
    )
    assert error.value.span["begin_line"] and "take one slot in a turn" in error.value.hint


def test_a_call_may_name_the_planner():
    from pypto.runtime import RunConfig

    x, y, z = numbers(64, 32), numbers(64, 32, seed=1), np.zeros((64, 32), np.float32)
    in_turn(x, y, z, config=RunConfig(memory_planner=MemoryPlanner.DSA_RP))
    np.testing.assert_array_equal(z, x - y)
    with pytest.raises(PartialCodegenError, match="b is a slot of `PAIR`"):
        in_turn(x, y, z, config=RunConfig(memory_planner=MemoryPlanner.PTOAS))


def test_slots_that_the_assembler_places(tmp_path):
    """One in each turn: also of loops behind one another."""
    ir.check_slot_regions(slot_program(SLOT.format(2, "i % 2"), SLOT.format(2, "j % 2")))
    ir.check_slot_regions(slot_program(SLOT.format(2, 0), SLOT.format(2, 1), "for j in pl.range(1, 3):"))


@pytest.mark.parametrize(
    "slots, second, shape, message",
    [
        (17, 1, "[16, 32]", "an allocation has at most 16 slots there, not 17"),
        (2, 1, "[16, 16]", "slots of one allocation have one type and valid extent"),
    ],
)
def test_slots_that_are_no_region(slots, second, shape, message):
    program = slot_program(SLOT.format(slots, "i % 2"), SLOT.format(slots, second), shape=shape)
    with pytest.raises(ValueError, match=message):
        ir.check_slot_regions(program)
