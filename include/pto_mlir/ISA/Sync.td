//===- Sync.td - Flags, barriers, FIFOs ------------------------------------===//

#ifndef PTO_MLIR_ISA_SYNC
#define PTO_MLIR_ISA_SYNC

include "pto_mlir/ISA/ISABase.td"

def FlagPipes : Packed<"pipes", [Field<"src", 8, PipeEnum>, Field<"dst", 8, PipeEnum>]>;

def SET_FLAG : Insn<0x20, "set_flag", PIPE_ALL, (ops FlagPipes, Int<"id">)> {
  let summary = "raise flag (src, dst, id); in the stream of src";
}
def WAIT_FLAG : Insn<0x21, "wait_flag", PIPE_ALL, (ops FlagPipes, Int<"id">)> {
  let summary = "wait for flag (src, dst, id) and lower it; in the stream of dst";
}
def BARRIER : Insn<0x22, "barrier", PIPE_ALL, (ops Attr<"pipe", PipeEnum>)> {
  let summary = "drain a pipe";
}
def PUSH : Insn<0x23, "push", PIPE_S, (ops Int<"value">, Attr<"engine", PipeEnum>)> {
  let summary = "append value to the FIFO from S to engine";
}
def POP : Insn<0x24, "pop", PIPE_ALL, (ops Dst<"dst">, Attr<"engine", PipeEnum>)> {
  let summary = "dst = the oldest value of the FIFO from S; blocks while it is empty";
  let description = "`engine` is the popping engine.";
}

#endif
