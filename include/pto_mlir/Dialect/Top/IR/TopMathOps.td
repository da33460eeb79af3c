// Elementwise ops, matrix products, reductions.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPMATHOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPMATHOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

//===-- Binary ------------------------------------------------------------===//

class Top_BinaryOp<string mnemonic, string expr, list<Trait> traits = []>
    : Top_TensorOp<mnemonic, traits> {
  let summary = "output = " # expr;
  let description = "For every element `output = " # expr # [{`, operands broadcast by numpy's rules: shapes are aligned at their last
    dimension, a dimension of 1 (or a missing one) is repeated. Both have the result's element type; with f16 or bf16 one of them may be f32.

    Example:
    ```mlir
    %r = top.}] # mnemonic # [{ %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```}];
  let arguments = (ins Top_Tensor:$lhs, Top_Tensor:$rhs);
}
def Top_AddOp : Top_BinaryOp<"add", "lhs + rhs", [Commutative]>;
def Top_SubOp : Top_BinaryOp<"sub", "lhs - rhs">;
def Top_MulOp : Top_BinaryOp<"mul", "lhs * rhs", [Commutative]>;
def Top_DivOp : Top_BinaryOp<"div", "lhs / rhs">;
def Top_PowOp : Top_BinaryOp<"pow", "lhs ^ rhs">;
def Top_MaxOp : Top_BinaryOp<"max", "max(lhs, rhs)", [Commutative]>;
def Top_MinOp : Top_BinaryOp<"min", "min(lhs, rhs)", [Commutative]>;

// Of integers, bit by bit.
def Top_BitAndOp : Top_BinaryOp<"bitand", "lhs & rhs", [Commutative]>;
def Top_BitOrOp : Top_BinaryOp<"bitor", "lhs | rhs", [Commutative]>;
def Top_BitXorOp : Top_BinaryOp<"bitxor", "lhs ^ rhs", [Commutative]>;

//===-- Unary -------------------------------------------------------------===//

