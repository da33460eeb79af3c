"""Rows and elements at indices, comparisons and trigonometry of tensors and tiles; numbers against numpy, float64."""

import numpy as np
import pypto.language as pl
import pytest
from pto_mlir import _compiler
from pypto import ir
from pypto.ir.op import tile
from pypto.language.parser.diagnostics import ParserError, PlacedError
from pypto.runtime import RunConfig
from pypto.runtime import run as pypto_run
from test_pypto_lower import F32, I32, Kernel, tensor_of
from test_pypto_parts import both, load, numbers, run

platforms = pytest.mark.parametrize("platform", ["a2a3", "a5"])
BOUNDS = {
    "undefined": [3, 0, 7, 7, 2, 5, 1, 6],
    "clamp": [3, -1, 9, 7, 8, 5, 1, 100],
    "wrap": [3, -1, 9, 7, 8, 5, 1, 100],
    "zero": [3, -1, 9, 7, 8, 5, 1, 100],
}


def bounded(indices, count, mode):
    """(indices within the bounds, whether each is a zero instead); without their sign, as 32 bits."""
    wide = np.asarray(indices, np.int64) & 0xFFFFFFFF
    if mode == "clamp":
        return np.minimum(wide, count - 1), np.zeros(wide.shape, bool)
    if mode == "wrap":
        return wide % count, np.zeros(wide.shape, bool)
    return np.where(wide < count, wide, 0), wide >= count


@both
@pytest.mark.parametrize("mode", BOUNDS)
def test_rows_of_memory(tmp_path, processor, mode):
    memory = numbers(8, 32)
    indices = np.array(BOUNDS[mode], np.int32).reshape(1, 8)
    make = lambda k, x, i: k.let(tile.mgather(x, load(k, i), coalesce="row", gather_oob=mode))  # noqa: E731
    out = run(tmp_path, processor, make, memory, indices, shape=(8, 32))
    at, empty = bounded(indices.reshape(-1), 8, mode)
    np.testing.assert_array_equal(out, np.where(empty[:, None], 0, memory[at]))


def test_a_column_of_indices_is_refused(tmp_path):
    make = lambda k, x, i: k.let(tile.mgather(x, load(k, i), coalesce="row"))  # noqa: E731
    with pytest.raises(_compiler.CompileError, match="cannot have layout DN"):
        run(tmp_path, "a3", make, numbers(8, 32), np.zeros((8, 1), np.int32), shape=(8, 32))


@pytest.mark.parametrize("mode", BOUNDS)
@pytest.mark.parametrize("valid", [8, 5])
def test_a_column_of_indices_of_a5(tmp_path, mode, valid):
    memory, indices = numbers(8, 32), np.array(BOUNDS[mode], np.int32).reshape(8, 1)

    def make(k, x, i):
        return k.let(tile.fillpad(k.let(tile.mgather(x, load(k, i, valid_shape=[valid, 1]), gather_oob=mode))))

    out = run(tmp_path, "a5", make, memory, indices, shape=(8, 32))
    at, empty = bounded(indices.reshape(-1), 8, mode)
    expected = np.where(empty[:, None], 0, memory[at])
    expected[valid:] = 0
    np.testing.assert_array_equal(out, expected)


@both
@pytest.mark.parametrize("mode", BOUNDS)
def test_elements_of_memory(tmp_path, processor, mode):
    memory = numbers(8)
    indices = np.tile(np.array(BOUNDS[mode], np.int32), (2, 1))
    k = Kernel(x=tensor_of(8), i=tensor_of(2, 8, dtype=I32), z=tensor_of(2, 8))
    x, i, z = k.params
    k.store(k.let(tile.mgather(x, load(k, i), coalesce="elem", gather_oob=mode)), z)
    out = np.zeros((2, 8), np.float32)
    k.run(tmp_path, memory, indices, out, processor=processor)
    at, empty = bounded(indices, 8, mode)
    np.testing.assert_array_equal(out, np.where(empty, 0, memory[at]))


