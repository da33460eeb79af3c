//===- Passes.td - top to linalg ---------------------------------*- tablegen -*-===//

#ifndef PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES
#define PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTopToLinalg : Pass<"convert-top-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower top ops to linalg on tensors";
  let description = [{
    Rewrites every top op of `@main` except `top.weight` to linalg, tensor,
    arith and math ops (docs/lowering.md, section 3). Before:

    ```mlir
    %1 = top.relu %0 : tensor<4x8xf32> -> tensor<4x8xf32>
    ```

    After: one `linalg.generic` named by the same location, whose body is
    `arith.maximumf %in, %zero`.

    With `attention-kernels`, each `top.attention` that build-attention-kernels can build
    stays as it is; the others are decomposed. With `state-writes`, each `top.state_write`
    stays as it is; else it is an insertion into a copy. With `templates`, each op that has a
    tile template (Kernels/Templates.h) stays as well, or is an error where the template has no
    kernel; without, such ops become loops over elements, which a CPU can run.
  }];
  let options = [
    Option<"attentionKernels", "attention-kernels", "bool", /*default=*/"false",
           "Leave attentions for which there is a kernel">,
    Option<"stateWrites", "state-writes", "bool", /*default=*/"false", "Leave writes to a state">,
    Option<"templates", "templates", "bool", /*default=*/"true",
           "Leave ops that have a tile template">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

#endif // PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES
