"""Programs as they are compiled: scopes as functions, and kernels of both kinds of core as groups with queues."""

import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pypto.language as pl
import pytest
from pypto import ir
from pypto.backend import BackendType, output_tree, reset_for_testing, set_backend_type
from pypto.backend.pto_backend import PartialCodegenError
from pypto.ir import pto_codegen
from pypto.ir.compiled_program import CompiledProgram
from pypto.ir.pass_manager import PassManager
from pypto.language.parser.diagnostics import ParserError
from pypto.runtime import RunConfig
from pypto.runtime.orchestration import OrchestrationTree
from test_pypto_parts import numbers

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))

from task_programs import Sums  # noqa: E402

Kind = ir.FunctionType
M, K, N, BLOCK = 32, 64, 256, 64


@pytest.fixture(params=[BackendType.Ascend910B, BackendType.Ascend950], ids=["a3", "a5"])
def backend(request):
    set_backend_type(request.param)
    yield request.param
    reset_for_testing()


def expanded(program):
    made = PassManager.get_strategy().run_passes(program)
    assert ir.structural_equal(pl.parse_program(ir.python_print(made)), made)
    return made


def kinds(program):
    return {each.name: each.func_type for each in program.functions.values()}


def run(program, backend, *arrays):
    platform = "a5sim" if backend == BackendType.Ascend950 else "a2a3sim"
    CompiledProgram(program, RunConfig(platform=platform))(*arrays)


