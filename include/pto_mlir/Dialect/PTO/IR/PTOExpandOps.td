//===- PTOExpandOps.td - a row or a column spread over a tile (engine V) --- ===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOEXPANDOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOEXPANDOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_ExpandOp<string mnemonic, string formula> : PTO_PipeOp<mnemonic, "PIPE_V", [PTO_SameDType]> {
  let summary = formula;
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
  let hasVerifier = 1;
}
def PTO_TRowExpandOp : PTO_ExpandOp<"trowexpand", "dst[i, j] = src[i, 0]">, PTO_Insn<"TROWEXPAND">;
def PTO_TColExpandOp : PTO_ExpandOp<"tcolexpand", "dst[i, j] = src[0, j]">, PTO_AdjustedInsn<"TCOLEXPAND">;

class PTO_ColExpandBinaryOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_V", [PTO_RowMajor, PTO_SameDType]>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "tile and row: dst[i, j] = " # formula # " with a = src0[i, j], b = src1[0, j]";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyColExpand(*this, getSrc0(), getSrc1(), getDst()); }
  }];
}
def PTO_TColExpandAddOp : PTO_ColExpandBinaryOp<"tcolexpandadd", "a + b">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TColExpandSubOp : PTO_ColExpandBinaryOp<"tcolexpandsub", "a - b">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TColExpandMulOp : PTO_ColExpandBinaryOp<"tcolexpandmul", "a * b">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TColExpandMaxOp : PTO_ColExpandBinaryOp<"tcolexpandmax", "max(a, b)">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TColExpandMinOp : PTO_ColExpandBinaryOp<"tcolexpandmin", "min(a, b)">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TColExpandDivOp : PTO_ColExpandBinaryOp<"tcolexpanddiv", "a / b">;
def PTO_TColExpandExpDifOp : PTO_ColExpandBinaryOp<"tcolexpandexpdif", "exp(a - b)">;

/// `strict`: the column has one value per row, and there is no tmp on a5; the assembler checks it for some only.
/// The column is a DN tile (`Rx1, blayout=col_major`) or a row-major tile of one 32-byte block per row.
class PTO_RowExpandBinaryOp<string mnemonic, string formula, bit strict = 0>
    : PTO_PipeOp<mnemonic, "PIPE_V", [PTO_SameDType]>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "tile and column: dst[i, j] = " # formula # " with a = src0[i, j], b = src1[i, 0]; the optional tmp is scratch";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 (`,` $tmp^)? `:` qualified(type($src0)) `,` qualified(type($src1)) (`,` qualified(type($tmp))^)? `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$src0, "::mlir::Value":$src1, "::mlir::Value":$dst), [{
    build($_builder, $_state, src0, src1, ::mlir::Value(), dst);
  }]>];
  let hasVerifier = 1;
  let extraClassDefinition =
      "::llvm::LogicalResult $cppClass::verify() { return "
      # !if(strict, "verifyNoTmp(*this, getTmp()).failed() ? ::mlir::failure() : ", "")
      # "verifyRowExpand(*this, getSrc0(), getSrc1(), getDst(), " # !if(strict, "true", "false") # "); }";
}
def PTO_TRowExpandAddOp
    : PTO_PipeOp<"trowexpandadd", "PIPE_V", [PTO_SameDType]>, PTO_Insn<"TROWEXPANDADD">, PTO_Refuses<["bf16"] # WIDE> {
  let summary = "tile and column: dst[i, j] = src0[i, j] + src1[i, 0]";
  let arguments = (ins PTO_Src:$src0, PTO_Src:$src1, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src0 `,` $src1 `:` qualified(type($src0)) `,` qualified(type($src1)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TRowExpandSubOp : PTO_RowExpandBinaryOp<"trowexpandsub", "a - b">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TRowExpandMulOp : PTO_RowExpandBinaryOp<"trowexpandmul", "a * b">, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TRowExpandMaxOp : PTO_RowExpandBinaryOp<"trowexpandmax", "max(a, b)", 1>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TRowExpandMinOp : PTO_RowExpandBinaryOp<"trowexpandmin", "min(a, b)", 1>, PTO_Refuses<["bf16"] # WIDE>;
def PTO_TRowExpandDivOp : PTO_RowExpandBinaryOp<"trowexpanddiv", "a / b">;
def PTO_TRowExpandExpDifOp : PTO_RowExpandBinaryOp<"trowexpandexpdif", "exp(a - b)", 1>;

#endif