def program_of_products(mode, room, rows=False):
    """y = eye @ (elements of `memory`, gathered into Mat); the scratch is declared as nothing in particular."""
    Mat, way = pl.MemorySpace.Mat, "row" if rows else "elem"
    table, places = ([16, 16], [1, 16]) if rows else ([256], [16, 16])

    @pl.program
    class Gathered:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            self,
            memory: pl.Tensor[table, pl.FP16],
            indices: pl.Tensor[places, pl.INT32],
            scratch: pl.Tensor[[room], pl.FP16],
            eye: pl.Tensor[[16, 16], pl.FP16],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ) -> pl.Tensor[[16, 16], pl.FP32]:
            right = pl.tile.mgather(memory, indices, coalesce=way, gather_oob=mode, target_memory=Mat, scratch=scratch)
            product = pl.matmul(pl.load(eye, [0, 0], [16, 16], target_memory=Mat), right)
            whole = pl.tile.slice(product, [16, 16], [0, 0])
            return pl.store(whole, [0, 0], y)

        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            memory: pl.Tensor[table, pl.FP16],
            indices: pl.Tensor[places, pl.INT32],
            scratch: pl.Tensor[[room], pl.FP16],
            eye: pl.Tensor[[16, 16], pl.FP16],
            y: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
        ) -> pl.Tensor[[16, 16], pl.FP32]:
            return self.kernel(memory, indices, scratch, eye, y)

    return Gathered


@platforms
@pytest.mark.parametrize("mode", BOUNDS)
def test_elements_as_a_factor(platform, mode):
    memory, eye = numbers(256).astype(np.float16), np.eye(16, dtype=np.float16)
    indices = np.random.default_rng(3).integers(0, 256, (16, 16)).astype(np.int32)
    if mode != "undefined":
        indices[0, :4] = [-1, 256, 300, 1000]
    y, scratch = np.zeros((16, 16), np.float32), np.zeros(260, np.float16)
    made = program_of_products(mode, 260)
    assert made.functions["main"].param_directions[2] == ir.ParamDirection.InOut  # as the kernel's, which uses it
    pypto_run(made, memory, indices, scratch, eye, y, config=RunConfig(platform=platform))
    at, empty = bounded(indices, 256, mode)
    np.testing.assert_array_equal(y, np.where(empty, 0, memory[at]))


@platforms
@pytest.mark.parametrize("mode", BOUNDS)
def test_rows_as_a_factor(platform, mode):
    memory, eye = numbers(16, 16).astype(np.float16), np.eye(16, dtype=np.float16)
    indices = np.random.default_rng(4).integers(0, 16, (1, 16)).astype(np.int32)
    if mode != "undefined":
        indices[0, :4] = [-1, 16, 300, 1000]
    y, scratch = np.zeros((16, 16), np.float32), np.zeros(1, np.float16)
    config = RunConfig(platform=platform)
    pypto_run(program_of_products(mode, 1, rows=True), memory, indices, scratch, eye, y, config=config)
    at, empty = bounded(indices[0], 16, mode)
    np.testing.assert_array_equal(y, np.where(empty[:, None], 0, memory[at]))


@platforms
def test_valid_rows_as_a_factor(platform):
    @pl.program
    class Ragged:
        @pl.function(type=pl.FunctionType.InCore)
        def main(
            self,
            memory: pl.Tensor[[40, 32], pl.FP16],
            indices: pl.Tensor[[1, 16], pl.INT32],
            eye: pl.Tensor[[16, 16], pl.FP16],
            y: pl.Out[pl.Tensor[[11, 32], pl.FP32]],
        ) -> pl.Tensor[[11, 32], pl.FP32]:
            right = pl.tile.mgather(
                memory, indices, coalesce="row", target_memory=pl.MemorySpace.Mat, valid_shape=[11, 21]
            )
            left = pl.load(eye, [0, 0], [16, 16], valid_shape=[16, 11], target_memory=pl.MemorySpace.Mat)
            return pl.store(pl.tile.slice(pl.matmul(left, right), [11, 32], [0, 0]), [0, 0], y)

    memory, eye = numbers(40, 32).astype(np.float16), np.eye(16, dtype=np.float16)
    indices = np.random.default_rng(5).integers(0, 40, (1, 16)).astype(np.int32)
    indices[0, 11:] = 1000  # nobody reads them
    y = np.zeros((11, 32), np.float32)
    pypto_run(Ragged, memory, indices, eye, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y[:, :21], memory[indices[0, :11], :21])


def test_what_mat_cannot_gather():
    with pytest.raises(ParserError, match="needs a scratch in global memory that holds all"):
        pypto_run(program_of_products("wrap", 255))


def test_only_valid_rows_are_gathered(tmp_path):
    memory, indices = numbers(8, 32), np.array([[7, 6, 5, 99, 99, 99, 99, 99]], np.int32)

    def make(k, x, i):
        held = load(k, i, valid_shape=[1, 3])
        return k.let(tile.fillpad(k.let(tile.mgather(x, held, coalesce="row"))))

    out = run(tmp_path, "a3", make, memory, indices, shape=(8, 32))
    np.testing.assert_array_equal(out[:3], memory[[7, 6, 5]])
    assert not out[3:].any()


def test_how_memory_is_gathered_is_checked():
    k = Kernel(x=tensor_of(8, 32), i=tensor_of(1, 8, dtype=I32))
    x, i = k.params
    held = load(k, i)
    with pytest.raises(ValueError, match="coalesce is row or elem, not column"):
        tile.mgather(x, held, coalesce="column")
    with pytest.raises(ValueError, match="gather_oob is undefined, clamp, wrap or zero, not mirror"):
        tile.mgather(x, held, gather_oob="mirror")
    with pytest.raises(TypeError, match="idx must be a tile or tensor of integers"):
        tile.mgather(x, load(k, x))


@both
def test_rows_are_scattered(tmp_path, processor):
    whole, rows = numbers(16, 32), numbers(4, 32, seed=1)
    indices = np.zeros((2, 8), np.int32)
    indices[:, :2] = [[3, 9], [15, 0]]
    expected = whole.copy()
    expected[[3, 9, 15, 0]] = rows
    k = Kernel(x=tensor_of(16, 32), i=tensor_of(2, 8, dtype=I32), y=tensor_of(4, 32), z=tensor_of(16, 32))
    x, i, y, z = k.params
    k.store(k.let(tile.scatter_update(load(k, x), -2, load(k, i, valid_shape=[2, 2]), load(k, y))), z)
    out = np.zeros_like(whole)
    k.run(tmp_path, whole, indices, rows, out, processor=processor)
    np.testing.assert_array_equal(out, expected)


def scattered(tile_shape, out_shape, element, valid):
    """A kernel that writes a tile to memory, whose elements the indices count."""
    dtype = getattr(pl, element)

    @pl.program
    class Scattered:
        @pl.function(type=pl.FunctionType.InCore)
        def main(
            self,
            x: pl.Tensor[tile_shape, dtype],
            i: pl.Tensor[tile_shape, pl.INT32],
            y: pl.InOut[pl.Tensor[out_shape, dtype]],
        ):
            here = pl.load(x, [0, 0], tile_shape, valid_shape=valid)
            there = pl.load(i, [0, 0], tile_shape, valid_shape=valid)
            y = pl.mscatter(here, there, y)
            return y

    return Scattered


@platforms
@pytest.mark.parametrize("element", ["FP32", "FP16", "INT16", "INT32"])
@pytest.mark.parametrize(
    "rows, columns, out, valid", [(8, 32, (300,), None), (3, 16, (7, 9), None), (5, 32, (2, 3, 40), (4, 21))]
)
def test_elements_are_written_to_memory(platform, element, rows, columns, out, valid):
    dtype = {"FP32": np.float32, "FP16": np.float16, "INT16": np.int16, "INT32": np.int32}[element]
    rng = np.random.default_rng(rows)
    x, y = (rng.integers(-99, 99, shape).astype(dtype) for shape in ((rows, columns), out))
    i = rng.permutation(np.prod(out))[: rows * columns].astype(np.int32).reshape(rows, columns)
    i[:2, :2] = i[1, 1]  # the last one remains
    h, w = valid or (rows, columns)
    expected = y.copy()
    for place, value in zip(i[:h, :w].flat, x[:h, :w].flat, strict=True):
        expected.flat[place] = value
    i[h:], i[:, w:] = -1, -1  # nobody reads them
    made = scattered([rows, columns], list(out), element, [h, w])
    pypto_run(made, x, i, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, expected)


