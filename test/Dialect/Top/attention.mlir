// RUN: pto-opt %s --split-input-file --verify-diagnostics | pto-opt --split-input-file | FileCheck %s
// RUN: pto-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | pto-opt --split-input-file | FileCheck %s

// Nothing but Q, K and V; defaults are not printed.
// CHECK-LABEL: func @plain
func.func @plain(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x4xf32>) -> tensor<2x3x5x4xf32> {
  // CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} {kv_heads = 3 : i64, q_heads = 3 : i64, scale = 5.000000e-01 : f64} :
  // CHECK-SAME: -> tensor<2x3x5x4xf32>
  %0 = top.attention %q, %k, %v {scale = 0.5, q_heads = 3, kv_heads = 3}
      : (tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x5x4xf32>
  return %0 : tensor<2x3x5x4xf32>
}

// Everything: shared heads, layouts of their own, bias, lengths, sinks.
// CHECK-LABEL: func @all
func.func @all(%q: tensor<2x5x32xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x7x6xf16>, %b: tensor<2x1x1x7xf32>, %l: tensor<2xi32>,
               %s: tensor<4xf32>) -> tensor<2x5x12xf16> {
  // CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} lengths %{{.*}} sinks %{{.*}} {causal = true, kv_heads = 2 : i64
  // CHECK-SAME: window = array<i64: 3, -1>
  %0 = top.attention %q, %k, %v bias %b lengths %l sinks %s
      {scale = 0.25, q_heads = 4, kv_heads = 2, causal = true, window = array<i64: 3, -1>, softcap = 20.0, offset = -2,
       q_layout = "BSND", v_layout = "BSND", result_layout = "BSND"}
      : (tensor<2x5x32xf16>, tensor<2x2x7x8xf16>, tensor<2x7x6xf16>, tensor<2x1x1x7xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<2x5x12xf16>
  return %0 : tensor<2x5x12xf16>
}

// CHECK-LABEL: func @lengths_only
func.func @lengths_only(%q: tensor<1x1x1x8xf32>, %k: tensor<1x1x7x8xf32>, %l: tensor<1xi32>) -> tensor<1x1x1x8xf32> {
  // CHECK: top.attention %{{.*}}, %{{.*}}, %{{.*}} lengths %{{.*}} {
  %0 = top.attention %q, %k, %k lengths %l {scale = 1.0, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x1x8xf32>, tensor<1x1x7x8xf32>, tensor<1x1x7x8xf32>, tensor<1xi32>) -> tensor<1x1x1x8xf32>
  return %0 : tensor<1x1x1x8xf32>
}

// -----

func.func @heads(%q: tensor<1x3x5x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects q_heads to be a positive multiple of kv_heads, got 3 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 3, kv_heads = 2}
      : (tensor<1x3x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @layout(%q: tensor<1x5x24xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects a query of [batch, 3, rows, depth] (BNSD), got 1x5x24}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x5x24xf32>, tensor<1x5x24xf32>, tensor<1x5x24xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @unknown_layout(%q: tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+1 {{attribute 'q_layout' failed to satisfy constraint: string attribute is BNSD or BSND}}
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 3, kv_heads = 3, q_layout = "SBH"}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @merged(%q: tensor<1x3x5x8xf32>, %k: tensor<1x7x25xf32>, %v: tensor<1x3x7x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects a key of [batch, rows, 3 * depth] (BSND), got 1x7x25}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %v {scale = 1.0, q_heads = 3, kv_heads = 3, k_layout = "BSND"}
      : (tensor<1x3x5x8xf32>, tensor<1x7x25xf32>, tensor<1x3x7x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @depth(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x7x9xf32>) -> tensor<1x3x5x9xf32> {
  // expected-error @+2 {{expects query and key of one depth, got 8 and 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x7x9xf32>, tensor<1x3x7x9xf32>) -> tensor<1x3x5x9xf32>
  return %0 : tensor<1x3x5x9xf32>
}

// -----

func.func @rows(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x7x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects as many rows of value as of key, got 5 and 7}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %q {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x7x8xf32>, tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @batch(%q: tensor<2x3x5x8xf32>, %k: tensor<1x3x5x8xf32>) -> tensor<2x3x5x8xf32> {
  // expected-error @+2 {{expects query, key and value of one batch, got 2, 1 and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<2x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %0 : tensor<2x3x5x8xf32>
}

// -----

func.func @types(%q: tensor<1x3x5x8xf32>, %k: tensor<1x3x5x8xf16>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects query, key and value of one element type, got 'f32' and 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %q {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf16>, tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @many(%q: tensor<1x1x1x8xf32>, %k: tensor<1x1x16777217x8xf32>) -> tensor<1x1x1x8xf32> {
  // expected-error @+2 {{expects at most 16777216 rows of query and key, got 1 and 16777217}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %k, %k {scale = 1.0, q_heads = 1, kv_heads = 1}
      : (tensor<1x1x1x8xf32>, tensor<1x1x16777217x8xf32>, tensor<1x1x16777217x8xf32>) -> tensor<1x1x1x8xf32>
  return %0 : tensor<1x1x1x8xf32>
}

// -----

func.func @bias(%q: tensor<1x3x5x8xf32>, %b: tensor<5x4xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects a bias that broadcasts to the scores 1x3x5x5, got 5x4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q bias %b {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<5x4xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @lengths(%q: tensor<1x3x5x8xf32>, %l: tensor<1xi64>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects lengths of type i32, one per batch (1), got 'tensor<1xi64>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q lengths %l {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1xi64>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @sinks(%q: tensor<1x3x5x8xf32>, %s: tensor<2xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects one sink per query head (3), got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q sinks %s {scale = 1.0, q_heads = 3, kv_heads = 3}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<2xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @window(%q: tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects a window of two values, each -1 (no limit) or at least 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 3, kv_heads = 3, window = array<i64: -2, 0>}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}

// -----

func.func @softcap(%q: tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32> {
  // expected-error @+2 {{expects a softcap of 0 (none) or a positive number}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 3, kv_heads = 3, softcap = -1.0}
      : (tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x8xf32>) -> tensor<1x3x5x8xf32>
  return %0 : tensor<1x3x5x8xf32>
}
