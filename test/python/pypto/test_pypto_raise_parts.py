"""`pto-compile x.pto -o x.py`: parts of tiles, and tiles of which fewer rows are valid."""

import numpy as np
import pypto.language as pl
import pytest
from pypto.ir.compiled_program import compile_to
from raise_kernels import raised, raised_kernel

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
