"""Barriers between blocks (pl.system.syncall): where they order nothing that a block sees, and where they do."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.backend import Backend910B, Backend950
from pypto.language.parser.diagnostics import InvalidOperationError
from pypto.pypto_core import ir
from pypto.runtime import RunConfig, run
from random_numbers import numbers


def count(backend, kind):
    """Cores of a kind, as programs of the public repository count them."""
    total = 0
    for die, dies in backend.instance().soc.die_counts.items():
        for cluster, clusters in die.cluster_counts.items():
            total += sum(n for core, n in cluster.core_counts.items() if core.core_type == kind) * clusters * dies
    return total


VECTOR_CORES = count(Backend910B, ir.CoreType.VECTOR)


def test_cores_of_a_chip():
    assert VECTOR_CORES == 48 and count(Backend910B, ir.CoreType.CUBE) == 24
    assert count(Backend950, ir.CoreType.VECTOR) == 2 * count(Backend950, ir.CoreType.CUBE) > 0
    assert Backend910B.instance() is Backend910B.instance() is not Backend950.instance()


@pl.program
class Hard:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32],
        b: pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32]],
    ) -> pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32]:
        row = pl.tile.get_block_idx() * 8
        x, y = pl.load(a, [row, 0], [8, 64]), pl.load(b, [row, 0], [8, 64])
        pl.system.syncall(core_type="aiv_only")
        return pl.store(pl.add(x, y), [row, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32],
        b: pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32]],
    ) -> pl.Tensor[[VECTOR_CORES * 8, 64], pl.FP32]:
        with pl.spmd(VECTOR_CORES, sync_start=True):
            out = self.add(a, b, out)
        return out


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_a_hard_barrier_between_loads_and_stores(platform):
    a, b = numbers(VECTOR_CORES * 8, 64), numbers(VECTOR_CORES * 8, 64, seed=1)
    out = np.zeros_like(a)
    run(Hard, a, b, out, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(out, a + b)


@pl.program
class Soft:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        a: pl.Tensor[[32, 64], pl.FP32],
        b: pl.Tensor[[64, 32], pl.FP32],
        cells: pl.Tensor[[16], pl.INT32],
        out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        for block in pl.spmd(2):
            rows = pl.add(pl.slice(a, [16, 64], [block * 16, 0]), 1.0)
            pl.system.syncall(mode="soft", core_type="mix", gm_workspace=cells, used_cores=6)
            out = pl.assemble(out, pl.add(pl.matmul(rows, b), 1.0), [block * 16, 0])
        return out


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_a_soft_barrier_between_vector_and_cube_cores(platform):
    a, b, out = numbers(32, 64), numbers(64, 32, seed=1), np.zeros((32, 32), np.float32)
    run(Soft, a, b, np.zeros(16, np.int32), out, config=RunConfig(platform=platform))
    np.testing.assert_allclose(out, (a.astype(np.float64) + 1) @ b + 1, rtol=1e-4, atol=1e-4)


EXCHANGE = """\
import pypto.language as pl


@pl.program
class Exchange:
    @pl.function(type=pl.FunctionType.InCore)
    def turn(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],
        z: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        me = pl.tile.get_block_idx()
{BODY}
        return z

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[64, 64], pl.FP32],
        y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],
        z: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.spmd(4):
            z = self.turn(x, y, z)
        return z
