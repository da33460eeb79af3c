// Results of the vector kernels, interpreted with numpy, on one, two and five cores.
// RUN: %python %S/Inputs/vector_shapes.py %s | FileCheck %s
// CHECK-NOT: FAIL
// CHECK: failures: 0

#id = affine_map<(d0,d1,d2,d3)->(d0,d1,d2,d3)>
#c = affine_map<(d0,d1,d2,d3)->(d3)>
#se = affine_map<(d0,d1,d2,d3)->(d0,0,0,d3)>
#r2 = affine_map<(d0,d1)->(d0,d1)>
#r1 = affine_map<(d0,d1)->(d0)>
#hwc = affine_map<(d0,d1,d2,d3)->(d0,d3)>
#nc = affine_map<(d0,d1)->(d0,d1)>
#n = affine_map<(d0,d1)->(d0)>

func.func private @relu(%x: tensor<1x24x96x8xf32>, %o: tensor<1x24x96x8xf32>) -> tensor<1x24x96x8xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x: tensor<1x24x96x8xf32>) outs(%o: tensor<1x24x96x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x24x96x8xf32>
  return %r : tensor<1x24x96x8xf32>
}

func.func private @squeeze_excite(%x: tensor<3x7x11x8xf32>, %s: tensor<3x1x1x8xf32>, %o: tensor<3x7x11x8xf32>) -> tensor<3x7x11x8xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c2 = arith.constant 0.2 : f32
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %h = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<3x1x1x8xf32>
  %hs = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s: tensor<3x1x1x8xf32>) outs(%e: tensor<3x1x1x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %c2 : f32
    %n = arith.addf %m, %h : f32
    %p = arith.maximumf %n, %z : f32
    %q = arith.minimumf %p, %one : f32
    linalg.yield %q : f32
  } -> tensor<3x1x1x8xf32>
  %r = linalg.generic {indexing_maps=[#id,#se,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x, %hs: tensor<3x7x11x8xf32>, tensor<3x1x1x8xf32>) outs(%o: tensor<3x7x11x8xf32>) {
  ^bb0(%a: f32, %a2: f32, %b: f32):
    %m = arith.mulf %a, %a2 : f32
    linalg.yield %m : f32
  } -> tensor<3x7x11x8xf32>
  return %r : tensor<3x7x11x8xf32>
}

