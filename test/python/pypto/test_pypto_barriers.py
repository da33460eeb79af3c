"""Barriers between blocks (pl.system.syncall): where they order nothing that a block sees, and where they would."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.backend import Backend910B, Backend950
from pypto.language.parser.diagnostics import UnsupportedFeatureError
from pypto.pypto_core import ir
from pypto.runtime import RunConfig, run


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


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


@pytest.mark.parametrize(
    ("body", "tensor"),
    (
        ((LOAD.format("x"), STORE.format("y"), BARRIER, LOAD.format("y"), STORE.format("z")), "y"),
        ((LOAD.format("z"), BARRIER, STORE.format("z")), "z"),
        ((LOAD.format("x"), STORE.format("z"), BARRIER, STORE.format("z")), "z"),
        (("for i in pl.range(2):", "    " + LOAD.format("y"), "    " + BARRIER, "    " + STORE.format("y")), "y"),
        (
            ("w = pl.slice(z, [16, 64], [0, 0])", LOAD.format("w").replace("me * 16", "0"), BARRIER, STORE.format("z")),
            "z",
        ),
    ),
    ids=("read behind", "written behind", "written twice", "in a loop", "by a view"),
)
def test_a_barrier_that_orders_blocks_is_refused(body, tensor):
    with pytest.raises(UnsupportedFeatureError, match=f"what blocks do with {tensor} is not lowered yet.*second scope"):
        run(exchange(*body), *[numbers(64, 64) for _ in range(3)])


def test_blocks_may_read_and_write_other_tensors_around_it():
    x, y, z = numbers(64, 64), numbers(64, 64, seed=1), np.zeros((64, 64), np.float32)
    turned = x.reshape(4, 16, 64)[::-1].reshape(64, 64)
    run(exchange(LOAD.format("x"), STORE.format("y"), BARRIER, LOAD.format("x"), STORE.format("z")), x, y, z)
    np.testing.assert_array_equal(y, turned)
    np.testing.assert_array_equal(z, turned)
