//===- PTOAsyncOps.td - copies between devices, ops on memrefs ---------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOASYNCOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOASYNCOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_BetweenDevices
    : PTO_NoInsn<"nothing executes copies between devices">,
      PTO_NoCpp<"copies between devices are not written as C++ yet">;

def PTO_View : Type<CPred<"::llvm::isa<::pto_mlir::pto::TensorViewType, ::pto_mlir::pto::PartitionTensorViewType, ::mlir::MemRefType>($_self)">,
                    "tensor_view, partition_tensor_view or memref">;

def PTO_BuildAsyncSessionOp : PTO_Op<"build_async_session">, PTO_BetweenDevices {
  let summary = "a session of asynchronous copies; scratch is local memory, workspace global memory of its own";
  let arguments = (ins PTO_TileLike:$scratch, PTO_PtrLike:$workspace, OptionalAttr<I32Attr>:$sync_id, OptionalAttr<I64Attr>:$block_bytes,
                       OptionalAttr<I64Attr>:$comm_block_offset, OptionalAttr<I32Attr>:$queue_num, OptionalAttr<I64Attr>:$channel_group_idx);
  let results = (outs PTO_AsyncSessionType:$session);
  let assemblyFormat = [{
    `(` $scratch `,` $workspace `:` type($scratch) `,` type($workspace) `)` attr-dict `->` qualified(type($session))
  }];
  let hasVerifier = 1;
}

class PTO_AsyncCopyOp<string mnemonic, string text> : PTO_Op<mnemonic>, PTO_BetweenDevices {
  let summary = text;
  let arguments = (ins PTO_View:$dst, PTO_View:$src, PTO_AsyncSessionType:$session);
  let results = (outs PTO_AsyncEventType:$event);
  let assemblyFormat = [{
    `(` $dst `,` $src `,` $session `:` type($dst) `,` type($src) `,` qualified(type($session)) `)` attr-dict `->` qualified(type($event))
  }];
  let hasVerifier = 1;
}
def PTO_TPutAsyncOp : PTO_AsyncCopyOp<"tput_async", "begin dst = src, dst in another device's global memory">;
def PTO_TGetAsyncOp : PTO_AsyncCopyOp<"tget_async", "begin dst = src, src in another device's global memory">;

class PTO_AsyncEventOp<string mnemonic, string text> : PTO_Op<mnemonic>, PTO_BetweenDevices {
  let summary = text;
  let arguments = (ins PTO_AsyncEventType:$event, PTO_AsyncSessionType:$session);
  let results = (outs I1:$completed);
  let assemblyFormat = "`(` $event `,` $session `:` qualified(type($event)) `,` qualified(type($session)) `)` attr-dict `->` type($completed)";
}
def PTO_WaitAsyncEventOp : PTO_AsyncEventOp<"wait_async_event", "wait for a copy; completed = it succeeded">;
def PTO_TestAsyncEventOp : PTO_AsyncEventOp<"test_async_event", "completed = the copy has ended">;

// What the assembler makes of tiles; read here so that its output can be looked at.

class PTO_OfMemRefs
    : PTO_NoInsn<"pto-convert-memrefs makes tiles of memrefs">, PTO_NoCpp<"pto-convert-memrefs has to come first">;

def PTO_BindTileOp : PTO_Op<"bind_tile", [Pure, AttrSizedOperandSegments]>, PTO_OfMemRefs {
  let summary = "the memref with the valid shape and the layout of a tile";
  let arguments = (ins AnyMemRef:$source, Optional<Index>:$valid_row, Optional<Index>:$valid_col, PTO_TileBufConfigAttr:$config);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source (`,` $valid_row^ `,` $valid_col)? attr-dict `:` type($source) `->` type($result)";
}
def PTO_PointerCastOp : PTO_Op<"pointer_cast", [AttrSizedOperandSegments]>, PTO_OfMemRefs {
  let summary = "the memref at byte addresses of local memory";
  let arguments = (ins Variadic<I64>:$addrs, Optional<Index>:$valid_row, Optional<Index>:$valid_col, OptionalAttr<PTO_TileBufConfigAttr>:$config);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "`(` $addrs `)` ($valid_row^ `,` $valid_col)? attr-dict `:` type($result)";
}
def PTO_DeclareTileMemRefOp : PTO_Op<"declare_tile_memref", [Pure]>, PTO_OfMemRefs {
  let summary = "a memref whose address is assigned later";
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict `->` type($result)";
}

#endif