@platforms
@pytest.mark.parametrize(
    "lines, message",
    [
        ("pl.mscatter(t, t, y)", "mscatter needs a tile of INT32 as its indices"),
        ("pl.mscatter(i, i, y)", "mscatter needs a tensor of the tile's elements, INT32"),
        ("pl.mscatter(pl.tile.slice(t, [4, 32], [0, 0]), i, y)", "mscatter needs an index for each element"),
        ("pl.tile.mgather(pl.slice(y, [4, 4], [0, 0]), i)", "takes a tensor as the kernel gets it"),
        ("pl.mscatter(t, i, pl.slice(y, [4, 4], [0, 0]))", "takes a tensor as the kernel gets it"),
    ],
)
def test_what_cannot_be_written_to_memory(lines, message, platform):
    text = f"""\
import pypto.language as pl


@pl.program
class Scattered:
    @pl.function(type=pl.FunctionType.InCore)
    def main(
        self,
        x: pl.Tensor[[8, 32], pl.FP32],
        j: pl.Tensor[[8, 32], pl.INT32],
        y: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    ):
        t = pl.load(x, [0, 0], [8, 32])
        i = pl.load(j, [0, 0], [8, 32])
        z = {lines}
        return y
"""
    with pytest.raises(PlacedError, match=message):
        x, j, y = np.zeros((8, 32), np.float32), np.zeros((8, 32), np.int32), np.zeros((16, 16), np.float32)
        pypto_run(pl.parse_program(text), x, j, y, config=RunConfig(platform=platform))


@both
@pytest.mark.parametrize("op", ["sin", "cos"])
def test_trigonometry(tmp_path, processor, op):
    data = np.linspace(-100, 100, 16 * 32, dtype=np.float32).reshape(16, 32)
    out = run(tmp_path, processor, lambda k, x: k.let(getattr(tile, op)(load(k, x))), data, shape=(16, 32))
    np.testing.assert_allclose(out, getattr(np, op)(data.astype(np.float64)), atol=2e-6)


@platforms
def test_trigonometry_of_a_ragged_tile(tmp_path, platform):
    data = numbers(8, 32)
    make = lambda k, x: k.let(tile.fillpad(k.let(tile.sin(load(k, x, valid_shape=[5, 20])))))  # noqa: E731
    out = run(tmp_path, {"a2a3": "a3", "a5": "a5"}[platform], make, data, shape=(8, 32))
    expected = np.zeros_like(data)
    expected[:5, :20] = np.sin(data[:5, :20].astype(np.float64))
    np.testing.assert_allclose(out, expected, atol=2e-6)