@pl.program
class Both:
    """There and back in a loop, into the tensor that the loop reads."""

    @pl.function
    def main(
        self,
        a: pl.Tensor[[M, K], pl.FP32],
        b: pl.Tensor[[K, N], pl.FP32],
        c: pl.InOut[pl.Tensor[[M, N], pl.FP32]],
    ) -> pl.Tensor[[M, N], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            for i in pl.range(0, N // BLOCK):
                at = i * BLOCK
                held = pl.slice(c, [M, BLOCK], [0, at])
                next = pl.add(held, pl.matmul(pl.add(a, 1.0), pl.slice(b, [K, BLOCK], [0, at])))
                c = pl.assemble(c, next, [0, at])
        return c


@pl.program
class Lanes:
    """Each vector core has its half of a product, which the cube core multiplies again."""

    @pl.function
    def main(
        self,
        a: pl.Tensor[[64, 32], pl.FP32],
        b: pl.Tensor[[32, 64], pl.FP32],
        v: pl.Tensor[[64, 32], pl.FP32],
        y: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
        halves: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
    ):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="lanes"):
            left = pl.load(a, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
            right = pl.load(b, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
            product = pl.matmul(pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right))
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                half = pl.mul(pl.aiv_shard(product), 2.0)
                halves = pl.store(half, [lane * 32, 0], halves)
                whole = pl.aic_gather(half)
            last = pl.load(v, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
            y = pl.store(
                pl.matmul(pl.move(whole, target_memory=pl.Mem.Left), pl.move(last, target_memory=pl.Mem.Right)),
                [0, 0],
                y,
            )
        return y, halves


@pl.program
class Carried:
    """Kernels of type InCore: sums over a loop on both kinds of core, a branch, a product behind the loop."""

    @pl.function(type=pl.FunctionType.InCore)
    def sums(
        self,
        x: pl.Tensor[[16, 128], pl.FP16],
        w: pl.Tensor[[128, 64], pl.FP16],
        u: pl.Tensor[[64, 32], pl.FP16],
        from_row: pl.Scalar[pl.INDEX],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        sum = pl.full([16, 64], dtype=pl.FP32, value=1.0)
        for k in pl.range(4):
            at = k * 32
            part = pl.matmul(pl.slice(x, [16, 32], [0, at]), pl.slice(w, [32, 64], [at, 0]))
            if k == 0:
                sum = pl.add(sum, pl.cast(part, target_type=pl.FP32))
            else:
                sum = pl.sub(sum, pl.cast(part, target_type=pl.FP32))
        y = pl.assemble(y, pl.matmul(pl.cast(sum, target_type=pl.FP16), u, out_dtype=pl.FP32), [from_row, 0])
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def twice(
        self, x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        y = pl.assemble(y, pl.add(x, x), [0, 0])
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[16, 128], pl.FP16],
        w: pl.Tensor[[128, 64], pl.FP16],
        u: pl.Tensor[[64, 32], pl.FP16],
        y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        held = pl.create_tensor([32, 32], dtype=pl.FP32)
        for i in pl.range(2):
            held = self.sums(x, w, u, i * 16, held)
        y = self.twice(held, y)
        return y


def check(out, expected):
    np.testing.assert_allclose(out, expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())


def test_vector_to_cube(backend):
    made = expanded(Sums)
    assert kinds(made) == {"sums_aic": Kind.AIC, "sums_aiv": Kind.AIV, "sums": Kind.Group, "main": Kind.Orchestration}
    a, b = numbers(32, 32), numbers(32, 32, seed=1)
    outputs = [np.zeros((32, 32), np.float32) for _ in range(2)]
    for program, y in zip((made, Sums), outputs):
        run(program, backend, a, b, y)
        check(y, (a.astype(np.float64) + b) @ (a.astype(np.float64) - b))
    assert (outputs[0] == outputs[1]).all()


def test_both_ways_in_a_loop(backend):
    a, b, c = numbers(M, K), numbers(K, N, seed=1), numbers(M, N, seed=2)
    expected = c + (a.astype(np.float64) + 1) @ b
    run(expanded(Both), backend, a, b, c)
    check(c, expected)


def test_lanes(backend):
    made = expanded(Lanes)
    vector = made.get_function("lanes_aiv")
    assert vector.func_type == Kind.AIV and vector.attrs["split_aiv"] is True
    assert vector.attrs["split"] == ir.SplitMode.UP_DOWN
    for name, op in ("lanes_aic", "tpush_to_aiv"), ("lanes_aiv", "tpush_to_aic"):
        text = ir.python_print(made.get_function(name))
        assert f"pl.tile.{op}(" in text and "split=1" in text
        assert "aiv_shard" not in text and "aic_gather" not in text
    a, b, v = numbers(64, 32), numbers(32, 64, seed=1), numbers(64, 32, seed=2)
    y, halves = np.zeros((64, 32), np.float32), np.zeros((64, 64), np.float32)
    run(made, backend, a, b, v, y, halves)
    product = 2 * (a.astype(np.float64) @ b)
    check(halves, product)
    check(y, product @ v)


def test_kernels_of_an_orchestrator(backend):
    made = expanded(Carried)
    assert kinds(made) == {
        "sums_aic": Kind.AIC, "sums_aiv": Kind.AIV, "sums": Kind.Group, "twice": Kind.AIV, "main": Kind.Orchestration,
    }  # fmt: skip
    shapes = (16, 128), (128, 64), (64, 32)
    x, w, u = ((numbers(*shape, seed=seed) / 50).astype(np.float16) for seed, shape in enumerate(shapes))
    y = np.zeros((32, 32), np.float32)
    run(made, backend, x, w, u, y)
    parts = [x[:, at : at + 32].astype(np.float64) @ w[at : at + 32].astype(np.float64) for at in range(0, 128, 32)]
    expected = 2 * ((1 + parts[0] - parts[1] - parts[2] - parts[3]) @ u.astype(np.float64))
    check(y, np.concatenate([expected, expected]))


def test_one_kind_of_core_is_no_group():
    @pl.jit
    def scale(x: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scale"):
            y[:] = pl.mul(x, 3.0)
        return y

    made = expanded(scale.lower(numbers(16, 32), np.zeros((16, 32), np.float32)))
    assert {each.func_type for each in made.functions.values()} == {Kind.AIV, Kind.Orchestration}


def lanes_of(rows, valid, mode=pl.SplitMode.UP_DOWN, columns=32):
    """exp(a @ w^T) by halves, of a box of `rows` of which `valid` are there; into y as far as it goes."""
    half = [(rows + 1) // 2, 32] if mode == pl.SplitMode.UP_DOWN else [rows, 16]
    down, right = (half[0], 0) if mode == pl.SplitMode.UP_DOWN else (0, half[1])

    @pl.jit
    def halves(a: pl.Tensor, w: pl.Tensor, y: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="parts"):
            some = pl.slice(a, [rows, 64], [0, 0], valid_shape=[valid, 64])
            acc = pl.matmul(some, pl.slice(w, [32, 64], [0, 0], valid_shape=[columns, 64]), b_trans=True)
            for lane in pl.split_aiv(2, mode=mode):
                part = pl.exp(pl.aiv_shard(acc))
                y[lane * down : lane * down + half[0], lane * right : lane * right + half[1]] = part
        return y

    arrays = numbers(valid, 64) / 64, numbers(columns, 64, seed=1) / 64, np.zeros((rows, 32), np.float32)
    return halves, arrays


@pytest.mark.parametrize(
    "rows, valid, code", [(16, 16, 1), (16, 15, 3), (16, 5, 1), (16, 8, 1), (16, 1, 1), (17, 17, 3)]
)
def test_parts_of_what_is_valid(rows, valid, code):
    """The second core begins behind the first one's half; what it has may be one row less, or nothing."""
    parts, (a, w, y) = lanes_of(rows, valid)
    made = expanded(parts.lower(a, w, y))
    for core, op in ("aic", "tpush_to_aiv"), ("aiv", "tpop_from_aic"), ("aiv", "tfree_to_aic"):
        text = ir.python_print(made.get_function(f"parts_{core}"))
        assert f"pl.tile.{op}(" in text and f"split={code}" in text
    assert ("if " in ir.python_print(made.get_function("parts_aiv"))) == (valid <= 8)
    run(made, BackendType.Ascend910B, a, w, y)
    check(y[:valid], np.exp(a.astype(np.float64) @ w.T))
    assert not y[valid:].any()


@pytest.mark.parametrize(
    "rows, valid, mode, columns, message",
    [
        (16, 13, pl.SplitMode.UP_DOWN, 32, "leaves the two AIV lanes 8 and 5 cells"),
        (16, 5, pl.SplitMode.UP_DOWN, 20, "a per-lane row extent (5 of 16)"),
        (16, 16, pl.SplitMode.LEFT_RIGHT, 20, "valid column extent (20 of 32)"),
    ],
)
def test_parts_that_no_queue_divides(rows, valid, mode, columns, message):
    """`lower` says so; a run takes memory instead of a queue."""
    parts, (a, w, y) = lanes_of(rows, valid, mode, columns)
    with pytest.raises(ValueError) as error:
        parts.lower(a, w, y)
    assert message in str(error.value) and "set_validshape" in str(error.value)
    parts(a, w, y)
    check(y[:valid, :columns], np.exp(a.astype(np.float64) @ w.T))
    assert not y[valid:].any() and not y[:, columns:].any()


@pytest.mark.parametrize("rows, valid", [(17, 17), (16, 5)])
def test_no_uneven_parts_from_core_to_core(rows, valid):
    parts, (a, w, y) = lanes_of(rows, valid)
    set_backend_type(BackendType.Ascend950)
    try:
        made = expanded(parts.program(parts.values((a, w, y), {})))
        with pytest.raises(ParserError, match="a5 divides whole tiles in equal halves there"):
            run(made, BackendType.Ascend950, a, w, y)
    finally:
        reset_for_testing()


def test_parts_that_do_not_join():
    @pl.jit
    def joined(x: pl.Tensor, q: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                part = pl.slice(x, [8, 64], [lane * 8, 0], valid_shape=[5, 64])
                whole = pl.aic_gather(part)
            y[:] = pl.matmul(q, whole, b_trans=True)
        return y

    arrays = numbers(16, 64), numbers(16, 64), np.zeros((16, 16), np.float32)
    for call in joined.lower, joined:
        with pytest.raises(
            ValueError, match=r"re-joins the two lanes positionally, but each holds a part only \(5 of 8\)"
        ):
            call(*arrays)


def test_text_of_the_public_generator(tmp_path):
    """`codegen_only` writes the output tree, with names and spaces as the public generator has them."""
    parts, arrays = lanes_of(16, 15)
    parts(*arrays, config=RunConfig(codegen_only=True, save_kernels=True, save_kernels_dir=str(tmp_path)))
    text = (tmp_path / "ptoas" / "parts.pto").read_text()
    assert re.search(r"pto.tpush_to_aiv\(.*\) \{split = 3\}", text) and "pto.tfree_from_aic {split = 3}" in text
    assert re.search(r"pto.tpop_from_aic\(%\w+, %c32_index\) \{split = 3\}", text)
    assert "%c15_index = arith.constant 15 : index" in text and not arrays[2].any()


def halved(rows, valid, mode=pl.SplitMode.UP_DOWN):
    """Products under pl.split: exp of one, scaled by a row, and multiplied again by the cube core."""

    @pl.jit
    def kernel(
        a: pl.Tensor, w: pl.Tensor, bias: pl.Tensor, v: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.InOut[pl.Tensor]
    ):
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(mode)], name_hint="half"):
            acc = pl.matmul(pl.slice(a, [rows, 64], [0, 0], valid_shape=[valid, 64]), w, b_trans=True)
            grown = pl.exp(acc)
            y = pl.assemble(y, pl.mul(grown, bias), [0, 0])
            if valid == rows:
                z = pl.assemble(z, pl.matmul(grown, v), [0, 0])
            else:
                z = pl.assemble(z, pl.matmul(w[0:16, :], w[0:16, :], b_trans=True), [0, 0])
        return y, z

    shapes = (valid, 64), (32, 64), (1, 32), (32, 16)
    inputs = [numbers(*shape, seed=seed) / 64 for seed, shape in enumerate(shapes)]
    return kernel, [*inputs, np.zeros((rows, 32), np.float32), np.zeros((rows, 16), np.float32)]


@pytest.mark.parametrize(
    "rows, valid, mode, transport",
    [
        (16, 16, pl.SplitMode.UP_DOWN, "split=1"),
        (16, 15, pl.SplitMode.UP_DOWN, "split=3"),
        (16, 13, pl.SplitMode.UP_DOWN, "split=3, lane_stride=7"),
        (16, 12, pl.SplitMode.UP_DOWN, "split=1, lane_stride=6"),
        (16, 6, pl.SplitMode.UP_DOWN, "split=1"),
        (16, 16, pl.SplitMode.LEFT_RIGHT, ""),  # a row of bias would be divided, too
    ],
)
def test_halves_under_pl_split(rows, valid, mode, transport):
    """Each vector core computes a half, or of a deep tail an equal part; what needs the whole stays whole."""
    kernel, arrays = halved(rows, valid, mode)
    made = expanded(kernel.lower(*arrays))
    text = {core: ir.python_print(made.get_function(f"half_{core}")) for core in ("aic", "aiv")}
    if transport:
        assert f"pl.tile.tpop_from_aic({transport}" in text["aiv"] and f"{transport}" in text["aic"]
        assert "subblock_idx = pl" in text["aiv"] or "subblock_idx: " in text["aiv"]
    else:
        assert "subblock" not in text["aiv"] or "split=2" in text["aiv"]
    a, w, bias, v, y, z = arrays
    run(made, BackendType.Ascend910B, *arrays)
    grown = np.exp(a.astype(np.float64) @ w.T)
    check(y[:valid], grown * bias)
    assert not y[valid:].any()
    if valid == rows:
        check(z, grown @ v)


def test_a_deep_tail_beside_a_value_of_its_own():
    @pl.jit
    def kernel(a: pl.Tensor, w: pl.Tensor, more: pl.Tensor, y: pl.InOut[pl.Tensor], z: pl.InOut[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            acc = pl.matmul(pl.slice(a, [16, 64], [0, 0], valid_shape=[13, 64]), w, b_trans=True)
            y[:] = pl.exp(acc)
            z[:] = pl.abs(more)
        return y, z

    arrays = numbers(13, 64), numbers(32, 64), numbers(16, 32), np.zeros((16, 32), np.float32)
    with pytest.raises(ValueError) as error:
        kernel.lower(*arrays, np.zeros((16, 32), np.float32))
    assert "leaves the two AIV lanes 8 and 5 cells" in str(error.value)
    assert "independently split value" in str(error.value) and "16 / 15" in str(error.value)


@pytest.mark.parametrize("statement", ["pl.col_sum(acc)", "pl.transpose(acc, 0, 1)"])
def test_what_needs_the_whole_stays_whole(statement):
    text = f"""
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="k", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            acc = pl.matmul(a, a)
            y = pl.assemble(y, {statement}, [0, 0])
        return y
"""
    made = expanded(pl.parse_program(text))
    assert "subblock" not in ir.python_print(made.get_function("k_aiv"))
    a, y = numbers(32, 32), np.zeros((32, 32), np.float32)
    run(made, BackendType.Ascend910B, a, y)
    acc = a.astype(np.float64) @ a
    check(y, acc.T) if "transpose" in statement else check(y[:1], acc.sum(axis=0, keepdims=True))


def rows_by_index(slots):
    """Each vector core takes half of the rows that a list names; the cube core multiplies them all."""

    @pl.jit
    def kernel(pool: pl.Tensor, index: pl.Tensor, q: pl.Tensor, y: pl.Out[pl.Tensor]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="rows", optimizations=[pl.cross_core_slot(slot_num=slots)]):
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                held = pl.full([64, 512], dtype=pl.BF16, value=0.0)
                for k in pl.range(64):
                    row = pl.cast(pl.read(index, [lane * 64 + k]), pl.INDEX)
                    held = pl.gather_row(held, pool, [k, 0], [row, 0], [1, 512])
                rows = pl.aic_gather(held)
            y[:] = pl.matmul(q, rows, b_trans=True, out_dtype=pl.FP32)
        return y

    index = (np.arange(128, dtype=np.int32) * 37) % 1000
    return kernel, index


def test_rows_by_index_in_a_ring_of_two_slots(backend):
    kernel, index = rows_by_index(2)
    pool, q = ((numbers(n, 512, seed=n) / 64).astype(ml_dtypes.bfloat16) for n in (1000, 16))
    program = kernel.program(kernel.values((pool, index, q, np.zeros((16, 128), np.float32)), {}))
    made = expanded(program)
    text = ir.python_print(made.get_function("rows_aic"))
    assert "slot_num=2" in text and "size=262144" in text
    assert "pl.tile.gather_row(" in ir.python_print(made.get_function("rows_aiv"))
    for each in program, made:
        y = np.zeros((16, 128), np.float32)
        run(each, backend, pool, index, q, y)
        check(y, q.astype(np.float64) @ pool.astype(np.float64)[index].T)


def test_a_ring_that_l1_does_not_hold():
    kernel, index = rows_by_index(8)
    arguments = [np.zeros((n, 512), ml_dtypes.bfloat16) for n in (1000, 16)]
    with pytest.raises(ValueError) as error:
        kernel.lower(arguments[0], index, arguments[1], np.zeros((16, 128), np.float32))
    for text in (
        "Mat buffer usage (1064960 bytes) exceeds platform limit (524288 bytes)",
        "The first 1048576 bytes of that space are reserved by system.reserve_buffer",
        "pl.cross_core_slot(slot_num=N)",
    ):
        assert text in str(error.value)


def refused(body):
    """The error of a scope with this text."""
    text = f"""
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def main(
        self, a: pl.Tensor[[32, 32], pl.FP32], n: pl.Tensor[[4], pl.INT32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            {body.strip()}
        return y
"""
    with pytest.raises(ParserError) as error:
        PassManager.get_strategy().run_passes(pl.parse_program(text))
    assert error.value.span is not None
    return str(error.value)


@pytest.mark.parametrize(
    "body, message",
    [
        (
            """
            y = pl.assemble(y, pl.exp(a), [0, 0])
            y = pl.assemble(y, pl.matmul(y, a), [0, 0])
            """,
            "is written by one kind of core and used by the other one in one kernel",
        ),
        (
            """
            p = pl.matmul(a, a)
            q = pl.exp(a)
            for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
                y[lane * 16 : lane * 16 + 16, :] = pl.aiv_shard(p)
            """,
            "a kernel with pl.split_aiv does all that its vector cores do in there",
        ),
        (
            """
            p = pl.matmul(a, a)
            for i in pl.range(4):
                q = pl.add(p, 1.0)
                p = pl.matmul(a, a)
                y = pl.assemble(y, q, [0, 0])
            """,
            "p is carried by one kind of core and read by the other one",
        ),
        (
            """
            s = pl.full([32, 32], dtype=pl.FP32, value=0.0)
            for i in pl.range(4):
                y = pl.assemble(y, pl.exp(s), [0, 0])
                s = pl.matmul(a, a)
            """,
            "s is carried by one kind of core and read by the other one",
        ),
    ],
)
def test_refused(body, message):
    assert message in refused(body)


def test_groups_in_the_output_tree(backend, tmp_path):
    """A task of both kinds of core in the orchestration, which runs on the task runtime."""
    processor = "a5" if backend == BackendType.Ascend950 else "a3"
    files, left_out = output_tree.tree_files(expanded(Both), today=True, processor=processor)
    assert not left_out
    assert "MixedKernels kernels_t0 = {0, 1, 1};" in files["orchestration/main.cpp"]
    for core, direction in ("aic", "DIR_V2C"), ("aiv", "DIR_C2V"):
        text = files[f"kernels/{core}/main_incore_0_{core}.cpp"]
        assert "TPipe<0, Direction::DIR_V2C, " in text and f"Direction::{direction}" in text
        assert f"    main_incore_0_{core}(" in text
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    a, b, c = numbers(M, K), numbers(K, N, seed=1), numbers(M, N, seed=2)
    expected = c + (a.astype(np.float64) + 1) @ b
    OrchestrationTree(tmp_path, processor)(a, b, c)
    check(c, expected)


def test_groups_need_calls_of_today(tmp_path):
    files, left_out = output_tree.tree_files(expanded(Sums), today=False)
    assert "choose today's back end" in left_out["orchestration"] and "orchestration/main.cpp" not in files
    with pytest.raises(PartialCodegenError):
        pto_codegen.generate(expanded(Sums), tmp_path, skip_ptoas=True)
