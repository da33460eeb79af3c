"""`pto-compile x.pto -o x.py`: kernels as PyPTO programs, which compile to the same commands."""

import re
import subprocess
import sys

import numpy as np
import pypto.language as pl
import pytest
from conftest import ROOT
from pto_mlir.runtime import Kernel
from pypto.ir.compiled_program import compile_to

BIN = ROOT / "build" / "bin"


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        t = pl.load(a0, [0, 0], [64, 32])
        t = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        pl.store(pl.row_expand_div(t, pl.row_sum(t)), [0, 0], a1)


@pl.program
class Walk:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Scalar[pl.INDEX], a2: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        for i in pl.range(a1):
            t = pl.load(a0, [i * 16, 0], [16, 32])
            pl.store(pl.mul(t, 2.0), [i * 16, 0], a2)


@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 32], pl.FP32], a1: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.full([16, 32], dtype=pl.FP32, value=1.0)
        for i in pl.range(4):
            t = pl.add(t, pl.load(a0, [i * 16, 0], [16, 32]))
        pl.store(t, [0, 0], a1)


@pl.program
class Ragged:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[60, 32], pl.FP32], a1: pl.Out[pl.Tensor[[60, 32], pl.FP32]]):
        t = pl.load(a0, [0, 0], [64, 32], valid_shape=[50, 30])
        h = pl.cast(t, pl.FP16, mode="floor")
        pl.store(pl.cast(h, pl.FP32), [0, 0], a1)


@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[64, 64], pl.FP16], a1: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        a = pl.load(a0, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        t = pl.matmul(pl.move(a, pl.Mem.Left), pl.move(a, pl.Mem.Right))
        for _ in pl.range(3):
            t = pl.matmul_acc(t, pl.move(a, pl.Mem.Left), pl.move(a, pl.Mem.Right))
        pl.store(t, [0, 0], a1)


def raised(source, target):
    return subprocess.run([BIN / "pto-compile", source, "-o", target], capture_output=True, text=True)


def commands(program, folder, name):
    """The streams of a program's kernel, without the places that they come from."""
    compile_to(program, folder / f"{name}.pmodel", "a3")
    done = subprocess.run([BIN / "pmodel_tool", "--disasm", folder / f"{name}.pmodel"], capture_output=True, text=True)
    assert done.returncode == 0 and "tload" in done.stdout
    text = done.stdout.replace(program.name, "Kernels")
    return re.sub(r"(\S+\.py:|\S+:)\d+(:\d+)?|// .*|; .*", "", text)


@pytest.mark.parametrize("program", [Softmax, Walk, Sum, Ragged, Product], ids=lambda each: each.name)
def test_a_kernel_that_comes_back_has_the_same_commands(program, tmp_path):
    compile_to(program, tmp_path / "k.pto", "a3")
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 0, done.stderr
    back = pl.loads_program(tmp_path / "k.py")
    assert commands(back, tmp_path, "back") == commands(program, tmp_path, "first")


def test_the_packages_command_prints_programs_too(tmp_path):
    (tmp_path / "k.pto").write_text(HAND_WRITTEN)
    code = "from pto_mlir.tools.native import pto_compile; pto_compile()"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "k.pto", "-o", tmp_path / "k.py"])
    assert done.returncode == 0 and "pl.tile.row_max(" in (tmp_path / "k.py").read_text()


HAND_WRITTEN = """!t = !pto.tile_buf<vec, 32x64xf32>
!r = !pto.tile_buf<vec, 32x1xf32, blayout=col_major>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 5.0e-01 : f32
  %xv = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<64x64xf32>
  %yv = pto.make_tensor_view %y, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<64x64xf32>
  %t = pto.alloc_tile : !t
  %s = pto.alloc_tile : !t
  %m = pto.alloc_tile : !r
  scf.for %i = %c0 to %c2 step %c1 {
    %row = arith.muli %i, %c32 : index
    %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c32, %c64]
        : !pto.tensor_view<64x64xf32> -> !pto.partition_tensor_view<32x64xf32>
    %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c32, %c64]
        : !pto.tensor_view<64x64xf32> -> !pto.partition_tensor_view<32x64xf32>
    pto.tload ins(%xp : !pto.partition_tensor_view<32x64xf32>) outs(%t : !t)
    pto.trowmax ins(%t, %s : !t, !t) outs(%m : !r)
    pto.trowexpandsub ins(%t, %m : !t, !r) outs(%t : !t)
    pto.tmuls ins(%t, %half : !t, f32) outs(%t : !t)
    pto.tstore ins(%t : !t) outs(%yp : !pto.partition_tensor_view<32x64xf32>)
  }
  return
}
"""


def test_a_hand_written_kernel_computes_the_same_in_its_buffers(tmp_path):
    (tmp_path / "k.pto").write_text(HAND_WRITTEN)
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 0, done.stderr
    compile_to(pl.loads_program(tmp_path / "k.py"), tmp_path / "k.pmodel", "a3")
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    y = np.zeros_like(x)
    Kernel(tmp_path / "k.pmodel").run(x, y)
    np.testing.assert_allclose(y, (x - x.max(1, keepdims=True)) * 0.5, rtol=1e-6)


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "outs(%yp : !pto.partition_tensor_view<32x64xf32>)",
            "outs(%yp : !pto.partition_tensor_view<32x64xf32>) {atomicType = #pto<atomic_type atomic_add>}",
            "'pto.tstore' op says atomicType, for which PyPTO's tile.store has no keyword",
        ),
        ("@k(", '@"a.b"(', "has a name that is none in Python"),
        ("  return", "  pto.barrier <PIPE_ALL>\n  return", "'pto.barrier' op has no name in PyPTO"),
        (
            "    pto.tload ins(%xp : !pto.partition_tensor_view<32x64xf32>) outs(%t : !t)\n",
            "",
            "reads a tile that nothing",
        ),
        ("strides = [%c64, %c1]", "strides = [%c1, %c64]", "is no view of the whole argument in row-major order"),
        ("  return", "  %p = pto.addptr %x, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>\n  return", "uses a pointer in a way"),
    ],
)
def test_what_has_no_form_is_one_error_that_names_the_op(old, new, message, tmp_path):
    (tmp_path / "k.pto").write_text(HAND_WRITTEN.replace(old, new, 1))
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 1 and not (tmp_path / "k.py").exists()
    assert done.stderr.count("\n") == 1 and re.search(r"k\.pto:\d+:\d+: ", done.stderr), done.stderr
    assert message in done.stderr, done.stderr
