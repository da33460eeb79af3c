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

sys.path.insert(0, str(ROOT / "scripts"))
from compare_raised import arguments_of, compared  # noqa: E402

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


@pl.program
class Expand:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a0: pl.Tensor[[1, 32], pl.FP32], a1: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        t = pl.col_expand(pl.create_tile([16, 32], dtype=pl.FP32), pl.load(a0, [0, 0], [1, 32]))
        pl.store(pl.add(t, pl.exp(t)), [0, 0], a1)


def raised(source, target):
    return subprocess.run([BIN / "pto-compile", source, "-o", target], capture_output=True, text=True)


def commands(program, folder, name):
    """The streams of a program's kernel, without the places that they come from."""
    compile_to(program, folder / f"{name}.pmodel", "a3")
    done = subprocess.run([BIN / "pmodel_tool", "--disasm", folder / f"{name}.pmodel"], capture_output=True, text=True)
    assert done.returncode == 0 and "tload" in done.stdout
    text = done.stdout.replace(program.name, "Kernels")
    return re.sub(r"(\S+\.py:|\S+:)\d+(:\d+)?|// .*|; .*", "", text)


@pytest.mark.parametrize("program", [Softmax, Walk, Sum, Ragged, Product, Expand], ids=lambda each: each.name)
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


# Windows of pointers with extents known at run time: 60 columns in pieces of 16, of rows that lie 60 apart.
POINTERS = """!t = !pto.tile_buf<vec, 8x16xf32, valid=8x?>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c60 = arith.constant 60 : index
  scf.for %i = %c0 to %c60 step %c16 {
    %left = arith.subi %c60, %i : index
    %n = arith.minsi %left, %c16 : index
    %t = pto.alloc_tile valid_col = %n : !t
    %xp = pto.addptr %x, %i : !pto.ptr<f32> -> !pto.ptr<f32>
    %yp = pto.addptr %y, %i : !pto.ptr<f32> -> !pto.ptr<f32>
    %xv = pto.make_tensor_view %xp, shape = [%c8, %n], strides = [%c60, %c1] : !pto.tensor_view<8x?xf32>
    %yv = pto.make_tensor_view %yp, shape = [%c8, %n], strides = [%c60, %c1] : !pto.tensor_view<8x?xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %n]
        : !pto.tensor_view<8x?xf32> -> !pto.partition_tensor_view<8x?xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %n]
        : !pto.tensor_view<8x?xf32> -> !pto.partition_tensor_view<8x?xf32>
    pto.tload ins(%xw : !pto.partition_tensor_view<8x?xf32>) outs(%t : !t)
    pto.texp ins(%t : !t) outs(%t : !t)
    pto.tstore ins(%t : !t) outs(%yw : !pto.partition_tensor_view<8x?xf32>)
  }
  return
}
"""

# Scalars that loops and branches hand on, elements, a tile that one arm writes.
FLOW = """!t = !pto.tile_buf<vec, 8x16xf32>
func.func @k(%x: !pto.ptr<f32>, %s: !pto.ptr<i32>, %y: !pto.ptr<f32>) {
  pto.section.vector {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %five = arith.constant 5 : i32
    %two = arith.constant 2.0 : f32
    %t = pto.alloc_tile : !t
    %xv = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<8x16xf32>
    %yv = pto.make_tensor_view %y, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<8x16xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c16]
        : !pto.tensor_view<8x16xf32> -> !pto.partition_tensor_view<8x16xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c16]
        : !pto.tensor_view<8x16xf32> -> !pto.partition_tensor_view<8x16xf32>
    pto.tload ins(%xw : !pto.partition_tensor_view<8x16xf32>) outs(%t : !t)
    %n = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0) -> index {
      %e = pto.load_scalar %s[%i] : !pto.ptr<i32> -> i32
      %big = arith.cmpi sgt, %e, %five : i32
      %b = scf.if %big -> index {
        pto.tadds ins(%t, %two : !t, f32) outs(%t : !t)
        %more = arith.addi %a, %c2 : index
        scf.yield %more : index
      } else {
        scf.yield %a : index
      }
      scf.yield %b : index
    }
    %f = pto.load_scalar %x[%n] : !pto.ptr<f32> -> f32
    pto.tmuls ins(%t, %f : !t, f32) outs(%t : !t)
    pto.tstore ins(%t : !t) outs(%yw : !pto.partition_tensor_view<8x16xf32>)
  }
  return
}
"""


# Rows of a picture of 2x8 points of 8 numbers, of which each second one is read, to parts of a tile.
PARTS = """!t = !pto.tile_buf<vec, 8x16xf32, valid=8x8>
!p = !pto.tile_buf<vec, 6x16xf32, valid=?x8>
!q = !pto.tile_buf<vec, 6x16xf32, valid=6x8>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = pto.alloc_tile : !t
  pto.texpands ins(%zero : f32) outs(%t : !t)
  scf.for %i = %c0 to %c3 step %c1 {
    %back = arith.cmpi sge, %i, %c2 : index
    %top = arith.select %back, %c0, %i : index
    %p = pto.subset %t[%top, %c0] sizes [6, 16] : !t
    %r = arith.muli %top, %c8 : index
    %xp = pto.addptr %x, %r : !pto.ptr<f32> -> !pto.ptr<f32>
    %xv = pto.make_tensor_view %xp, shape = [%c2, %c3, %c8], strides = [%c64, %c16, %c1] : !pto.tensor_view<2x3x8xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0, %c0], sizes = [%c2, %c3, %c8]
        : !pto.tensor_view<2x3x8xf32> -> !pto.partition_tensor_view<2x3x8xf32>
    pto.tload ins(%xw : !pto.partition_tensor_view<2x3x8xf32>) outs(%p : !p)
    %s = pto.subset %t[%c1, %c0] sizes [6, 16] : !t
    %u = pto.alloc_tile : !q
    pto.tadds ins(%s, %zero : !q, f32) outs(%u : !q)
    %at = arith.muli %i, %c48 : index
    %yp = pto.addptr %y, %at : !pto.ptr<f32> -> !pto.ptr<f32>
    %yv = pto.make_tensor_view %yp, shape = [%c6, %c8], strides = [%c8, %c1] : !pto.tensor_view<6x8xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c6, %c8]
        : !pto.tensor_view<6x8xf32> -> !pto.partition_tensor_view<6x8xf32>
    pto.tstore ins(%u : !q) outs(%yw : !pto.partition_tensor_view<6x8xf32>)
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


def test_windows_of_pointers_are_windows_of_a_tensor(tmp_path):
    kernel, text = raised_kernel(POINTERS, tmp_path)
    assert "a0: pl.Tensor[[8, 60], pl.FP32]" in text, text
    x = np.random.default_rng(0).standard_normal((8, 60)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_loops_and_branches_hand_on_scalars_and_tiles(tmp_path):
    text = FLOW.replace("%x[%n]", "%x[%m]").replace(
        "    %f =", "    %at = arith.constant 9 : index\n    %m = arith.minsi %n, %at : index\n    %f ="
    )
    kernel, _ = raised_kernel(text, tmp_path)
    x = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    s, y = np.array([7, 5, 6, -9], np.int32), np.zeros_like(x)
    kernel.run(x, s, y)
    np.testing.assert_allclose(y, (x + 4) * x[0, 4], rtol=1e-6)


def test_parts_of_tiles_and_windows_of_several_axes(tmp_path):
    kernel, text = raised_kernel(PARTS, tmp_path)
    assert "pl.tile.assemble(" in text and "pl.tile.slice(" in text, text
    assert "a0: pl.Tensor[[2, 4, 16], pl.FP32]" in text, text
    x, y = np.random.default_rng(0).standard_normal((2, 4, 2, 8)).astype(np.float32), np.zeros((3, 6, 8), np.float32)
    kernel.run(x, y)
    tile = np.zeros((8, 8), np.float32)
    for turn, top in enumerate((0, 1, 0)):
        tile[top : top + 6] = x[:, :3, top].reshape(6, 8)
        np.testing.assert_array_equal(y[turn], tile[1:7])


def test_a_part_is_computed_in_its_place(tmp_path):
    """Neither the part that a load writes nor the one that is read is a tile of its own."""
    _, text = raised_kernel(PARTS, tmp_path)
    compile_to(pl.loads_program(tmp_path / "k.py"), tmp_path / "again.pto", "a3")
    again = (tmp_path / "again.pto").read_text()
    assert "pto.tmov" not in again and again.count("pto.alloc_tile") == 2, again


def test_relu_is_that_of_the_fixpipe(tmp_path):
    text = (GOLDEN / "linear.pto").read_text()
    assert "reluPreMode" not in text
    relu = re.sub(r"(pto\.tstore .*\))$", r"\1 {reluPreMode = #pto<relu_pre_mode normal_relu>}", text, flags=re.M)
    (tmp_path / "plain").mkdir()
    results = []
    for each, folder in ((text, tmp_path / "plain"), (relu, tmp_path)):
        kernel, program = raised_kernel(each, folder)
        results.append(list(arguments_of(pl.loads_program(folder / "k.py"))))
        kernel.run(*results[-1])
    assert "relu=True" in program
    assert (results[0][-1] < 0).any()
    np.testing.assert_array_equal(np.maximum(results[0][-1], 0), results[1][-1])


GOLDEN = ROOT / "test" / "python" / "golden_kernels"


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.pto") if path.stem != "transpose"))
def test_kernels_of_models_come_back_with_the_same_bits(name, tmp_path):
    """The kernel that a model had, and what is compiled of its text in PyPTO."""
    assert compared(GOLDEN / f"{name}.pto", tmp_path) == ("same bits", "")


def test_another_program_computes_other_bits(tmp_path, monkeypatch):
    """What the script compares is seen where the text says something else, and where there is none."""
    loads = pl.loads_program

    def changed(path):
        text = path.read_text()
        assert "pl.tile.add(" in text
        path.write_text(text.replace("pl.tile.add(", "pl.tile.sub("))
        return loads(path)

    monkeypatch.setattr(pl, "loads_program", changed)
    assert compared(GOLDEN / "layer_norm.pto", tmp_path) == ("other bits", "bits differ")
    (tmp_path / "none.pto").write_text("module { pto.nothing }")
    assert compared(tmp_path / "none.pto", tmp_path)[0] == "not raised"


def test_a_number_by_a_tile_is_a_quotient_of_tiles(tmp_path):
    kernel, text = raised_kernel(HAND_WRITTEN.replace("tmuls ins(%t, %half : !t, f32)", QUOTIENT), tmp_path)
    assert "pl.tile.full(" in text and "pl.tile.div(" in text, text
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(y, np.float32(0.5) / (x - x.max(1, keepdims=True)), rtol=1e-6)


QUOTIENT = "tdivs ins(%half, %t : f32, !t)"


def test_a_constant_that_is_no_number(tmp_path):
    kernel, _ = raised_kernel(HAND_WRITTEN.replace("constant 5.0e-01", "constant 0x7FC00000"), tmp_path)
    x = np.ones((64, 64), np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
    assert np.isnan(y).all()


# Rows are added to the valid ones of a part: of 11 rows in all, in three parts of 6.
VALID_PARTS = """!t = !pto.tile_buf<vec, 18x16xf32, valid=?x16>
!p = !pto.tile_buf<vec, 6x16xf32, valid=?x16>
!q = !pto.tile_buf<vec, 6x16xf32>
!w = !pto.partition_tensor_view<?x16xf32>
!v = !pto.tensor_view<?x16xf32>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  scf.for %n = %c6 to %c16 step %c6 {
    %rows = arith.subi %n, %c1 : index
    %t = pto.alloc_tile valid_row = %rows : !t
    %xv = pto.make_tensor_view %x, shape = [%rows, %c16], strides = [%c16, %c1] : !v
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%rows, %c16] : !v -> !w
    pto.tload ins(%xw : !w) outs(%t : !t)
    scf.for %i = %c0 to %c3 step %c1 {
      %from = arith.muli %i, %c6 : index
      %p = pto.subset %t[%from, %c0] sizes [6, 16] : !t
      %q = pto.alloc_tile : !q
      pto.texpands ins(%one : f32) outs(%q : !q)
      pto.tadd ins(%p, %q : !p, !q) outs(%p : !p)
    }
    %yp = pto.addptr %y, %c0 : !pto.ptr<f32> -> !pto.ptr<f32>
    %yv = pto.make_tensor_view %yp, shape = [%rows, %c16], strides = [%c16, %c1] : !v
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%rows, %c16] : !v -> !w
    pto.tstore ins(%t : !t) outs(%yw : !w)
  }
  return
}
"""


def test_what_is_valid_of_a_part_follows_from_the_whole(tmp_path):
    kernel, text = raised_kernel(VALID_PARTS, tmp_path)
    x = np.random.default_rng(0).standard_normal((11, 16)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
    np.testing.assert_allclose(y, x + 1, rtol=1e-6)


# Each turn computes more rows of one tile, of which so many are valid; EXTENT is a number or a loop's index.
VALID_ROWS = """!t = !pto.tile_buf<vec, 8x16xf32>
!s = !pto.tile_buf<vec, 8x16xf32, valid=VALIDx16>
!v = !pto.tensor_view<?x16xf32>
!w = !pto.partition_tensor_view<?x16xf32>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  scf.for %n = %c1 to %c6 step %c1 {
    %t = pto.alloc_tile : !t
    %xv = pto.make_tensor_view %x, shape = [EXTENT, %c16], strides = [%c16, %c1] : !v
    %yv = pto.make_tensor_view %y, shape = [EXTENT, %c16], strides = [%c16, %c1] : !v
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [EXTENT, %c16] : !v -> !w
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [EXTENT, %c16] : !v -> !w
    %s = pto.subview %t[%c0, %c0] sizes [8, 16] valid [EXTENT, %c16] : !t -> !s
    pto.tload ins(%xw : !w) outs(%s : !s)
    %again = pto.subview %t[%c0, %c0] sizes [8, 16] valid [EXTENT, %c16] : !t -> !s
    pto.texp ins(%again : !s) outs(%again : !s)
    pto.tstore ins(%again : !s) outs(%yw : !w)
  }
  return
}
"""


@pytest.mark.parametrize("extent, valid", [("%c5", "5"), ("%n", "?")])
def test_all_of_a_tile_with_another_valid_extent(tmp_path, extent, valid):
    kernel, _ = raised_kernel(VALID_ROWS.replace("EXTENT", extent).replace("VALID", valid), tmp_path)
    x = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)


def test_a_tile_whose_rest_is_kept_is_refused(tmp_path):
    text = VALID_ROWS.replace("EXTENT", "%c5").replace("VALID", "5")
    fill = "    %one = arith.constant 1.0 : f32\n    pto.texpands ins(%one : f32) outs(%t : !t)\n    pto.tload"
    (tmp_path / "k.pto").write_text(text.replace("    pto.tload", fill))
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "'pto.tload' op writes a part with a valid extent of its own of a tile whose rest is kept" in done.stderr


# Row maxima of the upper half of a tile, so many rows of them, written to a line of others by way of a column.
COLUMN_OF_A_LINE = """!t = !pto.tile_buf<vec, 16x16xf32>
!h = !pto.tile_buf<vec, 8x16xf32>
!s = !pto.tile_buf<vec, 8x16xf32, valid=?x16>
!l = !pto.tile_buf<vec, 2x8xf32>
!p = !pto.tile_buf<vec, 1x8xf32>
!c = !pto.tile_buf<vec, 8x1xf32, blayout=col_major>
!d = !pto.tile_buf<vec, 8x1xf32, valid=?x1, blayout=col_major>
!v = !pto.tensor_view<?x16xf32>
!w = !pto.partition_tensor_view<16x16xf32>
!lv = !pto.tensor_view<?x8xf32>
!lw = !pto.partition_tensor_view<2x8xf32>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %t = pto.alloc_tile : !t
  %tmp = pto.alloc_tile : !h
  %line = pto.alloc_tile : !l
  pto.texpands ins(%one : f32) outs(%line : !l)
  %xv = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !v
  %yv = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !v
  %zv = pto.make_tensor_view %z, shape = [%c2, %c8], strides = [%c8, %c1] : !lv
  %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !v -> !w
  %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !v -> !w
  %zw = pto.partition_view %zv, offsets = [%c0, %c0], sizes = [%c2, %c8] : !lv -> !lw
  pto.tload ins(%xw : !w) outs(%t : !t)
  scf.for %n = %c1 to %c5 step %c1 {
    %half = pto.subset %t[%c8, %c0] sizes [8, 16] : !t
    %rows = pto.subview %half[%c0, %c0] sizes [8, 16] valid [%n, %c16] : !h -> !s
    %part = pto.subset %line[%c1, %c0] sizes [1, 8] : !l
    %column = pto.treshape %part : !p -> !c
    %some = pto.subview %column[%c0, %c0] sizes [8, 1] valid [%n, %c1] : !c -> !d
    pto.trowmax ins(%rows, %tmp : !s, !h) outs(%some : !d)
    pto.trowexpandsub ins(%rows, %some : !s, !d) outs(%rows : !s)
  }
  pto.tstore ins(%t : !t) outs(%yw : !w)
  pto.tstore ins(%line : !l) outs(%zw : !lw)
  return
}
"""


def test_parts_of_parts_are_written_where_they_are(tmp_path):
    kernel, _ = raised_kernel(COLUMN_OF_A_LINE, tmp_path)
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    y, z, of_y, of_z = (
        np.zeros((16, 16), np.float32),
        np.zeros((2, 8), np.float32),
        x.copy(),
        np.ones((2, 8), np.float32),
    )
    for n in range(1, 5):
        of_z[1, :n] = of_y[8 : 8 + n].max(1)
        of_y[8 : 8 + n] -= of_z[1, :n, None]
    kernel.run(x, y, z)
    np.testing.assert_array_equal(y, of_y)
    np.testing.assert_array_equal(z, of_z)


# Even turns load `m` rows of a tile, of which nothing else is ever written; odd ones find those of the turn before.
WRITTEN_IN_PART = """!t = !pto.tile_buf<vec, 8x16xf32>
!s = !pto.tile_buf<vec, 8x16xf32, valid=?x16>
!v = !pto.tensor_view<?x16xf32>
!w = !pto.partition_tensor_view<?x16xf32>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %t = pto.alloc_tile : !t
  %u = pto.alloc_tile : !t
  %xv = pto.make_tensor_view %x, shape = [%c8, %c16], strides = [%c16, %c1] : !v
  %yv = pto.make_tensor_view %y, shape = [%c48, %c16], strides = [%c16, %c1] : !v
  scf.for %n = %c2 to %c6 step %c1 {
    %odd = arith.remsi %n, %c2 : index
    %m = arith.subi %n, %odd : index
    %isEven = arith.cmpi eq, %odd, %c0 : index
    scf.if %isEven {
      %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%m, %c16] : !v -> !w
      %s = pto.subview %t[%c0, %c0] sizes [8, 16] valid [%m, %c16] : !t -> !s
      pto.tload ins(%xw : !w) outs(%s : !s)
    }
    %row = arith.muli %n, %c8 : index
    %yw = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%m, %c16] : !v -> !w
    %again = pto.subview %t[%c0, %c0] sizes [8, 16] valid [%m, %c16] : !t -> !s
    %r = pto.subview %u[%c0, %c0] sizes [8, 16] valid [%m, %c16] : !t -> !s
    pto.texp ins(%again : !s) outs(%r : !s)
    pto.tstore ins(%r : !s) outs(%yw : !w)
  }
  return
}
"""


def test_a_tile_of_which_no_more_is_ever_written(tmp_path):
    kernel, _ = raised_kernel(WRITTEN_IN_PART, tmp_path)
    x = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    y, expected = np.zeros((48, 16), np.float32), np.zeros((48, 16), np.float32)
    for n in range(2, 6):
        expected[8 * n :][: n // 2 * 2] = np.exp(x[: n // 2 * 2])
    kernel.run(x, y)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


# A copy of a row to the place that quotient and remainder of -3 to 4 by 2 say.
DIVIDED = """!t = !pto.tile_buf<vec, 1x8xf32>
!v = !pto.tensor_view<?x8xf32>
!w = !pto.partition_tensor_view<1x8xf32>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %t = pto.alloc_tile : !t
  %xv = pto.make_tensor_view %x, shape = [%c8, %c8], strides = [%c8, %c1] : !v
  %yv = pto.make_tensor_view %y, shape = [%c15, %c8], strides = [%c8, %c1] : !v
  scf.for %n = %c0 to %c8 step %c1 {
    %m = arith.subi %n, %c3 : index
    %q = arith.divsi %m, %c2 : index
    %r = arith.remsi %m, %c2 : index
    %q1 = arith.addi %q, %c1 : index
    %q3 = arith.muli %q1, %c3 : index
    %r1 = arith.addi %r, %c1 : index
    %row = arith.addi %q3, %r1 : index
    %xw = pto.partition_view %xv, offsets = [%n, %c0], sizes = [%c1, %c8] : !v -> !w
    %yw = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c1, %c8] : !v -> !w
    pto.tload ins(%xw : !w) outs(%t : !t)
    pto.tstore ins(%t : !t) outs(%yw : !w)
  }
  return
}
"""


def test_quotients_of_what_may_be_negative(tmp_path):
    kernel, _ = raised_kernel(DIVIDED, tmp_path)
    x = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    y, expected = np.zeros((15, 8), np.float32), np.zeros((15, 8), np.float32)
    for n in range(8):
        quotient = int((n - 3) / 2)
        expected[3 * (quotient + 1) + (n - 3 - 2 * quotient) + 1] = x[n]
    kernel.run(x, y)
    np.testing.assert_array_equal(y, expected)


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
        ("  return", "  pto.barrier <PIPE_MTE2>\n  return", "is of a pipe that PyPTO has no barrier for"),
        ("strides = [%c64, %c1]", "strides = [%c1, %c64]", "is no window of an array in row-major order"),
        (
            "  return",
            "  %far = arith.constant 96 : index\n"
            "  %w = pto.make_tensor_view %x, shape = [%c2, %c2, %c2], strides = [%far, %c64, %c1]"
            " : !pto.tensor_view<2x2x2xf32>\n"
            "  %q = pto.partition_view %w, offsets = [%c0, %c0, %c0], sizes = [%c2, %c2, %c2]"
            " : !pto.tensor_view<2x2x2xf32> -> !pto.partition_tensor_view<2x2x2xf32>\n  return",
            "rows 96 and rows 64 elements apart",
        ),
        (
            "  return",
            "  %b = pto.get_block_idx\n  %o = arith.index_cast %b : i64 to index\n"
            "  %e = pto.load_scalar %x[%o] : !pto.ptr<f32> -> f32\n  return",
            "reaches elements of the argument whose number is known at run time only",
        ),
        (
            "  return",
            "  %b = arith.subi %c0, %c1 : index\n  %d = arith.divsi %c2, %b : index\n  return",
            "divides by what may be negative",
        ),
        (
            "  return",
            "  pto.section.cube {\n    pto.sync.set <PIPE_FIX>, %c1\n  }\n  pto.section.vector {\n  }\n  return",
            "has an event whose number is known at run time only",
        ),
    ],
)
def test_what_has_no_form_is_one_error_that_names_the_op(old, new, message, tmp_path):
    (tmp_path / "k.pto").write_text(HAND_WRITTEN.replace(old, new, 1))
    done = raised(tmp_path / "k.pto", tmp_path / "k.py")
    assert done.returncode == 1 and not (tmp_path / "k.py").exists()
    assert done.stderr.count("\n") == 1 and re.search(r"k\.pto:\d+:\d+: ", done.stderr), done.stderr
    assert message in done.stderr, done.stderr
