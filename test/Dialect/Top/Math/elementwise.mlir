// RUN: pto-opt %s | pto-opt | FileCheck %s

// CHECK-LABEL: func @binary
func.func @binary(%a: tensor<2x3x4xf32>, %b: tensor<3x1xf32>, %s: tensor<f32>) -> tensor<2x3x4xf32> {
  // CHECK: top.add %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %0 = top.add %a, %b : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: top.sub %{{.*}} -> tensor<3x1xf32>
  %1 = top.sub %s, %b : (tensor<f32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  // CHECK: top.mul
  %2 = top.mul %0, %1 : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: top.div
  %3 = top.div %2, %0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: top.pow
  %4 = top.pow %3, %s : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  // CHECK: top.max
  %5 = top.max %4, %s : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  // CHECK: top.min
  %6 = top.min %5, %s : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %6 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<5xf16>, %i: tensor<3xi32>) -> (tensor<5xf16>, tensor<3xi32>) {
  // CHECK: top.relu %{{.*}} : (tensor<5xf16>) -> tensor<5xf16>
  %0 = top.relu %x : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.leaky_relu %{{.*}} {alpha = 1.000000e-02 : f64}
  %1 = top.leaky_relu %0 {alpha = 0.01 : f64} : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.sigmoid
  %2 = top.sigmoid %1 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.hard_sigmoid %{{.*}} {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64}
  %3 = top.hard_sigmoid %2 {alpha = 0.2, beta = 0.5} : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.hard_swish
  %4 = top.hard_swish %3 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.tanh
  %5 = top.tanh %4 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.exp
  %6 = top.exp %5 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.log
  %7 = top.log %6 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.sqrt
  %8 = top.sqrt %7 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.abs
  %9 = top.abs %8 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.neg
  %10 = top.neg %9 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.reciprocal
  %11 = top.reciprocal %10 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.erf
  %12 = top.erf %11 : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.clip %{{.*}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64}
  %13 = top.clip %12 {min = 0.0, max = 6.0} : (tensor<5xf16>) -> tensor<5xf16>
  // CHECK: top.clip %{{.*}} {min = 1.000000e+00 : f64} : (tensor<3xi32>)
  %14 = top.clip %i {min = 1.0} : (tensor<3xi32>) -> tensor<3xi32>
  return %13, %14 : tensor<5xf16>, tensor<3xi32>
}

// CHECK-LABEL: func @rounding_and_trigonometry
func.func @rounding_and_trigonometry(%x: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: top.round %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %0 = top.round %x : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.floor %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %1 = top.floor %0 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.ceil %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %2 = top.ceil %1 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.sign %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %3 = top.sign %2 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.sin %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %4 = top.sin %3 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.cos %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %5 = top.cos %4 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.tan %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %6 = top.tan %5 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.asin %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %7 = top.asin %6 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.acos %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %8 = top.acos %7 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.atan %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %9 = top.atan %8 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.asinh %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %10 = top.asinh %9 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.acosh %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %11 = top.acosh %10 : (tensor<5xf32>) -> tensor<5xf32>
  // CHECK: top.atanh %{{.*}} : (tensor<5xf32>) -> tensor<5xf32>
  %12 = top.atanh %11 : (tensor<5xf32>) -> tensor<5xf32>
  return %12 : tensor<5xf32>
}

// CHECK-LABEL: func @cast
func.func @cast(%x: tensor<5xf32>) -> tensor<5xi8> {
  // CHECK: top.cast %{{.*}} {to = i8} : (tensor<5xf32>) -> tensor<5xi8>
  %0 = top.cast %x {to = i8} : (tensor<5xf32>) -> tensor<5xi8>
  return %0 : tensor<5xi8>
}

// CHECK-LABEL: func @bits
func.func @bits(%a: tensor<2x3xui8>, %b: tensor<3xui8>) -> tensor<2x3xui8> {
  // CHECK: top.bitand %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  %0 = top.bitand %a, %b : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  // CHECK: top.bitor
  %1 = top.bitor %0, %b : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  // CHECK: top.bitxor
  %2 = top.bitxor %1, %a : (tensor<2x3xui8>, tensor<2x3xui8>) -> tensor<2x3xui8>
  return %2 : tensor<2x3xui8>
}
