// In unstructured control flow, where dependencies are unknown, the engines are serialised.
// RUN: pto-opt %s -pto-insert-sync | FileCheck %s

// CHECK-LABEL: func.func @while
// CHECK: pto.tabs
// CHECK-NEXT: pto.barrier <PIPE_ALL>
func.func @while(%t: !pto.tile_buf<vec, 8x8xf32>, %go: i1) {
  scf.while : () -> () {
    scf.condition(%go)
  } do {
    pto.tabs ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @branches
// CHECK: pto.texp
// CHECK-NEXT: pto.barrier <PIPE_ALL>
func.func @branches(%t: !pto.tile_buf<vec, 8x8xf32>, %go: i1) {
  cf.cond_br %go, ^bb1, ^bb2
^bb1:
  pto.texp ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
  cf.br ^bb2
^bb2:
  return
}
