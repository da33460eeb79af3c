//===- PTODataMovementOps.td - between memories ---------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTODATAMOVEMENTOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTODATAMOVEMENTOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

def PTO_TLoadOp : PTO_PipeOp<"tload", "PIPE_MTE2", [AttrSizedOperandSegments]>, PTO_Insns<["TLOAD"]> {
  let ownTypes = "bytes are copied: source and destination may differ in kind, not in size";
  let summary = "global memory to a tile";
  let description = [{
    `pto.tload ins(%g : !pto.partition_tensor_view<16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)`. Global ND goes to
    ND tiles or, in L1, to NZ (the last, partial group of columns is filled with zeros); DN goes to DN or ZN.
  }];
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Optional<AnyType>:$pad_value, Optional<Index>:$left_padding_num,
                       Optional<AnyType>:$right_padding_num, Optional<AnyType>:$init_condition, OptionalAttr<PTO_PadModeAttr>:$pad_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$init_out_buffer);
  let assemblyFormat = [{
    `ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)`
    (`pad_mode` `=` qualified($pad_mode)^)? (`pad_value` `=` $pad_value^ `:` type($pad_value))?
    (`left_padding_num` `=` $left_padding_num^ `:` type($left_padding_num))?
    (`right_padding_num` `=` $right_padding_num^ `:` type($right_padding_num))?
    (`init_out_buffer` `=` $init_out_buffer^)? (`init_condition` `=` $init_condition^ `:` type($init_condition))? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst), [{
    build($_builder, $_state, src, dst, ::mlir::Value(), ::mlir::Value(), ::mlir::Value(), ::mlir::Value(), PadModeAttr());
  }]>];
  let hasVerifier = 1;
}

def PTO_TPrefetchOp : PTO_PipeOp<"tprefetch", "PIPE_MTE2">, PTO_NoInsn<"a hint"> {
  let summary = "hint that a part of global memory will be loaded";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
}

