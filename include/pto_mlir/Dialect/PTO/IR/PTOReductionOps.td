//===- PTOReductionOps.td - rows and columns to one (engine V) ----------- ===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOREDUCTIONOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOREDUCTIONOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

/// `tmpLikeSource`: the assembler checks tmp for some only.
class PTO_RowReductionOp<string mnemonic, string formula, bit tmpLikeSource = 1>
    : PTO_PipeOp<mnemonic, "PIPE_V", []>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst[i, 0] = " # formula # " over row i of src; tmp is scratch";
  let description = [{
    dst is either a column (`Rx1, blayout=col_major`) or a row-major tile with valid=Rx1.
  }];
  let arguments = (ins PTO_Src:$src, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $tmp `:` qualified(type($src)) `,` qualified(type($tmp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDefinition = "::llvm::LogicalResult $cppClass::verify() { return verifyRowReduction(*this, getSrc(), "
                             # !if(tmpLikeSource, "getTmp()", "::mlir::Value()") # ", getDst()); }";
}
def PTO_TRowSumOp : PTO_RowReductionOp<"trowsum", "sum", 0>, PTO_Refuses<BYTES # WIDE>;
def PTO_TRowMaxOp : PTO_RowReductionOp<"trowmax", "max", 0>, PTO_Refuses<BYTES # WIDE>;
def PTO_TRowMinOp : PTO_RowReductionOp<"trowmin", "min">, PTO_Refuses<BYTES # WIDE>;
def PTO_TRowProdOp : PTO_RowReductionOp<"trowprod", "product">, PTO_Refuses<BYTES # WIDE>;
def PTO_TRowArgMaxOp : PTO_RowReductionOp<"trowargmax", "index of the maximum">, PTO_Refuses<BYTES>;
def PTO_TRowArgMinOp : PTO_RowReductionOp<"trowargmin", "index of the minimum">, PTO_Refuses<BYTES>;

class PTO_ColReductionOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_V", [PTO_RowMajor]>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst[0, j] = " # formula # " over column j of src";
  let arguments = (ins PTO_Src:$src, PTO_Dst:$dst);
  let assemblyFormat = "`ins` `(` $src `:` qualified(type($src)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyColReduction(*this, getSrc(), getDst()); }
  }];
}
def PTO_TColMaxOp : PTO_ColReductionOp<"tcolmax", "max">, PTO_Refuses<WIDE>;
def PTO_TColMinOp : PTO_ColReductionOp<"tcolmin", "min">, PTO_Refuses<WIDE>;
def PTO_TColProdOp : PTO_ColReductionOp<"tcolprod", "product">, PTO_Refuses<BYTES # WIDE>;

def PTO_TColSumOp : PTO_PipeOp<"tcolsum", "PIPE_V", [PTO_RowMajor]>, PTO_Insns<["TCOLSUM", "TADD"]>, PTO_Refuses<WIDE>,
      PTO_Cpp<["TCOLSUM($dst, $src)", "TCOLSUM($dst, $src, $tmp, $isBinary)"]> {
  let summary = "dst[0, j] = sum over column j of src";
  let description = [{
    Rows ascending, rounded at every step. With scratch memory: `pto.tcolsum ins(%v, %tmp {isBinary = true} : !V, !V) outs(%r : !R)`; the
    attribute is then mandatory. If true, rows 2 i and 2 i + 1 are added, then two sums each, until one is left; the last of an odd number is
    added to the first sum. That needs a number of valid rows that is known, and a tmp of half as many rows.
  }];
  let arguments = (ins PTO_Src:$src, Arg<Optional<PTO_TileLike>, "", [MemRead, MemWrite]>:$tmp, PTO_Dst:$dst, OptionalAttr<BoolAttr>:$isBinary);
  let assemblyFormat = [{
    `ins` `(` $src (`,` $tmp^)? attr-dict `:` qualified(type($src)) (`,` qualified(type($tmp))^)? `)` `outs` `(` $dst `:` qualified(type($dst)) `)`
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst), "build($_builder, $_state, src, ::mlir::Value(), dst, ::mlir::BoolAttr());">];
  let hasVerifier = 1;
}

class PTO_ColArgReductionOp<string mnemonic, string formula>
    : PTO_PipeOp<mnemonic, "PIPE_V", []>, PTO_Insn<!toupper(mnemonic)> {
  let summary = "dst[0, j] = " # formula # " of column j of src; tmp is scratch";
  let arguments = (ins PTO_Src:$src, PTO_InOut:$tmp, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $src `,` $tmp `:` qualified(type($src)) `,` qualified(type($tmp)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() { return verifyColReduction(*this, getSrc(), getDst()); }
  }];
}
def PTO_TColArgMaxOp : PTO_ColArgReductionOp<"tcolargmax", "row of the maximum">, PTO_Refuses<BYTES # WORDS # DWORDS>;
def PTO_TColArgMinOp : PTO_ColArgReductionOp<"tcolargmin", "row of the minimum">, PTO_Refuses<BYTES # WORDS # DWORDS>;

#endif
