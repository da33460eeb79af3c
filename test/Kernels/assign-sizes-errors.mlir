// RUN: pto-opt %s --assign-sizes --split-input-file --verify-diagnostics

func.func private @sum(%x: tensor<8x40xf32>, %y: tensor<40xf32>) -> tensor<40xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{reduces over a size that is known at run time}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                       iterator_types = ["reduction", "parallel"]}
       ins(%x : tensor<8x40xf32>) outs(%y : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  return %0 : tensor<40xf32>
}
func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}) -> tensor<40xf32>
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<40xf32>
  %0 = top.launch @sum ins(%x : tensor<8x40xf32>) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// A constant of eight rows has none for other sizes.
func.func private @add(%x: tensor<8x40xf32>, %c: tensor<8x40xf32>, %y: tensor<8x40xf32>) -> tensor<8x40xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{combines a tensor of 'tensor<8x40xf32>' with a size that is known at run time}}
  %0 = linalg.add ins(%x, %c : tensor<8x40xf32>, tensor<8x40xf32>) outs(%y : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %0 : tensor<8x40xf32>
}
func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}, %c: tensor<8x40xf32>)
    -> (tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<8x40xf32>
  %0 = top.launch @add ins(%x, %c : tensor<8x40xf32>, tensor<8x40xf32>) outs(%e : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %0 : tensor<8x40xf32>
}

// -----

func.func private @k(%x: tensor<40x8xf32>, %y: tensor<40x8xf32>) -> tensor<40x8xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %0 = linalg.exp ins(%x : tensor<40x8xf32>) outs(%y : tensor<40x8xf32>) -> tensor<40x8xf32>
  return %0 : tensor<40x8xf32>
}
func.func @main(%x: tensor<40x8xf32> {top.sizes = affine_map<()[s0] -> (40, s0)>})
    -> (tensor<40x8xf32> {top.sizes = affine_map<()[s0] -> (40, s0)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<40x8xf32>
  // expected-error @below {{reads a tensor whose size at run time is not its outermost one}}
  %0 = top.launch @k ins(%x : tensor<40x8xf32>) outs(%e : tensor<40x8xf32>) -> tensor<40x8xf32>
  return %0 : tensor<40x8xf32>
}

// -----

func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}) -> tensor<16x20xf32>
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  // expected-error @below {{moves along a size that is known at run time}}
  %0 = tensor.extract_slice %x[0, 0] [4, 40] [1, 1] : tensor<8x40xf32> to tensor<4x40xf32>
  %1 = tensor.empty() : tensor<16x20xf32>
  return %1 : tensor<16x20xf32>
}

// -----

func.func private @join(%x: tensor<8x40xf32>, %c: tensor<8x2xf32>, %y: tensor<8x42xf32>) -> tensor<8x42xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{joins tensors, of which only some have a size that is known at run time}}
  %0 = tensor.concat dim(1) %x, %c : (tensor<8x40xf32>, tensor<8x2xf32>) -> tensor<8x42xf32>
  return %0 : tensor<8x42xf32>
}
func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}, %c: tensor<8x2xf32>)
    -> (tensor<8x42xf32> {top.sizes = affine_map<()[s0] -> (s0, 42)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<8x42xf32>
  %0 = top.launch @join ins(%x, %c : tensor<8x40xf32>, tensor<8x2xf32>) outs(%e : tensor<8x42xf32>) -> tensor<8x42xf32>
  return %0 : tensor<8x42xf32>
}

// -----

// The row is computed: the data must have all its rows.
func.func private @gather(%x: tensor<8x40xf32>, %i: tensor<3xi32>, %y: tensor<3x40xf32>) -> tensor<3x40xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  // expected-error @below {{gathers along a size that is known at run time}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
       ins(%i : tensor<3xi32>) outs(%y : tensor<3x40xf32>) {
  ^bb0(%a: i32, %b: f32):
    %row = arith.index_cast %a : i32 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %x[%row, %column] : tensor<8x40xf32>
    linalg.yield %v : f32
  } -> tensor<3x40xf32>
  return %0 : tensor<3x40xf32>
}
func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}, %i: tensor<3xi32>) -> tensor<3x40xf32>
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<3x40xf32>
  %0 = top.launch @gather ins(%x, %i : tensor<8x40xf32>, tensor<3xi32>) outs(%e : tensor<3x40xf32>) -> tensor<3x40xf32>
  return %0 : tensor<3x40xf32>
}

// -----

// Columns of an image: the distance of its rows would be known at run time only.
func.func private @images(%x: tensor<1x6x8x4xf32>, %w: tensor<3x3x4x4xf32>, %y: tensor<1x4x6x4xf32>)
    -> tensor<1x4x6x4xf32> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%y : tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x8x4xf32>, tensor<3x3x4x4xf32>)
      outs(%init : tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
  return %0 : tensor<1x4x6x4xf32>
}
func.func @main(%x: tensor<1x6x8x4xf32> {top.sizes = affine_map<()[s0] -> (1, 6, s0, 4)>}, %w: tensor<3x3x4x4xf32>)
    -> tensor<1x4x6x4xf32> attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<1x4x6x4xf32>
  // expected-error @below {{reads a tensor whose size at run time is not its outermost one}}
  %0 = top.launch @images ins(%x, %w : tensor<1x6x8x4xf32>, tensor<3x3x4x4xf32>) outs(%e : tensor<1x4x6x4xf32>)
      -> tensor<1x4x6x4xf32>
  return %0 : tensor<1x4x6x4xf32>
}

