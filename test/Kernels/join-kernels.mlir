// RUN: pto-opt %s --join-kernels=num-cores=2 | FileCheck %s
// RUN: pto-opt %s --join-kernels | FileCheck %s --check-prefix=APART
// RUN: pto-opt %s --join-kernels=num-cores=2 --tile-vector-kernels=num-cores=2 --bufferize-vector-kernels --convert-linalg-to-pto=num-cores=2 --build-cube-kernels=num-cores=2 --canonicalize | FileCheck %s --check-prefix=BUILT

#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#swap = affine_map<(i, j) -> (j, i)>

// Without a number of blocks it is unknown which core computes which tile.
// APART: top.launch @product
// APART: top.launch @scale
// APART-NOT: pto.handover

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x96xf32>, %v: tensor<96xf32>, %x5: tensor<1x32xf32>)
    -> (tensor<64x96xf32>, tensor<64x96xf32>, tensor<96x64xf32>, tensor<96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<1x96xf32>) {
  %e = tensor.empty() : tensor<64x96xf32>
  %t = tensor.empty() : tensor<96x64xf32>
  %r = tensor.empty() : tensor<96xf32>
  // Elementwise, with a vector along the columns. Both launches of the pair use one kernel.
  // CHECK-COUNT-3: tensor.empty
  // CHECK: %[[SLOTS:.*]] = tensor.empty() : tensor<[[RING:[0-9]+]]x[[WIDTH:[0-9]+]]xf32>
  // CHECK-NEXT: %{{.*}}:2 = top.launch @product_scale ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32x96xf32>, tensor<96xf32>)
  // CHECK-SAME: outs(%[[SLOTS]], %{{.*}} : tensor<[[RING]]x[[WIDTH]]xf32>, tensor<64x96xf32>)
  // CHECK-SAME: absorbed = ["p0"], layouts = ["", ""], names = ["", "y0"]
  %p0 = top.launch @product ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x96xf32>) {names = ["p0"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  %y0 = top.launch @scale ins(%p0, %v : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {names = ["y0"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  // CHECK: top.launch @product_scale
  %p1 = top.launch @product ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x96xf32>) {names = ["p1"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  %y1 = top.launch @scale ins(%p1, %v : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {names = ["y1"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  // The results of a transposition do not follow the rows; nor do sums over rows.
  // CHECK: top.launch @product ins
  // CHECK: top.launch @turn
  %p2 = top.launch @product ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x96xf32>) {names = ["p2"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  %y2 = top.launch @turn ins(%p2 : tensor<64x96xf32>) outs(%t : tensor<96x64xf32>) {names = ["y2"], layouts = [""], absorbed = []} -> tensor<96x64xf32>
  // CHECK: top.launch @product ins
  // CHECK: top.launch @sums
  %p3 = top.launch @product ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x96xf32>) {names = ["p3"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  %y3 = top.launch @sums ins(%p3 : tensor<64x96xf32>) outs(%r : tensor<96xf32>) {names = ["y3"], layouts = [""], absorbed = []} -> tensor<96xf32>
  // Another user, here the caller, needs the whole tensor.
  // CHECK: top.launch @product ins
  // CHECK: top.launch @scale ins
  %p4 = top.launch @product ins(%x, %w : tensor<64x32xf32>, tensor<32x96xf32>) outs(%e : tensor<64x96xf32>) {names = ["p4"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  %y4 = top.launch @scale ins(%p4, %v : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {names = ["y4"], layouts = [""], absorbed = []} -> tensor<64x96xf32>
  // A product of one row, as squeeze-and-excitation has it: its vector kernel knows columns alone.
  // CHECK: top.launch @row_bend ins
  // CHECK-NOT: top.launch @bend
  %e5 = tensor.empty() : tensor<1x96xf32>
  %p5 = top.launch @row ins(%x5, %w : tensor<1x32xf32>, tensor<32x96xf32>) outs(%e5 : tensor<1x96xf32>) {names = ["p5"], layouts = [""], absorbed = []} -> tensor<1x96xf32>
  %y5 = top.launch @bend ins(%p5 : tensor<1x96xf32>) outs(%e5 : tensor<1x96xf32>) {names = ["y5"], layouts = [""], absorbed = []} -> tensor<1x96xf32>
  return %y0, %y1, %y2, %y3, %p4, %y4, %y5 : tensor<64x96xf32>, tensor<64x96xf32>, tensor<96x64xf32>, tensor<96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<1x96xf32>
}

// The joined kernel is the product, together with the vector cores' work on a tile.
// CHECK: func.func private @product_scale(
// CHECK-SAME: pto.handover = {columns = array<i64: [[WIDTH]]>, inputs = 1 : i64, panels = [@product_scale.panel], rows = array<i64: [[ROWS:[0-9]+]]>, slots = 2 : i64, steps = [array<i64: 1>, array<i64: 1, 1, 0, 96>]}, pto.kernel_kind = #pto.kernel_kind<cube>
// CHECK: linalg.matmul
// CHECK: func.func private @product_scale.panel(%{{.*}}: tensor<[[ROWS]]x[[WIDTH]]xf32>, %{{.*}}: tensor<[[WIDTH]]xf32>, %{{.*}}: tensor<[[ROWS]]x[[WIDTH]]xf32>)
// CHECK-SAME: pto.kernel_kind = #pto.kernel_kind<vector>, pto.panel

// A slot is awaited, filled and signalled; at the end both slots are free.
// BUILT: func.func private @product_scale({{.*}}pto.part_of = "product_scale"
// BUILT: pto.tmatmul
// BUILT: pto.sync.wait <PIPE_FIX>, 1
// BUILT: pto.tstore
// BUILT-NEXT: pto.sync.set <PIPE_FIX>, 0
// BUILT: pto.sync.wait <PIPE_FIX>, 1
// BUILT-NEXT: pto.sync.wait <PIPE_FIX>, 1
// BUILT-NEXT: return
// BUILT: func.func private @product_scale.vector({{.*}}kernel_kind<vector>, pto.part_of = "product_scale"
// BUILT: pto.sync.set <PIPE_MTE2>, 1
// BUILT-NEXT: pto.sync.set <PIPE_MTE2>, 1
// BUILT: pto.sync.wait <PIPE_MTE2>, 0
// BUILT: pto.get_subblock_idx
// BUILT: pto.tcolexpandmul
// BUILT: pto.sync.set <PIPE_MTE2>, 1
// BUILT-NOT: product_scale.panel

func.func private @product(%a: tensor<64x32xf32>, %b: tensor<32x96xf32>, %out: tensor<64x96xf32>) -> tensor<64x96xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<64x96xf32>) -> tensor<64x96xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}

func.func private @scale(%a: tensor<64x96xf32>, %v: tensor<96xf32>, %out: tensor<64x96xf32>) -> tensor<64x96xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %v : tensor<64x96xf32>, tensor<96xf32>) outs(%out : tensor<64x96xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %r = arith.mulf %x, %s : f32
    linalg.yield %r : f32
  } -> tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}

func.func private @turn(%a: tensor<64x96xf32>, %out: tensor<96x64xf32>) -> tensor<96x64xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x96xf32>) outs(%out : tensor<96x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  } -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}

func.func private @sums(%a: tensor<64x96xf32>, %out: tensor<96xf32>) -> tensor<96xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<96xf32>) -> tensor<96xf32>
  %0 = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<64x96xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %x, %o : f32
    linalg.yield %r : f32
  } -> tensor<96xf32>
  return %0 : tensor<96xf32>
}

func.func private @row(%a: tensor<1x32xf32>, %b: tensor<32x96xf32>, %out: tensor<1x96xf32>) -> tensor<1x96xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<1x96xf32>) -> tensor<1x96xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<1x32xf32>, tensor<32x96xf32>) outs(%f : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %0 : tensor<1x96xf32>
}

func.func private @bend(%a: tensor<1x96xf32>, %out: tensor<1x96xf32>) -> tensor<1x96xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<1x96xf32>) outs(%out : tensor<1x96xf32>) {
  ^bb0(%x: f32, %o: f32):
    %e = math.exp %x : f32
    %r = arith.mulf %x, %e : f32
    linalg.yield %r : f32
  } -> tensor<1x96xf32>
  return %0 : tensor<1x96xf32>
}
