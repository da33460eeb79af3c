// RUN: pto-opt %s --build-template-kernels=num-cores=4 --split-input-file | FileCheck %s

// A function that does not ask for its block runs on one.
// CHECK-LABEL: func.func private @k0(
// CHECK-SAME: %[[IN:.*]]: !pto.ptr<f32>, %[[OUT:.*]]: !pto.ptr<f32>)
// CHECK-SAME: pto.kernel_kind = #pto.kernel_kind<vector>
// CHECK: %[[BLOCK:.*]] = pto.get_block_idx
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BLOCK]]
// CHECK: scf.if %[[FIRST]]
// CHECK: %[[V:.*]] = pto.load_scalar %[[IN]]
// CHECK: pto.store_scalar %[[V]], %[[OUT]]
module attributes {pto.target_arch = "a3"} {
  func.func private @k0(%a: tensor<16x64xf32>, %o: tensor<16x64xf32>) -> tensor<16x64xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %r = top.kernel "example::First"(%a) {number = 0 : i64, types = [tensor<16x64xf32>], bodies = {a3 = {pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>, scalars = array<i64>, text = "func.func @f(%in: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} { %c0 = arith.constant 0 : index %v = pto.load_scalar %in[%c0] : !pto.ptr<f32> -> f32 pto.store_scalar %v, %out[%c0] : !pto.ptr<f32>, f32 return }"}}} : (tensor<16x64xf32>) -> tensor<16x64xf32>
    return %r : tensor<16x64xf32>
  }
}

// -----

// Both kinds of cores; it asks for its block; a result that nothing reads is a slot before the others; the second
// pointer begins 64 bytes into the operand.
// CHECK: top.launch @k1 ins(%{{.*}} : tensor<4x16xf32>) outs(%{{.*}}, %{{.*}} : tensor<2x8xf16>, tensor<4x16xf32>)
// CHECK-LABEL: func.func private @k1(
// CHECK-SAME: %[[A:.*]]: !pto.ptr<f32>, %[[SLOT:.*]]: !pto.ptr<f16>, %[[OUT:.*]]: !pto.ptr<f32>)
// CHECK-SAME: pto.kernel_kind = #pto.kernel_kind<cube>
// CHECK-SAME: pto.part_of = "k1"
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[REST:.*]] = pto.addptr %[[A]], %[[C16]]
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK-NOT: scf.if
// CHECK: %[[BLOCK:.*]] = pto.get_block_idx
// CHECK: arith.addi %[[BLOCK]], %[[SEVEN]]
// CHECK: pto.load_scalar %[[REST]]
// CHECK: pto.store_scalar %{{.*}}, %[[SLOT]]
// CHECK-LABEL: func.func private @k1.vector(
// CHECK-SAME: pto.kernel_kind = #pto.kernel_kind<vector>
// CHECK-SAME: pto.part_of = "k1"
module attributes {pto.target_arch = "a5"} {
  func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %e = tensor.empty() : tensor<4x16xf32>
    %y = top.launch @k1 ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
    return %y : tensor<4x16xf32>
  }
  func.func private @k1(%a: tensor<4x16xf32>, %o: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %r = top.kernel "example::Both"(%a) {number = 0 : i64, types = [tensor<4x16xf32>, tensor<2x8xf16>], bodies = {a5 = {pointers = array<i64: 0, 0, 2>, offsets = array<i64: 0, 64, 0>, scalars = array<i64: 7>, text = "func.func @f(%in: !pto.ptr<f32>, %rest: !pto.ptr<f32>, %slot: !pto.ptr<f16>, %n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<cube>, pto.part_of = \"f\"} { %b = pto.get_block_idx %s = arith.addi %b, %n : i64 %i = arith.index_cast %s : i64 to index %v = pto.load_scalar %rest[%i] : !pto.ptr<f32> -> f32 %h = arith.truncf %v : f32 to f16 pto.store_scalar %h, %slot[%i] : !pto.ptr<f16>, f16 return } func.func @g(%in: !pto.ptr<f32>, %rest: !pto.ptr<f32>, %slot: !pto.ptr<f16>, %n: i64) attributes {pto.kernel_kind = #pto.kernel_kind<vector>, pto.part_of = \"f\"} { return }"}}} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    return %r : tensor<4x16xf32>
  }
}
