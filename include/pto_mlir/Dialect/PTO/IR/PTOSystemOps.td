//===- PTOSystemOps.td - blocks, flags, sections, scalars of tiles -------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOSYSTEMOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOSYSTEMOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_IndexQueryOp<string mnemonic, string call, string text>
    : PTO_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]>, PTO_Insns<["GET"]>, PTO_Cpp<["(int64_t)" # call # "()"]> {
  let summary = text;
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
  let extraClassDefinition = [{
    // The device refuses launches of more than 65535 blocks.
    void $cppClass::inferResultRanges(::llvm::ArrayRef<::mlir::ConstantIntRanges>, ::mlir::SetIntRangeFn setResultRange) {
      setResultRange(getResult(), ::mlir::ConstantIntRanges::fromUnsigned(::llvm::APInt(64, 0), ::llvm::APInt(64, 65535)));
    }
  }];
}
def PTO_GetBlockIdxOp : PTO_IndexQueryOp<"get_block_idx", "get_block_idx", "number of this block">;
def PTO_GetBlockNumOp : PTO_IndexQueryOp<"get_block_num", "get_block_num", "number of blocks of the launch">;
def PTO_GetSubBlockIdxOp : PTO_IndexQueryOp<"get_subblock_idx", "get_subblockid", "number of this vector core in its block">;
def PTO_GetSubBlockNumOp : PTO_IndexQueryOp<"get_subblock_num", "get_subblockdim", "vector cores of a block">;

def PTO_KernelSizeOp : PTO_Op<"kernel_size", [Pure]>, PTO_NoInsn<"it becomes a scalar argument of the kernel">,
      PTO_NoCpp<"it becomes a scalar argument of the kernel first"> {
  let summary = "an extent that a launch of the kernel passes";
  let description = [{
    The launch's scalar `number`, between 1 and `greatest`, while a kernel is on tensors, whose arguments have the types
    of the greatest extent. `convert-linalg-to-pto` and `build-cube-kernels` replace it by an argument.

    ```mlir
    %rows = pto.kernel_size 0 greatest 512 : index
    ```
  }];
  let arguments = (ins I64Attr:$number, I64Attr:$greatest);
  let results = (outs Index:$result);
  let assemblyFormat = "$number `greatest` $greatest attr-dict `:` type($result)";
}

class PTO_FlagOp<string mnemonic, string text>
    : PTO_Op<mnemonic>, PTO_Insns<[!toupper(mnemonic)]>, PTO_Cpp<[mnemonic # "($src_pipe, $dst_pipe, $event_id)"]> {
  let summary = text;
  let arguments = (ins PTO_PipeAttr:$src_pipe, PTO_PipeAttr:$dst_pipe, PTO_EventAttr:$event_id);
  let assemblyFormat = "`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict";
  let builders = [OpBuilder<(ins "Pipe":$src, "Pipe":$dst, "int64_t":$id), [{
    auto *context = $_builder.getContext();
    build($_builder, $_state, PipeAttr::get(context, src), PipeAttr::get(context, dst), EventAttr::get(context, static_cast<Event>(id)));
  }]>];
}
def PTO_SetFlagOp : PTO_FlagOp<"set_flag", "in src's stream: raise flag (src, dst, event)">;
def PTO_WaitFlagOp : PTO_FlagOp<"wait_flag", "in dst's stream: wait for and consume flag (src, dst, event)">;

class PTO_FlagDynOp<string mnemonic, string row, string text>
    : PTO_Op<mnemonic>, PTO_Insns<[row]>, PTO_Cpp<[!tolower(row) # "($src_pipe, $dst_pipe, (event_t)($event_id))"]> {
  let summary = text;
  let arguments = (ins PTO_PipeAttr:$src_pipe, PTO_PipeAttr:$dst_pipe, Index:$event_id);
  let assemblyFormat = "`[` $src_pipe `,` $dst_pipe `,` $event_id `]` attr-dict";
}
def PTO_SetFlagDynOp : PTO_FlagDynOp<"set_flag_dyn", "SET_FLAG", "set_flag with a computed event">;
def PTO_WaitFlagDynOp : PTO_FlagDynOp<"wait_flag_dyn", "WAIT_FLAG", "wait_flag with a computed event">;

def PTO_BarrierOp : PTO_Op<"barrier">, PTO_Insn<"BARRIER">, PTO_Cpp<["pipe_barrier($pipe)"]> {
  let summary = "drain one engine; PIPE_ALL drains the core";
  let arguments = (ins PTO_PipeAttr:$pipe);
  let assemblyFormat = "$pipe attr-dict";
}

// What pto-slice-engines makes of a scalar that only engine S can read; the assembler has no text for them.
class PTO_OfEngines : PTO_NoCpp<"it belongs to a kernel that is sliced into engines; C++ is written before that">;
def PTO_FifoPushOp : PTO_Op<"fifo_push">, PTO_Insn<"PUSH", ["engine=pipe"]>, PTO_OfEngines {
  let summary = "in S's stream: append a number to the queue of an engine";
  let description = [{
    Each engine of a core has one queue from S, read in order by `pto.fifo_pop`.

    Example: `pto.fifo_push %row, <PIPE_MTE2> : i32`
  }];
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, Index, AnyFloat]>:$value, PTO_PipeAttr:$pipe);
  let assemblyFormat = "$value `,` $pipe attr-dict `:` type($value)";
}
def PTO_FifoPopOp : PTO_Op<"fifo_pop">, PTO_Insns<["POP"]>, PTO_OfEngines {
  let summary = "take the oldest number of this engine's queue from S; waits for one";
  let description = [{
    Example: `%row = pto.fifo_pop : i32`
  }];
  let results = (outs AnyTypeOf<[AnySignlessInteger, Index, AnyFloat]>:$value);
  let assemblyFormat = "attr-dict `:` type($value)";
}