"""
LOAD = "t = pl.load({}, [me * 16, 0], [16, 64])"
STORE = "{0} = pl.store(t, [48 - me * 16, 0], {0})"
BARRIER = 'pl.system.syncall(core_type="aiv_only")'


def exchange(*body):
    return pl.parse_program(EXCHANGE.format(BODY="\n".join("        " + each for each in body)))


def turned(rows):
    return rows.reshape(4, 16, 64)[::-1].reshape(64, 64)


SUMS = "s = pl.row_sum(t, pl.create_tile([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec))"
EXCHANGES = {
    "read behind": (
        (LOAD.format("x"), STORE.format("y"), BARRIER, LOAD.format("y"), STORE.format("z")),
        lambda x, y, z: (turned(x), x),
    ),
    "written behind": ((LOAD.format("z"), BARRIER, STORE.format("z")), lambda x, y, z: (y, turned(z))),
    "written twice": (
        (LOAD.format("x"), STORE.format("z"), BARRIER, "t = pl.mul(t, 2.0)", STORE.format("z")),
        lambda x, y, z: (y, 2 * turned(x)),
    ),
    "in a loop": (
        ("for i in pl.range(3):", *("    " + each for each in (LOAD.format("y"), BARRIER, STORE.format("y"), BARRIER))),
        lambda x, y, z: (turned(y), z),
    ),
    "in a branch of a loop": (
        (
            "for i in pl.range(4):",
            "    " + LOAD.format("y"),
            "    if i % 3 == 0:",
            "        " + BARRIER,
            "        " + STORE.format("y"),
            "    else:",
            "        z = pl.store(t, [me * 16, 0], z)",
            "    " + BARRIER,
        ),
        lambda x, y, z: (y, turned(y)),
    ),
    "by a view": (
        ("w = pl.slice(z, [16, 64], [0, 0])", "t = pl.load(w, [0, 0], [16, 64])", BARRIER, STORE.format("z")),
        lambda x, y, z: (y, np.tile(z[:16], (4, 1))),
    ),
    "sums that are kept": (
        (LOAD.format("z"), SUMS, BARRIER, LOAD.format("x"), "t = pl.row_expand_mul(t, s)", STORE.format("z")),
        lambda x, y, z: (y, turned(x * z.sum(1, keepdims=True))),
    ),
    "elements of before": (
        (
            "n, k = pl.tensor.read(z, [me, 0]), pl.tensor.read(y, [0, me]) * 2.0",
            LOAD.format("z"),
            BARRIER,
            "t = pl.mul(t, n)",
            STORE.format("z"),
            BARRIER,
            "t = pl.add(pl.load(x, [me * 16, 0], [16, 64]), n + k)",
            STORE.format("y"),
        ),
        lambda x, y, z: (
            turned(x + np.repeat(z[:4, 0] + 2 * y[0, :4], 16)[:, None]),
            turned(z * np.repeat(z[:4, 0], 16)[:, None]),
        ),
    ),
    "a tile that a loop carries": (
        (
            LOAD.format("x"),
            "u = pl.mul(t, 2.0)",
            "for i in pl.range(3):",
            "    y = pl.store(t, [48 - me * 16, 0], y)",
            "    " + BARRIER,
            "    t = pl.add(t, pl.load(y, [me * 16, 0], [16, 64]))",
            "    " + BARRIER,
            "t = pl.add(t, u)",
            STORE.format("z"),
        ),
        lambda x, y, z: (2 * (x + turned(x)), turned(4 * (x + turned(x)) + 2 * x)),
    ),
    "tiles that change places": (
        (
            LOAD.format("x"),
            "u = pl.mul(t, 2.0)",
            "for i in pl.range(3):",
            "    t, u = u, t",
            "    " + BARRIER,
            "    " + STORE.format("y"),
            "t = pl.sub(t, u)",
            STORE.format("z"),
        ),
        lambda x, y, z: (turned(2 * x), turned(x)),
    ),
    "tiles of loops in loops and of branches": (
        (
            LOAD.format("x"),
            "s = pl.mul(t, 0.5)",
            "for i in pl.range(2):",
            "    for j in pl.range(2):",
            "        if (i + j) % 2 == 0:",
            "            y = pl.store(t, [48 - me * 16, 0], y)",
            "            " + BARRIER,
            "            t = pl.load(y, [me * 16, 0], [16, 64])",
            "        else:",
            "            t = pl.add(t, s)",
            "        " + BARRIER,
            "    s = pl.mul(s, 3.0)",
            STORE.format("z"),
        ),
        lambda x, y, z: nested(x),
    ),
}


def nested(x):
    """y and z of the last one."""
    t, s = x, np.float32(0.5) * x
    for i in range(2):
        for j in range(2):
            if (i + j) % 2 == 0:
                t = y = turned(t)
            else:
                t = t + s
        s = np.float32(3) * s
    return y, turned(t)


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
@pytest.mark.parametrize("name", EXCHANGES)
def test_blocks_exchange_data(name, platform):
    body, expected = EXCHANGES[name]
    x, y, z = (numbers(64, 64, seed=seed) for seed in range(3))
    of_y, of_z = (array.copy() for array in expected(x, y, z))
    run(exchange(*body), x, y, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, of_y)
    np.testing.assert_allclose(z, of_z, rtol=1e-4, atol=1e-5)


def test_a_tile_that_is_valid_in_part_is_kept():
    body = ("t = pl.load(z, [me * 16, 0], [16, 64], valid_shapes=[16 - me, 60])", BARRIER, STORE.format("z"))
    x, y, z = (numbers(64, 64, seed=seed) for seed in range(3))
    expected = z.copy()
    for block in range(4):
        expected[48 - 16 * block :][: 16 - block, :60] = z[16 * block :][: 16 - block, :60]
    run(exchange(*body), x, y, z)
    np.testing.assert_array_equal(z, expected)


@pl.program
class Mixed:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(
        self,
        a: pl.Tensor[[64, 64], pl.FP32],
        b: pl.Tensor[[64, 64], pl.FP32],
        y: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
        out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        for block in pl.spmd(4):
            rows = pl.add(pl.slice(a, [16, 64], [block * 16, 0]), 1.0)
            y = pl.assemble(y, rows, [48 - block * 16, 0])
            pl.system.syncall(core_type="mix")
            factor = pl.mul(pl.slice(y, [16, 64], [block * 16, 0]), rows)
            out = pl.assemble(out, pl.matmul(factor, b), [block * 16, 0])
        return out


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_vector_and_cube_cores_exchange_tensors(platform):
    a, b, y, out = (
        numbers(64, 64),
        numbers(64, 64, seed=1),
        np.zeros((64, 64), np.float32),
        np.zeros((64, 64), np.float32),
    )
    run(Mixed, a, b, y, out, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, turned(a + 1))
    np.testing.assert_allclose(out, (turned(a + 1) * (a + 1)).astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


@pl.jit.incore
def steps(x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32]):
    me, count = pl.tile.get_block_idx(), pl.tile.get_block_num()
    for i in pl.range(n):
        t = pl.add(pl.load(y, [me * 8, 0], [8, 32]), pl.load(x, [me * 8, 0], [8, 32]))
        pl.system.syncall(core_type="aiv_only")
        if i % 2 == 0:
            y = pl.store(t, [((me + 1) % count) * 8, 0], y)
            pl.system.syncall(core_type="aiv_only")
            z = pl.store(pl.load(y, [me * 8, 0], [8, 32]), [me * 8, 0], z)
        else:
            y = pl.store(t, [me * 8, 0], y)
        pl.system.syncall(core_type="aiv_only")
    return y, z


@pl.jit
def rounds(
    x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32], blocks: pl.Scalar[pl.INT32]
):
    with pl.spmd(blocks):
        y, z = steps(x, y, z, n)
    return y, z


ROWS = pl.dynamic("ROWS")


@pl.jit
def open_rounds(
    x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32], blocks: pl.Scalar[pl.INT32]
):
    x.bind_dynamic(0, ROWS)
    y.bind_dynamic(0, ROWS)
    z.bind_dynamic(0, ROWS)
    with pl.spmd(blocks):
        y, z = steps(x, y, z, n)
    return y, z


@pytest.mark.parametrize("function", (rounds, open_rounds))
def test_rounds_of_a_number_of_blocks_that_the_run_gives(function):
    for blocks, n in ((3, 5), (2, 4), (5, 1)):
        x, y, z = (numbers(8 * blocks, 32, seed=seed) for seed in range(3))
        of_y, of_z = y.copy(), z.copy()
        for i in range(n):
            of_y = np.roll(of_y + x, 8, axis=0) if i % 2 == 0 else of_y + x
            of_z = of_y.copy() if i % 2 == 0 else of_z
        function(x, y, z, n, blocks)
        np.testing.assert_array_equal(y, of_y)
        np.testing.assert_array_equal(z, of_z)


@pytest.mark.parametrize(
    ("body", "reason"),
    (
        (
            ("for i in pl.range(me):", "    " + LOAD.format("y"), "    " + BARRIER, "    " + STORE.format("y")),
            "the block's number decides about a barrier between blocks",
        ),
        (
            (
                "a = pl.load(z, [me * 16, 0], [16, 64], target_memory=pl.Mem.Mat)",  # z is written behind it
                BARRIER,
                LOAD.format("x"),
                STORE.format("z"),
                "q = pl.move(a, target_memory=pl.Mem.Left)",
            ),
            "a is in the memory of the cube core behind a barrier between blocks",
        ),
        (
            (
                "a = pl.load(x, [me * 16, 0], [16, 64], target_memory=pl.Mem.Mat)",
                "b = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)",
                "p = pl.matmul(a, b)",
                LOAD.format("z"),
                BARRIER,
                "z = pl.store(pl.matmul_acc(p, a, b), [48 - me * 16, 0], z)",
            ),
            "p is in the memory of the cube core behind a barrier between blocks, where it can be stored",
        ),
    ),
    ids=("a loop of the block's own", "a tile of the cube core", "an accumulator"),
)
def test_what_no_barrier_keeps(body, reason):
    with pytest.raises(InvalidOperationError, match=reason):
        run(exchange(*body), *[numbers(64, 64) for _ in range(3)])


def test_a_barrier_of_one_kind_of_core_is_refused():
    text = EXCHANGE.replace("FunctionType.InCore", "FunctionType.AIV")
    body = "\n".join("        " + each for each in EXCHANGES["read behind"][0])
    with pytest.raises(InvalidOperationError, match="turn is a function for one kind of core whose barrier"):
        run(pl.parse_program(text.format(BODY=body)), *[numbers(64, 64) for _ in range(3)])


def test_blocks_may_read_and_write_other_tensors_around_it():
    x, y, z = numbers(64, 64), numbers(64, 64, seed=1), np.zeros((64, 64), np.float32)
    run(exchange(LOAD.format("x"), STORE.format("y"), BARRIER, LOAD.format("x"), STORE.format("z")), x, y, z)
    np.testing.assert_array_equal(y, turned(x))
    np.testing.assert_array_equal(z, turned(x))


@pl.jit
def carried_tensors(x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor]):
    with pl.spmd(4):
        me = pl.tile.get_block_idx() * 8
        other = (pl.tile.get_block_num() - 1 - pl.tile.get_block_idx()) * 8
        t = pl.add(x[me : me + 8, :], 1.0)
        for i in pl.range(3):
            y[other : other + 8, :] = t
            pl.system.syncall(core_type="aiv_only")
            t = pl.add(pl.mul(t, 2.0), y[me : me + 8, :])
            pl.system.syncall(core_type="aiv_only")
        z[me : me + 8, :] = t
    return y, z


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_a_tensor_that_a_loop_carries(platform):
    x, y, z = (numbers(32, 64, seed=seed) for seed in range(3))
    carried_tensors(x, y, z, config=RunConfig(platform=platform, mode="checked"))
    t = x + np.float32(1)
    for _ in range(3):
        of_y = t.reshape(4, 8, 64)[::-1].reshape(32, 64)
        t = 2 * t + of_y
    np.testing.assert_array_equal(y, of_y)
    np.testing.assert_array_equal(z, t)


@pl.jit
def exchanged_tensors(x: pl.Tensor, y: pl.InOut[pl.Tensor]):
    with pl.spmd(4):
        me = pl.tile.get_block_idx() * 8
        t = pl.add(x[me : me + 8, :], 1.0)
        u = pl.mul(t, 2.0)
        for i in pl.range(3):
            t, u = u, t
            y[me : me + 8, :] = t
            pl.system.syncall(core_type="aiv_only")
            y[24 - me : 32 - me, :] = u
            pl.system.syncall(core_type="aiv_only")
        y[me : me + 8, :] = pl.add(t, pl.mul(u, 3.0))
    return y


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_tensors_change_places(platform):
    x, y = numbers(32, 64), numbers(32, 64)
    t = x + np.float32(1)
    u = 2 * t  # an odd number of turns: the names are exchanged
    exchanged_tensors(x, y, config=RunConfig(platform=platform, mode="checked"))
    np.testing.assert_array_equal(y, u + 3 * t)


FACTOR = "a = pl.load({}, [me * 16, 0], [16, 64], target_memory=pl.Mem.Mat)"
WHOLE = "b = pl.load({}, [0, 0], [64, 64], target_memory=pl.Mem.Mat)"


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
@pytest.mark.parametrize("is_moved", (False, True), ids=("stored", "moved"))
def test_a_product_is_kept(platform, is_moved):
    x, y, z = (numbers(64, 64, seed=seed) for seed in range(3))
    expected = turned(x.astype(np.float64) @ x)
    body = [LOAD.format("z"), FACTOR.format("x"), WHOLE.format("x"), "p = pl.matmul(a, b)", BARRIER]
    if is_moved:
        body += ["p = pl.sub(pl.move(p, target_memory=pl.Mem.Vec), t)"]
        expected -= turned(z)
    run(exchange(*body, "z = pl.store(p, [48 - me * 16, 0], z)"), x, y, z, config=RunConfig(platform=platform))
    np.testing.assert_allclose(z, expected, rtol=1e-5, atol=1e-5)


@pl.jit
def rotated_tensors(x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor], n: pl.Scalar[pl.INT32]):
    with pl.spmd(4):
        me = pl.tile.get_block_idx() * 8
        t = pl.add(x[me : me + 8, :], 1.0)
        u = pl.mul(t, 2.0)
        v = pl.mul(t, 4.0)
        for i in pl.range(n):
            t, u, v = u, v, pl.add(t, y[24 - me : 32 - me, :])
            pl.system.syncall(core_type="aiv_only")
            y[me : me + 8, :] = v
            pl.system.syncall(core_type="aiv_only")
        z[me : me + 8, :] = pl.sub(t, u)
    return y, z


@pytest.mark.parametrize("turns", (0, 1, 2, 3, 5))
def test_tensors_rotate(turns):
    x, y, z = (numbers(32, 64, seed=seed) for seed in range(3))
    t = x + np.float32(1)
    t, u, v, of_y = t, 2 * t, 4 * t, y.copy()
    for _ in range(turns):
        t, u, v = u, v, t + of_y.reshape(4, 8, 64)[::-1].reshape(32, 64)
        of_y = v
    rotated_tensors(x, y, z, turns, config=RunConfig(mode="checked"))
    np.testing.assert_array_equal(y, of_y)
    np.testing.assert_array_equal(z, t - u)


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
@pytest.mark.parametrize("is_moved", (False, True), ids=("in Mat", "in Left"))
def test_an_operand_of_a_product_is_loaded_again(platform, is_moved):
    x, y, z = (numbers(64, 64, seed=seed) for seed in range(3))
    body = [LOAD.format("x"), FACTOR.format("x"), STORE.format("y"), BARRIER, WHOLE.format("y")]
    if is_moved:
        body.insert(2, "l = pl.move(a, target_memory=pl.Mem.Left)")
        body += ["r = pl.move(b, target_memory=pl.Mem.Right)", "p = pl.matmul(l, r)"]
    else:
        body += ["p = pl.matmul(a, b)"]
    run(exchange(*body, "z = pl.store(p, [48 - me * 16, 0], z)"), x, y, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, turned(x))
    np.testing.assert_allclose(z, turned(x.astype(np.float64) @ turned(x)), rtol=1e-5, atol=1e-5)


@pl.jit
def rows_by_elements(table: pl.Tensor, x: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.Out[pl.Tensor]):
    with pl.spmd(4):
        me = pl.tile.get_block_idx()
        row, total = pl.tensor.read(table, [me]), me * 2
        for k in pl.range(3):
            total = total + pl.cast(pl.tensor.read(table, [k]), pl.INDEX)
        y[me * 8 : me * 8 + 8, :] = pl.mul(x[me * 8 : me * 8 + 8, :], 2.0)
        pl.system.syncall(core_type="aiv_only")
        z[me * 8 : me * 8 + 8, :] = pl.add(y[row * 8 : row * 8 + 8, :], x[total % 4 * 8 : total % 4 * 8 + 8, :])
    return y, z


@pytest.mark.parametrize("platform", ("a2a3sim", "a5sim"))
def test_elements_say_rows_behind_it(platform):
    table = np.array([2, 3, 0, 1], np.int32)
    x, y, z = (numbers(32, 64, seed=seed) for seed in range(3))
    rows_by_elements(table, x, y, z, config=RunConfig(platform=platform, mode="checked"))
    parts = x.reshape(4, 8, 64)
    others = parts[(np.arange(4) * 2 + 5) % 4]
    np.testing.assert_array_equal(z, (2 * parts[table] + others).reshape(32, 64))
