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

def TopDecompose : Pass<"top-decompose", "::mlir::ModuleOp"> {
  let summary = "express ops that no lowering takes as they are by others";
  let description = [{
    - a convolution over three and more dimensions: the taps along the first become channels, its positions part of the batch; a pool takes
      that dimension by itself after the others;
    - a convolution whose kernel, stride, dilation or padding exceeds `max-window` in a dimension: blocks of one stride or single taps become
      channels, or the kernel is cut and the parts are added; the same for windows that no local memory holds,
      and for convolutions and pools marked `top.no_kernel`;
    - taps of a convolution that meet nothing but padding are left out (`drop-taps`);
    - a convolution with a computed filter becomes the product of the filter and the patches;
    - a pool over more than `max-pool-pixels` pixels takes one dimension after the other; one over a single pixel is a slice; one over
      more than 256 elements of a dimension takes blocks of about the square root of its taps first;
    - a maximum pool at a long stride takes the maximum of each block of a stride first;
    - a resize of f64 (whose products the host computes) or of integers takes one dimension after the other: a gather, or a product with the weights;
      of integers only where every dimension copies elements, and not where a slice or repetition does;
    - a gather of many rows of a few elements takes the rows of all outer indices together, between two permutes;
    - a slice with a negative step becomes a gather.

    Runs between two runs of top-fold: the first one evaluates what constants decide, filters among them, the second one what is constant in the ops that this pass creates.

    ```mlir
    %0 = top.slice %x {starts = array<i64: 0, 2>, ends = array<i64: 2, -1>, steps = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    becomes
    ```mlir
    %i = arith.constant dense<[2, 1, 0]> : tensor<3xi64>
    %0 = top.gather %x, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
  let options = [
    Option<"maxWindow", "max-window", "int64_t", /*default=*/"255", "the widest field of a window in timg2col (ISA/Cube.td)">,
    Option<"maxPoolPixels", "max-pool-pixels", "int64_t", /*default=*/"64", "the largest window that a pool takes at once; one dimension after the other takes fewer operations">,
    Option<"dropTaps", "drop-taps", "bool", /*default=*/"true", "leave out taps of convolutions that meet nothing but padding">
  ];
}

def TopFold : Pass<"top-fold", "::mlir::ModuleOp"> {
  let summary = "fold constants and identities";
  let description = [{
    - an op whose operands are all constants becomes a constant (`pto_mlir/Dialect/Top/IR/Evaluate.h`);
    - `x + 0`, `x - 0`, `x * 1`, `x / 1`, `x ^ 1` become x; a division by powers of two becomes a multiplication, which is exact;
    - a slice that takes everything is dropped, unless it makes an input an output;
    - reshape of reshape, permute of permute and cast of a cast that loses nothing become one op, or none when they restore the input;
    - a softmax in f64 of a narrower float, cast back to its type, becomes one of that type, which sums in f32 (not with `strict-f64`).

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
  let options = [Option<"strictF64", "strict-f64", "bool", "false", "compute in f64 whatever the model does">];
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

def TopLegalizeTypes : Pass<"top-legalize-types", "::mlir::ModuleOp"> {
  let summary = "hand to the host what no engine computes exactly";
  let description = [{
    Becomes `top.host`, with the reason:
    - an op on f64, u64, floats of 8 bits or integers of 2 and 4; a power, matrix product, mean, pool or sign of integers, a quotient of i16;
    - a cast of a float to i64 or u32, unless the float is bounded within 32 bits or only a clip reads the integers;
    - an op on integers of 64 bits whose values 32 bits do not hold, by intervals from constants, shapes and inputs
      (an input that reaches the op must be allowed at least 15 bits; a smaller bound sends the op to the host);
    - an op on 8-bit or unsigned integers whose values wrap in the model;
    - an op that reads such a value;
    - in pipelines, an op whose tile template has no kernel of its size on any architecture.
    Integers of the inputs are taken to fit 32 bits; the runtime checks them where a net takes them. An op that the host lacks, too, is an
    error.

    ```mlir
    %0 = top.mul %x, %y : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    ```
    becomes
    ```mlir
    %0 = top.host "mul"(%x, %y) {reason = "elements of type f64"} : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    ```
  }];
}

def TopFuseAttention : Pass<"top-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "recognise attentions that a model spells";
  let description = [{
    The product of weights and V, the weights a softmax of scores, the scores a product of Q and the transpose of K, becomes one
    `top.attention`, if nothing else reads what lies between. Between the products may lie constant factors (also on Q and K), a softcap,
    any number of added biases, masks in Where, casts between floats, reshapes that split or merge the batch; the softmax may be spelled, and
    guarded against rows without keys. Permutes of heads before and behind become layouts, heads of K and V repeated by Expand `kv_heads`, and
    a constant that hides the keys behind each row `causal`. Another constant bias with several rows that is f32 beside narrower scores has their type.

    Products with constant weights that make the queries, keys and values of an attention of one tensor become one product, and the
    operands slices of its columns, which the attention's kernel reads in place. Heads of Q of one row that share a head of K and V become
    the rows of one head, so that a decoder's step reads K and V once.

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

def TopMergeConvs : Pass<"top-merge-convs", "::mlir::ModuleOp"> {
  let summary = "make convolutions of one tensor one convolution with their filters side by side";
  let description = [{
    Convolutions (channels last, no groups, constant filters) of one tensor whose kernels, strides, pads and dilations are equal, each alone or with an
    equal activation behind it, are one launch, which reads that tensor once. Its results are slices of the channels, which `place-concats` has read in place;
    so only results are taken that other convolutions, and at most one concatenation of channels, read. Results that are concatenated stand at the
    end of the channels, or at their beginning, and what is concatenated is the wide tensor instead:

    ```mlir
    %a = top.conv %x, %fa // 64 channels
    %b = top.conv %x, %fb // 48 channels, which only a convolution reads
    %c = top.concat %a, %d {axis = 3}
    // becomes
    %ba = top.conv %x, %fba // 112 channels
    %b = top.slice %ba      // the first 48
    %cc = top.concat %ba, %d {axis = 3}
    %c = top.slice %cc      // all behind the first 48
    ```

    Not for networks whose sizes are known at run time.
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
    are sunk through elementwise ops, reductions, softmax, concat, slice, pad and reshapes of the spatial dimensions, cancel with their inverses,
    and become reshapes where they move only dimensions of size 1. So is a permute of the model to NCHW that cancels with one of them.
    The location of a tensor stored in NHWC records that layout.

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
    matrix products and the statistics of batch normalisations stay f32, and so do sums and means that elementwise ops read, with what is computed
    elementwise from them and constants alone, until it meets another tensor; a `top.cast` is inserted at each f32 input and output of the net.
    `F32` changes no float type.

    In every mode 64-bit integers and booleans are stored as i32, since the vector engine supports neither: constants are narrowed (a value out of
    range is an error), and inputs and outputs of the net record their own type in `top.type`; the runtime converts them and checks the range. A float
    constant beyond the range of `mode` saturates, and is listed in the module's `top.clipped`.

    With `types-only` large constants of contractions and gathers get their type but not their values, for a module of which only the ops count.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::pto_mlir::top::TopDialect"];
  let options = [
    Option<"mode", "mode", "std::string", /*default=*/"\"F32\"", "F32, F16 or BF16">,
    Option<"typesOnly", "types-only", "bool", /*default=*/"false", "round no large weights: their values have no meaning then">
  ];
}

def TopSizedTransposes : Pass<"top-sized-transposes", "::mlir::ModuleOp"> {
  let summary = "transpose inputs and outputs whose inner extents are known at run time";
  let description = [{
    A permute of an input whose extent at run time stands behind others, as the height of an image stands behind its channels, becomes a
    `top.transpose_rows` and a permute of what lies behind the extent; likewise at an output. A cast between input and permute moves behind it.

    ```mlir
    %p = top.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x64x80xf32>) -> tensor<1x64x80x3xf32>
    ```
    becomes, where the sizes of %x are (1, 3, s0, 80),
    ```mlir
    %m = top.reshape %x {shape = array<i64: 3, 5120>} : (tensor<1x3x64x80xf32>) -> tensor<3x5120xf32>
    %t = top.transpose_rows %m : (tensor<3x5120xf32>) -> tensor<5120x3xf32>
    %p = top.reshape %t {shape = array<i64: 1, 64, 80, 3>} : (tensor<5120x3xf32>) -> tensor<1x64x80x3xf32>
    ```
  }];
  let dependentDialects = ["::pto_mlir::top::TopDialect"];
}

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_TD
