//===- PTOCommOps.td - signal cells between devices ----------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOCOMMOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOCOMMOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

// A cell is a view of one element; that of a peer is behind a pointer moved by the distance of the copies.

def PTO_TNotifyOp : PTO_PipeOp<"comm.tnotify", "PIPE_S">, PTO_Insn<"NOTIFY", ["dst=cell", "mode=notifyOp"]>,
      PTO_NoCpp<"signals between devices are not written as C++ yet"> {
  let summary = "set a signal cell of a device, or add to it, once all earlier writes of this core are done";
  let arguments = (ins PTO_Dst:$cell, I32:$value, DefaultValuedAttr<PTO_NotifyOpAttr, "NotifyOp::set">:$notifyOp);
  let assemblyFormat = "`(` $cell `,` $value `:` qualified(type($cell)) `,` type($value) `)` attr-dict";
  let hasVerifier = 1;
}

// Its cell counts as written, so that nobody takes the op for a read without a use.
def PTO_TWaitOp : PTO_PipeOp<"comm.twait", "PIPE_S">, PTO_Insn<"WAIT_CELL", ["src=cell", "mode=cmp"]>,
      PTO_NoCpp<"signals between devices are not written as C++ yet"> {
  let summary = "wait until a signal cell is a number, or at least that; later accesses to global memory come after it";
  let arguments = (ins PTO_InOut:$cell, I32:$value, DefaultValuedAttr<PTO_WaitCmpAttr, "WaitCmp::eq">:$cmp);
  let assemblyFormat = "`(` $cell `,` $value `:` qualified(type($cell)) `,` type($value) `)` attr-dict";
  let hasVerifier = 1;
}

#endif
