//===- PTOInterfaces.td - what passes ask of pto ops ---------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOINTERFACES_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOINTERFACES_TD

include "mlir/IR/OpBase.td"

def PTO_PipeOpInterface : OpInterface<"PipeOpInterface"> {
  let cppNamespace = "::pto_mlir::pto";
  let description = [{
    An op that one engine executes. What it reads and writes is said by MemoryEffectOpInterface on its operands
    (`getTileReads`, `getTileWrites` in PTOEffects.h list them).
  }];
  let methods = [InterfaceMethod<"The engine that executes this op.", "::pto_mlir::pto::Pipe", "getPipe">];
  let verify = [{
    return ::mlir::failure(::mlir::failed(::pto_mlir::pto::detail::verifyValidParts($_op)) ||
                           ::mlir::failed(::pto_mlir::pto::detail::verifyElementTypes($_op)));
  }];
}

/// An op whose result is another name for (part of) its source's memory.
def PTO_AliasOpInterface : OpInterface<"TileAliasOpInterface"> {
  let cppNamespace = "::pto_mlir::pto";
  let methods = [InterfaceMethod<"The tile whose memory the result names.", "::mlir::Value", "getAliasSource">];
}

/// A product whose operands have scales, one per 32 elements along k.
def PTO_ScaledOpInterface : OpInterface<"ScaledOpInterface"> {
  let cppNamespace = "::pto_mlir::pto";
  let methods = [InterfaceMethod<"The scales of the left operand.", "::mlir::Value", "getLeftScales">,
                 InterfaceMethod<"The scales of the right operand.", "::mlir::Value", "getRightScales">];
}

#endif
