//===- PTOCubeOps.td - the matrix engine ----------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOCUBEOPS_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOCUBEOPS_TD

include "pto_mlir/Dialect/PTO/IR/PTOOpBase.td"

class PTO_MatmulOp<string mnemonic, string text>
    : PTO_PipeOp<mnemonic, "PIPE_M">, PTO_AdjustedInsn<"TMATMUL", ["a=lhs", "b=rhs"]> {
  let summary = text;
  let arguments = (ins PTO_Src:$lhs, PTO_Src:$rhs, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` qualified(type($lhs)) `,` qualified(type($rhs)) `)` `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TMatmulOp : PTO_MatmulOp<"tmatmul", "dst = lhs x rhs">;
def PTO_TGemvOp : PTO_MatmulOp<"tgemv", "dst = lhs x rhs, lhs of one valid row">;

class PTO_MatmulAccOp<string mnemonic, string text>
    : PTO_PipeOp<mnemonic, "PIPE_M">, PTO_AdjustedInsn<"TMATMUL_ACC", ["a=lhs", "b=rhs"]> {
  let summary = text;
  let arguments = (ins PTO_Src:$acc, PTO_Src:$lhs, PTO_Src:$rhs, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $acc `,` $lhs `,` $rhs `:` qualified(type($acc)) `,` qualified(type($lhs)) `,` qualified(type($rhs)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TMatmulAccOp : PTO_MatmulAccOp<"tmatmul.acc", "dst = acc + lhs x rhs">;
def PTO_TGemvAccOp : PTO_MatmulAccOp<"tgemv.acc", "dst = acc + lhs x rhs, lhs of one valid row">;

class PTO_MatmulBiasOp<string mnemonic, string text>
    : PTO_PipeOp<mnemonic, "PIPE_M">, PTO_Insn<"TMATMUL_BIAS", ["a=lhs", "b=rhs"]> {
  let summary = text;
  let arguments = (ins PTO_Src:$lhs, PTO_Src:$rhs, PTO_Src:$bias, PTO_Dst:$dst);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `,` $bias `:` qualified(type($lhs)) `,` qualified(type($rhs)) `,` qualified(type($bias)) `)`
    `outs` `(` $dst `:` qualified(type($dst)) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def PTO_TMatmulBiasOp : PTO_MatmulBiasOp<"tmatmul.bias", "dst = lhs x rhs + bias in every row">;
def PTO_TGemvBiasOp : PTO_MatmulBiasOp<"tgemv.bias", "dst = lhs x rhs + bias, lhs of one valid row">;

#endif
