//===- Passes.td - vector kernels to pto -------------------------*- tablegen -*-===//

#ifndef PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES
#define PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES

include "mlir/Pass/PassBase.td"

def BufferizeVectorKernels : Pass<"bufferize-vector-kernels", "::mlir::ModuleOp"> {
  let summary = "Run upstream's One-Shot Bufferize on each tiled vector kernel";
  let description = [{
    Takes the kernels that `tile-vector-kernels` left on tensors, each by itself:
    `@main` and the cube kernels of the same module stay as they are. Arguments
    become contiguous memrefs, results disappear (they are written in place),
    staging copies become `memref.copy` between global memory and
    `#pto.address_space<vec>`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::pto_mlir::pto::PTODialect"
  ];
}

def ConvertLinalgToPTO : Pass<"convert-linalg-to-pto", "::mlir::ModuleOp"> {
  let summary = "Select tile instructions for the bufferized vector kernels";
  let description = [{
    Before:

    ```mlir
    func.func private @relu(%x: memref<4096xf32>, %y: memref<4096xf32>) {
      %t = memref.alloc() : memref<4096xf32, #pto.address_space<vec>>
      memref.copy %x, %t
      linalg.generic ins(%t) outs(%u) { ... arith.maximumf %in, %zero ... }
      memref.copy %u, %y
    ```

    After:

    ```mlir
    func.func private @relu(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
      %t = pto.alloc_tile : !pto.tile_buf<vec, 1x4096xf32>
      pto.tload ins(%view) outs(%t)
      pto.trelu ins(%t) outs(%u)
      pto.tstore ins(%u) outs(%view1)
    ```

    Loops that `tile-vector-kernels` marked `pto.distribute` start at this vector
    core's number and step by their count, nested ones merged where that makes the
    cores' shares more even; what is not in such a loop is computed by every core and
    stored by the first.
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks (of two vector cores) that the choice of merged loops is made for; 0: one">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
    "::pto_mlir::pto::PTODialect"
  ];
}

#endif // PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES
