//===- PTOElementwiseOps.td - tile by tile, element by element (engine V) ---- ===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOELEMENTWISEOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOELEMENTWISEOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_UnaryTileOp<string mnemonic, string formula, list<Trait> traits = []>
    : PTO_PipeOp<mnemonic, "PIPE_V", traits>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst = " # formula # " for every element of the valid part";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
}
class PTO_BinaryTileOp<string mnemonic, string formula, list<Trait> traits = []>
    : PTO_PipeOp<mnemonic, "PIPE_V", traits>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst = " # formula # " for every element of the valid part";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}
/// Three sources; `tmp` is scratch memory of the instruction.
class PTO_BinaryTmpTileOp<string mnemonic, string formula, list<Trait> traits = []>
    : PTO_PipeOp<mnemonic, "PIPE_V", traits>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst = " # formula # " for every element of the valid part; tmp is scratch";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `,` $tmp `:` qualified(type($src0)) `,` qualified(type($src1)) `,` qualified(type($tmp)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}
class PTO_TernaryTileOp<string mnemonic, string formula, list<Trait> traits = []> : PTO_PipeOp<mnemonic, "PIPE_V", traits> {
  let summary = "dst = " # formula # " for every element of the valid part";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Src:$src2, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `,` $src2 `:` qualified(type($src0)) `,` qualified(type($src1)) `,` qualified(type($src2)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

// RM, SD, SV: row major, same element type, same valid shape on every tile.
defvar ELEMENTWISE = [PTO_RowMajor, PTO_SameDType, PTO_SameValid];

def PTO_TAbsOp : PTO_UnaryTileOp<"tabs", "|src|", ELEMENTWISE>, PTO_Refuses<["i8", "i16", "i32", "i64"]>;
def PTO_TExpOp : PTO_UnaryTileOp<"texp", "exp(src)", ELEMENTWISE>;
def PTO_TLogOp : PTO_UnaryTileOp<"tlog", "log(src)", ELEMENTWISE>;
def PTO_TSqrtOp : PTO_UnaryTileOp<"tsqrt", "sqrt(src)", ELEMENTWISE>;
def PTO_TRecipOp
    : PTO_UnaryTileOp<"trecip", "1 / src", ELEMENTWISE>, PTO_Refuses<[], ["i16", "i32"]> { let hasVerifier = 1; }
def PTO_TNegOp : PTO_UnaryTileOp<"tneg", "-src", ELEMENTWISE>, PTO_Refuses<["i64"]>;
def PTO_TNotOp : PTO_UnaryTileOp<"tnot", "~src", ELEMENTWISE>, PTO_Refuses<WIDE, BYTES # DWORDS>;
def PTO_TReluOp : PTO_UnaryTileOp<"trelu", "max(src, 0)", ELEMENTWISE>;
def PTO_TRsqrtOp : PTO_PipeOp<"trsqrt", "PIPE_V", [PTO_RowMajor]>, PTO_Insn<"TRSQRT"> {
  let summary = "dst = 1 / sqrt(src) for every element of the valid part; the optional tmp is scratch of at least 32 bytes";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp);
  let assemblyFormat = [{
    `ins` `(` $src (`,` $tmp^)? `:` qualified(type($src)) (`,` qualified(type($tmp))^)? `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst), "build($_builder, $_state, src, dst, ::mlir::Value());">];
  let hasVerifier = 1;
}

def PTO_TAddOp : PTO_BinaryTileOp<"tadd", "src0 + src1", ELEMENTWISE>, PTO_Refuses<WIDE>;
def PTO_TSubOp : PTO_BinaryTileOp<"tsub", "src0 - src1", ELEMENTWISE>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TMulOp : PTO_BinaryTileOp<"tmul", "src0 * src1", ELEMENTWISE>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TMaxOp : PTO_BinaryTileOp<"tmax", "max(src0, src1)", ELEMENTWISE>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TMinOp : PTO_BinaryTileOp<"tmin", "min(src0, src1)", ELEMENTWISE>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TDivOp : PTO_BinaryTileOp<"tdiv", "src0 / src1", ELEMENTWISE>, PTO_Refuses<WIDE>;
def PTO_TAndOp : PTO_BinaryTileOp<"tand", "src0 & src1", ELEMENTWISE>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TOrOp : PTO_BinaryTileOp<"tor", "src0 | src1", ELEMENTWISE>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TShlOp : PTO_BinaryTileOp<"tshl", "src0 << src1", ELEMENTWISE>, PTO_Refuses<WIDE>;
def PTO_TShrOp : PTO_BinaryTileOp<"tshr", "src0 >> src1", [PTO_RowMajor, PTO_SameValid]>, PTO_Refuses<WIDE>;
def PTO_TFModOp : PTO_BinaryTileOp<"tfmod", "fmod(src0, src1)", ELEMENTWISE>;

// The sources may be valid in a smaller part than dst; where only one is, dst takes its element.
def PTO_TPartAddOp : PTO_BinaryTileOp<"tpartadd", "src0 + src1", [PTO_RowMajor, PTO_SameDType]>, PTO_Refuses<WIDE>;
def PTO_TPartMulOp : PTO_BinaryTileOp<"tpartmul", "src0 * src1", [PTO_RowMajor, PTO_SameDType]>, PTO_Refuses<WIDE>;
def PTO_TPartMaxOp : PTO_BinaryTileOp<"tpartmax", "max(src0, src1)", [PTO_RowMajor, PTO_SameDType]>, PTO_Refuses<WIDE>;
def PTO_TPartMinOp : PTO_BinaryTileOp<"tpartmin", "min(src0, src1)", [PTO_RowMajor, PTO_SameDType]>, PTO_Refuses<WIDE>;

def PTO_TXorOp : PTO_BinaryTmpTileOp<"txor", "src0 ^ src1", ELEMENTWISE>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TRemOp : PTO_BinaryTmpTileOp<"trem", "remainder(src0, src1)", [PTO_RowMajor, PTO_SameDType]>;
def PTO_TPReluOp : PTO_BinaryTmpTileOp<"tprelu", "src0 > 0 ? src0 : src0 * src1", [PTO_RowMajor]>;
// Executed as two instructions through dst: dst must not be src2.
def PTO_TAddCOp
    : PTO_TernaryTileOp<"taddc", "src0 + src1 + src2", ELEMENTWISE>, PTO_Insns<["TADD"]>,
      PTO_Cpp<["TADD($dst, $src0, $src1); pipe_barrier(PIPE_V); TADD($dst, $dst, $src2)"]>, PTO_Refuses<["bf16"] # BYTES # WIDE>;
def PTO_TSubCOp
    : PTO_TernaryTileOp<"tsubc", "src0 - src1 + src2", ELEMENTWISE>, PTO_Insns<["TSUB", "TADD"]>,
      PTO_Cpp<["TSUB($dst, $src0, $src1); pipe_barrier(PIPE_V); TADD($dst, $dst, $src2)"]>, PTO_Refuses<["bf16"] # BYTES # WIDE>;

def PTO_TMulAddDstOp : PTO_PipeOp<"tmuladddst", "PIPE_V", ELEMENTWISE>, PTO_Insn<"TMULADDDST"> {
  let summary = "dst = dst + src0 * src1 for every element of the valid part (the ISA's TMULADDDST)";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_InOut:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

def PTO_TSelOp : PTO_PipeOp<"tsel", "PIPE_V", [PTO_RowMajor]>, PTO_Insn<"TSEL">, PTO_Refuses<[], BYTES> {
  let summary = "dst = mask bit ? src0 : src1; tmp is scratch";
  let arguments = (ins PTO_Src:$mask, PTO_Src:$src0, PTO_Src:$src1, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $mask `,` $src0 `,` $src1 `,` $tmp `:` qualified(type($mask)) `,` qualified(type($src0)) `,` qualified(type($src1)) `,`
    qualified(type($tmp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TCvtOp : PTO_PipeOp<"tcvt", "PIPE_V">, PTO_Insn<"TCVT", ["rounding=rmode", "saturate=sat_mode"]>,
      PTO_Cpp<["TCVT($dst, $src, $rmode)", "TCVT($dst, $src, $rmode, $sat_mode)", "TCVT($dst, $src, $tmp, $rmode)",
               "TCVT($dst, $src, $tmp, $rmode, $sat_mode)"]> {
  let summary = "convert the element type";
  let description = [{
    `pto.tcvt ins(%a {rmode = #pto<round_mode RINT>} : !A) outs(%b : !B)`: the attributes stand inside `ins`. The printer
    always shows `rmode`, as the assembler's does. An optional second source is scratch memory.
  }];
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst, Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp,
                       DefaultValuedAttr<PTO_RoundModeAttr, "RoundMode::CAST_RINT">:$rmode, OptionalAttr<PTO_SaturationModeAttr>:$sat_mode);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst, CArg<"RoundMode", "RoundMode::CAST_RINT">:$rmode), [{
    build($_builder, $_state, src, dst, ::mlir::Value(), rmode, SaturationModeAttr());
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def PTO_TCmpOp : PTO_PipeOp<"tcmp", "PIPE_V", [PTO_RowMajor]>, PTO_Insn<"TCMP", ["mode=cmpMode"]>, PTO_Refuses<WIDE>,
      PTO_Cpp<["TCMP($dst, $src0, $src1, $cmpMode)"]> {
  let summary = "packed mask: bit = compare(src0, src1)";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Dst:$dst, DefaultValuedAttr<PTO_CmpModeAttr, "CmpMode::eq">:$cmpMode);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 attr-dict `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)`
  }];
  let hasVerifier = 1;
}

#endif
