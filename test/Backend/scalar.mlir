// RUN: pto-opt %s --pto-print-commands -o /dev/null | FileCheck %s

// CHECK-LABEL: kernel @arith
// CHECK: AIV V:
// CHECK-NEXT: get r0, what=block_idx
// CHECK-NEXT: get r1, what=subblock_num
// CHECK-NEXT: mul r2, lhs=r0, rhs=r1
// Both operands are non-negative: a single rem.
// CHECK-NEXT: rem r0, lhs=r2, rhs=7
// CHECK-NEXT: cmp r{{[0-9]+}}, mode=lt, lhs=r0, rhs=3
// CHECK-NEXT: select
// CHECK-NEXT: set_flag src=V dst=MTE3, id=r
// CHECK-NEXT: barrier pipe=ALL
module @m {
  module @arith attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c7 = arith.constant 7 : i64
      %c3 = arith.constant 3 : i64
      %zero = arith.constant 0 : index
      %b = pto.get_block_idx
      %s = pto.get_subblock_num
      %p = arith.muli %b, %s : i64
      %r = arith.remsi %p, %c7 : i64
      %i = arith.index_cast %r : i64 to index
      %less = arith.cmpi slt, %r, %c3 : i64
      %id = arith.select %less, %i, %zero : index
      pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %id]
      return
    }
  }

  // Rounding toward zero with an unknown sign, from instructions that round down; a scalar argument.
  // CHECK-LABEL: kernel @truncating: 1 arguments
  // CHECK: AIV S:
  // CHECK-NEXT: get r0, what=4
  // CHECK-NEXT: div r1, lhs=r0, rhs=5
  // CHECK-NEXT: rem r2, lhs=r0, rhs=5
  // CHECK-NEXT: cmp r3, mode=lt, lhs=r1, rhs=0
  // CHECK-NEXT: cmp r4, mode=ne, lhs=r2, rhs=0
  // CHECK-NEXT: and r5, lhs=r3, rhs=r4
  // CHECK-NEXT: add r6, lhs=r1, rhs=r5
  // CHECK-NEXT: mul r0, lhs=r6, rhs=4
  // CHECK-NEXT: load_scalar r1, arg0[r0]<1xf32 strides=1>
  module @truncating attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @s(%p: !pto.ptr<f32>, %n: index) attributes {pto.pipe = #pto.pipe<PIPE_S>} {
      %c5 = arith.constant 5 : index
      %q = arith.divsi %n, %c5 : index
      %x = pto.load_scalar %p[%q] : !pto.ptr<f32> -> f32
      return
    }
  }

  // The word counts of branches are patched when they are known.
  // CHECK-LABEL: kernel @branches
  // CHECK: get r0, what=block_idx
  // CHECK-NEXT: cmp r1, mode=eq, lhs=r0, rhs=0
  // CHECK-NEXT: skip_if_zero cond=r1, words=9
  // CHECK-NEXT: set_flag src=V dst=MTE3, id=0
  // CHECK-NEXT: set_flag src=V dst=MTE3, id=1
  // CHECK-NEXT: skip_if_zero cond=0, words=3
  // CHECK-NEXT: set_flag src=V dst=MTE3, id=2
  // CHECK-NEXT: barrier pipe=ALL
  module @branches attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %zero = arith.constant 0 : i64
      %b = pto.get_block_idx
      %first = arith.cmpi eq, %b, %zero : i64
      scf.if %first {
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID1>]
      } else {
        pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID2>]
      }
      return
    }
  }

  // A value defined before a loop and used in it keeps its register until the loop ends; large constants are loaded.
  // CHECK-LABEL: kernel @liveness
  // CHECK: get r0, what=block_idx
  // CHECK-NEXT: loop r1, lb=0, ub=4, step=1
  // CHECK-NEXT:   add r2, lhs=r0, rhs=r1
  // CHECK-NEXT:   rem r3, lhs=r2, rhs=8
  // CHECK-NEXT:   set_flag src=V dst=MTE3, id=r3
  // CHECK-NEXT:   loop r2, lb=0, ub=2, step=1
  // CHECK-NEXT:     li r3, 4294967296
  // CHECK-NEXT:     mul r4, lhs=r2, rhs=r3
  // CHECK-NEXT:     rem r3, lhs=r4, rhs=8
  // CHECK-NEXT:     wait_flag src=MTE2 dst=V, id=r3
  // CHECK-NEXT:   end
  // CHECK-NEXT: end
  module @liveness attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    func.func @v() attributes {pto.pipe = #pto.pipe<PIPE_V>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %big = arith.constant 4294967296 : index
      %b = pto.get_block_idx
      %bi = arith.index_cast %b : i64 to index
      scf.for %i = %c0 to %c4 step %c1 {
        %s = arith.addi %bi, %i : index
        %id = arith.remsi %s, %c8 : index
        pto.set_flag_dyn[<PIPE_V>, <PIPE_MTE3>, %id]
        scf.for %j = %c0 to %c2 step %c1 {
          %l = arith.muli %j, %big : index
          %k = arith.remsi %l, %c8 : index
          pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %k]
        }
      }
      return
    }
  }
}