@pl.jit
def picked(x: pl.Tensor, i: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.gather(x, dim=-1, index=i)
    return y


@pl.jit
def put(x: pl.Tensor, i: pl.Tensor, v: pl.Tensor, y: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[:] = pl.scatter(x, dim=-1, index=i, src=v)
    return y


@platforms
def test_elements_of_each_row(platform):
    x, i = numbers(8, 64), np.random.default_rng(2).integers(0, 64, (8, 32)).astype(np.int32)
    y = np.zeros((8, 32), np.float32)
    picked(x, i, y, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, np.take_along_axis(x, i.astype(np.int64), 1))


@platforms
def test_elements_are_put_into_each_row(platform):
    rng = np.random.default_rng(3)
    x, v = numbers(8, 64), numbers(8, 32, seed=1)
    i = np.stack([rng.permutation(64)[:32] for _ in range(8)]).astype(np.int32)
    y, expected = np.zeros_like(x), x.copy()
    put(x, i, v, y, config=RunConfig(platform=platform))
    np.put_along_axis(expected, i.astype(np.int64), v, 1)
    np.testing.assert_array_equal(y, expected)


@pl.jit
def less(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor], above: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.cmp(x, y, cmp_type=2)
        above[:] = pl.cmps(x, 0.5, cmp_type=4)
    return out, above


@platforms
def test_comparisons_of_tensors_are_numbers(platform):
    x, y = numbers(8, 64), numbers(8, 64, seed=1)
    out, above = np.zeros_like(x), np.zeros_like(x)
    less(x, y, out, above, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(out, (x < y).astype(np.float32))
    np.testing.assert_array_equal(above, (x > 0.5).astype(np.float32))


@both
@pytest.mark.parametrize("name, expect", [("part_add", np.add), ("part_max", np.maximum)])
def test_parts_are_valid_where_either_operand_is(tmp_path, processor, name, expect):
    x, y = numbers(8, 32), numbers(8, 32, seed=1)

    def make(k, a, b):
        return k.let(tile.fillpad(k.let(getattr(tile, name)(load(k, a, valid_shape=[8, 20]), load(k, b)))))

    out = run(tmp_path, processor, make, x, y, shape=(8, 32))
    expected = y.copy()
    expected[:, :20] = expect(x, y)[:, :20]
    np.testing.assert_array_equal(out, expected)


@both
@pytest.mark.parametrize("valid", [(8, 32), (5, 32), (8, 20), (5, 20)])
def test_scratch_of_a_ragged_row_reduction(tmp_path, processor, valid):
    data = numbers(8, 32)

    def make(k, x):
        scratch = k.let(tile.create([8, 32], F32))
        return k.let(tile.row_argmax(load(k, x, valid_shape=list(valid)), scratch))

    k = Kernel(x=tensor_of(8, 32), z=tensor_of(8, 1, dtype=I32))
    x, z = k.params
    k.store(make(k, x), z)
    out = np.full((8, 1), -1, np.int32)
    k.run(tmp_path, data, out, processor=processor)
    expected = np.full((8, 1), -1, np.int32)
    expected[: valid[0], 0] = data[: valid[0], : valid[1]].argmax(1)
    np.testing.assert_array_equal(out, expected)


@pl.program
class Undecided:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, x: pl.Tensor[[8, 32], pl.FP32], y: pl.Out[pl.Tensor[[8, 32], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.assemble(y, pl.abs(x), [0, 0])
        return y


def test_a_function_of_no_kind_with_scopes_is_an_orchestrator(tmp_path):
    from pypto import ir

    assert ir.with_orchestrators(Undecided).functions["main"].func_type == ir.FunctionType.Orchestration
    x, y = numbers(8, 32), np.zeros((8, 32), np.float32)
    compiled = ir.compile(Undecided, tmp_path / "out")
    compiled(x, y)
    assert not compiled.left_out and (tmp_path / "out/orchestration/main.cpp").exists()
    np.testing.assert_array_equal(y, np.abs(x))


@platforms
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_gathers_by_indices_of_16_bits(platform, dtype):
    @pl.jit
    def gathered(x: pl.Tensor, index: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            y = pl.assemble(y, pl.tensor.gather(x, dim=-1, index=index), [0, 0])
            whole, at = pl.load(x, [0, 0], [4, 64]), pl.load(index, [0, 0], [4, 32])
            z = pl.store(pl.tile.gather(whole, at, pl.tile.create([4, 32], pl.INT32)), [0, 0], z)
        return y, z

    made = np.random.default_rng(0)
    x, index = made.standard_normal((4, 64)).astype(dtype), made.integers(0, 64, (4, 32)).astype(np.int16)
    y, z = np.zeros((4, 32), dtype), np.zeros((4, 32), dtype)
    gathered(x, index, y, z, config=RunConfig(platform=platform))
    np.testing.assert_array_equal(y, np.take_along_axis(x, index.astype(np.int64), 1))
    np.testing.assert_array_equal(z, x.reshape(-1)[index])
