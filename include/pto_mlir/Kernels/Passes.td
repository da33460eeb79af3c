//===- Passes.td - linalg to kernels -----------------------------*- tablegen -*-===//
//
// The passes between whole-net linalg and the two kernel roads: outlining, the
// vector road's tiling, the cube road's builder.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_PASSES
#define PTO_MLIR_KERNELS_PASSES

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Cluster the linalg ops of @main into outlined kernels";
  let description = [{
    Groups the computation of `@main` into kernels, one function each in
    destination-passing style, and leaves a `top.launch` where the group stood.
    Before:

    ```mlir
    %0 = linalg.generic ... loc("add")
    %1 = linalg.generic ins(%0) ... loc("relu")
    ```

    After:

    ```mlir
    %e = tensor.empty() : tensor<4x8xf32>
    %1 = top.launch @k0_relu ins(%x, %y) outs(%e) {names = ["relu"], absorbed = ["add"], ...}
    ```

    The rules of clustering stand in docs/lowering.md section 4. With `keep-all`
    every named value of a cluster becomes an output of its kernel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::top::TopDialect",
    "::pto_mlir::pto::PTODialect"
  ];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false",
           "Store every named value of a cluster (debug)">
  ];
}

def TileVectorKernels : Pass<"tile-vector-kernels", "::mlir::ModuleOp"> {
  let summary = "Tile the vector kernels so that each tile fits the unified buffer";
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::pto::PTODialect"
  ];
}

def BuildCubeKernels : Pass<"build-cube-kernels", "::mlir::ModuleOp"> {
  let summary = "Build the pto body of each cube kernel and pack its weights";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::pto_mlir::pto::PTODialect",
    "::pto_mlir::top::TopDialect"
  ];
}

#endif // PTO_MLIR_KERNELS_PASSES
