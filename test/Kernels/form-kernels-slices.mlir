// RUN: pto-opt %s --form-kernels --split-input-file | FileCheck %s

// A slice that is one piece of another kernel's result, and begins where a transfer may, needs no kernel: rows, and the
// columns of a single row.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = top.launch @k0
// CHECK: %[[ROW:.*]] = tensor.extract_slice %[[A]][2, 0] [1, 16] [1, 1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[ROW]][0, 8] [1, 8] [1, 1]
// CHECK: top.launch @k1{{.*}} ins(%[[PART]]
// CHECK-NOT: top.launch
func.func @main(%x: tensor<4x16xf32>) -> tensor<1x8xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x16xf32>
  %row = tensor.extract_slice %0[2, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %part = tensor.extract_slice %row[0, 8] [1, 8] [1, 1] : tensor<1x16xf32> to tensor<1x8xf32>
  %f = tensor.empty() : tensor<1x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<1x8xf32>) outs(%f : tensor<1x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// -----

// Columns of several rows, a piece that begins between two blocks of 32 bytes, a piece of an input, and one that is an
// output are copied.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @main(%x: tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>, tensor<1x16xf32>, tensor<1x16xf32>) {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x16xf32>
  %columns = tensor.extract_slice %0[0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %between = tensor.extract_slice %0[1, 4] [1, 8] [1, 1] : tensor<4x16xf32> to tensor<1x8xf32>
  %input = tensor.extract_slice %x[1, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %output = tensor.extract_slice %0[3, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%columns : tensor<4x8xf32>) outs(%f : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  %g = tensor.empty() : tensor<1x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%between : tensor<1x8xf32>) outs(%g : tensor<1x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<1x8xf32>
  %h = tensor.empty() : tensor<1x16xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%input : tensor<1x16xf32>) outs(%h : tensor<1x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<1x16xf32>
  return %1, %2, %3, %output : tensor<4x8xf32>, tensor<1x8xf32>, tensor<1x16xf32>, tensor<1x16xf32>
}

// -----

// A roll along one dimension, then along the other, copies each of its four pieces once: the slices of the first
// concatenation become slices of what it is made of.
// CHECK: module attributes {top.absorbed = ["rows"]}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4x6x8xf32>
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: top.launch @k0_rolled ins(%[[X]]
// CHECK-NEXT: return
// CHECK: func.func private @k0_rolled
// CHECK-COUNT-4: tensor.extract_slice %arg0
// CHECK-NOT: tensor.extract_slice
func.func @main(%x: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %a = tensor.extract_slice %x[1, 0, 0] [3, 6, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<3x6x8xf32>
  %b = tensor.extract_slice %x[0, 0, 0] [1, 6, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<1x6x8xf32>
  %rows = tensor.concat dim(0) %a, %b : (tensor<3x6x8xf32>, tensor<1x6x8xf32>) -> tensor<4x6x8xf32> loc("rows")
  %c = tensor.extract_slice %rows[0, 2, 0] [4, 4, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<4x4x8xf32>
  %d = tensor.extract_slice %rows[0, 0, 0] [4, 2, 8] [1, 1, 1] : tensor<4x6x8xf32> to tensor<4x2x8xf32>
  %r = tensor.concat dim(1) %c, %d : (tensor<4x4x8xf32>, tensor<4x2x8xf32>) -> tensor<4x6x8xf32> loc("rolled")
  return %r : tensor<4x6x8xf32>
}

// -----

// A pad that concatenations alone read through slices is made in their kernel.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: top.launch
// CHECK-NOT: top.launch
// CHECK: func.func private
// CHECK-DAG: tensor.pad {{.*}} low[1, 0] high[0, 0]
// CHECK-DAG: tensor.pad {{.*}} low[0, 0] high[1, 0]
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<4x8xf32> to tensor<6x8xf32>
  %a = tensor.extract_slice %p[0, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %p[1, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
  %c = tensor.extract_slice %p[2, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
  %r = tensor.concat dim(1) %a, %b, %c : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %r : tensor<4x24xf32>
}

// -----

// What writes its operands side by side says so; what first takes parts of its operand does not.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK: top.launch @k0
// CHECK: top.launch @k1{{.*}} ins(%{{[0-9]+}}, %arg1 : {{.*}} top.concat_axis = 1
// CHECK: top.launch @k2{{.*}} ins(%{{[0-9]+}} : {{.*}} outs(%{{[0-9]+}} : tensor<4x16xf32>)
// CHECK-NOT: top.concat_axis
// CHECK: return
func.func @main(%x: tensor<4x16xf32>, %y: tensor<4x8xf32>) -> (tensor<4x24xf32>, tensor<4x16xf32>) {
  %e = tensor.empty() : tensor<4x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<4x16xf32>
  %wide = tensor.concat dim(1) %0, %y : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %a = tensor.extract_slice %0[0, 0] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %0[0, 8] [4, 8] [1, 1] : tensor<4x16xf32> to tensor<4x8xf32>
  %swapped = tensor.concat dim(1) %b, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %wide, %swapped : tensor<4x24xf32>, tensor<4x16xf32>
}

// -----

// A concatenation copies columns of a tensor, and reads rows of these columns where they lie: that needs a kernel for
// the columns.
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = top.launch @k0
// CHECK: %[[COLUMNS:.*]] = top.launch @k1{{.*}} ins(%[[A]] : {{.*}} -> tensor<8x24xf32>
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[COLUMNS]][4, 0] [4, 24] [1, 1]
// CHECK: top.launch @k2{{.*}} ins(%[[ROWS]], %[[COLUMNS]]
func.func @main(%x: tensor<8x40xf32>) -> tensor<12x27xf32> {
  %e = tensor.empty() : tensor<8x40xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x40xf32>) outs(%e : tensor<8x40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x40xf32>
  %columns = tensor.extract_slice %0[0, 16] [8, 24] [1, 1] : tensor<8x40xf32> to tensor<8x24xf32>
  %rows = tensor.extract_slice %columns[4, 0] [4, 24] [1, 1] : tensor<8x24xf32> to tensor<4x24xf32>
  %high = tensor.concat dim(0) %rows, %columns : (tensor<4x24xf32>, tensor<8x24xf32>) -> tensor<12x24xf32>
  %some = tensor.extract_slice %high[0, 0] [12, 3] [1, 1] : tensor<12x24xf32> to tensor<12x3xf32>
  %wide = tensor.concat dim(1) %high, %some : (tensor<12x24xf32>, tensor<12x3xf32>) -> tensor<12x27xf32>
  return %wide : tensor<12x27xf32>
}
