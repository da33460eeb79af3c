//===- PTOPipeOps.td - queues of tiles between cube and vector cores ---------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOPIPEOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOPIPEOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

// What front ends write: one queue per direction and function, named by the function's side.

class PTO_OfQueues : PTO_NoInsn<"pto-lower-pipes makes copies and flags of it">;
class PTO_OfFrontQueues : PTO_OfQueues, PTO_NoCpp<"pto-queues-for-library has to come first">;
class PTO_QueueValue : PTO_OfQueues, PTO_CppByEmitter;

class PTO_FrontInitPipeOp<string mnemonic, string side> : PTO_Op<mnemonic>, PTO_OfFrontQueues {
  let summary = "open the queues of a " # side # " kernel: dir_mask 1 cube to vector, 2 vector to cube, 3 both";
  let description = [{
    `slot_size` is the bytes of a tile before it is split between two vector cores. The consumer buffers are addresses of
    reserved local memory, 0 for a direction that is not used; on a3 tiles travel through `gm_slot_buffer`. Of several in a
    function each has an `id`, which its pushes, pops and frees name.
  }];
  let arguments = (ins OptionalAttr<I32Attr>:$id, I8Attr:$dir_mask, I32Attr:$slot_size, OptionalAttr<BoolAttr>:$nosplit, Optional<PTO_PtrType>:$gm_slot_buffer,
                       I32:$c2v_consumer_buf, I32:$v2c_consumer_buf);
  let assemblyFormat = [{
    `{` (`id` `=` $id^ `,`)? `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size (`,` `nosplit` `=` $nosplit^)? `}`
    `(` (`gm_slot_buffer` `=` $gm_slot_buffer^ `:` custom<PtrType>(type($gm_slot_buffer)) `,`)?
    `c2v_consumer_buf` `=` $c2v_consumer_buf `:` type($c2v_consumer_buf) `,`
    `v2c_consumer_buf` `=` $v2c_consumer_buf `:` type($v2c_consumer_buf) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_AicInitializePipeOp : PTO_FrontInitPipeOp<"aic_initialize_pipe", "cube">;
def PTO_AivInitializePipeOp : PTO_FrontInitPipeOp<"aiv_initialize_pipe", "vector">;

class PTO_FrontPushOp<string mnemonic, string text> : PTO_PipeOp<mnemonic, "">, PTO_OfFrontQueues {
  let summary = text;
  let arguments = (ins PTO_Src:$tile, OptionalAttr<I32Attr>:$id, I8Attr:$split);
  let assemblyFormat = "`(` $tile `:` type($tile) `)` `{` (`id` `=` $id^ `,`)? `split` `=` $split `}` attr-dict";
  let hasVerifier = 1;
}
def PTO_TPushToAivOp : PTO_FrontPushOp<"tpush_to_aiv", "append a tile to the queue to the vector cores; split 0 whole, 1 upper and lower half, 2 left and right half">;
def PTO_TPushToAicOp : PTO_FrontPushOp<"tpush_to_aic", "append a tile to the queue to the cube core; split 0 whole, 1 upper and lower half, 2 left and right half">;

class PTO_FrontPopOp<string mnemonic, string text>
    : PTO_PipeOp<mnemonic, "", [AttrSizedOperandSegments]>, PTO_OfFrontQueues {
  let summary = text;
  let arguments = (ins Optional<Index>:$valid_row, Optional<Index>:$valid_col, OptionalAttr<I32Attr>:$id, I8Attr:$split);
  let results = (outs Res<PTO_TileLike, "", [MemAlloc, MemWrite]>:$tile);
  let assemblyFormat = "(`(` $valid_row^ `,` $valid_col `)`)? `{` (`id` `=` $id^ `,`)? `split` `=` $split `}` attr-dict `->` type($tile)";
  let hasVerifier = 1;
}
def PTO_TPopFromAicOp : PTO_FrontPopOp<"tpop_from_aic", "the oldest tile of the cube core's queue; waits for one">;
def PTO_TPopFromAivOp : PTO_FrontPopOp<"tpop_from_aiv", "the oldest tile of the vector cores' queue; waits for one">;

class PTO_FrontFreeOp<string mnemonic, string text>
    : PTO_PipeOp<mnemonic, "PIPE_S", [MemoryEffects<[MemWrite]>]>, PTO_OfFrontQueues {
  let summary = text;
  let arguments = (ins OptionalAttr<I32Attr>:$id, I8Attr:$split);
  let assemblyFormat = "`{` (`id` `=` $id^ `,`)? `split` `=` $split `}` attr-dict";
  let hasVerifier = 1;
}
def PTO_TFreeFromAicOp : PTO_FrontFreeOp<"tfree_from_aic", "give the oldest slot of the cube core's queue back">;
def PTO_TFreeFromAivOp : PTO_FrontFreeOp<"tfree_from_aiv", "give the oldest slot of the vector cores' queue back">;

def PTO_ReserveBufferOp
    : PTO_Op<"reserve_buffer">, PTO_NoInsn<"pto-place-reserved makes a number of it">,
      PTO_NoCpp<"pto-queues-for-library has to come first"> {
  let summary = "byte address of local memory that tiles of a queue arrive in";
  let arguments = (ins StrAttr:$name, I32Attr:$size, PTO_AddressSpaceAttr:$location, BoolAttr:$autoAlloc, OptionalAttr<I32Attr>:$base);
  let results = (outs I32:$addr);
  let assemblyFormat = [{
    `{` `name` `=` $name `,` `size` `=` $size `,` `location` `=` $location `,` `auto` `=` $autoAlloc (`,` `base` `=` $base^)? `}`
    attr-dict `->` type($addr)
  }];
  let hasVerifier = 1;
}
def PTO_ImportReservedBufferOp
    : PTO_Op<"import_reserved_buffer">, PTO_NoInsn<"pto-place-reserved makes a number of it">,
      PTO_NoCpp<"pto-queues-for-library has to come first"> {
  let summary = "address of the buffer that the function on the other side of the queue reserves";
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$peer_func);
  let results = (outs I32:$addr);
  let assemblyFormat = "`{` `name` `=` $name `,` `peer_func` `=` $peer_func `}` attr-dict `->` type($addr)";
  let hasVerifier = 1;
}

// What they become: a queue is a value.
def PTO_InitializeL2G2LPipeOp : PTO_Op<"initialize_l2g2l_pipe">, PTO_QueueValue {
  let summary = "open a queue whose tiles travel through global memory";
  let arguments = (ins I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$local_slot_num,
                       OptionalAttr<I32Attr>:$flag_base, OptionalAttr<BoolAttr>:$nosplit, Arg<AnyType, "", [MemRead]>:$gm_addr,
                       AnyType:$local_addr, Optional<AnyType>:$peer_local_addr);
  let results = (outs Res<PTO_PipeType, "", [MemAlloc]>:$pipe);
  let assemblyFormat = [{
    `{` `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size `,` `slot_num` `=` $slot_num (`,` `local_slot_num` `=` $local_slot_num^)?
    (`,` `flag_base` `=` $flag_base^)? (`,` `nosplit` `=` $nosplit^)? `}`
    `(` $gm_addr `:` type($gm_addr) `,` $local_addr `:` type($local_addr) (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)`
    attr-dict `->` qualified(type($pipe))
  }];
  let hasVerifier = 1;
}
def PTO_InitializeL2LPipeOp : PTO_Op<"initialize_l2l_pipe">, PTO_QueueValue {
  let summary = "open a queue whose tiles travel from core to core";
  let arguments = (ins I8Attr:$dir_mask, I32Attr:$slot_size, I32Attr:$slot_num, OptionalAttr<I32Attr>:$flag_base,
                       OptionalAttr<BoolAttr>:$nosplit, AnyType:$local_addr, Optional<AnyType>:$peer_local_addr);
  let results = (outs Res<PTO_PipeType, "", [MemAlloc]>:$pipe);
  let assemblyFormat = [{
    `{` `dir_mask` `=` $dir_mask `,` `slot_size` `=` $slot_size `,` `slot_num` `=` $slot_num
    (`,` `flag_base` `=` $flag_base^)? (`,` `nosplit` `=` $nosplit^)? `}`
    `(` $local_addr `:` type($local_addr) (`,` $peer_local_addr^ `:` type($peer_local_addr))? `)` attr-dict `->` qualified(type($pipe))
  }];
  let hasVerifier = 1;
}

def PTO_Queue : Arg<PTO_PipeType, "", [MemRead, MemWrite]>;
def PTO_TPushOp : PTO_PipeOp<"tpush", "">, PTO_QueueValue {
  let summary = "append a tile to a queue; waits for a free slot";
  let arguments = (ins PTO_Src:$tile, PTO_Queue:$pipe_handle, I8Attr:$split);
  let assemblyFormat = [{
    `(` $tile `,` $pipe_handle `:` type($tile) `,` qualified(type($pipe_handle)) `)` `{` `split` `=` $split `}` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TPopOp : PTO_PipeOp<"tpop", "">, PTO_QueueValue {
  let summary = "bind a declared tile to the oldest slot of a queue; waits for one";
  let arguments = (ins PTO_Dst:$tile, PTO_Queue:$pipe_handle, I8Attr:$split);
  let assemblyFormat = [{
    `(` $tile `,` $pipe_handle `:` type($tile) `,` qualified(type($pipe_handle)) `)` `{` `split` `=` $split `}` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TFreeOp : PTO_PipeOp<"tfree", "PIPE_S", [MemoryEffects<[MemWrite]>]>, PTO_QueueValue {
  let summary = "give the oldest slot of a queue back";
  let arguments = (ins PTO_Queue:$pipe_handle, I8Attr:$split);
  let assemblyFormat = "`(` $pipe_handle `:` qualified(type($pipe_handle)) `)` `{` `split` `=` $split `}` attr-dict";
  let hasVerifier = 1;
}

// What taking a tile from a queue between cores and giving its place back become: nothing moves, but engines must wait. No text of the assembler.
def PTO_SlotReadyOp
    : PTO_PipeOp<"slot_ready", "PIPE_MTE2">, PTO_NoInsn<"it only orders others">,
      PTO_NoCpp<"C++ has queues as the library has them"> {
  let summary = "another core has filled the tile; stands behind the cross_wait that says so, and counts as the write";
  let description = [{
    Example: `pto.slot_ready %t : !pto.tile_buf<vec, 8x16xf32>`
  }];
  let arguments = (ins PTO_Dst:$tile);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile))";
}
def PTO_SlotDoneOp
    : PTO_PipeOp<"slot_done", "PIPE_MTE2">, PTO_NoInsn<"it only orders others">,
      PTO_NoCpp<"C++ has queues as the library has them"> {
  let summary = "another core may overwrite the tile; stands in front of the cross_set that says so, and counts as a write";
  let description = [{
    Example: `pto.slot_done %t : !pto.tile_buf<vec, 8x16xf32>`
  }];
  let arguments = (ins PTO_Dst:$tile);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile))";
}

// What a queue's place in global memory becomes; the assembler has no text for it.
def PTO_SlotPtrOp : PTO_Op<"slot_ptr", [Pure]>, PTO_NamesMemory {
  let summary = "pointer to a slot of a queue, `bytes` behind the slots' buffer";
  let description = [{
    Nothing but this queue uses the slots, so passes that order accesses take the result for memory of its own: queues order their slots by
    flags between cores.

    Example: `%slot = pto.slot_ptr %gm[%bytes] : !pto.ptr<f32> -> !pto.ptr<f16>`
  }];
  let arguments = (ins PTO_PtrType:$ptr, Index:$bytes);
  let results = (outs PTO_PtrType:$result);
  let assemblyFormat = "$ptr `[` $bytes `]` attr-dict `:` qualified(type($ptr)) `->` qualified(type($result))";
}

#endif
