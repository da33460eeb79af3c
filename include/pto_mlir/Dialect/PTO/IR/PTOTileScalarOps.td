//===- PTOTileScalarOps.td - tile and scalar (engine V) ----------------- ===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOTILESCALAROPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOTILESCALAROPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_TileScalarOp<string mnemonic, string formula, list<Trait> traits = []>
    : PTO_PipeOp<mnemonic, "PIPE_V", traits>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst = " # formula # " for every element of the valid part";
  let arguments = (ins PTO_Src:$src, PTO_Scalar:$scalar, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $scalar `:` qualified(type($src)) `,` type($scalar) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}
class PTO_TileScalarTmpOp<string mnemonic, string formula, list<Trait> traits = []>
    : PTO_PipeOp<mnemonic, "PIPE_V", traits>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst = " # formula # " for every element of the valid part; tmp is scratch";
  let arguments = (ins PTO_Src:$src, PTO_Scalar:$scalar, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $scalar `,` $tmp `:` qualified(type($src)) `,` type($scalar) `,` qualified(type($tmp)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}
class PTO_TileScalarTileOp<string mnemonic, string formula, list<Trait> traits = []> : PTO_PipeOp<mnemonic, "PIPE_V", traits> {
  let summary = "dst = " # formula # " for every element of the valid part";
  let arguments = (ins PTO_Src:$src0, PTO_Scalar:$scalar, PTO_Src:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $scalar `,` $src1 `:` qualified(type($src0)) `,` type($scalar) `,` qualified(type($src1)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

// The scalar's type is not compared with the tile's unless an op's verifier says so: the assembler does not either.
defvar TILE_SCALAR = [PTO_RowMajor, PTO_SameDType, PTO_SameValid];

def PTO_TAddSOp : PTO_TileScalarOp<"tadds", "src + scalar", TILE_SCALAR>, PTO_Refuses<WIDE>;
def PTO_TSubSOp : PTO_TileScalarOp<"tsubs", "src - scalar", TILE_SCALAR>, PTO_Refuses<WIDE>;
def PTO_TMulSOp : PTO_TileScalarOp<"tmuls", "src * scalar", TILE_SCALAR>, PTO_Refuses<WIDE>;
def PTO_TMaxSOp : PTO_TileScalarOp<"tmaxs", "max(src, scalar)", TILE_SCALAR>, PTO_Refuses<WIDE>;
def PTO_TMinSOp : PTO_TileScalarOp<"tmins", "min(src, scalar)", TILE_SCALAR>, PTO_Refuses<WIDE>;
def PTO_TAndSOp : PTO_TileScalarOp<"tands", "src & scalar", TILE_SCALAR # [PTO_DistinctDst]>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TOrSOp : PTO_TileScalarOp<"tors", "src | scalar", TILE_SCALAR # [PTO_DistinctDst]>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TShlSOp : PTO_TileScalarOp<"tshls", "src << scalar", TILE_SCALAR>;
def PTO_TShrSOp : PTO_TileScalarOp<"tshrs", "src >> scalar", TILE_SCALAR>, PTO_Refuses<WIDE, BYTES>;
def PTO_TFModSOp : PTO_TileScalarOp<"tfmods", "fmod(src, scalar)", TILE_SCALAR> { let hasVerifier = 1; }
def PTO_TLReluOp : PTO_TileScalarOp<"tlrelu", "src > 0 ? src : src * scalar", TILE_SCALAR> { let hasVerifier = 1; }

def PTO_TXorSOp
    : PTO_TileScalarTmpOp<"txors", "src ^ scalar", TILE_SCALAR # [PTO_DistinctDst]>, PTO_Refuses<WIDE, DWORDS>;
def PTO_TRemSOp : PTO_TileScalarTmpOp<"trems", "remainder(src, scalar)", [PTO_RowMajor, PTO_SameDType]>;
// Executed as two instructions through dst: dst must not be src1.
def PTO_TAddSCOp
    : PTO_TileScalarTileOp<"taddsc", "src0 + scalar + src1", TILE_SCALAR>, PTO_Insns<["TADDS", "TADD"], ["src=src0"]>,
      PTO_Cpp<["TADDS($dst, $src0, $scalar); pipe_barrier(PIPE_V); TADD($dst, $dst, $src1)"]>, PTO_Refuses<["bf16"] # BYTES # WIDE>;
def PTO_TSubSCOp
    : PTO_TileScalarTileOp<"tsubsc", "src0 - scalar + src1", TILE_SCALAR>, PTO_Insns<["TSUBS", "TADD"], ["src=src0"]>,
      PTO_Cpp<["TSUBS($dst, $src0, $scalar); pipe_barrier(PIPE_V); TADD($dst, $dst, $src1)"]>, PTO_Refuses<["bf16"] # BYTES # WIDE>;

def PTO_TDivSOp
    : PTO_PipeOp<"tdivs", "PIPE_V", TILE_SCALAR>, PTO_Insns<["TDIVS", "TDIVS_REV"], ["src=tile"]>, PTO_Refuses<WIDE> {
  let summary = "dst = src0 / src1, one of them a scalar: both orders are legal and mean different things";
  let arguments = (ins Arg<PTO_TileOrScalar, "", [MemRead]>:$src0, Arg<PTO_TileOrScalar, "", [MemRead]>:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let extraClassDeclaration = [{
    ::pto_mlir::pto::Pipe getPipe() { return ::pto_mlir::pto::Pipe::PIPE_V; }
    /// True for scalar / tile.
    bool isScalarFirst() { return getSrc0().getType().isIntOrFloat(); }
    ::mlir::Value getTile() { return isScalarFirst() ? getSrc1() : getSrc0(); }
    ::mlir::Value getScalar() { return isScalarFirst() ? getSrc0() : getSrc1(); }
  }];
  let hasVerifier = 1;
}

def PTO_TAxpyOp : PTO_PipeOp<"taxpy", "PIPE_V", [PTO_RowMajor, PTO_SameValid]>, PTO_Insn<"TAXPY"> {
  let summary = "dst = dst + src * scalar; the scalar has src's element type";
  let arguments = (ins PTO_Src:$src, PTO_Scalar:$scalar, PTO_InOut:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $scalar `:` qualified(type($src)) `,` type($scalar) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def PTO_TCmpSOp
    : PTO_PipeOp<"tcmps", "PIPE_V", [PTO_RowMajor]>, PTO_Insn<"TCMPS", ["mode=cmpMode"]>, PTO_Refuses<WIDE>,
      PTO_Cpp<["TCMPS($dst, $src, $scalar, $cmpMode)"]> {
  let summary = "packed mask: bit = compare(src, scalar)";
  let arguments = (ins PTO_Src:$src, PTO_Scalar:$scalar, PTO_Dst:$dst, DefaultValuedAttr<PTO_CmpModeAttr, "CmpMode::eq">:$cmpMode);
  let assemblyFormat = [{
    `ins` `(` $src `,` $scalar attr-dict `:` qualified(type($src)) `,` type($scalar) `)` `outs` `(` $dst `:` qualified(type($dst)) `)`
  }];
  let hasVerifier = 1;
}

def PTO_TSelSOp : PTO_PipeOp<"tsels", "PIPE_V", [PTO_RowMajor]>, PTO_Insn<"TSELS"> {
  let summary = "dst = mask bit ? src : scalar; tmp is scratch";
  let arguments = (ins PTO_Src:$mask, PTO_Src:$src, PTO_InOut:$tmp, PTO_Scalar:$scalar, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $mask `,` $src `,` $tmp `,` $scalar `:` qualified(type($mask)) `,` qualified(type($src)) `,` qualified(type($tmp)) `,` type($scalar) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
}

def PTO_TExpandSOp : PTO_PipeOp<"texpands", "">, PTO_Insns<["TEXPANDS", "TEXPANDS_L1"]> {
  let summary = "dst = scalar in every element of the valid part; on an L1 tile executed by MTE2";
  let arguments = (ins PTO_Scalar:$scalar, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $scalar `:` type($scalar) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
  let hasVerifier = 1;
}

def PTO_TCIOp
    : PTO_PipeOp<"tci", "PIPE_V">, PTO_Insn<"TCI">,
      PTO_Cpp<["TCI<type($dst), type($start), $descending>($dst, $start)"]> {
  let summary = "dst[0, j] = start + j, or start - j when descending";
  let arguments = (ins PTO_Scalar:$start, PTO_Dst:$dst, DefaultValuedAttr<BoolAttr, "false">:$descending);
  let description = [{
    Attributes may also stand behind `outs`, as later code generators write them.

    Example: `pto.tci ins(%c0_i32 {descending = true} : i32) outs(%t : !pto.tile_buf<vec, 1x64xi32>)`
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