func.func private @softmax(%x: tensor<50x197xf32>, %o: tensor<50x197xf32>) -> tensor<50x197xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<50xf32>
  %f1 = linalg.fill ins(%ninf: f32) outs(%e1: tensor<50xf32>) -> tensor<50xf32>
  %mx = linalg.generic {indexing_maps=[#r2,#r1], iterator_types=["parallel","reduction"]} ins(%x: tensor<50x197xf32>) outs(%f1: tensor<50xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<50xf32>
  %e2 = tensor.empty() : tensor<50x197xf32>
  %ex = linalg.generic {indexing_maps=[#r2,#r1,#r2], iterator_types=["parallel","parallel"]} ins(%x, %mx: tensor<50x197xf32>, tensor<50xf32>) outs(%e2: tensor<50x197xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %m = math.exp %s : f32
    linalg.yield %m : f32
  } -> tensor<50x197xf32>
  %f2 = linalg.fill ins(%z: f32) outs(%e1: tensor<50xf32>) -> tensor<50xf32>
  %sm = linalg.generic {indexing_maps=[#r2,#r1], iterator_types=["parallel","reduction"]} ins(%ex: tensor<50x197xf32>) outs(%f2: tensor<50xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<50xf32>
  %r = linalg.generic {indexing_maps=[#r2,#r1,#r2], iterator_types=["parallel","parallel"]} ins(%ex, %sm: tensor<50x197xf32>, tensor<50xf32>) outs(%o: tensor<50x197xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<50x197xf32>
  return %r : tensor<50x197xf32>
}

func.func private @long_softmax(%x: tensor<3x20011xf32>, %o: tensor<3x20011xf32>) -> tensor<3x20011xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<3xf32>
  %f1 = linalg.fill ins(%ninf: f32) outs(%e1: tensor<3xf32>) -> tensor<3xf32>
  %mx = linalg.generic {indexing_maps=[#r2,#r1], iterator_types=["parallel","reduction"]} ins(%x: tensor<3x20011xf32>) outs(%f1: tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %e2 = tensor.empty() : tensor<3x20011xf32>
  %ex = linalg.generic {indexing_maps=[#r2,#r1,#r2], iterator_types=["parallel","parallel"]} ins(%x, %mx: tensor<3x20011xf32>, tensor<3xf32>) outs(%e2: tensor<3x20011xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %m = math.exp %s : f32
    linalg.yield %m : f32
  } -> tensor<3x20011xf32>
  %f2 = linalg.fill ins(%z: f32) outs(%e1: tensor<3xf32>) -> tensor<3xf32>
  %sm = linalg.generic {indexing_maps=[#r2,#r1], iterator_types=["parallel","reduction"]} ins(%ex: tensor<3x20011xf32>) outs(%f2: tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps=[#r2,#r1,#r2], iterator_types=["parallel","parallel"]} ins(%ex, %sm: tensor<3x20011xf32>, tensor<3xf32>) outs(%o: tensor<3x20011xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<3x20011xf32>
  return %r : tensor<3x20011xf32>
}

func.func private @depthwise_wide(%x: tensor<1x4x1536x16xf32>, %w: tensor<3x3x16xf32>, %y: tensor<1x4x1536x16xf32>, %o: tensor<1x4x1536x16xf32>) -> tensor<1x4x1536x16xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0,1,1,0] high[0,1,1,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<1x4x1536x16xf32> to tensor<1x6x1538x16xf32>
  %e = tensor.empty() : tensor<1x4x1536x16xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x4x1536x16xf32>) -> tensor<1x4x1536x16xf32>
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<1>:tensor<2xi64>} ins(%p, %w: tensor<1x6x1538x16xf32>, tensor<3x3x16xf32>) outs(%f: tensor<1x4x1536x16xf32>) -> tensor<1x4x1536x16xf32>
  %r = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv, %y: tensor<1x4x1536x16xf32>, tensor<1x4x1536x16xf32>) outs(%o: tensor<1x4x1536x16xf32>) {
  ^bb0(%a: f32, %b: f32, %bq: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x4x1536x16xf32>
  return %r : tensor<1x4x1536x16xf32>
}

func.func private @depthwise_ragged(%x: tensor<1x59x61x24xf32>, %w: tensor<3x3x24xf32>, %y: tensor<1x30x31x24xf32>, %o: tensor<1x30x31x24xf32>) -> tensor<1x30x31x24xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0,1,1,0] high[0,1,1,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<1x59x61x24xf32> to tensor<1x61x63x24xf32>
  %e = tensor.empty() : tensor<1x30x31x24xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x30x31x24xf32>) -> tensor<1x30x31x24xf32>
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<2>:tensor<2xi64>} ins(%p, %w: tensor<1x61x63x24xf32>, tensor<3x3x24xf32>) outs(%f: tensor<1x30x31x24xf32>) -> tensor<1x30x31x24xf32>
  %r = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv, %y: tensor<1x30x31x24xf32>, tensor<1x30x31x24xf32>) outs(%o: tensor<1x30x31x24xf32>) {
  ^bb0(%a: f32, %b: f32, %bq: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x30x31x24xf32>
  return %r : tensor<1x30x31x24xf32>
}

func.func private @depthwise_ragged_rows(%x: tensor<1x37x64x40xf32>, %w: tensor<5x5x40xf32>, %y: tensor<1x37x64x40xf32>, %o: tensor<1x37x64x40xf32>) -> tensor<1x37x64x40xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0,2,2,0] high[0,2,2,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<1x37x64x40xf32> to tensor<1x41x68x40xf32>
  %e = tensor.empty() : tensor<1x37x64x40xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x37x64x40xf32>) -> tensor<1x37x64x40xf32>
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<1>:tensor<2xi64>} ins(%p, %w: tensor<1x41x68x40xf32>, tensor<5x5x40xf32>) outs(%f: tensor<1x37x64x40xf32>) -> tensor<1x37x64x40xf32>
  %r = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv, %y: tensor<1x37x64x40xf32>, tensor<1x37x64x40xf32>) outs(%o: tensor<1x37x64x40xf32>) {
  ^bb0(%a: f32, %b: f32, %bq: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x37x64x40xf32>
  return %r : tensor<1x37x64x40xf32>
}

func.func private @scaled_depthwise(%x: tensor<2x13x20x24xf32>, %s: tensor<24xf32>, %w: tensor<3x3x24xf32>, %o: tensor<2x7x20x24xf32>) -> tensor<2x7x20x24xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ei = tensor.empty() : tensor<2x13x20x24xf32>
  %in = linalg.generic {indexing_maps=[#id,#c,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x, %s: tensor<2x13x20x24xf32>, tensor<24xf32>) outs(%ei: tensor<2x13x20x24xf32>) {
  ^bb0(%a: f32, %b: f32, %bq: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %m, %one : f32
    linalg.yield %n : f32
  } -> tensor<2x13x20x24xf32>
  %p = tensor.pad %in low[0,1,1,0] high[0,1,1,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<2x13x20x24xf32> to tensor<2x15x22x24xf32>
  %f = linalg.fill ins(%z: f32) outs(%o: tensor<2x7x20x24xf32>) -> tensor<2x7x20x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<[2,1]>:tensor<2xi64>} ins(%p, %w: tensor<2x15x22x24xf32>, tensor<3x3x24xf32>) outs(%f: tensor<2x7x20x24xf32>) -> tensor<2x7x20x24xf32>
  return %r : tensor<2x7x20x24xf32>
}

func.func private @clipped_depthwise_f16(%x: tensor<1x9x10x32xf16>, %w: tensor<2x2x32xf16>, %o: tensor<1x8x9x32xf16>) -> tensor<1x8x9x32xf16> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %zh = arith.constant 0.0 : f16
  %six = arith.constant 6.0 : f16
  %ei = tensor.empty() : tensor<1x9x10x32xf16>
  %in = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x: tensor<1x9x10x32xf16>) outs(%ei: tensor<1x9x10x32xf16>) {
  ^bb0(%a: f16, %bq: f16):
    %m = arith.maximumf %a, %zh : f16
    %n = arith.minimumf %m, %six : f16
    linalg.yield %n : f16
  } -> tensor<1x9x10x32xf16>
  %e = tensor.empty() : tensor<1x8x9x32xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32>
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<1>:tensor<2xi64>} ins(%in, %w: tensor<1x9x10x32xf16>, tensor<2x2x32xf16>) outs(%f: tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32>
  %r = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv: tensor<1x8x9x32xf32>) outs(%o: tensor<1x8x9x32xf16>) {
  ^bb0(%a: f32, %bq: f16):
    %m = arith.truncf %a : f32 to f16
    linalg.yield %m : f16
  } -> tensor<1x8x9x32xf16>
  return %r : tensor<1x8x9x32xf16>
}

func.func private @max_pool_overlapping(%x: tensor<1x29x30x16xf32>, %o: tensor<1x15x15x16xf32>) -> tensor<1x15x15x16xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %ninf = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0,1,1,0] high[0,1,1,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %ninf : f32 } : tensor<1x29x30x16xf32> to tensor<1x31x32x16xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%ninf: f32) outs(%o: tensor<1x15x15x16xf32>) -> tensor<1x15x15x16xf32>
  %r = linalg.pooling_nhwc_max {dilations=dense<1>:tensor<2xi64>, strides=dense<2>:tensor<2xi64>} ins(%p, %w: tensor<1x31x32x16xf32>, tensor<3x3xf32>) outs(%f: tensor<1x15x15x16xf32>) -> tensor<1x15x15x16xf32>
  return %r : tensor<1x15x15x16xf32>
}