def PTO_TStoreOp : PTO_PipeOp<"tstore", "">, PTO_Insns<["TSTORE", "TSTORE_ACC", "TSTORE_ACC_QUANT"]>,
      PTO_Cpp<["TSTORE($dst, $src)", "TSTORE<$stPhase>($dst, $src)",
               "TSTORE<type($src), type($dst), $atomicType>($dst, $src)",
               "TSTORE<$stPhase, type($src), type($dst), $atomicType>($dst, $src)",
               "TSTORE<type($src), type($dst), $atomicType, $reluPreMode>($dst, $src)",
               "TSTORE<$stPhase, type($src), type($dst), $atomicType, $reluPreMode>($dst, $src)",
               "TSTORE<type($src), type($dst), $atomicType, $reluPreMode>($dst, $src, (uint64_t)($preQuantScalar))",
               "TSTORE<$stPhase, type($src), type($dst), $atomicType, $reluPreMode>($dst, $src, (uint64_t)($preQuantScalar))"]> {
  let ownTypes = "bytes are copied: source and destination may differ in kind, not in size";
  let summary = "a tile to global memory; executed by FIX when the tile is in L0C, else by MTE3";
  let description = [{
    From L0C the fixpipe converts on the way: quantise, then relu (`reluPreMode`), then cast to the view's type.
    `pto.tstore ins(%a : !A) outs(%g : !G) {reluPreMode = #pto<relu_pre_mode normal_relu>}`
  }];
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Optional<I64>:$preQuantScalar,
                       DefaultValuedAttr<PTO_STPhaseAttr, "STPhase::unspecified">:$stPhase,
                       DefaultValuedAttr<PTO_AtomicTypeAttr, "AtomicType::atomic_none">:$atomicType,
                       DefaultValuedAttr<PTO_ReluPreModeAttr, "ReluPreMode::no_relu">:$reluPreMode);
  let assemblyFormat = [{
    `ins` `(` $src `:` qualified(type($src)) (`,` $preQuantScalar^ `:` type($preQuantScalar))? `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst, CArg<"ReluPreMode", "ReluPreMode::no_relu">:$relu), [{
    build($_builder, $_state, src, dst, ::mlir::Value(), STPhase::unspecified, AtomicType::atomic_none, relu);
  }]>];
  let hasVerifier = 1;
}

def PTO_TStoreFPOp : PTO_PipeOp<"tstore_fp", "PIPE_FIX">, PTO_Insns<["TSTORE_ACC_QUANTV"]>,
      PTO_Cpp<["TSTORE_FP<type($src), type($dst), type($fp)>($dst, $src, $fp)",
               "TSTORE_FP<type($src), type($dst), type($fp), AtomicType::AtomicNone, $reluPreMode>($dst, $src, $fp)"]> {
  let ownTypes = "scales may have any type: what counts are words of 64 bits";
  let summary = "an L0C tile to global memory with per-column quantisation, then relu (`reluPreMode`, which the assembler lacks here); the assembler gives it no engine and does not order it";
  let arguments = (ins PTO_Src:$src, PTO_Src:$fp, PTO_Dst:$dst, DefaultValuedAttr<PTO_ReluPreModeAttr, "ReluPreMode::no_relu">:$reluPreMode);
  let assemblyFormat = [{
    `ins` `(` $src `,` $fp `:` qualified(type($src)) `,` qualified(type($fp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

def PTO_TMovOp
    : PTO_PipeOp<"tmov", "", [AttrSizedOperandSegments]>,
      PTO_Insns<["TMOV", "TEXTRACT_L0A", "TEXTRACT_L0B", "TEXTRACT_SA", "TEXTRACT_SB", "TMOV_BT", "TMOV_FB",
                 "TINSERT_L1", "TMOV_ACC", "TMOV_ACC_QUANT", "TMOV_ACC_QUANTV", "TMOV_ACC_UB", "TMOV_ACC_UB_QUANT",
                 "TMOV_ACC_UB_QUANTV"]>,
      PTO_Cpp<["TMOV($dst, $src)", "TMOV<type($dst), type($src), $reluPreMode>($dst, $src)",
               "TMOV<type($dst), type($src), $accToVecMode, $reluPreMode>($dst, $src)",
               "TMOV<type($dst), type($src), $reluPreMode>($dst, $src, (uint64_t)($preQuantScalar))",
               "TMOV<type($dst), type($src), $accToVecMode, $reluPreMode>($dst, $src, (uint64_t)($preQuantScalar))",
               "TMOV_FP<type($dst), type($src), type($fp), $reluPreMode>($dst, $src, $fp)",
               "TMOV<type($dst), type($src), type($fp), $accToVecMode, $reluPreMode>($dst, $src, $fp)"]> {
  let ownTypes = "each of the rows has types of its own";
  let summary = "tile to tile: L1 to L0A, L0B, bias or fixpipe buffer (MTE1), L0C to L1 or UB (FIX), UB to UB (V)";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Arg<Optional<PTO_TileLike>, "", [MemRead]>:$fp, Optional<I64>:$preQuantScalar,
                       OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
                       DefaultValuedAttr<PTO_ReluPreModeAttr, "ReluPreMode::no_relu">:$reluPreMode);
  // `ins(%src : T)`, `ins(%src : T, %fp : F)`, and, which the assembler reads in the generic form only, `ins(%src : T, %q : i64)`.
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst), [{
    build($_builder, $_state, src, dst, ::mlir::Value(), ::mlir::Value(), AccToVecModeAttr(), ReluPreMode::no_relu);
  }]>];
  let hasVerifier = 1;
}

def PTO_TMovFPOp : PTO_PipeOp<"tmov.fp", "PIPE_FIX">, PTO_Insns<["TMOV_ACC_QUANTV", "TMOV_ACC_UB_QUANTV"]>,
      PTO_Cpp<["TMOV_FP<type($dst), type($src), type($fp)>($dst, $src, $fp)"]> {
  let ownTypes = "scales may have any type: what counts are words of 64 bits";
  let summary = "L0C to L1 with per-column quantisation; the assembler orders it as if by MTE1";
  let arguments = (ins PTO_Src:$src, PTO_Src:$fp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $fp `:` qualified(type($src)) `,` qualified(type($fp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

class PTO_PartMoveOp<string mnemonic, string text> : PTO_PipeOp<mnemonic, ""> {
  let summary = text;
  let arguments = (ins PTO_Src:$src, Index:$indexRow, Index:$indexCol, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $indexRow `,` $indexCol `:` qualified(type($src)) `,` type($indexRow) `,` type($indexCol) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TExtractOp
    : PTO_PartMoveOp<"textract", "dst = the part of src that begins at (row, col)">,
      PTO_Insns<["TEXTRACT_L0A", "TEXTRACT_L0B", "TEXTRACT_UB", "TEXTRACT_SA", "TEXTRACT_SB", "TINSERT_L1"]> {
  let ownTypes = "each of the rows has types of its own";
}
def PTO_TInsertOp
    : PTO_PartMoveOp<"tinsert", "the part of dst that begins at (row, col) = src">,
      PTO_Insns<["TINSERT_ACC", "TINSERT_UB", "TINSERT_L1"]> {
  let ownTypes = "each of the rows has types of its own";
}

class PTO_PartMoveFPOp<string mnemonic, string text> : PTO_PipeOp<mnemonic, "PIPE_FIX"> {
  let summary = text;
  let arguments = (ins PTO_Src:$src, PTO_Src:$fp, Index:$indexRow, Index:$indexCol, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $fp `,` $indexRow `,` $indexCol `:` qualified(type($src)) `,` qualified(type($fp)) `,` type($indexRow) `,`
    type($indexCol) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}
def PTO_TExtractFPOp
    : PTO_PartMoveFPOp<"textract_fp", "textract from L0C to L1 with per-column quantisation">,
      PTO_Insns<["TMOV_ACC_QUANTV"]>,
      PTO_Cpp<["TEXTRACT_FP<type($dst), type($src), type($fp)>($dst, $src, $fp, $indexRow, $indexCol)"]> {
  let ownTypes = "scales may have any type: what counts are words of 64 bits";
}
def PTO_TInsertFPOp
    : PTO_PartMoveFPOp<"tinsert_fp", "tinsert from L0C to L1 with per-column quantisation">,
      PTO_Insns<["TMOV_ACC_QUANTV"]>,
      PTO_Cpp<["TINSERT_FP<type($dst), type($src), type($fp)>($dst, $src, $fp, $indexRow, $indexCol)"]> {
  let ownTypes = "scales may have any type: what counts are words of 64 bits";
}

class PTO_TileToTileOp<string mnemonic, string text, list<Trait> traits = []> : PTO_PipeOp<mnemonic, "", traits> {
  let summary = text;
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
}
def PTO_TPackOp
    : PTO_TileToTileOp<"tpack", "narrow the elements to their low bytes", [PTO_OnlyA5, PTO_SameValid]>,
      PTO_Insn<"TPACK">;
class PTO_FillPadOp<string mnemonic, string text> : PTO_TileToTileOp<mnemonic, text> { let hasVerifier = 1; }
def PTO_TFillPadOp
    : PTO_FillPadOp<"tfillpad", "copy, then fill what is not valid with the pad value of dst's type">,
      PTO_Insns<["TFILLPAD", "TFILLPAD_L1"]> {
  let ownTypes = "tiles in L1 have more types";
}
def PTO_TFillPadInplaceOp
    : PTO_FillPadOp<"tfillpad_inplace", "fill what is not valid with the pad value of dst's type">,
      PTO_Insns<["TFILLPAD", "TFILLPAD_L1"]> {
  let ownTypes = "tiles in L1 have more types";
}
def PTO_TFillPadExpandOp
    : PTO_FillPadOp<"tfillpad_expand", "tfillpad into a larger tile">, PTO_Insns<["TFILLPAD", "TFILLPAD_L1"]> {
  let ownTypes = "tiles in L1 have more types";
}

def PTO_TConcatOp : PTO_PipeOp<"tconcat", "PIPE_V", [PTO_SameDType]>, PTO_Insn<"TCONCAT"> {
  let summary = "the columns of src0, then those of src1";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

def PTO_TTransOp : PTO_PipeOp<"ttrans", "PIPE_V", [PTO_SameDType]>, PTO_Insn<"TTRANS"> {
  let summary = "dst[j, i] = src[i, j]; tmp is scratch";
  let arguments = (ins PTO_Src:$src, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $tmp `:` qualified(type($src)) `,` qualified(type($tmp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TImg2ColOp : PTO_PipeOp<"timg2col", "PIPE_MTE1">, PTO_Insns<["TIMG2COL"]>,
      PTO_NoCpp<"the library reads images from tiles of a kind of their own (ConvTile)"> {
  let summary = "an image in L1 as the left operand of a convolution's matrix product (the ISA's TIMG2COL)";
  let description = [{
    The source holds `image` = [H, W] pixels of `channels` channels as a tile of H*W rows, its columns padded to groups of
    C0 = 32 / bytes: memory order [C1][H*W][C0]. Element (r, c) of dst is the input element that output pixel posM + r and
    filter position posK + c meet, where k = ((c1*KH + kh)*KW + kw)*C0 + c0, output pixels count row by row, and what lies
    outside the image is zero. `pads` = [top, left, bottom, right].

    `pto.timg2col ins(%l1, %m, %k : !MAT, index, index) outs(%left : !L) {kernel = [3, 3], strides = [1, 1], dilations = [1, 1],
    pads = [1, 1, 1, 1], image = [24, 96], channels = 8}`
  }];
  let arguments = (ins PTO_Src:$src, Index:$posM, Index:$posK, PTO_Dst:$dst, I64ArrayAttr:$kernel, I64ArrayAttr:$strides,
                       I64ArrayAttr:$dilations, I64ArrayAttr:$pads, I64ArrayAttr:$image, I64Attr:$channels);
  let assemblyFormat = [{
    `ins` `(` $src `,` $posM `,` $posK `:` qualified(type($src)) `,` type($posM) `,` type($posK) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif
