//===- CodegenOpInterface.td - How an op becomes commands ------------------===//

#ifndef PTO_MLIR_BACKEND_CODEGENOPINTERFACE
#define PTO_MLIR_BACKEND_CODEGENOPINTERFACE

include "mlir/IR/OpBase.td"

def CodegenOpInterface : OpInterface<"CodegenOpInterface"> {
  let cppNamespace = "::pto_mlir::backend";
  let description = [{
    An op that code generation understands: it binds its operands to an instruction of the table and calls the encoder's function for it, or
    (for values that live in operands: tiles, views, constants) tells the context what its results stand for.
    lib/Backend attaches it to ops of pto, arith and scf.
  }];
  let methods = [InterfaceMethod<"Emits this op into the stream that the context writes; failure after a diagnostic.",
                                 "::llvm::LogicalResult", "generate", (ins "::pto_mlir::backend::CodegenContext &":$context)>];
}

#endif
