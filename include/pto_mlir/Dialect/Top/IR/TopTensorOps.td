// Ops that move elements without computing.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_ReshapeOp : Top_TensorOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    One size of `shape` may be -1: it is what makes the element counts agree.

    Example:
    ```mlir
    %r = top.reshape %x {shape = array<i64: 2, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$shape);
}

def Top_PermuteOp : Top_TensorOp<"permute"> {
  let summary = "dimension i of the output is dimension perm[i] of the input";
  let description = [{
    Example:
    ```mlir
    %r = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$perm);
}

def Top_ConcatOp : Top_TensorOp<"concat", [SameOperandsAndResultElementType]> {
  let summary = "the inputs one after the other along an axis";
  let description = [{
    Example:
    ```mlir
    %r = top.concat %a, %b {axis = 1} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
  }];
  let arguments = (ins Variadic<Top_Tensor>:$inputs, I64Attr:$axis);
}

def Top_SliceOp : Top_TensorOp<"slice"> {
  let summary = "every steps[d]-th element of [starts[d], ends[d]) in each dimension";
  let description = [{
    One start, end and step per dimension. Starts and ends are positions, not counted from the end: 0 <= start <= size, ends at most size; a negative
    step runs downward and its end may be -1.

    Example:
    ```mlir
    %r = top.slice %x {starts = array<i64: 0, 1>, ends = array<i64: 2, 6>, steps = array<i64: 1, 2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$ends, DenseI64ArrayAttr:$steps);
}

def Top_PadOp : Top_TensorOp<"pad"> {
  let summary = "surrounds the input with a constant";
  let description = [{
    `pads` holds one begin per dimension, then one end per dimension, none negative.

    Example:
    ```mlir
    %r = top.pad %x {pads = array<i64: 0, 1, 0, 2>, value = 0.0} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$pads, DefaultValuedAttr<F64Attr, "0.0">:$value);
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD
