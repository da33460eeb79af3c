"""Programs as PyTorch source. Numbers of an interpreter that has torch (Debian's) against numpy here."""

import subprocess

import numpy as np
import pypto.language as pl
import pytest
from pypto.debug import torch_codegen
from pypto.language.parser.diagnostics import UnsupportedFeatureError
from test_pypto_groups import finished_product, numbers, two_queues

PYTHON = "/usr/bin/python3"
HAS_TORCH = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="no interpreter with torch")


SERVER = """
import sys, traceback
import numpy, torch
for folder in map(str.strip, sys.stdin):
    try:
        names, held = {}, numpy.load(f"{folder}/in.npz")
        exec(open(f"{folder}/code.py").read(), names)
        tensors = [torch.from_numpy(held[f"arr_{i}"].copy()) for i in range(len(held.files))]
        names["main"](*tensors)
        numpy.savez(f"{folder}/out.npz", *[each.numpy() for each in tensors])
        print("done", flush=True)
    except Exception:
        print(repr(traceback.format_exc()), flush=True)
"""


@pytest.fixture(scope="module")
def server():
    """One process with torch for all sources: its import takes longer than they do."""
    with subprocess.Popen([PYTHON, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, tmp_path):
    """Calls `main` of a program's source with copies of arrays, and gives them as it leaves them."""

    def call(program, *arrays):
        (tmp_path / "code.py").write_text(torch_codegen(program, check_shapes=True))
        np.savez(tmp_path / "in.npz", *arrays)
        server.stdin.write(f"{tmp_path}\n")
        server.stdin.flush()
        said = server.stdout.readline().strip()
        assert said == "done", said
        held = np.load(tmp_path / "out.npz")
        return [held[f"arr_{i}"] for i in range(len(arrays))]

    return call


@pl.program
class Tiles:
    """Loads past the end, valid extents, reductions over them, fills, casts, branches and loops."""

    @pl.function(type=pl.FunctionType.InCore)
    def softmax(
        self, x: pl.Tensor[[50, 30], pl.FP32], row: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[50, 30], pl.FP32]]
    ) -> pl.Tensor[[50, 30], pl.FP32]:
        rows = pl.min(50 - row, 16)
        t = pl.load(x, [row, 0], [16, 32], valid_shape=[rows, 30])
        top = pl.row_max(t)
        e = pl.exp(pl.row_expand_sub(t, top))
        y = pl.store(pl.row_expand_div(e, pl.row_sum(e)), [row, 0], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.Tensor[[50, 30], pl.FP32],
        z: pl.Tensor[[16, 64], pl.FP16],
        y: pl.Out[pl.Tensor[[50, 30], pl.FP32]],
        q: pl.Out[pl.Tensor[[16, 64], pl.INT32]],
    ) -> pl.Tensor[[50, 30], pl.FP32]:
        for i in pl.range(4):
            y = self.softmax(x, i * 16, y)
        with pl.at(level=pl.Level.CORE_GROUP):
            whole = pl.fillpad(pl.load(z, [8, 0], [16, 64]), pad_value=pl.PadValue.max)
            n = pl.const(0, pl.INDEX)
            while n < 3:
                n = n + 1
            if n == 3:
                scaled = pl.mul(pl.cast(whole, pl.FP32), 4.0)
            else:
                scaled = pl.cast(whole, pl.FP32)
            q = pl.store(pl.cast(pl.minimum(scaled, 100.0), pl.INT32, mode="floor"), [0, 0], q)
        return y


@needs_torch
def test_kernels_of_tiles(run):
    x, z = numbers(50, 30), numbers(16, 64, seed=1, dtype=np.float16)
    _, _, y, q = run(Tiles, x, z, np.zeros_like(x), np.zeros(z.shape, np.int32))
    e = np.exp(x - x.max(1, keepdims=True).astype(np.float64))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(q[:8], np.floor(np.minimum(z[8:].astype(np.float32) * 4, 100)))
    assert (q[8:] == 100).all()


@pl.program
class Tensors:
    """Products, transposed operands, views, a loop that carries a tensor, blocks."""

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[32, 48], pl.FP16],
        b: pl.Tensor[[64, 48], pl.FP16],
        out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
        sums: pl.Out[pl.Tensor[[4, 64], pl.FP32]],
    ):
        with pl.at(level=pl.Level.CORE_GROUP):
            out = pl.assemble(out, pl.relu(pl.matmul(a, b, b_trans=True, out_dtype=pl.FP32)), [0, 0])
        for block in pl.spmd(4):
            acc = pl.full([1, 64], dtype=pl.FP32, value=0.5)
            for i in pl.range(8):
                acc = pl.add(acc, out[block * 8 + i : block * 8 + i + 1, :])
            sums[block : block + 1, :] = acc


@needs_torch
def test_kernels_of_tensors(run):
    a, b = numbers(32, 48, dtype=np.float16), numbers(64, 48, seed=1, dtype=np.float16)
    zeros = np.zeros((32, 64), np.float32), np.zeros((4, 64), np.float32)
    _, _, out, sums = run(Tensors, a, b, *zeros)
    expected = np.maximum(a.astype(np.float64) @ b.T.astype(np.float64), 0)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(sums, expected.reshape(4, 8, 64).sum(1) + 0.5, rtol=1e-4, atol=1e-3)


@needs_torch
@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("lanes", [False, True])
def test_groups_run_at_once(run, mode, lanes):
    x, w = numbers(48, 32, dtype=np.float16), numbers(32, 64, seed=1, dtype=np.float16)
    counts = np.array([16, 16, 16] if lanes else [16, 5, 1], np.int64)
    program = finished_product(16, 64, mode, lanes)
    *_, y = run(program, x, w, counts, np.full((48, 64), -7, np.float32))
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0) + 1
    for i, count in enumerate(counts):
        expected[i * 16 + count : (i + 1) * 16] = -7
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


@needs_torch
def test_queues_by_id(run):
    a, b = numbers(16, 16), numbers(16, 16, seed=1)
    *_, y = run(two_queues(), a, b, np.zeros_like(a))
    t = (a + b).astype(np.float64) @ (a - b)
    np.testing.assert_allclose(y, (t + b) @ (t - b), rtol=1e-3, atol=1e-2)


def test_what_has_no_form():
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def k(self, x: pl.Tensor[[1, 32], pl.FP32], y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
            t = pl.load(x, [0, 0], [1, 32])
            i = pl.arange(0, [1, 32], dtype=pl.UINT32)
            y = pl.store(pl.sort32(t, i), [0, 0], y)

    with pytest.raises(UnsupportedFeatureError) as error:
        torch_codegen(P)
    assert "torch_codegen has no form of tile.sort32 yet" in str(error.value)
    assert "test_pypto_torch.py:" in str(error.value)
    with pytest.raises(TypeError, match="torch_codegen takes a Program or a Function, not int"):
        torch_codegen(3)


def test_names_of_variables_hide_no_operation():
    @pl.function
    def k(x: pl.Tensor[[8, 16], pl.FP32], y: pl.Out[pl.Tensor[[8, 16], pl.FP32]]):
        add = pl.add(pl.load(x, [0, 0], [8, 16]), 1.0)
        y = pl.store(pl.add(add, add), [0, 0], y)

    assert "add_1 = " in torch_codegen(k)
