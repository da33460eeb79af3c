// Control flow: ops whose regions are straight-line graphs, which may use values of the enclosing scope.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_YieldOp : Top_Op<"yield", [Pure, Terminator, ParentOneOf<["IfOp", "LoopOp", "ScanOp"]>]> {
  let summary = "terminates a region of control flow with its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

// Result types are inferred from operands and yields (inferControlTypes); an extent known only at run time is `?`.
class Top_ControlOp<string mnemonic, list<Trait> traits = []> : Top_Op<mnemonic, [RecursiveMemoryEffects, SingleBlock] # traits> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasRegionVerifier = 1;
}

def Top_IfOp : Top_ControlOp<"if", [NoRegionArguments]> {
  let summary = "executes one of two graphs";
  let description = [{
    ONNX's If. `condition` has one element. Extents in which the branches differ are `?` in the result.

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
  let summary = "executes a graph repeatedly";
  let description = [{
    ONNX's Loop: at most `trips` iterations, while the condition holds. The body receives the iteration number, the condition and the
    carried tensors; it yields the next condition, the carried tensors, and rows that are collected. Results: the carried tensors, then the
    collected tensors, whose first extent is static if `trips` is constant and the condition never changes.

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
    /// The trip count if it is constant and the condition stays true.
    std::optional<int64_t> constantTrips();
  }];
}

def Top_ScanOp : Top_ControlOp<"scan"> {
  let summary = "executes a graph for each row of its input tensors";
  let description = [{
    ONNX's Scan along dimension 0: operands are `states` state tensors, then tensors of equal length. The body receives the states and one row of
    each tensor, and yields the states and one row of each result. `reversed_inputs`, `reversed_outputs`: from the last row to the first.

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

// Ops of the host program, on tensors whose extents are known only at run time.

def Top_DimOp : Top_Op<"dim", [Pure]> {
  let summary = "an extent of a tensor at run time";
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$axis);
  let results = (outs 0DTensorOf<[I64]>:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Top_AssumeOp : Top_Op<"assume", [Pure]> {
  let summary = "the same tensor with static extents";
  let description = [{
    Placed where `top.dim` and a comparison have established the extents; other extents are a fault.

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
  let summary = "stops the run with a message unless a condition holds";
  let arguments = (ins AnyRankedTensor:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Top_NonZeroOp : Top_Op<"nonzero", [Pure]> {
  let summary = "indices of the nonzero elements";
  let description = [{
    ONNX's NonZero, computed by the host program: `rank` rows, one column per nonzero element, in row-major order.

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

def Top_HostOp : Top_Op<"host", [Pure]> {
  let summary = "an operation that the host program computes";
  let description = [{
    Calls `@host.<kernel>` (`pto_mlir/HostOps/TensorOps.h`) on the inputs, with `parameters` as the attributes of the call. `reason` says why
    the engines do not compute it; reports show it beside the tensor's name.

    Example:
    ```mlir
    %r = top.host "bitxor"(%a, %b) {reason = "64-bit integers"} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    ```
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<AnyRankedTensor>:$inputs, OptionalAttr<DictionaryAttr>:$parameters, StrAttr:$reason);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $output)";
  let hasVerifier = 1;
}

def Top_KernelOp : Top_Op<"kernel", [Pure]> {
  let summary = "a result of a kernel that the user wrote";
  let description = [{
    Result `number` of the kernel for the operator `name` (docs/kernels.md). `types` are those of all its results. `bodies` has for each
    processor the pto functions of the kernel: `text`, and what their pointers are: operand or, behind those, result `pointers[i]`, from
    byte `offsets[i]` on; further arguments are `scalars`. Results of one call are ops that differ in `number` alone, and share a launch.

    Example:
    ```mlir
    %r = top.kernel "example::Scale"(%a) {bodies = {a3 = {text = "..", pointers = array<i64: 0, 1>, offsets = array<i64: 0, 0>,
        scalars = array<i64>}}, number = 0 : i64, types = [tensor<4xf32>]} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyRankedTensor>:$inputs, I64Attr:$number, TypeArrayAttr:$types, DictionaryAttr:$bodies);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $output)";
  let hasVerifier = 1;
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPCONTROLOPS_TD
