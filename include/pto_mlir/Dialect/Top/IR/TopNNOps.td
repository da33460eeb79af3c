// Ops on feature maps, normalisations.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPNNOPS_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPNNOPS_TD

include "pto_mlir/Dialect/Top/IR/TopBase.td"

def Top_ConvOp : Top_TensorOp<"conv"> {
  let summary = "grouped convolution (cross-correlation) over one or more spatial dimensions";
  let description = [{
    `output[n, o, y, x] = bias[o] + sum_{c, ky, kx} input[n, g * Cin/G + c, y * sy + ky * dy - py, x * sx + kx * dx - px] * filter[o, c, ky, kx]`
    with `g = o / (Cout/G)`; elements outside the input are zero. The kernel size is that of the filter.
    Layout NCHW: input [N, Cin, spatial..], filter [Cout, Cin/G, kernel..]; NHWC: input [N, spatial.., Cin], filter [kernel.., Cin/G, Cout].
    `pads` holds all begins, then all ends. Output size: `(in + begin + end - dilation * (k - 1) - 1) / stride + 1`, rounded down.
    The bias may have another float type than the operands, and the filter of a depthwise convolution (Cin = Cout = G) may be f32 beside an input
    of f16 or bf16. Of quantised operands (docs/quantised-types.md) the result has the type `to`, and the bias holds i32, in units of the
    operands' scales.

    Example:
    ```mlir
    %r = top.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
        : (tensor<1x3x48x192xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x24x96xf32>
    ```
  }];
  let arguments = (ins Top_AnyTensor:$input, Top_AnyTensor:$filter, Optional<Top_Tensor>:$bias, DenseI64ArrayAttr:$strides,
      DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$group, Top_LayoutAttr:$layout,
      OptionalAttr<TypeAttr>:$to);
  let extraClassDeclaration = [{
    /// The kernel's spatial sizes, read from the filter.
    ::llvm::SmallVector<int64_t> getKernel();
  }];
}

