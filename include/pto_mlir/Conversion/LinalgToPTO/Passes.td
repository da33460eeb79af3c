//===- Passes.td - vector kernels to pto -------------------------*- tablegen -*-===//

#ifndef PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES
#define PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES

include "mlir/Pass/PassBase.td"

def BufferizeVectorKernels : Pass<"bufferize-vector-kernels", "::mlir::ModuleOp"> {
  let summary = "Run upstream's One-Shot Bufferize on each tiled vector kernel";
  let description = [{
    Bufferizes the kernels tiled by `tile-vector-kernels` separately; `@main` and
    the cube kernels of the module are left unchanged. Arguments become contiguous
    memrefs, results are dropped (they are written in place), and staging copies
    become `memref.copy` between global memory and `#pto.address_space<vec>`.
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

    Loops marked `pto.distribute` by `tile-vector-kernels` start at the index of the
    vector core and step by the number of cores; nested ones are coalesced where that
    improves the load balance. Ops outside such loops are executed by every core, but
    only the first core stores.
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Number of blocks (of two vector cores) assumed when coalescing loops; 0: one">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
    "::pto_mlir::pto::PTODialect"
  ];
}

#endif // PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES
