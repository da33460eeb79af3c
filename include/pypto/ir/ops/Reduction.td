//===- Reduction.td - Rows and columns to one, and back ---------------------===//

#ifndef PYPTO_REDUCTION
#define PYPTO_REDUCTION

include "pypto/ir/ops/OpBase.td"

class RowReduction<string n, string b, string expr> : PlOp<n, (ops X:$x, XOpt:$tmp_tile), RuleRow, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # " of each row";
}
def : RowReduction<"row_sum", "trowsum", "sum">;
def : RowReduction<"row_max", "trowmax", "maximum">;
def : RowReduction<"row_min", "trowmin", "minimum">;
def : RowReduction<"row_prod", "trowprod", "product">;
let element = "INT32" in {
def : RowReduction<"row_argmax", "trowargmax", "index of the maximum">;
def : RowReduction<"row_argmin", "trowargmin", "index of the minimum">;
}

class ColReduction<string n, string b, string expr> : PlOp<n, (ops X:$x), RuleColumn, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # " of each column";
}
class ColReductionTmp<string n, string b, string expr> : PlOp<n, (ops X:$x, XOpt:$tmp_tile), RuleColumn, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # " of each column";
}
def : ColReductionTmp<"col_sum", "tcolsum", "sum">;
def : ColReduction<"col_max", "tcolmax", "maximum">;
def : ColReduction<"col_min", "tcolmin", "minimum">;
def : ColReduction<"col_prod", "tcolprod", "product">;
let element = "INT32" in {
def : ColReductionTmp<"col_argmax", "tcolargmax", "index of the maximum">;
def : ColReductionTmp<"col_argmin", "tcolargmin", "index of the minimum">;
}

def : PlOp<"row_expand", (ops X:$target, X:$row_vec), RuleLike, "trowexpand">, Both {
  let summary = "row_vec [M, 1] repeated over the columns of target's shape";
}
def : PlOp<"col_expand", (ops X:$target, X:$col_vec), RuleLike, "tcolexpand">, Both {
  let summary = "col_vec [1, N] repeated over the rows of target's shape";
}
class RowExpand<string n, string b, string expr> : PlOp<n, (ops X:$x, X:$row_vec, XOpt:$tmp), RuleLike, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # ", one v per row";
}
def : RowExpand<"row_expand_add", "trowexpandadd", "x + v">;
def : RowExpand<"row_expand_sub", "trowexpandsub", "x - v">;
def : RowExpand<"row_expand_mul", "trowexpandmul", "x * v">;
def : RowExpand<"row_expand_div", "trowexpanddiv", "x / v">;
def : RowExpand<"row_expand_max", "trowexpandmax", "max(x, v)">;
def : RowExpand<"row_expand_min", "trowexpandmin", "min(x, v)">;
def : RowExpand<"row_expand_expdif", "trowexpandexpdif", "exp(x - v)">;
class ColExpand<string n, string b, string expr> : PlOp<n, (ops X:$x, X:$col_vec), RuleLike, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # ", one v per column";
}
def : ColExpand<"col_expand_add", "tcolexpandadd", "x + v">;
def : ColExpand<"col_expand_sub", "tcolexpandsub", "x - v">;
def : ColExpand<"col_expand_mul", "tcolexpandmul", "x * v">;
def : ColExpand<"col_expand_div", "tcolexpanddiv", "x / v">;
def : ColExpand<"col_expand_max", "tcolexpandmax", "max(x, v)">;
def : ColExpand<"col_expand_min", "tcolexpandmin", "min(x, v)">;
def : ColExpand<"col_expand_expdif", "tcolexpandexpdif", "exp(x - v)">;
def : PlOp<"expands", (ops X:$target, Scalar:$scalar), RuleLike, "texpands">, Both {
  let summary = "a scalar in target's shape";
}
def : PlOp<"expand_clone", (ops X:$src, X:$target), RuleLike> {
  let spaces = ["tensor"];
  let like = "target";
  let summary = "src repeated to target's shape";
}

#endif // PYPTO_REDUCTION
