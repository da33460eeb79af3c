// Between real numbers and quantised ones.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPQUANTISEDOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPQUANTISEDOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_QuantizeOp : Top_TensorOp<"quantize"> {
  let summary = "real numbers to a quantised type";
  let description = [{
    `stored = saturate(round(input / scale) + zero_point)`, the quotient in f32, rounded to nearest, ties to even. Scale and zero point are those
    of the type `to`.

    Example:
    ```mlir
    %r = top.quantize %x {to = !quant.uniform<i8:f32, 5.000000e-01:3>} : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, TypeAttr:$to);
}

def Top_DequantizeOp : Top_TensorOp<"dequantize"> {
  let summary = "a quantised type to real numbers";
  let description = [{
    `output = (stored - zero_point) * scale`, computed in f32 and rounded to `to`.

    Example:
    ```mlir
    %r = top.dequantize %x {to = f32} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_QuantisedTensor:$input, TypeAttr:$to);
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPQUANTISEDOPS_TD
