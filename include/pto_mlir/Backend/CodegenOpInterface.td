//===- CodegenOpInterface.td - How an op becomes commands ------------------===//

#ifndef PTO_MLIR_BACKEND_CODEGENOPINTERFACE
#define PTO_MLIR_BACKEND_CODEGENOPINTERFACE

include "mlir/IR/OpBase.td"

def CodegenOpInterface : OpInterface<"CodegenOpInterface"> {
  let cppNamespace = "::pto_mlir::backend";
  let description = [{
    An op with code generation: binds its operands to an instruction of the table and calls the encoder's function for it, or (for tiles,
    views and constants, which become parts of operands) defines the locations of its results in the context.
    lib/Backend attaches the interface to ops of pto, arith and scf.
  }];
  let methods = [InterfaceMethod<"Emits this op to the context's stream; on failure a diagnostic has been emitted.",
                                 "::llvm::LogicalResult", "generate", (ins "::pto_mlir::backend::CodegenContext &":$context)>];
}

#endif
