// RUN: pto-opt %s --form-kernels | FileCheck %s --check-prefix FORM
// RUN: pto-opt %s --form-kernels --build-cube-kernels='num-cores=1' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// One scale: a descriptor with the store. Scales of few digits: descriptors in the fixpipe's buffer, relu with the store. Scales that its
// buffer would cut: sums leave the cube, another kernel requantises.
// FORM-LABEL: func.func @main
// FORM: top.launch @k0_one
// FORM: top.launch @k1_few
// FORM: top.launch @[[SUMS:.*]] ins({{.*}} -> tensor<4x4xi32>
// FORM: top.launch @{{.*}} ins({{.*}}tensor<4x4xi32>
// FORM: @k1_few({{.*}}: tensor<4x32xi8>, {{.*}}: tensor<32x4xi8>, %[[S:.*]]: tensor<4xf32>, {{.*}}: tensor<4x4xi8>)
// FORM: linalg.matmul
// FORM: linalg.generic {{.*}} ins({{.*}}, %[[S]] : tensor<4x4xi32>, tensor<4xf32>)
// FORM: math.roundeven

// CHECK-LABEL: func.func private @k0_one(
// CHECK: %[[WORD:.*]] = arith.constant 70782118002688 : i64
// CHECK: pto.tstore ins(%{{.*}}, %[[WORD]] : i64) outs({{.*}}xi8>)
// CHECK-LABEL: func.func private @k1_few({{.*}}, %{{.*}}: !pto.ptr<i64>, %{{.*}}: !pto.ptr<i8>)
// CHECK: %[[F:.*]] = pto.alloc_tile : !pto.tile_buf<scaling, 1x16xi64, valid=1x4>
// CHECK: pto.tmov ins({{.*}}) outs(%[[F]] :
// CHECK: pto.tstore_fp ins(%{{.*}}, %[[F]] : {{.*}}) outs({{.*}}xi8>) {reluPreMode = #pto<relu_pre_mode normal_relu>}
func.func @main(%x: tensor<4x32xi8>, %w: tensor<32x4xi8>) -> (tensor<4x4xi8>, tensor<4x4xi8>, tensor<4x4xi8>) {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x4xi32>
  %o = tensor.empty() : tensor<4x4xi8>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
  %few = arith.constant dense<[0.5, 0.25, 0.75, 1.0]> : tensor<4xf32>
  %many = arith.constant dense<[0.5, 0.25, 0.1, 1.0]> : tensor<4xf32>
  %s0 = linalg.matmul ins(%x, %w : tensor<4x32xi8>, tensor<32x4xi8>) outs(%f : tensor<4x4xi32>) -> tensor<4x4xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s0 : tensor<4x4xi32>) outs(%o : tensor<4x4xi8>) {
  ^bb0(%in: i32, %out: i8):
    %r = arith.sitofp %in : i32 to f32
    %m = arith.constant 0.5 : f32
    %p = arith.mulf %r, %m : f32
    %zero = arith.constant 3.0 : f32
    %a = arith.addf %p, %zero : f32
    %least = arith.constant -128.0 : f32
    %greatest = arith.constant 127.0 : f32
    %l = arith.maximumf %a, %least : f32
    %g = arith.minimumf %l, %greatest : f32
    %n = math.roundeven %g : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<4x4xi8> loc("one")
  %s1 = linalg.matmul ins(%x, %w : tensor<4x32xi8>, tensor<32x4xi8>) outs(%f : tensor<4x4xi32>) -> tensor<4x4xi32>
  %1 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%s1, %few : tensor<4x4xi32>, tensor<4xf32>) outs(%o : tensor<4x4xi8>) {
  ^bb0(%in: i32, %m: f32, %out: i8):
    %r = arith.sitofp %in : i32 to f32
    %p = arith.mulf %r, %m : f32
    %least = arith.constant 0.0 : f32
    %greatest = arith.constant 127.0 : f32
    %l = arith.maximumf %p, %least : f32
    %g = arith.minimumf %l, %greatest : f32
    %n = math.roundeven %g : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<4x4xi8> loc("few")
  %s2 = linalg.matmul ins(%x, %w : tensor<4x32xi8>, tensor<32x4xi8>) outs(%f : tensor<4x4xi32>) -> tensor<4x4xi32>
  %2 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%s2, %many : tensor<4x4xi32>, tensor<4xf32>) outs(%o : tensor<4x4xi8>) {
  ^bb0(%in: i32, %m: f32, %out: i8):
    %r = arith.sitofp %in : i32 to f32
    %p = arith.mulf %r, %m : f32
    %least = arith.constant -128.0 : f32
    %greatest = arith.constant 127.0 : f32
    %l = arith.maximumf %p, %least : f32
    %g = arith.minimumf %l, %greatest : f32
    %n = math.roundeven %g : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<4x4xi8> loc("many")
  return %0, %1, %2 : tensor<4x4xi8>, tensor<4x4xi8>, tensor<4x4xi8>
}
