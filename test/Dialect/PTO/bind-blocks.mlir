// RUN: pto-opt %s --pto-bind-blocks=num-core=1 --canonicalize --split-input-file | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: pto-opt %s --pto-bind-blocks=num-core=4 --canonicalize --split-input-file | FileCheck %s --check-prefixes=CHECK,FOUR
// RUN: pto-opt %s --pto-bind-blocks --canonicalize --split-input-file | FileCheck %s --check-prefix=OPEN
// RUN: not pto-opt %s --pto-bind-blocks=num-core=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: num-core must not be negative, got -1

// A vector kernel keeps the two vector cores of a block distinct.
// CHECK-LABEL: func.func @vector
func.func @vector(%p: !pto.ptr<i64>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // OPEN: pto.get_block_idx
  // OPEN: pto.get_block_num
  // OPEN: pto.get_subblock_num
  // ONE-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
  // ONE-DAG: %[[ONE:.*]] = arith.constant 1 : i64
  // FOUR-DAG: %[[FOUR:.*]] = arith.constant 4 : i64
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i64
  %c0 = arith.constant 0 : index
  // FOUR: %[[IDX:.*]] = pto.get_block_idx
  %b = pto.get_block_idx
  %n = pto.get_block_num
  // CHECK: %[[SUB:.*]] = pto.get_subblock_idx
  %s = pto.get_subblock_idx
  %m = pto.get_subblock_num
  // ONE: pto.store_scalar %[[ZERO]]
  // FOUR: pto.store_scalar %[[IDX]]
  pto.store_scalar %b, %p[%c0] : !pto.ptr<i64>, i64
  // ONE: pto.store_scalar %[[ONE]]
  // FOUR: pto.store_scalar %[[FOUR]]
  pto.store_scalar %n, %p[%c0] : !pto.ptr<i64>, i64
  // CHECK: pto.store_scalar %[[SUB]]
  pto.store_scalar %s, %p[%c0] : !pto.ptr<i64>, i64
  // CHECK: pto.store_scalar %[[TWO]]
  pto.store_scalar %m, %p[%c0] : !pto.ptr<i64>, i64
  return
}