func.func private @depthwise(%x: tensor<1x6x96x104xf32>, %w: tensor<5x5x104xf32>, %b: tensor<104xf32>, %o: tensor<1x3x96x104xf32>) -> tensor<1x3x96x104xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0,2,2,0] high[0,2,2,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<1x6x96x104xf32> to tensor<1x10x100x104xf32>
  %e = tensor.empty() : tensor<1x3x96x104xf32>
  %bb = linalg.broadcast ins(%b: tensor<104xf32>) outs(%e: tensor<1x3x96x104xf32>) dimensions=[0,1,2]
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<[2,1]>:tensor<2xi64>} ins(%p, %w: tensor<1x10x100x104xf32>, tensor<5x5x104xf32>) outs(%bb: tensor<1x3x96x104xf32>) -> tensor<1x3x96x104xf32>
  %r = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv: tensor<1x3x96x104xf32>) outs(%o: tensor<1x3x96x104xf32>) {
  ^bb0(%a: f32, %bq: f32):
    %m = arith.maximumf %a, %z : f32
    linalg.yield %m : f32
  } -> tensor<1x3x96x104xf32>
  return %r : tensor<1x3x96x104xf32>
}

func.func private @max_pool(%x: tensor<1x2x96x200xf32>, %o: tensor<1x1x48x200xf32>) -> tensor<1x1x48x200xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %ninf = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%ninf: f32) outs(%o: tensor<1x1x48x200xf32>) -> tensor<1x1x48x200xf32>
  %r = linalg.pooling_nhwc_max {dilations=dense<1>:tensor<2xi64>, strides=dense<2>:tensor<2xi64>} ins(%x, %w: tensor<1x2x96x200xf32>, tensor<2x2xf32>) outs(%f: tensor<1x1x48x200xf32>) -> tensor<1x1x48x200xf32>
  return %r : tensor<1x1x48x200xf32>
}

func.func private @global_average(%x: tensor<1x24x96x40xf32>, %o: tensor<1x40xf32>) -> tensor<1x40xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %s = arith.constant 0.000434 : f32
  %e = tensor.empty() : tensor<1x40xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x40xf32>) -> tensor<1x40xf32>
  %g = linalg.generic {indexing_maps=[#id,#hwc], iterator_types=["parallel","reduction","reduction","parallel"]} ins(%x: tensor<1x24x96x40xf32>) outs(%f: tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<1x40xf32>
  %r = linalg.generic {indexing_maps=[#nc,#nc], iterator_types=["parallel","parallel"]} ins(%g: tensor<1x40xf32>) outs(%o: tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %s : f32
    linalg.yield %m : f32
  } -> tensor<1x40xf32>
  return %r : tensor<1x40xf32>
}

func.func private @to_channels_last_f16(%x: tensor<1x3x48x192xf32>, %o: tensor<1x48x192x3xf16>) -> tensor<1x48x192x3xf16> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = linalg.generic {indexing_maps=[affine_map<(d0,d1,d2,d3)->(d0,d3,d1,d2)>,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x: tensor<1x3x48x192xf32>) outs(%o: tensor<1x48x192x3xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x48x192x3xf16>
  return %r : tensor<1x48x192x3xf16>
}

func.func private @to_channels_last(%x: tensor<1x3x48x192xf32>, %o: tensor<1x48x192x3xf32>) -> tensor<1x48x192x3xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = linalg.transpose ins(%x: tensor<1x3x48x192xf32>) outs(%o: tensor<1x48x192x3xf32>) permutation=[0,2,3,1]
  return %r : tensor<1x48x192x3xf32>
}

func.func private @slice(%x: tensor<2x5x7x8xf32>, %o: tensor<2x2x6x3xf32>) -> tensor<2x2x6x3xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = tensor.extract_slice %x[0,1,1,2][2,2,6,3][1,2,1,1] : tensor<2x5x7x8xf32> to tensor<2x2x6x3xf32>
  return %r : tensor<2x2x6x3xf32>
}

func.func private @concat(%x: tensor<2x5x8xf32>, %y: tensor<2x5x3xf32>, %o: tensor<2x5x11xf32>) -> tensor<2x5x11xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = tensor.concat dim(2) %x, %y : (tensor<2x5x8xf32>, tensor<2x5x3xf32>) -> tensor<2x5x11xf32>
  return %r : tensor<2x5x11xf32>
}

func.func private @softmax2(%x: tensor<1x2xf32>, %o: tensor<1x2xf32>) -> tensor<1x2xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<1xf32>
  %f1 = linalg.fill ins(%ninf: f32) outs(%e1: tensor<1xf32>) -> tensor<1xf32>
  %mx = linalg.generic {indexing_maps=[#nc,affine_map<(d0,d1)->(d0)>], iterator_types=["parallel","reduction"]} ins(%x: tensor<1x2xf32>) outs(%f1: tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  %r = linalg.generic {indexing_maps=[#nc,affine_map<(d0,d1)->(d0)>,#nc], iterator_types=["parallel","parallel"]} ins(%x, %mx: tensor<1x2xf32>, tensor<1xf32>) outs(%o: tensor<1x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    %m = math.exp %s : f32
    linalg.yield %m : f32
  } -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

func.func private @hard_swish_stored(%x: tensor<1x24x96x24xf16>, %o: tensor<1x24x96x24xf16>, %o2: tensor<1x24x96x24xf16>) -> (tensor<1x24x96x24xf16>, tensor<1x24x96x24xf16>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %three = arith.constant 3.0 : f16
  %six = arith.constant 6.0 : f16
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x24x96x24xf16>
  %cl = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x: tensor<1x24x96x24xf16>) outs(%e: tensor<1x24x96x24xf16>) {
  ^bb0(%a: f16, %b: f16):
    %s = arith.addf %a, %three : f16
    %m = arith.maximumf %s, %z : f16
    %n = arith.minimumf %m, %six : f16
    linalg.yield %n : f16
  } -> tensor<1x24x96x24xf16>
  %r = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x, %cl: tensor<1x24x96x24xf16>, tensor<1x24x96x24xf16>) outs(%e: tensor<1x24x96x24xf16>) {
  ^bb0(%a: f16, %q: f16, %b: f16):
    %s = arith.mulf %a, %q : f16
    %m = arith.divf %s, %six : f16
    linalg.yield %m : f16
  } -> tensor<1x24x96x24xf16>
  return %cl, %r : tensor<1x24x96x24xf16>, tensor<1x24x96x24xf16>
}

func.func private @depthwise_f16(%x: tensor<3x13x11x17xf16>, %w: tensor<3x3x17xf16>, %b: tensor<17xf32>, %o: tensor<3x7x6x17xf16>) -> tensor<3x7x6x17xf16> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f16
  %zf = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0,0,0,0] high[0,2,2,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f16 } : tensor<3x13x11x17xf16> to tensor<3x15x13x17xf16>
  %e = tensor.empty() : tensor<3x7x6x17xf32>
  %bb = linalg.broadcast ins(%b: tensor<17xf32>) outs(%e: tensor<3x7x6x17xf32>) dimensions=[0,1,2]
  %cv = linalg.depthwise_conv_2d_nhwc_hwc {dilations=dense<1>:tensor<2xi64>, strides=dense<2>:tensor<2xi64>} ins(%p, %w: tensor<3x15x13x17xf16>, tensor<3x3x17xf16>) outs(%bb: tensor<3x7x6x17xf32>) -> tensor<3x7x6x17xf32>
  %e2 = tensor.empty() : tensor<3x7x6x17xf16>
  %r = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%cv: tensor<3x7x6x17xf32>) outs(%e2: tensor<3x7x6x17xf16>) {
  ^bb0(%a: f32, %bq: f16):
    %m = arith.maximumf %a, %zf : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<3x7x6x17xf16>
  return %r : tensor<3x7x6x17xf16>
}

func.func private @global_average_f16(%x: tensor<3x5x7x13xf16>, %o: tensor<3x13xf16>) -> tensor<3x13xf16> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %s = arith.constant 35.0 : f32
  %e = tensor.empty() : tensor<3x13xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<3x13xf32>) -> tensor<3x13xf32>
  %g = linalg.generic {indexing_maps=[#id,#hwc], iterator_types=["parallel","reduction","reduction","parallel"]} ins(%x: tensor<3x5x7x13xf16>) outs(%f: tensor<3x13xf32>) {
  ^bb0(%a: f16, %b: f32):
    %a2 = arith.extf %a : f16 to f32
    %m = arith.addf %b, %a2 : f32
    linalg.yield %m : f32
  } -> tensor<3x13xf32>
  %e2 = tensor.empty() : tensor<3x13xf16>
  %r = linalg.generic {indexing_maps=[#nc,#nc], iterator_types=["parallel","parallel"]} ins(%g: tensor<3x13xf32>) outs(%e2: tensor<3x13xf16>) {
  ^bb0(%a: f32, %b: f16):
    %m = arith.divf %a, %s : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<3x13xf16>
  return %r : tensor<3x13xf16>
}

func.func private @tanh(%x: tensor<37x101xf32>, %o: tensor<37x101xf32>) -> tensor<37x101xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = linalg.generic {indexing_maps=[#nc,#nc], iterator_types=["parallel","parallel"]} ins(%x: tensor<37x101xf32>) outs(%o: tensor<37x101xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<37x101xf32>
  return %r : tensor<37x101xf32>
}

func.func private @rms_norm(%x: tensor<50x197xf32>, %g: tensor<197xf32>, %o: tensor<50x197xf32>) -> tensor<50x197xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %cn = arith.constant 197.0 : f32
  %e1 = tensor.empty() : tensor<50xf32>
  %f1 = linalg.fill ins(%z: f32) outs(%e1: tensor<50xf32>) -> tensor<50xf32>
  %mx = linalg.generic {indexing_maps=[#nc,#n], iterator_types=["parallel","reduction"]} ins(%x: tensor<50x197xf32>) outs(%f1: tensor<50xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %m = arith.addf %b, %q : f32
    linalg.yield %m : f32
  } -> tensor<50xf32>
  %rs = linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%mx: tensor<50xf32>) outs(%e1: tensor<50xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.divf %a, %cn : f32
    %m = math.rsqrt %q : f32
    linalg.yield %m : f32
  } -> tensor<50xf32>
  %r = linalg.generic {indexing_maps=[#nc,#n,affine_map<(d0,d1)->(d1)>,#nc], iterator_types=["parallel","parallel"]} ins(%x, %rs, %g: tensor<50x197xf32>, tensor<50xf32>, tensor<197xf32>) outs(%o: tensor<50x197xf32>) {
  ^bb0(%a: f32, %b: f32, %gg: f32, %c: f32):
    %s = arith.mulf %a, %b : f32
    %s2 = arith.mulf %gg, %s : f32
    linalg.yield %s2 : f32
  } -> tensor<50x197xf32>
  return %r : tensor<50x197xf32>
}

func.func private @pad(%x: tensor<2x5x3xf32>, %o: tensor<2x8x7xf32>) -> tensor<2x8x7xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c = arith.constant 2.5 : f32
  %p = tensor.pad %x low[0,1,3] high[0,2,1] { ^bb0(%i0: index, %i1: index, %i2: index): tensor.yield %c : f32 } : tensor<2x5x3xf32> to tensor<2x8x7xf32>
  return %p : tensor<2x8x7xf32>
}

func.func private @cast(%x: tensor<7x13xf32>, %o: tensor<7x13xf16>) -> tensor<7x13xf16> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %r = linalg.generic {indexing_maps=[#nc,#nc], iterator_types=["parallel","parallel"]} ins(%x: tensor<7x13xf32>) outs(%o: tensor<7x13xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<7x13xf16>
  return %r : tensor<7x13xf16>
}

func.func private @average_pool(%x: tensor<1x7x9x5xf32>, %o: tensor<1x7x9x5xf32>) -> tensor<1x7x9x5xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %s = arith.constant 9.0 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %p = tensor.pad %x low[0,1,1,0] high[0,1,1,0] { ^bb0(%i0: index, %i1: index, %i2: index, %i3: index): tensor.yield %z : f32 } : tensor<1x7x9x5xf32> to tensor<1x9x11x5xf32>
  %e = tensor.empty() : tensor<1x7x9x5xf32>
  %f = linalg.fill ins(%z: f32) outs(%e: tensor<1x7x9x5xf32>) -> tensor<1x7x9x5xf32>
  %a = linalg.pooling_nhwc_sum {dilations=dense<1>:tensor<2xi64>, strides=dense<1>:tensor<2xi64>} ins(%p, %w: tensor<1x9x11x5xf32>, tensor<3x3xf32>) outs(%f: tensor<1x7x9x5xf32>) -> tensor<1x7x9x5xf32>
  %r = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%a: tensor<1x7x9x5xf32>) outs(%e: tensor<1x7x9x5xf32>) {
  ^bb0(%aa: f32, %b: f32):
    %m = arith.divf %aa, %s : f32
    linalg.yield %m : f32
  } -> tensor<1x7x9x5xf32>
  return %r : tensor<1x7x9x5xf32>
}

// Two results of one normalisation: neither loop nest may use values of the other's loop.
func.func private @two_readers(%x: tensor<50x197xf32>, %g: tensor<50xf32>, %o: tensor<50x197xf32>, %q: tensor<50x197xf32>) -> (tensor<50x197xf32>, tensor<50x197xf32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 197.0 : f32
  %e1 = tensor.empty() : tensor<50xf32>
  %f = linalg.fill ins(%z: f32) outs(%e1: tensor<50xf32>) -> tensor<50xf32>
  %e2 = tensor.empty() : tensor<50x197xf32>
  %s = linalg.generic {indexing_maps=[#nc,#n], iterator_types=["parallel","reduction"]} ins(%x: tensor<50x197xf32>) outs(%f: tensor<50xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<50xf32>
  %c = linalg.generic {indexing_maps=[#nc,#n,#nc], iterator_types=["parallel","parallel"]} ins(%x, %s: tensor<50x197xf32>, tensor<50xf32>) outs(%e2: tensor<50x197xf32>) {
  ^bb0(%a: f32, %t: f32, %b: f32):
    %d = arith.divf %t, %n : f32
    %m = arith.subf %a, %d : f32
    linalg.yield %m : f32
  } -> tensor<50x197xf32>
  %r = linalg.generic {indexing_maps=[#nc,#n,#nc], iterator_types=["parallel","parallel"]} ins(%c, %g: tensor<50x197xf32>, tensor<50xf32>) outs(%o: tensor<50x197xf32>) {
  ^bb0(%a: f32, %t: f32, %b: f32):
    %m = arith.mulf %a, %t : f32
    linalg.yield %m : f32
  } -> tensor<50x197xf32>
  %u = linalg.generic {indexing_maps=[#nc,#nc], iterator_types=["parallel","parallel"]} ins(%c: tensor<50x197xf32>) outs(%q: tensor<50x197xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %one : f32
    linalg.yield %m : f32
  } -> tensor<50x197xf32>
  return %r, %u : tensor<50x197xf32>, tensor<50x197xf32>
}

// A condition per column selects between rows and columns.
func.func private @masked(%x: tensor<19x37xf32>, %k: tensor<37xf32>, %o: tensor<19x37xf32>) -> tensor<19x37xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %z = arith.constant 0.0 : f32
  %low = arith.constant -5.0 : f32
  %r = linalg.generic {indexing_maps=[#nc,affine_map<(d0,d1)->(d1)>,#nc], iterator_types=["parallel","parallel"]} ins(%x, %k: tensor<19x37xf32>, tensor<37xf32>) outs(%o: tensor<19x37xf32>) {
  ^bb0(%a: f32, %t: f32, %b: f32):
    %m = arith.cmpf ogt, %t, %z : f32
    %p = arith.cmpf olt, %a, %z : f32
    %q = arith.ori %m, %p : i1
    %s = arith.select %q, %a, %low : f32
    linalg.yield %s : f32
  } -> tensor<19x37xf32>
  return %r : tensor<19x37xf32>
}
