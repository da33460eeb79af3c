// The vm dialect: the host program as the runtime reads it.
#ifndef PTO_MLIR_DIALECT_VM_VMDIALECT_TD
#define PTO_MLIR_DIALECT_VM_VMDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def VM_Dialect : Dialect {
  let name = "vm";
  let cppNamespace = "::pto_mlir::vm";
  let summary = "host programs: allocate, launch, wait, compute, branch";
  let description = [{
    Two forms of host programs, one set of instructions (`docs/vm.md`). A `vm.func` is the program of a net: buffers become slots,
    `vm.launch @device.<kernel>` an asynchronous launch (`docs/pmodel-format.md`). Programs on values (`VMProgramOps.td`) stand in
    `func.func` or directly in the module: numbers, tensors, `vm.call` of kernels and functions, branches.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Adds the ops of VMProgramOps.td, which live in a library of their own (Dialect/VM/IR/VMProgram.h): nets do not need them.
    void registerProgramOps();
  }];
}

def VM_BufferType : TypeDef<VM_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of device memory held in a slot";
}

#endif
