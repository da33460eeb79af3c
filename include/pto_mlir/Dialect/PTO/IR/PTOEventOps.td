//===- PTOEventOps.td - named events, event arrays ----------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOEVENTOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOEVENTOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

/// `#pto.pipe_event_type<TLOAD>` or `#pto.sync_op_type<TLOAD>`: the class of op whose engine is meant.
def PTO_EventTypeAttr : AnyAttrOf<[PTO_PipeEventTypeAttr, PTO_SyncOpTypeAttr], "pipe_event_type or sync_op_type attribute">;

class PTO_OfEvents
    : PTO_NoInsn<"pto-lower-events makes flags and barriers of it">, PTO_NoCpp<"pto-lower-events has to come first">;

class PTO_NamedEventOp<string mnemonic, string text> : PTO_Op<mnemonic>, PTO_OfEvents {
  let summary = text;
  let arguments = (ins PTO_EventTypeAttr:$src_op, PTO_EventTypeAttr:$dst_op, PTO_EventAttr:$event_id);
  let assemblyFormat = "`[` $src_op `,` $dst_op `,` $event_id `]` attr-dict";
}
def PTO_RecordEventOp : PTO_NamedEventOp<"record_event", "set_flag between the engines of two classes of ops">;
def PTO_WaitEventOp : PTO_NamedEventOp<"wait_event", "wait_flag between the engines of two classes of ops">;

def PTO_BarrierSyncOp : PTO_Op<"barrier_sync">, PTO_OfEvents {
  let summary = "barrier of the engine of a class of ops";
  let arguments = (ins PTO_SyncOpTypeAttr:$op_type);
  let assemblyFormat = "`[` $op_type `]` attr-dict";
}

class PTO_BufOp<string mnemonic, string text> : PTO_Op<mnemonic>, PTO_NoInsn<"no instruction counts buffers">,
      PTO_NoCpp<"the library has no call that counts buffers"> {
  let summary = text;
  let arguments = (ins PTO_EventTypeAttr:$op_type, I32Attr:$buf_id, DefaultValuedAttr<I32Attr, "0">:$mode);
  let assemblyFormat = "`[` $op_type `,` $buf_id `]` attr-dict";
  let hasVerifier = 1;
}
def PTO_GetBufOp : PTO_BufOp<"get_buf", "take buffer buf_id (0 to 31) for the engine of a class of ops; waits until it is free">;
def PTO_RlsBufOp : PTO_BufOp<"rls_buf", "give buffer buf_id (0 to 31) back">;

def PTO_SetFFTsOp
    : PTO_Op<"set_ffts", [MemoryEffects<[MemRead, MemWrite]>]>,
      PTO_NoInsn<"semaphores are flags of the cores, not memory">,
      PTO_Cpp<["set_ffts_base_addr(reinterpret_cast<uint64_t>($ffts))"]> {
  let summary = "name the memory of the semaphores (a3)";
  let arguments = (ins AnyMemRef:$ffts);
  let assemblyFormat = "$ffts attr-dict `:` type($ffts)";
  let hasVerifier = 1;
}

def PTO_TSyncOp
    : PTO_Op<"tsync">, PTO_NoInsn<"no instruction waits for instructions by what they produce">,
      PTO_NoCpp<"events of instructions are not written as C++; use set_flag and wait_flag"> {
  let summary = "wait for the instructions that produce these tiles";
  let arguments = (ins Variadic<PTO_TileLike>:$events);
  let assemblyFormat = "`ins` `(` $events `:` type($events) `)` attr-dict";
  let hasVerifier = 1;
}

def PTO_DeclareEventIdArrayOp
    : PTO_Op<"declare_eventid_array", [MemoryEffects<[MemAlloc]>]>, PTO_NoInsn<"its entries are registers">,
      PTO_CppByEmitter {
  let summary = "an array of event ids that are computed at run time";
  let results = (outs PTO_EventIdArrayType:$array);
  let assemblyFormat = "attr-dict `->` qualified(type($array))";
}
def PTO_EventIdArrayGetOp
    : PTO_Op<"eventid_array_get">, PTO_Insns<["MOV", "CMP", "SELECT"]>, PTO_Cpp<["$array[$index]"]> {
  let summary = "result = array[index]";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemRead]>:$array, Index:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `[` $index `]` attr-dict `:` qualified(type($array))";
}
def PTO_EventIdArraySetOp
    : PTO_Op<"eventid_array_set">, PTO_Insns<["MOV", "CMP", "SELECT"]>, PTO_Cpp<["$array[$index] = $value"]> {
  let summary = "array[index] = value";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemWrite]>:$array, Index:$index, Index:$value);
  let assemblyFormat = "$array `[` $index `]` `,` $value attr-dict `:` qualified(type($array))";
}

#endif
