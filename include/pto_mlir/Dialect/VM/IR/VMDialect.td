// The vm dialect: host programs as the runtime executes them.
#ifndef PTO_MLIR_DIALECT_VM_VMDIALECT_TD
#define PTO_MLIR_DIALECT_VM_VMDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def VM_Dialect : Dialect {
  let name = "vm";
  let cppNamespace = "::pto_mlir::vm";
  let summary = "host programs: allocate, launch, wait, compute, branch";
  let description = [{
    Two forms of host programs share one instruction set (`docs/vm.md`). A `vm.func` is the program of a net: buffers become slots,
    `vm.launch @device.<kernel>` an asynchronous launch (`docs/pmodel-format.md`). SSA programs (`VMProgramOps.td`) are written in
    `func.func` or directly in the module: numbers, tensors, `vm.call` of kernels and functions, branches.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Adds the ops of VMProgramOps.td. They are in a separate library (Dialect/VM/IR/VMProgram.h), since nets do not need them.
    void registerProgramOps();
  }];
}

def VM_BufferType : TypeDef<VM_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of device memory held in a slot";
}

def VM_TaskType : TypeDef<VM_Dialect, "Task"> {
  let mnemonic = "task";
  let summary = "a launch that was submitted; also none, which has completed";
}

#endif
