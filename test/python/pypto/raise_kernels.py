"""Kernels of PTO text as programs: `pto-compile k.pto -o k.py`, and what that compiles to."""

import subprocess

import pypto.language as pl
from conftest import ROOT
from pto_mlir.runtime import Kernel
from pypto.ir.compiled_program import compile_to

BIN = ROOT / "build" / "bin"


def raised(source, target):
    return subprocess.run([BIN / "pto-compile", source, "-o", target], capture_output=True, text=True)


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


def raised_kernel(text, folder):
    (folder / "k.pto").write_text(text)
    done = raised(folder / "k.pto", folder / "k.py")
    assert done.returncode == 0, done.stderr
    compile_to(pl.loads_program(folder / "k.py"), folder / "k.pmodel", "a3")
    return Kernel(folder / "k.pmodel"), (folder / "k.py").read_text()
