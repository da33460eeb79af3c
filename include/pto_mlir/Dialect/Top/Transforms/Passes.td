// The passes that stay inside the top dialect, in the order in which the pipelines run them.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TopInferShapes : Pass<"top-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "infer every result type of top ops anew";
  let description = [{
    Goes through each function in program order and gives each top op the result type that follows from its operands and attributes; the
    function's result types follow its return. To change the input shapes of a net, set the types of `@main`'s arguments and run this pass.

    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = top.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    ```
  }];
}

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD
