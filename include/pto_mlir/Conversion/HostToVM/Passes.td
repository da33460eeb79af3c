#ifndef PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_TD
#define PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanGlobalMemory : Pass<"plan-global-memory", "::mlir::ModuleOp"> {
  let summary = "give every tensor of @main a place in global memory";
  let description = [{
    Inputs and outputs keep their own buffers, weights lie in the weights section in order of first use, every other tensor in one
    workspace, where tensors whose lifetimes do not overlap share bytes (largest first, lowest fitting offset, 512-byte
    alignment). Reshapes are aliases. The places are written to the launches, the size to `@main`.

    ```mlir
    %r = top.launch @k ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %r = top.launch @k ins(..) outs(..) {places = [#top.place<input, 0>, #top.place<workspace, 512>]} -> tensor<4xf32>
    ```

    The module gets `top.weight_order`, the names of the weights in the order of the section; inline constants that kernels read
    join the weight store.
  }];
  let dependentDialects = ["::pto_mlir::top::TopDialect"];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false", "give named tensors bytes of their own (debug)">
  ];
}

def ConvertHostToVM : Pass<"convert-host-to-vm", "::mlir::ModuleOp"> {
  let summary = "turn @main into a vm.func";
  let description = [{
    Every `top.launch` becomes a `vm.launch @device.<kernel>` on the buffers that `plan-global-memory` chose. Names and types of
    inputs, outputs and kept tensors move to attributes of the `vm.func`.
  }];
  let dependentDialects = ["::pto_mlir::vm::VMDialect"];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false", "record where named tensors lie (debug)">
  ];
}

#endif
