// RUN: pto-opt %s -pto-plan-local-memory=shared-only=1 | FileCheck %s

// Only the tile that the other kind of core writes gets an address.
module attributes {pto.target_arch = "a5"} {
// CHECK-LABEL: func.func @shared
func.func @shared(%acc: !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) {
  // CHECK: pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %own = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  // CHECK: pto.alloc_tile addr = %{{.*}} : !pto.tile_buf<vec, 16x16xf32>
  %shared = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.tmov ins(%acc : !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>) outs(%shared : !pto.tile_buf<vec, 16x16xf32>)
  pto.texp ins(%shared : !pto.tile_buf<vec, 16x16xf32>) outs(%own : !pto.tile_buf<vec, 16x16xf32>)
  return
}
}
