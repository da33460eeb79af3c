// Ops of the host program besides tensor ops: weights and kernel launches.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPHOSTOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPHOSTOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "pto_mlir/Dialect/Top/IR/TopAttrs.td"

def Top_WeightOp : Top_Op<"weight", [Pure]> {
  let summary = "a constant tensor of the weight store";
  let description = [{
    The bytes are held in the `WeightStore` of the loaded dialect under this name, with this type.

    Example:
    ```mlir
    %w = top.weight "conv1_weights" : tensor<8x3x3x3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Top_AnyTensor:$output);
  let assemblyFormat = "$name attr-dict `:` type($output)";
}

def Top_LaunchOp : Top_Op<"launch", [Pure, AttrSizedOperandSegments, DestinationStyleOpInterface]> {
  let summary = "runs a kernel on the device";
  let description = [{
    Calls the kernel function in destination-passing style: its arguments are the `ins`, then the `outs`; result i is the value that the kernel
    writes to out i. The symbol is not verified against the callee's type, because lowering changes that type to pointers.

    `names` holds one tensor name per result ("" if it is not needed), `layouts` one of "", "NHWC" per result, `absorbed` the names of
    tensors that the kernel computes but does not store, `places` one `#top.place` per operand (after `plan-global-memory`), `scalars` the
    kernel's further arguments as sums of products of @main's symbols.

    Example:
    ```mlir
    %r = top.launch @k0_relu ins(%x : tensor<4x8xf32>) outs(%init : tensor<4x8xf32>) {names = ["y"], layouts = [""], absorbed = []} -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$inits,
      OptionalAttr<StrArrayAttr>:$names, OptionalAttr<StrArrayAttr>:$layouts, OptionalAttr<StrArrayAttr>:$absorbed,
      OptionalAttr<TypedArrayAttrBase<Top_PlaceAttr, "array of places">>:$places, OptionalAttr<AffineMapAttr>:$scalars);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{ $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $inits^ `:` type($inits) `)`)?
                          attr-dict (`->` type($results)^)? }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPHOSTOPS_TD
