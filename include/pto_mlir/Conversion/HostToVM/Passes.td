#ifndef PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_TD
#define PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanGlobalMemory : Pass<"plan-global-memory", "::mlir::ModuleOp"> {
  let summary = "assign global memory to every tensor of @main";
  let description = [{
    Inputs and outputs have their own buffers; weights are in the weights section in order of first use; all other tensors share one
    workspace, where tensors with disjoint live ranges may overlap (largest first, lowest fitting offset, 512-byte alignment).
    Reshapes are aliases, and so are slices that are one piece of a tensor in the workspace (the views that `form-kernels` leaves). States are in a region of their own, behind the position: writes of rows and, where no launch
    reads the old value with or after the one that writes the new, tensors that a run replaces are updated in place; other
    tensors have two places. A launch that writes rows runs behind all that read the state as it was. The places are attributes of the launches, the workspace size is an attribute of `@main`.

    ```mlir
    %r = top.launch @k ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %r = top.launch @k ins(..) outs(..) {places = [#top.place<input, 0>, #top.place<workspace, 512>]} -> tensor<4xf32>
    ```

    The module gets `top.weight_order`, the names of the weights in the order of the section; inline constants read by kernels
    are moved to the weight store.
  }];
  let dependentDialects = ["::pto_mlir::top::TopDialect"];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false", "do not share the memory of named tensors (debug)">
  ];
}

def ConvertHostToVM : Pass<"convert-host-to-vm", "::mlir::ModuleOp"> {
  let summary = "turn @main into a vm.func";
  let description = [{
    Every `top.launch` becomes a `vm.launch @device.<kernel>` on the buffers assigned by `plan-global-memory`. Names and types of
    inputs, outputs and debug tensors become attributes of the `vm.func`.
  }];
  let dependentDialects = ["::pto_mlir::vm::VMDialect"];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false", "record the places of named tensors (debug)">
  ];
}

#endif
