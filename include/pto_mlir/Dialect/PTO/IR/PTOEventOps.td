//===- PTOEventOps.td - named events, event arrays, core semaphores ----------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOEVENTOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOEVENTOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

/// `#pto.pipe_event_type<TLOAD>` or `#pto.sync_op_type<TLOAD>`: the class of op whose engine is meant.
def PTO_EventTypeAttr : AnyAttrOf<[PTO_PipeEventTypeAttr, PTO_SyncOpTypeAttr], "pipe_event_type or sync_op_type attribute">;

class PTO_NamedEventOp<string mnemonic, string text> : PTO_Op<mnemonic> {
  let summary = text;
  let arguments = (ins PTO_EventTypeAttr:$src_op, PTO_EventTypeAttr:$dst_op, PTO_EventAttr:$event_id);
  let assemblyFormat = "`[` $src_op `,` $dst_op `,` $event_id `]` attr-dict";
}
def PTO_RecordEventOp : PTO_NamedEventOp<"record_event", "set_flag between the engines of two classes of ops">;
def PTO_WaitEventOp : PTO_NamedEventOp<"wait_event", "wait_flag between the engines of two classes of ops">;

def PTO_BarrierSyncOp : PTO_Op<"barrier_sync"> {
  let summary = "barrier of the engine of a class of ops";
  let arguments = (ins PTO_SyncOpTypeAttr:$op_type);
  let assemblyFormat = "`[` $op_type `]` attr-dict";
}

class PTO_BufOp<string mnemonic, string text> : PTO_Op<mnemonic> {
  let summary = text;
  let arguments = (ins PTO_EventTypeAttr:$op_type, I32Attr:$buf_id, DefaultValuedAttr<I32Attr, "0">:$mode);
  let assemblyFormat = "`[` $op_type `,` $buf_id `]` attr-dict";
  let hasVerifier = 1;
}
def PTO_GetBufOp : PTO_BufOp<"get_buf", "take buffer buf_id (0 to 31) for the engine of a class of ops; waits until it is free">;
def PTO_RlsBufOp : PTO_BufOp<"rls_buf", "give buffer buf_id (0 to 31) back">;

class PTO_CoreSyncOp<string mnemonic, string text, dag extra = (ins)> : PTO_Op<mnemonic> {
  let summary = text;
  let arguments = !con((ins PTO_PipeAttr:$pipe, OptionalAttr<I32Attr>:$event_id), extra, (ins Optional<Index>:$event_id_dyn));
  let assemblyFormat = "$pipe `,` custom<EventId>($event_id, $event_id_dyn) attr-dict";
  let hasVerifier = 1;
}
def PTO_SyncSetOp : PTO_CoreSyncOp<"sync.set", "raise a semaphore between the cube core and the vector cores once pipe has drained", (ins OptionalAttr<I32Attr>:$ffts_mode)>;
def PTO_SyncWaitOp : PTO_CoreSyncOp<"sync.wait", "pipe waits for a semaphore between the cube core and the vector cores">;

// What both become; the assembler has no text for them.
def PTO_CrossSetOp : PTO_PipeOp<"cross_set", ""> {
  let summary = "raise cross-core flag `event_id` once `pipe` is done with what comes before";
  let description = [{
    `mode`: 0 all cores of this kind, 1 the vector cores of a block, 2 the other kind of core of a block, 3 one vector core and its cube core (a5).

    Example: `pto.cross_set <PIPE_FIX>, 2, %id`
  }];
  let arguments = (ins PTO_PipeAttr:$pipe, I32Attr:$mode, Index:$event_id);
  let assemblyFormat = "$pipe `,` $mode `,` $event_id attr-dict";
  let extraClassDeclaration = "";
}
def PTO_CrossWaitOp : PTO_PipeOp<"cross_wait", ""> {
  let summary = "`pipe` waits for cross-core flag `event_id` and lowers it by one; on a3 only engine S can";
  let description = [{
    Example: `pto.cross_wait <PIPE_S>, %id`
  }];
  let arguments = (ins PTO_PipeAttr:$pipe, Index:$event_id);
  let assemblyFormat = "$pipe `,` $event_id attr-dict";
  let extraClassDeclaration = "";
}

def PTO_SetFFTsOp : PTO_Op<"set_ffts", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "name the memory of the semaphores (a3)";
  let arguments = (ins AnyMemRef:$ffts);
  let assemblyFormat = "$ffts attr-dict `:` type($ffts)";
  let hasVerifier = 1;
}

def PTO_TSyncOp : PTO_Op<"tsync"> {
  let summary = "wait for the instructions that produce these tiles";
  let arguments = (ins Variadic<PTO_TileLike>:$events);
  let assemblyFormat = "`ins` `(` $events `:` type($events) `)` attr-dict";
  let hasVerifier = 1;
}

def PTO_DeclareEventIdArrayOp : PTO_Op<"declare_eventid_array", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an array of event ids that are computed at run time";
  let results = (outs PTO_EventIdArrayType:$array);
  let assemblyFormat = "attr-dict `->` qualified(type($array))";
}
def PTO_EventIdArrayGetOp : PTO_Op<"eventid_array_get"> {
  let summary = "result = array[index]";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemRead]>:$array, Index:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "$array `[` $index `]` attr-dict `:` qualified(type($array))";
}
def PTO_EventIdArraySetOp : PTO_Op<"eventid_array_set"> {
  let summary = "array[index] = value";
  let arguments = (ins Arg<PTO_EventIdArrayType, "", [MemWrite]>:$array, Index:$index, Index:$value);
  let assemblyFormat = "$array `[` $index `]` `,` $value attr-dict `:` qualified(type($array))";
}

#endif
