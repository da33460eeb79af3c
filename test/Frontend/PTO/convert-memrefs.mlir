// RUN: pto-opt --pto-convert-memrefs --split-input-file --verify-diagnostics %s | FileCheck %s

#gm = #pto.address_space<gm>
#vec = #pto.address_space<vec>

// Contiguous dimensions are collapsed to rows, in global memory as in the tile.
// CHECK-LABEL: func.func @gapless(%arg0: !pto.ptr<f16>)
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[COLS:.*]] = arith.constant 16 : index
// CHECK: pto.make_tensor_view %arg0, shape = [%[[ROWS]], %{{.*}}], strides = [%{{.*}}, %{{.*}}] : !pto.tensor_view<256x16xf16>
// CHECK: pto.tload ins(%{{.*}} : !pto.partition_tensor_view<256x16xf16>) outs(%{{.*}} : !pto.tile_buf<vec, 256x16xf16>)
func.func @gapless(%x: memref<16x16x16xf16, #gm>) {
  %t = memref.alloc() : memref<16x16x16xf16, #vec>
  pto.tload ins(%x : memref<16x16x16xf16, #gm>) outs(%t : memref<16x16x16xf16, #vec>)
  return
}

// -----

#gm = #pto.address_space<gm>
#vec = #pto.address_space<vec>

// With gaps between blocks, three dimensions stay three.
// CHECK-LABEL: func.func @gaps(
// CHECK: pto.make_tensor_view %arg0, {{.*}} : !pto.tensor_view<4x8x16xf32>
func.func @gaps(%x: memref<4x8x16xf32, strided<[256, 16, 1]>, #gm>) {
  %t = memref.alloc() : memref<4x8x16xf32, #vec>
  pto.tload ins(%x : memref<4x8x16xf32, strided<[256, 16, 1]>, #gm>) outs(%t : memref<4x8x16xf32, #vec>)
  return
}

// -----

#gm = #pto.address_space<gm>
#vec = #pto.address_space<vec>

// expected-error @+1 {{a memref of constant sizes and strides can be an argument, else a !pto.ptr}}
func.func @dynamic(%x: memref<?x16xf32, #gm>) {
  %t = memref.alloc() : memref<4x16xf32, #vec>
  pto.tload ins(%x : memref<?x16xf32, #gm>) outs(%t : memref<4x16xf32, #vec>)
  return
}

// -----

// Rows as wide as a block, or an explicit layout: a UB tile in blocks reads memory as blocks, a plain tile as rows.
// CHECK-LABEL: func.func @blocks
// CHECK: %[[A:.*]] = pto.alloc_tile : !pto.tile_buf<vec, 256x16xf16, blayout=col_major, slayout=row_major>
// CHECK: pto.make_tensor_view %arg0, {{.*}} {layout = #pto.layout<nz>} : !pto.tensor_view<1x1x16x16x16xf16>
// CHECK: pto.tload ins({{.*}} : !pto.partition_tensor_view<1x1x16x16x16xf16>) outs(%[[A]]
// CHECK: pto.tload ins({{.*}} : !pto.partition_tensor_view<256x16xf16>) outs({{.*}} : !pto.tile_buf<vec, 256x16xf16>)
func.func @blocks(%g: memref<16x16x16xf16, #pto.address_space<gm>>) {
  %c16 = arith.constant 16 : index
  %a = memref.alloc() : memref<16x16x16xf16, #pto.address_space<vec>>
  %b = pto.bind_tile %a, %c16, %c16 {config = #pto.tile_buf_config<blayout=1 : i32, slayout=1 : i32, s_fractal_size=512, pad=0 : i32>} : memref<16x16x16xf16, #pto.address_space<vec>> -> memref<16x16x16xf16, #pto.address_space<vec>>
  pto.tload ins(%g : memref<16x16x16xf16, #pto.address_space<gm>>) outs(%b : memref<16x16x16xf16, #pto.address_space<vec>>)
  %c = memref.alloc() : memref<16x16x16xf16, #pto.address_space<vec>>
  pto.tload ins(%g : memref<16x16x16xf16, #pto.address_space<gm>>) outs(%c : memref<16x16x16xf16, #pto.address_space<vec>>)
  return
}

// -----

// Allocations without a use become tiles, also where nothing else of the function is a memref.
#vec = #pto.address_space<vec>
// CHECK-LABEL: func.func @unused
// CHECK-NOT: memref
// CHECK: return
func.func @unused() {
  %0 = memref.alloc() : memref<4x8x16xf32, #vec>
  return
}
