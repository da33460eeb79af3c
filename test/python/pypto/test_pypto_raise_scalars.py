"""`pto-compile x.pto -o x.py`: pointers, loops and scalars of hand-written kernels, and what has no form in PyPTO."""

import re

import numpy as np
import pytest
from raise_kernels import HAND_WRITTEN, raised, raised_kernel

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
    kernel, _ = raised_kernel(HAND_WRITTEN, tmp_path)
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    y = np.zeros_like(x)
    kernel.run(x, y)
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