// -----

func.func private @attention(%q: tensor<1x8x3x16xf16>, %y: tensor<1x8x3x16xf16>)
    -> tensor<1x8x3x16xf16> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
  // expected-error @below {{is an attention whose heads or their depths are known at run time}}
  %0 = top.attention %q, %q, %q {scale = 1.0, q_heads = 8, kv_heads = 8}
      : (tensor<1x8x3x16xf16>, tensor<1x8x3x16xf16>, tensor<1x8x3x16xf16>) -> tensor<1x8x3x16xf16>
  return %0 : tensor<1x8x3x16xf16>
}
func.func @main(%q: tensor<1x8x3x16xf16> {top.sizes = affine_map<()[s0] -> (1, s0, 3, 16)>})
    -> (tensor<1x8x3x16xf16> {top.sizes = affine_map<()[s0] -> (1, s0, 3, 16)>})
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<1x8x3x16xf16>
  %0 = top.launch @attention ins(%q : tensor<1x8x3x16xf16>) outs(%e : tensor<1x8x3x16xf16>) -> tensor<1x8x3x16xf16>
  return %0 : tensor<1x8x3x16xf16>
}

// -----

// The rows of the bias are as far apart as there are keys.
module attributes {pto.target_arch = "a3"} {
  func.func private @attention(%q: tensor<1x1x4x16xf16>, %k: tensor<1x1x8x16xf16>, %b: tensor<4x8xf16>, %y: tensor<1x1x4x16xf16>)
      -> tensor<1x1x4x16xf16> attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    // expected-error @below {{is an attention with a bias of rows whose length is known at run time}}
    %0 = top.attention %q, %k, %k bias %b {scale = 1.0, q_heads = 1, kv_heads = 1}
        : (tensor<1x1x4x16xf16>, tensor<1x1x8x16xf16>, tensor<1x1x8x16xf16>, tensor<4x8xf16>) -> tensor<1x1x4x16xf16>
    return %0 : tensor<1x1x4x16xf16>
  }
  func.func @main(%q: tensor<1x1x4x16xf16>, %k: tensor<1x1x8x16xf16> {top.sizes = affine_map<()[s0] -> (1, 1, s0, 16)>},
                  %b: tensor<4x8xf16> {top.sizes = affine_map<()[s0] -> (4, s0)>}) -> tensor<1x1x4x16xf16>
      attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
    %e = tensor.empty() : tensor<1x1x4x16xf16>
    %0 = top.launch @attention ins(%q, %k, %b : tensor<1x1x4x16xf16>, tensor<1x1x8x16xf16>, tensor<4x8xf16>)
        outs(%e : tensor<1x1x4x16xf16>) -> tensor<1x1x4x16xf16>
    return %0 : tensor<1x1x4x16xf16>
  }
}

// -----

// expected-error @below {{output 0 has another size at run time than the model gives it: affine_map<()[s0] -> (s0, 40)>}}
func.func @main(%x: tensor<8x40xf32> {top.sizes = affine_map<()[s0] -> (s0, 40)>}) -> tensor<8x40xf32>
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  return %x : tensor<8x40xf32>
}

// -----

// Seven windows of three in nine rows, six in eight: no multiple of the rows.
func.func private @valid(%x: tensor<1x8x8x4xf32>, %y: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %least = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%y : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  // expected-error @below {{reads windows of a size that is known at run time, as many as are no multiple of it}}
  %0 = linalg.pooling_nhwc_max ins(%x, %window : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
      outs(%init : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}
func.func @main(%x: tensor<1x8x8x4xf32> {top.sizes = affine_map<()[s0] -> (1, s0, 8, 4)>}) -> tensor<1x6x6x4xf32>
    attributes {top.symbols = [{name = "n", least = 3, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<1x6x6x4xf32>
  %0 = top.launch @valid ins(%x : tensor<1x8x8x4xf32>) outs(%e : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %0 : tensor<1x6x6x4xf32>
}

// -----

func.func private @pad(%x: tensor<8x4xf32>, %y: tensor<10x4xf32>) -> tensor<10x4xf32>
    attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x4xf32> to tensor<10x4xf32>
  // expected-error @below {{reads a tensor that is padded along a size that is known at run time}}
  %1 = linalg.exp ins(%0 : tensor<10x4xf32>) outs(%y : tensor<10x4xf32>) -> tensor<10x4xf32>
  return %1 : tensor<10x4xf32>
}
func.func @main(%x: tensor<8x4xf32> {top.sizes = affine_map<()[s0] -> (s0, 4)>}) -> tensor<10x4xf32>
    attributes {top.symbols = [{name = "n", least = 1, greatest = 8, multiple = 1}]} {
  %e = tensor.empty() : tensor<10x4xf32>
  %0 = top.launch @pad ins(%x : tensor<8x4xf32>) outs(%e : tensor<10x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