class Top_UnaryBase<string mnemonic, string expr, string attrText, Constraint tensor>
    : Top_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = "output = " # expr;
  let description = "For every element `output = " # expr # [{`.

    Example:
    ```mlir
    %r = top.}] # mnemonic # " %x" # attrText # [{ : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```}];
  let results = (outs tensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
class Top_UnaryOp<string mnemonic, string expr, Constraint tensor = Top_FloatTensor> : Top_UnaryBase<mnemonic, expr, "", tensor> {
  let arguments = (ins tensor:$input);
}
def Top_ReluOp : Top_UnaryOp<"relu", "max(input, 0)", Top_AnyTensor>;
def Top_AbsOp : Top_UnaryOp<"abs", "|input|", Top_Tensor>;
def Top_NegOp : Top_UnaryOp<"neg", "-input", Top_Tensor>;
def Top_SigmoidOp : Top_UnaryOp<"sigmoid", "1 / (1 + exp(-input))">;
def Top_TanhOp : Top_UnaryOp<"tanh", "tanh(input)">;
def Top_ExpOp : Top_UnaryOp<"exp", "exp(input)">;
def Top_LogOp : Top_UnaryOp<"log", "ln(input)">;
def Top_SqrtOp : Top_UnaryOp<"sqrt", "sqrt(input)">;
def Top_ReciprocalOp : Top_UnaryOp<"reciprocal", "1 / input">;
def Top_ErfOp : Top_UnaryOp<"erf", "erf(input)">;
def Top_RoundOp : Top_UnaryOp<"round", "input to the nearest integer, ties to even">;
def Top_FloorOp : Top_UnaryOp<"floor", "the greatest integer that is not above input">;
def Top_CeilOp : Top_UnaryOp<"ceil", "the least integer that is not below input">;
def Top_SignOp : Top_UnaryOp<"sign", "-1, 0 or 1: the sign of input", Top_Tensor>;
def Top_SinOp : Top_UnaryOp<"sin", "sin(input)">;
def Top_CosOp : Top_UnaryOp<"cos", "cos(input)">;
def Top_TanOp : Top_UnaryOp<"tan", "tan(input)">;
def Top_AsinOp : Top_UnaryOp<"asin", "arcsin(input)">;
def Top_AcosOp : Top_UnaryOp<"acos", "arccos(input)">;
def Top_AtanOp : Top_UnaryOp<"atan", "arctan(input)">;
def Top_AsinhOp : Top_UnaryOp<"asinh", "arsinh(input)">;
def Top_AcoshOp : Top_UnaryOp<"acosh", "arcosh(input)">;
def Top_AtanhOp : Top_UnaryOp<"atanh", "artanh(input)">;
def Top_HardSwishOp : Top_UnaryOp<"hard_swish", "input * max(0, min(1, input / 6 + 0.5))">;

def Top_LeakyReluOp : Top_UnaryBase<"leaky_relu", "input < 0 ? alpha * input : input", " {alpha = 0.01}", Top_FloatTensor> {
  let arguments = (ins Top_FloatTensor:$input, F64Attr:$alpha);
}
def Top_HardSigmoidOp : Top_UnaryBase<"hard_sigmoid", "max(0, min(1, alpha * input + beta))", " {alpha = 0.2, beta = 0.5}", Top_FloatTensor> {
  let arguments = (ins Top_FloatTensor:$input, F64Attr:$alpha, F64Attr:$beta);
}
def Top_ClipOp : Top_UnaryBase<"clip", "min(max(input, min), max)", " {min = 0.0, max = 6.0}", Top_Tensor> {
  let arguments = (ins Top_Tensor:$input, OptionalAttr<F64Attr>:$min, OptionalAttr<F64Attr>:$max);
}

def Top_CastOp : Top_TensorOp<"cast"> {
  let summary = "converts the element type";
  let description = [{
    To a float type: rounds to the nearest, ties to even. From float to integer: truncates toward zero. To i1: `input != 0`.
    To a float of 8 bits: what is beyond its greatest number becomes that number, or with `overflows` infinity or NaN.
    To `!top.f8E8M0`: to a power of two away from zero, or as `round` says (down, nearest).

    Example:
    ```mlir
    %r = top.cast %x {to = f16} : (tensor<2x3xf32>) -> tensor<2x3xf16>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, TypeAttr:$to, UnitAttr:$overflows, OptionalAttr<StrAttr>:$round);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "::mlir::Type":$to), [{
    build($_builder, $_state, input, to, /*overflows=*/false, /*round=*/nullptr);
  }]>];
}

def Top_EncodeFloatOp : Top_TensorOp<"encode_float"> {
  let summary = "the codes of a float of 8 or 4 bits";
  let description = [{
    The bits of `top.cast` to the type in `to`, as numbers from 0. Where the host stores such floats, the engines compute these.

    Example:
    ```mlir
    %r = top.encode_float %x {to = f8E5M2} : (tensor<2x3xf32>) -> tensor<2x3xi32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, TypeAttr:$to, UnitAttr:$overflows, OptionalAttr<StrAttr>:$round);
}
def Top_DecodeFloatOp : Top_TensorOp<"decode_float"> {
  let summary = "the values of codes of a float of 8 or 4 bits";
  let description = [{
    The inverse of `top.encode_float` for codes of the type in `from`, exact; of NaNs the sign is kept where the type has one.

    Example:
    ```mlir
    %r = top.decode_float %codes {from = f8E5M2} : (tensor<2x3xi32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$codes, TypeAttr:$from);
}

//===-- Matrix product ----------------------------------------------------===//

def Top_MatMulOp : Top_TensorOp<"matmul"> {
  let summary = "output = lhs x rhs (+ bias)";
  let description = [{
    `output[.., m, n] = sum_k lhs[.., m, k] * rhs[.., k, n] + bias[n]` over operands of rank 2 and more; leading (batch) dimensions broadcast
    by numpy's rules. `transpose_a` / `transpose_b` read the operand with its last two dimensions exchanged. The bias may have another
    float type than the operands. Of quantised operands (docs/quantised-types.md) the result has the type `to`, and the bias holds i32, in units
    of the operands' scales.

    Example:
    ```mlir
    %r = top.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x5xf32>) -> tensor<2x4x5xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$lhs, Top_AnyTensor:$rhs, Optional<Top_Tensor>:$bias,
      DefaultValuedAttr<BoolAttr, "false">:$transpose_a, DefaultValuedAttr<BoolAttr, "false">:$transpose_b, OptionalAttr<TypeAttr>:$to);
}

//===-- Reductions --------------------------------------------------------===//

class Top_ReduceOp<string mnemonic, string expr> : Top_TensorOp<mnemonic> {
  let summary = expr # " over the given axes";
  let description = "`output = " # expr # [{` over `axes` (ascending, not negative). With `keepdims` (the default) reduced dimensions are kept with size 1.

    Example:
    ```mlir
    %r = top.}] # mnemonic # [{ %x {axes = array<i64: 2, 3>} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf32>
    ```}];
  let arguments = (ins Top_Tensor:$input, DenseI64ArrayAttr:$axes, DefaultValuedAttr<BoolAttr, "true">:$keepdims);
}
def Top_ReduceSumOp : Top_ReduceOp<"reduce_sum", "sum">;
def Top_ReduceMeanOp : Top_ReduceOp<"reduce_mean", "mean">;
def Top_ReduceMaxOp : Top_ReduceOp<"reduce_max", "max">;
def Top_ReduceMinOp : Top_ReduceOp<"reduce_min", "min">;

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPMATHOPS_TD
