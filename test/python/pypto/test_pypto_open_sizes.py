"""`pl.dynamic`: one compiled program for all sizes; extents and strides are numbers of each launch."""

import numpy as np
import pypto.language as pl
import pytest
from pto_mlir.runtime import InferenceSession, InvalidArgument, RuntimeFailure
from pypto import ir
from pypto.ir.compiled_program import CompiledProgram
from pypto.language.parser.diagnostics import PlacedError
from pypto.runtime import RunConfig
from random_numbers import numbers

M, N = pl.dynamic("M"), pl.dynamic("N")
SIZES = [(16, 64), (50, 100), (1, 1), (33, 200), (300, 7), (17, 65)]


@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def add(
        self,
        a: pl.Tensor[[M, N], pl.FP32],
        b: pl.Tensor[[M, N], pl.FP32],
        y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        for i in pl.range(0, M, 16):
            for j in pl.range(0, N, 64):
                r = pl.min(M - i, 16)
                c = pl.min(N - j, 64)
                s = pl.load(a, [i, j], [16, 64], valid_shapes=[r, c])
                t = pl.load(b, [i, j], [16, 64], valid_shapes=[r, c])
                y = pl.store(pl.add(s, t), [i, j], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[M, N], pl.FP32],
        b: pl.Tensor[[M, N], pl.FP32],
        y: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        t = pl.create_tensor([M, N], dtype=pl.FP32)
        t = self.add(a, b, t)
        y = self.add(t, a, y)
        return y


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sizes")


@pytest.fixture(scope="module")
def compiled(folder):
    return ir.compile(Sum, output_dir=folder)


@pytest.mark.parametrize("m, n", SIZES)
def test_a_program_takes_every_size(compiled, m, n):
    a, b, y = numbers(m, n), numbers(m, n, seed=1), np.zeros((m, n), np.float32)
    compiled(a, b, y)
    np.testing.assert_array_equal(y, a + b + a)
    np.testing.assert_array_equal(compiled(a, b), y)


def test_a_saved_program_takes_every_size_without_its_source(compiled, folder):
    session = InferenceSession(folder / "Sum.pmodel")
    assert [each.shape for each in session.get_inputs()] == [[None, None]] * 2
    again = CompiledProgram.from_dir(folder)
    for m, n in SIZES:
        a, b, y = numbers(m, n), numbers(m, n, seed=1), np.zeros((m, n), np.float32)
        np.testing.assert_array_equal(session.run(None, {"a": a, "b": b})[0], a + b + a)
        again(a, b, y)
        np.testing.assert_array_equal(y, a + b + a)


def test_sizes_that_differ_are_refused_and_the_program_goes_on(compiled, folder):
    a, b, y = numbers(3, 4), numbers(3, 5), np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="argument b: N is 5 here and 4 elsewhere"):
        compiled(a, b, y)
    session = InferenceSession(folder / "Sum.pmodel")
    with pytest.raises(RuntimeFailure, match="parameter b: N is another number here than elsewhere"):
        session.run(None, {"a": a, "b": b})
    with pytest.raises(RuntimeFailure, match="parameter a: extent 0 is 0"):
        session.run(None, {"a": a[:0], "b": a[:0]})
    with pytest.raises(InvalidArgument, match=r"input 'a': expects f32 \?x\?, got f32 3"):
        session.run(None, {"a": a[:, 0], "b": a})
    with pytest.raises(RuntimeFailure, match="'y' has 2 axes, some of which the run says"):
        session.run_in_place({"a": a, "b": a, "y": y.reshape(-1)})
    with pytest.raises(RuntimeFailure, match="given with another number of elements"):
        session.run_in_place({"a": a, "b": a, "y": np.zeros((6, 4), np.float32)})
    np.testing.assert_array_equal(session.run(None, {"a": a, "b": a})[0], 3 * a)


@pl.jit.incore
def block(a: pl.Tensor, b: pl.Tensor, i: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor]):
    r = pl.min(pl.tensor.dim(a, 0) - i, 16)
    s = pl.load(a, [i, 0], [16, 64], valid_shapes=[r, 64])
    t = pl.load(b, [i, 0], [16, 64], valid_shapes=[r, 64])
    return pl.store(pl.add(s, t), [i, 0], y)


