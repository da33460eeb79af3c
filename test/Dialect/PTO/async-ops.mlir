// Every form of these ops parses, verifies and round-trips.
// RUN: pto-opt %s | FileCheck %s
// RUN: pto-opt %s | pto-opt | FileCheck %s
// RUN: pto-opt %s -mlir-print-op-generic | pto-opt | FileCheck %s

!P = !pto.partition_tensor_view<128xf32>
!S = !pto.tile_buf<vec, 1x256xi8>

// CHECK-LABEL: func.func @copies
func.func @copies(%dst: !P, %src: !P, %scratch: !S, %ws: !pto.ptr<i8>) {
  // CHECK: %[[SES:.*]] = pto.build_async_session(%{{.*}}, %{{.*}} : !pto.tile_buf<vec, 1x256xi8>, !pto.ptr<i8>) {block_bytes = 64 : i64, sync_id = 0 : i32} -> !pto.async_session
  %ses = pto.build_async_session(%scratch, %ws : !S, !pto.ptr<i8>) {sync_id = 0 : i32, block_bytes = 64 : i64} -> !pto.async_session
  // CHECK: %[[PUT:.*]] = pto.tput_async(%{{.*}}, %{{.*}}, %[[SES]] : !pto.partition_tensor_view<128xf32>, !pto.partition_tensor_view<128xf32>, !pto.async_session) -> !pto.async_event
  %put = pto.tput_async(%dst, %src, %ses : !P, !P, !pto.async_session) -> !pto.async_event
  // CHECK: %[[GET:.*]] = pto.tget_async(
  %get = pto.tget_async(%dst, %src, %ses : !P, !P, !pto.async_session) -> !pto.async_event
  // CHECK: pto.wait_async_event(%[[PUT]], %[[SES]] : !pto.async_event, !pto.async_session) -> i1
  %ok = pto.wait_async_event(%put, %ses : !pto.async_event, !pto.async_session) -> i1
  // CHECK: pto.test_async_event(%[[GET]], %[[SES]] : !pto.async_event, !pto.async_session) -> i1
  %done = pto.test_async_event(%get, %ses : !pto.async_event, !pto.async_session) -> i1
  return
}

// CHECK-LABEL: func.func @memrefs
func.func @memrefs(%addr: i64, %n: index) {
  // CHECK: %[[CAST:.*]] = pto.pointer_cast(%{{.*}}) {config = #pto.tile_buf_config<blayout=#pto.blayout<col_major>, slayout=#pto.slayout<none_box>, s_fractal_size=512, pad=#pto.pad_value<zero>, compact=#pto.compact_mode<null>>} : memref<16x16xf32, #pto.address_space<vec>>
  %m = pto.pointer_cast(%addr) {config = #pto.tile_buf_config<pad=1, blayout=#pto.blayout<col_major>>} : memref<16x16xf32, #pto.address_space<vec>>
  // CHECK: pto.bind_tile %[[CAST]], %{{.*}}, %{{.*}} {config = #pto.tile_buf_config<{{.*}}>} : memref<16x16xf32, #pto.address_space<vec>> -> memref<16x16xf32, #pto.address_space<vec>>
  %b = pto.bind_tile %m, %n, %n {config = #pto.tile_buf_config<>} : memref<16x16xf32, #pto.address_space<vec>> -> memref<16x16xf32, #pto.address_space<vec>>
  // CHECK: pto.declare_tile_memref -> memref<16x16xf32, #pto.address_space<vec>>
  %d = pto.declare_tile_memref -> memref<16x16xf32, #pto.address_space<vec>>
  return
}
