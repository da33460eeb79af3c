//===- Sync.td - Flags, barriers, FIFOs ------------------------------------===//

#ifndef PTO_MLIR_ISA_SYNC
#define PTO_MLIR_ISA_SYNC

include "pto_mlir/ISA/ISABase.td"

def FlagPipes : Packed<"pipes", [Field<"src", 8, PipeEnum>, Field<"dst", 8, PipeEnum>]>;

def SET_FLAG : Insn<0x20, "set_flag", PIPE_ALL, (ops FlagPipes, Int<"id">)> {
  let summary = "sets flag (src, dst, id); in the stream of src";
}
def WAIT_FLAG : Insn<0x21, "wait_flag", PIPE_ALL, (ops FlagPipes, Int<"id">)> {
  let summary = "waits for flag (src, dst, id) and clears it; in the stream of dst";
}
def BARRIER : Insn<0x22, "barrier", PIPE_ALL, (ops Attr<"pipe", PipeEnum>)> {
  let summary = "drains a pipe";
}
def PUSH : Insn<0x23, "push", PIPE_S, (ops Int<"value">, Attr<"engine", PipeEnum>)> {
  let summary = "appends value to the FIFO from S to engine";
}
def POP : Insn<0x24, "pop", PIPE_ALL, (ops Dst<"dst">, Attr<"engine", PipeEnum>)> {
  let summary = "dst = the oldest value of the FIFO from S; blocks while it is empty";
  let description = "`engine` is the popping engine.";
}

def CrossMode : Enum<"CrossMode", ["all", "pair", "block", "lane"]>;
def CROSS_SET : Insn<0x25, "cross_set", PIPE_ALL, (ops Attr<"mode", CrossMode>, Int<"id">)> {
  let summary = "increments cross-core flag `id` after all earlier instructions of this engine";
  let description = "all: on every core of this kind in the launch, once all of them have raised it; pair: likewise for the two vector cores of a block; "
                    "block: from the cube core on both vector cores, from the vector cores on the cube core once both have; lane (a5): from the cube core "
                    "on vector core id / 16 as id rem 16, from vector core s on the cube core as id + 16 * s. A flag counts to 15.";
}
def CROSS_WAIT : Insn<0x26, "cross_wait", PIPE_ALL, (ops Int<"id">)> {
  let summary = "waits for cross-core flag `id` of this core and decrements it";
  let description = "On a3 only in the stream of S; other engines are released through their FIFOs.";
}

// Signal cells: 32-bit words of global memory by which devices that run together wait for each other.
def NotifyMode : Enum<"NotifyMode", ["set", "add"]>;
def NOTIFY : Insn<0x27, "notify", PIPE_S, (ops ViewOut<"dst">, Int<"value">, Attr<"mode", NotifyMode>), SameType<[I32]>>, Touches<[AccOneElement]> {
  let summary = "sets the first element of dst, a signal cell, to value, or adds value to it, in one step";
}
def CellCompare : Enum<"CellCompare", ["eq", "ge"]>;
def WAIT_CELL : Insn<0x28, "wait_cell", PIPE_S, (ops ViewIn<"src">, Int<"value">, Attr<"mode", CellCompare>), SameType<[I32]>>, Touches<[AccOneElement]> {
  let summary = "waits until the first element of src, a signal cell, is value, or at least value";
  let description = "What waits is the core; other devices of the run go on. Outside of such a run a cell that has another value is a deadlock.";
}

#endif
