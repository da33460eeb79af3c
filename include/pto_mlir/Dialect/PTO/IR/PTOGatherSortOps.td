//===- PTOGatherSortOps.td - gather, scatter, sort, generated tiles ----------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOGATHERSORTOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOGATHERSORTOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

def PTO_TGatherOp
    : PTO_PipeOp<"tgather", "PIPE_V", [AttrSizedOperandSegments]>,
      PTO_Insns<["TGATHER", "TGATHER_MASK", "TGATHER_CMP"]>,
      PTO_Cpp<["TGATHER($dst, $src, $indices, $tmp)",
               "TGATHER<type($dst), type($src), $maskPattern>($dst, $src)"]> {
  let ownTypes = "each of the rows has types of its own";
  let summary = "dst[i, j] = src[indices[i, j]]; or the places where src compares to a scalar; or the lanes of a pattern";
  let description = [{
    Three forms. By index: `ins(%src, %indices, %tmp)`, indices count elements of src row by row. By comparison:
    `ins(%src, %k, %tmp) outs(%dst, %cdst)` writes into row i of dst the columns j (plus `offset`) where
    compare(src[i, j], k) holds, and their number into cdst; `cmpMode` is eq or gt. By pattern:
    `ins(%src, {maskPattern = #pto.mask_pattern<P0101>})` keeps the lanes whose bit of the pattern, repeated along the
    row from its right end, is set.
  }];
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Arg<Optional<PTO_TileLike>, "", [MemWrite]>:$cdst,
                       Arg<Optional<PTO_TileLike>, "", [MemRead]>:$indices,
                       Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp, Optional<PTO_Scalar>:$kValue,
                       OptionalAttr<PTO_MaskPatternAttr>:$maskPattern, OptionalAttr<PTO_CmpModeAttr>:$cmpMode,
                       OptionalAttr<I32Attr>:$offset);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def PTO_TGatherBOp : PTO_PipeOp<"tgatherb", "PIPE_V">, PTO_Insn<"TGATHERB"> {
  let summary = "dst = the 32-byte blocks of src at byte offsets";
  let arguments = (ins PTO_Src:$src, PTO_Src:$offsets, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $offsets `:` type($src) `,` type($offsets) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TScatterOp : PTO_PipeOp<"tscatter", "">, PTO_Insns<["TSCATTER", "TSCATTER_S"]> {
  let ownTypes = "the assembler takes indices as wide as the elements";
  let summary = "element indexes[i, j] of dst, counted row by row, = src[i, j], the last write wins; executed by S on a3, by V on a5";
  let arguments = (ins PTO_Src:$src, PTO_Src:$indexes, PTO_InOut:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $indexes `:` type($src) `,` type($indexes) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_MGatherOp
    : PTO_PipeOp<"mgather", "PIPE_MTE2", [PTO_OnlyA5]>,
      PTO_AdjustedInsn<"MGATHER", ["src=mem", "indices=idx", "unit=", "bounds=gatherOob"]>,
      PTO_NoCpp<"whether it gathers rows or elements is another template argument, not written yet"> {
  let summary = "dst[i, j] = the element (or row, with a column of indices) of global memory at idx";
  let arguments = (ins PTO_Src:$mem, PTO_Src:$idx, PTO_Dst:$dst,
                       DefaultValuedAttr<PTO_GatherOOBAttr, "GatherOOB::undefined">:$gatherOob);
  let assemblyFormat = [{
    `ins` `(` $mem `,` $idx `:` type($mem) `,` type($idx) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_MScatterOp
    : PTO_PipeOp<"mscatter", "PIPE_MTE3", [PTO_OnlyA5]>,
      PTO_AdjustedInsn<"MSCATTER", ["dst=mem", "indices=idx", "unit=", "bounds=scatterOob", "atomic=scatterAtomicOp"]>,
      PTO_NoCpp<"whether it scatters rows or elements is another template argument, not written yet"> {
  let summary = "the element (or row, with a column of indices) of global memory at idx = src[i, j]";
  let arguments = (ins PTO_Src:$src, PTO_Src:$idx, PTO_InOut:$mem,
                       DefaultValuedAttr<PTO_ScatterAtomicOpAttr, "ScatterAtomicOp::none">:$scatterAtomicOp,
                       DefaultValuedAttr<PTO_ScatterOOBAttr, "ScatterOOB::undefined">:$scatterOob);
  let assemblyFormat = [{
    `ins` `(` $src `,` $idx `:` type($src) `,` type($idx) `)` `outs` `(` $mem `:` type($mem) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TSort32Op : PTO_PipeOp<"tsort32", "PIPE_V">, PTO_Insn<"TSORT32", ["indices=idx"]> {
  let summary = "dst = (value, index) pairs of every block of 32 elements of a row of src, sorted by falling value";
  let arguments = (ins PTO_Src:$src, PTO_Src:$idx, Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $idx (`,` $tmp^)? `:` type($src) `,` type($idx) (`,` type($tmp)^)? `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TMrgSortOp
    : PTO_PipeOp<"tmrgsort", "PIPE_V", [AttrSizedOperandSegments]>,
      PTO_Insns<["TMRGSORT", "TMRGSORT2", "TMRGSORT3", "TMRGSORT4"]>,
      PTO_Cpp<["TMRGSORT($dsts, $srcs, $blockLen)",
               "{ MrgSortExecutedNumList counts = $executed; TMRGSORT<type($dsts), type($tmp), type($srcs), $exhausted>($dsts, counts, $tmp, $srcs); }"]> {
  let ownTypes = "each of the rows has other operands";
  let summary = "dst = merge of runs of (value, index) pairs that are sorted by falling value";
  let description = [{
    Format 1, `ins(%src, %blockLen : T, i32) outs(%dst : T)`: every four neighbouring runs of blockLen elements of one row
    become one. Format 2, `ins(%s0, %s1, %tmp {exhausted = false} : ..) outs(%dst, %executed : T, vector<4xi16>)`: two to four
    runs become one; executed receives how many pairs were taken from each, and with `exhausted` the merge ends where the
    first run does.
  }];
  let arguments = (ins Arg<Variadic<PTO_TileLike>, "", [MemRead]>:$srcs, Optional<AnyInteger>:$blockLen,
                       Arg<Variadic<PTO_TileLike>, "", [MemWrite]>:$dsts,
                       Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp, Optional<AnyType>:$executed,
                       DefaultValuedAttr<BoolAttr, "false">:$exhausted);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def PTO_THistogramOp
    : PTO_PipeOp<"thistogram", "PIPE_V", [PTO_OnlyA5]>, PTO_Insn<"THISTOGRAM", ["filter=idx", "byte=isMSB"]>,
      PTO_Refuses<["u32"]>, PTO_Cpp<["THISTOGRAM<$isMSB>($dst, $src, $idx)"]> {
  let summary = "dst[i, b] = number of j whose byte of src[i, j] is at most b; the high byte, or with isMSB = false the low byte "
                "of those whose high byte is idx[i, 0]";
  let arguments = (ins PTO_Src:$src, PTO_Src:$idx, PTO_Dst:$dst, DefaultValuedAttr<BoolAttr, "true">:$isMSB);
  let assemblyFormat = [{
    `ins` `(` $src `,` $idx `:` type($src) `,` type($idx) `)` `outs` `(` $dst `:` type($dst) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TTriOp : PTO_PipeOp<"ttri", "PIPE_V">, PTO_Insn<"TTRI", ["half=upperOrLower"]>,
      PTO_Cpp<["TTRI<type($dst), $upperOrLower>($dst, $diagonal)"]> {
  let summary = "dst[i, j] = 1 where j <= i + diagonal (upperOrLower = 0) or j >= i + diagonal (1), else 0";
  let arguments = (ins AnyInteger:$diagonal, PTO_Dst:$dst, DefaultValuedAttr<I32Attr, "0">:$upperOrLower);
  let assemblyFormat = "`ins` `(` $diagonal attr-dict `:` type($diagonal) `)` `outs` `(` $dst `:` type($dst) `)`";
  let hasVerifier = 1;
}

def PTO_TRandomOp : PTO_PipeOp<"trandom", "PIPE_V", [PTO_OnlyA5]>, PTO_Insn<"TRANDOM">,
      PTO_Cpp<["{ TRandomKey key = {(uint32_t)$key0, (uint32_t)$key1}; TRandomCounter counter = {(uint32_t)$counter0, "
               "(uint32_t)$counter1, (uint32_t)$counter2, (uint32_t)$counter3}; TRANDOM<$rounds>($dst, key, counter); }"]> {
  let summary = "dst = words of the counter-based generator of key and counter, in 7 or 10 rounds";
  let arguments = (ins I32:$key0, I32:$key1, I32:$counter0, I32:$counter1, I32:$counter2, I32:$counter3, PTO_Dst:$dst,
                       DefaultValuedAttr<I32Attr, "10">:$rounds);
  let assemblyFormat = [{
    `ins` `(` $key0 `,` $key1 `,` $counter0 `,` $counter1 `,` $counter2 `,` $counter3 attr-dict `:` type($key0) `,` type($key1) `,`
    type($counter0) `,` type($counter1) `,` type($counter2) `,` type($counter3) `)` `outs` `(` $dst `:` type($dst) `)`
  }];
  let hasVerifier = 1;
}

#endif
