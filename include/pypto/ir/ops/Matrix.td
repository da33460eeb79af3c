//===- Matrix.td - Products --------------------------------------------------===//

#ifndef PYPTO_MATRIX
#define PYPTO_MATRIX

include "pypto/ir/ops/OpBase.td"

def : PlOp<"matmul", (ops X:$lhs, X:$rhs), RuleMatmul, "tmatmul"> {
  let summary = "lhs times rhs";
}
def : PlOp<"matmul", (ops X:$lhs, X:$rhs, Kw<"dtype", "None">:$out_dtype, Kw<"bool", "False">:$a_trans, Kw<"bool", "False">:$b_trans, Kw<"bool", "False">:$c_matrix_nz), RuleMatmul> {
  let spaces = ["tensor"];
  let summary = "lhs times rhs, either of them transposed; leading extents are batches";
}
def : PlOp<"matmul_acc", (ops X:$acc, X:$lhs, X:$rhs, BoolOpt:$init_cond, Kw<"bool", "False">:$a_trans, Kw<"bool", "False">:$b_trans), RuleLike, "tmatmul.acc">, Both {
  let summary = "acc + lhs times rhs, in acc; without acc where init_cond holds";
}
def : PlOp<"matmul_bias", (ops X:$lhs, X:$rhs, X:$bias), RuleMatmul, "tmatmul.bias">, Both {
  let summary = "lhs times rhs + bias";
}
def : PlOp<"matmul_mx", (ops X:$lhs, X:$lhs_scale, X:$rhs, X:$rhs_scale), RuleMatmul, "tmatmul.mx">, OnA5 {
  let summary = "product of block-scaled operands";
}
def : PlOp<"matmul_mx_acc", (ops X:$acc, X:$lhs, X:$lhs_scale, X:$rhs, X:$rhs_scale), RuleLike, "tmatmul.mx.acc">, OnA5 {
  let summary = "acc + product of block-scaled operands";
}
def : PlOp<"matmul_mx_bias", (ops X:$lhs, X:$lhs_scale, X:$rhs, X:$rhs_scale, X:$bias), RuleMatmul, "tmatmul.mx.bias">, OnA5 {
  let summary = "product of block-scaled operands + bias";
}
def : PlOp<"gemv", (ops X:$lhs, X:$rhs, Kw<"str", "unspecified">:$acc_phase), RuleMatmul, "tgemv"> {
  let summary = "one row times a matrix";
}
def : PlOp<"gemv_acc", (ops X:$acc, X:$lhs, X:$rhs, Kw<"str", "unspecified">:$acc_phase), RuleLike, "tgemv.acc"> {
  let summary = "acc + one row times a matrix";
}
def : PlOp<"gemv_bias", (ops X:$lhs, X:$rhs, X:$bias, Kw<"str", "unspecified">:$acc_phase), RuleMatmul, "tgemv.bias"> {
  let summary = "one row times a matrix + bias";
}
def : PlOp<"batch_matmul", (ops X:$lhs, X:$rhs), RuleMatmul> {
  let summary = "a product per leading index";
}
def : PlOp<"batch_matmul_acc", (ops X:$acc, X:$lhs, X:$rhs), RuleLike> {
  let summary = "acc + a product per leading index";
}

#endif // PYPTO_MATRIX
