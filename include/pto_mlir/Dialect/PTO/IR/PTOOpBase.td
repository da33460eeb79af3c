//===- PTOOpBase.td - what all pto ops share -----------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOOPBASE_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOOPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pto_mlir/Dialect/PTO/IR/PTOAttrs.td"
include "pto_mlir/Dialect/PTO/IR/PTOInterfaces.td"
include "pto_mlir/Dialect/PTO/IR/PTOTraits.td"
include "pto_mlir/Dialect/PTO/IR/PTOTypes.td"

class PTO_Op<string mnemonic, list<Trait> traits = []> : Op<PTO_Dialect, mnemonic, traits # [PTO_FilledTiles]>;

/// An op of one fixed engine; where the engine depends on the operands, `pipe` is empty and the .cpp defines getPipe.
class PTO_PipeOp<string mnemonic, string pipe, list<Trait> traits = []> : PTO_Op<mnemonic, traits # [PTO_PipeOpInterface]> {
  let extraClassDeclaration = !if(!empty(pipe), "::pto_mlir::pto::Pipe getPipe();",
      "::pto_mlir::pto::Pipe getPipe() { return ::pto_mlir::pto::Pipe::" # pipe # "; }");
}

def PTO_Src : Arg<PTO_TileLike, "read", [MemRead]>;
def PTO_Dst : Arg<PTO_TileLike, "written", [MemWrite]>;
/// Read and written: an accumulating destination, or scratch memory of the instruction.
def PTO_InOut : Arg<PTO_TileLike, "read and written", [MemRead, MemWrite]>;

#endif
