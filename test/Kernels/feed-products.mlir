// RUN: pto-opt %s --join-kernels=num-cores=2 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t
// RUN: pto-opt %s --join-kernels="num-cores=2 images=false" | FileCheck %s --check-prefix=APART
// RUN: pto-opt %s --join-kernels=num-cores=2 --tile-vector-kernels=num-cores=2 --bufferize-vector-kernels --convert-linalg-to-pto=num-cores=2 --build-cube-kernels=num-cores=2 --canonicalize | FileCheck %s --check-prefix=BUILT

#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#swap = affine_map<(i, j) -> (j, i)>

// APART: top.launch @gate
// APART: top.launch @product
// APART-NOT: pto.feed

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<64x32xf32>, %t: tensor<32x64xf32>, %g: tensor<32xf32>, %w: tensor<32x16xf32>)
    -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x32xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
  %l = tensor.empty() : tensor<64x32xf32>
  %e = tensor.empty() : tensor<64x16xf32>
  // The launch has the product's inputs without its left operand, then the gate's.
  // CHECK-COUNT-2: tensor.empty
  // CHECK: %[[SLOTS:.*]] = tensor.empty() : tensor<64x32xf32>
  // CHECK-NEXT: top.launch @gate_product ins(%arg3, %arg0, %arg2 : tensor<32x16xf32>, tensor<64x32xf32>, tensor<32xf32>)
  // CHECK-SAME: outs(%[[SLOTS]], %{{.*}} : tensor<64x32xf32>, tensor<64x16xf32>)
  // CHECK-SAME: absorbed = ["l0"], layouts = ["", ""], names = ["", "y0"]
  %l0 = top.launch @gate ins(%x, %g : tensor<64x32xf32>, tensor<32xf32>) outs(%l : tensor<64x32xf32>) {names = ["l0"], layouts = [""], absorbed = []} -> tensor<64x32xf32>
  %y0 = top.launch @product ins(%l0, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%e : tensor<64x16xf32>) {names = ["y0"], layouts = [""], absorbed = []} -> tensor<64x16xf32>
  // Another user, here the caller, needs the whole tensor.
  // CHECK: top.launch @gate ins
  // CHECK: top.launch @product ins
  %l1 = top.launch @gate ins(%x, %g : tensor<64x32xf32>, tensor<32xf32>) outs(%l : tensor<64x32xf32>) {names = ["l1"], layouts = [""], absorbed = []} -> tensor<64x32xf32>
  %y1 = top.launch @product ins(%l1, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%e : tensor<64x16xf32>) {names = ["y1"], layouts = [""], absorbed = []} -> tensor<64x16xf32>
  // Rows of a transposition are columns of its input.
  // CHECK: top.launch @turn ins
  // CHECK: top.launch @product ins
  %l2 = top.launch @turn ins(%t : tensor<32x64xf32>) outs(%l : tensor<64x32xf32>) {names = ["l2"], layouts = [""], absorbed = []} -> tensor<64x32xf32>
  %y2 = top.launch @product ins(%l2, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%e : tensor<64x16xf32>) {names = ["y2"], layouts = [""], absorbed = []} -> tensor<64x16xf32>
  // So do rows whose number is known at run time.
  // CHECK: top.launch @gate ins
  // CHECK: top.launch @product ins
  // REMARK: [[#@LINE+2]]:{{[0-9]+}}: remark: has a launch of its own in front of a product, as its rows are known at run time
  // REMARK-NOT: remark
  %l3 = top.launch @gate ins(%x, %g : tensor<64x32xf32>, tensor<32xf32>) outs(%l : tensor<64x32xf32>) {names = ["l3"], layouts = [""], absorbed = [], scalars = affine_map<()[s0] -> (s0 * 8)>} -> tensor<64x32xf32>
  %y3 = top.launch @product ins(%l3, %w : tensor<64x32xf32>, tensor<32x16xf32>) outs(%e : tensor<64x16xf32>) {names = ["y3"], layouts = [""], absorbed = [], scalars = affine_map<()[s0] -> (s0 * 8)>} -> tensor<64x16xf32>
  return %y0, %y1, %l1, %y2, %y3 : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64x32xf32>, tensor<64x16xf32>, tensor<64x16xf32>
}

// CHECK: func.func private @gate_product(
// CHECK-SAME: pto.feed = {panels = [@gate_product.feed], rows = array<i64: [[ROWS:[0-9]+]]>, steps = {{.*}}, tiling = {{[0-9]+}} : i64}
// CHECK: func.func private @gate_product.feed(%{{.*}}: tensor<[[ROWS]]x32xf32>, %{{.*}}: tensor<32xf32>, %{{.*}}: tensor<[[ROWS]]x32xf32>)

// The cube core waits for the rows of a block before it loads them; the vector cores set the flag.
// BUILT: func.func private @gate_product({{.*}}pto.part_of = "gate_product"
// BUILT: pto.sync.wait <PIPE_MTE2>, 2
// BUILT: pto.tmatmul
// BUILT: func.func private @gate_product.vector({{.*}}kernel_kind<vector>, pto.part_of = "gate_product"
// BUILT: pto.tcolexpandmul
// BUILT: pto.sync.set <PIPE_MTE3>, 2
// BUILT-NOT: gate_product.feed

func.func private @product(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>, %out: tensor<64x16xf32>) -> tensor<64x16xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<64x16xf32>) -> tensor<64x16xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x16xf32>) outs(%f : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

func.func private @gate(%a: tensor<64x32xf32>, %v: tensor<32xf32>, %out: tensor<64x32xf32>) -> tensor<64x32xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %v : tensor<64x32xf32>, tensor<32xf32>) outs(%out : tensor<64x32xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %r = arith.mulf %x, %s : f32
    linalg.yield %r : f32
  } -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

func.func private @turn(%a: tensor<32x64xf32>, %out: tensor<64x32xf32>) -> tensor<64x32xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<32x64xf32>) outs(%out : tensor<64x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  } -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