@pl.jit
def add(a: pl.Tensor[[M, 64], pl.FP32], b: pl.Tensor[[M, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
    for i in pl.range(0, M, 16):
        y = block(a, b, i, y)
    return y


@pl.jit
def twice(a: pl.Tensor, y: pl.Out[pl.Tensor]):
    a.bind_dynamic(0, M)
    y.bind_dynamic(0, M)
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(0, M, 16):
            t = pl.load(a, [i, 0], [16, 64], valid_shapes=[pl.min(M - i, 16), 64])
            y = pl.store(pl.mul(t, 2.0), [i, 0], y)
    return y


@pl.jit
def whole(a: pl.Tensor[[M, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.mul(a, 2.0)
    return y


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_one_specialisation_serves_all_sizes(platform):
    config = RunConfig(platform=platform)
    for held in (add, twice):
        held._cache.clear()
    for m in (16, 50, 1, 333):
        a, b, y = numbers(m, 64), numbers(m, 64, seed=1), np.zeros((m, 64), np.float32)
        add(a, b, y, config=config)
        np.testing.assert_array_equal(y, a + b)
        twice(a, y, config=config)
        np.testing.assert_array_equal(y, 2 * a)
    assert len(add._cache) == len(twice._cache) == 1
    with pytest.raises(ValueError, match="add: argument b: M is 5 here and 333 elsewhere"):
        add(a, b[:5], y, config=config)


def test_what_depends_on_sizes_is_compiled_for_each():
    for m in (16, 48):  # a tile of M rows has a size of its own
        a, y = numbers(m, 64), np.zeros((m, 64), np.float32)
        whole(a, y)
        np.testing.assert_array_equal(y, 2 * a)


VIEWS = """
M = pl.dynamic("M")
N = pl.dynamic("N")
H = pl.dynamic("H")

@pl.program
class Views:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, a: pl.Tensor[[16, N], pl.FP32], y: pl.Out[pl.Tensor[[16, N], pl.FP32]]):
        for j in pl.range(0, N, 64):
            c = pl.min(N - j, 64)
            t = pl.load(a, [0, j], [16, 64], valid_shapes=[16, c])
            y = pl.store(t, [0, j], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, {head}):
{body}
        return y
"""


def run_views(head, body, *feed):
    lines = "".join(f"        {line}\n" for line in body.split("; "))
    program = pl.parse_program(VIEWS.format(head=head, body=lines))
    made = CompiledProgram(program, RunConfig())
    assert made.pmodel is not None
    made(*feed)


@pytest.mark.parametrize("m, n", [(32, 70), (48, 64), (80, 130)])
def test_views_of_open_tensors(m, n):
    a = numbers(m, n)
    of = "a: pl.Tensor[[M, N], pl.FP32], "
    # Rows at a place that is known, and the last ones.
    for first, begin in (("16", 16), ("M - 16", m - 16)):
        y = np.zeros((16, n), np.float32)
        body = f"y = self.copy(pl.slice(a, [16, N], [{first}, 0]), y)"
        run_views(of + "y: pl.Out[pl.Tensor[[16, N], pl.FP32]]", body, a, y)
        np.testing.assert_array_equal(y, a[begin : begin + 16])
    # Columns: the stride is that of the whole tensor, the extent a number.
    y = np.zeros((16, 60), np.float32)
    body = "y = self.copy(pl.slice(a, [16, 60], [0, N - 60]), y)"
    run_views(of + "y: pl.Out[pl.Tensor[[16, 60], pl.FP32]]", body, a, y)
    np.testing.assert_array_equal(y, a[:16, n - 60 :])
    # Half of the columns, into a tensor that the program makes.
    half = n // 2
    y = np.zeros((16, half), np.float32)
    made = "t = pl.create_tensor([16, N], dtype=pl.FP32); t = self.copy(pl.slice(a, [16, N], [0, 0]), t); "
    body = made + "y = self.copy(pl.slice(t, [16, N // 2], [0, N - N // 2]), y)"
    run_views(of + "y: pl.Out[pl.Tensor[[16, H], pl.FP32]]", body, a, y)
    np.testing.assert_array_equal(y, a[:16, n - half :])


def test_composite_extents():
    program = pl.parse_program("""
M = pl.dynamic("M")

@pl.program
class Doubled:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, a: pl.Tensor[[M * 2, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 128], pl.FP32]]):
        for i in pl.range(0, M):
            t = pl.load(a, [i * 2, 0], [2, 64])
            y = pl.store(pl.reshape(t, [1, 128]), [i, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[M * 2, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 128], pl.FP32]]):
        y = self.copy(a, y)
        return y
""")
    made = CompiledProgram(program, RunConfig())
    assert made.pmodel is not None
    for m in (1, 4, 9):
        a, y = numbers(2 * m, 64), np.zeros((m, 128), np.float32)
        made(a, y)
        np.testing.assert_array_equal(y, a.reshape(m, 128))
    with pytest.raises(ValueError, match="axis 0 cannot be 5 for any M"):
        made(numbers(5, 64), np.zeros((2, 128), np.float32))


@pl.jit
def products(a: pl.Tensor[[M, 64], pl.FP16], b: pl.Tensor[[64, 128], pl.FP16], y: pl.Out[pl.Tensor[[M, 128], pl.FP32]]):
    for i in pl.range(0, M, 32):
        with pl.at(level=pl.Level.CORE_GROUP):  # of both cores
            z = pl.matmul(pl.slice(a, [32, 64], [i, 0]), b, out_dtype=pl.FP32)
            y = pl.assemble(y, pl.mul(z, 2.0), [i, 0])
    return y


@pl.jit
def blocks(a: pl.Tensor[[M, 64], pl.FP32], y: pl.Out[pl.Tensor[[M, 64], pl.FP32]]):
    with pl.spmd(M // 16):
        i = pl.tile.get_block_idx()
        y = pl.store(pl.neg(pl.load(a, [i * 16, 0], [16, 64])), [i * 16, 0], y)
    return y


@pl.jit
def added(a: pl.Tensor[[M, 64], pl.FP32], y: pl.InOut[pl.Tensor[[M * 64], pl.FP32]]):
    z = pl.reshape(y, [M, 64])
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(M):
            s = pl.add(pl.load(a, [i, 0], [1, 64]), pl.load(z, [i, 0], [1, 64]))
            z = pl.store(s, [i, 0], z)
    return y


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_scopes_of_both_cores_blocks_and_reshapes(platform):
    config = RunConfig(platform=platform)
    held = products, blocks, added
    for each in held:
        each._cache.clear()
    for m in (32, 64, 160):
        a, b, y = numbers(m, 64).astype(np.float16), numbers(64, 128, seed=1).astype(np.float16), numbers(m, 128)
        products(a, b, y, config=config)
        np.testing.assert_allclose(y, 2 * (a.astype(np.float64) @ b.astype(np.float64)), rtol=1e-4, atol=1e-4)
        a, y = numbers(m, 64), np.zeros((m, 64), np.float32)
        blocks(a, y, config=config)
        np.testing.assert_array_equal(y, -a)
        y = np.ones(m * 64, np.float32)
        added(a, y, config=config)
        np.testing.assert_array_equal(y, a.ravel() + 1)
    assert [len(each._cache) for each in held] == [1, 1, 1]


@pl.function(type=pl.FunctionType.InCore)
def add_matrices(
    a: pl.Tensor[[M, N], pl.FP32], b: pl.Tensor[[M, N], pl.FP32], c: pl.Out[pl.Tensor[[M, N], pl.FP32]]
) -> pl.Tensor[[M, N], pl.FP32]:
    return pl.store(pl.add(pl.load(a, [0, 0], [16, 8]), pl.load(b, [0, 0], [16, 8])), [0, 0], c)


@pl.function(type=pl.FunctionType.InCore)
def note(p: pl.Scalar[pl.INDEX], q: pl.Scalar[pl.INDEX], n: pl.Out[pl.Tensor[[2], pl.INT32]]):
    pl.write(n, [0], pl.cast(p, pl.INT32))
    pl.write(n, [1], pl.cast(q, pl.INT32))
    return n


@pl.program
class OtherShapes:
    """In the orchestrator M and N are extents of each tensor; the kernel's are equal."""

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[M, N], pl.FP32],
        b: pl.Tensor[[M], pl.FP32],
        n: pl.Out[pl.Tensor[[2], pl.INT32]],
        c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
    ):
        n = note(pl.tensor.dim(a, 0), pl.tensor.dim(b, 0), n)
        turned: pl.Tensor[[16, 8], pl.FP32] = pl.transpose(a, axis1=0, axis2=1)
        square: pl.Tensor[[16, 8], pl.FP32] = pl.reshape(b, [16, 8])
        return add_matrices(turned, square, c)


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_one_name_for_extents_of_other_shapes(platform):
    compiled = CompiledProgram(OtherShapes, RunConfig(platform=platform))
    a, b, c, n = numbers(8, 16), numbers(128, seed=1), np.zeros((16, 8), np.float32), np.zeros(2, np.int32)
    compiled(a, b, n, c)
    np.testing.assert_array_equal(c, a.T + b.reshape(16, 8))
    np.testing.assert_array_equal(n, [8, 128])


def test_a_kernel_holds_the_extents_of_one_name_equal():
    """What is transposed has an extent of its own, what the kernel gets is held to its names."""
    compiled = CompiledProgram(OtherShapes, RunConfig())
    a, b, n = numbers(8, 16), numbers(128, seed=1), np.zeros(2, np.int32)
    c = np.zeros((16, 7), np.float32)
    with pytest.raises((ValueError, PlacedError), match="N is 7 here and 8 elsewhere"):
        compiled(a, b, n, c)
    with pytest.raises((ValueError, PlacedError)):
        compiled(numbers(9, 16), b, n, np.zeros((16, 8), np.float32))
    assert not c.any()
