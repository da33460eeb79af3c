// Control flow: ops whose regions are straight-line graphs, which may read what is around them.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_YieldOp : Top_Op<"yield", [Pure, Terminator, ParentOneOf<["IfOp", "LoopOp", "ScanOp"]>]> {
  let summary = "ends a region of control flow with its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

// Result types follow from operands and yields (inferControlTypes); an extent that is known at run time only is `?`.
class Top_ControlOp<string mnemonic, list<Trait> traits = []> : Top_Op<mnemonic, [RecursiveMemoryEffects, SingleBlock] # traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasRegionVerifier = 1;
}

def Top_IfOp : Top_ControlOp<"if", [NoRegionArguments]> {
  let summary = "one of two graphs";
  let description = [{
    ONNX's If. `condition` has one element. Where the branches disagree about an extent the result has `?`.

    Example:
    ```mlir
    %r = top.if %c then {
      top.yield %a : tensor<2x3xf32>
    } else {
      top.yield %b : tensor<2x3xf32>
    } : (tensor<i1>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = "$condition `then` $thenRegion `else` $elseRegion attr-dict `:` functional-type(operands, results)";
}

def Top_LoopOp : Top_ControlOp<"loop"> {
  let summary = "a graph again and again";
  let description = [{
    ONNX's Loop: at most `trips` times, as long as the condition holds. The body gets the number of the trip, the condition and the
    carried tensors; it yields the next condition, the carried tensors, and rows that are collected. Results: the carried tensors, then what
    was collected, whose first extent is known when `trips` is constant and the condition never changes.

    Example:
    ```mlir
    %last, %all = top.loop %trips, %go, %x : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>) {
    ^bb0(%i: tensor<i64>, %c: tensor<i1>, %h: tensor<4xf32>):
      %n = top.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
      top.yield %c, %n, %n : tensor<i1>, tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$trips, AnyRankedTensor:$condition, Variadic<AnyRankedTensor>:$carried);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let extraClassDeclaration = [{
    /// The number of trips when it is known and the condition stays true.
    std::optional<int64_t> constantTrips();
  }];
}

def Top_ScanOp : Top_ControlOp<"scan"> {
  let summary = "a graph over the rows of tensors";
  let description = [{
    ONNX's Scan along dimension 0: operands are `states` state tensors, then tensors of one length. The body gets the states and a row of
    each tensor, and yields the states and rows of the results. `reversed_inputs`, `reversed_outputs`: from the last row to the first.

    Example:
    ```mlir
    %s, %ys = top.scan %s0, %xs {states = 1 : i64, reversed_inputs = array<i64: 0>, reversed_outputs = array<i64: 0>}
        : (tensor<4xf32>, tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
    ^bb0(%h: tensor<4xf32>, %row: tensor<4xf32>):
      %n = top.add %h, %row : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      top.yield %n, %n : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$states, DenseI64ArrayAttr:$reversed_inputs,
      DenseI64ArrayAttr:$reversed_outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
}

// Ops of the program around nets, on tensors whose extents are known at run time only.

def Top_DimOp : Top_Op<"dim", [Pure]> {
  let summary = "an extent of a tensor, when it runs";
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis);
  let results = (outs 0DTensorOf<[I64]>:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Top_AssumeOp : Top_Op<"assume", [Pure]> {
  let summary = "the same tensor where its extents are known";
  let description = [{
    Stands where `top.dim` and a comparison have made sure of the extents; others are a fault.

    Example:
    ```mlir
    %s = top.assume %x : (tensor<?x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Top_RequireOp : Top_Op<"require"> {
  let summary = "ends the run with a message unless a condition holds";
  let arguments = (ins AnyRankedTensor:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Top_NonZeroOp : Top_Op<"nonzero", [Pure]> {
  let summary = "indices of the elements that are not zero";
  let description = [{
    ONNX's NonZero, computed by the program: `rank` rows, a column per element that is not zero, in row-major order.

    Example:
    ```mlir
    %i = top.nonzero %x : (tensor<2x3xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD
