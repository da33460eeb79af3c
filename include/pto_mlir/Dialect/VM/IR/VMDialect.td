// The vm dialect: the host program as the runtime reads it.
#ifndef PTO_MLIR_DIALECT_VM_VMDIALECT_TD
#define PTO_MLIR_DIALECT_VM_VMDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def VM_Dialect : Dialect {
  let name = "vm";
  let cppNamespace = "::pto_mlir::vm";
  let summary = "host programs: allocate, launch, wait";
  let description = [{
    A `vm.func` is one host program of a net. It is serialised to the bytecode of `docs/pmodel-format.md`: buffers become
    slots, `vm.call @device.<kernel>` an asynchronous launch. One op is one bytecode instruction.
  }];
  let useDefaultTypePrinterParser = 1;
}

def VM_BufferType : TypeDef<VM_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a range of device memory held in a slot";
}

#endif
