// RUN: pto-opt %s --split-input-file --tile-vector-kernels | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// Without broadcasts a kernel is a vector: one loop, spread over the cores, in tiles small enough for loads, work and stores to overlap, which two cores share
// evenly.
// CHECK-LABEL: func.func private @relu
// CHECK: %[[OUT:.*]] = tensor.collapse_shape %arg1
// CHECK: %[[IN:.*]] = tensor.collapse_shape %arg0
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[OUT]]) -> (tensor<18432xf32>)
// CHECK: %[[SLICE:.*]] = tensor.extract_slice %[[IN]][%[[I]]] [3072] [1]
// CHECK: %[[TILE:.*]] = bufferization.alloc_tensor() copy(%[[SLICE]]) {memory_space = #pto.address_space<vec>}
// CHECK: %[[RES:.*]] = bufferization.alloc_tensor() {memory_space = #pto.address_space<vec>}
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[TILE]] : tensor<3072xf32>) outs(%[[RES]] : tensor<3072xf32>)
// CHECK: tensor.insert_slice %[[R]] into %[[ACC]][%[[I]]] [3072] [1]
// CHECK: } {pto.distribute}
func.func private @relu(%x: tensor<1x24x96x8xf32>, %out: tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x24x96x8xf32>) outs(%out : tensor<1x24x96x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.maximumf %a, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<1x24x96x8xf32>
  return %0 : tensor<1x24x96x8xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d0, d3)>

// A sum over rows accumulates in one tile, with the same number of rows per step for every number of cores; the cores share the
// columns, ragged at their end.
// CHECK-LABEL: func.func private @sum
// CHECK: scf.for %[[C:.*]] = %c0 to %c40 step %c32
// CHECK: %[[SIZE:.*]] = affine.min #{{.*}}(%[[C]])
// CHECK: %[[ACC:.*]] = linalg.fill
// CHECK: scf.for {{.*}} to %c2304 step %c96 iter_args(%[[SUM:.*]] = %[[ACC]]) -> (tensor<?xf32>)
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[SUM]][0] [%[[SIZE]]] [1]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]{{.*}} outs(%[[PART]] : tensor<?xf32>)
// CHECK-NOT: } {pto.distribute}
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[C]]] [%[[SIZE]]] [1]
// CHECK: } {pto.distribute}
func.func private @sum(%x: tensor<1x24x96x40xf32>, %out: tensor<1x40xf32>) -> tensor<1x40xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%out : tensor<1x40xf32>) -> tensor<1x40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #channel], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%x : tensor<1x24x96x40xf32>) outs(%init : tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %b, %a : f32
    linalg.yield %1 : f32
  } -> tensor<1x40xf32>
  return %0 : tensor<1x40xf32>
}

// -----