def Top_ConvTransposeOp : Top_TensorOp<"conv_transpose"> {
  let summary = "grouped transposed convolution: the gradient of a convolution with respect to its input";
  let description = [{
    Every input element adds its product with the filter to the output: `output[n, o, y, x] = bias[o] + sum input[n, c, i, j] * filter[c, o, ky, kx]`
    over the terms with `y = i * sy + ky * dy - py` and `x = j * sx + kx * dx - px`, c in the group of o.
    Layout NCHW: input [N, Cin, spatial..], filter [Cin, Cout/G, kernel..]; NHWC: input [N, spatial.., Cin], filter [kernel.., Cin, Cout/G].
    `pads` holds all begins, then all ends. Output size: `stride * (in - 1) + dilation * (k - 1) + 1 - begin - end + output_padding`.
    The bias may have another float type than the operands.

    Example:
    ```mlir
    %r = top.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
        output_padding = array<i64: 0, 0>} : (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Top_Tensor:$input, Top_Tensor:$filter, Optional<Top_Tensor>:$bias, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding, DefaultValuedAttr<I64Attr, "1">:$group, Top_LayoutAttr:$layout);
}

class Top_PoolOp<string mnemonic, dag extra> : Top_TensorOp<mnemonic> {
  let arguments = !con((ins Top_Tensor:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
      DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode), extra, (ins Top_LayoutAttr:$layout));
  let extraClassDeclaration = [{
    /// `pads` with end pads adjusted to what the output size reads, so that rounding down gives the same size.
    ::llvm::SmallVector<int64_t> getEffectivePads();
  }];
}
def Top_MaxPoolOp : Top_PoolOp<"max_pool", (ins)> {
  let summary = "maximum of each window";
  let description = [{
    Padding counts as minus infinity. `pads` and sizes as in `top.conv`; with `ceil_mode` the size is rounded up, but a window
    that would start beyond input and begin pad is dropped.

    Example:
    ```mlir
    %r = top.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : (tensor<1x8x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```
  }];
}
def Top_AvgPoolOp : Top_PoolOp<"avg_pool", (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad)> {
  let summary = "mean of each window";
  let description = [{
    The sum of the window's elements divided by their number: those inside the input, or with `count_include_pad` those inside the input and
    its `pads` (never the elements that `ceil_mode` adds). Sizes as in `top.max_pool`.

    Example:
    ```mlir
    %r = top.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : (tensor<1x8x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```
  }];
}

def Top_BatchNormOp : Top_TensorOp<"batch_norm"> {
  let summary = "batch normalisation with constant statistics";
  let description = [{
    `output = (input - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c]` with c the channel (dimension 1 in NCHW, the last in NHWC).

    Example:
    ```mlir
    %r = top.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, Top_FloatTensor:$scale, Top_FloatTensor:$bias, Top_FloatTensor:$mean, Top_FloatTensor:$variance,
      F64Attr:$epsilon, Top_LayoutAttr:$layout);
}

def Top_SoftmaxOp : Top_TensorOp<"softmax"> {
  let summary = "softmax along one axis";
  let description = [{
    `output = exp(input - m) / sum(exp(input - m))`, m the maximum along `axis` (not negative).

    Example:
    ```mlir
    %r = top.softmax %x {axis = 1} : (tensor<2x197xf32>) -> tensor<2x197xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, I64Attr:$axis);
}

def Top_LayerNormOp : Top_TensorOp<"layer_norm"> {
  let summary = "normalisation over the last dimensions";
  let description = [{
    `output = (input - m) / sqrt(mean((input - m)^2) + epsilon) * scale + bias` with means over the dimensions from `axis` (not
    negative) on, and m the mean of the input, or 0 without `centered` (RMS normalisation). `params` is empty, the scale, or
    scale and bias, of the shape of the normalised dimensions; they may have another float type than the input.

    Example:
    ```mlir
    %r = top.layer_norm %x, %s, %b {axis = 2, epsilon = 1.0e-5} : (tensor<1x7x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x7x16xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, Variadic<Top_FloatTensor>:$params, I64Attr:$axis, F64Attr:$epsilon,
      DefaultValuedAttr<BoolAttr, "true">:$centered);
}

// How a tensor of an attention lies in memory: [batch, heads, rows, depth], or [batch, rows, heads * depth].
def Top_HeadsLayoutAttr : ConfinedAttr<DefaultValuedStrAttr<StrAttr, "BNSD">, [AttrConstraint<CPred<
    "::llvm::is_contained({\"BNSD\", \"BSND\"}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "is BNSD or BSND">]>;

def Top_AttentionOp : Top_TensorOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention over heads";
  let description = [{
    For every batch b, query head h and query row i, with g = h / (q_heads / kv_heads) the head of K and V that the query head shares:

    - `score[j] = scale * sum_d Q[b, h, i, d] * K[b, g, j, d]`, then `softcap * tanh(score[j] / softcap)` where softcap is not 0,
      then `score[j] + bias[b, h, i, j]`;
    - key j is visible where all of these hold, with p = i + offset the position of the row among the keys: `j < lengths[b]`, `j <= p` if
      `causal`, `j >= p - window[0]` and `j <= p + window[1]` for each side that is not -1;
    - `output[b, h, i] = sum_j exp(score[j] - m) * V[b, g, j] / (sum_j exp(score[j] - m) + exp(sinks[h] - m))`, both sums over the visible keys,
      m their greatest score (and sink). A row that sees no key, or only keys with a score of minus infinity, is 0.

    `offset` defaults to `lengths[b] - Sq` with `lengths` and to `Sk - Sq` without: the last row sees the last key. It may be negative.
    Scores, maxima and sums are f32 whatever the element type; the quotient of exponentials and sum is rounded to the type of V once.
    The bias has any float type and broadcasts by numpy's rules to [batch, q_heads, Sq, Sk]; `lengths` is i32 of [batch]; `sinks` is a float of
    [q_heads]. V may have another depth than Q and K.

    A layout of BNSD is a tensor [batch, heads, rows, depth], one of BSND a tensor [batch, rows, heads * depth].

    Example:
    ```mlir
    %r = top.attention %q, %k, %v bias %m {scale = 0.125, q_heads = 12, kv_heads = 4, causal = true, q_layout = "BSND", result_layout = "BSND"}
        : (tensor<1x7x768xf32>, tensor<1x4x9x64xf32>, tensor<1x4x9x64xf32>, tensor<7x9xf32>) -> tensor<1x7x768xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$query, Top_FloatTensor:$key, Top_FloatTensor:$value, Optional<Top_FloatTensor>:$bias,
      Optional<Top_Tensor>:$lengths, Optional<Top_FloatTensor>:$sinks, F64Attr:$scale, I64Attr:$q_heads, I64Attr:$kv_heads,
      DefaultValuedAttr<BoolAttr, "false">:$causal, OptionalAttr<I64Attr>:$offset,
      DefaultValuedAttr<DenseI64ArrayAttr, "{-1, -1}">:$window, DefaultValuedAttr<F64Attr, "0.0">:$softcap,
      Top_HeadsLayoutAttr:$q_layout, Top_HeadsLayoutAttr:$k_layout, Top_HeadsLayoutAttr:$v_layout, Top_HeadsLayoutAttr:$result_layout);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`lengths` $lengths^)? (`sinks` $sinks^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The extents, whatever the layouts.
    struct Extents {
      int64_t batch, queries, keys, depth, valueDepth;
    };
    Extents getExtents();
    /// The offset of rows among the keys where it is one number for all batches: with `lengths` only a given one is.
    std::optional<int64_t> getFixedOffset();
    /// Whether some row may see no key at all.
    bool mayHaveEmptyRows();
  }];
}

def Top_RecurrentOp : Top_TensorOp<"recurrent", [AttrSizedOperandSegments]> {
  let summary = "the recurrence of an LSTM, a GRU or an RNN over all steps";
  let description = [{
    `input` holds the products of the inputs of all steps with their weights, biases added: [steps, batch, directions * gates * hidden]. Gates are
    in ONNX's order (LSTM: i, o, f, c; GRU: z, r, h), `weights` are [directions, gates * hidden, hidden] and multiply the state before. For each direction, step
    and row, with p the product of state and weights and a the direction's activations (`clip` bounds what those of gates get):

    - RNN: `h = a0(input + p)`;
    - LSTM: `i = a0(input_i + p_i + P_i c)`, `f` likewise (`1 - i` if `coupled`), `g = a1(input_c + p_c)`, `c' = f c + i g`, `o = a0(input_o + p_o + P_o c')`,
      `h' = o a2(c')`, with P the `peepholes` [directions, 3 * hidden];
    - GRU: `z = a0(..)`, `r = a0(..)`, `n = a1(input_h + r (p_h + bias))` if `reset_last`, else `n = a1(input_h + p'_h)` with p' the product of `r h`;
      `h' = n + z (h - n)`. `bias` is [directions, hidden].

    Where `live` [steps, batch] is 0 states stay and the output is 0. States begin as `initial_h` and, of an LSTM, `initial_c` [directions, batch, hidden].
    Direction `reverse` goes from the last step to the first, `bidirectional` has a direction of each kind.

    The result is [steps + states, directions, batch, hidden]: the output of each step, then the last h, which is unspecified without `live`
    (it is the output of the last step then), and, of an LSTM, the last c.

    Example:
    ```mlir
    %r = top.recurrent %x, %w, %h {kind = "GRU", direction = "bidirectional", activations = ["Sigmoid", "Tanh"], alphas = array<f64: 0.0, 0.0>,
        betas = array<f64: 0.0, 0.0>} : (tensor<50x1x768xf32>, tensor<2x384x128xf32>, tensor<2x1x128xf32>) -> tensor<51x2x1x128xf32>
    ```
  }];
  let arguments = (ins Top_FloatTensor:$input, Top_FloatTensor:$weights, Top_FloatTensor:$initial_h, Optional<Top_FloatTensor>:$initial_c,
      Optional<Top_FloatTensor>:$bias, Optional<Top_FloatTensor>:$peepholes, Optional<Top_FloatTensor>:$live, StrAttr:$kind,
      StrAttr:$direction, StrArrayAttr:$activations, DenseF64ArrayAttr:$alphas, DenseF64ArrayAttr:$betas, OptionalAttr<F64Attr>:$clip,
      DefaultValuedAttr<BoolAttr, "false">:$coupled, DefaultValuedAttr<BoolAttr, "false">:$reset_last);
  let assemblyFormat = [{
    $input `,` $weights `,` $initial_h (`cell` $initial_c^)? (`bias` $bias^)? (`peepholes` $peepholes^)? (`live` $live^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    struct Extents {
      int64_t steps, batch, directions, gates, hidden, states;
    };
    Extents getExtents();
    /// Whether direction number `direction` goes from the last step to the first.
    bool isReverse(int64_t direction);
  }];
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPNNOPS_TD