class PTO_CoreSyncOp<string mnemonic, string text, dag extra = (ins)>
    : PTO_Op<mnemonic>, PTO_NoInsn<"pto-lower-core-sync makes cross_set and cross_wait of it">,
      PTO_CppByEmitter {
  let summary = text;
  let arguments = !con((ins PTO_PipeAttr:$pipe, OptionalAttr<I32Attr>:$event_id), extra, (ins Optional<Index>:$event_id_dyn));
  let assemblyFormat = "$pipe `,` custom<EventId>($event_id, $event_id_dyn) attr-dict";
  let hasVerifier = 1;
}
def PTO_SyncSetOp : PTO_CoreSyncOp<"sync.set", "raise a semaphore between the cube core and the vector cores once pipe has drained", (ins OptionalAttr<I32Attr>:$ffts_mode)>;
def PTO_SyncWaitOp : PTO_CoreSyncOp<"sync.wait", "pipe waits for a semaphore between the cube core and the vector cores">;

// What both become; the assembler has no text for them.
def PTO_CrossSetOp : PTO_PipeOp<"cross_set", "">, PTO_Insn<"CROSS_SET", ["id=event_id"]>, PTO_OfEngines {
  let summary = "raise cross-core flag `event_id` once `pipe` is done with what comes before";
  let description = [{
    `mode`: 0 all cores of this kind, 1 the vector cores of a block, 2 the other kind of core of a block, 3 one vector core and its cube core (a5).

    Example: `pto.cross_set <PIPE_FIX>, 2, %id`
  }];
  let arguments = (ins PTO_PipeAttr:$pipe, I32Attr:$mode, Index:$event_id);
  let assemblyFormat = "$pipe `,` $mode `,` $event_id attr-dict";
  let extraClassDeclaration = "";
}
def PTO_CrossWaitOp : PTO_PipeOp<"cross_wait", "">, PTO_Insn<"CROSS_WAIT", ["id=event_id"]>, PTO_OfEngines {
  let summary = "`pipe` waits for cross-core flag `event_id` and lowers it by one; on a3 only engine S can";
  let description = [{
    Example: `pto.cross_wait <PIPE_S>, %id`
  }];
  let arguments = (ins PTO_PipeAttr:$pipe, Index:$event_id);
  let assemblyFormat = "$pipe `,` $event_id attr-dict";
  let extraClassDeclaration = "";
}

class PTO_SectionOp<string mnemonic, string text>
    : PTO_Op<mnemonic, [SingleBlock, NoTerminator, NoRegionArguments]>,
      PTO_NoInsn<"pto-split-cores makes a kernel of it">, PTO_CppByEmitter {
  let summary = text;
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}
def PTO_SectionCubeOp : PTO_SectionOp<"section.cube", "code for the cube core">;
def PTO_SectionVectorOp : PTO_SectionOp<"section.vector", "code for the vector cores">;

def PTO_TSetValOp
    : PTO_PipeOp<"tsetval", "PIPE_S">, PTO_Insn<"TSETVAL", ["index=offset"]>,
      PTO_Cpp<["$dst.SetValue($offset, $value)"]> {
  let summary = "write one element of a tile";
  let arguments = (ins PTO_InOut:$dst, Index:$offset, AnyType:$value);
  let assemblyFormat = "`ins` `(` $offset `,` $value `:` type($offset) `,` type($value) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
}
def PTO_TGetValOp
    : PTO_PipeOp<"tgetval", "PIPE_S">, PTO_Insn<"TGETVAL", ["dst=value", "index=offset"]>,
      PTO_Cpp<["$src.GetValue($offset)"]> {
  let summary = "read one element of a tile";
  let arguments = (ins PTO_Src:$src, Index:$offset);
  let results = (outs AnyType:$value);
  let assemblyFormat = "`ins` `(` $src `,` $offset `:` qualified(type($src)) `,` type($offset) `)` `outs` `:` type($value) attr-dict";
}

defvar NO_PRINTING = "nothing is printed by kernels; take it out, or store the value";
def PTO_TPrintOp
    : PTO_PipeOp<"tprint", "PIPE_V">, PTO_NoInsn<"there is no place to print to">, PTO_NoCpp<NO_PRINTING> {
  let summary = "print a tile or a view";
  let arguments = (ins PTO_Src:$src);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` attr-dict";
}
def PTO_PrintOp : PTO_Op<"print">, PTO_NoInsn<"there is no place to print to">, PTO_NoCpp<NO_PRINTING> {
  let summary = "print a scalar";
  let arguments = (ins StrAttr:$format, AnyType:$scalar);
  let assemblyFormat = "`ins` `(` $format `,` $scalar `:` type($scalar) `)` attr-dict";
}
def PTO_TrapOp : PTO_Op<"trap">, PTO_NoInsn<"no instruction stops a kernel">, PTO_Cpp<["trap()"]> {
  let summary = "abort the kernel";
  let assemblyFormat = "attr-dict";
}

#endif