// A window: the band of input pixels is filled once and loaded row by row, as far as the rows are inside the image; each output
// row and kernel position reads a shifted part of it, with a loop over the rows of the kernel.
// CHECK-LABEL: func.func private @depthwise
// CHECK: %[[FILTERS:.*]] = bufferization.alloc_tensor() copy(%arg1) {{.*}} : tensor<3x3x8xf32>
// CHECK: scf.for %[[OH:[a-z0-9]+]] = %c0 to %c6 step %c3
// CHECK: %[[BAND:.*]] = linalg.fill {{.*}} -> tensor<5x14x8xf32>
// CHECK: %[[LOW:.*]] = affine.max #{{.*}}(%[[OH]])
// CHECK: %[[HIGH:.*]] = affine.min #{{.*}}(%[[OH]])
// CHECK: %[[LOADED:.*]] = scf.for %[[ROW:[a-z0-9]+]] = %[[LOW]] to %[[HIGH]] {{.*}} iter_args(%[[PART:.*]] = %[[BAND]])
// CHECK: tensor.insert_slice %{{.*}} into %[[PART]][%[[ROW]], 1, 0] [1, 12, 8] [1, 1, 1]
// The taps of a kernel row are summed separately, and the initial value is added last.
// CHECK: scf.for %[[R:[a-z0-9]+]] = %c0{{.*}} to %c3
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<12x8xf32>
// CHECK: %[[SUM:.*]] = scf.for %[[KH:[a-z0-9]+]] = %c0{{.*}} to %c3{{.*}} iter_args(%[[SOFAR:.*]] = %[[ZERO]])
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[R]], %[[KH]])
// CHECK: tensor.extract_slice %[[LOADED]][%[[AT]], 0, 0] [1, 12, 8] [1, 1, 1]
// CHECK: tensor.extract_slice %[[FILTERS]][%[[KH]], 0, 0] [1, 1, 8] [1, 1, 1]
// CHECK: tensor.extract_slice %[[LOADED]][%[[AT]], 1, 0] [1, 12, 8] [1, 1, 1]
// CHECK: tensor.extract_slice %[[LOADED]][%[[AT]], 2, 0] [1, 12, 8] [1, 1, 1]
// CHECK: %[[OWN:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%[[OWN]] : tensor<12x8xf32>) outs(%[[SOFAR]] : tensor<12x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<12x8xf32>)
// CHECK-NOT: tensor.pad
// CHECK: } {pto.distribute}
func.func private @depthwise(%x: tensor<1x6x12x8xf32>, %w: tensor<3x3x8xf32>, %b: tensor<8xf32>, %out: tensor<1x6x12x8xf32>) -> tensor<1x6x12x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x6x12x8xf32> to tensor<1x8x14x8xf32>
  %init = linalg.broadcast ins(%b : tensor<8xf32>) outs(%out : tensor<1x6x12x8xf32>) dimensions = [0, 1, 2]
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<1x8x14x8xf32>, tensor<3x3x8xf32>) outs(%init : tensor<1x6x12x8xf32>) -> tensor<1x6x12x8xf32>
  return %0 : tensor<1x6x12x8xf32>
}

// -----

#id5 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#rows = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>

// A copy that repeats (every pixel of a nearest-neighbour resize): a tile of pixels is loaded once and stored for each
// repetition.
// CHECK-LABEL: func.func private @repeat
// CHECK: scf.for
// CHECK: bufferization.alloc_tensor() copy(%{{.*}}) {{.*}} : tensor<1x80x24xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: alloc_tensor() copy
// CHECK: return
func.func private @repeat(%x: tensor<20x80x24xf32>, %out: tensor<20x2x80x2x24xf32>) -> tensor<20x2x80x2x24xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#rows, #id5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<20x80x24xf32>) outs(%out : tensor<20x2x80x2x24xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<20x2x80x2x24xf32>
  return %0 : tensor<20x2x80x2x24xf32>
}

// -----

// What follows a window finds room where its input was: with a hardswish behind it, it has the tiles that it has alone.
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func private @window_hardswish
// CHECK: tensor.extract_slice {{.*}} [1, 7, 84, 40] [1, 1, 1, 1]
func.func private @window_hardswish(%x: tensor<1x16x84x240xf32>, %w: tensor<5x5x240xf32>, %out: tensor<1x12x80x240xf32>) -> tensor<1x12x80x240xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x12x80x240xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x80x240xf32>) -> tensor<1x12x80x240xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x16x84x240xf32>, tensor<5x5x240xf32>) outs(%f : tensor<1x12x80x240xf32>) -> tensor<1x12x80x240xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x12x80x240xf32>) outs(%out : tensor<1x12x80x240xf32>) {
  ^bb0(%in: f32, %o: f32):
    %a = arith.addf %in, %three : f32
    %b = arith.maximumf %a, %zero : f32
    %c = arith.minimumf %b, %six : f32
    %d = arith.mulf %in, %c : f32
    linalg.yield %d : f32
  } -> tensor<1x12x80x240xf32>
  return %1 : tensor<1x12x80x240xf32>
}
