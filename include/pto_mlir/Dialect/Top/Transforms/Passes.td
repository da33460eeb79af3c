// Passes within the top dialect, in the order in which the pipelines run them.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TopInferShapes : Pass<"top-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "infer the result types of all top ops";
  let description = [{
    Visits each function in program order and sets the result types of each top op to those inferred from its operands and attributes; the
    function's result types follow its return. To change the input shapes of a net, set the types of `@main`'s arguments and run this pass.

    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = top.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }
    ```
  }];
}

def TopFold : Pass<"top-fold", "::mlir::ModuleOp"> {
  let summary = "fold constants and identities";
  let description = [{
    - an op whose operands are all constants becomes a constant (`pto_mlir/Dialect/Top/IR/Evaluate.h`);
    - `x + 0`, `x - 0`, `x * 1`, `x / 1`, `x ^ 1` become x; a division by powers of two becomes a multiplication, which is exact;
    - reshape of reshape, permute of permute and cast of a cast that loses nothing become one op, or none when they restore the input;
    - a softmax in f64 of a narrower float, cast back to its type, becomes one of that type, which sums in f32.

    Names of tensors that are no longer computed are added to the module's `top.absorbed`.

    ```mlir
    %c = arith.constant dense<4.0> : tensor<f32>
    %0 = top.div %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
    becomes
    ```mlir
    %c = arith.constant dense<2.5e-01> : tensor<f32>
    %0 = top.mul %x, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
}

def TopFuse : Pass<"top-fuse", "::mlir::ModuleOp"> {
  let summary = "fold constants into convolutions and products, recognise decomposed ops";
  let description = [{
    - batch_norm of a convolution or matrix product without other users is folded into its weights and bias, any other one becomes mul and add;
    - an addition of one constant per channel (column) to such an op becomes its bias;
    - `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)` over the last dimensions becomes layer_norm, a following scale and bias its parameters;
    - a permute that exchanges the last two dimensions of a product's right operand becomes `transpose_b`;
    - a constant factor on some columns of such a product (the queries of an attention), after slices, reshapes and permutes, is folded into its weights.

    Weights are computed in double and rounded once. The fused op takes the name of the last op; the other names are added to `top.absorbed`.

    ```mlir
    %0 = top.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = top.add %0, %c : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
    becomes
    ```mlir
    %1 = top.matmul %x, %w, %c : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
}

def TopFuseAttention : Pass<"top-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "recognise attentions that a model spells";
  let description = [{
    The product of weights and V, the weights a softmax of scores, the scores a product of Q and the transpose of K, becomes one
    `top.attention`, if nothing else reads what lies between. Between the products may lie constant factors (also on Q and K), a softcap,
    any number of added biases, masks in Where, casts between floats, reshapes that split or merge the batch; the softmax may be spelled, and
    guarded against rows without keys. Permutes of heads before and behind become layouts, heads of K and V repeated by Expand `kv_heads`, and
    a constant that hides the keys behind each row `causal`.

    The pass is in no pipeline of its own: a road that has a kernel for the op runs it behind top-storage-types with a filter
    (`createTopFuseAttention`), so that what it does not take is lowered as before.

    ```mlir
    %0 = top.matmul %q, %k {transpose_b = true} : (tensor<1x2x5x8xf32>, tensor<1x2x7x8xf32>) -> tensor<1x2x5x7xf32>
    %1 = top.mul %0, %scale : (tensor<1x2x5x7xf32>, tensor<f32>) -> tensor<1x2x5x7xf32>
    %2 = top.softmax %1 {axis = 3} : (tensor<1x2x5x7xf32>) -> tensor<1x2x5x7xf32>
    %3 = top.matmul %2, %v : (tensor<1x2x5x7xf32>, tensor<1x2x7x8xf32>) -> tensor<1x2x5x8xf32>
    ```
    becomes
    ```mlir
    %3 = top.attention %q, %k, %v {scale = 0.5, q_heads = 2, kv_heads = 2}
        : (tensor<1x2x5x8xf32>, tensor<1x2x7x8xf32>, tensor<1x2x7x8xf32>) -> tensor<1x2x5x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
}

def TopLoadWeights : Pass<"top-load-weights", "::mlir::ModuleOp"> {
  let summary = "read the module's weights from a safetensors file";
  let description = [{
    For running single passes: adds every tensor that a `top.weight` names to the weight store.
    `pto-opt X.mlir --top-load-weights=file=X_top_weights.safetensors --top-fuse`
  }];
  let dependentDialects = ["::pto_mlir::top::TopDialect"];
  let options = [Option<"file", "file", "std::string", "", "path of the safetensors file">];
}

def TopSaveWeights : Pass<"top-save-weights", "::mlir::ModuleOp"> {
  let summary = "write the module's weights to a safetensors file";
  let description = [{
    The counterpart of `top-load-weights`: `pto-opt X.mlir --top-load-weights=file=a --top-fuse --top-save-weights=file=b`
  }];
  let dependentDialects = ["::pto_mlir::top::TopDialect"];
  let options = [Option<"file", "file", "std::string", "", "path of the safetensors file">];
}

def TopLayout : Pass<"top-layout", "::mlir::ModuleOp"> {
  let summary = "convert feature maps to channels-last";
  let description = [{
    Convolutions, pools and batch normalisations compute in NHWC; their constants are permuted in the weight store. The resulting permutes
    are sunk through elementwise ops, reductions, softmax, concat, slice and pad, cancel with their inverses, and become reshapes where
    they move only dimensions of size 1. The location of a tensor stored in NHWC records that layout.

    ```mlir
    %0 = top.conv %x, %w {..} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    ```
    becomes
    ```mlir
    %p = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
    %0 = top.conv %p, %v {.., layout = "NHWC"} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
    %1 = top.permute %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
}

def TopStorageTypes : Pass<"top-storage-types", "::mlir::ModuleOp"> {
  let summary = "choose the storage types of tensors";
  let description = [{
    With `mode=F16` or `BF16` every f32 tensor between ops is stored in that type: constants are rounded to nearest even; the bias of convolutions and
    matrix products and the statistics of batch normalisations stay f32; a `top.cast` is inserted at each f32 input and output of the net.
    `F32` changes no float type.

    In every mode 64-bit integers and booleans are stored as i32, since the vector engine supports neither: constants are narrowed (a value out of
    range is an error), and inputs and outputs of the net record their own type in `top.type`; the runtime converts them and checks the range. A float
    constant beyond the range of `mode` saturates, and is listed in the module's `top.clipped`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"F32\"", "F32, F16 or BF16">
  ];
}

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD
