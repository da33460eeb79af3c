// Flags of a kernel with more dependencies between two engines than event ids: engines that synchronise before a loop and again inside it must
// not set a flag twice.
// RUN: pto-opt %s --tile-vector-kernels=num-cores=2 --bufferize-vector-kernels --convert-linalg-to-pto --pto-bind-blocks=num-core=2 --canonicalize --cse --pto-multi-buffer --pto-plan-local-memory --pto-insert-sync --pto-slice-engines --pto-check-sync -o /dev/null
// The kernels of the numeric test as well.
// RUN: pto-opt %S/tile-vector-kernels-numeric.mlir --tile-vector-kernels --bufferize-vector-kernels --convert-linalg-to-pto --pto-bind-blocks=num-core=1 --canonicalize --cse --pto-multi-buffer --pto-plan-local-memory --pto-insert-sync --pto-slice-engines --pto-check-sync -o /dev/null

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func private @hard_swish_depthwise(%arg0: tensor<1x3x96x104xf16>, %arg1: tensor<5x5x104xf16>, %arg2: tensor<104xf32>, %arg3: tensor<1x2x96x104xf32>) -> tensor<1x2x96x104xf32> attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %cst = arith.constant 3.000000e+00 : f16
  %0 = tensor.empty() : tensor<1x3x96x104xf16>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x3x96x104xf16>) outs(%0 : tensor<1x3x96x104xf16>) {
  ^bb0(%in: f16, %out: f16):
    %9 = arith.addf %in, %cst : f16
    linalg.yield %9 : f16
  } -> tensor<1x3x96x104xf16>
  %cst_0 = arith.constant 0.000000e+00 : f16
  %cst_1 = arith.constant 6.000000e+00 : f16
  %2 = tensor.empty() : tensor<1x3x96x104xf16>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<1x3x96x104xf16>) outs(%2 : tensor<1x3x96x104xf16>) {
  ^bb0(%in: f16, %out: f16):
    %9 = arith.maximumf %in, %cst_0 : f16
    %10 = arith.minimumf %9, %cst_1 : f16
    linalg.yield %10 : f16
  } -> tensor<1x3x96x104xf16>
  %4 = tensor.empty() : tensor<1x3x96x104xf16>
  %5 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %3 : tensor<1x3x96x104xf16>, tensor<1x3x96x104xf16>) outs(%4 : tensor<1x3x96x104xf16>) {
  ^bb0(%in: f16, %in_2: f16, %out: f16):
    %9 = arith.mulf %in, %in_2 : f16
    linalg.yield %9 : f16
  } -> tensor<1x3x96x104xf16>
  %6 = tensor.empty() : tensor<1x3x96x104xf16>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<1x3x96x104xf16>) outs(%6 : tensor<1x3x96x104xf16>) {
  ^bb0(%in: f16, %out: f16):
    %9 = arith.divf %in, %cst_1 : f16
    linalg.yield %9 : f16
  } -> tensor<1x3x96x104xf16>
  %padded = tensor.pad %7 low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%arg4: index, %arg5: index, %arg6: index, %arg7: index):
    tensor.yield %cst_0 : f16
  } : tensor<1x3x96x104xf16> to tensor<1x7x100x104xf16>
  %broadcasted = linalg.broadcast ins(%arg2 : tensor<104xf32>) outs(%arg3 : tensor<1x2x96x104xf32>) dimensions = [0, 1, 2] 
  %8 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : tensor<2xi64>} ins(%padded, %arg1 : tensor<1x7x100x104xf16>, tensor<5x5x104xf16>) outs(%broadcasted : tensor<1x2x96x104xf32>) -> tensor<1x2x96x104xf32>
  return %8 : tensor<1x2x96x104xf32>
}
