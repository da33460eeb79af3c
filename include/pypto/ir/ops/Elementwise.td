//===- Elementwise.td - One element of the result from one of each operand -===//

#ifndef PYPTO_ELEMENTWISE
#define PYPTO_ELEMENTWISE

include "pypto/ir/ops/OpBase.td"

// --- two operands; `scalar` is the row for a scalar on the right -------------------

class Binary<string n, string b, string s, string expr> : PlOp<n, (ops X:$lhs, X:$rhs), RulePromote, b> {
  let spaces = ["tile", "tensor"];
  let scalar = s;
  let summary = expr;
}
class BinaryScalar<string n, string b, string expr> : PlOp<n, (ops X:$lhs, Scalar:$rhs), RuleLike, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr;
}
def : Binary<"add", "tadd", "adds", "lhs + rhs">;
def : Binary<"sub", "tsub", "subs", "lhs - rhs">;
def : Binary<"mul", "tmul", "muls", "lhs * rhs">;
def : BinaryScalar<"adds", "tadds", "lhs + rhs">;
def : BinaryScalar<"subs", "tsubs", "lhs - rhs">;
def : BinaryScalar<"muls", "tmuls", "lhs * rhs">;
def : PlOp<"div", (ops X:$lhs, X:$rhs, Kw<"bool", "False">:$high_precision), RulePromote, "tdiv">, Both {
  let scalar = "divs";
  let summary = "lhs / rhs";
}
def : PlOp<"divs", (ops X:$lhs, Scalar:$rhs, Kw<"bool", "False">:$high_precision), RuleLike, "tdivs">, Both {
  let summary = "lhs / rhs";
}
def : Binary<"maximum", "tmax", "maximums", "max(lhs, rhs)">;
def : Binary<"minimum", "tmin", "minimums", "min(lhs, rhs)">;
def : BinaryScalar<"maximums", "tmaxs", "max(lhs, rhs)">;
def : BinaryScalar<"minimums", "tmins", "min(lhs, rhs)">;
def : Binary<"fmod", "tfmod", "fmods", "lhs - trunc(lhs / rhs) * rhs">;
def : BinaryScalar<"fmods", "tfmods", "lhs - trunc(lhs / rhs) * rhs">;
def : PlOp<"rem", (ops X:$lhs, X:$rhs, XOpt:$tmp), RulePromote, "trem">, Both {
  let scalar = "rems";
  let summary = "lhs - floor(lhs / rhs) * rhs";
}
def : PlOp<"rems", (ops X:$lhs, Scalar:$rhs, XOpt:$tmp), RuleLike, "trems">, Both {
  let summary = "lhs - floor(lhs / rhs) * rhs";
}

class Part<string n, string b, string expr> : PlOp<n, (ops X:$lhs, X:$rhs), RulePart, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr # " where both are valid, else the one that is";
}
def : Part<"part_add", "tpartadd", "lhs + rhs">;
def : Part<"part_mul", "tpartmul", "lhs * rhs">;
def : Part<"part_max", "tpartmax", "max(lhs, rhs)">;
def : Part<"part_min", "tpartmin", "min(lhs, rhs)">;

// --- bits ------------------------------------------------------------------------------

def : Binary<"and_", "tand", "ands", "lhs & rhs">;
def : Binary<"or_", "tor", "ors", "lhs | rhs">;
def : BinaryScalar<"ands", "tands", "lhs & rhs">;
def : BinaryScalar<"ors", "tors", "lhs | rhs">;
def : PlOp<"xor", (ops X:$lhs, X:$rhs, XOpt:$tmp), RulePromote, "txor">, Both {
  let scalar = "xors";
  let summary = "lhs ^ rhs";
}
def : PlOp<"xors", (ops X:$lhs, Scalar:$rhs, XOpt:$tmp), RuleLike, "txors">, Both {
  let summary = "lhs ^ rhs";
}
class Shift<string n, string b, string s, string expr> : PlOp<n, (ops X:$lhs, X:$rhs), RuleLike, b>, Both {
  let scalar = s;
  let summary = expr;
}
def : Shift<"shl", "tshl", "shls", "lhs << rhs">;
def : Shift<"shr", "tshr", "shrs", "lhs >> rhs">;
def : BinaryScalar<"shls", "tshls", "lhs << rhs">;
def : BinaryScalar<"shrs", "tshrs", "lhs >> rhs">;

// --- one operand ----------------------------------------------------------------------

class Unary<string n, string b, string expr> : PlOp<n, (ops X:$x), RuleLike, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr;
}
class UnaryPrecise<string n, string b, string expr>
    : PlOp<n, (ops X:$x, Kw<"bool", "False">:$high_precision), RuleLike, b> {
  let spaces = ["tile", "tensor"];
  let summary = expr;
}
def : Unary<"exp", "texp", "e to the power of x">;
def : UnaryPrecise<"log", "tlog", "natural logarithm">;
def : Unary<"sqrt", "tsqrt", "square root">;
def : Unary<"abs", "tabs", "absolute value">;
def : Unary<"neg", "tneg", "-x">;
def : Unary<"relu", "trelu", "max(x, 0)">;
def : UnaryPrecise<"recip", "trecip", "1 / x">;
def : PlOp<"rsqrt", (ops X:$x, XOpt:$tmp, Kw<"bool", "False">:$high_precision), RuleLike, "trsqrt">, Both {
  let summary = "1 / sqrt(x)";
}
def : Unary<"not_", "tnot", "~x">;
def : Unary<"sin", "", "sine; expanded">;
def : Unary<"cos", "", "cosine; expanded">;
def : PlOp<"lrelu", (ops X:$x, Scalar:$slope), RuleLike, "tlrelu">, Both {
  let summary = "x > 0 ? x : x * slope";
}
def : PlOp<"prelu", (ops X:$x, X:$slope, XOpt:$tmp), RuleLike, "tprelu">, Both {
  let summary = "x > 0 ? x : x * slope";
}

// --- three operands -------------------------------------------------------------------

class Ternary<string n, string b, string expr> : PlOp<n, (ops X:$a, X:$b, X:$c), RuleLike, b> {
  let summary = expr;
}
def : Ternary<"addc", "taddc", "a + b + c">;
def : Ternary<"subc", "tsubc", "a - b - c">;
def : PlOp<"addsc", (ops X:$a, Scalar:$b, X:$c), RuleLike, "taddsc"> {
  let summary = "a + b + c";
}
def : PlOp<"subsc", (ops X:$a, Scalar:$b, X:$c), RuleLike, "tsubsc"> {
  let summary = "a - b - c";
}

// --- conversion, comparison, selection --------------------------------------------------

def : PlOp<"cast", (ops X:$x, Kw<"dtype">:$target_type, Kw<"str", "round">:$mode), RuleCast, "tcvt">, Both {
  let summary = "x as target_type; mode is none, rint, round, floor, ceil, trunc or odd";
}
def : PlOp<"cmp", (ops X:$lhs, X:$rhs, Kw<"int", "0">:$cmp_type), RuleMask, "tcmp">, Both {
  let scalar = "cmps";
  let summary = "lhs compared with rhs; cmp_type is 0 eq, 1 ne, 2 lt, 3 le, 4 gt, 5 ge";
}
def : PlOp<"cmps", (ops X:$lhs, Scalar:$rhs, Kw<"int", "0">:$cmp_type), RuleMask, "tcmps">, Both {
  let summary = "lhs compared with a scalar";
}
def : PlOp<"sel", (ops X:$mask, X:$a, X:$b, XOpt:$tmp), RuleLike, "tsel"> {
  let like = "a";
  let summary = "mask ? a : b";
}
def : PlOp<"sels", (ops X:$mask, X:$src, X:$tmp, Scalar:$scalar), RuleLike, "tsels"> {
  let like = "src";
  let summary = "mask ? src : scalar";
}

#endif // PYPTO_ELEMENTWISE
