// Data movement ops.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_ReshapeOp : Top_TensorOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    One size of `shape` may be -1: it is inferred from the number of elements.

    Example:
    ```mlir
    %r = top.reshape %x {shape = array<i64: 2, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, DenseI64ArrayAttr:$shape);
}

def Top_PermuteOp : Top_TensorOp<"permute"> {
  let summary = "dimension i of the output is dimension perm[i] of the input";
  let description = [{
    Example:
    ```mlir
    %r = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x5xf32>) -> tensor<1x4x5x3xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, DenseI64ArrayAttr:$perm);
}

def Top_ConcatOp : Top_TensorOp<"concat", [SameOperandsAndResultElementType]> {
  let summary = "concatenates the inputs along an axis";
  let description = [{
    Example:
    ```mlir
    %r = top.concat %a, %b {axis = 1} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
  }];
  let arguments = (ins Variadic<Top_AnyTensor>:$inputs, I64Attr:$axis);
}

def Top_SliceOp : Top_TensorOp<"slice"> {
  let summary = "every steps[d]-th element of [starts[d], ends[d]) in each dimension";
  let description = [{
    One start, end and step per dimension. Starts and ends are positions from the beginning: 0 <= start <= size, ends at most size; a negative
    step runs downward, and its end may be -1.

    Example:
    ```mlir
    %r = top.slice %x {starts = array<i64: 0, 1>, ends = array<i64: 2, 6>, steps = array<i64: 1, 2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$ends, DenseI64ArrayAttr:$steps);
}

def Top_PadOp : Top_TensorOp<"pad"> {
  let summary = "pads the input with a constant";
  let description = [{
    `pads` holds one begin per dimension, then one end per dimension, none negative. `value` is a real number: of a quantised type the stored
    number of 0 is its zero point.

    Example:
    ```mlir
    %r = top.pad %x {pads = array<i64: 0, 1, 0, 2>, value = 0.0} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, DenseI64ArrayAttr:$pads, DefaultValuedAttr<F64Attr, "0.0">:$value);
}

def Top_ResizeOp : Top_TensorOp<"resize"> {
  let summary = "interpolates to another size, separably along each axis";
  let description = [{
    Dimension d of the output has `sizes[d]` elements. `coordinates` maps output element o to a coordinate of the input using
    `scales[d]` (and for `tf_crop_and_resize` `roi`: one start per dimension, then one end per dimension); `mode` (nearest, linear, cubic)
    selects the input elements and their weights. Names, formulas and the remaining attributes are those of ONNX's Resize 19;
    `nearest_mode` `simple` (Upsample, Resize 10) is floor when the dimension grows and ceil when it shrinks.

    Example:
    ```mlir
    %r = top.resize %x {sizes = array<i64: 1, 8, 8, 12>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = "nearest",
        coordinates = "asymmetric", nearest_mode = "floor"} : (tensor<1x8x4x6xf32>) -> tensor<1x8x8x12xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$sizes, DenseF64ArrayAttr:$scales, StrAttr:$mode,
      DefaultValuedStrAttr<StrAttr, "half_pixel">:$coordinates, DefaultValuedStrAttr<StrAttr, "round_prefer_floor">:$nearest_mode,
      OptionalAttr<DenseF64ArrayAttr>:$roi, DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff_a,
      DefaultValuedAttr<BoolAttr, "false">:$exclude_outside, DefaultValuedAttr<BoolAttr, "false">:$antialias,
      DefaultValuedAttr<F64Attr, "0.0">:$extrapolation_value);
}

def Top_ExpandOp : Top_TensorOp<"expand"> {
  let summary = "broadcasts the input to a shape";
  let description = [{
    The shapes broadcast as in `top.add`; `shape` is the shape of the result.

    Example:
    ```mlir
    %r = top.expand %x {shape = array<i64: 2, 4, 3>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, DenseI64ArrayAttr:$shape);
}

def Top_StateWriteOp : Top_TensorOp<"state_write"> {
  let summary = "a state with rows of an update written into it";
  let description = [{
    `output` is `state` with rows `position .. position + n - 1` along `axis` replaced by the n rows of `update`. `position` is an i32 of [1], or
    of [batch], with a number for each index of dimension 0. Rows begin at the nearest place where they fit, so that a kernel never writes outside
    of its operand; with `circular` they continue at row 0 behind the last one.

    The state is an argument of `@main` that lives between runs (`pto_mlir/Dialect/Top/IR/State.h`), or the result of another write to it. The
    write is done in place: what reads `state` runs before it.

    Example:
    ```mlir
    %r = top.state_write %cache, %rows, %position {axis = 2}
        : (tensor<1x3x2048x64xf16>, tensor<1x3x1x64xf16>, tensor<1xi32>) -> tensor<1x3x2048x64xf16>
    ```
  }];
  let arguments = (ins Top_Tensor:$state, Top_Tensor:$update, Top_Tensor:$position, I64Attr:$axis,
      DefaultValuedAttr<BoolAttr, "false">:$circular);
}

def Top_GatherOp : Top_TensorOp<"gather"> {
  let summary = "slices of the data selected by an index tensor";
  let description = [{
    `output[o.., i.., r..] = data[o.., indices[i..], r..]` with the indices in dimension `axis` of the data; a negative index counts from the
    end. An index outside [-size, size) reads the nearest element, so that a kernel never reads outside its operand. A net input used
    as indices, directly or reshaped, is checked on the host before the net runs (`top.index_bound`).

    Example:
    ```mlir
    %r = top.gather %table, %ids {axis = 0} : (tensor<100x16xf32>, tensor<2x7xi32>) -> tensor<2x7x16xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$data, Top_Tensor:$indices, I64Attr:$axis);
}

// Ops whose kernels are tile templates (pto_mlir/Kernels/Templates.h). Topk ops of the same operand become one kernel.
class Top_TopKOp<string mnemonic, string what> : Top_TensorOp<mnemonic> {
  let summary = what # " of the k greatest (or least) elements of each row";
  let description = [{
    Rows are the innermost dimension of `input`, whose size becomes `k`. The elements are in descending order, ascending unless `largest`; of equal
    elements the one with the lower index comes first. Where NaN goes is not specified. Integers are compared as f32: they must be exact there.

    Example:
    ```mlir
    %r = top.}] # mnemonic # [{ %x {k = 2} : (tensor<3x8xf32>) -> tensor<3x2x}] # !if(!eq(what, "the values"), "f32", "i64") # [{>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, I64Attr:$k, DefaultValuedAttr<BoolAttr, "true">:$largest);
}
def Top_TopKValuesOp : Top_TopKOp<"topk_values", "the values">;
def Top_TopKIndicesOp : Top_TopKOp<"topk_indices", "the positions"> {
  let extraClassDeclaration = [{
    /// Positions are i64 in a model and i32 after top-storage-types.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

def Top_GatherElementsOp : Top_TensorOp<"gather_elements"> {
  let summary = "elements of each row selected by the row's own indices";
  let description = [{
    `output[o, j] = data[o, indices[o, j]]`; a negative index counts from the end. An index outside [-n, n) of a row of n elements reads the
    nearest element.

    Example:
    ```mlir
    %r = top.gather_elements %x, %i : (tensor<4x100xf32>, tensor<4x7xi32>) -> tensor<4x7xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$data, Top_Tensor:$indices);
}

def Top_ScatterOp : Top_TensorOp<"scatter"> {
  let summary = "the data with rows replaced by, or combined with, updates at computed places";
  let description = [{
    For each i in order, row `positions[i]` of the data and row i of the updates become a row of the output by `reduction`: none (the update),
    add, mul, max or min. Updates of one row follow each other in the order of i; a position outside [0, rows) changes nothing.

    Example:
    ```mlir
    %r = top.scatter %x, %p, %u {reduction = "add"} : (tensor<9x4xf32>, tensor<5xi32>, tensor<5x4xf32>) -> tensor<9x4xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$data, Top_Tensor:$positions, Top_Tensor:$updates, DefaultValuedStrAttr<StrAttr, "none">:$reduction);
}

def Top_RepeatRowsOp : Top_TensorOp<"repeat_rows"> {
  let summary = "a tensor once for each index of an outer dimension";
  let description = [{
    `output[o, i..] = input[i..]`, in the shape of `like`, of which nothing is read. It stands where extents are known at run time, so that the
    output follows those of `like` (docs/sizes.md).

    Example:
    ```mlir
    %r = top.repeat_rows %p, %x : (tensor<7x16xf32>, tensor<4x7x16xf32>) -> tensor<4x7x16xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, Top_Tensor:$like);
}

def Top_TakeRowsOp : Top_TensorOp<"take_rows"> {
  let summary = "some of the rows of each outer index, whose number of rows is known at run time";
  let description = [{
    `output[b, i, j] = input[b, first + i, j]` for `count` rows i, which are there for all numbers of rows.

    Example:
    ```mlir
    %r = top.take_rows %x {first = 0, count = 1} : (tensor<4x7x16xf32>) -> tensor<4x1x16xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, I64Attr:$first, I64Attr:$count);
}

def Top_TransposeRowsOp : Top_TensorOp<"transpose_rows"> {
  let summary = "the transpose of a matrix whose rows or columns are known at run time";
  let description = [{
    `output[j, i] = input[i, j]`. It stands at the inputs and outputs of a net, whose layout puts an extent that is known at run time behind
    others; inside of the net it stands outermost (docs/sizes.md).

    Example:
    ```mlir
    %r = top.transpose_rows %x : (tensor<3x640xf32>) -> tensor<640x3xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input);
}

def Top_ReduceRowsOp : Top_TensorOp<"reduce_rows"> {
  let summary = "sums, means, maxima or minima over rows whose number is known at run time";
  let description = [{
    `output[b, j]` is the `kind` (sum, mean, max or min) of `input[b, i, j]` over i, in f32. The mean divides by the rows that there are.

    With `parts` above 1 the rows are cut into as many runs of equal length, and `output[b, p, j]`, of f32, is what run p has: its sum, extremum, or
    its share of the mean. A run beyond the rows has 0, or an infinity. With one part the result has the input's type, or f32.

    Example:
    ```mlir
    %r = top.reduce_rows %x {kind = "sum"} : (tensor<4x7x16xf32>) -> tensor<4x16xf32>
    %p = top.reduce_rows %x {kind = "mean", parts = 2} : (tensor<4x7x16xf16>) -> tensor<4x2x16xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, StrAttr:$kind, DefaultValuedAttr<I64Attr, "1">:$parts);
  let extraClassDeclaration = [{
    /// The input's type is inferred; a result in f32 keeps what the sum has.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPTENSOROPS_TD
